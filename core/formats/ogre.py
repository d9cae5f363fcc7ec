"""OGRE skeletons as a value: the contents of both its formats, binary and XML.

A reader turns its file into records; assemble checks them and builds the value. In OGRE, local rotation = rest · key
and local position = rest + key's translation, which is what core's Pose means too. Between keys OGRE blends rotations
by normalised LERP along the shorter arc. Before the first and after the last key of a track that key holds. Source:
OGRE's SkeletonSerializer, XMLSkeletonSerializer and Animation.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.clip_file import ClipFile
from ..clips.keyed import interpolated, keys_of
from ..errors import FileError, Place, Problem, TaktError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Skeleton

BlendMode = Literal["AVERAGE", "CUMULATIVE"]

MAX_BONES = 65536
"""Handles are 16 bits wide in the binary file."""


class Link(NamedTuple):
    """A link to another skeleton, whose animations this one plays too, with scaled translations."""

    skeleton: str
    scale: float


class Base(NamedTuple):
    """The pose that a clip's keys are relative to: that of this clip at this time ("" is the clip itself)."""

    clip: str
    time_s: float


@dataclass(frozen=True, eq=False)
class OgreSkeleton(ClipFile):
    """Everything an OGRE skeleton file holds.

    skeleton: its parents come before their children.
    clips: the animations as they are stored, all on skeleton; see played.
    handles: (J,) the number by which the file knows each joint.
    bases: by clip name, for clips whose keys are relative to a pose.
    """

    handles: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    blend_mode: BlendMode = "AVERAGE"
    links: tuple[Link, ...] = ()
    bases: Mapping[str, Base] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.handles) != len(self.skeleton):
            raise TaktError(f"{len(self.handles)} handles for {len(self.skeleton)} joints; one for each is wanted")
        for clip in self.clips:
            if clip.skeleton is not self.skeleton:
                raise TaktError(f"clip {quoted(clip.name)} belongs to another skeleton; retarget it first")

    @classmethod
    def of(cls, skeleton: Skeleton, clips: Sequence[Clip] = ()) -> OgreSkeleton:
        """Make the value from a skeleton and clips on it, handles counted from 0."""
        return cls(skeleton, tuple(clips), np.arange(len(skeleton)))

    @classmethod
    def of_file(cls, file: ClipFile) -> OgreSkeleton:
        """Return a file that was read from OGRE's formats unchanged; make the value from files of other formats."""
        return file if isinstance(file, OgreSkeleton) else cls.of(file.skeleton, file.played)

    def with_clips(self, clips: Sequence[Clip]) -> OgreSkeleton:
        """Return the skeleton with these of its played clips, which no longer need a base, and without links."""
        return OgreSkeleton(self.skeleton, tuple(clips), self.handles, self.blend_mode, warnings=self.warnings)

    @property
    def played(self) -> tuple[Clip, ...]:
        """The clips ready to be played: for those with a base, its pose is taken out of their keys."""
        by_name = {clip.name: clip for clip in self.clips}
        return tuple(_relative(clip, by_name[base.clip or clip.name], base.time_s)
                     if (base := self.bases.get(clip.name)) else clip for clip in self.clips)


def _relative(clip: Clip, base: Clip, time_s: float) -> Clip:
    """Take the base's pose at time_s out of every key (OGRE's Animation::_applyBaseKeyFrame).

    Rotations: base⁻¹ · key; translations: key − base; scales: key / base, where the base moves the joint.
    """
    pose = base.sample(np.array((time_s,))).at(0)

    def joint_of_key(tracks: Tracks) -> IntArray:
        return np.repeat(tracks.joints, np.diff(tracks.starts))

    def with_values(tracks: Tracks, values: FloatArray) -> Tracks:
        return Tracks(tracks.joints, tracks.starts, tracks.times_s, values)

    r, t, s = clip.rotations, clip.translations, clip.scales
    return Clip(clip.name, clip.skeleton, clip.duration_s,
                with_values(r, rot.multiply(rot.conjugate(pose.rotations[joint_of_key(r)]), r.values)),
                with_values(t, t.values - pose.translations[joint_of_key(t)]),
                with_values(s, s.values / pose.scales[joint_of_key(s)]), clip.is_looping)


class BoneRecord(NamedTuple):
    """A bone as a file states it; rotation wxyz, in the parent's space."""

    handle: int
    name: str
    position: Sequence[float]
    rotation: Sequence[float]
    scale: Sequence[float]
    place: Place


class TrackRecord(NamedTuple):
    """The keys of a bone: rows first to last − 1 of the file's keys."""

    bone: int
    first: int
    last: int
    place: Place


class AnimationRecord(NamedTuple):
    """An animation with its tracks."""

    name: str
    length_s: float
    base: Base | None
    tracks: list[TrackRecord]
    place: Place


