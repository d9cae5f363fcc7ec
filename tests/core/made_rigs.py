"""Bodies and rigs made by rule: what moves which skin is known, and all that files do to skeletons is done to them.

A body is a set of limbs, chains of joints with a radius each. Its mesh is one skin around them all, or a piece for each
bone. A rig has a bone for each link of the chains, and then tails, helpers, names, axes and units like those of files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from takt.core.binding.input import BindInput
from takt.core.binding.segments import Segments

from .bodies import Faces, ball, joined, tube, turn

Points = list[tuple[float, float, float]]

CELL = 0.8
"""Of the thinnest radius: how fine one skin is."""

UP, BACK = np.array((0.0, 0.0, 1.0)), np.array((0.0, 1.0, 0.0))
LENGTH = 0.12
"""Of tails that mean nothing."""


@dataclass(frozen=True)
class Limb:
    """A chain of joints; the last is its end. above: the limb that it grows from, None for the trunk."""

    name: str
    above: str | None
    joints: Points
    radius: float

    def mirrored(self) -> Limb:
        above = self.above and self.above.replace(".L", ".R")
        return Limb(self.name.replace(".L", ".R"), above, [(-x, y, z) for x, y, z in self.joints], self.radius)


def both(*limbs: Limb) -> list[Limb]:
    """Return limbs and the mirror images of those on the left."""
    return [side for limb in limbs for side in ((limb, limb.mirrored()) if limb.name.endswith(".L") else (limb,))]


BODIES: dict[str, list[Limb]] = {
    "humanoid": both(
        Limb("trunk", None, [(0, 0, 0.98), (0, -0.01, 1.18), (0, 0.01, 1.42)], 0.14),
        Limb("head", "trunk", [(0, 0.01, 1.5), (0, 0, 1.62), (0, 0, 1.85)], 0.09),
        Limb("arm.L", "trunk", [(0.2, 0.01, 1.42), (0.46, 0.02, 1.42), (0.7, 0, 1.42), (0.86, 0, 1.42)], 0.05),
        Limb("leg.L", "trunk", [(0.11, 0, 0.92), (0.12, -0.02, 0.5), (0.12, 0, 0.09), (0.12, -0.16, 0.06)], 0.065)),
    "horse": both(
        Limb("trunk", None, [(0, 0.5, 1), (0, 0.2, 1.02), (0, -0.1, 1), (0, -0.35, 1)], 0.2),
        Limb("neck", "trunk", [(0, -0.5, 1.12), (0, -0.65, 1.38), (0, -0.95, 1.3)], 0.1),
        Limb("front.L", "trunk", [(0.13, -0.35, 0.9), (0.14, -0.33, 0.5), (0.14, -0.35, 0.15), (0.14, -0.42, 0.05)],
             0.05),
        Limb("hind.L", "trunk", [(0.13, 0.5, 0.9), (0.14, 0.46, 0.5), (0.14, 0.52, 0.15), (0.14, 0.45, 0.05)], 0.05),
        Limb("tail", "trunk", [(0, 0.72, 1.05), (0, 0.9, 0.85), (0, 0.98, 0.6), (0, 1, 0.35)], 0.04)),
    "bird": both(
        Limb("trunk", None, [(0, 0.1, 0.6), (0, -0.1, 0.68)], 0.2),
        Limb("head", "trunk", [(0, -0.3, 0.8), (0, -0.4, 0.98)], 0.09),
        Limb("wing.L", "trunk", [(0.2, -0.05, 0.68), (0.5, 0.02, 0.7), (0.85, 0.1, 0.7)], 0.04),
        Limb("leg.L", "trunk", [(0.09, 0.05, 0.42), (0.1, 0.02, 0.22), (0.1, 0, 0.04)], 0.035),
        Limb("tail", "trunk", [(0, 0.32, 0.55), (0, 0.65, 0.5)], 0.06)),
    "fish": both(
        Limb("trunk", None, [(0, -0.5, 0), (0, -0.2, 0), (0, 0.1, 0), (0, 0.4, 0), (0, 0.7, 0)], 0.15),
        Limb("fin.L", "trunk", [(0.14, -0.2, -0.05), (0.4, -0.1, -0.12)], 0.04),
        Limb("back", "trunk", [(0, 0.05, 0.15), (0, 0.12, 0.42)], 0.04),
        Limb("tail", "trunk", [(0, 0.82, 0.03), (0, 1.1, 0.25)], 0.05)),
    "snake": [Limb("trunk", None, [(0.08 * np.sin(2.2 * k), 0.25 * k, 0.02 * k) for k in range(11)], 0.08)],
    "insect": both(
        Limb("trunk", None, [(0, 0.4, 0.3), (0, 0.1, 0.32), (0, -0.15, 0.32), (0, -0.4, 0.3)], 0.12),
        *(Limb(f"leg{k}.L", "trunk", [(0.12, y, 0.3), (0.4, y + bend, 0.45), (0.65, y + 2 * bend, 0.04)], 0.035)
          for k, y, bend in ((1, -0.2, -0.1), (2, 0.0, 0.0), (3, 0.2, 0.1))),
        Limb("feeler.L", "trunk", [(0.06, -0.5, 0.36), (0.16, -0.8, 0.5)], 0.03)),
}


@dataclass(frozen=True, eq=False)
class Made:
    """A body with its rig.

    rest_points: its vertices (V, 3) where its limbs are. limb_of: of each bone that should move skin its limb's name,
    "" for others. plain_names: what the bones would be called without `NAMES`.
    """

    body: BindInput
    rest_points: np.ndarray
    limbs: list[Limb]
    limb_of: list[str]
    plain_names: list[str]
    says: str


# ---- meshes


def skin(limbs: list[Limb]) -> tuple[np.ndarray, Faces, np.ndarray]:
    """One closed skin around all limbs: surface nets (Gibson 1998) over the distance to their capsules."""
    cell = CELL * min(limb.radius for limb in limbs)
    ends = np.array([point for limb in limbs for point in limb.joints], dtype=float)
    margin = max(limb.radius for limb in limbs) + 2.0 * cell
    low, high = ends.min(axis=0) - margin, ends.max(axis=0) + margin
    axes = [np.arange(a, b, cell) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    field = distances(limbs, grid.reshape(-1, 3)).min(axis=1).reshape(grid.shape[:3])
    inside = field < 0.0
    total, count = np.zeros((*(n - 1 for n in field.shape), 3)), np.zeros([n - 1 for n in field.shape])
    faces: list[np.ndarray] = []
    number = np.full(count.shape, -1)
    crossings = []
    for axis in range(3):
        one, other = (np.moveaxis(np.moveaxis(field, axis, 0)[part], 0, axis)
                      for part in (slice(None, -1), slice(1, None)))
        crosses = (one < 0.0) != (other < 0.0)
        share = np.where(crosses, one / np.where(crosses, one - other, 1.0), 0.0)
        where = np.moveaxis(np.moveaxis(grid, axis, 0)[:-1], 0, axis) + share[..., None] * cell * np.eye(3)[axis]
        at = np.argwhere(crosses)
        around = [k for k in range(3) if k != axis]
        for first in (0, 1):
            for second in (0, 1):
                of_cell = at.copy()
                of_cell[:, around[0]] -= first
                of_cell[:, around[1]] -= second
                np.add.at(total, tuple(of_cell.T), where[crosses])
                np.add.at(count, tuple(of_cell.T), 1.0)
        crossings.append((axis, at, inside[tuple(at.T)], around))
    number[count > 0] = np.arange(int((count > 0).sum()))
    for axis, at, begins_inside, around in crossings:
        corners = []
        for first, second in ((1, 1), (0, 1), (0, 0), (1, 0)):
            of_cell = at.copy()
            of_cell[:, around[0]] -= first
            of_cell[:, around[1]] -= second
            corners.append(number[tuple(of_cell.T)])
        quads = np.stack(corners, axis=1)
        turned = begins_inside == (axis == 1)
        quads[turned] = quads[turned][:, ::-1]
        faces.append(quads)
    points = total[count > 0] / count[count > 0][:, None]
    return points, np.concatenate(faces).tolist(), np.zeros(len(points), dtype=np.int64)


def pieces(limbs: list[Limb]) -> tuple[np.ndarray, Faces, np.ndarray]:
    """A closed piece for each bone, with gaps between them, as of a robot or a puppet."""
    meshes = []
    for limb in limbs:
        for start, end in pairwise(np.array(limb.joints, dtype=float)):
            length = float(np.linalg.norm(end - start))
            gap = min(0.6 * limb.radius / length, 0.2) * (end - start)
            meshes.append(tube(start + gap, end - gap, limb.radius, 6, 8))
    return joined(*meshes)


def puppet(limbs: list[Limb]) -> tuple[np.ndarray, Faces, np.ndarray]:
    """Pieces with a ball in each joint, as of a jointed doll."""
    points, faces, part = pieces(limbs)
    at = [(np.array(joint, dtype=float), limb.radius) for limb in limbs for joint in limb.joints[1:-1]]
    balls = [ball(centre, 0.75 * radius) for centre, radius in at]
    joints = joined(*balls) if balls else (np.zeros((0, 3)), [], np.zeros(0, np.int64))
    return (np.concatenate((points, joints[0])), faces + [[v + len(points) for v in face] for face in joints[1]],
            np.concatenate((part, joints[2] + part.max() + 1)))


def distances(limbs: list[Limb], points: np.ndarray) -> np.ndarray:
    """Return how far points (P, 3) are outside each limb, (P, L)."""
    result = np.empty((len(points), len(limbs)))
    for number, limb in enumerate(limbs):
        joints = np.array(limb.joints, dtype=float)
        count = len(joints) - 1
        lines = Segments(np.zeros(count, int), joints[:-1], joints[1:], np.ones(count, np.bool_))
        result[:, number] = lines.nearest(points)[0].min(axis=1) - limb.radius
    return result


MESHES: dict[str, Callable[[list[Limb]], tuple[np.ndarray, Faces, np.ndarray]]] = {
    "skin": skin, "pieces": pieces, "puppet": puppet}

# ---- rigs


@dataclass(frozen=True, eq=False)
class Bone:
    name: str
    parent: str | None
    head: np.ndarray
    tail: np.ndarray
    limb: str


def plain(limbs: list[Limb]) -> list[Bone]:
    """A bone for each link; a limb hangs from the bone of the limb above that is nearest to its first joint."""
    bones: list[Bone] = []
    for limb in limbs:
        joints = np.array(limb.joints, dtype=float)
        parent = None
        if limb.above is not None:
            above = [bone for bone in bones if bone.limb == limb.above]
            lines = Segments(np.arange(len(above)), np.array([bone.head for bone in above]),
                             np.array([bone.tail for bone in above]), np.ones(len(above), np.bool_))
            parent = above[int(lines.nearest(joints[:1])[0].argmin())].name
        stem, dot, side = limb.name.partition(".")
        for number, (head, tail) in enumerate(pairwise(joints), start=1):
            bones.append(Bone(f"{stem}_{number}{dot}{side}", parent, head, tail, limb.name))
            parent = bones[-1].name
    return bones


def with_root(bones: list[Bone]) -> list[Bone]:
    """On the ground below the body."""
    low = min(bone.head[2] for bone in bones) - 0.3
    root = Bone("root", None, np.array((0, 0, low)), np.array((0, 0.3, low)), "")
    return [root, *(replace(bone, parent=bone.parent or "root") for bone in bones)]


def from_root(bones: list[Bone]) -> list[Bone]:
    """All limbs hang from a root on the ground, as constraints may hold them."""
    first = {bone.limb: bone.name for bone in reversed(bones)}
    return with_root([replace(bone, parent=None) if first[bone.limb] == bone.name else bone for bone in bones])


def beside(worse: str, chained: bool) -> Callable[[list[Bone]], list[Bone]]:
    """DEF- bones and as many others: DEF- ones are their children, or all hang from the root."""
    def make(bones: list[Bone]) -> list[Bone]:
        found = []
        for bone in bones:
            parent = None if bone.parent is None else (f"DEF-{bone.parent}" if chained else worse + bone.parent)
            found.append(replace(bone, name=worse + bone.name, parent=parent, limb=""))
            found.append(replace(bone, name=f"DEF-{bone.name}", parent=worse + bone.name if chained else None))
        return with_root(found)
    return make


def twisted(bones: list[Bone]) -> list[Bone]:
    """Each limb's inner bones get a twist bone in their second half."""
    found = []
    for bone in bones:
        found.append(bone)
        if bone.limb != "trunk" and any(other.parent == bone.name for other in bones):
            stem, dot, side = bone.name.partition(".")
            found.append(replace(bone, name=f"{stem}_twist{dot}{side}", parent=bone.name,
                                 head=0.5 * (bone.head + bone.tail)))
    return with_root(found)


