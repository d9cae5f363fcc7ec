"""Bodies that clips are joined on, with skin where it is known; real ones from the folder of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Pose, Skeleton
from takt.core.skinning.influences import Influences
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.samples.skeleton import build_skeleton

from . import join_measures as measures

SOLE_LEGS: Final = 0.05
"""Skin that is at rest within this height of the lowest belongs to the soles."""
LONGER, SHORTER = 1.5, 0.5
LEG: Final = tuple(f"{side}_{part}" for side in "lr" for part in ("knee", "ankle"))
TRUNK: Final = (*(f"v{part}{i}" for part in "ltc" for i in range(1, 13)), "skullbase")
"""Joints that a longer limb carries farther from their parents."""
Y_UP: Final = np.array((0.0, 1.0, 0.0))
BLENDER_FROM_HANIM: Final = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)


@dataclass(frozen=True, eq=False)
class Dancer:
    """A body to play on; turn: from the clips' axes to its own.

    soles: rest positions (V, 3) and what moves them; points: of all its skin, by which clips are put on the ground.
    """

    name: str
    found: SkeletonMap
    turn: FloatArray
    soles: tuple[FloatArray, Influences] | None = None
    points: SkinPoints | None = None

    @property
    def body(self) -> measures.Body:
        """Where to look on it."""
        return measures.Body.of(self.found, rot.rotate(self.turn, Y_UP))

    def skin(self, pose: Pose) -> FloatArray:
        """Return how high the lowest skin of the soles is above its height at rest, in legs (F,)."""
        if self.soles is None:
            return np.full(len(pose.rotations), np.nan)
        rest, influences = self.soles
        up = self.body.ground[2]
        moved, _ = skin_linear(Palette.from_pose(self.found.skeleton, pose), influences, rest, np.ones_like(rest))
        return np.asarray((moved @ up).min(axis=1) - (rest @ up).min())


def build_of(found: SkeletonMap) -> float:
    """Return how long the legs are against the way from the hips to the head."""
    joints = found.joint_of
    hips, head = found.skeleton.rest_world[[joints["l_hip"], joints["skullbase"]], :, 3]
    return measures.Body.of(found, Y_UP).leg_length / float(np.linalg.norm(head - hips))


def real_dancers(data: Path) -> Iterator[Dancer]:
    """Yield real bodies; none there is has longer legs than its trunk asks for, so one of them gets them."""
    for name in ("Rogue_Hooded", "mpfb_game_engine"):
        arrays = np.load(data / "bind" / f"{name}.npz")
        parents, positions = arrays["bone_parents"].astype(np.int64), arrays["bone_heads"].astype(np.float64)
        offsets = np.where(parents[:, None] >= 0, positions - positions[parents], positions)
        skeleton = Skeleton.from_arrays([str(each) for each in arrays["bone_names"]], parents,
                                        rot.identities(len(parents)), offsets, name=name)
        weights = np.zeros((len(arrays["vertices"]), len(parents)))
        np.add.at(weights, (arrays["weight_vertex"].astype(np.int64), arrays["weight_bone"].astype(np.int64)),
                  arrays["weight_value"])
        dancer = Dancer(name, find_map(skeleton), BLENDER_FROM_HANIM)
        vertices = arrays["vertices"].astype(np.float64)
        high = (vertices - vertices[weights.any(axis=1)].min(axis=0)) @ dancer.body.ground[2]
        low = (high < SOLE_LEGS) & weights.any(axis=1)
        influences = Influences.strongest(weights)
        yield replace(dancer, soles=(vertices[low], Influences.strongest(weights[low])),
                      points=SkinPoints.of(vertices, influences.joints, influences.weights))
    yield with_legs(dancer, LONGER)


def sample_dancers() -> Iterator[Dancer]:
    dancer = Dancer("the sample's dancer", find_map(build_skeleton()), rot.IDENTITY)
    yield from (with_legs(dancer, SHORTER), dancer, with_legs(dancer, LONGER))


def with_legs(dancer: Dancer, times: float) -> Dancer:
    """Return the body with thighs and shins so many times as long, on its feet; without skin."""
    return replace(with_limbs(dancer, LEG, times), soles=None, points=None)


def with_limbs(dancer: Dancer, parts: Sequence[str], times: float) -> Dancer:
    """Return the body with some joints (of H-Anim) so many times as far from their parents, on its feet.

    Its skin goes where the joints go that move it, which is exact where they do not part, as at the feet.
    """
    found, skeleton = dancer.found, dancer.found.skeleton
    up = rot.rotate(dancer.turn, Y_UP)
    moved = skeleton.rest_translations.copy()
    moved[[found.joint_of[part] for part in parts if part in found.joint_of]] *= times
    longer = replace(skeleton, rest_translations=moved, name=f"{skeleton.name} with other limbs")
    ankle = found.joint_of["l_ankle"]
    moved = moved.copy()
    moved[skeleton.parents < 0] += ((skeleton.rest_world[ankle, :, 3] - longer.rest_world[ankle, :, 3]) @ up) * up
    longer = replace(longer, rest_translations=moved)
    away = longer.rest_world[..., 3] - skeleton.rest_world[..., 3]

    def carried(joints: IntArray, weights: FloatArray) -> FloatArray:
        return np.asarray((away[joints] * weights[..., None]).sum(axis=1))

    soles, points = dancer.soles, dancer.points
    if soles is not None:
        soles = soles[0] + carried(soles[1].joints, soles[1].weights), soles[1]
    if points is not None:
        points = replace(points, positions=points.positions + carried(points.joints, points.weights),
                         within=None)
    limbs = "legs" if parts == LEG else "trunk"
    return Dancer(f"{dancer.name}, {limbs} {times:g} times as long", find_map(longer), dancer.turn, soles, points)