@dataclass(frozen=True)
class Records:
    """A whole file before it is checked. keys: (N, 11) time, rotation wxyz, translation, scale."""

    bones: list[BoneRecord]
    parents: list[tuple[int, int, Place]]
    animations: list[AnimationRecord]
    keys: FloatArray
    place_of_key: Callable[[int], Place]
    links: tuple[Link, ...] = ()
    blend_mode: BlendMode = "AVERAGE"


def assemble(records: Records, name: str) -> OgreSkeleton:
    """Check a file's records and build the skeleton and its clips.

    Joints are sorted by handle, parents before children. Raises FileError, with the place, for repeated names, handles,
    parents or tracks, unknown bones, cycles, values that are not finite, and rotations of length zero.
    """
    joint_of, skeleton, handles = _skeleton(records, name)
    keys = _checked_keys(records)
    clips: dict[str, Clip] = {}
    for animation in records.animations:
        if animation.name in clips:
            raise FileError(Problem(f"a second animation named {quoted(animation.name)}; names must differ",
                                    animation.place))
        clips[animation.name] = _clip(animation, keys, joint_of, skeleton)
    bases = {a.name: a.base for a in records.animations if a.base is not None}
    for animation in records.animations:
        if animation.base and animation.base.clip and animation.base.clip not in clips:
            raise FileError(Problem(f"animation {quoted(animation.name)} is relative to {quoted(animation.base.clip)}, "
                                    f"which the file does not hold", animation.place))
    return OgreSkeleton(skeleton, tuple(clips.values()), handles, records.blend_mode, records.links, bases)


def _skeleton(records: Records, name: str) -> tuple[dict[int, int], Skeleton, IntArray]:
    """Return the joint of each handle, the skeleton, and the handle of each joint."""
    bones: dict[int, BoneRecord] = {}
    names: set[str] = set()
    for bone in records.bones:
        if bone.handle in bones or bone.name in names:
            what = f"the handle {bone.handle}" if bone.handle in bones else "that name"
            raise FileError(Problem(f"bone {quoted(bone.name)}: an earlier bone has {what}; they must differ",
                                    bone.place))
        if not np.isfinite((*bone.position, *bone.rotation, *bone.scale)).all() or not any(bone.rotation):
            raise FileError(Problem(f"bone {quoted(bone.name)}: position {tuple(bone.position)}, rotation "
                                    f"{tuple(bone.rotation)} (wxyz), scale {tuple(bone.scale)}; finite values and a "
                                    f"rotation that is not zero are wanted", bone.place))
        bones[bone.handle] = bone
        names.add(bone.name)
    parent_of = _parents(records, bones)
    order = _parents_first(bones, parent_of)
    joint_of = {handle: joint for joint, handle in enumerate(order)}
    sorted_bones = [bones[handle] for handle in order]
    skeleton = Skeleton.from_arrays(
        [bone.name for bone in sorted_bones],
        [joint_of[parent_of[h]] if h in parent_of else -1 for h in order],
        rot.normalized(np.array([bone.rotation for bone in sorted_bones], dtype=np.float64).reshape(-1, 4)),
        np.array([bone.position for bone in sorted_bones]).reshape(-1, 3),
        np.array([bone.scale for bone in sorted_bones]).reshape(-1, 3), name)
    return joint_of, skeleton, np.array(order, dtype=np.int64)


def _parents(records: Records, bones: dict[int, BoneRecord]) -> dict[int, int]:
    parent_of: dict[int, int] = {}
    for child, parent, place in records.parents:
        for handle in (child, parent):
            if handle not in bones:
                raise FileError(Problem(f"a parent is given with bone {handle}, which the file does not hold", place))
        if child in parent_of:
            raise FileError(Problem(f"bone {quoted(bones[child].name)} gets a second parent, "
                                    f"{quoted(bones[parent].name)}; it has "
                                    f"{quoted(bones[parent_of[child]].name)}", place))
        parent_of[child] = parent
    return parent_of


def _parents_first(bones: dict[int, BoneRecord], parent_of: dict[int, int]) -> list[int]:
    """Sort handles ascending, but every parent before its children."""
    children: dict[int, list[int]] = {}
    for child, parent in parent_of.items():
        children.setdefault(parent, []).append(child)
    ready = sorted(h for h in bones if h not in parent_of)
    order = []
    while ready:
        handle = heapq.heappop(ready)
        order.append(handle)
        for child in children.get(handle, ()):
            heapq.heappush(ready, child)
    if len(order) < len(bones):
        done = set(order)
        cyclic = next(h for h in bones if h not in done)
        raise FileError(Problem(f"bone {quoted(bones[cyclic].name)} is its own ancestor; the parents form a "
                                "cycle", bones[cyclic].place))
    return order


