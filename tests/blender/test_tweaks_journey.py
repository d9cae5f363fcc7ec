"""A dance of the sample character with poses changed by hand: its way through edits, files and Actions, exactly."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.scores import score, score_blocks
from takt.bridge.tweaking import tweaks
from takt.core.pha.edits import Move
from takt.samples import dancer
from takt.tests.blender.dancing import Wait
from takt.tests.blender.test_tweaks import edit, own_frames, plain, tweak

BONES = ("l_shoulder", "r_elbow", "skullbase")
FRAMES = (800, 812, 900)
"""In the second verse, which is from beat 64 to 88: from frame 769 on."""
EARLIER = 288
"""By so many frames the second verse plays earlier before the first chorus: 24 beats of half a second."""
SAME = 1e-4
operators: Any = bpy.ops
context: Any = bpy.context


def turned(at: int, bone: int) -> Any:
    return Quaternion((1.0 + bone, 0.3 - 0.2 * at, 0.4 * at), 0.2 + 0.1 * at + 0.15 * bone)


@pytest.fixture
def dance(wait: Wait) -> Any:
    """The sample character's dance, with three poses of three bones changed in the second verse."""
    rig: Any = dancer.bound_dancer()[0]
    dancer.play()
    wait(1.0)
    tweak()
    wait(0.5)
    for at, frame in enumerate(FRAMES):
        for number, name in enumerate(BONES):
            context.scene.frame_set(frame)
            bone = rig.pose.bones[name]
            bone.rotation_quaternion = plain(rig, frame, name) @ turned(at, number)
            assert bone.keyframe_insert("rotation_quaternion", frame=frame)
    wait(0.5)
    return rig


def poses(rig: Any, frames: Any) -> Any:
    """Return the matrices of all bones as Blender shows them."""
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        found.append([np.array(bone.matrix) for bone in rig.pose.bones])
    return np.array(found)


def are_turned(rig: Any, earlier: int = 0) -> bool:
    """Return whether Blender shows the score's own rotation with the change, at all keys."""
    away = 0.0
    for at, frame in enumerate(each - earlier for each in FRAMES):
        context.scene.frame_set(frame)
        for number, name in enumerate(BONES):
            wanted = np.array(plain(rig, frame, name) @ turned(at, number))
            found = np.array(rig.pose.bones[name].rotation_quaternion)
            away = max(away, float(np.abs(found * np.sign(found @ wanted) - wanted).max()))
    return away < SAME


def changes(rig: Any, frames: Any) -> Any:
    """Return what is added to the score's own rotations of the changed bones, (F, B, 4)."""
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        found.append([np.array(plain(rig, frame, name).conjugated() @ rig.pose.bones[name].rotation_quaternion)
                      for name in BONES])
    return np.array(found) * np.sign(np.array(found)[..., :1])


def move_verse(rig: Any) -> None:
    """Put the second verse before the first chorus."""
    layout = score_blocks.refresh(rig).layout
    assert layout is not None
    shape = layout.documents[0].text.shape
    verse = [at for at, names in enumerate(shape.attributes) if names.get("name") == "verse"][-1]
    main = next(at for at, names in enumerate(shape.attributes) if names.get("name") == "main")
    edit(rig, Move(verse, main, 2))


def test_a_verse_that_is_moved_keeps_its_changes(dance: Any) -> None:
    assert are_turned(dance)
    before = changes(dance, range(795, 905))
    move_verse(dance)
    action = dance.animation_data.action
    assert own_frames(action) == [pytest.approx(frame - EARLIER, abs=1e-3) for frame in FRAMES]
    assert are_turned(dance, EARLIER)
    assert np.abs(changes(dance, range(795 - EARLIER, 905 - EARLIER)) - before).max() < SAME < np.ptp(before)


