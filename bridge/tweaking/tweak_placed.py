"""Cache of placed keys and of ties.

An edit moves keys twice: copies of them when sampling begins, and the keys themselves when the Action is written. The
second time uses the result of the first, unless keys were set meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from ...core.playing.ties import Ties
from .tweak_curves import CurveKeys
from .tweak_layout import Layout

_MOST_PLACED: Final = 8
_MOST_TIES: Final = 32
_FRAME_DECIMALS: Final = 5
"""As `ties.to_data` rounds frames."""


class Asked(NamedTuple):
    """Everything that determines the placement of keys.

    settings: of the layer. ties: as they are stored. before: the layout in which untied keys were set.
    """

    settings: tuple[object, ...]
    ties: str
    keys: CurveKeys
    before: Layout
    now: Layout

    def is_like(self, other: Asked) -> bool:
        """Return whether keys are placed as for another one."""
        return (self.settings == other.settings and self.ties == other.ties and self.before.is_like(other.before)
                and self.now.is_like(other.now) and self.keys.is_like(other.keys))


class Placed(NamedTuple):
    """Keys as placed, their ties as they are stored, and the name of the layer's procedure."""

    keys: CurveKeys
    ties: str
    procedure: str


_placed: deque[tuple[Asked, Placed]] = deque(maxlen=_MOST_PLACED)
_ties: OrderedDict[str, Ties] = OrderedDict()


def placed(asked: Asked) -> Placed | None:
    """Return the placed keys for equal input and remove them from the cache; None if there are none."""
    for at, (known, found) in enumerate(_placed):
        if known.is_like(asked):
            del _placed[at]
            return found
    return None


def keep_placed(asked: Asked, found: Placed) -> None:
    """Store placed keys in the cache."""
    _placed.append((asked, found))


def ties(said: str) -> Ties | None:
    """Return ties by their stored form, None if they are not in the cache."""
    return _ties.get(said)


def keep_ties(said: str, found: Ties) -> None:
    """Store ties in the cache by their stored form, with frames as in that form."""
    _ties[said] = replace(found, frame=np.round(found.frame, _FRAME_DECIMALS),
                          length=np.round(found.length, _FRAME_DECIMALS))
    _ties.move_to_end(said)
    while len(_ties) > _MOST_TIES:
        _ties.popitem(last=False)


def forget() -> None:
    """Clear both caches."""
    _placed.clear()
    _ties.clear()
