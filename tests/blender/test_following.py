"""Keep Action Up to Date: the Action follows what is typed and set, and nothing else of the user's is touched."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import action, curves_digest
from takt.bridge.actions.action_users import is_pushed_down
from takt.bridge.meshes import skin_points
from takt.bridge.scores import following, score
from takt.core.retargeting.skin_points import SkinPoints
from takt.panels import sidebar
from takt.panels.score import TAKT_PT_score
from takt.panels.sidebar import action_problem
from takt.tests.blender.dancing import STEPS, Wait, curves, play, rebuild
from takt.tests.rigged import linked

SHORTER = STEPS.replace('repeat="2"', 'repeat="1"')


@pytest.fixture
def dancer(rig: bpy.types.Object, library: Path, wait: Wait) -> bpy.types.Object:
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    return rig


def skinned(rig: bpy.types.Object) -> Any:
    """Return a new mesh, a triangle that the first bone moves."""
    mesh: Any = bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin"))
    mesh.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mesh.vertex_groups.new(name=cast(Any, rig.data).bones[0].name).add([0, 1, 2], 1.0, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.collection.objects.link(mesh)
    return mesh


def last_frame(rig: bpy.types.Object) -> float:
    return float(max(curve.keyframe_points[-1].co.x for curve in curves(rig)))


def test_others_are_followed_where_the_active_one_takes_all_the_time(dancer: bpy.types.Object, wait: Wait,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    active: Any = dancer.copy()
    bpy.context.collection.objects.link(active)
    bpy.context.view_layer.objects.active = active
    properties.character(active).action = active.animation_data.action = None
    monkeypatch.setattr(following, "_LOOK_S", -1.0)
    wait(0.2)
    before = last_frame(dancer)
    properties.character(dancer).procedure = "pair"
    wait(1.5)
    assert last_frame(dancer) < before


def test_the_action_follows_what_is_typed_and_set(dancer: bpy.types.Object, wait: Wait) -> None:
    kept, scene = properties.character(dancer), bpy.context.scene
    action, before = kept.action, last_frame(dancer)
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="9.7"'))
    wait(0.3)
    assert last_frame(dancer) == before and following.is_older(dancer)  # it may go on
    wait(1.0)
    assert not following.is_older(dancer) and kept.action == action == dancer.animation_data.action
    assert last_frame(dancer) == pytest.approx(before + 9 * 24) and scene.frame_end >= before + 9 * 24
    assert kept.procedures["main"].seconds == pytest.approx(14.7)
    markers = {marker.frame for marker in scene.timeline_markers}
    kept.procedure = "pair"
    wait(1.0)
    assert last_frame(dancer) == pytest.approx(1 + 2.5 * 24)
    assert {marker.frame for marker in scene.timeline_markers} != markers


def test_a_range_that_was_extended_for_a_score_follows_it_when_it_gets_shorter(dancer: bpy.types.Object,
                                                                              wait: Wait) -> None:
    kept, scene = properties.character(dancer), bpy.context.scene
    first = scene.frame_end
    for seconds in (39.7, 24.7, 0.7):
        kept.text.from_string(STEPS.replace('duration="0.7"', f'duration="{seconds}"'))
        wait(1.0)
        assert scene.frame_end == max(first, int(np.ceil(last_frame(dancer))))
    assert scene.frame_end == first


def test_a_range_that_the_user_has_set_stays(dancer: bpy.types.Object, wait: Wait) -> None:
    kept, scene = properties.character(dancer), bpy.context.scene
    scene.frame_start, scene.frame_end = 20, 40
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="19.7"'))
    wait(1.0)
    assert last_frame(dancer) > 400 and (scene.frame_start, scene.frame_end) == (20, 40)


def test_lists_are_those_of_the_score_again_when_what_was_played_comes_back(
        dancer: bpy.types.Object, wait: Wait) -> None:
    kept = properties.character(dancer)
    before = kept.procedures["main"].seconds
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="10000"'))
    wait(1.0)
    assert kept.procedures["main"].seconds > 5e3
    kept.text.from_string(STEPS)
    wait(1.0)
    assert kept.procedures["main"].seconds == before and not following.problem(dancer)


def test_a_score_that_only_waits_lists_its_own_procedures(dancer: bpy.types.Object, wait: Wait) -> None:
    kept = properties.character(dancer)
    kept.text.from_string('<pha version="2" tickLength="1"><procedure name="main"><wait duration="3"/></procedure>'
                          '<procedure name="pause"><wait duration="1"/></procedure></pha>')
    wait(1.0)
    assert {each.name: each.ticks for each in kept.procedures} == {"main": 3.0, "pause": 1.0}


def test_it_is_what_rebuild_makes(dancer: bpy.types.Object, wait: Wait) -> None:
    def keys() -> Any:
        return {(c.data_path, c.array_index): [tuple(p.co) for p in c.keyframe_points] for c in curves(dancer)}

    for name, value in (("curve", "COSINE"), ("root_motion", "IN_PLACE"), ("key_mode", "KEYS"), ("frame_start", 40)):
        before = keys()
        setattr(properties.character(dancer), name, value)
        wait(1.0)
        followed = keys()
        rebuild()
        assert followed != before and keys() == followed, name


def test_typing_on_waits_until_it_pauses(dancer: bpy.types.Object, wait: Wait) -> None:
    before, kept = last_frame(dancer), properties.character(dancer)
    for number in range(1, 9):
        kept.text.from_string(STEPS.replace('duration="0.7"', f'duration="{number}"'))
        wait(0.2)
        assert last_frame(dancer) == before
    wait(1.0)
    assert last_frame(dancer) == pytest.approx(1 + 13 * 24)


def test_half_a_word_leaves_the_action_and_tells_the_error(dancer: bpy.types.Object, wait: Wait) -> None:
    before, kept = last_frame(dancer), properties.character(dancer)
    kept.text.from_string(STEPS.replace('name="right" duration="0.7"', 'name="rig" duration="2"'))
    wait(1.0)
    assert last_frame(dancer) == before and following.is_older(dancer)
    assert "'rig'" in str(score.error_of(dancer))
    kept.text.from_string(STEPS)
    wait(1.0)
    assert score.error_of(dancer) is None and not following.is_older(dancer)


def test_switched_off_it_is_only_told(dancer: bpy.types.Object, wait: Wait) -> None:
    before, kept = last_frame(dancer), properties.character(dancer)
    kept.keep_action = False
    kept.text.from_string(SHORTER)
    wait(2.0)
    assert last_frame(dancer) == before and following.is_older(dancer)
    assert kept.procedures["main"].seconds == pytest.approx(3.2)  # the list is never older than the text
    kept.keep_action = True
    wait(1.0)
    assert last_frame(dancer) < before and not following.is_older(dancer)


def test_lists_are_drawn_anew_without_the_mouse_where_the_action_does_not_follow(
        dancer: bpy.types.Object, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = properties.character(dancer)
    kept.keep_action = False
    wait(1.0)
    drawn: list[float] = []
    monkeypatch.setattr(following, "_redraw", lambda: drawn.append(kept.procedures["main"].seconds))
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="9.7"'))
    wait(1.0)
    assert drawn[-1] == kept.procedures["main"].seconds == pytest.approx(14.7)
    count = len(drawn)
    wait(1.0)
    assert len(drawn) == count  # nothing is drawn again while nothing happens


def test_an_action_of_the_users_own_is_never_replaced(dancer: bpy.types.Object, wait: Wait) -> None:
    own, kept = bpy.data.actions.new("mine"), properties.character(dancer)
    dancer.animation_data.action = own
    kept.text.from_string(SHORTER)
    wait(2.0)
    assert dancer.animation_data.action == own and not own.layers and following.is_older(dancer)
    dancer.animation_data.action = kept.action
    wait(1.0)
    assert not following.is_older(dancer) and dancer.animation_data.action == kept.action


@pytest.mark.parametrize("is_tweaked", [False, True])
def test_an_action_that_was_pushed_down_into_the_nla_stays(dancer: Any, wait: Wait, is_tweaked: bool) -> None:
    kept, animation = properties.character(dancer), dancer.animation_data
    take, end = kept.action, last_frame(dancer)
    assert take is not None
    assert not is_pushed_down(take, dancer)
    track = animation.nla_tracks.new()
    strip = track.strips.new("take", 1, take)
    animation.action = None
    assert is_pushed_down(take, dancer)
    if is_tweaked:
        track.select = strip.select = True
        animation.nla_tracks.active = track
        animation.use_tweak_mode = True
        assert animation.action == take
    kept.text.from_string(SHORTER)
    wait(2.0)
    assert following.is_older(dancer) and is_pushed_down(take, dancer) and take.frame_range[1] == end
    assert animation.use_tweak_mode == is_tweaked and len(bpy.data.actions) == 1
    track.mute = True
    assert not is_pushed_down(take, dancer)
    track.mute = False
    rebuild()
    assert not is_pushed_down(take, dancer) and kept.action == animation.action not in (None, take)
    assert strip.action == take and take.frame_range[1] == end > last_frame(dancer)
    kept.text.from_string(STEPS)
    wait(2.0)
    assert last_frame(dancer) == end and len(bpy.data.actions) == 2


def test_a_file_that_is_opened_is_not_changed_until_something_is(dancer: bpy.types.Object, wait: Wait) -> None:
    kept, before = properties.character(dancer), last_frame(dancer)
    following._followed.clear()  # as after loading
    kept.text.from_string(SHORTER)
    wait(2.0)
    assert last_frame(dancer) == before and following.is_older(dancer)
    kept.curve = "COSINE"
    wait(1.0)
    assert last_frame(dancer) < before


def test_a_score_that_is_begun_gets_an_action_as_soon_as_it_plays(rig: bpy.types.Object, library: Path,
                                                                  wait: Wait) -> None:
    wait(0.2)
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    kept = properties.character(rig)
    wait(1.0)
    assert kept.action is None and "nothing to play" in str(score.error_of(rig))
    kept.library = str(library)
    kept.text.from_string(STEPS)
    wait(1.0)
    assert kept.action is not None and rig.animation_data.action == kept.action
    assert last_frame(rig) == pytest.approx(138)


def test_a_score_that_is_begun_takes_over_from_an_action_which_stays_in_the_file(rig: bpy.types.Object, library: Path,
                                                                                 wait: Wait) -> None:
    """Characters from elsewhere come with Actions of their own."""
    walk = bpy.data.actions.new("Walk")
    rig.animation_data_create().action = walk
    wait(0.2)
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    kept = properties.character(rig)
    assert rig.animation_data.action is None and walk.use_fake_user
    kept.library = str(library)
    kept.text.from_string(STEPS)
    wait(1.0)
    first = kept.action
    assert first is not None and rig.animation_data.action == first != walk
    bpy.ops.takt.new_score()
    kept.text.from_string(SHORTER)
    wait(1.0)
    assert rig.animation_data.action == kept.action not in (None, first) and first.use_fake_user


def test_a_score_that_is_begun_on_an_override_takes_over_too(rig: bpy.types.Object, library: Path,
                                                              wait: Wait) -> None:
    rig.animation_data_create().action = bpy.data.actions.new("Walk")
    there = linked(rig, library)
    override = there.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = override
    walk = override.animation_data.action
    assert walk.library is not None
    wait(0.2)
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    assert override.animation_data.action is None
    properties.character(override).library = str(library)
    properties.character(override).text.from_string(STEPS)
    wait(1.0)
    assert override.animation_data.action == properties.character(override).action not in (None, walk)


def test_all_who_are_selected_play_the_score_of_the_active_one(dancer: bpy.types.Object, wait: Wait) -> None:
    with pytest.raises(RuntimeError, match="Select other characters"):
        bpy.ops.takt.same_score()  # type: ignore[attr-defined]
    others: list[Any] = [dancer.copy(), dancer.copy()]
    kept = properties.character(dancer)
    kept.curve = "COSINE"
    wait(1.0)
    for other in others:
        bpy.context.collection.objects.link(other)
        other.select_set(True)
        properties.character(other).text = properties.character(other).action = None
        other.animation_data.action = bpy.data.actions.new("Walk")
    wait(0.2)
    assert bpy.ops.takt.same_score() == {"FINISHED"}  # type: ignore[attr-defined]
    assert [last_frame(each) for each in others] == [last_frame(dancer)] * 2  # at once, where no timer would do it
    kept.text.from_string(SHORTER)
    wait(4.0)
    made = {properties.character(each).action for each in (dancer, *others)}
    assert len(made) == 3 and None not in made
    assert {last_frame(each) for each in (dancer, *others)} == {last_frame(dancer)}
    assert [properties.character(each).curve for each in others] == ["COSINE"] * 2
    markers = [(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers]
    assert markers and len(set(markers)) == len(markers)
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    assert [(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers] == markers


@pytest.mark.parametrize("plays", [None, "Walk"])
def test_a_copy_that_lost_its_action_is_given_one(dancer: bpy.types.Object, wait: Wait, plays: str | None) -> None:
    kept, copy = properties.character(dancer), cast(Any, dancer.copy())
    bpy.context.collection.objects.link(copy)
    copy.select_set(True)
    with pytest.raises(RuntimeError, match="Select other characters"):  # it shares the Action, and so plays the score
        bpy.ops.takt.same_score()  # type: ignore[attr-defined]
    copy.animation_data.action = None if plays is None else bpy.data.actions.new(plays)
    if plays is None:
        copy.animation_data_clear()
    wait(1.0)
    assert properties.character(copy).action == kept.action and not kept.action.use_fake_user
    assert bpy.ops.takt.same_score() == {"FINISHED"}  # type: ignore[attr-defined]
    wait(4.0)
    assert copy.animation_data.action == properties.character(copy).action not in (None, kept.action)
    assert last_frame(copy) == last_frame(dancer) and not kept.action.use_fake_user
    assert dancer.animation_data.action == kept.action
    with pytest.raises(RuntimeError, match="Select other characters"):
        bpy.ops.takt.same_score()  # type: ignore[attr-defined]


def test_what_undo_brings_back_alone_is_written_anew(dancer: bpy.types.Object, wait: Wait) -> None:
    """Undo may leave the newer Action with the older score: the digest is the Action's own."""
    kept, before = properties.character(dancer), last_frame(dancer)
    kept.text.from_string(SHORTER)
    wait(1.0)
    newer = getattr(kept.action, properties.MADE_FROM)
    kept.text.from_string(STEPS)
    following.look(100.0)
    assert getattr(kept.action, properties.MADE_FROM) == newer and following.is_older(dancer)
    wait(1.0)
    wait(101.0)
    assert last_frame(dancer) == before and not following.is_older(dancer)


