"""Scores that are open for edits, and the targets of their calls, which an edit must keep.

Each edit looks up all names before and after, as a player would. It is refused if any call would then have another
target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..errors import EditError, FileError, Problem, ScoreError, quoted
from .definitions import Definitions, walk
from .document import Document, read
from .edits import Edited
from .nodes import Node
from .programme import Modules, Programme, resolve
from .text import Text


class Name(NamedTuple):
    """A procedure by its file and its own name, or a clip by its full name."""

    path: Path | None
    name: str
    is_clip: bool = False


class Target(NamedTuple):
    """The target of a call in a view, by the file whose names count there; runs_in: the view in which it runs."""

    view: Path | None
    name: Name
    runs_in: Path | None


Targets = tuple[Target, ...]
"""The targets of one call in each view in which it is looked up."""
Meaning = dict[Name, tuple[Targets, ...]]
"""The targets of the calls of each procedure, in the order of the text."""
NO_NAMES: Final[Mapping[Name, Name]] = MappingProxyType({})


@dataclass(frozen=True)
class Scores:
    """Open scores by their paths, and the library for other files that they need.

    gaps: names that were missing when the scores were opened, and may stay missing.
    """

    texts: Mapping[Path | None, Text]
    library: Modules
    gaps: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[Text], library: Modules, gaps: Iterable[Problem] = ()) -> Scores:
        """Return the scores of open texts, by their paths; at most one has none."""
        return cls({text.path: text for text in texts}, library, frozenset(gap.missing for gap in gaps))

    def resolve(self, document: Document) -> Programme:
        """Look up every name of a score; raise ScoreError for mistakes other than the known gaps."""
        programme = resolve(document, self, with_gaps=bool(self.gaps))
        new = [gap for gap in programme.gaps if gap.missing not in self.gaps]
        if new:
            raise ScoreError(*new)
        return programme

    def beside(self, document: Document) -> Modules:
        """Return the modules for the files of a score, with the open texts instead of their files."""
        return replace(self, library=self.library.beside(document))

    @property
    def damaged_maps(self) -> tuple[Problem, ...]:
        """Warnings of skeleton maps that cannot be read."""
        return self.library.damaged_maps

    def src_of(self, path: Path | None) -> str | None:
        """Return the src of a file; for this and the next methods see Modules."""
        return self.library.src_of(path)

    def identity(self, path: Path) -> Path:
        """Return the real path of a file, the same for all paths that lead to it."""
        return self.library.identity(path)

    def module_path(self, src: str) -> Path:
        """Return the file of a src."""
        return self.library.module_path(src)

    def module(self, path: Path) -> Document:
        """Return the score of a file, from its open text if there is one."""
        text = self.texts.get(self.open_path(path))
        return self.library.module(path) if text is None else read(text)

    def clips(self, src: str) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return the clips of a src."""
        return self.library.clips(src)

    def open_path(self, path: Path | None) -> Path | None:
        """Return the path by which a file is open, or the path itself."""
        if path is None or path in self.texts:
            return path
        own = self.library.identity(path)
        return next((there for there in self.texts if there is not None and self.library.identity(there) == own), path)

    def text(self, path: Path | None) -> Text:
        """Return an open text; raise EditError if it is not open."""
        path = self.open_path(path)
        if path not in self.texts:
            raise EditError(f"{path} would have to change but is not open; open it first")
        return self.texts[path]

    def with_texts(self, changed: Mapping[Path | None, Edited]) -> Scores:
        """Return the scores with edited texts."""
        return replace(self, texts={**self.texts, **{path: edited.text for path, edited in changed.items()}})

    def programme(self, path: Path | None) -> Programme:
        """Return an open score with all names looked up; raise EditError if it has mistakes."""
        try:
            return self.resolve(read(self.text(path)))
        except FileError as error:
            raise EditError(f"the score has mistakes; correct them first: {error.problems[0]}") from None

    def programmes(self, needed: Path | None, name: str = "") -> dict[Path | None, Programme]:
        """Return each open score with all names looked up.

        Raises EditError for mistakes in the needed score, and, if `name` is given, in scores with a call whose name
        ends with it. Other scores with mistakes are left out.
        """
        programmes = {}
        for path, text in self.texts.items():
            try:
                programmes[path] = self.resolve(read(text))
            except FileError as error:
                called = [attributes.get("name", "") for tag, attributes in zip(
                    text.shape.tags, text.shape.attributes, strict=True) if tag == "call"]
                if path == needed or (name and any(each.endswith(name) for each in called)):
                    raise EditError(f"the score has mistakes; correct them first: {error.problems[0]}") from None
        return programmes


