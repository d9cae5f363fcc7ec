"""Scores of version 2 written in version 1: they play the same, or what stands against it is said."""

import os
import re

import pytest

from takt.core.errors import ScoreError
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.version_1 import as_version_1

from . import plain_expander
from .plain_expander import Refused, TooLong
from .score_programmes import CLIPS, programme
from .test_pha_random_programmes import Texts, agree, flat

PROGRAMMES = int(os.environ.get("TAKT_PROGRAMMES", "300"))
HEAD = '<pha version="2" tickLength="0.5"><load src="moves.Steps"/>'


def written(texts: dict[str, str], seed: int = 0) -> str:
    return as_version_1(resolve(parse(texts[""]), Texts(texts)), Texts(texts), seed=seed)


def simple(text: str) -> str:
    """Leave out most of what version 1 does not have."""
    text = re.sub(r' (mirror|reverse|from|to)="[^"]*"|<tempo[^>]*>', "", text)
    return re.sub(r"</?(together|lane)[^>]*>", "", text).replace("<wait ", '<call name="bow" ')


@pytest.mark.slow
def test_plays_what_plain_recursion_plays() -> None:
    played = 0
    for seed in range(PROGRAMMES):
        texts = {src: simple(text) for src, text in programme(seed).items()}
        try:
            wanted = plain_expander.expand(texts, CLIPS, seed=seed)
            text = written(texts, seed)
        except (Refused, TooLong, ScoreError, KeyError):  # KeyError: a let where only calls may be
            continue
        document = parse(text)
        assert document.version == 1 and not document.problems
        found = expand(resolve(document, Texts({})))
        as_played = [row if row[0] not in CLIPS else (*row, False, False, 0.0, 1.0) for row in version_1_rows(found)]
        assert agree(as_played, flat(wanted)), seed
        played += 1
    assert played > PROGRAMMES / 4


def version_1_rows(sequence) -> list[tuple]:
    return [(sequence.clips[clip], float(sequence.start_s[s]), float(sequence.length_s[s]),
             float(sequence.transition_s[s])) for s, clip in enumerate(sequence.clip.tolist())]


@pytest.mark.parametrize(("inside", "reason"), [
    ('<wait duration="1"/>', "<wait>: found a rest"),
    ('<together><lane><call name="bow" duration="1"/></lane></together>', "<together>: found lanes that play at once"),
    ('<together duration="1"><lane><loop times="0"><wait duration="1"/></loop></lane></together>',
     "<together>: found lanes that play nothing"),
    ('<call name="bow" duration="1" mirror="yes"/>', "<call> mirror: found 'bow' mirrored"),
    ('<call name="bow" duration="1" reverse="yes"/>', "<call> reverse: found 'bow' backwards"),
    ('<call name="bow" duration="1" to="0.5"/>', "<call> from, to: found a part of 'bow'"),
])
def test_what_version_1_does_not_have_is_named(inside: str, reason: str) -> None:
    text = f'{HEAD}<procedure name="main"><call name="walk" duration="1"/>\n{inside * 3}</procedure></pha>'
    with pytest.raises(ScoreError) as caught:
        written({"": text})
    assert len(caught.value.problems) == 3
    assert str(caught.value).startswith(f"score:2:1: {reason}, which version 1 does not have")


def test_a_change_of_tempo_is_named() -> None:
    text = (f'{HEAD}<tempo tick="4" tickLength="1"/><procedure name="main"><call name="bow" duration="1"/></procedure>'
            "</pha>")
    with pytest.raises(ScoreError, match="<tempo>: found a change of tempo, which version 1 does not have"):
        written({"": text})


def test_values_make_procedures_and_names_are_their_own() -> None:
    text = (f'{HEAD}<procedure name="steps"><param name="n" default="1"/><call name="walk" duration="n"/></procedure>'
            '<procedure name="main"><call name="steps" duration="2"/><call name="steps" duration="2"><with n="3"/>'
            '</call><loop times="2"><call name="steps" duration="1"/><call name="bow" duration="1"/></loop></procedure>'
            "</pha>")
    new = written({"": text})
    assert sorted(re.findall(r'<procedure name="(\w+)">', new)) == ["loop", "main", "steps", "steps_2"]
    assert new.count('name="moves.Steps.walk"') == 2


def test_a_score_of_version_1_comes_back_as_it_is() -> None:
    text = ('<pha tickLength="1"><load src="moves.Steps"/><procedure name="main"><call name="bow"  duration="1"/>'
            "</procedure></pha>")
    assert written({"": text}) == text
