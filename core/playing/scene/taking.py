"""When hands take what they are to hold, and which reach brings them there, as the score says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .aim import BACK_S, SOONEST_S, TimedAim
from .aimed import Aimed
from .carried import TimedHold

_SAME_S = 1e-6
_NEXT_S = 0.25
"""Least time for a hand from one thing to the next."""


@dataclass(frozen=True, eq=False)
class Taking:
    """A hold, from when the hand can be there. number: of all holds.

    came: the reach that brings the hand there. aim: replaces a missing reach, and keeps the hand in place while another
    one moves the prop. beside: the hand, l or r, that should hold the prop by then, "" for none. arrivals_s: when the
    hand has to be somewhere, in order.
    """

    number: int
    hold: TimedHold
    came: TimedAim | None
    aim: TimedAim | None
    beside: str
    arrivals_s: tuple[float, ...]

    def back_s(self, end_s: float) -> float:
        """Return when the hand is back, or elsewhere, if it leaves at a time."""
        after_s = next((time_s for time_s in self.arrivals_s if time_s > end_s + _SAME_S), end_s + BACK_S)
        return end_s + min(max(after_s - end_s, SOONEST_S), BACK_S)


def takings(aimed: Aimed, holds: Sequence[TimedHold]) -> list[Taking]:
    """Return how hands of a motion come to hold things, in the order in which they take them."""
    holds, delayed = _joined([hold for hold in holds if hold.hand in aimed.arms]), list[TimedHold]()
    for hold in holds:
        delayed.append(replace(hold, begin_s=_begin_s(aimed, hold, delayed)))
    arrivals_s = {side: tuple(sorted([aim.there_s for aim in aimed.aims if aim.hand == side]
                                     + [hold.begin_s for hold in delayed if hold.hand == side])) for side in aimed.arms}
    return [_taking(aimed, hold, delayed, arrivals_s[hold.hand]) for hold in delayed]


def _joined(holds: Sequence[TimedHold]) -> list[TimedHold]:
    """Return holds sorted by their beginnings; those of one prop and hand without a gap are joined."""
    found, last = list[TimedHold](), dict[tuple[str, str], int]()
    for hold in sorted(holds, key=lambda each: each.begin_s):
        at = last.get((hold.role, hold.hand))
        if at is not None and hold.begin_s <= found[at].end_s + _SAME_S:
            found[at] = replace(found[at], end_s=max(found[at].end_s, hold.end_s))
        else:
            last[hold.role, hold.hand] = len(found)
            found.append(hold)
    return found


def _free_s(hold: TimedHold, others: Sequence[TimedHold], role: str = "") -> float:
    """Return when the hand releases the last thing that it holds before, or a given role."""
    return max((other.end_s for other in others if other.hand == hold.hand and other.end_s <= hold.begin_s + _SAME_S
                and other is not hold and role in ("", other.role)), default=-float("inf"))


def _begin_s(aimed: Aimed, hold: TimedHold, before: Sequence[TimedHold]) -> float:
    """Return when a hand can take what it is to hold, at most halfway through.

    A hand that has just released something needs time, unless a reach has brought it there by then.
    """
    free_s = _free_s(hold, before)
    is_there = _came(aimed, hold, before) is not None and hold.begin_s >= free_s + SOONEST_S - _SAME_S
    late_s = max(free_s + _NEXT_S - hold.begin_s, 0.0)
    return hold.begin_s if is_there else hold.begin_s + min(late_s, (hold.end_s - hold.begin_s) / 2.0)


def _came(aimed: Aimed, hold: TimedHold, before: Sequence[TimedHold]) -> TimedAim | None:
    """Return the reach that brings a hand to what it takes, if the hand stays there until then."""
    free_s = _free_s(hold, before, hold.role)
    return next((aim for aim in reversed(aimed.aims) if aim.hand == hold.hand and aim.begin_s >= free_s
                 and aim.there_s - _SAME_S <= hold.begin_s <= aim.end_s + _SAME_S), None)


def _taking(aimed: Aimed, hold: TimedHold, holds: Sequence[TimedHold], arrivals_s: tuple[float, ...]) -> Taking:
    came, number = _came(aimed, hold, holds), holds.index(hold)
    beside = next((other.hand for i, other in enumerate(holds) if other.role == hold.role and other.hand != hold.hand
                   and (other.begin_s, i) < (hold.begin_s, number) and other.end_s > hold.begin_s), "")
    taking = Taking(number, hold, came, None, beside, arrivals_s)
    if came is not None and not beside:
        return taking
    there_s = hold.begin_s
    begin_s, back_s = (max(there_s - BACK_S, _free_s(hold, holds)), taking.back_s(there_s)) if came is None else (
        there_s, there_s)
    aim = TimedAim(hold.role, hold.target, hold.hand, hold.place, begin_s, there_s, there_s, back_s, holds=True)
    return replace(taking, aim=aim)
