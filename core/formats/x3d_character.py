"""The characters of an X3D scene: humanoids with their skins, and the shapes of their segments.

A skin's shapes share the points of the humanoid's skinCoord, which joints move by weights; the shapes of a segment move
with its joint alone. Both are given in the humanoid's space at rest. Shapes with the same name form one mesh. If meshes
share points, they become one mesh with the body's name.
Source: ISO/IEC 19774-1:2019, H-Anim architecture, 4.9 and 6.2 to 6.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ..errors import quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skinning.influences import Influences
from .character import (
    MAX_MESHES,
    Character,
    CharacterFile,
    Look,
    SkinnedMesh,
    influences_of,
    joined,
    rigid,
    unit_normals,
)
from .x3d_body import JOINT, SEGMENT, Body, influences, is_sheared, local_matrix
from .x3d_motion import clips, humanoids_of
from .x3d_scene import MAX_DEPTH, Node, Scene, Use
from .x3d_shapes import COORDINATE, GEOMETRY, Faces, faces_of, look_of

_SHAPE: Final = frozenset(("Shape",))
_GROUPS: Final = frozenset(("Group", "Transform", "Collision", "Anchor"))
_LOOKS: Final = frozenset(("Appearance", "MetadataString"))
"""The children of a shape besides its geometry."""
_LEAST_SPENT: Final = 12_500
"""Least numbers for which each use of a shape counts."""


def characters_of(scene: Scene) -> CharacterFile:
    """Return the humanoids of a scene with their meshes and clips.

    Raises FileError, with the line, for content that cannot be read, and if there is no humanoid.
    """
    found = humanoids_of(scene, "character in it")
    played = tuple(clips(scene, found))
    made = tuple(Character(body.name, body.skeleton, tuple(_meshes(scene, body)),
                           tuple(clip for clip in played if clip.skeleton is body.skeleton), body.placed)
                 for body in found)
    if sum(len(character.meshes) for character in made) > MAX_MESHES:
        raise scene.error(f"more than {MAX_MESHES} meshes; no more are read", None)
    for body in found:
        if is_sheared(body.placed):
            scene.note(f"{quoted(body.name)} is sheared by an uneven scale around it, which Blender's objects cannot "
                       "be; the shear is left out", body.humanoid.line)
    for character in made:
        if not character.meshes:
            scene.notes[f"{character.name} has no skin that is read; its skeleton is there"] = None
    return CharacterFile(made, scene.warnings())


def _meshes(scene: Scene, body: Body) -> Iterator[SkinnedMesh]:
    """Yield the meshes of a humanoid's skin, and the shapes of its segments as one mesh."""
    skin = dict[str, list[SkinnedMesh]]()
    for part in _skin_parts(scene, body):
        skin.setdefault(part.name or body.name, []).append(part)
    for name, same in skin.items():
        yield _placed(joined(name, same), body)
    seen = set[int]()
    parts = [part for joint, node in enumerate(body.nodes) if node.kind in JOINT
             for part in _rigid_parts(scene, node, joint, seen)]
    if parts:
        yield _placed(joined(f"{body.name} segments" if skin else body.name, parts), body)


def _placed(mesh: SkinnedMesh, body: Body) -> SkinnedMesh:
    """Turn a mesh into H-Anim's axes and metres."""
    normals = mesh.normals if mesh.normals is None else rot.rotate(body.turn, mesh.normals)
    return replace(mesh, positions=rot.rotate(body.turn, body.unit_m * mesh.positions), normals=normals)


def _skin_parts(scene: Scene, body: Body) -> Iterator[SkinnedMesh]:
    """Yield the shapes of a skin that use the humanoid's points as one mesh, and each other shape by itself."""
    coordinate = next((node for node, _ in scene.children(body.humanoid, COORDINATE, "skinCoord")), None)
    shared = dict[str, list[tuple[Faces, Look]]]()
    for shape, matrix in _shapes(scene, body.humanoid, ("skin",)):
        name = scene.full_name(shape) or shape.name
        for faces in _faces(scene, shape):
            if coordinate is not None and faces.coordinate is coordinate:
                shared.setdefault(name, []).append((faces, look_of(scene, shape)))
            else:
                yield _mesh([(_moved(matrix, faces), look_of(scene, shape))], rigid(0, len(faces.points)), name)
    if coordinate is not None and shared:
        weights = _weights(scene, body, len(scene.numbers(coordinate, "point", 3)))
        apart = _apart(shared)
        for name, shapes in apart:
            mesh = _mesh(shapes, weights, name)
            yield mesh if len(apart) == 1 else _used(mesh)


def _apart(shared: Mapping[str, list[tuple[Faces, Look]]]) -> list[tuple[str, list[tuple[Faces, Look]]]]:
    """Return shapes over the same points by name; shapes of several names that share points get the name ""."""
    first = list(range(len(shared)))  # the first name that each shares points with
    points = len(next(iter(shared.values()))[0][0].points)
    of_point = np.full(points, -1)

    def leading(number: int) -> int:
        while first[number] != number:
            first[number] = number = first[first[number]]
        return number

    for number, shapes in enumerate(shared.values()):
        used = np.unique(np.concatenate([faces.triangles for faces, _ in shapes]))
        for other in np.unique(of_point[used]).tolist():
            if other >= 0:
                one, another = sorted((leading(number), leading(other)))
                first[another] = one
        of_point[used] = number
    groups = dict[int, list[str]]()
    for number, name in enumerate(shared):
        groups.setdefault(leading(number), []).append(name)
    return [(names[0] if len(names) == 1 else "", [each for name in names for each in shared[name]])
            for names in groups.values()]


