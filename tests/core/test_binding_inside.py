"""The default binding: what it promises for any mesh, its options, bad input, and real characters."""

import operator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.benchmarks import weights as benchmark
from takt.core.binding import BindCancelledError, BindInput
from takt.core.binding import inside as module
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.settings import BindSettings
from takt.core.errors import BindError
from takt.samples import helix
from takt.tests.beside import real_file

from .bodies import figure, joined, limb, moved, shuffled, split, tube, turn

INDEPENDENT = 1e-5
MIRRORED = 1e-3
ROUNDING = 1e-9
TORN = 0.01
CHARACTERS = {"Alien": 0.15, "Male_Suit": 0.2, "Mage": 0.25, "cesium_man": 0.25, "mpfb_game_engine": 0.29}
"""Largest mean difference from the artist's weights, 0 to 2; a little over what was measured."""

FEW = 100
"""So few places that the test's bodies are clustered as big ones are."""


def dense(body: BindInput, **options) -> np.ndarray:
    return bind_inside_distance(body, BindSettings(**options)).dense(len(body.bone_names))


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).sum(axis=1).max())


def chain(bones: int, rings: int = 24) -> BindInput:
    """The limb with many bones in a row."""
    ends = np.linspace((0, 0, 0), (0, 0, 4), bones + 1)
    return replace(limb(rings), bone_names=tuple(f"bone {i}" for i in range(bones)), bone_parents=np.arange(bones) - 1,
                   heads=ends[:-1], tails=ends[1:])


def assert_bound(body: BindInput, weights: np.ndarray) -> None:
    assert weights.shape == (len(body.vertices), len(body.bone_names))
    assert np.isfinite(weights).all() and (weights >= 0).all() and np.allclose(weights.sum(axis=1), 1, atol=ROUNDING)


@pytest.fixture(params=[False, True], ids=["points", "clusters"])
def any_size(request, monkeypatch) -> bool:
    """Run once as for small and once as for big meshes."""
    if request.param:
        monkeypatch.setattr(module, "_MOST_CLUSTERS", FEW)
    return bool(request.param)


def test_a_limb_follows_its_bones_and_blends_at_the_joint(any_size):
    body = limb()
    weights, height = dense(body), body.vertices[:, 2]
    assert_bound(body, weights)
    assert (weights[height > 2.9, 1] > 0.97).all() and (weights[height < 1.1, 0] > 0.97).all()
    ring = np.sort(np.unique(height.round(6)))
    profile = np.array([weights[np.isclose(height, z), 1].mean() for z in ring])
    assert (np.diff(profile) > -0.02).all() and np.abs(np.interp(2.0, ring, profile) - 0.5) < 0.05
    assert np.diff(profile).max() < 0.4


def test_limbs_keep_to_themselves(any_size):
    body = figure(rings=12)
    weights = dense(body)
    assert_bound(body, weights)
    for name, x in (("shin.L", 1), ("shin.R", -1), ("hand.L", 1), ("hand.R", -1)):
        other_side = np.sign(body.vertices[:, 0]) == -x
        assert weights[other_side, body.bone_names.index(name)].max() < 0.01


@pytest.mark.slow
def test_the_same_wherever_however_and_in_any_order(any_size):
    body = figure()
    weights = dense(body)
    for matrix, offset in ((turn((1, 2, 3), 0.7), (0, 0, 0)), (np.eye(3) * 1e-3, (0, 0, 0)),
                           (np.eye(3) * 1e5, (1e5, -3e5, 0)), (turn((0, 1, 0), np.pi / 2) * 0.01, (0, 0, 2.0))):
        assert difference(dense(moved(body, matrix, offset)), weights) < INDEPENDENT
    other, went_to = shuffled(body, 1)
    assert difference(dense(other)[went_to], weights) < INDEPENDENT


@pytest.mark.slow
@given(st.integers(0, 2**31), st.floats(0, 3), st.floats(-5, 5))
@settings(max_examples=10, deadline=None)
def test_any_turn_scale_and_order(seed, angle_rad, exponent):
    body = limb(8, 6)
    body = replace(body, vertices=body.vertices + np.random.default_rng(seed).normal(size=body.vertices.shape) * 0.02)
    there = moved(body, turn((0.3, 1, -0.4), angle_rad) * 10**exponent, (3, 4, 5))
    there, went_to = shuffled(there, seed)
    assert difference(dense(there)[went_to], dense(body)) < INDEPENDENT


