"""Clips that go round: found by construction, gone on with beyond their ends, and begun anywhere by the search."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.clips.excerpt import Excerpt
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.ends import STEP_S
from takt.core.playing.fit import MOST_ADDED, MOST_SKIPPED, SEARCH_S
from takt.core.playing.placing.placement import Bearing
from takt.core.playing.placing.rounds import going_round
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.test_fit import BODY, FPS, ROOT, Y_UP, danced

BEARING = Bearing(BODY, np.array((ROOT,)), Y_UP)
ROUND_S = 1.5


def walking(begin_s: float, end_s: float, name: str, seed: int = 1, round_s: float = ROUND_S) -> Clip:
    """Make a part of a walk without end in an arc: all joints swing, over and over, and the body goes on and turns."""
    rng, times = np.random.default_rng(seed), np.linspace(begin_s, end_s, round((end_s - begin_s) * FPS) + 1)
    axes, phases = rng.normal(size=(len(BODY), 3)), rng.uniform(0.0, 2.0 * np.pi, len(BODY))
    swing = 0.4 * np.sin(2.0 * np.pi * times[:, None] / round_s + phases)
    axes[ROOT], swing[:, ROOT] = Y_UP, 0.8 * times
    turns = rot.from_axis_angle(axes / np.linalg.norm(axes, axis=1, keepdims=True), swing)
    way = np.column_stack((-np.cos(0.8 * times), 0.03 * np.sin(4.0 * np.pi * times / round_s), np.sin(0.8 * times)))
    return Clip(name, BODY, end_s - begin_s, Tracks.uniform(np.arange(len(BODY)), times - begin_s, turns),
                Tracks.uniform(np.array((ROOT,)), times - begin_s, way[:, None]), Tracks.empty(3))


def ending(clip: Clip, name: str) -> Clip:
    """The same, but that it comes to rest at both ends."""
    eased = np.linspace(0.0, 1.0, round(clip.duration_s * FPS) + 1)
    pose = clip.sample(clip.duration_s * eased * eased * (3.0 - 2.0 * eased))
    times = clip.duration_s * eased
    return Clip(name, BODY, clip.duration_s, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.array((ROOT,)), times, pose.translations[:, [ROOT]]), Tracks.empty(3))


def test_it_goes_on_beyond_both_ends_from_where_it_is() -> None:
    part = going_round(walking(0.0, ROUND_S, "walk"), 0.5, BEARING)
    whole = walking(-0.5, ROUND_S + 0.5, "walk")
    times = np.linspace(0.0, ROUND_S + 1.0, 97)
    own, other = (world_from_pose(BODY, clip.sample(times, "SLERP")) for clip in (part.whole, whole))
    np.testing.assert_allclose(own, other, atol=1e-3)
    inside = np.linspace(0.0, ROUND_S, 50)
    still, moved = (each.sample(inside, "SLERP") for each in (walking(0.0, ROUND_S, "walk"), part))
    assert rot.angle_between(still.rotations, moved.rotations).max() < 1e-7
    np.testing.assert_allclose(still.translations, moved.translations, atol=1e-9)


def test_a_bone_above_that_this_clip_leaves_alone_does_not_carry_it() -> None:
    """Other clips move the root; this one moves a joint below it alone."""
    joint = int(np.flatnonzero(BODY.parents == ROOT)[0])

    def below(begin_s: float, end_s: float) -> Clip:
        clip = walking(begin_s, end_s, "walk")
        of_root = clip.rotations.of_joints(np.arange(len(BODY)) == ROOT)
        return replace(clip, rotations=replace(of_root, joints=np.array((joint,))),
                       translations=replace(clip.translations, joints=np.array((joint,))))

    part = going_round(below(0.0, ROUND_S), 0.5, Bearing(BODY, np.array((ROOT, joint)), Y_UP))
    times = np.linspace(0.0, ROUND_S + 1.0, 97)
    longer = below(-0.5, ROUND_S + 0.5)
    own, other = (world_from_pose(BODY, clip.sample(times, "SLERP")) for clip in (part.whole, longer))
    np.testing.assert_allclose(own, other, atol=1e-3)


def test_contacts_go_on_too_and_are_known_by_the_clips_own() -> None:
    spans = np.array(((0.0, 0.3), (0.6, 0.8), (1.2, ROUND_S)))
    clip = walking(0.0, ROUND_S, "walk")
    planted = Clip("walk", BODY, ROUND_S, clip.rotations, clip.translations, clip.scales,
                   contacts={"l": FootContacts(spans, spans[1:2])})
    part = going_round(planted, 0.5, BEARING)
    assert part.whole.contacts is not None
    stands = part.whole.contacts["l"].stands
    np.testing.assert_allclose(stands, ((0.2, 0.8), (1.1, 1.3), (1.7, 2.3)), atol=1e-9)
    np.testing.assert_allclose(part.of_clip(stands), ((0.0, 0.3), (0.6, 0.8), (1.2, ROUND_S)), atol=1e-9)
    outside = np.array(((0.2, 0.4), (2.1, 2.3)))
    np.testing.assert_allclose(part.of_clip(outside), ((1.2, 1.4), (0.1, 0.3)), atol=1e-9)
    assert Excerpt(planted, 0.2, 1.0).of_clip(spans) is spans


@pytest.mark.slow
@pytest.mark.parametrize("behind_s", [0.2, 0.35, 0.6, 0.73])
def test_a_walk_is_entered_at_whichever_phase_fits(behind_s: float) -> None:
    """The middle one is the others, begun elsewhere in the round, which is how far it is moved, at both its ends."""
    clips = [walking(begin_s, begin_s + ROUND_S, f"clip{i}") for i, begin_s in enumerate((0.0, behind_s, 0.0))]
    cuts = danced(*clips, fit="SEARCH").cuts
    assert cuts is not None and (cuts.found[:2] < 0.03).all() and (cuts.authored[:2] > 0.15).all()
    assert cuts.skips_s.sum(axis=1)[:2] == pytest.approx((-behind_s, behind_s), abs=STEP_S)
    only = danced(*clips, fit="IN_PLACE").cuts
    assert only is not None and (only.skips_s >= 0.0).all()


def test_who_comes_to_rest_or_ends_elsewhere_does_not_go_round() -> None:
    a, b = walking(0.0, ROUND_S, "a"), walking(0.3, ROUND_S + 0.3, "b")
    for clips in ((ending(a, "a"), ending(b, "b")), (walking(0.0, 1.0, "a"), walking(1.3, 2.3, "b"))):
        cuts = danced(*clips, fit="SEARCH").cuts
        assert cuts is not None and (cuts.skips_s >= 0.0).all()


@pytest.mark.slow
@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_clip_loses_or_gains_too_much_and_no_seam_costs_more(seed: int, loop: bool) -> None:
    rng = np.random.default_rng(seed)
    rounds = rng.uniform(0.6, 2.0, 6)
    clips = [walking(begin, begin + each, f"clip{i}", i % 2, float(each))
             for i, (each, begin) in enumerate(zip(rounds.tolist(), rng.uniform(0.0, 2.0, 6).tolist(), strict=True))]
    motion = danced(*clips, fit="SEARCH", loop=loop, stretch=float(rng.uniform(0.7, 1.4)))
    cuts, lasts = motion.cuts, np.array([clip.duration_s for clip in clips])
    assert cuts is not None and (cuts.found <= cuts.authored).all() and (cuts.skips_s < 0.0).any()
    both: FloatArray = np.roll(cuts.skips_s[:, 1], 1) + cuts.skips_s[:, 0]
    assert (both <= MOST_SKIPPED * lasts + 1e-9).all() and (both >= -MOST_ADDED * lasts - 1e-9).all()
    assert np.abs(cuts.skips_s).max() <= SEARCH_S / 0.7 + 1e-9
    times = np.linspace(0.0, motion.duration_s, 400)
    assert np.isfinite(motion.sample(times).translations).all()
