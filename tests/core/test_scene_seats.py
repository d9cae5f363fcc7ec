"""Bodies of four rigs sit down on seats of other heights: as many settings as TAKT_SCENE_SETTINGS says."""

import os
import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
import pytest

from takt.core.library.store import ClipStore
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.feet.floored import Floored
from takt.core.playing.feet.seats import Thighs
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import Moving, SceneFloor, ScenePlace, Target
from takt.core.playing.score import Settings, play
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.clips import build_clips
from takt.samples.posing import build_clip
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scores import library
from takt.tests.core.seeds import part_of

SEEDS = range(int(os.environ.get("TAKT_SCENE_SETTINGS", "20")))
FPS: Final = 60
SEAT_LEGS, FEET_LEGS = 0.01, 0.01
LIMITS: Final = {"skin off seat": SEAT_LEGS, "feet": FEET_LEGS, "hips' jerk": 1.5}
BEGINS_S, SITS_S, LEAVES_S, STANDS_S, END_S = 1.0, 2.8, 5.2, 7.0, 8.0
"""When the body sits down, sits, leaves its seat, and stands again."""
LOW = (0.0, -0.43, -0.34)
DOWN = {"root": ((0.0, 0.0, -0.006, 0.0), (0.3, 0.0, -0.01, 0.0), (1.7, *LOW), (2.0, *LOW)),
        "lean": ((0.0, 0, 0, 0), (0.9, 30, 0, 0), (1.9, 0, 0, 0), (2.0, 0, 0, 0))}
STILL = {"root": ((0.0, *LOW), (1.0, 0.01, -0.425, -0.34), (2.0, *LOW)), "head": ((0.0, 0, 0, 0), (1.0, 0, 20, 0),
                                                                            (2.0, 0, 0, 0))}
UP = {name: tuple((2.0 - row[0], *row[1:]) for row in reversed(rows)) for name, rows in DOWN.items()}
SQUATS = (0.0, -0.5, 0.0)
HIGH, RUNG = (0.0, 0.02, -0.34), (0.0, 0.0, 0.45, 0.0, 0.0)
"""On a stool higher than the hips of a body that stands, with its feet on a rung."""
ONTO = {"root": ((0.0, 0.0, -0.006, 0.0), (1.5, *HIGH), (2.0, *HIGH)),
        "l_foot": ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (1.5, *RUNG), (2.0, *RUNG)),
        "r_foot": ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (1.5, *RUNG), (2.0, *RUNG))}
CLIPS = library(feet_Steps=tuple(build_clips("feet/Steps.skeleton.xml")), rooms_Chairs=(
    build_clip("stand", 1.0, {}), build_clip("sit_down", 2.0, DOWN), build_clip("sit_still", 2.0, STILL),
    build_clip("stand_up", 2.0, UP), build_clip("climb_onto", 2.0, ONTO),
    build_clip("squat", 2.0, {"root": ((0.0, 0, 0, 0), (1.0, *SQUATS), (2.0, *SQUATS))}),
    build_clip("scoot", 4.0, {"root": ((0.0, *LOW), (4.0, 0.4, *LOW[1:]))})))
STORE = ClipStore()
SITS = ('<call name="stand" duration="1"/><call name="sit_down" at="seat" duration="2"/>'
        '<call name="sit_still" duration="2"/><call name="stand_up" duration="2"/><call name="stand" duration="1"/>')
TIMES = np.arange(0.0, END_S, 1.0 / FPS)
ON = (TIMES >= SITS_S) & (TIMES <= LEAVES_S)


def played(rig: Rig, inside: str = SITS, *, skin: SkinPoints | None = None, roles: str = "", unit_m: float = 1.0,
           **cast: Target) -> Motion:
    text = ('<pha version="2" tickLength="1"><load src="rooms.Chairs"/><load src="feet.Steps"/>'
            f'<role name="seat" is="place"/>{roles}<procedure name="main">{inside}</procedure></pha>')
    return play(resolve(parse(text), CLIPS), Performer(rig.skeleton, rig.up, rig.turn, points=skin),
                Settings(cast=tuple(cast.items()), unit_m=unit_m), store=STORE)


