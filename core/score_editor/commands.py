"""Commands of menus and keys on calls: insert, remove, copy, group. Each returns a Proposal, as gestures do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..errors import EditError, FileError, ScoreError
from ..pha.document import Document, read
from ..pha.edits import Edit, Insert, Remove, SetAttribute, apply, element
from ..pha.extraction import ExtractCalls
from ..pha.grammar import BLOCK
from ..pha.inlining import InlineAndRemove, InlineCall
from ..pha.open_scores import Scores
from ..pha.programme import Modules
from ..pha.refactoring import Refactoring
from ..pha.text import Text
from ..pha.values import spelled_within
from . import fragments, growth, hints
from .change import Edits, Proposal, locked
from .drop import Drop
from .layout import BoxId, Layout
from .names import is_nameless, short

_STEM = "part"
_FREE_NAME = re.compile(rf"{_STEM}_\d+")
"""The pattern of generated names of procedures."""


@dataclass(frozen=True, slots=True)
class Playable:
    """Something that can be called: a clip of a file, or a procedure of another score, or of this one.

    src: of its file, "" for a procedure of the edited score. name: its own. duration_s: its natural length.
    is_read: false for a clip file that was not read yet: name is the file's then, and the length is unknown.
    problem: why it cannot be called, or "". cut_off: how much of its file is missing, "" if it is complete.
    shelf_group: the title of its group on the shelf, "" for that of its file or folder. is_favourite: of the user.
    is_one_of_many: its file holds further clips.
    dotted: the names of its file, without the ending, and of its folder, those that have dots in them.
    tags: words by which a search finds it. found_by: names and tags in lower case; "": they are put together when a
    search needs them.
    """

    src: str
    name: str
    duration_s: float
    is_clip: bool = True
    is_read: bool = True
    problem: str = ""
    cut_off: str = field(default="", compare=False)
    shelf_group: str = field(default="", compare=False)
    is_favourite: bool = field(default=False, compare=False)
    is_one_of_many: bool = field(default=False, compare=False)
    dotted: tuple[str, ...] = field(default=(), compare=False)
    tags: tuple[str, ...] = field(default=(), compare=False)
    found_by: str = field(default="", compare=False, repr=False)

    @property
    def full_name(self) -> str:
        """The name by which it can always be called once its file is loaded or included."""
        return f"{self.src}.{self.name}" if self.src and not self.problem else self.name

    @property
    def title(self) -> str:
        """The name that is shown."""
        return short(self.full_name) if self.is_clip and not self.problem else self.name


@dataclass(frozen=True)
class Chosen:
    """Elements of one document, none within another, ascending."""

    document: int
    text: Text
    elements: tuple[int, ...]


def insert(layout: Layout, gap: Drop, what: Playable, scores: Scores) -> Proposal:
    """Propose a call of a clip or a procedure in a gap, with its natural length rounded to ticks.

    Its file is loaded or included if needed. It is called by its bare name if that is unique and says something. Calls
    by bare names that the new file has too get full names.
    """
    document = layout.documents[gap.document]
    hint = f"{what.title} → {gap.words()}"
    refusal = locked(document, scores)
    if refusal:
        return Proposal(hint=hint, refusal=refusal)
    ticks = _natural_ticks(what.duration_s / document.tick_s, gap.scale)
    head = _head(document, what)
    apart = _told_apart(document, what, scores) if head else ()
    first = fragments.number_at(document.text, gap.parent, gap.index)
    grown = growth.edits(layout, gap.grows(float(ticks)))
    for name in dict.fromkeys((what.name, what.full_name)[is_nameless(what.name):]):
        call = Insert(gap.parent, gap.index, element("call", name=name, duration=ticks))
        edits = Edits(document.text, (*grown, *apart, call, *head))
        if name == what.full_name or _means(edits, document, scores, name, what):
            break
    return Proposal(edits, hint, selects=((gap.document, first + _number_before(head, first)),))


def remove(layout: Layout, selected: frozenset[BoxId], scores: Scores) -> Proposal:
    """Propose to remove the selected calls; the last call of a missing file removes the file's element too."""
    chosen, refusal = selected_elements(layout, selected, scores)
    if chosen is None:
        return Proposal(refusal=refusal)
    lengths = growth.lengths(layout, chosen.document, chosen.elements, layout.found(selected))
    shrunk = growth.edits(layout, growth.without(layout, lengths))
    gone = map(Remove, (*reversed(chosen.elements), *reversed(_no_longer_missed(chosen, scores.gaps))))
    return Proposal(Edits(chosen.text, (*shrunk, *gone)), f"{_counted(chosen.elements)} removed", selects=())


