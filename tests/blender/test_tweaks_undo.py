"""Keys of tweaks and what Takt remembers of them are undone and redone together."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest

import takt
from takt.bridge import properties
from takt.bridge.scores import score_blocks
from takt.bridge.tweaking import tweaks
from takt.core.pha.edits import SetAttribute
from takt.tests.blender.dancing import STEPS, Wait, rebuild, text_of
from takt.tests.blender.test_tweaks import curves_of, edit, own_frames, set_key, tweak, tweaked
from takt.tests.blender.test_tweaks_random import in_window

__all__ = ["tweaked"]  # a fixture of another file
SEEDS = int(os.environ.get("TAKT_TWEAK_SEEDS", "4"))
STEPS_EACH = 16
SPLIT = STEPS.replace("<pha ", '<pha version="2" ').replace(
    '<call name="right" duration="0.7"/>', '<call name="right" duration="0.25" to="0.4" transition="0"/>'
    '<call name="right" duration="0.45" from="0.4"/>')
WRAPPED = STEPS.replace('<call name="right" duration="0.7"/>', '<call name="last" duration="0.7"/>').replace(
    '  <procedure name="main">', '  <procedure name="last"><call name="right" duration="0.7"/></procedure>\n'
    '  <procedure name="main">')
operators: Any = bpy.ops


def push(name: str) -> None:
    with in_window():
        operators.ed.undo_push(message=name)


def undo() -> None:
    with in_window():
        operators.ed.undo()


def redo() -> None:
    with in_window():
        operators.ed.redo()


def rig_now() -> Any:
    return bpy.data.objects["Rig"]


def keys_now() -> list[float]:
    return [frame for _, action in tweaks.layers_of(rig_now()) for frame in own_frames(action)]


def start_later() -> None:
    properties.character(rig_now()).frame_start = 51


def count_faster() -> None:
    bpy.context.scene.render.fps = 30


def type_longer() -> None:
    text_of(rig_now()).from_string(STEPS.replace('duration="1"', 'duration="2"'))


@pytest.mark.parametrize("is_tied_when_pushed", [False, True])
@pytest.mark.parametrize(("change", "moved"), [(start_later, 120.0), (count_faster, 87.25), (type_longer, 73.86)])
def test_undo_moves_a_key_back_once(tweaked: Any, wait: Wait, change: Callable[[], None], moved: float,
                                    is_tied_when_pushed: bool) -> None:
    """A step holds a key as it was set, before Takt has tied it; what follows lies behind the step."""
    push("begin")
    set_key(tweaked, 70)
    if is_tied_when_pushed:
        wait(0.5)
    push("key")
    wait(1.0)
    assert keys_now() == [70.0]
    change()
    push("change")
    wait(2.0)
    assert keys_now() != [70.0]
    for _ in range(2):
        undo()
        wait(2.0)
        assert keys_now() == [70.0]
        redo()
        wait(2.0)
        assert keys_now() == [pytest.approx(moved, abs=0.01)]


def test_keys_that_a_script_sets_and_saves_go_along_with_the_score(tweaked: Any, wait: Wait, tmp_path: Path) -> None:
    """Where no timer runs, a file that is saved says to which blocks its keys belong."""
    set_key(tweaked, 130)
    path = str(tmp_path / "tweaked.blend")
    operators.wm.save_as_mainfile(filepath=path)
    operators.wm.open_mainfile(filepath=path)
    bpy.context.view_layer.objects.active = rig_now()
    text_of(rig_now()).from_string(STEPS.replace('repeat="2"', 'repeat="1"'))
    rebuild()
    assert keys_now() == [pytest.approx(70.0)]


class Animator:
    """Takes steps, and knows of each undo step which keys there were once it had been followed."""

    def __init__(self, seed: int, folder: Path, wait: Wait) -> None:
        self.random, self.folder, self.wait = Random(seed), folder, wait
        self.past: list[Any] = []
        self.future: list[Any] = []
        self.said: list[str] = []
        self.push("begin")

    def push(self, name: str) -> None:
        """Make an undo step, as each operator in a window does; what follows from it is written behind it."""
        self.said.append(name)
        push(name)
        self.wait(2.0)
        self.past.append(all_keys())
        self.future = []

    def step(self) -> None:
        steps: list[Any] = [self.set_key] * 3 + [self.drag_key, self.delete_key, self.type] * 2 + [
            self.set_start, self.set_rate, self.edit, self.rebuild, self.other, self.change_mode, self.add_layer,
            self.save_and_open, self.off_and_on] + [self.back, self.forth] * 4
        if rig_now().mode != "OBJECT":  # undo has led there
            steps = [self.back, self.back, self.forth, self.leave_mode]
        self.random.choice(steps)()

    def set_key(self) -> None:
        action = rig_now().animation_data.action
        if action not in [each for _, each in tweaks.layers_of(rig_now())]:
            return
        frame = self.random.randint(2, 130)
        bpy.context.scene.frame_set(frame)
        bone = rig_now().pose.bones["x_tail"]
        bone.location.x += 0.01 + self.random.random()
        bone.keyframe_insert("location", index=0, frame=frame)
        if self.random.random() < 0.5:
            self.wait(0.5)
        self.push(f"key at {frame}")

    def own_keys(self) -> list[Any]:
        return [(curve, key) for _, action in tweaks.layers_of(rig_now()) for curve in curves_of(action)
                for key in curve.keyframe_points if key.type != "GENERATED"]

    def drag_key(self) -> None:
        if keys := self.own_keys():
            curve, key = self.random.choice(keys)
            key.co.x += self.random.uniform(-3.0, 3.0)
            key.co.y += 0.1
            curve.update()
            self.push("drag")

    def delete_key(self) -> None:
        if keys := self.own_keys():
            curve, key = self.random.choice(keys)
            curve.keyframe_points.remove(key)
            self.push("delete")

    def type(self) -> None:
        text = self.random.choice((STEPS, STEPS.replace('repeat="2"', 'repeat="1"'), STEPS.replace("0.7", "1.4"),
                                   STEPS.replace('duration="1"', 'duration="1.2"'), SPLIT, WRAPPED))
        text_of(rig_now()).from_string(text)
        self.push("type")

    def set_start(self) -> None:
        properties.character(rig_now()).frame_start = self.random.choice((1, 11, 51))
        self.push("start")

    def set_rate(self) -> None:
        bpy.context.scene.render.fps = self.random.choice((24, 30, 48))
        self.push("rate")

    def edit(self) -> None:
        blocks = score_blocks.refresh(rig_now())
        calls = [] if blocks.layout is None else [
            element for element, tag in enumerate(blocks.layout.documents[0].text.shape.tags) if tag == "call"]
        if calls:
            edit(rig_now(), SetAttribute(self.random.choice(calls), "duration", self.random.choice("12")))
            self.push("edit")

    def rebuild(self) -> None:
        rebuild()
        self.push("rebuild")

    def other(self) -> None:
        bpy.context.collection.objects.link(bpy.data.objects.new("Other", None))
        self.push("other")

    def change_mode(self) -> None:
        mode = self.random.choice(("EDIT", "POSE"))
        operators.object.mode_set(mode=mode)
        self.push(mode)
        self.leave_mode()

    def leave_mode(self) -> None:
        operators.object.mode_set(mode="OBJECT")
        self.push("OBJECT")

    def add_layer(self) -> None:
        if rig_now().animation_data.action in [each for _, each in tweaks.layers_of(rig_now())]:
            tweak(add_layer=True)
            self.push("layer")

    def back(self) -> None:
        count = min(self.random.randint(1, 4), len(self.past) - 1)
        for _ in range(count):
            undo()
            self.future.append(self.past.pop())
        self.check(f"undo {count}")

    def forth(self) -> None:
        count = min(self.random.randint(1, 4), len(self.future))
        for _ in range(count):
            redo()
            self.past.append(self.future.pop())
        self.check(f"redo {count}")

    def save_and_open(self) -> None:
        path = str(self.folder / "random.blend")
        operators.wm.save_as_mainfile(filepath=path)
        operators.wm.open_mainfile(filepath=path)
        bpy.context.view_layer.objects.active = rig_now()
        self.check("saved and opened")
        self.past.clear()
        self.push("opened")

    def off_and_on(self) -> None:
        takt.unregister()
        takt.register()
        bpy.context.view_layer.objects.active = rig_now()
        self.check("off and on")

    def check(self, name: str) -> None:
        self.said.append(name)
        self.wait(2.0)
        found, wanted = all_keys(), self.past[-1]
        assert len(found) == len(wanted) and all(
            one[:2] == other[:2] and one[2:] == pytest.approx(other[2:], abs=0.01)
            for one, other in zip(found, wanted, strict=True)), (self.said, found, wanted)


def all_keys() -> list[tuple[str, str, float, float]]:
    """Return all keys of all layers, those that Takt has made too: of which layer and kind, where, how much."""
    return sorted((action.name, key.type, round(key.co.x, 2), key.co.y) for _, action in tweaks.layers_of(rig_now())
                  for curve in curves_of(action) for key in curve.keyframe_points)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_undo_step_has_the_keys_that_it_had(seed: int, tweaked: Any, wait: Wait, tmp_path: Path) -> None:
    animator = Animator(seed, tmp_path, wait)
    for _ in range(STEPS_EACH):
        animator.step()
