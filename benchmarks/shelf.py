"""What a library of very many files costs the shelf: `dev.py bench shelf [BVH] [FBX] [SECONDS]`.

By default 20000 500 60. Files are made in nested folders: short BVH clips with numbers of their own, and FBX files of
one body that differ in their last bytes.
Printed are, in milliseconds of one processor, which other work on the machine does not lengthen: until all files are
listed; until chips lie in their places and are drawn again after more was read; a search by name and by class. On the
clock: until a shelf that nobody has opened before is listed beside and drawn; what a frame of the interface waits for
Python meanwhile, and on this machine while nothing is read. Then how many files are read in SECONDS, those of FBX by a
second Blender, whose start counts too, and how much memory this process has grown by, in MB.
"""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import bpy
import checkout
import numpy as np

from takt.bridge.files import second_blender
from takt.bridge.shelf import shelf_search
from takt.core.formats import endings
from takt.core.library.contents import contents
from takt.core.library.library import SCORE_SUFFIX
from takt.core.score_editor import shelf
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View

Result = TypeVar("Result")
NAMES = ("walk", "run", "jump", "turn_left", "wave", "sit_down", "idle", "kick")
JOINTS = ("Spine", "Neck", "Head", "LeftArm", "LeftForeArm", "LeftHand", "RightArm", "RightForeArm", "RightHand",
          "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot")
TREE: dict[str, Any] = {"Hips": {"Spine": {"Neck": {"Head": {}}, "LeftArm": {"LeftForeArm": {"LeftHand": {}}},
                           "RightArm": {"RightForeArm": {"RightHand": {}}}},
                 "LeftUpLeg": {"LeftLeg": {"LeftFoot": {}}}, "RightUpLeg": {"RightLeg": {"RightFoot": {}}}}}
AT = {"Spine": (0, 10, 0), "Neck": (0, 45, 0), "Head": (0, 10, 0), "LeftArm": (17, 40, 0), "LeftForeArm": (27, 0, 0),
      "LeftHand": (25, 0, 0), "RightArm": (-17, 40, 0), "RightForeArm": (-27, 0, 0), "RightHand": (-25, 0, 0),
      "LeftUpLeg": (10, -5, 0), "LeftLeg": (0, -42, 0), "LeftFoot": (0, -42, 0), "RightUpLeg": (-10, -5, 0),
      "RightLeg": (0, -42, 0), "RightFoot": (0, -42, 0)}


def bvh(seed: int, frames: int = 30) -> str:
    """Return a clip of a body whose limbs swing, other ones for each seed."""
    lines, rng = ["HIERARCHY"], np.random.default_rng(seed)

    def joint(name: str, children: dict[str, Any], depth: int) -> None:
        at, room = AT.get(name, (0, 95, 0)), "\t" * depth
        lines.append(f"{room}{'JOINT' if depth else 'ROOT'} {name}")
        lines.extend((f"{room}{{", f"{room}\tOFFSET {at[0]} {at[1]} {at[2]}"))
        lines.append(f"{room}\tCHANNELS " + ("3 Zrotation Xrotation Yrotation" if depth else
                                             "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"))
        for child, more in children.items():
            joint(child, more, depth + 1)
        if not children:
            lines.extend((f"{room}\tEnd Site", f"{room}\t{{", f"{room}\t\tOFFSET 0 8 0", f"{room}\t}}"))
        lines.append(f"{room}}}")

    joint("Hips", TREE["Hips"], 0)
    swing = rng.uniform(-25.0, 25.0, 3 * len(JOINTS) + 3) * np.sin(np.linspace(0.0, 2.0 * np.pi, frames))[:, None]
    rows = np.concatenate((np.tile((0.0, 95.0, 0.0), (frames, 1)), swing), axis=1)
    lines += ["MOTION", f"Frames: {frames}", "Frame Time: 0.033333",
              *(" ".join(f"{value:.3f}" for value in row) for row in rows.tolist())]
    return "\n".join(lines) + "\n"


def fbx(folder: Path) -> bytes:
    """Return a clip of a body, as Blender's own exporter writes it."""
    operators: Any = bpy.ops
    operators.wm.read_factory_settings(use_empty=True)
    operators.preferences.addon_enable(module="io_scene_fbx")
    (folder / "body.bvh").write_text(bvh(0), encoding="ascii")
    operators.preferences.addon_enable(module="io_anim_bvh")
    operators.import_anim.bvh(filepath=str(folder / "body.bvh"), global_scale=0.01)
    operators.export_scene.fbx(filepath=str(folder / "body.fbx"), object_types={"ARMATURE"}, bake_anim=True)
    return (folder / "body.fbx").read_bytes()


