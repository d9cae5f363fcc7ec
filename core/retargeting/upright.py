"""A clip in other model axes or units, and its feet's height above the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.keyed import SAMPLE_S, filled, keys_of, packed, poses_at
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.hierarchy import path_to_root, with_ancestors
from ..skeletons.skeleton import Skeleton, world_from_pose
from .loose import part_of
from .matching import SAME_POSITION, Pairing

SAME_ANGLE_RAD: Final = 1e-9
_STANDING_PERCENT, _LOWEST_PERCENT, _BALLS_PERCENT = 10.0, 5.0, 40.0
_SLOW_LEGS_PER_S, _LOW_LEGS, _FLAT_LEGS = 0.15, 0.04, 0.01
"""A foot stands while it is so slow up or down, its ankle is at most so far above its lowest, and stays so level."""
_FEWEST = 6
"""With fewer frames than this a foot is not known to stand."""
_FRAMES_AT_ONCE = 256
_BENT = 1e-3
"""Of the body's size: where heights change direction by more at a key, the middles beside it are sampled too."""
_CLOSE = 1.01
"""Of SAMPLE_S: keys that are no farther apart are close enough for every joint between them."""
_FEET_BELOW = 0.5
"""Of the leg's height: feet are at least so much below a root that is in the hips."""
_STRAIGHT = 0.97
"""Of the leg's length: legs that rest as straight as that, 14° apart at most, stand on the ground."""
_SAME_GROUND = 0.05
"""Of the leg."""
_FEET = ("l_ankle", "r_ankle", "l_metatarsal", "r_metatarsal")


def turned(clip: Clip, turn: FloatArray) -> Clip:
    """Return the clip in other model axes: its roots' rest and translations turn, all else is relative to them."""
    if rot.angle_between(turn, rot.IDENTITY) <= SAME_ANGLE_RAD:
        return clip
    moves = clip.translations
    of_root = np.repeat(clip.skeleton.parents[moves.joints] < 0, np.diff(moves.starts))
    values = np.where(of_root[:, None], rot.rotate(turn, moves.values), moves.values)
    return Clip(clip.name, clip.skeleton.turned(turn), clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)


def resting(clip: Clip, turn: FloatArray) -> Clip:
    """Return the same motion of a skeleton whose rest pose is turned in model space by a quaternion (4,).

    With rest R, position p and key K of a root, Q the turn: Q·R·K′ = R·K, so K′ = R⁻¹·Q⁻¹·R·K, and t′ = t + p − Q·p.
    """
    if rot.angle_between(turn, rot.IDENTITY) <= SAME_ANGLE_RAD:
        return clip
    skeleton = clip.skeleton
    back = rot.multiply(rot.multiply(rot.conjugate(skeleton.rest_rotations), rot.conjugate(turn)),
                        skeleton.rest_rotations)
    away = skeleton.rest_translations - rot.rotate(turn, skeleton.rest_translations)
    channels: list[Tracks] = []
    for tracks, rest in ((clip.rotations, rot.IDENTITY), (clip.translations, np.zeros(3))):
        keys = {int(joint): keys_of(tracks, i) for i, joint in enumerate(tracks.joints)}
        for root in np.flatnonzero(skeleton.parents < 0).tolist():
            times, values = keys.get(root, (np.zeros(1), rest[None]))
            keys[root] = times, rot.multiply(back[root], values) if len(rest) == 4 else values + away[root]
        channels.append(packed([(joint, *keys[joint]) for joint in sorted(keys)], len(rest)))
    rotations, translations = channels
    return Clip(clip.name, skeleton.turned(turn), clip.duration_s, rotations, translations, clip.scales,
                clip.is_looping)


def scaled(clip: Clip, size: float) -> Clip:
    """Return the clip in another unit: all its lengths times size."""
    if size == 1.0:
        return clip
    old, moves = clip.skeleton, clip.translations
    skeleton = Skeleton(old.names, old.parents, old.rest_rotations, old.rest_translations * size, old.rest_scales,
                        old.name)
    return Clip(clip.name, skeleton, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, moves.values * size), clip.scales, clip.is_looping)


