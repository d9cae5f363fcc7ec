"""Several clips sampled at once, one by one or laid out together, are the clips themselves."""

import gc
import weakref

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_set import ClipSet
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton

JOINTS, CLIPS = 4, 12
ROUNDING = 1e-14
"""It depends on where arrays lie in memory."""
SKELETON = Skeleton.from_arrays([f"j{i}" for i in range(JOINTS)], [-1, 0, 1, 1], rot.identities(JOINTS),
                                np.zeros((JOINTS, 3)))


def clip(seed: int) -> Clip:
    random = np.random.default_rng(seed)
    keys = int(random.integers(1, 9))
    times = np.sort(random.uniform(0.0, 2.0, keys))
    joints = np.sort(random.permutation(JOINTS)[:int(random.integers(1, JOINTS + 1))])
    return Clip(f"c{seed}", SKELETON, 2.0, Tracks.uniform(joints, times, random.normal(size=(keys, len(joints), 4))),
                Tracks.uniform(np.array((0,)), times, random.normal(size=(keys, 1, 3))),
                Tracks.uniform(np.array((2,)), times, random.uniform(0.5, 2.0, size=(keys, 1, 3))), bool(seed % 2))


@pytest.mark.parametrize("interpolation", ["SLERP", "LERP", "SQUAD"])
@pytest.mark.parametrize("different", [1, 3, CLIPS])
def test_a_set_plays_what_its_clips_play(interpolation: str, different: int) -> None:
    clips = [clip(seed) for seed in range(CLIPS)]
    played, random = ClipSet.of(clips), np.random.default_rng(different)
    which, times = random.integers(0, different, 40), random.uniform(-0.5, 2.5, 40)
    for instants in (slice(None), slice(1)):
        pose = played.sample(which[instants], times[instants], interpolation, "SPLINE")  # type: ignore[arg-type]
        for row, (number, time_s) in enumerate(zip(which[instants], times[instants], strict=True)):
            own = clips[number].sample(np.array((time_s,)), interpolation, "SPLINE").at(0)
            for found, wanted in ((pose.rotations, own.rotations), (pose.translations, own.translations),
                                  (pose.scales, own.scales)):
                np.testing.assert_allclose(found[row], wanted, rtol=0.0, atol=ROUNDING)


def test_the_same_clips_are_one_set_for_as_long_as_anybody_holds_it() -> None:
    clips = [clip(seed) for seed in range(3)]
    held = ClipSet.of(clips)
    assert ClipSet.of(tuple(clips)) is held and ClipSet.of(clips[::-1]) is not held
    watched = [weakref.ref(each) for each in clips]
    del held, clips
    gc.collect()
    assert [each() for each in watched] == [None] * 3


def test_what_depends_on_a_clip_alone_is_made_once() -> None:
    made: list[tuple[str, float]] = []

    def longer(of: Clip, by_s: float) -> float:
        made.append((of.name, by_s))
        return of.duration_s + by_s

    first, second = clip(1), clip(2)
    assert [first.derived(longer, 1.0), first.derived(longer, 1.0), first.derived(longer, 2.0)] == [3.0, 3.0, 4.0]
    assert second.derived(longer, 1.0) == 3.0
    assert made == [("c1", 1.0), ("c1", 2.0), ("c2", 1.0)]
