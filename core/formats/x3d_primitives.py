"""X3D shapes without a list of faces: boxes, spheres, cylinders, cones, extrusions and elevation grids.

Source: ISO/IEC 19775-1:2023, X3D, 13.3 (Box, Cone, Cylinder, ElevationGrid, Extrusion, Sphere).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .character import TRIANGLE_SPENT, unit_normals
from .x3d_body import turns
from .x3d_scene import Node, Scene

_AROUND: Final = 32
"""Number of sides of round shapes."""
_RINGS: Final = 16
"""Number of rings from pole to pole of a sphere."""
_SAME: Final = 1e-9
_LARGEST: Final = 20_000
"""Greatest number of points along a side of a grid."""


class Solid(NamedTuple):
    """A shape: points (V, 3), triangles (T, 3), counterclockwise from outside, uvs (T, 3, 2), normals (T, 3, 3)."""

    points: FloatArray
    triangles: IntArray
    uvs: FloatArray
    normals: FloatArray | None


def solid_of(scene: Scene, node: Node) -> Solid:
    """Return the shape of a node of a kind in PRIMITIVES; raise FileError, with the line, if it is not valid."""
    return PRIMITIVES[node.kind](scene, node)


class _Sheet(NamedTuple):
    """A grid of points (R, C, 3), each row from left to right as seen from outside, from the bottom to the top.

    uvs: (R, C, 2). normals: (R, C, 3), or None.
    """

    points: FloatArray
    uvs: FloatArray
    normals: FloatArray | None


def _joined(*sheets: _Sheet) -> Solid:
    """Return sheets as one shape; triangles without an area are left out."""
    points, triangles, uvs, normals = list[FloatArray](), list[IntArray](), list[FloatArray](), list[FloatArray]()
    first = 0
    for sheet in sheets:
        rows, columns = sheet.points.shape[:2]
        at = np.arange(rows * columns).reshape(rows, columns)
        low_left, low_right, up_left, up_right = (each.ravel() for each in (at[:-1, :-1], at[:-1, 1:], at[1:, :-1],
                                                                            at[1:, 1:]))
        faces = np.concatenate((np.stack((low_left, low_right, up_right), axis=1),
                                np.stack((low_left, up_right, up_left), axis=1)))
        own = sheet.points.reshape(-1, 3)
        corners = own[faces]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        faces = faces[area > 0.0]
        points.append(own)
        triangles.append(faces + first)
        uvs.append(sheet.uvs.reshape(-1, 2)[faces])
        if sheet.normals is not None:
            normals.append(sheet.normals.reshape(-1, 3)[faces])
        first += len(own)
    return Solid(np.concatenate(points), np.concatenate(triangles), np.concatenate(uvs),
                 np.concatenate(normals) if len(normals) == len(sheets) else None)


def _box(scene: Scene, node: Node) -> Solid:
    half = scene.vector(node, "size", (2.0, 2.0, 2.0)) / 2.0
    return _joined(*(_square(half, *axes) for axes in (
        ((1, 0, 0), (0, 1, 0)), ((-1, 0, 0), (0, 1, 0)), ((0, 0, -1), (0, 1, 0)), ((0, 0, 1), (0, 1, 0)),
        ((1, 0, 0), (0, 0, -1)), ((1, 0, 0), (0, 0, 1)))))


def _square(half: FloatArray, right: tuple[int, int, int], up: tuple[int, int, int]) -> _Sheet:
    """Return the face of a box that has two axes to its right and upwards, as seen from outside."""
    normal = np.cross(right, up).astype(np.float64)
    sides = np.array((-1.0, 1.0))
    points = half * (normal + sides[None, :, None] * np.array(right) + sides[:, None, None] * np.array(up))
    return _Sheet(points, _unit_uvs(2, 2), np.broadcast_to(normal, (2, 2, 3)))


def _unit_uvs(rows: int, columns: int) -> FloatArray:
    u, v = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
    return np.stack((u, v), axis=2)


def _circle(count: int = _AROUND) -> FloatArray:
    """Return directions (count + 1, 3) around Y, counterclockwise from above, from −Z on, where a texture begins."""
    angle = np.linspace(0.0, 2.0 * np.pi, count + 1)
    return np.stack((-np.sin(angle), np.zeros(count + 1), -np.cos(angle)), axis=1)


def _sphere(scene: Scene, node: Node) -> Solid:
    radius = _length(scene, node, "radius", 1.0)
    height = np.linspace(-np.pi / 2.0, np.pi / 2.0, _RINGS + 1)[:, None, None]
    normals = np.cos(height) * _circle() + np.sin(height) * np.array((0.0, 1.0, 0.0))
    return _joined(_Sheet(radius * normals, _unit_uvs(_RINGS + 1, _AROUND + 1), normals))


def _cylinder(scene: Scene, node: Node) -> Solid:
    radius, height = _length(scene, node, "radius", 1.0), _length(scene, node, "height", 2.0)
    around, up = _circle(), np.array((0.0, height / 2.0, 0.0))
    side = _Sheet(np.stack((radius * around - up, radius * around + up)), _unit_uvs(2, _AROUND + 1),
                  np.stack((around, around)))
    return _with_parts(scene, node, side, (("top", 1.0), ("bottom", -1.0)), radius, height)


def _cone(scene: Scene, node: Node) -> Solid:
    radius, height = _length(scene, node, "bottomRadius", 1.0), _length(scene, node, "height", 2.0)
    around, up = _circle(), np.array((0.0, height / 2.0, 0.0))
    normals = unit_normals(height * around + np.array((0.0, radius, 0.0)))
    side = _Sheet(np.stack((radius * around - up, np.broadcast_to(up, around.shape))), _unit_uvs(2, _AROUND + 1),
                  np.stack((normals, normals)))
    return _with_parts(scene, node, side, (("bottom", -1.0),), radius, height)


def _with_parts(scene: Scene, node: Node, side: _Sheet, ends: tuple[tuple[str, float], ...], radius: float,
                height: float) -> Solid:
    """Return the visible parts of a round shape, by its fields. ends: fields of its ends; 1 for up, −1 for down."""
    sheets = [side] if _is_true(scene, node, "side") else []
    around = _circle()[::-1]
    for field, sign in ends:
        if _is_true(scene, node, field):
            rim = around if sign < 0.0 else around[::-1]
            middle = np.array((0.0, sign * height / 2.0, 0.0))
            points = np.stack((radius * rim, np.zeros(rim.shape))) + middle
            uvs = 0.5 + points[..., (0, 2)] * (0.5, -0.5 * sign) / (radius or 1.0)
            sheets.append(_Sheet(points, uvs, np.broadcast_to((0.0, sign, 0.0), points.shape)))
    return _joined(*sheets) if sheets else Solid(np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros((0, 3, 2)),
                                                 np.zeros((0, 3, 3)))


def _grid(scene: Scene, node: Node) -> Solid:
    """Return an ElevationGrid: heights over the plane of X and Z."""
    columns, rows = (_count(scene, node, f"{axis}Dimension") for axis in "xz")
    wide, deep = (_length(scene, node, f"{axis}Spacing", 1.0) for axis in "xz")
    scene.spend((TRIANGLE_SPENT + 4) * columns * rows, node.line)
    heights = scene.numbers(node, "height", 1)[:, 0]
    if len(heights) != columns * rows:
        raise scene.error(f"{node.said}: height holds {len(heights)} numbers; {columns} × {rows} are wanted", node.line)
    x, z = np.meshgrid(np.arange(columns) * wide, np.arange(rows) * deep)
    points = np.stack((x, heights.reshape(rows, columns), z), axis=2)
    if columns < 2 or rows < 2:
        return Solid(points.reshape(-1, 3), np.zeros((0, 3), np.int64), np.zeros((0, 3, 2)), None)
    # Seen from above, the first rows in z are farther away.
    found = _joined(_Sheet(points[::-1], _unit_uvs(rows, columns)[::-1], None))
    return _wound(scene, node, found)


def _wound(scene: Scene, node: Node, solid: Solid) -> Solid:
    """Reverse a shape's faces if its field ccw is false."""
    return solid if _is_true(scene, node, "ccw") else solid._replace(triangles=solid.triangles[:, ::-1],
                                                                      uvs=solid.uvs[:, ::-1])


