"""Feet that stand: where, and that they stay there."""

from dataclasses import replace

import numpy as np
import pytest

from takt.benchmarks.join_measures import planted
from takt.core.clips.keyed import keys_of, packed
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, runs
from takt.core.playing.feet.footholds import JERK_LEGS, ground_axes, within_reach
from takt.core.playing.feet.leading import Moment
from takt.core.playing.feet.legs import Leg, knee_axis, legs_of
from takt.core.playing.feet.lock import FeetLock
from takt.core.playing.feet.soles import Soles
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.held_feet import SWING_S, feet_lock, footholds, held, shifted
from takt.tests.core.rigs import RIGS, real, worn
from takt.tests.core.scores import library, procedure, programme

UP = np.array((0.0, 1.0, 0.0))
GROUND = ground_axes(UP)
SLIDE = 0.01
"""Of the leg's length, for each contact."""
LEG_M = 0.825
ALONE = 1e-9
"""By so much a frame alone may differ from the same one among others: sums over many are added up in another order."""
STRETCHED = 0.9995
"""How far a leg is stretched at most, of its length."""


def sliding(places: FloatArray, stands: np.ndarray) -> list[float]:
    """Return how far a foot goes over the ground in each contact."""
    flat = places - (places @ UP)[:, None] * UP
    return [float(np.linalg.norm(flat[a:b] - flat[a:b].mean(axis=0), axis=1).max()) for a, b in runs(stands)]


def walking(drift: float, rise: float = 0.0) -> tuple[Pose, Pose, FloatArray]:
    """Return the sample's step, carried along by a drift that no foot makes up for; loose and locked; and times."""
    clip = next(c for c in build_clips("feet/Steps.skeleton.xml") if c.name == "left_step")
    times = np.linspace(0.0, clip.duration_s, 97)

    def sample(times_s: FloatArray) -> Pose:
        pose = clip.sample(times_s)
        pose.translations[:, 0, 2] += drift * times_s
        pose.translations[:, 0, 1] += rise
        return pose

    lock = feet_lock(find_map(build_skeleton()), sample, clip.duration_s, UP)
    return sample(times), held(lock, sample(times), times), times


def feet(pose: Pose) -> tuple[FloatArray, FloatArray]:
    world = world_from_pose(build_skeleton(), pose)[..., 3]
    index = build_skeleton().index_of
    return world[:, index["l_metatarsal"]], world[:, index["r_metatarsal"]]


@pytest.mark.parametrize("drift", [0.05, 0.12, -0.1])
def test_planted_feet_stay_and_nothing_else_changes_much(drift: float) -> None:
    pose, locked, times = walking(drift)
    found = find_map(build_skeleton())
    standing = 0
    for before, after in zip(feet(pose), feet(locked), strict=True):
        stands = planted(before, times, UP, LEG_M)
        loose, held = sliding(before, stands), sliding(after, stands)
        standing += len(held)
        assert all(of_held <= SLIDE * LEG_M < of_loose for of_held, of_loose in zip(held, loose, strict=True))
        steps = np.linalg.norm(np.diff(after - before, axis=0), axis=1)
        assert steps.max() < 0.03  # eased: no jump from one frame to the next
    assert standing >= 1
    legs = {joint for leg in legs_of(found) for joint in (leg.hip, leg.knee, leg.ankle)}
    others = [j for j in range(len(build_skeleton())) if j not in legs]
    np.testing.assert_array_equal(locked.rotations[:, others], pose.rotations[:, others])
    index = build_skeleton().index_of
    for side in "lr":  # the foot keeps its rotation in the model
        one, other = (world_from_pose(build_skeleton(), p)[:, index[f"{side}_ankle"], :, :3] for p in (pose, locked))
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_legs_of_a_body_that_is_scaled_unevenly_are_turned_by_rotations() -> None:
    """Frames below such a scale are not at right angles."""
    clip = next(c for c in build_clips("feet/Steps.skeleton.xml") if c.name == "left_step")
    times = np.linspace(0.0, clip.duration_s, 97)

    def sample(times_s: FloatArray) -> Pose:
        pose = clip.sample(times_s)
        pose.translations[:, 0, 2] += 0.1 * times_s
        pose.scales[:, 0] = 1.1, 0.9, 1.2
        return pose

    lock = feet_lock(find_map(build_skeleton()), sample, clip.duration_s, UP)
    loose, locked = sample(times), held(lock, sample(times), times)
    assert np.abs(locked.rotations - loose.rotations).max() > 0.01
    np.testing.assert_allclose(np.linalg.norm(locked.rotations, axis=2), 1.0, atol=1e-12)


