"""The armature and meshes for Auto-bind, and why they cannot be bound: all is checked before the first write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

from ...core.errors import BindError
from .armature_modifiers import earlier_armatures

_MODES_THAT_ALLOW_GROUPS = frozenset({"OBJECT", "POSE", "WEIGHT_PAINT"})
_OTHER_SHAPES = frozenset({"CURVE", "CURVES", "SURFACE", "META", "FONT", "LATTICE", "POINTCLOUD", "VOLUME", "GPENCIL",
                           "GREASEPENCIL"})
SKELETON_CHANGED = "The skeleton was changed while the meshes were being bound; bind them again"
_SAME_PLACE = 0.02
"""An armature is posed if a bone is farther from its rest position than this share of the armature's size. Constraints
of a control rig move bones by less."""

_SINGULAR_BELOW = 1e-30
"""Determinants below this count as a scale of 0; a scale of 1e-10 in each direction is still valid."""


def selection(context: bpy.types.Context) -> tuple[bpy.types.Object | None, list[bpy.types.Object]]:
    """Return the active armature, else the only selected one, and the selected meshes.

    Objects parented to a bone, such as a sword, are left out unless nothing else is selected.
    """
    selected = context.selected_objects
    armatures = [ob for ob in selected if ob.type == "ARMATURE"]
    active = context.active_object
    if active is not None and active.type == "ARMATURE":
        armatures = [active]
    meshes = [ob for ob in selected if ob.type == "MESH"]
    return armatures[0] if len(armatures) == 1 else None, [ob for ob in meshes if not _is_prop(ob)] or meshes


def empty_meshes(context: bpy.types.Context) -> list[str]:
    """Return the names of meshes to be bound that have no vertices, and so are left alone."""
    return [ob.name for ob in selection(context)[1] if not cast(bpy.types.Mesh, ob.data).vertices]


def without_empty(mesh_objects: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the meshes that have vertices, or all if none has."""
    return [ob for ob in mesh_objects if cast(bpy.types.Mesh, ob.data).vertices] or list(mesh_objects)


def other_shapes(context: bpy.types.Context) -> list[str]:
    """Return the names of selected objects that have a shape but are no meshes, and so are left alone."""
    return [ob.name for ob in context.selected_objects if ob.type in _OTHER_SHAPES]


def other_armatures(context: bpy.types.Context) -> list[str]:
    """Return the names of selected armatures to which nothing is bound."""
    chosen = selection(context)[0]
    return [ob.name for ob in context.selected_objects if ob.type == "ARMATURE" and ob is not chosen]


def props(context: bpy.types.Context) -> list[str]:
    """Return the names of selected meshes that are left alone, since they are parented to bones."""
    chosen = selection(context)[1]
    return [ob.name for ob in context.selected_objects if ob.type == "MESH" and ob not in chosen]


def _is_prop(ob: bpy.types.Object) -> bool:
    return ob.parent is not None and ob.parent_type == "BONE"


def selection_problem(context: bpy.types.Context) -> str:
    """Return why the selection cannot be bound, or ""; fast enough for every redraw."""
    armature_object, mesh_objects = selection(context)
    if not mesh_objects:
        return "Select the meshes to bind, and the armature"
    if armature_object is None:
        several = any(ob.type == "ARMATURE" for ob in context.selected_objects)
        return "Make one of the selected armatures the active object" if several else \
            "Select an armature as well, or make one: Fit Skeleton"
    return mode_problem([armature_object, *mesh_objects])


def mode_problem(objects: Sequence[bpy.types.Object]) -> str:
    """Return a message about the first object whose mode does not allow writing vertex groups, or ""."""
    edited = next((ob for ob in objects if ob.mode not in _MODES_THAT_ALLOW_GROUPS), None)
    return "" if edited is None else f"'{edited.name}' is being edited: go to Object Mode first"


