"""Keeps knees out of the ground if the body goes down beside a foot in contact.

With hip and ankle fixed, the knee may be anywhere on a circle about the line between them. If a foot is behind a body
that sits down, its knee points down. It then moves aside, outward, as far as necessary.
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
"""Height of a knee on the ground, in leg lengths, unless the clips have it lower."""
_SOFT: Final = 0.2
"""Share of the circle's radius over which the limit is softened.

Over the same share of the thigh's length by which the ankle is shifted, and over the same cosine of the line's slope,
a knee comes to move completely: where the line is steep, the circle is level.
"""
_FROM: Final = 1.0 + _SOFT / 4.0
"""Begin of the motion, a little before the knee would be in the ground."""
_INWARD_RAD: Final = 0.8
"""A knee that points farther inward stays on that side of the leg,"""
_FAR_INWARD_RAD: Final = 1.3
"""completely from here on."""


def kept_up(swing: Quaternion[Number], thigh: Sequence[Number], long: Number, aim: Sequence[Number], far: Number,
            hip: Number, shift: Sequence[Number], room: Sequence[Number]) -> Quaternion[Number]:
    """Return the swing of a leg at the hip that keeps its knee above a limit.

    swing: the swing without limit. thigh: (x, y, z) before it, and its length. aim: the ankle relative to the hip after
    it, and its distance. hip: height of the hip. shift: how far the ankle is moved; a leg whose ankle stays is not
    rotated. room: the outward direction over the ground, and the limit. All in ground coordinates.
    """
    out_x, out_y, floor = room
    if not holds_anywhere(hip - _FROM * long < floor):
        return swing
    x, y, z = scaled(aim, 1.0 / greatest(far, 1e-30))
    knee = rotated(swing, thigh)
    on_line = knee[0] * x + knee[1] * y + knee[2] * z
    level = root(1.0 - z * z)
    radius = root(dot(knee, knee) - on_line * on_line)
    below = (floor - hip - on_line * z) / greatest(radius * level, 1e-30)
    deep = softly(below + _FROM, _SOFT)
    if not holds_anywhere(deep > 0.0):
        return swing
    share = least(length(shift) / greatest(_SOFT * long, 1e-30), 1.0)
    aside = arc_cosine(1.0 - deep) * share * eased(level / _SOFT)
    left = out_x * y - out_y * x
    side = left / greatest(greatest(left, -left), 1e-30)
    now = direction(side * (knee[0] * y - knee[1] * x), on_line * z - knee[2])
    turned = side * (now - _aside(now, aside))
    cosine, sine = cosine_sine(turned / 2.0)
    return product(quaternion(cosine, scaled(aim, sine / greatest(far, 1e-30))), swing)


def _aside(now: Number, least_rad: Number) -> Number:
    """Return the angle of a knee outward from straight down, limited to at least least_rad.

    now: its angle without limit. A knee that points slightly inward changes to the other side before it reaches the
    limit.
    """
    outer, inner = greatest(now, least_rad), -greatest(-now, least_rad)
    over = eased(2.0 + now / greatest(least_rad, 1e-30))
    over = over * eased((_FAR_INWARD_RAD + now) / (_FAR_INWARD_RAD - _INWARD_RAD))
    return inner + (outer - inner) * over