@cache
def skin_of(rig: Rig) -> SkinPoints:
    """Return skin around the hips and along the thighs, and flat soles: rings and corners."""
    at, points, joints = rig.skeleton.rest_world[..., 3], list[FloatArray](), list[int]()
    around = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ahead = rot.rotate(rig.turn, np.array((0.0, 0.0, 1.0)))
    across = np.cross(rig.up, ahead)
    for side in "lr":
        hip, knee, ankle = (rig.joint(f"{side}_{name}") for name in ("hip", "knee", "ankle"))
        for share in np.linspace(-0.15, 0.8, 8):
            ring = at[hip] + share * (at[knee] - at[hip]) + 0.09 * rig.leg * (
                np.cos(around)[:, None] * ahead + np.sin(around)[:, None] * across)
            points.append(ring)
            joints += [rig.joint("HumanoidRoot") if share < 0.0 else hip] * len(ring)
        low = at[ankle] - (at[ankle] @ rig.up + getattr(rig, "down_m", 0.0)) * rig.up
        corners = [low + rig.leg * (far * ahead + wide * across) for far in (-0.08, 0.22) for wide in (-0.05, 0.05)]
        points.append(np.array(corners))
        joints += [ankle] * len(corners)
    return SkinPoints(np.concatenate(points), np.array(joints)[:, None], np.ones((len(joints), 1)))


def lowest(rig: Rig, motion: Motion, skin: SkinPoints | None, times_s: FloatArray = TIMES) -> FloatArray:
    """Return how high the lowest skin of the seat is at times (F,): of hips and the first third of the thighs.

    Without skin the hips, lowered by what skin usually is thick there.
    """
    world = world_from_pose(rig.skeleton, motion.sample(times_s))
    if skin is None:
        high = world[..., 3] @ rig.up
        names = ("HumanoidRoot", "l_hip", "r_hip", "vl5", "vl3", "vl1", "vt10", "vt6", "vt3")
        return np.asarray(high[:, [rig.joint(name) for name in names if name in rig.map.joint_of]].min(axis=1)
                          - 0.13 * rig.leg)
    rest, found = np.tile(np.eye(4), (len(rig.skeleton), 1, 1)), list[FloatArray]()
    rest[:, :3] = rig.skeleton.rest_world
    for point, joint in zip(skin.positions, skin.joints[:, 0], strict=True):
        side = "l" if joint == rig.joint("l_hip") else "r"
        hip, knee = (rig.skeleton.rest_world[rig.joint(f"{side}_{name}"), :, 3] for name in ("hip", "knee"))
        share = (point - hip) @ (knee - hip) / ((knee - hip) @ (knee - hip))
        if joint == rig.joint("HumanoidRoot") or (joint in (rig.joint("l_hip"), rig.joint("r_hip")) and share < 0.35):
            local = np.linalg.solve(rest[joint], np.append(point, 1.0))
            found.append((world[:, joint] @ local) @ rig.up)
    return np.asarray(np.min(found, axis=0))


@cache
def plain(rig: Rig, skin: SkinPoints | None) -> Motion:
    return played(rig, skin=skin, seat=ScenePlace((0.0, 0.0, 0.0), rig.place(np.zeros(3), np.array((0, 0, 1.0))).ahead))


@cache
def own_height(rig: Rig, skin: SkinPoints | None) -> float:
    return float(np.median(lowest(rig, plain(rig, skin), skin)[ON]))


@cache
def own_hips(rig: Rig) -> FloatArray:
    """Return where the hips are over the ground where the body sits as its clips do, in H-Anim's axes and metres."""
    thighs = Thighs.of(rig.map, rig.up)
    assert thighs is not None
    hips = thighs.seen(played(rig, SITS.replace(' at="seat"', "")).sample(np.array((3.0,))))[0][0]
    return np.asarray(rot.rotate(rot.conjugate(rig.turn), hips) / rig.units * (1.0, 0.0, 1.0))


def seat(rig: Rig, height: float) -> ScenePlace:
    """Return a seat where the body sits by itself, but for its height."""
    x, _, z = own_hips(rig).tolist()
    return rig.place(np.array((x, height / rig.units, z)), np.array((0.0, 0.0, 1.0)))


def planted(motion: Motion) -> BoolArray:
    """Return when feet are planted, (L, F)."""
    feet = motion.feet
    assert feet is not None
    return np.array([((TIMES >= spans[:, :1]) & (TIMES <= spans[:, 1:])).any(axis=0)
                     for spans in (feet.lock.footholds.spans_s(leg) for leg in range(2))])


def ankles(rig: Rig, motion: Motion) -> FloatArray:
    joints = [rig.joint(f"{side}_ankle") for side in "lr"]
    return np.asarray(world_from_pose(rig.skeleton, motion.sample(TIMES))[..., 3][:, joints].swapaxes(0, 1))


