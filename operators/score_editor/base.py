"""What all operators of the score editor need: an editor that shows a score."""

from dataclasses import dataclass

import bpy

from ...bridge import score_blocks, score_tree
from ...bridge.reports import GreyWithReason
from ...bridge.score_blocks import Blocks
from ...core.score_editor.layout import Layout
from ...core.score_editor.view import View
from ...preview.score_editor import windows


@dataclass(frozen=True, eq=False)
class Editor:
    """The editor of a context, with all that it shows."""

    tree: score_tree.TaktScoreTree
    armature: bpy.types.Object
    blocks: Blocks
    layout: Layout
    view: View


class InScoreEditor(GreyWithReason):
    """An operator that wants a score editor with a score in it."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return what is missing; with it, the operator leaves what was pressed to others."""
        if not score_tree.is_score_editor(context.space_data):
            return "Only in the score editor"
        if context.region is None or context.region.type != "WINDOW":
            return "Only over the score"
        return "" if editor_of(context) is not None else "No score is shown: choose a character that has one"


def editor_of(context: bpy.types.Context) -> Editor | None:
    """Return the editor that a context is about, None where it shows no score."""
    tree = score_tree.tree_of(context)
    armature_object = score_tree.character_of(tree, context)
    if tree is None or armature_object is None or context.space_data is None:
        return None
    blocks, window = score_blocks.shown(armature_object), windows.window_of(context.space_data)
    if blocks is None or blocks.layout is None or window is None:
        return None
    return Editor(tree, armature_object, blocks, blocks.layout, window.view)


def found_editor(context: bpy.types.Context) -> Editor:
    """Return the editor where poll has seen to it that there is one."""
    editor = editor_of(context)
    assert editor is not None
    return editor
