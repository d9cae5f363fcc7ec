"""What the user has chosen to see. Kept in memory alone, so that nothing of it reaches a file."""

from dataclasses import dataclass, field

from ..core.transitions.methods import METHODS
from .player import Player
from .shader import Picture

COMPARISONS: dict[str, tuple[str, str, dict[str, object], str | None]] = {
    "NONE": ("Nothing", "One figure", {}, None),
    "CUTS": ("Without Transitions", "The same score, with each clip cutting to the next", {"transitions": False}, None),
    **{identifier: (f"Transitions: {method.label}", method.description, {"method": identifier}, None)
       for identifier, method in METHODS.items()},
    "LERP": ("Linear Interpolation", "Rotations blended straight and normalised", {"interpolation": "LERP"}, None),
    "SLERP": ("Spherical Interpolation", "Rotations blended at constant speed", {"interpolation": "SLERP"}, None),
    "LINEAR": ("Linear Skinning", "The bones' matrices blended by weight", {}, "LINEAR"),
    "DUAL_QUATERNION": ("Dual Quaternion Skinning", "Twisted limbs keep their volume", {}, "DUAL_QUATERNION"),
    "RIGID": ("Rigid Skinning", "Every vertex follows its strongest bone alone", {}, "RIGID"),
}
"""Label, description, changed settings of the score, method of skinning."""


@dataclass(eq=False)
class Choices:
    """What is shown and played.

    ghosts: how many before and as many after, ghost_step_s apart. paths: of the chosen bones' ends.
    copies: of each character, the first being itself, each phase_s later than the one before.
    transitions: whether they are played. alone: a clip's full name that is played in place of the score, or "".
    """

    picture: Picture = "SHADED"
    see_through: bool = False
    skeleton: bool = False
    ghosts: int = 0
    ghost_step_s: float = 0.15
    paths: bool = False
    strip: bool = True
    compare: str = "NONE"
    copies: int = 1
    phase_s: float = 0.25
    transitions: bool = True
    alone: str = ""
    player: Player = field(default_factory=Player)
