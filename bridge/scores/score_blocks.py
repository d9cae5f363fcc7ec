"""A character's score laid out as blocks for the score editor; while it has errors, its last version without any.

Reading a score may read clips of Blender's own files, which is not allowed during a drawing. So drawing code calls
`shown`, which computes nothing, and other code calls `refresh`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path

import bpy
import numpy as np

from ...core.errors import FileError, Problem, TaktError
from ...core.library.library import Library
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.pha.document import Document, Music, parse
from ...core.pha.open_scores import Scores
from ...core.pha.sequence import Sequence
from ...core.pha.text import Text
from ...core.playing.clock import Clock
from ...core.playing.motion import Motion
from ...core.score_editor.change import Candidate, holds_nothing_yet
from ...core.score_editor.contacts import Contacts, contacts_of
from ...core.score_editor.layout import BoxId, Layout, empty, lay_out, windows_of
from ...core.score_editor.music import music_of
from ...core.score_editor.problems import problems_of_boxes
from .. import libraries, properties
from . import included_texts, parameters, performing, score, score_music, score_tree, texts

Windows = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks that are shown for a score.

    source: the laid-out text, including a proposal; layout: None if it could never be read; scores: the open texts,
    which may be changed. error: why the text cannot be read now, if the layout is of an earlier one. problems: of
    boxes, by the first box of their element. windows_s: of transitions; has_windows: whether they are the motion's, as
    far as the score can be played; motion: that one. music: its sound file, if any. written: the layout of the written
    text, while a proposal is shown.
    """

    source: str
    layout: Layout | None
    scores: Scores | None = None
    error: TaktError | None = None
    problems: Mapping[BoxId, Problem] = field(default_factory=dict)
    windows_s: Windows | None = None
    has_windows: bool = False
    motion: Motion | None = None
    music: Path | None = None
    written: Layout | None = None

    @property
    def selectable(self) -> Layout | None:
        """The layout whose boxes can be selected."""
        return self.layout if self.written is None else self.written

    @property
    def is_numbered_as_written(self) -> bool:
        """Whether boxes have the same numbers in the written text and in a proposal."""
        layouts = [layout for layout in (self.layout, self.written) if layout is not None]
        return len({len(layout.documents[0].text) for layout in layouts}) <= 1


_blocks: dict[int, tuple[tuple[Hashable, ...], Blocks]] = {}
"""Blocks by the session_uid of the armature's object, with everything that they depend on except files; the text comes
first."""
_missed: dict[int, tuple[Layout, tuple[Problem, ...], Mapping[BoxId, Problem]]] = {}
"""By the same key, the missed targets and the layout in which they were found."""


def shown(armature_object: bpy.types.Object) -> Blocks | None:
    """Return the last layout; None: nothing yet. Fast enough for every drawing."""
    known = _blocks.get(armature_object.session_uid)
    return None if known is None else known[1]


def is_current(armature_object: bpy.types.Object) -> bool:
    """Return whether the layout is of the current score."""
    known = _blocks.get(armature_object.session_uid)
    return known is not None and known[0] == _dependencies(armature_object, known[1])


def is_complete(armature_object: bpy.types.Object) -> bool:
    """Return whether the layout is current, and the windows of transitions are known, or why they are not."""
    known = shown(armature_object)
    if known is None or not is_current(armature_object):
        return False
    return known.error is not None or (known.has_windows and not _is_moved(armature_object, known))


def _is_moved(armature_object: bpy.types.Object, blocks: Blocks) -> bool:
    """Tell whether the same score now has another motion, as after objects of its cast were moved."""
    performance = score.known_performance(armature_object)
    return performance is not None and performance.motion is not blocks.motion


def missed(armature_object: bpy.types.Object, motion: Motion | None) -> Mapping[BoxId, Problem]:
    """Return by shown boxes: targets in the scene that a motion misses, notes on them, and clips that do not fit.

    The motion may be that of an earlier text. If no clip can be played, the problems of clips are returned instead. It
    is cheap enough for every drawing.
    """
    uid, blocks = armature_object.session_uid, shown(armature_object)
    unplayed = _unplayed(armature_object)
    said = unplayed if unplayed or motion is None else motion.problems
    if blocks is None or blocks.layout is None:
        return {}
    layout, known = blocks.layout, _missed.get(uid)
    if known is None or known[0] is not layout or known[1] is not said:
        problems = [problem for problem in said if problem.is_missed or problem.is_note or problem.missing]
        own = layout.documents[0].text
        played = own if unplayed or motion is None else motion.sequence.origins.places.documents[0].text
        found = problems_of_boxes(layout, problems, _lines_in(own, played)) if problems else {}
        known = _missed[uid] = layout, said, found
    return known[2]


def _unplayed(armature_object: bpy.types.Object) -> tuple[Problem, ...]:
    performance = score.known_performance(armature_object)
    error = None if performance is None or performance.motion is not None else performance.error
    return error.problems if isinstance(error, FileError) else ()


def _lines_in(own: Text, other: Text) -> Mapping[int, int] | None:
    """Return the number in this text of each line of another version, None if both are the same."""
    return None if own is other or own.data == other.data else lines_now(str(other), str(own))


