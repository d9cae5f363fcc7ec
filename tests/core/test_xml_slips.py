"""Slips in XML: what is said of them, for each kind, and for each place of our own scores."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from takt.core.errors import FileError
from takt.core.formats import xml, xml_slips
from takt.core.pha.text import Text

HEAD, TAIL = '<pha tickLength="0.8">\n  <procedure name="main">\n', "  </procedure>\n</pha>\n"
CALL = '    <call name="a" duration="1"/>\n'
SCORES = sorted((Path(__file__).parents[2] / "samples" / "library").rglob("*.pha"))
JARGON = re.compile(r"well-formed|token|mismatched|junk|entity|syntax error|element found")


def said(source: str | bytes) -> str:
    """Return what both readers say of a text: place and message."""
    found = []
    for read in (xml.parse, Text.of):
        with pytest.raises(FileError) as caught:
            read(source)
        (problem,) = caught.value.problems
        found.append(f"{problem.place.line}:{problem.place.column}: {problem.message}")
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(("source", "expected"), [
    (HEAD + CALL.replace("/>", ">") + TAIL, "3:5: <call> is not closed where </procedure> comes, in line 4; end its "
     "tag with />, or write </call> before"),
    (HEAD + CALL + "  </procedur>\n</pha>", "4:3: </procedur> closes nothing: <procedure> of line 2 is open here; "
     "write </procedure>, or remove it"),
    (HEAD + TAIL + "</pha>", "5:1: </pha> closes nothing: no tag is open here, and <pha> has ended before"),
    (HEAD, "2:3: <procedure> is not closed, nor is <pha> of line 1: the text ends without </procedure></pha>"),
    (HEAD + "    <call", "3:5: the tag <call> is not ended by > or />"),
    (HEAD + '    <call name="a', '3:16: the value of name has no quote " at its end'),
    (HEAD + '<call name="Rock & Roll"/>' + TAIL, "3:18: a & is written &amp; here"),
    (HEAD + "    a & b\n" + TAIL, "3:7: a & is written &amp; here"),
    (HEAD + '<call name="&nbsp;"/>' + TAIL, "3:13: '&nbsp;' is not known here; write the character itself"),
    (HEAD + '<if test="x < 3"/>' + TAIL, "3:13: a < is written &lt; in the value of test"),
    (HEAD + "< call/>" + TAIL, "3:1: a name must follow < at once"),
    (HEAD + "<call name=a/>" + TAIL, '3:12: the value of name is not in quotes; write name="…"'),
    (HEAD + "<call name=“a”/>" + TAIL, "3:12: the value of name is not in quotes but in “"),
    (HEAD + '<call name:"a"/>' + TAIL, "3:7: the value of name stands behind a colon, not ="),
    (HEAD + '<call name duration="1"/>' + TAIL, '3:7: name has no value; write name="…"'),
    (HEAD + '<call name="a duration="1"/>' + TAIL, '3:12: the value of name has no quote " at its end'),
    (HEAD + '<call name="a" duration="1/>\n' + TAIL, '3:25: the value of duration has no quote " at its end'),
    (HEAD + '<call name="a" name="b"/>' + TAIL, "3:16: <call> has the attribute name twice; remove one"),
    (HEAD + '<call name="a"duration="1"/>' + TAIL, "3:15: a space is missing before duration"),
    (HEAD + '<call name="a", duration="1"/>' + TAIL, "3:15: ',' has no place in the tag <call>; attributes"),
    (HEAD + '<call name="a" /\n' + TAIL, "3:16: the tag <call> has a / without a > behind it"),
    (HEAD.replace('"main">', '"main"') + CALL + TAIL, "2:3: the tag <procedure> is not ended by > or /> before the "
     "next < in line 3"),
    ("hello\n" + HEAD + TAIL, "1:1: 'hello' stands before the first tag; remove it"),
    (HEAD + TAIL + "hello", "5:1: 'hello' stands after </pha>"),
    (HEAD + TAIL + HEAD + TAIL, "5:1: <pha> comes after </pha>: a single element must hold all others"),
    ("\n<?xml version='1.0'?>\n" + HEAD + TAIL, "2:1: <?xml …?> must be the very first in a file"),
    ('<?xml version=1.0?><pha/>', '1:1: what begins here is written <?xml version="1.0" encoding="UTF-8"?>'),
    (HEAD + "<? never ?>" + TAIL, "3:1: <? begins nothing that is read here"),
    (HEAD + "<!-- never\n" + TAIL, "3:1: the comment that begins here is not ended by -->"),
    (HEAD + "<!-- a -- b -->\n" + TAIL, "3:8: -- cannot stand within a comment"),
    (HEAD + "</procedure >\n</ pha>", "4:1: an end tag is written </name>"),
    (HEAD + "a\x01" + TAIL, r"3:2: the character '\x01' cannot stand in XML; remove it"),
    ("", "1:1: this is not XML: there is no <tag> in it"),
    ('{"pha": 1}', "1:1: this is not XML: there is no <tag> in it"),
    (('<pha>\r\n<call name="ž" name="ž"/></pha>').encode("utf-16"), "2:16: <call> has the attribute name twice"),
    ("\ufeff<pha><a></pha>".encode(), "1:6: <a> is not closed where </pha> comes, in line 1"),
    ("<pha n='ž'/>".encode("iso8859-2"), "1:9: what stands here is not written in UTF-8"),
    ("<?xml version='1.0' encoding='latin-1'?><pha n='é'><a></pha>".encode("latin-1"), "1:52: <a> is not closed"),
])
def test_what_is_wrong_is_said_in_plain_words(source: str | bytes, expected: str) -> None:
    found = said(source)
    assert expected in found and not JARGON.search(found)


def slips(source: str, rng: random.Random) -> Iterator[tuple[str, int, str]]:
    """Yield a score with one slip, in which line that is told, and what of it."""
    tags = list(re.finditer(r"<(\w+)((?: +[\w]+=\"[^\"<&]*\")+) */>", source))
    ends = list(re.finditer(r"</(\w+)>", source))
    for tag in rng.sample(tags, min(len(tags), 12)):
        value = re.compile(r'(\w+)="([^"]*)"').search(source, tag.start())
        assert value is not None
        line, name = source.count("\n", 0, tag.start()) + 1, value[1]
        before, after = source[:value.start()], source[value.end():]
        yield source[:tag.end() - 2] + source[tag.end() - 1:], line, f"<{tag[1]}> is not closed where </"
        yield before + f'{name}="{value[2]}' + after, line, f'the value of {name} has no quote " at its end'
        yield before + f'{name}="{value[2]} & co"' + after, line, "a & is written &amp; here"
        yield before + f'{name}="1 < 2"' + after, line, f"a < is written &lt; in the value of {name}"
        yield before + f"{name}={value[2] or 'a'}" + after, line, f"the value of {name} is not in quotes"
        yield before + f'{value[0]} {value[0]}' + after, line, f"<{tag[1]}> has the attribute {name} twice"
        yield source[:tag.start() + 1] + " " + source[tag.start() + 1:], line, "a name must follow < at once"
        yield source[:tag.end() - 1], line, f"the tag <{tag[1]}> has a / without"
    for end in rng.sample(ends, min(len(ends), 4)):
        line = source.count("\n", 0, end.start()) + 1
        yield source[:end.start()] + f"</{end[1]}e>" + source[end.end():], line, f"write </{end[1]}>, or remove it"
        yield source[:end.end()] + end[0] + source[end.end():], line, f"{end[0]} closes nothing"


@pytest.mark.slow
@pytest.mark.parametrize("path", SCORES, ids=lambda path: path.stem)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_slip_anywhere_in_a_score_is_told_in_its_line(path: Path, ends: str) -> None:
    source, count = path.read_text(encoding="utf-8"), 0
    for broken, line, expected in slips(source, random.Random(path.stem)):
        found = said(broken.replace("\n", ends))
        assert found.startswith(f"{line}:") and expected in found, (found, line, expected)
        count += 1
    assert count > 10


@pytest.mark.parametrize("path", SCORES, ids=lambda path: path.stem)
def test_whatever_is_cut_out_of_a_score_nothing_is_said_of_what_the_parser_has_passed_well(path: Path) -> None:
    """Nor is anything said in the parser's own words."""
    source, rng = path.read_text(encoding="utf-8"), random.Random(path.stem)
    for _ in range(150):
        at = rng.randrange(len(source))
        broken = source[:at] + source[at + rng.randint(1, 8):]
        try:
            xml.parse(broken)
        except FileError as error:
            assert error.problems[0].place.line is not None and not JARGON.search(str(error)), broken[at - 80:at + 80]
        else:
            text = xml_slips.decoded(broken.encode())
            assert xml_slips.first_slip(text, len(text)) is None
