"""Write the user's files completely or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import FileError

_BEFORE, _AFTER = ".takt-", ".tmp"
"""How the names of files begin and end that are written beside the user's, until they take their place."""
_ABANDONED_S: Final = 3600.0
"""A temporary file that has not been written to for this long was left by a process that was killed."""
_TURN_S: Final = 2.0
"""A process has had its turn to put a file into its place long before that, or was killed."""
_LOOK_AGAIN_S: Final = 0.002
_KEPT: Final = "what was there is kept. Make room, allow writing there, or choose another folder"
_CLOSED: Final = ("its folder takes no new file, which is needed for writing; what was there is kept. Allow writing "
                  "in the folder, or choose another")
MAX_NAME: Final = 255
"""Bytes of a file's name, on all file systems that are usual."""
_NAME_SHOWN: Final = 40
_REFUSED: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_DEVICE: Final = re.compile(r"CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³]", re.IGNORECASE)
_NO_FILE: Final = "it is a pipe, a device or a folder, not a file; choose another name"


def check_name(path: Path) -> None:
    """Raise FileError if a file's name is too long for file systems, or if it is a new file that Windows refuses.

    Projects are moved between systems. A file that exists already keeps its name. Source: Microsoft, Naming Files,
    Paths, and Namespaces.
    """
    size = len(os.fsencode(path.name))
    if size > MAX_NAME:
        raise FileError.at(f"cannot be written: its name is too long, {size} bytes where {MAX_NAME} are taken; choose "
                           "a shorter one", Path(f"{path.name[:_NAME_SHOWN]}…"))
    if (wrong := _refused_by_windows(path.name)) and not os.path.lexists(path):
        raise FileError.at(f"cannot be written: {wrong}, which Windows refuses; choose another name",
                           Path(path.name))


def name_of_file(name: str) -> str:
    """Return a name with characters replaced by _ that some file system or a score would take for something else.

    Letters of all languages are kept.

    >>> name_of_file("Räuber No. 3"), name_of_file("a/b:c"), name_of_file("..")
    ('Räuber_No__3', 'a_b_c', '__')
    """
    return re.sub(r"[^\w-]", "_", name)


def _refused_by_windows(name: str) -> str:
    """Return what of a file's name Windows refuses, "" where it takes the name."""
    if (found := _REFUSED.search(name)) is not None:
        return f"its name has {found[0]!r} in it"
    if name[-1:] in (".", " "):
        return "its name ends with a dot" if name[-1] == "." else "its name ends with a space"
    device = name.partition(".")[0].strip()
    return f"{device} is the name of a device" if _DEVICE.fullmatch(device) else ""


def write_whole(path: Path, data: bytes | Path, check: Callable[[], None] | None = None) -> None:
    """Write a file so that its old content stays complete until the new content is safe on the disk.

    The data is written to a file beside it, which then replaces it. A link still leads to the same file, with the same
    permissions. A file with several names (hard links) keeps them: it is overwritten, while the file beside it holds
    all the data until that is done. Only such a file may be incomplete if the process is killed; the file beside it,
    whose name ends in .saved, then remains. Files that killed processes left in the folder are removed after an hour.

    data: the bytes to write, or another file that holds them. check: raises TaktError if the file must stay unchanged.
    From this call until the file is written, no other process that calls this function writes it.
    Raises FileError if the file cannot be written: the old file is unchanged, and nothing is left beside it. Pipes,
    devices, and files in folders where no file can be created are refused.
    """
    check_name(path)
    target, beside = Path(os.path.realpath(path)), None
    try:
        status = _status(target)
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise FileError.at(f"cannot be written: {_NO_FILE}", path)
        if status is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        has_names = status is not None and status.st_nlink > 1
        descriptor, beside = _new_beside(target, has_names=has_names, may_be_closed=status is None)
        _remove_abandoned(beside)
        with os.fdopen(descriptor, "wb") as file:
            _fill(file.fileno(), data)
        with turn_to_write(target):
            if check is not None:
                check()
            if has_names:
                _write_over(target, beside)
            else:
                _take_permissions(target, beside)
                beside.replace(target)
    except OSError as error:
        raise FileError.at(f"cannot be written: {error.strerror or error}; {_KEPT}", path) from error
    finally:
        if beside is not None:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


