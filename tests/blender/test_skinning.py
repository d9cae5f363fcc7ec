"""core/skinning against Blender's own Armature modifier, with and without Preserve Volume."""

import numpy as np
import pytest

from takt.bridge.meshes.groups import read_influences
from takt.bridge.rigs.armature import read_pose_world, read_rest_world, read_skeleton
from takt.core.maths.arrays import FloatArray
from takt.core.skinning import SKINNING_METHODS, Palette
from takt.tests.characters import (
    REAL,
    Object,
    bend,
    context,
    evaluated,
    exchange_bones,
    own_character,
    put,
    real_character,
)

DIAGONAL_TOLERANCE = 1e-5
"""Of the diagonal of the bounding box."""
POSES = 3

both = pytest.mark.parametrize("method", ["LINEAR", "DUAL_QUATERNION"])


def distance(rig: Object, mesh: Object, method: str) -> float:
    """Return how far core is from Blender at most, as a part of the diagonal."""
    mesh.modifiers[0].use_deform_preserve_volume = method == "DUAL_QUATERNION"
    theirs = evaluated(mesh)
    skeleton = read_skeleton(rig)
    palette = Palette.from_matrices(read_pose_world(rig), read_rest_world(rig))
    rest = np.array([vertex.co for vertex in mesh.data.vertices], dtype=np.float64)
    ours, _ = SKINNING_METHODS[method].skin(palette, read_influences(mesh, skeleton.names), rest, np.zeros_like(rest))
    return float(np.linalg.norm(ours - theirs, axis=1).max() / np.linalg.norm(np.ptp(rest, axis=0)))


@both
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("influences", [1, 2, 4])
def test_own_character(method: str, scaled: bool, influences: int) -> None:
    rig, mesh = own_character(influences=influences)
    for seed in range(POSES):
        bend(rig, seed, scaled=scaled)
        assert distance(rig, mesh, method) <= DIAGONAL_TOLERANCE


@both
def test_mirrored_bone(method: str) -> None:
    rig, mesh = own_character()
    bend(rig)
    rig.pose.bones["bone1"].scale = (-1.0, 1.0, 1.0)
    context.view_layer.update()
    assert distance(rig, mesh, method) <= DIAGONAL_TOLERANCE


@both
def test_vertices_and_bones_that_take_no_part(method: str) -> None:
    rig, mesh = own_character()
    mesh.vertex_groups["bone3"].remove(list(range(len(mesh.data.vertices))))
    mesh.vertex_groups.new(name="not a bone").add([0, 1], 1.0, "REPLACE")
    bend(rig)
    assert distance(rig, mesh, method) <= DIAGONAL_TOLERANCE


@both
@pytest.mark.parametrize("name", REAL)
def test_real_character(name: str, method: str) -> None:
    rig, mesh, poses = real_character(name)
    for pose in poses[np.linspace(0, len(poses) - 1, POSES).astype(int)]:
        put(rig, pose)
        assert distance(rig, mesh, method) <= DIAGONAL_TOLERANCE


def test_a_wrong_bone_is_seen() -> None:
    """The check itself: two bones exchanged are far outside the tolerance."""
    rig, mesh = own_character()
    bend(rig)
    moved: FloatArray = evaluated(mesh)
    exchange_bones(mesh)
    assert np.abs(evaluated(mesh) - moved).max() > 1000 * DIAGONAL_TOLERANCE
