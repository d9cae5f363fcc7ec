"""Matching: which joints of a clip's skeleton drive which joints of a character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...errors import SkeletonMismatchError, some_of
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons import hanim
from ...skeletons.maps import SURE, SkeletonMap
from ...skeletons.skeleton import Skeleton

SAME_POSITION: Final = 1e-4
"""Distance, as a share of the skeleton's size, within which two joints are in the same position."""

_UNSURE_SHOWN = 4
_SPINE: Final = frozenset(hanim.SPINE)


@dataclass(frozen=True, eq=False)
class Pairing:
    """P target joints and the source joints that they follow, in the target's order.

    target, source: (P,) joints. A target joint has the rotation of its source joint. With a share (P,) above 0, that
    rotation is interpolated towards the one of the source joint `other` (P,). So trunks with different numbers of
    joints distribute their bend. meant: P H-Anim roles, None for joints paired only by their own names.
    """

    target: IntArray
    source: IntArray
    other: IntArray
    share: FloatArray
    meant: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.target)

    def with_joints(self, joints: Mapping[int, int]) -> Pairing:
        """Return the pairing with more target joints. joints: by target joint, the pair whose source it follows.

        The added joints have no role.
        """
        same = np.concatenate((np.arange(len(self)), np.array(list(joints.values()), dtype=np.int64)))
        target = np.concatenate((self.target, np.array(list(joints), dtype=np.int64)))
        order = np.argsort(target)
        same, meant = same[order], (*self.meant, *[None] * len(joints))
        return Pairing(target[order], self.source[same], self.other[same], self.share[same],
                       tuple(meant[p] for p in order.tolist()))

    def at(self, chosen: BoolArray) -> Pairing:
        """Return chosen pairs (P,)."""
        meant = tuple(name for name, is_chosen in zip(self.meant, chosen.tolist(), strict=True) if is_chosen)
        return Pairing(self.target[chosen], self.source[chosen], self.other[chosen], self.share[chosen], meant)

    @classmethod
    def of(cls, rows: dict[int, tuple[int, int, float]], meant: Sequence[str | None]) -> Pairing:
        """Build it from rows. rows: by target joint, its source, other and share. meant: role by target joint."""
        joints = sorted(rows)
        source, other, share = zip(*(rows[t] for t in joints), strict=True) if rows else ((), (), ())
        return cls(np.array(joints, dtype=np.int64), np.array(source, dtype=np.int64),
                   np.array(other, dtype=np.int64), np.array(share, dtype=np.float64),
                   tuple(meant[t] for t in joints))


def pair(source: SkeletonMap, target: SkeletonMap, moved: BoolArray) -> Pairing:
    """Pair the joints of a clip's skeleton with those of a target.

    moved: (J,) source joints that the clip moves. If the target has all of these by name, in the same hierarchy, names
    decide. Otherwise both skeletons' maps decide. Then trunks and necks with different numbers of joints distribute
    their bend, and joints without role are paired by equal names. Without maps, equal names decide, or equal positions.
    Raises SkeletonMismatchError if a map is needed but unsure, or if no joints match.
    """
    by_name = _by_name(source.skeleton, target.skeleton)
    if _has_all(source.skeleton, target.skeleton, by_name, moved):
        return Pairing.of(by_name, _meanings(source, target, by_name))
    if source.is_humanoid and target.is_humanoid and source.is_sure and target.is_sure:
        return Pairing.of(*_by_meaning(source, target, by_name))
    rows = by_name or _by_position(source.skeleton, target.skeleton)
    for asked in (source, target):
        if not rows and asked.is_humanoid and not asked.is_sure:
            raise SkeletonMismatchError(_question(asked))
    if not rows:
        raise SkeletonMismatchError(f"have no joint in common{_why_none(source, target)}")
    return Pairing.of(rows, _meanings(source, target, rows))


