"""takt.improve_weights and takt.bend_report in Blender: what they change, what they leave alone, when they refuse."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import bend, groups
from takt.core.skinning.influences import Influences
from takt.operators.bend_report import TAKT_OT_bend_report
from takt.samples.character import build_character
from takt.tests.core.bodies import figure, tube
from takt.tests.rigged import bind, context, select

FIGURE = figure(16, 12)
FAR = "shin.R"
CLOSE = 1e-6


def add_mesh(name: str, points: np.ndarray, faces: list[list[int]]) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    body = bpy.data.objects.new(name, mesh)
    context.collection.objects.link(body)
    return body


def character() -> tuple[Any, Any]:
    """The figure of the tests of binding, bound."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    context.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in zip(FIGURE.bone_names, FIGURE.bone_parents, FIGURE.heads, FIGURE.tails,
                                        strict=True):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = armature.edit_bones[int(parent)] if parent >= 0 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    faces = np.split(FIGURE.face_vertices, np.cumsum(FIGURE.face_sizes)[:-1])
    body = add_mesh("Body", FIGURE.vertices, [face.tolist() for face in faces])
    select(rig, body)
    bind()
    return rig, body


def improve(**options: Any) -> "set[str]":
    found: set[str] = bpy.ops.takt.improve_weights(**options)  # type: ignore[attr-defined]
    return found


def dense(body: Any) -> np.ndarray:
    return groups.read_influences(body, FIGURE.bone_names).dense(len(FIGURE.bone_names))


def spoil(body: Any, count: int = 3) -> list[int]:
    """Give some vertices of a shin to the other one, and some to no bone."""
    shin = dense(body)[:, FIGURE.bone_names.index("shin.L")]
    own: list[int] = np.flatnonzero(shin > 0.95)[::7][:2 * count].tolist()
    for group in body.vertex_groups:
        group.remove(own)
    body.vertex_groups[FAR].add(own[:count], 1.0, "REPLACE")
    return own


def test_faults_are_mended_alone() -> None:
    rig, body = character()
    good = dense(body)
    own = spoil(body)
    spoilt = dense(body)
    select(rig, body)
    assert improve() == {"FINISHED"}
    now = dense(body)
    assert np.abs(now - good)[own].max() < 0.1
    apart = np.linalg.norm(FIGURE.vertices[:, None] - FIGURE.vertices[own], axis=2).min(axis=1) > 0.15
    assert np.abs(now - spoilt)[apart].max() < CLOSE and np.abs(now - good).max() < 0.1


def test_patches_of_any_size_that_leak_are_found_and_mended() -> None:
    """Of the sample's skin, some vertices around a place, in heights, move with a bone far from there."""
    rig, body = build_character(context)
    select(rig, body)
    bind()
    names = tuple(one.name for one in rig.data.bones)
    points = np.array([vertex.co for vertex in body.data.vertices])
    good = groups.read_influences(body, names).dense(len(names))
    columns = np.tile(np.arange(len(names)), (len(good), 1))
    for at, bone, count, share in (((0.0, -0.1, 0.72), "l_wrist", 80, 0.5), ((0.0, 0.1, 0.75), "r_ankle", 150, 1.0),
                                   ((0.06, -0.06, 0.4), "l_wrist", 60, 1.0), ((0.0, 0.0, 1.0), "l_ankle", 40, 0.5)):
        chosen = np.argsort(np.linalg.norm(points - np.array(at) * points[:, 2].max(), axis=1))[:count].tolist()
        spoilt = good.copy()
        spoilt[chosen] *= 1.0 - share
        spoilt[chosen, names.index(bone)] += share
        groups.write_influences(body, names, Influences(columns, spoilt))
        assert improve() == {"FINISHED"}
        now = groups.read_influences(body, names).dense(len(names))
        others = np.ones(len(points), dtype=np.bool_)
        others[chosen] = False
        assert now[chosen, names.index(bone)].max() < 0.01
        assert np.abs(now - good)[chosen].sum(axis=1).mean() < 0.3
        assert np.abs(now - good)[others].max() < 0.05
        groups.write_influences(body, names, Influences(columns, good))


def test_without_faults_nothing_is_written() -> None:
    rig, body = character()
    select(rig, body)
    before = dense(body)
    assert improve() == {"CANCELLED"}
    assert (dense(body) == before).all()


def test_only_selected_meshes_change_and_without_any_all_bound_ones() -> None:
    rig, body = character()
    hat = add_mesh("Hat", *tube((0, 0.02, 1.9), (0, 0.02, 2.1), 0.2))
    select(rig, hat)
    bind()
    own = spoil(body)
    select(hat)
    assert improve() == {"CANCELLED"}
    select(rig)
    assert improve() == {"FINISHED"}
    assert (dense(body)[own].sum(axis=1) > 0.99).all()


def test_selected_vertices_are_replaced_and_meet_the_others() -> None:
    rig, body = character()
    good = dense(body)
    chosen = (np.abs(FIGURE.vertices[:, 2] - 0.5) < 0.2) & (FIGURE.vertices[:, 0] > 0.05)
    body.vertex_groups["head"].add(np.flatnonzero(chosen).tolist(), 5.0, "REPLACE")
    spoilt = dense(body)
    groups.write_selection(body, chosen)
    select(rig, body)
    assert improve(what="SELECTED") == {"FINISHED"}
    now = dense(body)
    assert np.abs(now - good)[chosen].max() < 0.02 and np.abs(now - spoilt)[~chosen].max() == 0.0
    groups.write_selection(body, np.zeros(len(chosen), np.bool_))
    with pytest.raises(RuntimeError, match="No vertex is selected"):
        improve(what="SELECTED")


