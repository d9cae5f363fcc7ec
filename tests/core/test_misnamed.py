"""Files that are none of what their names say, and files that gzip has compressed."""

import gzip
import random
import time
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import FileError
from takt.core.formats import format_of
from takt.core.formats.format import Source
from takt.core.formats.gzipped import MAX_UNPACKED, unpacked
from takt.tests.core.x3d_files import dancer, in_classic, in_xml

OPEN = (".x3d", ".x3dv", ".wrl", ".wrz", ".x3dz", ".gltf", ".glb", ".vrm", ".vrma", ".dae", ".usd", ".usda", ".usdc",
        ".usdz", ".skeleton.xml")
XML, CLASSIC = in_xml(*dancer()), in_classic(*dancer())
ZIPPED = (".x3d", ".x3dv", ".wrl", ".wrz", ".x3dz")


def read(data: bytes, name: str) -> object:
    entry = format_of(Path(name))
    assert entry is not None and entry.read is not None
    return entry.read(Source(data, Path(name)))


def refusal(data: bytes, ending: str) -> str:
    with pytest.raises(FileError) as caught:
        read(data, f"made{ending}")
    return str(caught.value)


@pytest.mark.parametrize("ending", OPEN)
@pytest.mark.parametrize("data", [b"", b" \r\n\t", bytes(3000)])
def test_an_empty_file_is_called_empty(ending: str, data: bytes) -> None:
    said = refusal(data, ending)
    assert f"made{ending} (byte 0): this file is empty: it has {len(data)} bytes, and nothing in them; " in said
    assert "begins with '" in said


@pytest.mark.parametrize("ending", OPEN)
@pytest.mark.parametrize(("data", "kind", "found"), [
    (random.Random(4).randbytes(5000), "", "bytes d7 a5"),
    (b"\x89PNG\r\n\x1a\n" + bytes(99), " but PNG", "bytes 89 50"),
    (b"\n <!DOCTYPE html>\n<p>404", " but HTML", "'<!DOCTYPE html>'"), (b"\xef\xbb\xbfNot found", "", "'Not found'"),
    ("Nicht da".encode("utf-16"), "", "'Nicht da'"), (b"(404]" * 99, "", "'(404]"), (b"[1, 2]", "", "'[1, 2]'"),
])
def test_a_file_of_something_else_says_what_it_begins_with(ending: str, data: bytes, kind: str, found: str) -> None:
    said = refusal(data, ending)
    place = f"made{ending} (byte 0): " if found.startswith("bytes") else f"made{ending}:1: "
    assert said.startswith(f"{place}this is no ") and f"{kind}: it begins with " in said
    assert found.rstrip("'") in said and "' is wanted" in said


@pytest.mark.parametrize("ending", [each for each in OPEN if each not in ZIPPED])
def test_compressed_files_are_called_so_where_they_are_not_read(ending: str) -> None:
    assert " but gzip: it begins with bytes 1f 8b" in refusal(gzip.compress(b"<X3D/>"), ending)


def test_a_damaged_file_of_the_format_keeps_its_own_message() -> None:
    assert refusal(b"<X3D><Scene>", ".x3d").startswith("made.x3d:1: the file ends here, within <Scene>")
    assert refusal(b'{"asset": {"version": "2.0"}, ]', ".vrma").startswith(
        "made.vrma:1:31: the JSON of this file is damaged here: ")
    assert "found ']'" in refusal(b'{"asset": {"version": "2.0"}, ]', ".vrma")
    assert refusal(b'{"a": 1}', ".gltf") == ("made.gltf:1: this is no glTF: its JSON has no asset.version, where '2.0' "
                                             "is wanted")


def test_any_number_of_blanks_may_come_first() -> None:
    text = XML[XML.index(b"<X3D"):]  # a declaration must be the very first
    assert read(b" \n" * 5_000 + text, "made.x3d").clips  # type: ignore[attr-defined]
    assert "it begins with 'Not found'" in refusal(b"\n" * 5_000 + b"Not found", ".x3d")


@pytest.mark.parametrize("ending", ZIPPED)
def test_compressed_x3d_is_read_as_what_is_in_it(ending: str) -> None:
    text = XML if ending == ".x3d" else CLASSIC
    plain = ".x3d" if ending == ".x3d" else ".x3dv"
    found, wanted = read(gzip.compress(text), f"made{ending}"), read(text, f"made{plain}")
    for one, other in zip(found.clips, wanted.clips, strict=True):  # type: ignore[attr-defined]
        assert one.duration_s == other.duration_s and len(one.rotations)
        np.testing.assert_array_equal(one.rotations.values, other.rotations.values)


def test_compressed_x3d_may_be_xml_too() -> None:
    parts = gzip.compress(XML[:99]) + gzip.compress(XML[99:])
    assert read(parts, "made.x3dz").clips  # type: ignore[attr-defined]


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = gzip.compress(bytes(MAX_UNPACKED + 1), 9)
    assert len(bomb) < 100_000
    begin = time.process_time()
    with pytest.raises(FileError, match=f"unpacked, this file has more than {MAX_UNPACKED} bytes"):
        unpacked(bomb, None)
    with pytest.raises(FileError, match="more than 100 compressed parts"):
        unpacked(gzip.compress(b"") * 100_000, None)
    assert time.process_time() - begin < 5.0


def test_damage_in_what_is_compressed_is_said() -> None:
    data = gzip.compress(XML)
    assert refusal(data[:-20], ".x3dz") == (f"made.x3dz (byte {len(data) - 20}): the file ends here, within what gzip "
                                            "has compressed: it is cut off")
    broken = data[:40] + bytes((data[40] ^ 0xFF,)) + data[41:]
    assert "(byte 0): what gzip has compressed here is damaged" in refusal(broken, ".x3d")
    assert "what gzip has compressed here is damaged" in refusal(data[:-8] + bytes(8), ".x3d")
