"""The score language sentence by sentence, section 4: weight curves, interpolation, signs, and what has no way."""

from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.transitions.curves import CURVES
from takt.core.playing.transitions.limits import Limits
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.playing.transitions.seams import FAR_TURN_RAD
from takt.tests.core.scores import FIGURE, X, Y, Z, library, turning
from takt.tests.core.sentences import SAME, motion

ARM = FIGURE.index_of["l_arm"]
HIP = FIGURE.index_of["hip"]
Pulse = Callable[[FloatArray], FloatArray]
Rise = Callable[[FloatArray, FloatArray], FloatArray]


@pytest.mark.parametrize(("curve", "rise", "pulse"), [
    ("LINEAR", (0, 0.25, 0.5, 0.75, 1), (0, 0.5, 1, 0.5, 0)),
    ("COSINE", (0, 0.146, 0.5, 0.854, 1), (0, 0.5, 1, 0.5, 0)),
    ("CIRCULAR", (0, 0.067, 0.5, 0.933, 1), (0, 0.5, 1, 0.5, 0)), ("CUBIC", (0, 0.103, 0.5, 0.897, 1), None),
    ("SMOOTHER", (0, 0.1035, 0.5, 0.8965, 1), (0, 0.5, 1, 0.5, 0))])
def test_the_curves_at_0_a_quarter_a_half(curve: str, rise: tuple[float, ...],
                                         pulse: tuple[float, ...] | None) -> None:
    x = np.array((0.0, 0.25, 0.5, 0.75, 1.0))
    assert CURVES[curve].rise(x) == pytest.approx(rise, abs=5e-4)
    found = CURVES[curve].pulse
    assert (found is None) == (pulse is None)
    if found is not None:
        assert found(x) == pytest.approx(pulse, abs=5e-4)


X01 = np.linspace(0.0, 1.0, 1001)


@pytest.mark.parametrize(("curve", "rise"), [
    ("LINEAR", lambda x, s: x),
    ("COSINE", lambda x, s: 0.5 - 0.5 * np.cos(np.pi * x)),
    ("CIRCULAR", lambda x, s: np.where(s == 0, 0.5, 0.5 + s * np.sqrt(np.maximum(0.25 - (x - 0.5 - s / 2) ** 2, 0)))),
    ("CUBIC", lambda x, s: 0.5 + s * np.cbrt(np.abs(x / 4 - 1 / 8)))])
def test_the_curves_0_to_1_are_these_formulas_everywhere(curve: str, rise: Rise) -> None:
    assert CURVES[curve].rise(X01) == pytest.approx(rise(X01, np.sign(X01 - 0.5)), abs=1e-12)


def circular_pulse(x: FloatArray) -> FloatArray:
    def root(y: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(0.25 - y ** 2, 0.0)))

    return np.where(x <= 0.25, 0.5 - root(2 * x), np.where(x <= 0.75, 0.5 + root(2 * x - 1), 0.5 - root(2 * x - 2)))


@pytest.mark.parametrize(("curve", "pulse"), [("LINEAR", lambda x: 1 - np.abs(2 * x - 1)), ("CIRCULAR", circular_pulse),
                                              ("COSINE", lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x))])
def test_the_curves_0_to_1_to_0_are_these_formulas_everywhere(curve: str, pulse: Pulse) -> None:
    found = CURVES[curve].pulse
    assert found is not None
    assert found(X01) == pytest.approx(pulse(X01), abs=1e-12)


def by_angle(m: Motion, times_s: FloatArray) -> FloatArray:
    """Return the angles of the left arm, which turns about x alone."""
    return np.asarray(rot.to_axis_angle(m.sample(times_s).rotations[:, ARM])[1])


@pytest.mark.parametrize("where", ["clip", "transition"])
def test_normalised_lerp_and_slerp_are_switchable_inside_clips_and_transitions(where: str) -> None:
    """A quarter of 2 rad: SLERP 0.5; LERP lies on the chord, at atan(¼ sin 1 ÷ (¾ + ¼ cos 1)) · 2."""
    if where == "clip":
        clips = library(feet_Steps=(turning("left", X, (0.0, 2.0)),))
        calls, time = ['left duration="1"'], 0.25
    else:
        clips = library(feet_Steps=(turning("left", X, (0.0, 0.0)), turning("right", X, (2.0, 2.0))))
        calls, time = ['left duration="1" transition="1"', 'right duration="1"'], 1.25
    chord = 2.0 * np.arctan2(0.25 * np.sin(1.0), 0.75 + 0.25 * np.cos(1.0))
    for interpolation, angle in (("SLERP", 0.5), ("LERP", chord)):
        m = motion(*calls, clips=clips, interpolation=interpolation)
        assert by_angle(m, np.array((time,))) == pytest.approx(angle)


