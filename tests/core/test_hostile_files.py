"""Everything that hurts, a little of it: no traceback, no more memory than allowed. The benchmark tries thousands."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from takt.benchmarks import hostile as hostile_bench
from takt.core.errors import TaktError
from takt.core.formats import FORMATS
from takt.core.formats.format import _Checked as Checked
from takt.tests.core import hostile
from takt.tests.core.hostile_runs import ROOT, SAID_FAMILIES, hostile_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes and devices to try")


ALONE = (hostile_bench.SOUND, hostile_bench.BLEND)
"""Their memory is measured by other rules."""
TOGETHER = [name for name in hostile_bench.families_of(1) if name not in (*ALONE, *SAID_FAMILIES)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("families", [*(TOGETHER[k::8] for k in range(8)), *([name] for name in ALONE)], ids=str)
def test_every_family_is_read_or_refused_within_memory(families: list[str]) -> None:
    run = hostile_run(*(argument for name in families for argument in ("--family", name)), "--count", "20")
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    rows = re.findall(r"^ *\d+ +\d+ +(\d+) +[\d.]+ s +(\d+) MiB", run.stdout, re.MULTILINE)
    assert len(rows) == len(families), run.stdout
    for family, (refused, mib) in zip(families, rows, strict=True):
        assert int(refused) > 0 or family in (".material", "sounds")  # these pass over what they do not know
        assert int(mib) > 10 or family == hostile_bench.SOUND


@pytest.mark.slow
def test_the_bench_tries_all_families_and_those_that_are_named() -> None:
    assert len(hostile_bench.families_of(1)) >= 43
    run = hostile_run("--only", ".usdc", "--count", "1")
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    assert re.findall(r"^(\.usdc\S.*?) {2,}\d", run.stdout, re.MULTILINE) == [
        name for name in hostile_bench.families_of(1) if ".usdc" in name]


def test_every_family_that_is_left_out_here_is_tried_elsewhere() -> None:
    assert set(SAID_FAMILIES) < hostile_bench.families_of(1).keys()
    folder = Path(__file__).parent
    others = "".join((folder / f"test_hostile_{name}.py").read_text(encoding="utf-8") for name in ("scores", "motion"))
    assert [name for name in SAID_FAMILIES if f'"{name}"' not in others] == []


def test_every_format_is_tried_with_broken_files() -> None:
    """See the recipe in CONTRIBUTING.md; a format without a family must at least share its reader with one that has."""
    tried = {ending for name in hostile_bench.families_of(1) for ending in re.findall(r"\.[a-z0-9.]+", name)}
    read = {name: entry.read.read for name, entry in FORMATS.items() if isinstance(entry.read, Checked)}
    readers = {read[name] for name in read if not tried.isdisjoint(FORMATS[name].endings)}
    left = [name for name, reader in read.items() if reader not in readers]
    assert left == [], f"add broken files of {', '.join(left)} to tests/core/hostile_formats.py"


def test_what_lies_outside_is_never_read() -> None:
    """Nothing that is asked for beyond the library is there to be called, and no message holds what stands in it."""
    read, refused = 0, 0
    for case in hostile.paths_out():
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

    assert hostile_bench.try_all(iter([crash])) == 1
    assert "KeyError" in capfd.readouterr().err
    assert signal.alarm(0) == 0  # nothing ends this process later


BLOCKING = """
import pathlib, sys
import checkout
from takt.benchmarks import hostile
hostile.BLOCKED_S = 1
hostile.try_all(iter([pathlib.Path(sys.argv[1]).read_bytes]))
"""


@pytest.mark.slow
def test_the_bench_fails_where_a_case_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    run = subprocess.run([sys.executable, "-c", BLOCKING, str(tmp_path / "pipe")], cwd=ROOT, check=False, timeout=60)
    assert run.returncode == -signal.SIGALRM
