"""core/library/whole_files.py: whatever fails, and whenever the process ends, no file is cut."""

import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from takt.checkout import ROOT
from takt.core.errors import FileError
from takt.core.library.whole_files import MAX_NAME, write_whole

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


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """As it is counted in bytes; the longest that can be is written."""
    with pytest.raises(FileError, match=r"^ü{40}…: cannot be written: its name is too long, 256 bytes where"):
        write_whole(tmp_path / ("ü" * 128), NEW)
    path = tmp_path / ("n" * MAX_NAME)
    write_whole(path, NEW)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_is_killed_leaves_the_old_file(step: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    killed = (f"import sys; sys.path.insert(0, {str(ROOT)!r}); import checkout, os; from pathlib import Path\n"
              f"from takt.core.library.whole_files import write_whole\n"
              f"os.{step} = lambda *_: os._exit(3)\nwrite_whole(Path({str(path)!r}), {NEW!r})")
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == 3
    assert path.read_bytes() == OLD
    (left,) = set(tmp_path.iterdir()) - {path}
    write_whole(path, NEW)
    assert left.exists()  # perhaps somebody is writing it
    os.utime(left, (time.time() - 3601,) * 2)
    write_whole(path, OLD)
    assert path.read_bytes() == OLD and list(tmp_path.iterdir()) == [path]


def test_only_what_was_left_goes(tmp_path: Path) -> None:
    others = [tmp_path / name for name in (".takt-mine", "mine.tmp", "takt-mine.tmp", ".takt-folder.tmp",
                                           ".takt-link.tmp", ".takt-new.tmp", ".takt-old.tmp")]
    for other in others:
        other.write_bytes(OLD)
    folder, link, new, old = others[3:]
    for path in (folder, link):
        path.unlink()
    folder.mkdir()
    link.symlink_to(others[0])
    for other in {*others} - {new}:
        os.utime(other, (time.time() - 7200,) * 2, follow_symlinks=False)
    write_whole(tmp_path / "file", NEW)
    assert {*tmp_path.iterdir()} == {*others, tmp_path / "file"} - {old}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes here")
def test_pipes_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for path in (pipe, link, tmp_path):
        with pytest.raises(FileError, match="a pipe, a device or a folder, not a file; choose another name"):
            write_whole(path, NEW)
    assert pipe.is_fifo() and link.is_symlink() and Path("/dev/null").is_char_device()
    assert {*tmp_path.iterdir()} == {pipe, link}


def test_a_file_of_two_names_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_bytes(OLD)
    other.hardlink_to(path)
    for data in (NEW, b"", OLD):
        write_whole(path, data)
        assert other.read_bytes() == data and other.samefile(path) and {*tmp_path.iterdir()} == {path, other}
    own, seen = os.fsync, list[bytes]()

    def fail(descriptor: int) -> None:
        seen.extend(left.read_bytes() for left in tmp_path.glob("file.*.saved"))
        if len(seen) == 2:  # all of it is beside the file, which is being written over
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        own(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="Input/output error; what was there is kept"):
        write_whole(path, NEW)
    assert seen[1] == NEW and path.read_bytes() == other.read_bytes() == OLD
    assert {*tmp_path.iterdir()} == {path, other}


def test_a_folder_that_takes_no_file_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)

    def refuse(**_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)  # no folder refuses root
    with pytest.raises(FileError, match=r"its folder takes no new file.*Allow writing in the folder"):
        write_whole(path, NEW)
    with pytest.raises(FileError, match="Permission denied; what was there is kept"):
        write_whole(tmp_path / "new", NEW)
    assert path.read_bytes() == OLD
