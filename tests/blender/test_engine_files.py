"""Procedures as Actions and as animations of glTF and FBX: the same in Blender again, and nothing else touched."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import procedure_actions
from takt.bridge.actions.procedure_actions import Wanted
from takt.bridge.files import engine_files
from takt.bridge.files.engine_animations import animations_of
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.operators import command
from takt.tests.blender.dancing import NAMES, play

context: Any = bpy.context
LIBRARY = """<pha tickLength="1"><load src="feet.Steps"/>
<procedure name="steps"><call name="left" duration="1"/><call name="right" duration="1.51"/></procedure>
<procedure name="round and round"><call name="left" duration="0.7"/><call name="left" duration="0.7"/></procedure>
<procedure name="Schritt – links"><call name="left" duration="2"/></procedure>
</pha>"""
JOINTS = 1e-4
"""Of the height: so far joints may be apart in another program."""


@pytest.fixture
def hero(rig: Any, library: Path) -> Any:
    """The rig with a mesh, and a score of three procedures of which none is called main."""
    (library / "figures.pha").write_text(LIBRARY, encoding="utf-8")
    data = bpy.data.meshes.new("Body")
    data.from_pydata([(x, y, z) for x in (0, .1) for y in (0, .1) for z in (0, .5, 1)], [],
                     [(0, 1, 4, 3), (1, 2, 5, 4), (6, 7, 10, 9)])
    body = bpy.data.objects.new("Body", data)
    context.collection.objects.link(body)
    body.parent = rig
    for name in NAMES:
        body.vertex_groups.new(name=name).add(range(12), 0.2, "REPLACE")
    modifier: Any = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    play(library / "figures.pha", procedure="steps")
    context.scene.frame_set(7)
    return rig


def operator(name: str, **settings: Any) -> None:
    assert getattr(bpy.ops.takt, name)(**settings) == {"FINISHED"}  # type: ignore[attr-defined]


def refused(name: str, **settings: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.takt, name)(**settings)  # type: ignore[attr-defined]
    return str(caught.value)


def heads(rig: Any, frames: range) -> FloatArray:
    """Return where the heads of bones are in the world at frames, (F, J, 3), in the order of NAMES."""
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        posed = rig.evaluated_get(context.evaluated_depsgraph_get())
        found.append([tuple(posed.matrix_world @ posed.pose.bones[name].head) for name in NAMES])
    return np.array(found)


def wanted(rig: Any, *, is_in_place: bool = False) -> dict[str, FloatArray]:
    """Return where the heads are in each procedure as Takt plays it, at all its frames."""
    fps, found = context.scene.render.fps, {}
    for name in procedure_actions.names_of(rig):
        motion = procedure_actions._motion(rig, context.scene, name, Wanted(is_in_place))
        last = round(motion.duration_s * fps)
        times = np.arange(last + 1) / last * motion.duration_s
        found[name] = world_from_pose(motion.skeleton, motion.sample(times))[..., 3][
            :, [motion.skeleton.names.index(bone) for bone in NAMES]]
    return found


def everything(rig: Any) -> Any:
    """Return what an export must not touch: all data with their names and numbers, and what is shown and chosen."""
    kinds = ("actions", "objects", "armatures", "meshes", "scenes", "materials", "images", "collections", "texts")
    animation = rig.animation_data
    return ({kind: [(each.name, each.session_uid, each.users) for each in getattr(bpy.data, kind)] for kind in kinds},
            context.scene.frame_current, context.mode, context.active_object, list(context.selected_objects),
            context.window.scene, context.window.view_layer.name, rig.data.pose_position, animation.action,
            [(track.name, track.mute, [(strip.name, strip.action) for strip in track.strips])
             for track in animation.nla_tracks],
            [tuple(value for row in bone.matrix_basis for value in row) for bone in rig.pose.bones],
            sorted(dict(rig.items())), [constraint.mute for bone in rig.pose.bones for constraint in bone.constraints])


def imported(path: Path) -> Any:
    """Open a file in a new scene, and return its armature."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ways: Any = bpy.ops.import_scene
    if path.suffix != ".fbx":
        ways.gltf(filepath=str(path), bone_heuristic="BLENDER")
    else:
        ways.fbx(filepath=str(path))
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")


