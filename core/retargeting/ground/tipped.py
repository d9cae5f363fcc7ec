"""Who lies tips over what bears him instead until seat or back are on the ground: a big head, or broad shoulders.

Rigid settling: while seat or back bear the body in the clip, and head or arms hold them in the air on this one, the
whole body turns about the level axis across its spine, by which its hips come down. Where hands bear it, as in a
push-up, nobody tips over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import SAMPLE_S
from ...clips.posed import PosedJoints
from ...maths.arrays import FloatArray, smoothstep
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..limbs import with_joint_turned
from ..skin_points import SkinPoints
from .bearing_hands import bearing_instead
from .bearing_skin import may_touch
from .bearing_trunk import of_trunk
from .eased import averaged
from .lowest_skin import LowestSkin
from .touching import height_of_trunk, leg_length

_NEAR_LEGS: Final = (0.05, 0.2)
"""Seat or back that is at most so high above the ground in a clip bears the body; from the second on it does not."""
_LEVEL: Final = (0.5, 0.75)
"""Sines: with his spine less steep than the first somebody lies; steeper than the second, he sits."""
_MOST_RAD: Final = np.radians(22.0)
AGAIN_RAD: Final = np.radians(3.0)
"""Once legs have been turned, and the seat with them, it takes little to be on the ground again."""
_SHORTEST: Final = 0.3
"""Of the spine: so much of it is taken to be level at least."""
_STILL_LEGS: Final = 0.005
_ROUNDS: Final = 4
_BEYOND: Final = 1.4
"""Of the spine from hips to shoulders: so far from the hips is what bears the body, a head farther than arms."""
_MOMENT_S: Final = 0.08
_ENDS: Final = ("l_hip", "r_hip", "l_shoulder", "r_shoulder")
_MOST_KNOWN: Final = 4


@dataclass(frozen=True, eq=False)
class _Body:
    """The skin of seat and back, and that of head and arms; hips and shoulders.

    Legs and hands do not count: they turn to the ground by themselves, and bear nobody who lies.
    """

    skin: LowestSkin
    ends: Sequence[int]

    def hangs(self, clip: Clip, times: FloatArray, up: FloatArray) -> FloatArray:
        """Return how much higher seat and back are than head and arms at times (F,), (F,)."""
        low, _ = self.skin.at(clip, times, up)
        return np.asarray(low[:, 0] - low[:, 1])

    def spine(self, clip: Clip, times: FloatArray) -> FloatArray:
        """Return the way from hips to shoulders at times (F,), (F, 3)."""
        _, at = PosedJoints.of(clip, np.array(self.ends)).placed(times)
        return np.asarray((at[:, 2] + at[:, 3] - at[:, 0] - at[:, 1]) / 2.0)


@lru_cache(maxsize=_MOST_KNOWN)
def _body(found: SkeletonMap, own: Skeleton, skin: SkinPoints) -> _Body | None:
    """Return a body once for all that it plays; None: something of it is not known. own: as the skin rests."""
    joints = found.joint_of
    if not set(_ENDS) <= joints.keys():
        return None
    skin = skin.part(may_touch(skin, found))
    is_trunk = of_trunk(skin.positions, skin.joints[:, 0], own, found)
    limbs = [joints[name] for name in ("l_hip", "r_hip", "l_wrist", "r_wrist") if name in joints]
    parts = [is_trunk, ~is_trunk & ~with_descendants(own.parents, np.array(limbs))[skin.joints[:, 0]]]
    if not all(part.any() for part in parts):
        return None
    return _Body(LowestSkin.of_parts(skin, own, parts), [joints[name] for name in _ENDS])


def tipped(source: Clip, source_map: SkeletonMap, played: Clip, found: SkeletonMap, skin: SkinPoints, root: int | None,
           up: FloatArray, most_rad: float = _MOST_RAD) -> Clip:
    """Return a clip whose body tips until seat or back are as low as in its source, where they bear it there.

    That is, above the lowest of head and arms. By most_rad at most.

    source: the clip as it was compared, in the target's axes, with the map of its skeleton. found: the map of the
    target, resting in the pose in which it stands; skin: as it rests itself. root: the joint that carries all of it.
    up: (3,) unit.
    """
    steps = np.append(np.arange(0.0, played.duration_s, SAMPLE_S), played.duration_s)
    height = height_of_trunk(source, source_map, up, steps)
    near = 1.0 - smoothstep(height, *_NEAR_LEGS)
    if near.any():
        near *= 1.0 - bearing_instead(source, source_map, up, steps, height)
    body = _body(found, played.skeleton, skin) if near.any() and root is not None else None
    if body is None or root is None:
        return played
    frames = np.flatnonzero(near)
    times, leg, as_high = steps[frames], leg_length(found), np.maximum(height[frames], 0.0)
    spine = body.spine(played, times)
    level = spine - (spine @ up)[:, None] * up
    long, wide = (np.linalg.norm(each, axis=1) for each in (spine, level))
    share = near[frames] * (1.0 - smoothstep(np.abs(spine @ up) / np.maximum(long, 1e-30), *_LEVEL))
    axes = np.cross(up, level / np.maximum(wide, 1e-30)[:, None])  # about which shoulders go down
    angles, made = np.zeros(len(steps)), played
    for _ in range(_ROUNDS):
        hangs = body.hangs(made, times, up) - leg * as_high
        if np.maximum(share * hangs, angles[frames] * -hangs).max() <= _STILL_LEGS * leg:
            break
        more = share * np.arctan(hangs / (_BEYOND * np.maximum(wide, _SHORTEST * long)))
        angles[frames] = np.clip(angles[frames] + more, 0.0, most_rad)
        calm = averaged(steps, angles[:, None], _MOMENT_S)[frames, 0]
        made = with_joint_turned(played, root, times, axes, -calm)
    return made
