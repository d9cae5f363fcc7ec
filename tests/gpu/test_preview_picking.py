"""A click finds what the preview draws, not where the hidden originals are."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from takt.operators.select_character import select
from takt.preview import life
from takt.tests.characters import Object, context, own_character
from takt.tests.gpu.test_preview_many import duplicated
from takt.tests.gpu.test_preview_playing import bends, toggle, viewport

BESIDE_M = 3.0
CROWD = 30


@pytest.fixture
def preview() -> Iterator[Any]:
    """Look along y at the origin, and preview what is called with; return which object is seen at points."""
    space = viewport()["area"].spaces.active
    view = space.region_3d
    kept = view.view_matrix.copy(), view.view_perspective, view.view_distance
    view.view_perspective = "PERSP"
    view.view_rotation = Matrix.Rotation(np.pi / 2.0, 3, "X").to_quaternion()
    view.view_location, view.view_distance = (0.0, 0.0, 2.0), 14.0

    def show(*characters: tuple[Object, Object]) -> Any:
        for ob in context.scene.objects:
            ob.select_set(any(ob == rig for rig, _ in characters))
        context.view_layer.objects.active = characters[0][0]
        context.view_layer.update()
        assert toggle() == {"FINISHED"}
        context.view_layer.update()
        return seen_at

    def seen_at(point: Any) -> Object | None:
        with context.temp_override(**viewport()):
            view.update()
            return life.object_at(context, pixel_of(Vector(point)))

    yield show
    life.stop()
    view.view_matrix, view.view_perspective, view.view_distance = kept


def pixel_of(point: Any) -> tuple[int, int]:
    """Return the pixel of the viewport at which a point is seen."""
    region, view = viewport()["region"], viewport()["area"].spaces.active.region_3d
    seen = view.perspective_matrix @ point.to_4d()
    return (int((seen.x / seen.w + 1.0) / 2.0 * region.width), int((seen.y / seen.w + 1.0) / 2.0 * region.height))


def middle_of(mesh: Object) -> Any:
    """Return the middle of a mesh at rest, in the world."""
    corners = np.array([mesh.matrix_world @ Vector(corner) for corner in mesh.bound_box])
    return corners.mean(axis=0)


def two() -> tuple[tuple[Object, Object], tuple[Object, Object]]:
    first = own_character()
    second = duplicated(*first)
    for ob in second:
        ob.location.x += BESIDE_M
    context.view_layer.update()
    return first, second


def test_each_character_is_found_where_it_is_seen(preview: Any) -> None:
    first, second = two()
    seen_at = preview(first, second)
    for _, mesh in (first, second):
        assert seen_at(middle_of(mesh)) == mesh
    assert seen_at(middle_of(first[1]) - np.array((BESIDE_M, 0.0, 0.0))) is None


def test_it_is_found_in_its_previewed_pose(preview: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original is posed otherwise: a bent arm is no longer found where it was."""
    rig, mesh = own_character()
    bends(monkeypatch, rig)
    seen_at = preview((rig, mesh))
    context.scene.frame_set(1)
    tops = [middle_of(mesh) * (1.0, 1.0, 0.0) + np.array((0.0, 0.0, height)) for height in np.linspace(0.2, 3.8, 19)]
    at_rest = [seen_at(top) for top in tops]
    context.scene.frame_set(1 + 24 * 2)
    assert at_rest != [seen_at(top) for top in tops]


@pytest.mark.parametrize("cover", ["before", "behind", "wires", "unselectable", "hidden"])
def test_what_blender_draws_before_it_is_left_to_blender(preview: Any, cover: str) -> None:
    rig, mesh = own_character()
    middle = middle_of(mesh)
    away = np.array((0.0, 4.0 if cover == "behind" else -4.0, 0.0))
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=middle + away)
    cube: Any = context.object
    cube.display_type = "WIRE" if cover == "wires" else "TEXTURED"
    cube.hide_select = cover == "unselectable"
    seen_at = preview((rig, mesh))
    cube.hide_set(cover == "hidden")
    assert seen_at(middle) == (None if cover == "before" else mesh)


@pytest.mark.parametrize("away", [-4.0, 4.0])
def test_an_empty_before_it_is_left_to_blender(preview: Any, away: float) -> None:
    rig, mesh = own_character()
    middle = middle_of(mesh)
    empty = bpy.data.objects.new("Mark", None)
    empty.location = middle + np.array((0.0, away, 0.0))
    context.scene.collection.objects.link(empty)
    assert preview((rig, mesh))(middle) == (None if away < 0.0 else mesh)


def test_what_cannot_be_selected_is_looked_through(preview: Any) -> None:
    rig, mesh = own_character()
    mesh.hide_select = True
    assert preview((rig, mesh))(middle_of(mesh)) is None


def test_each_of_a_crowd_is_found(preview: Any) -> None:
    """In rows one behind the other, so that only the depth tells them apart."""
    first = own_character()
    crowd = [first, *(duplicated(*first) for _ in range(CROWD - 1))]
    for number, character in enumerate(crowd):
        for ob in character:
            ob.location += Vector((2.0 * (number % 5) - 4.0, 3.0 * (number // 5), 0.0))
    context.view_layer.update()
    seen_at = preview(*crowd)
    viewport()["area"].spaces.active.region_3d.view_perspective = "ORTHO"
    assert [seen_at(middle_of(mesh)) for _, mesh in crowd[:5]] == [mesh for _, mesh in crowd[:5]]
    for _, mesh in crowd[:5]:
        mesh.hide_set(True)
    context.view_layer.update()
    assert seen_at(middle_of(crowd[0][1])) == crowd[5][1]


def test_selecting_is_as_blender_does_it() -> None:
    (_, one), (_, other) = two()

    def chosen() -> tuple[list[Object], Object]:
        return context.view_layer.objects.selected[:], context.view_layer.objects.active

    for ob, how, selected in ((one, "", [one]), (other, "", [other]), (one, "toggle", [one, other]),
                              (other, "toggle", [one, other]), (other, "toggle", [one]),
                              (other, "extend", [one, other]),
                              (one, "deselect", [other]), (one, "", [one])):
        select(context, ob, how == "toggle", how == "extend", how == "deselect")
        found, active = chosen()
        assert {each.name for each in found} == {each.name for each in selected} and active == ob
