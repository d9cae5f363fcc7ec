"""Properties for the preview's choices. The preview keeps their values, so none are saved in files."""

from collections.abc import Callable
from typing import Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..bridge import language
from . import life, way
from .choices import COMPARISONS
from .modes import MODES
from .player import CLOCKS, SPEEDS, Clock
from .player_clocks import use_clock

_PICTURES = [(mode.identifier, mode.label, mode.description) for mode in MODES.values()]
_NAMES = tuple(name for group in COMPARISONS.values() for name in group)
_COMPARISONS: list[Any] = [item for heading, group in COMPARISONS.items() for item in (
    *([("", heading, "")] if heading else []),
    *((name, comparison.label, comparison.description, "NONE", _NAMES.index(name))
      for name, comparison in group.items()))]
_CLOCKS = [("TIMELINE", "Timeline", "Play with Blender's timeline"),
           ("OWN", "Own Clock", "Play by a clock of its own, at any speed, independent of the scene")]
_MOST_GHOSTS, _MOST_COPIES = 12, 200

PROPERTIES: dict[str, Callable[..., Any]] = {
    "picture": lambda **kept: EnumProperty(name="Picture", description="What the preview shows", items=_PICTURES,
                                           **_numbered(tuple(MODES), kept)),
    "compare": lambda **kept: EnumProperty(
        name="Compare With", description="Second figure beside the character, which plays with another setting",
        items=_COMPARISONS, **_numbered(_NAMES, kept)),
    "see_through": lambda **kept: BoolProperty(
        name="See-through", description="Make the surface transparent", **kept),
    "skeleton": lambda **kept: BoolProperty(name="Skeleton", description="Draw the bones over the surface", **kept),
    "paths": lambda **kept: BoolProperty(
        name="Paths", description="Draw the paths of the selected bones' ends, or of hands, feet and head", **kept),
    "strip": lambda **kept: BoolProperty(
        name="Strip", description="Show the score along the bottom of the viewport; click it to go there", **kept),
    "ways": lambda **kept: BoolProperty(
        name="Trajectory", description="Draw where the character goes, its footprints and targets. Needs a score with "
                                       "roles, and a score editor or this tab open", **kept),
    "ghosts": lambda **kept: IntProperty(
        name="Ghosts", description="Number of ghosts before and after the current time", min=0, max=_MOST_GHOSTS,
        **kept),
    "ghost_step_s": lambda **kept: FloatProperty(
        name="Apart", description="Time between one ghost and the next", min=0.01, max=10.0, soft_max=1.0,
        subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE", **kept),
    "copies": lambda **kept: IntProperty(
        name="Copies", description="Number of copies of each character", min=1, max=_MOST_COPIES, soft_max=50, **kept),
    "phase_s": lambda **kept: FloatProperty(
        name="Phase", description="Time by which each copy is ahead of the one before", min=-60.0, max=60.0,
        soft_min=-2.0, soft_max=2.0, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE", **kept),
    "transitions": lambda **kept: BoolProperty(
        name="Transitions", description="Play the transitions, or cut from clip to clip", **kept),
}
PLAYER_PROPERTIES: dict[str, Callable[..., Any]] = {
    "clock": lambda **kept: EnumProperty(
        name="Clock", description="Clock that drives the player", items=_CLOCKS, **_numbered(CLOCKS, kept)),
    "speed": lambda **kept: FloatProperty(
        name="Speed", description="How fast the player's own clock runs", min=SPEEDS[0], max=SPEEDS[-1], **kept),
}


def register() -> None:
    """Register the properties."""
    for name, make in PROPERTIES.items():
        setattr(bpy.types.WindowManager, f"takt_{name}", make(**_access(life.choices, name)))
    for name, make in PLAYER_PROPERTIES.items():
        setattr(bpy.types.WindowManager, f"takt_{name}", make(**_access(lambda: life.choices().player, name)))
    way.switch(on=life.choices().ways)


def unregister() -> None:
    """Switch the preview off and remove the properties."""
    life.stop()
    way.switch(on=False)
    for name in (*PROPERTIES, *PLAYER_PROPERTIES):
        delattr(bpy.types.WindowManager, f"takt_{name}")


def _access(holder: Callable[[], object], name: str) -> dict[str, Any]:
    def write(_: object, value: object) -> None:
        if name == "clock":
            use_clock(bpy.context, cast(Clock, value))
        else:
            if name in PLAYER_PROPERTIES:
                life.keep_time()
            setattr(holder(), name, value)
            if name == "ways":
                way.switch(on=bool(value))
        life.changed()

    return {"get": lambda _: getattr(holder(), name), "set": write, "translation_context": language.CONTEXT}


def _numbered(identifiers: tuple[str, ...], kept: dict[str, Any]) -> Any:
    """Return get and set functions for an enum property, which Blender calls with the item's number."""
    return {**kept, "get": lambda manager: identifiers.index(kept["get"](manager)),
            "set": lambda manager, number: kept["set"](manager, identifiers[number])}
