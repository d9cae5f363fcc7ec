"""Names, procedures and calls are rearranged over files, and what is played stays what it was."""

import random
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import EditError
from takt.core.library.library import Library
from takt.core.pha.document import read
from takt.core.pha.edits import apply
from takt.core.pha.expansion import expand
from takt.core.pha.extraction import ExtractCalls
from takt.core.pha.inlining import InlineAndRemove, InlineCall
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.refactoring import Refactoring
from takt.core.pha.sequence import Sequence
from takt.core.pha.text import Text
from takt.tests.core.scores import STEPS, procedure, score
from takt.tests.core.seeds import seeds
from takt.tests.core.test_pha_origins import random_score

LENGTHS_EQUAL_S = 1e-9
SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "library"
WALKS = """<pha tickLength="1">
  <load src="feet.Steps"/>

  <!-- Two steps. -->
  <procedure name="walk">
    <!-- first -->
    <call name="left" duration="1"/>  <!-- l -->
    <call name="feet.Steps.right" duration="1" transition="0.5"/>
  </procedure>

  <procedure name="main">
    <call name="nod" duration="1"/>
    <!-- there -->
    <call name="walk" duration="4" transition="1"/> <!-- and back -->
    <call name="walk" duration="2" repeat="2"/>
  </procedure>
</pha>
"""


def opened(text: str) -> Scores:
    return Scores.of([Text.of(text)], STEPS)


def played(text: Text, library: object = STEPS) -> Sequence:
    return expand(resolve(read(text), library), loop=True)  # type: ignore[arg-type]


def check_plays_the_same(old: Text, new: Text) -> None:
    before, after = played(old), played(new)
    assert [before.clips[i] for i in before.clip] == [after.clips[i] for i in after.clip]
    assert after.start_s == pytest.approx(before.start_s, abs=LENGTHS_EQUAL_S)
    np.testing.assert_allclose(after.transition_s, before.transition_s, atol=LENGTHS_EQUAL_S)


def done(scores: Scores, edit: Refactoring) -> Text:
    """Return the only text that changes, after a look at its inverse."""
    (path, edited), = edit.apply(scores).items()
    assert apply(edited.text, *edited.inverse).text == scores.texts[path]
    return edited.text


def difference(old: str, new: Text) -> tuple[list[str], list[str]]:
    before, after = old.splitlines(), str(new).splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


@pytest.mark.parametrize(("edit", "reason"), [
    (ExtractCalls(None, 5, 1, 2, "nod"), "this would break the score: .* the name of 2 things"),
    (ExtractCalls(None, 5, 1, 2, "walk"), "'walk' is the name of a procedure already; choose another one"),
    (ExtractCalls(None, 5, 5, 1, "new"), "found no calls there"),
    (ExtractCalls(None, 0, 0, 1, "new"), "found no calls there"),
    (InlineCall(None, 6), "'nod' is a clip, expected a procedure"),
    (InlineCall(None, 2), "found no calls there"),
])
def test_what_would_change_the_score_is_refused(edit, reason):
    with pytest.raises(EditError, match=reason):
        edit.apply(opened(WALKS))


def test_scores_with_mistakes_are_corrected_first():
    scores = opened(WALKS.replace('duration="4"', 'duration="x"'))
    for edit in (ExtractCalls(None, 5, 0, 1, "x"), InlineCall(None, 7)):
        with pytest.raises(EditError, match=r"the score has mistakes; correct them first: score:14:5: <call> duration"):
            edit.apply(scores)


def test_extracted_calls_become_a_procedure_above():
    scores = opened(WALKS)
    text = done(scores, ExtractCalls(None, 5, 1, 2, "figure"))
    check_plays_the_same(scores.texts[None], text)
    assert str(text) == WALKS.replace("""  <procedure name="main">""", """  <procedure name="figure">
    <!-- there -->
    <call name="walk" duration="4" transition="1"/> <!-- and back -->
    <call name="walk" duration="2" repeat="2"/>
  </procedure>

  <procedure name="main">""").replace("""    <call name="nod" duration="1"/>
    <!-- there -->
    <call name="walk" duration="4" transition="1"/> <!-- and back -->
    <call name="walk" duration="2" repeat="2"/>
""", """    <call name="nod" duration="1"/>
    <call name="figure" duration="8"/>
""")


def test_an_inlined_call_leaves_its_comments_and_brings_others():
    scores = opened(WALKS)
    text = done(scores, InlineCall(None, 7))
    check_plays_the_same(scores.texts[None], text)
    assert difference(WALKS, text) == (
        ['    <call name="walk" duration="4" transition="1"/> <!-- and back -->'],
        ['    <call name="left" duration="2"/>  <!-- l -->',
         '    <call name="feet.Steps.right" duration="2" transition="1"/> <!-- and back -->'])
    assert str(text).count("<!-- first -->") == 2


