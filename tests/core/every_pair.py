"""Clips on characters of other proportions: how far limbs point from where the clip's own point, heights, feet that
stand.

The same as pictures: benchmarks/pair_sheet.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.formats import FORMATS, ogre_binary
from takt.core.formats.format import Format
from takt.core.formats.ogre import OgreSkeleton
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.matching import pair
from takt.core.retargeting.comparing.rest_pose import leg_ratio
from takt.core.retargeting.retarget import Retargeted, retarget
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import real_file

from .held_feet import feet_lock, held
from .rigs import real

MEAN_DEG, WORST_DEG = 2.0, 8.0
LEG_DEG, DRAWN_SHARE = 25.0, 0.1
"""Legs draw feet up for a moment where the body would hop: so far at most, and beyond WORST_DEG that seldom."""
HEAD_SHARE = 0.08
"""How far the mean height of the head may be from the clip's own, as a share of the body's height at rest."""
STANDING = 0.88
"""That holds where the head is at least this high: lying and bent bodies differ by their proportions."""
OFF_GROUND, IN_THE_AIR = 0.03, 0.045
"""Of the body's height, between two keys of a fast move; and of feet higher than that, which change over in the air so
that the body does not hop."""
SLIDE = 0.01
"""Of the leg's length, in each contact; and where a straight leg cannot reach."""
LIMBS = [(f"{side}_{a}", f"{side}_{b}") for side in "lr" for a, b in
         (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))]
BLENDER_FROM_HANIM = rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)
SOURCES = ("clips", "KayKit_Rogue_Hooded.glb", "Quaternius_Male_Casual.blend", "cesium_man.gltf", "Sinbad.skeleton")
"""Each names clips of one kind of skeleton. Blender itself reads the .blend file."""
TARGETS = ("sample", "mpfb_game_engine", "Rogue_Hooded", "Male_Suit", "Sinbad", "cesium_man")


def source(name: str, formats: Mapping[str, Format] = FORMATS) -> tuple[Clip, ...]:
    """Return the clips of one of SOURCES, which are read once."""
    if name not in _CLIPS:
        _CLIPS[name] = tuple(_read(name, formats))
    return _CLIPS[name]


_CLIPS = dict[str, tuple[Clip, ...]]()


def _read(name: str, formats: Mapping[str, Format]) -> Iterator[Clip]:
    if name == "clips":
        for path in sorted(real_file("clips").iterdir()):
            yield from read_clip_file(path, formats).played
    elif name == "Sinbad.skeleton":
        yield from (clip for clip in sinbad().played if clip.name in ("Dance", "RunBase", "RunTop"))
    else:
        yield from read_clip_file(real_file("characters", name), formats).played


@cache
def sinbad() -> OgreSkeleton:
    return ogre_binary.read(real_file("ogre", "Sinbad.skeleton").read_bytes())


def target(name: str) -> Skeleton:
    return build_skeleton() if name == "sample" else sinbad().skeleton if name == "Sinbad" else real(name)


def upright(found: SkeletonMap, clip: Clip, times: FloatArray) -> FloatArray:
    """Return matrices (F, J, 3, 4) in H-Anim's axes."""
    assert found.turn is not None
    back = rot.to_matrix(rot.conjugate(found.turn))
    return np.asarray(back @ world_from_pose(clip.skeleton, clip.sample(times)))


def pointing(found: SkeletonMap, world: FloatArray) -> dict[tuple[str, str], FloatArray]:
    """Return unit vectors (F, 3) along limbs; a bone whose end is no descendant of it points as it turns itself."""
    assert found.turn is not None
    rest = rot.to_matrix(rot.conjugate(found.turn)) @ found.skeleton.rest_world
    ways = {}
    for a, b in LIMBS:
        if a in found.joint_of and b in found.joint_of:
            i, j = found.joint_of[a], found.joint_of[b]
            above = j
            while above >= 0 and above != i:
                above = int(found.skeleton.parents[above])
            way = world[:, j, :, 3] - world[:, i, :, 3]
            if above != i:
                way = world[:, i, :, :3] @ np.linalg.solve(rest[i, :, :3], rest[j, :, 3] - rest[i, :, 3])
            ways[a, b] = way / np.linalg.norm(way, axis=1, keepdims=True)
    return ways


