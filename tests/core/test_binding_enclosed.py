"""Eyes and other parts that close round one bone's head, and leaf bones that run along their tails."""

import numpy as np
import pytest

from takt.core.binding import inside
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance

from .bodies import joined, moved, tube, turn

Mesh = tuple[np.ndarray, list[list[int]]]
UP = np.array((0.0, 0.0, 0.1))


def ball(centre, radius: float, rings: int = 8, sides: int = 10) -> Mesh:
    points, faces = tube((0, 0, 0), (0, 0, 1), 1.0, rings, sides)
    points -= (0, 0, 0.5)
    height = points[:, 2] * np.pi / 2.001  # the tube's ends are at ±1
    flat = points[:, :2] / np.maximum(np.linalg.norm(points[:, :2], axis=1, keepdims=True), 1e-9)
    return np.asarray(centre) + radius * np.column_stack((flat * np.cos(height)[:, None], np.sin(height))), faces


def face(eye_tail: np.ndarray, eye_parent: int = 1) -> BindInput:
    """A neck and a head with two eyeballs in its front, all bones with tails that point one way."""
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 1), 0.15), ball((0, 0, 1.3), 0.4, 14, 16),
                                 *(ball((x, -0.33, 1.35), 0.09) for x in (0.15, -0.15)))
    heads = np.array([(0, 0, 0.1), (0, 0, 1), (0.15, -0.33, 1.35), (-0.15, -0.33, 1.35)])
    return BindInput.from_arrays(points, faces, ["neck", "head", "eye.L", "eye.R"], [-1, 0, eye_parent, eye_parent],
                                 heads, heads + eye_tail, part)


def weights(body: BindInput) -> np.ndarray:
    return bind_inside_distance(body).dense(len(body.bone_names))


@pytest.mark.parametrize("tail", [5 * UP, (0, 0.5, 0), (0, -0.5, 0), (0.3, 0.3, 0.1)])
def test_eyes_turn_with_their_bones_alone_and_take_nothing_else(tail) -> None:
    body = face(np.asarray(tail, float))
    found = weights(body)
    for part, bone in ((2, 2), (3, 3)):
        np.testing.assert_allclose(found[body.part == part, bone], 1.0)
        assert not found[body.part < 2, bone].any()


def test_a_head_whose_neck_closes_round_its_joint_keeps_its_skin(monkeypatch: pytest.MonkeyPatch) -> None:
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 1), 0.4), ball((0, 0, 1.1), 0.16), ball((0, 0, 1.63), 0.41))
    heads = np.array([(0, 0, 0.1), (0, 0, 1.1)])
    body = BindInput.from_arrays(points, faces, ["trunk", "head"], [-1, 0], heads, [heads[1], (0, 0, 2)], part)
    seen: list[np.ndarray] = []

    def see(found: np.ndarray, owner: np.ndarray) -> np.ndarray:
        seen.append(owner)
        return found

    monkeypatch.setattr(inside, "owned_alone", see)
    np.testing.assert_allclose(weights(body)[body.part == 2, 1], 1.0, atol=1e-6)
    assert (seen[0] < 0).all()


def star() -> BindInput:
    """A round body with limbs in pieces of their own around it, whose bones all start beside the body's tail."""
    directions = [np.array((x, y, z)) for x, y, z in ((0.71, 0.7, 0.05), (-0.71, 0.7, 0.05), (0, 0, -1), (0, 0, -1))]
    starts = [np.array(s) for s in ((0.47, -0.2, 0.05), (-0.47, -0.2, 0.05), (0.2, 0, -0.35), (-0.2, 0, -0.35))]
    points, faces, part = joined(ball((0, 0, 0), 0.5, 12, 14),
                                 *(tube(s, s + 0.9 * d, 0.05) for s, d in zip(starts, directions, strict=True)))
    heads = np.array([(0, 0.02, 0.0), *starts])
    ends = heads + 0.8 * np.array([(0, 0, 1), *directions])
    return BindInput.from_arrays(points, faces, ["body", "wing.L", "wing.R", "leg.L", "leg.R"], [-1, 0, 0, 0, 0],
                                 heads, ends, part)


@pytest.mark.parametrize("angle", [0.0, 1.1])
def test_limbs_round_a_body_follow_their_own_bones(angle: float) -> None:
    body = moved(star(), turn((1, 2, 3), angle))
    np.testing.assert_allclose(weights(body)[np.arange(len(body.vertices)), body.part], 1.0, atol=1e-6)


def test_tails_that_all_point_one_way_say_nothing() -> None:
    points, faces = tube((0, 0, 0), (0, 0, 4), 0.4, 24)
    hand, hand_faces = tube((0, 0, 2), (2, 0, 2), 0.2, 16)
    points, faces, part = joined((points, faces), (hand, hand_faces))
    heads = np.array([(0, 0, 1), (0.6, 0, 2), (1.3, 0, 2)], float)
    expected = weights(BindInput.from_arrays(points, faces, ["trunk", "arm", "hand"], [-1, 0, 1], heads, heads, part))
    for tail in (UP, 20 * UP, (0.3, 0.3, 0.3)):
        found = BindInput.from_arrays(points, faces, ["trunk", "arm", "hand"], [-1, 0, 1], heads, heads + tail, part)
        np.testing.assert_allclose(weights(found), expected)
