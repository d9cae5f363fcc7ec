"""A motion sampled as the keys of an Action: in Blender's frames, in the axes and rotation modes of the bones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.maths import rotations as rot
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.maths.euler import to_euler, to_turns
from ...core.playing.keying import Channel, Keyed, Progress, key_clip, key_every_frame, key_sparsely, resting
from ...core.playing.motion import Motion
from ...core.playing.stage import Playable
from ...core.playing.varied import Varied
from ...core.skeletons.skeleton import Skeleton
from ..frame_rate import frames_per_second
from ..rigs.bone_rules import ORDINARY, BoneRules

_STRAIGHT_RAD = np.radians(0.01)
"""A loop whose heading changes by less than this in each lap goes straight on."""
_Curves = tuple[str, tuple[str, ...], FloatArray, BoolArray]
"""A property, the names of the bones that have it, their values (F, B, C), and the frames with keys (F, B)."""


@dataclass(frozen=True, eq=False)
class Channels:
    """The keys of a motion, in Blender's frames and in the axes of the bones.

    frames: (F,) of the scene, may be fractional. Bones above the body get a key at rest, so that they do
    not keep the pose of another Action.
    is_loop: whether the curves repeat. has_turning_laps: whether each lap of the loop starts with another heading,
    which curves cannot repeat.
    """

    frames: FloatArray
    curves: tuple[_Curves, ...]
    is_loop: bool
    has_turning_laps: bool

    @property
    def bones(self) -> set[str]:
        """The names of all bones with keys."""
        return {name for _, names, _, _ in self.curves for name in names}

    @property
    def last_frame(self) -> int:
        """The frame with the last key, or the one after it."""
        return int(np.ceil(self.frames[-1] - 1e-3))


def sample_channels(motion: Motion, fps: float, frame_start: int, keys: str = "EVERY_FRAME",
                    rules: BoneRules = ORDINARY, progress: Progress | None = None) -> Channels:
    """Sample a motion from frame_start on, in any thread.

    keys: one of properties.KEYS. rules: bones without quaternions get a key at every frame, since key reduction works
    on quaternions. progress: if it returns False, CancelledError is raised.
    """
    make = key_sparsely if keys == "KEYS" else key_every_frame
    keyed = make(motion, fps, rules.inheritance, progress)
    has_turning_laps = motion.sequence.is_loop and abs(motion.lap_yaw_rad) > _STRAIGHT_RAD
    curves = tuple(_curves(motion.skeleton, keyed, rules))
    return Channels(keyed.frames + frame_start, curves, motion.sequence.is_loop, has_turning_laps)


def sample_varied(motion: Varied, fps: float, frame_start: int, rules: BoneRules = ORDINARY,
                  progress: Progress | None = None) -> Channels:
    """Sample a score with animated values at every frame; see sample_channels."""
    keyed = key_clip(motion, fps, rules.inheritance, progress)
    return Channels(keyed.frames + frame_start, tuple(_curves(motion.skeleton, keyed, rules)), False, False)


def clip_channels(clip: Playable, scene: bpy.types.Scene, frame_start: int,
                  rules: BoneRules = ORDINARY) -> Channels:
    """Sample a motion on the armature's skeleton from frame_start on, at every frame; rules: see sample_channels."""
    keyed = key_clip(clip, frames_per_second(scene), rules.inheritance)
    return Channels(keyed.frames + frame_start, tuple(_curves(clip.skeleton, keyed, rules)), False, False)


def whole_frames(motion: Playable, fps: float, rules: BoneRules = ORDINARY) -> Channels:
    """Sample a motion from frame 0 on at every frame, with its speed adjusted so that it ends at a whole frame.

    So it becomes at most half a frame longer or shorter, and a loop is closed. Raises TaktError if its duration is 0.
    """
    if motion.duration_s <= 0.0:
        raise TaktError("it lasts no time")
    keyed = key_clip(motion, max(round(motion.duration_s * fps), 1) / motion.duration_s, rules.inheritance)
    return Channels(keyed.frames, tuple(_curves(motion.skeleton, keyed, rules)), False, False)


def _curves(skeleton: Skeleton, keyed: Keyed, rules: BoneRules) -> "list[_Curves]":
    def named(channel: Channel) -> tuple[str, ...]:
        return tuple(skeleton.names[joint] for joint in channel.joints)

    moves = _free(skeleton, keyed.translations, rules)
    # Core's translations lie in the parent's axes, Blender's locations in the axes of the bone at rest.
    locations = rot.rotate(rot.conjugate(skeleton.rest_rotations[moves.joints]), moves.values)
    for index, name in enumerate(named(moves)) if rules.shifted_by_parent else ():
        if name in rules.shifted_by_parent:
            locations[:, index] = moves.values[:, index]
    return [*_turning(named(keyed.rotations), keyed.rotations, rules.moved),
            ("location", named(moves), locations, moves.keys),
            ("scale", named(keyed.scales), keyed.scales.values, keyed.scales.keys),
            *_at_rest(skeleton, keyed, rules.resting)]


def _free(skeleton: Skeleton, moves: Channel, rules: BoneRules) -> Channel:
    """Return the translations of only those joints that are not connected to their parents."""
    free = [index for index, joint in enumerate(moves.joints) if skeleton.names[joint] not in rules.connected]
    if len(free) == len(moves.joints):
        return moves
    return Channel(moves.joints[free], moves.values[:, free], moves.keys[:, free])


def _at_rest(skeleton: Skeleton, keyed: Keyed, modes: Mapping[str, str]) -> "Iterator[_Curves]":
    """Yield curves with one key at rest for bones above the body; see keying.resting."""
    joints, count = resting(skeleton, keyed), len(keyed.frames)

    def still(channel: Channel, rest: FloatArray) -> tuple[tuple[str, ...], Channel]:
        chosen = np.setdiff1d(joints, channel.joints)
        values = np.broadcast_to(rest, (1, len(chosen), len(rest)))
        names = tuple(skeleton.names[joint] for joint in chosen)
        return names, Channel(chosen, values, np.ones((1, len(chosen)), dtype=np.bool_))

    found = list(_turning(*still(keyed.rotations, rot.IDENTITY), modes))
    for path, channel, rest in (("location", keyed.translations, np.zeros(3)), ("scale", keyed.scales, np.ones(3))):
        names, one = still(channel, rest)
        found.append((path, names, one.values, one.keys))
    for path, names, values, _ in found:
        if names:
            is_first = np.broadcast_to(np.arange(count)[:, None] == 0, (count, len(names)))
            yield path, names, np.broadcast_to(values, (count, *values.shape[1:])), is_first


def _turning(names: tuple[str, ...], turns: Channel,
             modes: Mapping[str, str]) -> "Iterator[_Curves]":
    """Yield the curves of rotations, grouped by rotation mode."""
    mode_of = np.array([modes.get(name, "QUATERNION") for name in names], dtype=object)
    for mode in sorted(set(mode_of)):
        bones = np.flatnonzero(mode_of == mode)
        chosen, values, keys = tuple(names[bone] for bone in bones), turns.values[:, bones], turns.keys[:, bones]
        if mode == "QUATERNION":
            yield "rotation_quaternion", chosen, values, keys
        elif mode == "AXIS_ANGLE":
            yield "rotation_axis_angle", chosen, to_turns(values), np.ones_like(keys)
        else:
            yield "rotation_euler", chosen, to_euler(values, mode), np.ones_like(keys)
