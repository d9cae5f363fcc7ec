"""How palms, feet, fingers and elbows of one real body go with those of another: bench bodies.

Each body plays movements of the sample's, and these are played by each other body. Real bodies are those of the test
data, with skin; the clips of the test data play besides on all of them.

palms: angle between the hands' planes. Where a hand has two fingers or more, its plane is that of the wrist and the
outermost ones, but for the thumb; a flat one with fewer is judged by all vertices of its skin but the thumb's, by the
direction in which they are thinnest, as it rests. bare: the same, where one of both is a body with fingers and skin
that is given without the joints of its fingers, and judged by them all the same. feet: angle between the soles' planes,
and between the ways in which feet point along them. bends: how much more or less a finger's joint is bent; at its
knuckle, how much it is bent out of the hand's plane. elbows: how much more one upper arm is turned about itself than
the other, by the axes about which the elbows bend, of arms that rest bent.

bench bodies skin [NAMES]: what skin, hands and arms do instead, with contacts kept (skin_measures.py); every clip is
seen, and the worst are named.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import bpy
import checkout
import numpy as np

import takt
from takt.benchmarks.skin_measures import SkinFigures, said, said_worst, skin_figures
from takt.benchmarks.skinned_body import SkinnedBody
from takt.core.binding.surface import triangulate
from takt.core.clips.clip import Clip
from takt.core.errors import SkeletonMismatchError
from takt.core.formats import ogre_binary
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.hierarchy import path_to_root, with_descendants
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import DATA
from takt.tests.blender.test_all_pairs import source
from takt.tests.core.every_pair import SOURCES
from takt.tests.core.rewriting import movements
from takt.tests.core.rigs import real

UP, FRONT = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
FRAMES = 12
FLAT = 0.5
"""A hand is flat whose thickness is less than this of its length, as deviations from its middle."""
FEWEST = 8
"""So many vertices show how a hand lies."""
FINGERS = ("thumb", "index", "middle", "ring", "pinky")
BENT_SINE = 0.25
SPACING, MOST_STEPS = 0.015, 12
"""Of the size, and into how many parts an edge is cut at most."""
KINDS = ("palms", "bare", "feet", "bends", "elbows")


@dataclass(frozen=True, eq=False)
class Body:
    """A skeleton with directions (3,) at rest in its model space, by the joint that they are fixed to and a kind."""

    name: str
    found: SkeletonMap
    fixed: dict[tuple[str, str], FloatArray]
    skinned: SkinnedBody | None
    is_bare: bool = False

    @property
    def sample(self) -> SkinSample | None:
        """Its skin as files of clips have it."""
        return None if self.points is None else self.points.sample(self.found.skeleton)

    @property
    def points(self) -> SkinPoints | None:
        """The points of its skin that retargeting goes by."""
        return None if self.skinned is None else self.skinned.points


def body_of(name: str, skeleton: Skeleton, skin: tuple[FloatArray, SkinPoints] | None = None,
            surface: tuple[SkinPoints, IntArray] | None = None) -> Body | None:
    """Measure a body at rest, with all vertices' positions and owners where there is skin; None: none that is sure.

    surface: points all over its skin, and the triangles of its vertices (T, 3).
    """
    found = find_map(skeleton)
    if not found.is_humanoid or not found.is_sure or found.turn is None:
        return None
    at, fixed = skeleton.rest_world[:, :, 3], dict[tuple[str, str], FloatArray]()
    up, front = rot.rotate(found.turn, UP), rot.rotate(found.turn, FRONT)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        joints = {key: found.joint_of[f"{side}_{key}"] for key in
                  ("wrist", "ankle", "metatarsal", "shoulder", "elbow") if f"{side}_{key}" in found.joint_of}
        knuckles = [at[found.joint_of[key]] for finger in FINGERS[1:] if (key := f"{side}_{finger}1") in found.joint_of]
        if "wrist" in joints and len(knuckles) > 1:
            wrist = at[joints["wrist"]]
            fixed[f"{side}_wrist", "palms"] = sign * np.cross(knuckles[0] - wrist, knuckles[-1] - wrist)
        elif skin is not None and "wrist" in joints:
            is_hand = with_descendants(skeleton.parents, np.array([joints["wrist"]]))
            if f"{side}_thumb1" in found.joint_of:
                is_hand &= ~with_descendants(skeleton.parents, np.array([found.joint_of[f"{side}_thumb1"]]))
            hand = skin[0][is_hand[skin[1].joints[:, 0]]]
            sizes, ways = np.linalg.eigh(np.cov((hand - hand.mean(axis=0)).T))
            if len(hand) >= FEWEST and sizes[0] < FLAT**2 * sizes[2]:
                fixed[f"{side}_wrist", "palms"] = ways[:, 0] * (1.0 if ways[:, 0] @ up > 0.0 else -1.0)
        if "ankle" in joints:
            fixed[f"{side}_ankle", "feet"] = up
            toes = at[joints["metatarsal"]] - at[joints["ankle"]] if "metatarsal" in joints else front
            fixed[f"{side}_ankle", "toes"] = toes - (toes @ up) * up
        if {"shoulder", "elbow", "wrist"} <= joints.keys():
            hinge = np.cross(at[joints["elbow"]] - at[joints["shoulder"]], at[joints["wrist"]] - at[joints["elbow"]])
            lengths = np.prod([np.linalg.norm(at[joints[a]] - at[joints[b]]) for a, b in
                               (("elbow", "shoulder"), ("wrist", "elbow"))])
            if np.linalg.norm(hinge) > BENT_SINE * lengths:
                fixed[f"{side}_shoulder", "elbows"] = hinge
    if skin is None:
        return Body(name, found, fixed, None)
    weights = skin[1].weights / np.maximum(skin[1].weights.sum(axis=1, keepdims=True), 1e-9)
    points = SkinPoints.of(skin[0], skin[1].joints, skin[1].weights)
    every = SkinPoints(skin[0], skin[1].joints, weights)
    own, triangles = surface or (every, np.zeros((0, 3), dtype=np.int64))
    return Body(name, found, fixed, SkinnedBody(name, found, every, own, points, triangles))


def bare(body: Body) -> Body | None:
    """Return a body with skin without its fingers' joints, which still say where its palms face; None: no such."""
    skeleton, skinned = body.found.skeleton, body.skinned
    palms = {key: way for key, way in body.fixed.items() if key[1] == "palms"}
    wrists = [body.found.joint_of[wrist] for wrist, _ in palms if f"{wrist[0]}_pinky1" in body.found.joint_of]
    if skinned is None or len(wrists) < 2:
        return None
    is_kept = ~with_descendants(skeleton.parents, np.array(wrists))
    is_kept[wrists] = True
    kept = np.flatnonzero(is_kept)
    nearest = [next(joint for joint in path_to_root(skeleton.parents, own) if is_kept[joint])
               for own in range(len(skeleton))]
    skin = replace(skinned.skin, joints=np.searchsorted(kept, nearest)[skinned.skin.joints])
    made = body_of(f"{body.name} bare", skeleton.part(kept), (skin.positions, skin))
    return None if made is None else replace(made, fixed=palms, is_bare=True)


