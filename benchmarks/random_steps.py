"""Random operators in random places, each undone and done again: what holds whatever somebody does.

python3 dev.py bench random_steps [--seeds N] [--first SEED] [--steps M] [--blender 4.5] opens a file with two windows,
characters of its own, a linked and an overridden one, a cast and a body, and takes M (40) random steps for each of N
(300) seeds: any operator of ours with random values, a gesture in the score editor, keys of tweaks, a role or setting,
a change by hand, Edit Mode, and timers between them. After each step that Blender counts as one, undo must give back
the state before it, redo the state after it; a refusal changes nothing, and no operator what is the user's alone.
Prints what was done and how often it was refused, and each failure with its seed; exits with 1 where there is any.
"""

import argparse
import logging
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import checkout
from mathutils import Euler

import takt
from takt.benchmarks.steps_file import CLIP, USERS_OWN, in_window, open_file
from takt.benchmarks.steps_state import Snapshot, differences, snapshot, users_own
from takt.bridge import background, guard, properties
from takt.bridge.scores import background_writing, following, score, score_blocks, score_tree
from takt.core.score_editor.stripes import Stripes
from takt.operators.score_editor.contact import TAKT_OT_score_contact
from takt.operators.score_editor.drag import TAKT_OT_score_drag
from takt.operators.score_editor.insert import TAKT_OT_score_shelf
from takt.operators.score_editor.open import TAKT_OT_score_automatic
from takt.operators.score_editor.scrub import TAKT_OT_score_scrub
from takt.operators.score_editor.select import TAKT_OT_score_box_select
from takt.operators.score_editor.tweak import TAKT_OT_score_delete_tweak, TAKT_OT_score_tweak
from takt.preview.score_editor import windows
from takt.preview.score_editor.life import show_tweaks
from takt.tests.blender.score_editors import Hand

_context: Any = bpy.context
_ops: Any = bpy.ops
_LEFT_OUT = {"change_libraries", "forget_folder", "help", "import_character", "import_ogre", "render_film",
             "bend_report", "save_map"}
"""What changes the preferences or the samples, opens a browser, or takes long."""
_IN_PART = ("import_pha refused", "rebuild refused")
"""What does what can be done, and reports mistakes beside it as an error."""
_WORDS = ("main", "pair", "left", "right", "feet.Steps.left", "no_such", "", "x" * 70, "Rig", "Überraschung", "1/0",
          "..", "<pha/>", "l_hip", "feet.Steps.right", "more.Steps.nod", "walk")
_PATHS = ("dance.pha", "other.pha", "scene.pha", f"feet/{CLIP}", f"more/{CLIP}", "out/made.glb", "out/made.gltf",
          "out/made.fbx", "out/made.bvh", "out/made.skeleton.xml", "out/made.takt.tweaks.json", "beat.wav",
          "none.pha", "")
_FOLDERS = ("feet", "more", "out", "none", "")
_GESTURES = (TAKT_OT_score_drag, TAKT_OT_score_shelf, TAKT_OT_score_tweak, TAKT_OT_score_delete_tweak,
             TAKT_OT_score_contact, TAKT_OT_score_automatic, TAKT_OT_score_scrub, TAKT_OT_score_box_select)


def main() -> int:
    """Take all steps; return 1 after a failure."""
    parser = argparse.ArgumentParser(prog="bench random_steps")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--summary", action="store_true", help="without the list of what was done")
    options = parser.parse_args()
    takt.register()
    if background.OVERRIDES_NEED_QUIET:  # each step is taken in the context of some window
        _work_at_once()
    logged = _Logged()
    logging.getLogger("takt").addHandler(logged)
    folder = Path(tempfile.mkdtemp())
    failures, done, began_s = 0, Counter[str](), time.monotonic()
    try:
        for seed in range(options.first, options.first + options.seeds):
            walk = _Walk(seed, folder / "walk")
            failed = walk.run(options.steps) + logged.taken()
            done += walk.done
            failures += len(failed)
            for each in failed:
                print(f"seed {seed}: {each}", flush=True)
    finally:
        shutil.rmtree(folder)
    steps = sum(count for name, count in done.items() if not name.endswith("refused"))
    print(f"Blender {bpy.app.version_string}: {options.seeds} seeds, {steps} steps and "
          f"{sum(done.values()) - steps} refusals in {time.monotonic() - began_s:.0f} s; {failures} failures")
    if not options.summary:
        print(", ".join(f"{name} {count}" for name, count in sorted(done.items())))
    return int(failures > 0)


