"""A motion written as an Action: keys of every bone that moves, joined by straight lines."""

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import bpy
import numpy as np

from ..core.maths import rotations as rot
from ..core.maths.arrays import BoolArray, Float32Array, FloatArray
from ..core.maths.euler import to_euler, to_turns
from ..core.playing.keying import Channel, Keyed, key_clip, key_every_frame, key_sparsely, resting
from ..core.playing.motion import Motion
from ..core.playing.stage import Playable
from ..core.playing.varied import Varied
from ..core.skeletons.skeleton import Skeleton
from . import properties, versions
from .action_users import is_used_elsewhere, object_slot
from .armature import bone_property
from .below_own_actions import Below, has_own_action, plays_below
from .bone_rules import ORDINARY, BoneRules
from .curves import bags
from .frame_rate import frames_per_second
from .keys import LINEAR, bone_path, write_keys

_STRAIGHT_RAD = np.radians(0.01)
"""A loop whose heading changes by less than this in each lap goes straight on."""
_FRAMES_AT_ONCE = 256
_Repeat = Literal["REPEAT", "REPEAT_OFFSET"]
_Written = dict[tuple[str, int], Float32Array]
"""Keys by their curve's path and index, frame and value in turn, (2 K,), joined by straight lines."""
_NONE_WRITTEN: Final[Mapping[tuple[str, int], Float32Array]] = MappingProxyType({})
_Curves = tuple[str, tuple[str, ...], FloatArray, BoolArray]
"""A property, and of the bones that have it the names, values (F, B, C), and at which frames are keys (F, B)."""


@dataclass(frozen=True, eq=False)
class Channels:
    """What is written: the keys of a motion, in Blender's frames and in the axes of the bones.

    frames: (F,) of the scene, maybe with fractions. Bones that the body hangs on have a key at rest, so that they do
    not stay where another Action left them.
    is_loop: whether the curves repeat. has_turning_laps: whether each lap of the loop starts with another heading,
    which curves cannot repeat.
    """

    frames: FloatArray
    curves: tuple[_Curves, ...]
    is_loop: bool
    has_turning_laps: bool

    @property
    def last_frame(self) -> int:
        """The frame with the last key, or the one after it."""
        return int(np.ceil(self.frames[-1] - 1e-3))


def sample_channels(motion: Motion, fps: float, frame_start: int, keys: str = "EVERY_FRAME",
                    rules: BoneRules = ORDINARY) -> Channels:
    """Sample a motion from frame_start on, in any thread.

    keys: one of properties.KEYS. rules: bones that are not moved by quaternions get a key at every frame, since few
    keys are chosen for quaternions.
    """
    make = key_sparsely if keys == "KEYS" else key_every_frame
    keyed = make(motion, fps, rules.inheritance)
    has_turning_laps = motion.sequence.is_loop and abs(motion.lap_yaw_rad) > _STRAIGHT_RAD
    curves = tuple(_curves(motion.skeleton, keyed, rules))
    return Channels(keyed.frames + frame_start, curves, motion.sequence.is_loop, has_turning_laps)


def sample_varied(motion: Varied, fps: float, frame_start: int, rules: BoneRules = ORDINARY) -> Channels:
    """Sample a score whose values change, at every frame; see sample_channels."""
    keyed = key_clip(motion, fps, rules.inheritance)
    return Channels(keyed.frames + frame_start, tuple(_curves(motion.skeleton, keyed, rules)), False, False)


def clip_channels(clip: Playable, scene: bpy.types.Scene, frame_start: int,
                  rules: BoneRules = ORDINARY) -> Channels:
    """Sample what plays on the armature's skeleton from frame_start on, at every frame; rules: see sample_channels."""
    keyed = key_clip(clip, frames_per_second(scene), rules.inheritance)
    return Channels(keyed.frames + frame_start, tuple(_curves(clip.skeleton, keyed, rules)), False, False)


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
    """Return the translations of those joints alone that are not connected to their parents."""
    free = [index for index, joint in enumerate(moves.joints) if skeleton.names[joint] not in rules.connected]
    if len(free) == len(moves.joints):
        return moves
    return Channel(moves.joints[free], moves.values[:, free], moves.keys[:, free])


