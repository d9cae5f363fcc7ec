"""Knees at seams: where feet stand, legs straighten and bend again no faster than in the clips."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.feet.legs import Chains, legs_of
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.stepping import ACROSS
from takt.tests.core.test_steps import BODY, LEG_M, UP

FPS = 24.0
SOFTER = 1.2
"""So much more suddenly knees may turn where feet stand than as authored, at the worst frame of all."""
STANCE = 0.6
"""Of a stride's time: so long each foot stands."""


def quick(name: str, random: np.random.Generator) -> Clip:
    """Walk ahead in quick steps, with knees more or less bent, bobbing, from any instant of a stride to any other."""
    stride_s, length, stretched = random.uniform(0.5, 0.8), random.uniform(0.5, 0.9), random.uniform(0.94, 0.98)
    bob, lift, begin = random.uniform(0.0, 0.03), random.uniform(0.05, 0.1), random.uniform()
    duration_s = float(stride_s * random.uniform(2.0, 3.0))
    times = np.linspace(0.0, duration_s, int(60 * duration_s) + 1)
    phase = times / stride_s + begin
    height = np.sqrt(stretched**2 - length**2 / 4.0) + bob * np.cos(4.0 * np.pi * (phase - STANCE / 2.0))
    moves = np.stack((0.0 * times, height - 1.0, length * times / (STANCE * stride_s)), axis=1) * LEG_M
    joints, turns, contacts = [], [], {}
    for side, later in (("l", 0.0), ("r", 0.5)):
        share = (phase + later) % 1.0
        swing = np.clip((share - STANCE) / (1.0 - STANCE), 0.0, 1.0)
        eased = swing**3 * (10.0 + swing * (6.0 * swing - 15.0))
        ahead = length * np.where(share < STANCE, 0.5 - share / STANCE, eased - 0.5)
        turns += bent(ahead, height - lift * np.sin(np.pi * swing)**2)
        joints += [BODY.index_of[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]
        first = np.floor(begin + later) + np.arange(-1, 5) - begin - later
        spans = np.clip(np.stack((first, first + STANCE), axis=1) * stride_s, 0.0, duration_s)
        spans = spans[spans[:, 1] > spans[:, 0]]
        contacts[side] = FootContacts(spans, spans)
    order = np.argsort(joints)
    return Clip(name, BODY, duration_s, Tracks.uniform(np.array(joints)[order], times,
                                                       np.stack(turns, axis=1)[:, order]),
                Tracks.uniform(np.array((0,)), times, moves[:, None]), Tracks.empty(3), contacts=contacts)


def bent(ahead: FloatArray, down: FloatArray) -> list[FloatArray]:
    """Return the turns of hip, knee and ankle, (F, 4) each, that bring an ankle there, in legs of two equal bones."""
    far = np.minimum(np.hypot(ahead, down), 0.999)
    knee, across = 2.0 * np.arccos(far), np.array((1.0, 0.0, 0.0))
    hip = -np.arctan2(ahead, down) - knee / 2.0
    return [rot.from_axis_angle(across, angle) for angle in (hip, knee, -hip - knee)]


def danced(seed: int, **settings: object) -> Motion:
    random = np.random.default_rng(seed)
    clips = tuple(quick(name, random) for name in "abcd")
    calls = [f'{clip.name} duration="{clip.duration_s}"' for clip in clips]
    return play(programme(procedure("main", *calls), clips=library(feet_Steps=clips)), Performer(BODY, UP),
                replace(Settings(), **settings))  # type: ignore[arg-type]


def suddenness(motion: Motion) -> float:
    """Return by how many degrees a knee's turn changes from frame to frame at most."""
    times = np.arange(0.0, motion.duration_s, 1.0 / FPS)
    position = world_from_pose(motion.skeleton, motion.sample(times))[..., 3]
    worst = 0.0
    for leg in legs_of(find_map(motion.skeleton)):
        thigh, shin = position[:, leg.knee] - position[:, leg.hip], position[:, leg.ankle] - position[:, leg.knee]
        size = np.linalg.norm(thigh, axis=1) * np.linalg.norm(shin, axis=1)
        angle = np.degrees(np.arccos(np.clip((thigh * shin).sum(axis=1) / size, -1.0, 1.0)))
        worst = max(worst, float(np.abs(np.diff(angle, 2)).max()))
    return worst


@pytest.mark.parametrize("seed", [8, 25, 30, 36])
def test_knees_turn_hardly_more_suddenly_at_seams_of_quick_steps_than_as_authored(seed: int) -> None:
    """In these walks footholds are within reach; some were twice as sudden as legs straightened for feet that came."""
    stands, authored = (suddenness(danced(seed, lock_feet=lock)) for lock in (True, False))
    assert stands <= SOFTER * authored


def whole(matrices: FloatArray) -> FloatArray:
    """Return matrices (..., 3, 4) with their last rows, (..., 4, 4)."""
    return np.concatenate((matrices, np.broadcast_to((0.0, 0.0, 0.0, 1.0), (*matrices.shape[:-2], 1, 4))), axis=-2)


@pytest.mark.parametrize("most", [0.9, 0.95, 1.0])
def test_a_leg_is_stretched_softly_and_hardly_farther_than_it_may_be_or_is(most: float) -> None:
    found, clip = find_map(BODY), quick("a", np.random.default_rng(3))
    leg, times = legs_of(found)[0], np.linspace(0.0, clip.duration_s, 20)
    world = whole(world_from_pose(BODY, clip.sample(times, "SLERP"))[:, [leg.hip, leg.knee, leg.ankle]])
    hip, knee, ankle = (world[:, joint, :3, 3] for joint in range(3))
    long = float(np.linalg.norm(knee[0] - hip[0]) + np.linalg.norm(ankle[0] - knee[0]))
    now = np.linalg.norm(ankle - hip, axis=1) / long
    wanted = np.linspace(0.7, 1.1, 401)
    shift = (ankle - hip)[:, None] * (wanted / now[:, None] - 1.0)[..., None]
    rows, turns = world, rot.identities(3, 1, len(wanted))
    chains, mosts = Chains.of(found, (leg,), UP), np.full((1, len(wanted)), most)
    rows = rows[:, :, None, None].repeat(len(wanted), axis=3)
    short = np.stack([chains.bent(rows[frame], turns, shift[None, frame], mosts, np.zeros(len(wanted)))[1][0]
                      for frame in range(20)])
    reached = wanted * (1.0 - short)
    assert (reached <= np.maximum(most, now)[:, None] + 0.021).all() and np.diff(reached, axis=1).min() >= -1e-12
    assert short[wanted <= np.maximum(most, now)[:, None]].max() <= 1e-9
    assert np.abs(np.diff(reached, 2, axis=1)).max() < 0.1 * (wanted[1] - wanted[0])


def test_legs_whose_ankles_stay_keep_their_rotations_exactly_among_others() -> None:
    rng = np.random.default_rng(5)
    legs, poses = legs_of(find_map(BODY)), Pose.rest(BODY, 200)
    joints = np.array([(leg.hip, leg.knee, leg.ankle) for leg in legs]).T
    poses.rotations[:, joints] = rot.exp(rng.normal(0.0, 0.6, (200, 3, 2, 3)))
    poses.rotations[::4, joints[1]] = rot.IDENTITY  # straight
    matrices = whole(world_from_pose(BODY, poses)[:, joints]).transpose(1, 2, 0, 3, 4)
    own, shift = poses.rotations[:, joints].transpose(1, 2, 0, 3), rng.normal(0.0, 0.1, (2, 200, 3))
    still = rng.random((2, 200)) < 0.5
    shift[still] = 0.0
    chains, most = Chains.of(find_map(BODY), legs, UP), rng.uniform(0.8, 1.0, (2, 200))
    bent, short = chains.bent(matrices, own, shift, most, np.zeros(200))
    assert np.array_equal(bent[:, still], own[:, still]) and short[still].max() < 1e-30
    assert np.abs(bent - own).max(axis=(0, 3))[~still].min() > 1e-4
    for frame in range(20):
        at = slice(frame, frame + 1)
        alone, _ = chains.bent(matrices[:, :, at], own[:, :, at], shift[:, at], most[:, at], np.zeros(1))
        np.testing.assert_allclose(alone, bent[:, :, at], atol=1e-12)
        assert np.array_equal(alone[:, still[:, at]], own[:, :, at][:, still[:, at]])


def overstretched(angle_deg: FloatArray, shorter: FloatArray, upright: float) -> tuple[FloatArray, FloatArray]:
    """Bend knees (F,) backwards and shorten these legs by a share; return how far knees are bent then, in degrees.

    And how far ankles are from where they should be then, away from hips, (F,) in leg lengths.
    """
    found, count = find_map(BODY), len(angle_deg)
    leg, pose = legs_of(found)[0], Pose.rest(BODY, count)
    joints = [leg.hip, leg.knee, leg.ankle]
    pose.rotations[:, leg.knee] = rot.from_axis_angle(ACROSS, np.radians(-angle_deg) - shown(pose, joints))
    matrices = whole(world_from_pose(BODY, pose)[:, joints]).transpose(1, 0, 2, 3)[:, None]
    shift = (matrices[0] - matrices[2])[..., :3, 3] * shorter[:, None]
    bent, _ = Chains.of(found, (leg,), UP).bent(matrices, pose.rotations[:, joints].swapaxes(0, 1)[:, None], shift,
                                                np.full((1, count), np.inf), np.full(count, upright))
    pose.rotations[:, joints] = bent[:, 0].swapaxes(0, 1)
    at = world_from_pose(BODY, pose)[..., 3][:, joints]
    aims = matrices[2, 0, :, :3, 3] - matrices[0, 0, :, :3, 3] + shift[0]
    missed = np.linalg.norm(at[:, 2] - at[:, 0], axis=1) - np.linalg.norm(aims, axis=1)
    return np.degrees(shown(pose, joints)), missed / leg.length(BODY)


def shown(pose: Pose, joints: list[int]) -> FloatArray:
    """Return how far the knees of legs are bent, (F,) radians."""
    thigh, shin = np.diff(world_from_pose(BODY, pose)[..., 3][:, joints], axis=1).swapaxes(0, 1)
    return np.asarray(np.arctan2(rot.cross(thigh, shin) @ ACROSS, (thigh * shin).sum(axis=1)))


@pytest.mark.parametrize("angle_deg", [0.01, 1.0, 3.0, 7.0, 15.0, 25.0])
@pytest.mark.parametrize("upright", [0.0, 1.0])
def test_overstretched_knees_bend_forwards_where_legs_are_shortened_and_do_not_jump(angle_deg: float,
                                                                                  upright: float) -> None:
    shorter = np.concatenate(((0.0,), np.linspace(0.0, 0.15, 600)))
    angles, missed = overstretched(np.full(len(shorter), angle_deg), shorter, upright)
    assert angles[-1] > 45.0 and (angles[shorter > 0.05] > 0.0).all()
    assert np.abs(np.diff(np.sin(np.radians(angles / 2.0)))).max() < 0.05
    assert np.abs(missed[shorter > 0.05]).max() < 1e-6 and np.abs(missed).max() < 0.04


def test_knees_are_overstretched_as_authored_within_clips_and_come_forwards_in_transitions() -> None:
    angles = np.linspace(0.1, 90.0, 450)
    for upright, own_deg in ((0.0, 90.0), (1.0, 3.0)):
        bent, missed = overstretched(angles, np.zeros(len(angles)), upright)
        assert np.abs(bent + angles)[angles <= own_deg].max() < 0.01
        assert np.abs(np.diff(bent)).max() < 2.5, "none jumps while it is overstretched more and more"
        assert np.abs(bent + angles)[angles > 80.0].max() < 0.01, "legs of animals"
        assert np.abs(missed).max() < 0.2
    bent, _ = overstretched(np.array((15.0, 25.0, 45.0)), np.zeros(3), 1.0)
    np.testing.assert_allclose(bent, (15.0, 25.0, 45.0), atol=0.5)
