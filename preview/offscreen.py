"""Pictures of characters without a viewport."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ..bridge.scores.score import motion_of, time_s
from ..core.playing.stage import Playable
from .cast import Actor, Cast
from .character import PreviewCharacter, SharedParts, armature_of, bound_meshes
from .choices import Choices
from .draw import CameraView, solid_state
from .floor import WHOLE_PICTURE, Floor, FloorPainter, bound
from .look import ViewportLook, studio
from .shader import OVERSAMPLING, REDUCE, shader

MatrixLike = Matrix | npt.NDArray[np.floating[Any]]
Colour = tuple[float, float, float, float]
_FROM_FLOOR = (0.07, 0.07, 0.08)
TRANSPARENT: Colour = (0.0, 0.0, 0.0, 0.0)


class Renderer:
    """Characters uploaded once and drawn many times, as for a film. Use it in a `with`.

    objects: bound meshes, or armatures (all meshes of the scene that they move).
    motion: returns the motion of an armature; None: it is drawn in its current pose.
    The gpu module must have been started (`bridge.versions.start_gpu`).
    """

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], width: int, height: int,
                 motion: Callable[[bpy.types.Object], Playable | None] = motion_of) -> None:
        self._scene = scene
        self._motion = motion
        self._size = (width, height)
        self._drawer = Cast()
        self._fine = gpu.types.GPUOffScreen(width * OVERSAMPLING, height * OVERSAMPLING, format="RGBA8")
        self._target = gpu.types.GPUOffScreen(width, height, format="RGBA8")
        self._floor: FloorPainter | None = None
        shared = SharedParts()
        self._cast = [(PreviewCharacter(armature.session_uid, shared), armature, meshes)
                      for armature, meshes in _grouped(scene, objects)]
        for character, armature, meshes in self._cast:
            character.note_settings(meshes)
            character.refresh(armature, meshes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._fine.free()
        self._target.free()
        if self._floor is not None:
            self._floor.free()

    def draw(self, view_matrix: MatrixLike, projection_matrix: MatrixLike, picture: str = "SHADED",
             background: Colour = TRANSPARENT, choices: Choices | None = None,
             look: ViewportLook | None = None, floor: Floor | None = None) -> npt.NDArray[np.uint8]:
        """Draw the scene's current frame; returns (height, width, 4), sRGB, the top row first.

        view_matrix: view from world, as `camera.matrix_world.inverted()`; projection_matrix: clip from view,
        as `camera.calc_matrix_camera(…)`, both (4, 4).
        background: sRGB and alpha, 0 to 1, not premultiplied. choices: what else to show; replaces picture.
        look: of surfaces; None: their nodes, in studio light. floor: the characters stand on it and cast
        their shadow on it; replaces the background.
        """
        width, height = (length * OVERSAMPLING for length in self._size)
        view = CameraView(np.array(view_matrix, dtype=np.float64), np.array(projection_matrix, dtype=np.float64),
                    width, height, encode=True, look=look or _in_studio(floor))
        frame = self._scene.frame_current_final
        actors = [Actor(character, armature, meshes, self._motion(armature), time_s(armature, self._scene, frame))
                  for character, armature, meshes in self._cast]
        with bound(self._fine):
            clear = background if floor is None else TRANSPARENT
            gpu.state.active_framebuffer_get().clear(color=clear, depth=1.0)
            self._drawer.draw(actors, view, choices or Choices(picture=picture))
        if floor is not None:
            self._floor = self._floor or FloorPainter()
            self._floor.cast_shadow(floor, self._drawer.draw_shadow)
        return self._reduced(floor, view)

    def _reduced(self, floor: Floor | None, view: CameraView) -> npt.NDArray[np.uint8]:
        """Average the oversampled drawing on the GPU, over the floor if there is one, and read it back."""
        width, height = self._size
        program = shader(REDUCE)
        with bound(self._target), solid_state():
            gpu.state.depth_test_set("NONE")
            if floor is not None and self._floor is not None:
                self._floor.paint(floor, view)
                gpu.state.blend_set("ALPHA")
            program.bind()
            program.uniform_sampler("fine", self._fine.texture_color)
            batch_for_shader(program, "TRIS", {"corner": WHOLE_PICTURE}).draw(program)
            pixels: Any = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 4, 0, "UBYTE")
        pixels.dimensions = width * height * 4  # Blender 4.5 misreads an array with several dimensions
        picture = np.array(pixels, dtype=np.uint8).reshape(height, width, 4)[::-1]
        if floor is not None:
            picture[..., 3] = 255
        return picture


def _in_studio(floor: Floor | None) -> ViewportLook:
    """Return studio light, with the reflection of a bright floor."""
    look = studio()
    return look if floor is None else replace(look, ambient=_FROM_FLOOR)


def _grouped(scene: bpy.types.Scene,
             objects: Sequence[bpy.types.Object]) -> list[tuple[bpy.types.Object, list[bpy.types.Object]]]:
    """Return each armature with the meshes to draw, in the order given."""
    groups: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    for ob in objects:
        armature = armature_of(ob)
        if armature is None:
            raise ValueError(f"{ob.name!r} is neither an armature nor a mesh with an Armature modifier; bind it first")
        meshes = groups.setdefault(armature, [])
        found = [mesh for mesh in bound_meshes(scene, ob) if mesh.visible_get()] if ob == armature else [ob]
        meshes += [mesh for mesh in found if mesh not in meshes]
    return list(groups.items())
