"""Export Takt Clips: the character with an animation for each procedure of its score, for game engines and the web."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..bridge import exported_actions, procedure_actions, properties
from ..bridge.active_character import ForScore, active_armature
from ..bridge.guard import guarded
from ..bridge.procedure_actions import Wanted
from ..bridge.reports import Told, refuse
from ..core.errors import TaktError, some_of
from .in_steps import WorksInSteps
from .named_export import NamedAsCharacter
from .procedure_actions import WHICH, chosen, in_place_property, loop_property, problems_of, sampled_of

_SHOWN = 5


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
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in exported_actions.ENDINGS),
                                    options={"HIDDEN"})
        which: EnumProperty(name="Procedures", items=WHICH, description="Which procedures become animations")
        in_place: in_place_property()
        loop: loop_property()

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Play the procedures, one after the other, then write them all."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll saw to it
        try:
            names = chosen(armature_object, self.which)
        except TaktError as error:
            return refuse(self, str(error))
        path = Path(bpy.path.abspath(self.filepath))
        return self.begin(context, steps(armature_object, scene, names, path, Wanted(self.in_place, self.loop)))


def steps(armature_object: bpy.types.Object, scene: bpy.types.Scene, names: list[str], path: Path,
          wanted: Wanted) -> Generator[float, None, list[Told]]:
    """Play procedures and write them into a file; nothing of it stays in the .blend. Raises TaktError."""
    exported_actions.check(path)
    sampled = yield from sampled_of(armature_object, scene, names, wanted)
    made: dict[str, bpy.types.Action] = {}
    try:
        for each in sampled:
            if not each.problem:
                made[each.procedure] = procedure_actions.write(armature_object, each, is_new=True)
        mutes = properties.character(armature_object).mute_constraints
        moved = {bone for each in sampled for bone in each.moved} if mutes else set[str]()
        exported_actions.export(armature_object, made, moved, path)
    finally:
        for action in made.values():
            bpy.data.actions.remove(action)
    return [*problems_of(sampled),
            ("INFO", f"Wrote {len(made)} animations into {path}: {some_of(tuple(made), _SHOWN)}")]


@guarded(None)
def draw_in_export_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Export."""
    menu.layout.operator(TAKT_OT_export_procedures.bl_idname, text="Takt Clips (.glb, .gltf, .fbx)", translate=False)
