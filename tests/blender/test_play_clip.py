"""Play Clip, folders of clips, and the command: files of other bodies played by the sample character in Blender."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from takt.bridge import axes
from takt.bridge.actions.curves import bags, rotation_channel
from takt.bridge.actions.play_clips import files_in, folders_within, names_of, stem_of
from takt.bridge.rigs import armature
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import bvh, ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.operators import command
from takt.samples.character import build_character
from takt.samples.skeleton import build_skeleton
from takt.tests.blender.dancing import play
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rewriting_figures import LIMBS

LIMB_DEG = 0.5
LEG_M = 0.825
takt: Any = cast(Any, bpy.ops).takt


@pytest.fixture
def rig() -> Any:
    made = build_character(bpy.context)[0]
    bpy.context.view_layer.objects.active = made
    return made


def written(folder: Path, *, number: int = 0, zero: str = "LINE", name: str = "walk.bvh", fps: float = 30.0) -> Clip:
    """Write a movement of the sample as a BVH of another body, all of whose bones rest along one axis; return it."""
    clip = movements()[number]
    how = Rewriting(zero=zero, names="Mixamo", fps=fps)
    (folder / name).write_bytes(bvh.write(rewritten(clip, how).clip, 1.0 / fps))
    return clip


def limbs(positions: FloatArray, index_of: dict[str, int]) -> FloatArray:
    return np.stack([positions[..., index_of[b], :] - positions[..., index_of[a], :] for a, b in LIMBS], axis=-2)


def apart_deg(rig: Any, clip: Clip, frames: range) -> FloatArray:
    """Return the angles between the limbs that Blender shows and those of a clip of the sample."""
    scene, found = bpy.context.scene, []
    skeleton = armature.read_skeleton(rig)
    for frame in frames:
        scene.frame_set(frame)
        time_s = float(frame - scene.frame_start) / float(scene.render.fps)
        pose = clip.sample(np.array((time_s,)))
        there = rot.rotate(axes.BLENDER_FROM_HANIM, limbs(world_from_pose(clip.skeleton, pose)[0, ..., 3],
                                                          clip.skeleton.index_of))
        here = limbs(armature.read_pose_world(rig)[..., 3], skeleton.index_of)
        found.append(np.degrees(np.arctan2(np.linalg.norm(np.cross(there, here), axis=-1), (there * here).sum(-1))))
    return np.array(found)


def test_a_clip_of_a_body_without_a_rest_pose_plays_in_one_step(rig: Any, tmp_path: Path) -> None:
    clip = written(tmp_path, fps=24.0)
    assert takt.play_clip(filepath=str(tmp_path / "walk.bvh")) == {"FINISHED"}
    action = rig.animation_data.action
    assert action.name == "walk" and rig.animation_data.action_slot is not None
    assert rig.takt.text is None and rig.takt.action is None
    last = 1 + int(clip.duration_s * 24)
    assert apart_deg(rig, clip, range(1, last)).max() < LIMB_DEG
    assert bpy.context.scene.frame_end >= last - 1


def test_what_plays_before_stays_in_the_file_and_untouched(rig: Any, tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, number=3, name="turn.bvh")
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    first = rig.animation_data.action
    before = [tuple(point.co) for curve in first.layers[0].strips[0].channelbags[0].fcurves
              for point in curve.keyframe_points]
    takt.play_clip(filepath=str(tmp_path / "turn.bvh"))
    assert rig.animation_data.action.name == "turn" and first.use_fake_user
    assert before == [tuple(point.co) for curve in first.layers[0].strips[0].channelbags[0].fcurves
                      for point in curve.keyframe_points]


def tweaked(rig: Any) -> None:
    """Let a strip of the NLA be tweaked, whose Action nothing else can replace meanwhile."""
    animation = rig.animation_data
    track = animation.nla_tracks.new()
    strip = track.strips.new("before", 1, animation.action)
    animation.action = None
    track.select = strip.select = True
    animation.nla_tracks.active = track
    animation.use_tweak_mode = True
    assert animation.use_tweak_mode


def alone(rig: Any) -> None:
    tweaked(rig)
    rig.animation_data.use_tweak_mode = False
    rig.animation_data.nla_tracks[0].is_solo = True


def mixed(rig: Any) -> None:
    rig.animation_data.action_blend_type, rig.animation_data.action_influence = "COMBINE", 0.5


def at_rest(rig: Any) -> None:
    rig.data.pose_position = "REST"


@pytest.mark.parametrize("held", [tweaked, alone, mixed, at_rest])
def test_what_would_hide_a_clip_does_not_while_it_plays(held: Callable[[Any], None], rig: Any, tmp_path: Path) -> None:
    clip = written(tmp_path)
    written(tmp_path, number=3, name="turn.bvh")
    takt.play_clip(filepath=str(tmp_path / "turn.bvh"))
    held(rig)
    assert takt.play_clip(filepath=str(tmp_path / "walk.bvh"), lock_feet=False) == {"FINISHED"}
    assert rig.animation_data.action.name == "walk"
    assert apart_deg(rig, clip, range(1, 12)).max() < LIMB_DEG


def test_what_is_scaled_to_nothing_plays_too(rig: Any, tmp_path: Path) -> None:
    written(tmp_path)
    rig.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert takt.play_clip(filepath=str(tmp_path / "walk.bvh")) == {"FINISHED"}
    rig.scale = (1.0, 1.0, 1.0)
    assert rig.animation_data.action.name == "walk"


def hips(rig: Any) -> FloatArray:
    """Return where the hips are over the ground as Blender shows them, (2,)."""
    world = armature.read_pose_world(rig)[..., 3]
    return np.asarray(world[[armature.read_skeleton(rig).index_of[f"{side}_hip"] for side in "lr"]].mean(axis=0)[:2])


def warned(printed: str) -> str:
    """Return what was reported last, which is what the status bar shows: a warning."""
    last = [line for line in printed.splitlines() if line.startswith(("Info: ", "Warning: "))][-1]
    return last.removeprefix("Warning: ")


def far_off(folder: Path, far_m: float) -> None:
    """Write a walk whose file has it far off to one side."""
    clip = rewritten(movements()[0], Rewriting(zero="LINE", names="Mixamo", fps=30.0)).clip
    places = clip.translations.values + np.array((far_m, 0.0, 0.0))
    (folder / "far.bvh").write_bytes(bvh.write(replace(clip, translations=replace(
        clip.translations, values=places)), 1.0 / 30.0))


def test_a_clip_from_far_off_plays_there_and_says_so_or_begins_at_the_character(rig: Any, tmp_path: Path,
                                                                                capfd: Any) -> None:
    far_off(tmp_path, 40.0)
    at_rest = hips(rig)
    takt.play_clip(filepath=str(tmp_path / "far.bvh"))
    bpy.context.scene.frame_set(1)
    assert np.linalg.norm(hips(rig) - at_rest) == pytest.approx(40.0, rel=0.05)
    assert warned(capfd.readouterr().out) == (
        "'far' begins 26 body heights away: Begin at Character in Adjust Last Operation brings it here, "
        "View > Frame Selected shows it there")
    takt.play_clip(filepath=str(tmp_path / "far.bvh"), begins_at_rest=True)
    bpy.context.scene.frame_set(1)
    np.testing.assert_allclose(hips(rig), at_rest, atol=1e-3)
    assert "body heights" not in capfd.readouterr().out


def play_steps_for_10_s(folder: Path) -> None:
    two_clips(folder)
    name = movements()[0].name
    (folder / "long.pha").write_text('<pha tickLength="1.0"><load src="Steps"/><procedure name="main">'
                                     f'<call name="{name}" duration="10"/></procedure></pha>')
    play(folder / "long.pha")


def test_the_scene_ends_with_what_plays_but_never_before_the_user_let_it_end(rig: Any, tmp_path: Path,
                                                                             capfd: Any) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    play_steps_for_10_s(tmp_path)
    assert scene.frame_end > 200
    written(tmp_path)
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    assert scene.frame_end == round(last_key(rig.animation_data.action)) < 60, "what the score needed goes"
    assert f"the scene's range is now 1 to {scene.frame_end}" in capfd.readouterr().out
    scene.frame_end = 500
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    assert scene.frame_end == 500, "what the user has set stays"


def test_what_another_character_plays_stays_in_the_scene(rig: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    play_steps_for_10_s(tmp_path)
    other = rig.copy()
    scene.collection.objects.link(other)
    long = scene.frame_end
    written(tmp_path)
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    assert scene.frame_end == long


def test_scenes_of_other_frame_rates_are_named_for_clips_and_scores(rig: Any, tmp_path: Path, capfd: Any) -> None:
    written(tmp_path)
    for name, rate in (("Same", 24), ("Fast", 60)):
        scene = bpy.data.scenes.new(name)
        scene.render.fps = rate
        scene.collection.objects.link(rig)
    for play_it in (lambda: takt.play_clip(filepath=str(tmp_path / "walk.bvh")), lambda: play_steps_for_10_s(tmp_path)):
        capfd.readouterr()
        play_it()
        assert warned(capfd.readouterr().out) == (
            "Scenes with other frame rates play this Action faster or slower: Fast (60)")


def two_clips(folder: Path) -> Path:
    clips = tuple(movements()[:2])
    path = folder / "Steps.skeleton.xml"
    path.write_bytes(ogre_xml.write(OgreSkeleton.of(build_skeleton(), clips)))
    return path


def test_of_several_clips_one_is_chosen_by_its_name(rig: Any, tmp_path: Path) -> None:
    path = two_clips(tmp_path)
    names = [clip.name for clip in movements()[:2]]
    assert takt.play_clip(filepath=str(path), clip=names[1]) == {"FINISHED"}
    assert rig.animation_data.action.name == names[1]
    assert takt.play_clip(filepath=str(path)) == {"FINISHED"}
    assert rig.animation_data.action.name == names[0]
    with pytest.raises(RuntimeError, match=f"has no clip 'Jump'; it has {names[0]}, {names[1]}"):
        takt.play_clip(filepath=str(path), clip="Jump")


def test_of_several_models_beside_a_clip_one_is_chosen(rig: Any, tmp_path: Path) -> None:
    """One that lacks the clip's joints is not taken into account."""
    body, path, models = build_skeleton(), tmp_path / "lift.raa", (tmp_path / "man.ram", tmp_path / "woman.ram")
    path.write_text(f'animation\ntrack 0 0 "l_elbow"\n0 1 0 0 0 1\n1 9 0 0 {np.sqrt(0.5)} {np.sqrt(0.5)}\n')
    lines = ["model"]
    for number, (joint, above, place) in enumerate(zip(body.names, body.parents, body.rest_translations, strict=True)):
        lines += [f'{number} "{joint}"', f"parent {above}", "orientation 0 0 0 1", "rotation 0 0 0 1",
                  f"translation {' '.join(map(str, place.tolist()))}"]
    for model in models:
        model.write_text("\n".join(lines))
    with pytest.raises(RuntimeError, match=r"several \.ram files beside it fit: man\.ram, woman\.ram\. File > Import"):
        takt.play_clip(filepath=str(path))
    with pytest.raises(RuntimeError, match=r"child\.ram: cannot be opened"):
        takt.play_clip(filepath=str(path), model="child.ram")
    assert not bpy.data.actions
    assert takt.play_clip(filepath=str(path), model="man.ram") == {"FINISHED"}
    assert rig.animation_data.action.name == "lift"
    models[1].write_text("model without joints")
    assert takt.play_clip(filepath=str(path)) == {"FINISHED"}


