"""Import a score: the active armature plays it from now on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..bridge import libraries, paths, properties
from ..bridge.actions import long_actions
from ..bridge.actions.write_motion import write_motion
from ..bridge.active_character import ForArmature, active_armature
from ..bridge.files.read_progress import reading
from ..bridge.frame_rate import frames_per_second
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.reports import refuse, refuse_score, report
from ..bridge.scores import linked_texts, performing, score, score_music, sound
from ..bridge.scores.score_layout import draw_settings
from ..core.errors import TaktError
from .dropped_file import OpensDroppedFile, may_drop_on_character


class TAKT_OT_import_pha(ForArmature, properties.ScoreSettings, OpensDroppedFile, bpy.types.Operator):
    """Play a score of procedural humanoid animation with the active armature"""

    bl_idname = "takt.import_pha"
    bl_label = "Import Score"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".pha"
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:  # settings of one score are not remembered for the next
        filepath: StringProperty(name="File Path", subtype="FILE_PATH", maxlen=1024, options={"HIDDEN", "SKIP_SAVE"})
        library: properties.library_property(options={"SKIP_SAVE"})
        procedure: properties.procedure_property(options={"SKIP_SAVE"})
        load_format: properties.load_format_property(options={"SKIP_SAVE"})
        bvh_up: properties.bvh_up_property(options={"SKIP_SAVE"})
        bvh_forward: properties.bvh_forward_property(options={"SKIP_SAVE"})
        filter_glob: StringProperty(default="*.pha", options={"HIDDEN"})

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the settings in the file browser and the adjust panel."""
        assert self.layout is not None
        draw_settings(self.layout, self)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Perform the score first, then write everything; a score with mistakes is opened too.

        Its valid procedures play. Scripts get its mistakes as an error, and the panel shows them with their
        lines, so that they can be corrected.
        """
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        path = Path(bpy.path.abspath(self.filepath))
        self._keep_settings(armature_object, path)
        try:
            content = linked_texts.read_text(path)
            performing.look_at_files()
            with reading(context) as formats:
                performance = performing.perform_score(content, self.filepath, self, armature_object, formats=formats)
            text = linked_texts.open_text(path)
        except TaktError as error:
            return refuse(self, str(error))
        character = properties.character(armature_object)
        character.text = text
        character.filepath = paths.kept(self.filepath)
        for setting in (*properties.SETTING_NAMES, *properties.ACTION_NAMES):
            setattr(character, setting, getattr(self, setting))
        character.library = paths.kept(self.library)
        character.version = properties.VERSION  # also if a newer Takt saved it before
        performance = score.keep(armature_object, performance)
        others = [ob for ob in context.selected_objects if ob.type == "ARMATURE" and ob != armature_object]
        if others:
            report(self, {"INFO"}, f"Only '{armature_object.name}' plays it, as the active one of {len(others) + 1} "
                                  "selected armatures")
        too_long = performance.motion and long_actions.problem(performance.motion, frames_per_second(scene))
        if too_long:
            character.frame_start = scene.frame_start
            report(self, {"WARNING"}, too_long)
        elif performance.motion is not None:
            write_motion(self, context, armature_object, performance.motion, scene.frame_start,
                         is_new_score=True)
        _play_music(armature_object, scene)
        score.keep_lists(armature_object)
        if performance.error is not None:
            refuse_score(self, performance.error)
        return {"FINISHED"}

    def _keep_settings(self, armature_object: bpy.types.Object, path: Path) -> None:
        """Keep settings that were not given, if the character plays this score already."""
        character = properties.character(armature_object)
        if character.text is None or not character.filepath or Path(properties.score_path(character)) != path:
            return
        for setting in (*properties.SETTING_NAMES, *properties.ACTION_NAMES):
            if not self.properties.is_property_set(setting):
                kept = getattr(character, setting)
                setattr(self, setting, libraries.absolute(kept, armature_object) if setting == "library" else kept)


def _play_music(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Let the scene play the score's music instead of that of the previous score; report missing music."""
    try:
        score_music.play_along(armature_object, scene)
    except TaktError:
        sound.stop(scene)


class TAKT_FH_pha(bpy.types.FileHandler):
    """Lets scores be dropped into the 3D viewport."""

    bl_idname = "TAKT_FH_pha"
    bl_label = "Procedural Humanoid Animation"
    bl_import_operator = TAKT_OT_import_pha.bl_idname
    bl_file_extensions = ".pha"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Return whether a score may be dropped here."""
        return may_drop_on_character(context)


@guarded(None)
def draw_in_import_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Import."""
    menu.layout.operator(TAKT_OT_import_pha.bl_idname, text=say("Procedural Humanoid Animation (.pha)"),
                         translate=False)
