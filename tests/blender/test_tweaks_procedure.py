"""Layers of tweaks over a procedure, which are in all its calls, and over a part of the body."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.scores import score
from takt.bridge.tweaking import tweak_curves, tweak_moments, tweak_waiting, tweaked_motion, tweaks
from takt.bridge.tweaking.tweak_curves import CurveKeys
from takt.bridge.tweaking.tweak_placing import _Moments
from takt.core.maths import rotations as rot
from takt.core.pha.edits import Insert, Move, Remove, SetAttribute
from takt.core.playing.ties import Ties
from takt.tests.blender.dancing import Wait, play, rebuild, text_of
from takt.tests.blender.test_tweaks import (
    FPS,
    KNEE,
    LIFT,
    curves_of,
    edit,
    is_lifted,
    own_frames,
    set_key,
    tweak,
    tweaks_of,
)

VERSES = """<?xml version="1.0"?>
<pha tickLength="1.0">
  <load src="feet.Steps"/>
  <procedure name="verse">
    <call name="left" duration="1" transition="0.25"/>
    <call name="right" duration="1.5" transition="0.25"/>
  </procedure>
  <procedure name="main">
    <call name="verse" duration="2.5"/>
    <call name="right" duration="1"/>
    <call name="verse" duration="5" repeat="2"/>
    <call name="left" duration="1"/>
  </procedure>
