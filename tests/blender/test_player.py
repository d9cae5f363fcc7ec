"""The player's operator, the strip and the roles: what a click does, and what is then drawn."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score, score_lines, score_tree
from takt.core.clips.keys import INTERPOLATIONS
from takt.core.score_editor.boxes import ancestors
from takt.core.score_editor.layout import Layout
from takt.core.score_editor.stripes import SEAM_PX, Stripes
from takt.operators.strip import TAKT_GT_strip, go_to, shown_times
from takt.preview import life
from takt.preview.captions import on_screen, own_words
from takt.preview.cast import Actor, column_and_row, is_in_transition, roles_of
from takt.preview.character import PreviewCharacter
from takt.preview.choices import COMPARISONS, Choices
from takt.preview.draw import CameraView
from takt.preview.strip import Bounds, ViewportStrip
from takt.samples.character import build_character
from takt.tests.blender.score_editors import editing
from takt.tests.characters import Object, context

DANCE = Path(__file__).parents[2] / "samples" / "library" / "dance.pha"
operators: Any = bpy.ops.takt  # type: ignore[attr-defined]  # registered by the extension


@pytest.fixture
def dancer() -> Object:
    armature, mesh = build_character(context)
    modifier: Any = mesh.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    text = bpy.data.texts.new("dance.pha")
    text.from_string(DANCE.read_text(encoding="utf-8"))
    kept = properties.character(armature)
    kept.text, kept.filepath = text, str(DANCE)
    context.view_layer.objects.active = armature
    assert score.motion_of(armature) is not None  # else it is performed in the background once the preview is on
    operators.preview()
    life.choices().__init__()  # type: ignore[misc]  # as at the start
    life.characters()[0].refresh(armature, [])
    assert score.shown(armature) is not None
    return armature


def press(action: str) -> None:
    assert operators.player(action=action) == {"FINISHED"}


def test_keys_mean_nothing_while_the_preview_is_off(dancer: Object) -> None:
    operators.preview()
    with pytest.raises(RuntimeError, match="Switch the preview on first"):
        operators.player(action="PLAY")


def test_with_the_timeline_steps_are_frames(dancer: Object) -> None:
    context.scene.frame_set(10)
    press("STEP_ON")
    assert context.scene.frame_current == 11
    press("STEP_BACK")
    press("STEP_BACK")
    assert context.scene.frame_current == 9
    press("STOP")
    assert context.scene.frame_current == context.scene.frame_start and life.choices().player.at_rest
    context.scene.frame_set(20)
    assert not life.choices().player.at_rest


def test_another_speed_takes_the_own_clock_from_where_the_timeline_is(dancer: Object) -> None:
    context.scene.frame_set(context.scene.frame_start + 48)
    press("FASTER")
    player = life.choices().player
    assert (player.clock, player.speed) == ("OWN", 1.25)
    assert player.position_s(life.now_s(), life.duration_s()) == pytest.approx(2.0)
    press("STEP_ON")
    context.window_manager.takt_clock = "TIMELINE"
    assert context.scene.frame_current == context.scene.frame_start + 49


def test_a_fragment_of_the_timeline_is_its_preview_range(dancer: Object) -> None:
    scene = context.scene
    scene.frame_set(30)
    press("FROM_HERE")
    scene.frame_set(60)
    press("TO_HERE")
    assert scene.use_preview_range and (scene.frame_preview_start, scene.frame_preview_end) == (30, 60)
    motion = score.motion_of(dancer)
    assert motion is not None
    first = properties.character(dancer).frame_start
    assert shown_times(scene, dancer, motion)[1] == pytest.approx(((30 - first) / 24, (60 - first) / 24))
    press("RESTART")
    assert scene.frame_current == 30
    press("BACKWARDS")
    press("RESTART")
    assert scene.frame_current == 60
    press("WHOLE")
    assert not scene.use_preview_range and shown_times(scene, dancer, motion)[1] is None


def test_the_own_clock_begins_where_the_timeline_was(dancer: Object) -> None:
    context.scene.frame_set(context.scene.frame_start + 48)
    context.window_manager.takt_clock = "OWN"
    player = life.choices().player
    assert player.position_s(life.now_s(), life.duration_s()) == pytest.approx(48 / 24)
    press("STEP_ON")
    assert player.position_s(life.now_s(), life.duration_s()) == pytest.approx(49 / 24)
    press("FROM_HERE")
    assert player.fragment == pytest.approx((49 / 24, life.duration_s()))
    press("WHOLE")
    press("FASTER")
    press("BACKWARDS")
    press("PLAY")
    assert player.speed == 1.25 and player.backwards and player.is_playing
    press("STOP")
    assert player.at_rest and not player.is_playing


def test_one_clip_alone_and_back(dancer: Object) -> None:
    press("ALONE")
    motion = score.last_good(dancer.session_uid)
    assert motion is not None and life.choices().alone == motion.sequence.clips[int(motion.sequence.clip[0])]
    begin, end = float(motion.layout.begin_s[0]), float(motion.layout.end_s[0])
    now_s, fragment = shown_times(context.scene, dancer, motion)
    assert fragment == (begin, end) and begin <= now_s <= end
    go_to(context, dancer, float(motion.layout.begin_s[4]) + 0.01, motion)
    assert (life.choices().alone, life.choices().alone_segment) == (motion.sequence.clips[motion.sequence.clip[4]], 4)
    press("ALONE")
    assert life.choices().alone == ""


def test_the_interpolations_are_gone_through(dancer: Object) -> None:
    settings, seen = properties.character(dancer), []
    for _ in INTERPOLATIONS:
        press("INTERPOLATION")
        motion = score.motion_of(dancer)
        assert motion is not None and motion.style.interpolation == settings.interpolation
        seen.append(settings.interpolation)
    assert sorted(seen) == sorted(INTERPOLATIONS)


def test_a_click_on_the_strip_goes_there(dancer: Object) -> None:
    go_to(context, dancer, 2.0)
    assert context.scene.frame_current == properties.character(dancer).frame_start + 48
    context.window_manager.takt_clock = "OWN"
    go_to(context, dancer, 3.0)
    assert life.choices().player.position_s(life.now_s(), life.duration_s()) == pytest.approx(3.0)


def test_the_strip_names_what_plays(dancer: Object) -> None:
    motion = score.motion_of(dancer)
    assert motion is not None
    words = ViewportStrip.of(motion).words_at(0.5)
    assert words.startswith("0.50 s   main › ")
    assert motion.sequence.clips[int(motion.sequence.clip[0])] in words


def test_within_a_transition_the_strip_says_why_it_is_so_long(dancer: Object) -> None:
    motion = score.motion_of(dancer)
    assert motion is not None
    seam = int(np.flatnonzero(motion.transitions_s)[0])
    middle = float(motion.layout.window_begin_s[seam] + motion.layout.window_end_s[seam]) / 2.0
    strip = ViewportStrip.of(motion)
    assert f"\nTransition of {motion.transitions_s[seam]:.2f} s: " in strip.words_at(middle)
    assert "\n" not in strip.words_at(float(motion.layout.window_begin_s[seam]) - 1e-3)


def line_of(layout: Layout, box: int) -> int:
    """The line of a box's element in its own file, counted from 0."""
    line = layout.documents[int(layout.boxes.document[box])].text.place(int(layout.boxes.element[box])).line
    assert line is not None
    return line - 1


