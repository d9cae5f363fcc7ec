"""The score editors on the screen: their drawing, updates, and checks for changes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...bridge import language, properties
from ...bridge.frame_rate import frames_per_second
from ...bridge.guard import guarded
from ...bridge.language import say
from ...bridge.meshes.shape import is_reading
from ...bridge.reports import in_brief
from ...bridge.scores import score, score_blocks, score_tree
from ...bridge.scores.score import last_good, time_s
from ...bridge.scores.score_blocks import Blocks
from ...bridge.scores.score_fields import why_behind
from ...bridge.scores.sound import trouble_with, waveform
from ...bridge.shelf import shelf as bridge_shelf
from ...bridge.shelf import shelf_order
from ...bridge.tweaking import tweak_moments, tweak_selection
from ...core.errors import Problem, TaktError
from ...core.maths.arrays import FloatArray
from ...core.score_editor import shelf
from ...core.score_editor.boxes import ancestors, colours_of_procedures
from ...core.score_editor.commands import Playable
from ...core.score_editor.drawing import Marked, picture, playhead_layer, scrollbar_layer
from ...core.score_editor.gestures import of_handle
from ...core.score_editor.layout import BoxId, Layout
from ...core.score_editor.overlay import AtMouse, overlay
from ...core.score_editor.picture import Layer, Pen, Picture, clipped
from ...core.score_editor.sound import sound_layer
from ...core.score_editor.stripes import Stripes
from ...core.score_editor.theme import Theme
from .. import life as preview
from . import rehearsing, windows
from .canvas import Poured
from .theme import theme_of

_log = logging.getLogger(__name__)

_LOOK_S = 0.05
"""Interval in which the shown texts are checked, since typing sends no notification."""
_NOTHING: Mapping[BoxId, Problem] = {}
_handle: object = None
_has_failed = False


def register() -> None:
    """Start drawing in score editors."""
    global _handle, _has_failed
    _has_failed = False
    _handle = bpy.types.SpaceNodeEditor.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")
    for handlers, handler in _handlers():
        handlers.append(handler)


def unregister() -> None:
    """Stop drawing, and clear all caches."""
    bpy.types.SpaceNodeEditor.draw_handler_remove(_handle, "WINDOW")
    for handlers, handler in _handlers():
        if handler in handlers:
            handlers.remove(handler)
    for timer in (_look, _refresh, score_tree.give_trees):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    rehearsing.stop()
    windows.forget_closed(set())
    score_blocks.forget()
    tweak_moments.forget()
    tweak_selection.forget()
    bridge_shelf.forget()


def tick_now(armature_object: bpy.types.Object, scene: bpy.types.Scene, layout: Layout) -> float:
    """Return the current tick: at the scene's frame, or by the player's own clock if that is chosen."""
    motion = None if preview.choices().player.follows_timeline else last_good(armature_object.session_uid)
    if motion is not None and preview.is_running():
        now_s = preview.time_in_score(armature_object, scene, motion)
    else:
        now_s = time_s(armature_object, scene, scene.frame_current_final)
    tick = float(layout.ticks_at(np.array((now_s,)))[0])
    is_loop = bool(layout.rows) and layout.rows[0].is_loop
    return tick % layout.ticks if is_loop and layout.ticks > 0.0 else tick


def frame_at(armature_object: bpy.types.Object, scene: bpy.types.Scene, layout: Layout, tick: float) -> float:
    """Return the frame of the scene at which a tick is played, with its fraction."""
    return float(frames_at(armature_object, scene, layout, np.array((tick,)))[0])


def tick_of_frame(armature_object: bpy.types.Object, scene: bpy.types.Scene, layout: Layout, tick: float) -> float:
    """Return the tick at which the whole frame nearest to a tick is played."""
    frame = np.round(frame_at(armature_object, scene, layout, tick))
    time_s = (frame - properties.character(armature_object).frame_start) / frames_per_second(scene)
    return float(layout.ticks_at(np.array((time_s,)))[0])


def frames_at(armature_object: bpy.types.Object, scene: bpy.types.Scene, layout: Layout,
              ticks: FloatArray) -> FloatArray:
    """Return the frames of the scene at which ticks (N,) are played, with their fractions."""
    return properties.character(armature_object).frame_start + layout.seconds(ticks) * frames_per_second(scene)


@guarded(None)
def _draw() -> None:
    """Draw an editor; a failure is reported once, not at every redraw."""
    global _has_failed
    context = bpy.context
    if _has_failed or not score_tree.is_score_editor(context.space_data):
        return
    try:
        draw_editor(context)
    except Exception:  # Blender would print any exception at every redraw
        _log.exception("The score editor failed and has been switched off")
        _has_failed = True


def draw_editor(context: bpy.types.Context) -> None:
    """Draw the score of the context's editor; parts that must be computed first are drawn a little later."""
    tree = score_tree.tree_of(context)
    if tree is None:
        _soon(score_tree.give_trees)
    _soon(_look, _LOOK_S)
    armature_object, theme = score_tree.character_of(tree, context), theme_of(context)
    blocks = None
    if armature_object is not None:
        blocks = score_blocks.shown(armature_object)
        if blocks is None:
            _soon(_refresh)  # _look checks whether the layout fits the current text, which takes a while
    if armature_object is None or blocks is None or blocks.layout is None or (
            blocks.error is not None and not len(blocks.layout.boxes)):
        _draw_words(context, theme, _said_instead(armature_object, blocks))
        return
    window = windows.look_into(context, blocks.layout)
    score_px = Stripes.of(blocks.layout, replace(window.view, scroll_px=0.0)).height
    shelf_px = shelf.height_of(window.view, score_px) if tree is not None and tree.has_shelf else 0.0
    window.view = window.view.scrolled_within(score_px, shelf_px)
    assert context.scene is not None
    _cover(context, theme)
    music = None if blocks.music is None else waveform(blocks.music, score_tree.redraw)
    trouble = say("is gone: choose the music again" if blocks.music is None else trouble_with(blocks.music))
    meter = score_tree.meter_of(armature_object)
    missed = _missed(armature_object)
    depends_on = (blocks, window.view, theme, marked(tree, blocks, window.pulled, missed), meter, music, trouble,
                  language.locale())
    if window.drawn is None or window.drawn[0] != depends_on:
        whole = picture(blocks.layout, *depends_on[1:4], meter=meter)
        heard = sound_layer(music, blocks.layout, window.view, theme, trouble)
        window.drawn = depends_on, Poured.of(Picture((*whole.layers, heard)))
    window.drawn[1].draw()
    playhead = playhead_layer(tick_now(armature_object, context.scene, blocks.layout), window.view, theme, meter)
    Poured.of(Picture((scrollbar_layer(window.view, theme, score_px, shelf_px), playhead))).draw()
    hovered = None if window.front is not None else _hover(armature_object, blocks, window, theme, missed)
    if hovered is not None:
        Poured.of(hovered).draw()
    if blocks.error is not None and not blocks.problems:
        Poured.of(Picture((_mistake(blocks.layout, blocks.error, window, theme, shelf_px),))).draw()
    _draw_shelf(tree, armature_object, blocks.layout, window, theme, score_px)
    if window.front is not None:
        Poured.of(window.front(theme)).draw()


