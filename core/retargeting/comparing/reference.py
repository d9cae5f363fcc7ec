"""Reference pose: the pose in which a clip's skeleton is compared with another body.

In motion capture files, rest poses often have all bones along one axis, or in one point; in others they lean or lie.
A body that stands at rest is compared in that pose, turned upright if it leans. Other bodies are compared in the frame
of the clip in which they stand best. Only anatomy decides this (skeletons/posture.py). The clip is then rewritten on a
skeleton that rests in that pose, in the file's own axes. So all further steps can rely on the rest pose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.keyed import by_joint, packed_by_joint, poses_at
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.hanim import UP
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap, find_map_once, map_in_any_pose
from ...skeletons.posture import STANDS, Posture, is_in_step, measure_posture
from ...skeletons.skeleton import Pose, Skeleton, world_from_pose
from ..skin_points import SkinPoints
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
from .level_soles import on_level_soles
from .straightened import straightened

REST_POSE: Final = "the rest pose"
SET_POSE: Final = "the pose that its skeleton map sets"
NONE_STANDS: Final = "a body that stands neither at rest nor in any frame"
_STOOPS: Final = 0.2
"""Uprightness from which a stooping rest pose is kept if no frame of the clip is more upright."""
_FRAMES: Final = 48
"""Number of frames of a clip that are examined, spread evenly; fewer for bodies with unknown names."""
_FRAMES_WITHOUT_NAMES: Final = 8
_FIRST_GOES_BEFORE: Final = 0.02
SAME_UP: Final = 1e-9
"""Cosine difference below which directions are equal."""
_SOLES_ON_ORIGIN: Final = 0.005
"""Distance, as a share of the leg, of an upright body's soles from the ground through the origin. If they are nearer,
the body had leant about the origin.
"""
_STANDS_BETTER: Final = 0.05
"""Uprightness by which a frame must exceed a rest pose in mid-step to be taken instead."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A clip on a skeleton that rests in its reference pose.

    map: roles of the joints. Its turn leads from H-Anim's axes to those in which the clip moves, with the body's front
    as measured at rest, which need not be along an axis. time_s: of the frame taken, None for the rest pose.
    is_positioned: whether the pose also shows the body's position and height in the file's space. why: one sentence
    for users.
    """

    clip: Clip
    map: SkeletonMap
    time_s: float | None
    is_positioned: bool
    why: str


def find_reference(clip: Clip, found: SkeletonMap) -> Reference:
    """Find the pose in which a clip's body stands, and rewrite the clip on a skeleton that rests in it.

    found: the map of the clip's skeleton at rest. If it knows nothing, names and shape are read in a frame in which the
    body stands. Skeletons that are no bodies, and bodies that never stand, keep their rest pose.
    """
    if found.pose is not None:
        return _from_pose(clip, found, found.pose)
    rest = _posture(clip.skeleton.rest_world[None, :, :, 3], found)
    times = _times(clip, _FRAMES)
    if rest is not None and rest.upright[0] >= STANDS:
        at_rest, moves = _from_rest(clip, found, rest), clip.moved.any() and len(times) > 1
        return _out_of_step(clip, found, times, at_rest, rest) if moves else at_rest
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


def stood_up(target: SkeletonMap, up: FloatArray | None = None, points: SkinPoints | None = None) -> SkeletonMap:
    """Return the map of a skeleton at rest in the reference pose that is set, turned upright if it leans as a whole.

    up: (3,) unit, if the skeleton's up is no axis; else None. points: samples of its skin; without them, joints are
    used. The lowest of these has the same height in the pose as at rest, so the body stays on its ground. Turned
    upright, it stays there with its feet, unless it leans about the origin. If no pose is set, the map's turn leads to
    the front that the body has at rest, as measured.
    """
    own_rest, skeleton, is_set = target.skeleton, target.skeleton, target.pose is not None
    if target.pose is not None:
        skeleton = skeleton.in_pose(target.pose)
        target = replace(target, skeleton=skeleton, pose=None)
    rest = _posture(skeleton.rest_world[None, :, :, 3], target)
    if rest is None or target.turn is None or rest.upright[0] < STANDS:
        return target
    own = rot.to_matrix(target.turn)
    is_own = up is None or up @ own[:, 1] > 1.0 - SAME_UP
    world = own if is_set and is_own else with_front(own[:, 1] if is_own or up is None else up, rest.axes[0])
    turn = _upright(rest, world)
    skeleton = skeleton if turn is None else skeleton.turned(turn)
    stood = replace(target, skeleton=skeleton, turn=rot.from_matrix(world))
    if not is_set and (turn is None or _leans_about_origin(stood, own_rest, world[:, 1], points)):
        return stood
    of = np.ones(len(skeleton), np.bool_) if is_set else _feet(target)
    before, after = (_lowest(each, own_rest, world[:, 1], points, of) for each in (own_rest, skeleton))
    return replace(stood, skeleton=skeleton.shifted((before - after) * world[:, 1]))


def _leans_about_origin(stood: SkeletonMap, own_rest: Skeleton, up: FloatArray, points: SkinPoints | None) -> bool:
    """Return whether a body that was turned upright about the origin stands there on its soles.

    stood: the map after turning. own_rest: the rest pose to which the skin is bound.
    """
    if not stands_on_origin(stood, up) or points is None:
        return stands_on_origin(stood, up)
    joints = [stood.joint_of[name] for name in ("l_hip", "r_hip", "l_ankle", "r_ankle") if name in stood.joint_of]
    size = float(np.ptp(stood.skeleton.rest_world[joints, :, 3] @ up))
    return abs(_lowest(stood.skeleton, own_rest, up, points, _feet(stood))) < _SOLES_ON_ORIGIN * size


def _feet(found: SkeletonMap) -> BoolArray:
    """Return the joints (J,) of the feet; all joints if no foot is known."""
    ankles = [found.joint_of[name] for name in ("l_ankle", "r_ankle") if name in found.joint_of]
    if not ankles:
        return np.ones(len(found.skeleton), np.bool_)
    return with_descendants(found.skeleton.parents, np.array(ankles))


def _lowest(skeleton: Skeleton, own_rest: Skeleton, up: FloatArray, points: SkinPoints | None,
            of: BoolArray) -> float:
    """Return the height of the lowest skin of some joints (J,), or of these joints without skin, in a rest pose.

    own_rest: the rest pose to which the skin is bound. If none of the joints has skin, all skin counts.
    """
    if points is None:
        return float((skeleton.rest_world[of, :, 3] @ up).min())
    still = rebased(Clip.still(skeleton), own_rest)
    heights, is_of = points.heights(still, np.zeros(1), up)[0], of[points.joints[:, 0]]
    return float(heights[is_of if is_of.any() else slice(None)].min())


def uprightness(found: SkeletonMap, pose: FloatArray | None = None) -> float:
    """Return how upright a body stands at rest, or in a pose (J, 4) as in SkeletonMap; see Posture. −1 if unknown."""
    skeleton = found.skeleton if pose is None else found.skeleton.in_pose(pose)
    posture = _posture(skeleton.rest_world[None, :, :, 3], found)
    return -1.0 if posture is None else float(posture.upright[0])


def turn_in_pose(found: SkeletonMap, pose: FloatArray) -> FloatArray | None:
    """Return the rotation (4,), in steps of 90°, from H-Anim's axes to those of a body in a pose; None if unknown."""
    posture = _posture(found.skeleton.in_pose(pose).rest_world[None, :, :, 3], found)
    return None if posture is None else rot.from_matrix(right_angled(posture.axes[0]))


