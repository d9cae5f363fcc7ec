"""The scene in which a score plays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np

from ...errors import Place, Problem, quoted
from ...maths.arrays import FloatArray, IntArray
from ...pha.sequence import Sequence
from ...pha.ways import Way
from ...retargeting.skin_points import SkinPoints
from ...skeletons.maps import SkeletonMap
from ..clock import Clock
from ..feet.floored import Floored
from ..feet.footholds import ground_axes
from ..feet.seats import SeatSkin, Thighs
from ..feet.standing import Feet
from ..placing.root_motion import RootMode
from ..row import Row
from ..stage import Stage
from .aim import timed_aims, timed_meets
from .aimed import Aimed
from .cast import SceneFloor, Target, Unfit, misfit
from .edges import high_edges, long_strides
from .fitting import fitted
from .hold import with_holds
from .known_hands import KnownHands
from .look import Neck
from .looks_behind import without_looks_behind
from .meet import TimedMeet
from .own_places import without_own_arms
from .reach import Reaching
from .seats import highest, missed, seats_of
from .sits import Ground, Sits
from .spells import Spells
from .surface import Surface
from .traveller import Traveller, ahead_of
from .warp import OwnPath
from .warped import Warped
from .warping import warp_of
from .ways import innermost

NOBODY: Final[Mapping[TimedMeet, Target]] = MappingProxyType({})
_TOO_EARLY: Final = Unfit("is left out, since the hand still meets another one then: let it begin later")
_IN_LOOP: Final = Unfit("is left out while the score loops: the next round would find nobody there")
_NUMBER: Final = re.compile(r"\d+(\.\d+)?")
_AT_ONCE: Final = 16
"""Footprints of each foot that are tested first."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Objects that play the roles of a score, by role name, and the character that meets them.

    turn: quaternion (4,) from H-Anim's axes. up: (3,) in the character's model space. followers: see compose. clock:
    tempo changes; moving objects go by the clock. floors: the roles on which feet stand, each with its place in the
    score. unit_m: see Settings. level: how high flat ground is, along up. points: samples of the skin, if known.
    """

    cast: Mapping[str, Target]
    body: SkeletonMap
    turn: FloatArray
    up: FloatArray
    followers: IntArray
    clock: Clock | None = None
    floors: tuple[tuple[str, Place], ...] = ()
    unit_m: float = 1.0
    level: float = 0.0
    points: SkinPoints | None = None
    _known_spells: dict[Row, Spells] = field(default_factory=dict)
    _known_paths: dict[Row, dict[Way, OwnPath]] = field(default_factory=dict)

    def fitted(self, sequence: Sequence, row: Row) -> tuple[Sequence, tuple[Problem, ...]]:
        """Return a sequence with the rounds that fitting calls need, and problems. row: plays one round of each."""
        traveller = self._traveller(row)
        return (sequence, ()) if traveller is None or row.is_loop else fitted(
            sequence, self._sits(row, row, traveller), self.cast, self._shown)

    def warped(self, stage: Stage, row: Row, root_motion: RootMode) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion bent along its paths, and problems. row: its segments."""
        ways = row.sequence.ways
        if not ways:
            return stage, ()
        traveller = self._traveller(row)
        why = ("loops: its rounds go on from each other" if row.is_loop else "plays in place" if
               root_motion == "IN_PLACE" else "moves nothing that carries the body" if traveller is None else "")
        if traveller is None or why:
            return stage, _as_missed((Problem(f"places and paths are left out while the score {why}", ways[0].place,
                                              is_warning=True),))
        warp, said = warp_of(self._sits(stage, row, traveller), self.cast, self._shown, self.unit_m)
        return (stage if warp is None else Warped(stage, warp, traveller)), _as_missed(_once(said))

    def floored(self, stage: Stage, row: Row) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion whose feet stand on the scene's floors, and problems."""
        found, said = list[SceneFloor](), list[Problem]()
        why = ("loops: its rounds go on from each other" if row.is_loop else "" if isinstance(stage, Feet) else
               "plays in place, or with feet that are not locked")
        for role, place in self.floors:
            target = self.cast.get(role)
            text = misfit(target, SceneFloor, role)
            if target is None:
                text += ", so the ground is flat: choose a mesh for it"
            elif isinstance(target, SceneFloor):
                text = f"floors are left out while the score {why}" if why else (
                    (isinstance(stage, Feet) and (_why_unused(stage, target, role) or self._below_roof(
                        stage, target, role))) or (
                        target.note and f"the role {quoted(role)}: {target.note}"))
                found.append(target)
            if text:
                said.append(Problem(f"<role> {text}", place, is_warning=True, is_note=target is None))
        if not isinstance(stage, Feet) or why:
            return stage, _as_missed(said)
        surface = Surface.of(found, ground_axes(stage.up)) if found else None
        skin = self._seat_skin if row.sequence.ways and len(stage.lock.roots) else None
        spells = None if skin is None else self._spells(row)
        seats, told = ((), ()) if skin is None or spells is None else seats_of(
            stage, skin, spells, self.cast, self._shown, self._ground, self.unit_m)
        if surface is None and not seats:
            return stage, _as_missed((*said, *told))
        floored = Floored(stage, surface, seats, skin if seats else None, spells if seats else None)
        told += missed(floored, self.cast, self._shown, self.unit_m) if seats else ()
        edges = high_edges(floored, row, self._shown, self.unit_m)
        strides = long_strides(floored, row, self._shown, {each.place for each in edges}, self.unit_m)
        return floored, _as_missed((*said, *told, *edges, *strides))

    def meets(self, row: Row) -> tuple[TimedMeet, ...]:
        """Return which hands meet others; none in a loop, whose rounds find the others elsewhere."""
        return () if row.is_loop else timed_meets(row.sequence.aims, row.layout, self.cast)[0]

    def aimed(self, stage: Stage, row: Row, known: KnownHands,
              met: Mapping[TimedMeet, Target] = NOBODY) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion whose head and hands aim at what its elements say, and problems.

        known: hand positions of this stage computed so far. met: positions where hands meet those of others.
        """
        meets, early = timed_meets(row.sequence.aims, row.layout, self.cast)
        met = {**met, **dict.fromkeys(early, _TOO_EARLY), **dict.fromkeys(meets if row.is_loop else (), _IN_LOOP)}
        aims, holds, said = timed_aims(row.sequence.aims, row.layout, self.cast, met)
        if holds and row.is_loop:
            said += (Problem("<hold> is left out while the score loops: nothing would bring the prop back",
                             holds[0].place, is_warning=True),)
            holds = ()
        if not (aims or holds):
            return stage, _as_missed(said)
        neck = Neck.of(self.body, ahead_of(self.body, self.turn)) if any(not aim.hand for aim in aims) else None
        if neck is not None:
            aims, behind = without_looks_behind(aims, {hold.role for hold in holds}, neck, stage, self._shown)
            said += behind
        if not (aims or holds):
            return stage, _as_missed(said)
        arms = {side: arm for side in sorted({aim.hand for aim in aims if aim.hand} | {hold.hand for hold in holds})
                if (arm := Reaching.of(self.body, side)) is not None}
        aims, own = without_own_arms(aims, arms)
        said += own
        aimed, left_out = with_holds(Aimed(stage, aims, neck, arms, self._shown, unit_m=self.unit_m,
                                           up=self.up / np.linalg.norm(self.up)), holds, known)
        missed = (Problem(f"<{'meet' if aim.meets else 'reach'}> at "
                          f"{self._shown(np.array((aim.there_s,)))[0]:.2f} s the hand stays {away * self.unit_m:.2g} m "
                          f"away from {quoted(aim.role)}: bring it nearer, or the body", aim.place, is_warning=True)
                  for aim, away in aimed.misses())
        return aimed, _as_missed((*said, *missed, *left_out))

    def _below_roof(self, stage: Feet, floor: SceneFloor, role: str) -> str:
        """Return why a floor may be a roof where the first foot stands, "" if it is none."""
        leg, lock = np.inf if self._thighs is None else self._thighs.leg, stage.lock
        spans_s = [lock.footholds.spans_s(side) for side in range(len(lock.legs))]
        side = min((side for side, each in enumerate(spans_s) if len(each)), default=None,
                   key=lambda side: float(spans_s[side][0, 0]))
        if side is None or not float((floor.points @ stage.up).max()) - self.level > leg:
            return ""
        point = lock.limbs(stage.sample(spans_s[side][:1].mean(axis=1)))[0][3, side, 0, :2, 3]
        surface = Surface.of((floor,), ground_axes(stage.up))
        above = float(surface.below(point).heights) - self.level
        if not above > leg or not surface.has_room(point, self.level, leg):
            return ""
        return (f"the role {quoted(role)}: the body begins {above * self.unit_m:.2f} m above the armature, though it "
                "could stand below: leave roofs and bridges out of the floor, or move the armature up")

    def _shown(self, times_s: FloatArray) -> FloatArray:
        return times_s if self.clock is None else self.clock.shown(times_s)

    def _sits(self, stage: Stage, row: Row, traveller: Traveller) -> Sits:
        return Sits(stage, row, innermost(row.sequence.ways), traveller, self._thighs,
                    self.up / np.linalg.norm(self.up), self._ground, lambda: self._highest, lambda: self._spells(row),
                    self._known_paths.setdefault(row, {}))

    def _spells(self, row: Row) -> Spells | None:
        """Return which clips of a row go on sitting, looked at once; None for a body without thighs."""
        if self._thighs is not None and row not in self._known_spells:
            self._known_spells[row] = Spells.of(row, self._thighs)
        return self._known_spells.get(row)

    @cached_property
    def _highest(self) -> float:
        return np.inf if self._seat_skin is None else highest(self._seat_skin, self._ground)

    @cached_property
    def _seat_skin(self) -> SeatSkin | None:
        return SeatSkin.of(self.body, self.points, self._ground.axes, self._ground.leg)

    @cached_property
    def _thighs(self) -> Thighs | None:
        return Thighs.of(self.body, self.up)

    @cached_property
    def _ground(self) -> Ground:
        axes = ground_axes(self.up / np.linalg.norm(self.up))
        floors = [target for role, _ in self.floors if isinstance(target := self.cast.get(role), SceneFloor)]
        return Ground(axes, self.level, 0.0 if self._thighs is None else self._thighs.leg,
                      Surface.of(floors, axes) if floors else None)

    def _traveller(self, row: Row) -> Traveller | None:
        return Traveller.of(row.sources.clips, self.up, self.followers, self.body, ahead_of(self.body, self.turn))


def _once(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems without those that an earlier one tells of the same element with other numbers, as in a loop."""
    found = dict[tuple[Place, str], Problem]()
    for problem in problems:
        found.setdefault((problem.place, _NUMBER.sub("", problem.message)), problem)
    return [*found.values()]


