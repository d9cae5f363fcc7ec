"""An empty that hangs on the character's own head is a place for its hands: she drinks."""

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score
from takt.tests.blender.test_cast import added, rebuilt
from takt.tests.blender.test_cast_bad_input import problems
from takt.tests.blender.test_held_props import FPS, LEG_M, course, cup, drinker

__all__ = ["drinker"]  # the fixture


def on_bone(name: str, character: bpy.types.Object, bone: str, at: tuple[float, float, float]) -> bpy.types.Object:
    """Return an empty at a position in the world at rest, as Set Parent To > Bone leaves it."""
    found, pose = added(name, None, location=at), character.pose
    assert pose is not None
    found.parent, found.parent_type, found.parent_bone = character, "BONE", bone
    tail = character.matrix_world @ pose.bones[bone].matrix
    tail.translation = character.matrix_world @ pose.bones[bone].tail
    found.matrix_parent_inverse = tail.inverted()
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    return found


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_cup_is_brought_to_an_empty_at_the_mouth(drinker: bpy.types.Object, is_nested: bool) -> None:
    prop, mouth, character = cup(), on_bone("Mouth", drinker, "skullbase", (0.0, -0.15, 1.55)), properties.character(
        drinker)
    if is_nested:
        inner = added("Lips", None, location=(0.0, -0.02, 0.01))
        inner.parent = mouth
        mouth = inner
    character.cast["cup"].target, character.cast["table"].target = prop, mouth
    rebuilt()
    assert not problems(drinker, "table") and not problems(drinker, "cup")
    frames = 1 + FPS * np.array((5.1, 5.5, 5.9))
    there, carried = course(mouth, frames)[:, :3, 3], course(prop, frames)[:, :3, 3]
    assert np.linalg.norm(carried - there, axis=1).max() < 0.015 * LEG_M
    before = score.motion_of(drinker)
    mouth.location.z += 0.03
    rebuilt()
    assert score.motion_of(drinker) is not before
    there, carried = course(mouth, frames)[:, :3, 3], course(prop, frames)[:, :3, 3]
    assert np.linalg.norm(carried - there, axis=1).max() < 0.015 * LEG_M


def test_a_place_on_the_hand_that_reaches_is_told(drinker: bpy.types.Object) -> None:
    character = properties.character(drinker)
    character.cast["table"].target = on_bone("Ring", drinker, "r_wrist", (-0.7, 0.0, 1.4))
    (problem,) = problems(drinker, "table")
    assert "is on the arm that reaches for it" in problem.message and problem.is_missed
