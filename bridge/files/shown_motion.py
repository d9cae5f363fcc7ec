"""The motion that a character shows in the scene, with its object's transform, for writing into a file."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.maths.arrays import FloatArray
from ...core.playing.stage import Playable
from .. import properties
from ..actions import curves
from ..rigs import armature, constraints, drivers, object_courses
from . import recorded

_UNEVEN = 1e-3
"""Sizes of the object that differ by a larger share than this count as different."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A motion in the armature's space. what: its name in messages. start: the frame at which it begins.

    worlds: the armature object's matrices (F, 4, 4) at each of its frames; None: from its curves and its parents'.
    has_own_course: whether the object's own curves belong to this motion.
    """

    motion: Playable
    what: str
    start: float
    worlds: FloatArray | None = None
    has_own_course: bool = True

    def course(self, armature_object: bpy.types.Object, clip: Clip, fps: float) -> tuple[FloatArray, FloatArray,
                                                                                      tuple[str, ...]]:
        """Return times (F,) in seconds, the object's matrices (F, 4, 4), and messages about them.

        clip: the motion as written. Raises TaktError if the object's transform cannot be known.
        """
        times: FloatArray = np.unique(np.append(np.arange(0.0, clip.duration_s, 1.0 / fps), clip.duration_s))
        chain, worlds, said = object_courses.links(armature_object), self.worlds, list[str]()
        if not self.has_own_course:
            chain[-1] = object_courses.Link(armature_object, {})
        if worlds is None:
            said = [note for link in chain if (note := object_courses.note(link.owner))]
            worlds = object_courses.sound_world(armature_object, chain, self.start + fps * times)
        times = times[:len(worlds)]
        sizes = np.linalg.norm(worlds[:, :3, :3], axis=1)
        if np.ptp(sizes, axis=0).max() > _UNEVEN * sizes.max():
            said.append(f"'{armature_object.name}' changes its size as an object, which is not written")
        return times, worlds[:len(times)], tuple(said)


def of_score(armature_object: bpy.types.Object, motion: Playable) -> Shown:
    """Return a performed score, at its time in the scene."""
    return Shown(motion, "the score", float(properties.character(armature_object).frame_start), has_own_course=False)


def of_action(armature_object: bpy.types.Object, action: bpy.types.Action, fps: float) -> Shown:
    """Return an armature's Action, on its own skeleton and in its own axes."""
    clip = curves.read_clip(curves.fit(action, armature_object), armature.read_skeleton(armature_object), fps)
    return Shown(clip, f"the Action '{action.name}'", float(action.frame_range[0]))


def of_scene(armature_object: bpy.types.Object, scene: bpy.types.Scene, fps: float) -> Shown:
    """Return the motion of a character as Blender shows it, whatever moves it, or its pose if nothing does.

    Strips of the NLA give the frames, else the scene's range. Raises TaktError if those are too
    many frames.
    """
    span = nla_span(armature_object) or (_scene_span(scene) if _is_moved(armature_object, scene) else None)
    if span is None:
        pose = recorded.of_pose(armature_object, armature_object.name)
        return Shown(pose, "the pose of the current frame", float(scene.frame_current),
                     np.array(armature_object.matrix_world, dtype=np.float64)[None])
    clip, worlds = recorded.with_worlds(armature_object, scene, armature_object.name, *span, fps)
    return Shown(clip, f"frames {span[0]} to {span[1]} of the scene", float(span[0]), worlds)


def nla_span(armature_object: bpy.types.Object) -> tuple[int, int] | None:
    """Return first and last frame of an armature's NLA, with the Action above it, or None if it has none."""
    animation: Any = armature_object.animation_data
    if animation is None or not animation.use_nla:
        return None
    tracks = [track for track in animation.nla_tracks if not track.mute]
    heard = [track for track in tracks if track.is_solo] or tracks
    strips = [strip for track in heard for strip in track.strips if not strip.mute and strip.type != "SOUND"]
    if not strips:
        return None
    spans = [(strip.frame_start, strip.frame_end) for strip in strips]
    spans += [tuple(animation.action.frame_range)] if animation.action is not None else []
    first, last = int(np.floor(min(begin for begin, _ in spans))), int(np.ceil(max(end for _, end in spans)))
    return first, max(last, first + 1)


def _scene_span(scene: bpy.types.Scene) -> tuple[int, int] | None:
    return (scene.frame_start, scene.frame_end) if scene.frame_end > scene.frame_start else None


def _is_moved(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Return whether parents, constraints or drivers may move a character that has neither an Action nor the NLA."""
    chain = object_courses.links(armature_object)
    return (len(object_courses.frames_of(chain, scene.frame_start, scene.frame_end)) > 1
            or any(object_courses.is_animated(link.owner) for link in chain
                   if isinstance(link.owner, bpy.types.Object))
            or bool(constraints.controlled_bones(armature_object) or drivers.driven_bones(armature_object)))
