"""Keys that a person has set in the score's Action are never lost, whatever the score needs later."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.actions import action
from takt.bridge.scores import following, score_blocks, score_edits
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.pha.edits import SetAttribute
from takt.core.score_editor.change import Edits
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.blender.dancing import NAMES, STEPS, Wait, curves, play, rebuild

CHANNELS = {"location": "QUATERNION", "scale": "QUATERNION", "rotation_quaternion": "QUATERNION",
            "rotation_euler": "ZYX", "rotation_axis_angle": "AXIS_ANGLE"}
"""The channels of a bone, each with a rotation mode in which it has an effect."""
ALL = STEPS.replace('<call name="right" duration="0.7"/>', '<call name="all" duration="0.7"/>')
operators: Any = bpy.ops
LIFT: Any = Quaternion((0.3, 0.5, 1.0), 0.6)
WAYS = ("rebuild", "typed", "editor")


def all_moving(skeleton: Skeleton) -> Clip:
    """Return a clip that turns, moves and scales every bone."""
    random, times, count = np.random.default_rng(7), np.linspace(0.0, 0.8, 6), len(NAMES)
    turns = rot.from_axis_angle(random.normal(size=(6, count, 3)), random.uniform(0.0, 0.9, size=(6, count)))
    return Clip("all", skeleton, 0.8, Tracks.uniform(np.arange(count), times, rot.continuous(turns)),
                Tracks.uniform(np.arange(count), times, random.normal(size=(6, count, 3)) * 0.2),
                Tracks.uniform(np.arange(count), times, random.uniform(0.8, 1.2, size=(6, count, 3))))


@pytest.fixture
def dancer(rig: Any, library: Path, skeleton: Skeleton, clips: dict[str, Clip], wait: Wait) -> Any:
    """A rig that plays two clips; there is a third one, which moves all of its bones."""
    data = ogre_xml.write(OgreSkeleton.of(skeleton, (*clips.values(), all_moving(skeleton))))
    (library / "feet" / "Steps.skeleton.xml").write_bytes(data)
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    return rig


def all_keys(of: bpy.types.Action | None) -> set[tuple[str, int, float, float]]:
    found: Any = of
    return {(curve.data_path, curve.array_index, round(key.co.x, 4), round(key.co.y, 4))
            for layer in found.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves
            for key in curve.keyframe_points}


def set_own_keys(dancer: Any, channel: str) -> set[tuple[str, int, float, float]]:
    """Key a channel of each bone that the score does not key, and return these keys."""
    written, before = {curve.data_path for curve in curves(dancer)}, all_keys(dancer.animation_data.action)
    for number, bone in enumerate(dancer.pose.bones):
        bone.rotation_mode = CHANNELS[channel]
        if f'pose.bones["{bone.name}"].{channel}' in written:
            continue
        for frame in (30, 60, 120):
            setattr(bone, channel, np.full(len(getattr(bone, channel)), 0.5 + 0.01 * number + 0.001 * frame))
            assert bone.keyframe_insert(channel, frame=frame)
    return all_keys(dancer.animation_data.action) - before


def change(dancer: Any, way: str, wait: Wait, text: str = ALL) -> None:
    """Let the score play the clip that moves all bones, in one of three ways."""
    kept = properties.character(dancer)
    kept.keep_action = way != "rebuild"
    if way == "editor":
        blocks = score_blocks.refresh(dancer)
        assert blocks.layout is not None
        edits = Edits(blocks.layout.documents[0].text, (SetAttribute(7, "name", "all"),))
        new = score_edits.texts_after(dancer, blocks, edits)
        score_edits.write(bpy.context, dancer, new)
    else:
        kept.text.from_string(text)
    if way == "rebuild":
        rebuild()
    wait(2.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("channel", CHANNELS)
def test_no_key_is_lost_if_the_score_needs_its_channel(dancer: Any, wait: Wait, channel: str, way: str) -> None:
    own = properties.character(dancer).action
    assert own is not None
    mine = set_own_keys(dancer, channel)
    assert len(mine) >= 9
    wait(1.0)
    change(dancer, way, wait)
    assert mine <= all_keys(own), f"lost {sorted(mine - all_keys(own))[:3]}"
    if way == "rebuild":
        assert properties.character(dancer).action != own and own.use_fake_user
        assert not following.is_older(dancer) and not following.problem(dancer)
    else:
        assert properties.character(dancer).action == own and action.is_edited_by_hand(dancer)
        assert "by hand" in following.problem(dancer)
        rebuild()
        assert properties.character(dancer).action != own and mine <= all_keys(own)


@pytest.mark.parametrize("channel", ["rotation_euler", "rotation_axis_angle"])
def test_keys_in_another_rotation_mode_count_as_edits_at_once(dancer: Any, wait: Wait, channel: str) -> None:
    own, knee = properties.character(dancer).action, dancer.pose.bones["l_knee"]
    knee.rotation_mode = CHANNELS[channel]
    assert not action.is_edited_by_hand(dancer), "there are no keys yet"
    assert knee.keyframe_insert(channel, frame=30)
    bpy.context.view_layer.update()
    wait(1.0)
    assert following.is_edited(dancer) and action.is_edited_by_hand(dancer)
    knee.rotation_mode = "QUATERNION"
    assert not action.is_edited_by_hand(dancer), "the score's keys turn the bone again"
    rebuild()
    assert properties.character(dancer).action == own
    assert any(path.endswith(channel) for path, *_ in all_keys(dancer.animation_data.action))


def test_keys_of_a_bone_that_the_score_does_not_need_stay_in_its_action(dancer: Any, wait: Wait) -> None:
    own = properties.character(dancer).action
    mine = set_own_keys(dancer, "scale")
    kept = properties.character(dancer)
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="1.7"'))
    wait(1.0)
    assert kept.action == own and not following.is_older(dancer) and not following.problem(dancer)
    assert mine <= all_keys(dancer.animation_data.action)


def test_an_action_is_written_again_once_the_keys_in_the_way_are_removed(dancer: Any, wait: Wait) -> None:
    own = properties.character(dancer).action
    mine = {(path, index) for path, index, *_ in set_own_keys(dancer, "location")}
    change(dancer, "typed", wait)
    assert action.is_edited_by_hand(dancer)
    for curve in list(curves(dancer)):
        if (curve.data_path, curve.array_index) in mine:
            curves(dancer).remove(curve)
    assert not action.is_edited_by_hand(dancer)
    rebuild()
    assert properties.character(dancer).action == own and not action.is_edited_by_hand(dancer)


@pytest.mark.parametrize("channel", ["rotation_euler", "rotation_axis_angle"])
def test_tweak_switches_bones_whose_mode_has_changed_since_the_action_was_written(dancer: Any, wait: Wait,
                                                                                 channel: str) -> None:
    knee, tail = dancer.pose.bones["l_knee"], dancer.pose.bones["x_tail"]
    knee.rotation_mode = tail.rotation_mode = CHANNELS[channel]
    assert operators.takt.tweak() == {"FINISHED"}
    assert knee.rotation_mode == "QUATERNION" and tail.rotation_mode == CHANNELS[channel]
    assert "rotation_quaternion" in {path.rpartition(".")[2] for path, *_ in all_keys(properties.character(
        dancer).action) if "l_knee" in path}
    bpy.context.scene.frame_set(30)
    knee.rotation_quaternion = knee.rotation_quaternion @ LIFT
    bpy.context.view_layer.update()
    wanted = knee.matrix.copy()
    assert knee.keyframe_insert("rotation_quaternion", frame=30)
    wait(1.0)
    rebuild()
    bpy.context.scene.frame_set(30)
    np.testing.assert_allclose(np.array(knee.matrix), np.array(wanted), atol=1e-5)
