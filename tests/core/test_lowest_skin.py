"""The lowest skin is that of all points, also where ends of limbs are posed only in frames in which they may matter."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.retargeting.ground.lowest_skin import LowestSkin
from takt.core.retargeting.skin_points import SkinPoints, evenly_around
from takt.core.skeletons.hierarchy import with_descendants
from takt.samples.skeleton import build_skeleton

BODY, UP = build_skeleton(), np.array((0.0, 1.0, 0.0))
TIMES = np.linspace(0.0, 2.0, 300)
SIZE = float(np.ptp(BODY.rest_world[..., 3], axis=0).max())
SAME = 1e-12


def skin() -> SkinPoints:
    """Return a ball about each joint, of which some points go along with the joint's parent."""
    ball, count = evenly_around(40), len(BODY)
    joints = np.repeat(np.arange(count), len(ball))
    weights = np.stack((0.6 + 0.4 * (np.arange(len(joints)) % 2), 0.4 - 0.4 * (np.arange(len(joints)) % 2)), axis=1)
    points = (BODY.rest_world[:, None, :, 3] + 0.03 * SIZE * ball).reshape(-1, 3)
    return SkinPoints(points, np.stack((joints, np.maximum(BODY.parents[joints], 0)), axis=1), weights)


def tumbling(*, leaves: bool, scales: bool) -> Clip:
    """Return a clip that turns every joint and tips the body over; hands leave their arms, fingers become longer."""
    axes = np.random.default_rng(7).normal(size=(len(BODY), 3))
    angles = np.sin(TIMES[:, None] * (1.0 + np.arange(len(BODY)) / 9.0))
    angles[:, 0] *= 2.0 * np.pi
    turns = rot.from_axis_angle(np.broadcast_to(axes, (*angles.shape, 3)), 0.5 * angles)
    moved = np.array([0, BODY.index_of["l_index1"]] if leaves else [0])
    path = np.zeros((len(TIMES), len(moved), 3))
    path[:, 0, 1], path[:, 1:, 1] = 0.1 * SIZE * np.cos(TIMES), -0.5 * SIZE * np.sin(9.0 * TIMES)[:, None]
    sized = np.array([BODY.index_of["l_wrist"]] if scales else [], dtype=np.int64)
    sizes = np.full((len(TIMES), len(sized), 3), 4.0)
    return Clip("", BODY, 2.0, Tracks.uniform(np.arange(len(BODY)), TIMES, turns), Tracks.uniform(moved, TIMES, path),
                Tracks.uniform(sized, TIMES, sizes) if scales else Tracks.empty(3))


@pytest.mark.parametrize(("leaves", "scales"), [(False, False), (True, False), (False, True)])
def test_what_is_lowest_is_found_in_every_frame(leaves: bool, scales: bool) -> None:
    points, clip = skin(), tumbling(leaves=leaves, scales=scales)
    owner = points.joints[:, 0]
    feet, shins = ([with_descendants(BODY.parents, np.array([BODY.index_of[f"{side}_{joint}"]]))[owner]
                    for side in "lr"] for joint in ("ankle", "knee"))
    shins = [shin & ~foot for shin, foot in zip(shins, feet, strict=True)]
    level, ends = np.full(len(owner), 0.02 * SIZE), np.array([BODY.index_of["l_hip"], BODY.index_of["l_ankle"]])
    lowest = LowestSkin.of(points, BODY, feet, shins, level, ends)
    assert len(lowest.ends) == 2, "hands with their fingers"
    low, _ = lowest.at(clip, TIMES, UP)
    above = points.heights(clip, TIMES, UP) - level
    columns = (*feet, *shins, ~np.logical_or.reduce([*feet, *shins]))
    whole = np.stack([above[:, column].min(axis=1) for column in columns], axis=1)
    counts = np.column_stack((np.ones((len(TIMES), 2), dtype=np.bool_),
                              whole[:, 2:] < np.maximum(whole[:, :2].max(axis=1), 0.0)[:, None]))
    assert counts[:, -1].any() and not counts[:, -1].all()
    assert np.abs(low - whole)[counts].max() < SAME * SIZE
    assert (low >= whole - SAME * SIZE).all()
