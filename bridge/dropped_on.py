"""The character under the mouse, for drops."""

import bpy
from bpy_extras import view3d_utils

from .active_character import armature_problem


def armature_under(context: bpy.types.Context, event: bpy.types.Event) -> bpy.types.Object | None:
    """Return the armature of the mesh under the mouse in a 3D viewport, or None if none may be changed."""
    region, view, scene = context.region, context.region_data, context.scene
    if region is None or view is None or scene is None or context.view_layer is None:
        return None
    if not (0 <= event.mouse_region_x < region.width and 0 <= event.mouse_region_y < region.height):
        return None
    mouse = (event.mouse_region_x, event.mouse_region_y)
    origin = view3d_utils.region_2d_to_origin_3d(region, view, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, mouse)
    assert context.view_layer.depsgraph is not None
    is_hit, _, _, _, hit, _ = scene.ray_cast(context.view_layer.depsgraph, origin, direction)
    if not is_hit or hit is None:
        return None
    found = hit.original if isinstance(hit.original, bpy.types.Object) else hit
    armature_object = found if found.type == "ARMATURE" else found.find_armature()
    return None if armature_problem(armature_object) else armature_object