def test_mirrored_sides_get_mirrored_weights(any_size):
    body = figure()
    weights = dense(body)
    mirrored = body.vertices * (-1, 1, 1)
    twin = np.abs(mirrored[:, None] - body.vertices).sum(axis=2).argmin(axis=1)
    names = [name.translate(str.maketrans("LR", "RL")) if name[-2] == "." else name for name in body.bone_names]
    bones = [body.bone_names.index(name) for name in names]
    assert difference(weights[twin][:, bones], weights) < MIRRORED


def test_seams_do_not_tear(any_size):
    body = figure()
    torn, source = split(body)
    weights = dense(torn)
    assert difference(weights, dense(body)[source]) < INDEPENDENT
    first = np.unique(source, return_index=True)[1]
    assert np.array_equal(weights, weights[first][source])


def test_only_without_welding_do_seams_part():
    torn, source = split(limb())
    first = np.unique(source, return_index=True)[1]
    gaps = [difference(weights, weights[first][source]) for weights in (dense(torn), dense(torn, weld_seams=False))]
    assert gaps[0] == 0.0
    assert gaps[1] > TORN


def test_identical_input_identical_output(any_size):
    one, other = (bind_inside_distance(figure()) for _ in range(2))
    assert np.array_equal(one.joints, other.joints) and np.array_equal(one.weights, other.weights)


def test_faces_turned_over_change_nothing():
    body = figure()
    over = replace(body, face_vertices=body.face_vertices[::-1].copy(), face_sizes=body.face_sizes[::-1].copy())
    assert difference(dense(over), dense(body)) < INDEPENDENT


def test_limit_and_prune():
    body = figure()
    few = bind_inside_distance(body, BindSettings(influences=2, prune_below=0.2))
    all_kept = dense(body, influences=0, prune_below=0.0)
    assert few.joints.shape[1] <= 2 and all_kept[few.dense(len(body.bone_names)) > 0].min() >= 0.2
    many = chain(12)
    free = dense(many, influences=0, prune_below=0.0, smoothing=4.0)
    assert ((free > 0).sum(axis=1) > 4).any()
    assert_bound(many, free)


@pytest.mark.slow
def test_smoothing_and_hardness_widen_and_narrow():
    def blended(**options: float) -> int:
        weights = dense(limb(), prune_below=0.0, **options)
        return int(((weights > 0.05) & (weights < 0.95)).any(axis=1).sum())

    assert blended(smoothing=2.0) > blended() > blended(smoothing=0.5) > blended(smoothing=0.0)
    assert blended(hardness=1.0) > blended() > blended(hardness=4.0)


@pytest.mark.parametrize(("option", "value"), [("influences", -1), ("hardness", 0.1), ("smoothing", -1.0),
                                               ("resolution", 4), ("prune_below", 1.0), ("smoothing", float("nan"))])
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(BindError, match=f"{option} is {value}; choose from"):
        BindSettings(**{option: value})


def test_progress_grows_to_one_and_can_end_it():
    seen: list[float] = []

    def note(done: float) -> bool:
        seen.append(done)
        return True

    bind_inside_distance(figure(), progress=note)
    assert seen == sorted(seen) and seen[-1] == 1.0 and len(seen) > 5
    for end in (seen[0], seen[4], 1.0):
        with pytest.raises(BindCancelledError, match="cancelled"):
            bind_inside_distance(figure(), progress=partial(operator.gt, end))


POINT: dict[str, Any] = {"vertices": [[0, 0, 0]], "faces": [], "bone_names": ["a", "b"], "bone_parents": [-1, 0],
         "heads": [[0, 0, 0], [0, 0, 1]], "tails": [[0, 0, 1], [0, 0, 2]]}


