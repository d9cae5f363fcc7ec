"""The parameters of the procedure that plays, and the seed: fields of the character, which may be keyed by hand.

Each frame shows the score as it plays with the values of that frame. Blender sets the fields at each frame, which
is all that the preview needs; the Action is made from the curves. Blender's curves name fields by their index in the
list. So the list only grows: fields that the score no longer has stay in it, hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.maths.arrays import FloatArray
from ...core.pha.expressions import Value
from ...core.playing.motion import Motion
from ...core.playing.varied import Varied
from .. import properties
from ..actions.curves import bags

Values = tuple[tuple[str, Value], ...]
"""Values of parameters, by name; those at their defaults are left out."""
Seen = tuple[Values, int]
"""Values and the seed."""
Again = Callable[[Values, int], Motion]
"""Performs the same score with other values and another seed, in any thread."""

_PATH: Final = re.compile(rf"{properties.NAME}\.(?:seed|parameters\[(\d+)\]\.(?:number|truth))")
_TRUE: Final = 1.0
"""The value of a curve from which on it means yes, as in Blender."""


@dataclass(frozen=True, eq=False)
class Keyed:
    """Values and seeds that change over time.

    frames: (N,) ascending; settings: N, each holds from its frame on.
    """

    frames: FloatArray
    settings: tuple[Seen, ...]


def chosen(character: properties.TaktCharacter) -> Values:
    """Return the values that are not at their defaults."""
    return tuple((each.name, _value(each, _number(each))) for each in character.parameters
                 if each.is_here and _number(each) != each.default)


def seen(armature_object: bpy.types.Object) -> Seen | None:
    """Return the values and the seed of the current frame, None if the score has neither."""
    character = properties.character(armature_object)
    has_any = len(character.parameters) or character.has_picks
    return (chosen(character), character.seed) if has_any else None


def keep(character: properties.TaktCharacter, parameters: Mapping[str, float | bool], *, has_picks: bool) -> None:
    """List the parameters of the procedure that plays. Values at their old default get the new default."""
    if character.has_picks != has_picks:
        character.has_picks = has_picks
    for name, default in parameters.items():
        known, is_truth = character.parameters.get(name), isinstance(default, bool)
        number = float(np.float32(default))
        if known is not None and (known.is_here, known.is_truth, known.default) == (True, is_truth, number):
            continue
        field = character.parameters.add() if known is None else known
        if known is None or known.is_truth != is_truth or _number(known) == known.default:
            field.number, field.truth = (0.0, bool(default)) if is_truth else (number, False)
        field.name, field.is_truth, field.default, field.is_here = name, is_truth, number, True
    for field in character.parameters:
        if field.is_here and field.name not in parameters:
            field.is_here = False


def key_over_time(armature_object: bpy.types.Object) -> Hashable:
    """Return a key that stays the same as long as the values are the same at every frame."""
    character, curves = properties.character(armature_object), _curves(armature_object)
    still = tuple((number, each.name, _number(each), each.default) for number, each in enumerate(character.parameters)
                  if each.is_here and _path(number, each) not in curves)
    keys = []
    for path, curve in sorted(curves.items()):
        points: Any = curve.keyframe_points
        shape = np.empty((3, len(points) * 2), dtype=np.float32)
        for row, name in zip(shape, ("co", "handle_left", "handle_right"), strict=True):
            points.foreach_get(name, row)
        keys.append((path, shape.tobytes(), tuple(point.interpolation for point in points), curve.extrapolation))
    return still, None if f"{properties.NAME}.seed" in curves else character.seed, tuple(keys)


def keyed(armature_object: bpy.types.Object) -> Keyed | None:
    """Return the values from the first frame of the score on, None if none is keyed.

    After the last key, values stay constant.
    """
    character, curves = properties.character(armature_object), _curves(armature_object)
    if not curves:
        return None
    first = character.frame_start
    last = max([first, *(int(np.ceil(curve.range()[1])) for curve in curves.values())])
    seed = curves.get(f"{properties.NAME}.seed")
    fields = [(each, curves.get(_path(number, each))) for number, each in enumerate(character.parameters)
              if each.is_here]
    frames, settings = list[int](), list[Seen]()
    for frame in range(first, last + 1):
        numbers = [(each, _number(each) if curve is None else _as_field(each, curve.evaluate(frame)))
                   for each, curve in fields]
        values = tuple((each.name, _value(each, number)) for each, number in numbers if number != each.default)
        now = values, character.seed if seed is None else max(int(seed.evaluate(frame)), 0)
        if not settings or settings[-1] != now:
            frames.append(frame)
            settings.append(now)
    return Keyed(np.array(frames, dtype=np.float64), tuple(settings))


def varied(values: Keyed, again: Again, frame_start: int, fps: float) -> Varied:
    """Perform a score with all its values over time, in any thread; raise TaktError that names the frame."""
    motions = dict[Seen, Motion]()
    for frame, settings in zip(values.frames.tolist(), values.settings, strict=True):
        if settings not in motions:
            try:
                motions[settings] = again(*settings)
            except TaktError as error:
                raise TaktError(f"With the values of frame {frame:.0f}: {error}") from None
    numbers = {settings: number for number, settings in enumerate(motions)}
    return Varied.of(tuple(motions.values()), ((values.frames - frame_start) / fps).tolist(),
                     [numbers[settings] for settings in values.settings])


def _number(field: properties.TaktParameter) -> float:
    return float(field.truth) if field.is_truth else field.number


def _as_field(field: properties.TaktParameter, number: float) -> float:
    """Return a curve's number as Blender stores it in the field."""
    return float(number >= _TRUE) if field.is_truth else number


def _value(field: properties.TaktParameter, number: float) -> Value:
    """Return a field's value: the shortest number with the same float32, such as 0.1 instead of 0.100000001."""
    return number >= _TRUE if field.is_truth else float(str(np.float32(number)))


def _path(number: int, field: properties.TaktParameter) -> str:
    return f"{properties.NAME}.parameters[{number}].{'truth' if field.is_truth else 'number'}"


def _curves(armature_object: bpy.types.Object) -> dict[str, bpy.types.FCurve]:
    """Return the curves that set the fields, by their paths."""
    character, animation = properties.character(armature_object), armature_object.animation_data
    if animation is None or animation.action is None or not (len(character.parameters) or character.has_picks):
        return {}
    own = (bag for bag in bags(animation.action) if bag.slot_handle == animation.action_slot_handle)
    return {curve.data_path: curve for bag in own for curve in bag.fcurves
            if not curve.mute and len(curve.keyframe_points) and _PATH.fullmatch(curve.data_path)}
