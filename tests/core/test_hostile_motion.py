"""Files of motion made to hurt: refused with a limit and advice, or read, soon."""

import sys
from pathlib import Path

import pytest

from takt.core.errors import FileError
from takt.core.formats import gltf_data, meshopt
from takt.core.library import clip_files, files
from takt.tests.core import hostile_motion as made
from takt.tests.core.hostile_runs import check_said, said

EXPECTED = {
    "files in many buffers": "up to here the buffers have 377487360 bytes; at most 268435456 are read",
    "more groups than are read": "it has more than 3000000 groups of 16 differences; no more are read",
    "empty lists": "its JSON has 20000008 brackets, commas and colons; at most 5000000 are read",
    "many skins of many joints": r"skins\[40\]: up to here the skins have more than 200000 joints",
    "many skins with matrices": r"skins\[40\]: up to here",
    "skins that span all nodes": r"skins\[10\]: up to here",
    "many channels": r"animations\[100\]: up to here the animations have more than 200000 channels",
    "many animations of many bodies": "100 animations that move 100 bodies, 10000 clips; at most 5000 are read",
    "bodies below many moving nodes": "its bodies have more than 200000 joints, with the nodes that carry them",
    "a mesh of many parts": "",
    "many frames": "", "more frames than announced": "", "long numbers": "", "many joints in joints": "",
    "more frames than are read": "3000000 frames; at most 2000000 are read: cut the motion into several files",
    "many joints": "more than 10000 joints; no more are read",
    "offsets": "more than 300000 lines and braces before MOTION; no more are read",
    "blanks behind the frame time": "the lines 'Frames: COUNT' and 'Frame Time: SECONDS' are wanted",
}
"""What is said of some of the files; "": that they are read. Of the others only that all is over soon."""


FAMILIES = {".gltf, multiplied": made.gltfs, ".bvh, multiplied": made.bvhs}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("family", FAMILIES)
def test_what_multiplies_is_refused_or_read_soon(family: str, tmp_path: Path) -> None:
    check_said(said(family, list(FAMILIES[family]()), tmp_path), EXPECTED, 1_000)


@pytest.mark.slow
def test_each_expected_saying_is_of_a_file() -> None:
    assert EXPECTED.keys() <= made.gltfs().keys() | made.bvhs().keys()


def test_a_file_that_many_buffers_name_is_read_once() -> None:
    asked: list[str] = []

    def named(uri: str) -> bytes:
        asked.append(uri)
        return bytes(4096)

    with pytest.raises(FileError, match="no animation"):  # nothing moves
        made.read_gltf(made.many_buffers("z.bin", 20), named)
    assert asked == ["z.bin"]


def test_the_files_that_one_names_have_a_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = made.many_buffers("z.bin", 9).replace(b"z.bin", b"a.bin", 1)
    (tmp_path / "made.gltf").write_bytes(text)
    for name in ("a.bin", "z.bin"):
        (tmp_path / name).write_bytes(bytes(5000))
    monkeypatch.setattr(files, "MAX_BYTES", 9999)
    with pytest.raises(FileError, match=r"z\.bin: has 5000 bytes; at most 4999 are read, as others that are"):
        clip_files.read_clip_file(tmp_path / "made.gltf")


def test_groups_and_json_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = made.one_bit_groups(4096)
    assert meshopt.decompressed(data, 4096, made.STRIDE) == bytes(4096 * made.STRIDE)
    monkeypatch.setattr(meshopt, "MAX_GROUPS", 4095)
    with pytest.raises(ValueError, match="more than 4095 groups"):
        meshopt.decompressed(data, 4096, made.STRIDE)
    monkeypatch.setattr(gltf_data, "MAX_JSON", 3)
    with pytest.raises(FileError, match="its JSON has 4 brackets, commas and colons; at most 3 are read"):
        made.read_gltf(made.document())
