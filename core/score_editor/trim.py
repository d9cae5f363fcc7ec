"""The right edge of a clip trimmed: it ends earlier or later, and plays as fast as before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..pha.document import number
from ..pha.edits import RemoveAttribute, SetAttribute
from ..pha.open_scores import Scores
from ..pha.refactoring import as_version_2
from ..pha.values import spelled_within
from .boxes import Kind
from .change import Edits, Proposal, given
from .drag import PullEdge
from .grid import Meter
from .layout import Layout
from .view import View

_EXACT: Final = 1e-4
"""Of the clip: so far may an end be from where it is pulled, so that its number stays short."""


@dataclass(frozen=True, eq=False)
class TrimEdge:
    """The duration of a call and the part of its clip, changed together. end: the attribute that says where it ends.

    part: what of the clip plays, from end to end as it plays. most: how large that can be.
    """

    pull: PullEdge
    end: str
    part: tuple[float, float]
    most: float
    ticks: float
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, box: int, grab: float, scores: Scores, meter: Meter) -> TrimEdge:
        """Take a box, if it is a clip, the part that it plays is known, and its duration may be changed."""
        pull = PullEdge.of(layout, box, grab, scores, meter)
        reverse = (given(layout, box, "reverse") or "no").strip()
        begin, stop, ticks = (number(given(layout, box, name) or default) for name, default in (
            ("from", "0"), ("to", "1"), ("duration", "")))
        refusal = pull.refusal
        if not refusal and layout.boxes.kind[box] != Kind.CLIP:
            refusal = "only a clip can be trimmed; without Shift its length changes"
        if not refusal and (begin is None or stop is None or not ticks or reverse not in ("yes", "no")):
            refusal = "what of the clip plays is calculated; change it in the text, or pull without Shift"
        if begin is None or stop is None or not ticks or stop <= begin:
            return cls(pull, "to", (0.0, 1.0), 1.0, 1.0, refusal)
        return cls(pull, "from" if reverse == "yes" else "to", (begin, stop), stop if reverse == "yes" else 1.0 - begin,
                   ticks, refusal)

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; free of beats, a pixel decides."""
        if self.refusal:
            return Proposal(refusal=self.refusal)
        proposal = self.pull.to(view, x, y, is_free=is_free)
        change, element = proposal.change, int(self.pull.layout.boxes.element[self.pull.box])
        if not isinstance(change, Edits):
            return proposal
        wanted = next((number(edit.value) for edit in change.edits if isinstance(edit, SetAttribute)
                       and (edit.element, edit.name) == (element, "duration")), None)
        if wanted is None:
            return proposal
        begin, stop = self.part
        size = (stop - begin) * wanted / self.ticks
        if size > self.most + _EXACT:
            return Proposal(hint=proposal.hint, refusal="there is no more of the clip; without Shift it plays slower")
        at = stop - size if self.end == "from" else begin + size
        is_end = at < _EXACT if self.end == "from" else at > 1.0 - _EXACT
        said = spelled_within(at, _EXACT)
        edits = (*as_version_2(change.text), *change.edits)
        if not is_end:
            edits = (*edits, SetAttribute(element, self.end, said))
        elif given(self.pull.layout, self.pull.box, self.end) is not None:
            edits = (*edits, RemoveAttribute(element, self.end))
        return replace(proposal, change=replace(change, edits=edits),
                       hint=proposal.hint if is_end else f"{proposal.hint}, {self.end} {said}")
