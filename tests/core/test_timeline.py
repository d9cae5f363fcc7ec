"""What a picture of a motion in time shows, and clips baked from motions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.cli import main
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.playing.bake import bake
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.playing.timeline import CLIP_ROW, CURVE_POINTS, PROCEDURE_ROW, TRANSITION_ROW, Timeline, angular_speeds
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.tests.beside import need_plots
from takt.tests.core.scores import UP_Z, procedure, programme

ROOT = Path(__file__).resolve().parents[2]
EXACT = 1e-9
WALK = procedure("walk", 'left duration="1" transition="0.2"', 'right duration="1" transition="0.2"')
MAIN = procedure("main", 'walk duration="2" repeat="2"', 'nod duration="1"')


def motion(method: str = "END", loop: bool = False, *procedures: str) -> Motion:
    return play(programme(*(procedures or (WALK, MAIN))), Performer(None, UP_Z), Settings(method=method, loop=loop))


def boxes_at(timeline: Timeline, row: int) -> list[list[float]]:
    return sorted(box for box in timeline.procedure_boxes.tolist() if box[1] == row)


def test_boxes() -> None:
    timeline = Timeline.of(motion(), "COSINE")
    np.testing.assert_allclose(timeline.clip_boxes[:, 0], (0, 1, 2, 3, 4), atol=EXACT)
    np.testing.assert_allclose(timeline.clip_boxes[:, 2], (1, 2, 3, 4, 5), atol=EXACT)
    assert set(timeline.clip_boxes[:, 1]) == {CLIP_ROW}
    np.testing.assert_allclose(timeline.transition_boxes[0], (0.8, TRANSITION_ROW, 1.0, TRANSITION_ROW + 1), atol=EXACT)
    assert timeline.rows == PROCEDURE_ROW + 2


def test_procedures_that_repeat_are_told_apart() -> None:
    timeline = Timeline.of(motion(), "COSINE")
    assert boxes_at(timeline, PROCEDURE_ROW + 1) == [[0, 3, 5, 4]]
    assert boxes_at(timeline, PROCEDURE_ROW) == [[0, 2, 2, 3], [2, 2, 4, 3]]
    assert timeline.names == ("main", "walk", "walk")


def test_depth_limits_the_rows() -> None:
    assert Timeline.of(motion(), "COSINE", depth=1).names == ("main",)


def test_a_stretch_holds_what_plays_in_it() -> None:
    timeline = Timeline.of(motion(), "COSINE", 2.1, 2.4)
    assert timeline.segments.tolist() == [2]
    assert timeline.names == ("main", "walk")
    assert not len(timeline.seams)


@pytest.mark.parametrize(("method", "first", "last"), [("END", 0, 1), ("BOTH", 0, 0), ("INSERT", 1, 1),
                                                       ("APPEND", 1, 1)])
def test_weights_have_the_methods_shape(method: str, first: float, last: float) -> None:
    timeline = Timeline.of(motion(method), "COSINE")
    weights = timeline.weights - (0.0, TRANSITION_ROW)
    assert weights.shape == (len(timeline.seams), CURVE_POINTS, 2)
    np.testing.assert_allclose(weights[:, (0, -1), 1], np.tile((first, last), (len(weights), 1)), atol=EXACT)
    np.testing.assert_allclose(weights[:, (0, -1), 0], timeline.transition_boxes[:, (0, 2)], atol=EXACT)


def test_a_loops_last_window_reaches_beyond_the_end() -> None:
    timeline = Timeline.of(motion("BOTH", loop=True), "COSINE")
    assert timeline.transition_boxes[-1, 2] > timeline.end_s


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(TRANSITION_METHODS)), st.integers(1, 4), st.floats(0.0, 5.0), st.floats(0.1, 5.0))
def test_clips_do_not_overlap_and_lie_in_their_procedures(method: str, repeat: int, begin: float, more: float) -> None:
    played = motion(method, False, WALK, procedure("main", f'walk duration="2" repeat="{repeat}"', 'nod duration="1"'))
    timeline = Timeline.of(played, "COSINE", begin, begin + more)
    assert (timeline.clip_boxes[1:, 0] >= timeline.clip_boxes[:-1, 2] - EXACT).all()
    for row in (PROCEDURE_ROW, PROCEDURE_ROW + 1):
        row_boxes = np.array(boxes_at(timeline, row)).reshape(-1, 4)
        assert (row_boxes[1:, 0] >= row_boxes[:-1, 2] - EXACT).all()


def test_angular_speed() -> None:
    times = np.linspace(0.0, 0.5, 6)
    speeds = angular_speeds(motion("END", False, procedure("main", 'left duration="2"')), times)
    np.testing.assert_allclose(speeds, 0.4, atol=1e-6)  # 0.4 rad in the clip's first half, which takes a second
    assert angular_speeds(motion(), times[:1]).shape == (0,)


def test_a_baked_clip_agrees_at_its_keys_and_ends() -> None:
    played = motion("BOTH")
    clip = bake(played, 7.0, "whole")
    times = np.append(np.arange(35) / 7.0, 5.0)
    mine, theirs = played.sample(times), clip.sample(times)
    assert (clip.name, clip.duration_s) == ("whole", 5.0)
    assert rot.angle_between(mine.rotations, theirs.rotations).max() < 1e-6
    np.testing.assert_allclose(mine.translations, theirs.translations, atol=EXACT)
    assert set(clip.rotations.joints) == {1, 2, 3}  # the hip is not moved by any clip
    assert not len(clip.translations) and not len(clip.scales)


@pytest.mark.parametrize("fps", [0.0, -1.0, np.inf, np.nan])
def test_bake_refuses_frames_per_second(fps: float) -> None:
    with pytest.raises(TaktError, match="frames per second; a number greater than 0 is wanted"):
        bake(motion(), fps, "x")


def test_bake_refuses_what_does_not_fit() -> None:
    with pytest.raises(TaktError, match=r"too many for one clip; at most .* take fewer frames per second"):
        bake(motion(), 1e9, "x")


def test_plot(tmp_path: Path) -> None:
    need_plots()
    out = tmp_path / "dance.svg"
    assert main(["plot", str(ROOT / "samples" / "library" / "walk.pha"), str(out), "--to", "4"]) == 0
    assert "<svg" in out.read_text(encoding="utf-8")
    assert main(["plot", str(ROOT / "samples" / "library" / "walk.pha"), str(out), "--from", "40"]) == 1


def test_plot_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert main(["plot", str(ROOT / "samples" / "library" / "walk.pha"), str(tmp_path / "x.png")]) == 1
    assert "pip install 'takt[plot]'" in capsys.readouterr().err


