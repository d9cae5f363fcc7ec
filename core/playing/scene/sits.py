"""Where a body is to be at a place: as it stands there, or, on a seat, where its hips come down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, ComplexArray, FloatArray
from ...pha.ways import Way
from ..feet.seats import SITS, Seat, Thighs
from ..feet.sitting import Moving, Sitting
from ..mix import of_joints
from ..placing.placement import Placement
from ..row import Row
from ..stage import Stage
from .cast import ScenePath, ScenePlace
from .detour import crosses, footprint_of, round_corners
from .ground_curve import GroundCurve, bend, joined
from .spells import Spells
from .surface import Surface
from .traveller import Traveller
from .warp import OwnPath
from .ways import edges_s

GROUND_LEGS: Final = 0.1
"""What is no higher, in leg lengths, is a place on the ground."""
_BEFORE_LEGS: Final = 0.0, 0.6
"""Where the ground below a seat is looked for: below it, and, in leg lengths, where feet stand."""
_NEXT_LEGS: Final = 2.0
"""A way leads to where a call sits down that begins so near its end, in leg lengths, with the same place."""
_STANDS_LEGS: Final = 0.45
"""Distance of the hips, in leg lengths, between where a body stands before it sits down and its seat."""
_TURNS_LEGS: Final = 1.4
"""Leg lengths over which a body turns at a corner of a path, or by half a turn on the spot: about two steps, so that
planted feet are not taken along."""
_STEPS_LEGS: Final = 1.0
"""A body that has stood up is no farther from its seat, in leg lengths, nor from a path that it joins from there."""
_ROOM_LEGS: Final = 0.3
"""Half of a body's width, in leg lengths."""
_TIMES_BENT: Final = 4
"""Where a way faces at its end tells where its end is, and that how it faces there."""
_LAST_S: Final = 0.3
"""A body that sits down in a call sits as in so many seconds before it ends, or else after that."""
_SPACING_S: Final = 1.0 / 30.0
_MOST_FRAMES: Final = 20_000


class Stand(NamedTuple):
    """Where a body is over the ground as its clips lead, and where it faces, or its way leads."""

    position: complex
    angle: float


@dataclass(frozen=True, eq=False)
class Ground:
    """How high the ground is before a seat. axes: (3, 3) to ground coordinates. level: of flat ground. leg: its length.

    surface: of the floors, or None.
    """

    axes: FloatArray
    level: float
    leg: float
    surface: Surface | None

    def __call__(self, place: ScenePlace) -> float:
        """Return the height of the ground at a place, or where feet stand before it if the place is part of a floor."""
        here, before = self._heights(place)
        return before if self._is_as_high(place, here) else here

    def has(self, place: ScenePlace) -> bool:
        """Return whether a place is part of a floor."""
        return self.surface is not None and self._is_as_high(place, self._heights(place)[0])

    def _heights(self, place: ScenePlace) -> tuple[float, float]:
        """Return the height of the ground at a place, and where feet stand before it."""
        if self.surface is None:
            return self.level, self.level
        steps = np.array(_BEFORE_LEGS)[:, None] * self.leg * np.array(place.ahead)
        found = self.surface.below(((np.array(place.position) + steps) @ self.axes.T)[:, :2]).heights
        here, before = np.where(np.isnan(found), self.level, found).tolist()
        return here, before

    def _is_as_high(self, place: ScenePlace, height: float) -> bool:
        seat = float((self.axes @ np.array(place.surface or place.position))[2])
        return abs(seat - height) < GROUND_LEGS * self.leg