def _at_rest(skeleton: Skeleton, keyed: Keyed, modes: Mapping[str, str]) -> "Iterator[_Curves]":
    """Yield curves of one key at rest for what the body hangs on; see keying.resting."""
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
    """Yield the curves of rotations, the bones of one rotation mode together."""
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


def write_action(armature_object: bpy.types.Object, name: str, channels: Channels, played: Collection[str] = (), *,
                 is_new_score: bool = False) -> bpy.types.Action:
    """Write the keys into Takt's own Action of the armature and let that play.

    The Action that Takt made before of the score of that name is filled anew, unless it is used elsewhere by now, or
    its keys were edited by hand; curves that someone has added to it, as of a face, stay. An Action that Takt did not
    make stays assigned, unless the score is new to the armature: Takt's then plays below it, in a strip of the NLA.
    played: names of Actions that the score itself may play, which are never written into.
    """
    animation = _without_tweak_mode(armature_object)
    own, before, character = _own_action(armature_object), animation.action, properties.character(armature_object)
    stays_below = (has_own_action(armature_object) or plays_below(armature_object)) and not is_new_score
    below = Below.of(armature_object, own)
    action = _to_be_filled(armature_object, name, played, may_lie_in_strips=stays_below)
    setattr(action, properties.OF_SCORE, name)
    slot = object_slot(action) or action.slots.new(id_type="OBJECT", name=armature_object.name)
    bag = versions.ensure_channelbag(action, slot)
    paths = {bone_path(name, channel) for channel, names, _, _ in channels.curves for name in names}
    _clear(bag, paths | set(character.written.splitlines()), is_known=bool(character.written))
    written = _write_channels(bag, channels)
    if stays_below:
        below.play(armature_object, action, _end_of_strip(channels))
    for left in (before, own):
        # An Action without a user would be lost on saving.
        if left is not None and left != action and left.users <= (left == before) + (left == character.action):
            left.use_fake_user = True
    _prepare_bones(armature_object, channels)
    if not stays_below:
        _let_play(armature_object, action, slot)
    character.action, character.written = action, "\n".join(sorted(paths))
    setattr(action, properties.KEYS_WRITTEN, _keys_digest(bag, paths, written))
    return action


def _to_be_filled(armature_object: bpy.types.Object, name: str, played: Collection[str], *,
                  may_lie_in_strips: bool) -> bpy.types.Action:
    """Return the Action that Takt made before of the score of that name, or a new one; see write_action."""
    own = _own_action(armature_object)
    is_free = own is not None and own.name not in played and getattr(own, properties.OF_SCORE) in ("", name)
    if (own is None or not is_free or is_edited_by_hand(armature_object)
            or is_used_elsewhere(own, armature_object, may_lie_in_strips=may_lie_in_strips)):
        return bpy.data.actions.new(name)
    return own


def _write_channels(bag: bpy.types.ActionChannelbag, channels: Channels) -> _Written:
    """Write all keys, in a loop as curves that repeat."""
    written: _Written = {}
    for channel, names, values, is_key in channels.curves:
        repeat: _Repeat | None = None
        if channels.is_loop and not channels.has_turning_laps:
            repeat = "REPEAT_OFFSET" if channel == "location" else "REPEAT"
        written |= _write_keys(bag, channel, names, channels.frames, values, is_key, repeat)
    return written


def _end_of_strip(channels: Channels) -> float:
    """Return how far a strip is to play an Action: a loop as far as the scene goes, since its curves repeat."""
    end, scene = float(channels.frames[-1]), bpy.context.scene
    return max(end, float(scene.frame_end)) if channels.is_loop and scene is not None else end


EDITED_BY_HAND: Final = ("Keys in this Action were edited by hand, so it stays as it is, older than the score")


def is_edited_by_hand(armature_object: bpy.types.Object) -> bool:
    """Tell whether the keys of the Action that Takt made for an armature differ from those that Takt wrote.

    Curves that someone has added, as of a face, do not count: they are kept.
    """
    own, paths = _own_action(armature_object), properties.character(armature_object).written.splitlines()
    written = "" if own is None else getattr(own, properties.KEYS_WRITTEN)
    if own is None or not written:
        return False
    slot = object_slot(own)
    bag = next((bag for bag in bags(own) if slot is not None and bag.slot_handle == slot.handle), None)
    return bag is None or _keys_digest(bag, frozenset(paths)) != written


