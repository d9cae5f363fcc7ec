"""How many frames of a scene make a second."""

import bpy

_OTHER = 5e-4
"""Share by which frame rates differ: 24 and 23.976 frames a second by twice as much."""


def frames_per_second(scene: bpy.types.Scene) -> float:
    """Return the scene's frames in a second."""
    return scene.render.fps / scene.render.fps_base


def other_rates(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> tuple[str, ...]:
    """Return the scenes in which keys for this one play faster or slower on an armature, each with its frame rate."""
    rates = {other.name: frames_per_second(other) for other in armature_object.users_scene}
    return tuple(f"{name} ({rate:.5g})" for name, rate in rates.items()
                 if abs(rate / frames_per_second(scene) - 1.0) > _OTHER)
