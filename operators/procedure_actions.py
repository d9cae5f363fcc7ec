"""Make Actions of Procedures: each procedure of the score becomes an Action of its own."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bridge import properties
from ..bridge.actions import procedure_actions
from ..bridge.actions.procedure_actions import Wanted
from ..bridge.active_character import ForScore, active_armature
from ..bridge.reports import Told, refuse
from ..core.errors import TaktError, some_of
from .in_steps import WorksInSteps

_SHOWN = 5
WHICH = (("ALL", "All", "All procedures of the score that can be started"),
         ("CHOSEN", "Chosen", "The procedure that is chosen in the list"))


def in_place_property() -> Any:
    """Return the property for motion in place."""
    return BoolProperty(name="In Place", description="Keep the character in place, for game engines that move it "
                                                     "by themselves. If off, it travels")


def loop_property() -> Any:
    """Return the property for loops."""
    return BoolProperty(name="Loop", description="Lead the end of each procedure back to its beginning, so that it "
                                                 "repeats without a jump")


class TAKT_OT_procedure_actions(ForScore, WorksInSteps, bpy.types.Operator):
    """Make an Action of each procedure, with the procedure's name. It begins at frame 0, and is kept in the file"""

    bl_idname = "takt.procedure_actions"
    bl_label = "Make Actions of Procedures"
    bl_options = {"REGISTER", "UNDO"}
    doing = "Making Actions"

    if TYPE_CHECKING:
        which: str
        in_place: bool
        loop: bool
        as_assets: bool
    else:
        which: EnumProperty(name="Procedures", items=WHICH, description="Which procedures become Actions")
        in_place: in_place_property()
        loop: loop_property()
        as_assets: BoolProperty(name="Mark as Assets", description="Show the Actions in the Asset Browser")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the options."""
        assert context.window_manager is not None
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Make the Actions one after the other."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        try:
            names = chosen(armature_object, self.which)
        except TaktError as error:
            return refuse(self, str(error))
        return self.begin(context, self._steps_of(armature_object, scene, names))

    def _steps_of(self, armature_object: bpy.types.Object, scene: bpy.types.Scene,
                  names: list[str]) -> Generator[float, None, list[Told]]:
        wanted = Wanted(self.in_place, self.loop)
        sampled = yield from procedure_actions.sampled_of(armature_object, scene, names, wanted)
        made = [procedure_actions.write(armature_object, each) for each in sampled if not each.problem]
        for action in made if self.as_assets else ():
            action.asset_mark()
            action.asset_generate_preview()
        told = procedure_actions.problems_of(sampled)
        told.append(("INFO", f"Made {len(made)} Actions: {some_of([each.name for each in made], _SHOWN)}"))
        return told


def chosen(armature_object: bpy.types.Object, which: str) -> list[str]:
    """Return the chosen procedures; raise TaktError if the score cannot be read."""
    names = procedure_actions.names_of(armature_object)
    return names if which == "ALL" else [properties.character(armature_object).procedure]