@dataclass(frozen=True, eq=False)
class Sits:
    """Finds which bodies of ways are to be at their places.

    stage: the motion as its clips lead; row: of its segments; ways: in order. up: unit vector (3,) of the model.
    ground: where seats stand. highest: returns the greatest height of a seat above that, see seats.highest. looked:
    returns which clips of the row go on sitting; None for a body without thighs. paths: the bodies' own paths known so
    far, by their ways.
    """

    stage: Stage
    row: Row
    ways: Sequence[Way]
    traveller: Traveller
    thighs: Thighs | None
    up: FloatArray
    ground: Ground
    highest: Callable[[], float]
    looked: Callable[[], Spells | None]
    paths: dict[Way, OwnPath]
    _known: dict[Way, Stand | None] = field(default_factory=dict)

    @cached_property
    def leading(self) -> Stage:
        """The motion of the joints that the traveller sees; its poses of other joints mean nothing."""
        return of_joints(self.stage, self.traveller.joints)

    @cached_property
    def spells(self) -> Spells:
        """Which clips go on sitting."""
        spells = self.looked()
        assert spells is not None  # else nothing sits
        return spells

    def stand(self, way: Way, place: ScenePlace, time_s: float) -> Stand:
        """Return the body that is to be at a place: as it is at a time, or as it sits there.

        A way that leads to a seat leads to where the next call sits down on it, if that has the same place, and begins
        near the end of the way.
        """
        positions, facing = self.traveller.seen(self.leading.sample(np.array((time_s,))))
        here = Stand(complex(positions[0]), float(facing[0]))
        if self.thighs is None or not self._is_seat(place, self.thighs):
            return here
        return self._sat(way, self.thighs) or self._sat_next(way, here, self.thighs) or here

    def placement(self, way: Way, place: ScenePlace, time_s: float, now: Placement) -> Placement:
        """Return the placement that brings a body to a place, see stand.

        now: its placement before, whose direction it keeps if the call does not turn it with the place.
        """
        stand = self.stand(way, place, time_s)
        yaw = self.traveller.angle(place.ahead) - stand.angle if way.going.faces else float(now.yaw_rad)
        return Placement(np.asarray(yaw), np.asarray(
            self.traveller.over(place.position) - np.exp(1j * yaw) * stand.position))

    def curve_to(self, way: Way, place: ScenePlace, begin: Stand, last: Stand, time_s: float) -> GroundCurve:
        """Return the curve of a way that leads to a place: see bend_onto. time_s: when the body is to be there.

        If it would cross the body of a seat, it goes round that.
        """
        curve = bend_onto(self.traveller.over(place.position),
                          self.traveller.angle(place.ahead) if way.going.faces else None, begin, last,
                          self.stand(way, place, time_s), self._half_turn)
        if not place.footprint or self.thighs is None or not self._stands_apart(place, self.thighs):
            return curve
        return round_corners(curve, footprint_of(self.traveller.over_all(place.footprint)),
                             _ROOM_LEGS * self.thighs.leg, self._half_turn)

    def is_crossed(self, curve: GroundCurve, place: ScenePlace) -> bool:
        """Return whether a curve leads through the body of a place that stands on the ground, and is no door."""
        if not place.footprint or self.thighs is None or not self._stands_apart(place, self.thighs):
            return False
        height = float(np.array(place.surface or place.position) @ self.up) - self.ground(place)
        return 0.0 < height < self.highest() and crosses(
            curve, footprint_of(self.traveller.over_all(place.footprint)))

    def curve_along(self, way: Way, path: ScenePath, begin: Stand, own: complex, seated: Way | None) -> GroundCurve:
        """Return the curve of a way along a path.

        begin: where the new way begins, and leads; own: where the body is then as its clips lead. seated: the way
        before if it has a seat. If the body has just stood up from that, it joins a path that begins nearby from where
        it stands.
        """
        curve = GroundCurve.through(self.traveller.over_all(path.points)).rounded(self._half_turn)
        if seated is None or way.going.at or self.thighs is None:
            return curve
        sat, reach = self._sat(seated, self.thighs), _STEPS_LEGS * self.thighs.leg
        return curve if sat is None or abs(own - sat.position) > reach else joined(
            curve, begin.position, begin.angle, reach, self._half_turn)

    @property
    def _half_turn(self) -> float:
        """The length over which a body turns at a corner, or by half a turn on the spot."""
        return _TURNS_LEGS * (self.traveller.size if self.thighs is None else self.thighs.leg)

    def refuses(self, way: Way, place: ScenePlace) -> bool:
        """Return whether a call sits at a place on which the body cannot sit; seats_of says why."""
        if self.thighs is None:
            return False
        height = float(np.array(place.surface or place.position) @ self.up) - self.ground(place)
        return self._sat(way, self.thighs) is not None and (
            bool(place.unseated) or height <= -GROUND_LEGS * self.thighs.leg or height > self.highest())

    def is_seat(self, place: ScenePlace) -> bool:
        """Return whether a body can sit at a place."""
        return self.thighs is not None and self._is_seat(place, self.thighs)

    def _stands_apart(self, place: ScenePlace, thighs: Thighs) -> bool:
        """Return whether a place is a seat on the ground, and no part of a floor, on which feet may stand."""
        return self._is_seat(place, thighs) and not self.ground.has(place)

    def begins_sitting(self, way: Way, place: ScenePlace) -> bool:
        """Return whether a call at a seat sits from its beginning, so that the transition before sits down."""
        return self.thighs is not None and self._is_seat(place, self.thighs) and self._begins_folded(way, self.thighs)

    def _begins_folded(self, way: Way, thighs: Thighs) -> bool:
        """Return whether the first clip of a way begins with folded legs; in its motion a transition may fold them."""
        own = self.row.sequence.clip[way.first:way.first + 1]
        return bool(thighs.seen(self.row.sources.sample(own, np.zeros(1)))[1][0] > SITS * thighs.leg)

    def _is_seat(self, place: ScenePlace, thighs: Thighs) -> bool:
        height = np.array(place.surface or place.position) @ self.up
        return not place.unseated and abs(float(height) - self.ground(place)) >= GROUND_LEGS * thighs.leg

    def _sat_next(self, way: Way, here: Stand, thighs: Thighs) -> Stand | None:
        """Return the body as the next call sits, or, if that sits from its beginning, as it stands before the seat.

        here: at the end of the way.
        """
        after = self.ways[self.ways.index(way) + 1:][:1]
        if not way.going.to or not after or after[0].going.at != way.going.to or after[0].first < way.after:
            return None
        begins, _ = self.traveller.seen(self.leading.sample(np.array(edges_s(after[0], self.row)[:1])))
        if abs(begins[0] - here.position) > _NEXT_LEGS * thighs.leg:
            return None
        sat = self._sat(after[0], thighs)
        if sat is None or not self._begins_folded(after[0], thighs):
            return sat
        ahead = (1.0 if way.going.faces else -1.0) * _STANDS_LEGS * thighs.leg  # else it comes from there
        return Stand(here.position - ahead * complex(np.exp(1j * here.angle)), here.angle)

    def _sat(self, way: Way, thighs: Thighs) -> Stand | None:
        """Return the body as it first sits during a way, on average; None if it does not."""
        if way not in self._known:
            self._known[way] = self._found(way, thighs)
        return self._known[way]

    def _found(self, way: Way, thighs: Thighs) -> Stand | None:
        begin_s, end_s = edges_s(way, self.row)
        if not end_s > begin_s:
            return None
        times_s, on, stands = self._sitting(way, begin_s, end_s, thighs)
        if not self.spells.ends_folded(way) or self._begins_folded(way, thighs):
            return _mean(stands, on)
        last = on & (times_s >= end_s - _LAST_S)
        if last[-1] or not (until_s := self.spells.until_s(way, self._next(way))) > end_s:
            return _mean(stands, last if last.any() else on)
        times_s, later, longer = self._sitting(way, begin_s, until_s, thighs)
        later &= times_s >= end_s - _LAST_S
        later &= times_s <= times_s[int(later.argmax())] + _LAST_S
        return _mean(longer, later) or _mean(stands, on)

    def _next(self, way: Way) -> Way | None:
        return next(iter(self.ways[self.ways.index(way) + 1:]), None)

    def _sitting(self, way: Way, begin_s: float, end_s: float, thighs: Thighs) -> tuple[FloatArray, BoolArray, _Seen]:
        """Return times (F,) between two instants, when the body sits that a way brings to its seat, and where it is."""
        count = int(np.clip(np.ceil((end_s - begin_s) / _SPACING_S), 8, _MOST_FRAMES)) + 1
        times_s = np.linspace(begin_s, end_s, count)
        pose = self.stage.sample(times_s)
        hips, fold = thighs.seen(pose)
        seat = Seat(begin_s, end_s, 0.0, (0.0, 0.0, 0.0), "", way.place)
        on = Sitting.of((seat,), Moving(times_s, hips, hips @ self.up, fold, thighs.leg,
                                         self.spells.paces(times_s))).on
        return times_s, on, _Seen(self.traveller.bearing.over_ground(hips), self.traveller.seen(pose)[1])


