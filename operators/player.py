"""The player: everything one does while a score is watched."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..bridge import properties
from ..bridge.score import frames_per_second
from ..core.motion import Motion
from ..preview import life
from ..preview.character import Character

ACTIONS = {
    "PLAY": ("Play or Pause", "Play on from here, or pause"),
    "STOP": ("Stop", "Back to the beginning, and to the rest pose"),
    "RESTART": ("Restart", "Begin again; where it plays backwards, from the end"),
    "BACKWARDS": ("Backwards", "Play the other way"),
    "SLOWER": ("Slower", "Play more slowly"),
    "FASTER": ("Faster", "Play faster"),
    "STEP_BACK": ("Step Back", "One frame back"),
    "STEP_ON": ("Step On", "One frame on"),
    "FROM_HERE": ("From Here", "Play only what begins here, over and over"),
    "TO_HERE": ("To Here", "Play only what ends here, over and over"),
    "WHOLE": ("The Whole", "Play the whole score again"),
    "ALONE": ("Clip Alone", "Play only the clip that plays now, over and over; once more: the score again"),
    "INTERPOLATION": ("Other Interpolation", "Blend rotations the other way, linear or spherical"),
}
_TIMELINE_HAS_ITS_OWN = frozenset({"BACKWARDS", "SLOWER", "FASTER", "FROM_HERE", "TO_HERE", "WHOLE"})


class TAKT_OT_player(bpy.types.Operator):
    """Play what the preview shows"""

    bl_idname = "takt.player"
    bl_label = "Takt Player"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        action: str
    else:
        action: bpy.props.EnumProperty(
            name="Action", items=[(name, *texts) for name, texts in ACTIONS.items()], options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return what this button does."""
        return ACTIONS[properties.action][1]

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Keys mean Blender's own again as soon as the preview is off."""
        if not life.is_running():
            cls.poll_message_set("Switch the preview on first")
        return life.is_running()

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Do it by the player's own clock, or by Blender's timeline."""
        player = life.choices().player
        if self.action == "ALONE":
            _toggle_alone(context)
        elif self.action == "INTERPOLATION":
            _switch_interpolation(context)
        elif not player.follows_timeline:
            _BY_OWN_CLOCK[self.action](life.now_s(), life.duration_s(), 1.0 / frames_per_second(_scene(context)))
        elif self.action in _TIMELINE_HAS_ITS_OWN:
            self.report({"WARNING"}, "Blender's timeline keeps its own speed and range: "
                                     "switch off 'Timeline' in the panel to let the player do it")
            return {"CANCELLED"}
        else:
            _by_timeline(self.action, context)
        life.changed()
        return {"FINISHED"}


def _own_clock() -> dict[str, Callable[[float, float, float], None]]:
    def player() -> Any:
        return life.choices().player

    def play_or_pause(now: float, length: float, _: float) -> None:
        if player().is_playing:
            player().pause(now, length)
        else:
            player().play(now)

    def bound(edge: int) -> Callable[[float, float, float], None]:
        def set_edge(now: float, length: float, _: float) -> None:
            here, bounds = player().position_s(now, length), list(player().bounds_s(length))
            bounds[edge] = here
            player().fragment = (min(bounds), max(bounds))
        return set_edge

    def whole(now: float, length: float, _: float) -> None:
        here = player().position_s(now, length)
        player().fragment = None
        player().go_to(here, now)

    return {
        "PLAY": play_or_pause,
        "STOP": lambda now, length, _: player().stop(length),
        "RESTART": lambda now, length, _: player().restart(now, length),
        "BACKWARDS": lambda now, length, _: player().turn_round(now, length),
        "SLOWER": lambda now, length, _: player().change_speed(-1, now, length),
        "FASTER": lambda now, length, _: player().change_speed(1, now, length),
        "STEP_BACK": lambda now, length, frame: player().step(-frame, now, length),
        "STEP_ON": lambda now, length, frame: player().step(frame, now, length),
        "FROM_HERE": bound(0), "TO_HERE": bound(1), "WHOLE": whole,
    }


_BY_OWN_CLOCK = _own_clock()


def _by_timeline(action: str, context: bpy.types.Context) -> None:
    scene, player = _scene(context), life.choices().player
    if action == "PLAY":
        player.at_rest = False
        bpy.ops.screen.animation_play()
        return
    if action in ("STOP", "RESTART"):
        if action == "STOP" and context.screen is not None and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        scene.frame_set(scene.frame_preview_start if scene.use_preview_range else scene.frame_start)
    else:
        scene.frame_set(scene.frame_current + (1 if action == "STEP_ON" else -1))
    player.at_rest = action == "STOP"


def _toggle_alone(context: bpy.types.Context) -> None:
    choices = life.choices()
    if choices.alone:
        choices.alone = ""
        return
    watched = watched_character(context)
    if watched is None:
        return
    character, armature_object = watched
    motion = character.last_good
    if motion is not None:
        choices.alone = clip_at(motion, life.time_in_score(armature_object, _scene(context), motion))


def _switch_interpolation(context: bpy.types.Context) -> None:
    watched = watched_character(context)
    if watched is not None:
        settings = properties.character(watched[1])
        settings.interpolation = "SLERP" if settings.interpolation == "LERP" else "LERP"


def watched_character(context: bpy.types.Context) -> tuple[Character, bpy.types.Object] | None:
    """Return the previewed character that is active, or else the first one."""
    previewed = {character.uid: character for character in life.characters()}
    objects = [ob for ob in _scene(context).objects if ob.session_uid in previewed]
    active = context.active_object
    chosen = active if active in objects else next(iter(objects), None)
    return None if chosen is None else (previewed[chosen.session_uid], chosen)


def clip_at(motion: Motion, time_s: float) -> str:
    """Return the full name of the clip that plays at a time."""
    segment = max(int(np.searchsorted(motion.layout.begin_s, time_s, side="right")) - 1, 0)
    return motion.sequence.clips[int(motion.sequence.clip[segment])]


def _scene(context: bpy.types.Context) -> bpy.types.Scene:
    assert context.scene is not None
    return context.scene
