"""How feet are led between footholds, as far as time alone says, by the numbers of a gap.

Fades follow the minimum-jerk curve 1 − 10x³ + 15x⁴ − 6x⁵ at the share x of their time (Flash and Hogan 1985). The
offset between foothold and free foot at release fades like this. So does the free foot's speed there, which the held
foot lacks (inertialization: Bollo 2018). The same holds backwards before the next contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...maths.arrays import FloatArray
from ...maths.formulas import Number

CLOCKS: Final = 7
"""A gap's numbers begin with this many pairs: an instant, and 1 ÷ the duration of what begins there.

The first ones release the foot along three axes, the next ones lead it on; the last is the gap itself.
"""
LET_GO: Final = 6
"""The index of the gap's own instant among these."""
FADES: Final = 2 * CLOCKS
"""Then six numbers each, for three axes at both edges, of: the shift from foot to foothold, on a step the foothold
itself; the foot's speed there; and 3 × speed + half of its acceleration, in units of the fade. They fade by the first
three of _POLYNOMIALS.
"""
CLEAR: Final = FADES + 18
"""Then the foot's lift at both edges, and its least height in the middle of its own path."""
LIFT: Final = CLEAR + 3
"""Then the lift of the step, and the leg's stretch at the gap's beginning and end."""
STRETCH: Final = LIFT + 1
IS_STEP: Final = STRETCH + 2
"""Then 1 for a step, and for both edges 1 if the body goes down as the moment needs it."""
IS_FREE: Final = IS_STEP + 1
AT: Final = IS_FREE + 2
"""Last, the previous foothold."""
NUMBERS: Final = AT + 3
ANY_STRETCH: Final = 1e9
"""A stretch that is never reached."""
MOMENT: Final = 13
"""Number of values that say how a foot is led at an instant.

The offset (x, y, z) that moves it; the factors by which its own position on the ground and in height is subtracted; 1
in contact; the contact weight, which decreases after a contact; the weight in height; its lift, and its least height
above the ground; the greatest stretch of its leg, as a share; how far the body goes down for it; and the height of the
previous foothold.
"""
IS_HELD: Final = 5
WEIGHT: Final = 6
LIFTED: Final = 8
OVER_GROUND: Final = 9
STRETCHED: Final = 10
BORNE: Final = 11
_POLYNOMIALS: Final = np.array((
    (1.0, 0.0, 0.0, -10.0, 15.0, -6.0, 0.0),  # the remaining share
    (0.0, -1.0, 3.0, -3.0, 1.0, 0.0, 0.0),  # −x·(1 − x)³
    (0.0, 0.0, -1.0, 3.0, -3.0, 1.0, 0.0),  # −x²·(1 − x)³
    (0.0, 0.0, 16.0, -32.0, 16.0, 0.0, 0.0),  # 16·x²·(1 − x)²
    (0.0, 0.0, 0.0, 64.0, -192.0, 192.0, -64.0),  # 64·x³·(1 − x)³
    (0.0, 0.0, 3.0, -2.0, 0.0, 0.0, 0.0),  # x²·(3 − 2x)
    (0.0, 0.0, 48.0, -224.0, 432.0, -384.0, 128.0)))  # the same of 4·x·(1 − x)
"""Coefficients by powers of the share x of a time."""


def moments(ways: FloatArray, times_s: FloatArray) -> FloatArray | list[Sequence[float]]:
    """Return how L feet are led at times (F,), (L, F, 13); for a single time, a list for each foot.

    ways: (L, F, 45) the numbers of the gaps.
    """
    if len(times_s) == 1:
        time_s = float(times_s[0])
        return [_moment(way, time_s) for way in ways[:, 0].tolist()]
    ways = np.ascontiguousarray(ways.transpose(2, 0, 1))
    shares = times_s - ways[:CLOCKS]
    shares *= ways[CLOCKS:FADES]
    np.minimum(np.maximum(shares, 0.0, out=shares), 1.0, out=shares)
    terms = _of_shares(shares)
    left, _, _, parted, bump, smooth, aloft = terms
    is_held, size = times_s <= ways[LET_GO], shares.shape[1:]
    fades = terms[:3, :6] * ways[FADES:CLEAR].reshape(3, 6, *size)
    weight = left[:3] + left[3:6]
    begin, end = ways[STRETCH:IS_STEP]
    found = np.empty((MOMENT, *size))
    found[:3] = np.where(is_held, ways[AT:], np.add.reduce(fades.reshape(6, 3, *size)))
    found[3:5] = np.where(is_held, 1.0, ways[IS_STEP] * weight[1:])
    found[5] = is_held
    np.multiply(weight[0], weight[0], out=found[6])
    found[7] = weight[2]
    np.multiply(bump[LET_GO], ways[LIFT], out=found[8])
    np.maximum.reduce(parted[:LET_GO:3] * ways[CLEAR:CLEAR + 2], out=found[9])
    np.maximum(found[9], aloft[LET_GO] * ways[CLEAR + 2], out=found[9])
    found[10] = np.where(is_held, begin + ANY_STRETCH, begin + (end - begin) * smooth[LET_GO])
    free = left[:LET_GO:3] * ways[IS_FREE:AT]
    found[BORNE] = np.where(is_held, 1.0, (free[0] + free[1]) ** 2)
    found[12] = ways[-1]
    return found.transpose(1, 2, 0)


