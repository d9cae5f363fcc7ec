"""Transitions between clips that take their speeds over: continuous at both ends, exact where motion is cubic."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.transitions.blending import Crossing
from takt.core.playing.transitions.carrying import LONGEST_S, carried_over
from takt.core.skeletons.skeleton import Pose
from takt.tests.core.scores import FIGURE, X, Y, library, turning
from takt.tests.core.sentences import motion

ARM, HIP = FIGURE.index_of["l_arm"], FIGURE.index_of["hip"]
INSTANT_S = 1e-5


def moving(name: str, times_s: FloatArray, angles: FloatArray, ways: FloatArray) -> Clip:
    """Make a clip of an arm that turns about x and a hip that goes along it."""
    own = times_s - times_s[0]
    turns, shifts = rot.from_axis_angle(X, angles)[:, None], (ways[:, None] * X)[:, None]
    return Clip(name, FIGURE, float(own[-1]), Tracks.uniform(np.array((ARM,)), own, turns),
                Tracks.uniform(np.array((HIP,)), own, shifts), Tracks.empty(3))


def gap(angle: np.polynomial.Polynomial, way: np.polynomial.Polynomial, length_s: float, pace: str) -> Motion:
    """Play what angle and way say for a second before and a second after a gap that lasts so long."""
    times = np.linspace(0.0, 1.0, 1001)
    parts = (moving(name, begin + times, angle(begin + times), way(begin + times))
             for name, begin in (("left", -1.0), ("right", length_s)))
    return motion(f'left duration="1" transition="{length_s}"', 'right duration="1"', method="APPEND", pace=pace,
                  clips=library(feet_Steps=tuple(parts)))


@pytest.mark.parametrize("length_s", [0.2, LONGEST_S])
def test_what_is_cubic_is_filled_exactly(length_s: float) -> None:
    angle, way = np.polynomial.Polynomial((0.3, 0.9, -1.1, 0.7)), np.polynomial.Polynomial((0.1, -0.5, 0.6, 1.2))
    m, times = gap(angle, way, length_s, "CARRIED"), np.linspace(0.0, length_s, 21)
    pose = m.sample(1.0 + times)
    assert rot.angle_between(pose.rotations[:, ARM], rot.from_axis_angle(X, angle(times))).max() < 2e-3
    assert pose.translations[:, HIP, 0] == pytest.approx(way(times), abs=2e-3)


@pytest.mark.parametrize("method", ["APPEND", "INSERT", "INSERT_BOTH"])
@pytest.mark.parametrize("length_s", [0.1, 0.4, 2.0])
def test_neither_pose_nor_speed_jumps(method: str, length_s: float) -> None:
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.4, 1.9), duration_s=2.0),
                                turning("right", Y, (0.9, -0.2, 0.4), duration_s=2.0)))
    m = motion(f'left duration="2" transition="{length_s}"', 'right duration="2"', method=method, pace="CARRIED",
               clips=clips)
    for edge in (m.layout.window_begin_s[0], m.layout.window_end_s[0]):
        q = m.sample(edge + INSTANT_S * np.array((-2.0, -1.0, 0.0, 1.0, 2.0))).rotations[:, ARM]
        speed = rot.log(rot.multiply(rot.conjugate(q[:-1]), q[1:])) / INSTANT_S
        assert np.linalg.norm(speed, axis=1) * INSTANT_S == pytest.approx(0.0, abs=1e-3)
        assert speed[0] == pytest.approx(speed[-1], abs=0.02)
    even = motion(f'left duration="2" transition="{length_s}"', 'right duration="2"', method=method, clips=clips)
    q = even.sample(even.layout.window_begin_s[0] + INSTANT_S * np.array((-1.0, 0.0, 1.0))).rotations[:, ARM]
    jump = np.diff(rot.log(rot.multiply(rot.conjugate(q[:-1]), q[1:])), axis=0) / INSTANT_S
    assert np.linalg.norm(jump) > 0.2  # as the thesis has it, the speed jumps


def test_far_from_both_ends_a_long_transition_is_even() -> None:
    calls = 'left duration="1" transition="2"', 'right duration="1"'
    carried, even = (motion(*calls, method="APPEND", pace=pace) for pace in ("CARRIED", "EVEN"))
    times = 1.0 + np.linspace(LONGEST_S, 2.0 - LONGEST_S, 9)
    assert rot.angle_between(carried.sample(times).rotations, even.sample(times).rotations).max() < 1e-9


def test_without_speeds_it_is_even_and_the_longer_arc_is_taken_where_it_is_wanted() -> None:
    one, other = (Pose.rest(FIGURE, 1) for _ in range(2))
    other.rotations[0, ARM] = rot.from_axis_angle(X, 1.0)
    is_long = np.zeros((1, len(FIGURE)), dtype=np.bool_)
    is_long[0, ARM] = True
    at, none = np.zeros(3, dtype=np.int64), np.zeros(1)
    times, length = np.array((0.0, 0.5, 1.0)), np.ones(3)
    for arcs, half in ((None, 0.5), (is_long, 0.5 - np.pi)):
        found = carried_over(Crossing(one, other, one, other, none, none, arcs), at, times, length)
        wanted = rot.from_axis_angle(X, np.array((0.0, half, 1.0)))
        assert rot.angle_between(found.rotations[:, ARM], wanted).max() < 1e-9


@pytest.mark.parametrize("frames", [5, 15])
def test_gaps_are_filled_better_than_by_slerp(frames: int) -> None:
    """Of motion that swings once or twice in a second, as limbs do."""
    rng, times, length_s = np.random.default_rng(frames), np.linspace(0.0, 1.0, 241), (frames + 1) / 30.0
    errors = {"CARRIED": 0.0, "EVEN": 0.0}
    for _ in range(12):
        rate, phase = rng.uniform(3.0, 9.0, 3), rng.uniform(0.0, 6.0, 3)

        def swing(at: FloatArray, rate: FloatArray = rate, phase: FloatArray = phase) -> FloatArray:
            return np.asarray(0.3 * np.sin(at[:, None] * rate + phase).sum(axis=1))

        clips = tuple(moving(name, begin + times, swing(begin + times), swing(begin + times))
                      for name, begin in (("left", -1.0), ("right", length_s)))
        within = np.linspace(0.0, length_s, frames + 2)[1:-1]
        for pace in errors:
            m = motion(f'left duration="1" transition="{length_s!r}"', 'right duration="1"', method="APPEND", pace=pace,
                       clips=library(feet_Steps=clips))
            wanted = rot.from_axis_angle(X, swing(within))
            errors[pace] += float(rot.angle_between(m.sample(1.0 + within).rotations[:, ARM], wanted).mean())
    assert errors["CARRIED"] < 0.6 * errors["EVEN"]
