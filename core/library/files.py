"""Find and read files below root folders: no file outside them, no link that leaves them, no device, no huge file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from ..errors import FileError, quoted, some_of
from ..formats.format import MAX_BYTES

_OF_KERNEL = ("/proc", "/sys", "/dev")
"""Where Linux shows what the kernel knows; what stands there is no file of anybody's."""
_IN_MEMORY = "/dev/shm"
_MAX_SRC = 1_000
_MOST_LISTED = 2_000
_MOST_FOLDERS = 3_000
"""That are looked through for a file that is not where it is to be."""
_MOST_BESIDE = 200
_BESIDE_SHOWN = 6
MOST_TOLD = 3
"""Folders that have such a file: more are not looked for."""


def parts_of(src: str) -> tuple[str, ...]:
    """Return the parts of a dotted path; raise FileError if it is not one."""
    parts = tuple(src.split("."))
    if len(src) > _MAX_SRC or not all(parts) or any(c in src for c in '/\\:\0'):
        raise FileError.at(f"found {quoted(src)}, expected names joined by single dots, as in feet.Steps: a path "
                           "inside the library, without the file's ending")
    return parts


def check_library(folder: Path) -> None:
    """Raise FileError if a folder is in a kernel file system: /proc, /sys or /dev, except /dev/shm.

    Files there appear and vanish, have no size, and may have an effect when they are read.
    """
    if not may_be_library(folder):
        raise FileError.at("is no folder for clips: what lies there are no files, but what the system tells of itself; "
                           "choose a folder of your own", folder)


def may_be_library(folder: Path) -> bool:
    """Return whether a folder may be a library; see check_library."""
    real = os.path.realpath(folder)
    return _is_in(real, _IN_MEMORY) or not any(_is_in(real, each) for each in _OF_KERNEL)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def is_there(root: Path, src: str, endings: Sequence[str]) -> bool:
    """Return whether a src leads to a file that may be read from this root."""
    try:
        return bool(candidates(root, src, endings))
    except FileError:
        return False


def candidates(root: Path, src: str, endings: Sequence[str], *, with_dots: bool = True) -> list[Path]:
    """Return the real paths of the files with a src below a root.

    Each dot stands for a slash. If no file is found so, dots may be part of names of folders and files (with_dots).
    Raises FileError if one is a link that leads out of the root, or is not an ordinary file, or if check_library
    refuses the root.
    """
    parts = parts_of(src)
    check_library(root)
    found = _files(root, str(root.joinpath(*parts)), endings)
    if found or not with_dots or len(parts) == 1:
        return found
    return next((there for stem in _stems(str(root), parts) if (there := _files(root, stem, endings))), [])


def _files(root: Path, stem: str, endings: Sequence[str]) -> list[Path]:
    """Return the real paths of the files with a path without its ending, by endings; see candidates."""
    found = []
    for path in (stem + ending for ending in endings):
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116  # most are not there: a Path for each takes longer than looking
        except (OSError, ValueError):
            continue
        real = Path(os.path.realpath(path))
        if str(real) != path and not real.is_relative_to(root):
            raise FileError.at(f"{path} is a link that leads out of the library {root}; copy the file into it")
        if not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                continue
            raise FileError.at(f"{path} is no ordinary file (a device, pipe or socket), expected one")
        found.append(real)
    return found