@pytest.mark.parametrize(("interpolation", "is_smooth"), [("SQUAD", True), ("SLERP", False), ("LERP", False)])
def test_squad_is_the_smooth_option_through_key_frames(interpolation: str, is_smooth: bool) -> None:
    m = motion('left duration="1"', clips=library(feet_Steps=(turning("left", X, (0.0, 0.2, 1.4)),)),
               interpolation=interpolation)
    around = by_angle(m, 0.5 + 1e-6 * np.array((-2.0, -1.0, 0.0, 1.0, 2.0)))
    assert around[2] == pytest.approx(0.2)
    before, after = np.diff(around)[[0, 3]] / 1e-6
    assert (abs(after - before) < 1e-3) == is_smooth


@pytest.mark.parametrize(("translation", "is_smooth"), [("SPLINE", True), ("LINEAR", False)])
def test_translations_are_linear_or_spline(translation: str, is_smooth: bool) -> None:
    times, places = np.array((0.0, 0.5, 1.0)), np.array(((0, 0, 0), (0.1, 0, 0), (1, 0, 0)), dtype=np.float64)
    clip = Clip("left", FIGURE, 1.0, Tracks.uniform(np.array((ARM,)), times, rot.identities(3, 1)),
                Tracks.uniform(np.array((HIP,)), times, places[:, None]), Tracks.empty(3))
    m = motion('left duration="1"', clips=library(feet_Steps=(clip,)), translation=translation)
    x = m.sample(0.5 + 1e-6 * np.array((-2.0, -1.0, 0.0, 1.0, 2.0))).translations[:, HIP, 0]
    assert x[2] == pytest.approx(0.1)
    before, after = np.diff(x)[[0, 3]] / 1e-6
    assert (abs(after - before) < 1e-3) == is_smooth
    quarter = m.sample(np.array((0.25,))).translations[0, HIP, 0]
    assert (quarter == pytest.approx(0.05)) == (translation == "LINEAR")


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_q_and_minus_q_are_the_same_rotation(method: str) -> None:
    """All signs of one clip turned round change nothing."""
    def clips(sign: float) -> tuple[Clip, Clip]:
        a, b = turning("left", X, (0.0, 0.4, 0.1)), turning("right", Y, (0.2, 0.5, 0.9))
        tracks = b.rotations
        return a, Clip("right", FIGURE, 1.0, Tracks(tracks.joints, tracks.starts, tracks.times_s,
                                                    sign * tracks.values), Tracks.empty(3), Tracks.empty(3))

    times = np.linspace(0.0, 2.0, 200)
    one, other = (motion('left duration="1" transition="0.5"', 'right duration="1"', method=method,
                         clips=library(feet_Steps=clips(sign))).sample(times).rotations for sign in (1.0, -1.0))
    assert rot.angle_between(one, other).max() < 1e-7


@pytest.mark.parametrize("method", ["END", "BOTH", "INSERT", "APPEND"])
def test_every_blend_picks_the_shorter_way_at_that_instant(method: str) -> None:
    """Which holds at every instant as long as no clip turns past 180° from the transition within the window."""
    m = motion('left duration="1" transition="0.8"', 'right duration="1"', method=method, curve="LINEAR")
    a, b = (m.clips[i].sample(np.array((t,))).rotations[0] for i, t in ((0, 1.0), (1, 0.0)))
    begin, end = m.layout.window_begin_s[0], m.layout.window_end_s[0]
    share = np.linspace(0.0, 1.0, 101)[:-1]
    times = begin + (end - begin) * share
    way = rot.slerp(a[None], b[None], share[:, None])
    segment = (times >= m.layout.end_s[0]).astype(int)
    own = np.stack([m.clips[s].sample(np.array((np.clip(t - s, 0.0, 1.0),)), "SLERP").rotations[0]
                    for s, t in zip(segment, times, strict=True)])
    weight = {"END": share, "BOTH": 1.0 - np.abs(2.0 * share - 1.0)}.get(method, np.ones(len(share)))
    assert rot.angle_between(m.sample(times).rotations, rot.slerp(own, way, weight[:, None])).max() < SAME


