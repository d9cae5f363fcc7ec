"""Export OGRE: a character as .skeleton, .mesh and .material, in binary, XML or both."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..bridge import properties
from ..bridge.active_character import ForArmature, active_armature, name_of_character
from ..bridge.files import clips, written_ogre
from ..bridge.files.read_progress import reading
from ..bridge.frame_rate import frames_per_second
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.reports import refuse, refuse_score, tell, words_of
from ..bridge.scores import score
from ..core.errors import FileError, TaktError
from ..core.library.whole_files import check_name, write_whole
from ..core.playing.stage import Playable
from .named_export import NamedAsCharacter

_FORMS = (("BINARY", "Binary", "What OGRE loads: .skeleton and .mesh"),
          ("XML", "XML", "What OgreXMLConverter and people read: .skeleton.xml and .mesh.xml"),
          ("BOTH", "Both", "Binary and XML beside each other"))
_CLIPS = (("SCORE", "Score", "What the character's score plays, as one animation"),
          ("ACTIONS", "Actions", "All Actions of the file that move this character's bones, each as an animation"),
          ("BOTH", "Score and Actions", "The score's motion, and all Actions"),
          ("NONE", "None", "The bones at rest alone"))


class TAKT_OT_export_ogre(ForArmature, NamedAsCharacter, bpy.types.Operator):
    """Write the active character for OGRE: skeleton with animations, meshes with weights, materials with images"""

    bl_idname = "takt.export_ogre"
    bl_label = "Export OGRE"
    bl_options = {"REGISTER"}
    is_changed = False

    filename_ext = ".mesh"
    check_extension = False
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        form: str
        clips: str
    else:
        filter_glob: StringProperty(default="*.mesh;*.skeleton;*.xml", options={"HIDDEN"})
        form: EnumProperty(name="Form", description="How files are written", items=_FORMS)
        clips: EnumProperty(name="Animations", description="Which motion is written", items=_CLIPS)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file; without a score, preselect Actions."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        if properties.character(armature_object).text is None and not self.properties.is_property_set("clips"):
            self.clips = "ACTIONS"
        return super().invoke(context, event)

    def name_for(self, armature_object: bpy.types.Object) -> str:
        """Return the name of the character, without an ending that its armature's name may have."""
        return name_of_character(armature_object)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Make all files first, then write them."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None
        path = Path(bpy.path.abspath(self.filepath))
        stem = _stem(path.name)
        if not stem:
            return refuse(self, f"'{path.name}' names no file; write a name before the ending")
        motion: Playable | None = None
        text = properties.character(armature_object).text
        if self.clips in ("SCORE", "BOTH") and text is not None:
            with reading(context) as formats:
                performance = score.performed(armature_object, formats)
            if performance.error is not None or performance.motion is None:
                return refuse_score(self, performance.error or TaktError("there is nothing to play"))
            motion = performance.motion
        names = _actions(armature_object) if self.clips in ("ACTIONS", "BOTH") else ()
        title = "" if text is None else text.name.partition(".pha")[0]
        try:
            skeleton, held, said = written_ogre.read_clips(armature_object, motion, title, names,
                                                           frames_per_second(scene))
            forms = ("BINARY", "XML") if self.form == "BOTH" else (self.form,)
            written = written_ogre.read_character(armature_object, skeleton, held, stem, forms)
            for name in written.files:
                check_name(path.parent / name)
            for name, data in written.files.items():
                write_whole(path.parent / name, data)
            missing = _copied(written.images, path.parent)
        except (TaktError, OSError) as error:
            return refuse(self, words_of(error))
        has_nothing = self.clips == "SCORE" and text is None
        none = ("no animation was written: the character has no score",) if has_nothing else ()
        done = (f"Wrote {', '.join(written.files)} with 1 animation" if len(held) == 1 else
                f"Wrote {', '.join(written.files)} with {len(held)} animations")
        tell(self, [*(("WARNING", each) for each in (*said, *written.warnings, *missing, *none)), ("INFO", done)])
        return {"FINISHED"}


def _stem(name: str) -> str:
    for ending in (".mesh.xml", ".skeleton.xml", ".mesh", ".skeleton", ".material", ".xml"):
        if name.lower().endswith(ending):
            return name[:-len(ending)]
    return name


def _actions(armature_object: bpy.types.Object) -> tuple[str, ...]:
    """Return the Actions that fit this character best, without those that Takt wrote from scores."""
    armatures = sorted((ob for ob in bpy.data.objects if ob.type == "ARMATURE"), key=lambda ob: ob != armature_object)
    written = {properties.character(ob).action for ob in armatures}
    return tuple(action.name for action in bpy.data.actions if action not in written
                 and clips.best_fitting(action, armatures) == armature_object)


def _copied(images: tuple[Path, ...], folder: Path) -> tuple[str, ...]:
    """Copy images beside the files that name them; return messages about those that could not be copied."""
    wrong = []
    for image in images:
        target = folder / image.name
        try:
            if not target.exists() or not target.samefile(image):
                write_whole(target, image)
        except OSError as error:
            wrong.append(f"'{image.name}' could not be copied: {error.strerror}")
        except FileError as error:
            wrong.append(str(error))
    return tuple(wrong)


@guarded(None)
def draw_in_export_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Export."""
    menu.layout.operator(TAKT_OT_export_ogre.bl_idname, text=say("OGRE (.mesh, .skeleton, .material)"), translate=False)