def test_a_body_whose_spine_and_legs_hang_below_different_joints_goes_down_as_one() -> None:
    """So it is in control rigs: else the trunk would stay where it is as the legs go down."""
    whole, times = build_skeleton(), np.linspace(0.0, 1.0, 5)
    spine, parents, moves = whole.index_of["vl5"], whole.parents.copy(), whole.rest_translations.copy()
    parents[spine], moves[spine] = -1, whole.rest_world[spine, :, 3]
    found = replace(find_map(whole), skeleton=replace(whole, parents=parents, rest_translations=moves))
    leg = legs_of(found)[0]
    place = whole.rest_world[leg.foot, :, 3] + np.array((0.9, 0.0, 0.0))
    lock = FeetLock(found, (leg,), footholds(((0.0, 1.0),), place[None] @ GROUND.T), UP,
                    Soles.of(found.skeleton, (leg,), UP))
    after = world_from_pose(found.skeleton, held(lock, Pose.rest(whole, len(times)), times))[..., 3]
    seen = [leg.hip, whole.index_of["skullbase"], whole.index_of["l_wrist"]]
    down = whole.rest_world[seen, :, 3] - after[:, seen]
    np.testing.assert_allclose(down, 0.05 * LEG_M * UP * np.ones((5, 3, 1)), atol=1e-3)


@pytest.mark.parametrize("away", [(0.9, 0.0), (-2.0, 1.0), (30.0, -40.0)])
def test_a_foot_out_of_reach_is_followed_as_far_as_the_leg_goes(away: tuple[float, float]) -> None:
    """A contact is beside the body, farther than the leg is long: the leg points to it, stretched."""
    skeleton, times = build_skeleton(), np.linspace(0.0, 1.0, 5)
    leg = legs_of(find_map(skeleton))[0]
    _, pose, _ = walking(0.0)
    pose = Pose(*(values[:5] for values in (pose.rotations, pose.translations, pose.scales)))
    before = world_from_pose(skeleton, pose)[..., 3]
    place = before[0, leg.foot] + np.array((away[0], 0.0, away[1]))
    lock = FeetLock(find_map(skeleton), (leg,), footholds(((0.0, 1.0),), place[None] @ GROUND.T), UP,
                    Soles.of(skeleton, (leg,), UP))
    locked = held(lock, pose, times)
    after = world_from_pose(skeleton, locked)[..., 3]
    hip, knee, ankle = (after[:, joint] for joint in (leg.hip, leg.knee, leg.ankle))
    goal = before[:, leg.ankle] + (place - before[:, leg.foot]) * (1.0, 0.0, 1.0)
    wanted, found = goal - hip, ankle - hip
    down = before[:, leg.hip] - hip  # the body goes down as far as it may
    np.testing.assert_allclose(down, 0.05 * LEG_M * UP * np.ones((5, 1)), atol=1e-3)
    np.testing.assert_allclose(found / np.linalg.norm(found, axis=1, keepdims=True),
                               wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    lengths = [np.linalg.norm(b - a, axis=1) for a, b in ((hip, knee), (knee, ankle))]
    for length, joint, parent in zip(lengths, (leg.knee, leg.ankle), (leg.hip, leg.knee), strict=True):
        np.testing.assert_allclose(length, np.linalg.norm(before[:, joint] - before[:, parent], axis=1), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), STRETCHED * (lengths[0] + lengths[1]), rtol=1e-6)
    assert (np.linalg.norm(wanted, axis=1) > lengths[0] + lengths[1]).all()


