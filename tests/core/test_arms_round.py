"""Arms go round the trunk from one clip to the next, where both clips have them outside."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.arms import Arms, arms_of
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.retargeting.contacts.arms import ArmsInFrames
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library, procedure, programme

from .corrected_maps import corrected

BODY = build_skeleton()
BESIDE = arms_of(find_map(BODY))
JOINTS = np.array([BODY.index_of["l_shoulder"], BODY.index_of["l_elbow"]])
UP = np.array((0.0, 1.0, 0.0))
OUTSIDE, INSIDE = 0.03, -0.1
"""Of the trunk's length."""
EXACT = 1e-9
MEAN_LEFT, MOST_LEFT = 0.4, 0.75
"""Of how deep and how long arms were in the trunk."""
METHODS = ("LEAD", "END", "BOTH", "INSERT", "APPEND", "INERTIALIZE")


def outside(pose: Pose) -> FloatArray:
    """Return how far the left elbow, forearm, wrist and palm are outside the trunk, (F, 4)."""
    assert BESIDE is not None
    return ArmsInFrames(BESIDE.beside, BESIDE.world(pose)).outside(0)[0]


def posed(turns: FloatArray) -> Pose:
    pose = Pose.rest(BODY, len(turns))
    pose.rotations[:, JOINTS] = turns
    return pose


@cache
def crossings() -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Return pairs of turns of shoulder and elbow, (2, 4) each, that are outside and have the trunk between them."""
    rng = np.random.default_rng(2)
    shoulder = rot.exp(rng.normal(size=(3000, 3)) * 0.5)
    elbow = rot.from_axis_angle(np.array((-1.0, 0.0, 0.0)), rng.uniform(0.2, 1.6, 3000))
    turns = np.stack((shoulder, elbow), axis=1)
    turns = turns[outside(posed(turns)).min(axis=1) > OUTSIDE]
    one, other = turns[:len(turns) // 2], turns[len(turns) // 2:][:len(turns) // 2]
    between = outside(posed(rot.slerp(one, other, np.full(one.shape[:2], 0.5)))).min(axis=1)
    return tuple((one[i], other[i]) for i in np.argsort(between)[:4] if between[i] < INSIDE)


def held(name: str, turns: FloatArray) -> Clip:
    """Return a clip that holds an arm, a little livelier than stone."""
    times = np.linspace(0.0, 2.0, 9)
    lively = rot.exp(0.01 * np.sin(times[:, None, None] * np.ones((1, 2, 3))))
    return Clip(name, BODY, 2.0, Tracks.uniform(JOINTS, times, rot.multiply(turns, lively)), Tracks.empty(3),
                Tracks.empty(3))


def moved(pair: tuple[FloatArray, FloatArray], **settings: object) -> Motion:
    chosen = replace(Settings(root_motion="AS_AUTHORED", lock_feet=True), **settings)  # type: ignore[arg-type]
    score = programme(procedure("main", 'here duration="2" transition="1"', 'there duration="2" transition="1"'),
                      clips=library(feet_Steps=(held("here", pair[0]), held("there", pair[1]))))
    return play(score, Performer(BODY, UP), chosen)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_arms_go_round_the_trunk_between_clips_that_have_them_outside(method: str) -> None:
    """By as much as one smooth way round can: deep and long in the trunk before, a third of it afterwards."""
    assert len(crossings()) > 2
    shares = []
    for pair in crossings():
        through, round_it = moved(pair, method=method, lock_feet=False), moved(pair, method=method)
        times = np.linspace(0.0, through.duration_s, 400)
        before, after = (np.minimum(outside(motion.sample(times)).min(axis=1), 0.0) for motion in (through, round_it))
        assert before.min() < 2.0 * INSIDE
        shares.append(after.sum() / before.sum())
    assert np.mean(shares) < MEAN_LEFT and max(shares) < MOST_LEFT


def test_one_frame_alone_is_what_all_together_are_and_clips_stay_as_they_are() -> None:
    for pair in crossings()[:2]:
        through, round_it = moved(pair, lock_feet=False, loop=True), moved(pair, loop=True)
        times = np.linspace(0.0, through.duration_s, 97)
        together = round_it.sample(times)
        alone = np.concatenate([round_it.sample(times[[i]]).rotations for i in range(len(times))])
        np.testing.assert_allclose(alone, together.rotations, atol=EXACT)
        seam, _ = round_it.row.windows(times)
        assert (seam < 0).any()
        arms = [BODY.index_of[f"l_{part}"] for part in ("shoulder", "elbow", "wrist")]
        clips = through.sample(times).rotations[seam < 0][:, arms]
        np.testing.assert_allclose(together.rotations[seam < 0][:, arms], clips, atol=EXACT)


def test_arms_do_not_jump_on_their_way_round() -> None:
    for pair in crossings():
        speeds = []
        for motion in (moved(pair, lock_feet=False), moved(pair)):
            times = np.linspace(0.0, motion.duration_s, 1201)
            wrist = world_from_pose(BODY, motion.sample(times))[:, BODY.index_of["l_wrist"], :, 3]
            speeds.append(np.linalg.norm(np.diff(wrist, axis=0), axis=1).max())
        assert speeds[1] < 3.0 * speeds[0]


def test_as_authored_and_without_arms_there_is_nothing_to_do() -> None:
    assert not isinstance(moved(crossings()[0], lock_feet=False).end, Arms)
    assert arms_of(corrected(find_map(BODY), {"l_elbow": None})) is None
