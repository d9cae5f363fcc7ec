"""Where all panels of Takt stand."""

import bpy


class SidebarPanel(bpy.types.Panel):
    """The tab "Takt" in the sidebar of the 3D viewport; not registered itself."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Takt"
