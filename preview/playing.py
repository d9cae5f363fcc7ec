"""What a character plays and at which time, under the user's choices."""

import bpy

from ..bridge.bend import is_bent
from ..bridge.score import shown, time_s
from ..core.playing.motion import Motion
from ..core.playing.stage import Playable
from .cast import ClipAlone
from .choices import Choices

_alone: dict[tuple[int, str], tuple[Motion, ClipAlone]] = {}
"""One clip of a motion, by character and name; one value for all that play it, so that it is sampled once."""


def played(armature: bpy.types.Object, choices: Choices) -> Playable | None:
    """Return what moves a character now, None: the armature's own pose is shown."""
    if is_bent(armature):
        return None
    motion = shown(armature, choices.instead)
    if motion is None or not choices.alone or choices.alone not in motion.sequence.clips:
        return motion
    known = _alone.get((armature.session_uid, choices.alone))
    if known is None or known[0] is not motion:
        _alone.clear()
        clip = motion.clips[motion.sequence.clips.index(choices.alone)]
        known = _alone[armature.session_uid, choices.alone] = motion, ClipAlone(clip)
    return known[1]


def time_of(armature: bpy.types.Object, scene: bpy.types.Scene, motion: Playable | None, choices: Choices,
            now_s: float) -> float:
    """Return the time in what a character plays, in seconds."""
    if choices.player.follows_timeline:
        return time_s(armature, scene, scene.frame_current_final)
    return 0.0 if motion is None else choices.player.position_s(now_s, motion.duration_s)