def jerk(rig: Rig, motion: Motion) -> float:
    """Return how uneven the hips go, over tenths of a second: between those are the corners of the clips' own keys."""
    hips = world_from_pose(rig.skeleton, motion.sample(TIMES[::6]))[:, rig.joint("HumanoidRoot"), :, 3]
    return float(np.percentile(np.linalg.norm(np.diff(hips, n=3, axis=0), axis=1), 95))


def setting(seed: int) -> tuple[Rig, SkinPoints | None, float]:
    """Return a rig, its skin or none, and how high its seat is, from 0.6 to 1.6 of the clip's own."""
    rng, rig = np.random.default_rng(seed + 11000), FOUR[seed % len(FOUR)]
    skin = skin_of(rig) if rng.integers(2) else None
    return rig, skin, float(rng.uniform(0.6, 1.6)) * own_height(rig, skin)


def seated(seed: int) -> dict[str, float]:
    """Sit on a seat; return how far the skin is from it and feet from where they stand, in legs, and the hips' jerk.

    Against that on the clip's own seat. Feet that hang are told of, and stand nowhere.
    """
    rig, skin, height = setting(seed)
    motion, before = played(rig, skin=skin, seat=seat(rig, height)), plain(rig, skin)
    assert isinstance(motion.end, Floored)
    moved = np.linalg.norm(ankles(rig, motion) - ankles(rig, before), axis=2)[planted(motion)]
    hangs = any("hang" in problem.message for problem in motion.problems)
    return {"skin off seat": float(np.abs(lowest(rig, motion, skin)[ON] - height).max() / rig.leg),
            "hips' jerk": jerk(rig, motion) / jerk(rig, before)} | (
                {} if hangs else {"feet": float(moved.max() / rig.leg)})


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_bodies_sit_on_their_seats_with_feet_where_they_stand(seed: int) -> None:
    assert not [name for name, figure in seated(seed).items() if figure >= LIMITS[name]]


ROUNDED = 1e-9
"""Of two places that differ in height alone."""


def same(one: Motion, other: Motion, within: float = 0.0) -> bool:
    a, b = one.sample(TIMES), other.sample(TIMES)
    return all(np.abs(getattr(a, name) - getattr(b, name)).max() <= within
               for name in ("rotations", "translations", "scales"))


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_without_a_seat_or_on_a_mark_on_the_ground_nothing_is_changed(rig: Rig) -> None:
    plain_text = SITS.replace(' at="seat"', "")
    assert same(played(rig), played(rig, plain_text))
    mark = rig.place(np.array((0.0, 0.05 * rig.leg_m, 0.0)), np.array((0.0, 0.0, 1.0)))
    motion = played(rig, seat=mark)
    assert same(motion, plain(rig, None), ROUNDED) and not isinstance(motion.end, Floored)
    dance = SITS.replace("sit_down", "left_step").replace("sit_still", "stand").replace("stand_up", "stand")
    low, high = (played(rig, dance, seat=seat(rig, legs * rig.leg)) for legs in (0.0, 0.5))
    assert same(low, high, ROUNDED)


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_a_seat_on_the_ground_says_that_the_body_sits_in_mid_air_and_how_high(rig: Rig) -> None:
    mark = rig.place(np.array((0.2, 0.05 * rig.leg_m, 0.3)), np.array((1.0, 0.0, 1.0)))
    for text in (SITS, SITS.replace("at=", "to=")):
        motion = played(rig, text, skin=skin_of(rig), unit_m=1.0 / rig.units, seat=mark)
        (problem,) = [each for each in motion.problems if "mid-air" in each.message]
        high = re.search("about ([0-9.]+) m, or choose the mesh", problem.message)
        assert high is not None and problem.is_missed and problem.place.line == 1
        own = own_height(rig, skin_of(rig)) / rig.units
        assert float(high[1]) == pytest.approx(own, abs=0.03 * rig.leg_m)


@pytest.mark.parametrize("clip", ["squat", "stand", "left_step"])
def test_a_mark_on_the_ground_is_no_seat_in_mid_air_for_bodies_that_stand_or_squat(clip: str) -> None:
    rig = FOUR[0]
    motion = played(rig, f'<call name="stand" duration="1"/><call name="{clip}" at="seat" duration="4"/>',
                    skin=skin_of(rig), seat=rig.place(np.array((0.0, 0.0, 0.3)), np.array((0.0, 0.0, 1.0))))
    assert not [each.message for each in motion.problems if "mid-air" in each.message]


