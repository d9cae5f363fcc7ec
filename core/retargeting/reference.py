"""The pose in which a clip's skeleton is compared with another body: found, since many rest poses are no poses.

Motion capture files often rest with all bones along one axis, or in a pile; others lean or lie. A body that stands
at rest is compared in that pose, made upright where it leans; else in the frame of the clip in which it stands best.
Anatomy alone decides (skeletons/posture.py). The clip is then written anew on a skeleton that rests in that pose, in
the file's own axes, so that all further steps can rely on the rest pose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.keyed import keys_of, packed, poses_at
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.maps import SkeletonMap, find_map_once, map_in_any_pose
from ..skeletons.posture import STANDS, Posture, measure_posture
from ..skeletons.skeleton import Pose, Skeleton, world_from_pose
from .file_axes import (
    LEANS_RAD,
    file_axes,
    right_angled,
    stands_on_origin,
    up_of_motion,
    with_front,
    with_usual_front,
)
from .first_pose import first_pose_end
from .straightened import straightened

REST_POSE: Final = "the rest pose"
SET_POSE: Final = "the pose that its skeleton map sets"
NONE_STANDS: Final = "a body that stands neither at rest nor in any frame"
_STOOPS: Final = 0.2
"""A rest pose as upright as this is kept where no frame of the clip is any better."""
_FRAMES: Final = 48
"""Of a clip so many frames are looked at, evenly spread; of bodies without known names, fewer."""
_FRAMES_WITHOUT_NAMES: Final = 8
_FIRST_GOES_BEFORE: Final = 0.02
_LOW_PERCENT: Final = 30.0
_RAISED_HEEL: Final = 0.15
"""Of the foot's length: a heel that is never lower than that above the other one does not stand on the ground."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A clip on a skeleton that rests in the pose by which it is compared.

    map: what the joints are; its turn leads from H-Anim's axes to those in which the clip moves, facing the front that
    the body has at rest, also where that is not right-angled. time_s: of the frame
    that was taken, None for the rest pose. is_positioned: the pose also says where in the file's space the body stands,
    and how high. why: one sentence for people.
    soles: for ankles the direction (3,) away from the ground that their soles have in the pose, where it is not up.
    """

    clip: Clip
    map: SkeletonMap
    time_s: float | None
    is_positioned: bool
    why: str
    soles: Mapping[str, FloatArray] = field(default_factory=dict)


def find_reference(clip: Clip, found: SkeletonMap) -> Reference:
    """Find the pose in which a clip's body stands, and write the clip on a skeleton that rests so.

    found: the map of the clip's skeleton as it rests; where it knows nothing, names and shape are read in a frame in
    which the body stands. Skeletons that are no bodies keep their rest pose, and so do bodies that never stand.
    """
    if found.pose is not None:
        return _from_pose(clip, found, found.pose)
    rest = _posture(clip.skeleton.rest_world[None, :, :, 3], found)
    if rest is not None and rest.upright[0] >= STANDS:
        return _from_rest(clip, found, rest)
    times = _times(clip, _FRAMES)
    if (rest is None and found.is_humanoid and found.is_sure) or not clip.moved.any() or len(times) < 2:
        return _unchanged(clip, found, REST_POSE)
    is_known = found.is_humanoid and found.is_sure
    known = found if is_known else _map_in_motion(clip) if found.is_humanoid or found.may_stand else None
    frames = None if known is None else _posture(_positions(clip, times), known)
    if known is None or frames is None or frames.upright.max() < STANDS:
        if sitting := _from_straightened(clip, times):
            return sitting
        stoops = rest is not None and rest.upright[0] >= _STOOPS
        may = found.is_humanoid or found.may_stand
        return _unchanged(clip, found, NONE_STANDS if may and not stoops else REST_POSE)
    return _from_frame(clip, known, times, frames)


def stood_up(target: SkeletonMap) -> SkeletonMap:
    """Return the map of a skeleton that rests in the reference pose that is set, upright where it leans as a whole.

    Where none is set, its turn leads to the front that the body has at rest, as measured.
    """
    skeleton, is_set = target.skeleton, target.pose is not None
    if target.pose is not None:
        skeleton = skeleton.in_pose(target.pose)
        target = replace(target, skeleton=skeleton, pose=None)
    rest = _posture(skeleton.rest_world[None, :, :, 3], target)
    if rest is None or target.turn is None or rest.upright[0] < STANDS:
        return target
    own = rot.to_matrix(target.turn)
    world = own if is_set else with_front(own[:, 1], rest.axes[0])
    turn = _upright(rest, world)
    return replace(target, skeleton=skeleton if turn is None else skeleton.turned(turn), turn=rot.from_matrix(world))


def uprightness(found: SkeletonMap, pose: FloatArray | None = None) -> float:
    """Return how upright a body stands at rest, or in a pose (J, 4) as SkeletonMap has it; see Posture. −1: unknown."""
    skeleton = found.skeleton if pose is None else found.skeleton.in_pose(pose)
    posture = _posture(skeleton.rest_world[None, :, :, 3], found)
    return -1.0 if posture is None else float(posture.upright[0])


def turn_in_pose(found: SkeletonMap, pose: FloatArray) -> FloatArray | None:
    """Return the right-angled turn from H-Anim's axes to those in which a body stands in a pose; None: unknown."""
    posture = _posture(found.skeleton.in_pose(pose).rest_world[None, :, :, 3], found)
    return None if posture is None else rot.from_matrix(right_angled(posture.axes[0]))


