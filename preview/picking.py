"""What is seen of the characters at a pixel of a viewport.

Their originals are hidden, so Blender's own selection cannot find them. Here their meshes are drawn once more around
the pixel, in colours that number them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np

from ..core.maths.arrays import FloatArray
from ..core.playing.ahead import Ahead
from .cast import Actor, roles_of
from .choices import Choices
from .draw import CameraView, Painter, solid_state
from .floor import bound
from .overlays import bones_in_world
from .roles import DrawnRole, Posed, pose_roles

_SIZE_PX = 9
"""Edge of the square in which a mesh is found; the middle counts first, then what is nearest to it."""
_BONE_PX = 4.0
_ICON_PX = 12.0
"""So near, at a UI scale of 1, the mouse is on a bone; on an empty, a lamp or a camera."""
_UNSCALED = 1_000_000
"""A picture of this size in pixels has outlines that are not wider than their meshes."""
_MOST_COVERS = 64
_SHIFT = 1e-4
"""Step behind a surface that does not count, as a share of its distance."""
_ICONS = {"EMPTY", "LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE"}


class Picked(NamedTuple):
    """An object, and the point (3,) of it that is seen in the world."""

    ob: bpy.types.Object
    point: FloatArray


def pick(actors: Sequence[Actor], ahead: Ahead, choices: Choices, view: CameraView, pixel: tuple[int, int],
         scale: float) -> Picked | None:
    """Return which mesh of the actors, or armature whose bones show, is seen at a pixel from the lower left.

    ahead: poses that are known. scale: of the interface. Objects that cannot be selected are looked through.
    """
    roles = [role for actor in actors for role in roles_of(actor, choices) if not role.is_ghost]
    poses, _ = pose_roles(roles, ahead if choices.player.follows_timeline else None)
    found = _mesh_at(roles, poses, view, pixel)
    bone = _bones_at(roles, poses, view, pixel, scale, found)
    return found if bone is None else bone


def is_covered(context: bpy.types.Context, view: CameraView, picked: Picked, pixel: tuple[int, int], scale: float,
               actors: Iterable[Actor]) -> bool:
    """Return whether an object that Blender itself draws is before what was picked, or has its icon at the pixel."""
    scene, layer, space = context.scene, context.view_layer, context.space_data
    assert scene is not None and layer is not None and isinstance(space, bpy.types.SpaceView3D)
    ours = {mesh.session_uid for actor in actors for mesh in actor.meshes}
    clip_from_world = view.clip_from_view @ view.view_from_world
    if _is_icon_at(layer, space, clip_from_world, view, picked, pixel, scale):
        return True
    near = _unprojected(clip_from_world, np.append(_in_clip(view, pixel), -1.0))
    reach = float(np.linalg.norm(picked.point - near))
    along = (picked.point - near) / max(reach, np.finfo(float).tiny)
    begin, depsgraph = 0.0, context.evaluated_depsgraph_get()
    for _ in range(_MOST_COVERS):
        origin: Any = (near + begin * along).tolist()
        left = reach * (1.0 - _SHIFT) - begin
        if left <= 0.0:
            return False
        is_hit, at, _, _, ob, _ = scene.ray_cast(depsgraph, origin, along.tolist(), distance=left)
        if not is_hit or ob is None:
            return False
        original: Any = ob.original
        if (original.session_uid not in ours and not original.hide_select
                and original.display_type in ("TEXTURED", "SOLID")
                and original.visible_get(view_layer=layer, viewport=space)):
            return True
        begin = float((np.array(at) - near) @ along) + _SHIFT * reach
    return False


def _mesh_at(roles: Sequence[DrawnRole], poses: Sequence[Posed], view: CameraView,
             pixel: tuple[int, int]) -> Picked | None:
    """Draw each mesh in a colour of its own into a small square around the pixel, and look which one is there."""
    pairs = [(role, posed, mesh) for role, posed in zip(roles, poses, strict=True) for mesh in role.meshes
             if not mesh.hide_select and mesh.session_uid in role.character.parts]
    if not pairs:
        return None
    numbered = [replace(role, number=number, meshes=(mesh,), outline=_colour(number), bones="")
                for number, (role, _, mesh) in enumerate(pairs, 1)]
    cropped = _cropped(view, pixel)
    painter, target = Painter(), gpu.types.GPUOffScreen(_SIZE_PX, _SIZE_PX, format="RGBA8")
    try:
        with bound(target):
            framebuffer: Any = gpu.state.active_framebuffer_get()
            framebuffer.clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
            painter.upload(numbered, [posed for _, posed, _ in pairs], cropped)
            with solid_state():
                painter.draw_solid("OUTLINE")
            colours = _read(framebuffer.read_color(0, 0, _SIZE_PX, _SIZE_PX, 4, 0, "UBYTE"), np.uint8)
            depths = _read(framebuffer.read_depth(0, 0, _SIZE_PX, _SIZE_PX), np.float32)
    finally:
        target.free()
    numbers = colours.reshape(-1, 4)[:, :3].astype(np.int64) @ (1, 256, 65536)
    side = np.arange(_SIZE_PX) - _SIZE_PX // 2
    away = (side[:, None] ** 2 + side ** 2).ravel()
    nearest = int(np.where(numbers > 0, away, np.iinfo(np.int64).max).argmin())
    if numbers[nearest] == 0:
        return None
    row, column = divmod(nearest, _SIZE_PX)
    seen = np.array(((column + 0.5) / _SIZE_PX, (row + 0.5) / _SIZE_PX, depths.ravel()[nearest])) * 2.0 - 1.0
    return Picked(pairs[int(numbers[nearest]) - 1][2],
                  _unprojected(cropped.clip_from_view @ view.view_from_world, seen))


def _read(buffer: Any, kind: Any) -> Any:
    """Return what was read from the GPU as a flat array; Blender 4.5 misreads one with several dimensions."""
    buffer.dimensions = int(np.prod(buffer.dimensions))
    return np.array(buffer, dtype=kind)


def _colour(number: int) -> tuple[float, float, float, float]:
    return number % 256 / 255.0, number // 256 % 256 / 255.0, number // 65536 / 255.0, 1.0


def _in_clip(view: CameraView, pixel: tuple[int, int]) -> FloatArray:
    """Return the middle of a pixel in clip space, (2,)."""
    return np.asarray((np.array(pixel) + 0.5) / (view.width, view.height) * 2.0 - 1.0)


def _cropped(view: CameraView, pixel: tuple[int, int]) -> CameraView:
    """Return the view of the small square around a pixel."""
    factors = np.array((view.width, view.height)) / _SIZE_PX
    crop = np.diag((*factors, 1.0, 1.0))
    crop[:2, 3] = -_in_clip(view, pixel) * factors
    return replace(view, clip_from_view=crop @ view.clip_from_view, width=_UNSCALED, height=_UNSCALED)


def _unprojected(clip_from_world: FloatArray, seen: FloatArray) -> FloatArray:
    """Return the point (3,) in the world that is seen at (3,) in clip space."""
    there = np.linalg.solve(clip_from_world, np.append(seen, 1.0))
    return np.asarray(there[:3] / there[3])


def _projected(clip_from_world: FloatArray, points: FloatArray, view: CameraView) -> tuple[FloatArray, FloatArray]:
    """Return pixels (..., 2) and depths (...,) of points (..., 3); NaN behind the eye."""
    clip = points @ clip_from_world[:, :3].T + clip_from_world[:, 3]
    seen = clip[..., :3] / np.where(clip[..., 3:] > 0.0, clip[..., 3:], np.nan)
    return (seen[..., :2] + 1.0) / 2.0 * (view.width, view.height), seen[..., 2]


def _bones_at(roles: Sequence[DrawnRole], poses: Sequence[Posed], view: CameraView, pixel: tuple[int, int],
              scale: float, found: Picked | None) -> Picked | None:
    """Return the armature of a bone that is seen at the pixel; found: the mesh that is seen there."""
    clip_from_world = view.clip_from_view @ view.view_from_world
    limit = 1.0 if found is None else float(_projected(clip_from_world, found.point, view)[1])
    nearest, best = None, _BONE_PX * scale
    for role, posed in zip(roles, poses, strict=True):
        if not role.bones or role.number or role.armature.hide_select:
            continue
        ends = bones_in_world(role, posed)
        pixels, depths = _projected(clip_from_world, ends, view)
        along = pixels[:, 1] - pixels[:, 0]
        length = np.maximum((along ** 2).sum(axis=1), np.finfo(float).tiny)
        share = np.clip(((np.array(pixel) + 0.5 - pixels[:, 0]) * along).sum(axis=1) / length, 0.0, 1.0)
        away = np.linalg.norm(pixels[:, 0] + share[:, None] * along - pixel - 0.5, axis=1)
        depth = depths[:, 0] + share * (depths[:, 1] - depths[:, 0])
        away = np.where(np.isfinite(away) & ((depth <= limit) | (role.bones == "IN_FRONT")), away, np.inf)
        bone = int(away.argmin())
        if away[bone] <= best:
            best, point = float(away[bone]), ends[bone, 0] + share[bone] * (ends[bone, 1] - ends[bone, 0])
            nearest = Picked(role.armature, np.asarray(point))
    return nearest


def _is_icon_at(layer: bpy.types.ViewLayer, space: bpy.types.SpaceView3D, clip_from_world: FloatArray, view: CameraView,
                picked: Picked, pixel: tuple[int, int], scale: float) -> bool:
    """Return whether an empty, a lamp or a camera has its middle at the pixel, before what was picked."""
    if not (space.overlay.show_overlays and space.overlay.show_extras):
        return False
    shown = [ob for ob in layer.objects if ob.type in _ICONS and not ob.hide_select
             and ob.visible_get(view_layer=layer, viewport=space)]
    if not shown:
        return False
    pixels, depths = _projected(clip_from_world, np.array([ob.matrix_world.translation for ob in shown]), view)
    limit = float(_projected(clip_from_world, picked.point, view)[1])
    is_near = np.linalg.norm(pixels - pixel - 0.5, axis=1) <= _ICON_PX * scale
    is_before = (depths < limit) | np.array([ob.show_in_front for ob in shown])
    return bool((is_near & is_before).any())
