"""How many frames of a scene make a second."""

import bpy


def frames_per_second(scene: bpy.types.Scene) -> float:
    """Return the scene's frames in a second."""
    return scene.render.fps / scene.render.fps_base
