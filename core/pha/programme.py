"""A score with all names looked up: each call has a procedure or a clip. Gustaitis et al. 2007, §5.4.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from ..clips.clip import Clip
from ..errors import FileError, Place, Problem, ScoreError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from .call_order import innermost_first
from .definitions import At, Definitions
from .document import MAX_PROBLEMS, Call, Document, Procedure, Source, shortened
from .naming import near
from .scopes import Module, Scopes

MAX_MODULES = 1_000
MAX_ELEMENTS = 100_000
"""In all files of a score, beyond which no more are read, and again as many that files inherit from each other."""
MAX_MISSING = 1_000
"""Files that are not there, or cannot be read; no more are looked for."""
_T = TypeVar("_T")
GAP, _NO_GAP = "nothing", -1
"""What a clip is called that plays in place of one that is not there."""
_NO_BODY = Skeleton.from_arrays((GAP,), (-1,), rot.identities(1), np.zeros((1, 3)))
"""Skeleton of such a clip if there are no other clips."""


class Modules(Protocol):
    """The interface that finds and reads a score's files; implemented by core's Library."""

    def beside(self, document: Document) -> Modules:
        """Return the modules in which to find a score's files: these, or a copy with a root that fits the score."""

    @property
    def damaged_maps(self) -> tuple[Problem, ...]:
        """Warnings of skeleton maps beside the clips that cannot be read, and so are left out."""

    def src_of(self, path: Path | None) -> str | None:
        """Return the src of a score file, or None if it has none."""

    def identity(self, path: Path) -> Path:
        """Return the real path of a file, the same for all paths that lead to it."""

    def module_path(self, src: str) -> Path:
        """Return the score file of a src; raise FileError if it is not there."""

    def module(self, path: Path) -> Document:
        """Return the score in a file that module_path returned."""

    def clips(self, src: str) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return all clips of a src, and warnings about them; raise FileError if there are none."""


@dataclass(frozen=True)
class Routine:
    """A procedure in its programme.

    name: by which the played file can call it; module: its file's src, "" for the played file.
    ticks: total length of its calls; tick_s: its module's tick; at: its element.
    """

    name: str
    module: str
    ticks: float
    tick_s: float
    at: At

    @property
    def place(self) -> Place:
        """Its line and column."""
        return self.at.place


@dataclass(frozen=True, eq=False)
class CallTable:
    """All N calls of P procedures, procedure by procedure.

    first: (P + 1,) first call of each procedure.
    target: (N,) ≥ 0 a procedure, else ~ the index of a clip; repeat: (N,).
    duration_share, transition_share: (N,) shares of the whole procedure's length; NaN: no transition given.
    innermost_first: (P,) the procedures, each after those that it calls.
    """

    first: IntArray
    target: IntArray
    repeat: IntArray
    duration_share: FloatArray
    transition_share: FloatArray
    innermost_first: Sequence[int]


@dataclass(frozen=True, eq=False)
class Programme:
    """A resolved score: everything that it plays, every name looked up.

    documents: its scores, the played one first; procedures: of all of them, in the order of the documents and their
    texts. own: those that can be started, by name: the played score's own and inherited ones. calls: of the procedures;
    in version 2, definitions that must be evaluated first. problems: warnings, and its gaps.
    """

    documents: tuple[Document, ...]
    clip_names: tuple[str, ...]
    clips: tuple[Clip, ...]
    procedures: tuple[Routine, ...]
    own: Mapping[str, int]
    calls: CallTable | Definitions
    problems: tuple[Problem, ...]

    @property
    def document(self) -> Document:
        """The score that is played."""
        return self.documents[0]

    @property
    def gaps(self) -> tuple[Problem, ...]:
        """Missing files and names; calls of them hold the previous pose, see resolve."""
        return tuple(problem for problem in self.problems if problem.missing)

    def own_procedure(self, name: str) -> int:
        """Return the index of one of the file's own procedures; raise ScoreError with their names if there is none."""
        if name in self.own:
            return self.own[name]
        there = f"one of: {', '.join(quoted(n) for n in list(self.own)[:20])}" if self.own else "at least one"
        hint = " (a score without main is a library for other scores)" if name == "main" else ""
        raise ScoreError(Problem(f"found no procedure {quoted(name)}{hint}, expected {there}"
                                 f"{near(name, self.own)}", Place(self.document.path)))


