"""Arms stay outside a stout trunk as far as in the clip, and nothing changes where nothing touches."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.contacts.kept_contacts import with_contacts_kept
from takt.core.retargeting.contacts.trunk import TRUNK, BentTrunk, Trunk
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import movements
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_retarget import with_axes

from .corrected_maps import corrected

BODY = build_skeleton()
X, Y, Z = np.eye(3)
TIMES = np.linspace(0.0, 2.0, 49)
DEEP_M, ROUNDING = 0.02, 1e-9
STOUT, SLIM = (0.28, 0.21), (0.12, 0.09)
"""Half of a trunk's width and depth, in metres."""


def target_body(seed: int = 0) -> Skeleton:
    return with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(seed))


def share_of(heights: FloatArray | np.float64) -> FloatArray:
    """Return how wide a barrel is at heights (N,), as a share of its belly: less towards the shoulders."""
    return np.asarray(1.0 - 0.4 * np.clip((heights - 0.5) / 0.5, 0.0, 1.0))


def skin_of(skeleton: Skeleton, shape: tuple[float, float]) -> SkinPoints:
    """Return skin of a trunk like a barrel, about the line from hips to shoulders, and of arms 7 cm thick."""
    found = find_map(skeleton)
    assert found.turn is not None
    axes = rot.to_matrix(found.turn).T
    at, joint_of = skeleton.rest_world[:, :, 3], found.joint_of
    low, high = (np.mean([at[joint_of[f"{side}_{part}"]] for side in "lr"], axis=0) for part in ("hip", "shoulder"))
    angles = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    ring = np.stack((shape[0] * np.cos(angles), 0.0 * angles, shape[1] * np.sin(angles)), axis=1) @ axes
    points = np.concatenate([low + share * (high - low) + float(share_of(share)) * ring
                             for share in np.linspace(-0.15, 1.0, 24)])
    trunk = np.array([joint_of[name] for name in TRUNK if name in joint_of])
    order = trunk[np.argsort((at[trunk] - low) @ axes[1])]
    above = np.searchsorted(((at[order] - low) @ axes[1])[1:], (points - low) @ axes[1])
    parts, joints = [points], [order[above]]
    for side in "lr":
        elbow, wrist = (at[joint_of[f"{side}_{part}"]] for part in ("elbow", "wrist"))
        tube = np.concatenate([elbow + share * (wrist - elbow) + 0.035 / shape[0] * ring for share in (0.2, 0.5, 0.8)])
        parts.append(tube)
        joints.append(np.full(len(tube), joint_of[f"{side}_elbow"]))
    return SkinPoints(np.concatenate(parts), np.concatenate(joints)[:, None], np.ones((sum(map(len, parts)), 1)))


def depth(clip: Clip, shape: tuple[float, float], times: FloatArray = TIMES) -> FloatArray:
    """Return how deep elbows, forearms and wrists are in the barrel of an upright trunk, in metres, (F,)."""
    found = find_map(clip.skeleton)
    assert found.turn is not None
    world = rot.rotate(rot.conjugate(found.turn), world_from_pose(clip.skeleton, clip.sample(times))[..., 3])
    joint_of, deepest = found.joint_of, np.full(len(times), -np.inf)
    low, high = (world[:, [joint_of[f"{side}_{part}"] for side in "lr"]].mean(axis=1) for part in ("hip", "shoulder"))
    for side in "lr":
        elbow, wrist = (world[:, joint_of[f"{side}_{part}"]] for part in ("elbow", "wrist"))
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            point = elbow + share * (wrist - elbow) - low
            height = point[:, 1] / (high - low)[:, 1]
            point -= height[:, None] * (high - low)
            radius = np.hypot(point[:, 0], point[:, 2])
            angle = np.arctan2(point[:, 2], point[:, 0])
            edge = share_of(height) / np.hypot(np.cos(angle) / shape[0], np.sin(angle) / shape[1])
            inside = (height > -0.15) & (height < 1.0)
            deepest = np.maximum(deepest, np.where(inside, edge - radius, -np.inf))
    return deepest


