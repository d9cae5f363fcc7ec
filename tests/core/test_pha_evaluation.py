"""Version 2 of scores: what is wrong with names and values is said with its place and the calls that led there."""

import numpy as np
import pytest

from takt.core.errors import ScoreError
from takt.core.pha.evaluation import MAX_EVALUATIONS
from takt.core.pha.expansion import expand
from takt.core.pha.sequence import Sequence

from .test_pha_random_programmes import unfolded

HEAD = '<pha version="2" tickLength="0.5"><load src="moves.Steps"/>'


def played(body: str, **others: str) -> Sequence:
    """Unfold what stands below <pha>."""
    return unfolded({"": f"{HEAD}{body}</pha>", **{src.replace("_", "."): text for src, text in others.items()}}, 0)


def main(block: str) -> str:
    return f'<procedure name="main">{block}</procedure>'


def clips(sequence: Sequence) -> list[str]:
    return [sequence.clips[clip].rpartition(".")[2] for clip in sequence.clip]


@pytest.mark.parametrize(("body", "says"), [
    (main('<call name="walk" duration="1 / 0"/>'), "<call> duration: found '1 / 0': division by zero (in main)"),
    (main('<call name="walk" duration="yes"/>'), "found 'yes', which is yes, expected a number"),
    (main('<call name="walk" duration="1 - 2"/>'), "found '1 - 2', which is -1, expected 0 or more"),
    (main('<call name="walk" duration="1" repeat="1.5"/>'), "found '1.5', which is 1.5, expected a whole number"),
    (main('<loop times="1e9"><call name="walk" duration="1"/></loop>'), "expected a whole number from 0 to 1000000"),
    (main('<loop times="300000" index="i"><call name="walk" duration="i + 1"/></loop>'),
     f"found more than {MAX_EVALUATIONS} elements to evaluate"),
    (main('<call name="walk" duration="1" mirror="2"/>'), "found '2', which is 2, expected yes or no"),
    (main('<call name="walk" duration="1" from="0.5" to="0.5"/>'), "expected 0 ≤ from &lt; to ≤ 1"),
    (main('<call name="walk" duration="1" to="9s"/>'), "found the part from 0 to 18 of the clip"),
    (main('<pick><call name="walk" duration="1" weight="0"/></pick>'), "found weights that are all 0"),
    (main('<call name="walk" duration="0"/>'), "'main' plays nothing this time"),
    (main('<call name="turn" duration="1"/>') + '<procedure name="turn"><loop times="0"><wait duration="1"/></loop>'
     "</procedure>", "'turn' plays nothing this time, expected something to play, or a duration of 0 (in main)"),
    (main('<call name="turn" duration="1"><with n="0"/></call>') + '<procedure name="turn"><param name="n" default="1"'
     '/><call name="walk" duration="1 / n"/></procedure>',
     "found '1 / n' with n = 0: division by zero (in main → turn(n = 0))"),
    (main('<call name="turn" duration="1"><with m="0"/></call>') + '<procedure name="turn"><param name="n" default="1"'
     '/><call name="walk" duration="n"/></procedure>', "<with>: found 'm', expected parameters of 'turn': 'n'"),
    (main('<call name="walk" duration="1"><with m="0"/></call>'), "'walk' is a clip, which has no parameters"),
    (main('<call name="turn" duration="1" from="0"/>') + '<procedure name="turn"><call name="walk" duration="1"/>'
     "</procedure>", "<call> from: found one for the procedure 'turn', expected it on the call of a clip"),
    (main('<call name="walk" duration="bar"/>'), "<call> duration: found the name 'bar', expected a number of ticks, 0 "
     "or more: no name has a value here until <let> or <param> gives it one"),
    (main('<call name="walk" duration="2 * bar"/>'), "found the name 'bar' in '2 * bar', expected a number of ticks"),
    (main('<call name="walk" duration="1" mirror="left"/>'), "mirror: found the name 'left', expected yes or no: no"),
    (main('<call name="turn" duration="1"><with n="m"/></call>') + '<procedure name="turn"><param name="n" default="1"'
     '/><call name="walk" duration="n"/></procedure>', "<with> n: found the name 'm', expected a number, or yes or no"),
    (main('<let name="bars" value="2"/><call name="walk" duration="bar"/>'),
     "found the name 'bar', expected one that has a value here: 'bars'; did you mean bars?"),
    ('<let name="bar" value="2"/>' + main('<let name="bar" value="3"/><call name="walk" duration="1"/>'),
     "found the name 'bar', which already has a value here"),
    (main('<loop times="2" index="i"><loop times="2" index="i"><call name="walk" duration="1"/></loop></loop>'),
     "found the name 'i', which already has a value here"),
    (main('<else><call name="walk" duration="1"/></else>'), "found <else> after nothing, expected it right after an"),
    (main('<call name="walk" duration="1" weight="2"/>'), "<call> weight: found one outside of a <pick>"),
    (main('<call name="main" duration="1"/>'), "'main' → 'main', a cycle of calls"),
    (main('<call name="walk" duration="1"/><param name="n" default="1"/>'), "expected parameters before anything else"),
    (main("<together><call name='walk' duration='1'/></together>"), "found <call> in <together>, expected <lane>"),
    (main("<call name='walk' duration='open(1)'/>"), "found 'open(1)', expected numbers, yes, no and names"),
    (main('<together><lane body="uper"><call name="walk" duration="1"/></lane></together>'),
     "<lane> body: found 'uper', expected whole, root, lower, upper"),
    ('<mask name="soft" body="arms + soft"/>' + main('<call name="walk" duration="1"/>'), "made of itself"),
    ('<let name="not" value="1"/>' + main('<call name="walk" duration="1"/>'), "no word of the language"),
])
def test_is_refused_with_the_reason(body: str, says: str) -> None:
    with pytest.raises(ScoreError) as caught:
        played(body)
    assert says.replace("&lt;", "<") in str(caught.value)