def rebased(clip: Clip, skeleton: Skeleton) -> Clip:
    """Return the same motion on a skeleton of the same joints that rests in another pose.

    With local rests R, p, S and R′, p′, S′: k′ = R′⁻¹·R·k, t′ = t + p − p′, s′ = s·S/S′.
    """
    old = clip.skeleton
    turns = rot.multiply(rot.conjugate(skeleton.rest_rotations), old.rest_rotations)
    offsets, sizes = old.rest_translations - skeleton.rest_translations, old.rest_scales / skeleton.rest_scales
    turned = np.flatnonzero(rot.angle_between(turns, rot.IDENTITY) > 0.0)
    moved = np.flatnonzero(np.abs(offsets).max(axis=1, initial=0.0) > 0.0)
    sized = np.flatnonzero(np.abs(sizes - 1.0).max(axis=1, initial=0.0) > 0.0)
    rotations = _with_all(clip.rotations, turned, rot.IDENTITY)
    translations = _with_all(clip.translations, moved, np.zeros(3))
    scales = _with_all(clip.scales, sized, np.ones(3))
    return Clip(clip.name, skeleton, clip.duration_s,
                replace(rotations, values=rot.multiply(_by_key(rotations, turns), rotations.values)),
                replace(translations, values=translations.values + _by_key(translations, offsets)),
                replace(scales, values=scales.values * _by_key(scales, sizes)), clip.is_looping)


def _with_all(tracks: Tracks, joints: IntArray, rest: FloatArray) -> Tracks:
    """Return tracks with one key of rest for each of some joints that has none."""
    missing = np.setdiff1d(joints, tracks.joints)
    if not len(missing):
        return tracks
    keys = {int(joint): keys_of(tracks, i) for i, joint in enumerate(tracks.joints)}
    keys |= {joint: (np.zeros(1), rest[None]) for joint in missing.tolist()}
    return packed([(joint, *keys[joint]) for joint in sorted(keys)], len(rest))


def _by_key(tracks: Tracks, values: FloatArray) -> FloatArray:
    return np.repeat(values[tracks.joints], np.diff(tracks.starts), axis=0)


def _unchanged(clip: Clip, found: SkeletonMap, why: str) -> Reference:
    return Reference(clip, found, None, True, why)


def _posture(positions: FloatArray, found: SkeletonMap) -> Posture | None:
    return measure_posture(positions, found.joint_of) if found.is_humanoid else None


def _times(clip: Clip, count: int) -> FloatArray:
    return np.linspace(0.0, clip.duration_s, count) if clip.duration_s > 0.0 else np.zeros(1)


def _positions(clip: Clip, times: FloatArray) -> FloatArray:
    return world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3]


