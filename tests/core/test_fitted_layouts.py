"""Calls whose rounds the scene counts, as the score editor and the strip show them: one round in the time of all."""

from functools import cache

import numpy as np
import pytest

from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion
from takt.core.score_editor.contacts import contacts_of
from takt.core.score_editor.layout import lay_out, windows_of
from takt.core.score_editor.strip import Strip
from takt.tests.core.scene_rigs import FOUR
from takt.tests.core.scene_settings import CLIPS, played

TEXT = ('<call name="left_step" duration="1"/><call name="walk" to="seat" repeat="fit" duration="{}" '
        'transition="0.4"/><call name="right_step" duration="1" transition="0.2"/>'
        '<call name="left_step" duration="2"/>')
ROUNDS_S = ("1.5", "6", "11")


@cache
def motion(seconds: str) -> Motion:
    rig = FOUR[3]
    place = rig.place(np.array((0.0, 0.0, float(seconds) / 2.0)), np.array((0.0, 0.0, 1.0)))
    return played(rig, TEXT.format(seconds), seat=place)


@pytest.mark.parametrize("seconds", ROUNDS_S)
def test_a_sequence_in_one_round_is_the_score_without_its_scene(seconds: str) -> None:
    fitted = motion(seconds).sequence
    written = played(FOUR[3], TEXT.format(seconds)).sequence if seconds == "1.5" else None
    one, number = fitted.in_one_round()
    assert len(one) == 5 and len(number) == len(fitted) and (len(fitted) > 5) == (seconds != "1.5")
    np.testing.assert_allclose(one.start_s, np.cumsum((0.0, 1.0, *(float(seconds) / 2.0,) * 2, 1.0)))
    np.testing.assert_allclose(one.transition_s[[2, 3]], (0.4, 0.2))
    assert [(way.first, way.after, way.rounds) for way in one.ways] == [(1, 3, 1)]
    assert one.repeated({one.ways[0]: fitted.ways[0].rounds}).clip.tolist() == fitted.clip.tolist()
    assert number.tolist() == [0, *(1, 2) * fitted.ways[0].rounds, 3, 4]
    if written is not None:
        assert one.clip.tolist() == written.clip.tolist()


@pytest.mark.parametrize("seconds", ROUNDS_S)
def test_transitions_after_calls_that_fit_lie_where_they_play(seconds: str) -> None:
    played_here = motion(seconds)
    layout = played_here.row.layout
    one, _ = played_here.sequence.in_one_round()
    seams = lay_out(one, windows_s=windows_of(played_here)).seams
    np.testing.assert_allclose(seams.tick, np.cumsum((1.0, *(float(seconds) / 2.0,) * 2, 1.0)))
    after = np.array((len(played_here.sequence) - 3, len(played_here.sequence) - 2))
    np.testing.assert_allclose((seams.begin[2:], seams.end[2:]), (layout.window_begin_s[after],
                                                                 layout.window_end_s[after]))
    assert seams.begin[0] < 1.0 and np.ptp(seams.end[2:] - seams.begin[2:]) > 0.1
    if played_here.sequence.ways[0].rounds > 1:
        assert seams.begin[1] == seams.end[1] == pytest.approx(seams.tick[1])


@pytest.mark.parametrize("seconds", ROUNDS_S)
def test_contacts_have_the_segments_of_a_layout(seconds: str) -> None:
    found = contacts_of(motion(seconds))
    assert found is not None and found.segment.max() == 4
    assert found.shifted(np.ones(5)).begin == pytest.approx(found.begin + 1.0)
    inside = (found.segment == 1) | (found.segment == 2)
    assert found.begin[inside].min() >= 0.9 and found.begin[inside].max() < 1.0 + float(seconds)


def test_boxes_of_a_strip_do_not_overlap() -> None:
    boxes = Strip.of(motion("11")).layout.boxes
    inner = np.flatnonzero(boxes.depth == 1)
    assert [boxes.titles[box] for box in inner.tolist()] == ["left_step", "right_step"]
    assert boxes.end[inner[0]] == pytest.approx(boxes.begin[inner[1]])
    assert boxes.repeat.max() == 1


def test_the_editor_lays_out_as_many_segments_as_a_fitted_motion_has_in_one_round() -> None:
    text = TEXT.format("11")
    programme = resolve(parse(
        '<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="seat" is="place"/><procedure name="walk">'
        '<call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>'
        f'<procedure name="main">{text}</procedure></pha>'), CLIPS)
    one, _ = motion("11").sequence.in_one_round()
    assert expand(programme).clip.tolist() == one.clip.tolist()
