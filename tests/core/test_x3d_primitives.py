"""X3D's boxes, spheres, cylinders, cones, extrusions and grids of heights, as geometry of characters."""

import math

import numpy as np
import pytest

from takt.core.errors import FileError
from takt.core.formats.character import SkinnedMesh
from takt.core.maths.arrays import FloatArray
from takt.tests.core.test_characters import mesh, x3d

ROUND = 0.02
"""Share by which what is round is smaller than its faces make it."""


def shape(text: str, around: str = "{}") -> SkinnedMesh:
    """Return the mesh of a segment with one shape."""
    inside = around.format(f"<Shape><Appearance><Material/></Appearance>{text}</Shape>")
    file = x3d(segment=f"<HAnimSegment>{inside}</HAnimSegment>")
    assert file.warnings == ("has no motion",) or not any("left out" in each for each in file.warnings)
    return mesh(file, 1)


def volume(found: SkinnedMesh) -> float:
    """Return the volume that faces enclose, which is positive where they face outwards."""
    a, b, c = found.positions[found.triangles].swapaxes(0, 1)
    return float((a * np.cross(b, c)).sum() / 6.0)


def extent(found: SkinnedMesh) -> FloatArray:
    used = found.positions[np.unique(found.triangles)]
    return np.stack((used.min(axis=0), used.max(axis=0)))


@pytest.mark.parametrize(("text", "wanted", "size"), [
    ("<Box/>", 8.0, (2, 2, 2)), ('<Box size="1 2 3"/>', 6.0, (1, 2, 3)),
    ("<Sphere/>", 4.0 / 3.0 * np.pi, (2, 2, 2)), ('<Sphere radius="0.5"/>', np.pi / 6.0, (1, 1, 1)),
    ("<Cylinder/>", 2.0 * np.pi, (2, 2, 2)), ('<Cylinder radius="0.5" height="3"/>', 0.75 * np.pi, (1, 3, 1)),
    ("<Cone/>", 2.0 / 3.0 * np.pi, (2, 2, 2)), ('<Cone bottomRadius="2" height="3"/>', 4.0 * np.pi, (4, 3, 4)),
    ("<Extrusion/>", 4.0, (2, 1, 2)), ('<Extrusion spine="0 0 0, 3 0 0"/>', 12.0, (3, 2, 2)),
    ('<Extrusion spine="0 0 0, 0 2 0, 0 4 0" scale="1 1, 0.5 2, 1 1"/>', 17.333, (2, 4, 4)),
    ('<Extrusion crossSection="1 0, 0 -1, -1 0, 0 1, 1 0" spine="0 0 0, 0 0 5"/>', 10.0, (2, 2, 5))])
def test_a_solid_has_its_size_and_faces_outwards(text: str, wanted: float, size: tuple[float, ...]) -> None:
    found = shape(text)
    assert volume(found) == pytest.approx(wanted, rel=ROUND)
    np.testing.assert_allclose(np.ptp(extent(found), axis=0), size, atol=1e-9)
    assert found.uvs is not None and found.uvs.min() > -1e-9 and found.uvs.max() < 1.0 + 1e-9
    if found.normals is not None:
        a, b, c = found.positions[found.triangles].swapaxes(0, 1)
        assert ((np.cross(b - a, c - a)[:, None] * found.normals).sum(axis=2) > 0.0).all()
        np.testing.assert_allclose(np.linalg.norm(found.normals, axis=2), 1.0)
    assert found.influences.joints[0, 0] == 1 and (found.influences.weights == 1.0).all()


@pytest.mark.parametrize(("text", "open_at"), [
    ('<Cylinder top="false"/>', (1.0,)), ('<Cylinder bottom="false"/>', (-1.0,)),
    ('<Cylinder top="false" bottom="FALSE"/>', (1.0, -1.0)), ('<Cone bottom="false"/>', (-1.0,))])
def test_ends_can_be_left_open(text: str, open_at: tuple[float, ...]) -> None:
    found = shape(text)
    heights = found.positions[found.triangles][:, :, 1]
    for sign in (1.0, -1.0):
        is_flat = (np.abs(heights - sign) < 1e-9).all(axis=1).any()
        assert is_flat == (sign not in open_at and not (sign > 0.0 and "Cone" in text))


