"""The mesh of RiTE's models, written by hand, since no others are to be had."""

from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import FileError
from takt.core.formats import rite_mesh
from takt.tests.core.test_rite import MODEL

GOOD = MODEL[:MODEL.index("vertices")] + """vertices
0 0 0 0
3 1 0 0

5 0 1 0
6 1 1 0
normals
0 0 0 2
texture coordinates
1 1 0.25
0 0 0
triangles
0 skin.ras 0 3 6 0 0 0 0 1 1
1 "cloth" 0 6 5 0 0 0 0 1 0
weights
0 0 0 "pelvis" 1.0
1 6 2 "left knee" 3
2 6 1 "l_hip" 1
3 5 1 "l_hip" 0.5
"""
M = Path("lib/walk.ram")


@pytest.mark.parametrize("heading", ["normals\n", ""])
def test_a_mesh_has_its_corners_looks_and_weights(heading: str) -> None:
    found = rite_mesh.read(GOOD.replace("normals\n", heading).encode(), M)
    character = found.characters[0]
    mesh, names = character.meshes[0], character.skeleton.names
    np.testing.assert_allclose(mesh.positions, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    assert mesh.triangles.tolist() == [[0, 1, 3], [0, 3, 2]]
    assert [mesh.looks[at].name for at in mesh.material] == ["skin.ras", "cloth"]
    assert mesh.uvs is not None and mesh.normals is not None and not found.warnings
    np.testing.assert_allclose(mesh.uvs[0], np.array([[0, 0], [1, 0.25], [1, 0.25]]))
    np.testing.assert_allclose(mesh.normals, np.broadcast_to([0.0, 0.0, 1.0], (2, 3, 3)))
    weights = [{names[joint]: weight for joint, weight in zip(*row, strict=True) if weight} for row in zip(
        mesh.influences.joints.tolist(), mesh.influences.weights.tolist(), strict=True)]
    assert weights == [{"pelvis": 1.0}, {}, {"l_hip": 1.0}, {"left knee": 0.75, "l_hip": 0.25}]


def test_a_model_without_triangles_is_a_skeleton() -> None:
    found = rite_mesh.read(GOOD[:GOOD.index("triangles")].encode(), M)
    assert not found.characters[0].meshes and "no triangles" in found.warnings[0]
    assert len(found.characters[0].skeleton) == 3


@pytest.mark.parametrize(("old", "new", "says"), [
    ("0 skin.ras 0 3 6", "0 skin.ras 0 3 9", "a vertex that there is: 9 is none"),
    ("0 skin.ras 0 3 6 0", "0 skin.ras 0 3 6 4", "a normal that there is: 4 is none"),
    ("0 skin.ras 0 3", "0 skin.ras 0 -3", "whole numbers from 0 on"),
    ("1 1 0.25", "0 1 0.25", "another ID for each record of a block"),
    ('"l_hip" 0.5', '"tail" 0.5', "a joint of the model: 'tail' is none"),
    ('"l_hip" 0.5', '"l_hip" nan', "1 finite number"),
    ("3 5 1", "3 8 1", "a vertex that there is: 8 is none"),
    ("normals\n", "normals\n0 1 1 1\nmore\n", "no third block"),
])
def test_damage_is_said_with_its_line(old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(FileError, match=says) as caught:
        rite_mesh.read(GOOD.replace(old, new, 1).encode(), M)
    assert caught.value.problems[0].place.line is not None
