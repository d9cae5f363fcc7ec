"""Names of fitted joints: different for each joint, and read back as the same joint."""

import numpy as np
import pytest

from takt.core.fitting import fit_skeleton
from takt.core.fitting.naming import DEFAULT_NAMING, NAMINGS
from takt.core.maths import rotations as rot
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton

from .made_people import A_POSE, Build, person
from .test_fitting_humanoid import problem

LIMBS = {"HumanoidRoot", "skullbase", *(f"{side}_{joint}" for side in "lr" for joint in (
    "sternoclavicular", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "metatarsal"))}


@pytest.fixture(scope="module")
def fitted():
    return fit_skeleton(problem(person(Build(turns=A_POSE))))


@pytest.mark.parametrize("naming", NAMINGS)
def test_a_rig_with_these_names_is_known_again(fitted, naming):
    names = [NAMINGS[naming].name_of(joint) for joint in fitted.names]
    assert len(set(names)) == len(names)
    offsets = fitted.positions - np.where(fitted.parents[:, None] >= 0, fitted.positions[fitted.parents], 0.0)
    rig = Skeleton.from_arrays(names, fitted.parents, rot.identities(len(names)), offsets)
    found = find_map(rig)
    assert found.is_sure
    for joint, name in zip(fitted.names, names, strict=True):
        if joint in LIMBS:
            assert found.joint_of[joint] == names.index(name), joint


def test_fingers_have_the_names_of_each_convention():
    named = {naming: [entry.name_of(joint) for joint in ("l_index1", "r_thumb3", "l_pinky2")]
             for naming, entry in NAMINGS.items()}
    assert named == {
        "HANIM": ["l_index1", "r_thumb3", "l_pinky2"],
        "MIXAMO": ["mixamorig:LeftHandIndex1", "mixamorig:RightHandThumb3", "mixamorig:LeftHandPinky2"],
        "UNREAL": ["index_01_l", "thumb_03_r", "pinky_02_l"],
        "VRM": ["leftIndexProximal", "rightThumbDistal", "leftLittleIntermediate"],
        "RIGIFY": ["f_index.01.L", "thumb.03.R", "f_pinky.02.L"]}


def test_the_default_is_one_of_them():
    assert DEFAULT_NAMING in NAMINGS
