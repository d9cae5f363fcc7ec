"""The clips that the segments of a row play, or whole stages in place of clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..clips.clip import Clip, Interpolation, TranslationInterpolation
from ..clips.clip_set import ClipSet
from ..clips.excerpt import SKIP_ZONES, Excerpt, skipping
from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray, merged
from ..skeletons.skeleton import Pose, Skeleton, world_from_pose
from .bake import bake
from .stage import Instants, Stage
from .transitions.seams import end_times_s

_STAND_IN_FPS = 30.0
_STAND_IN_FRAMES = 2_000
"""Greatest number of keys of the clip that stands in for a stage; long stages are keyed less often."""


@dataclass(frozen=True, eq=False)
class Sources:
    """The first stage: C clips on one skeleton, sampled by number and time.

    clips: for a stage, a clip with 30 of its poses per second, for whatever needs keys, such as speeds at the ends.
    stages: by number; poses come from the stages themselves. excerpts: by number, clips of which only a part plays, or
    that play backwards. sampled: (J,) the joints that are sampled; None for all.
    """

    clips: tuple[Clip, ...]
    stages: dict[int, Stage]
    interpolation: Interpolation
    translation: TranslationInterpolation
    excerpts: dict[int, Excerpt] = field(default_factory=dict)
    sampled: BoolArray | None = None

    @classmethod
    def of(cls, played: Sequence[Clip | Excerpt | Stage], interpolation: Interpolation,
           translation: TranslationInterpolation) -> Sources:
        """Build the stage from what is played. Raises TaktError for no clips, or for clips on different skeletons."""
        if not played or any(each.skeleton is not played[0].skeleton for each in played):
            raise TaktError("a motion needs clips, all of them on one skeleton")
        stages = {number: each for number, each in enumerate(played) if not isinstance(each, Clip | Excerpt)}
        excerpts = {number: each for number, each in enumerate(played) if isinstance(each, Excerpt)}
        clips = tuple(each if isinstance(each, Clip) else each.keyed if isinstance(each, Excerpt) else
                      bake(each, _stand_in_fps(each.duration_s), f"stage {number}")
                      for number, each in enumerate(played))
        return cls(clips, stages, interpolation, translation, excerpts)

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the clips."""
        return self.clips[0].skeleton

    @cached_property
    def durations_s(self) -> FloatArray:
        """Duration of each, (C,) seconds."""
        return np.array([clip.duration_s for clip in self.clips])

    @cached_property
    def moved(self) -> BoolArray:
        """The joints that each moves, (C, J)."""
        return np.stack([clip.moved for clip in self.clips])

    def sample(self, which: IntArray, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …) of clips (F,) at the clips' own times (F,)."""
        if len(which) and which[0] in self.stages and (which == which[0]).all():
            return self.stages[int(which[0])].sample(times_s)
        own_times = times_s
        if self._skips:
            first_s, last_s = self.skips_s[:, which]
            own_times = skipping(times_s, self.durations_s[which], first_s, last_s, self._zones[which])
        if self.excerpts:
            own_times = self._from_s[which] + self._pace[which] * own_times
        pose = self._keys.sample(which, own_times, self.interpolation, self.translation)
        for number, stage in self.stages.items():
            at = np.flatnonzero(which == number)
            if len(at):
                own = stage.sample(times_s[at])
                pose.rotations[at], pose.translations[at], pose.scales[at] = own.rotations, own.translations, own.scales
        return pose

    def instants(self, number: int) -> Instants:
        """Return the edges, jumps and keys of one of them, as shares of its duration."""
        clip, none = self.clips[number], np.zeros(0)
        if number in self.stages:
            found = self.stages[number].instants(1.0, np.inf)
            return Instants(*(times / clip.duration_s for times in (found.edges, found.jumps, found.keys)))
        times = merged(*(tracks.different_times for tracks in (clip.rotations, clip.translations, clip.scales)))
        return Instants(none, none, times / clip.duration_s)

    @cached_property
    def ends(self) -> list[Pose]:
        """The poses of each at its end_times_s, (4, J, …)."""
        found = []
        for number, clip in enumerate(self.clips):
            if number in self.stages:
                found.append(self.stages[number].sample(end_times_s(clip.duration_s)))
            elif number in self.excerpts:
                found.append(self.excerpts[number].sample(end_times_s(clip.duration_s), self.interpolation,
                                                          self.translation))
            else:
                found.append(clip.derived(_ends, self.interpolation, self.translation))
        return found

    def end_positions(self) -> FloatArray:
        """Return the joint positions at the beginning and end of each, (2, C, J, 3)."""
        return np.stack([_end_positions(clip.skeleton, ends) if number in self.stages or number in self.excerpts else
                         clip.derived(_clips_end_positions, self.interpolation, self.translation)
                         for number, (clip, ends) in enumerate(zip(self.clips, self.ends, strict=True))], axis=1)

    @cached_property
    def _from_s(self) -> FloatArray:
        """The time in the whole clip at which each begins, (C,)."""
        return np.array([0.0 if (part := self.excerpts.get(number)) is None else
                         part.end_s if part.is_reversed else part.begin_s for number in range(len(self.clips))])

    @cached_property
    def skips_s(self) -> FloatArray:
        """The seconds of each clip that are skipped at its beginning and at its end, (2, C)."""
        return np.array([(0.0, 0.0) if (part := self.excerpts.get(number)) is None else part.skips_s
                         for number in range(len(self.clips))]).T

    @cached_property
    def _skips(self) -> bool:
        return bool(self.skips_s.any())

    @cached_property
    def _zones(self) -> FloatArray:
        """Width of the zone in which each clip is slowed down, as a multiple of the seconds skipped, (C,)."""
        return np.array([SKIP_ZONES if (part := self.excerpts.get(number)) is None else part.skipped[-1]
                         for number in range(len(self.clips))])

    @cached_property
    def _pace(self) -> FloatArray:
        """−1 for a clip played backwards, else 1, (C,)."""
        return np.array([-1.0 if number in self.excerpts and self.excerpts[number].is_reversed else 1.0
                         for number in range(len(self.clips))])

    @cached_property
    def _keys(self) -> ClipSet:
        """The whole clips, sampled by their keys; empty for a stage."""
        nothing = Clip.still(self.skeleton)
        clips = [self.excerpts[number].whole if number in self.excerpts else nothing if number in self.stages else clip
                 for number, clip in enumerate(self.clips)]
        if self.sampled is not None:
            clips = [clip.derived(_of_joints, self.sampled.tobytes()) for clip in clips]
        return ClipSet.of(clips)


