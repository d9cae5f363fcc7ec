"""core/clips/clip.py: packed tracks against numpy's own interpolation, and what a clip accepts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.keyed import packed, poses_at
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton

EXACT = 1e-12
Z = np.array((0.0, 0.0, 1.0))

times = st.floats(-5.0, 25.0, allow_subnormal=False)


def pair() -> Skeleton:
    return Skeleton.from_arrays(["a", "b"], [-1, 0], rot.identities(2), np.zeros((2, 3)))


def two_tracks() -> Tracks:
    """Joint 1 with three keys, joint 0 with one."""
    return Tracks(np.array((1, 0)), np.array((0, 3, 4)), np.array((0.0, 1.0, 3.0, 2.0)),
                  np.array(((0.0,), (10.0,), (30.0,), (7.0,))))


def clip(**changes: Any) -> Clip:
    whole = Clip("wave", pair(), 2.0,
                 Tracks.uniform(np.array((1,)), np.array((0.0, 2.0)),
                                np.stack((rot.IDENTITY, rot.from_axis_angle(Z, 2.0)))[:, None]),
                 Tracks.uniform(np.array((0,)), np.array((0.0, 2.0)), np.array((((0.0,) * 3,), ((4.0, 0.0, 0.0),)))),
                 Tracks.empty(3))
    return replace(whole, **changes)


@st.composite
def tracks(draw: st.DrawFn) -> Tracks:
    counts = draw(st.lists(st.integers(1, 5), min_size=0, max_size=4))
    keys = [sorted(draw(st.lists(st.floats(0.0, 20.0).map(lambda t: round(t, 3)), min_size=n, max_size=n, unique=True)))
            for n in counts]
    packed = np.array([t for track in keys for t in track])
    values = np.array([draw(st.floats(-9.0, 9.0)) for _ in packed]).reshape(-1, 1)
    return Tracks(np.arange(len(counts))[::-1].copy(), np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
                  packed, values)


@pytest.mark.parametrize(("change", "says"), [
    ({"starts": np.array((0, 4))}, "starts must go from 0 to the number of keys"),
    ({"starts": np.array((1, 3, 4))}, "starts must go from 0 to the number of keys"),
    ({"starts": np.array((0, 3, 5))}, "starts must go from 0 to the number of keys"),
    ({"starts": np.array((0, 4, 4))}, "a track without keys"),
    ({"joints": np.array((1, 1))}, "two tracks move the same joint"),
    ({"values": np.zeros((3, 1))}, r"values has shape \(3, 1\), expected \(4, C\)"),
    ({"values": np.zeros(4)}, r"values has shape \(4,\), expected \(4, C\)"),
    ({"times_s": np.array((0.0, np.nan, 3.0, 2.0))}, "key times and values must be finite"),
    ({"values": np.array(((0.0,), (np.inf,), (0.0,), (0.0,)))}, "key times and values must be finite"),
    ({"times_s": np.array((0.0, 4.0, 3.0, 2.0))}, "key times must ascend within a track"),
])
def test_tracks_refuse_what_does_not_fit(change: dict[str, Any], says: str) -> None:
    with pytest.raises(TaktError, match=says):
        replace(two_tracks(), **change)


def test_key_times_may_fall_from_track_to_track() -> None:
    assert len(two_tracks()) == 2  # its second track begins before its first ends


def test_neighbours_are_the_keys_around() -> None:
    before, after, share = two_tracks().neighbours(np.array((-1.0, 0.5, 1.0, 2.5, 9.0)))
    assert before.tolist() == [[0, 3], [0, 3], [1, 3], [1, 3], [2, 3]]
    assert after.tolist() == [[1, 3], [1, 3], [2, 3], [2, 3], [2, 3]]
    assert share.tolist() == [[0.0, 0.0], [0.5, 0.0], [0.0, 0.0], [0.75, 0.0], [0.0, 0.0]]


def test_keys_at_one_time_are_a_step() -> None:
    step = Tracks(np.array((0,)), np.array((0, 4)), np.array((0.0, 1.0, 1.0, 2.0)), np.arange(4.0)[:, None])
    before, after, share = step.neighbours(np.array((0.999, 1.0)))
    assert (before.ravel().tolist(), after.ravel().tolist()) == ([0, 2], [1, 3])
    assert share.ravel() == pytest.approx((0.999, 0.0), abs=EXACT)


@given(tracks(), st.lists(times, max_size=5))
def test_neighbours_interpolate_as_numpy_does(packed: Tracks, at_s: list[float]) -> None:
    before, after, share = packed.neighbours(np.array(at_s))
    values = packed.values[:, 0]
    blended = values[before] * (1.0 - share) + values[after] * share
    assert blended.shape == (len(at_s), len(packed))
    for track in range(len(packed)):
        keys = slice(packed.starts[track], packed.starts[track + 1])
        expected = np.interp(at_s, packed.times_s[keys], values[keys]) if at_s else np.zeros(0)
        assert blended[:, track] == pytest.approx(expected, abs=1e-9)


def test_uniform_packs_track_by_track() -> None:
    values = np.arange(12.0).reshape(2, 3, 2)
    packed = Tracks.uniform(np.array((4, 2, 0)), np.array((0.0, 1.0)), values)
    assert packed.starts.tolist() == [0, 2, 4, 6]
    assert packed.times_s.tolist() == [0.0, 1.0] * 3
    assert packed.values[2:4].tolist() == values[:, 1].tolist()


def test_empty_tracks_are_tracks() -> None:
    before, _, _ = Tracks.empty(3).neighbours(np.zeros(5))
    assert (len(Tracks.empty(3)), before.shape) == (0, (5, 0))


@pytest.mark.parametrize(("change", "says"), [
    ({"duration_s": -1.0}, "clip 'wave' lasts -1.0 s; a finite length of at least 0 is wanted"),
    ({"duration_s": np.nan}, "clip 'wave' lasts nan s"),
    ({"rotations": Tracks.empty(3)}, "clip 'wave' has 3 channels, expected 4"),
    ({"scales": Tracks.empty(4)}, "clip 'wave' has 4 channels, expected 3"),
    ({"translations": Tracks.uniform(np.array((2,)), np.zeros(1), np.zeros((1, 1, 3)))},
     "clip 'wave' moves joints that its skeleton does not have"),
    ({"translations": Tracks.uniform(np.array((-1,)), np.zeros(1), np.zeros((1, 1, 3)))},
     "clip 'wave' moves joints that its skeleton does not have"),
])
def test_clip_refuses_what_does_not_fit(change: dict[str, Any], says: str) -> None:
    with pytest.raises(TaktError, match=says):
        clip(**change)


def test_moved_are_the_joints_with_tracks() -> None:
    assert clip().moved.tolist() == [True, True]
    assert clip(rotations=Tracks.empty(4)).moved.tolist() == [True, False]


@pytest.mark.parametrize("interpolation", ["LERP", "SLERP"])
def test_sample_in_the_middle(interpolation: Any) -> None:
    pose = clip().sample(np.array((1.0,)), interpolation)
    assert pose.rotations[0, 1] == pytest.approx(rot.from_axis_angle(Z, 1.0), abs=EXACT)
    assert pose.rotations[0, 0].tolist() == rot.IDENTITY.tolist()
    assert pose.translations[0].tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert pose.scales.tolist() == [[[1.0] * 3] * 2]


def test_lerp_and_slerp_differ_off_the_middle() -> None:
    at_s = np.array((0.5,))
    slow, even = clip().sample(at_s, "LERP").rotations[0, 1], clip().sample(at_s, "SLERP").rotations[0, 1]
    assert even == pytest.approx(rot.from_axis_angle(Z, 0.5), abs=EXACT)
    assert float(rot.angle_between(rot.IDENTITY, slow)) == pytest.approx(
        2.0 * np.arctan2(0.25 * np.sin(1.0), 0.75 + 0.25 * np.cos(1.0)), abs=EXACT)


def test_samples_outside_hold_the_ends() -> None:
    pose = clip().sample(np.array((-1.0, 3.0)))
    ends = clip().sample(np.array((0.0, 2.0)))
    assert pose.rotations == pytest.approx(ends.rotations, abs=EXACT)
    assert pose.translations.tolist() == ends.translations.tolist()


@given(st.lists(times, max_size=4), st.booleans())
def test_signs_of_keys_do_not_matter(at_s: list[float], flips_first: bool) -> None:
    def sampled(values: FloatArray) -> FloatArray:
        turned = replace(clip().rotations, values=values)
        return clip(rotations=turned).sample(np.array(at_s)).rotations[:, 1]

    values = clip().rotations.values
    flipped = sampled(values * (((-1.0,), (1.0,)) if flips_first else ((1.0,), (-1.0,))))
    assert np.abs(np.sum(flipped * sampled(values), axis=-1)) == pytest.approx(np.ones(len(at_s)), abs=EXACT)


def test_tracks_whose_keys_differ_are_read_at_any_time_as_by_the_clips_tables() -> None:
    """Some keyed at every frame, some seldom, some once, as importers leave them that drop what stays."""
    rng, joints = np.random.default_rng(0), 7
    skeleton = Skeleton.from_arrays([f"joint{i}" for i in range(joints)], np.arange(joints) - 1,
                                    rot.identities(joints), rng.normal(size=(joints, 3)))
    own = [np.linspace(0.0, 1.0, count) for count in (31, 31, 1, 4, 1, 31)]
    tracks = [packed([(joint + 1, at, rng.normal(size=(len(at), channels))) for joint, at in enumerate(own)], channels)
              for channels in (4, 3, 3)]
    assert [len(alike) for _, alike in tracks[0].by_times] == [3, 2, 1]
    turns = replace(tracks[0], values=rot.normalized(tracks[0].values))
    clip = Clip("mixed", skeleton, 1.0, turns, tracks[1], tracks[2])
    times = np.sort(rng.uniform(-0.1, 1.1, 50))
    one, other = poses_at(clip, times), clip.sample(times)
    np.testing.assert_allclose(rot.to_matrix(one.rotations), rot.to_matrix(other.rotations), atol=1e-9)
    for name in ("translations", "scales"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)
