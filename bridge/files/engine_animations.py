"""Sampled procedures as animations of a glTF file. Blender's exporter would evaluate the scene at each frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import bpy

from ...core.formats.gltf_animations import Animation
from ..actions.procedure_actions import Sampled
from ..rigs import bone_rules, constraints

_PATHS: Final = {"location": "translation", "rotation_quaternion": "rotation", "scale": "scale"}


def is_moved_by_keys_alone(armature_object: bpy.types.Object, played: Sequence[Sampled]) -> bool:
    """Return whether the poses of bones follow from keys of them and their parents alone.

    That is: no constraints and drivers, all of the parent's transform is inherited, and rotations are quaternions.
    """
    armature, rules = cast(bpy.types.Armature, armature_object.data), bone_rules.read_rules(armature_object)
    drivers = [each.animation_data for each in (armature_object, armature)]
    return (all(each is None or not len(each.drivers) for each in drivers)
            and not constraints.controlled_bones(armature_object, unmuted=True)
            and rules.inheritance is None and not rules.shifted_by_parent
            and all(bone.inherit_scale == "FULL" for bone in armature.bones)  # others differ under uneven scales
            and all(path in _PATHS for each in played if each.channels is not None
                    for path, *_ in each.channels.curves))


def animations_of(played: Sequence[Sampled], fps: float) -> list[Animation]:
    """Return procedures as animations."""
    found = []
    for each in played:
        assert each.channels is not None  # the caller leaves out procedures that cannot be played
        found.append(Animation(each.procedure, each.channels.frames / fps, {
            (name, _PATHS[path]): values[:, index]
            for path, names, values, _ in each.channels.curves for index, name in enumerate(names)}))
    return found
