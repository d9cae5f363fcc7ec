"""Clips that nobody has seen are those that were: elsewhere, turned, slower, and maybe mirrored."""

from dataclasses import replace

import numpy as np
import pytest

from takt.benchmarks.altered_clips import ADDED, Alteration, altered
from takt.core.clips.clip import Clip
from takt.core.clips.excerpt import mirrored
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.mirror import Mirror
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton

UP = np.array((0.0, 1.0, 0.0))
BODY = build_skeleton()
CLIP = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == "quarter_left")
HOW = Alteration((0.25, 0.75), 1.25, 60.0, 1.0, (2.0, -1.0), is_mirrored=False, has_travel=False)
LEG_M = 0.8
SLACK_M = 2e-3
"""Keys at another rate are not quite where the clip's own keys were."""


def positions(clip: Clip, times_s: FloatArray) -> FloatArray:
    """Return where the joints of the body are, (F, J, 3)."""
    found = world_from_pose(clip.skeleton, clip.sample(times_s, "SLERP"))[..., 3]
    return np.asarray(found[:, [clip.skeleton.index_of[name] for name in BODY.names]])


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize("has_travel", [False, True])
def test_an_altered_clip_is_the_clip_at_another_pace_and_another_place(is_mirrored: bool, has_travel: bool) -> None:
    found = find_map(BODY)
    new = altered(CLIP, found, UP, LEG_M, replace(HOW, is_mirrored=is_mirrored, has_travel=has_travel))
    times = np.linspace(0.0, new.duration_s, 50)
    assert new.duration_s == pytest.approx(0.5 * CLIP.duration_s * 1.25, abs=1.0 / HOW.fps)
    assert (ADDED in new.skeleton.index_of) is has_travel
    whole = mirrored(CLIP, Mirror.of(found)) if is_mirrored else CLIP
    own = positions(whole, 0.25 * CLIP.duration_s + times * (0.5 * CLIP.duration_s / new.duration_s))
    moved = rot.rotate(rot.from_axis_angle(UP, HOW.turn_rad), own)
    away = positions(new, times) - moved
    np.testing.assert_allclose(away, np.broadcast_to(away[0, 0], away.shape), atol=SLACK_M)
    assert abs(away[0, 0] @ UP) < SLACK_M
    assert np.linalg.norm(away[0, 0]) == pytest.approx(np.hypot(*HOW.shift_legs) * LEG_M, abs=SLACK_M)


def test_alterations_by_chance_leave_clips_long_enough_and_come_again_by_their_seed() -> None:
    for seed in range(50):
        one, other = (Alteration.by_chance(np.random.default_rng(seed), 2.0) for _ in range(2))
        assert one == other and 0.0 <= one.part[0] < one.part[1] <= 1.0 and one.part[1] - one.part[0] >= 0.5
    assert Alteration.by_chance(np.random.default_rng(1), 0.8).part == (0.0, 1.0)


def test_what_moved_no_joint_but_the_root_moves_no_other_then() -> None:
    new = altered(CLIP, find_map(BODY), UP, LEG_M, HOW)
    assert np.flatnonzero(new.moved != CLIP.moved).tolist() in ([], [0])
