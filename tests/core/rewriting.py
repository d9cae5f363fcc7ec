"""Clips rewritten so that they must play the same: other zero poses, hierarchies, names, orders, rates and units.

A rewriting changes how a file says a movement, never the movement: bodies' parts turn in the world as before. What
the joints of the new skeleton are is known by construction, so that maps are checked as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.clips import MODULES
from takt.samples.posing import build_clip
from takt.tests.core.rigs import MORE_RIGS, RIGS, named_body

T = TypeVar("T")
ZEROS = ("KEPT", "LINE", "PILE", "LEANING", "TURNED", "STEP")
BETWEENS = ("NONE", "HIP_JOINTS", "COM", "TWO_ROOTS", "IK", "EVERYWHERE")
NAMES = (*RIGS, *MORE_RIGS, "numbered", "without meaning")
AS_THEY_ARE = "as they are"
FPS = (12.0, 24.0, 30.0, 60.0, 120.0, 240.0)
UNITS = (1e-4, 0.01, 1.0, 2.54, 100.0)
X, Y = np.array((1.0, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))
T_POSE_S = 1.0 / 24.0


@dataclass(frozen=True)
class Rewriting:
    """How a file is written.

    zero: its rest pose; angle_deg of LEANING (about a sideways or forward axis, by the seed) and TURNED. STEP: one in
    the middle of a step, anywhere on the way.
    between: static joints that stand between others. legs_on_spine: they are children of the spine's first joint.
    spine: how many joints it has. palms: fingers begin in the palm; leaves: bones end in joints that nothing moves.
    starts_in_t: the first frame is a T-pose. has_face: jaws, cheeks and brows, each of several joints.
    """

    zero: str = "KEPT"
    angle_deg: float = 0.0
    between: str = "NONE"
    legs_on_spine: bool = False
    spine: int = 3
    palms: bool = False
    leaves: bool = False
    names: str = "Mixamo"
    is_shuffled: bool = False
    fps: float = 30.0
    starts_in_t: bool = False
    unit: float = 1.0
    has_face: bool = False
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Rewritten:
    """A clip, what its joints are (bone → joint of H-Anim), and where its movement begins."""

    clip: Clip
    truth: Mapping[str, str]
    start_s: float


@dataclass
class Bone:
    """A joint to be written. part: whose turn in the world it has; place: (3,) at rest; above: another's name."""

    part: str
    place: FloatArray
    above: str
    meant: str = ""


@cache
def movements() -> tuple[Clip, ...]:
    """Return movements whose pelvis is one piece, hips to lowest spine, so that legs may be children of either.

    The sample's, with feet that stand as high as at rest: legs are bent for a pelvis that stays as the root is.
    """
    tables = (MODULES[module] for module in ("feet/Steps.skeleton.xml", "dance/Moves.skeleton"))
    return tuple(_with_stiff_waist(build_clip(name, seconds, {c: rows for c, rows in table.items() if c != "pelvis"}))
                 for movements in tables for name, (seconds, table) in movements.items())


