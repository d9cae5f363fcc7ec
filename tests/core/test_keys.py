"""core/clips/keys.py: every interpolation against its definition, many clips against each alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips import keys
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.keys import Interpolation, KeyTable, TranslationInterpolation
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.strategies import quaternions

EXACT = 1e-12
STEP_S = 1e-7
SPEED = 1e-4
"""Relative: what a difference over STEP_S keeps of a speed."""
SKELETON = Skeleton.from_arrays(("a", "b", "c"), (-1, 0, 1), rot.identities(3), np.zeros((3, 3)))


def table(*clips: Clip) -> KeyTable:
    return KeyTable.of(SKELETON, [(c.duration_s, c.is_looping, c.rotations, c.translations, c.scales) for c in clips])


def turning(times: FloatArray, values: FloatArray, joints: tuple[int, ...] = (0,), loop: bool = False,
            duration_s: float | None = None) -> Clip:
    """Make a clip of keys (F, 4) or (F, T, 4)."""
    values = values if values.ndim == 3 else values[:, None]
    return Clip("clip", SKELETON, float(times[-1]) if duration_s is None else duration_s,
                Tracks.uniform(np.array(joints), times, values), Tracks.empty(3), Tracks.empty(3), loop)


def random_clip(seed: int, joints: tuple[int, ...] = (0, 2)) -> Clip:
    """Make a clip whose joints have different key times, signs flipping at random."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 8, len(joints))
    starts = np.concatenate(((0,), np.cumsum(counts)))
    times = np.concatenate([np.sort(rng.uniform(0.0, 2.0, n)) for n in counts])
    move = np.array((joints[0],))
    return Clip("clip", SKELETON, 2.0, Tracks(np.array(joints), starts, times, rot.normalized(rng.normal(size=(
        len(times), 4)))), Tracks.uniform(move, np.array((0.0, 0.5, 2.0)), rng.normal(size=(3, 1, 3))),
        Tracks.uniform(move, np.array((0.0, 2.0)), rng.uniform(0.5, 2.0, (2, 1, 3))))


def plain(clip: Clip, time: float, blend: Interpolation) -> FloatArray:
    """Interpolate a clip's rotations one by one, by the definition."""
    out = rot.identities(len(SKELETON))
    tracks = clip.rotations
    for joint, start, stop in zip(tracks.joints, tracks.starts[:-1], tracks.starts[1:], strict=True):
        times, values = tracks.times_s[start:stop], tracks.values[start:stop]
        after = int(np.searchsorted(times, time, side="right"))
        if after in (0, len(times)):
            out[joint] = values[max(after - 1, 0)]
        else:
            share = (time - times[after - 1]) / (times[after] - times[after - 1])
            way = rot.nlerp if blend == "LERP" else rot.slerp
            out[joint] = way(values[after - 1], values[after], share)
    return out


@pytest.mark.parametrize("blend", ["SLERP", "LERP"])
@given(seed=st.integers(0, 999), times=st.lists(st.floats(-1.0, 3.0), min_size=1, max_size=5))
@settings(deadline=None, max_examples=50)
def test_between_keys_it_is_the_definition(blend: Interpolation, seed: int, times: list[float]) -> None:
    clip = random_clip(seed)
    found = clip.sample(np.array(times), blend).rotations
    expected = np.array([plain(clip, time, blend) for time in times])
    assert rot.angle_between(found, expected).max() < EXACT * 1e3
    assert np.abs(np.linalg.norm(found, axis=-1) - 1.0).max() < EXACT


@pytest.mark.parametrize("blend", keys.INTERPOLATIONS)
@pytest.mark.parametrize("translation", keys.TRANSLATION_INTERPOLATIONS)
def test_many_clips_at_once_are_each_alone(blend: Interpolation, translation: TranslationInterpolation) -> None:
    clips = [random_clip(1), random_clip(2, (1,)), random_clip(3, (2, 1, 0)), turning(np.zeros(1), rot.identities(1))]
    rng = np.random.default_rng(0)
    which, times = rng.integers(0, len(clips), 200), rng.uniform(-0.5, 2.5, 200)
    together = table(*clips).sample(which, times, blend, translation)
    for i, (clip, time) in enumerate(zip(which, times, strict=True)):
        alone = clips[clip].sample(np.array((time,)), blend, translation).at(0)
        assert np.abs(together.rotations[i] - alone.rotations).max() <= EXACT
        assert (together.translations[i] == alone.translations).all()
        assert (together.scales[i] == alone.scales).all()


