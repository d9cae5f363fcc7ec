"""Leads feet between footholds: the part that depends on time alone, computed from the numbers of a gap.

Fades follow the minimum-jerk curve 1 − 10x³ + 15x⁴ − 6x⁵ at the share x of their time (Flash and Hogan 1985). The
offset between foothold and free foot at release fades like this. So does the free foot's speed there, which the held
foot lacks (inertialization: Bollo 2018). The same holds backwards before the next contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Generic, NamedTuple

from ...maths.formulas import Number, chosen, eased, greatest, holds_anywhere, minimum_jerk, of_each, within

CLOCKS: Final = 7
"""A gap's numbers begin with this many pairs: an instant, and 1 ÷ the duration of what begins there.

The first ones release the foot along three axes, the next ones lead it on; the last is the gap itself.
"""
LET_GO: Final = CLOCKS - 1
"""The index of the gap's own instant among these."""
FADES, CLEAR, LIFT, STRETCH, IS_STEP, IS_FREE, AT, NUMBERS = accumulate((2 * CLOCKS, 18, 3, 1, 2, 1, 2, 3))
"""Where the other numbers begin, and how many there are.

FADES: six numbers each, for three axes at both edges, of: the shift from foot to foothold, on a step the foothold
itself; the foot's speed there; and 3 × speed + half of its acceleration, in units of the fade. See _faded. CLEAR: the
foot's lift at both edges, and its least height in the middle of its own path. LIFT: of the step. STRETCH: of the leg at
the gap's beginning and end. IS_STEP: 1 for a step. IS_FREE: for both edges 1 if the body goes down as the moment needs
it. AT: the previous foothold.
"""
ANY_STRETCH: Final = 1e9
"""A stretch that is never reached."""


class Moment(NamedTuple, Generic[Number]):
    """How a foot is led at an instant.

    x, y, z: the offset that moves it. own, own_up: the factors by which its own position on the ground and in height is
    subtracted. is_held: 1 in contact. weight: of the contact, which decreases after it; weight_up: in height. lift: of
    the foot. clear: its least height above the ground. stretch: the greatest one of its leg, as a share. borne: how far
    the body goes down for it. ground: the height of the previous foothold.
    """

    x: Number
    y: Number
    z: Number
    own: Number
    own_up: Number
    is_held: Number
    weight: Number
    weight_up: Number
    lift: Number
    clear: Number
    stretch: Number
    borne: Number
    ground: Number


def moment_of(way: Sequence[Number], time_s: Number) -> Moment[Number]:
    """Return how a foot is led at an instant. way: the numbers of its gap."""
    x, y, z = way[AT:]
    is_held, none = time_s <= way[LET_GO], 0.0 * way[LET_GO]
    one = none + 1.0
    if not holds_anywhere(time_s > way[LET_GO]):
        return Moment(x, y, z, one, one, one, one, one, none, none, way[STRETCH] + ANY_STRETCH, one, z)
    shares = of_each(lambda begin_s, per_s: within((time_s - begin_s) * per_s, 0.0, 1.0), way[:CLOCKS],
                     way[CLOCKS:FADES])
    shares, over = shares[:LET_GO], shares[LET_GO]
    left = of_each(lambda share: minimum_jerk(1.0 - share), shares)
    out_x, out_y, out_z, in_x, in_y, in_z = of_each(_faded, shares, left, way[FADES:FADES + 6],
                                                    way[FADES + 6:FADES + 12], way[FADES + 12:CLEAR])
    weight, weight_up = left[0] + left[3], left[2] + left[5]
    out_clear, in_clear = of_each(_parted, shares[::3], way[CLEAR:CLEAR + 2])
    free_out, free_in = of_each(lambda free, share: free * share, way[IS_FREE:AT], left[::3])
    is_step, begin, bump = way[IS_STEP], way[STRETCH], over * (1.0 - over)
    clear = greatest(greatest(out_clear, in_clear), way[CLEAR + 2] * bump * bump * (48.0 - 128.0 * bump))
    return Moment(
        chosen(is_held, x, out_x + in_x), chosen(is_held, y, out_y + in_y), chosen(is_held, z, out_z + in_z),
        own=chosen(is_held, one, is_step * weight), own_up=chosen(is_held, one, is_step * weight_up),
        is_held=chosen(is_held, one, none), weight=weight * weight, weight_up=weight_up,
        lift=64.0 * way[LIFT] * bump * bump * bump, clear=clear,
        stretch=begin + chosen(is_held, ANY_STRETCH + none, (way[STRETCH + 1] - begin) * eased(over)),
        borne=chosen(is_held, one, (free_out + free_in) * (free_out + free_in)), ground=z)


def _faded(share: Number, rest: Number, shift: Number, speed: Number, change: Number) -> Number:
    """Return the rest of a shift and of its speed at a share of the fade, see FADES."""
    left = 1.0 - share
    return rest * shift - left * left * left * share * (speed + share * change)


def _parted(share: Number, clear: Number) -> Number:
    """Return how much a foot is lifted at a share of a fade; most in its middle."""
    parted = share * (1.0 - share)
    return 16.0 * clear * parted * parted


def led(foot: Sequence[Number], moment: Moment[Number], upright: Number, higher: Number,
        rise: Number) -> tuple[Number, Number, Number]:
    """Return the offset (x, y, z) of a foot.

    foot: its position. upright: 0…1 share of the shift in height. higher: height above its foothold during contact that
    keeps its sole out of the ground. rise: its rise where nothing else sets its height. During contact the horizontal
    shift is complete. On a step it moves from one foothold to the next.
    """
    foot_x, foot_y, foot_z = foot
    z = (moment.z - moment.own_up * foot_z + moment.is_held * higher) * upright + moment.lift + (
        1.0 - moment.weight_up * upright) * rise
    return moment.x - moment.own * foot_x, moment.y - moment.own * foot_y, z