def test_locked_groups_stay_and_keep_their_share() -> None:
    rig, body = character()
    own = spoil(body)
    group = body.vertex_groups["head"]
    group.add(own[:1], 0.4, "REPLACE")
    group.lock_weight = True
    select(rig, body)
    before = dense(body)[:, FIGURE.bone_names.index("head")]
    assert improve() == {"FINISHED"}
    now = dense(body)
    found = next(g.weight for g in body.data.vertices[own[0]].groups if g.group == group.index)
    assert found == pytest.approx(0.4) and now[own].sum(axis=1) == pytest.approx(1.0)
    assert sum(g.weight for g in body.data.vertices[own[0]].groups) == pytest.approx(1.0, abs=1e-5)
    rest = np.setdiff1d(np.arange(len(now)), own)
    assert np.abs(now[rest, FIGURE.bone_names.index("head")] - before[rest]).max() < CLOSE


def test_clothes_take_the_weights_of_the_body_below() -> None:
    rig, body = character()
    points, faces = tube((0.18, 0.02, 1.5), (0.7, 0.02, 1.5), 0.065, 16, 8)
    sleeve = add_mesh("Sleeve", points, [face for face in faces if max(face) < 16 * 8])
    select(rig, sleeve)
    assert improve(what="CLOTHES") == {"FINISHED"}
    assert sleeve.parent == rig and sleeve.find_armature() == rig
    found, weights = dense(sleeve)[:16 * 8], dense(body)
    nearest = np.linalg.norm(points[:16 * 8, None] - FIGURE.vertices, axis=2).argmin(axis=1)
    assert np.abs(found - weights[nearest]).max() < 0.2  # between vertices, weights differ from the nearest one's
    assert np.abs(found - weights[nearest]).mean() < 0.01
    select(rig, body, sleeve)
    with pytest.raises(RuntimeError, match="Select the clothes only"):
        improve(what="CLOTHES")
    select(rig)
    with pytest.raises(RuntimeError, match=r"Select the clothes$"):
        improve(what="CLOTHES")


def test_refuses_what_is_not_bound_or_edited() -> None:
    rig, body = character()
    body.vertex_groups.clear()
    select(rig, body)
    with pytest.raises(RuntimeError, match="No visible mesh follows the armature by vertex groups"):
        improve()
    with pytest.raises(RuntimeError, match="No visible mesh follows 'Rig' by vertex groups"):
        bpy.ops.takt.bend_report()  # type: ignore[attr-defined]
    for name in FIGURE.bone_names:
        body.vertex_groups.new(name=name)
    with pytest.raises(RuntimeError, match="No vertex has weights yet"):
        improve()
    select(body)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match=r"'Body' is (being edited|in Edit Mode)"):
        improve()
    with pytest.raises(RuntimeError, match=r"'Body' is (being edited|in Edit Mode)"):
        bpy.ops.takt.bend_report()  # type: ignore[attr-defined]
    bpy.ops.object.mode_set(mode="OBJECT")
    body.modifiers.clear()
    body.parent = None
    with pytest.raises(RuntimeError, match="Make a bound mesh or its armature the active object"):
        improve()


def test_the_report_selects_the_worst_vertices(capfd: pytest.CaptureFixture[str]) -> None:
    rig, body = character()
    own = spoil(body, 4)
    select(rig)
    assert bpy.ops.takt.bend_report() == {"FINISHED"}  # type: ignore[attr-defined]
    selected = np.flatnonzero(groups.read_selection(body))
    assert set(own[:4]) <= set(selected.tolist()) and len(selected) < 60
    said = capfd.readouterr().out
    kept = bend.last_report(rig)
    assert len(kept) == 8 and all(line in said for line in kept) and "‰ of vertices flying" in kept[4]
    assert improve(what="FAULTS") == {"FINISHED"} and not bend.last_report(rig)  # it was about other weights


def test_the_report_looks_at_all_bound_meshes_and_needs_a_joint() -> None:
    rig, body = character()
    groups.write_selection(body, np.ones(len(body.data.vertices), np.bool_))
    hat = add_mesh("Hat", *tube((0, 0.02, 1.9), (0, 0.02, 2.1), 0.2))
    select(rig, hat)
    bind()
    for index in range(6):
        hat.vertex_groups[FAR].add([index * 3], 1.0, "REPLACE")
        hat.vertex_groups["head"].remove([index * 3])
    select(rig)
    assert bpy.ops.takt.bend_report() == {"FINISHED"}  # type: ignore[attr-defined]
    assert groups.read_selection(hat).any() and not groups.read_selection(body).all()
    for mesh in (body, hat):
        everything = list(range(len(mesh.data.vertices)))
        for group in mesh.vertex_groups:
            group.remove(everything)
        mesh.vertex_groups["hips"].add(everything, 1.0, "REPLACE")
    with pytest.raises(RuntimeError, match="No joint moves enough of the skin"):
        bpy.ops.takt.bend_report()  # type: ignore[attr-defined]


def test_the_report_is_grey_without_a_character() -> None:
    assert TAKT_OT_bend_report.problem(context)
