"""People made by rule with what no humanoid has: tails, more arms, swords, capes, wings, horns; in odd poses too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray

from .made_people import A_POSE, FORWARD, OUTWARD, T_POSE, Build, Person, Turn, person, share_of

Part = tuple[FloatArray, IntArray]
"""Vertices (V, 3) and quads (Q, 4)."""

_SIDES = 10
_HEAVY = 0.5


def pipe(curve: FloatArray, radii: FloatArray) -> Part:
    """Return a closed tube around a curve (S, 3) with a radius (S,) at each of its points."""
    along = np.gradient(curve, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross(along, np.eye(3)[np.abs(along).mean(axis=0).argmin()])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angles = np.arange(_SIDES) * 2.0 * np.pi / _SIDES
    ring = np.cos(angles)[:, None, None] * across + np.sin(angles)[:, None, None] * np.cross(along, across)
    points = (curve + radii[:, None] * ring).transpose(1, 0, 2).reshape(-1, 3)
    first = np.arange((len(curve) - 1) * _SIDES).reshape(-1, _SIDES)
    second = np.roll(first, -1, axis=1)
    walls = np.stack((first, second, second + _SIDES, first + _SIDES), axis=-1).reshape(-1, 4)
    ends = np.array((len(points), len(points) + 1))
    lids = [[end, ring_ + (k + 1 if up else k) % _SIDES, ring_ + (k if up else k + 1) % _SIDES, end]
            for end, ring_, up in ((ends[0], 0, True), (ends[1], len(points) - _SIDES, False)) for k in range(_SIDES)]
    return np.concatenate((points, curve[:1], curve[-1:])), np.concatenate((walls, np.array(lids)))


def sheet(corner: FloatArray, across: FloatArray, down: FloatArray, flare: float, thick: float) -> Part:
    """Return a thin closed plate from a corner along two vectors (3,); flare: how much wider its lower edge is."""
    steps = np.linspace(0.0, 1.0, 9)
    one, other = np.meshgrid(steps, steps, indexing="ij")
    wide = 1.0 + (flare - 1.0) * other
    points = corner + ((one - 0.5) * wide + 0.5)[..., None] * across + other[..., None] * down
    normal = np.cross(across, down)
    normal *= thick / np.linalg.norm(normal)
    grid = np.arange(81).reshape(9, 9)
    quads = np.stack((grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]), axis=-1).reshape(-1, 4)
    rim = np.concatenate((grid[0, :-1], grid[:-1, -1], grid[-1, :0:-1], grid[:0:-1, 0]))
    edge = np.stack((rim, np.roll(rim, -1), np.roll(rim, -1) + 81, rim + 81), axis=-1)
    return (np.concatenate((points.reshape(-1, 3), points.reshape(-1, 3) + normal)),
            np.concatenate((quads, quads[:, ::-1] + 81, edge)))


def with_part(of: Person, part: Part, *, grown: bool) -> Person:
    """Return a person with one part more; grown: whether a face joins it with the body, so that it is not loose."""
    points, quads = part
    quads = quads + len(of.vertices)
    if grown:
        one, two = quads[0, 0], quads[0, 1]
        nearest = int(np.linalg.norm(of.vertices - points[0], axis=1).argmin())
        quads = np.concatenate((quads, [[one, two, nearest, nearest]]))
    return replace(of, vertices=np.concatenate((of.vertices, points)), quads=np.concatenate((of.quads, quads)))


def tail(of: Person, random: np.random.Generator, lift_deg: float, length: float) -> Part:
    """Return a tail that leaves the pelvis at an angle above the level, and curls; length: of the height."""
    root = (of.joints["l_hip"] + of.joints["r_hip"]) / 2.0 + np.array((0.0, 0.06, -0.04))
    steps = np.linspace(0.0, 1.0, 24)
    angles = np.radians(lift_deg + random.uniform(-70.0, 70.0) * steps)
    aside = np.radians(random.uniform(-30.0, 30.0)) * steps
    turns = np.stack((np.sin(aside) * np.cos(angles), np.sin(angles), -np.cos(aside) * np.cos(angles)), axis=1)
    curve = root + length * of.height * np.cumsum(turns, axis=0) / len(steps)
    thick = random.uniform(0.025, 0.06)
    return pipe(curve, thick * (1.0 - random.uniform(0.4, 0.85) * steps))


def more_arms(of: Person, drop: float, turn_deg: float) -> list[Part]:
    """Return two arms more, below the own ones, so far of the height, turned downwards by an angle."""
    found = []
    for side, sign in (("l", 1.0), ("r", -1.0)):
        own = share_of(f"{side}_shoulder") > _HEAVY
        quads = of.quads[own[of.quads].all(axis=1)]
        used, corners = np.unique(quads, return_inverse=True)
        shoulder = of.joints[f"{side}_shoulder"]
        turn = rot.from_axis_angle(np.array((0.0, 0.0, -sign)), np.radians(turn_deg))
        shift = of.height * np.array((-0.025 * sign, -drop, 0.0))
        moved = rot.rotate(turn, of.vertices[used] - shoulder) + shoulder + shift
        found.append((moved, corners.reshape(-1, 4)))
    return found


def sword(of: Person, random: np.random.Generator, side: str) -> Part:
    """Return a blade in a hand, held in any direction but into the arm."""
    hand = of.joints[f"{side}_middle1"]
    forearm = hand - of.joints[f"{side}_elbow"]
    forearm /= np.linalg.norm(forearm)
    direction = random.normal(size=3)
    direction += max(0.0, 0.3 - float(direction @ forearm)) * forearm
    direction /= np.linalg.norm(direction)
    length = random.uniform(0.3, 0.9) * of.height
    steps = np.linspace(-0.12, 1.0, 12)[:, None]
    return pipe(hand + steps * length * direction, np.full(12, random.uniform(0.008, 0.025)))


def cape(of: Person, random: np.random.Generator) -> Part:
    """Return a cape behind the back."""
    left, right = of.joints["l_shoulder"], of.joints["r_shoulder"]
    across, bottom = right - left, random.uniform(0.05, 0.45) * of.height
    start = left + np.array((0.0, 0.03, -random.uniform(0.1, 0.14)))
    down = np.array((0.0, bottom - float(start[1] - of.vertices[:, 1].min()), -random.uniform(0.0, 0.35)))
    return sheet(start, across, down, random.uniform(0.9, 2.0), 0.01)


def wings(of: Person, random: np.random.Generator) -> list[Part]:
    """Return two wings at the back."""
    size = random.uniform(0.25, 0.7) * of.height
    rise, back = random.uniform(-0.2, 0.9), random.uniform(0.1, 0.9)
    found = []
    for sign in (1.0, -1.0):
        start = of.joints["vt6"] + np.array((0.05 * sign, 0.0, -0.06))
        way = np.array((sign, rise, -back))
        across = size * way / np.linalg.norm(way)
        found.append(sheet(start, across, np.array((0.0, -0.35 * size, 0.0)), random.uniform(0.8, 1.2), 0.012))
    return found


def horns(of: Person, random: np.random.Generator) -> list[Part]:
    """Return two horns, or ears, on the head."""
    length, out = random.uniform(0.08, 0.3) * of.height, random.uniform(0.1, 1.2)
    crown = of.joints["skullbase"] + np.array((0.0, 0.11, 0.0))
    found = []
    for sign in (1.0, -1.0):
        way = np.array((sign * out, 1.0, random.uniform(-0.2, 0.2)))
        start = crown + np.array((0.05 * sign, 0.0, 0.0))
        steps = np.linspace(0.0, 1.0, 10)
        found.append(pipe(start + steps[:, None] * length * way / np.linalg.norm(way), 0.03 * (1.0 - 0.8 * steps)))
    return found


def skirt(of: Person, hem: float) -> Part:
    """Return a skirt from the waist down to a height, as a share of the body's, open below."""
    angles, steps = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False), np.linspace(0.0, 1.0, 20)[:, None]
    top, bottom = 0.68 * of.height, hem * of.height
    radii = (0.1 + 0.12 * steps) * of.height
    rows = np.stack(np.broadcast_arrays(radii * np.cos(angles), top + (bottom - top) * steps,
                                        0.8 * radii * np.sin(angles)), axis=-1)
    place = np.arange(20 * 32).reshape(20, 32)
    beside = np.roll(place, -1, axis=1)
    quads = np.stack((place[:-1], beside[:-1], beside[1:], place[1:]), axis=-1).reshape(-1, 4)
    return rows.reshape(-1, 3) + np.array((0.0, of.vertices[:, 1].min(), 0.0)), quads


