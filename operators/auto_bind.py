"""Auto-bind to Skeleton: vertex groups for the selected meshes from the bones near them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import bpy

from ..bridge import binding
from ..bridge.background import BackgroundWork
from ..bridge.bind_options import BindOptions
from ..bridge.bind_selection import check_objects, selection, selection_problem
from ..bridge.binding import BindResult, BindTask
from ..bridge.reports import GreyWithReason, refuse
from ..core.binding import BindCancelledError
from ..core.errors import TaktError

_NO_PROGRESS_BEFORE_S = 0.4
"""What is done by then needs no progress bar."""
_POLL_S = 0.1
_PERCENT = 100.0
_NAMES_SHOWN = 5


class TAKT_OT_auto_bind(GreyWithReason, BindOptions, bpy.types.Operator):
    """Bind the selected meshes to the armature: make the vertex groups of its deforming bones"""

    bl_idname = "takt.auto_bind"
    bl_label = "Auto-bind to Skeleton"
    bl_options = {"REGISTER", "UNDO"}

    _work: BackgroundWork[BindResult]
    _task: BindTask
    _timer: bpy.types.Timer | None = None

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is nothing to bind."""
        return selection_problem(context)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the options in the adjust panel."""
        assert self.layout is not None
        self.draw_options(self.layout)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find all weights first, then write them: for scripts and the adjust panel, which wait."""
        manager = context.window_manager
        assert manager is not None

        def tell(done: float) -> bool:
            manager.progress_update(_PERCENT * done)
            return True

        manager.progress_begin(0.0, _PERCENT)
        try:
            self._read(context)
            return self._write(context, binding.solve(self._task, self.method, self.settings(), tell))
        except TaktError as error:
            return refuse(self, str(error))
        finally:
            manager.progress_end()

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Begin; unless it is done in an instant, go on beside the interface."""
        if bpy.app.background:  # no event would poll the work
            return self.execute(context)
        try:
            self._read(context)
            self._work = BackgroundWork(partial(binding.solve, self._task, self.method, self.settings()))
        except TaktError as error:
            return refuse(self, str(error))
        if self._work.has_ended(within_s=_NO_PROGRESS_BEFORE_S):
            return self._end(context)
        manager = context.window_manager
        assert manager is not None
        manager.modal_handler_add(self)
        self._timer = manager.event_timer_add(_POLL_S, window=context.window)
        manager.progress_begin(0.0, _PERCENT)
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Show how far it is, until it has ended or Esc is pressed."""
        if event.type == "ESC":
            self._work.cancel()
            self._clear(context)
            self.report({"INFO"}, "Binding cancelled, nothing has changed")
            return {"CANCELLED"}
        if event.type == "TIMER" and self._work.has_ended():
            self._clear(context)
            return self._end(context)
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop the work: Blender calls it when the window is closed or another file opened."""
        self._work.end()
        self._clear(context)

    def _read(self, context: bpy.types.Context) -> None:
        """Check everything and read it; raise TaktError where something cannot be bound."""
        armature_object, mesh_objects = selection(context)
        assert armature_object is not None and context.view_layer is not None  # poll saw to it
        context.view_layer.update()
        check_objects(mesh_objects, armature_object)
        self._task = binding.read_task(mesh_objects, armature_object, self.scope())

    def _end(self, context: bpy.types.Context) -> "set[Any]":
        try:
            return self._write(context, self._work.result())
        except BindCancelledError:
            return {"CANCELLED"}
        except TaktError as error:
            return refuse(self, str(error))

    def _write(self, context: bpy.types.Context, result: BindResult) -> "set[Any]":
        """Write what was found, if all is still as it was when it was read."""
        armature_object, _ = selection(context)
        mesh_objects = binding.still_there(self._task)
        if armature_object is None:
            raise TaktError("The armature is no longer selected; select it and bind again")
        check_objects(mesh_objects, armature_object)
        binding.write(mesh_objects, armature_object, self._task, result)
        found = unusual(result, mesh_objects)  # in one report: the status bar shows only the last
        self.report({"WARNING"} if found else {"INFO"},
                    ". ".join([_summary(self._task, result, armature_object), *found]))
        return {"FINISHED"}

    def _show_progress(self, context: bpy.types.Context) -> None:
        assert context.window_manager is not None and context.workspace is not None
        context.window_manager.progress_update(_PERCENT * self._work.done)
        context.workspace.status_text_set(f"Binding: {self._work.done:.0%}   Esc: Cancel")

    def _clear(self, context: bpy.types.Context) -> None:
        manager = context.window_manager
        assert manager is not None
        if self._timer is not None:
            manager.event_timer_remove(self._timer)
            self._timer = None
            manager.progress_end()
            if context.workspace is not None:
                context.workspace.status_text_set(None)


def unusual(result: BindResult, mesh_objects: Sequence[bpy.types.Object]) -> list[str]:
    """Return a sentence for each kind of thing that the user should look at."""
    report = result.report
    names = [ob.name for ob in mesh_objects]
    found = (("Bones without vertices", report.idle_bones),
             ("Meshes without volume", [names[part] for part in report.flat_parts]),
             ("These meshes hold no bone; they follow what is nearest",
              [names[part] for part in report.boneless_parts]))
    return [f"{text}: {_listed(some)}" for text, some in found if some]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def _summary(task: BindTask, result: BindResult, armature_object: bpy.types.Object) -> str:
    vertices = sum(int(mesh_task.chosen.sum()) for mesh_task in task.meshes)
    bones = len(task.bodies[0].bone_names) - len(result.report.idle_bones)
    return f"Bound {vertices:,} vertices to {bones} bones of '{armature_object.name}'"


def draw_in_parent_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in Object > Parent."""
    menu.layout.separator()
    menu.layout.operator(TAKT_OT_auto_bind.bl_idname, icon="BONE_DATA")
