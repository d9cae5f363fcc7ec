import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import FileError
from takt.core.formats import xml
from takt.core.pha.document import MAX_PROBLEMS, parse, read
from takt.core.pha.text import Text
from takt.tests.core.score_programmes import programme
from takt.tests.core.scores import procedure, score
from takt.tests.core.test_pha_origins import random_score

WALK = Path("dances/walk.pha")
_SPOTS = re.compile(r'(?<=")[\d.]+(?=")|<(?=call|wait|let|procedure)')
"""Numbers, and where elements begin."""


def messages(text: str) -> list[str]:
    return [str(p) for p in parse(text, WALK).problems]


def only(text: str) -> str:
    found = messages(text)
    assert len(found) == 1, found
    return found[0]


def with_call(attributes: str) -> str:
    return f'<pha tickLength="1">\n<procedure name="main">\n  <call {attributes}/>\n</procedure>\n</pha>'


def test_the_example_of_the_specification():
    document = parse("""<?xml version="1.0"?>
<pha tickLength="0.8">
  <load src="feet.Steps"/>                 <!-- clips -->
  <include src="basic.Turns"/>
  <procedure name="normal_walk">
    <call name="feet.Steps.left_step" duration="1"/>
    <call name="feet.Steps.right_step" duration="1"/>
  </procedure>
  <procedure name="main">
    <call name="normal_walk" duration="2" repeat="5"/>
    <call name="turn_left" duration="4" transition="0.5"/>
  </procedure>
</pha>""", WALK)
    assert not document.problems
    assert document.tick_s == 0.8
    assert [s.src for s in (*document.loads, *document.includes)] == ["feet.Steps", "basic.Turns"]
    assert [p.name for p in document.procedures] == ["normal_walk", "main"]
    walk, turn = document.procedures[1].calls
    assert (walk.name, walk.duration, walk.transition, walk.repeat) == ("normal_walk", 2.0, None, 5)
    assert (turn.name, turn.duration, turn.transition, turn.repeat) == ("turn_left", 4.0, 0.5, 1)
    assert str(document.place(turn)) == "dances/walk.pha:11:5"


@pytest.mark.parametrize(("attributes", "message"), [
    ('name="a"', "<call> duration: found none, expected a number of ticks, greater than 0"),
    ('duration="1"', "<call> name: found none, expected the name of a clip or a procedure"),
    ('name="" duration="1"', "<call> name: found an empty one, expected the name"),
    ('name="a" duration="0"', "<call> duration: found '0', expected a number of ticks, greater than 0"),
    ('name="a" duration="-0"', "<call> duration: found '-0', expected"),
    ('name="a" duration="-1"', "<call> duration: found '-1', expected"),
    ('name="a" duration="nan"', "<call> duration: found 'nan', expected"),
    ('name="a" duration="inf"', "<call> duration: found 'inf', expected"),
    ('name="a" duration="1e309"', "<call> duration: found '1e309', expected"),
    ('name="a" duration="1,5"', "<call> duration: found '1,5', expected"),
    ('name="a" duration="1_0"', "<call> duration: found '1_0', expected"),
    ('name="a" duration="1" transition="-0.1"',
     "<call> transition: found '-0.1', expected a number of ticks, 0 or more"),
    ('name="a" duration="1" repeat="0"', "<call> repeat: found '0', expected an integer from 1 to 1000000"),
    ('name="a" duration="1" repeat="1.5"', "<call> repeat: found '1.5', expected an integer from 1 to 1000000"),
    ('name="a" duration="1" repeat="1000000000"',
     "<call> repeat: found '1000000000', expected an integer from 1 to 1000000"),
    ('name="a" duration="1" repaet="2"', "<call>: found an unknown attribute 'repaet', expected name or duration or "
                                         "transition or repeat; did you mean repeat?"),
])
def test_a_wrong_call_is_one_error_with_its_place(attributes, message):
    found = only(with_call(attributes))
    assert found.startswith("dances/walk.pha:3:3: ")
    assert message in found