def test_one_that_is_too_long_is_told_and_costs_only_itself(dancer: bpy.types.Object, wait: Wait) -> None:
    kept, before = properties.character(dancer), last_frame(dancer)
    end = bpy.context.scene.frame_end
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="1300"'))
    wait(1.0)
    assert "31,320 frames long" in following.problem(dancer) and "Rebuild" in following.problem(dancer)
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="100000"'))
    wait(1.0)
    assert "100,005 s, expected at most 14,400 s: make it shorter" in str(score.error_of(dancer))
    assert last_frame(dancer) == before and bpy.context.scene.frame_end == end
    kept.text.from_string(STEPS.replace('duration="0.7"', 'duration="9.7"'))
    wait(1.0)
    assert last_frame(dancer) == pytest.approx(before + 9 * 24) and not following.problem(dancer)


def test_rebuild_tells_what_is_too_long_in_a_sentence(dancer: bpy.types.Object) -> None:
    properties.character(dancer).text.from_string(STEPS.replace('duration="0.7"', 'duration="1000000000"'))
    with pytest.raises(RuntimeError, match="make it shorter"):
        rebuild()


@pytest.mark.parametrize("name", ["x_tail", "Zipfel"])
def test_a_new_name_of_a_bone_is_no_edit_of_keys(dancer: bpy.types.Object, name: str) -> None:
    own, bone = properties.character(dancer).action, dancer.pose.bones["l_knee"]
    bone.name = f"{name}.001"
    assert not action.is_edited_by_hand(dancer)
    paths = {curve.data_path for curve in curves(dancer)}
    assert any(name in path for path in paths) and not any("l_knee" in path for path in paths)
    curve = next(curve for curve in curves(dancer) if name in curve.data_path)
    value = curve.keyframe_points[0].co.y
    curve.keyframe_points[0].co.y += 0.25
    assert action.is_edited_by_hand(dancer)
    curve.keyframe_points[0].co.y = value
    assert not action.is_edited_by_hand(dancer)
    rebuild()
    assert properties.character(dancer).action == own
    moved = {path.split('"')[1] for path in {curve.data_path for curve in curves(dancer)}}
    assert "l_knee" not in moved and moved <= {each.name for each in dancer.pose.bones}
    assert not action.is_edited_by_hand(dancer)


