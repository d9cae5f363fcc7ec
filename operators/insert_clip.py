"""Insert Clip: put a call of a clip into the score, with the clip's own length."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..bridge import properties
from ..bridge.active_character import ForScore, active_armature
from ..bridge.language import say
from ..bridge.reports import refuse
from ..bridge.scores import texts
from ..core.errors import TaktError, quoted
from ..core.pha.document import Document, read
from ..core.pha.edits import Insert, apply, element
from ..core.pha.text import Text


class TAKT_OT_insert_clip(ForScore, bpy.types.Operator):
    """Put a call of a clip into the score, at its own length"""

    bl_idname = "takt.insert_clip"
    bl_label = "Insert Clip"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        clip: str
    else:
        clip: StringProperty(name="Clip", options={"SKIP_SAVE"},
                             description="Name of the clip. Empty: the clip that is chosen in the list")

    @classmethod
    def description(cls, _context: bpy.types.Context, told: Any) -> str:
        """Return the tooltip, with the full name of the clip, which the list may shorten."""
        return say(f"Insert a call of {told.clip or 'the chosen clip'} after the cursor's line, or at the end of the "
                   "procedure that plays, as long as the clip")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Edit the Text, and put its cursor into the new line."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        character = properties.character(armature_object)
        assert character.text is not None
        chosen = character.clips.get(self.clip) if self.clip else (
            character.clips[character.clip_index] if 0 <= character.clip_index < len(character.clips) else None)
        if chosen is None:
            there = ", ".join(each.name for each in list(character.clips)[:8]) or "none"
            return refuse(self, f"The score loads no clip {quoted(self.clip)}; it loads {there}")
        try:
            document = read(Text.of(character.text.as_string()))
            parent, index = insertion_point(document, character.procedure, character.text.current_line_index + 1)
            ticks = max(1, round(chosen.seconds / document.tick_s))
            call = element("call", name=chosen.name, duration=str(ticks))
            edited = apply(document.text, Insert(parent, index, call))
            texts.replace(character.text, str(edited.text))
        except TaktError as error:
            return refuse(self, str(error))
        start, _, new = edited.patches[0].replacements[0]
        above = document.text.data[:start] + new.rstrip()
        texts.select_line(character.text, document.text.encoding.decode(above).count("\n") + 1)
        return {"FINISHED"}


def insertion_point(document: Document, playing: str, line: int) -> tuple[int, int]:
    """Return the element into which a call goes, and the index of the child before which it is put.

    It follows the child of a procedure whose lines contain the cursor, or else ends the procedure that plays.
    Raises TaktError if there is no procedure.
    """
    text = document.text
    for procedure in document.procedures:
        children = list(text.children(procedure.element))
        first = document.place(procedure).line or 0
        span = text.span(procedure.element)
        last = first + text.encoding.decode(text.data[span.start:span.end]).count("\n")
        if first <= line < last:
            above = [number for number, child in enumerate(children, start=1)
                     if (text.place(child).line or 0) <= line]
            return procedure.element, above[-1] if above else len(children) if line == first else 0
    found = next((each for each in document.procedures if each.name == playing), None)
    if found is None:
        raise TaktError(f"The score has no procedure {quoted(playing)}; write one, or choose another")
    return found.element, len(list(text.children(found.element)))
