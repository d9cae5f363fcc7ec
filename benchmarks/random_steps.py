"""Random operators in random places, each undone and done again: what holds whatever somebody does.

python3 dev.py bench random_steps [--seeds N] [--first SEED] [--steps M] [--blender 4.5] makes a file with a character
of its own, a linked and an overridden one, and takes M (40) random steps for each of N (300) seeds: any operator of
ours that can be undone with random values, a random setting, a change by hand, Edit Mode, and timers between them. A
desktop Blender whose timer calls main has two windows besides. After each step that Blender counts as one, undo must
give back the state before it, redo the state after it. Prints what was done and how often it was refused, and each
failure with its seed; exits with 1 where there is any.
"""

import argparse
import hashlib
import logging
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import checkout
from mathutils import Matrix

import takt
from takt.bridge import axes, following, guard, properties, score, score_blocks, score_tree
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.preview.score_editor import windows
from takt.tests.blender.dancing import NAMES, PARENTS, STEPS, make_clip, make_skeleton

_context: Any = bpy.context
_ops: Any = bpy.ops
_LEFT_OUT = {"change_libraries", "forget_folder", "help", "import_character", "import_ogre", "render_film",
             "bend_report", "save_map"}
"""What changes the preferences or the samples, opens a browser, or takes long."""
_WORDS = ("main", "pair", "left", "right", "feet.Steps.left", "no_such", "", "x" * 70, "Rig", "Überraschung", "1/0",
          "..", "<pha/>", "l_hip")
_Snapshot = dict[str, str]


def main() -> int:
    """Take all steps; return 1 after a failure."""
    parser = argparse.ArgumentParser(prog="bench random_steps")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    takt.register()
    logged = _Logged()
    logging.getLogger("takt").addHandler(logged)
    folder = Path(tempfile.mkdtemp())
    failures, done, began_s = 0, Counter[str](), time.monotonic()
    try:
        for seed in range(options.first, options.first + options.seeds):
            walk = _Walk(seed, folder)
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
    print(", ".join(f"{name} {count}" for name, count in sorted(done.items())))
    return int(failures > 0)


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
        self._folder = folder / str(seed)
        self._clock_s = 0.0
        self.done = Counter[str]()

    def run(self, steps: int) -> list[str]:
        """Take the steps; return what failed."""
        self._make_file()
        with _in_window():
            return self._take(steps)

    def _take(self, steps: int) -> list[str]:
        _ops.ed.undo_push(message="begin")
        failed, path = list[str](), list[str]()
        for number in range(steps):
            name = "?"
            try:
                before = _snapshot()
                name = self._step()
                path.append(name)
                if name in ("import_pha refused", "retarget_clips refused"):
                    _ops.ed.undo_push(message=name)  # what can be done is done; mistakes are an error
                elif name.endswith("refused"):
                    failed += self._differences(f"step {number}, {name}", before, _snapshot())
                if name.endswith(("refused", "timers")):
                    self.done[name.split()[0] if name.endswith("timers") else name] += 1
                    if failed:
                        break
                    continue
                self.done[name.split("(")[0]] += 1
                after = _snapshot()
                if _context.mode.startswith("EDIT") or name.startswith("mode"):
                    continue  # Edit Mode has an undo of its own
                _ops.ed.undo()
                failed += self._differences(f"step {number}, {name}, undone", before, _snapshot())
                _ops.ed.redo()
                failed += self._differences(f"step {number}, {name}, done again", after, _snapshot())
            except Exception as problem:
                traceback.print_exc()
                failed.append(f"step {number}, {name}: {type(problem).__name__}: {problem}")
                break
            if failed:
                break
        return failed + (["after " + ", ".join(path[-6:-1])] if failed else [])

    @staticmethod
    def _differences(what: str, wanted: _Snapshot, found: _Snapshot) -> list[str]:
        return [f"{what}: {name}: {wanted.get(name, '-')[:300]} | {found.get(name, '-')[:300]}"
                for name in sorted(wanted.keys() | found.keys()) if wanted.get(name) != found.get(name)][:2]

    def _step(self) -> str:
        """Do something and push an undo step; return its name, with "refused" behind it where nothing was done."""
        ways = (self._operator,) * 6 + (self._setting, self._by_hand, self._mode, self._timers)
        return self._random.choice(ways)()

    def _operator(self) -> str:
        names = [name for name in sorted(dir(_ops.takt)) if name not in _LEFT_OUT]
        name = self._random.choice(names)
        operator, values = getattr(_ops.takt, name), {}
        for each in operator.get_rna_type().properties:
            if each.identifier != "rna_type" and self._random.random() < 0.4:
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
            if each.identifier in ("filepath", "library", "directory"):
                return str(self._folder / self._random.choice(
                    ("dance.pha", "other.pha", "feet/Steps.skeleton.xml", "none.pha", "")))
            return self._random.choice(_WORDS)
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
            boxes = [layout.id_of(box) for box in range(len(layout.boxes))]
            score_tree.select(tree, layout, self._random.sample(boxes, min(len(boxes), self._random.randint(0, 2))))

    def _choose_objects(self) -> None:
        if _context.mode != "OBJECT":
            return
        for ob in _context.view_layer.objects:
            ob.select_set(self._random.random() < 0.5)
        _context.view_layer.objects.active = self._random.choice(list(_context.view_layer.objects))

    def _setting(self) -> str:
        rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.is_editable]
        character: Any = properties.character(self._random.choice(rigs))
        name = self._random.choice([*properties.SETTING_NAMES, "seed", "frame_start", "keep_action"])
        value = self._value(character.bl_rna.properties[name])
        if value is None or _context.mode != "OBJECT":
            return "setting refused"
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
            self._random.choice([ob for ob in bpy.data.objects if ob.is_editable]).location.x += 1.0
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
            while following._writing is not None and not following._writing.work.has_ended(0.1):
                if time.monotonic() > until:
                    raise TimeoutError("an Action is being sampled for 20 s")
        _ops.ed.undo_push(message="timers")
        return "timers"

    def _make_file(self) -> None:
        """Make a library on disk, a .blend with a character to link, and a file with three characters."""
        (self._folder / "feet").mkdir(parents=True)
        skeleton = make_skeleton()
        clips = tuple(make_clip(name, skeleton, number) for number, name in enumerate(("left", "right")))
        (self._folder / "feet" / "Steps.skeleton.xml").write_bytes(ogre_xml.write(OgreSkeleton.of(skeleton, clips)))
        (self._folder / "dance.pha").write_text(STEPS, encoding="utf-8")
        (self._folder / "other.pha").write_text(STEPS.replace("0.7", "1.7"), encoding="utf-8")
        linked = self._folder / "linked.blend"
        _ops.wm.read_factory_settings(use_empty=False)
        with _in_window():
            rig = _rig("Linked")
            _ops.takt.import_pha(filepath=str(self._folder / "dance.pha"))
            bpy.data.libraries.write(str(linked), {rig, rig.users_collection[0]} if rig.users_collection else {rig})
        _ops.wm.read_factory_settings(use_empty=False)
        with _in_window():
            self._make_characters(linked)
            if not bpy.app.background:
                _ops.wm.window_new()

    def _make_characters(self, linked: Path) -> None:
        """Make a character of its own in the open file, a linked and an overridden one."""
        for _ in range(2):
            libraries: Any = bpy.data.libraries
            with libraries.load(str(linked), link=True) as (_source, wanted):
                wanted.objects = ["Linked"]
            ob = wanted.objects[0]
            if ob is not None and ob.name not in _context.scene.collection.objects:
                _context.scene.collection.objects.link(ob)
        ob.override_create(remap_local_usages=True)
        _rig("Rig")
        _ops.takt.import_pha(filepath=str(self._folder / "dance.pha"))


