"""Which clip an Action was made of: played again, the same clip fills that Action anew, if nobody has changed it.

An Action that is renamed, edited, marked as an asset or used elsewhere is someone's own by now: then the clip gets
another one.
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
"""Of a name that Blender can still put a number behind."""


def earlier(armature_object: bpy.types.Object, path: Path, clip: str) -> bpy.types.Action | None:
    """Return the Action that was made of a file's clip for an armature before, None: there is none to be filled anew.

    The armature may be playing it.
    """
    made_of = digest(path, clip)
    return next((action for action in bpy.data.actions if getattr(action, properties.OF_CLIP) == made_of
                 and _is_as_made(action, armature_object, clip) and _is_free(action, armature_object)), None)


def mark(action: bpy.types.Action, path: Path, clip: str) -> None:
    """Keep with an Action which clip it was made of; what wrote it has kept how its keys were then."""
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
    """Return by what an Action keeps of which clip of which file it was made."""
    said = f"{path.resolve()}\n{clip}".encode("utf-8", "replace")
    return hashlib.blake2b(said, digest_size=_DIGEST_BYTES).hexdigest()
