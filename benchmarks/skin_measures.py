"""What the skin of a body does that plays a clip: where it is above the ground, what its hands touch, its arms.

Where seat or back are on the ground in the clip it is asked of them by themselves, not only of what is lowest.

What hands touch in a clip, whose skin is not known, is measured by the usual shape of a body; on the body that plays
it, by its own skin (skinned_body.py): between points all over the hand and the part that it touches, with what covers
this part. Hands that touch each other are measured by the distance of their palms. Of hands that do not touch what they
touch in the clip those are counted apart that are on another part of the body, and of the others those whose arms are
stretched. Arms are in the body where their middles are inside its skin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from takt.benchmarks.measured_contacts import contact_spans, height_of_trunk
from takt.benchmarks.skinned_body import SkinnedBody, arm_places, hand_from_parts, outside_skin
from takt.core.clips.clip import Clip
from takt.core.clips.keyed import poses_at
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.retargeting.comparing.upright import FEET
from takt.core.retargeting.contacts.arms import ArmsBesideTrunk, ArmsInFrames
from takt.core.retargeting.contacts.hands_and_body import HandsAndBody, InFrames, height_of
from takt.core.retargeting.contacts.hull import Hulls
from takt.core.retargeting.ground.bearing_trunk import of_trunk
from takt.core.retargeting.ground.touching import ground_height
from takt.core.retargeting.retarget import Retargeted
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.skeleton import world_from_pose

FPS, MOST_FRAMES = 15, 60
GROUND_FPS, MOST_ON_GROUND = 60, 1500
ON, NEAR = 0.015, 0.03
"""Of the height: a hand so far from the body in the clip is on it; so near on another body it still is."""
TOGETHER = 0.12
"""Of the height: hands so near each other in the clip are compared."""
STRETCHED = 0.99
"""Of an arm's length, from shoulder to wrist."""
SEATED = 0.02
"""Of the leg: seat or back that is so near the ground in the clip is on it."""
DEEPER = 0.02
"""Of the trunk's length."""
SLOW = 0.3
"""Heights in a second: how much faster a wrist became is told where its clip is at least so fast; and a hand that goes
faster past what it touches only swings past it."""
JOLT = 0.03
"""Of the height: clips are named whose wrists' way bends by so much more within a frame."""
BESIDE_S = 1.0 / 60.0
ON_GROUND, BELOW = 0.01, 0.02
IN_THE_AIR = 0.35
"""Of the leg: as high as nothing counts as touching the ground (core/retargeting/ground/by_skin.py)."""
WORST = 8
"""So many clips are named for each kind of figure."""
UP = np.array((0.0, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class SkinFigures:
    """What was measured of one clip on one body.

    clip: its name. at_contacts: (N,) how high the lowest skin is, in legs, while something touches the ground, unless
    all of the clip's body is far above that; lowest: over all frames. seated: (S,) how high the lowest skin of seat and
    back is, in legs, while the clip's is on the ground.
    gaps: (N, 4) of hands that touch something in the clip: how far they are from it or from what covers it, and from
    the nearest other part of the body, in heights, how far their arms are stretched, of their length, and how fast they
    go past it in the clip, in heights in a second. together: (M,) by how much further hands are from each other than in
    the clip where they are near, in heights. deeper: (N, 4) by how much more elbows, forearms, wrists and palms are
    inside the body, in lengths of the trunk. faster: (N,) how many times as fast the fastest moment of a wrist is as
    without contacts. jolts: (N,) by how much more its way bends within a frame of 1/30 s, in heights.
    """

    clip: str
    at_contacts: FloatArray
    lowest: float
    seated: FloatArray
    gaps: FloatArray
    together: FloatArray
    deeper: FloatArray
    faster: FloatArray
    jolts: FloatArray


def skin_figures(clip: Clip, source: SkeletonMap, done: Retargeted, plain: Retargeted,
                 body: SkinnedBody) -> SkinFigures:
    """Measure a clip and what became of it on a body, with contacts kept and without."""
    times = np.linspace(0.0, clip.duration_s, int(np.clip(clip.duration_s * GROUND_FPS, 2, MOST_ON_GROUND)))
    low = _lowest(done.clip, body, times)
    up = UP if source.turn is None else rot.rotate(source.turn, UP)
    spans = contact_spans(clip, source, up)
    stands = np.array([any(a <= t <= b for a, b in spans) for t in times]) & ~_in_the_air(clip, source, up, times)
    seated = _lowest(done.clip, body, times[height_of_trunk(clip, source, up, times) < SEATED], is_seat=True)
    times = np.linspace(0.0, clip.duration_s, int(np.clip(clip.duration_s * FPS, 2, MOST_FRAMES)))
    return SkinFigures(clip.name, low[stands], float(low.min()), seated, _gaps(clip, source, done.clip, body, times),
                       _together(clip, source, done.clip, body, times), _deeper(clip, source, done.clip, body, times),
                       _faster(done.clip, plain.clip, body), _jolts(done.clip, plain.clip, body))


def said(figures: Sequence[SkinFigures]) -> str:
    """Return a line about several clips."""
    ground, seated, gaps, together, deeper, faster, jolts = (
        np.concatenate([getattr(f, name) for f in figures]) for name in
        ("at_contacts", "seated", "gaps", "together", "deeper", "faster", "jolts"))
    parts = []
    if len(ground):
        parts.append(f"ground n={len(ground)} within 1 % {np.mean(np.abs(ground) <= ON_GROUND):.1%} worst "
                     f"{100 * ground[np.abs(ground).argmax()]:+.1f} % "
                     f"lowest {100 * min(f.lowest for f in figures):+.1f} %")
    if len(seated):
        parts.append(f"seat and back n={len(seated)} within {SEATED:.0%} {np.mean(np.abs(seated) <= SEATED):.1%} "
                     f"p90 {100 * np.percentile(np.abs(seated), 90):.1f} %")
    swings = gaps[:, 3] > SLOW
    if swings.any():
        parts.append(f"swinging past n={np.count_nonzero(swings)} within 3 % {np.mean(gaps[swings, 0] <= NEAR):.0%}")
    gaps = gaps[~swings]
    if len(gaps):
        is_near, is_elsewhere = gaps[:, 0] <= NEAR, gaps[:, 1] <= NEAR
        parts.append(f"touching n={len(gaps)} within 3 % {np.mean(is_near):.0%} "
                     f"p90 {100 * np.percentile(gaps[:, 0], 90):.1f} %, not but elsewhere "
                     f"{np.mean(~is_near & is_elsewhere):.0%}, not but stretched "
                     f"{np.mean(~is_near & ~is_elsewhere & (gaps[:, 2] >= STRETCHED)):.0%}")
    if len(together):
        parts.append(f"together n={len(together)} within 3 % {np.mean(np.abs(together) <= NEAR):.0%}")
    if len(deeper):
        arms, hands = deeper.max(axis=1), deeper[:, 2:].max(axis=1)
        parts.append(f"arms deeper {np.mean(arms > DEEPER):.0%}, hands {np.mean(hands > DEEPER):.0%} worst "
                     f"{max(hands.max(), 0.0):.2f}")
    if len(faster):
        parts.append(f"wrists faster p90 {np.percentile(faster, 90):.2f} worst {faster.max():.2f}")
    if len(jolts):
        parts.append(f"jolted p90 {100 * np.percentile(jolts, 90):.1f} worst {100 * jolts.max():.1f} %")
    return "; ".join(parts)


def _in_the_air(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray) -> BoolArray:
    """Return when all of a clip's body is far above its ground, (F,): feet of one on a chair may hang still."""
    joints = [found.joint_of[name] for name in FEET if name in found.joint_of]
    heights = world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3] @ up
    ground = ground_height(clip, joints, heights[:, joints], up)
    return np.asarray(heights[:, [*found.joint_of.values()]].min(axis=1) - ground > IN_THE_AIR * found.leg_length)


def said_worst(figures: Sequence[SkinFigures]) -> list[str]:
    """Return a line for each kind of figure that some clips miss: the worst of these."""
    missed: dict[str, list[tuple[float, str]]] = {
        "ground": [(float(np.abs(each).max()), f"{each[np.abs(each).argmax()]:+.1%}")
                   for each in (figure.at_contacts if len(figure.at_contacts) else np.zeros(1) for figure in figures)],
        "below": [(-figure.lowest / BELOW * ON_GROUND, f"{figure.lowest:+.1%}") for figure in figures],
        "seat and back": [(high / SEATED * ON_GROUND, f"{high:.1%}") for high in
                          (float(np.abs(figure.seated).max(initial=0.0)) for figure in figures)],
        "touching": [(miss / NEAR * ON_GROUND, f"{miss:.1%}") for miss in
                     (float(figure.gaps[:, 0].max(initial=0.0)) for figure in figures)],
        "together": [(miss / NEAR * ON_GROUND, f"{miss:.1%}") for miss in
                     (float(np.abs(figure.together).max(initial=0.0)) for figure in figures)],
        "hands deeper": [(miss / DEEPER * ON_GROUND, f"{miss:.2f}") for miss in
                         (float(figure.deeper[:, 2:].max(initial=0.0)) for figure in figures)],
        "jolted": [(jolt / JOLT * ON_GROUND, f"{jolt:.1%}") for jolt in
                   (float(figure.jolts.max(initial=0.0)) for figure in figures)]}
    lines = []
    for kind, of_clips in missed.items():
        worst = sorted(((size, f"{figure.clip} {told}") for (size, told), figure in zip(of_clips, figures, strict=True)
                        if size > ON_GROUND), reverse=True)
        if worst:
            lines.append(f"{kind}: {len(worst)} of {len(figures)} clips: "
                         f"{', '.join(told for _, told in worst[:WORST])}")
    return lines


def _lowest(clip: Clip, body: SkinnedBody, times: FloatArray, *, is_seat: bool = False) -> FloatArray:
    """Return how high the lowest vertex is above the soles at rest, (F,) in legs; what is lower at rest may be so.

    is_seat: of seat and back alone.
    """
    if not len(times):
        return np.zeros(0)
    joint_of, rest = body.found.joint_of, body.skin.positions @ body.up
    at = body.found.skeleton.rest_world[:, :, 3]
    feet = with_descendants(body.found.skeleton.parents, np.array([joint_of[f"{s}_ankle"] for s in "lr"]))
    ground = rest[feet[body.skin.joints[:, 0]]].min()
    leg = at[[joint_of[f"l_{part}"] for part in ("hip", "knee", "ankle")]]
    skin, deeper = body.skin, np.minimum(rest - ground, 0.0)
    if is_seat:
        is_own = of_trunk(skin.positions, skin.joints[:, 0], clip.skeleton, body.found)
        skin, deeper = skin.part(is_own), deeper[is_own]
    heights = skin.heights(clip, times, body.up) - deeper
    lowest = heights.min(axis=1, initial=np.inf) - ground
    return np.asarray(lowest / np.linalg.norm(np.diff(leg, axis=0), axis=1).sum())


def touches(clip: Clip, found: SkeletonMap, times: FloatArray) -> dict[str, BoolArray]:
    """Return which hands touch which parts of a clip's own body, (F, 2) each; see HandsAndBody."""
    body = HandsAndBody.of(found, None)
    if body is None:
        return {}
    world = world_from_pose(clip.skeleton, poses_at(clip, times))
    placed, is_aside = InFrames(body, world), body.hanging(world) < 0.5
    return {part: (placed.outside(placed.palms(), part)[0] < ON * body.height) & is_aside for part in body.parts}


def _passing(clip: Clip, found: SkeletonMap, times: FloatArray, part: str) -> FloatArray:
    """Return how fast a clip's hands go past a part of its body, (F, 2) in heights in a second."""
    body, places = HandsAndBody.of(found, None), []
    if body is None:
        return np.zeros((len(times), 2))
    joint = body.parts[part][0].joint
    for beside in (-BESIDE_S, BESIDE_S):
        world = world_from_pose(clip.skeleton, poses_at(clip, (times + beside).clip(0.0, clip.duration_s)))
        away = InFrames(body, world).palms() - world[:, None, joint, :, 3]
        places.append(np.einsum("fji,fpj->fpi", world[:, joint, :, :3], away))
    return np.asarray(np.linalg.norm(places[1] - places[0], axis=-1) / (2.0 * BESIDE_S * body.height))


def _gaps(clip: Clip, source: SkeletonMap, played: Clip, body: SkinnedBody, times: FloatArray) -> FloatArray:
    """Return gaps (N, 4) of hands that touch something in the clip, see SkinFigures.

    Of several parts that a hand touches at once, as hip and thigh, the nearest counts. A body without arms has none.
    """
    if not all(f"{side}_{part}" in body.found.joint_of for side in "lr" for part in ("shoulder", "elbow", "wrist")):
        return np.zeros((0, 4))
    on, height = touches(clip, source, times), height_of(body.found)
    found = [np.zeros((0, 4))]
    fast = {part: _passing(clip, source, times, part) for part in on if on[part].any()}
    for side, arm in enumerate("lr"):
        parts = [part for part in on if part in body.bones]
        at = np.flatnonzero(np.any([on[part][:, side] for part in parts], axis=0)) if parts else ()
        if not len(at):
            continue
        apart = hand_from_parts(body, played, times[at], arm)
        gaps, others = (np.min([np.where(on[part][at, side] == wanted, apart[part], np.inf) for part in parts], axis=0)
                        / height for wanted in (True, False))
        past = np.min([np.where(on[part][at, side], fast[part][at, side], np.inf) for part in parts if part in fast],
                      axis=0)
        found.append(np.stack((gaps, others, _stretched(body, played, times[at])[:, side], past), axis=1))
    return np.concatenate(found)


def _stretched(body: SkinnedBody, clip: Clip, times: FloatArray) -> FloatArray:
    """Return how far arms are stretched at times (F,), (F, 2) of their length."""
    world = world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3]
    joint_of, chain = body.found.joint_of, ("shoulder", "elbow", "wrist")
    arms = [[world[:, joint_of[f"{side}_{part}"]] for part in chain] for side in "lr"]
    return np.stack([np.linalg.norm(last - first, axis=1) / (np.linalg.norm(middle - first, axis=1)
                                                             + np.linalg.norm(last - middle, axis=1))
                     for first, middle, last in arms], axis=1)


