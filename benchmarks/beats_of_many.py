"""How evenly Blender's window goes on with many scored characters: the beats of a timer of 0.05 s.

blender --factory-startup --python benchmarks/beats_of_many.py -- [CHARACTERS [SECONDS]], with a desktop Blender. It
makes 200 copies of the sample's dancer with a score, waits until all is known, and prints the median and the longest
time between two beats in 20 s: while nothing happens, and while one character is moved at each beat; then both again
with Takt switched off, so that what Blender itself takes is known, and the load of the processor beside them. Bodies
are shown as bounds, as drawing so many would hide what Takt costs. Exits with 1 where the median at rest is longer
than 0.06 s.
"""

import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401

import takt
from takt.benchmarks.many import add_crowd

BEAT_S, MOST_S, SETTLED_S = 0.05, 0.06, 20.0
_context: Any = bpy.context


def main() -> None:
    """Begin."""
    given = [int(each) for each in sys.argv[sys.argv.index("--") + 1:]] if "--" in sys.argv else []
    count, seconds = (*given, 200, 20)[:2] if len(given) < 2 else given[:2]
    _context.preferences.view.show_splash = False
    takt.register()
    bpy.data.batch_remove(list(bpy.data.objects))
    steps = _measured(count, float(seconds))
    bpy.app.timers.register(lambda: next(steps, None), first_interval=1.0, persistent=True)


def _measured(count: int, seconds: float) -> Iterator[float]:
    """Make the crowd, and print what was measured; yield how long to wait."""
    window = _context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    with _context.temp_override(window=window, area=area):
        armature: Any = add_crowd(count)
    for ob in bpy.data.objects:
        ob.display_type = "BOUNDS"
    yield SETTLED_S
    medians = list[float]()
    for what in ("at rest", "one moved", "at rest, without Takt", "one moved, without Takt"):
        if what == "at rest, without Takt":
            takt.unregister()
            yield 1.0
        beats, last, until_s = list[float](), time.perf_counter(), time.perf_counter() + seconds
        while last < until_s:
            if what.startswith("one moved"):
                armature.location.x += 0.01
            yield BEAT_S
            now = time.perf_counter()
            beats.append(now - last)
            last = now
        medians.append(statistics.median(beats))
        load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors" if hasattr(os, "getloadavg") else "unknown"
        print(f"Blender {bpy.app.version_string}: {count} characters, {what}: beats of {BEAT_S} s, median "
              f"{medians[-1]:.4f} s, longest {max(beats):.3f} s of {len(beats)}; load {load}", flush=True)
    os._exit(int(medians[0] > MOST_S))


main()
