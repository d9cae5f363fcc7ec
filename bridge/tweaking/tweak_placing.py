"""Placement of the keys of an Action of tweaks: tied to moments of the music, and moved to their current frames."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.playing import ties as ties_
from ...core.playing.block_names import Block
from ...core.playing.stored import DamagedError, Stored
from ...core.playing.ties import Ties, Waiting
from ...core.playing.tweaks import EASE_S, MOST_EASE_S
from .. import properties
from ..actions import curves
from ..actions.action_users import object_slot
from ..scores import element_history
from . import tweak_curves, tweak_placed
from .tweak_curves import SAME_FRAME, CurveKeys, Seen
from .tweak_layout import Layout
from .tweak_placed import Asked, Placed
from .tweak_repeats import InCalls, Moments, in_calls, nearest

_MOST_LAYOUTS = 32
_layouts: OrderedDict[str, Layout] = OrderedDict()
"""Layouts by which keys were placed in this session, by their `said`."""


def layout_of(action: bpy.types.Action) -> Layout | None:
    """Return the layout in which the keys of an Action are placed, None if this session does not know it."""
    return _layouts.get(getattr(action, properties.PLACED_BY))


def has_untied_keys(action: bpy.types.Action) -> bool:
    """Return whether an Action has keys that are not tied yet; raise TaktError as ties_of does."""
    bag = bag_of(action)
    frames = np.zeros(0) if bag is None else tweak_curves.own_frames(tweak_curves.read(bag).claimed())
    return bool((ties_of(action).find(frames, SAME_FRAME) < 0).any())


def forget() -> None:
    """Clear all caches."""
    _layouts.clear()
    tweak_placed.forget()


def _layout_before(action: bpy.types.Action, now: Layout) -> Layout:
    """Return the layout of keys that are not tied yet.

    For a layout of another session, only the first frame and frames per second are known.
    """
    said = str(getattr(action, properties.PLACED_BY))
    known = _layouts.get(said)
    if known is not None or not said:
        return known or now
    frame_start, fps, _ = said.split()
    return Layout(now.timeline, int(frame_start), float(fps))


def place(layer: properties.TaktTweaks, action: bpy.types.Action, now: Layout,
          known: dict[tuple[str, int], Seen] | None = None) -> None:
    """Move the keys of one Action to the frames of their moments in a layout, and store their ties.

    All input is stored in the Action itself, so the result is right after any undo and redo.
    known: what was just read of its curves, by data path and index; it is corrected for the curves that change.
    """
    before = _layout_before(action, now)
    _layouts[now.said] = now
    _layouts.move_to_end(now.said)
    while len(_layouts) > _MOST_LAYOUTS:
        _layouts.popitem(last=False)
    bag = bag_of(action)
    said = str(getattr(action, properties.TIES))
    ties_said(said)  # may raise
    if bag is None:
        return
    there = tweak_curves.read(bag, known or {})
    asked = Asked((layer.procedure, *_eases(layer), layer.holds), said, there, before, now)
    found = tweak_placed.placed(asked)
    if found is None:
        found = _placed(layer, asked)
        tweak_placed.keep_placed(asked, found)
    written = tweak_curves.write(bag, there, found.keys)
    if known is not None:
        for curve in written:
            known.pop(curve, None)
        known |= found.keys.seen(written, has_handles=bool(layer.procedure))
    for name, value in ((properties.TIES, found.ties), (properties.PLACED_BY, now.said)):
        if value != getattr(action, name):
            setattr(action, name, value)
    if found.procedure != layer.procedure:
        layer.procedure = found.procedure


def _placed(layer: properties.TaktTweaks, asked: Asked) -> Placed:
    """Return keys as placed in a layout, and their ties there."""
    _, said, there, before, now = asked
    kept = ties_.renamed(ties_said(said), ties_.texts_of(now.timeline))
    keys, calls = there.claimed(), in_calls(layer, kept, now)
    found = _Moments.of(kept, tweak_curves.own_frames(keys), before, now, calls)
    waiting = [*(found.waiting(at, keys) for at in np.flatnonzero(found.segment < 0).tolist())]
    restored, still = _restored(kept.waiting, now, calls)
    placed = _moved(keys.at(keys.are_own), found)
    for each in restored:
        placed = placed.joined(each.keys)
    moments = found.moments(restored)
    frames, segments = moments.frame, moments.segment
    if calls is not None:
        placed, moments = calls.without_replaced(placed, moments)
        copies, frames, segments = calls.copies(placed, moments)
        placed = placed.joined(copies)
        frames, segments = np.concatenate((moments.frame, frames)), np.concatenate((moments.segment, segments))
    ease_in, ease_out = _eases(layer)
    eased = placed.eased(segments[nearest(frames, placed.frames)], ease_in * now.fps, ease_out * now.fps, layer.holds)
    ties = _ties(moments, now, (*still, *waiting), calls)
    return Placed(eased, ties, layer.procedure if calls is None else calls.name)


def _eases(layer: properties.TaktTweaks) -> tuple[float, float]:
    """Return in how many seconds a layer is eased in and out; files of earlier versions may hold any number."""
    ease_in, ease_out = (min(each, MOST_EASE_S) if each >= 0.0 else EASE_S for each in (layer.ease_in, layer.ease_out))
    return ease_in, ease_out


@dataclass(frozen=True, eq=False)
class _Moments:
    """The F moments of an animator's keys, and their new frames.

    old: (F,) frames. segment: (F,) −1 if gone. share, length: (F,). frame: (F,) new frames. stretch: (F,). ties: of
    keys that were tied, and of new ones. tie: (F,) index into the ties of its kind. is_new: (F,) keys that were not
    tied yet.
    """

    old: FloatArray
    segment: IntArray
    share: FloatArray
    length: FloatArray
    frame: FloatArray
    stretch: FloatArray
    ties: tuple[Ties, Ties]
    tie: IntArray
    is_new: BoolArray

    @classmethod
    def of(cls, kept: Ties, frames: FloatArray, before: Layout, now: Layout, calls: InCalls | None) -> _Moments:
        """Tie new keys to the layout before, and find all blocks in the layout of now."""
        tie = kept.find(frames, SAME_FRAME)
        is_new, new = tie < 0, Ties.none()
        if is_new.any():
            new = ties_.renamed(ties_.tied(before.timeline, frames[is_new], before.frame_start, before.fps),
                                ties_.texts_of(now.timeline))
            tie[is_new] = np.arange(len(new))
        segment, share, length = np.full(len(frames), -1), np.zeros(len(frames)), np.zeros(len(frames))
        for ties, rows in ((kept, np.flatnonzero(~is_new)), (new, np.flatnonzero(is_new))):
            if not len(rows):
                continue
            own = tie[rows]
            segment[rows], share[rows], growth = places_now(ties.texts, ties.blocks, ties.block[own],
                                                            ties.share[own], now, calls)
            length[rows] = ties.length[own] / growth
        there = np.maximum(segment, 0)
        placed = np.where(segment >= 0, now.frames(there, share), 0.0)
        lengths = now.frames(there, np.ones(len(there))) - now.frames(there, np.zeros(len(there)))
        stretch = np.divide(lengths, length, out=np.ones(len(frames)), where=(length > 0.0) & (segment >= 0))
        return cls(frames, segment, share, length, placed, stretch, (kept, new), tie, is_new)

    def moments(self, restored: Sequence[_Restored]) -> Moments:
        """Return the moments whose blocks exist, and those of restored keys."""
        there = self.segment >= 0
        return Moments(np.append(self.frame[there], [each.frame for each in restored]),
                       np.append(self.segment[there], np.array([each.segment for each in restored], dtype=np.int64)),
                       np.append(self.share[there], [each.share for each in restored]),
                       np.append(self.is_new[there], np.zeros(len(restored), dtype=np.bool_)))

    def waiting(self, at: int, keys: CurveKeys) -> Waiting:
        """Return the keys at a moment of a block that is gone."""
        ties = self.ties[int(self.is_new[at])]
        taken = keys.at((nearest(self.old, keys.frames) == at) & keys.are_own)  # the same keys that `_moved` removes
        block = ties.blocks[ties.block[self.tie[at]]]
        return Waiting(ties.texts, block, float(self.share[at]), float(self.length[at]), taken.to_data())


def places_now(texts: ties_.Texts, blocks: Sequence[Block], block: IntArray, shares: FloatArray, now: Layout,
               calls: InCalls | None) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the current places of moments; see Timeline.find_moments. Shares of blocks that are gone stay."""
    new = ties_.texts_of(now.timeline)
    lineage = ties_.lineage(texts, new, element_history.origin)
    found = now.timeline.find_moments(blocks, block, shares, lineage, ties_.splits(texts, new, lineage),
                                      None if calls is None else calls.any_call(lineage, texts))
    is_gone = found[0] < 0
    return found[0], np.where(is_gone, shares, found[1]), np.where(is_gone, 1.0, found[2])


