"""Export Takt Clips: the character with an animation for each procedure of its score, for game engines and the web."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..bridge.actions.procedure_actions import Wanted
from ..bridge.active_character import ForScore, active_armature
from ..bridge.files import engine_files, exported_procedures
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.reports import refuse
from ..core.errors import TaktError
from .in_steps import WorksInSteps
from .named_export import NamedAsCharacter
from .procedure_actions import WHICH, chosen, in_place_property, loop_property


class TAKT_OT_export_procedures(ForScore, WorksInSteps, NamedAsCharacter, bpy.types.Operator):
    """Write the character and an animation for each procedure of its score into one glTF or FBX file"""

    bl_idname = "takt.export_procedures"
    bl_label = "Export Takt Clips"
    bl_options = {"REGISTER"}
    doing = "Exporting"

    filename_ext = ".glb"
    check_extension = False
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        which: str
        in_place: bool
        loop: bool
    else:
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in engine_files.ENDINGS),
                                    options={"HIDDEN"})
        which: EnumProperty(name="Procedures", items=WHICH, description="Which procedures become animations")
        in_place: in_place_property()
        loop: loop_property()

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Play the procedures, one after the other, then write them all."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        try:
            names = chosen(armature_object, self.which)
        except TaktError as error:
            return refuse(self, str(error))
        path = Path(bpy.path.abspath(self.filepath))
        wanted = Wanted(self.in_place, self.loop)
        return self.begin(context, exported_procedures.steps(armature_object, scene, names, path, wanted))


@guarded(None)
def draw_in_export_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Export."""
    menu.layout.operator(TAKT_OT_export_procedures.bl_idname, text=say("Takt Clips (.glb, .gltf, .fbx)"),
                         translate=False)
