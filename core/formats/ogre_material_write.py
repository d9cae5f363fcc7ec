"""Write OGRE material scripts with a colour or a texture per material. Source: OGRE's manual, Material Scripts."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import TaktError, quoted
from .ogre_material import OgreMaterial


def write(materials: Iterable[OgreMaterial]) -> str:
    """Write a script of materials.

    Raises TaktError if a name contains a line break, a quotation mark or a brace.

    >>> from .ogre_material import read
    >>> read(write([OgreMaterial("Skin tone", (1.0, 0.5, 0.25), "skin.png")]))["Skin tone"].texture
    'skin.png'
    """
    return "\n".join(_material(material) for material in materials)


def _material(material: OgreMaterial) -> str:
    red, green, blue = material.diffuse or (1.0, 1.0, 1.0)
    colour = f"{red:.6g} {green:.6g} {blue:.6g}"
    texture = "" if material.texture is None else f"""
            texture_unit
            {{
                texture {_word(material.texture)}
            }}"""
    return f"""material {_word(material.name)}
{{
    technique
    {{
        pass
        {{
            ambient {colour}
            diffuse {colour} 1
            specular 0.1 0.1 0.1 1 12{texture}
        }}
    }}
}}
"""


def _word(text: str) -> str:
    if not text or any(each in text for each in '"{}\n\r'):
        raise TaktError(f"the name {quoted(text)} cannot stand in an OGRE material: it is empty, or holds a line "
                        "break, a quotation mark or a brace; rename it")
    return f'"{text}"' if any(each.isspace() or each in "*:" for each in text) else text
