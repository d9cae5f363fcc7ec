"""Arms stay outside a stout trunk, as far as they are outside in the clip.

Limbs point as in the clip, so a slim body's arms go into a stout body's belly and hips. Where elbow, forearm or hand
would be deeper in the target's trunk than they are in the source's, the wrist is moved out by shoulder and elbow, and
the elbow swings aside about the line from shoulder to wrist; hands stay turned as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, poses_at
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import is_descendant, with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, world_from_pose
from .limbs import Limb, keys_where_moved, largest, reach, runs_of_frames, turned_limb, with_rotations
from .loose import part_of
from .skin_points import SkinPoints
from .trunk import Trunk, limb_radius

_SOFT: Final = 0.01
"""Of the trunk's length: arms begin to be moved that little before they touch, where they are by as much nearer than in
the clip. Trunks that bend by different joints do not agree better."""
_STILL: Final = 1e-5
_CENTRE: Final = 0.1
_USUAL_RADIUS: Final = 0.07
"""Of an arm, in lengths of the trunk."""
_STRAIGHT: Final = (0.9, 0.99)
"""Of its length: an arm that is so long from shoulder to wrist moves as a whole rather than swing its elbow."""
_MOST_RAD: Final = np.radians(60.0)
_LEAST_BENT: Final = 0.1
"""Of the upper arm: an elbow that is nearer to the line from shoulder to wrist swings less."""
_BY_FOREARM: Final = 1.5
"""A wrist moves by so much more than the middle of its forearm has to: the elbow hardly goes along."""
_ROUNDS: Final = 3


@dataclass(frozen=True, eq=False)
class ArmsBesideTrunk:
    """Arms and trunk of a clip's body, without its other joints.

    clip: of these joints alone, which are kept (K,) of the whole. trunks: the trunk as each arm sees it: its centre is
    towards the other arm, so that no hand passes it. arms: their limbs; palms: for each the joint that counts for the
    hand. radius: of an arm, in lengths of the trunk.
    """

    clip: Clip
    kept: IntArray
    trunks: tuple[Trunk, ...]
    arms: tuple[Limb, ...]
    palms: tuple[int, ...]
    radius: float

    @classmethod
    def of(cls, clip: Clip, found: SkeletonMap, skin: SkinPoints | None) -> ArmsBesideTrunk | None:
        """Return it for a clip on the skeleton of a map; None where the trunk or an arm is not known."""
        known = [Limb.of(found, side, ("shoulder", "elbow", "wrist")) for side in "lr"]
        arms = [limb for limb in known if limb is not None]
        seen = [Trunk.of(found, found.skeleton, skin, centre) for centre in (-_CENTRE, _CENTRE)]
        trunks = [trunk for trunk in seen if trunk is not None]
        if len(trunks) < 2 or len(arms) < 2:
            return None
        trunk = trunks[0]
        parents, joint_of = found.skeleton.parents, found.joint_of
        palms = [joint_of.get(f"{side}_middle1", arm.last) for side, arm in zip("lr", arms, strict=True)]
        palms = [palm if is_descendant(parents, palm, arm.last) else arm.last
                 for palm, arm in zip(palms, arms, strict=True)]
        wanted = [*trunk.joints.tolist(), *palms, *(joint for arm in arms for joint in arm.joints)]
        kept = with_ancestors(parents, np.array(wanted))
        row = {int(joint): i for i, joint in enumerate(kept)}
        radii = [limb_radius(skin, found.skeleton, (arm.middle, arm.last), _USUAL_RADIUS * trunk.length)
                 for arm in arms]
        part = part_of(found.skeleton, kept, clip.rotations, clip.translations)
        joints = np.array([row[int(joint)] for joint in trunk.joints])
        limbs = tuple(Limb(*(row[joint] for joint in arm.joints)) for arm in arms)
        return cls(part, kept, tuple(replace(trunk, joints=joints) for trunk in trunks), limbs,
                   tuple(row[palm] for palm in palms), float(np.mean(radii)) / trunk.length)

    def outside(self, world: FloatArray, side: int) -> tuple[FloatArray, FloatArray]:
        """Return how far elbow, forearm, wrist and palm are outside, (F, 4) in lengths, and where is out, (F, 4, 3)."""
        elbow, wrist, palm = (world[:, joint, :, 3] for joint in
                              (self.arms[side].middle, self.arms[side].last, self.palms[side]))
        points = np.stack((elbow, (elbow + wrist) / 2.0, wrist, palm), axis=1)
        outside, directions = self.trunks[side].outside(world, points)
        return outside - self.radius, directions

    def allowed(self, outside: FloatArray, side: int) -> FloatArray:
        """Return how far outside an arm has to be at least, (F, 4), that is as far as (F, 4) elsewhere.

        No further than it is when it is stretched half aside and half down: short and thick arms are inside even so.
        """
        return np.asarray(np.minimum(outside, self._most[side]) - _SOFT)

    def is_deeper(self, world: FloatArray, side: int, allowed: FloatArray) -> BoolArray:
        """Tell in which frames (F,) anything of an arm is less far outside than is allowed (F, 4)."""
        return np.asarray(self.pushes(world, side, allowed).any(axis=(1, 2)))

    def pushes(self, world: FloatArray, side: int, allowed: FloatArray) -> FloatArray:
        """Return by how much they are to be moved out, (F, 4, 3) in lengths of the trunk: at first softly."""
        outside, directions = self.outside(world, side)
        deeper, soft = allowed - outside, _SOFT
        push = np.where(deeper < 2.0 * soft, np.maximum(deeper, 0.0) ** 2 / (4.0 * soft), deeper - soft)
        return np.where(push > _STILL, push, 0.0)[..., None] * directions

    @cached_property
    def _most(self) -> FloatArray:
        return np.minimum(np.stack([self._outside_half_aside(side) for side in range(len(self.arms))]), 3.0 * _SOFT)

    def _outside_half_aside(self, side: int) -> FloatArray:
        rest = self.clip.skeleton.rest_world
        first, middle, last, palm = (rest[joint, :, 3] for joint in (*self.arms[side].joints, self.palms[side]))
        lengths = np.linalg.norm(np.diff((first, middle, last, palm), axis=0), axis=1)
        trunk = self.trunks[side]
        left, up = trunk.axes[:2]
        aside = (np.sign((first - trunk.origin) @ left) * left - up) / np.sqrt(2.0)
        far = np.array((lengths[0], lengths[0] + lengths[1] / 2.0, lengths[:2].sum(), lengths.sum()))
        outside, _ = trunk.outside(rest[None], (first + far[:, None] * aside)[None])
        return np.asarray(outside[0] - self.radius)


def with_arms_outside(played: Clip, target_map: SkeletonMap, skin: SkinPoints | None, source: Clip,
                      source_map: SkeletonMap) -> Clip:
    """Return what is played with arms that are no deeper in the trunk than in the source.

    played: on the skeleton of target_map, as the skin rests. source: the clip as it was compared, in the target's axes,
    on that of source_map. Where trunk or arms of one of them are not known, or no arm is deeper, it stays as it is.
    """
    here, there = ArmsBesideTrunk.of(played, target_map, skin), ArmsBesideTrunk.of(source, source_map, None)
    if here is None or there is None:
        return played
    keyed = [tracks.times_s for body in (here, there) for tracks in (body.clip.rotations, body.clip.translations)]
    times = filled(np.unique(np.concatenate([*keyed, (0.0, played.duration_s)])).clip(0.0, played.duration_s))
    pose, their_pose = poses_at(here.clip, times), poses_at(there.clip, times)
    allowed, deeper = np.empty((2, len(times), 4)), np.empty((2, len(times)), dtype=np.bool_)
    for run in runs_of_frames(len(times)):
        ours, theirs = world_from_pose(here.clip.skeleton, pose.at(run)), world_from_pose(there.clip.skeleton,
                                                                                          their_pose.at(run))
        for side in range(len(here.arms)):
            allowed[side, run] = here.allowed(there.outside(theirs, side)[0], side)
            deeper[side, run] = here.is_deeper(ours, side, allowed[side, run])
    new: dict[int, tuple[FloatArray, FloatArray]] = {}
    for side in np.flatnonzero(deeper.any(axis=1)).tolist():
        rows, turns = np.flatnonzero(deeper[side]), pose.rotations.copy()
        for run in runs_of_frames(len(rows)):
            turns[rows[run]] = moved_out(here, side, pose.at(rows[run]), allowed[side, rows[run]])
        keys = keys_where_moved(here.clip, played.duration_s, here.arms[side], times, turns, deeper[side])
        new |= {int(here.kept[joint]): kept for joint, kept in keys.items()}
    return with_rotations(played, new) if new else played


def moved_out(body: ArmsBesideTrunk, side: int, pose: Pose, allowed: FloatArray) -> FloatArray:
    """Return rotations (F, J, 4) of poses in which an arm is as far outside as is allowed (F, 4), where it was not.

    pose: of the joints that are kept.
    """
    arm, skeleton = body.arms[side], body.clip.skeleton
    for _ in range(_ROUNDS):
        world = world_from_pose(skeleton, pose)
        pushes = body.pushes(world, side, allowed) * body.trunks[side].length
        first, middle, last = (world[:, joint, :, 3] for joint in arm.joints)
        bones = np.linalg.norm(middle - first, axis=1), np.linalg.norm(last - middle, axis=1)
        reached = np.linalg.norm(last - first, axis=1) / (bones[0] + bones[1])
        straight = np.clip((reached - _STRAIGHT[0]) / (_STRAIGHT[1] - _STRAIGHT[0]), 0.0, 1.0)
        of_wrist = pushes.copy()
        of_wrist[:, 0] *= (straight * (bones[0] + bones[1]) / bones[0])[:, None]
        of_wrist[:, 1] *= _BY_FOREARM
        reach(body.clip, pose.rotations, world, arm, largest(of_wrist))
        _swing(body, side, pose, allowed)
    return pose.rotations


def _swing(body: ArmsBesideTrunk, side: int, pose: Pose, allowed: FloatArray) -> None:
    """Turn an arm about the line from its shoulder to its wrist, so that its elbow is outside."""
    arm, world = body.arms[side], world_from_pose(body.clip.skeleton, pose)
    push = body.pushes(world, side, allowed)[:, 0] * body.trunks[side].length
    first, middle, last = (world[:, joint, :, 3] for joint in arm.joints)
    line = (last - first) / np.maximum(np.linalg.norm(last - first, axis=1, keepdims=True), 1e-30)
    out = middle - first - line * np.sum((middle - first) * line, axis=1, keepdims=True)
    radius = np.linalg.norm(out, axis=1)
    least = _LEAST_BENT * np.linalg.norm(middle - first, axis=1)
    aside = np.cross(line, out) / np.maximum(radius, 1e-30)[:, None]
    angle = np.clip(np.sum(push * aside, axis=1) / np.maximum(radius, least), -_MOST_RAD, _MOST_RAD)
    turn = rot.from_axis_angle(line, angle * np.clip(radius / least, 0.0, 1.0))
    turned_limb(body.clip.skeleton, pose.rotations, world, arm, turn)
