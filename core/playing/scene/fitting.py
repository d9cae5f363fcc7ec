"""Number of repetitions of calls whose paths are to fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...errors import Problem, TaktError
from ...maths.arrays import FloatArray
from ...pha.sequence import Sequence as Segments
from ...pha.ways import Way
from ..placing.placement import Placement
from ..row import Row
from .cast import ScenePath, ScenePlace, Still, Target, at_time, misfit
from .ground_curve import GroundCurve
from .sits import Sits, Stand
from .traveller import Traveller
from .warping import PACES, STANDS_SIZES, whole_rounds

_QUICKEST: Final = 8.0
"""Nobody walks at so many times the pace of a clip: then steps become longer as well."""
_ROUNDED: Final = 1e-9


def fitted(sequence: Segments, sits: Sits, cast: Mapping[str, Target],
           shown: Callable[[FloatArray], FloatArray]) -> tuple[Segments, tuple[Problem, ...]]:
    """Return a sequence whose ways that fit are repeated as often as they need, and what is to be said of them.

    sits: has the sequence as it is played, with one round of each. shown: from times to those that a clock shows.
    In the time T that a call lasts, a clip that lasts t and goes the way w is played n times so that its pace, T/(n·t),
    and the length of its steps, L/(n·w) on a way of length L, are both as near to its own as that goes:
    n = √(T/t · L/w). Longer steps than PACES allows would bend knees like somebody who kneels, so then there are more,
    which are quicker, up to _QUICKEST; nor are steps shorter, if fewer do. Where nothing plays its role, n = T/t. In
    lanes there is one round.
    """
    if not any(way.going.fits for way in sits.ways):
        return sequence, ()
    counting = _Counting(sits, cast, shown)
    counts, said = dict[Way, int](), list[Problem]()
    for way in sits.ways:
        count = counting.rounds(way) if _is_cast(way, cast) else counting.rounds_by_time(way)
        if way.going.fits and way.inside is not None:
            said.append(Problem("<call> repeat: found fit in a lane, where a call plays one round; call it outside of "
                                "lanes, or give a whole number", way.place, is_warning=True))
        elif way.going.fits and count > 1:
            counts[way] = count
    return (sequence.repeated(counts) if counts else sequence), tuple(said)


def rounds_of(by_time: float, by_way: float) -> int:
    """Return how often a clip is played that many times in a time, and on a way, at its own pace.

    >>> rounds_of(4.0, 4.4), rounds_of(1.0, 4.4), rounds_of(9.0, 4.4), rounds_of(1.0, 0.3), rounds_of(4.0, 400.0)
    (4, 4, 5, 1, 40)
    """
    whole, both = whole_rounds(by_way), whole_rounds(np.sqrt(by_time * by_way))
    least, most = (np.ceil(by_way / PACES[1] * (1.0 - _ROUNDED)), np.floor(by_way / PACES[0] * (1.0 + _ROUNDED)))
    if by_way > _QUICKEST * by_time:
        return both
    return int(np.clip(both, min(least, whole), max(most, whole)))


def _is_cast(way: Way, cast: Mapping[str, Target]) -> bool:
    kinds = {way.going.at: ScenePlace, way.going.to: ScenePlace, way.going.along: ScenePath}
    return all(not misfit(cast.get(role), kind, role) for role, kind in kinds.items() if role)


@dataclass(eq=False)
class _Counting:
    """Goes from path to path. now: the placement that carries the body after the last one. seated: see _Warping."""

    sits: Sits
    cast: Mapping[str, Target]
    shown: Callable[[FloatArray], FloatArray]
    now: Placement = field(default_factory=lambda: Placement(np.zeros(()), np.zeros((), dtype=np.complex128)))
    seated: Way | None = None

    @property
    def row(self) -> Row:
        """Its segments."""
        return self.sits.row

    @property
    def traveller(self) -> Traveller:
        """The body."""
        return self.sits.traveller

    def rounds(self, way: Way) -> int:
        """Return the repetitions of a path; the body is at its end afterwards."""
        layout, going, seated, self.seated = self.row.layout, way.going, self.seated, None
        edges_s = np.array((layout.begin_s[way.first], layout.end_s[way.after - 1]))
        (begin, end), facing = self.traveller.seen(self.sits.stage.sample(edges_s))
        if going.at and isinstance(place := self._target(going.at, edges_s[0]), ScenePlace):
            self.now = self.sits.placement(way, place, float(edges_s[0]), self.now)
            self.seated = way if self.sits.is_seat(place) else None
        if not going.role:
            return 1
        goes = float(np.angle(end - begin)) if end != begin else float(facing[0])
        at_s = float(edges_s[0 if going.along else 1])
        target = self._target(going.role, at_s)
        curve = self._curve(way, target, Stand(self._carried(begin), float(self.now.yaw_rad) + goes),
                            Stand(end, goes), complex(begin), seated)
        if isinstance(target, ScenePlace) and self.sits.is_seat(target):
            self.seated = way
        if curve is None:
            return 1
        last_rad = float(curve.angles[-1])
        self.now = Placement(np.asarray(last_rad - goes), np.asarray(
            curve.points[-1] - np.exp(1j * (last_rad - goes)) * end))
        own, lasts_s = abs(end - begin), self.row.own_s(way.first, way.after)
        if own <= STANDS_SIZES * self.traveller.size or lasts_s <= 0.0:
            return 1  # the warp says that it leads nowhere
        return rounds_of(float(edges_s[1] - edges_s[0]) / lasts_s, curve.length / own)

    def rounds_by_time(self, way: Way) -> int:
        """Return the repetitions of a path by its time, wherever it leads."""
        self.seated = None
        layout, lasts_s = self.row.layout, self.row.own_s(way.first, way.after)
        time_s = float(layout.end_s[way.after - 1] - layout.begin_s[way.first])
        return whole_rounds(time_s / lasts_s) if lasts_s > 0.0 else 1

    def _carried(self, position: complex) -> complex:
        return complex(self.now.shift + np.exp(1j * self.now.yaw_rad) * position)

    def _target(self, role: str, time_s: float) -> Still:
        """Return the target of a role at a time."""
        return at_time(self.cast[role], float(self.shown(np.array((time_s,)))[0]))

    def _curve(self, way: Way, target: Still, begin: Stand, last: Stand, own: complex,
               seated: Way | None) -> GroundCurve | None:
        """Return the curve of a way, None if there is none. own, seated: see Sits.curve_along."""
        try:
            if isinstance(target, ScenePath):
                return self.sits.curve_along(way, target, begin, own, seated)
            if not isinstance(target, ScenePlace):
                return None
            return self.sits.curve_to(way, target, begin, last, float(self.row.layout.end_s[way.after - 1]))
        except TaktError:
            return None  # the warp says why
