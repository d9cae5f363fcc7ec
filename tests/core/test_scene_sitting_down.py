"""How bodies come down onto seats: with their clips' own descent, and with feet on the ground if legs reach it."""

import re
from typing import Final

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.feet.seats import Thighs
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import ScenePlace
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.posing import build_clip
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scores import library
from takt.tests.core.test_scene_seats import (
    BEGINS_S,
    DOWN,
    FEET_LEGS,
    FPS,
    LOW,
    ON,
    SEAT_LEGS,
    STORE,
    TIMES,
    ankles,
    lowest,
    own_height,
    plain,
    seat,
    skin_of,
)
from takt.tests.core.test_scene_seats import played as played_sitting

HIGH, LESS_HIGH, BACK = 0.13, -0.1, -0.45
HANGS, RISEN, LESS_RISEN = (0.0, -0.05), 0.55, 0.32


def feet(*rows: tuple[float, ...]) -> dict[str, tuple[tuple[float, ...], ...]]:
    return {f"{side}_foot": rows for side in "lr"}


def hop(name: str = "hop", heels_deg: float = 0.0) -> Clip:
    """Hop onto a seat that is higher than the hips, as small bodies do, and let the feet hang, heels up."""
    return build_clip(name, 2.0, dict(feet(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.5, 0.0, 0.0, 0.0, 0.0, 0.0), (0.65, 0.0, -0.02, 0.1, 0.0, 0.0),
        (1.5, *HANGS, RISEN, heels_deg, 0.0), (2.0, *HANGS, RISEN, heels_deg, 0.0)), root=(
            (0.0, 0.0, -0.006, 0.0), (0.3, 0.0, -0.12, 0.0), (0.55, 0.0, 0.05, -0.12), (1.5, 0.0, HIGH, BACK),
            (2.0, 0.0, HIGH, BACK))))


def perch(name: str = "perch", heels_deg: float = 0.0) -> Clip:
    """Sit like that on another seat."""
    return build_clip(name, 2.0, dict(
        feet((0.0, *HANGS, LESS_RISEN, heels_deg, 0.0), (2.0, *HANGS, LESS_RISEN, heels_deg, 0.0)),
        root=((0.0, 0.0, LESS_HIGH, BACK), (2.0, 0.0, LESS_HIGH, BACK)),
        head=((0.0, 0, 0, 0), (1.0, 0, 20, 0), (2.0, 0, 0, 0))))


CROSSED = build_clip("crossed", 2.0, {
    "root": ((0.0, *LOW), (2.0, *LOW)), "l_foot": ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    "r_foot": ((0.0, 0.2, 0.1, 0.3, 0.0, 0.0), (2.0, 0.2, 0.1, 0.3, 0.0, 0.0))})
"""Sits with one leg over the other."""
CLIPS = library(rooms_Stools=(
    build_clip("stand", 1.0, {}), hop(), perch(), CROSSED, build_clip("sit_down", 2.0, DOWN),
    *(make(f"{name}_{way}", deg) for way, deg in (("toes_up", -30.0), ("toes_down", 40.0))
      for name, make in (("hop", hop), ("perch", perch)))))
HOPS: Final = ('<call name="stand" duration="1"/><call name="hop" at="seat" duration="2"/>'
               '<call name="perch" duration="3"/><call name="stand" duration="1"/>')
TOUCHES_S, LEAVES_S = 2.55, 4.6
"""When the hop has come to rest, and when a transition begins to move the legs."""
PERCHES: Final = (TIMES > TOUCHES_S) & (TIMES < LEAVES_S)
CHANGES: Final = (TIMES > 2.75) & (TIMES < 3.15)
"""When a transition leads from one height to the other, by a third of a leg in a third of a second."""


def played(rig: Rig, inside: str, place: ScenePlace | None = None) -> Motion:
    text = ('<pha version="2" tickLength="1"><load src="rooms.Stools"/><role name="seat" is="place"/>'
            f'<procedure name="main">{inside}</procedure></pha>')
    cast = () if place is None else (("seat", place),)
    return play(resolve(parse(text), CLIPS), Performer(rig.skeleton, rig.up, rig.turn, points=skin_of(rig)),
                Settings(cast=cast), store=STORE)


def stool(rig: Rig, legs: float) -> ScenePlace:
    """Return a seat where the hop comes down by itself, but for its height."""
    return rig.place(np.array((0.0, legs * rig.leg_m, BACK)), np.array((0.0, 0.0, 1.0)))


def feet_above(rig: Rig, motion: Motion) -> FloatArray:
    """Return how high the lowest skin of each foot is, in legs, (F, 2)."""
    return np.asarray(soles_above(rig, motion).min(axis=1))


