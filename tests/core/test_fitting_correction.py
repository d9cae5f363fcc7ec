"""Joints of a fitted skeleton that are moved by hand, and those that follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.fitting import FittedSkeleton, FittingProblem, fit_skeleton
from takt.core.fitting.correction import Correction

from .made_people import A_POSE, Build, person

UP, FRONT = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
NEAR = 1e-9


@pytest.fixture(scope="module")
def found() -> FittedSkeleton:
    of = person(Build(turns=A_POSE))
    return fit_skeleton(FittingProblem(of.vertices, of.quads.reshape(-1), np.full(len(of.quads), 4), UP, FRONT))


def ways(found: FittedSkeleton, correction: Correction) -> dict[str, np.ndarray]:
    """By how much joints have moved, those that have."""
    moved = correction.fitted().positions - found.positions
    return {name: way for name, way in zip(found.names, moved, strict=True) if np.linalg.norm(way) > NEAR}


def mirrored(found: FittedSkeleton, way: np.ndarray) -> np.ndarray:
    across = np.cross(found.up, found.front)
    return np.asarray(way - 2.0 * (way @ across) * across)


@pytest.mark.slow
def test_the_other_side_goes_the_mirrored_way(found):
    way = np.array((0.02, 0.03, -0.04))
    now = ways(found, Correction(found).with_moved("l_wrist", found.position("l_wrist") + way))
    assert now["l_wrist"] == pytest.approx(way, abs=NEAR)
    assert now["r_wrist"] == pytest.approx(mirrored(found, way), abs=NEAR)
    assert now["l_elbow"] == pytest.approx(mirrored(found, now["r_elbow"]), abs=NEAR)


@pytest.mark.slow
def test_without_mirroring_the_other_side_stays(found):
    now = ways(found, Correction(found).with_moved("l_wrist", found.position("l_wrist") + 0.05 * UP, is_mirrored=False))
    assert set(now) == {"l_wrist", "l_elbow"}


def test_what_is_in_the_middle_stays_in_the_middle(found):
    across = np.cross(found.up, found.front)
    now = ways(found, Correction(found).with_moved("vc7", found.position("vc7") + 0.1 * across + 0.05 * found.up))
    assert now["vc7"] == pytest.approx(0.05 * found.up, abs=NEAR)


def test_a_straight_arms_elbow_stays_where_it_is_on_the_way_and_a_bent_ones_where_the_mesh_bends(found):
    elbow = found.names.index("l_elbow")
    correction = Correction(found).with_moved("l_wrist", found.position("l_wrist") + 0.1 * UP, is_mirrored=False)
    assert found.certainty[elbow] < 0.8 and 0.04 < ways(found, correction)["l_elbow"] @ UP < 0.06
    sure = found.certainty.copy()
    sure[elbow] = 0.9
    bent = replace(found, certainty=sure)
    correction = Correction(bent).with_moved("l_wrist", found.position("l_wrist") + 0.1 * UP, is_mirrored=False)
    assert set(ways(found, correction)) == {"l_wrist"}


def test_hips_take_the_root_along_and_the_spine_spreads_evenly(found):
    now = ways(found, Correction(found).with_moved("l_hip", found.position("l_hip") + 0.1 * UP))
    assert now["HumanoidRoot"] == pytest.approx(0.1 * UP, abs=0.01)
    heights = [now[name] @ UP for name in ("HumanoidRoot", "vl5", "vl1", "vt6")]
    assert heights == sorted(heights, reverse=True) and heights[-1] > 0.01 and "vc7" not in now


def test_what_was_moved_first_stays_when_something_else_is_moved(found):
    correction = Correction(found).with_moved("vl1", found.position("vl1") + 0.03 * FRONT)
    now = ways(found, correction.with_moved("l_hip", found.position("l_hip") + 0.1 * UP))
    assert now["vl1"] == pytest.approx(0.03 * FRONT, abs=0.003) and "vt6" in now


def test_a_fingers_joints_follow_its_first(found):
    now = ways(found, Correction(found).with_moved("l_index1", found.position("l_index1") + 0.01 * UP, False))
    assert {name: way @ UP for name, way in now.items()} == pytest.approx(
        {"l_index1": 0.01, "l_index2": 0.01, "l_index3": 0.01})


def test_bones_end_at_their_joints_and_bend_about_axes_across(found):
    fitted = Correction(found).with_moved("l_knee", found.position("l_knee") + 0.1 * FRONT).fitted()
    for before, after in ((found, fitted),):
        hip, knee, ankle = (before.names.index(f"l_{joint}") for joint in ("hip", "knee", "ankle"))
        assert after.ends[hip] == pytest.approx(after.positions[knee])
        assert after.ends[knee] == pytest.approx(after.positions[ankle])
    along = fitted.ends - fitted.positions
    before = ((found.ends - found.positions) * found.bend_axes).sum(axis=1) / np.linalg.norm(
        found.ends - found.positions, axis=1)
    after = (along * fitted.bend_axes).sum(axis=1) / np.linalg.norm(along, axis=1)
    assert after == pytest.approx(before, abs=1e-6)
    assert np.linalg.norm(fitted.bend_axes, axis=1) == pytest.approx(np.linalg.norm(found.bend_axes, axis=1))


def test_what_was_moved_is_certain(found):
    doubtful = replace(found, certainty=np.full(len(found.names), 0.3))
    fitted = Correction(doubtful).with_moved("l_knee", found.position("l_knee")).fitted()
    assert "l_knee" not in fitted.guesses and "r_knee" not in fitted.guesses and "l_ankle" in fitted.guesses


def test_it_can_be_put_back(found):
    correction = Correction(found).with_moved("l_knee", found.position("l_knee") + FRONT)
    assert ways(found, correction.without("r_knee", is_mirrored=False)).keys() == {"l_knee"}
    assert correction.without("r_knee").fitted() is found


def test_it_is_kept_as_text(found):
    correction = Correction(found).with_moved("l_knee", found.position("l_knee") + 0.1 * FRONT)
    again = Correction.from_text(found, correction.as_text())
    np.testing.assert_allclose(again.fitted().positions, correction.fitted().positions, atol=1e-12)
    assert Correction(found).as_text() == "" and Correction.from_text(found, "").fitted() is found


@pytest.mark.parametrize(("text", "told"), [
    ("{", "cannot be read"), ("[1]", "cannot be read"), ('{"l_knee": 1}', "expected three numbers"),
    ('{"l_knee": [0, 0, NaN]}', "expected three numbers"), ('{"l_wing": [0, 0, 0]}', "not among the")])
def test_what_cannot_be_read_is_refused(found, text, told):
    with pytest.raises(TaktError, match=told):
        Correction.from_text(found, text)
