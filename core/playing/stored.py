"""Values that were stored as JSON, checked one by one as they are read; errors say where in the data they stand.

>>> data = Stored({"layers": [{"ease": 0.2, "name": 7}]})
>>> layer, = data["layers"].items()
>>> layer["ease"].number(0.0, 60.0)
0.2
>>> layer["name"].text()
Traceback (most recent call last):
takt.core.playing.stored.DamagedError: layers[0].name: found 7, expected a name or another text
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import TaktError

_SHOWN: Final = 40
"""Most characters of a wrong value that a message shows."""


class DamagedError(TaktError):
    """Raised for a stored value that nothing of ours can have stored."""


@dataclass(frozen=True)
class Stored:
    """A stored value. place: where in the data it is, as in layers[0].name."""

    value: Any
    place: str = ""

    def wrong(self, expected: str) -> DamagedError:
        """Return the error that says what was expected in this place."""
        return DamagedError(f"{self.place or 'data'}: found {_shown(self.value)}, expected {expected}")

    def __getitem__(self, name: str) -> Stored:
        """Return a named value; raise DamagedError if there is none."""
        found = self.get(name)
        if found is None:
            place = f"{self.place}.{name}" if self.place else name
            raise DamagedError(f"{place}: found nothing, expected a value")
        return found

    def get(self, name: str) -> Stored | None:
        """Return a named value, None if there is none."""
        if name not in self.named():
            return None
        return Stored(self.value[name], f"{self.place}.{name}" if self.place else name)

    def named(self) -> dict[str, Any]:
        """Return the value, which has to be named values."""
        if not isinstance(self.value, dict):
            raise self.wrong("named values")
        return self.value

    def items(self, count: int | None = None) -> list[Stored]:
        """Return the values of a list; count: how many it has to hold."""
        if not isinstance(self.value, (list, tuple)):
            raise self.wrong("a list of values")
        if count is not None and len(self.value) != count:
            raise DamagedError(f"{self.place}: found {len(self.value)} values, expected {count}")
        return [Stored(each, f"{self.place}[{at}]") for at, each in enumerate(self.value)]

    def number(self, low: float, high: float) -> float:
        """Return a number in a range."""
        if type(self.value) not in {int, float} or not low <= self.value <= high:
            raise self.wrong(f"a number from {low:,.0f} to {high:,.0f}")
        return float(self.value)

    def whole(self, low: int, high: int) -> int:
        """Return a whole number in a range."""
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.wrong(f"a whole number from {low:,} to {high:,}")
        return self.value

    def one_of(self, numbers: Sequence[int]) -> int:
        """Return one of some whole numbers, ascending."""
        if type(self.value) is not int or self.value not in numbers:
            allowed = ", ".join(map(str, numbers))
            raise self.wrong(f"one of the numbers {allowed}")
        return self.value

    def flag(self) -> bool:
        """Return whether something is on."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def text(self) -> str:
        """Return a text that can be stored as UTF-8."""
        if isinstance(self.value, str):
            try:
                self.value.encode()
            except UnicodeEncodeError:
                pass
            else:
                return self.value
        raise self.wrong("a name or another text")


def _shown(value: Any) -> str:
    if value is None:
        return "an empty value"
    if isinstance(value, dict):
        return "named values"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)} values"
    found = json.dumps(value)
    return found if len(found) <= _SHOWN else f"{found[:_SHOWN]}…"
