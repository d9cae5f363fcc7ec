"""Random programmes and edits of them, and, found by plain recursion, which of their blocks becomes which.

Every call of a clip plays a clip of its own, and every element has a label that it keeps, which the texts do not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import NamedTuple

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.library.library import Library
from takt.core.pha.edits import Edit, Insert, Move, Remove, SetAttribute, Unwrap, Wrap, apply
from takt.core.pha.extraction import ExtractCalls
from takt.core.pha.lineage import matched
from takt.core.pha.open_scores import Scores
from takt.core.pha.rearranging import SplitCall
from takt.core.pha.refactoring import source_of
from takt.core.pha.text import Text

from .scores import turning, walking

CLIPS = 60
Chain = tuple[tuple[int, int], ...]
"""Labels and repetitions of what leads to a block, and of loops around it."""


@dataclass(eq=False)
class Element:
    tag: str
    given: dict[str, str]
    label: int
    children: list[Element] = field(default_factory=list)

    def all(self) -> Iterator[Element]:
        yield self
        for child in self.children:
            yield from child.all()


class Program:
    """A score as a tree of elements."""

    def __init__(self, random: Random) -> None:
        self.random, self._labels, self._clips = random, count(), count()
        self.root = self.element("pha", version="2", tickLength=random.choice(("0.5", "1", "0.8")))
        self.root.children.append(self.element("load", src="moves"))
        for level, name in enumerate(("p0", "p1", "main")):
            procedure = self.element("procedure", name=name)
            procedure.children = self.block(level, 2)
            self.root.children.append(procedure)

    def element(self, tag: str, **given: str) -> Element:
        return Element(tag, given, next(self._labels))

    def clip_call(self) -> Element:
        return self.element("call", name=f"c{next(self._clips) % CLIPS}", duration=self.number())

    def number(self) -> str:
        return self.random.choice(("1", "2", "0.5", "1.5", "0.75"))

    def block(self, level: int, depth: int) -> list[Element]:
        return [self.played(level, depth) for _ in range(self.random.randint(2, 4))]

    def played(self, level: int, depth: int) -> Element:
        roll = self.random.random()
        if roll < 0.15 and depth:
            loop = self.element("loop", times=self.random.choice("123"))
            loop.children = self.block(level, 0)
            return loop
        call = (self.element("call", name=f"p{self.random.randrange(level)}", duration=self.number())
                if level and roll < 0.5 else self.clip_call())
        if self.random.random() < 0.3:
            call.given["repeat"] = self.random.choice("23")
        return call

    # Asking

    def text(self, indent: str = "  ", sort: bool = False) -> str:
        def written(element: Element, depth: int) -> Iterator[str]:
            items = sorted(element.given.items()) if sort else element.given.items()
            tag = f"{element.tag}{''.join(f' {name}={chr(34)}{value}{chr(34)}' for name, value in items)}"
            yield f"{indent * depth}<{tag}{'' if element.children else '/'}>"
            for child in element.children:
                yield from written(child, depth + 1)
            if element.children:
                yield f"{indent * depth}</{element.tag}>"
        return "\n".join(written(self.root, 0))

    def number_of(self, element: Element) -> int:
        return next(number for number, each in enumerate(self.root.all()) if each is element)

    def parent_of(self, element: Element) -> Element:
        return next(each for each in self.root.all() if element in each.children)

    def procedures(self) -> list[Element]:
        return [child for child in self.root.children if child.tag == "procedure"]

    def calls(self, is_clip: bool | None = None, more_than: int = 0) -> list[Element]:
        """Return calls that are not alone where they are if more_than is 1."""
        return [each for procedure in self.procedures() for each in procedure.all()
                if each.tag == "call" and (is_clip is None or is_clip == (each.given["name"][0] == "c"))
                and len(self.parent_of(each).children) > more_than]

    def chains(self, start: str = "main") -> list[Chain]:
        """Return what leads to each block, in the order in which they are played."""
        named = {each.given["name"]: each for each in self.procedures()}
        found: list[Chain] = []

        def play(elements: list[Element], chain: Chain) -> None:
            for element in elements:
                if element.tag == "loop":
                    for at in range(int(element.given["times"])):
                        play(element.children, (*chain, (element.label, at)))
                elif element.tag in ("call", "wait"):
                    for at in range(int(element.given.get("repeat", 1))):
                        inner = named.get(element.given.get("name", ""))
                        if inner is None:
                            found.append((*chain, (element.label, at)))
                        else:
                            play(inner.children, (*chain, (element.label, at)))

        play(named[start].children, ())
        return found


def moves() -> tuple[Clip, ...]:
    """Make as many clips as there are names, the last of which goes over the ground."""
    random = np.random.default_rng(3)
    made = [turning(f"c{at}", random.normal(size=3), tuple(random.uniform(-0.6, 0.6, 4)), duration_s=0.5 + at % 3)
            for at in range(CLIPS)]
    return (*made, walking(f"c{CLIPS}", (0.4, 0.1)))


class Change(NamedTuple):
    """A text after an edit, and which of the blocks before it each of its blocks is, None: a new one."""

    text: str
    origin: list[int]
    blocks: list[int | None]
    are_moved: bool = False


Kind = Callable[[Program], Change | None]


def _by(program: Program, *edits: Edit) -> tuple[str, list[int]]:
    edited = apply(Text.of(program.text()), *edits)
    return str(edited.text), edited.origin


def _traced(program: Program, change: Callable[[], tuple[str, list[int]] | None],
            are_moved: bool = False) -> Change | None:
    """Make a change of the text and of the tree, and follow the labels."""
    before = {chain: at for at, chain in reversed(list(enumerate(program.chains())))}
    made = change()
    if made is None or len(program.chains()) == 0:
        return None
    assert Text.of(made[0]).shape == Text.of(program.text()).shape
    return Change(*made, [before.get(chain) for chain in program.chains()], are_moved)


def _same(program: Program, text: str, origin: list[int]) -> Change:
    return Change(text, origin, list(range(len(program.chains()))))


def _setting(name: str, values: tuple[str, ...], is_clip: bool | None = None) -> Kind:
    def kind(program: Program) -> Change | None:
        def change() -> tuple[str, list[int]] | None:
            found = program.calls(is_clip)
            if not found:
                return None
            element, value = program.random.choice(found), program.random.choice(values)
            made = _by(program, SetAttribute(program.number_of(element), name, value))
            element.given[name] = value
            return made
        return _traced(program, change)
    return kind


def _score_setting(program: Program) -> Change | None:
    def change() -> tuple[str, list[int]]:
        made = _by(program, SetAttribute(0, "tickLength", "0.37"))
        program.root.given["tickLength"] = "0.37"
        return made
    return _traced(program, change)


def _inserting(make: Callable[[Program], Element]) -> Kind:
    def kind(program: Program) -> Change | None:
        def change() -> tuple[str, list[int]]:
            parent, new = program.random.choice(program.procedures()), make(program)
            index = program.random.randint(0, len(parent.children))
            shown = "".join(f' {name}="{value}"' for name, value in new.given.items())
            made = _by(program, Insert(program.number_of(parent), index, f"<{new.tag}{shown}/>"))
            parent.children.insert(index, new)
            return made
        return _traced(program, change)
    return kind


def _removing(is_clip: bool) -> Kind:
    def kind(program: Program) -> Change | None:
        def change() -> tuple[str, list[int]] | None:
            found = program.calls(is_clip, more_than=1)
            if not found:
                return None
            element = program.random.choice(found)
            made = _by(program, Remove(program.number_of(element)))
            program.parent_of(element).children.remove(element)
            return made
        return _traced(program, change)
    return kind


def _move_within(program: Program) -> Change | None:
    def change() -> tuple[str, list[int]] | None:
        element = program.random.choice(program.calls())
        parent = program.parent_of(element)
        index = program.random.randint(0, len(parent.children))
        made = _by(program, Move(program.number_of(element), program.number_of(parent), index))
        at = parent.children.index(element)
        parent.children.insert(index, element)
        del parent.children[at + (index <= at)]
        return made
    return _traced(program, change)


def _move_to_another_procedure(program: Program) -> Change | None:
    def change() -> tuple[str, list[int]] | None:
        found = program.calls(is_clip=True, more_than=1)
        if not found:
            return None
        element, parent = program.random.choice(found), program.random.choice(program.procedures())
        made = _by(program, Move(program.number_of(element), program.number_of(parent), 0))
        program.parent_of(element).children.remove(element)
        parent.children.insert(0, element)
        return made
    return _traced(program, change, are_moved=True)


def _wrapping(times: str) -> Kind:
    def kind(program: Program) -> Change | None:
        parent = program.random.choice(program.procedures())
        at = program.random.randrange(len(parent.children))
        text, origin = _by(program, Wrap(program.number_of(parent), at, 1, "loop", (("times", times),)))
        before, chosen = program.chains(), parent.children[at]
        loop = program.element("loop", times=times)
        parent.children[at], loop.children = loop, [chosen]
        plain = {chain: number for number, chain in enumerate(before)}

        def was(chain: Chain) -> int | None:
            rounds = [at for label, at in chain if label == loop.label]
            return None if any(rounds) else plain[tuple(step for step in chain if step[0] != loop.label)]

        return Change(text, origin, [was(chain) for chain in program.chains()])
    return kind


def _unwrap(program: Program) -> Change | None:
    loops = [each for each in program.root.all() if each.tag == "loop"]
    if not loops:
        return None
    loop = program.random.choice(loops)
    text, origin = _by(program, Unwrap(program.number_of(loop)))
    before = {tuple(step for step in chain if step[0] != loop.label): number
              for number, chain in reversed(list(enumerate(program.chains())))}
    parent = program.parent_of(loop)
    at = parent.children.index(loop)
    parent.children[at:at + 1] = loop.children
    return Change(text, origin, [before[chain] for chain in program.chains()])


def _opened(program: Program) -> Scores:
    return Scores.of([Text.of(program.text())], Library(other_clips=lambda src: moves() if src == "moves" else None))


def _refactoring(program: Program, make: Callable[[], object]) -> Change:
    scores = _opened(program)
    edited = make().apply(scores)[None]  # type: ignore[attr-defined]
    return _same(program, str(edited.text), edited.origin)


def _extract(program: Program) -> Change | None:
    parent = program.random.choice(program.procedures())
    index = program.random.randrange(len(parent.children))
    size = program.random.randint(1, len(parent.children) - index)
    return _refactoring(program, lambda: ExtractCalls(None, program.number_of(parent), index, size, "phrase"))


def _split(program: Program) -> Change | None:
    """The first part stays the call that it was; what was played at its share is elsewhere, which is not asked here."""
    found = [call for call in program.calls(is_clip=True) if "repeat" not in call.given]
    if not found:
        return None
    element = program.random.choice(found)
    scores = _opened(program)
    edited = SplitCall(None, program.number_of(element), 0.25).apply(scores)[None]
    blocks: list[int | None] = []
    for number, chain in enumerate(program.chains()):
        blocks += [number, None] if chain[-1][0] == element.label else [number]
    return Change(str(edited.text), edited.origin, blocks)


def _duplicate(program: Program) -> Change | None:
    parent = program.random.choice(program.procedures())
    index = program.random.randrange(len(parent.children))
    text = Text.of(program.text())
    child = program.number_of(parent.children[index])
    edited = apply(text, Insert(program.number_of(parent), index + 1, source_of(text, child, child)))
    before = program.chains()
    copy = _copied(program, parent.children[index])
    parent.children.insert(index + 1, copy)
    known = {chain: number for number, chain in enumerate(before)}
    return Change(str(edited.text), edited.origin, [known.get(chain) for chain in program.chains()])


def _copied(program: Program, element: Element) -> Element:
    copy = program.element(element.tag, **element.given)
    copy.children = [_copied(program, child) for child in element.children]
    return copy


def _undone(program: Program) -> Change | None:
    text = Text.of(program.text())
    edited = apply(text, SetAttribute(0, "tickLength", "2"), Remove(program.number_of(program.calls()[0])))
    back = apply(edited.text, *edited.inverse)
    assert back.text.data == text.data
    return _same(program, str(back.text), list(range(len(text))))


def _tempo(program: Program) -> Change | None:
    def change() -> tuple[str, list[int]]:
        tempo = program.element("tempo", tick="2", tickLength="0.3", over="1")
        made = _by(program, Insert(0, 1, '<tempo tick="2" tickLength="0.3" over="1"/>'))
        program.root.children.insert(1, tempo)
        return made
    return _traced(program, change)


KNOWN: dict[str, Kind] = {
    "the duration of a clip": _setting("duration", ("0.6", "3"), is_clip=True),
    "the duration of a procedure": _setting("duration", ("2.5", "4"), is_clip=False),
    "a transition": _setting("transition", ("0.25", "0.1")),
    "tickLength": _score_setting,
    "a tempo": _tempo,
    "more or fewer repetitions of a clip": _setting("repeat", ("1", "2", "4"), is_clip=True),
    "more or fewer repetitions of a procedure": _setting("repeat", ("1", "2", "4"), is_clip=False),
    "another clip": _setting("name", (f"c{CLIPS}",), is_clip=True),
    "another procedure": _setting("name", ("p0",), is_clip=False),
    "where a clip ends": _setting("to", ("0.8",), is_clip=True),
    "reverse of a clip": _setting("reverse", ("yes",), is_clip=True),
    "a part of a clip": _setting("from", ("0.25",), is_clip=True),
    "a clip put in": _inserting(Program.clip_call),
    "a procedure put in": _inserting(lambda program: program.element("call", name=f"c{CLIPS}", duration="3")),
    "a wait put in": _inserting(lambda program: program.element("wait", duration="1")),
    "a clip removed": _removing(is_clip=True),
    "a procedure's call removed": _removing(is_clip=False),
    "a call moved in its procedure": _move_within,
    "a call moved to another procedure": _move_to_another_procedure,
    "a loop of one round around": _wrapping("1"),
    "a loop of three rounds around": _wrapping("3"),
    "a loop taken away": _unwrap,
    "a procedure made of calls": _extract,
    "a call split": _split,
    "calls copied": _duplicate,
    "an edit undone": _undone,
}


def _typed(change: Callable[[Program], str | None]) -> Kind:
    """Type what a change of the tree leads to: which element is which is to be found by likeness."""
    def kind(program: Program) -> Change | None:
        old = Text.of(program.text())
        before = {chain: at for at, chain in reversed(list(enumerate(program.chains())))}
        text = change(program)
        if text is None or not program.chains():
            return None
        return Change(text, matched(old, Text.of(text)), [before.get(chain) for chain in program.chains()])
    return kind


def _type_duration(program: Program) -> str:
    program.random.choice(program.calls()).given["duration"] = "3.25"
    return program.text()


def _type_new_lines(program: Program) -> str:
    parent = program.random.choice(program.procedures())
    parent.children.insert(program.random.randint(0, len(parent.children)),
                           program.element("call", name=f"c{CLIPS}", duration="1"))
    return program.text()


def _cut_and_paste(program: Program) -> str:
    element = program.random.choice(program.calls(is_clip=True))
    parent = program.parent_of(element)
    parent.children.remove(element)
    parent.children.insert(program.random.randint(0, len(parent.children)), element)
    return program.text()


def _delete_a_line(program: Program) -> str | None:
    found = program.calls(is_clip=True, more_than=1)
    if not found:
        return None
    element = program.random.choice(found)
    program.parent_of(element).children.remove(element)
    return program.text()


def _reorder_procedures(program: Program) -> str:
    program.root.children[1:] = program.root.children[:0:-1]
    return program.text()


def _many_at_once(program: Program) -> str | None:
    _type_duration(program)
    program.root.given["tickLength"] = "0.9"
    return _delete_a_line(program)


def _type_another_name(program: Program) -> str:
    for each in program.root.all():
        if each.given.get("name") == "p0":
            each.given["name"] = "verse"
    return program.text()


TYPED: dict[str, Kind] = {
    "white space": _typed(lambda program: program.text(indent="\t\t")),
    "attributes in another order": _typed(lambda program: program.text(sort=True)),
    "a duration typed": _typed(_type_duration),
    "a line typed": _typed(_type_new_lines),
    "a line deleted": _typed(_delete_a_line),
    "a line cut and pasted": _typed(_cut_and_paste),
    "procedures in another order": _typed(_reorder_procedures),
    "a procedure renamed by typing": _typed(_type_another_name),
    "several changes at once": _typed(_many_at_once),
}
