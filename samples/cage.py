"""A coarse mesh of quads laid around the joints, and its subdivision.

One tube of twelve sides runs from the hips to the crown; arms (ten sides) leave it at the armpits, legs
(eight) at the hips, fingers (four) at the knuckles. Loops of edges go around every joint, so that it bends
well. The exact shape comes from `figure`; the cage only has to be near it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ..core.maths.arrays import FloatArray, IntArray
from . import figure
from .skeleton import LEFT, LEFT_ENDS

SKIN, SUIT, TRIM, SHOE, HAIR, EYE, LIPS = range(7)

# directions of the sides of a ring, in degrees from the left (+x) over the back (−z)
TRUNK_DEG = (0, 35, 62, 90, 118, 145, 180, 215, 242, 270, 298, 325)
LEG_DEG = (0, 45, 90, 135, 180, 225, 270, 315)
ARM_DEG = (216, 180, 144, 108, 72, 36, 0, -36, -72, -108)
HEAD_DEG = (0, 40, 65, 90, 115, 140, 180, 222, 248, 270, 292, 318)

# height of the lowest ring at each side: from the hips down into the crotch
CROTCH_Y_M = (0.905, 0.890, 0.855, 0.832, 0.855, 0.890, 0.905, 0.890, 0.855, 0.836, 0.855, 0.890)
# height and material of what lies between a ring and the one below
TRUNK: tuple[tuple[float, int], ...] = (
    (0.960, SUIT), (1.020, TRIM), (1.090, SUIT), (1.160, SUIT), (1.235, SUIT),
    (1.305, SUIT), (1.345, SUIT), (1.378, SUIT), (1.415, SUIT), (1.458, SUIT), (1.505, SKIN),
)
FIRST_ARM_RING = 6
# height in front and at the back, half width, centre z, reach to the front and the back, material;
# the rings slope backwards, so that the hairline is one of them
HEAD: tuple[tuple[float, float, float, float, float, float, int], ...] = (
    (1.528, 1.530, 0.048, 0.010, 0.070, 0.065, SKIN),
    (1.562, 1.545, 0.058, 0.014, 0.085, 0.075, SKIN),
    (1.598, 1.558, 0.068, 0.010, 0.095, 0.085, SKIN),
    (1.638, 1.570, 0.074, 0.006, 0.098, 0.090, SKIN),
    (1.690, 1.586, 0.077, 0.002, 0.094, 0.095, SKIN),
    (1.722, 1.640, 0.072, -0.003, 0.080, 0.100, HAIR),
    (1.742, 1.700, 0.050, -0.008, 0.055, 0.078, HAIR),
)
LEGS: tuple[tuple[float, int], ...] = (
    (0.790, SUIT), (0.650, SUIT), (0.530, SUIT), (0.440, SUIT), (0.320, SUIT), (0.195, SUIT), (0.110, SKIN),
    (0.053, SHOE), (0.000, SHOE),
)
# centre y, centre z, half width, half height of the rings of the foot, to the front
FOOT: tuple[tuple[float, float, float, float, float], ...] = (
    (0.098, 0.033, 0.050, 0.036, 0.034), (0.101, 0.024, 0.110, 0.044, 0.024), (0.103, 0.019, 0.168, 0.030, 0.018),
)
ARMS: tuple[tuple[float, int], ...] = (
    (1.300, SUIT), (1.195, SUIT), (1.090, SUIT), (0.990, SUIT), (0.925, TRIM), (0.898, SKIN), (0.860, SKIN),
)
SHOULDER = ((0.168, 1.368, -0.020), 0.056)
"""Centre and radius of the slanted ring that turns the arm downwards."""
KNUCKLES_Y_M = 0.803
KNUCKLES_Z_M = (0.043, 0.021, 0.000, -0.021, -0.041)
KNUCKLES_X_M = (0.262, 0.235)
FINGERS: tuple[tuple[str, float], ...] = (("index", 0.009), ("middle", 0.009), ("ring", 0.009), ("pinky", 0.008))


@dataclass
class Cage:
    """Points (lists of 3), quads (4 indices) and a material for each quad, as they are being laid."""

    points: list[tuple[float, float, float]] = field(default_factory=list)
    quads: list[tuple[int, int, int, int]] = field(default_factory=list)
    materials: list[int] = field(default_factory=list)

    def add(self, points: FloatArray) -> list[int]:
        """Add points (N, 3) and return their indices."""
        first = len(self.points)
        self.points += [(float(x), float(y), float(z)) for x, y, z in points]
        return list(range(first, len(self.points)))

    def face(self, corners: tuple[int, int, int, int], material: int) -> None:
        """Add one quad, counter-clockwise from outside."""
        self.quads.append(corners)
        self.materials.append(material)

    def bridge(self, a: list[int], b: list[int], material: int, skip: tuple[int, ...] = ()) -> None:
        """Join two rings side by side, without the sides where a limb will grow."""
        for i in range(len(a)):
            j = (i + 1) % len(a)
            if i not in skip:
                self.face((a[i], a[j], b[j], b[i]), material)

    def grid(self, rows: list[list[int]], material: int) -> None:
        """Close a hole with a lattice of quads."""
        for lower, upper in pairwise(rows):
            for i in range(len(lower) - 1):
                self.face((lower[i], lower[i + 1], upper[i + 1], upper[i]), material)


def build_cage() -> tuple[FloatArray, IntArray, IntArray]:
    """Return points (V, 3), quads (Q, 4) and their materials (Q,): closed, symmetric in x."""
    cage = Cage()
    trunk = _lay_trunk(cage)
    crotch = cage.add(np.array(((0.0, 0.826, -0.01),)))[0]
    for side in (1.0, -1.0):
        limb = Cage()
        limb.points = [(side * x, y, z) for x, y, z in cage.points]
        order = list(range(12)) if side > 0 else [(6 - i) % 12 for i in range(12)]
        rings = [[ring[i] for i in order] for ring in trunk]
        _lay_leg(limb, rings[0], crotch)
        _lay_arm(limb, rings[FIRST_ARM_RING:FIRST_ARM_RING + 4])
        cage.points = [(side * x, y, z) for x, y, z in limb.points]
        cage.quads += limb.quads if side > 0 else [(d, c, b, a) for a, b, c, d in limb.quads]
        cage.materials += limb.materials
    return np.array(cage.points), np.array(cage.quads), np.array(cage.materials)


def _circle(degrees: tuple[int, ...], x: float, z: float) -> tuple[FloatArray, FloatArray]:
    angle = np.radians(degrees)
    return np.cos(angle) * x, -np.sin(angle) * z


def _around(table: figure.Stack, degrees: tuple[int, ...], heights: tuple[float, ...]) -> FloatArray:
    """Lay a ring on a table's cross-sections, slightly outside."""
    points = np.empty((len(degrees), 3))
    for i, (turn, y) in enumerate(zip(np.radians(degrees), heights, strict=True)):
        x0, z0, out, inward, front, back = figure.section(table, y)
        c, s = np.cos(turn), -np.sin(turn)
        points[i] = x0 + c * (out if c > 0 else inward), y, z0 + s * (front if s > 0 else back)
    return points


