"""Curves over the ground, by their length. Positions over the ground are complex numbers, angles radians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...errors import TaktError
from ...maths.arrays import ComplexArray, FloatArray
from ...maths.formulas import minimum_jerk

_STEPS: Final = 256
"""Points of a bend."""
_JOINS: Final = 0.5
"""A curve joins another one no sooner than after this share of how far that may be away."""
_TURN_STEPS: Final = 32
"""Points of a turn on the spot."""
_FINE: Final = 32
"""Points of a rounded curve per length over which it turns."""
_CORNER: Final = 0.25
"""Share of that length within which directions are compared, so that a corner of 14° is one."""
_LEAST: Final = 1e-6
"""Share of a curve's length: nearer to its ends, means are those of this distance."""
_MOST_POINTS: Final = 20_000
_STRAIGHT_RAD: Final = 1e-9
"""A curve whose sides differ in direction by less than this is straight."""


@dataclass(frozen=True, eq=False)
class GroundCurve:
    """A curve through points (N,), N ≥ 2.

    lengths: (N,) arc length to each from the first one; where a curve turns on the spot, it takes a length too, see
    bend. angles: (N,) directions of the curve there, without jumps by whole turns.
    """

    points: ComplexArray
    lengths: FloatArray
    angles: FloatArray

    @classmethod
    def through(cls, points: ComplexArray) -> GroundCurve:
        """Take points (N,) in order; repeated points are left out.

        Raises TaktError if all of them are at one position.

        >>> curve = GroundCurve.through(np.array((0.0, 3.0, 3.0 + 4.0j)))
        >>> curve.length, curve.at(np.array((5.0,)))[0].round(6).tolist()
        (7.0, [(3+2j)])
        """
        points = points[np.append(True, np.abs(np.diff(points)) > 0.0)]
        if len(points) < 2:
            raise TaktError("a path of no length leads nowhere; expected points apart from each other")
        ways = np.diff(points)
        lengths = np.append(0.0, np.cumsum(np.abs(ways)))
        units = ways / np.abs(ways)
        at_points = np.concatenate((units[:1], units[:-1] + units[1:], units[-1:]))
        turned_back = np.abs(at_points) < 1e-9
        at_points[turned_back] = np.append(units, units[-1:])[turned_back]
        return cls(points, lengths, np.unwrap(np.angle(at_points)))

    @property
    def length(self) -> float:
        """Its length."""
        return float(self.lengths[-1])

    @property
    def turns(self) -> float:
        """The part of its length that it takes to turn, beyond the distance that it goes.

        >>> round(bend(0.0, 0.0, 2.0, np.pi, 1.0).turns, 2), round(bend(0.0, 0.0, 2.0, 0.0, 1.0).turns, 6)
        (0.56, 0.0)
        """
        return max(self.length - float(np.abs(np.diff(self.points)).sum()), 0.0)

    def at(self, lengths: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """Return positions and directions (F,) at arc lengths (F,); beyond its ends it continues straight."""
        beyond = lengths - np.clip(lengths, 0.0, self.length)
        angles = np.interp(lengths, self.lengths, self.angles)
        positions = np.interp(lengths, self.lengths, self.points)
        return positions + beyond * np.exp(1j * angles), angles

    def rounded(self, length: float) -> GroundCurve:
        """Return a curve with the same ends that turns at its corners over a length; a straight one is returned itself.

        A corner is where it turns with a radius below that length. There, positions and directions are means over the
        length, over less near an end. So straight sides keep their direction up to half of it before a corner, and
        where the curve turns back, it does so gradually. Where it turns less, it stays.

        >>> curve = GroundCurve.through(np.array((0.0, 3.0, 3.0 + 4.0j))).rounded(1.0)
        >>> np.degrees(curve.at(np.array((2.0, 4.0)))[1]).round(6).tolist()
        [0.0, 90.0]
        """
        directions = np.unwrap(np.angle(np.diff(self.points)))
        if np.ptp(directions) < _STRAIGHT_RAD:
            return self
        count = int(np.clip(np.ceil(_FINE * self.length / length), _STEPS, _MOST_POINTS)) + 1
        at, narrow = np.linspace(0.0, self.length, count), _CORNER * length
        positions, _ = self.at(at)
        angles, ahead, behind = (self._mean_angles(directions, at + step * narrow, narrow) for step in (0.0, 0.5, -0.5))
        corners = at[np.abs(ahead - behind) * length > narrow]
        if len(corners):
            after = np.minimum(corners.searchsorted(at), len(corners) - 1)
            away = np.minimum(np.abs(corners[after] - at), np.abs(corners[np.maximum(after - 1, 0)] - at))
            share = minimum_jerk(np.clip(2.0 - 2.0 * away / length, 0.0, 1.0))
            angles = angles + share * (self._mean_angles(directions, at, length) - angles)
            positions = positions + share * (self._mean_positions(at, length) - positions)
        positions[[0, -1]], angles[[0, -1]] = self.points[[0, -1]], directions[[0, -1]]
        return GroundCurve(positions, np.append(0.0, np.cumsum(np.abs(np.diff(positions)))), angles)

    def _mean_angles(self, directions: FloatArray, at: FloatArray, length: float) -> FloatArray:
        """Return means of the directions of its sides (N − 1,) around arc lengths (F,); see _around."""
        begin, end = self._around(at, length)
        turned = np.append(0.0, np.cumsum(directions * np.diff(self.lengths)))
        sums = np.interp(end, self.lengths, turned) - np.interp(begin, self.lengths, turned)
        return np.asarray(sums / (end - begin))

    def _mean_positions(self, at: FloatArray, length: float) -> ComplexArray:
        """Return means of positions around arc lengths (F,); see _around."""
        begin, end = self._around(at, length)
        return np.asarray((self._sums(end) - self._sums(begin)) / (end - begin))

    def _around(self, at: FloatArray, length: float) -> tuple[FloatArray, FloatArray]:
        """Return where spans of a length around arc lengths (F,) begin and end; shorter near ends."""
        middle = np.clip(at, _LEAST * self.length, (1.0 - _LEAST) * self.length)
        half = np.minimum(np.minimum(middle, self.length - middle), length / 2.0)
        return middle - half, middle + half

    def _sums(self, lengths: FloatArray) -> ComplexArray:
        """Return the integrals of positions from the beginning to arc lengths (F,) on the curve."""
        sides = np.diff(self.lengths)
        until = np.append(0.0, np.cumsum((self.points[:-1] + self.points[1:]) / 2.0 * sides))
        side = np.clip(self.lengths.searchsorted(lengths, side="right") - 1, 0, len(sides) - 1)
        positions: ComplexArray = np.interp(lengths, self.lengths, self.points)
        return np.asarray(until[side] + (self.points[side] + positions) / 2.0 * (lengths - self.lengths[side]))


def bend(begin: complex, begin_rad: float, end: complex, end_rad: float | None, half_turn: float,
         pull: float = 1.0, *, is_detour: bool = False) -> GroundCurve:
    """Return a curve from one position to another with given directions at both ends.

    end_rad: None to arrive as a circle does. It is a cubic Hermite curve with tangents as long as the distance, times
    pull. A direction that is more than a quarter turn away from the straight way would turn such a curve back in a
    point. So it leaves and arrives at a quarter turn, and turns on the spot by the rest, half a turn over the length
    half_turn. Then, and on a detour, it turns nowhere more tightly than that.

    >>> curve = bend(0.0, 0.0, 2.0 + 2.0j, None, 1.0)
    >>> bool(abs(curve.angles[-1] - np.pi / 2.0) < 0.02), curve.points[-1].round(9).tolist()
    (True, (2+2j))
    >>> curve = bend(0.0, 0.0, 2.0, np.radians(170.0), 1.0)
    >>> np.degrees(curve.at(curve.length - np.array((0.25, 0.0)))[1]).round().tolist()
    [141.0, 170.0]
    """
    way = end - begin
    far, straight = abs(way), float(np.angle(way))
    out = _quarter(straight, begin_rad)
    if end_rad is None:
        turn = (straight - out + np.pi) % (2.0 * np.pi) - np.pi
        into = end_rad = straight + turn
    else:
        into = _quarter(straight, end_rad)
    x = np.linspace(0.0, 1.0, _STEPS + 1)
    leaves, arrives = pull * far * np.exp(1j * out), pull * far * np.exp(1j * into)
    found = GroundCurve.through(
        begin + way * x * x * (3.0 - 2.0 * x) + leaves * x * (1.0 - x) ** 2 - arrives * x * x * (1.0 - x))
    angles = found.angles + _whole_turns(out - found.angles[0])
    angles[0], angles[-1] = out, into + _whole_turns(angles[-1] - into)
    if out == begin_rad and into == end_rad and not is_detour:
        return GroundCurve(found.points, found.lengths, angles)
    sides = np.maximum(np.abs(np.diff(found.points)), half_turn / np.pi * np.abs(np.diff(angles)))
    middle = GroundCurve(found.points, np.append(0.0, np.cumsum(sides)), angles)
    return chained((*_on_the_spot(begin, begin_rad, out, half_turn, is_first=True), middle,
                    *_on_the_spot(end, into, end_rad, half_turn, is_first=False)))


def _on_the_spot(at: complex, begin_rad: float, end_rad: float, half_turn: float, *,
                 is_first: bool) -> list[GroundCurve]:
    """Return a turn on the spot, none if there is nothing to turn. is_first: it begins at rest, else it ends so."""
    turn = (end_rad - begin_rad + np.pi) % (2.0 * np.pi) - np.pi
    if begin_rad == end_rad:
        return []
    x = np.linspace(0.0, 1.0, _TURN_STEPS + 1)
    eased = 1.0 - np.cos(np.pi / 2.0 * x) if is_first else np.sin(np.pi / 2.0 * x)
    return [GroundCurve(np.full(len(x), at), x * abs(turn) / np.pi * half_turn, begin_rad + turn * eased)]


def _quarter(straight_rad: float, angle_rad: float) -> float:
    """Return a direction, or the one nearest to it that is a quarter turn away from the straight way."""
    turn = (angle_rad - straight_rad + np.pi + _STRAIGHT_RAD) % (2.0 * np.pi) - np.pi - _STRAIGHT_RAD
    return angle_rad if abs(turn) <= np.pi / 2.0 else straight_rad + float(np.copysign(np.pi / 2.0, turn))


def joined(curve: GroundCurve, begin: complex, begin_rad: float, reach: float, half_turn: float) -> GroundCurve:
    """Return a curve that begins elsewhere, with a given direction, and joins another one near its beginning.

    The farther away it begins, the later it joins. The other curve is returned if it is farther away than reach, or too
    short. half_turn: see bend.
    """
    lengths = np.linspace(0.0, min(2.0 * reach, curve.length), _STEPS + 1)
    away = np.abs(curve.at(lengths)[0] - begin)
    at = float(lengths[away.argmin()] + max(away.min(), _JOINS * reach))
    if away.min() > reach or at >= curve.length:
        return curve
    position, angle = curve.at(np.array((at,)))
    rest = curve.lengths > at
    after = GroundCurve(np.append(position, curve.points[rest]), np.append(0.0, curve.lengths[rest] - at),
                        np.append(angle, curve.angles[rest]))
    return chained((bend(begin, begin_rad, complex(position[0]), float(angle[0]), half_turn), after))


def chained(curves: Sequence[GroundCurve]) -> GroundCurve:
    """Return curves as one, each of which begins where the one before ends, in the same direction but for whole turns.

    >>> round(chained([bend(0.0, 0.0, 1.0, 0.0, 1.0), bend(1.0, 0.0, 3.0, 0.0, 1.0)]).length, 6)
    3.0
    """
    points, lengths, angles = [curves[0].points], [curves[0].lengths], [curves[0].angles]
    for curve in curves[1:]:
        points.append(curve.points[1:])
        lengths.append(curve.lengths[1:] + lengths[-1][-1])
        angles.append(curve.angles[1:] + _whole_turns(float(angles[-1][-1] - curve.angles[0])))
    return GroundCurve(np.concatenate(points), np.concatenate(lengths), np.concatenate(angles))


def _whole_turns(angle: float) -> float:
    """Return the multiple of a whole turn nearest to an angle."""
    return float(2.0 * np.pi * np.round(angle / (2.0 * np.pi)))
