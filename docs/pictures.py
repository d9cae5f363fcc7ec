"""Take the README's pictures of Blender's window.

Run it in a Blender that fills a screen of 1400 × 900, with ImageMagick:

    python3 dev.py build
    blender --factory-startup -p 0 0 1400 900 --python docs/pictures.py -- IMAGES_FOLDER

It installs the zip as a user does, builds, binds and scores the sample character, and photographs the window.
"""

import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
from mathutils import Quaternion

ROOT = Path(os.environ.get("TAKT_ROOT", Path(__file__).resolve().parents[1]))
OUT = Path(sys.argv[sys.argv.index("--") + 1]) if "--" in sys.argv else Path(os.environ.get("TAKT_OUT", "/out"))
FRAME = 589
DANCE_FRAMES = (61, 109, 205, 349, 517, 541, 589, 685, 757, 1165, 1645, 1693)
DANCE_SIZE = 150, 260
context: Any = bpy.context
operators: Any = bpy.ops

PAUSE_S = 1.5
"""Blender draws several times before a picture is whole."""


def steps() -> Iterator[None]:
    """Do what a user does, with a pause wherever Blender has to draw."""
    install()
    yield
    show_dancer()
    yield
    arrange()
    yield
    open_tab()
    show_whole_timeline()
    operators.takt.preview()
    yield
    photograph("panel.png")
    context.window_manager.takt_picture = "ZONES"
    yield
    photograph("panel_zones.png")
    draw_dance("dance.png")


def install() -> None:
    archive = next((ROOT / "build").glob("takt-*.zip"))
    operators.extensions.package_install_files(filepath=str(archive), repo="user_default", enable_on_install=True)
    sys.path.insert(0, str(ROOT))
    import checkout  # noqa: F401  # makes takt.samples known


def show_dancer() -> None:
    from takt.samples.character import build_character

    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    armature, mesh = build_character(context)
    for ob in (mesh, armature):
        ob.select_set(True)
    context.view_layer.objects.active = armature
    operators.takt.auto_bind("EXEC_DEFAULT")
    operators.takt.import_pha(filepath=str(ROOT / "samples" / "library" / "dance.pha"))


def arrange() -> None:
    """Leave out what draws attention away; look at the dancer, who stands left of the sidebar."""
    context.scene.frame_set(FRAME)
    root = context.object.pose.bones[0].head
    for area in context.screen.areas:
        if area.type == "VIEW_3D":
            space: Any = area.spaces.active
            space.show_region_ui = True
            space.shading.type = "SOLID"
            space.overlay.show_relationship_lines = False
            space.region_3d.view_rotation = Quaternion((1.0, 0.0, 0.0), 1.48) @ Quaternion((0.0, 1.0, 0.0), 0.35)
            space.region_3d.view_distance = 4.0
            space.region_3d.view_location = (root.x + 0.35, root.y, 0.9)


def show_whole_timeline() -> None:
    """Zoom the timeline out to the whole dance with its markers."""
    for area in context.screen.areas:
        if area.type == "DOPESHEET_EDITOR":
            region = next(region for region in area.regions if region.type == "WINDOW")
            with context.temp_override(area=area, region=region):
                operators.action.view_all()


def open_tab() -> None:
    """Turn to Takt's tab in the sidebar, which Blender allows once the sidebar is drawn."""
    for area in context.screen.areas:
        for region in area.regions:
            if area.type == "VIEW_3D" and region.type == "UI":
                region.active_panel_category = "Takt"


def photograph(name: str) -> None:
    """Take the whole screen; Blender's own screenshot is black where windows are drawn by software."""
    subprocess.run(["import", "-window", "root", str(OUT / name)], check=True)


def draw_dance(name: str) -> None:
    """Draw the dance in a row of pictures, by the preview, without the window."""
    import numpy as np

    from takt.samples import film
    from takt.samples.demo import Dancer

    armature = context.object
    mesh = next(ob for ob in context.scene.objects if ob.type == "MESH")
    dancer = Dancer(context.scene, armature, mesh)
    cameras = [dancer.camera([frame], DANCE_SIZE) for frame in DANCE_FRAMES]
    film.write_png(OUT / name, np.concatenate(list(dancer.pictures(DANCE_FRAMES, cameras)), axis=1))


def main() -> None:
    todo = steps()

    def step() -> float | None:
        try:
            next(todo)
        except StopIteration:
            operators.wm.quit_blender()
            return None
        except Exception:
            traceback.print_exc()
            operators.wm.quit_blender()
            return None
        return PAUSE_S

    bpy.app.timers.register(step, first_interval=PAUSE_S)


context.preferences.view.show_splash = False
main()
