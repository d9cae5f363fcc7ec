"""Damaged files of tweaks, and damaged ties in Actions: each is refused and changes nothing, or its keys are sound."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.tweaking import tweak_curves, tweak_files, tweak_waiting, tweaks
from takt.bridge.tweaking.tweak_placing import bag_of
from takt.core.pha.edits import Remove
from takt.core.playing.tweaks import MOST_EASE_S
from takt.tests.blender.dancing import Wait, rebuild
from takt.tests.blender.test_tweaks import edit, own_frames, set_key, tweak, tweaked, tweaks_of

__all__ = ["tweaked"]  # a fixture of another file
operators: Any = bpy.ops
context: Any = bpy.context
SEEDS = 400
FAR = 1_100_000.0
"""No key is farther from frame 0."""
VALUES: tuple[Any, ...] = (float("nan"), float("inf"), float("-inf"), 1e308, -1, 10 ** 12, 10 ** 400, 0, 0.5, 7,
                           -1000.5, 1e6, "", "\ud800", "x", None, True, [], [1, 2], {}, {"a": 1})
Steps = tuple[str | int, ...]


@pytest.fixture
def saved(tweaked: Any, wait: Wait, tmp_path: Path) -> str:
    """The text of a file with two layers: keys of a procedure, one call with its own keys; and keys anywhere."""
    tweaks_of(tweaked)[0].procedure = "pair"
    set_key(tweaked, 10)
    wait(0.5)
    context.scene.frame_set(70)
    assert operators.takt.tweak_call() == {"FINISHED"}
    wait(0.5)
    tweak(add_layer=True)
    set_key(tweaked, 20)
    set_key(tweaked, 130, name="r_hip")
    bone = tweaked.pose.bones["r_hip"]
    bone.location.x += 0.1
    assert bone.keyframe_insert("location", frame=130)
    wait(0.5)
    path = tmp_path / "saved.takt.tweaks.json"
    assert operators.takt.save_tweaks(filepath=str(path)) == {"FINISHED"}
    return path.read_text()


def state(rig: Any) -> Any:
    """Return all that loading changes."""
    animation = rig.animation_data
    return ([(layer.name, layer.action, layer.ease_in, layer.procedure) for layer in tweaks_of(rig)],
            sorted(action.name for action in bpy.data.actions), animation.action, animation.action_blend_type,
            [(track.name, [(strip.name, strip.action, strip.frame_start, strip.frame_end) for strip in track.strips])
             for track in animation.nla_tracks],
            [[each.tolist() for each in tweak_curves.read(bag).columns.values()] for _, action in tweaks.layers_of(rig)
             if (bag := bag_of(action)) is not None])


def refusal(path: Path) -> str:
    """Load a file; return why it is refused, "" if it is not."""
    try:
        assert operators.takt.load_tweaks(filepath=str(path)) == {"FINISHED"}
    except RuntimeError as error:
        assert "Traceback" not in str(error), error
        return str(error)
    return ""


def places(data: Any, above: Steps = ()) -> Iterator[Steps]:
    """Yield the way to each value within data."""
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*above, name)
        if isinstance(value, dict | list):
            yield from places(value, (*above, name))


def changed(data: Any, place: Steps, value: Any) -> Any:
    """Return data with another value in a place."""
    made = json.loads(json.dumps(data))
    inner = made
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return made


def take_back(rig: Any, before: Any) -> None:
    """Remove the layers that were loaded."""
    count, animation = len(before[0]), rig.animation_data
    animation.action = None
    while len(tweaks_of(rig)) > count:
        bpy.data.actions.remove(tweaks_of(rig)[-1].action)
        tweaks_of(rig).remove(len(tweaks_of(rig)) - 1)
    for track in [*animation.nla_tracks][len(before[4]):]:
        animation.nla_tracks.remove(track)
    tweaks.assign(rig, before[2])
    tweaks.look(rig, context.scene)


def assert_sound(rig: Any) -> None:
    """Check that Rebuild works, and that all keys and poses are finite."""
    rebuild()
    assert "damaged" not in tweaks.problem(rig)
    for _, action in tweaks.layers_of(rig):
        bag = bag_of(action)
        keys = tweak_curves.read(bag) if bag is not None else None
        assert keys is None or all(np.isfinite(each).all() for each in keys.columns.values())
        assert keys is None or not len(keys) or np.abs(keys.frames).max() < FAR
    for frame in (1, 20, 130):
        context.scene.frame_set(frame)
        assert np.isfinite([bone.matrix for bone in rig.pose.bones]).all(), frame


def test_one_wrong_value_is_refused_or_harmless(tweaked: Any, saved: str, tmp_path: Path) -> None:
    data, before, path, counts = json.loads(saved), state(tweaked), tmp_path / "wrong.takt.tweaks.json", [0, 0]
    everywhere, packed = [*places(data)], json.dumps(data)
    shallow = [each for each in everywhere if len(each) < 7]  # most values are those of single keys
    for seed in range(SEEDS):
        chance = random.Random(seed)
        if chance.random() < 0.1:
            place: Any = chance.randrange(1, len(packed) - 1)
            value: Any = "cut off"
            path.write_text(packed[:place])
        else:
            place, value = chance.choice(chance.choice((shallow, everywhere))), chance.choice(VALUES)
            path.write_text(json.dumps(changed(data, place, value)))
        said = refusal(path)
        counts[not said] += 1
        if said:
            of_all = value == "cut off" or place[0] in {"format", "version"}
            assert "this file of tweaks is damaged: " in said or (
                of_all and ("no file of tweaks" in said or "these tweaks are of version" in said)), (seed, place, said)
            assert "cannot load it" not in said, (seed, place, said)  # it is found before anything is changed
        else:
            assert_sound(tweaked)
            take_back(tweaked, before)
        assert state(tweaked) == before, (seed, place, value, said)
    assert min(counts) > SEEDS // 20, counts  # both were seen


WAITING: Steps = ("layers", 0, "ties", "waiting", 0)
COLUMNS: Steps = (*WAITING, "keys", "columns")


@pytest.mark.parametrize(("place", "value", "message"), [
    ((*COLUMNS, "co", 0, 0), float("nan"),
     "layers[0].ties.waiting[0].keys.columns.co[0][0]: found NaN, expected a number from -10,000,000 to 10,000,000"),
    ((*COLUMNS, "co", 0, 1), 1e308, "co[0][1]: found 1e+308, expected a number"),
    ((*COLUMNS, "handle_left", 0, 0), float("inf"), "handle_left[0][0]: found Infinity, expected a number"),
    ((*COLUMNS, "interpolation", 0), -1, "interpolation[0]: found -1, expected one of the numbers 0, 1, 2"),
    ((*COLUMNS, "type", 0), 99, "type[0]: found 99, expected one of the numbers 0, 1, 2"),
    ((*COLUMNS, "co"), [], "co: found 0 values, expected 4"),
    ((*WAITING, "share"), float("nan"), "waiting[0].share: found NaN, expected a number"),
    ((*WAITING, "length"), -1, "waiting[0].length: found -1, expected a number from 0 to"),
    ((*WAITING, "texts", ""), 9, "expected a whole number from 0 to 0"),
    ((*WAITING, "keys", "curves", 0, 1), 10 ** 12, "found 1000000000000, expected a whole number from 0 to 3"),
    ((*WAITING, "keys", "curves", 0, 1), -3, "curves[0][1]: found -3, expected a whole number from 0 to 3"),
    ((*WAITING, "keys", "curves", 0, 0), 'pose.bones["', "expected the path of a property"),
    ((*WAITING, "keys", "curves", 0, 0), 'pose.bones["l_knee"].rotation_quat', "expected the path of a property"),
    ((*WAITING, "keys", "curves", 0, 0), 'pose.bones["l_knee"]', "expected the path of a property"),
    ((*WAITING, "keys", "curves", 1, 1), 0, "expected each curve only once"),
    ((*WAITING, "keys", "curve", 0), 7, "curve[0]: found 7, expected a whole number from 0 to 3"),
    (("layers", 0, "ease_in"), float("nan"), "layers[0].ease_in: found NaN, expected a number from 0 to"),
    (("layers", 0, "ease_out"), -1, "layers[0].ease_out: found -1, expected a number from 0 to"),
    (("layers", 0, "holds"), "no", 'layers[0].holds: found "no", expected true or false'),
    (("layers", 0, "name"), None, "layers[0].name: found an empty value, expected a name or another text"),
    (("layers", 0, "ties", "texts", 0), "abc", "layers[0].ties.texts[0]: found \"abc\", expected a text that Takt has"),
    (("layers", 1), 7, "layers[1]: found 7, expected named values")])
def test_it_is_said_where_a_file_is_damaged(tweaked: Any, saved: str, tmp_path: Path, place: Steps, value: Any,
                                            message: str) -> None:
    before, path = state(tweaked), tmp_path / "wrong.takt.tweaks.json"
    path.write_text(json.dumps(changed(json.loads(saved), place, value)))
    said = refusal(path)
    assert "this file of tweaks is damaged: " in said and message in said
    assert state(tweaked) == before


@pytest.mark.parametrize("share", [1e6, -1e6])
def test_keys_stay_within_the_frames_that_blender_plays(tweaked: Any, saved: str, tmp_path: Path, share: float) -> None:
    path = tmp_path / "far.takt.tweaks.json"
    path.write_text(json.dumps(changed(json.loads(saved), ("layers", 1, "ties", "waiting", 0, "share"), share)))
    assert refusal(path) == ""
    assert_sound(tweaked)
    frames = own_frames(tweaks_of(tweaked)[3].action)
    assert len(frames) == 2 and max(map(abs, frames)) == 1_048_574


def test_what_only_blender_refuses_is_taken_back(tweaked: Any, saved: str, tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    before, path, add = state(tweaked), tmp_path / "saved.takt.tweaks.json", tweak_files.add

    def fail(armature_object: bpy.types.Object, layers: Any) -> Any:
        add(armature_object, layers)
        raise RuntimeError("no room")

    monkeypatch.setattr(tweak_files, "add", fail)
    assert "this file of tweaks is damaged: Blender cannot load it (no room)" in refusal(path)
    assert state(tweaked) == before and tweaks_of(tweaked)[-1].action == tweaked.animation_data.action


@pytest.mark.parametrize("change", [
    lambda data: data["waiting"][0].update(share=float("nan")),
    lambda data: data["waiting"][0]["keys"]["columns"]["co"][0].__setitem__(1, float("inf")),
    lambda data: data["waiting"][0]["keys"]["columns"].pop("co"),
    lambda data: data["waiting"][0]["keys"]["curves"][0].__setitem__(1, -3)])
def test_damaged_ties_in_an_action_are_told_of(tweaked: Any, wait: Wait, change: Callable[[Any], Any]) -> None:
    set_key(tweaked, 130)
    set_key(tweaked, 20)
    wait(0.5)
    edit(tweaked, Remove(7))
    action = tweaked.animation_data.action
    data = json.loads(getattr(action, properties.TIES))
    assert len(data["waiting"]) == 1 and own_frames(action) == [20.0]
    change(data)
    said = json.dumps(data)
    setattr(action, properties.TIES, said)
    tweaks.forget()
    rebuild()
    tweaks.look(tweaked, context.scene)
    assert "the ties of the tweaks are damaged (waiting[0]." in tweaks.problem(tweaked)
    assert "begin a new layer (+)" in tweaks.problem(tweaked) and tweak_waiting.words(tweaked) == ""
    assert own_frames(action) == [20.0] and getattr(action, properties.TIES) == said


@pytest.mark.parametrize("name", ["", "  "])
def test_a_layer_without_a_name_gets_one(tweaked: Any, saved: str, tmp_path: Path, name: str) -> None:
    path = tmp_path / "wrong.takt.tweaks.json"
    path.write_text(json.dumps(changed(json.loads(saved), ("layers", 0, "name"), name)))
    assert refusal(path) == "" and tweaks_of(tweaked)[2].name == tweaks_of(tweaked)[2].action.name == "tweaks"
    tweaks_of(tweaked)[2].name = name
    assert tweaks_of(tweaked)[2].name == tweaks_of(tweaked)[2].action.name == "tweaks"


def test_an_ease_has_a_longest_length(tweaked: Any, saved: str, tmp_path: Path, wait: Wait) -> None:
    path, layer = tmp_path / "wrong.takt.tweaks.json", tweaks_of(tweaked)[0]
    path.write_text(json.dumps(changed(json.loads(saved), ("layers", 0, "ease_in"), 1e6)))
    assert refusal(path) == "" and tweaks_of(tweaked)[2].ease_in == MOST_EASE_S
    layer.ease_in = 1e6
    assert layer.ease_in == MOST_EASE_S
    names = {"ease_in": 5e5, "ease_out": float("nan")}
    stored: Any = layer.bl_system_properties_get() if hasattr(layer, "bl_system_properties_get") else layer
    for name, value in names.items():  # as an earlier version has stored it
        stored[name] = value
    wait(0.5)
    rebuild()
    tweaks.look(tweaked, context.scene)
    keys = tweak_curves.read(bag_of(layer.action))  # type: ignore[arg-type]
    assert np.isfinite(keys.frames).all()
    assert keys.frames.min() == pytest.approx(10.0 - MOST_EASE_S * 24.0, abs=0.04)  # beside a whole frame
