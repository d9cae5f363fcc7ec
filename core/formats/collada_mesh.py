"""The meshes and materials of COLLADA.

Source: Khronos Group, COLLADA 1.4.1 specification, 5: mesh, triangles, polylist, polygons, trifans, tristrips; 8 (FX):
effect, profile_COMMON; 1.5.0 for images.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

import numpy as np

from ..errors import quoted
from ..maths.arrays import FloatArray, IntArray
from ..maths.srgb import linear
from .character import TRIANGLE_SPENT, Look, fans, strips, unit_normals
from .collada_data import ColladaData, child, children
from .xml import Element

_POLYGONS: Final = frozenset(("triangles", "polylist", "polygons", "trifans", "tristrips"))
_SHADERS: Final = ("phong", "lambert", "blinn", "constant")
_MOST_OFFSETS: Final = 64


class Faces(NamedTuple):
    """Triangles of a mesh: positions (V, 3); triangles (T, 3); uvs (T, 3, 2); normals (T, 3, 3); symbols.

    symbols: (T,) the index in `names` of each triangle's material symbol.
    """

    positions: FloatArray
    triangles: IntArray
    uvs: FloatArray | None
    normals: FloatArray | None
    symbols: IntArray
    names: tuple[str, ...]


def faces_of(data: ColladaData, geometry: Element) -> Faces | None:
    """Return the triangles of a geometry, or None if it has no mesh or no faces.

    Raises FileError, with the line, if faces use positions, normals or texture coordinates that do not exist.
    """
    mesh = child(geometry, "mesh")
    vertices = child(mesh, "vertices")
    if mesh is None or vertices is None:
        return None
    shared = data.inputs(vertices)
    if "POSITION" not in shared:
        raise data.error("<vertices> has no input POSITION", vertices)
    positions = _rows(data, shared["POSITION"], 3, vertices)
    parts, names = [], list[str]()
    for element in mesh.children:
        if element.tag in _POLYGONS:
            corners, triangles = _corners(data, element, positions)
            if len(triangles):
                parts.append(_part(data, element, shared, corners, triangles, len(positions)))
                names.append(element.attributes.get("material", ""))
    if not parts:
        return None
    triangles = np.concatenate([part[0] for part in parts])
    sizes = [len(part[0]) for part in parts]
    uvs, normals = (None if all(part[which] is None for part in parts) else np.concatenate(
        [np.zeros((size, 3, width)) if part[which] is None else part[which] for part, size in
         zip(parts, sizes, strict=True)]) for which, width in ((1, 2), (2, 3)))
    known = tuple(dict.fromkeys(names))
    return Faces(positions, triangles, uvs, normals, np.repeat([known.index(name) for name in names], sizes), known)


def _rows(data: ColladaData, source: Element, width: int, asking: Element) -> FloatArray:
    """Return the first numbers of each row of a source, (N, width)."""
    rows = data.rows(source)
    if rows.shape[1] < width:
        raise data.error(f"rows of {rows.shape[1]} numbers in {quoted(source.attributes.get('id', ''))}; {width} are "
                         "wanted", asking)
    return rows[:, :width]


def _inputs(data: ColladaData, element: Element) -> dict[str, tuple[int, Element]]:
    """Return the inputs of faces by semantic, each with its offset; of several sets, the first."""
    found: dict[str, tuple[int, Element]] = {}
    for each in children(element, "input"):
        found.setdefault(each.attributes.get("semantic", ""),
                         (_offset(data, each), data.find(each.attributes.get("source", ""), each)))
    return found


def _offset(data: ColladaData, element: Element) -> int:
    offset = data.count(element, "offset", 0)
    if offset >= _MOST_OFFSETS:
        raise data.error(f"<input> offset is {offset}; up to {_MOST_OFFSETS - 1} are read", element)
    return offset


def _corners(data: ColladaData, element: Element, positions: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the indices of all corners, (C, S), and triangles of corners (T, 3)."""
    offsets = [(each.attributes.get("semantic"), _offset(data, each)) for each in children(element, "input")]
    stride = 1 + max((offset for _, offset in offsets), default=0)
    at = next((offset for semantic, offset in offsets if semantic == "VERTEX"), 0)

    def filled(counts: IntArray) -> IntArray:
        if not len(positions):
            return fans(counts)
        index = np.clip(corners[:counts.sum(), at], 0, len(positions) - 1)
        return data.filler.filled(positions[index], counts)

    lists = [each for each in element.children if each.tag == "p"]
    lists += [found for hole in children(element, "ph") if (found := child(hole, "p")) is not None]
    written = [data.numbers(each).astype(np.int64) for each in lists]
    for each, flat in zip(lists, written, strict=True):
        if len(flat) % stride:
            raise data.error(f"<p> holds {len(flat)} numbers; a multiple of {stride} is wanted", each)
    corners = np.concatenate([np.zeros(0, np.int64), *written]).reshape(-1, stride)
    data.spend(TRIANGLE_SPENT // 3 * len(corners), element)
    if element.tag == "triangles":
        _compare(data, element, len(corners) / 3.0)
        return corners, np.arange(len(corners) // 3 * 3).reshape(-1, 3)
    if element.tag != "polylist":
        counts = np.array([len(flat) // stride for flat in written], np.int64)
        return corners, {"tristrips": strips, "trifans": fans}.get(element.tag, filled)(counts)
    vcount = child(element, "vcount")
    counts = np.zeros(0, np.int64) if vcount is None else data.numbers(vcount).astype(np.int64)
    if (counts < 0).any() or counts.sum() > len(corners):
        raise data.error(f"<vcount> is for {counts.sum()} corners; <p> has {len(corners)}", element)
    _compare(data, element, len(counts))
    if counts.sum() < len(corners):
        data.note(f"<vcount> is for {counts.sum()} corners; <p> has {len(corners)}, and those behind are left out",
                  element)
    return corners, filled(counts)


def _compare(data: ColladaData, element: Element, found: float) -> None:
    """Store a warning if there are more or fewer faces than stated, or if the last one lacks corners."""
    value = element.attributes.get("count")
    if value is not None and value.strip() != f"{found:.12g}":
        data.note(f"<{element.tag}> says count is {quoted(value)}; it holds {found:.12g} faces, and the whole ones of "
                  "these are read", element)


def _part(data: ColladaData, element: Element, shared: dict[str, Element], corners: IntArray, triangles: IntArray,
          count: int) -> tuple[IntArray, FloatArray | None, FloatArray | None]:
    """Return triangles of positions, and texture coordinates and normals at their corners."""
    inputs = _inputs(data, element)
    if "VERTEX" not in inputs:
        raise data.error(f"<{element.tag}> has no input VERTEX", element)
    at = inputs["VERTEX"][0]
    inputs |= {key: (at, source) for key, source in shared.items() if key not in inputs}

    def taken(offset: int, rows: int, what: str) -> IntArray:
        used = corners[:, offset][triangles]
        outside = used[(used < 0) | (used >= rows)]
        if len(outside):
            raise data.error(f"<{element.tag}> names {what} {outside.flat[0]}; there are {rows}", element)
        return np.asarray(used)

    points, found = taken(at, count, "position"), list[FloatArray | None]()
    for semantic, width, what in (("TEXCOORD", 2, "texture coordinate"), ("NORMAL", 3, "normal")):
        if semantic in inputs:
            offset, source = inputs[semantic]
            rows = _rows(data, source, width, element)
            found.append(rows[taken(offset, len(rows), what)])
        else:
            found.append(None)
    uvs, normals = found
    return points, uvs, unit_normals(normals) if normals is not None else None


def look_of(data: ColladaData, reference: str, asking: Element) -> Look:
    """Return the look of a material: its diffuse colour or texture, as far as the file has them."""
    if not data.has(reference):
        return Look(reference.removeprefix("#"))
    material = data.find(reference, asking)
    name = material.attributes.get("name") or material.attributes.get("id", "")
    instance = child(material, "instance_effect")
    url = instance.attributes.get("url", "") if instance is not None else ""
    profile = child(data.find(url, material), "profile_COMMON") if data.has(url) else None
    technique = child(profile, "technique")
    shader = next((found for tag in _SHADERS if (found := child(technique, tag)) is not None), None)
    diffuse = child(shader, "diffuse") or (child(shader, "emission") if shader is not None
                                           and shader.tag == "constant" else None)
    texture, colour = child(diffuse, "texture"), child(diffuse, "color")
    path = unquote(_image(data, profile, texture.attributes.get("texture", ""))) if texture is not None else ""
    if colour is None:
        return Look(name, texture=path)
    values = data.numbers(colour)
    if len(values) < 3:
        raise data.error(f"<color> holds {len(values)} numbers; 4 are wanted", colour)
    red, green, blue = linear(values[:3]).tolist()
    return Look(name, (red, green, blue), path)


def _image(data: ColladaData, profile: Element | None, name: str) -> str:
    """Return the path of an image that a texture names, through its sampler and surface or directly; "" for none."""
    known = {each.attributes.get("sid", ""): each for each in _parameters(profile)}
    for _ in range(3):
        parameter = known.get(name)
        if parameter is None:
            break
        sampler = child(parameter, "sampler2D")
        inner = sampler if sampler is not None else child(parameter, "surface")
        leading = next((found for tag in ("source", "init_from") if (found := child(inner, tag)) is not None), None)
        image = child(sampler, "instance_image")
        name = image.attributes.get("url", "").removeprefix("#") if image is not None else (
            leading.text if leading is not None else "")
    found = child(data.find(f"#{name}", profile), "init_from") if profile is not None and data.has(f"#{name}") else None
    inside = child(found, "ref")
    return inside.text if inside is not None else found.text if found is not None else ""


def _parameters(profile: Element | None) -> Iterator[Element]:
    """Yield the parameters of an effect's profile."""
    yield from children(profile, "newparam")
    yield from children(child(profile, "technique"), "newparam")
