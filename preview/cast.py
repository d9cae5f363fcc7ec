"""Which figures the preview draws by the user's choices, and in which order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, cast

import bpy
import gpu
import numpy as np

from ..bridge import properties
from ..bridge.scores.score import shown
from ..bridge.versions import is_selected
from ..core.clips.clip import Clip
from ..core.maths.arrays import BoolArray, FloatArray
from ..core.playing.ahead import Ahead
from ..core.playing.motion import Motion
from ..core.playing.stage import Playable
from ..core.skeletons.skeleton import Pose, Skeleton
from .captions import draw_comparison
from .character import PreviewCharacter
from .choices import Choices
from .draw import SEE_THROUGH_ALPHA, CameraView, Painter, solid_state
from .instances import Tint, sampled_rows, tweaked_rows
from .modes import MODES
from .overlays import draw_path, draw_skeleton, path_of
from .roles import Bones, DrawnRole, Groups, Posed, pose_roles
from .smooth import Smooth

_BEFORE = (0.10, 0.46, 0.81)
_AFTER = (0.79, 0.34, 0.0)
_IN_TRANSITION = (0.60, 0.19, 0.39)
_GHOST_ALPHA = 0.4
_COPY_SPACING = 0.9
"""Distance between copies, as a multiple of the character's largest extent."""
_FIRST_GHOST, _FIRST_COPY, _DOUBLE = 1000, 1, 900
_MOST_PATHS = 64

Meshes = Sequence[bpy.types.Object]


@dataclass(frozen=True, eq=False)
class ClipAlone:
    """A single clip, played again and again instead of the score."""

    clip: Clip

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the clip."""
        return self.clip.skeleton

    @property
    def moved(self) -> BoolArray:
        """Whether it moves each joint, (J,)."""
        return self.clip.moved

    @property
    def duration_s(self) -> float:
        """Duration of one round."""
        return self.clip.duration_s

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses at times (F,) of the repeated clip."""
        length = self.clip.duration_s
        return self.clip.sample(times_s % length if length > 0.0 else times_s * 0.0, "SLERP")


@dataclass(slots=True, eq=False)
class Actor:
    """A character in the picture, with its visible meshes, its motion and the time in the motion.

    outline: colour of the outline if the character is selected. bones: how Blender would show the bones if the preview
    did not hide them.
    """

    character: PreviewCharacter
    armature: bpy.types.Object
    meshes: Meshes
    motion: Playable | None
    time_s: float
    outline: Tint | None = None
    bones: Bones = ""


@dataclass(eq=False)
class Actors:
    """The actors of the last picture. Their list stays the same object as long as only times change.

    alike: everything else from which they were made. key: all that `alike` depends on, if known.
    """

    alike: Sequence[tuple[object, ...]] = ()
    found: list[Actor] = field(default_factory=list)
    key: tuple[object, ...] | None = None

    def at(self, alike: Sequence[tuple[Any, ...]], times_s: Sequence[float]) -> list[Actor]:
        """Return actors at times. alike: for each actor, its character's revision and its other fields."""
        if alike != self.alike:
            self.alike = alike
            self.found = [Actor(character, armature, meshes, motion, time_s, outline, bones)
                          for (_, character, armature, meshes, motion, outline, bones), time_s
                          in zip(alike, times_s, strict=True)]
        else:
            for actor, time_s in zip(self.found, times_s, strict=True):
                actor.time_s = time_s
        return self.found


