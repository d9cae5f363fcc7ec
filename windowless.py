"""Bring up the graphics of a Blender without a window, for the GPU tests and the demo."""

import os
import subprocess
import sys

_TIMEOUT_S = 120.0


def start_graphics() -> None:
    """Make Blender's gpu module usable in background mode; without graphics libraries the process dies."""
    import bpy
    import gpu

    if hasattr(gpu, "init"):  # Blender 5.2
        gpu.init()
        return
    # Before that, the first render with a GPU engine does it.
    scene = bpy.data.scenes.new("graphics")
    scene.camera = bpy.data.objects.new("graphics", bpy.data.cameras.new("graphics"))
    scene.render.engine = "BLENDER_WORKBENCH"  # type: ignore[assignment]  # the stubs know only EEVEE
    scene.render.resolution_x = scene.render.resolution_y = 4
    bpy.ops.render.render(scene=scene.name)
    bpy.data.batch_remove((scene, scene.camera, scene.camera.data))


def missing_graphics() -> str:
    """Return why nothing can be drawn here, or "" where it can: another process tries, as it may die of it."""
    try:
        attempt = subprocess.run([sys.executable, __file__], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 errors="replace", timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"Blender's graphics did not start within {_TIMEOUT_S:.0f} s"
    if attempt.returncode == 0:
        return ""
    last = (attempt.stderr.strip().splitlines() or ["no message"])[-1]
    return (f"Blender's graphics do not start (exit code {attempt.returncode}: {last}); "
            "on Debian and Ubuntu: apt-get install libegl1 libgl1-mesa-dri")


if __name__ == "__main__":
    start_graphics()
    os._exit(0)  # 4.5 may crash while it winds down