def soles_above(rig: Rig, motion: Motion) -> FloatArray:
    """Return how high the corners of soles are, in legs, (F, 4, 2)."""
    world, skin = world_from_pose(rig.skeleton, motion.sample(TIMES)), skin_of(rig)
    found = []
    for side in "lr":
        joint = rig.joint(f"{side}_ankle")
        rest = np.append(rig.skeleton.rest_world[joint], ((0.0, 0.0, 0.0, 1.0),), axis=0)
        local = np.linalg.solve(rest, np.pad(skin.positions[skin.joints[:, 0] == joint], ((0, 0), (0, 1)),
                                             constant_values=1.0).T)
        found.append((rig.up @ (world[:, joint] @ local)) / rig.leg)
    return np.stack(found, axis=2)


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
@pytest.mark.parametrize("legs", [0.45, 0.55, 0.7])
def test_a_body_is_on_its_seat_as_soon_as_its_clip_has_sat_down(rig: Rig, legs: float) -> None:
    """Though the clip that follows sits at another height."""
    motion = played(rig, HOPS, stool(rig, legs))
    off = lowest(rig, motion, skin_of(rig)) / rig.leg - legs
    assert np.abs(off[PERCHES & ~CHANGES]).max() < SEAT_LEGS and np.abs(off[PERCHES]).max() < 2.0 * SEAT_LEGS


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_a_clip_that_hops_up_comes_down_onto_a_low_seat_all_the_way(rig: Rig) -> None:
    motion, own = played(rig, HOPS, stool(rig, 0.5)), played(rig, HOPS)
    high, before = (lowest(rig, each, skin_of(rig)) / rig.leg for each in (motion, own))
    stands, begins = before[TIMES < BEGINS_S].max(), BEGINS_S + 0.5
    share = np.interp(TIMES, (begins, TOUCHES_S), (1.0, 0.0))
    comes = (TIMES > BEGINS_S) & (TIMES < TOUCHES_S)
    assert (high - 0.5)[comes & (TIMES > begins)].max() < stands - 0.5 + 0.12
    assert (high - 0.5 - 0.15 < share * (stands - 0.5) + 0.1)[comes].all()


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_feet_that_hang_in_the_clip_stand_on_the_ground_below_a_low_seat(rig: Rig) -> None:
    motion = played(rig, HOPS, stool(rig, 0.5))
    assert not [each.message for each in motion.problems if "hang" in each.message]
    assert np.abs(feet_above(rig, motion)[PERCHES]).max() < FEET_LEGS


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
@pytest.mark.parametrize("way", ["toes_up", "toes_down"])
def test_feet_that_come_down_to_the_ground_stand_on_their_whole_soles(rig: Rig, way: str) -> None:
    text = HOPS.replace('"hop"', f'"hop_{way}"').replace('"perch"', f'"perch_{way}"')
    motion, own = played(rig, text, stool(rig, 0.5)), played(rig, text)
    assert np.ptp(soles_above(rig, own)[PERCHES], axis=1).min() > 0.1
    assert np.abs(soles_above(rig, motion)[PERCHES]).max() < FEET_LEGS


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_feet_that_do_not_come_down_from_a_high_seat_hang_and_a_warning_says_by_how_much(rig: Rig) -> None:
    motion = played(rig, HOPS, stool(rig, 0.95))
    (problem,) = [each for each in motion.problems if "hang" in each.message]
    hang = re.search(r"feet hang ([0-9.]+) m above .* lower the object by ([0-9.]+) m", problem.message)
    assert hang is not None and hang[1] == hang[2]
    assert float(hang[1]) / rig.leg == pytest.approx(np.median(feet_above(rig, motion)[PERCHES]), abs=2.0 * FEET_LEGS)
    lower = stool(rig, 0.95 - float(hang[1]) / rig.leg - FEET_LEGS)
    assert not [each.message for each in played(rig, HOPS, lower).problems if "hang" in each.message]


def test_a_leg_crossed_over_the_other_stays_there() -> None:
    rig, text = FOUR[0], '<call name="stand" duration="1"/><call name="crossed" {} duration="4"/>'
    own, motion = played(rig, text.format("")), played(rig, text.format('at="seat"'), stool(rig, 0.6))
    rests = (TIMES > 2.5) & (TIMES < 5.0)
    _, right = feet_above(rig, motion)[rests].T
    assert np.abs(right - feet_above(rig, own)[rests, 1]).max() < 0.02
    assert right.min() > 0.2


@pytest.mark.parametrize("factor", [0.7, 1.4])
@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_what_a_seat_is_higher_or_lower_comes_with_the_clips_own_descent(rig: Rig, factor: float) -> None:
    skin, thighs = skin_of(rig), Thighs.of(rig.map, rig.up)
    assert thighs is not None
    motion, own = played_sitting(rig, skin=skin, seat=seat(rig, factor * own_height(rig, skin))), plain(rig, skin)
    (hips, _), (before, _) = (thighs.seen(each.sample(TIMES)) for each in (motion, own))
    comes, moved = (TIMES >= BEGINS_S) & (TIMES < 3.0), (hips - before) @ rig.up
    end = moved[ON].mean()
    sat = before[ON].mean(axis=0)
    way = sat - before[TIMES < BEGINS_S].mean(axis=0)
    share = np.clip((before - sat) @ way / (way @ way) + 1.0, 0.0, 1.0)
    assert np.abs(moved / end - share)[comes].max() < 0.05
    assert FPS * np.abs(np.diff(ankles(rig, motion), axis=1)).max() < 3.0 * rig.leg
