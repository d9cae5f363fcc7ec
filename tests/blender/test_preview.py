"""The life of the preview: what appears with the toggle vanishes with it, whatever happens in between."""

import logging
import resource
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest

import takt
from takt.bridge import changes, properties
from takt.bridge.rigs import joint_map
from takt.bridge.scores import performing, score
from takt.preview import hiding, life, visible
from takt.preview.batch import read_geometry
from takt.preview.character import armature_of
from takt.preview.running import Member
from takt.tests.blender.dancing import perform
from takt.tests.characters import Object, bend, context, evaluated, own_character

TIMES = 100
UNDO_STEPS = 200
SURROUNDINGS = 30
FLAT_KB = 20_000
"""By how much the process may still grow after it has warmed up."""
LIBRARY = Path(__file__).parents[2] / "samples" / "library"


toggle: Any = bpy.ops.takt.preview  # type: ignore[attr-defined]  # registered by the extension


def handlers() -> list[object]:
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return [handler for found in lists if isinstance(found, list) for handler in found]


def ours() -> list[object]:
    """Return the preview's handlers; those of the score editor are there for as long as the extension is."""
    return [handler for handler in handlers() if ".preview.life" in getattr(handler, "__module__", "")]


def is_hidden(mesh: Object) -> bool:
    """Tell whether viewports leave the object out; the object itself must know nothing of it."""
    context.view_layer.update()
    assert not mesh.hide_viewport and not mesh.hide_get() and mesh.visible_get()
    return bool(mesh.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport)


@pytest.fixture
def character() -> tuple[Object, Object]:
    rig, mesh = own_character()
    context.view_layer.objects.active = rig
    return rig, mesh


Character = tuple[Object, Object]


def test_local_view_of_an_armature_shows_its_character(character: Character) -> None:
    """The meshes, hidden while the preview shows them, cannot be selected with it."""
    rig, mesh = character
    toggle()
    window = context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    space = area.spaces.active
    bystander = bpy.data.objects.new("Bystander", None)
    context.collection.objects.link(bystander)
    for wanted, is_shown in ((rig, True), (bystander, False)):
        for ob in context.view_layer.objects:
            ob.select_set(ob == wanted)
        region = next(region for region in area.regions if region.type == "WINDOW")
        with context.temp_override(window=window, area=area, region=region):
            bpy.ops.view3d.localview(frame_selected=False)
            is_seen = visible.is_seen(mesh, rig, context.view_layer, space)
            bpy.ops.view3d.localview(frame_selected=False)
        assert is_seen == is_shown
        assert visible.is_seen(mesh, rig, context.view_layer, space)


def test_toggle_hides_and_shows(character: Character) -> None:
    rig, mesh = character
    before = handlers()
    assert toggle() == {"FINISHED"}
    assert life.is_running() and is_hidden(mesh) and not is_hidden(rig)
    bend(rig)
    assert is_hidden(mesh)
    context.scene.frame_set(5)
    assert is_hidden(mesh)
    assert toggle() == {"FINISHED"}
    assert not life.is_running() and not is_hidden(mesh)
    assert handlers() == before


def test_a_viewport_rendered_from_the_menu_shows_the_original(character: Character) -> None:
    """Nothing of ours is drawn there, and Blender tells nobody before; so the menu shows the originals for a while."""
    rig, mesh = character
    toggle()
    assert is_hidden(mesh)
    menu: Any = bpy.types.VIEW3D_MT_view
    ours = [draw for draw in menu._dyn_ui_initialize() if draw.__module__.startswith("takt.")]
    assert len(ours) == 1
    ours[0](None, context)
    assert not mesh.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport
    for frame in (3, 4):
        context.scene.frame_set(frame)
        bend(rig)
        assert not is_hidden(mesh)
    assert bpy.app.timers.is_registered(life._hide_again)
    bpy.app.timers.unregister(life._hide_again)
    life._hide_again()
    assert is_hidden(mesh)
    ours[0](None, context)
    toggle()
    assert not is_hidden(mesh) and not bpy.app.timers.is_registered(life._hide_again)


