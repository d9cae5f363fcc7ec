"""Hints at the mouse: what a press there would do, short numbers, lengths."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..playing.why import Why
from .clip_part import ClipPart
from .layout import Layout

_TICK_DECIMALS, _SECOND_DECIMALS = 3, 2


def short(value: float, decimals: int = _TICK_DECIMALS) -> str:
    """Return a number as text with few decimals; if it would read 0 but is not 0, with its first digits.

    >>> short(2.6666667), short(12.0), short(0.0000012), short(1.456, 2)
    ('2.667', '12', '1.2e-06', '1.46')
    """
    words = f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    return f"{value:.2g}" if words in ("0", "-0") and value else words


def sentence(words: str, names: Iterable[str] = ()) -> str:
    """Return words with a capital first letter, unless they begin with one of some names, which stay as they are.

    >>> sentence("split at 50%"), sentence("sway split at 50%", ["sway"]), sentence("swaying ends", ["sway", ""])
    ('Split at 50%', 'sway split at 50%', 'Swaying ends')
    """
    begins = (words.removeprefix(name) for name in names if name and words.startswith(name))
    return words if any(not rest[:1].isalnum() for rest in begins) else words[:1].upper() + words[1:]


def length(layout: Layout, begin: float, ticks: float, name: str, written: str) -> str:
    """Return the length of something that begins at a tick, as words.

    ticks: of the layout. written: the value of the attribute of that name in the text; shown only if it differs, since
    callers may give another length.
    """
    seconds = float(np.diff(layout.seconds(np.array((begin, begin + ticks))))[0])
    shown, own = short(ticks), short(float(written))
    words = f"{shown} tick{'s' * (shown != '1')}, {short(seconds, _SECOND_DECIMALS)} s"
    return words if own == shown else f"{words} ({name} {own})"


def name(layout: Layout, box: int) -> str:
    """Return the full name that a box calls, if its title is only the last part of a name made by an FBX file."""
    document, element = layout.documents[int(layout.boxes.document[box])], int(layout.boxes.element[box])
    called = document.text.shape.attributes[element].get("name", "")
    return called if "|" in called else ""


SAME_SPEED, FAST, SLOW = 0.02, 2.0, 0.5
"""A speed that differs from 1 by less than the first is not shown; above the second and below the third it is a
warning."""


def speed(layout: Layout, box: int) -> str:
    """Return the speed of a box's clip as words, or "" if it is the clip's natural speed.

    >>> is_told(1.01), is_told(3.0), is_told(float("nan")), is_far(3.0), is_far(0.7)
    (False, True, False, True, False)
    """
    value = float(layout.boxes.speed[box])
    if not is_told(value):
        return ""
    ticks = float(layout.boxes.length[box] / layout.boxes.repeat[box])
    seconds = ticks * layout.tick_s
    much = f"{short(value, 2)} times as fast as" if value > 1.0 else f"{short(1.0 / value, 2)} times as slowly as"
    return (f"Plays {much} its clip: {short(seconds * value, _SECOND_DECIMALS)} s in "
            f"{short(seconds, _SECOND_DECIMALS)} s; at its own speed the clip takes {short(ticks * value)} ticks")


def part(layout: Layout, box: int) -> str:
    """Return the part of its clip that a box plays, in seconds, or "" if it plays all of it or that is unknown."""
    own = ClipPart.of(layout, box)
    if own is None or (own.begin, own.end) == (0.0, 1.0):
        return ""
    begin, end, whole = (short(share * own.clip_s, _SECOND_DECIMALS) for share in (own.begin, own.end, 1.0))
    return f"Plays {begin} to {end} s of the clip's {whole} s"


def is_told(speed: float) -> bool:
    """Return whether a speed is shown."""
    return abs(speed - 1.0) > SAME_SPEED


_SHORTEST, _SAME_TICKS = 0.25, 1e-6
"""In ticks: natural lengths below one tick are rounded to multiples of the first; the second is a rounding error."""


def natural_ticks(ticks: float) -> float:
    """Return the length at which a clip of so many ticks is inserted: whole ticks, or parts of a short one.

    >>> natural_ticks(3.7), natural_ticks(0.6), natural_ticks(0.01)
    (4.0, 0.5, 0.25)
    """
    return float(round(ticks)) if ticks >= 1.0 else max(round(ticks / _SHORTEST), 1) * _SHORTEST


def is_natural(layout: Layout, box: int) -> bool:
    """Return whether a box is as long as its clip is inserted: its speed comes from rounding to ticks alone."""
    own = float(layout.boxes.length[box] / layout.boxes.repeat[box] / layout.boxes.scale[box])
    return abs(natural_ticks(own * float(layout.boxes.speed[box])) - own) < _SAME_TICKS


def is_far(speed: float) -> bool:
    """Return whether a speed is so far from 1 that it is shown as a warning."""
    return speed > FAST + SAME_SPEED or speed < SLOW - SAME_SPEED


def transition(layout: Layout, seam: int, why: Why | None = None, refusal: str = "") -> str:
    """Return the length of the transition at a seam as words, with what the mouse can do about it.

    why: the reason of its length, if known; otherwise it is found from the layout. refusal: why it cannot be dragged.
    """
    seams = layout.seams
    begin, end = float(seams.begin[seam]), float(seams.end[seam])
    seconds = float(np.diff(layout.seconds(np.array((begin, end))))[0])
    own = Why(f"{short(seconds, _SECOND_DECIMALS)} s" + ": automatic" * bool(seams.is_automatic[seam]))
    said = (why or own).in_brief
    if refusal or layout.owner_of_transition(seam) is None:
        return f"{said}. {sentence(refusal)}" if refusal else said
    can = "Pull to set its length" if seams.is_automatic[seam] else "Pull, or double-click to make it automatic"
    return f"{said}. {can}"
