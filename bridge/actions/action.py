"""Write a motion as an Action: keys of every bone that moves, with linear interpolation."""

from collections.abc import Collection, Generator, Iterator, Sequence
from typing import Any, Final, Literal, cast

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import some_of
from ...core.maths.arrays import BoolArray, Float32Array, FloatArray
from .. import changes, properties, versions
from ..rigs.armature import bone_property
from ..steps import finished
from .action_users import is_used_elsewhere, object_slot
from .below_own_actions import Below, has_own_action, plays_below, plays_below_tweaks
from .channels import Channels
from .curves import bags, rotation_channel
from .curves_digest import Written, digest_of_all_keys, digest_of_curves
from .keys import bone_path, write_keys
from .other_curves import OF_TAKT, words_of

_FRAMES_AT_ONCE = 256
_Repeat = Literal["REPEAT", "REPEAT_OFFSET"]


def write_action(armature_object: bpy.types.Object, name: str, channels: Channels,
                 played: Collection[str] = ()) -> bpy.types.Action:
    """Write the keys into Takt's own Action of the armature, and assign it.

    An earlier Action that Takt made of the score is written again, unless other objects use it, or its curves were
    edited by hand. Curves that the user has added to it, such as those of a face, stay. An Action that Takt did not
    make stays assigned: Takt's Action then plays below it, in a strip of the NLA. played: names of Actions that the
    score itself may play, which are never overwritten.
    """
    return finished(writing(armature_object, name, channels, played, is_aside=False))


def writing(armature_object: bpy.types.Object, name: str, channels: Channels, played: Collection[str] = (), *,
            is_aside: bool, is_new_score: bool = False) -> Generator[float, None, bpy.types.Action]:
    """Write as write_action does, the keys of a bone at each step, and yield the share of work done.

    is_aside: nothing changes for the user until the last step. The keys go into an unused Action, which then replaces
    the one that would have been written again. If the generator is closed before, that Action is removed.
    is_new_score: also an Action that Takt did not make is unassigned; it is kept in the file. Tweaks stay, above the
    new Action.
    """
    is_new_score = is_new_score and not plays_below_tweaks(armature_object)
    note_clashes(armature_object, channels)
    if not is_aside:
        _without_tweak_mode(armature_object)
    below = Below.of(armature_object, properties.character(armature_object).action)
    own = _refilled(armature_object, name, played, may_lie_in_strips=not is_new_score and _lies_below(armature_object))
    action = own if own is not None and not is_aside else _beside(own, name)
    try:
        written, before = yield from _fill(armature_object, action, channels)
    except GeneratorExit:
        if action != own:
            bpy.data.actions.remove(action)
        raise
    if is_aside:
        _without_tweak_mode(armature_object)
        below = Below.of(armature_object, properties.character(armature_object).action)
    if own is not None and own != action:
        own_name, action.use_fake_user = own.name, own.use_fake_user
        own.user_remap(action)
        bpy.data.actions.remove(own)
        action.name = own_name
    _without_tweak_mode(armature_object)
    is_below = not is_new_score and _lies_below(armature_object)
    if is_below:
        below.play(armature_object, action, _end_of_strip(channels))
    _keep_for_score(armature_object, name, action, channels, written)
    _reset(armature_object, before - channels.bones)
    if not is_below:
        _let_play(armature_object, action, _slot(action, armature_object))
    changes.score()  # other characters may aim at this one
    return action


def _lies_below(armature_object: bpy.types.Object) -> bool:
    """Return whether the score's Action must lie, or lies already, below an Action of the animator."""
    return has_own_action(armature_object) or plays_below(armature_object)


def _end_of_strip(channels: Channels) -> float:
    """Return the end of the strip that plays an Action: for a loop the scene's end, since its curves repeat."""
    end, scene = float(channels.frames[-1]), bpy.context.scene
    return max(end, float(scene.frame_end)) if channels.is_loop and scene is not None else end


