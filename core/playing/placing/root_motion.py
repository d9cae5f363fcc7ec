"""Root motion: how a character travels over the ground through successive clips.

Position and heading are those of the root joint in model space. The joint that is moved is its topmost ancestor that
any clip rotates or translates, usually the root joint itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import keys_of
from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.hierarchy import subtree_sizes, with_ancestors, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose, Skeleton
from .carriers import carrying_half, carrying_hips
from .placement import Bearing, Placement, Root, Travel
from .root_split import RootSplit

RootMode = Literal["CONTINUE", "ALONG", "AS_AUTHORED", "IN_PLACE"]
ROOT_MODES: dict[RootMode, tuple[str, str]] = {
    "CONTINUE": ("Continue", "Each clip starts where the one before ended on the ground, heading included"),
    "ALONG": ("Along the Way", "Like Continue, but along a straight line: where a clip moves sideways or "
                               "backwards, the body turns instead"),
    "AS_AUTHORED": ("As Authored", "Each clip plays where its file says"),
    "IN_PLACE": ("In Place", "The root stays above its rest position"),
}
_STILL = 1e-4
"""Threshold of movement: a share of the farthest joint's travel or of the skeleton's size; radians; or a scale."""
NO_JOINTS: Final = np.zeros(0, dtype=np.int64)
_EACH_JOINT: Final = (slice(None), np.newaxis)
"""Index of placements that gives all joints of a pose the same one."""


def mode_named(identifier: RootMode) -> RootMode:
    """Look up a mode; raises TaktError with the list of modes."""
    if identifier not in ROOT_MODES:
        raise TaktError(f"there is no root motion {identifier!r}; there are {', '.join(ROOT_MODES)}")
    return identifier


def root_joint(clips: Sequence[Clip], followers: IntArray = NO_JOINTS, body: SkeletonMap | None = None) -> int | None:
    """Return the topmost joint that any clip translates, else the topmost that any rotates, else None.

    followers: joints that copy the motion of others. body: roles of the joints. If roles are known, only the hips and
    their ancestors count. Otherwise a joint that only rotates counts if it carries half of the skeleton, so that a nod
    is no root motion.

    If some clips do not move that joint, and translate a descendant that carries most of what moves, the descendant is
    returned, since both kinds of clips move it. An example is captured motion after a clip that travels by a bone above
    the hips.
    """
    skeleton, hips = clips[0].skeleton, None if body is None else carrying_hips(body)
    among = np.setdiff1d(np.arange(len(skeleton)) if hips is None else np.flatnonzero(hips), followers)
    root = _topmost(skeleton, _shifted(clips, among))
    if root is None:
        turned = np.intersect1d(np.concatenate([clip.rotations.joints for clip in clips]), among)
        root = _topmost(skeleton, turned[carrying_half(skeleton)[turned]] if hips is None else turned)
    while root is not None:
        others = [clip for clip in clips if _leaves_alone(clip, root)]
        lower = _topmost(skeleton, np.intersect1d(
            _shifted(others, among), _carrying_most(clips, root))) if others else None
        if lower is None:
            break
        root = lower
    return root


def _leaves_alone(clip: Clip, joint: int) -> bool:
    """Return whether a clip does not move a joint: no key, or a single one at rest, as in Actions that Takt writes."""
    return not clip.moved[joint] or (not _leaves_rest((clip,), joint) and all(
        np.diff(tracks.starts)[tracks.joints == joint].max(initial=0) <= 1
        for tracks in (clip.rotations, clip.translations, clip.scales)))


def _carrying_most(clips: Sequence[Clip], root: int) -> IntArray:
    """Return the descendants of a joint that carry more than half of what any clip moves below it."""
    parents = clips[0].skeleton.parents
    below = with_descendants(parents, np.array((root,)))
    carried = np.where(below & np.any([clip.moved for clip in clips], axis=0), 1, 0)
    for joint in range(len(parents) - 1, root, -1):
        carried[parents[joint]] += carried[joint]
    below[root] = False
    return np.flatnonzero(below & (2 * carried > carried[root]))


def _topmost(skeleton: Skeleton, joints: IntArray) -> int | None:
    """Return the topmost of joints (N,); of several at one depth, that with most descendants; None for no joints."""
    if not len(joints):
        return None
    sizes, depth = np.array(subtree_sizes(skeleton.parents)), np.zeros(len(skeleton), dtype=np.int64)
    for level, of_level in enumerate(skeleton.levels):
        depth[of_level] = level
    return int(joints[np.lexsort((-sizes[joints], depth[joints]))[0]])


def _shifted(clips: Sequence[Clip], among: IntArray) -> IntArray:
    """Return which of some joints any clip translates while it plays; if none, those it holds away from rest.

    A joint that travels less than _STILL of the farthest one's travel is ignored, since files also key joints that
    never move.
    """
    travelled = np.zeros(len(clips[0].skeleton))
    for clip in clips:
        joints = clip.translations.joints
        travelled[joints] = np.maximum(travelled[joints], clip.derived(_reaches))
    farthest = travelled[among].max(initial=0.0)
    found = (np.flatnonzero(travelled > _STILL * farthest) if farthest > 0.0 else
             np.concatenate([clip.translations.joints for clip in clips]))
    return np.asarray(np.intersect1d(found, among), dtype=np.int64)


def root_chain(clips: Sequence[Clip], followers: IntArray = NO_JOINTS, body: SkeletonMap | None = None) -> IntArray:
    """Return the root joint, preceded by its ancestors from the topmost one that any clip takes from rest, (N,).

    Only the root joint if no ancestor moves; empty if no clip moves a joint that may carry a body. See root_joint.
    """
    root = root_joint(clips, followers, body)
    if root is None:
        return NO_JOINTS
    chain = with_ancestors(clips[0].skeleton.parents, np.array((root,)))
    first = next((i for i, joint in enumerate(chain[:-1].tolist()) if _leaves_rest(clips, joint)), -1)
    return chain[first:]


def _leaves_rest(clips: Sequence[Clip], joint: int) -> bool:
    """Return whether any clip ever takes a joint away from rest."""
    skeleton = clips[0].skeleton
    size = skeleton.size or 1.0
    for clip in clips:
        for tracks, far in ((clip.rotations, lambda keys: rot.angle_between(rot.normalized(keys), rot.IDENTITY)),
                            (clip.translations, lambda keys: np.linalg.norm(keys, axis=1) / size),
                            (clip.scales, lambda keys: np.abs(keys - 1.0))):
            for index in np.flatnonzero(tracks.joints == joint).tolist():
                if far(keys_of(tracks, index)[1]).max() > _STILL:
                    return True
    return False


def moved_together(moved: BoolArray, chain: IntArray) -> BoolArray:
    """Return the moved joints (C, J) of clips, with the whole chain for a clip that moves any joint of it.

    A joint of the chain that held another clip's pose would turn the root.
    """
    if len(chain) < 2:
        return moved
    moved = moved.copy()
    moved[:, chain] = moved[:, chain].any(axis=1, keepdims=True)
    return moved


def _reaches(clip: Clip) -> FloatArray:
    """Return the distance between the extremes of each of a clip's T translation tracks, (T,)."""
    tracks = clip.translations
    if not len(tracks):
        return np.zeros(0)
    low, high = (reach.reduceat(tracks.values, tracks.starts[:-1], axis=0) for reach in (np.minimum, np.maximum))
    return np.asarray(np.linalg.norm(high - low, axis=1))


