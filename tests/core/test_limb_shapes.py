"""Where a limb begins, bends and ends, against a plain loop over all that it could be."""

from collections.abc import Sequence

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.maps.body import Tree
from takt.core.skeletons.maps.shape import _ASIDE, _CLOSE, _COLLAR, _PASSED, _limb


def is_straight(positions: FloatArray) -> bool:
    whole = positions[-1] - positions[0]
    length = max(float(np.linalg.norm(whole)), 1e-30)
    away = np.linalg.norm(np.cross(positions[1:-1] - positions[0], whole), axis=1) / length
    return bool((away <= _ASIDE * length).all())


def plain_limb(positions: FloatArray, apart: FloatArray) -> tuple[tuple[int, ...], float]:
    count, best, at, length = len(positions), -1.0, (0, 1, 2), 0.0
    for i in range(count - 2):
        for j in range(i + 1, count - 1):
            one = float(np.linalg.norm(positions[j] - positions[i]))
            if not is_straight(positions[i:j + 1]):
                continue
            for k in range(j + 1, count):
                other = float(np.linalg.norm(positions[k] - positions[j])) if is_straight(positions[j:k + 1]) else 0.0
                worth = min(one, other) ** 2 / max(one, other, 1e-30) * (1.0 - _PASSED * (k - i - 2))
                worth *= _COLLAR if apart[i] < _CLOSE * one else 1.0
                if worth > best:
                    best, at, length = worth, (i, j, k), one + other
    return (*at, at[2] + 1)[:count - at[2] + 2], length


def chains(seed: int) -> tuple[FloatArray, Sequence[int], Sequence[int]]:
    """Return positions of two mirrored chains that are straight in parts, and which joints are whose."""
    random = np.random.default_rng(seed)
    count = int(random.integers(3, 14))
    steps = np.repeat(random.normal(size=(count, 3)), random.integers(1, 5, size=count), axis=0)[:count]
    one = np.cumsum(steps * random.choice((0.1, 0.3, 1.0, 0.0), p=(0.4, 0.3, 0.25, 0.05), size=(count, 1)), axis=0)
    one += np.array((random.uniform(0.0, 1.0), 0.0, 0.0))
    positions = np.concatenate((one, one * np.array((-1.0, 1.0, 1.0))))
    return positions, range(count), range(count, 2 * count)


@pytest.mark.parametrize("seed", range(60))
def test_the_limb_is_that_of_a_plain_loop(seed: int) -> None:
    positions, one, other = chains(seed)
    apart = np.linalg.norm(positions[list(one)] - positions[list(other)], axis=1)
    at, length = _limb(Tree(np.full(len(positions), -1), positions), one, other)
    wanted, wanted_length = plain_limb(positions[list(one)], apart)
    assert at == wanted and length == pytest.approx(wanted_length)
