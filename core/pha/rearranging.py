"""Edits of neighbouring calls: split one in two, play several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import EditError, quoted
from .document import number
from .edits import Edited, Insert, RemoveAttribute, SetAttribute, Wrap, apply, element
from .grammar import PLAYED
from .open_scores import Meaning, Name, Scores, calls_of, check_meaning, meaning
from .programme import Programme
from .refactoring import as_version_2, chosen_elements, procedure_around
from .values import product, seconds, spelled, spelled_within, total

_ROUNDING, _NOISE = 1e-6, 1e-12
"""The share of the whole to which a split rounds its numbers; and the tolerance for errors of sums."""


@dataclass(frozen=True)
class SplitCall:
    """Split a clip's call in two, each for a part of the clip; their durations add up to the old one.

    share: of the call's time, where the second part begins, between 0 and 1; numbers are rounded to a millionth of the
    whole. repetition: the one to split, from 0.
    """

    path: Path | None
    element: int
    share: float
    repetition: int = 0

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        own = scores.open_path(self.path)
        text = scores.text(own)
        top = procedure_around(text, self.element)
        programmes = scores.programmes(own)
        if not 0.0 < self.share < 1.0:
            raise EditError(f"found the share {self.share:g}, expected one between 0 and 1")
        clip_s = _clip_s(programmes[own], own, self.element)
        calls = self._calls(text.shape.attributes[self.element], clip_s)
        parent = text.parent(self.element)
        index = list(text.children(parent)).index(self.element)
        edits, number_now = as_version_2(text), self.element
        if text.shape.tags[parent] == "pick":
            weight = text.shape.attributes[self.element].get("weight")
            edits += [] if weight is None else [RemoveAttribute(self.element, "weight")]
            around = (("times", "1"), *(() if weight is None else (("weight", weight),)))
            edits.append(Wrap(parent, index, 1, "loop", around))
            parent, index, number_now = self.element, 0, self.element + 1
        edits.append(Insert(parent, index + 1, "\n".join(element("call", **call) for call in calls[1:])))
        old = text.shape.attributes[self.element]
        edits += [SetAttribute(number_now, name, value, over_expression=True) for name, value in calls[0].items()
                  if old.get(name) != value]
        edits += [RemoveAttribute(number_now, name) for name in old if name not in calls[0] and name != "weight"]
        edited = apply(text, *edits)
        caller = Name(own, text.shape.attributes[top].get("name", ""))
        expected = {path: _repeated(programme, caller, self.element, len(calls))
                    for path, programme in programmes.items()}
        check_meaning(scores.with_texts({own: edited}), expected)
        return {own: edited}

    def _calls(self, old: Mapping[str, str], clip_s: float) -> list[dict[str, str]]:
        """Return the attributes of all calls that replace the old one."""
        repeat = number(old.get("repeat", "1"))
        if repeat is None:
            raise EditError(f"repeat is {quoted(old['repeat'])}, which is calculated; only one of a known number of "
                            "repetitions can be split")
        if not 0 <= self.repetition < repeat:
            raise EditError(f"found the repetition {self.repetition}, expected one from 0 to {repeat - 1:g}")
        if number(old["duration"]) == 0.0:
            raise EditError("the call plays nothing; there is nothing to split")
        single = {name: value for name, value in old.items() if name not in ("repeat", "transition", "weight")}
        first, second = {**single, **self._part(old, clip_s, is_first=True)}, {**single, **self._part(
            old, clip_s, is_first=False)}
        first["transition"] = "0"
        behind = round(repeat) - self.repetition - 1
        before = [single | ({"repeat": str(self.repetition)} if self.repetition > 1 else {})] * bool(self.repetition)
        after = [single | ({"repeat": str(behind)} if behind > 1 else {})] * bool(behind)
        calls = [dict(call) for call in (*before, first, second, *after)]
        if "transition" in old:
            calls[-1]["transition"] = old["transition"]
        return calls

    def _part(self, old: Mapping[str, str], clip_s: float, is_first: bool) -> dict[str, str]:
        """Return duration, from and to of one of the two parts."""
        reverse = old.get("reverse", "no").strip()
        if reverse not in ("yes", "no"):
            raise EditError(f"reverse is {quoted(reverse)}, which is calculated; say yes or no before it is split")
        plain = number(old["duration"])
        duration = self._rounded(1.0 if plain is None else plain, is_first=is_first)
        if plain is None:
            duration = product(old["duration"], duration)
        middle = _between(old.get("from", "0"), old.get("to", "1"), self.share if reverse == "no" else 1.0 - self.share,
                          clip_s)
        return {"duration": duration, "to" if is_first == (reverse == "no") else "from": middle}

    def _rounded(self, ticks: float, *, is_first: bool) -> str:
        """Return the duration of a part as text; both together are exactly `ticks`."""
        first = _at(0.0, ticks, self.share)
        return first if is_first else spelled_within(ticks - float(first), _NOISE * ticks)


@dataclass(frozen=True)
class WrapTogether:
    """Play neighbours at once, from the child with that index on.

    lanes: for each lane the part of the body, "" for the whole body, and its number of neighbours.
    """

    path: Path | None
    parent: int
    index: int
    lanes: tuple[tuple[str, int], ...]

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        own = scores.open_path(self.path)
        text = scores.text(own)
        programmes = scores.programmes(own)
        if text.shape.tags[self.parent] == "pick":
            raise EditError("of a pick's children only one plays; there is nothing to play at once")
        begins = [self.index + sum(count for _, count in self.lanes[:at]) for at in range(len(self.lanes))]
        groups = [chosen_elements(text, self.parent, begin, count)
                  for begin, (_, count) in zip(begins, self.lanes, strict=True)]
        if not groups:
            raise EditError("found no lanes, expected at least one")
        last = groups[-1][-1]
        transition = text.shape.attributes[last].get("transition") if text.shape.tags[last] in PLAYED else None
        edits = as_version_2(text)
        edits += [] if transition is None else [RemoveAttribute(last, "transition")]
        for begin, (body, count) in reversed([*zip(begins, self.lanes, strict=True)]):
            edits.append(Wrap(self.parent, begin, count, "lane", (("body", body),) if body else ()))
        around = () if transition is None else (("transition", transition),)
        edits.append(Wrap(self.parent, self.index, len(groups), "together", around))
        edited = apply(text, *edits)
        check_meaning(scores.with_texts({own: edited}), {path: meaning(p) for path, p in programmes.items()})
        return {own: edited}


def _repeated(programme: Programme, caller: Name, element: int, times: int) -> Meaning:
    """Return the meaning of a programme in which a call is repeated so many times in a row."""
    known = meaning(programme)
    calls = [call.element for call in calls_of(programme) if call.procedure == caller]
    if caller in known:
        rows, at = known[caller], calls.index(element)
        known[caller] = (*rows[:at], *(rows[at:at + 1] * times), *rows[at + 1:])
    return known


def _clip_s(programme: Programme, own: Path | None, element: int) -> float:
    """Return the length of a call's clip; raise EditError if the call leads to a procedure."""
    call = next((call for call in calls_of(programme) if call.document.path == own and call.element == element), None)
    if call is None:
        raise EditError("found no call there, expected the call of a clip")
    target = next(target.name for target in call.targets if target.view == own)
    if not target.is_clip:
        raise EditError(f"{quoted(call.name)} is a procedure; split a call inside of it, or inline it first")
    return programme.clips[programme.clip_names.index(target.name)].duration_s


def _between(begin: str, end: str, share: float, clip_s: float) -> str:
    """Return the point at a share of the way between two points of a clip: in seconds if both are, else as a share."""
    in_seconds = [seconds(begin), seconds(end)]
    if in_seconds[0] is not None and in_seconds[1] is not None:
        return f"{_at(in_seconds[0], in_seconds[1], share)}s"
    ends = [text if value is None else spelled(value / clip_s if clip_s > 0.0 else 0.0)
            for text, value in zip((begin, end), in_seconds, strict=True)]
    plain = [number(text) for text in ends]
    if plain[0] is not None and plain[1] is not None:
        return _at(plain[0], plain[1], share)
    later = _at(0.0, 1.0, share)
    return total([product(ends[0], spelled_within(1.0 - float(later), _NOISE)), product(ends[1], later)])


def _at(begin: float, end: float, share: float) -> str:
    """Return the number at a share of the way between two numbers, rounded, as text."""
    return spelled_within(begin + (end - begin) * share, min(_ROUNDING, share, 1.0 - share) * abs(end - begin))
