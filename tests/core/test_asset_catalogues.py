"""The list of asset catalogues: what is there stays byte by byte, and what is missing is added once."""

from pathlib import Path

import pytest

from takt.core.errors import FileError
from takt.core.library import asset_catalogues
from takt.core.library.asset_catalogues import NAME, add, identifier, read


def test_catalogues_are_added_once_behind_those_of_others(tmp_path: Path) -> None:
    path = tmp_path / NAME
    others = b"# mine\r\n\r\nVERSION 1\r\n\r\n5e8f2a3c-0000-0000-0000-000000000001:Clips/feet:my feet"
    path.write_bytes(others)
    add(tmp_path, ["Clips/feet", "Clips/hands"])
    added = path.read_bytes()
    assert added.startswith(others) and added.count(b"Clips/feet") == 1
    assert read(tmp_path) == {"Clips/feet": "5e8f2a3c-0000-0000-0000-000000000001",
                              "Clips/hands": identifier("Clips/hands")}
    add(tmp_path, ["Clips/hands"])
    assert path.read_bytes() == added


def test_a_new_file_has_its_version(tmp_path: Path) -> None:
    add(tmp_path, ["Clips"])
    assert "VERSION 1" in (tmp_path / NAME).read_text(encoding="utf-8") and [*read(tmp_path)] == ["Clips"]


@pytest.mark.parametrize("data", [b"VERSION 2\n", b"\xff\xfe"])
def test_a_file_of_another_kind_is_refused_and_left(tmp_path: Path, data: bytes) -> None:
    (tmp_path / NAME).write_bytes(data)
    with pytest.raises(FileError, match=NAME):
        add(tmp_path, ["Clips"])
    assert (tmp_path / NAME).read_bytes() == data


def test_names_of_folders_do_not_break_the_line() -> None:
    assert asset_catalogues.catalogue_of("a:b.c/d.walk", "Clips") == "Clips/a-b/c-d"
