"""Measure what bad input costs: every case is to be refused or read within a second and 500 MB, without a traceback.

dev.py bench hostile [--count N] [--seed N] [--only WORD] [--all] damages N times (2000) each: OGRE skeletons and
meshes, their XML, material scripts, glTF, BVH, RiTE, skeleton maps, scores; then bombs, what multiplies, numbers
beyond all measure, sound that is none, and paths out of the library; sound files, which Blender decodes; and .blend
files, which a second Blender reads. Prints for each family how many inputs were read and how many refused, the longest
time of the processor and the highest memory: for .blend files the time that passes, and the second Blender's memory;
for sound files the memory above Blender's own, which is more on some machines. "slow" is what takes over a second;
SLOW_S_OF names the two families that may take longer, and why.
Exits with 1 after a traceback, too much memory, or a case that blocks. --seed: damages otherwise; --only: the families
whose names hold a word. --all: afterwards also what else nothing may stop, each by its own command: writing that fails
or is killed, two Blenders on one library, 200 characters, and 300 times 40 random steps of operators. Only
beats_of_many wants a window, and so a Blender with one.
The files that are damaged are Sinbad's from TAKT_DATA where that is there, else small ones of our own.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import checkout

from takt.core.errors import TaktError
from takt.core.formats import ogre_xml
from takt.samples.clip_files import LIBRARY
from takt.tests.core import hostile
from takt.tests.core.ogre_cases import small
from takt.tests.core.test_ogre_mesh import body, mesh, xml

MEMORY_MIB = 500
SLOW_S = 1.0
BLEND = ".blend, cut and changed"
SOUND = "sound files, through Blender"
SLOW_S_OF = {BLEND: 6.0, ".pha, folders": 1.5}
"""What may honestly take longer: a second Blender starts again after each that a file has ended; and 100,000 elements
are read before the rest of a score's files is refused."""
ROW_ENDS = (" MiB", "  slow", "  too much")
BLOCKED_S = 60
OTHERS = {
    "writing that fails or is killed": ("pytest", "-q", "-p", "no:cacheprovider", "tests/core/test_whole_files.py"),
    "two Blenders on one library": ("benchmarks.two_blenders",),
    "200 characters": ("benchmarks.many", "--most-ms", "10", "200"),
    "random steps": ("benchmarks.random_steps", "--summary"),
}
"""What else nothing may stop, and the modules that show it."""
BLENDERS_OWN = ("Info:", "Warning:", "Error:", "WARN", "ERROR", "Read ", "Saved ")
LINES_SHOWN = 12
OWN_SKELETON = LIBRARY / "dance" / "Moves.skeleton"
MATERIAL = """material Base { technique { pass { diffuse 1 0.5 0 1 } } }
material Skin : Base { technique { pass { texture_unit { texture skin.png } } } }
"""


