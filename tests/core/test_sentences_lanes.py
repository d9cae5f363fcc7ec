"""Version 2 of the score language, sentence by sentence: what lanes, parts and directions do to the poses."""

from itertools import permutations

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.playing.motion import Motion
from takt.core.playing.transitions.curves import CURVES
from takt.core.skeletons.skeleton import world_from_pose

from .test_lanes_in_motion import swinging
from .test_score_motion import (
    BODY,
    EXACT,
    INSTANTS,
    MAP,
    RUN,
    WALK,
    assert_poses,
    assert_same,
    differ,
    lane,
    played,
    score,
    together,
)

ARM = np.array([MAP.joint_of["r_shoulder"]])
HIGH, LOW, FAR = (swinging(name, ARM, 0.0, shift=shift) for name, shift in (("high", 1.2), ("low", 0.2), ("far", 0.7)))
STILL = Library(other_clips=lambda src: (HIGH, LOW, FAR) if src == "a.B" else None)
"""Clips that hold the arm turned about one axis, by so many radians."""

TO_CUT = 'together transition="0" '


def hold(name: str) -> str:
    return f'<call name="{name}" duration="2"/>'


def angles(motion: Motion, times: np.ndarray) -> np.ndarray:
    """Return how far the arm is turned about the axis."""
    return np.asarray(rot.log(motion.sample(times).rotations[:, ARM[0]])[:, 2])


def angle_of(*lanes: str, at: float = 1.0, **settings: object) -> float:
    return float(angles(played(score(together(*lanes)), STILL, **settings), np.array((at,)))[0])


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_replace_is_the_pose_below_blended_with_the_lane_by_its_weight(weight: float) -> None:
    found = angle_of(lane(hold("low")), lane(hold("high"), f'weight="{weight}" ease="0"'))
    assert found == pytest.approx(0.2 + weight * (1.2 - 0.2), abs=EXACT)


@pytest.mark.parametrize(("weights", "wanted"), [
    ((0.5, 0.5), 0.5 * (1.2 + 0.7)),
    ((0.25, 0.25), 0.5 * 0.2 + 0.25 * 1.2 + 0.25 * 0.7),  # what lies below has the rest
    ((3.0, 1.0), 0.75 * 1.2 + 0.25 * 0.7),  # scaled to 1
    ((0.0, 0.0), 0.2),
])
def test_mixing_lanes_are_averaged_by_their_weights_and_what_lies_below_has_the_rest(
        weights: tuple[float, float], wanted: float) -> None:
    mixing = [lane(hold(name), f'mode="mix" weight="{weight}" ease="0"')
              for name, weight in zip(("high", "far"), weights, strict=True)]
    assert angle_of(lane(hold("low")), *mixing) == pytest.approx(wanted, abs=EXACT)


def test_the_order_of_mixing_lanes_does_not_matter() -> None:
    lanes = [lane(f'<call name="{name}" duration="2"/>', f'mode="mix" weight="{weight}"')
             for name, weight in (("walk", 0.5), ("clap", 0.3), ("wave", 0.7), ("clap", 0.2))]
    lanes[0] = lanes[0].replace("mode", 'body="lower" mode')  # the root is the first lane's, whichever that is
    first = played(score(together(*lanes)))
    for order in list(permutations(lanes))[1::5]:
        assert_same(played(score(together(*order))), first, 1e-7)


def test_lanes_between_mixing_ones_keep_them_apart() -> None:
    """Only neighbours are averaged; the last one here lies over the two others."""
    lanes = [lane(hold("high"), 'mode="mix"'), lane(hold("low"), 'weight="0"'),
             lane(hold("far"), 'mode="mix" weight="0.5" ease="0"')]
    assert angle_of(*lanes) == pytest.approx(0.5 * (1.2 + 0.7), abs=EXACT)
    assert angle_of(lanes[0], lanes[2]) == pytest.approx((1.2 + 0.5 * 0.7) / 1.5, abs=EXACT)