def _together(clip: Clip, source: SkeletonMap, played: Clip, body: SkinnedBody, times: FloatArray) -> FloatArray:
    """Return by how much further hands are from each other, in heights, where they are near in the clip, (M,)."""
    there, here = HandsAndBody.of(source, None), HandsAndBody.of(body.found, body.points)
    if there is None or here is None:
        return np.zeros(0)
    apart = []
    for hands, each in ((there, clip), (here, played)):
        palms = InFrames(hands, world_from_pose(each.skeleton, poses_at(each, times))).palms()
        apart.append(np.linalg.norm(palms[:, 0] - palms[:, 1], axis=1) / hands.height)
    return np.asarray((apart[1] - apart[0])[apart[0] < TOGETHER])


def _deeper(clip: Clip, source: SkeletonMap, played: Clip, body: SkinnedBody, times: FloatArray) -> FloatArray:
    """Return by how much deeper arms are in the body than in the clip, (N, 4) in lengths of the trunk; see SkinFigures.

    Only the middle of an arm counts: one that lies against the body is in it by less than half of its thickness.
    """
    there, usual = ArmsBesideTrunk.of(source, None), HandsAndBody.of(source, None)
    here = ArmsBesideTrunk.of(body.found, body.points)
    if there is None or here is None or usual is None:
        return np.zeros((0, 4))
    deeper, world = [], world_from_pose(clip.skeleton, poses_at(clip, times))
    for side in range(2):
        outside = ArmsInFrames(there, world).outside(side)[0][:, :4] + there.radius
        places = arm_places(world, there, side)
        for part in usual.parts.values():
            outside = np.minimum(outside, Hulls.placed(part, world).distance(places, 0.0) / there.trunks[0].length)
        own = outside_skin(body, played, times, here, side) / here.trunks[0].length
        deeper.append(np.minimum(outside, 0.0) - own)
    return np.concatenate(deeper)


