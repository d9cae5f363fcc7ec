"""The player's actions, by its own clock or by Blender's timeline."""

from collections.abc import Callable

import bpy

from . import life
from .player import Clock, Player

OwnClock = Callable[[Player, float, float, float], None]
"""Takes the player, the clock's time, and the lengths of the score and of a frame, all in seconds."""
ByTimeline = Callable[[bpy.types.Context, bpy.types.Scene, Player], None]


def _play_or_pause(player: Player, now_s: float, length_s: float, _: float) -> None:
    if player.is_playing:
        player.pause(now_s, length_s)
    else:
        player.play(now_s)


def _bound(edge: int) -> OwnClock:
    def set_edge(player: Player, now_s: float, length_s: float, _: float) -> None:
        here, bounds = player.position_s(now_s, length_s), list(player.bounds_s(length_s))
        bounds[edge] = here
        player.fragment = (min(bounds), max(bounds))
    return set_edge


def _whole(player: Player, now_s: float, length_s: float, _: float) -> None:
    here = player.position_s(now_s, length_s)
    player.fragment = None
    player.go_to(here, now_s)


BY_OWN_CLOCK: dict[str, OwnClock] = {
    "PLAY": _play_or_pause,
    "STOP": lambda player, now, length, _: player.stop(length),
    "RESTART": lambda player, now, length, _: player.restart(now, length),
    "BACKWARDS": lambda player, now, length, _: player.turn_round(now, length),
    "SLOWER": lambda player, now, length, _: player.change_speed(-1, now, length),
    "FASTER": lambda player, now, length, _: player.change_speed(1, now, length),
    "STEP_BACK": lambda player, now, length, frame: player.step(-frame, now, length),
    "STEP_ON": lambda player, now, length, frame: player.step(frame, now, length),
    "FROM_HERE": _bound(0), "TO_HERE": _bound(1), "WHOLE": _whole,
}


def use_clock(context: bpy.types.Context, clock: Clock) -> None:
    """Change to the player's own clock or to the timeline, at the same time and in the same state."""
    player = life.choices().player
    if clock == player.clock:
        return
    life.keep_time()
    if clock == "OWN":
        was_playing = is_timeline_playing(context)
        if was_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        player.clock = clock
        if was_playing:
            player.play(life.now_s())
        return
    was_playing = player.is_playing
    player.pause(life.now_s(), life.duration_s())
    now_in_score_s = player.position_s(life.now_s(), life.duration_s())
    player.clock = clock
    if context.scene is not None and life.characters():
        context.scene.frame_set(life.frame_of(context.scene, now_in_score_s))
    if was_playing:
        bpy.ops.screen.animation_play(reverse=player.backwards)


def is_timeline_playing(context: bpy.types.Context) -> bool:
    """Return whether Blender plays its timeline."""
    return context.screen is not None and context.screen.is_animation_playing


def _play_timeline(_context: bpy.types.Context, _scene: bpy.types.Scene, player: Player) -> None:
    player.at_rest = False
    bpy.ops.screen.animation_play(reverse=player.backwards)


def _stop_timeline(context: bpy.types.Context, scene: bpy.types.Scene, player: Player) -> None:
    if is_timeline_playing(context):
        bpy.ops.screen.animation_cancel(restore_frame=False)
    scene.frame_set(_range(scene)[0])
    player.at_rest = True


def _restart_timeline(_context: bpy.types.Context, scene: bpy.types.Scene, player: Player) -> None:
    scene.frame_set(_range(scene)[1 if player.backwards else 0])
    player.at_rest = False


def _turn_timeline(context: bpy.types.Context, _scene: bpy.types.Scene, player: Player) -> None:
    player.backwards = not player.backwards
    if is_timeline_playing(context):
        bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.ops.screen.animation_play(reverse=player.backwards)


def _step_timeline(frames: int) -> ByTimeline:
    def step(_context: bpy.types.Context, scene: bpy.types.Scene, player: Player) -> None:
        scene.frame_set(scene.frame_current + frames)
        player.at_rest = False
    return step


def _bound_timeline(edge: int) -> ByTimeline:
    def set_edge(context: bpy.types.Context, scene: bpy.types.Scene, _: Player) -> None:
        bounds = list(_range(scene))
        bounds[edge] = scene.frame_current
        scene.use_preview_range = True
        scene.frame_preview_start, scene.frame_preview_end = min(bounds), max(bounds)
        _remember(context, "Set Preview Range")
    return set_edge


def _whole_timeline(context: bpy.types.Context, scene: bpy.types.Scene, _: Player) -> None:
    scene.use_preview_range = False
    _remember(context, "Clear Preview Range")


def _range(scene: bpy.types.Scene) -> tuple[int, int]:
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def _remember(context: bpy.types.Context, message: str) -> None:
    """Add an undo step; without a window there is no undo."""
    if context.window is not None:
        bpy.ops.ed.undo_push(message=message)


BY_TIMELINE: dict[str, ByTimeline] = {
    "PLAY": _play_timeline, "STOP": _stop_timeline, "RESTART": _restart_timeline, "BACKWARDS": _turn_timeline,
    "STEP_BACK": _step_timeline(-1), "STEP_ON": _step_timeline(1),
    "FROM_HERE": _bound_timeline(0), "TO_HERE": _bound_timeline(1), "WHOLE": _whole_timeline,
}
