"""Selected moments of tweaks in the score editor: they stay selected while keys are set, and the score changes."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...core.maths.arrays import BoolArray, FloatArray
from ...core.playing import ties as ties_
from ...core.playing.ties import Ties
from . import tweak_curves, tweak_moments, tweaks
from .tweak_layout import Layout
from .tweak_placing import layout_of, places_now

_KEPT = 256


class _Chosen(NamedTuple):
    """Selected moments: their frames in a layout, the layout's `said`, and their ties, None if it is unknown."""

    frames: FloatArray
    said: str
    ties: Ties | None


_chosen: dict[tuple[int, int], _Chosen] = {}
"""The last selections, by the session_uid of an armature's object and the checksum of its tweaks: undo does not restore
selections, so they are restored with the keys from here."""
_last: dict[int, _Chosen] = {}
"""The last selection, by the session_uid of an armature's object."""
_shown: dict[int, tuple[FloatArray, _Chosen, str, BoolArray]] = {}
"""What `chosen_of` last returned, likewise, after the frames, the selection and the layout on which it depends."""


def choose(armature_object: bpy.types.Object, frames: FloatArray) -> None:
    """Select the moments at frames (N,), and no others."""
    uid, layout = armature_object.session_uid, _layout(armature_object)
    ties = None if layout is None or not len(frames) else ties_.tied(layout.timeline, frames, layout.frame_start,
                                                                     layout.fps)
    found = _last[uid] = _Chosen(np.array(frames), "" if layout is None else layout.said, ties)
    _chosen.pop(key := (uid, tweaks.checksum(armature_object)), None)
    _chosen[key] = found
    while len(_chosen) > _KEPT:
        del _chosen[next(iter(_chosen))]


def chosen_of(armature_object: bpy.types.Object) -> BoolArray | None:
    """Return which of `tweak_moments.frames_of` are selected, (K,); None without tweaks."""
    frames, uid = tweak_moments.frames_of(armature_object), armature_object.session_uid
    if frames is None:
        return None
    if uid not in _last:
        return np.zeros(len(frames), dtype=np.bool_)
    chosen = _chosen.get((uid, tweaks.checksum(armature_object)), _last[uid])
    layout = _layout(armature_object)
    said, known = "" if layout is None else layout.said, _shown.get(uid)
    if known is None or known[0] is not frames or known[1] is not chosen or known[2] != said:
        known = _shown[uid] = frames, chosen, said, tweak_curves.is_near(frames, _now(chosen, layout))
    return known[3]


def frames_of(armature_object: bpy.types.Object) -> FloatArray:
    """Return the frames of the selected moments, ascending."""
    frames, chosen = tweak_moments.frames_of(armature_object), chosen_of(armature_object)
    return np.zeros(0) if frames is None or chosen is None else frames[chosen]


def forget() -> None:
    """Clear all selections, as when another file is loaded."""
    for kept in (_chosen, _last, _shown):
        kept.clear()


def _now(chosen: _Chosen, layout: Layout | None) -> FloatArray:
    """Return the current frames of selected moments whose blocks still exist."""
    if layout is None or chosen.ties is None or layout.said == chosen.said:
        return chosen.frames
    ties = chosen.ties
    segments, shares, _ = places_now(ties.texts, ties.blocks, ties.block, ties.share, layout, None)
    return layout.frames(segments[segments >= 0], shares[segments >= 0])


def _layout(armature_object: bpy.types.Object) -> Layout | None:
    """Return the layout in which the keys of a character's tweaks are placed, None if this session does not know it."""
    return next((layout for _, action in tweaks.layers_of(armature_object)
                 if (layout := layout_of(action)) is not None), None)
