"""The Action: few keys that say the same as every frame, loops that repeat, markers that may be left out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.rigs import armature
from takt.bridge.scores import score
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.playing.keying import ANGLE_RAD, SHARE_OF_HEIGHT
from takt.core.playing.motion import Motion
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.blender.dancing import NAMES, STEPS, curves, evaluated, play, rebuild, text_of

POSE_TOLERANCE = 1e-5


def played(rig: bpy.types.Object) -> Motion:
    motion = score.motion_of(rig)
    assert motion is not None
    return motion


def basis(rig: bpy.types.Object, frame: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the curves say at a frame: unit quaternions (J, 4), locations and scales (J, 3)."""
    out = np.array([(1.0, 0, 0, 0, 0, 0, 0, 1, 1, 1)] * len(NAMES))
    first = {"rotation_quaternion": 0, "location": 4, "scale": 7}
    for curve in curves(rig):
        name, channel = curve.data_path.split('"')[1], curve.data_path.rpartition(".")[2]
        out[NAMES.index(name), first[channel] + curve.array_index] = curve.evaluate(frame)
    return rot.normalized(out[:, :4]), out[:, 4:7], out[:, 7:]


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_few_keys_say_the_same_as_the_motion(rig: bpy.types.Object, library: Path, method: str) -> None:
    play(library / "dance.pha", method=method, interpolation="LERP", key_mode="KEYS")
    motion, skeleton = played(rig), armature.read_skeleton(rig)
    order = [skeleton.index_of[name] for name in NAMES]
    height = float(np.ptp(skeleton.rest_world[:, :, 3], axis=0).max())
    count = 0
    for frame in range(1, bpy.context.scene.frame_end):
        pose = motion.sample(np.array(((frame - 1) / 24,)))
        turns, locations, scales = basis(rig, frame)
        wanted = rot.rotate(rot.conjugate(skeleton.rest_rotations), pose.translations[0])[order]
        assert rot.angle_between(turns, pose.rotations[0, order]).max() <= ANGLE_RAD
        assert np.linalg.norm(locations - wanted, axis=1).max() <= SHARE_OF_HEIGHT * height
        assert np.linalg.norm(scales - pose.scales[0, order], axis=1).max() <= SHARE_OF_HEIGHT
        count += 1
    assert count > 100
    assert max(len(curve.keyframe_points) for curve in curves(rig)) < 0.9 * count


@pytest.mark.parametrize("settings", [{}, {"key_mode": "KEYS"}, {"loop": True}])
def test_bones_that_turn_by_other_things_may_keep_doing_so(rig: bpy.types.Object, library: Path,
                                                           settings: dict[str, Any]) -> None:
    modes: tuple[Any, ...] = ("XYZ", "ZXY", "AXIS_ANGLE", "QUATERNION", "YZX")
    shown = []
    for rotations in ("AS_RIG", "QUATERNION"):
        for name, mode in zip(NAMES, modes, strict=True):
            rig.pose.bones[name].rotation_mode = mode
        play(library / "dance.pha", rotations=rotations, **settings)
        channels = {curve.data_path.split('"')[1]: curve.data_path.rpartition(".")[2] for curve in curves(rig)
                    if "rotation" in curve.data_path}
        kept = {name: rig.pose.bones[name].rotation_mode for name in channels}
        frames = [1, 2, 60, 100, 137, *([200, 320] if "loop" in settings else [])]
        shown.append([evaluated(rig, frame) for frame in frames])
        if rotations == "AS_RIG":
            assert kept == dict(zip(NAMES[:4], modes, strict=False))
            assert channels == dict(zip(NAMES, ("rotation_euler", "rotation_euler", "rotation_axis_angle",
                                                "rotation_quaternion"), strict=False))
            jumps = [np.abs(np.diff([key.co[1] for key in curve.keyframe_points])).max() for curve in curves(rig)
                     if "rotation" in curve.data_path]
            assert max(jumps) < np.pi
        else:
            assert set(kept.values()) == {"QUATERNION"} and set(channels.values()) == {"rotation_quaternion"}
    np.testing.assert_allclose(shown[0], shown[1], atol=2e-3 if settings else 1e-5)


