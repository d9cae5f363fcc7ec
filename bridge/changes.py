"""Numbers that grow with every change: whoever keeps something made from Blender's data sees by them if it is valid.

Whoever changes something, or hears from Blender that something was changed, says so here. Whoever keeps a result keeps
the number of the moment when it was made, and makes it anew as soon as the number has grown. Nothing else is marked as
out of date, so no mark can be forgotten.

Most of it is heard from Blender, see `hearing`: whatever a depsgraph evaluates, undo, and the loading of files. Blender
tells nobody of typed text, and of what a script changes only once that is evaluated, as before each operator.
"""

from collections.abc import Iterable
from itertools import count

_next = count(1)
_last_of_all = _last_score = _last_scene = _last_edit = 0
_last_data: dict[int, int] = {}
_watched: set[int] = set()
"""The session_uids of objects whose evaluated shape somebody has asked for."""


def score(_settings: object = None, _context: object = None) -> None:
    """Anything was changed that a motion depends on: a setting, a text, a map, a constraint."""
    global _last_score
    _last_score = next(_next)


def scene() -> None:
    """Objects have come or gone, or have been evaluated anew: which of them are to be drawn may be others."""
    global _last_scene
    _last_scene = next(_next)


def data(uid: int) -> None:
    """A mesh (its weights and groups included), an armature or a material was edited, by its session_uid.

    Also an object that is watched, where its modifiers make something else of its mesh.
    """
    global _last_edit
    _last_data[uid] = _last_edit = next(_next)


def watch(uid: int) -> None:
    """Note that somebody wants to know when what modifiers make of an object changes."""
    _watched.add(uid)


def watched() -> set[int]:
    """Return the session_uids of objects whose shape is watched."""
    return _watched


def everything() -> None:
    """Any of it may have changed, as after undo, which tells no property."""
    global _last_of_all
    _last_of_all = next(_next)
    _last_data.clear()


def of_scores() -> int:
    """Return a number that grows when what a motion depends on changes."""
    return max(_last_of_all, _last_score)


def of_scenes() -> int:
    """Return a number that grows when what is to be drawn in any scene changes."""
    return max(_last_of_all, _last_scene)


def of_all_data() -> int:
    """Return a number that grows when any mesh, armature or material changes."""
    return max(_last_of_all, _last_edit)


def of_data(uids: Iterable[int]) -> int:
    """Return a number that grows when any of these meshes, armatures and materials changes."""
    return max((_last_data.get(uid, 0) for uid in uids), default=0) or _last_of_all
