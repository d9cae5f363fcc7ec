"""What a binding's report names as unusual."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding import BindInput
from takt.core.binding.idle import find_idle
from takt.core.binding.loose import held_bones
from takt.core.binding.report import BindReport, find_unusual
from takt.core.binding.roles import Role, Roles
from takt.core.binding.segments import Segments
from takt.core.binding.surface import Surface
from takt.core.skinning.influences import Influences

from .bodies import joined, tube
from .test_binding_solid import solid_of
from .test_binding_surface import triangles_of

CUBE = np.array([(x, y, z) for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def report(points: np.ndarray, heads: Sequence[tuple[float, ...]], tails: Sequence[tuple[float, ...]],
           parents: list[int], faces: Sequence[tuple[int, ...]]) -> BindReport:
    body = BindInput.from_arrays(points, faces, [f"b{i}" for i in range(len(heads))], parents, heads, tails)
    rows = (len(points), 1)
    return find_unusual(body, Influences(np.zeros(rows, dtype=np.int64), np.ones(rows)))


@pytest.mark.parametrize(("heads", "tails", "parents", "passes"), [
    ([(0.5, 0.5, -9)], [(0.5, 0.5, 9)], [-1], True),
    ([(0.5, 0.5, -9)], [(0.5, 0.5, -0.01)], [-1], False),
    ([(0.5, 0.5, 0.5)], [(0.5, 0.5, 0.5)], [-1], True),
    ([(0.5, 0.5, 1.5)], [(0.5, 0.5, 1.5)], [-1], False),
    ([(-2, 0.5, 0.5), (2, 0.5, 0.5)], [(-2, 0.5, 9), (2, 0.5, 9)], [-1, 0], True),
    ([(-2, 0.5, 0.5), (2, 0.5, 0.5)], [(-2, 0.5, 9), (2, 0.5, 9)], [-1, -1], False),
    ([(-0.1, 0.5, 2.0)], [(2.0, 0.5, -2.0)], [-1], True),
    ([(1.2, 0.5, 2.0)], [(3.0, 0.5, -2.0)], [-1], False),
], ids=["through", "below", "a point inside", "a point outside", "parent to child", "no child", "askew", "askew past"])
def test_whether_a_bone_passes(heads: list[tuple[float, ...]], tails: list[tuple[float, ...]], parents: list[int],
                               passes: bool) -> None:
    assert report(CUBE, heads, tails, parents, FACES).boneless_parts == (() if passes else (0,))


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
def test_what_has_no_volume(size: float) -> None:
    bone = [(0.5 * size,) * 3], [(0.6 * size,) * 3], [-1]
    assert report(CUBE * size, *bone, FACES).flat_parts == ()
    assert report(CUBE * size * (1, 1, 1e-4), *bone, FACES).flat_parts == (0,)
    assert report(CUBE * size, *bone, []).flat_parts == (0,)
    assert report(CUBE[:1] * size, *bone, []).flat_parts == (0,)


def test_a_belt_holds_no_bone_though_one_passes_its_box_as_binding_sees_it_too() -> None:
    ring = np.arange(12) * np.pi / 6
    belt = (np.concatenate([np.stack((0.5 * np.cos(ring), 0.5 * np.sin(ring), np.full(12, z)), 1) for z in (1, 1.1)]),
            [[i, (i + 1) % 12, 12 + (i + 1) % 12, 12 + i] for i in range(12)])
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 4), 0.4, 24), tube((0, 0, 1.5), (2, 0, 1.5), 0.2), belt)
    heads, tails = np.array([[0, 0, 0], [0, 0, 1.5]], float), np.array([[0, 0, 4], [2, 0, 1.5]], float)
    body = BindInput.from_arrays(points, faces, ["trunk", "arm"], [-1, 0], heads, tails, part)
    found = find_unusual(body, Influences(part[:, None] % 2, np.ones((len(points), 1)))).boneless_parts
    surface = Surface.build(points, triangles_of(points, faces))
    lines = Segments(np.arange(2), heads, tails, np.ones(2, np.bool_))
    held = held_bones(surface, part, lines, 2, solid_of(points, faces, 0.1))
    assert held.any(axis=1).tolist() == [True, True, False]
    assert found == (2,)


@pytest.mark.parametrize(("scale", "offset", "times"), [(1.0, 0.0, 0.866), (20.0, 0.0, 17.3), (0.01, 0.2, 0.00866),
                                                        (0.01, -0.005, 1.0)])
def test_how_many_times_larger_a_mesh_is(scale: float, offset: float, times: float) -> None:
    heads, tails = [(0.0, 0, 0), (0, 0, 1)], [(0.0, 0, 1), (0, 0, 2)]
    assert report(CUBE * scale + offset, heads, tails, [-1, 0], FACES).times_larger == pytest.approx(times, rel=2e-3)


LEGS = BindInput.from_arrays(CUBE, FACES, ["root", "legA.L", "legA.R", "legB.L", "legB.R"], [-1, 0, 0, 1, 2],
                             [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (1, 0, -1), (-1, 0, -1)],
                             [(0, 0, 1), (1, 0, -1), (-1, 0, -1), (1, 0, -2), (-1, 0, -2)])


@pytest.mark.parametrize(("used", "lost", "empty"), [
    ((0, 1, 2, 3), ("legB.R",), ()), ((0, 1, 3), ("legA.R", "legB.R"), ("legA.R", "legB.R")), ((0, 1, 2), (), ()),
    ((0,), (), ("legA.L", "legA.R", "legB.L", "legB.R")), ((1, 2, 3, 4), (), ())])
def test_which_idle_bones_are_to_be_looked_at(used: tuple[int, ...], lost: tuple[str, ...],
                                              empty: tuple[str, ...]) -> None:
    influences = Influences(np.resize(used, (len(CUBE), 1)), np.ones((len(CUBE), 1)))
    found = find_idle(LEGS, influences)
    assert (found.lost, found.empty) == (lost, empty)


def test_bones_left_out_as_controls_are_nothing_to_look_at_and_their_reasons_are_named() -> None:
    names = ("root", "legA.L", "legA.R", "ctrl_legB.L", "legB_end.R")
    body = replace(LEGS, bone_names=names)
    points = np.zeros((5, 5))
    points[0, 1] = points[3, 0] = points[4, 0] = 1.0
    found = find_idle(body, Influences(np.resize((1, 2), (len(CUBE), 1)), np.ones((len(CUBE), 1))),
                      Roles(points, points.sum(axis=1) > 0.0))
    assert found.by_role == ((Role.NAMED, names[3:]), (Role.GROUND, names[:1])) and not found.lost + found.empty


def test_bones_that_move_nothing() -> None:
    ends = [(0.0, 0, 0), (0.5, 0, 0), (1.0, 0, 0)]
    assert report(CUBE, ends, ends, [-1, 0, 1], FACES).idle.names == ("b1", "b2")
