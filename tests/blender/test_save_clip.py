"""Save as Clip: what is saved plays again as it was, on the same character, and its file is called at once."""

import errno
import os
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import performing, score
from takt.bridge.shelf import shelf as bridge_shelf
from takt.core.library.clip_files import read_clip_file
from takt.tests.blender.dancing import evaluated, play, rebuild, text_of
from takt.tests.blender.score_editors import choose, editing, looked_into
from takt.tests.blender.test_shelf import searched

operators: Any = bpy.ops
SAME_M = 2e-5


def call_alone(rig: bpy.types.Object, src: str, ticks: float) -> None:
    text_of(rig).from_string(f'<pha tickLength="1.0"><load src="{src}"/><procedure name="main"><call name="{src}" '
                             f'duration="{ticks}"/></procedure></pha>')
    rebuild()


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_frames_that_are_saved_play_again(rig: bpy.types.Object, library: Path, unit: float) -> None:
    rig.scale = (unit,) * 3
    play(library / "dance.pha")
    scene = bpy.context.scene
    assert scene is not None
    scene.frame_set(7)
    fps = scene.render.fps / scene.render.fps_base
    with editing():
        before = [evaluated(rig, frame) for frame in range(10, 35)]
        scene.frame_set(7)
        assert operators.takt.save_clip(source="FRAMES", name="mine", folder=str(library), first=10,
                                        last=34) == {"FINISHED"}
        assert scene.frame_current == 7
        chips = {each.src: each for each in searched(rig)}
        assert chips["mine"].duration_s == pytest.approx(24.0 / fps)
        call_alone(rig, "mine", 24.0 / fps)
        assert score.error_of(rig) is None
        start = properties.character(rig).frame_start
        after = [evaluated(rig, start + frame) for frame in range(25)]
    np.testing.assert_allclose(after, before, atol=SAME_M * 10.0)


def test_a_pose_is_saved_with_what_moves_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    scene = bpy.context.scene
    assert scene is not None
    with editing():
        wanted = evaluated(rig, 21)
        assert operators.takt.save_clip(source="POSE", name="stance", folder=str(library)) == {"FINISHED"}
        call_alone(rig, "stance", 1.0)
        start = properties.character(rig).frame_start
        for frame in (start, start + 20):
            np.testing.assert_allclose(evaluated(rig, frame), wanted, atol=SAME_M * 10.0)


