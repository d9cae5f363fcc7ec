"""Tracks that make a target move like a clip's skeleton.

A source joint's motion is a rotation of model space from rest, D = W · W_rest⁻¹. A target joint copies it: W_target = D
· C · W_target_rest, where C turns the target's rest pose into the source's (a T-pose's arm down, say). Between a joint
s and an ancestor b, D_b⁻¹ · D_s is the product of

    E_u = W_rest,u · key_u · W_rest,u⁻¹

over the joints u below b down to s. So the target's key is (C_b · W_t)⁻¹ · Π E_u · C_s · W_t (rest rotations). If only
one joint in between moves, that is a constant to the left and one to the right of its keys. Then the track keeps its
keys and is exact at every instant. If the trunk's joints are shared out, D is interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.keyed import filled, keys_of, packed, sampled, sandwich
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, merged
from ..skeletons import hanim
from ..skeletons.skeleton import Skeleton, world_from_pose
from .plan import Plan, Steps

_SAME_REST_RAD = 1e-3
"""Rest poses that differ by less are the same; more is keyed also for joints that the clip does not move."""


class TargetTracks:
    """Makes the target's tracks, channel by channel; loops over joints, never over keys."""

    def __init__(self, clip: Clip, target: Skeleton, plan: Plan) -> None:
        self._clip, self._target, self._plan = clip, target, plan
        self._rotating = {int(j): i for i, j in enumerate(clip.rotations.joints)}
        self._moving = {int(j): i for i, j in enumerate(clip.translations.joints)}
        self._wholes: dict[int, FloatArray] = {}
        self._scaling = {int(j): i for i, j in enumerate(clip.scales.joints)}

    def rotations(self) -> Tracks:
        """Make the tracks of all pairs that rotate, or whose rest poses differ."""
        plan, world = self._plan, self._clip.skeleton.rest_world_rotations
        rest = self._target.rest_world_rotations[plan.pairs.target]
        above = np.where(plan.above[:, None] >= 0, plan.corrections[plan.above], rot.IDENTITY)
        lefts, rights = rot.conjugate(rot.multiply(above, rest)), rot.multiply(plan.corrections, rest)
        every = [[u for u in (*steps.up, *steps.down) if u in self._rotating] for steps in plan.steps]
        axes = world[[moved[0] if moved else 0 for moved in every]]
        alone = sandwich(rot.multiply(lefts, axes), rot.multiply(rot.conjugate(axes), rights)).swapaxes(1, 2)
        tracks: list[tuple[int, FloatArray, FloatArray]] = []
        for p, (t, steps, left, right) in enumerate(zip(plan.pairs.target, plan.steps, lefts, rights, strict=True)):
            moved = every[p]
            if plan.is_mixed(p) and len(self._rotating):
                here = rot.multiply(rot.multiply(left, self._mixed(p)), right)
                tracks.append((int(t), self._grid, rot.continuous(here)))
            elif len(moved) == 1 and moved[0] in steps.down:
                times, keys = keys_of(self._clip.rotations, self._rotating[moved[0]])
                tracks.append((int(t), times, keys @ alone[p]))
            elif moved:
                times = self._times(self._clip.rotations, [self._rotating[u] for u in moved])
                tracks.append((int(t), times, rot.multiply(rot.multiply(left, self._product(steps, times)), right)))
            elif rot.angle_between(left, rot.conjugate(right)) > _SAME_REST_RAD and (
                    self._legs_move or (plan.pairs.meant[p] or "")[2:] not in hanim.LEG):
                tracks.append((int(t), np.zeros(1), rot.multiply(left, right)[None]))
        return packed(tracks, 4)

    @cached_property
    def _legs_move(self) -> bool:
        """Return whether the clip moves a leg or the root; else the legs stay at rest."""
        pairs, moved = self._plan.pairs, self._clip.moved
        return any(bool(moved[s]) for s, meant in zip(pairs.source.tolist(), pairs.meant, strict=True)
                   if meant == hanim.ROOT or (meant or "")[2:] in hanim.LEG)

    def _product(self, steps: Steps, times: FloatArray) -> FloatArray:
        """Return D_b⁻¹ · D_s at times (F,), (F, 4)."""
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
        """Return D_b⁻¹ · D_s at grid times (F, 4), where either may be blended from two source joints."""
        plan = self._plan
        whole = self._between(p)
        if plan.above[p] < 0:
            return whole
        return rot.multiply(rot.conjugate(self._between(int(plan.above[p]))), whole)

    def _between(self, p: int) -> FloatArray:
        a, b, share = int(self._plan.pairs.source[p]), int(self._plan.pairs.other[p]), float(self._plan.pairs.share[p])
        return rot.slerp(self._whole(a), self._whole(b), share) if share > 0.0 else self._whole(a)

    def _whole(self, joint: int) -> FloatArray:
        """Return D of a source joint at grid times, (F, 4)."""
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
        """Times (F,) of all rotation keys, with more where they are far apart."""
        return filled(self._clip.rotations.different_times)

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
                times, displacement = self._displacement(p)
                tracks.append((t, times, displacement @ local_from_model.T))
            elif s in steps.down and s in self._moving:  # else the pair above follows the same joint
                times, keys = keys_of(self._clip.translations, self._moving[s])
                tracks.append((t, times, keys @ (local_from_model @ _linear_above(source, s)).T))
        return packed(tracks, 3)

    def _displacement(self, p: int) -> tuple[FloatArray, FloatArray]:
        """Return times (F,) and the source joint's displacement from rest, relative to its matched ancestor at rest."""
        clip, plan = self._clip, self._plan
        s, b = int(plan.pairs.source[p]), int(plan.pairs.source[plan.above[p]]) if plan.above[p] >= 0 else -1
        between = {*plan.steps[p].up, *plan.steps[p].down}
        times = filled(merged(*(
            keys_of(channel, i)[0] for channel in (clip.rotations, clip.translations, clip.scales)
            for i, joint in enumerate(channel.joints) if int(joint) in between)))
        world, rest = world_from_pose(clip.skeleton, clip.sample(times)), clip.skeleton.rest_world
        if b < 0:
            return times, world[:, s, :, 3] - rest[s, :, 3]
        seen = np.linalg.solve(world[:, b, :, :3], (world[:, s, :, 3] - world[:, b, :, 3])[..., None])[..., 0]
        return times, seen @ rest[b, :, :3].T - (rest[s, :, 3] - rest[b, :, 3])

    def scales(self) -> Tracks:
        """Scale tracks on the clip's own skeleton: K · diag(s) · Kᵀ in other axes, of which the diagonal is kept."""
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
        return filled(merged(*(keys_of(tracks, i)[0] for i in indices)))


def _linear_above(skeleton: Skeleton, joint: int) -> FloatArray:
    """Return the rest axes of a joint's parent, scale included, (3, 3)."""
    parent = skeleton.parents[joint]
    return skeleton.rest_world[parent, :, :3] if parent >= 0 else np.eye(3)
