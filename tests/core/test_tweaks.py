"""Tweaks: after any edit of the score the pose at a moment of the music is the tweak on the score's new pose."""

import os
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray, IntArray
from takt.core.pha.lineage import matched
from takt.core.pha.text import Text
from takt.core.playing.ahead import Ahead
from takt.core.playing.differences import Differences
from takt.core.playing.feet.tweaked_feet import TweakedFeet
from takt.core.playing.moments import Timeline
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.playing.stage import Playable
from takt.core.playing.tweaked import tweaked, without_layers
from takt.core.playing.tweaks import Tweak, TweakKeys, heard
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips

from .edited_programmes import KNOWN, TYPED, Change, Program, moves
from .scores import FIGURE, UP_Z, X
from .seeds import few

PROGRAMMES = int(os.environ.get("TAKT_PROGRAMMES", "6"))
KINDS = {**KNOWN, **TYPED}
TOLERANCE = 1e-4
UP_Y = np.array((0.0, 1.0, 0.0))
BODY: SkeletonMap = find_map(FIGURE)
JOINTS = ("spine", "l_arm", "r_arm")


LIBRARY = Library(other_clips=lambda src: moves() if src == "moves" else None)


def performed(text: str, **settings: Any) -> Motion:
    return perform(text, None, LIBRARY, Performer(FIGURE, UP_Z), Settings(**settings))


def random_tweak(motion: Motion, random: np.random.Generator, number: int = 12, **options: Any) -> Tweak:
    """Make keys in some blocks, each of one joint."""
    timeline = Timeline.of(motion)
    segments = random.permutation(len(timeline))[:number]
    turns = rot.from_axis_angle(random.normal(size=(len(segments), 3)), random.uniform(0.2, 1.2, len(segments)))
    shares = random.uniform(0.1, 0.9, len(segments))
    numbers = np.arange(len(segments))
    turned = TweakKeys(random.integers(len(JOINTS), size=len(segments)), numbers, shares, turns)
    moved = TweakKeys(np.zeros(len(segments), np.int64), numbers, shares, random.normal(size=(len(segments), 3)))
    return Tweak("tweaks", JOINTS, tuple(map(timeline.block, segments.tolist())), turned, moved, **options)


def check(before: Motion, after: Motion, change: Change, tweak: Tweak) -> int:
    """Check each key's pose; return how many of the keys are still there."""
    old = Timeline.of(before)
    wanted: dict[int, int] = {}
    for at, was in enumerate(change.blocks):
        if was is not None:
            wanted.setdefault(was, at)
    segments = {old.block(segment): segment for segment in range(len(old))}
    lineage = {"": change.origin}
    found = Timeline.of(after).find(tweak.blocks, lineage)
    if not change.are_moved:
        assert found == [wanted.get(segments[block]) for block in tweak.blocks]
    played = tweaked(after, [tweak.placed(Timeline.of(after), BODY, lineage)])
    for keys, is_turned in ((tweak.rotations, True), (tweak.translations, False)):
        for joint, block, share, value in zip(keys.joint, keys.block, keys.share, keys.values, strict=True):
            segment = found[block]
            if segment is None:
                continue
            even = after.sequence.start_s[segment] + share * after.sequence.length_s[segment]
            time = np.array((even,)) if after.clock is None else after.clock.shown(np.array((even,)))
            row = FIGURE.index_of[JOINTS[joint]]
            pose, plain = played.sample(time), after.sample(time)
            if is_turned:
                new = rot.multiply(plain.rotations[0, row], value)
                assert rot.angle_between(pose.rotations[0, row], new) < TOLERANCE
            else:
                np.testing.assert_allclose(pose.translations[0, row], plain.translations[0, row] + value,
                                           atol=TOLERANCE)
    return sum(segment is not None for segment in found)


@pytest.mark.parametrize("kind", few(KINDS, 12))
def test_tweaks_go_where_their_blocks_go(kind: str) -> None:
    made = there = 0
    for seed in range(PROGRAMMES):
        program = Program(Random(f"{kind} {seed}"))
        before = performed(program.text())
        tweak = random_tweak(before, np.random.default_rng(seed))
        change = KINDS[kind](program)
        if change is None:
            continue
        after = performed(change.text)
        assert len(after.sequence) == len(change.blocks)
        there += check(before, after, change, tweak)
        made += 1
    assert made and there


