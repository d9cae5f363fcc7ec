"""The frames per second of a scene."""

import bpy

_OTHER = 5e-4
"""Share from which on frame rates count as different: 24 and 23.976 frames per second differ by twice as much."""


def frames_per_second(scene: bpy.types.Scene) -> float:
    """Return the scene's frames per second."""
    return scene.render.fps / scene.render.fps_base


def other_rates(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> tuple[str, ...]:
    """Return other scenes of an armature with another frame rate, in which keys play faster or slower."""
    rates = {other.name: frames_per_second(other) for other in armature_object.users_scene}
    return tuple(f"{name} ({rate:.5g})" for name, rate in rates.items()
                 if abs(rate / frames_per_second(scene) - 1.0) > _OTHER)
