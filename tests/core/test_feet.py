"""Feet that stand: where, and that they stay there."""

import numpy as np
import pytest

from takt.core import rotations as rot
from takt.core.arrays import FloatArray
from takt.core.feet import EASE_S, SHORTEST_S, Leg, contacts, legs_of, lock_feet, runs
from takt.core.maps import find_map
from takt.core.skeleton import Pose, world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import RIGS, real, worn

UP = np.array((0.0, 1.0, 0.0))
SLIDE = 0.01
"""Of the leg's length, for each contact."""
LEG_M = 0.825


def sliding(places: FloatArray, planted: np.ndarray) -> list[float]:
    """Return how far a foot goes over the ground in each contact."""
    flat = places - (places @ UP)[:, None] * UP
    return [float(np.linalg.norm(flat[a:b] - flat[a:b].mean(axis=0), axis=1).max()) for a, b in runs(planted)]


def walking(drift: float) -> tuple[Pose, FloatArray]:
    """Return the sample's step, carried along by a drift that no foot makes up for."""
    clip = next(c for c in build_clips("feet/Steps.skeleton.xml") if c.name == "left_step")
    times = np.arange(0.0, clip.duration_s, 1 / 60)
    pose = clip.sample(times)
    pose.translations[:, 0, 2] += drift * times
    return pose, times


def feet(pose: Pose) -> tuple[FloatArray, FloatArray]:
    world = world_from_pose(build_skeleton(), pose)[..., 3]
    index = build_skeleton().index_of
    return world[:, index["l_metatarsal"]], world[:, index["r_metatarsal"]]


@pytest.mark.parametrize("drift", [0.05, 0.12, -0.1])
def test_planted_feet_stay_and_nothing_else_changes_much(drift: float) -> None:
    pose, times = walking(drift)
    found = find_map(build_skeleton())
    locked = lock_feet(found, pose, times, UP)
    seen = 0
    for before, after in zip(feet(pose), feet(locked), strict=True):
        planted = contacts(before, times, UP, LEG_M)
        seen += len(runs(planted))
        loose, held = sliding(before, planted), sliding(after, planted)
        assert all(h <= SLIDE * LEG_M for h in held)
        assert max(loose, default=1.0) > 2 * max(held, default=0.0)
        steps = np.linalg.norm(np.diff(after - before, axis=0), axis=1)
        assert steps.max() < 0.03  # eased: no jump from one frame to the next
    assert seen >= 1
    legs = {joint for leg in legs_of(found) for joint in (leg.hip, leg.knee, leg.ankle)}
    others = [j for j in range(len(build_skeleton())) if j not in legs]
    np.testing.assert_array_equal(locked.rotations[:, others], pose.rotations[:, others])
    index = build_skeleton().index_of
    for side in "lr":  # the foot keeps its rotation in the model
        one, other = (world_from_pose(build_skeleton(), p)[:, index[f"{side}_ankle"], :, :3] for p in (pose, locked))
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_foot_out_of_reach_is_followed_as_far_as_the_leg_goes() -> None:
    pose, times = walking(0.1)
    pose.translations[:, 0, 1] += 0.05
    locked = lock_feet(find_map(build_skeleton()), pose, times, UP)
    assert np.isfinite(locked.rotations).all()
    assert np.linalg.norm(locked.rotations, axis=-1) == pytest.approx(1.0)


def test_contacts_are_low_slow_and_not_too_short() -> None:
    times = np.arange(0.0, 2.0, 0.01)
    places = np.zeros((200, 3))
    places[:, 1] = 0.5 * ((times > 0.5) & (times < 1.5))
    places[:, 0] = np.where(times > 1.7, 2.0 * (times - 1.7), 0.0)
    planted = contacts(places, times, UP, 1.0)
    assert [(a / 100, b / 100) for a, b in runs(planted)] == [(0.0, 0.5), (1.51, 1.7)]
    assert not contacts(places[:int(SHORTEST_S * 100)], times[:int(SHORTEST_S * 100)], UP, 1.0).any()
    assert not contacts(places[:1], times[:1], UP, 1.0).any() and EASE_S > 0.0


def test_legs_are_those_that_hang_together() -> None:
    found = find_map(worn(RIGS["VRM"]))
    index = found.skeleton.index_of
    assert legs_of(found)[0] == Leg(index["leftUpperLeg"], index["leftLowerLeg"], index["leftFoot"], index["leftToes"])
    without = find_map(worn({j: n for j, n in RIGS["VRM"].items() if not j.endswith("metatarsal")}))
    assert all(leg.foot == leg.ankle for leg in legs_of(without))
    assert legs_of(find_map(real("Male_Suit"))) == ()
    pose = Pose.rest(find_map(real("Fox")).skeleton, 3)
    same = lock_feet(find_map(real("Fox")), pose, np.arange(3.0), UP)
    assert rot.angle_between(same.rotations, pose.rotations).max() == 0.0
