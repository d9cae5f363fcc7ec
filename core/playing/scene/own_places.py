"""Hands that reach for places on the character's own body, such as its mouth."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import Problem, quoted
from ...skeletons.hierarchy import is_descendant
from .aim import TimedAim
from .cast import OwnPlace
from .reach import Reaching


def without_own_arms(aims: Sequence[TimedAim],
                     arms: dict[str, Reaching]) -> tuple[tuple[TimedAim, ...], tuple[Problem, ...]]:
    """Return aims without those of a hand for something on its own arm, and problems with these. arms: by side."""
    found, said = list[TimedAim](), list[Problem]()
    for aim in aims:
        if not isinstance(aim.target, OwnPlace) or aim.hand not in arms:
            found.append(aim)
            continue
        skeleton, first = arms[aim.hand].body.skeleton, arms[aim.hand].limb.first
        joint = skeleton.index_of.get(aim.target.joint)
        if joint is None or joint == first or is_descendant(skeleton.parents, joint, first):
            why = ("hangs on a bone that does not move with the score" if joint is None else
                   "is on the arm that reaches for it")
            said.append(Problem(f"<reach> {quoted(aim.role)} {why}: let it hang on the head or the trunk, for example",
                                aim.place, is_warning=True))
        else:
            found.append(aim)
    return tuple(found), tuple(said)
