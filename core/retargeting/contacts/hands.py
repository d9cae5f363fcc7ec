"""Hands keep their contacts on a body with other proportions: each other, trunk, head or a thigh.

Limbs point as in the clip. So on broader shoulders or with shorter arms, clapping hands come apart, and hands on hips
float beside them. While a clip's hands are near something, the target's hands are moved as near, by shoulders and
elbows; of two hands each moves half of the distance. Hands keep their rotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray, smoothstep
from ..limbs import LimbPoses, largest
from .hands_and_body import HandsAndBody, InFrames

_NEAR_HEIGHTS: Final = (0.12, 0.2)
"""Shares of the body's height: hands nearer to each other than the first are kept as near, up to the second in part."""
_ON_HEIGHTS: Final = (0.015, 0.035)
"""Likewise, for distances of hands from the body's skin, which clips do not show exactly. If hands are deeper in the
trunk than the second value, the trunk is between them. If a hand is nearer to one part than to another by the second
value, it touches only that part.
"""
_UNSURE_HEIGHTS: Final = 0.04
"""Likewise, how much slimmer a clip's body may be than the standard body by which it is measured."""
_CLASPED_HEIGHTS: Final = (0.05, 0.09)
"""Likewise, hands nearer than the first clasp each other in any case; from the second on they do not if the trunk is
between them.
"""
_TIMES_LED: Final = 2


@dataclass(frozen=True, eq=False)
class Touch:
    """The parts of the body that are near the source's hands in F frames, with distances in the target's size.

    parts: of the body. apart: (F, 3) from the right palm to the left. together: (F,) the weight of apart. outside: (F,
    2, parts) distances of hands from the parts. on: (F, 2, parts) the weights of these.
    """

    parts: Sequence[str]
    apart: FloatArray
    together: FloatArray
    outside: FloatArray
    on: FloatArray

    @classmethod
    def of(cls, body: HandsAndBody, world: FloatArray, target: HandsAndBody) -> Touch:
        """Measure a body's hands. world: (F, J, 3, 4) of its joints.

        A hand is never inside its own body: if only the target's skin is known, hands that seem to be inside count as
        on the skin.
        """
        parts, size = [name for name in target.parts if name in body.parts], target.height / body.height
        placed = InFrames(body, world)
        palms = placed.palms()
        apart = size * (palms[:, 0] - palms[:, 1])
        outside = np.empty((*palms.shape[:2], len(parts)))
        for i, part in enumerate(parts):
            far = _ON_HEIGHTS[1] * body.height
            outside[..., i] = size * np.minimum(placed.distance(palms, part, far), far)
        on = 1.0 - smoothstep(outside, *(share * target.height for share in _ON_HEIGHTS))
        together = 1.0 - smoothstep(np.linalg.norm(apart, axis=1), *(share * target.height for share in _NEAR_HEIGHTS))
        if target.has_skin and not body.has_skin:
            outside = np.where(outside < 0.0, np.minimum(outside + _UNSURE_HEIGHTS * target.height, 0.0), outside)
        on *= (1.0 - body.hanging(world))[..., None]
        return cls(parts, apart, together, outside, on)

    @property
    def is_near(self) -> BoolArray:
        """In which frames (F,) hands are near anything."""
        return np.asarray((self.together > 0.0) | (self.on > 0.0).any(axis=(1, 2)))

    @property
    def counts(self) -> FloatArray:
        """Contact weight of each hand, (F, 2) from 0 to 1."""
        return np.asarray(np.maximum(self.together[:, None], self.on.max(axis=2, initial=0.0)))

    @classmethod
    def joined(cls, found: Sequence[Touch]) -> Touch:
        """Return all frames of several values with the same parts."""
        return cls(found[0].parts, *(np.concatenate([getattr(each, name) for each in found])
                                     for name in ("apart", "together", "outside", "on")))

    def at(self, frames: IntArray) -> Touch:
        """Return some of the frames."""
        return Touch(self.parts, self.apart[frames], self.together[frames], self.outside[frames], self.on[frames])


