"""From a score's file to the pose that Blender evaluates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import axes, properties, versions
from takt.bridge.rigs import armature
from takt.bridge.scores import score
from takt.core.clips.clip import Clip
from takt.core.errors import FileError
from takt.core.maths import rotations as rot
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.blender.dancing import NAMES, STEPS, curves, evaluated, play, rebuild, refused
from takt.tests.rigged import linked

POSE_TOLERANCE = 1e-5
CURVE_TOLERANCE = 1e-6
HELD = 'pose.bones["HumanoidRoot"].scale'
"""One key at rest: another Action may have left it otherwise."""


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("interpolation", ["LERP", "SLERP"])
def test_outside_transitions_the_pose_is_the_clips_own(rig: bpy.types.Object, library: Path, clips: dict[str, Clip],
                                                       method: str, interpolation: Any) -> None:
    play(library / "dance.pha", method=method, interpolation=interpolation, root_motion="AS_AUTHORED")
    motion = score.motion_of(rig)
    assert motion is not None
    layout, names = motion.layout, [name.rsplit(".", 1)[-1] for name in motion.sequence.clips]
    seen = set()
    for frame in range(1, int(motion.duration_s * 24)):
        time = (frame - 1) / 24
        if ((layout.window_begin_s <= time) & (time <= layout.window_end_s)).any():
            continue
        segment = int(np.flatnonzero((layout.begin_s <= time) & (time <= layout.end_s))[0])
        seen.add(segment)
        clip = clips[names[motion.sequence.clip[segment]]]
        share = (time - layout.begin_s[segment]) / (layout.end_s[segment] - layout.begin_s[segment])
        pose = clip.sample(np.array((share * clip.duration_s,)), interpolation).at(0)
        expected = rot.to_matrix(axes.BLENDER_FROM_HANIM) @ world_from_pose(clip.skeleton, pose)
        np.testing.assert_allclose(evaluated(rig, frame), expected, atol=POSE_TOLERANCE)
    assert seen == set(range(5))


def test_every_frame_is_what_the_preview_samples(rig: bpy.types.Object, library: Path) -> None:
    scene: Any = bpy.context.scene
    scene.render.fps, scene.frame_start = 30, 11
    play(library / "dance.pha", procedure="pair")
    motion = score.motion_of(rig)
    assert motion is not None and motion.duration_s == pytest.approx(2.5)
    skeleton = armature.read_skeleton(rig)
    for frame in range(11, 11 + 76):
        pose = motion.sample(np.array([score.time_s(rig, scene, frame)]))
        np.testing.assert_allclose(evaluated(rig, frame), world_from_pose(skeleton, pose)[0], atol=POSE_TOLERANCE)


@pytest.mark.parametrize(("before", "after"), [((1, 5000), (1, 5000)), ((11, 20), (11, 71)), ((30, 90), (30, 90))])
def test_the_scenes_range_is_extended_never_cut(rig: bpy.types.Object, library: Path, capfd: pytest.CaptureFixture[str],
                                                before: tuple[int, int], after: tuple[int, int]) -> None:
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = before
    play(library / "dance.pha", procedure="pair")
    assert (scene.frame_start, scene.frame_end) == after  # 60 frames from the scene's first on
    assert ("the scene's range is now 11 to 71" in capfd.readouterr().out) == (before != after)
    rebuild()
    assert (scene.frame_start, scene.frame_end) == after
    assert "the scene's range" not in capfd.readouterr().out
    scene.frame_start, scene.frame_end = 15, 40  # as for a trial
    rebuild()
    assert (scene.frame_start, scene.frame_end) == (15, 40)
    assert "the scene's range" not in capfd.readouterr().out


def test_what_an_animator_left_on_the_bones_does_not_leak_in(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    clean = evaluated(rig, 20)
    for name in NAMES[:4]:
        bone = rig.pose.bones[name]
        bone.rotation_mode, bone.location, bone.scale = "XYZ", (1, 2, 3), (2, 2, 2)
    rebuild()
    np.testing.assert_allclose(evaluated(rig, 20), clean, atol=POSE_TOLERANCE)
    assert {rig.pose.bones[name].rotation_mode for name in NAMES[:4]} == {"XYZ"}  # which is the rig's own business


def test_keys_only_what_moves(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    paths = {curve.data_path for curve in curves(rig)}
    quaternions = {f'pose.bones["{name}"].rotation_quaternion' for name in NAMES[:4]}
    assert paths == quaternions | {'pose.bones["HumanoidRoot"].location', 'pose.bones["l_knee"].scale', HELD}
    assert {key.interpolation for curve in curves(rig) for key in curve.keyframe_points} == {"LINEAR"}
    values = np.array([[key.co[1] for key in curve.keyframe_points] for curve in curves(rig)][:4])
    assert (np.sum(values[:, 1:] * values[:, :-1], axis=0) > 0.0).all()
    assert all(curve.group.name in curve.data_path for curve in curves(rig))


def test_keys_at_every_frame_stay_straight_as_bezier_curves(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha", key_mode="EVERY_FRAME")
    curve = next(curve for curve in curves(rig) if curve.data_path.endswith("rotation_quaternion"))
    frames = np.arange(1.0, 20.0, 0.25)
    straight = [curve.evaluate(frame) for frame in frames]
    for key in curve.keyframe_points:
        key.interpolation = "BEZIER"
    np.testing.assert_allclose([curve.evaluate(frame) for frame in frames], straight, atol=CURVE_TOLERANCE)
    assert np.ptp(straight) > 1e3 * CURVE_TOLERANCE


def test_the_score_stays_in_the_file(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha", method="END", curve="LINEAR")
    kept = properties.character(rig)
    assert kept.text is not None and (kept.text.name, kept.text.as_string()) == ("dance.pha", STEPS)
    assert (kept.method, kept.curve, kept.action) == ("END", "LINEAR", rig.animation_data.action)
    play(library / "dance.pha")
    assert len(bpy.data.texts) == 1 and len(bpy.data.actions) == 1


def test_rebuild_plays_the_edited_text_into_the_same_action(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    action = rig.animation_data.action
    length = action.frame_range[1]
    properties.character(rig).text.from_string(STEPS.replace('repeat="2"', 'repeat="4"'))
    (library / "dance.pha").unlink()
    rebuild()
    assert rig.animation_data.action == action and len(bpy.data.actions) == 1
    assert action.frame_range[1] == length + 5 * 24
    keys = {curve.data_path: len(curve.keyframe_points) for curve in curves(rig)}
    assert keys.pop(HELD) == 1 and set(keys.values()) == {length + 5 * 24}


def test_the_users_actions_and_markers_stay(rig: bpy.types.Object, library: Path) -> None:
    rig.keyframe_insert("location", frame=3)
    users: Any = rig.animation_data.action
    bpy.context.scene.timeline_markers.new("mine", frame=1)
    play(library / "dance.pha")
    play(library / "dance.pha", procedure="pair")
    assert users in list(bpy.data.actions) and users.users > 0 and rig.animation_data.action != users
    assert [(m.name, m.frame) for m in bpy.context.scene.timeline_markers] == [("mine", 1), ("pair", 1)]


def test_markers_go_where_a_clip_plays_instead_of_the_score(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    bpy.context.scene.timeline_markers.new("mine", frame=7)
    play_clip = bpy.ops.takt.play_clip  # type: ignore[attr-defined]
    assert play_clip(filepath=str(library / "feet" / "Steps.skeleton.xml"), clip="left") == {"FINISHED"}
    assert [marker.name for marker in bpy.context.scene.timeline_markers] == ["mine"]
    rebuild()
    assert {marker.name for marker in bpy.context.scene.timeline_markers} == {"mine", "main › pair", "pair"}


def test_markers_stand_where_procedures_start(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha", method="END")
    assert [(m.name, m.frame) for m in bpy.context.scene.timeline_markers] == [("main › pair", 1), ("pair", 61)]


def test_a_copied_character_gets_its_own_action(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    twin: Any = rig.copy()
    bpy.context.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    first = rig.animation_data.action
    rebuild()
    assert twin.animation_data.action != first and rig.animation_data.action == first


def test_motion_is_made_once_and_anew_when_something_changes(rig: bpy.types.Object, library: Path) -> None:
    assert score.motion_of(rig) is None
    play(library / "dance.pha")
    kept = properties.character(rig)

    changes: list[Callable[[], Any]] = [
        lambda: setattr(kept, "curve", "COSINE"),
        lambda: kept.text.from_string(STEPS.replace("2.5", "3")),
        lambda: setattr(rig.data.bones["x_tail"], "name", "x_other"),
    ]
    for change in changes:
        before = score.motion_of(rig)
        assert before is not None and score.motion_of(rig) is before
        change()
        assert score.motion_of(rig) not in (None, before)
    kept.text.from_string("<pha/>")
    assert score.motion_of(rig) is None and "tickLength" in str(score.error_of(rig))


def state() -> object:
    scene = bpy.context.scene
    return ([(ob.name, ob.animation_data and ob.animation_data.action) for ob in bpy.data.objects],
            list(bpy.data.actions), list(bpy.data.texts), scene.frame_start, scene.frame_end,
            list(scene.timeline_markers))


@pytest.mark.parametrize(("text", "message"), [
    ("not xml", r"broken\.pha, line 1: "),
    ("<pha><procedure name='main'/></pha>", "tickLength"),
    (STEPS.replace('duration="0.7"', 'duration="x"'), r"broken\.pha, line 10: .*'x'"),
    (STEPS.replace("feet.Steps", "feet..secret"), "feet..secret"),
    (STEPS.replace('repeat="2"', 'repeat="1000000000"'), "expected an integer from 1 to 1000000"),
])
def test_a_broken_score_is_opened_and_tells_its_line(rig: bpy.types.Object, library: Path, text: str,
                                                     message: str) -> None:
    (library / "broken.pha").write_text(text, encoding="utf-8")
    before = state()
    with pytest.raises(RuntimeError, match=message):
        play(library / "broken.pha")
    kept = properties.character(rig)
    assert kept.text is not None and kept.text.as_string().strip() == text.strip() and kept.action is None
    bpy.data.texts.remove(kept.text)
    assert state() == before


def test_one_clip_that_cannot_be_played_does_not_silence_the_others(rig: bpy.types.Object, library: Path,
                                                                    clips: dict[str, Clip]) -> None:
    """Where it would play, the pose before is held; all is told; and what was good is not overwritten by it."""
    broken = STEPS.replace('name="right" duration="0.7"', 'name="rigth" duration="0.7"').replace(
        "<procedure", '<load src="no.such"/><procedure', 1)
    (library / "broken.pha").write_text(broken, encoding="utf-8")
    said = refused(library / "broken.pha", root_motion="AS_AUTHORED")
    assert "broken.pha, line 4: " in said and "found no file for 'no.such'" in said
    assert "(and 1 more: see Takt's tab, Score)" in said
    told = score.error_of(rig)
    assert isinstance(told, FileError) and any("did you mean right" in each.message for each in told.problems)
    performance, kept = score.known_performance(rig), properties.character(rig)
    assert performance is not None and score.motion_of(rig) is None
    motion = performance.motion
    assert motion is not None and motion.duration_s == pytest.approx(5.7) and kept.action is not None
    assert score.shown(rig) is motion
    held = [evaluated(rig, frame) for frame in (131, 137)]  # after the transition
    np.testing.assert_allclose(held[0][1:], held[1][1:], atol=POSE_TOLERANCE)
    kept.text.from_string(STEPS)
    score.look()  # as each drawing does
    good = score.shown(rig)
    assert good is not None and score.error_of(rig) is None
    kept.text.from_string(broken)
    score.look()
    assert score.shown(rig) is good and score.error_of(rig) is not None


def test_other_refusals(rig: bpy.types.Object, library: Path) -> None:
    before = state()
    assert "there is no" in refused(library / "nothing.pha").lower() or "No such file" in refused(library / "no.pha")
    (library / "latin.pha").write_bytes(STEPS.encode().replace(b"pair", b"p\xe4r"))
    assert "is not UTF-8" in refused(library / "latin.pha")
    assert state() == before
    assert "no procedure" in refused(library / "dance.pha", procedure="waltz")
    properties.character(rig).text = None
    bpy.ops.object.mode_set(mode="EDIT")
    assert "'Rig' is being edited" in refused(library / "dance.pha")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None
    assert "Make a character's armature the active object" in refused(library / "dance.pha")
    with pytest.raises(RuntimeError, match="has no score"):
        bpy.context.view_layer.objects.active = rig
        rebuild()


def test_bones_without_counterpart_are_listed(rig: bpy.types.Object, library: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    rig.data.bones["r_hip"].name = "wing"
    play(library / "dance.pha")
    assert "Without counterpart: r_hip" in capsys.readouterr().out


def test_a_bound_mesh_stands_for_its_armature(rig: bpy.types.Object, library: Path) -> None:
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.collection.objects.link(body)
    body.parent = rig
    modifier: Any = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    bpy.context.view_layer.objects.active = body
    play(library / "dance.pha")
    rebuild()
    assert score.motion_of(rig) is not None and body.animation_data is None


def test_what_belongs_to_one_score_is_not_remembered(rig: bpy.types.Object) -> None:
    kept = bpy.ops.takt.import_pha.get_rna_type().properties  # type: ignore[attr-defined]
    assert {name for name in properties.SETTING_NAMES if kept[name].is_skip_save} == {
        "library", "procedure", "load_format", "bvh_up", "bvh_forward"}
    assert kept["filepath"].is_skip_save


def test_edit_score_shows_the_text(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    area.type = "TEXT_EDITOR"
    with bpy.context.temp_override(window=window, screen=window.screen):
        assert bpy.ops.takt.edit_score() == {"FINISHED"}  # type: ignore[attr-defined]
    editor: Any = area.spaces.active
    assert editor.text == properties.character(rig).text


def test_undo_takes_all_of_it_back(rig: bpy.types.Object, library: Path) -> None:
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="before")
        operator: Any = bpy.ops.takt.import_pha  # type: ignore[attr-defined]
        operator("EXEC_DEFAULT", True, filepath=str(library / "dance.pha"))
        bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert properties.character(rig).text is None and score.motion_of(rig) is None
    assert not bpy.data.actions and not bpy.data.texts and not bpy.context.scene.timeline_markers
    assert rig.animation_data is None


def test_an_override_plays_and_a_linked_armature_says_why_not(rig: bpy.types.Object, library: Path) -> None:
    there = linked(rig, library)
    bpy.context.view_layer.objects.active = there
    assert "'Rig' is linked from another file" in refused(library / "dance.pha")
    override = there.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = override
    play(library / "dance.pha")
    assert score.motion_of(override) is not None and override.animation_data.action is not None
    assert evaluated(override, 20).shape == (5, 3, 4)


def test_drop_wants_a_viewport_and_an_armature(rig: bpy.types.Object) -> None:
    handler: Any = bpy.types.FileHandler.bl_rna_get_subclass_py("TAKT_FH_pha")
    assert handler.bl_import_operator == "takt.import_pha" and handler.bl_file_extensions == ".pha"
    assert not handler.poll_drop(bpy.context)


@pytest.mark.parametrize("path", ["", 'pose.bones["nobody"].location', "location"])
def test_an_action_without_keys_for_bones_is_said_to_have_none(rig: bpy.types.Object, tmp_path: Path,
                                                               path: str) -> None:
    """It is there, and no file is missing; given such keys, it plays."""
    action: Any = bpy.data.actions.new("Empty one")
    bag = versions.ensure_channelbag(action, action.slots.new("OBJECT", "Rig"))
    if path:
        write_key(bag, path)
    (tmp_path / "calls.pha").write_text('<pha tickLength="1"><load src="Empty one"/><procedure name="main">'
                                        '<call name="Empty one" duration="1"/></procedure></pha>', encoding="utf-8")
    said = refused(tmp_path / "calls.pha")
    assert f"line 1: <load> src: the Action 'Empty one' has no keys for bones of '{rig.name}', nor of another" in said
    assert "found no file" not in said and score.played_actions(rig) == {"Empty one"}
    write_key(bag, f'pose.bones["{NAMES[1]}"].rotation_quaternion')
    rebuild()
    assert score.error_of(rig) is None and score.motion_of(rig) is not None


def write_key(bag: Any, path: str) -> None:
    """Give a curve two keys that differ."""
    keys = bag.fcurves.new(path, index=0).keyframe_points
    keys.insert(1.0, 0.5)
    keys.insert(25.0, 1.0)
