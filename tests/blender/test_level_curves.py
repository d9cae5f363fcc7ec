"""Where curves are level, they are not evaluated one frame at a time, and have exactly Blender's values."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.actions import curves
from takt.bridge.actions.curves import values_at

FRAMES = np.union1d(np.arange(-10.0, 130.0), np.linspace(-3.0, 110.0, 77))
KINDS = ("CONSTANT", "LINEAR", "BEZIER", "ELASTIC", "SINE")
HANDLES = ("AUTO_CLAMPED", "AUTO", "VECTOR", "FREE", "ALIGNED")


def made_curve(seed: int) -> Any:
    """Return a curve with many equal neighbours, and keys of all kinds at and between frames."""
    random = np.random.default_rng(seed)
    ob, action = bpy.data.objects.new("O", None), bpy.data.actions.new("A")
    ob.animation_data_create().action = action
    curve: Any = action.fcurve_ensure_for_datablock(ob, "location")
    frames = np.sort(random.choice(np.arange(0.0, 100.0, 0.5), 30, replace=False))
    for frame, value in zip(frames, random.choice((0.0, 0.1, -1.3), 30), strict=True):
        key = curve.keyframe_points.insert(frame, value)
        key.interpolation = random.choice(KINDS)
        key.handle_left_type, key.handle_right_type = random.choice(HANDLES, 2)
    curve.extrapolation = random.choice(("CONSTANT", "LINEAR"))
    curve.update()
    return curve


pytestmark = pytest.mark.usefixtures("extension")


@pytest.mark.parametrize("seed", range(20))
def test_level_stretches_have_exactly_blenders_values(seed: int) -> None:
    curve = made_curve(seed)
    [found] = values_at([curve], FRAMES)
    assert found.tolist() == [curve.evaluate(frame) for frame in FRAMES.tolist()]


def test_modifiers_are_evaluated_everywhere() -> None:
    curve = made_curve(1)
    curve.modifiers.new("NOISE")
    [found] = values_at([curve], FRAMES)
    assert found.tolist() == [curve.evaluate(frame) for frame in FRAMES.tolist()]


def test_level_stretches_are_found() -> None:
    curve = made_curve(2)
    levels = curves._levels(curve, next(curves._keys([curve])))
    assert 0 < np.isnan(levels).sum() < len(levels)
