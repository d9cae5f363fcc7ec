"""Hips come down on the seats of a scene: as many settings as TAKT_SCENE_SETTINGS says, on four rigs."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.feet.seats import STANDS, Thighs
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import Moving, ScenePlace
from takt.core.playing.score import Settings, play
from takt.core.retargeting.skin_points import SkinPoints
from takt.samples.posing import build_clip
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scene_settings import apart, seen, traveller_of
from takt.tests.core.scores import library
from takt.tests.core.seeds import part_of
from takt.tests.core.test_scene_seats import FPS, LOW, SEEDS, lowest, own_height, own_hips, played, seat, skin_of

LIMITS: Final = {"hips off seat": 0.02, "faces": 2.0, "skin off seat": 0.01}
"""Lengths in legs, angles in degrees."""
SWAYS_LEGS: Final = 0.1
"""So far hips sway as a walk ends."""
SAT: Final = '<call name="sit_down" {}="seat"{} duration="2"/><call name="sit_still" duration="3"/>'
WALKS: Final = '<call name="walk" to="seat"{} repeat="fit" duration="{}"/>'
ROLES: Final = ('<procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/>'
                '</procedure><procedure name="go"><call name="walk" duration="2"/>'
                '<call name="sit_down" duration="2"/></procedure>')


def text_of(kind: int, faces: str, before_s: float) -> str:
    """Return what is played: what comes before a body sits down for three seconds, and how it does."""
    if kind == 0:
        return WALKS.format(faces, before_s) + SAT.format("at", faces)
    if kind == 1:  # it stands for a moment before
        return WALKS.format(faces, before_s - 0.5) + '<call name="stand" duration="0.5"/>' + SAT.format("at", faces)
    if kind == 2:  # nothing leads there
        return f'<call name="stand" duration="{before_s}"/>' + SAT.format("at", faces)
    if kind == 3:  # it goes backward there
        return f'<call name="stand" duration="{before_s}"/>' + SAT.format("to", faces)
    return (f'<call name="stand" duration="{before_s - 2.0}"/><call name="go" at="seat"{faces} duration="4"/>'
            '<call name="sit_still" duration="3"/>')


def setting(seed: int) -> tuple[Rig, SkinPoints | None, ScenePlace, str, float]:
    """Return a rig, its skin or none, a seat, what is played, and when the body has sat down."""
    rng, rig = np.random.default_rng(seed + 12000), FOUR[seed % len(FOUR)]
    skin, kind = skin_of(rig) if rng.integers(2) else None, seed // len(FOUR) % 5
    (far, around, turned), before_s = (rng.uniform(2.0, 6.0), *rng.uniform(-np.pi, np.pi, 2)), rng.uniform(3.0, 6.0)
    if kind == 3:
        far, around, turned = rng.uniform(0.85, 1.15), *rng.uniform(-0.2, 0.2, 2)
    at = (np.linalg.norm(own_hips(rig)) * far * np.array((np.sin(around), 0.0, -np.cos(around))) if kind == 3
          else rig.leg_m * far * np.array((np.sin(around), 0.0, np.cos(around))))
    at[1] = rng.uniform(0.6, 1.6) * own_height(rig, skin) / rig.units
    faces = "" if rng.integers(4) else ' facing="no"'
    place = rig.place(at, np.array((np.sin(turned), 0.0, np.cos(turned))))
    return rig, skin, place, text_of(kind, faces, before_s), before_s + 2.0


def sat(seed: int) -> Mapping[str, float]:
    """Sit on a seat anywhere; return how far hips and skin are from it, and from the way that it faces."""
    rig, skin, place, text, from_s = setting(seed)
    motion, times = played(rig, text, skin=skin, roles=ROLES, seat=place), from_s + np.arange(0.3, 2.4, 1.0 / FPS)
    assert not [each for each in motion.problems if "beside" in each.message or "rest on" in each.message]
    turned = apart(seen(rig, motion, times)[1], np.array(traveller_of(rig, motion).angle(place.ahead)))
    found = {"hips off seat": float(np.linalg.norm(aside(rig, motion, place, times), axis=1).max()) / rig.leg,
             "skin off seat": float(np.abs(lowest(rig, motion, skin, times) - place.position @ rig.up).max()) / rig.leg}
    return found if "facing" in text else found | {"faces": float(np.degrees(turned).max())}


def aside(rig: Rig, motion: Motion, place: ScenePlace, times_s: FloatArray) -> FloatArray:
    """Return how far hips are from above a place, (F, 3)."""
    thighs = Thighs.of(rig.map, rig.up)
    assert thighs is not None
    away = thighs.seen(motion.sample(times_s))[0] - place.position
    return np.asarray(away - (away @ rig.up)[:, None] * rig.up)


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_hips_come_down_on_the_seat_however_the_body_gets_there(seed: int) -> None:
    assert not [name for name, figure in sat(seed).items() if figure >= LIMITS[name]]


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_a_walk_leads_to_where_the_next_call_sits_down_and_nothing_glides(rig: Rig) -> None:
    place = rig.place(rig.leg_m * np.array((1.0, 0.5, 3.0)), np.array((0.6, 0.0, 0.8)))
    motion = played(rig, text_of(0, "", 4.0), roles=ROLES, seat=place)
    assert not [each for each in motion.problems if "glides" in each.message]
    traveller, (positions, _) = traveller_of(rig, motion), seen(rig, motion, np.array((4.0,)))
    before = float(np.linalg.norm(own_hips(rig)) * rig.units)
    assert abs(abs(positions[0] - traveller.over(place.position)) - before) < SWAYS_LEGS * rig.leg
    alone = played(rig, WALKS.format("", 4.0), roles=ROLES, seat=place)
    positions, _ = seen(rig, alone, np.array((alone.duration_s,)))
    assert abs(positions[0] - traveller.over(place.position)) < 0.01 * rig.leg


def test_a_body_that_sits_beside_its_seat_is_told_of_with_line_object_and_distance() -> None:
    rig, place = FOUR[3], seat(FOUR[3], 0.6 * FOUR[3].leg)
    text = ('<call name="stand" duration="1"/>\n<call name="sit_down" at="seat" duration="2"/>'
            '<call name="{}" duration="4"/>')
    still, scoots = (played(rig, text.format(name), seat=place) for name in ("sit_still", "scoot"))
    far = float(np.linalg.norm(aside(rig, scoots, place, np.linspace(3.0, 7.0, 400)), axis=1).max())
    assert not [each for each in still.problems if "beside" in each.message] and far > 0.3
    (problem,) = [each for each in scoots.problems if "beside" in each.message]
    assert problem.message == (f"<call> the body sits up to {far:.2g} m beside the seat 'seat': call clips that stay "
                               "where they sit down")
    assert problem.place.line == 2 and problem.is_missed


@pytest.mark.parametrize("side", range(3))
@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_a_seat_that_moves_while_the_body_sits_is_told_of_with_its_distance_and_no_other(rig: Rig, side: int) -> None:
    """It moves along one axis, while the body rests on it, before it sits down, or after it has stood up."""
    away = 0.2 * rig.leg * np.eye(3)[side]
    text = ('<call name="stand" duration="2"/>\n<call name="sit_down" at="seat" duration="2"/><call name="sit_still" '
            'duration="4"/><call name="stand_up" duration="2"/><call name="stand" duration="2"/>')
    place = seat(rig, 0.6 * rig.leg)
    for moves_s, is_told in (((5.0, 6.0), True), ((0.2, 1.8), False), ((10.4, 11.6), False)):
        matrices = np.tile(np.eye(4)[:3], (2, 1, 1))
        matrices[int(moves_s[0] > 3.0), :, 3] = away if moves_s[0] > 3.0 else -away
        motion = played(rig, text, seat=Moving(place, np.array(moves_s), matrices))
        found = [each for each in motion.problems if "moves by" in each.message]
        assert len(found) == is_told, (moves_s, motion.problems)
        assert not found or (f"'seat' moves by {0.2 * rig.leg:.2g} m" in found[0].message and found[0].is_missed
                             and found[0].place.line == 2)


def gliding(rig: Rig, rng: np.random.Generator, back: float, rests_s: float) -> Motion:
    """Come down in front of a seat, glide back onto it and sit; glide ahead, to the side or not, and get up.

    back: how far the hips glide, in metres. rests_s: how long they stay ahead of the seat before the body gets up.
    """
    down_s, back_s = rng.uniform(0.8, 1.5), rng.uniform(0.35, 0.7)
    low, ahead = (rng.uniform(-0.03, 0.03), rng.uniform(-0.45, -0.38), LOW[2]), np.array((0.0, 0.0, back))
    front = tuple((np.array(low) + ahead).tolist())
    stands, ends_s = (0.0, -0.006, 0.0), down_s + back_s + 0.5
    clips = library(rooms_Stools=(
        build_clip("stand", 1.0, {}),
        build_clip("down", ends_s, {"root": (
            (0.0, *stands), (down_s, *front), (down_s + back_s, *low), (ends_s, *low))}),
        build_clip("still", 2.0, {"root": ((0.0, *low), (2.0, *low))}),
        build_clip("up", ends_s + rests_s, {"root": (
            (0.0, *low), (0.5, *low), (0.5 + back_s, *front), (0.5 + back_s + rests_s, *front),
            (ends_s + rests_s, *stands)) if rests_s else (
                (0.0, *low), (0.5, *low), (0.5 + back_s, *front), (ends_s, *stands))})))
    text = ('<pha version="2" tickLength="1"><load src="rooms.Stools"/><role name="seat" is="place"/>'
            f'<procedure name="main"><call name="stand" duration="1"/><call name="down" at="seat" duration="{ends_s}"/>'
            f'<call name="still" duration="2"/><call name="up" duration="{ends_s + rests_s}"/></procedure></pha>')
    place = rig.place(np.array((0.2, rng.uniform(0.4, 0.6) * rig.leg_m, 0.3)), np.array((0.0, 0.0, 1.0)))
    return play(resolve(parse(text), clips), Performer(rig.skeleton, rig.up, rig.turn, points=skin_of(rig)),
                Settings(cast=(("seat", place),)))


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_hips_that_come_down_ahead_of_a_seat_and_glide_onto_it_are_told_of_only_if_they_rest_there(seed: int) -> None:
    rng, rig = np.random.default_rng(seed + 14000), FOUR[seed % len(FOUR)]
    back, rests_s = rng.uniform(0.22, 0.32), rng.uniform(0.8, 2.0)
    for stays_s in (0.0, rests_s):
        motion = gliding(rig, np.random.default_rng(seed), back, stays_s)
        found = [each.message for each in motion.problems if "beside" in each.message or "rest on" in each.message]
        assert len(found) == (stays_s > 0.0), (seed, stays_s, found)


@pytest.mark.parametrize(("lasts_s", "is_told"), [(0.5, True), (2.0, False)])
def test_a_body_that_never_rests_on_its_seat_is_told_of(lasts_s: float, is_told: bool) -> None:
    rig = FOUR[3]
    motion = played(rig, f'\n<call name="sit_down" at="seat" duration="{lasts_s}"/>', seat=seat(rig, 0.6 * rig.leg))
    found = [each for each in motion.problems if "does not come to rest on the seat 'seat'" in each.message]
    assert [each.place.line for each in found] == [2] * is_told and all(each.is_missed for each in found)


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_a_walk_to_a_seat_where_a_clip_only_sits_ends_before_it(seed: int) -> None:
    """Nothing in the clip sits down, so the transition does, and the walk does not go through the chair."""
    rng, rig = np.random.default_rng(seed + 13000), FOUR[seed % len(FOUR)]
    skin, turned = skin_of(rig), rng.uniform(-0.6, 0.6)
    ahead = np.array((np.sin(turned), 0.0, np.cos(turned)))
    at = -rig.leg_m * rng.uniform(3.0, 6.0) * ahead  # the body comes from where the seat faces
    at[1] = rng.uniform(0.8, 1.3) * own_height(rig, skin) / rig.units
    goes_round = bool(rng.integers(2))  # as the seat does not face where the body comes from
    place = rig.place(at, -ahead if goes_round else ahead)
    motion = played(rig, WALKS.format("", 5.0) + '<call name="sit_still" at="seat" transition="1" duration="4"/>',
                    skin=skin, roles=ROLES, seat=place)
    thighs, times = Thighs.of(rig.map, rig.up), np.arange(0.0, 6.0, 1.0 / FPS)
    assert thighs is not None
    away = np.linalg.norm(aside(rig, motion, place, times), axis=1) / rig.leg
    upright = thighs.seen(motion.sample(times))[1] < STANDS * rig.leg
    assert not [each for each in motion.problems if "beside" in each.message or "rest on" in each.message]
    if not goes_round:
        assert away[upright].min() > 0.1  # so far ahead of its middle
    rests = np.arange(6.5, 8.5, 1.0 / FPS)
    assert np.linalg.norm(aside(rig, motion, place, rests), axis=1).max() < LIMITS["hips off seat"] * rig.leg
    assert np.abs(lowest(rig, motion, skin, rests) - place.position @ rig.up).max() < LIMITS["skin off seat"] * rig.leg
