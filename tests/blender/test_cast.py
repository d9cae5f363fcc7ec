"""Objects of the scene that play the roles of a score."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scene import cast
from takt.bridge.scores import following, performing, score, score_blocks, score_layout
from takt.core.playing import score as core_score
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import ScenePath, ScenePlace, Unfit
from takt.tests.blender.dancing import sample_with_score

SCORE = """<pha version="2" tickLength="1"><load src="feet.Steps"/>
  <role name="seat" is="place"/><role name="lane" is="path"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <call name="walk" to="seat" duration="8" repeat="fit"/><call name="walk" along="lane" duration="8" repeat="fit"/>
  </procedure>
</pha>
"""
NEAR_M = 1e-3
FPS = 24
END = 1 + 8 * FPS


@pytest.fixture
def walker(tmp_path: Path) -> bpy.types.Object:
    """Return the sample character with a score that goes to a place and along a path, which nothing plays yet."""
    return sample_with_score(tmp_path / "scene.pha", SCORE)


def added(name: str, data: bpy.types.ID | None, **placed: Any) -> bpy.types.Object:
    found = bpy.data.objects.new(name, data)
    for attribute, value in placed.items():
        setattr(found, attribute, value)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and layer is not None
    scene.collection.objects.link(found)
    layer.update()
    return found


def chair() -> bpy.types.Object:
    return added("Chair", None, location=(1.0, -2.0, 0.0), rotation_euler=(0.0, 0.0, 1.0))


def line(kind: str, count: int = 4) -> bpy.types.Object:
    """Return a curve of a kind that leads from the chair away along x."""
    curve = bpy.data.curves.new("Lane", "CURVE")
    spline = curve.splines.new(kind)  # type: ignore[arg-type]  # a literal of three
    points: Any = spline.bezier_points if kind == "BEZIER" else spline.points
    points.add(count - 1)
    for number, point in enumerate(points):
        where = (1.0 + number, -2.0, 0.0)
        point.co = where if kind == "BEZIER" else (*where, 1.0)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "AUTO"
    spline.use_endpoint_u = True
    return added("Lane", curve)


def root_at(walker: bpy.types.Object, frame: int) -> np.ndarray:
    scene = bpy.context.scene
    assert scene is not None
    scene.frame_set(frame)
    assert walker.pose is not None
    hips = walker.pose.bones["humanoid_root" if "humanoid_root" in walker.pose.bones else "HumanoidRoot"]
    return np.array(walker.matrix_world @ hips.matrix)[:2, 3]


def rebuilt() -> None:
    ops: Any = bpy.ops
    assert ops.takt.rebuild() == {"FINISHED"}


def test_the_roles_of_a_score_are_listed_with_their_kinds(walker: bpy.types.Object) -> None:
    roles = properties.character(walker).cast
    assert [(role.name, role.kind, role.is_here, role.target) for role in roles] == [
        ("seat", "place", True, None), ("lane", "path", True, None)]


def test_a_character_goes_where_an_object_is_and_follows_when_that_is_moved(walker: bpy.types.Object) -> None:
    seat = chair()
    before = following.is_older(walker)
    properties.character(walker).cast["seat"].target = seat
    rebuilt()
    assert not before and np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M
    seat.location = -1.5, -1.0, 0.0
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (-1.5, -1.0))) < NEAR_M


def test_only_what_depends_on_an_object_is_computed_again_when_it_moves(walker: bpy.types.Object,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    made, play = list[Motion](), core_score.play

    def counted(*given: Any, **settings: Any) -> Motion:
        made.append(play(*given, **settings))
        return made[-1]

    monkeypatch.setattr(performing, "play", counted)
    text, seat, layer = properties.character(walker).text, chair(), bpy.context.view_layer
    assert text is not None and layer is not None
    text.from_string(SCORE.replace(' repeat="fit"', "").replace(' along="lane"', ""))
    rebuilt()
    properties.character(walker).cast["seat"].target = seat
    assert score.motion_of(walker) is made[-1]
    count = len(made)
    for place in ((-1.5, -1.0, 0.0), (2.0, -1.5, 0.0)):
        seat.location = place
        layer.update()
        live = score.motion_of(walker)
        assert live is not None and len(made) == count
    rebuilt()
    assert len(made) == count + 1 and np.hypot(*(root_at(walker, END) - place[:2])) < NEAR_M
    times_s = np.linspace(0.0, live.duration_s, 20)
    assert np.array_equal(live.sample(times_s).translations, made[-1].sample(times_s).translations)
    properties.character(walker).cast["seat"].target = None
    assert score.motion_of(walker) is made[-1] and len(made) == count + 2


def test_the_editor_shows_the_transition_after_a_call_that_fits_where_it_plays(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    text = properties.character(walker).text
    assert text is not None
    text.from_string(SCORE.replace('to="seat"', 'to="seat" transition="0.5"'))
    motion = score.motion_of(walker)
    assert motion is not None and len(motion.sequence) > 4
    score_blocks.find_windows(walker)
    found = score_blocks.shown(walker)
    assert found is not None and found.layout is not None and found.has_windows
    seams, way = found.layout.seams, motion.sequence.ways[0]
    assert seams.tick.tolist() == [4.0, 8.0, 12.0]
    played = motion.row.layout.window_begin_s[way.after - 1], motion.row.layout.window_end_s[way.after - 1]
    np.testing.assert_allclose((seams.begin[1], seams.end[1]), played, atol=1e-6)
    assert played[1] - played[0] > 0.1
    contacts = found.layout.contacts
    assert contacts is not None and len(contacts) > 8 and contacts.segment.max() <= 3


def test_a_character_that_was_moved_itself_still_goes_there(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    walker.location, walker.rotation_euler = (0.4, 0.3, 0.0), (0.0, 0.0, 2.0)
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M


@pytest.mark.parametrize("kind", ["BEZIER", "NURBS", "POLY"])
def test_a_curve_is_a_path_from_its_beginning_to_its_end(walker: bpy.types.Object, kind: str) -> None:
    properties.character(walker).cast["lane"].target = line(kind)
    (name, path), = cast.read(walker)
    assert name == "lane" and isinstance(path, ScenePath)
    np.testing.assert_allclose([path.points[0], path.points[-1]], ((1.0, -2.0, 0.0), (4.0, -2.0, 0.0)), atol=1e-5)
    rebuilt()
    assert np.hypot(*(root_at(walker, 1 + 16 * FPS) - (4.0, -2.0))) < NEAR_M


def bent(curve: bpy.types.Object, kind: str, is_on: bool) -> None:
    """Give a curve a modifier, or a shape key."""
    if kind == "KEY":
        curve.shape_key_add(name="Basis")
        curve.shape_key_add(name="Bent").value = float(is_on)
    else:
        modifiers: Any = curve.modifiers
        modifiers.new("Bend", kind).show_viewport = is_on


@pytest.mark.parametrize(("kind", "is_on", "says"), [
    ("SIMPLE_DEFORM", True, "modifiers of 'Lane'"), ("HOOK", True, "modifiers of 'Lane'"), ("HOOK", False, ""),
    ("ARRAY", True, ""), ("KEY", True, "shape keys of 'Lane'"), ("KEY", False, "")])
def test_what_bends_a_curve_but_not_the_path_is_told(walker: bpy.types.Object, kind: str, is_on: bool,
                                                     says: str) -> None:
    curve = line("BEZIER")
    bent(curve, kind, is_on)
    properties.character(walker).cast["lane"].target = curve
    motion = score.motion_of(walker)
    assert motion is not None
    found = [each for each in motion.problems if "'lane'" in each.message and "bend the path" in each.message]
    assert len(found) == bool(says) and all(says in each.message and each.place.line for each in found)


def test_a_path_of_several_splines_says_that_only_the_first_counts(walker: bpy.types.Object) -> None:
    curve = line("POLY")
    properties.character(walker).cast["lane"].target = curve
    motion = score.motion_of(walker)
    assert motion is not None and not [each for each in motion.problems if "splines" in each.message]
    curve.data.splines.new("POLY").points.add(2)
    motion = score.motion_of(walker)
    assert motion is not None
    (found,) = [each for each in motion.problems if "splines" in each.message]
    assert "'Lane' has 2 splines, and only the first is the path: separate the others" in found.message
    assert found.place.line and found.is_missed and (cast.read(walker)[0][1].points[-1][0]) == 4.0


def test_an_object_faces_along_its_own_minus_y(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = chair()
    (_, place), = cast.read(walker)
    assert isinstance(place, ScenePlace)
    np.testing.assert_allclose(place.ahead, (np.sin(1.0), -np.cos(1.0), 0.0), atol=1e-5)


def test_without_a_cast_nothing_is_read_and_the_motion_is_as_authored(walker: bpy.types.Object) -> None:
    assert cast.read(walker) == () and cast.key(walker) is None
    motion = score.motion_of(walker)
    assert motion is not None and any("is not cast" in problem.message for problem in motion.problems)


def test_what_plays_a_role_may_be_deleted_or_scaled_to_nothing(walker: bpy.types.Object) -> None:
    seat = chair()
    properties.character(walker).cast["seat"].target = seat
    seat.scale = 0.0, 0.0, 0.0
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    assert isinstance(dict(cast.read(walker))["seat"], Unfit)
    bpy.data.objects.remove(seat)
    (_, found), = cast.read(walker)
    assert isinstance(found, Unfit) and "'Chair' was deleted" in found.why
    rebuilt()


@pytest.mark.parametrize("scale", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)])
@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_a_place_that_is_flat_in_two_axes_is_a_place(walker: bpy.types.Object, scale: tuple[float, float, float],
                                                     turn: float) -> None:
    walker.rotation_euler.z, seat = 0.7, chair()
    seat.rotation_euler.z, seat.scale = turn, scale
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    properties.character(walker).cast["seat"].target = seat
    found = dict(cast.read(walker))["seat"]
    assert isinstance(found, ScenePlace)
    faces = np.array(walker.matrix_world)[:3, :3] @ found.ahead
    yaw = 0.0 if scale[2] else turn  # what is upright alone does not tell how it is turned
    np.testing.assert_allclose(faces, (np.sin(yaw), -np.cos(yaw), 0.0), atol=1e-5)


def test_what_the_user_deletes_plays_no_role_though_its_field_keeps_it(walker: bpy.types.Object) -> None:
    seat, role = chair(), properties.character(walker).cast["seat"]
    role.target = seat
    assert cast.read(walker) and cast.is_cast(role)
    scene = bpy.context.scene
    assert scene is not None and scene.collection is not None
    scene.collection.objects.unlink(seat)  # as Delete does
    assert role.target == seat and not cast.is_cast(role)
    motion = score.motion_of(walker)
    assert motion is not None
    (problem,) = (each for each in motion.problems if "'Chair' is in no scene" in each.message)
    assert problem.is_missed and not problem.is_note and "'seat'" in problem.message
    assert cast.absence(role) in problem.message and not cast.absence(properties.character(walker).cast["lane"])
    collection = bpy.data.collections.new("Elsewhere")
    collection.objects.link(seat)  # a collection that is in no scene either
    assert not cast.is_cast(role) and cast.absence(role)
    bpy.data.scenes.new("Other").collection.children.link(collection)
    assert isinstance(dict(cast.read(walker))["seat"], ScenePlace) and cast.is_cast(role) and not cast.absence(role)


class Drawn:
    """A layout that notes what is drawn in red."""

    def __init__(self, red: list[str]) -> None:
        self.alert, self.red = False, red

    def column(self, **_how: object) -> "Drawn":
        return Drawn(self.red)

    def panel(self, *_names: object, **_how: object) -> "tuple[Drawn, Drawn]":
        return Drawn(self.red), Drawn(self.red)

    def row(self, **_how: object) -> "Drawn":
        drawn = Drawn(self.red)
        drawn.alert = self.alert
        return drawn

    def prop(self, _owner: object, name: str, text: str = "", **_how: object) -> None:
        self.label(text=text or name)

    def label(self, text: str, **_how: object) -> None:
        self.red += [text] if self.alert else []


def test_a_role_whose_object_was_deleted_is_red_in_the_list(walker: bpy.types.Object) -> None:
    seat, character, red = chair(), properties.character(walker), list[str]()
    character.cast["seat"].target, character.cast["lane"].target = seat, line("POLY")
    layout: Any = Drawn(red)
    score_layout._draw_cast(layout, character)
    assert not red
    scene = bpy.context.scene
    assert scene is not None
    scene.collection.objects.unlink(seat)
    score_layout._draw_cast(layout, character)
    assert red == ["seat", "In no scene: choose another object"]
    red.clear()
    bpy.data.objects.remove(seat)
    score_layout._draw_cast(layout, character)
    assert red == ["seat", "Deleted: choose another object", "leave_empty"]
    character.cast["seat"].leave_empty = True
    score_layout._draw_cast(layout, character)
    assert len(red) == 3 and not cast.absence(character.cast["seat"])


def test_what_is_only_in_an_instance_is_in_the_scene(walker: bpy.types.Object) -> None:
    seat, role = chair(), properties.character(walker).cast["seat"]
    role.target = seat
    scene = bpy.context.scene
    assert scene is not None
    scene.collection.objects.unlink(seat)
    inner, outer = (bpy.data.collections.new(name) for name in ("Inner", "Outer"))
    inner.objects.link(seat)
    outer.children.link(inner)
    assert cast.absence(role)
    instance: Any = added("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", outer
    assert not cast.absence(role) and cast.is_cast(role)


def test_a_path_is_played_by_a_curve_alone(walker: bpy.types.Object) -> None:
    role = properties.character(walker).cast["lane"]
    assert not properties._may_play(role, chair()) and properties._may_play(role, line("POLY"))
    assert not properties._may_play(properties.character(walker).cast["seat"], walker)


def test_same_score_gives_the_same_cast(walker: bpy.types.Object) -> None:
    properties.character(walker).cast["seat"].target = seat = chair()
    data = walker.data
    other = added("Other", None if data is None else data.copy())
    other.select_set(True)
    walker.select_set(True)
    layer, ops = bpy.context.view_layer, bpy.ops
    assert layer is not None
    layer.objects.active = walker
    assert ops.takt.same_score() == {"FINISHED"}  # type: ignore[attr-defined]
    assert properties.character(other).cast["seat"].target == seat