def swinging(angles: FloatArray, bend: float = 0.0) -> Clip:
    """Return arms that swing forwards by angles (F,) as they hang, and inwards over the belly with bent elbows."""
    turns, joints = [], []
    for side, sign in (("l", 1.0), ("r", -1.0)):
        forwards = rot.from_axis_angle(-X, angles)
        turns += [rot.multiply(rot.from_axis_angle(Y, -sign * bend * np.abs(angles)), forwards),
                  rot.multiply(rot.from_axis_angle(Y, np.full(len(angles), -sign * bend)),
                               rot.from_axis_angle(-X, np.full(len(angles), bend)))]
        joints += [BODY.index_of[f"{side}_shoulder"], BODY.index_of[f"{side}_elbow"]]
    order = np.argsort(joints)
    return Clip("swing", BODY, 2.0, Tracks.uniform(np.array(joints)[order], TIMES, np.stack(turns, axis=1)[:, order]),
                Tracks.empty(3), Tracks.empty(3))


HANGING, BELLY = swinging(0.3 * np.sin(2.0 * np.pi * TIMES)), swinging(0.4 + 0.2 * np.sin(np.pi * TIMES), 1.3)



def headless(skeleton: Skeleton) -> SkeletonMap:
    """Return the map of a body whose height is not known, so that nobody cares what its hands touch."""
    found = find_map(skeleton)
    return corrected(found, {skeleton.names[found.joint_of["skullbase"]]: None})


def carried(clip: Clip, turn: FloatArray) -> Clip:
    """Return the clip of a body that is turned as a whole (F, 4)."""
    rows = {int(joint): clip.rotations.values.reshape(-1, len(TIMES), 4)[i]
            for i, joint in enumerate(clip.rotations.joints)} | {0: turn}
    joints = sorted(rows)
    return Clip(clip.name, BODY, 2.0, Tracks.uniform(np.array(joints), TIMES, np.stack([rows[j] for j in joints], 1)),
                Tracks.empty(3), Tracks.empty(3))


@pytest.mark.parametrize(("clip", "shape"), [(HANGING, STOUT), (BELLY, STOUT), (BELLY, (0.22, 0.26))],
                         ids=["hanging", "before the belly", "before a large belly"])
@pytest.mark.parametrize("seed", range(2))
def test_a_slim_bodys_arms_do_not_go_into_a_stout_trunk(clip: Clip, shape: tuple[float, float], seed: int) -> None:
    target = target_body(seed)
    skin = skin_of(target, shape)
    before, after = (depth(retarget(clip, target, points=skin, keep_contacts=keep).clip, shape)
                     for keep in (False, True))
    assert before.max() > 3.0 * DEEP_M and after.max() < DEEP_M


def test_it_is_the_trunk_that_counts_wherever_it_leans() -> None:
    target = target_body()
    skin = skin_of(target, STOUT)
    leaning = rot.from_axis_angle(X + 0.3 * Y, np.linspace(0.0, 1.4, len(TIMES)))
    one, other = (retarget(clip, target, points=skin, keep_contacts=True).clip.sample(TIMES).rotations
                  for clip in (BELLY, carried(BELLY, leaning)))
    joints = [find_map(target).joint_of[f"{side}_{part}"] for side in "lr" for part in ("shoulder", "elbow", "wrist")]
    assert np.degrees(rot.angle_between(one[:, joints], other[:, joints])).max() < 0.1


