"""Lengths in frames: a clip of so many frames stays one of so many, however roughly its file says how long one is."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.frames import last_frame
from takt.core.formats import bvh
from takt.core.formats.frame_time import exact_frame_time
from takt.core.maths import rotations as rot
from takt.core.playing.bake import bake
from takt.core.playing.keying import key_clip
from takt.samples.skeleton import build_skeleton

RATES = (12, 15, 24 / 1.001, 24, 25, 30 / 1.001, 30, 48, 50, 60 / 1.001, 60, 72, 90, 100, 120, 144, 240)
AS_WRITTEN = ((".0083333", 120), ("0.008333", 120), (".033333", 30), ("0.0333", 30), ("0.016667", 60), ("0.016666", 60),
              (".041667", 24), ("0.0417", 24), (".04", 25), ("3.3333e-2", 30), ("0.033333335", 30), ("0.02", 50),
              (".033367", 30 / 1.001), (".041708", 24 / 1.001), ("1", 1), ("0.5", 2))
TEN_MINUTES_S = 600.0
TEXT = "HIERARCHY\nROOT Hips\n{{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n}}\nMOTION\nFrames: {}\n"


@pytest.mark.parametrize(("written", "rate"), AS_WRITTEN)
def test_the_frames_in_a_second_are_those_that_were_meant(written: str, rate: float) -> None:
    assert exact_frame_time(written) == pytest.approx(1.0 / rate, rel=1e-12)


@pytest.mark.parametrize("rate", RATES)
def test_ten_minutes_have_as_many_frames_as_the_file(rate: float) -> None:
    """Rounded or cut off to six and more digits, in seconds or milliseconds, in single precision."""
    frames = round(TEN_MINUTES_S * rate)
    exact = 1.0 / rate
    texts = [*(f"{exact:.{digits}f}" for digits in (6, 7, 8)), f"{exact:.12f}"[:8], str(np.float32(exact))]
    for seconds in (*map(exact_frame_time, texts), exact_frame_time(f"{1000.0 * exact:.4f}", 0.001)):
        assert last_frame(frames * seconds, rate) == frames


@pytest.mark.parametrize("written", ["0.08", "0.03", "0.0123", "0.4", "0.7", "0.0345678", "4"])
def test_what_is_no_whole_rate_is_as_written(written: str) -> None:
    assert exact_frame_time(written) == pytest.approx(float(written), rel=0.006 if written == "0.0123" else 0.0)


@pytest.mark.parametrize("written", ["0", "-1", "inf", "nan", "x1"])
def test_a_time_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=written):
        exact_frame_time(written)


@pytest.mark.parametrize(("written", "rate"), AS_WRITTEN)
def test_a_file_of_so_many_frames_becomes_keys_at_so_many(written: str, rate: float) -> None:
    text = TEXT.format(56) + f"Frame Time: {written}\n" + "".join(f"0 0 {frame % 4}\n" for frame in range(56))
    clip = bvh.read(text.encode()).clip
    keyed = key_clip(clip, rate)
    np.testing.assert_array_equal(keyed.frames, np.arange(56.0))
    turned = np.degrees(rot.angle_between(keyed.rotations.values[:, 0], keyed.rotations.values[0, 0]))
    np.testing.assert_allclose(turned, np.arange(56) % 4, atol=1e-5)


@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0, 120.0])
def test_times_in_single_precision_and_in_six_digits_end_on_their_frame(rate: float) -> None:
    for frames in range(1, 240, 7):
        for end in (float(np.float32(frames / rate)), float(f"{frames / rate:.6g}")):
            still = Clip("", build_skeleton(), end, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
            assert len(key_clip(still, rate).frames) == frames + 1
            assert last_frame(bake(still, rate, "").duration_s, rate) == frames


def test_what_lasts_longer_by_what_shows_has_a_frame_more() -> None:
    assert [last_frame(seconds, 24.0) for seconds in (0.0, 1.0, 1.002, 25.0 / 24.0)] == [0, 24, 25, 25]
