"""The state that random steps are compared by: all that is ours, or that ours touches, and what is the user's alone."""

import hashlib
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from takt.bridge import properties

_context: Any = bpy.context
_LOOKED_AT = 500
"""Vertices whose weights are compared, at least."""
_FRAMES_ONLY = {"rna_type", "name", "procedure_index"}
Snapshot = dict[str, str]


def snapshot() -> Snapshot:
    """Return the state by what it belongs to."""
    _context.view_layer.update()
    found = {f"text {text.name_full}": text.as_string() for text in bpy.data.texts}
    found |= {f"action {action.name_full}": _action(action) for action in bpy.data.actions}
    found |= {f"object {ob.name_full}": _object(ob) for ob in bpy.data.objects}
    found |= {f"armature {each.name_full}": repr([bone.name for bone in each.bones]) for each in bpy.data.armatures}
    found |= {f"scene {scene.name}": _scene(scene) for scene in bpy.data.scenes}
    return found


def users_own(state: Snapshot, folder: Path, names: frozenset[str]) -> Snapshot:
    """Return what nobody has asked us to change: objects, Texts and Actions by their names, and files of a folder."""
    found = {each: value for each, value in state.items() if each.partition(" ")[2] in names}
    return found | {f"file {path.name}": hashlib.blake2b(path.read_bytes()).hexdigest()
                    for path in sorted(folder.iterdir()) if path.name in names}


def differences(what: str, wanted: Snapshot, found: Snapshot) -> list[str]:
    """Return the first two differences, in words."""
    different = [name for name in sorted(wanted.keys() | found.keys()) if wanted.get(name) != found.get(name)]
    return [f"{what}: {name}: {_around(wanted.get(name, '-'), found.get(name, '-'))}" for name in different][:2]


def _around(one: str, other: str) -> str:
    """Return two texts from a little before the first difference on."""
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, same - 60):same + 200]} | {other[max(0, same - 60):same + 200]}"


def _action(action: Any) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for curve in (curve for layer in action.layers for strip in layer.strips
                  for bag in strip.channelbags for curve in bag.fcurves):
        keys = np.zeros(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        digest.update(repr((curve.data_path, curve.array_index, curve.mute, keys.tolist())).encode())
    return repr((digest.hexdigest(), action.use_fake_user, action.asset_data is not None,
                 [getattr(action, name) for name in (properties.MADE_FROM, properties.KEYS_WRITTEN, properties.TIES,
                                                     properties.OF_SCORE, properties.MUTED)]))


def _object(ob: Any) -> str:
    state: list[Any] = [tuple(ob.location), ob.parent and ob.parent.name_full,
                        [(modifier.name, modifier.type) for modifier in ob.modifiers],
                        sorted(each.name_full for each in ob.users_collection)]
    if ob.animation_data is not None:
        animation = ob.animation_data
        state += [animation.action and animation.action.name_full, animation.action_blend_type,
                  [(track.name, track.mute, [(strip.action and strip.action.name_full, strip.frame_start,
                                              strip.frame_end, strip.blend_type) for strip in track.strips])
                   for track in animation.nla_tracks]]
    if ob.type == "MESH":
        state += [[group.name for group in ob.vertex_groups], len(ob.data.vertices), ob.data.name_full, _weights(ob)]
    if ob.type == "ARMATURE":
        state += [_values(properties.character(ob)), ob.data.name_full]
        state += [(bone.name, bone.rotation_mode, [(each.name, each.mute) for each in bone.constraints])
                  for bone in ob.pose.bones]
    return repr(state)


def _weights(ob: Any) -> str:
    vertices = ob.data.vertices
    found = [[(each.group, each.weight) for each in vertex.groups]
             for vertex in map(vertices.__getitem__, range(0, len(vertices), max(1, len(vertices) // _LOOKED_AT)))]
    return hashlib.blake2b(repr(found).encode(), digest_size=8).hexdigest()


def _scene(scene: Any) -> str:
    strips = () if scene.sequence_editor is None else (
        scene.sequence_editor.strips if bpy.app.version >= (4, 4) else scene.sequence_editor.sequences)
    return repr([scene.frame_start, scene.frame_end, sorted((marker.name, marker.frame) for marker in
                                                            scene.timeline_markers),
                 sorted((strip.name, strip.type) for strip in strips)])


def _values(group: Any) -> list[Any]:
    """Return all that a property group holds, with the names of what it points to."""
    found = list[Any]()
    for each in group.bl_rna.properties:
        if each.identifier in _FRAMES_ONLY:
            continue
        value = getattr(group, each.identifier)
        if each.type == "COLLECTION":
            found.append([each.identifier, *([item.name, *_values(item)] for item in value)])
        elif each.type == "POINTER":
            found.append((each.identifier, value and value.name_full))
        else:
            found.append((each.identifier, tuple(value) if getattr(each, "is_array", False) else value))
    return found
