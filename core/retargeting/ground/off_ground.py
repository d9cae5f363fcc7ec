"""The heights of a clip's feet while they leave and meet the ground, so that no foot in the air pulls the body down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...clips.clip import Clip
from ...clips.contacts import FootContacts, depth_within
from ...clips.posed import PosedJoints
from ...clips.sole_ends import sole_ends, toe_tip
from ...clips.thresholds import MOMENT_S
from ...maths.arrays import BoolArray, FloatArray
from ...skeletons.maps import SkeletonMap
from ..skin_points import in_axes


def ankles_and_soles(source: Clip, found: SkeletonMap, sides: Sequence[str], times_s: FloatArray,
                     up: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the heights of ankles, and of the lower end of each sole, above rest, (F, L) each.

    found: the map of its skeleton. up: (3,) unit. A side without an ankle counts as being at rest. If nothing shows
    where a sole ends (sole_ends.py), it ends at the ankle.
    """
    joints, rest = found.joint_of, source.skeleton.rest_world
    ankles, soles = np.zeros((2, len(times_s), len(sides)))
    known = [side for side in sides if {f"{side}_knee", f"{side}_ankle"} <= joints.keys()]
    ends = dict(zip(known, sole_ends(source, found, known, up), strict=False))
    tips = {side: toe_tip(source, found, side, up) for side in ends}
    feet = {column: joints[f"{side}_ankle"] for column, side in enumerate(sides) if f"{side}_ankle" in joints}
    if not feet:
        return ankles, soles
    columns, own = [*feet], [*feet.values()]
    end, front = zip(*(ends.get(sides[column], (ankle, rest[ankle, :, 3])) for column, ankle in feet.items()),
                     strict=True)
    at_rest = rest[own, :, 3] @ up, np.stack(front) @ up
    below = np.maximum(at_rest[0] - at_rest[1], 0.0)
    heel = in_axes(rest[own], rest[own, :, 3] - below[:, None] * up)
    toes = [front[row] if (tip := tips.get(sides[column])) is None else tip for row, column in enumerate(feet)]
    ends_at = np.stack((np.stack(front), np.stack(toes)))
    in_front = in_axes(rest[[*end]], ends_at)
    posed = PosedJoints.of_tracks(source.skeleton, source.rotations, source.translations, np.array((*own, *end)))
    for run in posed.runs(len(times_s)):
        of_ankles, of_ends = np.split(posed.height_rows(times_s[run], up), 2, axis=1)
        ankles[run, columns] = of_ankles[3].T - at_rest[0]
        ball, tip = np.einsum("elx,xlf->efl", in_front, of_ends) - (ends_at @ up)[:, None]
        sole = np.minimum(np.einsum("lx,xlf->fl", heel, of_ankles) - at_rest[0] + below, ball)
        soles[run, columns] = np.clip(tip, np.minimum(sole, 0.0), sole)  # tips that dip into the ground count as on it
    return ankles, soles


def off_ground(times_s: FloatArray, feet: FloatArray, soles: FloatArray, sides: Sequence[str],
               contacts: Mapping[str, FootContacts]) -> FloatArray:
    """Return the heights of feet above the ground that they leave or meet, (F, L): 0 on it.

    feet: (F, L) heights of their lowest skin above its height at rest, if ankles were as high as the clip's. soles: (F,
    L) heights of the clip's own soles, scaled to this body. The ground is at their lowest heights in contacts; a shoe
    that tips into it does not lower it. A foot is off the ground only where both are. If it is longer or shorter than
    the clip's, its ankle has another height as it turns on its toes; and toes bend on the ground under the ball. For
    feet without contacts, as in running in place, the ground is at their height at rest, or at their lowest height if
    that is lower.
    """
    high = np.maximum(np.minimum(*(each - min(float(each.min(initial=0.0)), 0.0) for each in (feet, soles))), 0.0)
    for column, side in enumerate(sides):
        stands = is_within(times_s, contacts[side].stands) if side in contacts else np.zeros(len(times_s), np.bool_)
        if stands.any():
            foot, sole = feet[:, column], soles[:, column]
            ground, own = (lowest_beside(times_s, each, stands) for each in (foot, sole))
            high[:, column] = np.maximum(np.minimum(foot - np.maximum(ground, own), sole - own), 0.0)
    return high


def is_within(times_s: FloatArray, spans: FloatArray) -> BoolArray:
    """Return which times (F,) are within spans (K, 2), (F,); spans are ascending and do not overlap."""
    return np.asarray(depth_within(times_s, spans) >= 0.0)


def lowest_beside(times_s: FloatArray, heights: FloatArray, stands: BoolArray,
                  within_s: FloatArray | float = MOMENT_S) -> FloatArray:
    """Return the lowest of the heights (F,) during contacts near each of the times (F,); interpolated between contacts.

    stands: (F,) whether the foot is in contact, S times in all. within_s: how near, (S,) or one value.
    """
    times, low = times_s[stands], heights[stands]
    first, end = np.searchsorted(times, times - within_s), np.searchsorted(times, times + within_s, "right")
    found, width = np.full(len(times), np.inf), 1
    while True:  # low: the lowest of width heights from each
        last = end - width
        is_wide = last >= first
        found[is_wide] = np.minimum(low[first[is_wide]], low[last[is_wide]])
        if not is_wide.any() or width >= len(times):
            return np.asarray(np.interp(times_s, times, found))
        low = np.minimum(low, np.append(low[width:], np.full(min(width, len(low)), np.inf)))
        width *= 2
