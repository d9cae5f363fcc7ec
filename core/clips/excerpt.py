"""Variants of a clip: a part of it, backwards, mirrored, with some of its ends left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.mirror import Mirror
from ..skeletons.skeleton import Pose, Skeleton
from .body_contacts import Contact
from .clip import Clip, Interpolation, Tracks, TranslationInterpolation
from .contacts import FootContacts
from .keyed import keys_of, packed

SKIP_ZONES: Final = 4.0
"""Length of the zone in which the part is played more slowly, in multiples of the skip at its end; at most the whole
part."""
ROUND_ZONES: Final = 8.0
"""The same for a loop, whose other end is as good a beginning, so its speed changes less."""
_INVERSE_STEPS: Final = 2048
_NOTHING_S: Final = 1e-12
_SAME_TIME_S: Final = 1e-9
"""A key within this time of an end counts as the end."""


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A part of a clip, from begin_s to end_s of it, maybe backwards.

    Its poses equal those of the whole clip to the last bit, with any interpolation.
    skips_s: the seconds skipped at its beginning and end, in the order of playing; see skipping. Negative values extend
    the part into the whole clip. goes_round: the part is a whole cycle, which continues at its other end.
    """

    whole: Clip
    begin_s: float
    end_s: float
    is_reversed: bool = False
    skips_s: tuple[float, float] = (0.0, 0.0)
    goes_round: bool = False

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton that the part moves."""
        return self.whole.skeleton

    @property
    def duration_s(self) -> float:
        """The duration of the part."""
        return self.end_s - self.begin_s

    @property
    def moved(self) -> BoolArray:
        """Joints that any track moves, (J,)."""
        return self.whole.moved

    @property
    def contacts(self) -> Mapping[str, FootContacts] | None:
        """The contacts of its feet, by side; see Clip."""
        whole = self.whole.contacts
        if whole is None:
            return None
        begin, end = np.sort(self.own_times(np.array((0.0, self.duration_s)))).tolist()
        kept = {side: each.part(begin, end, self.is_reversed) for side, each in whole.items()}
        if self.skips_s == (0.0, 0.0):
            return kept
        return {side: FootContacts(*(self._without_skips(spans + self.skips_s[0])
                                     for spans in (each.heel, each.ball, each.released)))
                for side, each in kept.items()}

    @property
    def bearing(self) -> tuple[Contact, ...]:
        """The contacts of other body parts; see Clip."""
        begin, end = np.sort(self.own_times(np.array((0.0, self.duration_s)))).tolist()
        kept = [part for each in self.whole.bearing if (part := each.part(begin, end, self.is_reversed)) is not None]
        return tuple(kept if self.skips_s == (0.0, 0.0) else
                     [part.retimed(lambda times: self._without_skips(times + self.skips_s[0])) for part in kept])

    @property
    def skipped(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """The arguments for `skipping`, after times_s."""
        return (np.array(self.duration_s), np.array(self.skips_s[0]), np.array(self.skips_s[1]),
                ROUND_ZONES if self.goes_round else SKIP_ZONES)

    def own_times(self, times_s: FloatArray) -> FloatArray:
        """Convert times (F,) of the part to times (F,) of the whole clip."""
        if self.skips_s != (0.0, 0.0):
            times_s = skipping(times_s, *self.skipped)
        return np.asarray(self.end_s - times_s if self.is_reversed else self.begin_s + times_s)

    def of_clip(self, spans_s: FloatArray) -> FloatArray:
        """Convert spans (K, 2) of the whole clip to the clip's own: for a cycle, wrapped and clipped to the part."""
        if not self.goes_round:
            return spans_s
        own = spans_s - self.begin_s
        rounds = np.where(own[:, 1:] <= 0.0, 1.0, np.where(own[:, :1] >= self.duration_s, -1.0, 0.0))
        return np.asarray(np.clip(own + rounds * self.duration_s, 0.0, self.duration_s))

    def _without_skips(self, times_s: FloatArray) -> FloatArray:
        """Return the times (…) with skips at which the part shows the poses of times (…) without skips."""
        if self.skips_s == (0.0, 0.0):
            return times_s
        played = np.linspace(0.0, self.duration_s, _INVERSE_STEPS + 1)
        return np.interp(times_s, skipping(played, *self.skipped), played)

    def sample(self, times_s: FloatArray, interpolation: Interpolation = "LERP",
               translation: TranslationInterpolation = "LINEAR") -> Pose:
        """Return the poses (F, J, …) at times (F,); see Clip."""
        times_s = np.clip(np.asarray(times_s, dtype=np.float64), 0.0, self.duration_s)
        return self.whole.sample(self.own_times(times_s), interpolation, translation)

    @cached_property
    def keyed(self) -> Clip:
        """The part as a clip with its own keys; the first and last keys are the poses at its ends."""
        clip, ends = self.whole, self.whole.sample(np.sort(self.own_times(np.array((0.0, self.duration_s)))), "SLERP")

        def cut(tracks: Tracks, values: FloatArray) -> Tracks:
            closed = tracks.closed(clip.duration_s) if clip.is_looping else tracks
            return packed([self._cut(*keys_of(closed, i), values[:, joint], joint)
                           for i, joint in enumerate(closed.joints.tolist())], tracks.values.shape[1])

        return replace(clip, duration_s=self.duration_s, rotations=cut(clip.rotations, ends.rotations),
                       translations=cut(clip.translations, ends.translations), scales=cut(clip.scales, ends.scales),
                       is_looping=False, contacts=self.contacts, bearing=self.bearing)

    def _cut(self, times: FloatArray, values: FloatArray, ends: FloatArray,
             joint: int) -> tuple[int, FloatArray, FloatArray]:
        first, last = np.sort(self.own_times(np.array((0.0, self.duration_s))))
        inside = (times > first + _SAME_TIME_S) & (times < last - _SAME_TIME_S)
        at = self.end_s - times[inside][::-1] if self.is_reversed else times[inside] - self.begin_s
        own = values[inside][::-1] if self.is_reversed else values[inside]
        ends = ends[::-1] if self.is_reversed else ends
        return (joint, np.concatenate(((0.0,), self._without_skips(at), (self.duration_s,))),
                np.concatenate((ends[:1], own, ends[1:])))


