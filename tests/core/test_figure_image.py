"""Pictures of figures: a stroke is where it is drawn, nearer ones lie before farther ones, the rest is empty."""

import numpy as np

from takt.core.score_editor.figure_image import figure_image
from takt.core.score_editor.figures import Figure


def test_a_stroke_covers_its_place_and_nothing_else() -> None:
    strokes = np.array([[[[0.0, 0.2], [0.0, 0.8]]], [[[0.3, 0.2], [0.3, 0.8]]]])
    image = figure_image(Figure(strokes, np.array([0.1]), np.array([False]), 1), 100)
    unit = 100 / 1.35
    solid = np.argwhere(image[..., 3] > 0.5)
    np.testing.assert_allclose(solid.min(axis=0), (0.21 * unit, 50 + 0.25 * unit), atol=1.5)
    np.testing.assert_allclose(solid.max(axis=0), (0.91 * unit, 50 + 0.35 * unit), atol=1.5)
    assert image.shape == (100, 100, 4) and image.dtype == np.float32 and not image[:, :40].any()


def test_the_later_stroke_lies_before_the_earlier_one_and_farther_ones_are_darker() -> None:
    cross = np.array([[[[-0.3, 0.5], [0.3, 0.5]], [[0.0, 0.2], [0.0, 0.8]]]])
    image = figure_image(Figure(cross, np.array([0.1, 0.1]), np.array([True, False]), 0), 100)
    row = int((0.5 + 0.06) * 100 / 1.35)
    assert image[row, 50, 0] > image[row, 35, 0] > 0.3 and image[row, 50, 3] == image[row, 35, 3] == 1.0
