"""The warp of a motion onto a score's paths, with the objects that play its roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np

from ...errors import Problem, TaktError, quoted
from ...maths.arrays import ComplexArray, FloatArray
from ...pha.ways import Way
from ..placing.placement import Placement
from ..row import Row
from .cast import ScenePath, ScenePlace, Target, Unfit, at_time, misfit
from .ground_curve import GroundCurve
from .sits import Sits, Stand
from .traveller import Traveller
from .warp import Frames, OwnPath, Piece, Warp, way_of
from .ways import edges_s

_T = TypeVar("_T", ScenePlace, ScenePath)
PACES: Final = (0.8, 1.25)
"""Pace, relative to its own, within which a clip looks natural by its step length."""
_SPACING_S: Final = 1.0 / 60.0
_MOST_FRAMES: Final = 20_000
_FASTEST_SIZES_PER_S: Final = 1.5
"""Speed in hip heights per second at which a body is moved without a walk, if there is time."""
_FASTEST_RAD_PER_S: Final = np.pi
_NUDGE_SIZES, _NUDGE_RAD = 0.1, np.radians(45.0)
"""A body may be moved and turned at once by this little without notice."""
_BROUGHT_SIZES_PER_S, _BROUGHT_RAD_PER_S = 1.0, 2.0 * np.pi
"""Speeds up to which a transition may move a body, and a way may turn it, without a warning: those of a walk."""
STANDS_SIZES: Final = 0.02
"""Share of the hips' height; a shorter path leads nowhere."""
_MOST_ROUNDS: Final = 10_000
_NO_TIME_S: Final = 1e-12
_LITTLE: Final = 0.02
"""Share of a way; a message does not name shorter turns."""
_NOWHERE: Final = 1e-6
"""Share of the hips' height; positions nearer than this are equal."""


def warp_of(sits: Sits, cast: Mapping[str, Target], shown: Callable[[FloatArray], FloatArray],
            unit_m: float = 1.0) -> tuple[Warp | None, tuple[Problem, ...]]:
    """Return what bends a motion onto its ways, None if nothing does, and what is to be said of it.

    sits: has the motion as its clips lead, and its ways. cast: what plays the roles, by their names; ways of roles that
    nothing plays are left out. shown: from times to those that a clock shows. unit_m: see Settings.
    """
    warping = _Warping(sits, dict(cast), shown, unit_m)
    for way in sits.ways:
        warping.go(way)
    return (Warp.of(warping.pieces) if warping.pieces else None), tuple(warping.said)


def whole_rounds(rounds: float) -> int:
    """Return the whole number whose ratio to the rounds is nearest to 1.

    >>> whole_rounds(0.2), whole_rounds(1.4), whole_rounds(1.42)
    (1, 1, 2)
    """
    low = int(np.clip(np.floor(rounds), 1, _MOST_ROUNDS))
    return low + int(low < _MOST_ROUNDS and rounds * rounds > low * (low + 1))


