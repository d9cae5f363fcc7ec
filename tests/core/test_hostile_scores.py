"""Scores made to hurt: a clear error or a correct result, in bounded time and memory, never a traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.errors import FileError, TaktError
from takt.core.library.library import Library
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.text import MAX_ELEMENTS
from takt.tests.core import hostile_scores
from takt.tests.core.hostile_runs import check_said, said
from takt.tests.core.scores import STEPS, procedure, score

ROOT = Path(__file__).resolve().parents[2]
CPU_S = 20
"""Generous, for each case."""
MEMORY_MIB = 300

TAGS = st.sampled_from(["pha", "load", "include", "procedure", "call", "cal", "x", "main"])
NAMES = st.sampled_from(["tickLength", "version", "src", "name", "duration", "transition", "repeat", "xmlns:a", "Name"])
VALUES = st.sampled_from([
    "", " ", "0", "-0", "1", "-1", "2.5", "1e308", "-1e308", "1e309", "1e-320", "nan", "NaN", "inf", "-inf", "0x10",
    "1_0", "٣", "1,5",
    "1000000", "1000001", "1000000000", "9" * 400, "left", "right", "nod", "main", "a", "feet.Steps",
    "feet.Steps.left", "feet..Steps", "../secret", "/etc/passwd", "C:\\x", ".", "..", "\u202e", "\x7f", "a" * 5000,
    "&lt;", "&#x10FFFF;", "'", "ß", "left ", "{}", "%s", "$(x)", "__class__"])


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> str:
    """Write an element that is nearly one of a score's: attributes missing, twice as many, of other elements."""
    tag = draw(TAGS)
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    attributes = " ".join(f'{name}="{draw(VALUES).replace(chr(34), "")}"' for name in names)
    inside = "".join(draw(st.lists(elements(depth - 1), max_size=3))) if depth else draw(VALUES)
    return f"<{tag} {attributes}>{inside}</{tag}>"


@pytest.mark.slow
@given(st.lists(elements(), max_size=4), VALUES, VALUES, VALUES, VALUES)
@settings(deadline=None, max_examples=300)
def test_nearly_a_score_is_a_sequence_or_a_clear_error(inside: list[str], tick: str, duration: str, transition: str,
                                                       repeat: str) -> None:
    call = f'left duration="{duration}" transition="{transition}" repeat="{repeat}"'
    text = score(*inside, procedure("main", call, 'nod duration="1"')).replace('"1.0"', f'"{tick}"', 1)
    try:
        sequence = expand(resolve(parse(text), STEPS))
    except FileError as error:
        assert error.problems
        assert all(len(str(problem)) < 2000 for problem in error.problems)
    else:
        assert (sequence.length_s > 0.0).all()
        assert sequence.duration_s < float("inf")


@pytest.mark.parametrize("text", [
    "<!DOCTYPE pha [" + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "lol"}">' for i in range(10))
    + ']><pha tickLength="1">&e9;</pha>',
    '<!DOCTYPE pha [<!ENTITY x SYSTEM "file:///etc/passwd">]><pha tickLength="1">&x;</pha>',
    '<!DOCTYPE pha SYSTEM "http://localhost/x.dtd"><pha tickLength="1"/>',
    "<a>" * 100_000 + "</a>" * 100_000,
    '<pha tickLength="1">' + "<call/>" * (MAX_ELEMENTS + 1) + "</pha>",
    '<pha tickLength="1"><' + "a" * 1_000_000 + "/></pha>",
    '<pha tickLength="1" ' + "a" * 1_000_000 + '="1"/>',
], ids=["bomb", "external entity", "external type", "depth", "count", "long name", "long attribute"])
def test_hostile_xml_is_refused_in_few_words(text: str) -> None:
    with pytest.raises(FileError) as caught:
        parse(text)
    assert len(str(caught.value)) < 400


# Run beside the tests, each case in a process of its own, so that its memory can be measured.
GREEDY = r'''
import checkout, resource, sys
from takt.core.errors import TaktError
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.pha.expansion import expand
from takt.tests.core.scores import STEPS, procedure, score

MANY = "".join(procedure(f"p{i}", f'p{i + 1} duration="1" repeat="1000000"') for i in range(300))
CASES = {
    "repeats_of_repeats": lambda: score(MANY, procedure("p300", 'nod duration="1"'),
                                        procedure("main", 'p0 duration="1"')),
    "as_many_segments_as_allowed": lambda: score(procedure("a", 'nod duration="1" repeat="1000"'),
                                                 procedure("main", 'a duration="1" repeat="1000"')),
    "as_many_elements_as_allowed": lambda: score(procedure("main", *['nod duration="1"'] * 199_990)),
    "unknown_names": lambda: score(procedure("main", *(f'no{i} duration="1"' for i in range(100_000)))),
    "attributes": lambda: '<pha ' + " ".join(f'a{i}="1"' for i in range(200_000)) + '/>',
    "text": lambda: '<pha tickLength="1">' + "x" * 20_000_000 + '</pha>',
    "sixty_megabytes": lambda: '<pha tickLength="1">' + " " * 60_000_000 + '</pha>',
    "longest": lambda: score(procedure("main", 'nod duration="1e308"')),
    "shortest": lambda: score(procedure("main", 'nod duration="1e-308"', 'left duration="1e308"')),
    "circle": lambda: score(*(procedure(f"p{i}", f'p{(i + 1) % 5000} duration="1"') for i in range(5000)),
                            procedure("main", 'p0 duration="1"')),
}


name, seconds = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
try:
    expand(resolve(parse(CASES[name]()), STEPS))
except TaktError as error:
    assert len(str(error)) < 50_000
# Not ru_maxrss, which a process takes over from the one that started it.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024)
'''


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of time and memory are set as Linux does")
@pytest.mark.parametrize("name", re.findall(r'^    "(\w+)": lambda', GREEDY, re.MULTILINE))
def test_greedy_scores_stay_within_time_and_memory(name: str) -> None:
    run = subprocess.run([sys.executable, "-c", GREEDY, name, str(CPU_S)], cwd=ROOT, capture_output=True, text=True,
                         check=False, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) < MEMORY_MIB


