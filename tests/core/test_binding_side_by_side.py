"""Bones side by side in one limb: skin between them bends without hard steps, even if the limb parts farther down."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.loose import told_apart
from takt.core.binding.segments import Segments
from takt.core.binding.sources import find_sources

from .bodies import moved, tube, turn
from .made_rigs import Limb, both, plain, skin
from .test_binding_sources import SIZE, body

SOLVED = 1e-5
"""How exactly heat is solved for."""
HARD = 1.5
"""Of the 2 that two neighbouring vertices with no bone in common differ by."""
SEEDS = range(6)


def rigged(limbs: list[Limb]) -> BindInput:
    """One skin around limbs, with a bone for each of their links."""
    points, faces, part = skin(limbs)
    bones = plain(limbs)
    names = [bone.name for bone in bones]
    parents = [-1 if bone.parent is None else names.index(bone.parent) for bone in bones]
    return BindInput.from_arrays(points, faces, names, parents, np.array([bone.head for bone in bones]),
                                 np.array([bone.tail for bone in bones]), part)


def hand(seed: int) -> BindInput:
    """An arm and a palm with four bones in it, from which fingers go on, more or less spread."""
    random = np.random.default_rng(seed)
    gap, spread, length = random.uniform((0.13, 1.2, 0.4), (0.17, 1.8, 0.6))
    fingers = [Limb(f"finger{number}", "arm", [(0.7 * x, 0, 0), (x, length, 0), (spread * x, length + 0.3, 0),
                                               (1.1 * spread * x, length + 0.55, 0)], 0.09)
               for number, x in enumerate(gap * (np.arange(4) - 1.5))]
    return rigged([Limb("arm", None, [(0, -1.2, 0), (0, -0.1, 0)], 0.1), *fingers])


def haunches(seed: int) -> BindInput:
    """A trunk with the upper halves of two thighs in it, whose knees are outside and apart."""
    random = np.random.default_rng(seed)
    thick, apart, leg = random.uniform((0.28, 0.11, 0.09), (0.32, 0.13, 0.11))
    return rigged(both(
        Limb("trunk", None, [(0, -0.7, 1), (0, -0.2, 1), (0, 0.3, 1)], thick),
        Limb("leg.L", "trunk", [(apart, 0.4, 1.05), (1.1 * apart, 0.38, 0.5), (1.1 * apart, 0.42, 0.2),
                                (1.1 * apart, 0.3, 0.05)], leg)))


def steps(made: BindInput) -> np.ndarray:
    """Bind a body, and return by how much vertices differ that an edge joins, 0 to 2."""
    return steps_of(made, bind_inside_distance(made).dense(len(made.bone_names)))


def steps_of(made: BindInput, weights: np.ndarray) -> np.ndarray:
    """Return by how much weights (V, B) of vertices differ that an edge joins, 0 to 2."""
    corners = made.face_vertices.reshape(-1, 4)
    edges = np.stack((corners, np.roll(corners, -1, axis=1)), axis=-1).reshape(-1, 2)
    return np.asarray(np.abs(weights[edges[:, 0]] - weights[edges[:, 1]]).sum(axis=1))


def test_a_palm_has_no_hard_steps_between_its_bones() -> None:
    assert np.mean([np.percentile(steps(hand(seed)), 99) for seed in SEEDS]) < HARD


def test_haunches_have_no_hard_steps_between_the_thighs() -> None:
    assert np.mean([steps(haunches(seed)).max() for seed in SEEDS]) < HARD


@pytest.mark.parametrize("made", [hand(0), haunches(0)], ids=["hand", "haunches"])
def test_names_scale_and_axes_change_nothing(made: BindInput) -> None:
    bones = len(made.heads)
    other = replace(moved(made, 250.0 * turn((1, 2, 3), 0.9)), bone_names=tuple(f"b{bone}" for bone in range(bones)))
    weights, again = (bind_inside_distance(each).dense(bones) for each in (made, other))
    assert np.abs(weights - again).max() < SOLVED


def test_which_bones_weights_pass_joints() -> None:
    """Those of one limb, that of two which part only at their ends, and none of two limbs."""
    def passing(*meshes: Any, apart: bool = False) -> list[float]:
        _, solid, skin_of = body(*meshes)
        lines = Segments(np.arange(2), np.array([[-0.35, 0, 1], [0.35, 0, 1]]),
                         np.array([[-0.35, 0, -1], [0.35, 0, -1]]), np.zeros(2, np.bool_))
        return [float(one) for one in find_sources(skin_of, lines, np.full(2, -1), solid, SIZE,
                                                     apart=np.full((2, 2), apart)).past_joints]

    def legs(top: float) -> list[Any]:
        return [tube((x, 0, -1.5), (x, 0, top), 0.25, 30, 12) for x in (-0.35, 0.35)]
    trunk = tube((0, 0, -0.3), (0, 0, 2), 0.8, 30, 24)
    assert passing(trunk) == [1.0, 1.0]
    assert passing(trunk, *legs(1.0)) == [1.0, 1.0]
    assert passing(*legs(2.0)) == passing(trunk, *legs(1.0), apart=True) == [0.0, 0.0]


def test_legs_under_a_gown_have_skins_of_their_own() -> None:
    """Though the gown is around both, and its hem follows the nearer one."""
    held = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # by a gown and two legs
    assert told_apart(held)[1, 2] and told_apart(held)[2, 1]
    assert not told_apart(held[:1]).any() and not told_apart(np.ones((2, 3))).any()
    assert not told_apart(np.array([[1.0, 0.6]])).any(), "what is half inside is in the same limb"
