"""Make `two_windows.blend`: the file that Blender starts with, with two windows, which none without a screen can open.

blender --factory-startup --python benchmarks/two_windows.py -- benchmarks/two_windows.blend, with a desktop Blender.
Both windows show a viewport each, as what the lines of Blender call their other editors differs.
"""

import sys
from typing import Any

import bpy

_context: Any = bpy.context
_ops: Any = bpy.ops


def _make() -> None:
    path = sys.argv[sys.argv.index("--") + 1]
    scene, window = _context.scene, _context.window_manager.windows[0]
    scene.render.engine = "BLENDER_WORKBENCH"
    with _context.temp_override(window=window):
        _ops.wm.window_new()
    kept = [window.workspace for window in _context.window_manager.windows]
    bpy.data.batch_remove([each for each in bpy.data.workspaces if each not in kept])
    bpy.data.batch_remove(list(bpy.data.brushes))
    shown = [window.screen for window in _context.window_manager.windows]
    for screen in bpy.data.screens:
        for area in screen.areas:
            area.type = "VIEW_3D" if screen in shown else "TEXT_EDITOR"
    _ops.outliner.orphans_purge(do_recursive=True)
    _ops.wm.save_as_mainfile(filepath=path, compress=True)
    _ops.wm.quit_blender()


if "--" in sys.argv:
    bpy.app.timers.register(_make, first_interval=1.0)
