"""The way, footprints and targets: where their pixels are, and that nothing is called where they are off."""

from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
import pytest
from mathutils import Matrix, Quaternion

from takt.bridge import properties
from takt.bridge.scores import score
from takt.core.maths.arrays import FloatArray
from takt.core.playing.scene.traces import Mark, Traces
from takt.preview import life, way
from takt.preview.draw import CameraView
from takt.preview.floor import bound
from takt.preview.look import ViewportLook
from takt.preview.way_shapes import shapes_of
from takt.samples.character import add_armature, bone_tails
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton, rest_positions
from takt.tests.blender.test_cast import SCORE, chair
from takt.tests.characters import context
from takt.tests.gpu.test_preview_score import viewport

SIZE, REACH_M, HIGH_M = 256, 3.0, 5.0
ALL_OVER, NOTHING_YET = 1e6, -1e6
Image = npt.NDArray[np.float32]


def from_above() -> CameraView:
    """Return a view straight down, in which a picture shows 2 REACH_M each way around the origin."""
    look = np.eye(4)
    look[2, 3] = -HIGH_M
    clip = np.diag((1.0 / REACH_M, 1.0 / REACH_M, -1.0 / (2.0 * HIGH_M), 1.0))
    return CameraView(look, clip, SIZE, SIZE, encode=False, look=ViewportLook())


def pixel(point: FloatArray) -> tuple[int, int]:
    """Return the row and column of a point of the world, from below."""
    x, y = ((point[:2] / REACH_M + 1.0) / 2.0 * SIZE).astype(int)
    return int(y), int(x)


def drawn(traces: Traces, world: Matrix, now_s: float, hidden_above: float | None = None) -> Image:
    target: Any = gpu.types.GPUOffScreen(SIZE, SIZE, format="RGBA32F")
    with bound(target):
        gpu.state.active_framebuffer_get().clear(
            color=(0.0, 0.0, 0.0, 0.0), depth=1.0 if hidden_above is None else (1.0 - (hidden_above - HIGH_M) / (
                2.0 * HIGH_M)) / 2.0)
        batch = way.batch_of(shapes_of(traces))
        assert batch is not None
        way.draw(batch, world, now_s, from_above())
        pixels: Any = gpu.state.active_framebuffer_get().read_color(0, 0, SIZE, SIZE, 4, 0, "FLOAT")
    pixels.dimensions = SIZE * SIZE * 4
    target.free()
    return np.array(pixels, dtype=np.float32).reshape(SIZE, SIZE, 4)


WORLD = Matrix.LocRotScale((0.4, 0.3, 0.0), Quaternion((0.0, 0.0, 1.0), 0.7), (0.9, 0.9, 0.9))


def made() -> Traces:
    """Return a straight way with six footprints beside it, to a place that is faced and a cup."""
    heels = np.array([(0.2 * number - 1.0, 0.1 * (-1) ** number, 0.0) for number in range(6)])
    along, up = np.array((0.24, 0.0, 0.0)), np.array((0.0, 0.0, 1.0))
    prints = np.stack([(heel, along, np.array((0.0, 0.09 * (-1) ** number, 0.0)), 0.24 * up)
                       for number, heel in enumerate(heels)])
    spans = np.stack((np.arange(6.0), np.arange(6.0) + 0.8), axis=1)
    way_over = np.stack((np.linspace(-1.0, 1.0, 9), np.zeros(9), np.zeros(9)), axis=1)
    place = Mark(np.array((1.5, 0.5, 0.0)), np.array((0.0, 1.0, 0.0)), 6.0)
    cup = Mark(np.array((-1.5, 0.8, 0.5)), np.zeros(3), 3.0)
    return Traces(way_over, np.linspace(0.0, 6.0, 9), prints, np.arange(6) % 2, spans, (place,), (cup,), up, 0.8)


def world_of(point: FloatArray) -> FloatArray:
    return np.asarray((np.array(WORLD) @ (*point, 1.0))[:3])


@pytest.fixture
def goes(tmp_path: Path) -> bpy.types.Object:
    """Return the sample's armature, without its skin, on its way to a chair."""
    assert context.scene is not None and context.view_layer is not None
    found: bpy.types.Object = add_armature("Dancer", context.scene, context.view_layer, build_skeleton(),
                                           rest_positions(), bone_tails())
    context.view_layer.objects.active = found
    path = tmp_path / "scene.pha"
    path.write_text(SCORE, encoding="utf-8")
    operators: Any = bpy.ops
    assert operators.takt.import_pha(filepath=str(path), library=str(LIBRARY)) == {"FINISHED"}
    properties.character(found).cast["seat"].target = chair()
    return found