def with_joint_roots(bones: list[Bone]) -> list[Bone]:
    """Each bone hangs from one of its name and "root" that starts where it starts."""
    found = []
    for bone in bones:
        stem, dot, side = bone.name.partition(".")
        found.append(Bone(f"{stem}_root{dot}{side}", bone.parent, bone.head, bone.head + 0.1 * BACK, ""))
        found.append(replace(bone, parent=f"{stem}_root{dot}{side}"))
    return with_root(found)


def with_controls(bones: list[Bone]) -> list[Bone]:
    """Ends of limbs get IK targets and poles that hang from the root."""
    found = with_root(bones)
    for bone in bones:
        if bone.limb != "trunk" and not any(other.parent == bone.name for other in bones):
            stem, dot, side = bone.name.partition(".")
            pole = bone.head + 0.6 * BACK + 0.3 * UP
            found.append(Bone(f"{stem}_IK{dot}{side}", "root", bone.head, bone.head + 0.15 * BACK, ""))
            found.append(Bone(f"{stem}_pole{dot}{side}", "root", pole, pole + 0.1 * BACK, ""))
    return found


RIGS: dict[str, Callable[[list[Bone]], list[Bone]]] = {
    "plain": lambda bones: bones, "root": with_root, "from the root": from_root,
    "DEF beside ORG": beside("ORG-", chained=False), "DEF under MCH": beside("MCH-", chained=True),
    "twist": twisted, "joint roots": with_joint_roots, "controls": with_controls}