def roots_carried(clips: Sequence[Clip], root: int, skeleton: Skeleton, up: FloatArray) -> tuple[Root, ...]:
    """Return the joints that are moved to carry a body over the ground: a joint, and its companions.

    skeleton: that of the clips, or the one in which the root is free. up: (3,) of model space.
    """
    return tuple(Root(skeleton, joint, up) for joint in (root, *_beside(clips, root, skeleton).tolist()))


def carry_over_ground(roots: Sequence[Root], pose: Pose, by: FloatArray) -> None:
    """Place poses (F, J, …) on the ground by the numbers (F, 8) of placements."""
    for root in roots:
        joint = root.joint
        pose.rotations[:, joint], pose.translations[:, joint] = root.placed(
            pose.rotations[:, joint], pose.translations[:, joint], by)


def _beside(clips: Sequence[Clip], root: int, skeleton: Skeleton) -> IntArray:
    """Return the topmost moved joints outside the root's branch, as IK targets often are; they move with the root."""
    moved = np.any([clip.moved for clip in clips], axis=0)
    led = np.zeros(len(skeleton), dtype=np.bool_)
    above = root
    while above >= 0:
        moved[above], above = False, int(skeleton.parents[above])
    led[root] = True
    found = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        led[joint] |= parent >= 0 and led[parent]
        if moved[joint] and not led[joint]:
            led[joint] = True
            found.append(joint)
    return np.array(found, dtype=np.int64)