def test_a_coarse_grid_finds_the_same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    clip, times = random_clip(7, (0, 1, 2)), np.linspace(-0.1, 2.1, 500)
    fine = table(clip).sample(np.zeros(500, dtype=np.int64), times, "SLERP", "LINEAR")
    monkeypatch.setattr(keys, "_GRID_ENTRIES", 8)
    coarse = table(clip).sample(np.zeros(500, dtype=np.int64), times, "SLERP", "LINEAR")
    assert (fine.rotations == coarse.rotations).all()


@pytest.mark.parametrize("blend", keys.INTERPOLATIONS)
@given(st.lists(quaternions(), min_size=2, max_size=6), st.data())
@settings(deadline=None, max_examples=50)
def test_every_interpolation_meets_the_keys(blend: Interpolation, values: list[FloatArray], data: st.DataObject
                                                ) -> None:
    gaps = [data.draw(st.floats(0.1, 2.0)) for _ in values]
    times = np.cumsum(gaps)
    found = turning(times, np.array(values)).sample(times, blend).rotations[:, 0]
    assert rot.angle_between(found, np.array(values)).max() < EXACT * 1e3


def speeds(clip: Clip, time: float) -> tuple[FloatArray, FloatArray]:
    """Return the angular velocities just before and after an instant, in the body's axes."""
    q = clip.sample(time + STEP_S * np.array((-2.0, -1.0, 1.0, 2.0)), "SQUAD").rotations[:, 0]
    before, after = (rot.log(rot.multiply(rot.conjugate(q[i]), q[i + 1])) / STEP_S for i in (0, 2))
    return before, after


@given(st.lists(st.floats(0.2, 2.0), min_size=3, max_size=5), st.integers(0, 999), st.booleans())
@settings(deadline=None, max_examples=50)
def test_squad_does_not_change_its_speed_at_keys(gaps: list[float], seed: int, loop: bool) -> None:
    """Also where keys are unevenly spaced, which Shoemake's own inner points are not made for."""
    times = np.concatenate(((0.0,), np.cumsum(gaps)))
    steps = np.random.default_rng(seed).normal(0.0, 0.3, (len(times), 3))
    values = rot.identities(len(times))
    for i in range(1, len(times)):
        values[i] = rot.multiply(values[i - 1], rot.exp(steps[i]))
    values[len(times) // 2] *= -1.0
    kept = slice(0, -1 if loop else None)
    clip = turning(times[kept], values[kept], loop=loop, duration_s=float(times[-1]))
    for time in times[1:-1]:
        before, after = speeds(clip, float(time))
        assert before == pytest.approx(after, abs=SPEED * max(1.0, float(np.linalg.norm(after))))
    if loop:
        before, after = speeds(clip, float(times[-1]))[0], speeds(clip, 0.0)[1]
        assert before == pytest.approx(after, abs=SPEED * max(1.0, float(np.linalg.norm(after))))


def test_evenly_spaced_squad_is_shoemakes() -> None:
    q = rot.normalized(np.random.default_rng(3).normal(0.0, 0.3, (4, 4)) + rot.IDENTITY)

    def inner(i: int) -> FloatArray:
        back, on = (rot.log(rot.multiply(rot.conjugate(q[i]), q[k])) for k in (i - 1, i + 1))
        return rot.multiply(q[i], rot.exp(-(back + on) / 4.0))

    share = 0.3
    expected = rot.slerp(rot.slerp(q[1], q[2], share), rot.slerp(inner(1), inner(2), share), 2 * share * (1 - share))
    found = turning(np.arange(4.0), q).sample(np.array((1.3,)), "SQUAD").rotations[0, 0]
    assert rot.angle_between(found, expected) < EXACT


def test_splines_pass_their_keys_and_keep_their_speed_there() -> None:
    times, way = np.array((0.0, 0.5, 2.0, 2.5)), np.array((0.0, 1.0, -2.0, 0.0))
    values = np.stack((way, way * 2.0, np.zeros(4)), axis=1)
    clip = Clip("c", SKELETON, 2.5, Tracks.empty(4), Tracks.uniform(np.array((1,)), times, values[:, None]),
                Tracks.empty(3))
    at = clip.sample(times, translation="SPLINE").translations[:, 1]
    assert at == pytest.approx(values, abs=EXACT)
    for time in times[1:-1]:
        x = clip.sample(time + STEP_S * np.array((-2.0, -1.0, 1.0, 2.0)), translation="SPLINE").translations[:, 1, 0]
        assert x[1] - x[0] == pytest.approx(x[3] - x[2], abs=SPEED * STEP_S * 10.0)
    assert clip.sample(np.array((0.25,))).translations[0, 1, 0] == pytest.approx(0.5)


def test_a_looping_clip_leads_back_to_its_first_key() -> None:
    turned = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), 1.0)
    values = np.stack((rot.IDENTITY, turned))
    open_ended = turning(np.array((0.0, 1.0)), values, duration_s=2.0)
    loop = turning(np.array((0.0, 1.0)), values, loop=True, duration_s=2.0)
    half = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), 0.5)
    at = np.array((1.5, 2.0))
    assert rot.angle_between(open_ended.sample(at, "SLERP").rotations[:, 0], turned).max() < EXACT
    assert rot.angle_between(loop.sample(at, "SLERP").rotations[:, 0], np.stack((half, rot.IDENTITY))).max() < EXACT