def test_a_replacement_is_reached_from_where_it_is_inherited() -> None:
    base = HEAD + ('<procedure name="figure"><call name="walk" duration="1"/></procedure>'
                   + main('<call name="figure" duration="2"/><call name="bow" duration="2"/>') + "</pha>")
    own = '<procedure name="figure"><call name="kick" duration="1"/><call name="a.B.figure" duration="1"/></procedure>'
    sequence = unfolded({"": HEAD.replace('tickLength="0.5"',
                         'tickLength="0.25" extends="a.B"') + own + "</pha>", "a.B": base}, 0)
    assert clips(sequence) == ["kick", "walk", "bow"]
    assert np.allclose(sequence.length_s, (0.25, 0.25, 0.5))  # the file's own tick holds


def test_a_replacement_lacks_a_parameter() -> None:
    base = HEAD + ('<procedure name="figure"><param name="n" default="1"/><call name="walk" duration="n"/></procedure>'
                   + main('<call name="figure" duration="2"/>') + "</pha>")
    with pytest.raises(ScoreError, match=r"replaces that of 'a.B' and lacks its parameter 'n'"):
        unfolded({"": '<pha version="2" tickLength="1" extends="a.B"><procedure name="figure"><call name="a.B.main" '
                      'duration="1"/></procedure></pha>', "a.B": base}, 0)


def test_extends_in_a_circle() -> None:
    text = '<pha version="2" tickLength="1" extends="{}">' + main('<wait duration="1"/>') + "</pha>"
    with pytest.raises(ScoreError, match="which extends this score in turn; expected no cycle"):
        unfolded({"": text.format("a.B"), "a.B": text.format("c.D"), "c.D": text.format("a.B")}, 0)


def test_values_of_the_started_procedure() -> None:
    from takt.core.pha.document import parse
    from takt.core.pha.programme import resolve

    from .test_pha_random_programmes import Texts
    text = HEAD + ('<procedure name="main"><param name="times" default="2"/><loop times="times"><call name="walk" '
                   'duration="1"/></loop></procedure></pha>')
    programme = resolve(parse(text), Texts({"": text}))
    assert len(expand(programme)) == 2 and len(expand(programme, values={"times": 5.0})) == 5


def test_a_thousand_rounds_are_evaluated_once() -> None:
    block = '<loop times="1000"><loop times="900"><call name="walk" duration="1"/></loop></loop>'
    assert len(played(main(block))) == 900_000
    with pytest.raises(ScoreError, match="found 1000000000 segments when expanded"):
        played(main('<loop times="1000"><loop times="1000"><loop times="1000"><call name="walk" duration="1"/></loop>'
                    "</loop></loop>"))


@pytest.mark.slow
def test_as_many_calls_as_a_text_holds_may_each_have_values_of_their_own() -> None:
    count = MAX_EVALUATIONS // 5 + 100
    calls = "".join(f'<call name="figure" duration="1"><with n="{at}"/></call>' for at in range(count))
    figure = ('<procedure name="figure"><param name="n" default="0"/><if test="n % 2 == 0"><call name="walk" '
              'duration="1"/></if><else><call name="kick" duration="1"/></else></procedure>')
    assert clips(played(main(calls) + figure)) == ["walk", "kick"] * (count // 2)


@pytest.mark.slow
def test_bombs_are_refused() -> None:
    doubling = "".join(f'<procedure name="p{i}"><param name="n" default="0"/><call name="p{i + 1}" duration="1"><with '
                       f'n="2 * n"/></call><call name="p{i + 1}" duration="1"><with n="2 * n + 1"/></call></procedure>'
                       for i in range(40))
    last = '<procedure name="p40"><param name="n" default="0"/><call name="walk" duration="n + 1"/></procedure>'
    with pytest.raises(ScoreError, match="elements to evaluate"):
        played(main('<call name="p0" duration="1"/>') + doubling + last)
    deep = "".join(f'<procedure name="p{i}"><call name="p{i + 1}" duration="1"/></procedure>' for i in range(3_000))
    with pytest.raises(ScoreError, match="procedures within procedures"):
        played(main('<call name="p0" duration="1"/>') + deep
               + '<procedure name="p3000"><call name="walk" duration="1"/></procedure>')
