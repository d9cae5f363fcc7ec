"""Change a score: a change is first tried, played and shown without writing it, then written once."""

from collections.abc import Mapping
from pathlib import Path

import bpy

from ...core.errors import EditError
from ...core.pha.garbage import without_search_for_cycles
from ...core.pha.refactoring import Refactoring
from ...core.playing.motion import Motion
from ...core.playing.score import clock_of
from ...core.score_editor.change import Candidate, attempt, emptied
from .. import changes, properties
from ..actions import action, long_actions, write_motion
from ..frame_rate import frames_per_second
from . import element_history, performing, score, score_blocks, texts
from .score_blocks import Blocks

New = Mapping[Path | None, str]
"""New contents of texts, by the paths by which a score's layout knows them."""


def attempted(armature_object: bpy.types.Object, blocks: Blocks, change: Refactoring) -> tuple[New, Candidate]:
    """Return the texts after a change, and the expanded score; raise EditError if it is refused."""
    _check_right(armature_object, blocks)
    assert blocks.scores is not None and blocks.layout is not None
    document = blocks.layout.documents[0]
    settings = performing.settings_of(properties.character(armature_object), is_cast=False)
    candidate = attempt(blocks.scores, document.path, change, settings, document)
    element_history.note(blocks.scores.texts, candidate.edited)
    return _own(armature_object, blocks, {path: str(each.text) for path, each in candidate.edited.items()}), candidate


def texts_after(armature_object: bpy.types.Object, blocks: Blocks, change: Refactoring) -> New:
    """Return the texts after a change; it may remove the last block. Raises EditError if it is refused."""
    _check_right(armature_object, blocks)
    assert blocks.scores is not None and blocks.layout is not None
    edited = emptied(blocks.scores, blocks.layout.documents[0].path, change,
                     properties.character(armature_object).procedure)
    if edited is None:
        return attempted(armature_object, blocks, change)[0]
    element_history.note(blocks.scores.texts, edited)
    return _own(armature_object, blocks, {path: str(each.text) for path, each in edited.items()})


def _own(armature_object: bpy.types.Object, blocks: Blocks, new: New) -> New:
    """Return the new contents of Texts; raise EditError if one belongs to another .blend."""
    for path in new:
        text = _text_of(armature_object, blocks, path)
        assert text is not None  # since it was laid out
        texts.check_own(text)
    return new


def _check_right(armature_object: bpy.types.Object, blocks: Blocks) -> None:
    if blocks.error is not None or blocks.scores is None or blocks.layout is None:
        raise EditError("the score has mistakes; correct them in its text first")
    check_unchanged(armature_object, blocks)


def check_unchanged(armature_object: bpy.types.Object, blocks: Blocks) -> None:
    """Raise EditError if a Text of the score is gone or differs from the laid-out one."""
    if blocks.selectable is None or blocks.scores is None:
        raise EditError("the text has changed in between; try again")
    for number, document in enumerate(blocks.selectable.documents):
        if number and blocks.scores.open_path(document.path) not in blocks.scores.texts:
            continue  # it is read from its file, and not written
        text = _text_of(armature_object, blocks, document.path)
        if text is None or not texts.holds(text, document):
            raise EditError("the text has changed in between; try again")


@without_search_for_cycles
def try_out(armature_object: bpy.types.Object, blocks: Blocks, change: Refactoring) -> New:
    """Play and show the result of a change until it is written or taken back; return the texts.

    blocks: the basis of the change. Raises EditError if it is refused; a previous try then continues.
    """
    new, candidate = attempted(armature_object, blocks, change)
    for path, said in new.items():
        text = _text_of(armature_object, blocks, path)
        assert text is not None  # since it was laid out
        texts.propose(text, said)
    score_blocks.show(armature_object, candidate, clock_of(candidate.programme))
    return new


def take_back(armature_object: bpy.types.Object) -> None:
    """Play and show the written score again."""
    texts.propose_nothing()
    if properties.character(armature_object).text is not None:
        score_blocks.refresh(armature_object)


def write(context: bpy.types.Context, armature_object: bpy.types.Object, new: New) -> str:
    """Write new texts, which can be played, and update the Action if there is one; return why that stays, or "".

    An Action that was edited by hand stays.
    """
    character, blocks = properties.character(armature_object), score_blocks.shown(armature_object)
    scene = context.scene
    assert scene is not None and blocks is not None
    texts.propose_nothing()
    for path, said in new.items():
        text = _text_of(armature_object, blocks, path)
        assert text is not None  # since it was laid out
        texts.replace(text, said)
    changes.score()
    score_blocks.refresh(armature_object)
    motion = score.motion_of(armature_object) if character.action is not None and character.keep_action else None
    stays = "" if motion is None else _why_it_stays(armature_object, scene, motion)
    if motion is not None and not stays:
        channels = write_motion.sampling(armature_object, scene, motion)(None)
        action.note_clashes(armature_object, channels)
        stays = _why_it_stays(armature_object, scene, motion)
        if not stays:
            write_motion.write(armature_object, scene, motion, channels)
    if motion is None or stays:
        score.keep_lists(armature_object)
    return stays


def _why_it_stays(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> str:
    """Return why the Action of an armature is not overwritten automatically, or "" if it is."""
    if action.is_edited_by_hand(armature_object):
        return action.EDITED_BY_HAND
    return long_actions.problem(motion, frames_per_second(scene))


def _text_of(armature_object: bpy.types.Object, blocks: Blocks, path: Path | None) -> bpy.types.Text | None:
    """Return the Text of one of the laid-out files, or None if it is not open."""
    assert blocks.layout is not None
    if path == blocks.layout.documents[0].path:
        return properties.character(armature_object).text
    return None if path is None else texts.text_of(path)
