"""Weight curves of transitions: how strongly the transition counts while it runs.

Each curve has the shape RISE (0 → 1) and, with one exception, PULSE (0 → 1 → 0). Gustaitis et al. 2007, §3.3.
A new curve is one function here and one line in CURVES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import FloatArray
from ..errors import TaktError

Shape = Literal["RISE", "PULSE"]
Weight = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Curve:
    """A weight curve; rise and pulse take x (...) in 0…1 and return weights in 0…1."""

    identifier: str
    label: str
    description: str
    rise: Weight
    pulse: Weight | None

    def shaped(self, shape: Shape) -> Weight:
        """Return the function of a shape; raise TaktError where the curve does not have it."""
        if shape == "RISE":
            return self.rise
        if self.pulse is None:
            others = ", ".join(c.identifier for c in CURVES.values() if c.pulse is not None)
            raise TaktError(f"the curve {self.identifier} only rises from 0 to 1; a transition that comes and goes "
                            f"(0 to 1 to 0) can have {others}, or choose the method END")
        return self.pulse


def curve_named(identifier: str) -> Curve:
    """Look up a curve; raise TaktError naming those there are."""
    if identifier not in CURVES:
        raise TaktError(f"there is no curve {identifier!r}; there are {', '.join(CURVES)}")
    return CURVES[identifier]


def _linear(x: FloatArray) -> FloatArray:
    return np.asarray(x, dtype=np.float64)


def _linear_pulse(x: FloatArray) -> FloatArray:
    return np.asarray(1.0 - np.abs(2.0 * x - 1.0))


def _cosine(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * x))


def _cosine_pulse(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 - 0.5 * np.cos(2.0 * np.pi * x))


def _circular(x: FloatArray) -> FloatArray:
    side = np.sign(x - 0.5)
    return np.asarray(0.5 + side * _quarter(x - 0.5 - side / 2.0))


def _circular_pulse(x: FloatArray) -> FloatArray:
    rising = 0.5 - _quarter(2.0 * x)
    middle = 0.5 + _quarter(2.0 * x - 1.0)
    falling = 0.5 - _quarter(2.0 * x - 2.0)
    return np.where(x <= 0.25, rising, np.where(x < 0.75, middle, falling))


def _quarter(x: FloatArray) -> FloatArray:
    """Return √(¼ − x²), the height of a circle of radius ½; 0 beside it."""
    return np.sqrt(np.maximum(0.25 - x * x, 0.0))


def _cubic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 + np.cbrt(x / 4.0 - 0.125))


CURVES: dict[str, Curve] = {curve.identifier: curve for curve in (
    Curve("COSINE", "Cosine", "Sets in and ends gently", _cosine, _cosine_pulse),
    Curve("LINEAR", "Linear", "Grows evenly", _linear, _linear_pulse),
    Curve("CIRCULAR", "Circular", "Two quarter circles: abrupt in the middle of the way", _circular, _circular_pulse),
    Curve("CUBIC", "Cubic", "A cube root: waits at half of the way; only for methods that rise", _cubic, None),
)}
