"""The contents of a library: the clip and score files below its folders, each with its src."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError
from .files import candidates, may_be_library

MAX_FILES = 100_000
"""That are listed; the rest is counted. Looking through as many takes about half a second of the processor."""
_never_in_src = re.compile(r"[/\\:\0]").search
_MAX_SRC = 1_000


@dataclass(frozen=True)
class Contents:
    """The files below some folders.

    files: the src and the path of each file that a library finds; paths are text, since there may be very many.
    unnamed: files that no src can name, since their name begins or ends with a dot, or another file has their src; as
    paths below their folder, with slashes. left_out: how many more files there are.
    """

    files: tuple[tuple[str, str], ...]
    unnamed: tuple[str, ...]
    left_out: int = 0


def contents(roots: Iterable[Path], endings: Sequence[str], most: int = MAX_FILES,
             tell: Callable[[Mapping[str, str]], None] = lambda found: None) -> Contents:
    """Return the files with one of these endings at any depth below some folders, folder by folder, sorted by name.

    endings: each begins with a dot. tell: called after each folder with the files found so far, by src: they keep
    their order, but another file may take the place of one.

    If several files have the same src, only the one that a library finds is listed: the one in the first folder, and
    there the one whose ending comes first. Names that begin with a dot are left out, and links to folders are not
    followed.

    >>> from takt.samples.clip_files import LIBRARY
    >>> [src for src, _ in contents([LIBRARY], (".pha",)).files]
    ['company', 'dance', 'helix', 'variation', 'walk', 'basic.Turns', 'dance.Figures']
    """
    found: dict[str, str] = {}
    unnamed: dict[str, None] = {}
    with_dots: dict[str, str] = {}
    left_out, ends, folders = 0, tuple(endings), [root for root in roots if may_be_library(root)]
    ending_of: dict[str, str | None] = {}  # by what follows the first dot of a name: few differ
    for root in folders:
        for folder, within, names in _folders(str(root)):
            prefix, is_plain = "".join(f"{part}." for part in within), all("." not in part for part in within)
            can_have_src, inside = not prefix or _can_be_src(prefix[:-1]), folder + os.sep
            longest = _MAX_SRC - len(prefix)
            for name in names:
                tail = name[name.find("."):]
                if tail not in ending_of:
                    ending_of[tail] = next((ending for ending in ends if tail.endswith(ending)), None)
                ending = ending_of[tail]
                if ending is None:
                    continue
                stem = name.removesuffix(ending)
                src, path = prefix + stem, inside + name
                has_dots = not is_plain or "." in stem
                below = "/".join((*within, name)) if has_dots or src in found else ""  # there may be many: only if used
                if src in found and (has_dots or src in with_dots):
                    wins = _first(folders, src, ends) or found[src]
                    for other, where in ((found[src], with_dots.get(src)), (path, below)):
                        if where and os.path.dirname(other) != os.path.dirname(wins):  # noqa: PTH120
                            unnamed[where] = None
                    if wins != found[src]:
                        found[src], with_dots[src] = wins, below if wins == path else ""
                    continue
                if src in found:
                    before = path.removesuffix(ending)
                    if found[src] in {before + each for each in ends[ends.index(ending) + 1:]}:
                        found[src] = path
                    continue
                if len(found) + len(unnamed) >= most:
                    left_out += 1
                elif can_have_src and len(stem) <= longest and not _never_in_src(stem) and (
                        "." not in stem or _can_be_src(stem)):
                    found[src] = path
                    if has_dots:
                        with_dots[src] = below
                else:
                    unnamed["/".join((*within, name))] = None
            tell(found)
    return Contents(tuple(found.items()), tuple(unnamed), left_out)


def folders_within(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the subfolders of a library that contain its files, each with the prefix of its clips' names."""
    found: dict[str, str] = {}
    looked_at = ""
    for src, where in files:
        folder = where[:where.rfind(os.sep)]
        if folder == looked_at:
            continue
        looked_at = folder
        within = src[:-len(stem_of(src, where))].removesuffix(".")
        while within and folder not in found:
            found[folder] = f"{within}."
            folder, name = os.path.split(folder)
            within = within[:-len(name)].removesuffix(".")
    return found


def stem_of(src: str, where: str) -> str:
    """Return the name of a src's file without its ending."""
    name = where[where.rfind(os.sep) + 1:]  # there may be many
    first = name.find(".")
    if 0 < first == name.rfind("."):
        return name[:first]
    dots = (at for at in range(len(name) - 1, 0, -1) if name[at] == ".")
    return next((name[:at] for at in dots if f".{src}".endswith(f".{name[:at]}")), src.rpartition(".")[2])


def _first(roots: Iterable[Path], src: str, endings: Sequence[str]) -> str:
    """Return the file that a library with these folders finds, "" if it finds none."""
    for root in roots:
        with suppress(FileError):
            if found := candidates(root, src, endings):
                return str(found[0])
    return ""


def _can_be_src(src: str) -> bool:
    return len(src) <= _MAX_SRC and not _never_in_src(src) and ("." not in src or all(src.split(".")))


def _folders(root: str) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
    """Yield each folder from a root on, its path below the root, and the names of its files in order."""
    waiting: list[tuple[str, tuple[str, ...]]] = [(root, ())]
    while waiting:
        folder, within = waiting.pop()
        inner, names = list[str](), list[str]()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.name.startswith("."):
                        (inner if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
        except OSError:
            continue  # gone, or not to be read
        names.sort()
        yield folder, within, names
        waiting += [(os.path.join(folder, name), (*within, name))  # noqa: PTH118  # twice as fast for 20,000 files
                    for name in sorted(inner, reverse=True)]
