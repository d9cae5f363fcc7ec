"""The head of who lies rests on the ground where the clip's does: necks bend, as a head may be slim, shoulders broad.

Done last, since the body is on the ground by then and nothing but the head hangs on a neck.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from ...clips.body_contacts import HEAD, BodyContacts
from ...clips.clip import Clip, Tracks
from ...clips.keyed import SAMPLE_S
from ...clips.posed import PosedJoints
from ...maths.arrays import FloatArray
from ...skeletons.hierarchy import is_descendant, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..comparing.reference import rebased
from ..limbs import with_joint_turned
from ..skin_points import SkinPoints
from .bearing_skin import may_touch
from .fitted_curves import BODY_S, smoothed
from .lowest_skin import LowestSkin
from .touching import LEVEL_SHARE, NEARLY_LEGS, ROUNDS, leg_length

_NECK: Final = ("vc7", "vc4", "vc2", "skullbase")
_MOST_RAD: Final = np.radians(35.0)
_MOST_KNOWN: Final = 4


class _Head(NamedTuple):
    """The joints of a neck and the head, none of which carries an arm, and the skin that they carry.

    middle: (4,) where that is, as the head's joint has it, and 1. ground: how high the ground is.
    """

    neck: tuple[int, ...]
    skin: LowestSkin
    middle: FloatArray
    ground: float

    def low(self, clip: Clip, times: FloatArray, up: FloatArray) -> FloatArray:
        """Return how high the lowest of its skin is above the ground at times (F,), (F,)."""
        return np.asarray(self.skin.at(clip, times, up)[0][:, 0] - self.ground)

    def way(self, clip: Clip, times: FloatArray) -> FloatArray:
        """Return the way from where its neck begins to its middle at times (F,), (F, 3)."""
        first, last = PosedJoints.of(clip, np.array((self.neck[0], self.neck[-1]))).world(times).swapaxes(0, 1)
        return np.asarray(last @ self.middle - first[..., 3])

    def bent(self, clip: Clip, times: FloatArray, axes: FloatArray, angles: FloatArray) -> Clip:
        """Return a clip whose neck is bent in the model about axes (F, 3) by angles (F,) at times (F,)."""
        bends = self.neck[:-1] or self.neck  # where the head is on it, it would turn without going down
        for joint in bends:
            clip = with_joint_turned(clip, joint, times, axes, angles / len(bends))
        return clip


@lru_cache(maxsize=_MOST_KNOWN)
def _head(found: SkeletonMap, own: Skeleton, skin: SkinPoints, up: tuple[float, float, float]) -> _Head | None:
    """Return the head of a body once for all that it plays; None: it has none, or none with skin.

    own: as the skin rests.
    """
    joints, parents = found.joint_of, own.parents
    arms = [joints[f"{side}_shoulder"] for side in "lr" if f"{side}_shoulder" in joints]
    neck = tuple(joint for joint in (joints[name] for name in _NECK if name in joints)
                 if not any(is_descendant(parents, arm, joint) for arm in arms))
    skin = skin.part(may_touch(skin, found, own))
    feet = [joints[f"{side}_ankle"] for side in "lr" if f"{side}_ankle" in joints]
    is_foot, is_head = (with_descendants(parents, np.array(of, dtype=np.int64))[skin.joints[:, 0]]
                        for of in (feet, neck[-1:]))
    if not is_foot.any() or not is_head.any():
        return None
    still = rebased(Clip("", found.skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)), own)
    ground = float(skin.part(is_foot).heights(still, np.zeros(1), np.array(up)).min())
    rest = own.rest_world[neck[-1]]
    middle = np.linalg.solve(rest[:, :3], skin.positions[is_head].mean(axis=0) - rest[:, 3])
    return _Head(neck, LowestSkin.of_parts(skin, own, [is_head]), np.append(middle, 1.0), ground)


def with_resting_head(contacts: BodyContacts, played: Clip, found: SkeletonMap, skin: SkinPoints,
                      up: FloatArray) -> Clip:
    """Return a clip in which the head of who lies is on the ground, as far as necks bend, where it is in the source.

    contacts: of the clip that it plays. found: the map of the target, resting in the pose in which it stands; skin: as
    it rests itself. up: (3,) unit.
    """
    steps = np.append(np.arange(0.0, played.duration_s, SAMPLE_S), played.duration_s)
    share = contacts.weight(HEAD, steps)
    head = _head(found, played.skeleton, skin, tuple(up.tolist())) if share.any() else None
    if head is None:
        return played
    near = np.flatnonzero(share)
    times, share = steps[near], share[near]
    low, way = head.low(played, times, up), head.way(played, times)
    stays = (1.0 - share) * np.maximum(low, 0.0)
    if np.max(low - stays) <= NEARLY_LEGS * leg_length(found):
        return played
    level = way - (way @ up)[:, None] * up
    long, wide = (np.linalg.norm(each, axis=1) for each in (way, level))
    axes = np.cross(up, level / np.maximum(wide, 1e-30)[:, None])  # about which the head goes down
    angles = np.zeros(len(near))
    for _ in range(ROUNDS):
        angles = np.clip(angles + np.arctan((low - stays) / np.maximum(wide, LEVEL_SHARE * long)), 0.0, _MOST_RAD)
        low = head.low(head.bent(played, times, axes, angles), times, up)
    bends = np.zeros(len(steps))
    bends[near] = angles
    bends = smoothed(steps, bends[None], BODY_S, lo=0.0, hi=bends)[0]  # none farther, or it would be in the ground
    return head.bent(played, times, axes, bends[near])
