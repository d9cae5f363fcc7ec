"""What feet do where one clip becomes the next: they stay, or make a step, one after the other."""

from dataclasses import replace

import numpy as np
import pytest

from takt.benchmarks.join_measures import STEP_LEGS
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.clips.excerpt import Excerpt, mirrored
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, runs
from takt.core.playing.feet.due_steps import SHORTEST_STEP_S
from takt.core.playing.feet.footholds import SWING_S
from takt.core.playing.feet.legs import legs_of
from takt.core.playing.feet.standing import Feet
from takt.core.playing.followers import Followers
from takt.core.playing.motion import Motion, compose
from takt.core.playing.performer import Performer
from takt.core.playing.playing import Playing
from takt.core.playing.score import Settings, play
from takt.core.playing.stage import in_rounds
from takt.core.retargeting.doubles import Doubles
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.mirror import Mirror
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library, procedure, programme

UP = np.array((0.0, 1.0, 0.0))
BODY = build_skeleton()
LEG_M = legs_of(find_map(BODY))[0].length(BODY)
METHODS = ("LEAD", "END", "BOTH", "INSERT", "INSERT_BOTH", "APPEND")
EXACT_M = 1e-6
CALM_LEGS_PER_S = 0.5
"""So fast a body may go down for a leg that does not reach: no faster than it bobs when it walks."""
DOWN_S = 0.25
"""So long it takes at most to come up again."""
SUNK_LEGS = 0.015
"""So far soles may give way, as they are kept above the ground softly."""


def standing(name: str, ahead_legs: float) -> Clip:
    """Stand at rest, so far ahead of the origin; the arms move, so that a transition has something to do."""
    times, arm = np.linspace(0.0, 2.0, 5), BODY.index_of["l_shoulder"]
    turns = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.linspace(0.0, 0.4, 5) + ahead_legs)[:, None]
    moves = np.tile((0.0, 0.0, ahead_legs * LEG_M), (5, 1, 1))
    return Clip(name, BODY, 2.0, Tracks.uniform(np.array((arm,)), times, turns),
                Tracks.uniform(np.array((0,)), times, moves), Tracks.empty(3))


def danced(ahead_legs: float, body: Skeleton | None = None, **settings: object) -> Motion:
    chosen = replace(Settings(root_motion="AS_AUTHORED", lock_feet=True), **settings)  # type: ignore[arg-type]
    score = programme(procedure("main", 'here duration="2" transition="1"', 'there duration="2"'),
                      clips=library(feet_Steps=(standing("here", 0.0), standing("there", ahead_legs))))
    return play(score, Performer(body or BODY, UP), chosen)


def feet(motion: Motion, times_s: FloatArray) -> FloatArray:
    """Return where the balls of both feet are, (F, 2, 3), in legs, above where they stand at rest."""
    skeleton = motion.skeleton
    joints = [skeleton.index_of[f"{side}_metatarsal"] for side in "lr"]
    return np.asarray((world_from_pose(skeleton, motion.sample(times_s))[..., 3][:, joints]
                       - skeleton.rest_world[..., 3][joints]) / LEG_M)


@pytest.mark.parametrize("method", METHODS)
def test_feet_that_stand_elsewhere_make_one_step_each_one_after_the_other(method: str) -> None:
    motion = danced(0.25, method=method, curve="COSINE")
    times = np.linspace(0.0, motion.duration_s, 2001)
    found = feet(motion, times)
    lifted = found[..., 1] > STEP_LEGS
    assert not (found[..., 1] > 0.25 * STEP_LEGS).all(axis=1).any() and found[..., 1].min() > -1e-3
    for foot in range(2):
        assert len(runs(lifted[:, foot])) == 1
        low = found[found[:, foot, 1] < 1e-4, foot, 2]
        assert np.minimum(np.abs(low), np.abs(low - 0.25)).max() < 0.01
        assert low[0] == pytest.approx(0.0, abs=EXACT_M) and low[-1] == pytest.approx(0.25, abs=EXACT_M)


