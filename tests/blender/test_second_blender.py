"""A .blend is read in a second Blender: one that is damaged never ends this one, and each is read once."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.files import clips, second_blender
from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError
from takt.core.formats.format import Source

_HEAD = f"""
import os, sys, time
def say(text):
    print({second_blender.MARK!r} + text, flush=True)
say('{{"ready": true}}')
"""
"""The beginning of a second Blender that is none."""


@pytest.fixture
def moves(rig: bpy.types.Object, tmp_path: Path) -> Path:
    for frame, angle in ((1, 0.0), (20, 1.0)):
        rig.pose.bones[1].rotation_mode = "QUATERNION"
        rig.pose.bones[1].rotation_quaternion = (np.cos(angle), np.sin(angle), 0.0, 0.0)
        rig.pose.bones[1].keyframe_insert("rotation_quaternion", frame=frame)
    path = tmp_path / "moves.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The files that this Blender has read itself."""
    found, own = list[Path](), clips.read_file_clips

    def read(source: Source) -> ClipFile:
        found.append(source.path)
        return own(source)

    monkeypatch.setattr(clips, "read_file_clips", read)
    yield found
    second_blender.unregister()


def read(path: Path) -> ClipFile:
    found = clips.formats()["BLEND"].read
    assert found is not None
    return found(Source(path.read_bytes(), path))


def stand_in(monkeypatch: pytest.MonkeyPatch, then: str) -> list[int]:
    """Let another programme be started instead; return a list that grows with each start."""
    starts = list[int]()

    def command() -> list[str]:
        starts.append(len(starts))
        return [sys.executable, "-c", _HEAD + then]

    monkeypatch.setattr(second_blender, "command", command)
    return starts


def test_it_reads_what_this_one_reads(moves: Path, here: list[Path]) -> None:
    found = read(moves)
    assert not here
    expected = clips.read_file_clips(Source(b"", moves))
    assert [clip.name for clip in found.clips] == [clip.name for clip in expected.clips] != []
    assert found.skeleton.names == expected.skeleton.names
    for one, other in zip(found.clips, expected.clips, strict=True):
        assert one.duration_s == other.duration_s
        for channel in ("rotations", "translations", "scales"):
            np.testing.assert_array_equal(getattr(one, channel).values, getattr(other, channel).values)