@pytest.mark.parametrize(("method", "half_turns"), [("END", 1.8), ("BOTH", 3.6)])
def test_but_where_a_clip_passes_180_degrees_from_the_transition_it_keeps_the_way_it_had_at_the_seam(
        method: str, half_turns: float) -> None:
    """Known departure: to choose anew there would be a jump, which section 5 forbids.

    A turns by 1.62π within the window, through 180° from the transition: picked anew at each instant, the way would
    change sides in a single instant; ours does not jump anywhere.
    """
    clips = library(feet_Steps=(turning("left", X, tuple(np.linspace(-half_turns * np.pi, 0.0, 37))),
                                turning("right", X, (0.3, 0.4))))
    m = motion('left duration="1" transition="0.9"', 'right duration="1"', method=method, curve="LINEAR", clips=clips)
    times = np.linspace(0.0, m.duration_s, 20001)
    steps = rot.angle_between(*(m.sample(times).rotations[s, ARM] for s in (slice(1, None), slice(None, -1))))
    assert steps.max() < 0.003
    begin, end = m.layout.window_begin_s[0], m.layout.window_end_s[0]
    share = (times - begin) / (end - begin)
    inside = (share > 0.0) & (times < 1.0)
    way = rot.from_axis_angle(X, 0.3 * share)
    own = rot.from_axis_angle(X, half_turns * np.pi * (times - 1.0))
    weight = share if method == "END" else 1.0 - np.abs(2.0 * share - 1.0)
    anew = rot.slerp(own, way, np.where(inside, weight, 0.0))[inside]
    assert rot.angle_between(anew[1:], anew[:-1]).max() > 0.5


def test_every_track_is_made_continuous_on_load() -> None:
    flipped = rot.from_axis_angle(X, np.array((0.0, 0.4, 0.8))) * np.array((1.0, -1.0, 1.0))[:, None]
    clip = Clip("left", FIGURE, 1.0, Tracks.uniform(np.array((2,)), np.array((0.0, 0.5, 1.0)), flipped[:, None]),
                Tracks.empty(3), Tracks.empty(3))
    found = clip.sample(np.linspace(0.0, 1.0, 50), "SLERP").rotations[:, 2]
    assert rot.angle_between(found, rot.from_axis_angle(X, np.linspace(0.0, 0.8, 50))).max() < SAME
    assert (np.sum(found[1:] * found[:-1], axis=-1) > 0.0).all()


def test_150_degrees_or_more_is_a_warning_that_names_the_bones() -> None:
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.1)), turning("right", X, (2.8, 2.9), ("l_arm",))))
    m = motion('left duration="1"', 'right duration="1"', method="END", clips=clips)
    said = next(p for p in m.problems if "150°" in p.message)
    assert "'l_arm'" in said.message
    assert said.is_warning
    assert not said.is_note


def test_149_degrees_are_no_warning() -> None:
    assert FAR_TURN_RAD == pytest.approx(np.radians(150.0))
    for degrees, warns in ((149.9, False), (150.1, True)):
        clips = library(feet_Steps=(turning("left", X, (0.0, 0.0)), turning("right", X, (np.radians(degrees),) * 2)))
        m = motion('left duration="1"', 'right duration="1"', method="END", clips=clips)
        assert any("150°" in p.message for p in m.problems) == warns


def test_the_cure_is_an_authored_bridging_clip_called_between() -> None:
    """It leads the arm the way its author wants, past the side; no warning is left, and no turn of 150°."""
    a, b = turning("left", X, (0.0, 0.0), ("l_arm",)), turning("right", X, (3.0, 3.0), ("l_arm",))
    side = rot.multiply(rot.from_axis_angle(Z, np.linspace(0.0, np.pi, 9)), rot.identities(9))
    bridge = Clip("bridge", FIGURE, 1.0, Tracks.uniform(np.array((ARM,)), np.linspace(0.0, 1.0, 9), side[:, None]),
                  Tracks.empty(3), Tracks.empty(3))
    end = turning("right", Z, (np.pi, np.pi), ("l_arm",))
    assert [p for p in motion('left duration="1"', 'right duration="1"', method="END",
                              clips=library(feet_Steps=(a, b))).problems if "bridging" in p.message]
    m = motion('left duration="1"', 'bridge duration="1"', 'right duration="1"', method="END",
               clips=library(feet_Steps=(a, bridge, end)))
    assert not [p for p in m.problems if "150°" in p.message]
    half = m.sample(np.array((1.5,))).rotations[0, ARM]
    assert rot.angle_between(half, rot.from_axis_angle(Z, np.pi / 2)) < 1e-6


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_joint_limits_where_a_rig_has_them_decide_the_way_as_an_option(method: str) -> None:
    """An arm that may turn by 120° to either side, from −110° to 110°: not the short way over its back, but past 0."""
    side = np.radians(110.0)
    clips = library(feet_Steps=(turning("left", X, (-side, -side), ("l_arm",)),
                                turning("right", X, (side, side), ("l_arm",))))
    calls = 'left duration="1" transition="0.5"', 'right duration="1"'
    free, limited = (motion(*calls, method=method, curve="LINEAR", clips=clips, limits=limits)
                     for limits in (None, Limits.of({ARM: ((-120.0, 120.0), (-10.0, 10.0), (-10.0, 10.0))})))
    for m, farthest in ((free, np.pi), (limited, side)):
        begin, end = m.layout.window_begin_s[0], m.layout.window_end_s[0]
        angles = by_angle(m, np.linspace(begin, end, 202))
        assert angles.max() == pytest.approx(farthest, abs=0.05)
