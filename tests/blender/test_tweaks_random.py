"""Random steps of an animator with tweaks: no key that was set is lost, and no Action of their own is touched."""

import os
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest

import takt
from takt.bridge import properties
from takt.bridge.scores import score
from takt.bridge.tweaking import tweak_placing, tweaks
from takt.core.errors import EditError
from takt.core.pha.edits import Insert, Move, Remove, SetAttribute
from takt.tests.blender.dancing import STEPS, Wait, play, rebuild, text_of
from takt.tests.blender.test_tweaks import curves_of, edit, tweak

SEEDS = int(os.environ.get("TAKT_TWEAK_SEEDS", "4"))
STEPS_EACH = 14
BONE = "x_tail"
operators: Any = bpy.ops


def in_window() -> Any:
    window: Any = bpy.context.window_manager.windows[0]
    return bpy.context.temp_override(window=window, screen=window.screen)


class Animator:
    """Takes steps; knows of each undo step which keys there have to be, by the values that were set."""

    def __init__(self, seed: int, folder: Path, wait: Wait) -> None:
        self.random, self.folder, self.wait = Random(seed), folder, wait
        self.keys: frozenset[float] = frozenset()
        self.past: list[frozenset[float]] = []
        self.future: list[frozenset[float]] = []
        self.said: list[str] = []
        self.is_told_apart = False

    @property
    def rig(self) -> Any:
        return bpy.data.objects["Rig"]

    def push(self, name: str) -> None:
        """Make an undo step, as each operator in a window does."""
        with in_window():
            operators.ed.undo_push(message=name)
        self.past.append(self.keys)
        self.future = []

    def step(self) -> None:
        steps = [self.set_key] * 4 + [self.edit] * 4 + [self.type, self.undo, self.undo, self.redo, self.save_and_open,
                                                      self.rebuild, self.add_layer, self.own_action, self.off_and_on,
                                                      self.keep_action, self.over_procedure, self.body,
                                                      self.only_this_call]
        chosen = self.random.choice(steps)
        self.said.append(chosen.__name__)
        chosen()
        self.wait(2.0)

    def set_key(self) -> None:
        action = self.rig.animation_data.action
        if action not in [each for _, each in tweaks.layers_of(self.rig)]:
            return
        frame = self.random.randint(2, 130)
        used = {round(key.co.x) for curve in curves_of(action) for key in curve.keyframe_points}
        if used & {frame - 1, frame, frame + 1}:
            return
        bpy.context.scene.frame_set(frame)
        bone, value = self.rig.pose.bones[BONE], round(0.01 + 0.001 * len(self.said) + self.random.random(), 4)
        before = bone.location.x
        bone.location.x = before + value
        bone.keyframe_insert("location", index=0, frame=frame)
        curve = next(curve for curve in curves_of(action) if curve.array_index == 0 and BONE in curve.data_path)
        key = next(key for key in curve.keyframe_points if round(key.co.x) == frame)
        key.co.y = value  # exactly, so that it can be told from others
        self.keys |= {value}
        self.wait(0.5)
        self.push("key")

    def edit(self) -> None:
        new = '<call name="left" duration="1"/>'
        choices = [SetAttribute(6, "duration", self.random.choice("346")), Remove(self.random.choice((4, 6, 7))),
                   Move(self.random.choice((6, 7)), self.random.choice((2, 5)), 0), Insert(5, 1, new),
                   SetAttribute(6, "repeat", self.random.choice("123")), SetAttribute(0, "tickLength", "0.8")]
        try:
            edit(self.rig, self.random.choice(choices))
        except (EditError, AssertionError):
            return
        self.push("edit")

    def type(self) -> None:
        text_of(self.rig).from_string(self.random.choice((
            STEPS, STEPS.replace('repeat="2"', 'repeat="1"'), STEPS.replace("0.7", "1.4"),
            STEPS.replace('<call name="left"', '<call name="right" duration="1"/><call name="left"'))))
        self.push("type")

    def undo(self) -> None:
        if len(self.past) > 1:
            with in_window():
                operators.ed.undo()
            self.future.append(self.past.pop())
            self.keys = self.past[-1]

    def redo(self) -> None:
        if self.future:
            with in_window():
                operators.ed.redo()
            self.past.append(self.future.pop())
            self.keys = self.past[-1]

    def save_and_open(self) -> None:
        path = str(self.folder / "random.blend")
        operators.wm.save_as_mainfile(filepath=path)
        operators.wm.open_mainfile(filepath=path)
        bpy.context.view_layer.objects.active = self.rig
        self.past, self.future = [], []
        self.push("opened")

    def rebuild(self) -> None:
        if score.motion_of(self.rig) is not None:
            rebuild()
            self.push("rebuild")

    def add_layer(self) -> None:
        if self.rig.animation_data.action in [each for _, each in tweaks.layers_of(self.rig)]:
            tweak(add_layer=True)
            self.push("layer")

    def own_action(self) -> None:
        """Put an Action of one's own above all, or take it away again and go on with the tweaks."""
        animation = self.rig.animation_data
        mine = bpy.data.actions.get("mine")
        if mine is not None and animation.action == mine:
            animation.action = None
            last = [each for _, each in tweaks.layers_of(self.rig)][-1]
            if not tweaks.is_in_strip(self.rig, last):
                tweaks.assign(self.rig, last)
        elif mine is None:
            mine = bpy.data.actions.new("mine")
            mine.use_fake_user = True
            mine.slots.new(id_type="OBJECT", name="Rig")
            last = animation.action
            animation.action = None
            track = animation.nla_tracks.new()
            track.strips.new(last.name, 1, last).blend_type = "COMBINE"
            animation.action, animation.action_slot = mine, mine.slots[0]
        self.push("own")

    def off_and_on(self) -> None:
        takt.unregister()
        takt.register()
        bpy.context.view_layer.objects.active = self.rig

    def keep_action(self) -> None:
        character = properties.character(self.rig)
        character.keep_action = not character.keep_action
        self.push("keep")

    def over_procedure(self) -> None:
        """Let a layer be in all calls of a procedure, or no longer."""
        layer = self.random.choice(properties.character(self.rig).tweaks)
        layer.procedure = self.random.choice(("pair", "pair", "main", "none", ""))
        self.push("procedure")

    def body(self) -> None:
        self.random.choice(properties.character(self.rig).tweaks).body = self.random.choice(("legs", "bone:x_tail", ""))
        self.push("body")

    def only_this_call(self) -> None:
        """A call gets keys of its own: those that were in it as copies are there twice from now on."""
        bpy.context.scene.frame_set(self.random.randint(2, 130))
        try:
            assert operators.takt.tweak_call() == {"FINISHED"}
        except RuntimeError:
            return
        self.is_told_apart = True
        self.push("call")

    def check(self) -> None:
        found = [round(key.co.y, 4) for _, action in tweaks.layers_of(self.rig) for curve in curves_of(action)
                 for key in curve.keyframe_points if key.type != "GENERATED"]
        for _, action in tweaks.layers_of(self.rig):
            found += [round(place[1], 4) for each in tweak_placing.ties_of(action).waiting
                      for place in each.keys["columns"]["co"]]
        found = sorted(set(found)) if self.is_told_apart else sorted(found)
        assert found == sorted(self.keys), (self.said, tweaks.problem(self.rig))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_key_is_lost_and_no_own_action_is_touched(seed: int, rig: Any, library: Path, wait: Wait,
                                                     tmp_path: Path) -> None:
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    tweak()
    animator = Animator(seed, tmp_path, wait)
    animator.push("begin")
    for _ in range(STEPS_EACH):
        own = {action.name: bpy.data.actions.get("mine") and bpy.data.actions["mine"].users
               for action in bpy.data.actions if action.name == "mine"}
        was_mine = animator.rig.animation_data.action is not None and animator.rig.animation_data.action.name == "mine"
        animator.step()
        animator.check()
        if was_mine and animator.said[-1] in ("edit", "type", "rebuild", "set_key", "keep_action", "off_and_on"):
            assert animator.rig.animation_data.action.name == "mine" and own
