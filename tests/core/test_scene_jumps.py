"""A body that is moved to where its way begins: a warning says how far, when and what to do; a walk there is silent."""

import re

import numpy as np
import pytest

from takt.core.errors import Problem
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import ScenePath, ScenePlace, Target
from takt.tests.core.test_scene_ways import played, seen

FAR: dict[str, Target] = {"seat": ScenePlace((3.0, 0.0, -2.0), (0.0, 0.0, 1.0)),
                          "lane": ScenePath(((3.0, 0.0, -2.0), (6.0, 0.0, -2.0)))}
STEP = '<call name="left_step" duration="2"/>'
AT, ALONG = '<call name="right_step" at="seat" duration="2"/>', '<call name="walk" along="lane" duration="6"/>'
NEAR_M = 0.05


def jumps(motion: Motion) -> list[Problem]:
    return [problem for problem in motion.problems if "the body is " in problem.message]


@pytest.mark.parametrize(("call", "walk"), [(AT, "a walk to 'seat'"), (ALONG, "a walk to a place at the beginning of "
                                                                              "'lane'")])
def test_a_jump_is_told_with_its_length_its_time_and_what_to_do(call: str, walk: str) -> None:
    motion = played(STEP, call, cast=FAR)
    (problem,) = jumps(motion)
    positions, _ = seen(motion, np.array((0.0, 2.0)))
    told = re.search(r"at 2\.00 s the body is moved (\d+\.\d+) m to", problem.message)
    assert told is not None and abs(float(told[1]) - np.hypot(*(positions[1] - positions[0]))) < 0.5
    assert walk in problem.message and problem.place.line == 1 and problem.is_warning and not problem.is_note


@pytest.mark.parametrize("calls", [
    (AT,), (ALONG,), ('<call name="walk" to="seat" duration="8" repeat="fit"/>', AT),
    ('<call name="walk" to="seat" duration="8" repeat="fit" facing="no"/>', '<call name="walk" along="lane" '
     'duration="8" at="seat" facing="no"/>'), (STEP, '<call name="walk" to="seat" duration="8" repeat="fit"/>')])
def test_a_score_that_begins_there_or_walks_there_does_not_jump(calls: tuple[str, ...]) -> None:
    cast = FAR | {"lane": ScenePath(((3.0, 0.0, -2.0), (6.0, 0.0, -5.0)))}
    assert not [problem for problem in jumps(played(*calls, cast=cast)) if "is moved" in problem.message]


def test_a_body_that_only_turns_at_once_is_told_too() -> None:
    begun = seen(played(STEP), np.array((1.99,)))[0][0]
    back = ScenePlace((float(begun[0]), 0.0, float(begun[1])), (0.0, 0.0, -1.0))
    (problem,) = jumps(played(STEP, AT, cast={"seat": back}, transitions=False))
    assert re.search(r"turned by 1[678]\d°", problem.message)


def test_a_short_way_is_left_to_the_transition() -> None:
    begun = seen(played(STEP), np.array((1.99,)))[0][0]
    near = ScenePlace((float(begun[0]) + NEAR_M, 0.0, float(begun[1])), (0.0, 0.0, 1.0))
    assert not jumps(played(STEP, AT, cast={"seat": near}))
