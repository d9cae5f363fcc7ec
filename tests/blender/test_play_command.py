"""blender --command takt play: a score, its values and its seed, without a window."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import graphics, properties, versions
from takt.operators import command

SCORE = """<pha version="2" tickLength="1"><load src="feet.Steps"/><procedure name="main">
<param name="turns" default="2"/><param name="fast" default="no"/>
<loop times="turns"><call name="left" duration="1"/></loop>
<pick><call name="left" duration="1"/><call name="right" duration="2"/></pick>
</procedure></pha>"""


@pytest.fixture
def paths(rig: bpy.types.Object, library: Path) -> tuple[Path, Path, Path]:
    """A .blend with a character, a score, and what is written."""
    (library / "turns.pha").write_text(SCORE, encoding="utf-8")
    hero = library / "hero.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(hero), copy=True)
    return hero, library / "turns.pha", library / "out.blend"


def played(out: Path) -> tuple[float, Any]:
    bpy.ops.wm.open_mainfile(filepath=str(out))
    character = properties.character(bpy.data.objects["Rig"])
    assert character.action is not None
    return character.action.frame_range[1], character


@pytest.mark.parametrize(("turns", "seed"), [(2, 0), (5, 3)])
def test_a_score_is_played_with_values_and_a_seed(paths: tuple[Path, Path, Path], turns: int, seed: int) -> None:
    hero, score, out = map(str, paths)
    assert command.run(["play", hero, "--score", score, "--out", out, "--set", f"turns={turns}", "--set", "fast=yes",
                        "--seed", str(seed)]) == 0
    end, character = played(paths[2])
    assert end - 1 - 24 * turns in (24, 48) and character.seed == seed and character.text.name == "turns.pha"


def test_what_it_plays_already_is_played_again(paths: tuple[Path, Path, Path]) -> None:
    hero, score, out = map(str, paths)
    again = str(paths[2].with_name("again.blend"))
    assert command.run(["play", hero, "--score", score, "--out", out]) == 0
    assert command.run(["play", out, "--out", again, "--set", "turns=7"]) == 0
    assert played(Path(again))[0] > 7 * 24


PARTS = """<pha version="2" tickLength="1"><load src="feet.Steps"/>
<procedure name="main"><call name="left" duration="3"/></procedure>
<procedure name="chorus"><param name="times" default="2"/>
<loop times="times"><call name="left" duration="1"/></loop></procedure></pha>"""


def test_a_procedure_of_the_present_score_is_played_and_then_kept(
        paths: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    hero, score, out = map(str, paths)
    paths[1].write_text(PARTS, encoding="utf-8")
    assert command.run(["play", hero, "--score", score, "--out", out]) == 0
    assert played(paths[2])[0] == 1 + 3 * 24
    for number, (more, seconds) in enumerate(((["--procedure", "chorus", "--set", "times=5"], 5), ([], 5),
                                              (["--procedure", "main"], 3))):
        before, out = out, str(paths[2].with_name(f"{number}.blend"))
        assert command.run(["play", before, "--out", out, *more]) == 0
        assert played(Path(out))[0] == 1 + seconds * 24
    assert command.run(["play", before, "--out", str(paths[2].with_name("gone.blend")), "--procedure", "finale"]) == 2
    assert "found no procedure 'finale'" in capsys.readouterr().out
    assert not paths[2].with_name("gone.blend").exists()


def test_a_film_of_a_procedure_that_the_present_score_has_not_ends_with_2(
        paths: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    hero, score, out = map(str, paths)
    monkeypatch.setattr(graphics, "missing", lambda: "")
    assert command.run(["play", hero, "--score", score, "--out", out]) == 0
    assert command.run(["film", out, "--procedure", "finale", "--out", out.replace(".blend", ".png")]) == 2
    assert "found no procedure 'finale'" in capsys.readouterr().out


@pytest.mark.parametrize(("more", "message"), [
    (["--set", "turns"], "--set turns: expected NAME=VALUE"),
    (["--set", "wide=1"], "the procedure has no such parameter"),
    (["--set", "turns=yes"], "parameter turns: expected a number"),
    (["--score", "gone.pha"], "there is no file gone.pha"),
    (["--procedure", "finale"], "finale"), (["--armature", "Other"], "there is no armature 'Other'")])
def test_what_is_wrong_ends_with_2_and_writes_nothing(paths: tuple[Path, Path, Path], more: list[str], message: str,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    hero, score, out = map(str, paths)
    arguments = ["play", hero, "--out", out, *(["--score", score] if "--score" not in more else []), *more]
    assert command.run(arguments) == 2
    assert message in capsys.readouterr().out and not paths[2].exists()


@pytest.mark.parametrize(("platform", "said", "is_missing"), [
    ("linux", [], True), ("linux", ["--gpu-backend", "opengl"], True), ("linux", ["--gpu-backend", "vulkan"], False),
    ("win32", [], False), ("darwin", [], False)])
def test_a_film_without_the_libraries_of_opengl_ends_with_2_before_blender_aborts(
        paths: tuple[Path, Path, Path], platform: str, said: list[str], is_missing: bool,
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr("ctypes.CDLL", load)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("sys.argv", ["blender", *said, "--command", "takt"])
    assert bool(graphics.missing()) == is_missing
    if not is_missing:
        return
    hero, score, out = map(str, paths)
    bpy.data.objects["Rig"].name = "Untouched"
    assert command.run(["film", hero, "--score", score, "--out", out.replace(".blend", ".mp4")]) == 2
    words = capsys.readouterr().out
    assert "error: films are drawn" in words and "libEGL.so.1: cannot open" in words and "libegl1" in words
    assert "Untouched" in bpy.data.objects and not Path(out.replace(".blend", ".mp4")).exists()  # nothing was opened
    assert versions.start_gpu() == graphics.missing()


def test_a_character_without_a_score_needs_one(paths: tuple[Path, Path, Path],
                                               capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["play", str(paths[0]), "--out", str(paths[2])]) == 2
    assert "'Rig' has no score; name one by --score" in capsys.readouterr().out


def test_procedures_are_exported_and_the_file_stays_as_it_was(paths: tuple[Path, Path, Path],
                                                              capsys: pytest.CaptureFixture[str]) -> None:
    hero, score, out = paths
    before, glb = hero.read_bytes(), out.with_suffix(".glb")
    assert command.run(["export", str(hero), "--score", str(score), "--out", str(glb), "--set", "turns=3", "--in-place"
                        ]) == 0
    assert "Wrote the animation main" in capsys.readouterr().out and hero.read_bytes() == before
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert bpy.ops.import_scene.gltf(filepath=str(glb)) == {"FINISHED"}
    [action] = bpy.data.actions
    assert action.name == "main" and action.frame_range[1] - 24 * 3 in (24, 48)


@pytest.mark.parametrize(("more", "message"), [
    (["--procedure", "finale"], "finale"), (["--out", "hero.obj"], "has to end in"),
    (["--cast", "seat"], "--cast seat: expected ROLE=OBJECT"),
    (["--cast", "seat=Chair", "--cast", "seat=Stool"], "the role has an object already, 'Chair'"),
    (["--cast", "seat=Chair"], "the score has no such role")])
def test_an_export_that_cannot_be_ends_with_2(paths: tuple[Path, Path, Path], more: list[str], message: str,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    hero, score, out = paths
    glb = out.with_suffix(".glb")
    assert command.run(["export", str(hero), "--score", str(score), "--out", str(glb), *more]) == 2
    assert message in capsys.readouterr().out and not glb.exists()
