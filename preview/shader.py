"""Inputs and outputs of the shaders, declared as data, and compiled to Blender's GPU shaders on first use."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import gpu

from ..core.shading.material import MAX_DEPTH, MAX_TEXTURES, OPERATIONS
from ..core.shading.tone import TONES
from ..core.skinning import SKINNING_METHODS
from .modes import DIAGRAMS, MODES, colour_by_pass

_FOLDER = Path(__file__).parent.parent / "shaders"

ROWS_WIDTH = 1024
"""Number of rows, each a texel of four numbers, beside each other in a texture."""
RECORD = {"ARMATURE_FROM_MESH": 0, "ARMATURE_FROM_MESH_NORMAL": 3, "WORLD_FROM_ARMATURE": 6,
          "WORLD_FROM_ARMATURE_NORMAL": 9, "TINT": 12, "BONES": 13, "TRAITS": 14, "COLOUR": 15}
"""The row of an instance's record at which each part begins; see shaders/instance.glsl."""
RECORD_ROWS = 16
MATERIAL_ROWS = 4 + 2 * MAX_TEXTURES
"""Number of rows of a material's header; see shaders/material.glsl."""

Kind = Literal["FLOAT", "VEC2", "VEC3", "VEC4", "INT", "IVEC2", "IVEC4", "MAT4"]
Pass = str
PASSES: tuple[Pass, ...] = (*MODES, "OUTLINE", "DEPTH", "SHIELD", "SHADOW")
"""The modes, and what is drawn besides: DEPTH writes depth alone; SHIELD the nearest depth, so that nothing is drawn
over it; SHADOW heights."""
Alpha = Literal["ALL", "SOLID", "REST"]
ALPHAS: tuple[Alpha, ...] = ("ALL", "SOLID", "REST")
"""Which part of a surface is drawn, by its alpha: all; what counts as opaque; the rest, to be blended over that."""
SKINNING_NUMBERS = {name: number for number, name in enumerate(SKINNING_METHODS)}
"""The numbers of skinning methods in shaders. All other names here are known there by their index."""


@dataclass(frozen=True)
class Variant:
    """A define for a shader, with additional attributes and varyings."""

    name: str
    attributes: tuple[tuple[Kind, str], ...]
    varyings: tuple[tuple[Kind, str], ...] = ()


@dataclass(frozen=True)
class Interface:
    """Everything that a shader reads and writes.

    attributes, varyings, flat_varyings, outputs: (type, name). buffers: (struct, name) in the order of their slots.
    push_constants: (type, name), values that change between draw calls, at most 128 bytes. `drawing`: the first row
    of the first instance's record, the pass, and which part by its alpha.
    samplers, depth_samplers: names of its textures. writes_depth: whether it sets the depth of its pixels.
    typedefs: the structs. vertex, fragment: files under shaders/, joined in order. constants: defines for
    both, usually whole numbers.
    """

    attributes: tuple[tuple[Kind, str], ...]
    varyings: tuple[tuple[Kind, str], ...]
    outputs: tuple[tuple[Kind, str], ...]
    buffers: tuple[tuple[str, str], ...]
    typedefs: str
    vertex: tuple[str, ...]
    fragment: tuple[str, ...]
    push_constants: tuple[tuple[Kind, str], ...] = ()
    samplers: tuple[str, ...] = ()
    constants: tuple[tuple[str, int | str], ...] = ()
    flat_varyings: tuple[tuple[Kind, str], ...] = ()
    depth_samplers: tuple[str, ...] = ()
    writes_depth: bool = False


SKINNED_ATTRIBUTES: tuple[tuple[Kind, str], ...] = (
    ("VEC3", "position"), ("VEC3", "normal"), ("IVEC4", "bones"), ("VEC4", "weights"))
MORE_INFLUENCES = Variant("MORE_INFLUENCES", (("IVEC4", "more_bones"), ("VEC4", "more_weights")))
"""Each vertex has 8 instead of 4."""
PAINTED = Variant("PAINTED", (("VEC4", "uv"), ("VEC4", "paint")), (("VEC4", "uv_maps"), ("VEC4", "painted")))
"""The surface has UV maps and painted colours."""

_VIEW = """
struct TaktView {
  mat4 clip_from_view;
  mat4 view_from_world;
  vec4 size; /* in pixels: width, height; then whether to encode as sRGB */
  vec4 ambient; /* light from everywhere, then 0: no highlights, 1: highlights, 2: metal mirrors surroundings too */
  vec4 tone; /* which view transform, see tone.glsl; then how much brighter lamps are, and everything */
  vec4 lights[12]; /* of each of four: direction and wrap, diffuse colour, specular colour */
};
"""
_INSTANCES: tuple[tuple[str, int], ...] = (
    ("ROWS_WIDTH", ROWS_WIDTH), ("RECORD_ROWS", RECORD_ROWS),
    *((f"RECORD_{name}", row) for name, row in RECORD.items()),
    *((f"METHOD_{name}", number) for name, number in SKINNING_NUMBERS.items()))