def test_a_click_on_the_strip_selects_the_line_of_the_call(dancer: Object) -> None:
    motion, text = score.motion_of(dancer), properties.character(dancer).text
    assert motion is not None
    strip = ViewportStrip.of(motion)
    layout, bounds = strip.laid_out.layout, Bounds(100.0, 10.0, strip.laid_out.view(3000.0, 1.0))
    stripes = Stripes.of(layout, bounds.view)
    lines = []
    for segment in range(len(motion.sequence)):
        time_s = float(motion.layout.begin_s[segment] + motion.layout.end_s[segment]) / 2.0
        x = bounds.left + strip.laid_out.x(bounds.view, time_s)
        assert strip.time_s(bounds, x) == pytest.approx(time_s)
        y = bounds.bottom + float(stripes.lane_low[0]) + (SEAM_PX + 3.0) * bounds.view.scale
        boxes = strip.boxes_at(bounds, x, y)
        text.cursor_set(0)
        assert score_lines.show(context, dancer, layout, boxes)
        own = next(box for box in boxes if layout.boxes.document[box] == 0)
        assert (text.select_end_line_index, text.select_end_character) == (line_of(layout, own), 0)  # the cursor
        assert text.select_end_line_index == text.current_line_index
        assert f'{layout.boxes.titles[own]}"' in text.current_line.body
        assert text.current_character == len(text.current_line.body)
        lines.append(text.current_line_index)
    assert len(set(lines)) > 5


def test_lines_of_other_files_are_selected_where_these_are_open(dancer: Object) -> None:
    motion = score.motion_of(dancer)
    assert motion is not None
    layout = ViewportStrip.of(motion).laid_out.layout
    inner = int(np.flatnonzero(layout.boxes.document > 0)[0])
    boxes = (inner, *ancestors(layout.boxes.parent, inner))
    path = layout.documents[int(layout.boxes.document[inner])].path
    assert path is not None
    other = bpy.data.texts.load(str(path))
    assert score_lines.show(context, dancer, layout, boxes)
    assert f'{layout.boxes.titles[inner]}"' in other.current_line.body
    other.write(" ")  # what is there now is not what plays
    own = properties.character(dancer).text
    own.cursor_set(0)
    assert score_lines.show(context, dancer, layout, boxes)
    assert own.current_line_index == line_of(layout, next(box for box in boxes if layout.boxes.document[box] == 0))


