"""Convert the nodes of Blender's materials to programmes for a shader.

Adding a node is one function here. Anything without a counterpart raises Unreadable.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import bpy
import numpy as np
from mathutils import Euler, Matrix

from ...core.shading.material import (
    EXTENSIONS,
    LUMINANCE,
    MAX_TEXTURES,
    UV_IDENTITY,
    AlphaMode,
    Colour,
    Programme,
    ProgrammeStep,
    Texture,
    UvMatrix,
    check_programme,
    evaluate,
    number,
)

SOLID = 0.5
"""Alpha from which on a blended surface hides what is behind it, so that the order of drawing hardly matters."""
_MOST_STEPS, _DEEPEST = 48, 24
_PLACES = np.linspace(0.0, 1.0, 257)
"""The positions at which a Color Ramp is sampled."""
_ALPHA_MODES: dict[str, AlphaMode] = {"PREMUL": "PREMULTIPLIED", "NONE": "NONE"}


Other = TypeVar("Other")


class Unreadable(Exception):  # noqa: N818  # an answer, not a failure
    """A part of a material has no counterpart in a programme."""


def is_there(image: bpy.types.Image | None) -> bool:
    """Return whether an image has pixels; they are loaded if necessary. Films count as missing."""
    return (image is not None and image.source in ("FILE", "GENERATED", "TILED")
            and 0 not in tuple(cast(Any, image.size)))


@dataclass
class UvMaps:
    """The UV maps of a surface: the active one, and at most one other, which is added when it is first used."""

    active: str
    rendered: str
    names: frozenset[str]
    other: str = ""

    @classmethod
    def of(cls, mesh: bpy.types.Mesh) -> "UvMaps":
        """Return the maps of a mesh."""
        layers = mesh.uv_layers
        rendered = next((layer.name for layer in layers if layer.active_render), "")
        active = layers.active.name if layers.active else rendered
        return cls(active, rendered, frozenset(layer.name for layer in layers))

    def index(self, name: str) -> int:
        """Return the number of a map, 0 or 1; raise Unreadable if it would be a third."""
        name = name or self.rendered
        if name not in self.names:
            raise Unreadable
        if name == self.active:
            return 0
        if self.other not in ("", name):
            raise Unreadable
        self.other = name
        return 1


@dataclass
class Reader:
    """Reads one material's node tree. is_whole: whether all nodes so far have a counterpart."""

    maps: UvMaps
    textures: list[Texture] = field(default_factory=list)
    painted: str | None = None
    is_whole: bool = True
    _depth: int = 0

    def colour(self, socket: bpy.types.NodeSocket) -> Programme:
        """Return the programme for a socket's input; for an unknown node, that of its input colour."""
        link = link_into(socket)
        if link is None:
            if socket.type not in ("VALUE", "RGBA", "VECTOR"):
                raise Unreadable
            value = cast(Any, socket).default_value
            return number(float(value)) if socket.type == "VALUE" else number(*map(float, tuple(value)[:3]))
        node = cast(bpy.types.Node, link.from_node)
        source = cast(bpy.types.NodeSocket, link.from_socket)
        if self._depth > _DEEPEST:
            raise Unreadable
        self._depth += 1
        programme = _NODES.get(node.type, _given)(self, node, source)
        self._depth -= 1
        return _checked(programme)

    def colour_input(self, node: bpy.types.Node) -> bpy.types.NodeSocket:
        """Return the input that most likely gives a node's colour: the first colour, linked ones preferred."""
        colours = [socket for socket in node.inputs if socket.type == "RGBA" and socket.enabled]
        if not colours:
            raise Unreadable
        return next((socket for socket in colours if link_into(socket)), colours[0])

    def value(self, socket: bpy.types.NodeSocket) -> Programme:
        """Return the programme for a number; a colour is converted to its brightness."""
        link, programme = link_into(socket), self.colour(socket)
        is_colour = link is not None and cast(bpy.types.NodeSocket, link.from_socket).type == "RGBA"
        return (*programme, ProgrammeStep("CHANNEL", LUMINANCE)) if is_colour else programme

    def texture(self, node: bpy.types.ShaderNodeTexImage) -> int:
        """Return the index of an image node's texture."""
        if not is_there(node.image) or node.projection != "FLAT":
            raise Unreadable
        texture = texture_of(node, *self._mapped(cast(Any, node.inputs)["Vector"]))
        if texture not in self.textures:
            if len(self.textures) == MAX_TEXTURES:
                raise Unreadable
            self.textures.append(texture)
        return self.textures.index(texture)

    def paint(self, name: str) -> Programme:
        """Return the programme for a painted colour; raise Unreadable if the material has another one."""
        if self.painted not in (None, name):
            raise Unreadable
        self.painted = name
        return (ProgrammeStep("ATTRIBUTE"),)

    def _mapped(self, socket: bpy.types.NodeSocket) -> tuple[int, UvMatrix]:
        """Return the UV map of a vector, and the matrix image from UV."""
        link = link_into(socket)
        if link is None:
            return self.maps.index(""), UV_IDENTITY
        node: Any = link.from_node
        source = cast(bpy.types.NodeSocket, link.from_socket)
        if node.type == "UVMAP" and not node.from_instancer:
            return self.maps.index(node.uv_map), UV_IDENTITY
        if node.type == "TEX_COORD" and source.name == "UV":
            return self.maps.index(""), UV_IDENTITY
        if node.type == "ATTRIBUTE" and node.attribute_type == "GEOMETRY":
            return self.maps.index(node.attribute_name), UV_IDENTITY
        if node.type != "MAPPING" or any(link_into(each) for each in node.inputs[1:]):
            raise Unreadable
        which, before = self._mapped(node.inputs["Vector"])
        if before != UV_IDENTITY:
            raise Unreadable
        return which, _mapping(node)

    def value_or(self, socket: bpy.types.NodeSocket, otherwise: Other) -> Programme | Other:
        """Return the programme for the number of a socket, or the alternative if it cannot be read."""
        return self._either(self.value, socket, otherwise)

    def colour_or(self, socket: bpy.types.NodeSocket, otherwise: Other) -> Programme | Other:
        """Return the programme for the colour of a socket, or the alternative if it cannot be read."""
        return self._either(self.colour, socket, otherwise)

    def _either(self, read: Callable[[bpy.types.NodeSocket], Programme], socket: bpy.types.NodeSocket,
                   otherwise: Other) -> Programme | Other:
        known = list(self.textures), self._depth
        try:
            return read(socket)
        except Unreadable:
            self.textures[:], self._depth = known
            self.is_whole = False
            return otherwise

    def normal(self, socket: bpy.types.NodeSocket) -> tuple[int, float]:
        """Return the texture of a normal map and its strength; −1 if there is none, or none that can be read.

        For Bump its input normals are used.
        """
        link = link_into(socket)
        for _ in range(_DEEPEST):
            if link is None or cast(Any, link.from_node).type != "BUMP":
                break
            self.is_whole = False
            link = link_into(cast(Any, link.from_node).inputs["Normal"])
        if link is None:
            return -1, 1.0
        try:
            return self._normal_map(cast(Any, link.from_node))
        except Unreadable:
            self.is_whole = False
            return -1, 1.0

    def _normal_map(self, node: Any) -> tuple[int, float]:
        if node.type != "NORMAL_MAP" or node.space != "TANGENT":
            raise Unreadable
        image = link_into(node.inputs["Color"])
        if image is None or not isinstance(image.from_node, bpy.types.ShaderNodeTexImage):
            raise Unreadable
        texture, strength = self.texture(image.from_node), self.value_or(node.inputs["Strength"], number(1.0))
        if any(step.operation in ("TEXTURE", "ATTRIBUTE", "OBJECT") for step in strength):
            self.is_whole, strength = False, number(1.0)
        return texture, max(float(evaluate(strength)[0]), 0.0)


