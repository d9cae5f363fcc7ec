"""Heat over a graph, and clusters of big meshes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.binding import clusters as module
from takt.core.binding.clusters import Clusters
from takt.core.binding.diffusion import Graph
from takt.core.binding.surface import Surface

from .bodies import tube
from .test_binding_surface import triangles_of

SOLVED = 2e-3
"""Largest error of a solution that is good enough to its goal of 3·10⁻⁴ over all."""

MOST = 300
COARSE = 0.05


def dense(nodes: int, first, second, weights) -> np.ndarray:
    laplacian = np.zeros((nodes, nodes))
    for i, j, w in zip(first, second, weights, strict=True):
        laplacian[[i, j], [i, j]] += w
        laplacian[[i, j], [j, i]] -= w
    return laplacian


@given(st.integers(0, 2**31), st.integers(2, 25), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_solutions_agree_with_a_dense_solver(seed, nodes, links):
    random = np.random.default_rng(seed)
    first = random.integers(0, nodes, links)
    second = (first + random.integers(1, nodes, links)) % nodes
    weights, hold = random.uniform(0.1, 2, links), random.uniform(0.05, 2, nodes)
    held = random.dirichlet(np.ones(4), nodes)
    found = Graph.build(nodes, first, second, weights).solve(hold, held)
    truth = np.linalg.solve(dense(nodes, first, second, weights) + np.diag(hold), hold[:, None] * held)
    assert np.abs(found - truth).max() < SOLVED
    assert np.allclose(found.sum(axis=1), 1, atol=SOLVED)


def test_links_given_in_parts_add_up():
    whole = Graph.build(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2]))
    parts = Graph.build(3, np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([0.5, 0.5, 2]))
    hold, held = np.ones(3), np.eye(3)
    assert np.allclose(whole.solve(hold, held), parts.solve(hold, held))


def test_each_round_may_stop_the_work():
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Graph.build(2, np.array([0]), np.array([1]), np.ones(1)).solve(np.ones(2), np.eye(2), stop)


def surface(rings: int = 60, sides: int = 30) -> Surface:
    points, faces = tube((0, 0, -1), (0, 0, 1), 0.3, rings, sides)
    return Surface.build(points, triangles_of(points, faces))


def carried(clusters: Clusters, whole: Surface, values: np.ndarray) -> np.ndarray:
    """Return what `Clusters.spread` yields as one array of rows with all columns."""
    runs = []
    for used, rows in clusters.spread(values, whole.points, clusters.label):
        runs.append(np.zeros((len(rows), values.shape[1])))
        runs[-1][:, used] = rows
    return np.concatenate(runs)


def test_small_surfaces_keep_their_points():
    whole = surface(6, 6)
    clusters = Clusters.of(whole, MOST)
    values = np.random.default_rng(1).random((len(whole.points), 3))
    assert clusters.cell == 0 and (carried(clusters, whole, values) == values).all()


def test_points_are_joined_only_where_that_halves_them():
    whole = surface(20, 20)
    half = len(whole.points) // 2
    assert Clusters.of(whole, half).cell == 0 and len(Clusters.of(whole, half).points) == len(whole.points)
    assert Clusters.of(whole, half - 1).cell > 0


def test_big_surfaces_become_few_clusters_of_one_side():
    whole = surface()
    clusters = Clusters.of(whole, MOST)
    assert MOST / 4 < len(clusters.points) <= MOST and clusters.areas.sum() == pytest.approx(whole.areas.sum())
    inward = (clusters.normals[clusters.label] * whole.normals).sum(axis=1)
    assert inward.min() > 0


def test_spreading_keeps_sums_and_follows_a_slope_smoothly():
    whole = surface()
    clusters = Clusters.of(whole, MOST)
    slope = np.stack((clusters.points[:, 2] / 4 + 0.5, 0.5 - clusters.points[:, 2] / 4), axis=1)
    spread = carried(clusters, whole, slope)
    assert np.allclose(spread.sum(axis=1), 1) and np.abs(spread[:, 0] - whole.points[:, 2] / 4 - 0.5).max() < 0.04
    first, second, _ = whole.edges()
    steps, due = (np.abs(values[first] - values[second]) for values in (spread[:, 0], whole.points[:, 2] / 4))
    assert (steps - due).max() < clusters.cell / 4 / 2  # half the step between clusters


def test_heat_over_clusters_is_that_over_points():
    whole = surface()
    clusters = Clusters.of(whole, MOST)
    source = np.stack((whole.points[:, 2] > 0, whole.points[:, 2] <= 0), axis=1).astype(float)
    coarse = np.stack((clusters.points[:, 2] > 0, clusters.points[:, 2] <= 0), axis=1).astype(float)
    hold = 1.5 / 0.3**2
    fine = Graph.build(len(whole.points), *whole.edges()).solve(hold * whole.areas, source)
    found = Graph.build(len(clusters.points), *clusters.links).solve(hold * clusters.areas, coarse)
    spread = carried(clusters, whole, found)
    assert np.abs(spread - fine).mean() < COARSE


def test_runs_of_points_have_only_the_columns_they_need(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_AT_ONCE", 1 << 8)
    whole = surface()
    clusters = Clusters.of(whole, MOST)
    zones = np.eye(8)[np.clip((clusters.points[:, 2] * 4).astype(int) + 4, 0, 7)]
    order = np.argsort(whole.points[:, 2], kind="stable")
    runs = list(clusters.spread(zones, whole.points[order], clusters.label[order]))
    assert all(len(used) < 8 and np.allclose(rows.sum(axis=1), 1) for used, rows in runs)
    assert set(np.concatenate([used for used, _ in runs]).tolist()) == set(range(8))
