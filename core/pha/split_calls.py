"""Calls of a clip that were split: which parts play in turn what one call has played.

A call that stays, with new ones of the same clip right behind it, was split where their parts of the clip join to what
it has played, as often as it has. So it is known of edits and of typed texts alike, and of the way back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .document import number
from .lineage import NEW
from .text import Text

_SAME = 1e-9


class Playing(NamedTuple):
    """One of the times that a call plays: its element, and its repetition, from 0."""

    element: int
    repetition: int


class Part(NamedTuple):
    """What a playing is a part of, and from which share of that to which."""

    whole: Playing
    begin: float
    end: float


Parts = Mapping[Playing, Part]


def parts(old: Text, new: Text, origin: Sequence[int]) -> dict[Playing, Part]:
    """Return of what in the old text each playing in the new one is a part; those that are not are left out.

    origin: which element each of the new text was in the old one.

    >>> old = Text.of("<pha><procedure><call name='bow' duration='4'/></procedure></pha>")
    >>> new = Text.of("<pha><procedure><call name='bow' duration='1' to='.25'/>"
    ...               "<call name='bow' duration='3' from='.25'/></procedure></pha>")
    >>> found = parts(old, new, [0, 1, 2, NEW])
    >>> found[Playing(3, 0)]
    Part(whole=Playing(element=2, repetition=0), begin=0.25, end=1.0)
    """
    found: dict[Playing, Part] = {}
    for parent in {new.parent(element) for element, was in enumerate(origin) if was == NEW and _is_call(new, element)}:
        family: list[int] = []
        for element in (*new.children(parent), -1):
            if element >= 0 and family and origin[element] == NEW and _is_call(new, element):
                family.append(element)
                continue
            if len(family) > 1:
                found |= _parts_of(old, origin[family[0]], new, family)
            family = [element] if element >= 0 and origin[element] != NEW and _is_call(new, element) else []
    return found


def inverse(origin: Sequence[int], count: int) -> list[int]:
    """Return the new element that each of `count` old elements became; NEW if it is gone."""
    back = [NEW] * count
    for after, before in enumerate(origin):
        if before != NEW:
            back[before] = after
    return back


def _is_call(text: Text, element: int) -> bool:
    return text.shape.tags[element] == "call"


class _Range(NamedTuple):
    """A playing of a call: which part of the clip, as it plays, and how long, None if that is calculated."""

    playing: Playing
    start: str
    stop: str
    ticks: float | None


def _ranges(text: Text, elements: Sequence[int]) -> Iterator[_Range]:
    """Yield the playings of calls; of those whose repetitions are calculated only the first."""
    for element in elements:
        given = text.shape.attributes[element]
        ends = _plain(given.get("from", "0")), _plain(given.get("to", "1"))
        start, stop = ends if given.get("reverse", "no").strip() == "no" else ends[::-1]
        times = number(given.get("repeat", "1"))
        for repetition in range(1 if times is None else int(times)):
            yield _Range(Playing(element, repetition), start, stop, number(given.get("duration", "")))


def _plain(end: str) -> str:
    """Return where a part of a clip begins or ends, the same for all ways to write a number."""
    known = number(end)
    return end.strip() if known is None else repr(known)


def _parts_of(old: Text, whole: int, new: Text, family: Sequence[int]) -> dict[Playing, Part]:
    """Return the parts of a call that a call and new ones behind it are, none where they play something else."""
    name = old.shape.attributes[whole].get("name")
    waiting = list(_ranges(new, [each for each in family if new.shape.attributes[each].get("name") == name]))[::-1]
    found: dict[Playing, Part] = {}
    for each in _ranges(old, [whole]):
        run: list[_Range] = []
        while waiting and waiting[-1].start == (run[-1].stop if run else each.start) and (
                not run or run[-1].stop != each.stop):
            run.append(waiting.pop())
        shares = _shares(each, run) if run and run[-1].stop == each.stop else []
        if not shares:
            return {}
        found |= {part.playing: Part(each.playing, begin, end)
                  for part, begin, end in zip(run, shares, shares[1:], strict=False)}
    is_as_it_was = all(playing == part.whole._replace(element=family[0]) for playing, part in found.items())
    return {} if is_as_it_was else found


def _shares(whole: _Range, run: Sequence[_Range]) -> list[float]:
    """Return at which shares of the whole its parts begin, and 1; nothing where they are no parts of it."""
    if len(run) == 1:
        return [0.0, 1.0]
    ticks = [part.ticks for part in run]
    if whole.ticks and all(ticks):
        ends = [0.0]
        for each in ticks:
            ends.append(ends[-1] + (each or 0.0) / whole.ticks)
    else:
        places = [number(end) for end in (run[0].start, *(part.stop for part in run))]
        first, last = places[0], places[-1]
        if first is None or last is None or first == last:
            return []
        ends = [((place or 0.0) - first) / (last - first) for place in places]
    is_whole = abs(ends[-1] - 1.0) < _SAME and all(a < b for a, b in pairwise(ends))
    return [*ends[:-1], 1.0] if is_whole else []
