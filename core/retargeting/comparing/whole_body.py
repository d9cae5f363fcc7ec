"""Limbs whose bones are not descendants of the body they belong to, such as feet that are IK targets of the legs.

Clips are retargeted to a body to which these limbs are attached, so that legs lead and lift their feet. The result is
then converted to the rig's own hierarchy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.keyed import FINE_S, by_joint, in_steps, key_times, packed_by_joint, poses_at
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray, merged
from ...skeletons import hanim
from ...skeletons.hierarchy import is_descendant, parents_first, path_to_root, with_ancestors
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton, world_from_pose
from ...skeletons.skin_sample import SkinSample
from ..limbs import runs_of_frames
from ..skin_points import SkinPoints


@dataclass(frozen=True, eq=False)
class WholeBody:
    """A skeleton, and a copy with the same joints and rest pose, in which each limb is a child of its part of the body.

    own: the original skeleton. skeleton: the copy. order: (J,) the joint of own for each joint of the copy. loose: (C,)
    joints of the copy that have another parent in own.
    """

    own: Skeleton
    skeleton: Skeleton
    order: IntArray
    loose: IntArray

    @classmethod
    def of(cls, own: Skeleton, found: SkeletonMap) -> WholeBody:
        """Attach each joint that is no descendant of its H-Anim ancestor to that ancestor. found: the map of own.

        An unsure map attaches nothing. No joint is attached to its own descendant.
        """
        joint_of = found.joint_of if found.is_sure else {}
        parents = own.parents.copy()
        for name, joint in joint_of.items():
            above = hanim.PARENTS[name]
            while above is not None and above not in joint_of:
                above = hanim.PARENTS[above]
            on = joint_of[above] if above is not None else -1
            if on >= 0 and not is_descendant(own.parents, joint, on) and joint not in path_to_root(parents, on):
                parents[joint] = on
        if np.array_equal(parents, own.parents):
            return cls.as_own(own)
        order = np.array(parents_first(parents), dtype=np.int64)
        loose = np.flatnonzero((parents != own.parents)[order])
        return cls(own, _hung(own, parents, order, loose), order, loose)

    @classmethod
    def as_own(cls, own: Skeleton) -> WholeBody:
        """Return the whole body of a skeleton without loose joints, which is the skeleton itself."""
        return cls(own, own, np.arange(len(own)), np.zeros(0, dtype=np.int64))

    def map(self, found: SkeletonMap) -> SkeletonMap:
        """Convert a map of the original skeleton to the whole body's skeleton."""
        order = self.order.tolist()
        return found if not len(self.loose) else replace(
            found, skeleton=self.skeleton, meant=tuple(found.meant[joint] for joint in order),
            certainties=tuple(found.certainties[joint] for joint in order),
            pose=None if found.pose is None else found.pose[order])

    def points(self, skin: SkinPoints) -> SkinPoints:
        """Return skin points of the original skeleton for the whole body's."""
        return skin.renumbered(np.argsort(self.order)) if len(self.loose) else skin

    def sample(self, skin: SkinSample) -> SkinSample:
        """Do the same for a skin sample; in model space the joints of both skeletons have the same axes."""
        return replace(skin, joints=np.argsort(self.order)[skin.joints])

    def as_it_is(self, clip: Clip) -> Clip:
        """Return a clip of the whole body on the original skeleton, in the same rest pose."""
        if not len(self.loose):
            return clip
        times, turns, away = self._keys(clip)
        own = self.order.tolist()

        def tracks(old: Tracks, of_loose: FloatArray | None = None) -> Tracks:
            keys = {own[joint]: each for joint, each in by_joint(old).items()}
            if of_loose is not None:
                keys |= {own[joint]: (times, of_loose[:, i]) for i, joint in enumerate(self.loose.tolist())}
            return packed_by_joint(keys, old.channels)

        return replace(clip, skeleton=self.own, rotations=tracks(clip.rotations, turns),
                       translations=tracks(clip.translations, away), scales=tracks(clip.scales))

    def _keys(self, clip: Clip) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return key times of loose joints on the original skeleton, (K,), and their keys, (K, C, 4) and (K, C, 3)."""
        number = self.order[self.loose]
        above = np.append(np.argsort(self.order), -1)[self.own.parents[number]]  # the last one stands for "none"
        kept = with_ancestors(self.skeleton.parents, np.concatenate((self.loose, above)))
        times = key_times(clip.rotations, clip.translations, clip.scales, joints=kept)
        if times[-1] > 0.0:
            times = merged(times, in_steps(clip.duration_s, FINE_S))
        part, here = clip.part(kept), np.searchsorted(kept, self.loose)
        there = np.where(above >= 0, np.searchsorted(kept, above), len(kept))
        turns, positions = np.empty((len(times), len(here), 4)), np.empty((len(times), len(here), 3))
        for run in runs_of_frames(len(times)):
            world = world_from_pose(part.skeleton, poses_at(part, times[run]))
            world = np.concatenate((world, np.broadcast_to(np.eye(3, 4), (len(world), 1, 3, 4))), axis=1)
            turns[run], positions[run], _ = _seen(world[:, there], world[:, here])
        turns = rot.multiply(rot.conjugate(self.own.rest_rotations[number]), turns)
        return times, rot.continuous(turns), positions - self.own.rest_translations[number]


def _hung(own: Skeleton, parents: IntArray, order: IntArray, loose: IntArray) -> Skeleton:
    """Return a skeleton in another order whose loose joints have other parents and the same rest positions."""
    turns, positions, scales = (values[order] for values in
                                (own.rest_rotations, own.rest_translations, own.rest_scales))
    joints, above = order[loose], parents[order[loose]]
    turns[loose], positions[loose], scales[loose] = _seen(own.rest_world[above], own.rest_world[joints])
    number = np.append(np.argsort(order), -1)  # the last one stands for "none"
    return Skeleton(tuple(own.names[joint] for joint in order.tolist()), number[parents[order]], turns, positions,
                    scales, own.name, own.meant)


def _seen(above: FloatArray, world: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return joints relative to others as rotations (..., 4), positions (..., 3) and scales (..., 3).

    above, world: (..., 3, 4) matrices of the others and of the joints.
    """
    away = world.copy()
    away[..., 3] -= above[..., 3]
    local: FloatArray = np.asarray(np.linalg.solve(above[..., :3], away), dtype=np.float64)
    scales = np.linalg.norm(local[..., :3], axis=-2)
    return rot.from_exact_matrix(local[..., :3] / scales[..., None, :]), local[..., 3], scales
