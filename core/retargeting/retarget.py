"""Clips of one skeleton played by another.

What a joint does is taken as a rotation in the model's space that leads from rest, D = W · W_rest⁻¹. A target
joint does the same: W_target = D · C · W_target_rest, where C turns the target's rest pose into the source's
(a T-pose's arm down, say). Between a joint s and an ancestor b, D_b⁻¹ · D_s is the product of

    E_u = W_rest,u · key_u · W_rest,u⁻¹

over the joints u below b down to s, so the target's key is (C_b · W_t)⁻¹ · Π E_u · C_s · W_t (rest rotations).
Where only one joint in between moves, that is a constant to the left and one to the right of its keys:
the track stays what it is, exact at every instant. Where the trunk's joints are shared out, D is interpolated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.keyed import filled, keys_of, packed, sampled, sandwich
from ..errors import SkeletonMismatchError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons import hanim
from ..skeletons.hierarchy import steps_between
from ..skeletons.maps import SkeletonMap, find_map
from ..skeletons.skeleton import Skeleton, world_from_pose
from .doubles import doubles
from .first_pose import first_pose_end, from_time
from .hips import HipsPath
from .loose import carried, loose_joints
from .matching import SAME_PLACE, Pairing, has_same_joints, pair
from .reference import NONE_STANDS, REST_POSE, Reference, find_reference, rebased, stood_up
from .rest_pose import leg_ratio, rest_corrections
from .upright import Standing, grounded, standing, turned

_UP = np.array((0.0, 1.0, 0.0))
_SAME_REST_RAD = 1e-3
"""Rest poses that differ by less are the same; more is keyed also for joints that the clip leaves alone."""
_OTHER_AXES_RAD = np.radians(50.0)
"""A body whose own axes differ by more than this from the ones that were stated is believed."""


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A clip on its new skeleton, and what became of the joints.

    clip: its skeleton is the target. matched: pairs of names, source and target.
    unmatched_source: joints that move and that nothing plays; unmatched_target: joints that stay at rest.
    is_own: the skeletons are the same one (up to the joints' axes and one scale), and every track plays.
    doubles: joints of the target that follow others, for these stand where they stand and are played.
    source_map: what the clip's joints were taken for. reference: in which pose they were compared, in words.
    left_out_s: how much of the clip's beginning was left out, a pose that is no part of the motion.
    """

    clip: Clip
    matched: tuple[tuple[str, str], ...]
    unmatched_source: tuple[str, ...]
    unmatched_target: tuple[str, ...]
    is_own: bool
    doubles: dict[int, int]
    source_map: SkeletonMap
    reference: str = ""
    left_out_s: float = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done that nobody asked for, one sentence each."""
        pose = (f"compared in {self.reference}",) if self.reference not in ("", REST_POSE) else ()
        left_out = (f"the first {self.left_out_s:.3g} s are a pose that is no part of the motion, and are left out",)
        return pose + (left_out if self.left_out_s else ())


def standing_still(clip: Clip, target: Skeleton, source_map: SkeletonMap) -> Retargeted:
    """Return what stands in for a clip that cannot be played: the target at rest, as long as the clip lasts."""
    still = Clip(clip.name, target, clip.duration_s, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3), clip.is_looping)
    names = tuple(clip.skeleton.names[j] for j in np.flatnonzero(clip.moved))
    return Retargeted(still, (), names, target.names, False, {}, source_map)


def retarget(clip: Clip, target: Skeleton, turn: FloatArray = rot.IDENTITY, *, source_map: SkeletonMap | None = None,
             target_map: SkeletonMap | None = None, skin: BoolArray | None = None,
             keeps_first_pose: bool = False) -> Retargeted:
    """Play a clip on another skeleton.

    turn: (4,) leads from the clip's model axes to the target's, unless both bodies show that it is another one.
    source_map, target_map: what the joints are in H-Anim; found where they are not given.
    skin: (J,) which joints of the target deform its skin; all of them, where it is not given.
    keeps_first_pose: also a T-pose in front of the motion is played (see first_pose.py).
    On its own skeleton every track plays, translations and scales too, to rounding. On another one joints rotate
    only, each from the pose in which the clip's body stands (see reference.py), and the hips go the source's way,
    scaled by the ratio of leg lengths; limbs that do not hang on the body they belong to are carried along with it,
    and so is skin that hangs on the double of a joint that is played.
    Raises SkeletonMismatchError where no joint goes with any other, or it is not certain which.
    """
    bodies = _Bodies.of(clip, source_map or find_map(clip.skeleton), target_map or find_map(target), turn, skin)
    plan, pairs, clip = bodies.plan, bodies.plan.pairs, bodies.source
    start_s = None if keeps_first_pose else first_pose_end(clip)
    if start_s is not None:
        clip = from_time(clip, start_s)
    stood = clip if plan.is_own or not bodies.reference.is_placed else standing(clip, pairs)
    played = _played(bodies, stood)
    if played.skeleton is not target:
        played = rebased(played, target)
    used = np.union1d(pairs.source, pairs.other)
    return Retargeted(
        played, tuple((clip.skeleton.names[s], target.names[t])
                      for s, t in zip(pairs.source.tolist(), pairs.target.tolist(), strict=True)),
        tuple(clip.skeleton.names[j] for j in np.setdiff1d(np.flatnonzero(bodies.moved), used)),
        tuple(target.names[j] for j in np.setdiff1d(np.arange(len(target)), pairs.target)), plan.is_own,
        plan.doubles, bodies.reference.map, bodies.reference.why, start_s or 0.0)


@dataclass(frozen=True, eq=False)
class _Bodies:
    """Two bodies as they are compared.

    source: the clip in the target's axes, on a skeleton that rests in its reference pose. moved: (J,) joints that the
    clip as it came moves. target: the map of the target, made upright where it leans.
    """

    source: Clip
    moved: BoolArray
    target: SkeletonMap
    reference: Reference
    plan: _Plan

    @classmethod
    def of(cls, clip: Clip, source: SkeletonMap, target: SkeletonMap, turn: FloatArray,
           skin: BoolArray | None) -> _Bodies:
        """Compare them as they rest where one is the other, else in the poses in which they stand."""
        deforming = np.ones(len(target.skeleton), np.bool_) if skin is None else skin
        own = Reference(clip, source, None, True, "")
        if has_same_joints(source.skeleton, target.skeleton, clip.moved):
            found = cls._planned(own, clip.moved, target, turn, deforming)
            if found.plan.is_own:
                return found
        return cls._planned(find_reference(clip, source), clip.moved, stood_up(target), turn, deforming)

    @classmethod
    def _planned(cls, reference: Reference, moved: BoolArray, target: SkeletonMap, turn: FloatArray,
                 skin: BoolArray) -> _Bodies:
        both = f"clip {reference.clip.name!r} and skeleton {target.skeleton.name!r}"
        lies = f"the clip is of {NONE_STANDS}" if reference.why == NONE_STANDS else ""
        if lies and reference.map.is_sure and target.is_sure:
            raise SkeletonMismatchError(f"{both} cannot be compared: {lies}. Give it a frame in which the body stands")
        try:
            pairs = pair(reference.map, target, moved)
        except SkeletonMismatchError as error:
            raise SkeletonMismatchError(f"{both} {error}{'; ' * bool(lies)}{lies}") from error
        whole = _turn(turn, reference.map, target)
        upright = turned(reference.clip, whole)
        up = None if target.turn is None else rot.rotate(target.turn, _UP)
        soles = {name: rot.rotate(whole, sole) for name, sole in reference.soles.items()}
        plan = _Plan.of(upright.skeleton, target.skeleton, pairs, skin, up, soles)
        return cls(upright, moved, target, reference, plan)


def _played(bodies: _Bodies, stood: Clip) -> Clip:
    """Make the tracks of the target as it is compared."""
    plan, target = bodies.plan, bodies.target.skeleton
    pairs = plan.pairs
    tracks = _Tracks(stood, target, plan)
    rotations, translations = tracks.rotations(), tracks.translations()
    loose = pairs.target[plan.carried]
    if not plan.is_own and bodies.target.turn is not None:
        up = rot.rotate(bodies.target.turn, _UP)
        is_known = bodies.reference.is_placed
        path = HipsPath.of(stood, target, pairs, plan.ratio, None if is_known else up)
        if path is not None:
            translations = path.followed(rotations, translations)
        here = Standing(target, rotations, carried(target, loose, rotations, translations), up)
        there = Standing(stood.skeleton, stood.rotations, stood.translations, up)
        is_high = is_known and stood.skeleton is bodies.source.skeleton
        translations = grounded(there, here, pairs, translations, plan.ratio, is_high)
    translations = carried(target, loose, rotations, translations)
    return Clip(stood.name, target, stood.duration_s, rotations, translations, tracks.scales(), stood.is_looping)


def _turn(stated: FloatArray, source: SkeletonMap, target: SkeletonMap) -> FloatArray:
    if source.turn is None or target.turn is None or not (source.is_sure and target.is_sure):
        return stated
    seen = rot.multiply(target.turn, rot.conjugate(source.turn))
    return seen if rot.angle_between(seen, stated) > _OTHER_AXES_RAD else stated


class _Steps(NamedTuple):
    """How to come from one source joint to another: up against `up`, then down along `down`, top first."""

    up: tuple[int, ...]
    down: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is the same for all keys.

    pairs: with the doubles. above: (P,) the pair of each target joint's nearest paired ancestor, or −1.
    carried: pairs (C, 2) whose target joint belongs to the second's body part but does not hang on it.
    doubles: see Retargeted.
    """

    pairs: Pairing
    above: IntArray
    steps: tuple[_Steps, ...]
    corrections: FloatArray
    ratio: float
    is_own: bool
    carried: IntArray
    doubles: dict[int, int]

    @classmethod
    def of(cls, source: Skeleton, target: Skeleton, pairs: Pairing, skin: BoolArray, up: FloatArray | None,
           soles: Mapping[str, FloatArray]) -> _Plan:
        """Plan for a target with skin on some joints (J,); up and soles: see rest_corrections."""
        above = _paired_ancestors(target, pairs)
        steps = _all_steps(source, pairs, above)
        ratio = leg_ratio(source, target, pairs, above)
        ratio = 1.0 if abs(ratio - 1.0) < SAME_PLACE else ratio
        if _is_own(source, target, pairs, steps, above, ratio):
            return cls(pairs, above, steps, rot.identities(len(pairs)), ratio, True, np.zeros((0, 2), np.int64), {})
        found = doubles(target, pairs, skin)
        followed = {joint: int(pairs.target[p]) for joint, p in found.items()}
        if found:
            pairs = pairs.with_joints(found)
            above = _paired_ancestors(target, pairs)
            steps = _all_steps(source, pairs, above)
        rows = np.array(list(followed.items()), dtype=np.int64).reshape(-1, 2)
        carried = np.concatenate((loose_joints(target, pairs), np.searchsorted(pairs.target, rows)))
        over = above.copy()
        over[carried[:, 0]] = carried[:, 1]
        return cls(pairs, above, steps, rest_corrections(source, target, pairs, over, up, soles), ratio,
                   False, carried, followed)

    def translated(self) -> IntArray:
        """Pairs that move as well as turn."""
        if self.is_own:
            return np.arange(len(self.pairs))
        trunk: list[int] = []
        for top in np.setdiff1d(np.flatnonzero(self.above < 0), self.carried[:, 0]):
            way = [int(top)]
            while len(below := np.flatnonzero(self.above == way[-1])) == 1:
                way.append(int(below[0]))
            trunk += way if len(below) else way[:1]
        return np.array(trunk, dtype=np.int64)

    def is_mixed(self, p: int) -> bool:
        """Tell whether a pair, or the one above it, has a share in two source joints."""
        return bool(self.pairs.share[p] > 0.0 or (self.above[p] >= 0 and self.pairs.share[self.above[p]] > 0.0))


