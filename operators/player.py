"""The player: play, pause and step through the preview."""

from typing import TYPE_CHECKING, Any

import bpy

from ..bridge import properties
from ..bridge.frame_rate import frames_per_second
from ..bridge.language import say
from ..bridge.reports import report
from ..bridge.scores.score import last_good
from ..core.clips.keys import INTERPOLATIONS
from ..core.playing.motion import Motion
from ..preview import life, player_clocks
from ..preview.character import PreviewCharacter

ACTIONS = {
    "PLAY": ("Play or Pause", "Play on from here, or pause"),
    "STOP": ("Stop", "Back to the beginning, and to the rest pose"),
    "RESTART": ("Restart", "Play from the beginning, or from the end in reverse"),
    "BACKWARDS": ("Backwards", "Play in the other direction"),
    "SLOWER": ("Slower", "Play more slowly, by the player's own clock"),
    "FASTER": ("Faster", "Play faster, by the player's own clock"),
    "STEP_BACK": ("Step Back", "One frame back"),
    "STEP_ON": ("Step Forward", "One frame forward"),
    "FROM_HERE": ("From Here", "Play only the part from here on, in a loop"),
    "TO_HERE": ("To Here", "Play only the part up to here, in a loop"),
    "WHOLE": ("The Whole", "Play the whole score again"),
    "ALONE": ("Clip Alone", "Play only the current clip, in a loop. Press again to play the whole score"),
    "INTERPOLATION": ("Next Interpolation", "Blend rotations by the next method: spherical, linear, smooth"),
}


class TAKT_OT_player(bpy.types.Operator):
    """Play what the preview shows"""

    bl_idname = "takt.player"
    bl_label = "Takt Player"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        action: str
    else:
        action: bpy.props.EnumProperty(
            name="Action", description="What the player does", options={"SKIP_SAVE"},
            items=[(name, *texts) for name, texts in ACTIONS.items()])

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip of this button."""
        return say(ACTIONS[properties.action][1])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Leave shortcuts to Blender when the preview is off, or the mouse is over another editor."""
        if not life.is_running():
            cls.poll_message_set(say("Switch the preview on first"))
            return False
        return context.area is None or context.area.type == "VIEW_3D"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Do the action by the player's own clock, or by Blender's timeline."""
        scene, player = _scene(context), life.choices().player
        if self.action == "ALONE":
            _toggle_alone(context)
        elif self.action == "INTERPOLATION":
            self._next_interpolation(context)
        else:
            if self.action in ("SLOWER", "FASTER") and player.follows_timeline:
                player_clocks.use_clock(context, "OWN")
            if player.follows_timeline:
                player_clocks.BY_TIMELINE[self.action](context, scene, player)
            else:
                frame_s = 1.0 / frames_per_second(scene)
                player_clocks.BY_OWN_CLOCK[self.action](player, life.now_s(), life.duration_s(), frame_s)
        if self.action in ("SLOWER", "FASTER"):
            report(self, {"INFO"}, f"Plays at {player.speed:g} of the speed, by a clock of its own")
        life.changed()
        return {"FINISHED"}

    def _next_interpolation(self, context: bpy.types.Context) -> None:
        watched = watched_character(context)
        if watched is not None:
            settings = properties.character(watched[1])
            names = tuple(INTERPOLATIONS)
            settings.interpolation = name = names[(names.index(settings.interpolation) + 1) % len(names)]
            report(self, {"INFO"}, f"Interpolation: {INTERPOLATIONS[name][0]}")


def _toggle_alone(context: bpy.types.Context) -> None:
    choices = life.choices()
    if choices.alone:
        choices.alone = ""
        return
    watched = watched_character(context)
    if watched is None:
        return
    character, armature_object = watched
    motion = last_good(character.uid)
    if motion is not None:
        choose_alone(motion, life.time_in_score(armature_object, _scene(context), motion))


def choose_alone(motion: Motion, time_s: float) -> None:
    """Play only the clip at a time."""
    choices = life.choices()
    choices.alone_segment = motion.segment_at(time_s)
    choices.alone = motion.sequence.clips[int(motion.sequence.clip[choices.alone_segment])]


def watched_character(context: bpy.types.Context) -> tuple[PreviewCharacter, bpy.types.Object] | None:
    """Return the active previewed character, or else the first one."""
    previewed = {character.uid: character for character in life.characters()}
    objects = [ob for ob in _scene(context).objects if ob.session_uid in previewed]
    active = context.active_object
    active = active if active is None or active.type == "ARMATURE" else active.find_armature()
    chosen = active if active in objects else next(iter(objects), None)
    return None if chosen is None else (previewed[chosen.session_uid], chosen)


def _scene(context: bpy.types.Context) -> bpy.types.Scene:
    assert context.scene is not None
    return context.scene