def is_moved(clip: Clip, joint: int) -> bool:
    """Tell whether a clip moves a joint or an ancestor of it; what it leaves alone stays as it stands."""
    while joint >= 0 and not clip.moved[joint]:
        joint = int(clip.skeleton.parents[joint])
    return joint >= 0


@dataclass(frozen=True, eq=False)
class Pair:
    """A clip on a character, and what both show at the same times."""

    clip: Clip
    ours: SkeletonMap

    @cached_property
    def done(self) -> Retargeted:
        return retarget(self.clip, self.ours.skeleton, BLENDER_FROM_HANIM)

    @cached_property
    def theirs(self) -> SkeletonMap:
        return find_map(self.clip.skeleton)

    @cached_property
    def motions(self) -> tuple[FloatArray, FloatArray]:
        """Matrices (F, J, 3, 4) of the clip's own motion and of the new one, in H-Anim's axes."""
        times = np.linspace(0.0, self.clip.duration_s, int(np.clip(self.clip.duration_s * 30, 2, 150)))
        return upright(self.theirs, self.clip, times), upright(self.ours, self.done.clip, times)

    def apart(self) -> dict[str, FloatArray]:
        """Return angles (N,) by which arms and legs point elsewhere, in degrees."""
        there, here = self.motions
        one, other = pointing(self.theirs, there), pointing(self.ours, here)
        apart: dict[str, list[FloatArray]] = {"arms": [np.zeros(0)], "legs": [np.zeros(0)]}
        for limb in one:
            if limb in other and is_moved(self.clip, self.theirs.joint_of[limb[0]]):
                away = np.arctan2(np.linalg.norm(np.cross(one[limb], other[limb]), axis=1),
                                  np.sum(one[limb] * other[limb], axis=1))
                apart["legs" if limb[0][2:] in ("hip", "knee") else "arms"].append(np.degrees(away))
        return {limbs: np.concatenate(angles) for limbs, angles in apart.items()}


class Pairs:
    """Clips on one character; what a test has computed serves the next one."""

    def __init__(self, to: str, formats: Mapping[str, Format] = FORMATS) -> None:
        """Take the name of a character, and what reads files."""
        self.ours, self._formats, self._known = find_map(target(to)), formats, dict[str, tuple[Pair, ...]]()

    def of(self, name: str) -> tuple[Pair, ...]:
        if name not in self._known:
            self._known[name] = tuple(Pair(clip, self.ours) for clip in source(name, self._formats))
        return self._known[name]


def height(found: SkeletonMap) -> float:
    """Return the height from the feet to the head at rest."""
    assert found.turn is not None
    up = rot.rotate(rot.conjugate(found.turn), found.skeleton.rest_world[:, :, 3])[:, 1]
    return float(up[found.joint_of["skullbase"]] - min(up[found.joint_of[f"{s}_ankle"]] for s in "lr"))


def clearance(found: SkeletonMap, other: SkeletonMap, world: FloatArray) -> FloatArray:
    """Return how high the foot is, (F,), that is the lowest above its height at rest, of those both bodies have."""
    assert found.turn is not None
    rest = rot.rotate(rot.conjugate(found.turn), found.skeleton.rest_world[:, :, 3])[:, 1]
    feet = [found.joint_of[name] for name in (f"{s}_{part}" for s in "lr" for part in ("ankle", "metatarsal"))
            if name in found.joint_of and name in other.joint_of]
    return np.asarray(np.min(world[:, feet, 1, 3] - rest[feet], axis=1))


