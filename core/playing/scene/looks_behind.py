"""Looks at what is behind the body: heads do not turn that far."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Final

import numpy as np

from ...errors import Problem, quoted
from ...maths.arrays import FloatArray
from ..stage import Stage
from .aim import TimedAim
from .look import BEHIND_RAD, TOLD_RAD, Neck

_INSTANTS: Final = 5
"""Number of instants of a look at which its target is looked for."""


def without_looks_behind(aims: Sequence[TimedAim], held: Container[str], neck: Neck, stage: Stage,
                         shown: Callable[[FloatArray], FloatArray]) -> tuple[tuple[TimedAim, ...], tuple[Problem, ...]]:
    """Return aims without looks at what is always behind, and warnings about these and others that miss most often.

    held: roles that hands move; they are where hands are. stage: the motion before it aims. shown: from times to those
    of the clock.
    """
    looks = [aim for aim in aims if not aim.hand and aim.role not in held]
    if not looks:
        return tuple(aims), ()
    times_s = np.linspace([aim.there_s for aim in looks], [aim.end_s for aim in looks], _INSTANTS, axis=1)
    points = np.concatenate([aim.positions(shown(own)) for aim, own in zip(looks, times_s, strict=True)])
    angles = neck.beside(stage.sample(np.minimum(times_s.ravel(), stage.duration_s)), points).reshape(times_s.shape)
    said = tuple(Problem(f"<look> {quoted(aim.role)} is {np.degrees(angle):.0f}° from where the chest faces, more than "
                         "a neck turns: turn the body, or look at something else", aim.place, is_warning=True)
                 for aim, angle in zip(looks, np.median(angles, axis=1).tolist(), strict=True) if angle > TOLD_RAD)
    behind = {aim for aim, own in zip(looks, angles, strict=True) if (own > BEHIND_RAD[0]).all()}
    return tuple(aim for aim in aims if aim not in behind), said
