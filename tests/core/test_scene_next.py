"""Hands that reach for one thing after another: they go straight from one to the next."""

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.tests.core.seeds import seeds
from takt.tests.core.test_scene_holds import LEG_M, SIZES, palms, played, programme, scaled, spot, where

OWN = 'with="{side} hand"'
ORDERS = {
    "one lane": ('<lane><wait duration="1"/><reach for="ball" {own} duration="1" hold="1"/>'
                 '<reach for="table" {own} duration="1" hold="1"/><wait duration="3"/></lane>',),
    "a short rest": ('<lane><wait duration="1"/><reach for="ball" {own} duration="1" hold="0.7"/><wait duration="0.3"/>'
                     '<reach for="table" {own} duration="1" hold="1"/><wait duration="3"/></lane>',),
    "two lanes": ('<lane><wait duration="1"/><reach for="ball" {own} duration="1" hold="1"/><wait duration="5"/>'
                  '</lane>',
                  '<lane><wait duration="2.6"/><reach for="table" {own} duration="1.4" hold="1"/><wait duration="3"/>'
                  '</lane>'),
    "a hold": ('<lane><wait duration="2"/><hold prop="ball" {own} duration="2"/><wait duration="4"/></lane>',
               '<lane><wait duration="2"/><reach for="table" {own} duration="2" hold="1"/><wait duration="3"/></lane>'),
}
"""Ways to say that a hand is at the ball until 3 s at most, and at the table from 4 s on."""
SLACK, FASTEST, SHARPEST = 0.03, 3.0, 15.0
"""In legs: how far beside the straight line a hand may be, per second how fast, and how its speed may change."""


def beside(points: FloatArray, begin: FloatArray, end: FloatArray) -> FloatArray:
    """Return how far points (F, 3) are from the line between two others."""
    way = end - begin
    share = np.clip((points - begin) @ way / (way @ way), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - begin - share[:, None] * way, axis=1))


def reaching(order: str, seed: int) -> tuple[Motion, FloatArray, FloatArray, str, float]:
    side, size = ("right", "left")[seed % 2], SIZES[seed // 2 % 4]
    ball, table = scaled(spot(seed, side), size), scaled(spot(seed + 50, side), size)
    lanes = [lane.format(own=OWN.format(side=side)) for lane in ORDERS[order]]
    motion = played(programme(*lanes), size, ball=ball, table=table)
    return motion, np.array(ball), np.array(table), side[0], size


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", seeds(24, quick=2))
def test_a_hand_goes_straight_from_one_reach_to_the_next(order: str, seed: int) -> None:
    motion, ball, table, side, size = reaching(order, seed)
    leg = size * LEG_M
    times = np.linspace(2.0 if order == "a hold" else 2.7, 4.9, 200)
    palm = palms(motion, side, times)
    assert np.linalg.norm(palm[0] - ball) < 0.01 * leg and np.linalg.norm(palm[-1] - table) < 0.01 * leg
    assert beside(palm, ball, table).max() < SLACK * leg
    fine = palms(motion, side, np.arange(times[0], 4.9, 1.0 / 120.0))
    assert np.linalg.norm(np.diff(fine, axis=0), axis=1).max() * 120.0 < FASTEST * leg
    assert np.linalg.norm(np.diff(fine, 2, axis=0), axis=1).max() * 120.0**2 < SHARPEST * leg


@pytest.mark.parametrize("seed", seeds(24, quick=2))
def test_a_prop_let_go_on_the_way_to_the_next_reach_stays_without_a_jump(seed: int) -> None:
    side, size = ("right", "left")[seed % 2], SIZES[seed // 2 % 4]
    own = OWN.format(side=side)
    motion = played(programme(
        f'<lane><wait duration="1"/><reach for="cup" {own} duration="1"/><hold prop="cup" {own} duration="1.5"/>'
        '<wait duration="4.5"/></lane>',
        f'<lane><wait duration="2"/><reach for="table" {own} duration="3" hold="1"/><wait duration="2"/></lane>'),
        size, cup=scaled(spot(seed, side), size), table=scaled(spot(seed + 50, side), size))
    assert motion.carried.keys() == {"cup"}
    ends = np.array([phase.begin_s for phase in motion.carried["cup"].phases])
    assert len(ends) == 2
    before, after = (palms(motion, side[0], ends + step) for step in (-1e-6, 1e-6))
    assert np.linalg.norm(after - before, axis=1).max() < 1e-4 * LEG_M * size
    lies = scaled(spot(seed, side), size)
    before, after = (where(motion, "cup", lies, ends + step) for step in (-1e-6, 1e-6))
    assert np.linalg.norm(after - before, axis=1).max() < 1e-4 * LEG_M * size