def test_selected_blocks_are_saved(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        with pytest.raises(RuntimeError, match="no blocks are selected"):
            operators.takt.save_clip(source="BLOCKS", name="last", folder=str(library))
        layout, motion = looked_into(), score.motion_of(rig)
        assert motion is not None
        choose(layout, "right")
        box = layout.boxes.titles.index("right")
        begin, end = layout.seconds(np.array((layout.boxes.begin[box], layout.boxes.end[box]))).tolist()
        assert operators.takt.save_clip(source="BLOCKS", name="last", folder=str(library)) == {"FINISHED"}
    (clip,) = read_clip_file(library / "last.skeleton.xml").played
    assert clip.name == "last" and clip.duration_s == pytest.approx(end - begin, abs=1e-6)
    turns = clip.sample(np.zeros(1)).rotations[0], motion.sample(np.array((begin,))).rotations[0]
    np.testing.assert_allclose(np.abs((turns[0] * turns[1]).sum(axis=-1)), 1.0, atol=1e-5)


def test_what_cannot_be_saved_is_refused_and_leaves_no_file(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        assert operators.takt.save_clip(source="POSE", name="a", folder=str(library)) == {"FINISHED"}
        was = (library / "a.skeleton.xml").read_bytes()
        files = sorted(path.name for path in library.rglob("*"))
        for given, reason in (({"name": "a"}, "is there already"), ({"name": "v1.2"}, "dot"),
                              ({"name": "x/y"}, "called 'x/y': leave out '/', and choose its folder in Folder"),
                              ({"name": "../x"}, "dot for a folder"), ({"folder": str(library / "gone")}, "no folder"),
                              ({"name": "n" * 300}, "its name is too long, 313 bytes where 255 are taken; choose a sh"),
                              ({"source": "FRAMES", "name": "b", "first": 5, "last": 5}, "must be later")):
            with pytest.raises(RuntimeError, match=reason):
                operators.takt.save_clip(**{"source": "POSE", "name": "n", "folder": str(library), **given})
        assert sorted(path.name for path in library.rglob("*")) == files
        assert (library / "a.skeleton.xml").read_bytes() == was
        moment = performing.moment()
        bpy.context.scene.frame_set(30)
        assert operators.takt.save_clip(source="POSE", name="a", folder=str(library), overwrite=True) == {"FINISHED"}
        assert (library / "a.skeleton.xml").read_bytes() != was and performing.moment() is not moment
        assert bridge_shelf.playables(rig)


def test_the_default_name_keeps_letters_of_all_languages(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    rig.name = "Räuber 盗 v1.2"
    with editing():
        assert operators.takt.save_clip(source="POSE", folder=str(library)) == {"FINISHED"}
    assert (library / "Räuber_盗_v1_2_clip.skeleton.xml").is_file()


@pytest.mark.parametrize(("name", "reason"), [
    ("CON", "CON is the name of a device, which Windows refuses"), ("com1 ", "com1 is the name of a device"),
    ("a?b", "its name has '.' in it"), ("a:b", "leave out ':'"), ("a\\b", "leave out ."),
    *((name, "a score would take a dot for a folder") for name in ("...", "walk.", ".walk"))])
def test_a_name_that_a_system_refuses_is_refused(rig: bpy.types.Object, library: Path, name: str, reason: str) -> None:
    play(library / "dance.pha")
    files = sorted(path.name for path in library.rglob("*"))
    with editing(), pytest.raises(RuntimeError, match=reason):
        operators.takt.save_clip(source="POSE", name=name, folder=str(library))
    assert sorted(path.name for path in library.rglob("*")) == files


def test_what_the_score_could_not_call_is_not_written(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another file has its name; and where the disk is full no folder is added."""
    play(library / "dance.pha")
    own = tmp_path_factory.mktemp("elsewhere")
    (library / "taken.bvh").write_text("")
    with editing():
        with pytest.raises(RuntimeError, match="the same name as a file in the score's library; rename one"):
            operators.takt.save_clip(source="POSE", name="taken", folder=str(own))

        def fail(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="No space left"):
            patch.setattr(os, "fsync", fail)
            operators.takt.save_clip(source="POSE", name="full", folder=str(own))
    assert list(own.iterdir()) == [] and len(properties.character(rig).folders) == 0


def test_a_clip_that_another_blender_saved_meanwhile_is_kept(rig: bpy.types.Object, library: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    path, own = library / "both.skeleton.xml", os.fsync

    def other(descriptor: int) -> None:
        path.write_bytes(b"the other's")
        own(descriptor)

    with editing(), monkeypatch.context() as patch, pytest.raises(RuntimeError, match="is there already"):
        patch.setattr(os, "fsync", other)
        operators.takt.save_clip(source="POSE", name="both", folder=str(library))
    assert path.read_bytes() == b"the other's"


def test_a_folder_outside_the_library_is_searched_from_then_on(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    play(library / "dance.pha")
    own = tmp_path_factory.mktemp("elsewhere")
    with editing():
        assert operators.takt.save_clip(source="POSE", name="mine", folder=str(own)) == {"FINISHED"}
        assert [Path(folder.path) for folder in properties.character(rig).folders] == [own]
        assert "mine" in {each.src for each in searched(rig)}


def test_the_default_name_is_free(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    rig.name = "Hans"
    (library / "hans_CLIP_3.bvh").write_text("", encoding="utf-8")
    with editing():
        for _ in range(3):
            assert operators.takt.save_clip(source="POSE", folder=str(library)) == {"FINISHED"}
    assert {path.name for path in library.glob("Hans*")} == {
        f"Hans_clip{number}.skeleton.xml" for number in ("", "_2", "_4")}
