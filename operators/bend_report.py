"""Report of a bend test: absolute numbers, and the worst vertices selected."""

from functools import partial
from typing import Any

import bpy

from ..bridge.active_character import active_armature, armature_problem
from ..bridge.meshes import bend, groups, improving
from ..bridge.reports import report
from ..core.binding.sweep import Sweep
from ..core.errors import BindError
from .background import Work, WorksInBackground


class TAKT_OT_bend_report(WorksInBackground[Sweep], bpy.types.Operator):
    """Bend all joints by 45°, 90° and 120° about two axes, count faults of the skin, and select the worst vertices"""

    bl_idname = "takt.bend_report"
    bl_label = "Report"
    bl_options = {"REGISTER", "UNDO"}

    doing = "Bending"

    _armature: int
    _meshes: "list[tuple[int, int]]"

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why nothing can be bent."""
        return armature_problem(active_armature(context))

    def read(self, context: bpy.types.Context) -> "Work[Sweep]":
        """Read all visible meshes that the armature moves."""
        armature_object = active_armature(context)
        assert armature_object is not None and context.view_layer is not None  # poll has checked it
        context.view_layer.update()
        meshes = improving.bound_meshes(context, armature_object)
        if not meshes:
            raise BindError(f"No visible mesh follows '{armature_object.name}' by vertex groups: "
                            "Auto-bind to Skeleton first")
        editing = next((ob.name for ob in meshes if ob.mode == "EDIT"), "")
        if editing:
            raise BindError(f"'{editing}' is being edited: go to Object Mode first")
        self._armature = armature_object.session_uid
        self._meshes = [(ob.session_uid, groups.vertex_count(ob)) for ob in meshes]
        return partial(improving.report, improving.read_bound(meshes, armature_object))

    def write(self, _context: bpy.types.Context, result: Sweep) -> "set[Any]":
        """Select the worst vertices, and report the numbers."""
        if not result.joints:
            raise BindError("No joint moves enough of the skin to be bent: the character needs two bones with weights")
        worst = result.worst()
        found = {ob.session_uid: ob for ob in bpy.data.objects}
        first = 0
        for uid, count in self._meshes:
            ob = found.get(uid)
            if ob is not None and ob.is_editable and ob.mode != "EDIT" and groups.vertex_count(ob) == count:
                groups.write_selection(ob, worst[first:first + count])
            first += count
        told = lines(result, int(worst.sum()))
        armature_object = found.get(self._armature)
        if armature_object is not None:
            bend.keep_report(armature_object, told)
        report(self, {"INFO"}, f"{told[0]}: {', '.join(told[1:-1])}; {told[-1]}")
        return {"FINISHED"}


def lines(found: Sweep, selected: int) -> tuple[str, ...]:
    """Return the numbers line by line: the status bar cuts long lines, the panel does not."""
    return (f"{found.joints} joints bent", f"{found.flips:.1f} ‰ of triangles flipped",
            f"edges stretched {found.stretch:.1f} times", f"{found.volume:.0f} % of volume lost",
            f"{found.flying:.1f} ‰ of vertices flying", f"{found.leaks:.1f} ‰ leaking", f"{found.tears:.1f} ‰ torn",
            f"the worst {selected:,} vertices are selected" if selected else "no vertex is broken")
