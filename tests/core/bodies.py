"""Small bodies with bones for the tests of binding."""

from dataclasses import replace
from typing import Any

import numpy as np

from takt.core.binding import BindInput

Faces = list[list[int]]


def tube(start, end, radius: float, rings: int = 12, sides: int = 10) -> tuple[np.ndarray, Faces]:
    """A closed tube between two points, with a point at either end; faces look outward."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.linalg.norm(end - start)
    one = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    one /= np.linalg.norm(one)
    other = np.cross(along, one)
    angle = np.arange(sides) * 2 * np.pi / sides
    ring = radius * (np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * other)
    places = np.linspace(0, 1, rings)[:, None, None] * (end - start) + start
    points = np.concatenate(((places + ring).reshape(-1, 3), [start - along * radius / 2, end + along * radius / 2]))
    faces = []
    first, last = rings * sides, rings * sides + 1
    for side in range(sides):
        right = (side + 1) % sides
        faces += [[r * sides + side, r * sides + right, (r + 1) * sides + right, (r + 1) * sides + side]
                  for r in range(rings - 1)]
        faces += [[right, side, first], [(rings - 1) * sides + side, (rings - 1) * sides + right, last]]
    return points, faces


def ball(centre, radius: float, rings: int = 7, sides: int = 10) -> tuple[np.ndarray, Faces]:
    """A closed ball, with a point at either pole; faces look outward."""
    height = np.linspace(0, np.pi, rings + 2)[1:-1]
    angle = np.arange(sides) * 2 * np.pi / sides
    round_it = np.stack((np.outer(np.sin(height), np.cos(angle)), np.outer(np.sin(height), np.sin(angle)),
                         np.outer(-np.cos(height), np.ones(sides))), axis=-1).reshape(-1, 3)
    points = np.concatenate((round_it, [[0, 0, -1], [0, 0, 1]])) * radius + np.asarray(centre, float)
    faces = tube((0, 0, 0), (0, 0, 1), 1.0, rings, sides)[1]
    return points, faces


def joined(*meshes: tuple[np.ndarray, Faces]) -> tuple[np.ndarray, Faces, np.ndarray]:
    """Several meshes as one list of vertices and faces, and the part of each vertex."""
    faces: Faces = []
    start = 0
    for points, own in meshes:
        faces += [[v + start for v in face] for face in own]
        start += len(points)
    return (np.concatenate([m[0] for m in meshes]), faces,
            np.concatenate([np.full(len(m[0]), i) for i, m in enumerate(meshes)]))


def limb(rings: int = 24, sides: int = 10) -> BindInput:
    """A tube of length 4 and radius 0.4 along z with two bones that meet in its middle."""
    points, faces = tube((0, 0, 0), (0, 0, 4), 0.4, rings, sides)
    return BindInput.from_arrays(points, faces, ["upper", "lower"], [-1, 0], [[0, 0, 0], [0, 0, 2]],
                                 [[0, 0, 2], [0, 0, 4]])


BONES: dict[str, Any] = {  # name: parent, head, tail; what lies at x > 0 has a double at x < 0
    "hips": (None, (0, 0.02, 1.0), (0, 0.02, 1.25)), "spine": ("hips", (0, 0.02, 1.25), (0, 0.02, 1.6)),
    "head": ("spine", (0, 0.02, 1.6), (0, 0.02, 1.95)),
    "arm.L": ("spine", (0.17, 0.02, 1.5), (0.45, 0.02, 1.5)), "hand.L": ("arm.L", (0.45, 0.02, 1.5), (0.75, 0.02, 1.5)),
    "thigh.L": ("hips", (0.11, 0.02, 0.95), (0.13, 0, 0.5)), "shin.L": ("thigh.L", (0.13, 0, 0.5), (0.13, 0.02, 0.05))}


def figure(rings: int = 8, sides: int = 8) -> BindInput:
    """A little man of tubes that stick in each other, mirrored at x = 0: a part for trunk, each arm, each leg."""
    names, parents, heads, tails = [], [], [], []
    bones = dict(BONES)
    for name, (parent, head, tail) in BONES.items():
        if name.endswith(".L"):
            mirror = np.array([-1, 1, 1])
            bones[name[:-1] + "R"] = (parent and parent.replace(".L", ".R"), mirror * head, mirror * tail)
    for name, (parent, head, tail) in bones.items():
        names.append(name)
        parents.append(-1 if parent is None else names.index(parent))
        heads.append(head)
        tails.append(tail)
    trunk = tube((0, 0.02, 0.95), (0, 0.02, 1.95), 0.17, 2 * rings, sides)
    left = [tube((0.1, 0.02, 1.5), (0.75, 0.02, 1.5), 0.06, rings, sides),
            tube((0.11, 0.02, 1.0), (0.13, 0.02, 0.03), 0.08, rings, sides)]
    right = [(points * (-1, 1, 1), [face[::-1] for face in faces]) for points, faces in left]
    points, faces, part = joined(trunk, *left, *right)
    return BindInput.from_arrays(points, faces, names, parents, heads, tails, part)


def split(body: BindInput) -> tuple[BindInput, np.ndarray]:
    """Every face with vertices of its own, and which vertex each was."""
    corners = body.face_vertices
    return replace(body, vertices=body.vertices[corners], part=body.part[corners],
                   face_vertices=np.arange(len(corners))), corners


def moved(body: BindInput, matrix: np.ndarray, offset=(0.0, 0.0, 0.0)) -> BindInput:
    """All of it through a matrix (3, 3) and by an offset."""
    return replace(body, **{name: getattr(body, name) @ np.asarray(matrix).T + offset
                            for name in ("vertices", "heads", "tails")})


def shuffled(body: BindInput, seed: int) -> tuple[BindInput, np.ndarray]:
    """The vertices in another order, and where each went."""
    order = np.random.default_rng(seed).permutation(len(body.vertices))
    back = np.argsort(order)
    return replace(body, vertices=body.vertices[order], part=body.part[order],
                   face_vertices=back[body.face_vertices]), back


def turn(axis, angle_rad: float) -> np.ndarray:
    """A rotation matrix (3, 3)."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle_rad) * cross + (1 - np.cos(angle_rad)) * cross @ cross)

