"""Split bone names into words: rigs share few words, and write them in many ways."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ACCENT: Final = re.compile("[\u0300-\u036f]")
_LETTERS: Final = str.maketrans({"ß": "ss", "ẞ": "SS"})
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name: str) -> list[str]:
    """Split a bone's name into lower-case words and numbers; accents and full-width characters make no difference.

    >>> words("IK-toe.L"), words("LeftHandFinger1"), words("b_Índice02_013")
    (['ik', 'toe', 'l'], ['left', 'hand', 'finger', '1'], ['b', 'indice', '02', '013'])
    """
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", name.translate(_LETTERS)))
    return [word.lower() for word in _WORD.findall(plain)]
