"""Detect which joint is which by names, or by the body's shape if the names are not enough."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, product
from typing import Final, NamedTuple

import numpy as np

from ...errors import quoted
from .. import hanim
from ..skeleton import Skeleton
from . import body, names
from .body import JOINT_OF_PART, Tree
from .conventions import in_known_words
from .fingers import fingers_of, first_of_counted
from .shape import has_limbs, has_limbs_besides, limbs_by_shape, without_between
from .skeleton_map import SkeletonMap
from .unnamed import with_unnamed

LIMBS: Final = (("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"))
_ENDS: Final = {LIMBS[0]: ("toe",), LIMBS[1]: ()}
_LUMBAR_TO_THORACIC: Final = hanim.SPINE[:17]
_CERVICAL: Final = hanim.SPINE[17:]

BY_STANDARD, BY_NAME, BY_NEIGHBOURS, BY_SHAPE, IN_DOUBT = 1.0, 0.95, 0.9, 0.7, 0.4
"""How certain a joint is: it bears H-Anim's name; names say so; its named neighbours do; only the shape
does; names and shape disagree, or two joints could be it."""
_LIMB_JOINTS: Final = frozenset(f"{side}_{joint}" for side in "lr" for limb in LIMBS for joint in limb)
_IN_WORDS: Final = {hanim.ROOT: "Hips", "skullbase": "Head"} | dict.fromkeys(hanim.SPINE[:17], "Spine") | dict.fromkeys(
    hanim.SPINE[17:], "Neck")
"""How joints of the trunk are called elsewhere: some files have H-Anim's names for these alone."""
_LEAST_STANDARD = 0.9
"""Some rigs call a few joints as H-Anim does (L_Hip, L_Knee) and the others not; these are read as any other's."""
_OFF_CHAIN = 10
"""Against a limb counts a joint that is no descendant of the one before it, in ranks of names."""
_BETWEEN, _IN_LINE = 0.35, 0.7
"""A joint only stands between two others where it is nearer to the upper one than this share of the distance to the
lower one; half of a split bone has its direction, up to this cosine."""
_BODIES = 4
"""Number of parts that exist twice, each in a tree of its own, from which on a skeleton has two bodies."""


@lru_cache(maxsize=64)
def find_map(skeleton: Skeleton) -> SkeletonMap:
    """Detect the map of a skeleton: which H-Anim joint each of its joints is.

    If a skeleton has H-Anim's own names, or its file states what its joints are, these are used. Otherwise limbs and
    head are found by names, or by shape if names do not give both legs or both arms. Trunk and neck are the joints
    between them. A body that does not stand upright on two legs is not a humanoid: its map is empty, with a warning.
    The maps of the last 64 skeletons are cached.
    """
    return find_map_once(skeleton)


def find_map_once(skeleton: Skeleton) -> SkeletonMap:
    """Detect a map as find_map does, but without caching it, for a skeleton that exists for one frame only."""
    return _map(skeleton, in_any_pose=False)


def map_in_any_pose(skeleton: Skeleton) -> SkeletonMap:
    """Detect a map by names, as find_map does, for a body that may sit or crawl in its rest pose."""
    return _map(skeleton, in_any_pose=True)


def _map(skeleton: Skeleton, in_any_pose: bool) -> SkeletonMap:
    said = tuple(skeleton.meant.get(name) for name in skeleton.names)
    found = _map_of(skeleton, said, in_any_pose)
    return found if hanim.ROOT in said else with_unnamed(found)


def _map_of(skeleton: Skeleton, said: tuple[str | None, ...], in_any_pose: bool) -> SkeletonMap:
    tree = Tree.of(skeleton)
    standard = said if hanim.ROOT in said else hanim.canonical_names(skeleton.names)
    known = sum(name is not None for name in standard)
    if hanim.ROOT in standard or known >= _LEAST_STANDARD * len(skeleton):
        own = _standard(skeleton, tree, standard)
        if standard is said or 2 * known >= len(skeleton) or not _LIMB_JOINTS.isdisjoint(standard):
            return own
        found = _map_by_names(skeleton, tree, [_IN_WORDS.get(meant or "", name) for name, meant in
                                               zip(skeleton.names, standard, strict=True)], in_any_pose)
        return found if found.is_humanoid else own
    return _map_by_names(skeleton, tree, in_known_words(skeleton.names), in_any_pose)


