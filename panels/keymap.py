"""The player's keyboard shortcuts in the 3D viewport; they work only while the preview is on."""

from typing import Any, NamedTuple, cast

import bpy

from ..operators.player import TAKT_OT_player

_EVERYWHERE = ("Frames",)
"""Blender looks into this keymap before the viewport's own: so the player gets B, which the viewport uses too, and
Space, which this keymap uses itself. The keymap is one for all editors; in any other the operator's poll fails, and
Blender goes on looking."""
_MODES = ("Object Mode", "Pose")
"""Blender looks into these even before that one: its own I is here."""


class Shortcut(NamedTuple):
    """A key, its modifiers, the player's action, and the keymaps that contain it."""

    type: str
    action: str
    alt: bool = False
    shift: bool = False
    keymaps: tuple[str, ...] = _EVERYWHERE


SHORTCUTS: dict[str, tuple[str, str, tuple[Shortcut, ...]]] = {
    "TAKT": ("Takt", "With Alt and Shift held down, where Blender has no shortcuts of its own", (
        Shortcut("SPACE", "PLAY", alt=True, shift=True), Shortcut("HOME", "RESTART", alt=True, shift=True),
        Shortcut("END", "STOP", alt=True, shift=True), Shortcut("LEFT_ARROW", "STEP_BACK", alt=True, shift=True),
        Shortcut("RIGHT_ARROW", "STEP_ON", alt=True, shift=True), Shortcut("UP_ARROW", "FASTER", alt=True, shift=True),
        Shortcut("DOWN_ARROW", "SLOWER", alt=True, shift=True))),
    "SINGLE": ("No Modifiers", "Have priority over Blender's shortcuts while the preview is on", (
        Shortcut("SPACE", "PLAY"), Shortcut("P", "STOP"), Shortcut("B", "RESTART"), Shortcut("V", "BACKWARDS"),
        Shortcut("I", "INTERPOLATION", keymaps=_MODES))),
    "NONE": ("None", "No shortcuts", ()),
}
_added: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def use_shortcuts(name: str) -> None:
    """Replace the shortcuts by a set, one of SHORTCUTS."""
    remove_shortcuts()
    manager = bpy.context.window_manager
    config = None if manager is None else manager.keyconfigs.addon
    if config is None:  # without a window there are no shortcuts
        return
    for shortcut in SHORTCUTS[name][2]:
        for keymap_name in shortcut.keymaps:
            keymap, kind = config.keymaps.new(name=keymap_name), cast(Any, shortcut.type)
            item = keymap.keymap_items.new(TAKT_OT_player.bl_idname, kind, "PRESS", alt=shortcut.alt,
                                           shift=shortcut.shift, head=True)
            properties: Any = item.properties
            properties.action = shortcut.action
            _added.append((keymap, item))


def remove_shortcuts() -> None:
    """Remove all shortcuts."""
    for keymap, item in _added:
        keymap.keymap_items.remove(item)
    _added.clear()


def added_shortcuts() -> tuple[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem], ...]:
    """Return the added shortcuts, each with its keymap."""
    return tuple(_added)