def touching(placed: InFrames, arms: LimbPoses, touch: Touch) -> LimbPoses:
    """Return arms (F, 2) whose hands touch their targets: each other, then the body.

    Parts in between take precedence: a hand on a thigh stays outside a belly that covers it. placed: the body in F
    frames before arms were moved.
    """
    frames = np.arange(len(touch.together))
    for _ in range(_TIMES_LED):
        for step in (_to_each_other, _onto_body, _out_of_body):
            arms, is_led = _hands_moved(arms, step(placed, placed.palms(arms), touch))
    for _ in range(_TIMES_LED):  # arms that do not reach a thigh are stretched through the belly in front of it
        left = np.flatnonzero(is_led.any(axis=1))
        if not len(left):
            break
        frames, placed, touch = frames[left], placed.at(left), touch.at(left)
        again = arms.at(frames)
        again, is_led = _hands_moved(again, _out_of_body(placed, placed.palms(again), touch))
        arms = arms.replaced(frames, again)
    return arms


def _hands_moved(arms: LimbPoses, offsets: FloatArray) -> tuple[LimbPoses, BoolArray]:
    """Return arms (F, 2) with hands moved by offsets (F, 2, 3), and which were moved, (F, 2)."""
    is_led = np.asarray(offsets.any(axis=-1))
    return arms.replaced(is_led, arms.at(is_led).reaching(offsets[is_led])), is_led


def _to_each_other(placed: InFrames, palms: FloatArray, touch: Touch) -> FloatArray:
    """Return offsets of hands towards each other, (F, 2, 3): each moves half of the way.

    Hands that are only near each other, such as on both hips, stay if a thick trunk is between them.
    """
    height, nearer = placed.body.height, touch.together[:, None] * (touch.apart - (palms[:, 0] - palms[:, 1]))
    offsets = np.stack((0.5 * nearer, -0.5 * nearer), axis=1)
    if "trunk" in touch.parts and touch.together.any():
        is_led = np.repeat(touch.together[:, None] > 0.0, 2, axis=1)
        outside, _ = placed.outside(palms + offsets, "trunk", 0.0, is_led)
        deeper = np.minimum(touch.outside[..., touch.parts.index("trunk")], 0.0) - outside
        is_between = smoothstep(deeper.max(axis=1), 0.0, _ON_HEIGHTS[1] * height)
        is_near = smoothstep(np.linalg.norm(touch.apart, axis=1), *(height * far for far in _CLASPED_HEIGHTS))
        offsets *= (1.0 - is_between * is_near)[:, None, None]
    return offsets


def _onto_body(placed: InFrames, palms: FloatArray, touch: Touch) -> FloatArray:
    """Return offsets that put hands on the skin, (F, 2, 3); no hand is pressed into it.

    A hand that touches several parts at once, such as hip and thigh, goes to the nearest.
    """
    used = np.flatnonzero(touch.on.any(axis=(0, 1)))
    if not len(used):
        return np.zeros(palms.shape)
    found = [placed.outside(palms, touch.parts[part], wanted=touch.on[..., part] > 0.0) for part in used.tolist()]
    on, theirs, far = touch.on[..., used], touch.outside[..., used], _ON_HEIGHTS[1] * placed.body.height
    outside = np.where(on > 0.0, np.stack([distance for distance, _ in found], axis=-1), 0.0)
    is_nearer = smoothstep(outside[..., :, None] - outside[..., None, :], 0.0, far)
    counts = on * (1.0 - on[..., None, :] * is_nearer).prod(axis=-1)
    further = np.clip(outside, theirs, np.maximum(theirs, 0.0)) - outside
    offsets = np.where(further < 0.0, counts, on) * further
    return largest(offsets[..., None] * np.stack([out for _, out in found], axis=-2))


def _out_of_body(placed: InFrames, palms: FloatArray, touch: Touch) -> FloatArray:
    """Return offsets, (F, 2, 3), of hands that are deeper in the body than in the clip."""
    offsets, counts = np.empty((*palms.shape[:2], len(touch.parts), 3)), touch.counts
    for i, part in enumerate(touch.parts):
        outside, out = placed.outside(palms, part, 0.0, counts > 0.0)
        deeper = np.maximum(np.minimum(touch.outside[..., i], 0.0) - outside, 0.0)
        offsets[:, :, i] = (counts * deeper)[..., None] * out
    return largest(offsets)