@dataclass(eq=False)
class Cast:
    """Draws actors, and caches what stays the same between frames. ahead: cache of poses at frames."""

    painter: Painter = field(default_factory=Painter)
    _own: tuple[Sequence[Actor], bool, list[DrawnRole], Groups] | None = None
    """Cache for actors with a single role each: the actors, whether at rest, their roles, and groups of these."""
    ahead: Ahead = field(default_factory=lambda: Ahead(sampled_rows, tweaked_rows))
    _paths: dict[tuple[int, ...], tuple[Motion, FloatArray, FloatArray]] = field(default_factory=dict)

    def draw(self, actors: Sequence[Actor], view: CameraView, choices: Choices, sampling_s: float = np.inf,
             smooth: Smooth | None = None) -> bool:
        """Draw all actors into the bound framebuffer, tested against its depth.

        actors: pass the same object as in the last call only if nothing but times and transforms has changed.
        sampling_s: seconds after which no further motion is sampled. smooth: draws surfaces with smooth edges; None
        draws them at the framebuffer's resolution. Returns whether all actors have their current pose.
        """
        roles, groups = self._roles(actors, choices)
        until_s = perf_counter() + sampling_s
        poses, are_all_there = pose_roles(roles, self.ahead if choices.player.follows_timeline else None,
                                          lambda: perf_counter() < until_s, groups)
        self.painter.upload(roles, poses, view)
        with solid_state():
            if choices.picture == "WIREFRAME":
                self._wireframe(roles, choices.see_through)
            elif smooth is None:
                self._surfaces(roles, choices)
            else:
                with smooth.smoothed():
                    self._surfaces(roles, choices)
                self.painter.unbind()
            self._ghosts(roles)
            if not choices.skeleton:
                self.painter.draw_bones()
            gpu.state.depth_test_set("NONE")
            gpu.state.depth_mask_set(False)
            gpu.state.blend_set("ALPHA")
            if choices.paths or choices.skeleton:
                self._lines(roles, poses, view, choices)
            if choices.compare != "NONE":
                draw_comparison(roles, poses, view, choices, _DOUBLE)
        return are_all_there

    def _roles(self, actors: Sequence[Actor], choices: Choices) -> tuple[list[DrawnRole], Groups]:
        """Return the roles of all actors, and groups of them that are posed together."""
        at_rest = choices.player.at_rest
        if self._own is not None and self._own[0] is actors and self._own[1] == at_rest and _are_alone(choices):
            _, _, roles, groups = self._own
            for role, actor in zip(roles, actors, strict=True):
                role.time_s = actor.time_s
            return roles, groups
        roles = [role for actor in actors for role in roles_of(actor, choices)]
        groups = Groups.of(roles)
        self._own = (actors, at_rest, roles, groups) if _are_alone(choices) else None
        return roles, groups

    def draw_shadow(self, view: CameraView) -> None:
        """Draw the heights of all roles of the last picture, except ghosts."""
        self.painter.set_view(view)
        self.painter.draw_solid("SHADOW")

    def _surfaces(self, roles: Sequence[DrawnRole], choices: Choices) -> None:
        if not choices.see_through:
            self._outlines(roles)
            self.painter.draw_solid(choices.picture)
            return
        for role in roles:
            if not role.is_ghost:
                self._seen_through(role, choices.picture)

    def _ghosts(self, roles: Sequence[DrawnRole]) -> None:
        """Draw ghosts around the figures, never over them."""
        ghosts = [role for role in roles if role.is_ghost]
        if ghosts:
            gpu.state.color_mask_set(False, False, False, False)
            self.painter.draw_solid("SHIELD")
            gpu.state.color_mask_set(True, True, True, True)
        for ghost in ghosts:
            self._foremost(ghost, "SHADED")

    def _outlines(self, roles: Sequence[DrawnRole]) -> None:
        """Draw slightly larger figures; the bodies are then drawn over them, so that an edge remains."""
        gpu.state.depth_mask_set(False)
        for role in roles:
            if role.outline is not None and not role.is_ghost:
                self.painter.draw(role, "OUTLINE")
        gpu.state.depth_mask_set(True)

    def _wireframe(self, roles: Sequence[DrawnRole], see_through: bool) -> None:
        """Draw the edges of meshes. see_through: also those on the far side."""
        if see_through:
            self.painter.draw_solid("WIREFRAME")
            return
        gpu.state.color_mask_set(False, False, False, False)
        self.painter.draw_solid("DEPTH")
        gpu.state.color_mask_set(True, True, True, True)
        self.painter.draw_solid("WIREFRAME")
        for role in roles:
            if not role.is_ghost:
                self._outline_behind(role)

    def _seen_through(self, role: DrawnRole, picture: str) -> None:
        self._foremost(role, picture, SEE_THROUGH_ALPHA)
        self._outline_behind(role)

    def _outline_behind(self, role: DrawnRole) -> None:
        """Draw only the far side of a slightly larger figure; the near side hides it except for the edge."""
        if role.outline is not None:
            gpu.state.face_culling_set("FRONT")
            self.painter.draw(role, "OUTLINE")
            gpu.state.face_culling_set("NONE")

    def _foremost(self, role: DrawnRole, picture: str, opacity: float = 1.0) -> None:
        """Draw only the frontmost surface, so that a figure does not show through itself."""
        gpu.state.color_mask_set(False, False, False, False)
        self.painter.draw(role, "DEPTH")
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.blend_set("ALPHA")
        self.painter.draw(role, picture, opacity)
        gpu.state.blend_set("NONE")

    def _lines(self, roles: Sequence[DrawnRole], poses: Sequence[Posed], view: CameraView, choices: Choices) -> None:
        for role, posed in zip(roles, poses, strict=True):
            if choices.paths and role.number == 0 and isinstance(role.motion, Motion):
                times, points = self._path(role, role.motion)
                draw_path(role, times, points, view)
            if choices.skeleton and not role.is_ghost:
                draw_skeleton(role, posed, view)

    def _path(self, role: DrawnRole, motion: Motion) -> tuple[FloatArray, FloatArray]:
        bones = chosen_bones(role)
        key = (role.character.uid, *bones)
        known = self._paths.get(key)
        if known is None or known[0] is not motion:
            self._paths = {k: v for k, v in self._paths.items() if k[0] != role.character.uid}
            known = self._paths[key] = motion, *path_of(role, motion, bones)
        return known[1:]


