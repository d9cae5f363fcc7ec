"""A scene with every word that needs one: preview, Actions and films have everybody at the same positions."""

from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import write_motion
from takt.bridge.rigs.armature import read_pose_world, read_skeleton
from takt.bridge.scores import score
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.operators import command
from takt.preview import playing
from takt.preview.choices import Choices
from takt.preview.draw import Painter
from takt.preview.floor import FloorPainter
from takt.preview.instances import Rows, palette_of, sampled_rows
from takt.preview.player import Player
from takt.samples.clip_files import LIBRARY
from takt.tests.blender.dancing import activate

SCORE: Final = """<pha version="2" tickLength="0.5"><load src="feet.Steps"/><load src="dance.Moves"/>
  <role name="stage" is="floor"/><role name="round" is="path"/><role name="spot" is="place"/>
  <role name="cup" is="prop"/><role name="partner" is="person"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <call name="walk" along="round" duration="7" repeat="fit"/>
    <call name="walk" to="spot" duration="13" repeat="fit"/>
    <call name="left_step" at="spot" duration="1"/>
    <together>
      <lane><call name="sway" duration="4" repeat="4"/></lane>
      <lane><look at="cup" duration="4"/><look at="partner" duration="12"/></lane>
      <lane><reach for="cup" with="{holds} hand" duration="2"/><hold prop="cup" with="{holds} hand" duration="13"/>
        <wait duration="1"/></lane>
      <lane><wait duration="{waits}"/><meet person="partner" with="{meets} hand" hand="{holds} hand" duration="2"
        hold="6"/><wait duration="{rests}"/></lane>
    </together>
  </procedure>
</pha>
"""
WORDS: Final = ("to=", "at=", "along=", 'repeat="fit"', "<reach", "<hold", "<look", "<meet", 'is="floor"')
FPS, FRAMES = 6, range(1, 103)
LATER: Final = 4
"""The first frame of the second character's score; half a second after the first one's."""
DRAWN_M, ACTION_M, PROPS, AXIS_M = 1e-5, 5e-5, 5e-5, 0.1
"""How far points of bones may be from the preview's, in a film and in an Action; and elements of props' matrices."""
MOST_ROUNDS: Final = 10
Positions = dict[str, FloatArray]
"""Of characters and props by name: points of bones (F, J, 4, 3), or matrices (F, 4, 4), both in the world."""
ops: Any = bpy.ops


def added(name: str, data: bpy.types.ID | None, *at: float) -> bpy.types.Object:
    found = bpy.data.objects.new(name, data)
    found.location = at or (0.0, 0.0, 0.0)
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(found)
    return found


def stairs() -> bpy.types.Object:
    """Return three steps that lead up along y, onto a stage."""
    mesh, corners = bpy.data.meshes.new("Stage"), []
    for begin, end, high in ((-0.9, -0.45, 0.12), (-0.45, 0.0, 0.24), (0.0, 4.0, 0.36)):
        corners += [(-3.0, begin, high), (3.0, begin, high), (3.0, end, high), (-3.0, end, high)]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)])
    return added("Stage", mesh)


def path(name: str, *points: tuple[float, float]) -> bpy.types.Object:
    curve: Any = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(len(points) - 1)
    for point, (x, y) in zip(spline.bezier_points, points, strict=True):
        point.co, point.handle_left_type, point.handle_right_type = (x, y, 0.0), "AUTO", "AUTO"
    return added(name, curve)


def prop(name: str, *at: float) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.2)], [], [(0, 1, 2)])
    found = added(name, mesh, *at)
    found.rotation_euler, found.scale = (0.3, 0.2, 1.0), (1.0, 2.0, 1.0)
    return found


