"""The shortcuts of the score editor.

All of them are in Blender's keymap for 2D views, which it searches before those of the node editor and of its
tools. In any other editor the operators pass the events on.
"""

from typing import Any, NamedTuple, cast

import bpy

from ...core.score_editor.gestures import presses

_KEYMAP = "View2D"


class Shortcut(NamedTuple):
    """A key or button, its operator with properties, and its modifiers."""

    type: str
    operator: str
    properties: dict[str, Any] = {}
    value: str = "PRESS"
    ctrl: bool = False
    shift: bool = False
    alt: bool = False
    repeat: bool = False


_PRESSES = tuple(Shortcut("LEFTMOUSE", f"takt.score_{press}", ctrl=held == "ctrl", shift=held == "shift")
                 for press, modifiers in presses().items() for held in ("", *modifiers)
                 if (press, held) != ("drag", ""))
"""What the list of gestures begins, but for the one that stands first below."""
_SCORE = (
    Shortcut("WHEELUPMOUSE", "takt.score_zoom", {"steps": 1}),
    Shortcut("WHEELDOWNMOUSE", "takt.score_zoom", {"steps": -1}),
    Shortcut("NUMPAD_PLUS", "takt.score_zoom", {"steps": 2}, repeat=True),
    Shortcut("NUMPAD_MINUS", "takt.score_zoom", {"steps": -2}, repeat=True),
    Shortcut("WHEELUPMOUSE", "takt.score_pan", {"mode": "LEFT"}, ctrl=True),
    Shortcut("WHEELDOWNMOUSE", "takt.score_pan", {"mode": "RIGHT"}, ctrl=True),
    Shortcut("WHEELUPMOUSE", "takt.score_pan", {"mode": "UP"}, shift=True),
    Shortcut("WHEELDOWNMOUSE", "takt.score_pan", {"mode": "DOWN"}, shift=True),
    Shortcut("MIDDLEMOUSE", "takt.score_pan", {"mode": "DRAG"}),
    Shortcut("MIDDLEMOUSE", "takt.score_pan", {"mode": "DRAG"}, shift=True),
    Shortcut("MIDDLEMOUSE", "takt.score_pan", {"mode": "ZOOM"}, ctrl=True),
    Shortcut("TRACKPADPAN", "takt.score_pan", {"mode": "TRACKPAD"}, "ANY"),
    Shortcut("HOME", "takt.score_frame"),
    Shortcut("NUMPAD_PERIOD", "takt.score_frame", {"only_selected": True}),
    Shortcut("PERIOD", "takt.score_frame", {"only_selected": True}),
    Shortcut("LEFTMOUSE", "takt.score_drag"),  # whose name the status bar shows: the first
    Shortcut("LEFTMOUSE", "takt.score_shelf"),
    Shortcut("RIGHTMOUSE", "takt.score_clip_menu"),
    *_PRESSES,
    Shortcut("A", "takt.score_select", {"which": "ALL"}),
    Shortcut("A", "takt.score_select", {"which": "NONE"}, alt=True),
    Shortcut("A", "takt.score_select", {"which": "NONE"}, "DOUBLE_CLICK"),
    Shortcut("I", "takt.score_select", {"which": "INVERT"}, ctrl=True),
    Shortcut("A", "takt.score_add", shift=True),
    Shortcut("X", "takt.score_delete_tweak"),
    Shortcut("DEL", "takt.score_delete_tweak"),
    Shortcut("X", "takt.score_delete"),
    Shortcut("DEL", "takt.score_delete"),
    Shortcut("D", "takt.score_duplicate", shift=True),
    Shortcut("G", "takt.score_group", ctrl=True),
    Shortcut("G", "takt.score_dissolve", ctrl=True, alt=True),
    Shortcut("P", "takt.score_beside", ctrl=True),
    Shortcut("K", "takt.score_split"),
    Shortcut("M", "takt.score_mirror"),
    Shortcut("R", "takt.score_reverse"),
    Shortcut("C", "takt.score_copy", ctrl=True),
    Shortcut("V", "takt.score_paste", ctrl=True),
    Shortcut("I", "takt.score_loop", {"edge": "FROM"}),
    Shortcut("O", "takt.score_loop", {"edge": "TO"}),
    Shortcut("P", "takt.score_loop", {"edge": "SELECTED"}),
    Shortcut("P", "takt.score_loop", {"edge": "NONE"}, alt=True),
    Shortcut("TAB", "takt.score_open"),
    Shortcut("LEFTMOUSE", "takt.score_open", {"at_mouse": True}, "DOUBLE_CLICK"),
    Shortcut("LEFTMOUSE", "takt.score_automatic", value="DOUBLE_CLICK"),
)
_OF_NODES = ("B", "C", "F", "G", "H", "J", "L", "S", "T")
"""Keys without a meaning here, by which the node editor selects or changes nodes, or shows its tools."""
_KEYS = dict.fromkeys((*((each.type, each.value, each.ctrl, each.shift, each.alt) for each in _SCORE
                         if "MOUSE" not in each.type and "TRACKPAD" not in each.type),
                       *((key, "PRESS", False, False, False) for key in _OF_NODES)))
SHORTCUTS = (*_SCORE, *(Shortcut(key, "takt.score_no_nodes", value=value, ctrl=ctrl, shift=shift, alt=alt)
                        for key, value, ctrl, shift, alt in _KEYS))
"""In the order in which they are asked: what no score wants, no node gets."""
_added: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def register() -> None:
    """Add the shortcuts; without a window there are none."""
    manager = bpy.context.window_manager
    config = None if manager is None else manager.keyconfigs.addon
    if config is None:
        return
    keymap = config.keymaps.new(name=_KEYMAP)
    for shortcut in SHORTCUTS:
        item = keymap.keymap_items.new(shortcut.operator, cast(Any, shortcut.type), cast(Any, shortcut.value),
                                       ctrl=shortcut.ctrl, shift=shortcut.shift, alt=shortcut.alt,
                                       repeat=shortcut.repeat, head=True)
        for name, value in shortcut.properties.items():
            setattr(item.properties, name, value)
        _added.append((keymap, item))


def unregister() -> None:
    """Remove the shortcuts."""
    for keymap, item in _added:
        keymap.keymap_items.remove(item)
    _added.clear()
