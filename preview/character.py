"""A previewed character: an armature with its bound meshes, and their data on the GPU.

References to Blender's objects are never kept between calls, since undo and deletion would invalidate them. Objects are
found again by their session_uid, which lasts as long as the object.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from weakref import WeakValueDictionary

import bpy
import numpy as np

from ..bridge import changes, properties
from ..bridge.meshes.attached import attachment_of
from ..bridge.meshes.shape import is_shaped, not_shown, settings_key
from ..bridge.rigs.armature import read_skeleton
from ..core.maths.arrays import FloatArray
from ..core.skeletons.skeleton import Skeleton
from .batch import Geometry, read_geometry
from .bones import bone_ends
from .colours import bone_colours
from .corners import Float32Array
from .part import MeshOnGpu

_NEVER = -1
SharedParts = WeakValueDictionary[Hashable, MeshOnGpu]
"""Meshes on the GPU, by everything that they depend on. Objects with the same mesh and the same bones share one."""


@dataclass(eq=False)
class PreviewCharacter:
    """The data of a character that is kept between frames. Call `note_settings` and `refresh` before drawing.

    uid: the armature's session_uid. shared: meshes on the GPU that several characters use. tails: (J, 3) the bones'
    tails at rest, in armature space. bone_ends: (J, 2, 3) heads and tails. not_shown: modifiers that the preview leaves
    out. revision: grows whenever settings or data may have changed.

    By the session_uid of mesh objects: parts, the meshes on the GPU; methods, keys of SKINNING_METHODS; attached_to,
    the bone to which a mesh without weights is attached, "" for the armature itself.
    """

    uid: int
    shared: SharedParts = field(default_factory=WeakValueDictionary)
    skeleton: Skeleton | None = None
    tails: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    parts: dict[int, MeshOnGpu] = field(default_factory=dict)
    methods: dict[int, str] = field(default_factory=dict)
    attached_to: dict[int, str] = field(default_factory=dict)
    not_shown: list[str] = field(default_factory=list)
    revision: int = 0
    bone_ends: Float32Array = field(default_factory=lambda: np.zeros((0, 2, 3), dtype=np.float32))
    _bones_of: tuple[int, int] = (0, 0)
    _bone_names: tuple[str, ...] = ()
    _read: dict[int, tuple[int, Geometry]] = field(default_factory=dict)
    _fresh_at: int = _NEVER
    """When all parts were up to date, see changes.of_all_data."""

    def note_settings(self, meshes: Sequence[bpy.types.Object]) -> None:
        """Read settings that can change without an edit of the bones' and meshes' data."""
        self.methods = {mesh.session_uid: method_of(mesh) for mesh in meshes}
        self.attached_to = {mesh.session_uid: attachment.bone for mesh in meshes
                      if armature_modifier(mesh) is None and (attachment := attachment_of(mesh)) is not None}
        self.not_shown = [f"{name} ({mesh.name})" for mesh in meshes for name in not_shown(mesh)]
        self._fresh_at, self.revision = _NEVER, self.revision + 1
        for mesh in meshes:
            part = self.parts.get(mesh.session_uid)
            if part is not None and part.read_from != self._read_from(mesh):
                part.made_at = _NEVER

    def simplified(self) -> list[str]:
        """Return the names of the materials whose nodes are not all shown."""
        return sorted({surface.simplified for part in self.parts.values() for surface in part.geometry.surfaces} - {""})

    def read_ahead(self, armature_object: bpy.types.Object, mesh: bpy.types.Object,
                   tell: Callable[[float], None] = lambda _: None) -> None:
        """Read a mesh before the first drawing, which then only uploads it. tell: called with the share done, 0…1."""
        if self.skeleton is None:
            self._read_skeleton(armature_object)
        read_at = changes.of_data(_data_uids(mesh))
        self._read[mesh.session_uid] = read_at, self._geometry(mesh, tell)

    def is_fresh(self, meshes: Sequence[bpy.types.Object], now: int) -> bool:
        """Return whether `refresh` has nothing to do. now: see changes.of_all_data."""
        if self._fresh_at != now:
            return False
        parts = self.parts
        return not [mesh for mesh in meshes if mesh.session_uid not in parts]  # quicker than all() in a crowd

    def refresh(self, armature_object: bpy.types.Object, meshes: Sequence[bpy.types.Object],
                is_drawing: bool = False) -> list[bpy.types.Object]:
        """Read and upload new and edited data; fast if there is none.

        is_drawing: keep the old state of meshes that cannot be read during a drawing. Returns these, for `read_ahead`.
        """
        now = changes.of_all_data()
        if self.is_fresh(meshes, now):
            return []
        self.revision += 1
        armature = cast(bpy.types.Armature, armature_object.data)
        if self.skeleton is None or self._bones_of != (armature.session_uid, changes.of_data((armature.session_uid,))):
            self._read_skeleton(armature_object)
        waiting = []
        for mesh in meshes:
            part = self.parts.get(mesh.session_uid)
            if part is None or part.made_at != changes.of_data(part.data_uids):
                if is_drawing and mesh.session_uid not in self._read and is_shaped(mesh):
                    waiting.append(mesh)
                else:
                    self.parts[mesh.session_uid] = self._part(mesh)
        self._fresh_at = _NEVER if waiting else now
        return waiting

    def _part(self, mesh: bpy.types.Object) -> MeshOnGpu:
        """Return a mesh on the GPU; one with the same data and bones is shared, otherwise it is uploaded."""
        assert self.skeleton is not None
        uids, read_from = _data_uids(mesh), self._read_from(mesh)
        key, now = (read_from, self._bone_names, self.skeleton.parents.tobytes()), changes.of_data(uids)
        part, (read_at, geometry) = self.shared.get(key), self._read.pop(mesh.session_uid, (_NEVER, None))
        if part is None or part.made_at != now:
            if geometry is None or read_at != now:
                geometry = self._geometry(mesh)
            part = self.shared[key] = MeshOnGpu.of(geometry, uids, read_from, now)
        return part

    def _geometry(self, mesh: bpy.types.Object, tell: Callable[[float], None] = lambda _: None) -> Geometry:
        assert self.skeleton is not None
        bone = self.attached_to.get(mesh.session_uid)
        moved_by = None if bone is None else self.skeleton.index_of.get(bone, -1)
        return read_geometry(mesh, self._bone_names, bone_colours(self.skeleton), tell, moved_by)

    def _read_from(self, mesh: bpy.types.Object) -> tuple[Hashable, ...]:
        """Return everything that a mesh on the GPU depends on, except the contents of its datablocks."""
        return (*_data_uids(mesh), self.attached_to.get(mesh.session_uid), settings_key(mesh))

    def _read_skeleton(self, armature_object: bpy.types.Object) -> None:
        self.skeleton = read_skeleton(armature_object)
        armature = cast(bpy.types.Armature, armature_object.data)
        self.tails = np.array([bone.tail_local for bone in armature.bones], dtype=np.float64).reshape(-1, 3)
        names = tuple(bone.name if bone.use_deform else "" for bone in armature.bones)
        if names != self._bone_names:
            self.parts.clear()
        self.bone_ends = bone_ends(self.skeleton.rest_world[..., 3], self.tails)
        self._bone_names, self._bones_of = names, (armature.session_uid, changes.of_data((armature.session_uid,)))

    def active_bone(self, armature_object: bpy.types.Object) -> int:
        """Return the index of the armature's active bone, or −1."""
        active = cast(bpy.types.Armature, armature_object.data).bones.active
        assert self.skeleton is not None
        return -1 if active is None else self.skeleton.index_of.get(active.name, -1)


