"""Foot lock: feet in contact stay in place by IK of the legs.

Contacts come from the clips, each on its original skeleton (clips/contacts.py). During a contact the foot's joint is
held in one position; the ankle follows, and hip and knee turn to reach it. If the leg would become straight, the body
goes down a little beforehand. At seams a foot stays, or makes a step (steps.py). On its way from or to a foothold it is
lifted a little, and the rims of soles go no lower than in the clips on both sides. Sunken feet are raised onto the
ground. A foot keeps its rotation. What clips alone determine is in footwork.py; for tweaked poses see tweaked_feet.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...retargeting.skin_points import SkinPoints
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..row import Row
from ..scene.warped import Warped
from ..stage import FIRST_ROUND, Over, Stage, in_rounds
from .footholds import Footholds
from .footwork import Footwork
from .kept import Kept
from .lock import FeetLock
from .lowering import Lowering


@dataclass(frozen=True, eq=False)
class Feet(Over):
    """The stage that locks feet in contact.

    row: the segments whose clips have the contacts. skeleton_map: roles of the joints, legs among them. up: unit vector
    (3,) of model space. skin: of the body, if known. lifts_sunk: whether sunken feet are raised onto the ground away
    from transitions too. warped: the stage below that bends the path over the ground, if any.
    """

    row: Row
    skeleton_map: SkeletonMap
    up: FloatArray
    skin: SkinPoints | None = None
    lifts_sunk: bool = True
    warped: Warped | None = None

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses of the stage below with feet in contact in place; see Stage."""
        segment, gaps = self.row.segment_at(times_s), self.lock.footholds.gaps_at(times_s)
        self._plan(gaps)
        pose, kept = self._posed(self._posed_by, times_s, FIRST_ROUND, times_s, gaps)
        upright, floor, knees, near = self.footwork.around(times_s, segment, kept)
        self.lock.hold(pose, times_s, gaps, upright, floor, knees, near, self._lowered(times_s, segment, near))
        self.root.repeat(pose, rounds)
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,); always includes the legs."""
        moved = self.below.moved.copy()
        for leg in self.footwork.legs:
            moved[[leg.hip, leg.knee, leg.ankle]] = True
        moved[self.lock.tops] = True
        return np.asarray(moved)

    @cached_property
    def steps(self) -> tuple[tuple[str, float, float, int], ...]:
        """The steps that feet make at seams, of one round of a loop.

        Each with its side, its beginning and end, and the segment before its seam.
        """
        footholds, legs = self.lock.footholds, self.footwork.legs
        begin_s, end_s = footholds.edges_s
        gaps = np.flatnonzero((footholds.lift > 0.0) & (end_s > 0.0) & (begin_s < self.duration_s))
        leg = np.searchsorted(footholds.first, gaps, side="right") - 1
        seam = self.footwork.played[0][footholds.into[gaps] - 1]
        return tuple((legs[at].side, begin, end, before) for at, begin, end, before in zip(
            leg.tolist(), begin_s[gaps].tolist(), end_s[gaps].tolist(), seam.tolist(), strict=True))

    @cached_property
    def held_s(self) -> tuple[tuple[str, FloatArray], ...]:
        """The contacts of one round of a loop: each with its side, beginning and end, (K, 2)."""
        found = []
        for number, leg in enumerate(self.footwork.legs):
            spans = np.clip(self.lock.footholds.spans_s(number), 0.0, self.duration_s)
            found.append((leg.side, spans[spans[:, 1] > spans[:, 0]]))
        return tuple(found)

    @cached_property
    def footwork(self) -> Footwork:
        """What is known before any pose is computed."""
        return Footwork(self.below, self.row, self.skeleton_map, self.up, self.skin, self.lifts_sunk, self.warped)

    @cached_property
    def lock(self) -> FeetLock:
        """The foot lock with its footholds."""
        return FeetLock(self.skeleton_map, self.footwork.legs, self._footholds(), self.up, self.footwork.soles)

    def _footholds(self) -> Footholds:
        """Return the footholds without anything computed from poses."""
        return self.footwork.footholds.anew()

    @property
    def _posed_by(self) -> Stage:
        """The stage that poses the body before `_posed` changes anything."""
        return self.below

    def _posed(self, stage: Stage, own_s: FloatArray, rounds: IntArray, times_s: FloatArray,
               gaps: IntArray) -> tuple[Pose, Kept | None]:
        """Return a stage's poses at times own_s (F,) in rounds (F,), and the effect of tweaks on feet, or None.

        times_s: the same in all rounds of a loop. gaps: (L, F) at these.
        """
        return stage.sample(own_s, rounds), None

    def _plan(self, gaps: IntArray) -> None:
        """Compute what footholds need over gaps (L, F), and over those before them, if it is unknown."""
        if not np.count_nonzero(self._is_new.take(gaps)):
            return
        self._plan_over(np.union1d(gaps, np.maximum(gaps - 1, 0)))
        self._is_new[gaps] = False

    def _plan_over(self, gaps: IntArray) -> None:
        """Compute that over gaps (N,)."""
        self.lock.footholds.know(gaps, self._loose)
        self.lock.footholds.plan(gaps, self._upright_at, lambda times_s: self._lacks(times_s)[1:])

    def _lowered(self, times_s: FloatArray, segment: IntArray, near: FloatArray) -> FloatArray:
        """Return the body's descent at times (F,) in segments (F,) near transitions, (F,)."""
        if not np.count_nonzero(near):
            return np.zeros(len(near))
        self._know_lowering(segment[near > 0.0])
        return self._lowering.at(times_s)

    def _know_lowering(self, segments: IntArray) -> None:
        """Compute the curves before and after segments (N,), if they are unknown."""
        self._lowering.know(segments, self._needed)

    @cached_property
    def _lowering(self) -> Lowering:
        return self.footwork.lowering()

    def _needed(self, times_s: FloatArray) -> FloatArray:
        """Return the body's descent that held feet need at times (F,), (F,); see _lacks."""
        gaps = self.lock.footholds.gaps_at(times_s)
        self._plan(gaps)
        return self._lacks(times_s)[0]

    @cached_property
    def _is_new(self) -> BoolArray:
        """Over which gaps of footholds nothing was played yet, (G,)."""
        return np.ones(self.lock.footholds.edges_s.shape[1], dtype=np.bool_)

    def _loose(self, times_s: FloatArray) -> FloatArray:
        """Return positions of free feet at times (F,), (F, L, 3) in ground coordinates.

        In a loop also in its other rounds.
        """
        own_s, rounds = in_rounds(times_s, self.duration_s, self.is_loop)
        pose, _ = self._posed(self.footwork.legs_posed_by, own_s, rounds, times_s,
                              self.lock.footholds.gaps_at(times_s))
        return self.footwork.joints.positions(pose)

    def _upright_at(self, times_s: FloatArray) -> FloatArray:
        """Return the lock weights in height at times (F,), in a loop also in its other rounds."""
        times_s, _ = in_rounds(times_s, self.duration_s, self.is_loop)
        return self.footwork.around(times_s, self.row.segment_at(times_s))[0]

    def _lacks(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what held feet lack to reach their footholds at times (F,), likewise; see FeetLock.lacks."""
        gaps = self.lock.footholds.gaps_at(times_s)
        self.lock.footholds.know(gaps, self._loose)
        own_s, rounds = in_rounds(times_s, self.duration_s, self.is_loop)
        pose, kept = self._posed(self.footwork.legs_posed_by, own_s, rounds, times_s, gaps)
        upright, floor, *_ = self.footwork.around(own_s, self.row.segment_at(own_s), kept)
        return self.lock.lacks(pose, times_s, gaps, upright, floor)
