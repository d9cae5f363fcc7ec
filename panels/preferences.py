"""The extension's preferences: the player's keys."""

from typing import TYPE_CHECKING

import bpy
import rna_keymap_ui

from ..operators.keys import KEY_SETS, added_keys, use_keys

_PACKAGE = (__package__ or "").rpartition(".")[0]


class TAKT_AP_preferences(bpy.types.AddonPreferences):
    """Choose and change keys."""

    bl_idname = _PACKAGE

    if TYPE_CHECKING:
        key_set: str
    else:
        key_set: bpy.props.EnumProperty(
            name="Player Keys", items=[(name, label, text) for name, (label, text, _) in KEY_SETS.items()],
            update=lambda self, _: use_keys(self.key_set))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choice, and each key so that it can be changed."""
        layout = self.layout
        layout.row().prop(self, "key_set", expand=True)
        layout.label(text=KEY_SETS[self.key_set][1])
        manager = context.window_manager
        config = None if manager is None else manager.keyconfigs.user
        if config is None:
            return
        column = layout.column()
        shown = config.keymaps["3D View"]
        for _, key in added_keys():
            action = getattr(key.properties, "action", "")
            items = (item for item in shown.keymap_items if item.idname == key.idname)
            item = next((item for item in items if getattr(item.properties, "action", "") == action), None)
            if item is not None:
                column.context_pointer_set("keymap", shown)
                rna_keymap_ui.draw_kmi([], config, shown, item, column, 0)


def chosen_keys() -> str:
    """Return the name of the set of keys that the user has chosen."""
    preferences = bpy.context.preferences
    addon = None if preferences is None else preferences.addons.get(_PACKAGE)
    return "TAKT" if addon is None or addon.preferences is None else str(getattr(addon.preferences, "key_set", "TAKT"))
