"""A few points of a skin that stand for all of it, wherever it turns."""

import numpy as np

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.skeleton import Pose
from takt.tests.core.test_ground import BODY, UP, skin_of


def test_points_stand_for_the_whole_skin() -> None:
    """Wherever it is turned: no vertex is lower than the lowest point by more than a hundredth of the body."""
    skin = skin_of(BODY, {"metatarsal": 0.1})
    points, whole = SkinPoints.of(*skin), SkinPoints(*skin)
    assert len(points.positions) < len(skin[0]) / 2
    rng = np.random.default_rng(5)
    pose = Pose.rest(BODY, 6)
    turns = rot.normalized(rng.normal(size=pose.rotations.shape) * 0.3 + rot.IDENTITY)
    clip = Clip("any", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), np.linspace(0.0, 1.0, 6), turns),
                Tracks.empty(3), Tracks.empty(3))
    for up in rot.rotate(rot.normalized(rng.normal(size=(8, 4))), UP):
        times = np.linspace(0.0, 1.0, 6)
        low, all_low = (each.heights(clip, times, up).min(axis=1) for each in (points, whole))
        assert (low - all_low).max() < 0.015


def test_few_corners_are_not_missed_and_skin_that_bends_neither() -> None:
    """A head of few large faces, and tubes about the limbs whose vertices near joints are moved by both bones."""
    rng = np.random.default_rng(1)
    head = rot.normalized(rng.normal(size=(300, 4)))[:, 1:]
    head *= 0.5 / np.linalg.norm(head, axis=1, keepdims=True)
    vertices, joints, weights = [BODY.rest_world[BODY.index_of["skullbase"], :, 3] + head], [
        np.tile((BODY.index_of["skullbase"], 0), (300, 1))], [np.tile((1.0, 0.0), (300, 1))]
    for joint in (BODY.index_of[f"{side}_{name}"] for side in "lr" for name in ("knee", "ankle", "elbow", "wrist")):
        above, (a, b) = int(BODY.parents[joint]), BODY.rest_world[[int(BODY.parents[joint]), joint], :, 3]
        along = np.repeat(np.linspace(0.0, 1.0, 12), 9)
        round_rad = np.tile(np.arange(9) * 2.0 * np.pi / 9, 12)
        ring = np.stack((np.cos(round_rad), 0.0 * round_rad, np.sin(round_rad)), axis=1)
        vertices.append(a + along[:, None] * (b - a) + 0.08 * ring)
        joints.append(np.tile((above, joint), (len(along), 1)))
        weights.append(np.stack((1.0 - 0.45 * along**3, 0.45 * along**3), axis=1))
    whole = SkinPoints(np.concatenate(vertices), np.concatenate(joints), np.concatenate(weights))
    points = SkinPoints.of(whole.positions, whole.joints, whole.weights)
    assert len(points.positions) < 0.9 * len(whole.positions)
    turns = rot.normalized(rng.normal(size=(20, len(BODY), 4)) * 0.5 + rot.IDENTITY)
    clip = Clip("any", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), np.linspace(0.0, 1.0, 20), turns),
                Tracks.empty(3), Tracks.empty(3))
    missed = []
    for up in rot.rotate(rot.normalized(rng.normal(size=(60, 4))), UP):
        low, all_low = (each.heights(clip, np.linspace(0.0, 1.0, 20), up).min(axis=1) for each in (points, whole))
        missed.append(low - all_low)
    assert np.max(missed) < 0.01


def test_a_hem_does_not_hide_what_is_within_it() -> None:
    """A bell about a foot that another joint moves a little, farther out than one that goes with the foot alone."""
    rng = np.random.default_rng(2)
    round_it = rot.normalized(rng.normal(size=(2000, 4)))[:, 1:]
    round_it /= np.linalg.norm(round_it, axis=1, keepdims=True)
    foot, hips = BODY.index_of["l_ankle"], BODY.index_of["HumanoidRoot"]
    bells = [(BODY.rest_world[foot, :, 3] + radius * round_it, np.tile((foot, hips), (2000, 1)),
              np.tile((share, 1.0 - share), (2000, 1))) for radius, share in ((0.5, 0.85), (0.47, 0.99), (0.45, 1.0))]
    vertices, joints, weights = zip(*bells, strict=True)
    whole = SkinPoints(np.concatenate(vertices), np.concatenate(joints), np.concatenate(weights))
    points = SkinPoints.of(whole.positions, whole.joints, whole.weights)
    turns = rot.normalized(rng.normal(size=(20, len(BODY), 4)) * 0.5 + rot.IDENTITY)
    clip = Clip("any", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), np.linspace(0.0, 1.0, 20), turns),
                Tracks.empty(3), Tracks.empty(3))
    low, all_low = (each.heights(clip, np.linspace(0.0, 1.0, 20), UP).min(axis=1) for each in (points, whole))
    assert len(points.positions) < len(whole.positions) / 3
    assert (low - all_low).max() < 0.015
