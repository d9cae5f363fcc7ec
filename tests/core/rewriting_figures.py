"""What is measured on rewritten clips: limbs, the hips' path, refusals, and maps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.errors import SkeletonMismatchError
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import SURE, SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.rewriting import Rewriting, Rewritten, rewritten

LIMBS = [(f"{side}_{a}", f"{side}_{b}") for side in "lr" for a, b in
         (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))]
_REGIONS = dict.fromkeys(hanim.SPINE[:17], "spine") | dict.fromkeys(hanim.SPINE[17:], "neck")


@dataclass(frozen=True, eq=False)
class Figures:
    """refused: why, "" where it plays. apart_deg: (F, limbs). hips: largest distance of the hips' paths, in legs.

    wrong: joints that are not what they are said to be, of those called sure; missed: humanoid joints said to be
    nothing or something else; joints: how many there are.
    """

    how: Rewriting
    refused: str
    apart_deg: FloatArray
    hips: float
    wrong: tuple[str, ...]
    sure: int
    missed: tuple[str, ...]
    joints: int


def measured(clip: Clip, how: Rewriting, target: Skeleton) -> Figures:
    """Play a clip and its rewriting on the same target, and compare."""
    new = rewritten(clip, how)
    wanted = retarget(clip, target).clip
    try:
        done = retarget(new.clip, target, without_first_pose=True)
    except SkeletonMismatchError as error:
        return Figures(how, str(error), np.zeros((0, 0)), 0.0, *judged(find_map(new.clip.skeleton), new))
    times = np.arange(int((new.clip.duration_s - new.start_s) * how.fps + 1e-6) + 1) / how.fps
    late = new.clip.duration_s - done.clip.duration_s  # what was left out before
    ours = find_map(target)
    one, other = (world_from_pose(target, c.sample(t))[..., 3] for c, t in
                  ((wanted, times), (done.clip, times + new.start_s - late)))
    there, here = (np.stack([w[:, ours.joint_of[b]] - w[:, ours.joint_of[a]] for a, b in LIMBS], axis=1)
                   for w in (one, other))
    across = np.linalg.norm(np.cross(there, here), axis=-1)
    hips = [ours.joint_of[name] for name in ("l_hip", "r_hip")]
    rest = target.rest_world[:, :, 3]
    leg = sum(float(np.linalg.norm(rest[ours.joint_of[b]] - rest[ours.joint_of[a]])) for a, b in LIMBS[:2])
    path = np.linalg.norm((one - other)[:, hips].mean(axis=1), axis=-1).max() / leg
    return Figures(how, "", np.degrees(np.arctan2(across, np.sum(there * here, axis=-1))), float(path),
                   *judged(done.source_map, new))


def judged(found: SkeletonMap, new: Rewritten) -> tuple[tuple[str, ...], int, tuple[str, ...], int]:
    """Return joints that are called sure and wrong, how many are called sure, those missed, and how many there are."""
    wrong, missed, sure = [], [], 0
    for joint, (name, said) in enumerate(zip(found.skeleton.names, found.meant, strict=True)):
        true = new.truth.get(name)
        same = said == true or (true is not None and said is not None and _REGIONS.get(said) == _REGIONS.get(true, "-"))
        if found.is_sure and said is not None and found.certainties[joint] >= SURE:
            sure += 1
            if not same:
                wrong.append(f"{name}: {said} for {true}")
        if true is not None and not same:
            missed.append(f"{name}: {said} for {true}")
    return tuple(wrong), sure, tuple(missed), len(new.truth)