def test_a_bake_is_what_blender_shows(dance: Any) -> None:
    frames = (1, 400, *range(790, 830), *range(890, 910), 1500)
    wanted = poses(dance, frames)
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    animation, baked = dance.animation_data, bpy.data.actions[f"{dance.name} baked"]
    animation.action, animation.use_nla, animation.action_blend_type = baked, False, "REPLACE"
    animation.action_slot = baked.slots[0]
    assert np.abs(poses(dance, frames) - wanted).max() < SAME


def test_extract_gives_back_what_was_baked(dance: Any, wait: Wait) -> None:
    frames = (400, *range(790, 830), *range(890, 910), 1500)
    wanted = poses(dance, frames)
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    animation, baked = dance.animation_data, bpy.data.actions[f"{dance.name} baked"]
    properties.character(dance).tweaks.clear()
    for track in list(animation.nla_tracks):
        animation.nla_tracks.remove(track)
    animation.action, animation.action_blend_type = baked, "REPLACE"
    animation.action_slot = baked.slots[0]
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    wait(1.0)
    assert [each.name for _, each in tweaks.layers_of(dance)] and animation.action != baked
    assert np.abs(poses(dance, frames) - wanted).max() < 1e-3
    move_verse(dance)
    assert are_turned(dance, EARLIER)


def test_a_file_brings_them_to_the_score_in_another_scene(dance: Any, wait: Wait, tmp_path: Path) -> None:
    frames = (1, 400, *range(790, 830), *range(890, 910), 1500)
    wanted, path = poses(dance, frames), str(tmp_path / "dance.takt.tweaks.json")
    assert operators.takt.save_tweaks(filepath=path) == {"FINISHED"}
    for each in (*bpy.data.objects, *bpy.data.actions, *bpy.data.texts):
        bpy.data.batch_remove((each,))
    rig: Any = dancer.bound_dancer()[0]
    dancer.play()
    wait(1.0)
    assert operators.takt.load_tweaks(filepath=path) == {"FINISHED"}
    wait(1.0)
    assert np.abs(poses(rig, frames) - wanted).max() < SAME and are_turned(rig)
    move_verse(rig)
    assert are_turned(rig, EARLIER)


def test_a_layer_that_is_muted_shows_the_score_alone(dance: Any, wait: Wait) -> None:
    frames = (400, *range(790, 830), 900)
    wanted, animation = poses(dance, frames), dance.animation_data
    action = animation.action
    tweaks.push_down(dance)
    wait(0.5)
    assert np.abs(poses(dance, frames) - wanted).max() < SAME
    track = tweaks.track_of(dance, action)
    assert track is not None
    track.mute = True
    wait(2.0)
    motion = score.motion_of(dance)
    assert motion is not None and not are_turned(dance)
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    muted = poses(dance, frames)
    for other in animation.nla_tracks:
        other.mute = True
    animation.action = properties.character(dance).action
    animation.action_slot, animation.action_blend_type = animation.action.slots[0], "REPLACE"
    assert np.abs(poses(dance, frames) - muted).max() < SAME < np.abs(muted - wanted).max()


def test_a_breakdown_in_a_dance_is_between_its_ends(dance: Any, wait: Wait) -> None:
    operators.object.mode_set(mode="POSE")
    for bone in dance.pose.bones:
        selected = bone.name in BONES
        if hasattr(bone, "select"):
            bone.select = selected
        else:
            bone.bone.select = selected
    ends = []
    for frame in (800, 812):
        context.scene.frame_set(frame)
        ends.append([dance.pose.bones[name].rotation_quaternion.copy() for name in BONES])
    context.scene.frame_set(805)
    assert operators.takt.breakdown(share=0.3) == {"FINISHED"}
    wait(1.0)
    context.scene.frame_set(805)
    for name, first, last in zip(BONES, *ends, strict=True):
        found = dance.pose.bones[name].rotation_quaternion
        assert found.rotation_difference(first.slerp(last, 0.3)).angle < 1e-3, name
    assert are_turned(dance)
