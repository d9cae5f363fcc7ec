"""What the scripts share that photograph a desktop Blender: its viewport, steps between redraws, pictures.

They run in a Blender that fills a screen of 1400 × 900, with ImageMagick. The extension is that of the checkout.
"""

import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
from mathutils import Euler

import takt

IMAGES = Path(sys.argv[sys.argv.index("--") + 1]) if "--" in sys.argv else Path(__file__).parent / "images"
PAUSE_S = 1.0
"""Blender draws several times before a picture is whole."""
WIDTH, HEIGHT, LEFT, TOP = 1130, 860, 1, 20
"""Of Blender's window on the screen, its frame left out."""
context: Any = bpy.context
operators: Any = bpy.ops


def run(steps: Iterator[None]) -> None:
    """Take one step after another, with time to draw between them, then quit."""
    def step() -> float | None:
        window, area, region = viewport()
        try:
            with context.temp_override(window=window, area=area, region=region):
                next(steps)
        except StopIteration:
            operators.wm.quit_blender()
            return None
        except Exception:
            traceback.print_exc()
            operators.wm.quit_blender()
            return None
        area.tag_redraw()
        return PAUSE_S

    IMAGES.mkdir(parents=True, exist_ok=True)
    context.preferences.view.show_splash = False
    takt.register()
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    bpy.app.timers.register(step, first_interval=PAUSE_S, persistent=True)


def viewport() -> tuple[Any, Any, Any]:
    """Return window, area and region of the 3D viewport, or of what fills the window in its place."""
    window = context.window_manager.windows[0]
    area = next((area for area in window.screen.areas if area.type == "VIEW_3D"), window.screen.areas[0])
    return window, area, next(region for region in area.regions if region.type == "WINDOW")


def show_sidebar() -> None:
    """Open the sidebar; its tab can be chosen once it has been drawn."""
    viewport()[1].spaces.active.show_region_ui = True


def open_tab() -> None:
    """Turn to Takt's tab in the sidebar."""
    next(region for region in viewport()[1].regions if region.type == "UI").active_panel_category = "Takt"


def look_at(place: tuple[float, float, float], distance: float, turn: float = 0.3, tilt: float = 1.42) -> None:
    """Look at a place from a distance, turned about the vertical and tilted, in radians."""
    space = viewport()[1].spaces.active
    space.show_region_hud = False
    space.shading.color_type = "TEXTURE"
    space.overlay.show_outline_selected = False
    space.overlay.show_relationship_lines = space.overlay.show_bones = space.show_gizmo_navigate = False
    view = space.region_3d
    view.view_rotation = Euler((tilt, 0.0, turn)).to_quaternion()
    view.view_location, view.view_distance, view.view_perspective = place, distance, "PERSP"


def choose(**values: Any) -> None:
    """Choose what the preview shows."""
    for name, value in values.items():
        setattr(context.window_manager, f"takt_{name}", value)


def mouse(x: int, y: int) -> None:
    """Put the mouse somewhere, in pixels from the screen's upper left."""
    tell("mousemove", str(x), str(y))


def tell(*words: str) -> None:
    """Do something with the mouse, the keys or the window, as a user's hand."""
    subprocess.run(["xdotool", *words], check=True)


def make_small() -> None:
    """Give the window a size whose words can still be read when the picture is shown smaller."""
    tell("search", "--name", "Blender", "windowsize", str(WIDTH), str(HEIGHT))


def close_others() -> Iterator[None]:
    """Leave the 3D viewport alone in the window; Blender draws at each `yield`."""
    main = context.window_manager.windows[0]
    while (area := next((area for area in main.screen.areas if area.type != "VIEW_3D"), None)) is not None:
        with context.temp_override(window=main, area=area):
            operators.screen.area_close()
        yield


def maximise_viewport() -> None:
    """Leave all other editors out."""
    operators.screen.screen_full_area(use_hide_panels=False)


def photograph(name: str, part: str = f"{WIDTH}x{HEIGHT}+{LEFT}+{TOP}") -> Path:
    """Keep a part of the screen, by ImageMagick: Blender's own screenshot is black where OpenGL runs in software."""
    path = IMAGES / name
    subprocess.run(["import", "-window", "root", "-crop", part, "+repage", str(path)], check=True)
    return path
