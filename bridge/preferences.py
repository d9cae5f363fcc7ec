"""What Takt keeps in Blender's preferences: further libraries, searched after a score's own in their order."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

PACKAGE = (__package__ or "").rpartition(".")[0]
"""The name that Blender knows the extension by."""


class TaktFolder(bpy.types.PropertyGroup):
    """A folder with clips and scores."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Library", subtype="DIR_PATH",
                             description="A folder below which clips and scores lie")


class TaktPreferences(bpy.types.AddonPreferences):
    """The preferences of the extension."""

    bl_idname = PACKAGE

    if TYPE_CHECKING:
        libraries: bpy.types.bpy_prop_collection_idprop[TaktFolder]
        library_index: int
    else:
        libraries: CollectionProperty(type=TaktFolder)
        library_index: IntProperty()

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the list of libraries and the buttons that change it."""
        layout = cast(Any, self).layout
        layout.label(text="Libraries, searched in this order after a score's own")
        row = layout.row()
        row.template_list("TAKT_UL_libraries", "", self, "libraries", self, "library_index", rows=3)
        column = row.column(align=True)
        for action, icon in (("ADD", "ADD"), ("REMOVE", "REMOVE"), ("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
            column.operator("takt.change_libraries", text="", icon=icon).action = action


class TAKT_UL_libraries(bpy.types.UIList):
    """The libraries of the preferences."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw the folder."""
        layout.prop(item, "path", text="", emboss=False)


_CLASSES = (TaktFolder, TAKT_UL_libraries, TaktPreferences)


def preferences() -> TaktPreferences | None:
    """Return the preferences, None where the extension runs without being installed as one."""
    context = bpy.context
    entry = context.preferences.addons.get(PACKAGE) if context.preferences else None
    return None if entry is None else cast(TaktPreferences, entry.preferences)


def libraries() -> list[Path]:
    """Return the folders named in the preferences, in their order."""
    kept = preferences()
    return [] if kept is None else [Path(bpy.path.abspath(f.path)) for f in kept.libraries if f.path]


def register() -> None:
    """Make the preferences known to Blender."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take them out again."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
