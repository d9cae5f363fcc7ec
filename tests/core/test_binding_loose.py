"""Parts that hold no bone, and how they follow the skin they lie on."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding import BindInput
from takt.core.binding import inside as module
from takt.core.binding.clusters import Clusters
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.loose import Links, Parts, carried, held_bones, winding
from takt.core.binding.segments import Segments
from takt.core.binding.settings import BindSettings
from takt.core.binding.surface import Surface, connected

from .bodies import Faces, joined, limb, split, tube, turn
from .test_binding_solid import solid_of
from .test_binding_surface import triangles_of

Mesh = tuple[np.ndarray, Faces]
ROUNDING = 1e-9
LIKE_THE_SKIN = 0.1
FEW = 400
NO_LINKS = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def clusters_of(points: np.ndarray, areas: np.ndarray, links: Links = NO_LINKS) -> Clusters:
    """Points that are clusters of their own, without normals."""
    return Clusters(np.arange(len(points)), points, np.zeros_like(points), areas, links, 0.0)


def with_parts(*parts: Mesh, rings: int = 48) -> tuple[BindInput, np.ndarray]:
    """The limb, bones meeting at z = 2, with more parts."""
    body = limb(rings, 12)
    own = [face.tolist() for face in np.split(body.face_vertices, np.cumsum(body.face_sizes)[:-1])]
    points, faces, part = joined((body.vertices, own), *parts)
    return BindInput.from_arrays(points, faces, body.bone_names, body.bone_parents, body.heads, body.tails, part), part


def bound(body: BindInput, **options) -> np.ndarray:
    return bind_inside_distance(body, BindSettings(**options)).dense(len(body.bone_names))


def on_the_skin(weights: np.ndarray, body: BindInput, part: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The weights of the limb's vertices nearest to points."""
    gap = np.linalg.norm(points[:, None] - body.vertices[part == 0], axis=2)
    return np.asarray(weights[part == 0][gap.argmin(axis=1)])


@pytest.fixture(params=[False, True], ids=["points", "clusters"])
def any_size(request, monkeypatch) -> None:
    """Run once as for small and once as for big meshes."""
    if request.param:
        monkeypatch.setattr(module, "_MOST_CLUSTERS", FEW)


def test_winding_is_one_inside_and_less_where_it_is_open():
    points, faces = tube((0, 0, -1), (0, 0, 1), 0.2, 12, 12)
    triangles = triangles_of(points, faces)
    places = np.array([[0, 0, 0], [0.1, 0, 0.9], [0.5, 0, 0], [0, 0, 1.5]])
    assert winding(points[triangles], places) == pytest.approx([1, 1, 0, 0], abs=ROUNDING)
    open_ends = triangles[(triangles < 12 * 12).all(axis=1)]
    assert 0.9 < winding(points[open_ends], places)[0] < 1.0
    assert winding(points[triangles[:, ::-1]], places[:1]) == pytest.approx([-1], abs=ROUNDING)


def test_limbs_hold_bones_and_buttons_and_belts_do_not():
    ring = np.linspace(0, 2 * np.pi, 13)[:-1]
    belt = (np.concatenate([np.stack((0.5 * np.cos(ring), 0.5 * np.sin(ring), np.full(12, z)), 1) for z in (1, 1.1)]),
            [[i, (i + 1) % 12, 12 + (i + 1) % 12, 12 + i] for i in range(12)])
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 4), 0.4, 24), tube((0, 0, 1.5), (2, 0, 1.5), 0.2), belt,
                                 tube((0.4, 0, 3), (0.4, 0, 3.1), 0.05))
    surface = Surface.build(points, triangles_of(points, faces))
    lines = Segments(np.arange(2), np.array([[0, 0, 0], [0, 0, 1.5]]), np.array([[0, 0, 4], [2, 0, 1.5]]),
                     np.ones(2, np.bool_))
    held = held_bones(surface, part, lines, 3, solid_of(points, faces, 0.1))
    assert held == pytest.approx(np.array([[1, 0.2, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]))


@pytest.mark.slow
def test_of_most_of_the_surface_the_solid_tells_what_it_holds():
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 4), 0.4, 24), tube((3, 0, 0), (3, 0, 1), 0.2))
    surface = Surface.build(points, triangles_of(points, faces))
    lines = Segments(np.arange(2), np.array([[0, 0, 0], [3, 0, 0]]), np.array([[0, 0, 4], [3, 0, 1.0]]),
                     np.ones(2, np.bool_))
    nothing = solid_of(*tube((9, 9, 9), (9, 9, 10), 0.2), cell=0.1)
    assert held_bones(surface, part, lines, 2, nothing) == pytest.approx(np.array([[0, 0], [0, 1]]))


