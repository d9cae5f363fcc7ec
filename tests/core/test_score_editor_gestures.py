"""Gestures of the score editor: what is pulled becomes as long as it is pulled, and only its own element changes."""

import random
import re

import numpy as np
import pytest

from takt.core.errors import EditError
from takt.core.pha.document import read
from takt.core.pha.edits import Edited, apply
from takt.core.pha.expansion import expand
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.playing.why import Why
from takt.core.score_editor import arrange, commands, hints
from takt.core.score_editor.boxes import Kind, ancestors
from takt.core.score_editor.change import Candidate, Proposal, attempt
from takt.core.score_editor.drag import Carry, Drag, PullEdge, automatic_again
from takt.core.score_editor.drop import drop_at
from takt.core.score_editor.gestures import begin, cursor_of, hit, of_handle, why_not
from takt.core.score_editor.hit import Hit, Part, reach_of_seams
from takt.core.score_editor.layout import empty, lay_out
from takt.core.score_editor.overlay import AtMouse, overlay
from takt.core.score_editor.stripes import SEAM_PX, TITLE_PX, Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.core.score_editor.weights import weight_line
from takt.tests.core.scores import STEPS, library, procedure, score
from takt.tests.core.test_pha_origins import random_score

WALK = procedure("walk", 'left duration="1" transition="0.2"', 'right duration="3"')
MAIN = procedure("main", 'walk duration="2" repeat="3"', 'nod duration="1" repeat="4"', 'left duration="2"')
VIEW = View(1200.0, 400.0)
_HAND_PX = 7
"""So many pixels, at an interface scale of 1, a hand hits."""


class Editor:
    """A score that is open and laid out."""

    def __init__(self, source: str) -> None:
        self.text = Text.of(source)
        self.scores = Scores.of((self.text,), STEPS)
        self.layout = lay_out(expand(resolve(read(self.text), self.scores)))
        self.view = VIEW.framed(0.0, self.layout.ticks)

    def box(self, title: str, place: int = 0) -> int:
        return [i for i, name in enumerate(self.layout.boxes.titles) if name == title][place]

    def corner(self, box: int, right: bool) -> tuple[float, float]:
        """A pixel within the title of a box, at its right edge or near its left one."""
        boxes, stripes = self.layout.boxes, Stripes.of(self.layout, self.view)
        _, high = stripes.boxes(boxes.lane[box:box + 1], boxes.depth[box:box + 1])
        x = self.view.x(boxes.end[box:box + 1])[0] - 1.0 if right else self.view.x(boxes.begin[box:box + 1])[0] + 3.0
        return float(x), float(high[0]) - TITLE_PX * 0.75

    def hit(self, box: int, part: Part) -> Hit:
        return Hit(part, float(self.layout.boxes.end[box] if part is not Part.BODY else self.layout.boxes.begin[box]),
                   box, lane=0)

    def drag(self, box: int, part: Part) -> Drag:
        found = begin(self.layout, self.hit(box, part), self.scores)
        assert found is not None
        return found

    def tried(self, proposal: Proposal) -> Candidate:
        assert proposal.change is not None, proposal
        return attempt(self.scores, None, proposal.change)

    def after(self, proposal: Proposal) -> "Editor":
        return Editor(str(self.tried(proposal).edited[None].text))


def changed(edited: Edited) -> str:
    """What was written, bytes that go in brackets."""
    return " ".join(f"[{old.decode()}]{new.decode()}" for patch in edited.patches
                    for _, old, new in patch.replacements)


def test_mouse_finds_what_is_drawn() -> None:
    editor = Editor(score(WALK, MAIN))
    for box in range(len(editor.layout)):
        found = hit(editor.layout, editor.view, *editor.corner(box, right=False))
        assert (found.part, found.box) == (Part.BODY, box)
    stripes = Stripes.of(editor.layout, editor.view)
    for seam, tick in enumerate(editor.layout.seams.tick.tolist()):
        x = float(editor.view.x(np.array((tick,)))[0])
        found = hit(editor.layout, editor.view, x, float(stripes.lane_low[0]) + SEAM_PX / 2.0)
        assert (found.part, found.seam) == (Part.SEAM, seam)
    assert hit(editor.layout, editor.view, 600.0, 395.0).part is Part.RULER
    assert hit(editor.layout, editor.view, 10.0, 300.0).part is Part.LABEL
    assert hit(editor.layout, editor.view, 600.0, 5.0).part is Part.EMPTY
    right = hit(editor.layout, editor.view, *editor.corner(editor.box("left"), right=True))
    assert (right.part, cursor_of(right)) == (Part.RIGHT_EDGE, "MOVE_X")