class CallOf(NamedTuple):
    """A call in a programme: its file, the procedure that contains it, its element, its name and its targets."""

    document: Document
    procedure: Name
    element: int
    name: str
    targets: Targets


def calls_of(programme: Programme) -> Iterator[CallOf]:
    """Yield all calls of a programme in the order of their files and texts."""
    names = procedure_names(programme)
    homes = [document for document in programme.documents for _ in document.procedures]
    content = programme.calls
    if isinstance(content, Definitions):
        for document, name, block in zip(homes, names, content.blocks, strict=True):
            for node in walk(block):
                if node.tag == "call":
                    yield CallOf(document, name, node.element, node.name, _in_views(programme, content, names, node))
        return
    calls = [(name, call) for document in programme.documents for procedure in document.procedures
             for name in (Name(document.path, procedure.name),) for call in procedure.calls]
    owners = np.repeat(np.arange(len(names)), np.diff(content.first)).tolist()
    for owner, (name, call), target in zip(owners, calls, content.target.tolist(), strict=True):
        path = homes[owner].path
        to = names[target] if target >= 0 else Name(None, programme.clip_names[~target], True)
        yield CallOf(homes[owner], name, call.element, call.name, (Target(path, to, to.path if target >= 0 else path),))


def _in_views(programme: Programme, definitions: Definitions, names: list[Name], call: Node) -> Targets:
    paths = [document.path for document in programme.documents]
    found = []
    for targets, path in zip(definitions.targets, paths, strict=True):
        target = targets.get(call)
        if isinstance(target, int):
            found.append(Target(path, Name(None, programme.clip_names[target], True), path))
        elif target is not None:
            found.append(Target(path, names[target[1]], paths[target[0]]))
    return tuple(found)


def procedure_names(programme: Programme) -> list[Name]:
    """Return the names of a programme's procedures, in its order."""
    return [Name(document.path, procedure.name) for document in programme.documents
            for procedure in document.procedures]


def chains(programme: Programme) -> list[tuple[Document, ...]]:
    """Return each file of a programme with those that it extends, nearest first."""
    if not isinstance(programme.calls, Definitions):
        return [(document,) for document in programme.documents]
    found = []
    for number in range(len(programme.documents)):
        chain: list[Document] = []
        at: int | None = number
        while at is not None:
            chain.append(programme.documents[at])
            at = programme.calls.bases[at]
        found.append(tuple(chain))
    return found


def views_of(programme: Programme, own: Path | None) -> list[Path | None]:
    """Return the views in which a file's procedures are looked up: its own, and those of files that extend it."""
    return [chain[0].path for chain in chains(programme) if any(document.path == own for document in chain)]


def meaning(programme: Programme) -> Meaning:
    """Return the targets of the calls of each procedure of a programme."""
    found: dict[Name, list[Targets]] = {name: [] for name in procedure_names(programme)}
    for call in calls_of(programme):
        found[call.procedure].append(call.targets)
    return {name: tuple(rows) for name, rows in found.items()}


def check_meaning(scores: Scores, expected: Mapping[Path | None, Meaning],
                  same: Mapping[Name, Name] = NO_NAMES) -> None:
    """Raise EditError if calls of open scores no longer have the expected targets.

    same: new procedures, each with the one that it replaces or copies; both count as the same.
    """
    for path, wanted in expected.items():
        try:
            found = meaning(scores.resolve(read(scores.texts[path])))
        except FileError as error:
            raise EditError(f"this would break the score: {error.problems[0]}") from None
        for name, rows in found.items():
            there = tuple(tuple(target._replace(name=same.get(target.name, target.name)) for target in targets)
                          for targets in rows)
            if not _agree(there, wanted.get(name, wanted.get(same.get(name, name)))):
                raise EditError(f"this would change what {quoted(name.name)} plays")
        if {same.get(name, name) for name in found} != {same.get(name, name) for name in wanted}:
            raise EditError("this would change which procedures there are")


def _agree(found: tuple[Targets, ...], wanted: tuple[Targets, ...] | None) -> bool:
    """Return whether calls have the wanted targets in all views in which both are looked up."""
    if wanted is None or len(found) != len(wanted):
        return False
    for targets, others in zip(found, wanted, strict=True):
        views = {target.view for target in targets} & {target.view for target in others}
        if targets and others and not views:
            return False
        if [target for target in targets if target.view in views] != [other for other in others if other.view in views]:
            return False
    return True
