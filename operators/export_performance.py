"""Export Performance: the active character's performance, and in X3D its skin, as a file for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ..bridge import action, following, score, tweaks, written_character
from ..bridge.active_character import ForScore, active_armature
from ..bridge.frame_rate import frames_per_second
from ..bridge.guard import guarded
from ..bridge.read_progress import reading
from ..bridge.reports import refuse, refuse_score, tell
from ..core.errors import TaktError
from ..core.formats import endings, format_of
from ..core.library.whole_files import write_whole


class TAKT_OT_export_performance(ForScore, ExportHelper, bpy.types.Operator):
    """Write what the score of the active character plays into a file: X3D with its skin, VRM Animation, BVH or OGRE"""

    bl_idname = "takt.export_performance"
    bl_label = "Export Performance"
    bl_options = {"REGISTER"}

    filename_ext = ".x3d"
    check_extension = False
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        hanim_motion: bool
    else:
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in endings(written=True)),
                                    options={"HIDDEN"})
        hanim_motion: BoolProperty(name="HAnimMotion", description="In X3D, write motion as evenly spaced frames in "
                                   "HAnimMotion, instead of interpolators, which every player knows")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file, called as the character to begin with."""
        armature_object = active_armature(context)
        if not self.filepath and armature_object is not None:
            self.filepath = bpy.path.ensure_ext(bpy.path.clean_name(armature_object.name), self.filename_ext)
        found: set[Any] = ExportHelper.invoke(self, context, event)
        return found

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Perform, read the skin, write."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None
        path = Path(bpy.path.abspath(self.filepath))
        entry = format_of(path)
        if entry is None or entry.write is None:
            return refuse(self, f"'{path.name}' does not name a format that can be written; let it end in "
                                f"{', '.join(endings(written=True))}")
        with reading(context) as formats:
            performance = score.performed(armature_object, formats)
        if performance.error is not None or performance.motion is None:
            return refuse_score(self, performance.error or TaktError("there is nothing to play"))
        fps = frames_per_second(scene)
        try:
            motion = tweaks.shown(armature_object, scene, performance.motion)
            file, warnings = written_character.read_character(armature_object, motion, fps, entry, self.hanim_motion)
            data = entry.write(file, fps)
            write_whole(path, data)
        except (TaktError, OSError) as error:
            return refuse(self, str(error))
        warnings = (*warnings, *_plays_something_else(armature_object))
        tell(self, [*(("WARNING", warning) for warning in warnings), ("INFO", f"Wrote {path}")])
        return {"FINISHED"}


def _plays_something_else(armature_object: bpy.types.Object) -> tuple[str, ...]:
    """Return a warning where what is written, the score's motion, is not what the Action plays."""
    animation = armature_object.animation_data
    assigned = None if animation is None else animation.action
    if assigned is None:
        return ()
    if assigned in [each for _, each in tweaks.layers_of(armature_object)]:
        return ()
    if not following.is_own_action_assigned(armature_object):
        return (f"The score was written, but the character plays '{assigned.name}', which is not in the file",)
    if action.is_edited_by_hand(armature_object):
        return ("The score was written; the keys that were edited by hand are not in the file",)
    return ()


@guarded(None)
def draw_in_export_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Export."""
    menu.layout.operator(TAKT_OT_export_performance.bl_idname, text="Performance (.x3d, .vrma, .bvh, .skeleton)",
                         translate=False)
