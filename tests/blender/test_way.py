"""The way over the ground: what happens to it besides being drawn."""

from typing import Any, cast

import bpy

from takt.bridge.scores import score
from takt.preview import way
from takt.tests.blender.test_cast import walker

__all__ = ["walker"]  # the fixture


def test_what_is_looked_for_ends_though_another_file_is_opened(walker: bpy.types.Object) -> None:
    motion, wm = score.motion_of(walker), cast(Any, bpy.ops.wm)
    assert motion is not None
    way._look_for(walker, motion)
    assert way._work is not None
    wm.read_homefile(use_empty=True)
    assert bpy.app.timers.is_registered(way._collect)
    way.forget()
    assert way._collect() is None and way._work is None
    bpy.app.timers.unregister(way._collect)
