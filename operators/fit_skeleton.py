"""Fit Skeleton: an armature for the selected meshes, which have none."""

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..bridge.background import BackgroundWork
from ..bridge.language import say
from ..bridge.meshes import binding, fitting
from ..bridge.meshes.bind_selection import check_mesh, left_behind, mode_problem, selection, without_empty
from ..bridge.meshes.fitting import FitResult, FitTask
from ..bridge.meshes.shared_meshes import part_meshes
from ..bridge.reports import report
from ..core.errors import TaktError, some_of
from ..core.fitting import BodyKind, FittedSkeleton
from ..core.fitting.naming import DEFAULT_NAMING, NAMINGS
from .background import Work, WorksInBackground
from .move_joints import MovesJoints

_NAMES_SHOWN = 5
_BODIES: Final = [("auto", "Automatic", "A humanoid or another body, decided by its shape"),
           ("humanoid", "Humanoid", "Head, two arms and two legs, also if it stands on four legs, or has a tail"),
           ("shape", "By Shape", "Spine, head, tail and the limbs that the mesh has")]
_LIES: Final = "It lies: clear the armature's rotation (Alt R), and it stands"
_POLL_S, _SOON_S = 0.1, 0.2


class TAKT_OT_fit_skeleton(WorksInBackground[FitResult], bpy.types.Operator):
    """Fit a skeleton into the selected meshes, which form one body, and bind them to it"""

    bl_idname = "takt.fit_skeleton"
    bl_label = "Fit Skeleton"
    bl_options = {"REGISTER", "UNDO"}

    doing = "Fitting a skeleton"

    if TYPE_CHECKING:
        naming: str
        body: BodyKind
        bind: bool
        adjust: bool
        moved: str
    else:
        naming: EnumProperty(
            name="Names", description="Naming convention of the bones", default=DEFAULT_NAMING,
            items=[(identifier, entry.label, entry.description) for identifier, entry in NAMINGS.items()])
        body: EnumProperty(name="Body", description="What the meshes are", default="auto", items=_BODIES)
        bind: BoolProperty(
            name="Bind", description="Also make the vertex groups, as Auto-bind does; "
                                     "off, only the armature is made", default=True)
        adjust: BoolProperty(
            name="Adjust", description="Show the joints as handles to be dragged, before the armature is made",
            default=False, options={"SKIP_SAVE", "HIDDEN"})
        moved: StringProperty(
            name="Moved", description="Joints that were moved by hand, and by how much: "
                                      'as {"l_elbow": [0, 0, 0.1]}, in metres of the scene',
            default="", options={"SKIP_SAVE", "HIDDEN"})

    _task: FitTask
    _fitting: BackgroundWork[FittedSkeleton] | None = None
    _handles: MovesJoints | None = None

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: "Any") -> str:
        """Return the tooltip."""
        return ("Fit a skeleton into the selected meshes, which form one body, drag its joints to where they belong, "
                "then bind the meshes" if properties.adjust else cls.__doc__ or "")

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why no skeleton can be fitted."""
        armature_object, mesh_objects = selection(context)
        if not mesh_objects:
            return "Select the meshes of one body"
        if armature_object is not None and armature_object in context.selected_objects:
            return "Deselect the armature to fit another one, or bind to it"
        return mode_problem(mesh_objects)

    def read(self, context: bpy.types.Context) -> "Work[FitResult]":
        """Check everything and read it; raise TaktError if something cannot be bound."""
        assert context.view_layer is not None
        context.view_layer.update()
        mesh_objects = without_empty(selection(context)[1])
        for mesh_object in mesh_objects:
            check_mesh(mesh_object, may_share=True)
        self._task = fitting.read_task(mesh_objects, self.body)
        return partial(fitting.solve, self._task, self.naming, self.bind, self.moved)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start; if joints are to be adjusted, fit first, and bind after the user accepts."""
        if not self.adjust or bpy.app.background:
            return super().invoke(context, event)
        try:
            self.read(context)
        except TaktError as error:
            return self._refuse(str(error))
        self._fitting = BackgroundWork(partial(fitting.fit, self._task))
        return self._go_on(context, _POLL_S)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Fit, then follow the handles, then bind."""
        if self._handles is not None:
            return self._adjust(context, event)
        if self._fitting is None:
            return super().modal(context, event)
        if event.type == "ESC":
            self._fitting.cancel()
            self._clear(context)
            return self._cancelled()
        if event.type == "TIMER" and self._fitting.has_ended():
            return self._show_handles(context)
        self._show(context, self._fitting.done)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop all work: Blender calls it when the window is closed or another file opened."""
        if self._handles is not None:
            self._handles.end()
            self._hint(context, None)
        if self._fitting is not None:
            self._fitting.end()
            self._clear(context)
        else:
            super().cancel(context)

    def _show_handles(self, context: bpy.types.Context) -> "set[Any]":
        assert self._fitting is not None
        try:
            found = self._fitting.result()
            meshes = fitting.still_there(self._task)
        except TaktError as error:
            self._clear(context)
            return self._refuse(str(error))
        names = [NAMINGS[self.naming].name_of(joint) for joint in found.names]
        self._clear(context)
        self._handles = MovesJoints(found, names, meshes)
        self._hint(context, self._handles.hints())
        return {"RUNNING_MODAL"}

    def _adjust(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Let the user move joints; Enter binds, Esc cancels everything."""
        assert self._handles is not None
        try:
            answer = self._handles.take(context, event)
        except Exception:
            self._handles.end()
            self._hint(context, None)
            raise
        if answer == "NOT_OURS":
            return {"PASS_THROUGH"}
        if answer == "GOES_ON":
            self._hint(context, self._handles.hints())
            return {"RUNNING_MODAL"}
        correction = self._handles.correction
        self._handles.end()
        self._handles = self._fitting = None
        self._hint(context, None)
        if answer == "GIVEN_UP":
            return self._cancelled()
        self.moved = correction.as_text()
        self._work = BackgroundWork(partial(fitting.bound_to, self._task, correction.fitted(), self.naming, self.bind))
        if self._work.has_ended(within_s=_SOON_S):
            return self._end(context)
        self._wake(context, _POLL_S)
        return {"RUNNING_MODAL"}

    @staticmethod
    def _hint(context: bpy.types.Context, text: str | None) -> None:
        if context.workspace is not None:
            context.workspace.status_text_set(None if text is None else say(text))

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
    """Return a summary of the result with its uncertain joints."""
    made = f"Fitted '{armature_object.name}' with {len(result.bone_names)} bones"
    bound = "" if result.task is None else \
        f" and bound {sum(len(mesh.share) for mesh in result.task.meshes):,} vertices to it"
    guesses = [result.bone_names[result.fitted.names.index(joint)] for joint in result.fitted.guesses]
    guessed = [f"Guessed, look at them: {some_of(guesses, _NAMES_SHOWN)}"] if guesses else []
    lies = [_LIES] if result.is_turned else []
    return ". ".join([made + bound, *guessed, *result.fitted.notes, *lies])
