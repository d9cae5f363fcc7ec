"""Files that were once bound wrongly, opened and bound as users do; each README beside them says what is right."""

from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import groups
from takt.tests.beside import case_file
from takt.tests.rigged import bind, context, select

LEAST = 1.0
"""Vertices' weight without which a bone counts as left without vertices."""
WEIGHT_TOLERANCE = 1e-6


def bound(case: str, capfd: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    """Open a case, select all of it, bind; return the armature and what was said."""
    bpy.ops.wm.open_mainfile(filepath=str(case_file("binding", case, f"{case}.blend")))
    rig: Any = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    select(rig, *(ob for ob in context.view_layer.objects if ob != rig))
    capfd.readouterr()
    bind()
    return rig, capfd.readouterr().out


def table(rig: Any, name: str) -> dict[str, np.ndarray]:
    """Return the weights (V,) of each bone in a mesh of its own name; all vertices have weights that sum to 1."""
    bones = [bone.name for bone in rig.data.bones]
    dense = groups.read_influences(bpy.data.objects[name], bones).dense(len(bones))
    np.testing.assert_allclose(dense.sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)
    return dict(zip(bones, dense.T, strict=True))


@pytest.mark.parametrize("modifier", ["cloth", "corrective-smooth", "remesh"])
def test_the_armature_stands_ahead(modifier: str, capfd: pytest.CaptureFixture[str]) -> None:
    bound(f"armature-after-{modifier}", capfd)
    kinds = [each.type for each in bpy.data.objects["Body"].modifiers]
    assert kinds == ["ARMATURE", modifier.upper().replace("-", "_")]


def test_each_piece_of_the_bird_follows_its_own_bone(capfd: pytest.CaptureFixture[str]) -> None:
    rig, _ = bound("bird-wings-empty", capfd)
    found = table(rig, "Bird")
    counts = {bone: int((weight == 1.0).sum()) for bone, weight in found.items()}
    assert counts == {"root": 0, "body": 262, "wing.L": 120, "wing.R": 120, "leg.L": 120, "leg.R": 120}


def test_a_curve_is_named_as_left_alone(capfd: pytest.CaptureFixture[str]) -> None:
    _, said = bound("curve-left-without-a-word", capfd)
    assert "HairCurve" in next(line for line in said.splitlines() if "Left alone" in line)


@pytest.mark.parametrize("case", ["def-beside-org-all-deform", "def-under-mch-all-deform"])
def test_def_bones_have_all_the_skin(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    rig, _ = bound(case, capfd)
    for bone, weight in table(rig, "Body").items():
        assert weight.sum() >= LEAST if bone.startswith("DEF-") else not weight.any(), bone


def test_eyes_that_share_a_mesh_are_bound(capfd: pytest.CaptureFixture[str]) -> None:
    rig, said = bound("eyes-share-one-mesh", capfd)
    eyes = [bpy.data.objects[name] for name in ("Body", "EyeL", "EyeR")]
    assert all(eye.parent == rig and [each.type for each in eye.modifiers] == ["ARMATURE"] for eye in eyes)
    assert eyes[1].data == eyes[2].data  # as both get the same weights
    assert "Made single-user" not in said
    for eye in eyes[1:]:
        assert table(rig, eye.name)["head"].min() > 1.0 - WEIGHT_TOLERANCE


def test_eyes_follow_their_bones_and_nothing_else_does(capfd: pytest.CaptureFixture[str]) -> None:
    rig, _ = bound("eyes-take-the-face", capfd)
    body = table(rig, "Body")
    for eye, bone in (("EyeLeft", "LeftEye"), ("EyeRight", "RightEye")):
        assert table(rig, eye)[bone].min() > 1.0 - WEIGHT_TOLERANCE
        assert not body[bone].any()


def test_limbs_under_a_root_have_their_skin(capfd: pytest.CaptureFixture[str]) -> None:
    rig, _ = bound("limbs-under-root-gltf-tails", capfd)
    for bone, weight in table(rig, "Body").items():
        assert weight.sum() >= LEAST if bone != "root" else not weight.any(), bone


def test_a_rig_that_is_too_large_is_named_with_the_ratio(capfd: pytest.CaptureFixture[str]) -> None:
    _, said = bound("rig-100-times-larger", capfd)
    assert "The skeleton is 105 times as large as the largest mesh" in said


def test_each_leg_follows_its_own_bones(capfd: pytest.CaptureFixture[str]) -> None:
    rig, _ = bound("two-legs-one-empty", capfd)
    found = table(rig, "Legs")
    is_left = np.array([vertex.co.x for vertex in bpy.data.objects["Legs"].data.vertices]) > 0.0
    for bone, weight in found.items():
        other = weight[is_left] if bone.endswith(".R") else weight[~is_left]
        assert weight.sum() > 50.0 and not other.any() if bone != "root" else not weight.any(), bone
