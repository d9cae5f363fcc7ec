"""An edit reuses what it leaves as it was; what it leads to must not differ from that of the whole text read anew."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from random import Random
from types import MethodType

import numpy as np
import pytest

from takt.core.errors import EditError, FileError
from takt.core.pha import nodes
from takt.core.pha.document import read
from takt.core.pha.edits import (
    Edit,
    Edited,
    Insert,
    Move,
    Patch,
    Remove,
    RemoveAttribute,
    SetAttribute,
    Unwrap,
    Wrap,
    apply,
)
from takt.core.pha.expansion import expand
from takt.core.pha.extraction import ExtractCalls
from takt.core.pha.inlining import InlineCall
from takt.core.pha.make_single import CallAt, MakeSingle
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import Programme
from takt.core.pha.rearranging import SplitCall, WrapTogether
from takt.core.pha.refactoring import Refactoring
from takt.core.pha.rows import Rows
from takt.core.pha.segments import Segments
from takt.core.pha.sequence import Sequence
from takt.core.pha.text import Text
from takt.core.playing.block_names import Calls
from takt.core.playing.score import Settings
from takt.core.score_editor.change import Candidate, Edits, attempt
from takt.core.score_editor.layout import lay_out
from takt.tests.core.score_programmes import programme
from takt.tests.core.test_pha_random_programmes import Texts

EDITS = int(os.environ.get("TAKT_EDITS", "60"))
"""Edits of each of a few random scores."""
_ROLES = ('<role name="seat" is="place"/><role name="round" is="path"/><role name="cup" is="prop"/>'
          '<role name="her" is="person"/>')
_STAGED = ('<call name="walk" to="seat" duration="2"/><call name="walk" along="round" repeat="fit" duration="3"/>',
           '<together><lane><call name="bow" at="seat" duration="6"/></lane><lane body="head"><wait duration="1"/>'
           '<look at="her" duration="3"/></lane><lane body="right_arm" weight="0.5"><reach for="cup" '
           'with="right hand" duration="2" hold="1"/><hold prop="cup" with="right hand" duration="2"/></lane>'
           '</together>',
           '<together><lane><call name="wave" duration="4" mirror="yes"/></lane><lane><meet person="her" '
           'with="left hand" hand="right hand" duration="2" hold="1"/></lane></together>')
_BLOCKS = ('<call name="walk" duration="2"/>', '<wait duration="1.5"/>', '<loop times="2"><call name="kick" '
           'duration="1"/><call name="bow" duration="2" transition="0.25"/></loop>', '<pick><call name="bow" '
           'duration="1"/><call name="wave" duration="2"/></pick>', '<look at="her" duration="1"/>',
           '<call name="p0" duration="3"/>', '<call name="p2" duration="2" reverse="yes"/>', *_STAGED)
_REMARK = '<!-- ü, <call name="no"/> & </procedure> -->\n'
"""What looks like elements, and is none."""
_STRUCTURE = (6, 7, 8, 9, 10)
"""The kinds of changes that put in, remove, move, wrap and unwrap elements: these number others anew."""
_NUMBERS = ("1", "2", "0.5", "3.25", "0", "bars", "2 * bars", "-1", "much")
_VALUES = {"duration": _NUMBERS, "transition": _NUMBERS, "weight": _NUMBERS, "hold": _NUMBERS, "ease": _NUMBERS,
           "repeat": ("1", "2", "3", "fit"), "times": ("0", "1", "2", "bars"), "mirror": ("yes", "no", "bars > 2"),
           "reverse": ("yes", "no"), "name": ("walk", "bow", "p0", "p1", "p3", "nobody"), "at": ("seat", "her"),
           "to": ("seat", "cup", "0.5", "1"), "tickLength": ("0.5", "0.25"), "tick": ("1", "6"), "value": _NUMBERS}


def whole(text: Text, library: Texts, settings: Settings) -> tuple[Programme, Sequence]:
    """Return what a text plays, with nothing reused; raise FileError as each step does."""
    nodes._known_attributes.cache_clear()
    parsed = Text.of(text.data, text.path) if not text.is_string else Text.of(text.data.decode(), text.path)
    found = Scores.of((parsed,), library).resolve(read(parsed))
    return found, expand(found, values=dict(settings.values), seed=settings.seed)


def differences(pair: tuple[object, object], known: set[tuple[int, int]], at: str = "") -> list[str]:
    """Return where two values differ: floats and arrays to the last bit, objects by what they hold."""
    one, other = pair
    if one is other or (id(one), id(other)) in known:
        return []
    if type(one) is not type(other):
        return [f"{at}: {type(one)}, {type(other)}"]
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        is_same = one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return [] if is_same else [f"{at}: {one}, {other}"]
    parts: list[tuple[str, object, object]] = []
    if is_dataclass(one) and not isinstance(one, Texts):
        parts = [(each.name, getattr(one, each.name), getattr(other, each.name)) for each in fields(one)
                 if not callable(getattr(one, each.name))]
    elif isinstance(one, tuple | list) and isinstance(other, tuple | list):
        parts = [("length", len(one), len(other)), *((str(i), *pair) for i, pair in enumerate(
            zip(one, other, strict=False)))]
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        parts = [("keys", list(one), list(other)), *(
            (str(i), *pair) for i, pair in enumerate(zip(one.values(), other.values(), strict=False)))]
    elif isinstance(one, MethodType | Texts):
        return []  # of values that are compared themselves
    else:
        return [] if one == other or one != one else [f"{at}: {one!r}, {other!r}"]
    known.add((id(one), id(other)))
    return [each for name, *both in parts for each in differences((both[0], both[1]), known, f"{at}.{name}")]


def found_rows(sequence: Sequence) -> list[Rows]:
    """Return the rows of a sequence's lanes, which are joined: those that were expanded together."""
    found = {id(lane.rows): lane.rows for block in sequence.blocks for lane in block.lanes}
    return [rows for rows in found.values() if isinstance(rows, Rows)]


