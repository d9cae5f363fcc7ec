"""Edits change what they name and nothing else, come out as wanted, and can be taken back."""

import difflib
import os
import random
from collections import Counter
from xml.dom import expatbuilder, minidom

import pytest

from takt.core.errors import EditError
from takt.core.pha.edits import (
    Edit,
    Insert,
    Move,
    Patch,
    Remove,
    RemoveAttribute,
    Replacement,
    SetAttribute,
    Unwrap,
    Wrap,
    apply,
    element,
)
from takt.core.pha.layout import Piece, pieces
from takt.core.pha.text import Text
from takt.tests.core.score_texts import LETTERS, Writer

EDITS = int(os.environ.get("TAKT_TEXTS", "400"))
"""Random edits that are gone through; 5,000 are wanted before a release."""
FRAGMENTS = ('<call name="new" duration="1"/>', "<!-- new -->\n<call name='é'/>", "<loop>\n  <a/>\n</loop>",
             '<a/><b c="&#10;&amp;"/>', "<x><!-- one\n two --></x>")

Node = list  # [tag, attributes, words, children, comments directly inside]


# What a document says, as another reader finds it, and what each edit means for that

def model(text: Text) -> Node:
    document = expatbuilder.parseString(text.data, namespaces=False)
    assert document.documentElement is not None
    return node(document.documentElement)


def node(found: minidom.Element) -> Node:
    inside = [child for child in found.childNodes if child.nodeType == child.ELEMENT_NODE]
    comments = [child.data for child in found.childNodes if child.nodeType == child.COMMENT_NODE]
    words = "".join(child.data for child in found.childNodes if child.nodeType in (child.TEXT_NODE,
                                                                                  child.CDATA_SECTION_NODE))
    return [found.tagName, dict(found.attributes.items()), " ".join(words.split()), [node(c) for c in inside], comments]


def numbered(root: Node) -> list[Node]:
    return [root, *(n for child in root[3] for n in numbered(child))]


def parent_of(root: Node, child: Node) -> Node:
    return next(n for n in numbered(root) if any(c is child for c in n[3]))


def place_of(parent: Node, child: Node) -> int:
    return next(i for i, c in enumerate(parent[3]) if c is child)


def meant(root: Node, edit: Edit) -> None:
    """Do to a model what an edit means."""
    nodes = numbered(root)
    match edit:
        case SetAttribute(number, name, value):
            nodes[number][1][name] = value
        case RemoveAttribute(number, name):
            del nodes[number][1][name]
        case Insert(target, index, fragment):
            nodes[target][3][index:index] = model(Text.of(f"<x>{fragment}</x>"))[3]
        case Remove(number):
            parent = parent_of(root, nodes[number])
            del parent[3][place_of(parent, nodes[number])]
        case Move(number, target, index):
            mark: Node = ["mark", {}, "", [], []]
            nodes[target][3].insert(index, mark)
            parent = parent_of(root, nodes[number])
            del parent[3][place_of(parent, nodes[number])]
            parent = parent_of(root, mark)
            parent[3][place_of(parent, mark)] = nodes[number]
        case Wrap(target, index, count, tag, attributes):
            chosen = nodes[target][3][index:index + count]
            nodes[target][3][index:index + count] = [[tag, dict(attributes), "", chosen, []]]
        case Unwrap(number):
            parent = parent_of(root, nodes[number])
            at = place_of(parent, nodes[number])
            parent[3][at:at + 1] = nodes[number][3]
        case _:
            raise AssertionError(edit)


def without_comments(root: Node) -> Node:
    return [*root[:3], [without_comments(child) for child in root[3]]]


# Where an edit may change bytes

def gap(text: Text, number: int) -> tuple[int, int]:
    """Return the units between an element's neighbours, itself included."""
    parent = text.parent(number)
    children = list(text.children(parent))
    at = children.index(number)
    return gap_between(text, parent, children[:at], children[at + 1:])


def gap_between(text: Text, parent: int, before: list[int], behind: list[int]) -> tuple[int, int]:
    closing = text.tag(parent).closing
    begin = text.end(before[-1]) if before else closing.start if closing.end == text.end(parent) else closing.end
    end = text.starts[behind[0]] if behind else max(text.closes[parent], begin)
    return begin, end


def gap_of(text: Text, parent: int, index: int, count: int = 0) -> tuple[int, int]:
    children = list(text.children(parent))
    return gap_between(text, parent, children[:index], children[index + count:])