def bodies() -> list[Body]:
    """Return all real bodies that stand, and the sample's."""
    found = [body_of("sample", build_skeleton())]
    found.append(body_of("Sinbad", ogre_binary.read((DATA / "ogre" / "Sinbad.skeleton").read_bytes()).skeleton))
    for path in sorted((DATA / "bind").glob("*.npz")):
        with np.load(path) as file:
            weights = np.zeros((len(file["vertices"]), len(file["bone_names"])))
            np.add.at(weights, (file["weight_vertex"], file["weight_bone"]), file["weight_value"])
            vertices = file["vertices"].astype(np.float64)
            corners = triangulate(vertices, file["face_vertices"], file["face_sizes"])
        skin, surface = strongest(vertices, weights), all_over(vertices, weights, corners)
        found.append(body_of(path.stem, real(path.stem), (vertices, skin), (surface, corners)))
    known = [body for body in found if body is not None]
    return known + [made for body in known if (made := bare(body)) is not None]


def strongest(positions: FloatArray, weights: FloatArray) -> SkinPoints:
    """Return points with what moves them most; weights: (V, J)."""
    order = np.argsort(-weights, axis=1)[:, :4]
    return SkinPoints(positions, order, np.take_along_axis(weights, order, axis=1))


def all_over(vertices: FloatArray, weights: FloatArray, corners: IntArray) -> SkinPoints:
    """Return points all over triangles (T, 3), nowhere sparser than SPACING, with weights as between the corners."""
    edges = np.linalg.norm(vertices[corners] - vertices[np.roll(corners, 1, axis=1)], axis=-1).max(axis=1)
    steps = np.ceil(edges / (SPACING * np.ptp(vertices, axis=0).max())).astype(np.int64).clip(1, MOST_STEPS)
    places, moved = [vertices], [weights]
    for count in np.unique(steps[steps > 1]).tolist():
        shares = np.array([(i, j, count - i - j) for i in range(count + 1) for j in range(count + 1 - i)]) / count
        for values, into in ((vertices, places), (weights, moved)):
            into.append((shares @ values[corners[steps == count]]).reshape(-1, values.shape[1]))
    points = strongest(np.concatenate(places), np.concatenate(moved))
    return replace(points, weights=points.weights / np.maximum(points.weights.sum(axis=1, keepdims=True), 1e-9))


def apart(body: Body, clip: Clip, other: Body, played: Clip) -> dict[str, list[float]]:
    """Return degrees by kind, in the middle of all frames, for each hand, foot, finger's joint and arm."""
    times = np.linspace(0.0, clip.duration_s, FRAMES)
    one, two = (world_from_pose(c.skeleton, c.sample(times)) for c in (clip, played))
    angles = defaultdict[str, list[float]](list)
    for (joint, kind), way in body.fixed.items():
        if (joint, kind) not in other.fixed:
            continue
        ways = [_turned(b, world, joint, v) for b, world, v in
                ((body, one, way), (other, two, other.fixed[joint, kind]))]
        if kind == "elbows":
            upper = _upright(other, two[:, other.found.joint_of[f"{joint[0]}_elbow"], :, 3]
                             - two[:, other.found.joint_of[joint], :, 3])
            ways = [v - upper * np.sum(v * upper, axis=1, keepdims=True) / np.sum(upper**2, axis=1, keepdims=True)
                    for v in ways]
        angle = np.arctan2(np.linalg.norm(np.cross(ways[0], ways[1]), axis=1), np.sum(ways[0] * ways[1], axis=1))
        angles["feet" if kind == "toes" else kind].append(float(np.degrees(np.median(angle))))
    for finger in (f"{side}_{finger}" for side in "lr" for finger in FINGERS):
        bends = [_bends(b, world, finger) for b, world in ((body, one), (other, two))]
        for joint in bends[0].keys() & bends[1].keys():
            angles["bends"].append(float(np.degrees(np.abs(bends[0][joint] - bends[1][joint]).mean())))
    return angles


def _upright(body: Body, ways: FloatArray) -> FloatArray:
    assert body.found.turn is not None
    return rot.rotate(rot.conjugate(body.found.turn), ways)


def _turned(body: Body, world: FloatArray, joint: str, way: FloatArray) -> FloatArray:
    """Return where a direction (3,) at rest points that is fixed to a joint, (F, 3) in H-Anim's axes."""
    j = body.found.joint_of[joint]
    return _upright(body, world[:, j, :, :3] @ np.linalg.solve(body.found.skeleton.rest_world[j, :, :3], way))


