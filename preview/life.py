"""The preview in the viewports: everything that starts and ends with its toggle.

While it is on, hiding.py hides the original meshes.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, cast

import bpy
import gpu

from ..bridge import changes, properties
from ..bridge.frame_rate import frames_per_second
from ..bridge.guard import guarded
from ..bridge.meshes.shape import is_reading
from ..bridge.scores import parameters, score
from ..bridge.scores.score import time_s
from ..core.playing.stage import Playable
from . import getting_ready, picking
from .character import PreviewCharacter, SharedParts, armature_of
from .choices import Choices, as_viewport
from .getting_ready import is_prepared
from .look import look_of, studio
from .playing import Instant
from .preparing import PAUSE_S, QUIET_S
from .running import Chosen, Running, Trial
from .smooth import is_wanted
from .viewport import has_depth, is_viewport_rendered, view_of
from .visible import find_members, visible

_log = logging.getLogger(__name__)

_FRAME_S = 1.0 / 60.0
_SAMPLING_S = 0.008
"""So long a drawing samples motions; of a crowd, the others are shown where they were, and follow in the next ones."""
_MENU_S = 6.0
"""Time for which the originals are shown once a menu with viewport renders is open."""
on_start: list[Callable[[], None]] = []
"""Called whenever the preview is switched on."""
_running: Running | None = None
_choices = Choices()
_trial: Trial | None = None
_error = ""


def is_running() -> bool:
    """Return whether the preview is on."""
    return _running is not None


def error() -> str:
    """Return why the preview last switched itself off, or ""."""
    return _error


def choices() -> Choices:
    """Return the choices; call `changed` after changing them."""
    return _choices


def picture() -> str:
    """Return the current kind of picture."""
    return _choices.picture


def show(what: str) -> None:
    """Set the kind of picture."""
    _choices.picture = what
    changed()


def changed() -> None:
    """Redraw, and keep drawing while the player plays."""
    _redraw()
    if _running is not None and _choices.player.is_playing and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick)


def now_s() -> float:
    """Return the time of the player's clock."""
    return time.perf_counter()


def duration_s() -> float:
    """Return the duration of the longest played motion, or 0 if there is none."""
    motions = (score.last_good(character.uid) for character in characters())
    return max((motion.duration_s for motion in motions if motion is not None), default=0.0)


def keep_time() -> None:
    """Keep the player at its current time through the next change of its clock."""
    player = _choices.player
    scene = bpy.context.scene
    first = None if scene is None else _first(scene)
    if not player.follows_timeline:
        player.go_to(player.position_s(now_s(), duration_s()), now_s())
    elif scene is not None and first is not None:
        player.go_to(time_s(first, scene, scene.frame_current_final), now_s())


def frame_of(scene: bpy.types.Scene, when_s: float) -> int:
    """Return the frame at which the first character of the scene is at a time of its score."""
    first = _first(scene)
    return round((scene.frame_start if first is None else properties.character(first).frame_start)
                 + when_s * frames_per_second(scene))


def _first(scene: bpy.types.Scene) -> bpy.types.Object | None:
    return next((ob for ob in scene.objects if _running is not None and ob.session_uid in _running.characters), None)


def time_in_score(armature: bpy.types.Object, scene: bpy.types.Scene, motion: Playable) -> float:
    """Return a character's time in its score, or in the motion that replaces it, in seconds."""
    return Instant.of(scene, _choices.player, now_s()).time_s(armature, motion)


def try_out(motion: Playable | None, armature_uid: int = 0, since_s: float = 0.0) -> None:
    """Let a character repeat another motion, from a time of the player's clock on; None ends it."""
    global _trial
    if motion is not None or _trial is not None:
        _trial = None if motion is None else Trial(armature_uid, motion, since_s)
        _redraw()


def tried_out() -> Playable | None:
    """Return the motion that a character plays instead of its score."""
    return None if _trial is None else _trial.motion


def characters() -> list[PreviewCharacter]:
    """Return the previewed characters."""
    return [] if _running is None else list(_running.characters.values())