def _from_rest(clip: Clip, found: SkeletonMap, rest: Posture) -> Reference:
    """Take the rest pose, made upright where it leans as a whole or is turned away from the file's axes."""
    axes = rest.axes[0]
    is_seen = found.turn is not None
    own = rot.to_matrix(found.turn) if found.turn is not None else right_angled(axes)
    times, world = _times(clip, _FRAMES), own if found.has_given_axes else with_front(own[:, 1], axes)
    if clip.moved.any() and len(times) > 1 and not found.has_given_axes:
        positions = _positions(clip, times)
        frames = _posture(positions, found)
        world = world if frames is None else file_axes(axes, own, frames, positions, found)
    turn = _upright(rest, world)
    if not is_seen:
        return _unchanged(clip, found, REST_POSE)
    if turn is None:
        return _unchanged(clip, replace(found, turn=rot.from_matrix(world)), REST_POSE)
    angle = np.degrees(rot.angle_between(turn, rot.IDENTITY))
    skeleton = clip.skeleton.turned(turn)
    new = replace(found, skeleton=skeleton, turn=rot.from_matrix(world))
    return Reference(rebased(clip, skeleton), new, None, stands_on_origin(new, world[:, 1]),
                     f"the rest pose, turned upright by {angle:.0f}°")


def _from_pose(clip: Clip, found: SkeletonMap, pose: FloatArray) -> Reference:
    """Take the pose that is set in the map, made upright where the body leans in it as a whole."""
    at_rest = _posture(clip.skeleton.rest_world[None, :, :, 3], found)
    stood = stood_up(replace(found, skeleton=clip.skeleton))
    stands_at_rest = at_rest is not None and bool(at_rest.upright[0] >= STANDS)
    return Reference(rebased(clip, stood.skeleton), stood, None, stands_at_rest, SET_POSE)


def _from_frame(clip: Clip, known: SkeletonMap, times: FloatArray, frames: Posture) -> Reference:
    """Take the frame in which the body stands best, the first one where it is nearly as good."""
    upright = frames.upright.copy()
    upright[0] += _FIRST_GOES_BEFORE
    best = int(np.argmax(upright))
    stood = posed(clip.skeleton, poses_at(clip, times[[best]]).at(0))
    why = f"the frame at {times[best]:.2f} s, since the rest pose of {clip.skeleton.name or 'its body'} does not stand"
    return _from_pose_in_motion(clip, known, stood, times, best, why)


def _from_straightened(clip: Clip, times: FloatArray) -> Reference | None:
    """Take the first frame that was looked at whose body, known by names, would stand if it were straight."""
    known = map_in_any_pose(clip.skeleton)
    if not known.is_sure:
        return None
    for frame in np.linspace(0, len(times) - 1, _FRAMES_WITHOUT_NAMES).astype(np.int64).tolist():
        stood = straightened(posed(clip.skeleton, poses_at(clip, times[[frame]]).at(0)), known)
        if stood is not None and (found := find_map_once(stood)).is_sure:
            why = f"the frame at {times[frame]:.2f} s with its legs straight, since its body stands nowhere"
            return _from_pose_in_motion(clip, replace(found, skeleton=clip.skeleton), stood, times, frame, why)
    return None


def _from_pose_in_motion(clip: Clip, known: SkeletonMap, stood: Skeleton, times: FloatArray, frame: int,
                         why: str) -> Reference:
    """Take a pose that was made from a frame, turned upright in the file's axes."""
    positions = _positions(clip, times)
    frames, posture = _posture(positions, known), _posture(stood.rest_world[None, :, :, 3], known)
    assert frames is not None and posture is not None  # they were what the pose was chosen by
    up = up_of_motion(frames, positions, known)
    world = rot.to_matrix(known.turn) if known.has_given_axes and known.turn is not None else with_usual_front(up)
    skeleton = stood.turned(rot.from_matrix(world @ posture.axes[0].T))
    new = replace(known, skeleton=skeleton, turn=rot.from_matrix(world))
    moved, in_motion = rebased(clip, skeleton), times >= (first_pose_end(clip) or 0.0)
    return Reference(moved, new, float(times[frame]), False, why, _soles(moved, new, times[in_motion], up))