def test_where_straight_legs_do_not_reach_the_body_goes_down_and_comes_up_again() -> None:
    skeleton = build_skeleton()

    def sample(times_s: FloatArray) -> Pose:
        """Stand with straight legs, and glide a step forward from 1 s to 2 s."""
        pose = Pose.rest(skeleton, len(times_s))
        pose.translations[:, 0, 2] = 0.24 * np.clip(times_s - 1.0, 0.0, 1.0)
        return pose

    times = np.linspace(0.0, 3.0, 361)
    lock = feet_lock(find_map(skeleton), sample, 3.0, UP)
    pose, locked = sample(times), held(lock, sample(times), times)
    for before, after in zip(feet(pose), feet(locked), strict=True):
        (slid,) = sliding(after, planted(before, times, UP, LEG_M))
        assert slid < 0.5 * SLIDE * LEG_M < SLIDE * LEG_M < sliding(before, planted(before, times, UP, LEG_M))[0]
        high = (after - before) @ UP  # the feet themselves do not sink, and give way by little
        assert high.min() > -1e-6 and high.max() < 0.015 * LEG_M
    down = -(locked.translations - pose.translations)[:, 0, 1]
    assert 0.003 < down.max() < 0.05 * LEG_M and down.min() >= 0.0
    assert np.abs(np.diff(down)).max() < 0.1 * down.max()
    assert lock.tops.tolist() == [0]


def test_between_two_contacts_the_foot_goes_from_one_to_the_other_without_a_jump() -> None:
    """Closer together than they ease, and with nothing before and after."""
    found = footholds(((1.0, 2.0), (2.08, 3.0)), np.array(((0.1, 0.0, 5.0), (0.0, 0.3, 5.0))))
    times = np.linspace(0.0, 4.0, 4001)
    shift, upright = (shifted(found, np.zeros((1, 4001, 3)), times, share)[0] for share in (0.0, 1.0))
    weight = Moment(*found.led(found.gaps_at(times), times)[0].T).weight
    is_held = (times >= 1.0) & (times <= 2.0) | (times >= 2.08) & (times <= 3.0)
    assert (weight[is_held] == 1.0).all() and (np.diff(weight[times > 3.0]) <= 0.0).all() and weight[-1] == 0.0
    np.testing.assert_array_equal(shift[:, 2], 0.0)  # over the ground only
    np.testing.assert_allclose(shift[(times >= 1.0) & (times <= 2.0)], (((0.1, 0, 0),) * 1001), atol=1e-12)
    np.testing.assert_allclose(shift[(times >= 2.08) & (times <= 3.0)], (((0, 0.3, 0),) * 921), atol=1e-12)
    assert np.abs(np.diff(shift, axis=0)).max() < 0.4 * 1.875 * 0.001 / 0.08
    assert not shift[(times < 1.0 - SWING_S) | (times > 3.0 + SWING_S)].any() and shift[times < 1.0].any()
    np.testing.assert_allclose(upright[(times >= 1.0) & (times <= 3.0), 2], 5.0, atol=1e-12)


@pytest.mark.parametrize("higher", [0.0, 0.1])
def test_a_foot_is_led_to_where_its_sole_is_on_the_ground(higher: float) -> None:
    """Who comes heel first is not led to where the ball would be if the foot were flat, to be pushed up there."""
    found, times = footholds(((1.0, 2.0),), np.array(((0.1, 0.0, 0.02),))), np.linspace(0.5, 2.5, 2001)
    found.plan(found.gaps_at(times), np.ones_like, lambda at: (
        np.full((1, len(at)), higher), np.ones((1, len(at)))))
    high = shifted(found, np.zeros((1, len(times), 3)), times, 1.0, higher)[0, :, 2]
    is_held = (times >= 1.0) & (times <= 2.0)
    assert high[is_held] == pytest.approx(0.02 + higher)
    assert np.abs(np.diff(high)).max() < 0.03 * (0.02 + higher)
    assert np.diff(high[times <= 1.0]).min() > -1e-12 and np.diff(high[times >= 2.0]).max() < 1e-12


