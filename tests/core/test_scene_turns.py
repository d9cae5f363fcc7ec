"""Turns at the ends of ways: a body that has to face back turns gradually, wherever it comes from and faces."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import ScenePlace
from takt.core.playing.scene.ground_curve import bend
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.seeds import part_of, seeds
from takt.tests.core.test_scene_detours import setting
from takt.tests.core.test_scene_seats import SEEDS
from takt.tests.core.test_scene_seats import played as played_sitting
from takt.tests.core.test_scene_sits import ROLES
from takt.tests.core.test_scene_ways import BODY, LEG_M, ROOT, played

FPS: Final = 48
MOST_DEG_PER_S: Final = 400.0
"""What ways turn a body by at most without a warning, and what its steps turn it by."""
EASY_DEG_PER_S: Final = 160.0
"""What a walk without haste turns it by at most."""
HALF_TURN: Final = 1.4
NEAR_M: Final = 0.05
"""As a clip begins, hips are turned and moved a little, so its way is not quite the curve from the armature."""
DURATIONS_S: Final = (1.5, 3.0, 6.0, 10.0)
FASTER, FASTER_LEGS_PER_S, FASTEST_LEGS_PER_S = 1.5, 1.5, 9.0
"""Feet of a body that turns go farther than those of one that goes straight on. None jumps."""


class Went(NamedTuple):
    """How a body goes: the fastest turn of its hips, degrees per second, and the fastest foot, legs per second."""

    turn: float
    foot: float

    @classmethod
    def of(cls, world: FloatArray, root: int, feet: list[int], leg: float) -> Went:
        """Take poses in the model (F, J, 3, 4), FPS of them per second."""
        axes = world[:, root, :, :3] / np.linalg.norm(world[:, root, :, :3], axis=1, keepdims=True)
        cosines = np.einsum("fij,fij->f", axes[1:], axes[:-1]) / 2.0 - 0.5
        speeds = np.linalg.norm(np.diff(world[..., 3][:, feet], axis=0), axis=2)
        turns = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
        return cls(FPS * float(turns.max()), FPS * float(speeds.max()) / leg)


def went(motion: Motion) -> Went:
    world = world_from_pose(BODY, motion.sample(np.arange(0.0, motion.duration_s, 1.0 / FPS)))
    return Went.of(world, ROOT, [BODY.index_of[f"{side}_metatarsal"] for side in "lr"], LEG_M)


def place_at(far: float, bearing: float, faces: float) -> ScenePlace:
    return ScenePlace((far * np.sin(bearing), 0.0, far * np.cos(bearing)), (np.sin(faces), 0.0, np.cos(faces)))


def is_told(motion: Motion) -> bool:
    """Return whether a warning says that there is too little time, or that the steps are too long."""
    return any("would do" in problem.message for problem in motion.problems)


@pytest.mark.parametrize("seed", seeds(400, quick=24))
def test_hips_turn_gradually_wherever_a_way_begins_and_a_place_faces(seed: int) -> None:
    rng = np.random.default_rng(seed + 22000)
    far, (bearing, faces) = rng.uniform(0.3, 6.0), rng.uniform(-np.pi, np.pi, 2)
    if seed % 3 == 0:  # straight back, or nearly
        faces = bearing + np.pi + rng.choice((0.0, 1e-9, rng.uniform(-0.3, 0.3)))
    fit = ' repeat="fit"' * int(rng.integers(2))
    walk = f'<call name="walk" to="seat" duration="{DURATIONS_S[seed % 4]}"{fit}/><call name="left_step" duration="2"/>'
    motion = played(walk, cast={"seat": place_at(far, bearing, faces)})
    straight = played(walk, cast={"seat": place_at(1.2 * far + HALF_TURN * LEG_M, 0.0, 0.0)})
    now, plain = went(motion), went(straight)
    assert now.turn < MOST_DEG_PER_S or is_told(motion)
    assert now.foot < FASTER * plain.foot + FASTER_LEGS_PER_S


@pytest.mark.parametrize("faces_deg", [100.0, 135.0, 170.0, 180.0, 190.0, 270.0])
@pytest.mark.parametrize("bearing_deg", [0.0, 120.0, 180.0])
def test_a_walk_in_its_own_time_to_a_place_that_faces_back_turns_as_at_a_corner(
        bearing_deg: float, faces_deg: float) -> None:
    bearing = np.radians(bearing_deg)
    motion = played('<call name="walk" to="seat" duration="9" repeat="fit"/><call name="left_step" duration="2"/>',
                    cast={"seat": place_at(3.45, bearing, bearing + np.radians(faces_deg))})
    assert went(motion).turn < EASY_DEG_PER_S
    assert not any("turns the body" in problem.message for problem in motion.problems)


@pytest.mark.parametrize("seed", part_of(SEEDS, 8))
def test_hips_turn_gradually_before_seats_and_around_their_meshes(seed: int) -> None:
    rng = np.random.default_rng(seed + 22500)
    rig, place, _, text = setting(seed, rng.uniform(-np.pi, np.pi))
    place = place if seed % 3 else replace(place, footprint=())
    motion = played_sitting(rig, text, roles=ROLES, seat=place)
    world = world_from_pose(rig.skeleton, motion.sample(np.arange(0.0, motion.duration_s, 1.0 / FPS)))
    now = Went.of(world, rig.joint("HumanoidRoot"), [rig.joint(f"{side}_ankle") for side in "lr"], rig.leg)
    assert now.turn < MOST_DEG_PER_S
    assert now.foot < FASTEST_LEGS_PER_S


@pytest.mark.parametrize(("far", "seconds"), [(0.9, 0.8), (1.5, 0.8), (1.5, 1.6)])
def test_a_way_without_time_to_turn_is_told_with_a_length_that_would_do(far: float, seconds: float) -> None:
    walk, place = '<call name="walk" to="seat" duration="{}" repeat="2"/>', place_at(far, 0.0, np.pi)
    motion = played(walk.format(seconds / 2.0), cast={"seat": place})
    (problem,) = (each for each in motion.problems if not each.is_note)
    found = re.search(r"'seat' turns the body by up to ([0-9]+)° per second.*about ([0-9.]+) s in all", problem.message)
    assert found and problem.is_missed and problem.place.line == 1
    assert float(found[1]) == pytest.approx(went(motion).turn, rel=0.05)
    longer = played(walk.format(float(found[2]) / 2.0), cast={"seat": place})
    assert not [each for each in longer.problems if not each.is_note] and went(longer).turn < MOST_DEG_PER_S


def said_of(far: float, faces: float) -> str:
    """Return the warning of a walk of one round to a place straight ahead."""
    motion = played('<call name="walk" to="seat" duration="3"/>', cast={"seat": place_at(far, 0.0, faces)})
    (problem,) = (each for each in motion.problems if not each.is_note)
    return problem.message


def test_a_length_that_is_told_says_how_much_of_it_turns_the_body() -> None:
    told = re.search(r"is ([0-9.]+) m long, with ([0-9.]+) m of steps to turn, ", said_of(0.5, np.pi))
    assert told is not None
    curve = bend(0.0, 0.0, 0.5, np.pi, HALF_TURN * LEG_M)
    assert float(told[1]) == pytest.approx(curve.length, abs=NEAR_M)
    assert float(told[2]) == pytest.approx(curve.length - np.abs(np.diff(curve.points)).sum(), abs=NEAR_M)
    assert "m long" in said_of(0.5, 0.0) and "steps to turn" not in said_of(0.5, 0.0)


def test_curves_turn_nowhere_more_tightly_than_on_the_spot_and_the_others_stay() -> None:
    """A way that begins and ends within a quarter turn is the plain cubic curve, by its arc length."""
    rng = np.random.default_rng(22)
    for _ in range(500):
        end = complex(*rng.uniform(-4.0, 4.0, 2))
        out, into = (np.angle(end) + rng.uniform(-np.pi, np.pi, 2)).tolist()
        curve = bend(0.0, out, end, into, HALF_TURN)
        is_plain = np.abs(np.array((out, into)) - np.angle(end)).max() <= np.pi / 2.0
        sides = np.abs(np.diff(curve.points))
        assert abs(curve.points[-1] - end) < 1e-12 and curve.angles[0] == out
        assert abs((curve.angles[-1] - into + np.pi) % (2.0 * np.pi) - np.pi) < 1e-9
        if is_plain:
            np.testing.assert_allclose(np.diff(curve.lengths), sides, atol=1e-12)
        else:
            tight = np.abs(np.diff(curve.angles)) / np.maximum(np.diff(curve.lengths), 1e-12)
            assert tight.max() < np.pi / HALF_TURN * np.pi / 2.0 + 1e-6
        ahead = (curve.points[1:-1] * np.exp(-1j * np.angle(end))).real
        assert ahead.min() > -1e-9 and ahead.max() < abs(end) + 1e-9
