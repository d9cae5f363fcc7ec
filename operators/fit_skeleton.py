"""Fit Skeleton: an armature for the selected meshes, which have none."""

from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bridge import binding, fitting
from ..bridge.bind_selection import check_mesh, left_behind, mode_problem, selection, without_empty
from ..bridge.fitting import FitResult, FitTask
from ..bridge.reports import report
from ..bridge.shared_meshes import part_meshes
from ..core.errors import some_of
from ..core.fitting.naming import DEFAULT_NAMING, NAMINGS
from .background import Work, WorksInBackground

_NAMES_SHOWN = 5


class TAKT_OT_fit_skeleton(WorksInBackground[FitResult], bpy.types.Operator):
    """Fit a skeleton into the selected meshes, which form one body, and bind them to it"""

    bl_idname = "takt.fit_skeleton"
    bl_label = "Fit Skeleton"
    bl_options = {"REGISTER", "UNDO"}

    doing = "Fitting a skeleton"

    if TYPE_CHECKING:
        naming: str
        bind: bool
    else:
        naming: EnumProperty(
            name="Names", description="How the bones are called", default=DEFAULT_NAMING,
            items=[(identifier, entry.label, entry.description) for identifier, entry in NAMINGS.items()])
        bind: BoolProperty(
            name="Bind", description="Also make the vertex groups, as Auto-bind does; "
                                     "off, only the armature is made", default=True)

    _task: FitTask

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is nothing to fit into."""
        armature_object, mesh_objects = selection(context)
        if not mesh_objects:
            return "Select the meshes of one body"
        if armature_object is not None and armature_object in context.selected_objects:
            return "Deselect the armature to fit another one, or bind to it"
        return mode_problem(mesh_objects)

    def read(self, context: bpy.types.Context) -> "Work[FitResult]":
        """Check everything and read it; raise TaktError where something cannot be bound."""
        assert context.view_layer is not None
        context.view_layer.update()
        mesh_objects = without_empty(selection(context)[1])
        for mesh_object in mesh_objects:
            check_mesh(mesh_object, may_share=True)
        self._task = fitting.read_task(mesh_objects)
        return partial(fitting.solve, self._task, self.naming, self.bind)

    def write(self, context: bpy.types.Context, result: FitResult) -> "set[Any]":
        """Make the armature, and bind the meshes to it."""
        mesh_objects = fitting.still_there(self._task)
        for mesh_object in mesh_objects:
            check_mesh(mesh_object, may_share=True)
        armature_object = fitting.add_armature(context, result, "Armature")
        for mesh_object in mesh_objects:
            mesh_object.select_set(True)
        parted: list[str] = []
        if result.task is not None and result.bound is not None:
            parted = part_meshes(mesh_objects, [bound.influences for bound in result.bound.bound])
            binding.write(mesh_objects, armature_object, result.task, result.bound,
                          left_behind(context, mesh_objects, armature_object))
        if parted:
            report(self, {"INFO"}, "Made single-user, as they get other weights than what shares their mesh: "
                                  f"{some_of(parted, _NAMES_SHOWN)}")
        report(self, {"WARNING"} if result.fitted.notes else {"INFO"}, _summary(result, armature_object))
        return {"FINISHED"}


def _summary(result: FitResult, armature_object: bpy.types.Object) -> str:
    """Return what was made, and of which joints it is not sure."""
    made = f"Fitted '{armature_object.name}' with {len(result.bone_names)} bones"
    bound = "" if result.task is None else \
        f" and bound {sum(len(mesh.share) for mesh in result.task.meshes):,} vertices to it"
    guesses = [result.bone_names[result.fitted.names.index(joint)] for joint in result.fitted.guesses]
    guessed = [f"Guessed, look at them: {some_of(guesses, _NAMES_SHOWN)}"] if guesses else []
    return ". ".join([made + bound, *guessed, *result.fitted.notes])