@pytest.mark.parametrize("speed", [0.5, 1.0])
def test_a_foot_that_is_let_go_or_comes_takes_up_its_own_motion_smoothly(speed: float) -> None:
    """It is never dragged back, and changes its speed little by little, though it moves all the while below."""
    def loose(times_s: FloatArray) -> FloatArray:
        return (speed * np.where(times_s < 1.5, times_s - 1.0, times_s - 2.0))[:, None, None] * (1.0, 0.0, 0.0)

    held_ = footholds(((1.0, 2.0),), np.zeros((1, 3)))
    unknown = replace(held_, loose=np.full_like(held_.loose, np.nan), most_s=np.full_like(held_.most_s, 0.5))
    times, step_s = np.linspace(0.0, 3.0, 3001, retstep=True)
    gaps = unknown.gaps_at(times)
    unknown.know(gaps, loose)
    positions = loose(times)
    shift = shifted(unknown, positions.swapaxes(0, 1), times, 0.0)[0, :, 0]
    seen = positions[:, 0, 0] + shift
    np.testing.assert_allclose(seen[(times >= 1.0) & (times <= 2.0)], 0.0, atol=1e-12)
    np.testing.assert_allclose(shift[(times <= 0.5) | (times >= 2.5)], 0.0, atol=1e-12)
    faster = np.diff(seen, 2) / step_s**2
    assert np.abs(np.diff(faster)).max() < 0.05 * np.abs(faster).max()  # no kink anywhere
    assert (np.diff(seen) / step_s).max() < 1.6 * speed and np.diff(seen).min() > -1e-12


def test_a_foot_is_clear_of_the_ground_on_most_of_its_way() -> None:
    """Wherever the seam is that lets it dip: not only halfway between two footholds that are far apart."""
    found, times = footholds(((0.0, 1.0), (3.0, 4.0)), np.zeros((2, 3))), np.linspace(1.0, 3.0, 201)
    found = replace(found, clear=np.full_like(found.clear, 0.05))
    over = Moment(*found.led(found.gaps_at(times), times)[0].T).clear
    each = (times[at:at + 1] for at in range(1, 201))
    alone = [Moment(*found.led(found.gaps_at(time), time)[0, 0]).clear for time in each]
    np.testing.assert_allclose(alone, over[1:], atol=1e-12)
    assert over.max() == pytest.approx(0.05) and over[[0, -1]] == pytest.approx(0.0, abs=1e-9)
    assert over[(times >= 1.4) & (times <= 2.6)].min() > 0.7 * 0.05
    assert np.abs(np.diff(over, 2)).max() < 0.05 * 25.0 * 0.01**2


@pytest.mark.parametrize("high", [0.1, 0.25])
def test_a_foot_that_comes_from_high_up_or_goes_there_does_so_without_a_jerk(high: float) -> None:
    held_ = footholds(((1.0, 2.0),), np.zeros((1, 3)))
    unknown = replace(held_, loose=np.full_like(held_.loose, np.nan), most_s=np.full_like(held_.most_s, 0.5))
    times, step_s = np.linspace(0.0, 3.0, 3001, retstep=True)
    unknown.know(unknown.gaps_at(times), lambda at: np.full((len(at), 1, 3), (0.0, 0.0, high)))
    seen = shifted(unknown, np.full((1, len(times), 3), (0.0, 0.0, high)), times, 1.0)[0, :, 2] + high
    assert seen[(times >= 1.0) & (times <= 2.0)] == pytest.approx(0.0) and seen[[0, -1]] == pytest.approx(high)
    assert np.abs(np.diff(seen, 3)).max() / step_s**3 < 1.05 * JERK_LEGS


