"""Keep Contacts: hands touch what they touch in the clip, and arms stay as far outside the trunk as there.

Only arms move, so everything else is posed once, and joint rotations are computed at the end. Only frames in which a
hand is near something or an arm is too deep are processed, and in clips with high frame rates not all of these. Hands
that come out of a trunk are corrected a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import FINE_S, filled, key_times, thinned, turns_at
from ...clips.posed import PosedJoints, joined_frames, of_frames
from ...maths import rotations as rot
from ...maths.arrays import ROUNDING, BoolArray, FloatArray, IntArray, merged, or_beside
from ...maths.equal_values import once_for_equal
from ...skeletons.hierarchy import path_to_root, with_ancestors
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import MOST_BODIES, Skeleton
from ..limbs import FRAMES_AT_ONCE, Limb, LimbPoses, both_arms, runs_of_frames, with_rotations
from ..skin_points import SkinPoints
from .arms import ArmsBesideTrunk, ArmsInFrames, moved_out
from .eased import averaged, corrections, with_corrections, with_limited_speed
from .hands import Touch, touching
from .hands_and_body import HandsAndBody, InFrames
from .trunk import TRUNK

_HARDLY_SEEN: Final = 0.02
"""Share of an arm's length: smaller offsets are hardly visible."""
_FASTEST: Final = 0.7
"""Speed limit of a hand's correction, in body heights per second."""
_USUAL_S: Final = 0.2
"""Hands take the direction out of the body that is shortest on average over this time, not the one that is shortest for
a moment."""


def with_contacts_kept(played: Clip, target_map: SkeletonMap, skin: SkinPoints | None, source: Clip,
                       source_map: SkeletonMap) -> Clip:
    """Return a retargeted clip with the source's hand contacts, and with arms no deeper in the trunk than there.

    played: on a skeleton of target_map's joints, in the skin's rest pose. source: the clip as it was compared, in the
    target's axes, on the skeleton of source_map. Hands keep their distances to each other and to the body, scaled by
    body height. If the arms of one body are unknown, or nothing touches, the clip is returned unchanged.
    """
    ours, theirs = _target_shape(target_map, played.skeleton, skin), _source_shape(source_map)
    return played if ours is None or theirs is None else _kept(_Body.of(played, ours), _Body.of(source, theirs), played)


def _kept(here: _Body, there: _Body, played: Clip) -> Clip:
    """Return the clip with the arms of one body corrected by those of the other."""
    times = _times(here, there)
    made, counts = np.zeros((len(times), 2, 4)), np.zeros((len(times), 2))
    for seen in _near(here, there, times):
        made[seen.rows], counts[seen.rows] = _corrections(here, there, seen)
    if not made.any():
        return played
    _keep_usual_direction(here, there, times, made, counts)
    wanted = made.copy()
    for side in np.flatnonzero(counts.any(axis=0)).tolist():
        wanted[:, side, :3] = with_limited_speed(times, made[:, side, :3], counts[:, side], _FASTEST * here.height)
    eased = averaged(times, wanted.reshape(len(times), -1)).reshape(made.shape)
    # averages may lead back into the body, since its direction out turns quickly: correct them once more
    lost, missing = np.flatnonzero(here.is_far(made - eased).any(axis=1)), np.zeros(made.shape)
    for seen in _seen_at(here, there, times, lost):
        again, _ = _corrections(here, there, seen, eased[seen.rows])
        missing[seen.rows] = again - eased[seen.rows]
    made = eased + averaged(times, missing.reshape(len(times), -1)).reshape(made.shape)
    new: dict[int, tuple[FloatArray, FloatArray]] = {}
    for side in np.flatnonzero(made.any(axis=(0, 2))).tolist():
        new |= _keys(here, side, times, made[:, side])
    return with_rotations(played, new)


def _keep_usual_direction(here: _Body, there: _Body, times: FloatArray, made: FloatArray, counts: FloatArray) -> None:
    """Compute corrections (F, 2, 4) that are far from their average again, starting from that average.

    A thick trunk has several ways out, and the shortest may change from one frame to the next and back. Hands in
    contact, by counts (F, 2), keep their corrections.
    """
    usual = averaged(times, made.reshape(len(times), -1), _USUAL_S).reshape(made.shape)
    rows = np.flatnonzero((here.is_far(made - usual) & (counts == 0.0)).any(axis=1))
    for seen in _seen_at(here, there, times, rows):
        made[seen.rows], _ = _corrections(here, there, seen, usual[seen.rows])


def _times(here: _Body, there: _Body) -> FloatArray:
    """Return the times to process, (F,): keys of the source and of the arms, thinned out where they are too dense.

    Corrections are averaged over longer moments anyway. The rest of the body may have more keys, such as those of foot
    lock.
    """
    arms = key_times(here.clip.rotations, joints=here.posed.joints[np.array(here.arms)])
    source = key_times(there.clip.rotations, there.clip.translations, joints=there.posed.joints)
    end = np.array((here.clip.duration_s,))
    return filled(thinned(merged(arms, source, end).clip(0.0, end), FINE_S))


