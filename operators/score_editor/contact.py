"""Switch foot contacts off and on: while one is off, the foot is not locked but moves as in the clip."""

from typing import Any

import bpy

from ...bridge import properties
from ...bridge.scores import score_tree
from ...core.clips.released import read_released, write_released
from ...core.score_editor.contacts import Contacts
from ...core.score_editor.gestures import press_of
from ...preview import life
from .base import InScoreEditor, fresh_editor, hit_in_score, refuse


class TAKT_OT_score_contact(InScoreEditor, bpy.types.Operator):
    """Switch this foot contact on or off, wherever the clip plays; saved with the character"""

    bl_idname = "takt.score_contact"
    bl_label = "Switch Contact"
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Switch the contact under the mouse; pass events elsewhere on."""
        editor = fresh_editor(context)
        contacts = editor.layout.contacts
        found = hit_in_score(context, editor, float(event.mouse_region_x), float(event.mouse_region_y))
        if found is None or press_of(found) != "contact" or found.contact is None or contacts is None:
            return {"PASS_THROUGH"}
        if not editor.armature.is_editable:
            return refuse(self, f"'{editor.armature.name}' is linked and cannot be changed")
        switch(editor.armature, contacts, found.contact)
        return {"FINISHED"}


def switch(armature_object: bpy.types.Object, contacts: Contacts, contact: int) -> None:
    """Switch a contact off or on wherever its clip plays."""
    character = properties.character(armature_object)
    character.released = write_released(contacts.switched(contact, read_released(character.released)))
    life.changed()
    score_tree.redraw()


class TAKT_OT_score_contacts_on(InScoreEditor, bpy.types.Operator):
    """Switch on all contacts of feet that were switched off"""

    bl_idname = "takt.score_contacts_on"
    bl_label = "Switch All Contacts On"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return what is missing."""
        armature_object = score_tree.character_of(score_tree.tree_of(context), context)
        if armature_object is None:
            return "No score is shown: choose a character that has one"
        return "" if properties.character(armature_object).released else "All contacts are on"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Switch them on."""
        armature_object = score_tree.character_of(score_tree.tree_of(context), context)
        assert armature_object is not None  # poll has checked it
        properties.character(armature_object).released = ""
        life.changed()
        score_tree.redraw()
        return {"FINISHED"}