@dataclass(eq=False)
class _Warping:
    """Goes from path to path. now: the placement of the body after the last one. seated: that one if it has a seat."""

    sits: Sits
    cast: dict[str, Target]
    shown: Callable[[FloatArray], FloatArray]
    unit_m: float
    pieces: list[Piece] = field(default_factory=list)
    said: list[Problem] = field(default_factory=list)
    now: Placement = field(default_factory=lambda: Placement(np.zeros(()), np.zeros((), dtype=np.complex128)))
    noted: set[str] = field(default_factory=set)
    seated: Way | None = None

    @property
    def row(self) -> Row:
        """Of its segments."""
        return self.sits.row

    @property
    def traveller(self) -> Traveller:
        """The body."""
        return self.sits.traveller

    def go(self, way: Way) -> None:
        """Follow one path. A body that is to sit down where it cannot sit stays where it is."""
        begin_s, end_s = self._edges_s(way)
        seats = list[ScenePlace]()
        place = self._target(way, way.going.at, ScenePlace, begin_s) if way.going.at else None
        if place is not None and not self.sits.refuses(way, place):
            self._begin_at(way, place)
            seats.append(place)
        if way.going.to and (place := self._target(way, way.going.to, ScenePlace, end_s)) is not None:
            self._lead(way, place)
            seats.append(place)
        if way.going.along and (path := self._target(way, way.going.along, ScenePath, begin_s)) is not None:
            self._lead(way, path)
        self.seated = way if any(map(self.sits.is_seat, seats)) else None

    def _target(self, way: Way, role: str, kind: type[_T], time_s: float) -> _T | None:
        """Return the target of a role at a time, or None if there is none, or none that fits."""
        cast = self.cast.get(role)
        if why := misfit(cast, kind, role):
            help_ = ", so its way is as authored: choose an object for it" if cast is None else ""
            self._say(way, why + help_, is_note=cast is None)
            return None
        assert cast is not None and not isinstance(cast, Unfit)
        if cast.note and role not in self.noted:
            self.noted.add(role)
            self._say(way, f"the role {quoted(role)}: {cast.note}")
        target = at_time(cast, self._shown_s(time_s))
        if not isinstance(target, kind):
            self._say(way, misfit(target, kind, role))
            return None
        return target

    def _shown_s(self, time_s: float) -> float:
        return float(self.shown(np.array((time_s,)))[0])

    def _begin_at(self, way: Way, place: ScenePlace) -> None:
        """Put the body at a place as a path begins; the transition before brings it there."""
        begin_s, _ = self._edges_s(way)
        position, _ = self._body(np.array((begin_s,)))
        after = self.sits.placement(way, place, begin_s, self.now)
        is_sitting = (way.first > 0 and way.inside is None and not way.going.role
                      and self.sits.begins_sitting(way, place))
        until_s = float(self.row.layout.window_end_s[way.first - 1]) if is_sitting else begin_s
        self._come(way, after, complex(position[0]), begin_s, way.going.at, max(until_s, begin_s))

    def _edges_s(self, way: Way) -> tuple[float, float]:
        """Return the beginning and end of a path."""
        return edges_s(way, self.row)

    def _come(self, way: Way, after: Placement, position: complex, begin_s: float, role: str,
              until_s: float = -np.inf) -> None:
        """Change the body's placement from an instant on; the motion before leads there, at least by its transition.

        If there is time for it, no faster than a walk. role: the target's. until_s: when it is there, if that is later.
        """
        shift, turn = self._away(after, position)
        is_inside = way.inside is not None and way.inside[0] > 0.0
        if way.first > 0 or is_inside:
            needs_s = max(abs(shift) / (_FASTEST_SIZES_PER_S * self.traveller.size), abs(turn) / _FASTEST_RAD_PER_S)
            window_s = begin_s if is_inside else float(self.row.layout.window_begin_s[way.first - 1])
            from_s = min(max(begin_s - needs_s, 0.0), window_s)
            if from_s < begin_s:
                self._spread(from_s, max(begin_s, until_s), shift, turn)
            self._check_jump(way, role, abs(shift), abs(turn), from_s, window_s)
        self._jump(after, max(begin_s, until_s))

    def _check_jump(self, way: Way, role: str, far: float, turn: float, from_s: float, window_s: float) -> None:
        """Warn if a body has to move or turn farther to the beginning of a way than its transition can bring it.

        The body then glides there. far, turn: the distance and angle to the beginning. from_s: when the glide begins.
        window_s: when the transition begins.
        """
        begin_s, _ = self._edges_s(way)
        is_far = far > self.traveller.size * (_NUDGE_SIZES + _BROUGHT_SIZES_PER_S * (begin_s - window_s))
        if not is_far and turn <= _NUDGE_RAD + _BROUGHT_RAD_PER_S * (begin_s - window_s):
            return
        moves = f"is moved {far * self.unit_m:.2f} m" if is_far else f"is turned by {np.degrees(turn):.0f}°"
        place = quoted(role) if role == way.going.at else f"a place at the beginning of {quoted(role)}"
        self._say(way, f"at {self._shown_s(begin_s):.2f} s the body {moves} to {quoted(role)}, more than in its "
                       f"transition, so it glides for {begin_s - from_s:.2f} s: call a walk to {place} first")

    def _spread(self, from_s: float, to_s: float, shift: complex, turn: float) -> None:
        """Add a shift and a turn smoothly between two instants, on top of the body's placement there."""
        count = int(np.clip(np.ceil((to_s - from_s) / _SPACING_S), 8, _MOST_FRAMES)) + 1
        times = np.linspace(from_s, to_s, count)
        positions, _ = self._body(times)
        carried = Warp.of(self.pieces).placements(times)
        self.pieces = [piece for piece in self.pieces if piece.times_s[0] < from_s]
        self.pieces.append(Piece.added(times, positions, carried, shift, turn))

    def _jump(self, after: Placement, time_s: float) -> None:
        self.pieces.append(Piece.still(time_s, after))
        self.now = after

    def _lead(self, way: Way, target: ScenePlace | ScenePath) -> None:
        """Bend a path so that it leads to a place, or along a path of the scene."""
        begin_s, end_s = self._edges_s(way)
        times, positions, frames, along = self._own_path(way)
        if along[-1] < STANDS_SIZES * self.traveller.size:
            self._say(way, f"the clip stays where it is, so it cannot lead to {quoted(way.going.role)}: call one that "
                           "travels" if way.inside is None else
                           f"in a lane the clip stays where it is, so it cannot lead to {quoted(way.going.role)}: call "
                           "it outside of lanes, or call one that travels")
            return
        curve = self._curve(way, target, positions, frames)
        if curve is None:
            return
        new_positions, angles = curve.at(along * (self._share(way, curve, along[-1]) * curve.length / along[-1]))
        yaw = float(angles[0] - frames.angles[0])
        start = Placement(np.asarray(yaw), np.asarray(new_positions[0] - np.exp(1j * yaw) * positions[0]))
        if not self._is_there(start, complex(positions[0])):
            self._come(way, start, complex(positions[0]), begin_s, way.going.role)
        turns = 2.0 * np.pi * np.round((float(self.now.yaw_rad) - yaw) / (2.0 * np.pi))
        piece = Piece(times, frames, Frames(new_positions, angles + turns))
        self.pieces.append(piece)
        self._jump(piece.placements(times[-1:]).at(0), end_s)
        count = len(self.said)
        self._check_pace(way, curve, float(along[-1]), end_s - begin_s)
        if len(self.said) == count:
            self._check_turns(way, times, angles)
        self._check_clear(way, curve)

    def _share(self, way: Way, curve: GroundCurve, own: float) -> float:
        """Return the share of a curve that a path follows: all of it, or of a longer path what the clip travels."""
        return 1.0 if way.going.to or way.going.fits else min(own / curve.length, 1.0)

    def _is_there(self, start: Placement, position: complex) -> bool:
        """Return whether the body is where a path begins."""
        shift, turn = self._away(start, position)
        return abs(shift) <= _NOWHERE * self.traveller.size and abs(turn) <= _NOWHERE

    def _away(self, after: Placement, position: complex) -> tuple[complex, float]:
        """Return the shift and turn of a placement relative to the body's current one."""
        here, there = (complex(by.shift + np.exp(1j * by.yaw_rad) * position) for by in (self.now, after))
        turn = (float(after.yaw_rad - self.now.yaw_rad) + np.pi) % (2.0 * np.pi) - np.pi
        return there - here, turn

    def _curve(self, way: Way, target: ScenePlace | ScenePath, positions: ComplexArray,
               frames: Frames) -> GroundCurve | None:
        """Return the curve that a way is laid on, None if there is none."""
        try:
            begin = Stand(complex(self.now.shift + np.exp(1j * self.now.yaw_rad) * positions[0]),
                          float(self.now.yaw_rad + frames.angles[0]))
            if isinstance(target, ScenePath):
                return self.sits.curve_along(way, target, begin, complex(positions[0]), self.seated)
            return self.sits.curve_to(way, target, begin, Stand(complex(positions[-1]), float(frames.angles[-1])),
                                      self._edges_s(way)[1])
        except TaktError as error:
            self._say(way, f"{quoted(way.going.role)}: {error}")
            return None

    def _own_path(self, way: Way) -> OwnPath:
        known = self.sits.paths
        if way not in known:
            begin_s, end_s = self._edges_s(way)
            count = int(np.clip(np.ceil((end_s - begin_s) / _SPACING_S), 2, _MOST_FRAMES)) + 1
            times = np.linspace(begin_s, end_s, count)
            positions, _ = self._body(times)
            known[way] = OwnPath(times, positions, *way_of(positions, float(times[1] - times[0]) or _SPACING_S))
        return known[way]

    def _body(self, times_s: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """Return the positions and facing angles of the body at times (F,) as its clips lead."""
        return self.traveller.seen(self.sits.leading.sample(times_s))

    def _check_clear(self, way: Way, curve: GroundCurve) -> None:
        """Warn if a way to a place leads through other things that play roles, and stand there from beginning to end.

        Somebody drew a path along which a body goes, and its own place is known to be in the way.
        """
        if not way.going.to:
            return
        own, times_s = self.cast[way.going.to], [self._shown_s(edge_s) for edge_s in self._edges_s(way)]
        for role, other in self.cast.items():
            there = [] if other == own else [at_time(other, time_s) for time_s in times_s]
            if there and all(isinstance(each, ScenePlace) and self.sits.is_crossed(curve, each) for each in there):
                self._say(way, f"the way to {quoted(way.going.to)} leads through {quoted(role)}: call a walk to a "
                               "place beside that first")

    def _check_turns(self, way: Way, times_s: FloatArray, angles: FloatArray) -> None:
        """Warn if a way to a place turns a body faster than anybody turns, for lack of time. angles: (K,) at times."""
        quickest = float(np.abs(np.diff(angles) / np.maximum(np.diff(times_s), _NO_TIME_S)).max())
        if way.going.to and quickest > _BROUGHT_RAD_PER_S:
            lasts_s = np.ceil(10.0 * float(times_s[-1] - times_s[0]) * quickest / _BROUGHT_RAD_PER_S) / 10.0
            self._say(way, f"the way to {quoted(way.going.to)} turns the body by up to {np.degrees(quickest):.0f}° per "
                           f"second, expected at most {np.degrees(_BROUGHT_RAD_PER_S):.0f}°: about {lasts_s:.1f} s in "
                           "all would do")

    def _check_pace(self, way: Way, curve: GroundCurve, own: float, took_s: float) -> None:
        """Warn if steps are longer or shorter than natural, or if fitting rounds are too fast or slow.

        A path of length L is L/w rounds long, with w the length of one. If that is near enough to a whole number, that
        many rounds in their own time would fit. Otherwise no time fits, but a path of that many rounds does.
        """
        if way.going.along and not way.going.fits:
            return
        pace, own_s, may_fit = curve.length / own, self.row.own_s(way.first, way.after), way.inside is None
        is_natural = PACES[0] <= round(pace, 2) <= PACES[1]  # as it is written
        slows = took_s / own_s if way.going.fits and may_fit else 1.0
        whole = whole_rounds(pace * way.rounds)
        lasts_s, is_whole = own_s / way.rounds * whole, PACES[0] <= pace * way.rounds / whole <= PACES[1]
        if not is_natural and may_fit and is_whole:
            help_ = "" if way.going.fits else " (repeat=\"fit\")"
            self._say(way, f"the way to {quoted(way.going.role)} is {pace:.2f} times as long as its clip goes, "
                           f"expected {PACES[0]} to {PACES[1]}: about {lasts_s:.1f} s in all{help_} would do")
        elif not is_natural:
            goes, lasts_s = (own / way.rounds * whole, lasts_s) if way.going.fits and may_fit else (own, took_s)
            wanted, turns, goes = (each * self.unit_m for each in (curve.length, curve.turns, goes))
            if turns > _LITTLE * wanted:
                self._say(way, f"the way to {quoted(way.going.role)} is {wanted:.2f} m long, with {turns:.2f} m of "
                               f"steps to turn, {pace:.2f} times as long as its clip goes, expected {PACES[0]} to "
                               f"{PACES[1]}: one of about {goes:.2f} m, in {lasts_s:.1f} s, would do")
            else:
                self._say(way, f"the way to {quoted(way.going.role)} is {wanted:.2f} m long, {pace:.2f} times as long "
                               f"as its clip goes, expected {PACES[0]} to {PACES[1]}: one of about {goes:.2f} m, in "
                               f"{lasts_s:.1f} s, would do")
        elif not PACES[0] <= round(slows, 4) <= PACES[1]:
            self._say(way, f"the way to {quoted(way.going.role)} takes {slows:.4g} times as long as its clip does, "
                           f"expected {PACES[0]} to {PACES[1]}: about {lasts_s:.1f} s in all would do")

    def _say(self, way: Way, message: str, *, is_note: bool = False) -> None:
        self.said.append(Problem(f"<call> {message}", way.place, is_warning=True, is_note=is_note))
