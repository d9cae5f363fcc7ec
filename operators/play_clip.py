"""Play Clip: a character plays a clip of a file at once, as an Action, without a score."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ..bridge.actions.play_clips import (
    ClipPlayer,
    ClipSettings,
    begins_at_rest_property,
    file_endings,
    keep_contacts_property,
    lock_feet_property,
    mute_constraints_property,
    name_among,
)
from ..bridge.actions.play_report import PlayedClip, report_clip
from ..bridge.active_character import ForArmature, active_armature
from ..bridge.dropped_on import armature_under
from ..bridge.files.clip_store import CLIPS
from ..bridge.guard import guarded
from ..bridge.language import say
from ..bridge.properties import bvh_forward_property, bvh_up_property
from ..bridge.reports import refuse
from ..core.clips.clip import Clip
from ..core.errors import TaktError, quoted, some_of
from ..core.library.clip_files import choices_beside
from ..core.retargeting.outcome import Outcome
from .dropped_file import may_drop_on_character

_COLUMN = 20
"""Number of clips listed below each other."""


class TAKT_OT_play_clip(ForArmature, ImportHelper, bpy.types.Operator):
    """Play a clip from a file on the active character, whatever body the clip was made for"""

    bl_idname = "takt.play_clip"
    bl_label = "Play Clip"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ""
    if TYPE_CHECKING:
        filepath: str
        directory: str
        files: bpy.types.bpy_prop_collection_idprop[bpy.types.OperatorFileListElement]
        clip: str
        model: str
        asks: bool
        keep_contacts: bool
        lock_feet: bool
        mute_constraints: bool
        begins_at_rest: bool
        bvh_up: str
        bvh_forward: str
        filter_glob: str
    else:
        filepath: StringProperty(name="File Path", subtype="FILE_PATH", maxlen=1024, options={"HIDDEN", "SKIP_SAVE"})
        directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
        files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
        clip: StringProperty(name="Clip", options={"SKIP_SAVE"},
                             description="Clip of the file to play. If empty, the first one")
        model: StringProperty(name="Model", options={"SKIP_SAVE"}, search=lambda self, _context, _text: [
            path.name for path in _models(self.filepath)],
            description="Model file with the clip's skeleton, beside the clip. Needed if several fit, as for "
                        "RiTE's clips")
        asks: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})
        keep_contacts: keep_contacts_property()
        lock_feet: lock_feet_property()
        mute_constraints: mute_constraints_property()
        begins_at_rest: begins_at_rest_property()
        bvh_up: bvh_up_property(options={"SKIP_SAVE"})
        bvh_forward: bvh_forward_property(options={"SKIP_SAVE"})
        filter_glob: StringProperty(default=";".join(f"*{ending}" for ending in file_endings()), options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Play a dropped file, or ask for one; if it has several clips, let the user choose."""
        if len(self.files) > 1:
            paths = [{"name": each.name} for each in self.files]
            operators: Any = bpy.ops
            result: set[Any] = operators.takt.retarget_clips("INVOKE_DEFAULT", directory=self.directory, files=paths)
            return result
        if not self.filepath and len(self.files) == 1:
            self.filepath = str(Path(self.directory) / self.files[0].name)
        if not self.filepath:
            self.asks = True
            browser: set[Any] = super().invoke(context, event)
            return browser
        _make_active(context, armature_under(context, event))
        self.asks = True
        return self.execute(context)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the settings; the model only where there is a choice."""
        assert self.layout is not None
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        shown = ("keep_contacts", "lock_feet", "mute_constraints", "begins_at_rest", "bvh_up", "bvh_forward")
        for name in ("clip", *["model"] * bool(_models(self.filepath)), *shown):
            self.layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Read and retarget the clip first, then write the Action; of several clips, let the user choose one."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        path = Path(bpy.path.abspath(self.filepath))
        models = () if self.model else _models(self.filepath)
        if self.asks and models and context.window is not None and not bpy.app.background:
            return _ask(context, say(f"Models for {path.name}"), [
                (model.name, "ARMATURE_DATA", {"filepath": self.filepath, "model": model.name, "asks": True})
                for model in models])
        try:
            second_files = {path: path.parent / self.model} if self.model else {}
            player = ClipPlayer.of(armature_object, (path,), ClipSettings(
                self.keep_contacts, self.lock_feet, self.mute_constraints, self.begins_at_rest, self.bvh_up,
                self.bvh_forward, second_files), CLIPS)
            found = player.read(path)
            if self.asks and not self.clip and len(found) > 1:
                _check_window(self.filepath, found)
                return _ask(context, say(f"Clips of {Path(self.filepath).name}"), [
                    (f"{name}   {clip.duration_s:.1f} s", "ACTION", {
                        "filepath": self.filepath, "model": self.model, "clip": name})
                    for name, clip in found.items()])
            name = name_among(found, self.clip) if self.clip else next(iter(found))
            if name is None:
                raise TaktError(f"{path.name} has no clip {quoted(self.clip)}; it has {', '.join(found)}")
            done = player.retargeted(found[name])
        except TaktError as error:
            return refuse(self, str(error))
        before = scene.frame_start, scene.frame_end
        new = player.write(path, name, player.played(done), scene, is_played=True)
        others = len(found) - 1 if not self.clip else 0
        span = scene.frame_start, scene.frame_end
        report_clip(self, player, PlayedClip(done, Outcome.of(path.name, name, done), new.name, others,
                                             span if span != before else None, player.warnings(path)), scene)
        return {"FINISHED"}


def _check_window(filepath: str, found: Mapping[str, Clip]) -> None:
    """Raise TaktError if there is no window for a menu: Blender would crash when it opens one."""
    if bpy.app.background or bpy.context.window is None:
        raise TaktError(f"{Path(filepath).name} has {len(found)} clips and there is no window to ask in; name one of "
                        f"them as Clip: {some_of(tuple(found), _COLUMN)}")


def _models(filepath: str) -> tuple[Path, ...]:
    """Return the files among which the user must choose the one with the clip's skeleton."""
    return choices_beside(Path(bpy.path.abspath(filepath)))


