"""The score editor in Blender: its life, its verbs, and that undo brings text and Action back."""

import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest

import takt
from takt.bridge import changes, properties
from takt.bridge.scores import score, score_blocks, score_edits, score_fields, score_tree
from takt.bridge.scores.background_performance import BackgroundPerformance
from takt.bridge.shelf import shelf as bridge_shelf
from takt.core.errors import EditError
from takt.core.score_editor import commands, gestures, hit, shelf
from takt.core.score_editor.drop import drop_at
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.operators.score_editor import base
from takt.operators.score_editor.drop_file import TAKT_FH_score
from takt.panels.score_editor import sidebar
from takt.preview import life as preview_life
from takt.preview.score_editor import life, windows
from takt.tests.blender.dancing import STEPS, curves, play, rebuild, text_of
from takt.tests.blender.score_editors import choose, context, editing, looked_into

operators: Any = bpy.ops
NO_TIME_S = -1.0
"""Shorter than anything lasts, however quick the machine is."""


def keys(rig: bpy.types.Object) -> list[list[float]]:
    found = []
    for curve in curves(rig):
        points = np.empty(len(curve.keyframe_points) * 2)
        curve.keyframe_points.foreach_get("co", points)
        found.append(points.tolist())
    return found


def handlers() -> int:
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return sum(len(found) for found in lists if isinstance(found, list))


VERBS: dict[str, tuple[tuple[str, ...], str]] = {
    "delete": (("right",), STEPS.replace('\n    <call name="right" duration="0.7"/>', "")),
    "duplicate": (("pair",), STEPS.replace('repeat="2"/>', 'repeat="2"/>\n    <call name="pair" duration="2.5" '
                                                           'repeat="2"/>')),
    "dissolve": (("pair",), ""),
    "group": (("pair", "right"), ""),
}


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_one_step_that_undo_takes_back_and_redo_brings_again(
        rig: bpy.types.Object, library: Path, verb: str) -> None:
    play(library / "dance.pha")
    titles, expected = VERBS[verb]
    name = rig.name
    with editing() as layout:
        choose(layout, *titles)
        operators.ed.undo_push(message="before")
        before = text_of(rig).as_string(), keys(rig)
        assert getattr(operators.takt, f"score_{verb}")() == {"FINISHED"}
        after = text_of(rig).as_string(), keys(rig)
        assert after[0] != before[0] and (not expected or after[0] == expected)
        operators.ed.undo_push(message=verb)
        operators.ed.undo()
        rig = bpy.data.objects[name]
        assert (text_of(rig).as_string(), keys(rig)) == before
        operators.ed.redo()
        rig = bpy.data.objects[name]
        assert (text_of(rig).as_string(), keys(rig)) == after


def test_what_a_key_cannot_do_is_told_without_an_error_that_would_take_the_next_key(
        rig: bpy.types.Object, library: Path) -> None:
    """An error pops up; scripts are told by one all the same."""
    told: list[tuple[set[str], str]] = []
    for is_invoke in (True, False):
        operator: Any = SimpleNamespace(report=lambda *words: told.append(words),
                                        options=SimpleNamespace(is_invoke=is_invoke))
        assert base.refuse(operator, "No") == {"CANCELLED"}
    assert told == [({"WARNING"}, "No"), ({"ERROR"}, "No")]
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "pair")
        with pytest.raises(RuntimeError, match="only a clip can be split"):
            operators.takt.score_split()
    assert text_of(rig).as_string() == STEPS


def test_reports_leave_the_names_of_clips_as_they_are_written(rig: bpy.types.Object, library: Path,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "pair")
        with pytest.raises(RuntimeError, match="pair is no clip; only a clip can be split"):
            operators.takt.score_split()
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        left = next(each for each in bridge_shelf.playables(rig) if each.full_name == "feet.Steps.left")
        assert operators.takt.score_add(what=f"{left.src}|{left.name}") == {"FINISHED"}
        assert operators.takt.score_duplicate() == {"FINISHED"}
    said = capsys.readouterr().out
    assert "Info: left → place" in said and "Info: 1 call duplicated" in said and "Left" not in said


def test_who_cannot_play_beside_another_is_not_asked_for_a_part_of_the_body(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "pair")
        with pytest.raises(RuntimeError, match="There is no call before this one to play beside"):
            operators.takt.score_beside("INVOKE_DEFAULT")
    assert text_of(rig).as_string() == STEPS