@pytest.mark.slow
@pytest.mark.parametrize("body", [
    BindInput.from_arrays(**POINT),
    BindInput.from_arrays(**POINT | {"vertices": [[0, 0, 0]] * 3, "faces": [[0, 1, 2]]}),
    BindInput.from_arrays(**POINT | {"vertices": np.random.default_rng(1).normal(size=(50, 3))}),
    BindInput.from_arrays(**POINT | {"vertices": [[0, 0, 0], [0, 0, 1], [0, 0, 2]], "faces": [[0, 1, 2]]}),
    BindInput.from_arrays(**POINT | {"vertices": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]],
                                     "faces": [[0, 1, 2, 3]]}),
    replace(limb(), tails=limb().heads), replace(limb(), heads=limb().heads * 0, tails=limb().heads * 0),
    replace(limb(), heads=limb().heads + 1e6, tails=limb().tails + 1e6),
    replace(limb(), heads=limb().heads - 1e200, tails=limb().tails + 1e200),
    moved(limb(), np.eye(3) * 1e-5), moved(limb(), np.eye(3) * 1e5), moved(limb(), np.eye(3), (1e4, 0, 0)),
    replace(limb(), bone_names=("IK", "pole")), replace(limb(), bone_parents=np.array([1, -1])),
], ids=["one vertex", "one place", "no faces", "needle", "plane", "no lengths", "one joint", "bones far outside",
        "bones farther", "tiny", "huge", "far from the origin", "all steer", "child first"])
def test_whatever_comes_is_bound(body, any_size):
    assert_bound(body, dense(body))


def test_three_hundred_bones():
    body = chain(300)
    weights = dense(body)
    assert_bound(body, weights)
    middle = weights @ np.arange(300) / 299 * 4
    trunk = np.abs(body.vertices[:, 2] - 2) < 1.5
    assert np.abs(middle - body.vertices[:, 2])[trunk].max() < 0.2


def test_loose_parts_follow_what_is_near():
    arm, button = limb(), tube((0.5, 0, 3.4), (0.5, 0, 3.6), 0.05, 4, 6)
    faces = np.split(arm.face_vertices, np.cumsum(arm.face_sizes)[:-1])
    points, all_faces, part = joined((arm.vertices, [face.tolist() for face in faces]), button)
    body = BindInput.from_arrays(points, all_faces, arm.bone_names, arm.bone_parents, arm.heads, arm.tails, part)
    assert dense(body)[part == 1, 1].min() > 0.99


def test_a_helix_follows_the_bones_along_its_axis_beside_each_place():
    """Rungs cross the axis here and there: what they fill says nothing of which bone is near."""
    skeleton, body = helix.build_skeleton(), helix.build_body()
    heads = skeleton.rest_world[:, :, 3]
    step = helix.HEIGHT_M / helix.JOINTS
    tails = np.concatenate((heads[1:], heads[-1:] + np.array([0.0, step, 0.0])))
    weights = dense(BindInput.from_arrays(body.positions, body.quads.tolist(), skeleton.names, skeleton.parents,
                                          heads, tails))
    assert weights[:, 0].max() == 0.0, "the root lies below"
    beside = weights @ (0.5 * (heads + tails)[:, 1])
    assert np.abs(beside - body.positions[:, 1]).max() < 0.9 * step


@pytest.mark.slow
@pytest.mark.parametrize("rings", [4, 12])
def test_the_hem_of_a_gown_with_a_flat_bottom_follows_the_nearer_leg(any_size, rings):
    man, sides = figure(rings=12), 48
    points, faces = tube((0, 0, 0.9), (0, 0, 0.08), 0.4, rings, sides)
    gown, open_faces = points[:-2], [face for face in faces if max(face) < len(points) - 2]
    bottom = list(range((rings - 1) * sides, rings * sides))
    hem = slice(len(man.vertices) + bottom[0], len(man.vertices) + bottom[-1] + 1)
    across = gown[bottom, 0]
    for faces in ([*open_faces, bottom], open_faces):
        own = np.split(man.face_vertices, np.cumsum(man.face_sizes)[:-1])
        vertices, both, _ = joined((man.vertices, [face.tolist() for face in own]), (gown, faces))
        body = BindInput.from_arrays(vertices, both, man.bone_names, man.bone_parents, man.heads, man.tails)
        weights = dense(body)[hem]
        left = weights[:, [name.endswith(".L") for name in man.bone_names]].sum(axis=1)
        assert (left[across > 0.25] > 0.9).all() and (left[across < -0.25] < 0.1).all()


@pytest.mark.slow
def test_few_influences_leave_no_steps():
    """On a mesh four times as fine, neighbours differ less: a step would stay as high."""
    rough = []
    for rings in (120, 480):
        body = chain(6, rings)
        middle = np.abs(body.vertices[:, 2] - 2) < 1.5
        rough.append(benchmark.roughness(body, dense(body, influences=2))[middle].max())
    assert rough[1] < 0.4 * rough[0] < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARACTERS)