def _map_by_names(skeleton: Skeleton, tree: Tree, called: list[str], in_any_pose: bool) -> SkeletonMap:
    """Find the H-Anim joints of a skeleton by names, and by the body's shape."""
    readings = [names.read(name) for name in called]
    if any(name.startswith("DEF-") for name in skeleton.names):
        readings = [reading if name.startswith("DEF-") else names.Reading(is_helper=True)
                    for name, reading in zip(skeleton.names, readings, strict=True)]
    found = _by_names(tree, readings)
    if not all(f"{side}_{limb[1]}" in found.parts for limb in LIMBS for side in "lr"):
        shape = limbs_by_shape(tree, [reading.side for reading in readings])
        if len(shape) > len(found.parts):
            found = _Found(shape, dict.fromkeys(shape, BY_SHAPE), is_named=False)
            if "head" in shape and _steps_from_fork(tree, shape["head"]) > 2:
                found.certainties["head"] = IN_DOUBT  # the last of several may be the end of the head's bone
            elif "head" in shape and _steps_from_fork(tree, shape["head"]) == 1 and tree.children[shape["head"]]:
                found.certainties["head"] = IN_DOUBT  # without a neck, it may be the neck
    return _checked(skeleton, tree, readings, found, in_any_pose)


def _steps_from_fork(tree: Tree, joint: int) -> int:
    """Return the number of steps from a joint up to its nearest ancestor with several children."""
    path = tree.path_to_root(joint)
    return next((i for i, above in enumerate(path[1:], start=1) if len(tree.children[above]) > 1), len(path))


class _Found(NamedTuple):
    """Joints by part, as in "l_knee"; certainties by part; doubles: parts with two possible joints, and both joints."""

    parts: dict[str, int]
    certainties: dict[str, float]
    doubles: tuple[tuple[str, int, int], ...] = ()
    is_named: bool = True


def _standard(skeleton: Skeleton, tree: Tree, meant: tuple[str | None, ...]) -> SkeletonMap:
    part_of = {joint: part for part, joint in JOINT_OF_PART.items()}
    parts = {part_of[name]: joint for joint, name in enumerate(meant) if name in part_of}
    return SkeletonMap(skeleton, meant, tuple(float(name is not None) for name in meant),
                       body.model_from_hanim(tree, parts), is_checked=True)


def _by_names(tree: Tree, readings: list[names.Reading]) -> _Found:
    """Choose for each limb the joints whose names fit best and that are one chain."""
    possible: dict[str, list[tuple[int, int]]] = {}
    for joint, (reading, parts) in enumerate(zip(readings, names.parts_of(readings), strict=True)):
        for part, rank in parts.items():
            key = f"{reading.side}_{part}" if reading.side else part
            possible.setdefault(key, []).append((rank, joint))
    chosen: dict[str, int] = {}
    sure: dict[str, float] = {}
    doubles: list[tuple[str, int, int]] = []
    for side, limb in product("lr", LIMBS):
        joints, is_whole = _best_limb(tree, [possible.get(f"{side}_{part}", []) for part in limb])
        joints = [_below_between(tree, possible.get(f"{side}_{part}", []), joint, after)
                  for part, joint, after in zip(limb, joints, (*joints[1:], None), strict=True)]
        if joints[1] is None:  # without an elbow or knee, there is no limb
            continue
        if joints[2] is None and (ends := _going_on(tree, readings, joints[1])):
            chosen |= {f"{side}_{part}": joint for part, joint in zip((limb[2], *_ENDS[limb]), ends, strict=False)}
            sure |= dict.fromkeys((f"{side}_{part}" for part in (limb[2], *_ENDS[limb])), BY_SHAPE)
        for part, best in zip(limb, joints, strict=True):
            if best is not None:
                key = f"{side}_{part}"
                chosen[key] = best
                sure[key] = BY_NAME if is_whole else BY_NEIGHBOURS
                double = _second(tree, possible[key], best)
                if double is not None:
                    doubles.append((key, best, double))
                    sure[key] = IN_DOUBT
    for side, (part, above, below) in product("lr", (("clavicle", "", "shoulder"), ("toe", "ankle", ""))):
        beside = _beside(tree, possible.get(f"{side}_{part}", []), chosen.get(f"{side}_{above}"),
                         chosen.get(f"{side}_{below}"))
        if beside is not None:
            chosen[f"{side}_{part}"] = beside
            sure[f"{side}_{part}"] = BY_NAME
    for part in ("pelvis", "head"):
        if possible.get(part):
            chosen[part] = min(possible[part], key=lambda entry: (len(tree.path_to_root(entry[1])), entry))[1]
            sure[part] = BY_NAME
    return _Found(chosen, sure, tuple(doubles))