def reads_no_other_files(armature_object: bpy.types.Object) -> bool:
    """Return whether the score names only the files of the shown layout, so that a new layout takes no time."""
    known = _blocks.get(armature_object.session_uid)
    if known is None or known[1].layout is None or known[0][1:] != _dependencies(armature_object, known[1])[1:]:
        return False
    before = known[1].layout.documents[0]
    try:
        now = parse(_said(armature_object), before.path)
    except TaktError:
        return True
    return _sources(now) <= _sources(before)


def _sources(document: Document) -> frozenset[str]:
    of_base = () if document.extends is None else (document.extends,)
    return frozenset(source.src for source in (*document.loads, *document.includes, *of_base))


def refresh(armature_object: bpy.types.Object) -> Blocks:
    """Update the layout if anything has changed; do not call it during a drawing."""
    before = shown(armature_object)
    if before is not None and is_current(armature_object):
        return before
    found = _laid_out(armature_object, _said(armature_object), before)
    old, text = None if before is None else before.selectable, properties.character(armature_object).text
    if old is not None and found.layout is not None and text is not None:
        score_tree.follow(old, found.layout, texts.cursor(text))
    return _keep(armature_object, found)


def show(armature_object: bpy.types.Object, candidate: Candidate, clock: Clock | None) -> None:
    """Show the layout of a proposed change of the score's text.

    Transitions stay approximately in place until their windows are known.
    """
    before = shown(armature_object)
    windows_s = None if before is None else _moved(before, candidate)
    old = None if before is None else before.layout
    layout = lay_out(candidate.sequence, windows_s=windows_s, clock=clock, music=None if old is None else old.music,
                     contacts=None if old is None else _moved_contacts(old, candidate.sequence),
                     tweaks=None if old is None else old.tweaks, silent=None if old is None else old.silent,
                     chosen=None if old is None else old.chosen)
    scores = None if before is None or before.scores is None else before.scores.with_texts(candidate.edited)
    _keep(armature_object, Blocks(_said(armature_object), layout, scores, windows_s=windows_s,
                                  music=None if before is None else before.music,
                                  written=None if before is None else before.selectable))


def find_windows(armature_object: bpy.types.Object) -> None:
    """Update the windows of transitions from the motion; do not call it during a drawing."""
    found = refresh(armature_object)
    if found.layout is None or found.error is not None or is_complete(armature_object):
        return
    motion, layout, windows_s = score.playable_motion_of(armature_object), found.layout, found.windows_s
    if motion is not None and layout.rows and len(motion.sequence.in_one_round()[0]) == len(layout.rows[0]):
        windows_s = windows_of(motion)
        layout = lay_out(layout.rows[0], windows_s=windows_s, clock=layout.clock, music=layout.music,
                         contacts=contacts_of(motion), tweaks=layout.tweaks, silent=layout.silent,
                         chosen=layout.chosen)
    _keep(armature_object, replace(found, layout=layout, windows_s=windows_s, has_windows=True, motion=motion))


def show_tweaks(armature_object: bpy.types.Object, ticks: FloatArray | None, silent: BoolArray | None,
                chosen: BoolArray | None) -> bool:
    """Set the ticks (K,) of the keys of tweaks, and which are silent or selected; return whether they have changed."""
    known = _blocks.get(armature_object.session_uid)
    if known is None or known[1].layout is None:
        return False
    layout = known[1].layout
    if all((old is None) == (new is None) and (old is None or new is None or np.array_equal(old, new))
           for old, new in ((layout.tweaks, ticks), (layout.silent, silent), (layout.chosen, chosen))):
        return False
    layout = replace(layout, tweaks=ticks, silent=silent, chosen=chosen)
    _blocks[armature_object.session_uid] = known[0], replace(known[1], layout=layout)
    return True


def forget() -> None:
    """Clear the cache, as when another file is loaded."""
    _blocks.clear()
    _missed.clear()


def _keep(armature_object: bpy.types.Object, blocks: Blocks) -> Blocks:
    _blocks[armature_object.session_uid] = _dependencies(armature_object, blocks), blocks
    return blocks


def _moved(before: Blocks, candidate: Candidate) -> Windows | None:
    """Return the transitions' windows moved with their seams, or None if there are other segments now.

    Those with a new length are divided by their seams as before.
    """
    if before.layout is None or not before.layout.rows or before.windows_s is None:
        return None
    old, new = before.layout.rows[0], candidate.sequence
    if len(old) != len(new):
        return None
    seam_s = np.cumsum(old.length_s)
    before_s, after_s = seam_s - before.windows_s[0], before.windows_s[1] - seam_s
    length_s, said_s = before_s + after_s, new.transition_s
    is_new = np.isfinite(said_s) & (said_s != old.transition_s)
    share = np.divide(before_s, length_s, out=np.full(len(old), 0.5), where=length_s > 0.0)
    before_s, after_s = (np.where(is_new, part * said_s, kept) for part, kept in (
        (share, before_s), (1.0 - share, after_s)))
    seam_s = np.cumsum(new.length_s)
    return seam_s - before_s, seam_s + after_s


