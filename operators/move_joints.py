"""Handles of fitted joints: dragged before the skeleton is accepted, mirrored, with one step of undo."""

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ..core.fitting import FittedSkeleton
from ..core.fitting.correction import Correction
from ..core.maths.arrays import FloatArray
from ..preview import joint_handles
from ..preview.joint_handles import Handles, Lens

Answer = Literal["GOES_ON", "NOT_OURS", "ACCEPTED", "GIVEN_UP"]
_NAVIGATION: Final = frozenset((
    "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "WHEELINMOUSE", "WHEELOUTMOUSE", "TRACKPADPAN", "TRACKPADZOOM",
    "MOUSEROTATE", "MOUSESMARTZOOM", "NDOF_MOTION", "HOME", "ACCENT_GRAVE", "NUMPAD_PERIOD", "NUMPAD_PLUS",
    "NUMPAD_MINUS", *(f"NUMPAD_{number}" for number in range(10))))
_SLOW: Final = 0.1
"""Factor on the mouse's movement while Shift is held, as everywhere in Blender."""
_HINTS: Final = ("Drag: Move Joint   Ctrl: Into the Middle of the Mesh   Shift: Slowly   M: Mirror {mirror}   "
                 "Backspace: Put Back   Ctrl Z: Step Back   Enter: Accept   Esc: Cancel")


class Viewport(NamedTuple):
    """A viewport on the screen: its region, its projection, and the mouse in it, (2,) pixels."""

    region: int
    lens: Lens
    mouse: FloatArray

    @property
    def has_mouse(self) -> bool:
        """Return whether the mouse is in it."""
        return bool((self.mouse >= 0.0).all() and self.mouse[0] < self.lens.width and self.mouse[1] < self.lens.height)


class _Drag(NamedTuple):
    """A drag of a handle: its joint, the mouse (2,), the handle (2,), and the correction before the drag.

    region: of the viewport in which it started; it continues there, wherever the mouse is.
    """

    joint: str
    region: int
    mouse: FloatArray
    pixel: FloatArray
    before: Correction


