"""core/playing/placing/carriers.py: who moves head or arm alone goes nowhere, and nothing of it is torn off."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.pha.expansion import expand
from takt.core.playing.motion import compose
from takt.core.playing.placing.root_motion import ROOT_MODES, RootMode, root_chain, root_joint
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.scores import X, Y, Z, library, procedure, programme
from takt.tests.core.test_doubles import BODY, RIG

EXACT = 1e-9
KEYS_S = np.linspace(0.0, 1.0, 5)
TURN_RAD = np.array((0.0, 0.5, -0.3, 0.2, 0.1))


def part(name: str, *joints: str, shift_m: float = 0.0, skeleton: Skeleton = BODY, axis: np.ndarray = X) -> Clip:
    """Make a clip that turns some joints, and shifts them, away from rest at both its ends."""
    rows = np.array([skeleton.index_of[joint] for joint in joints])
    turns = rot.from_axis_angle(axis, TURN_RAD + 0.4)[:, None].repeat(len(rows), axis=1)
    away = np.outer(0.2 + KEYS_S, (shift_m, 0.0, shift_m))[:, None].repeat(len(rows), axis=1)
    shifts = Tracks.uniform(rows, KEYS_S, away) if shift_m else Tracks.empty(3)
    return Clip(name, skeleton, 1.0, Tracks.uniform(rows, KEYS_S, turns), shifts, Tracks.empty(3))


@pytest.mark.parametrize("root_motion", sorted(ROOT_MODES))
@pytest.mark.parametrize("calls", ["nod reach", "reach nod nod", "nod wave reach"])
@pytest.mark.parametrize("is_known", [True, False])
def test_parts_that_move_alone_leave_all_others_at_rest(calls: str, root_motion: RootMode, is_known: bool) -> None:
    clips = (part("nod", "skullbase"), part("reach", "l_shoulder", axis=Z), part("wave", "r_wrist", axis=Y))
    body = find_map(BODY) if is_known else None
    played = programme(procedure("main", *(f'{name} duration="1"' for name in calls.split())),
                       clips=library(feet_Steps=clips))
    motion = compose(expand(played, "main", False), played.clips,
                     Playing(Style("LEAD", "LINEAR", "SLERP"), root_motion, Y, body=body), feet=body)
    pose = motion.sample(np.linspace(0.0, motion.duration_s, 31))
    np.testing.assert_allclose(pose.translations, 0.0, atol=EXACT)
    others = ~with_descendants(BODY.parents, np.flatnonzero(motion.row.moved))
    assert others[[BODY.index_of[joint] for joint in ("HumanoidRoot", "l_ankle", "r_knee")]].all()
    away = world_from_pose(BODY, pose)[..., 3] - BODY.rest_world[..., 3]
    np.testing.assert_allclose(away[:, others], 0.0, atol=EXACT)


@pytest.mark.parametrize("joint", ["HumanoidRoot", "sacroiliac"])
@pytest.mark.parametrize("shift_m", [0.0, 0.3])
def test_hips_carry_the_body_whatever_else_is_shifted(joint: str, shift_m: float) -> None:
    body, nod = find_map(BODY), part("nod", "skullbase", "l_wrist", shift_m=9.0)
    assert root_joint((nod,), body=body) is None
    assert root_chain((nod,), body=body).tolist() == []
    assert root_joint((nod, part("go", joint, "vt3", shift_m=shift_m)), body=body) == BODY.index_of[joint]


@pytest.mark.parametrize(("joints", "root"), [
    (("c_torso", "c_head"), "c_torso"), (("c_hips", "c_glove"), "c_hips"), (("c_root", "c_hips"), "c_root"),
    (("c_glove", "prop"), None), (("c_chest", "skullbase"), None), (("l_hip", "r_hip"), None)])
def test_in_control_rigs_what_both_legs_hang_on_carries_too(joints: tuple[str, ...], root: str | None) -> None:
    found = root_joint((part("go", *joints, shift_m=0.3, skeleton=RIG),), body=find_map(RIG))
    assert found == (None if root is None else RIG.index_of[root])


def test_where_it_is_not_known_what_only_turns_has_to_carry_half() -> None:
    door = Skeleton.from_arrays(("frame", "door", "handle"), (-1, 0, 1), rot.identities(3), np.eye(3))
    unsure = SkeletonMap(BODY, ("HumanoidRoot", *[None] * (len(BODY) - 1)), (0.1, *[0.0] * (len(BODY) - 1)))
    for body in (None, unsure):
        assert root_joint((part("nod", "skullbase", "l_shoulder"),), body=body) is None
        assert root_joint((part("nod", "skullbase", shift_m=0.1),), body=body) == BODY.index_of["skullbase"]
        assert root_joint((part("bow", "HumanoidRoot"),), body=body) == BODY.index_of["HumanoidRoot"]
    assert root_joint((part("opens", "door", "handle", skeleton=door),)) == 1
    assert root_joint((part("opens", "handle", skeleton=door),)) == 2, "nothing else is there but what it hangs on"
