"""The skeleton of a body other than a humanoid: spine, neck, head, tail and limbs, by its shape."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .bilateral import Branch, Creature
from .joint_rows import JointRows
from .level_sets import Course
from .limbs import unit
from .problem import FittedSkeleton

_SPINE_BONE: Final = 0.14
_MOST_SPINE: Final = 4
_MOST_TAIL: Final = 6
"""Length of bones of trunk, neck and tail, as a share of the spine's length; greatest number of bones in trunk and neck
each, and in the tail."""

_GIRTHS: Final = 1.6
_FEWEST, _MOST = 4, 12
"""Length of the bones of a body without legs, in multiples of its thickness; their least and greatest number."""

_HEAD: Final = 2.4
_HEAD_AT_MOST: Final = 0.6
"""Length of a head in radii of its end, and its greatest share of the part before the fore legs."""

_HEAD_END: Final = 0.12
_BEND: Final = 0.05
"""Share of a limb's length: it bends where it is this far from straight."""

_LONG: Final = 0.12
"""Share of the spine: a longer limb that is no leg has two bones."""

_ROOT: Final = 1.3
"""Depth of a limb's first joint inside the trunk, in radii of the limb."""

_FOOT: Final = 0.12
"""Share of a leg's length from the tip to the ankle, if the leg shows no bends."""

_CERTAIN: Final = 0.6
_CERTAIN_BEND: Final = 0.85
_GUESS: Final = 0.4


def skeleton_of_creature(body: Creature) -> FittedSkeleton:
    """Return the skeleton of a creature, with names such as `neck1`, `tail2`, `l_leg1_1`."""
    rows = _Rows(body)
    length = float(body.spine.at[-1])
    legs = [pair[0].leaves for pair, leg in zip(body.pairs, body.is_leg, strict=True) if leg]
    if legs:
        rows.trunk(max(legs), min(legs) if max(legs) - min(legs) > 0.1 * length else 0.5 * min(legs))
    else:
        rows.chain()
    others = [pair for pair, leg in zip(body.pairs, body.is_leg, strict=True) if not leg]
    for number, pair in enumerate((pair for pair, leg in zip(body.pairs, body.is_leg, strict=True) if leg), start=1):
        for side, limb in zip("lr", pair, strict=True):
            rows.limb(f"{side}_leg{number}", limb, 3, body.across)
    for number, pair in enumerate(others, start=1):
        for side, limb in zip("lr", pair, strict=True):
            rows.limb(f"{side}_limb{number}", limb, 2 if limb.free > _LONG * length else 1, body.front)
    for number, limb in enumerate(body.single, start=1):
        rows.limb(f"fin{number}", limb, 2 if limb.free > _LONG * length else 1, body.across)
    return rows.skeleton(_notes(body))


def _notes(body: Creature) -> tuple[str, ...]:
    legs, others = 2 * sum(body.is_leg), 2 * (len(body.pairs) - sum(body.is_leg)) + len(body.single)
    has = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in ((legs, "leg"), (others, "other limb"))
           if count]
    unsure = ("It is not sure which end is the head; front and back, left and right may be exchanged",)
    return (f"It is no humanoid, but a body with {' and '.join(has) or 'no limbs'}; clips for humanoids do not fit it",
            *(unsure if body.sure < 0.5 else ()))


