"""The judge that bends joints: what it finds on bodies whose faults are known."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from takt.benchmarks.weights import body_of
from takt.core.binding import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.sweep import Sweep, sweep
from takt.core.errors import TaktError

from .bodies import figure, limb, split

SHARED = Path(os.environ.get("TAKT_DATA", Path(__file__).resolve().parents[2] / ".." / "shared" / "data"))
SAME = 1e-9


def smooth(body: BindInput) -> np.ndarray:
    """Weights that change evenly from the first bone to the second about z = 2."""
    second = np.clip((body.vertices[:, 2] - 1.5), 0.0, 1.0)
    return np.stack((1.0 - second, second), axis=1)


def test_an_even_limb_is_not_broken() -> None:
    found = sweep(limb(), smooth(limb()))
    assert found.joints == 1 and found.flying == found.leaks == found.tears == 0.0
    assert found.flips < 5.0 and 1.0 < found.stretch < 3.0 and 0.0 < found.volume < 60.0


def test_a_stray_vertex_flies_in_every_pose_and_is_named() -> None:
    body = limb(rings=40)
    weights = smooth(body)
    stray = int(np.argmin(np.abs(body.vertices[:, 2] - 3.6)))
    weights[stray] = (1.0, 0.0)
    found = sweep(body, weights)
    assert found.flying > 0.0 and found.broken.argmax() == stray and found.broken[stray] == 6


def test_an_open_seam_tears_and_a_closed_one_does_not() -> None:
    body, source = split(limb())
    weights = smooth(limb())[source]
    assert sweep(body, weights).tears == 0.0
    weights[0] = weights[0, ::-1]
    assert sweep(body, weights).tears > 0.0


def test_what_follows_another_limb_leaks() -> None:
    body = figure()
    weights = bind_inside_distance(body).dense(len(body.bone_names))
    owners = weights.argmax(axis=1)
    assert sweep(body, weights, owners).leaks < 5.0
    left, right = (body.bone_names.index(name) for name in ("shin.L", "shin.R"))
    wrong = weights.copy()
    wrong[:, right] += 0.3 * weights[:, left]
    wrong[:, left] *= 0.7
    found = sweep(body, wrong, owners)
    assert found.leaks > 10.0 and found.broken[owners == left].max() > 0


def test_scale_and_the_sum_of_rows_make_no_difference() -> None:
    body, weights = figure(), np.random.default_rng(3).random((len(figure().vertices), len(figure().bone_names)))
    large = BindInput(body.vertices * 50, body.face_vertices, body.face_sizes, body.part, body.bone_names,
                      body.bone_parents, body.heads * 50, body.tails * 50)
    one, other = sweep(body, weights), sweep(large, weights * 7)
    assert _columns(one) == pytest.approx(_columns(other), rel=1e-6) and (one.broken == other.broken).mean() > 0.99


def test_bodies_without_joints_faces_or_weights() -> None:
    body = limb()
    lone = BindInput.from_arrays(body.vertices, [], ["one"], [-1], [[0, 0, 0]], [[0, 0, 4]])
    assert sweep(lone, np.ones((len(body.vertices), 1))).joints == 0
    found = sweep(body, np.zeros((len(body.vertices), 2)), np.arange(len(body.vertices)) % 2)
    assert found.joints == 1 and found.flips == found.flying == 0.0 and found.stretch == 1.0


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(TaktError, match=r"weights have shape \(3, 2\), expected"):
        sweep(limb(), np.ones((3, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Fox", "Q_Horse", "Q_Skeleton"])
def test_it_agrees_with_the_judge_beside_the_data(name: str) -> None:
    path, tool = SHARED / "bind" / f"{name}.npz", SHARED.parent / "tools" / "sweep_weights.py"
    if not (path.exists() and tool.exists()):
        pytest.skip(f"no characters in {SHARED}")
    judge = _module(tool)
    case = judge.score_weights.load(path)
    weights = bind_inside_distance(body_of(case)).dense(len(case.bone_names))
    wanted = judge.sweep(case, weights)
    found = sweep(body_of(case), weights, case.weights.argmax(axis=1))
    assert found.joints == wanted["joints"]
    assert _columns(found) == pytest.approx([wanted[column] for column in judge.COLUMNS], abs=SAME, rel=SAME)


def _columns(found: Sweep) -> list[float]:
    return [found.flips, found.stretch, found.volume, found.flying, found.leaks, found.tears]


def _module(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
