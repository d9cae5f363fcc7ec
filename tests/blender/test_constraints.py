"""Constraints that lead the bones a score plays: named, muted if wanted, and given back."""

from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import curves
from takt.bridge.rigs import armature, constraints
from takt.bridge.scores import following, score
from takt.core.maths import rotations as rot
from takt.tests.blender.dancing import play, rebuild

ANGLE_RAD = 1e-3
FRAME = 13


def constrain(rig: bpy.types.Object, bone: str, kind: Any, subtarget: str = "", **settings: Any) -> Any:
    constraint: Any = rig.pose.bones[bone].constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target, constraint.subtarget = rig, subtarget
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def off_the_score(rig: bpy.types.Object) -> dict[str, float]:
    """By how much each bone's rotation differs from what the score says, in radians."""
    scene = bpy.context.scene
    scene.frame_set(FRAME)
    motion = score.motion_of(rig)
    assert motion is not None
    wanted = motion.sample(np.array([(FRAME - 1) * scene.render.fps_base / scene.render.fps])).rotations[0]
    found = armature.read_pose(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()), motion.skeleton).rotations
    return dict(zip(motion.skeleton.names, rot.angle_between(found, wanted).tolist(), strict=True))


@pytest.fixture
def led(rig: bpy.types.Object) -> list[Any]:
    """What leads a bone that is played, one that a chain of IK reaches, and one that is but a played one's child."""
    return [constrain(rig, "l_hip", "COPY_ROTATION", "x_tail"),
            constrain(rig, "l_knee", "IK", "x_tail", chain_count=2),
            constrain(rig, "x_tail", "COPY_TRANSFORMS", "r_hip")]


def test_constraints_in_the_way_are_muted_and_given_back(rig: bpy.types.Object, library: Path, led: list[Any]) -> None:
    bound = constrain(rig, "r_hip", "LIMIT_ROTATION")
    muted_by_hand = constrain(rig, "r_hip", "COPY_LOCATION", "x_tail", mute=True)
    play(library / "dance.pha", mute_constraints=False)
    assert off_the_score(rig)["l_hip"] > 0.1 and not any(c.mute for c in led)
    properties.character(rig).mute_constraints = True
    rebuild()
    assert max(off_the_score(rig).values()) < ANGLE_RAD
    assert all(c.mute for c in led) and not bound.mute and muted_by_hand.mute
    rebuild()  # once more changes nothing
    assert all(c.mute for c in led) and len(properties.character(rig).muted) == len(led)
    properties.character(rig).mute_constraints = False
    rebuild()
    assert not any(c.mute for c in led) and muted_by_hand.mute and not len(properties.character(rig).muted)


def test_what_an_animator_adds_or_gives_back_acts_through_rebuilds(rig: bpy.types.Object, library: Path,
                                                                    led: list[Any]) -> None:
    play(library / "dance.pha", mute_constraints=True)
    assert all(constraint.mute for constraint in led)
    added = constrain(rig, "r_hip", "COPY_ROTATION", "x_tail")
    led[0].mute = False
    for _ in range(2):
        properties.character(rig).frame_start += 1
        rebuild()
        for at_s in (0.0, 10.0):
            following.look(at_s)
        assert [constraint.mute for constraint in (added, *led)] == [False, False, True, True]
    properties.character(rig).mute_constraints = False
    rebuild()
    properties.character(rig).mute_constraints = True
    rebuild()  # switched on anew it means all
    assert added.mute and all(constraint.mute for constraint in led)


@pytest.mark.parametrize("how", ["score", "clip"])
def test_constraints_act_while_another_action_is_assigned(rig: bpy.types.Object, library: Path, led: list[Any],
                                                          how: str) -> None:
    """Muted they are while what they were muted for plays, also in the NLA, and whatever else becomes of the score."""
    if how == "score":
        play(library / "dance.pha", mute_constraints=True)
    else:
        takt_operators: Any = bpy.ops
        takt_operators.takt.play_clip(filepath=str(library / "feet" / "Steps.skeleton.xml"))
    animation, by_hand = rig.animation_data, constrain(rig, "r_hip", "COPY_LOCATION", "x_tail", mute=True)
    ours, own = animation.action, bpy.data.actions.new("Own")
    assert ours is not None

    def are_muted() -> list[bool]:
        for at_s in (0.0, 10.0):
            following.look(at_s)
        return [constraint.mute for constraint in led]

    muted = are_muted()
    assert any(muted)
    properties.character(rig).text = None
    assert are_muted() == muted
    for other in (own, None):
        animation.action = other
        assert not any(are_muted()) and by_hand.mute
        animation.action = ours
        assert are_muted() == muted and by_hand.mute
    led[muted.index(True)].mute = False
    muted[muted.index(True)] = False
    assert are_muted() == muted, "what the user lets act is not muted again"
    animation.action = own
    assert not any(are_muted())
    track = animation.nla_tracks.new()
    strip = track.strips.new("Dance", 1, ours)
    assert are_muted() == muted
    strip.mute = True
    assert not any(are_muted())


