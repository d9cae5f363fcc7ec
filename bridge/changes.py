"""Numbers that grow with every change, by which caches of Blender's data are validated.

Code that changes something, or is notified by Blender of a change, calls a function here. A cache stores the number at
which its result was made, and computes it again when the number has grown. There is no other mark of outdated
results, so none can be forgotten.

Most changes come from Blender, see `hearing`: each evaluation of a depsgraph, undo, and loading of files. Blender sends
no notification of typed text, and of a script's changes only when these are evaluated, as before each operator.
"""

from collections.abc import Iterable
from itertools import count

_next = count(1)
_last_of_all = _last_score = _last_scene = _last_edit = 0
_last_data: dict[int, int] = {}
_last_action: dict[int, int] = {}
_watched: set[int] = set()
"""The session_uids of objects whose evaluated shape is in use."""


def score(_settings: object = None, _context: object = None) -> None:
    """Note a change of anything that a motion depends on: a setting, a text, a map, a constraint."""
    global _last_score
    _last_score = next(_next)


def scene() -> None:
    """Note that objects were added, removed or evaluated, so that other ones may have to be drawn."""
    global _last_scene
    _last_scene = next(_next)


def data(uid: int) -> None:
    """Note an edit of a mesh (with its weights and groups), an armature or a material, by its session_uid.

    This also notes a watched object whose shape after modifiers has changed.
    """
    global _last_edit
    _last_data[uid] = _last_edit = next(_next)


def action(uid: int) -> None:
    """Note a change of an Action, by its session_uid."""
    _last_action[uid] = next(_next)


def watch(uid: int) -> None:
    """Watch an object for changes of its shape after modifiers."""
    _watched.add(uid)


def watched() -> set[int]:
    """Return the session_uids of objects whose shape is watched."""
    return _watched


def everything() -> None:
    """Note that anything may have changed, as after undo, which notifies no property."""
    global _last_of_all
    _last_of_all = next(_next)
    _last_data.clear()
    _last_action.clear()


def of_scores() -> int:
    """Return a number that grows with changes of anything that a motion depends on."""
    return max(_last_of_all, _last_score)


def of_scenes() -> int:
    """Return a number that grows with changes of the objects to draw in any scene."""
    return max(_last_of_all, _last_scene)


def of_all_data() -> int:
    """Return a number that grows when any mesh, armature or material changes."""
    return max(_last_of_all, _last_edit)


def of_data(uids: Iterable[int]) -> int:
    """Return a number that grows when any of these meshes, armatures and materials changes."""
    return max((_last_data.get(uid, 0) for uid in uids), default=0) or _last_of_all


def of_action(uid: int) -> int:
    """Return a number that grows when this Action changes."""
    return _last_action.get(uid, 0) or _last_of_all
