"""Props in hands through undo, in overrides, in moved strips, and from one character's hand to another's."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import write_motion
from takt.bridge.scene import cast, held_courses, held_props
from takt.bridge.scores import score
from takt.core.maths.arrays import FloatArray
from takt.core.playing.scene.cast import Moving
from takt.samples.character import add_armature, bone_tails
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton, rest_positions
from takt.tests.blender.test_cast import rebuilt
from takt.tests.blender.test_held_props import (
    FRAMES,
    LEG_M,
    SCORE,
    SLIP_M,
    course,
    cup,
    drawn,
)

LATER = """<pha version="2" tickLength="1"><load src="gestures.Greetings"/><role name="cup" is="prop"/>
  <procedure name="main"><together><lane><call name="hello" duration="16"/></lane>
    <lane><wait duration="8"/><reach for="cup" with="left hand" duration="2"/>
      <hold prop="cup" with="left hand" duration="3"/><wait duration="3"/></lane></together></procedure></pha>
"""
SOONER = LATER.replace('<wait duration="8"/>', '<wait duration="3"/>').replace('<wait duration="3"/></lane>',
                                                                               '<wait duration="8"/></lane>')
"""Takes the cup at 5 s, while the drinker's right hand has it from 3 to 6 s."""
AFTER = np.array((200, 230, 241, 243, 260, 300, 313, 340), dtype=np.float64)