class RootedClips:
    """The part of root motion that depends on C clips alone, not on the score.

    The poses at the clips' ends are stored at the origin: facing forward in the mode CONTINUE, moving forward in ALONG.
    """

    def __init__(self, mode: RootMode, clips: Sequence[Clip], chain: IntArray, moved: BoolArray,
                 starts: Sequence[Pose], ends: Sequence[Pose], up: FloatArray, astray_rad: FloatArray,
                 freed: RootSplit | None = None, grounds: FloatArray | None = None) -> None:
        """Take clips and the joints they move, (C, J).

        chain: the root and the ancestors that carry it, see root_chain. starts: (C + 1, J, …) the clips' first poses,
        and poses a step later, with rest in the last row. ends: the same at the clips' ends, the last poses first. Both
        are converted in place to the input of RootMotion.place_seam. up: (3,) of model space. astray_rad: (2, C) for
        the mode ALONG, the angle from the facing direction to the direction of travel, to the left, at beginning and
        end. freed: if set, all poses here are those of the freed skeleton. grounds: (2, C) ground heights at beginning
        and end, see feet/grounds.py; None for level ground.
        """
        self.mode: RootMode = mode if len(chain) else "AS_AUTHORED"
        self.freed = freed
        if self.mode == "AS_AUTHORED":
            return
        skeleton, root = clips[0].skeleton if freed is None else freed.skeleton, int(chain[-1])
        self.bearing = Bearing(skeleton, chain[-1:], up)
        self._carried = roots_carried(clips, root, skeleton, up)
        self._moves = moved[:, root]
        if mode == "IN_PLACE":
            self._to_seams = [self._back(poses[0].at(slice(-1))) for poses in (starts, ends)]
            for pose in (*starts, *ends):
                self._keep_in_place(pose)
            return
        found = []
        grounds = np.zeros((2, len(clips))) if grounds is None else grounds
        for poses, astray, ground in zip((starts, ends), astray_rad, grounds, strict=True):
            placement = replace(self.bearing.placement(poses[0]), rise=np.append(ground, 0.0))
            placement.yaw_rad[:-1] += astray
            for pose in poses:
                self.carry(pose, placement.inverse().numbers)
            found.append(placement)
        self._first, self._last = (placement.at(slice(-1)) for placement in found)
        self._to_seams = [placement.inverse() for placement in (self._first, self._last)]
        self._rest = found[0].at(-1)
        self._from_rest = self._rest.inverse()

    @property
    def goes_on(self) -> bool:
        """Whether each clip starts where the one before ended."""
        return self.mode in ("CONTINUE", "ALONG")

    def through(self, clip: IntArray, loop_s: FloatArray | None = None) -> Travel:
        """Return the travel through segments that play clips (S,), one after another; see Travel.through."""
        return Travel.through(self._first, self._last, self._rest, self._moves, clip, loop_s)

    def is_among(self, joints: BoolArray) -> bool:
        """Return whether the joint that root motion moves is one of joints (J,)."""
        return self.mode != "AS_AUTHORED" and bool(joints[self._carried[0].joint])

    def prepare(self, pose: Pose, clip: IntArray) -> None:
        """Convert authored clip poses (F, J, …) to the input of the later steps."""
        if self.mode == "IN_PLACE":
            self._keep_in_place(pose)
        elif self.goes_on and np.count_nonzero(still := ~self._moves[clip]):
            for root in self._carried:
                pose.rotations[still, root.joint], pose.translations[still, root.joint] = root.placed(
                    pose.rotations[still, root.joint], pose.translations[still, root.joint], self._from_rest.numbers)

    def leaves(self, clip: int) -> bool:
        """Return whether `prepare` does not change a clip's poses."""
        return self.mode == "AS_AUTHORED" or (self.goes_on and bool(self._moves[clip]))

    def laid(self, positions: FloatArray) -> FloatArray:
        """Return joint positions (2, C, J, 3) of the clips' first and last poses, placed as they meet at seams."""
        if self.mode == "AS_AUTHORED":
            return positions
        parents = self.bearing.skeleton.parents
        goes_along = with_descendants(parents, np.array([root.joint for root in self._carried]))
        return np.stack([np.where(goes_along[:, None], self.bearing.moved(points, by.at(_EACH_JOINT)), points)
                         for points, by in zip(positions, self._to_seams, strict=True)])

    def carry(self, pose: Pose, by: FloatArray) -> None:
        """Place poses (F, J, …) on the ground by the numbers (F, 8) of placements."""
        carry_over_ground(self._carried, pose, by)

    def turn_shifts(self, vectors: FloatArray, row_of: Callable[[int], int | None], before: IntArray,
                    after: IntArray, turns_rad: FloatArray) -> None:
        """Turn offsets of translations at seams, from clips that face forward there to clips as authored.

        vectors: (N, 2, R, 3) offsets to the clips before and after seams. before, after: (N,) these clips. turns_rad:
        (N,) the heading change. row_of: the row of a joint's translation, or None.
        """
        if not self.goes_on:
            return
        yaw = np.stack((np.where(self._moves, self._last.yaw_rad, 0.0)[before],
                        np.where(self._moves, self._first.yaw_rad, 0.0)[after] - turns_rad), axis=1)
        for root in self._carried:
            if (row := row_of(root.joint)) is not None:
                vectors[..., row, :] = root.turned(vectors[..., row, :], yaw)

    def _back(self, pose: Pose) -> Placement:
        """Return the placement that moves poses (N, J, …) back to the root's rest position; headings stay."""
        return Placement(np.zeros(len(pose.rotations)), self.bearing.away(pose) @ np.array((-1.0, -1j)))

    def _keep_in_place(self, pose: Pose) -> None:
        away = self.bearing.away(pose)
        for root in self._carried:
            pose.translations[:, root.joint] = root.back(pose.translations[:, root.joint], away)


