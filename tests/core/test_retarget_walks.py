"""Walks on other rigs: n rounds lead n times as far, in any heading, and a loop goes on where it ended."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.retargeting.comparing.upright import resting, turned
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.clips import STRIDE_M, build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import RIGS, real, worn
from takt.tests.core.scores import library, procedure, programme

EXACT = 1e-4
"""Of the leg's length."""
ROUNDS = 40
UP = np.array((0.0, 1.0, 0.0))
TARGETS: dict[str, Callable[[], Skeleton]] = {
    "itself": build_skeleton, "Mixamo": lambda: worn(RIGS["Mixamo"]),
    **{name: partial(real, name) for name in ("mpfb_game_engine", "m2m_sintel", "Male_Suit", "Rogue_Hooded")}}


def steps(heading_rad: float) -> tuple[Clip, ...]:
    """Return our two steps, walking in some direction; at rest the body faces ahead."""
    turn = rot.from_axis_angle(UP, heading_rad)
    return tuple(resting(turned(clip, turn), rot.conjugate(turn)) for clip in build_clips("feet/Steps.skeleton.xml")
                 if clip.name.endswith("_step"))


def walk(target: Skeleton, heading_rad: float, rounds: int, **settings: object) -> Motion:
    clips = steps(heading_rad)
    score = programme(procedure("main", f'pair duration="2" repeat="{rounds}"'),
                      procedure("pair", 'left_step duration="1"', 'right_step duration="1"'),
                      clips=library(feet_Steps=clips))
    found = find_map(target)
    turn = rot.IDENTITY if found.turn is None else found.turn
    return play(score, Performer(target, rot.rotate(turn, UP), turn), Settings(**settings))  # type: ignore[arg-type]


def hips(motion: Motion, times: FloatArray) -> FloatArray:
    """Return where the hips are, (F, 3), in H-Anim's axes."""
    found = find_map(motion.skeleton)
    world = world_from_pose(motion.skeleton, motion.sample(times))[:, found.joint_of["HumanoidRoot"], :, 3]
    assert found.turn is not None
    return rot.rotate(rot.conjugate(found.turn), world)


def legs(skeleton: Skeleton) -> float:
    found = find_map(skeleton)
    joints = [found.joint_of[f"l_{name}"] for name in ("hip", "knee", "ankle")]
    return float(np.linalg.norm(np.diff(skeleton.rest_world[joints, :, 3], axis=0), axis=1).sum())


@pytest.mark.slow
@pytest.mark.parametrize("heading_rad", [0.0, 0.7, -2.5])
@pytest.mark.parametrize("name", TARGETS)
def test_n_rounds_of_a_walk_lead_n_times_as_far_on_any_rig_in_any_heading(name: str, heading_rad: float) -> None:
    target = TARGETS[name]()
    one, many = (walk(target, heading_rad, rounds) for rounds in (1, ROUNDS))
    ways = [np.subtract(*hips(motion, np.array((motion.duration_s, 0.0)))) * (1.0, 0.0, 1.0) for motion in (one, many)]
    np.testing.assert_allclose(ways[1], ways[0] * ROUNDS, atol=EXACT * legs(target))
    ahead = rot.rotate(rot.from_axis_angle(UP, heading_rad), np.array((0.0, 0.0, 1.0)))
    stride = 2.0 * STRIDE_M * legs(target) / legs(build_skeleton())
    # Each round is two strides, by the ratio of the legs: of both of them, so a little off where legs differ.
    np.testing.assert_allclose(ways[0], stride * ahead, atol=0.01 * stride)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_a_loop_on_another_rig_goes_on_where_it_ended(method: str) -> None:
    target = TARGETS["Mixamo"]()
    motion = walk(target, 0.7, 2, loop=True, method=method)
    times = np.array((0.0, 0.3, 0.9, 1.7))
    laps = [hips(motion, times + n * motion.duration_s) for n in (0, 1, 7)]
    way = laps[1] - laps[0]
    np.testing.assert_allclose(way, np.broadcast_to(way[0], way.shape), atol=EXACT * legs(target))
    np.testing.assert_allclose(laps[2] - laps[0], 7.0 * way, atol=EXACT * legs(target))
    assert np.linalg.norm(way[0]) == pytest.approx(4.0 * STRIDE_M, rel=0.01)
