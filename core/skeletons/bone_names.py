"""Bones' names as words; rigs agree on few words, and not at all on how to write them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name: str) -> list[str]:
    """Split a bone's name into lower-case words and numbers; wide letters and digits count as the usual ones.

    >>> words("IK-toe.L"), words("LeftHandFinger1"), words("b_Tail02_013")
    (['ik', 'toe', 'l'], ['left', 'hand', 'finger', '1'], ['b', 'tail', '02', '013'])
    """
    return [word.lower() for word in _WORD.findall(unicodedata.normalize("NFKC", name))]