@contextmanager
def _in_window() -> Iterator[None]:
    """Be in the first window: a timer of a Blender that was just given another file is in none."""
    with _context.temp_override(window=_context.window_manager.windows[0]):
        yield


def _rig(name: str) -> Any:
    data: Any = bpy.data.armatures.new(name)
    rig: Any = bpy.data.objects.new(name, data)
    _context.collection.objects.link(rig)
    _context.view_layer.objects.active = rig
    _ops.object.mode_set(mode="EDIT")
    worlds = make_skeleton().turned(axes.BLENDER_FROM_HANIM).rest_world
    for bone_name, parent, world in zip(NAMES, PARENTS, worlds, strict=True):
        bone = data.edit_bones.new(bone_name)
        bone.length, bone.matrix = 0.2, Matrix((*world.tolist(), (0, 0, 0, 1)))
        bone.parent = data.edit_bones[NAMES[parent]] if parent >= 0 else None
    _ops.object.mode_set(mode="OBJECT")
    return rig


def _snapshot() -> _Snapshot:
    """Return the state of all that is ours or that ours touches, by what it belongs to."""
    _context.view_layer.update()
    found = {f"text {text.name_full}": text.as_string() for text in bpy.data.texts}
    action: Any
    for action in bpy.data.actions:
        digest = hashlib.blake2b(digest_size=8)
        for curve in (curve for layer in action.layers for strip in layer.strips
                      for bag in strip.channelbags for curve in bag.fcurves):
            values = [0.0] * (2 * len(curve.keyframe_points))
            curve.keyframe_points.foreach_get("co", values)
            digest.update(repr((curve.data_path, curve.array_index, values)).encode())
        found[f"action {action.name_full}"] = digest.hexdigest()
    ob: Any
    for ob in bpy.data.objects:
        state: list[Any] = [tuple(ob.location), [modifier.name for modifier in ob.modifiers],
                            [group.name for group in ob.vertex_groups]]
        if ob.animation_data is not None and ob.animation_data.action is not None:
            state.append(ob.animation_data.action.name)
        if ob.type == "ARMATURE":
            character: Any = properties.character(ob)
            state += [getattr(character, name) for name in (*properties.SETTING_NAMES, "seed", "frame_start",
                                                            "released", "is_map_checked", "filepath")]
            state.append(character.text and character.text.name)
            state += [(bone.name, [(each.name, each.mute) for each in bone.constraints]) for bone in ob.pose.bones]
        found[f"object {ob.name_full}"] = repr(state)
    found["scene"] = repr([(scene.frame_start, scene.frame_end,
                            sorted(marker.name for marker in scene.timeline_markers)) for scene in bpy.data.scenes])
    return found


if __name__ == "__main__":
    checkout.run(main)
