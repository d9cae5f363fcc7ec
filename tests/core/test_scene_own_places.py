"""Hands that reach for places on the character's own body: she drinks."""

from functools import cache

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import OwnPlace, ScenePlace, Target
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.seeds import seeds
from takt.tests.core.test_scene_holds import BODIES, LEG_M, SIZES, UP, palms, programme, scaled, spot, where

DRINKS = ('<lane><wait duration="0.5"/><reach for="cup" with="{side} hand" duration="1"/>'
          '<hold prop="cup" with="{side} hand" duration="5"/><wait duration="1.5"/></lane>',
          '<lane><wait duration="2"/><reach for="table" with="{side} hand" duration="1" hold="2"/><wait duration="3"/>'
          '</lane>',
          '<lane body="head"><wait duration="1"/><look at="her" duration="3"/><wait duration="4"/></lane>')
"""The table is her mouth: a place on the head."""
MOUTH = 0.0, 0.06, 0.1
"""From the joint of the head, in metres for the sample character."""


def drinks(seed: int, joint: str = "skullbase",
           side: str = "right") -> tuple[Motion, tuple[float, float, float], float]:
    size = SIZES[seed % 4]
    cup, turned = scaled(spot(seed, side), size), float(np.random.default_rng(seed).uniform(-1.5, 1.5))
    cast: dict[str, Target] = {"cup": ScenePlace(cup, (0.0, 0.0, 1.0)), "table": OwnPlace(joint, scaled(MOUTH, size)),
                               "her": ScenePlace(scaled((turned, 1.4, 1.5), size), (0.0, 0.0, 1.0))}
    lanes = [lane.format(side=side) for lane in DRINKS]
    motion = play(programme(*lanes), Performer(BODIES[size], UP), Settings(cast=tuple(cast.items())))
    return motion, cup, size


def mouths(motion: Motion, times_s: FloatArray, size: float) -> FloatArray:
    """Return where the mouth is, (F, 3)."""
    head = world_from_pose(motion.skeleton, motion.sample(times_s))[:, motion.skeleton.index_of["skullbase"]]
    return np.asarray(head[..., :3] @ np.array(scaled(MOUTH, size)) + head[..., 3])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("seed", seeds(40, quick=2))
def test_a_cup_is_brought_to_the_mouth_of_a_head_that_turns(seed: int, side: str) -> None:
    motion, cup, size = drinks(seed, side=side)
    times = np.linspace(3.0, 5.0, 40)
    mouth, palm = mouths(motion, times, size), palms(motion, side[0], times)
    assert np.linalg.norm(palm - mouth, axis=1).max() < 0.01 * LEG_M * size
    assert np.linalg.norm(where(motion, "cup", cup, times) - mouth, axis=1).max() < 0.015 * LEG_M * size
    assert np.ptp(mouth, axis=0).max() > 0.003 * size
    assert not [problem for problem in motion.problems if problem.is_missed]
    fine = palms(motion, side[0], np.arange(1.5, 6.5, 1.0 / 120.0))
    assert np.linalg.norm(np.diff(fine, axis=0), axis=1).max() * 120.0 < 6.0 * LEG_M * size


def tilts(motion: Motion, times_s: FloatArray) -> FloatArray:
    """Return what is up on the cup, (F, 3)."""
    return np.asarray(motion.carry("cup", times_s)[..., :3] @ UP)


@cache
def drinks_as(size: float, up: tuple[float, float, float] | None) -> Motion:
    """Return a motion whose mouth wants what is at it to stand so, or any way."""
    return play(programme(*(lane.format(side="right") for lane in DRINKS)), Performer(BODIES[size], UP), Settings(cast=(
        ("cup", ScenePlace(scaled(spot(2), size), (0.0, 0.0, 1.0))),
        ("table", OwnPlace("skullbase", scaled(MOUTH, size), up=up)),
        ("her", ScenePlace(scaled((0.5, 1.2, 1.5), size), (0.0, 0.0, 1.0))))))


@pytest.mark.parametrize("up", [(0.0, 1.0, 0.0), (0.0, 0.9, 0.4), (0.3, 0.9, 0.0)])
@pytest.mark.parametrize("size", SIZES)
def test_a_cup_at_the_mouth_stands_as_the_place_does(size: float, up: tuple[float, float, float]) -> None:
    own, turned = drinks_as(size, None), drinks_as(size, up)
    times = np.linspace(3.1, 4.9, 20)
    head = world_from_pose(turned.skeleton, turned.sample(times))[:, turned.skeleton.index_of["skullbase"], :, :3]
    wanted = head @ np.array(up) / np.linalg.norm(up)
    before, after = (np.degrees(np.arccos(np.clip(np.sum(tilts(each, times) * wanted, axis=1), -1.0, 1.0)))
                     for each in (own, turned))
    assert before.min() > 10.0 and after.max() < max(1.0, before.max() - 60.0 + 1.0)
    assert np.linalg.norm(palms(turned, "r", times) - mouths(turned, times, size), axis=1).max() < 0.01 * LEG_M * size
    fine = tilts(turned, np.arange(1.0, 7.9, 1.0 / 120.0))
    assert np.linalg.norm(np.diff(fine, axis=0), axis=1).max() * 120.0 < 6.0
    rests = tilts(turned, np.array((0.5, 1.4)))
    np.testing.assert_allclose(rests, np.tile((0.0, 1.0, 0.0), (2, 1)), atol=1e-9)


@pytest.mark.parametrize(("joint", "why"), [("r_wrist", "is on the arm that reaches for it"),
                                            ("r_shoulder", "is on the arm that reaches for it"),
                                            ("tail", "hangs on a bone that does not move with the score")])
def test_a_place_on_the_own_arm_is_left_out_and_told(joint: str, why: str) -> None:
    motion, _, _ = drinks(0, joint)
    (problem,) = (each for each in motion.problems if each.is_missed)
    assert problem.message.startswith(f"<reach> 'table' {why}") and problem.place.line == 1
    assert np.isfinite(motion.sample(np.linspace(0.0, 8.0, 17)).rotations).all()


def test_nobody_looks_at_or_goes_to_a_place_on_the_own_body() -> None:
    cast: tuple[tuple[str, Target], ...] = (("table", OwnPlace("skullbase", MOUTH)),)
    motion = play(programme('<lane><look at="table" duration="8"/></lane>'), Performer(BODIES[1.0], UP),
                  Settings(cast=cast))
    (problem,) = (each for each in motion.problems if each.is_missed)
    assert "a place on the character's own body, to which only <reach> goes" in problem.message
