"""Run by a Python that has usd-core: tells what OpenUSD makes of damaged files.

python damaged_usd_oracle.py WHOLE FOLDER: prints as JSON, for each file of the folder, "refused", "crashed", "same"
(its joints are where those of WHOLE are, at all times) or "different". Each is opened in a process of its own.
"""

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

WAIT_S = 20
SAME = 1e-6


def evaluated(path: Path) -> list[list[float]]:
    """Return the numbers of all joints' matrices, time by time, with those of the prim that they are in."""
    usd, skel, geom = (importlib.import_module(f"pxr.{name}") for name in ("Usd", "UsdSkel", "UsdGeom"))
    stage = usd.Stage.Open(str(path))
    cache, rigs = skel.Cache(), [prim for prim in stage.Traverse() if prim.IsA(skel.Skeleton)]
    cache.Populate(skel.Root.Find(rigs[0]), usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(skel.Skeleton(rigs[0]))
    animation = query.GetAnimQuery()
    times = animation.GetJointTransformTimeSamples()
    rate = stage.GetTimeCodesPerSecond()
    found = [[float(value) / rate for value in times]]
    for time in times:
        matrices = query.ComputeJointSkelTransforms(usd.TimeCode(time))
        outer = geom.XformCache(usd.TimeCode(time)).GetLocalToWorldTransform(rigs[0])
        found.append([matrix[row][column] for matrix in (*matrices, outer) for row in range(4) for column in range(4)])
    return found


def told(path: Path, whole: list[list[float]]) -> str:
    """Open a file in a process of its own, and return what came of it."""
    child = os.fork()
    if not child:
        signal.alarm(WAIT_S)
        try:
            own = evaluated(path)
            flat, other = ([value for row in each for value in row] for each in (own, whole))
            is_same = len(flat) == len(other) and all(abs(a - b) < SAME for a, b in zip(flat, other, strict=True))
            os._exit(0 if is_same else 1)
        except BaseException:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    code: Any = os.waitstatus_to_exitcode(status)
    return {0: "same", 1: "different", 2: "refused"}.get(code, "crashed")


def main(whole: Path, folder: Path) -> None:
    """Tell of all files."""
    wanted = evaluated(whole)
    print(json.dumps({path.name: told(path, wanted) for path in sorted(folder.iterdir())}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