def test_a_clip_is_found_by_the_last_part_of_its_name_where_that_is_clear(rig: Any, tmp_path: Path) -> None:
    first, second = movements()[:2]
    names = ("Rig|walk", "Rig|jump", "Body|jump")
    clips = tuple(replace(clip, name=name) for clip, name in zip((first, second, second), names, strict=True))
    path = tmp_path / "Steps.skeleton.xml"
    path.write_bytes(ogre_xml.write(OgreSkeleton.of(build_skeleton(), clips)))
    assert takt.play_clip(filepath=str(path), clip="walk") == {"FINISHED"}
    assert rig.animation_data.action.name == "Rig|walk"
    with pytest.raises(RuntimeError, match="has no clip 'jump'; it has"):
        takt.play_clip(filepath=str(path), clip="jump")


def test_what_has_no_counterpart_is_told(rig: Any, tmp_path: Path, capfd: Any) -> None:
    clip = movements()[0]
    names = [*clip.skeleton.names, "Tentacle"]
    parents = np.append(clip.skeleton.parents, 0)
    skeleton = Skeleton.from_arrays(names, parents, rot.identities(len(names)), np.concatenate(
        (clip.skeleton.rest_translations, np.array(((0.0, 0.1, -0.3),)))))
    times = np.array((0.0, 1.0))
    waving = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array((0.0, 1.0)))[:, None]
    turns = np.concatenate((clip.sample(times).rotations, waving), axis=1)
    moved = Clip("wave", skeleton, 1.0, Tracks.uniform(np.arange(len(names)), times, turns), Tracks.empty(3),
                 Tracks.empty(3))
    (tmp_path / "wave.skeleton.xml").write_bytes(ogre_xml.write(OgreSkeleton.of(skeleton, (moved,))))
    takt.play_clip(filepath=str(tmp_path / "wave.skeleton.xml"))
    assert "Without counterpart: Tentacle" in capfd.readouterr().out


