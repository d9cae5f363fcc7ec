"""Detect fingers by their names, or by their positions on the hand and their numbers of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from . import names
from .body import Tree

_IN_PALM: Final = 0.5
"""A finger's first joint is in the palm if it is nearer to the wrist than this share of the second one's distance."""
_THUMB_IS_NEAR: Final = 0.7
"""A thumb begins nearer to the wrist than this share of the distance to the other fingers' knuckles."""
_MOST: Final = 5


def fingers_of(tree: Tree, readings: Sequence[names.Reading], side: str, wrist: int, first_count: int,
               is_named: bool) -> dict[str, int]:
    """Return the joints of one hand's fingers by their names in H-Anim.

    first_count: the number of the first finger, if fingers are numbered. is_named: the rig's names have a meaning. Then
    joints without a finger's name are not fingers, unless position identifies all five.
    """
    chains: dict[str, list[int]] = {}
    below = tree.below(wrist)
    are_counted = all(readings[tree.parents[joint]].count in (-1, readings[joint].count) for joint in below
                      if not readings[joint].is_helper)
    for joint in below:
        reading = readings[joint]
        is_counted = reading.count >= 0 and are_counted  # else numbers count a finger's joints, as in KleinerFinger2
        finger = reading.finger or names.FINGERS[min(max(reading.count - first_count, 0), 4)] * is_counted
        if finger and reading.side in ("", side) and not reading.is_helper:
            chain = chains.setdefault(finger, [])
            if not chain or tree.is_above(chain[-1], joint):
                chain.append(joint)
    if len(chains) < _MOST:
        seen = _by_position(tree, readings, wrist)
        is_whole = len(seen) == _MOST and all(set(chain) <= set(seen[finger]) for finger, chain in chains.items())
        if is_whole or not (chains or is_named):
            chains = seen
    found: dict[str, int] = {}
    thumb = len(chains.get("thumb", ()))
    for finger, chain in chains.items():
        found |= _joints(tree, readings, side, wrist, finger, chain, is_longer=len(chain) > thumb > 2)
    return found


def first_of_counted(readings: Sequence[names.Reading]) -> int:
    """Return the number of the first finger if a rig numbers its fingers: 0, as in Biped, or 1."""
    return min((reading.count for reading in readings if reading.count >= 0 and not reading.is_helper), default=0)


def _joints(tree: Tree, readings: Sequence[names.Reading], side: str, wrist: int, finger: str, chain: list[int],
            is_longer: bool) -> dict[str, int]:
    """Return the joints of one finger. is_longer: it has more joints than a whole thumb, so one is in the palm."""
    if finger == "thumb":
        return {f"{side}_thumb{i}": joint for i, joint in enumerate(chain[:3], start=1)}
    above = int(tree.parents[chain[0]])
    is_in_palm = above != wrist and not readings[above].is_helper and sum(
        readings[child].finger != "thumb" for child in tree.children[above]) == 1
    if is_in_palm:  # the palm has a bone for this finger alone
        chain = [above, *chain]
    is_in_palm = is_in_palm or readings[chain[0]].link == 0 or (
        len(chain) >= 4 and (is_longer or _begins_in_palm(tree, wrist, chain)))
    first = 0 if is_in_palm else 1
    return {f"{side}_{finger}{i}": joint for i, joint in enumerate(chain[:4 - first], start=first)}


def _begins_in_palm(tree: Tree, wrist: int, chain: Sequence[int]) -> bool:
    distances = np.linalg.norm(tree.positions[list(chain[:2])] - tree.positions[wrist], axis=1)
    return bool(distances[0] < _IN_PALM * distances[1])


def _by_position(tree: Tree, readings: Sequence[names.Reading], wrist: int) -> dict[str, list[int]]:
    """Identify fingers by where they begin: the thumb nearest to the wrist, the others in their order beside it."""
    chains = [chain for child in tree.children[wrist] if not readings[child].is_helper
              and len(chain := tree.chain(child)) >= 2][:_MOST + 1]
    if not 2 <= len(chains) <= _MOST:
        return {}
    thumb = _thumb(tree, wrist, chains)
    if thumb is None:
        return {}
    others = [chain for chain in chains if chain is not thumb]
    beside = tree.positions[thumb[1]]
    knuckles = {id(chain): tree.positions[chain[1 if _begins_in_palm(tree, wrist, chain) else 0]] for chain in others}
    others.sort(key=lambda chain: float(np.linalg.norm(knuckles[id(chain)] - beside)))
    ends = len(thumb) > 3  # joints at the tips
    of = {"thumb": thumb} | dict(zip(names.FINGERS[1:] if len(others) > 1 else ("middle",), others, strict=False))
    return {finger: chain[:len(chain) - ends] for finger, chain in of.items()}


def _thumb(tree: Tree, wrist: int, chains: Sequence[list[int]]) -> list[int] | None:
    """Return the finger that has fewer joints than all others, or begins much nearer to the wrist; else None."""
    fewest = sorted(chains, key=len)
    if len(fewest[0]) < len(fewest[1]) and len(fewest[1]) == len(fewest[-1]):
        return fewest[0]
    away = {id(chain): float(np.linalg.norm(tree.positions[chain[0]] - tree.positions[wrist])) for chain in chains}
    nearest = sorted(chains, key=lambda chain: away[id(chain)])
    if away[id(nearest[0])] < _THUMB_IS_NEAR * away[id(nearest[1])]:
        return nearest[0]
    return None