class _Restored(NamedTuple):
    """Keys whose block exists again."""

    keys: CurveKeys
    frame: float
    segment: int
    share: float


def _restored(waiting: tuple[Waiting, ...], now: Layout,
              calls: InCalls | None) -> tuple[list[_Restored], list[Waiting]]:
    """Return keys whose blocks exist again, and those that keep waiting."""
    there, still = list[_Restored](), list[Waiting]()
    for each in waiting:
        segments, shares, _ = places_now(each.texts, (each.block,), np.array((0,)), np.array((each.share,)), now,
                                         calls)
        segment, share = int(segments[0]), float(shares[0])
        if segment < 0:
            still.append(each)
            continue
        frame = float(now.frames(segments, shares)[0])
        keys = CurveKeys.from_data(each.keys)  # may raise
        there.append(_Restored(keys.moved(np.full(len(keys), frame), np.ones(len(keys))), frame, segment, share))
    return there, still


def _moved(keys: CurveKeys, moments: _Moments) -> CurveKeys:
    """Return an animator's keys at their moments' frames of now, without those of blocks that are gone."""
    at = nearest(moments.old, keys.frames)
    stays = moments.segment[at] >= 0
    return keys.at(stays).moved(moments.frame[at[stays]], moments.stretch[at[stays]])


