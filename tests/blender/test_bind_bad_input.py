"""Strange meshes and armatures: each is bound by the default method, or refused with nothing changed."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from takt.tests.rigged import BONES, bind, linked, make_armature, select, weights

WEIGHT_TOLERANCE = 1e-6
DEFORMING = BONES[:3]
BOX = [(x, y, z) for x in (-0.4, 0.4) for y in (-0.3, 0.3) for z in (0.0, 2.0)]
BOX_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def make_body(points: Any, faces: Any = ()) -> Any:
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([tuple(p) for p in points], [], list(faces))
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.collection.objects.link(body)
    return body


def edit_bones(rig: Any, change: Any) -> None:
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    change(rig.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def bound_sum(rig: Any, body: Any) -> np.ndarray:
    select(rig, body)
    bind()
    names = [group.name for group in body.vertex_groups]
    total: np.ndarray = np.sum([weights(body, name) for name in names], axis=0)
    return total


@pytest.mark.parametrize(("points", "faces"), [
    (BOX, []), (BOX[:1], []), ([(0, 0, 0.5)], []), ([(0.1, 0, 0)] * 5, []), (BOX[:4], [(0, 1, 3, 2)]),
    ([(0, 0, z / 9) for z in range(9)], []), (BOX, [(0, 1, 3), (0, 1, 3), (3, 1, 0)]),
], ids=["no faces", "one vertex", "one on a bone", "all at one place", "one flat face", "a line", "doubled faces"])
def test_bodies_without_volume(points: Any, faces: Any) -> None:
    np.testing.assert_allclose(bound_sum(make_armature(), make_body(points, faces)), 1.0, atol=WEIGHT_TOLERANCE)


@pytest.mark.parametrize("size", [1e-5, 1e5])
def test_any_size(size: float) -> None:
    rig, body = make_armature(), make_body(BOX, BOX_FACES)
    expected = bound_table(rig, body)
    for ob in (rig, body):
        ob.data.transform(Matrix.Scale(size, 4))
    np.testing.assert_allclose(bound_table(rig, body), expected, atol=1e-3)


def bound_table(rig: Any, body: Any) -> np.ndarray:
    bound_sum(rig, body)
    return np.stack([weights(body, name) for name in DEFORMING], axis=1)


@pytest.mark.parametrize("matrix", [
    Matrix.Scale(-1.0, 4), Matrix.Diagonal((-1.0, 2.0, 0.5, 1.0)),
    Matrix(((1, 0.8, 0, 0), (0, 1, 0.5, 0), (0.3, 0, 1, 0), (0, 0, 0, 1))),
], ids=["negative", "uneven and negative", "sheared"])
def test_any_scale_of_the_object(matrix: Matrix) -> None:
    rig, body = make_armature(), make_body(BOX, BOX_FACES)
    expected = bound_table(rig, body)
    other = make_body([matrix.inverted() @ body.data.vertices[i].co for i in range(8)], BOX_FACES)
    holder = bpy.data.objects.new("Holder", None)  # an object alone cannot be sheared; a parent's inverse can
    bpy.context.collection.objects.link(holder)
    other.parent, other.matrix_parent_inverse = holder, matrix
    np.testing.assert_allclose(bound_table(rig, other), expected, atol=1e-5)


def test_body_flattened_by_its_scale() -> None:
    body = make_body(BOX, BOX_FACES)
    body.scale = (1, 0, 1)
    np.testing.assert_allclose(bound_sum(make_armature(), body), 1.0, atol=WEIGHT_TOLERANCE)


def test_bones_almost_without_length_and_far_outside() -> None:
    rig = make_armature()

    def change(bones: Any) -> None:
        bones["arm.L"].tail = bones["arm.L"].head + bones["arm.L"].vector * 1e-5
        bones["control"].use_deform = True
        bones["control"].head, bones["control"].tail = (1e5, 0, 0), (1e5, 0, 1)

    edit_bones(rig, change)
    body = make_body(BOX, BOX_FACES)
    np.testing.assert_allclose(bound_sum(rig, body), 1.0, atol=WEIGHT_TOLERANCE)
    assert weights(body, "control").max() == 0.0


def test_all_bones_far_outside() -> None:
    rig = make_armature()
    rig.data.transform(Matrix.Translation((1e4, 0, 0)))
    np.testing.assert_allclose(bound_sum(rig, make_body(BOX, BOX_FACES)), 1.0, atol=WEIGHT_TOLERANCE)


def test_three_hundred_bones() -> None:
    rig = make_armature()

    def change(bones: Any) -> None:
        for number in range(300):
            bone = bones.new(f"more{number}")
            bone.head, bone.tail = (0, 0, number / 150.0), (0, 0, (number + 1) / 150.0)
            bone.parent = bones[f"more{number - 1}"] if number else bones["root"]

    edit_bones(rig, change)
    np.testing.assert_allclose(bound_sum(rig, make_body(BOX, BOX_FACES)), 1.0, atol=WEIGHT_TOLERANCE)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_coordinates_that_are_not_finite_are_named(value: float) -> None:
    rig, body, other = make_armature(), make_body(BOX, BOX_FACES), make_body(BOX, BOX_FACES)
    coordinates = np.array(BOX, dtype=np.float32)
    coordinates[3, 1] = value
    other.data.vertices.foreach_set("co", coordinates.ravel())
    select(rig, body, other)
    with pytest.raises(RuntimeError, match=r"Mesh 'Body.001' has 1 vertices whose coordinates are not finite, the "
                                           r"first is vertex 3; delete or mend them"):
        bpy.ops.takt.auto_bind()  # type: ignore[attr-defined]
    for ob in (body, other):
        assert not ob.vertex_groups and not ob.modifiers and ob.parent is None


def test_a_linked_armature_can_be_bound_to(tmp_path: Any) -> None:
    rig, body = linked(make_armature(), tmp_path), make_body(BOX, BOX_FACES)
    np.testing.assert_allclose(bound_sum(rig, body), 1.0, atol=WEIGHT_TOLERANCE)
    assert body.parent == rig