TAILS: dict[str, Callable[[list[Bone], np.random.Generator], list[np.ndarray]]] = {
    "authored": lambda bones, _: [bone.tail for bone in bones],
    "up": lambda bones, _: [bone.head + LENGTH * UP for bone in bones],
    "forward": lambda bones, _: [bone.head - 2.5 * LENGTH * BACK for bone in bones],
    "random": lambda bones, random: [bone.head + LENGTH * step / np.linalg.norm(step)
                                     for bone, step in zip(bones, random.normal(size=(len(bones), 3)), strict=True)],
    "to the parent": lambda bones, _: [_head_of(bones, bone.parent, bone.head + LENGTH * UP) for bone in bones]}


def _head_of(bones: list[Bone], name: str | None, other: np.ndarray) -> np.ndarray:
    head = next((bone.head for bone in bones if bone.name == name), other)
    return other if np.allclose(head, other - LENGTH * UP) else head


WORDS = {
    "Japanese": {"trunk": "胴", "head": "頭", "arm": "腕", "leg": "足", "neck": "首", "front": "前足", "hind": "後足",
                 "tail": "尾", "wing": "翼", "fin": "鰭", "back": "背", "feeler": "触角", ".L": "左", ".R": "右"},
    "German": {"trunk": "Rumpf", "head": "Kopf", "arm": "Arm", "leg": "Bein", "neck": "Hals", "front": "Vorderbein",
               "hind": "Hinterbein", "tail": "Schwanz", "wing": "Fluegel", "fin": "Flosse", "back": "Ruecken",
               "feeler": "Fuehler", ".L": "Links", ".R": "Rechts"},
    "Russian": {"trunk": "Тело", "head": "Голова", "arm": "Рука", "leg": "Нога", "neck": "Шея", "front": "Передняя",
                "hind": "Задняя", "tail": "Хвост", "wing": "Крыло", "fin": "Плавник", "back": "Спина",
                "feeler": "Усик", ".L": "Левая", ".R": "Правая"}}