def _missed(armature_object: bpy.types.Object) -> Mapping[BoxId, Problem]:
    """Return warnings of what the last performed motion does not reach in the scene, by boxes.

    If the motion is outdated, a thread performs the score later.
    """
    with score.while_drawing(_performed):
        return score_blocks.missed(armature_object, score.shown(armature_object))


def marked(tree: score_tree.TaktScoreTree | None, blocks: Blocks, pulled: BoxId | None = None,
           missed: Mapping[BoxId, Problem] = _NOTHING) -> Marked:
    """Return the boxes to mark; the pulled box, and others of its element, are marked as selected.

    missed: warnings and notes of what the motion does not reach in the scene.
    """
    errors = frozenset(box for box, problem in blocks.problems.items() if not problem.is_warning)
    errors |= {box for box, problem in missed.items() if problem.missing}
    warnings = frozenset(box for box, problem in blocks.problems.items() if problem.is_warning and not problem.is_note)
    selected = score_tree.selection(tree, blocks.selectable) if blocks.is_numbered_as_written else frozenset[BoxId]()
    selected |= frozenset() if pulled is None or not blocks.is_numbered_as_written else {pulled}
    return Marked(selected, errors=errors, warnings=warnings, is_stale=blocks.error is not None,
                  missed=frozenset(box for box, problem in missed.items() if problem.is_missed))


