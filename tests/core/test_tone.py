"""View transforms against what Blender's own tables give, and what must hold of any."""

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.shading.tone import TONES, toned

LEVELS = 8.0 / 255.0
LIGHT = np.array((*np.repeat(((0.01,), (0.18,), (0.5,), (1.0,), (4.0,)), 3, axis=1), (0.1, 0.4, 1.0), (0.4, 1.6, 4.0),
                  (0.4, 0.05, 0.025), (3.2, 0.4, 0.2)))
SHOWN = {  # by OpenColorIO with the tables of Blender 4.5 and 5.2, encoded
    "Standard": (0.0999, 0.4614, 0.7354, 1.0, 1.0, (0.3492, 0.6652, 1.0), (0.6652, 1.0, 1.0),
                 (0.6652, 0.2478, 0.1718), (1.0, 0.6652, 0.4845)),
    "AgX": (0.0725, 0.4613, 0.6652, 0.7710, 0.9137, (0.4670, 0.6357, 0.7905), (0.7400, 0.8329, 0.9291),
            (0.6490, 0.2418, 0.1379), (0.9548, 0.6736, 0.6158)),
    "Filmic": (0.1011, 0.5002, 0.6950, 0.8072, 0.9494, (0.3883, 0.6542, 0.8072), (0.6542, 0.8680, 0.9494),
               (0.6542, 0.2731, 0.1828), (0.9338, 0.6542, 0.5207)),
    "Khronos PBR Neutral": (0.0081, 0.4113, 0.7107, 0.9364, 0.9925, (0.2868, 0.6116, 0.9364), (0.6390, 0.7812, 0.9925),
                            (0.6510, 0.1866, 0.0503), (0.9902, 0.6064, 0.5651)),
}


def encoded(linear: FloatArray) -> FloatArray:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1.0 / 2.4) - 0.055)


@pytest.mark.parametrize("tone", TONES)
def test_light_is_shown_nearly_as_blender_shows_it(tone: str) -> None:
    expected = np.array([np.broadcast_to(colour, 3) for colour in SHOWN[tone]])
    np.testing.assert_allclose(encoded(toned(LIGHT, tone)), expected, atol=LEVELS)


@pytest.mark.parametrize("tone", TONES)
def test_more_light_is_never_darker_and_grey_stays_grey(tone: str) -> None:
    grey = np.repeat(np.concatenate(((0.0,), 2.0 ** np.linspace(-12.0, 12.0, 400)))[:, None], 3, axis=1)
    shown = toned(grey, tone)
    assert (shown >= 0.0).all() and (shown <= 1.0).all() and np.diff(shown, axis=0).min() > -2e-3
    assert np.ptp(shown, axis=1).max() < 2e-3