def _beside(own: bpy.types.Action | None, name: str) -> bpy.types.Action:
    """Return a new, unused Action: a copy of another one if there is one, with its curves."""
    copy: Any = bpy.data.actions.new(name) if own is None else own.copy()
    action: bpy.types.Action = copy
    return action


def _refilled(armature_object: bpy.types.Object, name: str, played: Collection[str], *,
              may_lie_in_strips: bool) -> bpy.types.Action | None:
    """Return the existing Action to write for a score of this name, or None if it gets a new one."""
    own = _own_action(armature_object)
    if (own is None or own.name in played or getattr(own, properties.OF_SCORE) not in ("", name)
            or is_used_elsewhere(own, armature_object, may_lie_in_strips=may_lie_in_strips)
            or is_edited_by_hand(armature_object)):
        return None
    return own


def _fill(armature_object: bpy.types.Object, action: bpy.types.Action,
          channels: Channels) -> "Generator[float, None, tuple[Written, set[str]]]":
    """Replace the keys of the score in an Action; yield the share of work done, and return the bones keyed before."""
    bag = versions.ensure_channelbag(action, _slot(action, armature_object))
    before = _written_paths(armature_object, bag)
    _clear(bag, _paths(channels) | before, is_known=bool(properties.character(armature_object).written))
    written: Written = {}
    bones = sum(len(names) for _, names, _, _ in channels.curves)
    count = 0
    for channel, names, values, is_key in channels.curves:
        repeat: _Repeat | None = None
        if channels.is_loop and not channels.has_turning_laps:
            repeat = "REPEAT_OFFSET" if channel == "location" else "REPEAT"
        for keys in _write_keys(bag, channel, names, channels.frames, values, is_key, repeat):
            written |= keys
            count += 1
            yield count / bones
    return written, set(_by_bone(before))


def _keep_for_score(armature_object: bpy.types.Object, name: str, action: bpy.types.Action, channels: Channels,
                    written: "Written") -> None:
    """Make a written Action the armature's own for its score; keep its previous Action in the file."""
    animation, own = armature_object.animation_data, _own_action(armature_object)
    assert animation is not None
    setattr(action, properties.OF_SCORE, name)
    before, character = animation.action, properties.character(armature_object)
    for left in (before, own):
        # An Action without a user would be lost on saving.
        if left is not None and left != action and left.users <= (left == before) + (left == character.action):
            keep_in_file(left)
    paths, slot = _paths(channels), _slot(action, armature_object)
    _prepare_bones(armature_object, channels)
    character.action, character.written = action, "\n".join(sorted(paths))
    setattr(action, properties.KEYS_WRITTEN, digest_of_curves(versions.ensure_channelbag(action, slot), paths, written))


def _slot(action: bpy.types.Action, armature_object: bpy.types.Object) -> bpy.types.ActionSlot:
    return object_slot(action) or action.slots.new(id_type="OBJECT", name=armature_object.name)


def _paths(channels: Channels) -> set[str]:
    return {bone_path(name, channel) for channel, names, _, _ in channels.curves for name in names}


EDITED_BY_HAND: Final = ("Curves of this Action were edited by hand, so it no longer follows the score")
_NAMES_SHOWN: Final = 4


def told_of_own_keys(names: Sequence[str]) -> str:
    """Return a message about what own_keys returns, "" if that is nothing."""
    return (f"Keys of {some_of(names, _NAMES_SHOWN)} stay at their frames: the score does not move them" if names
            else "")


def is_edited_by_hand(armature_object: bpy.types.Object) -> bool:
    """Return whether the curves of an armature's Action differ from those that Takt wrote.

    Keys, modifiers and settings such as Mute are compared. Curves that the user has added, as for a face, are ignored
    and kept, unless they take the place of written ones: those of a bone's new rotation mode, and see note_clashes.
    New names of bones are ignored too.
    """
    own = _own_action(armature_object)
    digest = "" if own is None else getattr(own, properties.KEYS_WRITTEN)
    if own is None or not digest:
        return False
    bag = _own_bag(own)
    if bag is None:
        return True
    written = _written_paths(armature_object, bag)
    return (digest_of_curves(bag, written, like=digest) != digest
            or not _turned_otherwise(armature_object, written).isdisjoint(_added(bag, written)))