def skipping(times_s: FloatArray, duration_s: FloatArray, first_s: FloatArray, last_s: FloatArray,
             zones: FloatArray | float = SKIP_ZONES) -> FloatArray:
    """Return the times to show at times (F,) of a motion that lasts duration_s, if both its ends are skipped.

    The motion begins first_s after its beginning and ends last_s before its end. It is played more slowly near the
    ends, in zones that are `zones` times as long as each skip, or as long as the motion. Outside the zones, times stay
    as they are. At the ends the speed is normal. It is lowest in the middle of a zone: 1 − 1.5 ÷ zones, if the zone has
    room. Zones may overlap. If first_s and last_s together are at most a third of duration_s, the speed never falls
    below 0.4. A negative value extends the motion at that end, and raises the speed. All arguments broadcast.

    >>> skipping(np.array((0.0, 0.5, 1.0, 5.0, 10.0)), np.array(10.0), np.array(0.25), np.array(1.0)).tolist()
    [0.25, 0.625, 1.0, 5.0, 9.0]
    """
    def left(away_s: FloatArray, skip_s: FloatArray) -> FloatArray:
        zone_s = np.minimum(zones * np.abs(skip_s), duration_s)
        x = np.clip(away_s / np.maximum(zone_s, _NOTHING_S), 0.0, 1.0)
        return np.asarray(skip_s * (1.0 - x * x * (3.0 - 2.0 * x)))

    return np.asarray(times_s + left(times_s, first_s) - left(duration_s - times_s, last_s))


def mirrored(clip: Clip, mirror: Mirror) -> Clip:
    """Return a clip with left and right exchanged; every interpolation between its keys is mirrored too.

    Rotations and translations are exact. Scales are along the nearest of the joint's own axes, since keys have no other
    scales.
    """
    def reflected(tracks: Tracks, values_of: Callable[[IntArray, FloatArray], FloatArray]) -> Tracks:
        joints = mirror.partner[tracks.joints]
        return replace(tracks, joints=joints,
                       values=values_of(np.repeat(joints, np.diff(tracks.starts)), tracks.values))

    sides = None if clip.contacts is None else {"lr"[side == "l"]: each for side, each in clip.contacts.items()}
    return replace(clip, rotations=reflected(clip.rotations, mirror.rotations),
                   translations=reflected(clip.translations, mirror.translations),
                   scales=reflected(clip.scales, mirror.scales), contacts=sides,
                   bearing=tuple(each.mirrored for each in clip.bearing))
