"""Which bone a place belongs to before zones are blended."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding.radii import limb_radii, of_neighbours, side_by_side
from takt.core.binding.segments import Segments
from takt.core.binding.solid import Solid
from takt.core.binding.sources import Skin, find_sources
from takt.core.binding.surface import Surface

from .bodies import joined, tube
from .test_binding_solid import solid_of
from .test_binding_surface import triangles_of

CELL = 0.06
PRECISION = 1.5 * CELL
SIZE = 4.0


def body(*meshes) -> tuple[Surface, Solid, Skin]:
    points, faces, _ = joined(*meshes)
    surface = Surface.build(points, triangles_of(points, faces))
    solid = solid_of(points, faces, CELL)
    return surface, solid, Skin.over(solid, points, surface.normals, surface.areas, SIZE)


def segments(*lines, leaf=True) -> Segments:
    starts, ends = np.array(lines, float).transpose(1, 0, 2)
    return Segments(np.arange(len(lines)), starts, ends, np.full(len(lines), leaf))


def roots(bones: int) -> np.ndarray:
    return np.full(bones, -1)


TUBE = tube((0, 0, -2), (0, 0, 2), 0.4, 30, 12)


def test_the_middle_of_a_tube_is_its_axis():
    surface, _, skin = body(TUBE)
    ring = np.abs(surface.points[:, 2]) < 1
    assert np.abs((skin.points - skin.depths[:, None] * skin.normals)[ring, :2]).max() < 2 * PRECISION


def test_the_radius_is_that_of_the_limb_where_it_is_thinnest():
    _, solid, _ = body(TUBE, tube((0, 0, 0), (2, 0, 0), 0.2, 20))
    found = limb_radii(segments([[0, 0, -1], [0, 0, 1]], [[0, 0, 0], [1.5, 0, 0]], leaf=False), solid, SIZE, 0.1)
    assert found == pytest.approx([0.4, 0.2], abs=PRECISION)
    assert limb_radii(segments([[0, 0, -1], [0, 0, 1]], [[9, 0, 0], [9, 0, 1]]), solid, SIZE, 0.1)[1] == pytest.approx(
        0.4, abs=PRECISION)


def test_a_joint_divides_a_tube_in_the_middle():
    surface, solid, skin = body(TUBE)
    bones = segments([[0, 0, -2], [0, 0, 0]], [[0, 0, 0], [0, 0, 2]], leaf=False)
    found = find_sources(skin, bones, roots(2), solid, SIZE)
    assert np.allclose(found.shares.sum(axis=1), 1)
    high = surface.points[:, 2]
    assert (found.shares[high > 0.1, 1] == 1).all() and (found.shares[high < -0.1, 0] == 1).all()
    assert np.allclose(found.distances[np.abs(high) < 1.9], 0.4, rtol=0.02)


def test_what_a_last_bone_ends_in_blends_over_its_thickness_however_far_it_is():
    snout = tube((0, -1.3, 0.6), (0, 0.35, 0.6), 0.5, 20, 24)
    surface, solid, skin = body(tube((0, 0, -2), (0, 0, 0.4), 0.2, 30, 8), snout)
    lines = segments([[0, 0, -2], [0, 0, 0.4]], [[0, 0, 0.4], [0, 0, 1.05]])
    found = find_sources(skin, lines, roots(2), solid, SIZE)
    nose = (surface.points[:, 1] < -1.0) & (found.shares[:, 1] == 1)
    assert nose.sum() > 10
    assert lines.nearest(surface.points[nose])[0].min() > 0.9
    assert found.distances[nose].max() < 0.7


def test_bones_that_cost_the_same_share():
    _, solid, skin = body(TUBE)
    line = [[0, 0, -1], [0, 0, 1]]
    assert (find_sources(skin, segments(line, line), roots(3), solid, SIZE).shares == [0.5, 0.5, 0]).all()


def test_from_one_bone_to_the_next_shares_change_by_degrees():
    surface, solid, skin = body(tube((0, 0, -2), (0, 0, 2), 0.4, 160))
    found = find_sources(skin, segments([[0, 0, -2], [0, 0, 0]], [[0, 0, 0], [0, 0, 2]]), roots(2), solid, SIZE)
    side = np.abs(surface.points[:, 2]) < 1.0
    rising = found.shares[side, 1][np.argsort(surface.points[side, 2], kind="stable")]
    assert rising[0] == 0 and rising[-1] == 1
    assert np.abs(np.diff(rising)).max() < 0.5


def test_a_bone_is_not_seen_through_the_air():
    legs = [tube((x, 0, -2), (x, 0, 2), 0.15, 30, 8) for x in (-0.3, 0.3)]
    surface, solid, skin = body(*legs)
    own = segments([[-0.3, 0, 0], [-0.3, 0, 2]], [[0.3, 0, -2], [0.3, 0, 2]])  # the left leg's bone is high up
    found = find_sources(skin, own, roots(2), solid, SIZE)
    below = (np.abs(surface.points[:, 2] + 0.55) < 0.1) & (surface.points[:, 0] < 0)
    distance, _ = own.nearest(surface.points[below])
    nearer = distance[:, 1] < distance[:, 0]
    assert nearer.any() and found.shares[below, 0].mean() > 1 - 0.5 * nearer.mean()


def test_a_thin_limb_that_starts_inside_the_trunk_does_not_hold_it():
    surface, solid, skin = body(tube((0, 0, 0), (0, 0, 2), 0.8, 30, 24), tube((0.4, 0, 0.3), (0.4, 0, -1.5), 0.15, 20))
    bones = segments([[0, 0, 0.2], [0, 0, 2]], [[0.4, 0, 0.6], [0.4, 0, -1.5]])
    found = find_sources(skin, bones, roots(2), solid, SIZE)
    trunk = np.linalg.norm(surface.points[:, :2], axis=1) > 0.75
    assert (found.shares[trunk & (surface.points[:, 0] > 0), 0] > 0.4).all()
    assert (found.shares[trunk, 0] == 1).mean() > 0.9
    assert (found.shares[surface.points[:, 2] < -0.5, 1] == 1).all()


def test_of_two_bones_that_lead_away_from_a_place_the_one_that_ends_a_limb_has_more_of_it():
    surface, solid, skin = body(tube((-3, 0, 0), (3, 0, 0), 0.5, 49, 12))
    bones = segments([[0.4, 0, 0], [1.5, 0, 0]], [[1.5, 0, 0], [3, 0, 0]], [[-0.4, 0, 0], [-3, 0, 0]], leaf=False)
    bones = replace(bones, leaf=np.array([False, True, True]))
    found = find_sources(skin, bones, np.array([-1, 0, -1]), solid, SIZE)
    between = np.abs(surface.points[:, 0]) < 0.03
    assert between.sum() >= 8 and (found.shares[between, 2] > found.shares[between, 0] + 0.1).all()


def test_a_tip_gets_no_bulk():
    surface, solid, skin = body(TUBE)
    found = find_sources(skin, segments([[0, 0, -2], [0, 0, 1.9]], [[0, 0, 1.9], [0, 0, 2.1]]), roots(2), solid, SIZE)
    assert (found.shares[surface.points[:, 2] < 1.7, 0] == 1).all()


def test_a_head_holds_its_face_though_the_neck_is_as_near():
    ball = tube((0, -0.5, 0.6), (0, 0.35, 0.6), 0.5, 20, 24)  # reaches forward, and below the head's joint
    surface, solid, skin = body(tube((0, 0, -2), (0, 0, 0.4), 0.2, 30, 8), ball)
    found = find_sources(skin, segments([[0, 0, -2], [0, 0, 0.4]], [[0, 0, 0.4], [0, 0, 1.05]]), roots(2), solid, SIZE)
    chin = (surface.points[:, 1] < -0.3) & (surface.points[:, 2] < 0.4)
    assert chin.sum() > 10 and (found.shares[chin, 1] > 0.5).all()


def test_a_bone_in_the_air_holds_the_skin_beside_it():
    upper, lower = tube((0, 0, 0.4), (2, 0, 0.4), 0.2, 20, 12), tube((0, 0, -0.4), (2, 0, -0.4), 0.2, 20, 12)
    throat = tube((-2, 0, 0), (0.1, 0, 0), 0.65, 20, 16)
    surface, solid, skin = body(throat, upper, lower)
    jaw = [[0, 0, 0.05], [1.9, 0, 0.05]]  # between the jaws, and nearer to the upper one
    assert not solid.contains(np.array([1.0, 0, 0.05]))
    found = find_sources(skin, segments([[-2, 0, 0], [0, 0, 0]], jaw, leaf=False), np.array([-1, 0]), solid, SIZE)
    upper_jaw = (surface.points[:, 0] > 0.7) & (surface.points[:, 2] > 0.1)
    assert found.shares[upper_jaw, 1].mean() > 0.9


def test_last_bones_beside_others_hold_no_more_than_they_reach():
    ball = tube((0, 0, -1), (0, 0, 1), 1.0, 20, 24)
    surface, solid, skin = body(ball)
    bones = segments([[0, 0, -1], [0, 0, 0.2]], [[0.6, 0.2, 0.5], [0.85, 0.2, 0.5]],
                     [[0.6, -0.2, 0.5], [0.85, -0.2, 0.5]])
    beside = find_sources(skin, bones, np.array([-1, 0, 0]), solid, SIZE).shares
    apart = find_sources(skin, bones, roots(3), solid, SIZE).shares
    assert beside[:, 1:].sum() < 0.5 * apart[:, 1:].sum()
    assert beside[np.linalg.norm(surface.points - (1, 0.2, 0.5), axis=1).argmin(), 1] == 1


def test_bones_in_the_skin_hold_what_is_nearer_to_them_than_to_the_middle():
    skirt = tube((0, 0, -2), (0, 0, 2), 0.8, 30, 24)
    surface, solid, skin = body(skirt)
    angle = np.arange(10) * np.pi / 5
    lines = [[[0, 0, -2], [0, 0, 2]], *([[0.8 * np.cos(a), 0.8 * np.sin(a), z] for z in (-1, 1)] for a in angle)]
    found = find_sources(skin, segments(*lines, leaf=False), roots(11), solid, SIZE)
    ring = np.abs(surface.points[:, 2]) < 0.9
    held = found.shares[ring].argmax(axis=1)
    around = np.arctan2(surface.points[ring, 1], surface.points[ring, 0])
    assert (held > 0).all()
    assert (np.cos(around - angle[held - 1]) > 0.9).all()


def test_a_tip_at_the_end_of_a_limb_in_the_skin_holds_no_more_than_before():
    tips = [[[0, 0, -2], [0, 0, 1.95]], [[0, 0, 1.95], [0, 0, 2.15]]]
    surface, solid, skin = body(tube((0, 0, -2), (0, 0, 2), 0.8, 30, 24))
    found = find_sources(skin, segments(*tips), np.array([-1, 0]), solid, SIZE)
    assert (found.shares[surface.points[:, 2] < 1.5, 0] == 1).all()


def test_bones_side_by_side_in_one_limb_are_equally_thick():
    palm = tube((0, 0, -2), (0, 0, 2), 0.8, 30, 24)
    palm[0][:, 1] *= 0.3
    _, solid, _ = body(palm)
    lines = segments(*([[x, 0, -1], [x, 0, 1]] for x in (-0.6, 0, 0.6)), leaf=False)
    found = limb_radii(lines, solid, SIZE, 0.0)
    assert found[0] < found[1] - CELL
    beside = side_by_side(found, lines, solid)
    assert (beside == [[False, True, False], [True, False, True], [False, True, False]]).all()
    assert of_neighbours(found, beside) == pytest.approx(found[1])
    assert not side_by_side(found, replace(lines, leaf=np.full(3, True)), solid).any()


def test_bones_of_two_limbs_are_not_equally_thick():
    _, solid, _ = body(tube((0, 0, -2), (0, 0, 2), 0.4, 30, 12), tube((0.8, 0, -2), (0.8, 0, 2), 0.2, 30, 12))
    lines = segments([[0, 0, -1], [0, 0, 1]], [[0.8, 0, -1], [0.8, 0, 1]], leaf=False)
    found = limb_radii(lines, solid, SIZE, 0.0)
    beside = side_by_side(found, lines, solid)
    assert not beside.any() and (of_neighbours(found, beside) == found).all()
