"""Smooth displacement curves that follow wishes within bounds: the one solve behind contacts and the ground.

A displacement curve c(t) is added to a motion so that it meets constraints (Gleicher 1998, "Retargetting motion to new
characters"; Lee and Shin 1999, "A hierarchical approach to interactive motion editing"). For each channel

    minimise    Σ w (c − wish)²  +  s⁴ Σ c''²  +  Σ μ (how far c is beyond its soft bounds)²
    subject to  lo ≤ c ≤ hi

A wish affects the curve within about s seconds. Without bounds, the curve is a low-pass filter without delay, of gain 1
/ (1 + (ω s)⁴). The second term makes position, speed and acceleration change gently: a curve that a bound lifts begins
to rise before the bound. The sums become one quadratic programme in the frames' values, whose matrix has five
diagonals; active_set.py solves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from .active_set import BoundedSystem, SoftBounds, solve_bounded
from .arrays import BoolArray, FloatArray

__all__ = ["DisplacementProblem", "DisplacementResult", "SoftBounds", "solve_displacement"]

_LEAST_WEIGHT: Final = 1e-8
"""Least weight, as a share of a channel's largest: without it nothing would determine the curve."""
_FREE_WEIGHT: Final = 1e-10
"""Weight of wishes, as a share of the stiffness, in a channel in which no wish has weight."""
_CONTRADICTED_WEIGHT: Final = 1e3
"""Times the largest weight of a channel: how much the middle of bounds counts that contradict each other."""
_HEARD: Final = 20.0
"""Smoothing times from which a cycle hears its neighbours: more change it by less than 1e-6."""


@dataclass(frozen=True, eq=False)
class DisplacementProblem:
    """The wishes and bounds of K curves of F frames; see the module for the formula.

    wish: (K, F) finite, in any unit. weight: (K, F) from 0, of each wish; if all weights of a channel are 0, all wishes
    get the same very small weight, so that the curve is a straight line as far as bounds allow. lo, hi: (K, F) in the
    unit of wish, infinite for none. smoothing_s: (K,) s in seconds; 0: frames are independent. spacing_s: from a frame
    to the next. soft: bounds that may be exceeded at a cost. is_cycle: the first frame follows the last. If lo > hi,
    the bounds contradict each other: their middle becomes the wish, with a thousand times the weight of anything else.

    Raises ValueError for shapes that differ, for values that are not finite or not numbers, and for negative weights
    and times.
    """

    wish: FloatArray
    weight: FloatArray
    lo: FloatArray
    hi: FloatArray
    smoothing_s: FloatArray
    spacing_s: float
    soft: SoftBounds | None = None
    is_cycle: bool = False

    def __post_init__(self) -> None:
        """Check shapes and values."""
        bounds = {"lo": self.lo, "hi": self.hi}
        if self.soft is not None:
            bounds |= {"soft.lo": self.soft.lo, "soft.hi": self.soft.hi}
        weights = {"weight": self.weight}
        if self.soft is not None:
            weights |= {"soft.lo_weight": self.soft.lo_weight, "soft.hi_weight": self.soft.hi_weight}
        for name, values in {"wish": self.wish, **weights, **bounds}.items():
            if values.shape != self.wish.shape or values.ndim != 2:
                raise ValueError(f"{name} has the shape {values.shape}, wish {self.wish.shape}; both must be (K, F)")
            if not (np.isnan(values).sum() == 0 if name in bounds else np.isfinite(values).all()):
                raise ValueError(f"{name} has values that are not {'numbers' if name in bounds else 'finite'}")
        if self.smoothing_s.shape != self.wish.shape[:1]:
            raise ValueError(f"smoothing_s has the shape {self.smoothing_s.shape}; one for each of "
                             f"{len(self.wish)} channels is wanted")
        if not (np.isfinite(self.smoothing_s).all() and (self.smoothing_s >= 0.0).all()):
            raise ValueError("smoothing_s must be finite and not below 0")
        if not (np.isfinite(self.spacing_s) and self.spacing_s > 0.0):
            raise ValueError(f"spacing_s is {self.spacing_s}; it must be finite and above 0")
        for name, values in weights.items():
            if (values < 0.0).any():
                raise ValueError(f"{name} has values below 0, as {values.min():g}")
        if (np.isposinf(self.lo) | np.isneginf(self.hi)).any():
            raise ValueError("lo is never +infinity and hi never -infinity: no curve could be there")