def test_what_is_in_the_solid_through_another_part_most_of_the_surface_does_not_hold():
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 4), 0.4, 24), tube((0.5, 0, 2), (0.5, 0, 2.2), 0.2))
    surface = Surface.build(points, triangles_of(points, faces))
    for x, held in ((0.36, [[1, 1], [0, 1]]), (0.5, [[1, 0], [0, 1]])):
        lines = Segments(np.arange(2), np.array([[0, 0, 0], [x, 0, 2.05]]), np.array([[0, 0, 4], [x, 0, 2.15]]),
                         np.ones(2, np.bool_))
        found = held_bones(surface, part, lines, 2, solid_of(points, faces, 0.05))
        assert found == pytest.approx(np.array(held))


def test_a_part_alone_holds_all_bones_and_without_area_none():
    points = np.eye(3)
    lines = Segments(np.array([0]), np.zeros((1, 3)), np.ones((1, 3)), np.array([True]))
    solid = solid_of(*tube((0, 0, 0), (0, 0, 1), 0.2), cell=0.1)
    nothing = Surface.build(points, np.zeros((0, 3), np.int64))
    assert not held_bones(nothing, np.arange(3), lines, 1, solid).any()
    one = Surface.build(points, np.array([[0, 1, 2]]))
    assert held_bones(one, np.zeros(3, np.int64), lines, 1, solid).all()


@pytest.mark.slow
def test_a_button_moves_as_one_with_the_skin_below_or_with_its_strongest_bone(any_size):
    for height in (1.0, 1.8, 2.05, 3.0):
        button = tube((0.42, 0, height - 0.06), (0.42, 0, height + 0.06), 0.04, 5, 8)
        body, part = with_parts(button)
        weights = bound(body)
        own = weights[part == 1]
        assert np.abs(own - own[0]).max() < ROUNDING
        skin = on_the_skin(weights, body, part, np.array([[0.4, 0, height]]))[0]
        assert own[0].argmax() == skin.argmax() and own[0].max() > skin.max() - LIKE_THE_SKIN
        assert own[0].max() == pytest.approx(1.0) or np.abs(own[0] - skin).max() < LIKE_THE_SKIN


def test_a_long_band_follows_at_each_vertex(any_size):
    band = tube((0.43, 0, 0.3), (0.43, 0, 3.7), 0.02, 60, 6)
    body, part = with_parts(band)
    weights = bound(body)
    skin = on_the_skin(weights, body, part, body.vertices[part == 1])
    assert np.abs(weights[part == 1] - skin).max() < LIKE_THE_SKIN
    assert np.ptp(weights[part == 1, 0]) > 0.9


def test_a_feather_keeps_its_shape_and_moves_with_where_it_touches():
    feather = tube((0.42, 0, 1.0), (0.9, 0, 2.6), 0.02, 12, 6)
    body, part = with_parts(feather)
    weights = bound(body)
    own = weights[part == 1]
    assert np.abs(own - own[0]).max() < ROUNDING
    assert own[0, 0] > 0.9


def test_what_is_nearer_to_a_bone_than_to_the_skin_stays_the_bones():
    ball = tube((3, 0, 1), (3, 0, 1.2), 0.1, 4, 8)
    body, part = with_parts(ball)
    body = replace(body, bone_names=(*body.bone_names, "moon"), bone_parents=np.append(body.bone_parents, 0),
                   heads=np.vstack((body.heads, [3, 0.2, 1])), tails=np.vstack((body.tails, [3, 0.2, 1.2])))
    assert bound(body)[part == 1, 2].min() > 0.99


