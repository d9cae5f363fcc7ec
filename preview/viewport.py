"""What the preview asks of a viewport."""

import bpy
import numpy as np

from .draw import CameraView
from .look import ViewportLook

_VIEWPORT_RENDER = "RENDER_OT_opengl"


def view_of(region_view: bpy.types.RegionView3D, region: bpy.types.Region, look: ViewportLook) -> CameraView:
    """Return the camera of a viewport."""
    return CameraView(np.array(region_view.view_matrix, dtype=np.float64),
                      np.array(region_view.window_matrix, dtype=np.float64), region.width, region.height,
                      encode=False, look=look)


def has_depth(space: bpy.types.SpaceView3D) -> bool:
    """Return whether Blender has left its depth in a viewport.

    Without overlays EEVEE leaves no depth, so nothing could be drawn behind its objects.
    """
    return space.overlay.show_overlays or space.shading.type not in ("MATERIAL", "RENDERED")


def is_viewport_rendered() -> bool:
    manager = bpy.context.window_manager
    return any(running is not None and running.bl_idname == _VIEWPORT_RENDER  # None: its class has gone
               for window in (manager.windows if manager else ()) for running in window.modal_operators)