def _mistake(layout: Layout, error: TaktError, window: windows.Window, theme: Theme, above_px: float) -> Layer:
    """Write at the foot of the score why it shows an earlier text, if no block is marked for that."""
    view, first_line = window.view, say(in_brief(error).partition("\n")[0])
    words = clipped(first_line, 0.9 * view.width, theme.size_px * view.scale, theme.measure)
    return overlay(layout, view, theme, AtMouse(0.5 * view.width, above_px, refusal=words))


def _draw_shelf(tree: score_tree.TaktScoreTree | None, armature_object: bpy.types.Object, layout: Layout,
                window: windows.Window, theme: Theme, score_px: float) -> None:
    """Draw the shelf, if it is shown."""
    if tree is None or not tree.has_shelf:
        window.shelf = window.shelf_drawn = None
        return
    block = shelf_order.clip_of_block(armature_object, tree) if tree.shelf_order in shelf_order.BY_BLOCK else ""
    window.seek(tree.search, tree.shelf_order, block)
    chip = window.chip if window.front is None else None
    view = window.view
    depends_on = (bridge_shelf.state(armature_object), bridge_shelf.is_searching(armature_object), tree.search,
                  (view.width, view.height, view.scale), theme, window.shelf_px, chip,
                  score_px, tree.shelf_order, block, language.locale())  # not on zoom or position
    if window.shelf is None or window.shelf_drawn is None or window.shelf_drawn[0] != depends_on:
        playables, unordered = shelf_order.ordered(armature_object, tree, shelf.found(
            bridge_shelf.playables(armature_object), tree.search), at_once=shelf_order.AT_ONCE)
        figures = bridge_shelf.figures(armature_object)
        is_plain = not tree.search and tree.shelf_order == "LIBRARY"
        places = (bridge_shelf.structure(armature_object), len(playables)), *depends_on[3:6], score_px
        before, arranged = window.shelf_arranged if is_plain else None, window.shelf
        if arranged is None or before is None or before[1:] != places[1:] or not _may_stay(before[0], places[0], chip):
            arranged = _arranged(window, playables, theme, score_px)
            chip = window.chip if window.front is None else None
        elif before == places:
            arranged = arranged.told_anew(playables)
        else:
            places = before
        window.shelf, window.shelf_arranged = arranged, places if is_plain else None
        words = ("Looking through the library…" if bridge_shelf.is_searching(armature_object) else
                 ("No clip has all of these" if len(shelf.phrases(tree.search)) > 1 else "Nothing of that name")
                 if tree.search else "No clips yet: choose Add › Clip Folder…")
        note = say(unordered or bridge_shelf.trouble(armature_object))
        layers = [*shelf.shelf_layers(arranged, window.view, theme, shelf.OnShelf(
            None if chip is None else chip.playable, say(words), note, figures,
            colours_of_procedures(layout.documents)))]
        if chip is not None:
            above = arranged.height - 12.0 * window.view.scale
            layers.append(overlay(layout, window.view, theme, AtMouse(
                chip.x, above, say(shelf.told(arranged.as_now(chip.playable), layout.tick_s)))))
        window.shelf_drawn = depends_on, Poured.of(Picture(tuple(layers)))
    window.shelf_drawn[1].draw()
    bridge_shelf.show(armature_object, [window.shelf.playables[each] for each in window.shelf.seen(view).tolist()])
    if chip is not None:
        words = say(shelf.told(window.shelf.as_now(chip.playable), layout.tick_s))
        _draw_card(armature_object, window, window.shelf, chip, theme, words)