@pytest.mark.parametrize("ending", engine_files.ENDINGS)
@pytest.mark.parametrize("is_in_place", [False, True])
def test_animations_come_back_the_same(hero: Any, tmp_path: Path, ending: str, is_in_place: bool) -> None:
    out = tmp_path / f"hero{ending}"
    there, before = wanted(hero, is_in_place=is_in_place), everything(hero)
    operator("export_procedures", filepath=str(out), in_place=is_in_place)
    assert everything(hero) == before
    fps, rig = context.scene.render.fps, imported(out)
    context.scene.render.fps = fps
    actions = {action.name.split("|")[1] if "|" in action.name else action.name.removesuffix("_Rig"): action
               for action in bpy.data.actions}
    assert actions.keys() == there.keys()
    assert {ob.name for ob in bpy.data.objects if ob.type in ("ARMATURE", "MESH")} >= {"Rig", "Body"}
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    for name, places in there.items():
        action: Any = actions[name]
        first, last = action.frame_range
        assert abs((last - first) - (len(places) - 1)) < 0.5
        rig.animation_data.action, rig.animation_data.action_slot = action, action.slots[0]
        found = heads(rig, range(round(first), round(first) + len(places)))
        height = np.ptp(places[0, :, 2])
        assert np.abs(found - places).max() < JOINTS * height


