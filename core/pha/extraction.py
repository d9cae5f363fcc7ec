"""Extract neighbours in a block as a new procedure, which is called instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import EditError, quoted
from .definitions import Definitions
from .edits import Edit, Edited, Insert, Move, RemoveAttribute, Wrap, apply, element
from .expressions import ExpressionError, Value, read_expression, shown
from .open_scores import Meaning, Name, Scores, Target, Targets, calls_of, check_meaning, meaning, views_of
from .programme import Programme
from .refactoring import chosen_elements, procedure_around, then
from .text import Text
from .values import elements_below, names_in_scope, names_needed, ticks_of


@dataclass(frozen=True)
class ExtractCalls:
    """Make a procedure of `count` neighbours in a block, from the child with that index on, and call it instead.

    Parameters, lets and indices that they use become parameters of the new procedure.
    """

    path: Path | None
    parent: int
    index: int
    count: int
    name: str

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        own = scores.open_path(self.path)
        text = scores.text(own)
        programmes = scores.programmes(own, self.name)
        chosen = chosen_elements(text, self.parent, self.index, self.count)
        top = procedure_around(text, self.parent)
        caller = Name(own, text.shape.attributes[top].get("name", ""))
        locals_here = names_in_scope(text, chosen[0])
        given = [name for name in names_needed(text, chosen) if name in locals_here]
        edited = self._edited(text, chosen, given, default_values(programmes[own], text, chosen[0], given))
        calls = {each for each in elements_below(text, chosen) if text.shape.tags[each] == "call"}
        expected = {path: self._expected(programme, caller, own, chosen[0], calls)
                    for path, programme in programmes.items()}
        check_meaning(scores.with_texts({own: edited}), expected)
        return {own: edited}

    def _edited(self, text: Text, chosen: list[int], given: list[str], defaults: Mapping[str, str]) -> Edited:
        top, is_in_pick = procedure_around(text, self.parent), text.shape.tags[self.parent] == "pick"
        ticks = ticks_of(text, chosen)
        weight = text.shape.attributes[chosen[0]].get("weight") if is_in_pick else None
        call = element("call", name=self.name, duration=ticks, **({} if weight is None else {"weight": weight}))
        if given:
            call = f"{call[:-2]}>{element('with', **{name: name for name in given})}</call>"
        edits: list[Edit] = [] if weight is None else [RemoveAttribute(chosen[0], "weight")]
        at = list(text.children(0)).index(top) + _is_below(text, top, chosen)
        procedure = chosen[0] + (2 if given else 1)
        edits += [Wrap(self.parent, self.index, self.count, "procedure", (("name", self.name),)),
                  Insert(self.parent, self.index, call), Move(procedure, 0, at)]
        edited = apply(text, *edits)
        if not given:
            return edited
        new = list(edited.text.children(0))[at]
        params = "\n".join(element("param", name=name, default=defaults[name]) for name in given)
        return then(edited, Insert(new, 0, params))

    def _expected(self, programme: Programme, caller: Name, own: Path | None, begin: int,
                  calls: set[int]) -> Meaning:
        known = meaning(programme)
        new = Name(own, self.name)
        if new in known:
            raise EditError(f"{quoted(self.name)} is the name of a procedure already; choose another one")
        if caller not in known:
            return known
        elements = [call.element for call in calls_of(programme) if call.procedure == caller]
        rows = known[caller]
        inside = [at for at, number in enumerate(elements) if number in calls]
        first = sum(number < begin for number in elements)
        call: Targets = tuple(Target(view, new, view) for view in views_of(programme, own))
        known[new] = tuple(rows[at] for at in inside)
        known[caller] = (*rows[:first], call, *rows[first + len(inside):])
        return known


def default_values(programme: Programme, text: Text, element: int, names: Iterable[str]) -> dict[str, str]:
    """Return the values of names at an element if its procedure is started on its own, with indices 0.

    programme: of the text. Raises EditError if one has none then.
    """
    view = programme.calls.views[0] if isinstance(programme.calls, Definitions) else None
    scope: dict[str, Value] = {} if view is None else dict(view.roles)
    try:
        for let in () if view is None else view.lets:
            scope[let.name] = let.value.value(scope)
        for name, definition in sorted(names_in_scope(text, element).items(), key=lambda item: item[1]):
            attributes = text.shape.attributes[definition]
            value = attributes.get("default", attributes.get("value", "0"))
            scope[name] = 0.0 if text.shape.tags[definition] == "loop" else read_expression(value).value(scope)
    except ExpressionError as error:
        raise EditError(f"it uses a name without a value where its procedure is started on its own: {error}") from None
    return {name: shown(scope[name]) for name in names}


def _is_below(text: Text, top: int, chosen: list[int]) -> bool:
    """Return whether the new procedure must follow the old one, so that picks keep their numbers and choices."""
    tags = text.shape.tags
    picks = [each for each in elements_below(text, [top]) if tags[each] == "pick"]
    begin, end = chosen[0], text.after(chosen[-1])
    if not any(begin <= pick < end for pick in picks):
        return False
    if any(pick < begin for pick in picks) and any(pick >= end for pick in picks):
        raise EditError("the picks before it and behind it would be numbered anew, and so choose differently")
    return any(pick < begin for pick in picks)