def backpack(of: Person) -> Part:
    """Return a box behind the back that reaches up to the neck."""
    corners = np.array(np.meshgrid((-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0), indexing="ij")).reshape(3, -1).T
    quads = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))
    centre = of.joints["vt6"] + of.height * np.array((0.0, 0.03, -0.15))
    return centre + of.height * np.array((0.1, 0.14, 0.07)) * corners, quads


def _standing(random: np.random.Generator) -> Person:
    """Return a person in T, A or relaxed pose, of other proportions."""
    pose = [T_POSE, A_POSE, {"shoulder": (OUTWARD, random.uniform(8.0, 25.0))}][int(random.integers(3))]
    turns: dict[str, Turn] = {**pose, "elbow": (FORWARD, random.uniform(0.0, 35.0)),
                              "hip": (OUTWARD, random.uniform(1.0, 8.0))}
    legs, wide = random.uniform(0.8, 1.1), random.uniform(0.85, 1.15)
    return person(Build(turns, {}, {"hip": legs, "knee": legs}, {"": wide}))


def _seated(random: np.random.Generator) -> Person:
    swing = random.uniform(55.0, 95.0)
    turns: dict[str, Turn] = {
        "shoulder": (OUTWARD, random.uniform(12.0, 80.0)), "elbow": (FORWARD, random.uniform(0.0, 70.0)),
        "hip": ((-1.0, 0.0, random.uniform(0.1, 0.4)), swing), "knee": ((1.0, 0.0, 0.0), random.uniform(40.0, 100.0))}
    return person(Build(turns))


