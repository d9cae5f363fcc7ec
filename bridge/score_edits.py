"""A change of a score: tried out first, played and shown but written nowhere, then written once."""

import bpy

from ..core.errors import EditError
from ..core.pha.refactoring import Refactoring
from ..core.playing.score import clock_of
from ..core.score_editor.change import Candidate, attempt
from . import performing, properties, score, score_blocks, texts, write_motion
from .score_blocks import Blocks


def attempted(armature_object: bpy.types.Object, blocks: Blocks, change: Refactoring) -> tuple[str, Candidate]:
    """Return the text that a change leads to, with what it then plays; raise EditError where that is refused."""
    if blocks.error is not None or blocks.scores is None or blocks.layout is None:
        raise EditError("the score has mistakes; correct them in its text first")
    check_unchanged(armature_object, blocks)
    document = blocks.layout.documents[0]
    path, settings = document.path, performing.settings_of(properties.character(armature_object))
    candidate = attempt(blocks.scores, path, change, settings, document)
    others = [other.name for other in candidate.edited if other is not None and other != path]
    if others:
        raise EditError(f"this would change {', '.join(others)} too, which is not open")
    return str(candidate.edited[path].text), candidate


def check_unchanged(armature_object: bpy.types.Object, blocks: Blocks) -> None:
    """Raise EditError where the score's Text is gone or no longer says what was laid out."""
    text = properties.character(armature_object).text
    if text is None or blocks.selectable is None or not texts.holds(text, blocks.selectable.documents[0]):
        raise EditError("the text has changed meanwhile; do it again")


def try_out(armature_object: bpy.types.Object, blocks: Blocks, change: Refactoring) -> str:
    """Play and show what a change leads to until it is written or taken back, and return the text.

    blocks: what the change starts from. Raises EditError where it is refused; what was tried before then goes on.
    """
    new, candidate = attempted(armature_object, blocks, change)
    text = properties.character(armature_object).text
    assert text is not None
    texts.propose(text, new)
    score_blocks.show(armature_object, candidate, clock_of(candidate.programme))
    return new


def take_back(armature_object: bpy.types.Object) -> None:
    """Play and show what is written."""
    text = properties.character(armature_object).text
    if text is not None:
        texts.propose(text, None)
        score_blocks.refresh(armature_object)


def write(context: bpy.types.Context, armature_object: bpy.types.Object, new: str) -> None:
    """Write another text, which can be played, and the Action anew where there is one."""
    character = properties.character(armature_object)
    text, scene = character.text, context.scene
    assert text is not None and scene is not None
    texts.propose(text, None)
    texts.replace(text, new)
    score_blocks.refresh(armature_object)
    motion = score.motion_of(armature_object) if character.action is not None and character.keep_action else None
    if motion is not None:
        write_motion.write(armature_object, scene, motion, write_motion.sampling(armature_object, scene, motion)())
    else:
        score.keep_lists(armature_object)
