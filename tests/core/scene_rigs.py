"""Four characters made by rule, who differ in names, proportions, rest poses, axes of their joints, and units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.scene.cast import Point, SceneFloor, ScenePath, ScenePlace
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import RIGS

_Z_UP: Final = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2.0)
_BODY: Final = build_skeleton()
_PARTS: Final = {"legs": ("hip", "knee", "ankle", "metatarsal"), "arms": ("shoulder", "elbow", "wrist")}


@dataclass(frozen=True)
class Rig:
    """A character. names: of RIGS. legs, arms, trunk: against the sample's. lowered_rad: the arms, as it rests.

    units: how many there are in a metre. is_z_up: as Blender is. seed: of the axes of joints, 0: those of the model.
    """

    names: str
    legs: float = 1.0
    arms: float = 1.0
    trunk: float = 1.0
    lowered_rad: float = 0.0
    units: float = 1.0
    is_z_up: bool = False
    seed: int = 0

    @cached_property
    def skeleton(self) -> Skeleton:
        """Its skeleton."""
        names = RIGS[self.names]
        kept = [joint for joint in _BODY.names if joint in names]
        rest = {joint: _BODY.rest_world[_BODY.index_of[joint], :, 3] for joint in kept}
        parents, offsets, places = dict[str, str](), dict[str, FloatArray](), dict[str, FloatArray]()
        for joint in kept:
            above = int(_BODY.parents[_BODY.index_of[joint]])
            while above >= 0 and _BODY.names[above] not in names:
                above = int(_BODY.parents[above])
            parents[joint] = "" if above < 0 else _BODY.names[above]
            offsets[joint] = rest[joint] - (rest[parents[joint]] if parents[joint] else 0.0)
        for joint in kept:
            part, side = joint.partition("_")[2], joint[:2]
            size = self.trunk
            if side in ("l_", "r_"):
                is_hand = part[:-1] in ("thumb", "index", "middle", "ring", "pinky")
                size = (self.legs if part in _PARTS["legs"][1:] else self.arms if is_hand or part in _PARTS["arms"][1:]
                        else self.trunk)
                if is_hand or part in _PARTS["arms"][1:]:
                    sign = -1.0 if side == "l_" else 1.0
                    offsets[joint] = rot.rotate(rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), sign * self.lowered_rad),
                                                offsets[joint])
            places[joint] = size * offsets[joint] + (places[parents[joint]] if parents[joint] else 0.0)
        return self._with_axes([names[joint] for joint in kept],
                               [kept.index(parents[joint]) if parents[joint] else -1 for joint in kept],
                               np.array([places[joint] for joint in kept]))

    def _with_axes(self, names: list[str], parents: list[int], places: FloatArray) -> Skeleton:
        """Return the skeleton with random axes of its joints, standing on the ground."""
        ankles = places[:, 1].min()
        places = self.points(places - (0.0, ankles - 0.05, 0.0))
        rng, count = np.random.default_rng(self.seed), len(names)
        turns = rot.normalized(rng.normal(size=(count, 4))) if self.seed else rot.identities(count)
        local, offsets = turns.copy(), places.copy()
        for joint, parent in enumerate(parents):
            if parent >= 0:
                local[joint] = rot.multiply(rot.conjugate(turns[parent]), turns[joint])
                offsets[joint] = rot.rotate(rot.conjugate(turns[parent]), places[joint] - places[parent])
        return Skeleton.from_arrays(names, np.array(parents), local, offsets, name=self.names)

    @cached_property
    def map(self) -> SkeletonMap:
        """What its joints are."""
        return find_map(self.skeleton)

    @property
    def turn(self) -> FloatArray:
        """From H-Anim's axes to its own, (4,)."""
        return _Z_UP if self.is_z_up else rot.IDENTITY

    @property
    def up(self) -> FloatArray:
        """Its up, (3,)."""
        return rot.rotate(self.turn, np.array((0.0, 1.0, 0.0)))

    @cached_property
    def leg(self) -> float:
        """How long a leg is, in its units."""
        return self._length("hip", "knee", "ankle")

    @cached_property
    def arm(self) -> float:
        """How long an arm is, in its units."""
        return self._length("shoulder", "elbow", "wrist")

    def _length(self, *joints: str) -> float:
        rest = self.skeleton.rest_world[[self.map.joint_of[f"l_{joint}"] for joint in joints], :, 3]
        return float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())

    @property
    def leg_m(self) -> float:
        """How long a leg is in metres."""
        return self.leg / self.units

    def joint(self, name: str) -> int:
        """Return the index of a joint by its H-Anim name."""
        return self.map.joint_of[name]

    def points(self, points: FloatArray) -> FloatArray:
        """Return points (..., 3) in H-Anim's axes and metres as its own."""
        return np.asarray(self.units * rot.rotate(self.turn, np.asarray(points, dtype=np.float64)))

    def point(self, point: FloatArray) -> Point:
        """Return the same of one point."""
        x, y, z = self.points(point).tolist()
        return x, y, z

    def place(self, position: FloatArray, ahead: FloatArray) -> ScenePlace:
        """Return a place, from H-Anim's axes and metres."""
        x, y, z = rot.rotate(self.turn, ahead).tolist()
        return ScenePlace(self.point(position), (x, y, z))

    def path(self, points: FloatArray) -> ScenePath:
        """Return a path through points (N, 3) in H-Anim's axes and metres."""
        return ScenePath(tuple(map(self.point, points)))

    def floor(self, floor: SceneFloor) -> SceneFloor:
        """Return a floor that is given in H-Anim's axes and metres."""
        return SceneFloor(self.points(floor.points), floor.triangles)


FOUR: Final = (
    Rig("Mixamo", units=100.0, legs=1.12, arms=1.05, seed=1),
    Rig("Unreal's mannequin", lowered_rad=np.radians(45.0), is_z_up=True, units=100.0, trunk=1.1, seed=2),
    Rig("Rigify's metarig", is_z_up=True, legs=0.7, arms=0.75, trunk=0.8, lowered_rad=np.radians(15.0), seed=3),
    Rig("VRoid", legs=0.95, arms=0.9, trunk=0.9, lowered_rad=np.radians(30.0)))