def test_the_body_stands_as_it_does_before_it_sits_down_and_after_it_gets_up() -> None:
    rig = FOUR[0]
    motion, before = played(rig, seat=seat(rig, 0.35 * rig.leg)), plain(rig, None)
    stands = (TIMES <= BEGINS_S) | (TIMES >= STANDS_S)
    own, high = (lowest(rig, each, None) for each in (motion, before))
    assert np.abs(own - high)[stands].max() < 0.01 * rig.leg
    assert own.min() > (0.35 - SEAT_LEGS) * rig.leg


def test_feet_hang_from_a_high_stool_and_a_warning_says_how_far() -> None:
    rig, skin = FOUR[0], skin_of(FOUR[0])
    height = 2.1 * own_height(rig, skin)
    motion = played(rig, skin=skin, seat=seat(rig, height))
    (problem,) = [each for each in motion.problems if "hang" in each.message]
    high = (ankles(rig, motion) - ankles(rig, plain(rig, skin)))[:, ON] @ rig.up
    assert f"the feet hang {high.max():.2g} m above the ground" in problem.message
    assert problem.is_missed and f"lower the object by {high.max():.2g} m" in problem.message
    assert np.abs(lowest(rig, motion, skin)[ON] - height).max() < SEAT_LEGS * rig.leg
    world = world_from_pose(rig.skeleton, motion.sample(TIMES))[..., 3]
    hip, knee, ankle = (world[:, rig.joint(f"l_{name}")] for name in ("hip", "knee", "ankle"))
    lengths = np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)
    np.testing.assert_allclose(lengths, rig.leg, rtol=1e-6)


@pytest.mark.parametrize(("legs", "why"), [(-0.3, "below the ground, expected one above it: raise the object"),
                                           (1.5, "high, expected at most .* m for this body: lower the object")])
def test_a_seat_that_nobody_reaches_says_what_to_do_and_the_rest_plays(legs: float, why: str) -> None:
    rig = FOUR[3]
    motion = played(rig, seat=seat(rig, legs * rig.leg))
    (problem,) = [each for each in motion.problems if "'seat'" in each.message]
    assert re.search(why, problem.message) and problem.place.line == 1 and not problem.is_note
    assert same(motion, played(rig))


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
@pytest.mark.parametrize(("legs", "unseated"), [(-0.3, ""), (1.5, ""), (0.5, "it has no surface")])
def test_a_body_does_not_go_to_a_seat_on_which_it_cannot_sit(rig: Rig, legs: float, unseated: str) -> None:
    away = rig.place(rig.leg_m * np.array((1.5, legs, -1.0)), np.array((1.0, 0.0, 0.0)))
    motion = played(rig, seat=replace(away, unseated=unseated))
    assert same(motion, played(rig))
    assert [each for each in motion.problems if "'seat'" in each.message and each.is_missed]


def test_a_call_may_begin_sitting_and_a_walk_may_end_on_a_seat_that_moves() -> None:
    rig = FOUR[3]
    height = 0.6 * rig.leg
    begins = played(rig, '<call name="sit_still" at="seat" duration="4"/>', seat=seat(rig, height))
    assert np.abs(lowest(rig, begins, None)[TIMES < 4.0] - height).max() < SEAT_LEGS * rig.leg
    low, high = 0.4 * rig.leg_m, 0.6 * rig.leg_m
    matrices = np.tile(np.eye(4)[:3], (2, 1, 1))
    matrices[:, 1, 3] = 0.0, 8.0 * (high - low)
    rises = Moving(ScenePlace((0.0, low, 0.0), (0.0, 0.0, 1.0)), np.array((0.0, 8.0)), matrices)
    motion = played(rig, seat=rises)
    assert np.abs(lowest(rig, motion, None)[ON] - low - BEGINS_S * (high - low)).max() < SEAT_LEGS * rig.leg
    text = SITS.replace('at="seat"', 'to="seat"')
    there = rig.place(np.array((0.0, high, -0.34)), np.array((0.0, 0.0, 1.0)))
    assert np.abs(lowest(rig, played(rig, text, seat=there), None)[ON] - high).max() < SEAT_LEGS * rig.leg


