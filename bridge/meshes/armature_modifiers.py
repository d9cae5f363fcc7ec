"""Attach a bound mesh to its armature: as its parent, with one Armature modifier, detached from other skeletons."""

from collections.abc import Collection, Iterator
from typing import Any, cast

import bpy
from mathutils import Matrix

from ..versions import node_inputs

_SIMULATED = frozenset({"REMESH", "CLOTH", "SOFT_BODY", "CORRECTIVE_SMOOTH"})
"""Modifiers that lose the vertex groups, or need the bent mesh: after them, an Armature modifier moves nothing, or
wrong parts."""

_AFTER_BENDING = _SIMULATED | {"SUBSURF", "MULTIRES", "NODES", "LAPLACIANSMOOTH", "COLLISION", "PARTICLE_SYSTEM"}


def earlier_armatures(mesh_object: bpy.types.Object, armature_object: bpy.types.Object,
                      kept: Collection[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the armatures from which a mesh is detached when it is bound to another one.

    Empty if it follows that one already, since an additional armature, as for a face, is then intended. Without `kept`.
    Fast enough for every redraw.
    """
    followed = [modifier.object for modifier in _armature_modifiers(mesh_object)
                if modifier.object is not None and (modifier.show_viewport or modifier.show_render)]
    if mesh_object.parent is not None and mesh_object.parent_type == "ARMATURE":  # deforms it without a modifier
        followed.append(mesh_object.parent)
    if armature_object in followed:
        return []
    return [ob for ob in dict.fromkeys(followed) if ob not in kept]


def attach(mesh_object: bpy.types.Object, armature_object: bpy.types.Object,
           earlier: Collection[bpy.types.Object] = ()) -> int:
    """Parent the mesh to the armature without moving it, and let one Armature modifier deform it.

    It replaces the modifiers of the earlier armatures. The groups of their bones are removed, unless they are locked,
    used elsewhere, or belong to a bone that still moves the mesh. Returns the number of removed groups.
    A modifier behind Remesh, Cloth, Soft Body or Corrective Smooth is moved ahead of them.
    """
    _parent(mesh_object, armature_object)
    found = _armature_modifiers(mesh_object)
    own = [modifier for modifier in found if modifier.object in (armature_object, None)]
    left = [modifier for modifier in found if modifier.object in earlier]
    if not own and left:
        left[0].show_viewport = left[0].show_render = True
        left[0].vertex_group = ""  # its mask was painted for the earlier armature
        own.append(left.pop(0))
    for modifier in left:
        mesh_object.modifiers.remove(modifier)
    modifier = own[0] if own else _add_modifier(mesh_object)
    _move_ahead(mesh_object, modifier, _SIMULATED if own else _AFTER_BENDING)
    modifier.object = armature_object
    modifier.use_vertex_groups = True
    return _remove_groups(mesh_object, earlier) if earlier else 0


def _armature_modifiers(mesh_object: bpy.types.Object) -> list[bpy.types.ArmatureModifier]:
    return [modifier for modifier in mesh_object.modifiers if isinstance(modifier, bpy.types.ArmatureModifier)]


def _parent(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> None:
    """Make the armature the parent as Blender does: location, rotation and scale stay, the parent inverse is adapted.

    world = parent · inverse · basis must stay as it is, shear included.
    """
    if mesh_object.parent == armature_object and mesh_object.parent_type in {"OBJECT", "ARMATURE"}:
        return
    parent_from_world = armature_object.matrix_world.inverted()
    world_from_parented = Matrix() if mesh_object.parent is None else (
        mesh_object.matrix_world @ mesh_object.matrix_basis.inverted_safe())
    mesh_object.parent = armature_object
    mesh_object.parent_type = "OBJECT"
    mesh_object.matrix_parent_inverse = parent_from_world @ world_from_parented


def _add_modifier(mesh_object: bpy.types.Object) -> bpy.types.ArmatureModifier:
    modifier = mesh_object.modifiers.new("Armature", "ARMATURE")
    assert isinstance(modifier, bpy.types.ArmatureModifier)
    return modifier


def _move_ahead(mesh_object: bpy.types.Object, modifier: bpy.types.ArmatureModifier, others: Collection[str]) -> None:
    """Move the modifier ahead of those of these types, but not ahead of a Mirror modifier that precedes it."""
    types = [other.type for other in mesh_object.modifiers]
    now = mesh_object.modifiers.find(modifier.name)
    after_mirrors = 1 + max((i for i, kind in enumerate(types[:now]) if kind == "MIRROR"), default=-1)
    first = next((i for i, kind in enumerate(types[:now]) if kind in others), now)
    mesh_object.modifiers.move(now, max(first, after_mirrors))


def _remove_groups(mesh_object: bpy.types.Object, earlier: Collection[bpy.types.Object]) -> int:
    """Remove the groups of the earlier armatures' bones that nothing uses; return their number."""
    still = [modifier.object for modifier in _armature_modifiers(mesh_object) if modifier.object is not None]
    stale = _deforming(earlier) - _deforming(still) - set(_names_in_use(mesh_object))
    names = [group.name for group in mesh_object.vertex_groups if group.name in stale and not group.lock_weight]
    for name in names:
        mesh_object.vertex_groups.remove(mesh_object.vertex_groups[name])
    return len(names)


def _deforming(armature_objects: Collection[bpy.types.Object]) -> set[str]:
    """Return the names of all bones that deform."""
    return {bone.name for ob in armature_objects for bone in cast(bpy.types.Armature, ob.data).bones if bone.use_deform}


def _names_in_use(mesh_object: bpy.types.Object) -> Iterator[str]:
    """Yield all names used by other modifiers, shape keys and constraints that may be those of vertex groups."""
    keys = cast(bpy.types.Mesh, mesh_object.data).shape_keys
    holders: list[Any] = [*mesh_object.modifiers, *mesh_object.particle_systems, *(keys.key_blocks if keys else ())]
    holders += [modifier.settings for modifier in holders if hasattr(modifier, "settings")]
    for holder in holders:
        yield from (getattr(holder, one.identifier) for one in holder.bl_rna.properties
                    if one.type == "STRING" and one.identifier != "name")
        if isinstance(holder, bpy.types.NodesModifier):
            yield from (value for value in node_inputs(holder).values() if isinstance(value, str))
    for ob in bpy.data.objects:
        yield from (getattr(constraint, "subtarget", "") for constraint in ob.constraints
                    if getattr(constraint, "target", None) == mesh_object)
