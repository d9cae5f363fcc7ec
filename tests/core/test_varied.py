"""Motions that are seen in turn, each at its own pose of the instant."""

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.playing.varied import Varied
from takt.samples.skeleton import build_skeleton

from .test_score_motion import RUN, WALK, assert_poses, played, score


def test_each_instant_is_of_the_motion_that_is_seen_then() -> None:
    walk, run = played(score(WALK)), played(score(RUN))
    seen = Varied.of((walk, run), (0.0, 0.5, 1.25), (0, 1, 0))
    times = np.array((1.3, 0.5, 0.0, 0.49, 1.2, 1.25, 9.0))
    for time, motion in zip(times, (walk, run, walk, walk, run, walk, walk), strict=True):
        assert_poses(seen.sample(np.array((time,))), motion.sample(np.array((time,))))
    assert_poses(seen.sample(times[:1]), seen.sample(times).at(np.array((0,))))
    assert seen.duration_s == walk.duration_s > run.duration_s
    assert seen.moved.tolist() == (walk.moved | run.moved).tolist() != walk.moved.tolist()


def test_only_motions_of_one_skeleton_are_seen_in_turn() -> None:
    walk = played(score(WALK))
    for motions in ((), (walk, Other())):
        with pytest.raises(TaktError, match="one or more, all of one skeleton"):
            Varied.of(motions, (0.0,), (0,))  # type: ignore[arg-type]


class Other:
    """What moves another body."""

    skeleton = build_skeleton().turned(np.array((0.0, 1.0, 0.0, 0.0)))
