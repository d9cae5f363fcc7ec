"""Point at the timeline strip to see what plays there, click or drag to go there."""

import logging
from typing import Any

import bpy

from ..bridge import properties
from ..bridge.score import frames_per_second, while_drawing
from ..core.motion import Motion
from ..preview import life
from ..preview.strip import Place, Strip, Theme
from .player import watched_character

_log = logging.getLogger(__name__)


class TAKT_GT_strip(bpy.types.Gizmo):
    """The strip itself; a gizmo gets clicks before the tools do, and only those that hit it."""

    bl_idname = "TAKT_GT_strip"

    def setup(self) -> None:
        """Begin with nothing laid out."""
        self.strip: Strip | None = None
        self.mouse_x = 0.0
        self.use_draw_modal = True

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what the watched character plays; a failure is told once and takes the strip away."""
        try:
            found = self._found(context)
            if found is None:
                return
            strip, place, armature_object = found
            assert context.scene is not None
            player = life.choices().player
            fragment = None if player.follows_timeline or player.fragment is None else player.bounds_s(place.duration_s)
            strip.draw(place, Theme.of(context), life.time_in_score(armature_object, context.scene, strip.motion),
                       fragment, self.mouse_x if self.is_highlight else None)
        except Exception:  # whatever it is, Blender would print it for every redraw
            _give_up()

    def test_select(self, context: bpy.types.Context, location: Any) -> int:
        """Tell Blender whether the mouse is on it."""
        x, y = location
        try:
            found = self._found(context)
        except Exception:  # and for every move of the mouse
            _give_up()
            return -1
        if found is None or not found[1].contains(x, y):
            return -1
        if context.area is not None and abs(x - self.mouse_x) >= 1.0:
            self.mouse_x = float(x)
            context.area.tag_redraw()
        return 0

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Go to where the mouse is."""
        self._go(context, event)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event, _tweak: Any) -> "set[Any]":
        """Follow the mouse while it is held down."""
        self._go(context, event)
        return {"RUNNING_MODAL"}

    def _go(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        found = self._found(context)
        if found is not None:
            self.mouse_x = float(event.mouse_region_x)
            go_to(context, found[2], found[1].time_s(self.mouse_x))

    def _found(self, context: bpy.types.Context) -> tuple[Strip, Place, bpy.types.Object] | None:
        watched = watched_character(context)
        if watched is None:
            return None
        character, armature_object = watched
        with while_drawing(life.changed):
            motion = character.motion(armature_object, {} if life.choices().transitions else {"transitions": False})
        if not isinstance(motion, Motion):
            return None
        if self.strip is None or self.strip.motion is not motion:
            self.strip = Strip.of(motion)
        return self.strip, self.strip.placed(context), armature_object


class TAKT_GGT_strip(bpy.types.GizmoGroup):
    """Shows the strip in every 3D viewport while the preview is on."""

    bl_idname = "TAKT_GGT_strip"
    bl_label = "Takt Strip"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Tell whether the strip is wanted."""
        return life.is_running() and life.choices().strip

    def setup(self, _context: bpy.types.Context) -> None:
        """Make the one gizmo."""
        self.gizmos.new(TAKT_GT_strip.bl_idname)


def _give_up() -> None:
    _log.exception("The strip failed and has been switched off")
    life.choices().strip = False


def go_to(context: bpy.types.Context, armature_object: bpy.types.Object, time_s: float) -> None:
    """Go to a time of the score, by the player's own clock or by Blender's timeline."""
    scene, player = context.scene, life.choices().player
    assert scene is not None
    if player.follows_timeline:
        frame = properties.character(armature_object).frame_start + time_s * frames_per_second(scene)
        scene.frame_set(round(frame))
    else:
        player.go_to(time_s, life.now_s())
    life.changed()