def _arranged(window: windows.Window, playables: Sequence[Playable], theme: Theme, score_px: float) -> shelf.Shelf:
    """Arrange the shelf anew, scrolled as far as it goes, and take the chip that is under the mouse now."""
    arranged = shelf.arrange(playables, window.view, theme, scroll_px=window.shelf_px, score_px=score_px)
    if window.shelf_px > arranged.farthest:
        window.shelf_px = arranged.farthest
        arranged = shelf.arrange(playables, window.view, theme, scroll_px=window.shelf_px, score_px=score_px)
    window.shelf = arranged
    if window.front is None:
        window.point(preview.now_s())
    return arranged


def _may_stay(before: Any, now: Any, chip: windows.Chip | None) -> bool:
    """Tell whether chips keep their places; if more become known, they move once the mouse is on none of them."""
    return bool(before == now or (chip is not None and before[0][:2] == now[0][:2]))


def _draw_card(armature_object: bpy.types.Object, window: windows.Window, arranged: shelf.Shelf, chip: windows.Chip,
               theme: Theme, words: str) -> None:
    """Draw the moving figure of the chip under the mouse, and keep it moving."""
    time_s, figure = rehearsing.time_s(chip), bridge_shelf.figures(armature_object).get(chip.playable)
    rehearsing.watch(chip)
    if time_s is not None and figure is not None:
        card = shelf.card_layer(arranged, chip.playable, figure, time_s, window.view, theme, words=words)
        Poured.of(Picture((card,))).draw()


def _hover(armature_object: bpy.types.Object, blocks: Blocks, window: windows.Window, theme: Theme,
           missed: Mapping[BoxId, Problem]) -> Picture | None:
    """Draw the part under the mouse, if it can be dragged, with its hint or problem."""
    hover, layout = window.hover, blocks.layout
    if hover is None or layout is None or hover.layout is not layout or window.chip is not None:
        return None
    box = hover.over.box
    problem = None if box is None else problem_at(layout, box, blocks.problems, missed)
    why = None
    if (seam := hover.over.seam) is not None and layout.seams.row[seam] == 0:
        why = why_behind(layout, int(layout.seams.segment[seam]), armature_object)
    words = say(of_handle(layout, hover.over, why, hover.refusal) if problem is None else problem.message)
    is_refused = bool(hover.refusal) if problem is None else (
        not problem.is_warning or problem.is_missed or bool(problem.missing))
    at_mouse = AtMouse(hover.x, hover.y, refusal=words) if is_refused else AtMouse(hover.x, hover.y, words)
    return Picture((overlay(layout, window.view, theme, at_mouse,
                            hovered=None if hover.refusal else hover.over),))


def problem_at(layout: Layout, box: int, problems: Mapping[BoxId, Problem],
               missed: Mapping[BoxId, Problem]) -> Problem | None:
    """Return the problem of a box, or the target in the scene that the motion misses there, or in a box around it."""
    first = [layout.id_of(each)._replace(occurrence=0) for each in (box, *ancestors(layout.boxes.parent, box))]
    around = (problem for each in first if (problem := missed.get(each)) is not None and problem.is_missed)
    return problems.get(first[0]) or next(around, None) or missed.get(first[0])


def _cover(context: bpy.types.Context, theme: Theme) -> None:
    """Draw the background below the sidebar too, which is transparent over the score."""
    assert context.region is not None
    if windows.covered_px(context):
        pen = Pen()
        pen.rectangle((0.0, 0.0, context.region.width, context.region.height), theme.ground)
        Poured.of(Picture((pen.layer(),))).draw()


def _said_instead(armature_object: bpy.types.Object | None, blocks: Blocks | None) -> str:
    if armature_object is None:
        return "No score: make a character active that has one, or give it one"
    return "" if blocks is None or blocks.error is None else in_brief(blocks.error)


def _draw_words(context: bpy.types.Context, theme: Theme, words: str) -> None:
    """Draw lines of text in the middle of an editor that has nothing else to show."""
    assert context.region is not None and context.preferences is not None
    width, height = context.region.width, context.region.height
    size = theme.size_px * context.preferences.system.ui_scale
    pen = Pen()
    pen.rectangle((0.0, 0.0, width, height), theme.ground)
    lines = say(words).splitlines()
    for number, line in enumerate(lines):
        fitting = clipped(line, width - 2.0 * size, size, theme.measure)
        pen.text(fitting, (width - theme.measure(fitting, size)) / 2.0,
                 height / 2.0 + (len(lines) / 2.0 - number) * 1.6 * size, size, theme.mixed(0.8))
    Poured.of(Picture((pen.layer(),))).draw()


