"""What a motion misses of the scene is red where the score asks for it: in the editor and in the strip."""

from collections.abc import Iterable

import numpy as np

from takt.core.errors import Place, Problem
from takt.core.pha.expansion import expand
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import ScenePlace, Target
from takt.core.playing.score import Settings, play
from takt.core.score_editor.drawing import Marked, picture
from takt.core.score_editor.layout import BoxId, Layout, lay_out
from takt.core.score_editor.overlay import AtMouse, overlay
from takt.core.score_editor.problems import problems_of_boxes
from takt.core.score_editor.strip import Strip
from takt.core.score_editor.stripes import Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.tests.core.test_scene_ways import BODY, UP, programme

FAR, NEAR = (ScenePlace((0.0, 0.0, z), (0.0, 0.0, 1.0)) for z in (40.0, 5.0))
ROLES = '<role name="seat" is="place"/><role name="cup" is="prop"/>'
WALKS = '<call name="walk" duration="2"/><call name="walk" to="seat" duration="8" repeat="fit"/>'
REACHES = ('\n<together><lane><call name="walk" duration="4"/></lane>\n<lane><reach for="cup" with="left hand" '
           'duration="2"/><wait duration="2"/></lane></together>')


def played(**cast: Target) -> Motion:
    return play(programme(WALKS, REACHES, roles=ROLES), Performer(BODY, UP), Settings(cast=tuple(cast.items())))


def red(layout: Layout, missed: Iterable[BoxId] = ()) -> int:
    """Return how many boxes have an edge in the colour of errors."""
    theme, view = Theme(), View(1500.0, 400.0).framed(0.0, layout.ticks)
    outlines = picture(layout, view, theme, Marked(missed=frozenset(missed))).layers[1].rectangles.outline
    return int((outlines == theme.error).all(axis=1).sum())


def titles(strip: Strip) -> list[str]:
    return [strip.layout.boxes.titles[strip.layout.find(box) or 0] for box in strip.missed]


def test_a_place_too_far_is_red_and_says_by_how_much_and_its_neighbour_on_the_line_is_not() -> None:
    strip = Strip.of(played(seat=FAR))
    (box, problem), = strip.missed.items()
    found = strip.layout.find(box)
    assert found is not None and strip.layout.boxes.begin[found] == 2.0
    assert "times as long as its clip does" in problem.message
    assert red(strip.layout, strip.missed) == 1 and red(strip.layout) == 0
    view = strip.view(900.0, 1.0)
    low, high = Stripes.of(strip.layout, view).boxes(*(np.array((getattr(strip.layout.boxes, name)[found],))
                                                       for name in ("lane", "depth")))
    y = float(low[0] + high[0]) / 2.0
    assert strip.missed_at(view, strip.x(view, 6.0), y) == problem.message
    assert not strip.missed_at(view, strip.x(view, 1.0), y)


def test_a_hand_that_does_not_get_there_is_red_and_what_is_reached_is_not() -> None:
    assert not Strip.of(played(seat=NEAR)).missed
    away = Strip.of(played(seat=NEAR, cup=ScenePlace((0.0, 9.0, 0.0), (0.0, 0.0, 1.0))))
    (box, problem), = away.missed.items()
    assert titles(away) == ["together"] and "the hand stays" in problem.message  # a strip has no lanes
    whole = lay_out(expand(programme(WALKS, REACHES, roles=ROLES)))
    (inner, again), = problems_of_boxes(whole, [problem]).items()
    assert again is problem and inner != box and whole.documents[0].text.shape.tags[inner.element] == "reach"


def test_a_role_that_nobody_plays_is_told_of_and_not_red() -> None:
    motion = played()
    notes = [problem for problem in motion.problems if "is not cast" in problem.message]
    assert notes and not any(problem.is_missed for problem in motion.problems)
    assert not Strip.of(motion).missed and problems_of_boxes(Strip.of(motion).layout, notes)


def test_of_several_problems_the_gravest_counts_and_lines_that_are_gone_have_none() -> None:
    layout = lay_out(played().sequence.in_one_round()[0])
    text = layout.documents[0].text
    last = text.shape.tags.index("together")
    place = text.place(last)
    grave, light = Problem("grave", place, is_warning=True, is_missed=True), Problem("light", place, is_warning=True)
    for said in ((grave, light), (light, grave)):
        assert problems_of_boxes(layout, said) == {BoxId(0, last): grave}
    assert place.line is not None
    assert problems_of_boxes(layout, [grave], {place.line: place.line}) == {BoxId(0, last): grave}
    assert not problems_of_boxes(layout, [grave], {}) and not problems_of_boxes(layout, [Problem("all", Place())])
    assert not problems_of_boxes(layout, [Problem("beyond", Place(None, 999))])


def test_a_long_message_at_the_mouse_has_several_lines() -> None:
    layout, view, theme = lay_out(played().sequence), View(300.0, 200.0), Theme()
    words = "one " * 60
    texts = overlay(layout, view, theme, AtMouse(150.0, 20.0, refusal=words.strip())).texts
    assert len(texts) > 3 and " ".join(text.words for text in sorted(texts, key=lambda text: -text.y)) == words.strip()
    assert all(text.x + theme.measure(text.words, text.size) <= view.width for text in texts)
