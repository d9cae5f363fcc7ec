"""What many characters cost while nothing happens, and while one of them is moved, against Blender's own evaluation.

python3 dev.py bench many [--most-ms MS] [CHARACTERS ...] copies the sample dancer with a score and an Action, and
prints for each number of characters, in milliseconds: the timer's look where nothing has changed; the longest look
after one character was moved; and Blender's own evaluation of that move. Looks are measured in time of the processor,
which other work on the machine does not lengthen. Exits with 1 where a look at rest takes longer than --most-ms.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import bpy
import checkout

import takt
from takt.bridge.scores import following

COUNTS = (1, 16, 17, 64, 200)
LOOKS = 12
_context: Any = bpy.context
_ops: Any = bpy.ops


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="bench many")
    parser.add_argument("counts", metavar="CHARACTERS", type=int, nargs="*")
    parser.add_argument("--most-ms", type=float, default=float("inf"))
    options = parser.parse_args()
    takt.register()
    print(f"Blender {bpy.app.version_string}")
    slowest_ms = 0.0
    for count in options.counts or COUNTS:
        look_ms, moved_ms, own_ms = measured(count)
        print(f"{count:8,} characters: look {look_ms:7.2f} ms, one moved {moved_ms:7.2f} ms, Blender {own_ms:7.2f} ms")
        slowest_ms = max(slowest_ms, look_ms)
    return int(slowest_ms > options.most_ms)


def measured(count: int) -> tuple[float, float, float]:
    """Return milliseconds: a look at rest, the longest look after a move, and Blender's evaluation of the move."""
    armature = crowd(count)
    for _ in range(4 * LOOKS):  # until all is known
        following.look(time.monotonic())
    rest = statistics.median(timed_ms(lambda: following.look(time.monotonic()), time.thread_time) for _ in range(LOOKS))
    moved, own = [], []
    for number in range(LOOKS):
        armature.location.x = 0.01 * number
        own.append(timed_ms(_context.view_layer.update))
        moved.append(timed_ms(lambda: following.look(time.monotonic()), time.thread_time))
    return rest, max(moved), statistics.median(own)


def crowd(count: int) -> bpy.types.Object:
    """Make a scene of copies of the sample dancer; return the first one's armature."""
    _ops.wm.read_factory_settings(use_empty=True)
    return add_crowd(count)


def add_crowd(count: int) -> bpy.types.Object:
    """Add copies of the sample dancer to a scene without objects; return the first one's armature."""
    _ops.takt.add_sample()
    armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    meshes = [ob for ob in bpy.data.objects if ob.type == "MESH"]
    for _ in range(count - 1):
        twin = armature.copy()
        _context.scene.collection.objects.link(twin)
        for mesh in meshes:
            copied: Any = mesh.copy()
            _context.scene.collection.objects.link(copied)
            copied.parent = twin
            for modifier in copied.modifiers:
                if modifier.type == "ARMATURE":
                    modifier.object = twin
    _context.view_layer.update()
    return armature


def timed_ms(work: Callable[[], object], clock_s: Callable[[], float] = time.perf_counter) -> float:
    """Return how long something takes, in milliseconds."""
    began_s = clock_s()
    work()
    return 1e3 * (clock_s() - began_s)


if __name__ == "__main__":
    checkout.run(main)
