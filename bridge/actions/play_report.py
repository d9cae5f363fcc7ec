"""The report of a clip that plays: deforming bones that it leaves out, and others that move its bones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

from ...core.errors import some_of
from ...core.retargeting.beginning import FAR_HEIGHTS
from ...core.retargeting.outcome import Outcome
from ...core.retargeting.retarget import Retargeted
from .. import axes, properties
from ..frame_rate import other_rates
from ..meshes import skin_points
from ..reports import HELD_BY_DRIVERS, OTHER_RATES, Told, tell
from ..rigs import armature, bone_rules, constraints
from .curves import held_by_drivers
from .play_clips import ClipPlayer

_NAMES_SHOWN = 8


@dataclass(frozen=True, eq=False)
class PlayedClip:
    """A clip that was retargeted and plays.

    action: the name of its Action. others: number of further clips in the file. new_range: the scene's first and last
    frame, if the clip has changed them. of_file: warnings about the file.
    """

    done: Retargeted
    outcome: Outcome
    action: str
    others: int = 0
    new_range: tuple[int, int] | None = None
    of_file: tuple[str, ...] = ()


def report_clip(operator: bpy.types.Operator, player: ClipPlayer, played: PlayedClip, scene: bpy.types.Scene) -> None:
    """Report the played clip, and as warnings only what moves the skin differently from the clip."""
    done, outcome = played.done, played.outcome
    told: list[Told] = [("WARNING", text) for text in (*_out_of_sight(done, outcome.clip), *played.of_file)]
    for note in done.notes:
        about = f"'{outcome.clip}' is {note}" if note.startswith(("compared", "played")) else note
        told.append(("WARNING" if note == done.doubt and done.source_map.is_humanoid else "INFO", about))
    if done.unmatched_source:
        told.append(("INFO", f"Without counterpart: {some_of(done.unmatched_source, _NAMES_SHOWN)}"))
    told += [("WARNING", text) for text in _warnings(player, done, scene)]
    rest = f"; the file has {played.others} more, choose one in Adjust Last Operation" if played.others else ""
    if played.new_range is not None:
        rest = f"; the scene's range is now {played.new_range[0]} to {played.new_range[1]}{rest}"
    if muted := len(properties.character(player.armature_object).muted):
        rest = f"; {muted} constraint{'s' * (muted > 1)} muted{rest}"
    if played.action != outcome.clip:
        rest = f"; its Action is '{played.action}'{rest}"
    told.append(("INFO", f"'{player.armature_object.name}' plays '{outcome.clip}', {outcome.duration_s:.1f} s{rest}"))
    tell(operator, told)


def _out_of_sight(done: Retargeted, clip: str) -> Iterator[str]:
    """Yield a message if a clip begins so far away that it is out of sight."""
    if done.begins_away > FAR_HEIGHTS:
        yield (f"'{clip}' begins {done.begins_away:.0f} body heights away: Begin at Character in Adjust Last "
               "Operation brings it here, View > Frame Selected shows it there")


def _warnings(player: ClipPlayer, done: Retargeted, scene: bpy.types.Scene) -> Iterator[str]:
    """Yield warnings of what moves the skin differently from the clip, the most important first."""
    armature_object = player.armature_object
    for text, names in ((HELD_BY_DRIVERS, _also(held_by_drivers(armature_object), player, done)),
                        ("Constraints move bones that the clip plays; mute them",
                         _also(constraints.controlled_bones(armature_object), player, done)),
                        ("Deforming bones that nothing moves stay behind", _left_behind(player, done)),
                        ("Connected bones cannot move away from their parents as in the clip",
                         bone_rules.held_back(armature_object, [done.clip])),
                        (OTHER_RATES, other_rates(armature_object, scene))):
        if names:
            yield f"{text}: {some_of(names, _NAMES_SHOWN)}"
    if text := axes.lying_warning(armature_object, player.target_map):
        yield text
    for text in axes.distortions(armature_object):
        yield f"'{armature_object.name}' {text}; apply its scale (Object > Apply)"


def _moved(done: Retargeted) -> set[str]:
    return {done.clip.skeleton.names[joint] for joint in np.flatnonzero(done.clip.moved).tolist()}


def _also(names: Iterable[str], player: ClipPlayer, done: Retargeted) -> list[str]:
    """Return those bones that the clip moves too, and that move skin."""
    moved = _moved(done) & armature.with_skin(player.armature_object)
    return [name for name in names if name in moved]


def _left_behind(player: ClipPlayer, done: Retargeted) -> list[str]:
    """Return bones that move skin but are neither moved nor related, as ancestors or descendants, to a moved bone."""
    bones, moved = cast(bpy.types.Armature, player.armature_object.data).bones, _moved(done)
    skinned = skin_points.skinned_bones(player.armature_object)
    along = {above.name for name in moved for above in bones[name].parent_recursive}
    return [bone.name for bone in bones if bone.name in skinned and bone.name not in moved and bone.name not in along
            and not any(above.name in moved for above in bone.parent_recursive)]
