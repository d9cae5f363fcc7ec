"""How feet are led between footholds, as far as time alone says, by the numbers of a gap.

Fades follow the minimum-jerk curve 1 − 10x³ + 15x⁴ − 6x⁵ at the share x of their time (Flash and Hogan 1985). The
offset between foothold and free foot at release fades like this. So does the free foot's speed there, which the held
foot lacks (inertialization: Bollo 2018). The same holds backwards before the next contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...maths.formulas import Number, chosen, eased, greatest, holds_anywhere, minimum_jerk, of_each, within

CLOCKS: Final = 7
"""A gap's numbers begin with this many pairs: an instant, and 1 ÷ the duration of what begins there.

The first ones release the foot along three axes, the next ones lead it on; the last is the gap itself.
"""
LET_GO: Final = 6
"""The index of the gap's own instant among these."""
FADES: Final = 2 * CLOCKS
"""Then six numbers each, for three axes at both edges, of: the shift from foot to foothold, on a step the foothold
itself; the foot's speed there; and 3 × speed + half of its acceleration, in units of the fade. See _faded.
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


def moment_of(way: Sequence[Number], time_s: Number) -> Sequence[Number]:
    """Return how a foot is led at an instant, the numbers of MOMENT. way: the numbers of its gap."""
    x, y, z = way[AT:]
    is_held, none = time_s <= way[LET_GO], 0.0 * way[LET_GO]
    one = none + 1.0
    if not holds_anywhere(time_s > way[LET_GO]):
        return x, y, z, one, one, one, one, one, none, none, way[STRETCH] + ANY_STRETCH, one, z
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
    return (chosen(is_held, x, out_x + in_x), chosen(is_held, y, out_y + in_y), chosen(is_held, z, out_z + in_z),
            chosen(is_held, one, is_step * weight), chosen(is_held, one, is_step * weight_up),
            chosen(is_held, one, none), weight * weight, weight_up, 64.0 * way[LIFT] * bump * bump * bump, clear,
            begin + chosen(is_held, ANY_STRETCH + none, (way[STRETCH + 1] - begin) * eased(over)),
            chosen(is_held, one, (free_out + free_in) * (free_out + free_in)), z)


def _faded(share: Number, rest: Number, shift: Number, speed: Number, change: Number) -> Number:
    """Return the rest of a shift and of its speed at a share of the fade, see FADES."""
    left = 1.0 - share
    return rest * shift - left * left * left * share * (speed + share * change)


def _parted(share: Number, clear: Number) -> Number:
    """Return how much a foot is lifted at a share of a fade; most in its middle."""
    parted = share * (1.0 - share)
    return 16.0 * clear * parted * parted


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