ALWAYS, LATE, BRIEF, NEVER = (np.array(spans).reshape(-1, 2) for spans in ([0.0, 2.0], [1.86, 2.0], [0.0, 0.14], []))


def planted(**spans: tuple[FloatArray, FloatArray]) -> Feet:
    """Return the feet of two clips in which they are planted then, by side; a quarter of a leg lies between."""
    hips, still = np.sort([BODY.index_of[f"{side}_hip"] for side in "lr"]), rot.identities(2)[None]
    clips = [replace(standing(name, ahead_legs), rotations=Tracks.uniform(hips, np.zeros(1), still), contacts={
        side: FootContacts(each[number], each[number]) for side, each in spans.items()})
        for number, (name, ahead_legs) in enumerate((("here", 0.0), ("there", 0.25)))]
    played = danced(0.25)
    motion = compose(played.sequence, clips, Playing(played.style, "AS_AUTHORED", UP), feet=find_map(BODY))
    assert motion.feet is not None
    return motion.feet


@pytest.mark.parametrize("first", "lr")
def test_the_foot_that_stands_only_briefly_afterwards_steps_before_the_other_one(first: str) -> None:
    """One foot comes down just before the seam, the other one leaves just after it: that one has no time later."""
    other = "lr"[first == "l"]
    steps = sorted(planted(**{first: (ALWAYS, BRIEF), other: (LATE, ALWAYS)}).steps, key=lambda step: step[1])
    assert [side for side, *_ in steps] == [first, other]
    assert min(end_s - begin_s for _, begin_s, end_s, _ in steps) >= 0.9 * SHORTEST_STEP_S


@pytest.mark.parametrize("when", [(ALWAYS, BRIEF), (LATE, ALWAYS)])
def test_of_two_feet_that_stand_only_briefly_on_one_side_one_steps_and_the_other_stays(
        when: tuple[FloatArray, FloatArray]) -> None:
    """Both steps would be on the side that has the time, one of them within what the other side has: in a snap."""
    (_, begin_s, end_s, _), = planted(l=when, r=when).steps
    assert end_s - begin_s >= 0.9 * SHORTEST_STEP_S


@pytest.mark.parametrize("side", "lr")
def test_a_foot_takes_the_time_for_a_step_where_it_has_it_and_makes_none_without(side: str) -> None:
    other, taken = "lr"[side == "l"], []
    assert planted(**{side: (LATE, BRIEF), other: (NEVER, NEVER)}).steps == ()
    for when in ((ALWAYS, ALWAYS), (ALWAYS, BRIEF), (LATE, ALWAYS)):
        (only, begin_s, end_s, _), = planted(**{side: when, other: (NEVER, NEVER)}).steps
        assert only == side
        taken.append(end_s - begin_s)
    assert taken == pytest.approx([taken[0]] * 3)


@pytest.mark.parametrize("when", [([[1.6, 2.0]], ALWAYS), (ALWAYS, [[0.0, 0.4]])])
def test_feet_that_both_come_just_before_the_seam_or_leave_just_after_it_step_while_both_clips_leave_time(
        when: tuple[FloatArray, FloatArray]) -> None:
    """Both steps are later then, or sooner, and still one after the other: no foot is led there over the ground."""
    before, after = (np.array(spans) for spans in when)
    (_, begin_s, between_s, _), (_, after_s, end_s, _) = sorted(planted(l=(before, after), r=(before, after)).steps,
                                                          key=lambda step: step[1])
    assert after_s == pytest.approx(between_s) and min(between_s - begin_s, end_s - after_s) >= 2.0 * SHORTEST_STEP_S
    assert begin_s >= before[0, 0] and end_s <= 2.0 + after[0, 1]


