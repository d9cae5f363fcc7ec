"""How long it takes to map a skeleton and play ten minutes of motion on another: bench retarget.

The skeletons are the sample's body under two rigs' names, of 65 joints each, with trunks of different lengths.
"""

from __future__ import annotations

import numpy as np

from takt.benchmarks.timing import say, seconds
from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.retargeting.contacts.trunk import TRUNK
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints, evenly_around
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton

MINUTES, FPS, JOINTS = 10, 24, 65
LIMIT_S, LIMIT_KEPT_S = 0.5, 2.0


def clip_of(skeleton: Skeleton) -> Clip:
    """Turn every joint, a little differently each, in every frame; move the root."""
    frames = MINUTES * 60 * FPS
    times = np.arange(frames) / FPS
    joints = np.arange(len(skeleton))
    axes = np.random.default_rng(0).normal(size=(len(skeleton), 3))
    angles = 0.4 * np.sin(times[:, None] * (1.0 + joints / 17.0))
    turns = rot.from_axis_angle(np.broadcast_to(axes, (frames, len(skeleton), 3)), angles)
    path = np.stack((np.sin(times), np.zeros(frames), np.cos(times)), axis=1)[:, None]
    return Clip("dance", skeleton, float(times[-1]), Tracks.uniform(joints, times, turns),
                Tracks.uniform(np.zeros(1, np.int64), times, path), Tracks.empty(3))


def renamed(skeleton: Skeleton, joints: int, left_out: frozenset[str]) -> Skeleton:
    """Return a skeleton without some joints of the trunk, with names that must be read."""
    kept = [j for j, name in enumerate(skeleton.names) if name not in left_out][:joints]
    parents = []
    for joint in kept:
        above = int(skeleton.parents[joint])
        while above >= 0 and above not in kept:
            above = int(skeleton.parents[above])
        parents.append(kept.index(above) if above >= 0 else -1)
    positions = skeleton.rest_world[kept, :, 3]
    up = np.array(parents)
    words = {"hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "sternoclavicular": "Shoulder", "shoulder": "Arm",
             "elbow": "ForeArm", "wrist": "Hand", "metatarsal": "Toe"}
    names = []
    for joint in kept:
        side, _, rest = skeleton.names[joint].rpartition("_")
        word = {"skullbase": "Head", "HumanoidRoot": "Hips"}.get(rest, words.get(rest, rest))
        names.append({"l": "Left", "r": "Right", "": ""}[side] + word)
    return Skeleton.from_arrays(names, parents, rot.identities(len(kept)),
                                np.where(up[:, None] >= 0, positions - positions[up], positions))


def skin_of(skeleton: Skeleton) -> SkinPoints:
    """Return a ball of skin about each joint, thicker about the trunk."""
    found, ball = find_map(skeleton), evenly_around(60)
    radii = np.array([0.17 if name in TRUNK else 0.05 for name in found.meant])
    points = (skeleton.rest_world[:, None, :, 3] + radii[:, None, None] * ball).reshape(-1, 3)
    return SkinPoints(points, np.repeat(np.arange(len(skeleton)), len(ball))[:, None], np.ones((len(points), 1)))


def main() -> None:
    """Measure processor time, best of two: without contacts, with them, and with skin besides."""
    body = build_skeleton()
    source = renamed(body, JOINTS, frozenset(("vl3", "vt6")))
    target = renamed(body, JOINTS, frozenset(("vl3", "vl1", "vt10")))
    clip, skin = clip_of(source), skin_of(target)
    say(f"{MINUTES} min at {FPS} fps, {len(source)} joints on {len(target)}, "
        f"{len(retarget(clip, target).matched)} pairs, certainty {find_map(source).certainty:.2f}; processor time")

    def plain() -> None:
        find_map.cache_clear()
        retarget(clip, target)

    for name, work, limit in (
            ("plain", plain, LIMIT_S), ("contacts", lambda: retarget(clip, target, keep_contacts=True), LIMIT_KEPT_S),
            ("skin", lambda: retarget(clip, target, points=skin), LIMIT_KEPT_S),
            ("both", lambda: retarget(clip, target, points=skin, keep_contacts=True), LIMIT_KEPT_S)):
        say(name, f"{seconds(work, 2):.2f} s (limit {limit} s)")


if __name__ == "__main__":
    main()