def test_the_transition_below_the_mouse_is_shown_where_it_can_be_caught_and_says_what_can_be_done() -> None:
    editor = Editor(score(WALK, MAIN))
    layout, view, foot = editor.layout, editor.view, float(Stripes.of(editor.layout, editor.view).box_low[0])
    left, right = reach_of_seams(layout.seams, view)
    said = {0: "Transition of 0.1 s. Pull, or double-click to make it automatic",
            5: "Transition of 0 s: automatic. Pull to set its length", 6: "Transition of 0 s: automatic"}
    for seam in range(len(layout.seams.tick)):
        ends = float(left[seam]), float(right[seam])
        inside, outside = (hit(layout, view, x, foot + SEAM_PX / 2.0) for x in (ends[0] + 0.5, ends[1] + 1.5))
        assert (inside.part, inside.seam) == (Part.SEAM, seam) and not inside.is_on_the_same(outside)
        assert inside.is_on_the_same(hit(layout, view, ends[1] - 0.5, foot + SEAM_PX / 3.0))
        boxes = overlay(layout, view, Theme(), AtMouse(0.0, 0.0), hovered=inside).rectangles.boxes
        np.testing.assert_allclose(boxes, [(ends[0], foot, ends[1], foot + SEAM_PX)])
        if seam in said:
            assert hints.transition(layout, seam) == said[seam]
    none = Why("No transition: both poses are the same", is_none=True)
    assert hints.transition(layout, 5, none) == f"{none.length}. Pull to set its length"
    assert hints.transition(layout, 5, Why("0.43 s")) == "Transition of 0.43 s. Pull to set its length"
@pytest.mark.slow
@pytest.mark.parametrize("px", [1.0, 2.0])
@pytest.mark.parametrize("part", [Part.RIGHT_EDGE, Part.REPEAT, Part.SEAM])
def test_what_can_be_pulled_is_wide_and_high_enough_for_a_hand(part: Part, px: float) -> None:
    editor = Editor(score(WALK, MAIN))
    view = editor.view.resized(1200.0 * px, 400.0 * px, px)
    xs, ys = np.arange(0.0, view.width, px), np.arange(0.0, view.height, px)
    right, high = editor.corner(editor.box("nod"), right=True)
    at = {Part.RIGHT_EDGE: (right, high), Part.REPEAT: (right - 10.0, high + 9.0),
          Part.SEAM: (right, float(Stripes.of(editor.layout, editor.view).box_low[0]) + 8.0)}[part]
    target = hit(editor.layout, view, at[0] * px, at[1] * px)
    across = sum(target.is_on_the_same(hit(editor.layout, view, x, at[1] * px)) for x in xs.tolist())
    upwards = sum(target.is_on_the_same(hit(editor.layout, view, at[0] * px, y)) for y in ys.tolist())
    assert target.part is part and cursor_of(target) == "MOVE_X"
    assert min(across, upwards) >= _HAND_PX


def test_the_corner_for_repeats_is_sixteen_pixels_wide_and_high_beside_the_edge() -> None:
    editor = Editor(score(WALK, MAIN))
    layout, view, box = editor.layout, editor.view, editor.box("nod")
    right = float(view.x(layout.boxes.end[box:box + 1])[0])
    high = float(Stripes.of(layout, view).boxes(layout.boxes.lane[box:box + 1], layout.boxes.depth[box:box + 1])[1][0])
    for left_of, below, part in ((9.0, 7.0, Part.REPEAT), (20.0, 15.0, Part.REPEAT), (22.0, 7.0, Part.BODY),
                                 (9.0, 17.0, Part.BODY)):
        assert hit(layout, view, right - left_of, high - below).part is part


def test_handles_say_what_they_do() -> None:
    editor = Editor(score(WALK, MAIN))
    layout, nod = editor.layout, editor.box("nod")
    assert "repeat" in of_handle(layout, editor.hit(nod, Part.REPEAT))
    assert not of_handle(layout, editor.hit(nod, Part.BODY))
    reason = Why("0.43 s: automatic")
    assert of_handle(layout, Hit(Part.SEAM, 0.0, seam=5), reason) == hints.transition(layout, 5, reason)
    assert [turn in of_handle(layout, Hit(Part.WEIGHT, 0.0, voice=0, is_right=is_right))
            for is_right, turn in ((False, "comes in"), (True, "goes out"))] == [True, True]


def test_right_edge_of_an_outer_call_moves_all_later() -> None:
    editor = Editor(score(WALK, MAIN))
    nod = editor.box("nod")
    proposal = editor.drag(nod, Part.RIGHT_EDGE).to(editor.view, editor.view.x(np.array((14.1,)))[0], 300.0)
    assert proposal.hint == "nod ×4: 8 ticks, 8 s (duration 2)"
    assert changed(editor.tried(proposal).edited[None]) == "[1]2"
    after = editor.after(proposal).layout.boxes
    before = editor.layout.boxes
    later = before.begin >= before.end[nod]
    np.testing.assert_allclose(after.begin[later], before.begin[later] + 4.0)
    np.testing.assert_allclose(after.begin[~later], before.begin[~later])


@pytest.mark.parametrize(("title", "place", "edge", "written", "hint"), [
    ("left", 1, 1.0, "[1]2 [2]2.5", "left: 1 tick, 1 s (duration 2), walk 2.5"),
    ("right", 0, 3.0, "[3]5 [2]3", "right: 2.5 ticks, 2.5 s (duration 5), walk 3"),
    ("right", 2, 9.0, "[3]5 [2]3", "right: 2.5 ticks, 2.5 s (duration 5), walk 3"),
    ("left", 0, 14.0, "[2]4", "left: 4 ticks, 4 s")])
