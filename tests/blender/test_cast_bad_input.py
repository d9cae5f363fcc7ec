"""Bad casts: what is said names the role and its place in the text, and everything else plays on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scene import cast, held_courses, held_props
from takt.bridge.scores import score
from takt.core.errors import Problem
from takt.core.playing.scene.cast import ScenePlace
from takt.tests.blender.test_cast import END, NEAR_M, added, chair, line, rebuilt, root_at, walker
from takt.tests.blender.test_cast_floors import ankles, stroller
from takt.tests.blender.test_held_props import CUP, SCORE, course, cup, drinker, imported

__all__ = ["drinker", "stroller", "walker"]  # the fixtures
HELD_FRAME = 100
PATH_ENDS = 1 + 16 * 24
TWO_HANDS = SCORE.replace("hold=\"1\"/><wait duration=\"2\"/></lane>\n", "hold=\"1\"/><wait duration=\"2\"/></lane>\n"
                          "    <lane><wait duration=\"1\"/><reach for=\"cup\" with=\"left hand\" duration=\"2\"/>"
                          "<hold prop=\"cup\" with=\"left hand\" duration=\"3\"/><wait duration=\"2\"/></lane>\n")
MIDDLE = 0.0, -0.4, 1.1
"""Within reach of both hands."""


def updated() -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def scene() -> bpy.types.Scene:
    assert bpy.context.scene is not None
    return bpy.context.scene


def problems(character: bpy.types.Object, role: str) -> list[Problem]:
    """Return what is said of a role, other than in passing."""
    motion = score.motion_of(character)
    assert motion is not None
    return [problem for problem in motion.problems if f"'{role}'" in problem.message and not problem.is_note]


def takts(prop: bpy.types.Object) -> int:
    return sum(len(hold.constraints) for hold in held_courses.holds_of(prop))


def duplicated(*objects: bpy.types.Object) -> list[bpy.types.Object]:
    """Return copies as Shift+D makes them."""
    layer, ops = bpy.context.view_layer, bpy.ops
    assert layer is not None
    for each in bpy.context.selected_objects:
        each.select_set(False)
    for each in objects:
        each.select_set(True)
    layer.objects.active = objects[0]
    assert ops.object.duplicate() == {"FINISHED"}
    return [*bpy.context.selected_objects]


def in_one_point(kind: str) -> bpy.types.Object:
    found = line(kind)
    curve: Any = found.data
    for point in curve.splines[0].bezier_points if kind == "BEZIER" else curve.splines[0].points:
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "VECTOR"
        point.co = (1.0, -2.0, 0.0) if kind == "BEZIER" else (1.0, -2.0, 0.0, 1.0)
    updated()
    return found


@pytest.mark.parametrize("made", [lambda: in_one_point("POLY"), lambda: in_one_point("BEZIER"),
                                  lambda: added("Small", line("POLY").data, scale=(0.0, 0.0, 0.0))])
def test_a_path_of_no_length_is_told_and_the_walk_before_it_plays(walker: bpy.types.Object,
                                                                 made: Callable[[], bpy.types.Object]) -> None:
    properties.character(walker).cast["seat"].target = chair()
    properties.character(walker).cast["lane"].target = made()
    updated()
    (problem,) = problems(walker, "lane")
    assert "a path of no length leads nowhere" in problem.message and problem.place.line == 5
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M


def test_a_curve_that_is_edited_at_any_frame_is_followed_as_it_is_then(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    properties.character(walker).cast["lane"].target = curve = line("POLY")
    rebuilt()
    assert np.hypot(*(root_at(walker, PATH_ENDS) - (4.0, -2.0))) < NEAR_M
    data: Any = curve.data
    scene().frame_set(250)  # in the middle of it
    for point in data.splines[0].points:
        point.co = 1.0, -1.0 - point.co.x, 0.0, 1.0
    updated()
    rebuilt()
    assert np.hypot(*(root_at(walker, PATH_ENDS) - (1.0, -5.0))) < NEAR_M
    scene().frame_set(250)
    data.splines.clear()
    updated()
    (problem,) = problems(walker, "lane")
    assert "'Lane' has no points in its first spline" in problem.message and problem.place.line == 5
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M


def test_a_place_that_is_too_far_is_reached_and_told_with_a_length_that_would_do(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = added("Far", None, location=(0.0, -300.0, 0.0))
    (problem,) = problems(walker, "seat")
    assert "times as long as its clip goes" in problem.message and "s in all would do" in problem.message
    assert problem.place.line == 5 and problem in score.warnings_of(walker)
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (0.0, -300.0))) < 300.0 * NEAR_M


def on_a_bone(drinker: bpy.types.Object) -> bpy.types.Object:
    found = cup()
    assert drinker.pose is not None
    found.parent, found.parent_type, found.parent_bone = drinker, "BONE", drinker.pose.bones[-1].name
    return found


def body(drinker: bpy.types.Object) -> bpy.types.Object:
    return next(ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == drinker)


@pytest.mark.parametrize(("made", "why"), [
    (lambda drinker: drinker, "'Dancer' is the character itself"),
    (body, "'Dancer Body' is the body of 'Dancer' itself"),
    (on_a_bone, "'Cup' hangs on the character and goes where that goes")])
def test_what_goes_with_the_character_is_no_prop_and_the_other_one_is_held(
        drinker: bpy.types.Object, made: Callable[[bpy.types.Object], bpy.types.Object], why: str) -> None:
    prop, ball, character = made(drinker), added("Ball", None, location=(0.3, -0.3, 1.0)), properties.character(drinker)
    character.cast["cup"].target, character.cast["ball"].target = prop, ball
    updated()
    before, found = len(prop.constraints), problems(drinker, "cup")
    assert {problem.place.line for problem in found} == {5, 6} and all(why in each.message for each in found)
    rebuilt()
    assert len(prop.constraints) == before and takts(ball) == 3


def test_a_prop_that_is_deleted_is_left_alone_and_let_go(drinker: bpy.types.Object) -> None:
    prop, character = cup(), properties.character(drinker)
    character.cast["cup"].target = prop
    rebuilt()
    scene().collection.objects.unlink(prop)  # as Delete does, while fields keep it
    rebuilt()
    assert takts(prop) == 0 and not character.held
    found = problems(drinker, "cup")
    assert found and all(each.is_missed and "'Cup' is in no scene" in each.message for each in found)


@pytest.mark.parametrize("renamed", ["Cup", "Mug"])
def test_a_prop_that_is_removed_is_told_until_its_role_is_left_empty(drinker: bpy.types.Object, renamed: str) -> None:
    prop, role = cup(), properties.character(drinker).cast["cup"]
    role.target = prop
    rebuilt()
    prop.name = renamed
    rebuilt()
    bpy.data.objects.remove(prop)
    rebuilt()
    found = problems(drinker, "cup")
    assert role.target is None and any(each.message.startswith("<hold>") for each in found)
    assert all(each.is_missed and f"{renamed!r} was deleted" in each.message for each in found)
    role.leave_empty = True
    rebuilt()
    assert not [each for each in problems(drinker, "cup") if not each.is_note]
    role.target, role.target = cup(), None  # the user clears the field
    assert not [each for each in problems(drinker, "cup") if not each.is_note]


def test_a_prop_that_is_linked_is_told_and_stays_as_it_is(drinker: bpy.types.Object, tmp_path: Path) -> None:
    path, own = str(tmp_path / "cup.blend"), cup()
    bpy.data.libraries.write(path, {own})
    bpy.data.objects.remove(own)
    libraries: Any = bpy.data.libraries
    with libraries.load(path, link=True) as (_, to):
        to.objects = ["Cup"]
    (prop,) = to.objects
    assert prop is not None
    scene().collection.objects.link(prop)
    updated()
    properties.character(drinker).cast["cup"].target = prop
    motion = score.motion_of(drinker)
    assert motion is not None
    ((_, text),) = held_props.write(drinker, scene(), motion)
    assert ".pha:6:7: warning: <hold> the role 'cup': 'Cup' is linked from another file" in text and "override" in text
    assert not len(prop.constraints)


def test_two_hands_do_not_hold_what_a_third_one_holds(drinker: bpy.types.Object, tmp_path: Path) -> None:
    prop = cup(location=MIDDLE)
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    count, lies = len(prop.constraints), course(prop, np.array((1.0, HELD_FRAME)))
    assert count and np.linalg.norm(lies[0, :3, 3] - lies[1, :3, 3]) > 0.01
    other = imported(tmp_path / "other.pha")
    text = properties.character(other).text
    assert text is not None
    text.from_string(TWO_HANDS)
    properties.character(other).cast["cup"].target = prop
    motion = score.motion_of(other)
    assert motion is not None and sum(aim.aim.holds and aim.aim.role == "cup" for aim in motion.sequence.aims) == 2
    ((_, said),) = held_props.write(other, scene(), motion)
    assert f"<hold> the role 'cup': '{drinker.name}' holds 'Cup' from frame 73" in said
    assert len(prop.constraints) == count
    np.testing.assert_allclose(course(prop, np.array((1.0, HELD_FRAME))), lies, atol=1e-6)


def test_a_copy_of_a_prop_lies_where_the_prop_does_and_another_may_take_it(
        drinker: bpy.types.Object, tmp_path: Path) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    held_props.follow(drinker, plays=True)
    scene().frame_set(HELD_FRAME)
    (copy,) = duplicated(prop)
    held_props.follow(drinker, plays=True)
    found = course(copy, np.array((1.0, HELD_FRAME, 140.0)))[:, :3, 3]
    np.testing.assert_allclose(found, np.tile(CUP, (3, 1)), atol=1e-5)
    assert np.linalg.norm(course(prop, np.array((140.0,)))[0, :3, 3] - CUP) > 0.05
    other = imported(tmp_path / "other.pha")
    properties.character(other).cast["cup"].target = copy
    ((_, target),) = cast.read(other)
    assert isinstance(target, ScenePlace)
    np.testing.assert_allclose(target.position, CUP, atol=1e-5)
    motion = score.motion_of(other)
    assert motion is not None and not held_props.write(other, scene(), motion)
    assert [hold.holder for hold in held_courses.holds_of(copy)] == [other] and takts(prop) == 3


def test_a_character_that_is_copied_with_its_prop_holds_the_copy(drinker: bpy.types.Object) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    copies = duplicated(drinker, prop)
    twin, copy = (next(each for each in copies if each.type == kind) for kind in ("ARMATURE", "MESH"))
    properties.character(twin).cast["cup"].target = copy
    for each in (drinker, twin):
        held_props.follow(each, plays=True)
    motion = score.motion_of(twin)
    assert motion is not None and not held_props.write(twin, scene(), motion)
    assert [[hold.holder for hold in held_courses.holds_of(each)] for each in (prop, copy)] == [[drinker], [twin]]


def test_a_copy_lies_where_the_prop_does_after_undo_too(drinker: bpy.types.Object) -> None:
    window, ops = bpy.context.window_manager.windows[0], bpy.ops
    properties.character(drinker).cast["cup"].target = prop = cup()
    rebuilt()
    held_props.follow(drinker, plays=True)
    names = drinker.name, duplicated(prop)[0].name
    with bpy.context.temp_override(window=window, screen=window.screen):
        ops.ed.undo_push(message="Duplicate Objects")
        held_props.follow(drinker, plays=True)
        ops.ed.undo_push(message="another step")
        ops.ed.undo()
    drinker, copy = (bpy.data.objects[name] for name in names)
    assert not any(each.mute for each in copy.constraints)
    held_props.follow(drinker, plays=True)
    np.testing.assert_allclose(course(copy, np.array((1.0, HELD_FRAME)))[:, :3, 3], np.tile(CUP, (2, 1)), atol=1e-5)


def with_a_hole(half: float, high: float) -> bpy.types.Object:
    """Return a square floor that leaves a square out around its middle."""
    mesh = bpy.data.meshes.new("Stage")
    corners = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
    mesh.from_pydata([(size * x, size * y, 0.0) for size in (half, 20.0) for x, y in corners], [],
                     [(at, 4 + at, 4 + (at + 1) % 4, (at + 1) % 4) for at in range(4)])
    return added("Stage", mesh, location=(0.0, 0.0, high))


def test_feet_are_on_the_ground_in_the_hole_of_a_floor_and_on_it_beside(stroller: bpy.types.Object) -> None:
    flat, stage = ankles(stroller), with_a_hole(8.0, 0.3)
    properties.character(stroller).cast["stage"].target = stage
    updated()
    np.testing.assert_allclose(ankles(stroller), flat, atol=NEAR_M)
    (problem,) = problems(stroller, "stage")
    assert problem.place.line is not None and "stands" in problem.message
    stage.location.x = 14.0  # the hole is beside it
    updated()
    np.testing.assert_allclose(ankles(stroller), flat + 0.3, atol=10.0 * NEAR_M)
    assert not problems(stroller, "stage")
