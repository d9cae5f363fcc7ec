"""The bounded folder of what took long to make: it keeps, forgets the oldest, and never raises."""

import os
from pathlib import Path

import pytest

from takt.core.library.disk_cache import DiskCache


def test_what_is_kept_is_found_and_the_oldest_goes(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "kept", 25)
    assert cache.find("a") is None
    for number, name in enumerate("ab"):
        cache.keep(name, name.encode() * 10)
        os.utime(tmp_path / "kept" / f"{name}.kept", (number, number))
    assert cache.find("a") == b"a" * 10  # from now on b is what was asked for longest ago
    cache.keep("c", b"c" * 10)
    assert [cache.find(name) for name in "abc"] == [b"a" * 10, None, b"c" * 10]
    cache.keep("large", b"l" * 26)
    assert cache.find("large") is None and cache.find("a") is not None
    cache.keep("a", b"new")
    assert cache.find("a") == b"new"
    assert {path.suffix for path in (tmp_path / "kept").iterdir()} == {".kept"}


def test_without_a_folder_nothing_is_kept_and_nothing_raised(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    for cache in (DiskCache(None, 100), DiskCache(tmp_path / "file" / "within", 100)):
        cache.keep("a", b"a")
        cache.keep("b", b"b")
        assert cache.find("a") is None
    assert len(caplog.records) == 1 and "not kept" in caplog.text