</pha>
"""
VERSE, FIRST, BETWEEN, LONG, LAST = 2, 6, 7, 8, 9
"""Elements: the procedure, and the calls of main."""
TIMES_S = (0.5, 4.5, 9.5)
"""Half of the first step of each verse."""
TOLERANCE = 1e-4
operators: Any = bpy.ops


def frames(*times_s: float) -> list[float]:
    return [1.0 + FPS * each for each in times_s]


def angles(rig: Any, *times_s: float, bone: str = KNEE) -> list[float]:
    """Return how far from the score's pose, turned by LIFT, a bone is at times; all other joints are the score's."""
    scene, motion, times = bpy.context.scene, score.motion_of(rig), np.array(times_s)
    assert scene is not None and motion is not None
    plain, found = motion.sample(times), tweaked_motion.shown(rig, scene, motion).sample(times)
    joint = motion.skeleton.index_of[bone]
    others = np.arange(len(motion.skeleton)) != joint
    np.testing.assert_allclose(found.rotations[:, others], plain.rotations[:, others], atol=1e-12)
    np.testing.assert_allclose(found.translations, plain.translations, atol=1e-12)
    wanted = rot.multiply(plain.rotations[:, joint], np.array(LIFT.normalized()))
    away: list[float] = rot.angle_between(found.rotations[:, joint], wanted).tolist()
    return away


def check(rig: Any, *times_s: float, untouched_s: tuple[float, ...] = ()) -> None:
    """See to it that all these times have the tweak, and others none."""
    assert not times_s or max(angles(rig, *times_s)) < TOLERANCE
    turn = 2.0 * np.arccos(min(abs(LIFT.normalized().w), 1.0))
    for time_s in untouched_s:
        assert angles(rig, time_s)[0] == pytest.approx(turn, abs=TOLERANCE)
    assert all(is_lifted(rig, 1.0 + FPS * time_s) for time_s in times_s)


@pytest.fixture
def verses(rig: Any, library: Path, wait: Wait) -> Any:
    """A dancer with a layer over the verse, and one key in the first of its calls."""
    wait(0.2)
    play(library / "dance.pha")
    text_of(rig).from_string(VERSES)
    wait(2.0)
    tweak()
    tweaks_of(rig)[0].procedure = "verse"
    set_key(rig, 13)
    wait(0.5)
    return rig


def test_a_key_is_in_every_call_of_the_procedure(verses: Any) -> None:
    check(verses, *TIMES_S, untouched_s=(2.0, 3.0, 6.5, 11.5, 13.9))
    assert own_frames(verses.animation_data.action) == [13.0] and tweaks.problem(verses) == ""


def test_without_a_procedure_it_is_in_one_call(verses: Any, wait: Wait) -> None:
    tweaks_of(verses)[0].procedure = ""
    wait(0.5)
    check(verses, TIMES_S[0], untouched_s=TIMES_S[1:])


@pytest.mark.parametrize(("change", "times_s"), [
    (SetAttribute(0, "tickLength", "0.5"), [each / 2.0 for each in TIMES_S]),
    (SetAttribute(FIRST, "duration", "5"), [1.0, 7.0, 12.0]),
    (SetAttribute(FIRST, "repeat", "2"), [0.5, 3.0, 7.0, 12.0]),
    (Move(BETWEEN, 5, 0), [1.5, 4.5, 9.5]),
    (SetAttribute(LONG, "repeat", "1"), [0.5, 4.5]),
    (Remove(LONG), [0.5]),
    (Remove(FIRST), [2.0, 7.0]),
    (Insert(5, 4, '<call name="verse" duration="2.5"/>'), [0.5, 4.5, 9.5, 15.0]),
    (Move(4, VERSE, 0), [2.0, 7.5, 12.5]),
    (SetAttribute(3, "duration", "1.5"), [0.625, 4.75, 9.75]),  # the verse's 3 ticks play in 2.5 and 5 s then
], ids=["tempo", "longer", "repeated", "moved", "once", "fewer", "without_the_one_with_the_key", "more", "turned_round",
        "inside"])
def test_after_an_edit_of_the_score_every_call_has_it(verses: Any, change: Any, times_s: list[float]) -> None:
    edit(verses, change)
    check(verses, *times_s)
    assert not tweak_waiting.words(verses)
    assert len(own_frames(verses.animation_data.action)) == 1


def test_a_renamed_procedure_is_the_same_one(verses: Any) -> None:
    text_of(verses).from_string(VERSES.replace('"verse"', '"chorus"'))
    rebuild()
    assert tweaks_of(verses)[0].procedure == "chorus" and tweaks.problem(verses) == ""
    check(verses, *TIMES_S)


@pytest.mark.parametrize("is_read_again", [False, True])
def test_a_procedure_that_goes_takes_its_tweaks_and_brings_them_back(verses: Any, is_read_again: bool) -> None:
    procedure = VERSES[VERSES.index('  <procedure name="verse">'):VERSES.index('  <procedure name="main">')]
    calls = [line for line in VERSES.splitlines(keepends=True) if 'call name="verse"' in line]
    without = VERSES.replace(procedure, "")
    for call in calls:
        without = without.replace(call, "")
    text_of(verses).from_string(without)
    rebuild()
    assert "the score has no procedure 'verse', expected one of main, or none" in tweaks.problem(verses)
    assert "Keys at 1 moment wait" in tweak_waiting.words(verses)
    if is_read_again:
        tweaks.forget()  # as after a file is loaded
        assert bpy.context.scene is not None
        tweaks.look(verses, bpy.context.scene)
    text_of(verses).from_string(VERSES)
    rebuild()
    check(verses, *TIMES_S)
    assert tweaks.problem(verses) == "" and not tweak_waiting.words(verses)


def test_a_key_that_is_set_in_another_call_takes_the_place_of_the_first(verses: Any, wait: Wait) -> None:
    """Blender keeps the kind of a key over which one is set; it counts as set by hand all the same."""
    other = Quaternion((1.0, 0.0, 0.0), 0.4)
    again = LIFT.inverted() @ other
    set_key(verses, round(frames(TIMES_S[1])[0]), again)
    wait(0.5)
    for time_s in TIMES_S:
        assert is_lifted(verses, 1.0 + FPS * time_s, other)
    assert own_frames(verses.animation_data.action) == [pytest.approx(frames(TIMES_S[1])[0])]


def test_keys_of_several_calls_are_together_in_each(verses: Any, wait: Wait) -> None:
    set_key(verses, round(frames(6.75)[0]))  # in the second step of the second verse
    wait(0.5)
    check(verses, *TIMES_S, 1.625, 6.75, 11.75, untouched_s=(3.0, 13.8))


def test_only_this_call_tells_one_apart(verses: Any, wait: Wait) -> None:
    bpy.context.scene.frame_set(round(frames(4.0)[0]))
    assert operators.takt.tweak_call() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="has its own tweaks already"):
        operators.takt.tweak_call()
    check(verses, *TIMES_S)
    curve = next(each for each in curves_of(verses.animation_data.action) if each.array_index == 0)
    taken = [key.co.x for key in curve.keyframe_points if key.type != "GENERATED"]
    assert taken == pytest.approx(frames(*TIMES_S[:2]))
    for each in curves_of(verses.animation_data.action):
        for key in [key for key in each.keyframe_points if abs(key.co.x - frames(TIMES_S[0])[0]) < 0.1]:
            each.keyframe_points.remove(key)
    wait(0.5)
    check(verses, TIMES_S[1], untouched_s=(TIMES_S[0], TIMES_S[2]))
    edit(verses, SetAttribute(FIRST, "duration", "5"))
    check(verses, 7.0, untouched_s=(1.0, 12.0))


def test_the_call_with_the_key_told_apart_leaves_the_key_to_the_others(verses: Any) -> None:
    bpy.context.scene.frame_set(10)
    assert operators.takt.tweak_call() == {"FINISHED"}
    check(verses, *TIMES_S)
    edit(verses, Remove(FIRST))
    check(verses, 2.0, 7.0)


def test_keys_of_one_call_alone_wait_for_it(verses: Any, wait: Wait) -> None:
    """They go to no other call when theirs goes, and come back with it."""
    bpy.context.scene.frame_set(round(frames(TIMES_S[2])[0]))
    assert operators.takt.tweak_call() == {"FINISHED"}
    set_key(verses, round(frames(11.75)[0]))  # in the second step of the last verse
    wait(0.5)
    check(verses, *TIMES_S, 11.75)
    text = text_of(verses).as_string()
    edit(verses, SetAttribute(LONG, "repeat", "1"))
    check(verses, *TIMES_S[:2], untouched_s=(1.625, 6.75))
    assert len(tweak_waiting.waiting(verses)) > 0
    text_of(verses).from_string(text)
    wait(2.0)
    check(verses, *TIMES_S, 11.75, untouched_s=(1.625, 6.75))
    edit(verses, Remove(FIRST))
    check(verses, 2.0, 7.0, 9.25, untouched_s=(4.25,))


def test_keys_of_one_call_alone_wait_through_several_edits(verses: Any, wait: Wait) -> None:
    """Their block goes first, and the call later, whose elements have other numbers by then."""
    bpy.context.scene.frame_set(round(frames(TIMES_S[2])[0]))
    assert operators.takt.tweak_call() == {"FINISHED"}
    set_key(verses, round(frames(9.0)[0]))
    wait(0.5)
    check(verses, *TIMES_S, 9.0)
    without = VERSES.replace('    <call name="left" duration="1" transition="0.25"/>\n', "")
    for text in (without, without.replace(' repeat="2"', ""), VERSES.replace(' repeat="2"', "")):
        text_of(verses).from_string(text)
        wait(2.0)
    check(verses, *TIMES_S[:2], untouched_s=(0.25, 4.0))
    text_of(verses).from_string(VERSES)
    wait(2.0)
    check(verses, *TIMES_S, 9.0, untouched_s=(0.25, 4.0))


def test_only_this_call_takes_no_key_that_eases_another(verses: Any, wait: Wait) -> None:
    """Where a copy is, the curves of another bone may have a key that eases."""
    tweaks_of(verses)[0].ease_out = 0.5
    set_key(verses, 7, name="r_hip")
    wait(0.5)

    def hip_frames(kind: str = "") -> set[float]:
        return {round(key.co.x, 1) for curve in curves_of(verses.animation_data.action) if "r_hip" in curve.data_path
                for key in curve.keyframe_points if kind in ("", key.type)}

    copy, eased = frames(4.0)[0], frames(TIMES_S[1])[0]  # where the knee's copy is
    assert {copy, eased} <= hip_frames("GENERATED")
    bpy.context.scene.frame_set(round(frames(0.5)[0]))
    assert operators.takt.tweak_call() == {"FINISHED"}
    assert hip_frames() - hip_frames("GENERATED") == {7.0, copy}


def test_outside_the_procedure_there_is_no_call_to_tell_apart(verses: Any) -> None:
    bpy.context.scene.frame_set(round(frames(3.0)[0]))
    with pytest.raises(RuntimeError, match="no call of 'verse' plays at frame 73"):
        operators.takt.tweak_call()
    tweaks_of(verses)[0].procedure = ""
    assert not operators.takt.tweak_call.poll()


def test_saved_and_loaded_as_a_file_it_is_over_the_procedure(verses: Any, wait: Wait, tmp_path: Path) -> None:
    path = tmp_path / "rig.takt.tweaks.json"
    tweaks_of(verses)[0].body = "legs"
    assert operators.takt.save_tweaks(filepath=str(path)) == {"FINISHED"}
    tweaks_of(verses).clear()
    verses.animation_data.action = None
    text_of(verses).from_string(VERSES.replace('name="verse" duration="5"', 'name="verse" duration="2.5"'))
    rebuild()
    assert operators.takt.load_tweaks(filepath=str(path)) == {"FINISHED"}
    wait(0.5)
    layer = tweaks_of(verses)[0]
    assert (layer.procedure, layer.body) == ("verse", "legs")
    check(verses, 0.5, 4.0, 6.5)


def test_a_file_knows_which_calls_have_tweaks_of_their_own(verses: Any, wait: Wait, tmp_path: Path) -> None:
    bpy.context.scene.frame_set(round(frames(4.0)[0]))
    assert operators.takt.tweak_call() == {"FINISHED"}
    for each in curves_of(verses.animation_data.action):
        for key in [key for key in each.keyframe_points if abs(key.co.x - frames(TIMES_S[0])[0]) < 0.1]:
            each.keyframe_points.remove(key)
    wait(0.5)
    check(verses, TIMES_S[1], untouched_s=(TIMES_S[0], TIMES_S[2]))
    path = tmp_path / "rig.takt.tweaks.json"
    assert operators.takt.save_tweaks(filepath=str(path)) == {"FINISHED"}
    tweaks_of(verses).clear()
    verses.animation_data.action = None
    rebuild()
    assert operators.takt.load_tweaks(filepath=str(path)) == {"FINISHED"}
    wait(0.5)
    check(verses, TIMES_S[1], untouched_s=(TIMES_S[0], TIMES_S[2]))


def test_keys_that_cannot_be_tied_are_not_left_out_of_a_file(verses: Any, tmp_path: Path) -> None:
    path = tmp_path / "rig.takt.tweaks.json"
    text_of(verses).from_string("<pha>")
    set_key(verses, 60)
    with pytest.raises(RuntimeError, match="press Rebuild"):
        operators.takt.save_tweaks(filepath=str(path))
    assert not path.exists()


def test_keys_that_are_nearly_at_one_moment_wait_together() -> None:
    at = np.array((10.0, 10.008, 10.016, 20.0))
    keys = CurveKeys((("location", 0),), np.zeros(4, np.int64), {
        name: np.zeros((4, width) if width > 1 else 4, kind) for name, (width, kind) in tweak_curves._COLUMNS.items()})
    keys.columns["co"][:, 0] = at
    old, gone, none = tweak_curves.own_frames(keys), np.full(2, -1), np.zeros(2)
    ties = Ties({}, ((),), old, np.zeros(2, np.int64), none, none)
    moments = _Moments(old, gone, none, none, none, none, (ties, Ties.none()), np.arange(2), none > 0.0)
    assert [len(CurveKeys.from_data(moments.waiting(each, keys).keys)) for each in (0, 1)] == [3, 1]


def test_a_key_over_an_eased_end_is_kept(verses: Any, wait: Wait) -> None:
    """Blender keeps the kind of the key that it changes there, which was Takt's."""
    tweaks_of(verses)[0].ease_out = 0.25
    wait(0.5)
    set_key(verses, 19)
    wait(0.5)
    assert own_frames(verses.animation_data.action) == [13.0, 19.0]
    assert is_lifted(verses, 19)


