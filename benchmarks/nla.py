"""Clips one after another in Blender's NLA, as the peer that ways over a seam are compared with."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from takt.bridge import versions
from takt.bridge.actions import keys
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.skeletons.skeleton import Pose

FPS = 30
FIRST = 1000
"""A frame late enough that strips which are made longer begin after 0."""
KINDS = {"blend-in": "NLA, blend-in", "auto-blend": "NLA, auto-blend"}


class NlaRow:
    """The segments of a motion that has no transitions as strips, each led over into the next by the NLA alone.

    The clips stand on the ground where Takt puts them, which by hand would take long; each strip holds its last pose.
    blend-in: one above the other, each blended in over transitions_s (S,). auto-blend: on two tracks in turn, each
    made longer by half a transition at both sides, since only strips that overlap are blended.
    Channels are written as core has them, whatever the bones' rest: the NLA mixes channel by channel.
    """

    def __init__(self, cut: Motion, transitions_s: FloatArray, kind: str) -> None:
        self._skeleton = cut.skeleton
        self._rig = _rig(len(cut.skeleton))
        animation: Any = self._rig.animation_data_create()
        is_auto, layout = kind == "auto-blend", cut.layout
        count = 2 if is_auto else len(layout.begin_s)
        tracks = [animation.nla_tracks.new() for _ in range(count)]
        longer = transitions_s / 2.0 if is_auto else np.zeros(len(transitions_s))
        for i, (begin, end) in enumerate(zip(layout.begin_s.tolist(), layout.end_s.tolist(), strict=True)):
            action = _action(cut, begin, end, f"segment {i}")
            start, stop = begin - (longer[i - 1] if i else 0.0), end + longer[i]
            strip = tracks[i % count].strips.new(action.name, FIRST + round(end * FPS) + 10_000 * i, action)
            strip.action_slot = action.slots[0]
            strip.action_frame_start, strip.action_frame_end = 0.0, (end - begin) * FPS
            strip.scale = (stop - start) / (end - begin)
            strip.frame_start_raw, strip.frame_end_raw = FIRST + start * FPS, FIRST + stop * FPS
            strip.extrapolation, strip.blend_type, strip.use_auto_blend = "HOLD_FORWARD", "REPLACE", is_auto
            if not is_auto and i:
                strip.blend_in = transitions_s[i - 1] * FPS
        self.strips = [strip for track in tracks for strip in track.strips]

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …) that Blender makes at times (F,)."""
        pose, scene = Pose.rest(self._skeleton, len(times_s)), bpy.context.scene
        bones: Any = self._rig.pose.bones  # type: ignore[union-attr]  # an armature has a pose
        assert scene is not None
        for i, frame in enumerate((FIRST + times_s * FPS).tolist()):
            scene.frame_set(int(frame), subframe=frame % 1.0)
            for name, values in (("rotation_quaternion", pose.rotations), ("location", pose.translations)):
                flat = np.empty(values[i].size, dtype=np.float32)
                bones.foreach_get(name, flat)
                values[i] = flat.reshape(values[i].shape)
        return Pose(rot.normalized(pose.rotations), pose.translations, pose.scales)

    def remove(self) -> None:
        """Take all of it out of the file."""
        actions = [strip.action for strip in self.strips]
        bpy.data.objects.remove(self._rig)
        for action in actions:
            bpy.data.actions.remove(action)


def _action(cut: Motion, begin_s: float, end_s: float, name: str) -> bpy.types.Action:
    """Write what plays from one instant to another, a key at each frame from 0 on."""
    times = np.linspace(begin_s, end_s - 1e-6, round((end_s - begin_s) * FPS) + 1)
    pose = cut.sample(times)
    frames, turns = (times - begin_s) * FPS, rot.continuous(pose.rotations)
    action = bpy.data.actions.new(name)
    bag = versions.ensure_channelbag(action, action.slots.new(id_type="OBJECT", name="rig"))
    for joint in range(len(cut.skeleton)):
        keys.write_keys(bag, f"b{joint}", "rotation_quaternion", frames, turns[:, joint])
        if np.ptp(pose.translations[:, joint], axis=0).any() or pose.translations[0, joint].any():
            keys.write_keys(bag, f"b{joint}", "location", frames, pose.translations[:, joint])
    return action


def _rig(joints: int) -> bpy.types.Object:
    """Make an armature of bones side by side."""
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    assert bpy.context.collection is not None and bpy.context.view_layer is not None
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for joint in range(joints):
        bone = rig.data.edit_bones.new(f"b{joint}")  # type: ignore[union-attr]  # an armature's data
        bone.head, bone.tail = (float(joint), 0.0, 0.0), (float(joint), 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig
