"""The timeline strip: point at it to see what plays there, click or drag to go there and to its line in the score.

A click on a foot contact switches it off or on, as in the score editor.
"""

import logging
from typing import Any

import bpy

from ..bridge import properties
from ..bridge.frame_rate import frames_per_second
from ..bridge.scores import score, score_lines, score_tree
from ..core.playing.motion import Motion
from ..core.score_editor.strip import Pointed
from ..preview import life
from ..preview.cast import ClipAlone
from ..preview.score_editor.theme import theme_of
from ..preview.strip import Bounds, ViewportStrip
from .player import choose_alone, watched_character
from .score_editor.contact import switch

_log = logging.getLogger(__name__)
_Found = tuple[ViewportStrip, Bounds, bpy.types.Object]


class TAKT_GT_strip(bpy.types.Gizmo):
    """The strip; a gizmo gets clicks before the tools do, and only those that hit it."""

    bl_idname = "TAKT_GT_strip"

    def setup(self) -> None:
        """Start without a layout."""
        self.strip: ViewportStrip | None = None
        self.mouse_x, self.mouse_y = 0.0, 0.0
        self.goes = False
        self.use_draw_modal = True

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the motion of the watched character; a failure is reported once and hides the strip."""
        try:
            found = self._found(context)
            if found is None:
                return
            strip, bounds, armature_object = found
            assert context.scene is not None
            now_s, fragment = shown_times(context.scene, armature_object, strip.motion)
            pointed = None
            if self.is_highlight:
                contact = _contact_at(found, self.mouse_x, self.mouse_y)
                words = (strip.words_at(strip.time_s(bounds, self.mouse_x)) if contact is None else
                         strip.words_of_contact(contact))
                if contact is None and (missed := strip.missed_at(bounds, self.mouse_x, self.mouse_y)):
                    words += f"\n{missed}"
                words = f"{armature_object.name}   {words}" if len(life.characters()) > 1 else words
                pointed = Pointed(self.mouse_x, words, contact)
            strip.draw(bounds, theme_of(context), now_s, fragment, pointed)
        except Exception:  # Blender would print any exception at every redraw
            _give_up()

    def test_select(self, context: bpy.types.Context, location: Any) -> int:
        """Return whether the mouse is on the strip, as Blender expects it: 0 if it is, else −1."""
        x, y = location
        try:
            found = self._found(context)
        except Exception:  # or at every move of the mouse
            _give_up()
            return -1
        if found is None or not found[1].contains(x, y):
            return -1
        if context.area is not None and max(abs(x - self.mouse_x), abs(y - self.mouse_y)) >= 1.0:
            self.mouse_x, self.mouse_y = float(x), float(y)
            context.area.tag_redraw()
        return 0

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Switch the contact under the mouse, else go to that time and to its line of the score."""
        found, x, y = self._found(context), float(event.mouse_region_x), float(event.mouse_region_y)
        if found is None:
            return {"CANCELLED"}
        strip, bounds, armature_object = found
        contact, contacts = _contact_at(found, x, y), strip.laid_out.layout.contacts
        self.goes = contact is None or contacts is None
        if contact is not None and contacts is not None:
            switch(armature_object, contacts, contact)
            bpy.ops.ed.undo_push(message="Switch Contact")
            return {"RUNNING_MODAL"}  # so that tools do not get the click too
        self._go(context, event)
        score_lines.show(context, armature_object, strip.laid_out.layout, strip.boxes_at(bounds, x, y))
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event, _tweak: Any) -> "set[Any]":
        """Follow the mouse while it is held down, unless it was pressed on a contact."""
        if self.goes:
            self._go(context, event)
        return {"RUNNING_MODAL"}

    def _go(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        found = self._found(context)
        if found is not None:
            strip, bounds, armature_object = found
            self.mouse_x = float(event.mouse_region_x)
            go_to(context, armature_object, strip.time_s(bounds, self.mouse_x), strip.motion)

    def _found(self, context: bpy.types.Context) -> _Found | None:
        watched = watched_character(context)
        if watched is None:
            return None
        _, armature_object = watched
        if score_tree.is_shown_in(context.window, armature_object):
            return None  # the score editor shows the same blocks, larger
        score.look()
        with score.while_drawing(life.changed):
            motion = score.shown(armature_object, life.choices().instead)
        if motion is None:
            return None
        if self.strip is None or self.strip.motion is not motion:
            self.strip = ViewportStrip.of(motion)
        return self.strip, self.strip.bounds_in(context), armature_object


class TAKT_GGT_strip(bpy.types.GizmoGroup):
    """Shows the strip in every 3D viewport while the preview is on."""

    bl_idname = "TAKT_GGT_strip"
    bl_label = "Takt Strip"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Return whether the strip is switched on."""
        return life.is_running() and life.choices().strip

    def setup(self, _context: bpy.types.Context) -> None:
        """Make the only gizmo."""
        self.gizmos.new(TAKT_GT_strip.bl_idname)


def _contact_at(found: _Found, x: float, y: float) -> int | None:
    """Return the contact at a pixel of the region that can be switched, or None."""
    strip, bounds, armature_object = found
    return strip.contact_at(bounds, x, y) if armature_object.is_editable else None


def _give_up() -> None:
    _log.exception("The strip failed and has been switched off")
    life.choices().strip = False


def shown_times(scene: bpy.types.Scene, armature_object: bpy.types.Object,
                motion: Motion) -> tuple[float, tuple[float, float] | None]:
    """Return the time in the score, and the played fragment, None: the whole; all in seconds."""
    choices = life.choices()
    now_s = life.time_in_score(armature_object, scene, motion)
    if motion.sequence.is_loop and motion.duration_s > 0.0:
        now_s %= motion.duration_s
    segment = choices.alone_segment
    if choices.alone and segment < len(motion.sequence):
        clip = motion.clips[int(motion.sequence.clip[segment])]
        begin, end = float(motion.layout.begin_s[segment]), float(motion.layout.end_s[segment])
        own_s = life.time_in_score(armature_object, scene, ClipAlone(clip))
        share = own_s % clip.duration_s / clip.duration_s if clip.duration_s > 0.0 else 0.0
        return begin + share * (end - begin), (begin, end)
    player = choices.player
    if player.follows_timeline and scene.use_preview_range:
        begin, end = (score.time_s(armature_object, scene, float(frame))
                      for frame in (scene.frame_preview_start, scene.frame_preview_end))
        return now_s, (min(max(begin, 0.0), motion.duration_s), min(max(end, 0.0), motion.duration_s))
    has_fragment = not player.follows_timeline and player.fragment is not None
    return now_s, player.bounds_s(motion.duration_s) if has_fragment else None


def go_to(context: bpy.types.Context, armature_object: bpy.types.Object, time_s: float,
          motion: Motion | None = None) -> None:
    """Go to a time of the score, by the player's own clock or by Blender's timeline; alone: to the clip there."""
    scene, choices = context.scene, life.choices()
    assert scene is not None
    player = choices.player
    if choices.alone and motion is not None:
        choose_alone(motion, time_s)
    elif player.follows_timeline:
        frame = properties.character(armature_object).frame_start + time_s * frames_per_second(scene)
        scene.frame_set(round(frame))
    else:
        player.go_to(time_s, life.now_s())
    life.changed()
