"""What a library of very many files costs the shelf: `dev.py bench shelf [BVH] [FBX] [SECONDS]`.

By default 20000 500 60. Files are made in nested folders: short BVH clips with numbers of their own, and FBX files of
one body that differ in their last bytes.
Printed are, in milliseconds of one processor, which other work on the machine does not lengthen: until all files are
listed; until chips lie in their places and are drawn again after more was read; a search by name and by class. On the
clock: until the first chips of a shelf that nobody has opened before are drawn, and until all have their places. Then
how many files are read in SECONDS, those of FBX by a second Blender, whose start counts too. What a frame of the
interface costs meanwhile, with what it waits for other threads: processor time, which is less than on the clock while
others work on the machine; and which were the ten longest. At last how much memory this process has grown by, in MB.
"""

import gc
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeVar

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
_TOLD_MS, _LINES = 10.0, 5
"""Where other threads are is looked up for longer frames, and so much of that."""
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
    started = time.thread_time()
    result = what()
    return 1e3 * (time.thread_time() - started), result


def memory_mb() -> float:
    """Return the most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def memory_now_mb() -> float:
    """Return the memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


class Frame(NamedTuple):
    """What a frame of the interface took: milliseconds, first those that cost processor time, and what ran in them."""

    ms: float
    wait_ms: float
    what: str


def frames(goes_on: Callable[[], bool], draw: Callable[[], None] = lambda: None) -> list[Frame]:
    """Return what frames took, one after the other: sleeping for 10 ms, and drawing in every tenth.

    A sleeping thread that does not get Python back waits for another one. How much of the wait others of this process
    have computed is what the wait would be on an idle machine.
    """
    found = list[Frame]()
    collected: list[tuple[float, int]] = []

    def notice(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            collected.append((time.thread_time(), info["generation"]))
        elif collected:
            begun, generation = collected.pop()
            if (took := 1e3 * (time.thread_time() - begun)) > _TOLD_MS:
                found.append(Frame(took, took, f"garbage collection, generation {generation}"))

    gc.callbacks.append(notice)
    try:
        while goes_on():
            started, others, own = time.perf_counter(), time.process_time(), time.thread_time()
            time.sleep(0.01)
            wait = 1e3 * (time.perf_counter() - started) - 10.0
            worked = 1e3 * (time.process_time() - others - time.thread_time() + own)
            found.append(Frame(min(worked, wait), wait, running() if wait > _TOLD_MS else ""))
            if len(found) % 10 == 0:
                own = time.thread_time()
                draw()
                took = 1e3 * (time.thread_time() - own)
                found.append(Frame(took, took, "drawing"))
    finally:
        gc.callbacks.remove(notice)
    return found


def running() -> str:
    """Return where other threads are."""
    own, said = threading.get_ident(), []
    for ident, frame in sys._current_frames().items():
        lines: list[str] = []
        at: FrameType | None = frame
        while at is not None and ident != own and len(lines) < _LINES:
            lines.append(f"{Path(at.f_code.co_filename).name}:{at.f_lineno} {at.f_code.co_name}")
            at = at.f_back
        said += [" < ".join(lines)] if lines else []
    return "; ".join(said)


class Drawn:
    """The shelf as the editor draws it: chips keep their places while more becomes known of them."""

    def __init__(self, search: shelf_search.Search) -> None:
        """Draw it for the first time at the first call."""
        self._search, self._arranged = search, (object(), shelf.arrange((), View(1400.0, 500.0), Theme()))

    def __call__(self) -> None:
        """Draw it."""
        view, theme = View(1400.0, 500.0), Theme()
        playables = shelf.found(self._search.playables(), "")
        places = self._search.structure, len(playables)
        arranged = (self._arranged[1].told_anew(playables) if self._arranged[0] == places else
                    shelf.arrange(playables, view, theme))
        self._arranged = places, arranged
        shelf.shelf_layers(arranged, view, theme, shelf.OnShelf(figures=self._search.figures | {}))
        self._search.shown.show([arranged.playables[each].src for each in arranged.seen(view).tolist()])


def drawn(playables: tuple[Playable, ...], search: shelf_search.Search) -> None:
    """Arrange and draw what a window shows."""
    view, theme = View(1400.0, 500.0), Theme()
    arranged = shelf.arrange(playables, view, theme)
    shelf.shelf_layers(arranged, view, theme, shelf.OnShelf(figures=search.figures))


def told(what: str, found: list[Frame]) -> None:
    """Print what frames took of the processor, and how many were late on the clock."""
    took = [each.ms for each in found]
    print(f"{what:>28} {np.median(took):8.1f} ms, 99 % {np.percentile(took, 99.0):.1f}, at most {max(took):.1f}; over "
          f"40 ms: {sum(each > 40.0 for each in took)} of {len(took)}, on the clock "
          f"{sum(each.wait_ms > 40.0 for each in found)}")


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
        idle = frames(lambda: time.perf_counter() < until)
        before = memory_now_mb()
        started, worked = time.perf_counter(), time.process_time()
        search = shelf_search.Search((root,), None)
        first: tuple[Playable, ...] = ()
        opened: tuple[Playable, ...] = ()
        while not opened:
            time.sleep(0.001)
            if search.structure and not first:
                drawn(first := search.playables(), search)
                print(f"{'first chips, on the clock':>28} {1e3 * (time.perf_counter() - started):8.1f} ms")
            if search.is_listed:
                drawn(opened := search.playables(), search)
        print(f"{'open, on the clock':>28} {1e3 * (time.perf_counter() - started):8.1f} ms, of one processor "
              f"{1e3 * (time.process_time() - worked):.1f}")
        print(f"{'files that are shown':>28} {len(search.files)} by {len(opened)} chips, {search.left_out} more not")
        until = time.perf_counter() + seconds
        of_blender = [file for file in search.files.values() if file.where.endswith(".fbx")]
        shown = [file.src for file in of_blender[:20]]
        waits = frames(lambda: time.perf_counter() < until and (
            search.shown.show(shown) or search.shown.is_reading() or not search.work.has_ended()), Drawn(search))
        read = sum(file.held is not None for file in search.files.values())
        print(f"{'read, classified':>28} {read}, {len(search.known)} in {seconds} s")
        print(f"{'FBX read, damaged':>28} {sum(file.held is not None for file in of_blender)}, "
              f"{sum(bool(file.problem) for file in of_blender)}")
        told("a frame, reading", waits)
        told("reading nothing", idle)
        for each in sorted(waits, reverse=True)[:10]:
            print(f"{each.ms:28.1f} ms: {each.what}, {each.wait_ms:.1f} on the clock")
        playables = search.playables()
        print(f"{'chips again':>28} {ms(search.playables)[0]:8.1f} ms, drawn "
              f"{ms(lambda: drawn(playables, search))[0]:.1f}")
        for words in ("walk 0012", "walk, wild"):
            shelf.found(playables, words)
            took, found = ms(partial(shelf.found, playables, words))
            print(f"{'search ' + words:>28} {took:8.1f} ms, {len(found)} found")
        print(f"{'memory':>28} {memory_mb() - before:8.1f} MB more")
        print(f"{'end':>28} {ms(search.end)[0]:8.1f} ms")
    finally:
        second_blender.unregister()
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    checkout.run(main)