def _of_joints(clip: Clip, joints: bytes) -> Clip:
    """Return a clip with the tracks of some joints only, (J,) as bytes; the same clip if it has no others."""
    asked = np.frombuffer(joints, dtype=np.bool_)
    if not (clip.moved & ~asked).any():
        return clip
    return replace(clip, **{name: getattr(clip, name).of_joints(asked)
                            for name in ("rotations", "translations", "scales")})


def _stand_in_fps(duration_s: float) -> float:
    return min(_STAND_IN_FPS, _STAND_IN_FRAMES / duration_s) if duration_s > 0.0 else _STAND_IN_FPS


def _ends(clip: Clip, interpolation: Interpolation, translation: TranslationInterpolation) -> Pose:
    return clip.sample(end_times_s(clip.duration_s), interpolation, translation)


def _clips_end_positions(clip: Clip, interpolation: Interpolation,
                         translation: TranslationInterpolation) -> FloatArray:
    return _end_positions(clip.skeleton, clip.derived(_ends, interpolation, translation))


def _end_positions(skeleton: Skeleton, ends: Pose) -> FloatArray:
    """Return the joint positions in the first and the last of poses (4, J, …), (2, J, 3)."""
    return world_from_pose(skeleton, ends.at(np.array((0, -1))))[..., 3]
