"""A score with everything looked up: each call leads to a procedure or a clip. Gustaitis et al. 2007, §5.4.2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from ..clips.clip import Clip
from ..errors import FileError, Place, Problem, ScoreError, quoted
from ..maths.arrays import FloatArray, IntArray
from .document import MAX_PROBLEMS, Call, Document, Procedure, near, shortened
from .origins import CallPlaces

MAX_MODULES = 1_000


class Modules(Protocol):
    """Where a score's files come from; core's Library is one."""

    def beside(self, document: Document) -> Modules:
        """Return what serves this score: itself, or the same with a root that fits the score."""

    def src_of(self, path: Path | None) -> str | None:
        """Return by what src a score file is reached, None where none leads to it."""

    def identity(self, path: Path) -> Path:
        """Return what is the same for all ways to one file."""

    def module_path(self, src: str) -> Path:
        """Return the score file of a src; raise FileError where it is not there."""

    def module(self, path: Path) -> Document:
        """Return the score in a file that module_path returned."""

    def clips(self, src: str) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return all clips of a src, and what is to be said of them; raise FileError where there are none."""


@dataclass(frozen=True)
class Routine:
    """A procedure in its programme.

    name: as the file that is played can call it; module: its file's src, "" for the file itself.
    ticks: what its calls add up to; tick_s: its module's tick.
    """

    name: str
    module: str
    ticks: float
    tick_s: float
    place: Place


@dataclass(frozen=True, eq=False)
class CallTable:
    """All calls of P procedures, those of one after those of another.

    first: (P + 1,) where each procedure's calls begin.
    target: (N,) ≥ 0 a procedure, else ~ the index of a clip; repeat: (N,).
    duration_share, transition_share: (N,) parts of the whole procedure's length; NaN: no transition given.
    """

    first: IntArray
    target: IntArray
    repeat: IntArray
    duration_share: FloatArray
    transition_share: FloatArray


@dataclass(frozen=True, eq=False)
class Programme:
    """A resolved score. The first `own` procedures are those of the file itself, in its order; places: of its calls."""

    document: Document
    clip_names: tuple[str, ...]
    clips: tuple[Clip, ...]
    procedures: tuple[Routine, ...]
    calls: CallTable
    innermost_first: tuple[int, ...]
    problems: tuple[Problem, ...]
    places: CallPlaces

    @cached_property
    def own(self) -> dict[str, int]:
        """The file's own procedures, which can be started, by name."""
        return {p.name: i for i, p in enumerate(self.document.procedures)}

    def own_procedure(self, name: str) -> int:
        """Return the index of one of the file's own procedures; raise ScoreError naming those there are."""
        if name in self.own:
            return self.own[name]
        there = ", ".join(quoted(n) for n in list(self.own)[:20]) or "none"
        hint = " (a score without it is a library for others)" if name == "main" else ""
        raise ScoreError(Problem(f"found no procedure {quoted(name)}{hint}, expected one of: {there}"
                                 f"{near(name, self.own)}", Place(self.document.path)))


def resolve(document: Document, library: Modules) -> Programme:
    """Read what a score includes and loads, and look up every name.

    Raises ScoreError with all problems of all its files: their own mistakes, missing files, unknown and
    ambiguous names, calls in a circle.
    """
    return _Resolver(library.beside(document)).programme(document)


@dataclass(eq=False)
class _Module:
    """A score file while names are being looked up."""

    index: int
    src: str
    document: Document
    includes: set[int]
    loads: dict[str, tuple[int, ...]]
    is_incomplete: bool = False


