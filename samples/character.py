"""The sample character in Blender: an armature with H-Anim's names and the dancer's body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..bridge.axes import BLENDER_FROM_HANIM
from ..core import rotations as rot
from ..core.arrays import FloatArray
from .body import PALETTE, build_body
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
    return _build_armature(scene, layer), _build_mesh(scene)


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


def _build_armature(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> bpy.types.Object:
    import bpy

    data = bpy.data.armatures.new("Dancer")
    armature = bpy.data.objects.new("Dancer", data)
    scene.collection.objects.link(armature)
    layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    skeleton, heads, tails = build_skeleton(), places(), bone_tails()
    for name, parent in zip(skeleton.names, skeleton.parents, strict=True):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = _turned(heads[name]), _turned(tails[name])
        bone.align_roll(_turned(np.array((0.0, 0.0, 1.0))))
        bone.use_deform = True
        if parent >= 0:
            bone.parent = data.edit_bones[skeleton.names[parent]]
            bone.use_connect = bool(np.allclose(tails[skeleton.names[parent]], heads[name], atol=1e-9))
    bpy.ops.object.mode_set(mode="OBJECT")
    data.display_type = "STICK"
    armature.show_in_front = True
    return armature


def _build_mesh(scene: bpy.types.Scene) -> bpy.types.Object:
    import bpy

    body = build_body()
    data = bpy.data.meshes.new("Dancer Body")
    data.from_pydata(_turned_all(body.positions).tolist(), [], body.quads.tolist())
    for name, colour in PALETTE.values():
        material = bpy.data.materials.new(name)
        material.diffuse_color = (*colour, 1.0)  # type: ignore[assignment]  # Blender takes any four numbers
        material.roughness = 0.55
        data.materials.append(material)
    order = {key: slot for slot, key in enumerate(PALETTE)}
    slots = np.array([order[int(m)] for m in body.materials], dtype=np.int32)
    data.polygons.foreach_set("material_index", slots)
    data.polygons.foreach_set("use_smooth", np.ones(len(slots), dtype=bool))
    data.update()
    mesh = bpy.data.objects.new("Dancer Body", data)
    scene.collection.objects.link(mesh)
    return mesh


def _turned_all(points: FloatArray) -> FloatArray:
    return rot.rotate(BLENDER_FROM_HANIM, points)


def _turned(point: FloatArray) -> tuple[float, float, float]:
    x, y, z = _turned_all(point)
    return float(x), float(y), float(z)