def test_there_are_thirty_kinds_of_edits() -> None:
    assert len(KINDS) >= 30


ROWS = '<call name="c0" duration="1"/><call name="c1" duration="1"/><call name="c2" duration="4"/>'


def score(rows: str = ROWS) -> str:
    return f'<pha version="2" tickLength="1"><load src="moves"/><procedure name="main">{rows}</procedure></pha>'


def lifting(motion: Motion, *moments: tuple[int, float], angle: float = 0.5, **options: Any) -> Tweak:
    """Turn an arm at shares of segments."""
    timeline = Timeline.of(motion)
    numbers, shares = np.arange(len(moments)), np.array([share for _, share in moments])
    keys = TweakKeys(np.zeros_like(numbers), numbers, shares, np.tile(rot.from_axis_angle(X, angle), (len(moments), 1)))
    return Tweak("lift", ("l_arm",), tuple(timeline.block(segment) for segment, _ in moments), keys, **options)


def angles(motion: Motion, tweak: Tweak, *times_s: float) -> list[float]:
    """Return by how much a tweak turns the arm at times."""
    times = np.array(times_s)
    found = tweaked(motion, [tweak.placed(Timeline.of(motion), BODY)]).sample(times)
    row = FIGURE.index_of["l_arm"]
    turned = rot.multiply(rot.conjugate(motion.sample(times).rotations[:, row]), found.rotations[:, row])
    found_rad: list[float] = rot.angle_between(turned, rot.IDENTITY).tolist()
    return found_rad


def test_without_tweaks_it_is_the_motion_itself() -> None:
    motion = performed(score())
    assert tweaked(motion, ()) is motion and without_layers(motion, ()) is motion
    muted = lifting(motion, (0, 0.5), is_muted=True).placed(Timeline.of(motion), BODY)
    assert tweaked(motion, [muted]) is motion


def test_one_key_alone_makes_a_bump() -> None:
    motion = performed(score())
    tweak = lifting(motion, (2, 0.5))
    assert angles(motion, tweak, 3.79, 3.9, 4.0, 4.1, 4.21) == pytest.approx([0.0, 0.25, 0.5, 0.25, 0.0], abs=4e-3)
    slower = lifting(motion, (2, 0.5), ease_in_s=1.0, ease_out_s=0.0)
    assert angles(motion, slower, 3.5, 3.999, 4.01) == pytest.approx([0.25, 0.5, 0.0], abs=4e-3)


def test_a_tweak_that_holds_is_an_offset_from_its_key_on() -> None:
    motion = performed(score())
    assert angles(motion, lifting(motion, (2, 0.25), holds=True), 2.7, 3.0, 5.9) == pytest.approx([0.0, 0.5, 0.5])


def test_keys_in_blocks_beside_each_other_are_joined_and_others_fade() -> None:
    motion = performed(score())
    assert angles(motion, lifting(motion, (0, 0.5), (1, 0.5)), 0.5, 1.0, 1.5) == pytest.approx([0.5] * 3)
    assert angles(motion, lifting(motion, (0, 0.5), (2, 0.5)), 0.5, 1.0, 1.5, 4.0) == pytest.approx([0.5, 0, 0, 0.5])


def test_weight_body_and_solo() -> None:
    motion = performed(score())
    assert angles(motion, lifting(motion, (0, 0.5), weight=0.4), 0.5) == pytest.approx([0.2])
    one, two = lifting(motion, (0, 0.5), is_solo=True), lifting(motion, (1, 0.5))
    assert heard((one, two)) == (one,) and heard((two,)) == (two,)
    assert heard((lifting(motion, (0, 0.5), is_muted=True), two)) == (two,)