@dataclass(frozen=True)
class WayBack:
    """What undoes a change."""

    text: Text
    patches: tuple[Patch, ...]

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        return {None: apply(self.text, *self.patches)}


def names(sequence: Sequence) -> list[object]:
    """Return how tweaks name the blocks of a sequence and of its lanes, by the calls that lead there."""
    lanes = [lane.sequence for block in sequence.blocks for lane in block.lanes]
    rows = [row for row in (sequence, *lanes) if row is not None]
    return [[calls.step(*step) for step in row.origins.chain_of_segment(segment)] for row in rows
            for calls in (Calls(row),) for segment in range(len(row))]


class Session:
    """A score that is edited by chance, with scene words in it, and all that a drag or a click may reuse."""

    def __init__(self, seed: int) -> None:
        texts = programme(seed)
        texts[""] = texts[""].replace('<load src="moves.Steps"/>', f'<load src="moves.Steps"/>{_ROLES}', 1).replace(
            '<procedure name="main">', f'<procedure name="main">{_REMARK.join(_STAGED)}', 1)
        self.random, self.library = Random(seed), Texts(texts)
        self.settings = Settings(seed=seed)
        text = Text.of(texts[""] if seed % 2 else texts[""].encode("utf-16" if seed % 4 else "utf-8"))
        self.scores, self.before = Scores.of((text,), self.library), read(text)
        whole(text, self.library, self.settings)
        self.ways_back: list[tuple[Patch, ...]] = []

    @property
    def text(self) -> Text:
        return self.scores.text(None)

    def step(self) -> str:
        """Make one change; return its kind, or "" if it was refused."""
        rng, kind = self.random, self.random.choice((*range(16), *_STRUCTURE))
        if kind == 0:
            self.settings = Settings(seed=rng.randrange(9))
        change = self.change(kind)
        try:
            edited = change.apply(self.scores)
        except EditError:
            return ""
        try:
            candidate = attempt(self.scores, None, change, self.settings, self.before)
        except EditError as error:
            if any(each.patches for each in edited.values()) and "changes nothing" not in str(error):
                with pytest.raises(FileError) as why:
                    whole(edited[None].text, self.library, self.settings)
                wrong = [problem for problem in why.value.problems if not problem.is_warning]
                assert str(error) == f"this would break the score: {wrong[0].message}"
            return ""
        self.check(candidate)
        if rng.random() < 0.6:  # else it was one step of a drag, and the next begins where this one did
            self.ways_back.append(candidate.edited[None].inverse)
            self.scores, self.before = self.scores.with_texts(candidate.edited), candidate.programme.document
        return type(change).__name__ if not isinstance(change, Edits) else type(change.edits[0]).__name__

    def check(self, candidate: Candidate) -> None:
        """Compare the programme, the sequence, the layout and the names of blocks for tweaks with those of all anew."""
        found, sequence = whole(candidate.edited[None].text, self.library, self.settings)
        joined = [(Segments.of(rows), Segments.of(tuple(rows))) for rows in found_rows(candidate.sequence)]
        pairs = ((candidate.programme, found), (candidate.sequence, sequence),
                 (lay_out(candidate.sequence), lay_out(sequence)), (names(candidate.sequence), names(sequence)),
                 *joined)
        known = set[tuple[int, int]]()
        told = [each for pair in pairs for each in differences(pair, known)]
        assert not told, "\n".join(told[:3])
        assert candidate.programme.document.text.inside == found.document.text.inside

    def change(self, kind: int) -> Refactoring:
        text, rng = self.text, self.random
        if self.ways_back and rng.random() < 0.15:  # twice in a row: undo and redo
            return WayBack(text, self.ways_back.pop())
        if kind == 1:
            return InlineCall(None, self.element("call"))
        if kind == 2:
            return MakeSingle((CallAt(None, self.element("call"), None),))
        if kind == 3:
            return SplitCall(None, self.element("call"), 0.5)
        parent, index, count = self.neighbours()
        if kind == 4:
            return ExtractCalls(None, parent, index, count, "new_one")
        if kind == 5:
            return WrapTogether(None, parent, index, (("upper", count),))
        return Edits(text, self.edits(kind, parent, index, count))

    def edits(self, kind: int, parent: int, index: int, count: int) -> tuple[Edit, ...]:
        text, rng = self.text, self.random
        children = list(text.children(parent))
        if kind == 6:
            return (Insert(parent, rng.choice((index, len(children))), rng.choice(_BLOCKS)),)
        if kind == 7:
            return (Remove(children[index]),)
        if kind == 8:
            to, before, _ = self.neighbours()
            return (Move(children[index], to, rng.choice((before, len(text.children(to))))),)
        if kind == 9:
            return (Wrap(parent, index, count, "loop", (("times", rng.choice(("2", "bars"))),)),)
        if kind == 10:
            return (Unwrap(self.element("loop", "call", "lane")),)
        if kind == 11:
            first = next(i for i, child in enumerate(text.children(0)) if text.shape.tags[child] == "procedure")
            return (Insert(0, first, f'<tempo tick="{rng.randrange(9)}" tickLength="0.7" over="1"/>'),)
        return tuple(self.attribute() for _ in range(rng.choice((1, 1, 1, 2, 5))))

    def attribute(self) -> Edit:
        """Set an attribute, mostly of a call and to a number, or remove one."""
        text, rng = self.text, self.random
        element = self.element("call") if rng.random() < 0.6 else rng.randrange(len(text))
        there = text.shape.attributes[element].keys() - {"extends", "src"}
        name = rng.choice(("duration", "duration", "transition", *sorted(there)))
        if name in there - {"name", "duration"} and rng.random() < 0.5:
            return RemoveAttribute(element, name)
        return SetAttribute(element, name, rng.choice(_VALUES.get(name, ("1", "seat"))), over_expression=True)

    def element(self, *tags: str) -> int:
        found = [i for i, tag in enumerate(self.text.shape.tags) if tag in tags]
        return self.random.choice(found)

    def neighbours(self) -> tuple[int, int, int]:
        """Return an element that holds what plays, and some neighbours in it, by index and number."""
        text, rng = self.text, self.random
        parent = rng.choice([i for i, tag in enumerate(text.shape.tags)
                             if tag in ("procedure", "loop", "lane", "if", "else", "pick") and text.children(i)])
        index = rng.randrange(len(text.children(parent)))
        return parent, index, rng.randint(1, len(text.children(parent)) - index)


