"""Variants of a clip: a part of it, backwards, mirrored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.mirror import Mirror
from ..skeletons.skeleton import Pose, Skeleton
from .clip import Clip, Interpolation, Tracks, TranslationInterpolation
from .contacts import FootContacts
from .keyed import keys_of, packed


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A part of a clip, from begin_s to end_s of it, maybe backwards.

    Its poses are the whole clip's, to the last bit, whatever the interpolation.
    """

    whole: Clip
    begin_s: float
    end_s: float
    is_reversed: bool

    @property
    def skeleton(self) -> Skeleton:
        """Whose joints it moves."""
        return self.whole.skeleton

    @property
    def duration_s(self) -> float:
        """How long it lasts."""
        return self.end_s - self.begin_s

    @property
    def moved(self) -> BoolArray:
        """Joints that any track moves, (J,)."""
        return self.whole.moved

    @property
    def contacts(self) -> Mapping[str, FootContacts] | None:
        """When its feet are planted, by side; see Clip."""
        whole = self.whole.contacts
        return None if whole is None else {side: each.part(self.begin_s, self.end_s, self.is_reversed)
                                           for side, each in whole.items()}

    def own_times(self, times_s: FloatArray) -> FloatArray:
        """Return when in the whole clip times (F,) of the part are."""
        return np.asarray(self.end_s - times_s if self.is_reversed else self.begin_s + times_s)

    def sample(self, times_s: FloatArray, interpolation: Interpolation = "LERP",
               translation: TranslationInterpolation = "LINEAR") -> Pose:
        """Return the poses (F, J, …) at times (F,); see Clip."""
        times_s = np.clip(np.asarray(times_s, dtype=np.float64), 0.0, self.duration_s)
        return self.whole.sample(self.own_times(times_s), interpolation, translation)

    @cached_property
    def keyed(self) -> Clip:
        """The part as a clip of its own, for those who look at keys: at its ends it has the poses there."""
        clip, ends = self.whole, self.whole.sample(np.array((self.begin_s, self.end_s)), "SLERP")

        def cut(tracks: Tracks, values: FloatArray) -> Tracks:
            closed = tracks.closed(clip.duration_s) if clip.is_looping else tracks
            return packed([self._cut(*keys_of(closed, i), values[:, joint], joint)
                           for i, joint in enumerate(closed.joints.tolist())], tracks.values.shape[1])

        return replace(clip, duration_s=self.duration_s, rotations=cut(clip.rotations, ends.rotations),
                       translations=cut(clip.translations, ends.translations), scales=cut(clip.scales, ends.scales),
                       is_looping=False, contacts=self.contacts)

    def _cut(self, times: FloatArray, values: FloatArray, ends: FloatArray,
             joint: int) -> tuple[int, FloatArray, FloatArray]:
        inside = (times > self.begin_s) & (times < self.end_s)
        times = np.concatenate(((0.0,), times[inside] - self.begin_s, (self.duration_s,)))
        values = np.concatenate((ends[:1], values[inside], ends[1:]))
        return (joint, (self.duration_s - times)[::-1], values[::-1]) if self.is_reversed else (joint, times, values)


def mirrored(clip: Clip, mirror: Mirror) -> Clip:
    """Return a clip with left and right exchanged; every interpolation between its keys is reflected with them.

    What cannot be said of keys alone is not there: rotations and translations are taken over exactly, scales along
    the nearest of the joint's own axes.
    """
    def reflected(tracks: Tracks, values_of: Callable[[IntArray, FloatArray], FloatArray]) -> Tracks:
        joints = mirror.partner[tracks.joints]
        return replace(tracks, joints=joints,
                       values=values_of(np.repeat(joints, np.diff(tracks.starts)), tracks.values))

    sides = None if clip.contacts is None else {"lr"[side == "l"]: each for side, each in clip.contacts.items()}
    return replace(clip, rotations=reflected(clip.rotations, mirror.rotations),
                   translations=reflected(clip.translations, mirror.translations),
                   scales=reflected(clip.scales, mirror.scales), contacts=sides)