@pytest.mark.parametrize(("modes", "is_said"), [
    (("replace", "mix"), True), (("mix",), True), (("mix", "add", "mix"), True),
    (("mix", "mix", "replace", "mix"), True), (("mix", "mix"), False),
    (("replace", "mix", "mix", "mix"), False), (("replace", "add"), False)])
def test_a_mix_that_nothing_is_mixed_with_is_told(modes: tuple[str, ...], is_said: bool) -> None:
    lanes = [lane(hold("high"), f'mode="{mode}" weight="0.5"') for mode in modes]
    said = [str(each) for each in played(score(together(*lanes)), STILL).problems]
    assert sum("to average two lanes" in each for each in said) == is_said, said


def test_add_is_the_motion_since_the_lanes_first_pose_by_the_weight() -> None:
    """For each joint: below · exp(weight · log(first⁻¹ · now)), while it neither comes nor goes."""
    base, run = played(score(WALK)), played(score('<call name="run" duration="2"/>'))
    added = lane('<call name="run" duration="2"/>', 'mode="add" body="upper" weight="0.4" ease="0"')
    motion, times = played(score(together(lane(WALK), added))), np.linspace(0.0, 2.0, INSTANTS)
    arm = MAP.joint_of["l_shoulder"]
    now, first = run.sample(times).rotations[:, arm], run.sample(np.zeros(1)).rotations[:, arm]
    wanted = rot.multiply(base.sample(times).rotations[:, arm],
                          rot.exp(0.4 * rot.log(rot.multiply(rot.conjugate(first), now))))
    assert rot.angle_between(motion.sample(times).rotations[:, arm], wanted).max() < EXACT


@pytest.mark.parametrize("curve", ["LINEAR", "COSINE", "SMOOTHER"])
def test_a_weight_runs_over_the_block_by_the_chosen_curve(curve: str) -> None:
    motion = played(score(together(lane(hold("low")), lane(hold("high"), 'weight="0" weightEnd="1" ease="0"'))), STILL,
                    curve=curve)
    times = np.linspace(0.0, 2.0, INSTANTS)
    np.testing.assert_allclose(angles(motion, times), 0.2 + CURVES[curve].rise(times / 2.0), atol=EXACT)


def test_an_ease_of_0_is_at_once_and_others_take_their_ticks() -> None:
    waving = '<wait duration="2"/>' + hold("high") + '<wait duration="2"/>'
    for ease, share in (('ease="0"', 1.0), ('ease="1"', 0.5), ('easeIn="2" easeOut="0"', None)):
        motion = played(score(together(lane('<call name="low" duration="6"/>'), lane(waving, ease))), STILL)
        middle = angles(motion, np.array((1.99, 2.5, 3.999, 4.01)))
        wanted = 0.2 + (share if share is not None else float(CURVES["SMOOTHER"].rise(np.array((0.25,)))[0]))
        assert middle[[0, 1, 3]] == pytest.approx((0.2, wanted, 0.2), abs=1e-6)
    assert middle[2] == pytest.approx(1.2, abs=1e-2)  # it goes at once


def test_a_together_is_a_clip_for_repeats_reverse_and_tempo() -> None:
    block = together(lane(WALK, 'body="lower"'), lane('<call name="wave" duration="2"/>', 'body="right_arm"'))
    times = np.linspace(0.0, 1.999, INSTANTS)
    once, twice = (played(score(each), root_motion="IN_PLACE")
                   for each in (block, f'<loop times="2">{block.replace("together ", TO_CUT, 1)}</loop>'))
    assert_poses(twice.sample(times + 2.0), once.sample(times), 1e-7)
    forwards, backwards = (played(score(f'<call name="b" duration="2" {how}/>',
                                        more=f'<procedure name="b">{block}</procedure>'), root_motion="AS_AUTHORED")
                           for how in ("", 'reverse="yes"'))
    assert_poses(backwards.sample(2.0 - times), forwards.sample(times))
    slow, usual = played(score(block, head='<tempo tick="0" tickLength="3"/>')), played(score(block))
    assert slow.duration_s == pytest.approx(6.0)
    assert_poses(slow.sample(3.0 * times), usual.sample(times))


