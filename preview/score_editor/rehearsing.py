"""Play the clip or procedure under the mouse on the shelf: its figure on a card, and its character in the preview.

It stops when the mouse leaves it, and after a few rounds, since leaving the window causes no event.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy

from ...bridge.guard import guarded
from ...bridge.scores import score_tree
from ...bridge.scores.rehearsal import Rehearsal
from ...core.score_editor.figures import STEP_S
from .. import life as preview
from . import windows

_AFTER_S = 0.25
"""Delay, so that a mouse that only crosses a chip starts nothing."""
_ROUNDS, _LEAST_S = 3, 12.0


class _Pointed(NamedTuple):
    area: bpy.types.Area
    armature: bpy.types.Object
    chip: windows.Chip


_rehearsal: Rehearsal | None = None


def watch(chip: windows.Chip) -> None:
    """Start playing a chip under the mouse after a delay, unless it has finished or was not read yet."""
    if chip.playable.is_read and not _is_over(chip) and not bpy.app.timers.is_registered(_step):
        bpy.app.timers.register(_step, first_interval=_AFTER_S)


def stop() -> None:
    """Let the character play its score again."""
    if bpy.app.timers.is_registered(_step):
        bpy.app.timers.unregister(_step)
    _end()


def time_s(chip: windows.Chip) -> float | None:
    """Return the time since a chip began to play, or None before and after."""
    since_s = preview.now_s() - chip.since_s - _AFTER_S
    return since_s if 0.0 <= since_s <= max(_ROUNDS * chip.playable.duration_s, _LEAST_S) else None


def _is_over(chip: windows.Chip) -> bool:
    return time_s(chip) is None and preview.now_s() > chip.since_s + _AFTER_S


@guarded(None)
def _step() -> float | None:
    """Show the next instant; return the delay to the next call, or None if nothing plays."""
    global _rehearsal
    pointed = _pointed()
    if pointed is not None:
        pointed.area.tag_redraw()
    if pointed is None or _is_over(pointed.chip):
        _end()
        return None
    if preview.is_running() and time_s(pointed.chip) is not None:
        of = pointed.armature.session_uid, pointed.chip.playable
        if _rehearsal is None or _rehearsal.of != of:
            _end()
            _rehearsal = Rehearsal(pointed.armature, pointed.chip.playable)
        preview.try_out(_rehearsal.motion(), pointed.armature.session_uid, pointed.chip.since_s + _AFTER_S)
    return STEP_S


def _end() -> None:
    global _rehearsal
    if _rehearsal is not None:
        _rehearsal.cancel()
        _rehearsal = None
    preview.try_out(None)


def _pointed() -> _Pointed | None:
    """Return the chip under the mouse, or None if there is none or the mouse is in use."""
    for window, area in score_tree.areas():
        space = area.spaces.active
        shown = None if space is None else windows.window_of(space)
        if shown is None or shown.chip is None or shown.front is not None:
            continue
        with bpy.context.temp_override(window=window, area=area):
            armature = score_tree.character_of(score_tree.tree_of(bpy.context), bpy.context)
        if armature is not None:
            return _Pointed(area, armature, shown.chip)
    return None
