"""What the options of takt.auto_bind change, and what they leave exactly as it is."""

import itertools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import bind_options, binding
from takt.bridge.versions import is_selected
from takt.core.binding import BINDING_METHODS, RANGES, BindCancelledError, BindSettings
from takt.core.binding.idle import IdleBones
from takt.core.binding.report import BindReport
from takt.core.errors import BindError
from takt.operators.auto_bind import TAKT_OT_auto_bind, unusual
from takt.tests.rigged import BONES, bind, make_armature, make_mesh, select, weights

WEIGHT_TOLERANCE = 1e-6
DEFORMING = BONES[:3]
MANUAL = Path(bind_options.__file__).parents[2] / "docs" / "binding-in-blender.md"


def table(body: Any) -> np.ndarray:
    return np.stack([weights(body, name) for name in DEFORMING], axis=1)


def scene() -> tuple[Any, Any]:
    rig, body = make_armature(), make_mesh()
    select(rig, body)
    return rig, body


def select_bones(rig: Any, *names: str) -> None:
    for bone in rig.pose.bones:
        holder = bone if bpy.app.version >= (5, 0, 0) else bone.bone
        holder.select = bone.name in names
        assert is_selected(bone) == (bone.name in names)


def refusal(**options: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.takt.auto_bind(**options)  # type: ignore[attr-defined]
    return str(caught.value)


@pytest.mark.parametrize("method", BINDING_METHODS)
def test_every_method_binds_every_vertex(method: str) -> None:
    _, body = scene()
    bind(method=method)
    np.testing.assert_allclose(table(body).sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)


@pytest.mark.parametrize("method", BINDING_METHODS)
def test_max_influences(method: str) -> None:
    _, body = scene()
    bind(method=method, influences=1)
    assert ((table(body) > 0.0).sum(axis=1) == 1).all()
    bind(method="EUCLIDEAN", influences=0)
    assert ((table(body) > 0.0).sum(axis=1) == 3).all()


def test_the_operator_offers_what_methods_read_with_cores_defaults_and_ranges() -> None:
    properties = bpy.ops.takt.auto_bind.get_rna_type().properties  # type: ignore[attr-defined]
    for name in dict.fromkeys(itertools.chain(*(entry.settings for entry in BINDING_METHODS.values()))):
        found: Any = properties[name]
        assert found.default == pytest.approx(getattr(BindSettings(), name))
        if name in RANGES:
            assert (found.hard_min, found.hard_max) == pytest.approx(RANGES[name])


def test_only_selected_vertices_leaves_the_others_exactly() -> None:
    _, body = scene()
    bind(method="EUCLIDEAN")
    before = table(body)
    chosen = np.arange(60) % 3 == 0
    body.data.vertices.foreach_set("select", chosen)
    bind(method="EUCLIDEAN", influences=1, only_selected_vertices=True)
    after = table(body)
    np.testing.assert_array_equal(after[~chosen], before[~chosen])
    assert ((after[chosen] > 0.0).sum(axis=1) == 1).all()


def test_only_selected_vertices_without_any_is_refused() -> None:
    _, body = scene()
    body.data.vertices.foreach_set("select", np.zeros(60, dtype=bool))
    assert "No vertex is selected; select some in Edit Mode" in refusal(only_selected_vertices=True)
    assert not body.vertex_groups and not body.modifiers


def test_only_selected_bones_share_what_the_others_leave() -> None:
    rig, body = scene()
    kept = np.linspace(0.0, 1.0, 60).astype(np.float32)
    group = body.vertex_groups.new(name="arm.L")
    for vertex, weight in enumerate(kept.tolist()):
        group.add([vertex], weight, "REPLACE")
    select_bones(rig, "root", "arm.R", "control")
    bind(only_selected_bones=True)
    np.testing.assert_array_equal(weights(body, "arm.L").astype(np.float32), kept)
    np.testing.assert_allclose(table(body).sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)


def test_only_selected_bones_is_refused_where_it_can_do_nothing() -> None:
    rig, body = scene()
    select_bones(rig, "control")
    assert "No deforming bone of 'Rig' is selected; select some in Pose Mode" in refusal(only_selected_bones=True)
    body.vertex_groups.new(name="arm.L").add(list(range(60)), 1.0, "REPLACE")
    select_bones(rig, "root")
    assert "The groups that stay hold the whole weight of every vertex" in refusal(only_selected_bones=True)
    body.vertex_groups.new(name="root").lock_weight = True
    assert "No group of 'Body' is free: those of the selected bones are locked" in refusal(only_selected_bones=True)


def test_locked_groups_can_be_written_all_the_same() -> None:
    _, body = scene()
    group = body.vertex_groups.new(name="arm.L")
    group.add(list(range(60)), 1.0, "REPLACE")
    group.lock_weight = True
    bind(keep_locked_groups=False)
    assert weights(body, "arm.L").min() < 0.5 and group.lock_weight
    np.testing.assert_allclose(table(body).sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)


def test_several_meshes_are_bound_as_one() -> None:
    rig, body = scene()
    bind()
    whole = table(body)
    halves = []
    for name, first in (("Low", 0), ("High", 30)):
        points = np.array([v.co for v in body.data.vertices])[first:first + 30]
        faces = [(i, i + 1, i + 2) for i in range(28)]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(points.tolist(), [], faces)
        halves.append(bpy.data.objects.new(name, mesh))
        bpy.context.collection.objects.link(halves[-1])
    select(rig, *halves)
    bind(method="EUCLIDEAN")
    select(rig, body)
    bind(method="EUCLIDEAN")
    whole = table(body)
    np.testing.assert_allclose(np.concatenate([table(half) for half in halves]), whole, atol=WEIGHT_TOLERANCE)


def test_a_cancelled_binding_ends_in_an_error_of_its_own_and_progress_grows() -> None:
    rig, body = scene()
    body.vertex_groups.new(name="arm.L").lock_weight = True
    other = make_mesh("Other", seed=3)
    task = binding.read_task([body, other], rig, binding.BindScope())
    assert len(task.bodies) == 2
    told: list[float] = []

    def go_on(done: float) -> bool:
        told.append(done)
        return True

    binding.solve(task, "INSIDE", BindSettings(), go_on)
    assert told == sorted(told) and told[-1] == 1.0 and any(abs(done - 0.5) < 1e-6 for done in told)
    with pytest.raises(BindCancelledError):
        binding.solve(task, "INSIDE", BindSettings(), lambda done: done < 0.7)
    assert [group.name for group in body.vertex_groups] == ["arm.L"]


def test_meshes_that_changed_meanwhile_are_not_written() -> None:
    rig, body = scene()
    task = binding.read_task([body], rig, binding.BindScope())
    assert binding.still_there(task, rig) == [body]
    body.data.clear_geometry()
    with pytest.raises(BindError, match="The meshes were changed while they were being bound"):
        binding.still_there(task, rig)
    bpy.data.objects.remove(body)
    with pytest.raises(BindError, match="The meshes were changed while they were being bound"):
        binding.still_there(task, rig)


class Binding:
    """Auto-bind without Blender's own base, with the options as they come."""

    method, keep_existing, only_selected_vertices, only_selected_bones = "INSIDE", False, False, False
    read, write = TAKT_OT_auto_bind.read, TAKT_OT_auto_bind.write

    def scope(self) -> binding.BindScope:
        return binding.BindScope()

    def settings(self) -> BindSettings:
        return BindSettings()

    def report(self, _: set[str], text: str) -> None:
        assert text


def test_what_is_selected_meanwhile_is_not_bound() -> None:
    rig, body = scene()
    other, operator = rig.copy(), Binding()
    bpy.context.collection.objects.link(other)
    work = operator.read(bpy.context)  # type: ignore[misc]
    select(other)
    operator.write(bpy.context, work(lambda _: True))  # type: ignore[misc]
    assert body.parent == rig and [modifier.object for modifier in body.modifiers] == [rig]
    np.testing.assert_allclose(table(body).sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)
    select(rig, body)
    work = operator.read(bpy.context)  # type: ignore[misc]
    bpy.data.objects.remove(rig)
    with pytest.raises(BindError, match="The skeleton was changed while the meshes were being bound"):
        operator.write(bpy.context, work(lambda _: True))  # type: ignore[misc]


def rename(bones: Any) -> None:
    bones[DEFORMING[1]].name = "another"


def move(bones: Any) -> None:
    bones[DEFORMING[1]].tail.x += 0.1


def remove(bones: Any) -> None:
    bones.remove(bones[DEFORMING[1]])


@pytest.mark.parametrize("change", [rename, move, remove])
def test_a_skeleton_that_changed_meanwhile_is_not_bound_to(change: Any) -> None:
    rig, body = scene()
    task = binding.read_task([body], rig, binding.BindScope())
    select(rig, rig)
    bpy.ops.object.mode_set(mode="EDIT")
    added = rig.data.edit_bones.new("added")
    added.head, added.tail = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert binding.still_there(task, rig) == [body]  # what is added does not matter
    bpy.ops.object.mode_set(mode="EDIT")
    change(rig.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(BindError, match="The skeleton was changed while the meshes were being bound"):
        binding.still_there(task, rig)


def test_the_report_names_what_is_unusual() -> None:
    rig, body = scene()
    sheet, far = make_mesh("Sheet", seed=4), make_mesh("Far", seed=5)
    for vertex in sheet.data.vertices:
        vertex.co.z = 0.5
    far.location = (0, 0, 50)  # where the root bone points, but does not reach
    bpy.context.view_layer.update()
    meshes = [body, sheet, far]
    result = binding.solve(binding.read_task(meshes, rig, binding.BindScope()), "EUCLIDEAN", BindSettings(1))
    assert unusual(result, meshes) == ["Meshes without volume: Sheet",
                                       "These meshes contain no bone; they follow the nearest skin or bones: Far"]
    report = BindReport(IdleBones(), flat_parts=(0, 1, 2), boneless_parts=())
    assert unusual(SimpleNamespace(report=report), meshes) == [  # type: ignore[arg-type]  # all that it reads
        "Meshes without volume: Body, Sheet, Far"]


@pytest.mark.parametrize(("scale", "warns"), [
    (100.0, "A mesh is "), (4.0, ""), (0.5, ""), (0.01, "The skeleton is ")])
def test_a_mesh_of_another_unit_than_its_skeleton_is_told_of(scale: float, warns: str) -> None:
    rig, body = scene()
    body.scale, body.location = (scale, scale, scale), (0, 0, 0.2 if scale < 0.1 else 0.0)
    bpy.context.view_layer.update()
    result = binding.solve(binding.read_task([body], rig, binding.BindScope()), "EUCLIDEAN", BindSettings(1))
    said = [text for text in unusual(result, [body]) if "; undo, scale one to the other" in text]
    assert [text.startswith(warns) for text in said] == [True] * bool(warns)
    assert unusual(result, [body], are_all_bones=False) == []


def test_a_bone_whose_partner_alone_has_vertices_is_warned_of_with_the_reasons_of_the_others(
        capfd: pytest.CaptureFixture[str]) -> None:
    body = scene()[1]
    for vertex in body.data.vertices:
        vertex.co = (abs(vertex.co.x) + 0.3, vertex.co.y * 0.1, 1.2 + vertex.co.z * 0.05)
    capfd.readouterr()
    bind(method="EUCLIDEAN", influences=1)
    said = capfd.readouterr().out
    assert "Warning: " in said and "Without vertices, though the bones on the other side have some: arm.R" in said
    assert "Bones without vertices: root, arm.R (others are nearer to all vertices)" in said


def test_keep_existing_binds_what_has_no_weights_and_no_more(capfd: pytest.CaptureFixture[str]) -> None:
    _, body = scene()
    bind()
    anew = table(body)
    half, group = list(range(0, 60, 2)), body.vertex_groups["arm.L"]
    for other in body.vertex_groups:
        other.remove(list(range(60)))
    group.add(half, 0.25, "REPLACE")
    capfd.readouterr()
    bind(keep_existing=True)
    assert "replaced" not in capfd.readouterr().out
    kept = table(body)
    np.testing.assert_allclose(kept[half], [[0.25 * (bone == group.name) for bone in DEFORMING]] * len(half))
    np.testing.assert_allclose(np.delete(kept, half, axis=0), np.delete(anew, half, axis=0), atol=WEIGHT_TOLERANCE)
    with pytest.raises(RuntimeError, match="All of these vertices have weights, which Keep Existing keeps"):
        bind(keep_existing=True)
    bind()
    assert "The weights before were replaced, of Body (F9: Keep Existing)" in capfd.readouterr().out
    np.testing.assert_allclose(table(body), anew, atol=WEIGHT_TOLERANCE)


def test_the_manual_names_every_option_with_its_default() -> None:
    row = re.compile(r"^\| ([\w :]+?)(?: \(.*?\))? \| ([\w. ]+) \|", re.MULTILINE)
    rows = dict(row.findall(MANUAL.read_text(encoding="utf-8")))
    properties = bpy.ops.takt.auto_bind.get_rna_type().properties  # type: ignore[attr-defined]
    for name in bind_options.BindOptions.__annotations__:
        option: Any = properties[name]
        label = f"Only Selected: {option.name}" if name.startswith("only_selected") else option.name
        if option.type == "ENUM":
            assert rows[label] == option.enum_items[option.default].name
        elif option.type == "BOOLEAN":
            assert rows[label] == ("on" if option.default else "off")
        else:
            assert float(rows[label]) == pytest.approx(option.default)


def test_what_is_parented_to_a_bone_is_left_alone_unless_it_is_all_that_is_selected() -> None:
    rig, body = scene()
    sword = make_mesh("Sword", seed=6)
    sword.parent, sword.parent_type, sword.parent_bone = rig, "BONE", BONES[1]
    select(rig, body, sword)
    bind()
    assert body.vertex_groups and not sword.vertex_groups and sword.parent_type == "BONE"
    select(rig, sword)
    bind()
    assert sword.vertex_groups