def rebased(clip: Clip, skeleton: Skeleton) -> Clip:
    """Return the same motion on a skeleton with the same joints and another rest pose.

    Let R, p, S and R′, p′, S′ be the local rests. Then the keys are k′ = R′⁻¹·R·k, t′ = t + p − p′, s′ = s·S/S′.
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
    """Return tracks with one key at rest added for each joint that has none."""
    missing = np.setdiff1d(joints, tracks.joints)
    if not len(missing):
        return tracks
    at_rest = {joint: (np.zeros(1), rest[None]) for joint in missing.tolist()}
    return packed_by_joint(by_joint(tracks) | at_rest, len(rest))


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
    """Take the rest pose, turned upright if it leans as a whole or is turned away from the file's axes."""
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


def _out_of_step(clip: Clip, found: SkeletonMap, times: FloatArray, at_rest: Reference, rest: Posture) -> Reference:
    """Return the reference for a rest pose that may be in mid-step, as in files without skin.

    The pose counts as a moment of the motion. Its soles are made level by the rest of the motion. If the body stands
    better in another frame, that frame is taken.
    """
    if not is_in_step(clip.skeleton.rest_world[None, :, :, 3], found.joint_of, rest)[0] or found.turn is None:
        return at_rest
    positions = _positions(clip, times)
    frames = _posture(positions, found)
    assert frames is not None  # the rest pose has one
    stands = frames.upright * ~is_in_step(positions, found.joint_of, frames)
    if stands.max() > rest.upright[0] + _STANDS_BETTER:
        return _from_frame(clip, found, times, replace(frames, upright=stands), "is in the middle of a step")
    moved = _on_level_soles(at_rest.clip, at_rest.map, times)
    return replace(at_rest, clip=moved, map=replace(at_rest.map, skeleton=moved.skeleton), is_positioned=False,
                   why="the rest pose, in the middle of a step, with its soles as in the motion")


