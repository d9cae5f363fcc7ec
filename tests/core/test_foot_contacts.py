"""When feet stand, found in walks of which it is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts, depth_within, foot_contacts, joined
from takt.core.clips.thresholds import SHORTEST_S
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.core.skeletons.skin_sample import SkinSample
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import standing_at

UP = np.array((0.0, 1.0, 0.0))
BODY = build_skeleton()
LATE_S = 0.035
"""How far a contact's ends may be off: two of the steps at which they are looked for."""
TIPTOE_RAD, ROUNDS = 0.6, 3


@dataclass(frozen=True)
class Walk:
    """A walk of known contacts: times are shares of a round of duration_s, lengths in legs.

    Of the left foot the heel comes down at 0, the ball at `flat`; the heel leaves at `rise`, the ball at `off`; the
    right foot does the same half a round later.
    """

    duration_s: float
    flat: float
    rise: float
    off: float
    stride: float
    lift: float

    @classmethod
    def seeded(cls, seed: int) -> "Walk":
        rng = np.random.default_rng(seed)
        return cls(rng.uniform(0.9, 1.3), rng.uniform(0.08, 0.12), rng.uniform(0.36, 0.42), rng.uniform(0.54, 0.62),
                   rng.uniform(0.9, 1.4), rng.uniform(0.1, 0.2))

    def foot(self, share: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return how far ahead the foot is (F,), how high, its pitch (toes up) about the heel, and about the ball."""
        rounds = np.floor(share)
        at = share - rounds
        swing = np.clip((at - self.off) / (1.0 - self.off), 0.0, 1.0)
        way = self.stride * (rounds + (1.0 - np.cos(np.pi * swing)) / 2.0)
        toes_up = 0.4 * (np.clip(1.0 - at / self.flat, 0.0, 1.0) + np.clip(2.0 * swing - 1.0, 0.0, 1.0))
        heel_up = 0.9 * (np.clip((at - self.rise) / (self.off - self.rise), 0.0, 1.0) - np.clip(2.0 * swing, 0.0, 1.0))
        return way, self.lift * np.sin(np.pi * swing), toes_up, heel_up

    def clip(self, skeleton: Skeleton = BODY, fps: float = 60.0, tempo: float = 1.0) -> Clip:
        """Key it on a body, whose ankles are led straight to where they should be."""
        end = ROUNDS * self.duration_s
        times = np.linspace(0.0, end, round(end * fps) + 1)
        index, rest = skeleton.index_of, skeleton.rest_world[..., 3]
        leg = np.linalg.norm(np.diff(rest[[index[f"l_{part}"] for part in ("hip", "knee", "ankle")]], axis=0),
                             axis=1).sum()
        turns, moves, joints = [], [], []
        for side, ahead in (("l", 0.0), ("r", 0.5)):
            ankle, ball = index[f"{side}_ankle"], index[f"{side}_metatarsal"]
            way, high, toes_up, heel_up = self.foot(times / self.duration_s + ahead)
            heel = rest[ankle] * (1.0, 0.0, 1.0) + rest[ball] * UP
            by_heel, by_ball = (rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), angle) for angle in (-toes_up, heel_up))
            place = heel + rot.rotate(by_heel, rest[ankle] - heel)
            pivot = heel + rot.rotate(by_heel, rest[ball] - heel)
            place = pivot + rot.rotate(by_ball, place - pivot) + leg * (np.outer(way, (0, 0, 1.0)) + np.outer(high, UP))
            frame = skeleton.rest_world_rotations[ankle]
            turned = rot.multiply(by_ball, by_heel)
            turns.append(rot.multiply(rot.multiply(rot.conjugate(frame), turned), frame))
            above = skeleton.rest_world[skeleton.parents[ankle], :, :3]
            moves.append(np.linalg.solve(above, (place - rest[ankle]).T).T)
            joints.append(ankle)
        return Clip("walk", skeleton, end / tempo, Tracks.uniform(np.array(joints), times / tempo, np.stack(turns, 1)),
                    Tracks.uniform(np.array(joints), times / tempo, np.stack(moves, 1)), Tracks.empty(3))

    def spans(self, begin: float, end: float, ahead: float) -> FloatArray:
        """Return when a point stands that does so between two shares of each round."""
        rounds = np.arange(-1, ROUNDS + 1)[:, None] - ahead
        spans = np.clip((rounds + np.array((begin, end))) * self.duration_s, 0.0, ROUNDS * self.duration_s)
        return np.asarray(spans[spans[:, 0] < spans[:, 1]])


def certain(spans: FloatArray, end_s: float) -> FloatArray:
    """Leave out what the clip's beginning or end cuts so short that it may be a contact or none."""
    whole = (spans[:, 0] > LATE_S) & (spans[:, 1] < end_s - LATE_S)
    return np.asarray(spans[whole | (spans[:, 1] - spans[:, 0] > SHORTEST_S + 2.0 * LATE_S)])


def assert_found(found: dict[str, FootContacts], walk: Walk, tempo: float = 1.0, late_s: float = LATE_S) -> None:
    for side, ahead in (("l", 0.0), ("r", 0.5)):
        for spans, (begin, end) in ((found[side].heel, (0.0, walk.rise)), (found[side].ball, (walk.flat, walk.off)),
                                    (found[side].whole, (walk.flat, walk.rise)),
                                    (found[side].stands, (0.0, walk.off))):
            end_s = ROUNDS * walk.duration_s / tempo
            found_there, wanted = certain(spans, end_s), certain(walk.spans(begin, end, ahead) / tempo, end_s)
            assert found_there.shape == wanted.shape and len(wanted) >= ROUNDS - 1
            np.testing.assert_allclose(found_there, wanted, atol=late_s)


@pytest.mark.parametrize("seed", range(6))
def test_heel_ball_and_whole_foot_stand_when_they_do(seed: int) -> None:
    walk = Walk.seeded(seed)
    assert_found(foot_contacts(walk.clip(), find_map(BODY), UP), walk)


@pytest.mark.parametrize("fps", [24.0, 30.0, 120.0])
@pytest.mark.parametrize("tempo", [0.7, 1.0, 1.5])
def test_other_frame_rates_and_tempos_lead_to_the_same(fps: float, tempo: float) -> None:
    walk = Walk.seeded(7)
    assert_found(foot_contacts(walk.clip(fps=fps, tempo=tempo), find_map(BODY), UP), walk, tempo, LATE_S + 0.5 / fps)


@pytest.mark.parametrize("size", [0.01, 100.0])
def test_other_units_and_axes_lead_to_the_same(size: float) -> None:
    walk, turn = Walk.seeded(8), rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
    clip = walk.clip(replace(BODY, rest_translations=BODY.rest_translations * size))
    turned = replace(clip, skeleton=clip.skeleton.turned(turn))
    one, other = (foot_contacts(each, find_map(each.skeleton), up) for each, up in
                  ((walk.clip(), UP), (turned, 3.0 * rot.rotate(turn, UP))))
    for side in "lr":
        np.testing.assert_allclose(one[side].heel, other[side].heel, atol=1e-9)
        np.testing.assert_allclose(one[side].ball, other[side].ball, atol=1e-9)


@pytest.mark.parametrize("high", [-1.3, 0.4])
def test_the_ground_is_the_clips_own(high: float) -> None:
    """Files do not say how high it is: the whole walk may be lifted."""
    walk = Walk.seeded(9)
    lifted = replace(BODY, rest_translations=BODY.rest_translations.copy())
    clip, root = walk.clip(lifted), np.flatnonzero(BODY.parents < 0)
    moves = clip.translations
    clip = replace(clip, translations=Tracks(
        np.append(moves.joints, root), np.append(moves.starts, moves.starts[-1] + 1), np.append(moves.times_s, 0.0),
        np.concatenate((moves.values, high * UP[None]))))
    assert_found(foot_contacts(clip, find_map(lifted), UP), walk)


def test_noise_at_a_bound_does_not_break_a_contact() -> None:
    """A standing foot that trembles, by up to half as much again as what is surely slow."""
    clip = Walk(1.0, 0.1, 0.9, 0.95, 0.0, 0.0).clip()
    moves, rng = clip.translations, np.random.default_rng(3)
    times = moves.times_s
    still = replace(clip, rotations=Tracks.empty(4), translations=Tracks(
        moves.joints, moves.starts, times, np.where(np.arange(3) == 2, 1.0, 0.0)
        * (0.0075 * np.sin(40.0 * times) * rng.uniform(0.9, 1.1))[:, None]))
    for contacts in foot_contacts(still, find_map(BODY), UP).values():
        assert len(contacts.heel) == len(contacts.ball) == 1
        assert (contacts.heel[0, 1] - contacts.heel[0, 0]) > 0.9 * clip.duration_s


def test_a_lifted_foot_that_is_held_still_does_not_stand() -> None:
    clip = Walk(1.0, 0.1, 0.9, 0.95, 0.0, 0.0).clip()
    held = clip.translations.values.copy() * 0.0
    held[:clip.translations.starts[1], 1] = 0.2
    still = replace(clip, rotations=Tracks.empty(4), translations=replace(clip.translations, values=held))
    found = foot_contacts(still, find_map(BODY), UP)
    assert len(found["l"].stands) == 0
    np.testing.assert_allclose(found["r"].stands, ((0.0, clip.duration_s),))


def test_on_tiptoe_no_heel_stands() -> None:
    clip = Walk(1.0, 0.1, 0.9, 0.95, 0.0, 0.0).clip()
    joints = clip.rotations.joints
    frame = BODY.rest_world_rotations[joints]
    turn = rot.multiply(rot.multiply(rot.conjugate(frame), rot.from_axis_angle(np.array((1.0, 0, 0)), TIPTOE_RAD)),
                        frame)
    up = replace(clip, rotations=Tracks.uniform(joints, np.zeros(1), turn[None]), translations=Tracks.empty(3))
    for contacts in foot_contacts(up, find_map(BODY), UP).values():
        assert len(contacts.heel) == len(contacts.whole) == 0
        np.testing.assert_allclose(contacts.ball, ((0.0, clip.duration_s),))


def test_bodies_without_balls_stand_on_ankles_and_without_legs_not_at_all() -> None:
    names = [name for name in BODY.names if "metatarsal" not in name]
    rows = [BODY.index_of[name] for name in names]
    parents = np.array([names.index(BODY.names[BODY.parents[row]]) if BODY.parents[row] >= 0 else -1 for row in rows])
    flat = standing_at(names, parents, BODY.rest_world[rows, :, 3])
    still = Clip("still", flat, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    for contacts in foot_contacts(still, find_map(flat), UP).values():
        assert contacts.ball.shape == contacts.whole.shape == (0, 2)
        np.testing.assert_array_equal(contacts.stands, ((0.0, 0.0),))
    tail = standing_at(["a", "b"], np.array((-1, 0)), np.eye(3)[:2])
    assert foot_contacts(replace(still, skeleton=tail), find_map(tail), UP) == {}


def without_balls(clip: Clip) -> Clip:
    """Return a clip of the same feet without joints at their balls, whose skin shows the soles instead."""
    rows = [row for row, name in enumerate(BODY.names) if "metatarsal" not in name]
    kept = np.isin(np.arange(len(BODY)), [*rows])
    flat, ankles = BODY.part(np.flatnonzero(kept)), [BODY.index_of[f"{side}_ankle"] for side in "lr"]
    balls = np.array([BODY.rest_world[BODY.index_of[f"{side}_metatarsal"], :, 3] for side in "lr"])
    rims = np.array([(x, 0.0, z) for x in (-0.03, 0.0, 0.03) for z in np.linspace(-0.15, -0.001, 4)])
    foot = np.concatenate((np.zeros((1, 3)), rims, rims + 0.1 * UP))
    skin = SkinSample.at_rest(flat, np.repeat([flat.names.index(BODY.names[ankle]) for ankle in ankles], len(foot)),
                              (balls[:, None] + foot).reshape(-1, 3))
    return replace(clip.part(np.flatnonzero(kept)), skin=skin)


@pytest.mark.parametrize("seed", range(6))
def test_feet_without_balls_stand_as_long_as_the_ends_of_their_soles_do(seed: int) -> None:
    walk = Walk.seeded(seed)
    clip = without_balls(walk.clip())
    assert_found(foot_contacts(clip, find_map(clip.skeleton), UP), walk)


def test_ends_of_soles_that_go_into_the_ground_leave_their_contacts_as_they_are() -> None:
    """As in clips whose feet are one piece, and bend toes that are not there."""
    walk = Walk.seeded(3)
    clip = without_balls(walk.clip())
    rotations, end_s = clip.rotations, clip.duration_s
    times = np.array((0.0, 0.45, 0.5, 0.55, 1.0)) * end_s
    down = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.2, 0.0, 0.0)))
    still = replace(clip, rotations=Tracks.uniform(rotations.joints, times, np.repeat(down[:, None], 2, axis=1)),
                    translations=Tracks.empty(3))
    for contacts in foot_contacts(still, find_map(clip.skeleton), UP).values():
        assert contacts.heel[0, 0] == 0.0 and contacts.heel[-1, 1] == end_s
        assert contacts.ball[0, 0] == 0.0 and contacts.ball[-1, 1] == end_s


