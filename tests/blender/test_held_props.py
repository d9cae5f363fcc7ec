"""Props go with hands by constraints that Takt puts on them, in the Action as in the motion that the preview draws."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt import api
from takt.bridge import properties
from takt.bridge.meshes.attached import attachment_of
from takt.bridge.scene import cast, held_courses, held_props
from takt.bridge.scores import following, score
from takt.core.maths.arrays import FloatArray
from takt.tests.blender.dancing import sample_with_score
from takt.tests.blender.test_cast import added, rebuilt

SCORE = """<pha version="2" tickLength="1"><load src="gestures.Greetings"/>
  <role name="cup" is="prop"/><role name="ball" is="prop"/><role name="table" is="place"/>
  <procedure name="main"><together>
    <lane><call name="hello" duration="8"/></lane>
    <lane><wait duration="1"/><reach for="cup" with="right hand" duration="2"/>
      <hold prop="cup" with="right hand" duration="3"/><wait duration="2"/></lane>
    <lane><wait duration="4"/><reach for="table" with="right hand" duration="1" hold="1"/><wait duration="2"/></lane>
    <lane><wait duration="7"/><hold prop="ball" with="left hand" duration="1"/></lane>
  </together></procedure>
</pha>
"""
FPS, LEG_M = 24, 0.825
SLIP_M = 0.005 * LEG_M
CUP, TABLE = (-0.25, -0.35, 1.1), (-0.1, -0.4, 1.0)


def imported(path: Path) -> bpy.types.Object:
    """Return the sample character with the score."""
    return sample_with_score(path, SCORE)


@pytest.fixture
def drinker(tmp_path: Path) -> bpy.types.Object:
    """Return a character that takes a cup and puts it on a table, which nothing plays yet."""
    return imported(tmp_path / "drinks.pha")


def cup(**placed: Any) -> bpy.types.Object:
    mesh = bpy.data.meshes.new("Cup")
    mesh.from_pydata([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.2)], [], [(0, 1, 2)])
    return added("Cup", mesh, **{"location": CUP, "rotation_euler": (0.3, 0.2, 1.0), "scale": (1.0, 2.0, 1.0),
                                 **placed})


def course(prop: bpy.types.Object, frames: FloatArray) -> FloatArray:
    """Return where Blender has an object at frames, (F, 4, 4)."""
    scene, found = bpy.context.scene, []
    assert scene is not None
    for frame in frames:
        scene.frame_set(int(frame))
        found.append(np.array(prop.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world))
    return np.array(found)


def drawn(walker: bpy.types.Object, own: FloatArray, frames: FloatArray) -> FloatArray:
    """Return where the motion that the preview draws has a cup, (F, 4, 4); own: as it lies."""
    motion = score.motion_of(walker)
    assert motion is not None
    moved = np.tile(np.eye(4), (len(frames), 1, 1))
    moved[:, :3] = motion.carry("cup", (frames - 1) / FPS)
    world = np.array(walker.matrix_world)
    return np.asarray(world @ moved @ np.linalg.inv(world) @ own)


FRAMES = np.array((1, 40, 72, 74, 90, 110, 130, 144, 146, 180, 193), dtype=np.float64)


@pytest.mark.parametrize("place", [{}, {"location": (2.0, 1.0, 0.3), "rotation_euler": (0.0, 0.0, 2.0)},
                                   {"scale": (1.5, 1.5, 1.5)}])
def test_a_prop_is_where_the_motion_has_it_before_in_and_after_the_hand(drinker: bpy.types.Object,
                                                                       place: dict[str, Any]) -> None:
    for name, value in place.items():
        setattr(drinker, name, value)
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    world = np.array(drinker.matrix_world)
    prop = cup(location=(world @ (*CUP, 1.0))[:3])
    table = added("Table", None, location=(world @ (*TABLE, 1.0))[:3])
    own = np.array(prop.matrix_world)
    for role, target in (("cup", prop), ("table", table)):
        properties.character(drinker).cast[role].target = target
    rebuilt()
    found = course(prop, FRAMES)
    np.testing.assert_allclose(found[:3], np.tile(own, (3, 1, 1)), atol=1e-5)
    np.testing.assert_allclose(found, drawn(drinker, own, FRAMES), atol=SLIP_M)
    assert np.linalg.norm(found[-1, :3, 3] - np.array(table.location)) < 0.01 * LEG_M * np.linalg.norm(world[:3, 0])
    before = cast.key(drinker)
    scene = bpy.context.scene
    assert scene is not None
    scene.frame_set(100)  # in the hand, it still counts where it lies
    assert cast.key(drinker) == before and not following.is_older(drinker) and attachment_of(prop) is None


def taken_cup(drinker: bpy.types.Object, scale: tuple[float, float, float],
              is_animated: bool) -> tuple[bpy.types.Object, FloatArray]:
    """Return a cup of a scale that is taken at frame 73, and its matrix (4, 4) as it is taken."""
    prop, table = cup(scale=scale), added("Table", None, location=TABLE)
    for frame in (1, 73) if is_animated else ():
        prop.location.x = CUP[0] - 0.1 * (frame == 1)
        prop.keyframe_insert("location", frame=frame)
    own = course(prop, np.array((73.0,)))[0]
    for role, target in (("cup", prop), ("table", table)):
        properties.character(drinker).cast[role].target = target
    rebuilt()
    return prop, own


@pytest.mark.parametrize("scale", [(1.0, 2.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 2.0)])
@pytest.mark.parametrize("is_animated", [False, True])
def test_a_prop_that_is_flat_is_held_as_any_other(drinker: bpy.types.Object, scale: tuple[float, float, float],
                                                  is_animated: bool) -> None:
    prop, own = taken_cup(drinker, scale, is_animated)
    held = FRAMES[FRAMES >= 73]
    np.testing.assert_allclose(course(prop, held), drawn(drinker, own, held), atol=SLIP_M)
    assert np.linalg.matrix_rank(own[:3, :3]) == np.count_nonzero(scale)
    assert len(properties.character(drinker).held) == 1


def sheared_cup(**keys: float) -> bpy.types.Object:
    """Return a cup whose parent has another scale along one axis; keys: locations of that parent by frame."""
    parent, prop = added("Tray", None, scale=(1.0, 2.0, 1.0)), cup(location=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0))
    prop.rotation_euler = 0.0, 0.0, 0.8
    prop.parent, parent.location = parent, CUP
    for frame, x in keys.items():
        parent.location.x = x
        parent.keyframe_insert("location", frame=int(frame[1:]))
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    return prop


@pytest.mark.parametrize("turned", [0.0, 1.0])
def test_a_sheared_prop_keeps_its_shape_in_the_hand_and_where_it_is_put_down(drinker: bpy.types.Object,
                                                                             turned: float) -> None:
    drinker.rotation_euler.z = turned
    prop = sheared_cup()
    spot = np.array(drinker.matrix_basis) @ (*CUP, 1.0)
    parent = prop.parent
    assert parent is not None
    parent.location = spot[:3].tolist()
    layer, scene = bpy.context.view_layer, bpy.context.scene
    assert layer is not None and scene is not None
    layer.update()
    own, character = np.array(prop.matrix_world), properties.character(drinker)
    character.cast["cup"].target = prop
    character.cast["table"].target = added("Table", None, location=(np.array(drinker.matrix_basis) @ (*TABLE, 1.0))[:3])
    rebuilt()
    found = course(prop, FRAMES)
    np.testing.assert_allclose(found, drawn(drinker, own, FRAMES), atol=SLIP_M)
    np.testing.assert_allclose(held_courses.world_over(prop, FRAMES, held_courses.holds_of(prop)), found, atol=SLIP_M)
    (hold,) = held_courses.holds_of(prop)
    assert hold.holder == drinker and hold.span() == (73.0, 145.0)
    motion = score.motion_of(drinker)
    assert motion is not None and not [text for _, text in held_props.write(drinker, scene, motion) if "shear" in text]


def test_a_sheared_prop_that_moves_by_itself_says_that_it_changes(drinker: bpy.types.Object) -> None:
    properties.character(drinker).cast["cup"].target = sheared_cup(f1=-0.5, f73=CUP[0])
    motion, scene = score.motion_of(drinker), bpy.context.scene
    assert motion is not None and scene is not None
    ((severity, text),) = held_props.write(drinker, scene, motion)
    assert severity == "WARNING" and "'Cup' is sheared, and changes its shape where it is put down" in text
    for found in (api.motion(drinker), api.play(drinker), api.motion(drinker)):
        assert text in found.warnings


@pytest.mark.parametrize("scale", [(-1.0, 2.0, 1.0), (1.0, 2.0, -0.5), (-1.0, -2.0, -1.0)])
@pytest.mark.parametrize("is_animated", [False, True])
def test_a_prop_that_is_mirrored_stays_so(drinker: bpy.types.Object, scale: tuple[float, float, float],
                                          is_animated: bool) -> None:
    prop, own = taken_cup(drinker, scale, is_animated)
    held = FRAMES[FRAMES >= 73]
    found = course(prop, held)
    np.testing.assert_allclose(found, drawn(drinker, own, held), atol=SLIP_M)
    np.testing.assert_allclose(held_courses.world_over(prop, held, held_courses.holds_of(prop)), found, atol=SLIP_M)
    assert np.linalg.det(own[:3, :3]) < 0.0 and (np.linalg.det(found[:, :3, :3]) < 0.0).all()


def test_a_prop_that_is_animated_itself_is_taken_where_it_is_and_its_own_keys_stay(drinker: bpy.types.Object) -> None:
    prop = cup()
    for frame, x in ((1, -0.6), (73, CUP[0]), (193, 3.0)):
        prop.location = x, *CUP[1:]
        prop.keyframe_insert("location", frame=frame)
    assert prop.animation_data is not None
    keyed = prop.animation_data.action
    own = course(prop, np.array((73.0,)))[0]
    properties.character(drinker).cast["cup"].target = prop
    free = course(prop, FRAMES[:3])
    rebuilt()
    np.testing.assert_allclose(course(prop, FRAMES[:3]), free, atol=1e-5)
    np.testing.assert_allclose(course(prop, FRAMES[3:]), drawn(drinker, own, FRAMES[3:]), atol=SLIP_M)
    assert prop.animation_data.action == keyed


def test_constraints_of_the_users_stay_and_takts_go_with_the_action(drinker: bpy.types.Object) -> None:
    prop = cup()
    muted = prop.constraints.new("COPY_LOCATION")
    muted.mute = True
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    count = len(prop.constraints)
    assert count > 1
    rebuilt()
    assert len(prop.constraints) == count and prop.constraints[0] == muted
    held_props.follow(drinker, plays=False)
    lies = np.array(prop.matrix_basis)
    np.testing.assert_allclose(course(prop, np.array((100.0,)))[0], lies, atol=1e-5)
    held_props.follow(drinker, plays=True)
    assert np.linalg.norm(course(prop, np.array((100.0,)))[0, :3, 3] - lies[:3, 3]) > 0.01
    properties.character(drinker).cast["cup"].target = None
    rebuilt()
    assert [*prop.constraints] == [muted] and not properties.character(drinker).held
    animation = prop.animation_data
    assert animation is None or not len(animation.drivers)


def test_two_characters_do_not_hold_one_prop_at_a_time(drinker: bpy.types.Object, tmp_path: Path) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    constraints = len(prop.constraints)
    other = imported(tmp_path / "other.pha")
    properties.character(other).cast["cup"].target = prop
    motion, scene = score.motion_of(other), bpy.context.scene
    assert motion is not None and scene is not None
    ((severity, text),) = held_props.write(other, scene, motion)
    assert severity == "WARNING" and text.endswith(
        f".pha:6:7: warning: <hold> the role 'cup': '{drinker.name}' holds 'Cup' from frame 73 to 145, and "
        f"'{other.name}' would from frame 73 to 145: end one hold before the other begins, or choose another "
        "object for one of them")
    assert len(prop.constraints) == constraints and not properties.character(other).held
    for found in (api.motion(other), api.play(other), api.motion(other)):
        assert text in found.warnings
    assert len(prop.constraints) == constraints and not properties.character(other).held
    assert not [each for each in api.motion(drinker).warnings if "holds 'Cup'" in each]


def follows_another(prop: bpy.types.Object) -> None:
    constraint: Any = prop.constraints.new("COPY_ROTATION")
    constraint.target = added("Leader", None)


@pytest.mark.parametrize(("change", "why"), [
    (follows_another, "'Cup' is moved by constraints, so no hand can hold it"),
    (lambda prop: setattr(prop, "scale", (0.0, 0.0, 0.0)), "'Cup' is scaled to nothing, so no hand can hold it")])
def test_what_cannot_be_held_says_why_and_costs_only_itself(drinker: bpy.types.Object, change: Any, why: str) -> None:
    prop, ball = cup(), added("Ball", None, location=(0.3, -0.3, 1.0))
    change(prop)
    layer, scene = bpy.context.view_layer, bpy.context.scene
    assert layer is not None and scene is not None
    layer.update()
    character, before = properties.character(drinker), len(prop.constraints)
    character.cast["cup"].target, character.cast["ball"].target = prop, ball
    motion = score.motion_of(drinker)
    assert motion is not None
    ((_, text),) = held_props.write(drinker, scene, motion)
    assert ".pha:6:7: warning: <hold> the role 'cup': " in text and why in text
    assert len(prop.constraints) == before and len(ball.constraints) == 3


def test_one_object_does_not_play_two_props_and_a_hidden_or_deleted_one_costs_nothing(
        drinker: bpy.types.Object) -> None:
    character, prop = properties.character(drinker), cup(location=(0.0, -0.35, 1.1))
    character.cast["cup"].target = character.cast["ball"].target = prop
    motion, scene = score.motion_of(drinker), bpy.context.scene
    assert motion is not None and scene is not None
    ((_, text),) = held_props.write(drinker, scene, motion)
    assert "plays another role that a hand holds" in text
    prop.hide_viewport = True
    character.cast["ball"].target = None
    rebuilt()
    assert len(prop.constraints) > 1
    bpy.data.objects.remove(prop)
    rebuilt()
    assert character.cast["cup"].target is None and not character.held


def test_a_copy_of_a_prop_loses_takts_constraints_with_the_next_action(drinker: bpy.types.Object) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    copy = prop.copy()
    scene = bpy.context.scene
    assert scene is not None and copy is not None and len(copy.constraints) > 1
    scene.collection.objects.link(copy)
    copy.constraints.new("COPY_SCALE")
    rebuilt()
    assert [each.type for each in copy.constraints] == ["COPY_SCALE"]
    assert len(prop.constraints) > 1


def test_keep_mine_leaves_the_prop_in_the_hand(drinker: bpy.types.Object) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    held_props.leave(drinker)
    rebuilt_at = course(prop, np.array((100.0,)))[0]
    held_props.take_off(drinker)
    assert len(prop.constraints) > 1 and "Takt" not in prop.constraints[0].name
    np.testing.assert_allclose(course(prop, np.array((100.0,)))[0], rebuilt_at, atol=1e-6)
