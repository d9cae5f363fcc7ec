"""The user's choices of what to see. They are kept in memory only, never in files."""

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
    "RIGID": ("Rigid Skinning", "Every vertex follows only its strongest bone"),
}
WITH_TRANSITIONS = "With Transitions"


class Comparison(NamedTuple):
    """The figure beside a character: with other settings than its score's, or another skinning method."""

    label: str
    description: str
    instead: Mapping[str, object]
    method: str | None = None


COMPARISONS: dict[str, dict[str, Comparison]] = {
    "": {"NONE": Comparison("Nothing", "No comparison", {})},
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
"""Comparisons by heading and identifier."""
_ALL = {name: comparison for group in COMPARISONS.values() for name, comparison in group.items()}


@dataclass(eq=False)
class Choices:
    """The settings of the picture and the player.

    ghosts: number before and number after, ghost_step_s apart. paths: of the chosen bones' ends. ways: root motion
    over the ground, with footprints and targets, also while the preview is off.
    copies: of each character, including itself, each phase_s later than the one before.
    transitions: whether they are played. alone: full name of a clip that is played instead of the score, or "";
    alone_segment: where in the score it was chosen.
    """

    picture: str = "SHADED"
    see_through: bool = False
    skeleton: bool = False
    ghosts: int = 0
    ghost_step_s: float = 0.15
    paths: bool = False
    strip: bool = True
    ways: bool = True
    compare: str = "NONE"
    copies: int = 1
    phase_s: float = 0.25
    transitions: bool = True
    alone: str = ""
    alone_segment: int = 0
    player: Player = field(default_factory=Player)

    @property
    def instead(self) -> Mapping[str, object]:
        """Settings that replace those of each score."""
        return {} if self.transitions else {"transitions": False}

    @property
    def comparison(self) -> Comparison:
        """The comparison that is shown."""
        return _ALL[self.compare]


def as_viewport(choices: Choices, shading: bpy.types.View3DShading) -> Choices:
    """Return the choices for a viewport: its wireframe mode shows wires instead of surfaces, X-ray the far ones too."""
    if shading.type != "WIREFRAME" or choices.picture != "SHADED":
        return choices
    return replace(choices, picture="WIREFRAME", see_through=choices.see_through or shading.show_xray_wireframe)