@dataclass(frozen=True, eq=False)
class DisplacementResult:
    """The curves that solve a DisplacementProblem, with data on the solution.

    curves: (K, F) within lo and hi. is_at_lo, is_at_hi: (K, F) active bounds. force: (K, F) half the gradient: Lagrange
    multipliers, above 0 where lo holds a curve up, below 0 where hi holds it down, and elsewhere 0 except for rounding.
    residual: (K, F) curves − wish. missed: (K, F) from 0, by how much contradicting bounds were missed. rounds: the
    number of solves. is_optimal: (K,) false if the rounds were not enough; such a curve is smooth except where it is
    clipped to its bounds.
    """

    curves: FloatArray
    is_at_lo: BoolArray
    is_at_hi: BoolArray
    force: FloatArray
    residual: FloatArray
    missed: FloatArray
    rounds: int
    is_optimal: BoolArray


def solve_displacement(problem: DisplacementProblem) -> DisplacementResult:
    """Return the curves that solve a problem, all channels at once. Time grows as K F and as the number of rounds.

    Without channels or frames, curves are empty. One or two frames cannot bend: each is its wish, clipped to its
    bounds.

    >>> wish, ones = np.array(((0.0, 0.0, 1.0, 0.0, 0.0),)), np.ones((1, 5))
    >>> smooth = DisplacementProblem(wish, ones, -9.0 * ones, 9.0 * ones, np.array((0.1,)), 0.1)
    >>> solve_displacement(smooth).curves.round(2).tolist()
    [[0.04, 0.25, 0.42, 0.25, 0.04]]
    """
    if not problem.is_cycle or problem.wish.shape[1] == 0:
        return _solved(problem)
    frames = problem.wish.shape[1]
    heard = int(np.ceil(_HEARD * problem.smoothing_s.max(initial=0.0) / problem.spacing_s))
    rows = np.arange(-heard, frames + heard) % frames
    soft = problem.soft
    if soft is not None:
        soft = SoftBounds(soft.lo[:, rows], soft.hi[:, rows], soft.lo_weight[:, rows], soft.hi_weight[:, rows])
    found = _solved(DisplacementProblem(problem.wish[:, rows], problem.weight[:, rows], problem.lo[:, rows],
                                        problem.hi[:, rows], problem.smoothing_s, problem.spacing_s, soft))
    own = slice(heard, heard + frames)
    return DisplacementResult(found.curves[:, own], found.is_at_lo[:, own], found.is_at_hi[:, own],
                              found.force[:, own], found.residual[:, own], found.missed[:, own], found.rounds,
                              found.is_optimal)


def _solved(problem: DisplacementProblem) -> DisplacementResult:
    """Solve a problem whose ends are free."""
    system = _system(problem)
    found = solve_bounded(system)
    with np.errstate(invalid="ignore"):
        missed = np.where(problem.lo > problem.hi,
                          np.maximum(problem.lo - found.values, found.values - problem.hi), 0.0)
    is_at_lo, is_at_hi = found.held < 0, (found.held > 0) | (found.held < 0) & (problem.lo == problem.hi)
    return DisplacementResult(found.values, is_at_lo, is_at_hi, found.force, found.values - problem.wish, missed,
                              found.rounds, found.is_optimal)


def _system(problem: DisplacementProblem) -> BoundedSystem:
    """Return the sums of a problem as a system with one solution.

    Its weights are above 0, and where bounds contradict each other, their middle is wished for.
    """
    stiffness = (problem.smoothing_s[:, None] / problem.spacing_s) ** 4
    largest = problem.weight.max(axis=1, keepdims=True, initial=0.0)
    least = np.where(largest > 0.0, _LEAST_WEIGHT * largest, np.where(stiffness > 0.0, _FREE_WEIGHT * stiffness, 1.0))
    weight, wish, lo, hi = np.maximum(problem.weight, least), problem.wish, problem.lo, problem.hi
    if (is_contradiction := lo > hi).any():
        weight = np.where(is_contradiction, _CONTRADICTED_WEIGHT * np.maximum(largest, least), weight)
        wish = np.where(is_contradiction, _middle(lo, hi), wish)
        lo, hi = np.where(is_contradiction, -np.inf, lo), np.where(is_contradiction, np.inf, hi)
    soft = problem.soft
    if soft is not None:
        middle, is_contradiction = _middle(soft.lo, soft.hi), soft.lo > soft.hi
        soft = SoftBounds(np.where(is_contradiction, middle, soft.lo), np.where(is_contradiction, middle, soft.hi),
                          soft.lo_weight, soft.hi_weight)
    return BoundedSystem(wish, weight, lo, hi, stiffness, soft)


def _middle(lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the middle of bounds (K, F) where lo > hi, which makes both finite; else 0."""
    is_contradiction = lo > hi
    return 0.5 * (np.where(is_contradiction, lo, 0.0) + np.where(is_contradiction, hi, 0.0))
