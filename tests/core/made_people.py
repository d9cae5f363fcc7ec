"""People made by rule: the sample dancer in other proportions and poses, whose joints are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.skeletons.hierarchy import is_descendant
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.body import build_body
from takt.samples.skeleton import build_skeleton, ends

Turn = tuple[tuple[float, float, float], float]
"""An axis in the body's own axes, and an angle in degrees."""

OUTWARD, FORWARD = (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0)
"""Axes about which the left limbs swing outward, to the side, and to the front."""

T_POSE: Mapping[str, Turn] = {"shoulder": (OUTWARD, 82.0)}
A_POSE: Mapping[str, Turn] = {"shoulder": (OUTWARD, 38.0)}
RELAXED: Mapping[str, Turn] = {}
"""Turns of joints on the left, from arms that hang down; those on the right mirror them."""


@dataclass(frozen=True, eq=False)
class Person:
    """A mesh, (V, 3) and quads (Q, 4), in H-Anim's axes, and where its joints are."""

    vertices: FloatArray
    quads: IntArray
    joints: Mapping[str, FloatArray]

    @property
    def height(self) -> float:
        return float(np.ptp(self.vertices[:, 1]))


@dataclass(frozen=True)
class Build:
    """How a person differs from the dancer.

    turns: of joints, as `T_POSE`; right: turns of joints on the right where these do not mirror the left. longer,
    thicker: factors for the bones of joints, along and across; "" for all that are not named.
    """

    turns: Mapping[str, Turn] = field(default_factory=dict)
    right: Mapping[str, Turn] = field(default_factory=dict)
    longer: Mapping[str, float] = field(default_factory=dict)
    thicker: Mapping[str, float] = field(default_factory=dict)


@cache
def _dancer() -> tuple[FloatArray, IntArray, Skeleton, FloatArray]:
    body, skeleton = build_body(), build_skeleton()
    heads = skeleton.rest_world[:, :, 3]
    tails = np.array([_tail(skeleton, joint) for joint in range(len(skeleton))])
    faces, part = np.full(len(body.quads), 4), np.zeros(len(body.positions), dtype=np.int64)
    bound = bind_inside(BindInput(body.positions, body.quads.reshape(-1), faces, part, skeleton.names, skeleton.parents,
                                  heads, tails)).influences
    weights = np.zeros((len(body.positions), len(skeleton)))
    for joints, shares in zip(bound.joints.T, bound.weights.T, strict=True):
        np.add.at(weights, (np.arange(len(weights)), joints), shares)
    return body.positions, body.quads, skeleton, weights


def _tail(skeleton: Skeleton, joint: int) -> FloatArray:
    at, name = skeleton.rest_world[:, :, 3], skeleton.names[joint]
    children = np.flatnonzero(skeleton.parents == joint)
    return np.asarray(ends().get(name, at[children].mean(axis=0) if len(children) else at[joint]))


def person(build: Build) -> Person:
    """Return the dancer with bones of other lengths and widths, its joints turned."""
    vertices, quads, skeleton, weights = _dancer()
    rest = skeleton.rest_world[:, :, 3]
    names, parents = skeleton.names, skeleton.parents
    turns, places, scales = rot.identities(len(names)), rest.copy(), np.zeros((len(names), 3, 3))
    for joint, name in enumerate(names):
        own = _turn_of(name, build)
        parent = int(parents[joint])
        turns[joint] = own if parent < 0 else rot.multiply(turns[parent], own)
        if parent >= 0:
            places[joint] = places[parent] + rot.rotate(turns[parent], scales[parent] @ (rest[joint] - rest[parent]))
        scales[joint] = _scale_of(skeleton, joint, build)
    skinned = np.zeros_like(vertices)
    for joint in range(len(names)):
        moved = rot.rotate(turns[joint], (vertices - rest[joint]) @ scales[joint].T) + places[joint]
        skinned += weights[:, joint, None] * moved
    return Person(skinned, quads, dict(zip(names, places, strict=True)))


def _turn_of(name: str, build: Build) -> FloatArray:
    plain = name.removeprefix("l_").removeprefix("r_")
    on_right = name.startswith("r_")
    axis, degrees = (build.right.get(plain) if on_right else None) or build.turns.get(plain, (OUTWARD, 0.0))
    mirror = (1.0, -1.0, -1.0) if on_right else (1.0, 1.0, 1.0)
    return rot.from_axis_angle(np.array(axis) * mirror, np.radians(degrees))


def _scale_of(skeleton: Skeleton, joint: int, build: Build) -> FloatArray:
    plain = skeleton.names[joint].removeprefix("l_").removeprefix("r_")
    along = _tail(skeleton, joint) - skeleton.rest_world[joint, :, 3]
    length = float(np.linalg.norm(along))
    direction = along / length if length > 0.0 else np.zeros(3)
    wide = build.thicker.get(plain, build.thicker.get("", 1.0))
    long = build.longer.get(plain, build.longer.get("", 1.0))
    return wide * np.eye(3) + (long - wide) * np.outer(direction, direction)