def _are_alone(choices: Choices) -> bool:
    """Return whether each actor has a single role, which shows no active bone."""
    return (choices.compare == "NONE" and choices.copies <= 1 and not choices.ghosts
            and not MODES[choices.picture].is_of_bone)


def roles_of(actor: Actor, choices: Choices) -> Iterator[DrawnRole]:
    """Yield the roles of an actor: itself, its double, its copies, its ghosts."""
    bone = actor.character.active_bone(actor.armature) if MODES[choices.picture].is_of_bone else -1
    own = DrawnRole(actor.character, actor.armature, actor.meshes, actor.motion, actor.time_s,
               at_rest=choices.player.at_rest, outline=actor.outline, shown_bone=bone, bones=actor.bones)
    yield own
    if choices.compare != "NONE" or choices.copies > 1:
        yield from _beside(own, actor, choices)
    if choices.ghosts and actor.motion is not None and not own.at_rest:
        yield from _ghosts(own, choices)


def _beside(own: DrawnRole, actor: Actor, choices: Choices) -> Iterator[DrawnRole]:
    instead, method = choices.comparison.instead, choices.comparison.method
    space_m = _extent(actor) * _COPY_SPACING
    beside = (space_m, 0.0, 0.0)
    if method is not None:
        yield replace(own, number=_DOUBLE, offset=beside, method=method)
    elif instead and isinstance(actor.motion, Motion):
        yield replace(own, number=_DOUBLE, offset=beside,
                      motion=shown(actor.armature, instead) or actor.motion)
    for copy in range(1, choices.copies):
        column, row = column_and_row(copy)
        yield replace(own, number=_FIRST_COPY + copy, offset=(column * space_m, row * space_m, 0.0),
                      motion=_with_own_seed(actor, copy, choices), time_s=actor.time_s + copy * choices.phase_s)


def _with_own_seed(actor: Actor, copy: int, choices: Choices) -> Playable | None:
    """Return the motion of a copy: that of the character, with another seed if its score picks at random."""
    character = properties.character(actor.armature)
    if not character.has_picks or not isinstance(actor.motion, Motion):
        return actor.motion
    return shown(actor.armature, {**choices.instead, "seed": character.seed + copy}) or actor.motion


def column_and_row(copy: int) -> tuple[int, int]:
    """Return the column and row of a copy. Copies stand in rows behind the first, each two longer than the last."""
    row = int(np.sqrt(copy))
    return copy - row * row - row, row


def _ghosts(own: DrawnRole, choices: Choices) -> Iterator[DrawnRole]:
    motion = own.motion
    assert motion is not None
    for number in range(-choices.ghosts, choices.ghosts + 1):
        time = own.time_s + number * choices.ghost_step_s
        if number == 0 or not 0.0 <= time <= motion.duration_s:
            continue
        fade = _GHOST_ALPHA * (1.0 - 0.7 * (abs(number) - 1) / max(choices.ghosts, 1))
        colour = _IN_TRANSITION if is_in_transition(motion, time) else _BEFORE if number < 0 else _AFTER
        yield replace(own, number=_FIRST_GHOST + number % 1000, time_s=time, tint=(*colour, fade))


def is_in_transition(motion: Playable, time_s: float) -> bool:
    """Return whether a transition plays at that time."""
    if not isinstance(motion, Motion):
        return False
    layout = motion.layout
    return bool(((layout.window_begin_s <= time_s) & (time_s < layout.window_end_s)).any())


def chosen_bones(role: DrawnRole) -> tuple[int, ...]:
    """Return the indices of the bones that are selected in Pose Mode, or else of those at the ends of the limbs."""
    skeleton, pose = role.character.skeleton, role.armature.pose
    assert skeleton is not None
    if role.armature.mode == "POSE" and pose is not None:
        chosen = tuple(skeleton.index_of[bone.name] for bone in pose.bones if is_selected(bone))
        if chosen:
            return chosen[:_MOST_PATHS]
    lowest = np.setdiff1d(np.arange(len(skeleton)), skeleton.parents)
    heads = skeleton.rest_world[lowest, :, 3]
    farthest = {int(np.argmax(side)) for axis in (heads[:, 0], heads[:, 2]) for side in (axis, -axis)}
    return tuple(int(lowest[index]) for index in sorted(farthest))


def _extent(actor: Actor) -> float:
    """Return the largest extent of the actor's meshes in the world."""
    sizes = [actor.character.parts[mesh.session_uid].reach_m * max(cast(Any, mesh.matrix_world.to_scale()))
             for mesh in actor.meshes if mesh.session_uid in actor.character.parts]
    return max(sizes, default=1.0)
