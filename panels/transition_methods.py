"""A popover with a picture of each transition method, beside the field that chooses one."""

from typing import Any, cast

import bpy
import bpy.utils.previews
import numpy as np

from ..bridge import properties
from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..bridge.scores import score_layout
from ..bridge.scores.score_tree import character_of, tree_of
from ..core.playing.method_pictures import PICTURE_PX, method_picture
from ..core.playing.transitions.methods import TRANSITION_METHODS
from ..operators.choose_method import TAKT_OT_choose_method
from .sidebar import wrapped

_UNITS, _LETTERS = 25, 68
_COLUMNS, _SCALE = 4, 4.5
_previews: Any = None
"""The pictures, from when they are first seen until the extension is switched off."""


class TAKT_PT_transition_methods(bpy.types.Panel):
    """What each method does to a joint between two clips: blue before, orange in the transition, green after it"""

    bl_label = "Transition Methods"
    bl_idname = score_layout.METHODS_PANEL
    bl_space_type = "TOPBAR"  # only ever opened as a popover
    bl_region_type = "HEADER"
    bl_ui_units_x = _UNITS

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the pictures, each above the button that chooses it, and the description of the chosen method."""
        tree = tree_of(context)
        armature_object = character_of(tree, context) if tree is not None else active_armature(context)
        layout = self.layout
        assert layout is not None
        if armature_object is None:
            return
        character = properties.character(armature_object)
        grid = layout.grid_flow(row_major=True, columns=_COLUMNS, even_columns=True, even_rows=True, align=False)
        for identifier, method in TRANSITION_METHODS.items():
            column = grid.column(align=True)
            column.template_icon(_icon(identifier), scale=_SCALE)
            # prop_enum takes numbers as floats, which are too small for the saved numbers of methods
            button: Any = column.operator(TAKT_OT_choose_method.bl_idname, text=say(method.label),
                                          depress=character.method == identifier, translate=False)
            button.method = identifier
        words = layout.column(align=True)
        words.scale_y = 0.75
        for line in wrapped(say(TRANSITION_METHODS[character.method].description), _LETTERS):
            words.label(text=line, translate=False)


def _icon(method: str) -> int:
    """Return the icon number of a method's picture."""
    global _previews
    if _previews is None:
        _previews = bpy.utils.previews.new()
    if method not in _previews:
        picture = method_picture(method)
        preview = _previews.new(method)
        preview.image_size = preview.icon_size = PICTURE_PX, PICTURE_PX
        pixels = np.ascontiguousarray(picture, dtype=np.float32).ravel()
        preview.image_pixels_float.foreach_set(pixels)
        preview.icon_pixels_float.foreach_set(pixels)
    return cast(int, _previews[method].icon_id)


def unregister() -> None:
    """Free the pictures."""
    global _previews
    if _previews is not None:
        bpy.utils.previews.remove(_previews)
        _previews = None


CLASSES = (TAKT_PT_transition_methods,)
