"""Texts keep every byte, and know where everything stands."""

import os
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from takt.core.errors import FileError
from takt.core.formats import xml
from takt.core.pha.document import parse
from takt.core.pha.layout import extent, owned
from takt.core.pha.text import Span, Text
from takt.tests.core.score_texts import ENCODINGS, Writer

FILES = int(os.environ.get("TAKT_TEXTS", "300"))
"""Generated files that are gone through; 5,000 are wanted before a release."""
SAMPLES = sorted((Path(__file__).resolve().parents[2] / "samples").rglob("*.pha"))


def elements(root: xml.Element) -> list[xml.Element]:
    return [root, *(e for child in root.children for e in elements(child))]


def check(data: bytes) -> Text:
    """Compare a text with what another reader finds, and its spans with what stands there."""
    text = Text.of(data)
    assert text.data == data
    peers = elements(xml.parse(data))
    assert text.shape.tags == [e.tag for e in peers]
    assert text.shape.attributes == [e.attributes for e in peers]
    assert [*map(list, text.shape.attributes)] == [list(e.attributes) for e in peers]
    assert text.shape.words == [" ".join(e.text.split()) for e in peers]
    for number, peer in enumerate(peers):
        numbers = list(text.children(number))
        assert [text.shape.tags[i] for i in numbers] == [c.tag for c in peer.children]
        assert {text.parent(i) for i in numbers} <= {number}
        check_spans(text, number, peer)
    return text


def check_spans(text: Text, number: int, peer: xml.Element) -> None:
    decode = text.encoding.decode
    start, end = text.span(number)
    alone = decode(text.data[start:end]).replace("ns:", "ns_")
    found = ElementTree.fromstring(alone)
    assert found.tag == peer.tag
    assert len(list(found.iter())) == text.after(number) - number
    first, last = text.tag_spans(number)
    assert first.start == start
    assert decode(text.data[slice(*last)]).strip() in ("", decode(text.data[slice(*last)]))
    assert last.end == end
    for name, value in peer.attributes.items():
        span = text.value_span(number, name)
        assert span is not None
        written = decode(text.data[slice(*span)])
        quote = "'" if '"' in written else '"'
        assert ElementTree.fromstring(f"<a b={quote}{written}{quote}/>").attrib["b"] == value
    place = text.place(number)
    if not text.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or place.line != 1:
        assert place.line == peer.line
    before = decode(text.data[:start]).removeprefix("\ufeff")
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert (place.line, place.column) == (len(lines), len(lines[-1]) + 1)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_keep_every_byte(path):
    check(path.read_bytes())


@pytest.mark.slow
def test_generated_files_keep_every_byte_and_are_read_as_elsewhere():
    seen = set()
    for seed in range(FILES):
        writer = Writer(seed)
        data = writer.file()
        try:
            check(data)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {writer.encoding}: {data!r}") from error
        seen.add(writer.encoding)
    assert seen == set(ENCODINGS)


def test_text_is_read_whatever_encoding_it_declares():
    source = '<?xml version="1.0" encoding="utf-16"?><pha tickLength="1" é="ü"/>'
    text = Text.of(source)
    assert str(text) == source
    span = text.value_span(0, "é")
    assert span is not None
    assert text.data[slice(*span)].decode() == "ü"


def test_what_stands_in_no_file_is_refused():
    with pytest.raises(FileError, match=r"found the character '\\ud800', which no file can hold; remove it"):
        Text.of('<pha tickLength="1" a="\ud800"/>')


def test_texts_are_values():
    a, b = Text.of("<pha/>"), Text.of(b"<pha/>")
    assert a == b
    assert hash(a) == hash(b)
    assert a != Text.of("<pha />")


def test_documents_know_where_they_stand():
    data = '<pha tickLength="1">\r\n\t<load src="a.ü"/><procedure name="m"><call name="b" duration=\'2.50\'/>' \
           "</procedure></pha>"
    document = parse(data.encode("utf-16"))
    call, load = document.procedures[0].calls[0], document.loads[0]

    def written(span: Span | None) -> str:
        assert span is not None
        return document.text.data[slice(*span)].decode("utf-16-le")

    assert written(document.span(call)) == "<call name=\"b\" duration='2.50'/>"
    assert written(document.span(call, "duration")) == "2.50"
    assert document.span(call, "transition") is None
    assert written(document.span(load, "src")) == "a.ü"
    assert (document.place(load).line, document.place(load).column) == (2, 2)
    assert written(document.span(document.procedures[0])).endswith("</procedure>")


LAYOUT = """<pha>
  <!-- of nothing -->

  <!-- of a, line one -->
  <!-- of a, line
       two --> <a/> <!-- behind a --> <!-- too -->
  <b/> <!-- behind b
    over two lines -->
  <!-- of c -->
  <c/>

  <d/>

  <e/><f/> <!-- of f --><g/>
</pha>"""


@pytest.mark.parametrize(("tag", "whole", "taken"), [
    ("a", "<!-- of a, line one -->\n  <!-- of a, line\n       two --> <a/> <!-- behind a --> <!-- too -->", None),
    ("b", "<b/> <!-- behind b\n    over two lines -->", None),
    ("c", "<!-- of c -->\n  <c/>", None),
    ("d", "<d/>", "\n  <d/>\n"),
    ("e", "<e/>", "<e/>"),
    ("f", "<f/> <!-- of f -->", "<f/> <!-- of f -->"),
    ("g", "<g/>", "<g/>"),
])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_comments_and_white_space_belong_to_their_element(tag, whole, taken, line_break):
    text = Text.of(LAYOUT.replace("\n", line_break))
    element = text.shape.tags.index(tag)
    found = extent(text, element)
    assert text.decoded(found.start, found.end) == whole.replace("\n", line_break)
    taken = f"  {whole}\n" if taken is None else taken
    assert text.decoded(*owned(text, element)) == taken.replace("\n", line_break)


@pytest.mark.slow
def test_every_cut_of_a_file_is_refused_or_kept():
    data = Writer(random.Random(1).randrange(100)).file()
    for cut in range(len(data)):
        try:
            assert Text.of(data[:cut]).data == data[:cut]
        except FileError as error:
            assert error.problems
