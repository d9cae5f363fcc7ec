"""The picture of each transition method shows when it plays, and what it does to the clips on both sides."""

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.playing.method_pictures import method_picture
from takt.core.playing.transitions.methods import TRANSITION_METHODS

PIXELS = 128
SEAM = (2.0 - 1.0) / 2.6 * (PIXELS - 1)
"""The column of the beat, of those that show 1.0 to 3.6 s."""


def columns(picture: np.ndarray) -> dict[str, np.ndarray]:
    """Return which columns show the clip before (blue), the next one (green), and the transition."""
    red, green, blue, alpha = np.moveaxis(picture, -1, 0)
    drawn = alpha > 0.9
    return {name: np.flatnonzero((drawn & found).any(axis=0)) for name, found in (
        ("before", (blue > 0.8)), ("after", (green > 0.7) & (red < 0.4)), ("between", (red > 0.9) & (blue < 0.3)))}


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_the_transition_lies_where_the_method_has_it(method: str) -> None:
    picture = method_picture(method, PIXELS)
    found = columns(picture)
    assert picture.shape == (PIXELS, PIXELS, 4) and 0.0 <= picture.min() and picture.max() <= 1.0
    first, last = found["between"][[0, -1]]
    assert found["before"].max() <= first + 1 and last <= found["after"].min() + 1
    length = 0.8 * 2.0 / 2.8 if method == "INSERT" else 0.8  # the clip and it are squeezed into the clip's time
    middle = {"INERTIALIZE": 0.4, "APPEND": 0.4, "END": -0.4, "INSERT": -length / 2.0}.get(method, 0.0)
    assert last - first == pytest.approx(length / 2.6 * (PIXELS - 1), abs=2.0)
    assert (first + last) / 2.0 == pytest.approx(SEAM + middle / 2.6 * (PIXELS - 1), abs=2.0)


def test_no_two_pictures_are_alike() -> None:
    pictures = [method_picture(method, PIXELS) for method in TRANSITION_METHODS]
    for number, one in enumerate(pictures):
        assert all(np.abs(one - other).mean() > 0.004 for other in pictures[:number])


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(TaktError, match="no transition method 'NONE'"):
        method_picture("NONE")
