"""What bears a clip's body is found once, and travels with the clip."""

import numpy as np
import pytest

from takt.core.clips.body_contacts import HANDS, TRUNK, BodyContacts, Contact, contacts_of
from takt.core.clips.excerpt import Excerpt, mirrored
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.mirror import Mirror
from takt.tests.core.test_push_ups import push_ups, with_forearms
from takt.tests.core.test_reaching_down import shaped
from takt.tests.core.test_seated_legs import lying_down

UP, THIN_M, SURELY = np.array((0.0, 1.0, 0.0)), 0.05, 0.9


def hand() -> Contact:
    return Contact(HANDS[0], "ground", np.array((0.2, 0.5, 1.0, 1.2)), np.array((0.0, 1.0, 1.0, 0.0)), np.zeros(4))


@pytest.mark.parametrize("seed", range(4))
def test_a_part_has_the_weights_of_the_whole_forwards_and_backwards(seed: int) -> None:
    rng = np.random.default_rng(seed)
    begin, end = np.sort(rng.uniform(0.0, 1.4, 2)).tolist()
    whole, times = BodyContacts({}, (hand(),)), np.linspace(0.0, end - begin, 50)
    wanted = whole.weight(HANDS[0], begin + times)
    np.testing.assert_allclose(whole.part(begin, end).weight(HANDS[0], times), wanted, atol=1e-9)
    np.testing.assert_allclose(whole.part(begin, end, is_reversed=True).weight(HANDS[0], times), wanted[::-1],
                               atol=1e-9)
    assert hand().part(1.3, 1.4) is None


def test_a_contact_begins_and_ends_with_nothing_and_knows_its_height_there() -> None:
    times = np.arange(6.0)
    (found,) = contacts_of(TRUNK, times, np.array((0.0, 0.0, 1.0, 0.5, 0.0, 0.0)),
                           np.array((np.inf, np.inf, 0.1, 0.2, np.inf, np.inf)))
    assert (found.from_s, found.to_s) == (1.0, 4.0)
    np.testing.assert_allclose(found.heights, (0.1, 0.1, 0.2, 0.2))


def test_what_bears_a_clip_travels_with_it() -> None:
    clip, target = push_ups(), shaped(1.0, 1.2)
    found = find_contacts(clip, find_map(clip.skeleton), UP)
    assert find_contacts(clip, find_map(clip.skeleton), UP) is found
    done = retarget(clip, target, points=with_forearms(target, THIN_M)).clip
    assert {each.effector for each in done.bearing} >= {*HANDS}
    part = Excerpt(done, 0.5, 1.5, is_reversed=True).keyed
    assert BodyContacts({}, part.bearing).weight(HANDS[1], np.linspace(0.0, 1.0, 20)).min() > SURELY
    other = mirrored(done, Mirror.of(find_map(target)))
    assert [each.effector for each in other.bearing if each.effector in HANDS] == [*HANDS[::-1]]


def test_who_lies_down_is_borne_by_his_trunk_from_then_on() -> None:
    clip = lying_down(THIN_M)
    found = find_contacts(clip, find_map(clip.skeleton), UP)
    weight = found.weight(TRUNK, np.array((0.0, clip.duration_s)))
    assert weight[0] == 0.0 and weight[1] > SURELY
    (span,) = found.spans(TRUNK)
    assert 0.0 < span[0] < span[1] == pytest.approx(clip.duration_s)
