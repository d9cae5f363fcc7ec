"""What is odd about a rig as a whole, for the user's attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..skeletons.bone_names import words
from .conventions import claims, control_names, marker_names
from .input import BindInput

_NO_LENGTH: Final = 1e-4
"""Share of the skeleton's size; smaller lengths count as 0."""

_FEWEST: Final = 3
"""The least number of bones for which equal names are odd."""


@dataclass(frozen=True)
class RigOddities:
    """What is odd about a rig.

    only_controls: whether all names say that the bones steer others or mark ends. alike: whether all names are the same
    except for numbers, and the bones are no single chain (in a chain, names need no sides). without_length: names of
    bones whose ends coincide.
    """

    only_controls: bool = False
    alike: bool = False
    without_length: tuple[str, ...] = ()


def find_oddities(body: BindInput) -> RigOddities:
    """Find what is odd about the bones of a body.

    >>> body = BindInput.from_arrays([[0, 0, 0]], [], ["Bone", "Bone.001", "Bone.002"], [-1, 0, 1],
    ...                              [[0, 0, 0], [0, 0, 1], [0, 0, 2]], [[0, 0, 1], [0, 0, 1], [0, 0, 3]])
    >>> from dataclasses import replace
    >>> find_oddities(body)
    RigOddities(only_controls=False, alike=False, without_length=('Bone.001',))
    >>> find_oddities(replace(body, bone_parents=np.array([-1, 0, 0]))).alike
    True
    """
    names = body.bone_names
    steer = control_names(names) | marker_names(names) | (claims(names) == 0)
    plain = {tuple(word for word in words(name) if not word.isdigit()) for name in names}
    ends = np.concatenate((body.heads, body.tails))
    short = np.linalg.norm(body.tails - body.heads, axis=1) <= _NO_LENGTH * np.linalg.norm(np.ptp(ends, axis=0))
    branches = len(np.unique(body.bone_parents)) < len(names)
    return RigOddities(bool(steer.all()), len(names) >= _FEWEST and len(plain) == 1 and branches,
                       tuple(names[bone] for bone in np.flatnonzero(short)))
