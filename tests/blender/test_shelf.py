"""The shelf in Blender: what lies on it for whom, in which order, and what it says of damaged files."""

import gc
import itertools
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.files import clips, second_blender
from takt.bridge.scores import performing, score, score_blocks, score_tree, texts
from takt.bridge.scores.background_performance import BackgroundPerformance
from takt.bridge.shelf import shelf as bridge_shelf
from takt.bridge.shelf import shelf_order, shelf_search
from takt.core.classes import tags_file
from takt.core.clips.clip import Clip
from takt.core.clips.keyed import packed
from takt.core.formats import bvh, ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.retargeting.comparing.upright import turned
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.figures import figure_of
from takt.core.score_editor.shelf import (
    ACTIONS,
    DAMAGED,
    FAVOURITES,
    NO_CLIP,
    OTHER_ACTIONS,
    arrange,
    found,
    told,
)
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.preview.score_editor import life, windows
from takt.samples.clip_files import write_files
from takt.samples.clips import build_clips
from takt.tests.blender.dancing import STEPS, play, text_of
from takt.tests.blender.score_editors import choose, editing, looked_into
from takt.tests.core.rigs import with_model_axes

operators: Any = bpy.ops


def searched(rig: bpy.types.Object) -> list[Any]:
    while not bridge_shelf.playables(rig) or bridge_shelf.is_searching(rig):
        time.sleep(0.01)
    return list(bridge_shelf.playables(rig))


def action_of(name: str, bone: str) -> bpy.types.Action:
    action = bpy.data.actions.new(name)
    slot = action.slots.new(id_type="OBJECT", name="x")
    layer = action.layers.new("Layer")
    strip: Any = layer.strips.new(type="KEYFRAME")
    bag = strip.channelbag(slot, ensure=True)
    for index in range(4):
        curve = bag.fcurves.new(f'pose.bones["{bone}"].rotation_quaternion', index=index)
        curve.keyframe_points.add(2)
        curve.keyframe_points.foreach_set("co", (1.0, float(index == 0), 20.0, float(index == 0)))
    return action


def test_actions_of_other_characters_come_last_and_scores_of_others_not_at_all(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    other, own = cast(bpy.types.Object, rig.copy()), cast(bpy.types.Armature, rig.data)
    other.data = data = cast(bpy.types.Armature, own.copy())
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(other)
    for bone in data.bones:
        bone.name = f"other {bone.name}"
    own_bone = own.bones[0].name
    mine, theirs = action_of("mine", own_bone), action_of("theirs", f"other {own_bone}")
    written = action_of("written by Takt", f"other {own_bone}")
    properties.character(other).action = written
    with editing():
        groups = {each.name: each.shelf_group for each in searched(rig) if not each.full_name.startswith("feet")}
    assert groups[mine.name] == ACTIONS and groups[theirs.name] == OTHER_ACTIONS
    assert written.name not in groups


def sitting_at_rest() -> Clip:
    """A clip whose body stands, of a skeleton that sits: Z is up, and no name says which joints are legs."""
    clip = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == "left_step")
    own, along = clip.skeleton, np.array((1.0, 0.0, 0.0))
    turns = np.tile(rot.IDENTITY, (len(own), 1))
    turns[[own.index_of[f"{side}_hip"] for side in "lr"]] = rot.from_axis_angle(along, np.array(-1.6))
    rests = rot.multiply(own.rest_rotations, turns)
    sits = Skeleton.from_arrays([f"Bone_{number}" for number in range(len(own))], own.parents, rests,
                                own.rest_translations)
    times = np.linspace(0.0, clip.duration_s, 25)
    played = rot.multiply(rot.conjugate(turns), clip.sample(times).rotations)
    tracks = packed([(joint, times, played[:, joint]) for joint in range(len(own))], 4)
    return turned(replace(clip, skeleton=sits, rotations=tracks), rot.from_axis_angle(along, np.array(np.pi / 2.0)))


def test_a_body_that_sits_at_rest_stands_in_its_picture(rig: bpy.types.Object, library: Path) -> None:
    clip = sitting_at_rest()
    data = ogre_xml.write(OgreSkeleton.of(clip.skeleton, (clip,)))
    (library / "sits.skeleton.xml").write_bytes(data)
    play(library / "dance.pha")
    with editing():
        chip = next(each for each in searched(rig) if each.src == "sits")
        strokes = bridge_shelf.figures(rig)[chip].strokes
    assert 0.9 < np.ptp(strokes[0, ..., 1]) < 1.2  # of the body's height
    assert np.ptp(figure_of(clip, find_map(clip.skeleton)).strokes[0, ..., 1]) < 0.8  # by the rest pose alone