@contextmanager
def turn_to_write(target: Path) -> Iterator[None]:
    """Keep other processes from writing a file while the context lasts.

    A lock file beside it signals this; the process that created it removes it soon. If it stays longer, its process was
    killed, and the next process replaces it. Raises OSError if no lock file can be created.
    """
    digest = hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()
    mark = target.with_name(f"{_BEFORE}{digest}{_AFTER}")
    while True:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            own = _which(mark)
            break
        except FileExistsError:
            _wait_for(mark)
    try:
        yield
    finally:
        with suppress(OSError):  # the file is written, whatever becomes of the mark
            if _which(mark) == own:
                mark.unlink()


def _which(mark: Path) -> tuple[int, int]:
    """Return what tells a mark from another one of its name: the numbers of its file may be used again."""
    status = mark.stat()
    return status.st_ino, status.st_mtime_ns


def _wait_for(mark: Path) -> None:
    """Wait until another process has had its turn; remove its mark where it does not."""
    until_s = time.monotonic() + _TURN_S
    try:
        first = _which(mark)
        while time.monotonic() < until_s:
            time.sleep(_LOOK_AGAIN_S)
            if _which(mark) != first:
                return
        mark.unlink()
    except FileNotFoundError:
        pass


def _new_beside(target: Path, *, has_names: bool, may_be_closed: bool) -> tuple[int, Path]:
    """Make an empty file beside one, and return it, opened; may_be_closed: where the folder is no news to the user."""
    before, after = (f"{target.name}.", ".saved") if has_names else (_BEFORE, _AFTER)
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=before, suffix=after)
    except PermissionError as error:
        if may_be_closed:
            raise
        raise FileError.at(f"cannot be written: {_CLOSED}", target) from error
    return descriptor, Path(name)


def _status(target: Path) -> os.stat_result | None:
    """Return what a file is, None where there is none."""
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _fill(descriptor: int, data: bytes | Path) -> None:
    """Write all of a file, which is empty, and wait until it is on the disk; raise OSError where not all of it is."""
    with os.fdopen(os.dup(descriptor), "wb") as file:
        size = _write_all(file, data)
    os.fsync(descriptor)
    if os.fstat(descriptor).st_size != size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_all(file: BinaryIO, data: bytes | Path) -> int:
    """Write data, or what another file holds; return how many bytes that is; raise FileError for one not to be read."""
    if isinstance(data, bytes):
        return file.write(data)
    try:
        source = data.open("rb")
    except OSError as error:
        raise FileError.at(f"cannot be read: {error.strerror or error}", data) from error
    with source:
        shutil.copyfileobj(source, file)
        return source.tell()


def _write_over(target: Path, beside: Path) -> None:
    """Write over a file of several names; where that fails, give it back what it held, and raise OSError."""
    before = target.read_bytes()
    try:
        _replace_bytes(target, beside)
    except OSError:
        _replace_bytes(target, before)
        raise


def _replace_bytes(target: Path, data: bytes | Path) -> None:
    with target.open("r+b") as file:
        _write_all(file, data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _remove_abandoned(new: Path) -> None:
    """Remove what killed processes have left beside a file that was made just now, by whose time they are old."""
    with suppress(OSError):
        now_s = new.stat().st_mtime  # of the same clock as theirs, also where the disk is in another computer
        with os.scandir(new.parent) as entries:
            left = [entry for entry in entries if entry.name.startswith(_BEFORE) and entry.name.endswith(_AFTER)]
        for entry in left:
            with suppress(OSError):
                if (entry.is_file(follow_symlinks=False)
                        and entry.stat(follow_symlinks=False).st_mtime < now_s - _ABANDONED_S):
                    Path(entry.path).unlink()


def _take_permissions(target: Path, beside: Path) -> None:
    """Give a new file the permissions of the one that it replaces; where there is none, those of any new file."""
    if target.exists():
        shutil.copymode(target, beside)
        return
    umask = os.umask(0)
    os.umask(umask)
    beside.chmod(0o666 & ~umask)
