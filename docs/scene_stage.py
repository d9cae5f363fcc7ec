"""The scene of scene.mp4: two dancers, a stage with steps, a chair, a path, a table and a cup, and a score for each."""

import math
from pathlib import Path
from shutil import copytree
from typing import Any, Final

import bpy
import numpy as np

from takt.bridge import properties
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.samples import dancer
from takt.samples.posing import build_clip

STEPS: Final = 3
RISE_M, TREAD_M, WIDTH_M = 0.14, 0.42, 3.2
STAGE_Y_M, STAGE_DEPTH_M = 0.6, 3.4
"""Where the stage's front edge is, and how deep it is; the steps lead up to it from −Y."""
TOP_M: Final = STEPS * RISE_M
TABLE_M, TABLE_HEIGHT_M, CUP_M = (-0.52, 1.75), 0.86, 0.1
HERS: Final = """<pha version="2" tickLength="0.5">
  <load src="feet.Steps"/> <load src="dance.Moves"/> <load src="gestures.Greetings"/>
  <role name="stage" is="floor"/> <role name="spot" is="place"/> <role name="cup" is="prop"/>
  <role name="him" is="person"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <call name="hello" duration="6"/>
    <call name="walk" to="spot" duration="14" repeat="fit"/>
    <together>
      <lane><call name="sway" duration="4" repeat="4"/></lane>
      <lane><look at="cup" duration="4"/><look at="him" duration="12"/></lane>
      <lane>
        <reach for="cup" with="right hand" duration="2"/><hold prop="cup" with="right hand" duration="14"/>
      </lane>
      <lane><wait duration="6"/><meet person="him" with="left hand" hand="right hand" duration="2" hold="6"/>
        <wait duration="2"/></lane>
    </together>
  </procedure>
</pha>
"""
HIS: Final = """<pha version="2" tickLength="0.5">
  <load src="feet.Steps"/> <load src="dance.Moves"/> <load src="rooms.Chairs"/>
  <role name="stage" is="floor"/> <role name="chair" is="place"/> <role name="round" is="path"/>
  <role name="beside" is="place"/> <role name="her" is="person"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <together>
      <lane><call name="sit_still" at="chair" duration="3"/></lane>
      <lane><look at="her" duration="3"/></lane>
    </together>
    <call name="stand_up" at="chair" duration="3"/>
    <call name="walk" along="round" duration="11" repeat="fit"/>
    <call name="walk" to="beside" duration="7" repeat="fit"/>
    <together>
      <lane><call name="sway" duration="4" repeat="3"/></lane>
      <lane><look at="her" duration="12"/></lane>
      <lane><wait duration="2"/><meet person="her" with="right hand" hand="left hand" duration="2" hold="6"/>
        <wait duration="2"/></lane>
    </together>
  </procedure>
</pha>
"""
HER_START_M, HIS_START_M = (-0.9, -3.6), (2.3, -3.2)
CHAIR_M, SEAT_M = (2.7, -3.2), 0.44
_LOW: Final = (0.0, -0.43, -0.34)
_ON_THIGHS: Final = (0.14, 0.98, 0.36)
SITTING: Final = {"root": ((0.0, *_LOW), (1.0, 0.0, -0.425, -0.34), (2.0, *_LOW)),
                  "l_hand": ((0.0, *_ON_THIGHS), (2.0, *_ON_THIGHS)),
                  "r_hand": ((0.0, *_ON_THIGHS), (2.0, *_ON_THIGHS))}
RISING: Final = {"root": ((0.0, *_LOW), (0.3, *_LOW), (1.7, 0.0, -0.01, 0.0), (2.0, 0.0, -0.006, 0.0)),
                 "lean": ((0.0, 0, 0, 0), (0.1, 0, 0, 0), (1.1, 30, 0, 0), (2.0, 0, 0, 0)),
                 "l_hand": ((0.0, *_ON_THIGHS), (0.5, *_ON_THIGHS), (2.0, 0.248, 0.896, 0.04)),
                 "r_hand": ((0.0, *_ON_THIGHS), (0.5, *_ON_THIGHS), (2.0, 0.248, 0.896, 0.04))}
"""Key poses of a body that sits, and of one that stands up; see samples/posing.py."""
SPOT_M, HIS_END_M = (0.0, 1.75), (0.86, 1.7)
_context: Any = bpy.context


def build(folder: Path) -> tuple[Any, Any]:
    """Make the scene in an empty file, cast both scores, and return the armatures, hers first.

    folder: gets the library of the scores, which must be there while the scene is played.
    """
    stage, cup, chair, library = _stage(), _cup(), _chair(), _library(folder)
    spot = _empty("Spot", (*SPOT_M, TOP_M))
    beside, round_path = _empty("Beside", (*HIS_END_M, TOP_M)), _path()
    hers = _dancer("Ada", HER_START_M)
    his = _dancer("Ben", HIS_START_M)
    _play(hers, "Ada's Score", HERS, library)
    _play(his, "Ben's Score", HIS, library)
    for armature, cast in ((hers, {"stage": stage, "spot": spot, "cup": cup, "him": his}),
                           (his, {"stage": stage, "chair": chair, "round": round_path, "beside": beside, "her": hers})):
        for role, ob in cast.items():
            properties.character(armature).cast[role].target = ob
    for armature in (hers, his):
        _make_active(armature)
        bpy.ops.takt.rebuild()  # type: ignore[attr-defined]  # registered by the extension
    return hers, his