@pytest.mark.parametrize(("text", "message"), [
    ("<dance/>", "walk.pha:1:1: found <dance>, expected <pha> as the outermost element"),
    ('<pha><procedure name="a"><call name="b" duration="1"/></procedure></pha>',
     "walk.pha:1:1: <pha> tickLength: found none, expected a number of seconds per tick, greater than 0"),
    ('<pha tickLength="1e-300"/>', "<pha> tickLength: found 1e-300, expected seconds per tick from 1e-06 to 1e+06"),
    ('<pha tickLength="2e6"/>', "<pha> tickLength: found 2e+06, expected seconds per tick from 1e-06 to 1e+06"),
    ('<pha tickLength="0"/>', "<pha> tickLength: found '0', expected a number of seconds per tick, greater than 0"),
    ('<pha tickLenght="1" tickLength="1"/>', "unknown attribute 'tickLenght', expected tickLength or version; "
                                             "did you mean tickLength?"),
    ('<pha tickLength="1" version="3"/>', "<pha> version: found '3', expected 1 or 2"),
    ('<pha tickLength="1" extends="a"/>', "<pha>: found 'extends', which needs version=\"2\" on <pha>"),
    ('<pha tickLength="1"><let name="a" value="1"/></pha>', "found <let> in <pha>, which needs version=\"2\" on <pha>"),
    ('<pha tickLength="1"><procedur name="a"/></pha>', "walk.pha:1:21: found <procedur> in <pha>, expected <load> or "
                                                       "<include> or <procedure>; did you mean procedure?"),
    ('<pha tickLength="1">hello</pha>', "<pha>: found the text 'hello', expected only elements"),
    ('<pha tickLength="1"><load/></pha>', "<load> src: found none, expected a dotted path below the library"),
    ('<pha tickLength="1"><load src="a"><b/></load></pha>', "found <b> in <load>, expected nothing inside"),
    ('<pha tickLength="1"><procedure name="a"/></pha>', "<procedure> 'a': found no call, expected at least one <call>"),
    (score(procedure("a", 'b duration="1"'), "\n", procedure("a", 'b duration="1"')),
     "walk.pha:2:1: <procedure> name: found 'a' again, which line 1 already defines"),
])
def test_a_wrong_file_is_one_error_with_its_place(text, message):
    assert message in " ".join(messages(text))


def test_all_mistakes_are_found_at_once_and_in_order():
    found = messages('<pha tickLength="x">\n<load/>\n<procedure name="a">\n<call name="b" duration="-1" repeat="x"/>\n'
                     '<cal/>\n</procedure>\n</pha>')
    assert [m.split(":")[1] for m in found] == ["1", "2", "4", "4", "5"]


def test_thousands_of_mistakes_are_cut_short():
    document = parse(score(procedure("main", *['a duration="x"'] * 5000)))
    assert len(document.problems) == MAX_PROBLEMS + 1
    assert document.problems[-1].message == "and more; correct these first"


@pytest.mark.parametrize(("number", "value"), [("1", 1.0), (" 2.5 ", 2.5), ("1e3", 1000.0), (".5", 0.5), ("+3.", 3.0),
                                               ("1e308", 1e308), ("1e-300", 1e-300)])
def test_numbers_as_people_write_them(number, value):
    document = parse(with_call(f'name="a" duration="{number}"'))
    assert not document.problems
    assert document.procedures[0].calls[0].duration == value


def test_a_transition_of_minus_zero_is_zero():
    assert str(parse(with_call('name="a" duration="1" transition="-0"')).procedures[0].calls[0].transition) == "0.0"


@given(st.floats(min_value=1e-300, max_value=1e308), st.integers(1, 1_000_000))
def test_what_is_written_is_read(duration, repeat):
    call = parse(with_call(f'name="a" duration="{duration!r}" repeat="{repeat}"')).procedures[0].calls[0]
    assert (call.duration, call.repeat) == (duration, repeat)


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_is_a_document_or_a_clear_error(text):
    try:
        parse(text)
    except FileError as error:
        assert error.problems


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_a_clear_error(data):
    try:
        parse(data)
    except FileError as error:
        assert error.problems


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_a_truncated_file_is_refused(cut):
    with pytest.raises(FileError, match=r"is not (closed|ended|XML)|ends within|no quote|not in quotes|has no value"):
        parse(score(procedure("main", 'left duration="1"', 'right duration="2"'))[:cut])


