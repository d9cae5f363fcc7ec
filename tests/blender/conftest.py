"""Every test here starts from an empty file with the extension switched on."""

import time
from pathlib import Path

import bpy
import pytest
from mathutils import Matrix

from takt.bridge import axes
from takt.bridge.scores import background_writing, following, score
from takt.core.clips.clip import Clip
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.blender.dancing import NAMES, PARENTS, STEPS, Wait, make_clip, make_skeleton, perform


@pytest.fixture(autouse=True)
def _extension(extension: None) -> None:
    pass


@pytest.fixture
def skeleton() -> Skeleton:
    return make_skeleton()


@pytest.fixture
def clips(skeleton: Skeleton) -> dict[str, Clip]:
    return {name: make_clip(name, skeleton, seed) for seed, name in enumerate(("left", "right"))}


@pytest.fixture
def library(tmp_path: Path, skeleton: Skeleton, clips: dict[str, Clip]) -> Path:
    """A folder with the clips and the score dance.pha."""
    (tmp_path / "feet").mkdir()
    data = ogre_xml.write(OgreSkeleton.of(skeleton, tuple(clips.values())))
    (tmp_path / "feet" / "Steps.skeleton.xml").write_bytes(data)
    (tmp_path / "dance.pha").write_text(STEPS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def rig(skeleton: Skeleton) -> bpy.types.Object:
    """The clips' own skeleton, turned to Blender's axes."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, world in zip(NAMES, PARENTS, skeleton.turned(axes.BLENDER_FROM_HANIM).rest_world, strict=True):
        bone = data.edit_bones.new(name)
        bone.length = 0.2
        bone.matrix = Matrix((*world.tolist(), (0, 0, 0, 1)))
        bone.parent = data.edit_bones[NAMES[parent]] if parent >= 0 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


@pytest.fixture
def wait() -> Wait:
    """Let seconds of a clock of its own pass, in which the timers do what they would do in a window."""
    clock = [0.0]

    def passing(seconds: float) -> None:
        until, last = clock[0] + seconds, time.monotonic() + 60.0
        while clock[0] < until:
            clock[0] += 0.1
            following.look(clock[0])
            if bpy.app.timers.is_registered(score._perform_waiting):
                perform(score._perform_waiting)
                bpy.app.timers.unregister(score._perform_waiting)
            while background_writing._writing is not None and not background_writing._writing.work.has_ended(0.1):
                assert time.monotonic() < last
        following.look(clock[0])
    return passing
