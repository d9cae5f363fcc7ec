"""Layers of tweaks keep playing where the score is opened again, beside other Actions, and while it is sampled."""

from pathlib import Path
from typing import Any, ClassVar

import bpy
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.actions import long_actions, write_motion
from takt.bridge.background import BackgroundWork
from takt.bridge.scores import background_writing, following, score
from takt.bridge.tweaking import tweaks
from takt.tests.blender.dancing import STEPS, Wait, play, rebuild, text_of
from takt.tests.blender.test_tweaks import (
    LIFT,
    curves_of,
    is_lifted,
    own_frames,
    set_key,
    tweak,
    tweaked,
    tweaks_of,
)

__all__ = ["tweaked"]  # a fixture of another file
operators: Any = bpy.ops
HALF = STEPS.replace('tickLength="1.0"', 'tickLength="0.5"')


def strips(rig: Any) -> list[Any]:
    return [strip.action for track in rig.animation_data.nla_tracks for strip in track.strips]


@pytest.mark.parametrize("name", ["dance.pha", "other.pha"])
def test_tweaks_stay_above_a_score_that_is_opened(tweaked: Any, wait: Wait, library: Path, name: str) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    layer, before = tweaked.animation_data.action, properties.character(tweaked).action
    (library / name).write_text(STEPS, encoding="utf-8")
    play(library / name)
    wait(0.5)
    own = properties.character(tweaked).action
    assert tweaked.animation_data.action == layer and strips(tweaked) == [own]
    assert (own == before) == (name == "dance.pha") and before.users > 0
    assert own_frames(layer) == [30.0] and is_lifted(tweaked, 30)
    text_of(tweaked).from_string(HALF)
    wait(2.0)
    assert own_frames(layer) == [pytest.approx(1 + 29 / 2, abs=0.01)]


def test_another_action_that_is_assigned_gives_way_to_a_score_that_is_opened(tweaked: Any, library: Path) -> None:
    other = bpy.data.actions.new("mine")
    tweaked.animation_data.action = other
    play(library / "dance.pha")
    assert tweaked.animation_data.action == properties.character(tweaked).action and other.use_fake_user


def test_tweak_lays_a_layer_above_the_action_that_the_score_plays(tweaked: Any, wait: Wait, library: Path) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    layer, animation = tweaked.animation_data.action, tweaked.animation_data
    operators.takt.new_score()
    text_of(tweaked).from_string(STEPS)
    properties.character(tweaked).library = str(library)
    wait(2.0)
    own = properties.character(tweaked).action
    assert animation.action == own
    tweak()
    assert animation.action == layer and strips(tweaked)[-1] == own and animation.action_blend_type == "COMBINE"


def test_tweak_assigns_the_chosen_layer_if_it_plays_nowhere(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 30)
    wait(0.5)
    animation, first = tweaked.animation_data, tweaked.animation_data.action
    animation.action = None
    tweak(add_layer=True)
    second = animation.action
    assert first not in strips(tweaked)
    tweak()
    assert animation.action == second  # it is the chosen one
    properties.character(tweaked).tweaks_index = 0
    tweak()
    assert animation.action == first and second in strips(tweaked) and is_lifted(tweaked, 30)


