"""The sample character in Blender: an armature with H-Anim's names and the dancer's body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..bridge.axes import BLENDER_FROM_HANIM
from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from ..core.skeletons.skeleton import Skeleton
from .body import PALETTE, Body, build_body
from .skeleton import build_skeleton, ends, places

if TYPE_CHECKING:
    import bpy

MAIN_CHILD: dict[str, str] = {
    "HumanoidRoot": "vl5", "vt3": "vc7", "l_wrist": "l_middle0", "r_wrist": "r_middle0",
}
"""Where several joints leave one, the bone points to this one."""
SACRUM_TAIL = (0.0, 0.900, -0.020)
HAND_TAIL_M = 0.020
"""The wrist's bone ends where the metacarpals begin, at least this far along."""


def build_character(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add the dancer to the scene, not bound yet; return the armature and the mesh, both at the origin."""
    scene, layer = context.scene, context.view_layer
    if scene is None or layer is None:
        raise RuntimeError("the dancer needs a scene to stand in; open or make one first")
    return (add_armature("Dancer", scene, layer, build_skeleton(), places(), bone_tails()),
            add_mesh("Dancer Body", scene, build_body(), PALETTE))


def bone_tails() -> dict[str, FloatArray]:
    """Return where each joint's bone ends, in H-Anim's axes: at the next joint, or at the limb's end."""
    skeleton, at = build_skeleton(), places()
    tails = ends()
    for name, parent in zip(skeleton.names, skeleton.parents, strict=True):
        if parent >= 0 and MAIN_CHILD.get(skeleton.names[parent], name) == name:
            tails.setdefault(skeleton.names[parent], at[name])
    tails["sacroiliac"] = np.array(SACRUM_TAIL)
    for side in "lr":
        wrist, knuckle = at[f"{side}_wrist"], at[f"{side}_middle1"]
        tails[f"{side}_wrist"] = wrist + (knuckle - wrist) / np.linalg.norm(knuckle - wrist) * HAND_TAIL_M
    return tails


def add_armature(name: str, scene: bpy.types.Scene, layer: bpy.types.ViewLayer, skeleton: Skeleton,
                 heads: Mapping[str, FloatArray], tails: Mapping[str, FloatArray]) -> bpy.types.Object:
    """Add an armature with a skeleton's joints to the scene; heads and tails in H-Anim's axes."""
    import bpy

    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    scene.collection.objects.link(armature)
    layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for joint, parent in zip(skeleton.names, skeleton.parents, strict=True):
        bone = data.edit_bones.new(joint)
        bone.head, bone.tail = _turned(heads[joint]), _turned(tails[joint])
        bone.align_roll(_turned(np.array((0.0, 0.0, 1.0))))
        bone.use_deform = True
        if parent >= 0:
            bone.parent = data.edit_bones[skeleton.names[parent]]
            bone.use_connect = bool(np.allclose(tails[skeleton.names[parent]], heads[joint], atol=1e-9))
    bpy.ops.object.mode_set(mode="OBJECT")
    data.display_type = "STICK"
    armature.show_in_front = True
    return armature


def add_mesh(name: str, scene: bpy.types.Scene, body: Body,
             palette: Mapping[int, tuple[str, tuple[float, float, float]]]) -> bpy.types.Object:
    """Add a body to the scene as a smooth mesh; palette: the materials' names and colours by their number."""
    import bpy

    data = bpy.data.meshes.new(name)
    data.from_pydata(_turned_all(body.positions).tolist(), [], body.quads.tolist())
    for title, colour in palette.values():
        material = bpy.data.materials.new(title)
        material.diffuse_color = (*colour, 1.0)  # type: ignore[assignment]  # Blender takes any four numbers
        material.roughness = 0.55
        data.materials.append(material)
    order = {key: slot for slot, key in enumerate(palette)}
    slots = np.array([order[int(m)] for m in body.materials], dtype=np.int32)
    data.polygons.foreach_set("material_index", slots)
    data.polygons.foreach_set("use_smooth", np.ones(len(slots), dtype=bool))
    data.update()
    mesh = bpy.data.objects.new(name, data)
    scene.collection.objects.link(mesh)
    return mesh


def _turned_all(points: FloatArray) -> FloatArray:
    return rot.rotate(BLENDER_FROM_HANIM, points)


def _turned(point: FloatArray) -> tuple[float, float, float]:
    x, y, z = _turned_all(point)
    return float(x), float(y), float(z)
