"""Skirts, capes and tails: sheets and thin limbs with chains of bones, which bend without steps."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.joints import within_reach

from .bodies import joined, moved, tube, turn
from .seeds import few

STEP = 1.0
"""Of the 2 that two vertices with no bone in common differ by."""

Place = Callable[[np.ndarray, np.ndarray], np.ndarray]


def sheet(rows: int, columns: int, at: Place, *, is_ring: bool) -> Any:
    """A sheet of quads over 0 to 1 across and down."""
    across, down = np.meshgrid(np.linspace(0, 1, columns, endpoint=not is_ring), np.linspace(0, 1, rows))
    faces = [[r * columns + c, r * columns + (c + 1) % columns, (r + 1) * columns + (c + 1) % columns,
              (r + 1) * columns + c] for r in range(rows - 1) for c in range(columns if is_ring else columns - 1)]
    return at(across.ravel(), down.ravel()), faces


def cone(across: np.ndarray, down: np.ndarray) -> np.ndarray:
    radius = 0.34 + 0.4 * down
    return np.column_stack((radius * np.cos(2 * np.pi * across), radius * np.sin(2 * np.pi * across), 1 - down))


def back(across: np.ndarray, down: np.ndarray) -> np.ndarray:
    return np.column_stack(((across - 0.5) * (0.6 + 0.4 * down), 0.35 + 0.2 * down, 1.8 - 1.6 * down))


def with_chains(parts: Sequence[Any], at: Place, chains: Sequence[float], links: int) -> BindInput:
    """A trunk with two bones and other parts, over which chains of bones hang from the first."""
    points, faces, part = joined(tube((0, 0, -0.2), (0, 0, 2), 0.3, 24, 14), *parts)
    names, parents = ["pelvis", "chest"], [-1, 0]
    heads, tails = [np.array((0.0, 0, z)) for z in (0, 1)], [np.array((0.0, 0, z)) for z in (1, 2)]
    for number, across in enumerate(chains):
        line = at(np.full(links + 1, across), np.linspace(0, 1, links + 1))
        for link in range(links):
            parents.append(len(names) - 1 if link else 0)
            names.append(f"strip{number}_{link}")
            heads.append(line[link])
            tails.append(line[link + 1])
    return BindInput.from_arrays(points, faces, names, parents, heads, tails, part)


def skirt(layers: int) -> BindInput:
    inner = sheet(13, 32, lambda u, v: cone(u, v) * (0.97, 0.97, 1), is_ring=True)
    return with_chains([sheet(13, 32, cone, is_ring=True), inner][:layers],
                       lambda u, v: cone(u, v) * (0.985, 0.985, 1), [chain / 8 for chain in range(8)], 3)


def cape() -> BindInput:
    return with_chains([sheet(17, 13, back, is_ring=False)], back, (0.2, 0.5, 0.8), 4)


def tail(radius: float) -> BindInput:
    return with_chains([tube((0, 0.25, 0.3), (0, 2.25, 0.3), radius, 21, 8)],
                       lambda u, v: np.column_stack((0 * v, 0.25 + 2 * v, 0 * v + 0.3)), (0.5,), 5)


def steps(body: BindInput) -> np.ndarray:
    """Return by how much vertices of the strips differ that an edge joins."""
    weights = bind_inside_distance(body).dense(len(body.bone_names))
    ends = np.cumsum(body.face_sizes)
    after = np.roll(body.face_vertices, -1)
    after[ends - 1] = body.face_vertices[ends - body.face_sizes]
    edges = np.stack((body.face_vertices, after), axis=1)[body.part[body.face_vertices] > 0]
    return np.asarray(np.abs(weights[edges[:, 0]] - weights[edges[:, 1]]).sum(axis=1))


@pytest.mark.parametrize(("body", "most"), few([
    (tail(0.2), 0.0), (skirt(1), 0.01), (skirt(2), 0.01), (cape(), 0.04), (tail(0.06), 0.0)]),
    ids=["tail", "skirt", "thick skirt", "cape", "thin tail"])
def test_few_steps_along_strips(body: BindInput, most: float) -> None:
    """On average over turns: a round skirt has no axes of its own, so rounding decides how the cells lie in it."""
    turned = [moved(body, turn((1, 2, 3), angle)) for angle in np.linspace(0.0, 2.5, 6)]
    assert np.mean([(steps(each) > STEP).mean() for each in turned]) <= most


def test_every_bone_of_a_strip_moves_the_skin_around_its_middle() -> None:
    body = skirt(1)
    weights = bind_inside_distance(body).dense(len(body.bone_names))
    middles = 0.5 * (body.heads + body.tails)
    for bone in range(2, len(body.bone_names)):
        away = np.linalg.norm(body.vertices - middles[bone], axis=1) + 9.0 * (body.part == 0)
        assert weights[away.argmin()].argmax() == bone


def test_bones_in_the_skin_go_over_into_each_other_far_from_their_joints() -> None:
    side_by_side, away = np.array([[0.6, 0.4], [0.6, 0.4]]), np.full((2, 2), 0.1)
    points, heads = np.array([[0.0, 0, 0], [0, 0, 3.0]]), np.zeros((2, 3))
    found = [within_reach(side_by_side, away, points, heads, np.full(2, 0.1), np.array([-1, 0]), np.full(2, in_skin))
             for in_skin in (0.0, 1.0)]
    np.testing.assert_allclose(found[1], side_by_side)
    assert found[0][1, 0] > 0.7
