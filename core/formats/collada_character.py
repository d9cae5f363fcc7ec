"""The characters of a COLLADA file: skeletons with their skins, and with the meshes parented to their joints.

A vertex v of a skin is at Σ w · joint · inverse bind · bind shape · v. Meshes are evaluated like that in the skeleton's
rest pose, so that skins bound in different poses fit one skeleton.
Source: Khronos Group, COLLADA 1.4.1 specification, 4-7 (skinning equation); 5: controller, skin, vertex_weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skinning.influences import Influences
from .character import (
    MAX_MESHES,
    TRIANGLE_SPENT,
    Character,
    CharacterFile,
    Look,
    SkinnedMesh,
    influences_of,
    rigid,
    unit_normals,
)
from .collada_data import ColladaData, child, children
from .collada_figures import Figures, Worn, figures
from .collada_mesh import Faces, faces_of, look_of
from .collada_tree import local_matrix
from .node_clips import NodeBody
from .xml import Element


def read(data: bytes, path: Path | None = None) -> CharacterFile:
    """Read the characters of a COLLADA file; path: for messages, and for the name if the file gives none.

    Raises FileError, with the line, for content that cannot be read, and if there is no skeleton.
    """
    document = ColladaData(data, path)
    found = figures(document)
    reader = _Reader(document, found)
    made = []
    for number, body in enumerate(found.bodies):
        meshes = (*reader.skins(number, body), *reader.rigid_parts(number, body))
        clips = tuple(clip for of, clip in found.clips if of == number)
        name = body.skeleton.name if body.skeleton.name not in ("", "Scene") or path is None else path.stem
        made.append(Character(name, body.skeleton, meshes, clips, reader.placed(body)))
    left_out = [name for name in reader.still if name not in reader.taken]
    warnings = found.warnings + ((f"left out: {some_of([quoted(each) for each in left_out], 3)}, on no skeleton",)
                                 if left_out else ())
    return CharacterFile(tuple(made), warnings + document.warnings())


class _Vertices(NamedTuple):
    """Assignments of vertices to joints of a skin, each (A,), without those to the skin's own unmoved shape."""

    vertices: IntArray
    joints: IntArray
    weights: FloatArray


def _model_from_nodes(body: NodeBody) -> FloatArray:
    """Return the matrices (J, 4, 4) from the spaces of a body's nodes, in the file's size, to its model space."""
    found = np.tile(np.eye(4), (len(body.nodes), 1, 1))
    found[:, :3] = body.skeleton.rest_world
    found[:, :3, :3] *= body.size
    return found


