"""Two Blenders on one library; the benchmark lets them write for longer."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_nothing_that_two_blenders_write_is_cut_or_lost(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-m", "benchmarks.two_blenders", "--seconds", "2"], cwd=ROOT, check=False,
                         capture_output=True, text=True, timeout=300,
                         env=os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path)})
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    assert "2 at once" in run.stdout and run.stdout.rstrip().endswith("; 0 failures")
