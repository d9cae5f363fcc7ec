"""Another text for a score: tried out first, played and shown but written nowhere, then written once."""

import bpy

from ..core.errors import TaktError
from . import performing, properties, score, score_blocks, texts, write_motion


def try_out(armature_object: bpy.types.Object, new: str) -> None:
    """Play and show another text until it is written or taken back; raise TaktError, saying why, where it has mistakes.

    Then what was tried before goes on.
    """
    character = properties.character(armature_object)
    assert character.text is not None
    performing.expand_score(new, character, armature_object)
    texts.propose(character.text, new)
    score_blocks.refresh(armature_object)


def take_back(armature_object: bpy.types.Object) -> None:
    """Play and show what is written."""
    text = properties.character(armature_object).text
    if text is not None:
        texts.propose(text, None)
        score_blocks.refresh(armature_object)


def write(context: bpy.types.Context, armature_object: bpy.types.Object, new: str) -> None:
    """Write another text, and the Action anew where there is one; raise TaktError, before anything is written."""
    character = properties.character(armature_object)
    text, scene = character.text, context.scene
    assert text is not None and scene is not None
    texts.propose(text, None)
    performing.expand_score(new, character, armature_object)
    texts.replace(text, new)
    score_blocks.refresh(armature_object)
    motion = score.motion_of(armature_object) if character.action is not None and character.keep_action else None
    if motion is not None:
        write_motion.write(armature_object, scene, motion, write_motion.sampling(armature_object, scene, motion)())
    else:
        score.keep_procedures(armature_object)