def test_a_content_is_read_once_and_one_process_reads_several(moves: Path, here: list[Path],
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    asked, own = list[Path](), second_blender._Process.ask

    def ask(process: second_blender._Process, path: Path, *how: Any) -> Any:
        asked.append(path)
        return own(process, path, *how)

    monkeypatch.setattr(second_blender._Process, "ask", ask)
    first = read(moves)
    process = second_blender.CALLED.running
    moves.touch()
    assert read(moves) is first and asked == [moves]
    other = moves.with_name("other.blend")
    other.write_bytes(moves.read_bytes() + b"\0")
    assert len(read(other).clips) == 1 and asked == [moves, other] and second_blender.CALLED.running is process
    assert not here


def test_damaged_files_are_read_or_refused(moves: Path, here: list[Path]) -> None:
    data, random, refused = moves.read_bytes(), np.random.default_rng(34), 0
    for number in range(12):
        damaged = bytearray(data)
        if number % 3 == 0:
            damaged = damaged[:int(random.integers(20, len(data)))]
        else:
            for at in random.integers(20, len(data), 1 + 40 * (number % 3 - 1)).tolist():
                damaged[at] = int(random.integers(256))
        path = moves.with_name(f"damaged{number}.blend")
        path.write_bytes(damaged)
        try:
            read(path)
        except FileError as error:
            refused += 1
            assert str(error).startswith(str(path))
    assert refused > 3 and not here
    assert len(read(moves).clips) == 1


def test_one_that_crashes_is_told_of_and_the_next_file_is_read_by_another(moves: Path, here: list[Path],
                                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        starts = stand_in(patched, "sys.stdin.readline(); say('{\"begun\": true}'); os.abort()")
        for _ in range(2):
            with pytest.raises(FileError, match=r"moves\.blend: the file is damaged: .* has crashed"):
                read(moves)
        assert len(starts) == 2
    assert len(read(moves).clips) == 1 and not here


def test_one_that_goes_on_and_on_is_ended(moves: Path, here: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "sys.stdin.readline(); say('{\"begun\": true}'); time.sleep(60)")
    monkeypatch.setattr(second_blender, "MOST_S", 0.2)
    with pytest.raises(FileError, match=r"moves\.blend: reading it takes longer than"):
        read(moves)
    assert second_blender.CALLED.running is not None and not second_blender.CALLED.running.is_alive()


def test_one_that_was_left_is_started_again(moves: Path, here: list[Path]) -> None:
    read(moves)
    assert second_blender.CALLED.running is not None
    second_blender.CALLED.running._process.kill()
    other = moves.with_name("other.blend")
    other.write_bytes(moves.read_bytes() + b"\0")
    assert len(read(other).clips) == 1 and not here


@pytest.mark.parametrize("command", [["/no/such/programme"], [sys.executable, "-c", ""]])
def test_where_none_can_be_started_this_one_reads(moves: Path, here: list[Path], monkeypatch: pytest.MonkeyPatch,
                                                  command: list[str], caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(second_blender, "command", lambda: command)
    assert len(read(moves).clips) == 1 and here == [moves]
    read(moves)
    assert [record.levelname for record in caplog.records] == ["WARNING"] and "No second Blender" in caplog.text


def test_one_that_does_not_start_in_time_says_so(moves: Path, here: list[Path], monkeypatch: pytest.MonkeyPatch,
                                                  caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(second_blender, "command", lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(second_blender, "_START_S", 0.2)
    assert read(moves).clips and here == [moves]
    assert "has not started within 0 s" in caplog.text


def test_time_in_which_this_one_is_stopped_does_not_count(moves: Path, here: list[Path],
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are, as on a computer that sleeps: a file that is read when it wakes up is no damaged one."""
    now_s, asked = time.monotonic, list[float]()

    def clock() -> float:
        asked.append(now_s())
        return asked[-1] + 1000.0 * min(len(asked) // 3, 2)

    monkeypatch.setattr(second_blender, "time", SimpleNamespace(monotonic=clock))
    late = "import time; time.sleep(0.3)" + _HEAD + "time.sleep(60)"
    process = second_blender._Process([sys.executable, "-c", late], lambda: False)
    assert process.is_alive() and len(asked) > 1
    process.end()


def test_the_users_settings_are_not_loaded_and_scripts_do_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_blender, "bpy", SimpleNamespace(app=SimpleNamespace(binary_path="/opt/blender")))
    found = second_blender.command()
    assert found[0] == "/opt/blender" and {"--background", "--factory-startup", "--disable-autoexec"} <= set(found)
    monkeypatch.setattr(second_blender, "bpy", SimpleNamespace(app=SimpleNamespace(binary_path="")))
    monkeypatch.setattr(sys, "executable", "/opt/editor-with-bpy")
    with pytest.raises(OSError, match="part of another program"):
        second_blender.command()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such limit")
def test_memory_is_limited() -> None:
    code = second_blender._CODE.format(root=str(second_blender._ROOT), most_bytes=0).replace(
        "blend_server.serve(0)", "blend_server._limit_memory(2**30)\ntry:\n    bytearray(2**31)\n"
        "except MemoryError:\n    print('limited', flush=True)\nimport os\nos._exit(0)")
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert "limited" in done.stdout, done.stderr


def fbx(path: Path) -> Path:
    """Write the rig with its Action as FBX, as Blender's own exporter does."""
    operators: Any = bpy.ops
    operators.preferences.addon_enable(module="io_scene_fbx")
    operators.export_scene.fbx(filepath=str(path), object_types={"ARMATURE"}, bake_anim=True)
    return path


def shown(path: Path, keeps: bool = False) -> ClipFile:
    found = second_blender.read_shown(Source(path.read_bytes(), path), lambda: False, keeps=keeps)
    assert found is not None
    return found


def same(found: ClipFile, expected: ClipFile) -> None:
    assert [clip.name for clip in found.clips] == [clip.name for clip in expected.clips] != []
    for one, other in zip(found.clips, expected.clips, strict=True):
        np.testing.assert_array_equal(one.rotations.values, other.rotations.values)


def test_fbx_of_a_shelf_is_read_once_and_kept_on_the_disk(moves: Path, here: list[Path], tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setattr(second_blender, "cache_folder", lambda: kept)
    path = fbx(tmp_path / "moves.fbx")
    found = shown(path)
    same(found, clips.read_file_clips(Source(b"", path)))
    here.clear()
    assert len(list(kept.iterdir())) == 1
    second_blender.unregister()
    starts = stand_in(monkeypatch, "")
    elsewhere = path.with_name("again.fbx")
    elsewhere.write_bytes(path.read_bytes())
    same(shown(elsewhere), found)
    read_in_blender = clips.formats()["FBX"].read
    assert read_in_blender is not None
    same(read_in_blender(Source(path.read_bytes(), path)), found)
    assert not starts and not here
    next(kept.iterdir()).write_bytes(b"damaged")
    assert second_blender.known(Source(path.read_bytes(), path)) is None


def test_a_folder_that_cannot_be_written_keeps_nothing_and_reads_all_the_same(
        moves: Path, here: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(second_blender, "cache_folder", lambda: tmp_path / "file" / "clips")
    path = fbx(tmp_path / "moves.fbx")
    assert shown(path).clips and not here
    assert [record.levelname for record in caplog.records] == ["WARNING"] and "not kept for the next" in caplog.text


def test_reading_for_a_shelf_stops_at_once_and_the_process_ends(moves: Path, here: list[Path],
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "sys.stdin.readline(); say('{\"begun\": true}'); time.sleep(60)")
    asked = list[int]()

    def is_stopped() -> bool:
        asked.append(1)
        return len(asked) > 10

    started = time.monotonic()
    with pytest.raises(second_blender.StoppedError):
        second_blender.read_shown(Source(moves.read_bytes(), moves), is_stopped, keeps=True)
    assert time.monotonic() - started < 10.0
    assert second_blender.SHOWN.running is None
    assert not any(thread.name == "Takt: second Blender" for thread in threading.enumerate())


def test_a_second_blender_ends_with_who_has_started_it(moves: Path) -> None:
    process = second_blender._Process(second_blender.command(), lambda: False)
    try:
        assert process._process.stdin is not None
        process._process.stdin.close()
        assert process._process.wait(20.0) == 0
    finally:
        process.end()
