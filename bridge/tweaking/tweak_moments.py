"""Moments at which the animator has set keys of tweaks; moves, copies and removes all keys of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.maths.arrays import BoolArray, FloatArray
from . import tweak_curves, tweaked_motion, tweaks
from .tweak_curves import CurveKeys
from .tweak_placing import bag_of, layout_of, ties_of
from .tweak_repeats import in_calls

_known: dict[int, tuple[int, FloatArray | None]] = {}
"""By the session_uid of an armature's object: the checksum of its tweaks, and the result of `frames_of`."""


def frames_of(armature_object: bpy.types.Object) -> FloatArray | None:
    """Return the distinct frames of all keys that the animator has set, (K,) ascending; None without tweaks.

    Includes frames at which a layer repeats them in other calls of its procedure.
    """
    checksum = tweaks.checksum(armature_object)
    known = _known.get(armature_object.session_uid)
    if known is None or known[0] != checksum:
        found = [tweak_curves.own_frames(tweak_curves.read(bag).claimed()) for _, bag in _bags(armature_object)]
        found += [copies for _, copies, _ in _copies(armature_object)]
        frames = np.unique(np.concatenate([np.zeros(0), *found])) if tweaks.has_tweaks(armature_object) else None
        known = _known[armature_object.session_uid] = checksum, frames
    return known[1]


def silent_of(armature_object: bpy.types.Object) -> BoolArray | None:
    """Return which of `frames_of` only silent layers have, (K,): muted ones, or those that play nowhere."""
    frames = frames_of(armature_object)
    if frames is None:
        return None
    are_heard = {action.name_full: tweaked_motion.influence(armature_object, action) > 0.0
                 for _, action in tweaks.layers_of(armature_object)}
    if all(are_heard.values()):
        return np.zeros(len(frames), dtype=np.bool_)
    found = [tweak_curves.own_frames(tweak_curves.read(bag).claimed()) for action, bag in _bags(armature_object)
             if are_heard[action.name_full]]
    found += [copies for action, copies, _ in _copies(armature_object) if are_heard[action.name_full]]
    return ~np.isin(frames, np.concatenate([np.zeros(0), *found]))


def why_locked(armature_object: bpy.types.Object) -> str:
    """Return why no key of a character's tweaks can be moved, "" if some can."""
    actions = [action for _, action in tweaks.layers_of(armature_object)]
    if any(action.is_editable for action in actions):
        return ""
    return f"'{actions[0].name}' is linked: make it local first (Object > Relations)" if actions else "No tweaks"


def move(armature_object: bpy.types.Object, frame: float, to: float, *, is_copy: bool = False) -> int:
    """Move the keys of one moment to another frame, or copies of them; return how many there are.

    Keys of the same curves that are there already give way. If they are repeated from another call of a layer's
    procedure, they are removed there, so that all calls repeat the moved keys.
    """
    count = 0
    for bag, keys, taken in _taken(armature_object, frame):
        moved = taken.moved(np.full(len(taken), to), np.ones(len(taken)))
        left = keys if is_copy else keys.at(~taken.are_in(keys))
        tweak_curves.write(bag, keys, _without(left, to, taken).joined(moved))
        count += len(taken)
    return count


def remove(armature_object: bpy.types.Object, frame: float) -> int:
    """Remove the keys of one moment; return their number."""
    count = 0
    for bag, keys, taken in _taken(armature_object, frame):
        tweak_curves.write(bag, keys, keys.at(~taken.are_in(keys)))
        count += len(taken)
    return count


def forget() -> None:
    """Clear the cache, as when another file is loaded."""
    _known.clear()


def _bags(armature_object: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionChannelbag]]:
    for _, action in tweaks.layers_of(armature_object):
        bag = bag_of(action)
        if bag is not None:
            yield action, bag


def _taken(armature_object: bpy.types.Object,
           frame: float) -> Iterator[tuple[bpy.types.ActionChannelbag, CurveKeys, CurveKeys]]:
    """Yield each layer's curves with animator's keys at a frame, all their keys, and those at the frame.

    If a layer repeats keys there, the repeated originals are yielded.
    """
    repeated = {action.name: of[tweak_curves.is_near(copies, np.array((frame,)))]
                for action, copies, of in _copies(armature_object)}
    for action, bag in _bags(armature_object):
        keys = tweak_curves.read(bag).claimed()
        frames = np.append(repeated.get(action.name, ()), frame)
        taken = keys.at(keys.are_own & tweak_curves.is_near(keys.frames, frames))
        if len(taken) and action.is_editable:
            yield bag, keys, taken


def _copies(armature_object: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, FloatArray, FloatArray]]:
    """Yield the frames at which layers repeat keys, (N,), and the frames of the originals, (N,)."""
    for layer, action in tweaks.layers_of(armature_object):
        layout = layout_of(action)
        if layer.procedure and layout is not None:
            with suppress(TaktError):  # `tweaks.problem` reports it
                ties = ties_of(action)
                calls = in_calls(layer, ties, layout)
                if calls is not None:
                    yield (action, *calls.frames_of(ties))


def _without(keys: CurveKeys, frame: float, taken: CurveKeys) -> CurveKeys:
    """Return the keys without the animator's at a frame, in the curves that others are moved from."""
    gone = tweak_curves.is_near(keys.frames, np.array((frame,))) & np.isin(keys.curve, taken.curve) & keys.are_own
    return keys.at(~gone)
