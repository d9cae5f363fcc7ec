"""The sidebar tab of all panels of Takt, and text that wraps in it."""

import textwrap
from typing import Any, Literal
from unicodedata import east_asian_width

import bpy

from ..bridge import properties
from ..bridge.actions import action
from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..bridge.reports import GreyWithReason
from ..bridge.scores import following
from ..operators.help import TAKT_OT_help

_LETTER_PX, _BESIDE_PX = 6.4, 60.0
"""At a UI scale of 1: mean width of a letter, and how much of the sidebar is tabs and margins."""
_FEWEST_LETTERS = 12
_ICON_LETTERS = 4


class SidebarPanel(bpy.types.Panel):
    """The tab "Takt" in the sidebar of the 3D viewport; not registered itself."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Takt"

    manual = ""
    """The page of the manual that a button at the right of the header opens; none without it."""

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        """Draw the button that opens the manual."""
        assert self.layout is not None
        if self.manual:
            button: Any = self.layout.operator(TAKT_OT_help.bl_idname, text="", icon="HELP", emboss=False)
            button.page = self.manual


def draw_words(layout: bpy.types.UILayout, context: bpy.types.Context, text: str,
               icon: Literal["NONE", "INFO", "ERROR"] = "NONE") -> None:
    """Draw a text in as many lines as it needs; after an icon the lines are aligned."""
    column = layout.column(align=True)
    column.scale_y = 0.75
    room = letters(context) - (_ICON_LETTERS if icon != "NONE" else 0)
    for number, line in enumerate(wrapped(say(text), room)):
        column.label(text=line, icon=icon if number == 0 or icon == "NONE" else "BLANK1", translate=False)


def wrapped(text: str, room: int) -> list[str]:
    """Return a text in lines of at most so many letters; Chinese and Japanese letters are twice as wide.

    >>> wrapped("one two", 4), wrapped("骨格を作る", 6)
    (['one', 'two'], ['骨格を', '作る'])
    """
    is_wide = any(east_asian_width(letter) in "WF" for letter in text)
    return textwrap.wrap(text, room // 2 if is_wide else room)


def draw_reasons(layout: bpy.types.UILayout, context: bpy.types.Context, *operators: type[GreyWithReason]) -> None:
    """Draw why buttons are grey, one line for each reason; without a character only the first one."""
    reasons = [reason for reason in dict.fromkeys(operator.problem(context) for operator in operators) if reason]
    for reason in reasons if active_armature(context) else reasons[:1]:
        draw_words(layout, context, reason, "INFO")


def draw_edited_by_hand(layout: bpy.types.UILayout, context: bpy.types.Context,
                        armature_object: bpy.types.Object) -> None:
    """Draw why an Action differs from the score; if it was edited by hand, with the two choices."""
    problem = action_problem(armature_object)
    if not problem:
        return
    draw_words(layout, context, problem, "ERROR")
    if problem == action.EDITED_BY_HAND:
        draw_choices(layout.column(align=True), armature_object)  # beside each other, labels would be cut off


def action_problem(armature_object: bpy.types.Object) -> str:
    """Return why the Action is not, or will not be, made from the score, "" if it is."""
    is_edited = properties.character(armature_object).keep_action and following.is_edited(armature_object)
    return following.problem(armature_object) or (action.EDITED_BY_HAND if is_edited else "")


def draw_choices(layout: bpy.types.UILayout, armature_object: bpy.types.Object) -> None:
    """Draw the buttons for an Action that was edited by hand: none of them loses it. layout: a row or a column."""
    layout.context_pointer_set("active_object", armature_object)
    layout.operator("takt.keep_mine", icon="PINNED")
    layout.operator("takt.extract_tweaks", icon="POSE_HLT")
    layout.operator("takt.rebuild", text=say("Write Anew"), icon="FILE_REFRESH", translate=False)


def letters(context: bpy.types.Context) -> int:
    """Return the approximate number of letters in a line of the sidebar."""
    assert context.region is not None and context.preferences is not None
    width = context.region.width / context.preferences.system.ui_scale
    return max(_FEWEST_LETTERS, int((width - _BESIDE_PX) / _LETTER_PX))