def link_into(socket: bpy.types.NodeSocket) -> bpy.types.NodeLink | None:
    """Return the link that gives a socket's value, or None if its own value is used.

    Reroutes and muted nodes are followed as in Blender: if a muted node's output has no matching input, or that is not
    linked, the socket counts as not linked.
    """
    for _ in range(_DEEPEST):
        link = next((link for link in cast(Any, socket.links) if link.is_valid and not link.is_muted), None)
        if link is None:
            return None
        node = link.from_node
        if node.type == "REROUTE":
            socket = node.inputs[0]
        elif node.mute:
            passed = [each.from_socket for each in node.internal_links if each.to_socket == link.from_socket]
            if not passed:
                return None
            socket = passed[0]
        else:
            return cast(bpy.types.NodeLink, link)
    raise Unreadable


def texture_of(node: bpy.types.ShaderNodeTexImage, uv_map: int, image_from_uv: UvMatrix) -> Texture:
    """Return the texture of an image node on one of a surface's UV maps."""
    image = node.image
    assert image is not None
    extension = node.extension if node.extension in EXTENSIONS else "REPEAT"
    return Texture(image.session_uid, uv_map, image_from_uv, extension, _ALPHA_MODES.get(image.alpha_mode, "STRAIGHT"),
                   node.interpolation != "Closest")