def _faster(kept: Clip, plain: Clip, body: SkinnedBody) -> FloatArray:
    """Return how many times as fast a wrist is with contacts kept, at most in a clip, (N,)."""
    speeds = _most(kept, plain, body, 60, 1)
    is_fast = speeds[1] > SLOW / 60
    return np.asarray(speeds[0, is_fast] / speeds[1, is_fast])


def _jolts(kept: Clip, plain: Clip, body: SkinnedBody) -> FloatArray:
    """Return by how much more wrists' ways bend within a frame with contacts kept, at most in a clip, (N,) heights."""
    with_contacts, without = _most(kept, plain, body, 30, 2)
    return np.asarray(with_contacts - without)


def _most(kept: Clip, plain: Clip, body: SkinnedBody, fps: int, order: int) -> FloatArray:
    """Return the largest differences of an order between frames of each wrist's way, (2, N) in heights: kept, plain."""
    hands, times = HandsAndBody.of(body.found, None), np.arange(int(kept.duration_s * fps) + 1) / fps
    if hands is None or len(times) <= order:
        return np.zeros((2, 0))
    wrists = [arm.last for arm in hands.arms]
    places = np.stack([world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3][:, wrists]
                       for clip in (kept, plain)])
    return np.asarray(np.linalg.norm(np.diff(places, order, axis=1), axis=-1).max(axis=1) / hands.height)
