"""A project's folder may move: characters keep paths relative to their .blend, as Blender keeps its own."""

import shutil
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import libraries, properties
from takt.bridge.actions import write_motion
from takt.bridge.scores import linked_texts, score
from takt.tests.blender.dancing import play, rebuild, text_of

wm: Any = bpy.ops.wm


@pytest.fixture
def project(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with clips and a score below it."""
    folder = tmp_path_factory.mktemp("p1")
    shutil.copytree(library, folder / "lib")
    return folder


def rig_now() -> bpy.types.Object:
    found = bpy.data.objects["Rig"]
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = found
    return found


def save(path: Path, **options: Any) -> None:
    assert wm.save_as_mainfile(filepath=str(path), **options) == {"FINISHED"}


def path_of(rig: bpy.types.Object) -> Path:
    return Path(properties.score_path(properties.character(rig)))


def is_current(rig: bpy.types.Object) -> bool:
    action = properties.character(rig).action
    assert action is not None and bpy.context.scene is not None
    return bool(getattr(action, properties.MADE_FROM) == write_motion.digest(rig, bpy.context.scene))


@pytest.mark.parametrize("is_saved_first", [False, True])
@pytest.mark.parametrize("names_library", [False, True])
def test_a_project_that_was_moved_plays(rig: bpy.types.Object, project: Path, is_saved_first: bool,
                                        names_library: bool) -> None:
    if is_saved_first:
        save(project / "f.blend")
    play(project / "lib" / "dance.pha", library=str(project / "lib") if names_library else "")
    save(project / "f.blend")
    character = properties.character(rig)
    assert character.filepath == "//lib/dance.pha" and is_current(rig)
    assert character.library == ("//lib" if names_library else "")
    moved = shutil.move(project, project.with_name("p2"))
    wm.open_mainfile(filepath=str(Path(moved) / "f.blend"))
    rig = rig_now()
    assert path_of(rig) == Path(moved) / "lib" / "dance.pha" and is_current(rig)
    assert linked_texts.path_of(text_of(rig)) == path_of(rig)
    text_of(rig).from_string(text_of(rig).as_string().replace('duration="0.7"', 'duration="0.9"'))
    rebuild()


def test_paths_follow_a_file_that_is_saved_elsewhere(rig: bpy.types.Object, project: Path, tmp_path: Path) -> None:
    play(project / "lib" / "dance.pha")
    properties.character(rig).folders.add().path = str(project / "lib")
    save(project / "f.blend")
    (tmp_path / "deep").mkdir()
    save(tmp_path / "deep" / "copy.blend", copy=True)
    assert properties.character(rig).filepath == "//lib/dance.pha" and is_current(rig)
    save(tmp_path / "deep" / "f.blend")
    character = properties.character(rig)
    assert character.filepath.startswith("//..") and path_of(rig) == project / "lib" / "dance.pha" and is_current(rig)
    assert libraries.folders(character.folders) == (project / "lib",)
    wm.open_mainfile(filepath=str(tmp_path / "deep" / "copy.blend"))
    assert path_of(rig_now()) == project / "lib" / "dance.pha"


def test_absolute_paths_stay_where_preferences_want_that(rig: bpy.types.Object, project: Path) -> None:
    assert bpy.context.preferences is not None
    bpy.context.preferences.filepaths.use_relative_paths = False
    try:
        play(project / "lib" / "dance.pha")
        save(project / "f.blend")
        assert properties.character(rig).filepath == str(project / "lib" / "dance.pha")
    finally:
        bpy.context.preferences.filepaths.use_relative_paths = True


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("is_saved", [False, True])
def test_characters_of_another_file_know_where_their_score_lies(
        rig: bpy.types.Object, project: Path, tmp_path: Path, link: bool, is_saved: bool) -> None:
    play(project / "lib" / "dance.pha")
    save(project / "f.blend")
    wm.read_homefile(use_empty=True)
    if is_saved:
        save(tmp_path / "other.blend")
    libraries_of_blender: Any = bpy.data.libraries
    with libraries_of_blender.load(str(project / "f.blend"), link=link) as (_, wanted):
        wanted.objects = ["Rig"]
    assert path_of(bpy.data.objects["Rig"]) == project / "lib" / "dance.pha"
    if link:
        over = bpy.data.objects["Rig"].override_create()
        assert over is not None and path_of(over) == project / "lib" / "dance.pha"
    save(tmp_path / "third.blend")
    assert path_of(bpy.data.objects["Rig"]) == project / "lib" / "dance.pha"


@pytest.mark.parametrize("kept", ["/home/one/.config/blender/5.1/extensions/user_default/{name}/samples/library",
                                  r"C:\Users\One\AppData\Blender\4.5\extensions\blender_org\{name}\samples\library",
                                  "//../../.config/blender/5.1/extensions/{name}/samples/library/"])
def test_the_samples_of_another_blender_are_those_of_this_one(kept: str) -> None:
    name = libraries.PACKAGE.rpartition(".")[2]
    assert libraries.absolute(kept.format(name=name), None) == str(libraries.SAMPLES)
    assert Path(libraries.absolute(kept.format(name=name).rstrip("/") + "/dance.pha", None)).is_file()
    for other in (kept.format(name="other"), str(Path("/clips", name, "samples"))):
        assert Path(libraries.absolute(other, None)) != libraries.SAMPLES


def test_another_text_is_named_by_its_own_file(rig: bpy.types.Object, library: Path, tmp_path: Path) -> None:
    play(library / "dance.pha")
    character, bad = properties.character(rig), '<pha><procedure name="main"><call name="gone"/></procedure></pha>'
    first = character.text
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "solo.pha").write_text(bad, encoding="utf-8")
    character.text = linked_texts.open_text(tmp_path / "other" / "solo.pha")
    assert path_of(rig) == tmp_path / "other" / "solo.pha" and score.motion_of(rig) is None
    assert str(score.error_of(rig)).startswith(f"{path_of(rig)}:1:")
    play(library / "dance.pha")
    character.text = bpy.data.texts.new("a/b.pha")  # without a file, it plays the clips beside the earlier one
    character.text.from_string(bad)
    assert path_of(rig) == library / "a_b.pha" and score.motion_of(rig) is None
    assert str(score.error_of(rig)).startswith(f"{path_of(rig)}:1:")
    character.text.from_string(first.as_string())
    assert score.motion_of(rig) is not None
    character.text = first
    assert path_of(rig) == library / "dance.pha" and character.filepath == first.filepath


def test_a_sample_that_is_chosen_again_keeps_its_folder(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    character.text.filepath = ""  # as Add Sample does
    character.text = character.text
    assert path_of(rig) == library / "dance.pha"
