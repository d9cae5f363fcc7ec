"""New Score: make a Text with an empty procedure, which the active armature plays."""

from typing import Any

import bpy

from ..bridge import libraries, paths, properties
from ..bridge.actions import action, timeline
from ..bridge.active_character import ForArmature, active_armature, name_of_character
from ..bridge.reports import report
from ..bridge.scores import score_music, score_tree, sound
from ..core.errors import TaktError

_EMPTY = """<?xml version="1.0" encoding="UTF-8"?>
<pha version="2" tickLength="0.5">
  <procedure name="main">
  </procedure>
</pha>
"""


class TAKT_OT_new_score(ForArmature, bpy.types.Operator):
    """Begin a score for the active armature: an empty procedure, into which clips are inserted"""

    bl_idname = "takt.new_score"
    bl_label = "New Score"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Make the Text; the previous score and Action stay in the file."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        character = properties.character(armature_object)
        text = bpy.data.texts.new(f"{name_of_character(armature_object)}.pha")
        text.from_string(_EMPTY)
        if not character.library:
            character.library = paths.kept(_library_of(armature_object))
        action.put_aside(armature_object)
        character.filepath = ""
        character.procedure = "main"
        character.text = text
        for tree in score_tree.trees():
            if tree.is_editable and tree.character in (None, armature_object):
                tree.pixels_per_tick = 0.0  # shows the whole score
        character.procedures.clear()
        character.clips.clear()
        if context.scene is not None:
            sound.stop(context.scene)
            timeline.clear(armature_object, context.scene)
        report(self, {"INFO"}, f"'{armature_object.name}' plays '{text.name}', which is empty: insert clips")
        return {"FINISHED"}


def _library_of(armature_object: bpy.types.Object) -> str:
    """Return the library folder of the previous score, or that of the samples."""
    try:
        _, library = score_music.read(armature_object)
    except TaktError:
        own = []
    else:
        own = [root for root in library.roots if root not in libraries.folders()]
    return str(own[0]) if own else "" if libraries.folders() else str(libraries.SAMPLES)
