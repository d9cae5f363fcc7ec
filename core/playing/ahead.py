"""Sampling ahead while a motion is watched: many instants at once cost little more than one.

A crowd whose characters all play motions of their own is sampled so. What is kept is the motion itself at the very
instants that are asked for, nothing in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ..maths.arrays import FloatArray
from .stage import Playable

MOST_AHEAD: Final = 64
"""Instants that are sampled at once."""
_LONGEST_STEP_S: Final = 0.25
_SAME_TIME_S: Final = 1e-9
_SPREAD: Final = 27
"""Coprime to MOST_AHEAD: motions that begin at once sample ahead at different drawings, so that none takes long."""
_Sampled = TypeVar("_Sampled")


@dataclass(slots=True)
class _Watched(Generic[_Sampled]):
    """What was sampled of a motion last, at begin_s and every step_s, `count` times."""

    sampled: _Sampled
    begin_s: float
    step_s: float
    count: int
    asked_s: float
    last_step_s: float = 0.0

    def index(self, time_s: float) -> int | None:
        """Return where a time is among those that were sampled."""
        nearest = round((time_s - self.begin_s) / self.step_s) if self.step_s else 0
        is_there = 0 <= nearest < self.count and abs(self.begin_s + nearest * self.step_s - time_s) <= _SAME_TIME_S
        return nearest if is_there else None


@dataclass(eq=False)
class Ahead(Generic[_Sampled]):
    """Samples motions, one instant of each at a time; once two steps are alike, ahead by more of these.

    sample: makes something of a motion at times (F,). begun: how many motions began to be sampled ahead so far; others
    than 0 at first where several of this kind sample for one drawing.
    """

    sample: Callable[[Playable, FloatArray], _Sampled]
    begun: int = 0
    _watched: WeakKeyDictionary[Playable, _Watched[_Sampled]] = field(default_factory=WeakKeyDictionary)

    def at(self, motion: Playable, time_s: float) -> tuple[_Sampled, int]:
        """Return what was made of a motion, and which of its instants is the one that is asked for."""
        known = self._watched.get(motion)
        if known is None:
            return self._sampled(motion, time_s, 0.0, 0.0, 1)
        step = time_s - known.asked_s
        is_even = abs(step - known.last_step_s) <= _SAME_TIME_S and _SAME_TIME_S < abs(step) <= _LONGEST_STEP_S
        index = known.index(time_s)
        if index is not None:
            known.asked_s, known.last_step_s = time_s, step
            return known.sampled, index
        if not is_even:
            return self._sampled(motion, time_s, step, 0.0, 1)
        count = MOST_AHEAD
        if known.count == 1:
            count, self.begun = 1 + self.begun * _SPREAD % MOST_AHEAD, self.begun + 1
        return self._sampled(motion, time_s, step, step, count)

    def _sampled(self, motion: Playable, time_s: float, last_step_s: float, step_s: float,
                 count: int) -> tuple[_Sampled, int]:
        made = self.sample(motion, np.asarray(time_s + step_s * np.arange(count), dtype=np.float64))
        self._watched[motion] = _Watched(made, time_s, step_s, count, time_s, last_step_s)
        return made, 0
