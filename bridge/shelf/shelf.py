"""What can be inserted into a character's score: clips and procedures of its library, and Actions of the .blend.

Files are read in a background thread, one after the other, and results are shown as they come. Files that only Blender
can read are read by a second Blender once a shelf shows them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import FileError, TaktError
from ...core.library.library import SCORE_SUFFIX, Library
from ...core.score_editor.commands import Playable
from ...core.score_editor.figures import Figure
from ...core.score_editor.layout import Layout
from ...core.score_editor.shelf import ACTIONS, OF_FILES, OTHER_ACTIONS
from .. import properties
from ..active_character import active_armature
from ..files import clips
from ..files.clip_store import CLIPS
from ..frame_rate import frames_per_second
from ..guard import guarded
from ..scores import performing, score, score_blocks, score_tree
from . import shelf_search
from .shelf_search import Known, Search, clip_file_of, figure_of_clip, length_of, procedures_of

_LOOK_S, _SOON_S = 0.2, 0.02
"""How often new results are looked for, and the first ones: a library is listed in a fraction of a second."""
_BETWEEN_S = 0.02
"""Pause for the interface between two Actions whose figures are computed."""
HAS_DOT = "has a dot in its name, which a score takes for a folder; rename it"
_searches: dict[Hashable, Search] = {}
_action_figures: dict[Playable, Figure | None] = {}
"""Figures of Actions of the open file; None if no armature fits."""


def playables(armature_object: bpy.types.Object) -> tuple[Playable, ...]:
    """Return what can be inserted into the character's score, as far as it is known."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.layout is None or blocks.scores is None:
        return ()
    own = blocks.scores.src_of(blocks.layout.documents[0].path)
    search = _search(blocks.scores.library)
    search.take_read({source.src for document in blocks.layout.documents for source in document.loads})
    files = search.playables()
    if own in search.files:  # there may be very many
        files = tuple(each for each in files if each.src != own)
    unnamed = (Playable(path, path.rpartition("/")[2], 0.0, is_read=False, problem=HAS_DOT)
               for path in search.without_src if ":" not in path and "\\" not in path)
    return (*_own(armature_object, blocks.layout), *files, *unnamed, *_actions(armature_object))


def read(armature_object: bpy.types.Object, playable: Playable) -> Playable:
    """Return what can be called of an unread file; raise FileError if it cannot be read."""
    if playable.problem and not playable.problem.startswith(OF_FILES):
        raise FileError.at(f"{playable.src} {playable.problem}")
    blocks = score_blocks.shown(armature_object)
    if playable.is_read or blocks is None or blocks.scores is None:
        return playable
    file = _search(blocks.scores.library).read(playable.src)
    if file is None or not file.held:
        raise FileError.at(file.problem if file is not None and file.problem else "holds nothing that can be played",
                           None if file is None else file.path)
    return next((each for each in file.held if each.name == playable.name), file.held[0])


def path_of(armature_object: bpy.types.Object, playable: Playable) -> Path | None:
    """Return the file of a chip that can be called, None if the library has no such file."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.scores is None or playable.shelf_group in (ACTIONS, OTHER_ACTIONS):
        return None
    file = _search(blocks.scores.library).files.get(playable.src)
    return None if file is None or playable.problem else file.path


def figures(armature_object: bpy.types.Object) -> Mapping[Playable, Figure]:
    """Return the clips' figures, as far as they are known."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.scores is None:
        return {}
    return _search(blocks.scores.library).figures | {each: figure for each, figure in _action_figures.items() if figure}


def known(armature_object: bpy.types.Object) -> Mapping[Playable, Known]:
    """Return the known classes of the library's clips; see Known."""
    blocks = score_blocks.shown(armature_object)
    return {} if blocks is None or blocks.scores is None else dict(_search(blocks.scores.library).known)


def trouble(armature_object: bpy.types.Object) -> str:
    """Return problems of the library as a whole, such as missing folders, "" if there are none."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.scores is None:
        return ""
    search = _search(blocks.scores.library)
    return "; ".join(filter(None, (_not_shown(search.left_out), search.wrong)))


def _not_shown(left_out: int) -> str:
    if left_out == 1:
        return "1 more file is not shown: choose a folder with fewer"
    return f"{left_out:,} more files are not shown: choose a folder with fewer" if left_out else ""


def state(armature_object: bpy.types.Object) -> Hashable:
    """Return a value that changes when something else can be inserted; cheap enough for every drawing."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.scores is None:
        return blocks
    search = _search(blocks.scores.library)
    return blocks, search, search.version, len(bpy.data.actions), len(_action_figures)


