"""The player's keys in the 3D viewport; they count only while the preview is on."""

from typing import Any, NamedTuple, cast

import bpy

from ..operators.player import TAKT_OT_player

_EVERYWHERE = ("Frames",)
"""Blender asks this keymap before the viewport's own, where B is taken, and finds its own Space in it. It counts in
other editors too; there the player's operator steps back."""
_MODES = ("Object Mode", "Pose")
"""These come before: Blender's own I is in them."""


class Key(NamedTuple):
    """A key with what is held down beside it, and the keymaps in which it is to come first."""

    type: str
    action: str
    alt: bool = False
    shift: bool = False
    keymaps: tuple[str, ...] = _EVERYWHERE


KEY_SETS: dict[str, tuple[str, str, tuple[Key, ...]]] = {
    "TAKT": ("Takt", "With Alt and Shift held down, where Blender has no keys of its own", (
        Key("SPACE", "PLAY", alt=True, shift=True), Key("HOME", "RESTART", alt=True, shift=True),
        Key("END", "STOP", alt=True, shift=True), Key("LEFT_ARROW", "STEP_BACK", alt=True, shift=True),
        Key("RIGHT_ARROW", "STEP_ON", alt=True, shift=True), Key("UP_ARROW", "FASTER", alt=True, shift=True),
        Key("DOWN_ARROW", "SLOWER", alt=True, shift=True))),
    "SINGLE": ("Single Keys", "They stand before Blender's own while the preview is on", (
        Key("SPACE", "PLAY"), Key("P", "STOP"), Key("B", "RESTART"), Key("V", "BACKWARDS"),
        Key("I", "INTERPOLATION", keymaps=_MODES))),
    "NONE": ("None", "No keys", ()),
}
_added: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def use_keys(name: str) -> None:
    """Take one of the KEY_SETS in place of the last."""
    remove_keys()
    manager = bpy.context.window_manager
    config = None if manager is None else manager.keyconfigs.addon
    if config is None:  # without a window there are no keys
        return
    for key in KEY_SETS[name][2]:
        for place in key.keymaps:
            keymap, kind = config.keymaps.new(name=place), cast(Any, key.type)
            item = keymap.keymap_items.new(TAKT_OT_player.bl_idname, kind, "PRESS", alt=key.alt, shift=key.shift,
                                           head=True)
            properties: Any = item.properties
            properties.action = key.action
            _added.append((keymap, item))


def remove_keys() -> None:
    """Take all keys away."""
    for keymap, item in _added:
        keymap.keymap_items.remove(item)
    _added.clear()


def added_keys() -> tuple[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem], ...]:
    """Return the keys there are."""
    return tuple(_added)
