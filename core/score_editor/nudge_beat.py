"""The music pulled under its ticks: what is heard where it is pressed is to be heard on the beat where it is let go."""

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
    """A beat moved on the music; grab: the tick at which the music was pressed."""

    layout: Layout
    grab: float
    meter: Meter
    refusal: str = ""

    @classmethod
    def of(cls, layout: Layout, grab: float, scores: Scores, meter: Meter) -> NudgeBeat:
        """Take the beats of the played score, if it may be changed and has music of its own."""
        refusal = locked(layout.documents[0], scores)
        try:
            grid_of(layout.documents[0])
        except EditError as error:
            refusal = refusal or str(error)
        return cls(layout, grab, meter, refusal)

    def to(self, view: View, x: float, y: float, *, is_free: bool = False) -> Proposal:
        """See Drag; free of the other beats, all of them go along."""
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
        """Return what of the music is heard at a tick now, in its seconds."""
        return float(grid_of(self.layout.documents[0]).seconds(np.array((float(tick),)))[0])