def test_keys_and_every_frame_draw_the_same_pose(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha", key_mode="KEYS")
    few = [evaluated(rig, frame) for frame in range(1, 138, 7)]
    play(library / "dance.pha", key_mode="EVERY_FRAME")
    every = [evaluated(rig, frame) for frame in range(1, 138, 7)]
    np.testing.assert_allclose(few, every, atol=2e-3)


@pytest.mark.parametrize("keys", ["KEYS", "EVERY_FRAME"])
def test_a_loop_as_authored_repeats_and_ends_on_its_first_pose(rig: bpy.types.Object, library: Path,
                                                              keys: str) -> None:
    play(library / "dance.pha", loop=True, root_motion="AS_AUTHORED", key_mode=keys)
    motion = played(rig)
    period = motion.duration_s * 24
    np.testing.assert_allclose(evaluated(rig, 1), evaluated_at(rig, 1 + period), atol=1e-3)
    for frame in (5, 40, 90):
        np.testing.assert_allclose(evaluated(rig, frame), evaluated_at(rig, frame + period), atol=1e-3)
        np.testing.assert_allclose(evaluated(rig, frame), evaluated_at(rig, frame + 7 * period), atol=2e-3)


def test_a_loop_that_continues_repeats_with_offset(rig: bpy.types.Object, library: Path) -> None:
    in_line = STEPS.replace('<call name="right" duration="1.5" transition="0.25"/>', "").replace(
        '<call name="right" duration="0.7"/>', "")
    (library / "line.pha").write_text(in_line, encoding="utf-8")
    play(library / "line.pha", loop=True, root_motion="CONTINUE")
    motion = played(rig)
    if abs(motion.lap_yaw_rad) > 1e-4:
        assert not any(curve.modifiers for curve in curves(rig))
    modes = {(curve.data_path.rpartition(".")[2], m.mode_after) for curve in curves(rig) for m in curve.modifiers}
    assert modes <= {("rotation_quaternion", "REPEAT"), ("location", "REPEAT_OFFSET"), ("scale", "REPEAT")}


def test_a_loop_that_turns_holds_one_round_and_says_so(rig: bpy.types.Object, library: Path,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha", loop=True, root_motion="CONTINUE")
    assert abs(played(rig).lap_yaw_rad) > 0.01
    assert not any(len(curve.modifiers) for curve in curves(rig))
    assert "Each lap of the loop starts with another heading" in capsys.readouterr().out


def test_a_loop_that_turns_as_hips_sway_repeats_as_it_is_previewed(rig: bpy.types.Object, tmp_path: Path,
                                                                  skeleton: Skeleton) -> None:
    """Its cycle comes without the frame that closes it, so its ends face 3 degrees apart; it goes straight on."""
    times, frame = np.linspace(0.0, 1.0, 13), skeleton.rest_world_rotations[0]
    turn = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), 0.7 + np.radians(6.0) * np.cos(2.0 * np.pi * 0.83 * times))
    turns = rot.multiply(rot.multiply(rot.conjugate(frame), turn), frame)
    way = np.stack((0.02 * np.sin(5.0 * times), 0.01 * np.cos(9.0 * times), times), axis=1)
    clip = Clip("sway", skeleton, 1.0, Tracks.uniform(np.array([0]), times, turns[:, None]),
                Tracks.uniform(np.array([0]), times, way[:, None]), Tracks.empty(3))
    (tmp_path / "Walk.skeleton.xml").write_bytes(ogre_xml.write(OgreSkeleton.of(skeleton, (clip,))))
    (tmp_path / "walk.pha").write_text('<pha tickLength="1"><load src="Walk"/><procedure name="main"><call name="sway" '
                                       'duration="1" repeat="2"/></procedure></pha>', encoding="utf-8")
    play(tmp_path / "walk.pha", loop=True, root_motion="CONTINUE")
    motion, own = played(rig), armature.read_skeleton(rig)
    assert motion.row.root.turns_rad.any()
    for lap in (0, 1, 3):
        for at in (1, 17, 24, 40, 48):
            pose = motion.sample(np.array(((at - 1) / 24 + lap * motion.duration_s,)))
            turned, locations, _ = basis(rig, at + lap * motion.duration_s * 24)
            wanted = rot.rotate(rot.conjugate(own.rest_rotations[:1]), pose.translations[0, :1])
            assert rot.angle_between(turned[0], pose.rotations[0, 0]) < 1e-3
            np.testing.assert_allclose(locations[:1], wanted, atol=1e-4)


