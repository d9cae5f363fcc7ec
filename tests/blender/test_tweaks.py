"""Tweaks in Blender: keys are differences above the score, and go where their blocks go."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from takt.bridge import changes, properties, versions
from takt.bridge.rigs import constraints
from takt.bridge.scores import following, score, score_blocks, score_edits
from takt.bridge.tweaking import tweak_placing, tweak_waiting, tweaked_motion, tweaks
from takt.core.pha.edits import Move, Remove, SetAttribute
from takt.core.score_editor.change import Edits
from takt.core.skeletons.skeleton import world_from_pose
from takt.operators.extract_tweaks import TAKT_OT_extract_tweaks
from takt.samples import dancer
from takt.tests.blender.dancing import NAMES, STEPS, Wait, play, rebuild, text_of

LIFT: Any = Quaternion((0.3, 0.5, 1.0), 0.6)
FPS = 24.0
operators: Any = bpy.ops
KNEE = "l_knee"


def tweak(**settings: Any) -> None:
    assert bpy.ops.takt.tweak(**settings) == {"FINISHED"}  # type: ignore[attr-defined]


def shown(rig: Any, frame: float, name: str = KNEE) -> tuple[Any, Any]:
    """Return what Blender makes of a bone at a frame."""
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    bone = rig.pose.bones[name]
    return bone.rotation_quaternion.copy(), bone.location.copy()


def set_key(rig: Any, frame: int, lift: Any = LIFT, name: str = KNEE) -> None:
    """Turn a bone and set a key, as an animator does with I."""
    turned, _ = shown(rig, frame, name)
    bone = rig.pose.bones[name]
    bone.rotation_quaternion = turned @ lift
    assert bone.keyframe_insert("rotation_quaternion", frame=frame)


def plain(rig: Any, frame: float, name: str = KNEE) -> Any:
    """Return what the score alone makes of a bone at a frame."""
    motion = score.motion_of(rig)
    assert motion is not None
    time = (frame - properties.character(rig).frame_start) / FPS
    return Quaternion(motion.sample(np.array((time,))).rotations[0, motion.skeleton.index_of[name]])


def is_lifted(rig: Any, frame: float, lift: Any = LIFT, name: str = KNEE) -> bool:
    """Tell whether at a frame Blender shows the score's pose with a lift."""
    found, _ = shown(rig, frame, name)
    return bool(found.rotation_difference(plain(rig, frame, name) @ lift).angle < 2e-3)


def edit(rig: Any, *edits: Any) -> None:
    """Change the score as the score editor does."""
    blocks = score_blocks.refresh(rig)
    assert blocks.layout is not None
    new = score_edits.texts_after(rig, blocks, Edits(blocks.layout.documents[0].text, edits))
    score_edits.write(bpy.context, rig, new)


def own_frames(action: Any) -> list[float]:
    bag = action.layers[0].strips[0].channelbags[0]
    return sorted({round(key.co.x, 2) for curve in bag.fcurves for key in curve.keyframe_points
                   if key.type != "GENERATED"})


@pytest.fixture
def tweaked(rig: Any, library: Path, wait: Wait) -> Any:
    """A dancer with an empty layer of tweaks."""
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    tweak()
    wait(0.4)
    return rig


