"""A body with all of its skin, and how far its hands and arms are from it.

What covers a part counts as that part: a tunic over the thighs is what a hand on a thigh rests on, whichever bones move
it. Of a part is the skin that its own joints move, and of the rest, but for arms, what is nearer to its bones than to
those of any other part, in each frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.clips.keyed import poses_at
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, IntArray
from takt.core.retargeting.contacts.arms import ArmsBesideTrunk
from takt.core.retargeting.contacts.hands_and_body import HandsAndBody
from takt.core.retargeting.contacts.hull import Hulls
from takt.core.retargeting.contacts.trunk import TRUNK
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.skeleton import world_from_pose

HAND_POINTS, BODY_POINTS = 600, 5000
"""Of the skin between which distances are measured."""
INSIDE = 0.5
"""Winding number of the skin about what is inside."""
NEAR_TRUNKS = 0.05
"""Of the trunk's length: what is farther outside of the hulls of the body's parts is not looked at."""
UP = np.array((0.0, 1.0, 0.0))
Bone = tuple[FloatArray, FloatArray]
"""Where a bone begins and ends, (F, 3) each."""


@dataclass(frozen=True, eq=False)
class SkinnedBody:
    """A body with all vertices of its skin, points all over its surface, and the few that retargeting goes by.

    triangles: (T, 3) corners of the skin, by vertex.
    """

    name: str
    found: SkeletonMap
    skin: SkinPoints
    surface: SkinPoints
    points: SkinPoints
    triangles: IntArray

    @property
    def up(self) -> FloatArray:
        """Return its up (3,) in model space."""
        return UP if self.found.turn is None else rot.rotate(self.found.turn, UP)

    @cached_property
    def bones(self) -> dict[str, list[tuple[int, int]]]:
        """The joints at the ends of the bones of each part; of a head there is only the first."""
        joint_of = self.found.joint_of
        chain = [joint_of[name] for name in (*TRUNK, "skullbase") if name in joint_of]
        parts = {"trunk": list(pairwise(chain)), "head": [(joint_of["skullbase"],) * 2]}
        for side in "lr":
            for part, ends in (("thigh", ("hip", "knee")), ("shin", ("knee", "ankle"))):
                one, other = (joint_of[f"{side}_{end}"] for end in ends)
                parts[f"{side}_{part}"] = [(one, other)]
        return parts

    @cached_property
    def owners(self) -> IntArray:
        """Which part each joint moves, by its place among bones, (J,); -1: none of them, as skirts and capes."""
        parents, joint_of = self.found.skeleton.parents, self.found.joint_of
        owners = np.full(len(parents), -1)
        tops = {"head": "skullbase"} | {f"{side}_{part}": f"{side}_{top}" for side in "lr"
                                       for part, top in (("thigh", "hip"), ("shin", "knee"))}
        for number, part in enumerate(self.bones):
            if part == "trunk":
                owners[[joint_of[name] for name in TRUNK if name in joint_of]] = number
            else:
                owners[with_descendants(parents, np.array([joint_of[tops[part]]]))] = number
        return owners

    @cached_property
    def is_arm(self) -> BoolArray:
        """Which joints (J,) are of arms."""
        shoulders = np.array([self.found.joint_of[f"{side}_shoulder"] for side in "lr"])
        return with_descendants(self.found.skeleton.parents, shoulders)

    @cached_property
    def outer(self) -> IntArray:
        """Numbers of surface points of all but the arms."""
        return _some(np.flatnonzero(~self.is_arm[self.surface.joints[:, 0]]), BODY_POINTS)

    @cached_property
    def shell(self) -> tuple[IntArray, IntArray]:
        """Numbers of the vertices of all but the arms, and its triangles (T, 3) by these."""
        of_arm = self.is_arm[self.skin.joints[:, 0]]
        kept = self.triangles[~of_arm[self.triangles].any(axis=1)]
        vertices, triangles = np.unique(kept, return_inverse=True)
        return vertices, triangles.reshape(-1, 3)


def placed(skin: SkinPoints, kept: IntArray, clip: Clip, times: FloatArray) -> FloatArray:
    """Return where some points are at times (F,), (F, P, 3)."""
    some = SkinPoints(skin.positions[kept], skin.joints[kept], skin.weights[kept])
    return np.stack([some.heights(clip, times, axis) for axis in np.eye(3)], axis=-1)


def hand_from_parts(body: SkinnedBody, clip: Clip, times: FloatArray, side: str) -> dict[str, FloatArray]:
    """Return how far the skin of a hand is from that of each part, with what covers this, at times (F,), (F,) each."""
    parents, joints = body.found.skeleton.parents, body.surface.joints[:, 0]
    is_hand = with_descendants(parents, np.array([body.found.joint_of[f"{side}_wrist"]]))
    hand = placed(body.surface, _some(np.flatnonzero(is_hand[joints]), HAND_POINTS), clip, times)
    outer = placed(body.surface, body.outer, clip, times)
    world = world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3]
    nearest = np.argmin([np.min([_from_bone(outer, world[:, a], world[:, b]) for a, b in bones], axis=0)
                         for bones in body.bones.values()], axis=0)
    far = np.stack([_apart(one, other) for one, other in zip(outer, hand, strict=True)])
    own = body.owners[joints[body.outer]]
    return {part: np.where((nearest == number) | (own == number), far, np.inf).min(axis=1, initial=np.inf)
            for number, part in enumerate(body.bones)}


def arm_places(world: FloatArray, arms: ArmsBesideTrunk, side: int) -> FloatArray:
    """Return where an arm's elbow, forearm, wrist and palm are, (F, 4, 3); world: (F, J, 3, 4)."""
    elbow, wrist, palm = (world[:, joint, :, 3] for joint in (*arms.arms[side][1:], arms.palms[side]))
    return np.stack((elbow, (elbow + wrist) / 2.0, wrist, palm), axis=1)