def imported(path: Path) -> bpy.types.Object:
    """Return the sample's armature, without its skin, with the score."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and layer is not None
    found = add_armature("Dancer", scene, layer, build_skeleton(), rest_positions(), bone_tails())
    layer.objects.active = found
    path.write_text(SCORE, encoding="utf-8")
    assert operators().takt.import_pha(filepath=str(path), library=str(LIBRARY)) == {"FINISHED"}
    return found


@pytest.fixture
def drinker(tmp_path: Path) -> bpy.types.Object:
    """Return a character that takes a cup and puts it on a table, which nothing plays yet."""
    return imported(tmp_path / "drinks.pha")


def operators() -> Any:
    return bpy.ops


def scene() -> bpy.types.Scene:
    assert bpy.context.scene is not None
    return bpy.context.scene


def takts(prop: bpy.types.Object) -> int:
    return sum(len(hold.constraints) for hold in held_courses.holds_of(prop))


def test_undo_takes_the_prop_out_of_the_hand_and_redo_brings_it_back(drinker: bpy.types.Object) -> None:
    prop, name, window = cup(), drinker.name, bpy.context.window_manager.windows[0]
    lies = np.array(prop.matrix_world)
    with bpy.context.temp_override(window=window, screen=window.screen):
        operators().ed.undo_push(message="before")
        properties.character(drinker).cast["cup"].target = prop
        rebuilt()
        held = course(prop, np.array((100.0,)))
        operators().ed.undo_push(message="Rebuild")
        for _ in range(2):
            operators().ed.undo()
            prop, walker = bpy.data.objects["Cup"], bpy.data.objects[name]
            assert takts(prop) == 0 and not properties.character(walker).held
            np.testing.assert_allclose(course(prop, np.array((100.0,)))[0], lies, atol=1e-5)
            operators().ed.redo()
            prop, walker = bpy.data.objects["Cup"], bpy.data.objects[name]
            assert takts(prop) == 3 and len(properties.character(walker).held) == 1
            np.testing.assert_allclose(course(prop, np.array((100.0,))), held, atol=1e-5)
        bpy.context.view_layer.objects.active = walker
        rebuilt()
        assert takts(prop) == 3


def test_an_edit_of_the_score_that_is_undone_lets_the_prop_go_as_the_text_says(drinker: bpy.types.Object) -> None:
    prop, character = cup(), properties.character(drinker)
    character.cast["cup"].target = prop
    rebuilt()
    text = character.text
    assert text is not None
    text.from_string(SCORE.replace('<hold prop="cup" with="right hand" duration="3"/>', '<wait duration="3"/>'))
    rebuilt()
    assert takts(prop) == 0 and not character.held
    text.from_string(SCORE)
    rebuilt()
    assert takts(prop) == 3 and len(prop.animation_data.drivers) == 3


def test_an_override_of_a_character_holds_a_local_prop_and_one_that_is_overridden(
        drinker: bpy.types.Object, tmp_path: Path) -> None:
    path, prop = tmp_path / "drinks.blend", cup()
    bpy.data.libraries.write(str(path), {drinker, prop, *drinker.children})
    text = properties.character(drinker).text
    assert text is not None
    bpy.ops.wm.read_factory_settings(use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=True) as (there, to):
        to.objects = list(there.objects)
    for ob in [*bpy.data.objects]:
        scene().collection.objects.link(ob)
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE").override_create(remap_local_usages=True)
    linked = bpy.data.objects["Cup"]
    assert isinstance(rig, bpy.types.Object) and rig.override_library is not None
    layer = bpy.context.view_layer
    assert layer is not None
    layer.objects.active = rig
    layer.update()
    character = properties.character(rig)
    character.cast["cup"].target = linked
    motion = score.motion_of(rig)
    assert motion is not None and motion.carried
    ((_, said),) = held_props.write(rig, scene(), motion)
    assert "is linked from another file" in said and not character.held
    own = linked.override_create(remap_local_usages=True)
    assert isinstance(own, bpy.types.Object)
    character.cast["cup"].target = own
    rebuilt()
    assert takts(own) == 3
    held = course(own, np.array((100.0, 130.0)))
    saved = tmp_path / "scene.blend"
    operators().wm.save_as_mainfile(filepath=str(saved))
    operators().wm.open_mainfile(filepath=str(saved))
    own = next(ob for ob in bpy.data.objects if ob.name == "Cup" and ob.override_library is not None)
    np.testing.assert_allclose(course(own, np.array((100.0, 130.0))), held, atol=1e-4)


def in_a_strip(walker: bpy.types.Object) -> bpy.types.NlaStrip:
    """Push the Action of a character down."""
    animation, own = walker.animation_data, properties.character(walker).action
    assert animation is not None and own is not None
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Drinks", int(own.frame_range[0]), own)
    strip.action_slot = own.slots[0]
    return strip


@pytest.mark.parametrize(("moved", "scale"), [(0.0, 1.0), (40.0, 1.0), (-30.0, 1.0), (10.0, 1.5)])
def test_a_prop_goes_with_a_strip_that_is_moved_or_stretched(drinker: bpy.types.Object, moved: float,
                                                             scale: float) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    frames = np.arange(61.0, 181.0, 12.0)
    held = course(prop, frames)
    strip = in_a_strip(drinker)
    strip.scale = scale
    strip.frame_start_ui = 1.0 + moved
    held_props.follow(drinker, plays=False)
    assert not held_props.problem(drinker)
    np.testing.assert_allclose(course(prop, (frames - 1.0) * scale + 1.0 + moved), held, atol=SLIP_M)
    strip.mute = True
    held_props.follow(drinker, plays=False)
    np.testing.assert_allclose(course(prop, np.array((100.0,)))[0], np.array(prop.matrix_basis), atol=1e-5)


def test_a_strip_that_plays_backwards_or_twice_is_told(drinker: bpy.types.Object) -> None:
    properties.character(drinker).cast["cup"].target = cup()
    rebuilt()
    strip = in_a_strip(drinker)
    strip.use_reverse = True
    assert "is reversed, repeated" in held_props.problem(drinker)
    strip.use_reverse, strip.repeat = False, 2.0
    assert "is reversed, repeated" in held_props.problem(drinker)
    strip.repeat = 1.0
    animation, own = drinker.animation_data, properties.character(drinker).action
    assert animation is not None and own is not None and not held_props.problem(drinker)
    animation.nla_tracks.new().strips.new("Again", 400, own)
    assert "2 strips play the Action" in held_props.problem(drinker)


@pytest.fixture
def two(drinker: bpy.types.Object, tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Return a character that has a cup from 3 to 6 s, another who takes it at 10 s, and the cup."""
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    first = drinker
    other = imported(tmp_path / "other.pha")
    text = properties.character(other).text
    assert text is not None
    text.from_string(LATER)
    # Beside where the first one leaves it.
    left = course(prop, np.array((200.0,)))[0, :3, 3]
    other.location = left[0] - 0.25, left[1] + 0.35, 0.0
    score.motion_of(other)
    score.keep_lists(other)
    bpy.context.view_layer.update()
    properties.character(other).cast["cup"].target = prop
    return first, other, prop