class MovesJoints:
    """The handles of one skeleton while they are shown; handles events, and stores moved joints."""

    def __init__(self, found: FittedSkeleton, names: Sequence[str], mesh_objects: Sequence[bpy.types.Object]) -> None:
        """Show the handles; names: of the bones, as shown to the user. Call `end` afterwards."""
        self.correction = Correction(found)
        self.is_mirrored = True
        self._names, self._meshes = tuple(names), [ob.session_uid for ob in mesh_objects]
        self._earlier: list[Correction] = []
        self._drag: _Drag | None = None
        self.handles = Handles(found, self._names, np.zeros(len(found.names), dtype=np.bool_))
        joint_handles.show(self.handles)

    def end(self) -> None:
        """Remove the handles."""
        joint_handles.hide(self.handles)

    def hints(self) -> str:
        """Return the text for the status bar."""
        return _HINTS.format(mirror="Off" if not self.is_mirrored else "On")

    def take(self, context: bpy.types.Context, event: bpy.types.Event) -> Answer:
        """Handle an event; return whether it was used, and whether the user has accepted or cancelled."""
        if self._drag is not None:
            return self._take_dragging(context, event)
        if event.type == "MOUSEMOVE":
            self._hover(context, event)
        elif event.value != "PRESS":
            return "NOT_OURS" if event.type in _NAVIGATION else "GOES_ON"
        elif event.type in ("ESC", "RIGHTMOUSE"):
            return "GIVEN_UP"
        elif event.type in ("RET", "NUMPAD_ENTER"):
            return "ACCEPTED"
        elif event.type == "LEFTMOUSE":
            if event.alt:
                return "NOT_OURS"  # rotates the view, for a mouse without a middle button
            self._begin_drag(context, event)
        elif event.type == "M":
            self.is_mirrored = not self.is_mirrored
        elif event.type == "BACK_SPACE":
            self._put_back()
        elif event.type == "Z" and (event.ctrl or event.oskey):
            self._step_back()
        elif event.type in _NAVIGATION:
            return "NOT_OURS"
        return "GOES_ON"

    def _take_dragging(self, context: bpy.types.Context, event: bpy.types.Event) -> Answer:
        assert self._drag is not None
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            self.correction, self._drag = self._drag.before, None
            self._show()
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._earlier.append(self._drag.before)
            self._drag = None
        elif event.type in ("MOUSEMOVE", "LEFT_CTRL", "RIGHT_CTRL"):
            self._follow(context, event)
        return "GOES_ON"

    def _begin_drag(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        viewport = self._hover(context, event)
        hovered = self.handles.hovered
        if viewport is None or hovered < 0:
            return
        pixel = viewport.lens.pixels(self.handles.fitted.positions[hovered:hovered + 1])[0]
        self._drag = _Drag(self.correction.found.names[hovered], viewport.region, viewport.mouse, pixel,
                           self.correction)

    def _follow(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Move the joint to the mouse, in the viewport in which the drag started."""
        drag = self._drag
        if drag is None:
            return
        viewport = next((each for each in _viewports(context, event) if each.region == drag.region), None)
        if viewport is None:
            return
        pixel = drag.pixel + (viewport.mouse - drag.mouse) * (_SLOW if event.shift else 1.0)
        self._drag = drag._replace(mouse=viewport.mouse, pixel=pixel)
        start = drag.before.fitted().position(drag.joint)
        to = self._middle_of_mesh(context, viewport.lens, pixel) if event.ctrl else None
        self.correction = drag.before.with_moved(
            drag.joint, viewport.lens.at_depth_of(pixel, start) if to is None else to, self.is_mirrored)
        self._show()

    def _middle_of_mesh(self, context: bpy.types.Context, lens: Lens, pixel: FloatArray) -> FloatArray | None:
        """Return the midpoint (3,) between the first surface under a pixel and the next one behind; None: no mesh."""
        near, far = lens.ray(pixel)
        graph = context.evaluated_depsgraph_get()
        hits = [hit for ob in bpy.data.objects if ob.session_uid in self._meshes
                for hit in _hits(ob, graph, near, far)]
        hits.sort(key=lambda point: float(np.linalg.norm(point - near)))
        return (hits[0] + hits[1]) / 2.0 if len(hits) > 1 else None

    def _hover(self, context: bpy.types.Context, event: bpy.types.Event) -> Viewport | None:
        """Highlight the joint under the mouse, and return the viewport under the mouse."""
        viewport = None if _is_over_panel(context, event) else next(
            (each for each in _viewports(context, event) if each.has_mouse), None)
        under = -1 if viewport is None else joint_handles.nearest(self.handles, viewport.lens, viewport.mouse)
        if under != self.handles.hovered:
            self.handles.hovered = under
            joint_handles.redraw()
        return viewport

    def _put_back(self) -> None:
        """Move the joint under the mouse back to where it was found."""
        if self.handles.hovered >= 0:
            self._earlier.append(self.correction)
            self.correction = self.correction.without(self.correction.found.names[self.handles.hovered],
                                                      self.is_mirrored)
            self._show()

    def _step_back(self) -> None:
        if self._earlier:
            self.correction = self._earlier.pop()
            self._show()

    def _show(self) -> None:
        self.handles.fitted = self.correction.fitted()
        self.handles.moved = np.array([name in self.correction.moved for name in self.correction.found.names])
        joint_handles.redraw()


def _viewports(context: bpy.types.Context, event: bpy.types.Event) -> list[Viewport]:
    """Return the viewports of the screen on which an event happened."""
    mouse = np.array((event.mouse_x, event.mouse_y), dtype=np.float64)
    found = list[Viewport]()
    for region in _regions(context):
        view: Any = region.data
        if region.type == "WINDOW" and isinstance(view, bpy.types.RegionView3D):
            found.append(Viewport(region.as_pointer(), Lens.of(region, view), mouse - (region.x, region.y)))
    return found


def _is_over_panel(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Return whether the mouse is over a panel in a viewport, such as the sidebar."""
    return any(region.type not in ("WINDOW", "HEADER") and region.width > 1
               and region.x <= event.mouse_x < region.x + region.width
               and region.y <= event.mouse_y < region.y + region.height for region in _regions(context))


def _regions(context: bpy.types.Context) -> list[bpy.types.Region]:
    return [region for area in (context.screen.areas if context.screen else ()) if area.type == "VIEW_3D"
            for region in area.regions]


def _hits(ob: bpy.types.Object, graph: bpy.types.Depsgraph, near: FloatArray, far: FloatArray) -> list[FloatArray]:
    """Return the first two points (3,) at which a ray between two points (3,) hits an object's surface."""
    inverse, found = ob.matrix_world.inverted_safe(), list[FloatArray]()
    start, end = inverse @ Vector(near.tolist()), inverse @ Vector(far.tolist())
    way: Any = end - start
    length, direction = way.length, way.normalized()
    for _ in range(2):
        is_hit, point, _, _ = ob.ray_cast(start, direction, distance=length, depsgraph=graph)
        if not is_hit:
            break
        found.append(np.array(ob.matrix_world @ point, dtype=np.float64))
        start = point + direction * (1e-4 * length)
    return found
