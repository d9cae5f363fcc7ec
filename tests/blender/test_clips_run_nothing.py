"""A .blend that is read for its clips runs none of its drivers, whatever the preferences allow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge.files import clips
from takt.bridge.rigs import drivers
from takt.core.formats.format import Source


@pytest.fixture
def ran() -> Iterator[list[float]]:
    """What drivers that call `tick` have run, while Python in files may run by itself."""
    found: list[float] = []
    filepaths, allowed = bpy.context.preferences.filepaths, bpy.context.preferences.filepaths.use_scripts_auto_execute

    def tick(value: float) -> float:
        found.append(value)
        return 1.0

    bpy.app.driver_namespace["tick"] = tick
    filepaths.use_scripts_auto_execute = True
    try:
        yield found
    finally:
        filepaths.use_scripts_auto_execute = allowed
        del bpy.app.driver_namespace["tick"]


def driven(block: Any, path: str, *index: int) -> None:
    curve = block.driver_add(path, *index)
    curve.driver.expression = "tick(frame)"


def test_drivers_of_a_blend_with_clips_do_not_run(rig: bpy.types.Object, tmp_path: Path, ran: list[float]) -> None:
    rig.pose.bones[0].keyframe_insert("location", frame=1)
    rig.pose.bones[0].keyframe_insert("location", frame=9)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.collection.objects.link(skin)
    skin.shape_key_add(name="Basis")
    key = skin.shape_key_add(name="Up")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    skin.vertex_groups.new(name=rig.pose.bones[0].name).add([0, 1, 2], 1.0, "REPLACE")
    driven(rig, "scale", 0)
    driven(rig.pose.bones[1], "location", 0)
    driven(skin, "location", 0)
    driven(key, "value")
    bpy.context.view_layer.update()
    assert ran  # Blender lets them run in a file that is open
    path = tmp_path / "moves.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    for block in (rig, skin, mesh.shape_keys):
        block.animation_data_clear()
    ran.clear()
    assert clips.read_file_clips(Source(b"", path)).played
    bpy.context.view_layer.update()
    assert not ran


def test_drivers_without_python_still_move_what_a_clip_is_read_from(rig: bpy.types.Object) -> None:
    curve = rig.driver_add("scale", 0)
    curve.driver.expression = "frame * 2"
    summed, other = rig.driver_add("scale", 1), rig.driver_add("scale", 2)
    summed.driver.type = "SUM"
    other.driver.expression = "tick(frame)"
    drivers.remove_python([rig])
    assert [(left.data_path, left.array_index) for left in rig.animation_data.drivers] == [("scale", 0), ("scale", 1)]
