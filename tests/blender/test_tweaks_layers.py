"""Layers of tweaks in the panel and the editor: which of them are silent, and what they are called."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import properties, versions
from takt.bridge.tweaking import tweak_auto_keying, tweak_moments, tweaks
from takt.bridge.tweaking.tweak_controls import bones_of
from takt.panels import sidebar
from takt.panels.score import TAKT_PT_score
from takt.panels.tweaks import TAKT_UL_tweaks
from takt.tests.blender.dancing import Wait
from takt.tests.blender.test_tweaks import set_key, tweak, tweaked

__all__ = ["tweaked"]  # a fixture of another file
operators: Any = bpy.ops


class Row:
    """What a row of the list draws."""

    def __init__(self) -> None:
        self.icons: list[str] = []
        self.words: list[str] = []
        self.switches: list[Any] = []

    def row(self, **_: Any) -> "Row":
        """Return a part of the row, which draws here too."""
        return self

    def label(self, text: str, icon: str = "", **_: Any) -> None:
        """Note a label."""
        self.words += [text] * bool(text)
        self.icons += [icon] * bool(icon)

    def prop(self, owner: Any, name: str, icon: str = "", **_: Any) -> None:
        """Note a name, or a switch."""
        if name == "name":
            self.words.append(owner.name)
        else:
            self.switches.append(owner)
            self.icons.append(icon)


def drawn(rig: Any, number: int) -> Row:
    row, character = Row(), properties.character(rig)
    draw: Any = TAKT_UL_tweaks.draw_item
    draw(SimpleNamespace(), None, row, character, character.tweaks[number], 0, character, "tweaks_index", 0, 0)
    return row


def layers(rig: Any) -> Any:
    return properties.character(rig).tweaks


@pytest.fixture
def two(tweaked: Any, wait: Wait) -> Any:
    """A dancer with two layers of tweaks; both have a key at frame 20, and each has one of its own."""
    for frame in (20, 30):
        set_key(tweaked, frame)
    wait(0.5)
    tweak(add_layer=True)
    for frame in (20, 40):
        set_key(tweaked, frame)
    wait(0.5)
    return tweaked


def test_a_muted_layer_has_a_closed_eye_and_hollow_keys(two: Any) -> None:
    assert [drawn(two, number).icons for number in range(2)] == [["HIDE_OFF"]] * 2
    assert not np.any(tweak_moments.silent_of(two))
    (track,) = drawn(two, 0).switches
    assert drawn(two, 1).switches == [] and [each.action for each in track.strips] == [layers(two)[0].action]
    track.mute = True
    assert [drawn(two, number).icons for number in range(2)] == [["HIDE_ON"], ["HIDE_OFF"]]
    assert tweak_moments.frames_of(two) == pytest.approx([20, 30, 40])
    np.testing.assert_array_equal(np.array(tweak_moments.silent_of(two)), (False, True, False))


def test_a_layer_that_plays_nowhere_has_a_closed_eye_and_hollow_keys(two: Any) -> None:
    two.animation_data.action = None
    assert [drawn(two, number).icons for number in range(2)] == [["HIDE_OFF"], ["HIDE_ON"]]
    np.testing.assert_array_equal(np.array(tweak_moments.silent_of(two)), (False, False, True))


def test_renaming_a_layer_renames_its_action(two: Any) -> None:
    first, second = layers(two)
    first.name = "arms"
    assert (first.name, first.action.name) == ("arms", "arms") and drawn(two, 0).words == ["arms"]
    second.name = "arms"
    assert second.name == second.action.name == "arms.001" and first.action.name == "arms"
    first.action.name = "mine"  # as in the Outliner
    assert first.name == "arms" and drawn(two, 0).words == ["arms", "mine"]


def test_an_action_that_takt_has_not_made_keeps_its_name(two: Any, wait: Wait) -> None:
    own = bpy.data.actions.new("by hand")
    layers(two)[0].action = own
    wait(0.5)
    layers(two)[0].name = "arms"
    assert own.name == "by hand" and drawn(two, 0).words == ["arms", "by hand"]


@pytest.mark.parametrize(("blending", "is_told"), [("COMBINE", False), ("REPLACE", False), ("ADD", True),
                                                   ("SUBTRACT", True), ("MULTIPLY", True)])
def test_a_layer_that_is_added_in_another_way_is_told(tweaked: Any, wait: Wait, blending: str, is_told: bool) -> None:
    wait(0.5)
    animation = tweaked.animation_data
    animation.action_blend_type = blending
    assert ("set its Blending to Combine" in tweaks.problem(tweaked)) == is_told
    assert operators.takt.tweak(add_layer=True) == {"FINISHED"}  # the first one plays in a strip now
    wait(0.5)
    assert animation.action_blend_type == "COMBINE"
    assert ("'Rig tweaks' has a blend mode" in tweaks.problem(tweaked)) == is_told


def test_auto_keying_that_keys_nothing_is_told(tweaked: Any) -> None:
    context: Any = bpy.context
    edit, settings = context.preferences.edit, context.tool_settings
    before = edit.use_keyframe_insert_available
    window = context.window_manager.windows[0]
    area = next(each for each in window.screen.areas if each.type == "VIEW_3D")
    region = next(each for each in area.regions if each.type == "WINDOW")
    bone, action = tweaked.pose.bones["l_knee"], tweaked.animation_data.action
    with context.temp_override(window=window, area=area, region=region):
        operators.object.mode_set(mode="POSE")
        versions.select_only([bone], tweaked)
        tweaked.data.bones.active = bone.bone
        try:
            for available, auto in ((False, True), (True, False), (True, True)):
                edit.use_keyframe_insert_available, settings.use_keyframe_insert_auto = available, auto
                told = tweak_auto_keying.why_no_key(context, tweaked)
                assert bool(told) == (available and auto)
            assert "'l_knee'" in told and "'Rig tweaks'" in told
            operators.transform.rotate(value=0.5, orient_axis="X")
            assert bones_of(action) == ()  # as it says
            operators.anim.keyframe_insert()
            assert bones_of(action) == ("l_knee",) and tweak_auto_keying.why_no_key(context, tweaked) == ""
        finally:
            edit.use_keyframe_insert_available, settings.use_keyframe_insert_auto = before, False
            operators.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize(("chosen", "keyed", "named"), [
    (("l_knee",), (), "'l_knee'"), (("l_knee", "l_hip"), (), "l_hip, l_knee"),
    (("l_knee", "l_hip"), ("l_hip",), "'l_knee'"), (("l_knee",), ("l_hip",), "'l_knee'"),
    (("l_knee", "l_hip"), ("l_knee", "l_hip"), ""), ((), (), "")])
def test_the_panel_names_selected_bones_without_keys_below_all_buttons(
        tweaked: Any, monkeypatch: pytest.MonkeyPatch, chosen: tuple[str, ...], keyed: tuple[str, ...],
        named: str) -> None:
    """The active bone, l_hip, counts only if it is selected; a key puts its bone among those that Auto Keying keys."""
    context: Any = bpy.context
    edit, settings, bones = context.preferences.edit, context.tool_settings, tweaked.pose.bones
    before = edit.use_keyframe_insert_available
    for name in keyed:
        assert bones[name].keyframe_insert("rotation_quaternion", frame=20)
    operators.object.mode_set(mode="POSE")
    monkeypatch.setattr(sidebar, "letters", lambda _context: 40)  # there is no sidebar to measure
    tweaked.data.bones.active = bones["l_hip"].bone
    versions.select_only([bones[name] for name in chosen], tweaked)
    edit.use_keyframe_insert_available = settings.use_keyframe_insert_auto = True
    try:
        told = tweak_auto_keying.why_no_key(context, tweaked)
        first, last = first_and_last_row_of_the_panel()
    finally:
        edit.use_keyframe_insert_available, settings.use_keyframe_insert_auto = before, False
        operators.object.mode_set(mode="OBJECT")
    assert told.startswith(f"Auto Keying does not key {named}, since") if named else told == ""
    assert first == ("Auto Keying: press I once first" if named else "Auto Keying keys the selected bones")
    assert last == told
    assert not tweak_auto_keying.why_no_key(context, tweaked)


def first_and_last_row_of_the_panel() -> tuple[str, str]:
    """Return the words that the Score panel draws above the score's name, and those below its last button."""
    rows: list[str] = []

    class Layout:
        """Notes labels, and the names of everything else that is drawn."""

        def __getattr__(self, name: str) -> Any:
            if name in ("template_ID", "operator"):
                rows.append(name)
            return lambda *given, **named: self

        def __iter__(self) -> Iterator[Any]:
            return iter((self, None))  # the header of a closed panel

        def label(self, text: str = "", **_: Any) -> None:
            rows.append(text)

    TAKT_PT_score.draw(cast(Any, SimpleNamespace(layout=Layout())), bpy.context)
    last = len(rows) - rows[::-1].index("operator")
    return " ".join(rows[:rows.index("template_ID")]), " ".join(rows[last:])