def _extrusion(scene: Scene, node: Node) -> Solid:
    """Return an Extrusion: a cross section that is drawn along a spine."""
    section = scene.numbers(node, "crossSection", 2, (1, 1, 1, -1, -1, -1, -1, 1, 1, 1))
    spine = scene.numbers(node, "spine", 3, (0, 0, 0, 0, 1, 0))
    scene.spend((TRIANGLE_SPENT + 10) * len(section) * len(spine), node.line)
    if len(section) < 2 or len(spine) < 2:
        return Solid(np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros((0, 3, 2)), None)
    scales = _for_each(scene.numbers(node, "scale", 2, (1.0, 1.0)), len(spine))
    own = rot.to_matrix(_for_each(turns(scene, node, "orientation"), len(spine)))
    flat = np.zeros((len(spine), len(section), 3))
    flat[..., 0], flat[..., 2] = scales[:, None, 0] * section[:, 0], scales[:, None, 1] * section[:, 1]
    points = np.einsum("sab,sbc,spc->spa", _planes(spine), own, flat) + spine[:, None]
    uvs = np.stack(np.broadcast_arrays(_shares(section)[None], _shares(spine)[:, None]), axis=2)
    sheets = [_Sheet(points, uvs, None)]
    low, size = section.min(axis=0), max(float(np.ptp(section, axis=0).max()), _SAME)
    over = (section - low) / size * (1.0, -1.0) + (0.0, 1.0)
    for field, ring, order in (("beginCap", points[0], -1), ("endCap", points[-1], 1)):
        if _is_true(scene, node, field):
            middle = np.broadcast_to(ring[0], ring.shape)
            cap = np.stack((ring, middle))[:, ::order]
            sheets.append(_Sheet(cap, np.stack((over, np.broadcast_to(over[0], over.shape)))[:, ::order], None))
    return _wound(scene, node, _joined(*sheets))


