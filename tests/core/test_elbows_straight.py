"""Elbows that are stretched quickly as one clip ends stay straight in the transition, and do not bend backwards."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library, procedure, programme

BODY = build_skeleton()
ARM = [BODY.index_of[f"l_{part}"] for part in ("shoulder", "elbow", "wrist")]
ELBOW = np.array((BODY.index_of["l_elbow"],))
UP, HINGE = np.array((0.0, 1.0, 0.0)), np.array((-1.0, 0.0, 0.0))
LASTS_S = 1.5
PAST_DEG, SMOOTH = 8.0, 1.6


def bending(name: str, angles_deg: FloatArray, aside_deg: float) -> Clip:
    """Bend the left elbow by angles over the clip, about an axis that is a little off the usual one."""
    times = np.linspace(0.0, LASTS_S, len(angles_deg))
    axis = rot.rotate(rot.from_axis_angle(UP, np.radians(aside_deg)), HINGE)
    turns = rot.from_axis_angle(axis, np.radians(angles_deg))
    return Clip(name, BODY, LASTS_S, Tracks.uniform(ELBOW, times, turns[:, None]), Tracks.empty(3), Tracks.empty(3))


def joined(method: str, low_deg: float, speed_deg: float, aside_deg: float = 0.0, *, feet: bool = True) -> Motion:
    times = np.linspace(0.0, LASTS_S, 90)
    stretched = np.minimum(low_deg + speed_deg * (LASTS_S - times), 110.0)
    other = np.full(90, low_deg + 5.0)
    clips = bending("stretches", stretched, aside_deg), bending("stays", other, -aside_deg)
    score = programme(procedure("main", f'stretches duration="{LASTS_S}" transition="0.5"',
                                f'stays duration="{LASTS_S}"'), clips=library(feet_Steps=clips))
    settings = replace(Settings(root_motion="AS_AUTHORED", lock_feet=feet), method=method)
    return play(score, Performer(BODY, UP), settings)


def bends_deg(motion: Motion, times: FloatArray) -> FloatArray:
    """Return how far the elbow is bent forwards, (F,)."""
    upper, fore = np.diff(world_from_pose(BODY, motion.sample(times))[..., 3][:, ARM], axis=1).swapaxes(0, 1)
    world = world_from_pose(BODY, motion.sample(times))[:, ARM[0], :, :3]
    return np.asarray(np.degrees(np.arctan2((rot.cross(upper, fore) * (world @ HINGE)).sum(axis=1),
                                            (upper * fore).sum(axis=1))))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["LEAD", "INERTIALIZE"])
@pytest.mark.parametrize(("low_deg", "speed_deg"), [(10.0, 300.0), (20.0, 500.0), (35.0, 700.0)])
@pytest.mark.parametrize("aside_deg", [0.0, 15.0])
def test_elbows_stay_straight_where_they_would_bend_backwards(method: str, low_deg: float, speed_deg: float,
                                                              aside_deg: float) -> None:
    times = np.linspace(0.0, 2.0 * LASTS_S, 721)
    free, kept = (joined(method, low_deg, speed_deg, aside_deg, feet=feet) for feet in (False, True))
    before, after = bends_deg(free, times), bends_deg(kept, times)
    assert before.min() < -PAST_DEG if method == "INERTIALIZE" else True
    assert after.min() > -PAST_DEG
    assert np.abs(np.diff(after)).max() < SMOOTH * np.abs(np.diff(before)).max()
    outside = kept.row.windows(times)[0] < 0
    np.testing.assert_allclose(kept.sample(times).rotations[outside][:, ELBOW],
                               free.sample(times).rotations[outside][:, ELBOW], atol=1e-12)


def test_one_frame_alone_is_what_all_together_are() -> None:
    motion, times = joined("INERTIALIZE", 20.0, 500.0), np.linspace(1.0, 2.5, 61)
    together = motion.sample(times).rotations
    alone = np.concatenate([motion.sample(times[[i]]).rotations for i in range(len(times))])
    np.testing.assert_allclose(alone, together, atol=1e-12)


def test_elbows_that_a_clip_itself_has_past_straight_are_so_in_transitions_too() -> None:
    motion, times = joined("INERTIALIZE", -15.0, 400.0), np.linspace(0.0, 2.0 * LASTS_S, 721)
    assert bends_deg(motion, times).min() == pytest.approx(-15.0, abs=PAST_DEG)
