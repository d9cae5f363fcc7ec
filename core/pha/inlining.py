"""Replace a call by the contents of its procedure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import EditError, quoted
from ..skeletons.body_parts import terms_of
from .definitions import Definitions
from .document import number
from .edits import Edit, Edited, Insert, Remove, SetAttribute, Unwrap, apply
from .edits import element as written
from .expressions import ExpressionError, Value, shown
from .grammar import PLAYED
from .open_scores import (
    CallOf,
    Meaning,
    Name,
    Scores,
    Target,
    calls_of,
    check_meaning,
    meaning,
    procedure_names,
)
from .programme import Programme
from .refactoring import procedure_around, procedure_element, then
from .text import Text, with_line_feeds
from .values import (
    defined,
    elements_below,
    expressions,
    lengths,
    product,
    ratio,
    ticks_of,
    with_names,
)

MAX_INLINED = 1_000
"""One call is not replaced by more elements than this."""


@dataclass(frozen=True)
class InlineCall:
    """Replace a call by the contents of its procedure, with comments.

    Lengths are scaled, arguments take the place of parameters, and names that are used here already are changed. In
    version 1 repetitions are written out, in version 2 they become a loop.
    """

    path: Path | None
    element: int

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        own = scores.open_path(self.path)
        text = scores.text(own)
        top = procedure_around(text, self.element)
        if text.shape.tags[self.element] != "call":
            raise EditError("found no calls there, expected calls that stand one after the other in a procedure")
        caller = Name(own, text.shape.attributes[top].get("name", ""))
        programmes = scores.programmes(own, caller.name)
        callee = _Callee.of(programmes[own], own, self.element)
        fragment, copies = _Inlined(text, self.element, callee).fragment()
        given = [Remove(child) for child in text.children(self.element)]
        edited = apply(text, *given, Insert(self.element, 0, fragment), Unwrap(self.element))
        expected = {path: _expected(programme, caller, self.element, copies) for path, programme in programmes.items()}
        check_meaning(scores.with_texts({own: edited}), expected)
        return {own: edited}


@dataclass(frozen=True)
class InlineAndRemove:
    """Replace a call by the contents of its procedure, and remove that procedure if no open score calls it then."""

    path: Path | None
    element: int

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        inlined = InlineCall(self.path, self.element).apply(scores)
        own = scores.open_path(self.path)
        name = Name(own, scores.text(own).shape.attributes[self.element]["name"])
        after = scores.with_texts(inlined)
        known = {path: meaning(programme) for path, programme in after.programmes(own, name.name).items()}
        targets = {target.name for found in known.values() for rows in found.values() for row in rows for target in row}
        if name in targets or name not in known[own]:
            return inlined
        removed = then(inlined[own], Remove(procedure_element(after.text(own), name.name)))
        check_meaning(after.with_texts({own: removed}), {
            path: {each: rows for each, rows in found.items() if each != name} for path, found in known.items()})
        return {own: removed}


@dataclass(frozen=True, eq=False)
class _Callee:
    """The procedure that a call leads to.

    text, element: of its definition. values: defined by its file for all procedures, but not by the caller's file.
    full_names: names of its calls that are valid in the caller's file, {} if their own names are.
    """

    text: Text
    element: int
    values: Mapping[str, str]
    masks: frozenset[str]
    full_names: Mapping[int, str]

    @classmethod
    def of(cls, programme: Programme, own: Path | None, element: int) -> _Callee:
        call = next(call for call in calls_of(programme) if call.document.path == own and call.element == element)
        names = {target.name for target in call.targets}
        if len(names) > 1:
            raise EditError(f"{quoted(call.name)} leads to different procedures in scores that extend this one")
        target = next(target for target in call.targets if target.view == own)
        if target.name.is_clip:
            raise EditError(f"{quoted(call.name)} is a clip, expected a procedure")
        text = next(document.text for document in programme.documents if document.path == target.name.path)
        procedure = procedure_element(text, target.name.name)
        if target.runs_in == own:
            return cls(text, procedure, {}, frozenset(), {})
        values, masks = _of_view(programme, target)
        return cls(text, procedure, values, masks, _full_names(programme, target))


def _of_view(programme: Programme, target: Target) -> tuple[dict[str, str], frozenset[str]]:
    """Return the values and the names of masks that a procedure's file defines for it."""
    if not isinstance(programme.calls, Definitions):
        return {}, frozenset()
    number_of = [document.path for document in programme.documents].index(target.runs_in)
    view, values = programme.calls.views[number_of], dict[str, Value]()
    values.update(view.roles)
    try:
        for let in view.lets:
            values[let.name] = let.value.value(values)
    except ExpressionError as error:
        raise EditError(f"<let> value: {error}") from None
    return {name: shown(value) for name, value in values.items()}, frozenset(view.masks)


