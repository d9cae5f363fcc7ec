"""Smooth curves with bounds as a quadratic programme, solved by a primal-dual active set.

    minimise    Σ w (x − wish)²  +  λ Σ (Δ² x)²  +  Σ μ (how far x is beyond its soft bounds)²
    subject to  lo ≤ x ≤ hi

Frames at a bound are held there, and frames beyond a soft one are drawn to it; the rest is one symmetric system with
five diagonals (banded.py). Then frames beyond a bound are held too, and held frames without pressure against their
bound are released, until none is wrong (Hintermüller, Ito and Kunisch 2003). Most problems end in about ten rounds. The
matrix is no M-matrix, so sets may repeat. If a stretch of frames does not improve for some rounds, only its worst frame
changes. Finally, only the last wrong frame of a channel changes, which is certain to end (Murty 1974; Júdice and Pires
1994).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .arrays import BoolArray, FloatArray, IntArray, side_by_side
from .banded import solve_pentadiagonal

_States = npt.NDArray[np.int8]
"""For each frame: −1 at its lower bound, 1 at its upper one, 0 at none."""

_ROUNDING: Final = 1e-9
"""Share of a channel's largest value: values exceeding a bound by less are at it."""
_ROUNDING_OF_FORCES: Final = 2e-12
"""Share of the force that moves a frame alone by its channel's largest value: smaller forces are rounding."""
_STRETCH: Final = 32
"""Frames that are judged together when frames change to and fro."""
_PATIENCE: Final = 5
"""Rounds without gain, after which only the worst frame of a stretch changes in each round."""
_MANY_ROUNDS: Final = 100
"""After so many the last wrong frame of each channel changes alone, which cannot go on for ever."""
_MOST_ROUNDS: Final = 400
_HEARD: Final = 16.0
"""Fourth roots of stiffness by weight, in frames: what changes farther away is heard by less than 1e-5."""
_AT_ONCE: Final = 1 << 16
"""Values that are solved together: more do not fit into the caches of processors."""


@dataclass(frozen=True, eq=False)
class SoftBounds:
    """Bounds that a curve may leave at a price.

    lo, hi: (K, F), infinite for none. lo_weight, hi_weight: (K, F) μ of each, from 0, relative to the weights of
    wishes.
    """

    lo: FloatArray
    hi: FloatArray
    lo_weight: FloatArray
    hi_weight: FloatArray

    def each(self, made: Callable[[FloatArray], FloatArray]) -> SoftBounds:
        """Return the bounds with a function applied to each of the four arrays."""
        return SoftBounds(*map(made, (self.lo, self.hi, self.lo_weight, self.hi_weight)))


@dataclass(frozen=True, eq=False)
class BoundedSystem:
    """A quadratic programme with one solution, for K channels of F frames.

    wish: (K, F). weight: (K, F) w, above 0. lo, hi: (K, F), lo ≤ hi, infinite for none. stiffness: (K, 1) λ, from 0.
    soft: further bounds, lo ≤ hi, or None.
    """

    wish: FloatArray
    weight: FloatArray
    lo: FloatArray
    hi: FloatArray
    stiffness: FloatArray
    soft: SoftBounds | None = None

    def part(self, channels: slice) -> BoundedSystem:
        """Return the system of some channels."""
        soft = None if self.soft is None else self.soft.each(lambda rows: rows[channels])
        return BoundedSystem(self.wish[channels], self.weight[channels], self.lo[channels], self.hi[channels],
                             self.stiffness[channels], soft)


@dataclass(frozen=True, eq=False)
class BoundedSolution:
    """The solution of a BoundedSystem.

    values: (K, F) within the bounds. held: (K, F) -1 at the lower bound, 1 at the upper one, 0 at none. force: (K, F)
    half the gradient: above 0 where the lower bound holds a value up, below 0 where the upper one holds it down, and
    elsewhere 0 except for rounding. rounds: the number of solves. is_optimal: (K,) false for channels for which the
    rounds were not enough.
    """

    values: FloatArray
    held: _States
    force: FloatArray
    rounds: int
    is_optimal: BoolArray


