"""What is written as X3D, built again of the Web3D Consortium's own nodes, which refuse what is not in the standard.

Each checks its fields' names and types, the kinds of nodes that they take, the names of joints, and those of DEFs.
"""

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from takt.core.formats.character import Look
from takt.core.formats.x3d_write import X3dFile, X3dSkin, write
from takt.tests.beside import x3d_package
from takt.tests.core.test_x3d_write import BODY, dance, named, skin, textured

_OF_NUMBERS = {"SFVec3f": 3, "SFColor": 3, "SFRotation": 4, "MFVec3f": 3, "MFRotation": 4,
               "MFVec2f": 2}
_USUAL = {"Coordinate": "coord", "Normal": "normal", "Material": "material", "Appearance": "appearance",
          "IndexedTriangleSet": "geometry", "TextureCoordinate": "texCoord", "ImageTexture": "texture",
          "MetadataString": "metadata"}


def value(kind: str, text: str) -> Any:
    """Return what an attribute holds, as the package takes it."""
    if kind in ("SFString", "MFString"):
        return text if kind[0] == "S" else re.findall(r'"([^"]*)"', text)
    words = text.replace(",", " ").split()
    if kind == "SFBool":
        return {"true": True, "false": False}[text]
    numbers: list[Any] = list(map(int if kind.endswith("Int32") else float, words))
    width = _OF_NUMBERS.get(kind, 1)
    if kind[0] == "S":
        assert len(numbers) == width, (kind, text)
        return tuple(numbers) if width > 1 else numbers[0]
    return [tuple(numbers[i:i + width]) for i in range(0, len(numbers), width)] if width > 1 else numbers


def built(x3d: Any, element: ET.Element) -> Any:
    """Build a node of an element, with all that is in it."""
    cls = getattr(x3d, element.tag)
    kinds = {name: kind.__name__ for name, _, kind, *_ in cls.FIELD_DECLARATIONS()}
    fields: dict[str, Any] = {}
    for key, text in element.attrib.items():
        if key != "containerField":
            fields[key] = value(kinds[key], text)
    for child in element:
        field = child.get("containerField") or _USUAL.get(child.tag, "children")
        made = built(x3d, child)
        if kinds[field] == "SFNode":
            assert field not in fields
            fields[field] = made
        else:
            fields.setdefault(field, []).append(made)
    return cls(**fields)


@pytest.mark.parametrize("made", [skin(), textured(), named(), replace(skin(), looks=(Look("Skin 1.5"), Look("b")))])
@pytest.mark.parametrize("as_frames", [False, True])
def test_what_is_written_is_valid(made: X3dSkin, as_frames: bool, capsys: pytest.CaptureFixture[str]) -> None:
    x3d = x3d_package()
    clips = (dance(0, frames=3), dance(1, name="Rig|walk 2", frames=1))
    place = np.eye(4)[[2, 1, 0, 3]] * (1.0, 1.0, -1.0, 1.0) + 2.0 * np.eye(4, k=3)
    root = ET.fromstring(write(X3dFile(BODY, clips, skin=made, as_frames=as_frames, place=place), 30.0))
    head, scene = root.find("head"), root.find("Scene")
    assert head is not None and scene is not None
    assert len([built(x3d, each) for each in (*head, *scene)]) == len(head) + len(scene)
    assert "[error]" not in capsys.readouterr().out


def test_the_package_refuses_what_is_wrong() -> None:
    x3d = x3d_package()
    for text in ('<HAnimJoint name="l_hip" center="0 0"/>', '<TimeSensor cycleInterval="x"/>', '<HAnimJoint hip="1"/>',
                 '<HAnimHumanoid><Coordinate containerField="skinNormal" point="0 0 0"/></HAnimHumanoid>'):
        with pytest.raises(Exception):  # noqa: B017  # each of its own kind
            built(x3d, ET.fromstring(text))
