"""Keys of tweaks are placed twice in an edit: copies of them as sampling begins, then the keys themselves."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import following, score
from takt.bridge.tweaking import tweak_copies, tweak_curves, tweak_placed, tweak_placing, tweaks
from takt.core.playing import ties as ties_
from takt.tests.blender.dancing import Wait
from takt.tests.blender.test_tweaks import curves_of, own_frames, set_key, tweaked
from takt.tests.blender.test_tweaks_undo import keys_now, push, rig_now, type_longer, undo

__all__ = ["tweaked"]  # a fixture of another file


def all_of(action: Any) -> Any:
    bag = tweak_placing.bag_of(action)
    assert bag is not None
    return tweak_curves.read(bag)


def first_curve(rig: Any) -> Any:
    return next(curve for curve in curves_of(rig.animation_data.action) if curve.array_index == 0)


def twice(rig: Any, later: Callable[[], None]) -> Any:
    """Place keys as an edit does: copies, then, after something that happens meanwhile, the keys themselves."""
    scene: Any = bpy.context.scene
    motion = score.motion_of(rig)
    assert motion is not None
    motion = replace(motion)
    with tweak_copies.moved(rig, scene, motion):
        later()
    tweaks.go_along(rig, scene, motion)
    return all_of(rig.animation_data.action)


@pytest.mark.parametrize("procedure", ["", "pair"])
def test_keys_become_what_their_copies_were(tweaked: Any, wait: Wait, procedure: str,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is computed again, and the result is the same as if it were."""
    properties.character(tweaked).tweaks[0].procedure = procedure
    for frame in (20, 40, 70):
        set_key(tweaked, frame)
    wait(0.5)
    found, counted, made = list[Any](), list[int](), tweak_placing._placed

    def counting(layer: Any, asked: Any) -> Any:
        counted.append(1)
        return made(layer, asked)

    monkeypatch.setattr(tweak_placing, "_placed", counting)
    for is_known in (True, False):
        properties.character(tweaked).frame_start = 31
        counted.clear()
        found.append(twice(tweaked, (lambda: None) if is_known else tweak_placing.forget))
        assert len(counted) == (1 if is_known else 2)
        properties.character(tweaked).frame_start = 1
        scene, motion = bpy.context.scene, score.motion_of(tweaked)
        assert scene is not None and motion is not None
        tweaks.go_along(tweaked, scene, replace(motion))
    assert found[0].is_like(found[1]) and len(found[0]) > 9


@pytest.mark.parametrize("is_fixed", [False, True])
@pytest.mark.parametrize("procedure", ["", "pair"])
def test_keys_are_known_as_blender_has_them(tweaked: Any, wait: Wait, procedure: str, is_fixed: bool) -> None:
    """Keys that were just read or written are not read again."""
    layer, action = properties.character(tweaked).tweaks[0], tweaked.animation_data.action
    scene: Any = bpy.context.scene
    layer.procedure = procedure
    for frame in (20, 24, 70):
        set_key(tweaked, frame)
    if is_fixed:
        key = next(key for key in first_curve(tweaked).keyframe_points if round(key.co.x) == 24)
        key.handle_right_type = "FREE"
        key.handle_right = (26.5, 0.7)
    wait(0.5)
    bag, motion = tweak_placing.bag_of(action), score.motion_of(tweaked)
    assert bag is not None and motion is not None
    for start in (1, 31, 7):
        properties.character(tweaked).frame_start = start
        known: Any = defaultdict(dict)
        tweaks.checksum(tweaked, known)
        assert tweak_curves.read(bag, known[action.session_uid]).is_like(tweak_curves.read(bag))
        tweaks._place_all(tweaked, scene, replace(motion), known)
        for curve in bag.fcurves:
            found = known[action.session_uid][curve.data_path, curve.array_index]
            read = tweak_curves.seen(curve.keyframe_points, has_handles=bool(procedure))
            assert found.checksum == read.checksum and found.columns.keys() == read.columns.keys()
            assert all(np.array_equal(values, read.columns[name]) for name, values in found.columns.items())
        assert tweaks._seen[tweaked.session_uid] == tweaks._state(tweaked)
    assert len(tweak_curves.read(bag)) > 9


def test_a_key_that_is_set_meanwhile_is_tied_too(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 20)
    wait(0.5)
    properties.character(tweaked).frame_start = 31
    twice(tweaked, lambda: set_key(tweaked, 70))
    action = tweaked.animation_data.action
    assert own_frames(action) == [50.0, 100.0]
    assert len(tweak_placing.ties_of(action)) == 2


def test_ties_that_are_kept_are_those_that_would_be_read(tweaked: Any, wait: Wait) -> None:
    for frame in (20, 45, 70, 131):
        set_key(tweaked, frame)
    wait(0.5)
    said = getattr(tweaked.animation_data.action, properties.TIES)
    known, read = tweak_placed.ties(said), ties_.from_data(json.loads(said))
    assert known is not None and known.blocks == read.blocks and known.texts == read.texts
    for name in ("frame", "block", "share", "length"):
        assert np.array_equal(getattr(known, name), getattr(read, name)), name
    assert ties_.to_data(known) == ties_.to_data(read)


def test_handles_of_the_user_go_along_and_others_follow_from_the_keys(tweaked: Any, wait: Wait) -> None:
    for frame in (20, 24, 70):
        set_key(tweaked, frame)
    curve = first_curve(tweaked)
    key = next(key for key in curve.keyframe_points if round(key.co.x) == 24)
    key.handle_right_type = "FREE"
    key.handle_right = (26.5, 0.7)
    wait(0.5)  # it is eased
    curve = first_curve(tweaked)
    before = curve.evaluate(25.0)
    properties.character(tweaked).frame_start = 31
    wait(2.0)
    curve = first_curve(tweaked)
    key = next(key for key in curve.keyframe_points if round(key.co.x) == 54)
    assert tuple(key.handle_right) == pytest.approx((56.5, 0.7), abs=1e-3)
    assert curve.evaluate(55.0) == pytest.approx(before, abs=1e-4)


def test_undo_of_an_edit_brings_keys_back_with_their_easing_at_once(tweaked: Any, wait: Wait,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """The step holds the key as it was set, untied. It need not wait for the score to be performed again."""
    push("begin")
    set_key(tweaked, 70)
    push("key")
    wait(1.0)
    type_longer()
    push("type")
    wait(2.0)
    undo()
    monkeypatch.setattr(score, "perform_soon", lambda *_: None)
    following.look(1e6)
    action = rig_now().animation_data.action
    assert keys_now() == [70.0]
    assert sum(key.type == "GENERATED" for curve in curves_of(action) for key in curve.keyframe_points) >= 2
