"""Drags of a lane's line: up and down changes its weight, sideways how long it eases in or out."""

from __future__ import annotations

from dataclasses import dataclass

from ..pha.edits import SetAttribute
from ..pha.open_scores import Scores
from ..pha.values import spelled_within
from . import grid, hints
from .change import Edits, Proposal, asked_before, locked
from .grid import Meter
from .hit import Hit
from .lanes import Voice
from .layout import Layout
from .stripes import Stripes
from .view import View
from .weights import weight_span

_WEIGHT_STEP, _EASE_STEP, _EXACT, _MOST_EASE, _STILL_PX = 0.05, 0.25, 1e-6, 0.5, 2.0


@dataclass(frozen=True, eq=False)
class PullWeight:
    """A drag of one end of a lane's line.

    voice: the lane's number; is_right: whether it is the end; x, y: where it was pressed.
    """

    layout: Layout
    voice: int
    is_right: bool
    x: float
    y: float
    meter: Meter
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, hit: Hit, scores: Scores, meter: Meter) -> PullWeight:
        """Return a drag of the lane that was hit; it is refused if its file is locked."""
        assert hit.voice is not None
        document = layout.documents[layout.voices[hit.voice].document]
        return cls(layout, hit.voice, hit.is_right, hit.x, hit.y, meter, locked(document, scores))

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; it changes the ease if moved farther sideways than up or down, else the weight."""
        if self.refusal:
            return Proposal(refusal=self.refusal)
        voice = self.layout.voices[self.voice]
        if max(abs(x - self.x), abs(y - self.y)) < _STILL_PX * view.scale:
            return Proposal()
        if abs(x - self.x) > abs(y - self.y):
            return self._ease(voice, view, x, is_free)
        return self._weight(voice, view, y, is_free)

    def _ease(self, voice: Voice, view: View, x: float, is_free: bool) -> Proposal:
        ticks = view.tick_at(x) - voice.begin
        ticks = min(max(voice.length - ticks if self.is_right else ticks, 0.0), voice.length * _MOST_EASE)
        resolution = 1.0 / view.px_per_tick
        if not is_free:
            part, resolution = min(grid.step(view, self.meter), _EASE_STEP), _EXACT
            ticks = round(ticks / part) * part
        scale = float(self.layout.boxes.scale[voice.box])
        text = spelled_within(ticks / scale, resolution / scale)
        name = "easeOut" if self.is_right else "easeIn"
        begin = voice.begin + (voice.length - ticks if self.is_right else 0.0)
        does = "eases out" if self.is_right else "eases in"
        lasts = hints.length(self.layout, begin, ticks, name, text)
        return self._set(voice, {name: text}, f"{voice.body}: {does} over {lasts}")

    def _weight(self, voice: Voice, view: View, y: float, is_free: bool) -> Proposal:
        low, high = weight_span(voice, view, Stripes.of(self.layout, view))
        share = min(max((y - low) / (high - low), 0.0), 1.0)
        text = spelled_within(share, 0.01) if is_free else spelled_within(
            round(share / _WEIGHT_STEP) * _WEIGHT_STEP, _EXACT)
        name = "weightEnd" if self.is_right else "weight"
        values = {name: text}
        given = self.layout.documents[voice.document].text.shape.attributes[voice.element]
        if not self.is_right and "weightEnd" not in given:
            values["weightEnd"] = given.get("weight", "1")  # weightEnd was equal to weight, and keeps its value
        where = " at its end" * self.is_right
        return self._set(voice, values, f"{voice.body}: weight {text}{where}")

    def _set(self, voice: Voice, values: dict[str, str], hint: str) -> Proposal:
        text = self.layout.documents[voice.document].text
        given = text.shape.attributes[voice.element]
        edits = tuple(SetAttribute(voice.element, name, value, over_expression=True) for name, value in values.items()
                      if given.get(name) != value)
        first = next(iter(values))
        old = given.get(first)
        return Proposal(Edits(text, edits) if old != values[first] else None, hint,
                        question=asked_before(first, old, values[first]))
