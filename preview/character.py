"""A previewed character: an armature, the meshes bound to it, and what of them lies on the GPU.

Blender's objects are never kept between calls: undo and deletion would leave them dangling. They are found
again by their session_uid, which lasts as long as the object.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, cast

import bpy
import gpu
import numpy as np

from ..bridge.armature import read_skeleton
from ..bridge.score import error_of, is_waiting, motion_of, rest_key
from ..core.arrays import FloatArray
from ..core.motion import Motion
from ..core.skeleton import Pose, Skeleton
from .batch import Int32Array, edge_batch, read_geometry, triangle_batch, variant_of, vertex_buffer
from .colours import bone_colours
from .shader import CHARACTER, METHODS, Variant, shader


class Playable(Protocol):
    """What moves a character by time; core's Motion is one."""

    @property
    def duration_s(self) -> float:
        """How long it lasts."""

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses at times (F,), as (F, J, …)."""


@dataclass(eq=False)
class Part:
    """One mesh of a character on the GPU, and what it was read from."""

    data_uids: frozenset[int]
    variant: Variant
    buffer: gpu.types.GPUVertBuf
    surface: gpu.types.GPUBatch
    ends: Int32Array
    reach_m: float
    _programs: dict[tuple[bool, bool], gpu.types.GPUShader] = field(default_factory=dict)

    def program(self, stretched: bool, palette_in_texture: bool) -> gpu.types.GPUShader:
        """Return the shader that draws it with a palette of that kind."""
        kind = stretched, palette_in_texture
        if kind not in self._programs:
            self._programs[kind] = shader(CHARACTER, replace(self.variant, stretched=stretched,
                                                             palette_in_texture=palette_in_texture))
        return self._programs[kind]

    @cached_property
    def edges(self) -> gpu.types.GPUBatch:
        """What draws the edges; they are uploaded when they are first wanted."""
        return edge_batch(self.buffer, self.ends)


@dataclass(eq=False)
class Character:
    """Everything of a character that is kept between frames. `refresh` must come before the first drawing.

    tails: (J, 3) the bones' ends at rest, in armature space. rest: what `motion_of` wants to know of the bones.
    last_good: the motion of the last score without errors.
    """

    uid: int
    skeleton: Skeleton | None = None
    tails: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    rest: Hashable = None
    parts: dict[int, Part] = field(default_factory=dict)
    last_good: Motion | None = None
    _armature_uid: int = 0
    _bone_names: list[str] = field(default_factory=list)
    _skeleton_stale: bool = True

    def refresh(self, armature_object: bpy.types.Object, meshes: list[bpy.types.Object]) -> None:
        """Read and upload what is new or has been edited; nothing to do costs nothing."""
        if self._skeleton_stale or self.skeleton is None:
            self._read_skeleton(armature_object)
        for mesh in meshes:
            uid = mesh.session_uid
            if uid not in self.parts:
                assert self.skeleton is not None
                geometry = read_geometry(mesh, self._bone_names, bone_colours(self.skeleton))
                buffer = vertex_buffer(geometry)
                self.parts[uid] = Part(_data_uids(mesh), variant_of(geometry), buffer,
                                       triangle_batch(buffer, geometry), geometry.edges,
                                       float(np.ptp(geometry.positions, axis=0).max(initial=0.0)))

    def data_changed(self, data_uid: int) -> None:
        """Take note that a mesh (its weights and groups included), an armature or a material has been edited."""
        self._skeleton_stale |= data_uid == self._armature_uid
        self.parts = {uid: part for uid, part in self.parts.items() if data_uid not in part.data_uids}

    def everything_changed(self) -> None:
        """Read all of it again before the next drawing."""
        self._skeleton_stale = True
        self.parts.clear()

    def _read_skeleton(self, armature_object: bpy.types.Object) -> None:
        self.skeleton = read_skeleton(armature_object)
        self.rest = rest_key(armature_object)
        armature = cast(bpy.types.Armature, armature_object.data)
        self.tails = np.array([bone.tail_local for bone in armature.bones], dtype=np.float64).reshape(-1, 3)
        names = [bone.name if bone.use_deform else "" for bone in armature.bones]
        if names != self._bone_names:
            self.parts.clear()
        self._bone_names, self._armature_uid, self._skeleton_stale = names, armature.session_uid, False

    def active_bone(self, armature_object: bpy.types.Object) -> int:
        """Return the place of the armature's active bone, −1 where there is none."""
        active = cast(bpy.types.Armature, armature_object.data).bones.active
        assert self.skeleton is not None
        return -1 if active is None else self.skeleton.index_of.get(active.name, -1)

    def motion(self, armature_object: bpy.types.Object, **changes: object) -> Motion | None:
        """Return what the score means; while it has errors, what it meant when it last had none."""
        motion = motion_of(armature_object, self.rest, **changes)
        if changes:
            return motion or self.last_good
        if motion is not None or not (error_of(armature_object) or is_waiting(armature_object)):
            self.last_good = motion
        return self.last_good


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


def _data_uids(mesh_object: bpy.types.Object) -> frozenset[int]:
    data = [mesh_object.data, *(slot.material for slot in mesh_object.material_slots)]
    return frozenset(each.session_uid for each in data if each is not None)
