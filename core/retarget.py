"""Clips of one skeleton played by another.

What a joint does is taken as a rotation in the model's space that leads from rest, D = W · W_rest⁻¹. A target
joint does the same: W_target = D · C · W_target_rest, where C turns the target's rest pose into the source's
(a T-pose's arm down, say). Between a joint s and an ancestor b, D_b⁻¹ · D_s is the product of

    E_u = W_rest,u · key_u · W_rest,u⁻¹

over the joints u below b down to s, so the target's key is (C_b · W_t)⁻¹ · Π E_u · C_s · W_t (rest rotations).
Where only one joint in between moves, that is a constant to the left and one to the right of its keys:
the track stays what it is, exact at every instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from . import hanim
from . import rotations as rot
from .arrays import FloatArray, IntArray
from .clip import Clip, Tracks
from .errors import SkeletonMismatchError
from .skeleton import Skeleton, world_from_pose

SAME_PLACE: Final = 1e-4
"""Joints of one skeleton stand in the same places, to this share of its size."""

SAMPLE_S: Final = 1.0 / 30.0
"""Longest time between keys where several joints' rotations become one joint's."""

_SAME_ANGLE_RAD = 1e-9
_NAMES_SHOWN = 40


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A clip on its new skeleton, and what became of the joints.

    clip: its skeleton is the target. matched: pairs of names, source and target.
    unmatched_source: joints that nothing plays; unmatched_target: joints that stay at rest.
    is_own: the skeletons are the same one (up to the joints' axes and one scale), and every track plays.
    """

    clip: Clip
    matched: tuple[tuple[str, str], ...]
    unmatched_source: tuple[str, ...]
    unmatched_target: tuple[str, ...]
    is_own: bool


def retarget(clip: Clip, target: Skeleton, turn: FloatArray = rot.IDENTITY) -> Retargeted:
    """Play a clip on another skeleton.

    turn: (4,) leads from the clip's model axes to the target's.
    Joints go together by equal names, then by what they are called in H-Anim. On its own skeleton every track
    plays, translations and scales too, to rounding. On another one joints rotate only, and the joints from the
    root down to where the skeleton first branches also move, scaled by the ratio of leg lengths.
    Raises SkeletonMismatchError where no joint goes with any other.
    """
    source_clip = _turned(clip, turn)
    source = source_clip.skeleton
    pairs = match(source, target)
    if not len(pairs):
        raise SkeletonMismatchError(
            f"clip {clip.name!r} and skeleton {target.name!r} have no joint in common. The clip's joints: "
            f"{_listed(source.names)}. The skeleton's: {_listed(target.names)}. Rename joints so that they are the "
            f"same, or H-Anim's")
    plan = _Plan.of(source, target, pairs)
    tracks = _Tracks(source_clip, target, plan)
    played = Clip(clip.name, target, clip.duration_s, tracks.rotations(), tracks.translations(), tracks.scales(),
                  clip.is_looping)
    return Retargeted(
        played, tuple((source.names[s], target.names[t]) for s, t in pairs),
        tuple(source.names[j] for j in np.setdiff1d(np.arange(len(source)), pairs[:, 0])),
        tuple(target.names[j] for j in np.setdiff1d(np.arange(len(target)), pairs[:, 1])), plan.is_own)


def match(source: Skeleton, target: Skeleton) -> IntArray:
    """Return pairs (P, 2) of source and target joints in the target's order: equal names first, then H-Anim's."""
    of_target = {t: source.index_of[name] for t, name in enumerate(target.names) if name in source.index_of}
    taken = set(of_target.values())
    meant = {name: s for s, name in enumerate(hanim.canonical_names(source.names)) if name and s not in taken}
    for t, name in enumerate(hanim.canonical_names(target.names)):
        if name in meant and t not in of_target:
            of_target[t] = meant[name]
    return np.array([(of_target[t], t) for t in sorted(of_target)], dtype=np.int64).reshape(-1, 2)


def rest_corrections(source: Skeleton, target: Skeleton, pairs: IntArray) -> FloatArray:
    """Return for each pair the rotation C (P, 4), in model space, from the target's rest to the source's.

    Limbs of H-Anim skeletons are laid along the source's limbs, each segment by the shortest way after its
    parent's turn, so that clips go between T-poses, A-poses and hanging arms. Hands follow the forearm; feet,
    which stand on the ground in every rest pose, and the trunk stay as they are.
    """
    return _corrections(source, target, pairs, _matched_ancestors(target, pairs))


