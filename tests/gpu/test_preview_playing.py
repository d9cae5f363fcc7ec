"""The preview plays by itself: from a motion at the scene's frame, or from the armature's pose."""

from typing import Any, cast

import bpy
import gpu
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from takt.bridge.rigs.armature import read_skeleton
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Pose
from takt.preview import getting_ready, life, visible
from takt.preview.cast import Cast
from takt.preview.choices import Choices
from takt.preview.offscreen import Renderer
from takt.tests.characters import Object, context, own_character

SIZE = 64
READABLE = 320
"""A size at which words can be read."""
TURN_RAD_PER_S = 0.8

toggle: Any = bpy.ops.takt.preview  # type: ignore[attr-defined]  # registered by the extension


class Bending:
    """Turns one bone about x, steadily."""

    def __init__(self, rig: Object) -> None:
        self.skeleton = read_skeleton(rig)
        self.moved = np.array([name == "bone1" for name in self.skeleton.names])

    duration_s = 100.0

    def sample(self, times_s: FloatArray) -> Pose:
        pose = Pose.rest(self.skeleton, len(times_s))
        turn = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), TURN_RAD_PER_S * times_s)
        pose.rotations[:, self.skeleton.index_of["bone1"]] = turn
        return pose


def bends(monkeypatch: pytest.MonkeyPatch, rig: Object) -> None:
    """Let the preview play `Bending`, as if a score did."""
    for module in (getting_ready, visible):
        monkeypatch.setattr(module, "played", lambda *_: Bending(rig))


def camera_matrices() -> tuple[Any, Any]:
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    context.scene.collection.objects.link(camera)
    eye: Any = Vector((2.5, -7.0, 3.5))
    camera.matrix_world = Matrix.LocRotScale(eye, (Vector((0.0, 0.0, 2.0)) - eye).to_track_quat("-Z", "Y"), None)
    context.view_layer.update()
    return camera.matrix_world.inverted(), camera.calc_matrix_camera(context.evaluated_depsgraph_get(), x=SIZE, y=SIZE)


def test_a_motion_is_played_at_the_scenes_frame() -> None:
    """Twelve frames of 24 in a second: half a second's turn, the same picture as of an armature posed so."""
    rig, mesh = own_character()
    view, projection = camera_matrices()
    context.scene.render.fps = 24
    context.scene.frame_set(context.scene.frame_start + 12)
    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: Bending(rig)) as renderer:
        played = renderer.draw(view, projection)
    rig.pose.bones["bone1"].rotation_mode = "QUATERNION"
    rig.pose.bones["bone1"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.5 * TURN_RAD_PER_S)
    context.view_layer.update()
    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: None) as renderer:
        posed = renderer.draw(view, projection)
    assert (played[..., 3] > 0).any()
    assert np.abs(played.astype(int) - posed.astype(int)).max() <= 2


def test_a_stage_follows_the_frames() -> None:
    rig, mesh = own_character()
    view, projection = camera_matrices()
    pictures = []
    with Renderer(context.scene, [rig], SIZE, SIZE, motion=lambda _: Bending(rig)) as renderer:
        for frame in (1, 20, 1):
            context.scene.frame_set(frame)
            pictures.append(renderer.draw(view, projection, "ZONES"))
    assert (pictures[0] == pictures[2]).all() and (pictures[0] != pictures[1]).any()
    assert mesh.name in context.scene.objects


@pytest.mark.parametrize("picture", ["SHADED", "ZONES"])
def test_a_viewport_shows_it(monkeypatch: pytest.MonkeyPatch, picture: Any) -> None:
    rig, mesh = own_character()
    bends(monkeypatch, rig)
    context.view_layer.objects.active = rig
    toggle()
    life.choices().picture = picture
    context.view_layer.update()
    drawn = [drawn_viewport(frame) for frame in (1, 30)]
    assert all(picture.any() for picture in drawn) and (drawn[0] != drawn[1]).any()
    mesh.hide_set(True)
    assert not drawn_viewport(1).any()
    mesh.hide_set(False)
    mesh.data.transform(Matrix.Translation((1.0, 0.0, 0.0)))
    mesh.data.update()
    context.view_layer.update()
    assert (drawn_viewport(1) != drawn[0]).any()
    life.choices().picture = "SHADED"