def _dancer(name: str, at: tuple[float, float]) -> Any:
    armature, _ = dancer.bound_dancer()
    armature.name, armature.location = name, (*at, 0.0)
    return armature


def _library(folder: Path) -> Path:
    """Return a copy of the sample library with clips that sit."""
    copytree(dancer.LIBRARY, folder, dirs_exist_ok=True)
    clips = build_clip("sit_still", 2.0, SITTING), build_clip("stand_up", 2.0, RISING)
    (folder / "rooms").mkdir()
    (folder / "rooms" / "Chairs.skeleton.xml").write_bytes(ogre_xml.write(
        OgreSkeleton(clips[0].skeleton, clips, np.arange(len(clips[0].skeleton)))))
    return folder


def _play(armature: Any, name: str, score: str, library: Path) -> None:
    text = bpy.data.texts.new(name)
    text.write(score)
    _make_active(armature)
    character = properties.character(armature)
    character.library = str(library)
    character.text = text
    bpy.ops.takt.rebuild()  # type: ignore[attr-defined]  # registered by the extension


def _make_active(armature: Any) -> None:
    for ob in _context.selected_objects:
        ob.select_set(False)
    armature.select_set(True)
    _context.view_layer.objects.active = armature


def _stage() -> Any:
    """Return steps and a stage as one mesh of boxes."""
    boxes = [(STAGE_Y_M - (STEPS - 1 - number) * TREAD_M, STAGE_Y_M - (STEPS - 2 - number) * TREAD_M,
              (number + 1) * RISE_M) for number in range(STEPS - 1)]
    boxes = [(begin - TREAD_M, end - TREAD_M, height) for begin, end, height in boxes]
    boxes.append((STAGE_Y_M - TREAD_M, STAGE_Y_M + STAGE_DEPTH_M, TOP_M))
    points, faces = list[tuple[float, float, float]](), list[tuple[int, ...]]()
    for begin, end, height in boxes:
        _add_box(points, faces, (-WIDTH_M / 2.0, begin, 0.0), (WIDTH_M / 2.0, end, height))
    return _mesh("Stage", points, faces, (0.5, 0.42, 0.36))


def _add_box(points: list[tuple[float, float, float]], faces: list[tuple[int, ...]], low: tuple[float, float, float],
             high: tuple[float, float, float]) -> None:
    """Add the corners and sides of a box."""
    first, (left, front, bottom), (right, back, top) = len(points), low, high
    points += [(x, y, z) for z in (bottom, top) for x, y in (
        (left, front), (right, front), (right, back), (left, back))]
    faces += [tuple(first + corner for corner in face) for face in (
        (3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))]


def _chair() -> Any:
    """Return a chair that faces −X, with its origin on the ground below the seat."""
    boxes = [((-0.2, -0.22, SEAT_M - 0.04), (0.22, 0.22, SEAT_M)), ((0.18, -0.22, SEAT_M), (0.22, 0.22, 0.9))]
    boxes += [((x, y, 0.0), (x + 0.04, y + 0.04, SEAT_M - 0.04)) for x in (-0.2, 0.18) for y in (-0.22, 0.18)]
    points, faces = list[tuple[float, float, float]](), list[tuple[int, ...]]()
    for low, high in boxes:
        _add_box(points, faces, low, high)
    turned = [(-y, x, z) for x, y, z in points]  # objects face along −Y
    made = _mesh("Chair", turned, faces, (0.55, 0.35, 0.2))
    made.location, made.rotation_euler = (*CHAIR_M, 0.0), (0.0, 0.0, -math.pi / 2.0)
    return made


def _cup() -> Any:
    """Return a cup on a table."""
    bpy.ops.mesh.primitive_cylinder_add(radius=0.26, depth=0.03, location=(*TABLE_M, TOP_M + TABLE_HEIGHT_M - 0.015))
    _colour(_context.object, "Table", (0.32, 0.36, 0.42))
    bpy.ops.mesh.primitive_cylinder_add(radius=0.03, depth=TABLE_HEIGHT_M,
                                        location=(*TABLE_M, TOP_M + TABLE_HEIGHT_M / 2.0))
    _colour(_context.object, "Leg", (0.32, 0.36, 0.42))
    bpy.ops.mesh.primitive_cylinder_add(radius=0.04, depth=CUP_M,
                                        location=(TABLE_M[0] + 0.2, TABLE_M[1], TOP_M + TABLE_HEIGHT_M + CUP_M / 2.0))
    return _colour(_context.object, "Cup", (0.95, 0.6, 0.15))


def _path() -> Any:
    curve: Any = bpy.data.curves.new("Round", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(2)
    for point, (x, y) in zip(spline.bezier_points, (HIS_START_M, (1.9, -1.9), (1.25, -0.6)), strict=True):
        point.co = (x, y, 0.0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    made = bpy.data.objects.new("Round", curve)
    _context.collection.objects.link(made)
    return made


def _empty(name: str, at: tuple[float, float, float]) -> Any:
    made: Any = bpy.data.objects.new(name, None)
    made.location, made.empty_display_size = at, 0.15
    _context.collection.objects.link(made)
    return made


def _mesh(name: str, points: list[tuple[float, float, float]], faces: list[tuple[int, ...]],
          colour: tuple[float, float, float]) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    made = bpy.data.objects.new(name, mesh)
    _context.collection.objects.link(made)
    return _colour(made, name, colour)


def _colour(ob: Any, name: str, colour: tuple[float, float, float]) -> Any:
    material: Any = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    ob.name = name
    ob.data.materials.append(material)
    return ob