def _mapping(node: bpy.types.ShaderNodeMapping) -> UvMatrix:
    """Return the matrix (2, 3) of a Mapping node for UV."""
    inputs: Any = node.inputs
    if node.vector_type == "NORMAL":
        raise Unreadable
    turn, scale = Euler(inputs["Rotation"].default_value), tuple(inputs["Scale"].default_value)
    location = (0.0, 0.0, 0.0) if node.vector_type == "VECTOR" else tuple(inputs["Location"].default_value)
    matrix = Matrix.LocRotScale(location, turn, scale)
    if node.vector_type == "TEXTURE":
        matrix = matrix.inverted_safe()
    rows = [(float(row[0]), float(row[1]), float(row[3])) for row in cast(Any, matrix)[:2]]
    return rows[0], rows[1]


def _checked(programme: Programme) -> Programme:
    """Return a programme; raise Unreadable if it exceeds the shader's limits."""
    try:
        check_programme(programme, MAX_TEXTURES)
    except ValueError:
        raise Unreadable from None
    if len(programme) > _MOST_STEPS:
        raise Unreadable
    return programme


def _image(reader: Reader, node: Any, source: bpy.types.NodeSocket) -> Programme:
    read = ProgrammeStep("TEXTURE", reader.texture(node))
    return (read, ProgrammeStep("CHANNEL", 3)) if source.name == "Alpha" else (read,)


def _attribute(reader: Reader, node: Any, source: bpy.types.NodeSocket) -> Programme:
    if node.type == "ATTRIBUTE" and node.attribute_type != "GEOMETRY":
        raise Unreadable
    painted = reader.paint(node.layer_name if node.type == "VERTEX_COLOR" else node.attribute_name)
    if source.name in ("Fac", "Factor"):
        return (*painted, ProgrammeStep("CHANNEL", LUMINANCE))
    return (*painted, ProgrammeStep("CHANNEL", 3)) if source.name == "Alpha" else painted


def _constant(_: Reader, __: bpy.types.Node, source: bpy.types.NodeSocket) -> Programme:
    value = cast(Any, source).default_value
    return number(float(value)) if source.type == "VALUE" else number(*map(float, tuple(value)[:3]))


def _mix(reader: Reader, node: Any, _: bpy.types.NodeSocket) -> Programme:
    if node.type == "MIX_RGB":
        factor, a, b, is_clamped = node.inputs[0], node.inputs[1], node.inputs[2], node.use_clamp
        kind, is_factor_clamped = node.blend_type, True
    elif node.data_type == "RGBA":
        factor, a, b, is_clamped = node.inputs[0], node.inputs[6], node.inputs[7], node.clamp_result
        kind, is_factor_clamped = node.blend_type, node.clamp_factor
    elif node.data_type == "FLOAT":
        factor, a, b, is_clamped = node.inputs[0], node.inputs[2], node.inputs[3], False
        kind, is_factor_clamped = "MIX", node.clamp_factor
    else:
        raise Unreadable
    if kind not in _BLENDS:
        kind, reader.is_whole = "MIX", False
    share = (*reader.value(factor), *((ProgrammeStep("CLAMP"),) if is_factor_clamped and factor.is_linked else ()))
    mixed = (*share, *reader.colour(a), *reader.colour(b), ProgrammeStep(_BLENDS[kind]))
    return (*mixed, ProgrammeStep("CLAMP")) if is_clamped else mixed


def _math(reader: Reader, node: Any, _: bpy.types.NodeSocket) -> Programme:
    if node.operation == "ROUND":
        made = (*reader.value(node.inputs[0]), ProgrammeStep("ROUND"))
    elif node.operation in _SUMS:
        made = (*reader.value(node.inputs[0]), *reader.value(node.inputs[1]), ProgrammeStep(_SUMS[node.operation]))
    else:
        raise Unreadable
    return (*made, ProgrammeStep("CLAMP")) if node.use_clamp else made


