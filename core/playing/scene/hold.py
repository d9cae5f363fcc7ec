"""Hands that hold props, or hands: which hand moves what and when, and where a second hand takes hold.

Computation follows time: a hand's position at an instant depends only on what happened before. A hand begins to move to
a prop once it has released the one before. Where a second hand takes hold is decided as it sets out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ...errors import Problem, quoted
from ...maths.arrays import FloatArray
from .aim import BACK_S, SOONEST_S, TimedAim
from .aimed import Aimed
from .carried import Carried, Phase, TimedHold
from .cast import touched_at
from .grip import Grip
from .known_hands import Hands, KnownHands, as_frame, shifted
from .taking import Taking, takings

_SAME_S: Final = 1e-6
_AT_PLACE_S: Final = 0.02
"""A hand is where it reaches up to so long before and after."""
_BREADTH: Final = 2.0
"""Distance between two palms on a prop, as a multiple of that between wrist and palm."""


def with_holds(aimed: Aimed, holds: Sequence[TimedHold],
               known: KnownHands | None = None) -> tuple[Aimed, tuple[Problem, ...]]:
    """Return a motion whose hands also hold props, and problems with those that they cannot hold.

    Hands that stay with another's close around it. known: hand positions already computed for the same motion below.
    """
    clasps = [TimedHold(aim.role, aim.target, aim.hand, aim.place, aim.there_s, aim.end_s) for aim in aimed.aims
              if aim.meets and aim.end_s > aim.there_s + _SAME_S]
    plans = takings(aimed, holds)
    if not (plans or clasps):
        return aimed, ()
    known = known or KnownHands()
    props = _Props.after(aimed, plans, known)
    while known.look_up(aimed):
        props = _Props.after(aimed, plans, known)
    held = (*(plan.hold for plan in plans if plan in props.taken), *clasps)
    grips = {side: grip for side, arm in aimed.arms.items() if any(hold.hand == side for hold in held)
             and (grip := Grip.of(arm.body, side)) is not None}
    return replace(props.aimed, holds=held, grips=grips), tuple(props.said)


@dataclass(eq=False)
class _Props:
    """Where hands take props, up to some time. numbers: of the aims of each taking, counted from the end.

    held: by role the takings that last, the one that moves the prop first. taken: those in which the hand got there.
    """

    aimed: Aimed
    known: KnownHands
    numbers: dict[Taking, int]
    said: list[Problem] = field(default_factory=list)
    held: dict[str, list[Taking]] = field(default_factory=dict)
    taken: set[Taking] = field(default_factory=set)

    @classmethod
    def after(cls, aimed: Aimed, plans: Sequence[Taking], known: KnownHands) -> _Props:
        """Let hands take and release all that they are to hold."""
        own = [plan for plan in plans if plan.aim is not None]
        aims = (*aimed.aims, *(plan.aim for plan in own if plan.aim is not None))
        props = cls(replace(aimed, aims=aims), known, {plan: i - len(own) for i, plan in enumerate(own)})
        events = [(plan.hold.end_s, 0, i, props._let_go) for i, plan in enumerate(plans)]
        events += [(plan.hold.begin_s, 2, i, props._take) for i, plan in enumerate(plans)]
        events += [(plan.aim.begin_s, 1, i, props._set_out) for i, plan in enumerate(plans)
                   if plan.aim is not None and plan.beside and plan.came is None]
        for time_s, _, i, happens in sorted(events, key=lambda event: event[:3]):
            happens(plans[i], time_s)
        return props

    def _set_out(self, plan: Taking, time_s: float) -> None:
        """Decide where a second hand without a reach takes hold: beside the first, on its own side."""
        hands, _ = self.known.at(self.aimed, (plan.number, "begins"), time_s)
        arm, hold = self.aimed.arms[plan.hold.hand], plan.hold
        beside = arm.palm_of(hands[hold.hand]) - self.aimed.arms[plan.beside].palm_of(hands[plan.beside])
        breadth = _BREADTH * float(np.linalg.norm(arm.palm))
        moved = self._moved(hold, time_s, hands)
        way = np.linalg.pinv(moved[:, :3]) @ beside
        self._aim(plan, grip=way * (breadth / max(float(np.linalg.norm(beside)), 1e-30)))

    def _take(self, plan: Taking, time_s: float) -> None:
        """Let a hand take a prop, unless it is too far away."""
        hold, others = plan.hold, self.held.setdefault(plan.hold.role, [])
        hands, is_known = self.known.at(self.aimed, (plan.number, "takes"), time_s)
        aim = plan.came or self.aimed.aims[self.numbers[plan]]
        lacks = self.aimed.lacks(aim, np.array((time_s,)), as_frame(hands))[0]
        if not is_known:
            hands = {**hands, hold.hand: shifted(hands[hold.hand], lacks)}
        away = float(np.linalg.norm(lacks)) if is_known else 0.0
        if away > self.aimed.arms[hold.hand].near:
            shown = float(self.aimed.shown(np.array((time_s,)))[0])
            self.said.append(Problem(
                f"<hold> at {shown:.2f} s the hand stays {away * self.aimed.unit_m:.2g} m away from "
                f"{quoted(aim.role)}, so the hand does not hold {quoted(hold.role)}: bring it nearer, or the body",
                hold.place, is_warning=True))
            return
        self.taken.add(plan)
        others.append(plan)
        if others[0] is plan:
            self._lead(hold, hold.hand, time_s, hands)
            return
        self._aim(plan, end_s=hold.end_s, back_s=plan.back_s(hold.end_s))
        if plan.came is not None:
            palm = self.aimed.arms[hold.hand].palm_of(hands[hold.hand])
            self._aim(plan, begun_at=palm, grip=self._grip(hold, time_s, hands, palm))

    def _let_go(self, plan: Taking, time_s: float) -> None:
        """Let a hand leave a prop to another one that holds it, or where it is."""
        others = self.held.get(plan.hold.role, [])
        if plan not in others:
            return
        was_leading = others[0] is plan
        others.remove(plan)
        if not was_leading:
            return
        hands, _ = self.known.at(self.aimed, (plan.number, "lets go"), time_s)
        before = self.aimed.carried[plan.hold.role]
        self._lead(plan.hold, others[0].hold.hand if others else "", time_s, hands)
        if others:  # the hand that moves it now returns to its own tasks
            self._aim(others[0], end_s=time_s, back_s=others[0].back_s(time_s), carried=before)
        else:
            self.said += self._dropped(plan.hold, time_s)
        self._leave(plan, time_s, before)

    def _dropped(self, hold: TimedHold, time_s: float) -> list[Problem]:
        """Return a warning if a hand lets go of a prop on its way to something for which it reaches, or back.

        Also a moment after it is back. At the end of the motion nobody sees it.
        """
        spans = [(aim, *span) for aim, span in zip(self.aimed.aims, self.aimed.spans_s.tolist(), strict=True)
                 if aim.hand == hold.hand and not (aim.holds or aim.meets) and span[0] < time_s < span[3] + BACK_S]
        if not spans or time_s > self.aimed.duration_s - _AT_PLACE_S or any(
                there_s - _AT_PLACE_S <= time_s <= end_s + _AT_PLACE_S for _, _, there_s, end_s, _ in spans):
            return []
        aim, _, there_s, end_s, _ = spans[-1]
        shown = (self.aimed.shown(np.array((time_s, end_s, there_s)))).tolist()
        text = (f"<hold> at {shown[0]:.2f} s the hand has left {quoted(aim.role)}, so {quoted(hold.role)} stays in the "
                f"air: end the hold {shown[0] - shown[1]:.2f} s earlier, or reach for where it is to lie"
                if time_s > end_s else
                f"<hold> at {shown[0]:.2f} s the hand is still on its way to {quoted(aim.role)}, so "
                f"{quoted(hold.role)} stays in the air: end the hold {shown[2] - shown[0]:.2f} s later")
        return [Problem(text, hold.place, is_warning=True)]

    def _leave(self, plan: Taking, time_s: float, before: Carried) -> None:
        """Continue the aim that holds a hand where it took a prop: the prop is elsewhere now."""
        aims, more = list[TimedAim](), list[TimedAim]()
        for aim, gone_s in zip(self.aimed.aims, self.aimed.spans_s[:, 3].tolist(), strict=True):
            is_meant = (aim.hand, aim.role) == (plan.hold.hand, plan.hold.role) and aim.carried is None
            if is_meant and aim.begin_s < time_s < gone_s:
                if aim.end_s > time_s:
                    there_s = max(aim.there_s, time_s + (SOONEST_S if aim.there_s > time_s else BACK_S))
                    end_s = max(aim.end_s, there_s)
                    more.append(replace(aim, begin_s=time_s, there_s=there_s, end_s=end_s,
                                        back_s=end_s + aim.back_s - aim.end_s))
                    aim = replace(aim, end_s=time_s, back_s=plan.back_s(time_s), holds=True)
                aim = replace(aim, carried=before)
            aims.append(aim)
        self.aimed = replace(self.aimed, aims=(*more, *aims))

    def _aim(self, plan: Taking, **changes: Any) -> None:
        """Replace the aim that brings a hand to a prop."""
        aims, number = list(self.aimed.aims), self.numbers[plan]
        aims[number] = replace(aims[number], **changes)
        self.aimed = replace(self.aimed, aims=tuple(aims))

    def _moved(self, hold: TimedHold, time_s: float, hands: Hands) -> FloatArray:
        """Return a prop's motion at a time, (3, 4)."""
        known = self.aimed.carried.get(hold.role)
        return np.eye(4)[:3] if known is None else known.moved(np.array((time_s,)), as_frame(hands))[0]

    def _lead(self, hold: TimedHold, hand: str, time_s: float, hands: Hands) -> None:
        """Let a prop move with a hand, or lie, "", from a time on."""
        known = self.aimed.carried.get(hold.role)
        phase = Phase(time_s, hand, self._moved(hold, time_s, hands), hands[hand] if hand else np.eye(4)[:3])
        if known is None:
            at_first = touched_at(hold.target, self.aimed.shown(np.array((time_s,))))[0]
            carried = Carried(hold.role, hold.target, at_first, (phase,))
        else:
            last = tuple(each for each in known.phases if each.begin_s < time_s - _SAME_S)
            carried = replace(known, phases=(*last, phase))
        self.aimed = replace(self.aimed, carried={**self.aimed.carried, hold.role: carried})

    def _grip(self, hold: TimedHold, time_s: float, hands: Hands, palm: FloatArray) -> FloatArray:
        """Return where a palm at a position (3,) takes hold, (3,), see Carried."""
        moved = self._moved(hold, time_s, hands)
        there = np.linalg.pinv(moved[:, :3]) @ (palm - moved[:, 3])
        return np.asarray(there - self.aimed.carried[hold.role].at_first)