def ring(centre: tuple[float, float, float], wide: float, thick: float, sides: int = 24) -> Mesh:
    """A closed ring round the z axis."""
    turn, cut = (np.arange(n) * 2 * np.pi / n for n in (sides, 6))
    out = wide + thick * np.cos(cut)
    points = np.stack((np.outer(np.cos(turn), out), np.outer(np.sin(turn), out),
                       np.outer(np.ones(sides), thick * np.sin(cut))), axis=-1)
    number = np.arange(6 * sides).reshape(sides, 6)
    corners = (np.roll(number, -across, 0) for across in (0, 1))
    near, far = corners
    faces = np.stack((near, far, np.roll(far, -1, 1), np.roll(near, -1, 1)), axis=-1).reshape(-1, 4)
    return points.reshape(-1, 3) + centre, faces.tolist()


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_ribs_round_a_spine_are_its_own_though_they_touch_the_pelvis_and_the_arms(turned: float):
    """A thin spine from a pelvis up, with arms beside it; rings round it that touch what lies below and beside."""
    spine, pelvis = tube((0, 0, 0.4), (0, 0, 3), 0.06, 20, 8), tube((-0.5, 0, 0), (0.5, 0, 0), 0.3, 12, 8)
    arms = [tube((side * 0.78, 0, 2), (side * 2, 0, 2), 0.1, 10, 8) for side in (1, -1)]
    ribs = [ring((0, 0, z), 0.6, 0.06) for z in (0.5, 1.25, 2.0)]
    points, faces, part = joined(pelvis, spine, *arms, *ribs)
    heads = np.array([[0, 0, 0], [0, 0, 0.4], [0.7, 0, 2], [-0.7, 0, 2]], float)
    tails = np.array([[0, 0, 0.4], [0, 0, 3], [2, 0, 2], [-2, 0, 2]], float)
    matrix = turn((1, 2, 3), turned)
    body = BindInput.from_arrays(points @ matrix.T, faces, ["pelvis", "spine", "arm.L", "arm.R"], [-1, 0, 1, 1],
                                 heads @ matrix.T, tails @ matrix.T, part)
    weights = bound(body)
    for number in (4, 5, 6):
        assert weights[part == number, 1].min() > 0.9, number
    assert weights[part == 2, 2].max() > 0.9 and weights[part == 0, 0].mean() > 0.9


def test_pieces_cut_apart_but_touching_stay_one_body():
    body, _ = with_parts(tube((0.85, 0, 0), (0.85, 0, 4), 0.4, 24, 12), rings=24)
    body = replace(body, bone_names=(*body.bone_names, "other"), bone_parents=np.append(body.bone_parents, -1),
                   heads=np.vstack((body.heads, [0.85, 0, 0])), tails=np.vstack((body.tails, [0.85, 0, 4])))
    torn, source = split(body)
    limb_faces = torn.part == 0
    kept = np.where(limb_faces, np.arange(len(torn.vertices)), len(torn.vertices) + source)
    _, first, index = np.unique(kept, return_index=True, return_inverse=True)  # only the limb is in pieces
    cut = replace(torn, vertices=torn.vertices[first], part=torn.part[first], face_vertices=index)
    weights = bound(cut, weld_seams=False, smoothing=0.0)
    whole = bound(body, smoothing=0.0)[source[first]]
    sure = whole.max(axis=1) == 1.0  # elsewhere the owner may depend on the pieces' own normals
    assert sure.mean() > 0.8 and (weights[sure][whole[sure] == 1.0] > 0.5).all()


def test_weights_are_carried_from_the_nearest_hosts_as_rows_that_sum_to_one():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0.1], [1, 0, 0.1], [0, 9, 0]], float)
    weights = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.5, 0.5], [0.2, 0.8]])
    part, held = np.array([0, 0, 1, 1, 2]), np.array([[0.2, 0], [0, 0], [0, 0]])
    clusters, from_bones = clusters_of(points, np.full(5, 0.1)), np.array([1, 1, 1, 1, 1.0])
    parts = Parts(part, held, np.zeros(3))
    each, cloth = carried(weights, clusters, parts, from_bones, np.full(2, 0.5))
    assert each == pytest.approx(np.array([[1, 0], [0, 1], [1, 0], [0, 1], [0.2, 0.8]]), abs=1e-6)
    assert not cloth.any()
    as_one, _ = carried(weights, clusters, parts, from_bones, np.full(2, 2.0))
    assert as_one[2:4] == pytest.approx(np.full((2, 2), 0.5)) and (as_one[[0, 1, 4]] == weights[[0, 1, 4]]).all()
    nobody = replace(parts, held=np.zeros((3, 2)))
    assert carried(weights, clusters, nobody, from_bones, np.ones(2))[0] is weights


