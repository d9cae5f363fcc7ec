"""When feet step at a seam, by where and when they are planted in the clips, and how fast these move them."""

from collections.abc import Sequence

import numpy as np
import pytest

from takt.core.clips.thresholds import HELD_S
from takt.core.playing.feet.due_steps import CALMEST_STEP_S, SHORTEST_STEP_S, DueStep, in_order
from takt.core.playing.feet.due_steps import Hold as Held
from takt.core.playing.feet.footholds import PEAK, STEP_WAIT, Footholds, Loose
from takt.core.playing.feet.planted import Planted
from takt.core.playing.feet.steps import Seams
from takt.core.playing.feet.steps import footholds as put_together

LEFT, RIGHT = range(2)
Hold = tuple[float, float, float]
"""When a foot is planted and until when, in the time of the score, and how far ahead, in legs."""


def stepping(*feet: Sequence[Sequence[Hold]], fast: float | Sequence[float] = 0.0,
             edges_s: Sequence[float] = (0.0, 3.0, 6.0), window_s: float = 0.6,
             heights: Sequence[Sequence[float]] | float = 0.0, before: float = 0.5) -> Footholds:
    """Return the footholds of feet in segments with these edges; each has its holds by segment.

    fast: in legs/s, of each segment; heights: how many legs high feet are as each begins and ends. before: how much of
    transitions plays before seams.
    """
    planted = []
    for segments in feet:
        holds = np.array([hold for segment in segments for hold in segment]).reshape(-1, 3)
        at = holds[:, 2:] * (1.0, 0.0, 0.0)
        loose = Loose(np.repeat(at[:, None], 2, axis=1), *(np.zeros((len(at), 2, 3)),) * 2)
        first = np.cumsum([0, *(len(segment) for segment in segments)])
        planted.append(Planted(holds[:, :2], at, loose, first, np.broadcast_to(fast, len(segments)),
                               np.broadcast_to(heights, (len(segments), 2)), np.ones(len(at), dtype=np.complex128)))
    begin, end = np.array(edges_s[:-1]), np.array(edges_s[1:])
    seams = Seams(begin, end, begin - window_s * before, begin + window_s * (1.0 - before),
                  np.zeros(len(begin), dtype=np.bool_))
    return put_together(planted, seams, [1.0] * len(feet))


def steps(found: Footholds, foot: int) -> list[tuple[float, float]]:
    """Return when a foot begins and ends its steps."""
    own = np.arange(found.first[foot], found.first[foot + 1])
    return [tuple(found.edges_s[:, gap].tolist()) for gap in own[found.lift[own] > 0.0]]


@pytest.mark.parametrize("distance", [0.15, 0.3, 0.45])
@pytest.mark.parametrize("fast", [0.05, 0.3, 0.6, 0.9, 2.0])
@pytest.mark.parametrize("both", [False, True])
def test_a_step_is_no_faster_than_the_clips_own_feet_where_there_is_time(distance: float, fast: float,
                                                                         both: bool) -> None:
    """However short the transition is; but no step takes longer than one can watch."""
    moved = [[(0.0, 3.0, 0.0)], [(3.0, 6.0, distance)]]
    found = stepping(moved, moved if both else [[(0.0, 3.0, 0.0)], [(3.0, 6.0, 0.0)]], fast=fast)
    for foot in (LEFT, RIGHT)[:1 + both]:
        (begin_s, end_s), = steps(found, foot)
        highest = PEAK * distance / (1.0 - 2.0 * STEP_WAIT) / (end_s - begin_s)
        assert highest <= fast * (1.0 + 1e-9) or end_s - begin_s == pytest.approx(CALMEST_STEP_S)
    if both:
        (_, one_s), (other_s, _) = sorted(steps(found, LEFT) + steps(found, RIGHT))
        assert other_s >= one_s - 1e-9


def test_where_one_clip_is_short_both_steps_are_made_in_the_other() -> None:
    """And half of each foothold is left for what follows."""
    moved = [[(0.0, 3.0, 0.0)], [(3.0, 3.9, 0.2)]]
    found = stepping(moved, moved, edges_s=(0.0, 3.0, 3.9))
    (begin_s, one_s), (other_s, end_s) = sorted(steps(found, LEFT) + steps(found, RIGHT))
    assert min(one_s - begin_s, end_s - other_s) >= 0.9 and one_s <= other_s + 1e-9 and end_s <= 3.45 + 1e-9