def _used(mesh: SkinnedMesh) -> SkinnedMesh:
    """Return the mesh without vertices that no triangle uses."""
    kept, triangles = np.unique(mesh.triangles, return_inverse=True)
    influences = Influences(mesh.influences.joints[kept], mesh.influences.weights[kept])
    return replace(mesh, positions=mesh.positions[kept], triangles=triangles.reshape(-1, 3), influences=influences)


def _weights(scene: Scene, body: Body, points: int) -> Influences:
    """Return the influences of each point of a skin; points that no joint moves have none."""
    found = [(joint, *influences(scene, node, points)) for joint, node in enumerate(body.nodes)
             if "skinCoordIndex" in node.fields]
    vertices, joints, weights = (
        np.concatenate([np.zeros(0, kind), *parts]) for kind, parts in (
            (np.int64, [index for _, index, _ in found]),
            (np.int64, [np.full(len(index), joint) for joint, index, _ in found]),
            (np.float64, [weights for _, _, weights in found])))
    return influences_of(vertices, joints, weights, points)


def _rigid_parts(scene: Scene, joint: Node, number: int, seen: set[int]) -> Iterator[SkinnedMesh]:
    """Yield the shapes that move with one joint; seen: ids of nodes that were used before, such as shared ones."""
    for around in (joint, *(node for node, _ in scene.children(joint, SEGMENT))):
        for shape, matrix in _shapes(scene, around, ("children", "")):
            if id(shape) not in seen:
                seen.add(id(shape))
                for faces in _faces(scene, shape):
                    scene.spend(faces.points.size, shape.line)
                    yield _mesh([(_moved(matrix, faces), look_of(scene, shape))], rigid(number, len(faces.points)))


def _shapes(scene: Scene, around: Node, fields: tuple[str, ...]) -> Iterator[tuple[Node, FloatArray]]:
    """Yield the shapes in some fields of a node, over groups and transforms, each with the matrix that places it."""
    stack = [(node, np.eye(4), 0, line) for node, line in reversed(list(scene.children(around, _SHAPE | _GROUPS,
                                                                                       *fields)))]
    while stack:
        node, matrix, depth, line = stack.pop()
        scene.spend(_LEAST_SPENT, line)
        if depth > MAX_DEPTH:
            raise scene.error(f"{node.said}: nodes nested more than {MAX_DEPTH} deep, or one is in itself", line)
        if node.kind in _SHAPE:
            yield node, matrix
            continue
        own = matrix @ local_matrix(scene, node) if node.kind == "Transform" else matrix
        stack.extend((below, own, depth + 1, at) for below, at in
                     reversed(list(scene.children(node, _SHAPE | _GROUPS, "children", ""))))


def _faces(scene: Scene, shape: Node) -> Iterator[Faces]:
    """Yield the triangles of a shape; store a warning about kinds of geometry that are left out."""
    for child in shape.children:
        if isinstance(child.node, Use) and child.node.name not in scene.named:
            continue
        geometry = scene.node(child)
        if geometry.kind in GEOMETRY:
            faces = faces_of(scene, geometry)
            if faces is not None and len(faces.triangles):
                yield faces
        elif geometry.kind not in _LOOKS:
            scene.notes[f"line {geometry.line}: left out: shapes of {quoted(geometry.kind)}"] = None


def _moved(matrix: FloatArray, faces: Faces) -> Faces:
    """Return faces transformed by a matrix (4, 4); mirrored faces keep their outside."""
    linear_part, order = matrix[:3, :3], -1 if np.linalg.det(matrix[:3, :3]) < 0.0 else 1
    normals = None if faces.normals is None else unit_normals(faces.normals @ np.linalg.pinv(linear_part))
    uvs, normals = (None if each is None else each[:, ::order] for each in (faces.uvs, normals))
    return faces._replace(points=faces.points @ linear_part.T + matrix[:3, 3], triangles=faces.triangles[:, ::order],
                          uvs=uvs, normals=normals)


def _mesh(shapes: Sequence[tuple[Faces, Look]], influences: Influences, name: str = "") -> SkinnedMesh:
    """Return shapes over the same points as one mesh."""
    faces = [each for each, _ in shapes]
    looks = list(dict.fromkeys(look for _, look in shapes))
    material = np.repeat([looks.index(look) for _, look in shapes], [len(each.triangles) for each in faces])

    def corners(values: Sequence[FloatArray | None], width: int) -> FloatArray | None:
        return None if all(each is None for each in values) else np.concatenate(
            [np.zeros((len(own.triangles), 3, width)) if each is None else each
             for each, own in zip(values, faces, strict=True)])

    triangles = np.concatenate([each.triangles for each in faces])
    return SkinnedMesh(name, faces[0].points, triangles, material, tuple(looks),
                       corners([each.uvs for each in faces], 2), corners([each.normals for each in faces], 3),
                       influences)
