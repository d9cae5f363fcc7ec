"""Weight curves of transitions: how strongly the transition counts while it runs.

Each curve has the shape RISE (0 → 1) and, with one exception, PULSE (0 → 1 → 0). Gustaitis et al. 2007, §3.3.
A new curve is one function here and one line in CURVES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...errors import TaktError
from ...maths.arrays import FloatArray
from ...maths.formulas import minimum_jerk

Shape = Literal["RISE", "PULSE"]
Weight = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Curve:
    """A weight curve; rise and pulse take x (...) in 0…1 and return weights in 0…1.

    slope: of rise at its end.
    """

    identifier: str
    label: str
    description: str
    rise: Weight
    pulse: Weight | None
    slope: float = 0.0

    def shaped(self, shape: Shape) -> Weight:
        """Return the function of a shape; raises TaktError if the curve lacks it."""
        if shape == "RISE":
            return self.rise
        if self.pulse is None:
            others = ", ".join(c.identifier for c in CURVES.values() if c.pulse is not None)
            raise TaktError(f"the curve {self.identifier} only rises from 0 to 1; a transition that fades in and out "
                            f"can have {others}, or choose the method END")
        return self.pulse


@dataclass(frozen=True)
class Pace:
    """The time curve of an inserted transition.

    progress: from shares of its time to its progress, 0…1. is_carried: a transition continues the clips' speeds
    instead (carrying.py), if joints share its duration.
    """

    identifier: str
    label: str
    description: str
    progress: Weight
    is_carried: bool = False


@dataclass(frozen=True)
class JointTime:
    """Whether joints share a transition's duration or take their own.

    wait: the share of a joint's unused time that passes before it turns; the rest passes afterwards.
    """

    identifier: str
    label: str
    description: str
    wait: float


def curve_named(identifier: str) -> Curve:
    """Look up a curve; raises TaktError with the list of curves."""
    if identifier not in CURVES:
        raise TaktError(f"there is no curve {identifier!r}; there are {', '.join(CURVES)}")
    return CURVES[identifier]


def pace_named(identifier: str) -> Pace:
    """Look up a time curve; raises TaktError with the list of time curves."""
    if identifier not in PACES:
        raise TaktError(f"there is no pace {identifier!r}; there are {', '.join(PACES)}")
    return PACES[identifier]


def joint_time_named(identifier: str) -> JointTime:
    """Look up how joints share time; raises TaktError with the list of choices."""
    if identifier not in JOINT_TIMES:
        raise TaktError(f"there is no joint time {identifier!r}; there are {', '.join(JOINT_TIMES)}")
    return JOINT_TIMES[identifier]


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
    """Return √(¼ − x²), the height of a circle of radius ½; 0 outside it."""
    return np.sqrt(np.maximum(0.25 - x * x, 0.0))


def _cubic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 + np.cbrt(x / 4.0 - 0.125))


def _smoother_pulse(x: FloatArray) -> FloatArray:
    return minimum_jerk(1.0 - np.abs(2.0 * x - 1.0))


CURVES: dict[str, Curve] = {curve.identifier: curve for curve in (
    Curve("COSINE", "Cosine", "Begins and ends gently", _cosine, _cosine_pulse),
    Curve("SMOOTHER", "Smoother", "Begins and ends without a jolt, with the least jerk", minimum_jerk, _smoother_pulse),
    Curve("LINEAR", "Linear", "Grows evenly", _linear, _linear_pulse, 1.0),
    Curve("CIRCULAR", "Circular", "Two quarter circles: abrupt halfway", _circular, _circular_pulse),
    Curve("CUBIC", "Cubic", "A cube root: abrupt halfway; not for Across the Seam", _cubic, None,
          1.0 / 3.0),
)}

PACES: dict[str, Pace] = {pace.identifier: pace for pace in (
    Pace("CARRIED", "Matched Speed", "Start at the speed of the clip before, end at that of the next. Same as Even "
                                     "if clips overlap or joints have own times",
         _linear, is_carried=True),
    Pace("EVEN", "Even", "At constant speed", _linear),
    Pace("EASED", "Eased", "Beginning and ending gently", _cosine),
    Pace("ACCELERATING", "Accelerating", "Slowly at first, as from a walk into a run", lambda x: np.asarray(x * x)),
    Pace("DECELERATING", "Decelerating", "Fast at first, as from a run into a walk",
         lambda x: np.asarray(x * (2.0 - x))),
)}
"""All but the first are from Gustaitis et al. 2007, §3.3.2."""

JOINT_TIMES: dict[str, JointTime] = {entry.identifier: entry for entry in (
    JointTime("SHARED", "Shared", "All joints take the whole transition", 0.0),
    JointTime("EARLY", "Per Joint, Early", "Joints that turn less finish first, then wait: the motion slows down", 0.0),
    JointTime("MIDDLE", "Per Joint, in the Middle", "Joints that turn less turn in the middle", 0.5),
    JointTime("LATE", "Per Joint, Late", "Joints that turn less wait, then turn last: the motion speeds up", 1.0),
)}
"""Each track has four keys: the ends of the transition, and between them the ends of the joint's own time; Gustaitis et
al. 2007, §3.4.1."""