def already_bound(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object) -> list[str]:
    """Return the names of meshes with vertex groups of the armature's bones; fast enough for every redraw."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    return [ob.name for ob in mesh_objects
            if any((bone := bones.get(group.name)) is not None and bone.use_deform for group in ob.vertex_groups)]


def bends_at_once(armature_object: bpy.types.Object, mesh_objects: Sequence[bpy.types.Object],
                  moving: Sequence[str]) -> bool:
    """Return whether these bones of the armature are posed and will move meshes that it has not moved before."""
    assert armature_object.pose is not None
    if cast(bpy.types.Armature, armature_object.data).pose_position == "REST" or not moving or all(
            ob.find_armature() == armature_object for ob in mesh_objects):
        return False
    bones = [armature_object.pose.bones[name] for name in moving]
    rest = np.array([(bone.bone.head_local, bone.bone.tail_local) for bone in bones])
    posed = np.array([(bone.head, bone.tail) for bone in bones])
    return bool(np.abs(posed - rest).max() > _SAME_PLACE * np.ptp(rest, axis=(0, 1)).max())


def moved_as_well(armature_object: bpy.types.Object,
                  mesh_objects: Sequence[bpy.types.Object]) -> tuple[list[str], set[str]]:
    """Return the names of other meshes that the armature moves, and of the bones whose groups they have."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    meshes, moving = list[str](), set[str]()
    for ob in bpy.data.objects:
        if ob.type == "MESH" and ob not in mesh_objects and ob.users_scene and ob.find_armature() == armature_object:
            own = {group.name for group in ob.vertex_groups if group.name in bones}
            meshes += [ob.name] if own else []
            moving |= own
    return meshes, moving


def left_behind(context: bpy.types.Context, mesh_objects: Sequence[bpy.types.Object],
                armature_object: bpy.types.Object) -> list[list[bpy.types.Object]]:
    """Return for each mesh the armatures from which it is detached: those that are not selected."""
    return Chosen.of(context, armature_object).left_behind(mesh_objects)


@dataclass(frozen=True)
class Chosen:
    """The armature to bind to and all selected armatures, by session_uid, since the selection may change meanwhile."""

    armature: int
    selected: frozenset[int]

    @classmethod
    def of(cls, context: bpy.types.Context, armature_object: bpy.types.Object) -> Chosen:
        """Return the current selection."""
        return cls(armature_object.session_uid,
                   frozenset(ob.session_uid for ob in context.selected_objects if ob.type == "ARMATURE"))

    def armature_object(self) -> bpy.types.Object:
        """Return the armature; raise BindError if it was deleted."""
        found = next((ob for ob in bpy.data.objects if ob.session_uid == self.armature), None)
        if found is None:
            raise BindError(SKELETON_CHANGED)
        return found

    def left_behind(self, mesh_objects: Sequence[bpy.types.Object]) -> list[list[bpy.types.Object]]:
        """Return for each mesh the armatures from which it is detached."""
        kept = [ob for ob in bpy.data.objects if ob.session_uid in self.selected]
        return [earlier_armatures(ob, self.armature_object(), kept) for ob in mesh_objects]


def check_objects(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object,
                  may_share: bool = False) -> None:
    """Raise BindError with the first thing that prevents binding; may_share: whether shared mesh data does not."""
    if not any(bone.use_deform for bone in cast(bpy.types.Armature, armature_object.data).bones):
        raise BindError(f"Armature '{armature_object.name}' has no bone that deforms; "
                        "switch on Deform in the properties of its bones")
    if abs(armature_object.matrix_world.to_3x3().determinant()) < _SINGULAR_BELOW:
        raise BindError(f"Armature '{armature_object.name}' is scaled to nothing; give it a scale")
    for mesh_object in mesh_objects:
        check_mesh(mesh_object, may_share)
        if _is_ancestor(mesh_object, armature_object):
            raise BindError(f"Armature '{armature_object.name}' is a descendant of mesh '{mesh_object.name}'; "
                            "clear its parent first")


def check_mesh(mesh_object: bpy.types.Object, may_share: bool) -> None:
    """Raise BindError with the first reason why the mesh's vertex groups cannot be written, for any armature."""
    mesh, name = cast(bpy.types.Mesh, mesh_object.data), mesh_object.name
    if any(block.library or block.override_library for block in (mesh_object, mesh)):
        raise BindError(f"Mesh '{name}' is linked from another file; make it local (Object > Relations > Make Local)")
    if not may_share and mesh.users - mesh.use_fake_user > 1:
        raise BindError(f"Mesh '{name}' shares its data with other objects, and groups belong to the data; "
                        "make it single-user (Object > Relations > Make Single User)")
    if len(mesh.vertices) == 0:
        raise BindError(f"Mesh '{name}' has no vertices; deselect it")


def _is_ancestor(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> bool:
    parent = armature_object.parent
    while parent is not None and parent != mesh_object:
        parent = parent.parent
    return parent is not None
