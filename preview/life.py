"""The preview in the viewports: everything that starts and ends with its toggle.

While it is on, hiding.py hides the original meshes.
"""

import logging
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import bpy
import gpu
import numpy as np

from ..bridge import changes, properties
from ..bridge.frame_rate import frames_per_second
from ..bridge.guard import guarded
from ..bridge.meshes.shape import is_reading, is_shaped
from ..bridge.scores import parameters, score
from ..bridge.scores.score import time_s
from ..core.playing.stage import Playable
from .cast import Actor, Actors, Cast
from .character import PreviewCharacter, SharedParts, are_bones_shown, armature_of, is_worked_on
from .choices import Choices, as_viewport
from .draw import CameraView
from .hiding import Hiding, Layer
from .instances import Tint
from .look import look_of
from .playing import Instant, played
from .preparing import PAUSE_S, QUIET_S, Preparing
from .roles import Bones
from .smooth import Smooth, is_wanted

_log = logging.getLogger(__name__)

_FRAME_S = 1.0 / 60.0
_SAMPLING_S = 0.008
"""So long a drawing samples motions; of a crowd, the others are shown where they were, and follow in the next ones."""
_READY_S = 2.0
"""So long switching on takes at most to sample frames: about 50 s of a score for 50 characters with tweaks."""
_MOST_READY_S = 4.0
"""So long it takes at most if not all characters have their first seconds by then."""
_VIEWPORT_RENDER = "RENDER_OT_opengl"
_MENU_S = 6.0
"""Time for which the originals are shown once a menu with viewport renders is open."""
_LARGE_VERTICES = 100_000
"""From here on a mesh takes about half a second to read."""


_MOST_OBJECTS = 4
"""A layer with more objects for each character is no crowd: there, looking at each character is quicker."""


class _Member(NamedTuple):
    """A character in a view layer, with its drawable meshes; has_bones: whether its bones are drawn too."""

    character: PreviewCharacter
    armature: bpy.types.Object
    meshes: list[bpy.types.Object]
    has_bones: bool


_Members = list[_Member]


class _Trial(NamedTuple):
    """A motion that a character plays instead of its score, and its start time."""

    armature_uid: int
    motion: Playable
    since_s: float


@dataclass(eq=False)
class _Running:
    """The state of a preview that is on; members: in each view layer, with the number of changes.of_scenes.

    values: last values of the characters' scores, by the session uids of their objects. playing: motions of characters,
    valid as long as the key stays the same.
    """

    characters: dict[int, PreviewCharacter]
    cast: Cast = field(default_factory=Cast)
    smooth: Smooth = field(default_factory=Smooth)
    members: dict[Layer, tuple[int, _Members]] = field(default_factory=dict)
    actors: Actors = field(default_factory=Actors)
    values: dict[int, parameters.Seen] = field(default_factory=dict)
    playing: tuple[Hashable, dict[int, Playable | None]] = (None, {})
    preparing: Preparing = field(default_factory=Preparing)
    hiding: Hiding = field(default_factory=Hiding)
    failed: bool = False
    handle: Any = None


_running: _Running | None = None
_choices = Choices()
_trial: _Trial | None = None
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
        _trial = None if motion is None else _Trial(armature_uid, motion, since_s)
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
    _running = _Running({ob.session_uid: PreviewCharacter(ob.session_uid, shared) for ob in armatures})
    _running.handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")
    for handlers, handler in _handlers():
        handlers.append(handler)
    changes.everything()  # clear caches of an earlier preview
    _evaluate_again(_running)
    changed()


def read_large_meshes(layer: bpy.types.ViewLayer, tell: Callable[[float], None]) -> None:
    """Read meshes that would delay the first drawing; tell: called with the share of the work done."""
    if _running is None:
        return
    layer.update()  # switching on evaluates the meshes, which counts as a change of them
    large = [(character, armature, mesh)
             for character, armature, meshes, _ in _find_members(_running, layer) for mesh in meshes
             if len(cast(bpy.types.Mesh, mesh.data).vertices) >= _LARGE_VERTICES or is_shaped(mesh)]
    for number, (character, armature, mesh) in enumerate(large):
        def tell_of_all(share: float, before: int = number) -> None:
            tell((before + share) / len(large))

        tell_of_all(0.0)
        character.read_ahead(armature, mesh, tell_of_all)