def _best_limb(tree: Tree, possible: list[list[tuple[int, int]]]) -> tuple[list[int | None], bool]:
    """Return the best joint for each part of a limb, and whether they are one chain."""
    best: tuple[float, list[int | None]] = (np.inf, [None] * len(possible))
    for choice in product(*([(0, None), *sorted(entries)[:6]] for entries in possible)):
        joints = [joint for _, joint in choice]
        there = [joint for joint in joints if joint is not None]
        if len(set(there)) < len(there):
            continue
        cost = float(sum(rank for rank, _ in choice)) + 100.0 * (len(joints) - len(there))
        for a, b in pairwise(there):
            cost += _OFF_CHAIN * (not tree.is_above(a, b))
        if there:  # prefer the upper one of joints with the same name, such as halves of a split bone
            cost += 0.01 * sum(len(tree.path_to_root(joint)) for joint in there)
        if cost < best[0]:
            best = cost, joints
    joints = best[1]
    there = [joint for joint in joints if joint is not None]
    return joints, all(tree.is_above(a, b) for a, b in pairwise(there))


def _going_on(tree: Tree, readings: list[names.Reading], joint: int) -> list[int]:
    """Return the joints that continue a limb below a joint, for joints whose names have no meaning."""
    path: list[int] = []
    while below := [child for child in tree.children[joint] if not readings[child].is_helper]:
        joint = max(below, key=tree.counts.__getitem__)
        path.append(joint)
    return path


def _below_between(tree: Tree, possible: list[tuple[int, int]], joint: int | None, after: int | None) -> int | None:
    """Return the joint of a limb, or the last joint of the same name if this one only links the limb to the body.

    Halves of a split bone are about as long as the next bone and in line with it. A bone that only links is short, or
    leads aside.
    """
    if joint is None or after is None:
        return joint
    path = [j for j in tree.path_to_root(after)[1:] if any(j == other for _, other in possible)]
    last = path[0] if path and joint in path else joint
    offsets = tree.positions[last] - tree.positions[joint], tree.positions[after] - tree.positions[last]
    short, whole = (float(np.linalg.norm(offset)) for offset in offsets)
    is_aside = float(offsets[0] @ offsets[1]) < _IN_LINE * short * whole
    return last if short < _BETWEEN * whole or (is_aside and short < whole) else joint


def _second(tree: Tree, possible: list[tuple[int, int]], joint: int) -> int | None:
    """Return another joint with a name of the same rank that is not on the same chain."""
    rank = min(rank for rank, j in possible if j == joint)
    return next((j for r, j in possible if r == rank and j != joint and not tree.is_above(joint, j)
                 and not tree.is_above(j, joint)), None)


def _beside(tree: Tree, possible: list[tuple[int, int]], above: int | None, below: int | None) -> int | None:
    """Return the clearest joint below one joint, or above another."""
    fits = [(rank, joint) for rank, joint in sorted(possible)
            if (above is not None and tree.is_above(above, joint))
            or (below is not None and tree.is_above(joint, below))]
    return fits[0][1] if fits else None