@pytest.mark.parametrize("drift", [0.0, 0.12])
def test_over_the_seam_of_a_loop_feet_stand_on(drift: float) -> None:
    """To one side and half back, drifting: where a foot stands across the seam it keeps its place."""
    left, right = (next(c for c in build_clips("feet/Steps.skeleton.xml") if c.name == f"side_step_{side}")
                   for side in ("left", "right"))
    times, moves = keys_of(right.translations, 0)
    faster = moves + np.array((0.0, 0.0, drift)) * times[:, None]
    right = replace(right, translations=packed([(0, times, faster)], 3))
    programme_ = programme(procedure("main", 'side_step_left duration="1.3"', 'side_step_right duration="1.2"'),
                           clips=library(feet_Steps=(left, right)))
    loose, held = (play(programme_, Performer(build_skeleton(), UP), Settings(loop=True, lock_feet=lock))
                   for lock in (False, True))
    at = np.arange(-0.5 * loose.duration_s, 3.5 * loose.duration_s, 1 / 240)
    slides: dict[str, list[float]] = {"loose": [], "held": []}
    for before, after in zip(feet(loose.sample(at)), feet(held.sample(at)), strict=True):
        stands = planted(before, at, UP, LEG_M)
        over = [run for run in runs(stands) if run[0] > 0 and run[1] < len(at)]
        assert any(np.floor(at[a] / loose.duration_s) < np.floor(at[b - 1] / loose.duration_s) for a, b in over)
        for name, places in (("loose", before), ("held", after)):
            flat = places * (1.0, 0.0, 1.0)
            slides[name] += [float(np.linalg.norm(flat[a:b] - flat[a:b].mean(axis=0), axis=1).max()) for a, b in over]
        assert np.linalg.norm(np.diff(after - before, axis=0), axis=1).max() < 0.01
    assert max(slides["held"]) <= SLIDE * LEG_M and (drift == 0.0 or max(slides["loose"]) > SLIDE * LEG_M)
    one, other = (held.sample(at[:200] + n * held.duration_s) for n in (1, 2))
    np.testing.assert_allclose(rot.angle_between(one.rotations, other.rotations)[:, 1:], 0.0, atol=1e-6)
    alone = np.concatenate([held.sample(np.array((t,))).rotations for t in at[::37]])
    assert rot.angle_between(alone, held.sample(at).rotations[::37]).max() < 1e-7  # as the preview asks for them


def test_a_foot_stands_where_the_leg_reaches_all_the_while() -> None:
    """The hips go by, at a height of 3 with a leg of 5: the foot must keep within 4 of both ends of their way."""
    hips, ankles = np.array(((0.0, 3.0, 0.0), (6.0, 3.0, 0.0))), np.zeros((2, 3))
    reaches = np.array((5.0, 5.0))
    for place, wanted in (((1.0, 0, 0), (2.0, 0, 0)), ((3.0, 0, 1), (3.0, 0, 1)), ((9.0, 0, 0), (4.0, 0, 0))):
        found = within_reach(np.array(place), hips - ankles, UP, reaches)
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    far = within_reach(np.array((1.0, 0, 0)), hips * (10.0, 1.0, 1.0), UP, reaches)
    assert far[1:] == pytest.approx((0.0, 0.0)) and 0.0 <= far[0] <= 60.0  # nowhere: between the two


def test_legs_are_those_that_hang_together() -> None:
    found = find_map(worn(RIGS["VRM"]))
    index = found.skeleton.index_of
    assert legs_of(found)[0] == Leg(index["leftUpperLeg"], index["leftLowerLeg"], index["leftFoot"], index["leftToes"])
    without = find_map(worn({j: n for j, n in RIGS["VRM"].items() if not j.endswith("metatarsal")}))
    assert all(leg.foot == leg.ankle for leg in legs_of(without))
    assert all(leg.is_loose for leg in legs_of(find_map(real("Male_Suit"))))
    fox = find_map(real("Fox"))
    assert legs_of(fox) == ()


def straight_legged() -> Skeleton:
    """The sample's skeleton, its ankles right below its knees and these below its hips."""
    skeleton = build_skeleton()
    translations = skeleton.rest_translations.copy()
    for name in ("l_knee", "r_knee", "l_ankle", "r_ankle"):
        joint = skeleton.index_of[name]
        translations[joint] = -np.linalg.norm(translations[joint]) * UP
    return replace(skeleton, rest_translations=translations)


