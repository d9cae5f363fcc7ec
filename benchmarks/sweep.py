"""Bend every joint of bound characters and count what looks broken: the artists' weights beside the default method's.

    python -m benchmarks.sweep [folder of .npz cases]

Prints a line for each character and set of weights with the columns of `takt.core.binding.sweep.Sweep`, then the means.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from takt.benchmarks.weights import Case, body_of, default
from takt.core.binding.sweep import Sweep, sweep

_COLUMNS = ("flips", "stretch", "volume", "flying", "leaks", "tears")


def values(found: Sweep) -> list[float]:
    """Return the columns that are printed."""
    return [float(getattr(found, name)) for name in _COLUMNS]


def main(arguments: list[str]) -> int:
    """Print the table."""
    shared = Path(os.environ.get("TAKT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    folder = Path(arguments[0]) if arguments else shared / "bind"
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        print(f"no .npz case in {folder}", file=sys.stderr)
        return 2
    print(" " * 28 + "".join(f"{name:>9}" for name in _COLUMNS))
    rows: dict[str, list[list[float]]] = {"artist": [], "Takt": []}
    for path in paths:
        case = Case.load(path)
        body, owners = body_of(case), case.weights.argmax(axis=1)
        for whose, weights in (("artist", case.weights), ("Takt", default(case))):
            found = sweep(body, weights, owners)
            if found.joints:
                rows[whose].append(values(found))
            print(_line(path.stem, whose, values(found)), flush=True)
    for whose, own in rows.items():
        print(_line(f"mean of {len(own)}", whose, np.mean(own, axis=0).tolist()))
    return 0


def _line(name: str, whose: str, row: list[float]) -> str:
    return f"{name:20} {whose:7}" + "".join(f"{value:9.3f}" for value in row)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