@pytest.mark.parametrize(("leaves_s", "is_step"), [(1.7, True), (1.5, True), (1.0, False)])
def test_a_swing_that_would_have_to_be_quicker_than_anything_in_the_clips_is_a_step(
        leaves_s: float, is_step: bool) -> None:
    """The clips hardly move the foot: within half a second it would go a quarter of the leg, low over the ground."""
    feet = planted(l=(np.array([[0.0, leaves_s]]), ALWAYS), r=(ALWAYS, NEVER))
    assert len(feet.steps) == is_step
    if is_step:
        (_, begin_s, end_s, _), = feet.steps
        assert begin_s <= leaves_s and end_s - begin_s >= 2.0 * SHORTEST_STEP_S


@pytest.mark.parametrize(("before", "after"), [(2.0, 0.3), (1.7, 0.0), (1.6, 0.1)])
def test_steps_of_both_feet_do_not_overlap_where_one_has_little_time(before: float, after: float) -> None:
    """The left foot leaves early and comes late, the right one stands but for a moment in the next clip."""
    feet = planted(l=(np.array([[0.0, before]]), np.array([[after, 2.0]])), r=(ALWAYS, np.array([[0.0, 0.17]])))
    (_, _, between_s, _), (_, after_s, _, _) = sorted(feet.steps, key=lambda step: step[1])
    assert after_s >= between_s - 1e-9


@pytest.mark.parametrize(("other", "wanted"), [
    (([[0.0, 2.0]], [[1.9, 2.0]]), (None, 2.0)), (([[0.0, 0.1]], [[0.0, 2.0]]), (2.0, None)),
])
def test_a_step_is_made_while_the_other_foot_stands(other: tuple[list[list[float]], list[list[float]]],
                                                    wanted: tuple[float | None, float | None]) -> None:
    """The other one leaves as the next clip begins, or comes as it does: the step ends, or begins, by then."""
    before, after = (np.array(spans) for spans in other)
    (_, begin_s, end_s, _), = planted(l=(ALWAYS, ALWAYS), r=(before, after)).steps
    assert wanted[0] is None or begin_s >= wanted[0] - 1e-9
    assert wanted[1] is None or end_s <= wanted[1] + 1e-9


@pytest.mark.parametrize("sunk_legs", [0.0, 0.06])
def test_a_foot_on_its_own_way_over_a_seam_clears_the_ground(sunk_legs: float) -> None:
    """What blended clips bring down to the ground, or into it, does not scrape over the floor."""
    times, hips = np.linspace(0.0, 2.0, 5), np.sort([BODY.index_of[f"{side}_hip"] for side in "lr"])
    clips = []
    for name, moves, stands in (("here", (0.0, 0.0, 0.0, 0.1, 0.3), [[0.0, 1.2]]),
                                ("there", (0.3, 0.5, 0.6, 0.6, 0.6), [[0.8, 2.0]])):
        moved = np.zeros((5, 1, 3))
        moved[:, 0, 1], moved[:, 0, 2] = -sunk_legs * LEG_M * (times > 0.0) * (times < 2.0), np.array(moves) * LEG_M
        spans = np.array(stands)
        clips.append(Clip(name, BODY, 2.0, Tracks.uniform(hips, np.zeros(1), rot.identities(2)[None]),
                          Tracks.uniform(np.array((0,)), times, moved), Tracks.empty(3),
                          contacts={side: FootContacts(spans, spans) for side in "lr"}))
    played = danced(0.25)
    motion = compose(played.sequence, clips, Playing(played.style, "AS_AUTHORED", UP), feet=find_map(BODY))
    found = feet(motion, np.linspace(1.9, 2.1, 21))[..., 1]
    assert motion.feet is not None and not motion.feet.steps
    assert found.min() > 0.03 and found.max() < 0.06


