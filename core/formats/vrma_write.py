"""Write a clip as VRMA: human bones that rest in a T-pose, and their rotations from it.

Players apply a bone's rotation from rest in the file to their avatar's T-pose, in model axes. So the bones are written
with the model's axes, and with level arms in the rest pose:

    local rotation = N(parent)⁻¹ · N,   N = world turn from rest · (turn of the T-pose from rest)⁻¹

Source: VRM Consortium, VRMC_vrm_animation-1.0 specification; Khronos Group, glTF 2.0 specification.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..clips.clip import Clip
from ..clips.clip_file import ClipFile
from ..clips.keyed import filled, key_times, keys_of
from ..errors import TaktError, some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.hierarchy import path_to_root
from ..skeletons.maps import SkeletonMap, find_map
from ..skeletons.skeleton import Skeleton, world_from_pose
from .gltf_data import packed
from .vrm import BONES, REQUIRED, TRUNK

MAX_VALUES: Final = 20_000_000
"""Keys × joints; no more are written."""
_AT_ONCE: Final = 256
"""Number of frames that are computed at once."""
_LEVEL: Final = 0.995
"""Cosine from which an arm counts as level: T-poses by hand are off by a few degrees."""
_ARMS: Final = tuple((f"{side}{bone}", f"{side}{below}", sign) for side, sign in (("left", 1.0), ("right", -1.0))
                     for bone, below in (("UpperArm", "LowerArm"), ("LowerArm", "Hand")))
_STANDS: Final = 0.8, 1.25
"""Range of the hips' height, as a share of their height above the lowest joint, in which a body rests on the ground."""
_FLOAT: Final = 5126
_STILL: Final = 1e-3
"""Share of the skeleton's size; a smaller translation counts as rest."""


def write(file: ClipFile) -> bytes:
    """Write the clip of a file as VRMA: rotations of all known bones, and translations of the hips.

    Raises TaktError if the body lacks bones that every VRM humanoid has, if its map is unsure, or for more than
    MAX_VALUES keys × joints.
    """
    clip = file.played[0]
    found = find_map(clip.skeleton)
    joint_of = bones_of(found)
    missing = [bone for bone in REQUIRED if bone not in joint_of]
    if missing or not found.is_sure or found.turn is None:
        what = f"has no {some_of(missing, 4)}" if missing else "cannot be told for sure from its names and shape"
        raise TaktError(f"VRMA holds the motion of humans; skeleton {clip.skeleton.name!r} {what}: correct its "
                        "skeleton map, or take another character")
    times = filled(key_times(clip.rotations, clip.translations))
    if len(times) * len(clip.skeleton) > MAX_VALUES:
        raise TaktError(f"{len(times)} keys of {len(clip.skeleton)} joints; at most {MAX_VALUES} together are written: "
                        "take fewer frames per second")
    return packed(*_Bones(clip, found.turn, joint_of).document(times))


def left_out(file: ClipFile) -> tuple[str, ...]:
    """Return the joints that the clip of a file moves and that VRMA has no bones for."""
    clip = file.played[0]
    parents, bones = clip.skeleton.parents, bones_of(find_map(clip.skeleton)).values()
    kept = {above for joint in bones for above in path_to_root(parents, joint)}  # their motion is part of the bones'
    return tuple(clip.skeleton.names[joint] for joint in np.flatnonzero(clip.moved).tolist() if joint not in kept)


def unmoved(file: ClipFile) -> tuple[str, ...]:
    """Return the joints below the hips that a clip translates, and that carry bones."""
    clip = file.played[0]
    skeleton, bones = clip.skeleton, bones_of(find_map(clip.skeleton))
    if "hips" not in bones:
        return ()
    above_hips = set(path_to_root(skeleton.parents, bones["hips"]))
    kept = {above for joint in bones.values() for above in path_to_root(skeleton.parents, joint)} - above_hips
    least = _STILL * max(skeleton.size, 1e-9)
    return tuple(skeleton.names[joint] for index, joint in enumerate(clip.translations.joints.tolist())
                 if joint in kept and np.abs(keys_of(clip.translations, index)[1]).max(initial=0.0) > least)


