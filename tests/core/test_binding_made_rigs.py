"""Rigs made by rule: no limb without vertices, and no vertex that follows another limb."""

import os

import pytest

from .made_rig_faults import faults_of
from .made_rigs import BODIES, MESHES, RIGS, TAILS, draw, make


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("tails", [tails if tails == "up" else pytest.param(tails, marks=pytest.mark.slow)
                                   for tails in TAILS])
def test_every_kind_of_body_with_tails_of_every_kind(kind: str, tails: str) -> None:
    assert not faults_of(make(kind, "skin", "root", tails, "plain", "Z up", 1.0, 1))


@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("mesh", MESHES)
def test_every_kind_of_rig(rig: str, mesh: str) -> None:
    assert not faults_of(make("humanoid", mesh, rig, "authored", "plain", "Y up", 100.0, 1))


@pytest.mark.parametrize(("kind", "mesh", "seed"), [("fish", "pieces", 1), ("fish", "puppet", 210),
                                                    ("bird", "pieces", 210)])
def test_limbs_of_one_bone_that_hang_from_the_ground_keep_their_pieces(kind: str, mesh: str, seed: int) -> None:
    """The way from the root on the ground to a fin says nothing of where that goes, nor do tails that point up."""
    assert not faults_of(make(kind, mesh, "from the root", "up", "plain", "Z up", 1.0, seed, as_drawn=False))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("TAKT_RIGS", "60"))))
def test_rigs_at_random(seed: int) -> None:
    made = draw(seed)
    assert not faults_of(made), made.says