def test_on_a_floor_the_seat_counts_from_the_same_ground() -> None:
    rig = FOUR[3]
    corners = np.array(((-9.0, 0.2, -9.0), (9.0, 0.2, -9.0), (9.0, 0.2, 9.0), (-9.0, 0.2, 9.0)))
    floor = SceneFloor(corners, np.array(((0, 1, 2), (0, 2, 3))))
    height = 0.2 + 0.6 * rig.leg
    motion = played(rig, roles='<role name="stage" is="floor"/>', seat=seat(rig, height), stage=floor)
    assert np.abs(lowest(rig, motion, None)[ON] - height).max() < SEAT_LEGS * rig.leg
    moved = (ankles(rig, motion) - ankles(rig, plain(rig, None)))[planted(motion)]
    np.testing.assert_allclose(moved @ rig.up, 0.2, atol=FEET_LEGS * rig.leg)


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_a_body_whose_hips_go_up_to_a_high_stool_sits_on_it_too(rig: Rig) -> None:
    text = ('<call name="stand" duration="1"/><call name="climb_onto" at="seat" duration="2"/>'
            '<call name="climb_onto" from="0.9" duration="5"/>')
    own = lowest(rig, played(rig, text), None)[ON].mean()
    height = own + 0.1 * rig.leg
    assert np.abs(lowest(rig, played(rig, text, seat=seat(rig, height)), None)[ON] - height).max() < (
        2.0 * SEAT_LEGS * rig.leg)


TOLD = {"far": ('<call name="left_step" to="seat" duration="2" repeat="3"/>', (0.0, 0.0, 0.4),
                "way to 'seat' is ([0-9.]+) m"),
        "glides": ('<call name="stand" duration="1"/><call name="stand" at="seat" duration="2"/>', (0.0, 0.0, 9.0),
                   "is moved ([0-9.]+) m"),
        "reaches": ('<together><lane><call name="stand" duration="2"/></lane><lane>'
                    '<reach for="seat" with="right hand" duration="1"/><wait duration="1"/></lane></together>',
                    (0.0, 1.0, 9.0), "stays ([0-9.]+) m away"),
        "high": (SITS, (0.0, 1.7, 0.0), "seat is ([0-9.]+) m high"),
        "low": (SITS, (0.0, -0.3, 0.0), "seat is ([0-9.]+) m below")}


@pytest.mark.parametrize("told", TOLD)
def test_lengths_are_told_in_metres_whatever_the_unit_of_the_model(told: str) -> None:
    inside, at, says = TOLD[told]
    found = []
    for units in (1.0, 100.0):
        rig = replace(FOUR[3], units=units)
        (text,) = [each.message for each in played(rig, inside, unit_m=1.0 / units, seat=rig.place(
            np.array(at), np.array((0.0, 0.0, 1.0)))).problems if re.search(says, each.message)]
        found.append(re.search(says, text))
    one, other = (0.0 if each is None else float(each[1]) for each in found)
    assert 0.25 < one < 10.0 and other == pytest.approx(one, rel=0.03)


@dataclass(frozen=True)
class Lowered(Rig):
    """A character whose origin is above its feet by so much."""

    down_m: float = 0.0

    @cached_property
    def skeleton(self) -> Skeleton:
        """Its skeleton."""
        own: Skeleton = Rig.skeleton.func(self)  # type: ignore[attr-defined]
        places = own.rest_translations - (own.parents < 0)[:, None] * (self.down_m * self.units) * self.up
        return replace(own, rest_translations=places)


@pytest.mark.parametrize("down", [0.9, 0.0])
@pytest.mark.parametrize("rise", [-1.0, 0.0, 1.0])
def test_seats_stand_on_the_ground_below_them_wherever_the_origin_is(down: float, rise: float) -> None:
    """The origin of a body may be between its hips, and its seat on a floor that is higher or lower than it begins."""
    rig = Lowered("VRoid", legs=0.95, arms=0.9, trunk=0.9, lowered_rad=np.radians(30.0), down_m=down)
    skin, height = skin_of(rig), 0.55 * rig.leg + rise - down
    corners = np.array([(x, rise - down, z) for x, z in ((-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0))])
    cast: dict[str, Any] = {"stage": SceneFloor(corners, np.array(((0, 2, 1), (0, 3, 2))))} if rise else {}
    motion = played(rig, skin=skin, roles='<role name="stage" is="floor"/>' if rise else "", seat=seat(rig, height),
                    **cast)
    assert not [each.message for each in motion.problems if "'seat'" in each.message]
    assert np.abs(lowest(rig, motion, skin)[ON] - height).max() < SEAT_LEGS * rig.leg
