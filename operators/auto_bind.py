"""Auto-bind to Skeleton: vertex groups for the selected meshes from the bones near them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import bpy

from ..bridge.guard import guarded
from ..bridge.meshes import binding
from ..bridge.meshes.bind_options import BindOptions
from ..bridge.meshes.bind_selection import (
    Chosen,
    already_bound,
    bends_at_once,
    check_objects,
    empty_meshes,
    moved_as_well,
    other_armatures,
    other_shapes,
    props,
    selection,
    selection_problem,
    without_empty,
)
from ..bridge.meshes.binding import BindResult, BindTask
from ..bridge.meshes.shared_meshes import part_meshes
from ..bridge.reports import report
from ..core.binding.idle import IdleBones
from ..core.binding.rig_oddities import RigOddities
from ..core.errors import some_of
from .background import Work, WorksInBackground

_TOO_LARGE = 20.0
"""A mesh or a skeleton that is larger than the other by this factor has another unit; a character with a long pole is
smaller."""
_NAMES_SHOWN = 5


class TAKT_OT_auto_bind(WorksInBackground[BindResult], BindOptions, bpy.types.Operator):
    """Bind the selected meshes to the armature: make the vertex groups of its deforming bones"""

    bl_idname = "takt.auto_bind"
    bl_label = "Auto-bind to Skeleton"
    bl_options = {"REGISTER", "UNDO"}

    doing = "Binding"

    _task: BindTask
    _chosen: Chosen
    _left_alone: tuple[tuple[str, list[str]], ...]
    _replaced: list[str]

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is nothing to bind."""
        return selection_problem(context)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the options in the adjust panel."""
        assert self.layout is not None
        self.draw_options(self.layout)

    def read(self, context: bpy.types.Context) -> "Work[BindResult]":
        """Check everything and read it; raise TaktError if something cannot be bound."""
        armature_object, mesh_objects = selection(context)
        assert armature_object is not None and context.view_layer is not None  # poll has checked it
        context.view_layer.update()
        mesh_objects = without_empty(mesh_objects)
        check_objects(mesh_objects, armature_object, may_share=True)
        self._task = binding.read_task(mesh_objects, armature_object, self.scope())
        self._chosen, self._left_alone = Chosen.of(context, armature_object), _left_alone(context)
        self._replaced = [] if self.keep_existing else already_bound(mesh_objects, armature_object)
        return partial(binding.solve, self._task, self.method, self.settings())

    def write(self, _context: bpy.types.Context, result: BindResult) -> "set[Any]":
        """Write the result if nothing relevant has changed since it was read, whatever is selected now."""
        armature_object = self._chosen.armature_object()
        mesh_objects = binding.still_there(self._task, armature_object)
        check_objects(mesh_objects, armature_object, may_share=True)
        # binding a part of the mesh keeps the deformation of the rest
        part = self.only_selected_vertices or self.only_selected_bones
        earlier = [[] for _ in mesh_objects] if part else self._chosen.left_behind(mesh_objects)
        parted = part_meshes(mesh_objects, [bound.influences for bound in result.bound])
        idle = result.report.idle.names
        used = [name for name in self._task.bodies[0].bone_names if name not in idle]
        posed = ["The armature is posed: the meshes were bound to its rest pose, and bend at once"
                 ] if bends_at_once(armature_object, mesh_objects, used) else []
        summary = _summary(self._task, result, armature_object)
        others, moving = moved_as_well(armature_object, mesh_objects)
        result = replace(result, report=replace(result.report, idle=result.report.idle.without(moving)))
        removed = binding.write(mesh_objects, armature_object, self._task, result, earlier)
        replaced = [f"The weights before were replaced, of {some_of(self._replaced, _NAMES_SHOWN)} (F9: Keep Existing)"
                    ] if self._replaced else []
        # in one report, since the status bar shows only the last one
        found = unusual(result, mesh_objects, others, are_all_bones=not self.only_selected_bones)
        if result.report.idle.names:
            report(self, {"INFO"}, f"Bones without vertices: {_reasons(result.report.idle)}")
        for what, names in (*self._left_alone,
                            ("Bones without length, which count as reaching to their children, or as "
                             "continuing their parents; if weights are wrong, move their tails in Edit Mode, and bind "
                             "again",
                             result.report.rig.without_length),
                            ("Made single-user, as they get other weights than what shares their mesh", parted)):
            if names:
                report(self, {"INFO"}, f"{what}: {some_of(names, _NAMES_SHOWN)}")
        report(self, {"WARNING"} if found else {"INFO"}, ". ".join(
            [summary, *replaced, *posed, *_left(earlier, removed), *found]))
        return {"FINISHED"}


def _left_alone(context: bpy.types.Context) -> tuple[tuple[str, list[str]], ...]:
    """Return the selected objects that are left out, and why."""
    return (("Left alone, as they are parented to bones", props(context)),
            ("Left alone, as they have no vertices", empty_meshes(context)),
            ("Left alone, as they are not the active armature", other_armatures(context)),
            ("Left alone, as they are no meshes (parent them with Ctrl+P)", other_shapes(context)))


def unusual(result: BindResult, mesh_objects: Sequence[bpy.types.Object], others: Sequence[str] = (), *,
            are_all_bones: bool = True) -> list[str]:
    """Return a sentence for each kind of problem that the user should check.

    others: further meshes that the armature moves: then a hat may be smaller than the skeleton, and need not contain a
    bone. are_all_bones: whether the meshes were bound to all bones, not only to chosen ones, which may be as small as
    an eye's.
    """
    report = result.report
    names = [ob.name for ob in mesh_objects]
    is_small = report.times_larger < 1.0 / _TOO_LARGE
    lies_on_others = bool(others) and (is_small or bool(report.boneless_parts or report.flat_parts))
    differ = [_sizes(report.times_larger)] if are_all_bones and (
        report.times_larger > _TOO_LARGE or (is_small and not others)) else []
    found = (("Meshes without volume", [names[part] for part in report.flat_parts]),
             ("These meshes contain no bone; they follow the nearest skin or bones",
              [] if report.is_apart else [names[part] for part in report.boneless_parts]),
             ("Bound without other meshes of this armature; if it lies on them, undo, and select them as well, or use "
              "Improve Weights, Clothes", others if lies_on_others else ()))
    idle = [("Without vertices, though the bones on the other side have some", report.idle.lost),
            ("Without vertices, whole limbs", tuple(n for n in report.idle.empty if n not in report.idle.lost)),
            ("Without vertices, between bones that have some; see whether mesh and armature fit each other",
             report.idle.between)]
    apart = ["No bone lies in the meshes, which follow the nearest bones; undo, move the armature to the meshes, and "
             "bind again"] if report.is_apart and not differ and not others else []
    return differ + apart + _odd(report.rig) * are_all_bones + [
        f"{text}: {some_of(some, _NAMES_SHOWN)}"
        for text, some in (*found, *(idle if are_all_bones and not differ else ())) if some]


def _odd(rig: RigOddities) -> list[str]:
    """Return oddities of the rig, and how they were handled."""
    return [text for text, is_so in (
        ("All bones are named as controls or ends, and were used anyway; if another armature has deforming bones, "
         "undo, and bind to it", rig.only_controls),
        ("The names of all bones differ only in numbers; sides and controls were recognised by position alone; if "
         "weights are wrong, rename the bones, and bind again",
         rig.alike and not rig.only_controls)) if is_so]


def _sizes(times_larger: float) -> str:
    """Return the ratio of sizes of the largest mesh and the skeleton, as a sentence."""
    small, large, times = ("the skeleton", "A mesh", times_larger) if times_larger > 1.0 else (
        "the largest mesh", "The skeleton", 1.0 / times_larger)
    return f"{large} is {times:.0f} times as large as {small}; undo, scale one to the other, and bind again"


def _reasons(idle: IdleBones) -> str:
    """Return which bones have no vertices, and why."""
    return "; ".join(f"{some_of(names, _NAMES_SHOWN)} ({role.value})" for role, names in idle.by_role)


def _left(earlier: Sequence[Sequence[bpy.types.Object]], removed: int) -> list[str]:
    """Return a sentence with the armatures that the meshes followed before."""
    names = list(dict.fromkeys(ob.name for some in earlier for ob in some))
    if not names:
        return []
    groups = f" (vertex groups removed: {removed})" if removed else ""
    return [f"No longer moved by {some_of(names, _NAMES_SHOWN)}{groups}; to keep both armatures, select both"]


def _summary(task: BindTask, result: BindResult, armature_object: bpy.types.Object) -> str:
    vertices = sum(int(mesh_task.chosen.sum()) for mesh_task in task.meshes)
    bones = len(task.bodies[0].bone_names) - len(result.report.idle.names)
    return f"Bound {vertices:,} vertices to {bones} bones of '{armature_object.name}'"


@guarded(None)
def draw_in_parent_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in Object > Parent."""
    menu.layout.separator()
    menu.layout.operator(TAKT_OT_auto_bind.bl_idname, icon="BONE_DATA")