def test_pixels_are_coloured_where_feet_stand_and_the_target_is() -> None:
    found, picture = made(), drawn(made(), WORLD, NOTHING_YET)
    for side, (heel, along, _, _) in zip(found.sides, found.prints, strict=True):
        red, _, blue, alpha = picture[pixel(world_of(heel + 0.68 * along))].tolist()
        assert alpha > 0.3 and (blue > red if side == 0 else red > blue)
    (place,), (cup,) = found.places, found.hands
    for turn in np.linspace(0.0, 6.0, 12).tolist():
        rim = place.position + 0.22 * found.size * np.array((np.cos(turn), np.sin(turn), 0.0))
        assert picture[pixel(world_of(rim))][3] > 0.3
    assert picture[pixel(world_of(place.position + 0.35 * found.size * place.ahead))][3] > 0.3  # the arrow
    assert not picture[pixel(world_of(place.position - 0.35 * found.size * place.ahead))].any()
    row, column = pixel(world_of((found.way[4] + found.way[5]) / 2.0))
    assert picture[pixel(world_of(cup.position))][3] > 0.3
    assert picture[row - 1:row + 2, column - 1:column + 2, 3].max() > 0.3  # the way is about a pixel wide
    assert (picture[..., 3] > 0.0).mean() < 0.2 and not picture[pixel(np.array((-2.5, -2.5)))].any()


def test_what_is_over_is_fainter_and_what_is_hidden_is_not_drawn() -> None:
    ahead, over = (drawn(made(), WORLD, now_s)[..., 3] for now_s in (NOTHING_YET, ALL_OVER))
    seen = ahead > 0.0
    assert (over[seen] < 0.7 * ahead[seen]).all() and not over[~seen].any()
    assert not drawn(made(), WORLD, NOTHING_YET, hidden_above=2.0).any()
    assert drawn(made(), WORLD, NOTHING_YET, hidden_above=-2.0).any()


def test_nothing_to_draw_is_no_batch() -> None:
    nothing = Traces(np.zeros((1, 3)), np.zeros(1), np.zeros((0, 4, 3)), np.zeros(0, dtype=np.int64), np.zeros((0, 2)),
                     (), (), np.array((0.0, 0.0, 1.0)), 0.8)
    assert way.batch_of(shapes_of(nothing)) is None


def test_a_viewport_shows_it_once_it_is_found_while_somebody_works_on_the_score(
        goes: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    score.look()
    score.motion_of(goes)
    calls = []
    monkeypatch.setattr(way, "draw", lambda *_: calls.append(1))
    with viewport() as inside:
        assert not way.is_wanted(inside)  # neither the editor nor the tab is open
        monkeypatch.setattr(way, "_is_tab_open", lambda _: True)
        assert way.is_wanted(inside)
        way.draw_viewport(inside)
        assert not calls
        while bpy.app.timers.is_registered(way._collect):
            if way._collect() is None:
                bpy.app.timers.unregister(way._collect)
        way.draw_viewport(inside)
        assert calls == [1]
        inside.space_data.overlay.show_overlays = False
        assert not way.is_wanted(inside)
        inside.space_data.overlay.show_overlays = True
        properties.character(goes).cast["seat"].target = None
        assert not way.is_wanted(inside)


def test_switched_off_there_is_no_handler() -> None:
    manager: Any = context.window_manager
    assert manager.takt_ways and way._handle is not None
    manager.takt_ways = False
    assert way._handle is None and not way._found and not life.choices().ways
    manager.takt_ways = True
    assert way._handle is not None


def test_a_failure_is_told_once_and_switches_it_off(monkeypatch: pytest.MonkeyPatch,
                                                    caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: object) -> bool:
        raise RuntimeError("broken")

    monkeypatch.setattr(way, "is_wanted", fails)
    way._draw()
    assert "switched off" in caplog.text and bpy.app.timers.is_registered(way._switch_off)
    bpy.app.timers.unregister(way._switch_off)
    way._switch_off()
    assert way._handle is None
    context.window_manager.takt_ways = True
