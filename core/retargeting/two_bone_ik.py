"""Two-bone IK in closed form for legs and arms: it moves a limb's end to a target.

The middle joint bends first, until the limb has the wanted length. Then the limb swings at its first joint. A zero
shift gives exactly the identity rotations.
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
"""Share of a limb's length: no limb is straightened further, since its middle joint would snap."""
_OPPOSITE: Final = 1e-6
"""Nearer to opposite than this, the turn from one direction to the other needs a special case."""
_STRAIGHT: Final = 1e-4
"""A limb with a smaller sine of its bend has no bend axis of its own."""
_ROUND: Final = (0.004, 0.5)
"""A leg bends forwards if it is shortened by the first, in leg lengths, plus the second share of what its own bend
shortens it by.
"""
_ASIDE_LEGS: Final = 0.03
"""A knee that comes forward sideways has done so once the leg's end has moved by this."""
_OWN_RAD: Final = (0.06, 0.25)
"""During a transition a knee bent by more than the first comes forwards anyway, completely from the second on."""
_FORWARDS: Final = 0.05
"""A knee with a smaller forward sine of its bend is bent forwards by this much more."""
_OTHER_WAY_RAD: Final = 0.1
"""If two ways round are nearly as long, all limbs take the same one."""
_SOFT: Final = 0.02
"""Share of a limb's length over which the limit of its reach is softened."""


class Overstretched(NamedTuple):
    """Angles of backward-bent knees that come to the front: below the first completely, from the second on not at all.

    straightens: the knee passes the straight position, with the foot too far away meanwhile; else it swings round the
    thigh.
    """

    from_rad: float
    to_rad: float
    straightens: bool


Swing = Callable[[Sequence[Number], Number, Sequence[Number], Number], Quaternion[Number]]


def arc(a: Sequence[Number], long: Number, b: Sequence[Number], far: Number) -> Quaternion[Number]:
    """Return the smallest rotation from the direction of a to that of b, whose lengths are given."""
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
    """Return rotations of a limb's first and middle joint, in model space, that shift its end.

    Also returns by which share of its distance from the first joint the end falls short of the target. limb: positions
    of its three joints. most: greatest distance of the end from the first joint, in limb lengths, unless it already is
    farther; the limit is soft. hinge: unit axis about which the middle joint bends forwards (the pole, as an axis); a
    straight limb bends about it, and an overstretched one comes to that side. upright: share to which it does so
    although the limb is not shortened. overstretched: None if no limb changes sides. swing: the rotation that points
    the bent limb at its target.
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
    wanted = arc_cosine((long * long - a * a - b * b) / greatest(2.0 * both, 1e-30))  # 0 if the leg is straight
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
    """Return the rotation that bends a knee forwards if it is almost straight or slightly backwards.

    axis: (x, y, z) unit, about which it is bent by an angle. hinge: about which knees bend. wanted: the wanted bend.
    comes: how much of the way round is done, 0 to 1.
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
