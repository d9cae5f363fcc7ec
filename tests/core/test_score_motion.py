"""What scores of version 2 do to the motion: identities that hold at every instant."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.excerpt import Excerpt, mirrored
from takt.core.errors import ScoreError, SkeletonMismatchError
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.placing.root_motion import ROOT_MODES
from takt.core.playing.score import Settings, perform
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.mirror import Mirror
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.samples.skeleton import build_skeleton

EXACT = 1e-9
INSTANTS = 100
BODY = build_skeleton()
MAP = find_map(BODY)
UP = np.array((0.0, 1.0, 0.0))
LEFT = np.array((1.0, 0.0, 0.0))


def moving(name: str, joints: tuple[str, ...], seed: int, duration_s: float = 1.0, way: float = 0.0) -> Clip:
    """Make a clip that turns joints of the map at random but smoothly, and goes some way over the ground."""
    random = np.random.default_rng(seed)
    rows = np.array([MAP.joint_of[joint] for joint in joints])
    times = np.linspace(0.0, duration_s, 9)
    phase, size = random.uniform(0.0, 6.0, (len(rows), 3)), random.uniform(-0.4, 0.4, (len(rows), 3))
    turns = rot.exp(size * np.sin(2.0 * np.pi * times[:, None, None] / duration_s + phase))
    root = np.array([MAP.joint_of["HumanoidRoot"]])
    places = np.column_stack((0.3 * way * times, 0.02 * np.sin(6.0 * times), way * times))
    shifts = Tracks.uniform(root, times, places[:, None]) if way else Tracks.empty(3)
    return Clip(name, BODY, duration_s, Tracks.uniform(rows, times, turns), shifts, Tracks.empty(3))


LEGS = ("HumanoidRoot", "l_hip", "r_hip", "l_knee", "r_knee", "vl5" if "vl5" in MAP.joint_of else "l_ankle")
ARMS = ("l_shoulder", "r_shoulder", "l_elbow")
STEPS = (moving("walk", LEGS, 1, way=0.8), moving("run", (*LEGS, "l_shoulder"), 2, 0.7, way=1.9),
         moving("wave", ("r_shoulder", "r_elbow", "r_wrist"), 3, 0.8), moving("clap", ARMS, 4))
CLIPS = Library(other_clips=lambda src: STEPS if src == "a.B" else None)


def score(*inside: str, head: str = "", more: str = "") -> str:
    return (f'<pha version="2" tickLength="1"><load src="a.B"/>{head}<procedure name="main">{"".join(inside)}'
            f'</procedure>{more}</pha>')


def played(text: str, library: Library = CLIPS, **settings: object) -> Motion:
    """Play a score, feet as authored."""
    chosen = Settings(**{"lock_feet": False, **settings})  # type: ignore[arg-type]
    return perform(text, None, library, Performer(BODY, UP), chosen)


def instants(motion: Motion) -> np.ndarray:
    return np.linspace(0.0, motion.duration_s, INSTANTS)


def assert_poses(found: Pose, wanted: Pose, tolerance: float = EXACT) -> None:
    assert rot.angle_between(found.rotations, wanted.rotations).max() < tolerance
    np.testing.assert_allclose(found.translations, wanted.translations, atol=tolerance)
    np.testing.assert_allclose(found.scales, wanted.scales, atol=tolerance)


def assert_same(found: Motion, wanted: Motion, tolerance: float = EXACT) -> None:
    assert found.duration_s == pytest.approx(wanted.duration_s, abs=EXACT)
    times = instants(wanted)
    assert_poses(found.sample(times), wanted.sample(times), tolerance)


def differ(found: Motion, wanted: Motion) -> float:
    """Return by how much, in radians: an identity says nothing where all would be the same."""
    times = instants(wanted)
    return float(rot.angle_between(found.sample(times).rotations, wanted.sample(times).rotations).max())


WALK, RUN = '<call name="walk" duration="2"/>', '<call name="run" duration="1" transition="0.2"/>'
WAVE = '<call name="wave" duration="2"/>'
ROW = RUN + WALK + '<call name="clap" duration="1.5"/>'


def turned(inside: str, how: str) -> str:
    return score(f'<call name="it" duration="1" {how}/>', more=f'<procedure name="it">{inside}</procedure>')


def with_length(text: str) -> str:
    """Let the call last as long as what it calls."""
    return text.replace('name="it" duration="1"', 'name="it" duration="4.5"')


@pytest.mark.parametrize("how", ["mirror", "reverse"])
@pytest.mark.parametrize("root_motion", ROOT_MODES)
def test_twice_is_once_not(how: str, root_motion: str) -> None:
    once = with_length(turned(ROW, f'{how}="yes"'))
    twice = once.replace("</pha>", f'<procedure name="again"><call name="it" duration="4.5" {how}="yes"/></procedure>'
                         f'</pha>').replace('<call name="it" duration="4.5"', '<call name="again" duration="4.5"', 1)
    plain = played(score(ROW), root_motion=root_motion)
    assert_same(played(twice, root_motion=root_motion), plain)
    assert differ(played(once, root_motion=root_motion), plain) > 0.1


def test_mirrored_twice_a_clip_is_itself_and_once_reflected_in_the_model() -> None:
    mirror, walk = Mirror.of(MAP), STEPS[0]
    times = np.linspace(0.0, 1.0, INSTANTS)
    once = mirrored(walk, mirror)
    for interpolation in ("SLERP", "LERP", "SQUAD"):
        assert_poses(mirrored(once, mirror).sample(times, interpolation, "SPLINE"),
                     walk.sample(times, interpolation, "SPLINE"))
    reflection = np.diag((-1.0, 1.0, 1.0))
    there, here = (world_from_pose(BODY, clip.sample(times)) for clip in (once, walk))
    rest = BODY.rest_world
    for joint, other in enumerate(mirror.partner.tolist()):
        turn, image = (pose[:, j, :, :3] @ np.linalg.inv(rest[j, :, :3]) for pose, j in ((there, joint), (here, other)))
        np.testing.assert_allclose(turn, reflection @ image @ reflection, atol=1e-9)
    symmetric = np.abs(rest[:, :, 3] @ reflection - rest[mirror.partner, :, 3]).max() < 1e-6
    if symmetric:
        np.testing.assert_allclose(there[:, :, :, 3], here[:, mirror.partner][..., 3] @ reflection, atol=1e-6)
    assert mirror.partner[MAP.joint_of["l_knee"]] == MAP.joint_of["r_knee"]


def test_travel_is_mirrored_too() -> None:
    root = MAP.joint_of["HumanoidRoot"]
    plain, image = (played(score(f'<call name="walk" duration="2" repeat="2" {how}/>')).sample(np.array((0.0, 4.0)))
                    for how in ("", 'mirror="yes"'))
    ways = [np.diff(world_from_pose(BODY, pose)[:, root, :, 3], axis=0)[0] for pose in (plain, image)]
    np.testing.assert_allclose(ways[1], ways[0] * (-1.0, 1.0, 1.0), atol=EXACT)
    assert abs(ways[0][0]) > 0.1


def test_a_sided_joint_without_partner_is_told() -> None:
    meant = tuple(None if name == "r_elbow" else name for name in MAP.meant)
    lame = replace(MAP, meant=meant)
    assert [BODY.names[joint] for joint in Mirror.of(lame).alone] == [BODY.names[MAP.joint_of["l_elbow"]]]
    with pytest.raises(SkeletonMismatchError, match="left and right"):
        Mirror.of(replace(MAP, meant=(None,) * len(BODY), turn=None))


@pytest.mark.parametrize("interpolation", ["SLERP", "LERP", "SQUAD"])
def test_halves_of_a_clip_are_the_clip(interpolation: str) -> None:
    halves = score('<call name="walk" duration="1" to="0.5" transition="0"/>'
                   '<call name="walk" duration="1" from="0.5s"/>')
    assert_same(played(halves, interpolation=interpolation), played(score(WALK), interpolation=interpolation))


@pytest.mark.parametrize("is_reversed", [False, True])
def test_an_excerpt_is_its_part_of_the_clip(is_reversed: bool) -> None:
    part = Excerpt(STEPS[1], 0.13, 0.55, is_reversed)
    times = np.linspace(0.0, part.duration_s, INSTANTS)
    own = 0.55 - times if is_reversed else 0.13 + times
    assert_poses(part.sample(times, "SQUAD"), STEPS[1].sample(own, "SQUAD"))
    assert_poses(part.keyed.sample(times, "SLERP"), STEPS[1].sample(own, "SLERP"))


def test_a_wait_holds_the_pose_before_it_and_rest_at_the_start() -> None:
    motion = played(score('<wait duration="1" transition="0"/>', '<call name="walk" duration="1"/>',
                          '<wait duration="2" transition="0"/>', '<call name="clap" duration="1"/>'))
    assert_poses(motion.sample(np.linspace(0.0, 0.99, 10)), Pose.rest(BODY, 10))
    held = motion.sample(np.linspace(2.0, 3.99, 10))
    assert_poses(held, motion.sample(np.full(10, 2.0)))
    assert rot.angle_between(held.rotations, rot.IDENTITY).max() > 0.1
    place = held.translations[0, MAP.joint_of["HumanoidRoot"]]
    assert np.hypot(place[0], place[2]) == pytest.approx(np.hypot(0.24, 0.8))


def together(*lanes: str, how: str = "") -> str:
    return f'<together {how}>{"".join(lanes)}</together>'


def lane(inside: str, how: str = "") -> str:
    return f"<lane {how}>{inside}</lane>"


@pytest.mark.parametrize("root_motion", ROOT_MODES)
@pytest.mark.parametrize("mode", ["replace", "mix"])
def test_one_whole_lane_is_its_block(root_motion: str, mode: str) -> None:
    block = RUN + WALK
    assert_same(played(score(together(lane(block, f'mode="{mode}"'))), root_motion=root_motion),
                played(score(block), root_motion=root_motion))


@pytest.mark.parametrize("weights", [(1.0,), (0.3, 0.9), (0.5, 0.5, 2.0), (0.1, 0.2, 0.3, 0.4)])
def test_a_mix_of_a_clip_with_itself_is_the_clip(weights: tuple[float, ...]) -> None:
    lanes = [lane(WALK, f'mode="mix" weight="{weight}"') for weight in weights]
    assert_same(played(score(together(*lanes))), played(score(WALK)))


def test_lanes_of_other_joints_may_come_in_any_order() -> None:
    lanes = [lane(WALK, 'body="lower"'), lane(WAVE, 'body="right_arm"'),
             lane('<call name="clap" duration="2"/>', 'body="left_arm"')]
    first = played(score(together(*lanes)))
    for order in ((1, 0, 2), (2, 1, 0)):
        assert_same(played(score(together(*(lanes[i] for i in order)))), first)
    assert differ(first, played(score(WALK))) > 0.1


def test_nothing_is_added_by_an_addition_of_weight_0() -> None:
    added = lane('<call name="run" duration="2"/>', 'mode="add" weight="{}"')
    assert_same(played(score(together(lane(WALK), added.format(0)))), played(score(WALK)), 1e-12)
    assert differ(played(score(together(lane(WALK), added.format(1)))), played(score(WALK))) > 0.1


def test_a_tempo_of_the_same_length_is_none() -> None:
    text = score(ROW, head='<tempo tick="1" tickLength="1" over="2"/>')
    assert_same(played(text), played(score(ROW)))


def test_the_clock_is_bent_last_and_all_tell_its_time() -> None:
    even, bent = played(score(ROW)), played(score(ROW, head='<tempo tick="2" tickLength="0.5"/>'))
    assert bent.duration_s == pytest.approx(2.0 + 2.5 * 0.5)
    times = np.linspace(0.0, 4.5, INSTANTS)
    clock = np.where(times < 2.0, times, 2.0 + (times - 2.0) * 0.5)
    assert_poses(bent.sample(clock), even.sample(times))
    np.testing.assert_allclose(bent.layout.begin_s, np.interp(even.layout.begin_s, times, clock), atol=0.05)
    assert bent.layout.duration_s == bent.duration_s
    assert [bent.segment_at(t) for t in (0.5, 2.2, 3.2)] == [even.segment_at(t) for t in (0.5, 2.4, 4.4)]
    edges = even.instants(1.0, 0.0).edges
    np.testing.assert_allclose(np.sort(bent.instants(1.0, 0.0).edges),
                               np.sort(np.where(edges < 2.0, edges, 2.0 + (edges - 2.0) * 0.5)), atol=EXACT)


def test_a_body_from_a_walk_into_a_run_goes_as_the_walk_does() -> None:
    """The first lane that has the root carries travel and heading."""
    lanes = [lane('<call name="walk" duration="1" repeat="4"/>', 'mode="mix" weight="1" weightEnd="0"'),
             lane('<call name="run" duration="1" repeat="4"/>', 'mode="mix" weight="0" weightEnd="1"')]
    steps = ('<call name="walk" duration="1" repeat="4"/>', '<call name="run" duration="1" repeat="4"/>')
    mixed, walk, run = (played(score(text)) for text in (together(*lanes), *steps))
    root, ends = MAP.joint_of["HumanoidRoot"], np.array((0.0, 4.0))
    own, other = (motion.sample(ends) for motion in (mixed, walk))
    np.testing.assert_allclose(own.translations[:, root, (0, 2)], other.translations[:, root, (0, 2)], atol=1e-9)
    knee = MAP.joint_of["l_knee"]
    for motion, at in ((walk, 0), (run, 1)):
        np.testing.assert_allclose(rot.angle_between(own.rotations[at, knee], motion.sample(ends).rotations[at, knee]),
                                   0.0, atol=EXACT)


def test_a_silent_lane_shows_what_lies_below_and_comes_in_without_a_pop() -> None:
    waving = lane(f'<wait duration="3"/>{WAVE}<wait duration="1"/>', 'body="right_arm"{}')
    motion = played(score(together(lane('<call name="clap" duration="6"/>'), waving.format(""))))
    below = played(score('<call name="clap" duration="6"/>'))
    quiet = np.concatenate((np.linspace(0.0, 3.0, 50), np.linspace(5.0, 6.0, 20)))
    assert_poses(motion.sample(quiet), below.sample(quiet))
    assert differ(motion, below) > 0.1
    times = np.linspace(0.0, 6.0, 3001)
    arm = MAP.joint_of["r_shoulder"]
    steps = rot.angle_between(*(motion.sample(t).rotations[:, arm] for t in (times[1:], times[:-1])))
    popping = played(score(together(lane('<call name="clap" duration="6"/>'), waving.format(' ease="0"'))))
    jumps = rot.angle_between(*(popping.sample(t).rotations[:, arm] for t in (times[1:], times[:-1])))
    assert steps.max() < 0.02 < jumps.max()


def test_what_no_lane_moves_keeps_the_pose_before_the_block() -> None:
    text = score('<call name="clap" duration="1" transition="0"/>',
                 together(lane(WALK, 'body="lower"'),
                          lane(f'<wait duration="1"/>{WAVE}', 'body="right_arm" ease="0.5"'), how='duration="3"'))
    motion = played(text)
    before, after = motion.sample(np.array((1.0 - 1e-9,))), motion.sample(np.linspace(1.0, 2.0, 20))
    for joint in ("l_shoulder", "r_shoulder", "l_elbow"):
        at = MAP.joint_of[joint]
        assert rot.angle_between(after.rotations[:, at], before.rotations[:, at]).max() < 1e-7


def test_a_mirrored_block_exchanges_its_masks() -> None:
    block = together(lane(WALK, 'body="lower"'), lane(WAVE, 'body="right_arm"'))
    motion = played(score('<call name="b" duration="2" mirror="yes"/>',
                          more=f'<procedure name="b">{block}</procedure>'))
    moved = {MAP.meant[joint] for joint in np.flatnonzero(motion.moved)}
    assert {"l_shoulder", "l_wrist"} <= moved and "r_shoulder" not in moved


def test_lanes_hold_lanes() -> None:
    inner = together(lane(WALK, 'body="lower"'), lane(WAVE, 'body="right_arm"'))
    nested = together(lane(inner), lane('<call name="clap" duration="2"/>', 'body="left_arm"'))
    flat = together(lane(WALK, 'body="lower"'), lane(WAVE, 'body="right_arm"'),
                    lane('<call name="clap" duration="2"/>', 'body="left_arm"'))
    assert_same(played(score(nested)), played(score(flat)))


def test_what_a_body_lacks_is_told() -> None:
    motion = played(score(together(lane(WALK), lane(WAVE, 'body="bone:tail"'))))
    assert any(re.search("has nothing for 'bone:tail'", str(problem)) for problem in motion.problems)


def test_values_and_seed_come_from_the_settings() -> None:
    text = score('<param name="times" default="1"/><loop times="times"><call name="walk" duration="1"/></loop>'
                 '<pick><call name="wave" duration="1"/><call name="clap" duration="1"/></pick>')
    assert len(played(text).sequence) == 2 and len(played(text, values=(("times", 3.0),)).sequence) == 4
    assert len({played(text, seed=seed).sequence.clips[-1] for seed in range(9)}) == 2
    with pytest.raises(ScoreError, match=r"'tims'.*did you mean times"):
        played(text, values=(("tims", 3.0),))


def test_a_score_that_extends_and_replaces_nothing_is_the_base(tmp_path: Path) -> None:
    base = score(ROW)
    (tmp_path / "base.pha").write_text(base)
    library = Library([tmp_path], other_clips=lambda src: STEPS if src == "a.B" else None)
    assert_same(played('<pha version="2" tickLength="1" extends="base"/>', library), played(base))


def test_without_transitions_blocks_have_none_either() -> None:
    text = score(together(lane(RUN + WALK)))
    assert_same(played(text, transitions=False), played(score(RUN + WALK), transitions=False))
    assert parse(text).version == 2


@pytest.mark.parametrize(("text", "said"), [
    (score('<loop times="600" index="i">' + together(lane(WAVE), how='duration="i + 1"') + "</loop>"),
     "found 600 <together> of different lengths or contents, expected at most 500"),
    (score('<loop times="1200" index="i"><call name="walk" duration="1" to="(i + 1) / 1200"/></loop>'),
     "found 1200 different parts of clips, expected at most 1000"),
])
def test_too_much_that_differs_is_refused(text: str, said: str) -> None:
    with pytest.raises(ScoreError, match=said):
        played(text)


def test_a_score_that_only_waits_is_refused() -> None:
    with pytest.raises(ScoreError, match="'main' only waits, expected a clip"):
        played(score('<wait duration="1"/>'))


def test_warnings_name_the_line_and_the_time_that_a_viewer_sees() -> None:
    """Also where the tempo changes, and where transitions take time of their own; within lanes the line alone."""
    far = moving("far", ("l_elbow",), 1)
    there, here = (replace(far, name=name, rotations=Tracks.uniform(
        np.array([MAP.joint_of["l_elbow"]]), np.array((0.0, 1.0)), rot.exp(np.full((2, 1, 3), (0.0, 0.0, angle)))))
        for name, angle in (("there", 0.0), ("here", 2.8)))
    library = Library(other_clips=lambda src: (there, here) if src == "a.B" else None)
    calls = '\n<call name="there" duration="2" transition="1"/>\n<call name="here" duration="2"/>'

    def told(text: str, **settings: object) -> list[str]:
        return [str(each) for each in played(text, library, **settings).problems if "150°" in str(each)]

    tempo = '<tempo tick="1" tickLength="3"/>'
    assert [text.partition("must")[0] for text in told(score(calls)) + told(score(calls, head=tempo))
            + told(score(calls), method="APPEND") + told(score(together(lane(calls))))] == [
        f"score:2:1: warning: from 'a.B.there' to 'a.B.here' (2.00 s) '{BODY.names[MAP.joint_of['l_elbow']]}' ",
        f"score:2:1: warning: from 'a.B.there' to 'a.B.here' (4.00 s) '{BODY.names[MAP.joint_of['l_elbow']]}' ",
        f"score:2:1: warning: from 'a.B.there' to 'a.B.here' (2.00 s) '{BODY.names[MAP.joint_of['l_elbow']]}' ",
        f"score:2:1: warning: <lane>: from 'a.B.there' to 'a.B.here' '{BODY.names[MAP.joint_of['l_elbow']]}' "]


@pytest.mark.parametrize(("deforming", "warns"), [(("l_elbow",), True), (("l_wrist",), True), (("r_elbow",), False)])
def test_warnings_speak_of_what_moves_skin_alone(deforming: tuple[str, ...], warns: bool) -> None:
    """Poles and targets of IK may turn as they like, but not what skin follows."""
    far = moving("far", ("l_elbow",), 1)
    there, here = (replace(far, name=name, rotations=Tracks.uniform(
        np.array([MAP.joint_of["l_elbow"]]), np.array((0.0, 1.0)), rot.exp(np.full((2, 1, 3), (0.0, 0.0, angle)))))
        for name, angle in (("there", 0.0), ("here", 2.8)))
    skin = np.zeros(len(BODY), dtype=np.bool_)
    skin[[MAP.joint_of[name] for name in deforming]] = True
    calls = '<call name="there" duration="2" transition="1"/><call name="here" duration="2"/>'
    for text in (score(calls), score(together(lane(calls)))):
        library = Library(other_clips=lambda src: (there, here) if src == "a.B" else None)
        found = perform(text, None, library, Performer(BODY, UP, skin=skin)).problems
        assert any("150°" in problem.message for problem in found) == warns
