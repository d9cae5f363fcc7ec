"""Many figures: what they share, and that they are drawn together as they would be alone."""

import gc
import weakref
from functools import partial
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import changes
from takt.preview import draw as draw_module
from takt.preview import offscreen
from takt.preview.cast import Actor
from takt.preview.character import PreviewCharacter, SharedParts
from takt.preview.choices import Choices
from takt.preview.draw import Painter
from takt.preview.offscreen import Renderer
from takt.preview.part import MeshOnGpu
from takt.tests.characters import Object, bend, context, own_character
from takt.tests.gpu.test_preview_playing import SIZE, Bending, camera_matrices, drawn_viewport, toggle

BONES_SIZE = 256
WHITE = (1.0, 1.0, 1.0, 1.0)
COPIES = 20
UNDO_STEPS = 200


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many figures each drawing call has drawn."""
    counts: list[int] = []
    real = draw_module.draw_batch

    def counted(batch: Any, program: Any, count: int) -> None:
        counts.append(count)
        real(batch, program, count)

    monkeypatch.setattr(draw_module, "draw_batch", counted)
    return counts


def duplicated(rig: Object, mesh: Object) -> tuple[Object, Object]:
    """Return another character of the same armature and mesh datablocks."""
    copies = rig.copy(), mesh.copy()
    copies[1].modifiers[0].object = copies[0]
    for ob in copies:
        context.scene.collection.objects.link(ob)
    context.view_layer.update()
    return copies


def test_a_crowd_is_one_upload_and_one_call(calls: list[int]) -> None:
    rig, mesh = own_character()
    view, projection = camera_matrices()
    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: Bending(rig)) as renderer:
        renderer.draw(view, projection, choices=Choices(copies=COPIES))
        [(character, _, _)] = renderer._cast
        assert len(character.parts) == 1
    assert calls == [COPIES]


def test_a_crowd_drawn_by_one_call_is_the_crowd_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rig, mesh = own_character()
    view, projection = camera_matrices()
    crowd = Choices(copies=4, phase_s=1.0)

    def one_by_one(painter: Painter, what: Any) -> None:
        for part, first, count in painter._solid:
            for number in range(first, first + count):
                painter._draw(part, number, 1, what)

    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: Bending(rig)) as renderer:
        together = renderer.draw(view, projection, choices=crowd)
        alone = renderer.draw(view, projection)
        monkeypatch.setattr(Painter, "draw_solid", one_by_one)
        apart = renderer.draw(view, projection, choices=crowd)
    np.testing.assert_array_equal(together, apart)
    assert (together != alone).any()


def test_objects_with_the_same_mesh_and_bones_share_one_upload(calls: list[int]) -> None:
    first = own_character()
    second = duplicated(*first)
    second[1].location.x = 1.0
    other = own_character()
    view, projection = camera_matrices()
    with Renderer(context.scene, [first[1], second[1], other[1]], SIZE, SIZE, motion=lambda _: None) as renderer:
        both = renderer.draw(view, projection)
        parts = [next(iter(character.parts.values())) for character, _, _ in renderer._cast]
    assert parts[0] is parts[1] is not parts[2]
    assert sorted(calls) == [1, 2]
    with Renderer(context.scene, [first[1], other[1]], SIZE, SIZE, motion=lambda _: None) as renderer:
        assert (renderer.draw(view, projection) != both).any()


def test_other_bones_are_another_upload() -> None:
    first = own_character()
    second = duplicated(*first)
    second[0].data = second[0].data.copy()
    second[0].data.bones["bone1"].use_deform = False
    shared = SharedParts()
    parts = []
    for rig, mesh in (first, second):
        character = PreviewCharacter(rig.session_uid, shared)
        character.refresh(rig, [mesh])
        parts.append(character.parts[mesh.session_uid])
    assert parts[0] is not parts[1]


def test_an_edited_mesh_is_uploaded_anew_once_for_all_who_share_it() -> None:
    pairs = [own_character()]
    pairs.append(duplicated(*pairs[0]))
    shared = SharedParts()
    characters = [PreviewCharacter(rig.session_uid, shared) for rig, _ in pairs]

    def parts() -> list[Any]:
        for character, (rig, mesh) in zip(characters, pairs, strict=True):
            character.refresh(rig, [mesh])
        return [character.parts[mesh.session_uid] for character, (_, mesh) in zip(characters, pairs, strict=True)]

    before = parts()
    assert before[0] is before[1]
    changes.data(pairs[0][1].data.session_uid)
    after = parts()
    assert after[0] is after[1] is not before[0]
    del before, after
    characters.clear()
    assert not shared


def test_bones_of_many_are_one_call_and_follow_each_pose(calls: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """They are drawn where Blender's own posed bones are, and nowhere else."""
    pairs = [own_character(), own_character(bones=3)]
    pairs.append(duplicated(*pairs[0]))
    for number, (rig, _) in enumerate(pairs):
        bend(rig, largest_rad=0.3, seed=number + 1)
        rig.location.x = 1.5 * number - 1.5
    context.view_layer.update()
    view, projection = camera_matrices()
    monkeypatch.setattr(offscreen, "Actor", partial(Actor, bones="IN_FRONT"))
    meshes = [mesh for _, mesh in pairs]
    with Renderer(context.scene, meshes, BONES_SIZE, BONES_SIZE, motion=lambda _: None) as renderer:
        calls.clear()
        shown = renderer.draw(view, projection, background=WHITE)
        assert sorted(calls) == [1, 1, 2]  # the bones, the second's mesh, the mesh that two share
        monkeypatch.setattr(offscreen, "Actor", Actor)
        without = renderer.draw(view, projection, background=WHITE)
    near_bone = np.zeros((BONES_SIZE, BONES_SIZE), dtype=bool)
    clip_from_world = np.array(projection) @ np.array(view)
    for rig, _ in pairs:
        for bone in rig.pose.bones:
            ends = np.array([rig.matrix_world @ end for end in (bone.head, bone.tail)])
            points = ends[0] + (ends[1] - ends[0]) * np.linspace(0.0, 1.0, 64)[:, None]
            clip = np.append(points, np.ones((64, 1)), axis=1) @ clip_from_world.T
            x, y = ((clip[:, :2] / clip[:, 3:] * (1.0, -1.0) + 1.0) / 2.0 * BONES_SIZE).astype(int).T
            assert (np.minimum(x, y) >= 0).all() and (np.maximum(x, y) < BONES_SIZE).all()
            near_bone[y, x] = True
    differs = (shown != without).any(axis=-1)
    grown = np.lib.stride_tricks.sliding_window_view(np.pad(near_bone, 2), (5, 5)).any(axis=(-2, -1))
    assert not (differs & ~grown).any()
    grown = np.lib.stride_tricks.sliding_window_view(np.pad(differs, 2), (5, 5)).any(axis=(-2, -1))
    assert not (near_bone & ~grown).any()


