"""Save Tweaks, Load Tweaks: a character's tweaks as a file, for other scenes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ImportHelper

from ..bridge.active_character import active_armature
from ..bridge.reports import refuse, report
from ..bridge.scores import score
from ..bridge.tweaking import tweak_files, tweak_waiting, tweaks
from ..core.errors import TaktError, some_of
from .named_export import NamedAsCharacter
from .tweak_base import ForScoreAction, ForTweaks, score_plays

_SHOWN = 6


class TAKT_OT_save_tweaks(ForTweaks, NamedAsCharacter, bpy.types.Operator):
    """Write all tweaks of the character into a file, with the moments of the music to which they are tied"""

    bl_idname = "takt.save_tweaks"
    bl_label = "Save Tweaks"
    bl_options = {"REGISTER"}
    filename_ext = tweak_files.ENDING

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:
        filter_glob: StringProperty(default=f"*{tweak_files.ENDING}", options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write it."""
        armature_object = active_armature(context)
        assert armature_object is not None and context.scene is not None  # poll has checked it
        tweaks.look(armature_object, context.scene)
        path = Path(bpy.path.abspath(self.filepath))
        try:
            count = tweak_files.save(armature_object, path)
        except TaktError as error:
            return refuse(self, str(error))
        report(self, {"INFO"}, f"Wrote keys at {count} moments into {path}")
        return {"FINISHED"}


class TAKT_OT_load_tweaks(ForScoreAction, ImportHelper, bpy.types.Operator):
    """Add the layers of a file of tweaks. Their keys go to the same blocks of this score"""

    bl_idname = "takt.load_tweaks"
    bl_label = "Load Tweaks"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:
        filter_glob: StringProperty(default=f"*{tweak_files.ENDING}", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file."""
        found: set[Any] = ImportHelper.invoke(self, context, event)
        return found

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Read the file first; then add its layers."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        path = Path(bpy.path.abspath(self.filepath))
        try:
            layers = tweak_files.read(path)
        except TaktError as error:
            return refuse(self, str(error))
        if not tweaks.has_tweaks(armature_object) and not score_plays(self, context, armature_object):
            return {"CANCELLED"}
        try:
            with tweak_files.taken_back_on_error(armature_object):
                missing = tweak_files.add(armature_object, layers)
                score.look()
                tweaks.look(armature_object, scene)
        except TaktError as error:
            tweaks.look(armature_object, scene)
            return refuse(self, f"{path}: {error}")
        if waiting := tweak_waiting.words(armature_object):
            report(self, {"WARNING"}, waiting)
        if missing:
            report(self, {"WARNING"}, f"'{armature_object.name}' has no bones {some_of(missing, _SHOWN)}: their keys "
                                     "are kept, and move nothing")
        if tweaks.problem(armature_object):
            report(self, {"WARNING"}, tweaks.problem(armature_object))
        if len(layers) == 1:
            report(self, {"INFO"}, f"Added a layer of tweaks from {path.name}")
        else:
            report(self, {"INFO"}, f"Added {len(layers)} layers of tweaks from {path.name}")
        return {"FINISHED"}
