"""X3D as X_ITE plays it in Chromium: joints and skin of made bodies, both ways in which motion is written."""

from pathlib import Path

import numpy as np
import pytest

from takt.benchmarks import x_ite_player
from takt.core.formats import x3d
from takt.core.formats.x3d_write import X3dFile, write
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.tests.beside import missing
from takt.tests.core.test_x3d_write import BODY, dance, skin, textured

JOINTS_M, SKIN_M = 1e-4, 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("as_frames", [False, True])
def test_joints_and_skin_are_where_x_ite_has_them(as_frames: bool) -> None:
    if x_ite_player.missing():
        missing(x_ite_player.missing())
    made = textured() if as_frames else skin()
    data = write(X3dFile(BODY, (dance(9, frames=40),), skin=made, as_frames=as_frames), 30.0)
    found = x_ite_player.played(data)
    assert "error" not in found, found["error"]
    (clip,) = x3d.read(data, Path("a.x3d")).clips
    assert x_ite_player.farthest(clip, found["frames"]) < JOINTS_M
    times = np.array(x_ite_player.SHARES) * clip.duration_s
    palette = Palette.from_pose(clip.skeleton, clip.sample(times))
    wanted, _ = skin_linear(palette, made.influences, made.positions, made.normals)
    moved = np.array(found["skin"]).reshape(len(times), -1, 3)[:, :len(made.positions)]
    assert np.linalg.norm(moved - wanted, axis=2).max() < SKIN_M
