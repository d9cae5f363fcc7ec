"""Feet of a body in one clip: times and positions of their contacts, their speeds and lowest heights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.contacts import STEP_S, FootContacts, instants, planted_spans
from ...clips.keys import Interpolation, TranslationInterpolation
from ...clips.thresholds import EASE_S, FAR_LEGS, LOW_PERCENT, ON_LEGS, SOFT_LEGS
from ...maths.arrays import ROUNDING, FloatArray, quotient, runs
from ...retargeting.limbs import LimbPoses, runs_of_frames
from ...skeletons.skeleton import Pose, Skeleton
from ..joints import Joints
from .footholds import BESIDE_S, ground_axes, reaches, within_reach
from .knees import KNEE_LEGS
from .legs import Leg
from .rises import knots_of
from .soles import Soles, on_ground

_WHERE: Final = np.array(((0.0, -1.0, -2.0), (0.0, 1.0, 2.0)))
_FAST_PERCENT = 99.0


@dataclass(frozen=True, eq=False)
class ClipFoot:
    """One foot in one clip, before root motion handling, at the clip's own pace.

    spans_s: (K, 2) contacts. at: (K, 3) their positions. loose: (K, 2, 3, 3) the clip's own foot positions at a
    contact's beginning and end, and BESIDE_S and twice that before and after. ends: (2, 3) positions at the clip's
    beginning and end. fast: a speed that it seldom exceeds, in lengths per second. lowest: (N,) heights below which
    points of the sole seldom go, see soles.py. sinks: whether it goes deeper into the ground than the soles' tolerance.
    raised: (N,) the same heights after raising it onto the ground. knots: how far it is raised for that during the
    clip, see rises.py. knee: the height below which the knee seldom goes, or would go if it were on the ground.
    """

    spans_s: FloatArray
    at: FloatArray
    loose: FloatArray
    ends: FloatArray
    fast: float
    lowest: FloatArray
    sinks: bool
    raised: FloatArray
    knots: FloatArray
    knee: float


def clip_feet(sample: Callable[[FloatArray], Pose], duration_s: float, legs: Sequence[Leg], skeleton: Skeleton,
              up: FloatArray, contacts: Mapping[str, FootContacts], soles: Soles) -> tuple[ClipFoot, ...]:
    """Follow the feet of legs through poses (F, J, …) at times (F,) from 0 to duration_s.

    contacts: of the clip, by side. A foot without contacts here counts as in contact while it is low and slow.
    """
    times = instants(duration_s)
    count = 3 * len(legs)
    asked = Joints.of(skeleton, [*(joint for leg in legs for joint in (leg.hip, leg.ankle, leg.foot)),
                                 *(leg.knee for leg in legs)])
    ground = ground_axes(up)
    on_ground = asked.turned(ground)
    positions, high = np.empty((len(times), count, 3)), np.empty((len(legs), len(times), soles.shape[0]))
    knees = np.empty((len(times), len(legs), 3))
    for part in runs_of_frames(len(times)):
        world = on_ground.matrices(sample(times[part]))
        positions[part] = world[:count, ..., :3, 3].swapaxes(0, 1) @ ground
        knees[part] = world[count:, ..., :3, 3].swapaxes(0, 1) @ ground
        high[:, part] = soles.heights(world[count:], world[1:count:3], world[2:count:3])
    lowest, on, found = np.percentile(high, LOW_PERCENT, axis=1), soles.ground, []
    for i, leg in enumerate(legs):
        joints, size = np.insert(positions[:, 3 * i:3 * i + 3], 1, knees[:, i], axis=1), leg.length(skeleton)
        feet, knee = joints[:, 3], min(np.percentile(knees[:, i] @ up, LOW_PERCENT), lowest[i].min() + KNEE_LEGS * size)
        spans, at = _followed(leg, joints, times, up, size, contacts.get(leg.side))
        beside = np.clip(spans[..., None] + BESIDE_S * _WHERE, 0.0, duration_s)
        loose = asked.positions(sample(beside.ravel()))[:, 3 * i + 2] if len(at) else np.zeros(0)
        speeds = quotient(np.linalg.norm(np.diff(feet, axis=0), axis=1), np.diff(times))
        fast = float(np.percentile(speeds, _FAST_PERCENT)) if len(speeds) else 0.0
        found.append(ClipFoot(spans, at, loose.reshape(*beside.shape, 3), feet[[0, -1]], fast, lowest[i],
                              *_raised(lowest[i], high[i], on[i], times, size), float(knee)))
    return tuple(found)


def _raised(lowest: FloatArray, high: FloatArray, ground: FloatArray, times_s: FloatArray,
            leg: float) -> tuple[bool, FloatArray, FloatArray]:
    """Return whether a foot sinks, its lowest heights after raising it, and how far it is raised; see ClipFoot.

    lowest: (N,) of points of its sole. high: (F, N) their heights. ground: (M,) heights below the first of these.
    """
    sure, gives_way = len(ground), ON_LEGS / 2.0 * leg
    above = (high[:, :sure] - ground).min(axis=1, initial=np.inf)
    low = np.percentile(above, LOW_PERCENT)
    level = np.minimum(on_ground(low, np.zeros(()), leg), 0.0)
    raised, sinks = lowest.copy(), bool(level - low > gives_way)
    raised[:sure] = np.maximum(raised[:sure], ground + level)
    high = above - level + gives_way if sinks else np.zeros(len(times_s))
    return sinks, raised, knots_of(high, times_s, leg)


def own_feet(clip: Clip, interpolation: Interpolation, translation: TranslationInterpolation, legs: tuple[Leg, ...],
             up: tuple[float, ...], soles: Soles) -> tuple[ClipFoot, ...]:
    """Follow the feet in a clip that is played unchanged; for `Clip.derived`, which caches it."""
    def sample(times: FloatArray) -> Pose:
        return clip.sample(times, interpolation, translation)

    return clip_feet(sample, clip.duration_s, legs, clip.skeleton, np.array(up), known_contacts(clip, legs), soles)


def known_contacts(clip: Clip, legs: Sequence[Leg]) -> Mapping[str, FootContacts]:
    """Return a clip's contacts by side; empty if it has none, or moves no legs."""
    has_legs = clip.moved[[leg.hip for leg in legs]].any()
    return clip.contacts if clip.contacts is not None and has_legs else {}