def write_new_action(armature_object: bpy.types.Object, name: str, channels: Channels,
                     instead: bpy.types.Action | None = None) -> bpy.types.Action:
    """Write the keys into a new Action, which is kept in the file also while nothing plays it; see assign.

    instead: an Action with one slot that is filled with them, and with nothing else.
    """
    action = bpy.data.actions.new(name) if instead is None else instead
    action.use_fake_user = True
    slot = action.slots.new(id_type="OBJECT", name=armature_object.name) if instead is None else instead.slots[0]
    bag = versions.ensure_channelbag(action, slot)
    _clear(bag, {curve.data_path for curve in bag.fcurves}, is_known=True)
    written: _Written = {}
    for channel, names, values, is_key in channels.curves:
        written |= _write_keys(bag, channel, names, channels.frames, values, is_key, None)
    setattr(action, properties.KEYS_WRITTEN, digest_of_all_keys(action, written))
    return action


def assign(armature_object: bpy.types.Object, action: bpy.types.Action, channels: Channels) -> None:
    """Let an armature play a new Action, or one that was filled anew; what it played before is kept in the file."""
    animation = _without_tweak_mode(armature_object)
    if animation.action is not None:
        animation.action.use_fake_user = True
        animation.action = None
    _prepare_bones(armature_object, channels)
    _let_play(armature_object, action, action.slots[0])


def _without_tweak_mode(armature_object: bpy.types.Object) -> bpy.types.AnimData:
    """Return an armature's animation, which can be given another Action: not while a strip of the NLA is tweaked."""
    animation = armature_object.animation_data or armature_object.animation_data_create()
    assert animation is not None
    if animation.use_tweak_mode:
        animation.use_tweak_mode = False
    return animation


