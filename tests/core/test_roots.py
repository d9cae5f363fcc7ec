"""core/retargeting/roots.py: whatever bones above the hips are called and carry, the hips go their way."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_doubles import RIG
from takt.tests.core.test_retarget import skeleton_at, with_axes

Y = np.array((0.0, 1.0, 0.0))
GROUND = np.array((1.0, 0.0, 1.0))
NAMES = ("root", "Root", "ROOT", "master", "pelvis_root")
CARRIED = ("NOTHING", "ALL", "GROUND", "HEADING", "TILTED", "AT_THE_HIPS")
SEEN = ("HumanoidRoot", "l_hip", "l_ankle", "r_ankle", "l_wrist", "skullbase")
NEAR_M, NEAR_RAD = 2e-3, 1e-6
"""A joint above another one is keyed in between too: its turn and shift are no straight lines."""


@cache
def walk() -> Clip:
    """Return a movement of another body whose hips go far, rise, fall and turn, its pelvis on top."""
    clip = rewritten(movements()[0], Rewriting(names="Mixamo")).clip
    times = np.arange(61) * clip.duration_s / 60
    pose, part = clip.sample(times), times / times[-1]
    moves = pose.translations[:, 0] + np.stack((3 * part, 0.1 * np.sin(9 * part), 2 * part**2), axis=1)
    turns = pose.rotations.copy()
    turns[:, 0] = rot.multiply(rot.from_axis_angle(Y, 2 * part), turns[:, 0])
    joints = np.arange(len(clip.skeleton))
    return Clip("walk", clip.skeleton, clip.duration_s, Tracks.uniform(joints, times, rot.continuous(turns)),
                Tracks.uniform(joints[:1], times, moves[:, None]), Tracks.empty(3))


def rooted(clip: Clip, name: str, carried: str) -> Clip:
    """Put one bone more above all, which carries some of the way; the body moves in the world as before."""
    old, times = clip.skeleton, clip.rotations.times_s[:61]
    pose = clip.sample(times)
    turns, places = pose.rotations[:, 0], old.rest_translations[0] + pose.translations[:, 0]
    rest, way, turned = np.zeros(3), np.zeros((len(times), 3)), rot.identities(len(times))
    if carried in ("GROUND", "HEADING"):
        way = (places - places[0]) * GROUND
    if carried == "HEADING":
        turned = rot.from_axis_angle(Y, 2 * times / times[-1])
    if carried in ("ALL", "TILTED"):
        way = places - old.rest_translations[0]
    if carried == "TILTED":
        turned = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.sin(times))
    if carried == "AT_THE_HIPS":
        rest, way = old.rest_translations[0], (places - old.rest_translations[0]) * GROUND
    below = rot.rotate(rot.conjugate(turned), places - rest - way)
    offset = old.rest_translations[0] - rest
    skeleton = Skeleton((name, *old.names), np.concatenate(((-1,), old.parents + 1)),
                        np.concatenate((rot.identities(1), old.rest_rotations)),
                        np.concatenate((rest[None], offset[None], old.rest_translations[1:])),
                        np.concatenate((np.ones((1, 3)), old.rest_scales)), old.name)
    # Rests turn by nothing here, so that a local turn is one in the parent's axes.
    hips = rot.multiply(rot.multiply(rot.conjugate(old.rest_rotations[0]), rot.conjugate(turned)),
                        rot.multiply(old.rest_rotations[0], turns))
    rotations = np.concatenate((turned[:, None], hips[:, None], pose.rotations[:, 1:]), axis=1)
    translations = np.stack((way, below - offset), axis=1)
    return Clip(clip.name, skeleton, clip.duration_s,
                Tracks.uniform(np.arange(len(skeleton)), times, rot.continuous(rotations)),
                Tracks.uniform(np.arange(2), times, translations), Tracks.empty(3))


def with_top(skeleton: Skeleton, name: str) -> Skeleton:
    """Put a bone on the ground above all, and beside the body an IK target that hangs on it."""
    places = np.concatenate((np.zeros((1, 3)), skeleton.rest_world[:, :, 3], ((0.2, 0.0, 0.1),)))
    parents = [-1, *np.where(skeleton.parents < 0, 0, skeleton.parents + 1).tolist(), 0]
    return skeleton_at([name, *skeleton.names, "ik_target"], parents, places,
                       np.concatenate((rot.identities(1), skeleton.rest_world_rotations, rot.identities(1))))


def as_rigify(name: str) -> Skeleton:
    """Return a body whose trunk hangs on the top bone, and its legs on controls beside it."""
    parents = RIG.parents.copy()
    top = RIG.names.index("c_root")
    parents[RIG.index_of["HumanoidRoot"]] = top
    order = sorted(range(len(RIG)), key=lambda joint: len(_above(parents.tolist(), joint)))
    return skeleton_at([name if joint == top else RIG.names[joint] for joint in order],
                       [order.index(parents[joint]) if parents[joint] >= 0 else -1 for joint in order],
                       RIG.rest_world[order, :, 3], RIG.rest_world_rotations[order])


def _above(parents: list[int], joint: int) -> list[int]:
    return [] if joint < 0 else [joint, *_above(parents, parents[joint])]


def target(kind: str, name: str) -> Skeleton:
    """Return a body of another size, or with other joints."""
    if kind == "as Rigify":
        return as_rigify(name)
    body = worn(RIGS["Mixamo"], "Tall") if kind == "same names" else build_skeleton()
    longer = with_axes(body, np.random.default_rng(3), 1.4)
    return longer if kind == "without" else with_top(longer, name)


def played(clip: Clip, body: Skeleton) -> tuple[Clip, FloatArray]:
    """Play a clip on a body; return also where it is, (F, J, 3, 4)."""
    found = retarget(clip, body).clip
    return found, world_from_pose(body, found.sample(np.linspace(0.0, clip.duration_s, 61)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["with", "without", "same names", "as Rigify"])
@pytest.mark.parametrize(("name", "carried"), [*product(NAMES, ("NOTHING", "ALL")), *product(NAMES[:1], CARRIED[2:])])
def test_hips_go_their_way_whatever_is_above_them(name: str, carried: str, kind: str) -> None:
    body = target(kind, name)
    joint_of = find_map(body).joint_of
    seen = [joint_of[joint] for joint in SEEN]
    wanted = played(walk(), body)[1]
    found = played(rooted(walk(), name, carried), body)[1]
    np.testing.assert_allclose(found[:, seen, :, 3], wanted[:, seen, :, 3], atol=NEAR_M)
    assert np.ptp(found[:, seen[0], :, 3], axis=0).max() > 2.0
    if kind != "without":
        top = body.index_of[name]
        rest = body.rest_world[top]
        assert np.abs(found[:, top, 1, 3] - rest[1, 3]).max() < NEAR_RAD, "the root stays on the ground"
        assert np.abs(found[:, top, :, :3] @ (rest[:, :3].T @ Y) - Y).max() < NEAR_RAD, "and upright"
        assert (np.ptp(found[:, top, :, 3], axis=0).max() > 2.0) == (carried in ("GROUND", "HEADING"))


@pytest.mark.parametrize("carried", CARRIED)
def test_on_its_own_skeleton_each_bone_plays_as_it_is(carried: str) -> None:
    clip = rooted(walk(), "root", carried)
    found, world = played(clip, clip.skeleton)
    there = world_from_pose(clip.skeleton, clip.sample(np.linspace(0.0, clip.duration_s, 61)))
    np.testing.assert_allclose(world, there, atol=1e-9)
    assert found.skeleton is clip.skeleton
