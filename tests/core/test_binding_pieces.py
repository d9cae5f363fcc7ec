"""Dolls and robots of pieces: each piece keeps to the bones in it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.rigid import walls

from .bodies import ball, joined, moved, tube, turn
from .seeds import seeds

LEAST = 0.95
"""Of each vertex' weight, that of bones in its own piece."""
SOLVED = 3e-5
"""How exactly heat is solved for."""
BONES = {0: (0, 1), 1: (2,), 2: (3, 4), 3: (5, 6), 4: (7, 8), 5: (9, 10)}
"""Those in each piece of a doll."""
RIVETS = 110
"""So many small parts make a body an assembly of hard parts."""


def doll(seed: int, rivets: int = 0) -> BindInput:
    """A trunk with its head, arms and legs stuck in it, of two bones each but for the head, of many proportions."""
    random = np.random.default_rng(seed)
    arm, head, neck, deep = random.uniform((0.1, 0.18, -0.1, 0.0), (0.16, 0.3, 0.02, 0.1))
    sides = (-1, 1)
    angle, height = random.uniform(0, 2 * np.pi, rivets), random.uniform(1.0, 1.3, rivets)
    points, faces, part = joined(
        tube((0, 0, 0.9), (0, 0, 1.5), 0.2, 13, 16), ball((0, 0, 1.5 + neck + head), head, 9, 14),
        *(tube((side * (0.2 - deep), 0, 1.4), (side * 0.9, 0, 1.4), arm, 17, 10) for side in sides),
        *(tube((side * 0.1, 0, 0.95), (side * 0.1, 0, 0.05), 0.09, 19, 10) for side in sides),
        *(ball((0.2 * np.cos(a), 0.2 * np.sin(a), z), 0.012, 3, 5) for a, z in zip(angle, height, strict=True)))
    names, parents = ["hips", "chest", "head"], [-1, 0, 1]
    joints: list[Any] = [[(0, 0, 0.9), (0, 0, 1.2), (0, 0, 1.5)], [(0, 0, 1.53), (0, 0, 1.9)]]
    for limb, above, at in (("arm", 1, [(0.17, 0, 1.4), (0.5, 0, 1.4), (0.88, 0, 1.4)]),
                            ("leg", 0, [(0.1, 0, 0.9), (0.1, 0, 0.5), (0.1, 0, 0.1)])):
        for side in sides:
            names += [f"{limb}{link}{'RL'[side > 0]}" for link in (1, 2)]
            parents += [above, len(parents)]
            joints.append([(side * x, y, z) for x, y, z in at])
    return BindInput.from_arrays(points, faces, names, parents, np.array([at for chain in joints for at in chain[:-1]]),
                                 np.array([at for chain in joints for at in chain[1:]]), part)


def own_share(body: BindInput) -> float:
    """Return the least share of a vertex' weight that bones in its own piece have."""
    weights = bind_inside_distance(body).dense(len(body.bone_names))
    return min(float(weights[body.part == piece][:, bones].sum(axis=1).min()) for piece, bones in BONES.items())


@pytest.mark.parametrize("seed", seeds(5, quick=1))
@pytest.mark.parametrize("rivets", [0, RIVETS])
def test_no_piece_of_a_doll_follows_another_pieces_bone(seed: int, rivets: int) -> None:
    assert own_share(doll(seed, rivets)) > LEAST


def test_names_scale_and_axes_change_nothing() -> None:
    made = doll(0)
    bones = len(made.heads)
    other = replace(moved(made, 250.0 * turn((1, 2, 3), 0.9)), bone_names=tuple(f"b{bone}" for bone in range(bones)))
    weights, again = (bind_inside_distance(each).dense(bones) for each in (made, other))
    assert np.abs(weights - again).max() < SOLVED


@pytest.mark.parametrize(("held", "low"), [
    ([[1.0, 0.0], [0.0, 1.0]], 0.1),  # two pieces with a bone each
    ([[0.6, 0.0], [0.0, 1.0]], 0.05),  # the first has half of a bone
    ([[1.0, 0.4], [0.0, 1.0]], 0.05),  # or holds half of the other's as well
    ([[1.0, 0.8], [0.0, 1.0]], 0.0),  # or holds it well
    ([[0.2, 0.0], [0.0, 1.0]], 0.0)])  # or holds no bone
def test_how_far_a_piece_is_shut_off_from_anothers_bone(held: list[list[float]], low: float) -> None:
    assert walls(np.array(held), np.full(2, 0.3))[0, 1] == pytest.approx(low)


def test_pieces_that_share_a_bone_are_one_limb() -> None:
    """As a shirt and the arm in its sleeve, though each holds bones that the other does not."""
    shirt_and_arm = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    assert not walls(shirt_and_arm, np.full(2, 0.3)).any()


def test_hard_parts_of_an_assembly_are_shut_off_altogether_and_sheets_are_not() -> None:
    held = np.zeros((200, 2))
    held[0, 0] = held[1, 1] = 1.0
    assert walls(held, np.full(200, 0.3))[0, 1] == pytest.approx(1.0)
    assert walls(held, np.zeros(200))[0, 1] == pytest.approx(0.1)
    assert not walls(held, np.full(200, 0.3))[2:].any(), "parts without bones may follow any"
