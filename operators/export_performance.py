"""Export Performance: the motion of the active character, in X3D also its skin, as a file for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..bridge import properties
from ..bridge.actions import action
from ..bridge.actions.below_own_actions import is_own_action_assigned
from ..bridge.active_character import ForArmature, active_armature, score_problem
from ..bridge.files import shown_motion, written_character
from ..bridge.files.read_progress import reading
from ..bridge.files.shown_motion import Shown
from ..bridge.frame_rate import frames_per_second
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.reports import in_brief, refuse, tell
from ..bridge.scores import score
from ..bridge.tweaking import tweaked_motion, tweaks
from ..core.errors import TaktError
from ..core.formats import endings, format_of
from ..core.library.whole_files import write_whole
from ..core.playing.motion import Motion
from .named_export import NamedAsCharacter

_MOTIONS = (
    ("SHOWN", "As Shown", "The Action or NLA that the character plays, if it differs from the score's Action; "
                          "otherwise the score, or else the pose"),
    ("SCORE", "Score", "What the score says now, whatever Action the character plays"),
    ("ACTION", "Action", "The Action that the character plays, from its first key to its last"),
)


class TAKT_OT_export_performance(ForArmature, NamedAsCharacter, bpy.types.Operator):
    """Write what the active character plays into a file: X3D with its skin, VRM Animation, BVH or OGRE"""

    bl_idname = "takt.export_performance"
    bl_label = "Export Performance"
    bl_options = {"REGISTER"}
    is_changed = False

    filename_ext = ".x3d"
    check_extension = False
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        motion: str
        hanim_motion: bool
    else:
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in endings(written=True)),
                                    options={"HIDDEN"})
        motion: EnumProperty(name="Motion", items=_MOTIONS, description="Which motion is written")
        hanim_motion: BoolProperty(name="HAnimMotion", description="In X3D, write motion as evenly spaced frames in "
                                   "HAnimMotion. Off: as interpolators, which every player knows")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Perform, read the skin, write."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None
        path = Path(bpy.path.abspath(self.filepath))
        entry = format_of(path)
        if entry is None or entry.write is None:
            return refuse(self, f"'{path.name}' does not name a format that can be written; let it end in "
                                f"{', '.join(endings(written=True))}")
        fps = frames_per_second(scene)
        try:
            shown = _shown(context, armature_object, scene, self.motion)
            file, warnings = written_character.read_character(armature_object, shown, fps, entry, self.hanim_motion)
            data = entry.write(file, fps)
            write_whole(path, data)
        except TaktError as error:
            return refuse(self, in_brief(error))
        if self.motion == "SCORE" and (other := _played_action(armature_object, "SHOWN")) is not None:
            warnings = (*warnings, f"The score was written; the character plays the Action '{other.name}', which is "
                                   "not in the file")
        tell(self, [*(("WARNING", warning) for warning in warnings), ("INFO", f"Wrote {shown.what} into {path}")])
        return {"FINISHED"}


def _shown(context: bpy.types.Context, armature_object: bpy.types.Object, scene: bpy.types.Scene,
           motion: str) -> Shown:
    """Return the motion to write; motion: one of _MOTIONS. Raises TaktError if there is none."""
    played, has_score = _played_action(armature_object, motion), _has_score(armature_object)
    if motion == "ACTION" and played is None:
        raise TaktError(f"'{armature_object.name}' plays no Action: choose As Shown")
    if motion == "SCORE" or (motion == "SHOWN" and played is None and has_score):
        performed = tweaked_motion.shown(armature_object, scene, _of_score(context, armature_object))
        return shown_motion.of_score(armature_object, performed)
    if played is None or (motion == "SHOWN" and shown_motion.nla_span(armature_object) is not None):
        return shown_motion.of_scene(armature_object, scene, frames_per_second(scene))
    return shown_motion.of_action(armature_object, played, frames_per_second(scene))


def _has_score(armature_object: bpy.types.Object) -> bool:
    return properties.character(armature_object).text is not None


def _assigned(armature_object: bpy.types.Object) -> bpy.types.Action | None:
    animation = armature_object.animation_data
    return None if animation is None else animation.action


def _played_action(armature_object: bpy.types.Object, motion: str) -> bpy.types.Action | None:
    """Return the Action to write, or None for the score; motion: one of _MOTIONS."""
    assigned = _assigned(armature_object)
    if motion == "SHOWN":
        is_scores = (assigned in [each for _, each in tweaks.layers_of(armature_object)] or (
            is_own_action_assigned(armature_object) and not action.is_edited_by_hand(armature_object)))
        return None if _has_score(armature_object) and is_scores else assigned
    return assigned if motion == "ACTION" else None


def _of_score(context: bpy.types.Context, armature_object: bpy.types.Object) -> Motion:
    """Perform the score; raise TaktError if that fails."""
    if problem := score_problem(armature_object, is_changed=False):
        raise TaktError(problem)
    with reading(context) as formats:
        performance = score.performed(armature_object, formats)
    if performance.error is not None or performance.motion is None:
        raise performance.error or TaktError("there is nothing to play")
    return performance.motion


@guarded(None)
def draw_in_export_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Export."""
    menu.layout.operator(TAKT_OT_export_performance.bl_idname, text=say("Performance (.x3d, .vrma, .bvh, .skeleton)"),
                         translate=False)
