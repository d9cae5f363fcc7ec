"""COLLADA made by hand: a leg of joints that hang in each other, skins for it, and curves that move it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from takt.core.maths.arrays import FloatArray

JOINTS = {"Hips": (0.0, 1.0, 0.0), "Leg": (0.1, -0.1, 0.0), "Shin": (0.0, -0.4, 0.02), "Foot": (0.0, -0.4, -0.02),
          "Toes": (0.0, -0.05, 0.12)}


def numbers(values: Sequence[float] | FloatArray) -> str:
    """Write numbers."""
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values, dtype=np.float64)))


def translated(way: Sequence[float] | FloatArray) -> FloatArray:
    """Return a matrix that moves."""
    matrix = np.eye(4)
    matrix[:3, 3] = way
    return matrix


def as_matrix(way: Sequence[float]) -> str:
    """Return a node's transforms as one matrix."""
    return f'<matrix sid="transform">{numbers(translated(way))}</matrix>'


def as_channels(way: Sequence[float]) -> str:
    """Return a node's transforms one by one, as Maya writes them."""
    return (f'<translate sid="translate">{numbers(way)}</translate><rotate sid="rotateZ">0 0 1 0</rotate>'
            '<rotate sid="rotateY">0 1 0 0</rotate><rotate sid="rotateX">1 0 0 0</rotate>'
            '<scale sid="scale">1 1 1</scale>')


def node(name: str, inside: str, kind: str = "JOINT") -> str:
    """Return a node."""
    return f'<node id="{name}_id" name="{name}" sid="{name}" type="{kind}">{inside}</node>'


def leg(transforms: Mapping[str, str]) -> str:
    """Return the joints in each other."""
    inner = ""
    for name in reversed(JOINTS):
        inner = node(name, transforms[name] + "\n" + inner)
    return inner


def source(name: str, rows: Sequence[Sequence[float]] | FloatArray) -> str:
    """Return a source of numbers (N, C)."""
    values = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1) if len(rows) else np.empty((0, 1))
    width = values.shape[1]
    parts = ('<param name="TRANSFORM" type="float4x4"/>' if width == 16 else
             "".join(f'<param name="{letter}" type="float"/>' for letter in "XYZWABCDEF"[:width]))
    return (f'<source id="{name}"><float_array id="{name}_a" count="{values.size}">{numbers(values)}</float_array>'
            f'<technique_common><accessor source="#{name}_a" count="{len(values)}" stride="{width}">{parts}</accessor>'
            "</technique_common></source>\n")


def named(name: str, words: Sequence[str]) -> str:
    """Return a source of names."""
    return (f'<source id="{name}"><Name_array id="{name}_a" count="{len(words)}">{" ".join(words)}</Name_array>'
            f'<technique_common><accessor source="#{name}_a" count="{len(words)}" stride="1"/></technique_common>'
            "</source>\n")


def animation(name: str, target: str, times: Sequence[float] | FloatArray, values: Sequence[float] | FloatArray,
              kind: str = "LINEAR", **more: Sequence[float] | FloatArray) -> str:
    """Return an animation of one channel; more: further inputs, as IN_TANGENT."""
    rows = np.asarray(values, dtype=np.float64).reshape(len(times), -1) if len(times) else np.empty((0, 1))
    parts = [source(f"{name}_INPUT", np.reshape(times, (-1, 1))), source(f"{name}_OUTPUT", rows),
             named(f"{name}_INTERPOLATION", [kind] * len(times))]
    parts += [source(f"{name}_{key}", np.reshape(given, (len(times), -1))) for key, given in more.items()]
    inputs = "".join(f'<input semantic="{key}" source="#{name}_{key}"/>'
                     for key in ("INPUT", "OUTPUT", "INTERPOLATION", *more))
    return (f'<animation id="{name}">{"".join(parts)}<sampler id="{name}_s">{inputs}</sampler>'
            f'<channel source="#{name}_s" target="{target}"/></animation>\n')