class _Rows:
    """The joints of a creature."""

    def __init__(self, body: Creature) -> None:
        self._body, self._rows = body, JointRows()
        self._spans: list[tuple[float, float, int]] = []  # of the spine: from, to, joint

    def trunk(self, hips: float, chest: float) -> None:
        """Add the bones along the spine; hips, chest: where its last and its first legs leave it, from the head."""
        length = float(self._body.spine.at[-1])
        ahead = _steps(hips, chest, _SPINE_BONE * length, _MOST_SPINE)
        skull = min(_HEAD * _end_radius(self._body.spine), _HEAD_AT_MOST * chest)
        neck = _steps(chest, skull, _SPINE_BONE * length, _MOST_SPINE)
        above = self._along("root", "spine", ahead, "")
        above = self._along("", "neck", neck, above)
        self._along("head", "", [skull, 0.0], above)
        self._along("", "tail", _steps(hips + 0.5 * _SPINE_BONE * length, length, _SPINE_BONE * length, _MOST_TAIL),
                    "root")

    def chain(self) -> None:
        """Add a chain of bones from head to tail, with the root in the middle."""
        spine = self._body.spine
        length, thick = float(spine.at[-1]), 2.0 * float(np.sqrt(np.median(spine.areas) / np.pi))
        count = int(np.clip(round(length / (_GIRTHS * thick)), _FEWEST, _MOST))
        at = np.linspace(0.0, length, count + 1).tolist()
        middle = (count + 1) // 2
        above = self._along("root", "spine", at[middle:0:-1], "")
        self._along("head", "", [at[1], 0.0], above)
        self._along("", "tail", at[middle:], "root")

    def limb(self, name: str, limb: Branch, bones: int, axis: FloatArray) -> None:
        """Add the bones of a limb; axis: (3,) its bend axis if it is straight."""
        distances = _joints_of(limb, bones)
        points = [limb.course.point_at(at) for at, _ in distances] + [limb.course.points[0]]
        points[0] = points[0] + _ROOT * limb.radius * limb.inwards
        parent = next((joint for low, high, joint in self._spans if low <= limb.leaves <= high), 0)
        bend = np.cross(points[1] - points[0], points[-1] - points[0]) if len(points) > 2 else np.zeros(3)
        size = limb.free**2
        turns = unit(bend) if float(np.linalg.norm(bend)) > _BEND * size else axis
        for number, (point, end, (_, sure)) in enumerate(zip(points[:-1], points[1:], distances, strict=True), start=1):
            along = unit(end - point)
            self._add(f"{name}_{number}", parent, point, end, unit(turns - turns @ along * along), sure)
            parent = len(self._rows.names) - 1

    def _along(self, first: str, others: str, at: list[float], above: str) -> str:
        """Add bones along the spine between points on it, (B + 1,); return the last one's name.

        first: the name of the first one, "" for a numbered one; others: the stem for the others, which get numbers.
        """
        parent, last, number = self._rows.names.index(above) if above else -1, above, 0
        for place, following in pairwise(at):
            if first and place == at[0]:
                name = first
            else:
                number += 1
                name = f"{others}{number}"
            self._add(name, parent, self._body.spine.point_at(place), self._body.spine.point_at(following),
                      self._body.across, _CERTAIN)
            parent, last = len(self._rows.names) - 1, name
            self._spans.append((min(place, following), max(place, following), parent))
        return last

    def _add(self, name: str, parent: int, position: FloatArray, end: FloatArray, bends: FloatArray,
             certainty: float) -> None:
        self._rows.add(name, parent, position, end, bends, certainty * (1.0 if self._body.sure >= 0.5 else 0.7))

    def skeleton(self, notes: tuple[str, ...]) -> FittedSkeleton:
        """Return the skeleton of all bones that were added."""
        return self._rows.skeleton(self._body.up, self._body.front, notes)


def _steps(start: float, end: float, step: float, most: int) -> list[float]:
    """Return points from start to end, both included, about a step apart; only the first if they nearly meet."""
    away = abs(end - start)
    if away < 0.3 * step:
        return [start]
    count = int(np.clip(round(away / step), 1, most))
    places: list[float] = np.linspace(start, end, count + 1).tolist()
    return places


def _end_radius(spine: Course) -> float:
    """Return the radius of the head."""
    near = spine.at < _HEAD_END * spine.at[-1]
    return float(np.sqrt(np.max(spine.areas[near], initial=spine.areas[0]) / np.pi))


def _joints_of(limb: Branch, bones: int) -> list[tuple[float, float]]:
    """Return the distances of a limb's joints from its end, the root first, and the certainty of each.

    They are where the limb bends most. If it does not bend, a long part has one in its middle, and a leg an ankle.
    """
    course = limb.course
    own = course.at <= limb.free
    at, points = np.append(course.at[own], limb.free), np.vstack((course.points[own], course.point_at(limb.free)))
    places, sure = [0, len(at) - 1], {0: 1.0, len(at) - 1: _CERTAIN}
    while len(places) <= bones:
        found = max((_farthest(points, low, high) for low, high in pairwise(places)),
                    key=lambda one: one[1])
        if found[1] > _BEND * limb.free:
            places, sure = sorted([*places, found[0]]), {**sure, found[0]: _CERTAIN_BEND}
            continue
        ankle = int(np.searchsorted(at, _FOOT * limb.free))
        low, high = max(pairwise(places), key=lambda two: float(at[two[1]] - at[two[0]]))
        new = ankle if bones == 3 and len(places) == 3 and places[1] > 2 * ankle > 0 else int(
            np.searchsorted(at, (at[low] + at[high]) / 2.0))
        if new in places:
            break
        places, sure = sorted([*places, new]), {**sure, new: _GUESS}
    return [(float(at[place]), sure[place]) for place in places[:0:-1]]


def _farthest(points: FloatArray, low: int, high: int) -> tuple[int, float]:
    """Return the point (S, 3) between two points that is farthest from the line between them, and its distance."""
    if high - low < 2:
        return low, 0.0
    start, way = points[low], points[high] - points[low]
    inner = points[low + 1:high] - start
    length = float(np.linalg.norm(way))
    along = way / length if length > 0.0 else way
    away = np.linalg.norm(inner - (inner @ along)[:, None] * along, axis=1)
    return low + 1 + int(away.argmax()), float(away.max())
