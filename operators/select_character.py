"""A click selects a previewed character, whose original Blender's own selection does not see.

Whenever the preview is switched on, each shortcut of Blender's Select in the 3D viewport gets one of Takt's before it.
Where no character is seen, Blender's own goes on as ever.
"""

from typing import Any, cast

import bpy

from ..bridge.guard import guarded
from ..preview import life

_BLENDERS_OWN = "view3d.select"
_COPIED = ("toggle", "extend", "deselect", "select_passthrough")
_Shortcut = tuple[str, str, str, str, bool, bool, bool, bool, tuple[str, ...]]
_added: dict[_Shortcut, tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = {}


class TAKT_OT_select_character(bpy.types.Operator):
    """Select the previewed character below the mouse"""

    bl_idname = "takt.select_character"
    bl_label = "Select Character"
    bl_options = {"UNDO", "INTERNAL"}

    toggle: bpy.props.BoolProperty(options={"SKIP_SAVE", "HIDDEN"})  # type: ignore[valid-type]  # Blender's way
    extend: bpy.props.BoolProperty(options={"SKIP_SAVE", "HIDDEN"})  # type: ignore[valid-type]
    deselect: bpy.props.BoolProperty(options={"SKIP_SAVE", "HIDDEN"})  # type: ignore[valid-type]
    select_passthrough: bpy.props.BoolProperty(options={"SKIP_SAVE", "HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether a click may be on a previewed character."""
        return (life.is_running() and context.mode == "OBJECT" and context.region_data is not None
                and context.area is not None and context.area.type == "VIEW_3D")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Select what is seen below the mouse; a press may still become a drag of other tools."""
        found = guarded(None)(life.object_at)(context, (event.mouse_region_x, event.mouse_region_y))
        if found is None:
            return {"PASS_THROUGH"}
        self._pressed, self._at = event.type, (event.mouse_x, event.mouse_y)
        self._has_selected = not (self.select_passthrough and found.select_get())
        if self._has_selected:
            select(context, found, self.toggle, self.extend, self.deselect)
        if event.value != "PRESS":
            return {"FINISHED"}
        assert context.window_manager is not None
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL", "PASS_THROUGH"}  # with both, Blender goes on to look for clicks and drags

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Wait for the mouse button, or for a drag, so that a drag moves or boxes as without the preview."""
        done = {"FINISHED" if self._has_selected else "CANCELLED", "PASS_THROUGH"}
        if event.type == self._pressed and event.value in ("RELEASE", "CLICK_DRAG"):
            return done
        if event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            assert context.preferences is not None
            moved = max(abs(event.mouse_x - self._at[0]), abs(event.mouse_y - self._at[1]))
            is_drag = moved > context.preferences.inputs.drag_threshold_mouse * context.preferences.system.ui_scale
            return done if is_drag else {"PASS_THROUGH"}
        return {"RUNNING_MODAL", "PASS_THROUGH"}


def select(context: bpy.types.Context, ob: bpy.types.Object, toggle: bool, extend: bool, deselect: bool) -> None:
    """Select an object as Blender does with these modifiers."""
    layer = context.view_layer
    assert layer is not None
    was_active = layer.objects.active == ob
    if deselect:
        ob.select_set(False, view_layer=layer)
    elif toggle:
        ob.select_set(not (ob.select_get(view_layer=layer) and was_active), view_layer=layer)
    else:
        if not extend:
            for other in layer.objects.selected[:]:
                other.select_set(False, view_layer=layer)
        ob.select_set(True, view_layer=layer)
    layer.objects.active = ob


@guarded(None)
def follow_shortcuts() -> None:
    """Put an item of Takt's before each shortcut of Blender's Select that does more than list objects."""
    manager = bpy.context.window_manager
    config = None if manager is None else manager.keyconfigs.addon
    user = None if manager is None else manager.keyconfigs.user
    if config is None or user is None:  # without a window there are no shortcuts
        return
    wanted: dict[_Shortcut, bpy.types.KeyMap] = {}
    for keymap in user.keymaps:
        if keymap.space_type == "VIEW_3D":
            for item in keymap.keymap_items:
                properties: Any = item.properties
                if item.idname == _BLENDERS_OWN and item.active and not properties.enumerate:
                    chosen = tuple(name for name in _COPIED if getattr(properties, name))
                    wanted[keymap.name, item.type, item.value, keymap.region_type, bool(item.shift), bool(item.ctrl),
                           bool(item.alt), bool(item.oskey), chosen] = keymap
    if wanted.keys() == _added.keys():
        return
    ignore_clicks()
    for shortcut, keymap in wanted.items():
        name, kind, value, region_type, shift, ctrl, alt, oskey, chosen = shortcut
        own = config.keymaps.new(name=name, space_type=keymap.space_type, region_type=cast(Any, region_type))
        item = own.keymap_items.new(TAKT_OT_select_character.bl_idname, cast(Any, kind), cast(Any, value), shift=shift,
                                    ctrl=ctrl, alt=alt, oskey=oskey, head=True)
        for each in chosen:
            setattr(item.properties, each, True)
        _added[shortcut] = own, item


def ignore_clicks() -> None:
    """Remove all these shortcuts."""
    for keymap, item in _added.values():
        keymap.keymap_items.remove(item)
    _added.clear()


def register() -> None:
    """Follow the shortcuts whenever the preview is switched on."""
    life.on_start.append(follow_shortcuts)


def unregister() -> None:
    """Leave no shortcut behind."""
    if follow_shortcuts in life.on_start:
        life.on_start.remove(follow_shortcuts)
    ignore_clicks()
