"""Everything that hurts, a little of it: no traceback, no more memory than allowed. The benchmark tries thousands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from takt.benchmarks import hostile as hostile_bench
from takt.core.errors import TaktError
from takt.tests.core import hostile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes, devices and forks to try")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_every_family_is_read_or_refused_within_memory() -> None:
    run = subprocess.run([sys.executable, "-m", "benchmarks.hostile", "--count", "40"], cwd=ROOT, capture_output=True,
                         text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    rows = re.findall(r"^(\S.*?) +(\d+) +(\d+) +(\d+) +[\d.]+ s +(\d+) MiB", run.stdout, re.MULTILINE)
    assert len(rows) == 12
    refused = {name: int(count) for name, _, _, count, _ in rows}
    assert all(count > 0 for name, count in refused.items() if name != ".material")  # which passes mistakes over
    assert all(int(memory) > 10 for *_, memory in rows)


def test_what_lies_outside_is_never_read() -> None:
    """Nothing that is asked for beyond the library is there to be called, and no message holds what stands in it."""
    read, refused = 0, 0
    for case in hostile.ways_out():
        try:
            case()
            read += 1
        except TaktError as error:
            refused += 1
            assert "root:" not in str(error)
    assert (read, refused) == (1, 46)  # the circles and diamonds alone


def test_the_bench_fails_after_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    def crash() -> None:
        raise KeyError("x")

    assert not hostile_bench.run_family(lambda: iter([crash]))
    assert "KeyError" in capfd.readouterr().err


def test_the_bench_fails_where_a_case_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hostile_bench, "BLOCKED_S", 1)
    os.mkfifo(tmp_path / "pipe")
    assert not hostile_bench.run_family(lambda: iter([(tmp_path / "pipe").read_bytes]))
