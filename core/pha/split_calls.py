"""Find calls of a clip that were split: the parts that now play in turn instead of one call.

A call was split if new calls of the same clip, with the same repetitions, follow it directly, and their parts join to
the part that it played. So splits are found in edits and in typed texts alike, and so are joins.
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
    """One repetition of a call: its element, and its number, from 0."""

    element: int
    repetition: int


class Part(NamedTuple):
    """The whole to which a playing belongs, and its begin and end as shares of that whole."""

    whole: Playing
    begin: float
    end: float


Parts = Mapping[Playing, Part]


def parts(old: Text, new: Text, origin: Sequence[int]) -> dict[Playing, Part]:
    """Return for each playing in the new text the part of an old playing that it is; others are left out.

    origin: the old number of each element of the new text.

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
    """Return the new number of each of `count` old elements, or NEW if it is gone."""
    back = [NEW] * count
    for after, before in enumerate(origin):
        if before != NEW:
            back[before] = after
    return back


def _is_call(text: Text, element: int) -> bool:
    return text.shape.tags[element] == "call"


class _Range(NamedTuple):
    """A playing of a call: its part of the clip, in playing order, and its length, None if that is calculated."""

    playing: Playing
    start: str
    stop: str
    ticks: float | None


def _ranges(text: Text, elements: Sequence[int]) -> Iterator[_Range]:
    """Yield the playings of calls; only the first if the number of repetitions is calculated."""
    for element in elements:
        given = text.shape.attributes[element]
        ends = _plain(given.get("from", "0")), _plain(given.get("to", "1"))
        start, stop = ends if given.get("reverse", "no").strip() == "no" else ends[::-1]
        times = number(given.get("repeat", "1"))
        for repetition in range(1 if times is None else int(times)):
            yield _Range(Playing(element, repetition), start, stop, number(given.get("duration", "")))


def _plain(end: str) -> str:
    """Return a point in a clip in a form that is equal for all spellings of a number."""
    known = number(end)
    return end.strip() if known is None else repr(known)


def _parts_of(old: Text, whole: int, new: Text, family: Sequence[int]) -> dict[Playing, Part]:
    """Return the parts of a call that it and the new calls after it play; empty if they play anything else."""
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
    """Return the shares of the whole at which its parts begin, and 1; empty if they are not its parts."""
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
