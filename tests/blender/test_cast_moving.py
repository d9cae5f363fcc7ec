"""Places whose motion never ends, that the NLA moves, that are flat, and moves of places that are undone."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions.curves import bags
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.errors import Problem
from takt.core.playing.scene.cast import Moving, ScenePlace, Unfit
from takt.tests.blender.test_cast import END, NEAR_M, added, chair, rebuilt, root_at, walker
from takt.tests.blender.test_cast_places import EXACT, key, read, shown_at, updated

__all__ = ["walker"]  # the fixture
PERIOD = 30


def there(seat: bpy.types.Object, frame: int) -> np.ndarray:
    """Return where Blender has an object at a frame, over the ground."""
    shown_at(frame)
    layer = bpy.context.evaluated_depsgraph_get()
    return np.array(seat.evaluated_get(layer).matrix_world.translation)[:2]


def swinging() -> bpy.types.Object:
    """Return a chair that goes to and fro for ever."""
    seat = chair()
    for frame, x in ((1, 0.5), (1 + PERIOD // 3, 1.5), (1 + PERIOD, 0.5)):
        key(seat, frame, x)
    assert seat.animation_data is not None and seat.animation_data.action is not None
    for bag in bags(seat.animation_data.action):
        for curve in bag.fcurves:
            curve.modifiers.new("CYCLES")
    return seat


def told(character: bpy.types.Object) -> list[Problem]:
    motion = score.motion_of(character)
    assert motion is not None
    return [problem for problem in motion.problems if "'Chair'" in problem.message]


@pytest.mark.parametrize("frame", [1, 100])
def test_a_place_that_repeats_its_motion_counts_where_it_is_then(walker: bpy.types.Object, frame: int) -> None:
    seat = swinging()
    properties.character(walker).cast["seat"].target = seat
    shown_at(frame)
    assert isinstance(read(walker), Moving) and not told(walker)
    rebuilt()
    digest = cast.key(walker)
    at = there(seat, END)
    assert 0.6 < at[0] < 1.5 and np.hypot(*(root_at(walker, END) - at)) < NEAR_M
    shown_at(frame + 7)
    assert cast.key(walker) == digest


def test_a_place_that_the_nla_moves_is_told_and_counts_where_it_is_shown(walker: bpy.types.Object) -> None:
    seat = chair()
    key(seat, 1, 0.5)
    key(seat, 200, 2.5)
    animation: Any = seat.animation_data
    action, animation.action = animation.action, None
    track = animation.nla_tracks.new()
    track.strips.new("Goes", 1, action)
    properties.character(walker).cast["seat"].target = seat
    for frame in (1, 150):
        shown_at(frame)
        found = read(walker)
        assert isinstance(found, ScenePlace)
        np.testing.assert_allclose(found.position[:2], there(seat, frame), atol=EXACT)
        assert ["'Chair' is moved by the NLA, so its position at the current frame counts" in each.message
                for each in told(walker)] == [True]
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - np.array(found.position[:2]))) < NEAR_M
    track.mute = True
    updated()
    assert not told(walker)


def test_a_move_of_a_place_that_is_undone_is_undone_in_the_motion(walker: bpy.types.Object) -> None:
    window, ops = bpy.context.window_manager.windows[0], bpy.ops
    seat = chair()
    properties.character(walker).cast["seat"].target = seat
    rebuilt()
    names, before = (walker.name, seat.name), cast.key(walker)
    with bpy.context.temp_override(window=window, screen=window.screen):
        ops.ed.undo_push(message="before")
        seat.location.x = -1.5
        updated()
        assert cast.key(walker) != before
        rebuilt()
        assert np.hypot(*(root_at(walker, END) - (-1.5, -2.0))) < NEAR_M
        ops.ed.undo_push(message="Move")
        ops.ed.undo()
    walker, seat = (bpy.data.objects[name] for name in names)
    assert seat.location.x == pytest.approx(1.0) and cast.key(walker) == before
    for _ in range(2):  # by the Action that was undone, and by one that is made anew
        assert np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M
        rebuilt()


@pytest.mark.parametrize("scale", [(1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 0.0), (2.0, 0.0, 0.5)])
@pytest.mark.parametrize("is_animated", [False, True])
def test_a_place_that_is_flat_faces_as_one_that_is_not(walker: bpy.types.Object, scale: tuple[float, float, float],
                                                       is_animated: bool) -> None:
    seat = added("Chair", None, location=(1.0, -2.0, 0.0), rotation_euler=(0.2, -0.1, 1.0))
    properties.character(walker).cast["seat"].target = seat
    for frame in (1, 50) if is_animated else ():
        key(seat, frame, 1.0 - 0.01 * frame)
    plain = read(walker)
    seat.scale = scale
    updated()
    flat = read(walker)
    for one, other in ((plain, flat),) if not is_animated else zip(
            *((each.at(1.0),) for each in (plain, flat) if isinstance(each, Moving)), strict=True):
        assert isinstance(one, ScenePlace) and isinstance(other, ScenePlace)
        np.testing.assert_allclose(other.ahead, one.ahead, atol=1e-5)
        np.testing.assert_allclose(other.position, one.position, atol=EXACT)


def test_a_place_that_is_scaled_to_nothing_faces_nowhere(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = added("Chair", None, scale=(0.0, 0.0, 0.0))
    found = read(walker)
    assert isinstance(found, Unfit) and "'Chair' is scaled to nothing, so it faces nowhere" in found.why
