"""The preview of a real score against Blender's own mesh under the Action that the same score was written as."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
import pytest

from takt.bridge.scores.score import motion_of, time_s
from takt.core.maths.arrays import FloatArray
from takt.core.playing.ahead import AT_ONCE, Ahead
from takt.core.playing.motion import Motion
from takt.preview import getting_ready, life
from takt.preview.batch import read_geometry
from takt.preview.character import PreviewCharacter
from takt.preview.instances import sampled_rows
from takt.preview.preparing import QUIET_S, _in_turn
from takt.preview.roles import DrawnRole, pose_roles
from takt.samples.character import build_character
from takt.tests.characters import Object, context, evaluated
from takt.tests.gpu.readback import posed_on_gpu

DANCE = Path(__file__).parents[2] / "samples" / "library" / "dance.pha"
POSITION_TOLERANCE = 1e-4
"""Of the height."""


@pytest.fixture
def dancer() -> tuple[Object, Object]:
    armature, mesh = build_character(context)
    for ob in context.selected_objects:
        ob.select_set(False)
    mesh.select_set(True)
    armature.select_set(True)
    context.view_layer.objects.active = armature
    takt: Any = bpy.ops.takt  # type: ignore[attr-defined]  # registered by the extension
    takt.auto_bind()
    takt.import_pha(filepath=str(DANCE))
    return armature, mesh


def test_the_preview_of_a_score_is_blenders_mesh_under_its_action(dancer: tuple[Object, Object]) -> None:
    armature, mesh = dancer
    character = PreviewCharacter(armature.session_uid)
    character.refresh(armature, [mesh])
    assert character.skeleton is not None
    geometry = read_geometry(mesh, list(character.skeleton.names), np.ones((len(character.skeleton), 3)))
    scene = context.scene
    for frame in np.linspace(scene.frame_start, scene.frame_end, 9).astype(int).tolist():
        scene.frame_set(frame)
        ours = previewed(character, armature, geometry, frame)
        theirs = evaluated(mesh)
        height = np.ptp(theirs, axis=0).max()
        assert np.linalg.norm(ours - theirs[geometry.vertices], axis=1).max() <= POSITION_TOLERANCE * height
    assert np.abs(previewed(character, armature, geometry, scene.frame_start)
                  - previewed(character, armature, geometry, scene.frame_start + 100)).max() > 0.1  # it dances


def test_without_time_a_character_is_shown_as_posed_then_where_it_was_last(dancer: tuple[Object, Object]) -> None:
    armature, mesh = dancer
    character, ahead, motion = PreviewCharacter(armature.session_uid), Ahead(sampled_rows), motion_of(armature)
    character.refresh(armature, [mesh])

    def shown(motion: Motion | None, at_s: float, has_time: bool) -> tuple[FloatArray, bool]:
        [posed], is_there = pose_roles([DrawnRole(character, armature, (), motion, at_s)], ahead, lambda: has_time)
        return posed.palette.matrices, is_there

    as_posed, is_there = shown(None, 0.0, has_time=False)
    assert is_there  # nothing is to be sampled
    late, is_there = shown(motion, 5.0, has_time=False)
    assert not is_there and (late == as_posed).all()
    first, is_there = shown(motion, 5.0, has_time=True)
    assert is_there and np.abs(first - as_posed).max() > 0.01
    late, is_there = shown(motion, 6.0, has_time=False)
    assert not is_there and (late == first).all()
    second, is_there = shown(motion, 6.0, has_time=True)
    assert is_there and np.abs(second - first).max() > 0.01
    again, is_there = shown(motion, 5.0, has_time=False)
    assert is_there and (again == first).all()  # it is still known


def test_a_viewport_is_drawn_again_until_all_are_where_they_belong(dancer: tuple[Object, Object],
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    armature, _ = dancer
    life.start([armature])
    try:
        for sampling_s, is_late in ((0.0, True), (10.0, False)):
            monkeypatch.setattr(life, "_SAMPLING_S", sampling_s)
            with viewport() as inside:
                life.draw_viewport(inside)
            assert bpy.app.timers.is_registered(life._redraw) == is_late
            if is_late:
                bpy.app.timers.unregister(life._redraw)
    finally:
        life.stop()


def test_other_frames_are_sampled_while_nothing_is_drawn(dancer: tuple[Object, Object],
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    armature, _ = dancer
    scene = context.scene
    scene.frame_start, scene.frame_end = 1, 300
    life.start([armature])
    try:
        draw()
        assert bpy.app.timers.is_registered(life._prepare) and life._running is not None
        ahead = life._running.cast.ahead
        assert life._prepare() == QUIET_S  # something was drawn just now
        motion = motion_of(armature)
        assert motion is not None
        is_watched = partial(ahead.at_one, motion, may_sample=False)
        assert is_watched(10.0) is None
        prepare()
        monkeypatch.setattr(ahead, "sample", None)  # nothing is sampled any longer
        for frame in (1, 150, 300):
            scene.frame_set(frame)
            draw()
            assert is_watched((frame - 1) / 24.0) is not None
        prepare()
        scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 280, 310
        monkeypatch.undo()
        draw()
        prepare()
        assert is_watched(309 / 24.0) is not None and is_watched(310 / 24.0) is None
        life.choices().player.clock = "OWN"
        scene.frame_preview_end = 400
        assert life._prepare() is None  # nobody knows what is asked for next
    finally:
        life.choices().player.clock = "TIMELINE"
        scene.use_preview_range = False
        life.stop()
    assert not bpy.app.timers.is_registered(life._prepare)


def test_all_characters_are_sampled_before_they_play(dancer: tuple[Object, Object],
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    armature, _ = dancer
    scene = context.scene
    scene.frame_start, scene.frame_end = 1, 1300
    life.start([armature])
    try:
        monkeypatch.setattr(getting_ready, "_READY_S", 0.0)
        monkeypatch.setattr(getting_ready, "_MOST_READY_S", 0.0)
        life.get_ready(scene, context.view_layer)
        assert life._running is not None and not life._running.cast.ahead._watched  # there is no time
        monkeypatch.setattr(getting_ready, "_MOST_READY_S", np.inf)
        life.get_ready(scene, context.view_layer)
        [watched] = life._running.cast.ahead._watched.values()
        assert len(watched.known) >= AT_ONCE // 2  # all have their first seconds, however long that takes
        monkeypatch.undo()
        life.get_ready(scene, context.view_layer)
        monkeypatch.setattr(life._running.cast.ahead, "sample", None)  # nothing is sampled any longer
        for frame in (1, 2, 3, 4, 700, 1300):
            scene.frame_set(frame)
            draw()
    finally:
        life.stop()


def test_all_characters_are_prepared_for_the_next_seconds_first() -> None:
    objects: list[Any] = [bpy.data.objects.new(name, None) for name in "AB"]
    for ob in objects:
        context.scene.collection.objects.link(ob)
    context.scene.frame_start, context.scene.frame_end, context.scene.frame_current = 1, 2 * AT_ONCE, AT_ONCE + 1
    first, second = objects
    first.takt.frame_start = 11
    turns = [*_in_turn({first.session_uid: None, second.session_uid: None}, context.scene)]
    assert [uid for uid, _ in turns] == [first.session_uid, second.session_uid] * 3
    at_frames = [(times_s * 24.0).round().tolist() for _, times_s in turns]
    assert [len(frames) for frames in at_frames[::2]] == [AT_ONCE // 2, AT_ONCE, AT_ONCE // 2]
    assert at_frames[0][0] == AT_ONCE + 1 - 11 and at_frames[1][0] == AT_ONCE + 1 - 1
    assert [frame for frames in at_frames[1::2] for frame in frames] == [*range(AT_ONCE, 2 * AT_ONCE), *range(AT_ONCE)]


def prepare() -> None:
    """Let all be sampled that is, as if nothing had been drawn for long."""
    assert life._running is not None
    life._running.preparing.drawn_s = -np.inf
    for _ in range(1000):
        if life._prepare() is None:
            return
    raise AssertionError("it never ends")


def draw() -> None:
    """Draw a picture."""
    with viewport() as inside:
        life.draw_viewport(inside)


@contextmanager
def viewport() -> Iterator[Any]:
    """Yield a context within a viewport, with a picture to draw into."""
    window = context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    target: Any = gpu.types.GPUOffScreen(64, 64)
    with context.temp_override(window=window, area=area, region=region), target.bind():
        yield context
    target.free()


def previewed(character: PreviewCharacter, armature: Object, geometry: Any, frame: int) -> FloatArray:
    role = DrawnRole(character, armature, (), motion_of(armature), time_s(armature, context.scene, frame))
    [posed], _ = pose_roles([role])
    positions, _ = posed_on_gpu(geometry, posed.palette, "LINEAR")
    return positions
