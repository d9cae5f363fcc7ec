"""The scene in which a score plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import Place, Problem, quoted
from ...maths.arrays import FloatArray, IntArray
from ...pha.sequence import Sequence
from ...skeletons.maps import SkeletonMap
from ..clock import Clock
from ..feet.floored import Floored
from ..feet.footholds import ground_axes
from ..feet.standing import Feet
from ..placing.root_motion import RootMode
from ..row import Row
from ..stage import Stage
from .aim import timed_aims
from .aimed import Aimed
from .cast import SceneFloor, Target, misfit
from .fitting import fitted
from .hold import with_holds
from .look import Neck
from .reach import Reaching
from .surface import Surface
from .traveller import Traveller, ahead_of
from .warped import Warped
from .warping import warp_of


@dataclass(frozen=True, eq=False)
class Scene:
    """What plays the roles of a score, by their names, and the character that meets it.

    turn: quaternion (4,) from H-Anim's axes; up: (3,) in the character's model space. followers: see compose.
    clock: where the tempo changes: what moves in the scene does so by the clock. floors: the roles on which feet stand,
    each with where a score says so.
    """

    cast: Mapping[str, Target]
    body: SkeletonMap
    turn: FloatArray
    up: FloatArray
    followers: IntArray
    clock: Clock | None = None
    floors: tuple[tuple[str, Place], ...] = ()

    def fitted(self, sequence: Sequence, row: Row) -> tuple[Sequence, tuple[Problem, ...]]:
        """Return a sequence, of which a row plays one round of each call that fits, with as many as it needs."""
        traveller = self._traveller(row)
        return (sequence, ()) if traveller is None or row.is_loop else fitted(
            sequence, row, self.cast, traveller, self._shown)

    def warped(self, stage: Stage, row: Row, root_motion: RootMode) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion on its ways, and what is to be said of it; row: its segments."""
        ways = row.sequence.ways
        if not ways:
            return stage, ()
        traveller = self._traveller(row)
        why = ("loops: its rounds go on from each other" if row.is_loop else "plays in place" if
               root_motion == "IN_PLACE" else "moves nothing that carries the body" if traveller is None else "")
        if traveller is None or why:
            return stage, (Problem(f"places and paths are left out while the score {why}", ways[0].place,
                                   is_warning=True),)
        warp, said = warp_of(stage, row.layout, ways, self.cast, traveller, self._shown)
        return (stage if warp is None else Warped(stage, warp, traveller)), said

    def floored(self, stage: Stage, row: Row) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion whose feet stand on the scene's floors, and what is to be said of these."""
        found, said = list[SceneFloor](), list[Problem]()
        why = ("loops: its rounds go on from each other" if row.is_loop else "" if isinstance(stage, Feet) else
               "plays in place, or with feet that are not locked")
        for role, place in self.floors:
            target = self.cast.get(role)
            text = misfit(target, SceneFloor, role)
            if target is None:
                text += ", so the ground is flat: choose a mesh for it"
            elif isinstance(target, SceneFloor):
                text = f"floors are left out while the score {why}" if why else (
                    target.note and f"the role {quoted(role)}: {target.note}")
                found.append(target)
            if text:
                said.append(Problem(f"<role> {text}", place, is_warning=True, is_note=target is None))
        if isinstance(stage, Feet) and found and not why:
            return Floored(stage, Surface.of(found, ground_axes(stage.up))), tuple(said)
        return stage, tuple(said)

    def aimed(self, stage: Stage, row: Row) -> tuple[Stage, tuple[Problem, ...]]:
        """Return a motion whose head and hands aim at what its elements say, and what is to be said of it."""
        aims, holds, said = timed_aims(row.sequence.aims, row.layout, self.cast)
        if holds and row.is_loop:
            said += (Problem("<hold> is left out while the score loops: nobody would bring the prop back",
                             holds[0].place, is_warning=True),)
            holds = ()
        if not (aims or holds):
            return stage, said
        neck = Neck.of(self.body, ahead_of(self.body, self.turn)) if any(not aim.hand for aim in aims) else None
        arms = {side: arm for side in sorted({aim.hand for aim in aims if aim.hand} | {hold.hand for hold in holds})
                if (arm := Reaching.of(self.body, side)) is not None}
        aimed, left_out = with_holds(Aimed(stage, aims, neck, arms, self._shown), holds)
        missed = (Problem(f"<reach> at {self._shown(np.array((aim.there_s,)))[0]:.2f} s the hand stays {away:.2g} m "
                          f"away from {quoted(aim.role)}: bring it nearer, or the body", aim.place, is_warning=True)
                  for aim, away in aimed.misses())
        return aimed, (*said, *missed, *left_out)

    def _shown(self, times_s: FloatArray) -> FloatArray:
        return times_s if self.clock is None else self.clock.shown(times_s)

    def _traveller(self, row: Row) -> Traveller | None:
        return Traveller.of(row.sources.clips, self.up, self.followers, self.body, ahead_of(self.body, self.turn))
