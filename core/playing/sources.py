"""What the segments of a row play: clips, and whole stages as if they were clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..clips.clip import Clip, Interpolation, Tracks, TranslationInterpolation
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
"""What lasts for minutes is keyed less often, so that what stands in for it stays small."""


@dataclass(frozen=True, eq=False)
class Sources:
    """The first stage: C clips on one skeleton, sampled by number and time.

    clips: where a stage is played, what stands in for it wherever keys are looked at, as the speeds at its ends: the
    stage keyed 30 times a second. stages: those stages by number, which are themselves what is sampled; excerpts: the
    clips by number of which only a part is played, or backwards. sampled: (J,) the joints of clips whose poses count;
    None: all. The others need not be looked up.
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
        """Take what is played; raise TaktError if there is nothing, or several skeletons."""
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
        """Whose joints they move."""
        return self.clips[0].skeleton

    @cached_property
    def durations_s(self) -> FloatArray:
        """How long each lasts, (C,)."""
        return np.array([clip.duration_s for clip in self.clips])

    @cached_property
    def moved(self) -> BoolArray:
        """The joints that each moves, (C, J)."""
        return np.stack([clip.moved for clip in self.clips])

    def sample(self, which: IntArray, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …) of clips (F,) at their own times (F,)."""
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
        """Return when something happens in one of them, as shares of its length."""
        clip, none = self.clips[number], np.zeros(0)
        if number in self.stages:
            found = self.stages[number].instants(1.0, np.inf)
            return Instants(*(times / clip.duration_s for times in (found.edges, found.jumps, found.keys)))
        times = merged(*(tracks.different_times for tracks in (clip.rotations, clip.translations, clip.scales)))
        return Instants(none, none, times / clip.duration_s)

    @cached_property
    def ends(self) -> list[Pose]:
        """What each shows at its end_times_s, (4, J, …)."""
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
        """Return where joints are when each begins and when it ends, (2, C, J, 3)."""
        return np.stack([_end_positions(clip.skeleton, ends) if number in self.stages or number in self.excerpts else
                         clip.derived(_clips_end_positions, self.interpolation, self.translation)
                         for number, (clip, ends) in enumerate(zip(self.clips, self.ends, strict=True))], axis=1)

    @cached_property
    def _from_s(self) -> FloatArray:
        """When in the whole clip each begins, (C,)."""
        return np.array([0.0 if (part := self.excerpts.get(number)) is None else
                         part.end_s if part.is_reversed else part.begin_s for number in range(len(self.clips))])

    @cached_property
    def skips_s(self) -> FloatArray:
        """How many seconds of each clip are skipped at its beginning and at its end, (2, C)."""
        return np.array([(0.0, 0.0) if (part := self.excerpts.get(number)) is None else part.skips_s
                         for number in range(len(self.clips))]).T

    @cached_property
    def _skips(self) -> bool:
        return bool(self.skips_s.any())

    @cached_property
    def _zones(self) -> FloatArray:
        """Over how many times that it is played more slowly, (C,)."""
        return np.array([SKIP_ZONES if (part := self.excerpts.get(number)) is None else part.skipped[-1]
                         for number in range(len(self.clips))])

    @cached_property
    def _pace(self) -> FloatArray:
        """−1 if a clip is played backwards, else 1, (C,)."""
        return np.array([-1.0 if number in self.excerpts and self.excerpts[number].is_reversed else 1.0
                         for number in range(len(self.clips))])

    @cached_property
    def _keys(self) -> ClipSet:
        """What is sampled by keys: whole clips; nothing where a stage plays."""
        nothing = Clip("", self.skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
        clips = [self.excerpts[number].whole if number in self.excerpts else nothing if number in self.stages else clip
                 for number, clip in enumerate(self.clips)]
        if self.sampled is not None:
            clips = [clip.derived(_of_joints, self.sampled.tobytes()) for clip in clips]
        return ClipSet.of(clips)


def _of_joints(clip: Clip, joints: bytes) -> Clip:
    """Return a clip without the tracks of all but some joints, (J,) as bytes; itself if it has no others."""
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
    """Return where joints are in the first and the last one of poses (4, J, …), (2, J, 3)."""
    return world_from_pose(skeleton, ends.at(np.array((0, -1))))[..., 3]