def active(walker: bpy.types.Object) -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    layer.objects.active = walker
    rebuilt()


def test_a_prop_goes_from_one_characters_hand_to_anothers(
        two: tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]) -> None:
    first, other, prop = two
    before = course(prop, FRAMES)
    target = dict(cast.read(other))["cup"]
    assert isinstance(target, Moving)
    active(other)
    assert [hold.holder for hold in held_courses.holds_of(prop)] == [first, other]
    np.testing.assert_allclose(course(prop, FRAMES), before, atol=1e-5)
    motion = score.motion_of(other)
    assert motion is not None and not [each for each in motion.problems if "hand stays" in each.message]
    found = course(prop, AFTER)
    np.testing.assert_allclose(found[:2], before[-1:].repeat(2, axis=0), atol=1e-5)
    palm = np.array([palm_of(other, frame) for frame in AFTER])
    held = (AFTER > 242) & (AFTER < 312)
    apart = np.linalg.norm(found[:, :3, 3] - palm, axis=1)
    assert apart[held].max() < 0.02 * LEG_M and np.ptp(apart[held]) < SLIP_M
    assert np.linalg.norm(found[-1, :3, 3] - found[-2, :3, 3]) < 0.01


def palm_of(walker: bpy.types.Object, frame: float) -> FloatArray:
    """Return where the left palm of a character is in the world."""
    from takt.core.playing.scene.reach import Reaching
    from takt.core.skeletons.maps import find_map
    from takt.core.skeletons.skeleton import world_from_pose

    motion = score.motion_of(walker)
    assert motion is not None
    reaching = Reaching.of(find_map(motion.skeleton), "l")
    assert reaching is not None
    at = np.array(((frame - 1.0) / 24.0,))
    palm = reaching.palms(world_from_pose(motion.skeleton, motion.sample(at)))[0]
    return np.asarray(np.array(walker.matrix_world) @ (*palm, 1.0))[:3]


def test_who_lets_go_may_be_written_again_and_what_the_other_does_stays(
        two: tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]) -> None:
    first, other, prop = two
    active(other)
    before = course(prop, np.append(FRAMES, AFTER))
    digests = [write_motion.digest(each, scene()) for each in (first, other)]
    active(first)
    active(other)
    assert [hold.holder for hold in held_courses.holds_of(prop)] == [first, other]
    np.testing.assert_allclose(course(prop, np.append(FRAMES, AFTER)), before, atol=1e-4)
    assert [write_motion.digest(each, scene()) for each in (first, other)] == digests  # it comes to rest
    properties.character(first).cast["cup"].target = None
    active(first)
    assert [hold.holder for hold in held_courses.holds_of(prop)] == [other]


def test_one_who_would_take_it_while_another_has_it_is_told(
        two: tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]) -> None:
    first, other, prop = two
    text = properties.character(other).text
    assert text is not None
    text.from_string(SOONER)
    other.location = first.location
    bpy.context.view_layer.update()
    motion = score.motion_of(other)
    assert motion is not None
    if motion.carried:
        ((severity, said),) = held_props.write(other, scene(), motion)
        assert severity == "WARNING" and f"'{first.name}' holds 'Cup' from frame 73 to 145" in said
        assert "end one hold before the other begins" in said
    assert [hold.holder for hold in held_courses.holds_of(prop)] == [first]


def test_a_prop_whose_first_holder_is_deleted_stays_with_the_other(
        two: tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]) -> None:
    first, other, prop = two
    active(other)
    bpy.data.objects.remove(first)
    active(other)
    assert [hold.holder for hold in held_courses.holds_of(prop)] == [other]
    bpy.data.objects.remove(prop)
    active(other)
    assert not properties.character(other).held


def test_constraints_from_before_they_had_numbers_are_known(drinker: bpy.types.Object) -> None:
    prop = cup()
    properties.character(drinker).cast["cup"].target = prop
    rebuilt()
    own = np.array(prop.matrix_basis)
    for constraint in prop.constraints:
        constraint.name = constraint.name.removesuffix(" 1")
    (hold,) = held_courses.holds_of(prop)
    assert hold.holder == drinker and len(hold.constraints) == 3
    np.testing.assert_allclose(course(prop, FRAMES), drawn(drinker, own, FRAMES), atol=SLIP_M)
    rebuilt()
    assert takts(prop) == 3