def _separate(reader: Reader, node: Any, source: bpy.types.NodeSocket) -> Programme:
    if getattr(node, "mode", "RGB") != "RGB":
        raise Unreadable
    return (*reader.colour(node.inputs[0]), ProgrammeStep("CHANNEL", list(node.outputs).index(source)))


def _combine(reader: Reader, node: Any, _: bpy.types.NodeSocket) -> Programme:
    if getattr(node, "mode", "RGB") != "RGB":
        raise Unreadable
    red, green, blue = (reader.value(socket) for socket in node.inputs[:3])
    return (*red, *green, *blue, ProgrammeStep("COLOUR"))


def _constants(node: Any, *inputs: int) -> tuple[float, float, float, float]:
    """Return the values of up to four inputs; raise Unreadable where one is linked."""
    if any(link_into(node.inputs[index]) for index in inputs):
        raise Unreadable
    values = [float(node.inputs[index].default_value) for index in inputs]
    return cast("tuple[float, float, float, float]", tuple((*values, 0.0, 0.0, 0.0, 0.0)[:4]))


def _adjust(operation: str, *inputs: int) -> "_NodeReader":
    """Return the reader of a node that changes a colour by the numbers of some of its inputs."""
    def read(reader: Reader, node: Any, _: bpy.types.NodeSocket) -> Programme:
        return (*reader.colour(node.inputs["Color"]), ProgrammeStep(operation, 0, _constants(node, *inputs)))

    return read


def _grey(reader: Reader, node: Any, _: bpy.types.NodeSocket) -> Programme:
    return (*reader.colour(node.inputs[0]), ProgrammeStep("CHANNEL", LUMINANCE))


def _clamp(reader: Reader, node: Any, _: bpy.types.NodeSocket) -> Programme:
    if _constants(node, 1, 2)[:2] != (0.0, 1.0):
        raise Unreadable
    return (*reader.value(node.inputs[0]), ProgrammeStep("CLAMP"))


def _ramp(reader: Reader, node: Any, source: bpy.types.NodeSocket) -> Programme:
    """Return the programme of a colour ramp as a table that Blender computes, so all interpolations are supported."""
    table = tuple(cast(Colour, tuple(map(float, node.color_ramp.evaluate(place)))) for place in _PLACES)
    colour = (*reader.value(node.inputs[0]), ProgrammeStep("RAMP", table=table))
    return (*colour, ProgrammeStep("CHANNEL", 3)) if source.name == "Alpha" else colour


def _given(reader: Reader, node: Any, source: bpy.types.NodeSocket) -> Programme:
    """Return the input colour of an unknown node instead of its result."""
    if source.type != "RGBA":
        raise Unreadable
    reader.is_whole = False
    return reader.colour(reader.colour_input(node))


def _light_path(_: Reader, __: bpy.types.Node, source: bpy.types.NodeSocket) -> Programme:
    return number(1.0 if source.name == "Is Camera Ray" else 0.0)


_NodeReader = Callable[[Reader, Any, bpy.types.NodeSocket], Programme]
_BLENDS = {"MIX": "MIX", **{kind: f"BLEND_{kind}" for kind in (
    "ADD", "MULTIPLY", "SUBTRACT", "SCREEN", "DIFFERENCE", "DARKEN", "LIGHTEN", "OVERLAY")}}
_SUMS = {"ADD": "ADD", "SUBTRACT": "SUBTRACT", "MULTIPLY": "MULTIPLY", "LESS_THAN": "LESS", "GREATER_THAN": "GREATER",
         "MINIMUM": "SMALLER_OF", "MAXIMUM": "LARGER_OF", "POWER": "POWER"}
_NODES: dict[str, _NodeReader] = {
    "TEX_IMAGE": _image,
    "VERTEX_COLOR": _attribute,
    "ATTRIBUTE": _attribute,
    "RGB": _constant,
    "VALUE": _constant,
    "MIX": _mix,
    "MIX_RGB": _mix,
    "MATH": _math,
    "SEPARATE_COLOR": _separate,
    "COMBINE_COLOR": _combine,
    "HUE_SAT": _adjust("HUE", 0, 1, 2, 3),
    "GAMMA": _adjust("GAMMA", 1),
    "BRIGHTCONTRAST": _adjust("CONTRAST", 1, 2),
    "INVERT": _adjust("INVERT", 0),
    "RGBTOBW": _grey,
    "CLAMP": _clamp,
    "LIGHT_PATH": _light_path,
    "VALTORGB": _ramp,
}
"""The functions that read nodes, by type."""
