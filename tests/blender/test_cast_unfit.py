"""Objects that cannot play their roles: the report says what is wrong with what was chosen, and where it is wanted."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.errors import Problem
from takt.core.playing.scene.cast import ScenePlace, Unfit
from takt.tests.blender.test_cast import added, chair, line, root_at, walker

__all__ = ["walker"]  # the fixture
FRAMES = 1, 100, 193
NEAR_M = 1e-4


def empty() -> bpy.types.Object:
    return added("Not a Curve", None)


def curve_without_splines() -> bpy.types.Object:
    return added("Bare", bpy.data.curves.new("Bare", "CURVE"))


def curve_of_one_point() -> bpy.types.Object:
    curve = bpy.data.curves.new("Point", "CURVE")
    curve.splines.new("POLY")
    return added("Point", curve)


def curve_that_is_not_finite() -> bpy.types.Object:
    found = line("POLY")
    found.data.splines[0].points[1].co.x = float("nan")
    return found


def nowhere() -> bpy.types.Object:
    return added("Nowhere", None, location=(float("nan"), 0.0, 0.0))


def problems_of(walker: bpy.types.Object, role: str) -> list[Problem]:
    motion = score.motion_of(walker)
    assert motion is not None
    return [problem for problem in motion.problems if f"'{role}'" in problem.message]


@pytest.mark.parametrize(("role", "made", "told"), [
    ("lane", empty, "'Not a Curve' is of the type Empty, expected a curve"),
    ("lane", curve_without_splines, "'Bare' has no points in its first spline"),
    ("lane", curve_of_one_point, "'Point' has 1 point in its first spline"),
    ("lane", curve_that_is_not_finite, "'Lane' has a point that is not finite"),
    ("seat", nowhere, "'Nowhere' is not a number"),
    ("seat", lambda: added("Flat", None, scale=(0.0, 0.0, 0.0)), "'Flat' is scaled to nothing")])
def test_what_is_wrong_with_an_object_is_told_where_it_is_wanted(
        walker: bpy.types.Object, role: str, made: Callable[[], bpy.types.Object], told: str) -> None:
    before = [root_at(walker, frame) for frame in FRAMES]
    properties.character(walker).cast[role].target = made()
    (problem,) = problems_of(walker, role)
    assert told in problem.message and problem.place.line is not None and not problem.is_note
    assert bpy.ops.takt.rebuild() == {"FINISHED"}  # type: ignore[attr-defined]
    np.testing.assert_allclose([root_at(walker, frame) for frame in FRAMES], before, atol=NEAR_M)


def test_a_character_does_not_go_to_itself_nor_to_its_body(walker: bpy.types.Object) -> None:
    (body,) = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == walker]
    role = properties.character(walker).cast["seat"]
    for ob, what in ((walker, "is the character itself"), (body, f"is the body of '{walker.name}' itself")):
        role.target = ob
        (problem,) = problems_of(walker, "seat")
        assert f"'{ob.name}' {what}" in problem.message and problem.place.line is not None
        assert not properties._may_play(role, ob)


def test_a_character_that_is_nowhere_itself_goes_to_no_place(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    walker.location.x = float("inf")
    (found,) = [target for _, target in cast.read(walker)]
    assert isinstance(found, Unfit) and f"'{walker.name}' is not a number" in found.why


def test_another_character_is_a_place(walker: bpy.types.Object) -> None:
    assert walker.data is not None
    other = added("Other", walker.data.copy(), location=(1.0, 2.0, 0.0))
    role = properties.character(walker).cast["seat"]
    role.target = other
    assert properties._may_play(role, other)
    (_, found), = cast.read(walker)
    assert isinstance(found, ScenePlace)
