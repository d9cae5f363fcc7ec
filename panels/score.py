"""The panel of the score that the active armature plays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..bridge import properties
from ..bridge.actions.action_users import is_pushed_down
from ..bridge.actions.below_own_actions import has_own_action, is_score_heard
from ..bridge.active_character import active_armature, armature_problem, name_of_character
from ..bridge.language import say
from ..bridge.scene import held_props
from ..bridge.scores import following, given_score, score
from ..bridge.scores.score_layout import draw_folders, draw_settings
from ..core.errors import FileError, Problem, TaktError, once_per_folder
from ..core.score_editor.names import short
from ..operators.add_sample import TAKT_OT_add_sample
from ..operators.edit_score import TAKT_OT_edit_score
from ..operators.help import TAKT_OT_help
from ..operators.import_pha import TAKT_OT_import_pha
from ..operators.insert_clip import TAKT_OT_insert_clip
from ..operators.new_score import TAKT_OT_new_score
from ..operators.play_on_character import TAKT_OT_play_on_character
from ..operators.procedure_actions import TAKT_OT_procedure_actions
from ..operators.rebuild import TAKT_OT_rebuild
from ..operators.same_score import TAKT_OT_same_score
from ..operators.score_editor.open import TAKT_OT_score_editor
from ..operators.score_file import TAKT_OT_reload_score, TAKT_OT_save_score
from .sidebar import SidebarPanel, action_problem, draw_edited_by_hand, draw_reasons, draw_words, letters
from .tweaks import draw_auto_keying, draw_tweaks

_PROBLEMS_SHOWN = 4
_WARNINGS_SHOWN = 8
_CHARACTERS_SHOWN = 24
_NAME_SHARE = 0.62
"""Share of a row of the list of clips; durations and buttons have the rest."""
_MARGIN_LETTERS = 4


class TAKT_UL_procedures(bpy.types.UIList):
    """The procedures of a score with their lengths, as far as they have one of their own."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw a name, and at the right its length."""
        split = layout.split(factor=0.5)
        split.label(text=item.name, translate=False)
        row = split.row()
        row.alignment = "RIGHT"
        row.label(text=say(f"{item.ticks:g} ticks, {round(item.seconds, 2):g} s") if item.ticks else "–",
                  translate=False)


