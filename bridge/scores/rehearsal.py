"""A rehearsal: a character's motion for a single clip or procedure, computed in the background."""

from __future__ import annotations

from dataclasses import replace
from xml.sax.saxutils import quoteattr

import bpy

from ...core.errors import TaktError
from ...core.library.library import Library
from ...core.playing.motion import Motion
from ...core.score_editor.commands import Playable
from .. import properties
from . import performing, score_blocks, texts
from .background_performance import BackgroundPerformance

_SHORTEST_S = 0.1
_SCORE = """<pha version="2" tickLength="1"><{lead} src={src}/>
<procedure name="main"><call name={name} duration="{length}"/></procedure></pha>"""


class Rehearsal:
    """A playable rehearsed by a character, without writing anything."""

    def __init__(self, armature_object: bpy.types.Object, playable: Playable) -> None:
        """Start the performance."""
        self.of = armature_object.session_uid, playable
        self._motion: Motion | None = None
        try:
            self._work: BackgroundPerformance | None = BackgroundPerformance(
                _task(armature_object, playable), armature_object.session_uid)
        except TaktError:
            self._work = None  # the error is reported when it is put into the score

    def motion(self) -> Motion | None:
        """Return the motion, or None if it is not known yet or cannot be played."""
        if self._work is not None:
            performance = self._work.result()
            if performance is not None:
                self._motion, self._work = performance.motion, None
        return self._motion

    def cancel(self) -> None:
        """Stop, without waiting for it."""
        if self._work is not None:
            self._work.cancel()


def _task(armature_object: bpy.types.Object, playable: Playable) -> performing.Task:
    """Return the task: the score's own procedure, or a score of a single call with the same library."""
    character, blocks = properties.character(armature_object), score_blocks.shown(armature_object)
    if character.text is None or blocks is None or blocks.scores is None:
        raise TaktError("there is no score that can be read")
    text, procedure = texts.said(character.text), playable.name
    if playable.src:
        text, procedure = score_of(playable), "main"
    instead = {"procedure": procedure, "loop": False}
    task = performing.read_task(text, properties.score_path(character), character, armature_object, instead)
    library = blocks.scores.library
    return replace(task, roots=library.roots if isinstance(library, Library) else (), key=("rehearsal",), resolved=None)


def score_of(playable: Playable) -> str:
    """Return a score of one call that plays a clip or another score's procedure at its own length."""
    return _SCORE.format(lead="load" if playable.is_clip else "include", src=quoteattr(playable.src),
                         name=quoteattr(playable.full_name), length=f"{max(playable.duration_s, _SHORTEST_S):.6f}")
