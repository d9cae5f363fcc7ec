"""Where bodies go whose rest poses are turned about the vertical by any angle, of the clip or of the character."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.upright import turned
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_retarget import with_axes

ANGLES_DEG = (30.0, 44.0, 46.0, 60.0, 90.0, 135.0, 180.0, 225.0, 350.0)
SAME_M = 0.004
"""Half a percent of the leg."""
TARGET = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(3))
CLIPS = [next(clip for clip in movements() if clip.name == name) for name in ("left_step", "quarter_left", "sway")]
LITTLE_DEG, SIDEWAYS = 12.0, np.array((1.0, 0.0, 0.0))


def about_up(angle_deg: float) -> FloatArray:
    return rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.radians(angle_deg))


def positions(clip: Clip) -> FloatArray:
    return world_from_pose(clip.skeleton, clip.sample(np.linspace(0.0, clip.duration_s, 12)))[..., 3]


@pytest.mark.slow
@pytest.mark.parametrize("angle_deg", ANGLES_DEG)
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_a_character_that_rests_turned_goes_as_it_would_go_turned(clip: Clip, angle_deg: float) -> None:
    """As one whose object is turned: ahead is where the body faces at rest."""
    wanted = rot.rotate(about_up(angle_deg), positions(retarget(clip, TARGET).clip))
    found = positions(retarget(clip, TARGET.turned(about_up(angle_deg))).clip)
    np.testing.assert_allclose(found, wanted, atol=SAME_M)


@pytest.mark.slow
@pytest.mark.parametrize("angle_deg", ANGLES_DEG)
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_a_clip_whose_body_rests_turned_plays_the_same(clip: Clip, angle_deg: float) -> None:
    """Whether it also sets out in that direction, or only rests so; a body that sets out a little aside stays aside."""
    plain = rewritten(clip, Rewriting()).clip
    wanted = positions(retarget(plain, TARGET).clip)
    only_rests = rewritten(clip, Rewriting(zero="TURNED", angle_deg=angle_deg)).clip
    np.testing.assert_allclose(positions(retarget(only_rests, TARGET).clip), wanted, atol=SAME_M)
    if LITTLE_DEG < angle_deg < 360.0 - LITTLE_DEG:  # else it sets out between both
        goes = turned(plain, about_up(angle_deg))
        np.testing.assert_allclose(positions(retarget(goes, TARGET).clip), wanted, atol=SAME_M)


@pytest.mark.parametrize("angle_deg", ANGLES_DEG)
def test_a_clip_and_a_character_that_rest_turned_alike_go_the_same_way(angle_deg: float) -> None:
    turn = about_up(angle_deg)
    goes = turned(rewritten(CLIPS[0], Rewriting()).clip, turn)
    path = [at[:, find_map(skeleton).joint_of["HumanoidRoot"]] for at, skeleton in
            ((positions(goes), goes.skeleton), (positions(retarget(goes, TARGET.turned(turn)).clip), TARGET))]
    there, here = (at[-1] - at[0] for at in path)
    assert np.linalg.norm(np.cross(there, here)) < 0.02 * np.linalg.norm(there) * np.linalg.norm(here)


@pytest.mark.parametrize("angle_deg", [25.0, 45.0, 70.0, 225.0])
def test_a_character_that_leans_and_faces_aside_goes_where_it_faces(angle_deg: float) -> None:
    lean = rot.from_axis_angle(SIDEWAYS, np.radians(20.0))
    wanted = rot.rotate(about_up(angle_deg), positions(retarget(CLIPS[0], TARGET).clip))
    leaning = TARGET.turned(rot.multiply(about_up(angle_deg), lean))
    np.testing.assert_allclose(positions(retarget(CLIPS[0], leaning).clip), wanted, atol=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_a_body_that_leans_forward_and_aside_faces_where_it_faces_upright(seed: int) -> None:
    plain = rewritten(CLIPS[1], Rewriting()).clip
    leaning = rewritten(CLIPS[1], Rewriting(zero="LEANING", angle_deg=44.0, seed=seed)).clip
    wanted, found = (positions(retarget(clip, TARGET).clip) for clip in (plain, leaning))
    np.testing.assert_allclose(found, wanted, atol=SAME_M)