def test_real_characters(name):
    case = benchmark.Case.load(real_file("bind", f"{name}.npz"))
    weights = benchmark.default(case)
    assert_bound(benchmark.body_of(case), weights)
    assert np.abs(weights - case.weights).sum(axis=1).mean() < CHARACTERS[name]


def test_two_bodies_with_a_rig_each_do_not_touch_each_other() -> None:
    one, bones = figure(), len(figure().bone_names)
    away = np.array((3.0, 0.0, 0.0))
    both = BindInput(
        np.concatenate((one.vertices, one.vertices + away)),
        np.concatenate((one.face_vertices, one.face_vertices + len(one.vertices))),
        np.concatenate((one.face_sizes, one.face_sizes)), np.concatenate((one.part, one.part + 5)),
        (*one.bone_names, *(f"{name}.001" for name in one.bone_names)),
        np.concatenate((one.bone_parents, np.where(one.bone_parents >= 0, one.bone_parents + bones, -1))),
        np.concatenate((one.heads, one.heads + away)), np.concatenate((one.tails, one.tails + away)))
    found = bind_inside_distance(both).dense(2 * bones)
    assert found[:len(one.vertices), bones:].sum() == found[len(one.vertices):, :bones].sum() == 0.0


def test_ten_thousand_loose_triangles_around_a_body_are_all_bound() -> None:
    body, random = figure(), np.random.default_rng(6)
    centres = random.normal(size=(10000, 1, 3)) * (0.3, 0.2, 0.6) + (0, 0, 1)
    pieces = (centres + random.normal(size=(10000, 3, 3)) * 0.01).reshape(-1, 3)
    found = bind_inside_distance(replace(
        body, vertices=np.concatenate((body.vertices, pieces)),
        face_sizes=np.append(body.face_sizes, np.full(10000, 3)),
        face_vertices=np.append(body.face_vertices, len(body.vertices) + np.arange(30000)),
        part=np.append(body.part, np.full(30000, 5))))
    assert np.allclose(found.weights.sum(axis=1), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [3.0, 100.0, 1e6])
def test_a_stray_vertex_costs_only_itself(distance: float) -> None:
    body = figure()
    stray = replace(body, vertices=np.concatenate((body.vertices, [[distance, 0.0, 0.0]])),
                    part=np.append(body.part, body.part[-1]))
    before, after = dense(body), dense(stray)
    assert_bound(stray, after)
    assert np.abs(after[:-1] - before).sum(axis=1).mean() < 0.05


def test_more_points_without_faces_than_there_may_be_clusters(monkeypatch):
    """They have no area to be joined by."""
    monkeypatch.setattr(module, "_MOST_CLUSTERS", 300)
    body = limb()
    scan = BindInput.from_arrays(np.repeat(body.vertices, 8, axis=0), [], body.bone_names, body.bone_parents,
                                 body.heads, body.tails)
    noise = np.random.default_rng(3).normal(scale=0.02, size=scan.vertices.shape)
    scan = replace(scan, vertices=scan.vertices + noise)
    assert len(scan.vertices) > 300
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        weights = dense(scan)
    assert_bound(scan, weights)
    away = np.abs(scan.vertices[:, 2] - 2) > 0.5
    assert weights[away, (scan.vertices[away, 2] > 2).astype(int)].min() > 0.9


@pytest.mark.slow
def test_a_wire_along_crooked_bones_is_bound_to_each():
    """Its vertices are on their lines, and some of them behind a start by no more than rounding."""
    for seed in range(8):
        joints = np.cumsum(np.random.default_rng(seed).random((5, 3)), axis=0)
        share = np.arange(80)[:, None] % 20 / 20
        places = np.concatenate((np.repeat(joints[:-1], 20, axis=0) * (1 - share)
                                 + np.repeat(joints[1:], 20, axis=0) * share, joints[-1:]))
        wire = BindInput.from_arrays(places, [], [f"bone {i}" for i in range(4)], np.arange(4) - 1, joints[:-1],
                                     joints[1:])
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            weights = dense(wire)
        assert_bound(wire, weights)
        assert weights.argmax(axis=1)[10::20].tolist() == [0, 1, 2, 3]
