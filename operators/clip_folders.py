"""Add the user's own clips, a folder or files, to the shelf of a character's score."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, EnumProperty, IntProperty, StringProperty

from ..bridge.active_character import active_armature, score_problem
from ..bridge.reports import GreyWithReason, refuse, report, words_of
from ..bridge.scores import score_tree
from ..bridge.shelf import clip_folders
from ..core.errors import TaktError
from ..core.formats import endings


def shown_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the character of a score editor; in other editors, the active one."""
    if score_tree.is_score_editor(context.space_data):
        return score_tree.character_of(score_tree.tree_of(context), context)
    return active_armature(context)


class _ForShownScore(GreyWithReason):
    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no score to add clips to."""
        return score_problem(shown_armature(context))


class TAKT_OT_add_clip_folder(_ForShownScore, bpy.types.Operator):
    """Put all clips of a folder and its subfolders onto the shelf of the score"""

    bl_idname = "takt.add_clip_folder"
    bl_label = "Add Clip Folder"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        directory: str
        filter_folder: bool
    else:
        directory: StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"},
                                  description="The folder with clips, in any formats that Takt reads")
        filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the folder."""
        assert context.window_manager is not None
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Add the folder to the search of the score."""
        armature_object, folder = shown_armature(context), Path(bpy.path.abspath(self.directory))
        assert armature_object is not None  # poll has checked it
        try:
            is_new = clip_folders.add(armature_object, folder)
        except (TaktError, OSError) as error:
            return refuse(self, words_of(error))
        score_tree.redraw()
        said = "are on the shelf" if is_new else "were on the shelf before"
        report(self, {"INFO"}, f"The clips of '{folder.name}' {said}; drag them into the score")
        return {"FINISHED"} if is_new else {"CANCELLED"}


class TAKT_OT_add_clip_files(_ForShownScore, bpy.types.Operator):
    """Put files with clips onto the shelf of the score, with the others of their folder"""

    bl_idname = "takt.add_clip_files"
    bl_label = "Add Clip Files"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        directory: str
        filename: str
        files: bpy.types.bpy_prop_collection_idprop[bpy.types.OperatorFileListElement]
        filter_glob: str
    else:
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
        filename: StringProperty(subtype="FILE_NAME", options={"HIDDEN", "SKIP_SAVE"})
        files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in endings()), options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the files."""
        assert context.window_manager is not None
        self.filename = ""  # else the browser begins with the name of the .blend
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Add the files that can be added; report the others."""
        armature_object, folder = shown_armature(context), Path(bpy.path.abspath(self.directory))
        assert armature_object is not None  # poll has checked it
        chosen = [folder / each.name for each in self.files if each.name]
        if not chosen:
            return refuse(self, "Choose at least one file with clips")
        try:
            brought, wrong = clip_folders.bring_all(armature_object, chosen)
        except TaktError as error:
            return refuse(self, str(error))
        if not brought:
            return refuse(self, "\n".join(wrong))
        score_tree.redraw()
        report(self, {"INFO"}, f"{', '.join(brought[:3])}{' and more' if len(brought) > 3 else ''}: on the shelf")
        for each in wrong:
            report(self, {"WARNING"}, each)
        return {"FINISHED"}


class TAKT_OT_move_folder(_ForShownScore, bpy.types.Operator):
    """Move this folder in the search order: of several files with one name, the first is used"""

    bl_idname = "takt.move_folder"
    bl_label = "Move Folder"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    if TYPE_CHECKING:
        index: int
        direction: str
    else:
        index: IntProperty(name="Folder", description="Which of the folders, counted from 0", options={"SKIP_SAVE"})
        direction: EnumProperty(name="Direction", description="Earlier or later", items=(
            ("UP", "Up", "Search this folder earlier"), ("DOWN", "Down", "Search this folder later")))

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Move it; at the end of the list it stays."""
        armature_object = shown_armature(context)
        assert armature_object is not None  # poll has checked it
        is_moved = clip_folders.move(armature_object, self.index, 1 if self.direction == "DOWN" else -1)
        return {"FINISHED"} if is_moved else {"CANCELLED"}