def structure(armature_object: bpy.types.Object) -> Hashable:
    """Return a value that changes when chips are added, removed or moved; see state."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.scores is None:
        return blocks
    search = _search(blocks.scores.library)
    return blocks, search, search.structure, len(bpy.data.actions)


def is_searching(armature_object: bpy.types.Object) -> bool:
    """Return whether more may be found."""
    search = search_of(armature_object)
    return search is not None and not search.latest.work.has_ended()


def search_of(armature_object: bpy.types.Object) -> Search | None:
    """Return the search of a character's library, None if the score's text cannot be read."""
    blocks = score_blocks.shown(armature_object)
    return None if blocks is None or blocks.scores is None else _search(blocks.scores.library)


def show(armature_object: bpy.types.Object, seen: Sequence[Playable]) -> None:
    """Start reading files of visible chips that only Blender reads; called whenever a shelf is drawn."""
    blocks = score_blocks.shown(armature_object)
    if blocks is not None and blocks.scores is not None:
        unread = [each.src for each in seen if not each.is_read and not each.problem]
        if _search(blocks.scores.library).shown.show(unread):
            _tell_soon()


def playables_of(src: str, path: Path, library: object) -> list[Playable]:
    """Return the chips of one file, even one that Blender opens; raise FileError if it cannot be read."""
    if path.name.endswith(SCORE_SUFFIX):
        return procedures_of(src, path, library.roots if isinstance(library, Library) else ())
    return shelf_search.playables_of(src, clip_file_of(path, clips.formats()))


def src_of(library: object, path: Path, *, is_new: bool = False) -> str:
    """Return the src by which a library finds a file, "" if it does not. is_new: the file is yet to be written."""
    return library.src_of_playable(path, is_new=is_new) or "" if isinstance(library, Library) else ""


def forget() -> None:
    """Search folders again the next time."""
    for search in _searches.values():
        search.end()
        search.latest.end()
    _searches.clear()
    _action_figures.clear()


def _search(library: object) -> Search:
    """Return the search of a library; until files are listed again, also of further folders, the previous one."""
    roots = library.roots if isinstance(library, Library) else ()
    search = _searches.get(roots)
    if search is None:
        search = next((each for each in _searches.values() if set(each.roots) & set(roots)), None)
        if search is None:
            forget()
            search = _searches[roots] = _begun(roots)
            return search
        _searches.clear()
        _searches[roots] = search
    if search.latest.roots != roots or search.latest.moment is not performing.moment():
        search.latest.work.end()
        search.newer = _begun(roots, search)
    elif search.newer is not None and (search.newer.is_listed or search.newer.work.has_ended()):
        search.end()
        search = _searches[roots] = search.newer
    return search


def _begun(roots: tuple[Path, ...], before: Search | None = None) -> Search:
    _tell_soon()
    return Search(roots, performing.moment(), before)


def _tell_soon() -> None:
    if not bpy.app.timers.is_registered(_tell):
        bpy.app.timers.register(_tell, first_interval=_SOON_S)


@guarded(None)
def _tell() -> float | None:
    """Show new results."""
    if any(not search.latest.structure and not search.latest.work.has_ended() for search in _searches.values()):
        return _SOON_S
    score_tree.redraw()
    return _LOOK_S if any(search.shown.is_reading() or not search.latest.work.has_ended()
                          for search in _searches.values()) else None


def _own(armature_object: bpy.types.Object, layout: Layout) -> list[Playable]:
    """Return the score's own procedures with their last known durations."""
    document, known = layout.documents[0], score.known_performance(armature_object)
    kept = {each.name: each.seconds for each in properties.character(armature_object).procedures}
    kept |= {} if known is None else {name: seconds for name, _, seconds in known.procedures}
    lengths_s = {name: seconds for name, seconds in kept.items() if seconds > 0.0}
    return [Playable("", procedure.name, lengths_s.get(procedure.name, length_of(procedure, document)), is_clip=False)
            for procedure in document.procedures if procedure.name != layout.procedure]


def _actions(armature_object: bpy.types.Object) -> list[Playable]:
    """Return the Actions of the file, except those that Takt has written; those of other characters come last."""
    scene = bpy.context.scene
    if scene is None:
        return []
    armatures = sorted((ob for ob in bpy.data.objects if ob.type == "ARMATURE"), key=lambda ob: ob != armature_object)
    written = {properties.character(ob).action for ob in armatures}
    found = []
    for action in bpy.data.actions:
        if action not in written:
            frames: Any = action.frame_range
            fitting = clips.best_fitting(action, armatures)
            group = ACTIONS if fitting is None or fitting == armature_object else OTHER_ACTIONS
            found.append(Playable(action.name, action.name, (frames[1] - frames[0]) / frames_per_second(scene),
                                  shelf_group=group))
    if any(each not in _action_figures for each in found) and not bpy.app.timers.is_registered(_find_next_figure):
        bpy.app.timers.register(_find_next_figure)
    return found


@guarded(None)
def _find_next_figure() -> float | None:
    """Compute the figure of an Action that has none; Actions belong to Blender, so in the main thread."""
    armature_object = active_armature(bpy.context) or next(
        (ob for ob in bpy.data.objects if ob.type == "ARMATURE"), None)
    if armature_object is None:
        return None
    playable = next((each for each in _actions(armature_object) if each not in _action_figures), None)
    score_tree.redraw()
    if playable is None:
        return None
    _action_figures[playable] = None
    with suppress(TaktError):
        for clip in clips.clips_of_action(armature_object, CLIPS)(playable.src) or ():
            _action_figures[playable] = clip.derived(figure_of_clip) if len(clip.skeleton) else None
    return _BETWEEN_S
