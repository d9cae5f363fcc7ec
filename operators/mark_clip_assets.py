"""Mark Clips as Assets: clips of the shelf become Actions of this character in the Asset Browser."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ..bridge.active_character import score_problem
from ..bridge.assets import clip_assets
from ..bridge.reports import GreyWithReason, refuse
from ..bridge.scores import score_tree
from ..bridge.shelf import shelf, shelf_order
from ..core.score_editor.commands import Playable
from ..core.score_editor.shelf import found
from .clip_folders import shown_armature
from .in_steps import WorksInSteps

_WHICH = (("SHOWN", "Shown", "All clips on the shelf that match the search"),
          ("BLOCK", "Block's", "The clip that the selected block plays"))


class TAKT_OT_mark_clip_assets(GreyWithReason, WorksInSteps, bpy.types.Operator):
    """Make Actions of clips of the shelf on this character, as assets with pictures, tags and catalogues"""

    bl_idname = "takt.mark_clip_assets"
    bl_label = "Mark Clips as Assets"
    bl_options = {"REGISTER", "UNDO"}
    doing = "Making Actions"

    if TYPE_CHECKING:
        which: str
    else:
        which: EnumProperty(name="Clips", items=_WHICH, description="Which clips become assets")

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no shelf."""
        return score_problem(shown_armature(context))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the clips."""
        assert context.window_manager is not None
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Make the Actions one after the other."""
        armature_object, scene = shown_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        chips = _chips(context, armature_object, self.which)
        if not chips and self.which == "BLOCK":
            return refuse(self, "Select a block that plays a clip of the library")
        return self.begin(context, clip_assets.mark_clips(armature_object, scene, chips))


def _chips(context: bpy.types.Context, armature_object: bpy.types.Object, which: str) -> list[Playable]:
    """Return the clips that the editor shows; without an editor, all clips of the shelf."""
    tree, chips = score_tree.tree_of(context), shelf.playables(armature_object)
    if which == "BLOCK":
        clip = None if tree is None else shelf_order.clip_of_block(armature_object, tree)
        shown = [each for each in chips if clip is not None and clip in (each.full_name, each.src)]
    else:
        shown = list(chips if tree is None else shelf_order.ordered(armature_object, tree, found(
            chips, tree.search))[0])
    return [each for each in shown if each.is_clip and shelf.path_of(armature_object, each) is not None]