def raised_onto_feet(clip: Clip, pairs: Pairing) -> Clip:
    """Return the clip raised onto its feet where its root rests in the model's origin, as in many BVH files.

    A root between the feet stays. Such files' translations are positions of the root, not offsets from a standing rest
    pose, and would lift the character by its own height.
    """
    skeleton = clip.skeleton
    feet, hips = ([int(pairs.source[p]) for p, name in enumerate(pairs.meant) if name in wanted]
                  for wanted in (_FEET, ("l_hip", "r_hip")))
    positions = skeleton.rest_world[:, :, 3]
    root = np.flatnonzero(skeleton.parents < 0)
    size = float(np.ptp(positions, axis=0).max())
    if len(root) != 1 or not feet or not hips or np.linalg.norm(positions[root[0]]) > SAME_POSITION * size or (
            int(root[0]) not in clip.translations.joints):
        return clip
    leg = positions[hips].mean(axis=0) - positions[feet].mean(axis=0)
    up = np.eye(3)[np.argmax(np.abs(leg))] * np.sign(leg[np.argmax(np.abs(leg))])
    depth = -min(float(positions[foot] @ up) for foot in feet)
    if depth < _FEET_BELOW * np.abs(leg).max():
        return clip
    lift = depth * up
    rest = skeleton.rest_translations.copy()
    rest[root[0]] += lift
    moves = clip.translations
    of_root = np.repeat(moves.joints == root[0], np.diff(moves.starts))
    values = np.where(of_root[:, None], moves.values - lift, moves.values)
    stood = Skeleton(skeleton.names, skeleton.parents, skeleton.rest_rotations, rest, skeleton.rest_scales,
                     skeleton.name)
    return Clip(clip.name, stood, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """A skeleton with its motion, of which the feet's heights are wanted.

    up: (3,) unit, in model space. translations: with those of limbs that are carried along.
    """

    skeleton: Skeleton
    rotations: Tracks
    translations: Tracks
    up: FloatArray

    def times(self, feet: IntArray) -> FloatArray:
        """Return when anything is keyed that carries the feet, (F,)."""
        keep = with_ancestors(self.skeleton.parents, feet)
        return np.concatenate([keys_of(tracks, i)[0] for tracks in (self.rotations, self.translations)
                               for i in np.flatnonzero(np.isin(tracks.joints, keep)).tolist()] + [np.zeros(1)])

    def heights(self, feet: IntArray, times: FloatArray) -> FloatArray:
        """Return how high feet (J,) are in the model, (F, J)."""
        keep = with_ancestors(self.skeleton.parents, feet)
        clip, rows = part_of(self.skeleton, keep, self.rotations, self.translations), np.searchsorted(keep, feet)
        pose, heights = poses_at(clip, times), np.empty((len(times), len(feet)))
        for start in range(0, len(times), _FRAMES_AT_ONCE):  # what is worked on stays in the processor's cache
            run = slice(start, start + _FRAMES_AT_ONCE)
            heights[run] = world_from_pose(clip.skeleton, pose.at(run))[..., 3][:, rows] @ self.up
        return heights


def _ground(heights: FloatArray, names: Sequence[str], times: FloatArray, leg: float) -> FloatArray:
    """Return the height of each foot joint (J,) while it stands: heights (F, J) at times (F,), alike on both sides.

    Ankles stand where they are low and slow, in the middle of such heights; the balls of the feet are as high as they
    mostly are meanwhile, some of it being turns on the heel. Feet that are never slow stand where they seldom go lower.
    """
    kinds = np.array([name[2:] for name in names])
    low = np.array([np.percentile(heights[:, kinds == kind], _STANDING_PERCENT, axis=0).min() for kind in kinds])
    if len(times) < 2 or leg <= 0.0 or not (kinds == "ankle").any():
        return low
    slow = np.abs(np.gradient(heights, times, axis=0)) < _SLOW_LEGS_PER_S * leg
    ankles, balls = (np.flatnonzero(kinds == kind) for kind in ("ankle", "metatarsal"))
    height = heights[:, ankles]
    stands = slow[:, ankles] & (height < np.percentile(height, _LOWEST_PERCENT) + _LOW_LEGS * leg)
    if np.count_nonzero(stands) < _FEWEST:
        return low
    low[ankles] = np.median(height[stands])
    if len(balls) == len(ankles):
        flat = stands & slow[:, balls] & (np.abs(height - low[ankles]) < _FLAT_LEGS * leg)
        if np.count_nonzero(flat) >= _FEWEST:
            low[balls] = np.percentile(heights[:, balls][flat], _BALLS_PERCENT)
    return low


def _ground_at_rest(source: BodyMotion, pairs: Pairing, feet: IntArray, seen: FloatArray) -> FloatArray:
    """Return how high foot joints (J,) are at rest; where bent or spread legs do not tell, as seen in the motion.

    Characters stand on the ground at rest all the same; the motion then shows nearly that height.
    """
    legs = _legs(source, pairs)
    rest = np.asarray(source.skeleton.rest_world[feet, :, 3] @ source.up)
    if not len(legs):
        return rest
    height = float((legs.sum(axis=1) @ source.up).mean())
    leg = _leg(source, pairs)
    is_told = height >= _STRAIGHT * leg or np.abs(rest - seen).max() < _SAME_GROUND * leg
    return rest if is_told else seen


def _legs(body: BodyMotion, pairs: Pairing) -> FloatArray:
    """Return thigh and shin of the source's legs at rest, upwards, (L, 2, 3)."""
    at = {name: body.skeleton.rest_world[joint, :, 3]
          for name, joint in zip(pairs.meant, pairs.source.tolist(), strict=True)}
    legs = [(at[f"{side}_hip"] - at[f"{side}_knee"], at[f"{side}_knee"] - at[f"{side}_ankle"]) for side in "lr"
            if {f"{side}_hip", f"{side}_knee", f"{side}_ankle"} <= at.keys()]
    return np.array(legs).reshape(-1, 2, 3)


def _leg(body: BodyMotion, pairs: Pairing) -> float:
    """Return how long a leg of the source is, 0 where none is known."""
    lengths = np.linalg.norm(_legs(body, pairs), axis=-1).sum(axis=1)
    return float(lengths.mean()) if len(lengths) else 0.0


def grounded(source: BodyMotion, target: BodyMotion, pairs: Pairing, translations: Tracks, ratio: float,
             is_ground_known: bool) -> Tracks:
    """Return the target's translations with its feet as high above the ground as the source's, by the legs' ratio.

    Bodies of other proportions would otherwise float or sink where they bend, sit or lie. What the feet
    do is a matter of the pose alone, so that clips go on fitting together.
    translations: of the target, without limbs that are carried along. is_ground_known: the source's rest pose says
    how high it stands, as far as its legs are straight; if not, its feet are taken to stand where they seldom go lower,
    since markers are no soles.
    """
    feet = np.flatnonzero([name in _FEET for name in pairs.meant])
    names = [str(pairs.meant[foot]) for foot in feet.tolist()]
    if not len(feet) or not len(translations):
        return translations
    ours, theirs = pairs.target[feet], pairs.source[feet]
    times = filled(np.unique(np.concatenate((source.times(theirs), target.times(ours)))))
    there = source.heights(theirs, times)
    ground = _ground(there, names, times, _leg(source, pairs))
    if is_ground_known:
        ground = _ground_at_rest(source, pairs, theirs, ground)
    rest = target.skeleton.rest_world[ours, :, 3] @ target.up
    lift = ratio * (there - ground).min(axis=1) - (target.heights(ours, times) - rest).min(axis=1)
    size = float(np.ptp(target.skeleton.rest_world[:, :, 3], axis=0).max())
    if np.abs(lift).max() <= SAME_POSITION * size:
        return translations
    between = _where_bent(times, lift, _BENT * size)
    if len(between):
        more = ratio * (source.heights(theirs, between) - ground).min(axis=1)
        more -= (target.heights(ours, between) - rest).min(axis=1)
        order = np.argsort(np.concatenate((times, between)))
        times, lift = np.concatenate((times, between))[order], np.concatenate((lift, more))[order]
    return lifted(target, translations, times, lift)


def _where_bent(times: FloatArray, lift: FloatArray, bent: float) -> FloatArray:
    """Return the middles of gaps between times (F,) at which a value's slope changes too much."""
    turns = np.abs(np.diff(lift, 2, prepend=lift[:1], append=lift[-1:])) > bent
    gaps = np.flatnonzero((turns[:-1] | turns[1:]) & (np.diff(times) > _CLOSE * SAMPLE_S))
    return np.asarray((times[gaps] + times[gaps + 1]) / 2.0)


def lifted(target: BodyMotion, translations: Tracks, times: FloatArray, lift: FloatArray) -> Tracks:
    """Return translations in which the topmost joint is higher by lift (F,) at times (F,)."""
    skeleton, joints = target.skeleton, translations.joints.tolist()
    root = int(np.argmin([len(path_to_root(skeleton.parents, joint)) for joint in joints]))
    own_times, values = keys_of(translations, root)
    every = np.union1d(times, own_times)
    shift = np.interp(every, times, lift)[:, None] * target.up
    parent = int(skeleton.parents[joints[root]])
    if parent >= 0:
        shift = np.asarray(np.linalg.solve(skeleton.rest_world[parent, :, :3], shift.T).T, dtype=np.float64)
    moved = np.stack([np.interp(every, own_times, value) for value in values.T], axis=1)
    tracks = {joint: keys_of(translations, i) for i, joint in enumerate(joints)}
    tracks[joints[root]] = (every, moved + shift)
    return packed([(joint, *tracks[joint]) for joint in joints], 3)