def test_right_edge_of_an_inner_call_moves_all_later_and_the_calls_around_it_grow(
        title: str, place: int, edge: float, written: str, hint: str) -> None:
    editor = Editor(score(WALK, MAIN))
    box = editor.box(title, place)
    proposal = editor.drag(box, Part.RIGHT_EDGE).to(editor.view, editor.view.x(np.array((edge,)))[0], 300.0)
    assert changed(editor.tried(proposal).edited[None]) == written
    assert proposal.hint.startswith(hint)
    before, after = editor.layout.boxes, editor.after(proposal).layout.boxes
    assert after.end[box] == pytest.approx(edge)
    others = (before.element != before.element[box]) & (before.kind == Kind.CLIP)
    np.testing.assert_allclose(after.length[others], before.length[others])


def test_what_lies_around_by_other_numbers_keeps_its_length() -> None:
    """Of a call within lanes as long as they are told to be, its neighbours make room."""
    source = (f'<pha version="2" tickLength="1"><load src="feet.Steps"/>{WALK}<procedure name="main">'
              '<together duration="4"><lane body="upper"><call name="walk" duration="2"/></lane></together>'
              "</procedure></pha>")
    editor = Editor(source)
    left = editor.box("left")
    proposal = editor.drag(left, Part.RIGHT_EDGE).to(editor.view, editor.view.x(np.array((2.0,)))[0], 300.0)
    assert changed(editor.tried(proposal).edited[None]) == "[1]3"
    after = editor.after(proposal).layout
    assert after.boxes.length[left] == 2.0 and after.ticks == editor.layout.ticks


@pytest.mark.parametrize("seed", range(60))
def test_edges_follow_the_mouse(seed: int) -> None:
    rng = random.Random(seed)
    editor = Editor(random_score(rng))
    before = editor.layout
    box = rng.randrange(len(before))
    boxes = before.boxes
    drag = editor.drag(box, Part.RIGHT_EDGE)
    wanted = float(boxes.length[box]) * rng.uniform(0.3, 1.7)
    x = float(editor.view.x(boxes.begin[box:box + 1] + wanted)[0])
    proposal = drag.to(editor.view, x, 300.0, is_free=True)
    if proposal.refusal:
        siblings = np.flatnonzero(boxes.parent == boxes.parent[box])
        assert len({(boxes.element[i]) for i in siblings}) == 1
        return
    assert not re.search(r"\.\d{4}", proposal.hint)
    if proposal.change is None:
        assert wanted == pytest.approx(boxes.length[box], abs=1.0 / editor.view.px_per_tick)
        return
    after, around = editor.after(proposal), [box, *ancestors(boxes.parent, box)]
    spans = [editor.text.span(int(boxes.element[i])) for i in around]
    for patch in editor.tried(proposal).edited[None].patches:
        for start, old, _ in patch.replacements:
            assert any(span.start <= start <= start + len(old) <= span.end for span in spans)
    pixel = 1.0 / editor.view.px_per_tick
    assert abs(float(after.layout.boxes.end[box] - boxes.begin[box]) - wanted) <= pixel * 1.1 or wanted < pixel
    beside = (boxes.parent == boxes.parent[box]) & (boxes.element != boxes.element[box])
    np.testing.assert_allclose(after.layout.boxes.length[beside], boxes.length[beside], atol=pixel)
    edited = editor.tried(proposal).edited[None]
    assert apply(edited.text, *edited.inverse).text == editor.text


def test_a_lone_call_takes_its_procedure_along() -> None:
    editor = Editor(score(procedure("bowing", 'nod duration="1"'), procedure("main", 'bowing duration="2"')))
    proposal = editor.drag(editor.box("nod"), Part.RIGHT_EDGE).to(editor.view, editor.view.x(np.array((3.0,)))[0], 300)
    assert changed(editor.tried(proposal).edited[None]) == "[1]1.5 [2]3"
    assert editor.after(proposal).layout.ticks == 3.0


def test_repeats() -> None:
    editor = Editor(score(WALK, MAIN))
    drag = editor.drag(editor.box("nod"), Part.REPEAT)
    at = editor.view.x(np.array((12.2, 6.6, 8.9)))
    more, one, three = (drag.to(editor.view, float(x), 300.0) for x in at)
    assert [changed(editor.tried(each).edited[None]) for each in (more, one, three)] == [
        "[4]6", '[ repeat="4"]', "[4]3"]
    assert editor.after(three).layout.boxes.repeat.tolist()[1] == 3
    single = editor.drag(editor.box("left"), Part.REPEAT)
    assert single.to(editor.view, float(editor.view.x(np.array((12.8,)))[0]), 300.0).change is None


@pytest.mark.parametrize(("seam", "expected"), [(0, "[0.2]1"), (5, ' transition="0.5"'), (6, "")])
def test_transitions(seam: int, expected: str) -> None:
    editor = Editor(score(WALK, MAIN))
    tick = float(editor.layout.seams.tick[seam])
    drag = begin(editor.layout, Hit(Part.SEAM, tick + 0.01, seam=seam, lane=0), editor.scores)
    assert drag is not None
    proposal = drag.to(editor.view, float(editor.view.x(np.array((tick + 0.01 + (0.25 if seam else 0.2),)))[0]), 20.0)
    if expected:
        assert expected in changed(editor.tried(proposal).edited[None])
        after = editor.after(proposal).layout.seams
        assert after.end[seam] - after.begin[seam] == pytest.approx(0.5)
    else:
        assert "between repetitions" in proposal.refusal


