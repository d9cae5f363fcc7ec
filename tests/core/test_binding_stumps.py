"""Inner ends of limbs that start beside the body."""

import numpy as np
import pytest

from takt.core.binding.segments import Segments
from takt.core.binding.stumps import held_stumps
from takt.core.binding.surface import Surface

from .bodies import ball, joined, tube
from .test_binding_surface import triangles_of

BODY, RADIUS = 0, 0.15
HELD = np.eye(3)
"""Each part holds the bone of its own number."""


def crab(reach: float, start: float) -> tuple[Segments, np.ndarray, Surface, np.ndarray, np.ndarray]:
    """A ball, and two legs of parts of their own, outward from `reach`; their bones go outward from `start`."""
    legs = [tube((side * reach, 0, 0), (side * 2.4, 0, 0), RADIUS, 16, 12) for side in (1, -1)]
    points, faces, part = joined(ball((0, 0, 0), 1.0, 15, 20), *legs)
    starts = np.array([[0, 0, -0.3], [start, 0, 0], [-start, 0, 0]])
    ends = np.array([[0, 0, 0.3], [2.4, 0, 0], [-2.4, 0, 0]])
    lines = Segments(np.arange(3), starts, ends, np.array([False, True, True]))
    return lines, np.array([-1, BODY, BODY]), Surface.build(points, triangles_of(points, faces)), part, HELD


def test_the_body_holds_the_inner_end_of_a_leg_whose_bone_starts_outside():
    lines, held = held_stumps(*crab(0.4, 1.4))
    assert lines.bones.tolist() == [0, 1, 2, BODY, BODY]
    assert held[1:, BODY].tolist() == [1, 1] and (np.delete(held, BODY, axis=1) == np.delete(HELD, BODY, axis=1)).all()
    added = np.abs(np.stack((lines.starts, lines.ends))[:, 3:, 0])
    assert (added >= 0.4 - RADIUS).all() and (added < 1.0).all()
    assert np.sign(lines.starts[3:, 0]).tolist() == [1, -1]


@pytest.mark.parametrize(("reach", "start"), [(1.05, 1.4), (0.2, 0.9)], ids=["only touches it", "starts in it"])
def test_the_body_does_not_hold_a_leg_that(reach: float, start: float):
    given = crab(reach, start)
    lines, held = held_stumps(*given)
    assert lines is given[0] and held is given[-1]


def test_a_machine_of_many_parts_does_not_bend():
    lines, parents, surface, part, held = crab(0.4, 1.4)
    assert held_stumps(lines, parents, surface, part, np.pad(held, ((0, 40), (0, 0))))[0] is lines