class _Resolver:
    def __init__(self, library: Modules) -> None:
        self._library = library
        self._problems: list[Problem] = []
        self._modules: list[_Module] = []
        self._module_of: dict[object, _Module] = {}
        self._clips: list[Clip] = []
        self._clip_names: list[str] = []
        self._clips_of: dict[str, tuple[int, ...]] = {}

    def programme(self, document: Document) -> Programme:
        self._read(document)
        reach = self._reach()
        table, routines = self._table(reach)
        order = self._innermost_first(table, routines)
        errors = [p for p in self._problems if not p.is_warning]
        if errors:
            raise ScoreError(*shortened(errors))
        used = np.unique(~table.target[table.target < 0])
        renumbered = np.zeros(len(self._clips) + 1, dtype=np.int64)
        renumbered[used] = np.arange(len(used))
        target = np.where(table.target < 0, ~renumbered[np.where(table.target < 0, ~table.target, 0)], table.target)
        calls = CallTable(table.first, target, table.repeat, table.duration_share, table.transition_share)
        return Programme(document, tuple(self._clip_names[i] for i in used), tuple(self._clips[i] for i in used),
                         tuple(routines), calls, tuple(order), shortened(self._problems),
                         CallPlaces.of(tuple(module.document for module in self._modules), table.first))

    # Files

    def _read(self, document: Document) -> None:
        self._add(document, self._library.src_of(document.path) or "")
        for module in self._modules:  # grows while it is gone through
            self._problems += module.document.problems
            for include in module.document.includes:
                try:
                    other = self._include(include.src)
                    module.includes.add(other.index)
                except FileError as error:
                    module.is_incomplete = True
                    self._problems += _placed(error, module.document.place(include), "include")
            for load in module.document.loads:
                try:
                    module.loads[load.src] = self._load(load.src, module.document.place(load))
                except FileError as error:
                    module.is_incomplete = True
                    self._problems += _placed(error, module.document.place(load), "load")

    def _add(self, document: Document, src: str) -> _Module:
        module = _Module(len(self._modules), src, document, set(), {})
        self._modules.append(module)
        if document.path is not None:
            self._module_of[self._library.identity(document.path)] = module
        return module

    def _include(self, src: str) -> _Module:
        path = self._library.module_path(src)
        identity = self._library.identity(path)
        if identity not in self._module_of:
            if len(self._modules) >= MAX_MODULES:
                raise FileError.at(f"more than {MAX_MODULES} score files are included; no more are read", path)
            self._add(self._library.module(path), src)
        return self._module_of[identity]

    def _load(self, src: str, place: Place) -> tuple[int, ...]:
        if src not in self._clips_of:
            clips, said = self._library.clips(src)
            self._problems += [replace(problem, place=place) for problem in said]
            first = len(self._clips)
            self._clips += clips
            self._clip_names += [f"{src}.{clip.name or src.rpartition('.')[2]}" for clip in clips]
            self._clips_of[src] = tuple(range(first, len(self._clips)))
        return self._clips_of[src]

    def _reach(self) -> list[int]:
        """Return for each module the set of those it includes, also through others, as bits of an integer."""
        direct = [sum(1 << i for i in m.includes) for m in self._modules]
        reach = list(direct)
        changed = True
        while changed:
            changed = False
            for module in self._modules:
                bits = reach[module.index]
                for other in module.includes:
                    bits |= reach[other]
                changed |= bits != reach[module.index]
                reach[module.index] = bits
        return reach

    # Names

    def _table(self, reach: list[int]) -> tuple[CallTable, list[Routine]]:
        routines: list[Routine] = []
        rows: list[tuple[int, Call]] = []
        first = [0]
        offsets = np.cumsum([0] + [len(m.document.procedures) for m in self._modules])
        scopes = _Scopes(self._modules, reach, offsets.tolist(), self._clip_names)
        ticks: list[float] = []
        for module in self._modules:
            for procedure in module.document.procedures:
                total = procedure.ticks
                routines.append(self._routine(module, procedure, total))
                for call in procedure.calls:
                    target = scopes.find(module, call.name)
                    if target is None:
                        if len(self._problems) <= MAX_PROBLEMS:
                            self._error(scopes.what_is_wrong(module, call.name), module.document.place(call))
                        target = ~0
                    rows.append((target, call))
                ticks += [total] * len(procedure.calls)
                first.append(len(rows))
        duration = np.array([c.duration for _, c in rows], dtype=np.float64)
        transition = np.array([np.nan if c.transition is None else c.transition for _, c in rows], dtype=np.float64)
        whole = np.array(ticks, dtype=np.float64)
        table = CallTable(np.array(first, dtype=np.int64), np.array([t for t, _ in rows], dtype=np.int64),
                          np.array([c.repeat for _, c in rows], dtype=np.int64), duration / whole, transition / whole)
        return table, routines

    def _routine(self, module: _Module, procedure: Procedure, ticks: float) -> Routine:
        place = module.document.place(procedure)
        if not np.isfinite(ticks):
            self._error(f"<procedure> {quoted(procedure.name)}: found durations that add up to more than a number can "
                        "hold, expected a finite sum", place)
        name = procedure.name if module.index == 0 else f"{module.src}.{procedure.name}"
        return Routine(name, "" if module.index == 0 else module.src, ticks, module.document.tick_s, place)

    def _innermost_first(self, table: CallTable, routines: list[Routine]) -> list[int]:
        """Order procedures so that each comes after those it calls; report circles. No recursion: any depth."""
        first, targets = table.first.tolist(), table.target.tolist()
        state = [0] * len(routines)  # 0: not seen, 1: on the way, 2: done
        order: list[int] = []
        for root in range(len(routines)):
            if state[root]:
                continue
            state[root] = 1
            way, next_call = [root], [first[root]]
            while way:
                procedure, call = way[-1], next_call[-1]
                if call == first[procedure + 1]:
                    state[procedure] = 2
                    order.append(procedure)
                    way.pop()
                    next_call.pop()
                    continue
                next_call[-1] += 1
                target = targets[call]
                if target >= 0 and state[target] == 1:
                    self._circle([routines[p] for p in way[way.index(target):]])
                elif target >= 0 and state[target] == 0:
                    state[target] = 1
                    way.append(target)
                    next_call.append(first[target])
        return order

    def _circle(self, circle: list[Routine]) -> None:
        names = [quoted(r.name) for r in (*circle, circle[0])]
        if len(names) > 12:
            names = [*names[:6], "…", *names[-5:]]
        self._error(f"<procedure> name: found {' → '.join(names)}, a circle of calls; expected no procedure to be "
                    "called from within itself", circle[0].place)

    def _error(self, message: str, place: Place) -> None:
        if len(self._problems) <= MAX_PROBLEMS:
            self._problems.append(Problem(message, place))


