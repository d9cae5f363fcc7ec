"""Traces of a motion to be drawn: its path, its footprints and its targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...maths.arrays import FloatArray, IntArray
from ...skeletons.skeleton import world_from_pose
from ..feet.floored import Floored
from ..feet.footholds import ground_axes
from ..feet.lock import FeetLock
from ..motion import Motion
from ..stage import Over
from .aimed import Aimed
from .cast import ScenePlace, Target, at_time
from .surface import Surface

_PER_S: Final = 8.0
"""Points of the path per second."""
_MOST_POINTS: Final = 1024
_MOST_PRINTS: Final = 2000
_AT_ONCE: Final = 256
_INSTANTS: Final = np.array((0.1, 0.3, 0.5, 0.7, 0.9))
"""Shares of a contact at one of which the sole is flat."""
_WIDTH: Final = 0.38
"""Width of a footprint, as a share of its length."""
_LEAST_LEGS: Final = 0.15
"""Least length of a footprint, in leg lengths."""


class Mark(NamedTuple):
    """A target: (3,) position, (3,) facing direction or zeros, and its time in seconds."""

    position: FloatArray
    ahead: FloatArray
    by_s: float


@dataclass(frozen=True, eq=False)
class Traces:
    """What is drawn of a motion, in model space, by the clock.

    way: (N, 3) positions below the hips at times way_s (N,). prints: (K, 4, 3) where soles stand: the heel, and as
    vectors from it, to the toes, to the outside and up. sides: (K,) 0 for the left foot. prints_s: (K, 2) spans.
    places, hands: targets of bodies and of hands. size: of the leg.
    """

    way: FloatArray
    way_s: FloatArray
    prints: FloatArray
    sides: IntArray
    prints_s: FloatArray
    places: tuple[Mark, ...]
    hands: tuple[Mark, ...]
    up: FloatArray
    size: float


def traces_of(motion: Motion, up: FloatArray, cast: Mapping[str, Target]) -> Traces:
    """Find what to draw of a motion. up: (3,) of its model. cast: the objects that play the roles of its score."""
    up = up / max(float(np.linalg.norm(up)), 1e-30)
    way, way_s = _way(motion, up)
    feet = motion.feet
    size = float(np.ptp(motion.skeleton.rest_world[..., 3] @ up)) / 2.0
    prints, sides, prints_s = np.zeros((0, 4, 3)), np.zeros(0, dtype=np.int64), np.zeros((0, 2))
    if feet is not None and feet.lock.legs:
        size = float(feet.lock.legs[0].length(motion.skeleton))
        prints, sides, prints_s = _prints(motion, feet.lock, size)
    return Traces(way, way_s, prints, sides, prints_s, _places(motion, cast), _hands(motion), up, size)


def _way(motion: Motion, up: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return positions of the hips over the ground, (N, 3), and times, (N,); never inside floors."""
    count = int(np.clip(np.ceil(motion.duration_s * _PER_S), 1, _MOST_POINTS)) + 1
    times_s = np.linspace(0.0, motion.duration_s, count)
    body, rest = motion.body, motion.skeleton.rest_world
    joint = 0 if body is None else body.joint_of.get("HumanoidRoot", 0)
    hips = np.concatenate([world_from_pose(motion.skeleton, motion.sample(times_s[i:i + _AT_ONCE]))[:, joint, :, 3]
                           for i in range(0, count, _AT_ONCE)])
    high = float(rest[joint, :, 3] @ up) - min(float((rest[..., 3] @ up).min()), 0.0)
    way, floor = hips - high * up, _floored(motion)
    if floor is not None and floor.surface is not None and motion.feet is not None:
        axes = ground_axes(motion.feet.up)
        ground = way @ axes.T
        ground[:, 2] = np.fmax(ground[:, 2], floor.surface.below(ground[:, :2]).heights)
        way = ground @ axes
    return way, times_s