def test_two_hundred_undone_edits_leave_one_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step edits the mesh, so each undo uploads it anew; what was there before must go."""
    monkeypatch.setattr(context.preferences.edit, "undo_steps", UNDO_STEPS + 10)
    rig, _ = own_character()
    window = context.window_manager.windows[0]
    context.view_layer.objects.active = rig
    parts: weakref.WeakSet[MeshOnGpu] = weakref.WeakSet()
    real = MeshOnGpu.__init__

    def counted(part: MeshOnGpu, *arguments: Any, **named: Any) -> None:
        real(part, *arguments, **named)
        parts.add(part)

    monkeypatch.setattr(MeshOnGpu, "__init__", counted)
    toggle()
    uploads = []
    with context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="start")
        for step in range(UNDO_STEPS):
            bpy.data.objects["Own"].data.vertices[0].co.x = float(step)
            bpy.ops.ed.undo_push(message=f"step {step}")
        for _ in range(UNDO_STEPS):
            assert bpy.ops.ed.undo() == {"FINISHED"}
            drawn_viewport(1)
            uploads.append(len(parts))
    assert set(uploads) == {1}
    toggle()
    assert not any(issubclass(type(thing), MeshOnGpu) for thing in gc.get_objects())
    assert not parts


def test_each_armature_moves_its_own_mesh_though_they_share_it() -> None:
    first = own_character()
    second = duplicated(*first)
    bend(second[0])
    view, projection = camera_matrices()
    pictures = []
    for pair in (first, second):
        with Renderer(context.scene, [first[1], second[1]], SIZE, SIZE, motion=lambda _: None) as renderer:
            renderer._cast = [entry for entry in renderer._cast if entry[1] == pair[0]]
            pictures.append(renderer.draw(view, projection))
    assert (pictures[0] != pictures[1]).any()
    assert bpy.data.meshes[first[1].data.name].users == 2
