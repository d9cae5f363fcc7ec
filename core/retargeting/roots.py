"""Joints above the hips that are paired by name only, such as `root` of many rigs.

Names do not tell what a file does with its root. It may rest at the height of the hips, and carry all of the body's
motion or none. A target's root belongs on the ground below the body, and IK targets are its children.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, key_times
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons import hanim
from ..skeletons.hierarchy import is_descendant, path_to_root, with_ancestors
from ..skeletons.skeleton import Skeleton, world_from_pose
from .comparing.matching import Pairing
from .comparing.upright import FEET
from .hips import HIPS
from .loose import part_of

_LEVEL: Final = 0.02
"""How far a root on the ground may leave it, as a share of the legs' height, and tilt, as a sine."""
_LOW: Final = 0.25
"""Share of the legs' height; a root that rests higher above the feet is not on the ground."""


def body_root(target: Skeleton, pairs: Pairing) -> int | None:
    """Return the target's joint that moves the whole body, or None if it does not carry both legs."""
    joint_of = {name: int(t) for name, t in zip(pairs.meant, pairs.target, strict=True) if name}
    root = joint_of.get(hanim.ROOT)
    hips = [joint_of[name] for name in HIPS if name in joint_of]
    is_whole = root is not None and len(hips) == 2 and all(is_descendant(target.parents, hip, root) for hip in hips)
    return root if is_whole else None


def by_their_way(clip: Clip, target: Skeleton, pairs: Pairing, up: FloatArray | None) -> BoolArray:
    """Return which pairs (P,) may stay: all but joints above a body's root that leave the ground.

    up: (3,) in model space, None if it is unknown or the rest pose does not show where the clip's body stands; then no
    such joint stays. The hips take over the motion of the others.
    """
    stays = np.ones(len(pairs), dtype=np.bool_)
    if hanim.ROOT not in pairs.meant:
        return stays
    top = pairs.meant.index(hanim.ROOT)
    theirs, ours = (path_to_root(skeleton.parents, int(joint))[1:] for skeleton, joint in
                    ((clip.skeleton, pairs.source[top]), (target, pairs.target[top])))
    carries = body_root(target, pairs) is not None
    for p, (s, t) in enumerate(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True)):
        if pairs.meant[p] is None and (s in theirs or t in ours):
            stays[p] = carries and s in theirs and t in ours and up is not None and _is_on_ground(clip, s, pairs, up)
    return stays


def _is_on_ground(clip: Clip, joint: int, pairs: Pairing, up: FloatArray) -> bool:
    """Return whether a joint rests on the ground, and only moves over it and turns about the vertical."""
    skeleton = clip.skeleton
    height = {name: float(skeleton.rest_world[s, :, 3] @ up) for name, s in
              zip(pairs.meant, pairs.source.tolist(), strict=True) if name}
    feet = min((height[name] for name in FEET if name in height), default=height[hanim.ROOT])
    legs = height[hanim.ROOT] - feet
    keep = with_ancestors(skeleton.parents, np.array((joint,)))
    part = part_of(skeleton, keep, clip.rotations, clip.translations)
    if not len(part.rotations) and not len(part.translations):
        return False  # no motion is lost
    world = world_from_pose(part.skeleton, part.sample(filled(key_times(part.rotations, part.translations))))[:, -1]
    rest = skeleton.rest_world[joint]
    rises = np.abs((world[..., 3] - rest[:, 3]) @ up).max()
    upward = np.linalg.solve(rest[:, :3], up)  # the up direction in the joint's axes at rest
    tilts = np.linalg.norm(world[..., :3] @ upward - up, axis=1).max()
    return bool(rest[:, 3] @ up - feet <= _LOW * legs and rises <= _LEVEL * legs and tilts <= _LEVEL)
