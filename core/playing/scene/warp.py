"""Motion warping: a motion's path over the ground is bent onto another one, as a whole and smoothly.

At each instant the body is moved rigidly by the transform from a frame that follows its own path to the frame that
follows the new one (path editing: Gleicher 2001; motion warping: Witkin and Popović 1995). A frame is a position over
the ground and the direction of the path there. What the body does about its path, its sway and its facing direction,
stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from ...maths.displacement import DisplacementProblem, solve_displacement
from ...maths.formulas import minimum_jerk
from ..placing.placement import Placement

_SMOOTH_S: Final = 0.4
"""Smoothing time of a path: it does not sway with each step."""
_PINNED: Final = 1e6
_SLOW: Final = 0.1
"""Share of its mean speed: where a path is slower, its direction is unknown."""


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames on the ground at K times: positions (K,), and angles (K,) without jumps by whole turns."""

    positions: ComplexArray
    angles: FloatArray

    def at(self, times_s: FloatArray, own_s: FloatArray) -> Frames:
        """Return the frames at times (F,). own_s: (K,) their own times, ascending."""
        positions: ComplexArray = np.interp(times_s, own_s, self.positions)
        return Frames(positions, np.interp(times_s, own_s, self.angles))


@dataclass(frozen=True, eq=False)
class Piece:
    """A warp between two instants: at times_s (K,), ascending, the placement from one frame to another.

    glides: whether the body is moved without a walk.
    """

    times_s: FloatArray
    own: Frames
    new: Frames
    glides: bool = False

    @classmethod
    def still(cls, time_s: float, by: Placement) -> Piece:
        """Move everything by one placement, from an instant on."""
        origin = Frames(np.zeros(1, dtype=np.complex128), np.zeros(1))
        return cls(np.array((time_s,)), origin, Frames(np.array((complex(by.shift),)), np.array((float(by.yaw_rad),))))

    @classmethod
    def added(cls, times_s: FloatArray, positions: ComplexArray, carried: Placement, shift: complex,
              turn_rad: float) -> Piece:
        """Add a shift and a turn on the spot to the placements of a body, with minimum jerk (Flash and Hogan 1985).

        positions: (K,) of the body at times_s (K,), evenly spaced. carried: (K,) its placements then.
        """
        eased = minimum_jerk(np.linspace(0.0, 1.0, len(times_s)))
        before = carried.shift + np.exp(1j * carried.yaw_rad) * positions
        return cls(times_s, Frames(positions, np.zeros(len(times_s))),
                   Frames(before + eased * shift, np.unwrap(carried.yaw_rad) + eased * turn_rad), glides=True)

    def placements(self, times_s: FloatArray) -> Placement:
        """Return the placements of the body at times (F,)."""
        own, new = self.own.at(times_s, self.times_s), self.new.at(times_s, self.times_s)
        yaw = new.angles - own.angles
        return Placement(yaw, new.positions - np.exp(1j * yaw) * own.positions)


@dataclass(frozen=True, eq=False)
class Warp:
    """Pieces one after another, the first from the beginning on; each holds until the next one begins."""

    pieces: tuple[Piece, ...]

    def placements(self, times_s: FloatArray) -> Placement:
        """Return the placements of a body at times (F,)."""
        at = self._at(times_s)
        yaw, shift = np.zeros(len(times_s)), np.zeros(len(times_s), dtype=np.complex128)
        for number in np.unique(at).tolist():
            chosen = at == number
            found = self.pieces[number].placements(times_s[chosen])
            yaw[chosen], shift[chosen] = found.yaw_rad, found.shift
        return Placement(yaw, shift)

    def glides(self, spans_s: FloatArray) -> BoolArray:
        """Return during which spans (H, 2) a body glides, (H,)."""
        known = np.append(0, np.cumsum([piece.glides for piece in self.pieces]))
        return np.asarray(known[self._at(spans_s[:, 1]) + 1] > known[self._at(spans_s[:, 0])])

    def turns(self, spans_s: FloatArray) -> FloatArray:
        """Return by how much spans (H, 2) turn a body from their beginnings to their ends, (H,)."""
        return np.asarray(self.placements(spans_s[:, 1]).yaw_rad - self.placements(spans_s[:, 0]).yaw_rad)

    def _at(self, times_s: FloatArray) -> IntArray:
        """Return the numbers of pieces at times (F,)."""
        begins_s = np.array([piece.times_s[0] for piece in self.pieces])
        return np.maximum(begins_s.searchsorted(times_s, side="right") - 1, 0)

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Warp:
        """Take pieces in order; before the first one nothing is moved."""
        nothing = Placement(np.zeros(()), np.zeros((), dtype=np.complex128))
        return cls((Piece.still(-np.inf, nothing), *pieces))


class OwnPath(NamedTuple):
    """The path of a body as its clips lead, at times_s (K,).

    positions: (K,) of the body over the ground. frames, along: see way_of.
    """

    times_s: FloatArray
    positions: ComplexArray
    frames: Frames
    along: FloatArray


def way_of(positions: ComplexArray, spacing_s: float) -> tuple[Frames, FloatArray]:
    """Return the frames that follow a body's own path, and arc lengths, (K,).

    positions: (K,) of the body, spacing_s apart. The path begins and ends where the body does, and is smooth between.
    While the body stands its direction is unknown: there it turns evenly from one to the next.
    """
    weight = np.ones((2, len(positions)))
    weight[:, [0, -1]] = _PINNED
    wish, free = np.stack((positions.real, positions.imag)), np.full((2, len(positions)), np.inf)
    x, y = solve_displacement(DisplacementProblem(wish, weight, -free, free, np.full(2, _SMOOTH_S), spacing_s)).curves
    smooth = x + 1j * y
    smooth[[0, -1]] = positions[[0, -1]]
    along = np.append(0.0, np.cumsum(np.abs(np.diff(smooth))))
    speeds = np.gradient(smooth, spacing_s) if len(smooth) > 1 else np.zeros(1, dtype=np.complex128)
    is_known = np.abs(speeds) > _SLOW * along[-1] / max(spacing_s * (len(smooth) - 1), 1e-30)
    if not is_known.any():
        return Frames(smooth, np.zeros(len(smooth))), along
    known = np.flatnonzero(is_known)
    return Frames(smooth, np.interp(np.arange(len(smooth)), known, np.unwrap(np.angle(speeds[known])))), along
