"""The sidebar of the score editor: the attributes of the selected block, and the score's settings."""

import bpy

from ...bridge import properties
from ...bridge.language import say
from ...bridge.reports import edit_mode_problem
from ...bridge.scores import score_blocks, score_fields, score_tree
from ...bridge.scores.score_layout import draw_settings
from ...core.clips.released import read_released
from ...core.score_editor import hints
from ...core.score_editor.boxes import Kind
from ...core.score_editor.change import locked
from ...core.score_editor.layout import BoxId, Layout
from ..sidebar import draw_words


class _ScoreEditorPanel(bpy.types.Panel):
    """A panel in the sidebar of score editors; not registered itself."""

    bl_space_type = "NODE_EDITOR"
    bl_region_type = "UI"
    bl_category = "Takt"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether a score is shown."""
        tree = score_tree.tree_of(context)
        return tree is not None and score_tree.character_of(tree, context) is not None


class TAKT_PT_score_block(_ScoreEditorPanel):
    """What the selected block is."""

    bl_label = "Block"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the attributes as fields, expressions as the text has them."""
        layout, tree = self.layout, score_tree.tree_of(context)
        armature_object = score_tree.character_of(tree, context)
        assert layout is not None and tree is not None and armature_object is not None  # poll has checked it
        found = score_fields.chosen(tree, armature_object)
        if found is None:
            layout.label(text=say("Select a block"), translate=False)
            return
        laid_out, box, others = found
        document = laid_out.documents[box.document]
        row = layout.row()
        kind = Kind(int(laid_out.boxes.kind[laid_out.find(box) or 0]))
        row.label(text=say(kind.name.capitalize() + (f" and {others} more" if others else "")), translate=False)
        row.operator("takt.score_open", text="", icon="TEXT")
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        blocks = score_blocks.shown(armature_object)
        is_locked = blocks is not None and blocks.scores is not None and bool(locked(document, blocks.scores))
        column.enabled = not is_locked and not edit_mode_problem(context)
        _draw_attributes(column, tree, laid_out, box)
        number = laid_out.find(box)
        if number is not None and (words := hints.part(laid_out, number)):
            draw_words(layout, context, words, "INFO")
        if number is not None and (words := hints.speed(laid_out, number)):
            is_far = hints.is_far(float(laid_out.boxes.speed[number]))
            draw_words(layout, context, words, "ERROR" if is_far else "INFO")
        if box.document:
            name = "a file" if document.path is None else document.path.name
            draw_words(layout, context, f"This is in {name}, which other scores may include too", "INFO")
            if is_locked:
                layout.operator("takt.score_open_file", text=say(f"Open {name} to Change It"), icon="TEXT",
                                translate=False)
        problem = None if blocks is None else blocks.problems.get(box._replace(occurrence=0))
        if problem is not None:
            draw_words(layout, context, problem.message, "INFO" if problem.is_warning else "ERROR")
        if words := score_fields.refused(tree):
            draw_words(layout, context, words, "ERROR")


def _draw_attributes(column: bpy.types.UILayout, tree: score_tree.TaktScoreTree, laid_out: Layout,
                     box: BoxId) -> None:
    """Draw a field for each attribute, a check box for yes and no."""
    may_type = False
    for name, attribute in score_fields.attributes(laid_out, box):
        check_box = score_fields.box_of(laid_out, box, name, attribute)
        may_type |= bool(check_box)
        if check_box and not getattr(tree.fields, "types_expressions"):  # noqa: B009
            column.prop(tree.fields, check_box)
        else:
            column.prop(tree.fields, name, placeholder=say(attribute.default or ""))
    if may_type:
        column.prop(tree.fields, "types_expressions")


class TAKT_PT_score_transition(_ScoreEditorPanel):
    """The transition behind the selected block: how long it is and why, where its clips are left, which feet stand."""

    bl_label = "Why This Transition"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw a sentence for each."""
        layout, tree = self.layout, score_tree.tree_of(context)
        armature_object = score_tree.character_of(tree, context)
        assert layout is not None and tree is not None and armature_object is not None  # poll has checked it
        for words in score_fields.why_transition(tree, armature_object):
            draw_words(layout, context, words)


class TAKT_PT_score_settings(_ScoreEditorPanel):
    """How the score is played."""

    bl_label = "Score"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the character's settings, as its own panel does."""
        armature_object = score_tree.character_of(score_tree.tree_of(context), context)
        assert self.layout is not None and armature_object is not None  # poll has checked it
        character = properties.character(armature_object)
        self.layout.enabled = not edit_mode_problem(context)
        self.layout.prop(character, "frame_start")
        self.layout.prop(character, "ticks_per_bar")
        if number := len(read_released(character.released)):
            row = self.layout.row()
            row.label(text=say(f"{number} contact{'s' * (number > 1)} of feet switched off"), translate=False)
            row.operator("takt.score_contacts_on", text="", icon="LOOP_BACK")
        draw_settings(self.layout, character)


class TAKT_PT_score_none(_ScoreEditorPanel):
    """What is missing; without it, only the node editor's own tabs would be there."""

    bl_label = "Score"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether no score is shown."""
        return score_tree.is_score_editor(context.space_data) and not super().poll(context)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what to do."""
        assert self.layout is not None
        draw_words(self.layout, context, "No score: make a character active that has one, or give it one")
        self.layout.operator("takt.new_score", icon="ADD")
        self.layout.operator("takt.import_pha", text=say("Open Score…"), icon="FILE_FOLDER", translate=False)


CLASSES = (TAKT_PT_score_none, TAKT_PT_score_block, TAKT_PT_score_transition, TAKT_PT_score_settings)
