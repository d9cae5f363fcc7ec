"""OGRE meshes that are written come back the same, and are what OGRE's own converter takes them for."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.formats import ogre_material, ogre_material_write, ogre_mesh_binary, ogre_mesh_xml
from takt.core.formats.ogre_material import OgreMaterial
from takt.core.formats.ogre_mesh import Geometry, OgreMesh, Submesh, Weights
from takt.core.formats.ogre_mesh_write import strongest, write_binary, write_xml
from takt.tests.beside import ogre_converter

EXACT = 1e-6
Write = Callable[[OgreMesh], bytes]
READ: dict[Write, Callable[[bytes], OgreMesh]] = {write_binary: ogre_mesh_binary.read, write_xml: ogre_mesh_xml.read}


def mesh(seed: int, *, vertices: int = 40, bones: int = 6) -> OgreMesh:
    rng = np.random.default_rng(seed)
    geometries, submeshes = [], []
    for number in range(int(rng.integers(1, 4))):
        count = vertices + number
        normals = rng.normal(size=(count, 3))
        owner = np.repeat(np.arange(count), rng.integers(1, 7, size=count))
        weights = Weights(owner, rng.integers(0, bones, len(owner)), rng.uniform(0.05, 1.0, len(owner)))
        key = np.unique(weights.vertices * bones + weights.handles, return_index=True)[1]
        weights = Weights(weights.vertices[key], weights.handles[key], weights.values[key])
        geometries.append(Geometry(rng.normal(size=(count, 3)),
                                   normals / np.linalg.norm(normals, axis=1, keepdims=True) if seed % 3 else None,
                                   rng.uniform(size=(count, 2)) if seed % 2 else None, weights))
        submeshes.append(Submesh(f"part {number} & <more>", f"Müller/{number}", number,
                                 rng.integers(0, count, size=(2 * count, 3))))
    return OgreMesh(tuple(geometries), tuple(submeshes), "body.skeleton" if seed % 5 else "")


def assert_same(one: OgreMesh, other: OgreMesh, tolerance: float = EXACT) -> None:
    assert [(each.name, each.material) for each in one.submeshes] == [
        (each.name, each.material) for each in other.submeshes]
    assert one.skeleton == other.skeleton
    for a, b in zip(one.submeshes, other.submeshes, strict=True):
        np.testing.assert_array_equal(a.triangles, b.triangles)
        left, right = one.geometries[a.geometry], other.geometries[b.geometry]
        for part in ("positions", "normals", "uvs"):
            was, now = getattr(left, part), getattr(right, part)
            assert (was is None) == (now is None), part
            if was is not None:
                np.testing.assert_allclose(now, was, atol=tolerance)
        was, now = strongest(left.weights), strongest(right.weights)
        for table, of in ((was, left), (now, right)):
            dense = np.zeros((len(of.positions), 10))
            dense[table.vertices, table.handles] = table.values
            if table is was:
                wanted = dense
        np.testing.assert_allclose(dense, wanted, atol=tolerance)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("write", READ)
def test_a_mesh_that_is_written_comes_back_the_same(write: Write, seed: int) -> None:
    made = mesh(seed)
    assert_same(made, READ[write](write(made)))


@pytest.mark.parametrize("write", [write_binary, pytest.param(write_xml, marks=pytest.mark.slow)])
def test_indices_of_32_bits_are_written_where_16_do_not_do(write: Write) -> None:
    big = mesh(1, vertices=66_000)
    found = READ[write](write(big))
    assert max(int(each.triangles.max()) for each in found.submeshes) > 0xFFFF
    assert_same(big, found)


@pytest.mark.parametrize("seed", range(1, 5))  # without a skeleton it writes no weights
def test_ogres_own_converter_reads_both_forms_as_the_same(tmp_path: Path, seed: int) -> None:
    made = mesh(seed)
    for name, write, other in (("a.mesh", write_binary, "a.mesh.xml"), ("b.mesh.xml", write_xml, "b.mesh")):
        (tmp_path / name).write_bytes(write(made))
        done = subprocess.run([ogre_converter(), "-q", name, other], cwd=tmp_path, capture_output=True,
                              text=True, check=False, timeout=120)
        assert (tmp_path / other).is_file(), done.stdout + done.stderr
        read = ogre_mesh_xml.read if other.endswith(".xml") else ogre_mesh_binary.read
        assert_same(made, read((tmp_path / other).read_bytes()), 1e-5)


def test_only_the_four_strongest_weights_are_kept_and_sum_to_one() -> None:
    made = mesh(3).geometries[0].weights
    kept = strongest(made)
    assert np.bincount(kept.vertices).max() <= 4
    np.testing.assert_allclose(np.bincount(kept.vertices, kept.values), 1.0)
    assert not len(strongest(Weights.none()).vertices)


@pytest.mark.parametrize("write", READ)
def test_numbers_that_no_file_can_hold_are_refused(write: Write) -> None:
    made = mesh(1)
    made.geometries[0].positions[0, 0] = np.inf
    with pytest.raises(TaktError, match="not finite"):
        write(made)


def test_names_that_no_file_can_hold_are_refused() -> None:
    made = mesh(1)
    with pytest.raises(TaktError, match="line feed"):
        write_binary(OgreMesh(made.geometries, made.submeshes, "two\nlines"))
    for name in ("", 'a"b', "a{b"):
        with pytest.raises(TaktError, match="rename it"):
            ogre_material_write.write([OgreMaterial(name)])


def test_materials_come_back_the_same() -> None:
    made = [OgreMaterial("Skin", (0.25, 0.5, 1.0)), OgreMaterial("a b", (1.0, 1.0, 1.0), "my skin.png")]
    found = ogre_material.read(ogre_material_write.write(made))
    assert [found[each.name].diffuse for each in made] == [each.diffuse for each in made]
    assert [found[each.name].texture for each in made] == [each.texture for each in made]
