"""Clips rewritten in hundreds of ways play as they did; TAKT_REWRITINGS=400 tries so many combinations."""

import os
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import (
    BETWEENS,
    FPS,
    NAMES,
    UNITS,
    ZEROS,
    Rewriting,
    movements,
    random_rewriting,
    rewritten,
)
from takt.tests.core.rewriting_figures import Figures, judged, measured
from takt.tests.core.rigs import LANGUAGES, RIGS, worn
from takt.tests.core.test_retarget import with_axes

COMBINATIONS = int(os.environ.get("TAKT_REWRITINGS", "40"))
MEAN_DEG, WORST_DEG = 0.1, 2.0
PATH = 0.005
"""Of the leg, also where nothing but the motion tells how high the ground is, and where the body stands on it."""
WRONG, MISSED = 0.005, 0.03
LEG_M = 0.825


@cache
def targets() -> tuple[Skeleton, ...]:
    """Return bodies of another size and of other joints, in axes of their own."""
    return (with_axes(build_skeleton(), np.random.default_rng(1), 1.3),
            with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(3)))


def tried(hows: Iterable[Rewriting]) -> list[Figures]:
    clips = movements()
    return [measured(clips[7 * i % len(clips)], how, targets()[i % 2]) for i, how in enumerate(hows)]


def check(figures: list[Figures]) -> None:
    """Raise where limbs, paths, or maps are further off than they may be."""
    assert [(f.refused, f.how) for f in figures if f.refused] == []
    assert max(f.apart_deg.mean() for f in figures) <= MEAN_DEG
    assert [(f.apart_deg.max(), f.how) for f in figures if f.apart_deg.max() > WORST_DEG] == []
    assert [(f.hips, f.how) for f in figures if f.hips > PATH] == []
    assert sum(len(f.wrong) for f in figures) <= WRONG * sum(f.sure for f in figures), [f.wrong for f in figures]
    assert sum(len(f.missed) for f in figures) <= MISSED * sum(f.joints for f in figures), [f.missed for f in figures]


ONE_BY_ONE = {
    **{f"zero pose: {zero}": [Rewriting(zero=zero, angle_deg=angle, seed=i) for i, angle in enumerate((10, 42, 90))]
       for zero in ZEROS},
    **{f"between: {between}": [Rewriting(between=between, names=name) for name in ("Mixamo", "numbered")]
       for between in BETWEENS},
    "trunk and legs in one line": [Rewriting(zero="LINE", between="HIP_JOINTS", legs_on_spine=True, spine=1, unit=unit)
                                   for unit in UNITS],
    "legs on the spine": [Rewriting(legs_on_spine=True)],
    "spine": [Rewriting(spine=count, names=name) for count in range(1, 7) for name in ("Mixamo", "numbered")],
    "palms": [Rewriting(palms=True, names=name) for name in ("Mixamo", "VRoid", "without meaning")],
    "leaves": [Rewriting(leaves=True, palms=palms, names=name) for palms in (False, True)
               for name in ("Mixamo", "without meaning")],
    "units": [Rewriting(unit=unit) for unit in UNITS],
    "frame rates": [Rewriting(fps=fps) for fps in FPS],
    "shuffled": [Rewriting(is_shuffled=True, names=name) for name in ("Mixamo", "without meaning")],
    "T-pose in front": [Rewriting(starts_in_t=True, fps=fps) for fps in FPS],
    "faces": [Rewriting(has_face=True, names=name, zero=zero) for name in NAMES[-2:] for zero in ("KEPT", "PILE")],
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ONE_BY_ONE)
def test_a_clip_written_in_another_way_plays_the_same(fault: str) -> None:
    check(tried(ONE_BY_ONE[fault]))


@pytest.mark.slow
@pytest.mark.parametrize("between", BETWEENS)
@pytest.mark.parametrize("on_spine", [False, True])
def test_hips_go_the_clips_way_and_legs_stay_on_them_whatever_carries_both(between: str, on_spine: bool) -> None:
    """On a character of the same size: a shared root with IK bones, a centre of mass, legs on the spine."""
    target = rewritten(movements()[0], Rewriting(between=between, legs_on_spine=on_spine, seed=5)).clip.skeleton
    ours, body = find_map(target), build_skeleton()
    hips = [f"{side}_hip" for side in "lr"]
    for clip in movements()[1::6]:
        times = np.linspace(0.0, clip.duration_s, 40)
        played = retarget(clip, target).clip
        there, here = (world_from_pose(c.skeleton, c.sample(times))[..., 3] for c in (clip, played))
        middles = [places[:, [joint_of[name] for name in hips]].mean(axis=1) for places, joint_of in
                   ((there, body.index_of), (here, ours.joint_of))]
        np.testing.assert_allclose(middles[1], middles[0], atol=PATH * LEG_M)
        apart = np.linalg.norm(here[:, ours.joint_of["l_hip"]] - here[:, ours.joint_of["HumanoidRoot"]], axis=1)
        assert np.ptp(apart) < PATH * LEG_M


@pytest.mark.slow
@pytest.mark.parametrize("starts_in_t", [False, True])
@pytest.mark.parametrize("step", ["left_step", "right_step"])
@pytest.mark.parametrize("zero", ["LINE", "STEP"])
def test_a_foot_whose_heel_is_never_down_has_its_sole_as_the_other_one(zero: str, step: str, starts_in_t: bool) -> None:
    """The foot that steps off is on its toes alone; nothing but the other one tells where its sole is.

    A T-pose in front, and the jump out of it, tell nothing either.
    """
    clip = next(clip for clip in movements() if clip.name == step)
    target, times = targets()[0], np.linspace(0.0, clip.duration_s, 12)
    new = rewritten(clip, Rewriting(zero=zero, starts_in_t=starts_in_t, seed=3)).clip
    body = find_map(target)
    for side in "lr":
        foot = [body.joint_of[f"{side}_{name}"] for name in ("ankle", "metatarsal")]
        rises = [world_from_pose(target, done.sample(times))[:, foot, 1, 3] @ (-1.0, 1.0)
                 for done in (retarget(clip, target).clip, retarget(new, target, without_first_pose=True).clip)]
        np.testing.assert_allclose(rises[1], rises[0], atol=0.002 * LEG_M)


def test_bones_in_a_pile_are_no_body_whatever_some_of_them_look_like() -> None:
    for seed in range(40):
        pile = rewritten(movements()[0], Rewriting(zero="PILE", names="numbered", has_face=seed % 2 > 0, seed=seed))
        assert not find_map(pile.clip.skeleton).is_sure, seed


@pytest.mark.slow
def test_many_ways_of_writing_combined() -> None:
    check(tried(map(random_rewriting, range(COMBINATIONS))))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("zero", ["KEPT", "LINE", "LEANING"])
def test_bodies_whose_names_are_in_another_language_play(language: str, zero: str) -> None:
    how = Rewriting(zero=zero, angle_deg=40.0, names=language, seed=len(language))
    (found,) = tried([how])
    check([found])
    assert found.missed == () and found.wrong == ()


@pytest.mark.parametrize("names", NAMES)
def test_names_of_many_rigs_are_read(names: str) -> None:
    """Those in which words, sides and fingers are written in other ways, Japanese ones, and none at all."""
    new = rewritten(movements()[0], Rewriting(names=names, palms=names == "MMD"))
    found = find_map(new.clip.skeleton)
    wrong, _, missed, _ = judged(found, new)
    assert wrong == () and missed == ()
    assert (found.certainty > 0.9) == (names not in NAMES[-2:])  # by shape alone nothing is that certain

