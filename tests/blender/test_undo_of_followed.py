"""Undo after the Action was written in the background: nothing points to an Action that undo took away."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.tests.blender.dancing import STEPS, Wait, curves, play

ed: Any = bpy.ops.ed


def pushed(times: int) -> None:
    """Make steps of undo that hold the same; Blender compares a step with the one before."""
    for number in range(times):
        ed.undo_push(message=f"What changes nothing of the character {number}")


def has(name: str = "Rig") -> tuple[Any, Any]:
    """Return Takt's Action of a character and the one that is assigned."""
    rig: Any = bpy.data.objects[name]
    animation = rig.animation_data
    return properties.character(rig).action, None if animation is None else animation.action


def kept_by_undo(rig: bpy.types.Object) -> bool:
    """Undo, and tell whether Blender has kept the object rather than made it anew."""
    rig["seen"] = 1
    ed.undo()
    return bpy.data.objects["Rig"].get("seen") is not None


@pytest.fixture
def typed(rig: bpy.types.Object, library: Path, wait: Wait) -> bpy.types.Object:
    """A character whose score was typed a step ago, and has its first Action since."""
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    properties.character(rig).library = str(library)
    wait(0.2)
    properties.character(rig).text.from_string(STEPS)
    pushed(3)
    wait(2.0)
    assert has()[0] is has()[1] is not None
    return rig


def test_an_action_that_undo_takes_away_is_not_pointed_to(typed: bpy.types.Object, wait: Wait) -> None:
    assert kept_by_undo(typed) and not bpy.data.actions
    assert has() == (None, None)
    wait(2.0)
    assert len(bpy.data.actions) == 1 and has() == (bpy.data.actions[0], bpy.data.actions[0])
    assert len(curves(bpy.data.objects["Rig"]))
    ed.redo()
    assert has() == (None, None) and not bpy.data.actions


def test_an_action_that_a_step_holds_stays(typed: bpy.types.Object, wait: Wait) -> None:
    pushed(3)
    written = bpy.data.actions[0].session_uid
    assert kept_by_undo(typed)
    own, assigned = has()
    assert own == assigned == bpy.data.actions[0] and own.session_uid == written
    assert len(curves(bpy.data.objects["Rig"])) and typed.get("takt_kept_by_undo") is None


def test_an_object_made_anew_is_as_its_step_holds_it(typed: bpy.types.Object, wait: Wait) -> None:
    properties.character(typed).loop = True
    ed.undo_push(message="Loop")
    assert not kept_by_undo(typed)
    assert has() == (None, None) and not bpy.data.actions


def test_the_action_before_comes_back(rig: bpy.types.Object, library: Path, wait: Wait) -> None:
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    kept, first = properties.character(rig), has()[0].session_uid
    rig.animation_data.nla_tracks.new().strips.new("Pushed", 1, has()[0])
    kept.text.from_string(STEPS.replace('repeat="2"', 'repeat="1"'))
    pushed(3)
    wait(2.0)
    assert has()[0].session_uid != first  # what was pushed down stays
    assert kept_by_undo(rig)
    own, assigned = has()
    assert own.session_uid == assigned.session_uid == first and len(bpy.data.actions) == 1
    assert bpy.data.objects["Rig"].animation_data.nla_tracks[0].strips[0].action == own


def test_a_strip_below_an_own_action_lets_go_too(rig: bpy.types.Object, library: Path, wait: Wait) -> None:
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    properties.character(rig).library = str(library)
    mine, animation = bpy.data.actions.new("Mine"), rig.animation_data_create()
    assert animation is not None
    mine.use_fake_user, animation.action = True, mine
    properties.character(rig).text.from_string(STEPS)
    assert bpy.ops.takt.rebuild() == {"FINISHED"}  # type: ignore[attr-defined]
    first = has()[0]
    assert [strip.action for strip in animation.nla_tracks[0].strips] == [first]
    first.use_fake_user, copy = True, bpy.data.objects.new("Copy", None)
    bpy.context.collection.objects.link(copy)
    played = copy.animation_data_create()
    played.action, played.action_slot = first, first.slots[0]  # used elsewhere, it stays
    wait(0.2)
    properties.character(rig).text.from_string(STEPS.replace('repeat="2"', 'repeat="1"'))
    pushed(3)
    wait(2.0)
    assert has()[0].name != first.name and len(bpy.data.actions) == 3
    assert kept_by_undo(rig)
    own, assigned = has()
    assert own.name == "Rig" and assigned.name == "Mine" and len(bpy.data.actions) == 2
    strips = bpy.data.objects["Rig"].animation_data.nla_tracks[0].strips
    assert [strip.action for strip in strips] == [own]
