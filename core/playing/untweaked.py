"""Times at which a tweaked motion equals the untweaked one. Since tweaks are short, these are most of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..maths.arrays import BoolArray, FloatArray
from .clock import Timed
from .differences import Tweaked
from .feet.tweaked_feet import TweakedFeet
from .stage import Stage, in_rounds
from .tweaked_bodies import Bodies

if TYPE_CHECKING:
    from .motion import Motion


@dataclass(frozen=True, eq=False)
class Untweaked:
    """The untweaked motion of a tweaked one.

    motion: without tweaks. end: the last stage of the tweaked motion. above: the tweaks that are added last, or None.
    feet: the stage that locks tweaked feet, or None if tweaks do not change foot lock.
    """

    motion: Motion
    end: Stage
    above: Tweaked | None
    feet: TweakedFeet | None

    @classmethod
    def of(cls, motion: Motion, end: Stage) -> Untweaked | None:
        """Return the comparison of a motion with the last stage of its tweaked motion.

        None if it is unknown at which times they are equal. That is so for feet on floors, where a change also acts
        before and after its own time.
        """
        above, stage = None, end
        if isinstance(stage, Tweaked) and stage.clock is None and stage.doubles is None:
            above, stage = stage, stage.below
        if stage is motion.end:
            return cls(motion, end, above, None)
        if isinstance(stage, Timed):
            stage = stage.below
        if isinstance(stage, TweakedFeet) and stage.plain is motion.feet:
            return cls(motion, end, above, stage)
        return None

    def differs(self, times_s: FloatArray) -> BoolArray:
        """Return at which of times (F,) the motions may differ, (F,)."""
        times_s = self._within(times_s)
        found = np.zeros(len(times_s), dtype=np.bool_) if self.above is None else self.above.acts(times_s)
        if self.feet is not None:
            rest, clock = np.flatnonzero(~found), self.motion.clock
            even_s = times_s[rest] if clock is None else clock.even(times_s[rest])
            found[rest] = self.feet.differs(np.clip(even_s, 0.0, self.feet.duration_s))
        return found

    def add(self, bodies: Bodies, times_s: FloatArray) -> bool:
        """Add the tweaks that are added last to bodies of the untweaked motion at times (F,); see Bodies.add."""
        return self.above is None or bodies.add(self.above, self._within(times_s))

    def _within(self, times_s: FloatArray) -> FloatArray:
        return in_rounds(times_s, self.motion.duration_s, self.motion.is_loop)[0]
