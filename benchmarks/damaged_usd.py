"""How many damaged USD crates Takt refuses or warns of, beside OpenUSD: bench damaged_usd [--count N] [--bytes N].

OpenUSD makes files, of which N copies each (150) get some bytes (20) changed at random. Prints for each file how many
copies play as before, how many are refused, how many are warned of, and how many play otherwise without a word; and
what OpenUSD makes of the same copies. Wants usd-core: dev.py installs it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np

from takt.benchmarks import damaged_usd_oracle
from takt.benchmarks.timing import say
from takt.core.clips.clip_file import ClipFile
from takt.core.errors import TaktError
from takt.core.formats import usd
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core import test_usd_core

FILES: Final = ("plain.usdc", "inches.usdc", "large.usdc", "moving.usdc", "whole.usdc")
SAME: Final = 1e-6


def damaged(data: bytes, seed: int, changed: int) -> bytes:
    """Return a copy with some bytes changed."""
    rng = np.random.default_rng(seed)
    found = np.frombuffer(data, np.uint8).copy()
    places = rng.choice(len(found), changed, replace=False)
    found[places] ^= rng.integers(1, 256, changed).astype(np.uint8)
    return found.tobytes()


def is_same(found: ClipFile, whole: ClipFile) -> bool:
    """Tell whether a file plays as the undamaged one."""
    if [len(clip.skeleton) for clip in found.clips] != [len(clip.skeleton) for clip in whole.clips]:
        return False
    for one, other in zip(found.clips, whole.clips, strict=True):
        times = np.linspace(0.0, other.duration_s, 60)
        if abs(one.duration_s - other.duration_s) > SAME or one.skeleton.names != other.skeleton.names:
            return False
        a, b = (world_from_pose(each.skeleton, each.sample(times)) for each in (one, other))
        if not np.abs(a - b).max() < SAME:
            return False
    return True


def outcome(data: bytes, whole: ClipFile) -> str:
    """Return what Takt makes of a file."""
    try:
        found = usd.read(data, Path("a.usdc"))
    except TaktError:
        return "refused"
    if found.warnings != whole.warnings:
        return "warned"
    return "same" if is_same(found, whole) else "different"


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="bench damaged_usd")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--bytes", type=int, default=20)
    options = parser.parse_args(arguments)
    python = os.environ.get("TAKT_USD_PYTHON", "none")
    if python == "none":
        say("TAKT_USD_PYTHON names no Python that has usd-core")
        return 2
    say(f"{options.count} copies each, {options.bytes} bytes changed")
    with tempfile.TemporaryDirectory() as name:
        made, copies = Path(name) / "made", Path(name) / "copies"
        made.mkdir()
        test_usd_core.told(python, made)
        for file in FILES:
            copies.mkdir()
            data = (made / file).read_bytes()
            whole = usd.read(data, Path(file))
            ours = Counter[str]()
            for seed in range(options.count):
                copy = damaged(data, seed, options.bytes)
                (copies / f"{seed:04}.usdc").write_bytes(copy)
                ours[outcome(copy, whole)] += 1
            run = subprocess.run([python, damaged_usd_oracle.__file__, str(made / file), str(copies)], check=True,
                                 capture_output=True)
            theirs = Counter[str](json.loads(run.stdout.splitlines()[-1]).values())
            for who, counts in (("Takt", ours), ("OpenUSD", theirs)):
                said = ", ".join(f"{kind} {counts[kind]}" for kind in ("same", "refused", "warned", "crashed",
                                                                       "different"))
                say(f"{file:12} ({len(data):6} bytes) {who:8} {said}")
            for path in copies.iterdir():
                path.unlink()
            copies.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
