"""Lanes that play for two seconds over dances of the sample dancer come and go no faster than their clips do."""

import numpy as np
import pytest

from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.mix import Mix
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton

BODY, UP, FPS = build_skeleton(), np.array((0.0, 1.0, 0.0)), 24.0
BEGIN_S, USUAL = 1.5, 95.0
SHORT = (("sway", "clap", "replace"), ("sway", "wave", "replace"), ("sway", "wave", "add"),
         ("hip_circle", "clap", "add"), ("disco", "hello", "replace"), ("body_roll", "wave", "replace"),
         ("disco", "clap", "mix"))
"""Clips that play below and over them, and how."""


def performed(inside: str) -> Motion:
    text = ('<pha version="2" tickLength="0.5"><load src="feet.Steps"/><load src="dance.Moves"/>'
            f'<load src="gestures.Greetings"/><procedure name="main">{inside}</procedure></pha>')
    return play(resolve(parse(text), Library([LIBRARY])), Performer(BODY, UP), Settings(lock_feet=False))


def jumps(motion: Motion, joints: IntArray) -> FloatArray:
    """Return by how much the joints' angular velocities change from frame to frame, radians per frame², (F, J)."""
    turns = motion.sample(np.arange(0.0, motion.duration_s, 1.0 / FPS)).rotations[:, joints]
    speeds = rot.log(rot.multiply(rot.conjugate(turns[:-1]), turns[1:]))
    return np.asarray(np.linalg.norm(np.diff(speeds, axis=0), axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize(("dance", "over", "mode"), [
    ("sway", "clap", "replace"), ("sway", "wave", "replace"), ("sway", "wave", "add"), ("hip_circle", "clap", "add"),
    ("disco", "hello", "replace"), ("body_roll", "wave", "replace")])
def test_a_short_lane_comes_and_goes_within_what_is_usual_in_its_clips(dance: str, over: str, mode: str) -> None:
    below = f'<call name="{dance}" duration="4" repeat="3"/>'
    alone, added = performed(below), performed(f'<call name="{over}" duration="4"/>')
    both = performed(f'<together><lane>{below}</lane><lane mode="{mode}" body="upper"><wait duration="3"/>'
                     f'<call name="{over}" duration="4"/><wait duration="5"/></lane></together>')
    joints = np.flatnonzero(added.moved)
    mixed, under, lane = (jumps(motion, joints) for motion in (both, alone, added))
    own = np.concatenate((under.ravel(), lane.ravel()))
    usual = np.percentile(own[own > 1e-8], USUAL)
    begin = round(BEGIN_S * FPS)
    there = np.zeros_like(mixed)
    there[begin:begin + len(lane)] = lane
    by_themselves = under[:len(mixed)] + there if mode == "add" else np.maximum(under[:len(mixed)], there)

    block = both.row.sources.stages[0]
    assert isinstance(block, Mix)
    presence, times = block.lanes[1].presence, (np.arange(len(mixed)) + 1.0) / FPS
    comes, goes = (float(ease[0]) for ease in (presence.ease_in_s, presence.ease_out_s))
    assert 0.2 < min(comes, goes) <= max(comes, goes) <= 0.5  # a quarter of what it plays
    ends = BEGIN_S + 2.0
    at_edges = np.min(np.abs(times[:, None] - (BEGIN_S, ends)), axis=1) < 1.5 / FPS
    easing = np.abs(times - BEGIN_S - comes / 2.0) < comes / 2.0 + 1.5 / FPS
    easing |= np.abs(times - ends + goes / 2.0) < goes / 2.0 + 1.5 / FPS
    assert (mixed - by_themselves)[at_edges].max() <= usual
    assert np.percentile(mixed[easing], USUAL) <= usual


def jumps_at_ends(dance: str, over: str, mode: str, play_s: float) -> tuple[float, float]:
    """Return how much more than by themselves joints jump in angular velocity while a lane comes and goes, and what 95
    per cent of its clips' frames stay below by themselves: that of the joint that jumps most, radians per second."""
    ticks = 2.0 * play_s
    below = f'<call name="{dance}" duration="4" repeat="4"/>'
    alone, added = performed(below), performed(f'<call name="{over}" duration="{ticks}"/>')
    both = performed(f'<together><lane>{below}</lane><lane mode="{mode}" body="upper"><wait duration="3"/>'
                     f'<call name="{over}" duration="{ticks}"/><wait duration="{13 - ticks}"/></lane></together>')
    joints = np.flatnonzero(added.moved)
    mixed, under, lane = (jumps(motion, joints) * FPS for motion in (both, alone, added))
    there, begin = np.zeros_like(mixed), round(BEGIN_S * FPS)
    there[begin:begin + len(lane)] = lane
    by_themselves = under[:len(mixed)] + there if mode == "add" else np.maximum(under[:len(mixed)], there)
    block = both.row.sources.stages[0]
    assert isinstance(block, Mix)
    presence, times = block.lanes[1].presence, (np.arange(len(mixed)) + 1.0) / FPS
    easing = np.zeros(len(mixed), dtype=np.bool_)
    for begin_s, end_s in ((BEGIN_S, BEGIN_S + presence.ease_in_s[0]),
                           (BEGIN_S + play_s - presence.ease_out_s[0], BEGIN_S + play_s)):
        easing |= (times > begin_s - 1.5 / FPS) & (times < end_s + 1.5 / FPS)
    own = np.concatenate((under.max(axis=1), lane.max(axis=1)))
    return float((mixed - by_themselves)[easing].max()), float(np.percentile(own, USUAL))


@pytest.mark.slow
@pytest.mark.parametrize("play_s", [1.0, 2.0, 4.0])
@pytest.mark.parametrize(("dance", "over", "mode"), SHORT)
def test_even_a_lane_of_one_second_comes_and_goes_without_a_pop(dance: str, over: str, mode: str,
                                                                play_s: float) -> None:
    jump, usual = jumps_at_ends(dance, over, mode, play_s)
    assert jump <= usual