def test_files_are_on_the_shelf_before_they_are_read_and_damaged_ones_say_why(
        rig: bpy.types.Object, library: Path) -> None:
    (library / "cut.bvh").write_text("HIERARCHY\nROOT Hips\n{\n OFFSET 0 0", encoding="utf-8")
    (library / "no.fbx").write_bytes(b"Kaydara FBX Binary  \0no FBX")
    for name, data in (("text.fbx", b"no FBX"), ("none.blend", b""), ("other.blend", b"no blend file")):
        (library / name).write_bytes(data)
    for name, data in (("ascii.fbx", b"; FBX 7.4.0"), ("zstd.blend", b"\x28\xb5\x2f\xfd")):
        (library / name).write_bytes(data)
    (library / "chair.gltf").write_text('{"asset": {"version": "2.0"}}', encoding="utf-8")
    (library / "half.glb").write_bytes(b"glTF\x02\0\0\0\xff\0\0\0\xff\0\0\0JSON")
    play(library / "dance.pha")
    with editing():
        chips = {each.src: each for each in searched(rig)}
        assert chips["chair"].problem.startswith(f"{NO_CLIP}has no animation")
        assert chips["half"].problem.startswith(f"{DAMAGED}the file is cut off")
        assert "(byte 12)" in chips["half"].problem
        assert chips["cut"].problem.startswith(DAMAGED) and DAMAGED in told(chips["cut"], 1.0)
        for name in ("no", "ascii", "zstd"):
            assert not chips[name].problem and not chips[name].is_read
        for name in ("text", "none", "other"):
            assert chips[name].problem.startswith(DAMAGED) and not chips[name].is_read
        for name in ("cut", "no"):
            with pytest.raises(RuntimeError, match=name):
                operators.takt.score_add(what=f"{name}|{name}")
        assert {each.src: each for each in searched(rig)}["no"].problem.startswith(DAMAGED)
        assert text_of(rig).as_string() == STEPS
        state = bridge_shelf.state(rig)
        (library / "cut.bvh").write_bytes((library / "feet" / "Steps.skeleton.xml").read_bytes())
        assert bridge_shelf.state(rig) == state


def test_a_clip_that_is_cut_off_says_so_on_its_chip_and_when_it_is_called(rig: bpy.types.Object, library: Path,
                                                                          capfd: pytest.CaptureFixture[str]) -> None:
    clip = read_clip_file(library / "feet" / "Steps.skeleton.xml").played[0]
    lines = bvh.write(with_model_axes(clip), 0.1).decode().splitlines()
    (library / "cut.bvh").write_text("\n".join(lines[:-2]), encoding="utf-8")
    frames = int(next(line for line in lines if line.startswith("Frames:")).split()[1])
    expected = (f"line {len(lines) - 2}: the file is cut off: Frames announces {frames} frames, and {frames - 2} are "
                "whole")
    play(library / "dance.pha")
    with editing():
        chips = {each.src: each for each in searched(rig)}
        assert chips["cut"].cut_off == expected and expected in told(chips["cut"], 1.0)
        assert not any(chip.cut_off for src, chip in chips.items() if src != "cut")
        assert operators.takt.score_add(what="cut|cut") == {"FINISHED"}
    assert f"cut: {expected}" in capfd.readouterr().out


@pytest.mark.parametrize(("called", "mesh", "score"), [
    ("Armature", "Rogue", "Rogue.pha"), ("metarig.001", "Elf body", "Elf body.pha"), ("Anna", "Body", "Anna.pha"),
    ("Armature", "", "Armature.pha")])
def test_a_score_is_called_by_the_character_and_not_as_any_armature(
        rig: bpy.types.Object, called: str, mesh: str, score: str) -> None:
    for child in rig.children_recursive:
        bpy.data.objects.remove(child)
    rig.name = called
    if mesh:
        body = bpy.data.objects.new(mesh, bpy.data.meshes.new(mesh))
        body.parent = rig
    assert operators.takt.new_score() == {"FINISHED"}
    assert text_of(rig).name == score


