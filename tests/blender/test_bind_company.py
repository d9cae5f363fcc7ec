"""What stands beside what is bound: other modifiers, objects that share a mesh, curves, empty meshes."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import groups
from takt.tests.rigged import BONES, bind, context, make_armature, make_mesh, select, weights

WEIGHT_TOLERANCE = 1e-6


@pytest.mark.parametrize(("before", "after"), [
    (["REMESH"], ["ARMATURE", "REMESH"]), (["CLOTH"], ["ARMATURE", "CLOTH"]),
    (["SOFT_BODY"], ["ARMATURE", "SOFT_BODY"]),
    (["CORRECTIVE_SMOOTH"], ["ARMATURE", "CORRECTIVE_SMOOTH"]), (["NODES"], ["ARMATURE", "NODES"]),
    (["MIRROR", "CLOTH"], ["MIRROR", "ARMATURE", "CLOTH"]), (["SOLIDIFY", "BEVEL"], ["SOLIDIFY", "BEVEL", "ARMATURE"]),
    (["SOLIDIFY", "REMESH", "SUBSURF"], ["SOLIDIFY", "ARMATURE", "REMESH", "SUBSURF"]),
    (["REMESH", "MIRROR"], ["REMESH", "MIRROR", "ARMATURE"]),
    (["SUBSURF", "ARMATURE"], ["SUBSURF", "ARMATURE"]), (["CLOTH", "ARMATURE"], ["ARMATURE", "CLOTH"]),
    (["MIRROR", "REMESH", "ARMATURE"], ["MIRROR", "ARMATURE", "REMESH"])])
def test_the_armature_stands_where_it_bends_the_mesh(before: list[str], after: list[str]) -> None:
    rig, body = make_armature(), make_mesh()
    for kind in before:
        body.modifiers.new(kind.title(), kind)
    select(rig, body)
    bind()
    assert [modifier.type for modifier in body.modifiers] == after


def with_twin(body: Any, x: float) -> Any:
    twin = bpy.data.objects.new("Twin", body.data)
    context.collection.objects.link(twin)
    twin.location.x = x
    return twin


def sums(ob: Any) -> Any:
    return groups.read_influences(ob, BONES).weights.sum(axis=1)


def test_objects_that_share_a_mesh_get_their_own_where_weights_differ(capfd: pytest.CaptureFixture[str]) -> None:
    rig, body = make_armature(), make_mesh()
    twin = with_twin(body, -3.0)
    select(rig, body, twin)
    bind(method="EUCLIDEAN")
    assert twin.data != body.data and twin.data.users == 1
    assert "Made single-user, as they get other weights than what shares their mesh: Twin" in capfd.readouterr().out
    for ob in (body, twin):
        np.testing.assert_allclose(sums(ob), 1.0, atol=WEIGHT_TOLERANCE)
        assert ob.parent == rig and [modifier.type for modifier in ob.modifiers] == ["ARMATURE"]
    assert weights(twin, "arm.R").sum() > 1.3 * weights(body, "arm.R").sum()


def test_objects_that_share_a_mesh_go_on_sharing_it_where_weights_are_the_same() -> None:
    rig, body = make_armature(), make_mesh()
    twin = with_twin(body, 0.0)
    select(rig, body, twin)
    bind(method="EUCLIDEAN")
    assert twin.data == body.data
    for ob in (body, twin):
        np.testing.assert_allclose(sums(ob), 1.0, atol=WEIGHT_TOLERANCE)
        assert [modifier.type for modifier in ob.modifiers] == ["ARMATURE"]


def test_what_shares_a_mesh_with_the_bound_object_stays_as_it_is() -> None:
    rig, body = make_armature(), make_mesh()
    twin = with_twin(body, 0.0)
    select(rig, body)
    bind()
    assert twin.data != body.data and not twin.vertex_groups and twin.parent is None and not twin.modifiers


def test_what_has_no_vertices_or_is_no_mesh_is_named_and_left_alone(capfd: pytest.CaptureFixture[str]) -> None:
    rig, body = make_armature(), make_mesh()
    empty = bpy.data.objects.new("Empty", bpy.data.meshes.new("Empty"))
    others = [bpy.data.objects.new("Hair", bpy.data.curves.new("Hair", "CURVE")),
              bpy.data.objects.new("Drop", bpy.data.metaballs.new("Drop")),
              bpy.data.objects.new("Sign", bpy.data.curves.new("Sign", "FONT")),
              bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))]
    for ob in (empty, *others):
        context.collection.objects.link(ob)
    select(rig, body, empty, *others)
    bind()
    said = capfd.readouterr().out
    assert "Left alone, as they have no vertices: Empty" in said
    line = next(text for text in said.splitlines() if "as they are no meshes" in text)
    assert all(ob.name in line and ob.parent is None for ob in others) and empty.parent is None
    np.testing.assert_allclose(sums(body), 1.0, atol=WEIGHT_TOLERANCE)
