"""Rigs that are odd as a whole: they are bound, and the report says what was made of them and what to do."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import idle_bones
from takt.tests.rigged import bind, make_tube, select, weights

HEADS = [(0, 0, height) for height in range(4)]
PRECISION = 1e-6


def make_rig(names: Any, aside: float = 0.0, length: float = 1.0, name: str = "Rig", forked: bool = False) -> Any:
    """Four bones, one above the other; forked: the last two both hang from the second."""
    armature = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, armature)
    bpy.context.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    made: list[Any] = []
    for bone_name, (x, y, z) in zip(names, HEADS, strict=True):
        bone = armature.edit_bones.new(bone_name)
        bone.head, bone.tail = (x + aside, y, z), (x + aside, y, z + length)
        bone.parent = made[1 if forked and len(made) > 1 else -1] if made else None
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def told(capfd: pytest.CaptureFixture[str], rig: Any, *others: Any) -> str:
    select(rig, *others)
    capfd.readouterr()
    bind()
    return capfd.readouterr().out


def table(body: Any, names: Any) -> np.ndarray:
    found = np.stack([weights(body, name) for name in names], axis=1)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=PRECISION)
    return found


def test_no_bone_in_the_mesh(capfd: pytest.CaptureFixture[str]) -> None:
    body = make_tube()
    said = told(capfd, make_rig("abcd", aside=3.0), body)
    assert "Warning: Bound 330 vertices" in said
    assert "No bone lies in the meshes, which follow the nearest bones; undo, move the armature" in said
    assert "These meshes contain no bone" not in said
    table(body, "abcd")


def test_a_part_of_a_body_that_is_bound_already(capfd: pytest.CaptureFixture[str]) -> None:
    """An eye is small, holds no bone and leaves most bones without vertices: none of that is wrong."""
    body, rig = make_tube(), make_rig("abcd")
    told(capfd, rig, body)
    eye = make_tube()
    eye.name, eye.scale, eye.location = "Eye", (0.02, 0.02, 0.02), (0.6, 0.0, 2.5)
    said = told(capfd, rig, eye)
    assert "Bound without other meshes of this armature; if it lies on them, undo, and select them as well, or use " \
           f"Improve Weights, Clothes: {body.name}" in said
    assert not any(wrong in said for wrong in ("times as large", "No bone lies", "ithout vertices"))
    select(rig)
    assert not idle_bones.last_idle(rig)
    bpy.data.objects.remove(body)
    assert "The skeleton is" in told(capfd, rig, eye)


def test_a_bone_where_the_mesh_has_no_vertices(capfd: pytest.CaptureFixture[str]) -> None:
    """So are forearms of a rig that is too small: the hands lie in the mesh's elbows."""
    text = "Without vertices, between bones that have some; see whether mesh and armature fit each other"
    body = make_tube()
    assert text not in told(capfd, make_rig("abcd"), body)
    for vertex in body.data.vertices:
        if 0.5 < vertex.co.z < 2.5:
            vertex.co.z = 0.5 if vertex.co.z < 1.5 else 2.5
    said = told(capfd, make_rig("abcd", name="Other"), body)
    assert "Warning" in said and f"{text}: b" in said


def test_a_posed_rig(capfd: pytest.CaptureFixture[str]) -> None:
    body, rig = make_tube(), make_rig("abcd")
    rig.pose.bones["c"].location = (0.0, 0.5, 0.0)
    posed = "The armature is posed: the meshes were bound to its rest pose, and bend at once"
    assert posed in told(capfd, rig, body)
    assert posed not in told(capfd, rig, body)
    rig.pose.bones["c"].location = (0.0, 0.0, 0.0)
    assert posed not in told(capfd, rig, make_tube())


def test_a_rig_of_controls_alone(capfd: pytest.CaptureFixture[str]) -> None:
    body, names = make_tube(), ["a_ctrl", "b_ctrl", "c_ik", "MCH-d"]
    said = told(capfd, make_rig(names), body)
    assert "Warning" in said and "All bones are named as controls or ends, and were used anyway" in said
    assert (table(body, names).max(axis=0) > 0.9).all()
    assert "All bones are named" not in told(capfd, make_rig(["a", *names[1:]], name="Other"), make_tube())


def test_two_rigs(capfd: pytest.CaptureFixture[str]) -> None:
    rig, other, body = make_rig("abcd"), make_rig("efgh", name="Other"), make_tube()
    said = told(capfd, rig, other, body)
    assert "Left alone, as they are not the active armature: Other" in said
    assert [modifier.object for modifier in body.modifiers] == [rig]
    select(body, rig, other)
    with pytest.raises(RuntimeError, match="Make one of the selected armatures the active object"):
        bind()


def test_a_mesh_that_another_rig_moves(capfd: pytest.CaptureFixture[str]) -> None:
    rig, other, body = make_rig("abcd"), make_rig("efgh", name="Other"), make_tube()
    told(capfd, rig, body)
    said = told(capfd, other, body)
    assert "No longer moved by Rig (vertex groups removed: 4); to keep both armatures, select both" in said
    assert [modifier.object for modifier in body.modifiers] == [other] and len(body.vertex_groups) == 4


def test_bones_without_length_bind_as_those_with_some(capfd: pytest.CaptureFixture[str]) -> None:
    bodies = [make_tube(), make_tube()]
    assert "without length" not in told(capfd, make_rig("abcd"), bodies[0])
    said = told(capfd, make_rig("abcd", length=1e-5), bodies[1])
    assert "Bones without length, which count as reaching to their children, or as continuing their parents; if " \
           "weights are wrong, move their tails in Edit Mode, and bind again: a, b, c, d" in said
    np.testing.assert_allclose(table(bodies[1], "abcd"), table(bodies[0], "abcd"), atol=1e-3)


@pytest.mark.parametrize("name", ["Bone", "ボーン", "joint_"])
@pytest.mark.parametrize("forked", [True, False])
def test_bones_that_are_all_called_the_same(capfd: pytest.CaptureFixture[str], name: str, forked: bool) -> None:
    """It is worth a word where the bones fork: a snake or a rope has no sides."""
    bodies = [make_tube(), make_tube()]
    told(capfd, make_rig("abcd", forked=forked), bodies[0])
    rig = make_rig([name] * 4, forked=forked)
    said = told(capfd, rig, bodies[1])
    same = "The names of all bones differ only in numbers; sides and controls were recognised by position alone; if " \
           "weights are wrong, rename the bones, and bind again"
    assert (same in said) == forked
    found = table(bodies[1], [bone.name for bone in rig.data.bones])
    np.testing.assert_allclose(found, table(bodies[0], "abcd"), atol=PRECISION)
