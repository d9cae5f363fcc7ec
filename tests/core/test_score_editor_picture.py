"""The picture of the score editor: it shows what is in view and nothing else, and nothing makes it raise."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.music.waveform import Waveform
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.score_editor.drawing import Marked, picture, playhead_layer, scrollbar_layer
from takt.core.score_editor.drop import drop_at
from takt.core.score_editor.gestures import hit
from takt.core.score_editor.grid import Meter, bar_labels, lines, second_labels, snapped, step
from takt.core.score_editor.layout import BoxId, Layout, empty, lay_out, windows_of
from takt.core.score_editor.overlay import AtMouse, overlay
from takt.core.score_editor.picture import Layer, Picture, about_as_wide, clipped
from takt.core.score_editor.sound import sound_layer
from takt.core.score_editor.stripes import Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.tests.core.scores import STEPS, UP_Z, procedure, programme, score, sequence
from takt.tests.core.test_pha_origins import random_score

WALK = procedure("walk", 'left duration="1" transition="0.2"', 'right duration="3"')
MAIN = procedure("main", 'walk duration="2" repeat="3"', 'nod duration="1" repeat="4"')
LIGHT = Theme(ground=(0.8, 0.8, 0.8, 1.0), text=(0.0, 0.0, 0.0, 1.0))
SIZES = st.floats(0.0, 4000.0)


def laid_out(*procedures: str) -> Layout:
    return lay_out(sequence(*procedures))


def words(drawn: Picture) -> list[str]:
    return [text.words for layer in drawn.layers for text in layer.texts]


def check(layer: Layer) -> None:
    """All numbers are numbers that a screen can draw, and no rectangle is inside out."""
    boxes = layer.rectangles.boxes
    assert np.isfinite(boxes).all()
    assert (np.abs(boxes) < 1e6).all()
    assert (boxes[:, 2] >= boxes[:, 0]).all()
    for colours in (layer.rectangles.fill, layer.rectangles.outline, layer.triangles.colours):
        assert ((colours >= 0.0) & (colours <= 1.0)).all()
    assert np.isfinite(layer.triangles.corners).all()
    assert len(layer.triangles.corners) == len(layer.triangles.colours)
    assert len(layer.triangles.corners) % 3 == 0
    assert all(np.isfinite((text.x, text.y, text.size)).all() for text in layer.texts)


def test_only_an_empty_score_says_what_to_do_first() -> None:
    said = {name: [each for each in words(picture(layout, View(800.0, 300.0))) if each.startswith("Drag clips here")]
            for name, layout in (("empty", empty(parse(score(MAIN)))), ("full", laid_out(WALK, MAIN)))}
    assert len(said["empty"]) == 1 and not said["full"]


def test_titles_and_lengths() -> None:
    layout = laid_out(WALK, MAIN)
    view = View(1200.0, 300.0).framed(0.0, layout.ticks)
    drawn = picture(layout, view, playhead=5.0)
    found = words(drawn)
    assert {"walk ×3", "6", "nod ×4", "4", "left", "right", "main", "bar", "2.2"} <= set(found)
    boxes = drawn.layers[1].rectangles.boxes
    np.testing.assert_allclose(boxes[:2, 0], np.round(view.x(np.array((0.0, 6.0)))))
    for layer in drawn.layers:
        check(layer)


def test_only_what_is_in_view_is_drawn() -> None:
    layout = laid_out(procedure("main", *['nod duration="1"'] * 2000))
    whole = picture(layout, View(1000.0, 300.0).framed(0.0, layout.ticks))
    near = picture(layout, View(1000.0, 300.0, first_tick=500.0, px_per_tick=91.6))
    assert len(near.layers[1].rectangles) == 10
    assert len(whole.layers[1].rectangles) <= 1000 / 3 + 2
    assert len(words(near)) < 60


def test_windows_are_those_of_the_motion() -> None:
    motion = play(programme(WALK, MAIN), Performer(None, UP_Z), Settings(method="END"))
    layout = lay_out(sequence(WALK, MAIN), windows_s=windows_of(motion))
    seams = layout.seams
    np.testing.assert_allclose(seams.begin, motion.row.layout.window_begin_s[:-1])
    np.testing.assert_allclose(seams.end, seams.tick)
    added = play(programme(WALK, MAIN), Performer(None, UP_Z), Settings(method="APPEND"))
    behind = lay_out(sequence(WALK, MAIN), windows_s=windows_of(added)).seams
    np.testing.assert_allclose(behind.begin, behind.tick)
    np.testing.assert_allclose(behind.end - behind.begin, added.transitions_s[:-1])


def test_selection_lights_up_all_places() -> None:
    layout = laid_out(WALK, MAIN)
    view = View(1200.0, 300.0).framed(0.0, layout.ticks)
    left = next(i for i, title in enumerate(layout.boxes.titles) if title == "left")
    plain = picture(layout, view).layers[1].rectangles
    chosen = picture(layout, view, marked=Marked(selected=frozenset((layout.id_of(left),)))).layers[1].rectangles
    added = chosen.outline[len(plain):]
    assert added[:, 3].tolist() == [0.45, 0.45, 1.0]
    wrong = picture(layout, view, marked=Marked(errors=frozenset((BoxId(0, 3),)))).layers[1].rectangles
    assert tuple(wrong.outline[-1]) == Theme().error


def test_a_mistake_shows_within_the_edge_of_what_is_selected() -> None:
    layout = laid_out(WALK, MAIN)
    view = View(1200.0, 300.0).framed(0.0, layout.ticks)
    left = next(i for i, title in enumerate(layout.boxes.titles) if title == "left")
    box = layout.id_of(left)
    shown = picture(layout, view, marked=Marked(selected=frozenset((box,)), errors=frozenset((box,)))).layers[1]
    is_wrong, is_selected = (np.flatnonzero((shown.rectangles.outline == colour).all(axis=1))
                             for colour in (Theme().error, Theme().selected))
    (edge,) = shown.rectangles.boxes[is_selected]
    inside = shown.rectangles.boxes[is_wrong]
    assert ((inside[:, :2] >= edge[:2] + 2.0) & (inside[:, 2:] <= edge[2:] - 2.0)).all(axis=1).any()


@pytest.mark.parametrize("theme", [Theme(), LIGHT])
def test_words_stand_out_from_their_boxes(theme: Theme) -> None:
    fills = theme.fills(np.arange(12), np.arange(12) % 8, np.arange(12) % 2 == 0)[:, :3]
    text = np.array(theme.text[:3] if theme.is_dark else (0.05, 0.05, 0.05))
    light, dark = (np.maximum(luminance(fills), luminance(text)), np.minimum(luminance(fills), luminance(text)))
    assert ((light + 0.05) / (dark + 0.05)).min() >= 3.0


def luminance(colours: np.ndarray) -> np.ndarray:
    """WCAG 2.1, relative luminance."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array((0.2126, 0.7152, 0.0722)))


