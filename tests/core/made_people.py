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


def below(joint: str) -> list[str]:
    """Return a joint of the left side and all below it, without their side."""
    skeleton = build_skeleton()
    top = skeleton.index_of[joint]
    return [name.removeprefix("l_") for k, name in enumerate(skeleton.names)
            if k == top or is_descendant(skeleton.parents, k, top)]