def _prints(motion: Motion, lock: FeetLock, size: float) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the footprints of a motion; see Traces."""
    spans = [motion.shown(lock.footholds.spans_s(leg).ravel()).reshape(-1, 2) for leg in range(len(lock.legs))]
    spans = [np.clip(each, 0.0, motion.duration_s)[:_MOST_PRINTS] for each in spans]
    prints, axes, floor = list[FloatArray](), ground_axes(lock.up), _floored(motion)
    level = lock.soles.level
    for leg, own in enumerate(spans):
        for i in range(0, len(own), _AT_ONCE):
            part = own[i:i + _AT_ONCE]
            times_s = part[:, :1] + _INSTANTS * (part[:, 1:] - part[:, :1])
            matrices = lock.limbs(motion.sample(times_s.ravel()))[0]
            soles = lock.soles.positions(*matrices[1:])[leg].reshape(*times_s.shape, -1, 3)
            ahead = (matrices[3, leg, :, :3, 3] - matrices[2, leg, :, :3, 3]).reshape(*times_s.shape, 3)
            flattest = np.arange(len(part)), soles[..., 2].mean(axis=2).argmin(axis=1)
            flat = _flat_prints(soles[flattest][..., :2], ahead[flattest][:, :2], leg, size)
            prints.append(_on(flat, None if floor is None else floor.surface, level) @ axes)
    return (np.concatenate([np.zeros((0, 4, 3)), *prints]), np.repeat(np.arange(len(spans)), [*map(len, spans)]),
            np.concatenate([np.zeros((0, 2)), *spans]))


def _flat_prints(soles: FloatArray, ahead: FloatArray, leg: int, size: float) -> FloatArray:
    """Return heels, and vectors to the toes and aside, (K, 3, 2), of soles (K, N, 2). ahead: (K, 2) to the balls."""
    along = ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-30)
    aside = np.stack((-along[:, 1], along[:, 0]), axis=1) * (1.0 if leg == 0 else -1.0)
    middle = soles.mean(axis=1)
    by = ((soles - middle[:, None]) * along[:, None]).sum(axis=2)
    length = np.maximum(np.ptp(by, axis=1), _LEAST_LEGS * size)[:, None]
    return np.stack((middle + by.min(axis=1)[:, None] * along, length * along, _WIDTH * length * aside), axis=1)


def _on(flat: FloatArray, surface: Surface | None, level: float) -> FloatArray:
    """Return flat prints (K, 3, 2) on a floor, (K, 4, 3), or on the level ground beside it; see Traces."""
    heel, along, aside = flat.swapaxes(0, 1)
    found = None if surface is None else surface.below(heel + 0.5 * along)
    heights = np.full(len(flat), np.nan) if found is None else found.heights
    slopes = np.zeros((len(flat), 2)) if found is None else found.slopes
    middle = np.where(np.isnan(heights), level, heights)
    rises = [(each * slopes).sum(axis=1) for each in (along, aside)]
    steep = [np.append(each, rise[:, None], axis=1) for each, rise in zip((along, aside), rises, strict=True)]
    normal = np.cross(*steep)
    normal *= np.sign(normal[:, 2:]) * np.linalg.norm(along, axis=1, keepdims=True) / np.maximum(
        np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    return np.stack((np.append(heel, (middle - 0.5 * rises[0])[:, None], axis=1), *steep, normal), axis=1)


def _floored(motion: Motion) -> Floored | None:
    stage = motion.end
    while isinstance(stage, Over) and not isinstance(stage, Floored):
        stage = stage.below
    return stage if isinstance(stage, Floored) else None


def _places(motion: Motion, cast: Mapping[str, Target]) -> tuple[Mark, ...]:
    found, layout = list[Mark](), motion.layout
    for way in motion.sequence.ways:
        for role, at_s in ((way.going.to, float(layout.end_s[way.after - 1])),
                           (way.going.at, float(layout.begin_s[way.first]))):
            place = at_time(cast[role], at_s) if role in cast else None
            if isinstance(place, ScenePlace):
                faces = role != way.going.to or way.going.faces
                found.append(Mark(np.array(place.position), np.array(place.ahead) * faces, at_s))
    return tuple(found)


def _hands(motion: Motion) -> tuple[Mark, ...]:
    stage = motion.end
    while isinstance(stage, Over) and not isinstance(stage, Aimed):
        stage = stage.below
    if not isinstance(stage, Aimed):
        return ()
    shown = [(aim, motion.shown(np.array((aim.there_s,)))) for aim in stage.aims if aim.hand]
    return tuple(Mark(at[0], np.zeros(3), float(time_s[0])) for aim, time_s in shown
                 if np.isfinite(at := aim.positions(time_s)).all())