def _no_longer_missed(chosen: Chosen, gaps: frozenset[str]) -> list[int]:
    """Return the elements of missing files that no remaining call needs."""
    text, gone = chosen.text, [range(each, chosen.text.after(each)) for each in chosen.elements]
    tags, given = text.shape.tags, text.shape.attributes
    missed = [number for number, said in enumerate(given) if tags[number] == "call" and said.get("name") in gaps]
    if any(not any(number in each for each in gone) for number in missed):
        return []
    return [number for number in text.children(0) if tags[number] == "load" and given[number].get("src") in gaps]


def duplicate(layout: Layout, selected: frozenset[BoxId], scores: Scores) -> Proposal:
    """Propose copies of the selected calls right after them."""
    chosen, refusal = selected_elements(layout, selected, scores)
    if chosen is None:
        return Proposal(refusal=refusal)
    text, last = chosen.text, chosen.elements[-1]
    parent = text.parent(last)
    index = list(text.children(parent)).index(last) + 1
    lengths = growth.lengths(layout, chosen.document, chosen.elements, layout.found(selected))
    behind = [box for box in lengths if layout.boxes.element[box] == last]
    grown = growth.edits(layout, ((box, sum(lengths.values()) * float(layout.boxes.scale[box])) for box in behind))
    new = Insert(parent, index, fragments.fragment(text, chosen.elements))
    return _inserted(chosen.document, text, new, f"{_counted(chosen.elements)} duplicated", grown)


def copied(layout: Layout, selected: frozenset[BoxId]) -> str:
    """Return the selected calls as text for the clipboard, in the order of their files, or "" if there are none."""
    parts = []
    for number, document in enumerate(layout.documents):
        elements = fragments.outermost(document.text, {box.element for box in selected if box.document == number})
        if elements:
            parts.append(fragments.fragment(document.text, elements))
    return "\n".join(parts)


def paste(layout: Layout, gap: Drop, text: str, scores: Scores) -> Proposal:
    """Propose to insert the calls of a clipboard text in a gap."""
    document = layout.documents[gap.document]
    refusal = locked(document, scores)
    try:
        read_alone = Text.of(f"<x>{text.strip()}</x>")
    except FileError:
        refusal = refusal or "there are no calls in the clipboard"
    else:
        tags = {read_alone.shape.tags[child] for child in read_alone.children(0)}
        if not tags or tags - {*BLOCK}:
            refusal = refusal or "there are no calls in the clipboard"
    if refusal:
        return Proposal(refusal=refusal)
    new, grown = Insert(gap.parent, gap.index, text.strip()), gap.grows(fragments.ticks(read_alone))
    return _inserted(gap.document, document.text, new, f"pasted → {gap.words()}", growth.edits(layout, grown))


def group(layout: Layout, selected: frozenset[BoxId], scores: Scores, name: str = "") -> Proposal:
    """Propose a new procedure of the selected calls, which must be neighbours; name: "" for an unused one."""
    chosen, refusal = selected_elements(layout, selected, scores)
    if chosen is None:
        return Proposal(refusal=refusal)
    document, text = layout.documents[chosen.document], chosen.text
    parent = text.parent(chosen.elements[0])
    children = list(text.children(parent))
    if chosen.elements[0] not in children:
        return Proposal(refusal="these calls cannot be grouped")
    first = children.index(chosen.elements[0])
    if tuple(children[first:first + len(chosen.elements)]) != chosen.elements:
        return Proposal(refusal="only calls that follow each other can become a procedure")
    name = name or free_name(document)
    change = ExtractCalls(text.path, parent, first, len(chosen.elements), name)
    shape = _after(change, document.text, scores).shape
    calls = [number for number, (tag, given) in enumerate(zip(shape.tags, shape.attributes, strict=True))
             if (tag, given.get("name")) == ("call", name)]
    return Proposal(change, f"new procedure {name}", selects=tuple((chosen.document, call) for call in calls))


def dissolve(layout: Layout, box: int, scores: Scores) -> Proposal:
    """Propose to replace a call of a procedure by the calls within the procedure.

    A procedure with a generated name is removed with its last call.
    """
    number, element = int(layout.boxes.document[box]), int(layout.boxes.element[box])
    document = layout.documents[number]
    if refusal := locked(document, scores):
        return Proposal(refusal=refusal)
    text, name = document.text, document.text.shape.attributes[element].get("name", "")
    has_own_name = _FREE_NAME.fullmatch(name) is None
    change = (InlineCall if has_own_name else InlineAndRemove)(text.path, element)
    if text.shape.tags[element] != "call":
        return Proposal(change)  # the error is reported when it is tried
    parent, edited = text.parent(element), _after(change, text, scores)
    before, gone = list(text.children(parent)), _elements_gone(text, edited, name, parent)
    after = list(edited.children(parent - gone))
    first = before.index(element)
    new = after[first:first + len(after) - len(before) + 1]
    return Proposal(change, f"{layout.boxes.titles[box]} dissolved", selects=tuple((number, each) for each in new))