@pytest.mark.parametrize("more", ["constraint", "driver", "inherit", "uneven", "location"])
def test_bones_that_follow_more_than_their_keys_are_exported_by_blender(hero: Any, tmp_path: Path, more: str,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    bone, at_once = NAMES[1], list[bool]()

    def noted(*of: Any) -> Any:
        at_once.append(True)
        return animations_of(*of)

    monkeypatch.setattr(engine_files, "animations_of", noted)
    operator("export_procedures", filepath=str(tmp_path / "a.glb"))
    assert at_once
    at_once.clear()
    muted = hero.pose.bones[bone].constraints.new("LIMIT_SCALE")
    muted.mute = True  # by the user: it moves nothing
    operator("export_procedures", filepath=str(tmp_path / "muted.glb"))
    assert at_once
    at_once.clear()
    if more == "constraint":
        hero.pose.bones[bone].constraints.new("LIMIT_SCALE")
    elif more == "driver":
        hero.driver_add("location", 0)
    elif more == "inherit":
        hero.data.bones[bone].inherit_scale = "NONE"
    elif more == "uneven":
        hero.data.bones[bone].inherit_scale = "ALIGNED"
    else:
        hero.data.bones[bone].use_local_location = False
    operator("export_procedures", filepath=str(tmp_path / "b.glb"))
    assert not at_once and (tmp_path / "b.glb").stat().st_size > (tmp_path / "a.glb").stat().st_size / 2


def test_actions_are_the_procedures_from_frame_0(hero: Any) -> None:
    there, playing, before = wanted(hero), hero.animation_data.action, set(bpy.data.actions)
    operator("procedure_actions", as_assets=True)
    made: dict[str, Any] = {action.name: action for action in set(bpy.data.actions) - before}
    assert made.keys() == there.keys() and hero.animation_data.action == playing
    for name, action in made.items():
        assert tuple(action.frame_range) == (0.0, len(there[name]) - 1) and action.use_fake_user and action.asset_data
        hero.animation_data.action, hero.animation_data.action_slot = action, action.slots[0]
        assert np.abs(heads(hero, range(len(there[name]))) - there[name]).max() < 1e-5


def test_loops_are_closed(hero: Any) -> None:
    for is_loop in (False, True):
        played = [procedure_actions.sample(hero, context.scene, name, Wanted(is_loop=is_loop))
                  for name in procedure_actions.names_of(hero)]
        assert [each.is_loop for each in played] == [is_loop] * 3
    for each in played:  # all closed, but for where the body has gone
        assert each.channels is not None
        for _, names, values, _ in each.channels.curves:
            for bone in range(len(names)):
                if names[bone] != "HumanoidRoot":
                    assert np.abs(values[0, bone] - values[-1, bone]).max() < 1e-4
    operator("procedure_actions", loop=True)
    assert all(bpy.data.actions[name].use_cyclic for name in procedure_actions.names_of(hero))


def test_made_again_the_same_actions_are_filled_but_not_edited_or_foreign_ones(hero: Any) -> None:
    foreign = bpy.data.actions.new("steps")
    operator("procedure_actions")
    count = len(bpy.data.actions)
    first = {action.name: action for action in bpy.data.actions if getattr(action, properties.OF_CLIP)}
    assert "steps.001" in first and not foreign.layers
    operator("procedure_actions", loop=True)
    assert len(bpy.data.actions) == count and all(bpy.data.actions[name] == first[name] for name in first)
    edited: Any = first["steps.001"]
    bag = edited.layers[0].strips[0].channelbags[0]
    bag.fcurves[0].keyframe_points[1].co[1] += 0.5
    value = bag.fcurves[0].keyframe_points[1].co[1]
    operator("procedure_actions")
    assert len(bpy.data.actions) == count + 1 and bag.fcurves[0].keyframe_points[1].co[1] == value


def test_one_undo_takes_the_actions_away_and_an_export_leaves_none(hero: Any, tmp_path: Path) -> None:
    names = procedure_actions.names_of(hero)
    with context.temp_override(window=context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="before")
        operator("procedure_actions")
        bpy.ops.ed.undo_push(message="Make Actions")
        operator("export_procedures", filepath=str(tmp_path / "a.glb"))
        bpy.ops.ed.undo()
    assert not set(names) & set(bpy.data.actions.keys()) and (tmp_path / "a.glb").exists()
    assert "Rig" in bpy.data.objects and len(bpy.data.scenes) == 1


def test_a_procedure_with_errors_costs_only_itself(hero: Any, tmp_path: Path, capfd: Any) -> None:
    text: Any = properties.character(hero).text
    text.from_string(LIBRARY.replace("</pha>", """<procedure name="gap"><call name="gone" duration="1"/></procedure>
<procedure name="of gap"><call name="gap" duration="2"/></procedure><procedure name="empty"></procedure></pha>"""))
    operator("export_procedures", filepath=str(tmp_path / "a.glb"))
    said = capfd.readouterr().out
    assert all(f"Warning: {name}: " in said for name in ("gap", "of gap", "empty")) and "Wrote 3 animations" in said
    rig = imported(tmp_path / "a.glb")
    assert len(rig.animation_data.nla_tracks) == 3


def test_names_that_are_too_long_cost_only_themselves(hero: Any, tmp_path: Path, capfd: Any) -> None:
    text: Any = properties.character(hero).text
    long = "ä" * 40
    text.from_string(LIBRARY.replace("Schritt – links", long))
    operator("export_procedures", filepath=str(tmp_path / "a.fbx"))
    said = capfd.readouterr().out
    assert f"{long}: its name takes 80 bytes" in said and "Wrote 2 animations" in said


@pytest.mark.parametrize(("name", "message"), [
    ("a.obj", "it has to end in .glb, .gltf, .fbx"),
    ("none/a.glb", "there is no folder"), (".", "does not name a format"),
    ("folder.glb", "is a folder")])
def test_paths_that_cannot_be_written_are_refused(hero: Any, tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.glb").mkdir()
    before = everything(hero)
    assert message in refused("export_procedures", filepath=str(tmp_path / name))
    assert everything(hero) == before


def test_an_old_file_stays_where_the_new_one_cannot_be_written(hero: Any, tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "a.glb"
    out.write_bytes(b"old")
    before = everything(hero)

    def fails(path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("Traceback\nOSError: no space")

    monkeypatch.setitem(engine_files._WRITERS, ".glb", (*engine_files._WRITERS[".glb"][:2], fails))
    assert "Blender's exporter failed, and nothing was written: OSError: no space" in refused(
        "export_procedures", filepath=str(out))
    assert out.read_bytes() == b"old" and everything(hero) == before


@pytest.mark.parametrize(("text", "message"), [
    ("<pha tickLength='1'></pha>", "the score has no procedures: write one, or choose another score"),
    ("<pha tickLength='1'>", "figures.pha"),
    ("<pha tickLength='1'><procedure name='a'/></pha>", "no procedure can be played")])
def test_a_score_without_anything_to_play_is_refused(hero: Any, tmp_path: Path, text: str, message: str) -> None:
    score: Any = properties.character(hero).text
    score.from_string(text)
    for name, settings in (("procedure_actions", {}), ("export_procedures", {"filepath": str(tmp_path / "a.glb")})):
        assert message in refused(name, **settings)
    assert not (tmp_path / "a.glb").exists()


@pytest.mark.parametrize("is_hidden", [False, True])
def test_what_a_character_refers_to_is_copied_with_it(hero: Any, tmp_path: Path, is_hidden: bool) -> None:
    """A rig below an empty, with a constraint on itself, in the NLA: hidden, or in Pose Mode."""
    there = wanted(hero)
    above = bpy.data.objects.new("Above", None)
    context.collection.objects.link(above)
    above.scale = (2.0, 2.0, 2.0)
    hero.parent = above
    constraint = hero.pose.bones["x_tail"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = hero, "l_knee"
    track = hero.animation_data.nla_tracks.new()
    track.strips.new("mine", 1, bpy.data.actions.new("mine"))
    hero.pose.bones["x_tail"].location = (1.0, 0.0, 0.0)  # a pose that nobody has keyed
    if is_hidden:
        context.view_layer.objects.active = bpy.data.objects["Body"]
        hero.hide_viewport = hero.hide_select = True
    else:
        bpy.ops.object.mode_set(mode="POSE")
    before = everything(hero)
    operator("export_procedures", filepath=str(tmp_path / "a.glb"))
    assert everything(hero) == before
    rig = imported(tmp_path / "a.glb")
    context.scene.render.fps = 24
    action = next(action for action in bpy.data.actions if action.name.startswith("steps"))
    rig.animation_data.action, rig.animation_data.action_slot = action, action.slots[0]
    first = round(action.frame_range[0])
    found = heads(rig, range(first, first + len(there["steps"])))
    assert np.abs(found - 2.0 * there["steps"]).max() < 2.0 * JOINTS


# The command


@pytest.fixture
def file(hero: Any, library: Path) -> Path:
    """The .blend of the character, without a score."""
    properties.character(hero).text = None
    bpy.ops.wm.save_as_mainfile(filepath=str(library / "hero.blend"), copy=True)
    return library / "hero.blend"


def test_the_command_exports_a_library(file: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out.glb"
    assert command.run(["export", str(file), "--score", str(file.parent / "figures.pha"), "--out", str(out),
                        "--procedure", "steps", "--procedure", "round and round"]) == 0
    assert "Wrote 2 animations" in capsys.readouterr().out
    assert len(imported(out).animation_data.nla_tracks) == 2


def test_the_command_takes_values_and_a_seed_and_some_procedures(file: Path, tmp_path: Path, capsys: Any) -> None:
    score = file.parent / "many.pha"
    score.write_text("""<pha version="2" tickLength="1"><load src="feet.Steps"/><procedure name="some">
<param name="times" default="2"/><loop times="times"><call name="left" duration="1"/></loop></procedure>
<procedure name="other"><call name="left" duration="1"/></procedure></pha>""", encoding="utf-8")
    out = tmp_path / "out.glb"
    arguments = ["export", str(file), "--score", str(score), "--out", str(out)]
    assert command.run([*arguments, "--procedure", "some", "--set", "times=5", "--seed", "3"]) == 0
    (track,) = imported(out).animation_data.nla_tracks
    assert track.name == "some" and track.strips[0].frame_end - track.strips[0].frame_start == pytest.approx(5 * 24)
    assert command.run([*arguments, "--procedure", "some", "--set", "laps=5"]) == 2
    assert "no such parameter; it has times" in capsys.readouterr().out
    assert command.run([*arguments, "--procedure", "none"]) == 2