def turning_on_straight_legs(frames: int) -> tuple[FeetLock, Pose, FloatArray]:
    """Turn by a whole turn, and sink, on straight legs but for each fourth frame, while the feet are to be together."""
    skeleton, times = straight_legged(), np.linspace(0.0, 1.0, frames)
    yaw = rot.from_axis_angle(UP, 2.0 * np.pi * times)
    pose = Pose.rest(skeleton, frames)
    frame = skeleton.rest_world_rotations[0]
    pose.rotations[:, 0] = rot.multiply(rot.multiply(rot.conjugate(frame), yaw), frame)
    pose.translations[:, 0] = rot.rotate(yaw, skeleton.rest_world[0, :, 3]) - skeleton.rest_world[0, :, 3]
    pose.translations[:, 0] -= 0.04 * UP
    for leg in legs_of(find_map(skeleton)):
        pose.rotations[::4, leg.knee] = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), 0.3)
    legs = legs_of(find_map(skeleton))
    feet = footholds(((-1.0, 2.0),), *((skeleton.rest_world[leg.foot, :, 3] * UP)[None] @ GROUND.T for leg in legs))
    return FeetLock(find_map(skeleton), legs, feet, UP, Soles.of(skeleton, legs, UP)), pose, times


def test_a_frame_alone_is_what_it_is_among_others() -> None:
    """A straight knee bends as the rig and the pose have it, whatever else is sampled with it."""
    lock, pose, times = turning_on_straight_legs(60)
    together = held(lock, pose, times, 1.0)
    for frame in range(60):
        alone = held(lock, pose.at(slice(frame, frame + 1)), times[frame:frame + 1], 1.0)
        np.testing.assert_allclose(alone.rotations[0], together.rotations[frame], atol=ALONE)
        np.testing.assert_allclose(alone.translations[0], together.translations[frame], atol=ALONE)
    clip = next(c for c in build_clips("feet/Steps.skeleton.xml") if c.name == "left_step")
    times = np.linspace(0.0, clip.duration_s, 60)
    walk = feet_lock(find_map(build_skeleton()), clip.sample, clip.duration_s, UP)
    together = held(walk, clip.sample(times), times)
    for frame in range(60):
        alone = held(walk, clip.sample(times[frame:frame + 1]), times[frame:frame + 1])
        np.testing.assert_allclose(alone.rotations[0], together.rotations[frame], atol=ALONE)


def test_a_straight_knee_bends_forward() -> None:
    lock, pose, times = turning_on_straight_legs(24)
    index = build_skeleton().index_of
    after = world_from_pose(lock.skeleton_map.skeleton, held(lock, pose, times, 1.0))[..., 3]
    ahead = rot.rotate(rot.from_axis_angle(UP, 2.0 * np.pi * times), np.array((0.0, 0.0, 1.0)))
    straight = np.arange(len(times)) % 4 > 0
    for side in "lr":
        knee, hip, ankle = (after[:, index[f"{side}_{part}"]] for part in ("knee", "hip", "ankle"))
        bulge = knee - (hip + ankle) / 2.0
        assert (np.sum(bulge * ahead, axis=1)[straight] > 0.02).all()


@pytest.mark.parametrize("name", [*RIGS, "Male_Suit", "mpfb_game_engine"])
def test_knees_of_all_rigs_bend_forward(name: str) -> None:
    """About the body's left, whichever way its joints' own axes lead and whether it is bent at rest or not."""
    found = find_map(worn(RIGS[name]) if name in RIGS else real(name))
    assert found.turn is not None
    left, up = (rot.rotate(found.turn, axis) for axis in (np.array((1.0, 0.0, 0.0)), UP))
    for leg in legs_of(found):
        axis = rot.rotate(found.skeleton.rest_world_rotations[leg.hip], knee_axis(found, leg, up))
        assert axis @ left > 0.8 * np.linalg.norm(axis)