def _paired_ancestors(target: Skeleton, pairs: Pairing) -> IntArray:
    pair_of = np.full(len(target), -1, dtype=np.int64)
    pair_of[pairs.target] = np.arange(len(pairs))
    nearest = np.full(len(target), -1, dtype=np.int64)
    for joint, parent in enumerate(target.parents):
        if parent >= 0:
            nearest[joint] = pair_of[parent] if pair_of[parent] >= 0 else nearest[parent]
    return nearest[pairs.target]


def _all_steps(source: Skeleton, pairs: Pairing, above: IntArray) -> tuple[_Steps, ...]:
    return tuple(_Steps(*steps_between(source.parents, int(pairs.source[above[p]]) if above[p] >= 0 else -1, int(s)))
                 for p, s in enumerate(pairs.source))


def _is_own(source: Skeleton, target: Skeleton, pairs: Pairing, steps: Sequence[_Steps], above: IntArray,
            ratio: float) -> bool:
    """Tell whether paired joints hang together and stand in the same way on both sides."""
    parents = target.parents[pairs.target]
    is_direct = not pairs.share.any() and all(
        step.up == () and len(step.down) == 1 and (above[p] < 0) == (parents[p] < 0)
        and (above[p] < 0 or pairs.target[above[p]] == parents[p]) for p, step in enumerate(steps))
    here, there = source.rest_world[pairs.source], target.rest_world[pairs.target]
    size = np.ptp(there[:, :, 3], axis=0).max()
    stretch = np.linalg.norm(here[:, :, :3], axis=1).prod(axis=1) - np.linalg.norm(there[:, :, :3], axis=1).prod(axis=1)
    return bool(is_direct and np.abs(there[:, :, 3] - ratio * here[:, :, 3]).max() <= SAME_PLACE * size
                and np.abs(stretch).max() <= SAME_PLACE)