def _ask(context: bpy.types.Context, title: str, choices: Sequence[tuple[str, Any, Mapping[str, Any]]]) -> "set[Any]":
    """Show a list of labels and icons; a click plays a clip with the properties of that entry."""
    assert context.window_manager is not None

    def draw(menu: bpy.types.UIPopupMenu, _context: bpy.types.Context) -> None:
        assert menu.layout is not None
        flow: Any = menu.layout.column_flow(columns=1 + (len(choices) - 1) // _COLUMN)
        for label, icon, values in choices:
            button = flow.operator(TAKT_OT_play_clip.bl_idname, text=label, icon=icon, translate=False)
            for name, value in values.items():
                setattr(button, name, value)

    context.window_manager.popup_menu(draw, title=title)
    return {"INTERFACE"}


def _make_active(context: bpy.types.Context, armature_object: bpy.types.Object | None) -> None:
    """Make the character active on which something was dropped."""
    if armature_object is not None and armature_object != active_armature(context) and context.view_layer is not None:
        for ob in context.selected_objects:
            ob.select_set(False)
        armature_object.select_set(True)
        context.view_layer.objects.active = armature_object


class TAKT_FH_clip(bpy.types.FileHandler):
    """Lets clips be dropped on characters."""

    bl_idname = "TAKT_FH_clip"
    bl_label = "Play Clip"
    bl_import_operator = TAKT_OT_play_clip.bl_idname
    bl_file_extensions = ";".join(dict.fromkeys(  # Blender sees only the last of two endings
        Path(f"x{ending}").suffix for ending in file_endings() if ending != ".blend"))  # Blender itself opens these

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Return whether a clip may be dropped here."""
        return may_drop_on_character(context)


@guarded(None)
def draw_in_import_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in File > Import."""
    menu.layout.operator(TAKT_OT_play_clip.bl_idname, text=say("Clip for the Active Character (.bvh, .fbx, .glb, …)"),
                         translate=False)
