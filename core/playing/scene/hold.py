"""Hands that hold props, or hands: when which hand leads, and where the other takes hold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ...errors import Problem, quoted
from ...maths.arrays import FloatArray
from .aim import BACK_S, TimedAim
from .aimed import Act, Aimed
from .carried import Carried, Phase, TimedHold
from .cast import touched_at
from .grip import Grip

_SAME_S: Final = 1e-6
_BREADTH: Final = 2.0
"""Of what lies between wrist and palm: so far beside the first palm a second one takes hold."""
_SAME: Final = 1e-8
"""Of what counts as touched: what lies as near to another spot as this is there."""
_ROUNDS: Final = 8
"""So often at most it is found anew what hands do later."""
Hands = Mapping[str, FloatArray]
"""Where hands are in the model, (3, 4) each, by side."""


@dataclass(eq=False)
class KnownHands:
    """Where hands are at instants, each with all that this depends on, on one motion below.

    Where a prop lies depends on which hand has put it there before, and where that was on where the prop lay before
    that. So all instants are looked at together, again and again: each time with props where they were brought the
    time before, until nothing is new. That ends, since the first instant depends on no other.
    """

    _known: dict[Hashable, Hands] = field(default_factory=dict)
    _latest: dict[Hashable, Hands] = field(default_factory=dict)
    _wanted: dict[Hashable, tuple[Hashable, float, list[Act]]] = field(default_factory=dict)

    def at(self, aimed: Aimed, what_for: Hashable, time_s: float) -> tuple[Hands, bool]:
        """Return where hands are at an instant, (3, 4) each by side, and whether that is so or a guess; see look_up.

        what_for: tells from one time to the next which instant it is.
        """
        acts = aimed.acts(np.array((time_s,)))
        key = time_s, *(_depends_on(aimed, act, time_s) for act in acts)
        found = self._known.get(key)
        if found is not None:
            self._latest[what_for] = found
            return found, True
        self._wanted[key] = what_for, time_s, acts
        return self._latest.get(what_for) or {side: arm.body.skeleton.rest_world[arm.limb.last]
                                              for side, arm in aimed.arms.items()}, False

    def look_up(self, aimed: Aimed) -> bool:
        """Find all that was asked for and was not known; return whether that was anything."""
        wanted, self._wanted = self._wanted, {}
        times_s = np.array([time_s for _, time_s, _ in wanted.values()])
        acts = [act._replace(frames=np.array((frame,))) for frame, (_, _, own) in enumerate(wanted.values())
                for act in own]
        hands = aimed.hands(aimed.posed(times_s, acts)) if wanted else {}
        for frame, (key, (what_for, _, _)) in enumerate(wanted.items()):
            self._known[key] = self._latest[what_for] = {side: at[frame] for side, at in hands.items()}
        return bool(wanted)


def _depends_on(aimed: Aimed, act: Act, time_s: float) -> Hashable:
    """Return all that the pose of an instant depends on for what acts there."""
    aim, carried, same = act.aim, act.carried, _SAME * min(arm.near for arm in aimed.arms.values())
    where = None if carried is None else carried.spot(time_s, aim.hand, aim.grip)
    spot = None if where is None else (where[0], *np.round(where[1] / same).tolist())
    return (aim.hand, aim.begin_s, aim.there_s, aim.end_s, aim.back_s, aim.target, act.beside_carried, spot)


def with_holds(aimed: Aimed, holds: Sequence[TimedHold],
               known: KnownHands | None = None) -> tuple[Aimed, tuple[Problem, ...]]:
    """Return a motion whose hands also hold props, and what is to be said of those that they cannot hold.

    Hands take and let go in the order of time, for where a prop lies depends on who has put it there. A hand that is
    on its way to what it takes later moves before that, with what it still holds; so all is done again with what hands
    were found to do later, until that is the same. Hands that stay with another's close around it. known: where hands
    are, as far as that was found for the same motion below.
    """
    holds = _joined(holds)
    clasps = [TimedHold(aim.role, aim.target, aim.hand, aim.place, aim.there_s, aim.end_s) for aim in aimed.aims
              if aim.meets and aim.end_s > aim.there_s + _SAME_S]
    if not (holds or clasps):
        return aimed, ()
    known = known or KnownHands()
    events = sorted([(hold.end_s, 0, i) for i, hold in enumerate(holds)]
                    + [(hold.begin_s, 1, i) for i, hold in enumerate(holds)])
    taking, rounds = _taken(aimed, holds, events, known, {}), _ROUNDS
    same = _SAME * min((arm.near for arm in aimed.arms.values()), default=0.0)
    while True:
        is_new, later = known.look_up(aimed), taking.later
        if not is_new:
            if not rounds or _is_same(later, taking.made, same):
                break
            later, rounds = taking.made, rounds - 1
        taking = _taken(aimed, holds, events, known, later)
    held = (*(hold for hold in holds if hold in taking.taken), *clasps)
    grips = {side: grip for side, arm in aimed.arms.items() if any(hold.hand == side for hold in held)
             and (grip := Grip.of(arm.body, side)) is not None}
    return replace(taking.aimed, holds=held, grips=grips), tuple(taking.said)


def _joined(holds: Sequence[TimedHold]) -> list[TimedHold]:
    """Return holds, those of one prop by one hand that follow each other without a gap as one."""
    found, last = list[TimedHold](), dict[tuple[str, str], int]()
    for hold in sorted(holds, key=lambda each: each.begin_s):
        at = last.get((hold.role, hold.hand))
        if at is not None and hold.begin_s <= found[at].end_s + _SAME_S:
            found[at] = replace(found[at], end_s=max(found[at].end_s, hold.end_s))
        else:
            last[hold.role, hold.hand] = len(found)
            found.append(hold)
    return found


def _is_same(one: Mapping[TimedHold, TimedAim], other: Mapping[TimedHold, TimedAim], near: float) -> bool:
    """Tell whether hands do the same for holds, but for so much where they take hold."""
    return one.keys() == other.keys() and all(
        (aim.begin_s, aim.there_s, aim.end_s) == (again.begin_s, again.there_s, again.end_s)
        and np.allclose(0.0 if aim.grip is None else aim.grip, 0.0 if again.grip is None else again.grip, 0.0, near)
        for aim, again in ((aim, other[hold]) for hold, aim in one.items()))


def _taken(aimed: Aimed, holds: Sequence[TimedHold], events: Sequence[tuple[float, int, int]],
           known: KnownHands, later: Mapping[TimedHold, TimedAim]) -> _Taking:
    """Let hands take and let go of props; events: when, whether it is taken, and the number of its hold."""
    taking = _Taking(aimed, known, later)
    for time_s, begins, i in events:
        if holds[i].hand in aimed.arms:
            (taking.take if begins else taking.let_go)(holds[i], time_s)
    return taking


@dataclass(eq=False)
class _Taking:
    """What hands hold so far. held: by role the holds, the one that leads first. aims: the number of a hold's own.

    taken: the holds in which the hand got there. later: what brings hands to what they hold, as it was found before.
    left_s: when a hand let go of a prop, by both.
    """

    aimed: Aimed
    known: KnownHands
    later: Mapping[TimedHold, TimedAim]
    said: list[Problem] = field(default_factory=list)
    held: dict[str, list[TimedHold]] = field(default_factory=dict)
    aims: dict[TimedHold, int] = field(default_factory=dict)
    taken: set[TimedHold] = field(default_factory=set)
    left_s: dict[tuple[str, str], float] = field(default_factory=dict)
    _begun: set[TimedHold] = field(default_factory=set)

    @property
    def made(self) -> dict[TimedHold, TimedAim]:
        """What brings hands to what they hold."""
        return {hold: self.aimed.aims[number] for hold, number in self.aims.items()}

    def _hands(self, hold: TimedHold, what: str, time_s: float) -> tuple[Hands, bool]:
        """Return where hands are at a time; see KnownHands.at."""
        later = (aim for hold, aim in self.later.items() if hold not in self._begun)
        return self.known.at(replace(self.aimed, aims=(*self.aimed.aims, *later)), (hold, what), time_s)

    def take(self, hold: TimedHold, time_s: float) -> None:
        """Let a hand take a prop, unless that is too far away."""
        others = self.held.setdefault(hold.role, [])
        self.taken.add(hold)
        self._begun.add(hold)
        came = next((aim for aim in reversed(self.aimed.aims) if aim.hand == hold.hand and not aim.holds
                     and aim.there_s - _SAME_S <= time_s <= aim.end_s + _SAME_S), None)
        aim = came
        if others or came is None:
            aim = self._aim(hold, came, others)
            self.aims[hold] = len(self.aimed.aims)
            self.aimed = replace(self.aimed, aims=(*self.aimed.aims, aim))
        assert aim is not None
        hands, is_known = self._hands(hold, "takes", time_s)
        lacks = self._lacks(aim, time_s, hands)
        if not is_known:
            hands = {**hands, hold.hand: hands[hold.hand] + np.pad(lacks[:, None], ((0, 0), (3, 0)))}
        away = float(np.linalg.norm(lacks)) if is_known else 0.0
        if away > self.aimed.arms[hold.hand].near:
            self.taken.remove(hold)
            shown = float(self.aimed.shown(np.array((time_s,)))[0])
            self.said.append(Problem(
                f"<hold> at {shown:.2f} s the hand stays {away:.2g} m away from {quoted(aim.role)}, so the hand "
                f"does not hold {quoted(hold.role)}: bring it nearer, or the body", hold.place, is_warning=True))
            return
        others.append(hold)
        if len(others) == 1:
            self._begin(hold, hold.hand, time_s, hands)

    def let_go(self, hold: TimedHold, time_s: float) -> None:
        """Let a hand leave a prop to another one that holds it, or where it is."""
        others = self.held.get(hold.role, [])
        if hold not in others:
            return
        self.left_s[hold.role, hold.hand] = time_s
        was_leading = others[0] is hold
        others.remove(hold)
        if not was_leading:
            return
        hands, _ = self._hands(hold, "lets go", time_s)
        before, aims = self.aimed.carried[hold.role], list(self.aimed.aims)
        self._begin(hold, others[0].hand if others else "", time_s, hands)
        if others and others[0] in self.aims:  # who leads now, goes back to what else it does
            number = self.aims[others[0]]
            aims[number] = replace(aims[number], end_s=time_s, back_s=time_s + BACK_S, carried=before)
        aims = [replace(aim, carried=before) if aim.hand == hold.hand and aim.role == hold.role
                and aim.there_s <= time_s < aim.back_s else aim for aim in aims]
        self.aimed = replace(self.aimed, aims=tuple(aims))

    def _lacks(self, aim: TimedAim, time_s: float, hands: Hands) -> FloatArray:
        """Return what lies between a hand and what it takes, (3,)."""
        act = Act(aim, np.zeros(1, dtype=np.int64), np.ones(1), self.aimed.carried.get(aim.role), True)
        return np.asarray(self.aimed.lacks(act, np.array((time_s,)), {side: at[None] for side, at in hands.items()})[0])

    def _begin(self, hold: TimedHold, hand: str, time_s: float, hands: Hands) -> None:
        """Let a prop go with a hand, or lie, "", from a time on."""
        known, times_s = self.aimed.carried.get(hold.role), np.array((time_s,))
        moved = np.eye(4)[:3] if known is None else known.moved(times_s, {side: at[None] for side, at
                                                                          in hands.items()})[0]
        phase = Phase(time_s, hand, moved, hands[hand] if hand else np.eye(4)[:3])
        carried = Carried(hold.role, hold.target, touched_at(hold.target, self.aimed.shown(times_s))[0],
                          (phase,)) if known is None else replace(known, phases=(*known.phases, phase))
        self.aimed = replace(self.aimed, carried={**self.aimed.carried, hold.role: carried})

    def _aim(self, hold: TimedHold, came: TimedAim | None, others: Sequence[TimedHold]) -> TimedAim:
        """Return what brings a hand to a prop, and keeps it there while another leads."""
        free_s = self.left_s.get((hold.role, hold.hand), -np.inf)
        begin_s, there_s = (max(hold.begin_s - BACK_S, free_s), hold.begin_s) if came is None else (
            came.begin_s, came.there_s)
        end_s = hold.end_s if others else hold.begin_s
        grip = self._grip(hold, others[0].hand, is_there=came is not None) if others else None
        return TimedAim(hold.role, hold.target, hold.hand, hold.place, begin_s, there_s, end_s, end_s + BACK_S,
                        holds=True, grip=grip)

    def _grip(self, hold: TimedHold, leading: str, *, is_there: bool) -> FloatArray:
        """Return where a second hand takes hold, (3,), see Carried: where it is, or beside the hand that leads.

        Beside it any spot will do, so the first one that was found is kept.
        """
        if not is_there and hold in self.later and (known := self.later[hold].grip) is not None:
            return known
        times_s, carried = np.array((hold.begin_s,)), self.aimed.carried[hold.role]
        hands, _ = self._hands(hold, "joins", hold.begin_s)
        palm, other = (self.aimed.arms[side].palm_of(hands[side]) for side in (hold.hand, leading))
        moved = carried.moved(times_s, {side: at[None] for side, at in hands.items()})[0]
        at = palm
        if not is_there:
            arm, beside = self.aimed.arms[hold.hand], palm - other
            breadth = _BREADTH * float(np.linalg.norm(arm.palm))
            at = moved[:, :3] @ carried.at_first + moved[:, 3] + beside * (
                breadth / max(float(np.linalg.norm(beside)), 1e-30))
        return np.asarray(np.linalg.pinv(moved[:, :3]) @ (at - moved[:, 3]) - carried.at_first)
