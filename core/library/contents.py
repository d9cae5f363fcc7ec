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

    >>> from takt.samples.dancer import LIBRARY
    >>> [src for src, _ in contents([LIBRARY], (".pha",))]
    ['company', 'dance', 'helix', 'variation', 'walk', 'basic.Turns', 'dance.Figures']
    """
    found: dict[str, Path] = {}
    for root in roots:
        for path in _files(root):
            ending = next((ending for ending in endings if path.name.endswith(ending)), None)
            if ending is None:
                continue
            src = ".".join(path.relative_to(root).parts).removesuffix(ending)
            if len(found) < MAX_FILES and _leads_to(src, path.relative_to(root), ending):
                found.setdefault(src, path)
    return tuple(found.items())


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
