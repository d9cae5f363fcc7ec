"""What is reported of a clip that plays: deforming bones that it leaves out, and what else moves its bones."""

from __future__ import annotations

from typing import cast

import bpy
import numpy as np

from ..core.errors import some_of
from ..core.retargeting.outcome import Outcome
from ..core.retargeting.retarget import Retargeted
from . import armature, axes, constraints, properties, skin_points
from .play_clips import ClipPlayer

_NAMES_SHOWN = 8


def report_clip(operator: bpy.types.Operator, player: ClipPlayer, done: Retargeted, outcome: Outcome,
                others: int) -> None:
    """Report what plays, and as warnings only what moves the skin otherwise than the clip says.

    others: further clips of the file, of which nobody chose one.
    """
    armature_object = player.armature_object
    for note in outcome.notes:
        operator.report({"INFO"}, f"'{outcome.clip}' is {note}" if note.startswith("compared") else note)
    for text, names in (("Constraints or drivers move bones that the clip plays; mute them", _controlled(player, done)),
                        ("Deforming bones that nothing moves stay behind", _left_behind(player, done))):
        if names:
            operator.report({"WARNING"}, f"{text}: {some_of(names, _NAMES_SHOWN)}")
    if text := axes.lying_warning(armature_object, player.target_map):
        operator.report({"WARNING"}, text)
    for text in axes.distortions(armature_object):
        operator.report({"WARNING"}, f"'{armature_object.name}' {text}; apply its scale (Object > Apply)")
    rest = f"; the file has {others} more, choose one in Adjust Last Operation" if others else ""
    if muted := len(properties.character(armature_object).muted):
        rest = f"; {muted} constraint{'s' * (muted > 1)} muted{rest}"
    operator.report({"INFO"}, f"'{armature_object.name}' plays '{outcome.clip}', {outcome.duration_s:.1f} s{rest}")


def _moved(done: Retargeted) -> set[str]:
    return {done.clip.skeleton.names[joint] for joint in np.flatnonzero(done.clip.moved).tolist()}


def _controlled(player: ClipPlayer, done: Retargeted) -> list[str]:
    """Return bones that the clip plays and that constraints or drivers move too, where they move skin."""
    moved = _moved(done) & armature.with_skin(player.armature_object)
    muted = {entry.bone for entry in properties.character(player.armature_object).muted}
    return [name for name in constraints.controlled_bones(player.armature_object)
            if name in moved and name not in muted]


def _left_behind(player: ClipPlayer, done: Retargeted) -> list[str]:
    """Return bones that move skin and neither are moved nor are ancestors or descendants of any that is."""
    bones, moved = cast(bpy.types.Armature, player.armature_object.data).bones, _moved(done)
    skinned = skin_points.skinned_bones(player.armature_object)
    along = {above.name for name in moved for above in bones[name].parent_recursive}
    return [bone.name for bone in bones if bone.name in skinned and bone.name not in moved and bone.name not in along
            and not any(above.name in moved for above in bone.parent_recursive)]