def test_a_layer_changes_only_its_part_of_the_body(verses: Any, wait: Wait) -> None:
    layer = tweaks_of(verses)[0]
    set_key(verses, 13, name="r_hip")
    wait(0.5)
    assert is_lifted(verses, 13, name="r_hip") and is_lifted(verses, 13)
    layer.body = "left_leg"
    wait(0.5)
    assert is_lifted(verses, 13) and is_lifted(verses, 13, Quaternion(), "r_hip")
    check(verses, *TIMES_S)
    layer.body = "l_hip - l_knee + r_hip"
    wait(0.5)
    assert is_lifted(verses, 13, Quaternion()) and is_lifted(verses, 13, name="r_hip")
    layer.body = ""
    wait(0.5)
    assert is_lifted(verses, 13) and is_lifted(verses, 13, name="r_hip")
    assert not any(curve.mute for curve in curves_of(verses.animation_data.action))


def test_a_bone_that_is_renamed_acts_again_once_its_layer_is_over_all(verses: Any, wait: Wait) -> None:
    """Blender renames the curves of a bone with it."""
    layer = tweaks_of(verses)[0]
    set_key(verses, 13, name="x_tail")
    set_key(verses, 13, name="r_hip")
    wait(0.5)
    for curve in curves_of(verses.animation_data.action):
        curve.mute = "x_tail" in curve.data_path  # by somebody
    layer.body = "left_leg"
    wait(0.5)
    verses.data.bones["r_hip"].name = "hip_R"
    assert any("hip_R" in curve.data_path and curve.mute for curve in curves_of(verses.animation_data.action))
    for body in ("left_leg", ""):
        layer.body = body
        rebuild()
        tweaks.look(verses, bpy.context.scene)  # type: ignore[arg-type]
    muted = {curve.data_path.split('"')[1] for curve in curves_of(verses.animation_data.action) if curve.mute}
    assert muted == {"x_tail"}


