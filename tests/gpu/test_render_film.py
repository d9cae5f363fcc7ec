"""The film operator: a file that Blender reads back, and a scene left as it was."""

import wave
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from takt.bridge.scores.sound import read_samples
from takt.core.errors import FileError
from takt.core.music.onsets import RATE_HZ
from takt.operators.render_film import frames_of_score, rendered, seen
from takt.preview.framing import framing
from takt.tests.characters import Object, bend, context, own_character

render_film: Any = bpy.ops.takt.render_film  # type: ignore[attr-defined]  # registered by the extension
FRAMES = 5
WIDTH, HEIGHT = 64, 48


@dataclass
class Lasts:
    """As much of a motion as tells how long it is."""

    duration_s: float


@pytest.fixture
def scene() -> Object:
    rig, _ = own_character()
    bend(rig)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    context.scene.collection.objects.link(camera)
    eye: Any = Vector((2.5, -7.0, 3.5))
    camera.matrix_world = Matrix.LocRotScale(eye, (Vector((0.0, 0.0, 2.0)) - eye).to_track_quat("-Z", "Y"), None)
    context.scene.camera = camera
    context.scene.render.resolution_x, context.scene.render.resolution_y = WIDTH, HEIGHT
    context.scene.frame_start, context.scene.frame_end = 1, FRAMES
    context.scene.frame_set(3)
    context.view_layer.objects.active = rig
    context.view_layer.update()
    return context.scene


def left_in_the_file(scene: Object) -> tuple[object, ...]:
    render = scene.render
    return len(bpy.data.scenes), len(bpy.data.images), render.image_settings.file_format, render.filepath


