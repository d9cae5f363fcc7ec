"""Feet stand where lanes play: those of one lane alone, and of walk and run mixed, by the contacts of both."""

import numpy as np
import pytest

from takt.core.library.library import Library
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.feet.legs import legs_of
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton

BODY, UP, FPS, SECONDS = build_skeleton(), np.array((0.0, 1.0, 0.0)), 120.0, 8.0
STANDS_LEGS = 0.005
"""How far a standing foot may be from its place, in leg lengths."""
MARGIN_S = 0.15
"""So near its ends a contact may be let go or begin."""
TIMES = np.arange(round(SECONDS * FPS)) / FPS


def steps(*names: str) -> str:
    return f'<loop times="4">{"".join(f"""<call name="{name}" duration="1"/>""" for name in names)}</loop>'


WALK, RUN = steps("left_step", "right_step"), steps("left_run", "right_run")


def performed(inside: str, *, holds_feet: bool = True) -> Motion:
    text = (f'<pha version="2" tickLength="1"><load src="feet.Steps"/><load src="dance.Moves"/>'
            f'<procedure name="main">{inside}</procedure></pha>')
    return play(resolve(parse(text), Library([LIBRARY])), Performer(BODY, UP), Settings(lock_feet=holds_feet))


def mixing(first: float, last: float) -> str:
    """Mix walk and run, the walk's weight running from one to the other."""
    return (f'<together><lane mode="mix" weight="{first}" weightEnd="{last}">{WALK}</lane>'
            f'<lane mode="mix" weight="{1 - first}" weightEnd="{1 - last}">{RUN}</lane></together>')


def feet_of(motion: Motion) -> FloatArray:
    """Return where the feet are over the ground, (F, 2 feet, 2), in leg lengths."""
    assert motion.body is not None
    legs = legs_of(motion.body)
    world = world_from_pose(BODY, motion.sample(TIMES))[..., 3]
    return np.asarray(world[:, [leg.foot for leg in legs]][..., [0, 2]] / legs[0].length(BODY))


def planted(inside: str) -> BoolArray:
    """Tell by the clips' own contacts when each foot is planted, (F, 2 feet)."""
    motion = performed(inside, holds_feet=False)
    assert motion.body is not None
    found = np.zeros((len(TIMES), 2), dtype=np.bool_)
    for segment, clip in enumerate(motion.sequence.clip.tolist()):
        played, begin = motion.clips[clip], motion.sequence.start_s[segment]
        assert played.contacts is not None
        for foot, leg in enumerate(legs_of(motion.body)):
            for span in played.contacts[leg.side].stands * motion.sequence.length_s[segment] / played.duration_s:
                found[:, foot] |= (TIMES >= begin + span[0]) & (TIMES <= begin + span[1])
    return found


def well_inside(chosen: BoolArray) -> BoolArray:
    """Leave out instants (F, …) so near an edge that a contact may end or begin there."""
    near = round(MARGIN_S * FPS)
    return np.asarray(np.all([np.roll(chosen, by, axis=0) for by in (-near, 0, near)], axis=0))


def travelled(feet: FloatArray, chosen: BoolArray) -> float:
    """Return the farthest that a foot goes in any stretch of instants (F, 2 feet) that are chosen."""
    farthest = 0.0
    for foot in range(2):
        edges = np.flatnonzero(np.diff(chosen[:, foot], prepend=False, append=False))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            part = feet[begin:end, foot]
            farthest = max(farthest, float(np.linalg.norm(part - part[0], axis=1).max()))
    return farthest


@pytest.mark.parametrize("lanes", [
    f'<lane body="lower">{WALK}</lane><lane body="upper"><call name="sway" duration="8"/></lane>',
    f'<lane>{WALK}</lane><lane body="arms" mode="add"><call name="sway" duration="8"/></lane>',
    f'<lane>{WALK}</lane>'])
def test_feet_stand_where_one_lane_has_the_legs(lanes: str) -> None:
    motion, stands = performed(f"<together>{lanes}</together>"), well_inside(planted(WALK))
    assert stands.any(axis=0).all()
    assert travelled(feet_of(motion), stands) <= STANDS_LEGS


@pytest.mark.slow
@pytest.mark.parametrize(("first", "last"), [(0.5, 0.5), (1.0, 0.0), (0.3, 0.7)])
def test_where_walk_and_run_both_stand_their_mix_does_and_where_neither_does_it_goes_on(first: float,
                                                                                         last: float) -> None:
    feet = feet_of(performed(mixing(first, last)))
    loose = feet_of(performed(mixing(first, last), holds_feet=False))
    walk, run = planted(WALK), planted(RUN)
    both, neither = well_inside(walk & run), well_inside(~walk & ~run)
    assert both.any(axis=0).all() and neither.any(axis=0).all()
    assert travelled(feet, both) <= STANDS_LEGS < travelled(loose, both)
    speeds = np.linalg.norm(np.diff(feet, axis=0), axis=2) * FPS
    assert speeds[neither[1:]].min() > 0.1


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_a_mix_of_which_one_has_all_the_weight_stands_as_that_one(weight: float) -> None:
    stands = well_inside(planted(WALK if weight else RUN))
    assert travelled(feet_of(performed(mixing(weight, weight))), stands) <= STANDS_LEGS


def test_lanes_without_legs_do_not_change_where_feet_stand() -> None:
    alone = feet_of(performed(f'<together><lane body="lower">{WALK}</lane></together>'))
    among = feet_of(performed(f'<together><lane body="lower">{WALK}</lane><lane body="arms" mode="mix" weight="0.5">'
                              '<call name="sway" duration="8"/></lane></together>'))
    np.testing.assert_allclose(among, alone, atol=1e-9)
