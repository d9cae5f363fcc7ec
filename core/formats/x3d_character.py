"""The characters of an X3D scene: humanoids with their skins, and the shapes of their segments.

A skin's shapes share the points of the humanoid's skinCoord, which joints move by weights; the shapes of a segment go
with its joint alone. Both stand in the humanoid's space while its joints rest.
Source: ISO/IEC 19774-1:2019, H-Anim architecture, 4.9 and 6.2 to 6.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ..errors import quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skinning.influences import Influences
from .character import Character, CharacterFile, Look, SkinnedMesh, influences_of, joined, rigid, unit_normals
from .x3d_body import JOINT, SEGMENT, Body, influences, local_matrix
from .x3d_motion import clips, humanoids_of
from .x3d_scene import MAX_DEPTH, Node, Scene, Use
from .x3d_shapes import COORDINATE, GEOMETRY, Faces, faces_of, look_of

_SHAPE: Final = frozenset(("Shape",))
_GROUPS: Final = frozenset(("Group", "Transform", "Collision", "Anchor"))
_LOOKS: Final = frozenset(("Appearance", "MetadataString"))
"""What a shape has besides its geometry."""
_LEAST_SPENT: Final = 1000
"""Numbers that each place of a shape counts for."""


def characters_of(scene: Scene) -> CharacterFile:
    """Return the humanoids of a scene with what is seen of them and what moves them.

    Raises FileError, with the line, for what cannot be read, and where there is no humanoid.
    """
    found = humanoids_of(scene, "character in it")
    played = tuple(clips(scene, found))
    made = tuple(Character(body.name, body.skeleton, tuple(_meshes(scene, body)),
                           tuple(clip for clip in played if clip.skeleton is body.skeleton), body.placed)
                 for body in found)
    for character in made:
        if not character.meshes:
            scene.notes[f"{character.name} has no skin that is read; its skeleton is there"] = None
    return CharacterFile(made, scene.warnings())


def _meshes(scene: Scene, body: Body) -> Iterator[SkinnedMesh]:
    """Yield the skin of a humanoid, and the shapes of its segments as one mesh."""
    skin = list(_skin_parts(scene, body))
    if skin:
        yield _placed(joined(body.name, skin), body)
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
    """Yield what the shapes of a skin are over the humanoid's points, and each of those over others."""
    coordinate = next((node for node, _ in scene.children(body.humanoid, COORDINATE, "skinCoord")), None)
    shared = list[tuple[Faces, Look]]()
    for shape, matrix in _shapes(scene, body.humanoid, ("skin",)):
        for faces in _faces(scene, shape):
            if coordinate is not None and faces.coordinate is coordinate:
                shared.append((faces, look_of(scene, shape)))
            else:
                yield _mesh([(_moved(matrix, faces), look_of(scene, shape))], rigid(0, len(faces.points)))
    if coordinate is not None and shared:
        yield _mesh(shared, _weights(scene, body, len(shared[0][0].points)))


def _weights(scene: Scene, body: Body, points: int) -> Influences:
    """Return what moves each point of a skin; points that no joint moves have none."""
    found = [(joint, *influences(scene, node, points)) for joint, node in enumerate(body.nodes)
             if "skinCoordIndex" in node.fields]
    vertices, joints, weights = (
        np.concatenate([np.zeros(0, kind), *parts]) for kind, parts in (
            (np.int64, [index for _, index, _ in found]),
            (np.int64, [np.full(len(index), joint) for joint, index, _ in found]),
            (np.float64, [weights for _, _, weights in found])))
    return influences_of(vertices, joints, weights, points)


def _rigid_parts(scene: Scene, joint: Node, number: int, seen: set[int]) -> Iterator[SkinnedMesh]:
    """Yield the shapes that go with one joint; seen: ids of nodes that were taken before, as those of a shared one."""
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
    """Yield the triangles of a shape; say which kinds of geometry are left out."""
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
    """Return faces as a matrix (4, 4) places them; those that it mirrors keep their outside."""
    linear_part, order = matrix[:3, :3], -1 if np.linalg.det(matrix[:3, :3]) < 0.0 else 1
    normals = None if faces.normals is None else unit_normals(faces.normals @ np.linalg.pinv(linear_part))
    uvs, normals = (None if each is None else each[:, ::order] for each in (faces.uvs, normals))
    return faces._replace(points=faces.points @ linear_part.T + matrix[:3, 3], triangles=faces.triangles[:, ::order],
                          uvs=uvs, normals=normals)


def _mesh(shapes: Sequence[tuple[Faces, Look]], influences: Influences) -> SkinnedMesh:
    """Return shapes over the same points as one mesh."""
    faces = [each for each, _ in shapes]
    looks = list(dict.fromkeys(look for _, look in shapes))
    material = np.repeat([looks.index(look) for _, look in shapes], [len(each.triangles) for each in faces])

    def corners(values: Sequence[FloatArray | None], width: int) -> FloatArray | None:
        return None if all(each is None for each in values) else np.concatenate(
            [np.zeros((len(own.triangles), 3, width)) if each is None else each
             for each, own in zip(values, faces, strict=True)])

    return SkinnedMesh("", faces[0].points, np.concatenate([each.triangles for each in faces]), material, tuple(looks),
                       corners([each.uvs for each in faces], 2), corners([each.normals for each in faces], 3),
                       influences)
