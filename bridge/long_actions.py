"""Actions so long that they are only written when someone says so."""

from typing import Final

import numpy as np

from ..core.playing.motion import Motion

MOST_FRAMES: Final = 30_000
"""Beyond that, perhaps a value has slipped, and the scene's end would go along."""
MOST_KEYS: Final = 3_000_000
"""Frames times bones that move. As many (57,000 frames of 53 bones) take 4 s, 1.1 GB, and 6 s for their undo step."""
_TOO_LONG: Final = ("The score is {frames:,.0f} frames long, for {bones} bones; an Action of more than {most_frames:,} "
                    "frames, or {most_keys:,} frames times bones, is only written by Rebuild. The preview plays the "
                    "score without one. If that length is not meant, make the score shorter")


def problem(motion: Motion, fps: float) -> str:
    """Return why a motion is too long to be written unasked, "" where it is not."""
    frames, moved = motion.duration_s * fps, np.zeros(len(motion.skeleton), dtype=np.bool_)
    for clip in motion.clips:
        moved |= clip.moved
    bones = int(moved.sum())
    if frames <= MOST_FRAMES and frames * bones <= MOST_KEYS:
        return ""
    return _TOO_LONG.format(frames=frames, bones=bones, most_frames=MOST_FRAMES, most_keys=MOST_KEYS)
