"""Foot lock for tweaked poses: feet in contact stay in place, with the height and rotation that they have untweaked.

What clips alone determine is shared with the untweaked motion, and so are results where no tweak acts. Poses are
computed again only for gaps at whose edges tweaks act.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.hierarchy import with_descendants
from ...skeletons.skeleton import Pose
from ..differences import Tweaked
from ..stage import Stage, in_rounds
from .footholds import NEVER_S, Footholds
from .footwork import Footwork
from .kept import Kept, keep
from .standing import Feet

_MANY: Final = 64
"""Requests with this many instants are likely to be followed by later ones:"""
_AHEAD: Final = 3.0
"""compute ahead for this many times their span."""


@dataclass(frozen=True, eq=False)
class TweakedFeet(Feet):
    """The stage that locks feet above tweaks, which are `below`. plain: the same stage without tweaks."""

    plain: Feet = field(kw_only=True)

    @classmethod
    def of(cls, plain: Feet, tweaks: Tweaked) -> TweakedFeet:
        """Put tweaks below a stage that locks feet."""
        return cls(tweaks, plain.row, plain.skeleton_map, plain.up, plain.skin, plain.lifts_sunk, plain.warped,
                   plain=plain)

    def differs(self, times_s: FloatArray) -> BoolArray:
        """Return at which times (F,) within the motion its poses may differ from those of the plain stage, (F,)."""
        gaps = self.lock.footholds.gaps_at(times_s)
        if len(times_s) >= _MANY and np.count_nonzero(self._is_new.take(gaps)):
            self._plan_ahead(float(times_s.min()), float(times_s.max()))
        self._plan(gaps)
        segment = self.row.segment_at(times_s)
        near = self.footwork.near(times_s, segment)
        lowered = (feet._lowered(times_s, segment, near) for feet in (self, self.plain))
        return np.asarray(self._are_own(times_s, gaps) | (near > 0.0) & np.not_equal(*lowered))

    def _plan_ahead(self, begin_s: float, end_s: float) -> None:
        """Compute what is needed between two times, and for some time after: together that is much cheaper."""
        edges_s = np.array((begin_s, end_s + _AHEAD * (end_s - begin_s)))
        gaps, (first, last) = self.lock.footholds.gaps_at(edges_s), self.row.segment_at(edges_s).tolist()
        self._plan(np.concatenate([np.arange(begin, end + 1) for begin, end in gaps.tolist()]))
        self._know_lowering(np.arange(first, last + 1))

    @property
    def footwork(self) -> Footwork:
        """What is known before any pose is computed: that of the plain stage."""
        return self.plain.footwork

    def _footholds(self) -> Footholds:
        return self.footwork.footholds.anew(self.footwork.steps_s)

    @property
    def tweaks(self) -> Tweaked:
        """The stage of tweaks below this one."""
        assert isinstance(self.below, Tweaked)
        return self.below

    @property
    def _posed_by(self) -> Stage:
        return self.plain.below

    def _posed(self, stage: Stage, own_s: FloatArray, rounds: IntArray, times_s: FloatArray,
               gaps: IntArray) -> tuple[Pose, Kept | None]:
        """Add tweaks to a stage's poses, and undo their rotation of ankles in contact; see Feet."""
        pose, carrying = stage.sample(own_s, rounds), self._carrying
        if self._of_feet is not None:
            self._of_feet.add(pose, own_s)
        at = np.flatnonzero(() if carrying is None else carrying.acts(own_s))
        if carrying is None or not len(at):
            return pose, None
        own = pose if len(at) == len(own_s) else pose.at(at)
        plain, _ = self.lock.limbs(own)
        carrying.add(own, own_s[at])
        some = keep(self.lock, own, plain, self.lock.footholds.near(gaps[:, at], times_s[at]))
        if own is pose:
            return pose, some
        pose.rotations[at], pose.translations[at], pose.scales[at] = own.rotations, own.translations, own.scales
        kept = Kept(np.zeros(gaps.shape), np.zeros(len(own_s)))
        kept.rise[:, at], kept.share[at] = some
        return pose, kept

    @cached_property
    def _carrying(self) -> Tweaked | None:
        """Tweaks of the joints above the feet; the ankles are not among them. None if there are none."""
        return _some(self.tweaks, ~self._are_feet)

    @cached_property
    def _of_feet(self) -> Tweaked | None:
        """Tweaks of all other joints, or None."""
        found = _some(self.tweaks, self._are_feet)
        return None if found is None else replace(found, doubles=None)  # nothing follows feet

    @cached_property
    def _are_feet(self) -> BoolArray:
        """Ankles and their descendants, (J,)."""
        ankles = np.array([leg.ankle for leg in self.footwork.legs], dtype=np.int64)
        return with_descendants(self.skeleton.parents, ankles)

    def _plan_over(self, gaps: IntArray) -> None:
        same = gaps[~self._is_changed[gaps]]
        if len(same):
            self.plain._plan(same)
            self.lock.footholds.take(same, self.plain.lock.footholds)
        if len(same) < len(gaps):
            super()._plan_over(gaps[self._is_changed[gaps]])

    def _know_lowering(self, segments: IntArray) -> None:
        self.plain._know_lowering(segments)
        self._lowering.know(segments, self._needed, self.plain._lowering)

    def _needed(self, times_s: FloatArray) -> FloatArray:
        """Return the needs of bodies at knots of the curves; where no tweak acts, those without tweaks."""
        gaps = self.lock.footholds.gaps_at(times_s)
        self._plan(gaps)
        own, curves = self._are_own(times_s, gaps), self.plain._lowering
        found = np.empty(len(times_s))
        found[~own] = curves.needs(np.rint(times_s[~own] * curves.per_s).astype(np.int64), self.plain._needed)
        found[own] = self._lacks(times_s[own])[0] if own.any() else 0.0
        return found

    def _are_own(self, times_s: FloatArray, gaps: IntArray) -> BoolArray:
        """Return at which times (F,) in gaps (L, F) tweaks act, or feet are led differently, (F,)."""
        own_s, _ = in_rounds(times_s, self.duration_s, self.is_loop)
        is_led = self._is_changed.take(gaps) & (times_s > self.lock.footholds.edges_s[0].take(gaps))
        return np.asarray(is_led.any(axis=0) | self.tweaks.acts(own_s))

    @cached_property
    def _is_changed(self) -> BoolArray:
        """Whether tweaks act where poses are computed for each gap, (G,)."""
        times_s = self.lock.footholds.near_edges_s()
        is_edge = np.abs(times_s) < NEVER_S / 2.0
        own_s, _ = in_rounds(times_s[is_edge], self.duration_s, self.is_loop)
        acts = np.zeros(times_s.shape, dtype=np.bool_)
        acts[is_edge] = self.tweaks.acts(own_s)
        return np.asarray(acts.any(axis=1))


def _some(tweaks: Tweaked, joints: BoolArray) -> Tweaked | None:
    """Return tweaks of joints (J,), or None."""
    found = tweaks.of_joints(joints)
    return found if found.layers else None
