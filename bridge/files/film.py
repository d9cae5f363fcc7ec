"""Write pictures to files, and many of them to a film, with Blender's own encoder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from .. import versions
from ..background import operator_context

_AAC_KBIT_PER_S = 192


def write_picture(picture: npt.NDArray[np.uint8], path: Path) -> None:
    """Write one picture (H, W, 3 or 4) as PNG, sRGB, the top row first. Raises RuntimeError if that fails."""
    with PictureFile(picture.shape[1], picture.shape[0]) as file:
        file.write(picture, path)


class PictureFile:
    """Writes pictures of one size as PNG, with one Blender image that is removed at the end. Use it in a `with`."""

    def __init__(self, width: int, height: int) -> None:
        self._image = bpy.data.images.new("Takt picture", width, height, alpha=True)
        self._image.file_format = "PNG"

    def __enter__(self) -> "PictureFile":
        return self

    def __exit__(self, *_: object) -> None:
        bpy.data.images.remove(self._image)

    def write(self, picture: npt.NDArray[np.uint8], path: Path) -> None:
        """Write (H, W, 3 or 4), sRGB, the top row first. Raises RuntimeError with Blender's message if that fails."""
        whole = np.ones((*picture.shape[:2], 4), dtype=np.float32)
        whole[..., :picture.shape[2]] = picture[::-1] / np.float32(255.0)
        pixels: Any = whole.ravel()
        self._image.pixels.foreach_set(pixels)
        self._image.filepath_raw = str(path)
        self._image.save()


def mix_sound(scene: bpy.types.Scene, frames: range, path: Path) -> bool:
    """Write the sound of a scene during some frames as WAV; return whether there is any sound.

    Raises RuntimeError with Blender's message if it cannot be written.
    """
    strips: Any = scene.sequence_editor.strips_all if scene.sequence_editor else ()
    if not (any(strip.type == "SOUND" for strip in strips) or any(ob.type == "SPEAKER" for ob in scene.objects)):
        return False
    before = scene.frame_start, scene.frame_end
    try:
        scene.frame_start, scene.frame_end = frames[0], frames[-1]
        with operator_context(scene=scene):
            bpy.ops.sound.mixdown(filepath=str(path), container="WAV", codec="PCM", format="S16")
    finally:
        scene.frame_start, scene.frame_end = before
    return True


def encode_film(frames: Sequence[Path], path: Path, fps: int, fps_base: float, size: tuple[int, int],
                quality: Literal["HIGH", "MEDIUM", "LOW"] = "HIGH", sound: Path | None = None) -> None:
    """Encode pictures of one folder and size as H.264 in MP4, with a sound as AAC if there is one.

    quality: in the words of Blender's encoder. A scene of its own has the settings, so the user's scenes do not change;
    Blender's data of the rendering are removed if there were none before.
    Raises RuntimeError with Blender's message if it cannot be written.
    """
    known = set[bpy.types.ID](bpy.data.images) | set(bpy.data.sounds)
    scene: Any = bpy.data.scenes.new("Takt film")
    try:
        strip = scene.sequence_editor_create().strips.new_image("film", str(frames[0]), channel=1, frame_start=1)
        for frame in frames[1:]:
            strip.elements.append(frame.name)
        if sound is not None:
            scene.sequence_editor.strips.new_sound("sound", str(sound), channel=2, frame_start=1)
        scene.frame_start, scene.frame_end = 1, len(frames)
        scene.view_settings.view_transform = "Standard"
        render = scene.render
        render.resolution_x, render.resolution_y = size
        render.resolution_percentage = 100
        render.fps, render.fps_base = fps, fps_base
        versions.choose_film(render.image_settings)
        render.ffmpeg.format, render.ffmpeg.codec = "MPEG4", "H264"
        render.ffmpeg.constant_rate_factor, render.ffmpeg.ffmpeg_preset = quality, "GOOD"
        if sound is not None:
            render.ffmpeg.audio_codec, render.ffmpeg.audio_bitrate = "AAC", _AAC_KBIT_PER_S
        render.use_file_extension = False
        render.filepath = str(path)
        bpy.ops.render.render(animation=True, scene=scene.name)
    finally:
        bpy.data.scenes.remove(scene)
        bpy.data.batch_remove({*bpy.data.images, *bpy.data.sounds} - known)
