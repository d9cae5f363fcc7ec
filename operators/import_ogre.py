"""Import OGRE: a mesh with its armature, weights, materials and clips, or a skeleton alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import StringProperty
from bpy_extras.io_utils import poll_file_object_drop

from ..bridge.files import character_objects, ogre_files
from ..bridge.files.character_objects import check_names, made_of, write_clips
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.meshes import armature_modifiers, groups
from ..bridge.reports import GreyWithReason, refuse, tell
from ..core.errors import TaktError
from ..core.formats.character import Look
from ..core.formats.ogre_material import OgreMaterial
from ..core.maths.srgb import linear
from .dropped_file import OpensDroppedFile


class TAKT_OT_import_ogre(GreyWithReason, OpensDroppedFile, bpy.types.Operator):
    """Open an OGRE character: mesh, skeleton, weights, materials, and each clip as an Action"""

    bl_idname = "takt.import_ogre"
    bl_label = "Import OGRE"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".mesh"
    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
    else:
        filepath: StringProperty(name="File Path", subtype="FILE_PATH", maxlen=1024, options={"HIDDEN", "SKIP_SAVE"})
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in ogre_files.ENDINGS),
                                    options={"HIDDEN"})

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why no objects can be made."""
        return "" if context.mode == "OBJECT" else "Go to Object Mode first"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Read everything first, then make the objects."""
        try:
            character = ogre_files.read_character(Path(bpy.path.abspath(self.filepath)))
            if character.skeleton is not None:
                check_names(character.skeleton.skeleton)
        except TaktError as error:
            return refuse(self, str(error))
        for ob in context.selected_objects:
            ob.select_set(False)
        clips = _make(context, character)
        vertices = 0 if character.mesh is None else len(character.mesh.positions)
        bones = 0 if character.skeleton is None else len(character.skeleton.skeleton)
        tell(self, [*(("WARNING", warning) for warning in character.warnings),
                    ("INFO", made_of(character.name, vertices, bones, clips))])
        return {"FINISHED"}


def _make(context: bpy.types.Context, character: ogre_files.OgreCharacter) -> int:
    """Make the objects, select them, and return the number of clips."""
    armature_object, clips = None, 0
    if character.skeleton is not None:
        name = character.name if character.mesh is None else f"{character.name} Rig"
        armature_object = character_objects.make_armature(context, name, character.skeleton.skeleton)
        clips = write_clips(context, armature_object, character.clips)
    mesh_object = None
    if character.mesh is not None:
        looks = tuple(_look(name, character.materials.get(name)) for name in character.mesh.materials)
        mesh = character.mesh.skinned(character.name, character.influences, looks)
        images: dict[Path | bytes, bpy.types.Image] = {}
        materials = [character_objects.make_material(look, character.textures.get(look.name), images) for look in looks]
        mesh_object = character_objects.make_mesh(context, mesh, materials)
    if armature_object is not None and mesh_object is not None and character.influences is not None:
        assert character.skeleton is not None
        groups.write_influences(mesh_object, character.skeleton.skeleton.names, character.influences)
        armature_modifiers.attach(mesh_object, armature_object)
    made = [ob for ob in (mesh_object, armature_object) if ob is not None]
    for ob in made:
        ob.select_set(True)
    assert context.view_layer is not None
    context.view_layer.objects.active = made[-1]
    return clips


def _look(name: str, material: OgreMaterial | None) -> Look:
    if material is None or material.diffuse is None:
        return Look(name)
    red, green, blue = linear(np.array(material.diffuse)).tolist()  # scripts give sRGB colours
    return Look(name, (red, green, blue))


class TAKT_FH_ogre(bpy.types.FileHandler):
    """Lets OGRE's files be dropped into the 3D viewport."""

    bl_idname = "TAKT_FH_ogre"
    bl_label = "OGRE"
    bl_import_operator = TAKT_OT_import_ogre.bl_idname
    bl_file_extensions = ";".join(dict.fromkeys(  # Blender sees only the last of two endings
        Path(ending).suffix or ending for ending in ogre_files.ENDINGS))

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Return whether a file may be dropped here."""
        return context is not None and context.mode == "OBJECT" and poll_file_object_drop(context)


@guarded(None)
def draw_in_import_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Import."""
    menu.layout.operator(TAKT_OT_import_ogre.bl_idname, text=say("OGRE (.mesh, .mesh.xml, .skeleton)"), translate=False)
