"""Save as Clip: the current pose, frames of the scene, or selected blocks become a file of the score's library."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..bridge import libraries, properties
from ..bridge.active_character import name_of_character, score_problem
from ..bridge.files import recorded
from ..bridge.frame_rate import frames_per_second
from ..bridge.language import say
from ..bridge.reports import GreyWithReason, refuse, report, words_of
from ..bridge.scores import performing, score, score_blocks, score_tree
from ..bridge.shelf import clip_folders
from ..core.clips.clip import Clip
from ..core.errors import TaktError
from ..core.library.files import parts_of
from ..core.library.whole_files import check_name, name_of_file
from .clip_folders import shown_armature

_ENDING = ".skeleton.xml"
_SOURCES = (("POSE", "Current Pose", "The pose that the character has now, held for a second"),
            ("FRAMES", "Frames", "What the character does from one frame of the scene to another, whatever moves it"),
            ("BLOCKS", "Selected Blocks", "What the score plays from the beginning of the first selected block to the "
                                          "end of the last one"))


class TAKT_OT_save_clip(GreyWithReason, bpy.types.Operator):
    """Save a pose, frames of the scene or selected blocks as a clip of the library, which scores can call at once"""

    bl_idname = "takt.save_clip"
    bl_label = "Save as Clip"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        source: str
        name: str
        folder: str
        first: int
        last: int
        overwrite: bool
    else:
        source: EnumProperty(name="From", description="What to save as a clip", items=_SOURCES)
        name: StringProperty(name="Name", description="What the clip and its file are called", options={"SKIP_SAVE"})
        folder: StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"},
                               description="The folder of the library in which the file is put")
        first: IntProperty(name="First", description="The first frame", options={"SKIP_SAVE"})
        last: IntProperty(name="Last", description="The last frame", options={"SKIP_SAVE"})
        overwrite: BoolProperty(name="Overwrite", description="Overwrite a file of that name", options={"SKIP_SAVE"})

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why nothing can be saved."""
        return score_problem(shown_armature(context), is_changed=False)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the options; preselect selected blocks if there are any, and the range of the scene."""
        armature_object, scene, manager = shown_armature(context), context.scene, context.window_manager
        assert armature_object is not None and scene is not None and manager is not None  # poll has checked it
        if not self.properties.is_property_set("source"):
            self.source = "BLOCKS" if _selected_s(context, armature_object) is not None else "FRAMES"
        self.first, self.last = scene.frame_start, scene.frame_end
        self.folder = self.folder or _folder(armature_object)
        self.name = self.name or _default_name(armature_object, self.folder)
        return manager.invoke_props_dialog(self, width=420, confirm_text=say("Save"))

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the options of the chosen source."""
        assert self.layout is not None
        self.layout.use_property_split = True
        self.layout.prop(self, "source")
        if self.source == "FRAMES":
            self.layout.prop(self, "first")
            self.layout.prop(self, "last")
        self.layout.prop(self, "name")
        self.layout.prop(self, "folder")
        self.layout.prop(self, "overwrite")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Record first, then write the file after all checks, and put it onto the shelf."""
        armature_object, scene = shown_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        fps, warnings = frames_per_second(scene), list[str]()
        try:
            path = self._path(armature_object)
            clip = recorded.in_hanim_axes(armature_object, self._recorded(context, armature_object, scene, fps))

            def write() -> None:
                warnings.extend(recorded.write(path, clip, fps, overwrite=self.overwrite))

            src = clip_folders.bring(armature_object, path, write)
        except (TaktError, OSError) as error:
            return refuse(self, words_of(error))
        performing.look_at_files()
        score_blocks.refresh(armature_object)
        score_tree.redraw()
        for warning in warnings:
            report(self, {"WARNING"}, warning)
        report(self, {"INFO"}, f"Saved {path.name}: '{src}', {clip.duration_s:.3g} s, is on the shelf")
        return {"FINISHED"}

    def _path(self, armature_object: bpy.types.Object) -> Path:
        """Return the path of the file; raise TaktError if its name or folder is not valid, or it exists already."""
        folder = self.folder or _folder(armature_object)
        name = self.name.strip() or _default_name(armature_object, "" if self.overwrite else folder)
        if "." in name:
            raise TaktError(f"a clip cannot be called '{name}': a score would take a dot for a folder")
        if (part := next(filter(name.__contains__, "/\\:"), "")):
            raise TaktError(f"a clip cannot be called '{name}': leave out '{part}', and choose its folder in Folder")
        parts_of(name)
        if not folder:
            raise TaktError("there is no folder for the file: choose one, or save the .blend first")
        path = Path(os.path.normpath(bpy.path.abspath(folder)), name + _ENDING)
        check_name(path)
        if not path.parent.is_dir():
            raise TaktError(f"'{path.parent}' is no folder; choose one that is there")
        recorded.check_is_new(path, overwrite=self.overwrite)
        return path

    def _recorded(self, context: bpy.types.Context, armature_object: bpy.types.Object, scene: bpy.types.Scene,
                  fps: float) -> Clip:
        name = self.name.strip() or "clip"
        if self.source == "POSE":
            return recorded.of_pose(armature_object, name)
        if self.source == "FRAMES":
            is_said = self.properties.is_property_set("first") or self.properties.is_property_set("last")
            first, last = (self.first, self.last) if is_said else (scene.frame_start, scene.frame_end)
            return recorded.of_frames(armature_object, scene, name, first, last, fps)
        span, motion = _selected_s(context, armature_object), score.motion_of(armature_object)
        if span is None:
            raise TaktError("no blocks are selected: select some in the score editor")
        if motion is None:
            raise TaktError("the score cannot be played as it is: see Takt's tab, Score")
        return recorded.of_motion(motion, name, *span, fps)


def _default_name(armature_object: bpy.types.Object, folder: str) -> str:
    """Return the default name of a clip, of which the folder holds no file yet.

    It has no characters that a score or a file system would refuse.
    """
    name, taken = f"{name_of_file(name_of_character(armature_object))}_clip", set[str]()
    if folder:
        with suppress(OSError):
            taken = {each.name.partition(".")[0].casefold() for each in Path(bpy.path.abspath(folder)).iterdir()}
    numbered = (f"{name}_{number}" for number in count(2))
    return name if name.casefold() not in taken else next(each for each in numbered if each.casefold() not in taken)


def _selected_s(context: bpy.types.Context, armature_object: bpy.types.Object) -> tuple[float, float] | None:
    """Return begin and end of a score's selected blocks, in seconds of its motion, or None if none are selected."""
    tree = next((tree for tree in (score_tree.tree_of(context), *score_tree.trees()) if tree is not None), None)
    blocks = score_blocks.shown(armature_object)
    if tree is None or blocks is None or blocks.layout is None:
        return None
    found = blocks.layout.found(score_tree.selection(tree, blocks.selectable))
    if not len(found):
        return None
    boxes = blocks.layout.boxes
    begin, end = blocks.layout.seconds(np.array((boxes.begin[found].min(), boxes.end[found].max()))).tolist()
    return float(begin), float(end)


def _folder(armature_object: bpy.types.Object) -> str:
    """Return the default folder for a clip: one of the character's own, or the .blend's."""
    character = properties.character(armature_object)
    own = (libraries.absolute(path, armature_object) for path in (
        *(folder.path for folder in character.folders), character.library) if path)
    samples = str(libraries.SAMPLES)
    usable = (path for path in own if Path(path).is_dir() and not path.startswith(samples))
    return next(usable, str(Path(bpy.data.filepath).parent) if bpy.data.filepath else "")
