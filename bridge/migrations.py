"""Migrations of settings that other versions of Takt have saved.

Each armature with a score stores the version of its settings. Older settings are changed in place when a file is
opened, and when data are linked or appended; linked data stay unchanged in their own file. Settings of a newer Takt
are left alone, and cannot be rebuilt before Takt is updated.

To change a saved setting, such as its name or default: add a function at the end of `STEPS`, and raise
`properties.VERSION`.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import bpy
from bpy.app import handlers

from ..core.skeletons import hanim
from . import properties, versions
from .guard import guarded

Step = Callable[[properties.TaktCharacter, Mapping[str, Any]], None]
"""Changes the settings; reads the file's data by names that may no longer exist, with numbers for choices."""

_log = logging.getLogger(__name__)

_ORDER_BEFORE_1: Final = {
    "method": ("LEAD", "END", "BOTH", "INSERT", "INSERT_BOTH", "APPEND"),
    "curve": ("COSINE", "SMOOTHER", "LINEAR", "CIRCULAR", "CUBIC"),
    "interpolation": ("SLERP", "LERP", "SQUAD"),
    "translation": ("LINEAR", "SPLINE"),
    "pace": ("EVEN", "EASED", "ACCELERATING", "DECELERATING"),
    "joint_time": ("SHARED", "EARLY", "MIDDLE", "LATE"),
    "speed": ("PATHS", "SPEEDS"),
    "root_motion": ("CONTINUE", "AS_AUTHORED", "IN_PLACE"),
    "load_format": ("ANY", ".skeleton", ".skeleton.xml", ".bvh", ".glb", ".gltf", ".fbx", ".blend", ".raa"),
    "bvh_up": ("AUTO", "X", "Y", "Z", "-X", "-Y", "-Z"),
    "bvh_forward": ("AUTO", "X", "Y", "Z", "-X", "-Y", "-Z"),
    "key_mode": ("KEYS", "EVERY_FRAME"),
    "rotations": ("QUATERNION", "AS_RIG"),
}
JOINTS_BEFORE_1: Final = ("NONE", *hanim.PARENTS)


def _number_choices(character: properties.TaktCharacter, saved: Mapping[str, Any]) -> None:
    """Version 1: choices are saved by numbers of their own, before by their index in the list."""
    for name, order in _ORDER_BEFORE_1.items():
        if name in saved and saved[name] < len(order):
            setattr(character, name, order[saved[name]])
    is_checked = character.is_map_checked
    for joint, kept in zip(character.joints, saved.get("joints", ()), strict=True):
        if "meant" in kept and kept["meant"] < len(JOINTS_BEFORE_1):
            certainty = joint.certainty
            joint.meant = JOINTS_BEFORE_1[kept["meant"]]  # setting it counts as the user's choice, which it is not
            joint.certainty = certainty
    character.is_map_checked = is_checked


def _leave_hands(character: properties.TaktCharacter, saved: Mapping[str, Any]) -> None:
    """Version 2: contacts are kept by default, as in Play Clip; existing characters stay unchanged."""
    if "keep_contacts" not in saved:
        character.keep_contacts = False


STEPS: Final[tuple[Step, ...]] = (_number_choices, _leave_hands)
"""The first takes version 0 to 1, and so on."""


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
@guarded(None)
def bring_up_to_date(*_: object) -> None:
    """Migrate the settings of all armatures in the open file."""
    for ob in bpy.data.objects:
        saved = versions.saved_settings(ob, properties.NAME)
        if saved is not None and ob.type == "ARMATURE":
            _migrate(properties.character(ob), saved, ob.name)


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
@guarded(None)
def let_overrides_be_saved(*_: object) -> None:
    """Set a value on linked objects that have overrides; otherwise Blender 5 loses the overrides' settings.

    Blender would record that all settings are replaced at once, which it cannot apply when it opens the file.
    """
    for ob in bpy.data.objects:
        kept: Any = ob.override_library
        if kept is None or kept.reference is None or versions.saved_settings(ob, properties.NAME) is None:
            continue
        character = properties.character(kept.reference)
        character.seed = character.seed  # only in memory: linked data are not written
        for note in [note for note in kept.properties if note.rna_path == properties.NAME]:
            kept.properties.remove(note)


def is_newer(armature_object: bpy.types.Object) -> bool:
    """Return whether a newer Takt has saved an armature's settings."""
    return properties.character(armature_object).version > properties.VERSION


def _migrate(character: properties.TaktCharacter, saved: Mapping[str, Any], name: str) -> None:
    if character.version > properties.VERSION:
        _log.warning("'%s' was saved by a newer Takt: update Takt to play its score", name)
        return
    for step in STEPS[character.version:]:
        step(character, saved)
    character.version = properties.VERSION


_WHEN: Final = (handlers.load_post, handlers.blend_import_post, handlers.save_pre)


def register() -> None:
    """Register the handlers, and migrate the open file as soon as Blender's data are accessible."""
    for when in _WHEN:
        when.append(bring_up_to_date)
    handlers.save_pre.append(let_overrides_be_saved)
    bpy.app.timers.register(bring_up_to_date, first_interval=0.0)


def unregister() -> None:
    """Unregister the handlers."""
    if bpy.app.timers.is_registered(bring_up_to_date):
        bpy.app.timers.unregister(bring_up_to_date)
    handlers.save_pre.remove(let_overrides_be_saved)
    for when in _WHEN:
        when.remove(bring_up_to_date)
