"""Tweaks beside all else: repetitions, Breakdown, Actions that are called, shared or linked, the Python module."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt import api
from takt.bridge import properties
from takt.bridge.actions.action_users import strips_of
from takt.bridge.scores import following, score
from takt.bridge.tweaking import tweak_waiting, tweaks
from takt.core.pha.edits import SetAttribute
from takt.tests.blender.dancing import STEPS, Wait, play, rebuild, text_of
from takt.tests.blender.test_breakdown import posing
from takt.tests.blender.test_tweaks import (
    FPS,
    KNEE,
    LIFT,
    edit,
    is_lifted,
    own_frames,
    plain,
    set_key,
    shown,
    tweak,
    tweaked,
)

__all__ = ["posing", "tweaked"]  # fixtures of other files
operators: Any = bpy.ops
context: Any = bpy.context
OTHER: Any = Quaternion((1.0, 0.2, 0.0), 0.4)


def typed(rig: Any, wait: Wait, said: str) -> None:
    text_of(rig).from_string(said)
    wait(2.0)
    assert (following.is_older(rig), following.problem(rig), score.error_of(rig)) == (False, "", None)


LEAF = STEPS.replace('<call name="right" duration="0.7"/>', '<call name="right" duration="1" repeat="3"/>')
"""The last call plays three times, from 5 s on."""


def test_a_key_in_a_repetition_stays_in_it(tweaked: Any, wait: Wait) -> None:
    typed(tweaked, wait, LEAF)
    action = tweaked.animation_data.action
    second = 1 + int(6.5 * FPS)
    set_key(tweaked, second)
    wait(0.5)
    for said, seconds in ((LEAF.replace('"1" repeat="3"', '"2" repeat="3"'), 8.0),
                          (LEAF.replace('repeat="3"', 'repeat="5"'), 6.5),
                          (LEAF.replace('repeat="2"', 'repeat="1"'), 4.0),
                          (LEAF.replace('repeat="3"', 'repeat="2"'), 6.5)):
        typed(tweaked, wait, said)
        frame = 1 + seconds * FPS
        assert own_frames(action) == [pytest.approx(frame, abs=0.01)] and is_lifted(tweaked, frame)
    typed(tweaked, wait, LEAF.replace('repeat="3"', 'repeat="1"'))
    assert own_frames(action) == [] and "'right'" in tweak_waiting.words(tweaked)
    typed(tweaked, wait, LEAF)
    assert own_frames(action) == [pytest.approx(second)] and is_lifted(tweaked, second)


def test_keys_in_a_repetition_within_a_repetition(tweaked: Any, wait: Wait) -> None:
    twice = STEPS.replace('<call name="left" duration="1" transition="0.25"/>',
                          '<call name="left" duration="0.5" transition="0.1" repeat="2"/>')
    typed(tweaked, wait, twice)
    action = tweaked.animation_data.action
    for frame, lift in ((1 + 18, LIFT), (1 + 78, OTHER)):  # in the second left of each pair
        set_key(tweaked, frame, lift)
        wait(0.5)
    typed(tweaked, wait, twice.replace('tickLength="1.0"', 'tickLength="2.0"'))
    assert own_frames(action) == [pytest.approx(37.0), pytest.approx(157.0)]
    assert is_lifted(tweaked, 37) and is_lifted(tweaked, 157, OTHER)
    typed(tweaked, wait, twice.replace('repeat="2"/>', 'repeat="3"/>'))
    found = own_frames(action)
    assert len(found) == 2
    assert is_lifted(tweaked, found[0]) and is_lifted(tweaked, found[1], OTHER)


def test_breakdown_between_two_tweaked_poses(posing: Any, wait: Wait) -> None:
    action = posing.animation_data.action
    for frame, lift in ((30, LIFT), (50, OTHER)):
        set_key(posing, frame, lift)
        wait(0.5)
    first, last = (shown(posing, frame)[0] for frame in (30, 50))
    context.scene.frame_set(40)
    assert operators.takt.breakdown(share=0.25) == {"FINISHED"}
    wait(0.5)
    wanted = first.slerp(last, 0.25)
    assert shown(posing, 40)[0].rotation_difference(wanted).angle < 2e-3
    assert own_frames(action) == [30.0, 40.0, 50.0]
    assert is_lifted(posing, 30) and is_lifted(posing, 50, OTHER)
    typed(posing, wait, STEPS.replace('tickLength="1.0"', 'tickLength="2.0"'))
    assert own_frames(action) == [pytest.approx(59.0), pytest.approx(79.0), pytest.approx(99.0)]
    change = plain(posing, 79).rotation_difference(shown(posing, 79)[0])
    context.scene.frame_set(79)
    assert change.angle > 1e-2 and operators.takt.breakdown(share=0.5) == {"FINISHED"}
    wait(0.5)
    first, last = (shown(posing, frame)[0] for frame in (59, 99))
    assert shown(posing, 79)[0].rotation_difference(first.slerp(last, 0.5)).angle < 2e-3


def test_breakdown_in_a_layer_above_another(posing: Any, wait: Wait) -> None:
    set_key(posing, 30)
    wait(0.5)
    lower = posing.animation_data.action
    tweak(add_layer=True)
    set_key(posing, 50, OTHER)
    wait(0.5)
    first, last = (shown(posing, frame)[0] for frame in (30, 50))
    context.scene.frame_set(40)
    assert operators.takt.breakdown(share=0.75) == {"FINISHED"}
    wait(0.5)
    assert shown(posing, 40)[0].rotation_difference(first.slerp(last, 0.75)).angle < 2e-3
    assert own_frames(lower) == [30.0] and own_frames(posing.animation_data.action) == [40.0, 50.0]


def second_of(rig: Any) -> Any:
    """Return a copy of the character that shares its layer of tweaks."""
    other = rig.copy()
    other.name = "Second"
    context.collection.objects.link(other)
    return other


def test_the_second_of_two_that_share_an_action_plays_its_own_score(tweaked: Any, wait: Wait, library: Path) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    layer, other = tweaked.animation_data.action, second_of(tweaked)
    wait(1.0)
    context.view_layer.objects.active = other
    (library / "half.pha").write_text(STEPS.replace('tickLength="1.0"', 'tickLength="0.5"'), encoding="utf-8")
    play(library / "half.pha")
    wait(1.0)
    assert own_frames(layer) == [73.0] and is_lifted(tweaked, 73)
    assert "holds the tweaks of 'Rig' too" in tweaks.problem(other) and tweaks.problem(tweaked) == ""
    assert len({properties.character(each).action for each in (tweaked, other)}) == 2
    other.animation_data.action = properties.character(other).tweaks[0].action = layer.copy()
    wait(1.0)
    assert tweaks.problem(other) == "" and own_frames(layer) == [73.0]
    typed(tweaked, wait, STEPS.replace('tickLength="1.0"', 'tickLength="2.0"'))
    assert own_frames(layer) == [pytest.approx(145.0)] and is_lifted(tweaked, 145)


@pytest.mark.parametrize("is_in_strip", (False, True))
def test_a_copy_that_the_user_makes_single_user_is_the_layers_own(tweaked: Any, wait: Wait, library: Path,
                                                                 is_in_strip: bool) -> None:
    """As the number beside its name does, in the Action editor or of a strip."""
    set_key(tweaked, 73)
    wait(0.5)
    layer, other = tweaked.animation_data.action, second_of(tweaked)
    if is_in_strip:
        tweaks.push_down(other)
        [strip] = [strip for strip in strips_of(other.animation_data) if strip.action == layer]
    wait(1.0)
    context.view_layer.objects.active = other
    (library / "half.pha").write_text(STEPS.replace('tickLength="1.0"', 'tickLength="0.5"'), encoding="utf-8")
    play(library / "half.pha")
    wait(1.0)
    assert "holds the tweaks of 'Rig' too" in tweaks.problem(other)
    if is_in_strip:
        strip.action = layer.copy()
        copy = strip.action
    else:
        copy = other.animation_data.action = layer.copy()
    wait(1.0)
    rebuild()
    wait(0.5)
    [own] = properties.character(other).tweaks
    assert own.action == copy and own.name == copy.name and tweaks.problem(other) == ""
    assert own_frames(copy) == [pytest.approx(37.0)] and own_frames(layer) == [73.0]
    assert [each.action for each in properties.character(tweaked).tweaks] == [layer] and is_lifted(tweaked, 73)


def test_an_own_copy_of_a_layers_action_is_no_layer(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    layer = tweaked.animation_data.action
    tweaked.animation_data.action = layer.copy()
    wait(1.0)
    assert [each.action for each in properties.character(tweaked).tweaks] == [layer]


def test_a_linked_action_of_tweaks_plays_and_stays(tweaked: Any, wait: Wait, tmp_path: Path) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    own = tweaked.animation_data.action
    path = tmp_path / "tweaks.blend"
    bpy.data.libraries.write(str(path), {own})
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=True) as (there, here):
        here.actions = list(there.actions)
    linked: Any = here.actions[0]
    properties.character(tweaked).tweaks[0].action = linked
    tweaked.animation_data.action, tweaked.animation_data.action_slot = linked, linked.slots[0]
    wait(0.5)
    assert is_lifted(tweaked, 73) and "is linked" in tweaks.problem(tweaked)
    properties.character(tweaked).tweaks[0].name = "other"
    assert linked.name == own.name
    text_of(tweaked).from_string(STEPS.replace('tickLength="1.0"', 'tickLength="0.5"'))
    wait(2.0)
    assert not following.is_older(tweaked) and own_frames(linked) == own_frames(own) == [73.0]
    assert len(bpy.data.actions) == 3
    rebuild()
    assert own_frames(linked) == [73.0] and "is linked" in tweaks.problem(tweaked)


CALLS = STEPS.replace('<call name="right" duration="0.7"/>', '<call name="Wave" duration="2"/>').replace(
    '<load src="feet.Steps"/>', '<load src="feet.Steps"/><load src="Wave"/>')


def test_a_key_in_a_call_of_an_action(tweaked: Any, wait: Wait) -> None:
    wave: Any = bpy.data.actions.new("Wave")
    bag = wave.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(
        wave.slots.new(id_type="OBJECT", name="Rig"), ensure=True)
    for index, value in enumerate((0.0, 0.6, 0.0, 0.8)):
        curve = bag.fcurves.new('pose.bones["l_hip"].rotation_quaternion', index=index)
        curve.keyframe_points.insert(1, float(index == 0))
        curve.keyframe_points.insert(25, value)
    typed(tweaked, wait, CALLS)
    layer = tweaked.animation_data.action
    set_key(tweaked, 145)  # in the middle of the call
    wait(0.5)
    assert is_lifted(tweaked, 145)
    typed(tweaked, wait, CALLS.replace('"Wave" duration="2"', '"Wave" duration="4"'))
    assert own_frames(layer) == [pytest.approx(169.0)] and is_lifted(tweaked, 169)
    wave.name = "Greeting"
    wait(2.0)
    assert "Greeting" in text_of(tweaked).as_string() and own_frames(layer) == [pytest.approx(169.0)]
    assert tweak_waiting.words(tweaked) == ""
    for curve in bag.fcurves:
        curve.keyframe_points[1].co.x = 49
        curve.update()
    rebuild()
    assert own_frames(layer) == [pytest.approx(169.0)] and is_lifted(tweaked, 169)


def test_actions_of_procedures_and_tweaks(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    layer = tweaked.animation_data.action
    made: dict[str, Any] = {each.name: each for each in api.make_actions(tweaked)}
    assert tweaked.animation_data.action == layer and own_frames(layer) == [30.0] and is_lifted(tweaked, 30)
    values = [curve.evaluate(29.0) for curve in made["main"].layers[0].strips[0].channelbags[0].fcurves
              if KNEE in curve.data_path and "quaternion" in curve.data_path]
    away = Quaternion(values).rotation_difference(plain(tweaked, 30) @ LIFT).angle % 6.2831
    assert away < 1e-2  # the Action's length is rounded to whole frames
    typed(tweaked, wait, STEPS.replace('tickLength="1.0"', 'tickLength="2.0"'))
    assert own_frames(layer) == [pytest.approx(59.0)]


def test_the_module_plays_another_score_below_tweaks(tweaked: Any, wait: Wait, library: Path) -> None:
    set_key(tweaked, 73)  # nothing has tied it yet
    layer = tweaked.animation_data.action
    (library / "half.pha").write_text(STEPS.replace('tickLength="1.0"', 'tickLength="0.5"'), encoding="utf-8")
    motion = api.play(tweaked, library / "half.pha")
    assert tweaked.animation_data.action == layer and own_frames(layer) == [37.0] and is_lifted(tweaked, 37)
    frames = (20, 37, 60)
    for found in (motion, api.motion(tweaked)):
        for frame, matrices in zip(frames, found.sample([(frame - 1) / FPS for frame in frames]), strict=True):
            context.scene.frame_set(frame)
            for name, matrix in zip(found.bones, matrices, strict=True):
                assert np.abs(np.array(tweaked.pose.bones[name].matrix) - matrix).max() < 1e-4
    api.play(tweaked, library / "dance.pha")
    assert own_frames(layer) == [73.0] and is_lifted(tweaked, 73)


def test_the_module_moves_no_key_if_it_cannot_play(tweaked: Any, wait: Wait, library: Path) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    layer, said = tweaked.animation_data.action, text_of(tweaked).name
    (library / "bad.pha").write_text(STEPS.replace("left", "nothing"), encoding="utf-8")
    with pytest.raises(api.TaktError):
        api.play(tweaked, library / "bad.pha")
    assert own_frames(layer) == [73.0] and is_lifted(tweaked, 73) and text_of(tweaked).name == said
    wait(1.0)
    assert own_frames(layer) == [73.0] and tweaks.problem(tweaked) == ""


def test_a_score_that_is_imported_again_after_edits(tweaked: Any, wait: Wait, library: Path) -> None:
    for frame in (73, 130):
        set_key(tweaked, frame)
        wait(0.5)
    layer = tweaked.animation_data.action
    edit(tweaked, SetAttribute(6, "duration", "5"))
    edited = own_frames(layer)
    play(library / "dance.pha")
    wait(1.0)
    assert own_frames(layer) == [73.0, 130.0] and is_lifted(tweaked, 73) and is_lifted(tweaked, 130)
    assert edited != [73.0, 130.0] and tweaks.problem(tweaked) == ""