FAMILIES = {".pha, values": hostile_scores.values, ".pha, expressions": hostile_scores.expressions,
            ".pha, masks and tempo": hostile_scores.masks_and_tempo, ".pha, calls": hostile_scores.calls,
            ".pha, folders": hostile_scores.folders}
EXPECTED = {
    "lets, each made of the one before": "found 100001 <let>, expected at most 1000",
    "lets, each the square of the one before": r"'l9 \* l9' with l9 = .*: the result is larger than a number can be",
    "lets beside procedures": "",
    "lets in blocks in blocks": "found more than 1000 names that have values here",
    "parameters": "<procedure>: found 100000 <param>, expected at most 1000",
    "parameters, as often as called": "found more than 2000000 operations to evaluate",
    "values without end in many calls": "more than 1000000 attributes",
    "parentheses": "expected at most 100 levels of nesting",
    "parentheses, as deep as allowed": "the expressions have more than 400000 characters",
    "powers of powers": "did you mean a product for ",
    "digits, and then a letter": "found an expression of 1000002 characters, expected at most 1000",
    "long expressions in each round": "operations to evaluate",
    "masks, each made of the next": "found 20000 <mask>, expected at most 1000: divide it among several files",
    "masks, each made twice of the one before": "",
    "masks, each made of all before": "",
    "masks in a circle": "found 'm0', a mask that is made of itself",
    "masks of bones that no character has": "",
    "a mask of very many": "of 1000004 characters, expected at most 1000: give parts of it names by <mask>",
    "changes of tempo": "found 100000 <tempo>, expected at most 10000: let a tempo change over many ticks",
    "changes of tempo over ticks": "",
    "loads": "found 100001 <load>, expected at most 10000",
    "includes": "found 100000 <include>, expected at most 1000",
    "calls, each twice the next": "found 1099511627776 segments when expanded",
    "calls, each twice the next, which picks": "found more than 130000 elements to evaluate",
    "a chain of calls": "found more than 1000 procedures within procedures",
    "a circle of calls": "a cycle of calls",
    "reversed within reversed": "segments to reverse, in reversed calls inside reversed calls",
    "picks of very many in loops": "operations to evaluate",
    "loops in loops with indices": "",
    "conditions in conditions": "",
    "lanes": "found 20000 lanes at once when expanded, expected at most 200",
    "lanes in lanes": "",
    "lanes, each twice the next": "found 4096 lanes at once",
    "a chain of extends": "found more than 100000 elements that files inherit from each other",
    "a circle of extends": "which extends this score in turn; expected no cycle",
    "many that extend one": "elements that files inherit",
    "a chain of includes": "",
    "all include all": "",
    "more files than are read": "more than 1000 score files are included",
    "large files": "the score's files have more than 100000 elements; no more are read",
    "includes of what is not there": "found no file for 'd1000'",
}
"""What is said of some of the scores; "": that they play. Of the others only that they are refused or play, soon."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("family", FAMILIES)
def test_what_multiplies_is_refused_or_plays_soon(family: str, tmp_path: Path) -> None:
    check_said(said(family, list(FAMILIES[family]()), tmp_path), EXPECTED, 100_000)


def test_each_expected_saying_is_of_a_score() -> None:
    assert EXPECTED.keys() <= {name for made in FAMILIES.values() for name in made()}


def test_files_that_are_none_are_never_opened(tmp_path: Path) -> None:
    """A pipe would block the reader, a device never end, a link lead out of the library."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "secret.pha").write_text("secret")
    os.mkfifo(tmp_path / "lib" / "pipe.pha")
    (tmp_path / "lib" / "zero.pha").symlink_to("/dev/zero")
    (tmp_path / "lib" / "out.pha").symlink_to(tmp_path / "secret.pha")
    (tmp_path / "lib" / "round.pha").symlink_to(tmp_path / "lib" / "round.pha")
    for src in ("pipe", "zero", "out", "round", "..secret", "lib/../secret", str(tmp_path / "secret"), "a\0b", "CON"):
        text = score(procedure("main", 'nod duration="1"'), head=f'<include src="{src}"/>'.replace("\0", ""))
        with pytest.raises(TaktError) as caught:
            resolve(parse(text), Library([tmp_path / "lib"]))
        assert "secret" not in str(caught.value).replace(str(tmp_path / "secret"), "").replace("..secret", "").replace(
            "../secret", "").replace("secret.pha", "")
