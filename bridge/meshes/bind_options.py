"""The options of Auto-bind, and how they are drawn."""

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...core.binding import BINDING_METHODS, DEFAULT_METHOD, RANGES, BindSettings
from ..language import say
from .binding import BindScope

_DEFAULTS = BindSettings()
_WIDEST = {name: {"min": least, "max": most} for name, (least, most) in RANGES.items()}


class BindOptions:
    """Properties that the operator inherits."""

    if TYPE_CHECKING:
        method: str
        influences: int
        hardness: float
        smoothing: float
        resolution: int
        exponent: float
        prune_below: float
        weld_seams: bool
        only_selected_vertices: bool
        only_selected_bones: bool
        keep_locked_groups: bool
        keep_existing: bool
    else:
        method: EnumProperty(
            name="Method", description="How the weights are found", default=DEFAULT_METHOD,
            items=[(identifier, entry.label, entry.description) for identifier, entry in BINDING_METHODS.items()])
        influences: IntProperty(
            name="Max Influences", description="The most bones that move a vertex; 0 for no limit",
            default=_DEFAULTS.influences, soft_max=8, **_WIDEST["influences"])
        hardness: FloatProperty(
            name="Hardness", description="How closely each vertex follows its strongest bone: higher values give "
                                         "sharper borders",
            default=_DEFAULTS.hardness, soft_max=4.0, step=10, precision=2, **_WIDEST["hardness"])
        smoothing: FloatProperty(
            name="Smoothing", description="How far the zones of neighbouring bones blend over the surface; "
                                          "0 does not blend them",
            default=_DEFAULTS.smoothing, step=10, precision=2, **_WIDEST["smoothing"])
        resolution: IntProperty(
            name="Resolution", description="Resolution of the inside of the body: raise it if thin parts close "
                                           "to each other move together",
            default=_DEFAULTS.resolution, soft_min=24, soft_max=128, **_WIDEST["resolution"])
        exponent: FloatProperty(
            name="Exponent", description="How fast a bone's influence falls off with distance: a higher value gives "
                                         "tighter zones",
            default=_DEFAULTS.exponent, step=50, precision=1, **_WIDEST["exponent"])
        prune_below: FloatProperty(
            name="Prune Below", description="Weights smaller than this are dropped",
            default=_DEFAULTS.prune_below, soft_max=0.1, step=0.1, precision=3, **_WIDEST["prune_below"])
        weld_seams: BoolProperty(
            name="Weld Seams", description="Give vertices at the same position the same weights, so that seams do not "
                                           "tear. Switch off if touching lips or lids should open",
            default=_DEFAULTS.weld_seams)
        only_selected_vertices: BoolProperty(
            name="Vertices", description="Write the weights of selected vertices only; all others stay as they are",
            default=False, options={"SKIP_SAVE"})
        only_selected_bones: BoolProperty(
            name="Bones", description="Write only the vertex groups of bones selected in Pose Mode, which share the "
                                      "weight that other groups leave",
            default=False, options={"SKIP_SAVE"})
        keep_locked_groups: BoolProperty(
            name="Keep Locked Groups", description="Keep locked vertex groups; the other groups share the "
                                                   "weight that these leave",
            default=True)
        keep_existing: BoolProperty(
            name="Keep Existing", description="Keep vertices that already have weights of the armature's bones; "
                                              "bind only the others",
            default=False, options={"SKIP_SAVE"})

    def settings(self) -> BindSettings:
        """Return the settings for the method."""
        return BindSettings(**{name: getattr(self, name) for name in BINDING_METHODS[self.method].settings})

    def scope(self) -> BindScope:
        """Return which weights may change."""
        return BindScope(self.only_selected_vertices, self.only_selected_bones, self.keep_locked_groups,
                         self.keep_existing)

    def draw_options(self, layout: bpy.types.UILayout) -> None:
        """Draw the options of the method."""
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "method")
        column = layout.column()
        for name in BINDING_METHODS[self.method].settings:
            column.prop(self, name)
        column = layout.column(heading=say("Only Selected"), translate=False)
        column.prop(self, "only_selected_vertices")
        column.prop(self, "only_selected_bones")
        layout.prop(self, "keep_locked_groups")
        layout.prop(self, "keep_existing")
