"""core/clips/posed.py: some joints at many times, against poses of the whole skeleton."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.keyed import packed
from takt.core.clips.posed import PosedJoints
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton, height_rows, world_from_pose

EXACT = 1e-12
UP = np.array((0.0, 0.6, 0.8))
PARENTS = (-1, 0, 1, 0, 3, 3, -1, 6, 5)
TIMES = np.concatenate((np.linspace(-0.5, 3.5, 700), (0.0, 1.0, 2.0)))
WANTED = np.array((8, 2, 6))


def clip(rng: np.random.Generator, *, scales: bool = False, is_still: bool = False) -> Clip:
    """Return a clip of several roots and branches, whose tracks have different times but for some."""
    joints = len(PARENTS)
    skeleton = Skeleton.from_arrays([f"j{i}" for i in range(joints)], PARENTS,
                                    rot.normalized(rng.normal(size=(joints, 4))), rng.normal(size=(joints, 3)))
    shared = np.sort(rng.uniform(0.0, 3.0, 12))

    def tracks(some: tuple[int, ...], channels: int) -> Tracks:
        made = []
        for number, joint in enumerate(some):
            own = shared if number % 2 else np.sort(rng.uniform(0.0, 3.0, 1 + 3 * number))
            values = rng.normal(size=(len(own), channels))
            made.append((joint, own, rot.normalized(values) if channels == 4 else values))
        return packed(made, channels)

    moves = () if is_still else (0, 5, 8)
    return Clip("", skeleton, 3.0, tracks((0, 2, 3, 5, 8), 4), tracks(moves, 3), tracks((3, 5) if scales else (), 3))


@pytest.mark.parametrize("changes", [{}, {"scales": True}, {"is_still": True}])
@pytest.mark.parametrize("is_looping", [False, True])
@pytest.mark.parametrize("is_spherical", [False, True])
def test_joints_are_where_poses_of_the_whole_have_them(changes: dict[str, bool], is_looping: bool,
                                                       is_spherical: bool) -> None:
    whole = replace(clip(np.random.default_rng(3), **changes), is_looping=is_looping)
    posed = PosedJoints.of(whole, WANTED, is_spherical=is_spherical)
    pose = whole.sample(TIMES, "SLERP" if is_spherical else "LERP")
    world, rows = world_from_pose(whole.skeleton, pose), height_rows(whole.skeleton, pose, UP)
    assert np.abs(posed.world(TIMES) - world[:, WANTED]).max() < EXACT
    assert np.abs(posed.height_rows(TIMES, UP) - rows[:, WANTED].transpose(2, 1, 0)).max() < EXACT
    assert np.abs(posed.heights(TIMES, UP) - rows[:, WANTED, 3]).max() < EXACT
    turns, positions = posed.placed(TIMES)
    assert np.abs(positions - world[:, WANTED][..., 3]).max() < EXACT
    if not changes.get("scales"):
        assert np.abs(rot.to_matrix(turns) - world[:, WANTED][..., :3]).max() < EXACT


def test_a_skeleton_with_scales_at_rest_is_posed_with_them() -> None:
    plain = clip(np.random.default_rng(4))
    scaled = replace(plain.skeleton, rest_scales=np.linspace(0.5, 2.0, 3 * len(PARENTS)).reshape(-1, 3))
    whole = replace(plain, skeleton=scaled)
    world = world_from_pose(scaled, whole.sample(TIMES))
    assert np.abs(PosedJoints.of(whole, WANTED).world(TIMES) - world[:, WANTED]).max() < EXACT


def test_tracks_alone_move_a_skeleton_without_scales_and_rounds() -> None:
    whole = replace(clip(np.random.default_rng(5), scales=True), is_looping=True)
    alone = replace(whole, scales=Tracks.empty(3), is_looping=False)
    posed = PosedJoints.of_tracks(whole.skeleton, whole.rotations, whole.translations, WANTED)
    assert np.abs(posed.world(TIMES) - world_from_pose(whole.skeleton, alone.sample(TIMES))[:, WANTED]).max() < EXACT


def test_nothing_is_wanted_of_no_joints_and_at_no_times() -> None:
    whole = clip(np.random.default_rng(6))
    assert PosedJoints.of(whole, WANTED).world(np.zeros(0)).shape == (0, 3, 3, 4)
    assert PosedJoints.of(whole, np.zeros(0, dtype=np.int64)).heights(TIMES, UP).shape == (len(TIMES), 0)


def test_tracks_with_others_in_their_place_are_posed_where_they_lie() -> None:
    rng = np.random.default_rng(8)
    whole, new = clip(rng), clip(rng)
    some = np.isin(np.arange(len(PARENTS)), (2, 8))
    first = whole.rotations.with_others(new.rotations.of_joints(some))
    twice = first.with_others(whole.rotations.of_joints(np.arange(len(PARENTS)) == 3))
    tracks = {int(joint): tracks.keys(i) for tracks in (whole.rotations, new.rotations.of_joints(some))
              for i, joint in enumerate(tracks.joints)}
    expected = packed([(joint, *tracks[joint]) for joint in sorted(tracks)], 4)
    world = PosedJoints.of(replace(whole, rotations=expected), WANTED).world(TIMES)
    assert np.abs(PosedJoints.of(replace(whole, rotations=twice), WANTED).world(TIMES) - world).max() < EXACT
    assert "values" not in vars(twice)  # nothing was packed for that
    for name in ("joints", "starts", "times_s", "values", "stored", "places"):
        assert np.array_equal(getattr(twice, name), getattr(expected, name))
    moved = replace(first, joints=first.joints[::-1])
    assert np.array_equal(moved.values, expected.values)
    assert np.array_equal(moved.keys(0)[1], expected.keys(0)[1])


def test_others_may_be_of_joints_that_had_no_tracks() -> None:
    whole = clip(np.random.default_rng(9)).rotations
    odd, even = (whole.of_joints(np.arange(len(PARENTS)) % 2 == rest) for rest in (1, 0))
    assert np.array_equal(odd.with_others(even).joints, np.sort(whole.joints))
    assert np.array_equal(odd.with_others(even).values, whole.values)
    assert np.array_equal(Tracks.empty(4).with_others(whole).values, whole.values)
