"""An Action that Takt did not make is never replaced, renamed or unassigned by Rebuild, nor when the score changes."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.scores import following
from takt.tests.blender.dancing import NAMES, STEPS, Wait, evaluated, play, rebuild, text_of
from takt.tests.blender.test_following import SHORTER

LIFT: Any = Quaternion((0.0, 0.0, 1.0), 0.4)


def layered(rig: Any, *, is_in_strip: bool = True) -> tuple[Any, Any]:
    """Let an Action of one's own lift a leg above Takt's in a strip; return both."""
    animation, below = rig.animation_data, rig.animation_data.action
    if is_in_strip:
        animation.nla_tracks.new().strips.new("score", int(below.frame_range[0]), below)
    own: Any = bpy.data.actions.new("mine")
    animation.action = own
    animation.action_slot = own.slots.new(id_type="OBJECT", name="Rig")
    animation.action_blend_type = "COMBINE"
    bag = own.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(own.slots[0], ensure=True)
    for index, value in enumerate(tuple(LIFT)):
        curve = bag.fcurves.new('pose.bones["l_hip"].rotation_quaternion', index=index)
        curve.keyframe_points.insert(1.0, value)
    return below, own


def said(own: Any) -> tuple[Any, ...]:
    bag = own.layers[0].strips[0].channelbags[0]
    return own.name, [(curve.data_path, curve.array_index, [tuple(key.co) for key in curve.keyframe_points])
                      for curve in bag.fcurves]


def local(rig: Any, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    return rig.pose.bones["l_hip"].rotation_quaternion.copy()


@pytest.mark.parametrize("is_new", [True, False])
def test_bones_that_the_score_does_not_move_are_not_left_in_the_pose_of_another_action(rig: Any, library: Path,
                                                                                      is_new: bool) -> None:
    """As the preview and exported files have them, too; a pose that no Action made stays."""
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("sword", "shield"):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (1.0, 0.0, 1.0), (1.0, 0.0, 1.2)
    bpy.ops.object.mode_set(mode="OBJECT")
    sword, shield = (rig.pose.bones[name] for name in ("sword", "shield"))
    for bone in (sword, shield):
        bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", LIFT
    sword.keyframe_insert("rotation_quaternion", frame=1)
    if is_new:
        assert bpy.ops.takt.new_score() == {"FINISHED"}  # type: ignore[attr-defined]
    else:
        play(library / "dance.pha")
    bpy.context.scene.frame_set(5)
    assert sword.rotation_quaternion.angle == pytest.approx(0.0, abs=1e-6)
    assert shield.rotation_quaternion.angle == pytest.approx(LIFT.angle)


@pytest.mark.parametrize("text", [SHORTER, STEPS.replace('"0.7"', '"9.7"')])
def test_rebuild_fills_the_action_in_the_strip_below_ones_own(rig: Any, library: Path, text: str) -> None:
    play(library / "dance.pha")
    below, own = layered(rig)
    before, animation = said(own), rig.animation_data
    text_of(rig).from_string(text)
    rebuild()
    strip = animation.nla_tracks[0].strips[0]
    assert animation.action == own and animation.action_blend_type == "COMBINE" and said(own) == before
    assert strip.action == below == properties.character(rig).action and len(bpy.data.actions) == 2
    assert strip.action_frame_end == below.frame_range[1] == strip.frame_end
    for frame in (1, 20, int(below.frame_range[1])):
        lifted = local(rig, frame)
        animation.nla_tracks[0].mute = False
        animation.action_influence = 0.0
        plain = local(rig, frame)
        animation.action_influence = 1.0
        assert lifted.rotation_difference(plain @ LIFT).angle < 1e-3


def test_the_action_in_the_strip_follows_the_score(rig: Any, library: Path, wait: Wait) -> None:
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    below, own = layered(rig)
    before, end = said(own), below.frame_range[1]
    text_of(rig).from_string(SHORTER)
    wait(2.0)
    strip = rig.animation_data.nla_tracks[0].strips[0]
    assert not following.is_older(rig) and below.frame_range[1] < end
    assert strip.action_frame_end == below.frame_range[1] and rig.animation_data.action == own and said(own) == before


def test_rebuild_puts_the_score_below_an_action_that_was_assigned_in_its_place(
        rig: Any, library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha")
    below, own = layered(rig, is_in_strip=False)
    plain = [evaluated(rig, 20)[NAMES.index("r_hip")]]
    rebuild()
    animation = rig.animation_data
    assert animation.action == own and [track.name for track in animation.nla_tracks] == ["Takt"]
    assert animation.nla_tracks[0].strips[0].action == below == properties.character(rig).action
    assert "'mine' is not Takt's and stays assigned; the score plays 'dance' below it" in capsys.readouterr().out
    assert not np.allclose(evaluated(rig, 60)[NAMES.index("r_hip")], plain)


def test_nothing_is_put_among_the_animators_own_tracks(rig: Any, library: Path,
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha")
    _, own = layered(rig, is_in_strip=False)
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("idle", 1, bpy.data.actions.new("idle"))
    rebuild()
    assert rig.animation_data.action == own and list(rig.animation_data.nla_tracks) == [track]
    assert len(track.strips) == 1 and "so the score is hidden" in capsys.readouterr().out


def test_a_strip_that_was_cut_stays_cut(rig: Any, library: Path) -> None:
    play(library / "dance.pha")
    layered(rig)
    strip = rig.animation_data.nla_tracks[0].strips[0]
    strip.action_frame_end = 30.0
    text_of(rig).from_string(SHORTER)
    rebuild()
    assert strip.action_frame_end == 30.0


def test_an_edited_action_in_the_strip_stays_in_the_file_and_another_plays(rig: Any, library: Path) -> None:
    play(library / "dance.pha")
    below, own = layered(rig)
    below.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[3].co.y += 0.5
    rebuild()
    made = properties.character(rig).action
    assert made != below and rig.animation_data.action == own and below.use_fake_user
    assert rig.animation_data.nla_tracks[0].strips[0].action == made


@pytest.mark.parametrize("what", ["clip", "score"])
def test_a_linked_action_that_gives_way_stays_as_its_file_has_it(rig: Any, library: Path, tmp_path: Path,
                                                                 what: str) -> None:
    own = bpy.data.actions.new("Linked")
    bpy.data.libraries.write(str(tmp_path / "linked.blend"), {own})
    bpy.data.actions.remove(own)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(tmp_path / "linked.blend"), link=True) as (_, wanted):
        wanted.actions = ["Linked"]
    rig.animation_data_create().action = wanted.actions[0]
    takt: Any = bpy.ops.takt  # type: ignore[attr-defined]
    if what == "clip":
        assert takt.play_clip(filepath=str(library / "feet" / "Steps.skeleton.xml")) == {"FINISHED"}
    else:
        play(library / "dance.pha")
    assert rig.animation_data.action != wanted.actions[0] and not wanted.actions[0].use_fake_user
