"""Where all panels of Takt stand."""


class SidebarPanel:
    """The tab "Takt" in the sidebar of the 3D viewport."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Takt"