def _of_shares(shares: FloatArray) -> FloatArray:
    """Return the seven polynomials at shares (...) of a time, (7, ...)."""
    powers = np.empty((7, *shares.shape))
    powers[0], powers[1] = 1.0, shares
    np.multiply(shares, shares, out=powers[2])
    np.multiply(powers[1:3], powers[2], out=powers[3:5])
    np.multiply(powers[3:5], powers[2], out=powers[5:])
    return (_POLYNOMIALS @ powers.reshape(7, -1)).reshape(7, *shares.shape)


def _moment(way: Sequence[float], time_s: float) -> Sequence[float]:
    """Return the same for one foot at one instant, without arrays."""
    if time_s <= way[LET_GO]:
        return *way[AT:], 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, way[STRETCH] + ANY_STRETCH, 1.0, way[-1]
    x = y = z = weight = weight_up = clear = borne = 0.0
    for edge in (0, 1):
        flat, up = _share(way, 3 * edge, time_s), _share(way, 3 * edge + 2, time_s)
        if flat < 1.0 or up < 1.0:
            first = FADES + 3 * edge
            weight, weight_up = weight + _left(flat), weight_up + _left(up)
            x, y = x + _faded(way, first, flat), y + _faded(way, first + 1, flat)
            borne += way[IS_FREE + edge] * _left(flat)
            z, parted = z + _faded(way, first + 2, up), flat * (1.0 - flat)
            clear = max(clear, 16.0 * way[CLEAR + edge] * parted * parted)
    over, is_step, begin = _share(way, LET_GO, time_s), way[IS_STEP], way[STRETCH]
    bump = over * (1.0 - over)
    return (x, y, z, is_step * weight, is_step * weight_up, 0.0, weight * weight, weight_up,
            64.0 * way[LIFT] * bump * bump * bump, max(clear, way[CLEAR + 2] * bump * bump * (48.0 - 128.0 * bump)),
            begin + (way[STRETCH + 1] - begin) * over * over * (3.0 - 2.0 * over), borne * borne, way[-1])


def _share(way: Sequence[float], clock: int, time_s: float) -> float:
    """Return the elapsed share of a fade, 0…1."""
    share = (time_s - way[clock]) * way[CLOCKS + clock]
    return 0.0 if share < 0.0 else 1.0 if share > 1.0 else share


def _left(share: float) -> float:
    left = 1.0 - share
    return left * left * left * (1.0 + share * (3.0 + 6.0 * share))


def _faded(way: Sequence[float], at: int, share: float) -> float:
    """Return the rest of a shift and of its speed, whose numbers begin at index `at`."""
    left = 1.0 - share
    return _left(share) * way[at] - left * left * left * share * (way[at + 6] + share * way[at + 12])


def led(foot: Sequence[Number], moment: Sequence[Number], upright: Number, higher: Number,
        rise: Number) -> tuple[Number, Number, Number]:
    """Return the offset (x, y, z) of a foot.

    foot: its position. moment: how it is led, see MOMENT. upright: 0…1 share of the shift in height. higher: height
    above its foothold during contact that keeps its sole out of the ground. rise: its rise where nothing else sets its
    height. During contact the horizontal shift is complete. On a step it moves from one foothold to the next.
    """
    (foot_x, foot_y, foot_z), (x, y, z, own, own_up, is_held, _, weight_up, lift, *_) = foot, moment
    z = (z - own_up * foot_z + is_held * higher) * upright + lift + (1.0 - weight_up * upright) * rise
    return x - own * foot_x, y - own * foot_y, z
