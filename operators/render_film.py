"""Render Film: write the preview with Blender's own encoder."""

import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy_extras.io_utils import ExportHelper

from ..bridge import properties
from ..bridge.files.film import PictureFile, encode_film, mix_sound
from ..bridge.frame_rate import frames_per_second
from ..bridge.language import say
from ..bridge.reports import GreyWithReason, refuse, report
from ..bridge.scores import score
from ..core.clips.frames import last_frame
from ..core.errors import TaktError
from ..core.library.whole_files import check_name, write_whole
from ..core.maths.arrays import FloatArray
from ..preview import life
from ..preview.framing import Plays, frame_characters
from ..preview.offscreen import Renderer
from ..preview.player import Player
from ..preview.playing import played
from .preview import bound_armatures

_BACKGROUND = (0.22, 0.23, 0.25, 1.0)
_FULL_HD = 1920, 1080
MOST_SIZE = 400
"""Largest percentage of the resolution."""
_AT_ONCE_S = 0.25
"""Time of work after which Blender redraws and checks for Esc."""
_MP4, _PNG = ENDINGS = ".mp4", ".png"
CANNOT = (OSError, RuntimeError, ReferenceError, SystemError, TaktError)
"""Errors of a full disk, of Blender's encoder, of a deleted character, and of Blender without a GPU."""


