"""Convert Blender's materials to core's, as a viewport would show them, in each of its colour modes.

The most common nodes are read. For another node its input colour is shown, or the material's viewport colour if there
is none. Nothing here raises.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import bpy

from ...core.shading.material import UV_IDENTITY, Material, ProgrammeStep, number
from ..versions import shader_tree
from .material_nodes import SOLID, Reader, Unreadable, UvMaps, is_there, texture_of
from .material_shaders import read_shaders

ColourMode = Literal["NODES", "TEXTURE", "MATERIAL", "OBJECT", "PAINTED"]
"""The source of a surface's colour: its nodes, as in Material Preview; or as in Solid: *Texture*, *Material*, a colour
for each object (*Object*, *Single*, *Random*), and the mesh's painted colour (*Attribute*)."""
_NO_MATERIAL = Material()
_TEXTURE_CUTOFF = 0.1
"""Alpha of an image below which Workbench draws nothing."""


@dataclass(frozen=True)
class Surface:
    """The look of the faces of one material slot, in each colour mode.

    uv_maps: the names of the mesh's active UV map and of one other, "" if there is none. painted: the name of a
    painted colour, "": the mesh's default. simplified: the material's name if some of its nodes are not in NODES.
    """

    materials: dict[ColourMode, Material]
    uv_maps: tuple[str, str] = ("", "")
    painted: str = ""
    simplified: str = ""

    @property
    def is_textured(self) -> bool:
        """Whether it has images in any mode."""
        return any(material.textures for material in self.materials.values())


def read_surfaces(mesh_object: bpy.types.Object, mesh: bpy.types.Mesh) -> list[Surface]:
    """Return the surface of each material slot of an object on a mesh; without slots, a default one."""
    return [read_surface(slot.material, mesh) for slot in mesh_object.material_slots] or [read_surface(None, mesh)]


def read_surface(material: bpy.types.Material | None, mesh: bpy.types.Mesh) -> Surface:
    """Return a material on a mesh in each mode."""
    plain = _NO_MATERIAL if material is None else _plain(material)
    maps = UvMaps.of(mesh)
    nodes, is_whole = (plain, True) if material is None else _by_nodes(material, plain, maps)
    return Surface({"NODES": nodes, "MATERIAL": plain,
                    "TEXTURE": plain if material is None or not maps.active else _by_texture(material, plain),
                    "OBJECT": _one_colour(ProgrammeStep("OBJECT")), "PAINTED": _one_colour(ProgrammeStep("ATTRIBUTE"))},
                   (maps.active, maps.other), nodes.painted,
                   "" if is_whole or material is None else material.name)


def _plain(material: bpy.types.Material) -> Material:
    red, green, blue, alpha = cast("tuple[float, ...]", tuple(cast(Any, material.diffuse_color)))
    return Material(number(red, green, blue), number(alpha), number(material.metallic), number(material.roughness),
                    cutoff=SOLID if alpha < 1.0 else 0.0, is_blended=alpha < 1.0)


def _one_colour(step: ProgrammeStep) -> Material:
    colour = (step,)
    return Material(colour, (step, ProgrammeStep("CHANNEL", 3)), cutoff=SOLID, is_blended=True)


def _by_texture(material: bpy.types.Material, plain: Material) -> Material:
    """Return the material in *Texture* mode: the image of the active texture node on the active UV map.

    If no texture node is active, as in a file just imported, Blender uses the first one.
    """
    tree = shader_tree(material)
    if tree is None:
        return plain
    chosen = next((node for node in tree.nodes if cast(Any, node).show_texture),
                  next((node for node in tree.nodes if _is_texture(node)), None))
    if not isinstance(chosen, bpy.types.ShaderNodeTexImage) or not is_there(chosen.image):
        return plain
    texture = replace(texture_of(chosen, 0, UV_IDENTITY), extension="REPEAT")
    read = ProgrammeStep("TEXTURE")
    return replace(plain, colour=(read,), alpha=(read, ProgrammeStep("CHANNEL", 3)), textures=(texture,),
                   cutoff=_TEXTURE_CUTOFF, is_blended=False)


def _is_texture(node: bpy.types.Node) -> bool:
    return node.bl_idname.startswith("ShaderNodeTex") and node.bl_idname != "ShaderNodeTexCoord"


def _by_nodes(material: bpy.types.Material, plain: Material, maps: UvMaps) -> tuple[Material, bool]:
    """Return the material by its nodes, and whether all of them are supported."""
    tree: Any = shader_tree(material)
    output = None if tree is None else tree.get_output_node("EEVEE")
    if output is None:
        return plain, True
    reader = Reader(maps)
    try:
        found = read_shaders(reader, output.inputs["Surface"], plain)
    except Unreadable:
        return plain, False
    return found or plain, reader.is_whole