def slides(clip: Clip, found: SkeletonMap) -> FloatArray:
    """Return how far feet slide in each contact with the lock on, in leg lengths (N,)."""
    skeleton, up = found.skeleton, found.up(np.array((0.0, 0.0, 1.0)))
    lock = feet_lock(found, lambda times: clip.sample(times, "SLERP"), clip.duration_s, up)
    times = np.linspace(0.0, clip.duration_s, int(clip.duration_s * 60) + 1)
    world = world_from_pose(skeleton, held(lock, clip.sample(times, "SLERP"), times))[..., 3]
    away = []
    for foot, leg in enumerate(lock.legs):
        rest = skeleton.rest_world[[leg.hip, leg.knee, leg.ankle], :, 3]
        flat = world[:, leg.foot] - (world[:, leg.foot] @ up)[:, None] * up
        for start, stop in lock.footholds.spans_s(foot).tolist():
            stands = flat[(times >= start) & (times <= stop)]
            away.append(np.linalg.norm(stands - stands.mean(axis=0), axis=1).max()
                        / np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())
    return np.array(away)


def check_limbs_and_heads(pairs: Iterable[Pair]) -> str:
    """Fail where limbs point elsewhere or heads are lower; return what there is."""
    mean, worst, worst_leg, drawn = list[float](), list[float](), list[float](), list[float]()
    for each in pairs:
        if each.done.is_own:
            continue
        apart = each.apart()
        mean.append(np.concatenate([*apart.values()]).mean())
        worst.append(apart["arms"].max(initial=0.0))
        worst_leg.append(apart["legs"].max(initial=0.0))
        drawn.append(np.count_nonzero(apart["legs"] > WORST_DEG) / max(len(apart["legs"]), 1))
        head = []
        for world, found in zip(each.motions, (each.theirs, each.ours), strict=True):
            low = np.min([world[:, found.joint_of[f"{s}_ankle"], 1, 3] for s in "lr"], axis=0)
            head.append((world[:, found.joint_of["skullbase"], 1, 3] - low).mean() / height(found))
        assert head[0] < STANDING or abs(head[0] - head[1]) < HEAD_SHARE, (each.clip.name, head)
    assert np.max(mean or [0]) <= MEAN_DEG and np.max(worst or [0]) <= WORST_DEG
    assert np.max(worst_leg or [0]) <= LEG_DEG and np.max(drawn or [0]) <= DRAWN_SHARE
    return (f"{len(mean)} clips, mean {np.mean(mean or [0]):.3f}°, worst {np.max(worst or [0]):.2f}°, of a leg "
            f"{np.max(worst_leg or [0]):.2f}°, {np.max(drawn or [0]):.1%} of their directions by more than "
            f"{WORST_DEG}°")


def check_heights_of_feet(pairs: Iterable[Pair]) -> None:
    """Fail where feet are higher or lower than the clip's own by the ratio of the legs."""
    for each in (each for each in pairs if each.clip.name != "cmu_01_01"):
        there, here = each.motions
        ratio = leg_ratio(each.clip.skeleton, each.ours.skeleton, pair(each.theirs, each.ours, each.clip.moved),
                          np.zeros(0, np.int64))
        found, wanted = (of / height(each.ours) for of in (clearance(each.ours, each.theirs, here),
                                                           ratio * clearance(each.theirs, each.ours, there)))
        apart, is_high = np.abs(found - wanted), np.minimum(found, wanted) > OFF_GROUND
        assert apart[~is_high].max(initial=0.0) < OFF_GROUND and apart.max() < IN_THE_AIR, each.clip.name


def check_contacts(motions: Iterable[Clip], ours: SkeletonMap, least: int) -> str:
    """Fail where feet slide with the lock on, or in fewer contacts than are there; return what there is."""
    away = np.concatenate([slides(clip, ours) for clip in motions])
    assert len(away) > least and away.max() <= SLIDE
    return (f"{len(away)} contacts, {(away > SLIDE).sum()} slide by more than {SLIDE:.0%} of the leg, "
            f"worst {away.max():.2%}")
