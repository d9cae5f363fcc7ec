"""Bodies without legs stay on the ground with what of their skin is lowest, whatever they play."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.retargeting.ground import all_steps
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.stepping import BODY, jumping, walking
from takt.tests.core.test_rolls import rolling
from takt.tests.core.test_seated_legs import THICK_M, UP, lying_down, sitting_down

ON_GROUND_M, AWAY_M = 0.015, 0.1
CLIPS = [lying_down(THICK_M), rolling(), sitting_down(), walking(), jumping()]


def blob() -> tuple[Skeleton, SkinPoints]:
    """Return the upper half of a body, resting on a ball of skin about its hips; others are about its other joints."""
    hips = np.array([BODY.index_of[f"{side}_hip"] for side in "lr"])
    body = BODY.part(np.flatnonzero(~with_descendants(BODY.parents, hips)))
    body = Skeleton.from_arrays(body.names, body.parents, body.rest_rotations,
                                body.rest_translations * np.where(np.arange(len(body)) % 2, 1.2, 1.0)[:, None])
    rng, own = np.random.default_rng(0), np.repeat(np.arange(len(body)), 150)
    away = rng.normal(size=(len(own), 3))
    away *= (np.where(own == 0, 0.4, 0.1) / np.linalg.norm(away, axis=1))[:, None]
    return body, SkinPoints(body.rest_world[own, :, 3] + away * (1.3, 1.0, 0.7), own[:, None], np.ones((len(own), 1)))


@pytest.mark.parametrize("clip", CLIPS, ids=[clip.name for clip in CLIPS])
def test_what_is_lowest_of_a_body_without_legs_is_on_the_ground(clip: Clip) -> None:
    body, skin = blob()
    assert "l_hip" not in find_map(body).joint_of
    heights = skin.heights(retarget(clip, body, points=skin).clip, np.arange(0.0, clip.duration_s, 1.0 / 120.0), UP)
    np.testing.assert_allclose(heights.min(axis=1), skin.positions[:, 1].min(), atol=ON_GROUND_M)


def test_else_it_would_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_steps, "ground_without_legs", lambda *_: None)
    body, skin = blob()
    heights = skin.heights(retarget(CLIPS[0], body, points=skin).clip, np.arange(0.0, 2.5, 0.1), UP)
    assert np.abs(heights.min(axis=1) - skin.positions[:, 1].min()).max() > AWAY_M


def test_a_body_without_legs_that_does_nothing_stays_as_it_is() -> None:
    body, skin = blob()
    still = retarget(lying_down(THICK_M, (2.4, 2.5)), body, points=skin).clip
    assert np.abs(still.sample(np.linspace(0.0, 2.3, 9)).translations[:, 0]).max() < ON_GROUND_M