def test_every_call_of_a_procedure_has_its_tweak() -> None:
    text = ('<pha version="2" tickLength="1"><load src="moves"/><procedure name="verse"><call name="c0" duration="1"/>'
            '</procedure><procedure name="main">{}<call name="verse" duration="1"/><call name="c1" duration="1"/>'
            '<call name="verse" duration="2" repeat="2"/></procedure></pha>')
    motion = performed(text.format(""))
    tweak = lifting(motion, (0, 0.5))
    tweak = Tweak("lift", tweak.joints, (tweak.blocks[0][1:],), tweak.rotations, is_over_procedure=True)
    assert angles(motion, tweak, 0.5, 1.5, 3.0, 5.0) == pytest.approx([0.5, 0.0, 0.5, 0.5])
    longer = performed(text.format('<wait duration="1"/>'))
    lineage = {"": matched(Text.of(text.format("")), Text.of(text.format('<wait duration="1"/>')))}
    placed = tweak.placed(Timeline.of(longer), BODY, lineage)
    assert placed.rotations.times_s.tolist() == pytest.approx([1.3, 1.5, 1.7, 3.8, 4.0, 6.0, 6.2])


@pytest.mark.parametrize("settings", [{}, {"method": "INSERT"}, {"loop": True}])
@pytest.mark.parametrize("tempo", ["", '<tempo tick="1" tickLength="0.4" over="2"/>'])
def test_a_moment_leads_back_to_its_time(settings: dict[str, Any], tempo: str) -> None:
    rows = ROWS.replace('"c1" duration="1"', '"c1" duration="1" transition="0.3"')
    text = score(rows).replace("<load", tempo + "<load")
    motion = performed(text, **settings)
    timeline, times = Timeline.of(motion), np.linspace(0.0, motion.duration_s, 41)
    blocks, shares = timeline.moments(times)
    assert 0.0 <= shares.min() <= shares.max() <= 1.0 and set(blocks.tolist()) == {0, 1, 2}
    np.testing.assert_allclose(timeline.times(blocks, shares), times, atol=1e-9)


def test_what_lies_below_the_tweaks_and_they_are_the_motion() -> None:
    motion = performed(score())
    random = np.random.default_rng(1)
    layers = [random_tweak(motion, random, 3, weight=0.7).placed(Timeline.of(motion), BODY) for _ in range(3)]
    whole = tweaked(motion, layers)
    times = np.linspace(0.0, 6.0, 61)
    below, wanted = without_layers(whole, layers).sample(times), whole.sample(times)
    assert rot.angle_between(below.rotations, motion.sample(times).rotations).max() < 1e-6
    for layer in layers:
        layer.add(below, times)
    assert rot.angle_between(below.rotations, wanted.rotations).max() < 1e-6
    np.testing.assert_allclose(below.translations, wanted.translations, atol=1e-9)


def hips_shifted(motion: Motion, share: float, way: tuple[float, float, float]) -> Tweak:
    assert motion.body is not None
    hips = motion.skeleton.names[motion.body.joint_of["HumanoidRoot"]]
    keys = TweakKeys(np.zeros(1, np.int64), np.zeros(1, np.int64), np.array((share,)), np.array((way,)))
    return Tweak("hips", (hips,), (Timeline.of(motion).block(0),), translations=keys)


def test_feet_stay_where_the_body_is_tweaked() -> None:
    motion = performed_step()
    assert motion.feet is not None and motion.body is not None
    timeline, times = Timeline.of(motion), np.linspace(0.0, motion.duration_s, 60)
    tweak = hips_shifted(motion, 0.2, (0.03, 0.0, 0.02))
    placed = tweak.placed(timeline, motion.body)
    before, last = tweaked(motion, [placed]), tweaked(motion, [], [placed])
    feet = [motion.body.joint_of[name] for name in ("l_ankle", "r_ankle")]
    plain, solved, moved = (world_from_pose(motion.skeleton, each.sample(times))[..., 3] for each in
                            (motion, before, last))
    root = motion.body.joint_of["HumanoidRoot"]
    assert np.linalg.norm(solved[:, root] - plain[:, root], axis=1).max() > 0.03
    stands = np.linalg.norm(np.diff(plain[:, feet], axis=0), axis=2) < 1e-3
    assert stands.sum() > 10
    slid = [np.linalg.norm(np.diff(each[:, feet], axis=0), axis=2)[stands].max() for each in (solved, moved)]
    assert slid[0] < 2e-3 < slid[1]