def _soles(clip: Clip, found: SkeletonMap, times: FloatArray, up: FloatArray) -> dict[str, FloatArray]:
    """Return for ankles the direction, at rest, that is up while the foot is on the ground.

    It is on the ground while ankle and toes are both as low as in their lowest third of the frames. A foot whose heel
    is never as low as the other's, as in a step, gets the angle of the other one's sole.
    """
    world, soles = world_from_pose(clip.skeleton, poses_at(clip, times)), {}
    heels, toes = dict[str, float](), dict[str, FloatArray]()
    for side in "lr":
        foot = [found.joint_of[name] for name in (f"{side}_ankle", f"{side}_metatarsal") if name in found.joint_of]
        if f"{side}_ankle" not in found.joint_of:
            continue
        heights = world[..., 3][:, foot] @ up
        stands = (heights <= np.percentile(heights, _LOW_PERCENT, axis=0)).all(axis=1)
        turned = np.linalg.solve(world[stands, foot[0], :, :3], np.broadcast_to(up, (int(stands.sum()), 3))[..., None])
        sole = clip.skeleton.rest_world[foot[0], :, :3] @ turned[..., 0].sum(axis=0)
        if np.linalg.norm(sole) > 0.0:
            soles[f"{side}_ankle"] = np.asarray(sole / np.linalg.norm(sole), dtype=np.float64)
            heels[f"{side}_ankle"] = float(heights[stands, 0].mean())
            toes[f"{side}_ankle"] = clip.skeleton.rest_world[foot[-1], :, 3] - clip.skeleton.rest_world[foot[0], :, 3]
    low, high = min(heels, key=heels.__getitem__, default=""), max(heels, key=heels.__getitem__, default="")
    if low != high and heels[high] - heels[low] > _RAISED_HEEL * np.linalg.norm(toes[high]) > 0.0:
        soles[high] = _as_steep(toes[high], up, toes[low], soles[low])
    return soles


def _as_steep(toes: FloatArray, up: FloatArray, other_toes: FloatArray, other_sole: FloatArray) -> FloatArray:
    """Return the direction (3,) of a sole, as steep against its foot (3,) as another is against its own."""
    along = toes / np.linalg.norm(toes)
    across = up - (up @ along) * along
    sine = float(other_toes @ other_sole / max(float(np.linalg.norm(other_toes)), 1e-12))
    length = float(np.linalg.norm(across))
    if length <= 0.0 or abs(sine) >= 1.0:
        return up
    return np.asarray(sine * along + np.sqrt(1.0 - sine * sine) * across / length, dtype=np.float64)


def posed(skeleton: Skeleton, pose: Pose) -> Skeleton:
    """Return a skeleton that rests in a pose of another."""
    return Skeleton(skeleton.names, skeleton.parents, rot.multiply(skeleton.rest_rotations, pose.rotations),
                    skeleton.rest_translations + pose.translations, skeleton.rest_scales * pose.scales, skeleton.name)


def _map_in_motion(clip: Clip) -> SkeletonMap | None:
    """Return the map of the first frame looked at whose body can be told from its names or shape."""
    for time in _times(clip, _FRAMES_WITHOUT_NAMES):
        found = find_map_once(posed(clip.skeleton, poses_at(clip, np.array((time,))).at(0)))
        if found.is_humanoid and found.is_sure:
            return replace(found, skeleton=clip.skeleton)
    return None


def _upright(rest: Posture, world: FloatArray) -> FloatArray | None:
    """Return the rotation (4,) from a body's measured axes to those of the file; None where it is as good as none.

    Of a body that is bent between trunk and legs, the part counts that is nearer to the vertical: a body of which only
    the trunk leans still stands.
    """
    directions, up = rest.directions[0], rest.axes[0, :, 1]
    if directions[0] @ directions[-1] < np.cos(2.0 * LEANS_RAD):
        up = directions[int(np.argmax(directions @ world[:, 1]))]
    turn = rot.from_matrix(world @ rest.along(0, up).T)
    return turn if rot.angle_between(turn, rot.IDENTITY) > LEANS_RAD else None
