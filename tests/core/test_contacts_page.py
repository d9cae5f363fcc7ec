"""The example of docs/contacts.md walks on a floor with steps."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.ground.off_ground import is_within
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.stepping import BODY, walking

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "contacts.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
UP, LEG_M = np.array((0.0, 1.0, 0.0)), 0.825
LONGEST_LINES, SAME_M, ON_M, SUDDEN_M = 150, 1e-3, 0.01 * LEG_M, 0.02
Floor = Callable[[FloatArray], FloatArray]


def on_floor(clip: Clip, floor: Floor) -> Clip:
    names: dict[str, Any] = {}
    exec(compile(EXAMPLE, "docs/contacts.md", "exec"), names)  # the page's own example
    made = names["on_floor"](clip, find_map(clip.skeleton), UP, floor)
    assert isinstance(made, Clip)
    return made


def stepped(height_m: float, wide_m: float = 0.6) -> Floor:
    """Return a floor that goes up by a step for each way of so many metres."""
    return lambda places: height_m * np.floor(np.maximum(places[:, 2], 0.0) / wide_m)


def joints_at(clip: Clip, times: FloatArray, *names: str) -> FloatArray:
    return world_from_pose(BODY, clip.sample(times))[..., 3][:, [BODY.index_of[name] for name in names]]


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.splitlines()) < LONGEST_LINES


def test_a_level_floor_changes_nothing() -> None:
    clip, times = walking(), np.linspace(0.0, 3.3, 100)
    done = on_floor(clip, stepped(0.0))
    names = ("HumanoidRoot", "l_ankle", "r_ankle")
    np.testing.assert_allclose(joints_at(done, times, *names), joints_at(clip, times, *names), atol=SAME_M)


@pytest.mark.parametrize("height_m", [0.05, 0.1, -0.05])
def test_feet_stand_on_the_steps_under_their_footprints(height_m: float) -> None:
    clip, times, floor = walking(), np.linspace(0.0, 3.3, 199), stepped(height_m)
    done, contacts = on_floor(clip, floor), find_contacts(clip, find_map(BODY), UP)
    before, after = (joints_at(each, times, "l_ankle", "r_ankle") for each in (clip, done))
    risen = (after - before) @ UP
    stepped_on = set()
    for side, foot in enumerate(contacts.feet.values()):
        for begin, end in foot.stands:
            under = is_within(times, np.array([(begin, end)]))
            wanted = floor(before[under, side]).max()
            assert np.abs(risen[under, side] - wanted).max() < ON_M
            stepped_on.add(round(float(wanted), 3))
    assert len(stepped_on) > 2
    for side in range(2):
        assert (risen[:, side] - floor(before[:, side])).min() > -ON_M
    hips = joints_at(done, times, "HumanoidRoot")[:, 0] @ UP
    own = joints_at(clip, times, "HumanoidRoot")[:, 0] @ UP
    assert np.abs(np.diff(hips, 2)).max() < np.abs(np.diff(own, 2)).max() + SUDDEN_M
