"""Auto-bind to Skeleton: vertex groups for the selected meshes from the bones near them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty

from ..bridge import armature, binding, groups
from ..core.arrays import BoolArray, FloatArray
from ..core.binding import DEFAULT_METHOD, METHODS, RANGES, BindSettings
from ..core.errors import BindError, TaktError
from ..core.influences import Influences

_MODES_THAT_ALLOW_GROUPS = frozenset({"OBJECT", "POSE", "WEIGHT_PAINT"})
_NAMES_SHOWN = 5
_SINGULAR_BELOW = 1e-30


@dataclass(frozen=True, eq=False)
class _Bound:
    """What is to be written to one mesh: influences of the named bones, and the share of them (V,)."""

    mesh_object: bpy.types.Object
    bone_names: tuple[str, ...]
    influences: Influences
    share: FloatArray


class TAKT_OT_auto_bind(bpy.types.Operator):
    """Bind the selected meshes to the armature: make the vertex groups of its deforming bones"""

    bl_idname = "takt.auto_bind"
    bl_label = "Auto-bind to Skeleton"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        method: str
        influences: int
        exponent: float
    else:
        method: EnumProperty(
            name="Method", description="How the weights are found", default=DEFAULT_METHOD,
            items=[(identifier, entry.label, entry.description) for identifier, entry in METHODS.items()])
        influences: IntProperty(
            name="Influences", description="The most bones that move a vertex",
            default=BindSettings.influences,
            min=int(RANGES["influences"].least), max=int(RANGES["influences"].most))
        exponent: FloatProperty(
            name="Exponent", description="How fast a bone's hold falls off with distance: higher keeps zones tight",
            default=BindSettings.exponent, min=RANGES["exponent"].least, max=RANGES["exponent"].most,
            step=50, precision=1)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is something to bind."""
        reason = _selection_problem(context)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the settings in the adjust panel."""
        layout = self.layout
        assert layout is not None
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "method")
        for name in METHODS[self.method].settings:
            if hasattr(self, name):
                layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find all weights first, then write them."""
        armature_object, mesh_objects = _selection(context)
        assert armature_object is not None and context.view_layer is not None  # poll saw to it
        context.view_layer.update()
        try:
            _check(mesh_objects, armature_object)
            settings = BindSettings(influences=self.influences, exponent=self.exponent)
            bound = _find_weights(mesh_objects, armature_object, self.method, settings)
        except TaktError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for entry in bound:
            groups.write_influences(entry.mesh_object, entry.bone_names, entry.influences, entry.share)
            binding.attach(entry.mesh_object, armature_object)
        self.report({"INFO"}, _summary(bound, armature_object))
        return {"FINISHED"}


def _selection(context: bpy.types.Context) -> "tuple[bpy.types.Object | None, list[bpy.types.Object]]":
    """Return the active armature, else the only selected one, and the selected meshes."""
    selected = context.selected_objects
    armatures = [ob for ob in selected if ob.type == "ARMATURE"]
    active = context.active_object
    if active is not None and active.type == "ARMATURE":
        armatures = [active]
    return armatures[0] if len(armatures) == 1 else None, [ob for ob in selected if ob.type == "MESH"]


def _selection_problem(context: bpy.types.Context) -> str:
    """Return why the selection cannot be bound, or an empty text; cheap enough for every redraw."""
    armature_object, mesh_objects = _selection(context)
    if not mesh_objects:
        return "Select the meshes to bind, and the armature"
    if armature_object is None:
        several = any(ob.type == "ARMATURE" for ob in context.selected_objects)
        return "Make one of the selected armatures the active object" if several else "Select an armature as well"
    for ob in (armature_object, *mesh_objects):
        if ob.mode not in _MODES_THAT_ALLOW_GROUPS:
            return f"'{ob.name}' is being edited: go to Object Mode first"
    return ""


