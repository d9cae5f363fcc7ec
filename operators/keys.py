"""The player's keys in the 3D viewport; they count only while the preview is on."""

from typing import Any, NamedTuple

import bpy

from .player import TAKT_OT_player


class Key(NamedTuple):
    """A key with what is held down beside it."""

    type: str
    action: str
    ctrl: bool = False
    alt: bool = False
    shift: bool = False


KEY_SETS: dict[str, tuple[str, str, tuple[Key, ...]]] = {
    "TAKT": ("Takt", "With Alt and Shift held down, where Blender has no keys of its own", (
        Key("SPACE", "PLAY", alt=True, shift=True), Key("HOME", "RESTART", alt=True, shift=True),
        Key("END", "STOP", alt=True, shift=True), Key("LEFT_ARROW", "STEP_BACK", alt=True, shift=True),
        Key("RIGHT_ARROW", "STEP_ON", alt=True, shift=True), Key("UP_ARROW", "FASTER", alt=True, shift=True),
        Key("DOWN_ARROW", "SLOWER", alt=True, shift=True))),
    "SINGLE": ("Single Keys", "Space plays, P stops, B begins again, V turns round, I changes the interpolation; "
               "while the preview is on they stand before Blender's", (
        Key("SPACE", "PLAY"), Key("P", "STOP"), Key("B", "RESTART"), Key("V", "BACKWARDS"), Key("I", "INTERPOLATION"))),
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
    keymap = config.keymaps.new(name="3D View", space_type="VIEW_3D")
    for key in KEY_SETS[name][2]:
        kind: Any = key.type
        item = keymap.keymap_items.new(TAKT_OT_player.bl_idname, kind, "PRESS", ctrl=key.ctrl, alt=key.alt,
                                       shift=key.shift, head=True)
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