def width(editor: Editor, seam: int) -> float:
    return float(editor.layout.seams.end[seam] - editor.layout.seams.begin[seam])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_the_end_of_a_transition_that_is_pulled_goes_as_far_as_the_mouse(seed: int) -> None:
    """Wherever it is pressed; and from its middle it only becomes wider, whichever way the mouse goes."""
    rng = random.Random(seed)
    first, second = rng.uniform(2.0, 8.0), rng.uniform(2.0, 8.0)
    given = rng.choice((0.0, rng.uniform(0.0, 0.2), rng.uniform(0.2, 1.9)))
    editor = Editor(score(procedure("main", f'left duration="{first}" transition="{given}"',
                                    f'right duration="{second}"')))
    view, seams = editor.view, editor.layout.seams
    left, right = (float(end[0]) for end in reach_of_seams(seams, view))
    low, middle = float(Stripes.of(editor.layout, view).box_low[0]), float(view.x(seams.tick[:1])[0])
    for _ in range(20):
        pressed = hit(editor.layout, view, rng.uniform(left, right), low + rng.uniform(0.0, SEAM_PX))
        assert pressed.part is Part.SEAM
        drag = begin(editor.layout, pressed, editor.scores)
        assert drag is not None
        x, moved = float(view.x(np.array((pressed.tick,)))[0]), rng.uniform(-80.0, 80.0)
        new = width(editor.after(drag.to(view, x + moved, 0.0, is_free=True)), 0)
        grown, outwards = (new - width(editor, 0)) * view.px_per_tick / 2.0, moved if x >= middle else -moved
        shortest, longest = -width(editor, 0) * view.px_per_tick / 2.0, view.px_per_tick * min(first, second) / 2.0
        off = abs(x - middle)
        ways = {outwards} if off > 5.5 else {abs(moved)} if off < 0.1 else {outwards, abs(moved)}
        assert min(abs(grown - min(max(way, shortest), shortest + longest)) for way in ways) < 1.0


def test_a_transition_that_is_pressed_and_not_pulled_stays_as_long_as_it_is() -> None:
    editor = Editor(score(WALK, MAIN))
    tick = float(editor.layout.seams.tick[0])
    for off in (-0.04, 0.0, 0.04):
        drag = begin(editor.layout, Hit(Part.SEAM, tick + off, seam=0, lane=0), editor.scores)
        assert drag is not None
        x = float(editor.view.x(np.array((tick + off,)))[0])
        assert drag.to(editor.view, x, 20.0, is_free=True).change is None


def test_a_transition_is_automatic_again() -> None:
    editor = Editor(score(WALK, MAIN))
    proposal = automatic_again(editor.layout, 0, editor.scores)
    assert changed(editor.tried(proposal).edited[None]) == '[ transition="0.2"]'
    assert automatic_again(editor.layout, 5, editor.scores).change is None


def test_places_are_told() -> None:
    source = score(WALK, procedure("main", 'walk duration="4"', 'nod duration="1"', 'walk duration="4"'))
    editor = Editor(source)
    proposal = editor.drag(editor.box("left"), Part.RIGHT_EDGE).to(editor.view, 300.0, 300.0)
    assert proposal.hint.endswith(" · in walk, which plays in 2 places")


