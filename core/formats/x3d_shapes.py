"""The shapes of X3D: triangles over the points of a coordinate node, and their materials.

Source: ISO/IEC 19775-1:2023, X3D, 11 (rendering), 12 (shape), 13 (geometry3D), 18 (texturing).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote, unquote_to_bytes

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..maths.srgb import linear
from .character import TRIANGLE_SPENT, Look, fans, strips, unit_normals
from .x3d_primitives import PRIMITIVES, solid_of
from .x3d_scene import Node, Scene, Use, texts

COORDINATE: Final = frozenset(("Coordinate", "CoordinateDouble"))
_APPEARANCE: Final = frozenset(("Appearance",))
_MATERIALS: Final = {"Material": ("diffuseColor", (0.8, 0.8, 0.8)), "UnlitMaterial": ("emissiveColor", (1.0, 1.0, 1.0)),
                    "PhysicalMaterial": ("baseColor", (1.0, 1.0, 1.0))}
"""Materials, the field with the colour of each, and its default."""
_COLOURED: Final = frozenset(("", "texture", "diffuseTexture", "emissiveTexture", "baseTexture"))
"""Fields with a texture that gives the colour; "" where the file does not say in which it is."""
_PLAIN: Final = {"TriangleSet": 3, "QuadSet": 4, "IndexedTriangleSet": 3, "IndexedQuadSet": 4}
"""Geometry of polygons of so many corners each."""
_RUNS: Final = {"IndexedTriangleStripSet": True, "IndexedTriangleFanSet": False}
_COUNTED: Final = {"TriangleStripSet": ("stripCount", True), "TriangleFanSet": ("fanCount", False)}
_INDICES: Final = ("coordIndex", "index")
GEOMETRY: Final = frozenset(("IndexedFaceSet", *_PLAIN, *_RUNS, *_COUNTED, *PRIMITIVES))


class Faces(NamedTuple):
    """Triangles of one shape: triangles (T, 3) of points (V, 3); uvs (T, 3, 2), normals (T, 3, 3).

    coordinate: the node that holds the points, or None if the shape itself does.
    """

    coordinate: Node | None
    points: FloatArray
    triangles: IntArray
    uvs: FloatArray | None
    normals: FloatArray | None


def faces_of(scene: Scene, geometry: Node) -> Faces | None:
    """Return the triangles of a shape's geometry, or None if it has no points.

    Raises FileError, with the line, if they use points, normals or texture coordinates that do not exist.
    """
    if geometry.kind in PRIMITIVES:
        solid = solid_of(scene, geometry)
        return Faces(None, *solid)
    coordinate = next((node for node, _ in scene.children(geometry, COORDINATE)), None)
    if coordinate is None:
        return None
    points = scene.numbers(coordinate, "point", 3)
    written = next((scene.numbers(geometry, name, 1) for name in _INDICES if name in geometry.fields), points)
    scene.spend(TRIANGLE_SPENT // 3 * len(written), geometry.line)
    index, corners = _corners(scene, geometry, points)
    if scene.text(geometry, "ccw").lower() == "false":
        corners = corners[:, ::-1]
    triangles = index[corners]
    _check(scene, geometry, triangles, len(points), "point")
    is_flat = ((triangles[:, 0] == triangles[:, 1]) | (triangles[:, 1] == triangles[:, 2])
               | (triangles[:, 2] == triangles[:, 0]))
    corners, triangles = corners[~is_flat], triangles[~is_flat]
    uvs = _at_corners(scene, geometry, index, corners, _UVS)
    normals = (None if scene.text(geometry, "normalPerVertex").lower() == "false" else
               _at_corners(scene, geometry, index, corners, _NORMALS))
    return Faces(coordinate, points, triangles, uvs, unit_normals(normals) if normals is not None else None)


def _corners(scene: Scene, geometry: Node, points: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the point of each written corner, (C,), and triangles of corners, (T, 3)."""
    kind = geometry.kind
    if kind == "IndexedFaceSet":
        index = _integers(scene, geometry, "coordIndex")
        corners, counts = _runs(index)
        return index, corners[_filled(scene, points, index[corners], counts)]
    if kind in _RUNS:
        index = _integers(scene, geometry, "index")
        corners, counts = _runs(index)
        return index, corners[(strips if _RUNS[kind] else fans)(counts)]
    if kind in _COUNTED:
        name, is_strip = _COUNTED[kind]
        counts = _integers(scene, geometry, name)
        if counts.sum() > len(points) or (counts < 0).any():
            raise scene.error(f"{geometry.said}: {name} is for {counts.sum()} points; there are {len(points)}",
                              geometry.line)
        return np.arange(len(points)), (strips if is_strip else fans)(counts)
    index = _integers(scene, geometry, "index") if kind.startswith("Indexed") else np.arange(len(points))
    index = index[index >= 0]
    counts = np.full(len(index) // _PLAIN[kind], _PLAIN[kind])
    return index, _filled(scene, points, index[:counts.sum()], counts)


def _integers(scene: Scene, node: Node, name: str) -> IntArray:
    return np.asarray(scene.numbers(node, name, 1)[:, 0].astype(np.int64))


def _runs(index: IntArray) -> tuple[IntArray, IntArray]:
    """Return the indices of corners (C,) in runs that end with −1, and the length of each run."""
    is_end = index < 0
    return np.flatnonzero(~is_end), np.bincount(np.cumsum(is_end)[~is_end])


def _filled(scene: Scene, points: FloatArray, index: IntArray, counts: IntArray) -> IntArray:
    """Return the corners of triangles that fill polygons; index: (C,) the point of each corner."""
    if not len(points):
        return fans(counts)
    return scene.filler.filled(points[np.clip(index, 0, len(points) - 1)], counts)


def _check(scene: Scene, geometry: Node, used: IntArray, count: int, what: str) -> None:
    """Raise FileError if triangles use an index from `count` on."""
    outside = used[(used < 0) | (used >= count)]
    if len(outside):
        raise scene.error(f"{geometry.said}: its faces name {what} {outside.flat[0]}; there are {count}", geometry.line)


class _Given(NamedTuple):
    """An attribute of corners besides points: its node, the field of its values, their width, the field of indices."""

    kinds: frozenset[str]
    field: str
    width: int
    numbers: str
    what: str


_UVS: Final = _Given(frozenset(("TextureCoordinate",)), "point", 2, "texCoordIndex", "texture coordinate")
_NORMALS: Final = _Given(frozenset(("Normal",)), "vector", 3, "normalIndex", "normal")


def _at_corners(scene: Scene, geometry: Node, index: IntArray, corners: IntArray, given: _Given) -> FloatArray | None:
    """Return the values at corners of triangles, (T, 3, width), or None if the shape has none."""
    node = next((node for node, _ in scene.children(geometry, given.kinds)), None)
    if node is None or given.field not in node.fields:
        return None
    values = scene.numbers(node, given.field, given.width)
    own = _integers(scene, geometry, given.numbers) if geometry.kind == "IndexedFaceSet" else index[:0]
    if len(own) and len(own) < len(index) - (index[-1:] < 0).sum():
        raise scene.error(f"{geometry.said}: {given.numbers} has {len(own)} numbers, coordIndex {len(index)}; as many "
                          "are wanted", geometry.line)
    used = (own if len(own) else index)[corners]
    _check(scene, geometry, used, len(values), given.what)
    return np.asarray(values[used])


def look_of(scene: Scene, shape: Node) -> Look:
    """Return the look of a shape: the colour of its material, and its first texture."""
    appearance = next((node for node, _ in scene.children(shape, _APPEARANCE)), None)
    if appearance is None:
        return Look("")
    material = next((node for node, _ in scene.children(appearance, frozenset(_MATERIALS))), None)
    name, colour = appearance.name, np.array((0.8, 0.8, 0.8))
    if material is not None:
        field, default = _MATERIALS[material.kind]
        name = scene.full_name(material) or material.name or name
        colour = scene.vector(material, field, default)
    if material is None or material.kind != "PhysicalMaterial":  # its colours are linear
        colour = linear(colour)
    texture = next((node for around in (appearance, material) if around is not None
                    for node in _textures(scene, around)), None)
    urls = [] if texture is None or "url" not in texture.fields else texts(texture.fields["url"].text)
    image = next((found for url in urls if (found := data_of(url))), b"")
    path = next((url for url in urls if not url.startswith(("data:", "http:", "https:", "urn:"))), "")
    red, green, blue = np.clip(colour, 0.0, 1.0).tolist()
    return Look(name, (red, green, blue), unquote(path) if not image else "", image)


def _textures(scene: Scene, around: Node) -> Iterator[Node]:
    """Yield the colour textures of an appearance or a material, but not those of normals and shine."""
    for child in around.children:
        if child.field in _COLOURED and not (isinstance(child.node, Use) and child.node.name not in scene.named):
            node = scene.node(child)
            if node.kind == "ImageTexture":
                yield node
            elif node.kind == "MultiTexture":
                yield from (each for each, _ in scene.children(node, frozenset(("ImageTexture",))))


def data_of(url: str) -> bytes:
    r"""Return the bytes that a `data:` address contains; none for other addresses, or for damaged ones.

    >>> data_of("data:image/png;base64,AAEC"), data_of("data:,a%20b"), data_of("a.png"), data_of("data:;base64,A")
    (b'\x00\x01\x02', b'a b', b'', b'')
    """
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma:
        return b""
    if not head.endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(body)
    except (binascii.Error, ValueError):
        return b""
