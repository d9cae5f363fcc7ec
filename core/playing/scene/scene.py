"""The scene in which a score plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...errors import Problem, quoted
from ...maths.arrays import FloatArray, IntArray
from ...pha.sequence import Sequence
from ...skeletons.maps import SkeletonMap
from ..placing.root_motion import RootMode
from ..row import Row
from ..stage import Stage
from .aim import timed_aims
from .aimed import Aimed
from .cast import Target
from .fitting import fitted
from .look import Neck
from .reach import Reaching
from .traveller import Traveller, ahead_of
from .warped import Warped
from .warping import warp_of


@dataclass(frozen=True, eq=False)
class Scene:
    """What plays the roles of a score, by their names, and the character that meets it.

    turn: quaternion (4,) from H-Anim's axes; up: (3,) in the character's model space. followers: see compose.
    """

    cast: Mapping[str, Target]
    body: SkeletonMap
    turn: FloatArray
    up: FloatArray
    followers: IntArray

    def fitted(self, sequence: Sequence, row: Row) -> tuple[Sequence, tuple[Problem, ...]]:
        """Return a sequence, of which a row plays one round of each call that fits, with as many as it needs."""
        traveller = self._traveller(row)
        return (sequence, ()) if traveller is None or row.is_loop else fitted(sequence, row, self.cast, traveller)

    def warped(self, stage: Stage, row: Row, root_motion: RootMode,
               seen: Callable[[float], float] = float) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion on its ways, and what is to be said of it; row: its segments; seen: see warp_of."""
        ways = row.sequence.ways
        if not ways:
            return stage, ()
        traveller = self._traveller(row)
        why = ("loops: its rounds go on from each other" if row.is_loop else "plays in place" if
               root_motion == "IN_PLACE" else "moves nothing that carries the body" if traveller is None else "")
        if traveller is None or why:
            return stage, (Problem(f"places and paths are left out while the score {why}", ways[0].place,
                                   is_warning=True),)
        warp, said = warp_of(stage, row.layout, ways, self.cast, traveller, seen)
        return (stage if warp is None else Warped(stage, warp, traveller)), said

    def aimed(self, stage: Stage, row: Row,
              seen: Callable[[float], float] = float) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion whose head and hands aim at what its elements say, and what is to be said of it."""
        aims, said = timed_aims(row.sequence.aims, row.layout, self.cast)
        if not aims:
            return stage, said
        neck = Neck.of(self.body, ahead_of(self.body, self.turn)) if any(not aim.hand for aim in aims) else None
        arms = {side: arm for side in sorted({aim.hand for aim in aims} - {""})
                if (arm := Reaching.of(self.body, side)) is not None}
        aimed = Aimed(stage, aims, neck, arms)
        missed = (Problem(f"<reach> at {seen(aim.there_s):.2f} s the hand stays {away:.2g} m away from "
                          f"{quoted(aim.role)}: bring it nearer, or the body", aim.place, is_warning=True)
                  for aim, away in aimed.misses())
        return aimed, (*said, *missed)

    def _traveller(self, row: Row) -> Traveller | None:
        return Traveller.of(row.sources.clips, self.up, self.followers, self.body, ahead_of(self.body, self.turn))