def _soon(what: Callable[[], float | None], after_s: float = 0.0) -> None:
    """Schedule a function outside of the drawing, once."""
    if not bpy.app.timers.is_registered(what):
        bpy.app.timers.register(what, first_interval=after_s)


@guarded(None)
def _refresh() -> float | None:
    """Update the layouts of the open editors; return the delay to the next call.

    New files are read outside of the main thread, and motions computed there. Until that is done, blocks are shown
    without them, if no file has to be read for the blocks. Nothing is drawn while waiting.
    """
    if is_reading():
        return _LOOK_S
    for armature_object in _shown_characters():
        if score_blocks.is_complete(armature_object):
            continue
        is_performed = score.perform_soon(armature_object, _performed) is not None
        if is_performed:
            preview.changed()  # draws blocks and character in the same step
            score_blocks.find_windows(armature_object)
        elif not score_blocks.is_current(armature_object) and score_blocks.reads_no_other_files(armature_object):
            score_blocks.refresh(armature_object)
        else:
            continue
        score_tree.redraw()
    return None


def _performed() -> None:
    """A computed motion is ready."""
    _refresh()


@guarded(None)
def _look() -> float | None:
    """Check for changes that cause no notification, as long as an editor is open."""
    spaces = {space.as_pointer() for _, area in score_tree.areas() if (space := area.spaces.active) is not None}
    for _, area in score_tree.areas():
        windows.open_tab(area)
    windows.forget_closed(spaces)
    if not spaces:
        return None
    characters = _shown_characters()
    if any(not score_blocks.is_complete(armature_object) for armature_object in characters):
        _soon(_refresh)
    news = [show_tweaks(armature_object, bpy.context.scene) for armature_object in characters]
    if any(news):
        score_tree.redraw()
    return _LOOK_S


def show_tweaks(armature_object: bpy.types.Object, scene: bpy.types.Scene | None) -> bool:
    """Update the keys of tweaks in the editor; return whether they have changed."""
    blocks, frames = score_blocks.shown(armature_object), tweak_moments.frames_of(armature_object)
    if blocks is None or blocks.layout is None or scene is None:
        return False
    first, fps = properties.character(armature_object).frame_start, frames_per_second(scene)
    ticks = None if frames is None else blocks.layout.ticks_at((frames - first) / fps)
    return score_blocks.show_tweaks(armature_object, ticks, tweak_moments.silent_of(armature_object),
                                    tweak_selection.chosen_of(armature_object))


def _shown_characters() -> list[bpy.types.Object]:
    """Return the characters whose scores are shown."""
    found: dict[int, bpy.types.Object] = {}
    for window, area in score_tree.areas():
        with bpy.context.temp_override(window=window, area=area):
            armature_object = score_tree.character_of(score_tree.tree_of(bpy.context), bpy.context)
        if armature_object is not None:
            found[armature_object.session_uid] = armature_object
    return list(found.values())


def _handlers() -> list[tuple[list[Any], Any]]:
    on = bpy.app.handlers
    return [(on.frame_change_post, _redraw), (on.depsgraph_update_post, _redraw), (on.undo_post, _undone),
            (on.redo_post, _undone), (on.load_post, _forget)]


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # the stubs give it no types
@guarded(None)
def _redraw(*_: object) -> None:
    score_tree.redraw()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _undone(*_: object) -> None:
    """Update after undo, since the text may have changed."""
    if any(score_tree.areas()):
        _soon(_refresh)
    score_tree.redraw()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _forget(*_: object) -> None:
    """Clear caches after another file was loaded."""
    rehearsing.stop()
    windows.forget_closed(set())
    score_blocks.forget()
    tweak_moments.forget()
    tweak_selection.forget()
    bridge_shelf.forget()
