"""The music dragged under its ticks: the sound at the press moves to the beat at the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EditError, TaktError
from ..music.nudging import nudged, shifted
from ..pha.open_scores import Scores
from .change import Proposal, locked
from .grid import Meter
from .layout import Layout
from .music import LayTicks, grid_of
from .view import View


@dataclass(frozen=True, eq=False)
class NudgeBeat:
    """A drag of the music; grab: the tick at which it was pressed."""

    layout: Layout
    grab: float
    meter: Meter
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, grab: float, scores: Scores, meter: Meter) -> NudgeBeat:
        """Return a drag of the played score's beats; it is refused if the file is locked or has no music of its own."""
        refusal = locked(layout.documents[0], scores)
        try:
            grid_of(layout.documents[0])
        except EditError as error:
            refusal = refusal or str(error)
        return cls(layout, grab, meter, refusal)

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; with Ctrl all beats move along."""
        tick = max(round(view.tick_at(x)), 0)
        if self.refusal:
            return Proposal(refusal=self.refusal)
        document = self.layout.documents[0]
        try:
            grid = grid_of(document)
            time_s = float(grid.seconds(np.array((max(self.grab, 0.0),)))[0])
            moved = shifted(grid, tick, time_s) if is_free else nudged(grid, tick, time_s)
        except (EditError, TaktError) as error:
            return Proposal(refusal=str(error))
        what = "all beats" if is_free else f"beat {self.meter.bar(tick)}"
        return Proposal(LayTicks(document.text, moved), f"{what}: {time_s - self._heard_s(tick):+.3f} s")

    def _heard_s(self, tick: int) -> float:
        """Return the time in the music, in seconds, at a tick now."""
        return float(grid_of(self.layout.documents[0]).seconds(np.array((float(tick),)))[0])
