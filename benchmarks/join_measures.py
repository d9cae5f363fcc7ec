"""What the eye sees where one clip becomes the next, as numbers; by NumPy alone.

All lengths are in leg lengths of the body, all positions in ground coordinates: two along the ground, the third up.

    speed      of hips, hands and feet: the fastest near the seam ÷ what the clips on both sides reach themselves (the
               larger of their 95th percentiles)
    jerk       the same of the third derivative
    displaced  how far a foot goes over the ground while it should stand: near the seam, wherever the clip that plays
               has it stand (see planted, on the clip's own skeleton), the distance between the two farthest of its
               positions. A foot that is lifted by STEP_LEGS or more makes a step: from there on it stands anew
    skate      how far both feet go over the ground near the seam, each bit counted by how low the foot is: wholly on
               the ground, not at all SKATE_LEGS above it (2 − 2^(h/H): Zhang et al. 2018, Mode-Adaptive Neural
               Networks for Quadruped Motion Control)
    lowest     how high the lowest joint of the feet is above its height at rest; likewise the lowest skin of the soles
    heading    by how much the hips turn about up within an instant; moved: how far they go over the ground
    airborne   whether both feet are higher than AIR_LEGS while the clip that plays has one stand; floats: whether they
               are so much higher than where the clips on both sides have standing feet, while both of them have one
    knees      how suddenly a knee turns: the largest second difference of its angle, degrees per frame²
    is_still   whether both feet stand still all through both clips: there any step is faster, and fast is how fast feet
               go, in legs per second
    step       how fast a foot is on a step that it makes at the seam ÷ the fastest that the clips on both sides have a
               foot at any time; the table leaves out seams without steps, and still ones: there any step is faster
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, IntArray, runs
from takt.core.playing.feet.legs import legs_of
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.skeleton import Skeleton

FPS: Final = 30
NEAR_S: Final = 0.6
STEP_LEGS: Final = 0.04
AIR_LEGS: Final = 0.06
SKATE_LEGS: Final = 0.03
LOW_LEGS: Final = 0.06
"""What looks planted is at most this much above its lowest height, in leg lengths, and as slow as that:"""
SLOW_LEGS_PER_S: Final = 0.35
SHORTEST_S: Final = 0.1
BRIEF_S: Final = 0.05
PARTS: Final = ("hips", "hands", "feet")
_TIMES: Final = np.arange(-round(NEAR_S * FPS), round(NEAR_S * FPS) + 1) / FPS
LEAST: Final = 1e-3
"""Speeds in legs/s, jerks in legs/s³, below which nothing moves."""


@dataclass(frozen=True, eq=False)
class Body:
    """Where on a skeleton to look: joints of the hips (1), hands (2) and feet (2), and of what a foot has (2, 2).

    legs: (2, 3) their hips, knees and ankles.
    ground: (3, 3) from model space to ground coordinates, in which all is a leg long what is as long as a leg.
    """

    skeleton: Skeleton
    ground: FloatArray
    hips: IntArray
    hands: IntArray
    feet: IntArray
    soles: IntArray
    legs: IntArray
    leg_length: float

    @classmethod
    def of(cls, found: SkeletonMap, up: FloatArray) -> Body:
        """Take it from what the joints are; up: (3,) in model space."""
        legs, rest = legs_of(found), found.skeleton.rest_world[:, :, 3]
        leg = float(np.mean([np.linalg.norm(np.diff(rest[[leg.hip, leg.knee, leg.ankle]], axis=0), axis=1).sum()
                             for leg in legs]))
        up = up / np.linalg.norm(up)
        across = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
        across /= np.linalg.norm(across)
        joints = found.joint_of
        return cls(found.skeleton, np.stack((across, np.cross(up, across), up)) / leg,
                   np.array([joints["HumanoidRoot"]]), np.array([joints["l_wrist"], joints["r_wrist"]]),
                   np.array([leg.foot for leg in legs]), np.array([(leg.ankle, leg.foot) for leg in legs]),
                   np.array([(leg.hip, leg.knee, leg.ankle) for leg in legs]), leg)

    def positions(self, world: FloatArray, joints: IntArray) -> FloatArray:
        """Return where joints are, (..., N, 3), from matrices (..., J, 3, 4)."""
        return np.asarray(world[..., 3][..., joints, :] @ self.ground.T)

    def heights(self, world: FloatArray) -> FloatArray:
        """Return how high the lower joint of each foot is above its height at rest, (..., 2)."""
        rest = self.positions(self.skeleton.rest_world, self.soles)[..., 2]
        return np.asarray((self.positions(world, self.soles)[..., 2] - rest).min(axis=-1))

    def bends(self, world: FloatArray) -> FloatArray:
        """Return by how many degrees knees are bent, (..., 2)."""
        hip, knee, ankle = np.moveaxis(self.positions(world, self.legs), -2, 0)
        thigh, shin = knee - hip, ankle - knee
        across = np.linalg.norm(np.cross(thigh, shin), axis=-1)
        return np.asarray(np.degrees(np.arctan2(across, (thigh * shin).sum(axis=-1))))

    def headings(self, world: FloatArray) -> FloatArray:
        """Return how far the hips are turned about up from rest, radians."""
        linear = world[..., self.hips[0], :, :3]
        turned = rot.multiply(rot.from_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True)),
                              rot.conjugate(self.skeleton.rest_world_rotations[self.hips[0]]))
        up = self.ground[2] * self.leg_length
        return np.asarray(2.0 * np.arctan2(rot.twist(turned, up)[..., 1:] @ up, rot.twist(turned, up)[..., 0]))


@dataclass(frozen=True, eq=False)
class Levels:
    """What is usual in a clip, by part of the body (3,): 95th percentiles of speed and jerk; how fast feet ever are."""

    speed: FloatArray
    jerk: FloatArray
    fastest: float

    @classmethod
    def of(cls, body: Body, world: FloatArray) -> Levels:
        """Take them from a whole clip, FPS frames a second, as matrices (F, J, 3, 4)."""
        speed, jerk = (np.array([np.percentile(each, 95.0) if len(each) else 0.0 for each in by_part(body, world, n)])
                       for n in (1, 3))
        fastest = float(by_part(body, world, 1)[-1].max(initial=LEAST))
        return cls(np.maximum(speed, LEAST), np.maximum(jerk, LEAST), fastest)

    def __or__(self, other: Levels) -> Levels:
        """Return the larger of both."""
        return Levels(np.maximum(self.speed, other.speed), np.maximum(self.jerk, other.jerk),
                      max(self.fastest, other.fastest))


@dataclass(frozen=True, eq=False)
class Join:
    """What one seam looks like; see the top. speed, jerk: (3,) by part of the body. displaced: of the feet that stand.

    heading_rad, moved: the largest jump.
    """

    speed: FloatArray
    jerk: FloatArray
    displaced: tuple[float, ...]
    skate: float
    lowest: float
    airborne: bool
    heading_rad: float = 0.0
    moved: float = 0.0
    skin: float = np.nan
    floats: bool = False
    is_still: bool = False
    fast: float = 0.0
    knees: float = 0.0
    step: float = 0.0


def near(seam_s: float, begin_s: float, end_s: float) -> FloatArray:
    """Return the times around a seam, FPS in a second, that lie between two others."""
    times = seam_s + _TIMES
    return np.asarray(times[(times >= begin_s) & (times <= end_s)])


def measure(body: Body, world: FloatArray, stands: BoolArray, levels: Levels) -> Join:
    """Measure one seam by matrices (F, J, 3, 4) at its times; stands: (F, 2) whether the clip has the feet stand."""
    heights, feet = body.heights(world), body.positions(world, body.feet)
    speed, jerk = (np.array([each.max(initial=0.0) for each in by_part(body, world, n)]) for n in (1, 3))
    per_foot = [displaced(feet[:, foot], heights[:, foot], stands[:, foot]) for foot in range(feet.shape[1])]
    return Join(speed / levels.speed, jerk / levels.jerk, tuple(each for each in per_foot if each is not None),
                sum(skate(feet[:, foot], heights[:, foot]) for foot in range(feet.shape[1])), float(heights.min()),
                bool(((heights > AIR_LEGS).all(axis=1) & stands.any(axis=1)).any()),
                is_still=bool(levels.speed[-1] < SLOW_LEGS_PER_S), fast=float(speed[-1]),
                knees=float(np.abs(np.diff(body.bends(world), 2, axis=0)).max(initial=0.0)))


def by_part(body: Body, world: FloatArray, order: int) -> list[FloatArray]:
    """Return how fast (order 1), or how jerkily (3), the faster hand, foot … of each part moves, (F − order,) each."""
    return [np.linalg.norm(np.diff(body.positions(world, joints), order, axis=0), axis=-1).max(axis=1) * FPS**order
            for joints in (body.hips, body.hands, body.feet)]


def planted(positions: FloatArray, times_s: FloatArray, up: FloatArray, leg_length: float) -> BoolArray:
    """Tell when a joint stands on the ground, (F,).

    positions: (F, 3) in model space at times (F,), ascending; up: unit vector (3,). Contacts shorter than SHORTEST_S do
    not count, nor do gaps that are shorter than BRIEF_S.
    """
    if len(positions) < 2 or leg_length <= 0.0:
        return np.zeros(len(positions), dtype=np.bool_)
    height = positions @ up
    speed = np.linalg.norm(np.gradient(positions, times_s, axis=0), axis=1)
    stands: BoolArray = (height <= height.min() + LOW_LEGS * leg_length) & (speed <= SLOW_LEGS_PER_S * leg_length)
    for start, stop in runs(~stands):
        if 0 < start and stop < len(stands) and times_s[stop] - times_s[start - 1] < BRIEF_S:
            stands[start:stop] = True
    for start, stop in runs(stands):
        if times_s[stop - 1] - times_s[start] < SHORTEST_S:
            stands[start:stop] = False
    return stands


def displaced(positions: FloatArray, heights: FloatArray, stands: BoolArray) -> float | None:
    """Return how far apart the farthest two positions (F, 3) of a foot are in one of the stretches in which it stands.

    heights: (F,) above the ground; where it is lifted, a stretch ends. None where it never stands.

    >>> slide = np.outer(np.linspace(0.0, 0.1, 5), (1.0, 0.0, 0.0))
    >>> displaced(slide, np.zeros(5), np.ones(5, dtype=bool))
    0.1
    """
    found = [np.linalg.norm(positions[a:b, None, :2] - positions[None, a:b, :2], axis=-1).max()
             for a, b in runs(stands & (heights < STEP_LEGS))]
    return float(max(found)) if found else 0.0 if stands.any() else None


def skate(positions: FloatArray, heights: FloatArray) -> float:
    """Return how far a foot at positions (F, 3) goes over the ground, each bit counted by how low it is, (F,)."""
    steps = np.linalg.norm(np.diff(positions[:, :2], axis=0), axis=1)
    height = np.clip((heights[1:] + heights[:-1]) / 2.0 / SKATE_LEGS, 0.0, 1.0)
    return float(steps @ (2.0 - 2.0**height))


def jumps(body: Body, before: FloatArray, after: FloatArray) -> tuple[float, float]:
    """Return the largest turn about up (radians) and shift over the ground between matrices (N, J, 3, 4)."""
    turn = np.remainder(body.headings(after) - body.headings(before) + np.pi, 2.0 * np.pi) - np.pi
    shift = (body.positions(after, body.hips) - body.positions(before, body.hips))[:, 0, :2]
    return float(np.abs(turn).max(initial=0.0)), float(np.linalg.norm(shift, axis=1).max(initial=0.0))


def standing(found: SkeletonMap, up: FloatArray, world: FloatArray, times_s: FloatArray) -> BoolArray:
    """Return when the feet of a clip stand, (F, 2), on its own skeleton at its own pace, by matrices (F, J, 3, 4)."""
    body = Body.of(found, up)
    return np.stack([planted(positions, times_s, np.array((0.0, 0.0, 1.0)), 1.0)
                     for positions in np.moveaxis(body.positions(world, body.feet), 1, 0)], axis=1)


HEADINGS: Final = (f"{'':30} {'hips':>11} {'hands':>11} {'feet':>11} {'jerk p90':>14} {'displaced':>11} {'one >':>5} "
                   f"{'skate':>5} {'lowest':>6} {'skin':>6} {'turn':>6} {'moved':>6} {'air':>4} "
                   f"{'float':>5} {'knees':>7} {'step':>9}\n"
                   f"{'':30} {'med/p90':>11} {'med/p90':>11} {'med/p90':>11} {'':>14} {'mean/p90 %':>11} {'5 %':>5} "
                   f"{'%':>5} {'p5 %':>6} {'p5 %':>6} {'°':>6} {'leg':>6} {'':>4} "
                   f"{'':>5} {'p90/max':>7} {'p90/max':>9}\n")


def row(label: str, joins: Sequence[Join], inside_skate: float = np.nan) -> str:
    """Return a line of the table; skate is that of a seam against inside, or in percent of the leg where none is."""
    moved = np.array([each for join in joins for each in join.displaced] or [np.nan]) * 100.0

    def of(part: Callable[[Join], float | FloatArray]) -> FloatArray:
        return np.array([part(join) for join in joins])

    speed, jerk = of(lambda join: join.speed), np.percentile(of(lambda join: join.jerk), 90.0, axis=0)
    speeds = " ".join(f"{np.median(each):5.2f}/{np.percentile(each, 90.0):5.2f}" for each in speed.T)
    skated = of(lambda join: join.skate).mean()
    skating = f"{skated * 100.0:5.0f}" if np.isnan(inside_skate) else f"{skated / inside_skate:4.1f}×"
    lowest, skin = (np.percentile(of(part), 5.0) * 100.0 for part in (lambda join: join.lowest, lambda join: join.skin))
    soles = f"{'–' if np.isnan(skin) else f'{skin:.1f}':>6}"
    knees = of(lambda join: join.knees)
    step = np.array([join.step for join in joins if join.step and not join.is_still] or [np.nan])
    steps = f"{np.percentile(step, 90.0):4.2f}/{step.max():4.2f}".replace("nan", "–")
    far = np.mean([max(join.displaced, default=0.0) > 0.05 for join in joins])
    return (f"{label:30} {speeds} {jerk[0]:4.1f}/{jerk[1]:4.1f}/{jerk[2]:4.1f} "
            f"{moved.mean():5.1f}/{np.percentile(moved, 90.0):5.1f} {far:5.2f} {skating} {lowest:6.1f} {soles} "
            f"{np.degrees(of(lambda join: join.heading_rad).max()):6.2f} {of(lambda join: join.moved).max():6.3f} "
            f"{of(lambda join: join.airborne).mean():4.2f} {of(lambda join: join.floats).mean():5.2f} "
            f"{np.percentile(knees, 90.0):3.0f}/{knees.max():3.0f} {steps:>9}")


@dataclass(frozen=True)
class Gap:
    """How far joints are from where a clip has them in a gap that was filled: in legs, rotations in radians."""

    moved: float
    turn_rad: float


def gap(body: Body, filled: FloatArray, own: FloatArray) -> Gap:
    """Compare matrices (F, J, 3, 4) over all joints and frames, in model space."""
    moved = np.linalg.norm(filled[..., 3] - own[..., 3], axis=-1) / body.leg_length
    one, other = (rot.from_matrix(each[..., :3] / np.linalg.norm(each[..., :3], axis=-2, keepdims=True))
                  for each in (filled, own))
    return Gap(float(moved.mean()), float(rot.angle_between(one, other).mean()))

