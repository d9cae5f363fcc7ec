"""What the shaders compute against core, and against the mesh as Blender evaluates it."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from takt.bridge.meshes.groups import read_influences
from takt.bridge.rigs.armature import read_pose_world, read_skeleton
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton
from takt.core.skinning import SKINNING_METHODS, Palette
from takt.core.skinning.influences import Influences
from takt.preview.batch import Geometry, read_geometry
from takt.preview.character import method_of
from takt.preview.shader import ROWS_WIDTH
from takt.tests.characters import REAL, Object, bend, context, evaluated, own_character, put, real_character
from takt.tests.gpu.readback import posed_on_gpu

POSITION_TOLERANCE = 1e-4
"""Of the height."""
NORMAL_TOLERANCE = 1e-3

every_method = pytest.mark.parametrize("method", SKINNING_METHODS)


def read(rig: Object, mesh: Object) -> tuple[Skeleton, Geometry, Palette]:
    skeleton = read_skeleton(rig)
    geometry = read_geometry(mesh, list(skeleton.names), np.ones((len(skeleton), 3)))
    return skeleton, geometry, Palette.from_matrices(read_pose_world(rig), skeleton.rest_world)


def on_core(geometry: Geometry, palette: Palette, method: str) -> tuple[FloatArray, FloatArray]:
    weights = geometry.weights.astype(np.float64)
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=weights, where=total > 0.0)
    return SKINNING_METHODS[method].skin(palette, Influences(geometry.bones.astype(np.int64), weights),
                                geometry.positions.astype(np.float64), geometry.normals.astype(np.float64))


def assert_same(geometry: Geometry, palette: Palette, method: str) -> None:
    positions, normals = posed_on_gpu(geometry, palette, method)
    expected_positions, expected_normals = on_core(geometry, palette, method)
    height = np.ptp(geometry.positions, axis=0).max()
    assert np.linalg.norm(positions - expected_positions, axis=1).max() <= POSITION_TOLERANCE * height
    assert np.linalg.norm(normals - expected_normals, axis=1).max() <= NORMAL_TOLERANCE


@every_method
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("influences", "width"), [(1, 4), (4, 4), (6, 8), (8, 8)])
def test_own_character(method: str, scaled: bool, influences: int, width: int) -> None:
    rig, mesh = own_character(bones=8, influences=influences)
    bend(rig, scaled=scaled)
    _, geometry, palette = read(rig, mesh)
    assert geometry.bones.shape[1] == width
    assert (palette.stretches is not None) == scaled
    assert_same(geometry, palette, method)


@every_method
@pytest.mark.parametrize("scaled", [False, True])
def test_more_bones_than_a_row_of_the_texture_holds(method: str, scaled: bool) -> None:
    bones = 600
    rig, mesh = own_character(bones, sides=4, rings=2 * bones)
    bend(rig, largest_rad=0.05, scaled=False)
    if scaled:
        rig.pose.bones["bone300"].scale = (1.2, 0.9, 1.1)
        context.view_layer.update()
    _, geometry, palette = read(rig, mesh)
    assert bones * (5 if scaled else 2) > ROWS_WIDTH
    assert_same(geometry, palette, method)


@every_method
@pytest.mark.parametrize("name", REAL)
def test_real_character(name: str, method: str) -> None:
    rig, mesh, poses = real_character(name)
    put(rig, poses[len(poses) // 2])
    _, geometry, palette = read(rig, mesh)
    assert_same(geometry, palette, method)


@every_method
def test_a_vertex_without_weights_stays(method: str) -> None:
    rig, mesh = own_character()
    for group in mesh.vertex_groups:
        group.remove(list(range(16)))
    bend(rig)
    _, geometry, palette = read(rig, mesh)
    positions, _ = posed_on_gpu(geometry, palette, method)
    np.testing.assert_array_equal(positions[:16], geometry.positions[:16])
    assert_same(geometry, palette, method)


@pytest.mark.parametrize("preserve_volume", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_preview_stands_where_blenders_mesh_stands(preserve_volume: bool, scaled: bool) -> None:
    """In the world, with both objects moved, turned, and scaled unevenly."""
    rig, mesh = own_character(influences=4)
    rig.matrix_world = Matrix.LocRotScale((1.0, 2.0, 3.0), Quaternion((0.8, 0.6, 0.0, 0.0)), (2.0, 1.0, 0.5))
    mesh.matrix_world = Matrix.LocRotScale((-0.1, 0.2, 0.0), Quaternion((0.6, 0.0, 0.8, 0.0)), (1.0, 1.5, 0.5))
    mesh.modifiers[0].use_deform_preserve_volume = preserve_volume
    bend(rig, scaled=scaled)
    theirs = evaluated(mesh)
    _, geometry, palette = read(rig, mesh)
    world_from_armature, world_from_mesh = np.array(rig.matrix_world), np.array(mesh.matrix_world)
    ours, _ = posed_on_gpu(geometry, palette, method_of(mesh),
                           np.linalg.solve(world_from_armature, world_from_mesh))
    ours_in_world = ours @ world_from_armature[:3, :3].T + world_from_armature[:3, 3]
    theirs_in_world = theirs @ world_from_mesh[:3, :3].T + world_from_mesh[:3, 3]
    height = np.ptp(theirs_in_world, axis=0).max()
    distance = np.linalg.norm(ours_in_world - theirs_in_world[geometry.vertices], axis=1)
    assert distance.max() <= POSITION_TOLERANCE * height


@pytest.mark.parametrize("name", REAL)
def test_the_preview_is_blenders_mesh(name: str) -> None:
    rig, mesh, poses = real_character(name)
    put(rig, poses[-1])
    skeleton, geometry, palette = read(rig, mesh)
    ours, _ = posed_on_gpu(geometry, palette, "LINEAR")
    theirs = evaluated(mesh)
    height = np.ptp(theirs, axis=0).max()
    # Of a vertex with more than 8 influences the preview keeps the strongest: that is 9 of the rat's vertices.
    drawn_whole = (read_influences(mesh, skeleton.names).weights > 0.0).sum(axis=1)[geometry.vertices] <= 8
    assert drawn_whole.mean() > 0.98
    distance = np.linalg.norm(ours - theirs[geometry.vertices], axis=1)
    assert distance[drawn_whole].max() <= POSITION_TOLERANCE * height


def test_a_lost_influence_is_seen() -> None:
    """The check itself: dropping the weakest of two influences is far outside the tolerance."""
    rig, mesh = own_character()
    bend(rig)
    _, geometry, palette = read(rig, mesh)
    both, _ = posed_on_gpu(geometry, palette, "LINEAR")
    one, _ = posed_on_gpu(geometry, palette, "RIGID")
    assert np.linalg.norm(both - one, axis=1).max() > 100 * POSITION_TOLERANCE * np.ptp(both, axis=0).max()