def _moved_contacts(old: Layout, new: Sequence) -> Contacts | None:
    """Return the contacts until they are computed again; a score that has shown them keeps the space for them."""
    if old.contacts is None:
        return None
    if not old.rows or len(old.rows[0]) != len(new):
        return Contacts.none()
    return old.contacts.shifted((new.start_s - old.rows[0].start_s) / old.tick_s)


def _laid_out(armature_object: bpy.types.Object, source: str, before: Blocks | None) -> Blocks:
    character = properties.character(armature_object)
    try:
        expanded = performing.expand_score(source, character, armature_object)
    except TaktError as error:
        nothing = _empty(armature_object, source, error)
        if nothing is not None:
            return nothing
        old = before.selectable if before is not None else None
        problems = error.problems if isinstance(error, FileError) else ()
        return Blocks(source, old, None if before is None else before.scores, error,
                      {} if old is None else _found(old, problems, source))
    document, library = expanded.sequence.origins.places.documents[0], expanded.library
    music, path = _music(armature_object, document, library)
    old_layout = None if before is None else before.layout
    contacts = None if old_layout is None else _moved_contacts(old_layout, expanded.sequence)
    layout = lay_out(expanded.sequence, clock=expanded.clock, music=music, contacts=contacts,
                     tweaks=None if old_layout is None else old_layout.tweaks,
                     silent=None if old_layout is None else old_layout.silent,
                     chosen=None if old_layout is None else old_layout.chosen)
    opened = included_texts.open_beside(source, properties.score_path(character))
    scores = Scores.of((document.text, *(each.text for each in layout.documents[1:] if each.path in opened)), library,
                       expanded.programme.gaps)
    return Blocks(source, layout, scores, problems=_found(layout, expanded.programme.problems), music=path)


def _music(armature_object: bpy.types.Object, document: Document, library: Library) -> tuple[Music | None, Path | None]:
    try:
        music = music_of(document, library)
    except TaktError:
        return None, None  # a score that it extends is missing, which the programme reports
    try:
        return music, None if music is None else score_music.path_of(armature_object, library, music.src)
    except TaktError:
        return music, None  # it is reported when it plays


def _empty(armature_object: bpy.types.Object, source: str, error: TaktError) -> Blocks | None:
    """Return the blocks of a score that is valid except that it is empty, or None if there are other mistakes."""
    character = properties.character(armature_object)
    if not holds_nothing_yet(error, source, character.procedure):
        return None
    document, library = performing.read_score(source, character, armature_object)
    scores = Scores.of((document.text,), library)
    return Blocks(source, empty(document, character.procedure), scores, has_windows=True)


def _found(layout: Layout, problems: Iterable[Problem], source: str | None = None) -> dict[BoxId, Problem]:
    """Return problems by boxes; source: the score's present text, if the layout is of an earlier one."""
    said = tuple(problems)
    if not said:
        return {}
    lines = None if source is None else lines_now(source, str(layout.documents[0].text))
    return problems_of_boxes(layout, said, lines)


def lines_now(before: str, now: str) -> dict[int, int]:
    """Return the number, from 1, of each line of a text in its edited version.

    Lines that are replaced by the same number of lines keep their places. Deleted lines, and those replaced by more or
    fewer, are left out.

    >>> lines_now("a\nb\nc", "a\nnew\nb\nc"), lines_now("a\nb\nc", "a\nB\nc")
    ({1: 1, 3: 4, 2: 3}, {1: 1, 3: 3, 2: 2})
    """
    old, new = before.split("\n"), now.split("\n")
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    between = old[first:len(old) - last], new[first:len(new) - last]
    found = {line + 1: line + 1 for line in range(first)}
    found |= {len(old) - line: len(new) - line for line in range(last)}
    for how, begin, end, to, until in SequenceMatcher(None, *between, autojunk=False).get_opcodes():
        if how == "equal" or (how == "replace" and end - begin == until - to):
            found |= {first + begin + 1 + i: first + to + 1 + i for i in range(end - begin)}
    return found


def _alike(one: list[str], other: list[str]) -> int:
    """Return the number of equal lines at the beginning of both."""
    return next((at for at, lines in enumerate(zip(one, other, strict=False)) if lines[0] != lines[1]),
                min(len(one), len(other)))


def _dependencies(armature_object: bpy.types.Object, blocks: Blocks) -> tuple[Hashable, ...]:
    """Return all that the blocks of a score depend on, except contents of files, which are checked separately."""
    character = properties.character(armature_object)
    said, filepath = _said(armature_object), properties.score_path(character)
    loads = () if blocks.layout is None else blocks.layout.documents[0].loads
    there = frozenset(load.src for load in loads if load.src in bpy.data.actions)
    return (said, filepath, performing.moment(), there,
            included_texts.said_beside(said, filepath), libraries.folders(character.folders),
            parameters.chosen(character), character.seed, character.released, character.sound,
            *(getattr(character, name) for name in properties.SETTING_NAMES))


def _said(armature_object: bpy.types.Object) -> str:
    text = properties.character(armature_object).text
    return "" if text is None else texts.said(text)