def test_what_somebody_has_muted_stays_muted(verses: Any, wait: Wait) -> None:
    for curve in curves_of(verses.animation_data.action):
        curve.mute = True
    for body in ("left_leg", "right_leg", ""):
        tweaks_of(verses)[0].body = body
        wait(0.5)
        assert all(curve.mute for curve in curves_of(verses.animation_data.action))
    assert is_lifted(verses, 13, Quaternion())
    assert angles(verses, 0.5)[0] > 0.1, "the preview does not show it either"


def test_a_body_that_there_is_not_is_told_of_and_changes_nothing(verses: Any, wait: Wait) -> None:
    tweaks_of(verses)[0].body = "uper"
    wait(0.5)
    assert "body: found 'uper'" in tweaks.problem(verses) and "did you mean upper?" in tweaks.problem(verses)
    tweaks_of(verses)[0].body = "bone:wing"
    wait(0.5)
    assert "body: the rig has nothing that is bone:wing" in tweaks.problem(verses)
    check(verses, *TIMES_S)


def test_masks_of_the_score_are_known(verses: Any, wait: Wait) -> None:
    text_of(verses).from_string(VERSES.replace('<pha ', '<pha version="2" ').replace(
        '  <load', '  <mask name="one_side" body="right_leg + x_tail" fade="0"/>\n  <load').replace(
        ' + x_tail', ' + bone:x_tail'))
    rebuild()
    tweaks_of(verses)[0].body = "one_side"
    wait(0.5)
    assert tweaks.problem(verses) == "" and is_lifted(verses, 13, Quaternion())
    assert "one_side" in properties._bodies(tweaks_of(verses)[0], bpy.context, "")