def test_keys_edited_by_hand_are_never_written_over(dancer: bpy.types.Object, wait: Wait) -> None:
    kept = properties.character(dancer)
    key = curves(dancer)[3].keyframe_points[5]
    key.co.y += 0.25
    by_hand = key.co.y
    kept.text.from_string(SHORTER)
    wait(2.0)
    assert curves(dancer)[3].keyframe_points[5].co.y == by_hand and following.is_older(dancer)
    assert "by hand" in following.problem(dancer)
    rebuild()
    wait(1.0)
    assert not following.problem(dancer) and not following.is_older(dancer)
    kept.text.from_string(STEPS)
    wait(1.0)
    assert not following.is_older(dancer) and not following.problem(dancer)


def test_the_panels_say_at_once_that_an_action_was_edited(dancer: bpy.types.Object, wait: Wait) -> None:
    own = properties.character(dancer).action
    assert own is not None
    wait(1.0)
    assert not following.is_edited(dancer) and not action_problem(dancer)
    key = curves(dancer)[3].keyframe_points[5]

    def moved_by(value: float, evaluate: Callable[[], object] = bpy.context.view_layer.update) -> None:
        key.co.y += value
        own.update_tag()
        evaluate()
        wait(1.0)

    moved_by(0.25)
    assert following.is_edited(dancer) and "by hand" in action_problem(dancer)
    assert not following.problem(dancer) and not following.is_older(dancer)
    properties.character(dancer).keep_action = False
    assert not action_problem(dancer)
    properties.character(dancer).keep_action = True
    moved_by(-0.25)
    assert not action_problem(dancer)
    moved_by(0.25, lambda: bpy.context.scene.frame_set(20))
    assert "by hand" in action_problem(dancer)
    rebuild()
    assert properties.character(dancer).action != own and not action_problem(dancer)


