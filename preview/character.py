"""A previewed character: an armature, the meshes bound to it, and what of them lies on the GPU.

Blender's objects are never kept between calls: undo and deletion would leave them dangling. They are found
again by their session_uid, which lasts as long as the object.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import bpy
import gpu
import numpy as np
import numpy.typing as npt

from ..bridge.armature import read_pose_world, read_skeleton
from ..core.arrays import FloatArray
from ..core.skeleton import Pose, Skeleton
from ..core.skinning import Palette
from .batch import read_geometry, upload, variant_of
from .colours import bone_colours
from .shader import METHODS, PALETTE_ROWS, PALETTE_TEXTURE_WIDTH, Variant


class Playable(Protocol):
    """What moves a character by time; core's Motion is one."""

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses at times (F,), as (F, J, …)."""


@dataclass(eq=False)
class Part:
    """One mesh of a character on the GPU, and what it was read from."""

    data_uids: frozenset[int]
    batch: gpu.types.GPUBatch
    variant: Variant


@dataclass(eq=False)
class Character:
    """Everything of a character that is kept between frames. `refresh` must come before the first drawing."""

    uid: int
    skeleton: Skeleton | None = None
    parts: dict[int, Part] = field(default_factory=dict)
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
                self.parts[uid] = Part(_data_uids(mesh), upload(geometry), variant_of(geometry))

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
        armature = cast(bpy.types.Armature, armature_object.data)
        names = [bone.name if bone.use_deform else "" for bone in armature.bones]
        if names != self._bone_names:
            self.parts.clear()
        self._bone_names, self._armature_uid, self._skeleton_stale = names, armature.session_uid, False

    def palette(self, armature_object: bpy.types.Object, motion: Playable | None, time_s: float) -> Palette:
        """Return what the bones do: at that time of the motion, or as the armature is posed without one."""
        assert self.skeleton is not None
        if motion is None:
            return Palette.from_matrices(read_pose_world(armature_object), self.skeleton.rest_world)
        return Palette.from_pose(self.skeleton, motion.sample(np.array((time_s,))).at(0))


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


def palette_rows(palette: Palette) -> npt.NDArray[np.float32]:
    """Return the palette as the shaders read it, (J · rows, 4): the quaternion as xyzw, the position, the stretch."""
    joints = len(palette.rotations)
    rows = np.zeros((joints, 2 if palette.stretches is None else 5, 4), dtype=np.float32)
    rows[:, 0, :3], rows[:, 0, 3] = palette.rotations[:, 1:], palette.rotations[:, 0]
    rows[:, 1, :3] = palette.positions
    if palette.stretches is not None:
        rows[:, 2:] = palette.stretches
    return rows.reshape(-1, 4)


@dataclass(eq=False)
class GpuPalette:
    """A palette on the GPU: a uniform buffer that is written over, or a texture where there are too many bones."""

    buffer: gpu.types.GPUUniformBuf | None = None
    texture: gpu.types.GPUTexture | None = None
    stretched: bool = False

    def write(self, palette: Palette) -> None:
        """Copy the palette to the GPU."""
        rows = palette_rows(palette)
        self.stretched = palette.stretches is not None
        if len(rows) > PALETTE_ROWS:
            height = -(-len(rows) // PALETTE_TEXTURE_WIDTH)
            texels = np.zeros((height * PALETTE_TEXTURE_WIDTH, 4), dtype=np.float32)
            texels[:len(rows)] = rows
            data = gpu.types.Buffer("FLOAT", texels.size, cast(Any, texels.ravel()))
            self.texture = gpu.types.GPUTexture((PALETTE_TEXTURE_WIDTH, height), format="RGBA32F", data=data)
            return
        self.texture = None
        block = np.zeros((PALETTE_ROWS, 4), dtype=np.float32)
        block[:len(rows)] = rows
        if self.buffer is None:
            self.buffer = gpu.types.GPUUniformBuf(cast(Any, block))
        else:
            self.buffer.update(cast(Any, block))

    def bind(self, shader: gpu.types.GPUShader) -> None:
        """Let a shader read it."""
        if self.texture is not None:
            shader.uniform_sampler("palette", self.texture)
        elif self.buffer is not None:
            shader.uniform_block("palette", self.buffer)


def _data_uids(mesh_object: bpy.types.Object) -> frozenset[int]:
    data = [mesh_object.data, *(slot.material for slot in mesh_object.material_slots)]
    return frozenset(each.session_uid for each in data if each is not None)
