"""Music: choose a score's sound file, set its ticks to the beats, or remove the music."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..bridge import properties
from ..bridge.active_character import ForScore, active_armature, score_problem
from ..bridge.reports import refuse, report
from ..bridge.scores import score_music, sound, texts
from ..bridge.scores.score_tree import TaktScoreTree
from ..core.errors import TaktError
from ..core.library.library import SOUND_ENDINGS
from ..core.maths.arrays import Float32Array, FloatArray
from ..core.music.beats import find_beats
from ..core.music.grid import fit_grid
from ..core.pha.edits import Edited
from ..core.pha.text import Text
from ..core.score_editor.music import lay_ticks, remove_music, set_music

_SURE = 0.6
"""Beats with less certainty are reported as uncertain."""


class TAKT_OT_choose_music(ForScore, bpy.types.Operator):
    """Choose a sound file for the score, and align the score's ticks with the beats"""

    bl_idname = "takt.choose_music"
    bl_label = "Choose Music"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        finds_beats: bool
    else:
        filepath: StringProperty(name="Sound", subtype="FILE_PATH", options={"SKIP_SAVE"},
                                 description="The sound file to dance to: WAV, FLAC, Ogg or MP3")
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in SOUND_ENDINGS), options={"HIDDEN"})
        finds_beats: BoolProperty(name="Find Beats", default=True,
                                  description="Set the length of a tick and the tempo so that ticks lie on the beats")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Use a dropped file, or ask for a file, starting in the score's library."""
        if self.filepath:
            return self.execute(context)
        assert context.window_manager is not None
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        with suppress(TaktError):  # execute reports it
            roots = score_music.read(armature_object)[1].roots
            self.filepath = str(roots[0]) + os.sep if roots else ""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Check and find everything first, then write the score once."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        path, said = Path(bpy.path.abspath(self.filepath)), ""
        try:
            document, library = score_music.read(armature_object)
            samples = sound.read_samples(path)
            src, kept = score_music.src_of(library, path)
            edited = set_music(document.text, src)
        except TaktError as error:
            return refuse(self, str(error))
        if self.finds_beats:
            try:
                edited, said = _laid(edited.text, samples, document.tick_s)
            except TaktError as error:  # a file without beats can be used as music too
                report(self, {"WARNING"}, f"'{path.name}': {error}")
        return _written(self, context, edited, f"The score is danced to '{path.name}'. {said}".rstrip(), kept)


class TAKT_OT_find_beats(ForScore, bpy.types.Operator):
    """Set the length of a tick and the tempo so that the score's ticks lie on the beats of its music"""

    bl_idname = "takt.find_beats"
    bl_label = "Find Beats"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find the beats, then write the score once."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        try:
            music = score_music.music_of(armature_object)
            if music is None:
                return refuse(self, "The score has no music: choose a sound file first")
            document, _ = score_music.read(armature_object)
            edited, said = _laid(document.text, sound.read_samples(music.path), document.tick_s)
        except TaktError as error:
            return refuse(self, str(error))
        return _written(self, context, edited, said)


class TAKT_OT_remove_music(ForScore, bpy.types.Operator):
    """Remove the music from the score; its ticks stay as they are"""

    bl_idname = "takt.remove_music"
    bl_label = "Remove Music"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Remove the music from the score, then from the scene."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        try:
            edited = remove_music(score_music.read(armature_object)[0].text)
        except TaktError as error:
            return refuse(self, str(error))
        return _written(self, context, edited, "The score has no music now; its ticks stay as they are")


class TAKT_FH_sound(bpy.types.FileHandler):
    """Lets sound files be dropped into the score editor."""

    bl_idname = "TAKT_FH_sound"
    bl_label = "Music of a Score"
    bl_import_operator = TAKT_OT_choose_music.bl_idname
    bl_file_extensions = ";".join(SOUND_ENDINGS)

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Return whether the mouse is over a score editor, and the active character has a score."""
        return (context is not None and getattr(context.space_data, "tree_type", "") == TaktScoreTree.bl_idname
                and not score_problem(active_armature(context)))


def _laid(text: Text, samples: FloatArray | Float32Array, tick_s: float) -> tuple[Edited, str]:
    """Set a score's ticks to the beats in samples (N,), and return a report; raise TaktError if there are none."""
    beats = find_beats(samples)
    grid = fit_grid(beats.times_s, tick_s)
    changes = f", {len(grid.changes)} changes of tempo" if grid.changes else ""
    doubt = "" if beats.confidence >= _SURE else "; this is uncertain, listen to it"
    return lay_ticks(text, grid), f"{len(beats.times_s)} beats, {beats.tempo_bpm:.1f} a minute{changes}{doubt}"


def _written(operator: bpy.types.Operator, context: bpy.types.Context, edited: Edited, says: str,
             kept: str | None = None) -> "set[Any]":
    """Write the score, and let the scene play its music; kept: the new path of the sound, if it changes."""
    armature_object, scene = active_armature(context), context.scene
    assert armature_object is not None and scene is not None
    text = properties.character(armature_object).text
    assert text is not None
    try:
        texts.replace(text, str(edited.text))
    except TaktError as error:
        return refuse(operator, str(error))
    if kept is not None:
        properties.character(armature_object).sound = kept
    score_music.play_along(armature_object, scene)
    report(operator, {"INFO"}, says)
    return {"FINISHED"}