def test_the_notice_of_an_edited_action_moves_no_button(dancer: bpy.types.Object, wait: Wait,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidebar, "letters", lambda context: 40)  # there is no sidebar to measure
    wait(1.0)
    before = rows_of_the_score_panel()
    assert "takt.tweak" in before and "takt.keep_mine" not in before
    curves(dancer)[3].keyframe_points[5].co.y += 0.25
    cast(Any, properties.character(dancer).action).update_tag()
    bpy.context.view_layer.update()
    wait(1.0)
    edited = rows_of_the_score_panel()
    assert edited[:len(before)] == before
    assert [row for row in edited[len(before):] if row.startswith("takt.")] == [
        "takt.keep_mine", "takt.extract_tweaks", "takt.rebuild"]


def rows_of_the_score_panel() -> list[str]:
    """Return what the Score panel draws: labels with words, settings and buttons, in this order."""
    rows: list[str] = []

    class Layout:
        """Notes what is drawn, except labels without words, which only fill a row."""

        def __getattr__(self, _name: str) -> Any:
            return lambda *given, **named: self

        def __iter__(self) -> Iterator[Any]:
            return iter((self, None))  # the header of a closed panel

        def operator(self, name: str, **_: Any) -> Any:
            rows.append(name)
            return self

        def prop(self, _data: Any, name: str, **_: Any) -> None:
            rows.append(name)

        def label(self, text: str = "", **_: Any) -> None:
            rows.extend([text] if text else [])

    TAKT_PT_score.draw(cast(Any, SimpleNamespace(layout=Layout())), bpy.context)
    return rows