def _ties(moments: Moments, now: Layout, waiting: tuple[Waiting, ...], calls: InCalls | None) -> str:
    """Return the ties of keys as they are stored."""
    segments = moments.segment
    different, block = np.unique(segments, return_inverse=True)
    ends = [now.frames(segments, np.full(len(segments), share)) for share in (0.0, 1.0)]
    ties = Ties(ties_.texts_of(now.timeline), tuple(map(now.timeline.block, different.tolist())), moments.frame, block,
                moments.share, ends[1] - ends[0], waiting, None if calls is None else (calls.name, calls.over),
                () if calls is None else calls.alone)
    said = ties_.to_json(ties)
    tweak_placed.keep_ties(said, ties)
    return said


def ties_of(action: bpy.types.Action) -> Ties:
    """Return the ties of an Action's keys; raise TaktError if they cannot be read."""
    return ties_said(str(getattr(action, properties.TIES)))


def ties_said(said: str) -> Ties:
    """Return ties from their stored form; raise TaktError as ties_of does."""
    if not said:
        return Ties.none()
    if (known := tweak_placed.ties(said)) is not None:
        return known
    try:
        found = ties_.from_stored(Stored(json.loads(said)))
        check_waiting(found)
    except (ValueError, RecursionError, DamagedError) as error:
        raise TaktError(f"the ties of the tweaks are damaged ({error}): their keys stay where they are; begin a new "
                        "layer (+), or open an older copy of this .blend") from None
    tweak_placed.keep_ties(said, found)
    return found


def check_waiting(ties: Ties, place: str = "") -> None:
    """Raise DamagedError if keys that wait are damaged. place: where the ties are stored."""
    for at, each in enumerate(ties.waiting):
        CurveKeys.from_data(each.keys, f"{place}waiting[{at}].keys")


def bag_of(action: bpy.types.Action) -> bpy.types.ActionChannelbag | None:
    """Return the curves of an Action of tweaks, None if it has none yet."""
    slot = object_slot(action)
    return next((bag for bag in curves.bags(action) if slot is not None and bag.slot_handle == slot.handle), None)