def may_change(text: Text, edit: Edit) -> list[tuple[int, int]]:
    match edit:
        case SetAttribute(number, name):
            tag = text.tag(number)
            there = tag.attributes.get(name)
            return [(there.value.start, there.value.end)] if there else [(tag.closing.start, tag.closing.start)]
        case RemoveAttribute(number, name):
            return [tuple(text.tag(number).attributes[name].whole)]  # type: ignore[list-item]
        case Insert(parent, index, _):
            return [gap_of(text, parent, index)]
        case Remove(number) | Unwrap(number):
            return [gap(text, number)]
        case Move(number, parent, index):
            return [gap(text, number), gap_of(text, parent, index)]
        case Wrap(parent, index, count):
            return [gap_of(text, parent, index, count)]
    raise AssertionError(edit)


def joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    whole: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if whole and begin <= whole[-1][1]:
            whole[-1] = whole[-1][0], max(end, whole[-1][1])
        else:
            whole.append((begin, end))
    return whole


def check_bytes(old: Text, new: Text, ranges: list[tuple[int, int]]) -> None:
    """Everything outside the ranges must be there again, in order, the first at the start and the last at the end."""
    width, at, rest = old.encoding.width, 0, new.data
    for begin, end in joined(ranges):
        stays = old.data[at:begin * width]
        found = rest.find(stays) if at else 0 if rest.startswith(stays) else -1
        assert found >= 0, (stays, rest)
        rest, at = rest[found + len(stays):], end * width
    assert rest.endswith(old.data[at:])


def written(text: Text, start: int = 0, end: int | None = None) -> list[str]:
    """Return all that is written: tags, comments and all else, as it is spelt, white space aside."""
    found: list[Piece] = list(pieces(text.units, start, len(text.units) if end is None else end))
    return [" ".join(text.decoded(p.start, p.end).split()) for p in found if p.kind != "white"]


def check_pieces(old: Text, new: Text, edit: Edit) -> None:
    """No tag, comment or word may be lost or spelt anew, but for what the edit names."""
    before, after = Counter(written(old)), Counter(written(new))
    match edit:
        case SetAttribute() | RemoveAttribute():
            assert len(before - after) <= 1 and len(after - before) <= 1
        case Move(_, parent, _):
            assert set(before - after) <= start_tag(old, parent)
            assert (after - before).total() <= 2
        case Wrap():
            assert not before - after
            assert (after - before).total() == 2
        case Unwrap(number) if list(old.children(number)):
            assert not after - before
            assert (before - after).total() == 2
        case Remove(number) | Unwrap(number):
            assert not after - before
            lost = before - after
            inside = Counter(written(old, old.starts[number], old.end(number)))
            assert not inside - lost
            assert all(piece.startswith("<!--") for piece in lost - inside)
        case Insert(parent, _, _):
            assert set(before - after) <= start_tag(old, parent)


def start_tag(text: Text, number: int) -> set[str]:
    """Return an element's start tag, which is spelt anew where an element that had no content gets some."""
    return set(written(text, text.starts[number], text.tag(number).closing.end))


def random_edit(rng: random.Random, text: Text) -> Edit:
    number, parent = rng.randrange(len(text)), rng.randrange(len(text))
    children = len(list(text.children(parent)))
    index = rng.randrange(children + 1)
    value = rng.choice(("3", "2.5", "", "a & b", "<\">'", "line\nand\ttab\r", rng.choice(LETTERS)))
    names = list(text.shape.attributes[number])
    kinds: list[Edit] = [SetAttribute(number, rng.choice([*names, "name", "added"]), value, over_expression=True),
             Insert(parent, index, rng.choice(FRAGMENTS))]
    if names:
        kinds.append(RemoveAttribute(number, rng.choice(names)))
    if number:
        kinds += [Remove(number), Unwrap(number), Move(number, parent, index), Move(number, parent, index)]
    if children:
        first = rng.randrange(children)
        kinds.append(Wrap(parent, first, rng.randint(1, children - first), "group", (("title", value),)))
    return rng.choice(kinds)


REFUSED = ("cannot be moved into itself", "remove that first", "the file's encoding has no")


def check_read(text: Text) -> None:
    """Check that a text that was not parsed is as if it were."""
    read = text.with_data(text.data)
    assert (text.encoding, text.shape, text.starts, text.closes) == (
        read.encoding, read.shape, read.starts, read.closes)
    assert [*map(list, text.shape.attributes)] == [*map(list, read.shape.attributes)]
    assert [*map(text.children, range(len(text)))] == [*map(read.children, range(len(text)))]