def test_spans_are_joined_where_they_meet() -> None:
    spans = np.array(((0.0, 1.0), (1.2, 2.0), (1.5, 1.7), (4.0, 5.0)))
    assert joined(spans).tolist() == [[0.0, 1.0], [1.2, 2.0], [4.0, 5.0]]
    assert joined(spans[::-1], 0.25).tolist() == [[0.0, 2.0], [4.0, 5.0]]
    assert joined(np.zeros((0, 2))).shape == (0, 2)
    found = FootContacts(spans[:2], spans[2:])
    assert found.whole.tolist() == [[1.5, 1.7]] and found.stands.tolist() == [[0.0, 1.0], [1.2, 2.0], [4.0, 5.0]]


def test_how_far_times_are_within_spans_is_the_most_that_any_of_them_says() -> None:
    random = np.random.default_rng(5)
    ends, times = np.sort(random.uniform(0.0, 9.0, size=24)), np.linspace(-1.0, 10.0, 300)
    times = np.sort(np.concatenate((times, ends)))
    for spans in (ends.reshape(-1, 2), np.append(-np.inf, ends[1:]).reshape(-1, 2), ends[:2].reshape(1, 2)):
        inside = np.minimum(times[:, None] - spans[:, 0], spans[:, 1] - times[:, None])
        assert np.array_equal(depth_within(times, spans), inside.max(axis=1))
    assert (depth_within(times, np.zeros((0, 2))) == -np.inf).all()