LOWERED, RAISED, LEANT = (0.02, -0.06, 0.0), (0.0, 0.01, 0.03), rot.from_axis_angle(UP_Z, 0.2)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("move", [LOWERED, RAISED, LEANT], ids=["lowered", "raised", "leant"])
def test_feet_that_stand_keep_their_height_and_turn_all_through_a_contact(move: Any, steps: int) -> None:
    motion = performed_step(steps)
    assert motion.feet is not None and motion.body is not None
    hips = motion.skeleton.names[motion.body.joint_of["HumanoidRoot"]]
    zero = np.zeros(1, np.int64)
    segment, share = Timeline.of(motion).moments(np.array((motion.duration_s / 2.0,)))
    keys = TweakKeys(zero, zero, share, np.array(move)[None])
    slow: Any = {"ease_in_s": 1.0, "ease_out_s": 1.0, "rotations" if len(move) == 4 else "translations": keys}
    tweak = Tweak("hips", (hips,), (Timeline.of(motion).block(int(segment[0])),), **slow)
    changed = tweaked(motion, [tweak.placed(Timeline.of(motion), motion.body)])
    loose = tweaked(motion, [], [tweak.placed(Timeline.of(motion), motion.body)])
    for side, spans_s in motion.feet.held_s:
        times = np.concatenate([np.linspace(begin, end, 20) for begin, end in spans_s])
        joints = [motion.body.joint_of[f"{side}_{name}"] for name in ("ankle", "metatarsal")]
        plain, held, free = (world_from_pose(motion.skeleton, each.sample(times))[:, joints] for each in
                             (motion, changed, loose))
        assert len(times) and np.abs(free - plain).max() > 0.01
        np.testing.assert_allclose(held[..., 1, 3], plain[..., 1, 3], atol=2e-3)
        np.testing.assert_allclose(held[..., :3], plain[..., :3], atol=2e-3)


def test_soles_do_not_go_into_the_ground_between_contacts_either() -> None:
    motion = performed_step()
    assert motion.feet is not None and motion.body is not None
    changed = tweaked(motion, [hips_shifted(motion, 0.5, (0.0, -0.1, 0.0)).placed(Timeline.of(motion), motion.body)])
    times = np.linspace(0.0, motion.duration_s, 101)
    feet = [motion.body.joint_of[f"{side}_metatarsal"] for side in "lr"]
    plain, found = (world_from_pose(motion.skeleton, each.sample(times))[:, feet, 1, 3] for each in (motion, changed))
    assert found.min() > plain.min() - 2e-3


def test_what_a_tweak_does_to_the_foot_itself_counts_while_it_stands() -> None:
    motion = performed_step()
    assert motion.body is not None
    ankle = motion.body.joint_of["l_ankle"]
    zero, turn = np.zeros(1, np.int64), rot.from_axis_angle(UP_Y, 0.4)
    keys = TweakKeys(zero, zero, np.array((0.1,)), turn[None])
    tweak = Tweak("foot", (motion.skeleton.names[ankle],), (Timeline.of(motion).block(0),), keys, holds=True)
    changed, times = tweaked(motion, [tweak.placed(Timeline.of(motion), motion.body)]), np.linspace(0.3, 1.9, 33)
    plain, found = (rot.from_matrix(world_from_pose(motion.skeleton, each.sample(times))[:, ankle, :, :3])
                    for each in (motion, changed))
    np.testing.assert_allclose(rot.angle_between(plain, found), 0.4, atol=1e-3)


