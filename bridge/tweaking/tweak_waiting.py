"""Keys of tweaks that wait because the score lacks their blocks, in words that say what to do."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import bpy

from ...core.errors import TaktError, some_of
from ...core.pha.text import Text
from ...core.playing.ties import Waiting
from .. import properties
from . import tweaks
from .tweak_placing import ties_said

_BLOCKS_SHOWN, _BONES_SHOWN = 3, 3
_KEPT = 32


class Lost(NamedTuple):
    """Keys at one moment: what their block plays, and the bones or other targets that they move."""

    block: str
    moved: tuple[str, ...]


def waiting(armature_object: bpy.types.Object) -> tuple[Lost, ...]:
    """Return the waiting keys of all layers, one entry for each moment."""
    return tuple(lost for _, action in tweaks.layers_of(armature_object)
                 for lost in _waiting(str(getattr(action, properties.TIES))))


def words(armature_object: bpy.types.Object) -> str:
    """Return which keys wait and what to do, "" if none do."""
    lost = waiting(armature_object)
    if not lost:
        return ""
    moved = dict[str, dict[str, None]]()
    for each in lost:
        moved.setdefault(each.block, {}).update((name, None) for name in each.moved)
    blocks = [f"'{block}' ({some_of(tuple(names), _BONES_SHOWN)})" for block, names in moved.items()]
    count = "Keys at 1 moment wait" if len(lost) == 1 else f"Keys at {len(lost)} moments wait"
    return (f"{count}, since the score no longer has their blocks: {some_of(tuple(blocks), _BLOCKS_SHOWN)}. They come "
            "back with these: press Undo, or write the same calls again")


@lru_cache(_KEPT)
def _waiting(said: str) -> tuple[Lost, ...]:
    """Return the waiting keys of an Action from its stored ties."""
    try:
        return tuple(_lost(each) for each in ties_said(said).waiting)
    except TaktError:  # `tweaks.problem` reports it
        return ()


def _lost(each: Waiting) -> Lost:
    name = "?"
    if each.block:
        step = each.block[-1]
        attributes = Text.of(each.texts.get(step.document, "<pha/>")).shape.attributes
        name = attributes[step.element].get("name", name) if 0 <= step.element < len(attributes) else name
    paths = dict.fromkeys(str(path) for path, _ in each.keys["curves"])
    return Lost(name, tuple(dict.fromkeys(path.split('"')[1] if path.startswith("pose.bones") else path
                                          for path in paths)))
