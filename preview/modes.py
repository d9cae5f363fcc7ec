"""The modes of the preview. A new one is one entry here, and one file in shaders/ with its colours.

The list in the interface, the shaders' numbers and the reference pictures of tests follow.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Mode:
    """A kind of picture that the preview shows.

    identifier: in upper case. shader: a file under shaders/ with the function of its colours, such as `vec3
    zones_colour(vec3 n)` for ZONES, which may read the outputs of shaders/character.vert.glsl; "": drawn by other
    means. is_of_bone: whether it shows the active bone, whose weights are in `heat`.
    """

    identifier: str
    label: str
    description: str
    shader: str = ""
    is_of_bone: bool = False


MODES: Final[dict[str, Mode]] = {mode.identifier: mode for mode in (
    Mode("SHADED", "Surface", "The surface as the viewport colours it"),
    Mode("ZONES", "Zones", "A colour for each bone, blended by weight: how softly the zones of influence meet",
         "zones.mode.glsl"),
    Mode("WEIGHTS", "Weights", "How strongly the skin follows the active bone", "weights.mode.glsl", is_of_bone=True),
    Mode("WIREFRAME", "Wireframe", "The mesh's edges"),
)}
"""Modes by identifier, in the order of the list."""
DIAGRAMS: Final = tuple(mode for mode in MODES.values() if mode.shader)
"""The modes with colours of their own."""


def colour_by_pass() -> str:
    """Return the GLSL expression for the colour of a diagram, by the pass that is drawn, with the normal n."""
    found = "base.rgb"
    for mode in reversed(DIAGRAMS):
        found = f"((drawing.y == PASS_{mode.identifier}) ? {mode.identifier.lower()}_colour(n) : {found})"
    return found
