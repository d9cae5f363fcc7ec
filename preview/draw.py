"""Drawing of characters into the bound framebuffer: a viewport or an offscreen picture."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from operator import is_
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ..bridge.materials.materials import ColourMode
from ..core.maths.arrays import FloatArray
from .bones import BoneEnds, BoneLines
from .instances import WHITE, Rows, RowsForGpu, Tint, instance_rows, placement_rows
from .look import ViewportLook
from .materials import NO_IMAGE, NO_IMAGES, Images, ImagesOnGpu
from .part import MeshOnGpu
from .roles import Bones, DrawnRole, Posed
from .shader import ALPHAS, BONES, PASSES, RECORD_ROWS, SKINNING_NUMBERS, Alpha, Pass, shader

SEE_THROUGH_ALPHA = 0.35
_WIRE: Tint = (0.62, 0.70, 0.80, 1.0)
_NOWHERE = Matrix.Identity(4)
_PASS_NUMBERS = {what: number for number, what in enumerate(PASSES)}
_ALPHA_NUMBERS = {alpha: number for number, alpha in enumerate(ALPHAS)}


@dataclass(frozen=True, eq=False)
class CameraView:
    """A camera and how it shows colours.

    view_from_world, clip_from_view: (4, 4). width, height: pixels. encode: whether linear colours are converted to
    sRGB. look: colour mode and lights.
    """

    view_from_world: FloatArray
    clip_from_view: FloatArray
    width: int
    height: int
    encode: bool
    look: ViewportLook = field(default_factory=ViewportLook)


class _Instance(NamedTuple):
    """A mesh of a role. role: index of the role. mesh: index among the role's meshes. uid: the object's session_uid."""

    part: MeshOnGpu
    role: int
    mesh: int
    uid: int


@dataclass(eq=False)
class Painter:
    """Draws roles. All are uploaded at once, and roles that share a mesh are drawn in one call."""

    _placements: dict[int, tuple[Matrix, Matrix, Matrix, Rows]] = field(default_factory=dict)
    _roles: Sequence[DrawnRole] = ()
    _arranged: list[tuple[Any, ...]] = field(default_factory=list)
    """Of each role, what the next five fields depend on."""
    _instances: list[_Instance] = field(default_factory=list)
    _solid: list[tuple[MeshOnGpu, int, int]] = field(default_factory=list)
    """A mesh, the number of its first instance, and the number of its instances; without ghosts."""
    _see_through: dict[ColourMode, list[tuple[MeshOnGpu, int, int]]] = field(default_factory=dict)
    """Those of _solid that are partly transparent, by colour mode."""
    _of_role: dict[tuple[int, int], list[tuple[MeshOnGpu, int]]] = field(default_factory=dict)
    """By a role's key: the mesh and the number of each of its instances."""
    _bones: dict[Bones, list[BoneEnds]] = field(default_factory=dict)
    _told: tuple[list[int], list[tuple[Any, ...]]] = field(default_factory=lambda: ([], []))
    """The number of rows of each role's pose, and each instance's values that do not depend on transforms."""
    _recorded: tuple[list[Rows], list[tuple[Any, ...]], Rows] | None = None
    """Cache of the records: placements and other values from which they were made, and the records."""
    _bone_lines: dict[Bones, BoneLines] = field(default_factory=dict)
    _for_gpu: RowsForGpu = field(default_factory=RowsForGpu)
    _was_coloured: bool = False
    _rows: gpu.types.GPUTexture | None = None
    _view: gpu.types.GPUUniformBuf | None = None
    _bound: gpu.types.GPUShader | None = None
    _bound_images: Images = ()
    _bound_opacity: float = -1.0
    _images: ImagesOnGpu = field(default_factory=ImagesOnGpu)
    _look: ViewportLook = field(default_factory=ViewportLook)

    def upload(self, roles: Sequence[DrawnRole], poses: Sequence[Posed], view: CameraView) -> None:
        """Upload the data of this frame; from then on these roles can be drawn.

        roles: pass the same object as in the last call only if nothing but times and transforms has changed.
        """
        if roles is not self._roles:
            self._take(roles)
        self._look = view.look
        if self._instances:
            rows = [posed.rows for posed in poses]
            self._rows = self._for_gpu.texture_of((self._records(rows, poses), *rows))
        else:
            self._rows = None
        self._images.begin_picture()
        self.set_view(view)

    def _take(self, roles: Sequence[DrawnRole]) -> None:
        """Take new roles; arrange them again if their meshes or bones differ from those before."""
        arranged = []
        for role in roles:
            character = role.character
            uids = [mesh.session_uid for mesh in role.meshes]
            arranged.append((character.uid, role.number, role.tint is None, role.bones, id(character.bone_ends), uids,
                             [character.parts.get(uid) for uid in uids]))
        if arranged != self._arranged:
            self._arrange(roles)
            self._arranged = arranged
        self._roles, self._told = roles, ([], [])

    def _arrange(self, roles: Sequence[DrawnRole]) -> None:
        """Group instances that share a mesh, ghosts last, and note for bones an instance of their role."""
        self._instances = [_Instance(part, number, index, mesh.session_uid) for number, role in enumerate(roles)
                           for index, mesh in enumerate(role.meshes)
                           if (part := role.character.parts.get(mesh.session_uid)) is not None]
        self._instances.sort(key=lambda instance: (roles[instance.role].is_ghost, id(instance.part)))
        self._of_role = {role.key: [] for role in roles}
        for number, instance in enumerate(self._instances):
            self._of_role[roles[instance.role].key].append((instance.part, number))
        self._solid, number = [], 0
        for part, same in groupby(each.part for each in self._instances if not roles[each.role].is_ghost):
            count = len(list(same))
            self._solid.append((part, number, count))
            number += count
        self._see_through.clear()
        self._bones = {}
        for role in roles:
            if role.bones and role.number == 0 and (instances := self._of_role[role.key]):
                self._bones.setdefault(role.bones, []).append((role.character.bone_ends, instances[0][1]))

    def unbind(self) -> None:
        """Let the next drawing bind everything again, since other code may have drawn in between."""
        self._bound = None

    def set_view(self, view: CameraView) -> None:
        """Draw the uploaded roles from another camera."""
        self.unbind()
        block: Any = view_block(view)
        if self._view is None:
            self._view = gpu.types.GPUUniformBuf(block)
        else:
            self._view.update(block)

    def draw_solid(self, what: Pass) -> None:
        """Draw all roles except ghosts: opaque parts first, blended parts over them."""
        for part, first, count in self._solid:
            self._draw(part, first, count, what, alpha="SOLID")
        if what != "SHADED":
            return
        mode = self._look.mode
        see_through = self._see_through.get(mode)
        if see_through is None:
            see_through = [each for each in self._solid if each[0].coloured(mode).is_blended]
            self._see_through[mode] = see_through
        if see_through:
            gpu.state.blend_set("ALPHA")
            gpu.state.depth_mask_set(False)
            for part, first, count in see_through:
                self._draw(part, first, count, what, alpha="REST")
            gpu.state.depth_mask_set(True)
            gpu.state.blend_set("NONE")

    def draw_bones(self) -> None:
        """Draw the bones of all roles that show them, as lines."""
        for how, bones in self._bones.items():
            gpu.state.depth_test_set("LESS_EQUAL" if how == "BEHIND" else "NONE")
            assert self._view is not None and self._rows is not None
            program, self._bound = shader(BONES), None
            program.bind()
            program.uniform_block("view", self._view)
            program.uniform_sampler("rows", self._rows)
            draw_batch(self._bone_lines.setdefault(how, BoneLines()).batch(bones), program, 1)

    def draw(self, role: DrawnRole, what: Pass, opacity: float = 1.0) -> None:
        """Draw a single role."""
        for part, number in self._of_role[role.key]:
            self._draw(part, number, 1, what, opacity)

    def _draw(self, part: MeshOnGpu, first: int, count: int, what: Pass, opacity: float = 1.0,
              alpha: Alpha = "ALL") -> None:
        program = part.program
        if program is not self._bound:
            self._bind(program)
        program.uniform_int("drawing", (first * RECORD_ROWS, _PASS_NUMBERS[what], _ALPHA_NUMBERS[alpha], 0))
        if opacity != self._bound_opacity:
            program.uniform_float("opacity", opacity)
            self._bound_opacity = opacity
        if what != "SHADED":
            draw_batch(part.edges if what == "WIREFRAME" else part.surface, program, count)
            return
        coloured = part.coloured(self._look.mode)
        program.uniform_sampler("materials", coloured.table)
        for group in coloured.groups:
            if group.is_blended or alpha != "REST":
                if group.images != self._bound_images:
                    self._bind_images(program, group.images)
                draw_batch(group.batch, program, count)

    def _bind(self, program: gpu.types.GPUShader) -> None:
        """Bind a shader, and a texture to each of its samplers."""
        assert self._view is not None and self._rows is not None
        program.bind()
        program.uniform_block("view", self._view)
        program.uniform_sampler("rows", self._rows)
        program.uniform_sampler("materials", self._images.texture(NO_IMAGE))
        self._bind_images(program, NO_IMAGES)
        self._bound, self._bound_opacity = program, -1.0

    def _bind_images(self, program: gpu.types.GPUShader, images: Images) -> None:
        for index, image in enumerate(images):
            program.uniform_sampler(f"image_{index}", self._images.texture(image))
        self._bound_images = images

    def _records(self, rows: Sequence[Rows], poses: Sequence[Posed]) -> Rows:
        """Return the records of all instances, from the cache if nothing has changed. rows: those of the poses."""
        roles, lengths = self._roles, [*map(len, rows)]
        if lengths != self._told[0] or self._look.mode == "OBJECT" or self._was_coloured:
            self._told = lengths, self._tell(lengths, poses)
        told = self._told[1]
        placements = [self._placement(roles[number].meshes[index], roles[number], uid)
                      for _, number, index, uid in self._instances]
        if (self._recorded is None or told != self._recorded[1] or len(placements) != len(self._recorded[0])
                or not all(map(is_, placements, self._recorded[0]))):
            offsets, tints, are_tinted, begun, methods, shown, colours = zip(*told, strict=True)
            numbers = [(*begin, method, bone) for begin, method, bone in zip(begun, methods, shown, strict=True)]
            self._recorded = placements, told, instance_rows(placements, offsets, tints, are_tinted, numbers, colours)
        return self._recorded[2]

    def _tell(self, lengths: Sequence[int], poses: Sequence[Posed]) -> list[tuple[Any, ...]]:
        """Return for each instance what its record contains besides the placement. lengths: rows of each pose."""
        begins = accumulate(lengths, initial=len(self._instances) * RECORD_ROWS)
        bones = [*zip(begins, (posed.rows_per_bone for posed in poses), strict=False)]
        told = []
        self._was_coloured = self._look.mode == "OBJECT"
        for _, number, index, uid in self._instances:
            role = self._roles[number]
            mesh, tint = role.meshes[index], role.tint
            method = role.method or role.character.methods.get(uid, "LINEAR")
            told.append((role.offset, tint or role.outline or _WIRE, tint is not None, bones[number],
                         SKINNING_NUMBERS[method], role.shown_bone,
                         self._look.colour_of(mesh) if self._was_coloured else WHITE))
        return told

    def _placement(self, mesh: bpy.types.Object, role: DrawnRole, uid: int) -> Rows:
        armature_world, mesh_world = role.armature.matrix_world, mesh.matrix_world
        bone, known = role.character.attached_to.get(uid), self._placements.get(uid)
        posed = _NOWHERE if not bone or role.armature.pose is None else role.armature.pose.bones[bone].matrix
        if (known is None or known[0] != armature_world or known[1] != mesh_world
                or (known[2] is not posed and known[2] != posed)):
            world_from_armature, world_from_mesh, armature_from_bone = (
                np.array(matrix, dtype=np.float64) for matrix in (armature_world, mesh_world, posed))
            if bone:
                world_from_mesh = _at_rest(role, bone, world_from_armature, world_from_mesh, armature_from_bone)
            rows = placement_rows(world_from_armature, world_from_mesh)
            kept = posed if posed is _NOWHERE else posed.copy()
            known = self._placements[uid] = armature_world.copy(), mesh_world.copy(), kept, rows
        return known[3]


