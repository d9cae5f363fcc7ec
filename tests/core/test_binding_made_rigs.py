"""Rigs made by rule: no limb without vertices, and no vertex that follows another limb."""

import os
from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding.inside import bind_inside_distance

from .made_rig_faults import faults_of
from .made_rigs import BODIES, MESHES, RIGS, TAILS, draw, make
from .seeds import few, seeds

ROUNDING = 1e-9
SOLVED = 1e-4
"""How exactly heat is solved for."""


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("tails", [tails if tails == "up" else pytest.param(tails, marks=pytest.mark.slow)
                                   for tails in TAILS])
def test_every_kind_of_body_with_tails_of_every_kind(kind: str, tails: str) -> None:
    assert not faults_of(make(kind, "skin", "root", tails, "plain", "Z up", 1.0, 1))


@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("mesh", few(MESHES))
def test_every_kind_of_rig(rig: str, mesh: str) -> None:
    assert not faults_of(make("humanoid", mesh, rig, "authored", "plain", "Y up", 100.0, 1))


@pytest.mark.parametrize(("kind", "mesh", "seed"), [("fish", "pieces", 1), ("fish", "puppet", 210),
                                                    ("bird", "pieces", 210)])
def test_limbs_of_one_bone_that_hang_from_the_ground_keep_their_pieces(kind: str, mesh: str, seed: int) -> None:
    """The way from the root on the ground to a fin says nothing of where that goes, nor do tails that point up."""
    assert not faults_of(make(kind, mesh, "from the root", "up", "plain", "Z up", 1.0, seed, as_drawn=False))


@pytest.mark.parametrize("seed", [1, 142])
def test_fins_turn_away_from_the_trunk_that_they_grow_from(seed: int) -> None:
    """The way from the head of the fish to a fin leads along the trunk, and all tails point one way."""
    made = make("fish", "skin", "plain", "forward", "plain", "Y up", 100.0, seed, as_drawn=False)
    assert not faults_of(made)


@pytest.mark.parametrize(("kind", "mesh", "rig", "tails", "seed"), [
    ("humanoid", "skin", "plain", "authored", 1), ("bird", "puppet", "twist", "authored", 91),
    ("horse", "puppet", "twist", "up", 70)], ids=["diagonals", "on two lines", "as deep feet"])
def test_sides_that_mirror_each_other_get_weights_that_do(kind: str, mesh: str, rig: str, tails: str,
                                                           seed: int) -> None:
    """Diagonals of quads, vertices on two lines at once, and feet that may turn either way: no order decides."""
    made = make(kind, mesh, rig, tails, "plain", "Z up", 1.0, seed, as_drawn=kind == "humanoid")
    weights = bind_inside_distance(made.body).dense(len(made.plain_names))
    twin = np.abs(made.rest_points[:, None] * (-1, 1, 1) - made.rest_points).sum(axis=2).argmin(axis=1)
    swapped = [name.translate(str.maketrans("LR", "RL")) if name[-2] == "." else name for name in made.plain_names]
    bones = [made.plain_names.index(name) for name in swapped]
    assert np.abs(weights[twin][:, bones] - weights).max() < SOLVED


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-3, 7.3, 1e3])
@pytest.mark.parametrize(("kind", "rig"), [("horse", "from the root"), ("insect", "from the root"), ("fish", "root")])
def test_units_change_nothing(kind: str, rig: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limbs start beside joints of the trunk, so that two of its bones are as near."""
    joints = {"horse": (0, -0.1), "insect": (0, 0.1), "fish": (0, 0.1)}[kind]
    limbs = [limb if limb.above is None or not limb.name.startswith(("front", "leg2", "fin")) else
             replace(limb, joints=[(limb.joints[0][0], joints[1], limb.joints[0][2]), *limb.joints[1:]])
             for limb in BODIES[kind]]
    monkeypatch.setitem(BODIES, kind, limbs)
    weights = [bind_inside_distance(body).dense(len(body.bone_names))
               for body in (make(kind, "skin", rig, "up", "plain", "Z up", by, 1).body for by in (1.0, scale))]
    assert np.abs(weights[0] - weights[1]).max() < ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(int(os.environ.get("TAKT_RIGS", "60")), quick=0))
def test_rigs_at_random(seed: int) -> None:
    made = draw(seed)
    assert not faults_of(made), made.says
