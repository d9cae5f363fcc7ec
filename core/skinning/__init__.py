"""Skinning: how a mesh follows its skeleton. This is the reference for the shaders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..maths.arrays import FloatArray
from .dual_quaternion import skin_dual_quaternion
from .influences import Influences
from .linear import skin_linear
from .palette import Palette
from .rigid import skin_rigid

Skin = Callable[[Palette, Influences, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class SkinningMethod:
    """A skinning method that the user can choose."""

    label: str
    description: str
    skin: Skin


SKINNING_METHODS: dict[str, SkinningMethod] = {
    "LINEAR": SkinningMethod(
        "Linear", "Blend the bones' matrices by weight, as Blender's Armature modifier does", skin_linear),
    "DUAL_QUATERNION": SkinningMethod(
        "Dual Quaternion", "Blend rigid motions: twisted limbs keep their volume, strongly bent joints bulge a little; "
        "as the modifier's Preserve Volume", skin_dual_quaternion),
    "RIGID": SkinningMethod("Rigid", "Follow the strongest bone alone", skin_rigid),
}
"""In the order shown; LINEAR is the default."""

__all__ = ["SKINNING_METHODS", "Palette", "SkinningMethod", "skin_dual_quaternion", "skin_linear", "skin_rigid"]
