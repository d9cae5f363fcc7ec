"""Files of the user's are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from ..errors import FileError


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, whose old content stays whole until the new one is safe on the disk.

    The data goes into a file beside it, which then takes its place; a link still leads to the same file, with the same
    permissions. Raises FileError where that cannot be done: the old file is as it was, and nothing is left beside it.
    """
    target, beside = Path(os.path.realpath(path)), None
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        descriptor, name = tempfile.mkstemp(prefix=".takt-", suffix=".tmp", dir=target.parent)
        beside = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if beside.stat().st_size != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _take_permissions(target, beside)
        beside.replace(target)
    except OSError as error:
        if beside is not None:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        raise FileError.at(f"cannot be written: {error.strerror or error}; what was there is kept. Make room, allow "
                           "writing there, or choose another folder", path) from error


def _take_permissions(target: Path, beside: Path) -> None:
    """Give a new file the permissions of the one that it replaces; where there is none, those of any new file."""
    if target.exists():
        shutil.copymode(target, beside)
        return
    umask = os.umask(0)
    os.umask(umask)
    beside.chmod(0o666 & ~umask)