def main(arguments: list[str]) -> int:
    """Run every family in a process of its own and print what came of it."""
    parser = argparse.ArgumentParser(prog="bench hostile")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="another one damages otherwise")
    parser.add_argument("--only", metavar="WORD", default="", help="the families whose names hold this")
    parser.add_argument("--family", action="append", help=argparse.SUPPRESS)
    parser.add_argument("--said", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--all", action="store_true", help="also what else nothing may stop")
    options = parser.parse_args(arguments)
    hostile.SEED = options.seed
    families = families_of(options.count)
    if options.family:
        cases = list[tuple[float, str]]()
        failed = [try_all(families[name](), name, cases) for name in options.family]
        if options.said:
            options.said.write_text(json.dumps(cases), encoding="utf-8")
        return max(failed)
    sys.stdout.write(f"{'':32} {'inputs':>6} {'read':>6} {'refused':>7} {'longest':>8} {'memory':>8}\n")
    has_failed, total, slowest, most = False, 0, 0.0, 0
    for name in (name for name in families if options.only in name):
        sys.stdout.write(f"{name:32} ")
        sys.stdout.flush()
        run = subprocess.run([sys.executable, "-m", "benchmarks.hostile", "--count", str(options.count), "--seed",
                              str(options.seed), "--family", name], stdout=subprocess.PIPE, text=True, check=False)
        # Blender itself may print lines of its own.
        found = next((line for line in run.stdout.splitlines() if line.endswith(ROW_ENDS)), "no figures\n" + run.stdout)
        sys.stdout.write(f"{found}\n")
        has_failed |= run.returncode != 0
        if run.returncode == 0:
            count, _, _, seconds, _, memory = found.split()[:6]
            total, slowest, most = total + int(count), max(slowest, float(seconds)), max(most, int(memory))
    sys.stdout.write(f"{'all of them':32} {total:6} {'':14} {slowest:6.3f} s {most:4} MiB\n")
    return int(has_failed | (options.all and not _others_pass()))


def _others_pass() -> bool:
    """Run what else is to go well, print its last lines, and tell whether all did."""
    passed = True
    for name, command in OTHERS.items():
        run = subprocess.run([sys.executable, "-m", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        said = [line for line in run.stdout.splitlines() if line.strip() and not line.startswith(BLENDERS_OWN)]
        shown = said[-LINES_SHOWN:] if run.returncode else said[-1:]
        sys.stdout.write(f"{name:32} {'passed' if run.returncode == 0 else 'FAILED'}: {shown[0] if shown else ''}\n")
        sys.stdout.write("".join(f"{'':34}{line}\n" for line in shown[1:]))
        sys.stdout.flush()
        passed &= run.returncode == 0
    return passed


def families_of(count: int) -> dict[str, Callable[[], Iterator[hostile.Case]]]:
    """Return all families; count: how many cases of those that are drawn."""
    data = Path(os.environ.get("TAKT_DATA", ".")) / "ogre"
    skeleton, character = data / "Sinbad.skeleton", data / "Sinbad.mesh"
    found = hostile.families(count, (skeleton if skeleton.exists() else OWN_SKELETON).read_bytes(),
                             ogre_xml.write(small()), character.read_bytes() if character.exists() else mesh(*body()),
                             xml(), MATERIAL)
    return found | {SOUND: partial(_sounds, count), BLEND: partial(_blends, count)}


def _sounds(count: int) -> Iterator[hostile.Case]:
    import bpy  # noqa: F401  # it brings aud along

    from . import hostile_sounds  # as hostile_blends

    return hostile_sounds.damaged(count)


def _blends(count: int) -> Iterator[hostile.Case]:
    from . import hostile_blends  # in its own family alone: Blender itself takes much of the memory that is measured

    return hostile_blends.damaged(count)


def try_all(cases: Iterator[hostile.Case], family: str = "", told: list[tuple[float, str]] | None = None) -> int:
    """Try all cases of a family; return 0 if all went well. A case that blocks ends the process.

    told: gets the seconds of each case and its message, which is empty for a case that is read.
    """
    read = refused = 0
    longest, own_mib = 0.0, 0
    for case in cases:
        if family == SOUND and not read + refused:
            own_mib = _mib_of("VmRSS")
        try:
            seconds, message = _timed(case, time.perf_counter if family == BLEND else time.process_time)
        except BaseException:
            traceback.print_exc()
            return 1
        read, refused, longest = read + (not message), refused + bool(message), max(longest, seconds)
        if told is not None:
            told.append((seconds, message))
    # Not ru_maxrss, which a process takes over from the one that started it.
    memory = _peak_elsewhere_mib() if family == BLEND else _mib_of("VmHWM") - own_mib
    is_slow = longest > SLOW_S_OF.get(family, SLOW_S)
    sys.stdout.write(f"{read + refused:6} {read:6} {refused:7} {longest:6.3f} s {memory:4} MiB"
                     f"{'  slow' if is_slow else ''}{'  too much' if memory > MEMORY_MIB else ''}\n")
    sys.stdout.flush()
    return int(memory > MEMORY_MIB)


def _timed(case: hostile.Case, clock: Callable[[], float]) -> tuple[float, str]:
    """Return how long a case took, and why it was refused; the reason is empty if it was read."""
    signal.alarm(BLOCKED_S)  # ends the process
    begin, message = clock(), ""
    try:
        case()
    except TaktError as error:
        message = str(error) or type(error).__name__
    finally:
        signal.alarm(0)
    return clock() - begin, message


def _peak_elsewhere_mib() -> int:
    """Return the peak of the second Blenders."""
    from takt.bridge.files import second_blender

    return second_blender.peak_bytes >> 20


def _mib_of(line: str) -> int:
    """Return a line of what the system tells of this process's memory; 0 where it does not tell."""
    status = Path("/proc/self/status")
    found = status.read_text().splitlines() if status.exists() else []
    return next((int(told.split()[1]) // 1024 for told in found if told.startswith(line)), 0)


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