def get_ready(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
    """Sample what characters play at the frames of the scene, for a few seconds at most, so that playing can begin."""
    if _running is None:
        return
    layer.update()
    with score.while_drawing(changed):
        playing = _known_motions(_running)
        for character, armature, meshes, _ in _find_members(_running, layer):
            if any(mesh.visible_get(view_layer=layer) for mesh in meshes):
                playing[character.uid] = played(armature, _choices)
    began_s, preparing = time.perf_counter(), _running.preparing
    while not _is_prepared(_running, scene):
        if time.perf_counter() - began_s >= (_READY_S if preparing.has_begun else _MOST_READY_S):
            break
        preparing.go_on(_running.cast.ahead, playing, _running.playing[0], scene)


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


def _note_values(running: _Running, scene: bpy.types.Scene) -> None:
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
    if bpy.app.timers.is_registered(_hide_again) or _is_viewport_rendered():
        show_originals()
    else:
        _running.hiding.hide(scene, depsgraph, _running.characters)


def _is_viewport_rendered() -> bool:
    manager = bpy.context.window_manager
    return any(running is not None and running.bl_idname == _VIEWPORT_RENDER  # None: its class has gone
               for window in (manager.windows if manager else ()) for running in window.modal_operators)


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
    if _is_viewport_rendered():
        return _MENU_S
    if _running is not None:
        _evaluate_again(_running)
    return None


@guarded(None)
def _before_evaluation(scene: bpy.types.Scene, _: object = None) -> None:
    if _running is not None and not is_reading():
        _running.hiding.show(scene)


def _evaluate_again(running: _Running) -> None:
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
    view = CameraView(np.array(context.region_data.view_matrix, dtype=np.float64),
                np.array(context.region_data.window_matrix, dtype=np.float64), region.width, region.height,
                encode=False, look=look_of(space.shading, scene.view_settings))
    smooth = _running.smooth if is_wanted(region.width, region.height) else None
    seen = as_viewport(_choices, space.shading)
    if not _has_depth(space):
        cast(Any, gpu.state.active_framebuffer_get()).clear(depth=1.0)
    are_all_there = _running.cast.draw(_visible(_running, context), view, seen, _SAMPLING_S, smooth)
    if not are_all_there and not bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.register(_redraw)  # a viewport cannot be tagged while it is drawn
    _running.preparing.drawn_s = time.perf_counter()
    if not bpy.app.timers.is_registered(_prepare) and not _is_prepared(_running, scene):
        bpy.app.timers.register(_prepare, first_interval=QUIET_S)


@guarded(None)
def _prepare() -> float | None:
    """Sample what other frames show while nothing is drawn."""
    scene = bpy.context.scene
    if _running is None or scene is None or _is_prepared(_running, scene):
        return None
    if not _running.preparing.is_quiet():
        return QUIET_S
    key, playing = _running.playing
    _running.preparing.go_on(_running.cast.ahead, playing, key, scene)
    return PAUSE_S


def _is_prepared(running: _Running, scene: bpy.types.Scene) -> bool:
    """Return whether all frames of the scene are sampled; a player with its own clock needs none."""
    return not _choices.player.follows_timeline or running.preparing.is_done(running.playing[0], scene)


def _known_motions(running: _Running) -> dict[int, Playable | None]:
    """Return the motions of characters that are known so far, which is none after a change."""
    score.look()
    now = changes.of_scores(), changes.of_all_data(), _choices.alone, _choices.transitions
    if running.playing[0] != now:
        running.playing = now, {}
    return running.playing[1]


def _has_depth(space: bpy.types.SpaceView3D) -> bool:
    """Return whether Blender has left its depth in a viewport.

    Without overlays EEVEE leaves no depth, so nothing could be drawn behind its objects.
    """
    return space.overlay.show_overlays or space.shading.type not in ("MATERIAL", "RENDERED")


def _visible(running: _Running, context: bpy.types.Context) -> list[Actor]:
    """Return the characters that are visible in the viewport of the context."""
    scene, layer, space = cast(Any, (context.scene, context.view_layer, context.space_data))
    key = scene.session_uid, layer.name
    number, found = running.members.get(key, (-1, []))
    if number != changes.of_scenes():
        found = _find_members(running, layer)
        running.members[key] = changes.of_scenes(), found
    playing = _known_motions(running)
    overlay, instant = space.overlay, Instant.of(scene, _choices.player, now_s())
    with_bones = overlay.show_overlays and overlay.show_bones
    with_outlines = overlay.show_overlays and overlay.show_outline_selected
    is_local, data = space.local_view is not None, changes.of_all_data()
    seen = None if is_local or _trial is not None else _seen(found, context)
    # Numbers of changes first: if they differ, objects that may be gone are not compared.
    actors, seen = running.actors, seen and (running.playing[0], changes.of_scenes(), with_bones, with_outlines, *seen)
    if seen is not None and seen == actors.key:
        for actor in actors.found:
            actor.time_s = instant.time_s(actor.armature, actor.motion)
        return actors.found
    alike, times_s = list[tuple[Any, ...]](), list[float]()
    for character, armature, members, has_bones in found:
        meshes = [mesh for mesh in members if mesh.visible_get(view_layer=layer, viewport=space)
                  or (is_local and _is_seen(mesh, armature, layer, space))]
        if meshes:
            if not character.is_fresh(meshes, data):
                waiting = character.refresh(armature, meshes, is_drawing=True)
                if waiting and not bpy.app.timers.is_registered(_read_waiting):
                    bpy.app.timers.register(_read_waiting)
            motion, time_now_s = _played(character.uid, armature, instant, playing)
            times_s.append(time_now_s)
            alike.append((character.revision, character, armature, meshes, motion,
                          _outline(meshes, layer) if with_outlines else None,
                          _bones(armature, layer, space) if with_bones and has_bones else ""))
    actors.key = seen
    return actors.at(alike, times_s)


def _seen(members: _Members, context: bpy.types.Context) -> tuple[object, ...] | None:
    """Return what stays equal while a viewport shows the same characters in the same way, or None if there are few.

    Blender lists the visible objects at once, which in a crowd is quicker than looking at each.
    """
    layer = context.view_layer
    assert layer is not None
    if len(layer.objects) > _MOST_OBJECTS * len(members):
        return None
    selected = layer.objects.selected[:]
    return (members, context.visible_objects, selected, _outline_colours() if selected else (), layer.objects.active,
            [character.revision for character, *_ in members], [armature.show_in_front for _, armature, *_ in members])


def _is_seen(mesh: bpy.types.Object, armature: bpy.types.Object, layer: bpy.types.ViewLayer,
             space: bpy.types.SpaceView3D) -> bool:
    """Return whether a viewport shows a mesh; in local view this depends on its armature."""
    if mesh.visible_get(view_layer=layer, viewport=space):
        return True
    if space.local_view is None or not armature.visible_get(view_layer=layer, viewport=space):
        return False
    with bpy.context.temp_override(area=None, region=None):  # otherwise it uses the context's viewport
        return mesh.visible_get(view_layer=layer)


def _played(uid: int, armature: bpy.types.Object, instant: Instant,
            playing: dict[int, Playable | None]) -> tuple[Playable | None, float]:
    """Return a character's motion and the time in it; playing: motions known so far, by uid."""
    if _trial is not None and _trial.armature_uid == uid:
        return _trial.motion, (instant.now_s - _trial.since_s) % max(_trial.motion.duration_s, 1e-3)
    if uid not in playing:
        playing[uid] = played(armature, _choices)
    return playing[uid], instant.time_s(armature, playing[uid])


def _find_members(running: _Running, layer: bpy.types.ViewLayer) -> _Members:
    """Return the characters in a view layer with their drawable meshes."""
    found: dict[int, list[bpy.types.Object]] = {}
    armatures = {}
    for ob in layer.objects:
        if ob.session_uid in running.characters:
            armatures[ob.session_uid] = ob
        elif ob.type == "MESH" and not is_worked_on(ob) and (armature := armature_of(ob)) is not None:
            found.setdefault(armature.session_uid, []).append(ob)
    members = [_Member(running.characters[uid], armature, found.get(uid, []), are_bones_shown(armature))
               for uid, armature in armatures.items()]
    for member in members:
        member.character.note_settings(member.meshes)
    return members


def _bones(armature: bpy.types.Object, layer: bpy.types.ViewLayer, space: bpy.types.SpaceView3D) -> Bones:
    """Return how the viewport would show the bones, which are hidden since the score poses them differently."""
    if not armature.visible_get(view_layer=layer, viewport=space):
        return ""
    return "IN_FRONT" if armature.show_in_front else "BEHIND"


@guarded(None)
def _read_waiting() -> None:
    """Read meshes that could not be read during a drawing, and redraw."""
    layer = bpy.context.view_layer
    if _running is None or layer is None:
        return
    for character, armature, meshes, _ in _find_members(_running, layer):
        for mesh in character.refresh(armature, meshes, is_drawing=True):
            character.read_ahead(armature, mesh)
    _redraw()


def _outline(meshes: list[bpy.types.Object], layer: bpy.types.ViewLayer) -> Tint | None:
    """Return the theme's outline colour if meshes are selected, else None; Blender draws none for hidden originals."""
    for ob in meshes:  # quicker than any() in a crowd
        if ob.select_get(view_layer=layer):
            break
    else:
        return None
    red, green, blue = (channel ** 2.2 for channel in _outline_colours()[layer.objects.active not in meshes])
    return red, green, blue, 1.0


def _outline_colours() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the theme's colours for the active object, and for other selected ones."""
    assert bpy.context.preferences is not None
    theme: Any = bpy.context.preferences.themes[0].view_3d
    return theme.object_active[:], theme.object_selected[:]
