"""What a body aims at in a scene, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...errors import Place, Problem, quoted
from ...maths.arrays import FloatArray
from ...pha.ways import AimedAt
from ..transitions.methods import Layout
from .cast import ScenePlace, Target, Unfit

LOOK_S: Final = 0.4
"""So long a head takes to turn to something, and back."""
BACK_S: Final = 0.5
"""So long a hand takes to go back."""
_SOONEST_S: Final = 0.1
"""A hand takes so long at least to get there."""


@dataclass(frozen=True, eq=False)
class TimedAim:
    """Something that is aimed at: role, by its name; position (3,) in the model. hand: l or r, "" for the head.

    place: of the element, in its file.
    begin_s, there_s, end_s, back_s: when the body begins to turn to it, has done so, begins to turn back, and has.
    """

    role: str
    position: FloatArray
    hand: str
    begin_s: float
    there_s: float
    end_s: float
    back_s: float
    place: Place

    def weights(self, times_s: FloatArray) -> FloatArray:
        """Return how much it is aimed at at times (F,), 0 to 1, with the least jerk (Flash and Hogan 1985).

        >>> aim = TimedAim("cup", np.zeros(3), "r", 1.0, 2.0, 3.0, 4.0, Place())
        >>> aim.weights(np.array((0.5, 1.5, 2.5, 3.5, 4.5))).tolist()
        [0.0, 0.5, 1.0, 0.5, 0.0]
        """
        comes = (times_s - self.begin_s) / (self.there_s - self.begin_s)
        goes = (self.back_s - times_s) / (self.back_s - self.end_s)
        x = np.clip(np.minimum(comes, goes), 0.0, 1.0)
        return np.asarray(x**3 * (10.0 + x * (6.0 * x - 15.0)))


def timed_aims(aims: Sequence[AimedAt], layout: Layout,
               cast: Mapping[str, Target]) -> tuple[tuple[TimedAim, ...], tuple[Problem, ...]]:
    """Return what the elements of a score aim at, and what is to be said of them.

    aims: of a sequence. cast: what plays the roles; aims at roles that nothing plays are left out.
    """
    found, said, noted = [], [], set[str]()
    for each in aims:
        role, target = each.aim.role, cast.get(each.aim.role)
        word = f"<{'reach' if each.aim.hand else 'look'}>"
        if isinstance(target, ScenePlace):
            target = target if each.aim.hand else target.head or target
            found.append(_timed(each, target, layout))
            if target.note and role not in noted:
                said.append(Problem(f"{word} the role {quoted(role)}: {target.note}", each.place, is_warning=True))
                noted.add(role)
        elif isinstance(target, Unfit):
            said.append(Problem(f"{word} nothing can play the role {quoted(role)}, so it is left out: {target.why}",
                                each.place, is_warning=True))
        else:
            said.append(Problem(f"{word} the role {quoted(role)} is not cast, so it is left out: choose an object for "
                                "it", each.place, is_warning=True, is_note=True))
    return tuple(found), tuple(said)


def _timed(each: AimedAt, target: ScenePlace, layout: Layout) -> TimedAim:
    aim = each.aim
    first_s, last_s = float(layout.begin_s[each.first]), float(layout.end_s[each.first])
    begin, end = (0.0, 1.0) if each.inside is None else each.inside
    begin_s, end_s = first_s + begin * (last_s - first_s), first_s + end * (last_s - first_s)
    there_s = begin_s + (max((1.0 - aim.held) * (end_s - begin_s), _SOONEST_S) if aim.hand else LOOK_S)
    end_s = max(end_s, there_s)
    return TimedAim(aim.role, np.array(target.position), aim.hand, begin_s, there_s, end_s,
                    end_s + (BACK_S if aim.hand else LOOK_S), each.place)