@dataclass(frozen=True, eq=False)
class _Shape:
    """A body reduced to the joints that matter here.

    kept: (K,) these joints of the whole. carriers: (2,) the trunk joint that carries each arm. hands, beside: None if
    unknown.
    """

    kept: IntArray
    arms: tuple[Limb, Limb]
    carriers: IntArray
    hands: HandsAndBody | None
    beside: ArmsBesideTrunk | None

    @classmethod
    def of(cls, found: SkeletonMap, skin: SkinPoints | None) -> _Shape | None:
        """Return the shape of a map's skeleton, or None if an arm is unknown, or all that it might touch."""
        arms, hands, beside = both_arms(found), HandsAndBody.of(found, skin), ArmsBesideTrunk.of(found, skin)
        if arms is None or (hands is None and beside is None):
            return None
        parents, carriers = found.skeleton.parents, [_carrier(found, arm) for arm in arms]
        wanted = {*carriers, *arms[0], *arms[1]}.union(*(part.joints for part in (hands, beside) if part is not None))
        kept = with_ancestors(parents, np.array(sorted(wanted)))
        row = {int(joint): i for i, joint in enumerate(kept)}
        left, right = (Limb(*(row[joint] for joint in arm)) for arm in arms)
        return cls(kept, (left, right), np.array([row[joint] for joint in carriers]), hands and hands.numbered(row),
                   beside and beside.numbered(row))


@once_for_equal(2 * MOST_BODIES)
def _source_shape(found: SkeletonMap) -> _Shape | None:
    """Return the shape of a source, the standard one, cached for all clips of such a body."""
    return _Shape.of(found, None)


@lru_cache(maxsize=MOST_BODIES)
def _target_shape(found: SkeletonMap, own: Skeleton, skin: SkinPoints | None) -> _Shape | None:
    """Return the shape of a target, cached for all that it plays. own: its skeleton in the skin's rest pose."""
    return _Shape.of(replace(found, skeleton=own), skin)


@dataclass(frozen=True, eq=False)
class _Body:
    """A body that plays a clip, reduced to the shape's joints."""

    clip: Clip
    shape: _Shape
    posed: PosedJoints

    @classmethod
    def of(cls, clip: Clip, shape: _Shape) -> _Body:
        """Return the body for a clip on the shape's skeleton."""
        return cls(clip, shape, PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, shape.kept))

    @property
    def arms(self) -> tuple[Limb, Limb]:
        """Its arms, left and right."""
        return self.shape.arms

    @property
    def height(self) -> float:
        """Its height; 0 if its hands are unknown."""
        return 0.0 if self.shape.hands is None else self.shape.hands.height

    def is_far(self, made: FloatArray) -> BoolArray:
        """Return which corrections (..., 4) move wrists by a visible distance."""
        first, middle, last = self.clip.skeleton.rest_world[self.shape.kept[list(self.arms[0])], :, 3]
        length = np.linalg.norm(middle - first) + np.linalg.norm(last - middle)
        return np.asarray(np.linalg.norm(made[..., :3], axis=-1) > _HARDLY_SEEN * length)


def _carrier(found: SkeletonMap, arm: Limb) -> int:
    trunk = {found.joint_of[name] for name in TRUNK if name in found.joint_of}
    above = path_to_root(found.skeleton.parents, arm.first)[1:]
    return next((joint for joint in above if joint in trunk), above[0])


@dataclass(frozen=True, eq=False)
class _Seen:
    """The poses of both bodies, target and source, at F times of the clip.

    rows: (F,) indices of the times. ours: (F, J, 3, 4) matrices model_from_joint of the target's joints. theirs: the
    same of the source's joints. touch: the surfaces near the source's hands, or None if unknown.
    """

    rows: IntArray
    ours: FloatArray
    theirs: FloatArray
    touch: Touch | None

    @classmethod
    def of(cls, here: _Body, there: _Body, times: FloatArray, rows: IntArray) -> _Seen:
        """Return the poses at times[rows]; here is the target, there the source."""
        ours, theirs = (body.posed.world(times[rows]) for body in (here, there))
        hands, others = here.shape.hands, there.shape.hands
        return cls(rows, ours, theirs, None if hands is None or others is None else Touch.of(others, theirs, hands))

    def at(self, frames: IntArray) -> _Seen:
        """Return some of the frames."""
        if len(frames) == len(self.rows):
            return self
        return _Seen(self.rows[frames], of_frames(self.ours, frames), of_frames(self.theirs, frames),
                     self.touch and self.touch.at(frames))

    @classmethod
    def joined(cls, found: Sequence[_Seen]) -> _Seen:
        """Return the frames of several values together."""
        if len(found) == 1:
            return found[0]
        touches = [each.touch for each in found if each.touch is not None]
        return cls(np.concatenate([each.rows for each in found]), joined_frames([each.ours for each in found]),
                   joined_frames([each.theirs for each in found]), Touch.joined(touches) if touches else None)

    def is_near(self, here: _Shape, there: _Shape) -> BoolArray:
        """Return in which frames (F,) hands are near something in the source, or an arm may be too deep."""
        near = np.zeros(len(self.rows), dtype=np.bool_) if self.touch is None else self.touch.is_near
        if here.beside is not None and there.beside is not None:
            near |= ArmsInFrames(here.beside, self.ours).may_be_deeper()
        return near