ENTITIES = "".join(f'<!ENTITY x{i} "{f"&x{i - 1};" * 10 if i else "boom"}">' for i in range(10))
BOMB = f'<!DOCTYPE pha [{ENTITIES}]><pha tickLength="1">&x9;</pha>'


@pytest.mark.parametrize(("text", "message"), [
    (BOMB, r":1:\d+: a document type declaration \(DOCTYPE\) is not read"),
    ('<!DOCTYPE pha SYSTEM "file:///etc/passwd"><pha tickLength="1"/>', "DOCTYPE"),
    ('<pha tickLength="1">&boom;</pha>', "'&boom;' is not known here"),
    ("<a>" * 100_000 + "</a>" * 100_000, "nested more than 100 deep"),
    (f"<{'a' * 1_000_000}/>", "1000000 characters long; at most 1000 are read"),
    (f"<pha {'a' * 1_000_000}='1'/>", "1000000 characters long"),
    ("<pha>" + "<call/>" * 500_001 + "</pha>", "more than 200000 elements"),
    (b'<?xml version="1.0" encoding="klingon"?><pha/>', "encoding that the XML declares cannot be read"),
    (b'<?xml version="1.0" encoding="big5"?><pha/>', "save it as UTF-8"),
    ("", "there is no <tag> in it"),
    ("just words", "this is not XML"),
    (b"\x00\xff" * 100, "this is not XML"),
    (" " * (xml.MAX_KEPT_BYTES + 1), "at most 67108864 are read"),
])
def test_hostile_xml_is_refused(text, message):
    with pytest.raises(FileError, match=message) as caught:
        parse(text)
    assert len(str(caught.value)) < 500


def test_values_of_a_megabyte_do_not_make_long_messages():
    long = "x" * 1_000_000
    for attributes in (f'name="a" duration="{long}"', f'name="a" duration="1" repeat="{"9" * 1_000_000}"',
                       f'name="a" duration="1" {"y" * 900}="{long}"'):
        assert len(only(with_call(attributes))) < 400


def test_latin_1_and_utf_16_are_read():
    text = '<?xml version="1.0" encoding="{}"?><pha tickLength="1"><load src="Schwünge"/></pha>'
    for encoding in ("latin-1", "utf-16", "utf-8"):
        assert parse(text.format(encoding).encode(encoding)).loads[0].src == "Schwünge"


def test_text_may_declare_any_encoding_since_it_is_text():
    document = parse('<?xml version="1.0" encoding="latin-1"?><pha tickLength="1"><load src="ü"/></pha>')
    assert document.loads[0].src == "ü"


def test_a_tree_remembers_places_and_texts():
    root = xml.parse("<a>\n  <b c='1'>hello</b>\n</a>")
    assert root.children[0].place(WALK).line == 2
    assert (root.children[0].column, root.children[0].text, root.children[0].attributes) == (3, "hello", {"c": "1"})




@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_reading_like_an_earlier_text_says_the_same_as_reading_anew(seed: int) -> None:
    rng = random.Random(seed)
    before = read(Text.of(programme(seed)[""] if seed % 2 else random_score(rng)))
    data = str(before.text)
    for _ in range(8):
        at = rng.choice([found.start() for found in _SPOTS.finditer(data)])
        new = data[:at] + rng.choice(('<call name="walk" duration="2"/>', "<!-- é -->", "<oops/>")) + data[at:]
        if data[at] != "<":
            new = data[:at] + rng.choice(("3", "2 * 2", "nonsense (", "")) + data[at + 1:]
        text = Text.of(new)
        anew, like = read(text), read(text, before)
        assert repr(like) == repr(anew)


def test_what_did_not_change_is_not_read_again() -> None:
    for version in (1, 2):
        source = (f'<pha tickLength="1" version="{version}"><procedure name="a"><call name="x" duration="1"/>'
                  '</procedure><procedure name="main"><call name="a" duration="2"/></procedure></pha>')
        before = read(Text.of(source))
        after = read(Text.of(source.replace('duration="2"', 'duration="3"')), before)
        (first, second), (old, other) = after.procedures, before.procedures
        assert (first.block or first.calls) is (old.block or old.calls)
        assert (second.block or second.calls) is not (other.block or other.calls) and not after.problems
