"""Foot contacts of clips that the user switched off: during these, the foot moves as in the clip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .clip import Clip


class Released(NamedTuple):
    """A contact that is switched off: that of one foot at a time of the clip.

    clip: the clip's name in scores; side: l or r. The contact is identified by a time within it, so it is still found
    if it is later detected as slightly longer or shorter.
    """

    clip: str
    side: str
    at_s: float


def read_released(text: str) -> tuple[Released, ...]:
    r"""Read the text that `write_released` writes; all other lines are ignored.

    >>> read_released("l 0.5 feet.Steps.left\nnonsense")
    (Released(clip='feet.Steps.left', side='l', at_s=0.5),)
    """
    found = []
    for line in text.splitlines():
        side, _, rest = line.partition(" ")
        seconds, _, clip = rest.partition(" ")
        try:
            at_s = float(seconds)
        except ValueError:
            continue
        if side in ("l", "r") and clip and np.isfinite(at_s):
            found.append(Released(clip, side, at_s))
    return tuple(found)


def write_released(released: Iterable[Released]) -> str:
    """Write contacts as text, one per line: side, seconds, clip.

    >>> write_released([Released("feet.Steps.left", "l", 0.5)])
    'l 0.5 feet.Steps.left'
    """
    return "\n".join(f"{each.side} {each.at_s:.6g} {each.clip}" for each in released)


def without_contacts(clip: Clip, name: str, released: tuple[Released, ...]) -> Clip:
    """Return a clip without the contacts that are switched off for its name; the same clip if there are none."""
    own = tuple((each.side, each.at_s) for each in released if each.clip == name)
    return clip.derived(_without, own) if own and clip.contacts else clip


def _without(clip: Clip, own: tuple[tuple[str, float], ...]) -> Clip:
    assert clip.contacts is not None
    return replace(clip, contacts={
        side: each.without(np.array([at_s for of, at_s in own if of == side])) for side, each in clip.contacts.items()})