def test_a_key_inserted_removed_or_eased_counts_as_an_edit(dancer: bpy.types.Object, wait: Wait) -> None:
    def insert(curve: bpy.types.FCurve) -> None:
        curve.keyframe_points.insert(3.5, 0.0)

    def remove(curve: bpy.types.FCurve) -> None:
        curve.keyframe_points.remove(curve.keyframe_points[2])

    def ease(curve: bpy.types.FCurve) -> None:
        curve.keyframe_points[2].interpolation = "BEZIER"

    def modify(curve: bpy.types.FCurve) -> None:
        curve.modifiers.new("NOISE")

    def repeat(curve: bpy.types.FCurve) -> None:
        curve.modifiers.new("CYCLES")

    def mute(curve: bpy.types.FCurve) -> None:
        curve.mute = True

    def extrapolate(curve: bpy.types.FCurve) -> None:
        curve.extrapolation = "LINEAR"

    for edit in (insert, remove, ease, modify, repeat, mute, extrapolate):
        assert not action.is_edited_by_hand(dancer)
        edit(curves(dancer)[0])
        assert action.is_edited_by_hand(dancer)
        rebuild()


def colour(curve: Any) -> None:
    curve.color_mode, curve.color = "CUSTOM", (1.0, 0.0, 0.0)