class Call:
    """A call by its attributes."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.name, self.attribute = attributes["name"], lambda name: attributes.get(name, "")


def calls_in(editor: Editor, name: str) -> list[Call]:
    text = editor.text
    procedure = next(i for i in text.children(0) if text.shape.attributes[i].get("name") == name)
    return [Call(text.shape.attributes[child]) for child in text.children(procedure)]


def order_of(editor: Editor, name: str = "main") -> list[str]:
    return next([call.name for call in p.calls] for p in read(editor.text).procedures if p.name == name)


def test_carrying() -> None:
    editor = Editor(score(WALK, MAIN))
    nod = editor.box("nod")
    drag = editor.drag(nod, Part.BODY)
    walk = editor.corner(editor.box("walk"), right=False)
    proposal = drag.to(editor.view, *walk)
    assert proposal.hint == "nod → place 1 of main"
    after = editor.after(proposal)
    assert order_of(after) == ["nod", "walk", "left"]
    assert [after.layout.boxes.titles[i] for i in range(3)] == ["nod", "walk", "left"]
    ((_, element),) = proposal.selects or ()
    assert after.text.shape.attributes[element]["name"] == "nod"
    into = drag.to(editor.view, walk[0], walk[1] - TITLE_PX)
    assert into.hint == "nod → place 1 of walk"
    inside = editor.after(into)
    assert (order_of(inside), order_of(inside, "walk")) == (["walk", "left"], ["nod", "left", "right"])
    copy = drag.to(editor.view, *walk, is_free=True)
    assert order_of(editor.after(copy)) == ["nod", "walk", "nod", "left"]
    assert drag.to(editor.view, *editor.corner(nod, right=False)).change is None
    behind = editor.corner(nod, right=True)
    onward = editor.drag(editor.box("walk"), Part.BODY).to(editor.view, *behind)
    assert onward.hint == "walk → place 2 of main"
    assert order_of(editor.after(onward)) == ["nod", "walk", "left"]


def test_a_score_never_contains_itself() -> None:
    editor = Editor(score(WALK, procedure("turn", 'walk duration="1"', 'nod duration="1"'),
                          procedure("main", 'turn duration="4"', 'walk duration="4"')))
    turn = editor.box("turn")
    drag = editor.drag(turn, Part.BODY)
    x, y = editor.corner(editor.box("left", 1), right=False)
    proposal = drag.to(editor.view, x, y)
    assert proposal.hint == "turn → place 1 of walk"
    with pytest.raises(EditError, match=r"this would break the score: .*turn"):
        editor.tried(proposal)


def test_several_are_carried_together() -> None:
    editor = Editor(score(procedure("main", *(f'{name} duration="2"' for name in ("left", "right", "nod", "left")))))
    chosen = frozenset(editor.layout.id_of(i) for i in (0, 2))
    drag = begin(editor.layout, editor.hit(0, Part.BODY), editor.scores, selected=chosen)
    assert isinstance(drag, Carry)
    proposal = drag.to(editor.view, float(editor.view.x(np.array((8.0,)))[0]), editor.corner(3, right=False)[1])
    after = editor.after(proposal)
    assert order_of(after) == ["right", "left", "left", "nod"]
    assert [after.text.shape.attributes[element]["name"] for _, element in proposal.selects or ()] == ["left", "nod"]


def test_commands() -> None:
    editor = Editor(score(WALK, MAIN))
    layout, scores = editor.layout, editor.scores
    nod, walk = (frozenset((layout.id_of(editor.box(name)),)) for name in ("nod", "walk"))
    assert order_of(editor.after(commands.remove(layout, nod, scores))) == ["walk", "left"]
    assert order_of(editor.after(commands.duplicate(layout, nod, scores))) == ["walk", "nod", "nod", "left"]
    grouped = editor.after(commands.group(layout, nod | walk, scores))
    assert (order_of(grouped), order_of(grouped, "part_1")) == (["part_1", "left"], ["walk", "nod"])
    inlined = commands.dissolve(grouped.layout, grouped.box("part_1"), grouped.scores)
    dissolved = grouped.after(inlined)
    assert order_of(dissolved) == ["walk", "nod", "left"]
    for proposal, after, names in ((commands.group(layout, nod | walk, scores), grouped, ["part_1"]),
                                   (inlined, dissolved, ["walk", "nod"])):
        selected = [after.text.shape.attributes[number] for _, number in proposal.selects or ()]
        assert [each["name"] for each in selected] == names  # what was made is selected
    assert str(dissolved.text) == str(editor.text)  # nothing is left of what was made
    text = commands.copied(layout, nod | walk)
    gap = drop_at(layout, editor.view, 1190.0, editor.corner(0, right=False)[1])
    assert gap is not None
    assert order_of(editor.after(commands.paste(layout, gap, text, scores))) == ["walk", "nod", "left", "walk", "nod"]
    assert commands.paste(layout, gap, "no calls", scores).refusal == "there are no calls in the clipboard"
    assert commands.remove(layout, frozenset(), scores).refusal == "nothing is selected"
    last = frozenset((layout.id_of(editor.box("left")),))
    assert "follow each other" in commands.group(layout, walk | last, scores).refusal


@pytest.mark.parametrize(("name", "calls", "stays"), [("part_1", 1, False), ("part_1", 2, True), ("walk", 1, True)])
def test_what_is_dissolved_goes_with_its_last_call_unless_somebody_has_named_it(
        name: str, calls: int, stays: bool) -> None:
    made = procedure(name, 'left duration="1"', 'right duration="3"')
    editor = Editor(score(made, procedure("main", *(f'{name} duration="2"',) * calls, 'nod duration="1"')))
    proposal = commands.dissolve(editor.layout, editor.box(name), editor.scores)
    after = editor.after(proposal)
    assert order_of(after)[:2] == ["left", "right"]
    assert (f'<procedure name="{name}"' in str(after.text)) == stays
    assert [after.text.shape.attributes[element]["name"] for _, element in proposal.selects or ()] == ["left", "right"]


def test_a_clip_is_put_in_with_its_file() -> None:
    editor = Editor(score(MAIN, WALK, tick=0.5))
    gap = drop_at(editor.layout, editor.view, 1190.0, editor.corner(0, right=False)[1])
    assert gap is not None
    known = commands.insert(editor.layout, gap, commands.Playable("feet.Steps", "nod", 1.4), editor.scores)
    assert '<call name="nod" duration="3"/>' in str(editor.tried(known).edited[None].text)
    ((_, element),) = known.selects or ()
    assert editor.after(known).text.shape.attributes[element] == {"name": "nod", "duration": "3"}


def test_bare_names_are_told_apart_when_a_file_brings_them_too() -> None:
    text = Text.of(score(WALK, MAIN))
    steps, _ = STEPS.clips("feet.Steps")
    scores = Scores.of((text,), library(feet_Steps=steps, more_Steps=steps[:1]))
    layout = lay_out(expand(resolve(read(text), scores)))
    name, other = steps[0].name, steps[1].name
    gap = drop_at(layout, VIEW, 500.0, 200.0)
    assert gap is not None
    proposal = commands.insert(layout, gap, commands.Playable("more.Steps", name, 1.0), scores)
    assert proposal.change is not None
    made = str(attempt(scores, None, proposal.change).edited[None].text)
    assert f'name="{name}"' not in made and made.count(f'name="more.Steps.{name}"') == 1
    assert made.count(f'name="feet.Steps.{name}"') == str(text).count(f'name="{name}"') > 0
    assert made.count(f'name="{other}"') == str(text).count(f'name="{other}"') > 0


def test_the_first_clip_of_an_empty_score() -> None:
    text = Text.of('<pha tickLength="0.5">\n  <procedure name="main">\n  </procedure>\n</pha>\n')
    scores = Scores.of((text,), STEPS)
    layout = empty(read(text))
    gap = drop_at(layout, VIEW, 500.0, 200.0)
    assert gap is not None
    proposal = commands.insert(layout, gap, commands.Playable("feet.Steps", "nod", 1.0), scores)
    assert proposal.change is not None
    made = attempt(scores, None, proposal.change)
    assert str(made.edited[None].text) == (
        '<pha tickLength="0.5">\n  <load src="feet.Steps"/>\n  <procedure name="main">\n'
        '    <call name="nod" duration="2"/>\n  </procedure>\n</pha>\n')
    ((_, element),) = proposal.selects or ()
    assert made.edited[None].text.shape.tags[element] == "call"


def test_splitting_at_a_tick() -> None:
    editor = Editor(score(WALK, MAIN))
    nod = editor.box("nod")
    after = editor.after(arrange.split(editor.layout, nod, 8.25, editor.scores))
    assert [(call.name, call.attribute("duration"), call.attribute("to"), call.attribute("repeat"))
            for call in calls_in(after, "main")] == [
        ("walk", "2", "", "3"), ("nod", "1", "", "2"), ("nod", "0.25", "0.25", ""), ("nod", "0.75", "", ""),
        ("nod", "1", "", ""), ("left", "2", "", "")]
    np.testing.assert_allclose(after.layout.ticks, editor.layout.ticks)
    assert "not within" in arrange.split(editor.layout, nod, 2.0, editor.scores).refusal
    assert "is no clip" in arrange.split(editor.layout, editor.box("walk"), 1.0, editor.scores).refusal


def test_beside_each_other() -> None:
    editor = Editor(score(WALK, MAIN))
    nod = frozenset((editor.layout.id_of(editor.box("nod")),))
    proposal = arrange.beside(editor.layout, nod, "head", editor.scores)
    after = editor.after(proposal)
    assert after.layout.lanes == ("main", "head")
    boxes = after.layout.boxes
    assert [boxes.titles[i] for i in np.flatnonzero(boxes.lane == 1)] == ["nod"]
    walk = frozenset((editor.layout.id_of(editor.box("walk")),))
    assert "no call before" in arrange.beside(editor.layout, walk, "head", editor.scores).refusal


@pytest.mark.parametrize(("first", "second"), [(3, 5), (5, 3), (4, 4)])
def test_of_calls_beside_each_other_the_shorter_is_said_to_play_slower(first: int, second: int) -> None:
    editor = Editor(score(procedure("main", f'left duration="{first}"', f'nod duration="{second}"')))
    nod = frozenset((editor.layout.id_of(editor.box("nod")),))
    proposal = arrange.beside(editor.layout, nod, "left_arm", editor.scores)
    boxes = editor.after(proposal).layout.boxes
    lasts = {title: float(length) for title, length in zip(boxes.titles, boxes.length, strict=True)}
    slower = [title for title, before in (("left", first), ("nod", second)) if lasts[title] > before + 1e-9]
    assert lasts["left"] == lasts["nod"] == max(first, second)
    said = [f"; played slower: {title}, over 5 ticks instead of 3" for title in slower]
    assert proposal.hint == "beside each other: left arm" + "".join(said)
    assert len(slower) == (first != second)


def test_a_place_of_its_own() -> None:
    editor = Editor(score(WALK, procedure("main", 'walk duration="4"', 'nod duration="1"', 'walk duration="4"')))
    second = editor.box("left", 1)
    after = editor.after(arrange.make_single(editor.layout, second, editor.scores))
    names = [call.name for call in calls_in(after, "main")]
    assert names[:2] == ["walk", "nod"]
    assert names[2] != "walk"
    proposal = after.drag(after.box("left", 1), Part.RIGHT_EDGE).to(after.view, 900.0, 300.0)
    assert "places" not in proposal.hint
    assert "plays only once" in arrange.make_single(editor.layout, editor.box("nod"), editor.scores).refusal


def test_values_of_the_sidebar() -> None:
    editor = Editor(score(WALK, MAIN))
    nod = frozenset((editor.layout.id_of(editor.box("nod")),))
    mirrored = editor.after(arrange.set_value(editor.layout, nod, "mirror", "yes", editor.scores))
    assert str(mirrored.text).startswith('<pha tickLength="1.0" version="2">')
    assert "nod ⇄" in mirrored.layout.boxes.titles
    again = arrange.set_value(mirrored.layout, frozenset((mirrored.layout.id_of(mirrored.box("nod ⇄")),)), "duration",
                              "2 * 3", mirrored.scores)
    calculated = mirrored.after(again)
    box = calculated.box("nod ⇄")
    assert calculated.layout.boxes.length[box] == 24.0
    pulled = calculated.drag(box, Part.RIGHT_EDGE).to(calculated.view, 600.0, 300.0)
    assert pulled.question.startswith("duration is “2 * 3”, an expression; replace it by ")
    assert changed(calculated.tried(pulled).edited[None]).startswith("[2 * 3]")
    gone = arrange.set_value(editor.layout, nod, "repeat", "", editor.scores)
    assert changed(editor.tried(gone).edited[None]) == '[ repeat="4"]'


LANES = ('<pha version="2" tickLength="1"><load src="feet.Steps"/><procedure name="main"><together duration="8"><lane>'
         '<call name="left" duration="1"/></lane><lane body="head" weight="0.5" ease="1">'
         '<call name="nod" duration="1"/></lane></together><call name="left" duration="8"/></procedure></pha>')


@pytest.mark.parametrize(("title", "expected", "ticks"), [("left", 5.0, 6.0), ("nod", 2.0, 4.0)])
def test_edges_in_lanes_of_a_block_without_a_duration(title: str, expected: float, ticks: float) -> None:
    """The longest lane makes the block longer; in another one a call takes from what is beside it."""
    editor = Editor('<pha version="2" tickLength="1"><load src="feet.Steps"/><procedure name="main"><together><lane>'
                    '<call name="left" duration="3"/></lane><lane body="head"><call name="nod" duration="1"/>'
                    '<call name="right" duration="2"/></lane></together><call name="right" duration="1"/></procedure>'
                    '</pha>'.replace('"2"/></lane>', '"1"/></lane>'))
    box = editor.box(title)
    x = float(editor.view.x(np.array((expected,)))[0])
    after = editor.after(editor.drag(box, Part.RIGHT_EDGE).to(editor.view, x, 300.0))
    assert after.layout.boxes.length[box] == pytest.approx(expected)
    assert after.layout.ticks == pytest.approx(ticks)


@pytest.mark.parametrize(("is_right", "right_px", "up_px", "expected", "said"), [
    (False, 70.0, 3.0, ' easeIn="2"', "head: eases in over 2 ticks, 2 s"),
    (True, -140.0, -3.0, ' easeOut="3"', "head: eases out over 3 ticks, 3 s"),
    (True, 2.0, 1000.0, ' weightEnd="1"', "head: weight 1 at its end"),
    (False, 2.0, -1000.0, '[0.5]0 [] weightEnd="0.5"', "head: weight 0"),
])
def test_weights_and_eases(is_right: bool, right_px: float, up_px: float, expected: str, said: str) -> None:
    editor = Editor(LANES)
    editor.view = VIEW.framed(0.0, 8.0 + 8.0)
    line = weight_line(editor.layout.voices[1], editor.view, Stripes.of(editor.layout, editor.view))
    x, y = line[2 if is_right else 1].tolist()
    found = hit(editor.layout, editor.view, x, y)
    assert (found.part, found.voice, found.is_right) == (Part.WEIGHT, 1, is_right)
    drag = begin(editor.layout, found, editor.scores)
    assert drag is not None
    proposal = drag.to(editor.view, x + right_px, y + up_px)
    assert expected in changed(editor.tried(proposal).edited[None]) and proposal.hint == said
    assert drag.to(editor.view, x, y).change is None


def test_a_text_that_changed_under_the_hand() -> None:
    editor = Editor(score(WALK, MAIN))
    proposal = editor.drag(editor.box("nod"), Part.RIGHT_EDGE).to(editor.view, 900.0, 300.0)
    other = Scores.of((Text.of(score(MAIN, WALK)),), STEPS)
    assert proposal.change is not None
    with pytest.raises(EditError, match="the text has changed in between; try again"):
        attempt(other, None, proposal.change)


def test_what_is_included_is_locked() -> None:
    editor = Editor(score(WALK, MAIN))
    none = Scores.of((), STEPS)
    drag = begin(editor.layout, editor.hit(0, Part.RIGHT_EDGE), none)
    assert isinstance(drag, PullEdge)
    proposal = drag.to(editor.view, 500.0, 300.0)
    assert proposal.refusal == "this is in another file, which is included: open it in the sidebar (N) to change it"
    assert commands.remove(editor.layout, frozenset((editor.layout.id_of(0),)), none).refusal


def test_kinds_of_boxes_are_told_apart() -> None:
    layout = Editor(score(WALK, MAIN)).layout
    assert {Kind(kind) for kind in layout.boxes.kind.tolist()} == {Kind.CLIP, Kind.PROCEDURE}


def beside(editor: Editor, box: int) -> list[int]:
    """The boxes of the same run of the same procedure, in order of time."""
    boxes = editor.layout.boxes
    outer = int(boxes.parent[box])
    run = boxes.length[outer] / boxes.repeat[outer]
    cycle = np.floor((boxes.begin - boxes.begin[outer]) / run + 1e-9)
    inside = np.flatnonzero((boxes.parent == outer) & (cycle == cycle[box]))
    found: list[int] = inside[np.argsort(boxes.begin[inside], kind="stable")].tolist()
    return found


def named_lengths(editor: Editor, numbers: list[int]) -> list[tuple[str, float]]:
    boxes = editor.layout.boxes
    return [(boxes.titles[i], round(float(boxes.length[i]), 3)) for i in numbers]


@pytest.mark.parametrize("seed", range(40))
def test_what_comes_into_a_procedure_and_goes_leaves_all_else_as_long_as_it_is(seed: int) -> None:
    rng = random.Random(seed)
    editor = Editor(random_score(rng))
    boxes = editor.layout.boxes
    inner = [i for i in range(len(boxes)) if boxes.parent[i] >= 0 and len(beside(editor, i)) > 1]
    if not inner:
        return
    box = rng.choice(inner)
    there, selected = beside(editor, box), frozenset((editor.layout.id_of(box),))
    before, first, at = named_lengths(editor, there), float(boxes.begin[there[0]]), there.index(box)
    for proposal, expected in (
            (commands.remove(editor.layout, selected, editor.scores), before[:at] + before[at + 1:]),
            (commands.duplicate(editor.layout, selected, editor.scores), before[:at + 1] + before[at:])):
        if editor.layout.occurrences_of(box).tolist() != [i for i in editor.layout.occurrences_of(box) if i in there]:
            continue  # it plays elsewhere too, perhaps before
        after = editor.after(proposal)
        again = next(i for i in range(len(after.layout)) if after.layout.boxes.parent[i] >= 0 and abs(
            float(after.layout.boxes.begin[i]) - first) < 1e-6 and named_lengths(after, [i]) == expected[:1])
        assert named_lengths(after, beside(after, again)) == expected


def test_calls_carried_in_and_out_take_their_time_along() -> None:
    editor = Editor(score(WALK, MAIN))
    right, nod = editor.box("right"), editor.box("nod")
    carry = Carry.of(editor.layout, right, frozenset((editor.layout.id_of(right),)), editor.scores)
    x, y = editor.corner(nod, right=False)
    out = carry.to(editor.view, x, y)
    assert changed(editor.tried(out).edited[None]).startswith("[2]0.5"), "a fourth of the walk is left"
    carry = Carry.of(editor.layout, nod, frozenset((editor.layout.id_of(nod),)), editor.scores)
    x, y = editor.corner(right, right=True)
    copied = carry.to(editor.view, x, y, is_free=True)
    assert changed(editor.tried(copied).edited[None]).startswith("[2]4"), "4 ticks of a nod, half a second each"
    gap = carry.drop(editor.view, x, y)
    assert gap is not None
    pasted = commands.paste(editor.layout, gap, '<call name="nod" duration="2" repeat="2"/>', editor.scores)
    assert changed(editor.tried(pasted).edited[None]).startswith("[2]4")


@pytest.mark.parametrize("name", ["&quot;hi&quot;&apos;now&apos;", "🕺💃é", "a&lt;b&amp;c", "x" * 300])
@pytest.mark.parametrize(("short", "long"), [("1", "2"), ("0.000001", "1000000")])
def test_names_and_lengths_of_all_kinds_can_be_edited_and_taken_back(name: str, short: str, long: str) -> None:
    editor = Editor(score(procedure(name, f'left duration="{short}"', f'right duration="{long}"'), procedure(
        "main", f'{name} duration="{long}"', f'nod duration="{short}"', f'{name} duration="{short}"')))
    layout, scores, title = editor.layout, editor.scores, read(editor.text).procedures[0].name
    assert title in layout.boxes.titles
    chosen = frozenset((layout.id_of(layout.boxes.titles.index(title)),))
    proposals = [
        commands.remove(layout, chosen, scores), commands.duplicate(layout, chosen, scores),
        commands.group(layout, chosen, scores), commands.dissolve(layout, editor.box(title), scores),
        editor.drag(editor.box(title), Part.REPEAT).to(editor.view, 5000.0, 300.0),
        editor.drag(editor.box(title), Part.RIGHT_EDGE).to(editor.view, 5000.0, 300.0),
        editor.drag(editor.box("nod"), Part.RIGHT_EDGE).to(editor.view, 1190.0, 300.0, is_free=True),
        editor.drag(editor.box("nod"), Part.BODY).to(editor.view, 0.0, editor.corner(0, right=False)[1]),
    ]
    for proposal in proposals:
        assert not proposal.refusal
        (edited,) = editor.tried(proposal).edited.values()
        assert apply(edited.text, *edited.inverse).text == editor.text != edited.text


def test_what_cannot_be_pulled_says_so_before_as_when_it_is_pulled() -> None:
    body = '<together duration="4"><lane><call name="left" duration="2"/></lane></together>'
    loop = '<loop times="2"><call name="walk" duration="2"/></loop><call name="left" duration="1" repeat="3"/>'
    text = score(WALK, f'<procedure name="main">{body}{loop}</procedure>')
    editor = Editor(text.replace("<pha", '<pha version="2"'))
    said = set()
    pixels = [(x, y) for x in np.linspace(0.0, 1200.0, 301).tolist() for y in np.linspace(0.0, 380.0, 39).tolist()]
    for found in {hit(editor.layout, editor.view, *at) for at in pixels}:
        gesture, before = begin(editor.layout, found, editor.scores), why_not(editor.layout, found, editor.scores)
        if gesture is not None and found.part is not Part.BODY:
            assert gesture.to(editor.view, float(editor.view.x(np.array((found.tick,)))[0]) + 40.0, 300.0
                              ).refusal == before
        said.add(before)
    assert {words.partition(";")[0] for words in said} >= {
        "", "a loop lasts as long as what is in it", "between repetitions transitions are automatic"}
