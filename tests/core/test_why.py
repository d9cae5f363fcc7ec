"""Why a transition is as it is: each sentence against a score that was made to call it forth."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.playing.motion import Motion
from takt.core.playing.transitions.lengths import Neighbours
from takt.core.playing.why import straying, why
from takt.tests.core.scores import X, Y, library, turning
from takt.tests.core.sentences import motion
from takt.tests.core.test_fit import BODY, ROOT, danced, dancing

A = turning("left", X, (0.0, 0.4))
FAR = turning("right", X, (1.2, 1.6))


def of(first: str, *, clips: tuple[Clip, ...] = (A, FAR), method: str = "LEAD", speed: str = "NEAR",
       joint_time: str = "SHARED") -> str:
    """Return what is said of the length of the first transition."""
    found = motion(f'left duration="1" {first}', 'right duration="1"', method=method, curve="LINEAR", speed=speed,
                   clips=library(feet_Steps=clips), joint_time=joint_time)
    return why(found, 0).length


@pytest.mark.parametrize(("first", "settings", "said"), [
    ('transition="0.3"', {}, "0.30 s: the score says so"),
    ('transition="3"', {}, "1.00 s: the score says so; Meet Halfway allows no more there"),
    ('transition="0"', {}, "No transition: the score says 0, so one clip cuts to the next"),
    ("", {"speed": "PATHS", "method": "APPEND"},
     "2.00 s: automatic; joints turn 46° on average, and 23° in a second in the clips"),
    ("", {}, "1.00 s: automatic; joints turn 46° on average, and 23° in a second in the clips; Meet Halfway allows no "
             "more there"),
    ("", {"method": "APPEND", "joint_time": "EARLY"}, "2.00 s: automatic; the joint that needs longest takes so long"),
])
def test_where_a_length_comes_from(first: str, settings: dict[str, str], said: str) -> None:
    assert of(first, **settings) == said  # type: ignore[arg-type]  # clips are not among them


def test_what_else_a_length_may_come_from() -> None:
    same = turning("right", X, (0.4, 0.0))
    assert of("", clips=(A, same)) == "No transition: both poses are the same"
    other = turning("right", X, (1.2, 1.6), ("spine",))
    assert of("", clips=(A, other)) == "0.25 s: automatic; no joint turns in both clips, but others move"


def test_the_joint_that_takes_longest_is_named() -> None:
    clips = [dancing(seed, 0.0, 3.0, f"clip{seed}") for seed in range(6)]
    found = danced(*clips)
    for seam in range(5):
        words, row = why(found, seam).length, found.row
        turns = float(row.sides.automatic.turning_s(_around(found, seam))[0])
        needs = float(row.sides.automatic.needed_s(_around(found, seam))[0])
        assert words.startswith(f"{max(turns, needs):.2f} s") or "allows no more" in words
        assert ("; so long '" in words) == (needs > turns)


def _around(found: Motion, seam: int) -> Neighbours:
    clip = found.sequence.clip
    return Neighbours(clip[[seam]], clip[[seam + 1]], np.ones(1), np.ones(1))


def test_what_was_searched_is_told() -> None:
    a, b = dancing(1, 0.0, 4.0, "a"), dancing(1, 3.7, 8.0, "b")
    found = danced(a, b, fit="SEARCH")
    assert found.cuts is not None
    skips = found.cuts.skips_s[0]
    assert skips.sum() == pytest.approx(0.3)
    assert (f"{skips[0]:.2f} s of the clip before and {skips[1]:.2f} s of the next one are passed over"
            in why(found, 0).more[0])
    whole = danced(a, dancing(1, 4.0, 8.0, "b"), fit="SEARCH")
    assert "none is 10% better than the clips' own ends" in why(whole, 0).more[0]
    assert not any("instants" in words for words in why(danced(a, b), 0).sentences)


@pytest.mark.parametrize(("way", "said"), [((1.0, 0.0, 0.0), "sets out 90° to the left of where the body faces"),
                                           ((-1.0, 0.0, -1.0), "sets out 135° to the right of where the body faces"),
                                           ((0.0, 0.0, 1.0), ""), ((0.4, 0.0, 1.0), ""), ((0.02, 0.0, 0.0), "")])
@pytest.mark.parametrize("heading_rad", [0.0, 2.0])
def test_a_clip_that_sets_out_another_way_than_the_body_faces_is_told_of(way: tuple[float, float, float], said: str,
                                                                         heading_rad: float) -> None:
    """The dancer looks along z, or along where it is turned; its left is x."""
    turn, times = rot.from_axis_angle(Y, heading_rad), np.array((0.0, 1.0))
    shift = rot.rotate(turn, np.array(way)) * times[:, None]
    clip = Clip("b", BODY, 1.0, Tracks.uniform(np.array((ROOT,)), times, np.tile(turn, (2, 1, 1))),
                Tracks.uniform(np.array((ROOT,)), times, shift[:, None]), Tracks.empty(3))
    found = danced(dancing(1, 0.0, 2.0, "a"), clip)
    assert straying(found, 1) == said
    assert (f"The next clip {said}" in why(found, 0).more) == bool(said)
    assert straying(danced(dancing(1, 0.0, 2.0, "a"), clip, root_motion="IN_PLACE"), 1) == ""


def test_nothing_follows_the_last_segment_but_in_a_loop() -> None:
    calls = 'left duration="1"', 'right duration="1"'
    last = why(motion(*calls), 1)
    assert last.is_none and last.sentences == (last.in_brief,) == ("No transition: nothing follows here",)
    assert not why(motion(*calls, loop=True), 1).is_none
    with pytest.raises(IndexError, match="segment 2 of 2"):
        why(motion(*calls), 2)
