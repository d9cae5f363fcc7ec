"""Mouse gestures: the change proposed by a drag from the press to the current position."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ..pha.document import Document
from ..pha.edits import Insert, RemoveAttribute
from ..pha.open_scores import Scores
from ..pha.text import Text
from ..pha.values import spelled_within
from . import fragments, grid, growth, hints
from .boxes import Kind, ancestors
from .change import Edits, Proposal, given, locked, setting, uses_in_words
from .drop import Drop, drop_at
from .grid import Meter
from .hit import EDGE_PX
from .layout import BoxId, Layout
from .order import moves
from .stretch import Room
from .view import View

_EXACT = 1e-6
"""Distance from a line, in ticks, that a snapped value may have, so that numbers stay short."""
_MOST_REPEATS = 100_000
_NO_TICKS = {Kind.LOOP: "a loop lasts as long as what is in it; pull its parts, or the handle of its repeats",
             Kind.CONDITION: "a condition lasts as long as what is in it; pull its parts",
             Kind.PICK: "a choice lasts as long as what is chosen; pull that"}


class Drag(Protocol):
    """A drag under way. All that it proposes is relative to the layout and text at its beginning."""

    @property
    def refusal(self) -> str:
        """Why nothing can be dragged there, or ""."""

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """Return the change if the mouse were released at a pixel; is_free: Ctrl is held."""


@dataclass(frozen=True, eq=False)
class PullEdge:
    """A drag of the right edge of a box: the duration of its call. grab: ticks from the edge to the press."""

    layout: Layout
    box: int
    grab: float
    meter: Meter
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, box: int, grab: float, scores: Scores, meter: Meter) -> PullEdge:
        """Return a drag of a box's edge; it is refused if the call has no length of its own or its file is locked."""
        boxes = layout.boxes
        refusal = locked(_document(layout, box), scores) or _NO_TICKS.get(Kind(int(boxes.kind[box])), "")
        if not refusal and growth.Growth.of(layout, box) is None and Room.of(layout, box).is_filled:
            outer = boxes.titles[next(ancestors(boxes.parent, box))]
            refusal = f"it alone fills {outer}, so it is as long as {outer}; pull that"
        return cls(layout, box, grab, meter, refusal)

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; with Ctrl the length is not snapped to beats."""
        if self.refusal:
            return Proposal(refusal=self.refusal)
        boxes, box = self.layout.boxes, self.box
        room, around = Room.of(self.layout, box), growth.Growth.of(self.layout, box)
        start, edge = float(boxes.begin[box]), view.tick_at(x) - self.grab
        resolution = 1.0 / view.px_per_tick
        if not is_free:
            edge, resolution = grid.snapped(edge, view, self.meter), _EXACT
        least = resolution if is_free else min(grid.step(view, self.meter), float(boxes.length[box]))
        repeat, scale = int(boxes.repeat[box]), float(boxes.scale[box])
        if around is None:
            wanted, reach = room.limited(max(edge - start, least) / repeat), float(repeat)
            ticks = room.length / scale * room.needed(wanted)
        else:
            reach = around.reach
            wanted = max(room.length + (edge - float(boxes.end[box])) / reach, least / repeat)
            ticks = wanted / scale
        ticks_text = spelled_within(ticks, resolution / scale / reach)
        times = f" ×{repeat}" if repeat > 1 else ""
        lasts = hints.length(self.layout, start, repeat * wanted, "duration", ticks_text)
        proposed = setting(self.layout, box, "duration", ticks_text, f"{boxes.titles[box]}{times}: {lasts}")
        if around is None or not isinstance(proposed.change, Edits):
            return replace(proposed, hint=proposed.hint + uses_in_words(self.layout, box))
        more = (float(ticks_text) * scale - room.length) * repeat
        grown = growth.edits(self.layout, ((box, more),))
        hint = proposed.hint + "".join(f", {boxes.titles[outer]} {hints.short(float(edit.value))}" for outer, edit in
                                       zip(ancestors(boxes.parent, box), grown, strict=False))
        return replace(proposed, change=replace(proposed.change, edits=(*proposed.change.edits, *grown)),
                       hint=hint + uses_in_words(self.layout, box))


@dataclass(frozen=True, eq=False)
class PullRepeats:
    """A drag of the handle for a box's repetitions."""

    layout: Layout
    box: int
    grab: float
    refusal: str = ""

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; Ctrl has no effect."""
        boxes, box = self.layout.boxes, self.box
        if self.refusal:
            return Proposal(refusal=self.refusal)
        is_loop = boxes.kind[box] == Kind.LOOP
        wanted = max(view.tick_at(x) - self.grab - float(boxes.begin[box]), 0.0)
        times = int(np.clip(round(wanted / (boxes.length[box] / boxes.repeat[box])), 1, _MOST_REPEATS))
        hint = f"{boxes.titles[box]} ×{times}{uses_in_words(self.layout, box)}"
        if times == 1 and not is_loop:
            if given(self.layout, box, "repeat") is None:
                return Proposal(hint=hint)
            proposed = setting(self.layout, box, "repeat", "1", hint)
            edit = RemoveAttribute(int(boxes.element[box]), "repeat")
            return replace(proposed, change=Edits(_document(self.layout, box).text, (edit,)))
        return setting(self.layout, box, "times" if is_loop else "repeat", str(times), hint)


@dataclass(frozen=True, eq=False)
class PullTransition:
    """A transition dragged wider or narrower by the pressed side; pressed near its middle, by either side.

    pressed: the time of the press. owner: the box whose call gives its length, or would give it.
    """

    layout: Layout
    seam: int
    pressed: float
    owner: int | None
    meter: Meter
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, seam: int, pressed: float, scores: Scores, meter: Meter) -> PullTransition:
        """Return a drag of a transition; its owner is the call that gives its length, or the outermost ending there."""
        owner = layout.owner_of_transition(seam)
        if owner is None:
            return cls(layout, seam, pressed, None, meter, "between repetitions transitions are automatic; only the "
                       "one after the last can be set")
        return cls(layout, seam, pressed, owner, meter, locked(_document(layout, owner), scores))

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; without Ctrl the length snaps to parts of beats. The dragged end follows the mouse."""
        if self.refusal or self.owner is None:
            return Proposal(refusal=self.refusal)
        seams, seam = self.layout.seams, self.seam
        at, begin, end = (float(values[seam]) for values in (seams.tick, seams.begin, seams.end))
        right = min(max((end - at) / (end - begin), 0.0), 1.0) if end > begin else 0.5
        moved = view.tick_at(x) - self.pressed
        if right > _EXACT and (right > 1.0 - _EXACT or self._is_right(view, moved)):
            wider = moved / right
        else:
            wider = -moved / (1.0 - right)
        length = min(max(end - begin + wider, 0.0), self._longest)
        resolution = 1.0 / view.px_per_tick
        if not is_free:
            part, resolution = min(grid.step(view, self.meter), 0.25), _EXACT
            length = round(length / part) * part
        boxes = self.layout.boxes
        scale = float(boxes.scale[self.owner])
        ticks = spelled_within(length / scale, resolution / scale)
        lasts = hints.length(self.layout, at, length, "transition", ticks)
        hint = f"transition after {boxes.titles[self.owner]}: {lasts}{uses_in_words(self.layout, self.owner)}"
        return setting(self.layout, self.owner, "transition", ticks, hint)

    def _is_right(self, view: View, moved: float) -> bool:
        """Return whether the right end is dragged; near the middle, this is the end towards which the mouse has moved.

        Sides are told apart only in a transition that is wide enough.
        """
        seams, seam, slack = self.layout.seams, self.seam, EDGE_PX * view.scale
        off = self.pressed - float(seams.tick[seam])
        half = float(seams.end[seam] - seams.begin[seam]) / 2.0 * view.px_per_tick
        is_middle = abs(off) * view.px_per_tick <= max(slack - half, min(slack, half / 4.0))
        return (moved if is_middle else off) >= 0.0

    @property
    def _longest(self) -> float:
        """The greatest possible length, in ticks of the layout: that of the shorter of the two clips."""
        row = self.layout.rows[int(self.layout.seams.row[self.seam])]
        segment = int(self.layout.seams.segment[self.seam])
        return float(row.length_s[[segment, (segment + 1) % len(row)]].min()) / self.layout.tick_s