def driven(rig: Any, bone: str, channel: str) -> Any:
    curve = rig.pose.bones[bone].driver_add(channel, 0)
    curve.driver.expression = "0.3"
    return curve


def test_bones_whose_drivers_keep_them_from_following_are_named(rig: Any, tmp_path: Path, capfd: Any) -> None:
    """Not those whose drivers set what does not turn them, or what the clip leaves alone, or nothing at all."""
    written(tmp_path)
    driven(rig, "l_shoulder", "rotation_quaternion")
    driven(rig, "l_knee", "rotation_euler")
    driven(rig, "r_knee", "scale")
    driven(rig, "r_hip", "rotation_quaternion").mute = True
    driven(rig, "r_shoulder", "rotation_quaternion").driver.expression = "no such thing"
    bpy.context.view_layer.update()
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    assert warned(capfd.readouterr().out) == (
        "Bones with drivers do not follow; to let them, mute these in the Drivers Editor: l_shoulder")


def test_a_constraint_that_only_its_driver_mutes_is_told_of(rig: Any, tmp_path: Path, capfd: Any) -> None:
    written(tmp_path)
    copies = []
    for side in "lr":
        copies.append(rig.pose.bones[f"{side}_knee"].constraints.new("COPY_ROTATION"))
        copies[-1].target, copies[-1].subtarget = rig, "skullbase"
    copies[0].driver_add("mute").driver.expression = "0"
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    bpy.context.scene.frame_set(3)
    assert [copy.mute for copy in copies] == [False, True]
    out = capfd.readouterr().out
    assert "1 constraint muted" in out
    assert warned(out) == "Constraints move bones that the clip plays; mute them: l_knee"


