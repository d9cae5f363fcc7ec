"""Triangles of meshes that characters stand on, after modifiers and shape keys.

They come from Blender's evaluation. Blender does not evaluate objects that are disabled or in another scene; a copy of
these is evaluated separately. That never happens during drawing, but in a timer soon afterwards.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, cast

import bpy
import numpy as np

from ...core.maths.arrays import FloatArray, IntArray
from .. import changes
from ..actions.curves import bags
from ..guard import guarded
from ..meshes import shape
from ..rigs import object_courses

_LEAST_KNOWN: Final = 256
"""Least number of meshes whose triangles are cached; in a larger scene, twice as many as it has objects."""
_OVER_TIME: Final = frozenset((
    "ARMATURE", "BUILD", "CLOTH", "DYNAMIC_PAINT", "EXPLODE", "FLUID", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "OCEAN",
    "PARTICLE_INSTANCE", "PARTICLE_SYSTEM", "SOFT_BODY", "WAVE"))
"""Types of modifiers that may move a mesh over time without keys of its own."""


class Triangles(NamedTuple):
    """Points (V, 3) in an object's own axes, and triangles (T, 3) of their indices."""

    points: FloatArray
    triangles: IntArray


_plain: dict[int, tuple[int, Triangles]] = {}
"""Cache by the session_uid of a mesh: the number from `changes` for which it is valid, and the triangles."""
_altered: dict[int, tuple[Hashable, Triangles]] = {}
"""Cache by the session_uid of an object: the state from which its triangles were made, and the triangles."""
_waiting: set[int] = set()
"""The session_uids of objects that wait for separate evaluation."""
_is_busy = False


def triangles(ob: bpy.types.Object) -> Triangles:
    """Return the triangles of a mesh object as shown; while it is edited, those from before the edit.

    While evaluation is forbidden, a mesh that is not cached is returned without its modifiers, and evaluated soon.
    """
    if not _is_altered(ob):
        return _of_data(ob)
    known = _altered.get(ob.session_uid)
    if ob.mode == "EDIT":
        return _of_data(ob) if known is None else known[1]
    changes.watch(ob.session_uid)
    here, layer = object_courses.is_evaluated(ob), bpy.context.view_layer
    if here and not _is_busy:
        bpy.context.evaluated_depsgraph_get()  # apply changes that scripts have just made
    now = changes.of_data((_data(ob).session_uid, ob.session_uid)), here, _settings(ob)
    if known is not None and known[0] == now:
        return known[1]
    if here and layer is not None and layer.depsgraph is not None:
        return _keep(ob, now, _read(cast(bpy.types.Mesh, ob.evaluated_get(layer.depsgraph).data)))
    if not _is_busy:
        with shape.evaluated_apart(ob) as evaluated:
            return _keep(ob, now, _read(cast(bpy.types.Mesh, evaluated.data)))
    _waiting.add(ob.session_uid)
    if not bpy.app.timers.is_registered(_read_waiting):
        bpy.app.timers.register(_read_waiting)
    return _of_data(ob) if known is None else known[1]


@contextmanager
def busy() -> Iterator[None]:
    """Forbid evaluation in a `with` block, as during drawing or in a timer's check."""
    global _is_busy
    before, _is_busy = _is_busy, True
    try:
        yield
    finally:
        _is_busy = before


def moves(ob: bpy.types.Object) -> bool:
    """Return whether a mesh is deformed differently at some frames, as far as its data shows."""
    keys = _data(ob).shape_keys
    blocks: list[tuple[Any, str]] = [(ob, "modifiers["), (keys, ""), (_data(ob), "")]
    return any(each.show_viewport and each.type in _OVER_TIME for each in ob.modifiers) or any(
        _has_curves(block, path) for block, path in blocks if block is not None)


def _has_curves(block: Any, path: str) -> bool:
    animation = block.animation_data
    if animation is None:
        return False
    keyed = animation.action is not None and any(
        curve.data_path.startswith(path) for bag in bags(animation.action) for curve in bag.fcurves)
    return keyed or any(curve.data_path.startswith(path) for curve in animation.drivers)


@guarded(None)
def _read_waiting() -> None:
    """Evaluate the objects that were requested while evaluation was forbidden."""
    wanted = {ob.session_uid: ob for ob in bpy.data.objects if ob.session_uid in _waiting and ob.type == "MESH"}
    _waiting.clear()
    try:
        for ob in wanted.values():
            triangles(ob)
    finally:  # even if one cannot be read, for the others
        changes.score()


def _is_altered(ob: bpy.types.Object) -> bool:
    keys = _data(ob).shape_keys
    return any(each.show_viewport for each in ob.modifiers) or (keys is not None and (
        not keys.use_relative or ob.show_only_shape_key
        or any(key.value != 0.0 and not key.mute for key in keys.key_blocks[1:])))


def _settings(ob: bpy.types.Object) -> Hashable:
    """Return all settings that alter a mesh, to be compared, since Blender reports no changes of unevaluated objects.

    None if any of them is animated, so that the mesh differs between frames.
    """
    if moves(ob):
        return None
    keys = _data(ob).shape_keys
    return shape.all_settings(ob), () if keys is None else tuple(
        (key.value, key.mute) for key in keys.key_blocks), ob.show_only_shape_key, ob.active_shape_key_index


def _of_data(ob: bpy.types.Object) -> Triangles:
    mesh = _data(ob)
    now, uid = changes.of_data((mesh.session_uid,)), mesh.session_uid
    if uid not in _plain or _plain[uid][0] != now or len(_plain[uid][1].points) != len(mesh.vertices):
        if len(_plain) >= _most_known():
            _plain.clear()
        _plain[uid] = now, _read(mesh)
    return _plain[uid][1]


def _most_known() -> int:
    return max(_LEAST_KNOWN, 2 * len(bpy.data.objects))


def _keep(ob: bpy.types.Object, now: Hashable, found: Triangles) -> Triangles:
    known = _altered.get(ob.session_uid)
    if known is not None and all(np.array_equal(*both) for both in zip(known[1], found, strict=True)):
        found = known[1]  # the stored result is valid
    if len(_altered) >= _most_known():
        _altered.clear()
    _altered[ob.session_uid] = now, found
    return found


def _read(mesh: bpy.types.Mesh) -> Triangles:
    data: Any = mesh
    data.calc_loop_triangles()
    points, numbers = (np.empty(3 * len(data.vertices), dtype=np.float32),
                       np.empty(3 * len(data.loop_triangles), dtype=np.int32))
    data.vertices.foreach_get("co", points)
    data.loop_triangles.foreach_get("vertices", numbers)
    return Triangles(points.reshape(-1, 3).astype(np.float64), numbers.reshape(-1, 3).astype(np.int64))


def _data(ob: bpy.types.Object) -> bpy.types.Mesh:
    return cast(bpy.types.Mesh, ob.data)
