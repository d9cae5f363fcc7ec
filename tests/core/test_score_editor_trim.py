"""The right edge of a clip with Shift: it ends elsewhere, and plays as fast as before."""

import numpy as np
import pytest

from takt.core.score_editor.change import Proposal
from takt.core.score_editor.gestures import begin
from takt.core.score_editor.hit import Part
from takt.tests.core.scores import procedure, score
from takt.tests.core.test_score_editor_gestures import Editor, changed

EXACT = 1e-3


def pulled(editor: Editor, tick: float) -> Proposal:
    """The right edge of the first box to a tick, with Shift."""
    found = begin(editor.layout, editor.hit(0, Part.RIGHT_EDGE), editor.scores, trims=True)
    assert found is not None
    return found.to(editor.view, float(editor.view.x(np.array((tick,)))[0]), 300.0)


def of_version_2(text: str, *, wanted: bool = True) -> str:
    return text.replace("<pha ", '<pha version="2" ', 1) if wanted else text


def speed(editor: Editor) -> float:
    return float(editor.layout.boxes.speed[0])


@pytest.mark.parametrize(("call", "tick", "wanted"), [
    ('left duration="4"', 2.0, {"duration": "2", "to": "0.5"}),
    ('left duration="4" to="0.5"', 6.0, {"duration": "6", "to": "0.75"}),
    ('left duration="4" from="0.25" to="0.75"', 2.0, {"duration": "2", "from": "0.25", "to": "0.5"}),
    ('left duration="4" to="0.5"', 8.0, {"duration": "8"}),
    ('left duration="4" from="0.5"', 1.0, {"duration": "1", "from": "0.5", "to": "0.625"}),
    ('left duration="4" reverse="yes"', 3.0, {"duration": "3", "from": "0.25", "reverse": "yes"}),
    ('left duration="4" to="0.5s"', 2.0, {"duration": "2", "to": "0.25s"}),
    ('left duration="4" from="0.25s" to="0.75"', 3.0, {"duration": "3", "from": "0.25s", "to": "0.625"}),
    ('left duration="4" from="0.25s" reverse="yes"', 2.0, {"duration": "2", "from": "0.625s", "reverse": "yes"}),
    ('left duration="2" repeat="2"', 2.0, {"duration": "1", "to": "0.5", "repeat": "2"})])
def test_a_clip_ends_elsewhere_and_is_as_fast(call: str, tick: float, wanted: dict[str, str]) -> None:
    text = score(procedure("main", call, 'nod duration="8"'))
    editor = Editor(of_version_2(text, wanted=any(each in call for each in ("from", "to", "reverse"))))
    proposal = pulled(editor, tick)
    assert not proposal.refusal and not proposal.question
    after = editor.after(proposal)
    element = int(after.layout.boxes.element[0])
    assert dict(after.text.shape.attributes[element]) == {"name": "left", **wanted}
    assert 'version="2"' in str(after.text)
    assert speed(after) == pytest.approx(speed(editor), rel=EXACT)
    assert float(after.layout.boxes.begin[after.box("nod")]) == pytest.approx(tick)


def test_the_hint_says_where_it_ends() -> None:
    editor = Editor(score(procedure("main", 'left duration="4"', 'nod duration="8"')))
    proposal = pulled(editor, 3.0)
    assert proposal.hint == "left: 3 ticks, 3 s, to 0.75 s of the clip's 1 s"
    assert "0.75" in changed(editor.tried(proposal).edited[None])


@pytest.mark.parametrize(("call", "tick", "refusal"), [
    ('left duration="4"', 6.0, "there is no more of the clip"),
    ('left duration="4" from="half"', 2.0, "what of the clip plays is calculated"),
    ('left duration="4 * half"', 1.0, "what of the clip plays is calculated"),
    ('walk duration="4"', 2.0, "only a clip can be trimmed")])
def test_what_cannot_be_trimmed_says_why(call: str, tick: float, refusal: str) -> None:
    text = of_version_2(score(procedure("walk", 'left duration="1"', 'right duration="1"'),
                              procedure("main", call, 'nod duration="8"')))
    half = '<procedure name="main"><let name="half" value="0.5"/>'
    proposal = pulled(Editor(text.replace('<procedure name="main">', half)), tick)
    assert proposal.change is None and proposal.refusal.startswith(refusal)
