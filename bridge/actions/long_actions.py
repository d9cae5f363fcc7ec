"""Actions so long that they are written only after a confirmation, and in steps that can be stopped."""

from collections.abc import Callable, Generator
from typing import Final

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.playing.keying import Progress
from ...core.playing.motion import Motion
from ..background import BackgroundWork
from ..reports import Told
from . import write_motion
from .channels import Channels

MOST_FRAMES: Final = 30_000
"""Greatest number of frames without a confirmation: more may come from a slip, and the scene's end would move too."""
MOST_KEYS: Final = 3_000_000
"""Frames times bones that move. As many (57,000 frames of 53 bones) take 4 s, 1.1 GB, and 6 s for their undo step."""
_TOO_LONG: Final = ("; Actions of more than {most_frames:,} frames, or {most_keys:,} frames times bones, are written "
                    "only by Rebuild. The preview plays without; or shorten the score")
_SAMPLED: Final = 0.6
"""The share of the time that sampling takes; writing takes the rest."""
_WAIT_S: Final = 0.02


def problem(motion: Motion, fps: float) -> str:
    """Return why a motion is too long to be written without a confirmation, or ""."""
    frames, bones = motion.duration_s * fps, _bones(motion)
    return "" if frames <= MOST_FRAMES and frames * bones <= MOST_KEYS else (
        length(motion, fps) + _TOO_LONG.format(most_frames=MOST_FRAMES, most_keys=MOST_KEYS))


def length(motion: Motion, fps: float) -> str:
    """Return the length of a motion in words."""
    return f"The score is {motion.duration_s * fps:,.0f} frames long, for {_bones(motion)} bones"


def _bones(motion: Motion) -> int:
    moved = np.zeros(len(motion.skeleton), dtype=np.bool_)
    for clip in motion.clips:
        moved |= clip.moved
    return int(moved.sum())


def writing(armature_object: bpy.types.Object, scene: bpy.types.Scene,
            motion: Motion) -> Generator[float, None, list[Told]]:
    """Sample a motion in a thread, then write its Action, some keys at each step; yield the share of work done.

    Nothing changes until the last step, and closing the generator leaves it so. Raises TaktError if the motion
    cannot be sampled, or the score has changed by then.
    """
    sample = write_motion.sampling(armature_object, scene, motion, is_ahead=True)
    return _writing(armature_object.session_uid, scene, motion, sample, write_motion.digest(armature_object, scene))


def _writing(uid: int, scene: bpy.types.Scene, motion: Motion, sample: Callable[[Progress], Channels],
             made_of: str) -> Generator[float, None, list[Told]]:
    """Take the steps of writing; uid: of the character; made_of: the digest of the motion's sources."""
    work = BackgroundWork(sample)
    try:
        while not work.has_ended(_WAIT_S):
            yield _SAMPLED * work.done
        channels = work.result()
    finally:
        work.end()
    found = next((ob for ob in scene.objects if ob.session_uid == uid), None)
    if found is None or write_motion.digest(found, scene) != made_of:
        raise TaktError("The score or the character has changed in the meantime, so nothing was written: Rebuild again")
    writing = write_motion.writing(found, scene, motion, channels, is_aside=True, is_ahead=True)
    try:
        while True:
            yield _SAMPLED + (1.0 - _SAMPLED) * next(writing)
    except StopIteration as end:
        told: list[Told] = end.value
        return told
    finally:
        writing.close()
