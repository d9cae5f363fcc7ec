"""Meshes as their files bind them, moved by our skinning and by OGRE's own: one sees the same."""

import numpy as np
import pytest

from takt.core.formats import ogre_binary, ogre_mesh_binary
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.tests.core.ogre_cases import sinbad, skinned_by_ogre

OGRE_UNITS = 1e-4
"""Of a character ten units tall."""


@pytest.mark.ogre
@pytest.mark.parametrize("name", ["Dance", "RunBase", "SliceVertical", "JumpStart"])
def test_vertices_are_where_ogre_puts_them(name: str) -> None:
    path = sinbad()
    ogre = ogre_binary.read(path.read_bytes())
    mesh = path.with_name("Sinbad.mesh")
    whole = ogre_mesh_binary.read(mesh.read_bytes()).whole()
    clip = next(clip for clip in ogre.played if clip.name == name)
    times = np.linspace(0.0, clip.duration_s, 5)
    theirs = skinned_by_ogre(mesh, name, times.tolist())
    palette = Palette.from_pose(ogre.skeleton, clip.sample(times))
    ours, _ = skin_linear(palette, whole.influences(ogre.skeleton, ogre.handles), whole.positions, whole.positions)
    assert theirs.shape == ours.shape
    assert np.abs(theirs[1:] - theirs[:1]).max() > 0.5  # it does move
    np.testing.assert_allclose(ours, theirs, atol=OGRE_UNITS)
