"""Paths that are edited while the timeline plays, and places and paths that are linked from another file."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scene import cast
from takt.bridge.scores import score, score_layout
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import Unfit
from takt.tests.blender.dancing import Wait
from takt.tests.blender.test_cast import END, NEAR_M, Drawn, added, chair, line, rebuilt, root_at, walker
from takt.tests.blender.test_cast_bad_input import PATH_ENDS, scene, updated

__all__ = ["walker"]  # the fixture


def drawn(character: bpy.types.Object) -> Motion | None:
    """Return what a drawing shows of a character; it is performed later if need be."""
    with score.while_drawing(lambda: None):
        return score.shown(character)


def translations(motion: Motion, at_s: float) -> np.ndarray:
    return np.array(motion.sample(np.array((at_s,))).translations[0])


def test_a_curve_that_is_edited_while_the_timeline_plays_is_followed_from_the_next_drawing_on(
        walker: bpy.types.Object, wait: Wait) -> None:
    properties.character(walker).cast["seat"].target = chair()
    properties.character(walker).cast["lane"].target = curve = line("POLY")
    rebuilt()
    data: Any = curve.data
    for frame in range(200, 260):  # each frame is drawn, and in some the curve is another
        scene().frame_set(frame)
        motion = drawn(walker)
        assert motion is not None
        if frame % 20 == 0:
            for point in data.splines[0].points:
                point.co.y -= 0.2
            updated()
            assert drawn(walker) is motion  # a drawing performs nothing
            wait(0.2)
            now = drawn(walker)
            assert now is not None and now is not motion
            moved = np.linalg.norm(translations(now, 16.0) - translations(motion, 16.0), axis=1)
            np.testing.assert_allclose(moved.max(), 0.2, atol=NEAR_M)
        else:
            assert motion is drawn(walker)
    data.splines.clear()
    updated()
    drawn(walker)
    wait(0.2)
    last = drawn(walker)
    assert last is not None and any("has no points" in problem.message for problem in last.problems)


def linked(path: Path, *objects: bpy.types.Object) -> list[bpy.types.Object]:
    """Write objects to another file, and return them linked from there."""
    names = [each.name for each in objects]
    libraries: Any = bpy.data.libraries
    libraries.write(str(path), set(objects))
    for each in objects:
        bpy.data.objects.remove(each)
    with libraries.load(str(path), link=True) as (_, to):
        to.objects = names
    for each in to.objects:
        scene().collection.objects.link(each)
    updated()
    return list(to.objects)


def test_a_place_and_a_path_of_another_file_play_their_roles_where_they_are(walker: bpy.types.Object,
                                                                           tmp_path: Path) -> None:
    seat, lane = linked(tmp_path / "set.blend", chair(), line("BEZIER"))
    assert seat.library is not None and lane.library is not None
    character = properties.character(walker)
    character.cast["seat"].target, character.cast["lane"].target = seat, lane
    assert not any(isinstance(target, Unfit) for _, target in cast.read(walker))
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (1.0, -2.0))) < NEAR_M
    assert np.hypot(*(root_at(walker, PATH_ENDS) - (4.0, -2.0))) < NEAR_M


def test_an_instance_of_a_linked_place_whose_file_is_gone_costs_only_itself(walker: bpy.types.Object,
                                                                           tmp_path: Path) -> None:
    (seat,) = linked(tmp_path / "set.blend", chair())
    own = added("Own", None, location=(0.5, -1.5, 0.0))
    character = properties.character(walker)
    character.cast["seat"].target = seat
    rebuilt()
    bpy.data.libraries.remove(bpy.data.libraries[0])  # as Outliner > Delete does
    assert character.cast["seat"].target is None
    (_, found), = cast.read(walker)
    assert isinstance(found, Unfit) and "was deleted" in found.why
    rebuilt()
    character.cast["seat"].target = own
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - (0.5, -1.5))) < NEAR_M


@pytest.mark.parametrize("is_there", [False, True], ids=["no file", "broken file"])
@pytest.mark.parametrize("is_parent", [False, True], ids=["object", "parent"])
def test_an_object_whose_file_blender_cannot_read_is_not_taken_for_one_at_the_origin(
        walker: bpy.types.Object, tmp_path: Path, is_there: bool, is_parent: bool) -> None:
    """Blender puts an empty at the origin in its place; the walk stays as its clip has it."""
    rebuilt()
    before, name, file = root_at(walker, END), walker.name, tmp_path / "set.blend"
    (seat,) = linked(file, chair())
    if is_parent:
        seat, above = added("On It", None, location=(0.3, -1.0, 0.0)), seat
        seat.parent = above
    role = properties.character(walker).cast["seat"]
    role.target, seat_name = seat, seat.name
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - before)) > 0.1
    ops: Any = bpy.ops
    ops.wm.save_as_mainfile(filepath=str(tmp_path / "stage.blend"))
    file.unlink()
    if is_there:
        file.write_bytes(b"nonsense")
    ops.wm.open_mainfile(filepath=str(tmp_path / "stage.blend"))
    walker = bpy.data.objects[name]
    (_, found), = cast.read(walker)
    assert isinstance(found, Unfit) and f"'{seat_name}' is missing" in found.why and "set.blend" in found.why
    role = properties.character(walker).cast["seat"]
    assert cast.absence(role) == found.why and not cast.is_cast(role)
    layout: Any = Drawn([])
    score_layout._draw_cast(layout, properties.character(walker))
    assert layout.red == ["seat", "File not read: choose another object"]
    rebuilt()
    assert np.hypot(*(root_at(walker, END) - before)) < NEAR_M