def _as_missed(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems with warnings, but not notes, marked as missed: the motion does not do what the score says."""
    return tuple(replace(problem, is_missed=problem.is_warning and not problem.is_note) for problem in problems)


def _why_unused(stage: Feet, floor: SceneFloor, role: str) -> str:
    """Return why nobody stands on a floor, "" if a foot does."""
    surface, lock = Surface.of((floor,), ground_axes(stage.up)), stage.lock
    if surface.is_nowhere:
        return (f"the role {quoted(role)}: its floor has no area as seen from above: choose a mesh that is not scaled "
                "to zero, nor only walls")
    times_s = [lock.footholds.spans_s(leg).mean(axis=1) for leg in range(len(lock.legs))]
    for begin in range(0, max(map(len, times_s)), _AT_ONCE):
        part = [each[begin:begin + _AT_ONCE] for each in times_s]
        feet = lock.limbs(stage.sample(np.concatenate(part)))[0][3, ..., :2, 3]
        counts = np.cumsum([0, *map(len, part)]).tolist()
        own = np.concatenate([feet[leg, counts[leg]:counts[leg + 1]] for leg in range(len(part))])
        if np.isfinite(surface.below(own).heights).any():
            return ""
    return (f"nobody stands on the floor {quoted(role)}: move it below the feet, or the character to it"
            if any(map(len, times_s)) else "")
