"""Render Film: what the preview shows, by Blender's own encoder."""

import tempfile
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy_extras.io_utils import ExportHelper

from ..bridge.film import PictureFile, encode_film
from ..preview import life
from ..preview.offscreen import Stage
from ..preview.player import Player
from .preview import bound_armatures

_BACKGROUND = (0.22, 0.23, 0.25, 1.0)
_MP4, _PNG = ".mp4", ".png"


class TAKT_OT_render_film(ExportHelper, bpy.types.Operator):
    """Write what the preview shows, through the scene's camera: the frame range as a film, or one frame as PNG"""

    bl_idname = "takt.render_film"
    bl_label = "Render Film"
    bl_options = {"REGISTER"}

    filename_ext = _MP4
    check_extension = False
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        size: int
    else:
        filter_glob: bpy.props.StringProperty(default="*.mp4;*.png", options={"HIDDEN"})
        size: bpy.props.IntProperty(name="Size", default=100, min=1, max=400, subtype="PERCENTAGE",
                                    description="In hundredths of the scene's resolution")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is a character, and a camera to see it through."""
        reason = ""
        if context.scene is None or context.scene.camera is None:
            reason = "The scene has no camera; add one that looks at the character"
        elif not bound_armatures(context):
            reason = "Select a character whose meshes are bound: Auto-bind to Skeleton"
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file."""
        result: set[Any] = super().invoke(context, event)
        return result

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Render at once where nobody watches; else frame by frame, so that it can be watched and stopped."""
        path = Path(bpy.path.abspath(self.filepath))
        if path.suffix.lower() not in (_MP4, _PNG):
            self.report({"ERROR"}, f"'{path.name}' is neither a film nor a picture; let it end in .mp4 or .png")
            return {"CANCELLED"}
        self._remaining = rendered(context, path, self.size / 100.0)
        if not bpy.app.background:
            return self._watched(context)
        try:
            for _ in self._remaining:
                pass
        except (OSError, RuntimeError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Wrote {path}")
        return {"FINISHED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Render a frame whenever Blender has time; Escape stops."""
        if event.type == "ESC":
            return self._ended(context, "Stopped; nothing was written", {"WARNING"})
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            share = next(self._remaining)
        except StopIteration:
            return self._ended(context, f"Wrote {self.filepath}", {"INFO"})
        except (OSError, RuntimeError) as error:
            return self._ended(context, str(error), {"ERROR"})
        assert context.window_manager is not None and context.workspace is not None
        context.window_manager.progress_update(share)
        context.workspace.status_text_set(f"Takt renders: {share:.0%}      Esc  Stop")
        return {"RUNNING_MODAL"}

    def _watched(self, context: bpy.types.Context) -> "set[Any]":
        manager = context.window_manager
        assert manager is not None
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _ended(self, context: bpy.types.Context, text: str, kind: "set[Any]") -> "set[Any]":
        manager = context.window_manager
        assert manager is not None and context.workspace is not None
        self._remaining.close()
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        context.workspace.status_text_set(None)
        self.report(kind, text)
        return {"FINISHED"} if kind == {"INFO"} else {"CANCELLED"}


def rendered(context: bpy.types.Context, path: Path, size: float) -> Generator[float, None, None]:
    """Render frame by frame and yield the share that is done; whatever happens, the scene is left as it was.

    path: of a film, or of a picture of the current frame. Raises OSError or RuntimeError where it cannot be written.
    """
    scene = context.scene
    assert scene is not None and scene.camera is not None
    here = scene.frame_current
    wanted = range(scene.frame_start, scene.frame_end + 1) if path.suffix.lower() == _MP4 else range(here, here + 1)
    width, height = (max(2, round(side * scene.render.resolution_percentage / 100.0 * size) // 2 * 2)
                     for side in (scene.render.resolution_x, scene.render.resolution_y))
    choices = replace(life.choices(), player=Player())
    with tempfile.TemporaryDirectory() as folder, PictureFile(width, height) as file, \
            Stage(scene, bound_armatures(context), width, height) as stage:
        files: list[Path] = []
        try:
            for frame in wanted:
                scene.frame_set(frame)
                camera = scene.camera
                projection = camera.calc_matrix_camera(context.evaluated_depsgraph_get(), x=width, y=height)
                picture = stage.draw(np.array(camera.matrix_world.inverted()), projection, background=_BACKGROUND,
                                     choices=choices)
                files.append(path if path.suffix.lower() == _PNG else Path(folder, f"{frame:06}.png"))
                file.write(picture, files[-1])
                yield len(files) / (len(wanted) + 1)
        finally:
            scene.frame_set(here)
        if path.suffix.lower() == _MP4:
            encode_film(files, path, scene.render.fps, scene.render.fps_base, (width, height))
