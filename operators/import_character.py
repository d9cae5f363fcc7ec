"""Import Character: the humanoids of X3D and VRML, and COLLADA's skins with their skeletons."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import poll_file_object_drop

from ..bridge.files import character_files, character_objects
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.reports import GreyWithReason, refuse, tell
from ..core.errors import TaktError, quoted, some_of
from .dropped_file import OpensDroppedFile

_NAMED = 5


class TAKT_OT_import_character(GreyWithReason, OpensDroppedFile, bpy.types.Operator):
    """Open the characters of an X3D, VRML or COLLADA file: skeletons, meshes, weights, colours, textures and clips"""

    bl_idname = "takt.import_character"
    bl_label = "Import Character"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".x3d"
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:
        filepath: StringProperty(name="File Path", subtype="FILE_PATH", maxlen=1024, options={"HIDDEN", "SKIP_SAVE"})
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in character_files.ENDINGS),
                                    options={"HIDDEN"})

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why no objects can be made."""
        return "" if context.mode == "OBJECT" else "Go to Object Mode first"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Read everything first, then make the objects."""
        path = Path(bpy.path.abspath(self.filepath))
        try:
            file = character_files.read_characters(path)
            images, missing = character_files.images_of(file, path.parent)
            for character in file.characters:
                character_objects.check_names(character.skeleton)
        except TaktError as error:
            return refuse(self, str(error))
        for ob in context.selected_objects:
            ob.select_set(False)
        said, objects = [], list[bpy.types.Object]()
        for character in file.characters:
            made, clips = character_objects.make_character(context, character, images)
            objects += made
            vertices = sum(len(mesh.positions) for mesh in character.meshes)
            said.append(character_objects.made_of(character.name, vertices, len(character.skeleton), clips))
            lost = character_objects.scaled_in_part(objects[-1], character.clips)
            if lost:
                named = some_of([quoted(each) for each in lost], _NAMED)
                missing.append(f"'{character.name}': the file scales bones along axes other than their own; only a "
                               f"part of that can be seen: {named}")
        for ob in objects:
            ob.select_set(True)
        assert context.view_layer is not None
        context.view_layer.objects.active = objects[-1]
        scaled = any((each.skeleton.rest_scales != 1.0).any() for each in file.characters)
        warnings = [*file.warnings, *missing, *(
            ["Bones that are scaled at rest lose that scale, which Blender's bones cannot have"] if scaled else [])]
        tell(self, [*(("WARNING", warning) for warning in warnings), *(("INFO", each) for each in said)])
        return {"FINISHED"}


class TAKT_FH_character(bpy.types.FileHandler):
    """Lets files with characters be dropped into the 3D viewport."""

    bl_idname = "TAKT_FH_character"
    bl_label = "Character"
    bl_import_operator = TAKT_OT_import_character.bl_idname
    bl_file_extensions = ";".join(character_files.ENDINGS)

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Return whether a file may be dropped here."""
        return context is not None and context.mode == "OBJECT" and poll_file_object_drop(context)


@guarded(None)
def draw_in_import_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Import."""
    menu.layout.operator(TAKT_OT_import_character.bl_idname, text=say("Character (.x3d, .x3dv, .wrl, .dae, .ram)"),
                         translate=False)