def test_a_ring_along_a_closed_spine_is_closed() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 49)
    spine = ", ".join(f"{3.0 * math.cos(a)!r} 0 {3.0 * math.sin(a)!r}" for a in angle.tolist()[:-1])
    section = ", ".join(f"{0.5 * math.cos(a)!r} {-0.5 * math.sin(a)!r}" for a in angle[::4].tolist())
    found = shape(f'<Extrusion crossSection="{section}" spine="{spine}, 3.0 0 0.0" beginCap="false" endCap="false"/>')
    assert abs(volume(found)) == pytest.approx(2.0 * np.pi**2 * 3.0 * 0.25, rel=0.06)
    np.testing.assert_allclose(extent(found), ((-3.5, -0.5, -3.5), (3.5, 0.5, 3.5)), atol=0.02)


def test_a_cross_section_is_turned_by_its_orientation() -> None:
    found = shape('<Extrusion crossSection="2 1, 2 -1, -2 -1, -2 1, 2 1" orientation="0 1 0 1.5707963"/>')
    np.testing.assert_allclose(np.ptp(extent(found), axis=0), (2, 1, 4), atol=1e-6)


@pytest.mark.parametrize(("ccw", "sign"), [("true", 1.0), ("false", -1.0)])
def test_a_grid_of_heights_lies_over_its_plane(ccw: str, sign: float) -> None:
    found = shape(f'<ElevationGrid xDimension="3" zDimension="2" xSpacing="2" height="0 1 0, 0 1 0" ccw="{ccw}"/>')
    np.testing.assert_allclose(extent(found), ((0, 0, 0), (4, 1, 1)))
    a, b, c = found.positions[found.triangles].swapaxes(0, 1)
    assert len(found.triangles) == 4 and (sign * np.cross(b - a, c - a)[:, 1] > 0.0).all()
    assert found.uvs is not None
    for corner, uv in zip(found.positions[found.triangles].reshape(-1, 3), found.uvs.reshape(-1, 2), strict=True):
        np.testing.assert_allclose(uv, corner[[0, 2]] / (4.0, 1.0))


def test_a_shape_is_placed_with_its_normals_by_transforms_around_it() -> None:
    found = shape("<Cone/>", '<Transform translation="5 0 0" rotation="0 0 1 1.5707963" scale="1 3 1">{}</Transform>')
    np.testing.assert_allclose(extent(found), ((2, -1, -1), (8, 1, 1)), atol=1e-6)
    assert found.normals is not None
    a, b, c = found.positions[found.triangles].swapaxes(0, 1)
    assert ((np.cross(b - a, c - a)[:, None] * found.normals).sum(axis=2) > 0.0).all()
    mirrored = shape("<Box/>", '<Transform scale="-1 1 1">{}</Transform>')
    assert volume(mirrored) == pytest.approx(8.0)


def test_a_skin_may_be_of_such_shapes() -> None:
    file = x3d(shape='<Sphere radius="2"/>')
    assert np.ptp(extent(mesh(file)), axis=0).max() == pytest.approx(4.0)


@pytest.mark.parametrize(("text", "message"), [
    ('<ElevationGrid xDimension="3" zDimension="2" height="0 1"/>', "height holds 2 numbers; 3 × 2 are wanted"),
    ('<ElevationGrid xDimension="-1" zDimension="2"/>', "xDimension is -1; a whole number"),
    ('<ElevationGrid xDimension="20000" zDimension="20000"/>', "more than 20000000 numbers"),
    ('<Sphere radius="-1"/>', "radius is -1; a length from 0 on"), ('<Box size="1 2"/>', "size holds 2 numbers"),
    ('<Extrusion spine="0 0"/>', "a multiple of 3 is wanted")])
def test_what_is_no_shape_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FileError, match=rf"ann\.x3d:\d+: .*{message}"):
        shape(text)


@pytest.mark.parametrize("text", ['<Sphere radius="0"/>', '<Box size="0 0 0"/>',
                                  '<Extrusion crossSection="0 0"/>', '<ElevationGrid xDimension="1" zDimension="1" '
                                  'height="0"/>', '<Cylinder side="false" top="false" bottom="false"/>'])
def test_what_has_no_faces_is_no_mesh(text: str) -> None:
    assert len(x3d(segment=f"<HAnimSegment><Shape>{text}</Shape></HAnimSegment>").characters[0].meshes) == 1