def skin(name: str, joints: Sequence[str], inverse: FloatArray) -> str:
    """Return a controller. inverse: (N, 4, 4) inverse bind matrices."""
    return (f'<controller id="{name}"><skin source="#mesh">{named(f"{name}_j", joints)}'
            f'{source(f"{name}_b", inverse.reshape(-1, 16))}<joints><input semantic="JOINT" source="#{name}_j"/>'
            f'<input semantic="INV_BIND_MATRIX" source="#{name}_b"/></joints></skin></controller>\n')


def worn(name: str, root: str = "Hips_id") -> str:
    """Return a node with a skin."""
    return (f'<node id="{name}_node" name="{name}"><instance_controller url="#{name}"><skeleton>#{root}</skeleton>'
            "</instance_controller></node>")


def bound() -> FloatArray:
    """Return the inverse bind matrices of all joints at rest."""
    return np.array([translated(-place) for place in np.cumsum(list(JOINTS.values()), axis=0)])


def document(nodes: str, animations: str = "", *, controllers: str = "", clips: str = "", up: str = "Y_UP",
             meter: float = 1.0, library: str = "") -> bytes:
    """Return a file."""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="unit" meter="{meter!r}"/><up_axis>{up}</up_axis></asset>
<library_animations>{animations}</library_animations><library_animation_clips>{clips}</library_animation_clips>
<library_controllers>{controllers}</library_controllers><library_nodes>{library}</library_nodes>
<library_visual_scenes><visual_scene id="Scene">
{nodes}
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#Scene"/></scene></COLLADA>""".encode()


def walking() -> bytes:
    """Return a file with a skin, whose hips move by matrices and whose leg turns along a curve."""
    transforms = {name: as_matrix(way) if name == "Hips" else as_channels(way) for name, way in JOINTS.items()}
    moves = np.array([translated((0.0, 1.0, z)) for z in (0.0, 0.5, 1.0)]).reshape(-1, 16)
    motion = animation("hips", "Hips_id/transform", (0.0, 0.5, 1.0), moves) + animation(
        "leg", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0.0, 60.0), "BEZIER",
        IN_TANGENT=(-0.3, 0.0, 0.7, 60.0), OUT_TANGENT=(0.3, 0.0, 1.3, 60.0))
    return document(leg(transforms) + worn("body"), motion, controllers=skin("body", list(JOINTS), bound()))


def _mesh(name: str, points: FloatArray, triangles: Sequence[Sequence[int]], material: str) -> str:
    """Return a geometry with a normal for all, and texture coordinates."""
    corners = " ".join(f"{vertex} 0 {vertex % 4}" for triangle in triangles for vertex in triangle)
    return (f'<geometry id="{name}" name="{name}"><mesh>{source(f"{name}_p", points)}'
            f'{source(f"{name}_n", ((0.0, 0.0, 2.0),))}{source(f"{name}_t", ((0, 0), (1, 0), (1, 1), (0, 1)))}'
            f'<vertices id="{name}_v"><input semantic="POSITION" source="#{name}_p"/></vertices>'
            f'<triangles count="{len(triangles)}" material="{material}">'
            f'<input semantic="VERTEX" source="#{name}_v" offset="0"/><input semantic="NORMAL" source="#{name}_n" '
            f'offset="1"/><input semantic="TEXCOORD" source="#{name}_t" offset="2" set="0"/><p>{corners}</p>'
            "</triangles></mesh></geometry>\n")


def _weighted(name: str, joints: Sequence[str], inverse: FloatArray, shape: FloatArray,
              weights: Sequence[Mapping[int, float]]) -> str:
    """Return a skin. weights: of each vertex, by joint."""
    flat = [value for each in weights for value in each.values()]
    pairs = [joint for each in weights for joint in each]
    rows = " ".join(f"{joint} {at}" for at, joint in enumerate(pairs))
    return (f'<controller id="{name}_skin"><skin source="#{name}"><bind_shape_matrix>{numbers(shape)}'
            f'</bind_shape_matrix>{named(f"{name}_j", joints)}{source(f"{name}_b", inverse.reshape(-1, 16))}'
            f'{source(f"{name}_w", np.reshape(flat, (-1, 1)))}<joints><input semantic="JOINT" source="#{name}_j"/>'
            f'<input semantic="INV_BIND_MATRIX" source="#{name}_b"/></joints><vertex_weights count="{len(weights)}">'
            f'<input semantic="JOINT" source="#{name}_j" offset="0"/><input semantic="WEIGHT" source="#{name}_w" '
            f'offset="1"/><vcount>{" ".join(str(len(each)) for each in weights)}</vcount><v>{rows}</v>'
            "</vertex_weights></skin></controller>\n")


