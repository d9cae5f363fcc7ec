"""Whole files as users open them, bound anew by the operator: every vertex bound, no seam torn, no skin left behind."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import bend, groups
from takt.bridge.meshes.mesh import armature_from_object, read_mesh, transformed
from takt.tests.beside import real_file
from takt.tests.characters import context, evaluated
from takt.tests.rigged import bind, select

WEIGHT_TOLERANCE = 1e-6
SAME_PLACE = 1e-6
FARTHEST_STRETCH = 0.35
"""By so much of the character's size an edge may grow when all joints bend by 25°; a torn one grows by more."""


def open_rogue() -> None:
    bpy.ops.import_scene.gltf(filepath=path("KayKit_Rogue_Hooded.glb"))


def open_man() -> None:
    with bpy.data.libraries.load(path("Quaternius_Male_Casual.blend")) as (found, wanted):  # type: ignore
        wanted.objects = found.objects
    for ob in wanted.objects:
        if ob.type in {"ARMATURE", "MESH"}:
            context.scene.collection.objects.link(ob)


def path(name: str) -> str:
    return str(real_file("characters", name))


def character() -> tuple[Any, list[Any]]:
    """Return the armature and the meshes that it moves, their weights and actions cleared."""
    rig: Any = next(ob for ob in context.scene.objects if ob.type == "ARMATURE")
    meshes: list[Any] = [ob for ob in context.scene.objects if ob.type == "MESH" and ob.find_armature() == rig]
    if rig.animation_data:
        rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    for mesh in meshes:
        mesh.vertex_groups.clear()
    context.view_layer.update()
    return rig, meshes


@pytest.mark.parametrize("open_file", [open_rogue, open_man])
def test_every_vertex_is_bound_and_bends_without_tearing(open_file: Callable[[], None]) -> None:
    if open_file is open_rogue:
        bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    open_file()
    rig, meshes = character()
    select(rig, *meshes)
    bind()
    names = [bone.name for bone in rig.data.bones]
    points = np.concatenate([transformed(armature_from_object(mesh, rig), read_mesh(mesh).vertices) for mesh in meshes])
    size = float(np.ptp(points, axis=0).max())
    for mesh in meshes:
        influences = groups.read_influences(mesh, names)
        np.testing.assert_allclose(influences.weights.sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)
        assert (influences.weights > 0.0).sum(axis=1).max() <= 4
        assert_seams_hold(mesh, influences.dense(len(names)), size)
    straight = [np.asarray(edge_lengths(mesh, rig)) for mesh in meshes]
    assert bend.bend_all(rig, np.radians(25.0), 1.0) > 10
    for mesh, before in zip(meshes, straight, strict=True):
        assert (edge_lengths(mesh, rig) - before).max(initial=0.0) < FARTHEST_STRETCH * size


def assert_seams_hold(mesh: Any, weights: Any, size: float) -> None:
    places = np.round(read_mesh(mesh).vertices / (SAME_PLACE * size)).astype(np.int64)
    _, first, which = np.unique(places, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_allclose(weights, weights[first[which.reshape(-1)]], atol=WEIGHT_TOLERANCE)


def edge_lengths(mesh: Any, rig: Any) -> Any:
    edges = np.empty(len(mesh.data.edges) * 2, dtype=np.int32)
    mesh.data.edges.foreach_get("vertices", edges)
    ends = transformed(armature_from_object(mesh, rig), evaluated(mesh))[edges.reshape(-1, 2)]
    return np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