def test_its_weight_and_mute_count_in_every_call(verses: Any) -> None:
    animation, times = verses.animation_data, np.array(TIMES_S)
    animation.action_influence = 0.5
    motion, scene = score.motion_of(verses), bpy.context.scene
    assert motion is not None and scene is not None
    joint = motion.skeleton.index_of[KNEE]
    found = tweaked_motion.shown(verses, scene, motion).sample(times).rotations[:, joint]
    half = rot.exp(0.5 * rot.log(np.array(LIFT.normalized())))
    wanted = rot.multiply(motion.sample(times).rotations[:, joint], half)
    assert rot.angle_between(found, wanted).max() < TOLERANCE
    animation.action_influence = 0.0
    assert tweaked_motion.shown(verses, scene, motion).sample(times).rotations[:, joint] == pytest.approx(
        motion.sample(times).rotations[:, joint], abs=1e-12)


def test_in_the_score_editor_a_repeated_key_is_pulled_as_the_key_itself(verses: Any) -> None:
    scene: Any = bpy.context.scene
    np.testing.assert_allclose(np.array(tweak_moments.frames_of(verses)), np.array(frames(*TIMES_S)), atol=0.01)
    assert tweak_moments.move(verses, np.array(frames(TIMES_S[1])), np.array(frames(5.0))) == 4
    tweaks.look(verses, scene)
    check(verses, 0.75, 5.0, 10.0)
    np.testing.assert_allclose(np.array(tweak_moments.frames_of(verses)), np.array(frames(0.75, 5.0, 10.0)), atol=0.01)
    assert tweak_moments.remove(verses, np.array(frames(10.0))) == 4
    tweaks.look(verses, scene)
    assert own_frames(verses.animation_data.action) == []
    check(verses, untouched_s=(0.75, 5.0, 10.0))
