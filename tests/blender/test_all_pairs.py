"""Every clip of a file that Blender reads, on every character; tests/core/test_all_pairs.py has the others."""

from collections.abc import Callable

import pytest

from takt.bridge.files import clips
from takt.core.clips.clip import Clip
from takt.tests.core import every_pair
from takt.tests.core.every_pair import SOURCES, TARGETS, Pairs

READ_HERE = [of for of in SOURCES if of.endswith(".blend")]


def source(name: str) -> tuple[Clip, ...]:
    """Return the clips of one of SOURCES."""
    return every_pair.source(name, clips.formats())


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("of", READ_HERE)
def test_limbs_heads_and_feet_are_as_in_the_clip(
        of: str, to: str, record_property: Callable[[str, object], None]) -> None:
    pairs = Pairs(to, clips.formats())
    record_property("limbs", every_pair.check_limbs_and_heads(pairs.of(of)))
    every_pair.check_heights_of_feet(pairs.of(of))
    record_property("feet", every_pair.check_contacts((each.done.clip for each in pairs.of(of)), pairs.ours, 5))
