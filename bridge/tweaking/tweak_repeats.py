"""Layers of tweaks for a procedure: keys set in one call are repeated in all its calls, as generated keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.pha.lineage import NEW
from ...core.playing import ties as ties_
from ...core.playing.block_names import AnyCall, Lineage, Over, before
from ...core.playing.repeats import Repeats, over_before, over_named, over_now
from ...core.playing.ties import Call, Ties
from .. import properties
from ..scores import element_history
from . import tweak_curves
from .tweak_curves import SAME_FRAME, CurveKeys
from .tweak_layout import Layout

NEAR = 0.5
"""A key set within this many frames of a copy replaces the copy's original; one moved so near to a key, this key."""


class Moments(NamedTuple):
    """M moments of an animator's keys: frames, segments, shares, and whether they are new, (M,) each."""

    frame: FloatArray
    segment: IntArray
    share: FloatArray
    is_new: BoolArray

    def at(self, chosen: BoolArray) -> Moments:
        """Return some of them."""
        return Moments(self.frame[chosen], self.segment[chosen], self.share[chosen], self.is_new[chosen])


@dataclass(frozen=True, eq=False)
class InCalls:
    """The procedure of a layer, as a layout plays it.

    name, over: the procedure; over is NEW if the score no longer has it. alone: calls with keys of their own.
    were_alone: these as the ties have them.
    """

    name: str
    over: Over
    alone: tuple[Call, ...]
    were_alone: tuple[Call, ...]
    repeats: Repeats
    layout: Layout

    def any_call(self, lineage: Lineage, texts: ties_.Texts) -> AnyCall:
        """Return the calls to which keys may move if their own call is gone, by the elements of the old texts.

        The keys of a call with keys of its own move to no other call: they wait.
        """
        barred = [segment for call in self.alone for segment in self.repeats.segments_of(call.chain).tolist()]
        return AnyCall(over_before(self.over, lineage), barred,
                       [before(call.chain, ties_.lineage(texts, call.texts, element_history.origin))
                        for call in self.were_alone])

    def without_replaced(self, keys: CurveKeys, moments: Moments) -> tuple[CurveKeys, Moments]:
        """Return keys without those that new keys in another call replace."""
        at = nearest(moments.frame, keys.frames)
        is_new = moments.is_new[at]
        if not is_new.any():
            return keys, moments.at(np.isin(np.arange(len(moments.frame)), at))
        first = self._first(moments.segment)
        frames = self.layout.frames(first, moments.share)[at]
        in_all, in_own = (keys.curve * len(self.layout.timeline) + each[at] for each in (first, moments.segment))
        replaced = ~is_new & (tweak_curves.is_in(in_all, frames, in_all[is_new], frames[is_new], NEAR)
                              & ~tweak_curves.is_in(in_own, frames, in_own[is_new], frames[is_new], NEAR))
        left = np.isin(np.arange(len(moments.frame)), at[~replaced])
        return keys.at(~replaced), moments.at(left)

    def copies(self, keys: CurveKeys, moments: Moments) -> tuple[CurveKeys, FloatArray, IntArray]:
        """Return copies of keys for all other calls, and the frames and segments of all copies.

        No copy is made where the animator already has keys.
        """
        of, segment = self._pairs(moments)
        frames = self.layout.frames(segment, moments.share[of])
        key, pair = joined(nearest(moments.frame, keys.frames), of, len(moments.frame))
        stretch = self._length(segment) / np.maximum(self._length(moments.segment[of]), 1e-9)
        curve, made = keys.curve[key], frames[pair].astype(np.float32).astype(np.float64)  # as they will be stored
        order = np.lexsort((moments.is_new[of[pair]], made, curve))
        curve, made = curve[order], made[order]
        is_last = np.append((np.diff(curve) != 0) | (np.diff(made) > SAME_FRAME), True)[:len(made)]
        chosen = order[is_last & ~tweak_curves.is_in(curve, made, keys.curve, keys.frames, NEAR)]
        pair = pair[chosen]
        return keys.at(key[chosen]).copied(frames[pair], stretch[pair]), frames, segment

    def frames_of(self, ties: Ties) -> tuple[FloatArray, FloatArray]:
        """Return the frames of copies, and those of their originals, (N,) each. ties: of this layout."""
        moments = self._moments(ties)
        of, segments = self._pairs(moments)
        return self.layout.frames(segments, moments.share[of]), moments.frame[of]

    def in_first(self, frames: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the segments of moments at frames (F,), and the segments and frames of the same in the first call."""
        layout = self.layout
        segments, shares = layout.timeline.moments((frames - layout.frame_start) / layout.fps)
        first = self._first(segments)
        return segments, first, layout.frames(first, shares)

    def frames_to_keep(self, ties: Ties, segments: Collection[int]) -> tuple[FloatArray, FloatArray]:
        """Return the copies that become the animator's keys when some segments get keys of their own.

        Their frames (N,), and those of their originals. They are the copies in these segments, and the first copy
        elsewhere of each key set in these.
        """
        moments = self._moments(ties)
        of, where = self._pairs(moments)
        inside = np.array(sorted(segments), dtype=np.int64)
        is_inside = np.isin(where, inside)
        moves = np.flatnonzero(~is_inside & np.isin(moments.segment[of], inside))
        moves = moves[np.unique(of[moves], return_index=True)[1]]
        chosen = np.append(np.flatnonzero(is_inside), moves)
        return self.layout.frames(where[chosen], moments.share[of[chosen]]), moments.frame[of[chosen]]

    def _first(self, segments: IntArray) -> IntArray:
        different, which = np.unique(segments, return_inverse=True)
        return np.array([self.repeats.first(segment) for segment in different.tolist()], dtype=np.int64)[which]

    def _moments(self, ties: Ties) -> Moments:
        found = self.layout.timeline.find(ties.blocks)
        segment = np.array([-1 if each is None else each for each in found], dtype=np.int64)[ties.block]
        there = np.flatnonzero(segment >= 0)
        return Moments(ties.frame[there], segment[there], ties.share[there], np.zeros(len(there), np.bool_))

    def _pairs(self, moments: Moments) -> tuple[IntArray, IntArray]:
        """Return for each copy its moment's index and its segment."""
        different, which = np.unique(moments.segment, return_inverse=True)
        others = [np.array(self.repeats.others(segment), dtype=np.int64) for segment in different.tolist()]
        row, copy = joined(np.repeat(np.arange(len(others)), [len(each) for each in others]), which, len(others))
        return copy, np.concatenate([np.zeros(0, np.int64), *others])[row]

    def _length(self, segments: IntArray) -> FloatArray:
        frames = [self.layout.frames(segments, np.full(len(segments), share)) for share in (0.0, 1.0)]
        return frames[1] - frames[0]


def in_calls(layer: properties.TaktTweaks, kept: Ties, layout: Layout) -> InCalls | None:
    """Return the procedure of a layer, None if it has none. kept: its old ties, by which the procedure is found."""
    if not layer.procedure:
        return None
    timeline = layout.timeline
    document, texts = timeline.sequence.origins.places.documents[0], ties_.texts_of(timeline)
    found, is_same = None, kept.over is not None and kept.over[0] == layer.procedure
    if is_same and kept.over is not None and kept.over[1].element != NEW:
        found = over_now(kept.over[1], document, ties_.lineage(kept.texts, texts, element_history.origin))
    if found is None:
        found = layer.procedure, over_named(document, layer.procedure) or Over("", NEW)
    name, over = found
    were_alone = kept.alone if is_same else ()
    alone = tuple(_now(call, over, layout) for call in were_alone)
    here = [call.chain for call in alone if call.texts == texts]
    return InCalls(name, over, alone, were_alone, Repeats(timeline, over, here), layout)


def _now(call: Call, over: Over, layout: Layout) -> Call:
    """Return a call by the current texts, or unchanged if it is gone."""
    texts = ties_.texts_of(layout.timeline)
    lineage = ties_.lineage(call.texts, texts, element_history.origin)
    chain = layout.timeline.find_calls((call.chain,), over_before(over, lineage), lineage)[0]
    return call if chain is None else Call(texts, chain)


def nearest(moments: FloatArray, frames: FloatArray) -> IntArray:
    """Return the nearest moment to each frame."""
    if not len(moments) or not len(frames):
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(moments)
    ordered = moments[order]
    after = np.minimum(np.searchsorted(ordered, frames), len(order) - 1)
    before = np.maximum(after - 1, 0)
    return np.asarray(order[np.where(frames - ordered[before] < ordered[after] - frames, before, after)])


def joined(left: IntArray, right: IntArray, kinds: int) -> tuple[IntArray, IntArray]:
    """Return all pairs of the same kind: rows of left (N,) and of right (M,), whose kinds are below `kinds`."""
    order = np.argsort(left, kind="stable")
    counts = np.bincount(left, minlength=kinds)
    starts, number = np.cumsum(counts) - counts, counts[right]
    row = np.repeat(np.arange(len(right)), number)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    return order[starts[right[row]] + nth], row