@pytest.mark.parametrize("is_drawn", [False, True])
def test_why_a_transition_is_as_it_is_is_told_of_the_selected_block(rig: bpy.types.Object, library: Path,
                                                                    is_drawn: bool) -> None:
    """Also where no preview is drawn."""
    score.forget_shown()
    play(library / "dance.pha")
    with editing() as layout:
        tree = score_tree.tree_of(bpy.context)
        assert tree is not None
        assert (score.shown(rig) if is_drawn else score.motion_of(rig)) is not None
        assert (score.last_good(rig.session_uid) is not None) == is_drawn
        assert score_fields.why_transition(tree, rig) == ("Select a block: its transition is the one after it",)
        choose(layout, "pair")
        words = score_fields.why_transition(tree, rig)
        motion = score.motion_of(rig)
        assert motion is not None
        assert words[0].startswith(f"{motion.transitions_s[3]:.2f} s: ")
        choose(layout, "right")
        assert score_fields.why_transition(tree, rig) == ("No transition follows the selected block",)


def test_what_is_copied_is_pasted_behind_what_is_selected(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        proposal = commands.paste(layout, commands_gap(layout), '<call name="left" duration="3"/>', scores(rig))
        assert proposal.change is not None
        new, _ = score_edits.attempted(rig, score_blocks.refresh(rig), proposal.change)
        score_edits.write(bpy.context, rig, new)
    assert '<call name="left" duration="3"/>' in text_of(rig).as_string()


def commands_gap(layout: Any) -> Any:
    from takt.core.score_editor.drop import beside_of

    last = int(layout.boxes.end.argmax())
    return beside_of(layout, last, float(layout.boxes.end[last]))


def scores(rig: bpy.types.Object) -> Any:
    found = score_blocks.refresh(rig).scores
    assert found is not None
    return found


def test_what_is_tried_out_is_shown_and_written_nowhere(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        blocks = score_blocks.refresh(rig)
        proposal = commands.remove(layout, frozenset((layout.id_of(0),)), scores(rig))
        assert proposal.change is not None
        new = score_edits.try_out(rig, blocks, proposal.change)
        tried = score_blocks.shown(rig)
        assert tried is not None and [tried.source] == list(new.values()) and tried.layout is not None
        assert tried.layout.ticks < layout.ticks and score_blocks.is_current(rig)
        assert text_of(rig).as_string() == STEPS
        score_edits.take_back(rig)
        back = score_blocks.refresh(rig).layout
        assert back is not None and back.ticks == layout.ticks


def test_while_there_are_mistakes_the_last_good_blocks_are_shown_and_nothing_is_changed(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        text = properties.character(rig).text
        assert text is not None
        broken = STEPS.replace('name="left" duration="1"', 'name="left" duration="one"')
        text.from_string(broken)
        blocks = score_blocks.refresh(rig)
        assert blocks.layout is layout and blocks.error is not None
        (problem,) = blocks.problems.values()
        assert "one" in problem.message and not problem.is_warning
        choose(layout, "right")
        with pytest.raises(RuntimeError, match="mistakes"):
            operators.takt.score_delete()
        with pytest.raises(EditError, match="mistakes"):
            score_edits.attempted(rig, blocks, None)  # type: ignore[arg-type]  # it is not asked for
        assert text.as_string() == broken


def test_a_mistake_in_a_new_line_marks_no_block_of_another(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        text = properties.character(rig).text
        assert text is not None
        lines = STEPS.split("\n")
        at = next(number for number, line in enumerate(lines) if 'name="left"' in line)
        for wrong in ('  <call name="sit"/>', '  <call name="sit"/>\n\n'):
            text.from_string("\n".join((*lines[:at], wrong, *lines[at:])))
            blocks = score_blocks.refresh(rig)
            assert blocks.layout is layout and "sit" in str(blocks.error) and not blocks.problems
        text.from_string(STEPS.replace('name="left"', 'name="lefd"') + "\n\n")
        assert len(score_blocks.refresh(rig).problems) == 1


def test_typed_text_is_seen_before_it_can_be_played_and_nothing_is_drawn_over_and_over_meanwhile(
        rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    drawn, told = list[str](), list[Any]()
    with editing() as layout:
        text = properties.character(rig).text
        assert text is not None

        def perform_soon(_rig: bpy.types.Object, then: Any) -> None:
            told.append(then)

        monkeypatch.setattr(score, "perform_soon", perform_soon)
        monkeypatch.setattr(score_tree, "redraw", lambda: drawn.append("editor"))
        monkeypatch.setattr(preview_life, "changed", lambda: drawn.append("character"))
        text.from_string(STEPS.replace('duration="0.7"', 'duration="1.7"'))
        life._refresh()
        shown = score_blocks.shown(rig)
        assert shown is not None and shown.layout is not None and shown.layout.ticks == layout.ticks + 1.0
        assert drawn == ["editor"] and not score_blocks.is_complete(rig)
        for _ in range(3):
            life._refresh()
        assert drawn == ["editor"]
        monkeypatch.undo()
        monkeypatch.setattr(score_tree, "redraw", lambda: drawn.append("editor"))
        monkeypatch.setattr(preview_life, "changed", lambda: drawn.append("character"))
        assert score.motion_of(rig) is not None
        told[0]()
        assert drawn == ["editor", "character", "editor"] and score_blocks.is_complete(rig)


def test_what_was_performed_quickly_before_is_waited_for(rig: bpy.types.Object, library: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    told: list[bool] = []

    def tell() -> None:
        told.append(True)

    def after_typing(duration: str) -> bool:
        text_of(rig).from_string(STEPS.replace('"0.7"', f'"{duration}"'))
        changes.score()
        return score.perform_soon(rig, tell) is not None

    real = BackgroundPerformance.result
    monkeypatch.setattr(BackgroundPerformance, "result", lambda work, within_s=0.0: (
        None if within_s == NO_TIME_S else real(work, within_s)))
    monkeypatch.setattr(score, "_INSTANT_S", NO_TIME_S)
    assert not after_typing("0.8")  # nothing is known of what it takes
    while score.is_waiting(rig):
        score._perform_waiting()
    assert told == [True] and score.perform_soon(rig, tell) is not None
    monkeypatch.setattr(score, "_QUICK_S", 30.0)  # however slow it is here
    assert after_typing("0.9") and not score.is_waiting(rig)
    motion = score.shown(rig)
    assert motion is not None and motion.duration_s == pytest.approx(5.9)
    score._perform_waiting()
    assert told == [True]  # who asked was answered
    monkeypatch.setattr(score, "_QUICK_S", 0.0)
    assert not after_typing("1.0")
    while score.is_waiting(rig):
        score._perform_waiting()
    assert told == [True, True]
    score._cost_s.clear()
    monkeypatch.setattr(score, "_INSTANT_S", 30.0)
    assert after_typing("1.1") and not score.is_waiting(rig)  # nothing is known again, and it is tried


def test_a_score_that_names_another_file_is_laid_out_only_once_that_is_read(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        text = properties.character(rig).text
        assert text is not None
        for now, is_quick in ((STEPS.replace("0.7", "1.7"), True), ("<pha", True),
                              (STEPS.replace("<procedure", '<load src="feet.Others"/><procedure', 1), False)):
            text.from_string(now)
            assert score_blocks.reads_no_other_files(rig) == is_quick
        text.from_string(STEPS)
        properties.character(rig).library = str(library.parent)
        assert not score_blocks.reads_no_other_files(rig)


def test_a_thousand_editors_leave_nothing(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    window = context.window_manager.windows[0]
    area = window.screen.areas[0]
    before, trees = handlers(), len(bpy.data.node_groups)
    for _ in range(1000):
        area.ui_type = score_tree.TaktScoreTree.bl_idname
        score_tree.give_trees()
        area.ui_type = "VIEW_3D"
    assert handlers() == before and len(bpy.data.node_groups) == trees + 1
    windows.forget_closed(set())
    assert not list(score_tree.areas())


def test_the_view_is_kept_in_the_tree_and_undo_does_not_move_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        for step in ("first", "second"):
            operators.ed.undo_push(message=step)
        operators.takt.score_zoom(steps=3)
        window = windows.window_of(context.space_data)
        assert window is not None
        view = window.view
        operators.ed.undo()
        looked_into()
        assert window.view == view
        windows.forget_closed(set())
        operators.takt.score_zoom.poll()
        looked_into()
    assert not operators.takt.score_zoom.poll()


def test_the_extension_goes_and_a_file_comes_back_whole(rig: bpy.types.Object, library: Path, tmp_path: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "pair")
    path = str(tmp_path / "with_editor.blend")
    operators.wm.save_as_mainfile(filepath=path)
    takt.unregister()
    operators.wm.open_mainfile(filepath=path)
    without = str(tmp_path / "without.blend")
    operators.wm.save_as_mainfile(filepath=without)
    takt.register()
    operators.wm.open_mainfile(filepath=without)
    (_, area), = score_tree.areas()
    tree: Any = area.spaces.active.node_tree
    assert tree.bl_idname == score_tree.TaktScoreTree.bl_idname and len(tree.selected.split()) == 2
    assert properties.character(bpy.data.objects["Rig"]).text is not None


def test_fields_say_what_the_element_says_and_change_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "pair")
        tree: Any = score_tree.tree_of(bpy.context)
        assert (tree.fields.name, tree.fields.repeat, tree.fields.transition) == ("pair", "2", "")
        tree.fields.repeat = "3"
        assert text_of(rig).as_string() == STEPS.replace('repeat="2"', 'repeat="3"')
        tree.fields.repeat = ""
        assert text_of(rig).as_string() == STEPS.replace(' repeat="2"', "")
        tree.fields.duration = "nonsense"
        assert "nonsense" in score_fields.refused(tree) and text_of(rig).as_string() == STEPS.replace(' repeat="2"', "")
        tree.fields.transition = "1"
        assert score_fields.refused(tree) == "" and 'transition="1"' in text_of(rig).as_string()
        tree.fields.duration = "nonsense"
        assert score_fields.refused(tree)
        choose(looked_into(), "right")
        assert score_fields.refused(tree) == ""  # it was said of another block
        score_tree.select(tree, looked_into(), [])
        assert tree.fields.name == ""


def test_what_is_yes_or_no_is_a_check_box_but_for_expressions(rig: bpy.types.Object, library: Path) -> None:
    text = STEPS.replace('<pha ', '<pha version="2" ')
    (library / "own.pha").write_text(text, encoding="utf-8")
    play(library / "own.pha")
    drawn = list[str]()
    layout: Any = SimpleNamespace(prop=lambda _fields, name, placeholder="": drawn.append(name))

    def drawn_now() -> set[str]:
        drawn.clear()
        looked_into()
        found = score_fields.chosen(tree, rig)
        assert found is not None
        sidebar._draw_attributes(layout, tree, *found[:2])
        return {name for name in drawn if name.endswith(("mirror", "reverse"))}

    with editing() as laid_out:
        choose(laid_out, "right")
        tree: Any = score_tree.tree_of(bpy.context)
        assert drawn_now() == {"is_mirror", "is_reverse"} and not tree.fields.is_mirror
        tree.fields.is_mirror = True
        right = 'name="right" duration="0.7"'
        assert text_of(rig).as_string() == text.replace(right, f'{right} mirror="yes"') and tree.fields.is_mirror
        tree.fields.types_expressions = True
        assert drawn_now() == {"mirror", "reverse"} and "types_expressions" in drawn
        tree.fields.mirror = "2 > 1"
        tree.fields.types_expressions = False
        assert text_of(rig).as_string() == text.replace(right, f'{right} mirror="2 > 1"')
        assert drawn_now() == {"mirror", "is_reverse"}
        tree.fields.mirror = "no"
        assert drawn_now() == {"is_mirror", "is_reverse"} and not tree.fields.is_mirror
        tree.fields.is_mirror = False
        assert text_of(rig).as_string() == text.replace(right, f'{right} mirror="no"')


def test_the_view_follows_a_block_that_is_put_in_where_it_is_not_seen(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        space: Any = bpy.context.space_data
        window = windows.window_of(space)
        assert window is not None
        choose(layout, layout.boxes.titles[0])
        while not bridge_shelf.playables(rig) or bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        before = window.view.framed(500.0, 520.0)
        windows.change_view(bpy.context, before)
        operators.takt.score_add(what="feet.Steps|left")
        looked_into()
        assert window.view.first_tick < layout.ticks < window.view.last_tick
        assert window.view.px_per_tick == before.px_per_tick
        seen = window.view
        operators.takt.score_add(what="feet.Steps|left")
        assert window.view == seen


def test_an_empty_score_is_shown_and_takes_its_first_clip(rig: bpy.types.Object, library: Path) -> None:
    assert operators.takt.new_score() == {"FINISHED"}
    properties.character(rig).library = str(library)
    with editing() as layout:
        assert len(layout) == 0 and score_blocks.refresh(rig).error is None
        gap = drop_at(layout, View(800.0, 300.0), 400.0, 100.0)
        assert gap is not None
        proposal = commands.insert(layout, gap, commands.Playable("feet.Steps", "left", 0.8), scores(rig))
        assert proposal.change is not None
        new, _ = score_edits.attempted(rig, score_blocks.refresh(rig), proposal.change)
        score_edits.write(bpy.context, rig, new)
        assert looked_into().boxes.titles == ("left",)


def test_all_blocks_can_be_deleted_and_the_next_one_put_in(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        tree: Any = score_tree.tree_of(bpy.context)
        score_tree.select(tree, layout, [layout.id_of(box) for box in np.flatnonzero(layout.boxes.depth == 0).tolist()])
        assert operators.takt.score_delete() == {"FINISHED"}
        blocks = score_blocks.refresh(rig)
        assert blocks.error is None and blocks.layout is not None and len(blocks.layout) == 0
        gap = drop_at(blocks.layout, View(800.0, 300.0), 400.0, 100.0)
        assert gap is not None
        proposal = commands.insert(blocks.layout, gap, commands.Playable("feet.Steps", "left", 0.8), scores(rig))
        assert proposal.change is not None
        score_edits.write(bpy.context, rig, score_edits.texts_after(rig, blocks, proposal.change))
        assert looked_into().boxes.titles == ("left",)


def test_a_new_score_takes_back_what_the_old_one_left_on_the_timeline(rig: bpy.types.Object, library: Path) -> None:
    scene: Any = bpy.context.scene
    scene.timeline_markers.new("mine", frame=3)
    for end, is_set_later in ((20, False), (20, True)):
        scene.frame_end = end
        play(library / "dance.pha")
        assert scene.frame_end > 100 and len(scene.timeline_markers) > 1
        longer = scene.frame_end
        text = properties.character(rig).text
        assert text is not None
        text.from_string(STEPS.replace('duration="0.7"', 'duration="2.7"'))
        assert operators.takt.rebuild() == {"FINISHED"}
        assert scene.frame_end > longer
        if is_set_later:
            scene.frame_end = 300
        assert operators.takt.new_score() == {"FINISHED"}
        assert scene.frame_end == (300 if is_set_later else end)
        assert [marker.name for marker in scene.timeline_markers] == ["mine"]


def test_the_shelf_holds_the_library_and_what_is_on_it_can_be_searched_and_hit(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    (library / "more.pha").write_text(STEPS.replace('"pair"', '"couple"'), encoding="utf-8")  # its main is its own
    with editing():
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        playables = bridge_shelf.playables(rig)
        lengths = {each.full_name: each.duration_s for each in playables}
        assert lengths == pytest.approx({"pair": 2.5, "feet.Steps.left": 0.8, "feet.Steps.right": 0.8,
                                         "more.couple": 2.5})
        (left,) = shelf.found(playables, "STEPS lef")
        laid_out = shelf.arrange(playables, View(900.0, 400.0), Theme())
        for each, box in zip(laid_out.playables, laid_out.boxes, strict=True):
            assert laid_out.at(float(box[:3:2].mean()), float(box[1::2].mean())) == each
        assert laid_out.at(5.0, 5.0) is None and laid_out.at(300.0, laid_out.height + 1.0) is None
        assert operators.takt.score_add(what=f"{left.src}|{left.name}") == {"FINISHED"}
        assert text_of(rig).as_string().count('name="left"') == STEPS.count('name="left"') + 1


def test_files_come_to_the_shelf_and_go_when_files_are_looked_at_again(rig: bpy.types.Object, library: Path) -> None:
    """Until that has been done it shows what it did before."""
    def names() -> set[str]:
        return {each.full_name for each in bridge_shelf.playables(rig)}

    def looked() -> set[str]:
        while bridge_shelf.is_searching(rig) or any(not search.latest.work.has_ended(0.01)
                                                    for search in bridge_shelf._searches.values()):
            time.sleep(0.01)
        return names()

    play(library / "dance.pha")
    walk, away = library / "walk.skeleton.xml", library / "walk.away"
    shutil.copy(library / "feet" / "Steps.skeleton.xml", walk)
    with editing():
        both = looked()
        fewer = both - {"walk.left", "walk.right"}
        assert fewer < both
        for before, after, now in ((walk, away, fewer), (away, walk, both)):
            earlier, state = names(), bridge_shelf.state(rig)
            before.rename(after)
            assert looked() == earlier, "nobody looks at files all the time"
            rebuild()
            assert names() == earlier
            assert looked() == now and bridge_shelf.state(rig) != state
            assert bpy.app.timers.is_registered(bridge_shelf._tell)


def test_files_that_only_blender_reads_are_on_the_shelf_and_read_when_they_are_taken(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    (library / "broken.fbx").write_text("no FBX", encoding="utf-8")
    action = bpy.data.actions["left"] if "left" in bpy.data.actions else properties.character(rig).action
    assert action is not None
    bpy.data.libraries.write(str(library / "waves.blend"), {rig, action})
    with editing():
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        unread = {each.name for each in bridge_shelf.playables(rig) if not each.is_read}
        assert unread == {"broken", "waves"}
        assert operators.takt.score_add(what="waves|waves") == {"FINISHED"}
        assert 'src="waves"' in text_of(rig).as_string()
        assert {each.name for each in bridge_shelf.playables(rig) if not each.is_read} == {"broken"}
        (taken,) = (each for each in bridge_shelf.playables(rig) if each.src == "waves")
        assert taken.duration_s > 0.0 and taken in bridge_shelf.figures(rig)
        before = text_of(rig).as_string()
        with pytest.raises(RuntimeError, match=r"broken\.fbx"):
            operators.takt.score_add(what="broken|broken")
        assert operators.takt.score_add(what="broken|broken", is_chosen=True) == {"CANCELLED"}  # in the list
        assert text_of(rig).as_string() == before
        bridge_shelf.forget()
        while not bridge_shelf.playables(rig) or bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        assert taken in bridge_shelf.playables(rig)  # read before


@pytest.mark.parametrize("way", ["dropped", "typed"])
def test_all_clips_of_a_file_that_only_blender_reads_are_on_the_shelf_once_the_score_calls_one(
        rig: bpy.types.Object, library: Path, way: str) -> None:
    play(library / "dance.pha")
    action = properties.character(rig).action
    assert action is not None
    others: set[bpy.types.ID] = {cast(bpy.types.Action, action.copy()) for _ in range(3)}
    for number, each in enumerate(others):
        each.name = f"Rig|wave_{number}"
    bpy.data.libraries.write(str(library / "waves.blend"), {rig, *others})
    bpy.data.batch_remove(others)
    with editing():
        while bridge_shelf.is_searching(rig) or not bridge_shelf.playables(rig):
            time.sleep(0.01)
        assert [each.name for each in bridge_shelf.playables(rig) if each.src == "waves"] == ["waves"]
        if way == "dropped":
            assert operators.takt.score_drop_file(filepath=str(library / "waves.blend")) == {"FINISHED"}
        else:
            call = '<load src="waves"/><procedure name="more"><call name="waves.Rig|wave_1" duration="1"/></procedure>'
            text_of(rig).from_string(STEPS.replace("<procedure", f"{call}<procedure", 1))
            looked_into()
        assert score_blocks.refresh(rig).error is None
        waves = [each for each in bridge_shelf.playables(rig) if each.src == "waves"]
        assert {f"Rig|wave_{number}" for number in range(3)} < {each.name for each in waves}  # and the rig's own
        assert len(waves) == 4 and all(each.is_read for each in waves)
        assert set(waves) <= set(bridge_shelf.figures(rig))


def test_files_that_no_score_can_name_are_on_the_shelf_and_say_why(rig: bpy.types.Object, library: Path) -> None:
    shutil.copy(library / "feet" / "Steps.skeleton.xml", library / "feet" / "Steps v1..2.skeleton.xml")
    play(library / "dance.pha")
    with editing():
        bridge_shelf.playables(rig)
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        (dotted,) = shelf.found(bridge_shelf.playables(rig), "v1..2")
        assert "dot in its name" in shelf.told(dotted, 1.0) and dotted.title == "Steps v1..2.skeleton.xml"
        laid_out = shelf.arrange(bridge_shelf.playables(rig), View(900.0, 400.0), Theme())
        assert dotted in laid_out.playables
        with pytest.raises(RuntimeError, match="rename it"):
            operators.takt.score_add("EXEC_DEFAULT", True, what=f"{dotted.src}|{dotted.name}")
    assert text_of(rig).as_string() == STEPS


def test_procedures_of_version_2_are_on_the_shelf_with_their_lengths(rig: bpy.types.Object, library: Path) -> None:
    text = STEPS.replace('<pha ', '<pha version="2" ')
    (library / "more.pha").write_text(text.replace('"pair"', '"couple"').replace('"main"', '"all"'), encoding="utf-8")
    (library / "own.pha").write_text(text, encoding="utf-8")
    play(library / "own.pha")
    with editing():
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        lengths = {each.full_name: each.duration_s for each in bridge_shelf.playables(rig) if not each.is_clip}
    assert {name: lengths[name] for name in ("pair", "more.couple", "more.all")} == pytest.approx(
        {"pair": 2.5, "more.couple": 2.5, "more.all": 5.7})


@pytest.mark.parametrize("wrong", ['<call name="nobody" duration="3"/>', '<call name="pair" duration="?"/>', "<call"])
def test_procedures_on_the_shelf_stay_as_long_as_they_were_while_the_text_has_mistakes(
        rig: bpy.types.Object, library: Path, wrong: str) -> None:
    (library / "own.pha").write_text(STEPS.replace('<pha ', '<pha version="2" '), encoding="utf-8")
    play(library / "own.pha")
    with editing():
        before = {each.full_name: each.duration_s for each in bridge_shelf.playables(rig) if not each.is_clip}
        said = text_of(rig).as_string()
        text_of(rig).from_string(said.replace('    <call name="pair"', f'{wrong}\n<call name="pair"'))
        looked_into()
        for is_performed in (False, True):
            if is_performed:
                assert score.motion_of(rig) is None and score.error_of(rig) is not None
            now = {each.full_name: each.duration_s for each in bridge_shelf.playables(rig) if not each.is_clip}
            assert now["pair"] == before["pair"] == pytest.approx(2.5)


def test_the_samples_give_way_to_a_file_that_is_dropped_as_long_as_nothing_calls_them(
        rig: bpy.types.Object, library: Path) -> None:
    file = str(library / "feet" / "Steps.skeleton.xml")
    assert operators.takt.new_score() == {"FINISHED"}
    with editing():
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        assert "dance.Moves.sway" in {each.full_name for each in bridge_shelf.playables(rig)}
        assert operators.takt.score_add(what="dance.Moves|sway") == {"FINISHED"}
        score_text = properties.character(rig).text
        assert score_text is not None
        score_text.from_string('<pha tickLength="1"><procedure name="main"></procedure></pha>')
        looked_into()
        assert operators.takt.score_drop_file(filepath=file) == {"FINISHED"}


def test_the_folder_of_a_file_that_is_dropped_is_searched_too(
        rig: bpy.types.Object, library: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    play(library / "dance.pha")
    character, downloads = properties.character(rig), tmp_path_factory.mktemp("Downloads")
    clip = (library / "feet" / "Steps.skeleton.xml").read_bytes()
    for name in ("more", "steps.v2", "steps..v3"):
        (downloads / f"{name}.skeleton.xml").write_bytes(clip)
    (downloads / "feet").mkdir()
    (downloads / "feet" / "Steps.skeleton.xml").write_bytes(clip)
    with editing():
        assert operators.takt.score_drop_file(filepath=str(downloads / "more.skeleton.xml")) == {"FINISHED"}
        text = text_of(rig).as_string()
        assert [folder.path for folder in character.folders] == [str(downloads)] and 'src="more"' in text
        assert 'name="left"' not in text and 'name="feet.Steps.left"' in text  # told apart
        motion = score.motion_of(rig)
        assert motion is not None and any(name.startswith("more.") for name in motion.sequence.clips)
        for name, why in (("steps..v3", "a dot in its name"), ("feet/Steps", "the same name as a file")):
            before = text_of(rig).as_string()
            with pytest.raises(RuntimeError, match=why):
                operators.takt.score_drop_file(filepath=str(downloads / f"{name}.skeleton.xml"))
            assert text_of(rig).as_string() == before
        assert operators.takt.score_drop_file(filepath=str(downloads / "steps.v2.skeleton.xml")) == {"FINISHED"}
        assert '<load src="steps.v2"/>' in text_of(rig).as_string()
        motion = score.motion_of(rig)
        assert motion is not None and any(name.startswith("steps.v2.") for name in motion.sequence.clips)
        assert len(character.folders) == 1
        assert operators.takt.forget_folder(index=0) == {"FINISHED"} and not character.folders
        score.motion_of(rig)
        assert "more" in str(score.error_of(rig))


def test_a_file_that_is_dropped_is_called_and_loaded(rig: bpy.types.Object, library: Path, tmp_path: Path) -> None:
    assert operators.takt.new_score() == {"FINISHED"}
    with editing():
        assert operators.takt.score_drop_file(filepath=str(library / "feet" / "Steps.skeleton.xml")) == {"FINISHED"}
        assert '<load src="Steps"/>' in text_of(rig).as_string() and '<call name="left"' in text_of(rig).as_string()
        assert properties.character(rig).library == str(library / "feet")
        with pytest.raises(RuntimeError, match="is not there"):
            operators.takt.score_drop_file(filepath=str(library / "feet" / "gone.bvh"))
        assert TAKT_FH_score.poll_drop(bpy.context)
        assert {".blend", ".fbx", ".xml", ".pha"} <= set(TAKT_FH_score.bl_file_extensions.split(";"))
    assert not TAKT_FH_score.poll_drop(bpy.context)


def test_of_a_score_that_is_dropped_the_first_procedure_that_can_be_called_plays(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    figures, alone = library / "figures.pha", library / "alone.pha"
    figures.write_text(STEPS.replace('"main"', '"turn"').replace('"pair"', '"main"'), encoding="utf-8")
    alone.write_text(STEPS.partition("  <procedure")[0] + '  <procedure name="main"><call name="left" duration="1"/>'
                     "</procedure>\n</pha>\n", encoding="utf-8")
    with editing() as layout:
        before = text_of(rig).as_string()
        with pytest.raises(RuntimeError, match="holds only 'main'"):
            operators.takt.score_drop_file(filepath=str(alone))
        assert text_of(rig).as_string() == before
        while bridge_shelf.is_searching(rig):  # until then each file has a chip
            time.sleep(0.01)
        assert "alone" not in {each.src for each in bridge_shelf.playables(rig)}
        assert operators.takt.score_drop_file(filepath=str(figures)) == {"FINISHED"}
        assert '<call name="turn"' in text_of(rig).as_string() and len(looked_into()) > len(layout)


@pytest.mark.parametrize("which", ["ALL", "NONE", "INVERT"])
def test_what_a_key_selects_is_shown_though_no_mouse_moves(
        rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    play(library / "dance.pha")
    drawn = list[str]()
    with editing():
        monkeypatch.setattr(score_tree, "redraw", lambda: drawn.append(which))
        assert operators.takt.score_select(which=which) == {"FINISHED"}
    assert drawn


def test_what_is_selected_stays_selected_while_text_is_typed_above_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        choose(layout, "right")
        text = properties.character(rig).text
        tree: Any = score_tree.tree_of(bpy.context)
        assert text is not None
        (box,), line = layout.found(score_tree.selection(tree, layout)).tolist(), 9
        assert text.lines[line].body.strip() == '<call name="right" duration="0.7"/>'
        column = 0
        for words, end in (("    <call", 9), (' name="right" dura', 27), ('tion="0.7"/>\n', 0)):
            text.cursor_set(line, character=column)
            text.write(words)  # which leaves the cursor at the text's end
            column = end
            text.cursor_set(line if column else line + 1, character=column)
            score_blocks.refresh(rig)
        after = looked_into()
        (found,) = after.found(score_tree.selection(tree, after)).tolist()
        assert after.boxes.element[found] == layout.boxes.element[box] + 1
        text.lines[line + 1].body = ""
        after = looked_into()
        assert len(after) == len(layout) and not score_tree.selection(tree, after)


def test_of_another_score_all_is_seen_and_bars_are_counted_as_is_set(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        own = window.view
        operators.takt.score_zoom(steps=20)
        assert looked_into() is layout and window.view != own  # the same score stays as it is seen
        tree: Any = score_tree.tree_of(bpy.context)
        assert operators.takt.new_score() == {"FINISHED"}
        empty = looked_into()
        assert len(empty) == 0 and window.view == windows.whole(window.view, empty) and tree.pixels_per_tick == 0.0
        operators.takt.score_zoom(steps=20)
        character.text = bpy.data.texts["dance.pha"]
        character.filepath = str(library / "dance.pha")
        looked_into()
        assert window.view == own
        assert score_tree.meter_of(rig).bar(4.0) == "2.1"
        character.ticks_per_bar = 3
        assert score_tree.meter_of(rig).bar(4.0) == "2.2"


def test_a_block_is_split_on_the_beat_nearest_to_the_frame(rig: bpy.types.Object, library: Path) -> None:
    """A sixteenth of one where no frame lies on it; where frames are closer, at the frame."""
    play(library / "dance.pha")
    scene, before = bpy.context.scene, text_of(rig).as_string()
    assert scene is not None
    with editing() as layout:
        tree: Any = score_tree.tree_of(bpy.context)
        box = next(box for box in np.flatnonzero(layout.boxes.depth == 0).tolist()
                   if layout.boxes.titles[box] == "right")
        for fps, wanted, duration in ((24, 0.25, "0.25"), (24, 0.43, "0.4375"), (10_000, 0.31, "0.31")):
            text_of(rig).from_string(before)
            scene.render.fps = fps
            scene.frame_set(round(life.frame_at(rig, scene, layout, float(layout.boxes.begin[box]) + wanted)))
            score_tree.select(tree, looked_into(), [layout.id_of(box)])
            assert operators.takt.score_split() == {"FINISHED"}
            assert f'<call name="right" duration="{duration}"' in text_of(rig).as_string()


def test_tab_opens_a_block_and_leaves_it_again(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        own = window.view
        choose(layout, "pair")
        assert operators.takt.score_open() == {"FINISHED"}
        assert window.view.opened is not None and window.view.opened.title == "pair"
        assert operators.takt.score_select(which="ALL") == {"FINISHED"}
        tree: Any = score_tree.tree_of(bpy.context)
        inside = layout.found(score_tree.selection(tree, layout))
        assert [layout.boxes.titles[box] for box in inside] == ["left", "right"] * 2
        choose(layout, "left")
        operators.takt.score_frame(only_selected=True)
        assert window.view.opened is not None and window.view.px_per_tick > own.px_per_tick
        choose(layout, "pair")
        operators.takt.score_open()
        assert window.view == own
        operators.takt.score_open()
        operators.takt.score_frame()
        assert window.view == own


def test_a_transition_that_is_pulled_is_shown_as_long_at_once_and_where_it_plays_soon(
        rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        score_blocks.find_windows(rig)
        blocks = score_blocks.refresh(rig)
        layout = blocks.layout
        assert layout is not None and blocks.scores is not None
        view = View(900.0, 400.0).framed(0.0, layout.ticks)
        begun = gestures.begin(layout, hit.Hit(hit.Part.SEAM, float(layout.seams.tick[0]), seam=0), blocks.scores)
        assert begun is not None
        proposal = begun.to(view, float(view.x(layout.seams.tick[:1])[0]) + 60.0, 60.0)
        assert proposal.change is not None
        score_edits.try_out(rig, blocks, proposal.change)
        tried = score_blocks.shown(rig)
        assert tried is not None and tried.layout is not None and not tried.has_windows
        wide = tried.layout.seams.end - tried.layout.seams.begin
        score_blocks.find_windows(rig)
        known = score_blocks.shown(rig)
        assert known is not None and known.layout is not None and known.has_windows
        np.testing.assert_allclose(known.layout.seams.end - known.layout.seams.begin, wide, atol=1e-6)
        assert wide[0] > 2.0 * (layout.seams.end - layout.seams.begin)[0]
        score_edits.take_back(rig)


def test_who_sees_all_of_a_score_still_does_in_a_larger_area(rig: bpy.types.Object, library: Path) -> None:
    """In a narrow one the sidebar hides all, until it is folded."""
    play(library / "dance.pha")
    with editing() as layout:
        window = windows.window_of(context.space_data)
        assert window is not None
        wide, zoomed = window.view, window.view.zoomed(2.0, 0.0)
        for narrow, expected in ((windows.whole(wide.resized(1.0, wide.height, wide.scale), layout), wide),
                                 (zoomed.resized(300.0, wide.height, wide.scale), zoomed)):
            window.view = narrow
            looked_into()
            assert window.view == expected