def _full_names(programme: Programme, target: Target) -> dict[int, str]:
    """Return, for the calls of a procedure, the names by which the played file reaches the same targets."""
    routines = dict(zip(procedure_names(programme), programme.procedures, strict=True))
    found = {}
    for call in calls_of(programme):
        if call.procedure == target.name:
            to = next(each.name for each in call.targets if each.view == target.runs_in)
            found[call.element] = to.name if to.is_clip else routines[to].name
    return found


@dataclass(eq=False)
class _Inlined:
    """The text that replaces a call."""

    text: Text
    call: int
    callee: _Callee

    def fragment(self) -> tuple[str, int]:
        """Return the text, and how often it contains the calls of the procedure."""
        attributes, tags = self.text.shape.attributes[self.call], self.text.shape.tags
        repeat = attributes.get("repeat", "1")
        is_version_2 = self.text.shape.attributes[0].get("version") == "2"
        is_picked = tags[self.text.parent(self.call)] == "pick"
        inside = self._inside(attributes)
        last = list(inside.children(0))[-1]
        has_own_end = inside.shape.tags[last] in PLAYED
        transition = attributes.get("transition")
        if not is_version_2:
            copies = round(number(repeat) or 1)
            if (len(inside) - 1) * copies > MAX_INLINED:
                raise EditError(f"{(len(inside) - 1) * copies} calls would replace one; at most {MAX_INLINED} can")
            end = inside if transition is None else apply(inside, SetAttribute(last, "transition", transition)).text
            return "\n".join([*[_content(inside)] * (copies - 1), _content(end)]), copies
        if number(repeat) == 1.0 and not is_picked and (transition is None or has_own_end):
            if transition is not None:
                inside = apply(inside, SetAttribute(last, "transition", transition, over_expression=True)).text
            return _content(inside), 1
        around = {name: attributes[name] for name in ("transition", "weight") if name in attributes}
        start = written("loop", times=repeat, **around).removesuffix("/>")
        indented = "\n".join(f"  {line}" for line in _content(inside).split("\n"))
        return f"{start}>\n{indented}\n</loop>", 1

    def _inside(self, attributes: Mapping[str, str]) -> Text:
        """Return the contents of the procedure as an element <x>, with names, lengths and values set by the call."""
        source, procedure = self.callee.text, self.callee.element
        children = [child for child in source.children(procedure) if source.shape.tags[child] != "param"]
        self._check(attributes, children)
        values = {**self.callee.values, **self._arguments()}
        ticks = with_names(ticks_of(source, children), values)
        factor = ratio(attributes.get("duration", "0"), ticks)
        names = {**values, **self._new_names(children)}
        start, end = source.tag(procedure).closing.end, source.closes[procedure]
        inside = with_line_feeds(source.decoded(start, end)).strip("\n").rstrip()
        alone = Text.of(f"<x>{_dedented(inside)}</x>")
        edits: list[Edit] = []
        for element in range(1, len(alone)):
            edits += self._changes(alone, element, element + procedure, factor, names)
        params = [child for child in alone.children(0) if alone.shape.tags[child] == "param"]
        return apply(alone, *edits, *(Remove(param) for param in reversed(params))).text

    def _check(self, attributes: Mapping[str, str], children: list[int]) -> None:
        source, tags = self.callee.text, self.callee.text.shape.tags
        if number(attributes.get("duration", "0")) == 0.0:
            raise EditError("the call plays nothing; remove it instead")
        inside = list(elements_below(source, children))
        if any(tags[each] == "pick" for each in inside):
            raise EditError("it holds a pick, which would choose differently in another procedure")
        if any(attributes.get(name) for name in ("to", "at", "along")):
            raise EditError("it goes to a place or along a path, which only its call can say; inline it where it does "
                            "not")
        if attributes.get("reverse", "no") != "no":
            raise EditError("it is played backwards, which only its call can say; inline it where it is not reversed")
        if attributes.get("mirror", "no") != "no" and any(tags[each] == "together" for each in inside):
            raise EditError("it is mirrored and holds a together, whose parts of the body would have to change; inline "
                            "it where it is not mirrored")
        for each in inside:
            body = source.shape.attributes[each].get("body", "") if tags[each] == "lane" else ""
            if body and self.callee.masks & {term.name for term in terms_of(body)}:
                raise EditError(f"its lane {quoted(body)} uses a mask of its own file, which is not known here")

    def _arguments(self) -> dict[str, str]:
        """Return the text for each parameter: the call's argument, or its default, which may use other parameters."""
        shape, source = self.text.shape, self.callee.text
        given = next((shape.attributes[child] for child in self.text.children(self.call)), {})
        arguments: dict[str, str] = {}
        for child in source.children(self.callee.element):
            if source.shape.tags[child] == "param":
                name = source.shape.attributes[child]["name"]
                default = with_names(source.shape.attributes[child]["default"], {**self.callee.values, **arguments})
                arguments[name] = given.get(name, default)
        return arguments

    def _new_names(self, children: list[int]) -> dict[str, str]:
        """Return new names for lets and indices whose names the caller's procedure or file uses too."""
        shape = self.text.shape
        taken = {attributes.get(key, "") for attributes in shape.attributes for key in ("name", "index")}
        taken |= {word for element in range(len(self.text)) for expression in expressions(self.text, element).values()
                  for word in _words(expression)}
        own = dict.fromkeys(filter(None, (defined(self.callee.text, each)
                                          for each in elements_below(self.callee.text, children))))
        found: dict[str, str] = {}
        for name in own:
            if name in taken:
                found[name] = next(new for i in range(2, len(taken) + 3) if (new := f"{name}_{i}") not in taken
                                   and new not in own)
                taken.add(found[name])
        return found

    def _changes(self, alone: Text, element: int, original: int, factor: str, names: Mapping[str, str]) -> list[Edit]:
        tag, attributes = alone.shape.tags[element], alone.shape.attributes[element]
        if tag == "param":
            return []
        new = {name: with_names(value, names) for name, value in expressions(alone, element).items()}
        new |= {name: product(new[name], factor) for name in lengths(alone, element)}
        if tag in ("let", "loop") and defined(alone, element) in names:
            new["name" if tag == "let" else "index"] = names[defined(alone, element)]
        if tag == "call":
            new["name"] = self.callee.full_names.get(original, attributes["name"])
            mirror = self.text.shape.attributes[self.call].get("mirror", "no")
            if mirror != "no":
                new["mirror"] = _exchanged(new.get("mirror", "no"), mirror)
        return [SetAttribute(element, name, value, over_expression=True) for name, value in new.items()
                if attributes.get(name) != value]


