"""The XML encoding of X3D (`.x3d`). Source: ISO/IEC 19776-1:2015, X3D encodings, part 1."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..errors import quoted
from .x3d_scene import MAX_NODES, Child, LeftOut, Node, Scene, Use, Value, route, texts
from .xml import MAX_KEPT_BYTES, Documents, Element, parse
from .xml_long_values import Shortened, shortened

_MARKUP: Final = frozenset(("DEF", "USE", "containerField", "class", "id", "style"))
_LEFT_OUT: Final = {"ProtoDeclare": "name", "ExternProtoDeclare": "name", "Script": "DEF", "Inline": "url"}
"""Elements that are passed over with all that is in them, and the attribute that names each."""
_ROUTE: Final = ("fromNode", "fromField", "toNode", "toField")
_PASSED: Final = frozenset(("EXPORT", "IMPORT", "IS", "MetadataSet"))
_STANDARD: Final = frozenset(("Humanoid", "Joint", "Segment", "Site"))
"""Prototypes that H-Anim 1 itself declares, and whose instances are read as the nodes that they became."""


def read(data: bytes, path: Path | None) -> Scene:
    """Read an X3D file in XML; raise FileError, with the place, if it is not one.

    A document type declaration may name the standard's file, which is never fetched. One that declares entities is
    refused.
    """
    short = shortened(data) if len(data) <= MAX_KEPT_BYTES else Shortened(data, {})
    root = parse(short.data, path, Documents(MAX_NODES, may_name_standard=True, is_programs=True))
    scene = Scene(path)
    if root.tag != "X3D":
        raise scene.error(f"this is no X3D file: its root is <{quoted(root.tag)[1:-1]}>, where <X3D> is wanted",
                          root.line)
    for part in root.children:
        if part.tag == "head":
            _read_units(part, scene)
        elif part.tag == "Scene":
            stack: list[tuple[Element, list[Child]]] = [(each, scene.roots) for each in reversed(part.children)]
            while stack:
                _read_element(*stack.pop(), scene, stack, short)
    return scene


def _read_units(head: Element, scene: Scene) -> None:
    for unit in head.children:
        if unit.tag == "unit":
            node = Node("unit", "", unit.line, {key: Value(text, unit.line) for key, text in unit.attributes.items()})
            scene.units[scene.text(node, "category")] = float(scene.vector(node, "conversionFactor", (1.0,))[0])


def _read_element(element: Element, siblings: list[Child], scene: Scene,
                  stack: list[tuple[Element, list[Child]]], short: Shortened) -> None:
    """Add an element to the scene and to the children of its node; push the elements in it onto the stack."""
    tag, attributes, line = element.tag, element.attributes, element.line
    if tag == "ROUTE":
        source, sent, target, taken = (attributes.get(key, "") for key in _ROUTE)
        scene.add_route(route(source, sent, target, taken, line))
    elif tag in _LEFT_OUT:
        scene.left_out.append(LeftOut(tag, (texts(attributes.get(_LEFT_OUT[tag], "")) or [""])[0], line))
    elif tag in _PASSED:
        pass
    elif "USE" in attributes:
        siblings.append(Child(attributes.get("containerField", ""), Use(attributes["USE"], line)))
    elif tag == "ProtoInstance":
        _read_instance(element, siblings, scene, stack, short)
    else:
        fields = {key: Value(short.whole(text), line) for key, text in attributes.items() if key not in _MARKUP}
        node = Node(tag, attributes.get("DEF", ""), line, fields)
        _add(node, attributes.get("containerField", ""), siblings, scene)
        stack.extend((each, node.children) for each in reversed(element.children))


def _read_instance(element: Element, siblings: list[Child], scene: Scene,
                   stack: list[tuple[Element, list[Child]]], short: Shortened) -> None:
    """Read the instance of a prototype as a node, if H-Anim 1 declares it; else it is left out."""
    attributes, kind = element.attributes, element.attributes.get("name", "")
    if kind not in _STANDARD:
        scene.left_out.append(LeftOut("ProtoInstance", kind, element.line))
        return
    node = Node(kind, attributes.get("DEF", ""), element.line)
    for given in element.children:
        name = given.attributes.get("name", "")
        if given.tag == "fieldValue" and "value" in given.attributes:
            node.fields[name] = Value(short.whole(given.attributes["value"]), given.line)
        elif given.tag == "fieldValue":
            inside = [Element(each.tag, {"containerField": name} | each.attributes, *each[2:])
                      for each in given.children]
            stack.extend((each, node.children) for each in reversed(inside))
    _add(node, attributes.get("containerField", ""), siblings, scene)


def _add(node: Node, field: str, siblings: list[Child], scene: Scene) -> None:
    siblings.append(Child(field, node))
    if node.name:
        scene.define(node)