def check_edit(text: Text, edit: Edit) -> Text | None:
    """Apply an edit and look at all it may and must do; None where it is refused."""
    try:
        edited = apply(text, edit)
    except EditError as error:
        if any(reason in str(error) for reason in REFUSED):
            return None
        raise
    new = edited.text
    check_read(new)
    wanted = model(text)
    meant(wanted, edit)
    assert without_comments(model(new)) == without_comments(wanted)
    check_bytes(text, new, may_change(text, edit))
    check_pieces(text, new, edit)
    assert apply(new, *edited.inverse).text.data == text.data
    assert apply(apply(new, *edited.inverse).text, *edited.patches).text.data == new.data
    return new


@pytest.mark.slow
def test_random_edits_change_what_they_name_and_nothing_else():
    done: Counter[str] = Counter()
    for seed in range(EDITS):
        rng, writer = random.Random(seed), Writer(seed % 997)
        text = Text.of(writer.file())
        edit = random_edit(rng, text)
        try:
            done[type(edit).__name__ if check_edit(text, edit) else "refused"] += 1
        except (AssertionError, EditError) as error:
            raise AssertionError(f"seed {seed}, {writer.encoding}: {edit} of {text.data!r}: {error}") from error
    assert done["refused"] < EDITS * 0.2
    assert all(done[kind.__name__] > EDITS / 40
               for kind in (SetAttribute, RemoveAttribute, Insert, Remove, Move, Wrap, Unwrap))


def test_a_row_of_edits_is_taken_back_in_one_go():
    for seed in range(40):
        rng = random.Random(seed)
        first = text = Text.of(Writer(seed).file())
        steps = []
        for _ in range(6):
            try:
                edited = apply(text, random_edit(rng, text))
            except EditError:
                continue
            steps.append(edited.inverse)
            text = edited.text
        assert apply(text, *(patch for inverse in reversed(steps) for patch in inverse)).text == first


# One by one

DANCE = """<pha tickLength="1">
  <load src="a"/>

  <procedure name="one">
    <!-- above -->
    <call name="b" duration="bars * 2"/> <!-- behind -->
    <call name='c'
          duration='1'/>
  </procedure>

  <procedure name="two"/>
</pha>
"""


def difference(edits: tuple[Edit | Patch, ...], source: str = DANCE) -> list[str]:
    """Return the lines that go and those that come."""
    new = str(apply(Text.of(source), *edits).text)
    return [line for line in difflib.ndiff(source.splitlines(), new.splitlines()) if line[0] in "+-"]


@pytest.mark.parametrize(("edit", "expected"), [
    (SetAttribute(1, "src", "b"), ['-   <load src="a"/>', '+   <load src="b"/>']),
    (SetAttribute(1, "src", "a"), []),
    (SetAttribute(1, "src", 'a & "b"'), ['-   <load src="a"/>', '+   <load src="a &amp; &quot;b&quot;"/>']),
    (SetAttribute(4, "repeat", "2"),
     ["-           duration='1'/>", "+           duration='1'", "+           repeat='2'/>"]),
    (RemoveAttribute(4, "duration"), ["-     <call name='c'", "+     <call name='c'/>", "-           duration='1'/>"]),
    (Insert(5, 0, element("call", name="d")),
     ['-   <procedure name="two"/>', '+   <procedure name="two">', '+     <call name="d"/>', "+   </procedure>"]),
    (Insert(2, 1, "<loop>\n  <call/>\n</loop>"), ["+     <loop>", "+       <call/>", "+     </loop>"]),
    (Insert(0, 3, '<procedure name="three"/>'), ["+ ", '+   <procedure name="three"/>']),
    (Remove(3), ["-     <!-- above -->", '-     <call name="b" duration="bars * 2"/> <!-- behind -->']),
    (Remove(5), ["- ", '-   <procedure name="two"/>']),
    (Move(4, 2, 0),
     ["+     <call name='c'", "+           duration='1'/>", "-     <call name='c'", "-           duration='1'/>"]),
    (Move(3, 2, 0), []),
    (Move(3, 2, 1), []),
    (Wrap(0, 1, 2, "x"),
     ["+   <x>", '-   <procedure name="one">', '+     <procedure name="one">', "-     <!-- above -->",
      "+       <!-- above -->",
      '-     <call name="b" duration="bars * 2"/> <!-- behind -->',
      '+       <call name="b" duration="bars * 2"/> <!-- behind -->', "-     <call name='c'", "+       <call name='c'",
      "-           duration='1'/>", "+             duration='1'/>", "-   </procedure>", "+     </procedure>",
      '-   <procedure name="two"/>', '+     <procedure name="two"/>', "+   </x>"]),
    (Wrap(2, 1, 1, "loop", (("times", "2"),)),
     ['+     <loop times="2">', "-     <call name='c'", "+       <call name='c'", "-           duration='1'/>",
      "+             duration='1'/>", "+     </loop>"]),
])
def test_edits_are_laid_out_as_their_neighbours(edit, expected):
    assert difference((edit,)) == expected