def _expected(programme: Programme, caller: Name, element: int, copies: int) -> Meaning:
    known = meaning(programme)
    if caller not in known:
        return known
    calls = [call for call in calls_of(programme) if call.procedure == caller]
    at = next(i for i, call in enumerate(calls) if call.element == element)
    rows = _rows_in(programme, calls[at]) * copies
    known[caller] = (*known[caller][:at], *rows, *known[caller][at + 1:])
    return known


def _rows_in(programme: Programme, call: CallOf) -> tuple[tuple[Target, ...], ...]:
    """Return the targets of the calls of the called procedure, which the caller must reach too."""
    known = meaning(programme)
    found = []
    for row in known[call.targets[0].name]:
        targets = []
        for target in call.targets:
            to = next(each for each in row if each.view == target.runs_in)
            runs_in = target.view if to.name.is_clip else to.runs_in
            targets.append(Target(target.view, to.name, runs_in))
        found.append(tuple(targets))
    return tuple(found)


def _exchanged(mirror: str, other: str) -> str:
    """Return whether a call is mirrored in total: if exactly one of it and the call around it is."""
    if {mirror.strip(), other.strip()} <= {"yes", "no"}:
        return "yes" if mirror.strip() != other.strip() else "no"
    return f"({mirror}) != ({other})" if mirror.strip() != "no" else other


def _words(expression: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in expression).split())


def _content(inside: Text) -> str:
    return str(inside).removeprefix("<x>").removesuffix("</x>").strip("\n")


def _dedented(inside: str) -> str:
    """Remove the first line's indentation from all lines that begin with it."""
    indentation = inside[:len(inside) - len(inside.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indentation) for line in inside.split("\n"))
