"""The sample character in Blender: an armature with H-Anim's names and the dancer's body."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..bridge.axes import BLENDER_FROM_HANIM
from ..bridge.versions import principled_node
from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from ..core.skeletons.skeleton import Skeleton
from .body import PALETTE, Body, build_body
from .skeleton import build_skeleton, ends, rest_positions
from .texture import SIZE_PX, TEXTURED, picture, texture_coordinates

if TYPE_CHECKING:
    import bpy

MAIN_CHILD: dict[str, str] = {
    "HumanoidRoot": "vl5", "vt3": "vc7", "l_wrist": "l_middle0", "r_wrist": "r_middle0",
}
"""Where several joints leave one, the bone points to this one."""
SACRUM_TAIL = (0.0, 0.900, -0.020)
ROUGHNESS = 0.55
HAND_TAIL_M = 0.020
"""The wrist's bone ends where the metacarpals begin, at least this far along."""


def build_character(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add the dancer to the scene, not bound yet; return the armature and the mesh, both at the origin."""
    scene, layer = context.scene, context.view_layer
    if scene is None or layer is None:
        raise RuntimeError("the dancer needs a scene to stand in; open or make one first")
    body = build_body()
    armature = add_armature("Dancer", scene, layer, build_skeleton(), rest_positions(), bone_tails())
    mesh = add_mesh("Dancer Body", scene, body, PALETTE)
    lay_texture(mesh, body)
    return armature, mesh


def bone_tails() -> dict[str, FloatArray]:
    """Return where each joint's bone ends, in H-Anim's axes: at the next joint, or at the limb's end."""
    skeleton, at = build_skeleton(), rest_positions()
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
        material.roughness = ROUGHNESS
        shader: Any = principled_node(material)
        shader.inputs["Base Color"].default_value = (*colour, 1.0)
        shader.inputs["Roughness"].default_value = ROUGHNESS
        data.materials.append(material)
    order = {key: slot for slot, key in enumerate(palette)}
    slots = np.array([order[int(m)] for m in body.materials], dtype=np.int32)
    data.polygons.foreach_set("material_index", slots)
    data.polygons.foreach_set("use_smooth", np.ones(len(slots), dtype=bool))
    data.update()
    mesh = bpy.data.objects.new(name, data)
    scene.collection.objects.link(mesh)
    return mesh


def lay_texture(mesh: bpy.types.Object, body: Body) -> None:
    """Paint the dancer's picture onto the materials that it is for."""
    import bpy

    data: Any = mesh.data
    uv = data.uv_layers.new(name="Front and Back")
    uv.uv.foreach_set("vector", texture_coordinates(body).astype(np.float32).ravel())
    image: Any = bpy.data.images.new("Dancer", SIZE_PX, SIZE_PX)
    image.pixels.foreach_set(_pixels())
    image.update()
    image.pack()
    for title, _ in (PALETTE[key] for key in TEXTURED):
        material = next(cast(bpy.types.Material, slot.material) for slot in mesh.material_slots
                        if slot.name.startswith(title))
        tree: Any = material.node_tree
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image, node.location = image, (-400.0, 300.0)
        tree.links.new(node.outputs["Color"], principled_node(material).inputs["Base Color"])
        tree.nodes.active = node


@cache
def _pixels() -> NDArray[np.float32]:
    """Return the dancer's picture as Blender stores it: red, green, blue and alpha of each pixel, flat."""
    pixels = np.ones((SIZE_PX, SIZE_PX, 4), dtype=np.float32)
    pixels[..., :3] = _encoded(picture())
    return pixels.ravel()


def _encoded(linear: FloatArray) -> FloatArray:
    """Encode linear colours as sRGB (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1.0 / 2.4) - 0.055)


def _turned_all(points: FloatArray) -> FloatArray:
    return rot.rotate(BLENDER_FROM_HANIM, points)


def _turned(point: FloatArray) -> tuple[float, float, float]:
    x, y, z = _turned_all(point)
    return float(x), float(y), float(z)
