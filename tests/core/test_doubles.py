"""Joints that stand where played ones stand: skin that follows them goes with what is played."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.playing.differences import Differences
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.playing.tweaked import below_feet, of_followed, tweaked, without_layers
from takt.core.retargeting.comparing.matching import Pairing
from takt.core.retargeting.doubles import doubles
from takt.core.retargeting.retarget import Retargeted, retarget
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.seeds import few
from takt.tests.core.test_retarget import skeleton_at

NEAR_M, NEAR_RAD = 1e-6, 1e-5
KEYS_S = np.linspace(0.0, 1.0, 31)
UP = np.array((0.0, 1.0, 0.0))
BODY = build_skeleton()
CONTROLS = {"c_hips": ("HumanoidRoot", "c_torso"), "c_chest": ("vt3", "c_hips"), "c_head": ("skullbase", "c_chest"),
            "c_glove": ("l_wrist", "c_root")}
"""Each with the joint in whose place it stands, and its parent."""
SKIN = {"belt": ("HumanoidRoot", "c_hips"), "nose": ("skullbase", "c_head"), "cuff": ("l_wrist", "c_glove")}
"""Each with the joint with which it has to go, and its parent."""
HUNG = {"HumanoidRoot": "c_torso", "l_hip": "c_hips", "r_hip": "c_hips"}


def control_rig() -> Skeleton:
    """Return the sample's body in other axes, with controls; its legs are children of one, as in Rigify's rigs."""
    rng = np.random.default_rng(7)
    places = dict(zip(BODY.names, BODY.rest_world[:, :, 3], strict=True))
    axes = dict(zip(BODY.names, rot.normalized(rng.normal(size=(len(BODY), 4))), strict=True))
    above = {name: BODY.names[parent] if parent >= 0 else "" for name, parent in
             zip(BODY.names, BODY.parents.tolist(), strict=True)} | HUNG
    for name, parent in {"c_root": "", "c_torso": "c_root", "prop": "c_root"}.items():
        places[name], axes[name], above[name] = np.array((0.0, 0.0, 0.1)), rot.IDENTITY, parent
    for name, (twin, parent) in CONTROLS.items():
        places[name], axes[name], above[name] = places[twin], axes[twin], parent
    for name, (part, parent) in SKIN.items():
        places[name], axes[name], above[name] = places[part] + 0.1, rot.normalized(rng.normal(size=4)), parent
    order: list[str] = []
    while len(order) < len(places):
        order += [name for name in places if name not in order and (not above[name] or above[name] in order)]
    return skeleton_at(order, [order.index(above[name]) if above[name] else -1 for name in order],
                       np.stack([places[name] for name in order]), np.stack([axes[name] for name in order]))


RIG = control_rig()


def dancing(name: str, seed: int, *left_out: str) -> Clip:
    """Return a clip that turns the body's joints at random, but for some, and walks."""
    rng = np.random.default_rng(seed)
    joints = np.array([j for j, joint in enumerate(BODY.names) if joint not in left_out])
    turns = rot.from_axis_angle(rng.normal(size=(1, len(joints), 3)), 0.4 * np.sin(
        KEYS_S[:, None] * rng.uniform(1.0, 6.0, len(joints)) + rng.uniform(0.0, 3.0, len(joints))))
    way = np.stack((0.2 * KEYS_S, 0.02 * np.sin(9.0 * KEYS_S), 0.5 * KEYS_S), axis=1)[:, None]
    return Clip(name, BODY, 1.0, Tracks.uniform(joints, KEYS_S, turns), Tracks.uniform(np.zeros(1, np.int64), KEYS_S,
                                                                                      way), Tracks.empty(3))


def skin_alone(*but: str) -> BoolArray:
    return np.array([not name.startswith("c_") and name not in but for name in RIG.names])


def played(clip: Clip, skin: BoolArray | None = None) -> Retargeted:
    return retarget(clip, RIG, skin=skin_alone() if skin is None else skin)


def torn(pose: Pose) -> tuple[float, float]:
    """Return by how much skin leaves the place and the direction that it has on its part of the body: m, rad."""
    world, rest = world_from_pose(RIG, pose), RIG.rest_world
    apart, turned = [], []
    for name, (part, _) in SKIN.items():
        j, on = RIG.index_of[name], RIG.index_of[part]
        back = np.linalg.inv(rest[on, :, :3])
        wanted = world[:, on, :, :3] @ (back @ (rest[j, :, 3] - rest[on, :, 3])) + world[:, on, :, 3]
        linear = world[:, on, :, :3] @ back @ rest[j, :, :3]
        apart.append(np.linalg.norm(world[:, j, :, 3] - wanted, axis=1).max())
        turned.append(rot.angle_between(rot.from_matrix(world[:, j, :, :3]), rot.from_matrix(linear)).max())
    return max(apart), max(turned)


def places(skeleton: Skeleton, pose: Pose, names: Sequence[str] = BODY.names) -> FloatArray:
    return world_from_pose(skeleton, pose)[:, [skeleton.index_of[name] for name in names], :, 3]


