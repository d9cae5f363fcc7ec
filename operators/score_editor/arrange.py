"""Change how the selected blocks play: split, side by side, as a single copy, mirrored, reversed."""

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import EnumProperty

from ...bridge.frame_rate import frames_per_second
from ...bridge.language import say
from ...core.score_editor import arrange
from ...core.score_editor.change import Proposal, given
from ...core.score_editor.grid import beat_near
from ...core.score_editor.hints import sentence
from ...core.skeletons.body_parts import PARTS
from ...preview.score_editor.life import tick_now
from .base import Editor, OfSelection, fresh_editor
from .calls import only_box

_YES = "yes"


class TAKT_OT_score_split(OfSelection, bpy.types.Operator):
    """Split the selected clip at the playhead into two blocks that can be changed separately"""

    bl_idname = "takt.score_split"
    bl_label = "Split"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose both calls, split at the nearest beat if it is within the same frame."""
        assert context.scene is not None
        layout = editor.layout
        tick = tick_now(editor.armature, context.scene, layout)
        now_s = float(layout.seconds(np.array((tick,)))[0])
        later = float(layout.ticks_at(np.array((now_s + 0.5 / frames_per_second(context.scene),)))[0])
        return arrange.split(layout, only_box(editor), beat_near(tick, later - tick), editor.scores)


class TAKT_OT_score_beside(OfSelection, bpy.types.Operator):
    """Play the selected blocks at the same time, all but the first with a part of the body"""

    bl_idname = "takt.score_beside"
    bl_label = "Play Together"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        body: str
    else:
        body: EnumProperty(name="Body Part", default="upper", options={"SKIP_SAVE"},
                           description="Body part that all blocks but the first one move",
                           items=[(name, name.replace("_", " ").title(), "") for name in PARTS])

    _slower = ""

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the part of the body, unless it is impossible with any."""
        assert context.window_manager is not None
        editor = fresh_editor(context)
        if self.proposed(context, editor).refusal:
            return self.execute(context)
        self._slower = sentence(arrange.slower_beside(editor.layout, editor.selected, editor.scores))
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the choice, and which of the blocks will be played slower."""
        assert self.layout is not None
        self.layout.prop(self, "body")
        if self._slower:
            self.layout.label(text=say(self._slower), icon="INFO", translate=False)

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose a block of lanes."""
        return arrange.beside(editor.layout, editor.selected, self.body, editor.scores)


class TAKT_OT_score_single(OfSelection, bpy.types.Operator):
    """Give the selected block a copy of its procedure, so that changing it changes no other block"""

    bl_idname = "takt.score_single"
    bl_label = "Make Single User"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose a copy of the procedure."""
        return arrange.make_single(editor.layout, only_box(editor), editor.scores)


class TAKT_OT_score_mirror(OfSelection, bpy.types.Operator):
    """Toggle mirroring of the selected blocks, which exchanges left and right"""

    bl_idname = "takt.score_mirror"
    bl_label = "Mirror"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose to toggle the attribute."""
        return _toggled(editor, "mirror")


class TAKT_OT_score_reverse(OfSelection, bpy.types.Operator):
    """Toggle reverse playback of the selected blocks"""

    bl_idname = "takt.score_reverse"
    bl_label = "Reverse"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose to toggle the attribute."""
        return _toggled(editor, "reverse")


def _toggled(editor: Editor, name: str) -> Proposal:
    """Propose "yes" for an attribute of all selected blocks, or to remove it if the first has it."""
    first = int(editor.layout.found(editor.selected)[0])
    value = "" if given(editor.layout, first, name) == _YES else _YES
    return arrange.set_value(editor.layout, editor.selected, name, value, editor.scores)