def _with_stiff_waist(clip: Clip) -> Clip:
    """Return a clip whose lowest joint of the spine stays at rest: the next one turns in its place."""
    times = np.arange(int(np.ceil(clip.duration_s * 240)) + 1) / 240
    skeleton, pose = clip.skeleton, clip.sample(times)
    turns = pose.rotations.copy()
    lowest, above = skeleton.index_of["vl5"], skeleton.index_of["vl3"]
    turns[:, above] = rot.multiply(turns[:, lowest], turns[:, above])
    turns[:, lowest] = rot.IDENTITY
    return Clip(clip.name, skeleton, float(times[-1]), Tracks.uniform(np.arange(len(skeleton)), times, turns),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


def rewritten(clip: Clip, how: Rewriting) -> Rewritten:
    """Write a clip of the sample's skeleton, whose rest rotations are none, in another way."""
    return written(clip, how, _bones(clip.skeleton, how))


def written(clip: Clip, how: Rewriting, bones: Mapping[str, Bone]) -> Rewritten:
    """Write a clip with given joints, by their names, as far as `how` is not about which there are."""
    rng = np.random.default_rng(how.seed)
    order = _order(bones, rng if how.is_shuffled else None)
    above = np.array([order.index(bones[name].above) if bones[name].above else -1 for name in order])
    times = np.arange(int(np.floor(clip.duration_s * how.fps + 1e-9)) + 1) / how.fps
    turns, places = _in_the_world(clip, times)
    if how.starts_in_t:
        turns, places = _after_t_pose(clip.skeleton, turns, places)
        times = np.concatenate(((0.0,), times + T_POSE_S))
    parts = [clip.skeleton.index_of[bones[name].part] for name in order]
    rest = np.array([bones[name].place for name in order])
    axes, zero, root = _rest(rest, above, how, rng)
    if how.zero == "STEP":
        turned, place = _in_step(rng)
        zero, root = rot.multiply(turned[parts], zero), root + place
    world = rot.multiply(turns[:, parts], axes)
    up = above >= 0
    local = np.where(up[:, None], rot.multiply(rot.conjugate(world[:, above]), world), world)
    rests = np.where(up[:, None], rot.multiply(rot.conjugate(zero[above]), zero), zero)
    offsets = np.where(up[:, None], rot.rotate(rot.conjugate(axes[above]), rest - rest[above]), root) * how.unit
    names = _names_of(order, bones, how, rng)
    skeleton = Skeleton.from_arrays([names[bone] for bone in order], above, rests, offsets, name="rewritten")
    roots = np.flatnonzero(above < 0)
    start = rest[roots] - clip.skeleton.rest_world[0, :, 3]
    way = (rot.rotate(turns[:, :1], start[None]) + places[:, :1]) * how.unit - offsets[roots]
    tracks = rot.continuous(rot.multiply(rot.conjugate(rests), local))
    new = Clip(clip.name, skeleton, float(times[-1]), Tracks.uniform(np.arange(len(order)), times, tracks),
               Tracks.uniform(roots, times, way), Tracks.empty(3))
    truth = {names[name]: bone.meant for name, bone in bones.items() if bone.meant}
    return Rewritten(new, truth, T_POSE_S if how.starts_in_t else 0.0)


def _in_the_world(clip: Clip, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how all parts are turned (F, J, 4) and where the joints are (F, J, 3)."""
    pose, skeleton = clip.sample(times), clip.skeleton
    turns = pose.rotations.copy()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            turns[:, joint] = rot.multiply(turns[:, parent], turns[:, joint])
    return turns, world_from_pose(skeleton, pose)[..., 3]


def _after_t_pose(skeleton: Skeleton, turns: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
    still = rot.identities(1, len(skeleton))
    for joint, name in enumerate(skeleton.names):
        arm = [j for j in (joint, *_ancestors(skeleton, joint)) if skeleton.names[j][2:] == "shoulder"]
        if arm:
            still[0, joint] = rot.from_axis_angle(np.array((0.0, 0.0, 1.0 if name[0] == "l" else -1.0)), np.radians(84))
    return np.concatenate((still, turns)), np.concatenate((skeleton.rest_world[None, :, :, 3], places))


def _ancestors(skeleton: Skeleton, joint: int) -> list[int]:
    way = []
    while (joint := int(skeleton.parents[joint])) >= 0:
        way.append(joint)
    return way


def _bones(body: Skeleton, how: Rewriting) -> dict[str, Bone]:
    """Return the joints to be written, by their names in H-Anim, or of their own."""
    kept = set(named_body("MotionBuilder" if how.names in NAMES[-2:] else how.names))
    kept = {name for name in kept if name not in hanim.SPINE[:17]} | set(SPINES[how.spine])
    if how.palms:
        kept |= {name for name in body.names if name[-1] == "0" and f"{name[:-1]}1" in kept}
    bones: dict[str, Bone] = {}
    for joint, name in enumerate(body.names):
        if name in kept:
            above = next((body.names[j] for j in _ancestors(body, joint) if body.names[j] in kept), "")
            if how.legs_on_spine and name[2:] == "hip":
                above = "vl5"
            bones[name] = Bone(name, body.rest_world[joint, :, 3], above, name)
    _put_between(bones, how)
    if how.has_face:
        head = bones["skullbase"].place
        for part, height in (("jaw", 0.02), ("cheek", 0.06), ("brow", 0.1)):
            for side, x in (("l", 1.0), ("r", -1.0)):
                for i in range(4):
                    place = head + np.array((x * (0.06 - 0.015 * i), height, 0.03 * i))
                    above = f"{side}_{part}{i - 1}" if i else "skullbase"
                    bones[f"{side}_{part}{i}"] = Bone("skullbase", place, above)
    if how.leaves:
        ends = set(bones) - {bone.above for bone in bones.values()} - {"ik"}
        for name in sorted(ends):
            one, before = bones[name], bones[bones[name].above]
            bones[f"{name}_end"] = Bone(one.part, one.place + 0.6 * (one.place - before.place), name)
    return bones


SPINES = {1: ("vl5",), 2: ("vl5", "vt3"), 3: ("vl5", "vl1", "vt3"), 4: ("vl5", "vl1", "vt10", "vt3"),
          5: ("vl5", "vl3", "vl1", "vt10", "vt3"), 6: ("vl5", "vl3", "vl1", "vt10", "vt6", "vt3")}


def _put_between(bones: dict[str, Bone], how: Rewriting) -> None:
    root = hanim.ROOT
    if how.between == "HIP_JOINTS":
        for side in "lr":
            hip = bones[f"{side}_hip"]
            bones[f"{side}_between"] = Bone(hip.above, bones[hip.above].place - 0.01 * Y, hip.above)
            hip.above = f"{side}_between"
    elif how.between == "COM":  # the pelvis carries the legs alone, the trunk stands beside it
        bones["com"] = Bone(root, bones[root].place, "", root)
        bones[root].meant, bones[root].above = "", "com"
        bones["vl5"].above = "com"
    elif how.between in ("TWO_ROOTS", "IK"):
        bones["floor"] = Bone(root, np.array((0.0, 0.0, 0.0)), "")
        bones[root].above = "floor"
        if how.between == "IK":
            for side in "lr":
                bones[f"{side}_ik"] = Bone(root, bones[f"{side}_ankle"].place + 0.02 * X, "floor")
    elif how.between == "EVERYWHERE":
        for name, bone in list(bones.items()):
            if bone.above:
                middle = bones[bone.above].place + 0.1 * (bone.place - bones[bone.above].place)
                bones[f"{name}_between"] = Bone(bone.above and bones[bone.above].part, middle, bone.above)
                bone.above = f"{name}_between"


def _order(bones: Mapping[str, Bone], rng: np.random.Generator | None) -> list[str]:
    """Return names, parents before children, in an order of chance where rng is given."""
    names, order = list(bones), list[str]()
    while len(order) < len(names):
        ready = [n for n in names if n not in order and (not bones[n].above or bones[n].above in order)]
        order.append(ready[0] if rng is None else ready[int(rng.integers(len(ready)))])
    return order


def _rest(rest: FloatArray, above: np.ndarray, how: Rewriting, rng: np.random.Generator,
          ) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the parts' axes as they stand (J, 4), the turns of the rest pose (J, 4), and the root's place in it."""
    joints, root = len(rest), rest[np.flatnonzero(above < 0)[0]]
    if how.zero == "LINE":
        return np.stack([_along_x(rest, above, joint) for joint in range(joints)]), rot.identities(joints), 0.0 * root
    axes = rot.normalized(rng.normal(size=(joints, 4)))
    if how.zero == "PILE":
        return axes, rot.identities(joints), 0.0 * root
    axis = Y if how.zero == "TURNED" else rot.rotate(rot.from_axis_angle(Y, rng.uniform(0.0, 2.0 * np.pi)), X)
    lean = rot.from_axis_angle(axis, np.radians(how.angle_deg if how.zero != "KEPT" else 0.0))
    return axes, rot.multiply(lean, axes), rot.rotate(lean, root)


def _in_step(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return how all parts are turned (J, 4) in a moment of a step, on toes and heel, and how far the way went (3,)."""
    step = movements()[int(rng.integers(2))]
    turns, places = _in_the_world(step, np.array((0.02,)))
    return turns[0], places[0, 0] - step.skeleton.rest_world[0, :, 3]


def _along_x(rest: FloatArray, above: np.ndarray, joint: int) -> FloatArray:
    """Return axes whose x leads to the first joint below that stands in another place."""
    ways = [rest[j] - rest[joint] for j in np.flatnonzero(above == joint)]
    way = next((w for w in reversed(ways) if np.linalg.norm(w) > 1e-6), None)
    if way is None:
        return _along_x(rest, above, int(above[joint])) if above[joint] >= 0 else rot.IDENTITY
    way = way / np.linalg.norm(way)
    side = np.cross(way, (0.0, 0.0, 1.0) if abs(way[2]) < 0.9 else (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    return rot.from_matrix(np.stack((way, side, np.cross(way, side)), axis=1))


def _names_of(order: list[str], bones: Mapping[str, Bone], how: Rewriting, rng: np.random.Generator) -> dict[str, str]:
    """Return the name of each bone in the file."""
    if how.names == "numbered":
        return {name: f"Joint{i}" for i, name in enumerate(order)}
    if how.names == "without meaning":
        letters = np.array(list("bdfgkmnptvz")), np.array(list("aeiou"))
        said = ["".join(rng.choice(one) for one in letters * 3) + f"x{i}q" for i in range(len(order))]
        return dict(zip(order, said, strict=True))
    if how.names == AS_THEY_ARE:
        return {name: name for name in order}
    known = named_body(how.names)
    vertebrae = [known[v] for v in hanim.SPINE[:17] if v in known]
    of = dict(known) | {v: vertebrae[i] if i < len(vertebrae) else f"{vertebrae[-1]}x{i}"
                        for i, v in enumerate(SPINES[how.spine])}
    named: dict[str, str] = {}
    for name in order:
        if name in of:
            named[name] = of[name]
        elif name.endswith("0") and f"{name[:-1]}1" in of:  # before the first joint of its finger
            first, second = of[f"{name[:-1]}1"], of[f"{name[:-1]}2"]
            at = next(i for i, (a, b) in enumerate(zip(f"{first} ", second, strict=False)) if a != b)
            named[name] = first[:at] + "0" + first[at + 1:] if first[at:at + 1].isdigit() else f"{first}_meta"
        else:
            named[name] = {"com": "COM", "floor": "Reference", "l_ik": "ik_foot_l", "r_ik": "ik_foot_r",
                           "l_between": "LHipJoint", "r_between": "RHipJoint"}.get(name, "")
        if not named[name]:
            base = name.removesuffix("_end").removesuffix("_between")
            end = "" if base == name else "_end" if name.endswith("_end") else "_offset"
            named[name] = f"{named.get(base) or of.get(base, base)}{end}"
    return named


def random_rewriting(seed: int) -> Rewriting:
    """Return one of the many combinations, the same for the same seed."""
    rng = np.random.default_rng(seed)

    def one(values: Sequence[T]) -> T:
        return values[int(rng.integers(len(values)))]

    return Rewriting(zero=one(ZEROS), angle_deg=float(rng.uniform(10.0, 90.0)),
                     between=one(BETWEENS), legs_on_spine=bool(rng.random() < 0.2),
                     spine=int(rng.integers(1, 7)), palms=bool(rng.random() < 0.3), leaves=bool(rng.random() < 0.3),
                     names=one(NAMES), is_shuffled=bool(rng.random() < 0.3), fps=one(FPS),
                     starts_in_t=bool(rng.random() < 0.2), unit=one(UNITS),
                     has_face=bool(rng.random() < 0.2), seed=seed)
