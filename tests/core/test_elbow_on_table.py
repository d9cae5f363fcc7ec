"""A second constraint, beside the one of docs/contacts.md: an elbow rests on a table while its hand goes on moving."""

from functools import cache

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.clips.posed import PosedJoints
from takt.core.clips.thresholds import EASE_S
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.retargeting.ground.fitted_curves import smoothed
from takt.core.retargeting.limbs import Limb, LimbPoses, with_joint_turned, with_rotations
from takt.core.skeletons.hierarchy import is_descendant
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.stepping import ACROSS, BODY, posed, times_of

UP, FPS, REACH = np.array((0.0, 1.0, 0.0)), 60.0, 0.98
TABLE = np.array(((0.0, 1.2, 0.1), (0.6, 1.2, 0.7)))
BETWEEN, ON_M, SAME_M, LITTLE_M, SLIDES_M, SUDDEN_M_PER_S2 = (2.0, 4.0), 1e-3, 1e-6, 2e-3, 0.04, 10.0
HIGH_M, NEAR_M = 0.1, 0.02


def elbow_on_table(clip: Clip, side: str, rests_s: tuple[float, float], table: FloatArray, up: FloatArray) -> Clip:
    """Return a clip in which an elbow rests on a table; the hand moves with it as before, and above the table.

    side: l or r. rests_s: from when to when. table: (2, 3) the least and the greatest corner of its top, of one height
    along up (3,), which is an axis of the model. The elbow is never lower or higher than REACH of the upper arm. As it
    comes and goes, it may cross the edge of the table. Joints count, not skin.
    """
    skeleton = clip.skeleton
    arm = Limb.of(find_map(skeleton), side, ("shoulder", "elbow", "wrist"))
    assert arm is not None
    times, joints = np.linspace(0.0, clip.duration_s, round(FPS * clip.duration_s) + 1), list(arm)
    turns, at = PosedJoints.of(clip, np.array((*joints, *skeleton.parents[joints]))).placed(times)
    shoulder, elbow, wrist = at[:, :3].swapaxes(0, 1)
    on = (times > rests_s[0] - 1.0 / FPS) & (times < rests_s[1] + 1.0 / FPS)
    reach = REACH * np.linalg.norm(elbow - shoulder, axis=1)
    top = np.clip(table[0] @ up, shoulder @ up - reach, shoulder @ up + reach)
    place = np.clip(elbow[on].mean(axis=0), *table)
    spot = at_height(shoulder, elbow, place, top, up)
    turn = rot.log(rot.shortest_arc(elbow - shoulder, spot - shoulder)).T
    lo, hi = (np.where(on, turn, limit) for limit in (-np.inf, np.inf))
    turn = smoothed(times, np.zeros(turn.shape), EASE_S, lo=lo, hi=hi).T
    placed = shoulder + rot.rotate(rot.exp(turn), elbow - shoulder)
    hand = placed + wrist - elbow
    short = np.where(on | is_over(hand, table, up), np.maximum(top - hand @ up, 0.0), 0.0)
    rise = smoothed(times, np.zeros((1, len(times))), EASE_S, lo=short[None])[0]
    hand = at_height(placed, hand, hand, hand @ up + rise, up)
    bones = (elbow - shoulder, placed - shoulder), (wrist - elbow, hand - placed)
    moved = LimbPoses(shoulder, placed, hand, *(rot.shortest_arc(before, after) for before, after in bones))
    new = moved.rotations_from(skeleton.rest_rotations[joints], turns[:, 3:], turns[:, :3])
    return with_rotations(clip, {joint: (times, new[:, i]) for i, joint in enumerate(joints)})


def at_height(first: FloatArray, last: FloatArray, towards: FloatArray, high: FloatArray, up: FloatArray) -> FloatArray:
    """Return the ends (F, 3) of bones from first to last (F, 3) that are so high (F,), towards points."""
    long, rise = np.linalg.norm(last - first, axis=1), high - first @ up
    level = (towards - first) * (1.0 - up)
    wide = np.sqrt(np.maximum(long**2 - rise**2, 0.0)) / np.maximum(np.linalg.norm(level, axis=1), 1e-30)
    return np.asarray(first + level * wide[:, None] + np.clip(rise, -long, long)[:, None] * up)


