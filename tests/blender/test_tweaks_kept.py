"""Layers of tweaks keep playing where the score is opened again, beside other Actions, and while it is sampled."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.actions import write_motion
from takt.bridge.scores import following
from takt.tests.blender.dancing import STEPS, Wait, play, text_of
from takt.tests.blender.test_tweaks import FPS, is_lifted, own_frames, set_key, tweak, tweaked

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

    def then_typed(*arguments: Any) -> Any:
        sample = sampling(*arguments)
        moved.extend(own_frames(layer))
        text.from_string(said)
        return sample

    monkeypatch.setattr(write_motion, "sampling", then_typed)
    text.from_string(HALF)
    wait(2.0)
    assert moved == [pytest.approx(1 + 1.5 * FPS)]
    assert not following.is_older(tweaked) and own_frames(layer) == [73.0] and is_lifted(tweaked, 73)
