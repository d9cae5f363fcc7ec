"""The picture of whose each place is: what is drawn where, and what is in front."""

import numpy as np

from takt.benchmarks.owners import drawn
from takt.core.binding import BindInput
from takt.tests.core.bodies import joined, tube

PIXELS = 64


def test_what_is_in_front_is_seen_in_its_own_colour() -> None:
    back, front = tube((0, 1, -1), (0, 1, 1), 0.9), tube((0, -1, -0.5), (0, -1, 0.5), 0.3)
    points, faces, part = joined(back, front)
    body = BindInput.from_arrays(points, faces, ["bone"], [-1], [[0, 0, 0]], [[0, 0, 1]], part)
    colours = np.where(part[:, None] == 0, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    picture = drawn(body, colours, PIXELS).astype(int)
    red, green = ((picture[..., own] > 0) & (picture[..., other] == 0) for own, other in ((0, 1), (1, 0)))
    assert green.any() and red.sum() > green.sum()
    assert (picture[0, 0] == 255).all() and (picture[-1, -1] == 255).all()
    assert (red | green | (picture == 255).all(axis=2)).all()
    covered = np.argwhere(red | green)
    assert np.ptp(covered, axis=0).max() > 0.8 * PIXELS
