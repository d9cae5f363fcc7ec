"""The joints of ISO/IEC 19774 (H-Anim): their hierarchy and names.

Names are those of version 1, which scores and clips use; names of version 2 (2019) and misprints met in files
are translated into them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray

UP: Final[FloatArray] = np.array((0.0, 1.0, 0.0))
"""Up in H-Anim's axes; bodies face +Z, and their left is +X."""
UP.setflags(write=False)
ROOT: Final = "HumanoidRoot"

_FINGERS: Final = ("index", "middle", "ring", "pinky")
_LUMBAR: Final = tuple(f"vl{i}" for i in range(5, 0, -1))
_THORACIC: Final = tuple(f"vt{i}" for i in range(12, 0, -1))
_CERVICAL: Final = tuple(f"vc{i}" for i in range(7, 0, -1))
SPINE: Final[tuple[str, ...]] = (*_LUMBAR, *_THORACIC, *_CERVICAL)
"""The movable spine from the pelvis up to the skull."""

LEG: Final[tuple[str, ...]] = ("hip", "knee", "ankle", "subtalar", "midtarsal", "metatarsal")
ARM: Final[tuple[str, ...]] = ("sternoclavicular", "acromioclavicular", "shoulder", "elbow", "wrist")


def _parents() -> dict[str, str | None]:
    parents: dict[str, str | None] = {ROOT: None, "sacroiliac": ROOT}

    def attach(chain: Iterable[str], below: str) -> None:
        for joint in chain:
            parents[joint] = below
            below = joint

    attach((*SPINE, "skullbase"), ROOT)
    for face in ("eyelid_joint", "eyeball_joint", "eyebrow_joint"):
        for side in "lr":
            parents[f"{side}_{face}"] = "skullbase"
    parents["temporomandibular"] = "skullbase"
    for side in "lr":
        attach((f"{side}_{joint}" for joint in LEG), "sacroiliac")
        attach((f"{side}_{joint}" for joint in ARM), "vt1")
        attach((f"{side}_thumb{i}" for i in range(1, 4)), f"{side}_wrist")
        for finger in _FINGERS:
            attach((f"{side}_{finger}{i}" for i in range(4)), f"{side}_wrist")
    return parents


PARENTS: Final[Mapping[str, str | None]] = MappingProxyType(_parents())
"""The parent of every standard joint, version 1 names; the root's is None. Parents come before children."""


def _version_2() -> dict[str, str]:
    """Return the version 1 name of each joint that version 2 renamed."""
    names = {"humanoid_root": ROOT, "temporomandibular": "temporomandibular"}
    for side in "lr":
        names |= {f"{side}_talocrural": f"{side}_ankle", f"{side}_radiocarpal": f"{side}_wrist",
                  f"{side}_talocalcaneonavicular": f"{side}_subtalar",
                  f"{side}_transversetarsal": f"{side}_midtarsal",
                  f"{side}_metatarsophalangeal_2": f"{side}_metatarsal"}
        for number, finger in enumerate(("thumb", *_FINGERS), start=1):
            first = 1 if finger == "thumb" else 0
            steps = (("carpometacarpal", "metacarpophalangeal", "carpal_interphalangeal") if finger == "thumb" else
                     ("carpometacarpal", "metacarpophalangeal", "carpal_proximal_interphalangeal",
                      "carpal_distal_interphalangeal"))
            names |= {f"{side}_{step}_{number}": f"{side}_{finger}{first + i}" for i, step in enumerate(steps)}
    return names


VERSION_2: Final[Mapping[str, str]] = MappingProxyType(_version_2())
"""The version 1 name of each joint that version 2 renamed."""

# Gustaitis et al. 2007 print vl5…vl1 as v15…v11, and make the face a child of "skull", which is a segment.
ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {"skull": "skullbase"} | {f"v1{i}": f"vl{i}" for i in range(1, 6)} | dict(VERSION_2))
"""Other names of standard joints, and the version 1 name of each."""

_BY_LOWER: Final = {name.lower(): name for name in PARENTS} | dict(ALIASES)