def test_an_arms_tweak_leaves_all_else_bit_for_bit() -> None:
    motion = performed_step()
    assert motion.body is not None
    elbow = motion.skeleton.names[motion.body.joint_of["l_elbow"]]
    zero = np.zeros(1, np.int64)
    keys = TweakKeys(zero, zero, np.array((0.5,)), rot.from_axis_angle(X, 0.5)[None])
    tweak = Tweak("arm", (elbow,), (Timeline.of(motion).block(0),), keys)
    times = np.linspace(0.0, motion.duration_s, 51)
    found = tweaked(motion, [tweak.placed(Timeline.of(motion), motion.body)]).sample(times)
    others = np.arange(len(motion.skeleton)) != motion.skeleton.index_of[elbow]
    assert (found.rotations[:, others] == motion.sample(times).rotations[:, others]).all()
    assert rot.angle_between(found.rotations, motion.sample(times).rotations).max() == pytest.approx(0.5)


def performed_step(count: int = 1) -> Motion:
    step = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == "side_step_left")
    text = score(count * '<call name="side_step_left" duration="2"/>')
    return perform(text, None, Library(other_clips=lambda _: (step,)), Performer(step.skeleton, UP_Y))


def test_what_is_no_tweak_is_refused() -> None:
    one, number = np.zeros(1, np.int64), np.zeros(1)
    turn = TweakKeys(one, one, number, rot.IDENTITY[None])
    block = Timeline.of(performed(score())).block(0)
    for message, make in {
            "found 3 numbers for each rotation, expected 4":
                lambda: Tweak("t", ("hip",), (block,), TweakKeys(one, one, number, np.zeros((1, 3)))),
            "keys name joints from 0 to 0, but there are 0": lambda: Tweak("t", (), (block,), turn),
            "keys name blocks from 0 to 0, but there are 0": lambda: Tweak("t", ("hip",), (), turn),
            "found the weight 1.5, expected 0 to 1": lambda: Tweak("t", (), (), weight=1.5),
            "found an ease in of -1.0 s": lambda: Tweak("t", (), (), ease_in_s=-1.0),
            "must be finite": lambda: TweakKeys(one, one, np.array((np.nan,)), rot.IDENTITY[None]),
            "expected as many of each": lambda: TweakKeys(one, one, number, np.zeros((2, 4)))}.items():
        with pytest.raises(TaktError, match=message):
            make()


def test_joints_that_the_rig_no_longer_has_are_left_out() -> None:
    motion = performed(score())
    tweak = lifting(motion, (0, 0.5))
    gone = Tweak("t", ("tail",), tweak.blocks, tweak.rotations)
    assert not gone.placed(Timeline.of(motion), BODY).changed.any()


class Alone(TweakedFeet):
    """Feet above tweaks that take nothing from those without: all is looked up anew."""

    @cached_property
    def _is_changed(self) -> BoolArray:
        return np.ones(self.lock.footholds.edges_s.shape[1], dtype=np.bool_)

    def _are_own(self, times_s: FloatArray, gaps: IntArray) -> BoolArray:
        return np.ones(len(times_s), dtype=np.bool_)


def dance(**settings: Any) -> Motion:
    """Return steps one after another, at three tempi, with transitions."""
    clips = {clip.name: clip for clip in build_clips("feet/Steps.skeleton.xml")}
    calls = [f'<call name="{name}" duration="{duration}" transition="0.4"/>' for duration in (2, 3, 1.5)
             for name in ("side_step_left", "side_step_right")]
    return perform(score("".join(calls)), None, Library(other_clips=lambda _: tuple(clips.values())),
                   Performer(clips["side_step_left"].skeleton, UP_Y), Settings(**settings))


RAISED_M = 0.0, 0.08, 0.0
INSTANTS_ALONE = 40
"""As many are sampled one by one, each by a motion of its own."""
"""Legs do not reach so far, so that the body is lowered near transitions."""


def leant(motion: Motion, at: tuple[int, ...], joint: str = "HumanoidRoot", angle_rad: float = 0.2) -> Differences:
    """Return tweaks that lean and raise a joint towards the end of some segments."""
    assert motion.body is not None
    timeline, count = Timeline.of(motion), len(at)
    name = motion.skeleton.names[motion.body.joint_of[joint]]
    moments = np.zeros(count, np.int64), np.arange(count), np.full(count, 0.9)
    turned = TweakKeys(*moments, np.tile(rot.from_axis_angle(X, angle_rad), (count, 1)))
    moved = TweakKeys(*moments, np.tile(RAISED_M, (count, 1)))
    return Tweak("lean", (name,), tuple(map(timeline.block, at)), turned, moved).placed(timeline, motion.body)


