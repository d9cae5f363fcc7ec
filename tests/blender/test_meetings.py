"""Hands of two characters meet: in their Actions as in what the preview draws, wherever these stand."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import write_motion
from takt.bridge.scores import following, score
from takt.core.maths.arrays import FloatArray
from takt.core.playing.scene.reach import Reaching
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.blender.dancing import activate, sample_with_score
from takt.tests.blender.test_cast import rebuilt

SCORE = """<pha version="2" tickLength="1"><load src="gestures.Greetings"/>
  <role name="partner" is="person"/>
  <procedure name="main"><together>
    <lane><call name="hello" duration="8"/></lane>
    <lane><wait duration="{begin}"/><meet person="partner" with="{own} hand" hand="{hand} hand" duration="2" hold="3"/>
      <wait duration="{rest}"/></lane>
  </together></procedure>
</pha>
"""
FPS, LEG_M = 24, 0.825
TOGETHER = np.linspace(3.0, 6.0, 7) * FPS + 1


def imported(path: Path, score_text: str, frame_start: int = 1) -> bpy.types.Object:
    """Return a new sample character with a score that begins at a frame."""
    armature_object = sample_with_score(path, score_text)
    properties.character(armature_object).frame_start = frame_start
    return armature_object


@pytest.fixture
def two(tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Return two characters who face each other; the second one's score begins half a second later."""
    one = imported(tmp_path / "one.pha", SCORE.format(begin=1, rest=2, own="right", hand="left"))
    other = imported(tmp_path / "other.pha", SCORE.format(begin=0.5, rest=2.5, own="left", hand="right"), 13)
    other.location, other.rotation_euler = (0.1, -0.8, 0.0), (0.0, 0.0, np.pi + 0.2)
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    for each, partner in ((one, other), (other, one)):
        properties.character(each).cast["partner"].target = partner
    return one, other


def palm(armature_object: bpy.types.Object, side: str, frame: float) -> FloatArray:
    """Return where a palm is in the world as Blender poses it, (3,)."""
    motion, scene = score.motion_of(armature_object), bpy.context.scene
    assert motion is not None and motion.body is not None and scene is not None and armature_object.pose is not None
    scene.frame_set(int(frame))
    reaching = Reaching.of(motion.body, side)
    assert reaching is not None
    bone = armature_object.pose.bones[motion.skeleton.names[reaching.limb.last]]
    matrix = np.array(armature_object.matrix_world) @ np.array(bone.matrix)
    return np.asarray(matrix[:3, :3] @ reaching.palm + matrix[:3, 3])


def apart(one: bpy.types.Object, other: bpy.types.Object) -> float:
    return max(float(np.linalg.norm(palm(one, "r", frame) - palm(other, "l", frame))) for frame in TOGETHER)


def test_hands_meet_in_the_actions_and_in_what_is_drawn(two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    for each in two:
        activate(each)
        rebuilt()
        assert not score.warnings_of(each)
    assert apart(*two) < 0.01 * LEG_M
    for each, side in zip(two, "rl", strict=True):
        motion = score.shown(each)
        assert motion is not None and motion.body is not None
        reaching, own = Reaching.of(motion.body, side), properties.character(each)
        assert reaching is not None
        drawn = world_from_pose(motion.skeleton, motion.sample((TOGETHER - own.frame_start) / FPS))
        from_model = np.array(each.matrix_world)
        for there, frame in zip(reaching.palms(drawn), TOGETHER, strict=True):
            assert np.linalg.norm(from_model[:3, :3] @ there + from_model[:3, 3] - palm(each, side, frame)) < 1e-3


def test_who_is_moved_or_rewritten_makes_the_other_ones_action_older(
        two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    one, other = two
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and layer is not None
    for each in two:
        activate(each)
        rebuilt()
    before = write_motion.digest(one, scene)
    assert before == write_motion.digest(one, scene)
    other.location[0] = 0.2
    layer.update()
    moved = write_motion.digest(one, scene)
    assert moved != before
    text = properties.character(other).text
    assert text is not None
    text.from_string(text.as_string().replace('hold="3"', 'hold="3" weight="2"'))
    assert write_motion.digest(one, scene) == write_motion.digest(one, scene) != moved
    text.from_string(text.as_string().replace(' weight="2"', ""))
    for each in two:
        activate(each)
        rebuilt()
    assert apart(one, other) < 0.01 * LEG_M


def test_who_is_read_anew_is_met_where_it_is_then(two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    one, other = two
    before = [score.motion_of(each) for each in two]
    score.forget(other)  # as Rebuild does, since files may have changed
    after = [score.motion_of(each) for each in two]
    assert None not in before and after[0] is not before[0] and after[1] is not before[1]
    assert score.motion_of(one) is after[0]


def test_whose_score_is_gone_or_wrong_is_not_met_and_that_is_told(
        two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    one, other = two
    activate(one)
    text = properties.character(other).text
    assert text is not None
    said = text.as_string()
    text.from_string(said.replace("</pha>", ""))
    rebuilt()
    assert any("'partner' has a score that cannot be played" in each.message for each in score.warnings_of(one))
    properties.character(other).text = None
    rebuilt()
    assert any("'partner' has no score" in each.message for each in score.warnings_of(one))
    text.from_string(said)
    properties.character(other).text = text
    rebuilt()
    assert not score.warnings_of(one) and not following.is_older(one)


def test_who_is_drawn_waits_for_nobody_and_then_meets(two: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    one, other = two
    score.forget()
    told = list[int]()
    with score.while_drawing(lambda: told.append(1)):
        first = score.shown(one)
        score.shown(other)
    assert first is None and score.is_waiting(one)
    assert score.motion_of(one) is not None  # who does not draw waits for nothing
    score.forget()
    with score.while_drawing(lambda: told.append(1)):
        score.shown(one)
    for _ in range(1000):
        if not (score.is_waiting(one) or score.is_waiting(other)):
            break
        score._perform_waiting()
    with score.while_drawing(lambda: told.append(1)):
        found = score.shown(one)
        if found is None:
            assert score.is_waiting(other)
    for _ in range(1000):
        if not (score.is_waiting(one) or score.is_waiting(other)):
            break
        score._perform_waiting()
    with score.while_drawing(lambda: told.append(1)):
        found = score.shown(one)
    assert found is not None and not [each for each in found.problems if each.message.startswith("<meet>")]
    assert told
