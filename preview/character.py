"""A previewed character: an armature, the meshes bound to it, and what of them lies on the GPU.

Blender's objects are never kept between calls: undo and deletion would leave them dangling. They are found
again by their session_uid, which lasts as long as the object.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast
from weakref import WeakValueDictionary

import bpy
import gpu
import numpy as np

from ..bridge import changes
from ..bridge.armature import read_skeleton
from ..core.maths.arrays import FloatArray
from ..core.skeletons.skeleton import Skeleton
from .batch import Geometry, Int32Array, edge_batch, has_more_influences, read_geometry, triangle_batch, vertex_buffer
from .colours import bone_colours
from .shader import CHARACTER, METHODS, shader


@dataclass(eq=False)
class Part:
    """A mesh on the GPU, and what it was read from; reach_m: its largest extent; made_at: see changes.of_data."""

    data_uids: tuple[int, ...]
    program: gpu.types.GPUShader
    buffer: gpu.types.GPUVertBuf
    surface: gpu.types.GPUBatch
    ends: Int32Array
    reach_m: float
    made_at: int

    @cached_property
    def edges(self) -> gpu.types.GPUBatch:
        """What draws the edges; they are uploaded when they are first wanted."""
        return edge_batch(self.buffer, self.ends)


SharedParts = WeakValueDictionary[Hashable, Part]
"""Meshes on the GPU by all that they depend on: objects with the same mesh and the same bones share one."""


@dataclass(eq=False)
class Character:
    """Everything of a character that is kept between frames. `look` and `refresh` must come before the first drawing.

    shared: what characters that are drawn together have in common. tails: (J, 3) the bones' ends at rest, in
    armature space. parts, methods: by the uids of mesh objects.
    """

    uid: int
    shared: SharedParts = field(default_factory=WeakValueDictionary)
    skeleton: Skeleton | None = None
    tails: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    parts: dict[int, Part] = field(default_factory=dict)
    methods: dict[int, int] = field(default_factory=dict)
    _bones_of: tuple[int, int] = (0, 0)
    _bone_names: tuple[str, ...] = ()
    _read: dict[int, tuple[int, Geometry]] = field(default_factory=dict)

    def look(self, meshes: Sequence[bpy.types.Object]) -> None:
        """Take note of what may change without an edit of the bones and meshes themselves."""
        self.methods = {mesh.session_uid: method_of(mesh) for mesh in meshes}
        for mesh in meshes:
            part = self.parts.get(mesh.session_uid)
            if part is not None and part.data_uids != _data_uids(mesh):
                del self.parts[mesh.session_uid]

    def read_ahead(self, armature_object: bpy.types.Object, mesh: bpy.types.Object,
                   tell: Callable[[float], None]) -> None:
        """Read a mesh before the first drawing, which then only uploads it. tell: takes the share of the work done."""
        if self.skeleton is None:
            self._read_skeleton(armature_object)
        assert self.skeleton is not None
        read_at = changes.of_data(_data_uids(mesh))
        self._read[mesh.session_uid] = read_at, read_geometry(mesh, self._bone_names, bone_colours(self.skeleton), tell)

    def refresh(self, armature_object: bpy.types.Object, meshes: Sequence[bpy.types.Object]) -> None:
        """Read and upload what is new or has been edited; nothing to do costs nothing."""
        armature = cast(bpy.types.Armature, armature_object.data)
        if self.skeleton is None or self._bones_of != (armature.session_uid, changes.of_data((armature.session_uid,))):
            self._read_skeleton(armature_object)
        for mesh in meshes:
            part = self.parts.get(mesh.session_uid)
            if part is None or part.made_at != changes.of_data(part.data_uids):
                self.parts[mesh.session_uid] = self._part(mesh)

    def _part(self, mesh: bpy.types.Object) -> Part:
        """Return a mesh on the GPU, uploaded unless a character like this one has done so."""
        assert self.skeleton is not None
        uids = _data_uids(mesh)
        key, now = (uids, self._bone_names, self.skeleton.parents.tobytes()), changes.of_data(uids)
        part, (read_at, geometry) = self.shared.get(key), self._read.pop(mesh.session_uid, (-1, None))
        if part is None or part.made_at != now:
            if geometry is None or read_at != now:
                geometry = read_geometry(mesh, self._bone_names, bone_colours(self.skeleton))
            buffer = vertex_buffer(geometry)
            part = Part(uids, shader(CHARACTER, has_more_influences(geometry)), buffer,
                        triangle_batch(buffer, geometry), geometry.edges,
                        float(np.ptp(geometry.positions, axis=0).max()) if len(geometry.positions) else 0.0, now)
            self.shared[key] = part
        return part

    def _read_skeleton(self, armature_object: bpy.types.Object) -> None:
        self.skeleton = read_skeleton(armature_object)
        armature = cast(bpy.types.Armature, armature_object.data)
        self.tails = np.array([bone.tail_local for bone in armature.bones], dtype=np.float64).reshape(-1, 3)
        names = tuple(bone.name if bone.use_deform else "" for bone in armature.bones)
        if names != self._bone_names:
            self.parts.clear()
        self._bone_names, self._bones_of = names, (armature.session_uid, changes.of_data((armature.session_uid,)))

    def active_bone(self, armature_object: bpy.types.Object) -> int:
        """Return the place of the armature's active bone, −1 where there is none."""
        active = cast(bpy.types.Armature, armature_object.data).bones.active
        assert self.skeleton is not None
        return -1 if active is None else self.skeleton.index_of.get(active.name, -1)


def armature_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature whose bones move this object, or the object itself if it is one."""
    if ob.type == "ARMATURE":
        return ob
    modifier = armature_modifier(ob)
    return None if modifier is None else modifier.object


def armature_modifier(ob: bpy.types.Object) -> bpy.types.ArmatureModifier | None:
    """Return the first modifier that lets vertex groups follow an armature."""
    if ob.type != "MESH":
        return None
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE":
            found = cast(bpy.types.ArmatureModifier, modifier)
            if found.object is not None and found.use_vertex_groups and found.show_viewport:
                return found
    return None


def method_of(mesh_object: bpy.types.Object) -> int:
    """Return the shader's number of the skinning method that the modifier asks for."""
    modifier = armature_modifier(mesh_object)
    preserves = modifier is not None and modifier.use_deform_preserve_volume
    return METHODS.index("DUAL_QUATERNION" if preserves else "LINEAR")


def bound_meshes(scene: bpy.types.Scene, armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the meshes of the scene that this armature moves."""
    return [ob for ob in scene.objects if ob.type == "MESH" and armature_of(ob) == armature_object]


def is_worked_on(mesh_object: bpy.types.Object) -> bool:
    """Tell whether the mesh is being edited, sculpted or painted; the original is shown then."""
    return mesh_object.mode != "OBJECT"


def _data_uids(mesh_object: bpy.types.Object) -> tuple[int, ...]:
    """Return what the mesh's datablock and its materials are known by, in their order; 0: an empty slot."""
    data = [mesh_object.data, *(slot.material for slot in mesh_object.material_slots)]
    return tuple(0 if each is None else each.session_uid for each in data)