def test_keys_at_one_time_step_over() -> None:
    """Of two keys at the same instant the later one holds from there on."""
    quarter = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), 0.5)
    clip = turning(np.array((0.0, 1.0, 1.0, 2.0)), np.stack((rot.IDENTITY, rot.IDENTITY, quarter, quarter)))
    found = clip.sample(np.array((0.999, 1.0, 1.5)), "SLERP").rotations[:, 0]
    assert rot.angle_between(found, np.stack((rot.IDENTITY, quarter, quarter))).max() < EXACT


def test_a_skeleton_that_nothing_moves_is_at_rest() -> None:
    clip = Clip("still", SKELETON, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    pose = clip.sample(np.array((0.0, 5.0)))
    assert (pose.rotations == rot.IDENTITY).all()
    assert (pose.translations == 0.0).all()
    assert (pose.scales == 1.0).all()


@pytest.mark.parametrize("grid", [1, 4, keys._GRID_ENTRIES])
@given(st.data())
@settings(deadline=None, max_examples=50)
def test_keys_at_the_same_time_do_not_stick(grid: int, data: st.DataObject) -> None:
    """Of several keys at one time the last one counts from there on, however coarse the grid is."""
    counts = data.draw(st.lists(st.integers(1, 12), min_size=3, max_size=3))
    times = [np.sort(np.array([data.draw(st.integers(0, 4)) for _ in range(n)], dtype=np.float64)) for n in counts]
    starts = np.concatenate(((0,), np.cumsum(counts)))
    values = np.random.default_rng(sum(counts)).normal(size=(int(starts[-1]), 3))
    clip = Clip("clip", SKELETON, 4.0, Tracks.empty(4), Tracks(np.arange(3), starts, np.concatenate(times), values),
                Tracks.empty(3))
    asked = np.arange(0.0, 4.5, 0.25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_GRID_ENTRIES", grid)
        found = clip.sample(asked).translations
    for joint, (own, first) in enumerate(zip(times, starts, strict=False)):
        last = np.maximum(np.searchsorted(own, asked, side="right") - 1, 0)
        following = np.minimum(last + 1, len(own) - 1)
        gap = own[following] - own[last]
        share = np.clip(np.divide(asked - own[last], gap, out=np.zeros(len(asked)), where=gap > 0.0), 0.0, 1.0)
        wanted = values[first + last] + (values[first + following] - values[first + last]) * share[:, None]
        np.testing.assert_allclose(found[:, joint], wanted, atol=EXACT)