def _corrections(source: Skeleton, target: Skeleton, pairs: IntArray, above: IntArray) -> FloatArray:
    meant = [s or t for s, t in zip((hanim.canonical_names(source.names)[s] for s in pairs[:, 0]),
                                    (hanim.canonical_names(target.names)[t] for t in pairs[:, 1]), strict=True)]
    pair_of = {name: p for p, name in enumerate(meant) if name}
    corrections = rot.identities(len(pairs))
    from_place, to_place = target.rest_world[pairs[:, 1], :, 3], source.rest_world[pairs[:, 0], :, 3]
    for p, name in enumerate(meant):
        if above[p] >= 0 and name not in _FEET:
            corrections[p] = corrections[above[p]]
        end = pair_of.get(_NEXT_IN_LIMB.get(name or "", ""))
        if end is not None:
            now = rot.rotate(corrections[p], from_place[end] - from_place[p])
            corrections[p] = rot.multiply(_shortest_arc(now, to_place[end] - to_place[p]), corrections[p])
    return corrections


def _limbs() -> dict[str, str]:
    """Return for each joint of a limb the one at the end of its segment."""
    chains: list[tuple[str, ...]] = [("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"),
                                     ("thumb1", "thumb2", "thumb3")]
    chains += [tuple(f"{finger}{i}" for i in range(4)) for finger in ("index", "middle", "ring", "pinky")]
    return {f"{side}_{a}": f"{side}_{b}" for side in "lr" for chain in chains for a, b in pairwise(chain)}


_NEXT_IN_LIMB: Final = _limbs()
_FEET: Final = frozenset(f"{side}_ankle" for side in "lr")


class _Steps(NamedTuple):
    """How to come from one source joint to another: up against `up`, then down along `down`, top first."""

    up: tuple[int, ...]
    down: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is the same for all keys. above: (P,) the pair of each target joint's nearest matched ancestor, or −1."""

    pairs: IntArray
    above: IntArray
    steps: tuple[_Steps, ...]
    corrections: FloatArray
    ratio: float
    is_own: bool

    @classmethod
    def of(cls, source: Skeleton, target: Skeleton, pairs: IntArray) -> _Plan:
        above = _matched_ancestors(target, pairs)
        steps = tuple(_steps(source, int(pairs[above[p], 0]) if above[p] >= 0 else -1, int(s))
                      for p, (s, _) in enumerate(pairs))
        ratio = _size_ratio(source, target, pairs, above)
        is_own = _is_own(source, target, pairs, steps, above, ratio)
        corrections = rot.identities(len(pairs)) if is_own else _corrections(source, target, pairs, above)
        return cls(pairs, above, steps, corrections, ratio, is_own)

    def translated(self) -> IntArray:
        """Pairs that move as well as turn."""
        if self.is_own:
            return np.arange(len(self.pairs))
        trunk: list[int] = []
        for top in np.flatnonzero(self.above < 0):
            way = [int(top)]
            while len(below := np.flatnonzero(self.above == way[-1])) == 1:
                way.append(int(below[0]))
            trunk += way if len(below) else way[:1]
        return np.array(trunk, dtype=np.int64)


def _matched_ancestors(target: Skeleton, pairs: IntArray) -> IntArray:
    pair_of = np.full(len(target), -1, dtype=np.int64)
    pair_of[pairs[:, 1]] = np.arange(len(pairs))
    nearest = np.full(len(target), -1, dtype=np.int64)
    for joint, parent in enumerate(target.parents):
        if parent >= 0:
            nearest[joint] = pair_of[parent] if pair_of[parent] >= 0 else nearest[parent]
    return nearest[pairs[:, 1]]


def _steps(source: Skeleton, start: int, end: int) -> _Steps:
    def upwards(joint: int) -> list[int]:
        way = []
        while joint >= 0:
            way.append(joint)
            joint = int(source.parents[joint])
        return way

    up, down = upwards(start), upwards(end)
    while up and down and up[-1] == down[-1]:
        up.pop()
        down.pop()
    return _Steps(tuple(reversed(up)), tuple(reversed(down)))