def solve_bounded(system: BoundedSystem) -> BoundedSolution:
    """Return the solution of a system, solving several channels at a time.

    Each round solves again only the values that its changes reach: those that are near, and not separated from them by
    two neighbouring values that stay at their bounds. At the end, all values are solved once more together. If the
    rounds do not suffice, values are clipped to their bounds.
    """
    channels, frames = system.wish.shape
    at_once = max(_AT_ONCE // max(frames, 1), 1)
    if channels <= at_once:
        return _solve_at_once(system)
    parts = [_solve_at_once(system.part(slice(first, first + at_once))) for first in range(0, channels, at_once)]
    values, held, force, is_optimal = (np.concatenate([getattr(part, name) for part in parts])
                                       for name in ("values", "held", "force", "is_optimal"))
    return BoundedSolution(values, held, force, max(part.rounds for part in parts), is_optimal)


def _solve_at_once(system: BoundedSystem) -> BoundedSolution:
    """Return the solution of a system, with all channels solved together."""
    shape, row, rounds = system.wish.shape, _Row.of(system), 0
    every = where = np.arange(system.wish.size)
    while len(where) and rounds < _MOST_ROUNDS:
        rounds += 1
        is_whole = len(where) == len(every)
        row.solve(where)
        where = row.change(row.last_wrong() if rounds > _MANY_ROUNDS else row.some_wrong())
        if not len(where) and not is_whole:
            where = every
    is_wrong = (row.wrong > 0.0).reshape(shape).any(axis=1)
    return BoundedSolution(np.clip(row.values.reshape(shape), system.lo, system.hi), row.held.reshape(shape),
                           row.force.reshape(shape), rounds, np.asarray(~is_wrong))


@dataclass(eq=False)
class _Row:
    """All channels one after the other, N = K F values, while they are solved.

    frames: F. wish to soft: (N,) as in BoundedSystem. own: (N,) λ times the diagonal of Δ²ᵀ Δ². first: (N + 1,) the
    factor that couples each value with the previous one; second: (N + 2,) with the one before that; 0 across the ends
    of channels. padded: (N + 4,) the values between zeros. size: (N,) the largest value of each channel at first.
    wrong: (N,) distance by which the state of a value is wrong, 0 if it is right. held, beyond: (N,) the bound at which
    each value is held, and the soft bound beyond which it is: −1, 0 or 1. new_held, new_beyond: (N,) the states that
    would be right. heard: (K,) the number of frames that a change affects. fewest: (S,) the least number of wrong
    frames that each stretch had so far; left: (S,) the number of rounds that remain without improvement.
    """

    frames: int
    wish: FloatArray
    weight: FloatArray
    lo: FloatArray
    hi: FloatArray
    soft: SoftBounds | None
    own: FloatArray
    first: FloatArray
    second: FloatArray
    padded: FloatArray
    force: FloatArray
    size: FloatArray
    wrong: FloatArray
    held: _States
    beyond: _States
    new_held: _States
    new_beyond: _States
    heard: IntArray
    fewest: IntArray
    left: IntArray

    @classmethod
    def of(cls, system: BoundedSystem) -> _Row:
        """Return the row before the first round: values with equal bounds are held, wishes set the soft bounds."""
        frames, size = system.wish.shape[1], system.wish.size
        own, first, second = ((system.stiffness * each).ravel() for each in _couplings(frames))
        held = np.where(system.lo == system.hi, -1, 0).astype(np.int8).ravel()
        stretches = -(-size // _STRETCH)
        soft, wish = None if system.soft is None else system.soft.each(np.ravel), system.wish.ravel()
        beyond = np.zeros_like(held)
        if soft is not None:
            beyond = (wish > soft.hi).astype(np.int8) - (wish < soft.lo)
        far = (system.stiffness[:, 0] / system.weight.min(axis=1, initial=np.inf)) ** 0.25
        heard = np.minimum(np.ceil(_HEARD * far) + 2.0, frames).astype(np.int64)
        return cls(frames, wish, system.weight.ravel(), system.lo.ravel(), system.hi.ravel(), soft, own,
                   np.append(first, 0.0), np.append(second, (0.0, 0.0)), np.zeros(size + 4), np.zeros(size),
                   np.zeros(size), np.zeros(size), held, beyond, held.copy(), beyond.copy(), heard,
                   np.full(stretches, _STRETCH + 1), np.full(stretches, _PATIENCE))

    @property
    def values(self) -> FloatArray:
        """The values (N,), a view."""
        return self.padded[2:-2]

    def solve(self, where: IntArray) -> None:
        """Solve for values at indices (M,), ascending, while all others stay, then judge them.

        Values that are held, or stay, are known: their rows and columns leave the matrix.
        """
        at = side_by_side(where)
        held = self.held[at]
        is_free = held == 0
        known = np.where(is_free, 0.0, np.where(held < 0, self.lo[at], self.hi[at]))
        weight, pull = self._pulls(at)
        self.values[at] = known
        right = np.where(is_free, pull - self._coupled(at), known)
        first, second = self.first[_after(at, 1)][:-1], self.second[_after(at, 2)][:-2]
        if not isinstance(at, slice):
            first, second = self.first[where[1:]] * (np.diff(where) == 1), self.second[where[2:]] * (
                where[2:] - where[:-2] == 2)
        own = np.where(is_free, weight + self.own[at], 1.0)
        self.values[at] = solve_pentadiagonal(own[None], (first * (is_free[1:] & is_free[:-1]))[None],
                                              (second * (is_free[2:] & is_free[:-2]))[None], right[None])[0]
        self._judge(at, weight, pull)

    def _coupled(self, at: slice | IntArray) -> FloatArray:
        """Return the sums of λ Δ²ᵀ Δ², without its diagonal, over the neighbours of values at indices (M,)."""
        made = self.first[at] * self.padded[_after(at, 1)]
        made += self.first[_after(at, 1)] * self.padded[_after(at, 3)]
        made += self.second[at] * self.padded[at]
        made += self.second[_after(at, 2)] * self.padded[_after(at, 4)]
        return made

    def _pulls(self, at: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights of wishes and soft bounds together, (M,), and the sums of weights times targets."""
        weight = self.weight[at].copy()
        pull = weight * self.wish[at]
        if self.soft is not None:
            beyond = self.beyond[at]
            for sign, bound, price in ((-1, self.soft.lo, self.soft.lo_weight), (1, self.soft.hi, self.soft.hi_weight)):
                drawn = np.flatnonzero(beyond == sign)
                strong = price[at][drawn]
                weight[drawn] += strong
                pull[drawn] += strong * bound[at][drawn]
        return weight, pull

    def _judge(self, at: slice | IntArray, weight: FloatArray, pull: FloatArray) -> None:
        """Find which solved values have a wrong state, and the right state; weight, pull: see _pulls.

        To compare forces with distances, a force counts as the distance by which it would move a single value.
        """
        values, held, lo, hi = self.values[at], self.held[at], self.lo[at], self.hi[at]
        weight += self.own[at]
        self.force[at] = force = weight * values - pull + self._coupled(at)
        if not self.size.any():
            self.size = np.repeat(np.abs(self.values.reshape(-1, self.frames)).max(axis=1), self.frames)
        size, wrong, new_held, new_beyond = self.size[at], np.zeros_like(values), held.copy(), self.beyond[at].copy()
        outside = np.maximum(lo - values, values - hi)
        out = np.flatnonzero((outside > _ROUNDING * size) & (held == 0))
        wrong[out], new_held[out] = outside[out], np.where(values[out] < lo[out], -1, 1)
        bound = np.flatnonzero(held)
        pulled = held[bound] * force[bound] / weight[bound]
        is_pulled = (lo[bound] < hi[bound]) & (pulled > _ROUNDING_OF_FORCES * size[bound])
        wrong[bound[is_pulled]], new_held[bound[is_pulled]] = pulled[is_pulled], 0
        if self.soft is not None:
            below, above = self.soft.lo[at] - values, values - self.soft.hi[at]
            rather = (above > 0.0).astype(np.int8) - (below > 0.0)
            others = np.flatnonzero(rather != new_beyond)
            away = np.minimum(np.abs(below[others]), np.abs(above[others]))
            others, away = others[away > _ROUNDING * size[others]], away[away > _ROUNDING * size[others]]
            new_beyond[others], wrong[others] = rather[others], np.maximum(wrong[others], away)
        self.wrong[at], self.new_held[at], self.new_beyond[at] = wrong, new_held, new_beyond

    def change(self, changes: BoolArray) -> IntArray:
        """Give the values of a mask (N,) their right state; return the indices (M,) to be solved again, ascending."""
        stays = (self.held != 0) & ~changes
        self.held[changes], self.beyond[changes] = self.new_held[changes], self.new_beyond[changes]
        begins = np.zeros(len(changes), np.bool_)
        begins[1:] = stays[1:] & stays[:-1]
        begins[::self.frames] = True
        part = np.cumsum(begins) - 1
        is_reached = np.zeros(int(part[-1]) + 1, np.bool_)
        is_reached[part[changes]] = True
        again = is_reached[part] & self._near(np.flatnonzero(changes))
        beside = again.copy()
        beside[1:] |= again[:-1] & stays[1:]
        beside[:-1] |= again[1:] & stays[:-1]
        return np.flatnonzero(beside)

    def _near(self, where: IntArray) -> BoolArray:
        """Return a mask (N,) of the values that are affected by changes at indices (M,)."""
        channel = where // self.frames
        begins = np.maximum(where - self.heard[channel], channel * self.frames)
        ends = np.minimum(where + self.heard[channel], (channel + 1) * self.frames - 1) + 1
        size = len(self.wrong) + 1
        edges = np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size)
        return np.asarray(np.cumsum(edges)[:-1] > 0)

    def last_wrong(self) -> BoolArray:
        """Return which values (N,) are the last of their channels that are wrong."""
        wrong = self.wrong.reshape(-1, self.frames) > 0.0
        last = self.frames - 1 - wrong[:, ::-1].argmax(axis=1)
        return np.asarray(wrong & (np.arange(self.frames) == last[:, None])).ravel()

    def some_wrong(self) -> BoolArray:
        """Return which values (N,) are wrong; in stretches without improvement for some rounds, only the worst one."""
        size, stretches = len(self.wrong), len(self.left)
        padded = np.zeros(stretches * _STRETCH)
        padded[:size] = self.wrong
        wrong = padded.reshape(stretches, _STRETCH)
        count = np.count_nonzero(wrong, axis=1)
        self.left = np.where(count < self.fewest, _PATIENCE, self.left - (count > 0))
        self.fewest = np.minimum(self.fewest, count)
        changes = wrong > 0.0
        stuck = np.flatnonzero(self.left <= 0)
        changes[stuck] &= np.arange(_STRETCH) == wrong[stuck].argmax(axis=1)[:, None]
        return changes.ravel()[:size]


def _after(at: slice | IntArray, by: int) -> slice | IntArray:
    """Return the indices of the values `by` places after some, (M,)."""
    return slice(at.start + by, at.stop + by) if isinstance(at, slice) else at + by


def _couplings(frames: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the diagonal (F,) of Δ²ᵀ Δ², and the factors (F,) that couple frames with the first and second before.

    >>> [each.tolist() for each in _couplings(4)]
    [[1.0, 5.0, 5.0, 1.0], [0.0, -2.0, -4.0, -2.0], [0.0, 0.0, 1.0, 1.0]]
    """
    own, first, second = np.zeros((3, frames))
    if frames > 2:
        own[:-2] += 1.0
        own[1:-1] += 4.0
        own[2:] += 1.0
        first[1:-1] -= 2.0
        first[2:] -= 2.0
        second[2:] = 1.0
    return own, first, second