@pytest.mark.parametrize(("before", "after", "wanted"), [
    (LATE, BRIEF - 1e-3, [[1.86, 2.139]]),
    (LATE, [[0.0, 0.13], [0.3, 0.7]], [[1.86, 2.0], [2.3, 2.7]]),
    ([[1.3, 1.7], [1.85, 2.0]], [[0.0, 0.2]], [[1.3, 1.7], [2.0, 2.2]]),
    ([[0.0, 0.5], [1.85, 2.0]], [[0.0, 0.2]], [[0.0, 0.5], [1.85, 2.2]]),
    ([[1.92, 2.0]], ALWAYS, [[1.92, 4.0]]),
    (ALWAYS, [[0.0, 0.08]], [[0.0, 2.08]]),
    ([[0.0, 1.5]], [[0.0, 0.08]], [[0.0, 1.5]]),
])
def test_a_foot_without_time_for_a_step_stands_once(before: FloatArray, after: FloatArray, wanted: FloatArray) -> None:
    """As long as both clips have it stand, but for the time that its way from or to another foothold takes."""
    feet = planted(l=(np.array(before), np.array(after)), r=(NEVER, NEVER))
    assert not feet.steps
    np.testing.assert_allclose(feet.lock.footholds.spans_s(0), wanted, atol=1e-9)
    for begin_s, end_s in wanted:
        world = world_from_pose(BODY, feet.sample(np.linspace(begin_s, end_s, 50)))
        over = world[:, BODY.index_of["l_metatarsal"], ::2, 3]
        assert np.linalg.norm(over - over[0], axis=1).max() < 0.005 * LEG_M


@pytest.mark.parametrize("sunk_legs", [0.0, 0.04])
def test_feet_that_leave_to_slide_over_the_ground_are_lifted_on_their_way(sunk_legs: float) -> None:
    """Whatever they do in the clip that follows: who is led somewhere else does not scrape over the floor."""
    times = np.linspace(0.0, 2.0, 5)
    moves = np.outer(times, (0.0, 0.0, 1.0))[:, None] * LEG_M - np.array((0.0, sunk_legs * LEG_M, 0.0))
    slides = replace(standing("there", 0.0), translations=Tracks.uniform(np.array((0,)), times, moves))
    score = programme(procedure("main", 'here duration="2" transition="0.4"', 'there duration="2"'),
                      clips=library(feet_Steps=(standing("here", 0.0), slides)))
    motion = play(score, Performer(BODY, UP), Settings(root_motion="AS_AUTHORED", lock_feet=True))
    found = feet(motion, np.linspace(2.0, 2.5, 51))
    is_led = (found[..., 2] > 0.08) & (found[..., 2] < 0.18)
    assert is_led.any(axis=0).all() and (found[..., 1][is_led] > 0.006).all() and found[..., 1].max() < STEP_LEGS
    assert found[-1, :, 1] == pytest.approx(0.0, abs=SUNK_LEGS)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_feet_that_stand_nearly_there_stay(method: str) -> None:
    motion = danced(0.03, method=method, curve="COSINE")
    found = feet(motion, np.linspace(0.0, motion.duration_s, 2001))
    assert np.abs(found).max() < 1e-3 and np.abs(feet(danced(0.03, lock_feet=False), np.array((4.0,)))).max() > 0.02