def resolve(document: Document, library: Modules, *, with_gaps: bool = False) -> Programme:
    """Read the files that a score includes and loads, and look up every name.

    with_gaps: calls of missing files and names hold the previous pose, with a warning, so that one clip that cannot be
    played does not stop the others.
    Raises ScoreError with all problems of all its files: their own mistakes, missing files, unknown and
    ambiguous names, cycles of calls.
    """
    return _Resolver(library.beside(document), with_gaps).programme(document)


class _Resolver:
    def __init__(self, library: Modules, with_gaps: bool) -> None:
        self._library, self._with_gaps = library, with_gaps
        self._problems: list[Problem] = []
        self._modules: list[Module] = []
        self._module_of: dict[object, Module] = {}
        self._clips: list[Clip] = []
        self._clip_names: list[str] = []
        self._clips_of: dict[str, tuple[int, ...]] = {}
        self._failed: dict[tuple[str, str], FileError] = {}
        self._module_named: dict[str, Module] = {}
        self._elements = 0

    def programme(self, document: Document) -> Programme:
        self._read(document)
        self._break_cycles_of_extends()
        self._refuse_much_inheritance()
        offsets = np.cumsum([0] + [len(m.document.procedures) for m in self._modules]).tolist()
        scopes = Scopes(self._modules, offsets, self._clip_names)
        if any(module.document.version == 2 for module in self._modules):
            return self._version_2(scopes)
        table, routines = self._table(scopes)
        self._raise_errors()
        used = np.unique(~table.target[table.target < 0])
        renumbered = np.zeros(len(self._clips) + 1, dtype=np.int64)
        renumbered[used] = np.arange(len(used))
        target = np.where(table.target < 0, ~renumbered[np.where(table.target < 0, ~table.target, 0)], table.target)
        return self._of_used_clips(used.tolist(), routines, scopes, replace(table, target=target))

    def _version_2(self, scopes: Scopes) -> Programme:
        routines = [self._routine(module, procedure, procedure.ticks) for module in self._modules
                    for procedure in module.document.procedures]
        known = {problem.place for problem in self._problems if not problem.is_warning}

        def report(message: str, place: Place, missing: str) -> None:
            if place not in known:  # a mistake is not reported for what follows from another one
                self._error(message, place, missing)

        definitions = Definitions.of(self._modules, scopes, len(self._clips), report,
                                     lambda cycle: self._cycle([routines[procedure] for procedure in cycle]))
        files = {module.document.path: module.index for module in self._modules}
        self._problems.sort(key=lambda said: (files.get(said.place.path, len(files)), said.place.line or 0,
                                              said.place.column or 0))
        self._raise_errors()
        used = sorted({target for targets in definitions.targets for target in targets.values()
                       if isinstance(target, int)})
        renumbered = {clip: number for number, clip in enumerate(used)}
        targets = ({node: renumbered[target] if isinstance(target, int) else target for node, target in view.items()}
                   for view in definitions.targets)
        return self._of_used_clips(used, routines, scopes, replace(
            definitions, targets=tuple(targets), gap=renumbered.get(definitions.gap, _NO_GAP)))

    def _of_used_clips(self, used: list[int], routines: list[Routine], scopes: Scopes,
                       calls: CallTable | Definitions) -> Programme:
        if len(self._clips) in used:
            bones = self._clips[0].skeleton if self._clips else _NO_BODY
            self._clips.append(Clip.still(bones, 1.0, GAP))
            self._clip_names.append(GAP)
        return Programme(tuple(module.document for module in self._modules), tuple(self._clip_names[i] for i in used),
                         tuple(self._clips[i] for i in used), tuple(routines), scopes.own(0), calls,
                         shortened(self._problems))

    def _raise_errors(self) -> None:
        errors = [p for p in self._problems if not p.is_warning]
        if self._with_gaps and all(problem.missing for problem in errors):
            return
        if errors:
            raise ScoreError(*shortened(errors))

    def _break_cycles_of_extends(self) -> None:
        """Report cycles of modules that extend each other, and break each by its last extends."""
        for module in self._modules:
            seen = {module.index}
            at = module
            while at.base is not None:
                if at.base in seen:
                    source = at.document.extends
                    assert source is not None
                    self._error(f"<pha> extends: found {quoted(source.src)}, which extends this score in turn; "
                                "expected no cycle", at.document.place(source))
                    at.base = None
                    break
                seen.add(at.base)
                at = self._modules[at.base]

    def _refuse_much_inheritance(self) -> None:
        """Raise ScoreError if files inherit so much that looking it all up in each would take long."""
        elements = 0
        for module in self._modules:
            at = module
            while at.base is not None:
                at = self._modules[at.base]
                elements += len(at.document.text)
            if elements > MAX_ELEMENTS and module.document.extends is not None:
                self._error(f"<pha> extends: found more than {MAX_ELEMENTS} elements that files inherit from each "
                            "other, expected fewer: extend smaller files, and not so many in a row",
                            module.document.place(module.document.extends))
                self._raise_errors()

    # Files

    def _read(self, document: Document) -> None:
        self._add(document, self._library.src_of(document.path) or "")
        for module in self._modules:  # the list grows meanwhile
            self._problems += module.document.problems
            if module.document.extends is not None:
                extends = module.document.extends
                try:
                    module.base = self._there("score", extends.src, self._include).index
                except FileError as error:
                    self._missing(error, module, extends, "pha", "extends")
            for include in module.document.includes:
                try:
                    other = self._there("score", include.src, self._include)
                    module.includes.add(other.index)
                except FileError as error:
                    self._missing(error, module, include, "include")
            for load in module.document.loads:
                try:
                    module.loads[load.src] = self._there("clips", load.src, partial(self._load, module, load))
                except FileError as error:
                    self._missing(error, module, load, "load")
        if self._clips:
            self._problems += self._library.damaged_maps

    def _there(self, kind: str, src: str, read: Callable[[str], _T]) -> _T:
        """Return the result of reading a src; raise FileError if that fails, without a second try for the same src."""
        if (kind, src) not in self._failed:
            if len(self._failed) >= MAX_MISSING:
                raise FileError.at(f"{MAX_MISSING} files are not there or cannot be read; no more are looked for")
            try:
                return read(src)
            except FileError as error:
                self._failed[kind, src] = error
        raise self._failed[kind, src]

    def _missing(self, error: FileError, module: Module, source: Source, tag: str, attribute: str = "src") -> None:
        module.missing[source.src] = error.problems[0].said_with_place()
        self._problems += [replace(problem, missing=source.src) for problem in
                           _placed(error, module.document.place(source), tag, attribute)]

    def _add(self, document: Document, src: str) -> Module:
        module = Module(len(self._modules), src, document, set(), {})
        self._modules.append(module)
        self._elements += len(document.text)
        if document.path is not None:
            self._module_of[self._library.identity(document.path)] = module
        return module

    def _include(self, src: str) -> Module:
        if src not in self._module_named:
            self._module_named[src] = self._module_at(src)
        return self._module_named[src]

    def _module_at(self, src: str) -> Module:
        path = self._library.module_path(src)
        identity = self._library.identity(path)
        if identity not in self._module_of:
            if len(self._modules) >= MAX_MODULES:
                raise FileError.at(f"more than {MAX_MODULES} score files are included; no more are read", path)
            if self._elements > MAX_ELEMENTS:
                raise FileError.at(f"the score's files have more than {MAX_ELEMENTS} elements; no more are read", path)
            self._add(self._library.module(path), src)
        return self._module_of[identity]

    def _load(self, module: Module, load: Source, src: str) -> tuple[int, ...]:
        if src not in self._clips_of:
            clips, said = self._library.clips(src)
            self._problems += [replace(problem, place=module.document.place(load)) for problem in said]
            first = len(self._clips)
            self._clips += clips
            self._clip_names += [f"{src}.{clip.name or src.rpartition('.')[2]}" for clip in clips]
            self._clips_of[src] = tuple(range(first, len(self._clips)))
        return self._clips_of[src]

    # Names

    def _table(self, scopes: Scopes) -> tuple[CallTable, list[Routine]]:
        routines: list[Routine] = []
        rows: list[tuple[int, Call]] = []
        first = [0]
        ticks: list[float] = []
        for module in self._modules:
            for procedure in module.document.procedures:
                total = procedure.ticks
                routines.append(self._routine(module, procedure, total))
                for call in procedure.calls:
                    target = scopes.find(module.index, call.name)
                    if target is None and len(self._problems) <= MAX_PROBLEMS:
                        self._error(scopes.what_is_wrong(module.index, call.name), module.document.place(call),
                                    call.name)
                    clip = len(self._clips) if target is None else target
                    rows.append((clip[1] if isinstance(clip, tuple) else ~clip, call))
                ticks += [total] * len(procedure.calls)
                first.append(len(rows))
        duration = np.array([c.duration for _, c in rows], dtype=np.float64)
        transition = np.array([np.nan if c.transition is None else c.transition for _, c in rows], dtype=np.float64)
        whole = np.array(ticks, dtype=np.float64)
        targets = [target for target, _ in rows]
        order = innermost_first(range(len(routines)),
                                lambda caller: (t for t in targets[first[caller]:first[caller + 1]] if t >= 0),
                                lambda cycle: self._cycle([routines[procedure] for procedure in cycle]))
        table = CallTable(np.array(first, dtype=np.int64), np.array(targets, dtype=np.int64),
                          np.array([c.repeat for _, c in rows], dtype=np.int64), duration / whole, transition / whole,
                          order)
        return table, routines

    def _routine(self, module: Module, procedure: Procedure, ticks: float) -> Routine:
        at = At(module.document.place, procedure)
        if not isfinite(ticks):
            self._error(f"<procedure> {quoted(procedure.name)}: found durations that add up to more than a number can "
                        "hold, expected a finite sum", at.place)
        name = procedure.name if module.index == 0 else f"{module.src}.{procedure.name}"
        return Routine(name, "" if module.index == 0 else module.src, ticks, module.document.tick_s, at)

    def _cycle(self, cycle: list[Routine]) -> None:
        if len(self._problems) > MAX_PROBLEMS:
            return
        names = [quoted(r.name) for r in (*cycle, cycle[0])]
        if len(names) > 12:
            names = [*names[:6], "…", *names[-5:]]
        self._error(f"<procedure> name: found {' → '.join(names)}, a cycle of calls; expected no procedure to be "
                    "called from within itself", cycle[0].place)

    def _error(self, message: str, place: Place, missing: str = "") -> None:
        if len(self._problems) <= MAX_PROBLEMS:
            self._problems.append(Problem(message, place, missing=missing))


def _placed(error: FileError, place: Place, tag: str, attribute: str = "src") -> Iterator[Problem]:
    """Add a place to problems of a file that have none: the place that names the file."""
    for problem in error.problems:
        if problem.place.path is None and problem.place.line is None:
            yield Problem(f"<{tag}> {attribute}: {problem.message}", place, problem.is_warning, gone=problem.gone)
        else:
            yield problem