class RootMotion:
    """Places the poses of a row's segments on the ground.

    Where a clip starts where the one before ended, the end poses of both are placed at the station between their
    segments. A clip's own poses are moved by the placement that moves its start to the station before it.

    turns_rad: (S,) heading change at the seam after each segment, which straightens a loop.
    """

    def __init__(self, clips: RootedClips, clip: IntArray, loop_s: FloatArray | None = None) -> None:
        """Take the clips, and the clip of each segment, (S,). loop_s: see Travel.through."""
        self.clips, self.turns_rad = clips, np.zeros(len(clip))
        if self.goes_on:
            travel = clips.through(clip, loop_s)
            self._stations, self._lap, self.turns_rad = travel.stations, travel.lap, travel.turns_rad
            self._to_stations = travel.stations.at(slice(-1)) @ travel.starts.at(clip).inverse()

    @classmethod
    def still(cls) -> RootMotion:
        """Return root motion that changes nothing."""
        return cls(RootedClips("AS_AUTHORED", (), NO_JOINTS, np.zeros((0, 0), np.bool_), (), (), np.zeros(3),
                                np.zeros((2, 0))),
                   NO_JOINTS)

    @property
    def goes_on(self) -> bool:
        """Whether each clip starts where the one before ended, heading included."""
        return self.clips.goes_on

    @property
    def lap_yaw_rad(self) -> float:
        """The angle by which one round of the loop turns the heading, −π to π."""
        if not self.goes_on:
            return 0.0
        return float(np.remainder(self._lap.yaw_rad + np.pi, 2.0 * np.pi) - np.pi)

    @property
    def rises(self) -> FloatArray:
        """The rise of each of S segments above its clip as authored, (S,); () if all are 0."""
        return self._to_stations.rise if self.goes_on else np.zeros(())

    def place_segments(self, pose: Pose, segment: IntArray, rounds: IntArray) -> None:
        """Place clip poses (F, J, …) of segments (F,) in rounds (F,) of a loop on the ground, in place."""
        if self.goes_on:
            by = (self._lapped(self._to_stations.at(segment), rounds).numbers if np.count_nonzero(rounds) else
                  self._to_stations.numbers.take(segment, axis=0))
            self.clips.carry(pose, by)

    def placed_points(self, points: FloatArray, segment: IntArray, rounds: IntArray) -> FloatArray:
        """Place points (N, 3) of clip poses in segments (N,) and rounds (N,) of a loop."""
        if not self.goes_on:
            return points
        return self.clips.bearing.moved(points, self._lapped(self._to_stations.at(segment), rounds))

    def turn_at_seam(self, poses: Sequence[Pose], seam: IntArray) -> None:
        """Turn poses (W, J, …) after seams by the heading change there."""
        turns = self.turns_rad[seam]
        if np.count_nonzero(turns):
            by = Placement(turns, np.zeros(len(turns), dtype=np.complex128)).numbers
            for pose in poses:
                self.clips.carry(pose, by)

    def place_seam(self, poses: Sequence[Pose], seam: IntArray, rounds: IntArray) -> None:
        """Place end poses (W, J, …) at the stations at the ends of their seams' segments."""
        if self.goes_on:
            station = self._stations.at(seam + 1)
            ended = Placement(station.yaw_rad - self.turns_rad[seam], station.shift, station.rise)
            by = self._lapped(ended, rounds).numbers
            for pose in poses:
                self.clips.carry(pose, by)

    def repeat(self, pose: Pose, rounds: IntArray) -> None:
        """Move poses (F, J, …) of the first round, on the clips' own skeleton, to later rounds (F,)."""
        if not self.goes_on or not np.count_nonzero(rounds):
            return
        freed, by = self.clips.freed, self._lap.power(rounds).numbers
        if freed is not None:
            freed.free(pose)
        self.clips.carry(pose, by)
        if freed is not None:
            freed.bind(pose)

    def _lapped(self, placement: Placement, rounds: IntArray) -> Placement:
        return self._lap.power(rounds) @ placement if rounds.any() else placement