def _work_at_once() -> None:
    """Let work beside Blender end before anything goes on."""
    begin = background.BackgroundWork.__init__

    def begin_and_wait(work: background.BackgroundWork[Any], function: Callable[..., Any]) -> None:
        begin(work, function)
        work.has_ended(None)

    background.BackgroundWork.__init__ = begin_and_wait  # type: ignore[assignment,method-assign]  # as generic


@cache
def _operators() -> tuple[str, ...]:
    return tuple(name for name in sorted(dir(_ops.takt)) if name not in _LEFT_OUT)


class _Logged(logging.Handler):
    """What was logged as an error: a traceback of ours."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self._said.append(f"logged: {record.getMessage()} {record.exc_info and record.exc_info[1]!r}")

    def taken(self) -> list[str]:
        """Return what was logged since."""
        said, self._said = self._said, []
        guard.forget()
        return said


class _Walk:
    """The steps of one seed."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._folder = folder
        self._clock_s = 0.0
        self.done = Counter[str]()

    def run(self, steps: int) -> list[str]:
        """Take the steps; return what failed."""
        open_file(self._folder)
        with in_window():
            return self._take(steps)

    def _take(self, steps: int) -> list[str]:
        _ops.ed.undo_push(message="begin")
        failed, path = list[str](), list[str]()
        after = snapshot()
        for number in range(steps):
            name, before = "?", after  # what was found last
            try:
                own = users_own(before, self._folder, USERS_OWN)
                name = self._step()
                path.append(name)
                after = snapshot()
                if not name.startswith("hand"):
                    failed += differences(f"step {number}, {name}, the user's own", own,
                                          users_own(after, self._folder, USERS_OWN))
                self.done[name if name.endswith("refused") else name.split("(")[0].split()[0]] += 1
                if name in _IN_PART and after != before:
                    failed += self._undone(f"step {number}, {name}", before, after)
                elif name.endswith("refused"):
                    failed += differences(f"step {number}, {name}", before, after)
                elif not (name.endswith("timers") or _context.mode.startswith("EDIT") or name.startswith("mode")):
                    failed += self._undone(f"step {number}, {name}", before, after)  # Edit Mode has an undo of its own
            except Exception as problem:
                traceback.print_exc()
                failed.append(f"step {number}, {name}: {type(problem).__name__}: {problem}")
                break
            if failed:
                break
        return failed + (["after " + ", ".join(path[-6:-1])] if failed else [])

    @staticmethod
    def _undone(what: str, before: Snapshot, after: Snapshot) -> list[str]:
        _ops.ed.undo()
        failed = differences(f"{what}, undone", before, snapshot())
        _ops.ed.redo()
        return failed + differences(f"{what}, done again", after, snapshot())

    def _step(self) -> str:
        """Do something and push an undo step; return its name, with "refused" behind it where nothing was done."""
        ways = (self._operator,) * 12 + (self._gesture, self._setting, self._by_hand, self._timers) * 2 + (
            self._mode, self._cast, self._key)
        return self._random.choice(ways)()

    def _operator(self) -> str:
        name = self._random.choice(_operators())
        operator, values = getattr(_ops.takt, name), {}
        for each in operator.get_rna_type().properties:
            often = 0.9 if each.identifier in ("filepath", "directory", "files", "character") else 0.4
            if each.identifier != "rna_type" and self._random.random() < often:
                values[each.identifier] = self._value(each)
        values = {key: value for key, value in values.items() if value is not None}
        self._choose_objects()
        with self._place(name):
            try:
                if not operator.poll():
                    return f"{name} refused"
                result = operator("EXEC_DEFAULT", **values)
            except RuntimeError as refusal:
                if "Traceback" in str(refusal):
                    raise
                _ops.ed.undo_push(message=name)
                return f"{name} refused"
        _ops.ed.undo_push(message=name)  # what Blender does in a window; here it may crash, called with an area
        if result != {"FINISHED"} or "UNDO" not in getattr(getattr(bpy.types, f"TAKT_OT_{name}"), "bl_options", ()):
            return f"{name} refused" if result != {"FINISHED"} else f"{name} timers"
        return f"{name}({values})"

    def _value(self, each: Any) -> Any:
        if each.type == "BOOLEAN" and not each.is_array:
            return self._random.random() < 0.5
        if each.type == "INT" and not each.is_array:
            return self._random.randint(max(each.hard_min, -9), min(each.hard_max, 99))
        if each.type == "FLOAT" and not each.is_array:
            return self._random.uniform(max(each.hard_min, -9.0), min(each.hard_max, 99.0))
        if each.type == "ENUM" and not each.is_enum_flag and len(each.enum_items_static):
            return self._random.choice([item.identifier for item in each.enum_items_static])
        if each.type == "STRING":
            if each.identifier in ("library", "directory", "folder"):
                return str(self._folder / self._random.choice(_FOLDERS))
            if each.identifier in ("filepath", "sound"):
                return str(self._folder / self._random.choice(_PATHS))
            if each.identifier == "character":
                return self._random.choice([ob.name for ob in bpy.data.objects if ob.type == "ARMATURE"])
            return self._random.choice(_WORDS)
        if each.type == "COLLECTION":
            return [{"name": self._random.choice((CLIP, "none.bvh"))}]
        return None

    @contextmanager
    def _place(self, name: str) -> Iterator[None]:
        """Be in the score editor for its operators, in a viewport of either window for the others."""
        window = self._random.choice(list(_context.window_manager.windows))
        area = max(window.screen.areas, key=lambda each: each.width * each.height)
        in_editor = name.startswith("score_") and name != "score_editor"
        area.ui_type = score_tree.TaktScoreTree.bl_idname if in_editor else "VIEW_3D"
        score_tree.give_trees()
        region = next(region for region in area.regions if region.type == "WINDOW")
        with _context.temp_override(window=window, screen=window.screen, area=area, region=region):
            if in_editor:
                self._select_boxes()
            yield

    def _select_boxes(self) -> None:
        tree = score_tree.tree_of(bpy.context)
        armature_object = score_tree.character_of(tree, bpy.context)
        if tree is None or armature_object is None:
            return
        layout = score_blocks.refresh(armature_object).layout
        if layout is not None:
            windows.look_into(bpy.context, layout)
            show_tweaks(armature_object, bpy.context.scene)
            boxes = [layout.id_of(box) for box in range(len(layout.boxes))]
            score_tree.select(tree, layout, self._random.sample(boxes, min(len(boxes), self._random.randint(0, 2))))

    def _choose_objects(self) -> None:
        if _context.mode != "OBJECT":
            return
        objects = list(_context.view_layer.objects)
        often = self._random.choice((0.1, 0.5))
        for ob in objects:
            ob.select_set(self._random.random() < often)
        active = self._random.choice([ob for ob in objects if ob.type == "ARMATURE"] or objects)
        if self._random.random() < 0.3:  # bodies are bound, and get skeletons
            active = self._random.choice(objects)
        _context.view_layer.objects.active = active
        active.select_set(True)

    def _gesture(self) -> str:
        """Press, pull and let go the mouse in a score editor, as often as not on something."""
        operator, began = self._random.choice(_GESTURES), {"PASS_THROUGH"}
        name = operator.bl_idname.rpartition(".")[2]
        self._choose_objects()
        with self._place(name):
            if not getattr(_ops.takt, name).poll():
                return f"{name} refused"
            hand, keys = Hand(operator), {key: self._random.random() < 0.3 for key in ("shift", "ctrl")}
            for _ in range(20):  # most of an editor is empty
                began = hand.press(*self._pixel(operator), **keys)
                if began != {"PASS_THROUGH"}:
                    break
            if began == {"RUNNING_MODAL"}:
                for _ in range(self._random.randint(0, 3)):
                    hand.move(*self._pixel(operator), **keys)
                began = hand.escape() if self._random.random() < 0.2 else hand.let_go(*self._pixel(operator), **keys)
        _ops.ed.undo_push(message=name)
        return f"{name}(by hand)" if began == {"FINISHED"} else f"{name} refused"

    def _pixel(self, operator: Any) -> tuple[float, float]:
        """Return a pixel of the editor that the context is in: of keys of tweaks for those that want them."""
        region, window = _context.region, windows.window_of(_context.space_data)
        anywhere = self._random.uniform(0, region.width), self._random.uniform(0, region.height)
        armature_object = score_tree.character_of(score_tree.tree_of(_context), _context)
        shown = None if armature_object is None else score_blocks.shown(armature_object)
        layout = None if shown is None else shown.layout
        if window is None or layout is None or layout.tweaks is None or not len(layout.tweaks):
            return anywhere
        row = Stripes.of(layout, window.view).tweaks
        if row is None or operator not in (TAKT_OT_score_tweak, TAKT_OT_score_delete_tweak):
            return anywhere
        at = self._random.randrange(len(layout.tweaks))
        return float(window.view.x(layout.tweaks[at:at + 1])[0]), sum(row) / 2.0

    def _cast(self) -> str:
        """Let an object play a role, or nothing."""
        roles = [role for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.is_editable
                 for role in properties.character(ob).cast]
        if not roles or _context.mode != "OBJECT":
            return "cast refused"
        role = self._random.choice(roles)
        role.target = self._random.choice((None, *bpy.data.objects))
        _context.view_layer.update()
        _ops.ed.undo_push(message="cast")
        return f"cast({role.name} = {role.target and role.target.name})"

    def _key(self) -> str:
        """Set a key by hand where an Action of tweaks, or any other, is assigned."""
        animated: list[Any] = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.is_editable
                    and ob.animation_data is not None and ob.animation_data.action is not None
                    and ob.animation_data.action.is_editable]
        if not animated or _context.mode != "OBJECT":
            return "key refused"
        ob = self._random.choice(animated)
        bone, frame = self._random.choice(list(ob.pose.bones)), self._random.randint(1, 120)
        _context.scene.frame_set(frame)
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion.rotate(Euler((0.2, 0.1, 0.0)))
        bone.keyframe_insert("rotation_quaternion", frame=frame)
        _context.view_layer.update()
        _ops.ed.undo_push(message="key")
        return f"key({ob.name}, {bone.name}, {frame})"

    def _setting(self) -> str:
        rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.is_editable]
        character: Any = properties.character(self._random.choice(rigs))
        name = self._random.choice(
            [*properties.SETTING_NAMES, *properties.ACTION_NAMES, "seed", "frame_start", "keep_action", "sound",
             "parameter"])
        if name == "parameter" and len(character.parameters):
            character, name = self._random.choice(list(character.parameters)), "number"
        if name not in character.bl_rna.properties or _context.mode != "OBJECT":
            return "setting refused"
        value = self._value(character.bl_rna.properties[name])
        setattr(character, name, value)
        _context.view_layer.update()
        _ops.ed.undo_push(message=name)
        return f"setting({name} = {value})"

    def _by_hand(self) -> str:
        if _context.mode != "OBJECT":
            return "hand refused"
        texts = [text for text in bpy.data.texts if text.is_editable]
        actions: list[Any] = [action for action in bpy.data.actions if action.layers and action.is_editable]
        what = self._random.choice(("type", "key", "move", "remove"))
        if what == "type" and texts:
            text = self._random.choice(texts)
            said = text.as_string()
            at = self._random.randrange(len(said) + 1)
            text.from_string(said[:at] + self._random.choice(("1", " ", "<", "<wait duration='1'/>")) + said[at:])
        elif what == "key" and actions:
            curves = [curve for layer in self._random.choice(actions).layers for strip in layer.strips
                      for bag in strip.channelbags for curve in bag.fcurves]
            if curves:
                curve = self._random.choice(curves)
                curve.keyframe_points[0].co.y += 0.25
        elif what == "remove" and len(texts) > 1:
            bpy.data.texts.remove(self._random.choice(texts))
        else:
            what = "move"
            ob = self._random.choice([ob for ob in bpy.data.objects if ob.is_editable])
            ob.location.x += 1.0
            if ob.name == "Mine":  # else the next frame takes it back
                ob.keyframe_insert("location", frame=1)
        _context.view_layer.update()
        _ops.ed.undo_push(message=what)
        return f"hand({what})"

    def _mode(self) -> str:
        active = _context.view_layer.objects.active
        if active is None or not active.is_editable or active.type == "EMPTY" or not active.data.is_editable:
            return "mode refused"
        mode = "OBJECT" if _context.mode != "OBJECT" else self._random.choice(
            ("EDIT", "POSE") if active.type == "ARMATURE" else ("EDIT", "WEIGHT_PAINT") if active.type == "MESH"
            else ("OBJECT",))
        if _ops.object.mode_set.poll():
            _ops.object.mode_set(mode=mode)
        _ops.ed.undo_push(message="mode")  # as Blender does where a key does it
        return f"mode({mode})"

    def _timers(self) -> str:
        """Let the timers look as they would in seconds that pass."""
        for _ in range(self._random.randint(1, 8)):
            self._clock_s += 0.2
            following._tick()
            if bpy.app.timers.is_registered(score._perform_waiting):
                bpy.app.timers.unregister(score._perform_waiting)
                until = time.monotonic() + 20.0
                while score._perform_waiting() is not None and time.monotonic() < until:
                    time.sleep(0.001)
            until = time.monotonic() + 20.0
            while background_writing._writing is not None and not background_writing._writing.work.has_ended(0.1):
                if time.monotonic() > until:
                    raise TimeoutError("an Action is being sampled for 20 s")
        _ops.ed.undo_push(message="timers")
        return "timers"


if __name__ == "__main__":
    checkout.run(main)
