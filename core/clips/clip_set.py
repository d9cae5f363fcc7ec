"""Several clips on one skeleton, sampled at many instants at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self
from weakref import WeakValueDictionary

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Pose
from .clip import Clip
from .keys import Interpolation, KeyTable, TranslationInterpolation

_FEW = 8
"""Up to this number of different clips are sampled one by one, each with its own arranged keys."""
_QUICK = 4
"""Keys of several clips are arranged together if there are at most this many for each requested rotation, which takes
little longer than finding it."""


@dataclass(frozen=True, eq=False)
class ClipSet:
    """C clips, all on one skeleton.

    Each clip arranges its keys for sampling when it is first sampled, and caches them. So another set of the same clips
    costs nothing, and a long score costs only the clips that are sampled. If clips are short, or if many are sampled at
    once, as for a whole Action, the keys of all are arranged together. That takes as long as copying them, and makes
    sampling faster.
    """

    clips: tuple[Clip, ...]

    @classmethod
    def of(cls, clips: Sequence[Clip]) -> Self:
        """Return the set of these clips: the same object as before while it is still in use."""
        known = _sets.get(tuple(clips))
        if not isinstance(known, cls):
            known = _sets[tuple(clips)] = cls(tuple(clips))
        return known

    def sample(self, clip: IntArray, times_s: FloatArray, interpolation: Interpolation,
               translation: TranslationInterpolation) -> Pose:
        """Return the poses (F, J, …) of clips (F,) at their own times (F,)."""
        if len(self.clips) == 1:
            return self.clips[0].sample(times_s, interpolation, translation)
        if len(clip) == 1 and not self._are_together:
            return self.clips[int(clip[0])].sample(times_s, interpolation, translation)
        frames, joints = len(times_s), len(self.clips[0].skeleton)
        if self._are_together or self._keys <= _QUICK * frames * joints or len(different := np.unique(clip)) > _FEW:
            return self._together.sample(clip, times_s, interpolation, translation)
        pose = Pose(np.empty((frames, joints, 4)), np.empty((frames, joints, 3)), np.empty((frames, joints, 3)))
        for number in different.tolist():
            at = np.flatnonzero(clip == number)
            own = self.clips[number].sample(times_s[at], interpolation, translation)
            pose.rotations[at], pose.translations[at], pose.scales[at] = own.rotations, own.translations, own.scales
        return pose

    @property
    def _are_together(self) -> bool:
        return "_together" in vars(self)

    @cached_property
    def _keys(self) -> int:
        """The number of keys of all clips."""
        return sum(len(tracks.times_s) for each in self.clips
                   for tracks in (each.rotations, each.translations, each.scales))

    @cached_property
    def _together(self) -> KeyTable:
        return KeyTable.of(self.clips[0].skeleton, [(c.duration_s, c.is_looping, c.rotations, c.translations, c.scales)
                                                    for c in self.clips])


_sets: WeakValueDictionary[tuple[Clip, ...], ClipSet] = WeakValueDictionary()
