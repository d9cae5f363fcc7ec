"""Actions of tweaks as they will be once the score's Action is written: copies whose keys are moved already.

While an Action is sampled in a thread, the user still sees the old one, and sets keys above it. So the keys themselves
stay where they are until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from ...core.errors import TaktError
from ...core.playing.motion import Motion
from . import tweak_masks, tweaks
from .tweak_placing import place


@contextmanager
def moved(armature_object: bpy.types.Object, scene: bpy.types.Scene,
          motion: Motion) -> Iterator[Mapping[str, bpy.types.Action]]:
    """Yield copies of the Actions of a character's tweaks, by their full names, with keys at their moments in a motion.

    They are removed afterwards. Actions whose keys cannot be moved are left out.
    """
    copies = dict[str, bpy.types.Action]()
    try:
        for layer, action in tweaks.layers_of(armature_object):
            if tweaks.why_it_stays(armature_object, action):
                continue
            copy: Any = action.copy()
            copies[action.name_full] = copy
            settings = layer.procedure, layer.muted  # placing changes them
            try:
                with suppress(TaktError):  # reported once the keys themselves are moved
                    place(layer, copy, tweaks.layout_in(armature_object, scene, motion))
                    tweak_masks.apply(layer, copy, motion)
            finally:
                layer.procedure, layer.muted = settings
        yield copies
    finally:
        for made in copies.values():
            bpy.data.actions.remove(made)