def performed(rig: Skeleton, skin: BoolArray | None = None, loop: bool = False, **settings: Any) -> Motion:
    """Play two clips, of which the second leaves the trunk as it was."""
    clips = library(feet_Steps=(dancing("one", 1), dancing("two", 2, "HumanoidRoot", "vl5", "vl3", "vt10", "vt3")))
    steps = [f'{name} duration="1" transition="0.4"' for name in ("one", "two", "one")]
    return play(programme(procedure("main", *steps), clips=clips), Performer(rig, UP, skin=skin),
                Settings(loop=loop, **settings))


def test_skin_on_doubles_goes_with_the_body() -> None:
    done = played(dancing("one", 1))
    apart, turned = torn(done.clip.sample(KEYS_S))
    assert apart < NEAR_M and turned < NEAR_RAD
    assert done.doubles == {RIG.index_of[name]: RIG.index_of[twin] for name, (twin, _) in CONTROLS.items()}
    assert set(done.unmatched_target) == {"c_root", "c_torso", "prop", *SKIN}


def test_the_body_itself_moves_as_without_doubles() -> None:
    clip = dancing("one", 1)
    own = places(BODY, clip.sample(KEYS_S))
    assert places(RIG, played(clip).clip.sample(KEYS_S)) == pytest.approx(own, abs=NEAR_M)


def test_what_carries_no_skin_stays_where_it_is() -> None:
    """Without skin on the head's control, none follows the chest's either, which has no other child."""
    done = played(dancing("one", 1), skin_alone("nose"))
    assert set(done.doubles) == {RIG.index_of["c_hips"], RIG.index_of["c_glove"]}
    assert not done.clip.moved[[RIG.index_of[name] for name in ("c_root", "c_chest", "c_head", "prop")]].any()


def test_what_carries_a_body_of_its_own_is_no_double() -> None:
    """A joint in the place of another tree's, on which something hangs that is played and goes its own way."""
    two = skeleton_at(("a", "b", "skin", "c"), (-1, 0, 0, -1), np.array(((0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0.0))))
    for rows, found in (({1: 1, 3: 3}, {}), ({3: 3}, {0: 0})):
        pairs = Pairing.of({t: (s, s, 0.0) for t, s in rows.items()}, (None,) * 4)
        assert doubles(two, pairs, np.ones(4, dtype=np.bool_)) == found


def test_a_body_without_doubles_gets_none() -> None:
    body = retarget(dancing("one", 1), skeleton_at(BODY.names, BODY.parents.tolist(), 1.1 * BODY.rest_world[:, :, 3]))
    assert not body.doubles


@pytest.mark.parametrize("loop", [False, True])
def test_skin_follows_through_transitions_and_held_joints_too(loop: bool) -> None:
    """Two ways of turning that are the same at both ends of a transition are not the same within it."""
    motion = performed(RIG, skin_alone(), loop)
    times = np.linspace(0.0, 2.0 * motion.duration_s if loop else motion.duration_s, 400)
    apart, turned = torn(motion.sample(times))
    assert apart < NEAR_M and turned < NEAR_RAD


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("feet", [False, True])
@pytest.mark.parametrize(("joint", "least_m"), few([
    ("HumanoidRoot", 0.1), ("vt3", 0.1), ("skullbase", 0.01), ("c_torso", 0.1), ("c_root", 0.1)]))
def test_skin_follows_where_the_body_is_tweaked_too(joint: str, least_m: float, feet: bool, is_last: bool) -> None:
    motion = performed(RIG, skin_alone(), lock_feet=feet)
    assert (motion.feet is not None) == feet
    turns = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.5, 0.5, 0.0)))
    tracks = Tracks.uniform(np.array((RIG.index_of[joint],)), np.array((0.4, 0.8, 2.0, 2.4)), turns[:, None])
    layer = Differences(tracks, Tracks.empty(3), Tracks.empty(3), np.ones(len(RIG)))
    layers = ((), (layer,)) if is_last else ((layer,), ())
    found, times = tweaked(motion, *layers), np.linspace(0.0, motion.duration_s, 100)
    pose, plain = found.sample(times), motion.sample(times)
    apart, turned = torn(pose)
    assert apart < NEAR_M and turned < NEAR_RAD
    moved = np.linalg.norm(places(RIG, pose, [*SKIN]) - places(RIG, plain, [*SKIN]), axis=-1)
    assert moved.max() > least_m
    assert (pose.rotations[times < 0.3] == plain.rotations[times < 0.3]).all()
    parts, last = below_feet(motion, layers[0]), of_followed(motion, layers[1])
    below = without_layers(tweaked(motion, parts, last), (*parts, *last)).sample(times)
    layer.add(below, times)
    assert places(RIG, below, RIG.names) == pytest.approx(places(RIG, pose, RIG.names), abs=NEAR_M)


def test_the_way_of_the_root_is_the_bodys_not_a_doubles() -> None:
    """The hand's control hangs nearer to the top than the hips."""
    plain, rig = performed(BODY), performed(RIG, skin_alone())
    times = np.linspace(0.0, plain.duration_s, 50)
    assert np.ptp(places(BODY, plain.sample(times))[:, 0, 2]) > 0.9
    for name in ("HumanoidRoot", "skullbase"):
        assert places(RIG, rig.sample(times), (name,)) == pytest.approx(places(BODY, plain.sample(times), (name,)),
                                                                       abs=NEAR_M)
