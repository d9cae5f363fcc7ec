"""Improve Weights: repair or replace chosen weights, and keep all others."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..bridge.active_character import active_armature
from ..bridge.meshes import binding, improving
from ..bridge.meshes.bind_selection import Chosen, check_objects, mode_problem
from ..bridge.meshes.binding import BindScope
from ..bridge.meshes.improving import IMPROVEMENTS, Improved, ImproveTask
from ..bridge.reports import report
from ..core.binding import RANGES, BindSettings
from ..core.errors import BindError
from .background import Work, WorksInBackground


class TAKT_OT_improve_weights(WorksInBackground[Improved], bpy.types.Operator):
    """Repair or replace chosen weights; locked groups and all other weights stay as they are"""

    bl_idname = "takt.improve_weights"
    bl_label = "Improve Weights"
    bl_options = {"REGISTER", "UNDO"}

    doing = "Improving weights"

    _task: ImproveTask
    _chosen: Chosen

    if TYPE_CHECKING:
        what: str
        only_selected_bones: bool
        influences: int
    else:
        what: EnumProperty(
            name="Improve", description="Which weights to replace", default="FAULTS",
            items=[(identifier, entry.label, entry.description) for identifier, entry in IMPROVEMENTS.items()])
        only_selected_bones: BoolProperty(
            name="Only Selected Bones", description="Write only the vertex groups of bones selected in Pose "
                                                    "Mode, which share the weight that other groups leave",
            default=False, options={"SKIP_SAVE"})
        influences: IntProperty(
            name="Max Influences", description="The most bones that move a vertex; 0 for no limit",
            default=BindSettings().influences, soft_max=8, min=int(RANGES["influences"].least),
            max=int(RANGES["influences"].most))

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is nothing to improve."""
        armature_object = active_armature(context)
        if armature_object is None:
            return "Make a bound mesh or its armature the active object"
        return mode_problem([armature_object, *_selected_meshes(context)])

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the options in the adjust panel."""
        assert self.layout is not None
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        for name in ("what", "influences", "only_selected_bones"):
            self.layout.prop(self, name)

    def read(self, context: bpy.types.Context) -> "Work[Improved]":
        """Check everything and read it."""
        armature_object = active_armature(context)
        assert armature_object is not None and context.view_layer is not None  # poll has checked it
        context.view_layer.update()
        bound = improving.bound_meshes(context, armature_object)
        changed = self._changed(context, bound)
        check_objects(changed, armature_object)
        others = [ob for ob in bound if ob not in changed]
        if self.what == "CLOTHES" and not others:
            raise BindError(f"Select the clothes only: the body is what else '{armature_object.name}' moves, and "
                            "there is no such mesh with weights")
        self._chosen = Chosen.of(context, armature_object)
        scope = BindScope(self.what == "SELECTED", self.only_selected_bones)
        self._task = improving.read_task(changed, others, armature_object, scope)
        return partial(improving.solve, self._task, self.what, BindSettings(influences=self.influences))

    def _changed(self, context: bpy.types.Context, bound: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
        """Return the meshes to change: the selected ones, or else all bound ones."""
        selected = _selected_meshes(context)
        if self.what != "CLOTHES":
            selected = [ob for ob in selected if ob in bound] or list(bound)
        if not selected:
            raise BindError("Select the clothes" if self.what == "CLOTHES" else
                            "No visible mesh follows the armature by vertex groups: Auto-bind to Skeleton first")
        return selected

    def write(self, _context: bpy.types.Context, result: Improved) -> "set[Any]":
        """Write the result, if nothing relevant has changed since it was read."""
        armature_object = self._chosen.armature_object()
        meshes = binding.still_there(self._task.bind, armature_object)[:self._task.changed]
        check_objects(meshes, armature_object)
        kinds = IMPROVEMENTS[self.what].kinds
        counts = [(count, kind) for count, kind in zip(result.counts, kinds, strict=True) if count]
        if not counts:
            report(self, {"INFO"}, "No faults found: every vertex has weights, none flies and none leaks")
            return {"CANCELLED"}
        improving.write(meshes, armature_object, result, self._chosen.left_behind(meshes))
        report(self, {"INFO"}, f"Improved {sum(count for count, _ in counts):,} vertices: "
                              + ", ".join(f"{count:,} {kind}" for count, kind in counts))
        return {"FINISHED"}


def _selected_meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    return [ob for ob in context.selected_objects if ob.type == "MESH"]
