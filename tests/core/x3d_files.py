"""X3D made by hand: nodes that can be written in XML, in the classic encoding, and as VRML 97 with H-Anim 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

import numpy as np

from takt.core.maths.arrays import FloatArray

DOCTYPE = ('<!DOCTYPE X3D PUBLIC "ISO//Web3D//DTD X3D 4.0//EN" '
           '"https://www.web3d.org/specifications/x3d-4.0.dtd">\n')
_TEXTS = frozenset(("name", "joints", "channels", "description", "version"))
_LISTS = frozenset(("key", "keyValue", "values", "point", "skinCoordIndex", "skinCoordWeight", "channelsEnabled"))
_OLD = {"HAnimHumanoid": "Humanoid", "HAnimJoint": "Joint", "HAnimSegment": "Segment", "skeleton": "humanoidBody"}


@dataclass(eq=False)
class Made:
    """A node. inside: pairs of a field and a node, or the DEF of one."""

    kind: str
    name: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    inside: list[tuple[str, Made | str]] = field(default_factory=list)

    def xml(self, where: str = "") -> str:
        """Return it as an element; where: the field that it is in."""
        named = ({"DEF": self.name} if self.name else {}) | ({"containerField": where} if where else {}) | self.fields
        start = f"<{self.kind} " + " ".join(f"{key}={quoteattr(value)}" for key, value in named.items())
        inner = "\n".join(each.xml(into) if isinstance(each, Made) else
                          f"<HAnimJoint USE={quoteattr(each)} containerField={quoteattr(into)}/>"
                          for into, each in self.inside)
        return f"{start}>\n{inner}\n</{self.kind}>"

    def classic(self, is_old: bool = False) -> str:
        """Return it in the classic encoding; is_old: by the names of H-Anim 1."""
        def named(word: str) -> str:
            return _OLD.get(word, word) if is_old else word

        lines = [(f"DEF {self.name} " if self.name else "") + f"{named(self.kind)} {{"]
        for key, value in self.fields.items():
            many = len(value.split()) > 4 or key in _LISTS
            text = f'"{value}"' if key in _TEXTS else f"[ {value} ]" if many else value
            lines.append(f"  {key} {text}")
        for into in dict.fromkeys(into for into, _ in self.inside):
            each = [made.classic(is_old) if isinstance(made, Made) else f"USE {made}"
                    for field_, made in self.inside if field_ == into]
            lines.append(f"  {named(into)} [ # all of them\n" + ",\n".join(each) + "\n]")
        return "\n".join((*lines, "}"))


def joint(name: str, center: Sequence[float] | FloatArray, *below: Made, of: str = "h", **fields: str) -> Made:
    """Return a joint, whose DEF is its name after that of the humanoid."""
    return Made("HAnimJoint", f"{of}_{name}", {"name": name, "center": numbers(center), **fields},
                [("children", each) for each in below])


def humanoid(*roots: Made, name: str = "h", inside: Sequence[tuple[str, Made | str]] = (), **fields: str) -> Made:
    """Return a humanoid."""
    return Made("HAnimHumanoid", name, {"name": name, **fields},
                [*(("skeleton", root) for root in roots), *inside])


def turning(name: str, keys: Sequence[float] | FloatArray, turns: FloatArray | Sequence[Sequence[float]]) -> Made:
    """Return an interpolator of axes and angles."""
    return Made("OrientationInterpolator", name, {"key": numbers(keys), "keyValue": numbers(np.ravel(turns))})


def moving(name: str, keys: Sequence[float], ways: FloatArray | Sequence[Sequence[float]]) -> Made:
    """Return an interpolator of positions."""
    return Made("PositionInterpolator", name, {"key": numbers(keys), "keyValue": numbers(np.ravel(ways))})


def clock(name: str, seconds: float) -> Made:
    """Return a sensor of time."""
    return Made("TimeSensor", name, {"cycleInterval": numbers((seconds,)), "loop": "true"})


def numbers(values: Sequence[float] | FloatArray) -> str:
    """Write numbers."""
    return " ".join(repr(float(value)) for value in values)


Route = tuple[str, str, str, str]


def driven(sensor: str, interpolator: str, target: str, field_: str) -> list[Route]:
    """Return the routes from a sensor over an interpolator to a field."""
    return [(sensor, "fraction_changed", interpolator, "set_fraction"),
            (interpolator, "value_changed", target, f"set_{field_}")]


def in_xml(nodes: Sequence[Made], routes: Sequence[Route] = (), more: str = "", head: str = "") -> bytes:
    """Return a file in XML."""
    inner = "\n".join(node.xml() for node in nodes) + more + "".join(
        f'\n<ROUTE fromNode="{a}" fromField="{b}" toNode="{c}" toField="{d}"/>' for a, b, c, d in routes)
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n{DOCTYPE}<X3D profile="Immersive" version="4.0"><head>{head}'
            f"</head><Scene>\n{inner}\n</Scene></X3D>").encode()


def in_classic(nodes: Sequence[Made], routes: Sequence[Route] = (), more: str = "", head: str = "") -> bytes:
    """Return a file in the classic encoding."""
    return "\n".join(("#X3D V4.0 utf8", "PROFILE Immersive", "COMPONENT HAnim:1", 'META "title" "a # b"', head,
                      *(node.classic() for node in nodes), more,
                      *(f"ROUTE {a}.{b} TO {c}.{d}" for a, b, c, d in routes), "")).encode()


PROTOS = """#VRML V2.0 utf8
PROTO Joint [ exposedField SFVec3f center 0 0 0  exposedField MFNode children [ ] ]
{ Transform { center IS center children IS children } # }
}
EXTERNPROTO Humanoid [ exposedField MFNode humanoidBody ] [ "protos.wrl#Humanoid" ]
"""


def in_vrml(nodes: Sequence[Made], routes: Sequence[Route] = ()) -> bytes:
    """Return a file of VRML 97 with H-Anim 1."""
    return "\n".join((PROTOS, *(node.classic(is_old=True).replace(" true", " TRUE") for node in nodes),
                      *(f"ROUTE {a}.{b} TO {c}.{d}" for a, b, c, d in routes))).encode()


def dancer() -> tuple[list[Made], list[Route]]:
    """Return a humanoid with a skin, a segment, a motion, and interpolators that a clock drives."""
    segment = Made("HAnimSegment", "s", {"name": "l_calf"}, [("coord", Made("Coordinate", "", {"point": "0.1 0 0"}))])
    shin = joint("l_knee", (0.1, 0.5, 0), skinCoordIndex="1 2", skinCoordWeight="0.4 1")
    shin.inside.append(("children", segment))
    body = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), shin), skinCoordIndex="0 1",
                 skinCoordWeight="1 0.6")
    stride = Made("HAnimMotion", "m", {"name": "Stride", "joints": "HumanoidRoot, l_hip", "frameDuration": "0.5",
                                       "channels": "1 Xposition, 2 Zrotation Xrotation", "values": "0 0 0 1 90 30"})
    skin = Made("Coordinate", "skin", {"point": "0 1 0.1 0.1 0.7 0.1 0.1 0.4 0.1"})
    nodes = [humanoid(body, inside=[("motions", stride), ("skinCoord", skin)]), clock("Walk", 2.0),
             turning("Bend", (0, 0.5, 1), [(1, 0, 0, 0.0), (1, 0, 0, 1.5), (1, 0, 0, 0.5)]),
             moving("Rise", (0, 1), [(0, 0, 0), (0.5, 0, 1)])]
    return nodes, [*driven("Walk", "Bend", "h_l_knee", "rotation"),
                   *driven("Walk", "Rise", "h_humanoid_root", "translation")]