def _from_pose(clip: Clip, found: SkeletonMap, pose: FloatArray) -> Reference:
    """Take the pose that is set in the map, turned upright if the body leans in it as a whole."""
    at_rest = _posture(clip.skeleton.rest_world[None, :, :, 3], found)
    stood = stood_up(replace(found, skeleton=clip.skeleton))
    stands_at_rest = at_rest is not None and bool(at_rest.upright[0] >= STANDS)
    return Reference(rebased(clip, stood.skeleton), stood, None, stands_at_rest, SET_POSE)


def _from_frame(clip: Clip, known: SkeletonMap, times: FloatArray, frames: Posture,
                rest: str = "does not stand") -> Reference:
    """Take the frame in which the body stands best, the first of nearly equal ones.

    rest: why the rest pose is not taken, in words.
    """
    upright = frames.upright.copy()
    upright[0] += _FIRST_GOES_BEFORE
    best = int(np.argmax(upright))
    stood = posed(clip.skeleton, poses_at(clip, times[[best]]).at(0))
    why = f"the frame at {times[best]:.2f} s, since the rest pose of {clip.skeleton.name or 'its body'} {rest}"
    return _from_pose_in_motion(clip, known, stood, times, best, why)


def _from_straightened(clip: Clip, times: FloatArray) -> Reference | None:
    """Take the first examined frame whose body, known by names, would stand if it were straightened."""
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
    """Take a pose made from a frame, turned upright in the file's axes. stood: the skeleton in that pose."""
    positions = _positions(clip, times)
    frames, posture = _posture(positions, known), _posture(stood.rest_world[None, :, :, 3], known)
    assert frames is not None and posture is not None  # the pose was chosen by its posture
    up = up_of_motion(frames, positions, known)
    world = rot.to_matrix(known.turn) if known.has_given_axes and known.turn is not None else with_usual_front(up)
    skeleton = stood.turned(rot.from_matrix(world @ posture.axes[0].T))
    new = replace(known, skeleton=skeleton, turn=rot.from_matrix(world))
    moved = _on_level_soles(rebased(clip, skeleton), new, times)
    return Reference(moved, replace(new, skeleton=moved.skeleton), float(times[frame]), False, why)


def _on_level_soles(clip: Clip, found: SkeletonMap, times: FloatArray) -> Clip:
    """Return a clip on a skeleton that rests with level soles. found: its turn leads to the axes of the motion."""
    assert found.turn is not None
    up, in_motion = rot.rotate(found.turn, UP), times >= (first_pose_end(clip) or 0.0)
    return rebased(clip, on_level_soles(clip, found, times[in_motion], up))


def posed(skeleton: Skeleton, pose: Pose) -> Skeleton:
    """Return a skeleton that rests in a pose of the given one."""
    return replace(skeleton, rest_rotations=rot.multiply(skeleton.rest_rotations, pose.rotations),
                   rest_translations=skeleton.rest_translations + pose.translations,
                   rest_scales=skeleton.rest_scales * pose.scales)


def _map_in_motion(clip: Clip) -> SkeletonMap | None:
    """Return the map of the first examined frame whose body can be recognised by names or shape."""
    for time in _times(clip, _FRAMES_WITHOUT_NAMES):
        found = find_map_once(posed(clip.skeleton, poses_at(clip, np.array((time,))).at(0)))
        if found.is_humanoid and found.is_sure:
            return replace(found, skeleton=clip.skeleton)
    return None


def _upright(rest: Posture, world: FloatArray) -> FloatArray | None:
    """Return the rotation (4,) from a body's measured axes to those of the file, None if it is negligible.

    If a body bends at the hips, the part nearer to the vertical counts, trunk or legs: a body that only leans its trunk
    still stands.
    """
    directions, up = rest.directions[0], rest.axes[0, :, 1]
    if directions[0] @ directions[-1] < np.cos(2.0 * LEANS_RAD):
        up = directions[int(np.argmax(directions @ world[:, 1]))]
    turn = rot.from_matrix(world @ rest.along(0, up).T)
    return turn if rot.angle_between(turn, rot.IDENTITY) > LEANS_RAD else None
