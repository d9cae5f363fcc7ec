"""Characters for the tests of skinning and preview: small ones of our own, and real ones where they are at hand."""

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.tests.beside import real_file

REAL = ("Alien", "Barbarian", "Female_Dress", "Fox", "Mage", "Male_Suit", "Rat", "Rogue_Hooded", "cesium_man",
        "hand_left", "m2m_panda", "m2m_sintel", "mpfb_cmu_mb", "mpfb_game_engine")

Object = Any
"""A bpy.types.Object; the stubs would have every test ask whether its pose, scene or data is there."""
Character = tuple[Object, Object]
"""The armature object and the mesh object."""
context: Any = bpy.context


def own_character(bones: int = 4, influences: int = 2, sides: int = 8, rings: int = 33) -> Character:
    """A tube along z, of length 1 for each bone, whose vertices each follow the bones nearest to them."""
    heights = np.linspace(0.0, bones, rings)
    angles = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = 0.3 * np.stack((np.cos(angles), np.sin(angles)), axis=-1)
    vertices = np.concatenate([np.column_stack((ring, np.full(sides, height))) for height in heights])
    below = np.arange((rings - 1) * sides).reshape(rings - 1, sides)
    right = np.roll(below, -1, axis=1)
    faces = np.stack((below, right, right + sides, below + sides), axis=-1).reshape(-1, 4)
    names = [f"bone{number}" for number in range(bones)]
    heads = np.stack((np.zeros(bones), np.zeros(bones), np.arange(bones)), axis=-1)
    rig = _rig("Own", names, np.arange(bones) - 1, heads, heads + np.array((0.0, 0.0, 1.0)))
    distance = np.abs(vertices[:, 2:] - (heads[:, 2] + 0.5)) + 0.1
    weights = distance ** -4.0
    np.put_along_axis(weights, np.argsort(-weights, axis=1, kind="stable")[:, influences:], 0.0, axis=1)
    return rig, _mesh("Own", rig, names, vertices, faces.tolist(), weights)


def real_character(name: str) -> tuple[Object, Object, FloatArray]:
    """Load a character and its poses, model_from_rest (P, J, 3, 4)."""
    with np.load(real_file("bind", f"{name}.npz")) as file:
        data = {key: file[key] for key in file.files}
    names = [str(bone) for bone in data["bone_names"]]
    tails = data["bone_tails"].copy()
    size = np.ptp(data["vertices"], axis=0).max()
    short = np.linalg.norm(tails - data["bone_heads"], axis=1) < 1e-4 * size
    tails[short] = data["bone_heads"][short] + (0.0, 0.0, 0.01 * size)  # Blender drops bones without length
    rig = _rig(name, names, data["bone_parents"], data["bone_heads"], tails)
    weights = np.zeros((len(data["vertices"]), len(names)))
    weights[data["weight_vertex"], data["weight_bone"]] = data["weight_value"]
    ends = np.cumsum(data["face_sizes"])[:-1]
    faces = [face.tolist() for face in np.split(data["face_vertices"], ends)]
    mesh = _mesh(name, rig, names, data["vertices"], faces, weights)
    return rig, mesh, data["poses"].astype(np.float64)


def put(rig: Object, model_from_rest: FloatArray) -> None:
    """Pose the bones, in the order of the data, by matrices (J, 3, 4)."""
    bones = rig.data.bones
    world = {bone.name: Matrix(np.vstack((matrix, (0, 0, 0, 1))).tolist()) @ bone.matrix_local
             for bone, matrix in zip((bones[name] for name in rig["names"]), model_from_rest, strict=True)}
    for bone in bones:  # parents come first
        parent = bone.parent
        rest = bone.matrix_local if parent is None else parent.matrix_local.inverted() @ bone.matrix_local
        local = world[bone.name] if parent is None else world[parent.name].inverted_safe() @ world[bone.name]
        rig.pose.bones[bone.name].matrix_basis = rest.inverted() @ local
    context.view_layer.update()


def bend(rig: Object, seed: int = 1, largest_rad: float = 1.2, scaled: bool = False) -> None:
    """Turn every bone at random; scaled: also stretch them, unevenly, and mirror one."""
    random = np.random.default_rng(seed)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        axis = random.normal(size=3)
        bone.rotation_quaternion = rot.from_axis_angle(axis, random.uniform(-largest_rad, largest_rad)).tolist()
        if scaled:
            bone.scale = random.uniform(0.7, 1.4, 3).tolist()
    context.view_layer.update()


def exchange_bones(mesh: Object) -> None:
    """Let what follows bone1 of the own character follow bone2, and the other way round."""
    first, second = mesh.vertex_groups["bone1"], mesh.vertex_groups["bone2"]
    first.name = "bone2 "
    second.name, first.name = "bone1", "bone2"
    context.view_layer.update()


def evaluated(mesh: Object) -> FloatArray:
    """Return the vertices (V, 3) as Blender's modifiers leave them, in the mesh object's space."""
    context.view_layer.update()
    result = mesh.evaluated_get(context.evaluated_depsgraph_get()).data
    vertices = np.empty(len(result.vertices) * 3, dtype=np.float32)
    result.vertices.foreach_get("co", vertices)
    return vertices.reshape(-1, 3).astype(np.float64)


def _rig(name: str, names: list[str], parents: Any, heads: Any, tails: Any) -> Object:
    armature = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(f"{name} rig", armature)
    context.scene.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = [armature.edit_bones.new(bone) for bone in names]
    for bone, parent, head, tail in zip(bones, parents, heads, tails, strict=True):
        bone.head, bone.tail = head.tolist(), tail.tolist()
        bone.parent = bones[parent] if parent >= 0 else None
    rig["names"] = [bone.name for bone in bones]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _mesh(name: str, rig: Object, names: list[str], vertices: Any, faces: list[list[int]],
          weights: FloatArray) -> Object:
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices.tolist(), [], faces)
    data.shade_smooth()
    mesh = bpy.data.objects.new(name, data)
    context.scene.collection.objects.link(mesh)
    for bone, column in zip(names, weights.T, strict=True):
        group = mesh.vertex_groups.new(name=bone)
        for vertex in np.flatnonzero(column).tolist():
            group.add([vertex], float(column[vertex]), "REPLACE")
    modifier: Any = mesh.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    context.view_layer.update()
    return mesh
