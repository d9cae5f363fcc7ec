"""blender --command takt film: a film or a picture of what a character plays, without a window."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.operators import command
from takt.samples.clip_files import LIBRARY


@pytest.fixture
def rig(tmp_path: Path) -> str:
    """A .blend with the sample character."""
    ops: Any = bpy.ops
    assert ops.takt.add_sample() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"), copy=True)
    return str(tmp_path / "hero.blend")


def test_frames_of_a_score_are_filmed(rig: str, tmp_path: Path) -> None:
    out = tmp_path / "film.mp4"
    assert command.run(["film", rig, "--score", str(LIBRARY / "walk.pha"), "--out", str(out), "--frames", "3-7",
                        "--size", "5"]) == 0
    clip: Any = bpy.data.movieclips.load(str(out))
    assert clip.frame_duration == 5 and tuple(clip.size) == (96, 54)


def test_one_frame_is_a_picture(rig: str, tmp_path: Path) -> None:
    pictures = []
    for frame in ("2", "30"):
        out = tmp_path / f"{frame}.png"
        assert command.run(["film", rig, "--score", str(LIBRARY / "walk.pha"), "--out", str(out), "--frames", frame,
                            "--size", "10"]) == 0
        pictures.append(out.read_bytes())
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize(("more", "message"), [
    (["--frames", "7-3"], "expected FIRST-LAST"), (["--frames", "a"], "expected FIRST-LAST"),
    (["--size", "0"], "--size 0: expected a percentage from 1 to 400"), (["--size", "401"], "--size 401: expected"),
    (["--out", "film.avi"], "neither a film nor a picture"), (["--out", "none/film.mp4"], "there is no folder"),
    (["--through", "camera"], "The scene has no camera"), (["--set", "turns=1"], "no such parameter")])
def test_what_is_wrong_ends_with_2(rig: str, tmp_path: Path, more: list[str], message: str, capsys: Any) -> None:
    out = ["--out", str(tmp_path / "film.mp4")] if "--out" not in more else []
    assert command.run(["film", rig, "--score", str(LIBRARY / "walk.pha"), *out, *more]) == 2
    assert message in capsys.readouterr().out and not (tmp_path / "film.mp4").exists()


def test_a_character_without_a_mesh_is_not_filmed(tmp_path: Path, capsys: Any) -> None:
    ops: Any = bpy.ops
    ops.takt.add_sample()
    for ob in [ob for ob in bpy.data.objects if ob.type == "MESH"]:
        bpy.data.objects.remove(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "bare.blend"), copy=True)
    assert command.run(["film", str(tmp_path / "bare.blend"), "--score", str(LIBRARY / "walk.pha"), "--out",
                        str(tmp_path / "film.mp4")]) == 2
    assert "no mesh follows" in capsys.readouterr().out
