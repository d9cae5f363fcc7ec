"""The extension's preferences: libraries, and the player's shortcuts."""

from typing import TYPE_CHECKING, Any, Final, Literal

import bpy

from ..bridge.language import say
from ..bridge.libraries import Libraries
from ..operators.change_libraries import TAKT_OT_change_libraries
from ..operators.player import ACTIONS
from .keymap import SHORTCUTS, added_shortcuts, use_shortcuts

_CHANGES: Final[tuple[tuple[str, Literal["ADD", "REMOVE", "TRIA_UP", "TRIA_DOWN"]], ...]] = (
    ("ADD", "ADD"), ("REMOVE", "REMOVE"), ("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN"))
_NAMES_SHARE = 0.4
_PACKAGE = (__package__ or "").rpartition(".")[0]


class TAKT_UL_libraries(bpy.types.UIList):
    """The libraries that are searched after a score's own."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw the folder."""
        layout.prop(item, "path", text="", emboss=False)


class TAKT_AP_preferences(Libraries, bpy.types.AddonPreferences):
    """Choose libraries, and choose and change shortcuts."""

    bl_idname = _PACKAGE

    if TYPE_CHECKING:
        key_set: str
    else:
        key_set: bpy.props.EnumProperty(
            name="Player Shortcuts", items=[(name, label, text) for name, (label, text, _) in SHORTCUTS.items()],
            update=lambda self, _: use_shortcuts(self.key_set))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choice of a set, and each shortcut so that it can be changed."""
        layout = self.layout
        self._draw_libraries(layout)
        layout.separator()
        layout.label(text=say("Shortcuts of the player; they work in the 3D viewport while the preview is on"),
                     translate=False)
        layout.row().prop(self, "key_set", expand=True)
        layout.label(text=say(SHORTCUTS[self.key_set][1]), translate=False)
        manager = context.window_manager
        config = None if manager is None else manager.keyconfigs.user
        if config is None:
            return
        column = layout.column()
        for addon_keymap, shortcut in added_shortcuts():
            keymap = config.keymaps[addon_keymap.name]
            action = getattr(shortcut.properties, "action", "")
            items = (item for item in keymap.keymap_items if item.idname == shortcut.idname)
            item = next((item for item in items if getattr(item.properties, "action", "") == action), None)
            if item is not None:
                mode = "" if keymap.name == "Frames" else f" ({keymap.name})"
                _draw_shortcut(column, keymap, item, ACTIONS[action][0] + mode)

    def _draw_libraries(self, layout: bpy.types.UILayout) -> None:
        layout.label(text=say("Libraries, searched in this order after a score's own"), translate=False)
        row = layout.row()
        row.template_list("TAKT_UL_libraries", "", self, "libraries", self, "library_index", rows=3)
        column = row.column(align=True)
        for action, icon in _CHANGES:
            change: Any = column.operator(TAKT_OT_change_libraries.bl_idname, text="", icon=icon)
            change.action = action


def _draw_shortcut(column: bpy.types.UILayout, keymap: bpy.types.KeyMap, item: bpy.types.KeyMapItem,
                   name: str) -> None:
    """Draw a shortcut: whether it is on, its action, its key, and a button that restores a changed one."""
    row = column.split(factor=_NAMES_SHARE)
    left = row.row()
    left.prop(item, "active", text="", emboss=False)
    left.label(text=say(name), translate=False)
    row = row.row()
    row.active = item.active
    row.prop(item, "type", text="", full_event=True)
    if item.is_user_modified:
        row.context_pointer_set("keymap", keymap)
        back: Any = row.operator("preferences.keyitem_restore", text="", icon="BACK")
        back.item_id = item.id


def chosen_shortcuts() -> str:
    """Return the name of the set of shortcuts that the user has chosen."""
    preferences = bpy.context.preferences
    addon = None if preferences is None else preferences.addons.get(_PACKAGE)
    return "TAKT" if addon is None or addon.preferences is None else str(getattr(addon.preferences, "key_set", "TAKT"))
