"""When feet stand, as the score editor shows it: where the motion keeps them, and switched off where one clicks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.benchmarks.join_measures import STEP_LEGS
from takt.core.clips.contacts import FootContacts
from takt.core.clips.released import Released, read_released, write_released
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.score_editor.contact_lines import said_of_contact
from takt.core.score_editor.contacts import Contacts, contacts_of
from takt.core.score_editor.drawing import picture
from takt.core.score_editor.gestures import hit
from takt.core.score_editor.hit import Part
from takt.core.score_editor.layout import Layout, lay_out, windows_of
from takt.core.score_editor.strip import Pointed, Strip
from takt.core.score_editor.stripes import CONTACT_PX, Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.samples.clips import build_clips
from takt.tests.core.scores import library, procedure, score
from takt.tests.core.test_steps import BODY, UP, danced, feet

NAMES = st.text(min_size=1).filter(lambda name: name.splitlines() == [name])
TIMES_S = st.floats(0.0, 1e4).map(lambda at_s: float(f"{at_s:.6g}"))
VARIANTS = ('walk duration="4"', 'walk duration="3" from="0.2" to="0.9"', 'walk duration="4" mirror="yes"',
            'walk duration="2" from="0.1" to="0.7" reverse="yes" mirror="yes"', 'walk duration="8" reverse="yes"')
WALK = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == "left_step")
STEP = replace(WALK, name="other")


def walked(*calls: str, **settings: object) -> Motion:
    text = score(procedure("main", *calls)).replace("<pha ", '<pha version="2" ')
    played = resolve(parse(text), library(feet_Steps=(replace(WALK, name="walk"), STEP)))
    chosen = replace(Settings(), **settings)  # type: ignore[arg-type]
    return play(played, Performer(BODY, UP), chosen)


def shown(motion: Motion) -> Contacts:
    found = contacts_of(motion)
    assert found is not None
    return found


def laid_out(motion: Motion) -> Layout:
    return lay_out(motion.sequence, windows_s=windows_of(motion), contacts=contacts_of(motion))


@given(st.lists(st.builds(Released, NAMES, st.sampled_from("lr"), TIMES_S)))
def test_what_is_written_is_read_again(released: list[Released]) -> None:
    assert read_released(write_released(released)) == tuple(released)
    assert read_released("\n".join(("", "l", "x 1 a.b", "l one a.b", "r nan a.b", write_released(released)))) == (
        tuple(released))


def test_contacts_lie_where_clips_have_them_and_steps_where_feet_are_lifted() -> None:
    motion = danced(0.25)
    contacts, tick_s = shown(motion), 1.0
    assert sorted(zip(contacts.segment.tolist(), contacts.foot.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0),
                                                                                          (1, 1)]
    np.testing.assert_allclose(contacts.begin, motion.layout.begin_s[contacts.segment] / tick_s)
    np.testing.assert_allclose(contacts.end, motion.layout.end_s[contacts.segment] / tick_s)
    assert contacts.is_on.all() and sorted(contacts.step_foot.tolist()) == [0, 1]
    times = np.linspace(0.0, motion.duration_s, 2001)
    high = feet(motion, times)[..., 1]
    for begin, end, foot in zip(contacts.step_begin, contacts.step_end, contacts.step_foot, strict=True):
        is_inside = (begin < times) & (times < end)
        assert high[is_inside, foot].max() > STEP_LEGS > 0.02 > high[~is_inside, foot].max()


@pytest.mark.slow
def test_a_contact_is_switched_off_wherever_its_clip_plays_and_on_again() -> None:
    for calls in (VARIANTS[:1] * 2, VARIANTS):
        contacts = shown(walked(*calls))
        assert len(contacts) >= 2 * len(calls)
        for contact in range(len(contacts)):
            off = contacts.switched(contact, ())
            again = shown(walked(*calls, released=off))
            same = (contacts.own_foot == contacts.own_foot[contact]) & (
                contacts.own_s == contacts.own_s[contact]).all(axis=1)
            order = np.lexsort((contacts.begin, contacts.foot, contacts.segment))
            then = np.lexsort((again.begin, again.foot, again.segment))
            np.testing.assert_array_equal(again.is_on[then], ~same[order])
            np.testing.assert_allclose(again.begin[then], contacts.begin[order], atol=1e-9)
            for number in np.flatnonzero(~again.is_on).tolist():
                assert again.switched(number, off) == ()
            kept = read_released(write_released(off))
            assert not shown(walked(*calls, released=kept)).is_on.all()


def test_where_nothing_stands_feet_go_as_clips_have_them() -> None:
    calls = ('walk duration="4" transition="0"',)
    contacts = shown(walked(*calls))
    off: tuple[Released, ...] = ()
    for contact in range(len(contacts)):
        off = contacts.switched(contact, off)
    times = np.linspace(0.0, 4.0, 41)
    free, held, authored = (walked(*calls, **how).sample(times) for how in (
        {"released": off}, {}, {"lock_feet": False}))
    away, still = (rot.angle_between(each.rotations, authored.rotations) for each in (held, free))
    assert (still > 1e-6).mean() < 0.01 < (away > 1e-6).mean()  # soles stay above the ground all the same


def test_without_is_exact_about_which_contact() -> None:
    spans = np.array(((0.0, 1.0), (2.0, 3.0), (4.0, 5.0)))
    for number in range(3):
        found = FootContacts(spans, spans[1:]).without(np.array((number * 2.0 + 0.5,)))
        assert found.released.tolist() == [spans[number].tolist()]
        assert found.stands.tolist() == np.delete(spans, number, axis=0).tolist()
    assert FootContacts(spans, spans).without(np.array((1.5, 9.0))).released.shape == (0, 2)
    assert contacts_of(danced(0.25, lock_feet=False)) is None


def test_each_line_is_hit_where_it_is_drawn_and_says_what_a_click_does() -> None:
    motion = walked(*VARIANTS)
    layout = laid_out(motion)
    contacts = layout.contacts
    assert contacts is not None
    view = View(1500.0, 300.0).framed(0.0, layout.ticks)
    stripes = Stripes.of(layout, view)
    assert stripes.contacts is not None and stripes.contacts[1] <= stripes.box_low[0]
    middle, far = (view.x(contacts.begin) + view.x(contacts.end)) / 2.0, 0
    for number in range(len(contacts)):
        y = stripes.contacts[1] - (contacts.foot[number] + 0.5) * CONTACT_PX
        found = hit(layout, view, float(middle[number]), float(y))
        assert (found.part, found.contact) == (Part.CONTACT, number)
        assert ("left", "right")[contacts.foot[number]] in said_of_contact(contacts, number)
        gone = hit(layout, view, float(view.x(contacts.end[number:number + 1])[0]) + 8.0, float(y))
        far += gone.part is Part.LANE
    assert far > 0
    rectangles = picture(layout, view).layers[0].rectangles.boxes
    lines = rectangles[(rectangles[:, 3] <= stripes.contacts[1]) & (rectangles[:, 1] >= stripes.contacts[0])]
    assert len(lines) == len(contacts)


@pytest.mark.parametrize(("is_strip", "px_per_tick", "has_lines"), [(False, 40.0, True), (False, 0.1, True),
                                                                    (True, 40.0, True), (True, 0.1, False)])
def test_boxes_stand_above_the_lines_and_a_strip_without_room_has_none(is_strip: bool, px_per_tick: float,
                                                                       has_lines: bool) -> None:
    layout = laid_out(danced(0.25))
    view = View(800.0, 200.0, is_strip=is_strip, px_per_tick=px_per_tick)
    here, before = (Stripes.of(each, view) for each in (layout, replace(layout, contacts=None)))
    assert (here.contacts is not None) == has_lines and before.contacts is None
    grown = before.lane_low[0] - here.lane_low[0]
    assert (grown > 2.0 * CONTACT_PX) == has_lines and here.box_low[0] - here.lane_low[0] == pytest.approx(grown)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_strip_has_them_too_each_hit_where_it_is_drawn_and_shown_below_the_mouse(scale: float) -> None:
    strip, theme = Strip.of(walked(*VARIANTS)), Theme()
    contacts, view = strip.layout.contacts, strip.view(900.0, scale)
    stripes = Stripes.of(strip.layout, view)
    assert contacts is not None and stripes.contacts is not None and 0.0 < stripes.contacts[0]
    lines = strip.lasting(view, theme)[0].rectangles.boxes[1:]  # the first one is what they lie on
    assert len(lines) == len(contacts) and len(strip.lasting(view, theme)[0].triangles.corners)
    plain = len(strip.passing(view, theme, 0.0, None, None).rectangles.boxes)
    for number, line in enumerate(lines):
        assert strip.contact_at(view, *((line[:2] + line[2:]) / 2.0)) == number
        marked = strip.passing(view, theme, 0.0, None, Pointed(0.0, "", number)).rectangles
        assert len(marked.boxes) == plain + 1 and marked.boxes[0] == pytest.approx(line, abs=view.scale)
        assert tuple(marked.fill[0]) == theme.selected
    assert strip.contact_at(view, 450.0, view.height - 1.0) is None


def test_contacts_go_along_with_their_segments_until_they_are_known_anew() -> None:
    contacts = shown(danced(0.25))
    moved = contacts.shifted(np.array((0.0, 3.0)))
    np.testing.assert_allclose(moved.begin - contacts.begin, 3.0 * contacts.segment)
    assert not len(moved.step_begin) and len(Contacts.none().shifted(np.zeros(2))) == 0
