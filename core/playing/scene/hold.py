"""Hands that hold props: when which hand leads, and where the other takes hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ...errors import Problem, quoted
from ...maths.arrays import FloatArray
from ...skeletons.skeleton import world_from_pose
from .aim import BACK_S, TimedAim
from .aimed import Aimed
from .carried import Carried, Phase, TimedHold
from .cast import touched_at
from .grip import Grip

_SAME_S: Final = 1e-6
_BREADTH: Final = 2.0
"""Of what lies between wrist and palm: so far beside the first palm a second one takes hold."""


def with_holds(aimed: Aimed, holds: Sequence[TimedHold]) -> tuple[Aimed, tuple[Problem, ...]]:
    """Return a motion whose hands also hold props, and what is to be said of those that they cannot hold.

    Hands take and let go in the order of time, for where a prop lies depends on who has put it there.
    """
    if not holds:
        return aimed, ()
    taking = _Taking(aimed)
    events = sorted([(hold.end_s, 0, i) for i, hold in enumerate(holds)]
                    + [(hold.begin_s, 1, i) for i, hold in enumerate(holds)])
    for time_s, begins, i in events:
        if holds[i].hand in aimed.arms:
            (taking.take if begins else taking.let_go)(holds[i], time_s)
    held = tuple(hold for hold in holds if hold in taking.taken)
    grips = {side: grip for side, arm in aimed.arms.items() if any(hold.hand == side for hold in held)
             and (grip := Grip.of(arm.body, side)) is not None}
    return replace(taking.aimed, holds=held, grips=grips), tuple(taking.said)


@dataclass(eq=False)
class _Taking:
    """What hands hold so far. held: by role the holds, the one that leads first. aims: the number of a hold's own.

    taken: the holds in which the hand got there.
    """

    aimed: Aimed
    said: list[Problem] = field(default_factory=list)
    held: dict[str, list[TimedHold]] = field(default_factory=dict)
    aims: dict[TimedHold, int] = field(default_factory=dict)
    taken: set[TimedHold] = field(default_factory=set)

    def take(self, hold: TimedHold, time_s: float) -> None:
        """Let a hand take a prop, unless that is too far away."""
        others = self.held.setdefault(hold.role, [])
        self.taken.add(hold)
        if any(each.hand == hold.hand for each in others):
            others.append(hold)
            return
        came = next((aim for aim in reversed(self.aimed.aims) if aim.hand == hold.hand and not aim.holds
                     and aim.there_s - _SAME_S <= time_s <= aim.end_s + _SAME_S), None)
        aim = came
        if others or came is None:
            aim = self._aim(hold, came, others)
            self.aims[hold] = len(self.aimed.aims)
            self.aimed = replace(self.aimed, aims=(*self.aimed.aims, aim))
        assert aim is not None
        away = self.aimed.away(aim, time_s)
        if away > self.aimed.arms[hold.hand].near:
            self.taken.remove(hold)
            shown = float(self.aimed.shown(np.array((time_s,)))[0])
            self.said.append(Problem(
                f"<hold> at {shown:.2f} s the hand stays {away:.2g} m away from {quoted(aim.role)}, so the hand "
                f"does not hold {quoted(hold.role)}: bring it nearer, or the body", hold.place, is_warning=True))
            return
        others.append(hold)
        if len(others) == 1:
            self._begin(hold, hold.hand, time_s)

    def let_go(self, hold: TimedHold, time_s: float) -> None:
        """Let a hand leave a prop to another one that holds it, or where it is."""
        others = self.held.get(hold.role, [])
        if hold not in others:
            return
        was_leading = others[0] is hold
        others.remove(hold)
        if not was_leading:
            return
        self._begin(hold, others[0].hand if others else "", time_s)
        if others and others[0] in self.aims:  # who leads now, goes back to what else it does
            aims, number = list(self.aimed.aims), self.aims[others[0]]
            aims[number] = replace(aims[number], end_s=time_s, back_s=time_s + BACK_S)
            self.aimed = replace(self.aimed, aims=tuple(aims))

    def _begin(self, hold: TimedHold, hand: str, time_s: float) -> None:
        """Let a prop go with a hand, or lie, "", from a time on."""
        known, times_s = self.aimed.carried.get(hold.role), np.array((time_s,))
        hands = self.aimed.hands(self.aimed.sample(times_s))
        moved = np.eye(4)[:3] if known is None else known.moved(times_s, hands)[0]
        phase = Phase(time_s, hand, moved, hands[hand][0] if hand else np.eye(4)[:3])
        carried = Carried(hold.role, hold.target, touched_at(hold.target, self.aimed.shown(times_s))[0],
                          (phase,)) if known is None else replace(known, phases=(*known.phases, phase))
        self.aimed = replace(self.aimed, carried={**self.aimed.carried, hold.role: carried})

    def _aim(self, hold: TimedHold, came: TimedAim | None, others: Sequence[TimedHold]) -> TimedAim:
        """Return what brings a hand to a prop, and keeps it there while another leads."""
        begin_s, there_s = (hold.begin_s - BACK_S, hold.begin_s) if came is None else (came.begin_s, came.there_s)
        end_s = hold.end_s if others else hold.begin_s
        grip = self._grip(hold, others[0].hand, is_there=came is not None) if others else None
        return TimedAim(hold.role, hold.target, hold.hand, hold.place, begin_s, there_s, end_s, end_s + BACK_S,
                        holds=True, grip=grip)

    def _grip(self, hold: TimedHold, leading: str, *, is_there: bool) -> FloatArray:
        """Return where a second hand takes hold, (3,), see Carried: where it is, or beside the hand that leads."""
        times_s, carried = np.array((hold.begin_s,)), self.aimed.carried[hold.role]
        pose = self.aimed.sample(times_s)
        world, hands = world_from_pose(self.aimed.skeleton, pose), self.aimed.hands(pose)
        palm, other = (self.aimed.arms[side].palms(world)[0] for side in (hold.hand, leading))
        moved = carried.moved(times_s, hands)[0]
        at = palm
        if not is_there:
            arm, beside = self.aimed.arms[hold.hand], palm - other
            breadth = _BREADTH * float(np.linalg.norm(arm.palm))
            at = moved[:, :3] @ carried.at_first + moved[:, 3] + beside * (
                breadth / max(float(np.linalg.norm(beside)), 1e-30))
        return np.asarray(np.linalg.pinv(moved[:, :3]) @ (at - moved[:, 3]) - carried.at_first)
