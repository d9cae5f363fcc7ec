"""What the skin of a body does that plays a clip: where it is above the ground, what its hands touch, its arms.

What hands touch in a clip, whose skin is not known, is measured by the usual shape of a body; on the body that plays
it, from each of its vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.clips.keyed import poses_at
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, IntArray
from takt.core.retargeting.arms import ArmsBesideTrunk
from takt.core.retargeting.ground import contact_spans
from takt.core.retargeting.hands_and_body import HandsAndBody, height_of
from takt.core.retargeting.retarget import Retargeted
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.retargeting.trunk import TRUNK
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.skeleton import world_from_pose

FPS, MOST_FRAMES = 15, 60
GROUND_FPS, MOST_ON_GROUND = 60, 1500
ON, NEAR = 0.015, 0.03
"""Of the height: a hand so far from the body in the clip is on it; so near on another body it still is."""
DEEPER = 0.02
"""Of the trunk's length."""
SLOW = 0.3
"""Heights in a second: how much faster a wrist became is told where its clip is at least so fast."""
ON_GROUND = 0.01
VERTICES = 1500
UP = np.array((0.0, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class SkinnedBody:
    """A body with all of its skin, and the few points of it that retargeting goes by."""

    name: str
    found: SkeletonMap
    skin: SkinPoints
    points: SkinPoints

    @property
    def up(self) -> FloatArray:
        """Return its up (3,) in model space."""
        return UP if self.found.turn is None else rot.rotate(self.found.turn, UP)


@dataclass(frozen=True, eq=False)
class SkinFigures:
    """What was measured of one clip on one body.

    at_contacts: (N,) how high the lowest skin is, in legs, while something touches the ground; lowest: over all frames.
    gaps: (N,) of hands from what they touch in the clip, in heights. deeper: (N, 4) by how much more elbows, forearms,
    wrists and palms are inside, in lengths of the trunk. faster: (N,) how many times as fast the fastest moment of a
    wrist is as without contacts.
    """

    at_contacts: FloatArray
    lowest: float
    gaps: FloatArray
    deeper: FloatArray
    faster: FloatArray


def skin_figures(clip: Clip, source: SkeletonMap, done: Retargeted, plain: Retargeted,
                 body: SkinnedBody) -> SkinFigures:
    """Measure a clip and what became of it on a body, with contacts kept and without."""
    times = np.linspace(0.0, clip.duration_s, int(np.clip(clip.duration_s * GROUND_FPS, 2, MOST_ON_GROUND)))
    low = _lowest(done.clip, body, times)
    up = UP if source.turn is None else rot.rotate(source.turn, UP)
    spans = contact_spans(clip, source, up)
    stands = np.array([any(a <= t <= b for a, b in spans) for t in times])
    times = np.linspace(0.0, clip.duration_s, int(np.clip(clip.duration_s * FPS, 2, MOST_FRAMES)))
    return SkinFigures(low[stands], float(low.min()), _gaps(clip, source, done.clip, body, times),
                       _deeper(clip, source, done.clip, body, times), _faster(done.clip, plain.clip, body))


def said(figures: Sequence[SkinFigures]) -> str:
    """Return a line about several clips."""
    ground, gaps, deeper, faster = (np.concatenate([getattr(f, name) for f in figures]) for name in
                                    ("at_contacts", "gaps", "deeper", "faster"))
    parts = []
    if len(ground):
        parts.append(f"ground n={len(ground)} within 1 % {np.mean(np.abs(ground) <= ON_GROUND):.1%} worst "
                     f"{100 * ground[np.abs(ground).argmax()]:+.1f} % "
                     f"lowest {100 * min(f.lowest for f in figures):+.1f} %")
    if len(gaps):
        parts.append(f"touching n={len(gaps)} within 3 % {np.mean(gaps <= NEAR):.0%} "
                     f"p90 {100 * np.percentile(gaps, 90):.1f} %")
    if len(deeper):
        arms, hands = deeper.max(axis=1), deeper[:, 2:].max(axis=1)
        parts.append(f"arms deeper {np.mean(arms > DEEPER):.0%}, hands {np.mean(hands > DEEPER):.0%} worst "
                     f"{max(hands.max(), 0.0):.2f}")
    if len(faster):
        parts.append(f"wrists faster p90 {np.percentile(faster, 90):.2f} worst {faster.max():.2f}")
    return "; ".join(parts)


def _lowest(clip: Clip, body: SkinnedBody, times: FloatArray) -> FloatArray:
    """Return how high the lowest vertex is above the soles at rest, (F,) in legs; what is lower at rest may be so."""
    joint_of, rest = body.found.joint_of, body.skin.positions @ body.up
    at = body.found.skeleton.rest_world[:, :, 3]
    feet = with_descendants(body.found.skeleton.parents, np.array([joint_of[f"{s}_ankle"] for s in "lr"]))
    ground = rest[feet[body.skin.joints[:, 0]]].min()
    leg = at[[joint_of[f"l_{part}"] for part in ("hip", "knee", "ankle")]]
    heights = body.skin.heights(clip, times, body.up) - np.minimum(rest - ground, 0.0)
    return np.asarray((heights.min(axis=1) - ground) / np.linalg.norm(np.diff(leg, axis=0), axis=1).sum())


def touches(clip: Clip, found: SkeletonMap, times: FloatArray) -> dict[str, BoolArray]:
    """Return which hands touch which parts of a clip's own body, (F, 2) each; see HandsAndBody."""
    body = HandsAndBody.of(found, None)
    if body is None:
        return {}
    world = world_from_pose(clip.skeleton, poses_at(clip, times))
    palms, is_aside = body.palms_at(world), body.hanging(world) < 0.5
    return {part: (body.outside(world, palms, part)[0] < ON * body.height) & is_aside for part in body.parts}


def _gaps(clip: Clip, source: SkeletonMap, played: Clip, body: SkinnedBody, times: FloatArray) -> FloatArray:
    """Return how far hands are from the body's skin that touch it in the clip, (N,) in heights.

    Of several parts that a hand touches at once, as hip and thigh, the nearest counts.
    """
    parts, gaps = _parts(body), np.full((len(times), 2), np.inf)
    for part, is_on in touches(clip, source, times).items():
        for side, hand in enumerate(("l_hand", "r_hand")):
            at = np.flatnonzero(is_on[:, side])
            if len(at) and {part, hand} <= parts.keys():
                gaps[at, side] = np.minimum(gaps[at, side], _apart(body, played, times[at], parts[hand], parts[part]))
    return np.asarray(gaps[np.isfinite(gaps)] / height_of(body.found))


def _parts(body: SkinnedBody) -> dict[str, IntArray]:
    """Return numbers of vertices (V,) of hands, trunk, head and thighs."""
    parents, joint_of, owner = body.found.skeleton.parents, body.found.joint_of, body.skin.joints[:, 0]

    def below(name: str) -> BoolArray:
        none = np.zeros(len(parents), np.bool_)
        return with_descendants(parents, np.array([joint_of[name]])) if name in joint_of else none

    of_joint = {"trunk": np.isin(np.arange(len(parents)), [joint_of[name] for name in TRUNK if name in joint_of]),
                "head": below("skullbase")}
    for side in "lr":
        of_joint[f"{side}_hand"] = below(f"{side}_wrist")
        of_joint[f"{side}_thigh"] = below(f"{side}_hip") & ~below(f"{side}_knee")
    found = {part: np.flatnonzero(is_part[owner]) for part, is_part in of_joint.items()}
    return {part: vertices[::len(vertices) // VERTICES + 1] for part, vertices in found.items() if len(vertices)}


def _apart(body: SkinnedBody, clip: Clip, times: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Return the least distance between two parts' vertices at times (F,), (F,)."""
    kept, skin = np.concatenate((one, other)), body.skin
    both = SkinPoints(skin.positions[kept], skin.joints[kept], skin.weights[kept])
    at = np.stack([both.heights(clip, times, axis) for axis in np.eye(3)], axis=-1)
    return np.array([np.linalg.norm(now[:len(one), None] - now[None, len(one):], axis=-1).min() for now in at])


def _deeper(clip: Clip, source: SkeletonMap, played: Clip, body: SkinnedBody, times: FloatArray) -> FloatArray:
    """Return by how much deeper arms are in the trunk than in the clip, (N, 4) in its lengths; see SkinFigures."""
    there, here = ArmsBesideTrunk.of(source, None), ArmsBesideTrunk.of(body.found, body.points)
    if there is None or here is None:
        return np.zeros((0, 4))
    worlds = [world_from_pose(each.skeleton, poses_at(each, times)) for each in (clip, played)]
    return np.concatenate([(np.minimum(there.outside(worlds[0], side)[0], 0.0) - here.outside(worlds[1], side)[0])
                           for side in range(2)])


def _faster(kept: Clip, plain: Clip, body: SkinnedBody) -> FloatArray:
    """Return how many times as fast a wrist is with contacts kept, at most in a clip, (N,)."""
    hands = HandsAndBody.of(body.found, None)
    times = np.linspace(0.0, kept.duration_s, int(np.clip(kept.duration_s * 60, 2, 600)))
    if hands is None or len(times) < 3:
        return np.zeros(0)
    speeds = []
    for clip in (kept, plain):
        places = world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3]
        wrists = places[:, [arm.last for arm in hands.arms]]
        speeds.append(np.linalg.norm(np.diff(wrists, axis=0), axis=-1).max(axis=0) / (times[1] * hands.height))
    is_fast = speeds[1] > SLOW
    return np.asarray(speeds[0][is_fast] / speeds[1][is_fast])

