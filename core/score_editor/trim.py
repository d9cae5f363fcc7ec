"""Drag the right edge of a clip to trim it: it ends earlier or later at the same speed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..pha.document import number
from ..pha.edits import RemoveAttribute, SetAttribute
from ..pha.open_scores import Scores
from ..pha.refactoring import as_version_2
from .boxes import Kind
from .change import Edits, Proposal, given
from .clip_part import EXACT, ClipPart
from .drag import PullEdge
from .grid import Meter
from .hints import short
from .layout import Layout
from .view import View


@dataclass(frozen=True, eq=False)
class TrimEdge:
    """A drag that changes a call's duration and its clip's part together. end: the attribute for the end of the part.

    part: the part of the clip that plays, or None if it is unknown.
    """

    pull: PullEdge
    end: str
    part: ClipPart | None
    ticks: float
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, box: int, grab: float, scores: Scores, meter: Meter) -> TrimEdge:
        """Return a drag of a box; refused unless the box is a clip with a known part and a duration of its own."""
        pull, part = PullEdge.of(layout, box, grab, scores, meter), ClipPart.of(layout, box)
        reverse = (given(layout, box, "reverse") or "no").strip()
        ticks = number(given(layout, box, "duration") or "")
        refusal = pull.refusal
        if not refusal and layout.boxes.kind[box] != Kind.CLIP:
            refusal = "only a clip can be trimmed; without Shift its length changes"
        if not refusal and (part is None or not ticks or reverse not in ("yes", "no")):
            refusal = "what of the clip plays is calculated; change it in the text, or pull without Shift"
        return cls(pull, "from" if reverse == "yes" else "to", part, ticks or 1.0, refusal)

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; with Ctrl the length is not snapped to beats."""
        if self.refusal or self.part is None:
            return Proposal(refusal=self.refusal)
        proposal = self.pull.to(view, x, y, is_free=is_free)
        change, element = proposal.change, int(self.pull.layout.boxes.element[self.pull.box])
        if not isinstance(change, Edits):
            return proposal
        wanted = next((number(edit.value) for edit in change.edits if isinstance(edit, SetAttribute)
                       and (edit.element, edit.name) == (element, "duration")), None)
        if wanted is None:
            return proposal
        begin, stop = self.part.begin, self.part.end
        size = (stop - begin) * wanted / self.ticks
        if size > (stop if self.end == "from" else 1.0 - begin) + EXACT:
            return Proposal(hint=proposal.hint, refusal="there is no more of the clip; without Shift it plays slower")
        at = stop - size if self.end == "from" else begin + size
        is_end = at < EXACT if self.end == "from" else at > 1.0 - EXACT
        said = self.part.written(self.end, at)
        edits = (*as_version_2(change.text), *change.edits)
        if not is_end:
            edits = (*edits, SetAttribute(element, self.end, said))
        elif given(self.pull.layout, self.pull.box, self.end) is not None:
            edits = (*edits, RemoveAttribute(element, self.end))
        if is_end:
            return replace(proposal, change=replace(change, edits=edits))
        at_s, clip_s = (short(share * self.part.clip_s, 2) for share in (at, 1.0))
        return replace(proposal, change=replace(change, edits=edits),
                       hint=f"{proposal.hint}, {self.end} {at_s} s of the clip's {clip_s} s")
