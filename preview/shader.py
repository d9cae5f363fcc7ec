"""What the shaders take and give, declared as data, and made into Blender's GPU shaders on first use."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import gpu

_FOLDER = Path(__file__).parent.parent / "shaders"

PALETTE_ROWS = 1024
"""Rows (vec4) in the palette's uniform buffer: 16 KB, which every driver gives."""
PALETTE_TEXTURE_WIDTH = 1024

Kind = Literal["FLOAT", "VEC2", "VEC3", "VEC4", "IVEC4"]
Picture = Literal["SHADED", "ZONES", "WEIGHTS", "WIREFRAME"]
PICTURES: tuple[Picture, ...] = ("SHADED", "ZONES", "WEIGHTS", "WIREFRAME")
Pass = Literal["SHADED", "ZONES", "WEIGHTS", "WIREFRAME", "OUTLINE"]
PASSES: tuple[Pass, ...] = (*PICTURES, "OUTLINE")
METHODS = ("LINEAR", "DUAL_QUATERNION", "RIGID")
"""The numbers in the shaders are the places in these."""


@dataclass(frozen=True)
class Interface:
    """Everything that a shader reads and writes.

    attributes, varyings, outputs: (type, name). buffers: (struct, name) in the order of their slots.
    constants_of_draw: (type, name), what changes from one drawing to the next, at most 128 bytes.
    samplers: names of the pictures it reads. typedefs: what the structs are. vertex, fragment: files under
    shaders/, put together in order. constants: whole numbers known to both. is_skinned: reads a palette.
    """

    attributes: tuple[tuple[Kind, str], ...]
    varyings: tuple[tuple[Kind, str], ...]
    outputs: tuple[tuple[Kind, str], ...]
    buffers: tuple[tuple[str, str], ...]
    typedefs: str
    vertex: tuple[str, ...]
    fragment: tuple[str, ...]
    constants_of_draw: tuple[tuple[Kind, str], ...] = ()
    samplers: tuple[str, ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    is_skinned: bool = True


@dataclass(frozen=True)
class Variant:
    """What is decided when a shader is compiled, because it changes the data it reads."""

    stretched: bool = False
    more_influences: bool = False
    palette_in_texture: bool = False


_PLAIN = Variant()

SKINNED_ATTRIBUTES: tuple[tuple[Kind, str], ...] = (
    ("VEC3", "position"), ("VEC3", "normal"), ("IVEC4", "bones"), ("VEC4", "weights"))
MORE_ATTRIBUTES: tuple[tuple[Kind, str], ...] = (("IVEC4", "more_bones"), ("VEC4", "more_weights"))

CHARACTER = Interface(
    attributes=(*SKINNED_ATTRIBUTES, ("VEC3", "surface"), ("VEC3", "zone")),
    varyings=(("VEC3", "view_position"), ("VEC3", "view_normal"), ("VEC3", "base_colour"), ("FLOAT", "heat")),
    outputs=(("VEC4", "colour"),),
    buffers=(("TaktView", "view"), ("TaktObject", "object")),
    constants_of_draw=(("VEC4", "role_offset"), ("VEC4", "role_tint"), ("IVEC4", "role_choice")),
    typedefs="""
struct TaktView {
  mat4 clip_from_view;
  mat4 view_from_world;
  vec4 size; /* in pixels: width, height; then whether to encode as sRGB */
};
struct TaktObject {
  mat4 world_from_armature;
  mat4 world_from_armature_normal;
  mat4 armature_from_mesh;
  mat4 armature_from_mesh_normal;
  ivec4 traits; /* whether mirrored */
};
/* role_offset: where in the world it is drawn instead, and an outline's width in pixels.
 * role_tint: a colour and its alpha. role_choice: pass, method, the bone whose weights show, whether tinted. */
""",
    vertex=("skinning.glsl", "posed.glsl", "character.vert.glsl"),
    fragment=("character.frag.glsl",),
)

OVERSAMPLING = 2
"""Each pixel of a picture is the mean of this many squared: edges come out smooth."""

REDUCE = Interface(
    attributes=(("VEC2", "corner"),), varyings=(), outputs=(("VEC4", "colour"),), buffers=(), typedefs="",
    vertex=("reduce.vert.glsl",), fragment=("reduce.frag.glsl",),
    samplers=("fine",), constants=(("OVERSAMPLING", OVERSAMPLING),), is_skinned=False,
)

_PALETTE_BUFFER = f"struct TaktPalette {{ vec4 rows[{PALETTE_ROWS}]; }};\n"
_ROW_FROM_BUFFER = "vec4 palette_row(int row) { return palette.rows[row]; }\n"
_ROW_FROM_TEXTURE = (f"vec4 palette_row(int row) {{ return texelFetch(palette, ivec2(row % {PALETTE_TEXTURE_WIDTH}, "
                     f"row / {PALETTE_TEXTURE_WIDTH}), 0); }}\n")


@cache
def shader(interface: Interface, variant: Variant = _PLAIN) -> gpu.types.GPUShader:
    """Return the compiled shader; raises Exception with the driver's words where it cannot be compiled."""
    info = gpu.types.GPUShaderCreateInfo()
    attributes = interface.attributes + (MORE_ATTRIBUTES if variant.more_influences else ())
    for slot, (kind, name) in enumerate(attributes):
        info.vertex_in(slot, kind, name)
    if interface.varyings:
        stage = gpu.types.GPUStageInterfaceInfo("takt_varyings")
        for kind, name in interface.varyings:
            stage.smooth(kind, name)
        info.vertex_out(stage)
    for slot, (kind, name) in enumerate(interface.outputs):
        info.fragment_out(slot, kind, name)
    typedefs = interface.typedefs
    for slot, (struct, name) in enumerate(interface.buffers):
        info.uniform_buf(slot, struct, name)
    for kind, name in interface.constants_of_draw:
        info.push_constant(kind, name)
    for slot, name in enumerate(interface.samplers):
        info.sampler(slot, "FLOAT_2D", name)
    defines = dict(interface.constants)
    if interface.is_skinned:
        defines |= {f"PICTURE_{picture}": number for number, picture in enumerate(PASSES)}
        defines |= {name: 1 for name, is_on in (("STRETCHED", variant.stretched),
                                                ("MORE_INFLUENCES", variant.more_influences)) if is_on}
        if variant.palette_in_texture:
            info.sampler(len(interface.samplers), "FLOAT_2D", "palette")
        else:
            typedefs += _PALETTE_BUFFER
            info.uniform_buf(len(interface.buffers), "TaktPalette", "palette")
    if typedefs:
        info.typedef_source(typedefs)
    for name, value in defines.items():
        info.define(name, str(value))
    row = (_ROW_FROM_TEXTURE if variant.palette_in_texture else _ROW_FROM_BUFFER) if interface.is_skinned else ""
    info.vertex_source(row + "".join(_source(name) for name in interface.vertex))
    info.fragment_source("".join(_source(name) for name in interface.fragment))
    return gpu.shader.create_from_info(info)


@cache
def _source(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
