"""Suggestions for unknown names: by whole words first, then by letters."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from ..errors import quoted

_LONGEST = 200
"""Longer names than this have no suggestions: comparing takes time."""
_MOST_COMPARED = 2000
_ALIKE = 0.7
_NEARLY_AS_GOOD = 0.1
_SUGGESTED, _LISTED = 3, 8
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


@lru_cache(maxsize=_MOST_COMPARED)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case.

    >>> words("greta.LeftStep_02")
    ('greta', 'left', 'step', '02')
    """
    return tuple(word.casefold() for word in _WORD.findall(name))


class Likeness:
    """The similarity of other names to one, 0 to 1: by their letters, ignoring case, or by common words.

    >>> Likeness("Walking_a")("Walking_A"), Likeness("step left")("left_step")
    (1.0, 1.0)
    """

    def __init__(self, name: str) -> None:
        self._words = frozenset(words(name[:_LONGEST]))
        self._matcher = difflib.SequenceMatcher(None, "", name[:_LONGEST].casefold())

    def __call__(self, other: str, at_least: float = 0.0) -> float:
        """Return the similarity, or a value below at_least if it is less."""
        its = frozenset(words(other[:_LONGEST]))
        shared = 2.0 * len(self._words & its) / max(len(self._words) + len(its), 1)
        self._matcher.set_seq1(other[:_LONGEST].casefold())
        least = max(shared, at_least)
        if self._matcher.real_quick_ratio() < least or self._matcher.quick_ratio() < least:
            return shared
        return max(self._matcher.ratio(), shared)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that may be meant, the most similar first, at most three.

    >>> nearest("greta.Dence", ["greta.Dance", "greta.Walk"])
    ['greta.Dance']
    """
    if len(name) > _LONGEST:
        return []
    likeness, prefix = Likeness(name), name[:name.rfind(".") + 1].casefold()
    of_own = Likeness(name[len(prefix):])  # the prefix that all clips of a file share does not count

    def measure(other: str) -> float:
        is_of_same = bool(prefix) and other.casefold().startswith(prefix)
        return of_own(other[len(prefix):], _ALIKE) if is_of_same else likeness(other, _ALIKE)

    found = sorted((-measure(other), other) for other in dict.fromkeys(list(known)[:_MOST_COMPARED]))
    return [other for negative, other in found
            if -negative >= _ALIKE and negative <= found[0][0] + _NEARLY_AS_GOOD][:_SUGGESTED]


def near(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean …?" with known names that are similar, or "".

    >>> near("Walking_a", ["Walking_A", "Running_A"])
    '; did you mean Walking_A?'
    """
    found = nearest(name, known)
    return f"; did you mean {' or '.join(found)}?" if found else ""


class Suggestions:
    """Suggests names as near() does, up to a number of comparisons, so that a file full of mistakes is read quickly."""

    def __init__(self, most: int = 10_000) -> None:
        self._left = most

    def near(self, name: str, known: Iterable[str]) -> str:
        """Return the text of `near`, or "" if too many names have been compared."""
        if self._left <= 0:
            return ""
        known = list(islice(known, _MOST_COMPARED))
        self._left -= len(known)
        return near(name, known)

    @property
    def is_over(self) -> bool:
        """Whether no more names are compared."""
        return self._left <= 0


def listed(name: str, held: Iterable[str]) -> str:
    """Return a list of names as text, the most similar to a name first.

    >>> listed("jump", ["walk", "jump up", "run"])
    "'jump up', 'run', 'walk'"
    """
    all_held = list(dict.fromkeys(held))
    likeness = Likeness(name)
    some = sorted(all_held[:_MOST_COMPARED], key=lambda other: (-likeness(other, _ALIKE), other))[:_LISTED]
    more = f" and {len(all_held) - len(some)} more" if len(all_held) > len(some) else ""
    return ", ".join(map(quoted, some)) + more
