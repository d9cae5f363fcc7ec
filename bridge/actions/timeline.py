"""What a motion leaves on the scene's timeline: a range that holds it and a marker at each procedure's start."""

import bpy
import numpy as np

from ...core.playing.motion import Motion
from .. import properties
from ..frame_rate import frames_per_second
from .action_users import strips_end

_MOST_MARKERS = 500
"""Where there would be more, the innermost procedures get none."""


def extend_range(scene: bpy.types.Scene, first_frame: int, last_frame: int, *, is_new: bool = True) -> bool:
    """Let the scene's range hold a motion, and tell whether that changed it; what the user has set is never cut.

    is_new: the motion comes into the scene; else the range stays as it is where the user has changed it since.
    """
    before, left = (scene.frame_start, scene.frame_end), tuple(getattr(scene, properties.RANGE_LEFT))
    if not is_new and left not in ((0, 0), before):
        return False
    scene.frame_start, scene.frame_end = min(before[0], first_frame), max(before[1], last_frame)
    setattr(scene, properties.RANGE_LEFT, (scene.frame_start, scene.frame_end))
    return (scene.frame_start, scene.frame_end) != before


def extend_for(character: properties.TaktCharacter, scene: bpy.types.Scene, first_frame: int, last_frame: int, *,
               is_new: bool) -> bool:
    """Let the scene's range hold a character's score, and keep how it was; tell whether that changed it.

    What it was extended by for the score as it was before goes first; see extend_range.
    """
    found, armature_object = (scene.frame_start, scene.frame_end), character.id_data
    if not is_new and isinstance(armature_object, bpy.types.Object):
        _take_back(armature_object, scene)
    before = scene.frame_end
    extend_range(scene, first_frame, last_frame, is_new=is_new)
    if scene.frame_end != before:
        if before != character.range_after:  # it is as a person has set it
            character.range_before = before
        character.range_after = scene.frame_end
    return (scene.frame_start, scene.frame_end) != found


def hold_instead(armature_object: bpy.types.Object, scene: bpy.types.Scene, last_frame: int) -> None:
    """Let the scene's range hold what an armature plays from now on.

    As of importers, whatever the user has set is never cut; what the range was extended by for what the armature played
    before goes, unless something else in the scene needs it; so do the markers of the score that it played.
    """
    clear(armature_object, scene)
    extend_for(properties.character(armature_object), scene, scene.frame_start, last_frame, is_new=True)


def clear(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Take back what a motion left on the timeline: markers, and the range if nobody has changed it since."""
    character = properties.character(armature_object)
    _remove_markers(character, scene)
    _take_back(armature_object, scene)


def _take_back(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Let the scene end where it did before an armature's motion made it later, if nobody has changed it since."""
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
    """Set markers to the procedures, where they are wanted; markers that are not Takt's stay.

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
    """Return frames and the names of the procedures that start there, the outermost first."""
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
    """Return names and frames of the markers that other characters of a scene have set; copies have one's own."""
    others = (properties.character(ob) for ob in scene.objects if ob.type == "ARMATURE" and ob != character.id_data)
    return {(marker.name, marker.frame) for other in others if other.action != character.action
            for marker in other.markers}
