"""Colours and textures out of OGRE's material scripts (`.material`). Source: OGRE's manual, Material Scripts.

Only the first diffuse colour and the first texture of a material are read. Everything else is ignored, and so are
errors: a script that cannot be parsed gives no materials.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

MAX_CHARACTERS = 4_000_000
_MOST_ANCESTORS = 50
_COLOUR = 3
_TOKEN = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?P<quoted>[^"\n]*)"?|(?P<mark>[{}]|\n\s*)|(?P<word>[^\s{}"]+)|\s+',
                    re.DOTALL)


@dataclass(frozen=True)
class OgreMaterial:
    """The look of a material. diffuse: red, green, blue as OGRE shows them; texture: an image's file name."""

    name: str
    diffuse: tuple[float, float, float] | None = None
    texture: str | None = None
    parent: str = ""


def read(text: str) -> dict[str, OgreMaterial]:
    """Read all materials of a script, by name, without what they inherit; see inherited.

    >>> read('material Skin { technique { pass { diffuse 1 0.5 0 } } }')["Skin"].diffuse
    (1.0, 0.5, 0.0)
    """
    found: dict[str, OgreMaterial] = {}
    blocks: list[str] = []
    material: OgreMaterial | None = None
    for words, opens in _statements(text[:MAX_CHARACTERS]):
        if opens is None:
            if blocks:
                blocks.pop()
            if not blocks and material is not None:
                found[material.name], material = material, None
        elif opens:
            if not blocks and "material" in words[:2]:
                material = _named(words[words.index("material") + 1:])
            blocks.append(words[0] if words else "")
        elif material is not None:
            material = _with(material, words, blocks[-1] if blocks else "")
    return found


def inherited(materials: Mapping[str, OgreMaterial], name: str) -> OgreMaterial | None:
    """Return a material with what it inherits from its ancestors, or None if no script has it."""
    material = ancestor = materials.get(name)
    for _ in range(_MOST_ANCESTORS):
        if material is None or ancestor is None:
            break
        material = replace(material, diffuse=material.diffuse or ancestor.diffuse,
                           texture=material.texture or ancestor.texture)
        ancestor = materials.get(ancestor.parent)
    return material


def _statements(text: str) -> Iterator[tuple[list[str], bool | None]]:
    """Yield lines of words (False), heads of blocks (True; the brace may be on the next line), ends (None)."""
    words: list[str] = []
    line_before: list[str] = []
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if mark is None:
            word = token["word"] if token["quoted"] is None else token["quoted"]
            if word is not None:
                words.append(word)
        elif mark == "{":
            yield words or line_before, True
            words, line_before = [], []
        else:
            if words:
                yield words, False
            words, line_before = [], words or line_before
            if mark == "}":
                yield [], None


def _named(words: list[str]) -> OgreMaterial:
    end = words.index(":") if ":" in words else len(words)
    return OgreMaterial(" ".join(words[:end]), parent=" ".join(words[end + 1:]))


def _with(material: OgreMaterial, words: list[str], block: str) -> OgreMaterial:
    """Return the material with the property of a line, unless an earlier line has set it."""
    if words[0] == "diffuse" and block == "pass" and material.diffuse is None:
        return replace(material, diffuse=_colour(words[1:]))
    if words[0] == "texture" and block == "texture_unit" and material.texture is None and len(words) > 1:
        return replace(material, texture=words[1])
    return material


def _colour(words: Iterable[str]) -> tuple[float, float, float] | None:
    try:
        red, green, blue = (min(max(float(word), 0.0), 1.0) for word in list(words)[:_COLOUR])
    except ValueError:
        return None
    return red, green, blue
