"""Tweaks of characters that were appended, linked, or linked and overridden."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.tweaking import tweaks
from takt.tests.blender.dancing import STEPS, Wait, rebuild, text_of
from takt.tests.blender.test_tweaks import own_frames, set_key, shown, tweak, tweaked

__all__ = ["tweaked"]  # a fixture of another file
operators: Any = bpy.ops
context: Any = bpy.context
LONGER = STEPS.replace('<call name="pair" duration="2.5" repeat="2"/>', '<call name="pair" duration="5" repeat="2"/>')


@pytest.fixture
def file(tweaked: Any, wait: Wait, library: Path) -> Path:
    """A saved .blend in the library's folder, with a dancer who has one tweak at 100."""
    set_key(tweaked, 100)
    wait(1.0)
    path = library / "tweaked.blend"
    operators.wm.save_as_mainfile(filepath=str(path))
    return path


def opened(file: Path, *, is_linked: bool) -> Any:
    """Return the dancer in a new file beside it."""
    operators.wm.read_homefile(use_empty=True, use_factory_startup=True)
    operators.wm.save_as_mainfile(filepath=str(file.with_name("other.blend")))
    libraries: Any = bpy.data.libraries
    with libraries.load(str(file), link=is_linked) as (_, wanted):
        wanted.objects = ["Rig"]
    rig = bpy.data.objects["Rig"]
    context.collection.objects.link(rig)
    context.scene.render.fps = 24
    context.view_layer.objects.active = rig
    return rig


def keys(rig: Any) -> list[float]:
    return [round(frame, 2) for _, action in tweaks.layers_of(rig) for frame in own_frames(action)]


def tracks_of(rig: Any) -> list[tuple[str, list[str]]]:
    return [(track.name, [strip.action.name for strip in track.strips]) for track in rig.animation_data.nla_tracks]


def test_appended_tweaks_go_along_with_the_score_there(file: Path, wait: Wait) -> None:
    rig = opened(file, is_linked=False)
    wait(1.0)
    assert keys(rig) == [100.0]
    before, tracks = shown(rig, 100)[0], tracks_of(rig)
    text_of(rig).from_string(LONGER)
    rebuild()
    wait(1.0)
    assert tracks_of(rig) == tracks
    assert keys(rig) == [pytest.approx(199.0, abs=0.5)]
    assert shown(rig, 199)[0].rotation_difference(before).angle < 0.2


def test_linked_tweaks_play_and_nothing_of_them_is_written(file: Path, wait: Wait) -> None:
    data = file.read_bytes()
    rig = opened(file, is_linked=True)
    wait(1.0)
    assert keys(rig) == [100.0] and not operators.takt.tweak.poll()
    action = next(action for _, action in tweaks.layers_of(rig))
    assert action.library is not None and not operators.takt.rebuild.poll()
    wait(1.0)
    assert keys(rig) == [100.0] and file.read_bytes() == data


def test_an_overridden_character_has_them_and_gets_layers_of_its_own(file: Path, wait: Wait) -> None:
    linked = opened(file, is_linked=True)
    rig = linked.override_create(remap_local_usages=True)
    context.view_layer.objects.active = rig
    wait(1.0)
    assert keys(rig) == [100.0]
    rebuild()
    wait(1.0)
    assert keys(rig) == [100.0]
    animation, own = rig.animation_data, properties.character(rig).action
    assert own is not None and own.library is None
    strips = [strip for track in animation.nla_tracks for strip in track.strips]
    assert strips[-1].action == own and strips[-1].blend_type == "REPLACE", "what it plays is seen, below the tweaks"
    theirs = [action for _, action in tweaks.layers_of(rig)]
    tweak(add_layer=True)
    wait(0.5)
    mine = [action for _, action in tweaks.layers_of(rig) if action not in theirs]
    assert len(mine) == 1 and mine[0].library is None and animation.action == mine[0]
    set_key(rig, 30)
    wait(1.0)
    assert [round(frame) for frame in own_frames(mine[0])] == [30]
    operators.wm.save_as_mainfile(filepath=context.blend_data.filepath)
    operators.wm.open_mainfile(filepath=context.blend_data.filepath)
    rig = next(ob for ob in bpy.data.objects if ob.override_library is not None)
    wait(1.0)
    assert sorted(keys(rig)) == [30.0, 100.0] and properties.character(rig).text is not None


@pytest.mark.parametrize("is_assigned", [True, False])
def test_tweak_begins_a_layer_above_a_linked_one(file: Path, wait: Wait, is_assigned: bool,
                                                 capfd: pytest.CaptureFixture[str]) -> None:
    rig = opened(file, is_linked=True).override_create(remap_local_usages=True)
    context.view_layer.objects.active = rig
    wait(1.0)
    rebuild()
    wait(0.5)
    (_, theirs), = tweaks.layers_of(rig)
    if is_assigned:
        tweaks.assign(rig, theirs)
    else:
        rig.animation_data.action = None
    assert not theirs.is_editable
    capfd.readouterr()
    tweak()
    mine = rig.animation_data.action
    assert mine.library is None and [action for _, action in tweaks.layers_of(rig)] == [theirs, mine]
    assert f"'{theirs.name}' is linked from another file: keys that you set land in '{mine.name}' now" in (
        capfd.readouterr().out)
    set_key(rig, 30)
    wait(1.0)
    assert own_frames(mine) == [30.0] and own_frames(theirs) == [100.0]
    tweak()
    assert rig.animation_data.action == mine
    assert f"land in '{mine.name}' already; + begins another layer" in capfd.readouterr().out


def test_clean_says_which_layers_are_linked(file: Path, wait: Wait, capfd: pytest.CaptureFixture[str]) -> None:
    rig = opened(file, is_linked=True).override_create(remap_local_usages=True)
    context.view_layer.objects.active = rig
    wait(1.0)
    rebuild()
    wait(0.5)
    said = "Linked from another file, so none of their keys was removed: Rig tweaks"
    capfd.readouterr()
    assert operators.takt.clean_tweaks() == {"CANCELLED"}
    out = capfd.readouterr().out
    assert said in out and "Every key changes" not in out
    tweak()
    bone = rig.pose.bones["l_knee"]
    context.scene.frame_set(30)
    assert bone.keyframe_insert("rotation_quaternion", frame=30)
    wait(1.0)
    assert operators.takt.clean_tweaks() == {"FINISHED"}
    out = capfd.readouterr().out
    assert said in out and "1 key that changed nothing was removed" in out and keys(rig) == [100.0]


def test_a_copy_plays_its_own_action_below_tweaks_of_its_own(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 100)
    wait(1.0)
    first = properties.character(tweaked).action
    copy = tweaked.copy()
    context.collection.objects.link(copy)
    context.view_layer.objects.active = copy
    layer: Any = properties.character(copy).tweaks[0]
    layer.action = layer.action.copy()
    tweaks.assign(copy, layer.action)
    text_of(tweaked).from_string(LONGER)
    rebuild()
    wait(1.0)
    own = properties.character(copy).action
    assert own not in (None, first)
    assert [strip.action for track in copy.animation_data.nla_tracks for strip in track.strips] == [own]
    assert [strip.action for track in tweaked.animation_data.nla_tracks for strip in track.strips] == [first]
    assert keys(copy) == [pytest.approx(199.0, abs=0.5)]
