"""Clips of a single key, as libraries of poses have them: they last no time, and hold as long as they are asked to."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.test_steps import BODY, UP, lifting

POSE = Clip("pose", BODY, 0.0, Tracks.uniform(np.array([BODY.index_of["l_shoulder"]]), np.zeros(1),
                                              rot.from_axis_angle(np.eye(3)[:1, None], np.array(((0.5,),)))),
            Tracks.empty(3), Tracks.empty(3))
TIMES_S = np.linspace(0.0, 3.9, 79)


@pytest.mark.parametrize("order", [("pose",), ("pose", "off"), ("off", "pose"), ("pose", "off", "pose")])
@pytest.mark.parametrize("method", ["LEAD", "END", "INERTIALIZE"])
def test_a_pose_plays_wherever_it_stands_in_a_score(order: tuple[str, ...], method: str) -> None:
    score = programme(procedure("main", *(f'{name} duration="{4.0 / len(order)}"' for name in order)),
                      clips=library(feet_Steps=(POSE, lifting("off", 0.0, 0.3))))
    motion = play(score, Performer(BODY, UP), Settings(method=method))
    pose = motion.sample(TIMES_S)
    assert all(np.isfinite(values).all() for values in (pose.rotations, pose.translations, pose.scales))
    first = motion.sample(np.zeros(1)).rotations[0, BODY.index_of["l_shoulder"]]
    assert rot.angle_between(first, rot.IDENTITY) == pytest.approx(0.5 if order[0] == "pose" else 0.0, abs=1e-6)
