"""The meshes that are written for a character: those that it deforms, and those attached to its bones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np

from ...core.formats.character import rigid
from ...core.maths.arrays import FloatArray
from ...core.skinning.influences import Influences
from ..meshes import groups, mesh
from ..meshes.attached import Attachment, attachment_of
from ..rigs.armature import read_skin

_WITHOUT_MESH = {"CURVE": "a curve", "SURFACE": "a surface", "FONT": "text", "META": "a metaball", "CURVES": "hair",
                 "POINTCLOUD": "a point cloud", "VOLUME": "a volume", "GREASEPENCIL": "Grease Pencil",
                 "GPENCIL": "Grease Pencil"}
"""Kinds of visible objects that are no meshes, with their names in messages."""
_LONGEST_CHAIN = 64


@dataclass(frozen=True, eq=False)
class WrittenMesh:
    """A mesh object to be written.

    matrix: (4, 4) from its space to the armature's, with the bones at rest. bone: the one that it is attached to,
    or ""; weights: whether vertex groups move it.
    """

    object: bpy.types.Object
    matrix: FloatArray
    bone: str = ""
    has_weights: bool = False

    @property
    def is_still(self) -> bool:
        """Whether it is attached to the armature itself, so that no bone moves it."""
        return not self.has_weights and not self.bone

    def influences(self, armature_object: bpy.types.Object, names: tuple[str, ...]) -> Influences:
        """Return the influences on its vertices; names: of the bones, joint by joint."""
        count = len(cast(bpy.types.Mesh, self.object.data).vertices)
        if self.has_weights:
            bones = (bone.name for bone in cast(Any, armature_object.data).bones)
            deforms = dict(zip(bones, read_skin(armature_object), strict=True))
            return groups.read_influences(self.object, [name if deforms.get(name) else "" for name in names])
        if self.bone in names:
            return rigid(names.index(self.bone), count)
        return Influences(np.zeros((count, 1), np.int64), np.zeros((count, 1)))


def written_meshes(armature_object: bpy.types.Object) -> tuple[list[WrittenMesh], list[str]]:
    """Return the visible meshes that an armature deforms, then those attached to it, and messages about others."""
    scene = bpy.context.scene
    skins, props, said = list[WrittenMesh](), list[WrittenMesh](), list[str]()
    for ob in scene.objects if scene is not None else ():
        if not ob.visible_get() or not _is_seen(ob):
            continue
        is_deformed = ob.find_armature() == armature_object
        attachment = None if is_deformed else attachment_of(ob)
        if not is_deformed and (attachment is None or not _is_of(attachment, armature_object)):
            continue
        if reason := _left_out(ob, attachment, armature_object):
            said.append(f"'{ob.name}' {reason}")
            continue
        matrix = mesh.armature_from_object(ob, armature_object)
        if attachment is None:
            skins.append(WrittenMesh(ob, matrix, has_weights=True))
        else:
            props.append(WrittenMesh(ob, _at_rest(armature_object, attachment.bone) @ matrix, attachment.bone))
            if any(each.animation_data is not None and each.animation_data.action is not None
                   for each in _up_to(ob, armature_object)):
                said.append(f"'{ob.name}' has keys of its own, which are not written: it stays on "
                            f"'{attachment.bone or armature_object.name}' as it is now")
        keys = cast(Any, ob.data).shape_keys
        if keys is not None and len(keys.key_blocks) > 1:
            said.append(f"'{ob.name}' is written without its {len(keys.key_blocks) - 1} shape keys, in the shape of "
                        f"'{keys.reference_key.name}'")
        if any(modifier.type != "ARMATURE" and modifier.show_viewport for modifier in ob.modifiers):
            said.append(f"'{ob.name}' is written without its modifiers")
    return skins + props, said


def _is_seen(ob: bpy.types.Object) -> bool:
    return ob.type == "MESH" or ob.type in _WITHOUT_MESH or (ob.type == "EMPTY" and ob.instance_collection is not None)


def _is_of(attachment: Attachment, armature_object: bpy.types.Object) -> bool:
    """Return whether an object is attached to an armature, directly or through another armature."""
    found: Attachment | None = attachment
    for _ in range(_LONGEST_CHAIN):
        if found is None or found.armature == armature_object:
            return found is not None
        found = attachment_of(found.armature)
    return False


def _left_out(ob: bpy.types.Object, attachment: Attachment | None, armature_object: bpy.types.Object) -> str:
    """Return why an object cannot be written, "" if it can."""
    if ob.type in _WITHOUT_MESH:
        return f"is {_WITHOUT_MESH[ob.type]} and is left out: convert it to a mesh first (Object > Convert)"
    if ob.type == "EMPTY":
        return "is an instance of a collection and is left out: make it real first (Object > Apply)"
    other = ob.find_armature()
    if other is not None and other != armature_object:
        return f"is deformed by '{other.name}', another armature, and is left out"
    if attachment is None:
        return ""
    if attachment.armature != armature_object:
        return f"hangs on '{attachment.armature.name}', another armature, and is left out"
    if any(each.parent_type in ("VERTEX", "VERTEX_3") for each in _up_to(ob, armature_object)):
        return "follows vertices and is left out: parent it to a bone"
    return ""


def _up_to(ob: bpy.types.Object, armature_object: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield an object and its ancestors below an armature."""
    above: bpy.types.Object | None = ob
    for _ in range(_LONGEST_CHAIN):
        if above is None or above == armature_object:
            return
        yield above
        above = above.parent


def _at_rest(armature_object: bpy.types.Object, bone: str) -> FloatArray:
    """Return the matrix (4, 4) that moves an object on a bone from its current place to that at rest."""
    if not bone or bone not in cast(Any, armature_object.data).bones:
        return np.eye(4)
    rest = np.array(cast(Any, armature_object.data).bones[bone].matrix_local, dtype=np.float64)
    posed = np.array(cast(Any, armature_object.pose).bones[bone].matrix, dtype=np.float64)
    return np.asarray(rest @ np.linalg.pinv(posed))
