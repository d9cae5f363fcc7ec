"""Objects that are children of a bone of the character itself, such as an empty at its mouth."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.errors import TaktError, quoted
from ...core.playing.scene.cast import OwnPlace
from .. import properties
from ..rigs import object_courses

_NO_LENGTH = 1e-12


def found(target: bpy.types.Object, armature_object: bpy.types.Object) -> OwnPlace | None:
    """Return the place of an object on the character's bone of which it is a descendant; None if it is of none.

    The place is that at the frame at which the score begins. Raises TaktError if its position is not finite.
    """
    chain = object_courses.links(target)
    bones = [number for number, link in enumerate(chain) if isinstance(link.owner, bpy.types.PoseBone)]
    if not bones or chain[bones[-1]].owner.id_data != armature_object:
        return None
    bone, frames = chain[bones[-1]].owner, np.array((float(properties.character(armature_object).frame_start),))
    assert isinstance(bone, bpy.types.PoseBone)
    at = np.eye(4)
    at[1, 3] = bone.bone.length  # Blender places a bone's children at its tail
    for link in chain[bones[-1] + 1:]:
        own = link.owner
        assert isinstance(own, bpy.types.Object)
        at = at @ np.array(own.matrix_parent_inverse, dtype=np.float64) @ object_courses.basis(
            own, link.curves, frames)[0]
    if not np.isfinite(at).all():
        raise TaktError(f"the location of {quoted(target.name)} is not a number: clear it (Object > Clear)")
    up = at[:3, 2] / max(float(np.linalg.norm(at[:3, 2])), _NO_LENGTH)
    return OwnPlace(bone.name, object_courses.point(at[:3, 3]), up=object_courses.point(up) if up.any() else None)