def test_a_step_does_not_take_time_from_the_one_at_the_next_seam() -> None:
    """Clips that are so short that all of them is needed."""
    feet = [[(0.0, 3.0, 0.0)], [(3.0, 4.0, 0.25)], [(4.0, 7.0, 0.5)]]
    found = stepping(feet, feet, edges_s=(0.0, 3.0, 4.0, 7.0), window_s=0.3)
    for foot in (LEFT, RIGHT):
        spans = found.spans_s(foot)
        assert len(steps(found, foot)) == 2 and (spans[:, 1] - spans[:, 0] >= HELD_S - 1e-9).all()
        assert min(end_s - begin_s for begin_s, end_s in steps(found, foot)) >= 0.9 * SHORTEST_STEP_S


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_a_foot_steps_past_where_the_clip_only_has_it_touch_the_ground(is_mirrored: bool) -> None:
    """The clip swings it there from elsewhere, and has no time for the way that it is now."""
    touched = [[(0.0, 3.0, 0.0)], [(3.0, 3.03, 0.2), (3.43, 6.0, 0.3)]]
    if is_mirrored:
        touched = [[(6.0 - stop_s, 6.0 - start_s, ahead) for start_s, stop_s, ahead in segment[::-1]]
                   for segment in touched[::-1]]
    found = stepping(touched, [[(0.0, 3.0, 0.0)], [(3.0, 6.0, 0.0)]], fast=0.5)
    (begin_s, end_s), = steps(found, LEFT)
    assert end_s - begin_s == pytest.approx(CALMEST_STEP_S)


def test_a_clip_in_which_a_foot_is_never_planted_leads_it_as_it_will() -> None:
    """It jumps: there is no step from before it to after it, however short it is."""
    for after_s in (0.3, 0.8):
        feet = [[(0.0, 3.0, 0.0)], [], [(3.0 + after_s, 6.0, 0.5)]]
        found = stepping(feet, feet, edges_s=(0.0, 3.0, 3.0 + after_s, 6.0), window_s=0.2)
        assert not found.lift.any()
        assert found.spans_s(LEFT)[0, 1] == pytest.approx(3.0)


@pytest.mark.parametrize(("distance", "stays"), [(0.2, True), (0.6, False)])
def test_the_only_foot_that_bears_the_body_stays_while_the_other_one_swings_over_the_seam(distance: float,
                                                                                          stays: bool) -> None:
    """Unless the leg would not reach where it stands."""
    found = stepping([[(0.0, 3.0, 0.0)], [(3.0, 6.0, distance)]], [[(0.0, 2.0, 0.0)], [(4.0, 6.0, 0.9)]], fast=3.0)
    assert len(steps(found, LEFT)) == (not stays)
    if stays:
        assert found.spans_s(LEFT) == pytest.approx(np.array([[0.0, 6.0]]))


def test_of_two_feet_that_both_have_time_that_one_steps_first_which_leaves_the_steps_at_the_seam() -> None:
    """The other one leaves just after the seam: if it stepped later, both would be long before the body goes over."""
    found = stepping([[(0.0, 3.0, 0.0)], [(3.18, 6.0, 0.6)]], [[(0.0, 3.0, 0.0)], [(3.0, 3.17, 0.1)]], fast=4.6)
    assert steps(found, RIGHT)[0][1] <= steps(found, LEFT)[0][0] + 1e-9
    assert 2.9 <= steps(found, LEFT)[0][1] <= 3.3


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_a_foot_that_touches_the_ground_as_the_other_one_steps_does_not_stand_there(is_mirrored: bool) -> None:
    """The body runs on meanwhile: its leg would not reach. A foot that does stand there bears the body longer."""
    for lasts_s, longer_s in ((0.03, 0.03), (0.5, 0.2)):
        feet = [[[(0.0, 3.0, 0.0)], [(3.0, 6.0, 0.5)]], [[(0.0, 1.5, -0.5)], [(3.2, 3.2 + lasts_s, 0.3)]]]
        if is_mirrored:
            feet = [[[(6.0 - stop_s, 6.0 - start_s, -ahead) for start_s, stop_s, ahead in segment]
                     for segment in foot[::-1]] for foot in feet]
        lasted_s = np.diff(stepping(*feet, fast=2.0).spans_s(RIGHT))[0 if is_mirrored else 1, 0]
        assert lasts_s - 1e-9 <= lasted_s <= lasts_s + longer_s + 1e-9
        assert lasts_s < 0.1 or lasted_s > lasts_s + 0.1


@pytest.mark.parametrize("after", [[(3.0, 4.5, 0.8)], [(3.0, 4.5, 0.8), (5.4, 6.0, 0.8)]])
def test_a_step_takes_what_is_left_of_a_foothold_that_its_clip_leaves_by_its_own_swing(after: list[Hold]) -> None:
    """Where the clip goes on, no step follows that needs half of it."""
    other = [(0.0, 3.0, 0.0)], [(3.0, 6.0, 0.0)]
    (begin_s, end_s), = steps(stepping([[(2.4, 3.0, 0.0)], after], other, fast=0.6), LEFT)
    goes_on = len(after) > 1
    assert begin_s == pytest.approx(2.6) and end_s == pytest.approx(min(2.6 + CALMEST_STEP_S, 4.3) if goes_on else 3.75)


