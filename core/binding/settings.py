"""What a user can set about a binding, and how the user stops it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import BindError, CancelledError

Progress = Callable[[float], bool]
"""Called with the share of the work done, 0 to 1; returns whether to continue."""


class BindCancelledError(BindError, CancelledError):
    """The user stopped the binding; nothing was changed."""


class Span(NamedTuple):
    """The least and the greatest value that a setting may have."""

    least: float
    most: float


RANGES: dict[str, Span] = {
    "influences": Span(0, 64),
    "hardness": Span(0.5, 8.0),
    "smoothing": Span(0.0, 4.0),
    "resolution": Span(8, 256),
    "prune_below": Span(0.0, 0.5),
    "exponent": Span(0.5, 8.0),
}


@dataclass(frozen=True)
class BindSettings:
    """Settings of all binding methods; each method reads those that its entry in `BINDING_METHODS` names.

    influences: the most bones that move a vertex, 0 for no limit. exponent: how fast a bone's influence decreases with
    distance. hardness: power on the solved weights; higher makes zones harder. smoothing: how far zones blend, as a
    factor; 0 does not blend. resolution: the cube root of the number of cells in the body's box. prune_below: weights
    smaller than this are dropped, and those a little larger fade. weld_seams: coincident vertices count as one; off,
    each is bound by itself, and an imported mesh may tear along its seams. Raises BindError where a value lies outside
    its range.

    >>> BindSettings(exponent=0.0)
    Traceback (most recent call last):
    ...
    takt.core.errors.BindError: exponent is 0.0; choose from 0.5 to 8.0
    """

    influences: int = 4
    exponent: float = 2.0
    hardness: float = 1.5
    smoothing: float = 1.0
    resolution: int = 48
    prune_below: float = 0.01
    weld_seams: bool = True

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise BindError(f"{name} is {value}; choose from {least} to {most}")