def _in(language: str) -> Callable[[str, int], str]:
    return lambda name, _: _translated(name, language)


def _translated(name: str, language: str) -> str:
    words = WORDS[language]
    side = words[name[-2:]] if name.endswith((".L", ".R")) else ""
    name = name.removesuffix(".L").removesuffix(".R")
    for word, other in words.items():
        name = name.replace(word, other)
    return side + name


NAMES: dict[str, Callable[[str, int], str]] = {
    "plain": lambda name, _: name, "prefix": lambda name, _: f"rig01:{name}",
    "numbers": lambda _, number: f"Bone{number}",
    "left and right": lambda name, _: ("Left" if name.endswith(".L") else "Right" if name.endswith(".R") else "")
    + name.removesuffix(".L").removesuffix(".R"),
    **{language: _in(language) for language in WORDS}}
BY_NAME = ("DEF beside ORG", "DEF under MCH", "joint roots", "controls")
"""Rigs in which only names tell what moves skin."""

AXES: dict[str, np.ndarray] = {"Z up": np.eye(3), "Y up": turn((1, 0, 0), -np.pi / 2), "askew": turn((1, 2, 3), 0.9)}
SCALES = (0.001, 0.01, 1.0, 100.0, 1000.0)


def varied(limbs: list[Limb], random: np.random.Generator) -> list[Limb]:
    """Return a body of other proportions: limbs, alike on both sides, of other lengths and widths, all of it stretched.

    Limbs are .85 to 1.25 times as long and .8 to 1.2 times as wide; the body is .85 to 1.2 times as large along each
    axis.
    """
    stretch = random.uniform(0.85, 1.2, 3)
    stems = [limb.name.partition(".")[0] for limb in limbs]
    of_limb = {stem: random.uniform((0.85, 0.8), (1.25, 1.2)) for stem in dict.fromkeys(stems)}
    found = []
    for limb, stem in zip(limbs, stems, strict=True):
        longer, wider = of_limb[stem]
        joints = np.array(limb.joints, dtype=float)
        if limb.above is not None:
            joints = joints[0] + longer * (joints - joints[0])
        found.append(replace(limb, joints=[(x, y, z) for x, y, z in (joints * stretch).tolist()],
                             radius=wider * limb.radius))
    return found