def test_hands_stay_turned_and_arms_move_without_a_jerk() -> None:
    target = target_body()
    skin, found = skin_of(target, STOUT), find_map(target)
    clip = swinging(1.2 - 0.8 * np.cos(np.pi * TIMES), 0.5)  # in and out of the trunk
    times = np.linspace(0.0, 2.0, 481)
    one, other = (world_from_pose(target, retarget(clip, target, points=skin, keep_contacts=keep).clip.sample(times))
                  for keep in (False, True))
    for side in "lr":
        elbow, wrist = (found.joint_of[f"{side}_{part}"] for part in ("elbow", "wrist"))
        np.testing.assert_allclose(other[::10, wrist, :, :3], one[::10, wrist, :, :3], atol=1e-6)
        moved = np.linalg.norm(other[:, elbow, :, 3] - one[:, elbow, :, 3], axis=1)
        assert (moved < ROUNDING).any() and moved.max() > 0.05
        speeds = [np.linalg.norm(np.diff(world[:, wrist, :, 3], axis=0), axis=1).max() for world in (one, other)]
        assert speeds[1] < 1.5 * speeds[0]


@pytest.mark.parametrize("shape", [STOUT, (0.3, 0.3)])
@pytest.mark.parametrize("per_second", [2.0, 3.0, 4.0])
def test_arms_that_swing_to_and_fro_go_out_of_a_stout_trunk_on_one_way(per_second: float,
                                                                      shape: tuple[float, float]) -> None:
    target, clip = target_body(), swinging(0.02 + 0.2 * np.sin(per_second * 2.0 * np.pi * TIMES))
    found, times, bent = find_map(target), np.linspace(0.0, 2.0, 61), []
    for keep in (False, True):
        played = retarget(clip, target, points=skin_of(target, shape), keep_contacts=keep).clip
        wrists = world_from_pose(target, played.sample(times))[:, [found.joint_of[f"{side}_wrist"] for side in "lr"]]
        bent.append(np.linalg.norm(np.diff(wrists[..., 3], 2, axis=0), axis=-1).max())
    assert bent[1] < 1.05 * bent[0] and depth(played, shape).max() < DEEP_M


def test_nothing_changes_where_nothing_touches() -> None:
    target = target_body()
    found, theirs = headless(target), headless(BODY)
    for clip in (HANGING, *movements()[::4]):
        plain = retarget(clip, target).clip
        assert with_contacts_kept(plain, found, skin_of(target, SLIM), clip, theirs) is plain


def test_nothing_changes_on_a_body_with_the_same_proportions_and_without_skin() -> None:
    target = target_body()
    for clip in (BELLY, *movements()[::4]):
        plain = retarget(clip, target).clip
        assert with_contacts_kept(plain, headless(target), None, clip, headless(BODY)) is plain


def test_a_body_whose_arms_are_not_known_stays_as_it_is() -> None:
    target = target_body()
    found = find_map(target)
    plain, skin = retarget(BELLY, target).clip, skin_of(target, STOUT)
    armless = corrected(found, {target.names[found.joint_of["l_elbow"]]: None})
    assert with_contacts_kept(plain, armless, skin, BELLY, find_map(BODY)) is plain
    assert with_contacts_kept(plain, found, skin, BELLY, find_map(BODY)) is not plain


@pytest.mark.parametrize("shape", [SLIM, STOUT])
def test_a_trunk_is_as_wide_as_its_skin(shape: tuple[float, float]) -> None:
    target = target_body()
    found = find_map(target)
    assert found.turn is not None
    trunk = Trunk.of(found, target, skin_of(target, shape))
    assert trunk is not None
    middle = trunk.origin + 0.5 * trunk.length * trunk.axes[1]
    points = np.stack([middle + 0.4 * way for way in (trunk.axes[0], -trunk.axes[0], trunk.axes[2], -trunk.axes[2])])
    outside, ways = BentTrunk(trunk, target.rest_world[None]).outside(points[None])
    wanted = 0.4 - np.array((shape[0], shape[0], shape[1], shape[1]))
    np.testing.assert_allclose(outside[0] * trunk.length, wanted, atol=0.01)
    np.testing.assert_allclose(ways[0] * 0.4, points - middle, atol=ROUNDING)
