"""Drop files onto a score: clips and other scores, at the mouse."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ...bridge.reports import report, words_of
from ...bridge.scores import score_tree
from ...bridge.shelf import clip_folders, shelf
from ...core.errors import FileError
from ...core.formats import endings
from ...core.library.library import SCORE_SUFFIX
from ...core.score_editor.drop import Drop, drop_at
from ...preview.score_editor.windows import is_on_shelf
from .base import Editor, InScoreEditor, found_editor, refuse
from .calls import gap_now
from .insert import insert_at, tell_cut_off


class TAKT_OT_score_drop_file(InScoreEditor, bpy.types.Operator):
    """Insert the first clip or procedure of a file into the score; dropped on the shelf, it is only added there"""

    bl_idname = "takt.score_drop_file"
    bl_label = "Insert File"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        filepath: str
    else:
        filepath: StringProperty(name="File Path", subtype="FILE_PATH", options={"HIDDEN", "SKIP_SAVE"})

    _gap: Drop | None = None
    _is_for_shelf = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Insert it at the mouse."""
        editor = found_editor(context)
        self._is_for_shelf = is_on_shelf(context, float(event.mouse_region_y))
        self._gap = drop_at(editor.layout, editor.view, float(event.mouse_region_x), float(event.mouse_region_y))
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find its src, and insert its first clip or procedure; its folder is searched only if that works."""
        armature_object = found_editor(context).armature
        before = clip_folders.searched(armature_object)
        result = self._insert(context, Path(bpy.path.abspath(self.filepath)))
        if "FINISHED" not in result:
            clip_folders.search_only(armature_object, before)
        return result

    def _insert(self, context: bpy.types.Context, path: Path) -> "set[Any]":
        editor = found_editor(context)
        try:
            src = clip_folders.bring(editor.armature, path)
            held = shelf.playables_of(src, path, _library(found_editor(context)))
        except (FileError, OSError) as error:
            return refuse(self, words_of(error))
        if not held:
            return refuse(self, f"{path.name} holds only 'main', which no other score can call; give that procedure "
                                "another name" if path.name.endswith(SCORE_SUFFIX) else
                          f"{path.name} holds nothing that can be played")
        if self._is_for_shelf:
            report(self, {"INFO"}, f"{path.name} is on the shelf; drag it into the score")
            tell_cut_off(self, held[0])
            return {"FINISHED"}
        gap = self._gap or gap_now(context)
        result = insert_at(self, context, found_editor(context), gap, held[0])
        if "FINISHED" in result and len(held) > 1:
            report(self, {"INFO"}, f"{path.name} holds {len(held)}; the others are on the shelf")
        return result


class TAKT_FH_score(bpy.types.FileHandler):
    """Lets clips and scores be dropped onto a score"""

    bl_idname = "TAKT_FH_score"
    bl_label = "Takt Score"
    bl_import_operator = TAKT_OT_score_drop_file.bl_idname
    bl_file_extensions = ";".join(sorted({Path(f"x{ending}").suffix for ending in (*endings(), SCORE_SUFFIX)}))
    """Also .blend: Blender asks handlers of files before it offers to open one."""

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Return whether a file may be dropped here."""
        return (context is not None and score_tree.is_score_editor(context.space_data)
                and TAKT_OT_score_drop_file.problem(context) == "")


def _library(editor: Editor) -> object:
    return None if editor.blocks.scores is None else editor.blocks.scores.library