@pytest.mark.slow
@given(SIZES, SIZES, st.floats(-1e7, 1e7), st.floats(1e-9, 1e9), st.floats(0.0, 5e3), st.floats(0.5, 4.0),
       st.floats(-1e4, 1e4), st.floats(-1e4, 1e4), st.integers(0, 30))
@settings(deadline=None, max_examples=200)
def test_nothing_is_raised(width: float, height: float, first: float, wide: float, scroll: float, scale: float,
                           x: float, y: float, seed: int) -> None:
    layout = lay_out(expand(resolve(parse(random_score(random.Random(seed))), STEPS)))
    view = View(width, height, first, wide, scroll, scale)
    for seen in (view, view.zoomed(3.0, x).panned(7.0, 9.0), view.framed(0.0, layout.ticks)):
        drawn = picture(layout, seen, LIGHT, Marked(selected=frozenset((layout.id_of(0),)), is_stale=True),
                        meter=Meter(seed % 7 + 1), playhead=x)
        found = hit(layout, seen, x, y)
        for layer in (*drawn.layers, overlay(layout, seen, Theme(), AtMouse(x, y, "words", carried="nod"), gap=drop_at(
                layout, seen, x, y), hovered=found)):
            check(layer)
        if found.box is not None:
            assert found.box < len(layout)


@pytest.mark.parametrize("lengths", [("0.000001", "1000000"), ("1e-300", "1"), ("1e300", "1e300")])
def test_lengths_beyond_all_bounds(lengths: tuple[str, str]) -> None:
    layout = laid_out(procedure("main", *[f'nod duration="{length}"' for length in lengths]))
    for view in (View(800.0, 200.0), View(20.0, 20.0), View(800.0, 200.0).framed(0.0, layout.ticks),
                 View(800.0, 200.0).framed(0.0, 1e-7)):
        for layer in picture(layout, view, playhead=0.0).layers:
            check(layer)
        hit(layout, view, 100.0, 100.0)


def test_a_thousand_procedures_and_names_of_all_kinds() -> None:
    names = [f"p{i} &quot;&lt;🕺é{'x' * (i % 90)}" for i in range(1000)]
    layout = laid_out(*(procedure(name, 'nod duration="1"') for name in names),
                      procedure("main", *(f'{"p"} duration="1"'.replace("p", "nod", 1) for _ in range(3))))
    assert len(layout) == 3
    source = score(*(procedure(name.replace(" ", "_"), 'nod duration="1"') for name in names),
                   procedure("main", *(f'{name.replace(" ", "_")} duration="1"' for name in names)))
    layout = lay_out(expand(resolve(parse(source), STEPS)))
    assert len(layout) == 2000
    for view in (View(1000.0, 400.0).framed(0.0, layout.ticks), View(1000.0, 400.0, px_per_tick=300.0)):
        for layer in picture(layout, view).layers:
            check(layer)


def test_an_empty_score_can_be_shown() -> None:
    document = parse('<pha tickLength="1"><procedure name="main"/></pha>')
    layout = empty(document)
    view = View(500.0, 300.0)
    for layer in picture(layout, view, playhead=0.0).layers:
        check(layer)
    assert "main" in words(picture(layout, view))
    gap = drop_at(layout, view, 100.0, 100.0)
    assert gap is not None
    assert (gap.parent, gap.index) == (1, 0)


