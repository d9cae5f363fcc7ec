"""Every clip that is read without Blender, on every character."""

from collections.abc import Callable

import pytest

from takt.core.retargeting.retarget import retarget
from takt.samples.clips import build_clips

from . import every_pair
from .every_pair import BLENDER_FROM_HANIM, SOURCES, TARGETS, Pairs

pytestmark = pytest.mark.slow
READ_HERE = [of for of in SOURCES if not of.endswith(".blend")]
"""tests/blender/test_all_pairs.py has the others."""


@pytest.fixture(scope="module", params=TARGETS)
def to(request: pytest.FixtureRequest) -> Pairs:
    """Let the tests of one character follow each other."""
    return Pairs(request.param)


@pytest.mark.parametrize("of", READ_HERE)
def test_limbs_point_as_in_the_clip_and_heads_are_as_high(
        of: str, to: Pairs, record_property: Callable[[str, object], None]) -> None:
    record_property(of, every_pair.check_limbs_and_heads(to.of(of)))


def test_feet_are_as_high_above_the_ground_as_the_clips_own(to: Pairs) -> None:
    """Sitting, lying and jumping too, by the ratio of the legs; for clips whose rest pose stands on the ground."""
    every_pair.check_heights_of_feet(pair for of in READ_HERE if of != "Sinbad.skeleton" for pair in to.of(of))


def test_planted_feet_slide_little_with_the_lock_on(
        to: Pairs, record_property: Callable[[str, object], None]) -> None:
    ours = [clip for module in ("feet/Steps.skeleton.xml", "dance/Moves.skeleton") for clip in build_clips(module)]
    motions = [*(retarget(clip, to.ours.skeleton, BLENDER_FROM_HANIM).clip for clip in ours),
               *(pair.done.clip for of in READ_HERE for pair in to.of(of))]
    record_property("feet", every_pair.check_contacts(motions, to.ours, 200))
