"""Reads large meshes and samples motions while the preview is switched on, so that its first pictures are in time."""

import time
from collections.abc import Callable
from typing import cast

import bpy

from ..bridge.meshes.shape import is_shaped
from .choices import Choices
from .playing import played
from .running import Running
from .visible import find_members, known_motions

_READY_S = 2.0
"""Longest time for sampling frames. It is enough for about 50 s of a score for 50 characters with tweaks."""
_MOST_READY_S = 4.0
"""Longest time if not all characters have their first seconds after _READY_S."""
_LARGE_VERTICES = 100_000
"""A mesh of this size takes about half a second to read."""


def read_large_meshes(running: Running, layer: bpy.types.ViewLayer, tell: Callable[[float], None]) -> None:
    """Read meshes that would delay the first drawing; tell: called with the share of the work done."""
    layer.update()  # switching on evaluates the meshes, which counts as a change of them
    large = [(character, armature, mesh)
             for character, armature, meshes, _ in find_members(running, layer) for mesh in meshes
             if len(cast(bpy.types.Mesh, mesh.data).vertices) >= _LARGE_VERTICES or is_shaped(mesh)]
    for number, (character, armature, mesh) in enumerate(large):
        def tell_of_all(share: float, before: int = number) -> None:
            tell((before + share) / len(large))

        tell_of_all(0.0)
        character.read_ahead(armature, mesh, tell_of_all)


def sample_frames(running: Running, scene: bpy.types.Scene, layer: bpy.types.ViewLayer, choices: Choices) -> None:
    """Sample the motions of visible characters at the frames of the scene, for a few seconds at most."""
    layer.update()
    playing = known_motions(running, choices)
    for character, armature, meshes, _ in find_members(running, layer):
        if any(mesh.visible_get(view_layer=layer) for mesh in meshes):
            playing[character.uid] = played(armature, choices)
    began_s, preparing = time.perf_counter(), running.preparing
    while not is_prepared(running, scene, choices):
        if time.perf_counter() - began_s >= (_READY_S if preparing.has_begun else _MOST_READY_S):
            break
        preparing.go_on(running.cast.ahead, playing, running.playing[0], scene)


def is_prepared(running: Running, scene: bpy.types.Scene, choices: Choices) -> bool:
    """Return whether all frames of the scene are sampled; a player with its own clock needs none."""
    return not choices.player.follows_timeline or running.preparing.is_done(running.playing[0], scene)