def automatic_again(layout: Layout, seam: int, scores: Scores) -> Proposal:
    """Propose to make the length of a transition automatic."""
    owner = layout.owner_of_transition(seam)
    if owner is None or given(layout, owner, "transition") is None:
        return Proposal(hint="the transition is automatic")
    document = _document(layout, owner)
    refusal = locked(document, scores)
    if refusal:
        return Proposal(refusal=refusal)
    edit = RemoveAttribute(int(layout.boxes.element[owner]), "transition")
    return Proposal(Edits(document.text, (edit,)), f"transition: automatic{uses_in_words(layout, owner)}")


@dataclass(frozen=True, eq=False)
class Carry:
    """Calls dragged to another gap. elements: in the text of a document, ascending; box: the one under the mouse."""

    layout: Layout
    box: int
    document: int
    elements: tuple[int, ...]
    scores: Scores
    refusal: str = ""
    _names: str = field(default="", repr=False)

    @classmethod
    def of(cls, layout: Layout, box: int, chosen: frozenset[BoxId], scores: Scores) -> Carry:
        """Return a drag of the chosen boxes; those within another chosen box are left out, since they move with it."""
        document = int(layout.boxes.document[box])
        text = layout.documents[document].text
        elements = fragments.outermost(text, {name.element for name in chosen if name.document == document})
        refusal = locked(layout.documents[document], scores)
        if {name.document for name in chosen} != {document}:
            refusal = "calls of different files cannot be moved together; copy them"
        names = layout.boxes.titles[box] if len(elements) == 1 else f"{len(elements)} calls"
        return cls(layout, box, document, elements, scores, refusal, names)

    @property
    def text(self) -> Text:
        """The text that contains them."""
        return self.layout.documents[self.document].text

    @property
    def _ticks(self) -> dict[int, float]:
        """Their lengths by box, in ticks of the procedure that contains them."""
        parent = self.layout.boxes.parent
        return growth.lengths(self.layout, self.document, self.elements, np.flatnonzero(parent == parent[self.box]))

    def drop(self, view: View, x: float, y: float) -> Drop | None:
        """Return the gap at a pixel."""
        return drop_at(self.layout, view, x, y)

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; with Ctrl the calls are copied instead of moved."""
        gap = self.drop(view, x, y)
        if gap is None:
            return Proposal()
        target = self.layout.documents[gap.document]
        taken = 0 if is_free or gap.document != self.document else sum(
            child in self.elements for child in self.text.children(gap.parent)[:gap.index])
        hint = f"{'copy of ' * is_free}{self._names} → {gap.words(taken)}"
        refusal = locked(target, self.scores) or ("" if is_free else self.refusal)
        if refusal:
            return Proposal(hint=hint, refusal=refusal)
        if is_free:
            fragment = fragments.fragment(self.text, self.elements)
            first = fragments.number_at(target.text, gap.parent, gap.index)
            new = fragments.numbers(fragment, first)
            grown = growth.edits(self.layout, gap.grows(sum(self._ticks.values())))
            return Proposal(Edits(target.text, (*grown, Insert(gap.parent, gap.index, fragment))), hint,
                            selects=tuple((gap.document, element) for element in new))
        if gap.document != self.document:
            return Proposal(hint=hint, refusal="calls cannot be moved to another file; hold Ctrl to copy them")
        if any(element <= gap.parent < self.text.after(element) for element in self.elements):
            return Proposal(hint=hint, refusal="they cannot be moved into themselves")
        children = list(self.text.children(gap.parent))
        rest = [child for child in children if child not in self.elements]
        new_order = [child for child in children[:gap.index] if child in rest] + list(self.elements) + [
            child for child in children[gap.index:] if child in rest]
        if new_order == children:
            return Proposal(hint=hint)
        edits, new = moves(self.text, self.elements, gap.parent, gap.index)
        lengths = self._ticks
        grown = growth.edits(self.layout, (*growth.without(self.layout, lengths), *gap.grows(sum(lengths.values()))))
        return Proposal(Edits(self.text, (*grown, *edits)), hint,
                        selects=tuple((gap.document, element) for element in new))


def _document(layout: Layout, box: int) -> Document:
    return layout.documents[int(layout.boxes.document[box])]
