"""Eyes in a face that has no eyeballs of its own: they move what lies close, and the head keeps its skin."""

import numpy as np
import pytest

from takt.core.binding.bone_lines import bone_lines
from takt.core.binding.eyes import eye_reach
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.segments import Segments

from .bodies import joined, tube
from .test_binding_enclosed import ball
from .test_binding_solid import solid_of

LENGTH = 0.12
HEADS = np.array([(0, 0, 0.1), (0, 0, 1), (0.15, -0.25, 1.35), (-0.15, -0.25, 1.35)])
TAILS = np.array([(0, 0, 1), (0, 0, 1.7), (0.15, -0.25 - LENGTH, 1.35), (-0.15, -0.25 - LENGTH, 1.35)])


def face(names: list[str], length: float = LENGTH) -> BindInput:
    """A neck that goes over into a head, without eyeballs, and eyes' bones that look forward."""
    points, faces, part = joined(tube((0, 0, 0), (0, 0, 1), 0.15), ball((0, 0, 1.3), 0.4, 24, 24))
    tails = TAILS.copy()
    tails[2:, 1] = HEADS[2:, 1] - length
    return BindInput.from_arrays(points, faces, names, [-1, 0, 1, 1], HEADS, tails, part)


@pytest.mark.parametrize("names", [["eye.L", "eye.R"], ["LeftEye", "RightEye"], ["L-DeadEye", "R-DeadEye"]])
@pytest.mark.parametrize("length", [0.06, LENGTH])
def test_eyes_move_no_more_than_lies_close(names: list[str], length: float) -> None:
    body = face(["neck", "head", *names], length)
    found = bind_inside_distance(body).dense(4)
    of_eyes = found[body.part == 1, 2:].sum(axis=1)
    away = np.linalg.norm(body.vertices[body.part == 1, None] - TAILS[2:], axis=2).min(axis=1)
    assert of_eyes.mean() < 0.1
    assert of_eyes[away > 0.3].max() < 0.05
    assert (found[body.part == 1].argmax(axis=1) == 1).mean() > 0.85


def test_bones_that_are_no_eyes_have_the_reach_of_their_limbs() -> None:
    solid = solid_of(*joined(ball((0, 0, 0), 1.0, 20, 20))[:2], 0.05)
    lines = Segments(np.arange(3), np.zeros((3, 3)), np.array([(0, 0, 1), (0, -0.4, 0), (0, 0, 0)], float),
                     np.ones(3, dtype=bool))
    heads, tails = np.zeros((3, 3)), np.array([(0, 0, 1), (0, 1, 0), (0, 0.2, 0)], float)
    found = eye_reach(["head", "eye", "eye.001"], np.array([-1, 0, 0]), lines, heads, tails, solid)
    assert found == pytest.approx([np.inf, 0.2, 0.1])  # half of the line, and of the bone that has no line
    with_a_jaw = eye_reach(["eye", "head", "eye.001"], np.array([-1, 0, 0]), lines, heads, tails, solid)
    assert np.isinf(with_a_jaw[:2]).all()  # what carries other bones is no eye


def test_the_lines_say_how_far_eyes_reach() -> None:
    body = face(["neck", "head", "eye.L", "eye.R"])
    points, faces, _ = joined(tube((0, 0, 0), (0, 0, 1), 0.15), ball((0, 0, 1.3), 0.4, 24, 24))
    found = bone_lines(body.bone_names, body.bone_parents, HEADS, TAILS, solid_of(points, faces, 0.05), 2.0)
    assert found.reach == pytest.approx([np.inf, np.inf, LENGTH / 2, LENGTH / 2])
