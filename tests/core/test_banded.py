"""Systems with five diagonals against dense ones."""

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.maths.banded import solve_pentadiagonal

SAME = 1e-10


def diagonals(matrices: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return three diagonals (K, N), (K, N − 1) and (K, N − 2) of matrices (K, N, N)."""
    size = matrices.shape[1]
    own, first, second = (np.diagonal(matrices, far, 1, 2) if far < size else np.zeros((len(matrices), 0))
                          for far in range(3))
    return own, first, second


def random_systems(seed: int, channels: int, size: int) -> tuple[FloatArray, FloatArray]:
    """Return matrices (K, N, N) that are positive definite and have five diagonals, and right sides (K, N)."""
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.normal(size=(channels, size, size)))
    lower *= np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= 2
    return lower @ lower.swapaxes(1, 2) + np.eye(size), rng.normal(size=(channels, size))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [*range(1, 20), 63, 64, 65, 200])
def test_it_solves_what_a_dense_solver_solves(size: int, seed: int) -> None:
    matrices, right = random_systems(seed, 4, size)
    found = solve_pentadiagonal(*diagonals(matrices), right)
    assert np.abs(found - np.linalg.solve(matrices, right[..., None])[..., 0]).max() < SAME


@pytest.mark.parametrize("shape", [(0, 0), (0, 7), (3, 0)])
def test_no_channel_or_no_value_is_no_error(shape: tuple[int, int]) -> None:
    channels, size = shape
    own, first, second = (np.zeros((channels, max(size - far, 0))) for far in range(3))
    assert solve_pentadiagonal(own, first, second, np.zeros(shape)).shape == shape


def test_channels_do_not_hear_each_other() -> None:
    matrices, right = random_systems(9, 5, 33)
    together = solve_pentadiagonal(*diagonals(matrices), right)
    alone = [solve_pentadiagonal(*diagonals(matrices[k:k + 1]), right[k:k + 1])[0] for k in range(5)]
    assert np.abs(together - alone).max() < SAME
