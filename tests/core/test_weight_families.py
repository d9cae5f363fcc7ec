"""Scores of weights, and choices judged on the family that was left out."""

from types import SimpleNamespace

import numpy as np
import pytest

from takt.benchmarks.weight_families import Run, families_of, left_out, score


def _case() -> SimpleNamespace:
    """Two vertices at the ends of a segment of length 5, one bone each; the second bone moves by 1 in its pose."""
    pose = np.tile(np.eye(3, 4), (1, 2, 1, 1))
    pose[0, 1, 0, 3] = 1.0
    return SimpleNamespace(vertices=np.array([[0.0, 0, 0], [3.0, 4.0, 0]]), weights=np.eye(2), poses=pose)


def test_the_artists_own_weights_have_no_error() -> None:
    assert score(_case(), np.eye(2)) == (0.0, 1.0, 1.0, 0.0)


def test_a_known_error() -> None:
    found = score(_case(), np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert found.l1 == pytest.approx(0.5)
    assert found.precision == pytest.approx(2 / 3) and found.recall == 1.0
    assert found.deformation == pytest.approx(100.0 * np.sqrt(0.5 * 0.5 / 2) / 5.0)


@pytest.mark.parametrize(("name", "source", "families"), [
    ("mpfb_cmu_mb", "MakeHuman/MPFB base mesh, cmu_mb rig, CC0", ["MakeHuman", "MPFB", "human"]),
    ("Fox", "Fox.glb", ["tomkranis", "glTF", "four legs"]),
    ("Q_Animated_Woman", "Q_Animated_Woman.fbx", ["Quaternius", "fbx", "human"]),
])
def test_families(name: str, source: str, families: list[str]) -> None:
    assert list(families_of(name, source).values()) == families


def test_the_family_left_out_gets_the_value_that_is_best_on_the_others() -> None:
    def scores(*l1: float) -> np.ndarray:
        return np.array([[value, 1.0, 1.0, 0.0] for value in l1])

    families = {"artist": ["one", "one", "other"]}
    runs = [Run("abc", families, scores(0.1, 0.1, 0.9)), Run("abc", families, scores(0.5, 0.5, 0.2))]
    mean, chosen = left_out(["first", "second"], runs, "artist")
    assert chosen == ["second", "first"]  # each chosen without its own family, which would have chosen the other
    assert mean[0] == pytest.approx((0.5 + 0.5 + 0.9) / 3)
