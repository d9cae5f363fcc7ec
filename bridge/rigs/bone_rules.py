"""Rules for keys of an armature's bones: their rotation modes, and their inheritance from parents."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

import bpy
import numpy as np

from ...core.clips.clip import Clip, Tracks
from ...core.skeletons.hierarchy import with_descendants
from ...core.skeletons.inheritance import Inheritance
from ...core.skeletons.skeleton import Skeleton
from .. import properties

_OWN_SCALE = ("NONE", "NONE_LEGACY")
"""Values of Bone.inherit_scale without inheritance; all others are equal if parents scale evenly."""
_FAR = 0.01
"""Share of the skeleton's height; smaller lost translations are not reported."""


class BoneRules(NamedTuple):
    """Bones whose rotation mode, inheritance or location differs from the default.

    moved, resting: rotation modes of moved and of resting bones, where these do not use quaternions.
    inheritance: bones that do not inherit the parent's whole transform; None if all do.
    shifted_by_parent: bones whose locations are in the parent's axes, as core's translations are.
    connected: bones that stay attached to their parents, whatever is keyed.
    """

    moved: Mapping[str, str] = {}
    resting: Mapping[str, str] = {}
    inheritance: Inheritance | None = None
    shifted_by_parent: frozenset[str] = frozenset()
    connected: frozenset[str] = frozenset()

    def tell_more(self, skeleton: Skeleton, rotations: Tracks, scales: Tracks) -> bool:
        """Return whether keys of these bones give another pose than with full inheritance."""
        if self.inheritance is None:
            return False
        below = [with_descendants(skeleton.parents, tracks.joints) for tracks in (rotations, scales)]
        alone = (self.inheritance.turns_alone, self.inheritance.scales_alone)
        return any(bool((one & own & (skeleton.parents >= 0)).any()) for one, own in zip(below, alone, strict=True))


ORDINARY = BoneRules()


def read_rules(armature_object: bpy.types.Object) -> BoneRules:
    """Return the rules of an armature's bones."""
    assert armature_object.pose is not None
    own = {bone.name: str(bone.rotation_mode) for bone in armature_object.pose.bones
           if bone.rotation_mode != "QUATERNION"}
    bones = cast(bpy.types.Armature, armature_object.data).bones
    turns_alone = np.array([not bone.use_inherit_rotation for bone in bones], dtype=np.bool_)
    scales_alone = np.array([bone.inherit_scale in _OWN_SCALE for bone in bones], dtype=np.bool_)
    return BoneRules(own if properties.character(armature_object).rotations == "AS_RIG" else {}, own,
                     Inheritance(turns_alone, scales_alone) if (turns_alone | scales_alone).any() else None,
                     frozenset(bone.name for bone in bones if not bone.use_local_location),
                     frozenset(bone.name for bone in bones if bone.use_connect and bone.parent is not None))


def held_back(armature_object: bpy.types.Object, clips: Iterable[Clip]) -> tuple[str, ...]:
    """Return the bones that clips on an armature's skeleton translate, but that are connected to their parents."""
    connected, found = read_rules(armature_object).connected, set[str]()
    for clip in clips if connected else ():
        height = float(np.ptp(clip.skeleton.rest_world[:, :, 3], axis=0).max(initial=0.0))
        is_far = np.abs(clip.translations.values).max(axis=1) > _FAR * height
        shifted = np.repeat(clip.translations.joints, np.diff(clip.translations.starts))[is_far]
        found |= connected & {clip.skeleton.names[joint] for joint in set(shifted.tolist())}
    return tuple(sorted(found))
