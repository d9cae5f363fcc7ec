"""The pictures as a whole, against kept ones, by their structure; what is wrong must show.

TAKT_KEEP_PICTURES=1 draws the kept pictures anew (tests/gpu/pictures, by Mesa's software renderer). Look at them!
"""

import os
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
import pytest
from mathutils import Matrix, Quaternion, Vector

from takt.preview.modes import MODES
from takt.preview.offscreen import Renderer
from takt.tests.characters import Object, context, exchange_bones, own_character

KEPT = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 96, 128
BACKGROUND = (0.2, 0.2, 0.2, 1.0)
ALIKE = 0.97
"""Structural similarity, 1 for the same picture; another renderer's edges cost about 0.01."""
WINDOW = 7
EVEN = 1e-6

Image = npt.NDArray[np.uint8]


def similarity(a: Image, b: Image) -> float:
    """Return the mean structural similarity (Wang et al. 2004) of colours in windows of 7 × 7 that show anything."""
    x, y = a[..., :3].astype(np.float64), b[..., :3].astype(np.float64)
    mean_x, mean_y = window_mean(x), window_mean(y)
    spread_x, spread_y = window_mean(x * x) - mean_x ** 2, window_mean(y * y) - mean_y ** 2
    common = window_mean(x * y) - mean_x * mean_y
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    parts = ((2 * mean_x * mean_y + c1) * (2 * common + c2)
             / ((mean_x ** 2 + mean_y ** 2 + c1) * (spread_x + spread_y + c2)))
    return float(parts[(spread_x + spread_y > EVEN).any(axis=-1)].mean())


def window_mean(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    for axis in (0, 1):  # rows, then columns: few additions of whole pictures
        windows = np.lib.stride_tricks.sliding_window_view(values, WINDOW, axis=axis)
        values = np.asarray(sum(windows[..., at] for at in range(WINDOW))) / WINDOW
    return values


def character() -> tuple[Object, Object]:
    rig, mesh = own_character(bones=4, influences=3, sides=16, rings=49)
    turns = {"bone1": ((1.0, 0.0, 0.0), 0.8), "bone2": ((0.0, 0.0, 1.0), -1.0), "bone3": ((1.0, 0.0, 0.0), -0.6)}
    for name, (axis, angle) in turns.items():
        rig.pose.bones[name].rotation_mode = "QUATERNION"
        rig.pose.bones[name].rotation_quaternion = Quaternion(axis, angle)
    rig.data.bones.active = rig.data.bones["bone1"]
    context.view_layer.update()
    return rig, mesh


def seen_from() -> tuple[Any, Any]:
    """Return the matrices of a camera that sees the character."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    context.scene.collection.objects.link(camera)
    eye: Any
    eye, aim = Vector((2.5, -7.0, 3.5)), Vector((0.0, 0.2, 1.7))
    camera.matrix_world = Matrix.LocRotScale(eye, (aim - eye).to_track_quat("-Z", "Y"), None)
    context.view_layer.update()
    projection = camera.calc_matrix_camera(context.evaluated_depsgraph_get(), x=WIDTH, y=HEIGHT)
    view = camera.matrix_world.inverted()
    bpy.data.objects.remove(camera)
    return view, projection


def draw(mesh: Object, picture: str) -> Image:
    with Renderer(context.scene, [mesh], WIDTH, HEIGHT) as renderer:
        return renderer.draw(*seen_from(), picture, background=BACKGROUND)


def kept(picture: str) -> Image:
    image = bpy.data.images.load(str(KEPT / f"{picture.lower()}.png"))
    pixels = np.empty(WIDTH * HEIGHT * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    return np.asarray(np.rint(pixels.reshape(HEIGHT, WIDTH, 4)[::-1] * 255.0), dtype=np.uint8)


def keep(picture: str, drawn: Image) -> None:
    image = bpy.data.images.new(picture, WIDTH, HEIGHT)
    pixels: Any = (drawn[::-1] / 255.0).astype(np.float32).ravel()
    image.pixels.foreach_set(pixels)
    KEPT.mkdir(exist_ok=True)
    image.filepath_raw, image.file_format = str(KEPT / f"{picture.lower()}.png"), "PNG"
    image.save()


@pytest.mark.parametrize("picture", MODES)
def test_picture_is_as_kept(picture: str) -> None:
    drawn = draw(character()[1], picture)
    if os.environ.get("TAKT_KEEP_PICTURES"):
        keep(picture, drawn)
    assert similarity(drawn, kept(picture)) >= ALIKE


@pytest.mark.parametrize("picture", MODES)
def test_a_wrong_bone_shows(picture: str) -> None:
    _, mesh = character()
    exchange_bones(mesh)
    assert similarity(draw(mesh, picture), kept(picture)) < ALIKE


@pytest.mark.parametrize("picture", MODES)
def test_a_lost_influence_shows(picture: str) -> None:
    _, mesh = character()
    mesh.vertex_groups.remove(mesh.vertex_groups["bone1"])
    context.view_layer.update()
    assert similarity(draw(mesh, picture), kept(picture)) < ALIKE


def test_zones_show_a_lost_colour() -> None:
    drawn = draw(character()[1], "ZONES")
    grey = drawn.copy()
    grey[..., :3] = grey[..., :3].mean(axis=-1, keepdims=True)
    assert similarity(grey, kept("ZONES")) < ALIKE


def test_nothing_is_drawn_where_nothing_is() -> None:
    drawn = draw(character()[1], "SHADED")
    assert drawn.shape == (HEIGHT, WIDTH, 4) and drawn.dtype == np.uint8
    np.testing.assert_array_equal(drawn[:4, :4], np.broadcast_to((51, 51, 51, 255), (4, 4, 4)))


def test_a_picture_has_its_top_first() -> None:
    _, mesh = own_character()
    zones = draw(mesh, "ZONES").astype(int)
    mesh.location.z = 1.0
    context.view_layer.update()
    higher = draw(mesh, "ZONES").astype(int)
    rows = [np.flatnonzero((np.abs(image - 51)[..., :3] > 8).any(axis=(1, 2))) for image in (zones, higher)]
    assert rows[1].min() < rows[0].min()


def test_an_unbound_mesh_is_refused() -> None:
    mesh = bpy.data.objects.new("Alone", bpy.data.meshes.new("Alone"))
    with pytest.raises(ValueError, match="'Alone' is neither an armature nor a mesh with an Armature modifier"):
        Renderer(context.scene, [mesh], 4, 4)
