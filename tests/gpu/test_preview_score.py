"""The preview of a real score against Blender's own mesh under the Action that the same score was written as."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.score import motion_of, time_s
from takt.core.maths.arrays import FloatArray
from takt.preview.batch import read_geometry
from takt.preview.character import Character
from takt.preview.roles import Role, pose_roles
from takt.samples.character import build_character
from takt.tests.characters import Object, context, evaluated
from takt.tests.gpu.readback import posed_on_gpu

DANCE = Path(__file__).parents[2] / "samples" / "library" / "dance.pha"
POSITION_TOLERANCE = 1e-4
"""Of the height."""


@pytest.fixture
def dancer() -> tuple[Object, Object]:
    armature, mesh = build_character(context)
    for ob in context.selected_objects:
        ob.select_set(False)
    mesh.select_set(True)
    armature.select_set(True)
    context.view_layer.objects.active = armature
    takt: Any = bpy.ops.takt  # type: ignore[attr-defined]  # registered by the extension
    takt.auto_bind()
    takt.import_pha(filepath=str(DANCE))
    return armature, mesh


def test_the_preview_of_a_score_is_blenders_mesh_under_its_action(dancer: tuple[Object, Object]) -> None:
    armature, mesh = dancer
    character = Character(armature.session_uid)
    character.refresh(armature, [mesh])
    assert character.skeleton is not None
    geometry = read_geometry(mesh, list(character.skeleton.names), np.ones((len(character.skeleton), 3)))
    scene = context.scene
    for frame in np.linspace(scene.frame_start, scene.frame_end, 9).astype(int).tolist():
        scene.frame_set(frame)
        ours = previewed(character, armature, geometry, frame)
        theirs = evaluated(mesh)
        height = np.ptp(theirs, axis=0).max()
        assert np.linalg.norm(ours - theirs[geometry.vertices], axis=1).max() <= POSITION_TOLERANCE * height
    assert np.abs(previewed(character, armature, geometry, scene.frame_start)
                  - previewed(character, armature, geometry, scene.frame_start + 100)).max() > 0.1  # it dances


def previewed(character: Character, armature: Object, geometry: Any, frame: int) -> FloatArray:
    role = Role(character, armature, (), motion_of(armature), time_s(armature, context.scene, frame))
    [posed], _ = pose_roles([role])
    positions, _ = posed_on_gpu(geometry, posed.palette, "LINEAR")
    return positions
