"""What goes wrong around the score editor: nothing is lost, and nothing raised."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import performing, score, score_blocks, score_edits, score_tree, texts
from takt.bridge.shelf import shelf as bridge_shelf
from takt.core.errors import EditError
from takt.core.score_editor.shelf import arrange
from takt.core.score_editor.theme import Theme
from takt.operators.score_editor.base import editor_of, found_editor
from takt.operators.score_editor.drag import TAKT_OT_score_drag
from takt.operators.score_editor.drop_file import TAKT_OT_score_drop_file
from takt.operators.score_editor.scrub import TAKT_OT_score_scrub
from takt.operators.score_editor.select import TAKT_OT_score_box_select
from takt.preview.score_editor import life, windows
from takt.tests.blender.dancing import STEPS, Wait, play, rebuild, text_of
from takt.tests.blender.score_editors import (
    Hand,
    choose,
    context,
    edge_of,
    editing,
    looked_into,
    main_region,
    named,
)

operators: Any = bpy.ops
STICK = ("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n"
         "}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n")
"""A clip of one bone, which is no body."""


def test_an_edge_is_pulled_by_hand(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        hand, (x, y) = Hand(TAKT_OT_score_drag), edge_of(layout, layout.boxes.titles.index("right"))
        assert hand.press(x, y) == {"RUNNING_MODAL"}
        hand.move(x - 1000.0, y)
        assert texts.is_proposed() and text_of(rig).as_string() == STEPS
        assert hand.escape() == {"CANCELLED"} and not texts.is_proposed()
        hand = Hand(TAKT_OT_score_drag)
        hand.press(x, y)
        hand.move(x + 30.0, y, ctrl=True)
        assert hand.let_go() == {"FINISHED"}
        assert not hand.said
        before, duration, after = STEPS.partition('"0.7"')
        written = text_of(rig).as_string()
        assert written != STEPS and written.startswith(before) and written.endswith(after)
        assert float(written.removeprefix(before).removesuffix(after).strip('"')) > float(duration.strip('"'))


@pytest.mark.parametrize("steps", [1_000_000, -1_000_000])
def test_zooming_by_any_number_of_steps_ends_at_the_last_view(rig: bpy.types.Object, library: Path, steps: int) -> None:
    play(library / "dance.pha")
    with editing():
        window = windows.window_of(context.space_data)
        assert window is not None
        operators.takt.score_zoom(steps=steps)
        wide = window.view.px_per_tick
        operators.takt.score_zoom(steps=1 if steps > 0 else -1)
        assert window.view.px_per_tick == wide


def test_what_is_pulled_is_selected_so_that_keys_mean_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "pair")
        (x, y) = edge_of(layout, layout.boxes.titles.index("right"))
        for end, chosen in (("escape", "pair"), ("let_go", "right")):
            hand = Hand(TAKT_OT_score_drag)
            hand.press(x, y)
            hand.move(x + 30.0, y, ctrl=True)
            getattr(hand, end)()
            found = looked_into().found(found_editor(bpy.context).selected).tolist()
            assert {looked_into().boxes.titles[box] for box in found} == {chosen}
        both = {*found_editor(bpy.context).selected, named(looked_into(), "pair")}
        found_editor(bpy.context).select(both)
        hand = Hand(TAKT_OT_score_drag)
        hand.press(*edge_of(looked_into(), looked_into().boxes.titles.index("pair")))
        hand.move(x, y, ctrl=True)
        hand.let_go()
        assert found_editor(bpy.context).selected == both


def test_the_shelf_is_no_place_in_the_score(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        window.shelf = arrange(bridge_shelf.playables(rig), window.view, Theme())
        assert window.shelf.height > 10.0
        x, y = edge_of(layout, layout.boxes.titles.index("right"))
        for ctrl in (False, True):
            hand = Hand(TAKT_OT_score_drag)
            hand.press(x - 30.0, y)
            hand.move(window.view.left + 5.0, y, ctrl=ctrl)
            hand.move(window.view.left + 5.0, 5.0, ctrl=ctrl)
            assert hand.let_go() == {"CANCELLED"}
            assert hand.said == ["The shelf is not part of the score; release the mouse above the shelf"]
            assert text_of(rig).as_string() == STEPS and looked_into() is layout
        hand = Hand(TAKT_OT_score_drag)
        hand.press(x - 30.0, y)
        hand.move(window.view.left + 5.0, 5.0)
        hand.move(window.view.left + 5.0, y)
        assert hand.let_go() == {"FINISHED"} and text_of(rig).as_string() != STEPS
        hand = Hand(TAKT_OT_score_drag)
        hand.press(*edge_of(looked_into(), looked_into().boxes.titles.index("pair")))
        hand.move(x + 60.0, 5.0, ctrl=True)  # what is pulled sideways may be let go anywhere
        assert hand.let_go() == {"FINISHED"} and not hand.said


def test_a_file_that_is_dropped_on_the_shelf_is_only_there(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    play(library / "dance.pha")
    downloads = tmp_path_factory.mktemp("Downloads")
    (downloads / "more.skeleton.xml").write_bytes((library / "feet" / "Steps.skeleton.xml").read_bytes())
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        window.shelf = arrange(bridge_shelf.playables(rig), window.view, Theme())
        hand = Hand(TAKT_OT_score_drop_file)
        hand.fill_in(filepath=str(downloads / "more.skeleton.xml"))
        assert hand.press(window.view.left + 5.0, 5.0) == {"FINISHED"}
        assert text_of(rig).as_string() == STEPS and looked_into().boxes.titles == layout.boxes.titles
        assert hand.said == ["more.skeleton.xml is on the shelf; drag it into the score"]
        while not bridge_shelf.playables(rig) or bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        assert "more" in {each.src for each in bridge_shelf.playables(rig)}


@pytest.mark.parametrize(("name", "text", "refusal"), [
    ("other.pha", STEPS, "This would break the score: <call> name: found 'pair', which is the name of 2 things"),
    ("only.pha", '<pha tickLength="1"><procedure name="main"/></pha>', "only.pha holds only 'main'"),
])
def test_the_folder_of_a_file_that_cannot_be_inserted_is_not_searched(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory, name: str, text: str,
        refusal: str) -> None:
    play(library / "dance.pha")
    path, character = tmp_path_factory.mktemp("Downloads") / name, properties.character(rig)
    path.write_text(text, encoding="utf-8")
    searched = character.library
    with editing(), pytest.raises(RuntimeError, match=refusal):
        operators.takt.score_drop_file(filepath=str(path))
    assert character.library == searched and not len(character.folders) and text_of(rig).as_string() == STEPS


def test_undo_gives_a_gesture_up_as_esc_does(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        (x, y), tree = edge_of(layout, layout.boxes.titles.index("right")), score_tree.tree_of(bpy.context)
        hand = Hand(TAKT_OT_score_drag)
        hand.press(x, y)
        hand.move(x + 40.0, y, ctrl=True)
        assert texts.is_proposed()
        assert hand.undo() == {"CANCELLED"}
        assert not texts.is_proposed() and text_of(rig).as_string() == STEPS and looked_into() is not None
        choose(looked_into(), "right")
        chosen = score_tree.selection(tree, looked_into())
        hand = Hand(TAKT_OT_score_box_select)
        assert hand.press(x, 1.0) == {"RUNNING_MODAL"}
        hand.move(0.0, 400.0)
        assert hand.undo() == {"CANCELLED"} and score_tree.selection(tree, looked_into()) == chosen


@pytest.mark.parametrize("ends", ["escape", "undo", "let_go"])
def test_scrubbing_that_is_given_up_goes_back(rig: bpy.types.Object, library: Path, ends: str) -> None:
    play(library / "dance.pha")
    with editing():
        window, scene = windows.window_of(context.space_data), context.scene
        assert window is not None
        scene.frame_set(7, subframe=0.25)
        hand, y = Hand(TAKT_OT_score_scrub), window.view.height - 5.0
        assert hand.press(window.view.left + 300.0, y) == {"RUNNING_MODAL"}
        hand.move(window.view.left + 400.0, y)
        there = scene.frame_current_final
        assert there > 8.0
        getattr(hand, ends)()
        assert scene.frame_current_final == (there if ends == "let_go" else 7.25)


@pytest.mark.parametrize("operator", [TAKT_OT_score_drag, TAKT_OT_score_box_select, TAKT_OT_score_scrub])
def test_each_gesture_ends_with_its_text(rig: bpy.types.Object, library: Path, operator: Any) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        x, y = edge_of(layout, layout.boxes.titles.index("right"))
        y = {TAKT_OT_score_box_select: 1.0, TAKT_OT_score_scrub: window.view.height - 5.0}.get(operator, y)
        hand = Hand(operator)
        assert hand.press(x, y) == {"RUNNING_MODAL"}
        bpy.data.texts.remove(text_of(rig))
        assert hand.move(x + 60.0, y) == {"CANCELLED"}


def test_a_text_that_is_changed_under_the_hand_keeps_what_was_typed(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    typed = STEPS.replace('"1.5"', '"1.75"')
    with editing() as layout:
        for moves_on in (False, True):
            text_of(rig).from_string(STEPS)
            layout = looked_into()
            hand, (x, y) = Hand(TAKT_OT_score_drag), edge_of(layout, layout.boxes.titles.index("right"))
            hand.press(x, y)
            hand.move(x + 40.0, y, ctrl=True)
            text_of(rig).from_string(typed)
            if moves_on:
                hand.move(x + 60.0, y, ctrl=True)
            assert hand.let_go() == {"CANCELLED"}
            assert "changed in between" in hand.said[-1]
            assert text_of(rig).as_string() == typed and not texts.is_proposed()
        choose(looked_into(), "right")
        text_of(rig).from_string(STEPS)  # typed, and not looked at yet
        assert operators.takt.score_delete() == {"FINISHED"}
        assert text_of(rig).as_string() == STEPS.replace('\n    <call name="right" duration="0.7"/>', "")


def test_a_text_that_is_deleted_under_the_hand_ends_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        hand, (x, y) = Hand(TAKT_OT_score_drag), edge_of(layout, layout.boxes.titles.index("right"))
        hand.press(x, y)
        hand.move(x + 40.0, y)
        blocks = score_blocks.refresh(rig)
        bpy.data.texts.remove(text_of(rig))
        assert properties.character(rig).text is None
        assert hand.move(x + 60.0, y) == {"CANCELLED"} and not texts.is_proposed()
        assert editor_of(bpy.context) is None
        assert not operators.takt.score_delete.poll()
        with pytest.raises(EditError, match="changed in between"):
            score_edits.check_unchanged(rig, blocks)


def test_an_undo_in_the_middle_of_a_gesture_is_kept(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        operators.ed.undo_push(message="before")
        choose(layout, "right")
        operators.takt.score_delete()
        operators.ed.undo_push(message="Delete")
        layout = looked_into()
        hand, (x, y) = Hand(TAKT_OT_score_drag), edge_of(layout, layout.boxes.titles.index("pair"))
        hand.press(x, y)
        hand.move(x + 40.0, y)
        operators.ed.undo()
        rig = bpy.data.objects["Rig"]
        assert text_of(rig).as_string() == STEPS
        hand.move(x + 80.0, y)
        assert hand.let_go() == {"CANCELLED"}
        assert text_of(rig).as_string() == STEPS and "right" in looked_into().boxes.titles
        operators.ed.redo()


@pytest.mark.parametrize("is_new", [False, True])
def test_what_is_missing_is_marked_and_can_be_deleted_with_the_rest(rig: bpy.types.Object, library: Path,
                                                                    is_new: bool) -> None:
    play(library / "dance.pha")
    with editing():
        (library / "feet" / "Steps.skeleton.xml").unlink()
        performing.look_at_files()
        if is_new:  # as after the file was opened
            score_blocks.forget()
        else:
            text_of(rig).from_string(STEPS.replace('"1.5"', '"1.25"'))
        blocks, layout = score_blocks.refresh(rig), looked_into()
        marked = life.marked(score_tree.tree_of(bpy.context), blocks)
        assert blocks.error is None and not marked.is_stale
        red = {layout.boxes.titles[box] for box in layout.found(marked.errors).tolist()}
        assert red == {"left", "right"}
        assert all("found no file" in problem.message for problem in blocks.problems.values())
        choose(layout, "right")
        operators.takt.score_duplicate()
        assert text_of(rig).as_string().count('"right"') == STEPS.count('"right"') + 1
        for title in ("right", "right", "left", "pair", "pair"):
            if title in looked_into().boxes.titles:
                choose(looked_into(), title)
                operators.takt.score_delete()
        assert "<call" not in text_of(rig).as_string().partition('name="main"')[2]
        assert looked_into().boxes.titles in ((), ("main",))


def test_two_editors_show_one_score_each_as_it_likes(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    window = context.window_manager.windows[0]
    with editing() as layout:
        first = windows.window_of(context.space_data)
        other = next(area for area in window.screen.areas if area != context.area)
        other.ui_type = score_tree.TaktScoreTree.bl_idname
        score_tree.give_trees()
        with context.temp_override(window=window, screen=window.screen, area=other, region=main_region(other)):
            assert looked_into() is layout
            second = windows.window_of(context.space_data)
            assert first is not None and second is not None and first is not second
            before = first.view
            operators.takt.score_zoom(steps=4)
            assert first.view == before != second.view
            choose(layout, "right")
            assert operators.takt.score_delete() == {"FINISHED"}
        mine = editor_of(bpy.context)
        assert mine is not None and "right" not in mine.layout.boxes.titles[:1] and len(mine.layout) < len(layout)
        assert not mine.selected and first.view == before


def test_an_editor_of_twenty_pixels_is_looked_into_and_left(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        window.view = window.view.resized(20, 20, 1.0)
        hand = Hand(TAKT_OT_score_drag)
        for x, y in ((1.0, 1.0), (10.0, 19.0), (19.0, 10.0), (-5.0, 300.0)):
            if hand.press(x, y) == {"RUNNING_MODAL"}:
                hand.move(x + 9.0, y - 9.0)
                hand.escape()
        assert text_of(rig).as_string() == STEPS and looked_into() is layout


def test_what_the_mouse_did_is_not_repeated_without_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing(), pytest.raises(RuntimeError, match="mouse"):
        operators.takt.score_drag("EXEC_DEFAULT")


def test_what_comes_back_is_no_gap_any_longer(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    file = library / "feet" / "Steps.skeleton.xml"
    with editing():
        held = file.read_bytes()
        for is_there in (False, True, False):
            file.unlink() if not is_there else file.write_bytes(held)
            rebuild() if is_there else performing.look_at_files()
            assert bool(score_blocks.refresh(rig).problems) != is_there
        bpy.data.actions.new("feet.Steps")  # it moves nothing
        before = score_blocks.refresh(rig)
        assert before.problems and score_blocks.is_current(rig) and score_blocks.refresh(rig) is before


def test_with_the_last_call_of_what_is_missing_its_file_goes(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    text_of(rig).from_string('<pha tickLength="1"><load src="gone"/><load src="feet.Steps"/><procedure name="main">'
                             '<call name="gone" duration="1"/><call name="left" duration="1"/>'
                             '<call name="gone" duration="2"/></procedure></pha>')
    with editing():
        for is_there in (True, False):
            choose(looked_into(), "gone")
            operators.takt.score_delete()
            assert ('src="gone"' in text_of(rig).as_string()) == is_there
        assert "feet.Steps" in text_of(rig).as_string() and score.motion_of(rig) is not None


def test_a_score_that_extends_a_missing_one_is_shown_and_says_so(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    text = text_of(rig)
    with editing():
        text.from_string(STEPS.replace("<pha ", '<pha version="2" extends="gone" '))
        assert 'extends="gone"' in text.as_string()
        score_blocks.refresh(rig)
        score_blocks.find_windows(rig)
        assert score_blocks.shown(rig).layout is not None
    assert "found no file for 'gone'" in str(score.error_of(rig))


def test_a_missing_clip_leaves_the_transitions_of_the_others(rig: bpy.types.Object, library: Path) -> None:
    calls = '<call name="left" duration="1"/><call name="right" duration="1"/><call name="left" duration="1"/>'
    whole = f'<pha tickLength="1"><load src="feet.Steps"/><procedure name="main">{calls}</procedure></pha>'
    (library / "whole.pha").write_text(whole, encoding="utf-8")
    missing = whole.replace("</procedure>", '<call name="gone" duration="1"/></procedure>').replace(
        "<load", '<load src="gone"/><load', 1)
    (library / "missing.pha").write_text(missing, encoding="utf-8")
    begins = []
    for name in ("whole", "missing"):
        with suppress(RuntimeError):
            play(library / f"{name}.pha")
        with editing():
            score_blocks.find_windows(rig)
            windows_s = score_blocks.shown(rig).windows_s
            assert windows_s is not None and (windows_s[1] > windows_s[0])[:2].all()
            begins.append(windows_s[0][:2])
    np.testing.assert_allclose(begins[1], begins[0], atol=1e-6)


@pytest.mark.parametrize(("file", "text", "reason"), [
    ("odd.bvh", STICK, "have no joint in common"),
    ("odd.bvh", "HIERARCHY", "is no BVH file"),
    ("odd.skeleton.xml", "<skeleton/>", "holds no clip"),
    ("odd.raa", "RiTE", "wants a .ram file beside it: odd.ram"),
])
def test_a_block_whose_clip_cannot_play_is_red_and_says_why(
        rig: bpy.types.Object, library: Path, wait: Wait, file: str, text: str, reason: str) -> None:
    (library / file).write_text(text, encoding="ascii")
    for others in ('<call name="left" duration="1"/>', ""):
        (library / "odd.pha").write_text(f'<pha tickLength="1"><load src="feet.Steps"/><load src="odd"/>\n'
                                         f'<procedure name="main">{others}\n<call name="odd" duration="1"/>\n'
                                         '</procedure></pha>', encoding="ascii")
        with suppress(RuntimeError):  # the report of what cannot be played
            play(library / "odd.pha")
        with editing() as layout:
            life._missed(rig)
            wait(0.5)
            blocks, missed = score_blocks.shown(rig), life._missed(rig)
            assert blocks is not None
            assert life.marked(None, blocks, missed=missed).errors == {named(layout, "odd")}
            problem = life.problem_at(layout, layout.boxes.titles.index("odd"), blocks.problems, missed)
            assert problem is not None and reason in problem.message