CHARACTER = Interface(
    attributes=(*SKINNED_ATTRIBUTES, ("INT", "material"), ("VEC3", "zone")),
    varyings=(("VEC3", "view_position"), ("VEC3", "view_normal"), ("VEC4", "base"), ("FLOAT", "heat"),
              ("FLOAT", "handedness")),
    flat_varyings=(("INT", "header"), ("VEC4", "object_colour")),
    outputs=(("VEC4", "colour"),),
    buffers=(("TaktView", "view"),),
    push_constants=(("IVEC4", "drawing"), ("FLOAT", "opacity")),
    typedefs=_VIEW,
    vertex=("instance.glsl", "skinning.glsl", "posed.glsl", "lines.glsl", "character.vert.glsl"),
    fragment=("studio.glsl", "tone.glsl", "material.glsl", *(mode.shader for mode in DIAGRAMS), "character.frag.glsl"),
    samplers=("rows", "materials", *(f"image_{index}" for index in range(MAX_TEXTURES))),
    constants=(*_INSTANCES, *((f"PASS_{name}", number) for number, name in enumerate(PASSES)),
               *((f"OPERATION_{name}", number) for number, name in enumerate(OPERATIONS)),
               *((f"ALPHA_{name}", number) for number, name in enumerate(ALPHAS)),
               *((f"TONE_{name.upper().rpartition(' ')[2]}", number) for number, name in enumerate(TONES)),
               ("COLOUR_BY_PASS", colour_by_pass()), ("MATERIAL_ROWS", MATERIAL_ROWS),
               ("MAX_TEXTURES", MAX_TEXTURES), ("MAX_DEPTH", MAX_DEPTH)),
)

BONES = Interface(
    attributes=(("VEC3", "position"), ("INT", "bone"), ("INT", "instance")), varyings=(),
    outputs=(("VEC4", "colour"),), buffers=(("TaktView", "view"),), typedefs=_VIEW,
    vertex=("instance.glsl", "skinning.glsl", "lines.glsl", "bones.vert.glsl"), fragment=("bones.frag.glsl",),
    samplers=("rows",), constants=_INSTANCES,
)

OVERSAMPLING = 2
"""Each pixel of a picture is the mean of this many squared: edges come out smooth."""

REDUCE = Interface(
    attributes=(("VEC2", "corner"),), varyings=(), outputs=(("VEC4", "colour"),), buffers=(), typedefs="",
    vertex=("reduce.vert.glsl",), fragment=("reduce.frag.glsl",),
    samplers=("fine",), constants=(("OVERSAMPLING", OVERSAMPLING),),
)

SMOOTH = Interface(
    attributes=(("VEC2", "corner"),), varyings=(), outputs=(("VEC4", "colour"),), buffers=(), typedefs="",
    vertex=("reduce.vert.glsl",), fragment=("smooth.frag.glsl",), samplers=("fine",), depth_samplers=("fine_depth",),
    constants=(("OVERSAMPLING", OVERSAMPLING),), writes_depth=True,
)

SOFTEN = Interface(
    attributes=(("VEC2", "corner"),), varyings=(), outputs=(("VEC4", "colour"),), buffers=(), typedefs="",
    vertex=("reduce.vert.glsl",), fragment=("soften.frag.glsl",), push_constants=(("FLOAT", "texels_per_m"),),
    samplers=("heights",),
)

FLOOR = Interface(
    attributes=(("VEC2", "corner"),), varyings=(("VEC2", "in_clip"),), outputs=(("VEC4", "colour"),), buffers=(),
    typedefs="", vertex=("floor.vert.glsl",), fragment=("floor.frag.glsl",),
    push_constants=(("MAT4", "world_from_clip"), ("VEC4", "middle"), ("VEC2", "shadow_reach")),
    samplers=("shadow",),
)

WAY = Interface(
    attributes=(("VEC3", "position"), ("VEC4", "colour_in"), ("FLOAT", "when_s")),
    varyings=(("VEC4", "tint"), ("FLOAT", "since_s")), outputs=(("VEC4", "colour"),), buffers=(("TaktView", "view"),),
    typedefs=_VIEW, vertex=("lines.glsl", "way.vert.glsl"), fragment=("way.frag.glsl",),
    push_constants=(("MAT4", "world_from_model"), ("FLOAT", "now_s")),
)


@cache
def shader(interface: Interface, *variants: Variant) -> gpu.types.GPUShader:
    """Return the compiled shader; raises Exception with the driver's message if it cannot be compiled."""
    info = gpu.types.GPUShaderCreateInfo()
    attributes = interface.attributes + tuple(each for variant in variants for each in variant.attributes)
    for slot, (kind, name) in enumerate(attributes):
        info.vertex_in(slot, kind, name)
    if interface.varyings:
        stage = gpu.types.GPUStageInterfaceInfo("takt_varyings")
        for kind, name in interface.varyings + tuple(each for variant in variants for each in variant.varyings):
            stage.smooth(kind, name)
        for kind, name in interface.flat_varyings:
            stage.flat(kind, name)
        info.vertex_out(stage)
    for slot, (kind, name) in enumerate(interface.outputs):
        info.fragment_out(slot, kind, name)
    for slot, (struct, name) in enumerate(interface.buffers):
        info.uniform_buf(slot, struct, name)
    for kind, name in interface.push_constants:
        info.push_constant(kind, name)
    for slot, name in enumerate((*interface.samplers, *interface.depth_samplers)):
        info.sampler(slot, "DEPTH_2D" if name in interface.depth_samplers else "FLOAT_2D", name)
    if interface.writes_depth:
        info.depth_write("ANY")
    if interface.typedefs:
        info.typedef_source(interface.typedefs)
    for name, value in (*interface.constants, *((variant.name, 1) for variant in variants)):
        info.define(name, str(value))
    info.vertex_source("".join(_source(name) for name in interface.vertex))
    info.fragment_source("".join(_source(name) for name in interface.fragment))
    return gpu.shader.create_from_info(info)


@cache
def _source(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
