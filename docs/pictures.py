"""Photograph Blender's window for README and documentation, ImageMagick and xdotool at hand:

    blender --factory-startup -p 0 0 1400 900 --python docs/pictures.py -- IMAGES_FOLDER
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.docs import window
from takt.docs.window import choose, context, look_at, operators, photograph
from takt.samples import dancer

_POSE, _STEP, _JOIN = 541, 402, 97
"""Frames of the dance: a kick; on the way from one foot to the other; inside a transition."""
_HEADER_PX, _LINE_PX = 44, 22
"""Of the file browser."""
_TILE = "340x460+330+215"
_TILES: dict[str, dict[str, Any]] = {
    "surface": {},
    "zones": {"picture": "ZONES"},
    "weights": {"picture": "WEIGHTS"},
    "wireframe": {"picture": "WIREFRAME"},
    "see_through": {"see_through": True, "skeleton": True},
    "ghosts": {"ghosts": 3, "ghost_step_s": 0.2},
    "paths": {"paths": True},
    "crowd": {"copies": 25, "phase_s": 0.4},
}
"""What preview_modes.png shows, and what is chosen for it."""
_PLAIN: dict[str, Any] = {"picture": "SHADED", "see_through": False, "skeleton": False, "ghosts": 0, "paths": False,
                          "copies": 1, "compare": "NONE"}


def steps() -> Iterator[None]:
    """Do what a user does; Blender draws at each `yield`."""
    window.make_small()
    yield
    yield from drop()
    window.maximise_viewport()
    window.show_sidebar()
    yield
    window.open_tab()
    context.scene.frame_set(_POSE)
    x, y = place()
    look_at((x + 0.36, y, 0.86), 3.3)
    operators.takt.preview()
    yield
    window.mouse(420, 300)
    yield
    photograph("panel.png")
    yield from modes()
    yield from strip()
    yield from compare()


def drop() -> Iterator[None]:
    """Build and bind the dancer, then drag a score from a file browser to it: drop.png."""
    armature, _ = dancer.bound_dancer()
    operators.ed.undo_push(message="Bound")
    look_at((0.0, 0.0, 0.8), 5.2)
    operators.screen.area_split(direction="HORIZONTAL", factor=0.36)
    yield
    areas = [area for area in context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D"]
    browser = min(areas, key=lambda area: area.y)
    browser.ui_type = "FILES"
    yield
    space: Any = browser.spaces.active
    space.show_region_toolbar = False
    space.params.directory = bytes(dancer.LIBRARY)
    space.params.display_type = "LIST_VERTICAL"
    space.params.use_filter = False
    yield
    region = next(region for region in browser.regions if region.type == "WINDOW")
    listed = sorted(dancer.LIBRARY.iterdir(), key=lambda path: (path.is_file(), path.name.lower()))
    files_above = listed.index(dancer.DANCE)
    x, y = 28, window.TOP + window.HEIGHT - region.y - region.height + _HEADER_PX + files_above * _LINE_PX
    window.mouse(x, y)
    yield
    window.tell("mousedown", "1")
    for _ in range(10):
        x, y = x + 36, y - 34
        window.mouse(x, y)
        yield
    photograph("drop.png")
    window.tell("mouseup", "1")
    yield
    if armature.takt.text is None:
        raise RuntimeError("The score was not dropped; was the mouse on it?")
    with context.temp_override(area=browser):
        operators.screen.area_close()
    yield


def modes() -> Iterator[None]:
    """What the preview shows, tile by tile: preview_modes.png."""
    context.scene.frame_set(_STEP)
    bones = context.object.data.bones
    bones.active = bones["l_hip"]
    x, y = place()
    with tempfile.TemporaryDirectory() as folder:
        tiles = []
        for name, chosen in _TILES.items():
            choose(**{**_PLAIN, **chosen}, strip=False)
            far = "copies" in chosen
            look_at((x + (0.75 if far else 0.26), y + (2.5 if far else 0.0), 0.86), 9.5 if far else 3.25)
            yield
            tiles.append(photograph(f"{folder}/{name}.png", _TILE))
        made = window.IMAGES / "preview_modes.png"
        subprocess.run(["montage", *tiles, "-tile", "4x2", "-geometry", "+2+2", str(made)], check=True)
    choose(**_PLAIN, strip=True)


def strip() -> Iterator[None]:
    """The strip with the mouse over it: strip.png."""
    window.viewport()[1].spaces.active.show_region_ui = False
    yield
    for x in (690, 691):
        window.mouse(x, window.TOP + window.HEIGHT - 75)
        yield
    photograph("strip.png", f"{window.WIDTH}x150+{window.LEFT}+{window.TOP + window.HEIGHT - 175}")


def compare() -> Iterator[None]:
    """Two ways to join clips, side by side: compare.png."""
    context.scene.frame_set(_JOIN)
    x, y = place()
    choose(compare="CUTS", strip=False)
    look_at((x + 0.8, y, 0.75), 4.4, turn=0.1)
    yield
    yield
    photograph("compare.png", "640x480+270+170")
    choose(**_PLAIN, strip=True)


def place() -> tuple[float, float]:
    """Return where the dancer stands now."""
    head = context.object.matrix_world @ context.object.pose.bones[0].head
    return head.x, head.y


window.run(steps())