class _Reader:
    """Makes meshes. still: names of nodes with geometry that no skin moves; taken: those of them below a joint."""

    def __init__(self, data: ColladaData, found: Figures) -> None:
        self._data, self._found, self._scene = data, found, found.scene
        self._faces: dict[int, Faces | None] = {}
        self._meshes = 0
        self._body_of = {node: number for number, body in enumerate(found.bodies) for node in body.nodes.tolist()}
        self.still, self.taken = dict[str, None](), set[str]()

    def placed(self, body: NodeBody) -> FloatArray:
        """Return the matrix (4, 4) from a skeleton's model space to the file's scene."""
        matrix, node = np.eye(4), int(self._scene.tree.parents[body.nodes[0]])
        while node >= 0:
            matrix = self._local(node) @ matrix
            node = int(self._scene.tree.parents[node])
        back = np.eye(4)
        back[:3, :3] = rot.to_matrix(rot.conjugate(body.turn)) / body.size
        return np.asarray(matrix @ back)

    def _local(self, node: int) -> FloatArray:
        if node in self._scene.elements:
            return local_matrix(self._scene.transforms[node], self._scene.unit_m)
        matrix = np.eye(4)
        matrix[:3, :3] = rot.to_matrix(self._scene.tree.local.rotations[node])
        return matrix

    def skins(self, number: int, body: NodeBody) -> Iterator[SkinnedMesh]:
        """Yield the skins of a body."""
        for worn in self._found.worn:
            if worn.joints and self._body_of.get(worn.joints[0]) == number:
                geometry = self._geometry(worn.skin)
                faces = self._faces_of(geometry) if geometry is not None else None
                if geometry is not None and faces is not None:
                    yield self._skin(worn, body, geometry, faces)

    def _geometry(self, skin: Element) -> Element | None:
        """Return the geometry of a skin, directly or through a morph."""
        found = self._data.find(skin.attributes.get("source", ""), skin)
        morph = child(found, "morph") if found.tag == "controller" else None
        if morph is not None:
            found = self._data.find(morph.attributes.get("source", ""), morph)
        return found if found.tag == "geometry" else None

    def _faces_of(self, geometry: Element) -> Faces | None:
        if id(geometry) not in self._faces:
            self._faces[id(geometry)] = faces_of(self._data, geometry)
        return self._faces[id(geometry)]

    def _skin(self, worn: Worn, body: NodeBody, geometry: Element, faces: Faces) -> SkinnedMesh:
        """Return a skin with the skeleton at rest."""
        shape, joint_of = np.eye(4), {node: joint for joint, node in enumerate(body.nodes.tolist())}
        written = child(worn.skin, "bind_shape_matrix")
        if written is not None:
            shape = self._data.numbers(written, 16).reshape(4, 4)
        shape = self._in_metres(shape)
        count, given = len(faces.positions), self._weights(worn, len(faces.positions))
        joints = np.array([joint_of[node] for node in worn.joints])
        world = _model_from_nodes(body)[joints]
        sized = np.diag((body.size, body.size, body.size, 1.0))
        inverse = worn.inverse if worn.inverse is not None else np.linalg.pinv(world) @ sized
        moved = world @ inverse @ shape
        self._data.spend(12 * len(given.weights), worn.skin)
        vertices, which, weights = given
        table = influences_of(vertices, which, weights, count)
        matrices = np.tile(moved[0], (count, 1, 1))
        if len(moved) > 1 and not np.allclose(moved, moved[0]):
            matrices = np.einsum("vk,vkab->vab", table.weights, moved[table.joints])
            matrices[table.weights.sum(axis=1) == 0.0] = moved[0]
        return self._mesh(worn.instance, geometry, faces, matrices,
                          influences_of(vertices, joints[which], weights, count))

    def _in_metres(self, matrix: FloatArray) -> FloatArray:
        """Return a matrix that also converts the file's lengths to metres."""
        matrix = matrix.copy()
        matrix[:3] *= self._scene.unit_m
        matrix[3] = (0.0, 0.0, 0.0, 1.0)
        return matrix

    def _weights(self, worn: Worn, count: int) -> _Vertices:
        """Read which joints move which vertices; raise FileError for joints, weights or vertices that do not exist."""
        data, element = self._data, child(worn.skin, "vertex_weights")
        if element is None:
            return _Vertices(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        inputs = children(element, "input")
        offsets = {each.attributes.get("semantic", ""): data.count(each, "offset", 0) for each in inputs}
        source = next((each.attributes.get("source", "") for each in inputs if each.attributes.get("semantic")
                       == "WEIGHT"), "")
        values = data.rows(data.find(source, element))[:, 0]
        stride = 1 + max(offsets.values())
        counts, flat = (np.zeros(0, np.int64) if found is None else data.numbers(found).astype(np.int64)
                        for found in (child(element, "vcount"), child(element, "v")))
        if (counts < 0).any() or counts.sum() * stride != len(flat) or len(counts) > count:
            raise data.error(f"<vertex_weights> has {len(counts)} vertices with {counts.sum()} joints and weights; "
                             f"<v> holds {len(flat)} numbers, the mesh {count} vertices", element)
        if len(counts) < count or element.attributes.get("count", str(len(counts))) != str(len(counts)):
            data.note(f"<vertex_weights> is for {len(counts)} vertices, of {count} of the mesh; its count says "
                      f"{quoted(element.attributes.get('count', ''))}", element)
        rows = flat.reshape(-1, stride)
        joints, weights = rows[:, offsets.get("JOINT", 0)], rows[:, offsets["WEIGHT"]]
        for what, used, low, most in (("joint", joints, -1, len(worn.joints)), ("weight", weights, 0, len(values))):
            outside = used[(used < low) | (used >= most)]
            if len(outside):
                raise data.error(f"<vertex_weights> names {what} {outside[0]}; there are {most}", element)
        vertices, is_joint = np.repeat(np.arange(len(counts)), counts), joints >= 0
        return _Vertices(vertices[is_joint], joints[is_joint], np.maximum(values[weights[is_joint]], 0.0))

    def _mesh(self, instance: Element, geometry: Element, faces: Faces, matrices: FloatArray,
              influences: Influences) -> SkinnedMesh:
        """Return a mesh of vertices transformed to the skeleton's space by matrices (V, 4, 4), or by one (4, 4)."""
        self._meshes += 1
        if self._meshes > MAX_MESHES:
            raise self._data.error(f"more than {MAX_MESHES} meshes; no more are read", instance)
        linear = matrices[..., :3, :3]
        positions = (linear @ faces.positions[..., None])[..., 0] + matrices[..., :3, 3]
        triangles = faces.triangles
        is_mirrored = np.linalg.det(linear) < 0.0
        normals = faces.normals
        if normals is not None:
            turning = np.linalg.pinv(linear).swapaxes(-1, -2)
            turning = turning[triangles] if turning.ndim == 3 else turning
            normals = unit_normals((turning @ normals[..., None])[..., 0])
        uvs = faces.uvs
        if np.mean(is_mirrored) > 0.5:  # the outside stays outside
            triangles = triangles[:, ::-1]
            uvs, normals = (None if each is None else each[:, ::-1] for each in (uvs, normals))
        name = geometry.attributes.get("name") or geometry.attributes.get("id") or "Mesh"
        return SkinnedMesh(name, positions, triangles, faces.symbols, self._looks(instance, faces.names), uvs, normals,
                           influences)

    def _looks(self, instance: Element, symbols: Sequence[str]) -> tuple[Look, ...]:
        """Return the looks of materials' symbols, as an instance binds them."""
        common = child(child(instance, "bind_material"), "technique_common")
        bound = {each.attributes.get("symbol", ""): each.attributes.get("target", "")
                 for each in children(common, "instance_material")}
        return tuple(look_of(self._data, bound.get(symbol, f"#{symbol}"), instance) for symbol in symbols)

    def rigid_parts(self, number: int, body: NodeBody) -> Iterator[SkinnedMesh]:
        """Yield the geometry of a body's joints and of the nodes below them; note its names in `still` and `taken`."""
        joint_of = {node: joint for joint, node in enumerate(body.nodes.tolist())}
        for node, element in self._scene.elements.items():
            instances = children(element, "instance_geometry")
            if not instances:
                continue
            name = self._scene.tree.names[node]
            self.still[name] = None
            matrix, above = np.eye(4), node
            while above >= 0 and above not in joint_of and self._body_of.get(above, number) == number:
                matrix = self._local(above) @ matrix
                above = int(self._scene.tree.parents[above])
            if above not in joint_of:
                continue
            self.taken.add(name)
            world = _model_from_nodes(body)[joint_of[above]]
            for instance in instances:
                geometry = self._data.find(instance.attributes.get("url", ""), instance)
                faces = self._faces_of(geometry)
                if faces is not None:
                    self._data.spend(faces.positions.size + TRIANGLE_SPENT * len(faces.triangles), instance)
                    yield self._mesh(instance, geometry, faces, world @ matrix @ self._in_metres(np.eye(4)),
                                     rigid(joint_of[above], len(faces.positions)))