def _lay_trunk(cage: Cage) -> list[list[int]]:
    rings = [cage.add(_around(figure.TORSO, TRUNK_DEG, CROTCH_Y_M))]
    for level, (y, material) in enumerate(TRUNK, start=1):
        rings.append(cage.add(_around(figure.TORSO, TRUNK_DEG, (y,) * 12)))
        under_arm = FIRST_ARM_RING < level <= FIRST_ARM_RING + 3
        cage.bridge(rings[-2], rings[-1], material, skip=(0, 5, 6, 11) if under_arm else ())
    for y_front, y_back, wide, z0, front, back, material in HEAD:
        across, deep = _circle(HEAD_DEG, wide, 1.0)
        middle = (y_front + y_back) / 2
        height = middle + np.where(deep > 0, y_front - middle, middle - y_back) * deep
        ring = cage.add(np.stack((across, height, z0 + deep * np.where(deep > 0, front, back)), axis=-1))
        cage.bridge(rings[-1], ring, material)
        rings.append(ring)
    top = rings[-1]
    crown = cage.add(np.array(((0.03, 1.75, -0.003), (0.0, 1.752, -0.003), (-0.03, 1.75, -0.003))))
    cage.grid([[top[i] for i in (7, 8, 9, 10, 11)], [top[6], crown[2], crown[1], crown[0], top[0]],
               [top[i] for i in (5, 4, 3, 2, 1)]], HAIR)
    return rings


def _lay_leg(cage: Cage, hips: list[int], crotch: int) -> None:
    ring = [hips[0], hips[1], hips[2], hips[3], crotch, hips[9], hips[10], hips[11]]
    below: list[list[int]] = [ring]
    for y, material in LEGS:
        ring = cage.add(_around(figure.LEG, LEG_DEG, (y,) * 8))
        in_foot = y < 0.1
        cage.bridge(ring, below[-1], material, skip=(5, 6) if in_foot else ())
        below.append(ring)
    top, middle, bottom = below[-3:]
    sole = cage.add(np.array(((0.091, 0.0, -0.03),)))[0]
    cage.grid([[bottom[3], bottom[2], bottom[1]], [bottom[4], sole, bottom[0]], [bottom[5], bottom[6], bottom[7]]],
              SHOE)
    ring = [bottom[5], bottom[6], bottom[7], middle[7], top[7], top[6], top[5], middle[5]]
    for x, y, z, wide, high in FOOT:
        across = np.array(((-1, -1), (0, -1.1), (1, -1), (1.1, 0), (1, 1), (0, 1.1), (-1, 1), (-1.1, 0)))
        front = cage.add(np.stack((x + across[:, 0] * wide * 0.85, y + across[:, 1] * high * 0.85,
                                   np.full(8, z)), axis=-1))
        cage.bridge(ring, front, SHOE)
        ring = front
    tip = cage.add(np.array(((0.103, 0.018, 0.176),)))[0]
    cage.grid([[ring[0], ring[1], ring[2]], [ring[7], tip, ring[3]], [ring[6], ring[5], ring[4]]], SHOE)


