"""Limbs made alike on both sides of a body, and the plane that mirrors it."""

from typing import Any

import numpy as np
import pytest

from takt.core.binding.solid import Solid
from takt.core.fitting import hand as hands
from takt.core.fitting.cells import Cells
from takt.core.fitting.hand import FINGERS, Hand, both_hands
from takt.core.fitting.humanoid import Limb
from takt.core.fitting.mirroring import Plane, Symmetry, made_alike

ACROSS = np.array((1.0, 0.0, 0.0))
SURE, UNSURE = (0.7, 0.9, 0.9), (0.7, 0.9, 0.3)
LEG = np.array(((0.1, 0.0, 0.9), (0.1, 0.0, 0.5), (0.1, 0.0, 0.1), (0.1, 0.2, 0.0)))
BAD = LEG + np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 0.1, 0.2), (0.0, 0.0, 0.0)))


def plane(like: float) -> Plane:
    return Plane(ACROSS, np.zeros(3), like)


def leg(points: np.ndarray, certain: tuple[float, float, float] = SURE) -> Limb:
    root, middle, end, tip = points
    return Limb(root, middle, end, tip, 0.05, certain)


def points_of(limb: Limb) -> np.ndarray:
    return np.array((limb.root, limb.middle, limb.end, limb.tip))


def solid(shape: tuple[int, int, int]) -> np.ndarray:
    """A long bar with a crossbar."""
    filled = np.zeros(shape, dtype=np.bool_)
    filled[9:12, 9:12, 3:-3] = filled[3:18, 9:12, 25:28] = True
    return filled


def test_limbs_that_nearly_mirror_each_other_meet_in_the_middle() -> None:
    shifted = LEG + np.array((0.0, 0.02, 0.0))
    for like in (0.5, 1.0):
        left, right = made_alike(leg(LEG), leg(plane(like).mirrored(shifted)), plane(like), 1.0)
        assert points_of(left) == pytest.approx(LEG + np.array((0.0, 0.01, 0.0)))
        assert points_of(right) == pytest.approx(plane(like).mirrored(points_of(left)))


@pytest.mark.parametrize("is_left_sure", [True, False])
def test_of_limbs_that_differ_the_surer_counts_where_both_sides_are_alike(is_left_sure: bool) -> None:
    both = (LEG, SURE), (BAD, UNSURE)
    (own, sure), (other, unsure) = both if is_left_sure else both[::-1]
    left, right = made_alike(leg(own, sure), leg(plane(1.0).mirrored(other), unsure), plane(1.0), 1.0)
    assert points_of(left) == pytest.approx(LEG) and points_of(right) == pytest.approx(plane(1.0).mirrored(LEG))
    assert left.certain == right.certain == SURE


def test_limbs_that_differ_stay_where_the_sides_do() -> None:
    left, right = leg(LEG), leg(plane(0.5).mirrored(BAD), UNSURE)
    assert made_alike(left, right, plane(0.5), 1.0) == (left, right)


def hand(thumb: float, clear: float) -> Hand:
    """A left hand whose thumb is on the side of −Y where `thumb` is −1."""
    tips = {name: np.array((0.8, thumb * (2.0 - number), 0.0)) for number, name in enumerate(FINGERS)}
    return Hand({name: tip - np.array(((0.3, 0, 0), (0.2, 0, 0), (0.1, 0, 0))) for name, tip in tips.items()}, tips,
                np.array((0.0, 0.0, -1.0)), clear)


@pytest.mark.parametrize("is_left_clear", [True, False])
def test_a_hand_whose_fingers_are_exchanged_mirrors_the_clearer_one(is_left_clear: bool,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = hand(-1.0, 1.5), hand(1.0, 1.4)
    left, right = (own, other.mirrored(plane(1.0))) if is_left_clear else (other, own.mirrored(plane(1.0)))
    monkeypatch.setattr(hands, "find_hand", lambda _surface, _arm, is_left: left if is_left else right)
    arms: Any = (None, None)
    surface: Any = None
    found = both_hands(surface, arms, plane(1.0))
    assert found[0] is not None and found[1] is not None
    assert found[0].tips["thumb"] == pytest.approx(own.tips["thumb"])
    assert found[1].tips["thumb"] == pytest.approx(plane(1.0).mirrored(own.tips["thumb"]))
    assert both_hands(surface, arms, plane(0.5)) == (left, right)  # in poses that differ, so may palms


def test_a_plane_is_found_however_the_body_leans() -> None:
    cells = Cells.of(Solid(solid((21, 21, 41)), 0.1))
    found = Symmetry(cells).main_plane(np.array((0.9, 0.3, 0.3)))
    assert found.normal == pytest.approx(ACROSS, abs=1e-6) and found.like == pytest.approx(1.0) and found.mirrors
    assert found.away(cells.points.mean(axis=0)) == pytest.approx(0.0)


def test_a_body_with_one_long_arm_has_no_two_sides() -> None:
    filled = solid((41, 21, 41))
    filled[18:38, 9:12, 25:28] = True
    assert not Symmetry(Cells.of(Solid(filled, 0.1))).main_plane(ACROSS).mirrors