def test_actions_of_a_folder_mute_what_is_in_their_way_as_soon_as_one_is_chosen(
        rig: bpy.types.Object, library: Path, led: list[Any]) -> None:
    animation, takt_operators = rig.animation_data_create(), cast(Any, bpy.ops)
    assert animation is not None
    own = animation.action = bpy.data.actions.new("Own")
    retarget = takt_operators.takt.retarget_clips

    def muted_by(action: bpy.types.Action) -> list[bool]:
        animation.action = action
        for at_s in (0.0, 10.0):
            following.look(at_s)
        return [constraint.mute for constraint in led]

    assert retarget(directory=str(library / "feet")) == {"FINISHED"}
    assert animation.action == own and not any(constraint.mute for constraint in led)
    new = [action for action in bpy.data.actions if action != own]
    assert len(new) == 2
    for action in new:
        assert all(muted_by(action)) and not any(muted_by(own))
    for mutes in (False, True):
        assert retarget(directory=str(library / "feet"), mute_constraints=mutes) == {"FINISHED"}
        assert {*bpy.data.actions} == {own, *new}, "they are filled anew"
        for action in new:
            assert muted_by(action) == [mutes] * len(led) and not any(muted_by(own))


def test_without_a_window_constraints_act_with_another_action_too(rig: bpy.types.Object, library: Path, led: list[Any],
                                                                  tmp_path: Path) -> None:
    play(library / "dance.pha", mute_constraints=True)
    animation: Any = rig.animation_data
    ours, own, scene = animation.action, bpy.data.actions.new("Own"), bpy.context.scene
    assert scene is not None and all(c.mute for c in led)
    for other in (own, None):
        animation.action = other
        scene.frame_set(FRAME)
        assert not any(c.mute for c in led)
        animation.action = ours
        bpy.context.view_layer.update()
        assert all(c.mute for c in led)
    animation.action = own  # nothing is evaluated before the file is saved
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "own.blend"))
    assert not any(c.mute for c in led)


def test_a_file_is_put_right_as_it_is_opened(rig: bpy.types.Object, library: Path, led: list[Any],
                                             tmp_path: Path) -> None:
    play(library / "dance.pha", mute_constraints=True)
    names = [(c.id_data.name, bone.name, c.name) for bone in rig.pose.bones for c in bone.constraints]
    assert names and rig.animation_data is not None
    constraints.unregister()
    rig.animation_data.action = None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "none.blend"))
    assert all(c.mute for c in led)
    constraints.register()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "none.blend"))
    opened: Any = bpy.data.objects
    assert not any(opened[ob].pose.bones[bone].constraints[name].mute for ob, bone, name in names)


def test_constraints_of_no_ancestor_of_a_played_bone_keep_acting(rig: bpy.types.Object, library: Path) -> None:
    outer = bpy.data.objects.new("Outer", None)
    bpy.context.collection.objects.link(outer)
    looks = constrain(rig, "x_tail", "COPY_ROTATION")
    looks.target = outer
    play(library / "dance.pha", mute_constraints=True)
    assert not looks.mute


def test_removed_constraints_and_bones_do_no_harm(rig: bpy.types.Object, library: Path, led: list[Any]) -> None:
    play(library / "dance.pha", mute_constraints=True)
    rig.pose.bones["l_hip"].constraints.remove(led[0])
    entry = properties.character(rig).muted.add()
    entry.bone, entry.name = "gone", "Copy Rotation"
    constraints.unmute(rig)
    assert not led[1].mute and not len(properties.character(rig).muted)


def test_the_bones_that_ik_leads_are_named(rig: bpy.types.Object) -> None:
    ik = constrain(rig, "l_knee", "IK", "x_tail", chain_count=2)
    assert constraints.controlled_bones(rig) == ("l_hip", "l_knee")
    ik.chain_count = 0
    assert constraints.controlled_bones(rig) == ("HumanoidRoot", "l_hip", "l_knee")
    ik.chain_count, ik.use_tail = 1, False
    assert constraints.controlled_bones(rig) == ("l_hip",)
    ik.mute = True
    assert constraints.controlled_bones(rig) == ()