class _Tracks:
    """Makes the target's tracks, channel by channel; loops over joints, never over keys."""

    def __init__(self, clip: Clip, target: Skeleton, plan: _Plan) -> None:
        self._clip, self._target, self._plan = clip, target, plan
        self._rotating = {int(j): i for i, j in enumerate(clip.rotations.joints)}
        self._moving = {int(j): i for i, j in enumerate(clip.translations.joints)}
        self._wholes: dict[int, FloatArray] = {}
        self._scaling = {int(j): i for i, j in enumerate(clip.scales.joints)}

    def rotations(self) -> Tracks:
        """Make the tracks of all pairs that turn, or whose rest differs."""
        plan, world = self._plan, self._clip.skeleton.rest_world_rotations
        rest = self._target.rest_world_rotations[plan.pairs.target]
        above = np.where(plan.above[:, None] >= 0, plan.corrections[plan.above], rot.IDENTITY)
        lefts, rights = rot.conjugate(rot.multiply(above, rest)), rot.multiply(plan.corrections, rest)
        tracks: list[tuple[int, FloatArray, FloatArray]] = []
        for p, (t, steps, left, right) in enumerate(zip(plan.pairs.target, plan.steps, lefts, rights, strict=True)):
            moved = [u for u in (*steps.up, *steps.down) if u in self._rotating]
            if plan.is_mixed(p) and len(self._rotating):
                here = rot.multiply(rot.multiply(left, self._mixed(p)), right)
                tracks.append((int(t), self._grid, rot.continuous(here)))
            elif len(moved) == 1 and moved[0] in steps.down:
                u = moved[0]
                times, keys = keys_of(self._clip.rotations, self._rotating[u])
                both = sandwich(rot.multiply(left, world[u]), rot.multiply(rot.conjugate(world[u]), right))
                tracks.append((int(t), times, keys @ both.T))
            elif moved:
                times = self._times(self._clip.rotations, [self._rotating[u] for u in moved])
                tracks.append((int(t), times, rot.multiply(rot.multiply(left, self._product(steps, times)), right)))
            elif rot.angle_between(left, rot.conjugate(right)) > _SAME_REST_RAD and (
                    self._legs_move or (plan.pairs.meant[p] or "")[2:] not in hanim.LEG):
                tracks.append((int(t), np.zeros(1), rot.multiply(left, right)[None]))
        return packed(tracks, 4)

    @cached_property
    def _legs_move(self) -> bool:
        """Tell whether the clip moves a leg, or the root; legs that it leaves alone are left where they stand."""
        pairs, moved = self._plan.pairs, self._clip.moved
        return any(bool(moved[s]) for s, meant in zip(pairs.source.tolist(), pairs.meant, strict=True)
                   if meant == hanim.ROOT or (meant or "")[2:] in hanim.LEG)

    def _product(self, steps: _Steps, times: FloatArray) -> FloatArray:
        """Return D_b⁻¹ · D_s over times, (F, 4)."""
        world = self._clip.skeleton.rest_world_rotations

        def along(joints: Sequence[int]) -> FloatArray:
            whole = rot.identities(len(times))
            for u in joints:
                if u in self._rotating:
                    keys = sampled(self._clip.rotations, self._rotating[u], times)
                    whole = rot.multiply(whole, keys @ sandwich(world[u], rot.conjugate(world[u])).T)
            return whole

        return rot.continuous(rot.multiply(rot.conjugate(along(steps.up)), along(steps.down)))

    def _mixed(self, p: int) -> FloatArray:
        """Return D_b⁻¹ · D_s over the grid (F, 4), either of them between two source joints."""
        plan = self._plan
        whole = self._between(p)
        if plan.above[p] < 0:
            return whole
        return rot.multiply(rot.conjugate(self._between(int(plan.above[p]))), whole)

    def _between(self, p: int) -> FloatArray:
        a, b, share = int(self._plan.pairs.source[p]), int(self._plan.pairs.other[p]), float(self._plan.pairs.share[p])
        return rot.slerp(self._whole(a), self._whole(b), share) if share > 0.0 else self._whole(a)

    def _whole(self, joint: int) -> FloatArray:
        """Return D of a source joint over the grid, (F, 4)."""
        if joint not in self._wholes:
            skeleton, world = self._clip.skeleton, self._clip.skeleton.rest_world_rotations
            parent = int(skeleton.parents[joint])
            whole = self._whole(parent) if parent >= 0 else rot.identities(len(self._grid))
            if joint in self._rotating:
                keys = sampled(self._clip.rotations, self._rotating[joint], self._grid)
                whole = rot.multiply(whole, keys @ sandwich(world[joint], rot.conjugate(world[joint])).T)
            self._wholes[joint] = whole
        return self._wholes[joint]

    @cached_property
    def _grid(self) -> FloatArray:
        """Times (F,) of all keys of rotations, with more where they stand far apart."""
        return filled(np.unique(self._clip.rotations.times_s))

    def translations(self) -> Tracks:
        """Make the tracks of the pairs that move."""
        plan, source = self._plan, self._clip.skeleton
        tracks: list[tuple[int, FloatArray, FloatArray]] = []
        for p in plan.translated():
            s, t = int(plan.pairs.source[p]), int(plan.pairs.target[p])
            steps = plan.steps[p]
            local_from_model = plan.ratio * np.linalg.inv(_linear_above(self._target, t))
            between = [u for u in (*steps.up, *steps.down) if u != s]
            if any(u in self._rotating or u in self._moving or u in self._scaling for u in between):
                times, way = self._displacement(p)
                tracks.append((t, times, way @ local_from_model.T))
            elif s in self._moving:
                times, keys = keys_of(self._clip.translations, self._moving[s])
                tracks.append((t, times, keys @ (local_from_model @ _linear_above(source, s)).T))
        return packed(tracks, 3)

    def _displacement(self, p: int) -> tuple[FloatArray, FloatArray]:
        """Return times (F,) and how far the source joint is from rest, seen from its matched ancestor at rest."""
        clip, plan = self._clip, self._plan
        s, b = int(plan.pairs.source[p]), int(plan.pairs.source[plan.above[p]]) if plan.above[p] >= 0 else -1
        between = {*plan.steps[p].up, *plan.steps[p].down}
        times = filled(np.unique(np.concatenate([
            keys_of(channel, i)[0] for channel in (clip.rotations, clip.translations, clip.scales)
            for i, joint in enumerate(channel.joints) if int(joint) in between])))
        world, rest = world_from_pose(clip.skeleton, clip.sample(times)), clip.skeleton.rest_world
        if b < 0:
            return times, world[:, s, :, 3] - rest[s, :, 3]
        seen = np.linalg.solve(world[:, b, :, :3], (world[:, s, :, 3] - world[:, b, :, 3])[..., None])[..., 0]
        return times, seen @ rest[b, :, :3].T - (rest[s, :, 3] - rest[b, :, 3])

    def scales(self) -> Tracks:
        """Scale on the clip's own skeleton: K · diag(s) · Kᵀ in other axes, of which the diagonal is kept."""
        plan, tracks = self._plan, []
        if plan.is_own:
            target_from_source = rot.to_matrix(rot.multiply(
                rot.conjugate(self._target.rest_world_rotations[plan.pairs.target]),
                self._clip.skeleton.rest_world_rotations[plan.pairs.source]))
            for s, t, turn in zip(plan.pairs.source, plan.pairs.target, target_from_source, strict=True):
                if int(s) in self._scaling:
                    times, keys = keys_of(self._clip.scales, self._scaling[int(s)])
                    tracks.append((int(t), times, keys @ (turn * turn).T))
        return packed(tracks, 3)

    def _times(self, tracks: Tracks, indices: Sequence[int]) -> FloatArray:
        return filled(np.unique(np.concatenate([keys_of(tracks, i)[0] for i in indices])))


def _linear_above(skeleton: Skeleton, joint: int) -> FloatArray:
    """Return the rest axes, scale included, of a joint's parent, (3, 3)."""
    parent = skeleton.parents[joint]
    return skeleton.rest_world[parent, :, :3] if parent >= 0 else np.eye(3)
