"""Beats of music that we play ourselves: found where they were played, laid as ticks, drawn as a waveform."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.errors import TaktError
from takt.core.maths.arrays import FloatArray
from takt.core.music.beats import find_beats
from takt.core.music.grid import Grid, TempoChange, fit_grid
from takt.core.music.onsets import find_onsets
from takt.core.music.waveform import Waveform
from takt.tests.core.drum_loops import RATE, f_measure, loop


@pytest.mark.slow
def test_beats_of_drums_are_found() -> None:
    measures, tempi = [], []
    for seed in range(60):
        played = loop(seed)
        found = find_beats(played.samples)
        measures.append(f_measure(found.times_s, played.beats_s))
        if played.first_s == played.last_s:
            tempi.append(abs(found.tempo_bpm * played.first_s / 60.0 - 1.0) <= 0.01)
    assert np.mean(measures) >= 0.94
    assert np.mean(np.array(measures) >= 0.95) >= 0.85
    assert np.mean(tempi) >= 0.85


def test_clicks_are_found_to_milliseconds() -> None:
    samples = np.zeros(10 * RATE)
    at = np.arange(0.5, 9.5, 0.5)
    samples[(at * RATE).astype(int)] = 1.0
    assert find_beats(samples).times_s == pytest.approx(at, abs=0.008)


@pytest.mark.parametrize("bpm", [97.0, 110.0, 125.0])
def test_beats_are_the_kicks_not_the_broad_noise_between_them(bpm: float) -> None:
    beat_s, rng = 60.0 / bpm, np.random.default_rng(1)
    samples = 0.05 * np.sin(2.0 * np.pi * 220.0 * np.arange(25 * RATE) / RATE)
    time_s, short_s = np.arange(int(0.12 * RATE)) / RATE, np.arange(int(0.03 * RATE)) / RATE
    kick = np.sin(2.0 * np.pi * (60.0 + 90.0 * np.exp(-40.0 * time_s)) * time_s) * np.exp(-18.0 * time_s)
    at = np.arange(0.73, 24.0, beat_s)
    for number, at_s in enumerate(at.tolist()):
        samples[int(at_s * RATE):][:len(kick)] += kick * (0.6 if number % 4 else 1.0)
        hat = rng.normal(size=len(short_s)) * np.exp(-120.0 * short_s)
        samples[int((at_s + beat_s / 2.0) * RATE):][:len(hat)] += 0.25 * hat
    assert f_measure(find_beats(samples).times_s, at) > 0.95


def test_beats_stay_where_a_sound_is_quieter_or_starts_later() -> None:
    played = loop(3)
    beats = find_beats(played.samples).times_s
    assert find_beats(played.samples * 0.01).times_s == pytest.approx(beats, abs=1e-6)
    later = find_beats(np.concatenate((np.zeros(64 * 128), played.samples))).times_s - 64 * 128 / RATE
    assert f_measure(later, beats) > 0.97


@pytest.mark.parametrize("samples", [np.zeros(0), np.zeros(1), np.ones(10), np.zeros(RATE)])
def test_silence_and_scraps_have_no_beats(samples: FloatArray) -> None:
    assert len(find_beats(samples).times_s) <= 1
    assert np.isfinite(find_onsets(samples).strength).all()


def test_noise_is_not_trusted() -> None:
    drums, noise = loop(0).samples, np.random.default_rng(1).normal(size=20 * RATE)
    assert find_beats(noise).confidence < 0.6 < find_beats(drums).confidence


def test_even_beats_are_one_tempo() -> None:
    assert_one_tempo(fit_grid(1.25 + 0.48 * np.arange(64.0), 0.25), 0.24)


def test_a_missed_beat_changes_nothing() -> None:
    assert_one_tempo(fit_grid(np.delete(1.25 + 0.48 * np.arange(64.0), (20, 41, 42)), 0.5), 0.48)


def assert_one_tempo(grid: Grid, tick_length_s: float) -> None:
    assert not grid.changes
    assert (grid.tick_length_s, grid.offset_s) == pytest.approx((tick_length_s, 1.25))


@given(st.floats(0.3, 1.0), st.floats(0.7, 1.4), st.integers(24, 200))
@settings(max_examples=50, deadline=None)
def test_an_even_change_of_tempo_is_one_change(length_s: float, factor: float, number: int) -> None:
    lengths = np.linspace(length_s, length_s * factor, number)
    beats = np.concatenate(((0.5,), 0.5 + np.cumsum((lengths[1:] + lengths[:-1]) / 2.0)))
    grid = fit_grid(beats, float(np.median(np.diff(beats))))
    assert len(grid.changes) <= 1
    assert np.abs(grid.seconds(np.arange(float(number))) - beats).max() <= 0.06
    if grid.changes:
        assert grid.seconds(np.arange(float(number))) == pytest.approx(beats, abs=1e-6)


def test_a_tempo_that_changes_at_once_is_followed() -> None:
    beats = np.concatenate((0.5 * np.arange(40), 20.0 + 0.4 * np.arange(40)))
    grid = fit_grid(beats, 0.5)
    assert len(grid.changes) == 3
    assert grid.seconds(np.arange(80.0)) == pytest.approx(beats, abs=0.03)


def test_a_grid_says_seconds_between_and_beyond_its_changes() -> None:
    grid = Grid(1.0, 2.0, (TempoChange(4.0, 2.0, 4.0), TempoChange(10.0, 0.5, 0.0)))
    # 4 s, then 6 s while a tick grows from 1 to 2 s, 4 s for two ticks of 2 s, half a second for each further one.
    assert grid.seconds(np.array((-1.0, 0.0, 4.0, 8.0, 10.0, 12.0))) == pytest.approx((1.0, 2.0, 6.0, 12.0, 16.0, 17.0))


@pytest.mark.parametrize("beats", [np.zeros(0), np.array((1.0,))])
def test_without_beats_there_is_no_grid(beats: FloatArray) -> None:
    with pytest.raises(TaktError, match="by hand"):
        fit_grid(beats, 0.5)


@given(st.integers(0, 3000), st.integers(1, 40), st.floats(-0.1, 0.1), st.floats(0.001, 0.5))
@settings(max_examples=100, deadline=None)
def test_a_waveform_holds_the_extremes_of_its_columns(size: int, columns: int, start_s: float, width_s: float) -> None:
    samples = np.random.default_rng(size).uniform(-1.0, 1.0, size)
    edges = np.asarray(start_s + width_s * np.arange(columns + 1.0))
    drawn = Waveform.of(samples, 8000.0).columns(edges)
    assert drawn.shape == (columns, 2)
    for (low, high), left, right in zip(drawn, edges[:-1], edges[1:], strict=True):
        # All that a column surely covers lies between what is drawn, which is never more than there is.
        first, last = int((left + width_s * 0.5) * 8000) + 64, int((right - width_s * 0.5) * 8000) - 64
        inside = samples[max(0, first):max(0, last)]
        assert not len(inside) or (low <= inside.min() and high >= inside.max())
        assert -1.0 <= low <= high <= 1.0
