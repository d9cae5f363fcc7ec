"""The height of a body on the ground follows one smooth curve, and the legs take up the difference.

One solve (maths/displacement.py) turns the wish of each frame into a smooth curve c:

    minimise    Σ (c − wish)² + s⁴ Σ c''² + Σ μ (how far c is beyond what legs can draw up, or put down)²
    subject to  c ≥ what keeps skin out of the ground

μ is large in contacts, and small where it only keeps a knee from bending much. A body below the bound begins to rise
before it has to. A body that would go down for only a moment hardly does. How far each foot is raised is such a curve,
too. Its bounds keep the foot on the ground during contacts, and out of the ground otherwise. Feet that slide, as in a
walk in place, are on the ground like those that stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.thresholds import BODY_S, LIMB_S, NEAR_LEGS, SOFT_LEGS, STILL_LEGS
from ...maths.arrays import FloatArray, smoothstep
from ...maths.displacement import SoftBounds
from ..limbs import Limb
from .arms_off_ground import ArmsOnGround
from .fitted_curves import CONTACT_WEIGHT, SOFT_WEIGHT, ends_as_it_begins, smoothed
from .grounding import Ground, most_drawn, most_put_down
from .lift_of_touching import near_ground

_ON_LEGS: Final = (0.005, 0.03)
"""Height of a foot in the clip. Up to the first value it is on the ground, even while it slides; from the second on, it
is not."""
_SLIDES_LEGS: Final = (0.04, 0.1)
"""Height of a foot on this body. From the second value on it does not slide on the ground; up to the first it may."""
_FOOT_WEIGHT: Final = 300.0
"""Weight of the feet's contacts in the curves by which legs raise feet."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of a body with L feet at times (F,).

    low: (F, L + 1) the height of the lowest skin of each foot, and of the whole body, above the ground in playback.
    high: (F, L + 1) the wanted height when it leaves the ground, or comes to it. clear: (F, L) the lowest height
    without feet, arms and the other leg's shin. others: (F,) the lowest height without feet and arms, with shins raised
    as far as the legs raise them. touching, weight: (F, L + 1) how much each touches the ground in the clip, 0 to 1,
    and its contact weight. below: (F, L) how far each ankle is below its hip. arms: their skin, which counts as far as
    it bears the body. leg: the length of the legs. Lengths are in the unit of the model.
    """

    times_s: FloatArray
    low: FloatArray
    high: FloatArray
    clear: FloatArray
    others: FloatArray
    touching: FloatArray
    weight: FloatArray
    legs: tuple[Limb | None, ...]
    below: FloatArray
    arms: ArmsOnGround
    leg: float

    @property
    def is_cycle(self) -> bool:
        """Whether the clip ends as it begins, so that it can loop."""
        return ends_as_it_begins(self.low, self.leg)

    @property
    def hangs(self) -> FloatArray:
        """Heights of feet above their wanted heights, (F, L)."""
        return np.asarray((self.low - self.high)[:, :-1])

    def is_on(self) -> FloatArray:
        """Return how much feet are on the ground, in contact or sliding, (F, L) 0 to 1."""
        slides = 1.0 - smoothstep(self.high[:, :-1] / self.leg, *_ON_LEGS)
        slides *= 1.0 - smoothstep(self.hangs / self.leg, *_SLIDES_LEGS)
        return np.maximum(self.touching[:, :-1] * near_ground(self.hangs, self.leg), slides)

    def may_be_put_down(self, played: Clip, on: FloatArray) -> FloatArray:
        """Return how far legs can lower feet, (F, L). on: (F, L) how much feet are on the ground. played: the clip."""
        puts = np.zeros(on.shape)
        for column, limb in enumerate(self.legs):
            frames = np.flatnonzero(on[:, column] > 0.0)
            if limb is not None and len(frames):
                down = most_put_down(played, limb, self.times_s[frames], self.below[frames, column])
                puts[frames, column] = np.minimum(down, np.maximum(self.clear[frames, column], 0.0))
        return puts


def smooth_ground(found: Measured, played: Clip, lift: FloatArray, most: FloatArray, reach: FloatArray,
                  before: Sequence[Ground]) -> Ground:
    """Return smooth lifts of body and feet that bring a body to the ground, near wanted lifts (F,).

    played: the clip that was measured. most: (F, L) how far legs can raise feet without bending knees much. reach:
    (F, L) how far legs can lower feet that are not on the ground. before: the lifts applied before the measurement; the
    sum of all lifts is smooth.
    """
    on, leg = found.is_on(), found.leg
    puts = found.may_be_put_down(played, on)
    lift = _lift(found, lift, most, on, puts, before)
    limit, clear = most_drawn(found.below, leg), np.maximum(found.clear + lift[:, None], 0.0)
    low, hangs = found.low[:, :-1] + lift[:, None], found.hangs + lift[:, None]
    soft = (1.0 - found.touching[:, :-1]) * SOFT_LEGS * leg
    wanted = np.minimum(0.5 * (np.sqrt(low * low + soft * soft) - low), limit)
    wanted -= np.clip(hangs, 0.0, np.minimum(np.maximum(reach, on * puts), clear))
    stands = np.clip(-hangs, -np.minimum(puts, clear), limit)
    drawn = _drawn(found, wanted, stands, on, np.minimum(-low, limit))
    return Ground(found.times_s, lift, found.legs, np.where(np.abs(drawn) > STILL_LEGS * leg, drawn, 0.0))


def _lift(found: Measured, lift: FloatArray, most: FloatArray, on: FloatArray, puts: FloatArray,
          before: Sequence[Ground]) -> FloatArray:
    """Return lifts (F,) whose sum with those before is smooth: see smooth_ground.

    puts: (F, L) how far legs can lower feet. In order of priority: no skin in the ground, contacts, limits of the
    knees, the wish.
    """
    times, free = found.times_s, NEAR_LEGS[1] * found.leg
    feet, stand, lies = found.low[:, :-1], found.touching[:, :-1], found.touching[:, -1]
    so_far = sum((np.interp(times, each.times_s, each.lift) for each in before), start=np.zeros(len(times)))
    least = found.arms.lifted(np.maximum((-feet - most_drawn(found.below, found.leg)).max(axis=1), -found.others))
    lowest = np.maximum((-feet - most).max(axis=1), least)
    wish = np.maximum(lift, found.arms.lifted(np.maximum(np.maximum(lift, lowest), -found.others)))
    highest = np.maximum((on * puts - found.hangs + (1.0 - on) * free).min(axis=1), lowest)
    loose = (1.0 - lies) * free
    soft = (np.clip(each, wish - loose, wish + loose) for each in (lowest, highest))
    weights = (SOFT_WEIGHT + CONTACT_WEIGHT * each**4 for each in (lies, np.maximum(lies, stand.max(axis=1))))
    bounds = SoftBounds(*((so_far + each)[None] for each in soft), *(each[None] for each in weights))
    is_cycle = found.is_cycle and ends_as_it_begins(so_far + wish, found.leg)
    made = smoothed(times, (so_far + wish)[None], BODY_S, lo=so_far + least, soft=bounds, keeps_ends=True,
                    is_cycle=is_cycle)
    return np.asarray(made[0] - so_far)


def _drawn(found: Measured, wanted: FloatArray, stands: FloatArray, on: FloatArray, least: FloatArray) -> FloatArray:
    """Return how far legs raise feet, (F, L): smooth curves near wanted (F, L).

    stands: (F, L) the values that feet on the ground need. on: (F, L) how much feet are on the ground. least: (F, L)
    the least values that keep feet out of the ground.
    """
    if not found.legs:
        return wanted
    wide = (1.0 - on) * NEAR_LEGS[1] * found.leg
    lowest = np.maximum(least, stands - wide)
    highest, near = np.maximum(stands + wide, lowest), SOFT_LEGS * found.leg
    weights = (SOFT_WEIGHT + _FOOT_WEIGHT * on**4).T
    bounds = SoftBounds(np.maximum(lowest - near, least).T, (highest + near).T, weights, weights)
    is_cycle = found.is_cycle and ends_as_it_begins(wanted, found.leg)
    drawn = smoothed(found.times_s, wanted.T, LIMB_S, lo=least.T, soft=bounds, keeps_ends=True, is_cycle=is_cycle).T
    return np.where([leg is not None for leg in found.legs], drawn, wanted)