def _while_knee_stays(joints: FloatArray, up: FloatArray, length: float) -> slice | None:
    """Return the frames in which the foot of a kneeling leg is held, None for all F frames.

    joints: (F, 4, 3) positions of hip, knee, ankle and foot. up: (3,) unit. length: of the leg. If a foot slides while
    its knee is on the ground, as in a fall forwards, holding it would press the knee into the ground.
    """
    hips, knees, ankles, feet = np.moveaxis(joints, 1, 0)
    is_low = (knees - feet) @ up < FAR_LEGS[0] * length
    if not is_low.any() or len(joints) < 2:
        return None
    moved = LimbPoses.through(np.stack((hips, knees, ankles), axis=1)).reaching(_level(feet.mean(axis=0) - feet, up))
    is_pressed = is_low & ((moved.middle - knees) @ up < -SOFT_LEGS * length)
    if not is_pressed.any():
        return None
    soon = round(EASE_S / STEP_S)  # there the foot would be released at speed
    is_pressed = np.convolve(is_pressed, np.ones(2 * soon + 1))[soon:soon + len(joints)] > 0.0
    first, end = max(runs(~is_pressed), key=lambda run: run[1] - run[0], default=(0, 1))
    return slice(first, end)


def _level(ways: FloatArray, up: FloatArray) -> FloatArray:
    """Return vectors (F, 3) without their vertical part."""
    return np.asarray(ways - (ways @ up)[:, None] * up)


def _followed(leg: Leg, positions: FloatArray, times_s: FloatArray, up: FloatArray, length: float,
              contacts: FootContacts | None) -> tuple[FloatArray, FloatArray]:
    """Return a foot's contacts, (K, 2), and their positions, (K, 3). positions: (F, 4, 3), see _while_knee_stays."""
    hips, _, ankles, feet = np.moveaxis(positions, 1, 0)
    if contacts is None:
        high = feet @ up
        spans = planted_spans(feet / length, (high - np.percentile(high, LOW_PERCENT)) / length, times_s)
    else:
        spans = np.clip(contacts.heel if leg.foot == leg.ankle else contacts.stands, 0.0, times_s[-1])
    reach, at, held = reaches(hips, ankles, length), np.empty((len(spans), 3)), spans.copy()
    for k, (start, stop) in enumerate(np.searchsorted(times_s, spans + np.array((-ROUNDING, ROUNDING))).tolist()):
        part = slice(min(start, len(times_s) - 1), max(stop, start + 1))
        kept = _while_knee_stays(positions[part], up, length)
        if kept is not None:
            part = slice(part.start + kept.start, part.start + kept.stop)
            held[k] = times_s[[part.start, part.stop - 1]]
        at[k] = feet[part].mean(axis=0)
        if not leg.is_loose:  # a foot not led by its leg already is where it should be
            higher = ((at[k] - feet[part]) @ up)[:, None] * up  # a held foot is as high as the clip has it
            at[k] = within_reach(at[k], hips[part] + feet[part] - ankles[part] + higher, up, reach[part])
    return held, at