def _at_rest(role: DrawnRole, bone: str, world_from_armature: FloatArray, world_from_mesh: FloatArray,
             armature_from_bone: FloatArray) -> FloatArray:
    """Return the matrix world_from_mesh, (4, 4), that an object on a bone has while the bone is at rest."""
    skeleton = role.character.skeleton
    assert skeleton is not None
    rest = np.eye(4)
    rest[:3] = skeleton.rest_world[skeleton.index_of[bone]]
    bone_from_mesh = np.linalg.pinv(world_from_armature @ armature_from_bone) @ world_from_mesh
    return np.asarray(world_from_armature @ rest @ bone_from_mesh)


def draw_batch(batch: gpu.types.GPUBatch, program: gpu.types.GPUShader, count: int) -> None:
    """Draw `count` instances of a batch in one call."""
    batch.draw_instanced(program, instance_count=count)


def view_block(view: CameraView) -> npt.NDArray[np.float32]:
    """Return the struct TaktView: two matrices, column by column, the size, the view transform and the lights."""
    matrices = [matrix.T.astype(np.float32).ravel() for matrix in (view.clip_from_view, view.view_from_world)]
    size = np.array((view.width, view.height, view.encode, 0.0), dtype=np.float32)
    return np.concatenate((*matrices, size, view.look.block(view.view_from_world)))


@contextmanager
def solid_state() -> Iterator[None]:
    """Draw opaque surfaces, tested against the framebuffer's depth, in a `with` block; then restore the GPU's state."""
    depth_test: Any = gpu.state.depth_test_get()
    blend: Any = gpu.state.blend_get()
    depth_mask = gpu.state.depth_mask_get()
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set("NONE")
    gpu.state.face_culling_set("NONE")
    try:
        yield
    finally:
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.depth_test_set(depth_test)
        gpu.state.depth_mask_set(depth_mask)
        gpu.state.blend_set(blend)
