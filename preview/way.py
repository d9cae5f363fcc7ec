"""The way over the ground, the footprints and the targets of the active character, drawn into viewports.

They are shown while a score editor or Takt's tab of the viewport's sidebar is open, also without the preview. They are
computed in a thread. When switched off, nothing runs.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Final, cast

import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ..bridge import axes, properties
from ..bridge.active_character import active_armature, score_problem
from ..bridge.background import BackgroundWork
from ..bridge.guard import guarded
from ..bridge.scene import cast as casting
from ..bridge.scores import score
from ..bridge.scores.score_tree import is_score_editor
from ..core.maths import rotations as rot
from ..core.playing.motion import Motion
from ..core.playing.scene.traces import traces_of
from ..core.skeletons.hanim import UP
from . import life
from .draw import CameraView, view_block
from .look import ViewportLook
from .shader import WAY, shader
from .way_shapes import Shapes, shapes_of

_log = logging.getLogger(__name__)

_LOOK_AGAIN_S: Final = 0.05
_TAB: Final = "Takt"
_MOST_CHARACTERS: Final = 16


@dataclass(eq=False)
class _Found:
    """The batch of a motion."""

    motion: Motion
    batch: gpu.types.GPUBatch | None


_handle: Any = None
_found: dict[int, _Found] = {}
"""The batches of the characters that were drawn last, by their session_uid."""
_work: tuple[int, Motion, BackgroundWork[Shapes]] | None = None
"""The character and the motion for which something is being computed, and the computation."""


def switch(on: bool) -> None:
    """Start or stop drawing."""
    global _handle
    if on and _handle is None:
        _handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")
    if not on and _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
        forget()


def forget() -> None:
    """Clear the cache."""
    global _work
    _found.clear()
    if _work is not None:
        _work[2].end()
        _work = None


@guarded(None)
def _draw() -> None:
    """Draw into a viewport; a failure is reported once, and ends the drawing."""
    try:
        context = bpy.context
        if is_wanted(context):
            with score.while_drawing(life.changed):
                draw_viewport(context)
    except Exception:  # Blender would print any exception at every redraw
        _log.exception("The way could not be drawn and has been switched off")
        life.choices().ways = False
        bpy.app.timers.register(_switch_off)  # handlers must not be removed during a drawing


@guarded(None)
def _switch_off() -> None:
    switch(on=False)


def is_wanted(context: bpy.types.Context) -> bool:
    """Return whether the viewport of a context shows the way: if a score with cast roles is being edited."""
    space = context.space_data
    if not isinstance(space, bpy.types.SpaceView3D) or not space.overlay.show_overlays:
        return False
    if not (_is_tab_open(context) or _is_editor_open(context)):
        return False
    armature_object = active_armature(context)
    if armature_object is None or score_problem(armature_object) or not armature_object.visible_get(viewport=space):
        return False
    return any(role.is_here and casting.is_cast(role) for role in properties.character(armature_object).cast)


def draw_viewport(context: bpy.types.Context) -> None:
    """Draw way, footprints and targets of the active character."""
    armature_object, region, scene = active_armature(context), context.region_data, context.scene
    assert armature_object is not None and region is not None and scene is not None and context.region is not None
    motion = score.shown(armature_object)
    if motion is None:
        return
    found = _found.get(armature_object.session_uid)
    if found is None or found.motion is not motion:
        _look_for(armature_object, motion)
    if found is None or found.batch is None:
        return
    view = CameraView(np.array(region.view_matrix, dtype=np.float64), np.array(region.window_matrix, dtype=np.float64),
                context.region.width, context.region.height, encode=False, look=ViewportLook())
    draw(found.batch, armature_object.matrix_world, _now_s(armature_object, scene, motion), view)


def draw(batch: gpu.types.GPUBatch, world_from_model: Matrix, now_s: float, view: CameraView) -> None:
    """Draw triangles, hidden by nearer objects."""
    program = shader(WAY)
    block: Any = view_block(view)
    buffer = gpu.types.GPUUniformBuf(block)  # must live until it is drawn
    depth_test: Any = gpu.state.depth_test_get()
    blend: Any = gpu.state.blend_get()
    depth_mask = gpu.state.depth_mask_get()
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(False)
    gpu.state.blend_set("ALPHA")
    try:
        program.bind()
        program.uniform_block("view", buffer)
        program.uniform_float("world_from_model", cast(Any, world_from_model))
        program.uniform_float("now_s", now_s)
        batch.draw(program)
    finally:
        gpu.state.depth_test_set(depth_test)
        gpu.state.depth_mask_set(depth_mask)
        gpu.state.blend_set(blend)


def batch_of(shapes: Shapes) -> gpu.types.GPUBatch | None:
    """Copy triangles to the GPU, or None if there are none."""
    count = 3 * len(shapes.positions)
    if not count:
        return None
    layout = gpu.types.GPUVertFormat()
    fields = {"position": shapes.positions.reshape(-1, 3), "colour_in": np.repeat(shapes.colours, 3, axis=0),
              "when_s": np.repeat(shapes.when_s, 3)[:, None]}
    for name, values in fields.items():
        layout.attr_add(id=name, comp_type="F32", len=values.shape[1], fetch_mode="FLOAT")
    buffer = gpu.types.GPUVertBuf(layout, count)
    for name, values in fields.items():
        buffer.attr_fill(name, cast(Any, np.ascontiguousarray(values, dtype=np.float32)))
    return gpu.types.GPUBatch(type="TRIS", buf=buffer)


def _look_for(armature_object: bpy.types.Object, motion: Motion) -> None:
    global _work
    if _work is not None:
        return
    up, targets = rot.rotate(axes.armature_from_hanim(armature_object), UP), dict(casting.read(armature_object))
    _work = armature_object.session_uid, motion, BackgroundWork(
        lambda _: shapes_of(traces_of(motion, up, targets)))
    # It also ends after another file is opened; otherwise nothing would be computed any longer.
    bpy.app.timers.register(_collect, first_interval=_LOOK_AGAIN_S, persistent=True)


@guarded(None)
def _collect() -> float | None:
    """Store computed results, and redraw."""
    global _work
    if _work is None:
        return None
    uid, motion, work = _work
    if not work.has_ended():
        return _LOOK_AGAIN_S
    _work = None
    while len(_found) > _MOST_CHARACTERS:  # other windows may have other active characters
        del _found[next(iter(_found))]
    _found[uid] = _Found(motion, None)  # do not try again after a failure
    _found[uid] = _Found(motion, batch_of(work.result()))
    life.changed()
    return None


def _now_s(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> float:
    if life.is_running():
        return life.time_in_score(armature_object, scene, motion)
    return score.time_s(armature_object, scene, scene.frame_current_final)


def _is_tab_open(context: bpy.types.Context) -> bool:
    assert context.area is not None
    sidebar: Any = next((region for region in context.area.regions if region.type == "UI"), None)
    return sidebar is not None and bool(sidebar.width > 1 and sidebar.active_panel_category == _TAB)


def _is_editor_open(context: bpy.types.Context) -> bool:
    manager = context.window_manager
    return any(is_score_editor(area.spaces.active) for window in (manager.windows if manager else ())
               for area in window.screen.areas if area.type == "NODE_EDITOR")