def test_a_film_has_every_frame(scene: Object, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    before = left_in_the_file(scene)
    assert render_film(filepath=str(path), through="CAMERA") == {"FINISHED"}
    assert left_in_the_file(scene) == before
    assert scene.frame_current == 3
    clip: Any = bpy.data.movieclips.load(str(path))
    assert tuple(clip.size) == (WIDTH, HEIGHT) and clip.frame_duration == FRAMES


def test_a_film_sounds_as_its_scene_does(scene: Object, tmp_path: Path) -> None:
    silent, path, rate_hz, frames = tmp_path / "silent.mp4", tmp_path / "film.mp4", 8000, 12
    scene.frame_end = frames
    assert render_film(filepath=str(silent), through="CAMERA", length="SCENE") == {"FINISHED"}
    with pytest.raises(FileError):
        read_samples(silent)
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setparams((1, 2, rate_hz, 0, "NONE", ""))
        file.writeframes((16000.0 * np.sin(np.arange(rate_hz))).astype("<i2").tobytes())
    begin = 7
    scene.sequence_editor_create().strips.new_sound("tone", str(tmp_path / "tone.wav"), channel=1, frame_start=begin)
    before = left_in_the_file(scene), len(bpy.data.sounds), scene.frame_start, scene.frame_end
    assert render_film(filepath=str(path), through="CAMERA", length="SCENE") == {"FINISHED"}
    assert (left_in_the_file(scene), len(bpy.data.sounds), scene.frame_start, scene.frame_end) == before
    loud = np.abs(read_samples(path)) > 0.1
    first_s = np.flatnonzero(loud)[0] / RATE_HZ
    assert first_s == pytest.approx((begin - 1) / scene.render.fps, abs=0.05)
    assert len(loud) / RATE_HZ == pytest.approx(frames / scene.render.fps, abs=0.1)


def test_the_whole_score_needs_no_frame_range(scene: Object, tmp_path: Path) -> None:
    plays = {"long": Lasts(1.0), "short": Lasts(0.5)}
    armatures = [SimpleNamespace(takt=SimpleNamespace(frame_start=start), name=name)
                 for name, start in (("long", 5), ("short", 40))]
    scene.render.fps = 30
    found = frames_of_score(scene, armatures, lambda armature: plays[armature.name])  # type: ignore[arg-type, return-value]
    assert found == range(5, 56)
    assert frames_of_score(scene, armatures, lambda _: None) == range(1, FRAMES + 1)  # type: ignore[arg-type]


def test_a_viewport_must_be_there_to_be_filmed(scene: Object, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="There is no viewport here; choose the front or the camera"):
        render_film(filepath=str(tmp_path / "film.mp4"), through="VIEWPORT")


def test_a_file_that_cannot_be_written_is_said(scene: Object, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="cannot be written: there is no folder"):
        render_film(filepath=str(tmp_path / "nowhere" / "picture.png"), through="CAMERA")


def test_a_picture_shows_the_character(scene: Object, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    assert render_film(filepath=str(path), through="CAMERA", floor=False) == {"FINISHED"}
    image: Any = bpy.data.images.load(str(path))
    pixels = np.empty(WIDTH * HEIGHT * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    assert tuple(image.size) == (WIDTH, HEIGHT) and np.ptp(pixels.reshape(-1, 4)[:, 0]) > 0.2


def test_one_frame_is_a_picture_whatever_its_name(scene: Object, tmp_path: Path) -> None:
    assert render_film(filepath=str(tmp_path / "film.mp4"), length="FRAME", through="CAMERA") == {"FINISHED"}
    assert [path.name for path in tmp_path.iterdir()] == ["film.png"]


def test_stopping_leaves_nothing(scene: Object, tmp_path: Path) -> None:
    images = len(bpy.data.images)
    steps = rendered(context, tmp_path / "film.mp4", seen(context, "CAMERA", 1.0))
    assert 0.0 < next(steps) < next(steps) < 1.0
    steps.close()
    assert scene.frame_current == 3 and len(bpy.data.images) == images and not list(tmp_path.iterdir())


def test_no_camera_is_said(scene: Object, tmp_path: Path) -> None:
    scene.camera = None
    with pytest.raises(RuntimeError, match="The scene has no camera"):
        render_film(filepath=str(tmp_path / "film.mp4"), through="CAMERA")


def picture_of(path: Path) -> Any:
    image: Any = bpy.data.images.load(str(path))
    pixels = np.empty(image.size[0] * image.size[1] * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    return pixels.reshape(image.size[1], image.size[0], 4)[::-1]


@pytest.mark.parametrize("scale", [0.02, 1.0, 50.0])
def test_without_a_camera_the_character_fills_two_thirds_of_the_height(scene: Object, tmp_path: Path,
                                                                       scale: float) -> None:
    """A straight one of any size, in a picture of Full HD's shape."""
    rig = context.view_layer.objects.active
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    [mesh] = [ob for ob in scene.objects if ob.type == "MESH"]
    rig.scale = mesh.scale = (scale,) * 3
    context.view_layer.update()
    path = tmp_path / "picture.png"
    assert render_film(filepath=str(path), length="FRAME", size=20, floor=False) == {"FINISHED"}
    picture = picture_of(path)
    assert picture.shape[:2] == (216, 384)
    rows = np.flatnonzero((np.abs(picture - picture[0, 0])[..., :3] > 0.05).any(axis=(1, 2)))
    assert (rows[-1] - rows[0] + 1) / len(picture) == pytest.approx(2.0 / 3.0, abs=0.04)
    assert abs((rows[0] + rows[-1]) / 2.0 - len(picture) / 2.0) < 0.03 * len(picture)


def test_a_floor_has_a_shadow_where_the_character_stands(scene: Object, tmp_path: Path) -> None:
    render_film(filepath=str(tmp_path / "picture.png"), length="FRAME", size=20)
    picture = picture_of(tmp_path / "picture.png")
    at_the_feet = picture[int(0.8 * len(picture)):int(0.9 * len(picture))].mean(axis=-1)
    assert at_the_feet[:, 150:230].mean() < at_the_feet[:, :60].mean() - 0.03
    assert (picture[..., 3] == 1.0).all()


def test_the_camera_goes_along_calmly() -> None:
    """Someone who jumps aside once is followed on both sides of the jump; nobody's bobbing is."""
    steps = np.zeros((97, 3))
    steps[48:, 0] = 2.0
    steps[:, 2] = 0.1 * np.sin(np.arange(97))
    box = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.2, 0.2) for z in (0.1, 1.9)])
    framed = framing([box], [steps], fps=24.0)
    ways = framed.followed
    assert (np.diff(ways[:, 0]) >= 0.0).all() and np.diff(ways[:, 0]).max() < 0.1
    np.testing.assert_allclose(ways[:, 2], 0.1)
    np.testing.assert_array_equal(framed.on_floor[:, 0], steps[:, 0])


def test_another_ending_is_refused(scene: Object, tmp_path: Path) -> None:
    said = r"'film\.avi' is neither a film nor a picture; let it end in \.mp4 or \.png"
    with pytest.raises(RuntimeError, match=said):
        render_film(filepath=str(tmp_path / "film.avi"))