def dancer(name: str, at: tuple[float, float, float], turn: float, score_path: Path) -> bpy.types.Object:
    assert ops.takt.add_sample() == {"FINISHED"}
    ob = bpy.context.object
    armature_object = ob if ob is None or ob.type == "ARMATURE" else ob.find_armature()
    assert armature_object is not None
    armature_object.name, armature_object.location, armature_object.rotation_euler = name, at, (0.0, 0.0, turn)
    activate(armature_object)
    assert ops.takt.import_pha(filepath=str(score_path), library=str(LIBRARY)) == {"FINISHED"}
    return armature_object


@pytest.fixture
def scene_file(tmp_path: Path) -> str:
    """A .blend with two characters and all that their scores name; no Action is there yet."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and layer is not None
    scene.render.fps = FPS
    hers, his = SCORE.format(holds="right", meets="left", waits=6, rests=2), SCORE.format(
        holds="left", meets="right", waits=5, rests=3)
    stage, people = stairs(), []
    for name, text, at, turn in (("Ada", hers, (-0.9, -3.6, 0.0), np.pi), ("Ben", his, (2.0, -3.4, 0.0), 2.9)):
        (tmp_path / f"{name}.pha").write_text(text, encoding="utf-8")
        people.append(dancer(name, at, turn, tmp_path / f"{name}.pha"))
    ada, ben = people
    properties.character(ben).frame_start = LATER
    ada_cast = {"stage": stage, "round": path("Left", (-0.9, -3.6), (-1.1, -2.6), (-0.8, -1.6)),
                "spot": added("Left Spot", None, 0.0, 1.75, 0.36), "cup": prop("Cup", -0.3, 1.45, 1.5), "partner": ben}
    ben_cast = {"stage": stage, "round": path("Right", (2.0, -3.4), (1.9, -2.4), (1.3, -1.5)),
                "spot": added("Right Spot", None, 0.8, 1.7, 0.36), "cup": prop("Ball", 1.1, 1.4, 1.45), "partner": ada}
    for person, cast in ((ada, ada_cast), (ben, ben_cast)):
        for role, target in cast.items():
            properties.character(person).cast[role].target = target
    layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"), copy=True)
    return str(tmp_path / "scene.blend")


def settle() -> None:
    """Write the Actions until they are made of each other, as Takt does by itself while a window is open."""
    scene = bpy.context.scene
    assert scene is not None
    for _ in range(MOST_ROUNDS):
        people = (bpy.data.objects[name] for name in ("Ada", "Ben"))
        older = [each for each in people if not write_motion.is_made_from(each, scene)]
        for each in older:
            activate(each)
            assert ops.takt.rebuild() == {"FINISHED"}
    assert not older


def frames_of(world_from_armature: FloatArray, armature_from_bone: FloatArray) -> FloatArray:
    """Return where bones' heads are in the world, and points as far as AXIS_M along their axes, (..., J, 4, 3)."""
    world = world_from_armature[:3, :3] @ armature_from_bone[..., :3]
    heads = armature_from_bone[..., 3] @ world_from_armature[:3, :3].T + world_from_armature[:3, 3]
    return np.concatenate((heads[..., None, :], heads[..., None, :] + AXIS_M * np.swapaxes(world, -1, -2)), axis=-2)


def drawn(armature_object: bpy.types.Object, rows: Rows, bones: int) -> FloatArray:
    """Return the points of a character as the GPU has them, by rows (..., R, 4)."""
    palette, rest = palette_of(rows, bones), read_skeleton(armature_object).rest_world
    assert palette.stretches is None
    turns = rot.to_matrix(palette.rotations)
    heads = np.einsum("...jkl,jl->...jk", turns, rest[..., 3]) + palette.positions
    return frames_of(np.array(armature_object.matrix_world),
                     np.concatenate((turns @ rest[..., :3], heads[..., None]), axis=-1))


def matrix_of(name: str) -> FloatArray:
    found = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(found.matrix_world)


