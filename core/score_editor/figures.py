"""Small figures of clips: a body as strokes in three-quarter view, still or in motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import world_from_pose
from .picture import Colour

STEP_S: Final = 1.0 / 12.0
_MOST_S = 8.0
"""Duration after which a motion is cut off in its figure."""
_TURN_RAD = np.radians(35.0)
_LIMBS = (("hip", "knee", "ankle", "metatarsal"), ("shoulder", "elbow", "wrist"))
_LIMB, _TRUNK, _HEAD = 0.085, 0.16, 0.19
"""Widths of strokes, in body heights."""
_HEAD_ABOVE = 0.07
_ROOM, _MARGIN = 1.35, 0.06
"""Size of a box in body heights, with room for arms above the head; and its margin, half of a limb at each edge."""
_SMALLEST = 0.6
"""Least share of the usual size; parts outside of the box are then cut off."""
_CAP = np.linspace(-np.pi / 2.0, np.pi / 2.0, 6)
_SOFT_PX = 0.8
"""Pixels over which the edge of a stroke fades out, since nothing else smooths it."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A body in motion, drawn as strokes.

    strokes: (F, S, 2, 2) both ends of each stroke at F instants STEP_S apart; x to the right from the body's middle,
    y up from its lowest point, in body heights. wide: (S,) widths, in body heights; is_far: (S,) whether on the body's
    farther side; these come first. telling: the instant that differs most from the first.
    """

    strokes: FloatArray
    wide: FloatArray
    is_far: BoolArray
    telling: int

    @cached_property
    def reach(self) -> tuple[float, float]:
        """How far the motion reaches, in body heights: from the middle to a side, and up from the lowest point."""
        return float(np.abs(self.strokes[..., 0]).max(initial=0.0)), float(self.strokes[..., 1].max(initial=0.0))

    @property
    def duration_s(self) -> float:
        """Duration of one round of the motion."""
        return len(self.strokes) * STEP_S

    def instant(self, time_s: float) -> int:
        """Return the instant at a time; the motion repeats."""
        return int(time_s / STEP_S) % len(self.strokes)


def figure_of(clip: Clip, found: SkeletonMap) -> Figure:
    """Return the figure of a clip; found: the map of its skeleton.

    A body with unknown limbs is drawn as lines from joints to their parents, with Y up.
    """
    times_s = np.arange(0.0, min(max(clip.duration_s, STEP_S), _MOST_S), STEP_S)
    positions = world_from_pose(clip.skeleton, clip.sample(times_s))[..., 3]
    rest = clip.skeleton.rest_world[..., 3]
    turn = rot.IDENTITY if found.turn is None else found.turn
    towards = rot.to_matrix(turn) @ _sheet()  # columns: right and up on the sheet, and towards the viewer
    seen, still = positions @ towards, rest @ towards
    height = max(float(np.ptp(still[:, 1])), float(np.ptp(still[:, 0])), 1e-9)
    ends, wide, is_far = _body(seen, found, height) or _lines(seen, clip)
    middle, floor = ends[..., 0].mean(axis=(1, 2), keepdims=True), seen[..., 1].min()
    strokes = np.stack((ends[..., 0] - middle, ends[..., 1] - floor), axis=-1) / height
    moved = np.square(strokes - strokes[:1]).sum(axis=(1, 2, 3))
    return Figure(strokes, wide, is_far, int(np.argmax(moved)))


def placed(figure: Figure, instant: int, box: FloatArray) -> tuple[FloatArray, float]:
    """Return the ends (S, 2, 2) of a figure's strokes within a box (4,), and how many pixels a body height is.

    Bodies are equally tall in equal boxes. A body whose motion would leave the box is drawn smaller, but not too small
    to be seen.
    """
    left, low, right, high = box.tolist()
    aside, up = figure.reach
    size = min((high - low) / _ROOM, (high - low) / (up + 2.0 * _MARGIN), (right - left) / 2.0 / (aside + _MARGIN))
    size = max(size, _SMALLEST * (high - low) / _ROOM)
    ends = figure.strokes[instant] * size + np.array(((left + right) / 2.0, low + _MARGIN * size))
    return np.clip(ends, (left, low), (right, high)), size


def figure_triangles(figure: Figure, instant: int, box: FloatArray, colour: Colour, far: Colour,
                     scale: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Return corners (3 N, 2) and colours (3 N, 4) of a figure's triangles within a box (4,), in pixels.

    far: the colour of the farther arm and leg. scale: of the interface.
    """
    ends, size = placed(figure, instant, box)
    radius = figure.wide * size / 2.0
    outline = _outlines(ends, radius)
    soft = _outlines(ends, radius + _SOFT_PX * scale)
    fill = np.where(figure.is_far[:, None], far, colour)
    nearer, farther = np.roll(outline, -1, axis=1), np.roll(soft, -1, axis=1)
    middle = np.broadcast_to(outline.mean(axis=1, keepdims=True), outline.shape)
    corners = np.stack((middle, outline, nearer, outline, soft, farther, outline, farther, nearer), axis=2)
    share = np.array((1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    colours = np.broadcast_to(fill[:, None, None], (*corners.shape[:3], 4)).copy()
    colours[..., 3] *= share
    return corners.reshape(-1, 2), colours.reshape(-1, 4)


def _sheet() -> FloatArray:
    """Return the matrix (3, 3) from H-Anim's axes (left, up, front) to the sheet, for a view from front left."""
    cos, sin = np.cos(_TURN_RAD), np.sin(_TURN_RAD)
    return np.array(((cos, 0.0, sin), (0.0, 1.0, 0.0), (-sin, 0.0, cos)))


def _body(seen: FloatArray, found: SkeletonMap, height: float) -> tuple[FloatArray, FloatArray, BoolArray] | None:
    """Return the strokes (F, S, 2, 3) of a human body, the farther side first, or None if its limbs are unknown."""
    joint_of = found.joint_of
    needed = {f"{side}_{joint}" for limb in _LIMBS for side in "lr" for joint in limb[:3]}
    if not needed <= joint_of.keys() or "skullbase" not in joint_of:
        return None
    at = {name: seen[:, joint] for name, joint in joint_of.items()}
    hips, chest = ((at[f"l_{part}"] + at[f"r_{part}"]) / 2.0 for part in ("hip", "shoulder"))
    neck = at["skullbase"]
    up = (neck - hips) / np.maximum(np.linalg.norm(neck - hips, axis=-1, keepdims=True), 1e-9)
    strokes: list[tuple[FloatArray, FloatArray, float, bool]] = []
    for side in "rl":
        for limb in _LIMBS:
            joints = [at[f"{side}_{joint}"] for joint in limb if f"{side}_{joint}" in at]
            strokes += [(a, b, _LIMB, side == "r") for a, b in pairwise(joints)]
        if side == "r":
            strokes += [(hips, chest, _TRUNK, False), (chest, neck, _LIMB, False)]
    crown = neck + up * _HEAD_ABOVE * height
    strokes.append((crown, crown + up * 0.02 * height, _HEAD, False))
    ends = np.stack([np.stack(stroke[:2], axis=1) for stroke in strokes], axis=1)
    return ends, np.array([stroke[2] for stroke in strokes]), np.array([stroke[3] for stroke in strokes])


def _lines(seen: FloatArray, clip: Clip) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return lines from joints to their parents, (F, S, 2, 3)."""
    parents = clip.skeleton.parents
    below = np.flatnonzero(parents >= 0)
    ends = np.stack((seen[:, parents[below]], seen[:, below]), axis=2) if len(below) else seen[:, :, None].repeat(2, 2)
    return ends, np.full(ends.shape[1], _LIMB / 2.0), np.zeros(ends.shape[1], np.bool_)


def _outlines(ends: FloatArray, radius: FloatArray) -> FloatArray:
    """Return the points (S, P, 2) around strokes (S, 2, 2) with round ends."""
    along = ends[:, 1] - ends[:, 0]
    angle = np.arctan2(along[:, 1], along[:, 0])[:, None]
    around = np.concatenate((angle + _CAP, angle + np.pi + _CAP), axis=1)
    middles = np.repeat(ends[:, ::-1], len(_CAP), axis=1)
    return np.asarray(middles + radius[:, None, None] * np.stack((np.cos(around), np.sin(around)), axis=-1))