@given(st.floats(0.001, 1e4), st.integers(1, 16), st.floats(0.0, 1e5))
@settings(deadline=None)
def test_lines_and_labels(wide: float, bar: int, first: float) -> None:
    view, meter = View(1000.0, 300.0, first, wide), Meter(bar)
    ticks, rank = lines(view, meter)
    apart = step(view, meter)
    assert len(ticks) < 300
    assert (np.abs(ticks / apart - np.round(ticks / apart)) < 1e-6).all()
    assert ((rank == 2) <= (np.abs(ticks / bar - np.round(ticks / bar)) < 1e-5)).all()
    labels, names = bar_labels(view, meter)
    assert (np.diff(labels) * wide >= 30.0).all()
    ticks_of = [[int(part) for part in name.split(".")] for name in names]
    assert [(of[0] - 1) * bar + (of[1] - 1 if len(of) > 1 else 0) for of in ticks_of] == np.round(labels).tolist()
    assert all(len(of) == 1 or 1 < of[1] <= bar for of in ticks_of)
    times, texts = second_labels(view, first, view.last_tick)
    assert len(times) == len(texts) <= 20
    assert abs(snapped(first, view, meter) - first) <= 0.5


@given(st.text(max_size=40), st.floats(-10.0, 500.0))
def test_clipped_words_fit(text: str, room: float) -> None:
    found = clipped(text, room, 11.0, about_as_wide)
    assert not found or about_as_wide(found, 11.0) <= room
    assert found in ("", text) or text.startswith(found[:-1])


def test_a_scrollbar_is_there_where_lanes_are_hidden_and_ends_with_them() -> None:
    view = View(900.0, 300.0)
    assert not len(scrollbar_layer(view, Theme(), 220.0, 70.0).rectangles)
    for scroll in (0.0, 60.0, 120.0, 500.0):
        kept = replace(view, scroll_px=scroll).scrolled_within(350.0, 70.0)
        assert kept.scroll_px == min(scroll, 120.0)
        (left, low, right, high), = scrollbar_layer(kept, Theme(), 350.0, 70.0).rectangles.boxes.tolist()
        assert 890.0 < left < right < 900.0
        assert (300.0 - 36.0 - high) / (high - low) == pytest.approx(kept.scroll_px / (300.0 - 36.0 - 70.0))
        assert low >= 70.0 - 1e-9 and (scroll < 120.0 or low == pytest.approx(70.0))


def test_stripes_lie_below_each_other() -> None:
    text = ('<pha version="2" tickLength="1"><load src="feet.Steps"/><music src="song"/><procedure name="main">'
            '<together><lane><call name="nod" duration="4"/></lane><lane body="head"><call name="left" duration="1"/>'
            '</lane></together></procedure></pha>')
    layout = lay_out(expand(resolve(parse(text), STEPS)))
    view = View(900.0, 400.0)
    stripes = Stripes.of(layout, view)
    assert stripes.music is not None
    edges = [stripes.ruler[0], stripes.music[1], stripes.music[0], *np.stack(
        (stripes.lane_high, stripes.lane_low), axis=-1).ravel().tolist()]
    assert edges == sorted(edges, reverse=True)
    assert stripes.lane_at(float(stripes.lane_low[1]) + 1.0) == 1
    down = Stripes.of(layout, view.panned(0.0, 50.0))
    np.testing.assert_allclose(down.lane_low, stripes.lane_low + 50.0)
    check(playhead_layer(2.0, view, Theme(), Meter()))


def test_music_lies_under_its_ticks() -> None:
    text = ('<pha version="2" tickLength="0.5"><load src="feet.Steps"/><music src="songs.one" offset="1"/>'
            '<procedure name="main"><call name="nod" duration="8"/></procedure></pha>')
    layout = lay_out(expand(resolve(parse(text), STEPS)))
    samples = np.zeros(8000)
    samples[2000:3000] = 1.0  # from 1 s to 2 s of the score, which begins 1 s into the music
    wave, view = Waveform.of(samples, 1000.0), View(900.0, 300.0).framed(0.0, 8.0)
    layer = sound_layer(wave, layout, view, Theme())
    check(layer)
    boxes = layer.rectangles.boxes[:-1]  # without the ground of the name
    begin, end = view.x(np.array((2.0, 4.0)))
    np.testing.assert_allclose((boxes[:, 0].min(), boxes[:, 2].max()), (begin, end), atol=12.0)
    stripes = Stripes.of(layout, view)
    assert stripes.music is not None
    assert boxes[:, 1].min() > stripes.music[0]
    assert boxes[:, 3].max() < stripes.music[1]
    assert [each.words for each in layer.texts] == ["songs.one"]
    assert len(sound_layer(None, layout, view, Theme()).rectangles) == 1
    assert not sound_layer(wave, laid_out(WALK, MAIN), view, Theme()).texts
    for seen in (View(20.0, 20.0), View(900.0, 300.0, -1e6, 1e7), View(900.0, 300.0, 0.0, 1e-6)):
        check(sound_layer(wave, layout, seen, Theme()))