@pytest.mark.parametrize("change", ["scrub", "select", "add", "delete", "collection"])
def test_blender_never_takes_the_original_for_hidden(character: Character, change: str) -> None:
    """Whatever has the scene evaluated: a hidden object could not be selected, nor would the preview draw it."""
    mesh = character[1]
    empty = bpy.data.objects.new("Empty", None)
    inner = bpy.data.collections.new("Inner")
    context.scene.collection.children.link(inner)
    inner.objects.link(empty)
    mesh.select_set(True)
    toggle()
    for number in range(3):
        assert is_hidden(mesh) and mesh.select_get()
        if change == "scrub":
            context.scene.frame_current = 10 + number
        elif change == "select":
            empty.select_set(number % 2 == 0)
            context.view_layer.objects.active = empty
        elif change == "add":
            inner.objects.link(bpy.data.objects.new("Another", None))
        elif change == "delete" and number == 1:
            bpy.data.objects.remove(empty)
        elif change == "collection":
            inner.hide_viewport = number % 2 == 0
    assert is_hidden(mesh)
    life.stop()
    assert not is_hidden(mesh)


def test_a_mesh_in_a_collection_of_its_own_is_hidden_too(character: Character) -> None:
    mesh = character[1]
    inner = bpy.data.collections.new("Inner")
    context.scene.collection.children.link(inner)
    inner.objects.link(mesh)
    context.scene.collection.objects.unlink(mesh)
    toggle()
    assert is_hidden(mesh)
    toggle()
    assert not is_hidden(mesh)


