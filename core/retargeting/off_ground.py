"""How high a clip's feet are as they leave the ground and come to it, so that none pulls the body down in the air."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.contacts import FootContacts, depth_within
from ..clips.posed import PosedJoints
from ..clips.sole_ends import sole_ends
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.maps import SkeletonMap
from .limbs import runs_of_frames

_WITHIN_S: Final = 0.3
"""Where a foot stands lowest so shortly before and afterwards is the ground that it leaves, and to which it comes:
clips drift, and feet of one who turns are not all the time as high."""


def ankles_and_soles(source: Clip, found: SkeletonMap, sides: Sequence[str], times_s: FloatArray,
                     up: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how high a clip's ankles, and the lower end of each sole, are above where they rest, (F, L) each.

    found: the map of its skeleton. up: (3,) unit. A side without an ankle is at rest. A sole of which nothing shows
    where it ends (sole_ends.py) is where the ankle is.
    """
    joints, rest = found.joint_of, source.skeleton.rest_world
    ankles, soles = np.zeros((2, len(times_s), len(sides)))
    known = [side for side in sides if {f"{side}_knee", f"{side}_ankle"} <= joints.keys()]
    ends = dict(zip(known, sole_ends(source, found, known, up), strict=False))
    for column, side in enumerate(sides):
        if f"{side}_ankle" not in joints:
            continue
        ankle = joints[f"{side}_ankle"]
        end, front = ends.get(side, (ankle, rest[ankle, :, 3]))
        feet = PosedJoints.of_tracks(source.skeleton, source.rotations, source.translations, np.array((ankle, end)))
        below = max(float((rest[ankle, :, 3] - front) @ up), 0.0)
        heel = np.append(np.linalg.solve(rest[ankle, :, :3], -below * up), 1.0)
        ball = np.append(np.linalg.solve(rest[end, :, :3], front - rest[end, :, 3]), 1.0)
        for run in runs_of_frames(len(times_s)):
            high = feet.height_rows(times_s[run], up)
            ankles[run, column] = high[3, 0] - rest[ankle, :, 3] @ up
            soles[run, column] = np.minimum(heel @ high[:, 0] - rest[ankle, :, 3] @ up + below,
                                            ball @ high[:, 1] - front @ up)
    return ankles, soles


def off_ground(times_s: FloatArray, feet: FloatArray, soles: FloatArray, sides: Sequence[str],
               contacts: Mapping[str, FootContacts]) -> FloatArray:
    """Return how high feet are above the ground from which they leave, or to which they come, (F, L): 0 on it.

    feet: (F, L) how high their lowest skin would be above where it rests if ankles were as high as the clip's.
    soles: (F, L) how high the clip's own are, in the same size. The ground is where they are lowest while they stand; a
    shoe that tips into it makes it no lower. A foot is off it where both are: one that is longer, or shorter, than the
    clip's has its ankle at another height as it turns on its toes, and toes bend on the ground under a ball.
    """
    high = np.maximum(np.minimum(feet, soles), 0.0)
    for column, side in enumerate(sides):
        stands = is_within(times_s, contacts[side].stands) if side in contacts else np.zeros(len(times_s), np.bool_)
        if stands.any():
            foot, sole = feet[:, column], soles[:, column]
            ground, own = (_lowest_beside(times_s, each, stands) for each in (foot, sole))
            high[:, column] = np.maximum(np.minimum(foot - np.maximum(ground, own), sole - own), 0.0)
    return high


def is_within(times_s: FloatArray, spans: FloatArray) -> BoolArray:
    """Tell which times (F,) are within any of some spans (K, 2), (F,); these are ascending and apart."""
    return np.asarray(depth_within(times_s, spans) >= 0.0)


def _lowest_beside(times_s: FloatArray, heights: FloatArray, stands: BoolArray) -> FloatArray:
    """Return the lowest of heights (F,) within _WITHIN_S of times (F,) while it stands; between, what leads over."""
    times, low = times_s[stands], heights[stands]
    first, end = np.searchsorted(times, times - _WITHIN_S), np.searchsorted(times, times + _WITHIN_S, "right")
    found, width = np.full(len(times), np.inf), 1
    while True:  # low: the lowest of width heights from each
        last = end - width
        is_wide = last >= first
        found[is_wide] = np.minimum(low[first[is_wide]], low[last[is_wide]])
        if not is_wide.any() or width >= len(times):
            return np.asarray(np.interp(times_s, times, found))
        low = np.minimum(low, np.append(low[width:], np.full(min(width, len(low)), np.inf)))
        width *= 2
