"""What plays the roles of a score, in the model space of the character that plays it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...errors import TaktError

Point = tuple[float, float, float]
MOST_POINTS: Final = 100_000
"""Of a path."""


@dataclass(frozen=True)
class ScenePlace:
    """A place to be at. position: of its ground; ahead: where a body faces there, not up or down.

    note: what is to be said of it where it is used, "" for nothing. head: of the character that is there, which others
    look at.
    Raises TaktError where a number is not finite, or ahead has no length.
    """

    position: Point
    ahead: Point
    note: str = ""
    head: ScenePlace | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not np.isfinite((*self.position, *self.ahead)).all() or not np.any(self.ahead):
            raise TaktError(f"a place at {self.position} facing {self.ahead}; expected finite numbers and a direction")


@dataclass(frozen=True)
class ScenePath:
    """A path to go along. points: from its beginning to its end, two at least. note: see ScenePlace.

    Raises TaktError where there are fewer or too many points, or a number is not finite.
    """

    points: tuple[Point, ...]
    note: str = ""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 2 <= len(self.points) <= MOST_POINTS:
            raise TaktError(f"a path of {len(self.points)} points; expected 2 to {MOST_POINTS}")
        if not np.isfinite(self.points).all():
            raise TaktError("a path with a point that is not finite; expected finite numbers")


@dataclass(frozen=True)
class Unfit:
    """What is cast for a role and cannot play it. why: what is wrong with it, and what to do."""

    why: str


Target = ScenePlace | ScenePath | Unfit
"""What is cast for a role."""
KIND_OF: Final[dict[type, str]] = {ScenePlace: "place", ScenePath: "path"}
"""Which kind of role each of them plays, as a score says it."""