@pytest.mark.slow
@pytest.mark.parametrize("is_loop", [False, True])
@pytest.mark.parametrize("at", [(0,), (2, 4), (0, 1, 2, 3, 4, 5)])
def test_what_is_shared_with_the_motion_without_tweaks_is_what_would_be_found_anew(
        at: tuple[int, ...], is_loop: bool) -> None:
    motion, times = dance(loop=is_loop), np.random.default_rng(2).permutation(np.arange(0.0, 13.0, 1.0 / 30.0))
    played = tweaked(motion, [leant(motion, at)])
    feet = played.end
    assert isinstance(feet, TweakedFeet)
    played.sample(times)
    assert (feet._lowering._knots != feet.plain._lowering._knots).any()
    alone = Alone.of(feet.plain, feet.tweaks).sample(times)
    # Few instants at once are planned otherwise than many. The times are in random order.
    for count, parts in ((INSTANTS_ALONE, INSTANTS_ALONE), (len(times), 7)):
        found = [tweaked(motion, [leant(motion, at)]).sample(part) for part in np.array_split(times[:count], parts)]
        for name in ("rotations", "translations", "scales"):
            np.testing.assert_allclose(np.concatenate([getattr(pose, name) for pose in found]),
                                       getattr(alone, name)[:count], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("joint", ["HumanoidRoot", "l_elbow"])
def test_a_tweaked_motion_differs_from_the_one_without_only_where_it_says_so(joint: str) -> None:
    motion, times = dance(), np.arange(0.0, 13.0, 1.0 / 30.0)
    played = tweaked(motion, [leant(motion, (2,), joint)])
    assert played.untweaked is not None
    differs = played.untweaked.differs(times)
    plain, found = motion.sample(times), played.sample(times)
    apart = np.abs(found.rotations - plain.rotations).max(axis=(1, 2))
    apart = np.maximum(apart, np.abs(found.translations - plain.translations).max(axis=(1, 2)))
    assert 0.02 < differs.mean() < 0.7
    assert apart[differs].max() > 0.05 and apart[~differs].max() == 0.0


def test_differences_are_alike_whose_keys_and_weights_are_the_same() -> None:
    motion = dance()
    one = leant(motion, (2, 4))
    assert one.is_like(leant(motion, (2, 4)))
    others = (leant(motion, (2,)), leant(motion, (2, 4), angle_rad=0.3), leant(motion, (2, 4), "l_knee"),
              replace(one, weights=one.weights * 0.5))
    assert not any(one.is_like(other) or other.is_like(one) for other in others)


def test_tweaks_above_tweaks_are_those_of_both() -> None:
    motion, times = dance(), np.arange(0.0, 13.0, 1.0 / 30.0)
    one, other = leant(motion, (0,)), leant(motion, (4,), angle_rad=-0.3)
    both, twice = tweaked(motion, [one, other]), tweaked(tweaked(motion, [one]), [other])
    np.testing.assert_allclose(twice.sample(times).rotations, both.sample(times).rotations, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("joint", ["HumanoidRoot", "l_elbow"])
def test_sampled_ahead_with_others_a_tweaked_motion_is_what_it_is_alone(joint: str) -> None:
    motion, times = dance(), np.arange(0.0, 13.0, 1.0 / 30.0)
    crowd = [tweaked(motion, [leant(motion, at, joint)]) for at in ((0,), (1, 3), (5,))]
    sampled: list[int] = []

    def rotations(played: Playable, at_s: FloatArray) -> FloatArray:
        sampled.append(len(at_s))
        return played.sample(at_s).rotations

    ahead = Ahead(rotations)
    for time_s in times.tolist():
        for played in crowd:
            found = ahead.at(played, np.array((time_s,)))
            assert found is not None
            np.testing.assert_allclose(found[0], played.sample(np.array((time_s,))).rotations[0], rtol=0.0, atol=1e-9)
    assert sum(sampled) < 2.5 * len(times)