def test_a_file_that_cannot_be_read_changes_nothing(rig: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nROOT")
    actions = len(bpy.data.actions)
    with pytest.raises(RuntimeError, match=r"broken\.bvh"):
        takt.play_clip(filepath=str(tmp_path / "broken.bvh"))
    assert len(bpy.data.actions) == actions and rig.animation_data is None


def test_one_undo_takes_a_clip_away(rig: Any, tmp_path: Path) -> None:
    written(tmp_path)
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="before")
        takt.play_clip("EXEC_DEFAULT", True, filepath=str(tmp_path / "walk.bvh"))
        assert "walk" in bpy.data.actions
        bpy.ops.ed.undo()
    assert "walk" not in bpy.data.actions


def is_renamed(action: Any) -> None:
    action.name = "my walk"


def is_edited(action: Any) -> None:
    next(iter(bags(action))).fcurves[0].keyframe_points[0].co.y += 0.5


def is_used(action: Any) -> None:
    bpy.data.objects.new("other", None).animation_data_create().nla_tracks.new().strips.new("walk", 1, action)


def is_marked(action: Any) -> None:
    action.asset_mark()


def is_cut(action: Any) -> None:
    action.use_frame_range = True


def is_another_rigs(_: Any) -> None:
    bpy.context.object.name = "Someone else"


def is_another_file(_: Any) -> None:
    folder = Path(cast(Any, bpy.context.scene)["folder"])
    (folder / "elsewhere").mkdir()
    (folder / "walk.bvh").rename(folder / "elsewhere" / "walk.bvh")


@pytest.mark.parametrize("change", [is_renamed, is_edited, is_used, is_marked, is_cut, is_another_rigs,
                                    is_another_file])
def test_a_clip_played_again_fills_its_action_anew_unless_someone_made_that_his(
        rig: Any, tmp_path: Path, change: Callable[[Any], None], capsys: pytest.CaptureFixture[str]) -> None:
    clip = written(tmp_path, fps=24.0)
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    first, curves = rig.animation_data.action, sum(len(bag.fcurves) for bag in bags(rig.animation_data.action))
    clip = written(tmp_path, fps=24.0, number=3)  # the file was exported again
    before = last_key(first)
    capsys.readouterr()
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    assert rig.animation_data.action == first and rig.animation_data.action_slot == first.slots[0]
    assert list(bpy.data.actions) == [first] and last_key(first) != before
    assert sum(len(bag.fcurves) for bag in bags(first)) == curves and "Action is" not in capsys.readouterr().out
    assert apart_deg(rig, clip, range(1, 1 + int(24.0 * clip.duration_s))).max() < LIMB_DEG
    cast(Any, bpy.context.scene)["folder"] = str(tmp_path)
    change(first)
    keys = last_key(first)
    file = next(tmp_path.rglob("walk.bvh"))
    written(file.parent, fps=24.0)
    takt.play_clip(filepath=str(file))
    second = rig.animation_data.action
    assert second != first and last_key(first) == keys != last_key(second)
    said = capsys.readouterr().out
    assert "plays 'walk', " in said and ("its Action is 'walk.001'" in said) == (second.name == "walk.001")
    takt.play_clip(filepath=str(file))
    assert rig.animation_data.action == second


