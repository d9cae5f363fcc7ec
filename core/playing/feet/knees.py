"""Keeps knees out of the ground where a foot is held that the body goes down beside.

With hip and ankle where they are, the knee may be anywhere on a circle about the line between them. Of a foot that
stands behind a body that sits down, the knee points down: it goes aside then, outward, as far as it must.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...maths.formulas import (
    Number,
    Quaternion,
    arc_cosine,
    cosine_sine,
    direction,
    dot,
    eased,
    greatest,
    holds_anywhere,
    least,
    length,
    product,
    quaternion,
    root,
    rotated,
    scaled,
    softly,
)

KNEE_LEGS: Final = 0.08
"""A knee on the ground is so high, in leg lengths, unless the clips have it lower."""
_SOFT: Final = 0.2
"""Of the circle's radius: so softly the knee goes aside."""
_FROM: Final = 1.0 + _SOFT / 4.0
"""A little before it would be in the ground."""
_INWARD_RAD: Final = 0.8
"""A knee that points farther inward stays on that side of the leg,"""
_FAR_INWARD_RAD: Final = 1.3
"""and wholly from here on."""
_SHIFTED: Final = 0.1
"""Of the thigh: a knee wholly goes aside if the ankle is shifted so far or farther."""
_LEVEL: Final = 0.3
"""Where the line is so steep or steeper, by the cosine of its slope, the circle is level, and the knee stays."""
_LEAST: Final = 1e-9


def kept_up(swing: Quaternion[Number], thigh: Sequence[Number], long: Number, aim: Sequence[Number], far: Number,
            hip: Number, shift: Sequence[Number], room: Sequence[Number]) -> Quaternion[Number]:
    """Return how a leg swings at the hip so that its knee is no lower than it may be.

    swing: how it swings without that, thigh (x, y, z) before, so long. aim: where its ankle is from the hip then, far
    away; hip: how high that is. shift: how far the ankle is moved: a leg whose ankle stays is not turned. room: where
    outward is over the ground, and how low the knee may be. All in ground coordinates.
    """
    out_x, out_y, floor = room
    if not holds_anywhere(hip - _FROM * long < floor):
        return swing
    x, y, z = scaled(aim, 1.0 / greatest(far, _LEAST))
    knee = rotated(swing, thigh)
    on_line = knee[0] * x + knee[1] * y + knee[2] * z
    level = root(1.0 - z * z)
    radius = root(dot(knee, knee) - on_line * on_line)
    below = (floor - hip - on_line * z) / greatest(radius * level, _LEAST)
    deep = softly(below + _FROM, _SOFT)
    if not holds_anywhere(deep > 0.0):
        return swing
    share = least(length(shift) / greatest(_SHIFTED * long, _LEAST), 1.0)
    aside = arc_cosine(1.0 - deep) * share * eased(level / _LEVEL)
    left = out_x * y - out_y * x
    side = left / greatest(greatest(left, -left), _LEAST)
    now = direction(side * (knee[0] * y - knee[1] * x), on_line * z - knee[2])
    turned = side * (now - _aside(now, aside))
    cosine, sine = cosine_sine(turned / 2.0)
    return product(quaternion(cosine, scaled(aim, sine / greatest(far, _LEAST))), swing)


def _aside(now: Number, least_rad: Number) -> Number:
    """Return how far a knee points outward, from straight down, that may not be nearer to that than least_rad.

    now: how far it does. One that points a little inward goes over to the other side before it would have to.
    """
    outer, inner = greatest(now, least_rad), -greatest(-now, least_rad)
    over = eased(2.0 + now / greatest(least_rad, _LEAST))
    over = over * eased((_FAR_INWARD_RAD + now) / (_FAR_INWARD_RAD - _INWARD_RAD))
    return inner + (outer - inner) * over
