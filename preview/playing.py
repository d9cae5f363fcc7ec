"""The motion of a character and the time in it, by the user's choices."""

from dataclasses import dataclass

import bpy

from ..bridge import properties
from ..bridge.frame_rate import frames_per_second
from ..bridge.meshes.bend import is_bent
from ..bridge.scores.score import shown
from ..core.playing.motion import Motion
from ..core.playing.stage import Playable
from .cast import ClipAlone
from .choices import Choices
from .player import Player

_alone: dict[tuple[int, str], tuple[Motion, ClipAlone]] = {}
"""One clip of a motion, by character and name; one value for all that play it, so that it is sampled once."""


def played(armature: bpy.types.Object, choices: Choices) -> Playable | None:
    """Return the motion of a character now, or None for the armature's own pose."""
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


@dataclass(frozen=True)
class Instant:
    """The instant of a picture, by the timeline or by the player's own clock."""

    player: Player
    frame: float
    fps: float
    now_s: float
    follows_timeline: bool

    @classmethod
    def of(cls, scene: bpy.types.Scene, player: Player, now_s: float) -> "Instant":
        """Return the current instant."""
        return cls(player, scene.frame_current_final, frames_per_second(scene), now_s, player.follows_timeline)

    def time_s(self, armature: bpy.types.Object, motion: Playable | None) -> float:
        """Return the time in a character's motion."""
        if self.follows_timeline:
            return (self.frame - properties.character(armature).frame_start) / self.fps
        return 0.0 if motion is None else self.player.position_s(self.now_s, motion.duration_s)
