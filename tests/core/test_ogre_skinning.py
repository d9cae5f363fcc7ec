"""Meshes as their files bind them, moved by our skinning and by OGRE's own: one sees the same."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from takt.core.formats import ogre_binary, ogre_mesh_binary, ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.formats.ogre_mesh import Geometry, OgreMesh, Submesh, Weights
from takt.core.formats.ogre_mesh_write import write_binary, write_xml
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.samples.clips import build_clips
from takt.tests.beside import ogre_converter
from takt.tests.core.ogre_cases import sinbad, skinned_by_ogre

OGRE_UNITS = 1e-4
"""Of a character ten units tall."""
WRITTEN_M = 1e-5


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


@pytest.mark.ogre
@pytest.mark.parametrize("is_xml", [False, True])
def test_what_is_written_is_moved_by_ogre_as_by_us(tmp_path: Path, is_xml: bool) -> None:
    """A skin around the sample's bones with weights by distance; as XML, by way of OGRE's converter."""
    rng = np.random.default_rng(5)
    clip = next(each for each in build_clips("dance/Moves.skeleton") if each.name == "jump")
    skeleton = OgreSkeleton.of(clip.skeleton, (clip,))
    at = clip.skeleton.rest_world[:, :, 3]
    positions = (at[:, None] + rng.normal(size=(len(at), 6, 3)) * 0.05).reshape(-1, 3)
    near = np.argsort(np.linalg.norm(positions[:, None] - at[None], axis=-1), axis=1)[:, :4]
    values = rng.uniform(0.1, 1.0, near.shape)
    weights = Weights(np.repeat(np.arange(len(positions)), 4), near.ravel(), values.ravel())
    normals = np.tile((0.0, 1.0, 0.0), (len(positions), 1))
    mesh = OgreMesh((Geometry(positions, normals, None, weights),),
                    (Submesh("skin", "Skin", 0, np.arange(len(positions) // 3 * 3).reshape(-1, 3)),), "body.skeleton")
    if is_xml:
        converter = ogre_converter()
        (tmp_path / "body.mesh.xml").write_bytes(write_xml(mesh))
        (tmp_path / "body.skeleton.xml").write_bytes(ogre_xml.write(skeleton))
        for name in ("body.mesh", "body.skeleton"):
            subprocess.run([converter, "-q", "-o", f"{name}.xml", name], cwd=tmp_path, check=True, timeout=120,
                           capture_output=True)
    else:
        (tmp_path / "body.mesh").write_bytes(write_binary(mesh))
        (tmp_path / "body.skeleton").write_bytes(ogre_binary.write(skeleton))
    times = np.linspace(0.0, clip.duration_s, 5)
    theirs = skinned_by_ogre(tmp_path / "body.mesh", clip.name, times.tolist())
    whole = mesh.whole()
    ours, _ = skin_linear(Palette.from_pose(clip.skeleton, clip.sample(times)),
                          whole.influences(clip.skeleton, skeleton.handles), positions, positions)
    assert np.abs(theirs[1:] - theirs[:1]).max() > 0.1
    np.testing.assert_allclose(ours, theirs, atol=WRITTEN_M)
