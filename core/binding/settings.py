"""What a user can set about a binding."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BindError

SMALLEST_EXPONENT, LARGEST_EXPONENT = 0.5, 8.0
FEWEST_INFLUENCES, MOST_INFLUENCES = 1, 8


@dataclass(frozen=True)
class BindSettings:
    """Settings of all binding methods; each reads those that it knows.

    influences: the most bones that move a vertex. exponent: how fast a bone's hold falls off with distance.
    Raises BindError where a value lies outside its range.

    >>> BindSettings(exponent=0.0)
    Traceback (most recent call last):
    ...
    takt.core.errors.BindError: exponent is 0.0; it must lie between 0.5 and 8.0
    """

    influences: int = 4
    exponent: float = 2.0

    def __post_init__(self) -> None:
        for name, value, least, most in (("influences", self.influences, FEWEST_INFLUENCES, MOST_INFLUENCES),
                                         ("exponent", self.exponent, SMALLEST_EXPONENT, LARGEST_EXPONENT)):
            if not least <= value <= most:
                raise BindError(f"{name} is {value}; it must lie between {least} and {most}")