def _let_play(armature_object: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> None:
    """Assign an Action; a new one is seen as it is: alone, wholly, and on an armature that is not held at rest."""
    animation, armature = armature_object.animation_data, armature_object.data
    assert animation is not None and isinstance(armature, bpy.types.Armature)
    if animation.action != action:
        animation.action_blend_type, animation.action_influence = "REPLACE", 1.0
        for track in animation.nla_tracks:
            if track.is_solo:
                track.is_solo = False
        if armature.pose_position == "REST":
            armature.pose_position = "POSE"
    animation.action = action
    animation.action_slot = slot


def has_something_to_play(armature_object: bpy.types.Object) -> bool:
    """Tell whether an armature plays an Action, strips of the NLA or a score, also one that has no Action yet."""
    animation = armature_object.animation_data
    return properties.character(armature_object).text is not None or (animation is not None and (
        animation.action is not None or any(len(track.strips) for track in animation.nla_tracks)))


def put_aside(armature_object: bpy.types.Object) -> None:
    """Let an armature play no Action, so that a score can give it one; the one that it played is kept in the file."""
    animation, character = _without_tweak_mode(armature_object), properties.character(armature_object)
    for left in (animation.action, character.action):
        if left is not None and left.is_editable:  # linked ones are kept by their own file
            left.use_fake_user = True
    animation.action = None
    character.action, character.written = None, ""


def _clear(bag: bpy.types.ActionChannelbag, paths: Collection[str], *, is_known: bool) -> None:
    """Remove the curves of these paths; if it is not known what was written before, all that transform bones."""
    old = []
    for curve in bag.fcurves:
        found = None if is_known else bone_property(curve.data_path)
        if curve.data_path in paths or (found is not None and found[1].startswith(("location", "rotation", "scale"))):
            old.append(curve)
    if len(old) == len(bag.fcurves):
        bag.fcurves.clear()  # far faster than one by one
    else:
        for curve in old:
            bag.fcurves.remove(curve)
    for group in [group for group in bag.groups if not len(group.channels)]:
        bag.groups.remove(group)


def digest_of_all_keys(action: bpy.types.Action,
                       written: Mapping[tuple[str, int], Float32Array] = _NONE_WRITTEN) -> str:
    """Return a digest of all keys of an Action; written: those that were written just now."""
    return " ".join(_keys_digest(bag, None, written) for bag in bags(action))


def _keys_digest(bag: bpy.types.ActionChannelbag, paths: Collection[str] | None,
                 written: Mapping[tuple[str, int], Float32Array] = _NONE_WRITTEN) -> str:
    """Return a digest of where the keys of the curves of these paths, or of all, lie, and of how they are joined.

    written: keys that were written just now: to ask Blender for them would take as long as writing them did.
    """
    digest = 0
    for curve in bag.fcurves:
        path = curve.data_path
        if paths is not None and path not in paths:
            continue
        pairs = written.get((path, curve.array_index))
        pairs, joined = _read_keys(curve) if pairs is None else (pairs, bytes((LINEAR,)) * (len(pairs) // 2))
        digest = zlib.crc32(joined, zlib.crc32(pairs.tobytes(), digest))
    return f"{digest:08x}"


def _read_keys(curve: bpy.types.FCurve) -> tuple[Float32Array, bytes]:
    """Return a curve's keys, (2 K,), and a byte for each that tells how it is joined to the next."""
    points: Any = curve.keyframe_points
    pairs, joined = np.empty(2 * len(points), dtype=np.float32), np.empty(len(points), dtype=np.uint8)
    points.foreach_get("co", pairs)
    points.foreach_get("interpolation", joined)
    return pairs, joined.tobytes()


def _own_action(armature_object: bpy.types.Object) -> bpy.types.Action | None:
    """Return the Action that Takt made for this armature, None if it belongs to one that this is a copy of."""
    action = properties.character(armature_object).action
    if action is None or not action.is_editable:
        return None
    others = (ob for ob in bpy.data.objects if ob != armature_object and ob.type == "ARMATURE")
    return None if any(properties.character(ob).action == action for ob in others) else action


def _write_keys(bag: bpy.types.ActionChannelbag, channel: str, names: tuple[str, ...], frames: FloatArray,
                values: FloatArray, is_key: BoolArray, repeat: _Repeat | None) -> _Written:
    """Write values (F, B, C) as curves of bones; return the keys of each."""
    columns, written = _columns(values), _Written()
    for bone, name in enumerate(names):
        is_dense = bool(is_key[:, bone].all())
        rows = slice(None) if is_dense else np.flatnonzero(is_key[:, bone])
        path = bone_path(name, channel)
        for index, (curve, keys) in enumerate(
                write_keys(bag, name, channel, frames[rows], columns[bone][:, rows].T, is_dense=is_dense)):
            written[path, index] = keys
            if repeat is not None:
                cycles: Any = curve.modifiers.new("CYCLES")
                cycles.mode_before = cycles.mode_after = repeat
    return written


def _columns(values: FloatArray) -> Float32Array:
    """Return values (F, B, C) as (B, C, F): each curve in one piece, in the precision of Blender's keys.

    Turned in runs of frames that fit the processor's cache.
    """
    out = np.empty((*values.shape[1:], len(values)), dtype=np.float32)
    for start in range(0, len(values), _FRAMES_AT_ONCE):
        run = slice(start, start + _FRAMES_AT_ONCE)
        out[:, :, run] = np.moveaxis(values[run], 0, -1)
    return out


def _switch_to_quaternions(bone: bpy.types.PoseBone, character: properties.TaktCharacter) -> None:
    """Set a bone's rotation mode to quaternions, and remember the mode that its own Actions are keyed in."""
    if bone.rotation_mode != "QUATERNION":
        entry = character.switched.get(bone.name) or character.switched.add()
        entry.name, entry.mode = bone.name, bone.rotation_mode
        bone.rotation_mode = "QUATERNION"


def _prepare_bones(armature_object: bpy.types.Object, channels: Channels) -> None:
    """Let the bones use the properties that are keyed, and reset those that no curve moves."""
    assert armature_object.pose is not None
    named: dict[str, set[str]] = {"location": set(), "scale": set()}
    for channel, names, _, _ in channels.curves:
        named.setdefault(channel, set()).update(names)
    for channel, names, _, _ in channels.curves:
        for name in names if channel.startswith("rot") else ():
            bone = armature_object.pose.bones[name]
            if channel == "rotation_quaternion":
                _switch_to_quaternions(bone, properties.character(armature_object))
            if name not in named["location"]:
                bone.location = (0.0, 0.0, 0.0)
            if name not in named["scale"]:
                bone.scale = (1.0, 1.0, 1.0)