class TAKT_OT_render_film(GreyWithReason, ExportHelper, bpy.types.Operator):
    """Write what the preview shows: the score as a film, or the current frame as a picture"""

    bl_idname = "takt.render_film"
    bl_label = "Render Film"
    bl_options = {"REGISTER"}

    _remaining: Generator[float, None, None] | None = None

    filename_ext = _MP4
    check_extension = False
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        length: str
        through: str
        size: int
        floor: bool
    else:
        filter_glob: bpy.props.StringProperty(default="*.mp4;*.png", options={"HIDDEN"})
        length: bpy.props.EnumProperty(name="Length", default="SCORE", description="Which frames are rendered", items=(
            ("SCORE", "Whole Score", "From the beginning to the end of what the characters play"),
            ("SCENE", "Frame Range", "The scene's frames"), ("FRAME", "This Frame", "A picture, as PNG")))
        through: bpy.props.EnumProperty(name="Seen From", default="CHARACTER", description="View that is rendered",
                                         items=(
            ("CHARACTER", "In Front", "Film the characters from the front, in Full HD: the camera follows them, and"
                                      " they fill two thirds of the height"),
            ("CAMERA", "Camera", "As the scene's camera sees it, in the scene's resolution"),
            ("VIEWPORT", "Viewport", "As this viewport shows it now, in its aspect ratio, as wide as the scene's "
                                     "resolution")))
        size: bpy.props.IntProperty(name="Size", default=100, min=1, max=MOST_SIZE, subtype="PERCENTAGE",
                                    description="Percentage of the resolution")
        floor: bpy.props.BoolProperty(name="Floor", default=True,
                                      description="Show a floor with soft shadows below the characters, instead of "
                                                  "a plain background")

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no character."""
        if context.scene is not None and bound_armatures(context):
            return ""
        return "Select a character whose meshes are bound: Auto-bind to Skeleton"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file."""
        result: set[Any] = super().invoke(context, event)
        return result

    def check(self, _context: bpy.types.Context) -> bool:
        """Adapt the file's ending to the chosen length."""
        chosen = str(Path(self.filepath).with_suffix(_PNG if self.length == "FRAME" else _MP4))
        changes, self.filepath = chosen != self.filepath, chosen
        return changes

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the settings in the file browser."""
        layout = self.layout
        assert layout is not None
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("length", "through", "size", "floor"):
            layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Render at once without a window; otherwise frame by frame, so that it can be watched and stopped."""
        path = Path(bpy.path.abspath(self.filepath))
        if self.length == "FRAME":
            path = path.with_suffix(_PNG)
        try:
            remaining = rendered(context, path, seen(context, self.through, self.size / 100.0),
                                 whole=self.length == "SCORE", floor=self.floor)
            if not bpy.app.background:
                self._remaining, self._path = remaining, path
                return self._watched(context)
            for _ in remaining:
                pass
        except (ValueError, *CANNOT) as error:
            return refuse(self, why(error, path))
        report(self, {"INFO"}, f"Wrote {path}")
        return {"FINISHED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Render some frames whenever Blender has time; Esc stops, other events are ignored."""
        if event.type == "ESC":
            return self._ended(context, "Stopped; nothing was written", {"WARNING"})
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        assert self._remaining is not None
        until_s = time.perf_counter() + _AT_ONCE_S
        try:
            share = next(self._remaining)
            while time.perf_counter() < until_s:
                share = next(self._remaining)
        except StopIteration:
            return self._ended(context, f"Wrote {self._path}", {"INFO"})
        except CANNOT as error:
            return self._ended(context, why(error, self._path), {"ERROR"})
        assert context.window_manager is not None and context.workspace is not None
        context.window_manager.progress_update(share)
        context.workspace.status_text_set(say(f"Rendering: {share:.0%}   Esc: Cancel"))
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop: Blender calls it when the window is closed or another file opened."""
        self._clear(context)

    def _watched(self, context: bpy.types.Context) -> "set[Any]":
        manager = context.window_manager
        assert manager is not None
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _clear(self, context: bpy.types.Context) -> None:
        manager = context.window_manager
        assert manager is not None
        if self._remaining is None:  # the file browser was cancelled
            return
        self._remaining.close()
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def _ended(self, context: bpy.types.Context, text: str, kind: "set[Any]") -> "set[Any]":
        self._clear(context)
        report(self, kind, text)
        return {"FINISHED"} if kind == {"INFO"} else {"CANCELLED"}


def why(error: Exception, path: Path) -> str:
    """Return a message that says why a film could not be written, and what to do."""
    if isinstance(error, ReferenceError):
        return "A character was deleted; nothing was written"
    if isinstance(error, SystemError):
        return "Films are drawn by the graphics card, which Blender does not use here; render with a window"
    return f"{path} cannot be written: {error.strerror or error}" if isinstance(error, OSError) else str(error)


@dataclass(frozen=True, eq=False)
class FilmView:
    """A picture's size in pixels, and its camera.

    matrices: returns view_from_world and clip_from_view (4, 4) for the current frame; None: a view from the front.
    """

    width: int
    height: int
    matrices: Callable[[], tuple[FloatArray, FloatArray]] | None = None


def seen(context: bpy.types.Context, through: str, size: float) -> FilmView:
    """Return the camera of a film: from the front, the scene's, which may move, or that of the viewport.

    size: share of Full HD, or of the scene's resolution. Raises ValueError if there is no camera or viewport.
    """
    scene = context.scene
    assert scene is not None
    if through == "CHARACTER":
        return FilmView(_even(_FULL_HD[0] * size), _even(_FULL_HD[1] * size))
    scale = scene.render.resolution_percentage / 100.0 * size
    width, height = (_even(side * scale) for side in (scene.render.resolution_x, scene.render.resolution_y))
    if through == "CAMERA":
        camera = scene.camera
        if camera is None:
            raise ValueError("The scene has no camera; add one, or choose the view from the front")

        def by_camera() -> tuple[FloatArray, FloatArray]:
            clip = camera.calc_matrix_camera(context.evaluated_depsgraph_get(), x=width, y=height)
            return np.array(camera.matrix_world.inverted()), np.array(clip)

        return FilmView(width, height, by_camera)
    viewport = _viewport(context)
    if viewport is None:
        raise ValueError("There is no viewport here; choose the front or the camera")
    view, region = viewport
    now = np.array(view.view_matrix), np.array(view.window_matrix)
    return FilmView(width, _even(width * region.height / region.width), lambda: now)


def rendered(context: bpy.types.Context, path: Path, by: FilmView, whole: bool = True,
             floor: bool = True) -> Generator[float, None, None]:
    """Render frame by frame and yield the share of work done; at the end, or on errors, the scene is restored.

    path: of a film, or of a picture of the current frame. whole: the whole score, not the scene's frames.
    Raises ValueError for another ending, and OSError, RuntimeError or TaktError if it cannot be written.
    """
    if path.suffix.lower() not in (_MP4, _PNG):
        raise ValueError(f"'{path.name}' is neither a film nor a picture; let it end in .mp4 or .png")
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {path.parent}")
    check_name(path)
    scene = context.scene
    assert scene is not None
    return _rendered(scene, bound_armatures(context), path, by, whole, floor)


def _rendered(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object], path: Path, by: FilmView,
              whole: bool, floor: bool) -> Generator[float, None, None]:
    is_film, here = path.suffix.lower() == _MP4, scene.frame_current
    score.look()
    choices = replace(life.choices(), player=Player())
    plays = partial(played, choices=choices)  # as in the viewport: with or without transitions, one clip alone
    wanted = range(here, here + 1)
    if is_film:
        wanted = frames_of_score(scene, armatures, plays) if whole else range(scene.frame_start, scene.frame_end + 1)
    framed = frame_characters(scene, armatures, plays, wanted)
    with tempfile.TemporaryDirectory() as folder, PictureFile(by.width, by.height) as file, \
            Renderer(scene, armatures, by.width, by.height, plays) as renderer:
        files: list[Path] = []
        try:
            for number, frame in enumerate(wanted):
                scene.frame_set(frame)
                seen_from = framed.view(number, by.width, by.height) if by.matrices is None else by.matrices()
                picture = renderer.draw(*seen_from, background=_BACKGROUND, choices=choices,
                                     floor=framed.floor(number) if floor else None)
                files.append(Path(folder, f"{frame:06}.png"))
                file.write(picture, files[-1])
                yield len(files) / (len(wanted) + 1)
        finally:
            scene.frame_set(here)
        made = files[-1]
        if is_film:
            made, sound = Path(folder, "film.mp4"), Path(folder, "sound.wav")
            encode_film(files, made, scene.render.fps, scene.render.fps_base, (by.width, by.height),
                        sound=sound if mix_sound(scene, wanted, sound) else None)
        write_whole(path, made)


def frames_of_score(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object], plays: Plays) -> range:
    """Return the frames from the first begin to the last end of the armatures' motions, or else those of the scene."""
    spans = []
    for armature in armatures:
        motion = plays(armature)
        if motion is not None:
            start = properties.character(armature).frame_start
            spans.append((start, start + last_frame(motion.duration_s, frames_per_second(scene))))
    if not spans:
        return range(scene.frame_start, scene.frame_end + 1)
    return range(min(start for start, _ in spans), max(end for _, end in spans) + 1)


def _viewport(context: bpy.types.Context) -> tuple[bpy.types.RegionView3D, bpy.types.Region] | None:
    """Return the 3D view of the context, also if the mouse is over its sidebar."""
    if context.area is None or not isinstance(context.space_data, bpy.types.SpaceView3D):
        return None
    view = context.space_data.region_3d
    region = next((region for region in context.area.regions if region.type == "WINDOW"), None)
    return None if view is None or region is None else (view, region)


def _even(side: float) -> int:
    """Return a side in whole pixels, rounded to an even number, as encoders require."""
    return max(2, round(side) // 2 * 2)
