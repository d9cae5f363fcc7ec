"""Names of fitted joints: different for each joint, and read back as the same joint."""

import numpy as np
import pytest

from takt.core.fitting import fit_skeleton
from takt.core.fitting.naming import DEFAULT_NAMING, NAMINGS
from takt.core.maths import rotations as rot
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose

from .made_people import A_POSE, Build, person
from .rewriting import movements
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


LINKS = tuple((f"{side}_{start}", f"{side}_{end}") for side in "lr" for start, end in (
    ("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle")))
FEW_DEG, NEAR = 6.0, 0.04
"""By how much a limb may point elsewhere, and how far a wrist or ankle may be, as a share of the height."""


def rig_of(fitted, places):
    offsets = places - np.where(fitted.parents[:, None] >= 0, places[fitted.parents], 0.0)
    return Skeleton.from_arrays(fitted.names, fitted.parents, rot.identities(len(fitted.names)), offsets)


def test_a_clip_plays_on_it_as_on_a_rig_with_the_bodys_own_joints(fitted):
    of = person(Build(turns=A_POSE))
    own = np.array([of.joints.get(name, place) for name, place in zip(fitted.names, fitted.positions, strict=True)])
    for clip in movements():
        times = np.linspace(0.0, clip.duration_s, 12)
        at = []
        for places in (own, fitted.positions):
            played = retarget(clip, rig_of(fitted, places)).clip
            at.append(world_from_pose(played.skeleton, played.sample(times))[..., 3])
        for start, end in LINKS:
            one, other = fitted.names.index(start), fitted.names.index(end)
            ways = [world[:, other] - world[:, one] for world in at]
            cosine = (ways[0] * ways[1]).sum(axis=1) / np.prod([np.linalg.norm(way, axis=1) for way in ways], axis=0)
            assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).mean() < FEW_DEG, (clip.name, start)
            apart = np.linalg.norm(at[0][:, other] - at[1][:, other], axis=1)
            assert apart.mean() < NEAR * of.height, (clip.name, end)