def test_the_first_lane_that_has_the_root_carries_travel_and_heading() -> None:
    run = '<call name="run" duration="2"/>'
    for first, second in ((WALK, run), (run, WALK)):
        both = played(score(together(lane(first, 'body="lower"'), lane(second, 'mode="mix" weight="0.5"'))))
        own = played(score(first))
        root = MAP.joint_of["HumanoidRoot"]
        ends = [world_from_pose(BODY, motion.sample(np.array((2.0,))))[0, root, :, 3] for motion in (both, own)]
        np.testing.assert_allclose(ends[0][[0, 2]], ends[1][[0, 2]], atol=1e-9)


def test_forwards_and_backwards_a_part_is_played_as_in_the_clip() -> None:
    parts = ('<call name="run" duration="1" from="0.25" to="0.75" transition="0"/>'
             '<call name="run" duration="1" from="0.25" to="0.75" reverse="yes"/>')
    motion = played(score(parts), root_motion="AS_AUTHORED")
    whole = played(score('<call name="run" duration="2"/>'), root_motion="AS_AUTHORED")
    times = np.linspace(0.0, 0.999, INSTANTS)
    assert_poses(motion.sample(times), whole.sample(0.5 + times))
    assert_poses(motion.sample(2.0 - times), whole.sample(0.5 + times))


def test_waits_at_the_start_hold_rest_and_in_lanes_show_what_lies_below() -> None:
    quiet = lane('<wait duration="2"/>', 'body="right_arm"')
    assert_same(played(score(together(lane(RUN + WALK), quiet))), played(score(together(lane(RUN + WALK)))))
    assert differ(played(score(RUN + WALK)), played(score(WALK + RUN))) > 0.1


def test_a_lane_whose_clip_moves_nothing_of_its_body_is_told_at_its_call() -> None:
    for body, is_told in (("right_arm", False), ("upper", False), ("left_arm", True), ("legs", True)):
        motion = played(score(together(lane(hold("far")), "\n" + lane(hold("high"), f'body="{body}"'))), STILL)
        told = [each for each in motion.problems if "moves nothing of" in each.message]
        assert len(told) == is_told
        for problem in told:
            assert f"'a.B.high' moves nothing of '{body}'" in problem.message
            assert problem.is_missed and problem.place.line == 2


def both_arms(name: str, right: float, left: float) -> Clip:
    """Return a clip that keys both arms, and turns each so far, in radians."""
    times, joints = np.linspace(0.0, 2.0, 97), np.array([MAP.joint_of[f"{side}_shoulder"] for side in "rl"])
    angles = np.sin(np.pi * times / 2.0)[:, None] * (right, left)
    return Clip(name, BODY, 2.0, Tracks.uniform(joints, times, rot.exp(angles[..., None] * (0.0, 0.0, 1.0))),
                Tracks.empty(3), Tracks.empty(3))


@pytest.mark.parametrize(("right", "left", "is_told"), [(1.2, 0.05, True), (1.2, 0.3, False), (0.3, 0.05, False)])
def test_a_clip_that_moves_the_other_arm_than_its_lane_is_told(right: float, left: float, is_told: bool) -> None:
    waving = Library(other_clips=lambda src: (both_arms("wave", right, left), HIGH) if src == "a.B" else None)
    for body, mirror, may_be in (("left_arm", "", True), ("right_arm", 'mirror="yes"', True), ("right_arm", "", False),
                                 ("arms", "", False)):
        text = together(lane(hold("high")), lane(f'<call name="wave" duration="2" {mirror}/>', f'body="{body}"'))
        told = [each for each in played(score(text), waving).problems if "but the other side by" in each.message]
        assert len(told) == (is_told and may_be)
        for problem in told:
            assert f"turns '{body}' by no more than 3°, but the other side by 69°" in problem.message
            assert problem.is_missed