def test_markers_may_be_left_out(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    assert len(bpy.context.scene.timeline_markers) > 0
    bpy.context.object.takt.markers_wanted = False
    rebuild()
    assert len(bpy.context.scene.timeline_markers) == 0


def test_asking_again_with_other_settings_just_works(rig: bpy.types.Object, library: Path) -> None:
    settings: list[dict[str, Any]] = [{"key_mode": "KEYS"}, {"key_mode": "EVERY_FRAME", "loop": True},
                                      {"interpolation": "SQUAD"},
                                      {"translation": "SPLINE", "pace": "EASED", "joint_time": "EARLY"},
                                      {"method": "APPEND", "speed": "SPEEDS"}]
    for chosen in settings:
        play(library / "dance.pha", **chosen)
        assert len(bpy.data.actions) == 1
        assert [getattr(rig.takt, name) for name in chosen] == list(chosen.values())  # type: ignore[attr-defined]


def evaluated_at(rig: bpy.types.Object, frame: float) -> np.ndarray:
    """Return the bones' matrices at a frame with a fraction."""
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    found: Any = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([np.array(found.pose.bones[name].matrix)[:3] for name in NAMES])


def test_what_an_animator_has_keyed_on_top_outlives_a_rebuild(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    tail = rig.pose.bones["x_tail"]
    written = {(curve.data_path, curve.array_index) for curve in curves(rig)}
    rig["mood"] = 1.0
    for owner, path in ((tail, "location"), (rig, "location"), (rig, '["mood"]'), (rig.pose.bones["l_hip"], "scale")):
        owner.keyframe_insert(path, frame=5)
    added = {(curve.data_path, curve.array_index) for curve in curves(rig)} - written
    assert len(added) == 10
    rebuild()
    assert {(curve.data_path, curve.array_index) for curve in curves(rig)} == written | added
    play(library / "dance.pha", procedure="pair", rotations="AS_RIG")
    assert added <= {(curve.data_path, curve.array_index) for curve in curves(rig)}


def test_what_is_no_longer_played_has_no_curves(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    stale = {curve.data_path for curve in curves(rig) if "rotation" in curve.data_path}
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    play(library / "dance.pha", rotations="AS_RIG")
    assert stale and not stale & {curve.data_path for curve in curves(rig)}
    properties.character(rig).written = ""  # as an older Takt left it
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    rebuild()
    assert {curve.data_path for curve in curves(rig) if "rotation" in curve.data_path} == stale


@pytest.mark.parametrize("frame", [1, 17, 43])
@pytest.mark.parametrize("body", ["left_arm", "lower", "upper"])
def test_bones_that_are_no_longer_played_go_to_rest(rig: bpy.types.Object, library: Path, body: str,
                                                    frame: int) -> None:
    """A score that begins to move a part of the body only looks as if it had never moved the rest."""
    call = '<call name="feet.Steps.left" duration="4"/>'
    whole, part = ('<pha version="2" tickLength="0.5"><load src="feet.Steps"/>'
                   f'<procedure name="main">{inside}</procedure></pha>'
                   for inside in (call, f'<together><lane body="{body}">{call}</lane></together>'))
    (library / "dance.pha").write_text(part, encoding="utf-8")
    play(library / "dance.pha")
    frames = (1.0, 20.0, 40.5)
    never_moved = [evaluated_at(rig, each) for each in frames]
    text_of(rig).from_string(whole)
    rebuild()
    bpy.context.scene.frame_set(frame)
    posed_by_hand = rig.pose.bones["x_tail"]  # which no clip moves
    posed_by_hand.location.x = 0.5
    text_of(rig).from_string(part)
    rebuild()
    assert posed_by_hand.location.x == 0.5
    posed_by_hand.location.x = 0.0
    np.testing.assert_allclose([evaluated_at(rig, each) for each in frames], never_moved, atol=POSE_TOLERANCE)


def test_a_score_never_writes_into_an_action_that_it_plays(rig: bpy.types.Object, library: Path,
                                                           tmp_path: Path) -> None:
    play(library / "dance.pha")
    first = properties.character(rig).action
    first.name = "walk"
    keys = {(curve.data_path, curve.array_index): len(curve.keyframe_points) for curve in curves(rig)}
    (tmp_path / "again.pha").write_text('<pha tickLength="0.5"><load src="walk"/><procedure name="main">'
                                        '<call name="walk" duration="4"/></procedure></pha>')
    play(tmp_path / "again.pha")
    second = properties.character(rig).action
    assert second != first and rig.animation_data.action == second and first.use_fake_user
    bag = first.layers[0].strips[0].channelbags[0]
    assert {(curve.data_path, curve.array_index): len(curve.keyframe_points) for curve in bag.fcurves} == keys
    rebuild()
    assert properties.character(rig).action == second  # which the score does not play: it is filled anew


def test_an_action_is_filled_anew_though_a_file_that_the_score_plays_has_its_name(
        rig: bpy.types.Object, library: Path, clips: dict[str, Clip], skeleton: Skeleton) -> None:
    walk = replace(clips["left"], name="walk")
    (library / "walk.skeleton.xml").write_bytes(ogre_xml.write(OgreSkeleton.of(skeleton, (walk,))))
    (library / "walk.pha").write_text('<pha tickLength="0.5"><load src="walk"/><procedure name="main">'
                                      '<call name="walk" duration="4"/></procedure></pha>')
    play(library / "walk.pha")
    first = properties.character(rig).action
    first.name = "walk"
    rebuild()
    assert properties.character(rig).action == first


def test_a_score_plays_and_is_rebuilt_though_a_strip_is_tweaked(rig: Any, library: Path) -> None:
    """Nothing can be assigned meanwhile, so the strip is left."""
    play(library / "dance.pha")
    animation = rig.animation_data
    for again in (rebuild, lambda: play(library / "dance.pha", method="END")):
        own = animation.action
        track = animation.nla_tracks.new()
        strip = track.strips.new("pushed down", 1, own)
        animation.action = None
        track.select = strip.select = True
        animation.nla_tracks.active = track
        animation.use_tweak_mode = True
        assert animation.use_tweak_mode
        again()
        assert not animation.use_tweak_mode and animation.action is not None


def pushed_down(rig: Any) -> Any:
    """Put what an armature plays into a strip, as Push Down Action does."""
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("take", 1, animation.action)
    animation.action = None
    return strip


def keys_of(action: Any) -> list[tuple[str, int, tuple[float, ...]]]:
    strip: Any = action.layers[0].strips[0]
    return [(curve.data_path, curve.array_index, tuple(value for key in curve.keyframe_points for value in key.co))
            for curve in strip.channelbags[0].fcurves]


def of_another_object(rig: Any) -> Any:
    """Let an object that is no character play it."""
    other: Any = bpy.data.objects.new("Other", None)
    other.animation_data_create().action = rig.animation_data.action
    other.animation_data.action_slot = rig.animation_data.action_slot
    return other.animation_data


def of_a_constraint(rig: Any) -> Any:
    constraint: Any = bpy.data.objects.new("Other", None).constraints.new("ACTION")
    constraint.action = rig.animation_data.action
    return constraint


@pytest.mark.parametrize("use", [pushed_down, of_another_object, of_a_constraint])
def test_an_action_that_is_used_elsewhere_stays_as_it_is(rig: bpy.types.Object, library: Path, use: Any,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    """The score gets another one, which is filled anew from then on."""
    play(library / "dance.pha")
    first = properties.character(rig).action
    user, before = use(rig), keys_of(first)
    text_of(rig).from_string(STEPS.replace('"0.7"', '"0.2"'))
    rebuild()
    second = properties.character(rig).action
    assert second not in (None, first) and rig.animation_data.action == second
    assert user.action == first and keys_of(first) == before != keys_of(second)
    assert not second.use_fake_user and not first.use_fake_user
    assert "'dance' is used elsewhere and stays as it is; the score plays 'dance.001' now" in capsys.readouterr().out
    text_of(rig).from_string(STEPS)
    rebuild()
    assert properties.character(rig).action == second and keys_of(second) == before and len(bpy.data.actions) == 2
    assert "used elsewhere" not in capsys.readouterr().out


def test_other_slots_of_an_action_are_no_use_of_it_elsewhere(rig: bpy.types.Object, library: Path) -> None:
    """As where a face is keyed into it."""
    play(library / "dance.pha")
    first = properties.character(rig).action
    for name, data in (("sword", bpy.data.objects.new("sword", None)), ("face", rig.data)):
        animation: Any = data.animation_data_create()
        animation.action = first
        animation.action_slot = first.slots.new(id_type=data.id_type, name=name)
    assert first.users > 2
    rebuild()
    assert properties.character(rig).action == first and len(bpy.data.actions) == 1


def test_the_scenes_range_goes_on_holding_what_a_strip_plays(rig: bpy.types.Object, library: Path) -> None:
    scene = bpy.context.scene
    scene.frame_end = 10
    play(library / "dance.pha")
    end = scene.frame_end
    assert end > 100
    strip = pushed_down(rig)
    text_of(rig).from_string(STEPS.replace('repeat="2"', ""))
    rebuild()
    assert scene.frame_end == end == strip.frame_end


def test_another_score_gets_an_action_of_its_own(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    first = properties.character(rig).action
    (library / "walk.pha").write_text(STEPS.replace("0.7", "0.9"), encoding="utf-8")
    play(library / "walk.pha")
    second = properties.character(rig).action
    assert (first.name, second.name) == ("dance", "walk") and rig.animation_data.action == second
    assert first.use_fake_user and first.users == 1
    second.name = "mine"
    rebuild()
    assert properties.character(rig).action == second and second.name == "mine"


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "AXIS_ANGLE"])
def test_the_users_own_actions_go_on_playing_after_an_import(rig: bpy.types.Object, library: Path, mode: Any) -> None:
    """As they did before, in Blender: a bone that they turn by Euler angles is not switched to quaternions."""
    bone = rig.pose.bones["l_hip"]
    bone.rotation_mode = mode
    channel = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
    for frame, angle in ((1, 0.2), (11, 1.2)):
        setattr(bone, channel, (angle, 1, 0, 0) if mode == "AXIS_ANGLE" else (angle, 0.3, -angle))
        bone.keyframe_insert(channel, frame=frame)
    own = rig.animation_data.action
    before = [evaluated(rig, frame) for frame in (1, 6, 11)]
    play(library / "dance.pha")
    played_poses = [evaluated(rig, frame) for frame in (1, 20, 77)]
    assert bone.rotation_mode == mode
    rig.animation_data.action = own
    rig.animation_data.action_slot = own.slots[0]
    for name in NAMES:  # what the score has left on bones that the user's Action does not key
        rig.pose.bones[name].matrix_basis.identity()
    after = [evaluated(rig, frame) for frame in (1, 6, 11)]
    hip = NAMES.index("l_hip")
    for was, now in zip(before, after, strict=True):
        np.testing.assert_allclose(now[hip, :, :3], was[hip, :, :3], atol=POSE_TOLERANCE)
    play(library / "dance.pha", rotations="QUATERNION")
    for frame, pose in zip((1, 20, 77), played_poses, strict=True):
        np.testing.assert_allclose(evaluated(rig, frame), pose, atol=1e-4)
