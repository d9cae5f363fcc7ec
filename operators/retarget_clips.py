"""Retarget Clips: all clips of a folder, or of several files, become Actions of the active character.

They are kept in the file, and the character keeps playing its current Action.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty

from ..bridge.actions.action import has_something_to_play
from ..bridge.actions.play_clips import (
    ClipPlayer,
    ClipSettings,
    begins_at_rest_property,
    file_endings,
    files_in,
    folders_within,
    keep_contacts_property,
    lock_feet_property,
    mute_constraints_property,
    names_of,
)
from ..bridge.active_character import ForArmature, active_armature
from ..bridge.language import say
from ..bridge.properties import bvh_forward_property, bvh_up_property
from ..bridge.reports import refuse, report
from ..core.errors import TaktError
from ..core.retargeting.outcome import Outcome, table

_AT_ONCE_S = 0.1
_TABLE = "Retargeted Clips"
_SAID, _SAID_BESIDE_TEXT = 20, 3
"""Greatest number of refusals that are reported, without and with the Text that lists all."""


class TAKT_OT_retarget_clips(ForArmature, bpy.types.Operator):
    """Make an Action of each clip in a folder, for the active character"""

    bl_idname = "takt.retarget_clips"
    bl_label = "Retarget Clips"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        directory: str
        files: bpy.types.bpy_prop_collection_idprop[bpy.types.OperatorFileListElement]
        keep_contacts: bool
        lock_feet: bool
        mute_constraints: bool
        begins_at_rest: bool
        bvh_up: str
        bvh_forward: str
        is_recursive: bool
        filter_glob: str
    else:
        directory: StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"},
                                  description="The folder whose clips become Actions")
        files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
        keep_contacts: keep_contacts_property()
        lock_feet: lock_feet_property()
        mute_constraints: mute_constraints_property()
        begins_at_rest: begins_at_rest_property()
        bvh_up: bvh_up_property(options={"SKIP_SAVE"})
        bvh_forward: bvh_forward_property(options={"SKIP_SAVE"})
        is_recursive: BoolProperty(name="Subfolders", description="Also make Actions of the clips in all subfolders")
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in file_endings()), options={"HIDDEN"})

    _steps: Iterator[list[Outcome]] | None = None
    _done: list[Outcome]
    _paths: list[Path]
    _left_out: str
    _timer: bpy.types.Timer

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Start with dropped files, or ask for a folder."""
        if self.directory:
            return self.execute(context)
        assert context.window_manager is not None
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Retarget at once without a window; otherwise file by file, so that it can be watched and stopped."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        folder = Path(bpy.path.abspath(self.directory))
        chosen = [folder / each.name for each in self.files if each.name] or [folder]
        self._paths = files_in(chosen, is_recursive=self.is_recursive)
        left_out = [] if self.is_recursive else folders_within(chosen)
        self._left_out = f"; folders not looked into, without Subfolders: {len(left_out)}" if left_out else ""
        if not self._paths:
            return refuse(self, f"{folder} has no files with clips: {', '.join(file_endings())}{self._left_out}")
        try:
            player = ClipPlayer.of(armature_object, self._paths, ClipSettings(
                self.keep_contacts, self.lock_feet, self.mute_constraints, self.begins_at_rest, self.bvh_up,
                self.bvh_forward))
        except TaktError as error:
            return refuse(self, str(error))
        self._done, self._steps = [], retargeted(player, self._paths, scene)
        if bpy.app.background:
            for outcomes in self._steps:
                self._done += outcomes
            return self._ended(context, is_stopped=False)
        manager = context.window_manager
        assert manager is not None
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0, len(self._paths))
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Retarget some files whenever Blender has time; Esc stops and keeps finished Actions."""
        if event.type == "ESC":
            return self._left(context, is_stopped=True)
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        assert self._steps is not None and context.window_manager is not None and context.workspace is not None
        until_s = time.perf_counter() + _AT_ONCE_S
        try:
            while time.perf_counter() < until_s:
                outcomes = next(self._steps, None)
                if outcomes is None:
                    return self._left(context, is_stopped=False)
                self._done += outcomes
        except ReferenceError:
            self._clear(context)
            return refuse(self, "The character was deleted; Actions that were made before stay")
        count = len({outcome.file for outcome in self._done})
        context.window_manager.progress_update(count)
        context.workspace.status_text_set(say(f"Retargeting: {count} of {len(self._paths)} files   Esc: Stop"))
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop: Blender calls it when the window is closed or another file opened."""
        if self._steps is not None:  # otherwise the file browser was cancelled
            self._clear(context)

    def _left(self, context: bpy.types.Context, *, is_stopped: bool) -> "set[Any]":
        self._clear(context)
        return self._ended(context, is_stopped=is_stopped)

    def _clear(self, context: bpy.types.Context) -> None:
        assert context.window_manager is not None
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def _ended(self, context: bpy.types.Context, *, is_stopped: bool) -> "set[Any]":
        """Store the table as a Text, and report; Actions made before a stop stay, and one undo removes them.

        If every clip was refused, nothing was made, so there is neither an undo step nor a Text.
        """
        played = sum(not outcome.problem for outcome in self._done)
        refused = [outcome for outcome in self._done if outcome.problem]
        is_in_vain = bool(refused) and not played
        for outcome in refused[:_SAID if is_in_vain else _SAID_BESIDE_TEXT]:
            report(self, {"WARNING"}, f"{outcome.file}: {outcome.problem}")
        if is_in_vain:
            report(self, {"WARNING"}, f"No clip became an Action; refused: {len(refused)}{self._left_out}")
            return {"CANCELLED"}
        left = len(self._paths) - len({outcome.file for outcome in self._done})
        stopped = f"Stopped: {left} of {len(self._paths)} files were not tried\n" if is_stopped else ""
        text = bpy.data.texts.get(_TABLE) or bpy.data.texts.new(_TABLE)
        text.from_string(f"{stopped}{table(self._done)}\n")
        report(self, {"INFO"}, f"{'Stopped. ' if is_stopped else ''}Clips made into Actions: {played}, refused: "
                              f"{len(refused)}; choose one in the panel Clips or in the Action Editor; the text "
                              f"'{text.name}' lists them{self._left_out}")
        return {"FINISHED"}


def retargeted(player: ClipPlayer, paths: list[Path], scene: bpy.types.Scene) -> Iterator[list[Outcome]]:
    """Make Actions of the clips of files, and yield the outcomes of each file.

    A playing character keeps its Action; otherwise it plays the first clip.
    """
    is_free, called = not has_something_to_play(player.armature_object), names_of(paths)
    for path in paths:
        outcomes = player.play_file(path, called[path], scene, is_played=is_free)
        is_free = is_free and all(outcome.problem for outcome in outcomes)
        yield outcomes