def outside_skin(body: SkinnedBody, clip: Clip, times: FloatArray, arms: ArmsBesideTrunk, side: int) -> FloatArray:
    """Return how far an arm's elbow, forearm, wrist and palm are outside the skin of all but the arms, (F, 4).

    In the model's lengths, below 0 inside; infinite where they are far outside.
    """
    world = world_from_pose(clip.skeleton, poses_at(clip, times))
    places, outside = arm_places(world, arms, side), np.full((len(times), 4), np.inf)
    shape, near = HandsAndBody.of(body.found, body.points), NEAR_TRUNKS * arms.trunks[0].length
    parts = [] if shape is None else [Hulls.placed(part, world) for part in shape.parts.values()]
    rows = np.flatnonzero(np.any([part.distance(places, 0.0).min(axis=1) < near for part in parts], axis=0))
    vertices, triangles = body.shell
    corners, surface = (placed(skin, kept, clip, times[rows]) for skin, kept in
                        ((body.skin, vertices), (body.surface, body.outer)))
    for i, row in enumerate(rows.tolist()):
        is_inside = np.abs(winding_numbers(places[row], corners[i][triangles])) > INSIDE
        outside[row] = np.where(is_inside, -1.0, 1.0) * _apart(places[row], surface[i])
    return outside


def winding_numbers(points: FloatArray, corners: FloatArray) -> FloatArray:
    """Return how often triangles (T, 3, 3) wind about points (P, 3), (P,): by their solid angles.

    Source: A. van Oosterom, J. Strackee, The Solid Angle of a Plane Triangle, 1983.
    """
    one, two, three = (corners[None, :, i] - points[:, None] for i in range(3))
    a, b, c = (np.linalg.norm(way, axis=-1) for way in (one, two, three))
    volume = np.einsum("ptx,ptx->pt", one, np.cross(two, three))
    rest = (a * b * c + np.einsum("ptx,ptx->pt", one, two) * c + np.einsum("ptx,ptx->pt", two, three) * a
            + np.einsum("ptx,ptx->pt", three, one) * b)
    return np.asarray(np.arctan2(volume, rest).sum(axis=1) / (2.0 * np.pi))


def _from_bone(points: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return how far points (F, P, 3) are from bones between (F, 3) and (F, 3), (F, P)."""
    along = (end - start)[:, None]
    away = points - start[:, None]
    share = np.sum(away * along, axis=-1) / np.maximum(np.sum(along * along, axis=-1), 1e-30)
    return np.asarray(np.linalg.norm(away - np.clip(share, 0.0, 1.0)[..., None] * along, axis=-1))


def _apart(points: FloatArray, others: FloatArray) -> FloatArray:
    """Return how far points (P, 3) are from the nearest of others (Q, 3), (P,)."""
    if not len(others):
        return np.full(len(points), np.inf)
    middle = others.mean(axis=0)
    points, others = points - middle, others - middle
    squares = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * points @ others.T
    return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0.0)))


def _some(numbers: IntArray, most: int) -> IntArray:
    return numbers[::len(numbers) // most + 1]