def share_of(joint: str) -> FloatArray:
    """Return how much of each vertex, (V,), a joint and those below it move."""
    _, _, skeleton, weights = _dancer()
    top = skeleton.index_of[joint]
    own = [k for k in range(len(skeleton)) if k == top or is_descendant(skeleton.parents, k, top)]
    return np.asarray(weights[:, own].sum(axis=1))


def below(joint: str) -> list[str]:
    """Return a joint of the left side and all below it, without their side."""
    skeleton = build_skeleton()
    top = skeleton.index_of[joint]
    return [name.removeprefix("l_") for k, name in enumerate(skeleton.names)
            if k == top or is_descendant(skeleton.parents, k, top)]


def random_person(seed: int) -> tuple[Person, str]:
    """Return a person of other proportions in T, A or relaxed pose, with what was drawn in words.

    Limbs may bend and be turned unevenly by some degrees. The mesh may be coarser, torn, holed or uneven.
    """
    random = np.random.default_rng(seed)
    pose = str(random.choice(("T", "A", "relaxed")))
    turns = {"T": T_POSE, "A": A_POSE, "relaxed": RELAXED}[pose]
    raised = dict(turns).get("shoulder", (OUTWARD, 0.0))[1]
    wide, legs, arms, top = random.uniform(0.8, 1.2), random.uniform(0.75, 1.15), random.uniform(0.85, 1.15), 1.0
    if random.random() < 0.3:
        top = random.uniform(1.2, 1.8)
    if pose == "relaxed":
        raised += float(random.uniform(4.0, 15.0))

    def posed() -> dict[str, Turn]:
        return {"shoulder": (OUTWARD, raised + random.uniform(-4.0, 4.0)),
                "elbow": (FORWARD, random.uniform(0.0, 35.0)),
                "hip": (OUTWARD, random.uniform(0.0, 8.0)),
                "knee": ((1.0, 0.0, 0.0), random.uniform(0.0, 12.0))}

    left = posed()
    right = {name: ((axis[0], axis[1], axis[2]), angle) for name, (axis, angle) in posed().items()}
    longer = {"hip": legs, "knee": legs, "shoulder": arms, "elbow": arms, "skullbase": top, "vc4": 1.0}
    thicker = {"": wide, "skullbase": top, "wrist": random.uniform(0.9, 1.2) * wide}
    made = person(Build(left, right if random.random() < 0.5 else {}, longer, thicker))
    return _spoiled(made, random, f"{pose}, {wide:.2f} wide, legs {legs:.2f}, arms {arms:.2f}, head {top:.2f}")


def comic_person(seed: int) -> tuple[Person, str]:
    """Return a person as in comics, with what was drawn in words: large head, hands and feet, short arms and legs."""
    random = np.random.default_rng(seed)
    top, hand, foot = random.uniform(1.0, 2.6), random.uniform(1.0, 2.0), random.uniform(1.0, 1.6)
    legs, arms, wide = random.uniform(0.5, 1.0), random.uniform(0.7, 1.0), random.uniform(0.8, 1.4)
    turns = {**(T_POSE, A_POSE)[seed % 2], "elbow": (FORWARD, random.uniform(0.0, 30.0))}
    large = {"skullbase": top, **dict.fromkeys(below("l_wrist"), hand), **dict.fromkeys(below("l_ankle"), foot)}
    limbs = {"hip": legs, "knee": legs, "shoulder": arms, "elbow": arms}
    return (person(Build(turns, {}, {**limbs, **large}, {"": wide, **large})),
            f"head {top:.2f}, hands {hand:.2f}, feet {foot:.2f}, legs {legs:.2f}, arms {arms:.2f}, {wide:.2f} wide")


def _spoiled(made: Person, random: np.random.Generator, words: str) -> tuple[Person, str]:
    """Return a person whose mesh is worse, elsewhere, and of another size."""
    vertices, quads = made.vertices.copy(), made.quads
    spoil = str(random.choice(("as it is", "holes", "torn", "noise")))
    if spoil == "noise":
        vertices += random.normal(size=vertices.shape) * 0.003
    if spoil in ("holes", "torn"):
        quads = quads[random.random(len(quads)) > 0.08]
    if spoil == "torn":
        vertices, quads = vertices[quads.reshape(-1)], np.arange(quads.size).reshape(-1, 4)
    turn = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), random.uniform(-np.pi, np.pi))
    tilt = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), random.uniform(-0.3, 0.3))
    scale, shift = 10.0 ** random.uniform(-2.0, 2.0), random.normal(size=3)

    def there(points: FloatArray) -> FloatArray:
        return np.asarray(scale * (rot.rotate(rot.multiply(tilt, turn), points) + shift))

    return (Person(there(vertices), quads, {name: there(point) for name, point in made.joints.items()}),
            f"{words}, {spoil}")
