"""The head of a lying body rests on the ground if the clip's does: the neck bends, as for a slim head.

This step is the last one: the body is on the ground already, and the neck moves the head alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ...clips.body_contacts import HEAD, BodyContacts
from ...clips.clip import Clip
from ...clips.keyed import SAMPLE_S, in_steps
from ...clips.posed import PosedJoints
from ...clips.thresholds import BODY_S, NEARLY_LEGS, ROUNDS
from ...maths.arrays import FloatArray
from ...skeletons.hierarchy import is_descendant
from ..limbs import with_joint_turned
from ..skin_points import in_axes
from .body_skin import BodySkin
from .fitted_curves import smoothed
from .touching import LEVEL_SHARE

_NECK: Final = ("vc7", "vc4", "vc2", "skullbase")
_MOST_NOD_RAD: Final = np.radians(35.0)


class _Head(NamedTuple):
    """The joints of a neck and the head, none of which carries an arm, and the skin that they carry.

    middle: (4,) the middle of that skin in the head joint's space, and 1.
    """

    neck: tuple[int, ...]
    middle: FloatArray

    def way(self, clip: Clip, times: FloatArray) -> FloatArray:
        """Return the vectors (F, 3) from the beginning of the neck to the middle of the head at times (F,)."""
        first, last = PosedJoints.of(clip, np.array((self.neck[0], self.neck[-1]))).world(times).swapaxes(0, 1)
        return np.asarray(last @ self.middle - first[..., 3])

    def bent(self, clip: Clip, times: FloatArray, axes: FloatArray, angles: FloatArray) -> Clip:
        """Return a clip whose neck is bent in the model about axes (F, 3) by angles (F,) at times (F,)."""
        bends = self.neck[:-1] or self.neck  # the joint of the head would turn it without lowering it
        for joint in bends:
            clip = with_joint_turned(clip, joint, times, axes, angles / len(bends))
        return clip


def _head(body: BodySkin) -> _Head | None:
    """Return the head of a body, or None if feet or head are unknown, or the head has no skin."""
    joints, parents = body.found.joint_of, body.own.parents
    arms = [joints[f"{side}_shoulder"] for side in "lr" if f"{side}_shoulder" in joints]
    neck = tuple(joint for joint in (joints[name] for name in _NECK if name in joints)
                 if not any(is_descendant(parents, arm, joint) for arm in arms))
    is_head = body.part("head")
    if not body.feet or not is_head.any():
        return None
    return _Head(neck, in_axes(body.own.rest_world[neck[-1]], body.points.positions[is_head].mean(axis=0)))


def with_resting_head(contacts: BodyContacts, played: Clip, body: BodySkin) -> Clip:
    """Return a clip in which a lying body's head is on the ground when it is in the source, if the neck bends so far.

    contacts: of the source clip.
    """
    steps = in_steps(played.duration_s, SAMPLE_S)
    share = contacts.weight(HEAD, steps)
    head = _head(body) if share.any() else None
    if head is None:
        return played
    near = np.flatnonzero(share)
    times, share, up = steps[near], share[near], body.up
    low, way = body.low(played, times, "head")[:, 0], head.way(played, times)
    stays = (1.0 - share) * np.maximum(low, 0.0)
    if np.max(low - stays) <= NEARLY_LEGS * body.leg:
        return played
    level = way - (way @ up)[:, None] * up
    long, wide = (np.linalg.norm(each, axis=1) for each in (way, level))
    axes = np.cross(up, level / np.maximum(wide, 1e-30)[:, None])  # about which the head goes down
    angles = np.zeros(len(near))
    for _ in range(ROUNDS):
        angles = np.clip(angles + np.arctan((low - stays) / np.maximum(wide, LEVEL_SHARE * long)), 0.0, _MOST_NOD_RAD)
        low = body.low(head.bent(played, times, axes, angles), times, "head")[:, 0]
    bends = np.zeros(len(steps))
    bends[near] = angles
    bends = smoothed(steps, bends[None], BODY_S, lo=0.0, hi=bends)[0]  # not farther, or the head would be in the ground
    return head.bent(played, times, axes, bends[near])
