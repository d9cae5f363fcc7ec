"""Characters with something odd about them, in a viewport: drawn all the same, or left out; never a failure."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest

from takt.preview import getting_ready, life
from takt.tests.characters import Object, bend, context, own_character
from takt.tests.gpu.test_preview_playing import drawn_viewport, toggle


@pytest.fixture
def character() -> Iterator[tuple[Object, Object]]:
    rig, mesh = own_character()
    bend(rig)
    context.view_layer.objects.active = rig
    yield rig, mesh
    life.stop()


def drawn() -> np.ndarray:
    context.view_layer.update()
    return drawn_viewport(1)


def test_renamed_bones_are_drawn_as_before(character: tuple[Object, Object]) -> None:
    """Blender renames the groups with them."""
    toggle()
    before = drawn()
    for bone in character[0].data.bones:
        bone.name = f"{bone.name} renamed"
    assert before.any() and (drawn() == before).all()


def test_a_renamed_group_no_longer_follows(character: tuple[Object, Object]) -> None:
    toggle()
    before = drawn()
    character[1].vertex_groups["bone2"].name = "nobody"
    character[1].data.update()
    assert (drawn() != before).any()


@pytest.mark.parametrize("empty", ["groups", "members", "faces", "vertices"])
def test_empty_things_are_drawn_or_left_out(character: tuple[Object, Object], empty: str) -> None:
    mesh = character[1]
    toggle()
    bent = drawn()
    if empty == "groups":
        mesh.vertex_groups.clear()
    elif empty == "members":
        for group in mesh.vertex_groups:
            group.remove(list(range(len(mesh.data.vertices))))
    else:
        data: Any = bpy.data.meshes.new("Nothing")
        if empty == "faces":
            data.from_pydata([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [(0, 1)], [])
        mesh.data = data
    mesh.data.update()
    now = drawn()
    assert (now != bent).any() and now.any() == (empty in ("groups", "members"))
    assert life.is_running() and life.error() == ""


def test_other_data_is_drawn_at_once(character: tuple[Object, Object]) -> None:
    rig, mesh = character
    toggle()
    before = drawn()
    mesh.data = mesh.data.copy()
    assert (drawn() == before).all()
    mesh.data.materials.append(bpy.data.materials.new("Red"))
    mesh.data.materials[0].diffuse_color = (1.0, 0.0, 0.0, 1.0)
    red = drawn()
    assert (red != before).any()
    mesh.material_slots[0].link = "OBJECT"
    assert (drawn() == before).all()
    rig.data = rig.data.copy()
    rig.data.bones["bone1"].use_deform = False
    assert (drawn() != before).any()


@pytest.mark.parametrize("gone", [0, 1])
def test_what_is_deleted_is_no_longer_drawn(character: tuple[Object, Object], gone: int) -> None:
    toggle()
    assert drawn().any()
    bpy.data.objects.remove(character[gone])
    context.view_layer.update()
    assert life.is_running() == (gone == 1)
    if life.is_running():
        assert not drawn().any()


def test_two_thousand_bones_are_drawn() -> None:
    bones = 2000
    rig, mesh = own_character(bones, sides=4, rings=bones)
    mesh.scale = rig.scale = (1.0, 1.0, 0.001)
    context.view_layer.objects.active = rig
    toggle()
    straight = drawn()
    for bone in rig.pose.bones:
        bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.001
    assert straight.any() and (drawn() != straight).any()
    life.stop()


def test_a_large_mesh_is_read_before_it_is_drawn(character: tuple[Object, Object],
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """With progress, and once: the drawing only uploads it."""
    told: list[float] = []
    monkeypatch.setattr(getting_ready, "_LARGE_VERTICES", 1)
    life.start([character[0]])
    life.read_large_meshes(context.view_layer, told.append)
    assert told[0] == 0.0 and told == sorted(told) and len(told) > 1 and told[-1] <= 1.0
    monkeypatch.setattr("takt.preview.character.read_geometry", None)
    assert drawn().any()
