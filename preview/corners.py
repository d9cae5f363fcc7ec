"""Data of a mesh at the corners of its faces: UV maps and painted colours that its materials use."""

from collections.abc import Sequence
from typing import Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ..bridge.materials.materials import Surface

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]


def corner_uv(mesh: bpy.types.Mesh, surfaces: Sequence[Surface], materials: Int32Array) -> Float32Array:
    """Return the two UV maps of each corner's surface, (L, 4); zero if there is none. materials: (L,)."""
    uv = np.zeros((len(materials), 4), dtype=np.float32)
    for number, names in enumerate(zip(*(surface.uv_maps for surface in surfaces), strict=True)):
        for name in set(names):
            layer = mesh.uv_layers.get(name)
            if layer is not None:
                wanted = np.array([each == name for each in names])[materials]
                uv[wanted, 2 * number:2 * number + 2] = read_array(layer.uv, "vector", 2)[wanted]
    return uv


def corner_paint(mesh: bpy.types.Mesh, surfaces: Sequence[Surface], materials: Int32Array,
                 corners: Int32Array) -> Float32Array:
    """Return the painted colour of each corner, (L, 4), linear; white if there is none. corners: their vertices."""
    paint = np.ones((len(materials), 4), dtype=np.float32)
    names = [_painted_name(mesh, surface.painted) for surface in surfaces]
    for name in set(names):
        attribute: Any = mesh.color_attributes.get(name)
        if attribute is not None:
            wanted = np.array([each == name for each in names])[materials]
            colours = read_array(attribute.data, "color", 4)
            paint[wanted] = (colours[corners] if attribute.domain == "POINT" else colours)[wanted]
    return paint


def _painted_name(mesh: bpy.types.Mesh, name: str) -> str:
    if name:
        return name
    attributes: Any = mesh.color_attributes
    default = attributes.active_color_index if attributes.render_color_index < 0 else attributes.render_color_index
    return str(attributes[default].name) if 0 <= default < len(attributes) else ""


def read_array(collection: Any, name: str, width: int) -> Float32Array:
    """Return a property of all items, (N, width)."""
    flat = np.empty(len(collection) * width, dtype=np.float32)
    cast(Any, collection).foreach_get(name, flat)
    return flat.reshape(-1, width)
