"""Toes stay level on the ground where a foot tips over them, as far as their skin would go into it, and no further."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.retargeting.ground.toes import Toes, with_toes_bent
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_ground import BELOW, Skin, lowest, skin_of, with_long_shoes
from takt.tests.core.test_ground_by_joints import changing_feet
from takt.tests.core.test_retarget import with_axes

EXACT, LEVEL_DEG = 1e-9, 12.0
UP, FRONT = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
TIMES = np.linspace(0.0, 0.8, 9)
"""While the clip stands on the ball of its left foot."""


def in_shoes(seed: int) -> tuple[Skeleton, Skin]:
    """Return a body whose toes are a fifth of a metre long."""
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(seed))
    found = find_map(target)
    assert found.turn is not None
    return target, with_long_shoes(target, skin_of(target, {}), 0.2 * rot.rotate(found.turn, FRONT),
                                   are_stiff=False)


@given(tipped=st.floats(-1.0, 1.7), height=st.floats(-0.05, 0.3), long=st.floats(0.02, 0.3),
       thick=st.floats(0.005, 0.1))
def test_the_end_of_the_toes_comes_to_the_ground_where_it_would_be_in_it(tipped: float, height: float, long: float,
                                                                         thick: float) -> None:
    toes = Toes(0, FRONT, UP, 0.0, long, thick)
    sine, cosine = np.array([np.sin(tipped)]), np.array([np.cos(tipped)])
    bent = float(toes.bent_by(-sine, cosine, np.array([height]))[0])
    low = height + thick - (long * np.sin(tipped - bent) + thick * np.cos(tipped - bent))
    if 0.0 < bent < np.radians(75.0) - EXACT and tipped + np.arctan2(thick, long) < np.pi / 2:
        assert low == pytest.approx(min(height, 0.0), abs=1e-7), "just out of the ground, or level below it"
    elif bent < np.radians(75.0) - EXACT:
        assert low >= min(height, 0.0) - EXACT
    assert bent == 0.0 or height + thick < 1.6 * np.hypot(long, thick)
    assert 0.0 <= bent <= max(tipped, 0.0) + EXACT


@pytest.mark.slow
@pytest.mark.parametrize("heel_up_deg", [20.0, 40.0, 60.0])
@pytest.mark.parametrize("seed", range(3))
def test_who_stands_on_the_ball_of_a_foot_stands_no_higher_for_long_toes(seed: int, heel_up_deg: float) -> None:
    target, skin = in_shoes(seed)
    clip, found = changing_feet(np.radians(heel_up_deg), (1.0,)), find_map(target)
    played = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    world, plain = (world_from_pose(target, each.sample(TIMES)) for each in (played, retarget(clip, target).clip))
    assert lowest(target, played, skin, TIMES).min() > BELOW
    assert found.turn is not None
    up = rot.rotate(found.turn, UP)
    toes, ankle = found.joint_of["l_metatarsal"], found.joint_of["l_ankle"]
    sole = world[:, toes, :, :3] @ np.linalg.solve(target.rest_world[toes, :, :3], up)
    assert np.degrees(np.arccos(np.clip(sole @ up, -1.0, 1.0))).max() < LEVEL_DEG
    np.testing.assert_allclose(world[:, ankle, :, :3], plain[:, ankle, :, :3], atol=1e-6)
    hips = found.joint_of["HumanoidRoot"]
    assert np.abs((world[:, hips, :, 3] - plain[:, hips, :, 3]) @ up).max() < 0.04


def test_toes_that_are_not_in_the_ground_stay_as_they_are() -> None:
    """In the air, on feet that stand flat, and of one who kneels with his soles up."""
    target, skin = in_shoes(4)
    found, points = find_map(target), SkinPoints.of(*skin)
    assert found.turn is not None
    up, across = (rot.rotate(found.turn, each) for each in (UP, np.array((1.0, 0.0, 0.0))))
    ankle = found.joint_of["l_ankle"]
    about = rot.rotate(rot.conjugate(target.rest_world_rotations[ankle]), across)

    def tipped(angle_deg: float, high: float) -> Clip:
        root = int(np.flatnonzero(target.parents < 0)[0])
        return Clip("", target, 0.0, Tracks.uniform(np.array([ankle]), np.zeros(1), rot.from_axis_angle(
            about, np.radians(angle_deg))[None, None]), Tracks.uniform(np.array([root]), np.zeros(1),
                                                                      high * up[None, None]), Tracks.empty(3))

    def bent(clip: Clip) -> bool:
        return with_toes_bent(clip, found, points, up, np.zeros(1)) is not clip

    assert bent(tipped(40.0, 0.0))
    assert not any(bent(tipped(angle, high)) for angle, high in ((40.0, 0.5), (0.0, 0.0), (-30.0, 0.0), (150.0, 0.0)))