@pytest.mark.parametrize(("edit", "reason"), [
    (SetAttribute(99, "a", "1"), "found 6 elements, expected one of the number 99"),
    (SetAttribute(3, "duration", "4"), r"duration is 'bars \* 2', which is calculated; ask before 4 replaces it"),
    (SetAttribute(3, "name", "\0"), r"name: the character '\\x00' cannot stand in XML; leave it out"),
    (SetAttribute(3, "a b", "1"), "would leave what cannot be read"),
    (SetAttribute(3, 'a="1" b', "1"), "would not be read as it was meant"),
    (SetAttribute(3, "a", "\ud800"), "cannot stand in XML"),
    (RemoveAttribute(3, "repeat"), "<call> has no attribute 'repeat'"),
    (Insert(2, 3, "<a/>"), "found 2 elements in <procedure>, expected at least 3"),
    (Insert(2, 0, "<a>"), "'<a>' cannot be put in: <a> is not closed where </"),
    (Insert(2, 0, "words"), "'words' cannot be put in: expected elements and nothing else"),
    (Insert(2, 0, "</x><x/><x>"), "cannot be put in"),
    (Remove(0), "<pha> is the whole score and stays where it is"),
    (Move(2, 2, 0), "<procedure> cannot be moved into itself"),
    (Wrap(2, 1, 2, "loop"), "found 2 elements in <procedure>, expected 2 from the one of index 1 on"),
    (Wrap(2, 0, 0, "loop"), "expected 0 from the one"),
    (Patch((Replacement(3, b"xxx", b"y"),)), "the text has changed where this edit was"),
    (Patch((Replacement(1, b"pha", b"y"),)), "would leave what cannot be read: .*</pha> closes nothing"),
])
def test_edits_that_make_no_sense_are_refused(edit, reason):
    with pytest.raises(EditError, match=reason):
        apply(Text.of(DANCE), edit)


def test_an_expression_gives_way_when_it_is_asked_to_or_to_another():
    assert difference((SetAttribute(3, "duration", "4", over_expression=True),))[1] == \
        '+     <call name="b" duration="4"/> <!-- behind -->'
    assert difference((SetAttribute(3, "duration", "bars"),))


def test_characters_that_an_encoding_lacks_become_references_where_they_can():
    text = Text.of("<?xml version='1.0' encoding='koi8-r'?><pha><call name='шаг'/></pha>".encode("koi8-r"))
    edited = apply(text, SetAttribute(1, "name", "Ø шаг")).text
    assert edited.data.decode("koi8-r").endswith("<call name='&#216; шаг'/></pha>")
    assert edited.shape.attributes[1]["name"] == "Ø шаг"
    with pytest.raises(EditError, match="the file's encoding has no 'Ø'; save the score as UTF-8 first"):
        apply(text, Insert(0, 0, "<!-- Ø --><call/>"))


def test_many_attributes_are_set_at_once_and_taken_back():
    text = Text.of("<pha>" + "<call name='a'/>" * 2000 + "</pha>")
    edited = apply(text, *(SetAttribute(i, "name", "long name") for i in range(1, 2001)))
    assert len(edited.patches) == 1
    assert str(edited.text).count("'long name'") == 2000
    check_read(edited.text)
    assert apply(edited.text, *edited.inverse).text == text


def test_edits_are_values():
    assert SetAttribute(1, "a", "b") == SetAttribute(1, "a", "b")
    assert len({Move(1, 2, 3), Move(1, 2, 3), Remove(1)}) == 2
    assert repr(Remove(4)) == "Remove(element=4)"


@pytest.mark.parametrize(("line", "among"), [
    ('<load src="a.B"/><load src="c.D"/>', "\n  {}\n"),
    ('<load src="a.B"/> <load src="c.D"/> <!-- both -->', "\n  {}\n"),
], ids=["plain", "with a comment"])
def test_what_comes_between_a_full_line_and_a_line_of_its_own_gets_a_line_too(line: str, among: str) -> None:
    before = (f'<pha tickLength="1">\n  {line}{{}}<procedure name="main">\n    <call name="x" duration="1"/>\n'
              "  </procedure>\n</pha>")
    text, new = Text.of(before.format("\n  ")), '<procedure name="a">\n  <call name="x" duration="1"/>\n</procedure>'
    indented = new.replace("\n", "\n  ")
    wanted = before.format(among.format(indented) + "  ")
    assert str(apply(text, Insert(0, 2, new)).text) == wanted
    behind = Text.of(before.format("\n  ").replace("</pha>", f"  {indented}\n</pha>"))
    assert str(apply(behind, Move(5, 0, 2)).text) == wanted