def test_a_step_is_quicker_than_it_need_be_only_where_it_has_no_time() -> None:
    """What a step needs it takes wherever the foot stands; what makes it calm, where it has stood for a while."""
    feet = [[(2.7, 3.0, 0.0)], [(3.0, 3.3, 0.5)]], [[(0.0, 3.0, 0.0)], [(3.0, 6.0, 0.0)]]
    (begin_s, end_s), = steps(stepping(*feet, fast=2.6, window_s=0.2), LEFT)
    assert PEAK * 0.5 / (1.0 - 2.0 * STEP_WAIT) / (end_s - begin_s) <= 2.6 * (1.0 + 1e-9)


def test_a_foot_is_led_as_fast_as_it_goes_in_any_clip_on_its_way() -> None:
    """Also where it is planted in none of those between two footholds."""
    feet = [[(0.0, 3.0, 0.0)], [], [(5.0, 6.0, 0.5), (6.5, 7.0, 0.5)]]
    found = stepping(feet, feet, fast=(1.0, 5.0, 2.0), edges_s=(0.0, 3.0, 4.0, 7.0))
    assert found.fast[:4].tolist() == [1.0, 5.0, 2.0, 2.0]


def test_a_foot_lands_later_and_leaves_sooner_where_the_other_clip_has_it_in_the_air() -> None:
    """Where the transition has it high it is not pulled down; what is hardly lifted stands as its clip has it."""
    lands, leaves = [[(0.0, 1.0, 0.0)], [(3.0, 6.0, 0.3)]], [[(0.0, 3.0, 0.3)], [(5.0, 6.0, 0.0)]]
    later, sooner = [], []
    for high in (0.05, 0.3, 0.6):
        at = stepping(lands, lands, heights=((0.0, high), (0.0, 0.0))).spans_s(LEFT)
        later.append(at[1, 0] - 3.0)
        at = stepping(leaves, leaves, heights=((0.0, 0.0), (high, 0.0))).spans_s(LEFT)
        sooner.append(3.0 - at[0, 1])
    assert later == pytest.approx(sooner) and later[0] == 0.0
    assert 0.05 < later[1] < later[2] < 0.3


def test_a_step_is_told_with_the_seam_that_it_is_made_at() -> None:
    """Also where it waits for the other foot until the next seam is as near."""
    found = stepping([[(0.0, 3.0, 0.0)], [(3.0, 4.0, 0.3)], [(4.0, 7.0, 0.3)]],
                     [[(0.0, 3.0, 0.0)], [(3.0, 4.0, 0.3)], [(4.0, 7.0, 0.3)]], edges_s=(0.0, 3.0, 4.0, 7.0))
    assert found.into[found.lift > 0.0].tolist() == [1, 1]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("before", [0.0, 0.5])
def test_no_foot_is_let_go_before_it_is_held_however_briefly_it_stands_and_long_the_transition_is(seed: int,
                                                                                                before: float) -> None:
    random = np.random.default_rng(seed)
    feet = []
    for _ in range(2):
        shares = np.sort(random.uniform(0.0, 3.0, (2, 3)), axis=1)
        (a, b, c), (d, e, f) = shares.tolist()
        at = random.uniform(-0.4, 0.4, 4).tolist()
        feet.append([[(a, b, at[0]), (c, 3.0, at[1])], [(3.0, 3.0 + d, at[2]), (3.0 + e, 3.0 + f, at[3])]])
    for window_s in (0.3, 2.0, 5.0):
        found = stepping(*feet, window_s=window_s, before=before, fast=1.0)
        for foot in (LEFT, RIGHT):
            assert np.diff(found.spans_s(foot).ravel()).min() >= -1e-12


def test_the_order_of_steps_is_the_same_in_all_units() -> None:
    """Also if both orders leave the same room, or both steps are equal but for rounding."""
    one, other = ((0.0, 0.04167), (0.5, 1.0)), ((0.0, 0.5), (0.96875, 1.0))
    for spans_s, distances in (((one, other), (1.4353117301034444, 1.418322601423335)),
                               ((one, one), (1.4, 1.4000000000000001)), ((one, one), (1.4, 1.4))):
        for scale in (1.0, *np.random.default_rng(1).uniform(0.001, 1000.0, 400)):
            due = [DueStep(leg, Held(*last, 0j, 0, 0.0), Held(*first, complex(distance * scale), 1, 0.0), (0.0, 0.0),
                           scale, 5.639639455533333 * scale)
                   for leg, (last, first), distance in zip((LEFT, RIGHT), spans_s, distances, strict=True)]
            assert [step.leg for step in in_order(due)] == [step.leg for step in in_order(due[::-1])] == [LEFT, RIGHT]