def make(root: Path, clips: int, others: int) -> None:
    """Write the files, a hundred in a folder, in four levels."""
    texts = [bvh(seed) for seed in range(40)]
    with tempfile.TemporaryDirectory() as elsewhere:
        body = fbx(Path(elsewhere))
    for number in range(clips + others):
        folder = root / f"set {number // 5_000}" / f"take {number // 500}" / "more" / f"deep {number // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{NAMES[number % len(NAMES)]}_{number:05}"
        if number < clips:
            (folder / f"{name}.bvh").write_text(texts[number % len(texts)], encoding="ascii")
        else:
            (folder / f"{name}.fbx").write_bytes(body + number.to_bytes(4, "little"))


def ms(what: Callable[[], Result]) -> tuple[float, Result]:
    """Return how long a processor takes for something, and its result."""
    started = time.process_time()
    result = what()
    return 1e3 * (time.process_time() - started), result


def memory_mb() -> float:
    """Return the most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def memory_now_mb() -> float:
    """Return the memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def waits_ms(goes_on: Callable[[], bool]) -> list[float]:
    """Return by how much frames of 10 ms are late, one after the other."""
    waits = []
    while goes_on():
        started = time.perf_counter()
        time.sleep(0.01)
        waits.append(1e3 * (time.perf_counter() - started) - 10.0)
    return waits


def drawn(playables: tuple[Playable, ...], search: shelf_search.Search) -> None:
    """Arrange and draw what a window shows."""
    view, theme = View(1400.0, 500.0), Theme()
    arranged = shelf.arrange(playables, view, theme)
    shelf.shelf_layers(arranged, view, theme, figures=search.figures)


def main() -> int:
    """Print the table."""
    numbers = [int(each) for each in sys.argv[1:4]]
    clips, others, seconds = (*numbers, *(20_000, 500, 60)[len(numbers):])
    root = Path(tempfile.mkdtemp(prefix="takt shelf "))
    try:
        make(root, clips, others)
        print(f"{clips} BVH, {others} FBX")
        print(f"{'listed':>28} {ms(lambda: contents([root], (*endings(), SCORE_SUFFIX)))[0]:8.1f} ms")
        until = time.perf_counter() + seconds / 4.0
        idle = waits_ms(lambda: time.perf_counter() < until)
        before = memory_now_mb()
        started, worked = time.perf_counter(), time.process_time()
        search = shelf_search.Search((root,), None)
        while not search.files:
            time.sleep(0.001)
        drawn(search.playables(), search)
        print(f"{'open, on the clock':>28} {1e3 * (time.perf_counter() - started):8.1f} ms, of one processor "
              f"{1e3 * (time.process_time() - worked):.1f}")
        print(f"{'files that are shown':>28} {len(search.files)}, {search.left_out} more are not")
        until = time.perf_counter() + seconds
        of_blender = [file for file in search.files.values() if file.where.endswith(".fbx")]
        shown = [file.src for file in of_blender[:20]]
        waits = waits_ms(lambda: time.perf_counter() < until and (
            search.shown.show(shown) or search.shown.is_reading() or not search.work.has_ended()))
        read = sum(file.held is not None for file in search.files.values())
        print(f"{'read, classified':>28} {read}, {len(search.known)} in {seconds} s")
        print(f"{'FBX read, damaged':>28} {sum(file.held is not None for file in of_blender)}, "
              f"{sum(bool(file.problem) for file in of_blender)}")
        print(f"{'a frame waits for Python':>28} {np.median(waits):8.1f} ms, 99 % {np.percentile(waits, 99.0):.1f}, at "
              f"most {max(waits):.1f}")
        playables = search.playables()
        print(f"{'chips again':>28} {ms(search.playables)[0]:8.1f} ms, drawn "
              f"{ms(lambda: drawn(playables, search))[0]:.1f}")
        for words in ("walk 0012", "walk, wild"):
            shelf.found(playables, words)
            took, found = ms(partial(shelf.found, playables, words))
            print(f"{'search ' + words:>28} {took:8.1f} ms, {len(found)} found")
        print(f"{'memory':>28} {memory_mb() - before:8.1f} MB more")
        print(f"{'frames over 40 ms':>28} {sum(wait > 40.0 for wait in waits)} of {len(waits)}")
        print(f"{'of a shelf that reads none':>28} {sum(wait > 40.0 for wait in idle)} of {len(idle)}, 99 % "
              f"{np.percentile(idle, 99.0):.1f} ms, at most {max(idle):.1f}")
        print(f"{'end':>28} {ms(search.end)[0]:8.1f} ms")
    finally:
        second_blender.unregister()
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    checkout.run(main)
