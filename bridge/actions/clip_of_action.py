"""The clip from which an Action was made: playing the clip again rewrites the Action, if it was not changed.

An Action that was renamed, edited, marked as an asset or used elsewhere belongs to the user. Then the clip gets
a new one.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import bpy

from .. import properties
from .curves_digest import digest_of_all_keys

_DIGEST_BYTES = 16
_MOST_LETTERS = 59
"""Longest name to which Blender can still add a number."""


def earlier(armature_object: bpy.types.Object, path: Path, clip: str) -> bpy.types.Action | None:
    """Return the Action made earlier from a file's clip for an armature, or None if none can be rewritten.

    The armature may be playing it.
    """
    made_of = digest(path, clip)
    return next((action for action in bpy.data.actions if getattr(action, properties.OF_CLIP) == made_of
                 and _is_as_made(action, armature_object, clip) and _is_free(action, armature_object)), None)


def mark(action: bpy.types.Action, path: Path, clip: str) -> None:
    """Store with an Action the clip from which it was made; its writer stores the digest of its keys."""
    setattr(action, properties.OF_CLIP, digest(path, clip))


def _is_as_made(action: bpy.types.Action, armature_object: bpy.types.Object, clip: str) -> bool:
    is_named = re.sub(r"\.\d{3,}$", "", action.name)[:_MOST_LETTERS] == clip[:_MOST_LETTERS]
    is_own = len(action.slots) == 1 and action.slots[0].name_display == armature_object.name
    is_plain = action.asset_data is None and not action.use_frame_range and not len(action.pose_markers)
    written = str(getattr(action, properties.KEYS_WRITTEN))
    return (action.is_editable and is_named and is_own and is_plain
            and digest_of_all_keys(action, like=written) == written)


def _is_free(action: bpy.types.Action, armature_object: bpy.types.Object) -> bool:
    animation = armature_object.animation_data
    plays = animation is not None and animation.action == action
    return action.users - action.use_fake_user == int(plays)


def digest(path: Path, clip: str) -> str:
    """Return the digest that an Action stores for its file and clip."""
    said = f"{path.resolve()}\n{clip}".encode("utf-8", "replace")
    return hashlib.blake2b(said, digest_size=_DIGEST_BYTES).hexdigest()