def test_an_inlined_repeat_is_written_out():
    scores = opened(WALKS)
    text = done(scores, InlineCall(None, 8))
    check_plays_the_same(scores.texts[None], text)
    assert len(text) == len(scores.texts[None]) + 3
    with pytest.raises(EditError, match="4000 calls would replace one; at most 1000 can"):
        InlineCall(None, 8).apply(opened(WALKS.replace('repeat="2"', 'repeat="2000"')))


@pytest.mark.parametrize("seed", seeds(80, quick=0))
def test_random_scores_play_the_same_when_extracted_and_inlined(seed):
    rng = random.Random(seed)
    text = Text.of(random_score(rng))
    if len(played(text)) > 3000:
        return
    scores = Scores.of([text], STEPS)
    document = read(text)
    caller = rng.choice(document.procedures)
    first = rng.randrange(len(caller.calls))
    new = done(scores, ExtractCalls(None, caller.element, first, rng.randint(1, len(caller.calls) - first), "new one"))
    check_plays_the_same(text, new)
    calls = [call for procedure in read(new).procedures for call in procedure.calls if call.name == "new one"]
    assert [call.repeat for call in calls] == [1]
    again = done(Scores.of([new], STEPS), InlineCall(None, calls[0].element))
    check_plays_the_same(text, again)
    inner = [call for p in document.procedures for call in p.calls if call.name.startswith("p")]
    if inner:
        check_plays_the_same(text, done(scores, InlineCall(None, rng.choice(inner).element)))


# Over files

def library(folder: Path) -> Library:
    return Library([folder], other_clips=lambda src: STEPS.clips(src)[0] if src == "feet.Steps" else ())


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    scores = {
        "basic": score(procedure("turn", 'left duration="1"', 'right duration="2"'),
                       procedure("main", 'turn duration="1"')),
        "dance": '<pha tickLength="1"><include src="basic"/><load src="feet.Steps"/>'
                 + procedure("main", 'basic.turn duration="1"', 'turn duration="3" repeat="2"') + "</pha>",
        "other": '<pha tickLength="1"><include src="dance"/><include src="basic"/><load src="feet.Steps"/>'
                 + procedure("main", 'turn duration="1"', 'nod duration="1"') + "</pha>",
        "apart": score(procedure("turn", 'nod duration="1"'), procedure("main", 'turn duration="1"'))}
    for name, text in scores.items():
        (tmp_path / f"{name}.pha").write_text(text)
    return {name: tmp_path / f"{name}.pha" for name in scores}


def test_a_call_into_another_file_is_inlined_by_full_names(files):
    scores = Scores.of([Text.of(files["dance"].read_bytes(), files["dance"])], library(files["basic"].parent))
    document = read(scores.texts[files["dance"]])
    new = done(scores, InlineCall(files["dance"], document.procedures[0].calls[1].element))
    names = [call.name for call in read(new).procedures[0].calls]
    assert names == ["basic.turn", *["feet.Steps.left", "feet.Steps.right"] * 2]


@pytest.mark.parametrize(("open_too", "stays"), [((), False), (("dance",), True)])
def test_a_procedure_is_removed_with_its_last_call_in_all_open_scores(files, open_too, stays):
    folder, basic = files["basic"].parent, files["basic"]
    scores = Scores.of([Text.of(files[name].read_bytes(), files[name]) for name in ("basic", *open_too)],
                       library(folder))
    call = read(scores.texts[basic]).procedures[-1].calls[0].element
    edited = InlineAndRemove(basic, call).apply(scores)[basic]
    assert ('<procedure name="turn"' in str(edited.text)) == stays
    assert [call.name for call in read(edited.text).procedures[-1].calls] == ["left", "right"]
    assert apply(edited.text, *edited.inverse).text == scores.texts[basic]


def test_samples_are_rearranged_and_play_the_same():
    path = SAMPLES / "dance.pha"
    text, library = Text.of(path.read_bytes(), path), Library([SAMPLES])
    scores = Scores.of([text], library)
    main = next(p for p in read(text).procedures if p.name == "main")
    new = done(scores, ExtractCalls(path, main.element, 0, len(main.calls), "whole"))
    before, after = played(text, library), played(new, library)
    assert [before.clips[i] for i in before.clip] == [after.clips[i] for i in after.clip]
    assert after.start_s == pytest.approx(before.start_s)
