"""Moments at which the animator has set keys of tweaks; moves, copies and removes all keys of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.playing.ties import Ties
from ...core.score_editor.tweak_row import count_near, meets
from . import tweak_curves, tweaked_motion, tweaks
from .tweak_curves import CurveKeys
from .tweak_placing import bag_of, layout_of, ties_of
from .tweak_repeats import NEAR, InCalls, in_calls, nearest

_known: dict[int, tuple[int, FloatArray | None]] = {}
"""By the session_uid of an armature's object: the checksum of its tweaks, and the result of `frames_of`."""


class _OfLayer(NamedTuple):
    """Keys of moments in a layer: all its keys, the taken ones (T,), and the moment of each, (T,).

    calls: those of the layer's procedure, in which it repeats keys, None without one.
    """

    bag: bpy.types.ActionChannelbag
    keys: CurveKeys
    taken: IntArray
    moment: IntArray
    calls: InCalls | None

    def left(self, *, is_copy: bool) -> BoolArray:
        """Return which of the animator's keys (K,) stay where they are."""
        stays = self.keys.are_own.copy()
        stays[self.taken] &= is_copy
        return stays

    def met_in_other_calls(self, left: CurveKeys, goal: FloatArray) -> IntArray:
        """Return which taken keys, moved to frames (T,), would replace keys in other calls, as in `without_replaced`.

        A layer has one key for the same moment of all calls of its procedure. left: the keys that stay.
        """
        if self.calls is None:
            return np.zeros(0, dtype=np.int64)
        curve = np.concatenate((self.keys.curve[self.taken], left.curve))
        own, first, frames = self.calls.in_first(np.concatenate((goal, left.frames)))
        of_all, of_own = (curve * (max(own.max(), first.max()) + 1) + each for each in (first, own))
        moved = slice(len(goal))
        return np.flatnonzero(count_near(of_all[moved], frames[moved], of_all, frames, NEAR)
                              > count_near(of_own[moved], frames[moved], of_own, frames, NEAR))


def frames_of(armature_object: bpy.types.Object) -> FloatArray | None:
    """Return the distinct frames of all keys that the animator has set, (K,) ascending; None without tweaks.

    Includes frames at which a layer repeats them in other calls of its procedure.
    """
    checksum = tweaks.checksum(armature_object)
    known = _known.get(armature_object.session_uid)
    if known is None or known[0] != checksum:
        found = [tweak_curves.own_frames(tweak_curves.read(bag).claimed()) for _, bag in _bags(armature_object)]
        found += [copies for _, copies in _copies(armature_object)]
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
    found += [copies for action, copies in _copies(armature_object) if are_heard[action.name_full]]
    return ~np.isin(frames, np.concatenate([np.zeros(0), *found]))


def why_locked(armature_object: bpy.types.Object) -> str:
    """Return why no key of a character's tweaks can be moved, "" if some can."""
    actions = [action for _, action in tweaks.layers_of(armature_object)]
    if any(action.is_editable for action in actions):
        return ""
    return f"'{actions[0].name}' is linked: make it local first (Object > Relations)" if actions else "No tweaks"


class Taken:
    """The keys of some moments, and whether others are in their way."""

    def __init__(self, armature_object: bpy.types.Object, frames: FloatArray) -> None:
        self._layers = [*_taken(armature_object, frames)]

    def __len__(self) -> int:
        return sum(len(layer.taken) for layer in self._layers)

    def in_the_way(self, to: FloatArray, *, is_copy: bool) -> tuple[str, float] | None:
        """Return the bone and the frame of a key on which a moved key, or its copy, would come to lie, None if none is.

        to: (S,) the frame to which the keys of each moment are moved.
        """
        to = to.astype(np.float32).astype(np.float64)  # as stored
        for layer in self._layers:
            left = layer.keys.at(layer.left(is_copy=is_copy))
            curve, goal = layer.keys.curve[layer.taken], to[layer.moment]
            met = meets(curve, goal, left.curve, left.frames, NEAR)
            if not len(met):
                met = layer.met_in_other_calls(left, goal)
            if len(met):
                path = layer.keys.names[int(curve[met[0]])][0]
                return tweak_curves.bone_of(path) or path, float(goal[met[0]])
        return None