def _bends(body: Body, world: FloatArray, finger: str) -> dict[str, FloatArray]:
    """Return how far each joint of a finger is bent (F,), by the joints before and after it."""
    wrist, joint_of = f"{finger[:2]}wrist", body.found.joint_of
    names = [name for name in (f"{finger}{i}" for i in (1, 2, 3)) if name in joint_of]
    ways = [_upright(body, world[:, joint_of[b], :, 3] - world[:, joint_of[a], :, 3]) for a, b in pairwise(names)]
    bends = {}
    if ways and (wrist, "palms") in body.fixed and "thumb" not in finger:
        back = _turned(body, world, wrist, body.fixed[wrist, "palms"])
        bends[names[0]] = np.arctan2(np.sum(back * ways[0], axis=1), np.linalg.norm(np.cross(back, ways[0]), axis=1))
    for name, (one, two) in zip(names[1:], pairwise(ways), strict=False):
        bends[name] = np.arctan2(np.linalg.norm(np.cross(one, two), axis=1), np.sum(one * two, axis=1))
    return bends


def print_skins(everybody: Sequence[Body]) -> None:
    """Measure and print what skin, hands and arms do, for each body with skin and legs as target, and over all."""
    clips = [*(clip for of in SOURCES for clip in source(of)), *movements()]
    sources = [(clip, found) for clip in clips if (found := find_map(clip.skeleton)).is_sure and found.is_humanoid]
    every: list[SkinFigures] = []
    wanted = sys.argv[sys.argv.index("skin") + 1:]
    known = {body.skinned.name: body.skinned for body in everybody
             if body.skinned is not None and not body.is_bare and not body.skinned.found.without}
    if unknown := sorted({*wanted} - {*known}):
        raise SystemExit(f"bench bodies skin: unknown bodies {', '.join(unknown)}; choose from {', '.join(known)}")
    for skinned in known.values() if not wanted else map(known.__getitem__, wanted):
        figures = []
        for clip, found in sources:
            plain, kept = (retarget(clip, skinned.found.skeleton, source_map=found, target_map=skinned.found,
                                    points=skinned.points, keep_contacts=keep) for keep in (False, True))
            if not kept.is_own:
                figures.append(skin_figures(clip, found, kept, plain, skinned))
        print(f"{skinned.name:24}", said(figures), flush=True)
        for line in said_worst(figures):
            print(f"{'':24}", line, flush=True)
        every += figures
    print(f"{'all':24}", said(every))


def main() -> None:
    """Measure and print, for each body as target and over all pairs."""
    ops: Any = bpy.ops
    ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    everybody = bodies()
    if "skin" in sys.argv:
        print_skins(everybody)
        return
    clips = movements()[1:6:2]
    every = defaultdict[str, list[float]](list)
    lines = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    sources = [(body, replace(retarget(clip, body.found.skeleton, points=body.points).clip, skin=body.sample))
               for body in everybody for clip in clips]
    for of in SOURCES:
        for clip in source(of)[:3]:
            if (body := body_of(of, clip.skeleton)) is not None:
                sources.append((body, clip))
    for body, clip in sources:
        for other in everybody:
            if other.name.removesuffix(" bare") == body.name.removesuffix(" bare"):
                continue
            try:
                done = retarget(clip, other.found.skeleton, source_map=body.found, target_map=other.found,
                                points=other.points)
            except SkeletonMismatchError as error:
                print(f"{body.name} on {other.name}: {error}")
                continue
            for kind, angles in apart(body, clip, other, done.clip).items():
                under = "bare" if body.is_bare or other.is_bare else kind
                every[under] += angles
                lines[f"{body.name} → {other.name}" if "-v" in sys.argv else other.name][under] += angles
    for name, kinds in [*sorted(lines.items()), ("all", every)]:
        print(f"{name:24}", *(f"{kind} n={len(a)} mean {np.mean(a):.1f}° p50 {np.median(a):.1f}° p90 "
                              f"{np.percentile(a, 90):.1f}° worst {max(a):.1f}°;" for kind in KINDS
                              if (a := kinds[kind])))


if __name__ == "__main__":
    checkout.run(main)