def last_key(action: Any) -> float:
    return max(float(point.co.x) for bag in bags(action) for curve in bag.fcurves for point in curve.keyframe_points)


def test_a_clip_has_as_many_frames_as_its_file(rig: Any, tmp_path: Path) -> None:
    """Also where the file rounds the time of a frame to a little more: by itself, in a folder, and in a score."""
    scene = bpy.context.scene
    scene.render.fps = 24
    written(tmp_path, fps=24.0)
    text = (tmp_path / "walk.bvh").read_text().splitlines()
    at = next(i for i, line in enumerate(text) if line.startswith("Frame Time"))
    text[at] = "Frame Time: 0.041667"
    (tmp_path / "walk.bvh").write_text("\n".join(text))
    frames = len(text) - at - 1
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    assert last_key(rig.animation_data.action) == scene.frame_start + frames - 1
    assert rig.animation_data.action.frame_range[1] == scene.frame_start + frames - 1
    takt.retarget_clips(directory=str(tmp_path))
    (again,) = bpy.data.actions
    assert last_key(again) == scene.frame_start + frames - 1
    (tmp_path / "one.pha").write_text('<pha tickLength="0.041667"><load src="walk"/><procedure name="main">'
                                      f'<call name="walk" duration="{frames - 1}"/></procedure></pha>')
    play(tmp_path / "one.pha")
    assert last_key(rig.animation_data.action) == scene.frame_start + frames - 1


def test_a_folder_becomes_actions_and_a_table(rig: Any, tmp_path: Path) -> None:
    """Whatever is wrong with a file costs only that one."""
    for number in range(3):
        written(tmp_path, number=number, zero=("LINE", "PILE", "LINE")[number], name=f"clip{number}.bvh")
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nROOT")
    (tmp_path / "notes.txt").write_text("no clip")
    assert takt.retarget_clips(directory=str(tmp_path)) == {"FINISHED"}
    assert {"clip0", "clip1", "clip2"} <= set(bpy.data.actions.keys())
    assert rig.animation_data.action.name == "clip0"
    lines = bpy.data.texts["Retargeted Clips"].as_string().splitlines()
    assert lines[0].split() == ["File", "Clip", "Seconds", "Map", "Played"]
    assert lines[1].startswith("broken.bvh") and "no: line " in lines[1] and lines[1].count("broken.bvh") == 1
    assert [line.split()[0] for line in lines[2:5]] == ["clip0.bvh", "clip1.bvh", "clip2.bvh"]
    assert lines[-1] == "3 of 4 play" and "compared in the frame at" in lines[2]


