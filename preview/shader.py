"""What the shaders take and give, declared as data, and made into Blender's GPU shaders on first use."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import gpu

_FOLDER = Path(__file__).parent.parent / "shaders"

ROWS_WIDTH = 1024
"""Rows of figures, each a texel, that stand beside each other in their texture."""
RECORD = {"ARMATURE_FROM_MESH": 0, "ARMATURE_FROM_MESH_NORMAL": 3, "WORLD_FROM_ARMATURE": 6,
          "WORLD_FROM_ARMATURE_NORMAL": 9, "TINT": 12, "BONES": 13, "TRAITS": 14}
"""Where in a figure's record each thing begins; what it is stands in shaders/figure.glsl."""
RECORD_ROWS = 15

Kind = Literal["FLOAT", "VEC2", "VEC3", "VEC4", "IVEC2", "IVEC4"]
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
    shaders/, put together in order. constants: whole numbers known to both.
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


SKINNED_ATTRIBUTES: tuple[tuple[Kind, str], ...] = (
    ("VEC3", "position"), ("VEC3", "normal"), ("IVEC4", "bones"), ("VEC4", "weights"))
MORE_ATTRIBUTES: tuple[tuple[Kind, str], ...] = (("IVEC4", "more_bones"), ("VEC4", "more_weights"))

CHARACTER = Interface(
    attributes=(*SKINNED_ATTRIBUTES, ("VEC3", "surface"), ("VEC3", "zone")),
    varyings=(("VEC3", "view_position"), ("VEC3", "view_normal"), ("VEC4", "base"), ("FLOAT", "heat"),
              ("FLOAT", "handedness")),
    outputs=(("VEC4", "colour"),),
    buffers=(("TaktView", "view"),),
    constants_of_draw=(("IVEC2", "drawing"), ("FLOAT", "opacity")),
    typedefs="""
struct TaktView {
  mat4 clip_from_view;
  mat4 view_from_world;
  vec4 size; /* in pixels: width, height; then whether to encode as sRGB */
};
/* drawing: the row where the first figure's record begins, the pass. */
""",
    vertex=("figure.glsl", "skinning.glsl", "posed.glsl", "character.vert.glsl"),
    fragment=("character.frag.glsl",),
    samplers=("rows",),
    constants=(("ROWS_WIDTH", ROWS_WIDTH), ("RECORD_ROWS", RECORD_ROWS),
               *((f"RECORD_{name}", row) for name, row in RECORD.items()),
               *((f"PICTURE_{name}", number) for number, name in enumerate(PASSES))),
)

OVERSAMPLING = 2
"""Each pixel of a picture is the mean of this many squared: edges come out smooth."""

REDUCE = Interface(
    attributes=(("VEC2", "corner"),), varyings=(), outputs=(("VEC4", "colour"),), buffers=(), typedefs="",
    vertex=("reduce.vert.glsl",), fragment=("reduce.frag.glsl",),
    samplers=("fine",), constants=(("OVERSAMPLING", OVERSAMPLING),),
)


@cache
def shader(interface: Interface, more_influences: bool = False) -> gpu.types.GPUShader:
    """Return the compiled shader; raises Exception with the driver's words where it cannot be compiled.

    more_influences: each vertex has 8 instead of 4.
    """
    info = gpu.types.GPUShaderCreateInfo()
    attributes = interface.attributes + (MORE_ATTRIBUTES if more_influences else ())
    for slot, (kind, name) in enumerate(attributes):
        info.vertex_in(slot, kind, name)
    if interface.varyings:
        stage = gpu.types.GPUStageInterfaceInfo("takt_varyings")
        for kind, name in interface.varyings:
            stage.smooth(kind, name)
        info.vertex_out(stage)
    for slot, (kind, name) in enumerate(interface.outputs):
        info.fragment_out(slot, kind, name)
    for slot, (struct, name) in enumerate(interface.buffers):
        info.uniform_buf(slot, struct, name)
    for kind, name in interface.constants_of_draw:
        info.push_constant(kind, name)
    for slot, name in enumerate(interface.samplers):
        info.sampler(slot, "FLOAT_2D", name)
    if interface.typedefs:
        info.typedef_source(interface.typedefs)
    for name, value in (*interface.constants, *((("MORE_INFLUENCES", 1),) if more_influences else ())):
        info.define(name, str(value))
    info.vertex_source("".join(_source(name) for name in interface.vertex))
    info.fragment_source("".join(_source(name) for name in interface.fragment))
    return gpu.shader.create_from_info(info)


@cache
def _source(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
