"""What is unusual about a binding, for the user's attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, bounds
from ..skinning.influences import Influences
from .idle import IdleBones, find_idle
from .input import BindInput
from .loose import INSIDE, SHARES, winding
from .rig_oddities import RigOddities, find_oddities
from .roles import Roles
from .surface import Surface, triangulate

_FLAT = 1e-3
"""A mesh whose thickness is less than this share of its size has no inside."""

_Box = tuple[FloatArray, FloatArray]
"""The least and greatest coordinates of a mesh's vertices, (3,) each."""


@dataclass(frozen=True)
class BindReport:
    """What is unusual about a binding.

    idle: bones that move no vertex. flat_parts: meshes without volume: no faces, or all in one plane.
    boneless_parts: other meshes that hold no bone; they follow the nearest skin, or else the nearest bones.
    times_larger: the size of the largest mesh divided by that of the skeleton. It is 1 for a single bone, and if the
    skeleton is larger but a bone starts within a mesh, as when an eye is bound by itself. rig: what is odd about the
    rig. parts: number of meshes.
    """

    idle: IdleBones
    flat_parts: tuple[int, ...]
    boneless_parts: tuple[int, ...]
    times_larger: float = 1.0
    rig: RigOddities = field(default_factory=RigOddities)
    parts: int = 1

    @property
    def is_apart(self) -> bool:
        """Whether meshes have volume, but none of them holds a bone."""
        return bool(self.boneless_parts) and len(self.boneless_parts) + len(self.flat_parts) == self.parts


def find_unusual(body: BindInput, influences: Influences, roles: Roles | None = None) -> BindReport:
    """Find what is unusual about influences of this body; roles: those in which the method saw its bones, if any.

    >>> bone_and_stray = BindInput.from_arrays([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], ["bone", "stray"],
    ...                                        [-1, -1], [[0, 0, 0], [9, 9, 9]], [[0, 0, 1], [9, 9, 8]])
    >>> found = find_unusual(bone_and_stray, Influences(np.zeros((3, 1), dtype=np.int64), np.ones((3, 1))))
    >>> found.idle.names, found.flat_parts, found.boneless_parts, round(found.times_larger, 3)
    (('stray',), (0,), (), 0.091)
    """
    flat, boneless = [], []
    parts = [body.part == part for part in range(int(body.part.max()) + 1)]
    boxes = [bounds(body.vertices[own]) if own.any() else None for own in parts]
    sizes = [float(np.linalg.norm(box[1] - box[0])) if box else 0.0 for box in boxes]
    for part, (own, box) in enumerate(zip(parts, boxes, strict=True)):
        if _is_flat(body, own):
            flat.append(part)
        elif box and not _holds_a_bone(body, own, box, largest=sizes[part] == max(sizes)):
            boneless.append(part)
    return BindReport(find_idle(body, influences, roles), tuple(flat), tuple(boneless),
                      _times_larger(body, [box for box in boxes if box], max(sizes)), find_oddities(body), len(parts))


def _times_larger(body: BindInput, boxes: Sequence[_Box], size: float) -> float:
    """Return the size of a mesh divided by that of the skeleton; 1 for one bone, which tells no size of a body."""
    skeleton = float(np.linalg.norm(np.ptp(np.concatenate((body.heads, body.tails)), axis=0)))
    if len(body.heads) < 2 or skeleton <= 0.0 or size <= 0.0:
        return 1.0
    starts_within = any(((body.heads > low) & (body.heads < high)).all(axis=1).any() for low, high in boxes)
    return 1.0 if size < skeleton and starts_within else size / skeleton


def _is_flat(body: BindInput, own: BoolArray) -> bool:
    if not own[body.face_vertices].any():
        return bool(own.any())
    columns = np.ascontiguousarray(body.vertices[own].T)
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(columns, bias=True)), 0.0))
    return bool(spread[0] <= _FLAT * spread[2])


def _holds_a_bone(body: BindInput, own: BoolArray, box: _Box, largest: bool) -> bool:
    """Tell whether a mesh holds a bone, from head to tail or from its parent's head to its own.

    The bone must pass through the box of the mesh, and the mesh's surface must wind about it, as in `held_bones`. For
    the largest mesh the box is enough, since that mesh may be an open shell.
    """
    on_lines = _within(*box, *_bones(body))
    if largest or not len(on_lines):
        return len(on_lines) > 0
    kept = own[body.face_vertices[np.cumsum(body.face_sizes) - body.face_sizes]]
    number = np.cumsum(own) - 1
    corners = number[body.face_vertices[np.repeat(kept, body.face_sizes)]]
    points = body.vertices[own]
    surface = Surface.build(points, triangulate(points, corners, body.face_sizes[kept]))
    return bool((np.abs(winding(surface.points[surface.triangles], on_lines)) > INSIDE).any())


def _bones(body: BindInput) -> tuple[FloatArray, FloatArray]:
    """Return the starts and ends (S, 3) of bones, and of the lines from their parents' heads to their own."""
    children = np.flatnonzero(body.bone_parents >= 0)
    return (np.concatenate((body.heads, body.heads[body.bone_parents[children]])),
            np.concatenate((body.tails, body.heads[children])))


def _within(low: FloatArray, high: FloatArray, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Return points (N, 3) on the lines from starts to ends (S, 3), spread over the stretch of each within a box."""
    along = ends - starts
    with np.errstate(divide="ignore", invalid="ignore"):
        at_low, at_high = (low - starts) / along, (high - starts) / along
    still = along == 0.0
    outside = (still & ((starts < low) | (starts > high))).any(axis=1)
    enters = np.maximum(np.where(still, -np.inf, np.minimum(at_low, at_high)).max(axis=1), 0.0)
    leaves = np.minimum(np.where(still, np.inf, np.maximum(at_low, at_high)).min(axis=1), 1.0)
    passes = np.flatnonzero((enters <= leaves) & ~outside)
    shares = enters[passes] + SHARES[:, None] * (leaves - enters)[passes]
    return np.asarray((starts[passes] + shares[..., None] * along[passes]).reshape(-1, 3))
