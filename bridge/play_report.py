"""What is reported of a clip that plays: deforming bones that it leaves out, and what else moves its bones."""

from __future__ import annotations

from typing import cast

import bpy
import numpy as np

from ..core.errors import some_of
from ..core.retargeting.beginning import FAR_HEIGHTS
from ..core.retargeting.outcome import Outcome
from ..core.retargeting.retarget import Retargeted
from . import armature, axes, bone_rules, constraints, properties, skin_points
from .play_clips import ClipPlayer

_NAMES_SHOWN = 8


def report_clip(operator: bpy.types.Operator, player: ClipPlayer, done: Retargeted, outcome: Outcome,
                others: int, new_range: tuple[int, int] | None) -> None:
    """Report what plays, and as warnings only what moves the skin otherwise than the clip says.

    others: further clips of the file, of which nobody chose one. new_range: the scene's first and last frame, where the
    clip has changed them.
    """
    armature_object = player.armature_object
    for note in done.notes:
        operator.report({"INFO"}, f"'{outcome.clip}' is {note}" if note.startswith("compared") else note)
    if done.unmatched_source:
        operator.report({"INFO"}, f"Without counterpart: {some_of(done.unmatched_source, _NAMES_SHOWN)}")
    for text, names in (("Constraints or drivers move bones that the clip plays; mute them", _controlled(player, done)),
                        ("Deforming bones that nothing moves stay behind", _left_behind(player, done)),
                        ("Bones that are connected to their parents cannot leave them as the clip wants",
                         bone_rules.held_back(armature_object, [done.clip]))):
        if names:
            operator.report({"WARNING"}, f"{text}: {some_of(names, _NAMES_SHOWN)}")
    if text := axes.lying_warning(armature_object, player.target_map):
        operator.report({"WARNING"}, text)
    for text in axes.distortions(armature_object):
        operator.report({"WARNING"}, f"'{armature_object.name}' {text}; apply its scale (Object > Apply)")
    rest = f"; the file has {others} more, choose one in Adjust Last Operation" if others else ""
    if new_range is not None:
        rest = f"; the scene's range is now {new_range[0]} to {new_range[1]}{rest}"
    if done.begins_away > FAR_HEIGHTS:
        rest = (f"; it begins {done.begins_away:.0f} body heights from where the character stands: choose Begin at the "
                f"Character in Adjust Last Operation to have it here{rest}")
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
