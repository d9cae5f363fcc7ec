"""Colours and lights of surfaces, as in the viewport."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ..bridge.materials.materials import ColourMode
from ..core.maths.arrays import FloatArray
from ..core.shading.tone import TONES
from .random_colours import random_colour

LIGHTS = 4
Colour = tuple[float, float, float, float]
_COLOUR_MODES: dict[str, ColourMode] = {
    "MATERIAL": "MATERIAL", "TEXTURE": "TEXTURE", "VERTEX": "PAINTED", "OBJECT": "OBJECT", "SINGLE": "OBJECT",
    "RANDOM": "OBJECT"}
"""Colour modes by the identifiers of Solid shading."""
_WORLD_FROM_LIGHT = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
"""Blender stores directions of lights that are fixed in the world with Y up."""


_OF_SURROUNDINGS = 2.5
"""Ratio of the light on a grey surface from Blender's default HDRI to that from its studio light."""


def _no_lights() -> FloatArray:
    return np.zeros((LIGHTS, 3, 4))


@dataclass(frozen=True, eq=False)
class ViewportLook:
    """The colour mode, and Blender's studio light.

    lights: (4, 3, 4), for each light: direction towards it and its wrap; diffuse colour; specular colour. ambient: (3,)
    colour. shines: whether there are highlights. mirrors: whether metal also reflects a sky and a ground. in_world:
    whether the lights are fixed in the world instead of following the viewer. tone: the view transform. brightness:
    factor for the lights, but not for reflections in metal. exposure: factor for everything.

    In the colour mode OBJECT, all objects have the colour `single`. If it is None, is_random says whether an object's
    colour depends on its name, or is its own.
    """

    mode: ColourMode = "NODES"
    lights: FloatArray = field(default_factory=_no_lights)
    ambient: tuple[float, float, float] = (1.0, 1.0, 1.0)
    shines: bool = False
    mirrors: bool = False
    in_world: bool = False
    single: Colour | None = None
    is_random: bool = False
    tone: str = TONES[0]
    brightness: float = 1.0
    exposure: float = 1.0

    def colour_of(self, ob: bpy.types.Object) -> Colour:
        """Return the single colour of an object in mode OBJECT."""
        if self.single is not None:
            return self.single
        if self.is_random:
            return random_colour(ob)
        return cast(Colour, tuple(cast(Any, ob.color)))

    def block(self, view_from_world: FloatArray) -> npt.NDArray[np.float32]:
        """Return the part of the shaders' struct TaktView that describes lights. view_from_world: (4, 4)."""
        lights = self.lights.copy()
        if self.in_world:
            lights[:, 0, :3] = lights[:, 0, :3] @ (view_from_world[:3, :3] @ _WORLD_FROM_LIGHT).T
        tone = TONES.index(self.tone), self.brightness, self.exposure, 0.0
        return np.concatenate(((*self.ambient, self.shines + self.mirrors), tone, lights.ravel())).astype(np.float32)


def look_of(shading: bpy.types.View3DShading, view: bpy.types.ColorManagedViewSettings | None = None) -> ViewportLook:
    """Return the look of a viewport. view: the scene's colour management, which Solid shading ignores."""
    if shading.type in ("MATERIAL", "RENDERED"):
        return studio() if view is None else _managed(studio(), shading, view)
    single = cast(Colour, (*cast(Any, shading.single_color), 1.0)) if shading.color_type == "SINGLE" else None
    mode, is_random = _COLOUR_MODES.get(shading.color_type, "MATERIAL"), shading.color_type == "RANDOM"
    if shading.light == "FLAT":
        return ViewportLook(mode, single=single, is_random=is_random)
    chosen: Any = shading.selected_studio_light if shading.light == "STUDIO" else None
    if chosen is None:
        chosen = _preferred()
    lights = _lights(chosen.solid_lights)
    if shading.use_world_space_lighting:
        turn = np.array(Matrix.Rotation(-shading.studiolight_rotate_z, 3, "Y"))
        lights[:, 0, :3] = lights[:, 0, :3] @ turn.T
    return ViewportLook(mode, lights, chosen.light_ambient[:], shines=shading.show_specular_highlight,
                        in_world=shading.use_world_space_lighting, single=single, is_random=is_random)


def _managed(look: ViewportLook, shading: bpy.types.View3DShading,
             view: bpy.types.ColorManagedViewSettings) -> ViewportLook:
    """Return a look with a scene's view transform, as bright as the HDRI or the world that Blender uses.

    Drawings into a viewport come after Blender's own view transform, so the shaders apply it. The scene's exposure
    counts only if its lights or its world do.
    """
    is_rendered = shading.type == "RENDERED"
    has_lights = shading.use_scene_lights_render if is_rendered else shading.use_scene_lights
    has_world = shading.use_scene_world_render if is_rendered else shading.use_scene_world
    tone = str(view.view_transform)
    return replace(look, tone=tone if tone in TONES else TONES[0],
                   brightness=1.0 if has_world else _OF_SURROUNDINGS * shading.studiolight_intensity,
                   exposure=2.0 ** view.exposure if has_lights or has_world else 1.0)


def studio(mode: ColourMode = "NODES") -> ViewportLook:
    """Return a look with the studio light of Blender's preferences, which follows the viewer."""
    chosen = _preferred()
    return ViewportLook(mode, _lights(chosen.solid_lights), chosen.light_ambient[:], shines=True, mirrors=True)


def _preferred() -> Any:
    assert bpy.context.preferences is not None
    return bpy.context.preferences.system


def _lights(lights: Any) -> FloatArray:
    count = len(lights)
    are_used, smooth = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.float32)
    lights.foreach_get("use", are_used)
    lights.foreach_get("smooth", smooth)
    found = np.zeros((max(count, LIGHTS), 3, 4))
    for index, name in enumerate(("direction", "diffuse_color", "specular_color")):
        vectors = np.zeros(3 * count, dtype=np.float32)
        lights.foreach_get(name, vectors)
        found[:count, index, :3] = vectors.reshape(-1, 3)
    found[:count, 0, 3] = smooth
    found[:count][~are_used] = 0.0
    return found[:LIGHTS]