class _Scopes:
    """What names mean in each module."""

    def __init__(self, modules: list[_Module], reach: list[int], offsets: list[int], clip_names: list[str]) -> None:
        self._modules, self._reach, self._clip_names = modules, reach, clip_names
        self._procedures: dict[str, list[tuple[int, int]]] = {}
        self._full: dict[str, tuple[int, int]] = {}
        for module in modules:
            for at, procedure in enumerate(module.document.procedures):
                entry = module.index, offsets[module.index] + at
                self._procedures.setdefault(procedure.name, []).append(entry)
                if module.src:
                    self._full[f"{module.src}.{procedure.name}"] = entry
        self._known: dict[tuple[int, str], int | None] = {}
        self._loaded: dict[int, tuple[dict[str, int], dict[str, list[int]]]] = {}

    def find(self, module: _Module, name: str) -> int | None:
        """Return a procedure, or ~ a clip; None where the name means nothing, or several things."""
        key = module.index, name
        if key not in self._known:
            self._known[key] = self._look_up(module, name)
        return self._known[key]

    def _look_up(self, module: _Module, name: str) -> int | None:
        procedures, clips = self._meanings(module, name)
        if len(procedures) + len(clips) == 1:
            return procedures[0][1] if procedures else ~clips[0]
        if procedures or clips:
            return None
        full = self._full.get(name)
        if full is not None and self._sees(module, full[0], name.rpartition(".")[2]):
            return full[1]
        clip = self._clips(module)[0].get(name)
        return None if clip is None else ~clip

    def _meanings(self, module: _Module, name: str) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the procedures, with their modules, and the clips that an unqualified name may mean."""
        procedures = [p for p in self._procedures.get(name, ()) if self._sees(module, p[0], name)]
        return procedures, self._clips(module)[1].get(name, [])

    def what_is_wrong(self, module: _Module, name: str) -> str:
        """Say why find() found nothing."""
        procedures, clips = self._meanings(module, name)
        if not procedures and not clips:
            return self._unknown(module, name)
        ways = [self._name(m, name) for m, _ in procedures] + [self._clip_names[c] for c in clips]
        return (f"<call> name: found {quoted(name)}, which {len(ways)} things are called: "
                f"{', '.join(quoted(w) for w in ways[:6])}; expected one of these in full")

    def _sees(self, module: _Module, other: int, name: str) -> bool:
        return other == module.index or (name != "main" and bool(self._reach[module.index] >> other & 1))

    def _name(self, other: int, name: str) -> str:
        src = self._modules[other].src
        return f"{src}.{name}" if src else name

    def _clips(self, module: _Module) -> tuple[dict[str, int], dict[str, list[int]]]:
        """Return a module's clips by full name (the longest path wins) and by their own."""
        if module.index not in self._loaded:
            full: dict[str, int] = {}
            bare: dict[str, list[int]] = {}
            for src in sorted(module.loads, key=len):
                for clip in module.loads[src]:
                    full[self._clip_names[clip]] = clip
                    bare.setdefault(self._clip_names[clip][len(src) + 1:], []).append(clip)
                if len(module.loads[src]) == 1:
                    full.setdefault(src, module.loads[src][0])
            self._loaded[module.index] = full, bare
        return self._loaded[module.index]

    def _unknown(self, module: _Module, name: str) -> str:
        full, bare = self._clips(module)
        bare_procedures = (n for n, ps in self._procedures.items() if any(self._sees(module, m, n) for m, _ in ps))
        full_procedures = (n for n, (m, _) in self._full.items() if self._sees(module, m, n.rpartition(".")[2]))
        known = [*bare, *full, *bare_procedures, *full_procedures]
        if name.rpartition(".")[2] == "main":
            hint = "; the main of another file cannot be called"
        else:
            hint = near(name, known)
            if not hint and module.is_incomplete:
                hint = " (it may be in one of the files that could not be read)"
        return (f"<call> name: found {quoted(name)}, expected a procedure of this file or of one it includes, or a "
                f"clip that it loads{hint}")


def _placed(error: FileError, place: Place, tag: str) -> Iterator[Problem]:
    """Say of problems with a file that have no line in it where the file was asked for."""
    for problem in error.problems:
        if problem.place.path is None and problem.place.line is None:
            yield Problem(f"<{tag}> src: {problem.message}", place, problem.is_warning)
        else:
            yield problem
