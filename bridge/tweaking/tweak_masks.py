"""Which bones a layer of tweaks changes: the curves of all others are muted, so that Blender itself leaves them out."""

from __future__ import annotations

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
    """Mute the curves of bones that are not in a layer's part of the body, and let those act that are.

    What somebody else has muted stays so. Raises TaktError where there is no such part of the body, and changes
    nothing.
    """
    bag = bag_of(action)
    if bag is None or not (layer.body.strip() or layer.muted):
        return
    has = _bones(layer.body, motion) if layer.body.strip() else None
    ours, muted = set(layer.muted.split("\n")), list[str]()
    for curve in bag.fcurves:
        name = f"{curve.data_path}{_MARK}{curve.array_index}"
        found = armature.bone_property(curve.data_path)
        is_out = has is not None and found is not None and found[0] not in has
        if is_out and (name in ours or not curve.mute):
            muted.append(name)
        if is_out != curve.mute and (is_out or name in ours):
            curve.mute = is_out
    said = "\n".join(muted)
    if said != layer.muted:
        layer.muted = said


def _bones(body: str, motion: Motion) -> frozenset[str]:
    """Return the bones that a part of the body has at all, also at a border that fades."""
    if motion.body is None:
        raise TaktError(f"the body {body!r} means nothing on a rig whose joints are not known: map its bones first")
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