def _checked(skeleton: Skeleton, tree: Tree, readings: list[names.Reading], found: _Found,
             in_any_pose: bool) -> SkeletonMap:
    """Complete the limbs by trunk, neck and fingers, and compare them with the body's shape."""
    parts, sure = dict(found.parts), dict(found.certainties)
    warnings = _doubled(skeleton, tree, found.doubles)
    if not any(f"l_{limb[0]}" in parts and f"r_{limb[0]}" in parts for limb in LIMBS):
        return _no_humanoid(skeleton, "no pair of legs or arms was found", has_limbs(tree))
    if not in_any_pose and not body.is_upright(tree, parts):
        reason = "the trunk does not stand upright over two legs, so this is taken for no humanoid"
        return _no_humanoid(skeleton, reason, may_stand=True)
    if not found.is_named:
        tree = without_between(tree)
    _set_pelvis(tree, readings, parts, sure)
    if "head" not in parts and (head := _head(tree, readings, parts)) is not None:
        parts["head"] = head
    meant = _trunk(tree, readings, parts)
    meant |= {JOINT_OF_PART[part]: joint for part, joint in parts.items() if part in JOINT_OF_PART}
    fingers = _fingers(tree, readings, parts, found.is_named)
    turn = body.model_from_hanim(tree, parts)
    forward = body.forward_by_shape(tree, parts)
    factor = 1.0
    if not in_any_pose and turn is not None and forward is not None and body.to_front(turn) @ forward < 0.0:
        warnings.append("bones that are named left are on the right side (seen from where toes and knees point)")
        factor = IN_DOUBT
    if "pelvis" not in parts:
        warnings.append("no bone was found for the hips: the path over the ground cannot be played")
    by_neighbours = BY_NEIGHBOURS if found.is_named else BY_SHAPE
    sure_of = dict.fromkeys(meant.values(), by_neighbours) | {joint: sure.get(part, by_neighbours) for part, joint in
                                                         parts.items()}
    is_whole = found.is_named or len({name[2:-1] for name in fingers}) == len(names.FINGERS)
    sure_of |= dict.fromkeys(fingers.values(), by_neighbours if is_whole else IN_DOUBT)
    if sure.get("head") == IN_DOUBT:
        sure_of |= {joint: IN_DOUBT for name, joint in meant.items() if name in _CERVICAL}
    certainties = np.zeros(len(skeleton))
    names_of: list[str | None] = [None] * len(skeleton)
    for name, joint in (meant | fingers).items():
        if names_of[joint] is None:
            names_of[joint], certainties[joint] = name, factor * sure_of[joint]
    return SkeletonMap(skeleton, tuple(names_of), tuple(certainties.tolist()), turn, tuple(warnings),
                       without=_absent(tree, parts))


def _doubled(skeleton: Skeleton, tree: Tree, doubles: tuple[tuple[str, int, int], ...]) -> list[str]:
    """Return warnings about parts with two possible joints, in brief for many, which are usually two bodies."""
    roots = {(tree.path_to_root(one)[-1], tree.path_to_root(other)[-1]) for _, one, other in doubles}
    if len(doubles) >= _BODIES and all(one != other for one, other in roots):
        first, second = (skeleton.names[root] for root in next(iter(roots)))
        return [f"it holds several bodies, as below {quoted(first)} and below {quoted(second)}: put each into a file, "
                "or an armature, of its own"]
    said = [f"two bones could be {part}: {quoted(skeleton.names[one])} and {quoted(skeleton.names[other])}"
            for part, one, other in doubles]
    more = [f"so it is with {len(said) - _BODIES} other parts"] if len(said) > _BODIES else []
    return said[:_BODIES] + more


def _absent(tree: Tree, parts: dict[str, int]) -> frozenset[str]:
    """Return the joints of H-Anim that an incomplete body lacks: those of legs or arms, unless it has other limbs.

    Without legs, the pelvis is missing too, unless a joint has its name.
    """
    limbs = [limb for limb in LIMBS if not any(f"{side}_{part}" in parts for side in "lr" for part in limb)]
    if not limbs or has_limbs_besides(tree, parts):
        return frozenset()
    rest = ("pelvis",) if "pelvis" not in parts and LIMBS[0] in limbs else ()
    return frozenset(JOINT_OF_PART[part] for limb in limbs for part in (
        *(f"{side}_{part}" for side in "lr" for part in limb), *rest))


def _fingers(tree: Tree, readings: list[names.Reading], parts: dict[str, int], is_named: bool) -> dict[str, int]:
    """Return the joints of both hands' fingers by name."""
    first, found = first_of_counted(readings), dict[str, int]()
    for side in "lr":
        if f"{side}_wrist" in parts:
            found |= fingers_of(tree, readings, side, parts[f"{side}_wrist"], first, is_named)
    return found


def _no_humanoid(skeleton: Skeleton, reason: str, may_stand: bool) -> SkeletonMap:
    return SkeletonMap(skeleton, (None,) * len(skeleton), (0.0,) * len(skeleton), None, (reason,), may_stand=may_stand)


