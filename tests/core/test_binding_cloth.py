"""Sheets that hang along limbs, as capes do, and what only looks like them."""

import numpy as np
import pytest

from takt.core.binding import BindInput
from takt.core.binding.cloth import along_limbs
from takt.core.binding.segments import Segments

from .bodies import figure, joined
from .test_binding_loose import Mesh, bound

ROUNDING = 1e-9
BACK = 0.19
"""Where the figure's back is, along y."""

STEEPEST = 8.0
"""How much of a leg's weight may come or go within a metre of cloth; a tear is that within one row of it."""

EVEN = 1e-3
"""What the legs' shares may differ by in the middle between them."""

ARM = np.array([-1, 0, 1])
"""A root with an upper and a lower arm."""


def sheet(width: float, low: float, high: float, off: float, step: float) -> Mesh:
    """A plain upright sheet behind the figure's back, `off` away from it, of squares about `step` wide."""
    columns, rows = 2 * round(width / step / 2) + 1, round((high - low) / step) + 1
    x, z = np.meshgrid(np.linspace(-width / 2, width / 2, columns), np.linspace(low, high, rows), indexing="ij")
    at = np.arange(columns * rows).reshape(columns, rows)
    squares = np.stack((at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]), axis=-1)
    return np.stack((x, np.full(x.shape, BACK + off), z), axis=-1).reshape(-1, 3), squares.reshape(-1, 4).tolist()


def thickened(mesh: Mesh, thickness: float) -> Mesh:
    """A sheet as `sheet` makes it, closed by a second side that lies farther off."""
    points, faces = mesh
    sides = np.array([(face[k], face[(k + 1) % 4]) for face in faces for k in range(4)])
    once = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    rim = sides[once[2][once[1].reshape(-1)] == 1]
    second = len(points)
    return (np.concatenate((points, points + np.array([0, thickness, 0]))),
            [*faces, *([v + second for v in face[::-1]] for face in faces),
             *([b, a, a + second, b + second] for a, b in rim.tolist())])


def on_figure(mesh: Mesh) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """The weights of a mesh bound with the figure, by bone; its points, and its edges (E, 2)."""
    body = figure(12, 12)
    own = [face.tolist() for face in np.split(body.face_vertices, np.cumsum(body.face_sizes)[:-1])]
    points, faces, part = joined((body.vertices, own), mesh)
    whole = BindInput.from_arrays(points, faces, body.bone_names, body.bone_parents, body.heads, body.tails, part)
    weights = bound(whole)
    edges = np.array([(face[k - 1], face[k]) for face in mesh[1] for k in range(len(face))])
    return {name: weights[part == 1, k] for k, name in enumerate(body.bone_names)}, mesh[0], edges


def leg(weights: dict[str, np.ndarray], side: str) -> np.ndarray:
    return np.asarray(weights[f"thigh.{side}"] + weights[f"shin.{side}"])


@pytest.mark.slow
@pytest.mark.parametrize(("width", "low", "off", "step", "thickness"), [
    (0.5, 0.3, 0.03, 0.04, 0.0), (0.5, 0.3, 0.1, 0.04, 0.0), (0.5, 0.3, 0.03, 0.1, 0.0), (0.8, 0.1, 0.06, 0.04, 0.0),
    (0.4, 0.6, 0.03, 0.02, 0.0), (0.5, 0.3, 0.05, 0.04, 0.01)])
def test_a_cape_follows_the_spine_above_and_each_leg_below(width: float, low: float, off: float, step: float,
                                                           thickness: float):
    mesh = sheet(width, low, 1.55, off, step)
    weights, points, edges = on_figure(thickened(mesh, thickness) if thickness else mesh)
    top, bottom = points[:, 2] > points[:, 2].max() - ROUNDING, points[:, 2] < points[:, 2].min() + ROUNDING
    assert weights["spine"][top].mean() > 0.5 and weights["hips"][top].mean() < 0.25
    for side, left in (("L", 1.0), ("R", -1.0)):
        corner = bottom & (left * points[:, 0] > points[:, 0].max() - ROUNDING)
        assert leg(weights, side)[corner].min() > 0.5
        slope = np.abs(np.diff(leg(weights, side)[edges], axis=1)[:, 0])
        assert (slope / np.linalg.norm(np.diff(points[edges], axis=1)[:, 0], axis=1)).max() < STEEPEST
    middle = np.abs(points[:, 0]) < ROUNDING
    assert np.abs(leg(weights, "L") - leg(weights, "R"))[middle].max() < EVEN


def test_a_board_behind_both_legs_stays_one_piece():
    weights, _, _ = on_figure(thickened(sheet(0.5, 0.3, 1.55, 0.03, 0.04), 0.1))
    assert weights["hips"].min() > 0.9


def test_a_small_sheet_between_the_legs_stays_one_piece():
    weights, _, _ = on_figure(sheet(0.12, 0.8, 0.95, 0.0, 0.02))
    assert weights["hips"].min() > 0.9


def on_arm(points: np.ndarray, weights: np.ndarray, cloth: float = 1.0) -> np.ndarray:
    """How far a part runs along the limbs of a root and an arm of two bones from x = 0 to 2; the root has no line."""
    arm = Segments(np.array([1, 2]), np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[1.0, 0, 0], [2, 0, 0]]),
                   np.array([False, True]))
    count = len(points)
    found = along_limbs(weights, points, np.ones(count), np.zeros(count, np.int64), np.array([cloth]), arm, ARM)
    return np.asarray(found[0])


def test_a_sleeve_runs_along_all_of_the_arm_a_cuff_along_little_and_a_collar_along_nothing():
    x = (np.arange(400) + 0.5) / 200
    row = np.column_stack((x, 0 * x + 0.3, 0 * x))
    each = np.column_stack((0 * x, x < 1.0, x >= 1.0)).astype(float)
    assert on_arm(row, each) == pytest.approx([1, 1, 1], rel=1e-4)
    cuff = x > 1.8
    assert on_arm(row[cuff], each[cuff])[1:] == pytest.approx([0.1, 0.2], rel=1e-3)
    collar = row * (-1, 1, 1)  # behind the shoulder
    assert on_arm(collar, np.tile([0.0, 1.0, 0.0], (400, 1)))[1] == 0.0


def test_what_is_no_cloth_or_moved_by_nothing_of_a_limb_runs_along_none():
    row = np.random.default_rng(5).random((20, 3))
    assert not on_arm(row, np.tile([0.0, 0.5, 0.5], (20, 1)), cloth=0.0).any()
    assert not on_arm(row, np.tile([1.0, 0.0, 0.0], (20, 1)))[1:].any()


def test_a_limb_without_length_has_nothing_to_run_along():
    points = np.eye(3)
    stub = Segments(np.array([0]), np.zeros((1, 3)), np.zeros((1, 3)), np.array([True]))
    found = along_limbs(np.ones((3, 1)), points, np.ones(3), np.zeros(3, np.int64), np.ones(1), stub, np.array([-1]))
    assert not found.any()
