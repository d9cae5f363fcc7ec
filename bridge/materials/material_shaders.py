"""Convert the surface shaders of Blender's materials, single or mixed, to core's material.

A material has only one colour, so two shaders are blended: *Glossy* mixed into *Diffuse* gives a half metal.
"""

from dataclasses import replace
from typing import Any, cast

import bpy

from ...core.shading.material import DARK, Material, Programme, ProgrammeStep, evaluate, number
from .material_nodes import SOLID, Reader, Unreadable, link_into

_METALS = frozenset(("BSDF_GLOSSY", "BSDF_METALLIC"))
_LIGHTS = frozenset(("EMISSION", "BACKGROUND"))
_MATT = frozenset(("BSDF_DIFFUSE", "BSDF_TOON"))
_KNOWN = _METALS | _LIGHTS | _MATT | {"BSDF_PRINCIPLED"}
_ONE, _HALF, _TWO = number(1.0), number(0.5), number(2.0)
_DULL = _ONE
"""The roughness of surfaces without reflections."""
_CLEAR = Material(alpha=number(0.0), cutoff=SOLID, is_blended=True)


def read_shaders(reader: Reader, socket: bpy.types.NodeSocket, plain: Material) -> Material | None:
    """Return the material of a socket, or None if nothing is linked to it.

    Parts that cannot be read are taken from `plain`; without any colour this raises Unreadable.
    """
    found = _surface(reader, socket, plain)
    if found is None:
        return None
    opaque = found.alpha == _ONE
    return replace(found, textures=tuple(reader.textures), painted=reader.painted or "",
                   cutoff=0.0 if opaque else SOLID, is_blended=not opaque)


def _surface(reader: Reader, socket: bpy.types.NodeSocket, plain: Material) -> Material | None:
    link = link_into(socket)
    if link is None:
        return None
    node = cast(bpy.types.Node, link.from_node)
    if node.type == "BSDF_TRANSPARENT":
        return _CLEAR
    if node.type in ("MIX_SHADER", "ADD_SHADER"):
        return _of_two(reader, node, plain)
    return _shader(reader, node, plain)


def _of_two(reader: Reader, node: bpy.types.Node, plain: Material) -> Material:
    """Return the blend of two shaders, or one of them if the other or their share cannot be read."""
    sides = _sides(reader, node, plain)
    if len(sides) == 1:
        return sides[0]
    share = _HALF if node.type == "ADD_SHADER" else reader.value_or(node.inputs[0], None)
    a, b = (replace(side, textures=tuple(reader.textures)) for side in sides)
    try:
        if _CLEAR.alpha in (a.alpha, b.alpha):
            return _seen_through(a, b, None if node.type == "ADD_SHADER" else share)
        mixed = _mixed(a, b, share or _HALF)
        return _doubled(mixed) if node.type == "ADD_SHADER" else mixed
    except ValueError:  # too deep a programme
        reader.is_whole = False
        return a


def _sides(reader: Reader, node: bpy.types.Node, plain: Material) -> list[Material]:
    """Return those of two shaders that can be read; raise Unreadable if none can."""
    sides = []
    *_, first, second = node.inputs
    for socket in (first, second):
        try:
            sides.append(_surface(reader, socket, plain))
        except Unreadable:
            reader.is_whole = False
    found = [side for side in sides if side is not None]
    if not found:
        raise Unreadable
    return found


def _seen_through(a: Material, b: Material, share: Programme | None) -> Material:
    """Return the opaque one of two shaders, of which the other is transparent, with its alpha: 1 if unknown."""
    if share is None:
        return b if a.alpha == _CLEAR.alpha else a
    if a.alpha == _CLEAR.alpha:
        return replace(b, alpha=_times(share, b.alpha))
    return replace(a, alpha=_times(_folded((*_ONE, *share, ProgrammeStep("SUBTRACT"))), a.alpha))


def _doubled(half: Material) -> Material:
    """Return the sum of two shaders from their mean."""
    return replace(half, colour=_times(half.colour, _TWO), emission=_times(half.emission, _TWO))


def _mixed(a: Material, b: Material, share: Programme) -> Material:
    """Return the blend of a and b by a share; raise ValueError if the programmes become too deep.

    Roughness is that of the reflecting one, since Diffuse has no roughness of this kind.
    """
    roughness = b.roughness if a.roughness == _DULL else a.roughness if b.roughness == _DULL else _mix(
        share, a.roughness, b.roughness)
    bent = b if a.normal < 0 else a
    return replace(bent, colour=_mix(share, a.colour, b.colour), alpha=_mix(share, a.alpha, b.alpha),
                   metallic=_mix(share, a.metallic, b.metallic), roughness=roughness,
                   emission=_mix(share, a.emission, b.emission))


def _shader(reader: Reader, node: bpy.types.Node, plain: Material) -> Material:
    """Return the material of a shader; for an unknown one, such as a group, by the names of its inputs."""
    inputs: Any = node.inputs
    colours = [socket for socket in node.inputs if socket.type == "RGBA"]
    colour = reader.colour(colours[0] if node.type in _KNOWN else reader.colour_input(node))
    if node.type in _LIGHTS:
        glow = _times(colour, reader.value_or(inputs["Strength"], _ONE))
        return Material(DARK, roughness=_DULL, textures=tuple(reader.textures), emission=glow)
    if node.type not in _KNOWN or _refracts(node):
        reader.is_whole = False
    named = {name: inputs[name] for name in ("Alpha", "Metallic", "Roughness", "Emission Strength", "Emission Color",
                                             "Normal") if name in inputs}
    matt = node.type in _MATT or "Roughness" not in named
    metallic = _ONE if node.type in _METALS else (
        reader.value_or(named["Metallic"], plain.metallic) if "Metallic" in named else number(0.0))
    alpha = reader.value_or(named["Alpha"], _ONE) if "Alpha" in named else _ONE
    roughness = _DULL if matt else reader.value_or(named["Roughness"], plain.roughness)
    normal, strength = reader.normal(named["Normal"]) if "Normal" in named else (-1, 1.0)
    emission = _emission(reader, named["Emission Color"], named["Emission Strength"]
                         ) if "Emission Color" in named and "Emission Strength" in named else DARK
    return Material(colour, alpha, metallic, roughness, tuple(reader.textures), normal, strength, emission=emission)


def _refracts(node: bpy.types.Node) -> bool:
    """Return whether a shader is wholly or partly glass, which is drawn opaque."""
    weight = cast(Any, node.inputs).get("Transmission Weight")
    return weight is not None and (link_into(weight) is not None or float(weight.default_value) > 0.0)


def _emission(reader: Reader, colour: bpy.types.NodeSocket, strength: bpy.types.NodeSocket) -> Programme:
    """Return the light that a shader emits in addition, or none if it cannot be read."""
    much = reader.value_or(strength, DARK)
    return DARK if much == DARK else _times(reader.colour_or(colour, DARK), much)


def _times(a: Programme, b: Programme) -> Programme:
    """Return the programme for the product of two."""
    return a if b == _ONE else b if a == _ONE else _folded((*a, *b, ProgrammeStep("MULTIPLY")))


def _mix(share: Programme, a: Programme, b: Programme) -> Programme:
    return a if a == b else _folded((*share, *a, *b, ProgrammeStep("MIX")))


def _folded(programme: Programme) -> Programme:
    """Return a programme, folded to a constant if it reads nothing that varies."""
    if any(step.operation in ("TEXTURE", "ATTRIBUTE", "OBJECT") for step in programme):
        return programme
    return number(*map(float, evaluate(programme)[:3]))