def has_same_joints(source: Skeleton, target: Skeleton, moved: BoolArray) -> bool:
    """Return whether the target may be the clip's own skeleton, by names of joints that move, or by positions."""
    return _has_all(source, target, _by_name(source, target), moved) or bool(_by_position(source, target))


def _by_name(source: Skeleton, target: Skeleton) -> dict[int, tuple[int, int, float]]:
    return {t: (source.index_of[name], source.index_of[name], 0.0) for t, name in enumerate(target.names)
            if name in source.index_of}


def _has_all(source: Skeleton, target: Skeleton, by_name: dict[int, tuple[int, int, float]],
             moved: BoolArray) -> bool:
    """Return whether the target has all joints that move, with the same parents."""
    target_of = {s: t for t, (s, _, _) in by_name.items()}
    joints = np.flatnonzero(moved).tolist() or list(range(len(source)))
    for s in joints:
        above = int(source.parents[s])
        if s not in target_of or (above >= 0 and above not in target_of):
            return False
        if (above < 0) != (target.parents[target_of[s]] < 0) or (
                above >= 0 and target.parents[target_of[s]] != target_of[above]):
            return False
    return True


def _by_position(source: Skeleton, target: Skeleton) -> dict[int, tuple[int, int, float]]:
    """Pair a skeleton with a renamed copy of itself, which has the same hierarchy and positions, in any unit."""
    if len(source) != len(target) or not np.array_equal(source.parents, target.parents):
        return {}
    here, there = source.rest_world[:, :, 3], target.rest_world[:, :, 3]
    sizes = [float(np.linalg.norm(np.ptp(positions, axis=0))) for positions in (here, there)]
    if min(sizes) <= 0.0:
        return {}
    lengths = [np.linalg.norm(positions - positions[skeleton.parents], axis=1)[skeleton.parents >= 0] / size
               for positions, skeleton, size in ((here, source, sizes[0]), (there, target, sizes[1]))]
    same = np.abs(lengths[0] - lengths[1]).max(initial=0.0) <= SAME_POSITION
    return {j: (j, j, 0.0) for j in range(len(source))} if same else {}


def _meanings(source: SkeletonMap, target: SkeletonMap,
              rows: dict[int, tuple[int, int, float]]) -> list[str | None]:
    """Return the roles of the target's joints, or those of their sources."""
    meant: list[str | None] = list(target.meant) if target.is_sure else [None] * len(target.skeleton)
    if source.is_sure:
        for t, (s, _, _) in rows.items():
            meant[t] = meant[t] or source.meant[s]
    return meant


def _by_meaning(source: SkeletonMap, target: SkeletonMap, by_name: dict[int, tuple[int, int, float]],
                ) -> tuple[dict[int, tuple[int, int, float]], list[str | None]]:
    rows = {t: row for t, row in by_name.items() if source.meant[row[0]] is None and target.meant[t] is None}
    for t, name in enumerate(target.meant):
        if name is not None and name not in _SPINE and name in source.joint_of:
            rows[t] = (source.joint_of[name], source.joint_of[name], 0.0)
    lumbar, cervical = hanim.SPINE[:17], hanim.SPINE[17:]
    rows |= _shared_out(source, target, lumbar, hanim.ROOT, (*cervical, "skullbase"))
    rows |= _shared_out(source, target, cervical, _topmost(source, lumbar), ("skullbase",))
    return rows, list(target.meant)


def _topmost(skeleton_map: SkeletonMap, vertebrae: Sequence[str]) -> str:
    return next((name for name in reversed(vertebrae) if name in skeleton_map.joint_of), hanim.ROOT)


