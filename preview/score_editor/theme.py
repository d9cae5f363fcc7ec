"""The user's colours, sizes, font and language for the score editor."""

from typing import Any

import bpy

from ...bridge.language import say
from ...core.score_editor.picture import Colour
from ...core.score_editor.theme import Theme
from .canvas import measured


def theme_of(context: bpy.types.Context) -> Theme:
    """Return the theme from Blender's: background of timelines, text and accent of buttons."""
    assert context.preferences is not None
    theme: Any = context.preferences.themes[0]
    look = theme.user_interface
    style: Any = context.preferences.ui_styles[0]
    ground = theme.dopesheet_editor.space.back
    return Theme(ground=_rgba(ground), text=_rgba(_readable(look.wcol_regular.text, theme.dopesheet_editor, ground)),
                 accent=_rgba(look.wcol_regular.inner_sel), size_px=float(style.widget.points),
                 measure=measured, say=say)


def _readable(text: Any, editor: Any, ground: Any) -> Any:
    """Return the text colour of the editor if it has more contrast, since buttons may be dark in a light theme."""
    own = editor.space.text
    return own if abs(sum(own[:3]) - sum(ground[:3])) > abs(sum(text[:3]) - sum(ground[:3])) else text


def _rgba(colour: Any) -> Colour:
    red, green, blue = list(colour)[:3]
    return float(red), float(green), float(blue), 1.0
