"""The seed's binding against a plain loop, and what must hold for any input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.binding import BindCancelledError, BindInput, BindSettings
from takt.core.binding.euclidean import _DISTANCES_AT_ONCE, bind_euclidean, segment_distances
from takt.core.errors import BindError

WEIGHT_TOLERANCE = 1e-9


def make_input(vertices: np.ndarray, heads: np.ndarray, tails: np.ndarray) -> BindInput:
    bones = len(heads)
    return BindInput.from_arrays(vertices, [], [f"bone{i}" for i in range(bones)], [-1] * bones, heads, tails)


def random_input(seed: int, vertices: int = 40, bones: int = 9) -> BindInput:
    random = np.random.default_rng(seed)
    return make_input(random.normal(size=(vertices, 3)), random.normal(size=(bones, 3)),
                      random.normal(size=(bones, 3)))


def plain_weights(given_input: BindInput, exponent: float, influences: int) -> np.ndarray:
    """Say the method once more, vertex by vertex."""
    weights = np.zeros((len(given_input.vertices), len(given_input.heads)))
    for row, vertex in zip(weights, given_input.vertices, strict=True):
        distances = []
        for head, tail in zip(given_input.heads, given_input.tails, strict=True):
            along = tail - head
            share = min(1.0, max(0.0, (vertex - head) @ along / (along @ along)))
            distances.append(np.linalg.norm(vertex - head - share * along))
        for bone in sorted(range(len(distances)), key=distances.__getitem__)[:influences]:
            row[bone] = distances[bone] ** -exponent
        row /= row.sum()
    return weights


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("influences", [1, 2, 4, 8])
def test_equals_the_plain_method(exponent: float, influences: int) -> None:
    given_input = random_input(seed=7)
    found = bind_euclidean(given_input, BindSettings(influences, exponent)).dense(9)
    np.testing.assert_allclose(found, plain_weights(given_input, exponent, influences), atol=WEIGHT_TOLERANCE)


def test_runs_join_seamlessly() -> None:
    bones = 300
    vertices = _DISTANCES_AT_ONCE // bones + 5
    whole = random_input(seed=3, vertices=vertices, bones=bones)
    end = make_input(whole.vertices[-9:], whole.heads, whole.tails)
    found = bind_euclidean(whole, BindSettings())
    np.testing.assert_allclose(found.dense(bones)[-9:], bind_euclidean(end, BindSettings()).dense(bones),
                               atol=WEIGHT_TOLERANCE)


def test_no_limit_takes_every_bone() -> None:
    found = bind_euclidean(random_input(seed=5), BindSettings(influences=0))
    np.testing.assert_allclose(found.dense(9), plain_weights(random_input(seed=5), 2.0, 9), atol=WEIGHT_TOLERANCE)


def test_tells_how_far_it_is_and_can_be_cancelled() -> None:
    many = random_input(seed=4, vertices=3 * (_DISTANCES_AT_ONCE // 300), bones=300)
    told: list[float] = []

    def stop_at_the_second(done: float) -> bool:
        told.append(done)
        return len(told) < 2

    with pytest.raises(BindCancelledError, match="the binding was cancelled"):
        bind_euclidean(many, BindSettings(), stop_at_the_second)
    assert told[0] == 0.0 and 0.3 < told[1] < 0.4


def test_vertex_on_a_bone_belongs_to_it_wholly() -> None:
    given_input = make_input(np.array([[0.3, 0, 0]]), np.array([[0.0, 0, 0], [0, 0.1, 0]]),
                             np.array([[1.0, 0, 0], [1, 0.1, 0]]))
    assert bind_euclidean(given_input, BindSettings()).dense(2).tolist() == [[1.0, 0.0]]


def test_bones_that_meet_at_the_vertex_share_it() -> None:
    joint = np.array([0.1, 0.2, 0.3])
    given_input = make_input(joint[None], np.array([[0.7, -0.3, 0.9], joint, [5, 5, 5]]),
                             np.array([joint, [0.1, 0.2, 2.0], [6, 6, 6]]))
    assert bind_euclidean(given_input, BindSettings()).dense(3).tolist() == [[0.5, 0.5, 0.0]]


def test_of_equal_distances_the_first_bones_are_taken() -> None:
    random = np.random.default_rng(1)
    ends = np.tile(np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]), (50, 1))
    ends *= np.where(np.arange(200) % 7 == 3, 1.0, random.uniform(1.5, 3.0, 200))[:, None]
    found = bind_euclidean(make_input(np.zeros((1, 3)), ends, 2 * ends), BindSettings(influences=4))
    assert np.flatnonzero(found.dense(200)[0]).tolist() == [3, 10, 17, 24]


def test_bones_without_length_are_points() -> None:
    found = segment_distances(np.array([[0.0, 3, 4]]), np.zeros((1, 3)), np.zeros((1, 3)))
    assert found.tolist() == [[5.0]]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-5, 1e-2, 1e2, 1e5]), influences=st.integers(1, 8))
def test_scale_and_order_do_not_matter(seed: int, scale: float, influences: int) -> None:
    given_input = random_input(seed)
    found = bind_euclidean(given_input, BindSettings(influences)).dense(9)
    scaled = make_input(given_input.vertices * scale, given_input.heads * scale, given_input.tails * scale)
    np.testing.assert_allclose(bind_euclidean(scaled, BindSettings(influences)).dense(9), found, atol=1e-6)
    backwards = make_input(given_input.vertices[::-1], given_input.heads, given_input.tails)
    np.testing.assert_array_equal(bind_euclidean(backwards, BindSettings(influences)).dense(9)[::-1], found)


@pytest.mark.parametrize(("values", "message"), [
    ({"exponent": 9.0}, "exponent is 9.0; choose from 0.5 to 8.0"),
    ({"exponent": float("nan")}, "exponent is nan; choose from 0.5 to 8.0"),
    ({"influences": 65}, "influences is 65; choose from 0 to 64"),
])
def test_settings_out_of_range_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(BindError, match=message):
        BindSettings(**values)  # type: ignore[arg-type]  # the point of the test
