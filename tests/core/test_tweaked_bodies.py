"""Tweaks added to bodies that are placed already: the same as to poses."""

import numpy as np
import pytest

from takt.core.clips.tracks import Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.ahead import Ahead
from takt.core.playing.differences import Differences, Tweaked
from takt.core.playing.stage import Playable
from takt.core.playing.tweaked import tweaked
from takt.core.playing.tweaked_bodies import Bodies
from takt.core.playing.untweaked import Untweaked
from takt.core.skeletons.skeleton import Pose, Skeleton
from takt.core.skinning import Palette

from .test_tweaks import dance, leant

MOTION = dance()
SKELETON = MOTION.skeleton
TIMES = np.arange(0.0, 13.0, 1.0 / 30.0)
TOLERANCE = 1e-9


def moments(random: np.random.Generator, joints: int, keys: int, channels: int, rest: FloatArray) -> Tracks:
    """Make tracks that are at rest but for some moments."""
    chosen = random.choice(len(SKELETON), joints, replace=False)
    values = np.tile(rest, (len(TIMES[::5]), joints, 1))
    for track in range(joints):
        at = random.choice(len(values), keys, replace=False)
        values[at, track] = rest + 0.3 * random.normal(size=(keys, channels))
    if channels == len(rot.IDENTITY):
        values = rot.normalized(values)
    return Tracks.uniform(np.sort(chosen), TIMES[::5], values)


def layer(seed: int, *, joints: int = 3, keys: int = 4, scales: bool = False, weight: float = 1.0) -> Differences:
    random = np.random.default_rng(seed)
    joints = min(joints, len(SKELETON))
    return Differences(moments(random, joints, keys, 4, rot.IDENTITY), moments(random, 2, keys, 3, np.zeros(3)),
                       moments(random, 1, keys, 3, np.ones(3)) if scales else Tracks.empty(3),
                       np.full(len(SKELETON), weight))


def bodies(skeleton: Skeleton, pose: Pose) -> Bodies:
    palette = Palette.from_pose(skeleton, pose)
    return Bodies(skeleton, palette.rotations, palette.positions)


@pytest.mark.parametrize("layers", [(layer(1),), (layer(2, weight=0.4),), (layer(3), layer(4, weight=0.7), layer(5))])
def test_they_are_what_tweaked_poses_make_of_bodies(layers: tuple[Differences, ...]) -> None:
    found = bodies(SKELETON, MOTION.sample(TIMES))
    before = found.positions.copy()
    assert found.add(Tweaked(MOTION.end, layers), TIMES)
    pose = MOTION.sample(TIMES)
    Tweaked(MOTION.end, layers).add(pose, TIMES)
    wanted = bodies(SKELETON, pose)
    np.testing.assert_allclose(found.rotations, wanted.rotations, rtol=0.0, atol=TOLERANCE)  # in sign, too
    np.testing.assert_allclose(found.positions, wanted.positions, rtol=0.0, atol=TOLERANCE)
    changed = np.abs(found.positions - before).max(axis=(1, 2)) > 0.0
    assert 0.05 < changed.mean() < 1.0


@pytest.mark.parametrize("some", [layer(6, scales=True), layer(7, joints=1000, keys=70)])
def test_where_posing_them_again_is_quicker_they_are_left_alone(some: Differences) -> None:
    found = bodies(SKELETON, MOTION.sample(TIMES))
    rotations, positions = found.rotations.copy(), found.positions.copy()
    assert not found.add(Tweaked(MOTION.end, (some,)), TIMES)
    assert (found.rotations == rotations).all() and (found.positions == positions).all()


@pytest.mark.parametrize("joint", ["HumanoidRoot", "l_elbow"])
def test_a_crowd_with_tweaks_is_sampled_little_more_than_one_without(joint: str) -> None:
    crowd = [tweaked(MOTION, [leant(MOTION, at, joint), leant(MOTION, (2,), "r_elbow")]) for at in ((0,), (1, 3), (5,))]
    sampled: list[int] = []

    def placed(played: Playable, times_s: FloatArray) -> FloatArray:
        sampled.append(len(times_s))
        palette = Palette.from_pose(SKELETON, played.sample(times_s))
        return np.concatenate((palette.rotations, palette.positions), axis=-1)

    def with_tweaks(plain: Untweaked, known: list[FloatArray], times_s: FloatArray) -> FloatArray | None:
        made = np.stack(known)
        found = Bodies(SKELETON, made[..., :4].copy(), made[..., 4:].copy())
        return np.concatenate((found.rotations, found.positions), axis=-1) if plain.add(found, times_s) else None

    ahead = Ahead(placed, with_tweaks)
    found = np.array([[ahead.at_one(played, time_s) for played in crowd] for time_s in TIMES.tolist()], dtype=float)
    for number, played in enumerate(crowd):
        wanted = Palette.from_pose(SKELETON, played.sample(TIMES))
        np.testing.assert_allclose(found[:, number, :, 4:], wanted.positions, rtol=0.0, atol=TOLERANCE)
        turns = rot.angle_between(found[:, number, :, :4], wanted.rotations)
        np.testing.assert_allclose(np.abs(turns), 0.0, atol=1e-6)
    assert sum(sampled) < (2.6 if joint == "HumanoidRoot" else 1.6) * len(TIMES)
