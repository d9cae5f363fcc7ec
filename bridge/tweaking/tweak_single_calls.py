"""Calls of a procedure with tweaks of their own, beside those in all its calls."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.playing import ties as ties_
from ...core.playing.ties import Call
from .. import properties
from . import tweak_curves
from .tweak_placing import bag_of, layout_of, ties_of
from .tweak_repeats import in_calls


def chosen_layer(armature_object: bpy.types.Object) -> properties.TaktTweaks | None:
    """Return the layer of tweaks selected in the panel, None if there is none with an Action."""
    character = properties.character(armature_object)
    if not 0 <= character.tweaks_index < len(character.tweaks):
        return None
    layer = character.tweaks[character.tweaks_index]
    return layer if layer.action is not None else None


def tell_apart(armature_object: bpy.types.Object, frame: float) -> str:
    """Give the call at a frame its own keys; return a message. Raises TaktError before it changes anything.

    From now on, the keys in that call are its own. The other calls repeat the keys of the first of them.
    """
    layer = chosen_layer(armature_object)
    assert layer is not None and layer.action is not None  # the callers have checked it
    action, layout = layer.action, layout_of(layer.action)
    bag = bag_of(action)
    if not action.is_editable:
        raise TaktError(f"'{action.name}' is linked: make it local first (Object > Relations)")
    if layout is None or bag is None:
        raise TaktError("the score's Action is older than the score: press Rebuild")
    ties = ties_of(action)
    calls = in_calls(layer, ties, layout)
    assert calls is not None  # the layer has a procedure
    segment = int(layout.timeline.moments(np.array(((frame - layout.frame_start) / layout.fps,)))[0][0])
    call = calls.repeats.call_of(segment)
    if not call:
        raise TaktError(f"no call of '{calls.name}' plays at frame {frame:.5g}: go to one")
    if calls.repeats.is_alone(segment):
        raise TaktError(f"this call of '{calls.name}' has its own tweaks already")
    own = set(calls.repeats.segments_of(call).tolist())
    keys = tweak_curves.read(bag).claimed()
    kept = keys.as_own(keys.are_copies(*calls.frames_to_keep(ties, own)))
    tweak_curves.write(bag, keys, kept)
    alone = (*calls.alone, Call(ties_.texts_of(layout.timeline), call))
    said = ties_.to_json(replace(ties, over=(calls.name, calls.over), alone=alone))
    setattr(action, properties.TIES, said)
    return f"This call of '{calls.name}' has tweaks of its own now"
