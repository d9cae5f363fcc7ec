"""Clips that begin far off: as authored they play there; begun at the character, as if they had begun at the origin."""

from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.beginning import FAR_HEIGHTS, carriers, shifted
from takt.core.retargeting.outcome import Outcome
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.rewriting import Rewriting, movements, random_rewriting, rewritten
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_retarget import skeleton_at, with_axes
from takt.tests.core.test_whole_body import CUTS, body_of, cut

NEAR_M = 1e-6
"""Of a clip that begins 500 m away, twelve digits are left."""
UP = np.array((0.0, 1.0, 0.0))
WAYS = (np.array((5.0, 0.0, 0.0)), np.array((-300.0, 0.0, 400.0)))


def loose() -> Skeleton:
    right, rng = body_of(1)
    return cut(right, CUTS["feet on the ground"], rng)[0]


TARGETS: dict[str, Callable[[], Skeleton]] = {
    "its own": lambda: movements()[0].skeleton, "another body": lambda: with_axes(
        worn(RIGS["Mixamo"]), np.random.default_rng(1), 1.3), "feet on no leg": loose}


def moved(clip: Clip, way: FloatArray) -> Clip:
    """Return a clip that plays elsewhere, as files have it whose root's keys say so."""
    moves = clip.translations
    of_root = np.repeat(clip.skeleton.parents[moves.joints] < 0, np.diff(moves.starts))
    assert of_root.any()
    return Clip(clip.name, clip.skeleton, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, moves.values + of_root[:, None] * way), clip.scales)


def places(clip: Clip) -> FloatArray:
    """Return where all joints are, (F, J, 3)."""
    return world_from_pose(clip.skeleton, clip.sample(np.linspace(0.0, clip.duration_s, 25)))[..., 3]


def leg_m(body: Skeleton) -> float:
    """Return how long both legs are."""
    at = {name: body.rest_world[joint, :, 3] for name, joint in find_map(body).joint_of.items()}
    return float(sum(np.linalg.norm(at[f"{side}_{a}"] - at[f"{side}_{b}"]) for side in "lr"
                     for a, b in (("hip", "knee"), ("knee", "ankle"))))


def over_ground(body: Skeleton, at: FloatArray) -> FloatArray:
    """Return where the hips are over the ground, (..., 2), of joints (..., J, 3)."""
    found = find_map(body)
    turn = rot.IDENTITY if found.turn is None else found.turn
    hips = at[..., [found.joint_of["l_hip"], found.joint_of["r_hip"]], :].mean(axis=-2)
    return rot.rotate(rot.conjugate(turn), hips)[..., ::2]


@pytest.mark.parametrize("way", WAYS, ids=["5 m", "500 m"])
@pytest.mark.parametrize("name", TARGETS)
def test_a_clip_from_far_off_plays_there_or_at_the_character(name: str, way: FloatArray) -> None:
    clip, body = movements()[2], TARGETS[name]()
    here, far = (places(retarget(each, body).clip) for each in (clip, moved(clip, way)))
    legs = leg_m(body) / leg_m(clip.skeleton)
    apart = np.linalg.norm(far - here, axis=-1)[:, [*find_map(body).joint_of.values()]]  # not the bones of IK
    np.testing.assert_allclose(apart, legs * np.linalg.norm(way), rtol=NEAR_M)
    for each in (clip, moved(clip, way)):
        done = retarget(each, body, begins_at_rest=True)
        begun = places(done.clip)
        np.testing.assert_allclose(over_ground(body, begun)[0], over_ground(body, body.rest_world[..., 3]), atol=NEAR_M)
        np.testing.assert_allclose(begun - begun[0], here - here[0], atol=NEAR_M)
        assert done.begins_away < NEAR_M


@pytest.mark.parametrize("seed", range(12))
def test_however_the_file_is_written_it_begins_at_the_character(seed: int) -> None:
    how = random_rewriting(seed)
    clip, body = rewritten(movements()[seed % len(movements())], how).clip, TARGETS["another body"]()
    far = moved(clip, np.array((200.0 * how.unit, 0.0, 0.0)))
    begun = retarget(far, body, without_first_pose=True, begins_at_rest=True).clip
    first = over_ground(body, world_from_pose(body, begun.sample(np.zeros(1)))[0, :, :, 3])
    np.testing.assert_allclose(first, over_ground(body, body.rest_world[..., 3]), atol=NEAR_M)


@pytest.mark.parametrize(("far_m", "says"), [(2.0, False), (12.0, True)])
def test_it_is_said_of_clips_that_begin_out_of_sight(far_m: float, says: bool) -> None:
    clip = moved(rewritten(movements()[2], Rewriting(zero="LINE")).clip, np.array((0.0, 0.0, far_m)))
    done = retarget(clip, TARGETS["another body"]())
    assert (done.begins_away > FAR_HEIGHTS) == says
    assert any("body heights away" in note for note in Outcome.of("a.bvh", "a", done).notes) == says


def test_what_is_no_body_is_shifted_where_all_of_it_is_carried() -> None:
    """A root that stands still stays; the joint below it carries two that move."""
    at = np.array(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (1.0, 1.0, 0.0)))
    chain = skeleton_at(["root", "a", "b", "c"], [-1, 0, 1, 1], at,
                        rot.normalized(np.random.default_rng(0).normal(size=(4, 4))))
    times = np.array((0.0, 1.0))
    turns = np.tile(rot.from_axis_angle(UP, times)[:, None], (1, 2, 1))
    clip = Clip("", chain, 1.0, Tracks.uniform(np.array((2, 3)), times, turns), Tracks.empty(3), Tracks.empty(3))
    assert carriers(clip).tolist() == [1]
    new = places(shifted(clip, np.array((3.0, 0.0, 1.0)))) - places(clip)
    np.testing.assert_allclose(new[:, 1:], np.broadcast_to((3.0, 0.0, 1.0), (25, 3, 3)), atol=1e-12)
    assert not new[:, 0].any()
