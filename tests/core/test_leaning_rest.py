"""Characters whose rest pose leans, and is lifted: their soles come to the ground on which they stand at rest."""

import numpy as np
import pytest

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.contact_spans import contact_spans
from takt.tests.core.rewriting import movements
from takt.tests.core.rigs import MORE_RIGS, RIGS, worn
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.seeds import seeds
from takt.tests.core.test_ground import Skin, skin_of
from takt.tests.core.test_reference import joints_at
from takt.tests.core.test_retarget import with_axes

X, UP = np.array((1.0, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))
ON_GROUND_LEGS = 0.01
SAME_LEGS = 1e-3
PIVOT_M = 1.0
MOST_DEG, MOST_LIFT_M = 45.0, 0.5
NAMES = {**RIGS, **MORE_RIGS}


def leaning(body: Skeleton, skin: Skin, angle_deg: float, pivot_m: float, lift_m: float) -> tuple[Skeleton, Skin]:
    """Return a body with its skin, both turned about X through a point so high above the origin, then lifted."""
    turn, pivot = rot.from_axis_angle(X, np.array(np.radians(angle_deg))), pivot_m * UP
    way = pivot - rot.rotate(turn, pivot) + lift_m * UP
    vertices, joints, weights = skin
    return body.turned(turn).shifted(way), (rot.rotate(turn, vertices) + way, joints, weights)


def leg_m(body: Skeleton) -> float:
    at, joint_of = body.rest_world[:, :, 3], find_map(body).joint_of
    return float(np.linalg.norm(at[joint_of["l_hip"]] - at[joint_of["l_ankle"]]))


def soles(body: Skeleton, skin: Skin) -> np.ndarray:
    """Return which vertices (V,) move with feet."""
    found = find_map(body)
    feet = [found.joint_of[f"{side}_{part}"] for side in "lr" for part in ("ankle", "metatarsal")
            if f"{side}_{part}" in found.joint_of]
    return np.isin(skin[1][:, 0], feet)


def heights_of_contacts(seed: int) -> tuple[FloatArray, float]:
    """Return how high the lowest sole is in frames with contacts, (F,), and at rest, both in legs."""
    rng = np.random.default_rng(seed)
    rig = list(NAMES)[seed % len(NAMES)]
    body = with_axes(worn(NAMES[rig]), rng, float(rng.uniform(0.6, 1.6)))
    shape = {"metatarsal": 0.09, "ankle": 0.12} if seed % 3 else {}
    angle_deg, lift_m = rng.uniform(-MOST_DEG, MOST_DEG), rng.uniform(-MOST_LIFT_M, MOST_LIFT_M)
    lean, skin = leaning(body, skin_of(body, shape), angle_deg, PIVOT_M, lift_m)
    clip = movements()[seed % len(movements())]
    done = retarget(clip, lean, points=SkinPoints.of(*skin))
    spans = contact_spans(clip, find_map(clip.skeleton), UP)
    times = np.linspace(0.0, clip.duration_s, 40)
    stands = np.array([any(a <= t <= b for a, b in spans) for t in times])
    assert stands.any()
    whole, is_sole = SkinPoints(*skin), soles(lean, skin)
    played = whole.heights(done.clip, times[stands], UP)[:, is_sole].min(axis=1)
    return played / leg_m(body), float((skin[0] @ UP)[is_sole].min()) / leg_m(body)


@pytest.mark.parametrize("seed", seeds(200, quick=12))
def test_a_body_that_leans_and_is_lifted_at_rest_plays_on_the_ground_below_its_soles(seed: int) -> None:
    played, rest = heights_of_contacts(seed)
    assert np.abs(played - rest).max() <= ON_GROUND_LEGS


@pytest.mark.parametrize("seed", range(6))
def test_a_body_that_leans_about_the_origin_plays_on_the_ground_through_it(seed: int) -> None:
    upright = with_axes(worn(NAMES["Mixamo"]), np.random.default_rng(seed))
    skin = skin_of(upright, {})
    ground = float((skin[0] @ UP)[soles(upright, skin)].min())
    upright, skin = upright.shifted(-ground * UP), (skin[0] - ground * UP, *skin[1:])
    lean, leaning_skin = leaning(upright, skin, (-45.0, -30.0, -15.0, 15.0, 30.0, 45.0)[seed], 0.0, 0.0)
    clip = movements()[seed]
    times = np.linspace(0.0, clip.duration_s, 40)
    wanted, found = (SkinPoints(*of).heights(retarget(clip, body, points=SkinPoints.of(*of)).clip, times, UP)
                     for body, of in ((upright, skin), (lean, leaning_skin)))
    np.testing.assert_allclose(found.min(axis=1), wanted.min(axis=1), atol=ON_GROUND_LEGS * leg_m(upright))


@pytest.mark.parametrize("seed", range(6))
def test_feet_without_skin_are_as_high_as_at_rest(seed: int) -> None:
    upright = with_axes(worn(NAMES["Mixamo"]), np.random.default_rng(seed))
    lean, _ = leaning(upright, skin_of(upright, {}), (-45.0, -30.0, -15.0, 15.0, 30.0, 45.0)[seed], PIVOT_M, 0.2)
    clip, joint_of = movements()[seed], find_map(upright).joint_of
    feet = [joint_of[f"{side}_{part}"] for side in "lr" for part in ("ankle", "metatarsal")]
    low = [float((body.rest_world[feet, :, 3] @ UP).min()) for body in (upright, lean)]
    times = np.linspace(0.0, clip.duration_s, 40)
    wanted, found = ((joints_at(retarget(clip, body).clip, times)[:, feet] @ UP).min(axis=1) - ground
                     for body, ground in zip((upright, lean), low, strict=True))
    np.testing.assert_allclose(found, wanted, atol=0.03 * leg_m(upright))


def heights_when_scored(angle_deg: float, lift_m: float) -> tuple[FloatArray, float]:
    """Return how high the lowest sole is while a score plays two steps, (F,), and at rest, both in legs."""
    upright = with_axes(worn(NAMES["Mixamo"]), np.random.default_rng(5))
    lean, skin = leaning(upright, skin_of(upright, {"metatarsal": 0.09, "ankle": 0.12}), angle_deg, PIVOT_M, lift_m)
    clips = tuple(each for each in movements() if each.name in ("left_step", "right_step"))
    score = programme(procedure("main", 'left_step duration="1"', 'right_step duration="1" transition="0.2"'),
                      clips=library(feet_Steps=clips))
    motion = play(score, Performer(lean, UP, points=SkinPoints.of(*skin)), Settings(lock_feet=True))
    played, is_sole = motion.sample(np.linspace(0.0, motion.duration_s, 60)), soles(lean, skin)
    world = world_from_pose(lean, played)[:, skin[1][is_sole]]
    local = SkinPoints(*skin).local(lean)[is_sole]
    high = np.einsum("fpki,pki->fp", world[..., 1, :], local)
    return high.min(axis=1) / leg_m(lean), float((skin[0] @ UP)[is_sole].min()) / leg_m(lean)


@pytest.mark.parametrize("angle_deg", [-35.0, 20.0, 43.0])
def test_feet_that_are_locked_are_not_lifted_by_how_a_body_leans_at_rest(angle_deg: float) -> None:
    """A body whose heels are high at rest because it leans has them as low as one that stands upright."""
    (played, rest), (wanted, ground) = heights_when_scored(angle_deg, 0.2), heights_when_scored(0.0, 0.0)
    np.testing.assert_allclose(played - rest, wanted - ground, atol=SAME_LEGS)
