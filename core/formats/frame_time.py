"""Find the exact time between frames, which files round to a few digits."""

from typing import Final

_OF_TELEVISION: Final = (24, 30, 48, 60, 120)
"""Frame rates that television divides by 1.001: 23.976, 29.97, …"""
_MOST_CHANGED: Final = 0.005
"""If the written digits leave more room than this share, they do not determine the frame rate."""
LEAST_S: Final = 1e-9
"""Shorter times between frames are refused: nothing moves a thousand million times a second."""
_SINGLE: Final = 2.0**-23
"""The rounding of single precision: programs may have divided in it, whatever number of digits they write."""


def exact_frame_time(written: str, unit_s: float = 1.0) -> float:
    """Return the exact frame time, in seconds, of a rounded or truncated one, for a whole number of frames per second.

    Over thousands of frames, a missing digit adds up to whole frames. If no whole rate and no television rate fits the
    written digits, the time stays as written. unit_s: the written unit in seconds. Raises ValueError if the text is not
    a number greater than 1e-9.

    >>> [round(1.0 / exact_frame_time(written), 6) for written in (".0083333", "0.041667", "0.0333", "0.033367", ".08")]
    [120.0, 24.0, 30.0, 29.97003, 12.5]
    """
    seconds = float(written) * unit_s
    if not LEAST_S < seconds < float("inf"):
        raise ValueError(written)
    mantissa, _, exponent = written.lower().partition("e")
    last_digit = max(unit_s * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])), _SINGLE * seconds)
    rates = [max(round(1.0 / seconds), 1), *(rate / 1.001 for rate in _OF_TELEVISION)]
    for room in (0.5 * last_digit, last_digit):  # rounded, else truncated
        near = [1.0 / rate for rate in rates if abs(1.0 / rate - seconds) < min(room, _MOST_CHANGED * seconds)]
        if near:
            return near[0]
    return seconds