def filmed(file: str, name: str, held: str, out: Path) -> Positions:
    """Let the command film a character; return what was drawn, and where its prop was then."""
    found: dict[str, list[FloatArray]] = {name: [], held: []}
    upload = Painter.upload

    def noting(self: Painter, roles: Any, poses: Any, view: Any) -> None:
        (role,), (posed,) = roles, poses
        found[name].append(drawn(role.armature, posed.rows, posed.bones))
        found[held].append(matrix_of(held))
        upload(self, roles, poses, view)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Painter, "upload", noting)
        patch.setattr(FloorPainter, "cast_shadow", lambda *_: None)  # by far the most work, and nothing of it is read
        assert command.run(["film", file, "--armature", name, "--out", str(out), "--size", "2", "--frames",
                            f"{FRAMES[0]}-{FRAMES[-1]}"]) == 0
    return {key: np.array(each) for key, each in found.items()}


def previewed(name: str, held: str) -> Positions:
    """Return what the viewport's preview draws of a character, and where the motion that it draws has the prop."""
    armature_object, scene = bpy.data.objects[name], bpy.context.scene
    motion = playing.played(armature_object, Choices())
    assert isinstance(motion, Motion) and scene is not None
    times_s = []
    for frame in FRAMES:
        scene.frame_set(frame)
        times_s.append(playing.Instant.of(scene, Player(), 0.0).time_s(armature_object, motion))
    moved = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    moved[:, :3] = motion.carry("cup", np.array(times_s))
    scene.frame_set(FRAMES[0])
    world = np.array(armature_object.matrix_world)
    return {name: drawn(armature_object, sampled_rows(motion, np.array(times_s)), len(motion.skeleton)),
            held: world @ moved @ np.linalg.inv(world) @ matrix_of(held)}


def written(name: str, held: str) -> Positions:
    """Return where Blender has a character, by its Action, and its prop, by its constraints."""
    armature_object, scene = bpy.data.objects[name], bpy.context.scene
    found: dict[str, list[FloatArray]] = {name: [], held: []}
    assert scene is not None and armature_object.animation_data is not None
    assert armature_object.animation_data.action is not None and write_motion.is_made_from(armature_object, scene)
    for frame in FRAMES:
        scene.frame_set(frame)
        found[name].append(frames_of(np.array(armature_object.matrix_world), read_pose_world(armature_object)))
        found[held].append(matrix_of(held))
    return {key: np.array(each) for key, each in found.items()}


def test_the_preview_the_actions_and_the_films_agree_about_a_scene_with_every_word(scene_file: str,
                                                                                   tmp_path: Path) -> None:
    assert all(word in SCORE for word in WORDS)
    settle()
    bpy.ops.wm.save_as_mainfile(filepath=scene_file, copy=True)
    films = filmed(scene_file, "Ada", "Cup", tmp_path / "ada.mp4")
    films |= filmed(scene_file, "Ben", "Ball", tmp_path / "ben.mp4")
    for name, held in (("Ada", "Cup"), ("Ben", "Ball")):
        wanted, keyed = previewed(name, held), written(name, held)
        assert not score.warnings_of(bpy.data.objects[name])
        assert np.ptp(wanted[name][:, :, 0], axis=0).max() > 1.0 and np.ptp(wanted[held][:, :3, 3], axis=0).max() > 0.1
        for found, near in ((films, DRAWN_M), (keyed, ACTION_M)):
            assert np.linalg.norm(found[name] - wanted[name], axis=-1).max() < near
            assert np.abs(found[held] - wanted[held]).max() < PROPS


def test_an_action_by_command_is_what_is_drawn_where_the_partner_looks_at_who_plays_it(scene_file: str,
                                                                                      tmp_path: Path) -> None:
    assert command.run(["play", scene_file, "--armature", "Ben", "--out", str(tmp_path / "played.blend")]) == 0
    wanted, keyed = previewed("Ben", "Ball"), written("Ben", "Ball")
    assert np.linalg.norm(keyed["Ben"] - wanted["Ben"], axis=-1).max() < ACTION_M
