"""What the names of bones tell by riggers' conventions: whether a bone moves skin or steers others, and its side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, IntArray
from ..skeletons.bone_names import words

_CONTROL_WORDS: Final = frozenset(("ik", "pole", "target", "control", "ctrl", "ctl", "helper", "tracker", "orient"))
_MARKER_WORDS: Final = frozenset(("slot", "socket", "end", "nub", "null", "empty", "dummy", "locator"))
_CONTROL_ENDINGS: Final = ("ik", "orient", "control", "ctrl")
_MARKER_ENDINGS: Final = ("slot",)
"""Words of bone names that say: this moves other bones; this holds props or marks an end. Neither moves skin."""

_TIP_WORDS: Final = frozenset(("tip", "stub"))
_EYE_WORDS: Final = frozenset(("eye", "eyes", "eyeball", "eyeballs", "pupil", "iris", "auge", "oeil", "ojo"))
_EYE_ENDINGS: Final = ("eye", "eyes")
_ROOT_WORDS: Final = frozenset(("root", "master", "global", "world", "origin", "armature", "reference"))
_ROOT_ENDING: Final = "root"

_DEFORM_WORDS: Final = frozenset(("def", "deform", "deformer", "bind", "bnd", "skin", "jnt", "jt"))
_ORIGINAL_WORDS: Final = frozenset(("org",))
_MECHANISM_WORDS: Final = _CONTROL_WORDS | _MARKER_WORDS | frozenset((
    "mch", "drv", "driver", "fk", "tweak", "wgt", "widget", "vis", "tgt", "con", "offset", "proxy", "gizmo", "parent",
    "master"))
"""The conventions of Rigify, of studios that put joints beside controls, and of exporters that keep them."""

MECHANISM, ORIGINAL, UNMARKED, DEFORM = range(4)
"""Claims to skin, from the weakest: a bone of a rig's mechanism, the skeleton that it was made from (ORG-), a bone
whose name says neither, one that is said to deform."""

_SIDES: Final = {"l": "r", "left": "right", "lft": "rgt", "lf": "rt", "izq": "der", "sx": "dx"}
_OTHER_SIDE: Final = _SIDES | {right: left for left, right in _SIDES.items()}
_SIDE_SIGNS: Final = str.maketrans("左右", "右左")


def steering_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone moves no skin.

    >>> steering_names(["kneeIK.l", "knee.l", "Head_end", "handslot.r"]).tolist()
    [True, False, True, True]
    """
    return control_names(names) | marker_names(names)


def control_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone moves others.

    >>> control_names(["kneeIK.l", "Head_end"]).tolist()
    [True, False]
    """
    return _with_words(names, _CONTROL_WORDS, _CONTROL_ENDINGS)


def marker_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone marks an end, or where a prop is held.

    >>> marker_names(["kneeIK.l", "Head_end"]).tolist()
    [False, True]
    """
    return _with_words(names, _MARKER_WORDS, _MARKER_ENDINGS)


def ending_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone only marks an end; where a hierarchy is known, some of them move skin.

    >>> ending_names(["thumb-tip", "thumb"]).tolist()
    [True, False]
    """
    return _with_words(names, _TIP_WORDS)


def eye_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone is an eye.

    >>> eye_names(["eye.L", "RightEye", "L-DeadEye", "eyelid.L", "eyebrow"]).tolist()
    [True, True, True, False, False]
    """
    return _with_words(names, _EYE_WORDS, _EYE_ENDINGS)


def root_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) are those of a rig's root.

    >>> root_names(["Root", "neckroot"]).tolist()
    [True, False]
    """
    return _with_words(names, _ROOT_WORDS)


def carrier_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone is the root of a joint or of the rig.

    >>> carrier_names(["Root", "Armature", "neckroot", "neck"]).tolist()
    [True, True, True, False]
    """
    return _with_words(names, _ROOT_WORDS, (_ROOT_ENDING,))


def claims(names: Sequence[str]) -> IntArray:
    """Return the claim to skin (B,) that riggers' conventions give to these names, MECHANISM … DEFORM.

    >>> claims(["DEF-arm.L", "arm.L", "ORG-arm.L", "MCH-arm.L", "arm_fk.L", "arm_jnt"]).tolist()
    [3, 2, 1, 0, 0, 3]
    """
    found = np.full(len(names), UNMARKED)
    for bone, name in enumerate(names):
        own = set(words(name))
        if own & _DEFORM_WORDS:
            found[bone] = DEFORM
        elif own & _MECHANISM_WORDS:
            found[bone] = MECHANISM
        elif own & _ORIGINAL_WORDS:
            found[bone] = ORIGINAL
    return found


def named_partners(names: Sequence[str]) -> IntArray:
    """Return for each bone the one of the same name on the other side, (B,), −1 where there is none.

    >>> named_partners(["arm.L", "arm.R", "LeftLeg", "RightLeg", "spine", "左足", "右足", "l_only"]).tolist()
    [1, 0, 3, 2, -1, 6, 5, -1]
    """
    numbers = {_key(name): bone for bone, name in enumerate(names)}
    return np.array([numbers.get(other, -1) if (other := _other_side(name)) != _key(name) else -1 for name in names],
                    dtype=np.int64)


def _with_words(names: Sequence[str], whole: frozenset[str], endings: tuple[str, ...] = ()) -> BoolArray:
    """Return which names (B,) have one of these words, or one with one of these endings."""
    return np.array([any(word in whole or word.endswith(endings) for word in words(name)) for name in names],
                    dtype=np.bool_)


def _key(name: str) -> tuple[str, ...]:
    return (*words(name), "".join(sign for sign in name if not sign.isascii()))


def _other_side(name: str) -> tuple[str, ...]:
    *own, signs = _key(name.translate(_SIDE_SIGNS))
    return (*(_OTHER_SIDE.get(word, word) for word in own), signs)