def _near(here: _Body, there: _Body, times: FloatArray) -> Iterator[_Seen]:
    """Yield chunks of the times (F,) at which arms may have to move; see _Seen.is_near."""
    found: list[_Seen] = []
    runs = [*runs_of_frames(len(times))]
    for run in runs:
        seen = _Seen.of(here, there, times, np.arange(run.start, run.stop))
        found.append(seen.at(np.flatnonzero(seen.is_near(here.shape, there.shape))))
        count = sum(len(each.rows) for each in found)
        if count >= FRAMES_AT_ONCE or (count and run is runs[-1]):
            yield _Seen.joined([each for each in found if len(each.rows)])
            found = []


def _seen_at(here: _Body, there: _Body, times: FloatArray, rows: IntArray) -> Iterator[_Seen]:
    """Yield poses at some rows of times (F,), in chunks."""
    return (_Seen.of(here, there, times, rows[run]) for run in runs_of_frames(len(rows)))


def _corrections(here: _Body, there: _Body, seen: _Seen,
                 begun: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the corrections of arms, (F, 2, 4), see eased.py, and the contact weights of hands, (F, 2).

    begun: (F, 2, 4) corrections to start from.
    """
    our, their, ours, touch = here.shape, there.shape, seen.ours, seen.touch
    made, plain = np.zeros((len(ours), 2, 4)), LimbPoses.of(ours, *our.arms)
    arms = plain if begun is None else with_corrections(plain, ours[:, our.carriers, :, :3], begun)
    near = np.flatnonzero(np.zeros(len(ours), np.bool_) if touch is None else touch.is_near)
    hands = None if our.hands is None or not len(near) else InFrames(our.hands, of_frames(ours, near))
    if hands is not None and touch is not None:
        arms = arms.replaced(near, touching(hands, arms.at(near), touch.at(near)))
    if our.beside is not None and their.beside is not None:
        arms, is_deeper = _outside(our.beside, their.beside, ours, seen.theirs, arms)
        again = np.flatnonzero(is_deeper[near].any(axis=1))
        if hands is not None and touch is not None and len(again):  # arms that were moved out took hands along
            rows = near[again]
            arms = arms.replaced(rows, touching(hands.at(again), arms.at(rows), touch.at(rows)))
    frames, sides = np.nonzero(arms.is_turned(ROUNDING))
    if len(frames):
        carriers = ours[frames, our.carriers[sides], :, :3]
        made[frames, sides] = corrections(plain.at((frames, sides)), arms.at((frames, sides)), carriers)
    return made, np.zeros(made.shape[:2]) if touch is None else touch.counts


def _outside(here: ArmsBesideTrunk, there: ArmsBesideTrunk, ours: FloatArray, theirs: FloatArray,
             arms: LimbPoses) -> tuple[LimbPoses, BoolArray]:
    """Return arms (F, 2) as far outside the trunk as the source's, and which were not, (F, 2)."""
    is_deeper, placed, clip = np.zeros((len(ours), 2), np.bool_), ArmsInFrames(here, ours), ArmsInFrames(there, theirs)
    for side in range(2):
        arm, allowed = arms.at((slice(None), side)), here.allowed(clip.distance(side), side)
        pushes = placed.pushes(side, allowed, arm)
        is_deeper[:, side] = pushes.any(axis=(1, 2))
        rows = np.flatnonzero(is_deeper[:, side])
        if len(rows):
            out = moved_out(placed.at(rows), side, arm.at(rows), allowed[rows], pushes[rows])
            arms = arms.replaced((rows, side), out)
    return arms, is_deeper


def _keys(body: _Body, side: int, times: FloatArray, made: FloatArray) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return key times and rotations of an arm's joints, by joint, that make corrections (F, 4) at times (F,).

    Where corrections are zero, the arm keeps its own keys.
    """
    clip, arm = body.clip, body.shape.kept[list(body.arms[side])]
    keys = merged(times[or_beside(np.asarray(made.any(axis=1)))], key_times(clip.rotations, joints=arm))
    at_keys = np.stack([np.interp(keys, times, values) for values in made.T], axis=1)
    rows = np.flatnonzero(at_keys.any(axis=1))
    wanted = np.array((*arm, *clip.skeleton.parents[arm], body.shape.kept[body.shape.carriers[side]]))
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, wanted)
    turns = turns_at(clip.rotations, arm.tolist(), keys)
    for run in (rows[run] for run in runs_of_frames(len(rows))):
        before, at = posed.placed(keys[run])
        moved = with_corrections(LimbPoses.through(at[:, :3]), rot.to_matrix(before[:, 6]), at_keys[run])
        turns[run] = moved.rotations_from(clip.skeleton.rest_rotations[arm], before[:, 3:6], before[:, :3])
    return {joint: (keys, turns[:, i]) for i, joint in enumerate(arm.tolist())}