def own_keys(armature_object: bpy.types.Object) -> list[str]:
    """Return what the user has keyed in the score's Action besides the score; these keys stay at their frames."""
    own = _own_action(armature_object)
    bag = None if own is None else _own_bag(own)
    if bag is None or not properties.character(armature_object).written:
        return []
    added = _added(bag, _written_paths(armature_object, bag))
    return words_of(curve.data_path for curve in bag.fcurves
                    if curve.data_path in added and not curve.data_path.startswith(OF_TAKT))


def note_clashes(armature_object: bpy.types.Object, channels: Channels) -> None:
    """Let the score's Action count as edited by hand if the user has added curves that the score needs now.

    Writing the score would replace them, as when a new clip moves a bone that the user has keyed.
    """
    own, character = _own_action(armature_object), properties.character(armature_object)
    bag = None if own is None else _own_bag(own)
    if bag is None or not character.written:
        return
    written = _written_paths(armature_object, bag)
    if clashes := _paths(channels) & _added(bag, written):
        # The digest of the Action's curves then differs from that of the curves that were written.
        character.written = "\n".join(sorted(written | clashes))


def _own_bag(own: bpy.types.Action) -> bpy.types.ActionChannelbag | None:
    """Return the curves of the armature that Takt's Action moves."""
    slot = object_slot(own)
    return next((bag for bag in bags(own) if slot is not None and bag.slot_handle == slot.handle), None)


def _added(bag: bpy.types.ActionChannelbag, written: Collection[str]) -> set[str]:
    """Return the paths of the curves that Takt did not write."""
    return {curve.data_path for curve in bag.fcurves if curve.data_path not in written}


def _turned_otherwise(armature_object: bpy.types.Object, written: Collection[str]) -> set[str]:
    """Return the rotations, as paths, of the bones whose rotation mode has changed since they were written."""
    assert armature_object.pose is not None
    turned = {name for name, own in _by_bone(written).items() if any(each.startswith("rotation") for each in own)}
    return {bone_path(bone.name, rotation_channel(str(bone.rotation_mode)))
            for bone in armature_object.pose.bones if bone.name in turned} - set(written)


def _written_paths(armature_object: bpy.types.Object, bag: bpy.types.ActionChannelbag) -> set[str]:
    """Return the current paths of the curves that Takt wrote into an Action.

    Blender renames the curves of a bone with it. So if a bone and all of its curves are gone, a bone with the same
    curves is taken as the renamed one, if Takt wrote none of these.
    """
    written = set(properties.character(armature_object).written.splitlines())
    there = {curve.data_path for curve in bag.fcurves}
    if written <= there:
        return written
    bones = cast(bpy.types.Armature, armature_object.data).bones
    gone, new = _by_bone(written - there), _by_bone(there - written)
    kept = _by_bone(written & there)
    for name, channels in gone.items():
        if name not in bones and name not in kept:
            other = next((other for other, own in new.items() if own.keys() == channels.keys() and other in bones
                          and other not in kept), None)
            if other is not None:
                written = written - set(channels.values()) | set(new.pop(other).values())
    return written