def bones_of(found: SkeletonMap) -> dict[str, int]:
    """Return the joint of each bone of VRM 1 that a skeleton has, parents before children."""
    known = {bone: found.joint_of[name] for bone, name in BONES.items() if name in found.joint_of}
    hips, neck = known.get("hips", -1), known.get("neck", known.get("head", -1))
    if min(hips, neck) >= 0:
        path = path_to_root(found.skeleton.parents, neck)
        trunk = [joint for joint in path[1:path.index(hips)][::-1] if found.meant[joint] is not None
                 ] if hips in path else []
        count = min(len(trunk), len(TRUNK))
        known |= {TRUNK[number]: trunk[number * len(trunk) // count] for number in range(count)}
    return dict(sorted(known.items(), key=lambda item: item[1]))


class _Bones:
    """The bones of one clip's skeleton. turn: (4,) from H-Anim's axes to the skeleton's."""

    def __init__(self, clip: Clip, turn: FloatArray, joint_of: dict[str, int]) -> None:
        self._clip, self._skeleton = clip, clip.skeleton
        self._back = rot.conjugate(turn)
        self._names, self._joints = list(joint_of), np.array(list(joint_of.values()))
        index = {joint: bone for bone, joint in enumerate(self._joints.tolist())}
        self._parents = [next((index[above] for above in path_to_root(self._skeleton.parents, joint)[1:]
                               if above in index), -1) for joint in self._joints.tolist()]
        self._rest_turns = t_pose(self._skeleton, turn, joint_of)

    def document(self, times: FloatArray) -> tuple[dict[str, Any], bytes]:
        """Return the JSON and the binary data."""
        turns, hips = self._sampled(times)
        rest = self._skeleton.in_pose(self._rest_turns).rest_world[self._joints, :, 3]
        places = rot.rotate(self._back, rest)
        places[:, 1] += self._lift(places[self._names.index("hips"), 1])
        nodes = [{"name": name, "translation": (places[bone] - (places[above] if above >= 0 else 0.0)).tolist(),
                  **({"children": below} if (below := self._children(bone)) else {})}
                 for bone, (name, above) in enumerate(zip(self._names, self._parents, strict=True))]
        blocks = [np.ascontiguousarray(times, "<f4")]
        blocks += [np.roll(turns[:, bone], -1, axis=1).astype("<f4") for bone in range(len(self._names))]
        blocks += [hips.astype("<f4")]
        channels = [{"sampler": bone, "target": {"node": bone, "path": "rotation"}} for bone in range(len(nodes))]
        channels.append({"sampler": len(nodes), "target": {"node": self._names.index("hips"), "path": "translation"}})
        samplers = [{"input": 0, "output": 1 + number, "interpolation": "LINEAR"} for number in range(len(channels))]
        starts = np.cumsum([0, *(block.nbytes for block in blocks)]).tolist()
        kinds = ["SCALAR", *["VEC4"] * len(nodes), "VEC3"]
        return {
            "asset": {"version": "2.0", "generator": "Takt"},
            "extensionsUsed": ["VRMC_vrm_animation"],
            "extensions": {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": {
                name: {"node": bone} for bone, name in enumerate(self._names)}}}},
            "scene": 0, "scenes": [{"nodes": [bone for bone, above in enumerate(self._parents) if above < 0]}],
            "nodes": nodes,
            "animations": [{"name": self._clip.name, "channels": channels, "samplers": samplers}],
            "accessors": [{"bufferView": number, "componentType": _FLOAT, "count": len(times), "type": kind,
                           **({"min": [float(block.min())], "max": [float(block.max())]} if number == 0 else {})}
                          for number, (kind, block) in enumerate(zip(kinds, blocks, strict=True))],
            "bufferViews": [{"buffer": 0, "byteOffset": start, "byteLength": block.nbytes}
                            for start, block in zip(starts, blocks, strict=False)],
            "buffers": [{"byteLength": starts[-1]}],
        }, b"".join(block.tobytes() for block in blocks)

    def _lift(self, hips_height: float) -> float:
        """Return the height by which the rest pose is raised to stand on the ground, 0 if it stands there already.

        Players scale the translation of the hips by their height at rest, which is 0 in many BVH files.
        """
        ground = float(rot.rotate(self._back, self._skeleton.in_pose(self._rest_turns).rest_world[:, :, 3])[:, 1].min())
        stands = _STANDS[0] <= hips_height / max(hips_height - ground, 1e-9) <= _STANDS[1]
        return 0.0 if stands else -ground

    def _children(self, bone: int) -> list[int]:
        return [child for child, above in enumerate(self._parents) if above == bone]

    def _sampled(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the local rotations of the bones (F, B, 4), and the positions of the hips (F, 3)."""
        turns, hips = np.empty((len(times), len(self._joints), 4)), np.empty((len(times), 3))
        to_rest = rot.conjugate(self._rest_turns[self._joints])
        above = np.array(self._parents)
        for start in range(0, len(times), _AT_ONCE):
            run = slice(start, start + _AT_ONCE)
            pose = self._clip.sample(times[run])
            own = rot.multiply(_turns_from_rest(self._skeleton, pose.rotations)[:, self._joints], to_rest)
            own = rot.multiply(rot.multiply(self._back, own), rot.conjugate(self._back))
            turns[run] = np.where((above >= 0)[:, None], rot.multiply(rot.conjugate(own[:, above]), own), own)
            world = world_from_pose(self._skeleton, pose)
            hips[run] = rot.rotate(self._back, world[:, self._joints[self._names.index("hips")], :, 3])
        return rot.continuous(turns), hips


def _turns_from_rest(skeleton: Skeleton, rotations: FloatArray) -> FloatArray:
    """Return the rotations of joints from rest, (F, J, 4), in model axes; rotations: (F, J, 4) as in a Pose."""
    world = rot.multiply(skeleton.rest_rotations, rotations)
    for level in skeleton.levels[1:]:
        world[:, level] = rot.multiply(world[:, skeleton.parents[level]], world[:, level])
    return rot.multiply(world, rot.conjugate(skeleton.rest_world_rotations))


def t_pose(skeleton: Skeleton, turn: FloatArray, joint_of: dict[str, int]) -> FloatArray:
    """Return the rotations (J, 4) of joints from rest to the pose with level arms, in model axes.

    turn: (4,) from H-Anim's axes to the model's; joint_of: joints by VRM bone. Arms that are level to a few degrees
    stay as they are.
    """
    places, turns = skeleton.rest_world[:, :, 3], rot.identities(len(skeleton))
    own: dict[int, FloatArray] = {}
    for bone, below, sign in _ARMS:
        joint, end = joint_of[bone], joint_of[below]
        way = places[end] - places[joint]
        level = rot.rotate(turn, np.array((sign, 0.0, 0.0)))
        if way @ level < _LEVEL * np.linalg.norm(way):
            own[joint] = rot.shortest_arc(way, level)
        else:
            own[joint] = rot.IDENTITY
    for joint in range(len(skeleton)):
        above = int(skeleton.parents[joint])
        turns[joint] = own[joint] if joint in own else turns[above] if above >= 0 else rot.IDENTITY
    return turns
