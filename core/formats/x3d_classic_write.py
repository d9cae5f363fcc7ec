"""Write X3D in the classic encoding (`.x3dv`) by converting the XML that x3d_write writes.

Source: ISO/IEC 19776-2:2015, X3D encodings, part 2; ISO/IEC 19776-1, part 1, for the fields that elements are in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .x3d_scene import text_value, texts
from .xml import Documents, Element, parse

_TEXTS: Final = frozenset(("name", "version", "description", "joints", "channels"))
_LISTS: Final = frozenset(("point", "vector", "index", "key", "keyValue", "values", "skinCoordIndex",
                           "skinCoordWeight", "url"))
_FIELDS: Final = {"Appearance": "appearance", "Material": "material", "ImageTexture": "texture",
                  "IndexedTriangleSet": "geometry", "Coordinate": "coord", "Normal": "normal",
                  "TextureCoordinate": "texCoord"}
"""The field of an element that does not state its field."""
_MARKUP: Final = frozenset(("DEF", "USE", "containerField"))


def in_classic(data: bytes) -> bytes:
    """Convert a file that x3d_write wrote to the classic encoding."""
    root = parse(data, documents=Documents(may_name_standard=True))
    lines = [f"#X3D V{root.attributes['version']} utf8", f"PROFILE {root.attributes['profile']}"]
    for part in root.children:
        for each in part.children:
            if each.tag == "component":
                lines.append(f"COMPONENT {each.attributes['name']}:{each.attributes['level']}")
            elif each.tag == "meta":
                lines.append(f"META {text_value(each.attributes['name'])} {text_value(each.attributes['content'])}")
            elif each.tag == "ROUTE":
                source, sent, target, taken = (each.attributes[key] for key in ("fromNode", "fromField", "toNode",
                                                                                "toField"))
                lines.append(f"ROUTE {source}.{sent} TO {target}.{taken}")
            else:
                lines.extend(_node(each))
    return ("\n".join(lines) + "\n").encode("utf-8")


def _node(element: Element) -> Iterator[str]:
    """Yield the lines of a node with all its contents."""
    attributes = element.attributes
    if "USE" in attributes:
        yield f"USE {attributes['USE']}"
        return
    yield (f"DEF {attributes['DEF']} " if "DEF" in attributes else "") + f"{element.tag} {{"
    for key, value in attributes.items():
        if key not in _MARKUP:
            yield f"{key} {_value(key, value)}"
    fields: dict[str, list[Element]] = {}
    for each in element.children:
        field = each.attributes.get("containerField") or _FIELDS.get(each.tag, "children")
        fields.setdefault(field, []).append(each)
    for field, inside in fields.items():
        is_list = field in ("children", "skeleton", "joints", "motions", "skin")
        yield f"{field} [" if is_list else field
        for each in inside:
            yield from _node(each)
        if is_list:
            yield "]"
    yield "}"


def _value(key: str, text: str) -> str:
    """Return the value of a field as text of the classic encoding."""
    if key in ("url", "value"):
        return "[ " + " ".join(map(text_value, texts(text))) + " ]"
    if key in _TEXTS:
        return text_value(text)
    if text in ("true", "false"):
        return text.upper()
    return f"[ {text} ]" if key in _LISTS else text