def test_going_to_another_frame_does_not_look_through_the_scene(character: Character,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """Playback asks nothing of the many objects that stand around, and the original stays hidden all the same."""
    for number in range(SURROUNDINGS):
        context.scene.collection.objects.link(bpy.data.objects.new(f"Around {number}", bpy.data.meshes.new("Around")))
    toggle()
    context.view_layer.update()
    asked: list[Object] = []

    def ask(ob: Object) -> Object | None:
        asked.append(ob)
        return armature_of(ob)

    monkeypatch.setattr(hiding, "armature_of", ask)
    for frame in (5, 6, 7):
        context.scene.frame_set(frame)
        copy = character[1].evaluated_get(context.evaluated_depsgraph_get())
        assert copy.hide_viewport and not character[1].hide_viewport
    assert not asked
    bpy.data.objects["Around 0"].location.x = 1.0  # whatever changes the scene has it looked through again
    context.view_layer.update()
    assert len(asked) > SURROUNDINGS


def test_another_frame_hides_nothing_that_has_come_in_place_of_the_mesh(character: Character) -> None:
    """Another frame may be evaluated before Blender tells what has come and gone."""
    toggle()
    assert is_hidden(character[1])
    bpy.data.objects.remove(character[1])
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    context.scene.collection.objects.link(other)
    context.scene.frame_set(5)
    assert not other.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport


def test_what_is_hidden_anyway_stays_hidden(character: Character) -> None:
    mesh = character[1]
    toggle()
    context.view_layer.update()
    mesh.hide_viewport = True
    context.view_layer.update()
    toggle()
    context.view_layer.update()
    assert mesh.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport and not mesh.visible_get()


def test_on_and_off_many_times_leaves_nothing(character: Character) -> None:
    before = handlers()
    for _ in range(TIMES):
        toggle()
        context.view_layer.update()
        toggle()
    assert handlers() == before
    assert not bpy.app.timers.is_registered(life.stop)


def test_a_saved_file_knows_nothing_of_it(character: Character, tmp_path: Path) -> None:
    mesh = character[1].name
    toggle()
    context.view_layer.update()
    context.window_manager.takt_picture = "ZONES"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    takt.unregister()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert not is_hidden(bpy.data.objects[mesh])
    assert [key for wm in bpy.data.window_managers for key in wm.keys() if "takt" in key] == []  # noqa: SIM118
    takt.register()
    life.choices().picture = "SHADED"


def test_loading_a_file_ends_it(character: Character) -> None:
    toggle()
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not life.is_running() and not ours()


def test_deleting_the_mesh_keeps_it_and_deleting_the_armature_ends_it(character: Character) -> None:
    rig, mesh = character
    toggle()
    bpy.data.objects.remove(mesh)
    context.view_layer.update()
    assert life.is_running()
    bpy.data.objects.remove(rig)
    context.view_layer.update()
    assert not life.is_running() and not ours()


def test_switching_the_extension_off_ends_it(character: Character) -> None:
    mesh = character[1]
    toggle()
    takt.unregister()
    assert not ours() and not is_hidden(mesh)
    takt.register()


def test_the_original_is_shown_while_it_is_worked_on(character: Character) -> None:
    mesh = character[1]
    toggle()
    assert is_hidden(mesh)
    context.view_layer.objects.active = mesh
    bpy.ops.object.mode_set(mode="EDIT")
    mesh.update_tag()
    assert not is_hidden(mesh)
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh.update_tag()
    assert is_hidden(mesh)


def test_blender_evaluates_the_hidden_mesh_as_ever(character: Character) -> None:
    """Exporters and other modifiers see the same vertices with the preview on."""
    rig, mesh = character
    bend(rig)
    before = evaluated(mesh)
    toggle()
    assert is_hidden(mesh)
    assert (evaluated(mesh) == before).all()


def test_a_failure_is_told_once_and_switches_off(
        character: Character, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    toggle()

    def fail(_: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(life, "draw_viewport", fail)
    with caplog.at_level(logging.ERROR):
        life._draw()
        life._draw()
    assert len(caplog.records) == 1
    assert life.error() == "no such thing"
    assert bpy.app.timers.is_registered(life.stop)
    life.stop()
    assert not bpy.app.timers.is_registered(life.stop) and not ours()


def test_nothing_selected_is_said_on_the_button() -> None:
    with pytest.raises(RuntimeError, match="Select an armature, or a mesh that is bound to one"):
        toggle()


def test_an_armature_without_meshes_is_said(character: Character) -> None:
    bpy.data.objects.remove(character[1])
    with pytest.raises(RuntimeError, match=r"No mesh of this scene follows 'Own rig'\. Bind one first"):
        toggle()
    assert not life.is_running()


def test_a_thousand_times_on_and_off_leaves_nothing(character: Character) -> None:
    before, memory = handlers(), 0
    for time in range(1000):
        toggle()
        toggle()
        if time == 100:
            memory = peak_memory_kb()
    assert handlers() == before
    assert peak_memory_kb() - memory <= FLAT_KB


def test_two_hundred_files_end_it_two_hundred_times(tmp_path: Path) -> None:
    before, memory = len(handlers()), 0
    own_character()
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for time in range(200):
        bpy.ops.wm.open_mainfile(filepath=path)
        context.view_layer.objects.active = bpy.data.objects["Own rig"]
        toggle()
        context.view_layer.update()
        if time == 50:
            memory = peak_memory_kb()
    toggle()
    assert len(handlers()) == before and not ours()
    assert peak_memory_kb() - memory <= FLAT_KB


def test_two_hundred_undone_steps(character: Character, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forth and back through 200 steps that each move, edit or redraw; what is drawn is looked for after each."""
    before = handlers()
    monkeypatch.setattr(context.preferences.edit, "undo_steps", UNDO_STEPS + 10)
    window = context.window_manager.windows[0]
    toggle()

    def look() -> None:
        assert life._running is not None
        [(_, rig, [mesh], _)] = visible.find_members(life._running, context.view_layer)
        assert (rig.name, mesh.name) == ("Own rig", "Own")

    with context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="start")
        for step in range(UNDO_STEPS):
            mesh = bpy.data.objects["Own"]
            mesh.location.x = float(step)
            mesh.data.vertices[0].co.x = float(step)
            bpy.ops.ed.undo_push(message=f"step {step}")
        memory = [peak_memory_kb()]
        for _ in range(2):
            for step in reversed(range(UNDO_STEPS)):
                assert bpy.data.objects["Own"].location.x == step
                assert bpy.ops.ed.undo() == {"FINISHED"}
                look()
            assert bpy.data.objects["Own"].location.x == 0.0
            for _ in range(UNDO_STEPS):
                assert bpy.ops.ed.redo() == {"FINISHED"}
                look()
            memory.append(peak_memory_kb())
    context.view_layer.update()
    assert life.is_running() and len(ours()) == len(life._handlers())
    assert is_hidden(bpy.data.objects["Own"])
    life.stop()
    assert handlers() == before and not is_hidden(bpy.data.objects["Own"])
    assert not any(map(bpy.app.timers.is_registered, (life.stop, life._tick)))
    assert memory[2] - memory[1] <= FLAT_KB


def test_an_undone_armature_ends_it() -> None:
    window = context.window_manager.windows[0]
    with context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="nothing")
        rig, _ = own_character()
        context.view_layer.objects.active = rig
        bpy.ops.ed.undo_push(message="a character")
        toggle()
        while "Own rig" in bpy.data.objects and bpy.ops.ed.undo() == {"FINISHED"}:
            pass
    context.view_layer.update()
    assert "Own rig" not in bpy.data.objects
    assert not life.is_running() and not ours()
    life.stop()


def test_a_view_layer_without_the_character_shows_nothing(character: Character) -> None:
    """Windows may show different scenes; each finds its own characters."""
    toggle()
    context.view_layer.update()
    assert life._running is not None
    empty = bpy.data.scenes.new("Empty")
    for _ in range(2):
        assert visible.find_members(life._running, empty.view_layers[0]) == []
        [(found, rig, meshes, _)] = visible.find_members(life._running, context.view_layer)
        assert (found.uid, rig, meshes) == (character[0].session_uid, character[0], [character[1]])


SCORE = """<pha tickLength="1"><load src="gestures.Greetings"/>
<procedure name="main"><call name="gestures.Greetings.{clip}" duration="2"/></procedure></pha>"""


def test_the_last_good_score_plays_on_while_the_new_one_has_errors() -> None:
    from takt.samples.character import build_character

    armature, _ = build_character(context)
    text = bpy.data.texts.new("score.pha")
    kept = properties.character(armature)
    kept.text, kept.library = text, str(LIBRARY)
    text.from_string(SCORE.format(clip="wave"))
    good = score.shown(armature)
    assert good is not None and score.error_of(armature) is None
    text.from_string(SCORE.format(clip="no_such"))
    score.look()
    assert score.shown(armature) is good
    error = score.error_of(armature)
    assert error is not None and "no_such" in str(error)
    text.from_string(SCORE.format(clip="bow"))
    score.look()
    assert score.shown(armature) not in (None, good)
    kept.text = None
    assert score.shown(armature) is None


def test_nothing_is_read_from_within_a_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blender's importers bring objects into the file; the picture of the last score stays until that is done."""
    from takt.samples.character import build_character

    waiting: list[Any] = []
    monkeypatch.setattr(bpy.app.timers, "register", waiting.append)
    armature, _ = build_character(context)
    text = bpy.data.texts.new("score.pha")
    kept = properties.character(armature)
    kept.text, kept.library = text, str(LIBRARY)
    text.from_string(SCORE.format(clip="wave"))
    told = [0]
    good = score.shown(armature)

    def redraw() -> None:
        told[0] += 1

    def drawn(**instead: object) -> object:
        with score.while_drawing(redraw), monkeypatch.context() as context_:
            context_.setattr(performing, "perform", None)
            return score.shown(armature, instead)

    for instead in ({}, {"transitions": False}):
        text.from_string(SCORE.format(clip="bow" if not instead else "wave"))
        score.look()
        assert drawn(**instead) is drawn(**instead) is good and len(waiting) == 1
        perform(waiting.pop())
        new = drawn(**instead)
        assert told == [1] and new is not good and new is not None and not waiting
        told[0], good = 0, score.last_good(armature.session_uid)
    text.from_string("nonsense")
    score.look()
    assert drawn() is good
    perform(waiting.pop())
    assert drawn() is good and score.error_of(armature) is not None and not waiting


def change_setting(rig: Object) -> None:
    properties.character(rig).loop = True


def change_text(rig: Object) -> None:
    properties.character(rig).text.from_string(SCORE.format(clip="bow"))


def change_which_text(rig: Object) -> None:
    text = bpy.data.texts.new("other.pha")
    text.from_string(SCORE.format(clip="bow"))
    properties.character(rig).text = text


def change_map(rig: Object) -> None:
    joint_map.fill(rig)
    properties.character(rig).is_map_checked = True


def change_bones(rig: Object) -> None:
    rig.data.bones[0].name = "Renamed"
    context.view_layer.update()


def read_files_anew(rig: Object) -> None:
    score.forget(rig)


@pytest.mark.parametrize("change", [change_setting, change_text, change_which_text, change_map, change_bones,
                                    read_files_anew])
def test_a_changed_score_is_played_at_once(change: Callable[[Object], None]) -> None:
    """The preview asks for a motion only when something has changed; it must miss nothing."""
    from takt.samples.character import build_character

    armature, mesh = build_character(context)
    text = bpy.data.texts.new("score.pha")
    text.from_string(SCORE.format(clip="wave"))
    kept = properties.character(armature)
    kept.text, kept.library = text, str(LIBRARY)
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    life.start([armature])
    context.view_layer.update()
    before = score.shown(armature)
    assert before is not None and score.shown(armature) is before
    change(armature)
    score.look()
    assert score.shown(armature) not in (None, before)
    life.stop()


def test_drawing_looks_at_two_numbers_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    from takt.samples.character import build_character

    armature, mesh = build_character(context)
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    kept = properties.character(armature)
    kept.text, kept.library = bpy.data.texts.new("score.pha"), str(LIBRARY)
    kept.text.from_string(SCORE.format(clip="wave"))
    life.start([armature])
    context.view_layer.update()
    for _ in range(2):  # after the first time, the text is one of those that are looked at
        score.look()
        motion = score.shown(armature)
    monkeypatch.setattr(performing, "dependencies", lambda _: pytest.fail("was looked at as a whole"))
    for frame in range(3):
        context.scene.frame_set(frame)
        score.look()
        assert score.shown(armature) is motion is not None
    life.stop()


@pytest.mark.parametrize("name", (*properties.SETTING_NAMES, "text", "filepath", "is_map_checked"))
def test_every_setting_is_counted(name: str) -> None:
    kept = properties.character(own_character()[0])
    before = changes.of_scores()
    assert changes.of_scores() == before
    setattr(kept, name, getattr(kept, name))
    assert changes.of_scores() != before


def test_a_constraint_is_a_setting_too(character: Character) -> None:
    toggle()
    context.view_layer.update()
    before = changes.of_scores()
    character[0].pose.bones[0].constraints.new("LIMIT_ROTATION").use_limit_x = True
    context.view_layer.update()
    assert changes.of_scores() != before


def test_a_changed_joint_is_counted() -> None:
    from takt.samples.character import build_character

    armature, _ = build_character(context)
    joint_map.fill(armature)
    before = changes.of_scores()
    assert changes.of_scores() == before
    properties.character(armature).joints[0].meant = "NONE"
    assert changes.of_scores() != before


def test_characters_who_do_the_same_share_one_motion() -> None:
    from takt.samples.character import build_character

    text = bpy.data.texts.new("score.pha")
    text.from_string(SCORE.format(clip="wave"))
    motions = []
    for _ in range(2):
        armature, _ = build_character(context)
        kept = properties.character(armature)
        kept.text, kept.library = text, str(LIBRARY)
        motions.append(score.motion_of(armature))
    assert motions[0] is motions[1] is not None
    assert score.motion_of(armature, transitions=False) is not motions[0]


def test_a_renamed_bone_keeps_its_weights(character: Character) -> None:
    rig, mesh = character
    before = read_geometry(mesh, bone_names(rig), np.zeros((len(rig.data.bones), 3)))
    rig.data.bones[0].name = "Renamed"
    after = read_geometry(mesh, bone_names(rig), np.zeros((len(rig.data.bones), 3)))
    assert before.weights.any()
    np.testing.assert_array_equal(after.weights, before.weights)
    np.testing.assert_array_equal(after.bones, before.bones)


def test_groups_without_weights_or_without_a_bone_move_nothing(character: Character) -> None:
    rig, mesh = character
    mesh.vertex_groups.clear()
    mesh.vertex_groups.new(name=rig.data.bones[0].name)
    mesh.vertex_groups.new(name="Nobody").add([0], 1.0, "REPLACE")
    geometry = read_geometry(mesh, bone_names(rig), np.zeros((len(rig.data.bones), 3)))
    assert len(geometry.positions) >= len(mesh.data.vertices)
    assert not geometry.weights.any()


def bone_names(rig: Object) -> list[str]:
    return [bone.name for bone in rig.data.bones]


def peak_memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("change", ["", "hide", "select", "active", "in front", "colour", "revision"])
def test_what_a_crowd_is_recognized_by_changes_with_what_is_shown(character: Character, change: str) -> None:
    rig, mesh = character
    layer, body = context.view_layer, SimpleNamespace(revision=1)
    theme: Any = context.preferences.themes[0].view_3d
    rig.select_set(True)
    members: Any = [Member(cast(Any, body), rig, [mesh], True)]
    before, colour = visible._seen(members, context), tuple(theme.object_selected)
    assert before is not None and before == visible._seen(members, context)
    changes_of = {"": lambda: None, "hide": lambda: mesh.hide_set(True),
                  "select": lambda: mesh.select_set(not mesh.select_get()),
                  "active": lambda: setattr(layer.objects, "active", mesh),
                  "in front": lambda: setattr(rig, "show_in_front", not rig.show_in_front),
                  "colour": lambda: setattr(theme, "object_selected", (0.1, 0.2, 0.3)),
                  "revision": lambda: setattr(body, "revision", 2)}
    try:
        changes_of[change]()
        layer.update()
        assert (visible._seen(members, context) == before) == (change == "")
    finally:
        theme.object_selected = colour


def test_a_layer_with_many_objects_is_no_crowd(character: Character) -> None:
    rig, mesh = character
    members: Any = [Member(cast(Any, SimpleNamespace(revision=1)), rig, [mesh], True)]
    for beside, is_crowd in ((2, True), (1, False)):  # four objects for the one character, then five
        for _ in range(beside):
            context.collection.objects.link(bpy.data.objects.new("Beside", None))
        context.view_layer.update()
        assert (visible._seen(members, context) is not None) == is_crowd
