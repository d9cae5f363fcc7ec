"""Hands that touch each other, or nearly do, keep touching on a body with other proportions: Keep Contacts.

Limbs point as in the clip, so on broader shoulders or with shorter arms clapping hands come apart. While a clip's
hands are near each other, those of the target are brought as near, by their shoulders and elbows; each hand goes half
of the way and stays turned as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, poses_at
from ..maths.arrays import IntArray
from ..skeletons.hierarchy import is_descendant, with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import world_from_pose
from .limbs import Limb, reach, with_rotations
from .loose import part_of

_NEAR_HEIGHTS: Final = (0.12, 0.2)
"""Of the body's height: hands nearer than the first are kept as near; up to the second in part."""
_STILL: Final = 1e-4


@dataclass(frozen=True, eq=False)
class _Arms:
    """The arms of a clip's body, left and right, without its other joints.

    clip: of these joints alone, which are kept (K,) of the whole. palms: for each the joint that counts for the hand.
    """

    clip: Clip
    kept: IntArray
    limbs: tuple[Limb, Limb]
    palms: tuple[int, int]

    @classmethod
    def of(cls, clip: Clip, found: SkeletonMap) -> _Arms | None:
        """Return them for a clip on the skeleton of a map; None where joints of one are not known or not one chain."""
        parents, limbs, palms = found.skeleton.parents, list[Limb](), list[int]()
        for side in "lr":
            limb = Limb.of(found, side, ("shoulder", "elbow", "wrist"))
            palm = found.joint_of.get(f"{side}_middle1", -1 if limb is None else limb.last)
            if limb is None or not (palm == limb.last or is_descendant(parents, palm, limb.last)):
                return None
            limbs.append(limb)
            palms.append(palm)
        kept = with_ancestors(parents, np.array(palms))
        row = {int(joint): i for i, joint in enumerate(kept)}
        left, right = (Limb(*(row[joint] for joint in limb.joints)) for limb in limbs)
        return cls(part_of(found.skeleton, kept, clip.rotations, clip.translations), kept, (left, right),
                   (row[palms[0]], row[palms[1]]))


def with_hands_together(played: Clip, target_map: SkeletonMap, source: Clip, source_map: SkeletonMap) -> Clip:
    """Return what is played with the hands as near each other, for its height, as in the source where they are near.

    played: on the skeleton of target_map. source: the clip as it was compared, in the target's axes, on that of
    source_map. Where an arm or the height of one of them is not known, or hands are never near, it stays as it is.
    """
    ours, theirs = _Arms.of(played, target_map), _Arms.of(source, source_map)
    heights = _height(target_map), _height(source_map)
    if ours is None or theirs is None or min(heights) <= 0.0:
        return played
    keyed = [tracks.times_s for body in (ours, theirs) for tracks in (body.clip.rotations, body.clip.translations)]
    times = filled(np.unique(np.concatenate([*keyed, (0.0, played.duration_s)])).clip(0.0, played.duration_s))
    there = world_from_pose(theirs.clip.skeleton, poses_at(theirs.clip, times))[..., 3]
    apart = (there[:, theirs.palms[0]] - there[:, theirs.palms[1]]) * heights[0] / heights[1]
    near, far = (share * heights[0] for share in _NEAR_HEIGHTS)
    share = np.clip((far - np.linalg.norm(apart, axis=1)) / (far - near), 0.0, 1.0)
    share = (share * share * (3.0 - 2.0 * share))[:, None]
    if not share.any():
        return played
    pose = poses_at(ours.clip, times)
    world = world_from_pose(ours.clip.skeleton, pose)
    wanted = share * (apart - (world[:, ours.palms[0], :, 3] - world[:, ours.palms[1], :, 3]))
    if np.abs(wanted).max(initial=0.0) <= _STILL * heights[0]:
        return played
    turns = pose.rotations.copy()
    for limb, half in zip(ours.limbs, (0.5, -0.5), strict=True):
        reach(ours.clip, turns, world, limb, half * wanted)
    return with_rotations(played, {int(ours.kept[joint]): (times, turns[:, joint])
                                   for limb in ours.limbs for joint in limb.joints})


def _height(found: SkeletonMap) -> float:
    """Return the height of a body at rest from its ankles to the base of the skull, along its limbs; 0: not known."""
    position, joint_of = found.skeleton.rest_world[:, :, 3], found.joint_of
    chain = [joint_of.get(name, -1) for name in ("l_ankle", "l_knee", "l_hip", "skullbase")]
    return 0.0 if min(chain) < 0 else float(np.linalg.norm(np.diff(position[chain], axis=0), axis=1).sum())