def is_over(points: FloatArray, table: FloatArray, up: FloatArray) -> BoolArray:
    """Tell which points (F, 3) are above a table or below it, (F,)."""
    return np.asarray(((points >= table[0]) & (points <= table[1]) | (up > 0.0)).all(axis=1))


def gesturing() -> Clip:
    """Stand and sway, with hanging upper arms, and forearms that swing in front."""
    times = times_of(6.0)
    hips = np.stack((-0.03 + 0.01 * np.sin(2.0 * times), 0.015 * np.sin(1.3 * times)), axis=1)
    clip = posed("talk", times, hips, (np.zeros((len(times), 2, 2)), np.zeros((len(times), 2))))
    for name, rad in (("l_shoulder", -0.15 + 0.1 * np.sin(3.0 * times)), ("l_elbow", -1.6 + 0.4 * np.sin(5.0 * times))):
        clip = with_joint_turned(clip, BODY.index_of[name], times, np.tile(ACROSS, (len(times), 1)), rad)
    return clip


@cache
def resting() -> Clip:
    return elbow_on_table(gesturing(), "l", BETWEEN, TABLE, UP)


def joints_at(clip: Clip, times: FloatArray, *names: str) -> FloatArray:
    return world_from_pose(BODY, clip.sample(times))[..., 3][:, [BODY.index_of[name] for name in names]]


def test_the_elbow_is_on_the_table() -> None:
    times = np.linspace(*BETWEEN, 241)
    elbow = joints_at(resting(), times, "l_elbow")[:, 0]
    assert np.abs((elbow - TABLE[0]) @ UP).max() < ON_M
    assert is_over(elbow, TABLE, UP).all()
    assert np.ptp(elbow, axis=0).max() < SLIDES_M  # its shoulder sways


def test_elbow_and_hand_come_and_go_smoothly() -> None:
    times = np.linspace(0.0, 6.0, 361)
    arm = joints_at(resting(), times, "l_elbow", "l_wrist")
    own = joints_at(gesturing(), times, "l_elbow", "l_wrist")
    acceleration = (np.linalg.norm(np.diff(each, 2, axis=0), axis=-1).max() * FPS**2 for each in (arm, own))
    assert next(acceleration) < next(acceleration) + SUDDEN_M_PER_S2
    np.testing.assert_allclose(arm[[0, -1], 0], own[[0, -1], 0], atol=LITTLE_M)


def test_the_hand_stays_above_the_table_and_goes_on_moving() -> None:
    times = np.linspace(0.0, 6.0, 361)
    on = (times >= BETWEEN[0]) & (times <= BETWEEN[1])
    forearm, own = (np.diff(joints_at(clip, times[on], "l_elbow", "l_wrist"), axis=1)[:, 0]
                    for clip in (resting(), gesturing()))
    wrist = joints_at(resting(), times, "l_wrist")[:, 0]
    assert ((wrist - TABLE[0]) @ UP)[is_over(wrist, TABLE, UP)].min() > -ON_M
    assert forearm[:, 1].min() > -ON_M
    is_free = own @ UP > HIGH_M
    np.testing.assert_allclose(forearm[is_free], own[is_free], atol=NEAR_M)


def test_all_else_stays_and_bones_keep_their_lengths() -> None:
    times = np.linspace(0.0, 6.0, 361)
    before, after = (world_from_pose(BODY, clip.sample(times))[..., 3] for clip in (gesturing(), resting()))
    arm = [BODY.index_of[f"l_{name}"] for name in ("shoulder", "elbow", "wrist")]
    same = [joint for joint, name in enumerate(BODY.names) if not is_descendant(BODY.parents, joint, arm[0])]
    np.testing.assert_allclose(after[:, same], before[:, same], atol=SAME_M)
    bones = (np.linalg.norm(np.diff(each[:, arm], axis=1), axis=-1) for each in (before, after))
    np.testing.assert_allclose(next(bones), next(bones), atol=SAME_M)