def armature_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature that moves an object by weights or as its parent; an armature is returned itself."""
    if ob.type != "MESH":
        return ob if ob.type == "ARMATURE" else None
    modifier = armature_modifier(ob)
    if modifier is not None:
        return modifier.object
    attachment = attachment_of(ob)
    return None if attachment is None else attachment.armature


def armature_modifier(ob: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """Return the first modifier that deforms vertex groups by an armature."""
    if ob.type != "MESH":
        return None
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE":
            found = cast(bpy.types.ArmatureModifier, modifier)
            if found.object is not None and found.use_vertex_groups and found.show_viewport:
                return found
    return None


def method_of(mesh_object: bpy.types.Object) -> str:
    """Return the skinning method that the modifier sets, a key of SKINNING_METHODS."""
    modifier = armature_modifier(mesh_object)
    preserves = modifier is not None and modifier.use_deform_preserve_volume
    return "DUAL_QUATERNION" if preserves else "LINEAR"


def bound_meshes(scene: bpy.types.Scene, armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the meshes of the scene that this armature moves."""
    return [ob for ob in scene.objects if ob.type == "MESH" and armature_of(ob) == armature_object]


def is_worked_on(ob: bpy.types.Object) -> bool:
    """Return whether an object is in another mode than Object Mode; then Blender's own drawing shows instead."""
    return ob.mode != "OBJECT"


def are_bones_shown(armature_object: bpy.types.Object) -> bool:
    """Return whether the preview draws an armature's bones, posed by its score, instead of Blender."""
    return properties.character(armature_object).text is not None and not is_worked_on(armature_object)


def _data_uids(mesh_object: bpy.types.Object) -> tuple[int, ...]:
    """Return the session_uids of a mesh's datablock, its shape keys and its materials, in order; 0 for none."""
    mesh: Any = mesh_object.data
    data = [mesh, mesh.shape_keys, *(slot.material for slot in mesh_object.material_slots)]
    return tuple(0 if each is None else each.session_uid for each in data)