def test_an_action_of_the_controls_is_read_as_if_nothing_were_muted(rig: bpy.types.Object, library: Path,
                                                                     led: list[Any]) -> None:
    """The rig's own Action turns a control that leads the hip; a score plays it on the same rig."""
    del led
    bone = rig.pose.bones["x_tail"]
    bone.rotation_mode = "QUATERNION"
    for frame, turn in ((1, (1, 0, 0, 0)), (25, (0.6, 0.8, 0, 0))):
        bone.rotation_quaternion = turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    action = rig.animation_data.action
    action.name = "Swing"
    action.use_fake_user = True
    path = library / "swing.pha"
    path.write_text('<pha tickLength="1"><load src="Swing"/><procedure name="main">'
                    '<call name="Swing" duration="1"/></procedure></pha>', encoding="utf-8")
    for each in [*bone.constraints]:
        bone.constraints.remove(each)
    play(path, mute_constraints=False)
    first = score.motion_of(rig)
    assert first is not None and first.clips[0].moved[first.skeleton.index_of["l_hip"]]
    properties.character(rig).mute_constraints = True
    rebuild()
    score.forget()
    rebuild()
    again = score.motion_of(rig)
    assert again is not None and again is not first
    times = np.linspace(0.0, 1.0, 5)
    assert rot.angle_between(first.sample(times).rotations, again.sample(times).rotations).max() < ANGLE_RAD


def test_an_action_of_a_score_is_read_as_it_plays(rig: bpy.types.Object, library: Path, led: list[Any]) -> None:
    """As another score calls it, or a saved file holds it: also where nothing follows the Action that is assigned."""
    play(library / "dance.pha")
    motion, scene, action = score.motion_of(rig), bpy.context.scene, properties.character(rig).action
    assert motion is not None and action is not None and all(each.mute for each in led)
    fps = scene.render.fps / scene.render.fps_base
    constraints.unregister()
    try:
        clip = curves.read_clip(curves.fit(action, rig), armature.read_skeleton(rig), fps)
    finally:
        constraints.register()
    times = np.arange(20) / fps
    np.testing.assert_allclose(rot.angle_between(clip.sample(times).rotations, motion.sample(times).rotations), 0.0,
                               atol=ANGLE_RAD)


def test_a_constraint_that_the_user_adds_is_never_muted(rig: bpy.types.Object, library: Path, led: list[Any]) -> None:
    play(library / "dance.pha")
    added = constrain(rig, "r_hip", "COPY_LOCATION", "x_tail")
    rebuild()
    assert not added.mute and all(c.mute for c in led)
    properties.character(rig).mute_constraints = False
    rebuild()
    assert not any(c.mute for c in (added, *led))
    properties.character(rig).mute_constraints = True
    rebuild()
    assert all(c.mute for c in (added, *led)), "switched on, it mutes what is there then"


def test_a_constraint_that_the_user_lets_act_is_never_muted_again(rig: bpy.types.Object, library: Path,
                                                                  led: list[Any], tmp_path: Path) -> None:
    play(library / "dance.pha")
    led[0].mute = False
    rebuild()
    assert [c.mute for c in led] == [False, True, True]
    animation: Any = rig.animation_data
    ours, animation.action = animation.action, None
    bpy.context.view_layer.update()
    assert not any(c.mute for c in led)
    animation.action = ours
    bpy.context.view_layer.update()
    assert [c.mute for c in led] == [False, True, True]
    names = [(bone.name, c.name) for c in led for bone in rig.pose.bones if any(c == own for own in bone.constraints)]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "free.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "free.blend"))
    rebuild()
    bones: Any = bpy.data.objects["Rig"].pose
    assert [bones.bones[bone].constraints[name].mute for bone, name in names] == [False, True, True]
    bones.bones[names[1][0]].constraints[names[1][1]].mute = False
    rebuild()
    assert [bones.bones[bone].constraints[name].mute for bone, name in names] == [False, False, True]


def test_of_an_older_file_only_what_was_muted_is_muted_again(rig: bpy.types.Object, library: Path,
                                                             led: list[Any]) -> None:
    play(library / "dance.pha")
    constraints.forget_met(rig)  # as in a file of a version that did not keep what it met
    added = constrain(rig, "r_hip", "COPY_LOCATION", "x_tail")
    rebuild()
    assert not added.mute and all(c.mute for c in led)
