"""A clip that moves a leg moves all of it: standing feet do not keep the bend with which the clip before pushed off."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.playing.feet.legs import legs_of, with_whole_legs
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.test_steps import BODY, UP

BEND_RAD = 0.4
LATE = np.array((3.5,))


def bent(name: str, *joints: str) -> Clip:
    """Hold some joints bent for two seconds; the others are not in the clip."""
    at = np.array([BODY.index_of[joint] for joint in joints])
    turns = np.tile(rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), BEND_RAD), (2, len(at), 1))
    return Clip(name, BODY, 2.0, Tracks.uniform(at, np.array((0.0, 2.0)), turns), Tracks.empty(3), Tracks.empty(3))


PUSHING = bent("pushing", "l_hip", "l_knee", "l_ankle", "l_metatarsal", "r_hip", "r_metatarsal")


def danced(later: Clip, **settings: bool) -> Motion:
    score = programme(procedure("main", 'pushing duration="2"', f'{later.name} duration="2"'),
                      clips=library(feet_Steps=(PUSHING, later)))
    return play(score, Performer(BODY, UP), Settings(**settings))  # type: ignore[arg-type]


def bends(motion: Motion, *joints: str) -> list[float]:
    turns = motion.row.sample(LATE).rotations[0, [motion.skeleton.index_of[joint] for joint in joints]]
    return [float(each) for each in rot.angle_between(turns, rot.IDENTITY)]


@pytest.mark.parametrize("side", "lr")
def test_what_a_clip_does_not_say_of_a_leg_that_it_moves_is_at_rest_where_feet_stand(side: str) -> None:
    later = bent("later", f"{side}_hip")
    assert bends(danced(later), f"{side}_hip", f"{side}_metatarsal") == pytest.approx([BEND_RAD, 0.0])
    assert bends(danced(later, lock_feet=False), f"{side}_metatarsal") == pytest.approx([BEND_RAD])


def test_a_leg_that_a_clip_does_not_move_stays_as_it_was() -> None:
    later = bent("later", "l_hip", "r_shoulder")
    assert bends(danced(later), "l_knee", "l_metatarsal", "r_hip", "r_metatarsal") == pytest.approx(
        [0.0, 0.0, BEND_RAD, BEND_RAD])


def test_joints_that_no_clip_moves_get_no_keys_and_whole_clips_stay_the_same_value() -> None:
    legs, later = legs_of(find_map(BODY)), bent("later", "r_hip")
    found = with_whole_legs((PUSHING, later), legs)
    assert found[0] is PUSHING and with_whole_legs((PUSHING, later), legs)[1] is found[1]
    assert np.flatnonzero(found[1].moved).tolist() == [BODY.index_of["r_hip"], BODY.index_of["r_metatarsal"]]
    assert with_whole_legs((later,), legs) == [later]