def start(armatures: Iterable[bpy.types.Object]) -> None:
    """Preview the characters of these armatures in all 3D viewports, instead of those previewed before."""
    global _running, _error
    stop()
    _error = ""
    shared: SharedParts = SharedParts()
    _running = Running({ob.session_uid: PreviewCharacter(ob.session_uid, shared) for ob in armatures})
    _running.handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")
    for handlers, handler in _handlers():
        handlers.append(handler)
    changes.everything()  # clear caches of an earlier preview
    _evaluate_again(_running)
    for notify in on_start:
        notify()
    changed()


def read_large_meshes(layer: bpy.types.ViewLayer, tell: Callable[[float], None]) -> None:
    """Read meshes that would delay the first drawing; tell: called with the share of the work done."""
    if _running is not None:
        getting_ready.read_large_meshes(_running, layer, tell)


def get_ready(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
    """Sample what characters play at the frames of the scene, for a few seconds at most, so that playing can begin."""
    if _running is not None:
        with score.while_drawing(changed):
            getting_ready.sample_frames(_running, scene, layer, _choices)


@guarded(None)
def stop() -> None:
    """Switch the preview off and show the original meshes again; does nothing if it is off."""
    global _running
    if _running is None:
        return
    running, _running = _running, None
    score.forget_shown()
    bpy.types.SpaceView3D.draw_handler_remove(running.handle, "WINDOW")
    for handlers, handler in _handlers():
        if handler in handlers:  # Blender itself removes them when a file is loaded
            handlers.remove(handler)
    for timer in (stop, _tick, _read_waiting, _redraw, _hide_again, _prepare):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    _evaluate_again(running)


def _handlers() -> list[tuple[list[Any], Any]]:
    on = bpy.app.handlers
    return [(on.depsgraph_update_pre, _before_evaluation), (on.frame_change_pre, _before_evaluation),
            (on.depsgraph_update_post, _after_update), (on.frame_change_post, _after_frame),
            (on.load_pre, _before_load)]


@guarded(None)
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Hide evaluated copies again; stop if no character is left."""
    if _running is None or is_reading():
        return
    if not any(ob.session_uid in _running.characters for ob in bpy.data.objects):
        stop()
        return
    _hide(scene, depsgraph)


@guarded(None)
def _after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Update keyed values; a stopped player shows the timeline's frame again when that changes."""
    if _choices.player.follows_timeline:
        _choices.player.at_rest = False
    if _running is not None and not is_reading():
        _note_values(_running, scene)
    _hide(scene, depsgraph)


def _note_values(running: Running, scene: bpy.types.Scene) -> None:
    """Update values of scores: keyed values change with the frame, without a notification."""
    now = {ob.session_uid: values for ob in scene.objects
           if ob.session_uid in running.characters and (values := parameters.seen(ob))}
    if now != running.values:
        running.values = now
        changes.score()


@guarded(None)
def _before_load(*_: object) -> None:
    stop()


def _hide(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _running is None or is_reading():
        return
    if bpy.app.timers.is_registered(_hide_again) or is_viewport_rendered():
        show_originals()
    else:
        _running.hiding.hide(scene, depsgraph, _running.characters)


def show_originals() -> None:
    """Show the originals too for a moment, since a viewport may be rendered, where Takt draws nothing.

    Blender has no notification before it renders a viewport.
    """
    scene = bpy.context.scene
    if _running is not None and scene is not None:
        _running.hiding.show(scene)
        if not bpy.app.timers.is_registered(_hide_again):
            bpy.app.timers.register(_hide_again, first_interval=_MENU_S)


@guarded(None)
def _hide_again() -> float | None:
    if is_viewport_rendered():
        return _MENU_S
    if _running is not None:
        _evaluate_again(_running)
    return None


@guarded(None)
def _before_evaluation(scene: bpy.types.Scene, _: object = None) -> None:
    if _running is not None and not is_reading():
        _running.hiding.show(scene)


def _evaluate_again(running: Running) -> None:
    """Tag the originals for evaluation, which hides them when the preview is on and shows them when it is off."""
    for ob in bpy.data.objects:
        armature = armature_of(ob)
        if armature is not None and armature.session_uid in running.characters:
            ob.update_tag()
    _redraw()


@guarded(None)
def _tick() -> float | None:
    """Redraw while the player plays; a timer."""
    if _running is None or not _choices.player.is_playing:
        return None
    _redraw()
    return _FRAME_S


@guarded(None)
def _redraw() -> None:
    for window in bpy.context.window_manager.windows if bpy.context.window_manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


@guarded(None)
def _draw() -> None:
    """Draw all characters into a viewport; a failure is reported once and switches the preview off."""
    global _error
    if _running is None or _running.failed:
        return
    try:
        with score.while_drawing(changed):
            draw_viewport(bpy.context)
    except Exception as problem:  # Blender would print any exception at every redraw
        _log.exception("The preview failed and has been switched off")
        _error = str(problem)
        _running.failed = True
        # Handlers must not be removed during a drawing.
        bpy.app.timers.register(stop)


def draw_viewport(context: bpy.types.Context) -> None:
    """Draw the characters that are visible in the viewport of the context."""
    assert _running is not None
    scene, layer, region = context.scene, context.view_layer, context.region
    if scene is None or layer is None or region is None or context.region_data is None:
        return
    space = cast(bpy.types.SpaceView3D, context.space_data)
    view = view_of(context.region_data, region, look_of(space.shading, scene.view_settings))
    smooth = _running.smooth if is_wanted(region.width, region.height) else None
    seen = as_viewport(_choices, space.shading)
    if not has_depth(space):
        cast(Any, gpu.state.active_framebuffer_get()).clear(depth=1.0)
    actors = visible(_running, context, _chosen(), _read_later)
    are_all_there = _running.cast.draw(actors, view, seen, _SAMPLING_S, smooth)
    if not are_all_there and not bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.register(_redraw)  # a viewport cannot be tagged while it is drawn
    _running.preparing.drawn_s = time.perf_counter()
    if not bpy.app.timers.is_registered(_prepare) and not is_prepared(_running, scene, _choices):
        bpy.app.timers.register(_prepare, first_interval=QUIET_S)


def object_at(context: bpy.types.Context, pixel: tuple[int, int]) -> bpy.types.Object | None:
    """Return the object of a previewed character that is seen at a pixel of the context's viewport, or None.

    pixel: from the lower left. None also if an object that Blender itself draws is before it.
    """
    region, space = context.region, context.space_data
    assert region is not None and context.region_data is not None and isinstance(space, bpy.types.SpaceView3D)
    if _running is None or _running.failed:
        return None
    # without a window the scale is 0
    scale = (context.preferences.system.ui_scale if context.preferences is not None else 1.0) or 1.0
    view = view_of(context.region_data, region, studio())
    with score.while_drawing(changed):
        actors = visible(_running, context, _chosen(), _read_later)
        picked = picking.pick(actors, _running.cast.ahead, _choices, view, pixel, scale)
    if picked is None or picking.is_covered(context, view, picked, pixel, scale, actors):
        return None
    return picked.ob


@guarded(None)
def _prepare() -> float | None:
    """Sample what other frames show while nothing is drawn."""
    scene = bpy.context.scene
    if _running is None or scene is None or is_prepared(_running, scene, _choices):
        return None
    if not _running.preparing.is_quiet():
        return QUIET_S
    key, playing = _running.playing
    _running.preparing.go_on(_running.cast.ahead, playing, key, scene)
    return PAUSE_S


def _chosen() -> Chosen:
    return Chosen(_choices, _trial, now_s())


def _read_later() -> None:
    if not bpy.app.timers.is_registered(_read_waiting):
        bpy.app.timers.register(_read_waiting)


@guarded(None)
def _read_waiting() -> None:
    """Read meshes that could not be read during a drawing, and redraw."""
    layer = bpy.context.view_layer
    if _running is None or layer is None:
        return
    for character, armature, meshes, _ in find_members(_running, layer):
        for mesh in character.refresh(armature, meshes, is_drawing=True):
            character.read_ahead(armature, mesh)
    _redraw()