CURVE_EDITS: dict[str, Callable[[Any], None]] = {
    "modifier": lambda curve: curve.modifiers.new("NOISE"),
    "envelope": lambda curve: curve.modifiers.new("ENVELOPE").control_points.add(3.0),
    "mute": lambda curve: setattr(curve, "mute", True),
    "lock": lambda curve: setattr(curve, "lock", True),
    "extrapolation": lambda curve: setattr(curve, "extrapolation", "LINEAR"),
    "colour": colour}


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("name", CURVE_EDITS)
def test_what_is_set_of_a_curve_counts_as_an_edit(dancer: bpy.types.Object, wait: Wait, name: str, loops: bool) -> None:
    kept = properties.character(dancer)
    if loops:
        kept.loop, kept.root_motion = True, "IN_PLACE"
        rebuild()
        assert len(curves(dancer)[0].modifiers) == 1
    own = kept.action
    assert own is not None and not action.is_edited_by_hand(dancer)
    curve = curves(dancer)[0]
    curve.hide, curve.select = True, False
    assert not action.is_edited_by_hand(dancer), "how it is looked at is no edit"
    CURVE_EDITS[name](curve)
    count = len(curve.modifiers)
    assert action.is_edited_by_hand(dancer)
    kept.text.from_string(SHORTER)
    wait(2.0)
    assert following.is_older(dancer) and "by hand" in following.problem(dancer)
    rebuild()
    bag: Any = own.layers[0].strips[0]
    assert kept.action != own and len(bag.channelbags[0].fcurves[0].modifiers) == count


