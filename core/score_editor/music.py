"""Edits of a score's music: its sound file, and the ticks of its beats."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import EditError
from ..music.grid import Grid, TempoChange
from ..pha.document import Document, Music, read
from ..pha.edits import Edited, Insert, Patch, Remove, SetAttribute, Trace, apply, element
from ..pha.open_scores import Scores
from ..pha.programme import Modules
from ..pha.text import Text

_MOST_BASES = 100
_SAME = 5e-7
"""Numbers are written to a millionth."""


def music_of(document: Document, modules: Modules) -> Music | None:
    """Return a score's music, its own or that of a score that it extends; raise FileError if one cannot be found."""
    for _ in range(_MOST_BASES):
        if document.music is not None or document.extends is None:
            return document.music
        document = modules.module(modules.module_path(document.extends.src))
    return None


def src_beyond(path: Path) -> str:
    """Return the src for a sound file outside of the library: its name, in the letters that a score allows.

    >>> src_beyond(Path("/music/01. My Song.mp3"))
    '01_My_Song'
    """
    return re.sub(r"[^\w-]+", "_", path.stem).strip("_") or "music"


def set_music(text: Text, src: str) -> Edited:
    """Set the sound file of a score; the offset of tick 0 is removed.

    A score of version 1 becomes one of version 2, which has music. Raises EditError if its meaning would change.

    >>> text = Text.of('<pha tickLength="1"><procedure name="main"><call name="bow" duration="2"/></procedure></pha>')
    >>> str(set_music(text, "song").text)[:71]
    '<pha tickLength="1" version="2"><music src="song"/><procedure name="mai'
    """
    edits = _Edits(text)
    edits.raise_version()
    there = edits.document.music
    if there is not None:
        edits.apply(Remove(there.element))
    edits.apply(Insert(0, edits.index_behind("load", "include"), element("music", src=src)))
    return edits.done()


def remove_music(text: Text) -> Edited:
    """Remove the music of a score; its ticks stay."""
    edits = _Edits(text)
    if edits.document.music is None:
        raise EditError("the score has no music")
    edits.apply(Remove(edits.document.music.element))
    return edits.done()


def lay_ticks(text: Text, grid: Grid) -> Edited:
    """Set the ticks of a score by its music: the length of a tick, the offset of tick 0, and all changes of tempo.

    Raises EditError if the score names no music.
    """
    edits = _Edits(text)
    music = edits.document.music
    if music is None:
        raise EditError("the score has no music; choose a sound file first")
    if abs(grid.offset_s - music.offset_s) > _SAME:
        edits.apply(SetAttribute(music.element, "offset", _spelled(grid.offset_s)))
    if abs(grid.tick_length_s - edits.document.tick_s) > _SAME:
        edits.apply(SetAttribute(0, "tickLength", _spelled(grid.tick_length_s)))
    old, new = edits.document.tempo, [_tempo(change) for change in grid.changes]
    said = [_tempo(TempoChange(tempo.tick, tempo.tick_s, tempo.over)) for tempo in old]
    first = _alike(said, new)
    last = min(_alike(said[::-1], new[::-1]), min(len(said), len(new)) - first)
    for tempo in reversed(old[first:len(old) - last]):
        edits.apply(Remove(tempo.element))
    if new[first:len(new) - last]:
        at = edits.index_of(old[first - 1].element) + 1 if first else edits.index_behind("load", "include", "music")
        edits.apply(Insert(0, at, "\n".join(new[first:len(new) - last])))
    return edits.done()


@dataclass(frozen=True)
class LayTicks:
    """Sets the ticks of a text by its music; the text must not have changed since this was made."""

    text: Text = field(repr=False)
    grid: Grid

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """Return the text that changes; raise EditError if it has changed in between, or as lay_ticks does."""
        path = scores.open_path(self.text.path)
        if scores.text(path) != self.text:
            raise EditError("the text has changed in between; try again")
        return {path: lay_ticks(self.text, self.grid)}


def grid_of(document: Document) -> Grid:
    """Return the grid of a score's ticks on its own music; raise EditError if it has none of its own."""
    if document.music is None:
        raise EditError("the score itself names no music: beats are moved in the score that does")
    changes = tuple(TempoChange(tempo.tick, tempo.tick_s, tempo.over) for tempo in document.tempo)
    return Grid(document.tick_s, document.music.offset_s, changes)


def _alike(one: list[str], other: list[str]) -> int:
    """Return the length of the common beginning of two lists."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _tempo(change: TempoChange) -> str:
    return element("tempo", tick=_spelled(change.tick), tickLength=_spelled(change.tick_length_s),
                   **({"over": _spelled(change.over)} if change.over else {}))


class _Edits:
    """A series of edits, each applied to the result of the previous one."""

    def __init__(self, text: Text) -> None:
        self._text, self._patches, self._traces = text, list[Patch](), list[Trace]()
        self.document: Document = read(text)
        self._errors = len(self.document.problems)

    def apply(self, *edits: Insert | Remove | SetAttribute) -> None:
        edited = apply(self._text, *edits)
        self._text, self.document = edited.text, read(edited.text)
        self._patches += edited.patches
        self._traces += edited.traces

    def raise_version(self) -> None:
        """Raise the score to version 2."""
        if self.document.version < 2:
            self.apply(SetAttribute(0, "version", "2"))
            if len(self.document.problems) > self._errors:
                raise EditError(f"only scores of version 2 have music, and this one is none: "
                                f"{self.document.problems[0].message}")

    def index_behind(self, *tags: str) -> int:
        """Return the index among the children of <pha> after the last one with these tags."""
        children = [self._text.shape.tags[child] for child in self._text.children(0)]
        return max((index + 1 for index, tag in enumerate(children) if tag in tags), default=0)

    def index_of(self, child: int) -> int:
        """Return the index of a child of <pha> among its children."""
        return list(self._text.children(0)).index(child)

    def done(self) -> Edited:
        return Edited(self._text, tuple(self._patches), tuple(self._traces))


def _spelled(number: float) -> str:
    """Return a number as text, rounded to a millionth, without exponent.

    >>> _spelled(0.50000001), _spelled(-0.25), _spelled(12.0)
    ('0.5', '-0.25', '12')
    """
    return f"{number:.6f}".rstrip("0").rstrip(".") if abs(number) >= 5e-7 else "0"