class TAKT_UL_clips(bpy.types.UIList):
    """The clips that a score can call, each with its length; Blender's own search is below the list."""

    def draw_item(self, context: Any, layout: Any, data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw a name, its length, and the button that inserts it into the score."""
        self.use_filter_show = True
        split = layout.split(factor=_NAME_SHARE)
        room = int(_NAME_SHARE * letters(context)) - _MARGIN_LETTERS
        split.label(text=clip_label(item.name, max(len(clip.name) for clip in data.clips) <= room), translate=False)
        row = split.row()
        row.alignment = "RIGHT"
        row.label(text=f"{round(item.seconds, 2):g} s", translate=False)
        insert: Any = row.operator(TAKT_OT_insert_clip.bl_idname, text="", icon="IMPORT", emboss=False)
        insert.clip = item.name


def clip_label(name: str, fit: bool) -> str:
    """Return the full name of a clip if all names of a list fit, else its short name, since names differ at the end."""
    return name if fit else short(name)


class TAKT_PT_score(SidebarPanel):
    """Choose, set and rebuild the score."""

    bl_label = "Score"
    manual = "score-in-blender"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the score and its settings, or what to do first."""
        layout, armature_object = self.layout, active_armature(context)
        assert layout is not None
        if armature_object is None or armature_problem(armature_object):
            _draw_first_steps(layout, context)
            return
        character = properties.character(armature_object)
        if character.text is None and not len(bpy.data.texts):
            _draw_begin(layout)
            return
        no_key = draw_auto_keying(layout, context, armature_object)  # here, since the layers are far down
        layout.template_ID(character, "text", new=TAKT_OT_new_score.bl_idname, open=TAKT_OT_import_pha.bl_idname)
        if character.text is None:
            return
        layout.operator(TAKT_OT_score_editor.bl_idname, icon="NLA")
        if not TAKT_OT_same_score.problem(context):
            layout.operator(TAKT_OT_same_score.bl_idname, icon="DUPLICATE")
        _draw_play_on_character(layout, context, armature_object, character)
        _draw_file(layout, context, character.text)
        if name := score.reading(armature_object):
            draw_words(layout, context, f"Reading {name} …", "INFO")
        if error := score.error_of(armature_object):
            _draw_error(layout, error, context, character)
        _draw_warnings(layout, context, score.warnings_of(armature_object))
        if error and score.is_empty(character, error):
            _draw_library(layout, character)
            return
        _draw_clips(layout, character)
        draw_settings(layout, character)
        _draw_action(layout, context, armature_object, character)
        if no_key:
            draw_words(layout, context, no_key, "INFO")


def _draw_library(layout: bpy.types.UILayout, character: properties.TaktCharacter) -> None:
    """Draw the sources of clips, which are all that is needed while a score is empty."""
    layout.prop(character, "library")
    draw_folders(layout.column(), character)


def _draw_play_on_character(layout: bpy.types.UILayout, context: bpy.types.Context, armature_object: bpy.types.Object,
                     character: properties.TaktCharacter) -> None:
    """Draw the scene's characters in rows, if there are several; a click moves the score to one."""
    found = [] if context.scene is None else list(given_score.characters(context.scene))
    if len(found) < 2:
        return
    header, body = layout.panel("TAKT_play_on_character", default_closed=True)
    header.label(text=say("Play on Character"), translate=False)
    if body is None:
        return
    grid = body.grid_flow(row_major=True, columns=0, even_columns=True, align=True)
    for ob in found[:_CHARACTERS_SHOWN]:
        plays = properties.character(ob).text == character.text
        pick: Any = grid.operator(TAKT_OT_play_on_character.bl_idname, text=name_of_character(ob), translate=False,
                                  depress=ob == armature_object, icon="CHECKMARK" if plays else "ARMATURE_DATA")
        pick.character = ob.name
    if len(found) > _CHARACTERS_SHOWN:
        body.label(text=say(f"and {len(found) - _CHARACTERS_SHOWN} more"), translate=False)


def _draw_first_steps(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw what is missing, and the first step."""
    if context.scene is not None and any(ob.type == "ARMATURE" for ob in context.scene.objects):
        draw_reasons(layout, context, TAKT_OT_new_score)
    else:
        draw_words(layout, context, "There is no character yet: import one (File > Import), or begin with the sample. "
                                    "Then open a score, or begin a new one", "INFO")
        layout.operator(TAKT_OT_add_sample.bl_idname, icon="OUTLINER_OB_ARMATURE")
        draw_reasons(layout, context, TAKT_OT_add_sample)
    _draw_begin(layout)
    layout.operator(TAKT_OT_help.bl_idname, icon="HELP")


def _draw_begin(layout: bpy.types.UILayout) -> None:
    """Draw the two ways to a score."""
    row = layout.row(align=True)
    row.operator(TAKT_OT_import_pha.bl_idname, text=say("Open Score…"), icon="FILE_FOLDER", translate=False)
    row.operator(TAKT_OT_new_score.bl_idname, icon="ADD")


def _draw_warnings(layout: bpy.types.UILayout, context: bpy.types.Context, warnings: Sequence[Problem]) -> None:
    """Draw the warnings, collapsed at first."""
    warnings = once_per_folder(warnings)
    if not warnings:
        return
    header, body = layout.panel("TAKT_warnings", default_closed=True)
    header.label(text=say(f"Warnings ({len(warnings)})"), icon="INFO", translate=False)
    if body is not None:
        for problem in warnings[:_WARNINGS_SHOWN]:
            draw_words(body.box().column(align=True), context, problem.message)
        if len(warnings) > _WARNINGS_SHOWN:
            body.label(text=say(f"and {len(warnings) - _WARNINGS_SHOWN} more"), translate=False)


def _draw_clips(layout: bpy.types.UILayout, character: properties.TaktCharacter) -> None:
    """Draw the clips that can be called, collapsed at first."""
    header, body = layout.panel("TAKT_clips", default_closed=True)
    header.label(text=say(f"Clips to Insert ({len(character.clips)})"), translate=False)
    if body is None:
        return
    if not len(character.clips):
        body.label(text=say('None yet: the text loads no clips'), icon="INFO", translate=False)
        return
    body.template_list("TAKT_UL_clips", "", character, "clips", character, "clip_index", rows=4)
    body.operator(TAKT_OT_insert_clip.bl_idname, icon="IMPORT")


def _draw_file(layout: bpy.types.UILayout, context: bpy.types.Context, text: bpy.types.Text) -> None:
    """Draw whether the score is saved in its linked file."""
    state = following.file_state(text)
    if state not in ("UNSAVED", "BOTH"):
        return
    name = Path(text.filepath).name
    draw_words(layout, context, f"Not saved in {name}" if state == "UNSAVED" else
               f"{name} was changed outside, and so was the score here: which one do you want to keep?", "INFO")
    row = layout.row(align=True)
    save: Any = row.operator(TAKT_OT_save_score.bl_idname, text=say("Save" if state == "UNSAVED" else "This One"),
                             icon="FILE_TICK", translate=False)
    save.overwrite = state == "BOTH"
    if state == "BOTH":
        row.operator(TAKT_OT_reload_score.bl_idname, text=say("The File"), icon="FILE_REFRESH", translate=False)


def _draw_action(layout: bpy.types.UILayout, context: bpy.types.Context, armature_object: bpy.types.Object,
                 character: properties.TaktCharacter) -> None:
    """Draw the buttons below the settings, and whether the Action is up to date with the score."""
    layout.use_property_split = False
    row = layout.row()
    row.prop(character, "keep_action")
    own, is_edited = character.action, False
    if own is not None and is_pushed_down(own, armature_object):
        draw_words(layout, context, f"A strip of the NLA plays {own.name!r}, which stays as it is; Rebuild makes "
                                    "another Action of the score, which plays instead", "INFO")
    elif not is_score_heard(armature_object):
        assigned = armature_object.animation_data and armature_object.animation_data.action
        draw_words(layout, context, f"Plays {repr(assigned.name) if assigned else 'no Action'}, not the score's; "
                                    + ("Rebuild lets the score play below it" if has_own_action(armature_object) else
                                       "Rebuild lets it play the score"), "INFO")
    elif action_problem(armature_object):
        is_edited = True
        row.label(text="", icon="ERROR")
    elif following.is_older(armature_object) and not character.keep_action:
        draw_words(layout, context, "The Action is older than the score", "ERROR")
    if why := held_props.problem(armature_object):
        draw_words(layout, context, why, "INFO")
    row = layout.row(align=True)
    row.operator(TAKT_OT_rebuild.bl_idname, icon="FILE_REFRESH")
    row.operator(TAKT_OT_edit_score.bl_idname, text="", icon="TEXT")
    draw_reasons(layout, context, TAKT_OT_rebuild)
    layout.operator(TAKT_OT_procedure_actions.bl_idname, icon="ACTION")
    draw_tweaks(layout, context, armature_object, character)
    if is_edited:  # below all buttons, since it appears while the user works, and would move them under the mouse
        draw_edited_by_hand(layout, context, armature_object)
    if told := following.told_of_own_keys(armature_object):  # below all buttons, too
        draw_words(layout, context, told, "INFO")


def _draw_error(layout: bpy.types.UILayout, error: TaktError, context: bpy.types.Context,
                character: properties.TaktCharacter) -> None:
    """Draw the first problems, each below its file and line, in lines that fit."""
    if score.is_empty(character, error):
        draw_words(layout, context, "The score is empty: drag clips into it in the score editor", "INFO")
        return
    problems = once_per_folder(error.problems) if isinstance(error, FileError) else (Problem(str(error)),)
    for problem in problems[:_PROBLEMS_SHOWN]:
        path, line = problem.place.path, problem.place.line
        name = say("Score") if path is None else path.name
        column = layout.box().column(align=True)
        if line is None:
            column.label(text=name, icon="ERROR", translate=False)
        else:
            row = column.row()
            row.alignment = "LEFT"
            show: Any = row.operator(TAKT_OT_edit_score.bl_idname, text=say(f"{name}, line {line}"), icon="ERROR",
                                     emboss=False, translate=False)
            show.line = line
            if path is not None and path != Path(properties.score_path(character)):
                show.filepath = str(path)
        draw_words(column, context, problem.message)
    if len(problems) > _PROBLEMS_SHOWN:
        layout.label(text=say(f"and {len(problems) - _PROBLEMS_SHOWN} more"), translate=False)