@pytest.mark.parametrize(("length", "expected"), [(2.0, 1.0), (0.4, 0.0)])
def test_a_long_part_that_touches_the_skin_lies_on_it_though_a_bone_is_nearer(length: float, expected: float):
    """A sword in a fist runs beside the hand's bone; a thick hip has a better claim to its far end than a thin hand.

    A part as short as the hand's bone, as a ring about it, keeps what bones have of it.
    """
    along = np.linspace(0, length, 9)
    points = np.array([[0, 0, 0.05], [4, 2, 0], *np.column_stack((0 * along, along, 0 * along))])
    weights = np.array([[1, 0], [0, 1], *[[0, 1]] * 9], float)
    part, held = np.array([0, 0, *[1] * 9]), np.array([[1.0, 1.0], [0, 0]])
    found, _ = carried(weights, clusters_of(points, np.full(11, 0.01)), Parts(part, held, np.zeros(2)),
                       np.r_[1.0, 1.0, 0.01 + along], np.full(2, 0.3))
    assert found[2:, 0] == pytest.approx(np.full(9, expected), abs=1e-3)


@pytest.mark.parametrize("gap", [0.01, 0.2])
@pytest.mark.parametrize("thin", [0.0, 1.0])
def test_cloth_blends_over_as_far_as_the_skin_is_away(gap: float, thin: float):
    """A row of places above skin whose left half is one bone's and whose right half is another's."""
    count, step = 41, 0.05
    x = (np.arange(count) - count // 2) * step
    points = np.concatenate([np.column_stack((x, 0 * x, 0 * x + z)) for z in (0.0, gap)])
    weights = np.tile(np.column_stack((x < 0, x >= 0)).astype(float), (2, 1))
    part = np.repeat([0, 1], count)
    above = count + np.arange(count - 1)
    clusters = clusters_of(points, np.full(2 * count, step**2), (above, above + 1, np.ones(count - 1)))
    parts = Parts(part, np.array([[1.0, 1.0], [0.0, 0.0]]), np.full(2, thin))
    found, cloth = carried(weights, clusters, parts, np.ones(2 * count), np.full(2, 0.5))
    assert cloth.tolist() == [0.0, thin] and (found[:count] == weights[:count]).all()
    steepest = np.abs(np.diff(found[count:, 0])).max() / step
    if thin and gap > step:
        assert 0.2 / gap < steepest < 1.0 / gap
    else:
        assert steepest > 0.5 / step
    assert found.sum(axis=1) == pytest.approx(1.0)


def test_only_what_is_loose_and_bends_is_cloth():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0.1], [1, 0, 0.1], [0, 9, 0]], float)
    weights = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.5, 0.5], [0.2, 0.8]])
    part, held = np.array([0, 0, 1, 1, 2]), np.array([[1.0, 0], [0, 0], [0, 0]])
    given = weights, clusters_of(points, np.full(5, 0.1)), Parts(part, held, np.ones(3)), np.ones(5)
    for length, cloth in ((0.5, [0.0, 1.0, 1.0]), (2.0, [0.0, 0.0, 1.0])):  # the last is nearer to bones than to skin
        assert carried(*given, np.full(2, length))[1].tolist() == cloth


def test_a_thousand_cards_of_hair_on_one_limb():
    random = np.random.default_rng(3)
    height, turn = random.uniform(0.1, 3.9, 1000), random.uniform(0, 2 * np.pi, 1000)
    place = np.stack((0.42 * np.cos(turn), 0.42 * np.sin(turn), height), 1)
    corners = np.array([[0, 0, 0], [0.03, 0, 0], [0.03, 0, 0.1], [0, 0, 0.1]])
    cards = (place[:, None] + corners).reshape(-1, 3), np.arange(4000).reshape(-1, 4).tolist()
    body, part = with_parts(cards)
    weights = bound(body)
    pieces = connected(len(body.vertices), *np.array([[face[0], face[k]] for face in cards[1] for k in (1, 2, 3)]).T
                       + (part == 0).sum())
    own = pieces[part == 1]
    first = np.unique(own, return_index=True)[1][np.unique(own, return_inverse=True)[1]]
    assert np.abs(weights[part == 1] - weights[part == 1][first]).max() < ROUNDING
    skin = on_the_skin(weights, body, part, place + corners.mean(axis=0))
    assert np.abs(weights[part == 1][::4] - skin).max() < 2 * LIKE_THE_SKIN
