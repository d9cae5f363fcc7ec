"""Photograph the preview in a desktop Blender for the documentation.

blender --factory-startup --python docs/preview_pictures.py -- FOLDER

Builds the sample dancer, imports the dance, and goes through SHOTS: each changes something, lets the windows draw,
and takes a picture of the whole screen.
"""

import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import bpy
from mathutils import Euler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

import takt
from takt.samples.character import build_character

_DANCE = checkout.ROOT / "samples" / "library" / "dance.pha"
_REDRAWS = 4
"""Blender needs several before everything stands where it belongs."""
_FRAME = 402
_CLOSE = "400x460+510+225"
_SIDE_BY_SIDE = {"surface": _CLOSE, "zones": _CLOSE, "weights": _CLOSE, "see_through": _CLOSE, "ghosts": _CLOSE,
                 "paths": _CLOSE, "compare": "400x460+660+225", "crowd": "560x644+540+110"}
"""What of each screen is shown in preview_modes.png."""
_ops: Any = bpy.ops
_context: Any = bpy.context


def viewport() -> tuple[Any, Any, Any]:
    """Return window, area and region of the 3D viewport."""
    window = _context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, next(region for region in area.regions if region.type == "WINDOW")


def set_up() -> None:
    """Build, bind, import, and look at the dancer with the tab open."""
    takt.register()
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    armature, mesh = build_character(_context)
    mesh.select_set(True)
    armature.select_set(True)
    _context.view_layer.objects.active = armature
    _ops.takt.auto_bind()
    _ops.takt.import_pha(filepath=str(_DANCE))
    _context.scene.frame_set(_FRAME)
    _, area, _ = viewport()
    space: Any = area.spaces.active
    space.show_region_ui = True
    space.overlay.show_bones = False
    view = space.region_3d
    view.view_rotation = Euler((1.36, 0.0, 0.35)).to_quaternion()
    view.view_location, view.view_distance, view.view_perspective = root_place(armature), 4.2, "PERSP"


def root_place(armature: Any) -> tuple[float, float, float]:
    """Return where the dancer stands now."""
    head = armature.matrix_world @ armature.pose.bones[0].head
    return head.x, head.y, 0.85


def open_tab() -> None:
    """Show Takt's tab in the sidebar, over the whole window."""
    bpy.ops.screen.screen_full_area(use_hide_panels=False)
    _, area, _ = viewport()
    next(region for region in area.regions if region.type == "UI").active_panel_category = "Takt"


def choose(**values: Any) -> Callable[[], None]:
    """Return what makes choices of the preview."""
    def do() -> None:
        for name, value in values.items():
            setattr(_context.window_manager, f"takt_{name}", value)
    return do


def switch() -> None:
    """Switch the preview over."""
    _ops.takt.preview()


def activate_bone(name: str) -> Callable[[], None]:
    """Return what makes a bone active."""
    def do() -> None:
        bones = _context.object.data.bones
        bones.active = bones[name]
    return do


def far(distance: float) -> Callable[[], None]:
    """Return what looks from so far away."""
    def do() -> None:
        viewport()[1].spaces.active.region_3d.view_distance = distance
    return do


SHOTS: tuple[tuple[str, tuple[Callable[[], None], ...]], ...] = (
    ("off", (set_up,)),
    ("tab", (open_tab,)),
    ("surface", (switch,)),
    ("zones", (choose(picture="ZONES"),)),
    ("weights", (choose(picture="WEIGHTS"), activate_bone("l_hip"))),
    ("wireframe", (choose(picture="WIREFRAME"),)),
    ("see_through", (choose(picture="SHADED", see_through=True, skeleton=True),)),
    ("ghosts", (choose(see_through=False, skeleton=False, ghosts=3, ghost_step_s=0.2),)),
    ("paths", (choose(ghosts=0, paths=True),)),
    ("compare", (choose(paths=False, compare="CUTS"), far(5.5))),
    ("crowd", (choose(compare="NONE", copies=16, phase_s=0.4), far(12.0))),
    ("clock", (choose(copies=1, follows_timeline=False), far(4.2))),
    ("off_again", (switch,)),
)


def main(folder: Path) -> None:
    """Take all pictures, one step between redraws at a time, then quit."""
    folder.mkdir(parents=True, exist_ok=True)
    steps: list[Callable[[], None]] = []
    for name, changes in SHOTS:
        steps += [*changes, *[_wait] * _REDRAWS, partial(shoot, folder / f"{name}.png")]
    remaining = iter(steps)

    def go_on() -> float | None:
        window, area, region = viewport()
        try:
            with _context.temp_override(window=window, area=area, region=region):
                next(remaining)()
        except StopIteration:
            compose(folder)
            bpy.ops.wm.quit_blender()
            return None
        except Exception:
            traceback.print_exc()
        area.tag_redraw()
        return 0.15

    _context.preferences.view.show_splash = False
    bpy.app.timers.register(go_on, first_interval=1.0, persistent=True)


def compose(folder: Path) -> None:
    """Set the viewports of some pictures side by side: preview_modes.png."""
    cut = [part for name, place in _SIDE_BY_SIDE.items()
           for part in ("(", str(folder / f"{name}.png"), "-crop", place, "+repage", ")")]
    subprocess.run(["montage", *cut, "-tile", "4x2", "-geometry", "300x345+2+2", "-depth", "8",
                    f"PNG24:{folder}/preview_modes.png"], check=True)


def _wait() -> None:
    """Let the windows draw."""


def shoot(path: Path) -> None:
    """Keep what the screen shows, by ImageMagick: Blender's own screenshot is black where OpenGL runs in software."""
    subprocess.run(["import", "-window", "root", str(path)], check=True)


main(Path(sys.argv[sys.argv.index("--") + 1]) if "--" in sys.argv else checkout.ROOT / "build" / "pictures")
