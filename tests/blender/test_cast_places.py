"""Where what is cast counts: at its time, whatever frame is shown, also where Blender does not evaluate it."""

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.rigs import object_courses
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.errors import Problem
from takt.core.playing.scene.cast import Moving, ScenePlace, Target, Unfit
from takt.tests.blender.test_cast import NEAR_M, added, chair, rebuilt, root_at, walker

__all__ = ["walker"]  # the fixture
ARRIVES = 1 + 8 * 24
EXACT = 2e-6


def updated() -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def shown_at(frame: int) -> None:
    assert bpy.context.scene is not None
    bpy.context.scene.frame_set(frame)


def key(ob: bpy.types.Object, frame: int, x: float) -> None:
    ob.location.x = x
    ob.keyframe_insert("location", frame=frame)


def read(walker: bpy.types.Object) -> Target:
    return dict(cast.read(walker))["seat"]


def in_another_scene(ob: bpy.types.Object) -> None:
    assert bpy.context.scene is not None and bpy.context.scene.collection is not None
    bpy.context.scene.collection.objects.unlink(ob)
    other = bpy.data.scenes.new("Other").collection
    assert other is not None
    other.objects.link(ob)


def in_an_excluded_collection(ob: bpy.types.Object) -> None:
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and scene.collection is not None and layer is not None
    scene.collection.objects.unlink(ob)
    collection = bpy.data.collections.new("Excluded")
    scene.collection.children.link(collection)
    collection.objects.link(ob)
    layer.layer_collection.children["Excluded"].exclude = True


UNSEEN = [lambda ob: setattr(ob, "hide_viewport", True), lambda ob: ob.hide_set(True), in_another_scene,
          in_an_excluded_collection]


@pytest.mark.parametrize("hide", UNSEEN)
def test_an_object_that_is_not_shown_counts_where_it_is(walker: bpy.types.Object,
                                                         hide: Callable[[bpy.types.Object], None]) -> None:
    seat = chair()
    hide(seat)
    seat.location = -1.5, -1.0, 0.0
    properties.character(walker).cast["seat"].target = seat
    rebuilt()
    assert np.hypot(*(root_at(walker, ARRIVES) - (-1.5, -1.0))) < NEAR_M


@pytest.mark.parametrize(("hide", "is_known"), [*zip(UNSEEN, (False, True, False, False), strict=True)])
def test_constraints_of_an_object_that_is_not_shown_count_or_are_told(
        walker: bpy.types.Object, hide: Callable[[bpy.types.Object], None], is_known: bool) -> None:
    seat, mark = chair(), added("Mark", None)
    seat.constraints.new("COPY_LOCATION").target = mark  # type: ignore[attr-defined]
    properties.character(walker).cast["seat"].target = seat
    updated()
    hide(seat)
    for x in (3.0, 5.0):
        mark.location.x = x
        updated()
        found = read(walker)
        if is_known:
            assert isinstance(found, ScenePlace) and found.position[0] == pytest.approx(x) and not found.note
        else:
            assert isinstance(found, Unfit) and "'Chair' is moved by constraints" in found.why


@pytest.mark.parametrize("seed", range(20))
def test_matrices_are_those_that_blender_evaluates_at_the_frame(seed: int) -> None:
    """Of objects with random keys, deltas, rotation modes and parents."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rng, ob, above = np.random.default_rng(seed), None, None
    for number in range(3):
        above, ob = ob, added(f"Empty {number}", None)
        ob.rotation_mode = str(rng.choice(["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"]))  # type: ignore[assignment]
        turned = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(ob.rotation_mode,
                                                                                                "rotation_euler")
        ob.parent = above
        ob.matrix_parent_inverse.translation = rng.normal(size=3).tolist()
        ob.delta_location, ob.delta_scale = rng.normal(size=3).tolist(), rng.uniform(0.5, 2.0, 3).tolist()
        ob.delta_rotation_euler = rng.normal(size=3).tolist()
        ob.delta_rotation_quaternion = rng.normal(size=4).tolist()
        ob.delta_rotation_quaternion.normalize()
        for frame in (1, 30):
            for path in ("location", turned, "scale"):
                setattr(ob, path, (rng.normal(size=len(getattr(ob, path))) + 0.5).tolist())
                if rng.integers(3):
                    ob.keyframe_insert(path, frame=frame)
    assert ob is not None
    shown_at(12)
    wanted = np.array(ob.matrix_world)
    shown_at(30)
    (found,) = object_courses.world_over(object_courses.links(ob), np.array((12.0,)))
    np.testing.assert_allclose(found, wanted, atol=20 * EXACT * np.abs(wanted).max())


def test_a_place_that_moves_counts_where_it_is_at_its_time_whatever_is_shown(walker: bpy.types.Object) -> None:
    seat = chair()
    key(seat, 1, 1.5)
    key(seat, ARRIVES, -1.5)
    key(seat, 200, -3.0)
    properties.character(walker).cast["seat"].target = seat
    for frame in (1, 90, 200):
        shown_at(frame)
        found, digest = read(walker), cast.key(walker)
        assert isinstance(found, Moving)
        np.testing.assert_allclose(found.model_from_own[[0, ARRIVES - 1, -1], 0, 3], (1.5, -1.5, -3.0), atol=EXACT)
        rebuilt()
        assert np.hypot(*(root_at(walker, ARRIVES) - (-1.5, -2.0))) < NEAR_M
        shown_at(50)
        assert cast.key(walker) == digest
    properties.character(walker).frame_start = 200
    found = read(walker)
    assert isinstance(found, ScenePlace) and found.position[0] == pytest.approx(-3.0)


def test_movement_that_is_followed_needs_no_word_and_one_that_is_not_is_told_once(walker: bpy.types.Object) -> None:
    seat, mark = chair(), added("Mark", None)
    properties.character(walker).cast["seat"].target = seat
    key(seat, 1, 1.5)
    key(mark, 1, 1.5)

    def told() -> list[Problem]:
        motion = score.motion_of(walker)
        assert motion is not None
        return [problem for problem in motion.problems if "'Chair'" in problem.message]

    assert not told()
    seat.constraints.new("COPY_LOCATION").target = mark  # type: ignore[attr-defined]
    updated()
    (problem,) = told()
    assert "'Chair' is moved by constraints, so its position at the current frame counts" in problem.message
    assert problem.place.line is not None and not problem.is_note


def test_a_character_that_is_keyed_itself_reads_its_places_whatever_is_shown(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    walker.animation_data_clear()
    key(walker, 1, 0.0)
    key(walker, 100, 4.0)
    shown_at(1)
    first, found = cast.key(walker), read(walker)
    assert isinstance(found, Moving) and not found.note
    np.testing.assert_allclose(found.model_from_own[[0, -1], 0, 3], (1.0, -3.0), atol=EXACT)
    shown_at(100)
    assert cast.key(walker) == first


def test_what_else_moves_a_place_is_told(walker: bpy.types.Object) -> None:
    seat, mark = chair(), added("Mark", None)
    key(mark, 1, 0.0)
    seat.constraints.new("COPY_LOCATION").target = mark  # type: ignore[attr-defined]
    properties.character(walker).cast["seat"].target = seat
    updated()
    found = read(walker)
    assert isinstance(found, ScenePlace) and "moved by constraints" in found.note and "Bake Action" in found.note