def _stems(folder: str, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths in folders that exist which differ in what is a slash, short names of folders first."""
    for first in range(1, len(parts)):
        inner = os.path.join(folder, ".".join(parts[:first]))  # noqa: PTH118
        if os.path.isdir(inner):  # noqa: PTH112
            yield from _stems(inner, parts[first:])
    yield os.path.join(folder, ".".join(parts))  # noqa: PTH118


def deeper(roots: Sequence[Path], src: str, endings: Sequence[str]) -> tuple[tuple[Path, ...], ...]:
    """Return the real paths of the files with a src in each folder below some roots, for up to MOST_TOLD folders.

    So a src that was written for one folder is found even if the root is a folder above it. The result is empty if
    there are more folders than the limit.
    """
    *folders, name = parts_of(src)
    found: list[tuple[Path, ...]] = []
    looked_at = 0
    waiting = [str(root) for root in roots]
    while waiting and len(found) < MOST_TOLD:
        inner = []
        for folder in waiting:
            try:
                with os.scandir(folder) as entries:
                    here = [(each.name, each.path) for each in entries
                            if not each.name.startswith(".") and each.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            looked_at += 1 + len(here)
            if looked_at > _MOST_FOLDERS:
                return ()
            for _, path in sorted(here):
                paths = tuple(candidates(Path(path), ".".join((*folders, name)), endings, with_dots=False))
                found += [paths] if paths else []
                inner.append(path)
        waiting = inner
    return tuple(found[:MOST_TOLD])


def without_ending(src: str, endings: Sequence[str]) -> str:
    """Return a src without its ending, as it should be written."""
    return next((src[:-len(ending)] for ending in endings if src.lower().endswith(ending) and src[:-len(ending)]), src)


def sources_beside(root: Path, src: str, endings: Sequence[str]) -> list[str]:
    """Return the srcs of all files in the folder where a src would be, below a root."""
    *folders, _ = parts_of(src)
    folder = Path(os.path.realpath(root.joinpath(*folders)))
    try:
        names = sorted(os.listdir(folder))[:_MOST_LISTED] if folder.is_relative_to(root) else []  # noqa: PTH208
    except (OSError, ValueError):
        return []
    stems = dict.fromkeys(name[:-len(ending)] for name in names for ending in endings if name.lower().endswith(ending))
    return [".".join((*folders, stem)) for stem in stems if stem and "." not in stem]


def files_beside(path: Path, ending: str, fits: Callable[[Path], bool] | None = None) -> tuple[Path, ...]:
    """Return the files that another may need beside it: the one with its name, else those with that ending.

    fits: if there are several, only those that fit are returned, or all if none fits.
    """
    own = path.with_suffix(ending)
    found = (own,) if own.exists() else tuple(sorted(path.parent.glob("*" + ending))[:_MOST_BESIDE])
    fitting = tuple(filter(fits, found)) if fits is not None and len(found) > 1 else found
    return fitting or found


def file_beside(path: Path, ending: str, fits: Callable[[Path], bool] | None = None) -> Path:
    """Return the only one of files_beside; raise FileError if there are several, or none."""
    found = files_beside(path, ending, fits)
    if len(found) == 1:
        return found[0]
    own = path.with_suffix(ending).name
    if found:
        raise FileError.at(f"several {ending} files beside it fit: {some_of([p.name for p in found], _BESIDE_SHOWN)}. "
                           f"File > Import lets you choose one; everywhere else the one that is called {own} is used",
                           path)
    raise FileError.at(f"a {path.suffix} file wants a {ending} file beside it: {own}, or the only one in the folder; "
                       "there is none", path)


def linked_file(folder: Path, name: str, roots: Sequence[Path]) -> Path | None:
    """Return the file that an OGRE file in a folder links to, or None if there is none.

    Only the name counts, never a path to another folder. Raises FileError if the file is a link that leads out of the
    roots, or is not an ordinary file.
    """
    own = PurePosixPath(name.replace("\\", "/")).name
    for path in (folder / own, folder / f"{own}.xml") if own.strip(".") else ():
        try:
            real = Path(os.path.realpath(path))
            mode = real.stat().st_mode
        except (OSError, ValueError):
            continue
        if not any(real.is_relative_to(root) for root in roots):
            raise FileError.at(f"is a link that leads out of {', '.join(map(str, roots))}; copy the file there", path)
        if not stat.S_ISREG(mode):
            raise FileError.at("is no ordinary file", path)
        return real
    return None


def read_named(folder: Path, by: Path, name: str, *, beside: int = 0) -> bytes:
    """Read a file that another file in a folder names by a relative path; by: the other file, for messages.

    beside: the bytes of the other files that it names, which count towards the limit.
    Raises FileError if the path or a link on it leads out of the folder, or if the file cannot be read.
    """
    path = PurePosixPath(name)
    if not name or "\0" in name or "\\" in name or ":" in name or path.is_absolute() or ".." in path.parts:
        raise FileError.at(f"names the file {quoted(name)}; only a file in its own folder, or below it, is read", by)
    inside, real = Path(os.path.realpath(folder)), Path(os.path.realpath(folder / path.parent))
    if not real.is_relative_to(inside):
        raise FileError.at(f"names the file {quoted(name)}, which a link leads out of {inside}; copy the file there",
                           by)
    return read_file(folder / path, beside=beside)


def read_file(path: Path, real: Path | None = None, *, beside: int = 0) -> bytes:
    """Read a whole ordinary file; it is checked again after opening, since it may have been replaced.

    real: the path with symbolic links resolved, if links may be followed; otherwise a link is refused.
    beside: the bytes of other files, which count towards the limit.
    """
    flags = os.O_RDONLY
    for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(real or path, flags)
    except OSError as error:
        raise FileError.at(f"cannot be opened: {error.strerror}", path) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no ordinary file"
            raise FileError.at(f"is {kind}, where a file is wanted", path)
        if status.st_size > MAX_BYTES - beside:
            others = f", as others that are read with it have {beside} already" if beside else ""
            raise FileError.at(f"has {status.st_size} bytes; at most {MAX_BYTES - beside} are read{others}", path)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES - beside)
    except OSError as error:
        raise FileError.at(f"cannot be read: {error.strerror}", path) from error
    finally:
        os.close(descriptor)