def test_a_rebuild_says_nothing_of_takts_own_layer(tweaked: Any, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    rebuild()
    said = capfd.readouterr().out
    assert "plays" in said and "not Takt's" not in said


def test_a_key_is_a_difference_and_makes_a_bump(tweaked: Any, wait: Wait) -> None:
    animation = tweaked.animation_data
    below = properties.character(tweaked).action
    assert animation.action.name == "Rig tweaks" and animation.action_blend_type == "COMBINE"
    assert [strip.action for track in animation.nla_tracks for strip in track.strips] == [below]
    assert is_lifted(tweaked, 20, Quaternion())
    set_key(tweaked, 20)
    assert is_lifted(tweaked, 20) and is_lifted(tweaked, 90)  # an offset for ever, until it is eased
    wait(0.5)
    assert is_lifted(tweaked, 20) and is_lifted(tweaked, 30, Quaternion()) and is_lifted(tweaked, 12, Quaternion())
    assert own_frames(animation.action) == [20.0]


def test_a_key_goes_along_with_its_block_through_edits(tweaked: Any, wait: Wait) -> None:
    """In the score: pair twice (left 1 s, right 1.5 s), then right for .7 s; the key is in the second pair's left."""
    set_key(tweaked, 73)  # at 3 s: half of that block
    wait(0.5)
    action = tweaked.animation_data.action
    edit(tweaked, SetAttribute(6, "duration", "5"))
    assert own_frames(action) == [pytest.approx(1 + 6 * FPS)] and is_lifted(tweaked, 1 + 6 * FPS)
    edit(tweaked, Move(7, 5, 0))
    assert own_frames(action) == [pytest.approx(1 + 6.7 * FPS, abs=0.01)] and is_lifted(tweaked, own_frames(action)[0])
    edit(tweaked, SetAttribute(0, "tickLength", "0.5"))
    assert own_frames(action) == [pytest.approx(1 + 3.35 * FPS, abs=0.01)]
    assert is_lifted(tweaked, own_frames(action)[0])


def test_a_block_that_goes_takes_its_tweaks_and_brings_them_back(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    set_key(tweaked, 130)
    wait(0.5)
    action, text = tweaked.animation_data.action, text_of(tweaked).as_string()
    edit(tweaked, Remove(7))
    assert own_frames(action) == [30.0]
    text_of(tweaked).from_string(text)
    wait(2.0)
    assert not following.is_older(tweaked) and own_frames(action) == [30.0, 130.0]
    assert is_lifted(tweaked, 30) and is_lifted(tweaked, 130)


def test_typed_changes_take_tweaks_along(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 130)
    wait(0.5)
    text_of(tweaked).from_string(STEPS.replace('repeat="2"', 'repeat="1"'))
    wait(2.0)
    assert own_frames(tweaked.animation_data.action) == [pytest.approx(70.0)] and is_lifted(tweaked, 70)


def test_rebuild_leaves_the_tweaks_assigned(tweaked: Any, wait: Wait, capsys: pytest.CaptureFixture[str]) -> None:
    set_key(tweaked, 20)
    action = tweaked.animation_data.action
    capsys.readouterr()
    rebuild()
    assert "is not Takt's" not in capsys.readouterr().out
    assert tweaked.animation_data.action == action and is_lifted(tweaked, 20)
    assert len(bpy.data.actions) == 2


def test_rebuild_fills_the_strip_whose_action_was_deleted(tweaked: Any, wait: Wait,
                                                          capfd: pytest.CaptureFixture[str]) -> None:
    set_key(tweaked, 10)
    wait(0.5)
    assert is_lifted(tweaked, 10)
    own, animation = properties.character(tweaked).action, tweaked.animation_data
    assert own is not None
    bpy.data.actions.remove(own)
    assert [strip.action for strip in animation.nla_tracks[0].strips] == [None]
    capfd.readouterr()
    rebuild()
    (strip,) = animation.nla_tracks[0].strips
    assert strip.action is not None and strip.action == properties.character(tweaked).action
    assert strip.action_frame_end == strip.action.frame_range[1] and is_lifted(tweaked, 10)
    assert "is not Takt's" not in capfd.readouterr().out


def test_two_layers_add_up(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    first = tweaked.animation_data.action
    tweak(add_layer=True)
    other = Quaternion((1.0, 0.0, 0.0), 0.3)
    set_key(tweaked, 20, other)
    wait(0.5)
    assert tweaked.animation_data.action != first and is_lifted(tweaked, 20, LIFT @ other)
    edit(tweaked, SetAttribute(6, "duration", "5"))
    moved = own_frames(first)
    assert moved == own_frames(tweaked.animation_data.action) == [pytest.approx(39.0)]
    assert is_lifted(tweaked, 39, LIFT @ other)


def test_a_score_without_tweaks_is_written_as_before(rig: Any, library: Path) -> None:
    play(library / "dance.pha")
    before = [tuple(key.co) for curve in curves_of(rig.animation_data.action) for key in curve.keyframe_points]
    tweak()
    rebuild()
    after = [tuple(key.co) for curve in curves_of(properties.character(rig).action) for key in curve.keyframe_points]
    assert before == after


def curves_of(action: Any) -> Any:
    return action.layers[0].strips[0].channelbags[0].fcurves


def test_the_preview_draws_the_tweaked_pose(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    score.look()
    motion = score.shown(tweaked)
    assert motion is not None
    found = Quaternion(motion.sample(np.array((19 / FPS,))).rotations[0, motion.skeleton.index_of[KNEE]])
    assert found.rotation_difference(plain(tweaked, 20) @ LIFT).angle < 2e-3


def test_what_is_drawn_stays_the_same_motion_until_tweaks_change(tweaked: Any, wait: Wait) -> None:
    """What was found of it, as footholds are, is found once, whatever else is edited."""
    set_key(tweaked, 20)
    wait(0.5)
    motion = score.shown(tweaked)
    changes.score()  # as after any edit in the scene
    assert motion is not None and score.shown(tweaked) is motion
    strip = tweaked.animation_data
    strip.action_influence = 0.5
    changes.score()
    half = score.shown(tweaked)
    assert half is not None and half is not motion
    strip.action_influence = 1.0
    changes.score()
    assert score.shown(tweaked) is motion
    tweaked.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[1].co.y += 0.1
    changes.score()
    assert score.shown(tweaked) not in (motion, half)


def test_keys_of_locations_are_differences_too(tweaked: Any, wait: Wait) -> None:
    bone, (_, before) = tweaked.pose.bones[NAMES[0]], shown(tweaked, 20, NAMES[0])
    bone.location = before + Vector((0.1, 0.2, 0.3))
    bone.keyframe_insert("location", frame=20)
    wait(0.5)
    assert (shown(tweaked, 20, NAMES[0])[1] - before - Vector((0.1, 0.2, 0.3))).length < 1e-4
    assert tweaks.problem(tweaked) == ""


def test_saved_and_opened_again_it_goes_on(tweaked: Any, wait: Wait, tmp_path: Path) -> None:
    set_key(tweaked, 130)
    wait(0.5)
    path = str(tmp_path / "tweaked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    wait(1.0)
    rig: Any = bpy.data.objects["Rig"]
    bpy.context.view_layer.objects.active = rig
    text_of(rig).from_string(STEPS.replace('repeat="2"', 'repeat="1"'))
    wait(2.0)
    rebuild()
    assert own_frames(rig.animation_data.action) == [pytest.approx(70.0)] and is_lifted(rig, 70)


def feet_of(rig: Any, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    found = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([found.matrix_world @ found.pose.bones[name].head for name in ("l_ankle", "r_ankle")])[:, :2]


def test_planted_feet_stay_where_the_hips_are_tweaked(wait: Wait) -> None:
    """The score's Action holds what the feet make of it; while the key is new, they go along."""
    wait(0.2)
    rig, _ = dancer.bound_dancer()
    dancer.play()
    wait(1.0)
    motion = score.motion_of(rig)
    assert motion is not None and motion.feet is not None and motion.body is not None
    hips = motion.skeleton.names[motion.body.joint_of["HumanoidRoot"]]
    tweak()
    wait(0.5)
    frame, below = 12, properties.character(rig).action
    before = feet_of(rig, frame)
    plain_keys = [tuple(key.co) for curve in curves_of(below) for key in curve.keyframe_points]
    bone = rig.pose.bones[hips]
    _, location = shown(rig, frame, hips)
    bone.location = location + bone.bone.matrix_local.to_3x3().inverted() @ Vector((0.03, 0.02, 0.0))
    bone.keyframe_insert("location", frame=frame)
    loose = np.linalg.norm(feet_of(rig, frame) - before, axis=1)
    assert loose.min() > 0.03
    wait(3.0)
    assert not following.is_older(rig) and rig.animation_data.action.name.endswith("tweaks")
    held = np.linalg.norm(feet_of(rig, frame) - before, axis=1)
    assert held.min() < 0.004, held
    score.look()
    motion = score.shown(rig)
    assert motion is not None
    world = world_from_pose(motion.skeleton, motion.sample(np.array(((frame - 1) / FPS,))))
    joints: Any = [motion.body.joint_of[name] for name in ("l_ankle", "r_ankle")]
    drawn = world[0, joints, :2, 3]
    np.testing.assert_allclose(feet_of(rig, frame), drawn, atol=2e-3)
    curves_of(rig.animation_data.action).clear()
    wait(3.0)
    np.testing.assert_allclose([tuple(key.co) for curve in curves_of(below) for key in curve.keyframe_points],
                               plain_keys, atol=1e-12)


def test_bake_makes_one_action_of_the_score_and_its_tweaks(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    wanted = [shown(tweaked, frame)[0] for frame in range(10, 31)]
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    baked, animation = bpy.data.actions["Rig baked"], tweaked.animation_data
    assert animation.action.name == "Rig tweaks" and baked.use_fake_user
    animation.action, animation.action_blend_type, animation.use_nla = baked, "REPLACE", False
    animation.action_slot = baked.slots[0]
    for frame, turned in zip(range(10, 31), wanted, strict=True):
        assert shown(tweaked, frame)[0].rotation_difference(turned).angle < 2e-3


def test_a_bake_plays_where_constraints_would_move_its_bones(tweaked: Any, wait: Wait) -> None:
    """They are muted while it is assigned, as they are while the score's Action is."""
    held = tweaked.pose.bones["l_knee"].constraints.new("COPY_ROTATION")
    held.target, held.subtarget = tweaked, "r_hip"
    properties.character(tweaked).mute_constraints = True
    constraints.forget_met(tweaked)
    rebuild()
    set_key(tweaked, 20)
    wait(0.5)
    assert held.mute
    wanted = [shown(tweaked, frame)[0] for frame in range(10, 31)]
    assert operators.takt.bake_tweaks() == {"FINISHED"} and held.mute
    baked, animation = bpy.data.actions["Rig baked"], tweaked.animation_data
    animation.action = None
    for track in animation.nla_tracks:
        track.mute = True
    wait(0.5)
    assert not held.mute
    animation.action, animation.action_blend_type = baked, "REPLACE"
    animation.action_slot = baked.slots[0]
    wait(0.5)
    assert held.mute
    for frame, turned in zip(range(10, 31), wanted, strict=True):
        assert shown(tweaked, frame)[0].rotation_difference(turned).angle < 2e-3


def test_bake_holds_whatever_is_keyed_above_the_score(tweaked: Any, wait: Wait) -> None:
    """The object's place, properties of object and bone, a constraint's influence, a bone that no score moves."""
    limit = tweaked.pose.bones["l_knee"].constraints.new("LIMIT_SCALE")
    tweaked["mood"], tweaked.pose.bones["l_hip"]["bulge"] = 0.0, 0.0

    def values() -> list[float]:
        return [*tweaked.location, tweaked["mood"], tweaked.pose.bones["l_hip"]["bulge"], limit.influence]

    set_key(tweaked, 20)
    for frame, value in ((10, 0.0), (30, 1.0)):
        tweaked.location, limit.influence = (value, 2.0 * value, 0.0), value
        tweaked["mood"], tweaked.pose.bones["l_hip"]["bulge"] = 3.0 * value, -value
        for owner, path in ((tweaked, "location"), (tweaked, '["mood"]'), (tweaked.pose.bones["l_hip"], '["bulge"]'),
                            (limit, "influence")):
            assert owner.keyframe_insert(path, frame=frame)
    wait(0.5)
    frames = range(1, 41)
    wanted = []
    for frame in frames:
        turned = shown(tweaked, frame)[0]
        wanted.append((turned, values()))
    bpy.context.scene.frame_set(7)
    assert operators.takt.bake_tweaks() == {"FINISHED"} and bpy.context.scene.frame_current == 7
    baked, animation = bpy.data.actions["Rig baked"], tweaked.animation_data
    animation.action, animation.action_blend_type, animation.use_nla = baked, "REPLACE", False
    animation.action_slot = baked.slots[0]
    assert len({tuple(each[1]) for each in wanted}) > 10
    for frame, (turned, others) in zip(frames, wanted, strict=True):
        assert shown(tweaked, frame)[0].rotation_difference(turned).angle < 2e-3
        assert values() == pytest.approx(others, abs=1e-4)
def test_where_a_track_plays_alone_no_other_tweaks_count(tweaked: Any, wait: Wait) -> None:
    """Of the score's track alone, Blender and the preview show the score; of a layer's, the preview only that layer."""
    set_key(tweaked, 20)
    wait(0.5)
    tweak(add_layer=True)
    set_key(tweaked, 24, name="r_hip")
    wait(0.5)
    motion, scene, below = score.motion_of(tweaked), bpy.context.scene, properties.character(tweaked).action
    assert motion is not None and scene is not None
    times = np.array((19.0, 23.0)) / FPS
    plain = motion.sample(times).rotations

    def lifted() -> list[bool]:
        found = tweaked_motion.shown(tweaked, scene, motion).sample(times).rotations
        joints = [motion.skeleton.index_of[name] for name in (KNEE, "r_hip")]
        return [not np.allclose(found[at, joint], plain[at, joint]) for at, joint in enumerate(joints)]

    assert lifted() == [True, True]
    tracks = tweaked.animation_data.nla_tracks
    of_score, of_layer = sorted(tracks, key=lambda track: bool(track.strips[0].action != below))
    of_score.is_solo = True
    assert lifted() == [False, False]
    assert is_lifted(tweaked, 20, Quaternion()) and is_lifted(tweaked, 24, Quaternion(), "r_hip")
    of_score.is_solo, of_layer.is_solo = False, True
    assert lifted() == [True, False]
    of_layer.strips[0].mute = True
    assert lifted() == [False, False]


@pytest.mark.parametrize("eases_s", [(0.0, 0.0), (0.0, 0.4), (0.4, 0.0), (1e-4, 1e-5)])
def test_without_ease_the_keys_stay(tweaked: Any, wait: Wait, eases_s: tuple[float, float]) -> None:
    layer, frames = tweaks_of(tweaked)[0], (20, 40)
    for frame in frames:
        set_key(tweaked, frame)
        wait(0.5)
    layer.ease_in, layer.ease_out = eases_s
    wait(0.5)
    assert own_frames(tweaked.animation_data.action) == list(frames)
    assert all(is_lifted(tweaked, frame) for frame in frames)
    for is_eased, frame in ((eases_s[0] > 0.1, 19), (eases_s[1] > 0.1, 41)):
        assert is_eased or is_lifted(tweaked, frame, Quaternion())
    edit(tweaked, SetAttribute(0, "tickLength", "2"))
    assert own_frames(tweaked.animation_data.action) == [39.0, 79.0]
    assert is_lifted(tweaked, 39) and is_lifted(tweaked, 79)


def test_a_strip_that_was_moved_is_reported(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    action = tweaked.animation_data.action
    tweak(add_layer=True)
    wait(0.5)
    assert tweaks.problem(tweaked) == ""
    strip = next(each for track in tweaked.animation_data.nla_tracks for each in track.strips if each.action == action)
    start = strip.frame_start
    strip.frame_start_ui = start + 10
    assert is_lifted(tweaked, 30) and "Rig tweaks' was moved in the NLA" in tweaks.problem(tweaked)
    assert f"start to {start:g}" in tweaks.problem(tweaked)
    strip.frame_start_ui = start
    assert tweaks.problem(tweaked) == "" and is_lifted(tweaked, 20)


def test_what_no_score_plays_is_not_eased(tweaked: Any, wait: Wait) -> None:
    """Without a key the object has its own place, which eased keys would take from it, and its size."""
    tweaked.location, tweaked.rotation_euler, tweaked.scale = (5.0, 2.0, 0.0), (0.0, 0.0, 1.0), (0.01, 0.01, 0.01)
    knee = tweaked.pose.bones[KNEE]
    tweaked["mood"], knee.bbone_scalein = 1.0, (1.5, 1.5, 1.5)
    for owner, path in ((tweaked, "location"), (tweaked, "rotation_euler"), (tweaked, "scale"), (tweaked, '["mood"]'),
                        (knee, "bbone_scalein")):
        assert owner.keyframe_insert(path, frame=30)
    set_key(tweaked, 30)
    wait(0.5)
    operators.takt.clean_tweaks()
    for frame in (5, 30, 90):
        bpy.context.scene.frame_set(frame)
        assert tuple(tweaked.location) == pytest.approx((5.0, 2.0, 0.0))
        assert tweaked.rotation_euler.z == pytest.approx(1.0) and tuple(tweaked.scale) == pytest.approx((0.01,) * 3)
        assert tweaked["mood"] == pytest.approx(1.0) and tuple(knee.bbone_scalein) == pytest.approx((1.5,) * 3)
        assert is_lifted(tweaked, frame, LIFT if frame == 30 else Quaternion())


def test_bake_holds_what_is_keyed_besides_bones(tweaked: Any, wait: Wait) -> None:
    """The object's place, custom properties, the influence of a constraint: as Blender mixes them, frame by frame."""
    tail = tweaked.pose.bones["x_tail"]
    tweaked["mood"], tail["wag"], tweaked["steps"] = 0.25, 0.5, 3
    pull = tail.constraints.new("COPY_LOCATION")
    pull.target, pull.influence = bpy.data.objects.new("Goal", None), 0.5
    for frame, much in ((20, 0.0), (30, 0.4)):
        tweaked["mood"], tail["wag"], tweaked["steps"], pull.influence = much, 2.0 * much, int(9 * much), much
        tweaked.location.x, tweaked.rotation_euler.z, tail.rotation_mode = much, 3.0 * much, "QUATERNION"
        for owner, path in ((tweaked, '["mood"]'), (tail, '["wag"]'), (tweaked, '["steps"]'), (pull, "influence"),
                            (tweaked, "location"), (tweaked, "rotation_euler")):
            assert owner.keyframe_insert(path, frame=frame)
    set_key(tweaked, 25)
    wait(0.5)
    mine = bpy.data.actions.new("mine")  # in the NLA too, but neither the score's nor a layer of tweaks
    slot = mine.slots.new(id_type="OBJECT", name="Rig")
    versions.ensure_channelbag(mine, slot).fcurves.new('["mood"]').keyframe_points.insert(1, 0.5)

    def seen() -> list[list[float]]:
        found = []
        for frame in range(10, 45):
            bpy.context.scene.frame_set(frame)
            found.append([tweaked["mood"], tail["wag"], tweaked["steps"], pull.influence, tweaked.location.x,
                          tweaked.rotation_euler.z])
        return found

    wanted = seen()
    assert len({round(each[4], 3) for each in wanted}) > 10
    animation = tweaked.animation_data
    strip = animation.nla_tracks.new().strips.new("mine", 1, mine)
    strip.blend_type = "ADD"
    objects, scenes = len(bpy.data.objects), len(bpy.data.scenes)
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    assert (len(bpy.data.objects), len(bpy.data.scenes)) == (objects, scenes) and not strip.mute
    baked = bpy.data.actions["Rig baked"]
    animation.action, animation.action_blend_type, animation.use_nla = baked, "REPLACE", False
    animation.action_slot = baked.slots[0]
    np.testing.assert_allclose(seen(), wanted, atol=1e-5)
    assert not any(curve.data_path.startswith("takt") for curve in curves_of(baked))


def test_extract_makes_tweaks_of_an_edited_action(rig: Any, library: Path, wait: Wait) -> None:
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    context: Any = bpy.context
    problem, what_to_do = TAKT_OT_extract_tweaks.problem, ": assign the Action that you edited"
    assert problem(context) == f"'{rig.animation_data.action.name}' has not been edited by hand{what_to_do}"
    set_key(rig, 20)
    source = rig.animation_data.action
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    wait(0.5)
    action = rig.animation_data.action
    assert action.name == "Rig tweaks" and own_frames(action) == [20.0] and source.use_fake_user
    assert is_lifted(rig, 20) and is_lifted(rig, 60, Quaternion())
    assert problem(context) == f"'Rig tweaks' holds tweaks already{what_to_do}"
    rig.animation_data.action = None
    assert problem(context) == f"No Action is assigned that could have been changed{what_to_do}"


def test_clean_removes_what_changes_nothing(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    for frame in (60, 64, 68):
        set_key(tweaked, frame, Quaternion())
    wait(0.5)
    action = tweaked.animation_data.action
    assert own_frames(action) == [20.0, 60.0, 64.0, 68.0]
    assert operators.takt.clean_tweaks() == {"FINISHED"}
    assert own_frames(action) == [20.0, 60.0] and is_lifted(tweaked, 20) and is_lifted(tweaked, 62, Quaternion())


def test_clean_that_finds_nothing_changes_nothing(tweaked: Any, wait: Wait) -> None:
    """It makes no step of undo, so a key that was just set is left to be tied afterwards."""
    set_key(tweaked, 20)
    wait(0.5)
    set_key(tweaked, 60)
    action = tweaked.animation_data.action
    assert tweak_placing.has_untied_keys(action)
    assert operators.takt.clean_tweaks() == {"CANCELLED"}
    assert tweak_placing.has_untied_keys(action)
    wait(0.5)
    assert not tweak_placing.has_untied_keys(action) and is_lifted(tweaked, 60)


def test_tweaks_that_two_characters_share_go_by_the_first(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    other = tweaked.copy()
    other.name = "Second"
    bpy.context.collection.objects.link(other)
    wait(1.0)
    following.look(1e6)
    tweaks._seen.clear()
    scene: Any = bpy.context.scene
    tweaks.look(other, scene)
    assert "holds the tweaks of 'Rig' too" in tweaks.problem(other) and not tweaks.problem(tweaked)


@pytest.mark.parametrize(("said", "message"), [
    ("{", "their keys stay where they are; begin a new layer (+)"),
    ('{"version": 99}', "version 99, which this Takt does not know"),
    ('{"version": 1, "texts": []}', "their keys stay where they are; begin a new layer (+)")])
def test_ties_that_cannot_be_read_leave_the_keys_alone(tweaked: Any, wait: Wait, said: str, message: str) -> None:
    set_key(tweaked, 130)
    wait(0.5)
    action = tweaked.animation_data.action
    setattr(action, properties.TIES, said)
    edit(tweaked, Remove(7))
    assert own_frames(action) == [130.0] and message in tweaks.problem(tweaked)
    assert getattr(action, properties.TIES) == said


def test_tweaks_go_to_another_scene_by_a_file(tweaked: Any, wait: Wait, tmp_path: Path) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    set_key(tweaked, 130)
    wait(0.5)
    tweaks_of(tweaked)[0].ease_out = 0.5
    path = tmp_path / "rig.takt.tweaks.json"
    assert operators.takt.save_tweaks(filepath=str(path)) == {"FINISHED"}
    while tweaks_of(tweaked):
        tweaks_of(tweaked).remove(0)
    tweaked.animation_data.action = None
    text_of(tweaked).from_string(STEPS.replace('repeat="2"', 'repeat="1"'))
    wait(2.0)
    rebuild()
    assert operators.takt.load_tweaks(filepath=str(path)) == {"FINISHED"}
    wait(0.5)
    action = tweaked.animation_data.action
    assert own_frames(action) == [30.0, 70.0] and is_lifted(tweaked, 30) and is_lifted(tweaked, 70)
    assert tweaks_of(tweaked)[0].ease_out == 0.5


def tweaks_of(rig: Any) -> Any:
    return properties.character(rig).tweaks


@pytest.mark.parametrize(("said", "message"), [
    ("", "no file of tweaks, or it is damaged"), ("[]", "this is no file of tweaks"),
    ('{"format": "Takt tweaks", "version": 7}', "of version 7, expected at most 1"),
    ('{"format": "Takt tweaks", "version": 1}', "damaged: layers: found nothing, expected a value"),
    ('{"format": "Takt tweaks", "version": 1, "layers": [{"ties": {"version": 1}}]}', "damaged"),
    (None, "cannot be read: No such file")])
def test_a_file_of_tweaks_that_cannot_be_read_changes_nothing(tweaked: Any, tmp_path: Path, said: str | None,
                                                              message: str) -> None:
    path = tmp_path / "bad.takt.tweaks.json"
    if said is not None:
        path.write_text(said)
    before = len(tweaks_of(tweaked)), len(bpy.data.actions)
    with pytest.raises(RuntimeError, match=message):
        operators.takt.load_tweaks(filepath=str(path))
    assert (len(tweaks_of(tweaked)), len(bpy.data.actions)) == before


def test_a_file_that_cannot_be_read_leaves_an_action_that_is_older_than_its_score(rig: Any, library: Path, wait: Wait,
                                                                                  tmp_path: Path) -> None:
    play(library / "dance.pha")
    action = properties.character(rig).action
    assert action is not None
    before = getattr(action, properties.MADE_FROM)
    character = properties.character(rig)
    character.keep_action, character.procedure = False, "pair"
    wait(1.0)
    assert following.is_older(rig)
    with pytest.raises(RuntimeError, match="cannot be read"):
        operators.takt.load_tweaks(filepath=str(tmp_path / "none.takt.tweaks.json"))
    assert getattr(action, properties.MADE_FROM) == before


def test_a_path_that_cannot_be_written_is_refused(tweaked: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="cannot be written"):
        operators.takt.save_tweaks(filepath=str(tmp_path / "none" / "x.takt.tweaks.json"))


def test_keys_of_bones_that_the_rig_has_not_are_told_of(tweaked: Any, wait: Wait, tmp_path: Path,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    path = tmp_path / "rig.takt.tweaks.json"
    operators.takt.save_tweaks(filepath=str(path))
    path.write_text(path.read_text().replace(KNEE, "tentacle"))
    operators.takt.load_tweaks(filepath=str(path))
    assert "'Rig' has no bones tentacle: their keys are kept" in capsys.readouterr().out


SCORE = '<?xml version="1.0"?>\n<pha version="2" tickLength="1.0">\n  <load src="feet.Steps"/>\n%s</pha>\n'
MAIN = '  <procedure name="main">\n    %s\n  </procedure>\n'
LEFT, RIGHT = '<call name="left" duration="2"/>', '<call name="right" duration="2" repeat="2"/>'


@pytest.fixture
def plain_score(tweaked: Any, wait: Wait) -> Any:
    """A call of left (2 s), and right twice (2 s each); keys are set in both."""
    text_of(tweaked).from_string(SCORE % MAIN % (LEFT + RIGHT))
    wait(2.0)
    for frame in (13, 37, 133):
        set_key(tweaked, frame)
        wait(0.5)
    assert own_frames(tweaked.animation_data.action) == [13.0, 37.0, 133.0]
    return tweaked


@pytest.mark.parametrize("is_before", [True, False])
def test_a_call_that_is_wrapped_in_a_procedure_keeps_its_tweaks(plain_score: Any, wait: Wait, is_before: bool) -> None:
    procedure = f'  <procedure name="turn">{RIGHT}</procedure>\n'
    main = MAIN % (LEFT + '<call name="turn" duration="4"/>')
    text_of(plain_score).from_string(SCORE % (procedure + main if is_before else main + procedure))
    wait(2.0)
    assert own_frames(plain_score.animation_data.action) == pytest.approx([13.0, 37.0, 133.0], abs=0.01)
    assert not tweak_waiting.words(plain_score)


def test_keys_go_with_the_part_of_a_split_call_in_which_they_lie(plain_score: Any, wait: Wait) -> None:
    action, text = plain_score.animation_data.action, text_of(plain_score).as_string()
    halves = ('<call name="left" duration="1" to="0.5" transition="0"/>', '<call name="left" duration="1" from="0.5"/>')
    text_of(plain_score).from_string(SCORE % MAIN % ("".join(halves) + RIGHT))
    wait(2.0)
    assert own_frames(action) == pytest.approx([13.0, 37.0, 133.0], abs=0.01)
    text_of(plain_score).from_string(SCORE % MAIN % (halves[0] + RIGHT + halves[1]))
    wait(2.0)
    assert own_frames(action) == pytest.approx([13.0, 109.0, 133.0], abs=0.01), "the second part has gone elsewhere"
    text_of(plain_score).from_string(SCORE % MAIN % ("".join(halves) + RIGHT))
    wait(2.0)
    text_of(plain_score).from_string(text)
    wait(2.0)
    assert own_frames(action) == pytest.approx([13.0, 37.0, 133.0], abs=0.01)
    assert not tweak_waiting.words(plain_score)


def test_it_is_said_which_keys_wait_and_what_to_do(plain_score: Any, wait: Wait,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(plain_score).as_string()
    text_of(plain_score).from_string(SCORE % MAIN % LEFT)
    wait(2.0)
    told = tweak_waiting.words(plain_score)
    assert "Keys at 1 moment wait" in told and "'right' (l_knee)" in told and "press Undo" in told
    capsys.readouterr()
    rebuild()
    assert told in capsys.readouterr().out
    text_of(plain_score).from_string(text)
    wait(2.0)
    assert not tweak_waiting.words(plain_score)
