"""USD as OpenUSD itself evaluates it: joints of skeletons in all encodings, axes, units and ways of sampling."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.formats import usd
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.beside import usd_python
from takt.tests.core import usd_oracle

SAME_M, SAME_AXES = 1e-4, 1e-4


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Let OpenUSD make all files, and say where their joints are."""
    folder = tmp_path_factory.mktemp("usd")
    return folder, told(usd_python(), folder)


def told(python: str, folder: Path) -> dict[str, Any]:
    """Let OpenUSD, in a Python of its own, make files in a folder; return what it says about each."""
    run = subprocess.run([python, usd_oracle.__file__, str(folder)], check=True, capture_output=True, text=True,
                         timeout=120)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def world(clip: Clip, joints: list[str], seconds: list[float]) -> FloatArray:
    """Return matrices (F, J, 3, 4) of joints by their paths."""
    own = [clip.skeleton.index_of[path.rpartition("/")[2]] for path in joints]
    return world_from_pose(clip.skeleton, clip.sample(np.array(seconds), "SLERP"))[:, own]


def apart(clip: Clip, name: str, found: dict[str, Any]) -> float:
    """Return by how much distances between joints, at all times, differ from those that OpenUSD has, in metres."""
    theirs = np.array(found["rig"])[:, None] @ np.array(found["matrices"])
    ours = world(clip, found["joints"], [min(each, clip.duration_s) for each in found["seconds"]])
    places, wanted = ours[..., 3].reshape(-1, 3), theirs[..., :3, 3].reshape(-1, 3)
    between, between_wanted = (np.linalg.norm(each[:, None] - each, axis=2) for each in (
        places, float(usd_oracle.CASES[name].get("unit", 1.0)) * wanted))
    return float(np.abs(between - between_wanted).max())


@pytest.mark.parametrize("name", list(usd_oracle.CASES))
def test_joints_are_where_openusd_has_them(cases: tuple[Path, dict[str, Any]], name: str) -> None:
    """But for one turn and one way, which are the same for all joints at all times."""
    folder, files = cases
    case, found = usd_oracle.CASES[name], files[name]
    file = usd.read((folder / name).read_bytes(), Path(name))
    (clip,), said = file.clips, file.warnings
    assert said == ()  # what is whole is not taken for damaged
    unit, axis = float(case.get("unit", 1.0)), "XYZ".index(str(case.get("up", "Y")))
    theirs = np.array(found["rig"])[:, None] @ np.array(found["matrices"])
    ours = world(clip, found["joints"], [min(each, clip.duration_s) for each in found["seconds"]])
    places, wanted = ours[..., 3].reshape(-1, 3), unit * theirs[..., :3, 3].reshape(-1, 3)
    assert apart(clip, name, found) < SAME_M
    np.testing.assert_allclose(places[:, 1] - places[0, 1], wanted[:, axis] - wanted[0, axis], atol=SAME_M)
    axes, axes_wanted = (each[..., :3, :3].reshape(-1, 3, 3) for each in (ours, theirs))
    np.testing.assert_allclose(axes[0].T @ axes, axes_wanted[0].T @ axes_wanted, atol=SAME_AXES)
    assert clip.duration_s == pytest.approx((int(case.get("samples", 21)) - 1) / float(case.get("fps", 24.0)))