def _size_ratio(source: Skeleton, target: Skeleton, pairs: IntArray, above: IntArray) -> float:
    """Return how much larger the target is: by its legs, where both have them, else by all matched bones."""
    meant = hanim.canonical_names(source.names)
    pair_of = {meant[s]: p for p, s in enumerate(pairs[:, 0]) if meant[s]}
    segments = [(f"{side}_{a}", f"{side}_{b}") for side in "lr" for a, b in (("hip", "knee"), ("knee", "ankle"))]
    legs = [(pair_of[a], pair_of[b]) for a, b in segments if a in pair_of and b in pair_of]
    bones = np.array(legs or [(above[p], p) for p in range(len(pairs)) if above[p] >= 0], dtype=np.int64).reshape(-1, 2)

    def total(skeleton: Skeleton, joints: IntArray) -> float:
        place = skeleton.rest_world[joints, :, 3]
        return float(np.linalg.norm(place[bones[:, 1]] - place[bones[:, 0]], axis=1).sum())

    before, after = total(source, pairs[:, 0]), total(target, pairs[:, 1])
    ratio = after / before if before > 0.0 and after > 0.0 else 1.0
    return 1.0 if abs(ratio - 1.0) < SAME_PLACE else ratio


def _is_own(source: Skeleton, target: Skeleton, pairs: IntArray, steps: Sequence[_Steps], above: IntArray,
            ratio: float) -> bool:
    """Tell whether matched joints hang together and stand in the same way on both sides."""
    parents = target.parents[pairs[:, 1]]
    is_direct = all(step.up == () and len(step.down) == 1 and (above[p] < 0) == (parents[p] < 0)
                    and (above[p] < 0 or pairs[above[p], 1] == parents[p]) for p, step in enumerate(steps))
    here, there = source.rest_world[pairs[:, 0]], target.rest_world[pairs[:, 1]]
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
        self._scaling = {int(j): i for i, j in enumerate(clip.scales.joints)}

    def rotations(self) -> Tracks:
        """Make the tracks of all pairs that turn, or whose rest differs."""
        plan, world = self._plan, self._clip.skeleton.rest_world_rotations
        rest = self._target.rest_world_rotations[plan.pairs[:, 1]]
        above = np.where(plan.above[:, None] >= 0, plan.corrections[plan.above], rot.IDENTITY)
        lefts, rights = rot.conjugate(rot.multiply(above, rest)), rot.multiply(plan.corrections, rest)
        tracks: list[tuple[int, FloatArray, FloatArray]] = []
        for (_, t), steps, left, right in zip(plan.pairs, plan.steps, lefts, rights, strict=True):
            moved = [u for u in (*steps.up, *steps.down) if u in self._rotating]
            if len(moved) == 1 and moved[0] in steps.down:
                u = moved[0]
                times, keys = _keys(self._clip.rotations, self._rotating[u])
                both = _sandwich(rot.multiply(left, world[u]), rot.multiply(rot.conjugate(world[u]), right))
                tracks.append((int(t), times, keys @ both.T))
            elif moved:
                times = self._times(self._clip.rotations, [self._rotating[u] for u in moved])
                tracks.append((int(t), times, rot.multiply(rot.multiply(left, self._product(steps, times)), right)))
            elif rot.angle_between(left, rot.conjugate(right)) > _SAME_ANGLE_RAD:
                tracks.append((int(t), np.zeros(1), rot.multiply(left, right)[None]))
        return _packed(tracks, 4)

    def _product(self, steps: _Steps, times: FloatArray) -> FloatArray:
        """Return D_b⁻¹ · D_s over times, (F, 4)."""
        world = self._clip.skeleton.rest_world_rotations

        def along(joints: Sequence[int]) -> FloatArray:
            whole = rot.identities(len(times))
            for u in joints:
                if u in self._rotating:
                    keys = _sampled(self._clip.rotations, self._rotating[u], times)
                    whole = rot.multiply(whole, keys @ _sandwich(world[u], rot.conjugate(world[u])).T)
            return whole

        return rot.continuous(rot.multiply(rot.conjugate(along(steps.up)), along(steps.down)))

    def translations(self) -> Tracks:
        """Make the tracks of the pairs that move."""
        plan, source = self._plan, self._clip.skeleton
        tracks: list[tuple[int, FloatArray, FloatArray]] = []
        for p in plan.translated():
            s, t = (int(j) for j in plan.pairs[p])
            steps = plan.steps[p]
            local_from_model = plan.ratio * np.linalg.inv(_linear_above(self._target, t))
            between = [u for u in (*steps.up, *steps.down) if u != s]
            if any(u in self._rotating or u in self._moving or u in self._scaling for u in between):
                times, way = self._displacement(p)
                tracks.append((t, times, way @ local_from_model.T))
            elif s in self._moving:
                times, keys = _keys(self._clip.translations, self._moving[s])
                tracks.append((t, times, keys @ (local_from_model @ _linear_above(source, s)).T))
        return _packed(tracks, 3)

    def _displacement(self, p: int) -> tuple[FloatArray, FloatArray]:
        """Return times (F,) and how far the source joint is from rest, seen from its matched ancestor at rest."""
        clip, plan = self._clip, self._plan
        s, b = int(plan.pairs[p, 0]), int(plan.pairs[plan.above[p], 0]) if plan.above[p] >= 0 else -1
        between = {*plan.steps[p].up, *plan.steps[p].down}
        times = _filled(np.unique(np.concatenate([
            _keys(channel, i)[0] for channel in (clip.rotations, clip.translations, clip.scales)
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
                rot.conjugate(self._target.rest_world_rotations[plan.pairs[:, 1]]),
                self._clip.skeleton.rest_world_rotations[plan.pairs[:, 0]]))
            for (s, t), turn in zip(plan.pairs, target_from_source, strict=True):
                if int(s) in self._scaling:
                    times, keys = _keys(self._clip.scales, self._scaling[int(s)])
                    tracks.append((int(t), times, keys @ (turn * turn).T))
        return _packed(tracks, 3)

    def _times(self, tracks: Tracks, indices: Sequence[int]) -> FloatArray:
        return _filled(np.unique(np.concatenate([_keys(tracks, i)[0] for i in indices])))


def _filled(times: FloatArray) -> FloatArray:
    """Add times between the first and the last, so that no gap is much longer than SAMPLE_S."""
    steps = int(np.ceil((times[-1] - times[0]) / SAMPLE_S))
    if np.diff(times).max(initial=0.0) <= SAMPLE_S:
        return times
    return np.union1d(times, np.linspace(times[0], times[-1], steps + 1))


def _keys(tracks: Tracks, index: int) -> tuple[FloatArray, FloatArray]:
    part = slice(int(tracks.starts[index]), int(tracks.starts[index + 1]))
    return tracks.times_s[part], tracks.values[part]


def _sampled(tracks: Tracks, index: int, times: FloatArray) -> FloatArray:
    own_times, values = _keys(tracks, index)
    if np.array_equal(own_times, times):
        return values
    alone = Tracks(np.zeros(1, np.int64), np.array((0, len(own_times))), own_times, values)
    before, after, share = alone.neighbours(times)
    return rot.nlerp(values[before[:, 0]], values[after[:, 0]], share[:, 0])


def _packed(tracks: Sequence[tuple[int, FloatArray, FloatArray]], channels: int) -> Tracks:
    if not tracks:
        return Tracks.empty(channels)
    joints, times, values = zip(*tracks, strict=True)
    starts = np.cumsum([0, *map(len, times)])
    return Tracks(np.array(joints, dtype=np.int64), starts, np.concatenate(times), np.concatenate(values))


def _sandwich(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the matrix (4, 4) of q ↦ left · q · right."""
    basis = np.eye(4)
    return rot.multiply(rot.multiply(left, basis), right).T


def _linear_above(skeleton: Skeleton, joint: int) -> FloatArray:
    """Return the rest axes, scale included, of a joint's parent, (3, 3)."""
    parent = skeleton.parents[joint]
    return skeleton.rest_world[parent, :, :3] if parent >= 0 else np.eye(3)


def _shortest_arc(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the smallest rotation (4,) that leads the direction of a to that of b; none where one is zero."""
    length = np.linalg.norm(a) * np.linalg.norm(b)
    if length <= 0.0:
        return rot.IDENTITY
    axis = np.cross(a, b)
    if np.linalg.norm(axis) < 1e-12 * length and a @ b < 0.0:
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    return rot.from_axis_angle(axis, np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _turned(clip: Clip, turn: FloatArray) -> Clip:
    """Return the clip in other model axes: its roots' rest and translations turn, all else is relative to them."""
    if rot.angle_between(turn, rot.IDENTITY) <= _SAME_ANGLE_RAD:
        return clip
    moves = clip.translations
    of_root = np.repeat(clip.skeleton.parents[moves.joints] < 0, np.diff(moves.starts))
    values = np.where(of_root[:, None], rot.rotate(turn, moves.values), moves.values)
    return Clip(clip.name, clip.skeleton.turned(turn), clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