def test_where_every_clip_is_refused_nothing_is_left(rig: Any, tmp_path: Path,
                                                     capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nROOT")
    (tmp_path / "empty.bvh").write_text("")
    texts, actions = bpy.data.texts.keys(), bpy.data.actions.keys()
    assert takt.retarget_clips(directory=str(tmp_path)) == {"CANCELLED"}
    assert (bpy.data.texts.keys(), bpy.data.actions.keys()) == (texts, actions) and rig.animation_data is None
    said = capfd.readouterr().out
    assert "broken.bvh: line" in said and "empty.bvh: " in said and "No clip became an Action; refused: 2" in said


def test_some_files_of_a_folder(rig: Any, tmp_path: Path) -> None:
    for number in range(3):
        written(tmp_path, number=number, name=f"clip{number}.bvh")
    assert takt.retarget_clips(directory=str(tmp_path), files=[{"name": "clip1.bvh"}]) == {"FINISHED"}
    assert rig.animation_data.action.name == "clip1" and "clip0" not in bpy.data.actions
    (tmp_path / "none").mkdir()
    with pytest.raises(RuntimeError, match="has no files with clips"):
        takt.retarget_clips(directory=str(tmp_path / "none"))


@pytest.mark.parametrize("option", ["--no-foot-lock", "--no-feet-stand"])
def test_the_command_retargets_a_folder_into_a_file(rig: Any, tmp_path: Path, capsys: Any, option: str) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    clip = written(clips, number=1, fps=24.0)
    name = rig.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    out = tmp_path / "out.blend"
    assert command.run(["retarget", str(tmp_path / "rig.blend"), str(clips), "--out", str(out), option]) == 0
    assert "1 of 1 play" in capsys.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert apart_deg(bpy.data.objects[name], clip, range(1, 1 + int(24.0 * clip.duration_s))).max() < LIMB_DEG


@pytest.mark.parametrize(("arguments", "said"), [
    (("none.blend", "."), "there is no file"), (("rig.blend", "nowhere"), "there is no nowhere"),
    (("rig.blend", "rig.blend", "--armature", "Ghost"), "there is no armature 'Ghost'; the file has"),
])
def test_the_command_says_what_is_missing(rig: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch,
                                          arguments: tuple[str, ...], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    assert command.run(["retarget", *arguments, "--out", "out.blend"]) == 2
    assert said in capsys.readouterr().out
    assert command.run(["retarget"]) == 2


def test_the_help_of_the_command_has_no_former_names(capsys: Any) -> None:
    assert command.run(["retarget", "--help"]) == 0
    said = capsys.readouterr().out
    assert "--no-foot-lock" in said and "feet-stand" not in said


def saved_rig(folder: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "rig.blend"))
    return folder / "rig.blend"


def test_the_command_tells_of_folders_that_it_leaves_out_and_takes_them_when_told(rig: Any, tmp_path: Path,
                                                                                 capsys: Any) -> None:
    (tmp_path / "clips" / "more" / "still").mkdir(parents=True)
    blend, clips, out = saved_rig(tmp_path), tmp_path / "clips", str(tmp_path / "out.blend")
    for folder in (clips / "more", clips / "more" / "still"):
        written(folder)
    assert command.run(["retarget", str(blend), str(clips), "--out", out]) == 2
    assert f"no files with clips in {clips}; not looked into: {clips / 'more'}" in capsys.readouterr().out
    written(clips, name="first.bvh")
    assert command.run(["retarget", str(blend), str(clips), "--out", out]) == 0
    said = capsys.readouterr().out
    assert "1 of 1 play" in said and f"not looked into: {clips / 'more'}; --recursive takes folders too" in said
    assert command.run(["retarget", str(blend), str(clips), "--recursive", "--out", out]) == 0
    said = capsys.readouterr().out
    assert "3 of 3 play" in said and "not looked into" not in said
    assert [line.split()[0] for line in said[said.index("File"):].splitlines()[1:4]] == [
        "first.bvh", "more/walk.bvh", "more/still/walk.bvh"]


def test_the_command_replaces_no_file_that_it_reads_unless_told(rig: Any, tmp_path: Path, capsys: Any) -> None:
    blend = saved_rig(tmp_path)
    written(tmp_path, name="walk.bvh")
    (tmp_path / "link.blend").symlink_to(blend)
    before = blend.read_bytes()
    for read in ("rig.blend", "link.blend", "walk.bvh"):
        assert command.run(["retarget", str(blend), str(tmp_path / "walk.bvh"), "--out", str(tmp_path / read)]) == 2
        assert "which is read; name another file, or say --overwrite" in capsys.readouterr().out
    for out, said in ((tmp_path / "none" / "out.blend", "there is no folder"), (tmp_path, "--out names the folder")):
        assert command.run(["retarget", str(blend), str(tmp_path / "walk.bvh"), "--out", str(out)]) == 2
        assert said in capsys.readouterr().out
    assert blend.read_bytes() == before
    arguments = ["retarget", str(blend), str(tmp_path / "walk.bvh"), "--out", str(blend), "--overwrite"]
    assert command.run(arguments) == 0 and blend.read_bytes() != before
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert "walk" in bpy.data.actions


def test_a_folder_leaves_what_plays_as_it_is(rig: Any, tmp_path: Path) -> None:
    """An Action, strips of the NLA, a score; its Actions are kept, and any of them can be chosen."""
    written(tmp_path, name="old.bvh")
    takt.play_clip(filepath=str(tmp_path / "old.bvh"))
    (tmp_path / "new").mkdir()
    clip = written(tmp_path / "new", number=3, fps=24.0, name="turn.bvh")
    scene, animation, old = bpy.context.scene, rig.animation_data, rig.animation_data.action
    scene.frame_end, scene.render.fps = 20, 24
    takt.retarget_clips(directory=str(tmp_path / "new"))
    assert animation.action == old and animation.action_slot == old.slots[0] and scene.frame_end == 20
    animation.action = None
    animation.nla_tracks.new().strips.new("old", 1, old)
    takt.retarget_clips(directory=str(tmp_path / "new"))
    assert animation.action is None
    animation.nla_tracks.remove(animation.nla_tracks[0])
    rig.takt.text = bpy.data.texts.new("dance.pha")
    takt.retarget_clips(directory=str(tmp_path / "new"))
    assert animation.action is None
    assert {*bpy.data.actions.keys()} == {"old", "turn"}  # what was made of a clip before is filled anew
    made = bpy.data.actions["turn"]
    assert made.use_fake_user
    animation.action = made
    assert animation.action_slot == made.slots[0]
    assert apart_deg(rig, clip, range(1, 1 + int(24.0 * clip.duration_s))).max() < LIMB_DEG


def test_subfolders_of_a_folder_when_wanted(rig: Any, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    written(tmp_path / "more")
    with pytest.raises(RuntimeError, match="folders not looked into, without Subfolders: 1"):
        takt.retarget_clips(directory=str(tmp_path))
    assert takt.retarget_clips(directory=str(tmp_path), is_recursive=True) == {"FINISHED"}
    assert "walk" in bpy.data.actions


def test_folders_within_folders_are_looked_into_once(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("z.bvh", "b/a.bvh"):
        (tmp_path / name).write_text("")
    (tmp_path / "b" / "round").symlink_to(tmp_path)
    assert files_in([tmp_path]) == [tmp_path / "z.bvh"] and folders_within([tmp_path]) == [tmp_path / "b"]
    found = files_in([tmp_path], is_recursive=True)
    assert found == [tmp_path / "z.bvh", tmp_path / "b" / "a.bvh"]
    assert list(names_of(found).values()) == ["z.bvh", "b/a.bvh"]
    assert list(names_of(found[1:]).values()) == ["a.bvh"]


def test_files_are_found_once_and_called_by_what_is_before_their_ending(tmp_path: Path) -> None:
    for name in ("b.bvh", "A.FBX", "c.txt", "d.skeleton.xml"):
        (tmp_path / name).write_text("")
    assert [p.name for p in files_in([tmp_path / "b.bvh", tmp_path])] == ["b.bvh", "A.FBX", "d.skeleton.xml"]
    assert [stem_of(p) for p in files_in([tmp_path])] == ["A", "b", "d"]


def test_the_skin_that_stands_is_on_the_ground_and_none_below_it(tmp_path: Path) -> None:
    """Blender's own mesh, in big shoes that a score's clips know nothing of."""
    rig, mesh = build_character(bpy.context)
    for ob in (mesh, rig):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = rig
    takt.auto_bind()
    data, feet = cast(Any, mesh.data), [cast(Any, rig.data).bones[f"{side}_ankle"].head_local for side in "lr"]
    for vertex in data.vertices:
        if vertex.co.z < 0.09:  # soles of 8 cm, and toes 8 cm further in front
            nearest = min(feet, key=lambda head: abs(head.x - vertex.co.x))
            vertex.co.z -= 0.08
            vertex.co.y -= 0.08 * (vertex.co.y < nearest.y)
    written(tmp_path, number=1, fps=24.0)
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    heights = []
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
        shown = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        positions = np.empty(len(shown.vertices) * 3)
        shown.vertices.foreach_get("co", positions)
        heights.append(positions[2::3].min())
    ground = min(vertex.co.z for vertex in data.vertices)
    off = (np.array(heights) - ground) / LEG_M
    assert off.min() > -0.02 and off.max() < 0.01


def test_legs_of_ik_play_the_clip_unless_their_constraints_are_to_act(rig: Any, tmp_path: Path) -> None:
    clip = written(tmp_path)
    for side in "lr":
        bpy.ops.object.empty_add(location=(0.0, 0.0, 0.1))
        goal = bpy.context.active_object
        constraint = rig.pose.bones[f"{side}_knee"].constraints.new("IK")
        constraint.target, constraint.chain_count = goal, 2
    bpy.context.view_layer.objects.active = rig
    file, frames = str(tmp_path / "walk.bvh"), range(1, 40, 6)
    assert takt.play_clip(filepath=file) == {"FINISHED"}
    assert apart_deg(rig, clip, frames).max() < LIMB_DEG
    assert all(rig.pose.bones[f"{side}_knee"].constraints[0].mute for side in "lr")
    assert takt.play_clip(filepath=file, mute_constraints=False) == {"FINISHED"}
    assert apart_deg(rig, clip, frames).max() > 10.0
    assert not any(rig.pose.bones[f"{side}_knee"].constraints[0].mute for side in "lr")


def test_a_body_that_rests_lying_in_the_scene_is_told_of(rig: Any, tmp_path: Path, capfd: Any) -> None:
    written(tmp_path)
    file, score = str(tmp_path / "walk.bvh"), tmp_path / "walk.pha"
    score.write_text('<pha tickLength="1"><load src="walk"/><procedure name="main"><call name="walk" duration="1"/>'
                     '</procedure></pha>', encoding="utf-8")

    def is_told() -> bool:
        bpy.context.view_layer.update()
        capfd.readouterr()
        assert takt.play_clip(filepath=file) == {"FINISHED"}
        assert takt.import_pha(filepath=str(score)) == {"FINISHED"}
        count = capfd.readouterr().out.count("lies in the scene")
        assert count in (0, 2)
        return bool(count)

    assert not is_told()
    rig.data.transform(Matrix.Rotation(np.pi / 2.0, 4, "X"))
    assert is_told()
    rig.rotation_mode, rig.rotation_euler.x = "XYZ", -np.pi / 2.0  # as importers set up what lies in its file
    assert not is_told()


def test_a_clip_plays_where_it_is_wherever_the_action_before_left_the_root_bone(rig: Any, tmp_path: Path) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    edited = rig.data.edit_bones
    top = next(bone for bone in edited if bone.parent is None)
    root = edited.new("above")
    root.head, root.tail = (0, 0, 0), (0, 0.3, 0)
    hips = top.name
    edited[hips].parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    written(tmp_path)
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"), asks=False)
    clean, scene = rig.animation_data.action, bpy.context.scene
    scene.frame_set(5)
    place = rig.pose.bones[hips].head.copy()
    lifted = bpy.data.actions.new("Lifted")
    rig.animation_data.action = lifted
    bone = rig.pose.bones["above"]
    bone.location, bone.rotation_quaternion = (0.0, 0.0, 0.3), (0.8, 0.6, 0.0, 0.0)
    bone.keyframe_insert("location", frame=1)
    bone.keyframe_insert("rotation_quaternion", frame=1)
    scene.frame_set(4)
    assert (rig.pose.bones[hips].head - place).length > 0.1
    rig.animation_data.action = clean
    rig.animation_data.action_slot = clean.slots[0]
    scene.frame_set(5)
    assert (rig.pose.bones[hips].head - place).length < 1e-5


def with_ground(rig: Any, mode: str) -> None:
    """Put a bone on the ground above the hips of the sample character."""
    bpy.ops.object.mode_set(mode="EDIT")
    above = rig.data.edit_bones.new("ground")
    above.head, above.tail = (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)
    rig.data.edit_bones["HumanoidRoot"].parent = above
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["ground"].rotation_mode = mode


def left_elsewhere(rig: Any) -> None:
    """Leave an Action that raises, tilts and shrinks the bone above the hips, shrinks these, and closes a hand."""
    made = bpy.data.actions.new("Elsewhere")
    rig.animation_data_create().action = made
    ground, hips = rig.pose.bones["ground"], rig.pose.bones["HumanoidRoot"]
    ground.location, ground.scale, hips.scale = (0.5, 0.3, 0.2), (0.5, 0.5, 0.5), (2.0, 2.0, 2.0)
    ground.matrix_basis = ground.matrix_basis @ Matrix.Rotation(0.5, 4, "X")
    for bone in (ground, hips):
        for channel in ("location", "scale", rotation_channel(bone.rotation_mode)):
            bone.keyframe_insert(channel, frame=1)


def shown(rig: Any) -> FloatArray:
    found = []
    for frame in (1, 7, 20):
        bpy.context.scene.frame_set(frame)
        found.append(armature.read_pose_world(rig))
    return np.array(found)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("rotations", ["QUATERNION", "AS_RIG"])
def test_a_body_stands_where_the_clip_has_it_whatever_played_before(rig: Any, tmp_path: Path, mode: str,
                                                                    rotations: str) -> None:
    with_ground(rig, mode)
    rig.takt.rotations = rotations
    written(tmp_path)
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    fresh, walk = shown(rig), rig.animation_data.action
    assert rig.pose.bones["ground"].rotation_mode == mode
    left_elsewhere(rig)
    assert np.abs(shown(rig) - fresh).max() > 0.1
    takt.play_clip(filepath=str(tmp_path / "walk.bvh"))
    np.testing.assert_allclose(shown(rig), fresh, atol=1e-5)
    left_elsewhere(rig)
    shown(rig)
    rig.animation_data.action, rig.animation_data.action_slot = walk, walk.slots[0]
    np.testing.assert_allclose(shown(rig), fresh, atol=1e-5)


def test_a_score_too_stands_where_it_stands(rig: Any, tmp_path: Path) -> None:
    with_ground(rig, "XYZ")
    written(tmp_path)
    (tmp_path / "dance.pha").write_text('<pha tickLength="1.0"><load src="walk"/><procedure name="main">'
                                        '<call name="walk" duration="1"/></procedure></pha>')
    play(tmp_path / "dance.pha")
    fresh = shown(rig)
    left_elsewhere(rig)
    shown(rig)
    rig.animation_data.action = None
    assert takt.rebuild() == {"FINISHED"}
    np.testing.assert_allclose(shown(rig), fresh, atol=1e-5)
