"""A small rig, its clips and its score, and the operators that play it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton
from takt.samples import dancer
from takt.samples.clip_files import LIBRARY

Wait = Callable[[float], None]
"""Lets seconds pass, in which the timers do their work."""
NAMES = ("HumanoidRoot", "l_hip", "l_knee", "r_hip", "x_tail")
PARENTS = (-1, 0, 1, 0, 0)
STEPS = """<?xml version="1.0"?>
<pha tickLength="1.0">
  <load src="feet.Steps"/>
  <procedure name="pair">
    <call name="left" duration="1" transition="0.25"/>
    <call name="right" duration="1.5" transition="0.25"/>
  </procedure>
  <procedure name="main">
    <call name="pair" duration="2.5" repeat="2"/>
    <call name="right" duration="0.7"/>
  </procedure>
</pha>
"""


def make_skeleton() -> Skeleton:
    random = np.random.default_rng(4)
    rotations = rot.normalized(random.normal(size=(5, 4)))
    places = np.array(((0, 1, 0), (0.1, 0.4, 0), (0.5, 0, 0.1), (-0.1, 0.4, 0), (0.2, 0.1, -0.3)))
    return Skeleton.from_arrays(NAMES, PARENTS, rotations, places)


def make_clip(name: str, skeleton: Skeleton, seed: int) -> Clip:
    """Turn every joint but the tail, move the root, scale the knee."""
    random = np.random.default_rng(seed)
    times = np.linspace(0.0, 0.8, 6)
    turns = rot.continuous(rot.from_axis_angle(random.normal(size=(6, 4, 3)), random.uniform(0.0, 0.9, size=(6, 4))))
    return Clip(name, skeleton, 0.8, Tracks.uniform(np.arange(4), times, turns),
                Tracks.uniform(np.array([0]), times, random.normal(size=(6, 1, 3)) * 0.2),
                Tracks.uniform(np.array([2]), times, random.uniform(0.8, 1.2, size=(6, 1, 3))))


def add_sample() -> bpy.types.Object:
    """Return the armature of a new sample character."""
    ops: Any = bpy.ops
    assert ops.takt.add_sample() == {"FINISHED"}
    ob = bpy.context.object
    assert ob is not None
    armature_object = ob if ob.type == "ARMATURE" else ob.find_armature()
    assert armature_object is not None
    return armature_object


def activate(armature_object: bpy.types.Object) -> None:
    """Make an armature the active object."""
    layer = bpy.context.view_layer
    assert layer is not None
    layer.objects.active = armature_object


def sample_with_score(path: Path, score_text: str, library: Path = LIBRARY) -> bpy.types.Object:
    """Return a new sample character, without the sample dance, with a score, which is written to a file."""
    ops: Any = bpy.ops
    armature_object: bpy.types.Object = dancer.bound_dancer()[0]
    activate(armature_object)
    path.write_text(score_text, encoding="utf-8")
    assert ops.takt.import_pha(filepath=str(path), library=str(library)) == {"FINISHED"}
    return armature_object


def play(path: Path, **settings: Any) -> None:
    assert bpy.ops.takt.import_pha(filepath=str(path), **settings) == {"FINISHED"}  # type: ignore[attr-defined]


def refused(path: Path, **settings: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        play(path, **settings)
    return str(caught.value)


def text_of(rig: bpy.types.Object) -> bpy.types.Text:
    text = properties.character(rig).text
    assert text is not None
    return text


def rebuild() -> None:
    assert bpy.ops.takt.rebuild() == {"FINISHED"}  # type: ignore[attr-defined]


def evaluated(rig: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    found = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([np.array(found.pose.bones[name].matrix)[:3] for name in NAMES])


def curves(rig: bpy.types.Object) -> Any:
    strip: Any = rig.animation_data.action.layers[0].strips[0]
    return strip.channelbag(rig.animation_data.action_slot).fcurves


def perform(timer: Callable[[], float | None]) -> None:
    """Call what performs in the background until it is done, as Blender's timers would."""
    until = time.monotonic() + 60.0
    while timer() is not None:
        assert time.monotonic() < until