def looks(texture: str) -> str:
    """Return two materials: one of a texture, one of a colour."""
    def effect(name: str, diffuse: str, parameters: str = "") -> str:
        return (f'<effect id="{name}_fx"><profile_COMMON>{parameters}<technique sid="common"><phong><diffuse>{diffuse}'
                f'</diffuse></phong></technique></profile_COMMON></effect>')

    sampler = ('<newparam sid="surface"><surface type="2D"><init_from>image</init_from></surface></newparam>'
               '<newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>')
    coat = effect("coat", '<texture texture="sampler" texcoord="UV"/>', sampler)
    return (f'<library_images><image id="image"><init_from>{texture}</init_from></image></library_images>'
            f'<library_effects>{coat}{effect("skin", "<color>1 0.5 0 1</color>")}</library_effects><library_materials>'
            + "".join(f'<material id="{name}" name="{name}"><instance_effect url="#{name}_fx"/></material>'
                      for name in ("coat", "skin")) + "</library_materials>")


def dressed(*, up: str = "Y_UP", meter: float = 1.0, texture: str = "./coat.png", seed: int = 5,
            shift: Sequence[float] = (0.3, 0.1, -0.2)) -> bytes:
    """Return a leg with two skins of other joints in other orders and shapes, and a hat; each of its joints turns.

    shift: by how much the second skin was modelled elsewhere than it is bound.
    """
    rng = np.random.default_rng(seed)
    order = (["Hips", "Leg", "Shin"], ["Toes", "Foot", "Shin", "Leg"])
    names = list(JOINTS)
    geometry, controllers, nodes = "", "", ""
    for name, joints, way in zip(("Left", "Right"), order, ((0.0, 0.0, 0.0), shift), strict=True):
        points = rng.uniform(-0.2, 1.0, (24, 3))
        symbol, material = ("coat", "coat") if name == "Left" else ("flesh", "skin")
        geometry += _mesh(name, points, rng.permutation(24).reshape(-1, 3).tolist(), symbol)
        pairs = [(rng.permutation(len(joints))[:2].tolist(), rng.dirichlet((1.0, 1.0)).tolist()) for _ in points]
        weights = [dict(zip(*pair, strict=True)) for pair in pairs]
        inverse = bound()[[names.index(each) for each in joints]]
        controllers += _weighted(name, joints, inverse, translated(way), weights)
        target = f'<instance_material symbol="{symbol}" target="#{material}"/>'
        nodes += (f'<node id="{name}_node"><instance_controller url="#{name}_skin"><skeleton>#Hips_id</skeleton>'
                  f'<bind_material><technique_common>{target}</technique_common></bind_material></instance_controller>'
                  "</node>")
    geometry += _mesh("Hat", rng.uniform(-0.1, 0.1, (6, 3)), ((0, 1, 2), (3, 4, 5)), "skin")
    transforms = {name: as_channels(way) for name, way in JOINTS.items()}
    transforms["Hips"] += (f'<node id="HatNode" name="HatNode">{as_matrix((0.0, 0.2, 0.1))}'
                           '<instance_geometry url="#Hat"/></node>')
    moves = "".join(animation(name, f"{name}_id/rotateX.ANGLE", (0.0, 0.5, 1.0), (0.0, angle, -angle))
                    for name, angle in zip(names, rng.uniform(20, 70, len(names)).tolist(), strict=True))
    text = document(leg(transforms) + nodes, moves, controllers=controllers, up=up, meter=meter).decode()
    return text.replace("<library_animations>", f"{looks(texture)}<library_geometries>{geometry}</library_geometries>"
                        "<library_animations>").encode()
