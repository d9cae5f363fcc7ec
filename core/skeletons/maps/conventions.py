"""Naming conventions as exact tables, which are used before the vocabulary of names.py.

Most conventions need no table: their words are in the vocabulary. A table is needed if words have another meaning than
usual, or if several bones have names of one part. Add a convention by one entry here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

_NONE: Final = "helper"
"""What the vocabulary knows as no part of the body."""


class Convention(NamedTuple):
    """A naming convention. words: the vocabulary's word for each bone's name, which has {} for the side.

    sides: how left and right are written. A skeleton follows the convention if it has all bones of `needs`.
    """

    label: str
    sides: tuple[str, str]
    words: Mapping[str, str]
    needs: tuple[str, ...]

    def table(self) -> dict[str, str]:
        """Return the names of both sides, each with its words in the vocabulary."""
        return {name.replace("{}", own): word.replace("{}", side) for name, word in self.words.items()
                for own, side in zip(self.sides, ("left", "right"), strict=True)}


CONVENTIONS: Final = (
    Convention("OpenSim", ("l", "r"), MappingProxyType({
        "pelvis": "hips", "torso": "spine", "femur_{}": "{} thigh", "tibia_{}": "{} shin", "talus_{}": "{} ankle",
        "calcn_{}": _NONE, "toes_{}": "{} toe", "humerus_{}": "{} upperarm", "ulna_{}": "{} forearm",
        "radius_{}": _NONE, "hand_{}": "{} hand"}), ("femur_{}", "talus_{}", "calcn_{}")),
)
"""In the order in which they are asked: the first that a skeleton follows."""


def in_known_words(names: Sequence[str]) -> list[str]:
    """Return the names of a skeleton's joints; names of a convention are translated into words of the vocabulary.

    >>> in_known_words(["femur_l", "femur_r", "talus_l", "talus_r", "calcn_l", "calcn_r", "hat"])
    ['left thigh', 'right thigh', 'left ankle', 'right ankle', 'helper', 'helper', 'hat']
    >>> in_known_words(["femur_l", "hat"])
    ['femur_l', 'hat']
    """
    there = set(names)
    for convention in CONVENTIONS:
        if all(need.replace("{}", side) in there for need in convention.needs for side in convention.sides):
            table = convention.table()
            return [table.get(name, name) for name in names]
    return list(names)
