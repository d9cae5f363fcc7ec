"""Libraries in the preferences: kept in order, changed by buttons, searched after a score's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import libraries
from takt.tests.blender.dancing import play


@pytest.fixture
def kept(extension: None) -> Iterator[libraries.Libraries]:
    """The preferences, as if the checkout had been installed."""
    addon = bpy.context.preferences.addons.new()
    addon.module = libraries.PACKAGE
    found = libraries.kept()
    assert found is not None
    yield found
    bpy.context.preferences.addons.remove(addon)


def change(action: str) -> set[Any]:
    result: set[Any] = bpy.ops.takt.change_libraries(action=action)  # type: ignore[attr-defined]
    return result


def named(kept: libraries.Libraries, *paths: str) -> None:
    for path in paths:
        change("ADD")
        kept.libraries[-1].path = path


def test_without_an_installation_there_are_none() -> None:
    assert libraries.kept() is None
    assert libraries.folders() == ()
    with pytest.raises(RuntimeError, match="not installed as an extension"):
        change("ADD")


def test_the_order_is_changed_by_buttons(kept: libraries.Libraries) -> None:
    named(kept, "/a", "/b", "/c")
    assert kept.library_index == 2
    assert change("UP") == {"FINISHED"}
    assert [folder.path for folder in kept.libraries] == ["/a", "/c", "/b"]
    kept.library_index = 2
    assert change("DOWN") == {"CANCELLED"}
    assert change("REMOVE") == {"FINISHED"}
    assert (len(kept.libraries), kept.library_index) == (2, 1)
    change("REMOVE")
    change("REMOVE")
    assert change("REMOVE") == {"CANCELLED"}


def test_what_a_scores_own_library_lacks_is_found_in_them(rig: bpy.types.Object, library: Path, tmp_path: Path,
                                                         kept: libraries.Libraries) -> None:
    alone = tmp_path / "far" / "from" / "the" / "clips" / "and" / "deeper" / "dance.pha"
    alone.parent.mkdir(parents=True)
    alone.write_text((library / "dance.pha").read_text())
    with pytest.raises(RuntimeError, match=r"found no file for 'feet\.Steps'"):
        play(alone)
    named(kept, "", str(library))
    play(alone)
    assert rig.animation_data.action is not None
