"""Clips of half a body, as seats and desks record: without legs, or without arms."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.hanim import SPINE
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.rewriting import AS_THEY_ARE, Bone, Rewriting, Rewritten, movements, written
from takt.tests.core.rewriting_figures import judged
from takt.tests.core.systems import SYSTEMS, joints_of
from takt.tests.core.test_rewritings import MEAN_DEG, WORST_DEG, targets
from takt.tests.core.test_systems import DOUBLES

LEGS, ARMS = ("hip", "knee"), ("sternoclavicular", "shoulder", "elbow")
WITHOUT_PELVIS = ("MikuMikuDance", "Rigify's metarig")
"""Without legs the center of the one is as good a pelvis as what it carries; that of the other is called a spine."""
SEGMENTS = {LEGS: (("shoulder", "elbow"), ("elbow", "wrist")), ARMS: (("hip", "knee"), ("knee", "ankle"))}


def cut(bones: dict[str, Bone], tops: set[str]) -> dict[str, Bone]:
    """Return bones without those that are, or descend from, joints of H-Anim."""
    gone = {name for name, bone in bones.items() if bone.meant in tops}
    while more := {name for name, bone in bones.items() if bone.above in gone} - gone:
        gone |= more
    return {name: bone for name, bone in bones.items() if name not in gone}


def halves(number: int, system: str, without: tuple[str, ...], how: Rewriting) -> tuple[Rewritten, Rewritten]:
    """Return a movement of a system's body, and of what is left of it."""
    clip = movements()[number % len(movements())]
    bones = {name: bone for name, bone in joints_of(system, clip.skeleton).items() if name not in DOUBLES}
    tops = {f"{side}_{part}" for side in "lr" for part in without}
    return written(clip, how, bones), written(clip, how, cut(bones, tops))


def directions(body: Skeleton, clip: Clip, times: np.ndarray, segments: tuple[tuple[str, ...], ...]) -> np.ndarray:
    at, positions = find_map(body).joint_of, world_from_pose(body, clip.sample(times))[..., 3]
    pairs = [(f"{side}_{a}", f"{side}_{b}") for side in "lr" for a, b in segments]
    return np.stack([positions[:, at[b]] - positions[:, at[a]] for a, b in pairs], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("without", [LEGS, ARMS])
@pytest.mark.parametrize("system", [system for system in SYSTEMS if system != "romaji"])  # known by its shape alone
def test_what_is_there_plays_as_with_the_rest(system: str, without: tuple[str, ...]) -> None:
    number = list(SYSTEMS).index(system)
    whole, half = halves(number, system, without, Rewriting(names=AS_THEY_ARE, seed=number))
    target = targets()[number % 2]
    wanted, done = retarget(whole.clip, target).clip, retarget(half.clip, target)
    wrong, _, missed, _ = judged(done.source_map, half)
    assert done.source_map.is_sure
    if system not in WITHOUT_PELVIS:
        # without arms nobody knows where the neck begins
        assert [said for said in (*wrong, *missed) if without is LEGS or said.rpartition(" ")[2] not in SPINE] == []
    times = np.linspace(0.0, whole.clip.duration_s, 30)
    there, here = (directions(target, clip, times, SEGMENTS[without]) for clip in (wanted, done.clip))
    apart = np.degrees(np.arctan2(np.linalg.norm(np.cross(there, here), axis=-1), np.sum(there * here, axis=-1)))
    assert apart.mean() <= MEAN_DEG and apart.max() <= WORST_DEG, (system, apart.mean(), apart.max())


def test_a_clip_that_begins_at_the_chest_leaves_the_body_where_it_stands() -> None:
    """Its root is far above the ground, where the whole body's root is not."""
    clip = movements()[2]
    bones = joints_of("Rokoko", clip.skeleton)
    above = {name for name, bone in bones.items() if name in ancestors(bones, "LeftArm") & ancestors(bones, "Head")}
    chest = next(name for name in bones if name in above and bones[name].above in above
                 and not above & {other for other, bone in bones.items() if bone.above == name})
    legs = {f"{side}_hip" for side in "lr"}
    kept = {name: bone for name, bone in cut(bones, legs).items() if name not in above or name == chest}
    root = Bone(bones[chest].part, bones[chest].place, "", bones[chest].meant)
    bust = written(clip, Rewriting(names=AS_THEY_ARE), {**kept, chest: root})
    target = targets()[0]
    done = retarget(bust.clip, target)
    hips = [find_map(target).joint_of[name] for name in ("HumanoidRoot", "l_hip", "l_ankle", "vl5")]
    times = np.linspace(0.0, clip.duration_s, 10)
    positions = world_from_pose(target, done.clip.sample(times))[..., 3][:, hips]
    assert done.source_map.is_sure
    np.testing.assert_allclose(positions, np.tile(target.rest_world[..., 3][hips], (10, 1, 1)), atol=1e-6)


def ancestors(bones: dict[str, Bone], name: str) -> set[str]:
    found = set[str]()
    while name := bones[name].above:
        found.add(name)
    return found


@pytest.mark.parametrize("without", [LEGS, ARMS])
def test_limbs_that_nobody_could_name_are_not_taken_for_missing(without: tuple[str, ...]) -> None:
    """Then the body is asked about, instead of half of it playing without a word."""
    clip = movements()[0]
    bones = joints_of("Rokoko", clip.skeleton)
    tops = {f"{side}_{part}" for side in "lr" for part in without}
    below = set(bones) - set(cut(bones, tops))
    names = {name: f"x{i}" if name in below else name for i, name in enumerate(bones)}
    unknown = {names[name]: Bone(bone.part, bone.place, names.get(bone.above, ""), bone.meant)
               for name, bone in bones.items()}
    found = find_map(written(clip, Rewriting(names=AS_THEY_ARE), unknown).clip.skeleton)
    assert not found.without
