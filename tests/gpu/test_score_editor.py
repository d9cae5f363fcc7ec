"""The score editor's picture, offscreen: against a kept one, by its structure, and what must be seen in it.

TAKT_KEEP_PICTURES=1 draws the kept picture anew. Look at it!
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
import pytest
from mathutils import Matrix

from takt.core.library.library import Library
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.drawing import Marked, picture, playhead_layer
from takt.core.score_editor.grid import Meter
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.picture import Pen, Picture
from takt.core.score_editor.shelf import arrange, shelf_layers
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.preview.score_editor.canvas import Poured, measured, rectangle_triangles
from takt.samples.clip_files import LIBRARY
from takt.samples.dancer import DANCE
from takt.tests.gpu.test_preview_pictures import ALIKE, KEPT, similarity

WIDTH, HEIGHT = 480, 180
VIEW, THEME = View(WIDTH, HEIGHT).framed(0.0, 144.0), Theme(measure=measured)


def dance() -> Layout:
    return lay_out(expand(resolve(parse(DANCE.read_text(encoding="utf-8"), DANCE), Library([LIBRARY]))))


def drawn(*pictures: Picture, width: int = WIDTH, height: int = HEIGHT) -> npt.NDArray[np.uint8]:
    """Return the pixels, upper rows first."""
    off: Any = gpu.types.GPUOffScreen(width, height)
    with off.bind():
        framebuffer: Any = gpu.state.active_framebuffer_get()
        framebuffer.clear(color=(0.0, 0.0, 0.0, 1.0))
        pushed: Any = gpu.matrix.push_pop()  # the stubs lack its __enter__
        projection: Any = gpu.matrix.push_pop_projection()
        with pushed, projection:
            gpu.matrix.load_identity()
            gpu.matrix.load_projection_matrix(
                Matrix(((2 / width, 0, 0, -1), (0, 2 / height, 0, -1), (0, 0, -1, 0), (0, 0, 0, 1))))
            for each in pictures:
                Poured.of(each).draw()
        buffer = framebuffer.read_color(0, 0, width, height, 4, 0, "UBYTE")
        buffer.dimensions = width * height * 4
    off.free()
    return np.array(buffer, dtype=np.uint8).reshape(height, width, 4)[::-1]


def without_texts(whole: Picture) -> Picture:
    """Fonts differ from one Blender to the next."""
    return Picture(tuple(replace(layer, texts=()) for layer in whole.layers))


def marked_dance() -> Picture:
    layout = dance()
    chosen = frozenset((layout.id_of(layout.boxes.titles.index("verse")),))
    whole = picture(layout, VIEW, THEME, Marked(selected=chosen))
    return Picture((*whole.layers, playhead_layer(50.0, VIEW, THEME, Meter())))


def test_the_picture_is_the_kept_one() -> None:
    found, path = drawn(without_texts(marked_dance())), KEPT / "score_editor.png"
    if os.environ.get("TAKT_KEEP_PICTURES"):
        keep(found, path)
    image: Any = bpy.data.images.load(str(path))
    kept = (np.array(image.pixels[:]).reshape(HEIGHT, WIDTH, 4)[::-1] * 255.0).round().astype(np.uint8)
    assert similarity(found, kept) >= ALIKE
    other = drawn(without_texts(picture(dance(), VIEW.zoomed(1.1, 200.0), THEME)))
    assert similarity(other, kept) < ALIKE


def keep(pixels: npt.NDArray[np.uint8], path: Path) -> None:
    image: Any = bpy.data.images.new("kept", WIDTH, HEIGHT, alpha=True)
    image.pixels = (pixels[::-1].astype(np.float64) / 255.0).ravel().tolist()
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


def test_texts_are_written() -> None:
    whole = marked_dance()
    assert (drawn(whole) != drawn(without_texts(whole))).any(axis=-1).sum() > 500


@pytest.mark.parametrize("colour", [(1.0, 0.5, 0.25, 1.0), (0.2, 0.4, 0.6, 1.0)])
def test_colours_come_out_as_they_are(colour: tuple[float, float, float, float]) -> None:
    pen = Pen()
    pen.rectangle((10.0, 20.0, 60.0, 50.0), colour)
    pixels = drawn(Picture((pen.layer(),)), width=80, height=60)
    np.testing.assert_allclose(pixels[20:30, 20:50, :3] / 255.0, np.broadcast_to(colour[:3], (10, 30, 3)), atol=1 / 255)
    assert (pixels[:9, :, :3] == 0).all() and (pixels[:, :9, :3] == 0).all() and (pixels[-19:, :, :3] == 0).all()


def test_a_rectangle_has_the_area_it_says_with_round_corners_and_an_outline() -> None:
    pen = Pen()
    pen.rectangle((0.0, 0.0, 40.0, 30.0), (1.0, 0.0, 0.0, 1.0), radius=6.0, outline=(0.0, 1.0, 0.0, 1.0),
                  outline_px=2.0)
    points, colours, triangles = rectangle_triangles(pen.layer().rectangles)
    corners = points[triangles]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / 2.0
    is_outline = (colours[triangles[:, 0]] == (0.0, 1.0, 0.0, 1.0)).all(axis=-1)
    whole = 40.0 * 30.0 - (4.0 - np.pi) * 36.0
    ring = whole - (36.0 * 26.0 - (4.0 - np.pi) * 16.0)
    assert areas[~is_outline].sum() == pytest.approx(whole, rel=0.005)
    assert areas[is_outline].sum() == pytest.approx(ring, rel=0.05)


@pytest.mark.parametrize("seed", range(20))
def test_rectangles_of_all_kinds_cover_each_other_in_their_order(seed: int) -> None:
    random, together, alone = np.random.default_rng(seed), Pen(), []
    for _ in range(30):
        left, bottom, width, height = random.uniform(0.0, (60.0, 40.0, 30.0, 20.0))
        width *= random.choice((0.05, 1.0))
        fill, outline = random.uniform(0.2, 1.0, (2, 3)).tolist()
        is_filled, radius, outline_px = random.integers(2, size=3) * (1.0, 6.0, 2.0)
        one = Pen()
        for pen in (together, one):
            pen.rectangle((left, bottom, left + width, bottom + height), (*fill, is_filled), radius=radius,
                          outline=(*outline, 1.0), outline_px=outline_px)
        alone.append(one.layer())
    layers = (together.layer(),), tuple(alone)
    at_once, one_by_one = (drawn(Picture(each), width=100, height=70) for each in layers)
    np.testing.assert_array_equal(at_once, one_by_one)


@pytest.mark.parametrize(("width", "height", "scale"), [
    (20, 20, 1.0), (2000, 400, 1.0), (400, 60, 2.0), (300, 300, 3.0)])
def test_any_size_can_be_drawn(width: int, height: int, scale: float) -> None:
    view = View(width, height, scale=scale).framed(0.0, 144.0)
    whole = picture(dance(), view, THEME)
    shelf = arrange([Playable("feet.Steps", "left", 1.0)], view, THEME)
    pixels = drawn(whole, Picture(shelf_layers(shelf, view, THEME)), width=width, height=height)
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 1
