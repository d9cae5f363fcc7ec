"""Skeletons fitted into people with what no humanoid has, in odd poses, and turned so that every hint is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from takt.core.fitting import FittedSkeleton, FittingProblem, fit_skeleton
from takt.core.fitting.assembly import assembled
from takt.core.fitting.candidate import looked_at_closely, surface_of

from .made_people import A_POSE, T_POSE, Build, Person, person
from .odd_people import KINDS, backpack, more_arms, odd_person, pipe, skirt, tail, turned, wings, with_part
from .seeds import EVERY, few
from .test_fitting_humanoid import WORST, errors, problem, slow

LIMBS = {f"{side}_{limb[0]}": tuple(f"{side}_{joint}" for joint in limb) for side in "lr"
         for limb in (("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle"))}
MAIN = ("HumanoidRoot", "vc7", "skullbase", *(joint for limb in LIMBS.values() for joint in limb))
MEAN = 0.06
"""Of the height by which the main joints may be off on average."""

UP, FRONT = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
SEEDS = 1 if EVERY > 1 else 2


def fit(of: Person, front: np.ndarray = FRONT) -> FittedSkeleton:
    return fit_skeleton(FittingProblem(of.vertices, of.quads.reshape(-1), np.full(len(of.quads), 4), UP, front))


def in_other_limbs(found: FittedSkeleton, of: Person) -> list[str]:
    limb_of = {joint: name for name, limb in LIMBS.items() for joint in limb}
    names, there = list(limb_of), np.array([of.joints[joint] for joint in limb_of])
    return [joint for joint in names
            if limb_of[names[int(np.linalg.norm(there - found.position(joint), axis=1).argmin())]] != limb_of[joint]]


@pytest.mark.parametrize(("kind", "seed"), [
    (kind, seed) if seed == 0 and kind == "sitting"
    else pytest.param(kind, seed, marks=pytest.mark.slow) for kind in KINDS for seed in range(SEEDS)])
def test_no_joint_is_in_another_limb(kind, seed):
    of = odd_person(kind, seed)
    found = fit(of)
    assert in_other_limbs(found, of) == []
    away = np.array([np.linalg.norm(found.position(name) - of.joints[name]) for name in MAIN])
    assert away.mean() < MEAN * 1.735


@pytest.fixture(scope="module")
def dancer() -> Person:
    return person(Build(turns=A_POSE))


@pytest.mark.slow
@pytest.mark.parametrize("lift_deg", [slow(-60.0), 0.0, slow(60.0)])
def test_a_tail_turns_no_one_upside_down_and_is_told(dancer, lift_deg):
    of = with_part(dancer, tail(dancer, np.random.default_rng(1), lift_deg, 0.9), grown=True)
    found = fit(of)
    assert found.up @ UP > 0.95 and found.front @ FRONT > 0.95
    assert found.notes == ("1 limb more, as a tail, got no bones",)


@pytest.mark.slow
def test_more_arms_are_told(dancer):
    of = dancer
    for part in more_arms(dancer, 0.13, 30.0):
        of = with_part(of, part, grown=True)
    found = fit(of)
    assert in_other_limbs(found, of) == []
    assert "2 limbs more, as of a figure with four arms, got no bones" in found.notes


@pytest.mark.slow
def test_wings_are_flat_parts(dancer):
    of = dancer
    for part in wings(dancer, np.random.default_rng(5)):
        of = with_part(of, part, grown=True)
    found = fit(of)
    assert in_other_limbs(found, of) == []
    assert found.notes == ("Flat parts, as wings or a cape, got no bones",)


@pytest.mark.slow
def test_a_blade_that_has_grown_to_the_hand_is_left_out(dancer):
    hand = dancer.joints["l_middle1"]
    blade = pipe(hand + np.linspace(-0.1, 1.0, 12)[:, None] * np.array((0.3, -0.2, 0.9)), np.full(12, 0.012))
    of = with_part(dancer, blade, grown=True)
    found = fit(of)
    assert found.notes == ("A thin part, as a sword, was left out",)
    assert np.linalg.norm(found.position("l_wrist") - of.joints["l_wrist"]) < 0.06


def test_blades_in_both_hands_are_left_out(dancer):
    of = dancer
    for side, sign in (("l", 1.0), ("r", -1.0)):
        way = np.linspace(-0.1, 0.9, 12)[:, None] * np.array((0.5 * sign, -0.4, 0.7))
        of = with_part(of, pipe(dancer.joints[f"{side}_middle1"] + way, np.full(12, 0.014)), grown=True)
    found = fit(of)
    assert found.notes == ("2 thin parts, as swords, were left out",)
    for side in "lr":
        assert np.linalg.norm(found.position(f"{side}_wrist") - of.joints[f"{side}_wrist"]) < 0.06


@pytest.mark.parametrize("axis", [0, slow(1), slow(2)])
def test_feet_tell_the_front_whatever_the_hints_say(dancer, axis):
    of = turned(dancer, np.eye(3)[axis], np.pi)
    found = fit(of)
    assert in_other_limbs(found, of) == [] and found.guesses == ()


def figure_of_tubes() -> Person:
    """A figure that looks to no side: its feet are balls, its knees and elbows straight, and its head a ball."""
    tubes = [((0.0, 0.9, 0.0), (0.0, 1.45, 0.0), 0.16), ((0.0, 1.4, 0.0), (0.0, 1.6, 0.0), 0.06),
             ((0.0, 1.6, 0.0), (0.0, 1.75, 0.0), 0.11)]
    for sign in (1.0, -1.0):
        tubes += [((0.1 * sign, 1.4, 0.0), (0.75 * sign, 1.3, 0.0), 0.045),
                  ((0.09 * sign, 0.95, 0.0), (0.13 * sign, 0.02, 0.0), 0.07)]
    of = Person(np.zeros((0, 3)), np.zeros((0, 4), dtype=np.int64), {})
    for start, end, radius in tubes:
        steps = np.linspace(0.0, 1.0, 12)[:, None]
        part = pipe(np.array(start) + steps * (np.array(end) - start), np.full(12, radius))
        of = with_part(of, part, grown=False)
    return of


@pytest.mark.slow
def test_sides_are_guesses_where_nothing_tells_the_front():
    found = fit(figure_of_tubes())
    assert found.front @ FRONT > 0.9  # as the hint has it
    assert {"l_shoulder", "r_shoulder", "l_knee", "r_ankle"} <= set(found.guesses)
    assert any("left and right may be exchanged" in note for note in found.notes)
    assert fit(figure_of_tubes(), -FRONT).front @ FRONT < -0.9


@pytest.mark.slow
@pytest.mark.parametrize("hem", [0.05, 0.32])
def test_legs_under_a_loose_skirt_are_found(dancer, hem):
    of = with_part(dancer, skirt(dancer, hem), grown=False)
    found = fit_skeleton(problem(of))
    assert errors(found, of).max() < WORST
    assert "l_index1" in found.names and not found.guesses


def test_a_slim_trunk_is_no_part_of_the_arms():
    of, taller = person(Build(turns=T_POSE)), np.array((1.0, 1.7, 1.0))
    found = fit(replace(of, vertices=of.vertices * taller))
    away = np.array([np.linalg.norm(found.position(name) - of.joints[name] * taller) for name in MAIN])
    assert away.max() < 0.04 * of.height * taller[1]


def test_nothing_is_sure_if_the_head_is_on_the_hips_side_of_the_shoulders(dancer):
    frame, surface = surface_of(problem(dancer))
    body = looked_at_closely(surface, UP @ frame.axes)
    assert body.found is not None
    assert assembled(body.inside, body.found, FRONT @ frame.axes).sure_of_limbs > 0.9
    upside_down = replace(body.found, hands=body.found.feet, feet=body.found.hands)
    assert assembled(body.inside, upside_down, FRONT @ frame.axes).sure_of_limbs == 0.0


@pytest.mark.parametrize(("high", "told"), few([(0.5, True), (0.85, False), (0.35, True)]))
def test_hips_are_guesses_if_the_thighs_touch_far_down(dancer, high, told):
    heights = np.linspace(high, 0.95, 20)
    filling = pipe(np.stack((0.0 * heights, heights, 0.0 * heights), axis=1), np.full(20, 0.08))
    found = fit(with_part(dancer, filling, grown=True))
    assert set(found.guesses) == ({"l_hip", "l_knee", "r_hip", "r_knee"} if told else set())


@pytest.mark.slow
def test_a_backpack_is_left_out(dancer):
    of = with_part(dancer, backpack(dancer), grown=False)
    found = fit_skeleton(problem(of))
    assert errors(found, of).max() < WORST
    assert not found.guesses