def _elements_gone(text: Text, after: Text, name: str, parent: int) -> int:
    """Return how many elements before the parent were removed with the procedure of a name."""
    before, left = (next((each for each in one.children(0) if one.shape.tags[each] == "procedure"
                          and one.shape.attributes[each].get("name") == name), None) for one in (text, after))
    return 0 if before is None or left is not None or before > parent else text.after(before) - before


def _after(change: Refactoring, text: Text, scores: Scores) -> Text:
    """Return a text after a change, or the same text if the change fails; its caller reports the failure."""
    try:
        edited = change.apply(scores).get(scores.open_path(text.path))
    except (EditError, ScoreError, FileError):
        return text
    return text if edited is None else edited.text


def free_name(document: Document, stem: str = _STEM) -> str:
    """Return a name that no procedure and no element of a score has.

    >>> free_name(read(Text.of('<pha tickLength="1"><procedure name="part_1"/></pha>')))
    'part_2'
    """
    taken = {procedure.name for procedure in document.procedures} | {
        attributes.get("name", "") for attributes in document.text.shape.attributes}
    return next(name for number in range(1, len(taken) + 2) if (name := f"{stem}_{number}") not in taken)


def selected_elements(layout: Layout, selected: frozenset[BoxId], scores: Scores) -> tuple[Chosen | None, str]:
    """Return the selected elements, or None and the reason why they cannot be edited."""
    documents = {box.document for box in selected if layout.find(box) is not None}
    if not documents:
        return None, "nothing is selected"
    if len(documents) > 1:
        return None, "the selected calls stand in different files"
    number = documents.pop()
    document = layout.documents[number]
    refusal = locked(document, scores)
    elements = fragments.outermost(document.text, {box.element for box in selected if layout.find(box) is not None})
    return (None, refusal) if refusal else (Chosen(number, document.text, elements), "")


def _inserted(document: int, text: Text, new: Insert, hint: str, grown: tuple[Edit, ...]) -> Proposal:
    numbers = fragments.numbers(new.fragment, fragments.number_at(text, new.parent, new.index))
    return Proposal(Edits(text, (*grown, new)), hint, selects=tuple((document, each) for each in numbers))


def _counted(elements: tuple[int, ...]) -> str:
    return "1 call" if len(elements) == 1 else f"{len(elements)} calls"


def _natural_ticks(ticks: float, scale: float) -> str:
    """Return the duration of a call, as text, from ticks of its score: rounded to ticks, or to parts of a short one."""
    return spelled_within(hints.natural_ticks(ticks / scale), 1e-6)


def _head(document: Document, what: Playable) -> tuple[Edit, ...]:
    """Return the edit that loads or includes a file, or nothing if it is loaded already."""
    sources = document.loads if what.is_clip else document.includes
    if not what.src or any(source.src == what.src for source in sources):
        return ()
    children = list(document.text.children(0))
    tag = "load" if what.is_clip else "include"
    before = [at for at, child in enumerate(children) if document.text.shape.tags[child] in ("load", tag)]
    return (Insert(0, before[-1] + 1 if before else 0, element(tag, src=what.src)),)


def _told_apart(document: Document, what: Playable, scores: Scores) -> tuple[Edit, ...]:
    """Return edits that give full names to calls by bare names that the new file has too."""
    there = scores.beside(document)
    try:
        new = set(_names(there, what.src, what.is_clip))
        known = [(source.src, set(_names(there, source.src, is_clip)))
                 for sources, is_clip in ((document.loads, True), (document.includes, False)) for source in sources]
    except (ScoreError, FileError):
        return ()  # the error is reported when the edit is tried
    own = {procedure.name for procedure in document.procedures}
    edits = []
    for number, (tag, given) in enumerate(zip(document.text.shape.tags, document.text.shape.attributes, strict=True)):
        name = given.get("name", "")
        if tag == "call" and name in new and name not in own:
            edits += [SetAttribute(number, "name", f"{src}.{name}") for src, names in known if name in names]
    return tuple(edits)


def _names(modules: Modules, src: str, is_clip: bool) -> Iterable[str]:
    """Return the bare names that a file defines."""
    if is_clip:
        return [clip.name for clip in modules.clips(src)[0]]
    return [procedure.name for procedure in modules.module(modules.module_path(src)).procedures]


def _number_before(head: Iterable[Edit], first: int) -> int:
    """Return by how much the number of a call grows when elements are inserted at the head."""
    return len(tuple(head)) if first else 0


def _means(edits: Edits, document: Document, scores: Scores, name: str, what: Playable) -> bool:
    """Return whether a call by a name would play this clip or procedure."""
    try:
        changed = apply(document.text, *edits.edits).text
        programme = scores.resolve(read(changed))
    except (ScoreError, FileError, EditError):
        return False
    if what.is_clip:
        return any(clip == what.full_name for clip in programme.clip_names)
    return True
