"""A clip that plays alone on a body whose legs are of other lengths: feet stand as they do in the clip."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.playing.alone import standing
from takt.core.playing.stage import Playable
from takt.core.retargeting.retarget import Retargeted, retarget, with_contacts
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.stepping import BODY, backwards, cut, tipping, walking

UP = np.array((0.0, 1.0, 0.0))
LEG_M = 0.825
SUDDEN_LEGS = 0.003
"""How much more hips may accelerate than in the clip, in a thirtieth of a second."""
STRAIGHT_DEG = 11.0
"""Of knees that are bent by 6° at rest."""


def with_longer(parts: dict[str, float]) -> Skeleton:
    """Return the sample's skeleton, its feet as high as before, with some segments so many times as long."""
    body = build_skeleton()
    moves = body.rest_translations.copy()
    for name, times in parts.items():
        moves[body.index_of[name]] *= times
    longer = Skeleton(body.names, body.parents, body.rest_rotations, moves, body.rest_scales, body.name)
    rise = (body.rest_world[body.index_of["l_ankle"], :, 3] - longer.rest_world[body.index_of["l_ankle"], :, 3]) @ UP
    moves[body.parents < 0] += rise * UP
    return Skeleton(body.names, body.parents, body.rest_rotations, moves, body.rest_scales, body.name)


SHORT_THIGHS = with_longer({f"{side}_knee": 0.7 for side in "lr"} | {f"{side}_ankle": 1.2 for side in "lr"})
LONG_LEGS = with_longer({f"{side}_{part}": 1.4 for side in "lr" for part in ("knee", "ankle")})


def played(clip: Clip, target: Skeleton) -> tuple[Retargeted, SkeletonMap]:
    found = find_map(clip.skeleton)
    made = retarget(clip, target, rot.IDENTITY, source_map=found, without_first_pose=True)
    return with_contacts(made, clip, found), find_map(target)


def slides(motion: Playable, made: Retargeted, body: SkeletonMap) -> list[float]:
    """Return how far feet go over the ground while the clip's contacts have them stand, in metres."""
    contacts, found = made.clip.contacts, []
    assert contacts is not None
    for side in "lr":
        for begin, end in contacts[side].stands.tolist():
            times = np.linspace(begin + 1e-6, min(end, motion.duration_s) - 1e-6, 20)
            foot = world_from_pose(motion.skeleton, motion.sample(times))[:, body.joint_of[f"{side}_metatarsal"], :, 3]
            over = foot - (foot @ UP)[:, None] * UP
            found.append(float(np.linalg.norm(np.ptp(over, axis=0))))
    return found


@pytest.mark.parametrize("target", [SHORT_THIGHS, LONG_LEGS], ids=["short thighs", "long legs"])
def test_feet_stand_on_other_legs(target: Skeleton) -> None:
    before, after = list[float](), list[float]()
    for clip in movements()[:4]:
        made, body = played(rewritten(clip, Rewriting(names="Mixamo")).clip, target)
        before += slides(made.clip, made, body)
        after += slides(standing(made.clip, body, UP, doubles=made.doubles), made, body)
    assert len(after) >= 8
    assert max(after) < 0.005 * LEG_M < 0.01 * LEG_M < max(before)


@pytest.mark.parametrize(("clip", "target"), [
    (walking(), BODY), (backwards(0.6), BODY), (backwards(0.6), LONG_LEGS)], ids=["walk", "backwards", "long legs"])
def test_feet_stand_where_the_body_need_not_go_down_for_them(clip: Clip, target: Skeleton) -> None:
    made, body = played(clip, target)
    times = np.arange(0.0, made.clip.duration_s, 1.0 / 30.0)
    hips = [world_from_pose(target, each.sample(times))[:, body.joint_of["l_hip"], 1, 3]
            for each in (made.clip, standing(made.clip, body, UP))]
    before, after = np.abs(np.diff(hips, 2)).max(axis=1)
    assert after < before + SUDDEN_LEGS * LEG_M


@pytest.mark.parametrize("deg", [30.0, 70.0])
@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)])
def test_straight_legs_stay_straight_where_their_feet_tip_over_an_edge(axis: tuple[float, ...], deg: float) -> None:
    made, body = played(cut(tipping(deg, axis=axis), 0.0, 1.6, 30.0), BODY)
    motion = standing(made.clip, body, UP)
    times = np.linspace(0.0, motion.duration_s, 49)
    places = world_from_pose(motion.skeleton, motion.sample(times))[..., 3]
    hip, knee, ankle = (places[:, BODY.index_of[f"r_{name}"]] for name in ("hip", "knee", "ankle"))
    cosine = np.sum((knee - hip) * (ankle - knee), axis=1) / (
        np.linalg.norm(knee - hip, axis=1) * np.linalg.norm(ankle - knee, axis=1))
    assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max() < STRAIGHT_DEG


def test_what_moves_no_legs_or_lasts_no_time_is_as_it_is() -> None:
    made, body = played(movements()[0], SHORT_THIGHS)
    at_rest = Clip("", made.clip.skeleton, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    moment = replace(made.clip, duration_s=0.0)
    assert standing(at_rest, body, UP) is at_rest
    assert standing(moment, body, UP) is moment
