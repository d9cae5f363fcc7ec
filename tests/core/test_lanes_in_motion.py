"""Lanes that come and go without a pop, and steps that stay together, in figures."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.playing.mix import Mix
from takt.core.playing.motion import Motion
from takt.core.playing.presence import EASE_CURVATURE, EASE_SLOPE
from takt.core.playing.transitions.curves import CURVES

from .test_score_motion import BODY, MAP, lane, played, score, together

FPS = 24.0
ARM = np.array([MAP.joint_of[name] for name in ("r_shoulder", "r_elbow")])
LEGS = np.array([MAP.joint_of[f"{side}_{joint}"] for side in "lr" for joint in ("hip", "knee")])


def swinging(name: str, joints: np.ndarray, size: float, shift: float = 0.0, duration_s: float = 2.0,
             phase: float = 0.0) -> Clip:
    """Turn joints about one axis: as far as size, around a shift, once in the clip; exact between its many keys."""
    times = np.linspace(0.0, duration_s, 97)
    angles = shift + size * np.sin(2.0 * np.pi * times / duration_s + phase)
    turns = rot.exp(angles[:, None, None] * np.array((0.0, 0.0, 1.0)))
    turns = np.repeat(turns, len(joints), axis=1)
    if len(joints) == len(LEGS):  # the right leg is half a stride behind
        half = shift - size * np.sin(2.0 * np.pi * times / duration_s + phase)
        turns[:, 2:] = rot.exp(half[:, None, None] * np.array((0.0, 0.0, 1.0)))
    return Clip(name, BODY, duration_s, Tracks.uniform(joints, times, turns), Tracks.empty(3), Tracks.empty(3))


CLIPS = (swinging("dance", ARM, 0.5), swinging("wave", ARM, 0.9, shift=1.2, phase=0.7),
         swinging("walk", LEGS, 0.4, duration_s=1.1), swinging("run", LEGS, 0.8, duration_s=0.6))
LIBRARY = Library(other_clips=lambda src: CLIPS if src == "a.B" else None)
DANCE = '<call name="dance" duration="2" repeat="8" transition="0"/>'


def speeds(motion: Motion, joints: np.ndarray, begin_s: float, end_s: float, fps: float = FPS) -> np.ndarray:
    """Return the joints' angular velocities from frame to frame, rad/s, (F, J, 3)."""
    turns = motion.sample(np.arange(begin_s, end_s, 1.0 / fps)).rotations[:, joints]
    return np.asarray(rot.log(rot.multiply(rot.conjugate(turns[:-1]), turns[1:]))) * fps


def jumps(motion: Motion, begin_s: float, end_s: float) -> np.ndarray:
    """Return by how much the arm's angular velocity changes from frame to frame, rad/s."""
    return np.asarray(np.linalg.norm(np.diff(speeds(motion, ARM, begin_s, end_s), axis=0), axis=-1))


def waving(mode: str, ease: str = "", waves: int = 4) -> Motion:
    wave = f'<call name="wave" duration="2" repeat="{waves}" transition="0"/>'
    rest = f'<wait duration="{16 - 4 - 2 * waves}"/>'
    return played(score(together(lane(DANCE), lane(f'<wait duration="4"/>{wave}{rest}',
                                                  f'body="right_arm" mode="{mode}" {ease}'))), LIBRARY)


def eases(motion: Motion) -> tuple[float, float]:
    block = motion.row.sources.stages[0]
    assert isinstance(block, Mix)
    presence = block.lanes[1].presence
    return float(presence.ease_in_s[0]), float(presence.ease_out_s[0])


@pytest.mark.parametrize("mode", ["replace", "add"])
def test_waving_over_a_dance_has_no_pop_at_its_ends(mode: str) -> None:
    """Nowhere while it comes and goes does the angular velocity jump by more than where dance and wave play alone."""
    motion = waving(mode)
    own = np.concatenate([jumps(played(score(f'<call name="{name}" duration="2"/>'), LIBRARY), 0.0, 2.0).ravel()
                          for name in ("dance", "wave")])
    alone = {"replace": 1.0, "add": 2.0}[mode]  # what is added jumps on top of what is below
    come, go = eases(motion)
    assert 0.2 < come <= 2.0 and 0.2 < go <= 2.0
    for at in (4.0, 12.0):
        assert jumps(motion, at - 1.5 / FPS, at + 2.5 / FPS).max() <= np.percentile(own, 95)
    for begin, end in ((3.9, 4.0 + come + 0.1), (12.0 - go - 0.1, 12.1)):
        assert np.percentile(jumps(motion, begin, end), 95) <= (1.0 + alone) * np.percentile(own, 95)
    assert jumps(waving(mode, 'ease="0"'), 3.9, 12.1).max() > 3.0 * np.percentile(own, 95)


@pytest.mark.parametrize("mode", ["replace", "add"])
def test_coming_and_going_the_angular_velocity_itself_never_jumps(mode: str) -> None:
    """What jumps does so by the same however short the step is in which one looks; here it shrinks with the step."""
    for ease in ("", 'ease="0.4"'):
        motion = waving(mode, ease)
        for at in (4.0, 4.0 + eases(motion)[0], 12.0 - eases(motion)[1], 12.0):
            rough, fine = (np.linalg.norm(np.diff(speeds(motion, ARM, at - 4 / fps, at + 4 / fps, fps), axis=0),
                                          axis=-1).max() for fps in (240.0, 2400.0))
            assert fine < 0.05 + 0.4 * rough, (ease, at)


def test_an_automatic_ease_takes_at_most_a_quarter_of_what_is_played() -> None:
    for waves in (1, 2, 4):
        assert max(eases(waving("replace", waves=waves))) <= 0.25 * 2.0 * waves + 1e-9


def test_the_curve_of_an_ease_has_the_slope_and_the_curvature_that_its_length_reckons_with() -> None:
    share = np.linspace(0.0, 1.0, 100_001)
    rise = CURVES["SMOOTHER"].rise(share)
    slope = np.gradient(rise, share)
    assert slope.max() == pytest.approx(EASE_SLOPE, rel=1e-4)
    assert np.abs(np.gradient(slope, share)).max() == pytest.approx(EASE_CURVATURE, rel=1e-3)


@pytest.mark.parametrize("first", [1.0, 0.3, 0.0])
def test_a_walk_that_becomes_a_run_stays_in_step(first: float) -> None:
    """Both have one length, so each leg of the mix is in front when those of walk and run are: never between them."""
    mixed = played(score(together(
        lane('<call name="walk" duration="1" repeat="8" transition="0"/>',
             f'mode="mix" weight="{first}" weightEnd="{1 - first}"'),
        lane('<call name="run" duration="1" repeat="8" transition="0"/>',
             f'mode="mix" weight="{1 - first}" weightEnd="{first}"'))), LIBRARY)
    assert mixed.duration_s == pytest.approx(8.0)
    times = np.linspace(0.0, 8.0, 1601)[:-1]
    angles = rot.log(mixed.sample(times).rotations[:, LEGS])[..., 2]
    phase = np.sin(2.0 * np.pi * times)
    share = first + (1.0 - 2.0 * first) * times / 8.0  # of the walk
    wanted = (share * 0.4 + (1.0 - share) * 0.8) * phase
    np.testing.assert_allclose(angles, wanted[:, None] * np.array((1.0, 1.0, -1.0, -1.0)), atol=2e-3)
