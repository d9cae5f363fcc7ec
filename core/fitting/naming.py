"""Names of the joints of a fitted skeleton: H-Anim's, and those of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

_FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky")

_MIXAMO: Final = {
    "HumanoidRoot": "Hips", "vl5": "Spine", "vl1": "Spine1", "vt6": "Spine2", "vc7": "Neck", "skullbase": "Head",
    "sternoclavicular": "Shoulder", "shoulder": "Arm", "elbow": "ForeArm", "wrist": "Hand", "hip": "UpLeg",
    "knee": "Leg", "ankle": "Foot", "metatarsal": "ToeBase"}
_UNREAL: Final = {
    "HumanoidRoot": "pelvis", "vl5": "spine_01", "vl1": "spine_02", "vt6": "spine_03", "vc7": "neck_01",
    "skullbase": "head", "sternoclavicular": "clavicle", "shoulder": "upperarm", "elbow": "lowerarm", "wrist": "hand",
    "hip": "thigh", "knee": "calf", "ankle": "foot", "metatarsal": "ball"}
_VRM: Final = {
    "HumanoidRoot": "hips", "vl5": "spine", "vl1": "chest", "vt6": "upperChest", "vc7": "neck", "skullbase": "head",
    "sternoclavicular": "Shoulder", "shoulder": "UpperArm", "elbow": "LowerArm", "wrist": "Hand", "hip": "UpperLeg",
    "knee": "LowerLeg", "ankle": "Foot", "metatarsal": "Toes"}
_RIGIFY: Final = {
    "HumanoidRoot": "spine", "vl5": "spine.001", "vl1": "spine.002", "vt6": "spine.003", "vc7": "spine.004",
    "skullbase": "spine.005", "sternoclavicular": "shoulder", "shoulder": "upper_arm", "elbow": "forearm",
    "wrist": "hand", "hip": "thigh", "knee": "shin", "ankle": "foot", "metatarsal": "toe"}


@dataclass(frozen=True)
class Naming:
    """A convention of names, as shown in the interface. name_of: returns the name of an H-Anim joint (version 1)."""

    label: str
    description: str
    name_of: Callable[[str], str]


def parted(joint: str) -> tuple[str, str, int]:
    """Return a joint's side ("l", "r" or ""), its part, and the number of its phalanx from 1, or 0 if not a finger.

    >>> parted("l_index2"), parted("vl5"), parted("r_thumb1")
    (('l', 'index', 2), ('', 'vl5', 0), ('r', 'thumb', 1))
    """
    side, part = (joint[0], joint[2:]) if joint[:2] in ("l_", "r_") else ("", joint)
    finger = part.rstrip("0123456789")
    return (side, finger, int(part[len(finger):])) if finger in _FINGERS else (side, part, 0)


def _mixamo(joint: str) -> str:
    side, part, phalanx = parted(joint)
    if not phalanx and part not in _MIXAMO:
        return joint  # not of a humanoid
    long = {"l": "Left", "r": "Right", "": ""}[side]
    return f"mixamorig:{long}Hand{part.title()}{phalanx}" if phalanx else f"mixamorig:{long}{_MIXAMO[part]}"


def _unreal(joint: str) -> str:
    side, part, phalanx = parted(joint)
    if not phalanx and part not in _UNREAL:
        return joint  # not of a humanoid
    name = f"{part}_0{phalanx}" if phalanx else _UNREAL[part]
    return f"{name}_{side}" if side else name


def _vrm(joint: str) -> str:
    side, part, phalanx = parted(joint)
    if not phalanx and part not in _VRM:
        return joint  # not of a humanoid
    long = {"l": "left", "r": "right", "": ""}[side]
    if not phalanx:
        return long + _VRM[part]
    steps = ("Metacarpal", "Proximal", "Distal") if part == "thumb" else ("Proximal", "Intermediate", "Distal")
    return long + {"pinky": "Little"}.get(part, part.title()) + steps[phalanx - 1]


def _rigify(joint: str) -> str:
    side, part, phalanx = parted(joint)
    if not phalanx and part not in _RIGIFY:
        return joint  # not of a humanoid
    name = f"{'' if part == 'thumb' else 'f_'}{part}.0{phalanx}" if phalanx else _RIGIFY[part]
    return f"{name}.{side.upper()}" if side else name


def _hanim(joint: str) -> str:
    return joint


NAMINGS: Final[Mapping[str, Naming]] = {
    "HANIM": Naming("H-Anim", "Names of ISO/IEC 19774, such as l_shoulder", _hanim),
    "MIXAMO": Naming("Mixamo", "Names of Mixamo's rigs, as mixamorig:LeftArm", _mixamo),
    "UNREAL": Naming("Unreal", "Names of Unreal Engine's mannequin, as upperarm_l", _unreal),
    "VRM": Naming("VRM", "Names of VRM's humanoid bones, as leftUpperArm", _vrm),
    "RIGIFY": Naming("Rigify Metarig", "Names of Rigify's human metarig, as upper_arm.L", _rigify),
}
"""By identifier, as the interface saves it."""

DEFAULT_NAMING: Final = "HANIM"
