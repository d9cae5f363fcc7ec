"""Put an Action of the Asset Browser into the score: Blender lets no Action be dropped onto a node editor."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ...bridge import saved_enums
from ...bridge.assets import action_assets
from ...bridge.assets.action_assets import ActionAsset
from ...bridge.frame_rate import frames_per_second
from ...bridge.language import say
from ...bridge.reports import words_of
from ...core.errors import TaktError
from ...core.score_editor.commands import Playable
from .base import fresh_editor, refuse
from .calls import gap_now
from .insert import InsertsWhatIsChosen, insert_at

_NO_ASSETS = "there are no Actions that are assets: mark some with Mark Clips as Assets"
_NOTHING = ("|", "No Assets", "", "NONE", 0)
_items: list[tuple[str, str, str, str, int]] = []
"""Blender keeps no copies of the texts of a menu that is made when it is shown."""
_assets: dict[str, ActionAsset] = {}


def _choices(_operator: Any, _context: bpy.types.Context | None) -> list[tuple[str, str, str, str, int]]:
    """Return the assets as of the opening of the menu."""
    if not _items or bpy.app.background:  # without a window no menu was opened
        _look()
    return _items


def _look() -> None:
    _assets.clear()
    _assets.update((f"{each.path}|{each.name}", each) for each in action_assets.found())
    _items[:] = [(key, f"{each.name} · {each.origin or say('This File')}", each.library or say("This File"), "ACTION",
                  saved_enums.number(key))
                 for key, each in _assets.items()] or [_NOTHING]


class TAKT_OT_score_add_asset(InsertsWhatIsChosen, bpy.types.Operator):
    """Search for an Action that is an asset, in this file or in a library, and insert a call of it into the score"""

    bl_idname = "takt.score_add_asset"
    bl_property = "what"
    bl_options = {"REGISTER", "UNDO"}

    if not TYPE_CHECKING:
        what: EnumProperty(name="Asset", items=_choices, options={"SKIP_SAVE"},
                           description="The clip or procedure to insert")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the asset."""
        _look()
        return super().invoke(context, event)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Append it if it is in a library, and insert it; if that fails, it is removed again."""
        asset, scene = _assets.get(self.what), context.scene
        assert scene is not None
        if asset is None:
            return refuse(self, _NO_ASSETS, is_pressed=self.is_chosen)
        before = {action.session_uid for action in bpy.data.actions}
        try:
            action = action_assets.bring(asset)
        except (TaktError, OSError) as error:
            return refuse(self, words_of(error), is_pressed=self.is_chosen)
        frames: Any = action.frame_range
        playable = Playable(action.name, action.name, (frames[1] - frames[0]) / frames_per_second(scene))
        result = insert_at(self, context, fresh_editor(context), gap_now(context), playable, is_pressed=self.is_chosen)
        if "FINISHED" not in result and action.session_uid not in before:
            bpy.data.actions.remove(action)
        return result
