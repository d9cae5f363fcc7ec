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
from takt.tests.core.test_x3d_primitives import shape
from takt.tests.core.test_x3d_write import BODY, dance, skin, textured

JOINTS_M, SKIN_M = 1e-4, 1e-3


SHAPES = (
    '<Box size="1 2 3"/>', '<Extrusion/>',
    '<ElevationGrid xDimension="3" zDimension="2" xSpacing="2" height="0 1 0, 0 1 0"/>',
    '<Extrusion crossSection="1 0.5, 1 -1, -1 -1, -1 1, 1 0.5" spine="0 0 0, 1 2 2, 1 5 2, -1 7 1" '
    'scale="1 1, 0.5 2, 1 1, 2 1" orientation="0 1 0 0.3, 0 1 0 0.6, 1 0 0 0.2, 0 0 1 0.4"/>',
    '<Extrusion spine="0 0 0, 0 0 2, 0 0 5"/>', '<Extrusion spine="1 0 0, 0 0 -1, -1 0 0, 0 0 1, 1 0 0" '
    'crossSection="0.1 0.1, 0.1 -0.1, -0.1 -0.1, -0.1 0.1, 0.1 0.1" beginCap="false" endCap="false"/>',
    '<Cone bottomRadius="2" height="3"/>', '<Cylinder radius="0.5" height="3"/>', '<Sphere radius="2"/>')
"""Spines have points as far from each other, since X_ITE takes the direction between two unit vectors for that between
two points."""
ROUND = 0.05


@pytest.mark.slow
def test_shapes_are_those_that_x_ite_makes() -> None:
    """Corner for corner where they have corners, as large where they are round; faces look the same way."""
    if x_ite_player.missing():
        missing(x_ite_player.missing())
    scene = "".join(f"<Shape>{each}</Shape>" for each in SHAPES)
    found = x_ite_player.shapes(f'<X3D profile="Full" version="4.0"><Scene>{scene}</Scene></X3D>'.encode())
    assert "error" not in found, found["error"]
    for text, corners in zip(SHAPES, found["shapes"], strict=True):
        ours, theirs = shape(text), np.array(corners).reshape(-1, 3, 3)
        own = ours.positions[ours.triangles]
        apart = np.linalg.norm(own.reshape(-1, 1, 3) - theirs.reshape(1, -1, 3), axis=2)
        if not text.startswith(("<Cone", "<Cyl", "<Sph")):  # which X_ITE makes of others
            assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-5, text
        for each in (np.min, np.max):
            np.testing.assert_allclose(each(own, axis=(0, 1)), each(theirs, axis=(0, 1)), atol=ROUND)
        volumes = [float((a * np.cross(b, c)).sum() / 6.0) for a, b, c in (each.swapaxes(0, 1)
                                                                           for each in (own, theirs))]
        assert volumes[0] == pytest.approx(volumes[1], rel=ROUND, abs=1e-5), text


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
