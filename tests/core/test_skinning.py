"""The reference of skinning: known values, invariants, errors. Against Blender: tests/blender/test_skinning.py."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.core.skinning import SKINNING_METHODS, Palette, skin_dual_quaternion, skin_linear, skin_rigid
from takt.core.skinning.influences import Influences
from takt.core.skinning.palette import normal_matrices, unit

EXACT = 1e-12
ROUNDED = 1e-9
X = np.array((1.0, 0.0, 0.0))
every_method = pytest.mark.parametrize("method", SKINNING_METHODS)


def arm(*lengths: float) -> Skeleton:
    """A chain along x."""
    joints = len(lengths)
    return Skeleton.from_arrays([f"j{i}" for i in range(joints)], np.arange(joints) - 1, rot.identities(joints),
                                np.array(lengths)[:, None] * X)


def random_skeleton(random: np.random.Generator, joints: int = 6, scaled: bool = False) -> Skeleton:
    parents = [-1, *(int(random.integers(0, j)) for j in range(1, joints))]
    scales = random.uniform(0.5, 2.0, (joints, 3)) if scaled else None
    rotations = rot.normalized(random.normal(size=(joints, 4)))
    return Skeleton.from_arrays([f"j{i}" for i in range(joints)], parents, rotations, random.normal(size=(joints, 3)),
                                scales)


def random_pose(random: np.random.Generator, joints: int, scaled: bool, *batch: int) -> Pose:
    scales = random.uniform(0.5, 2.0, (*batch, joints, 3)) if scaled else np.ones((*batch, joints, 3))
    rotations = rot.normalized(random.normal(size=(*batch, joints, 4)))
    return Pose(rotations, random.normal(size=(*batch, joints, 3)), scales)


def random_mesh(random: np.random.Generator, joints: int,
                vertices: int = 40) -> tuple[Influences, FloatArray, FloatArray]:
    weights = random.uniform(size=(vertices, joints)) ** 3
    return (Influences.strongest(weights, 4), random.normal(size=(vertices, 3)),
            unit(random.normal(size=(vertices, 3))))


def full(matrices: FloatArray) -> FloatArray:
    bottom = np.broadcast_to((0.0, 0.0, 0.0, 1.0), (*matrices.shape[:-2], 1, 4))
    return np.concatenate((matrices, bottom), axis=-2)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
def test_palette_leads_from_rest_to_pose(scaled: bool, batch: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    skeleton = random_skeleton(random, scaled=scaled)
    pose = random_pose(random, len(skeleton), scaled, *batch)
    palette = Palette.from_pose(skeleton, pose)
    expected = full(world_from_pose(skeleton, pose)) @ np.linalg.inv(full(skeleton.rest_world))
    np.testing.assert_allclose(palette.matrices, expected[..., :3, :], atol=ROUNDED)
    assert (palette.stretches is not None) == scaled


def test_palette_of_rest_is_identity() -> None:
    skeleton = random_skeleton(np.random.default_rng(2))
    palette = Palette.from_pose(skeleton, Pose.rest(skeleton))
    np.testing.assert_allclose(palette.matrices, np.broadcast_to(np.eye(3, 4), (6, 3, 4)), atol=EXACT)


def test_palette_from_rigid_matrices_has_no_stretch() -> None:
    random = np.random.default_rng(3)
    skeleton = random_skeleton(random)
    pose = random_pose(random, 6, False)
    with_matrices = Palette.from_matrices(world_from_pose(skeleton, pose), skeleton.rest_world)
    assert with_matrices.stretches is None
    np.testing.assert_allclose(with_matrices.matrices, Palette.from_pose(skeleton, pose).matrices, atol=ROUNDED)


def test_palette_keeps_a_mirrored_and_a_flattened_joint() -> None:
    skeleton = arm(0.0, 1.0)
    pose = Pose(rot.identities(2), np.zeros((2, 3)), np.array(((1.0, 1.0, 1.0), (-1.0, 1.0, 0.0))))
    expected = np.array(((-1.0, 0, 0, 2.0), (0, 1.0, 0, 0), (0, 0, 0, 0)))
    np.testing.assert_allclose(Palette.from_pose(skeleton, pose).matrices[1], expected, atol=EXACT)


def test_palette_keeps_a_bone_that_is_only_mirrored() -> None:
    mirror = np.diag((-1.0, 1.0, 1.0))[None, :, :]
    palette = Palette.from_matrices(np.pad(mirror, ((0, 0), (0, 0), (0, 1))), np.eye(3, 4)[None])
    np.testing.assert_allclose(palette.matrices[..., :3], mirror, atol=EXACT)
    np.testing.assert_allclose(replace(palette, exact=None).matrices[..., :3], mirror, atol=EXACT)


@pytest.mark.parametrize("shear", [0.0, 1e-3])
def test_rotation_and_stretch_are_the_matrix_but_for_a_shear_at_rest(shear: float) -> None:
    random = np.random.default_rng(11)
    skeleton, pose = random_skeleton(random), random_pose(random, 6, True)
    world, rest = world_from_pose(skeleton, pose), skeleton.rest_world.copy()
    rest[..., :3] @= np.array(((1.0, shear, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    palette = Palette.from_matrices(world, rest)
    expected = world[..., :3] @ np.linalg.inv(rest[..., :3])
    np.testing.assert_allclose(palette.matrices[..., :3], expected, atol=ROUNDED)
    away = np.abs(replace(palette, exact=None).matrices - palette.matrices).max()
    assert away < ROUNDED if shear == 0.0 else 0.1 * shear < away < 10 * shear


def test_palette_refuses_shapes_that_do_not_fit() -> None:
    with pytest.raises(TaktError, match=r"rotations \(2, 4\) and positions \(3, 3\) must be"):
        Palette(rot.identities(2), np.zeros((3, 3)))
    with pytest.raises(TaktError, match=r"stretches has shape \(2, 4, 4\), expected \(2, 3, 4\)"):
        Palette(rot.identities(2), np.zeros((2, 3)), np.zeros((2, 4, 4)))


def test_palette_refuses_a_rest_scale_of_zero() -> None:
    with pytest.raises(TaktError, match="a joint whose rest scale is zero cannot carry vertices"):
        Palette.from_matrices(np.eye(3, 4)[None], np.zeros((1, 3, 4)))


@every_method
def test_bent_elbow(method: str) -> None:
    """A quarter turn about z at x = 1: what follows the forearm turns, what follows the upper arm stays."""
    skeleton = arm(0.0, 1.0)
    pose = Pose.rest(skeleton)
    pose.rotations[1] = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2)
    influences = Influences(np.array(((0,), (1,))), np.ones((2, 1)))
    points = np.array(((0.5, 0.2, 0.0), (1.5, 0.2, 0.0)))
    normals = np.array(((0.0, 1.0, 0.0), (0.0, 1.0, 0.0)))
    moved, turned = SKINNING_METHODS[method].skin(Palette.from_pose(skeleton, pose), influences, points, normals)
    np.testing.assert_allclose(moved, ((0.5, 0.2, 0.0), (0.8, 0.5, 0.0)), atol=EXACT)
    np.testing.assert_allclose(turned, ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)), atol=EXACT)


@pytest.mark.parametrize(("skin", "radius"), [(skin_linear, 0.5), (skin_dual_quaternion, 1.0)])
def test_twisted_limb(skin: Callable[..., tuple[FloatArray, FloatArray]], radius: float) -> None:
    """Twisted by 120°, a ring of equal weights shrinks to cos 60° linearly; dual quaternions keep it."""
    skeleton = arm(0.0, 1.0)
    pose = Pose.rest(skeleton)
    pose.rotations[1] = rot.from_axis_angle(X, np.radians(120.0))
    angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    ring = np.stack((np.ones(8), np.cos(angle), np.sin(angle)), axis=1)
    halves = Influences(np.tile((0, 1), (8, 1)), np.full((8, 2), 0.5))
    moved, _ = skin(Palette.from_pose(skeleton, pose), halves, ring, ring * (0.0, 1.0, 1.0))
    np.testing.assert_allclose(np.linalg.norm(moved[:, 1:], axis=1), radius, atol=EXACT)
    np.testing.assert_allclose(moved[:, 0], 1.0, atol=EXACT)


def test_rigid_follows_the_first_influence() -> None:
    random = np.random.default_rng(4)
    skeleton = random_skeleton(random)
    palette = Palette.from_pose(skeleton, random_pose(random, 6, True))
    influences, points, normals = random_mesh(random, 6)
    strongest = palette.matrices[influences.joints[:, 0]]
    expected = (strongest[:, :, :3] @ points[..., None])[..., 0] + strongest[:, :, 3]
    np.testing.assert_allclose(skin_rigid(palette, influences, points, normals)[0], expected, atol=EXACT)


@every_method
@pytest.mark.parametrize("scaled", [False, True])
def test_a_vertex_without_weights_stays(method: str, scaled: bool) -> None:
    random = np.random.default_rng(5)
    palette = Palette.from_pose(random_skeleton(random), random_pose(random, 6, scaled))
    _, points, normals = random_mesh(random, 6, 3)
    nothing = Influences(np.zeros((3, 2), np.int64), np.zeros((3, 2)))
    moved, turned = SKINNING_METHODS[method].skin(palette, nothing, points, normals)
    np.testing.assert_allclose(moved, points, atol=EXACT)
    np.testing.assert_allclose(turned, normals, atol=EXACT)


@every_method
def test_a_batch_is_its_frames_one_by_one(method: str) -> None:
    random = np.random.default_rng(6)
    skeleton = random_skeleton(random)
    poses = random_pose(random, 6, True, 3)
    influences, points, normals = random_mesh(random, 6)
    moved, turned = SKINNING_METHODS[method].skin(Palette.from_pose(skeleton, poses), influences, points, normals)
    for frame in range(3):
        one = SKINNING_METHODS[method].skin(Palette.from_pose(skeleton, poses.at(frame)), influences, points, normals)
        np.testing.assert_allclose(moved[frame], one[0], atol=ROUNDED)
        np.testing.assert_allclose(turned[frame], one[1], atol=ROUNDED)


@pytest.mark.slow
@every_method
@given(seed=st.integers(0, 2**32 - 1))
def test_moving_the_whole_moves_every_vertex_alike(method: str, seed: int) -> None:
    """Skinning commutes with a rigid motion of model space, and its normals stay unit."""
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random)
    palette = Palette.from_pose(skeleton, random_pose(random, 6, bool(seed % 2)))
    influences, points, normals = random_mesh(random, 6)
    turn, shift = rot.normalized(random.normal(size=4)), random.normal(size=3)
    whole = Palette(rot.multiply(turn, palette.rotations), rot.rotate(turn, palette.positions) + shift,
                    palette.stretches)
    moved, turned = SKINNING_METHODS[method].skin(palette, influences, points, normals)
    moved_whole, turned_whole = SKINNING_METHODS[method].skin(whole, influences, points, normals)
    np.testing.assert_allclose(moved_whole, rot.rotate(turn, moved) + shift, atol=ROUNDED)
    np.testing.assert_allclose(turned_whole, rot.rotate(turn, turned), atol=1e-6)  # short sums lose digits
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), 1.0, atol=ROUNDED)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_sign_of_a_quaternion_means_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    palette = Palette.from_pose(random_skeleton(random), random_pose(random, 6, bool(seed % 2)))
    influences, points, normals = random_mesh(random, 6)
    flipped = Palette(palette.rotations * random.choice((-1.0, 1.0), (6, 1)), palette.positions, palette.stretches)
    for ours, theirs in zip(skin_dual_quaternion(palette, influences, points, normals),
                            skin_dual_quaternion(flipped, influences, points, normals), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=ROUNDED)


def test_normals_stay_upright_on_a_stretched_surface() -> None:
    """A normal is turned by the inverse transpose: it stays perpendicular to its surface, mirrored or not."""
    random = np.random.default_rng(7)
    linear = random.normal(size=(20, 3, 3))
    along, across = random.normal(size=(2, 20, 3))
    normal = np.cross(along, across)
    turned = (normal_matrices(linear) @ normal[..., None])[..., 0]
    for side in (along, across):
        np.testing.assert_allclose(np.sum(turned * (linear @ side[..., None])[..., 0], axis=-1), 0.0, atol=ROUNDED)
    assert (np.sum(turned * (linear @ normal[..., None])[..., 0], axis=-1) > 0.0).all()


def test_normals_of_a_flattened_joint_are_finite() -> None:
    np.testing.assert_allclose(normal_matrices(np.diag((1.0, 1.0, 0.0))), np.diag((0.0, 0.0, 1.0)), atol=EXACT)
