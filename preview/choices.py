"""What the user has chosen to see. Kept in memory alone, so that nothing of it reaches a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import bpy

from ..core.clips.keys import INTERPOLATIONS
from ..core.playing.transitions.curves import CURVES
from ..core.playing.transitions.methods import TRANSITION_METHODS
from .player import Player

SKINNINGS = {
    "LINEAR": ("Linear Skinning", "The bones' matrices blended by weight"),
    "DUAL_QUATERNION": ("Dual Quaternion Skinning", "Twisted limbs keep their volume"),
    "RIGID": ("Rigid Skinning", "Every vertex follows its strongest bone alone"),
}
WITH_TRANSITIONS = "With Transitions"


class Comparison(NamedTuple):
    """What plays beside a character: other settings than its score's, or another method of skinning."""

    label: str
    description: str
    instead: Mapping[str, object]
    method: str | None = None


COMPARISONS: dict[str, dict[str, Comparison]] = {
    "": {"NONE": Comparison("Nothing", "One figure", {})},
    "Transition": {
        "CUTS": Comparison("Without Transitions", "The same score, with each clip cutting to the next",
                           {"transitions": False}),
        **{f"METHOD_{name}": Comparison(entry.label, entry.description, {"method": name})
           for name, entry in TRANSITION_METHODS.items()}},
    "Curve": {f"CURVE_{name}": Comparison(f"{entry.label} Curve", entry.description, {"curve": name})
              for name, entry in CURVES.items()},
    "Interpolation": {f"INTERPOLATION_{name}": Comparison(f"{label} Interpolation", text, {"interpolation": name})
                      for name, (label, text) in INTERPOLATIONS.items()},
    "Skinning": {f"SKINNING_{name}": Comparison(*texts, {}, name) for name, texts in SKINNINGS.items()},
}
"""By heading and identifier."""
_ALL = {name: comparison for group in COMPARISONS.values() for name, comparison in group.items()}


@dataclass(eq=False)
class Choices:
    """What is shown and played.

    ghosts: how many before and as many after, ghost_step_s apart. paths: of the chosen bones' ends.
    copies: of each character, the first being itself, each phase_s later than the one before.
    transitions: whether they are played. alone: a clip's full name that is played in place of the score, or "";
    alone_segment: where in the score it was chosen.
    """

    picture: str = "SHADED"
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
    alone_segment: int = 0
    player: Player = field(default_factory=Player)

    @property
    def instead(self) -> Mapping[str, object]:
        """Settings that count instead of those of each score."""
        return {} if self.transitions else {"transitions": False}

    @property
    def comparison(self) -> Comparison:
        """What plays beside each character."""
        return _ALL[self.compare]


def as_viewport(choices: Choices, shading: bpy.types.View3DShading) -> Choices:
    """Return what a viewport shows: where it shows wires, wires instead of surfaces; with X-ray those behind too."""
    if shading.type != "WIREFRAME" or choices.picture != "SHADED":
        return choices
    return replace(choices, picture="WIREFRAME", see_through=choices.see_through or shading.show_xray_wireframe)
