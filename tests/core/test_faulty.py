"""Procedures with mistakes are left out of a score, and all else stays where it is."""

import pytest

from takt.core.errors import Problem, ScoreError
from takt.core.pha.document import parse
from takt.core.pha.faulty import without_faulty

SCORE = """<pha tickLength="1"><procedure name="ä"><wait ticks="1"/></procedure> <procedure name="b">
  <call name="x" duration="no"/>
</procedure><procedure name="c"/>
<procedure name="d"><call name="e" duration="1"/></procedure></pha>"""


def test_the_mistakes_of_a_text_name_its_procedures() -> None:
    document = parse(SCORE)
    said, found = without_faulty(document, ScoreError(*document.problems))
    assert "b" in found and "c" in found and "d" not in found
    assert 'name="b"' not in said and 'name="c"' not in said and 'name="d"' in said


def test_all_else_keeps_its_place() -> None:
    document = parse(SCORE)
    said, found = without_faulty(document, ScoreError(Problem("bad", document.place(document.procedures[1]))))
    assert [*found] == ["b"] and found["b"].message == "bad"
    assert len(said) == len(SCORE)
    left = parse(said)
    assert {each.name: left.place(each) for each in left.procedures} == {
        each.name: document.place(each) for each in document.procedures if each.name != "b"}


@pytest.mark.parametrize("problem", [
    Problem("of no line"), Problem("only a warning", parse(SCORE).place(parse(SCORE).procedures[1]), is_warning=True),
    Problem("missing", parse(SCORE).place(parse(SCORE).procedures[1]), missing="x")])
def test_what_is_no_mistake_in_a_procedure_leaves_nothing_out(problem: Problem) -> None:
    said, found = without_faulty(parse(SCORE), ScoreError(problem))
    assert said == SCORE and not found