def _set_pelvis(tree: Tree, readings: list[names.Reading], parts: dict[str, int], sure: dict[str, float]) -> None:
    """Make the lowest shared ancestor of legs and trunk the pelvis, unless a joint named pelvis is above it.

    In a body without legs, it is the joint named pelvis, or else the lowest joint of the trunk.
    """
    hips = [parts[part] for part in ("l_hip", "r_hip") if part in parts]
    named, chest = parts.get("pelvis"), _chest(tree, parts)
    top = chest if chest >= 0 else parts.get("head", -1)
    shared = tree.shared(hips) if len(hips) == 2 else -1
    if not hips and top >= 0:
        lowest = _lowest(tree, top)
        shared = named if named is not None else lowest if not readings[lowest].is_spine else -1
    if shared < 0:
        return
    if top >= 0 and top != shared and not tree.is_above(shared, top):  # the trunk is beside the legs' joint
        both = tree.shared((shared, top))
        shared = both if both >= 0 and not tree.is_above(top, shared) else shared
    above = int(tree.parents[shared])
    while above >= 0 and readings[shared].is_spine and readings[above].is_spine:
        shared, above = above, int(tree.parents[above])  # legs may be children of a spine's second joint
    if named == shared or (named is not None and tree.is_above(named, shared)
                           and (top < 0 or readings[shared].is_spine)):
        return
    if named is not None and not tree.is_above(shared, named):
        sure["pelvis"] = IN_DOUBT
    parts["pelvis"] = shared
    sure.setdefault("pelvis", BY_NEIGHBOURS)


def _lowest(tree: Tree, top: int) -> int:
    """Return the lowest joint of a trunk whose top is known; the step to a joint below it is longer than the trunk."""
    path = tree.path_to_root(top)
    steps = np.linalg.norm(np.diff(tree.positions[path], axis=0), axis=1)
    before = np.concatenate(((np.inf,), np.cumsum(steps)[:-1]))
    far = np.flatnonzero(steps > before)
    return path[far[0]] if len(far) else path[-1]


def _head(tree: Tree, readings: list[names.Reading], parts: dict[str, int]) -> int | None:
    """Return the last of the spine's joints above arms or hips; None if there is none, or if it is a neck."""
    chest = _chest(tree, parts)
    path = [chest if chest >= 0 else parts.get("pelvis", -1)]
    if path[0] < 0:
        return None
    while following := [child for child in tree.children[path[-1]] if not readings[child].side
                        and readings[child].word in ("spine", "neck") and not readings[child].is_helper]:
        path.append(following[0])
    return path[-1] if len(path) > 1 and readings[path[-1]].word == "spine" else None


def _chest(tree: Tree, parts: dict[str, int]) -> int:
    arms = [parts.get(f"{side}_clavicle", parts.get(f"{side}_shoulder")) for side in "lr"]
    tops = [joint for joint in arms if joint is not None]
    return tree.shared(tops) if len(tops) == 2 else -1


def _trunk(tree: Tree, readings: list[names.Reading], parts: dict[str, int]) -> dict[str, int]:
    """Return vertebrae by name: the joints between pelvis and arms, and between arms and head."""
    pelvis, head = parts.get("pelvis"), parts.get("head")
    chest = _chest(tree, parts)
    taken = set(parts.values())
    spine: list[int] = []
    if pelvis is not None and chest >= 0 and (tree.is_above(pelvis, chest)):
        spine = [joint for joint in (*tree.between(pelvis, chest), chest) if joint not in taken]
        spine = [joint for joint in spine if not readings[joint].is_helper] or spine
        if len(spine) > 1 and readings[spine[-1]].word == "neck":  # Biped's neck carries the arms as well
            spine.pop()
    elif pelvis is None and chest >= 0:  # a bust
        path = tree.path_to_root(chest)
        spine = path[:next((i for i, joint in enumerate(path) if not readings[joint].is_spine), len(path))][::-1]
    elif pelvis is not None and head is not None and chest < 0:
        spine = [joint for joint in tree.between(pelvis, head) if "neck" not in readings[joint].word]
    neck: list[int] = []
    if head is not None:
        below = spine[-1] if spine else chest if chest >= 0 else pelvis if pelvis is not None else -1
        neck = [joint for joint in tree.between(below, head) if joint not in taken] if below >= 0 else []
        neck = [joint for joint in neck if joint not in spine]
        neck = [joint for joint in neck if not readings[joint].is_helper] or [
            joint for joint in neck if readings[joint].word == "neck"]
    return _named(spine, _LUMBAR_TO_THORACIC) | _named(neck, _CERVICAL)


def _named(chain: list[int], vertebrae: tuple[str, ...]) -> dict[str, int]:
    """Assign vertebrae evenly to the joints of a chain, the lowest one first."""
    chain = chain[:len(vertebrae)]
    return {vertebrae[i * len(vertebrae) // len(chain)]: joint for i, joint in enumerate(chain)}
