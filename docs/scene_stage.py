"""The scene of scene.mp4: two dancers, a stage with steps, a path, a table and a cup, and a score for each dancer."""

from typing import Any, Final

import bpy

from takt.bridge import properties
from takt.samples import dancer

STEPS: Final = 3
RISE_M, TREAD_M, WIDTH_M = 0.14, 0.42, 3.2
STAGE_Y_M, STAGE_DEPTH_M = 0.6, 3.4
"""Where the stage's front edge is, and how deep it is; the steps lead up to it from −Y."""
TOP_M: Final = STEPS * RISE_M
TABLE_M, TABLE_HEIGHT_M, CUP_M = (-0.52, 1.75), 0.86, 0.1
HERS: Final = """<pha version="2" tickLength="0.5">
  <load src="feet.Steps"/> <load src="dance.Moves"/>
  <role name="stage" is="floor"/> <role name="spot" is="place"/> <role name="cup" is="prop"/>
  <role name="him" is="person"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <call name="walk" to="spot" duration="14" repeat="fit"/>
    <together>
      <lane><call name="sway" duration="4" repeat="4"/></lane>
      <lane><look at="cup" duration="4"/><look at="him" duration="12"/></lane>
      <lane>
        <reach for="cup" with="right hand" duration="2"/><hold prop="cup" with="right hand" duration="13"/>
        <wait duration="1"/>
      </lane>
      <lane><wait duration="6"/><meet person="him" with="left hand" hand="right hand" duration="2" hold="6"/>
        <wait duration="2"/></lane>
    </together>
  </procedure>
</pha>
"""
HIS: Final = """<pha version="2" tickLength="0.5">
  <load src="feet.Steps"/> <load src="dance.Moves"/>
  <role name="stage" is="floor"/> <role name="round" is="path"/> <role name="beside" is="place"/>
  <role name="her" is="person"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
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
SPOT_M, HIS_END_M = (0.0, 1.75), (0.86, 1.7)
_context: Any = bpy.context


def build() -> tuple[Any, Any]:
    """Make the scene in an empty file, cast both scores, and return the armatures, hers first."""
    stage, cup = _stage(), _cup()
    spot = _empty("Spot", (*SPOT_M, TOP_M))
    beside, round_path = _empty("Beside", (*HIS_END_M, TOP_M)), _path()
    hers = _dancer("Ada", HER_START_M)
    his = _dancer("Ben", HIS_START_M)
    _play(hers, "Ada's Score", HERS)
    _play(his, "Ben's Score", HIS)
    for armature, cast in ((hers, {"stage": stage, "spot": spot, "cup": cup, "him": his}),
                           (his, {"stage": stage, "round": round_path, "beside": beside, "her": hers})):
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


def _play(armature: Any, name: str, score: str) -> None:
    text = bpy.data.texts.new(name)
    text.write(score)
    _make_active(armature)
    character = properties.character(armature)
    character.library = str(dancer.LIBRARY)
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
        first, half = len(points), WIDTH_M / 2.0
        points += [(x, y, z) for z in (0.0, height) for x, y in (
            (-half, begin), (half, begin), (half, end), (-half, end))]
        faces += [tuple(first + corner for corner in face) for face in (
            (3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))]
    return _mesh("Stage", points, faces, (0.5, 0.42, 0.36))


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