def canonical(name: str) -> str | None:
    """Return the version 1 name of a standard joint, or None; upper and lower case do not matter.

    >>> canonical("humanoid_root"), canonical("v15"), canonical("L_Shoulder"), canonical("Bip01")
    ('HumanoidRoot', 'vl5', 'l_shoulder', None)
    """
    return _BY_LOWER.get(name.lower())


def common_prefix(names: Iterable[str]) -> str:
    """Return the prefix of all of a skeleton's joints before their H-Anim names, or "" if there is none.

    A prefix ends in `_`, `:` or `.`, as in `hanim_l_hip` or `Jin:l_hip`. At least once, a standard joint must follow
    it: joints whose names only begin alike keep their names.

    >>> common_prefix(["hanim_HumanoidRoot", "hanim_l_hip", "hanim_x_tail"])
    'hanim_'
    >>> common_prefix(["l_hip", "l_knee"])
    ''
    """
    names = list(names)
    if not names or any(canonical(name) for name in names):
        return ""
    low, high = min(names), max(names)
    shared = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    ends = [i + 1 for i in range(shared) if low[i] in "_:."]
    for end in ends:
        if any(canonical(name[end:]) for name in names):
            return low[:end]
    return ""


def canonical_names(names: Iterable[str]) -> tuple[str | None, ...]:
    """Return the version 1 name of each joint of a skeleton, without the common prefix, or None for other joints.

    If two joints have the same standard name, only the first gets it.

    >>> canonical_names(["hanim_humanoid_root", "hanim_l_talocrural", "hanim_x_tail"])
    ('HumanoidRoot', 'l_ankle', None)
    """
    names = list(names)
    prefix = len(common_prefix(names))
    seen: set[str] = set()
    found: list[str | None] = []
    for name in names:
        meant = canonical(name[prefix:])
        found.append(None if meant in seen else meant)
        seen.add(meant or "")
    return tuple(found)


_BONES: Final = {
    "hip": "thigh", "knee": "shin", "ankle": "foot", "subtalar": "heel", "midtarsal": "instep", "metatarsal": "toes",
    "sternoclavicular": "collarbone", "acromioclavicular": "shoulder blade", "shoulder": "upper arm",
    "elbow": "forearm", "wrist": "hand", "thumb": "thumb", "index": "index finger", "middle": "middle finger",
    "ring": "ring finger", "pinky": "little finger", "eyelid": "eyelid", "eyeball": "eye", "eyebrow": "eyebrow"}
_MIDDLE: Final = {ROOT: "hips", "sacroiliac": "pelvis below the spine", "skullbase": "head", "temporomandibular": "jaw",
                  "vl": "lower back", "vt": "chest", "vc": "neck"}


def in_plain_words(joint: str) -> str:
    """Return the everyday name of the body part that a standard joint (version 1 name) moves.

    >>> in_plain_words("l_sternoclavicular"), in_plain_words("vt6"), in_plain_words("r_index0")
    ('left collarbone', 'chest', 'right index finger, in the palm')
    """
    if joint[:2] in ("l_", "r_"):
        side, part = joint[0], joint[2:].removesuffix("_joint")
        palm = ", in the palm" if part.endswith("0") else ""
        return f"{'left' if side == 'l' else 'right'} {_BONES[part.rstrip('0123456789')]}{palm}"
    return _MIDDLE.get(joint) or _MIDDLE[joint[:2]]


def label(joint: str) -> str:
    """Return a short, unique name of a standard joint (version 1 name) for lists.

    >>> label("l_shoulder"), label("r_index2"), label("vt6"), label("l_eyelid_joint"), label("r_ring0")
    ('Left Upper Arm', 'Right Index Finger 2', 'Chest T6', 'Left Eyelid', 'Right Ring Finger, Palm')
    """
    words, last = in_plain_words(joint), joint[-1]
    if joint[:2] in ("vl", "vt", "vc"):
        return f"{words.title()} {joint[1:].upper()}"
    if ", in the palm" in words:
        return words.replace(", in the palm", ", palm").title()
    return f"{words} {last}".title() if last.isdigit() else words.title().replace(" The ", " the ")
