"""Leave out parts that do not belong to a humanoid: swords, loose parts, and clothes that hide the legs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..binding.solid import dilated
from ..binding.surface import Surface
from ..maths.arrays import BoolArray, FloatArray
from .assembly import HumanoidBody, assembled
from .candidate import FittingCandidate, cells_of, looked_at_closely, shown
from .cells import Cells, parts_of
from .more_limbs import ExtraParts, thin_parts

_LOOSE: Final = 0.3
_MOST_LOOSE: Final = 5
"""Greatest share of the surface of each loose part that is left out in turn, and the number of the largest such
parts."""

_BETTER: Final = 0.1
"""The penalty of the rest without a part must be lower by this."""

_NO_WORSE: Final = 0.2
"""If parts are plainly no limbs, the penalty of the rest may be higher by this."""

_MOST_KEPT: Final = 0.7
"""Greatest share of the body's cells that may remain without thin parts."""

_MOST_BODIES: Final = 2
"""Number of the largest parts that may be the body under a skirt."""

_SAME_ENDS: Final = 0.05
"""Share of the body's height by which hands and soles may move when clothes are left out."""

SECOND_BODY: Final = 0.6
"""Share of the largest part's surface: another part that is larger may be a second body."""

AS_HIGH: Final = 0.6
"""Share of the mesh's height: a part this tall may be a body."""

Tell = Callable[[float], None]
"""Called with the share of the work done; raises an error if the work must stop."""


def without_thin_parts(surface: Surface, body: FittingCandidate, up: FloatArray,
                       tell: Tell) -> tuple[FittingCandidate, tuple[str, ...]]:
    """Return the body without the thin part, such as a sword, that disturbs it most; and a note about it."""
    parts = thin_parts(body.inside, body.found)
    for are_plain, most in ((True, body.penalty + _NO_WORSE), (False, body.penalty - _BETTER)):
        found = _least_without(body, [part for part in parts if part.is_plain == are_plain], up, tell)
        if found is None or found[0].penalty >= most:
            continue
        best, part = found
        # the rest is smaller, and can have smaller cells
        finer = looked_at_closely(_outside(surface, body.inside.cells, part.cells), up)
        note = ("A thin part, as a sword, was left out" if part.count == 1 else
                f"{part.count} thin parts, as swords, were left out")
        return finer if finer.penalty < best.penalty + _BETTER else best, (note,)
    return body, ()


def _least_without(body: FittingCandidate, parts: Sequence[ExtraParts], up: FloatArray,
                   tell: Tell) -> tuple[FittingCandidate, ExtraParts] | None:
    """Return the part without which a body is most like a humanoid, and the rest, or None if there is no such part."""
    left = list[tuple[FittingCandidate, ExtraParts]]()
    for part in parts:
        tell(0.5)
        if (~part.cells).mean() > _MOST_KEPT:
            left.append((FittingCandidate.of(body.inside.cells.some(~part.cells), up), part))
    return min(left, key=lambda one: one[0].penalty, default=None)


def _outside(surface: Surface, cells: Cells, part: BoolArray) -> Surface:
    """Return a surface without the triangles whose middles lie in these cells, (N,), or beside them."""
    middles = surface.points[surface.triangles].mean(axis=1)
    place = np.rint(np.concatenate((cells.points[part], middles)) / cells.cell).astype(np.int64)
    place -= place.min(axis=0) - 1
    near = np.zeros(tuple(place.max(axis=0) + 2), dtype=np.bool_)
    near[tuple(place[:int(part.sum())].T)] = True
    return Surface.build(surface.points, surface.triangles[~dilated(near, 1)[tuple(place[int(part.sum()):].T)]])


def without_loose_parts(surface: Surface, up: FloatArray, whole: FittingCandidate,
                         tell: Tell) -> tuple[FittingCandidate, tuple[str, ...]]:
    """Return the body without the loose part, such as a sword, that disturbs it most, and a note about it."""
    part = parts_of(len(surface.points), surface.triangles)
    area = np.bincount(part[surface.triangles[:, 0]], surface.face_areas)
    small = [k for k in np.argsort(-area).tolist() if 0.0 < area[k] < _LOOSE * area.sum()][:_MOST_LOOSE]
    best: FittingCandidate = whole
    notes: tuple[str, ...] = ()
    tried = {whole.inside.cells.points.tobytes()}  # eyes and the like are smaller than cells, and leave these as before
    others = [k for k in np.argsort(-area).tolist()[1:] if area[k] > 0.0]
    together = [some for some in (small, others) if len(some) > 1 and area[some[0]] <= SECOND_BODY * area.max()]
    for left_out in [[k] for k in small] + together:
        tell(0.5)
        kept = surface.triangles[~np.isin(part[surface.triangles[:, 0]], left_out)]
        cells = cells_of(Surface.build(surface.points, kept))
        if (there := cells.points.tobytes()) in tried:
            continue
        tried.add(there)
        body = FittingCandidate.of(cells, up)
        if body.penalty < best.penalty - _BETTER:
            one = len(left_out) == 1
            best, notes = body, (f"{len(left_out)} loose part{'' if one else 's'} of the mesh, as a sword, "
                                 f"{'was' if one else 'were'} left out",)
    return best, notes


def undressed(surface: Surface, body: FittingCandidate, found: HumanoidBody, up: FloatArray,
              front: FloatArray) -> tuple[FittingCandidate, HumanoidBody]:
    """Return one of the largest parts alone, if it is a whole humanoid with visible legs; else the given body.

    body, found: the whole, with legs hidden by a skirt or robe.
    """
    part = parts_of(len(surface.points), surface.triangles)
    own = part[surface.triangles[:, 0]]
    area = np.bincount(own, surface.face_areas)
    for largest in np.argsort(-area)[:_MOST_BODIES].tolist():
        bare = Surface.build(surface.points, surface.triangles[own == largest])
        if area[largest] <= 0.0 or np.ptp(shown(bare) @ found.up) < AS_HIGH * np.ptp(shown(surface) @ found.up):
            continue
        inner = looked_at_closely(bare, up)
        if inner.found is not None and inner.penalty < body.penalty + _NO_WORSE:
            seen = assembled(inner.inside, inner.found, front)
            if not seen.hides_legs and _ends_alike(seen, found, shown(bare), shown(surface)):
                return inner, seen
    return body, found


def _ends_alike(seen: HumanoidBody, found: HumanoidBody, bare: FloatArray, whole: FloatArray) -> bool:
    """Return whether a part of a body has its hands and soles where the whole has them; bare, whole: points (N, 3)."""
    hands = [np.array([limb.tip for limb in each.arms]) for each in (seen, found)]
    away = [*np.linalg.norm(hands[0] - hands[1], axis=1), (bare @ found.up).min() - (whole @ found.up).min()]
    return float(max(away)) < _SAME_ENDS * float(np.ptp(whole @ found.up))
