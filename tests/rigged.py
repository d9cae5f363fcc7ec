"""A small armature and meshes to bind to it, made by hand."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

context: Any = bpy.context
BONES = ("root", "arm.L", "arm.R", "control")


def make_armature() -> Any:
    """Three bones that deform and one that does not."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    context.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    ends = {"root": ((0, 0, 0), (0, 0, 1)), "arm.L": ((0, 0, 1), (1, 0, 1.5)), "arm.R": ((0, 0, 1), (-1, 0, 1.5)),
            "control": ((0, 1, 0), (0, 1, 1))}
    for name in BONES:
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = ends[name]
        bone.parent = armature.edit_bones["root"] if name.startswith("arm") else None
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.bones["control"].use_deform = False
    return rig


def make_mesh(name: str = "Body", seed: int = 1) -> Any:
    random = np.random.default_rng(seed)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(random.normal(size=(60, 3)).tolist(), [], [(i, i + 1, i + 2) for i in range(58)])
    body = bpy.data.objects.new(name, mesh)
    context.collection.objects.link(body)
    return body


def make_tube() -> Any:
    """A closed tube, 4 high, for bones that stand one above the other."""
    rings, sides = 33, 10
    angle = np.arange(sides) * 2 * np.pi / sides
    ring = 0.4 * np.column_stack((np.cos(angle), np.sin(angle)))
    points = [(x, y, z) for z in np.linspace(0, 4, rings) for x, y in ring]
    faces = [tuple(row * sides + (k + a) % sides + b * sides for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)))
             for row in range(rings - 1) for k in range(sides)]
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(points, [], [*faces, range(sides)[::-1], range((rings - 1) * sides, rings * sides)])
    body = bpy.data.objects.new("Body", mesh)
    context.collection.objects.link(body)
    return body


def linked(ob: Any, folder: Path) -> Any:
    """Write an object into a file of its own and link it from there, in its place."""
    path, name = str(folder / "library.blend"), ob.name
    bpy.data.libraries.write(path, {ob})
    bpy.data.objects.remove(ob)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):  # type: ignore
        wanted.objects = [name]
    context.collection.objects.link(wanted.objects[0])
    return wanted.objects[0]


def select(active: Any, *others: Any) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    for ob in (active, *others):
        ob.select_set(True)
    context.view_layer.objects.active = active
    context.view_layer.update()


def bind(**settings: Any) -> None:
    assert bpy.ops.takt.auto_bind(**settings) == {"FINISHED"}  # type: ignore[attr-defined]
    context.view_layer.update()


def weights(body: Any, name: str) -> np.ndarray:
    group = body.vertex_groups[name]
    return np.array([next((g.weight for g in v.groups if g.group == group.index), 0.0) for v in body.data.vertices])


def armature_space(body: Any, rig: Any) -> np.ndarray:
    return np.array([rig.matrix_world.inverted() @ body.matrix_world @ v.co for v in body.data.vertices])