def _by_bone(paths: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the paths of curves by bone, and by channel."""
    found: dict[str, dict[str, str]] = {}
    for path in paths:
        if (moved := bone_property(path)) is not None:
            found.setdefault(moved[0], {})[moved[1]] = path
    return found


def write_new_action(armature_object: bpy.types.Object, name: str, channels: Channels,
                     instead: bpy.types.Action | None = None) -> bpy.types.Action:
    """Write the keys into a new Action, which is kept in the file even if nothing plays it; see assign.

    instead: an Action with one slot, whose contents are replaced.
    """
    action = bpy.data.actions.new(name) if instead is None else instead
    action.use_fake_user = True
    slot = action.slots.new(id_type="OBJECT", name=armature_object.name) if instead is None else instead.slots[0]
    bag = versions.ensure_channelbag(action, slot)
    _clear(bag, {curve.data_path for curve in bag.fcurves}, is_known=True)
    written: Written = {}
    for channel, names, values, is_key in channels.curves:
        for keys in _write_keys(bag, channel, names, channels.frames, values, is_key, None):
            written |= keys
    setattr(action, properties.KEYS_WRITTEN, digest_of_all_keys(action, written))
    return action


def assign(armature_object: bpy.types.Object, action: bpy.types.Action, channels: Channels) -> None:
    """Assign a new or rewritten Action to an armature; the previous one is kept in the file."""
    animation = _without_tweak_mode(armature_object)
    if animation.action is not None:
        keep_in_file(animation.action)
        animation.action = None
    _prepare_bones(armature_object, channels)
    _let_play(armature_object, action, action.slots[0])


def _without_tweak_mode(armature_object: bpy.types.Object) -> bpy.types.AnimData:
    """Return an armature's animation data after leaving the NLA's tweak mode, in which no Action can be assigned."""
    animation = armature_object.animation_data or armature_object.animation_data_create()
    assert animation is not None
    if animation.use_tweak_mode:
        animation.use_tweak_mode = False
    return animation


def _let_play(armature_object: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> None:
    """Assign an Action; a new one is made visible: unmixed, at full influence, and the armature in pose position."""
    animation, armature = armature_object.animation_data, armature_object.data
    assert animation is not None and isinstance(armature, bpy.types.Armature)
    if animation.action != action:
        _rest(armature_object, animation.action)
        animation.action_blend_type, animation.action_influence = "REPLACE", 1.0
        for track in animation.nla_tracks:
            if track.is_solo:
                track.is_solo = False
        if armature.pose_position == "REST":
            armature.pose_position = "POSE"
    animation.action = action
    animation.action_slot = slot


def keep_in_file(action: bpy.types.Action) -> None:
    """Keep an Action in the file even without users; a linked one is kept by its own file, and undo misses it."""
    if action.is_editable:
        action.use_fake_user = True


def has_something_to_play(armature_object: bpy.types.Object) -> bool:
    """Return whether an armature has an Action, strips in the NLA or a score, even one without an Action yet."""
    animation = armature_object.animation_data
    return properties.character(armature_object).text is not None or (animation is not None and (
        animation.action is not None or any(len(track.strips) for track in animation.nla_tracks)))


def put_copy_in_place(armature_object: bpy.types.Object) -> None:
    """Let the score be written into a copy of its Action, which has the curves that the user added; see write_action.

    The Action itself stays as it is, and is kept in the file.
    """
    character = properties.character(armature_object)
    if character.action is not None:
        keep_in_file(character.action)
        copy: Any = character.action.copy()
        setattr(copy, properties.KEYS_WRITTEN, "")
        character.action, character.written = copy, ""


def put_aside(armature_object: bpy.types.Object) -> None:
    """Unassign the armature's Action, so that a score can assign one; the Action is kept in the file."""
    animation, character = _without_tweak_mode(armature_object), properties.character(armature_object)
    for left in (animation.action, character.action):
        if left is not None:
            keep_in_file(left)
    _rest(armature_object, animation.action)
    animation.action = None
    character.action, character.written = None, ""


def _rest(armature_object: bpy.types.Object, left: bpy.types.Action | None) -> None:
    """Reset the bones that an unassigned Action has posed; otherwise they would keep that pose."""
    _reset(armature_object, {found[0] for bag in bags(left) for curve in bag.fcurves
                             if (found := bone_property(curve.data_path)) is not None} if left is not None else set())


def _reset(armature_object: bpy.types.Object, names: Collection[str]) -> None:
    """Put bones that are no longer posed back to rest."""
    assert armature_object.pose is not None
    for bone in armature_object.pose.bones:
        if bone.name in names:
            bone.matrix_basis = Matrix()


def _clear(bag: bpy.types.ActionChannelbag, paths: Collection[str], *, is_known: bool) -> None:
    """Remove the curves of these paths; if it is unknown what was written before, all that transform bones."""
    old = []
    for curve in bag.fcurves:
        found = None if is_known else bone_property(curve.data_path)
        if curve.data_path in paths or (found is not None and found[1].startswith(("location", "rotation", "scale"))):
            old.append(curve)
    if len(old) == len(bag.fcurves):
        bag.fcurves.clear()  # much faster than one by one
    else:
        for curve in old:
            bag.fcurves.remove(curve)
    for group in [group for group in bag.groups if not len(group.channels)]:
        bag.groups.remove(group)


def _own_action(armature_object: bpy.types.Object) -> bpy.types.Action | None:
    """Return the Action that Takt made for this armature; None if it belongs to the original of this copy."""
    action = properties.character(armature_object).action
    if action is None or not action.is_editable:
        return None
    others = (ob for ob in bpy.data.objects if ob != armature_object and ob.type == "ARMATURE")
    return None if any(properties.character(ob).action == action for ob in others) else action


def _write_keys(bag: bpy.types.ActionChannelbag, channel: str, names: tuple[str, ...], frames: FloatArray,
                values: FloatArray, is_key: BoolArray, repeat: _Repeat | None) -> Iterator[Written]:
    """Write values (F, B, C) as curves of bones; yield the keys of each bone."""
    columns = _columns(values)
    for bone, name in enumerate(names):
        is_dense = bool(is_key[:, bone].all())
        rows = slice(None) if is_dense else np.flatnonzero(is_key[:, bone])
        path, written = bone_path(name, channel), Written()
        for index, (curve, keys) in enumerate(
                write_keys(bag, name, channel, frames[rows], columns[bone][:, rows].T, is_dense=is_dense)):
            written[path, index] = keys
            if repeat is not None:
                cycles: Any = curve.modifiers.new("CYCLES")
                cycles.mode_before = cycles.mode_after = repeat
        yield written


def _columns(values: FloatArray) -> Float32Array:
    """Return values (F, B, C) as (B, C, F): each curve contiguous, in the precision of Blender's keys.

    Transposed in blocks of frames that fit the processor's cache.
    """
    out = np.empty((*values.shape[1:], len(values)), dtype=np.float32)
    for start in range(0, len(values), _FRAMES_AT_ONCE):
        run = slice(start, start + _FRAMES_AT_ONCE)
        out[:, :, run] = np.moveaxis(values[run], 0, -1)
    return out


def switch_to_quaternions(bone: bpy.types.PoseBone, character: properties.TaktCharacter) -> None:
    """Set a bone's rotation mode to quaternions, and store the mode in which its own Actions are keyed."""
    if bone.rotation_mode != "QUATERNION":
        entry = character.switched.get(bone.name) or character.switched.add()
        entry.name, entry.mode = bone.name, bone.rotation_mode
        bone.rotation_mode = "QUATERNION"


def _prepare_bones(armature_object: bpy.types.Object, channels: Channels) -> None:
    """Make the bones use the keyed properties, and reset those that no curve moves."""
    assert armature_object.pose is not None
    named: dict[str, set[str]] = {"location": set(), "scale": set()}
    for channel, names, _, _ in channels.curves:
        named.setdefault(channel, set()).update(names)
    for channel, names, _, _ in channels.curves:
        for name in names if channel.startswith("rot") else ():
            bone = armature_object.pose.bones[name]
            if channel == "rotation_quaternion":
                switch_to_quaternions(bone, properties.character(armature_object))
            if name not in named["location"]:
                bone.location = (0.0, 0.0, 0.0)
            if name not in named["scale"]:
                bone.scale = (1.0, 1.0, 1.0)
