"""The one two-bone IK, of legs and arms: how a limb's end comes to a place, in closed form.

The middle joint bends first, until the limb is as long as it is to be; then the limb swings at its first joint. What
turns nothing is exactly that: there a limb is as long as it is, and swings to where it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..maths import rotations as rot
from ..maths.formulas import (
    Number,
    Quaternion,
    arc_cosine,
    chosen,
    cosine_sine,
    cross,
    direction,
    dot,
    eased,
    either,
    greatest,
    holds_anywhere,
    least,
    length,
    lengths,
    minus,
    plus,
    product,
    quaternion,
    rotated,
    scaled,
    softly,
    unit,
    within,
)

REACH: Final = 0.9995
"""Of a limb's length: none is straightened further, where its middle joint would snap."""
_OPPOSITE: Final = 1e-6
"""Nearer to opposite than this, the turn from one direction to the other is looked for with more care."""
_STRAIGHT: Final = 1e-4
"""A limb whose bend has a smaller sine has no axis of its own."""
_ROUND: Final = (0.004, 0.5)
"""A leg that is shorter by the first, in leg lengths, and so much of what its bend makes it shorter, bends forwards."""
_ASIDE_LEGS: Final = 0.03
"""One that comes round aside has done so once its end is moved by so much."""
_OWN_RAD: Final = (0.06, 0.25)
"""While a transition plays, one that is bent by more than the first comes forwards anyway, wholly from the second."""
_FORWARDS: Final = 0.05
"""A knee whose bend has a smaller sine forwards bends so much more that way."""
_OTHER_WAY_RAD: Final = 0.1
"""Of two ways round that are nearly as long, all limbs take the same."""
_SOFT: Final = 0.02
"""Of a limb's length: so softly limbs are kept from being stretched farther than they may be."""


class Overstretched(NamedTuple):
    """Which knees bent backwards come to the front: by less than the first angle; from the second on none.

    straightens: by way of straight, with the foot too far away meanwhile; else aside, about the thigh.
    """

    from_rad: float
    to_rad: float
    straightens: bool


Swing = Callable[[Sequence[Number], Number, Sequence[Number], Number], Quaternion[Number]]


def arc(a: Sequence[Number], long: Number, b: Sequence[Number], far: Number) -> Quaternion[Number]:
    """Return the smallest rotation that leads the direction of a, so long, to that of b, so far."""
    along, both = dot(a, b), length(a) * far
    w = both + along  # half of the angle between them
    if not holds_anywhere(w <= _OPPOSITE * both):
        return unit(quaternion(w, cross(a, b)))
    found: Any = np.moveaxis(rot.shortest_arc(np.stack(a, axis=-1), np.stack(b, axis=-1)), -1, 0)
    several: Any = found.tolist() if found.ndim == 1 else np.ascontiguousarray(found)
    swing: Quaternion[Number] = several
    return swing


def two_bone_ik(limb: Sequence[Sequence[Number]], shift: Sequence[Number], most: Number, hinge: Sequence[Number],
                upright: Number, overstretched: Overstretched | None, swing: Swing[Number] = arc
                ) -> tuple[Quaternion[Number], Quaternion[Number], Number]:
    """Return what turns a limb at its first joint, and at its middle one before, in the model, to shift its end.

    And by which share of its way from the first joint the end falls short of that. limb: where its three joints are.
    most: how far the end is from the first joint at most, in limb lengths, unless it already is farther; what goes
    beyond is left out softly. hinge: unit vector about which the middle joint bends forwards (the pole, as an axis): a
    straight limb bends about it, and an overstretched one comes to that side. upright: how much it does so although
    the limb is not shortened. overstretched: None if no limb comes to another side. swing: what leads the bent limb
    to its aim.
    """
    first, middle, last = limb
    thigh, shin = minus(middle, first), minus(last, middle)
    whole = plus(thigh, shin)
    aim = plus(whole, shift)
    a, b, now, far = lengths(thigh, shin, whole, aim)
    together = greatest(a + b, 1e-30)
    soft, most = _SOFT * together, most * together
    over = softly(far - most - softly(now - most + soft / 2.0, soft), soft)
    shortest = least(abs(a - b) * (2.0 - REACH), now)
    long = within(far - over, shortest, greatest(together * REACH, now))
    axis, both = cross(thigh, shin), a * b
    size = length(axis)
    angle, is_straight = direction(size, dot(thigh, shin)), size <= _STRAIGHT * both
    if holds_anywhere(is_straight):
        axis = either(is_straight, hinge, axis)
        size = length(axis)
    wanted = arc_cosine((long * long - a * a - b * b) / greatest(2.0 * both, 1e-30))  # 0 where the leg is straight
    cosine, sine = cosine_sine(chosen(long != now, (wanted - angle) / 2.0, 0.0))
    bend = quaternion(cosine, scaled(axis, sine / greatest(size, 1e-30)))
    is_off = dot(axis, hinge) < _FORWARDS * both
    if overstretched is not None and holds_anywhere(is_off):
        if overstretched.straightens:
            comes = eased((now - long) / (_ROUND[0] * together + _ROUND[1] * greatest(together - now, 0.0)))
        else:
            comes = eased(length(shift) / (_ASIDE_LEGS * together))
        comes = greatest(comes, upright * eased((angle - _OWN_RAD[0]) / (_OWN_RAD[1] - _OWN_RAD[0])))
        axis = scaled(axis, 1.0 / greatest(size, 1e-30))
        onwards = _forwards(thigh, axis, hinge, angle, wanted, comes, overstretched)
        bend = either(is_off & (comes > 0.0), onwards, bend)
    now_bent = plus(thigh, rotated(bend, shin))
    return swing(now_bent, long, aim, far), bend, over / greatest(far, 1e-30)


def _forwards(thigh: Sequence[Number], axis: Sequence[Number], hinge: Sequence[Number], angle: Number, wanted: Number,
              comes: Number, over: Overstretched) -> Quaternion[Number]:
    """Return what bends a knee that is bent hardly forwards, or a little backwards, so that it comes to the front.

    axis: (x, y, z) unit, about which it is bent by an angle. hinge: about which knees bend. wanted: how far it is to be
    bent. comes: how much of the way round is over, from 0 to 1.
    """
    along = scaled(thigh, 1.0 / greatest(length(thigh), 1e-30))
    side = minus(hinge, scaled(along, dot(hinge, along)))
    side = scaled(side, 1.0 / greatest(length(side), 1e-30))
    _, sine = cosine_sine(angle)
    forwards = sine * dot(axis, side)
    comes = comes * eased((over.to_rad - angle) / (over.to_rad - over.from_rad))
    more = greatest(greatest(forwards, -forwards), _FORWARDS) - forwards
    new = plus(scaled(axis, sine), scaled(side, more))
    if over.straightens:
        new = plus(scaled(axis, wanted * (1.0 - comes)), scaled(new, wanted * comes / greatest(length(new), 1e-30)))
    else:
        way = direction(dot(cross(axis, new), along), dot(axis, new))
        way = chosen(way < _OTHER_WAY_RAD - math.pi, way + 2.0 * math.pi, way)
        cosine, sine = cosine_sine(comes * way / 2.0)
        new = scaled(rotated(quaternion(cosine, scaled(along, sine)), axis), wanted)
    far = length(new)
    (cosine, sine), (back, by) = cosine_sine(far / 2.0), cosine_sine(angle / 2.0)
    return product(quaternion(cosine, scaled(new, sine / greatest(far, 1e-30))), quaternion(back, scaled(axis, -by)))