def test_keys_return_where_the_score_does_while_its_action_is_sampled(tweaked: Any, wait: Wait,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    layer, text, sampling = tweaked.animation_data.action, text_of(tweaked), write_motion.sampling
    said, moved = text.as_string(), list[float]()

    def then_typed(*arguments: Any, **settings: Any) -> Any:
        sample = sampling(*arguments, **settings)
        moved.extend(own_frames(layer))
        text.from_string(said)
        return sample

    monkeypatch.setattr(write_motion, "sampling", then_typed)
    text.from_string(HALF)
    wait(2.0)
    assert moved == [73.0]
    assert not following.is_older(tweaked) and own_frames(layer) == [73.0] and is_lifted(tweaked, 73)


class Held(BackgroundWork[Any]):
    """Sampling that does not end before it is let go."""

    is_held = True
    made: ClassVar[list[Any]] = []

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        Held.made.append(self)

    def has_ended(self, within_s: float | None = 0.0) -> bool:
        """Return whether it has ended, without a limit of time only if it is let go: so `background_writing` asks."""
        return super().has_ended(within_s) and not (Held.is_held and within_s == 0.0)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> type[Held]:
    """Sampling of Actions in the background, which ends once `is_held` is false."""
    monkeypatch.setattr(background_writing, "BackgroundWork", Held)
    monkeypatch.setattr(Held, "is_held", True)
    monkeypatch.setattr(Held, "made", [])
    return Held


@pytest.mark.parametrize("bone", ["l_knee", "x_tail"])
def test_a_key_set_while_the_action_is_sampled_stays_at_its_moment(tweaked: Any, wait: Wait, held: type[Held],
                                                                   bone: str) -> None:
    set_key(tweaked, 73, name=bone)
    wait(0.5)
    layer = tweaked.animation_data.action
    text_of(tweaked).from_string(HALF)
    wait(1.5)
    assert held.made
    assert own_frames(layer) == [73.0]  # what is seen is the old Action, with its tweak
    set_key(tweaked, 31, name=bone)
    held.is_held = False
    wait(2.5)
    assert not following.is_older(tweaked)
    assert own_frames(layer) == [pytest.approx(1 + 15.0, abs=0.01), pytest.approx(1 + 36.0, abs=0.01)]
    assert is_lifted(tweaked, 16, name=bone) and is_lifted(tweaked, 37, name=bone)


def test_keys_move_with_the_last_step_of_a_long_action(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    layer, scene = tweaked.animation_data.action, bpy.context.scene
    properties.character(tweaked).keep_action = False
    text_of(tweaked).from_string(HALF)
    wait(1.0)
    motion = score.motion_of(tweaked)
    assert motion is not None and scene is not None
    stopped = long_actions.writing(tweaked, scene, motion)
    next(stopped)
    stopped.close()
    assert own_frames(layer) == [73.0] and len(bpy.data.actions) == 2
    for _ in long_actions.writing(tweaked, scene, motion):
        assert own_frames(layer) == [73.0]
    assert own_frames(layer) == [37.0] and is_lifted(tweaked, 37)


@pytest.mark.parametrize("blend", ["COMBINE", "REPLACE"])
def test_an_own_action_in_the_layers_place_keeps_its_blend_mode(tweaked: Any, wait: Wait, blend: str) -> None:
    """It is the layer's *Combine*, as Blender leaves it, until the animator chooses another one; Takt changes none."""
    animation, mine = tweaked.animation_data, bpy.data.actions.new("mine")
    mine.slots.new(id_type="OBJECT", name="Rig")
    animation.action, animation.action_slot = mine, mine.slots[0]
    assert animation.action_blend_type == "COMBINE"
    animation.action_blend_type = blend
    text_of(tweaked).from_string(STEPS.replace("0.7", "1.4"))
    wait(2.0)
    rebuild()
    assert (animation.action, animation.action_blend_type) == (mine, blend)
    tweaks.push_down(tweaked)
    assert animation.nla_tracks[-1].strips[0].blend_type == blend
    tweak()
    assert animation.action.name == "Rig tweaks" and animation.action_blend_type == "COMBINE"


def test_a_key_that_changes_nothing_is_kept_where_another_one_had_faded_out(tweaked: Any) -> None:
    """It lies on a whole frame; so Takt's key, by which the earlier one fades, must not."""
    scene: Any = bpy.context.scene
    tweaks_of(tweaked)[0].ease_in = tweaks_of(tweaked)[0].ease_out = 0.25  # six frames
    for frame, lift in ((20, LIFT), (26, Quaternion()), (14, Quaternion()), (40, LIFT), (8, LIFT)):
        tweaks.look(tweaked, scene)
        set_key(tweaked, frame, lift)
    tweaks.look(tweaked, scene)
    action = tweaked.animation_data.action
    assert set(own_frames(action)) >= {8.0, 14.0, 20.0, 26.0, 40.0}
    assert is_lifted(tweaked, 20) and is_lifted(tweaked, 26, Quaternion()) and is_lifted(tweaked, 14, Quaternion())
    made = {point.co[0] for curve in curves_of(action) for point in curve.keyframe_points
            if point.type == "GENERATED"}
    assert made and all(0.02 < frame % 1.0 < 0.98 for frame in made)