def _shared_out(source: SkeletonMap, target: SkeletonMap, vertebrae: Sequence[str], base: str,
                ends: Sequence[str]) -> dict[int, tuple[int, int, float]]:
    """Pair the joints of a chain: one by one if both have the same number, else by their shares of its length.

    A source joint's rotation holds at the middle of its bone. In between, and towards the joint below the chain, it is
    interpolated. The target's last joint has the rotation of the source's last, since arms and head descend from it.
    """
    of_source = [source.joint_of[name] for name in vertebrae if name in source.joint_of]
    of_target = [target.joint_of[name] for name in vertebrae if name in target.joint_of]
    head = source.joint_of.get("skullbase")
    if not of_target or (not of_source and (ends != ("skullbase",) or head is None)):
        return {}
    if len(of_source) == len(of_target):
        return {t: (s, s, 0.0) for t, s in zip(of_target, of_source, strict=True)}
    knots = _middles(source, of_source, ends).tolist()
    below = source.joint_of.get(base)
    if below is not None:
        of_source, knots = [below, *of_source], [0.0, *knots]
    if not knots[1:] and head is not None and ends == ("skullbase",):  # no neck in the source: between chest and head
        of_source, knots = [*of_source, head], [*knots, 1.0]
    middles = _middles(target, of_target, ends)
    rows = {}
    for t, middle in zip(of_target, middles.tolist(), strict=True):
        after = int(np.clip(np.searchsorted(knots, middle), 1, len(knots) - 1)) if len(knots) > 1 else 0
        a, b = of_source[max(after - 1, 0)], of_source[after]
        gap = knots[after] - knots[max(after - 1, 0)]
        share = float(np.clip((middle - knots[after - 1]) / gap, 0.0, 1.0)) if gap > 0.0 else 1.0
        rows[t] = (b, b, 0.0) if share >= 1.0 else (a, a, 0.0) if share <= 0.0 else (a, b, share)
    if of_source[-1] != head:
        rows[of_target[-1]] = (of_source[-1], of_source[-1], 0.0)
    return rows


def _middles(skeleton_map: SkeletonMap, chain: Sequence[int], ends: Sequence[str]) -> FloatArray:
    """Return the position along the chain, 0 to 1, of the middle of each joint's bone."""
    if not len(chain):
        return np.zeros(0)
    end = next((skeleton_map.joint_of[name] for name in ends if name in skeleton_map.joint_of), chain[-1])
    positions = skeleton_map.skeleton.rest_world[[*chain, end], :, 3]
    along = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(positions, axis=0), axis=1))))
    if along[-1] <= 0.0:
        return (np.arange(len(chain)) + 0.5) / len(chain)
    return np.asarray((along[:-1] + along[1:]) / 2.0 / along[-1])


def _why_none(source: SkeletonMap, target: SkeletonMap) -> str:
    """Return why no joints match, and what to do."""
    for one, who, others in ((target, "skeleton", "clips"), (source, "clip", "skeletons")):
        if not one.is_humanoid and not one.may_stand and (target if one is source else source).is_humanoid:
            return (f": the {who} has no legs or arms of two bones each. Use {others} with the same joint names, or "
                    "correct the skeleton map")
    return (f". The clip's joints: {some_of(source.skeleton.names)}. The skeleton's: "
            f"{some_of(target.skeleton.names)}. Give them the same names, or those of H-Anim, or correct "
            "the skeleton map")


def _question(asked: SkeletonMap) -> str:
    doubtful = [f"{joint} ({hanim.label(name)}?)" for joint, name, sure in
                zip(asked.skeleton.names, asked.meant, asked.certainties, strict=True) if name and sure < SURE]
    said = ["; ".join(asked.warnings) or "too few of its names and shapes are clear"]
    if asked.missing:
        said.append(f"not found: {', '.join(map(hanim.label, asked.missing))}")
    if doubtful:
        said.append(f"in doubt: {some_of(doubtful, _UNSURE_SHOWN)}")
    return (f"cannot be matched: the joints of {asked.skeleton.name!r} are recognised with {asked.certainty:.0%} "
            f"certainty, {SURE:.0%} are needed ({'; '.join(said)}). Correct and save the skeleton map")