def test_a_modifier_that_is_changed_counts_as_an_edit(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.loop, kept.root_motion = True, "IN_PLACE"
    rebuild()
    cycles = curves(dancer)[0].modifiers[0]
    for name, value in (("cycles_after", 2), ("mute", True), ("mode_before", "MIRROR"), ("influence", 0.5)):
        before = getattr(cycles, name)
        setattr(cycles, name, value)
        if name == "influence":
            cycles.use_influence = True
        assert action.is_edited_by_hand(dancer), name
        setattr(cycles, name, before)
        cycles.use_influence = False
        assert not action.is_edited_by_hand(dancer), name
    cycles.show_expanded = not cycles.show_expanded
    assert not action.is_edited_by_hand(dancer)


def test_a_file_that_counts_keys_alone_is_not_taken_for_edited(dancer: bpy.types.Object) -> None:
    own = properties.character(dancer).action
    assert own is not None
    bag: Any = own.layers[0].strips[0]
    setattr(own, properties.KEYS_WRITTEN, curves_digest.digest_of_curves(bag.channelbags[0], None, like="0"))
    curves(dancer)[0].mute = True
    assert not action.is_edited_by_hand(dancer)
    curves(dancer)[0].keyframe_points[2].co.y += 0.25
    assert action.is_edited_by_hand(dancer)


def test_curves_added_beside_do_not_count_as_edits(dancer: bpy.types.Object, wait: Wait) -> None:
    dancer["smile"] = 0.5
    dancer.keyframe_insert('["smile"]', frame=4)
    properties.character(dancer).text.from_string(SHORTER)
    wait(1.0)
    assert not following.is_older(dancer) and not following.problem(dancer)


def test_a_value_of_the_score_that_is_keyed_is_followed(dancer: bpy.types.Object, wait: Wait) -> None:
    kept = properties.character(dancer)
    kept.text.from_string(STEPS.replace("<pha ", '<pha version="2" ').replace(
        '<procedure name="main">', '<procedure name="main"><param name="last" default="0.7"/>').replace(
        'duration="0.7"', 'duration="last"'))
    wait(1.0)
    before, value = last_frame(dancer), kept.parameters["last"]
    for frame, number in ((1, 0.7), (30, 4.7)):
        value.number = number
        value.keyframe_insert("number", frame=frame)
    wait(2.0)
    assert not following.is_older(dancer) and not following.problem(dancer)
    assert last_frame(dancer) == pytest.approx(before + 4 * 24)
    assert [len(curve.keyframe_points) for curve in curves(dancer) if curve.data_path.startswith("takt")] == [2]


@pytest.fixture
def caller(rig: bpy.types.Object, wait: Wait) -> bpy.types.Object:
    """A rig whose score plays an Action of the file twice, by two of its names."""
    bone: Any = rig.pose.bones["l_knee"]
    bone.rotation_mode = "QUATERNION"
    for frame, angle in ((1, 0.0), (13, 0.5), (25, 0.0)):
        bone.rotation_quaternion = (1.0, angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action.name = "Wave"
    rig.animation_data_clear()
    kept = properties.character(rig)
    kept.text = bpy.data.texts.new("wave.pha")
    kept.text.from_string(CALLS)
    kept.keep_action = False
    assert score.motion_of(rig) is not None and not bpy.data.actions["Wave"].users
    return rig


CALLS = """<pha tickLength="1"><load src="Wave"/><procedure name="main"><call name="Wave" duration="2"/>
<call name="Wave.Wave" duration="1"/></procedure></pha>"""


@pytest.mark.parametrize("new", ["Hello", "a.b", "walk/fwd", "main", "tür"])
def test_a_score_calls_an_action_as_it_is_renamed(caller: bpy.types.Object, wait: Wait, new: str) -> None:
    text, action = properties.character(caller).text, bpy.data.actions["Wave"]
    before = score.motion_of(caller)
    wait(0.3)
    action.name = new
    wait(0.3)
    assert "Wave" not in text.as_string() and text.as_string().count(new) >= 3
    after = score.motion_of(caller)
    assert before is not None and after is not None and score.error_of(caller) is None
    times = np.linspace(0.0, 3.0, 20)
    np.testing.assert_allclose(after.sample(times).rotations, before.sample(times).rotations, atol=1e-12)
    bpy.data.actions.remove(action)
    said = text.as_string()
    wait(0.3)
    assert text.as_string() == said


@pytest.mark.parametrize("is_looked_after", [False, True])
def test_an_action_that_a_score_calls_is_saved_with_the_file(caller: bpy.types.Object, wait: Wait, tmp_path: Path,
                                                             is_looked_after: bool) -> None:
    if is_looked_after:
        wait(0.3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "one.blend"))
    rig = bpy.data.objects["Rig"]
    assert bpy.data.actions["Wave"].users == 1 and score.motion_of(rig) is not None
    properties.character(rig).text.from_string(CALLS.replace("Wave", "gone"))
    wait(0.3)
    assert bpy.data.actions["Wave"].users == 1  # perhaps a word is half typed
    bpy.data.actions["Wave"].copy().name = "Nod"
    properties.character(rig).text.from_string(CALLS.replace("Wave", "Nod"))
    wait(0.3)
    assert not bpy.data.actions["Wave"].users and bpy.data.actions["Nod"].users == 1


def test_a_character_that_is_appended_brings_the_actions_that_its_score_calls(caller: bpy.types.Object, wait: Wait,
                                                                              tmp_path: Path) -> None:
    before = score.motion_of(caller)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.data.actions.new("Wave").use_fake_user = True  # another one
    libraries: Any = bpy.data.libraries
    with libraries.load(str(tmp_path / "one.blend")) as (_, wanted):
        wanted.objects = ["Rig"]
    rig = bpy.data.objects["Rig"]
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(rig)
    wait(0.3)
    assert "Wave.001" in properties.character(rig).text.as_string()
    after, times = score.motion_of(rig), np.linspace(0.0, 3.0, 20)
    assert before is not None and after is not None
    np.testing.assert_allclose(after.sample(times).rotations, before.sample(times).rotations, atol=1e-12)


def test_undo_takes_a_new_name_back_in_the_score_too(caller: bpy.types.Object, wait: Wait) -> None:
    def now() -> tuple[str, str]:
        wait(0.3)
        return bpy.data.actions[0].name, properties.character(bpy.data.objects["Rig"]).text.as_string()

    ed: Any = bpy.ops.ed
    assert len(bpy.data.actions) == 1
    wait(0.3)
    ed.undo_push(message="Before")
    bpy.data.actions["Wave"].name = "Hello"
    ed.undo_push(message="Rename")
    renamed = ("Hello", CALLS.replace("Wave", "Hello"))
    assert now() == renamed
    ed.undo()
    assert now() == ("Wave", CALLS)
    ed.redo()
    assert now() == renamed


def test_of_many_characters_nothing_is_read_again_while_nothing_changes(
        dancer: bpy.types.Object, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty: with places for fewer, each look throws out what the next one asks for."""
    mesh = skinned(dancer)
    twins = [dancer]
    for _ in range(19):
        twin, skin = cast(Any, dancer.copy()), cast(Any, mesh.copy())
        skin.data = mesh.data.copy()
        bpy.context.collection.objects.link(twin)
        bpy.context.collection.objects.link(skin)
        next(modifier for modifier in skin.modifiers if modifier.type == "ARMATURE").object = twin
        twins.append(twin)
    bpy.context.view_layer.update()
    read: list[bpy.types.Object] = []
    once = skin_points._read

    def counted(who: bpy.types.Object, meshes: list[bpy.types.Object]) -> SkinPoints | None:
        read.append(who)
        return once(who, meshes)

    monkeypatch.setattr(skin_points, "_read", counted)
    monkeypatch.setattr(following, "_LOOK_S", math.inf)  # each look gets round, however busy the machine is
    wait(1.0)
    assert set(read) <= {dancer}  # a mesh that no score has asked for is not read by a timer
    for twin in twins:
        assert skin_points.read_points(twin) is not None
    read.clear()
    wait(2.0)
    assert not read
    dancer.data.bones[0].use_deform = not dancer.data.bones[0].use_deform  # all twenty share these bones
    wait(2.0)
    assert len(read) == 20
    read.clear()
    mesh.data.vertices[0].co.z = 3.0
    mesh.data.update()
    bpy.context.view_layer.update()
    wait(2.0)
    assert read == [dancer]


def test_a_mesh_that_is_being_painted_is_read_when_that_is_done(dancer: bpy.types.Object) -> None:
    mesh = skinned(dancer)
    bpy.context.view_layer.update()
    before = skin_points.checksum(dancer)
    bpy.context.view_layer.objects.active = mesh
    for mode in ("WEIGHT_PAINT", "SCULPT", "EDIT"):
        bpy.ops.object.mode_set(mode=mode)
        if mode != "EDIT":
            mesh.data.vertices[0].co.z += 1.0
            mesh.data.update()
        bpy.context.view_layer.update()
        assert skin_points.checksum(dancer) == skin_points.known_checksum(dancer) == before != 0, mode
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert skin_points.checksum(dancer) != before


def test_a_removed_mesh_is_no_skin_any_longer(dancer: bpy.types.Object) -> None:
    mesh = skinned(dancer)
    bpy.context.view_layer.update()
    assert skin_points.read_points(dancer) is not None
    bpy.data.objects.remove(mesh)
    bpy.data.objects.new("Another", None)  # as many as before, and nothing has been evaluated
    assert skin_points.read_points(dancer) is None


def test_what_is_wrong_with_one_character_costs_no_other(
        dancer: bpy.types.Object, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = cast(Any, dancer.copy())
    bpy.context.collection.objects.link(twin)
    looked_at, once = list[str](), following._look_at

    def look_at(who: bpy.types.Object, scene: bpy.types.Scene, now_s: float) -> None:
        looked_at.append(who.name)
        if who == twin:
            raise IndexError("too many indices")
        once(who, scene, now_s)

    monkeypatch.setattr(following, "_look_at", look_at)
    properties.character(dancer).text.from_string(STEPS.replace('duration="0.7"', 'duration="9.7"'))
    before = last_frame(dancer)
    wait(2.0)
    assert twin.name in looked_at and last_frame(dancer) > before


def test_a_character_without_bones_says_so(dancer: bpy.types.Object, wait: Wait) -> None:
    """Even with a map and a reference pose, as a linked one whose file is missing."""
    assert bpy.ops.takt.find_map() == {"FINISHED"}  # type: ignore[attr-defined]
    character = properties.character(dancer)
    character.is_map_checked = character.has_reference_pose = True
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in list(dancer.data.edit_bones):
        dancer.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    wait(1.0)
    with pytest.raises(RuntimeError, match="'Rig' has no bones"):
        bpy.ops.takt.rebuild()  # type: ignore[attr-defined]
    assert score.motion_of(dancer) is None or len(score.motion_of(dancer).skeleton) == 0