def _lay_arm(cage: Cage, rings: list[list[int]]) -> None:
    low, second, third, high = rings
    ring = [low[11], low[0], low[1], second[1], third[1], high[1], high[0], high[11], third[11], second[11]]
    (x0, y0, z0), radius = SHOULDER
    out, deep = _circle(ARM_DEG, radius, radius)
    slant = cage.add(np.stack((x0 + out * 0.75, y0 + out * 0.7, z0 + deep * 0.95), axis=-1))
    cage.bridge(ring, slant, SUIT)
    ring = slant
    for y, material in ARMS:
        below = cage.add(_around(figure.ARM, ARM_DEG, (y,) * 10))
        # the thumb grows from the front of the last part of the arm before the knuckles
        cage.bridge(ring, below, material, skip=(8,) if y == ARMS[-1][0] else ())
        before, ring = ring, below
    _lay_finger(cage, [before[8], before[9], ring[9], ring[8]], "thumb", 0.009, SKIN)
    outer = cage.add(np.array([(KNUCKLES_X_M[0], KNUCKLES_Y_M, z) for z in KNUCKLES_Z_M]))
    inner = cage.add(np.array([(KNUCKLES_X_M[1], KNUCKLES_Y_M, z) for z in KNUCKLES_Z_M]))
    knuckles = [inner[0], inner[1], inner[2], inner[3], inner[4], *reversed(outer)]
    palm = [ring[9], ring[0], ring[1], ring[2], ring[3], ring[4], ring[5], ring[6], ring[7], ring[8]]
    cage.bridge(palm, knuckles, SKIN)
    for i, (name, radius) in enumerate(FINGERS):
        _lay_finger(cage, [outer[i], inner[i], inner[i + 1], outer[i + 1]], name, radius, SKIN)


def _lay_finger(cage: Cage, base: list[int], name: str, radius: float, material: int) -> None:
    """Grow four sides along a finger's joints; base: the corners it leaves from, in order around it."""
    at = {row[0]: np.array(row[2]) for row in LEFT}
    joints = [at[f"{name}2"], at[f"{name}3"], np.array(LEFT_ENDS[f"{name}3"])]
    start = at[f"{name}1"]
    corners = np.array([cage.points[i] for i in base])
    along = (joints[-1] - start) / np.linalg.norm(joints[-1] - start)
    spread = corners - corners.mean(axis=0)
    spread -= (spread @ along)[:, None] * along
    spread /= np.linalg.norm(spread, axis=1, keepdims=True)
    ring = base
    for joint in joints:
        following = cage.add(joint + spread * radius * 1.3)
        cage.bridge(ring, following, material)
        ring = following
    cage.face((ring[0], ring[1], ring[2], ring[3]), material)


def build_ball(rounds: int) -> tuple[FloatArray, IntArray]:
    """Return a ball of radius one made of quads: a cube subdivided and rounded, 26 points, 98, 386…"""
    points = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))
    for _ in range(rounds):
        points, quads = subdivide(points, quads)
    return points / np.linalg.norm(points, axis=1, keepdims=True), quads


def subdivide(points: FloatArray, quads: IntArray) -> tuple[FloatArray, IntArray]:
    """Split each quad of a closed mesh in four (Catmull and Clark 1978); children of quad q are 4q … 4q + 3."""
    count = len(points)
    pairs = np.stack((quads, np.roll(quads, -1, axis=1)), axis=-1)
    edges, edge_of = np.unique(np.sort(pairs.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    edge_of = edge_of.reshape(-1, 4)
    face_points = points[quads].mean(axis=1)
    sums = np.zeros((len(edges), 3))
    np.add.at(sums, edge_of.ravel(), np.repeat(face_points, 4, axis=0))
    middles = points[edges].mean(axis=1)
    edge_points = (sums + 2.0 * middles) / 4.0
    valence = np.maximum(np.bincount(edges.ravel(), minlength=count), 1)[:, None]
    around_faces, around_edges = np.zeros((count, 3)), np.zeros((count, 3))
    np.add.at(around_faces, quads.ravel(), np.repeat(face_points, 4, axis=0))
    np.add.at(around_edges, edges.ravel(), np.repeat(middles, 2, axis=0))
    old = (around_faces / valence + 2.0 * around_edges / valence + (valence - 3.0) * points) / valence
    edge_of = edge_of + count
    centres = np.arange(len(quads)) + count + len(edges)
    children = [np.stack((quads[:, i], edge_of[:, i], centres, edge_of[:, i - 1]), axis=-1) for i in range(4)]
    return np.concatenate((old, edge_points, face_points)), np.stack(children, axis=1).reshape(-1, 4)
