"""Keep Contacts looks only where something is near, and moves arms without the bodies: with the same result."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.retargeting.contacts import kept_contacts
from takt.core.retargeting.contacts.hands_and_body import InFrames
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.test_ground import skin_of
from takt.tests.core.test_hands import THICK, shaped

EXACT, HARDLY_SEEN_M = 1e-9, 2e-3
BODY = build_skeleton()
ARMS = [BODY.index_of[f"{side}_{part}"] for side in "lr" for part in ("shoulder", "elbow")]


def wandering(seed: int, seconds: float = 8.0, fps: float = 24.0) -> Clip:
    """Return arms that wander about the body, and stretch aside in between."""
    rng, times = np.random.default_rng(seed), np.arange(0.0, seconds, 1.0 / fps)
    phases = rng.uniform(0.0, 2.0 * np.pi, (3, 4, 3))
    waves = sum(np.sin((i + 1) * 1.3 * times[:, None, None] + phases[i]) for i in range(3))
    near = np.array(((-0.9, -0.6, 0.2), (-1.2, -1.0, 0.0), (-0.9, 0.6, -0.2), (-1.2, 1.0, 0.0)))
    share = np.clip(1.5 * np.sin(np.pi * times / seconds * 2.0), 0.0, 1.0)[:, None, None]
    order = np.argsort(ARMS)
    return Clip("wandering", BODY, float(times[-1]),
                Tracks.uniform(np.array(ARMS)[order], times, rot.exp(share * (near + 0.35 * waves))[:, order]),
                Tracks.empty(3), Tracks.empty(3))


def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at all frames, and at each part of the body from all of them."""
    def everywhere(self: kept_contacts._Seen, *_: object) -> BoolArray:
        return np.ones(len(self.rows), dtype=np.bool_)

    outside = InFrames.outside

    def of_all(self: InFrames, palms: FloatArray, part: str, *_: object, **__: object) -> tuple[FloatArray, FloatArray]:
        return outside(self, palms, part)

    monkeypatch.setattr(kept_contacts._Seen, "is_near", everywhere)
    monkeypatch.setattr(InFrames, "outside", of_all)


@pytest.mark.slow
@pytest.mark.parametrize("is_skinned", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_frames_in_which_nothing_is_near_need_not_be_worked_on(seed: int, is_skinned: bool,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    clip, target = wandering(seed), shaped(0.06 * (seed - 1), 1.0 + 0.15 * seed)
    skin = SkinPoints.of(*skin_of(target, THICK)) if is_skinned else None
    plain, quick = (retarget(clip, target, points=skin, keep_contacts=keep).clip for keep in (False, True))
    slowly(monkeypatch)
    slow = retarget(clip, target, points=skin, keep_contacts=True).clip
    times = np.linspace(0.0, clip.duration_s, 500)
    worlds = [world_from_pose(target, each.sample(times))[..., 3] for each in (plain, quick, slow)]
    np.testing.assert_allclose(worlds[1], worlds[2], atol=EXACT)
    moved = np.linalg.norm(worlds[1] - worlds[0], axis=-1).max(axis=1)
    assert moved.max() > 0.02 and (moved < EXACT).any()


def test_of_dense_keys_not_all_need_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    clip, target = wandering(0, fps=240.0), shaped(0.06, 1.0)
    quick = retarget(clip, target, keep_contacts=True).clip
    monkeypatch.setattr(kept_contacts, "thinned", lambda times, _: times)
    slow = retarget(clip, target, keep_contacts=True).clip
    times = np.linspace(0.0, clip.duration_s, 2000)
    worlds = [world_from_pose(target, each.sample(times))[..., 3] for each in (quick, slow)]
    np.testing.assert_allclose(worlds[0], worlds[1], atol=HARDLY_SEEN_M)


def chain(rng: np.random.Generator) -> tuple[Skeleton, Limb]:
    """Return a limb with a joint between any two of its own, a hand, and others before and after it."""
    return Skeleton.from_arrays([f"joint{i}" for i in range(8)], [-1, 0, 1, 2, 3, 4, 5, 6],
                                rot.exp(rng.normal(size=(8, 3))), rng.normal(size=(8, 3))), Limb(2, 4, 6)


@pytest.mark.parametrize("seed", range(5))
def test_limbs_that_are_moved_as_points_are_where_their_joints_rotations_lead_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton, limb = chain(rng)
    pose = Pose.rest(skeleton, 20)
    pose = replace(pose, rotations=rot.exp(rng.normal(size=(20, 8, 3))))
    world = world_from_pose(skeleton, pose)
    moved = LimbPoses.of(world, limb).at((slice(None), 0))
    for _ in range(3):
        moved = moved.reaching(0.4 * rng.normal(size=(20, 3)))
        moved = moved.turned(rot.from_axis_angle(moved.line, rng.normal(size=20)))
    pose.rotations[:, limb] = moved.rotations(skeleton, world, limb)
    new = world_from_pose(skeleton, pose)
    for joint, wanted in zip(limb, (moved.first, moved.middle, moved.last), strict=True):
        np.testing.assert_allclose(new[:, joint, :, 3], wanted, atol=EXACT)
    np.testing.assert_allclose(new[:, 6:, :, :3], world[:, 6:, :, :3], atol=EXACT)  # the end does not turn
    assert np.linalg.norm(moved.last - world[:, limb.last, :, 3], axis=1).min() > EXACT


def test_a_limb_reaches_as_far_as_it_is_long() -> None:
    skeleton, limb = chain(np.random.default_rng(0))
    at = LimbPoses.of(skeleton.rest_world[None], limb)
    bones = np.linalg.norm(np.diff((at.first, at.middle, at.last), axis=0), axis=-1)[:, 0, 0]
    within, beyond = (long * np.array((0.0, 0.6, 0.8)) for long in (bones.max(), 9.0 * bones.sum()))
    near, far = (at.reaching(wanted - at.last + at.first) for wanted in (within, beyond))
    np.testing.assert_allclose(near.last - near.first, [[within]], atol=EXACT)
    assert np.linalg.norm(far.last - far.first) / bones.sum() == pytest.approx(1.0, abs=1e-3)