def test_nothing_goes_over_a_cut() -> None:
    times = np.linspace(0.0, 4.0, 1001)
    for ahead in (0.03, 0.25):
        one, other = (danced(ahead, transitions=False, lock_feet=lock).sample(times) for lock in (False, True))
        np.testing.assert_allclose(rot.angle_between(one.rotations, other.rotations), 0.0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("ahead_legs", [0.25, 0.75])
def test_a_frame_alone_is_what_it_is_among_others_over_a_step(ahead_legs: float) -> None:
    times = np.linspace(1.0, 3.0, 61)
    together = danced(ahead_legs).sample(times)
    for i in np.random.default_rng(4).permutation(61)[:20].tolist():
        alone = danced(ahead_legs).sample(times[i:i + 1])
        np.testing.assert_allclose(alone.rotations[0], together.rotations[i], atol=1e-9)
        np.testing.assert_allclose(alone.translations[0], together.translations[i], atol=1e-9)


@pytest.mark.parametrize("is_loop", [False, True])
def test_what_a_clip_tells_of_its_feet_is_what_is_seen_of_them(is_loop: bool) -> None:
    """How long feet take to their footholds is known of clips, or looked up in the poses; in any order of frames."""
    times, spans = np.linspace(0.0, 2.0, 5), np.array(((0.8, 1.2),))
    hips = np.array([BODY.index_of[f"{side}_hip"] for side in "lr"])
    moves = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 5)[:, None]
    glide = replace(standing("here", 0.0), rotations=Tracks.uniform(hips, times, rot.identities(5, 2)),
                    translations=Tracks.uniform(np.array((0,)), times, moves),
                    contacts={side: FootContacts(spans, spans) for side in "lr"})
    calls = ('here duration="2" transition="0.4"',) * 3
    score = programme(procedure("main", *calls), clips=library(feet_Steps=(glide,)))
    played = play(score, Performer(BODY, UP), Settings(loop=is_loop))
    motion = compose(played.sequence, (glide,), Playing(played.style, "CONTINUE", UP), feet=find_map(BODY))
    assert isinstance(motion.end, Feet)
    known = motion.end.lock.footholds.eases_s.copy()
    assert (known > SWING_S).sum() >= 12 and not np.isnan(motion.end.lock.footholds.loose).any()
    looked_up = replace(motion.end, below=Followers(motion.end.below, Doubles.of(BODY, {})))
    assert np.isnan(looked_up.lock.footholds.loose[0]).sum() >= 12
    times = np.random.default_rng(5).permutation(np.linspace(-1.0, 2.0 * motion.duration_s, 400))
    times, rounds = in_rounds(times, motion.duration_s, is_loop)
    wanted = motion.end.sample(times, rounds)
    for part in np.array_split(np.arange(400), 7):
        found = looked_up.sample(times[part], rounds[part])
        np.testing.assert_allclose(found.rotations, wanted.rotations[part], atol=1e-9)
        np.testing.assert_allclose(found.translations, wanted.translations[part], atol=1e-9)


def lifting(name: str, high_m: float, toes_rad: float) -> Clip:
    """Lift the body, and the right foot with its toes down, all the while; nothing is planted."""
    times, joints = np.linspace(0.0, 2.0, 5), [BODY.index_of[f"r_{part}"] for part in ("hip", "knee", "ankle")]
    turns = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array((-0.8, 1.4, toes_rad)))
    moves = np.tile((0.0, high_m, 0.0), (5, 1, 1)) + np.linspace(0.0, 1.5, 5)[:, None, None] * (0.0, 0.0, 1.0)
    order = np.argsort(joints)
    return Clip(name, BODY, 2.0, Tracks.uniform(np.array(joints)[order], times, np.tile(turns[order], (5, 1, 1))),
                Tracks.uniform(np.array((0,)), times, moves), Tracks.empty(3))


def left_for(clip: Clip, **settings: object) -> tuple[Motion, FloatArray]:
    """Return a motion that stands and leaves for a clip, and times."""
    chosen = replace(Settings(root_motion="AS_AUTHORED"), **settings)  # type: ignore[arg-type]
    score = programme(procedure("main", 'here duration="2" transition="1"', f'{clip.name} duration="2"'),
                      clips=library(feet_Steps=(standing("here", 0.0), clip)))
    motion = play(score, Performer(BODY, UP), chosen)
    return motion, np.linspace(0.0, motion.duration_s, 801)


@pytest.mark.parametrize("method", METHODS)
def test_toes_do_not_go_into_the_ground_where_a_foot_is_let_go(method: str) -> None:
    """It is turned as the next clip has it, and still near the ground."""
    motion, times = left_for(lifting("off", 0.0, 1.0), method=method, curve="COSINE")
    world, rest = world_from_pose(BODY, motion.sample(times)), BODY.rest_world
    for side in "lr":
        ball, ankle = (BODY.index_of[f"{side}_{part}"] for part in ("metatarsal", "ankle"))
        toes = (rest[ball, :, 3] - rest[ankle, :, 3]) * (1.0, 0.0, 1.0) * 2.0 / 3.0
        tip = (world[:, ball, :, :3] @ (rest[ball, :, :3].T @ toes))[:, 1] + world[:, ball, 1, 3] - rest[ball, 1, 3]
        assert tip.min() > -SUNK_LEGS * LEG_M


