"""A motion whose objects move is the motion that the score would make with them there."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import Target
from takt.core.skeletons.skeleton import Pose

from .scene_rigs import Rig
from .scene_settings import floor_of, played, rig_of
from .seeds import seeds

SCORES = (
    '<call name="walk" duration="8" to="seat"/><call name="walk" duration="4"/>',
    '<call name="walk" duration="4" at="seat"/><call name="left_step" duration="1"/>',
    '<call name="walk" duration="6" along="lane"/><call name="walk" duration="8" to="seat"/>'
    '<call name="hello" duration="4" at="seat"/>',
    '<together><lane><call name="hello" duration="8"/></lane><lane><look at="seat" duration="4"/></lane>'
    '<lane><wait duration="1"/><reach for="cup" with="right hand" duration="2" hold="1"/></lane></together>',
    '<call name="walk" duration="6" to="seat"/><together><lane><call name="hello" duration="8"/></lane>'
    '<lane><hold prop="cup" with="left hand" duration="6"/></lane></together>')


def cast_of(rig: Rig, rng: Random) -> dict[str, Target]:
    x, z, turn = rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 3.0), rng.uniform(-np.pi, np.pi)
    seat = rig.place(np.array((x, 0.0, z)) * rig.leg_m, np.array((np.sin(turn), 0.0, np.cos(turn))))
    cup = rig.place(np.array((rng.uniform(-0.5, 0.5), rng.uniform(1.0, 1.6), 0.5)) * rig.leg_m,
                    np.array((0.0, 0.0, 1.0)))
    bends = np.cumsum([[0.0, 0.0, 0.0], *([rng.uniform(-1.0, 1.0), 0.0, 1.0] for _ in range(4))], axis=0)
    return {"seat": seat, "cup": cup, "lane": rig.path(bends * rig.leg_m), "stage": floor_of(rig, rng.randrange(99))[1]}


def arrays(pose: Pose) -> tuple[FloatArray, ...]:
    return pose.rotations, pose.translations, pose.scales


def assert_equal(one: Motion, other: Motion, seed: int) -> None:
    times_s = np.sort(np.random.default_rng(seed).uniform(0.0, one.duration_s, 40))
    assert all(np.array_equal(mine, own) for mine, own in zip(
        arrays(one.sample(times_s)), arrays(other.sample(times_s)), strict=True))
    assert one.problems == other.problems and one.carried.keys() == other.carried.keys()


@pytest.mark.parametrize("seed", seeds(60, 5))
def test_a_recast_motion_equals_that_of_the_score(seed: int) -> None:
    rng, rig, inside = Random(seed), rig_of(seed), SCORES[seed % len(SCORES)]
    motion = played(rig, inside, **cast_of(rig, rng))
    motion.sample(np.linspace(0.0, motion.duration_s, 9))
    for _ in range(2):
        cast = cast_of(rig, rng)
        for role in ("seat", "stage"):
            if rng.random() < 0.3:
                del cast[role]
        found = motion.recast(cast)
        assert found is not None
        assert_equal(found, played(rig, inside, **cast), seed)
        motion = found


def test_a_score_whose_rounds_fit_their_way_is_played_anew() -> None:
    rig, rng = rig_of(0), Random(0)
    motion = played(rig, '<call name="walk" duration="8" repeat="fit" to="seat"/>', **cast_of(rig, rng))
    assert motion.recast(cast_of(rig, rng)) is None


def test_nobody_is_no_cast() -> None:
    """The height of the ground is known only with a cast."""
    rig = rig_of(0)
    motion = played(rig, SCORES[0], **cast_of(rig, Random(0)))
    assert motion.recast({}) is None and played(rig, SCORES[0]).recast(cast_of(rig, Random(0))) is None
    assert replace(motion, composition=None).recast(cast_of(rig, Random(0))) is None