def _striding(random: np.random.Generator) -> Person:
    def legs(forward: float) -> dict[str, Turn]:
        return {"shoulder": (OUTWARD, random.uniform(15.0, 75.0)), "elbow": (FORWARD, random.uniform(10.0, 60.0)),
                "hip": (FORWARD, forward), "knee": ((1.0, 0.0, 0.0), random.uniform(5.0, 60.0))}

    return person(Build(legs(random.uniform(10.0, 50.0)), legs(random.uniform(-30.0, 5.0))))


def _reaching(random: np.random.Generator) -> Person:
    axis = (-random.uniform(0.0, 1.0), 0.0, random.uniform(0.2, 1.0))
    return person(Build({"shoulder": (axis, random.uniform(95.0, 150.0)), "elbow": (FORWARD, random.uniform(0.0, 40.0)),
                         "hip": (OUTWARD, random.uniform(1.0, 10.0))}))


def _tailed(random: np.random.Generator) -> Person:
    of = _standing(random)
    return with_part(of, tail(of, random, random.uniform(-70.0, 70.0), random.uniform(0.15, 1.0)),
                     grown=bool(random.random() < _HEAVY))


def _four_armed(random: np.random.Generator) -> Person:
    of = person(Build({"shoulder": (OUTWARD, random.uniform(60.0, 100.0)),
                       "elbow": (FORWARD, random.uniform(0.0, 25.0))}))
    for part in more_arms(of, random.uniform(0.1, 0.16), random.uniform(15.0, 40.0)):
        of = with_part(of, part, grown=True)
    return of


def _armed(random: np.random.Generator) -> Person:
    of = _standing(random)
    for side in ("l", "r") if random.random() < 0.3 else (str(random.choice(("l", "r"))),):
        of = with_part(of, sword(of, random, side), grown=bool(random.random() < _HEAVY))
    return of


def _caped(random: np.random.Generator) -> Person:
    of = _standing(random)
    return with_part(of, cape(of, random), grown=bool(random.random() < _HEAVY))


def _with_all(parts: Callable[[Person, np.random.Generator], list[Part]]) -> Callable[[np.random.Generator], Person]:
    def made(random: np.random.Generator) -> Person:
        of = _standing(random)
        for part in parts(of, random):
            of = with_part(of, part, grown=bool(random.random() < _HEAVY))
        return of
    return made


def _noisy(random: np.random.Generator) -> Person:
    of = _standing(random)
    kept = random.random(len(of.quads)) > random.uniform(0.0, 0.15)
    noise = random.normal(size=of.vertices.shape) * random.uniform(0.001, 0.006)
    return replace(of, vertices=of.vertices + noise, quads=of.quads[kept])


def _devil(random: np.random.Generator) -> Person:
    of = _tailed(random)
    for part in (*horns(of, random), *wings(of, random)):
        of = with_part(of, part, grown=bool(random.random() < _HEAVY))
    return of


KINDS: Mapping[str, Callable[[np.random.Generator], Person]] = {
    "standing": _standing, "tail": _tailed, "four arms": _four_armed, "sword": _armed, "cape": _caped,
    "wings": _with_all(wings), "horns": _with_all(horns), "tail, horns and wings": _devil, "sitting": _seated,
    "striding": _striding, "arms raised": _reaching, "noise and holes": _noisy}
"""What makes a person of each kind."""


def turned(of: Person, axis: FloatArray, angle_rad: float) -> Person:
    """Return a person turned about an axis (3,)."""
    turn = rot.from_axis_angle(axis, angle_rad)
    return Person(rot.rotate(turn, of.vertices), of.quads,
                  {name: rot.rotate(turn, point) for name, point in of.joints.items()})


def odd_person(kind: str, seed: int) -> Person:
    """Return a person of a kind; two of three are turned by 180° about an axis, so that all hints are wrong."""
    random = np.random.default_rng((seed, sorted(KINDS).index(kind)))
    of = KINDS[kind](random)
    axis = int(random.integers(-2, 3))
    return of if axis < 0 else turned(of, np.eye(3)[axis], np.pi)