def folder_with(path: Path, library: Path, *names: str) -> Path:
    path.mkdir(parents=True)
    for name in names:
        (path / f"{name}.skeleton.xml").write_bytes((library / "feet" / "Steps.skeleton.xml").read_bytes())
    return path


def folders(rig: bpy.types.Object) -> list[str]:
    return [Path(folder.path).name for folder in properties.character(rig).folders]


def test_folders_and_files_come_to_the_shelf_in_their_order(rig: bpy.types.Object, library: Path,
                                                            tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("own")
    one = folder_with(elsewhere / "one", library, "jump", "same")
    two = folder_with(elsewhere / "two" / "deep", library, "crawl", "same").parent
    (elsewhere / "notes.txt").write_text("walks", encoding="utf-8")
    play(library / "dance.pha")
    with editing():
        assert operators.takt.add_clip_folder(directory=str(one)) == {"FINISHED"}
        assert operators.takt.add_clip_folder(directory=str(one)) == {"CANCELLED"}
        assert operators.takt.add_clip_folder(directory=str(two)) == {"FINISHED"}
        assert folders(rig) == ["one", "two"]
        assert {each.src for each in searched(rig)} >= {"jump", "deep.crawl", "feet.Steps"}
        assert operators.takt.move_folder(index=1, direction="UP") == {"FINISHED"}
        assert operators.takt.move_folder(index=0, direction="UP") == {"CANCELLED"}
        assert folders(rig) == ["two", "one"]
        assert operators.takt.forget_folder(index=0) == {"FINISHED"}
        files = [{"name": "crawl.skeleton.xml"}, {"name": "gone.bvh"}, {"name": "notes.txt"}]
        assert operators.takt.add_clip_files(directory=str(two / "deep"), files=files) == {"FINISHED"}
        assert folders(rig) == ["one", "deep"]
        assert "crawl" in {each.src for each in searched(rig)}
        with pytest.raises(RuntimeError, match="is no folder"):
            operators.takt.add_clip_folder(directory=str(elsewhere / "gone"))
        if Path("/proc/self").is_dir():
            with pytest.raises(RuntimeError, match="is no folder for clips: what lies there are no files"):
                operators.takt.add_clip_folder(directory="/proc/self")
        with pytest.raises(RuntimeError, match=r"is no folder|File name too long; choose a shorter name") as refused:
            operators.takt.add_clip_folder(directory=str(elsewhere / ("n" * 300)))
        assert "Errno" not in str(refused.value)
        with pytest.raises(RuntimeError, match="no file of clips"):
            operators.takt.add_clip_files(directory=str(elsewhere), files=[{"name": "notes.txt"}])
        assert folders(rig) == ["one", "deep"]


def test_a_folder_takes_the_place_of_the_samples_as_long_as_nothing_calls_them(
        rig: bpy.types.Object, library: Path) -> None:
    assert operators.takt.new_score() == {"FINISHED"}
    with editing():
        assert operators.takt.add_clip_folder(directory=str(library)) == {"FINISHED"}
        assert Path(properties.character(rig).library) == library and not folders(rig)
        assert {each.src for each in searched(rig)} >= {"feet.Steps"}


def test_clips_are_found_by_what_they_are_and_put_in_order_by_what_fits(
        rig: bpy.types.Object, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("samples")
    write_files(folder)
    tags_file.with_tags(folder, "dance.Moves.sway", ("for the king",))
    (folder / "main.pha").write_text(
        '<pha tickLength="1"><load src="feet.Steps"/><procedure name="main"><call name="left_step" duration="1"/>'
        "</procedure></pha>", encoding="utf-8")
    play(folder / "main.pha")
    with editing():
        chips = tuple(searched(rig))
        assert {each.name for each in found(chips, "turning left")} == {"quarter_left"}
        assert {each.name for each in found(chips, "travelling, run")} == {"left_run", "right_run"}
        assert {each.name for each in found(chips, "for the king")} == {"sway"}
        tree = score_tree.tree_of(bpy.context)
        assert tree is not None
        assert shelf_order.ordered(rig, tree, chips) == (chips, "")
        tree.shelf_order = "FITS"
        fits, said = shelf_order.ordered(rig, tree, chips)
        assert not said and fits[0].name in {"right_step", "right_run"}
        assert {each.shelf_group for each in fits} == {"Fits after left_step"}
        tree.shelf_order = "LIKE"
        like, said = shelf_order.ordered(rig, tree, chips)
        assert not said and like[0].name == "left_step" and like[1].name in {"right_step", "left_run"}
        tree.shelf_order = "FITS"
        shelf_order._rankings.clear()
        assert 0 < len(shelf_order.ordered(rig, tree, chips, at_once=2)[0]) <= 2  # the rest in the next drawings
        assert bpy.app.timers.is_registered(shelf_order._draw_again)
        for _ in chips:
            again, _ = shelf_order.ordered(rig, tree, chips, at_once=2)
        assert again == fits


def test_links_hold_what_a_score_plays_by_them_and_others_say_why_not(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "out.skeleton.xml"
    outside.write_bytes((library / "feet" / "Steps.skeleton.xml").read_bytes())
    for name, target in (("good", Path("feet") / "Steps.skeleton.xml"), ("out", outside), ("dead", Path("nothing"))):
        (library / f"{name}.skeleton.xml").symlink_to(target)
    play(library / "dance.pha")
    with editing():
        chips = searched(rig)
        assert {each.name for each in chips if each.src == "good"} == {
            each.name for each in chips if each.src == "feet.Steps"} == {"left", "right"}
        said = {each.src: each.problem for each in chips if each.problem}
        assert said.keys() == {"out", "dead"} and said["dead"] == f"{DAMAGED}is a link that leads nowhere"
        assert "is a link that leads out of the library" in said["out"]


def test_damaged_tags_are_said_and_the_rest_works(rig: bpy.types.Object, library: Path) -> None:
    (library / "takt.tags").write_text("# Takt tags 9\n", encoding="utf-8")
    play(library / "dance.pha")
    with editing():
        assert {each.src for each in searched(rig)} >= {"feet.Steps"}
        assert "newer" in bridge_shelf.trouble(rig)


def test_files_that_are_not_shown_are_counted(rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch
                                              ) -> None:
    play(library / "dance.pha")
    with editing():
        assert searched(rig) and "shown" not in bridge_shelf.trouble(rig)
        blocks = score_blocks.shown(rig)
        assert blocks is not None and blocks.scores is not None
        for left_out, words in ((1, "1 more file is not shown: "), (2_000, "2,000 more files are not shown: ")):
            monkeypatch.setattr(bridge_shelf._search(blocks.scores.library), "left_out", left_out)
            assert bridge_shelf.trouble(rig).startswith(words)


def test_a_damaged_line_of_tags_is_said_and_the_others_count(rig: bpy.types.Object, library: Path) -> None:
    (library / "takt.tags").write_text("# Takt tags 1\nnothing\nfeet.Steps: for the king\n", encoding="utf-8")
    play(library / "dance.pha")
    with editing():
        assert {each.src for each in found(tuple(searched(rig)), "for the king")} == {"feet.Steps"}
        assert "takt.tags:2: found 'nothing'" in bridge_shelf.trouble(rig)


def test_tags_in_inner_folders_count_and_outer_ones_count_more(rig: bpy.types.Object, library: Path) -> None:
    inner, deeper = library / "more", library / "more" / "deep" / "er"
    for folder in (inner, deeper):
        write_files(folder)
    some = next(path for path in inner.rglob("*.skeleton*") if path.parent != inner and deeper not in path.parents)
    name = ".".join((*some.relative_to(inner).parts[:-1], some.name.partition(".")[0]))
    (inner / "takt.tags").write_text(f"# Takt tags 1\n{name}: pack\ndeep.er.{name}: outer\n", encoding="utf-8")
    (deeper / "takt.tags").write_text(f"# Takt tags 1\n{name}: pack\n", encoding="utf-8")
    (deeper.parent / "takt.tags").write_text("# Takt tags 9\n", encoding="utf-8")
    play(library / "dance.pha")
    with editing():
        chips = tuple(searched(rig))
        assert {each.src for each in found(chips, "pack")} == {f"more.{name}"}
        assert {each.src for each in found(chips, "outer")} == {f"more.deep.er.{name}"}
        assert "newer" in bridge_shelf.trouble(rig)


def test_a_folder_that_is_gone_is_named_also_by_an_empty_score(rig: bpy.types.Object, tmp_path: Path) -> None:
    kept, going = tmp_path / "kept", tmp_path / "going"
    for folder in (kept, going):
        write_files(folder)
    assert operators.takt.new_score() == {"FINISHED"}
    with editing():
        for folder in (kept, going):
            assert operators.takt.add_clip_folder(directory=str(folder)) == {"FINISHED"}
        searched(rig)
        assert not bridge_shelf.trouble(rig)
        going.rename(tmp_path / "gone")
        assert operators.takt.rebuild() == {"FINISHED"}
        looked_into()
        last = time.monotonic() + 30.0
        while str(going) not in bridge_shelf.trouble(rig):
            assert time.monotonic() < last
            time.sleep(0.01)
        assert str(kept) not in bridge_shelf.trouble(rig) and searched(rig)


def test_files_that_only_blender_reads_are_known_once_a_shelf_shows_them(
        rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bone = rig.pose.bones[1]
    bone.rotation_mode = "QUATERNION"
    for frame, angle in ((1, 0.0), (21, 1.0)):
        bone.rotation_quaternion = (np.cos(angle), np.sin(angle), 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    for name in ("near", "far"):
        bpy.ops.wm.save_as_mainfile(filepath=str(library / f"{name}.blend"), copy=True, compress=False)
    (library / "cut.fbx").write_bytes(b"Kaydara FBX Binary  \0\x1a\0no FBX")
    monkeypatch.setattr(clips, "read_file_clips", lambda source: pytest.fail(f"{source.path} was read here"))
    play(library / "dance.pha")
    try:
        with editing():
            chips = {each.src: each for each in searched(rig)}
            assert not chips["near"].is_read and not chips["cut"].problem
            bridge_shelf.show(rig, [])
            assert second_blender.SHOWN.running is None
            last = time.monotonic() + 60.0
            while not all(chips[src].is_read or chips[src].problem for src in ("near", "far", "cut") if src in chips):
                assert time.monotonic() < last
                bridge_shelf.show(rig, [chips[src] for src in ("near", "cut") if src in chips])
                time.sleep(0.05)
                chips = {each.src: each for each in bridge_shelf.playables(rig)}
            assert chips["cut"].problem.startswith(DAMAGED) and "Blender could not read it" in chips["cut"].problem
            assert chips["near"].duration_s == pytest.approx(20.0 / 24.0) and chips["near"] in bridge_shelf.figures(rig)
    finally:
        bridge_shelf.forget()
        second_blender.unregister()
    assert second_blender.SHOWN.running is None


def test_tags_are_given_from_the_shelf_and_written_beside_the_clips(rig: bpy.types.Object, library: Path) -> None:
    (library / "feet" / "takt.tags").write_text("# Takt tags 1\nSteps.right: for the king\n", encoding="utf-8")
    play(library / "dance.pha")
    with editing() as layout:
        searched(rig)
        text = text_of(rig).as_string()
        assert operators.takt.tag_clip(clip="feet.Steps.left", tags=" slow,, stage left ") == {"FINISHED"}
        assert tags_file.read_lines(library)[0] == {"feet.Steps.left": ("slow", "stage left")}
        assert {each.full_name for each in found(bridge_shelf.playables(rig), "stage left")} == {"feet.Steps.left"}
        assert operators.takt.favourite_clip(clip="feet.Steps.right") == {"FINISHED"}  # where it has tags
        assert tags_file.read_lines(library / "feet")[0] == {"Steps.right": (tags_file.FAVOURITE, "for the king")}
        assert {each.full_name for each in found(bridge_shelf.playables(rig), "favourite")} == {"feet.Steps.right"}
        assert operators.takt.tag_clip(clip="feet.Steps.right", tags="for the king, bow") == {"FINISHED"}
        assert tags_file.read_lines(library / "feet")[0] == {
            "Steps.right": (tags_file.FAVOURITE, "for the king", "bow")}  # still a favourite
        tree = score_tree.tree_of(bpy.context)
        assert tree is not None
        tree.shelf_order = "FAVOURITES"
        chips = shelf_order.ordered(rig, tree, bridge_shelf.playables(rig))[0]
        arranged = arrange(chips, View(900.0, 500.0), Theme())
        assert arranged.titles[0][0] == FAVOURITES and arranged.playables[0].full_name == "feet.Steps.right"
        assert {each.full_name for each in chips if each.shelf_group == FAVOURITES} == {"feet.Steps.right"}
        tree.shelf_order = "LIBRARY"
        assert operators.takt.favourite_clip(clip="feet.Steps.right") == {"FINISHED"}
        assert tags_file.read_lines(library / "feet")[0] == {"Steps.right": ("for the king", "bow")}
        bridge_shelf.forget()
        assert {each.full_name for each in found(tuple(searched(rig)), "stage left")} == {"feet.Steps.left"}
        choose(layout, "left")
        assert operators.takt.favourite_clip() == {"FINISHED"}  # of the selected block
        assert tags_file.read_lines(library)[0]["feet.Steps.left"][0] == tags_file.FAVOURITE
        with pytest.raises(RuntimeError, match="Point at a clip of the library"):
            operators.takt.tag_clip(clip="nothing", tags="a")
        assert text_of(rig).as_string() == text


def test_tags_that_cannot_be_written_say_what_to_do_and_stay(rig: bpy.types.Object, library: Path) -> None:
    (library / "takt.tags").mkdir()
    play(library / "dance.pha")
    with editing():
        searched(rig)
        with pytest.raises(RuntimeError, match=r"takt\.tags.*choose another"):
            operators.takt.tag_clip(clip="feet.Steps.left", tags="slow")
        with pytest.raises(RuntimeError, match="'a: b' cannot be a tag: leave out colons"):
            operators.takt.tag_clip(clip="feet.Steps.left", tags="a: b")
        assert not found(bridge_shelf.playables(rig), "slow, stage")
        assert not any("slow" in each.tags[:1] for each in bridge_shelf.playables(rig))


def test_a_folder_that_goes_while_its_chips_are_shown_costs_only_these(rig: bpy.types.Object, library: Path,
                                                                       tmp_path: Path) -> None:
    going = tmp_path / "going"
    going.mkdir()
    shutil.copy(library / "feet" / "Steps.skeleton.xml", going / "hop.skeleton.xml")
    play(library / "dance.pha")
    with editing():
        assert operators.takt.add_clip_folder(directory=str(going)) == {"FINISHED"}
        assert "hop" in {each.src for each in searched(rig)}
        going.rename(tmp_path / "gone")
        assert operators.takt.score_add(what="feet.Steps|right") == {"FINISHED"}
        assert operators.takt.score_add(what="hop|left") == {"FINISHED"}  # what was read is kept for now
        assert operators.takt.rebuild() == {"FINISHED"}
        assert any("hop" in each.message for each in score.warnings_of(rig))
        looked_into()
        last = time.monotonic() + 30.0
        while str(going) not in bridge_shelf.trouble(rig):
            assert time.monotonic() < last
            time.sleep(0.01)
        assert {each.src for each in searched(rig)} >= {"feet.Steps"}
        assert "hop" not in {each.src for each in bridge_shelf.playables(rig)}


def test_what_a_thread_found_reads_actions_at_once_where_an_editor_asks(rig: bpy.types.Object, library: Path) -> None:
    action_of("hop", rig.pose.bones[1].name)
    play(library / "dance.pha")
    character = properties.character(rig)
    task = performing.read_task(texts.said(text_of(rig)), properties.score_path(character), character, rig, {})
    performance = BackgroundPerformance(replace(task, resolved=None), rig.session_uid).result(30.0)
    assert performance is not None and performance.error is None
    kept = performing.read_task(texts.said(text_of(rig)), properties.score_path(character), character, rig, {})
    assert kept.resolved is not None and kept.resolved is not task.resolved
    clip, = kept.resolved[1].clips("hop")[0]
    assert clip.name == "hop"


def test_a_folder_with_dots_in_its_name_is_a_heading(rig: bpy.types.Object, library: Path) -> None:
    folder = library / "v1.2 walks"
    folder.mkdir()
    for name in ("slow", "fast"):
        (folder / f"{name}.skeleton.xml").write_bytes((library / "feet" / "Steps.skeleton.xml").read_bytes())
    play(library / "dance.pha")
    with editing():
        for each in searched(rig):
            if each.src.startswith("v1.2"):
                assert each.dotted == ("v1.2 walks",)
        assert {each.dotted for each in searched(rig) if not each.src.startswith("v1.2")} == {()}


def test_garbage_collection_leaves_out_the_files_of_a_large_library_as_long_as_it_is_shown(
        rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full collection would hold up the interface."""
    play(library / "dance.pha")
    with editing():
        searched(rig)
        assert gc.get_freeze_count() == 0
        monkeypatch.setattr(shelf_search, "MANY_FILES", 0)
        bridge_shelf.forget()
        searched(rig)
        assert gc.get_freeze_count() > 0
        bridge_shelf.forget()
        assert gc.get_freeze_count() == 0


def test_of_very_many_files_the_first_are_shown_before_the_others_are_found(tmp_path: Path, monkeypatch:
                                                                            pytest.MonkeyPatch) -> None:
    """They keep their places."""
    for folder, number in (("a", 5), ("b", 7), ("c", 8), ("d", 9)):
        (tmp_path / folder).mkdir()
        for each in range(number):
            (tmp_path / folder / f"{each}.bvh").write_bytes(b"")
    shown = list[tuple[Any, ...]]()
    show = shelf_search.Search._show

    def spied(search: shelf_search.Search, listed: Any) -> None:
        assert not search.is_listed
        show(search, listed)
        shown.append(tuple(file.chip for file in search.files.values()))

    monkeypatch.setattr(shelf_search.Search, "_show", spied)
    monkeypatch.setattr(shelf_search, "_FIRST_FILES", 4)
    search = shelf_search.Search((tmp_path,), None)
    while not search.is_listed:
        time.sleep(0.001)
    search.end()
    assert [len(each) for each in shown] == [5, 20, 29] and search.structure == 3
    for few, more in itertools.pairwise(shown):
        assert all(one is other for one, other in zip(few, more, strict=False))


def test_another_search_or_order_shows_its_first_chips_and_what_is_under_the_mouse_then() -> None:
    chips = [Playable(f"a.{number}", f"{number}", 1.0) for number in range(90)]
    window = windows.Window(View(900.0, 500.0), mouse=(120.0, 80.0))
    window.seek("", "LIBRARY", "")
    window.shelf_px = 1e6
    shown = life._arranged(window, chips, Theme(), 0.0)
    assert window.shelf_px == pytest.approx(shown.farthest) and shown.boxes[:, 2].max() <= 900.0  # at once
    assert window.chip is not None and window.chip.playable.name not in ("0", "1", "2")
    window.seek("", "LIBRARY", "")
    assert window.shelf_px > 0.0  # nothing else is sought
    window.seek("", "FITS", "walk")
    shown = life._arranged(window, chips, Theme(), 0.0)
    assert window.shelf_px == 0.0 and shown.at(120.0, 80.0) == window.chip.playable == chips[0]
    assert window.leave() and window.chip is None and not window.leave()
    life._arranged(window, chips, Theme(), 0.0)
    assert window.chip is None


def test_what_is_known_of_unchanged_files_stays_while_they_are_listed_again_and_with_a_further_folder(
        rig: bpy.types.Object, library: Path, tmp_path: Path) -> None:
    """Else the shelf is empty for a moment, and its chips move."""
    play(library / "dance.pha")
    further = tmp_path / "further"
    further.mkdir()
    shutil.copy(next(library.rglob("Steps.skeleton.xml")), further / "more.skeleton.xml")
    with editing():
        before = searched(rig)
        known, figures = set(bridge_shelf.known(rig)), set(bridge_shelf.figures(rig))
        for again in (performing.look_at_files,
                      lambda: properties.character(rig).folders.add().__setattr__("path", str(further))):
            again()
            score_blocks.refresh(rig)
            while bridge_shelf.is_searching(rig):
                now = bridge_shelf.playables(rig)
                assert set(before) <= set(now) and known <= set(bridge_shelf.known(rig))
                assert figures <= set(bridge_shelf.figures(rig))
                time.sleep(0.001)
        assert {each.src for each in bridge_shelf.playables(rig)} - {each.src for each in before} == {"more"}


def test_a_file_that_only_blender_reads_is_unread_again_if_it_was_changed(tmp_path: Path) -> None:
    kept, changed = tmp_path / "kept.fbx", tmp_path / "changed.fbx"
    for path in (kept, changed):
        path.write_bytes(b"Kaydara FBX Binary  \0")
    before = shelf_search.Search((tmp_path,), 0)
    before.work.has_ended(None)
    for src, file in before.files.items():
        file.hold((Playable(src, "run", 1.0), Playable(src, "hop", 2.0)))
        file.stamp = shelf_search._stamp_of(file)
    changed.write_bytes(b"Kaydara FBX Binary  \0 more")
    now = shelf_search.Search((tmp_path,), 1, before)
    now.work.has_ended(None)
    assert [(each.src, each.name, each.is_read) for each in now.playables()] == [
        ("changed", "changed", False), ("kept", "run", True), ("kept", "hop", True)]
