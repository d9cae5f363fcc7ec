"""The benchmark of hostile input, run as a process of its own, so that its memory can be measured."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOON_S = 6.0
"""Of the processor, for each case of said(), where others share it; alone it takes less than a second."""
SAID_FAMILIES = (".pha, values", ".pha, expressions", ".pha, masks and tempo", ".pha, calls", ".pha, folders",
                 ".gltf, multiplied", ".bvh, multiplied")
"""Tests look at what is said of each case of these: test_hostile_scores.py, test_hostile_motion.py."""


def hostile_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark."""
    return subprocess.run([sys.executable, "-m", "benchmarks.hostile", *arguments], cwd=ROOT, capture_output=True,
                          text=True, check=False, timeout=1200)


def said(family: str, names: Sequence[str], folder: Path) -> dict[str, str]:
    """Try a family; return the message of each case by name, "" for one that is read.

    Fails after a traceback, and where a case takes too long or too much memory. names: of all cases, in their order.
    folder: for a file.
    """
    assert family in SAID_FAMILIES
    path = folder / "said.json"
    run = hostile_run("--family", family, "--said", str(path))
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    found = dict(zip(names, json.loads(path.read_text(encoding="utf-8")), strict=True))
    assert {name: seconds for name, (seconds, _) in found.items() if seconds > SOON_S} == {}
    return {name: message for name, (_, message) in found.items()}


def check_said(messages: Mapping[str, str], expected: Mapping[str, str], shorter_than: int) -> None:
    """Check that messages are short, and those of expected cases as these patterns say; "" for one that is read."""
    for name, message in messages.items():
        assert len(message) < shorter_than
        if name in expected:
            assert bool(message) == bool(expected[name]), f"{name}: {message[:300]}"
            assert re.search(expected[name], message), f"{name}: {message[:300]}"
