"""Files of tweaks, `.takt.tweaks.json`: all layers of a character, with the ties of their keys.

They carry tweaks to other scenes. There each key looks for its block in that scene's score, as waiting keys do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np

from ...core.errors import FileError, TaktError
from ...core.library.whole_files import write_whole
from ...core.playing import ties as ties_
from ...core.playing.stored import Stored
from ...core.playing.ties import Ties, Waiting
from ...core.playing.tweaks import EASE_S, MOST_EASE_S
from .. import properties
from . import tweak_curves, tweaks
from .tweak_placing import bag_of, check_waiting, ties_of

ENDING: Final = ".takt.tweaks.json"
VERSION: Final = 1
_SETTINGS: Final[Mapping[str, Any]] = {"ease_in": EASE_S, "ease_out": EASE_S, "holds": False, "is_last": False,
                    "procedure": "", "body": ""}
_NAMELESS: Final = "tweaks"
"""Name of a layer without one."""
_LARGEST_EASE_S: Final = 1e9
"""No larger one was ever stored; it is cut to MOST_EASE_S."""
_ASSIGNED: Final = ("action", "action_slot", "action_blend_type", "action_influence", "action_extrapolation", "use_nla")
"""What `tweaks.begin` sets of a character's animation, in the order in which it can be set again."""
_LARGEST_BYTES: Final = 64 << 20
Layer = tuple[str, dict[str, Any], Ties]
"""A layer of a file: its name, its settings, and its waiting keys."""


def save(armature_object: bpy.types.Object, path: Path) -> int:
    """Write all layers; return the number of moments with keys. Raises TaktError if that is impossible."""
    layers, count = [], 0
    for layer, action in tweaks.layers_of(armature_object):
        waiting = _as_waiting(action)
        count += len(waiting.waiting)
        layers.append({"name": layer.name, **{name: getattr(layer, name) for name in _SETTINGS},
                       "ties": ties_.to_data(waiting)})
    data = {"format": "Takt tweaks", "version": VERSION, "layers": layers}
    write_whole(path, (json.dumps(data, indent=1) + "\n").encode())
    return count


def _as_waiting(action: bpy.types.Action) -> Ties:
    """Return the keys of an Action of tweaks as waiting keys; raise TaktError if it has absolute ones.

    The procedure of the layer, and the calls with own keys, are kept.
    """
    ties, bag = ties_of(action), bag_of(action)
    if bag is None:
        return ties
    keys = tweak_curves.read(bag).claimed()
    keys = keys.at(keys.are_own)
    which = ties.find(keys.frames, tweak_curves.SAME_FRAME)
    if (which < 0).any():
        raise TaktError("the score's Action is older than the score: press Rebuild")
    there = [Waiting(ties.texts, ties.blocks[int(ties.block[tie])], float(ties.share[tie]), float(ties.length[tie]),
                     keys.at(which == tie).to_data()) for tie in np.unique(which[which >= 0]).tolist()]
    return replace(Ties.none((*there, *ties.waiting)), texts=ties.texts, over=ties.over, alone=ties.alone)


def add(armature_object: bpy.types.Object, layers: Sequence[Layer]) -> tuple[str, ...]:
    """Add the layers of a file to a character; return the keyed bones that it lacks.

    The keys are placed when its tweaks are next looked at.
    """
    assert armature_object.pose is not None
    missing: dict[str, None] = {}
    for name, settings, ties in layers:
        action = tweaks.begin(armature_object, name)
        layer = properties.character(armature_object).tweaks[-1]
        for setting, value in settings.items():
            setattr(layer, setting, value)
        setattr(action, properties.TIES, ties_.to_json(ties))
        bones = [part[1] for each in ties.waiting for data_path, _ in each.keys["curves"]
                 if len(part := data_path.split('"')) > 1]
        missing.update((bone, None) for bone in bones if bone not in armature_object.pose.bones)
    return tuple(missing)


@contextmanager
def taken_back_on_error(armature_object: bpy.types.Object) -> Iterator[None]:
    """Within this context, layers that are added are removed again if Blender refuses any of their data.

    Raises TaktError instead of Blender's own error.
    """
    animation, layers = armature_object.animation_data, properties.character(armature_object).tweaks
    assert animation is not None
    count, index = len(layers), properties.character(armature_object).tweaks_index
    tracks = {track.as_pointer() for track in animation.nla_tracks}
    assigned = {name: getattr(animation, name) for name in _ASSIGNED}
    try:
        yield
    except (TaktError, AttributeError, OverflowError, RuntimeError, TypeError, ValueError) as error:
        for layer in [*layers][count:]:
            if layer.action is not None:
                bpy.data.actions.remove(layer.action)
        while len(layers) > count:
            layers.remove(len(layers) - 1)
        for track in [*animation.nla_tracks]:
            if track.as_pointer() not in tracks:
                animation.nla_tracks.remove(track)
        for name, value in assigned.items():
            setattr(animation, name, value)
        properties.character(armature_object).tweaks_index = index
        raise TaktError(f"this file of tweaks is damaged: Blender cannot load it ({error}); choose another one"
                        ) from error


def read(path: Path) -> list[Layer]:
    """Return the layers of a file.

    Raises TaktError if it cannot be read. Unknown settings are ignored, missing ones get their defaults.
    """
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise FileError.at(f"found {path.stat().st_size:,} bytes, expected at most {_LARGEST_BYTES:,}", path)
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError.at(f"cannot be read: {error.strerror or error}", path) from None
    except (ValueError, RecursionError) as error:
        raise FileError.at(f"this is no file of tweaks, or it is damaged: {error}; choose another one", path) from None
    if not isinstance(data, dict) or data.get("format") != "Takt tweaks":
        raise FileError.at("this is no file of tweaks; Save Tweaks writes them", path)
    if not isinstance(data.get("version"), int) or data["version"] > VERSION:
        raise FileError.at(f"these tweaks are of version {data.get('version')!r}, expected at most {VERSION}: update "
                           "Takt", path)
    try:
        return [_layer(each) for each in Stored(data)["layers"].items()]
    except TaktError as error:
        raise FileError.at(f"this file of tweaks is damaged: {error!s}; choose another one", path) from None


def _layer(data: Stored) -> Layer:
    """Return a layer; raise DamagedError or NewerTiesError if it cannot be read."""
    settings = {name: old if (found := data.get(name)) is None else _setting(found, old)
                for name, old in _SETTINGS.items()}
    stored, name = data["ties"], data.get("name")
    kept = ties_.from_stored(stored)
    check_waiting(kept, f"{stored.place}.")
    ties = replace(Ties.none(kept.waiting), texts=kept.texts, over=kept.over, alone=kept.alone)
    return ("" if name is None else name.text().strip()) or _NAMELESS, settings, ties


def _setting(data: Stored, old: Any) -> Any:
    """Return a setting; old: its default."""
    if isinstance(old, bool):
        return data.flag()
    return data.text() if isinstance(old, str) else min(data.number(0.0, _LARGEST_EASE_S), MOST_EASE_S)
