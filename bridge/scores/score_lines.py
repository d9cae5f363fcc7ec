"""Show blocks of a score as lines of its text."""

from collections.abc import Iterable

import bpy

from ...core.score_editor.layout import Layout
from .. import properties
from . import texts


def show(context: bpy.types.Context, armature_object: bpy.types.Object, layout: Layout, boxes: Iterable[int]) -> bool:
    """Select the line of the first of some boxes whose text is open, and show it in a Text Editor if there is one.

    Returns whether there was such a box: in an open text that is unchanged since the layout.
    """
    for box in boxes:
        document = layout.documents[int(layout.boxes.document[box])]
        own = document is layout.documents[0]
        text = (properties.character(armature_object).text if own
                else None if document.path is None else texts.text_of(document.path))
        line = document.text.place(int(layout.boxes.element[box])).line
        if text is None or line is None or not texts.holds(text, document):
            continue
        texts.select_line(text, line)
        manager = context.window_manager
        area = None if manager is None else texts.text_editor(manager, text)
        if area is not None:
            texts.scroll_to(texts.show(area, text), line)
            area.tag_redraw()
        return True
    return False
