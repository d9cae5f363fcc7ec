"""The files of a library as the shelf shows them. There may be very many, so making them has to be cheap."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.library.contents import stem_of
from ...core.library.library import SCORE_SUFFIX
from ...core.score_editor.commands import Playable


@dataclass(slots=True)
class File:
    """A file of a library: its contents as far as known, or why it cannot be read.

    shown: its chips, a single one of its own while it is not read. stamp: of the file when it was read.
    """

    src: str
    where: str
    chip: Playable
    shown: tuple[Playable, ...]
    held: tuple[Playable, ...] | None = None
    problem: str = ""
    stamp: tuple[int, ...] = ()

    @classmethod
    def of(cls, src: str, where: str) -> File:
        """Return a file that has not been read."""
        stem, at = stem_of(src, where), where.rfind(os.sep)  # faster than functions of paths, for many files
        folder = where[where.rfind(os.sep, 0, at) + 1:at]
        has_dots = "." in stem or ("." in folder and src != stem)
        dotted = tuple(name for name in (stem, folder) if "." in name) if has_dots else ()
        chip = Playable(src, stem, 0.0, not where.endswith(SCORE_SUFFIX), False, dotted=dotted,
                        found_by=src.casefold())
        return cls(src, where, chip, (chip,))

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.where)

    def hold(self, held: tuple[Playable, ...]) -> None:
        """Store its contents."""
        self.held, self.shown, self.problem = held, held, ""

    def forget(self) -> None:
        """Forget its contents."""
        self.held, self.shown, self.problem = None, (self.chip,), ""

    def fail(self, problem: str) -> None:
        """Store why it cannot be read."""
        self.held, self.problem = None, problem
        self.chip = replace(self.chip, problem=problem)
        self.shown = (self.chip,)


def taken_over(files: Iterable[File], read: Iterable[File]) -> Iterator[tuple[Playable, Playable]]:
    """Give files the contents that were read of them earlier; yield each chip as it was and as it is now.

    Their src may differ, as after another folder was added.
    """
    by_path = {file.where: file for file in read if file.held}
    for file in files:
        before = by_path.get(file.where)
        if before is None or before.held is None:
            continue
        held = before.held if before.src == file.src else tuple(
            replace(each, src=file.src, dotted=file.chip.dotted, found_by="") for each in before.held)
        file.hold(held)
        file.stamp = before.stamp
        yield from zip(before.held, held, strict=True)


def files_of(listed: Iterable[tuple[str, str]], before: Mapping[str, File], *, settles_from: int) -> dict[str, File]:
    """Return files by their src; those that were there before stay the same.

    Meanwhile no garbage is collected, which would look through the new files again and again. If there are more than
    settles_from, collections leave them out from now on; see gc.unfreeze.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        found = {src: file if (file := before.get(src)) is not None and file.where == where else File.of(src, where)
                 for src, where in listed}
        if len(found) > settles_from:
            gc.freeze()
    finally:
        if was_enabled:
            gc.enable()
    return found
