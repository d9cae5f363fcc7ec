"""core/library/whole_files.py: whatever fails, and whenever the process ends, no file is cut."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from takt.checkout import ROOT
from takt.core.errors import FileError
from takt.core.library.whole_files import write_whole

OLD, NEW = b"old " * 1_000, b"new one " * 1_000
STEPS = ("fdopen", "fsync", "replace")


def test_what_is_written_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a score.pha"
    for data in (NEW, b"", OLD):
        write_whole(path, data)
        assert path.read_bytes() == data and list(tmp_path.iterdir()) == [path]


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(OLD)
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, NEW)
    assert link.is_symlink() and path.read_bytes() == NEW and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", STEPS)
def test_what_fails_leaves_the_old_file(step: str, number: int, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(FileError, match=f"file: cannot be written: {os.strerror(number)}; what was there is kept"):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written: No such file or directory"):
        write_whole(tmp_path / "gone" / "file", NEW)


@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_is_killed_leaves_the_old_file(step: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    killed = (f"import sys; sys.path.insert(0, {str(ROOT)!r}); import checkout, os; from pathlib import Path\n"
              f"from takt.core.library.whole_files import write_whole\n"
              f"os.{step} = lambda *_: os._exit(3)\nwrite_whole(Path({str(path)!r}), {NEW!r})")
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == 3
    assert path.read_bytes() == OLD