def test_a_text_editor_shows_the_line_that_was_clicked(dancer: Object) -> None:
    motion, text = score.motion_of(dancer), properties.character(dancer).text
    assert motion is not None
    layout = ViewportStrip.of(motion).laid_out.layout
    last = int(np.flatnonzero(layout.boxes.depth == 0)[-1])
    area = next(area for window in context.window_manager.windows for area in window.screen.areas)
    before = area.type
    area.type = "TEXT_EDITOR"
    try:
        editor: Any = area.spaces.active
        assert editor.text != text
        assert score_lines.show(context, dancer, layout, (last,))
        assert editor.text == text and editor.top <= line_of(layout, last)
        assert not score_lines.show(context, dancer, layout, ())
        assert text.current_line_index == line_of(layout, last)
    finally:
        area.type = before


def test_copies_stand_in_rows_that_do_not_meet() -> None:
    places = [column_and_row(copy) for copy in range(100)]
    assert places[:4] == [(0, 0), (-1, 1), (0, 1), (1, 1)] and len(set(places)) == 100


def test_every_choice_has_its_roles(dancer: Object) -> None:
    character = life.characters()[0]
    motion = score.motion_of(dancer)
    actor = Actor(character, dancer, [], motion, 10.0)
    choices = Choices(copies=3, phase_s=0.5, ghosts=2, ghost_step_s=0.25, compare="CUTS")
    roles = list(roles_of(actor, choices))
    assert len({role.key for role in roles}) == len(roles) == 1 + 1 + 2 + 4
    assert [role.time_s for role in roles] == [10.0, 10.0, 10.5, 11.0, 9.5, 9.75, 10.25, 10.5]
    assert roles[1].motion is not motion and not roles[1].motion.transitions_s.any()
    at_rest = Choices(ghosts=2)
    at_rest.player.at_rest = True
    assert [role.at_rest for role in roles_of(actor, at_rest)] == [True]


def test_everything_that_can_be_compared_plays_and_is_named(dancer: Object) -> None:
    character, motion = life.characters()[0], score.motion_of(dancer)
    actor = Actor(character, dancer, [], motion, 10.0)
    for name in (name for group in COMPARISONS.values() for name in group):
        context.window_manager.takt_compare = name
        choices = life.choices()
        assert choices.compare == context.window_manager.takt_compare == name
        if name == "NONE":
            continue
        own, double = roles_of(actor, choices)
        assert double.offset[0] > 0.0
        changes = choices.comparison.instead
        assert all(getattr(double.motion.style, key, value) == value for key, value in changes.items())
        assert choices.comparison.method is not None or own_words(own, choices.comparison)
    assert own_words(own, Choices(compare="METHOD_END").comparison) == "Meet Halfway"
    assert own_words(own, Choices(compare="CURVE_COSINE").comparison) == "Linear Curve"
    assert own_words(own, Choices(compare="INTERPOLATION_SQUAD").comparison) == "Spherical Interpolation"


def test_captions_stand_where_the_figures_do() -> None:
    view = CameraView(np.eye(4), np.diag((0.5, 1.0, 1.0, 1.0)), 200, 100, encode=False)
    place = on_screen(np.array((1.0, -0.5, 0.0)), view)
    assert place is not None and place.tolist() == pytest.approx((150.0, 25.0))
    behind = CameraView(np.eye(4), np.diag((1.0, 1.0, 1.0, -1.0)), 200, 100, encode=False)
    assert on_screen(np.zeros(3), behind) is None


def test_ghosts_know_when_a_transition_plays(dancer: Object) -> None:
    motion = score.motion_of(dancer)
    assert motion is not None
    longest = int(np.argmax(motion.transitions_s))
    begin, end = motion.layout.window_begin_s[longest], motion.layout.window_end_s[longest]
    assert is_in_transition(motion, (begin + end) / 2.0)
    assert not is_in_transition(PreviewCharacter, 0.0)  # type: ignore[arg-type]  # whatever is no motion


def test_the_strip_is_not_shown_beside_an_editor_of_the_same_score(dancer: Object,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ViewportStrip, "bounds_in", lambda *_: None)  # without a screen nothing has a size
    life.start([dancer])
    gizmo, find = SimpleNamespace(strip=None), cast(Any, TAKT_GT_strip)._found
    window = context.window_manager.windows[0]
    view = max(window.screen.areas, key=lambda each: each.width * each.height)
    view.type = "VIEW_3D"
    with context.temp_override(window=window, area=view, region=view.regions[-1]):
        assert find(gizmo, context) is not None
    with editing():
        assert find(gizmo, context) is None
        other = bpy.data.objects.new("Other", bpy.data.armatures.new("Other"))
        properties.character(other).text = bpy.data.texts.new("other.pha")
        context.collection.objects.link(other)
        cast(Any, score_tree.tree_of(bpy.context)).character = other
        assert find(gizmo, context) is not None  # the editor shows another score
