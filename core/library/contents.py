"""What lies in a library: the files of clips and scores below its folders, each with the src that names it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import FileError
from .files import parts_of

MAX_LEVELS, MAX_FILES = 6, 2_000
"""Of folders within each other that are looked through, and of files that are listed."""


def contents(roots: Iterable[Path], endings: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    """Return src and path of each file below some folders that has one of these endings, folder by folder, by name.

    Of files with the same src only the first is listed, which is the one that a library finds. Files that no src can
    name, or whose name begins with a dot, are left out.

    >>> from takt.samples.clip_files import LIBRARY
    >>> [src for src, _ in contents([LIBRARY], (".pha",))]
    ['company', 'dance', 'helix', 'variation', 'walk', 'basic.Turns', 'dance.Figures']
    """
    found: dict[str, Path] = {}
    for src, path, has_src in _with_ending(roots, endings):
        if len(found) < MAX_FILES and has_src:
            found.setdefault(src, path)
    return tuple(found.items())


def without_src(roots: Iterable[Path], endings: Sequence[str]) -> tuple[str, ...]:
    """Return the files below some folders that have one of these endings, but names that no src can lead to.

    As paths below their folder, with slashes.

    >>> from takt.samples.clip_files import LIBRARY
    >>> without_src([LIBRARY], (".pha",))
    ()
    """
    roots = tuple(roots)
    found = dict.fromkeys(path.relative_to(next(root for root in roots if root in path.parents)).as_posix()
                          for _, path, has_src in _with_ending(roots, endings) if not has_src)
    return tuple(found)[:MAX_FILES]


def _with_ending(roots: Iterable[Path], endings: Sequence[str]) -> Iterator[tuple[str, Path, bool]]:
    """Yield what each file's src would be, its path, and whether that src leads to it."""
    for root in roots:
        for path in _files(root):
            ending = next((ending for ending in endings if path.name.endswith(ending)), None)
            if ending is not None:
                own = path.relative_to(root)
                src = ".".join(own.parts).removesuffix(ending)
                yield src, path, _leads_to(src, own, ending)


def _files(root: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(root):
        here = Path(folder)
        inner[:] = sorted(name for name in inner if not name.startswith(".")
                          ) if len(here.relative_to(root).parts) < MAX_LEVELS - 1 else []
        yield from (here / name for name in sorted(names) if not name.startswith("."))


def _leads_to(src: str, path: Path, ending: str) -> bool:
    """Tell whether a src is read as this path: a dot in a name would be taken for a folder."""
    try:
        return Path(*parts_of(src)) == path.with_name(path.name.removesuffix(ending))
    except FileError:
        return False