def _for_each(values: FloatArray, count: int) -> FloatArray:
    """Return a row for each of `count` points of a spine; the last row is repeated."""
    return values[np.minimum(np.arange(count), len(values) - 1)]


def _planes(spine: FloatArray) -> FloatArray:
    """Return the axes (S, 3, 3), as columns, of the planes of the cross section at points (S, 3) of a spine."""
    is_closed = bool(np.abs(spine[0] - spine[-1]).max() <= _SAME)
    after, before = np.concatenate((spine[1:], spine[-1:])), np.concatenate((spine[:1], spine[:-1]))
    if is_closed:
        after[-1], before[0] = spine[1], spine[-2]
    z = np.cross(after - spine, before - spine)
    if not is_closed:
        z[0], z[-1] = (z[1], z[-2]) if len(spine) > 2 else (z[0], z[-1])
    y = unit_normals(_filled(after - before, np.array((0.0, 1.0, 0.0))))
    straight = rot.rotate(rot.shortest_arc(np.array((0.0, 1.0, 0.0)), y[0]), np.array((0.0, 0.0, 1.0)))
    z = unit_normals(_filled(z, straight))
    signs = np.cumprod(np.concatenate(((1.0,), np.where((z[1:] * z[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))))
    z = z * signs[:, None]
    x = unit_normals(np.cross(y, z))
    return np.stack((x, y, np.cross(x, y)), axis=2)


def _filled(vectors: FloatArray, default: FloatArray) -> FloatArray:
    """Replace zero vectors (N, 3) by the previous vector, the first ones by the next, or all by the default."""
    is_there = np.linalg.norm(vectors, axis=1) > _SAME
    if not is_there.any():
        return np.broadcast_to(default, vectors.shape)
    last = np.maximum.accumulate(np.where(is_there, np.arange(len(vectors)), -1))
    return vectors[np.where(last < 0, int(is_there.argmax()), last)]


def _shares(points: FloatArray) -> FloatArray:
    """Return the position (N,) of points along the line through them, from 0 to 1."""
    way = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))
    return np.asarray(way / (way[-1] or 1.0))


def _length(scene: Scene, node: Node, name: str, default: float) -> float:
    found = float(scene.vector(node, name, (default,))[0])
    if found < 0.0:
        raise scene.error(f"{node.said}: {name} is {found:g}; a length from 0 on is wanted", node.fields[name].line)
    return found


def _count(scene: Scene, node: Node, name: str) -> int:
    found = float(scene.vector(node, name, (0.0,))[0])
    if not 0.0 <= found <= _LARGEST or found % 1.0:
        raise scene.error(f"{node.said}: {name} is {found:g}; a whole number up to {_LARGEST} is wanted",
                          node.fields[name].line)
    return int(found)


def _is_true(scene: Scene, node: Node, name: str) -> bool:
    return scene.text(node, name).lower() != "false"


PRIMITIVES: Final[Mapping[str, Callable[[Scene, Node], Solid]]] = {
    "Box": _box, "Sphere": _sphere, "Cylinder": _cylinder, "Cone": _cone, "ElevationGrid": _grid,
    "Extrusion": _extrusion}
"""The functions that make the shape of a node, by its kind."""
