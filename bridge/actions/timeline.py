"""A motion on the scene's timeline: the scene's range, and a marker at each procedure's start."""

import bpy
import numpy as np

from ...core.playing.motion import Motion
from .. import properties
from ..frame_rate import frames_per_second
from .action_users import strips_end

_MOST_MARKERS = 500
"""Greatest number of markers; if there would be more, the innermost procedures get none."""


def extend_range(scene: bpy.types.Scene, first_frame: int, last_frame: int, *, is_new: bool = True) -> bool:
    """Extend the scene's range to a motion, and return whether that changed it; the user's range is never cut.

    is_new: the motion is new in the scene; otherwise a range that the user has changed since stays.
    """
    before, left = (scene.frame_start, scene.frame_end), tuple(getattr(scene, properties.RANGE_LEFT))
    if not is_new and left not in ((0, 0), before):
        return False
    scene.frame_start, scene.frame_end = min(before[0], first_frame), max(before[1], last_frame)
    setattr(scene, properties.RANGE_LEFT, (scene.frame_start, scene.frame_end))
    return (scene.frame_start, scene.frame_end) != before


def extend_for(character: properties.TaktCharacter, scene: bpy.types.Scene, first_frame: int, last_frame: int, *,
               is_new: bool) -> bool:
    """Extend the scene's range to a character's score, and store the old range; return whether that changed it.

    An extension for the previous state of the score is undone first; see extend_range.
    """
    found, armature_object = (scene.frame_start, scene.frame_end), character.id_data
    if not is_new and isinstance(armature_object, bpy.types.Object):
        _take_back(armature_object, scene)
    before = scene.frame_end
    extend_range(scene, first_frame, last_frame, is_new=is_new)
    if scene.frame_end != before:
        if before != character.range_after:  # the user has changed it
            character.range_before = before
        character.range_after = scene.frame_end
    return (scene.frame_start, scene.frame_end) != found


def hold_instead(armature_object: bpy.types.Object, scene: bpy.types.Scene, last_frame: int) -> None:
    """Adapt the scene's range to the motion that an armature plays from now on.

    As in importers, the user's range is never cut. An extension for the armature's previous motion is undone, unless
    another object needs it; the markers of its previous score are removed.
    """
    clear(armature_object, scene)
    extend_for(properties.character(armature_object), scene, scene.frame_start, last_frame, is_new=True)


def clear(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Remove a motion's markers, and undo its extension of the range if the user has not changed that since."""
    character = properties.character(armature_object)
    _remove_markers(character, scene)
    _take_back(armature_object, scene)


def _take_back(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Restore the scene's end as it was before an armature's motion, if the user has not changed it since."""
    character = properties.character(armature_object)
    if character.range_after and scene.frame_end == character.range_after:
        armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
        others = [ob.animation_data.action for ob in armatures
                  if ob != armature_object and ob.animation_data is not None]
        ends = [*(played.frame_range[1] for played in others if played is not None), *map(strips_end, armatures)]
        needed = int(np.ceil(max(ends, default=0)))
        scene.frame_end = max(character.range_before, scene.frame_start, min(needed, scene.frame_end))
        setattr(scene, properties.RANGE_LEFT, (scene.frame_start, scene.frame_end))
    character.range_before = character.range_after = 0


def write_markers(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> None:
    """Set markers to the procedures, if these are switched on; other markers stay.

    Characters that play one score share them.
    """
    character = properties.character(armature_object)
    _remove_markers(character, scene)
    if not character.markers_wanted:
        return
    there, of_others = {(marker.name, marker.frame) for marker in scene.timeline_markers}, _of_others(character, scene)
    for frame, name in procedure_starts(motion, scene, character.frame_start):
        if (name, frame) not in there:
            scene.timeline_markers.new(name, frame=frame)
        elif (name, frame) not in of_others:  # it is the user's own
            continue
        kept = character.markers.add()
        kept.name, kept.frame = name, frame


def procedure_starts(motion: Motion, scene: bpy.types.Scene, frame_start: int) -> list[tuple[int, str]]:
    """Return frames, with the names of the procedures that start there, the outermost first."""
    marks, paths = motion.sequence.marks, motion.sequence.paths
    steps = [paths[index] for index in marks.path.tolist()]
    depths = np.array([len(path) for path in steps])
    deepest = next(d for d in range(int(depths.max()), 0, -1) if d == 1 or (depths <= d).sum() <= _MOST_MARKERS)
    seconds = motion.layout.begin_s[marks.segment]
    frames = np.rint(seconds * frames_per_second(scene)).astype(int) + frame_start
    starts: dict[int, list[str]] = {}
    for frame, path in zip(frames.tolist(), steps, strict=True):
        if len(path) <= deepest:
            starts.setdefault(frame, []).append(path[-1])
    return [(frame, " › ".join(names)) for frame, names in starts.items()]


def _remove_markers(character: properties.TaktCharacter, scene: bpy.types.Scene) -> None:
    own = {(marker.name, marker.frame) for marker in character.markers} - _of_others(character, scene)
    for marker in list(scene.timeline_markers):
        if (marker.name, marker.frame) in own:
            scene.timeline_markers.remove(marker)
    character.markers.clear()


def _of_others(character: properties.TaktCharacter, scene: bpy.types.Scene) -> set[tuple[str, int]]:
    """Return names and frames of markers of other characters in a scene; copies share theirs."""
    others = (properties.character(ob) for ob in scene.objects if ob.type == "ARMATURE" and ob != character.id_data)
    return {(marker.name, marker.frame) for other in others if other.action != character.action
            for marker in other.markers}
