"""What hands hold: how props move while they do, and where they lie then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...errors import Place
from ...maths.arrays import FloatArray, IntArray, smoothstep
from .cast import Target, touched_at

_CLOSES_S: Final = 0.3
"""So long a hand takes to close around something, and to open."""


@dataclass(frozen=True, eq=False)
class TimedHold:
    """A hand, l or r, that holds what plays a role from begin_s to end_s. place: of what says so, in its file."""

    role: str
    target: Target
    hand: str
    place: Place
    begin_s: float
    end_s: float

    def weights(self, times_s: FloatArray) -> FloatArray:
        """Return how much the hand is closed at times (F,), 0 to 1."""
        out = np.maximum(np.maximum(self.begin_s - times_s, times_s - self.end_s), 0.0)
        return 1.0 - smoothstep(out, 0.0, _CLOSES_S)


@dataclass(frozen=True, eq=False)
class Phase:
    """From begin_s on a prop goes with a hand, or lies, "". moved: (3, 4) how it has moved in the model by then.

    hand_at: (3, 4) where the hand is then, as wrist joints turn and place; of what lies it means nothing.
    """

    begin_s: float
    hand: str
    moved: FloatArray
    hand_at: FloatArray


@dataclass(frozen=True, eq=False)
class Carried:
    """A prop that hands hold at times: phases in their order, from the first time that one takes it.

    at_first: (3,) where in the model it is then. Before that it is where the scene has it.
    With D what has moved a prop by the beginning of a phase, and H where its hand is, it is moved H(t) H⁻¹ D at time t.
    """

    role: str
    target: Target
    at_first: FloatArray
    phases: tuple[Phase, ...]

    @cached_property
    def _begin_s(self) -> FloatArray:
        return np.array([phase.begin_s for phase in self.phases])

    def phase_at(self, times_s: FloatArray) -> IntArray:
        """Return the number of the phase at each time (F,), −1 before the first."""
        return np.asarray(np.searchsorted(self._begin_s, times_s, side="right") - 1)

    def is_led(self, times_s: FloatArray, hand: str) -> np.ndarray:
        """Tell at which times (F,) it goes with another hand than this one."""
        leads = np.array([phase.hand not in ("", hand) for phase in self.phases])
        number = self.phase_at(times_s)
        return np.asarray((number >= 0) & leads[np.maximum(number, 0)])

    def moved(self, times_s: FloatArray, hands: Mapping[str, FloatArray], besides: str = "") -> FloatArray:
        """Return how it is moved in the model, (F, 3, 4), at times (F,).

        hands: (F, 3, 4) where each is; besides: a hand for which it stays where that took it.
        """
        number, found = self.phase_at(times_s), np.tile(np.eye(4)[:3], (len(times_s), 1, 1))
        for at in np.unique(number[number >= 0]).tolist():
            own, phase = number == at, self.phases[at]
            found[own] = phase.moved
            if phase.hand not in ("", besides):
                found[own] = compose(hands[phase.hand][own], compose(inverse(phase.hand_at), phase.moved))
        return found

    def spot(self, time_s: float, hand: str = "", grip: FloatArray | None = None) -> tuple[str, FloatArray] | None:
        """Return by what a hand finds it at a time: another hand that leads it, "" for none, and (3,) where from there.

        None before it is first taken; grip: see positions.
        """
        number = int(self.phase_at(np.array((time_s,)))[0])
        if number < 0:
            return None
        phase, there = self.phases[number], self.at_first if grip is None else self.at_first + grip
        leading = "" if phase.hand == hand else phase.hand
        moved = compose(inverse(phase.hand_at), phase.moved) if leading else phase.moved
        return leading, moved[:, :3] @ there + moved[:, 3]

    def positions(self, times_s: FloatArray, shown_s: FloatArray, hands: Mapping[str, FloatArray], hand: str = "",
                  grip: FloatArray | None = None) -> FloatArray:
        """Return where it is to be touched, (F, 3) in the model, at times (F,), shown_s by the clock; see moved.

        grip: (3,) from its origin to where it is touched, as the model's axes are when it is first taken.
        """
        there = self.at_first if grip is None else self.at_first + grip
        moved = self.moved(times_s, hands, hand)
        after = moved[..., :3] @ there + moved[..., 3]
        return np.where((self.phase_at(times_s) < 0)[:, None], touched_at(self.target, shown_s), after)


def compose(outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Return affine maps (…, 3, 4) of which the inner ones come first."""
    linear = outer[..., :3] @ inner[..., :3]
    return np.concatenate((linear, (outer[..., :3] @ inner[..., 3:]) + outer[..., 3:]), axis=-1)


def inverse(affine: FloatArray) -> FloatArray:
    """Return what undoes affine maps (…, 3, 4).

    >>> turned = np.array(((0.0, -2.0, 0.0, 1.0), (2.0, 0.0, 0.0, 3.0), (0.0, 0.0, 2.0, 5.0)))
    >>> compose(inverse(turned), turned).round(12).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """
    linear = np.linalg.pinv(affine[..., :3])  # something may be scaled to nothing
    return np.concatenate((linear, -linear @ affine[..., 3:]), axis=-1)
