"""The file in which random steps are taken: characters of all kinds, a cast, a body, and what is the user's alone."""

import shutil
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from takt.bridge import axes
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.samples.cage import build_cage, subdivide
from takt.tests.blender.dancing import NAMES, PARENTS, STEPS, make_clip, make_skeleton

_context: Any = bpy.context
_ops: Any = bpy.ops
TWO_WINDOWS = Path(__file__).with_name("two_windows.blend")
"""What two_windows.py makes."""
SCENE = """<pha version="2" tickLength="1"><load src="feet.Steps"/>
  <role name="seat" is="place"/><role name="lane" is="path"/>
  <procedure name="walk"><param name="steps" default="2"/>
    <loop times="steps" index="i"><call name="left" duration="1" mirror="i % 2 == 1"/></loop>
    <pick><call name="right" duration="1"/><call name="left" duration="1"/></pick>
  </procedure>
  <procedure name="main"><param name="bows" default="no"/>
    <call name="walk" to="seat" duration="3"/><call name="walk" along="lane" duration="3"/>
    <together><lane><look at="seat" duration="2"/></lane><lane><call name="right" duration="2"/></lane></together>
    <if test="bows"><call name="left" duration="1"/></if>
  </procedure>
</pha>
"""
USERS_OWN = frozenset(("Mine", "notes", "linked.blend", "mine.txt"))
"""The names of what no operator of ours may touch."""
CLIP = "Steps.skeleton.xml"


def open_file(folder: Path) -> None:
    """Open a file with two windows and all kinds of characters, beside libraries and a character that is linked.

    All of it is made once, beside the folder, and copied, as paths in the file are those of this folder.
    """
    made = folder.with_name("made")
    if not made.exists():
        _make_file(folder)
        shutil.copytree(folder, made)
    shutil.rmtree(folder)
    shutil.copytree(made, folder)
    _ops.wm.open_mainfile(filepath=str(folder / TWO_WINDOWS.name), load_ui=True)


def _make_file(folder: Path) -> None:
    make_library(folder)
    linked = folder / "linked.blend"
    _ops.wm.read_factory_settings(use_empty=False)
    with in_window():
        rig = add_rig("Linked")
        _ops.takt.import_pha(filepath=str(folder / "dance.pha"))
        bpy.data.libraries.write(str(linked), {rig})
    _ops.wm.open_mainfile(filepath=shutil.copy(TWO_WINDOWS, folder), load_ui=True)  # clips are saved beside it
    with in_window():
        _add_linked(linked)
        _add_users_own()
        _add_cast()
        add_rig("Rig")
        _ops.takt.import_pha(filepath=str(folder / "scene.pha"))
        add_rig("Partner")
        _ops.takt.import_pha(filepath=str(folder / "dance.pha"))
        _add_body()
    _ops.wm.save_mainfile()


@contextmanager
def in_window() -> Iterator[None]:
    """Be in the first window: a timer of a Blender that was just given another file is in none."""
    with _context.temp_override(window=_context.window_manager.windows[0]):
        yield


def make_library(folder: Path) -> None:
    """Write a library, a folder with other clips, scores, music, and a file that is none of ours."""
    skeleton = make_skeleton()
    (folder / "out").mkdir(parents=True)
    for name, titles in (("feet", ("left", "right")), ("more", ("nod", "wave"))):
        (folder / name).mkdir()
        clips = tuple(make_clip(title, skeleton, number) for number, title in enumerate(titles))
        (folder / name / CLIP).write_bytes(ogre_xml.write(OgreSkeleton.of(skeleton, clips)))
    (folder / "dance.pha").write_text(STEPS, encoding="utf-8")
    (folder / "other.pha").write_text(STEPS.replace("0.7", "1.7"), encoding="utf-8")
    (folder / "scene.pha").write_text(SCENE, encoding="utf-8")
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    with wave.open(str(folder / "beat.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        clicks = np.zeros(8000 * 4, np.int16)
        clicks[::4000] = 20000
        sound.writeframes(clicks.tobytes())


def _add_linked(path: Path) -> None:
    """Add a linked character, and one that is linked and overridden."""
    for _ in range(2):
        libraries: Any = bpy.data.libraries
        with libraries.load(str(path), link=True) as (_source, wanted):
            wanted.objects = ["Linked"]
        ob = wanted.objects[0]
        if ob is not None and ob.name not in _context.scene.collection.objects:
            _context.scene.collection.objects.link(ob)
    ob.override_create(remap_local_usages=True)


def _add_users_own() -> None:
    """Add an object with an Action, and a Text: the user's, which have nothing to do with any character."""
    bpy.data.texts.new("notes").write("Buy milk.")
    mine = bpy.data.objects.new("Mine", None)
    _context.collection.objects.link(mine)
    mine.keyframe_insert("location", frame=1)
    assert mine.animation_data is not None and mine.animation_data.action is not None
    mine.animation_data.action.name = "Mine"


def _add_cast() -> None:
    """Add a place and a path, which roles of the score may be played by."""
    chair = bpy.data.objects.new("Chair", None)
    chair.location = (1.0, -2.0, 0.0)
    curve = bpy.data.curves.new("Lane", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(2)
    for number, point in enumerate(spline.points):
        point.co = (1.0 + number, -2.0, 0.0, 1.0)
    for ob in (chair, bpy.data.objects.new("Lane", curve)):
        _context.collection.objects.link(ob)


def _add_body() -> None:
    """Add a body without an armature."""
    points, quads = subdivide(*build_cage()[:2])
    used, faces = np.unique(quads, return_inverse=True)
    data = bpy.data.meshes.new("Body")
    data.from_pydata(rot.rotate(axes.BLENDER_FROM_HANIM, points[used]).tolist(), [],
                     faces.reshape(-1, 4).tolist())
    _context.collection.objects.link(bpy.data.objects.new("Body", data))


def add_rig(name: str) -> Any:
    """Add the small rig of the tests, and make it active."""
    data: Any = bpy.data.armatures.new(name)
    rig: Any = bpy.data.objects.new(name, data)
    _context.collection.objects.link(rig)
    _context.view_layer.objects.active = rig
    _ops.object.mode_set(mode="EDIT")
    worlds = make_skeleton().turned(axes.BLENDER_FROM_HANIM).rest_world
    for bone_name, parent, world in zip(NAMES, PARENTS, worlds, strict=True):
        bone = data.edit_bones.new(bone_name)
        bone.length, bone.matrix = 0.2, Matrix((*world.tolist(), (0, 0, 0, 1)))
        bone.parent = data.edit_bones[NAMES[parent]] if parent >= 0 else None
    _ops.object.mode_set(mode="OBJECT")
    return rig