@pytest.mark.parametrize("high_m", [0.15, 0.3])
def test_the_body_does_not_go_down_for_a_foot_that_leaves(high_m: float) -> None:
    (loose, times), (held, _) = (left_for(lifting("off", high_m, 0.0), lock_feet=lock) for lock in (False, True))
    down = (loose.sample(times).translations - held.sample(times).translations)[:, 0, 1] / LEG_M
    assert down.min() >= -EXACT_M and down[times > 2.0 + DOWN_S].max() < 0.005 < 0.02 < down[times < 2.0].max()


@pytest.mark.parametrize("ahead_legs", [0.5, 0.75])
@pytest.mark.parametrize("method", METHODS[:3])
def test_the_body_goes_down_calmly_for_feet_that_come_to_stand_far_away(ahead_legs: float, method: str) -> None:
    """What a foot on its way lacks comes within a frame; the body is down before that, and comes up after it."""
    times = np.linspace(0.0, 4.0, 1601)
    loose, held = (danced(ahead_legs, lock_feet=lock, method=method, curve="COSINE").sample(times).translations[:, 0]
                   for lock in (False, True))
    down = (loose - held)[:, 1] / LEG_M
    assert 0.02 < down.max() <= 0.05 + EXACT_M
    assert np.abs(np.diff(down)).max() < CALM_LEGS_PER_S * (times[1] - times[0])


def other_legs(times: float) -> Skeleton:
    """Return the body with legs so many times as long, on the ground."""
    moved = BODY.rest_translations.copy()
    moved[[BODY.index_of[f"{side}_{part}"] for side in "lr" for part in ("knee", "ankle")]] *= times
    longer = replace(BODY, rest_translations=moved, name=f"legs {times}")
    moved = moved.copy()
    ankle = BODY.index_of["l_ankle"]
    moved[BODY.parents < 0] += (BODY.rest_world[ankle, :, 3] - longer.rest_world[ankle, :, 3]) * UP
    return replace(longer, rest_translations=moved)


@pytest.mark.parametrize("times", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("name", ["left_step", "quarter_left", "side_step_right"])
def test_contacts_of_clips_hold_on_other_proportions(times: float, name: str) -> None:
    """A foot that slides on the body that plays does not look planted there; the clip knows that it is."""
    body = other_legs(times)
    clip = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == name)
    score = programme(procedure("main", f'{name} duration="{clip.duration_s}"'), clips=library(feet_Steps=(clip,)))
    motion = play(score, Performer(body, UP), Settings(lock_feet=True))
    contacts = motion.clips[0].contacts
    assert contacts is not None
    checked = 0
    for side in "lr":
        for start, stop in contacts[side].stands.tolist():
            at = world_from_pose(body, motion.sample(np.linspace(start, stop, 100)))[
                :, body.index_of[f"{side}_metatarsal"], :, 3] * (1.0, 0.0, 1.0)
            assert np.linalg.norm(at - at[0], axis=1).max() < 0.01 * LEG_M * times
            checked += 1
    assert checked


def test_contacts_go_with_parts_and_mirror_images() -> None:
    spans = np.array(((0.0, 0.4), (0.6, 1.0)))
    left, right = FootContacts(spans, spans[:1]), FootContacts(spans[1:], np.zeros((0, 2)))
    clip = replace(standing("here", 0.0), contacts={"l": left, "r": right})
    part = Excerpt(clip, 0.2, 0.7, True).contacts
    assert part is not None
    np.testing.assert_allclose(part["l"].heel, ((0.0, 0.1), (0.3, 0.5)))
    np.testing.assert_allclose(part["l"].ball, ((0.3, 0.5),))
    assert part["r"].ball.shape == (0, 2)
    assert Excerpt(clip, 0.2, 0.7, True).keyed.contacts is not None
    other = mirrored(clip, Mirror.of(find_map(BODY))).contacts
    assert other is not None and other["l"] is right and other["r"] is left
    assert Excerpt(standing("here", 0.0), 0.0, 1.0, False).contacts is None
