"""Weights that are there, made better: what is inpainted, which faults are found, what clothes take."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.binding import BindCancelledError, BindInput
from takt.core.binding.faults import cured, find_faults, worsened
from takt.core.binding.inpainting import inpainted
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.sweep import sweep
from takt.core.binding.transfer import transferred
from takt.core.errors import TaktError

from .bodies import figure, joined, limb, split, tube

SOLVED = 2e-2
SAME = 1e-9


def slope(body: BindInput) -> np.ndarray:
    """Weights that change evenly along z from the first bone to the second."""
    second = np.clip(body.vertices[:, 2] / 4.0, 0.0, 1.0)
    return np.stack((1.0 - second, second), axis=1)


def bound(body: BindInput) -> np.ndarray:
    return bind_inside_distance(body).dense(len(body.bone_names))


BODY = limb(40)
FIGURE = figure(16, 12)
WEIGHTS = bound(FIGURE)


@given(st.integers(0, 10**6), st.floats(0.05, 0.9))
def test_what_is_cut_out_of_an_even_slope_comes_back(seed: int, share: float) -> None:
    known = np.random.default_rng(seed).random(len(BODY.vertices)) > share
    known[[int(BODY.vertices[:, 2].argmin()), int(BODY.vertices[:, 2].argmax())]] = True
    weights = slope(BODY)
    found = inpainted(BODY, np.where(known[:, None], weights, 0.0), known, weights)
    assert (found[known] == weights[known]).all()
    assert np.abs(found - weights).max() < SAME


def test_a_gap_takes_what_is_around_and_the_middle_of_a_wide_one_its_prior() -> None:
    weights, prior = slope(BODY), np.tile([0.5, 0.5], (len(BODY.vertices), 1))
    height = BODY.vertices[:, 2]
    gap = np.abs(height - 0.5) < 0.06
    assert gap.any() and np.abs(inpainted(BODY, weights, ~gap, prior) - weights).max() < 0.1
    wide = height > 0.4
    found = inpainted(BODY, weights, ~wide, prior)
    assert np.abs(found[height > 3.0] - prior[height > 3.0]).max() < 0.01
    border = wide & (height < 0.45)
    assert border.any() and np.abs(found - weights)[border].max() < 0.25 < np.abs(prior - weights)[border].min()


def test_without_a_prior_a_gap_of_any_width_goes_on_evenly() -> None:
    weights, height = slope(BODY), BODY.vertices[:, 2]
    gap = (height > 0.2) & (height < 3.8)
    found = inpainted(BODY, weights, ~gap, np.tile([1.0, 0.0], (len(weights), 1)), reach=None)
    assert np.abs(found - weights).max() < SOLVED


def test_pieces_without_anything_known_are_the_priors_and_seams_do_not_tear() -> None:
    body, source = split(BODY)
    points, faces = tube((3, 0, 0), (3, 0, 1), 0.1)
    known = np.random.default_rng(1).random(len(body.vertices)) > 0.5
    found = inpainted(body, slope(body), known, slope(body))
    assert np.abs(found - slope(BODY)[source]).max() < SAME
    whole, _, part = joined((BODY.vertices, []), (points, []))
    both = replace(BODY, vertices=whole, part=part,
                   face_vertices=np.concatenate((BODY.face_vertices, np.concatenate(faces) + len(BODY.vertices))),
                   face_sizes=np.concatenate((BODY.face_sizes, [len(face) for face in faces])))
    prior = np.tile([0.25, 0.75], (len(whole), 1))
    found = inpainted(both, np.zeros_like(prior), part == 5, prior)
    assert np.abs(found - prior).max() < SAME
    weights = np.tile([1.0, 0.0], (len(whole), 1))
    for reach in (0.03, None):
        found = inpainted(both, weights, (part == 0) & (whole[:, 2] < 2), prior, reach)
        assert np.abs(found[part == 1] - prior[part == 1]).max() < SAME


def test_rows_sum_to_one_within_what_is_around() -> None:
    random = np.random.default_rng(5)
    weights, prior = (random.dirichlet((0.3,) * 2, len(BODY.vertices)) for _ in range(2))
    known = random.random(len(weights)) > 0.7
    for reach in (0.01, 0.5, None):
        found = inpainted(BODY, weights, known, prior, reach)
        assert found.min() >= 0.0 and np.abs(found.sum(axis=1) - 1.0).max() < SAME


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TaktError, match=r"weights \(3, 2\) and prior .* must both have shape"):
        inpainted(BODY, np.ones((3, 2)), np.ones(3, np.bool_), slope(BODY))


def test_a_good_binding_has_no_faults_and_stays() -> None:
    faults = find_faults(FIGURE, WEIGHTS, WEIGHTS.argmax(axis=1))
    assert not faults.any.any()
    assert np.abs(cured(FIGURE, WEIGHTS, faults, WEIGHTS) - WEIGHTS).max() < SAME


@pytest.mark.parametrize("seed", range(4))
def test_faults_that_were_made_are_found_and_cured_alone(seed: int) -> None:
    random = np.random.default_rng(seed)
    left, right = (FIGURE.bone_names.index(name) for name in ("shin.L", "hand.R"))
    spoilt = WEIGHTS.copy()
    strays, unbound = random.choice(np.flatnonzero(WEIGHTS[:, left] > 0.9), 6, replace=False).reshape(2, 3)
    spoilt[strays] = np.eye(len(FIGURE.bone_names))[right]
    spoilt[unbound] = 0.0
    faults = find_faults(FIGURE, spoilt, WEIGHTS.argmax(axis=1))
    assert sorted(np.flatnonzero(faults.unbound)) == sorted(unbound)
    assert faults.any[strays].all()
    mended = cured(FIGURE, spoilt, faults, WEIGHTS)
    assert np.abs(mended - WEIGHTS)[faults.any].max() < 0.1
    assert np.abs(mended - spoilt)[~faults.any].max() < SAME


def test_a_patch_that_follows_another_limb_leaks_and_keeps_its_other_weights() -> None:
    names = FIGURE.bone_names
    left, hand = names.index("thigh.L"), names.index("hand.L")
    spoilt = WEIGHTS.copy()
    patch = (WEIGHTS[:, left] > 0.5) & (np.abs(FIGURE.vertices[:, 2] - 0.8) < 0.1)
    spoilt[patch, hand] += 0.3 * spoilt[patch, left]
    spoilt[patch, left] *= 0.7
    faults = find_faults(FIGURE, spoilt, WEIGHTS.argmax(axis=1))
    assert faults.foreign[patch, hand].all() and (faults.any | ~patch).all() and not faults.leaking[~patch].any()
    mended = cured(FIGURE, spoilt, faults, WEIGHTS)
    assert np.abs(mended - WEIGHTS)[patch].max() < 0.1 and mended[patch, hand].max() < 0.01
    assert sweep(FIGURE, mended, WEIGHTS.argmax(axis=1)).leaks <= sweep(FIGURE, WEIGHTS, WEIGHTS.argmax(axis=1)).leaks


def test_weights_that_blend_far_along_the_skin_are_meant() -> None:
    blend = np.clip(WEIGHTS, 0.0, 1.0)
    height = FIGURE.vertices[:, 2]
    names = FIGURE.bone_names
    head, hips = names.index("head"), names.index("hips")
    trunk = FIGURE.part == 0
    rise = np.clip((height - 1.0) / 0.9, 0.0, 1.0)
    blend[trunk] = 0.0
    blend[trunk, head], blend[trunk, hips] = rise[trunk], 1.0 - rise[trunk]
    assert not find_faults(FIGURE, blend, WEIGHTS.argmax(axis=1)).leaking[trunk].any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_cure_that_breaks_more_is_left_alone_and_a_good_one_beside_it_is_not(seed: int) -> None:
    random = np.random.default_rng(seed)
    height, side = FIGURE.vertices[:, 2], FIGURE.vertices[:, 0]
    bad, good = (np.flatnonzero((height < 0.35) & (sign * side > 0.05)) for sign in random.permutation((-1, 1)))
    other = FIGURE.bone_names.index("hand.R")
    before, after = WEIGHTS.copy(), WEIGHTS.copy()
    after[random.choice(bad, 3, replace=False)] = np.eye(len(FIGURE.bone_names))[other]
    before[random.choice(good, 3, replace=False)] = np.eye(len(FIGURE.bone_names))[other]
    owners = WEIGHTS.argmax(axis=1)
    kept = worsened(FIGURE, before, after, owners)
    changed = (before != after).any(axis=1)
    assert kept[bad].sum() == changed[bad].sum() == 3 and not kept[good].any()
    found, was = (sweep(FIGURE, weights) for weights in (np.where(kept[:, None], before, after), before))
    assert found.leaks <= was.leaks and found.flying <= was.flying
    assert not worsened(FIGURE, np.where(changed[:, None], 0.0, before), after, owners).any()  # unbound before


@pytest.mark.slow
@pytest.mark.parametrize("limb, other", [("shin.L", "hand.R"), ("thigh.R", "hand.L"), ("hand.L", "shin.L")])
def test_a_patch_wholly_on_another_limb_is_mended_though_it_moved_as_one(limb: str, other: str) -> None:
    fine = figure(24, 12)
    names, weights = fine.bone_names, bind_inside_distance(fine).dense(len(fine.bone_names))
    own = np.flatnonzero(weights[:, names.index(limb)] > 0.99)
    middle = fine.vertices[own[len(own) // 2]]
    part = fine.part == fine.part[own[0]]
    patch = own[np.argsort(np.linalg.norm(fine.vertices[own] - middle, axis=1))[:int(0.07 * part.sum())]]
    spoilt = weights.copy()
    spoilt[patch] = np.eye(len(names))[names.index(other)]
    faults = find_faults(fine, spoilt, weights.argmax(axis=1))
    mended = cured(fine, spoilt, faults, weights)
    assert faults.any[patch].all() and not worsened(fine, spoilt, mended, faults.owners).any()
    both = [worsened(fine, spoilt, spoilt[::-1], faults.owners, was=was) for was in (None, faults.swept)]
    assert both[0].any() and (both[0] == both[1]).all()
    assert np.abs(mended - weights)[patch].max() < 0.1


def test_looking_for_faults_can_be_stopped() -> None:
    with pytest.raises(BindCancelledError, match="cancelled"):
        find_faults(FIGURE, WEIGHTS, WEIGHTS.argmax(axis=1), lambda share: share < 0.3)


def dressed(gap: float, rings: int = 24) -> tuple[BindInput, np.ndarray, np.ndarray]:
    """The limb in a sleeve around its lower part, the sleeve's vertices, and the limb's even weights."""
    sleeve, faces = tube((0, 0, 0.5), (0, 0, 3.5), 0.4 + gap, rings)
    count = rings * 10
    faces = [face for face in faces if max(face) < count]
    own = [face.tolist() for face in np.split(BODY.face_vertices, np.cumsum(BODY.face_sizes)[:-1])]
    points, every, part = joined((BODY.vertices, own), (sleeve[:count], faces))
    body = BindInput.from_arrays(points, every, BODY.bone_names, BODY.bone_parents, BODY.heads, BODY.tails, part)
    return body, part == 1, slope(body)


def test_a_sleeve_takes_the_weights_of_the_arm_below() -> None:
    body, garment, weights = dressed(0.05)
    found, known = transferred(body, np.where(garment[:, None], 7.0, 3.0 * weights), garment)
    assert known.all()
    assert np.abs(found - weights).max() < 1e-6


def test_what_stands_off_or_looks_elsewhere_is_not_known() -> None:
    body, garment, weights = dressed(0.5)
    found, known = transferred(body, weights, garment)
    assert not known[garment].any() and (found[garment] == 0.0).all() and known[~garment].all()
    body, garment, weights = dressed(0.05)
    away = np.where(garment[:, None], body.vertices * (1, 1, -1) + (0, 0, 9), body.vertices)
    elsewhere = replace(body, vertices=away)
    assert not transferred(elsewhere, weights, garment)[1][garment].any()


def test_the_hem_goes_on_from_the_part_that_lies_on_the_body() -> None:
    body, garment, weights = dressed(0.05)
    flared = body.vertices.copy()
    low = garment & (flared[:, 2] < 1.2)
    flared[low, :2] *= 2.5
    body = replace(body, vertices=flared)
    found, known = transferred(body, weights, garment)
    assert known[garment & (flared[:, 2] > 1.6)].all() and not known[low].any()
    prior = np.tile([0.0, 1.0], (len(flared), 1))
    filled = inpainted(body, found, known, prior, reach=None)
    edge = weights[garment & known].max(axis=0)
    assert (filled[low, 0] <= edge[0] + SOLVED).all() and filled[low, 0].min() > 0.5


def test_a_body_without_weights_dresses_nobody() -> None:
    body, garment, weights = dressed(0.05)
    found, known = transferred(body, np.zeros_like(weights), garment)
    assert not known.any() and not found.any()
    assert not transferred(body, weights, np.zeros_like(garment))[1][garment].sum() - garment.sum()
