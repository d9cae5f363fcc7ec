"""Motions are sampled at the frames of the scene while nothing is drawn, so that poses are ready for playback.

Values that are computed once per motion, such as foot contacts under tweaks, are computed then too, and delay no
drawing.
"""

from collections import deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

import bpy
import numpy as np

from ..bridge import properties
from ..bridge.frame_rate import frames_per_second
from ..core.maths.arrays import FloatArray
from ..core.playing.ahead import AT_ONCE, Ahead
from ..core.playing.stage import Playable

QUIET_S: Final = 0.3
"""Time without drawing after which motions are sampled, so that playing, dragging and typing are not disturbed."""
PAUSE_S: Final = 0.005
"""Pause for Blender between two portions."""
_PORTION_S: Final = 0.008
"""Time limit of one portion; no further frames are begun after it."""
_MOST_FRAMES: Final = 4096
"""Most frames of a scene that are sampled, from the current one on."""


@dataclass(eq=False)
class Preparing:
    """The instants that are still to be sampled. drawn_s: the time of the last drawing, in seconds.

    key: of the played motions; as long as it stays the same, samples stay valid. waiting: the next instants (F,) of
    characters, by the session uids of their objects. All characters get the next few seconds before any gets later
    ones.
    """

    drawn_s: float = 0.0
    _key: Hashable = None
    _waiting: deque[tuple[int, FloatArray]] = field(default_factory=deque)
    _later: int = 0
    """How many are left once all characters have their first seconds."""

    @property
    def has_begun(self) -> bool:
        """Whether the first seconds of all motions are sampled."""
        return self._key is not None and len(self._waiting) <= self._later

    def is_done(self, key: Hashable, scene: bpy.types.Scene) -> bool:
        """Return whether all played motions are sampled. key: changes whenever they do."""
        return self._key == (key, _frames_of(scene)) and not self._waiting

    def is_quiet(self) -> bool:
        """Return whether nothing was drawn for a while."""
        return perf_counter() - self.drawn_s >= QUIET_S

    def go_on(self, ahead: Ahead, playing: Mapping[int, Playable | None], key: Hashable,
              scene: bpy.types.Scene) -> None:
        """Sample a part of the characters' motions. playing: the motion of each, valid for a key."""
        if self._key != (key, _frames_of(scene)):
            self._key, self._waiting = (key, _frames_of(scene)), deque(_in_turn(playing, scene))
            self._later = len(self._waiting) - len({uid for uid, _ in self._waiting})
        until_s = perf_counter() + _PORTION_S
        while self._waiting and perf_counter() < until_s:
            uid, times_s = self._waiting.popleft()
            motion = playing.get(uid)
            if motion is not None and not ahead.prepare(motion, times_s):
                self._waiting.appendleft((uid, times_s))


def _in_turn(playing: Mapping[int, Playable | None], scene: bpy.types.Scene) -> Iterator[tuple[int, FloatArray]]:
    """Yield which instants (F,) of which motion are sampled, one after the other."""
    frames, fps = _frames(scene), frames_per_second(scene)
    first = {ob.session_uid: properties.character(ob).frame_start for ob in scene.objects if ob.session_uid in playing}
    for some in np.split(frames, np.arange(AT_ONCE // 2, len(frames), AT_ONCE)):  # fewer at first: soon all have some
        for uid, frame in first.items():
            yield uid, (some - frame) / fps


def _frames_of(scene: bpy.types.Scene) -> tuple[int, int, float]:
    """Return the first and the last frame of playback, and frames per second."""
    is_preview = scene.use_preview_range
    return (scene.frame_preview_start if is_preview else scene.frame_start,
            scene.frame_preview_end if is_preview else scene.frame_end, frames_per_second(scene))


def _frames(scene: bpy.types.Scene) -> FloatArray:
    """Return the frames of playback, (F,), in the order in which playback reaches them from the current one."""
    first, last, _ = _frames_of(scene)
    frames = np.arange(first, last + 1, dtype=np.float64)
    return np.roll(frames, -int(frames.searchsorted(scene.frame_current)))[:_MOST_FRAMES]
