"""The pictures of transition methods as Blender's icons: made when they are seen first, gone with the extension."""

from typing import Any

import bpy
import numpy as np

from takt.bridge import properties
from takt.core.playing.method_pictures import PICTURE_PX, method_picture
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.panels import transition_methods


def test_each_method_has_a_picture_of_its_own() -> None:
    for method in (*TRANSITION_METHODS, *TRANSITION_METHODS):
        transition_methods._icon(method)  # without a screen it has no number
    assert set(transition_methods._previews) == set(TRANSITION_METHODS)
    kept = np.empty(PICTURE_PX * PICTURE_PX * 4, dtype=np.float32)
    transition_methods._previews["LEAD"].image_pixels_float.foreach_get(kept)
    assert np.abs(kept - method_picture("LEAD").ravel()).max() < 0.01
    transition_methods.unregister()
    assert transition_methods._previews is None


def test_a_picture_chooses_its_method(rig: bpy.types.Object) -> None:
    operator: Any = bpy.ops.takt.choose_method  # type: ignore[attr-defined]
    for method in TRANSITION_METHODS:
        assert operator(method=method) == {"FINISHED"}
        assert properties.character(rig).method == method
    assert operator(method="NONE") == {"CANCELLED"}


def test_the_popover_is_there() -> None:
    assert hasattr(bpy.types, transition_methods.TAKT_PT_transition_methods.bl_idname)
