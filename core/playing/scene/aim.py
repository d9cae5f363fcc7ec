"""What a body aims at in a scene, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...errors import Place, Problem, quoted
from ...maths.arrays import FloatArray
from ...maths.formulas import minimum_jerk
from ...pha.ways import AimedAt
from ..transitions.methods import Layout
from .carried import Carried, TimedHold
from .cast import OwnPlace, ScenePlace, Target, Unfit, misfit, seen_at, touched_at
from .meet import TimedMeet

LOOK_S: Final = 0.4
"""Time in which a head turns to something, and back."""
BACK_S: Final = 0.5
"""Time in which a hand goes back."""
SOONEST_S: Final = 0.1
"""Least time in which a hand gets there."""
_NO_TIME_S: Final = 1e-12
_NOT_MET: Final = Unfit("has no score, so there is nobody to meet: give it one, or reach for something instead")


@dataclass(frozen=True, eq=False)
class TimedAim:
    """One aim: a role by its name, and the target that plays it. hand: l or r, "" for the head.

    place: of its element in the file. holds: whether the element is a hold. grip: see Carried. meets: whether the
    target is another's hand. carried: the prop at which it aims on its way back, if other hands hold it by then.
    begun_at: (3,) the palm's position at the beginning, if it is already there. begin_s, there_s, end_s, back_s: when
    the body begins to turn to it, has done so, begins to turn back, and has done so.
    """

    role: str
    target: Target
    hand: str
    place: Place
    begin_s: float
    there_s: float
    end_s: float
    back_s: float
    holds: bool = False
    grip: FloatArray | None = None
    meets: bool = False
    carried: Carried | None = None
    begun_at: FloatArray | None = None

    def weights(self, times_s: FloatArray) -> FloatArray:
        """Return the weight of the aim at times (F,), 0 to 1, with minimum jerk (Flash and Hogan 1985).

        >>> aim = TimedAim("cup", ScenePlace((0, 1, 0), (0, 0, 1)), "r", Place(), 1.0, 2.0, 3.0, 4.0)
        >>> aim.weights(np.array((0.5, 1.5, 2.5, 3.5, 4.5))).tolist()
        [0.0, 0.5, 1.0, 0.5, 0.0]
        """
        return weights(times_s, self.begin_s, self.there_s, self.end_s, self.back_s)

    def positions(self, shown_s: FloatArray) -> FloatArray:
        """Return the target's positions, (F, 3) in model space, at times (F,) of the clock."""
        return touched_at(self.target, shown_s) if self.hand else seen_at(self.target, shown_s)


def weights(times_s: FloatArray, begin_s: float, there_s: float, end_s: float, back_s: float) -> FloatArray:
    """Return the weight of an aim at times (F,); see TimedAim."""
    comes = (times_s - begin_s) / max(there_s - begin_s, _NO_TIME_S)
    goes = (back_s - times_s) / max(back_s - end_s, _NO_TIME_S)
    return np.where((times_s > begin_s) & (times_s < back_s), minimum_jerk(np.minimum(comes, goes)), 0.0)


def timed_aims(aims: Sequence[AimedAt], layout: Layout, cast: Mapping[str, Target],
               met: Mapping[TimedMeet, Target]) -> tuple[tuple[TimedAim, ...], tuple[TimedHold, ...],
                                                         tuple[Problem, ...]]:
    """Return the aims and holds of a score's elements, and problems.

    Aims are sorted by their beginnings: later ones override. aims: of a sequence. cast: the objects that play the
    roles; aims at roles without object are left out. met: positions where hands meet others.
    """
    found, holds, said, noted = list[TimedAim](), list[TimedHold](), list[Problem](), set[str]()
    for each in aims:
        role, target = each.aim.role, cast.get(each.aim.role)
        is_own = isinstance(target, OwnPlace) and each.aim.word == "reach"
        text = "" if is_own else misfit(target, ScenePlace, role)
        if target is None:
            text += ", so it is left out: choose an object for it"
        elif not text and not isinstance(target, Unfit):
            begin_s, end_s = _span_s(each, layout)
            if each.aim.holds:
                holds.append(TimedHold(role, target, each.aim.hand, each.place, begin_s, end_s))
            elif each.aim.meets:
                aim = _timed(each, target, begin_s, end_s)
                there = met.get(_meet(each, aim), _NOT_MET)
                if isinstance(there, Unfit):
                    said.append(Problem(f"<meet> {quoted(role)} {there.why}", each.place, is_warning=True))
                else:
                    found.append(replace(aim, target=there, meets=True))
            else:
                found.append(_timed(each, target, begin_s, end_s))
            text = f"the role {quoted(role)}: {target.note}" if target.note and role not in noted else ""
            noted.add(role)
        if text:
            said.append(Problem(f"<{each.aim.word}> {text}", each.place, is_warning=True, is_note=target is None))
    return tuple(sorted(found, key=lambda aim: aim.begin_s)), tuple(holds), tuple(said)


def timed_meets(aims: Sequence[AimedAt], layout: Layout,
                cast: Mapping[str, Target]) -> tuple[tuple[TimedMeet, ...], tuple[TimedMeet, ...]]:
    """Return which hands of a sequence meet others at roles that are cast, and which meetings come too early.

    Too early: while the same hand still meets another one.
    """
    found, early = list[TimedMeet](), list[TimedMeet]()
    for each in aims:
        target = cast.get(each.aim.role)
        if not each.aim.meets or target is None or misfit(target, ScenePlace, each.aim.role):
            continue
        meet = _meet(each, _timed(each, target, *_span_s(each, layout)))
        (early if any(other.hand == meet.hand and other.is_with(meet) for other in found) else found).append(meet)
    return tuple(found), tuple(early)


def _meet(each: AimedAt, aim: TimedAim) -> TimedMeet:
    return TimedMeet(aim.role, aim.hand, each.aim.meets, each.weight, aim.place, aim.begin_s, aim.there_s, aim.end_s,
                     aim.back_s)


def _span_s(each: AimedAt, layout: Layout) -> tuple[float, float]:
    first_s, last_s = float(layout.begin_s[each.first]), float(layout.end_s[each.first])
    begin, end = (0.0, 1.0) if each.inside is None else each.inside
    return first_s + begin * (last_s - first_s), first_s + end * (last_s - first_s)


def _timed(each: AimedAt, target: Target, begin_s: float, end_s: float) -> TimedAim:
    aim = each.aim
    there_s = begin_s + (max((1.0 - aim.held) * (end_s - begin_s), SOONEST_S) if aim.hand else LOOK_S)
    end_s = max(end_s, there_s)
    return TimedAim(aim.role, target, aim.hand, each.place, begin_s, there_s, end_s,
                    end_s + (BACK_S if aim.hand else LOOK_S))
