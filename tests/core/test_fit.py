"""Where one clip is left for the next: the best pair of instants near their ends, found by construction."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.clips.excerpt import ROUND_ZONES, SKIP_ZONES, Excerpt, skipping
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.ends import MOST_ROUND, PASSED_OVER_PER_S, STEP_S
from takt.core.playing.fit import MOST_SKIPPED, SEARCH_S, fit_named, fit_seams
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.playing import Playing
from takt.core.playing.score import Settings, play
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.seam_cost import HALF_LIFE_S, displacement_area
from takt.core.skeletons.maps import find_map
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library
from takt.tests.core.seeds import seeds

BODY = build_skeleton()
ROOT = find_map(BODY).joint_of["HumanoidRoot"]
Y_UP = np.array((0.0, 1.0, 0.0))
FPS = 60


def dancing(seed: int, begin_s: float, end_s: float, name: str, is_still: bool = False) -> Clip:
    """Make a part of an endless dance: all joints swing, each at its own rate, and the body goes about and turns."""
    rng, times = np.random.default_rng(seed), np.linspace(begin_s, end_s, round((end_s - begin_s) * FPS) + 1)
    axes = rng.normal(size=(len(BODY), 3))
    swing = np.sin(times[:, None] * rng.uniform(2.0, 5.0, len(BODY)) + rng.uniform(0.0, 6.0, len(BODY)))
    axes[ROOT], swing[:, ROOT] = Y_UP, 0.0 if is_still else 0.7 * times
    turns = rot.from_axis_angle(axes / np.linalg.norm(axes, axis=1, keepdims=True), 0.7 * swing)
    way = np.column_stack((0.5 * np.sin(times), 0.02 * np.cos(3.0 * times), 0.3 * times))
    own = times - begin_s
    return Clip(name, BODY, end_s - begin_s, Tracks.uniform(np.arange(len(BODY)), own, turns),
                Tracks.uniform(np.array((ROOT,)), own, (0.0 if is_still else 1.0) * way[:, None]), Tracks.empty(3))


def danced(*clips: Clip, transition: str = "", tick_s: float = 1.0, stretch: float = 1.0, **settings: object) -> Motion:
    """Play clips one after another at their own pace."""
    calls = "".join(f'<call name="{clip.name}" duration="{clip.duration_s * stretch / tick_s!r}" {transition}/>'
                    for clip in clips)
    text = f'<pha tickLength="{tick_s!r}"><load src="dance"/><procedure name="main">{calls}</procedure></pha>'
    return play(resolve(parse(text), library(dance=clips)), Performer(BODY, Y_UP),
                Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("root_motion", ["CONTINUE", "IN_PLACE"])
@pytest.mark.parametrize("overlap_s", [0.1, 0.3, 0.5, 0.7])
def test_two_parts_of_one_dance_that_overlap_are_joined_as_if_they_were_one(overlap_s: float, root_motion: str) -> None:
    a, b = dancing(1, 0.0, 4.0, "a"), dancing(1, 4.0 - overlap_s, 8.0, "b")
    cuts = danced(a, b, fit="SEARCH", root_motion=root_motion).cuts
    assert cuts is not None
    assert cuts.skips_s[0].sum() == pytest.approx(overlap_s, abs=1e-6)
    assert cuts.skips_s[0].max() <= SEARCH_S
    assert cuts.found[0] < 0.01 < cuts.authored[0]


@pytest.mark.parametrize("seed", seeds(6, quick=2))
def test_a_dance_cut_in_two_with_a_gap_is_joined_again_by_what_was_left_out(seed: int) -> None:
    rng, whole = np.random.default_rng(seed), dancing(seed, 0.0, 8.0, "a")
    end_s = float(rng.uniform(3.0, 4.5))
    begin_s = end_s + float(rng.uniform(0.1, 0.25))
    calls = "".join(f'<call name="a" duration="{end - begin!r}" from="{begin / 8.0!r}" to="{end / 8.0!r}"/>'
                    for begin, end in ((0.0, end_s), (begin_s, 8.0)))
    text = f'<pha version="2" tickLength="1"><load src="dance"/><procedure name="main">{calls}</procedure></pha>'
    authored, found = (play(resolve(parse(text), library(dance=(whole,))), Performer(BODY, Y_UP),
                            Settings(fit=fit)).cuts for fit in ("IN_PLACE", "SEARCH"))
    assert authored is not None and (authored.skips_s >= 0.0).all()
    assert found is not None and found.found[0] < 0.05 * found.authored[0]
    assert -found.skips_s[0].sum() == pytest.approx(begin_s - end_s, abs=STEP_S)


def test_a_rest_pose_at_a_clips_end_is_passed_over() -> None:
    """The last tenth of a second goes over to rest; the next clip begins as the first one was before."""
    a, b = dancing(2, 0.0, 3.9, "a", is_still=True), dancing(2, 3.9, 8.0, "b", is_still=True)
    tracks = a.rotations
    times = np.append(tracks.times_s[:len(tracks.times_s) // len(BODY)], 4.0)
    values = np.concatenate((tracks.values.reshape(len(BODY), -1, 4), rot.identities(len(BODY))[:, None]), axis=1)
    ending = Clip("a", BODY, 4.0, Tracks.uniform(np.arange(len(BODY)), times, values.swapaxes(0, 1)), Tracks.empty(3),
                  Tracks.empty(3))
    cuts = danced(ending, b, fit="SEARCH").cuts
    assert cuts is not None
    assert cuts.skips_s[0] == pytest.approx((0.1, 0.0), abs=STEP_S + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("fit", ["IN_PLACE", "SEARCH"])
def test_what_is_found_never_costs_more_and_stays_within_its_window(fit: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    clips = [dancing(10 * seed + i, 0.0, float(rng.uniform(1.0, 5.0)), f"clip{i}") for i in range(4)]
    motion = danced(*clips, fit=fit, tick_s=0.8, stretch=0.7, loop=True)
    cuts, length = motion.cuts, motion.row.sources.durations_s[motion.sequence.clip]
    assert cuts is not None and (cuts.tried > 1).all()
    assert (cuts.found <= cuts.authored).all()
    window = {"IN_PLACE": 0.2, "SEARCH": SEARCH_S}[fit] / 0.7
    assert (cuts.skips_s[:, 0] <= np.minimum(window, MOST_SKIPPED * length) + 1e-9).all()
    assert (cuts.skips_s[:, 1] <= np.minimum(window, MOST_SKIPPED * np.roll(length, -1)) + 1e-9).all()
    assert fit == "IN_PLACE" or (cuts.skips_s > 0.0).any()


def test_seams_stay_on_their_beat_and_a_tick_away_everything_is_where_it_was() -> None:
    clips = [dancing(seed, 0.0, 4.0, f"clip{seed}") for seed in range(3)]
    own, moved = (danced(*clips, fit=fit, root_motion="AS_AUTHORED", lock_feet=False, transition='transition="0.2"')
                  for fit in ("AUTHORED", "IN_PLACE"))
    assert moved.cuts is not None and moved.cuts.skips_s[:2].any()
    for edge in ("begin_s", "end_s", "window_begin_s", "window_end_s"):
        assert getattr(moved.layout, edge) == pytest.approx(getattr(own.layout, edge))
    ticks = np.array((0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 9.0, 10.0, 11.0, 12.0))  # all but those of the seams
    one, other = own.sample(ticks), moved.sample(ticks)
    assert rot.angle_between(one.rotations, other.rotations).max() < 1e-7
    assert one.translations == pytest.approx(other.translations, abs=1e-9)


def test_clips_that_were_made_for_each_other_are_left_alone() -> None:
    a, b = dancing(1, 0.0, 4.0, "a"), dancing(1, 3.7, 8.0, "b")
    cuts = danced(a, b, transition='transition="0"', fit="SEARCH").cuts
    assert cuts is not None and not cuts.tried.any() and not cuts.skips_s.any()
    whole = danced(a, dancing(1, 4.0, 8.0, "b"), fit="SEARCH").cuts  # what goes on as it is has nothing to gain
    assert whole is not None and whole.tried[0] > 1 and not whole.skips_s.any()


def test_a_fit_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TaktError, match="there is no fit 'LOOSE'; there are AUTHORED, IN_PLACE, SEARCH"):
        fit_named("LOOSE")


@given(st.floats(-2.0, 2.0), st.floats(-20.0, 20.0))
def test_the_area_below_an_offset_is_what_adding_it_up_gives(offset: float, rate: float) -> None:
    pull, times = 2.0 * np.log(2.0) / HALF_LIFE_S, np.linspace(0.0, 3.0, 60_001)
    fading = np.exp(-pull * times) * (offset + (rate + pull * offset) * times)
    found = float(displacement_area(np.array(offset), np.array(rate)))
    assert found == pytest.approx(float(np.abs(fading).sum() * times[1]), rel=2e-3, abs=1e-6)


def test_feet_that_are_planted_on_one_side_only_cost_more() -> None:
    """Two ends of a still body are alike but for a foot, which the next clip has planted."""
    still = dancing(3, 0.0, 0.0, "x", is_still=True).sample(np.zeros(1)).rotations[0]
    keys = np.tile(still, (2, 1, 1))

    def standing(name: str, spans: FloatArray) -> Clip:
        contacts = {side: FootContacts(spans, spans) for side in "lr"}
        return Clip(name, BODY, 4.0, Tracks.uniform(np.arange(len(BODY)), np.array((0.0, 4.0)), keys), Tracks.empty(3),
                    Tracks.empty(3), contacts=contacts)

    a, b = standing("a", np.array(((0.0, 3.8),))), standing("b", np.array(((0.0, 4.0),)))
    text = ('<pha tickLength="1"><load src="dance"/><procedure name="main"><call name="a" duration="4"/>'
            '<call name="b" duration="4"/></procedure></pha>')
    sequence = expand(resolve(parse(text), library(dance=(a, b))))
    _, pieces, cuts, said = fit_seams(sequence, [a, b], fit_named("SEARCH"), 1.0, find_map(BODY),
                                      Playing(Style("LEAD", "LINEAR"), "CONTINUE", Y_UP))
    assert cuts is not None and not said
    assert [piece.duration_s for piece in pieces] == [4.0, 4.0]
    assert cuts.authored[0] == pytest.approx(0.1)  # two feet, a twentieth of a limb each
    assert cuts.skips_s[0] == pytest.approx((0.2, 0.0), abs=STEP_S + 1e-6)
    assert cuts.found[0] == pytest.approx(0.2 * PASSED_OVER_PER_S, abs=PASSED_OVER_PER_S * STEP_S)


@pytest.mark.slow
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.booleans())
@example(0.0, 0.55, True)
def test_an_excerpt_that_passes_over_its_ends_shows_the_whole_in_order(first: float, last: float,
                                                                      is_reversed: bool) -> None:
    clip = dancing(5, 0.0, 7.0, "clip")
    part = Excerpt(clip, 0.5, 6.5, is_reversed, (first, last))
    times = np.linspace(0.0, 6.0, 601)
    own = part.own_times(times) if not is_reversed else part.own_times(times)[::-1]
    assert own[0] == pytest.approx(0.5 + (last if is_reversed else first))
    assert own[-1] == pytest.approx(6.5 - (first if is_reversed else last))
    assert (np.diff(own) > 0.0).all()
    far = (times >= SKIP_ZONES * first) & (times <= 6.0 - SKIP_ZONES * last)
    assert part.own_times(times)[far] == pytest.approx((6.5 - times if is_reversed else 0.5 + times)[far])
    keyed = part.keyed
    joint_times = keyed.rotations.times_s[:keyed.rotations.starts[1]]
    assert (np.diff(joint_times) > 0.0).all()
    assert rot.angle_between(keyed.sample(joint_times, "SLERP").rotations,
                             part.sample(joint_times, "SLERP").rotations).max() < 1e-3


def test_contacts_go_with_what_is_shown() -> None:
    spans = np.array(((0.0, 0.3), (1.0, 2.0), (3.0, 5.9)))
    clip = dancing(5, 0.0, 6.0, "clip")
    planted = Clip("clip", BODY, 6.0, clip.rotations, clip.translations, clip.scales,
                   contacts={"l": FootContacts(spans, spans[1:])})
    part = Excerpt(planted, 0.0, 6.0, skips_s=(0.5, 0.2))
    found = part.contacts
    assert found is not None
    assert part.own_times(found["l"].heel) == pytest.approx(np.array(((1.0, 2.0), (3.0, 5.8))), abs=1e-4)
    assert found["l"].ball == pytest.approx(found["l"].heel)
    assert found["l"].heel[-1, 1] == pytest.approx(6.0)


def test_skipping_keeps_its_pace_at_the_ends() -> None:
    at = np.array((0.0, 1e-6, 6.0 - 1e-6, 6.0))
    shown = skipping(at, np.array(6.0), np.array(0.4), np.array(0.2))
    assert np.diff(shown)[[0, 2]] == pytest.approx(1e-6, rel=1e-3)


@given(st.floats(0.0, 1.0), st.floats(-1.0, 1.0), st.booleans())
@example(0.5, 0.0, False)
@example(1.0, 1.0, True)
def test_what_loses_a_third_at_most_never_stands_still_and_never_goes_twice_as_fast(first: float, share: float,
                                                                                   goes_round: bool) -> None:
    """share: of what the other end may lose, or gain if it gains no more than this one loses."""
    first *= (MOST_ROUND if goes_round else MOST_SKIPPED) * 6.0
    most = MOST_SKIPPED * 6.0 - first
    last = most - (1.0 - share) / 2.0 * (most + first) if goes_round else share * (most if share > 0.0 else first)
    shown = skipping(np.linspace(0.0, 6.0, 1201), np.array(6.0), np.array(first), np.array(last),
                     ROUND_ZONES if goes_round else SKIP_ZONES)
    pace = np.diff(shown) / 0.005
    assert 0.4 <= pace.min() and pace.max() < 1.5
    assert shown[[0, -1]] == pytest.approx((first, 6.0 - last))