def make(kind: str, mesh: str, rig: str, tails: str, names: str, axes: str, scale: float, seed: int,
         as_drawn: bool = True) -> Made:
    """Return one of all these; not as_drawn: with proportions at random."""
    limbs = BODIES[kind] if as_drawn else varied(BODIES[kind], np.random.default_rng(seed))
    points, faces, part = MESHES[mesh](limbs)
    bones = RIGS[rig](plain(limbs))
    order = {bone.name: number for number, bone in enumerate(bones)}
    ends = TAILS[tails](bones, np.random.default_rng(seed))
    matrix = scale * AXES[axes]
    called = [NAMES[names](bone.name, order[bone.name]) for bone in bones]
    body = BindInput.from_arrays(points @ matrix.T, faces, called,
                                 [-1 if bone.parent is None else order[bone.parent] for bone in bones],
                                 np.array([bone.head for bone in bones]) @ matrix.T, np.array(ends) @ matrix.T, part)
    says = f"{kind}, {mesh}, {rig}, tails {tails}, names {names}, {axes}, × {scale}, seed {seed}"
    return Made(body, points, limbs, [bone.limb for bone in bones], [bone.name for bone in bones], says)


def draw(seed: int) -> Made:
    """Return one at random."""
    random = np.random.default_rng(seed)

    def one(of: object) -> str:
        choices = list(of)  # type: ignore[call-overload]
        return str(choices[random.integers(len(choices))])

    rig = one(RIGS)
    names = one([name for name in NAMES if name != "numbers" or rig not in BY_NAME])
    return make(one(BODIES), one(MESHES), rig, one(TAILS), names, one(AXES), SCALES[random.integers(len(SCALES))],
                seed, as_drawn=False)
