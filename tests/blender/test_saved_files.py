"""Files that each version of the saved settings has really saved open, keep what was chosen, and play."""

import shutil
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.tests.blender.dancing import rebuild
from takt.tests.blender.saved.make import CHOSEN

SAVED = Path(__file__).with_name("saved")
LIBRARY = Path(__file__).parents[2] / "samples" / "library"
VERSIONS = range(properties.VERSION + 1)
SECONDS = 11.2


def opened(version: int, folder: Path) -> Any:
    path = shutil.copy2(SAVED / f"version_{version}.blend", folder)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["Rig"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_each_version_opens_and_plays(version: int, tmp_path: Path) -> None:
    rig = opened(version, tmp_path)
    character = properties.character(rig)
    assert character.version == properties.VERSION
    assert {name: getattr(character, name) for name in CHOSEN} == CHOSEN
    assert character.keep_contacts == (version >= 2) and len(character.joints) == len(rig.data.bones)
    character.filepath = str(LIBRARY / "walk.pha")
    bpy.context.view_layer.objects.active = rig
    rebuild()
    first, last = rig.animation_data.action.frame_range
    assert last - first == pytest.approx(SECONDS * bpy.context.scene.render.fps, abs=60.0)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    again = properties.character(bpy.data.objects["Rig"])
    assert {name: getattr(again, name) for name in CHOSEN} == CHOSEN


def test_the_versions_are_those_that_were_saved() -> None:
    """Where this fails, a version is new: save its file with saved/make.py."""
    assert sorted(path.name for path in SAVED.glob("*.blend")) == [f"version_{version}.blend" for version in VERSIONS]