def _check(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object) -> None:
    """Raise BindError with the first thing that stands in the way."""
    if not any(bone.use_deform for bone in cast(bpy.types.Armature, armature_object.data).bones):
        raise BindError(f"Armature '{armature_object.name}' has no bone that deforms; "
                        "switch on Deform in the properties of its bones")
    if abs(armature_object.matrix_world.to_3x3().determinant()) < _SINGULAR_BELOW:
        raise BindError(f"Armature '{armature_object.name}' is scaled to nothing; give it a scale")
    for mesh_object in mesh_objects:
        _check_mesh(mesh_object, armature_object)


def _check_mesh(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> None:
    mesh, name = cast(bpy.types.Mesh, mesh_object.data), mesh_object.name
    if any(block.library or block.override_library for block in (mesh_object, mesh)):
        raise BindError(f"Mesh '{name}' is linked from another file; make it local (Object > Relations > Make Local)")
    if mesh.users - mesh.use_fake_user > 1:
        raise BindError(f"Mesh '{name}' shares its data with other objects, and groups belong to the data; "
                        "make it single-user (Object > Relations > Make Single User)")
    if len(mesh.vertices) == 0:
        raise BindError(f"Mesh '{name}' has no vertices; deselect it")
    if _is_ancestor(mesh_object, armature_object):
        raise BindError(f"Armature '{armature_object.name}' hangs below mesh '{name}'; clear its parent first")


def _is_ancestor(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> bool:
    parent = armature_object.parent
    while parent is not None and parent != mesh_object:
        parent = parent.parent
    return parent is not None


def _find_weights(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object, method: str,
                  settings: BindSettings) -> list[_Bound]:
    """Bind all meshes as one body; where groups are locked, the mesh is bound to the other bones only."""
    names = armature.read_deforming_bones(armature_object).names
    locked_of = [frozenset(name for name in names if groups.is_locked(mesh_object, name))
                 for mesh_object in mesh_objects]
    bound: dict[int, _Bound] = {}
    for locked in dict.fromkeys(locked_of):
        alike = [index for index, other in enumerate(locked_of) if other == locked]
        if len(locked) == len(names):
            raise BindError(f"All groups of '{mesh_objects[alike[0]].name}' are locked; unlock those to be made anew")
        bind_input = binding.read_bind_input(mesh_objects, armature_object, locked)
        influences = METHODS[method].bind(bind_input, settings, None)
        for index in alike:
            own = _rows(influences, bind_input.part == index)
            bound[index] = _Bound(mesh_objects[index], bind_input.bone_names, own,
                                  groups.read_locked_share(mesh_objects[index], names))
    return [bound[index] for index in range(len(mesh_objects))]


def _rows(influences: Influences, chosen: BoolArray) -> Influences:
    return Influences(influences.joints[chosen], influences.weights[chosen])


def _summary(bound: Sequence[_Bound], armature_object: bpy.types.Object) -> str:
    """Return what was done, and which bones move nothing."""
    used: set[str] = set()
    for entry in bound:
        joints = entry.influences.joints[entry.influences.weights > 0.0]
        used.update(entry.bone_names[joint] for joint in np.unique(joints))
    vertices = sum(len(entry.share) for entry in bound)
    text = f"Bound {vertices:,} vertices to {len(used)} bones of '{armature_object.name}'"
    idle = [name for name in dict.fromkeys(name for entry in bound for name in entry.bone_names) if name not in used]
    if idle:
        more = f" and {len(idle) - _NAMES_SHOWN} more" if len(idle) > _NAMES_SHOWN else ""
        text += f"; without vertices: {', '.join(idle[:_NAMES_SHOWN])}{more}"
    return text


def draw_in_parent_menu(menu: Any, _context: bpy.types.Context) -> None:
    """Draw the entry in Object > Parent."""
    menu.layout.separator()
    menu.layout.operator(TAKT_OT_auto_bind.bl_idname, icon="BONE_DATA")
