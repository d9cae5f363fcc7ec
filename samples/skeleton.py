"""The sample character's joints, after ISO/IEC 19774 (H-Anim): +Y up, facing +Z, left is +X, metres."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from ..core.skeletons.skeleton import Skeleton

Row = tuple[str, str, tuple[float, float, float]]

# joint, parent, position at rest
MIDDLE: tuple[Row, ...] = (
    ("HumanoidRoot", "", (0.0, 0.945, -0.012)),
    ("sacroiliac", "HumanoidRoot", (0.0, 0.960, -0.020)),
    ("vl5", "HumanoidRoot", (0.0, 1.010, -0.024)),
    ("vl3", "vl5", (0.0, 1.065, -0.018)),
    ("vl1", "vl3", (0.0, 1.125, -0.020)),
    ("vt10", "vl1", (0.0, 1.195, -0.032)),
    ("vt6", "vt10", (0.0, 1.285, -0.046)),
    ("vt3", "vt6", (0.0, 1.375, -0.048)),
    ("vc7", "vt3", (0.0, 1.462, -0.036)),
    ("vc4", "vc7", (0.0, 1.515, -0.018)),
    ("skullbase", "vc4", (0.0, 1.572, -0.006)),
)
# the left side; the right one is its mirror image
LEFT: tuple[Row, ...] = (
    ("hip", "sacroiliac", (0.090, 0.905, -0.004)),
    ("knee", "hip", (0.092, 0.490, 0.006)),
    ("ankle", "knee", (0.091, 0.080, -0.028)),
    ("metatarsal", "ankle", (0.098, 0.024, 0.098)),
    ("sternoclavicular", "vt3", (0.022, 1.432, 0.012)),
    ("acromioclavicular", "sternoclavicular", (0.140, 1.428, -0.020)),
    ("shoulder", "acromioclavicular", (0.176, 1.390, -0.020)),
    ("elbow", "shoulder", (0.213, 1.130, -0.026)),
    ("wrist", "elbow", (0.242, 0.885, -0.008)),
    ("thumb1", "wrist", (0.240, 0.870, 0.012)),
    ("thumb2", "thumb1", (0.236, 0.836, 0.050)),
    ("thumb3", "thumb2", (0.233, 0.812, 0.075)),
    ("index0", "wrist", (0.245, 0.868, 0.008)),
    ("index1", "index0", (0.249, 0.797, 0.031)),
    ("index2", "index1", (0.250, 0.759, 0.034)),
    ("index3", "index2", (0.251, 0.737, 0.036)),
    ("middle0", "wrist", (0.246, 0.866, 0.000)),
    ("middle1", "middle0", (0.250, 0.794, 0.010)),
    ("middle2", "middle1", (0.251, 0.752, 0.011)),
    ("middle3", "middle2", (0.252, 0.727, 0.012)),
    ("ring0", "wrist", (0.246, 0.866, -0.008)),
    ("ring1", "ring0", (0.250, 0.797, -0.011)),
    ("ring2", "ring1", (0.251, 0.758, -0.013)),
    ("ring3", "ring2", (0.252, 0.735, -0.014)),
    ("pinky0", "wrist", (0.245, 0.868, -0.016)),
    ("pinky1", "pinky0", (0.249, 0.803, -0.031)),
    ("pinky2", "pinky1", (0.250, 0.773, -0.035)),
    ("pinky3", "pinky2", (0.251, 0.755, -0.037)),
)
# where a joint without children ends: its bone's tail, the fingers' tips, the toes, the crown
LEFT_ENDS: dict[str, tuple[float, float, float]] = {
    "metatarsal": (0.103, 0.020, 0.168),
    "thumb3": (0.230, 0.792, 0.096),
    "index3": (0.252, 0.717, 0.038),
    "middle3": (0.253, 0.704, 0.013),
    "ring3": (0.253, 0.713, -0.016),
    "pinky3": (0.252, 0.738, -0.039),
}
SKULL_END = (0.0, 1.735, 0.010)


def rest_positions() -> dict[str, FloatArray]:
    """Return where each joint rests, by name, parents before children."""
    return {name: np.array(position) for name, _, position in _rows()}


def ends() -> dict[str, FloatArray]:
    """Return where the joints without children end, by name."""
    mirror = np.array((-1.0, 1.0, 1.0))
    left = {f"l_{name}": np.array(end) for name, end in LEFT_ENDS.items()}
    right = {f"r_{name}": np.array(end) * mirror for name, end in LEFT_ENDS.items()}
    return left | right | {"skullbase": np.array(SKULL_END)}


@cache
def build_skeleton() -> Skeleton:
    """Return the skeleton in H-Anim's rest position: every rest rotation is the identity.

    >>> skeleton = build_skeleton()
    >>> skeleton.names[:3], len(skeleton)
    (('HumanoidRoot', 'sacroiliac', 'vl5'), 67)
    """
    at = rest_positions()
    names = list(at)
    parent_of = {name: parent for name, parent, _ in _rows()}
    parents = [names.index(parent_of[name]) if parent_of[name] else -1 for name in names]
    offsets = [at[name] - (at[parent_of[name]] if parent_of[name] else 0.0) for name in names]
    return Skeleton.from_arrays(names, parents, rot.identities(len(names)), np.array(offsets), name="dancer")


def _rows() -> list[Row]:
    middle = {name for name, _, _ in MIDDLE}
    rows = list(MIDDLE)
    for prefix, sign in (("l_", 1.0), ("r_", -1.0)):
        rows += [(prefix + name, parent if parent in middle else prefix + parent, (sign * x, y, z))
                 for name, parent, (x, y, z) in LEFT]
    return rows
