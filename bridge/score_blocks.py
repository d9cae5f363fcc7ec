"""A character's score laid out as blocks, for the score editor: as it is now, and while it has errors as it was before.

Reading a score may read clips of Blender's own files, which must not be done from within a drawing. So what draws asks
`shown`, which makes nothing, and whoever does not draw calls `refresh`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import bpy

from ..core.errors import TaktError
from ..core.score_editor.layout import Layout, lay_out
from . import libraries, performing, properties, score, texts


@dataclass(frozen=True, eq=False)
class Blocks:
    """What is shown of a score.

    source: the text that was laid out, what is proposed included; layout: None where it never could be read; error: why
    it cannot be read now, where the layout is that of an earlier text. has_windows: transitions lie where they play, as far as the score can
    be played.
    """

    source: str
    layout: Layout | None
    error: TaktError | None = None
    has_windows: bool = False


_blocks: dict[int, tuple[Hashable, Blocks]] = {}
"""By the armature's object, by its session_uid, with all that they depend on but files."""


def shown(armature_object: bpy.types.Object) -> Blocks | None:
    """Return what was last laid out; None: nothing yet. Cheap enough for every drawing."""
    known = _blocks.get(armature_object.session_uid)
    return None if known is None else known[1]


def is_current(armature_object: bpy.types.Object) -> bool:
    """Tell whether that is of the score as it now is."""
    known = _blocks.get(armature_object.session_uid)
    return known is not None and known[0] == _dependencies(armature_object)


def is_complete(armature_object: bpy.types.Object) -> bool:
    """Tell whether it is, and transitions lie where they play or it is known why they do not."""
    known = _blocks.get(armature_object.session_uid)
    return is_current(armature_object) and known is not None and (known[1].error is not None or known[1].has_windows)


def refresh(armature_object: bpy.types.Object) -> Blocks:
    """Lay the score out, if anything has changed since; never from within a drawing."""
    key = _dependencies(armature_object)
    known = _blocks.get(armature_object.session_uid)
    if known is None or known[0] != key:
        source = _said(armature_object)
        try:
            sequence, clock = performing.expand_score(source, properties.character(armature_object), armature_object)
            found = Blocks(source, lay_out(sequence, clock=clock))
        except TaktError as error:
            found = Blocks(source, known[1].layout if known is not None else None, error)
        known = _blocks[armature_object.session_uid] = key, found
    return known[1]


def find_windows(armature_object: bpy.types.Object) -> None:
    """Let transitions lie where they play, which needs the motion; never from within a drawing."""
    found = refresh(armature_object)
    if found.layout is None or found.error is not None or found.has_windows:
        return
    motion, layout = score.motion_of(armature_object), found.layout
    if motion is not None:
        played = motion.row.layout
        layout = lay_out(layout.sequence, windows_s=(played.window_begin_s, played.window_end_s), clock=layout.clock)
    _blocks[armature_object.session_uid] = (_blocks[armature_object.session_uid][0],
                                            replace(found, layout=layout, has_windows=True))


def forget() -> None:
    """Keep nothing any longer, as when another file is loaded."""
    _blocks.clear()


def _dependencies(armature_object: bpy.types.Object) -> Hashable:
    character = properties.character(armature_object)
    return (_said(armature_object), character.filepath, libraries.folders(), character.library,
            character.procedure, character.loop)


def _said(armature_object: bpy.types.Object) -> str:
    text = properties.character(armature_object).text
    return "" if text is None else texts.said(text)