def move(armature_object: bpy.types.Object, frames: FloatArray, to: FloatArray, *, is_copy: bool = False) -> int:
    """Move the keys of moments (S,) to other frames (S,), or copies of them; return how many there are.

    Keys of the same curves that are there already give way. If they are repeated from another call of a layer's
    procedure, they are removed there, so that all calls repeat the moved keys. A key that is repeated at several of
    the moments moves with its own one, or else with the first of them.
    """
    count = 0
    for layer in _taken(armature_object, frames):
        keys, taken = layer.keys, layer.keys.at(layer.taken)
        goal, left = to[layer.moment], layer.left(is_copy=is_copy)
        left &= ~tweak_curves.is_in(keys.curve, keys.frames, taken.curve, goal, NEAR)
        moved = taken.moved(goal, np.ones(len(taken)))
        tweak_curves.write(layer.bag, keys, keys.at(left | ~keys.are_own).joined(moved))
        count += len(taken)
    return count


def remove(armature_object: bpy.types.Object, frames: FloatArray) -> int:
    """Remove the keys of moments (S,); return their number."""
    count = 0
    for layer in _taken(armature_object, frames):
        stays = np.full(len(layer.keys), True)
        stays[layer.taken] = False
        tweak_curves.write(layer.bag, layer.keys, layer.keys.at(stays))
        count += len(layer.taken)
    return count


def forget() -> None:
    """Clear the cache, as when another file is loaded."""
    _known.clear()


def _bags(armature_object: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionChannelbag]]:
    for _, action in tweaks.layers_of(armature_object):
        bag = bag_of(action)
        if bag is not None:
            yield action, bag


def _taken(armature_object: bpy.types.Object, frames: FloatArray) -> Iterator[_OfLayer]:
    """Yield each layer with animator's keys at frames (S,).

    If a layer repeats keys there, the repeated originals are taken.
    """
    repeated = {action.name: (calls, *calls.frames_of(ties)) for action, calls, ties in _calls(armature_object)}
    for action, bag in _bags(armature_object):
        keys = tweak_curves.read(bag).claimed()
        calls, copies, of = repeated.get(action.name, (None, np.zeros(0), np.zeros(0)))
        is_there = tweak_curves.is_near(copies, frames)
        order = np.lexsort((nearest(frames, copies[is_there]), of[is_there]))
        originals, first = np.unique(of[is_there][order], return_index=True)  # the first moment of each
        own, other = (tweak_curves.is_near(keys.frames, each) & keys.are_own for each in (frames, originals))
        taken = np.flatnonzero(own | other)
        if len(taken) and action.is_editable:
            moment = np.zeros(len(keys), dtype=np.int64)
            moment[other] = nearest(frames, copies[is_there])[order][first][nearest(originals, keys.frames[other])]
            moment[own] = nearest(frames, keys.frames[own])
            yield _OfLayer(bag, keys, taken, moment[taken], calls)


def _copies(armature_object: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, FloatArray]]:
    """Yield the frames at which layers repeat keys, (N,)."""
    for action, calls, ties in _calls(armature_object):
        yield action, calls.frames_of(ties)[0]


def _calls(armature_object: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, InCalls, Ties]]:
    """Yield the layers that repeat keys in the calls of a procedure, and their ties."""
    for layer, action in tweaks.layers_of(armature_object):
        layout = layout_of(action)
        if layer.procedure and layout is not None:
            with suppress(TaktError):  # `tweaks.problem` reports it
                ties = ties_of(action)
                calls = in_calls(layer, ties, layout)
                if calls is not None:
                    yield action, calls, ties
