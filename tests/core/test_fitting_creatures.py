"""Skeletons fitted into bodies that are no humanoids, made by rule, and what is refused since it is no body at all."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from takt.core.fitting import BodyKind, FitError, FittedSkeleton, FittingProblem, bilateral, fit_skeleton
from takt.core.fitting.naming import NAMINGS
from takt.core.maths import rotations as rot

from .made_people import T_POSE, Build, Person, person
from .made_rigs import BODIES, skin
from .seeds import few

NEAR = 0.05
"""Of the body's size: so near to a bone lies each joint that the body was made by."""

LIMBS = {"horse": {"leg": 2}, "bird": {"leg": 1, "limb": 1}, "fish": {"limb": 1}, "snake": {},
         "insect": {"leg": 3, "limb": 1}}
"""How many pairs of limbs of each sort."""

UP, FRONT = np.array((0.0, 0.0, 1.0)), np.array((0.0, -1.0, 0.0))


@cache
def mesh(kind: str) -> tuple[np.ndarray, list[list[int]]]:
    points, faces, _ = skin(BODIES[kind])
    return points, faces


@cache
def fitted(kind: str) -> FittedSkeleton:
    return fit_skeleton(FittingProblem.from_faces(*mesh(kind)))


def away(found: FittedSkeleton, points: np.ndarray) -> np.ndarray:
    """How far points (P, 3) are from the nearest bone, (P,)."""
    along = found.ends - found.positions
    share = ((points[:, None] - found.positions) * along).sum(axis=-1) / np.maximum((along**2).sum(axis=-1), 1e-12)
    nearest = found.positions + np.clip(share, 0.0, 1.0)[..., None] * along
    return np.asarray(np.linalg.norm(points[:, None] - nearest, axis=-1).min(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIMBS)
def test_bones_go_through_all_limbs(kind):
    joints = np.array([joint for limb in BODIES[kind] for joint in limb.joints], dtype=float)
    assert away(fitted(kind), joints).max() < NEAR * np.ptp(joints, axis=0).max()


@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=pytest.mark.slow) if kind in ("fish", "bird") else kind for kind in LIMBS])
def test_limbs_are_counted_and_on_their_sides(kind):
    found = fitted(kind)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        own = [name for name in found.names if name.startswith(f"{side}_") and name.endswith("_1")]
        assert {sort: sum(sort in name for name in own) for sort in LIMBS[kind]} == LIMBS[kind]
        assert sum(LIMBS[kind].values()) == len(own)
        assert all(found.position(name)[0] * sign > 0.0 for name in own)
    assert found.up @ UP > 0.95 and found.front @ FRONT > 0.9


@pytest.mark.parametrize("kind", few(LIMBS))
def test_the_head_is_in_front_and_all_hangs_on_the_root(kind):
    found = fitted(kind)
    head = found.names.index("head")
    assert found.ends[head] @ FRONT >= (found.positions @ FRONT).max() - 0.4
    assert found.ends[head] @ FRONT > found.position("root") @ FRONT
    assert found.names[0] == "root" and found.parents[0] == -1
    assert (found.parents[1:] >= 0).all() and (found.parents < np.arange(len(found.names))).all()
    assert len(set(found.names)) == len(found.names)
    assert any(name.startswith("tail") for name in found.names)


def test_legs_hang_on_one_bone_on_both_sides():
    found = fitted("insect")
    for name in found.names:
        if name.startswith("l_") and name.endswith("_1"):
            other = found.names.index("r_" + name[2:])
            assert found.parents[found.names.index(name)] == found.parents[other]


@pytest.mark.slow
def test_it_follows_the_mesh_when_that_is_turned():
    points, faces = mesh("bird")
    turn = rot.from_axis_angle(np.array((0.6, 0.0, 0.8)), 1.3)
    turned = FittingProblem.from_faces(10.0 * rot.rotate(turn, points), faces)
    found = fit_skeleton(replace(turned, up=rot.rotate(turn, UP), front=rot.rotate(turn, FRONT)))
    joints = np.array([joint for limb in BODIES["bird"] for joint in limb.joints], dtype=float)
    assert away(found, 10.0 * rot.rotate(turn, joints)).max() < 10.0 * NEAR * np.ptp(joints, axis=0).max()
    assert found.names == fitted("bird").names


def test_what_it_is_is_said():
    assert fitted("insect").notes[0].startswith("It is no humanoid, but a body with 6 legs and 2 other limbs")
    assert fitted("snake").notes[0].startswith("It is no humanoid, but a body with no limbs")


@pytest.mark.parametrize("naming", NAMINGS)
def test_bones_without_names_in_a_convention_keep_their_own(naming):
    named = [NAMINGS[naming].name_of(joint) for joint in fitted("insect").names]
    assert len(set(named)) == len(named)
    assert {"l_leg1_1", "tail1", "spine1"} <= set(named)


def dancer_without(kept: str) -> FittingProblem:
    of = dancer()
    middles = of.vertices[of.quads].mean(axis=1)
    wrist = of.joints["l_wrist"][0]
    some = {"hand": middles[:, 0] > wrist, "hands": np.abs(middles[:, 0]) > wrist, "legs": middles[:, 1] < 0.9,
            "bust": middles[:, 1] > 1.2, "half": middles[:, 0] > 0.0}[kept]
    return problem(replace(of, quads=of.quads[some]))


@cache
def dancer() -> Person:
    return person(Build(turns=T_POSE))


def problem(of: Person, kind: BodyKind = "auto") -> FittingProblem:
    return FittingProblem(of.vertices, of.quads.reshape(-1), np.full(len(of.quads), 4), np.array((0.0, 1.0, 0.0)),
                          np.array((0.0, 0.0, 1.0)), kind)


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "told"), [
    ("hand", "choose a whole body"), ("hands", "two or more large parts"), ("legs", "humanoid"), ("bust", "humanoid"),
    ("half", "humanoid")])
def test_what_is_no_whole_body_is_refused(kept, told):
    with pytest.raises(FitError, match=told):
        fit_skeleton(dancer_without(kept))


def test_a_body_with_nothing_ahead_of_its_legs_is_refused(monkeypatch):
    monkeypatch.setattr(bilateral, "NO_HEAD", 1.0)  # so that the bird's head is no part of its spine
    with pytest.raises(FitError, match="not long and slim"):
        fit_skeleton(replace(FittingProblem.from_faces(*mesh("bird")), kind="shape"))


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.3, -0.03], ids=["apart", "touching"])
def test_two_people_in_one_mesh_are_refused(gap):
    of = dancer()
    width = float(np.ptp(of.vertices[:, 0]))
    beside = of.vertices + np.array((width + gap, 0.0, 0.0))
    two = replace(of, vertices=np.concatenate((of.vertices, beside)),
                  quads=np.concatenate((of.quads, of.quads + len(of.vertices))))
    with pytest.raises(FitError, match="separate them"):
        fit_skeleton(problem(two))


@pytest.mark.slow
def test_what_is_fitted_can_be_chosen():
    assert "root" in fit_skeleton(problem(dancer(), "shape")).names
    with pytest.raises(FitError, match="choose a whole body"):
        fit_skeleton(replace(FittingProblem.from_faces(*mesh("fish")), kind="humanoid"))
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    with pytest.raises(FitError, match="not long and slim"):
        fit_skeleton(replace(FittingProblem.from_faces(corners, faces), kind="shape"))