@pytest.mark.parametrize(("shading", "overlays"), [("MATERIAL", False), ("RENDERED", False), ("SOLID", True)])
def test_it_is_shown_where_blender_leaves_no_depth(monkeypatch: pytest.MonkeyPatch, shading: str,
                                                   overlays: bool) -> None:
    rig, _ = own_character()
    bends(monkeypatch, rig)
    context.view_layer.objects.active = rig
    toggle()
    space = viewport()["area"].spaces.active
    monkeypatch.setattr(space.shading, "type", shading)
    monkeypatch.setattr(space.overlay, "show_overlays", overlays)
    assert drawn_viewport(1).any()
    assert drawn_viewport(1, depth=0.0).any() != overlays


@pytest.mark.parametrize("switch", ["show_overlays", "show_outline_selected"])
def test_the_outline_goes_with_blenders_own(monkeypatch: pytest.MonkeyPatch, switch: str) -> None:
    rig, mesh = own_character()
    bends(monkeypatch, rig)
    context.view_layer.objects.active = rig
    toggle()
    mesh.select_set(True)
    outlines: list[Any] = []
    monkeypatch.setattr(Cast, "draw", lambda _, actors, *__: outlines.extend(actor.outline for actor in actors))
    drawn_viewport(1)
    monkeypatch.setattr(viewport()["area"].spaces.active.overlay, switch, False)
    drawn_viewport(1)
    assert outlines[0] is not None and outlines[1:] == [None]


def viewport() -> dict[str, Any]:
    """Return window, area and region of the first 3D viewport, as a context is overridden with."""
    window = context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return {"window": window, "area": area,
            "region": next(region for region in area.regions if region.type == "WINDOW")}


def drawn_viewport(frame: int, depth: float = 1.0) -> np.ndarray:
    """Return what is drawn over a viewport in which everything lies so deep."""
    context.scene.frame_set(frame)
    target: Any = gpu.types.GPUOffScreen(SIZE, SIZE)
    with context.temp_override(**viewport()), target.bind():
        framebuffer = gpu.state.active_framebuffer_get()
        framebuffer.clear(color=(0.0, 0.0, 0.0, 0.0), depth=depth)
        life.draw_viewport(context)
        pixels: Any = framebuffer.read_color(0, 0, SIZE, SIZE, 4, 0, "UBYTE")
    pixels.dimensions = SIZE * SIZE * 4
    target.free()
    return np.array(pixels, dtype=np.uint8)


def test_a_comparison_says_what_is_what() -> None:
    _, mesh = own_character()
    view, projection = camera_matrices()
    with Renderer(context.scene, [mesh], READABLE, READABLE, motion=lambda _: None) as renderer:
        alone, compared = (renderer.draw(view, projection, choices=Choices(compare=name))
                           for name in ("NONE", "SKINNING_DUAL_QUATERNION"))
    assert not is_white(alone).any() and is_white(compared).any()


def is_white(picture: Any) -> Any:
    """Tell where words are: nothing else is as bright."""
    return (picture[..., :3] > 200).all(axis=-1)


def test_a_viewport_of_wires_shows_the_mesh_by_its_wires(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the far side too where it has X-ray, as Blender does; who has chosen zones sees zones."""
    rig, _ = own_character()
    context.view_layer.objects.active = rig
    toggle()
    context.view_layer.update()
    shown: list[tuple[str, bool]] = []

    def draw(_: Cast, __: Any, ___: Any, choices: Choices, *____: Any) -> bool:
        shown.append((choices.picture, choices.see_through))
        return True

    monkeypatch.setattr(Cast, "draw", draw)
    shading, chosen = viewport()["area"].spaces.active.shading, cast(Any, life.choices())
    try:
        for kind, xray, picture in (("SOLID", True, "SHADED"), ("WIREFRAME", False, "SHADED"),
                                    ("WIREFRAME", True, "SHADED"), ("WIREFRAME", True, "ZONES")):
            shading.type, shading.show_xray_wireframe = kind, xray
            chosen.picture = picture
            drawn_viewport(1)
    finally:
        shading.type, chosen.picture = "SOLID", "SHADED"
        life.stop()
    assert shown == [("SHADED", False), ("WIREFRAME", False), ("WIREFRAME", True), ("ZONES", False)]
