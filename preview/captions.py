"""Captions below the two figures of a comparison that say how they differ."""

from collections.abc import Sequence
from typing import Any, cast

import blf
import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ..bridge import properties
from ..bridge.language import say
from ..bridge.scores.score import is_waiting
from ..core.clips.keys import INTERPOLATIONS, Interpolation
from ..core.maths.arrays import FloatArray
from ..core.playing.transitions.curves import curve_named
from ..core.playing.transitions.methods import method_named
from .character import method_of
from .choices import SKINNINGS, WITH_TRANSITIONS, Choices, Comparison
from .draw import CameraView
from .flat import draw_boxes
from .roles import DrawnRole, Posed

_TEXT_PX, _PAD_PX, _BELOW_PX = 12.0, 5.0, 20.0
"""Text size, padding and distance below the figure, in pixels at a UI scale of 1."""
_PICTURE_PX = 480.0
"""The height of a picture in which captions have those sizes; they grow with it."""
_BOX_COLOUR = (0.05, 0.05, 0.05, 0.7)
_FONT = 0
_FAILED = " (cannot be played)"


def draw_comparison(roles: Sequence[DrawnRole], poses: Sequence[Posed], view: CameraView, choices: Choices,
                    double: int) -> None:
    """Write captions below each character and its double, which is the role with this number."""
    motions = {role.character.uid: role.motion for role in roles if role.number == 0}
    shown = []
    for role, posed in zip(roles, poses, strict=True):
        if role.number == 0:
            shown.append((role, posed, own_words(role, choices.comparison)))
        elif role.number == double:
            failed = (choices.comparison.instead and role.motion is motions.get(role.character.uid)
                      and not is_waiting(role.armature))
            shown.append((role, posed, choices.comparison.label + (_FAILED if failed else "")))
    draw_captions(shown, view)


def own_words(role: DrawnRole, comparison: Comparison) -> str:
    """Return the caption of the character itself: its own setting where the other differs."""
    if comparison.method is not None:
        return SKINNINGS[method_of(role.meshes[0])][0] if role.meshes else ""
    settings = properties.character(role.armature)
    names = {"method": lambda: method_named(settings.method).label,
             "curve": lambda: f"{curve_named(settings.curve).label} Curve",
             "interpolation": lambda: f"{INTERPOLATIONS[cast(Interpolation, settings.interpolation)][0]} Interpolation",
             "transitions": lambda: WITH_TRANSITIONS}
    return names[next(iter(comparison.instead))]()


def draw_captions(roles: Sequence[tuple[DrawnRole, Posed, str]], view: CameraView) -> None:
    """Write captions on the ground below figures."""
    assert bpy.context.preferences is not None
    scale = view.height / _PICTURE_PX if view.encode else bpy.context.preferences.system.ui_scale
    pushed: Any = gpu.matrix.push_pop()  # the stubs lack its __enter__
    pushed_projection: Any = gpu.matrix.push_pop_projection()
    with pushed, pushed_projection:
        gpu.matrix.load_matrix(Matrix.Identity(4))
        gpu.matrix.load_projection_matrix(Matrix(_clip_from_pixels(view.width, view.height).tolist()))
        blf.size(_FONT, _TEXT_PX * scale)
        for role, posed, said in roles:
            words, position = say(said), on_screen(_foot(role, posed), view)
            if position is not None and words:
                _draw(words, position, scale)


def on_screen(point: FloatArray, view: CameraView) -> FloatArray | None:
    """Return a point of the world in pixels from the lower left of the picture, or None behind the camera."""
    clip = view.clip_from_view @ view.view_from_world @ np.append(point, 1.0)
    if clip[3] <= 0.0:
        return None
    return np.asarray((clip[:2] / clip[3] + 1.0) / 2.0 * (view.width, view.height))


def _foot(role: DrawnRole, posed: Posed) -> FloatArray:
    """Return the point on the ground below the root bone."""
    skeleton = role.character.skeleton
    assert skeleton is not None
    root = skeleton.rest_world[0, :, 3]
    moved = posed.palette.matrices[0, :, :3] @ root + posed.palette.matrices[0, :, 3]
    world = np.array(role.armature.matrix_world, dtype=np.float64)
    below = world[:3, :3] @ moved + world[:3, 3]
    below[2] = world[2, 3]
    return np.asarray(below + role.offset)


def _draw(words: str, position: FloatArray, scale: float) -> None:
    width, height = blf.dimensions(_FONT, words)
    left, bottom, pad = position[0] - width / 2.0, position[1] - _BELOW_PX * scale - height, _PAD_PX * scale
    draw_boxes(np.array(((left - pad, bottom - pad, left + width + pad, bottom + height + pad),)),
               np.array((_BOX_COLOUR,)))
    blf.color(_FONT, 1.0, 1.0, 1.0, 1.0)
    blf.position(_FONT, left, bottom, 0.0)
    blf.draw(_FONT, words)


def _clip_from_pixels(width: int, height: int) -> FloatArray:
    """Return the matrix (4, 4) from pixels to clip space."""
    return np.array(((2.0 / width, 0.0, 0.0, -1.0), (0.0, 2.0 / height, 0.0, -1.0), (0.0, 0.0, -1.0, 0.0),
                     (0.0, 0.0, 0.0, 1.0)))
