"""What plays a role counts where it is over the score's frames, wherever the playhead stands; what cannot says why."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.rigs import object_courses, person
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.playing.scene.cast import Moving, ScenePlace, Unfit
from takt.tests.blender.dancing import add_sample
from takt.tests.blender.test_cast import END, FPS, NEAR_M, added, chair, line, rebuilt, root_at, walker

__all__ = ["walker"]  # the fixture

EXACT_M = 1e-4


def scene() -> bpy.types.Scene:
    found = bpy.context.scene
    assert found is not None
    return found


def updated() -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def keyed(target: bpy.types.Object, *places: tuple[int, tuple[float, float, float]]) -> None:
    """Key where an object is at frames, and how it is turned."""
    for number, (frame, place) in enumerate(places):
        target.location = place
        target.rotation_euler = 0.3 * number, 0.0, 0.5 * number
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)


def said(walker: bpy.types.Object) -> list[str]:
    motion = score.motion_of(walker)
    assert motion is not None
    return [problem.message for problem in motion.problems if "not cast" not in problem.message]


def test_a_place_that_moves_counts_at_its_time_at_every_playhead(walker: bpy.types.Object) -> None:
    seat = chair()
    keyed(seat, (1, (1.0, -2.0, 0.0)), (END, (-1.5, -1.0, 0.0)), (END + 60, (4.0, 4.0, 0.0)))
    properties.character(walker).cast["seat"].target = seat
    found, keys = [], []
    for frame in (1, END // 2, END + 60):
        scene().frame_set(frame)
        keys.append(cast.key(walker))
        rebuilt()
        found.append(root_at(walker, END))
    assert keys[0] == keys[1] == keys[2]
    assert np.hypot(*(np.array(found) - (-1.5, -1.0)).T).max() < NEAR_M
    assert scene().frame_current == END  # where root_at has set it


def test_a_character_whose_object_is_keyed_still_goes_there_at_every_playhead(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    keyed(walker, (1, (0.0, 0.0, 0.0)), (END, (0.0, 4.0, 0.0)))
    for axis, angle in enumerate((0.0, 0.0, 0.5)):
        for frame in (1, END):
            walker.rotation_euler[axis] = angle * (frame == END)
            walker.keyframe_insert("rotation_euler", frame=frame)
    for frame in (1, END):
        scene().frame_set(frame)
        rebuilt()
        assert np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M


def test_courses_are_those_that_blender_evaluates(walker: bpy.types.Object) -> None:
    """Of parents, bones, differences, quaternions and scales."""
    outer, inner, held = (added(name, None) for name in ("Outer", "Inner", "Held"))
    keyed(outer, (1, (0.0, 1.0, 2.0)), (40, (3.0, -1.0, 0.5)))
    outer.scale = 1.5, 1.5, 1.5
    inner.parent, inner.location, inner.delta_location = outer, (0.4, 0.2, 0.1), (0.0, 0.3, 0.0)
    inner.matrix_parent_inverse = inner.matrix_parent_inverse @ outer.matrix_world.inverted()
    inner.rotation_mode = "QUATERNION"
    for frame, turn in ((1, (1.0, 0.0, 0.0, 0.0)), (40, (0.5, 0.5, -0.5, 0.5))):
        inner.rotation_quaternion = turn
        inner.keyframe_insert("rotation_quaternion", frame=frame)
    bone = person.head_bone(walker)
    held.parent, held.parent_type, held.parent_bone, held.location = walker, "BONE", bone, (0.0, 0.1, 0.2)
    updated()
    frames = np.arange(1.0, 41.0, 3.0)
    for target, name in ((outer, ""), (inner, ""), (held, ""), (walker, bone)):
        own = object_courses.links(target, name)
        found = object_courses.world_over(own, frames)
        for frame, matrix in zip(frames.tolist(), found, strict=True):
            scene().frame_set(int(frame))
            assert walker.pose is not None
            expected = walker.matrix_world @ walker.pose.bones[bone].matrix if name else target.matrix_world
            np.testing.assert_allclose(matrix, np.array(expected), atol=EXACT_M)


@pytest.mark.parametrize("where", ["hidden", "elsewhere"])
def test_what_is_hidden_or_in_another_scene_counts_where_it_is(walker: bpy.types.Object, where: str) -> None:
    seat = chair()
    if where == "hidden":
        seat.hide_viewport = True
    else:
        assert scene().collection is not None
        scene().collection.objects.unlink(seat)
        bpy.data.scenes.new("Other").collection.objects.link(seat)
    seat.location = -1.5, -1.0, 0.0
    updated()
    properties.character(walker).cast["seat"].target = seat
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (-1.5, -1.0))) < NEAR_M


def test_what_constraints_move_is_said_to_be_where_it_is_now_and_hidden_it_is_left_out(
        walker: bpy.types.Object) -> None:
    seat, goal = chair(), added("Goal", None)
    keyed(goal, (1, (-1.5, -1.0, 0.0)), (2, (-1.5, -1.0, 0.0)))
    constraint: Any = seat.constraints.new("COPY_LOCATION")
    constraint.target = goal
    updated()
    properties.character(walker).cast["seat"].target = seat
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (-1.5, -1.0))) < NEAR_M
    assert any("'Chair' is moved by constraints" in text for text in said(walker))
    seat.hide_viewport = True
    updated()
    assert any("'Chair' is moved by constraints, and is not in the current scene" in text for text in said(walker))


def unfit_curve(walker: bpy.types.Object, points: int) -> bpy.types.Object:
    curve = bpy.data.curves.new("Empty", "CURVE")
    if points:
        curve.splines.new("POLY").points.add(points - 1)
    return added("Lane", curve)


@pytest.mark.parametrize(("role", "make", "why"), [
    ("seat", lambda walker: walker, "'Dancer' is the character itself"),
    ("seat", lambda walker: bpy.data.objects["Dancer Body"], "'Dancer Body' is the body of 'Dancer' itself"),
    ("seat", lambda walker: added("Hat", None, parent=walker), "'Hat' hangs on the character"),
    ("seat", lambda walker: added("Nan", None, location=(float("nan"), 0.0, 0.0)), "of 'Nan' is not a number"),
    ("lane", lambda walker: chair(), "'Chair' is of the type Empty, expected a curve"),
    ("lane", lambda walker: unfit_curve(walker, 0), "'Lane' has no points in its first spline"),
    ("lane", lambda walker: unfit_curve(walker, 1), "'Lane' has 1 point in its first spline"),
])
def test_what_cannot_play_a_role_says_why_in_the_score(walker: bpy.types.Object, role: str, make: Any,
                                                       why: str) -> None:
    properties.character(walker).cast[role].target = make(walker)
    updated()
    (found,) = (target for name, target in cast.read(walker) if name == role)
    assert isinstance(found, Unfit) and why in found.why
    assert any(f"nothing can play the role '{role}': {found.why}" in text for text in said(walker))
    rebuilt()


def test_a_person_is_a_character(walker: bpy.types.Object) -> None:
    role, seat = properties.character(walker).cast["seat"], chair()
    role.kind, role.target = "person", seat
    (_, found), = cast.read(walker)
    assert isinstance(found, Unfit) and "expected a character" in found.why
    assert not properties._may_play(role, seat) and not properties._may_play(role, walker)


def test_a_look_at_a_character_goes_to_its_head_wherever_that_walks(walker: bpy.types.Object) -> None:
    her = add_sample()
    assert her != walker
    her.location = 0.3, -1.5, 0.0
    updated()
    properties.character(walker).cast["seat"].target = her
    bone = person.head_bone(her)
    (_, target), = cast.read(walker)
    assert isinstance(target, Moving) and target.heads is not None and her.pose is not None
    for frame in (1, 90, 400):
        scene().frame_set(frame)
        head = her.matrix_world @ her.pose.bones[bone].matrix
        at = int(np.searchsorted(target.times_s, (frame - 1) / FPS - 1e-9))
        np.testing.assert_allclose(target.heads[at], np.array(head)[:3, 3], atol=NEAR_M)
    her.location = 1.3, -1.5, 0.0
    updated()
    (_, moved), = cast.read(walker)
    assert isinstance(moved, Moving) and moved.heads is not None
    np.testing.assert_allclose(moved.heads - target.heads, np.tile((1.0, 0.0, 0.0), (len(moved.heads), 1)), atol=NEAR_M)
    her.animation_data_clear()
    updated()
    (_, still), = cast.read(walker)
    assert isinstance(still, ScenePlace) and still.head is not None and still.head[2] > 1.0


def test_a_line_that_is_not_animated_is_read_once(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["lane"].target = line("POLY")
    (_, path), = cast.read(walker)
    assert not isinstance(path, (Moving, Unfit)) and not any("over time" in text for text in said(walker))
