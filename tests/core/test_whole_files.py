"""core/library/whole_files.py: whatever fails, and whenever the process ends, no file is cut."""

import concurrent.futures
import contextlib
import errno
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from takt.checkout import ROOT
from takt.core.errors import FileError
from takt.core.library import whole_files
from takt.core.library.whole_files import MAX_NAME, turn_to_write, write_whole

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


def test_what_comes_out_too_short_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on network disks that tell of no error: the sizes are compared."""
    path, own = tmp_path / "file", os.fsync
    path.write_bytes(OLD)

    def cut(descriptor: int) -> None:
        os.ftruncate(descriptor, len(NEW) - 1)
        own(descriptor)

    monkeypatch.setattr(os, "fsync", cut)
    with pytest.raises(FileError, match="No space left on device; what was there is kept"):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "ours", NEW)
        (tmp_path / "any").write_bytes(NEW)
    finally:
        os.umask(before)
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_a_file_that_may_not_be_written_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though its folder lets another one take its place."""
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o444)
    may = {os.W_OK: False}
    monkeypatch.setattr(os, "access", lambda _, mode: may.get(mode, True))  # root may write everything
    with pytest.raises(FileError, match="Permission denied; what was there is kept"):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD and list(tmp_path.iterdir()) == [path]


def test_another_file_is_copied_whole(tmp_path: Path) -> None:
    source, path = tmp_path / "source", tmp_path / "file"
    source.write_bytes(NEW)
    write_whole(path, source)
    assert path.read_bytes() == source.read_bytes() == NEW
    source.unlink()
    with pytest.raises(FileError, match=re.escape(f"{source}: cannot be read: No such file")):
        write_whole(path, source)
    assert path.read_bytes() == NEW and list(tmp_path.iterdir()) == [path]


def test_what_is_checked_holds_until_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)

    def refuse() -> None:
        raise FileError.at("is another's now", path)

    with pytest.raises(FileError, match="is another's now"):
        write_whole(path, NEW, refuse)
    assert path.read_bytes() == OLD and list(tmp_path.iterdir()) == [path]

    with concurrent.futures.ThreadPoolExecutor() as pool:
        def write_beside() -> None:
            beside = pool.submit(write_whole, path, b"the other")
            with pytest.raises(TimeoutError):
                beside.result(0.2)
            assert path.read_bytes() == OLD

        write_whole(path, NEW, write_beside)
    assert path.read_bytes() == b"the other" and list(tmp_path.iterdir()) == [path]


def test_a_late_process_does_not_end_the_turn_of_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "_TURN_S", 0.05)
    late = contextlib.ExitStack()
    late.enter_context(turn_to_write(tmp_path / "file"))
    with turn_to_write(tmp_path / "file"):
        marks = list(tmp_path.iterdir())
        late.close()
        assert len(marks) == 1 and list(tmp_path.iterdir()) == marks
    assert not list(tmp_path.iterdir())


def test_a_mark_that_cannot_be_removed_does_not_deny_what_is_written(tmp_path: Path,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a virus scanner has it open."""
    path, own = tmp_path / "file", Path.unlink
    path.write_bytes(OLD)

    def refuse_marks(self: Path, missing_ok: bool = False) -> None:
        if self.exists() and not self.stat().st_size:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        own(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse_marks)
    write_whole(path, NEW)
    assert path.read_bytes() == NEW


COUNTING = """
import sys; sys.path.insert(0, {root!r}); import checkout; from pathlib import Path
from takt.core.errors import FileError
from takt.core.library.whole_files import write_whole
path = Path({path!r})
for _ in range({times}):
    done = False
    while not done:
        before = path.read_bytes()
        def is_same():
            if path.read_bytes() != before:
                raise FileError.at("other", path)
        try:
            write_whole(path, str(int(before) + 1).encode(), is_same)
            done = True
        except FileError as error:
            assert "other" in str(error), error
"""


def test_processes_that_write_one_file_lose_nothing(tmp_path: Path) -> None:
    path, times = tmp_path / "count", 100
    path.write_bytes(b"0")
    code = COUNTING.format(root=str(ROOT), path=str(path), times=times)
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [each.wait(120) for each in running] == [0, 0, 0]
    assert path.read_bytes() == str(3 * times).encode() and list(tmp_path.iterdir()) == [path]


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


@pytest.mark.parametrize(("name", "reason"), [
    *((name, "is the name of a device") for name in ("CON", "nul.bvh", "Lpt1 .skeleton.xml", "COM².x3d", "conin$.a")),
    *((name, r"its name has '.+' in it") for name in ("a:b.bvh", "a?", "*", "a<b", "a|b", 'a"b', "a\\b", "a\tb.bvh")),
    ("walk.", "ends with a dot"), ("...", "ends with a dot"), ("walk.bvh ", "ends with a space")])
def test_a_new_name_that_windows_refuses_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(FileError, match=f"{reason}, which Windows refuses; choose another name"):
        write_whole(tmp_path / name, NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["CONSOLE.bvh", "com.bvh", "COM10", "walk .bvh", ".hidden", "a.CON", "ü'()[]&%.a"])
def test_a_name_that_only_looks_like_one_is_taken(tmp_path: Path, name: str) -> None:
    write_whole(tmp_path / name, NEW)
    assert (tmp_path / name).read_bytes() == NEW


@pytest.mark.skipif(os.name == "nt", reason="there is no such file")
def test_a_file_that_has_such_a_name_already_is_written(tmp_path: Path) -> None:
    (tmp_path / "a:b").write_bytes(OLD)
    write_whole(tmp_path / "a:b", NEW)
    assert (tmp_path / "a:b").read_bytes() == NEW


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_is_killed_leaves_the_old_file(step: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    killed = (f"import sys; sys.path.insert(0, {str(ROOT)!r}); import checkout, os; from pathlib import Path\n"
              f"from takt.core.library.whole_files import write_whole\n"
              f"os.{step} = lambda *_: os._exit(3)\nwrite_whole(Path({str(path)!r}), {NEW!r})")
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == 3
    assert path.read_bytes() == OLD
    left, *marks = sorted(set(tmp_path.iterdir()) - {path}, key=lambda each: -each.stat().st_size)
    assert [mark.stat().st_size for mark in marks] == [0] * (step == "replace")  # it had its turn
    write_whole(path, NEW)
    assert left.exists() and not any(mark.exists() for mark in marks)  # perhaps somebody is writing it
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