class _Seen(NamedTuple):
    """Where hips are over the ground, and where the body faces, (F,) each."""

    hips: ComplexArray
    facing: FloatArray


def _mean(seen: _Seen, on: BoolArray) -> Stand | None:
    """Return a body that is seen, on average over some frames (F,); None if there are none."""
    return Stand(complex(seen.hips[on].mean()), float(seen.facing[on].mean())) if on.any() else None


def bend_onto(place: complex, ahead_rad: float | None, begin: Stand, last: Stand, stand: Stand,
              half_turn: float) -> GroundCurve:
    """Return the curve of a way after which a body is at a place.

    ahead_rad: where it faces there, None: anywhere. begin: where the new way begins, and leads. last: where the own way
    ends, and leads; stand: the body, as its clips lead, that is to be at the place. half_turn: see bend.
    """
    apart = last.position - stand.position
    if ahead_rad is not None:
        yaw = ahead_rad - stand.angle
        return bend(begin.position, begin.angle, place + complex(np.exp(1j * yaw)) * apart, yaw + last.angle,
                    half_turn)
    curve = bend(begin.position, begin.angle, place, None, half_turn)
    for _ in range(_TIMES_BENT if apart else 0):
        turned = complex(np.exp(1j * (curve.angles[-1] - last.angle)))
        curve = bend(begin.position, begin.angle, place + turned * apart, None, half_turn)
    return curve
