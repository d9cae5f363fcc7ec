"""Masks of layers: curves of bones outside a layer's body part are muted, so Blender leaves them out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import bpy

from ...core.errors import TaktError
from ...core.playing.motion import Motion
from ...core.skeletons.body_parts import BodyMasks, NamedBody
from .. import properties
from ..rigs import armature
from .tweak_placing import bag_of

_MARK: Final = "\t"


def apply(layer: properties.TaktTweaks, action: bpy.types.Action, motion: Motion) -> None:
    """Mute the curves of bones outside a layer's part of the body, and unmute the others.

    Curves muted by the user stay muted. Raises TaktError, and changes nothing, if there is no such body part.
    """
    bag = bag_of(action)
    if bag is None or not (layer.body.strip() or layer.muted):
        return
    has = _bones(layer.body, motion) if layer.body.strip() else None
    ours, muted, others = _renamed(layer.muted.split("\n"), bag), list[str](), list[str]()
    for curve in bag.fcurves:
        name = f"{curve.data_path}{_MARK}{curve.array_index}"
        found = armature.bone_property(curve.data_path)
        is_out = has is not None and found is not None and found[0] not in has
        if is_out and (name in ours or not curve.mute):
            muted.append(name)
        elif has is not None and curve.mute and name not in ours:
            others.append(f"{name}{_MARK}")
        if is_out != curve.mute and (is_out or name in ours):
            curve.mute = is_out
    said = "\n".join((*muted, *others))
    if said != layer.muted:
        layer.muted = said


def _renamed(names: Sequence[str], bag: bpy.types.ActionChannelbag) -> set[str]:
    """Return the curves that Takt has muted, with current bone names: renaming a bone renames its curves.

    names: of muted curves; those muted by the user have a mark at their end. If a bone's curves have all gone, the
    newly muted bone with the same channels is the renamed one.
    """
    before = {name.removesuffix(_MARK) for name in names}
    names = [name for name in names if not name.endswith(_MARK)]
    there = {f"{curve.data_path}{_MARK}{curve.array_index}": curve.mute for curve in bag.fcurves}
    gone = _channels(name for name in names if name not in there)
    free = _channels(name for name, is_muted in there.items() if is_muted and name not in before)
    found = set(names)
    for channels in gone.values():
        bone = next((bone for bone, own in free.items() if own.keys() == channels.keys()), None)
        if bone is not None:
            found |= set(free.pop(bone).values())
    return found


def _channels(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each bone its curves' names, by the part after the bone's name."""
    found = defaultdict[str, dict[str, str]](dict)
    for name in names:
        bone = armature.bone_property(name.partition(_MARK)[0])
        if bone is not None:
            found[bone[0]][f"{bone[1]}{_MARK}{name.partition(_MARK)[2]}"] = name
    return dict(found)


def _bones(body: str, motion: Motion) -> frozenset[str]:
    """Return the bones that belong to a part of the body, those at a fading border included."""
    if motion.body is None:
        raise TaktError(f"the body {body!r} is unknown on a rig whose joints are not known: map its bones first")
    documents = motion.sequence.origins.places.documents
    named = {mask.name: NamedBody(mask.body, mask.fade) for document in reversed(documents) for mask in document.masks}
    masks = BodyMasks(named, motion.body)
    try:
        share = masks.of(body, 0.0)
    except TaktError as error:
        raise TaktError(f"body: {error}") from None
    if masks.missing:
        raise TaktError(f"body: the rig has nothing that is {', '.join(masks.missing)}")
    return frozenset(name for name, much in zip(motion.skeleton.names, share.tolist(), strict=True) if much > 0.0)