def play(seeds: range, edits: int = EDITS) -> Counter[str]:
    """Edit random scores; return how often each kind of change was made."""
    done: Counter[str] = Counter()
    for seed in seeds:
        try:
            session = Session(seed)
        except FileError:
            continue  # the random score has a mistake
        for number in range(edits):
            try:
                done[session.step()] += 1
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, edit {number}: {error}") from error
    return done


@pytest.mark.parametrize("between", ["", "\n  "])
@pytest.mark.parametrize("parent", ["procedure", "loop"])
def test_what_is_put_in_at_the_end_plays(between: str, parent: str) -> None:
    text = Text.of(between.join(('<pha version="2" tickLength="1">', '<procedure name="main">', '<loop times="2">',
                                 '<wait duration="1"/>', "</loop>", "</procedure>", "</pha>")))
    before, inside = read(text), text.shape.tags.index(parent)
    edited = apply(text, Insert(inside, 1, '<wait duration="2"/>')).text
    assert differences((read(edited, before), read(edited)), set()) == []
    assert len(edited.children(inside)) == 2


def test_an_edit_leads_to_what_all_of_it_read_anew_does() -> None:
    assert play(range(1, 2), 20)


@pytest.mark.slow
def test_many_edits_lead_to_what_all_of_it_read_anew_does() -> None:
    done = play(range(5, 13))
    assert done[""] < done.total() / 2
    for kind in (SetAttribute, RemoveAttribute, Insert, Remove, Move, Wrap, Unwrap, WayBack, ExtractCalls, InlineCall,
                 MakeSingle, SplitCall, WrapTogether):
        assert done[kind.__name__], kind
