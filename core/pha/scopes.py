"""The meaning of names in the view of each module, with all that it inherits, includes and loads.

Gustaitis et al. 2007, §5.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ..errors import quoted, some_of
from .document import Document
from .naming import Suggestions, listed, nearest

_FILES_SHOWN = 4
"""Most files named in which a name may be."""


@dataclass(eq=False)
class Module:
    """A score file during the lookup of names.

    missing: the reason why each src in it could not be read. base: the module that it extends.
    """

    index: int
    src: str
    document: Document
    includes: set[int]
    loads: dict[str, tuple[int, ...]]
    missing: dict[str, str] = field(default_factory=dict)
    base: int | None = None


class Scopes:
    """The meaning of names in the view of each module.

    A module's own procedures are those that it defines and those that it inherits. The inherited ones run in its view,
    so their calls may reach replacements that it defines.
    modules: without cycles of extends. offsets: the number of each module's first procedure.
    """

    def __init__(self, modules: Sequence[Module], offsets: Sequence[int], clip_names: Sequence[str]) -> None:
        self._modules, self._offsets, self._clip_names = modules, offsets, clip_names
        self._suggestions = Suggestions()
        self._known: dict[tuple[int, str], tuple[int, int] | int | None] = {}
        self._loaded: dict[int, tuple[dict[str, int], dict[str, list[int]]]] = {}
        self._own: dict[int, Mapping[str, int]] = {}
        self._holders: dict[str, int] = {}
        self._full: dict[str, list[tuple[int, int]]] = {}
        for module in modules:
            for name, procedure in self.own(module.index).items():
                self._holders[name] = self._holders.get(name, 0) | 1 << module.index
                if module.src:
                    self._full.setdefault(f"{module.src}.{name}", []).append((module.index, procedure))

    def chain(self, view: int) -> Iterator[Module]:
        """Yield a module and those that it extends, nearest first."""
        module: Module | None = self._modules[view]
        while module is not None:
            yield module
            module = None if module.base is None else self._modules[module.base]

    def own(self, view: int) -> Mapping[str, int]:
        """Return a module's own procedures by name: those that it defines, then those that it inherits."""
        if view not in self._own:
            found: dict[str, int] = {}
            for module in self.chain(view):
                for at, procedure in enumerate(module.document.procedures):
                    found.setdefault(procedure.name, self._offsets[module.index] + at)
            self._own[view] = found
        return self._own[view]

    def defined(self, view: int) -> Iterator[int]:
        """Yield the procedures that a module and those that it extends define, including replaced ones."""
        for module in self.chain(view):
            yield from range(self._offsets[module.index],
                             self._offsets[module.index] + len(module.document.procedures))

    @cached_property
    def _inherited(self) -> list[int]:
        """For each module the set of those that it extends, directly or not, as bits of an integer."""
        return [sum(1 << module.index for module in self.chain(view)) & ~(1 << view)
                for view in range(len(self._modules))]

    @cached_property
    def _reach(self) -> list[int]:
        """For each module the set of those that it includes, directly or not, as bits of an integer."""
        direct = [set[int]().union(*(m.includes for m in self.chain(module.index))) for module in self._modules]
        reach = [sum(1 << i for i in includes) for includes in direct]
        changed = True
        while changed:
            changed = False
            for index, includes in enumerate(direct):
                bits = reach[index]
                for other in includes:
                    bits |= reach[other]
                changed |= bits != reach[index]
                reach[index] = bits
        return reach

    def find(self, view: int, name: str) -> tuple[int, int] | int | None:
        """Return the meaning of a name: (view, procedure), a clip's number, or None if it is unknown or ambiguous."""
        key = view, name
        if key not in self._known:
            self._known[key] = self._look_up(view, name)
        return self._known[key]

    def _look_up(self, view: int, name: str) -> tuple[int, int] | int | None:
        procedures, clips = self._meanings(view, name)
        if len(procedures) + len(clips) == 1:
            return procedures[0] if procedures else clips[0]
        if procedures or clips:
            return None
        inherited = self._inherited[view] | 1 << view
        for other, procedure in self._full.get(name, ()):
            if inherited >> other & 1:  # a replacement calls the procedure that it replaces; else as in this view
                return view, procedure
        for other, procedure in self._full.get(name, ()):
            if self._sees(view, other, name.rpartition(".")[2]):
                return other, procedure
        return self._clips(view)[0].get(name)

    def _meanings(self, view: int, name: str) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the procedures, with their views, and the clips that an unqualified name may mean."""
        holders, procedures = self._holders.get(name, 0) & self._seen(view, name) & ~self._inherited[view], []
        while holders:
            other = (holders & -holders).bit_length() - 1
            procedures.append((other, self.own(other)[name]))
            holders &= holders - 1
        return procedures, self._clips(view)[1].get(name, [])

    def what_is_wrong(self, view: int, name: str) -> str:
        """Return a message that says why find() found nothing."""
        procedures, clips = self._meanings(view, name)
        if not procedures and not clips:
            return self._unknown(view, name)
        full = [self._name(m, name) for m, _ in procedures] + [self._clip_names[c] for c in clips]
        return (f"<call> name: found {quoted(name)}, which is the name of {len(full)} things: "
                f"{', '.join(map(quoted, full[:6]))}; expected one of these in full")

    def _seen(self, view: int, name: str) -> int:
        """Return the modules that may define a name for a view, as bits of an integer."""
        return 1 << view if name == "main" else self._reach[view] | 1 << view

    def _sees(self, view: int, other: int, name: str) -> bool:
        return bool(self._seen(view, name) >> other & 1)

    def _name(self, other: int, name: str) -> str:
        src = self._modules[other].src
        return f"{src}.{name}" if src else name

    def _clips(self, view: int) -> tuple[dict[str, int], dict[str, list[int]]]:
        """Return a module's clips by full name (the longest path wins) and by their own name."""
        if view not in self._loaded:
            full: dict[str, int] = {}
            bare: dict[str, list[int]] = {}
            loads = {src: clips for module in self.chain(view) for src, clips in module.loads.items()}
            for src in sorted(loads, key=len):
                for clip in loads[src]:
                    full[self._clip_names[clip]] = clip
                    bare.setdefault(self._clip_names[clip][len(src) + 1:], []).append(clip)
                if len(loads[src]) == 1:
                    full.setdefault(src, loads[src][0])
            self._loaded[view] = full, bare
        return self._loaded[view]

    def _held(self, view: int, name: str) -> str:
        """Return a message with the contents of the file that a name begins with, or of the only loaded file."""
        loads = {src: clips for module in self.chain(view) for src, clips in module.loads.items() if clips}
        within = [src for src in loads if name == src or name.startswith(f"{src}.")]
        within = within or nearest(name.rpartition(".")[0], loads)[:1] or (list(loads) if len(loads) == 1 else [])
        if not within:
            return ""
        src = max(within, key=len)
        own = name[len(src) + 1:] if name.startswith(f"{src}.") else name.rpartition(".")[2]
        return f"; {src} has {listed(own, (self._clip_names[clip][len(src) + 1:] for clip in loads[src]))}"

    def _unknown(self, view: int, name: str) -> str:
        missing = {src: why for module in self.chain(view) for src, why in module.missing.items()}
        for src, why in missing.items():
            if name == src or name.startswith(f"{src}."):
                return f"<call> name: {quoted(name)} cannot be played: {why}"
        for src, held in ((src, held) for module in self.chain(view) for src, held in module.loads.items()):
            if not held and (name == src or name.startswith(f"{src}.")):
                return f"<call> name: {quoted(name)} cannot be played: its file holds no clip"
        if name.rpartition(".")[2] == "main":
            hint = "; the main of another file cannot be called"
        else:
            hint = ""
            if not self._suggestions.is_over:
                full, bare = self._clips(view)
                by_name = (n for n, holders in self._holders.items() if holders & self._seen(view, n))
                by_full = (n for n, ps in self._full.items()
                           if any(self._sees(view, m, n.rpartition(".")[2]) for m, _ in ps))
                hint = self._suggestions.near(name, chain(bare, full, by_name, by_full)) + self._held(view, name)
            hint = hint or _in_missing(name, missing)
        return (f"<call> name: found {quoted(name)}, expected a procedure of this file or of one it includes, or a "
                f"clip that it loads{hint}")


def _in_missing(name: str, missing: Mapping[str, str]) -> str:
    """Return which of the files that cannot be read may contain a name, by its own name, with the reason."""
    own = name.rpartition(".")[2]
    by_name = {src.rpartition(".")[2]: src for src in reversed(list(missing))}
    alike = [file for file in by_name if own.casefold() in file.casefold()] or nearest(own, by_name)
    found = [by_name[file] for file in alike] or list(missing)
    if len(found) != 1:
        files = some_of([*map(quoted, found)], _FILES_SHOWN)
        return f"; it may be in one of the files that cannot be read: {files}" if files else ""
    src, why = found[0], missing[found[0]]
    return f"; it may be in {quoted(src)}, which cannot be read: {why}"
