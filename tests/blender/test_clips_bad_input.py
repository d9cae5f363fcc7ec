"""Clips of one's own where something is wrong: folders that cannot be written, newer tags, names twice, overrides."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.shelf import shelf as bridge_shelf
from takt.core.classes import tags_file
from takt.core.score_editor.shelf import found
from takt.tests.blender.dancing import play, text_of
from takt.tests.blender.score_editors import editing
from takt.tests.blender.test_shelf import searched
from takt.tests.rigged import linked

operators: Any = bpy.ops
_NOBODY = 65534


@pytest.fixture
def read_only(library: Path) -> Iterator[Path]:
    """A folder with clips in which nothing can be written, by whoever runs the tests."""
    if not hasattr(os, "seteuid"):
        pytest.skip("folders have no modes here")
    top = Path(tempfile.mkdtemp())
    folder, was = top / "clips", os.geteuid()
    shutil.copytree(library / "feet", folder)
    folder.chmod(0o555)
    top.chmod(0o755)
    if was == 0:  # whom no mode stops
        os.seteuid(_NOBODY)
    yield folder
    os.seteuid(was)
    folder.chmod(0o755)
    shutil.rmtree(top)


def test_a_folder_that_cannot_be_written_is_said_and_its_clips_play(rig: bpy.types.Object, read_only: Path) -> None:
    assert operators.takt.new_score() == {"FINISHED"}
    with editing():
        assert operators.takt.add_clip_folder(directory=str(read_only)) == {"FINISHED"}
        assert {each.full_name for each in searched(rig)} >= {"Steps.left", "Steps.right"}
        assert operators.takt.score_add(what="Steps|left") == {"FINISHED"}
        for give in (operators.takt.favourite_clip, partial(operators.takt.tag_clip, tags="slow")):
            with pytest.raises(RuntimeError, match=r"(?s)takt\.tags.*Permission denied.*choose"):
                give(clip="Steps.left")
        with pytest.raises(RuntimeError, match=r"(?s)mine.*Permission denied.*choose"):
            operators.takt.save_clip(source="POSE", name="mine", folder=str(read_only))
        assert not found(bridge_shelf.playables(rig), tags_file.FAVOURITE)
        assert [each.name for each in read_only.iterdir()] == ["Steps.skeleton.xml"]


def test_tags_of_a_newer_version_are_not_written_over(rig: bpy.types.Object, library: Path) -> None:
    newer = b"# Takt tags 2\n[feet.Steps.left]\ncolour = red\n"
    (library / "takt.tags").write_bytes(newer)
    play(library / "dance.pha")
    with editing():
        assert {each.full_name for each in searched(rig)} >= {"feet.Steps.left"}
        assert "newer" in bridge_shelf.trouble(rig)
        with pytest.raises(RuntimeError, match="newer"):
            operators.takt.favourite_clip(clip="feet.Steps.left")
    assert (library / "takt.tags").read_bytes() == newer


def test_of_two_files_of_one_name_the_first_is_shown_and_a_call_names_both(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("elsewhere") / "other"
    shutil.copytree(library / "feet", other / "feet")
    play(library / "dance.pha")
    with editing():
        assert operators.takt.add_clip_folder(directory=str(other)) == {"FINISHED"}
        chips = [each for each in searched(rig) if each.full_name == "feet.Steps.left"]
        assert len(chips) == 1 and bridge_shelf.path_of(rig, chips[0]) == library / "feet" / "Steps.skeleton.xml"
        assert operators.takt.favourite_clip(clip="feet.Steps.left") == {"FINISHED"}
    assert (library / "takt.tags").is_file() and not (other / "takt.tags").exists()


def test_an_override_has_folders_tags_and_clips_of_its_own(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("elsewhere") / "other"
    shutil.copytree(library / "feet", other)
    there = linked(rig, library)
    override = there.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = override
    play(library / "dance.pha")
    with editing():
        assert operators.takt.add_clip_folder(directory=str(other)) == {"FINISHED"}
        assert [Path(each.path) for each in properties.character(override).folders] == [other]
        assert {each.full_name for each in searched(override)} >= {"Steps.left", "feet.Steps.left"}
        assert operators.takt.score_add(what="Steps|left") == {"FINISHED"}
        assert 'src="Steps"' in text_of(override).as_string()
        assert operators.takt.favourite_clip(clip="Steps.left") == {"FINISHED"}
        assert tags_file.read_lines(other)[0] == {"Steps.left": (tags_file.FAVOURITE,)}
        assert operators.takt.save_clip(source="POSE", name="mine", folder=str(other)) == {"FINISHED"}
        assert "mine" in {each.src for each in searched(override)}
