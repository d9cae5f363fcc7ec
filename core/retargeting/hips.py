"""The path of the hips in model space, whichever joints of either skeleton move them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.keyed import by_joint, filled, key_times, packed_by_joint
from ..clips.posed import PosedJoints
from ..maths.arrays import FloatArray, IntArray, merged
from ..skeletons import hanim
from ..skeletons.hierarchy import is_descendant, path_to_root, with_ancestors
from ..skeletons.skeleton import Skeleton
from .comparing.matching import Pairing

HIPS: Final = ("l_hip", "r_hip")
_STILL = 1e-9


@dataclass(frozen=True, eq=False)
class HipsPath:
    """The path that the midpoint of a target's hips has to follow.

    carrier: the target's joint that is moved. hips: (2,) of the target. times (F,), positions (F, 3): in the target's
    model space.
    """

    target: Skeleton
    carrier: int
    hips: IntArray
    times: FloatArray
    positions: FloatArray

    @classmethod
    def of(cls, source: Clip, target: Skeleton, pairs: Pairing, ratio: float, up: FloatArray | None) -> HipsPath | None:
        """Scale the path of the source's hips by the leg ratio; None if they do not move, or are unknown.

        up: (3,), given if the source's rest pose does not show where the body is. The path then keeps the file's
        horizontal positions.
        """
        pair_of = {name: p for p, name in enumerate(pairs.meant) if name in (hanim.ROOT, *HIPS)}
        if len(pair_of) < 3:
            return None
        carrier, left, right = (int(pairs.target[pair_of[name]]) for name in (hanim.ROOT, *HIPS))
        if not all(is_descendant(target.parents, hip, carrier) for hip in (left, right)):
            return None
        theirs = np.array([int(pairs.source[pair_of[name]]) for name in HIPS])
        root = int(pairs.source[pair_of[hanim.ROOT]])
        carried = with_ancestors(source.skeleton.parents, theirs)
        turning = np.intersect1d(path_to_root(source.skeleton.parents, root)[1:], source.rotations.joints)
        if not len(turning) and not np.isin(source.translations.joints, carried).any():
            return None
        times = _times(carried, source.rotations, source.translations)
        rest = source.skeleton.rest_world[theirs, :, 3].mean(axis=0)
        displacement = ratio * (_middle(source.skeleton, theirs, source.rotations, source.translations, times) - rest)
        start = target.rest_world[[left, right], :, 3].mean(axis=0)
        if up is not None:
            start = ratio * rest + ((start - ratio * rest) @ up) * up
        return cls(target, carrier, np.array((left, right)), times, start + displacement)

    def followed(self, rotations: Tracks, translations: Tracks) -> Tracks:
        """Return translations of the target with which the carrier moves the hips along the path."""
        kept = {joint: keys for joint, keys in by_joint(translations).items()
                if not (joint == self.carrier or is_descendant(self.target.parents, joint, self.carrier))}
        others = packed_by_joint(kept, 3)
        keep = with_ancestors(self.target.parents, self.hips)
        times = merged(self.times, _times(keep, rotations, others))
        wanted = np.stack([np.interp(times, self.times, values) for values in self.positions.T], axis=1)
        away = wanted - _middle(self.target, self.hips, rotations, others, times)
        parent = int(self.target.parents[self.carrier])
        if parent >= 0:
            world = PosedJoints.of_tracks(self.target, rotations, others, np.array((parent,))).world(times)[:, 0, :, :3]
            away = np.asarray(np.linalg.solve(world, away[..., None])[..., 0], dtype=np.float64)
        if np.abs(away).max() <= _STILL * self.target.size:
            return others
        return packed_by_joint(kept | {self.carrier: (times, away)}, 3)


def _times(joints: IntArray, rotations: Tracks, translations: Tracks) -> FloatArray:
    """Return the times at which any of the joints is keyed, with more times where keys are far apart, (F,)."""
    return filled(key_times(rotations, translations, joints=joints))


def _middle(skeleton: Skeleton, hips: IntArray, rotations: Tracks, translations: Tracks,
            times: FloatArray) -> FloatArray:
    """Return the midpoint of the hips at times (F,), (F, 3)."""
    world = PosedJoints.of_tracks(skeleton, rotations, translations, hips).world(times)
    return np.asarray(world[..., 3].mean(axis=1))