def _checked_keys(records: Records) -> FloatArray:
    """Return the keys with unit rotations."""
    keys = records.keys
    length = np.linalg.norm(keys[:, 1:5], axis=1)
    bad = np.flatnonzero(~(np.isfinite(keys).all(axis=1) & (length > 0.0) & np.isfinite(length)))
    if len(bad):
        values = ", ".join(f"{v:g}" for v in keys[bad[0]])
        raise FileError(Problem(f"a key (time, rotation wxyz, translation, scale) of {values}; finite values and a "
                                f"rotation that is not zero are wanted", records.place_of_key(int(bad[0]))))
    keys = keys.copy()
    keys[:, 1:5] /= length[:, None]
    return keys


def _clip(animation: AnimationRecord, keys: FloatArray, joint_of: dict[int, int], skeleton: Skeleton) -> Clip:
    if not (np.isfinite(animation.length_s) and animation.length_s >= 0.0):
        raise FileError(Problem(f"animation {quoted(animation.name)} lasts {animation.length_s:g} s; a finite "
                                f"length of at least 0 is wanted", animation.place))
    joints: dict[int, TrackRecord] = {}
    for track in animation.tracks:
        if track.bone not in joint_of:
            raise FileError(Problem(f"animation {quoted(animation.name)} moves bone {track.bone}, which the "
                                    f"file does not hold", track.place))
        if joint_of[track.bone] in joints:
            raise FileError(Problem(f"animation {quoted(animation.name)} has a second track of bone "
                                    f"{quoted(skeleton.names[joint_of[track.bone]])}", track.place))
        joints[joint_of[track.bone]] = track
    moved = {joint: track for joint, track in joints.items() if track.last > track.first}
    starts = np.cumsum([0, *(track.last - track.first for track in moved.values())])
    own = np.concatenate([np.zeros((0, 11)), *(keys[track.first:track.last] for track in moved.values())])
    track_of_key = np.repeat(np.arange(len(moved)), np.diff(starts))
    if (np.diff(own[:, 0])[np.diff(track_of_key) == 0] < 0.0).any():
        own = own[np.lexsort((own[:, 0], track_of_key))]
    own[:, 1:5] = rot.continuous(own[:, 1:5], starts)
    packed = Tracks(np.array(list(moved), dtype=np.int64), starts, own[:, 0], own[:, 1:5])
    return Clip(animation.name, skeleton, animation.length_s, packed,
                _moving(packed, own[:, 5:8], 0.0), _moving(packed, own[:, 8:11], 1.0))


def _moving(packed: Tracks, values: FloatArray, neutral: float) -> Tracks:
    """Keep the tracks in which any value differs from the neutral one."""
    if not len(packed):
        return Tracks.empty(values.shape[1])
    moves = np.logical_or.reduceat((values != neutral).any(axis=1), packed.starts[:-1])
    keep = np.repeat(moves, np.diff(packed.starts))
    starts = np.concatenate(([0], np.cumsum(np.diff(packed.starts)[moves])))
    return Tracks(packed.joints[moves], starts, packed.times_s[keep], values[keep])


def key_table(clip: Clip) -> list[tuple[int, FloatArray]]:
    """Return the keys (K, 11) of each moved joint: time, rotation wxyz, translation, scale.

    Joints are in the order of their tracks. OGRE keys all three channels at the same times. If a joint's tracks have
    different times, it gets a key at each of them; a track without a key there is sampled.
    """
    neutral = (np.array((1.0, 0.0, 0.0, 0.0)), np.zeros(3), np.ones(3))
    channels = (clip.rotations, clip.translations, clip.scales)
    table = []
    for joint in dict.fromkeys(np.concatenate([channel.joints for channel in channels]).tolist()):
        found = [np.flatnonzero(channel.joints == joint) for channel in channels]
        keys = [keys_of(channel, int(track[0])) if len(track) else None
                for channel, track in zip(channels, found, strict=True)]
        times = [own[0] for own in keys if own is not None]
        is_shared = all(np.array_equal(times[0], other) for other in times)
        shared = times[0] if is_shared else np.unique(np.concatenate(times))
        columns = [shared[:, None]]
        for own, rest in zip(keys, neutral, strict=True):
            columns.append(np.tile(rest, (len(shared), 1)) if own is None else interpolated(*own, shared))
        table.append((joint, np.concatenate(columns, axis=1)))
    return table


def name_of(path: Path | None) -> str:
    """Return the name of a skeleton: its file's name without endings.

    >>> name_of(Path("feet/Steps.skeleton.xml"))
    'Steps'
    """
    if path is None:
        return ""
    name = path.name
    for ending in (".xml", ".skeleton"):
        if name.lower().endswith(ending):
            name = name[:-len(ending)]
    return name
