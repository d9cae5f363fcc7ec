"""Edits across procedures and files, as values; here that of a procedure's name, and what all of them need.

See open_scores: each is refused if a call would then have the wrong target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from ..errors import EditError, quoted
from . import layout
from .edits import Edit, Edited, SetAttribute, apply
from .evaluation import MAX_EVALUATIONS
from .grammar import BLOCK
from .insertion import composed
from .open_scores import Scores
from .text import Text, with_line_feeds
from .values import defined, names_needed


class Refactoring(Protocol):
    """An edit of open scores, as a value."""

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """Return the changed texts, each with its inverse; raise EditError, with the reason, if it is refused."""


def with_clip_renamed(text: Text, old: str, new: str) -> Edited:
    """Return a score with another name for a file and its only clip, which have the same name, as an Action's do.

    >>> text = Text.of('<pha><load src="a"/><procedure name="b"><call name="a"/></procedure></pha>')
    >>> str(with_clip_renamed(text, "a", "c").text)
    '<pha><load src="c"/><procedure name="b"><call name="c"/></procedure></pha>'
    >>> str(with_clip_renamed(text, "a", "b").text)  # a name that means two things
    '<pha><load src="b"/><procedure name="b"><call name="b.b"/></procedure></pha>'
    """
    procedures = {given.get("name") for tag, given in _elements(text) if tag == "procedure"}
    names = {("load", "src", old): new, ("call", "name", f"{old}.{old}"): f"{new}.{new}",
             ("call", "name", old): f"{new}.{new}" if new in procedures else new}
    return apply(text, *(SetAttribute(number, attribute, names[tag, attribute, said])
                         for number, (tag, given) in enumerate(_elements(text))
                         for attribute, said in given.items() if (tag, attribute, said) in names))


def _elements(text: Text) -> Iterable[tuple[str, Mapping[str, str]]]:
    """Return the tag and the attributes of each element."""
    return zip(text.shape.tags, text.shape.attributes, strict=True)


def then(edited: Edited, *edits: Edit) -> Edited:
    """Apply further edits to a text that was edited."""
    more = apply(edited.text, *edits)
    return Edited(more.text, (*edited.patches, *more.patches), (*edited.traces, *more.traces))


def as_version_2(text: Text) -> list[Edit]:
    """Return the edits that turn a score of version 1 into one of version 2 with the same meaning.

    Raises EditError if it has too many elements for version 2, so that it could no longer be played.
    """
    if text.shape.attributes[0].get("version") == "2":
        return []
    if len(text) > MAX_EVALUATIONS:
        raise EditError(f"this needs version=\"2\" on <pha>, where at most {MAX_EVALUATIONS} elements are played; "
                        f"found {len(text)}")
    return [SetAttribute(0, "version", "2")]


def source_of(text: Text, first: int, last: int) -> str:
    """Return the text of neighbouring elements and of their comments, without indentation."""
    start, end = layout.extent(text, first).start, layout.extent(text, last).end
    own = layout.indentation(text, start)
    changes = layout.reindented(text.units, start, end, own, "") if own else []
    source = text.encoding.decode(composed(text, start, end, changes))
    return with_line_feeds(source)


def procedure_element(text: Text, name: str) -> int:
    """Return the element of a procedure; raise EditError if there is none of this name."""
    for child in text.children(0):
        if text.shape.tags[child] == "procedure" and text.shape.attributes[child].get("name") == name:
            return child
    raise EditError(f"found no procedure {quoted(name)} in {text.path or 'the score'}")


def procedure_around(text: Text, element: int) -> int:
    """Return the procedure around an element; raise EditError if there is none."""
    if not 0 <= element < len(text):
        raise EditError(f"found {len(text)} elements, expected one of the number {element}")
    while element > 0 and text.shape.depths[element] > 1:
        element = text.parent(element)
    if text.shape.tags[element] != "procedure":
        raise EditError("found no calls there, expected calls that stand one after the other in a procedure")
    return element


def chosen_elements(text: Text, parent: int, index: int, count: int) -> list[int]:
    """Return neighbours in a block that can be taken out together; raise EditError if they cannot."""
    procedure_around(text, parent)
    children, tags = list(text.children(parent)), text.shape.tags
    chosen = children[index:index + count] if index >= 0 else []
    if count < 1 or len(chosen) != count or any(tags[child] not in BLOCK for child in chosen):
        raise EditError("found no calls there, expected calls that stand one after the other in a procedure")
    if tags[parent] == "pick" and count > 1:
        raise EditError("of a pick's children only one plays; take one of them")
    behind = children[index + count:]
    if tags[chosen[0]] in ("elif", "else") or (behind and tags[behind[0]] in ("elif", "else")):
        raise EditError("an if goes together with its elif and else; take all of them, or what one of them holds")
    lets = {defined(text, child) for child in chosen if tags[child] == "let"}
    needed = lets & names_needed(text, behind).keys()
    if needed:
        raise EditError(f"{', '.join(map(quoted, sorted(needed)))} is needed after it too; leave its let out")
    return chosen
