"""Edits of random programmes of version 2 play as plain recursion says, and can be taken back."""

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random

import pytest

from takt.core.errors import EditError, ScoreError
from takt.core.pha.document import read
from takt.core.pha.edits import apply
from takt.core.pha.extraction import ExtractCalls
from takt.core.pha.grammar import BLOCK, PLAYED
from takt.core.pha.inlining import InlineCall
from takt.core.pha.make_single import CallAt, MakeSingle
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.rearranging import SplitCall, WrapTogether
from takt.core.pha.refactoring import Refactoring
from takt.core.pha.text import Text

from . import plain_expander
from .plain_expander import Refused, Segment, TooLong
from .score_programmes import CLIPS, programme
from .test_pha_random_programmes import Texts, agree, flat

PROGRAMMES = int(os.environ.get("TAKT_PROGRAMMES", "100"))
GROUPS = 4
Modules = dict[str, str]


def opened(texts: Modules) -> Scores:
    """Open all modules; the one that is played has no path."""
    return Scores.of([Text.of(text, Path(src) if src else None) for src, text in texts.items()], Texts(texts))


def edited(texts: Modules, edit: Refactoring) -> Modules:
    """Return the modules after an edit, which is taken back to the same bytes on the way."""
    scores = opened(texts)
    changed = edit.apply(scores)
    for path, after in changed.items():
        assert apply(after.text, *after.inverse).text.data == scores.texts[path].data
    return {src: str(changed[path].text) if (path := Path(src) if src else None) in changed else text
            for src, text in texts.items()}


def played(texts: Modules, seed: int) -> list[Segment] | None:
    """Return what plain recursion plays, None where that is nothing or an error."""
    try:
        return plain_expander.expand(texts, CLIPS, seed=seed) or None
    except (Refused, TooLong):
        return None


@cache
def unedited(number: int, seed: int) -> list[Segment] | None:
    """Return what plain recursion plays of a random programme: all kinds of edits are compared with it."""
    return played(programme(number), seed)


def joined(segments: list[Segment]) -> list[Segment]:
    """Join neighbours that play one clip from part to part at one pace, without a transition."""
    found: list[Segment] = []
    for each in segments:
        lanes = tuple(lane._replace(segments=tuple(joined(list(lane.segments)))) for lane in each.lanes)
        segment = each._replace(lanes=lanes)
        before = found[-1] if found else segment
        begin, end = (before, segment) if not segment.is_reversed else (segment, before)
        if found and segment.clip and before.transition_s == 0.0 and before[3:5] == segment[3:5] and (
                before.clip == segment.clip) and math.isclose(begin.part[1], end.part[0], abs_tol=1e-9):
            found[-1] = segment._replace(length_s=before.length_s + segment.length_s, part=(begin.part[0], end.part[1]))
        else:
            found.append(segment)
    return found


def check_plays(after: Modules, before: Callable[[int], list[Segment] | None],
                as_seen: Callable[[list[Segment]], list[Segment]] = list) -> None:
    for seed in (0, 1, 7):
        wanted, found = before(seed), played(after, seed)
        assert (wanted is None) == (found is None)
        if wanted is not None and found is not None:
            assert agree(flat(as_seen(found)), flat(as_seen(wanted)))


def blocks(text: Text) -> list[tuple[int, list[int]]]:
    """Return all elements that hold blocks, with their children."""
    found = [(element, list(text.children(element))) for element in range(1, len(text))]
    return [(element, inside) for element, inside in found if inside and all(
        text.shape.tags[child] in (*BLOCK, "param") for child in inside)]


def neighbours(random: Random, text: Text) -> tuple[int, int, int]:
    """Return a block, and some neighbours in it by index and number."""
    parent, inside = random.choice(blocks(text))
    first = random.randrange(len(inside))
    return parent, first, random.randint(1, len(inside) - first)


def calls(text: Text) -> list[int]:
    return [element for element, tag in enumerate(text.shape.tags) if tag == "call"]


def extract(random: Random, src: str, text: Text) -> Refactoring:
    return ExtractCalls(Path(src) if src else None, *neighbours(random, text), "new_one")


def inline(random: Random, src: str, text: Text) -> Refactoring:
    return InlineCall(Path(src) if src else None, random.choice(calls(text)))


def single(random: Random, src: str, text: Text) -> Refactoring:
    return MakeSingle((CallAt(Path(src) if src else None, random.choice(calls(text)), random.choice((None, 0, 1))),))


def split(random: Random, src: str, text: Text) -> Refactoring:
    return SplitCall(Path(src) if src else None, random.choice(calls(text)), random.choice((0.25, 0.5, 0.7)),
                     random.choice((0, 0, 1)))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least", "seen"), [
    (extract, 0.4, list), (inline, 0.1, list), (single, 0.1, list), (split, 0.05, joined)],
    ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize("group", range(GROUPS))
def test_what_is_played_stays(group, kind, least, seen):
    done = tried = 0
    for seed in range(group, PROGRAMMES, GROUPS):
        texts, random = programme(seed), Random(seed)
        try:
            resolve(read(Text.of(texts[""])), Texts(texts))
            text = Text.of(texts[""])
            if not calls(text):
                continue
        except ScoreError:
            continue
        tried += 1
        try:
            after = edited(texts, kind(random, "", text))
        except EditError as error:
            assert "this would" not in str(error), (seed, str(error))
            continue
        done += 1
        check_plays(after, partial(unedited, seed), seen)
    assert done >= least * tried


def by_hand(texts: Modules, change: Callable[[ET.Element], None]) -> Modules:
    """Return the modules with the played one changed as a tree, by nothing of what is tested."""
    root = ET.fromstring(texts[""])
    change(root)
    return {**texts, "": ET.tostring(root, encoding="unicode")}


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_what_is_wrapped_plays_at_once(group):
    done = 0
    for seed in range(group, PROGRAMMES, GROUPS):
        texts, random = programme(seed), Random(seed)
        parent, first, count = neighbours(random, Text.of(texts[""]))
        own = random.randint(1, count)
        lanes = (("lower", own), ("right_arm", count - own))[:2 if own < count else 1]

        def change(root, parent=parent, first=first, lanes=lanes):
            holder = list(root.iter())[parent]
            chosen = list(holder)[first:first + sum(number for _, number in lanes)]
            block = ET.Element("together")
            if chosen[-1].tag in PLAYED and "transition" in chosen[-1].attrib:
                block.attrib["transition"] = chosen[-1].attrib.pop("transition")
            for body, number in lanes:
                lane = ET.SubElement(block, "lane", {"body": body})
                for element in chosen[:number]:
                    holder.remove(element)
                    lane.append(element)
                chosen = chosen[number:]
            holder.insert(first, block)

        try:
            after = edited(texts, WrapTogether(None, parent, first, lanes))
        except EditError:
            continue
        done += 1
        check_plays(after, partial(played, by_hand(texts, change)))
    assert done
