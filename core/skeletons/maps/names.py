"""Read side, body part and number from the names of joints.

Rigs share a few words (left, thigh, 03), but write them in many ways. So names are split into words first, and looked
up afterwards. One vocabulary then reads Mixamo, Rigify, VRM, Unity, Unreal, Biped, MotionBuilder, CMU, MakeHuman, Daz
and most names that people choose. Parts of the body may be called in other languages (foreign.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..bone_names import words as words_of
from . import foreign

_SIDES: Final = {"l": "l", "left": "l", "lft": "l", "lf": "l", "lt": "l",
                 "r": "r", "right": "r", "rgt": "r", "rt": "r"} | foreign.SIDES
_NOISE_WORDS = """def jnt joint bone bind skin sk rig rigged char character b j c cc base mixamorig bip biped valve
    armature bend human humanoid f m n node actor"""
_HELPER_WORDS = """ik fk pole target control ctrl ctl twist roll helper mch org nub end leaf tip top site socket slot
    handle handslot weapon prop sheath tweak corrective muscle pec breast heel parent sec adj gun attach mount camera
    eff effector pv spline hose widget wgt vis master offset knuckle between cancel helper"""
_JAPANESE: Final = {
    "全ての親": "master", "操作中心": "control", "センター": "center", "グルーブ": "groove", "キャンセル": "cancel",
    "上半身": "upperbody", "下半身": "lowerbody", "腰": "hips", "つま先": "toe", "足首": "ankle", "手首": "wrist",
    "ひざ": "knee", "膝": "knee", "ひじ": "elbow", "肘": "elbow", "親指": "thumb", "人差し指": "index",
    "人差指": "index", "人指": "index", "中指": "middle", "薬指": "ring", "小指": "pinky", "拇指": "thumb",
    "食指": "index", "无名指": "ring", "無名指": "ring", "捩": "twist", "捻": "twist", "ねじり": "twist", "足": "thigh",
    "腕": "upperarm", "肩": "collar", "首": "neck", "頭": "head",
    "左": "left", "右": "right", "先": "tip", "目": "eye", "髪": "hair", "手": "hold", "親": "parent",
    "ダミー": "dummy", "調整": "adj"}
"""What Japanese names consist of, as written for MikuMikuDance; longer words come before their parts."""
_JAPANESE_WORD: Final = re.compile("|".join(_JAPANESE))
_JAPANESE_HELPERS: Final = frozenset(("d", "p", "c", "s", "ex"))
"""Letters that mark helpers beside a bone there: 左足D, 左肩P."""
_RUN_TOGETHER: Final = {"lu": "l upper", "ru": "r upper", "lf": "l fore", "rf": "r fore"}
_NOISE: Final = frozenset(_NOISE_WORDS.split())
_HELPER: Final = frozenset(_HELPER_WORDS.split())
_ANIMAL: Final = frozenset(("front", "back", "hind", "rear"))
_LEG: Final = frozenset(("leg", "foot", "paw", "hoof"))
FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky")
_FINGER_WORDS: Final = {word: finger for finger, words in {
    "thumb": "thumb daumen pouce pulgar pollice polegar duim tumme kciuk oyayubi",
    "index": """index indexfinger pointer zeigefinger indice indicador wijsvinger pekfinger wskazujacy ukazatelny
             hitosashiyubi""",
    "middle": """middle middlefinger mid fingers handfinger mittelfinger majeur dedomedio ditomedio middelvinger
              langfinger srodkowy nakayubi""",
    "ring": "ring ringfinger annulaire anular anulare anelar ringvinger serdeczny kusuriyubi",
    "pinky": """pinky pinkyfinger little littlefinger small kleinerfinger kleinfinger auriculaire petitdoigt menique
             mignolo mindinho lillfinger mizinets mizinec koyubi"""}.items() for word in words.split()}
"""Words for fingers in several languages, without accents."""
_ONLY_FINGER: Final = {"fore": "index", "third": "ring", "medio": "middle", "corazon": "middle",
                       "minimo": "pinky", "pink": "pinky"}
"""Words that mean a finger where they are a name's only word."""
_LINKS: Final = {"metacarpal": 0, "meta": 0, "inhand": 0, "proximal": 1, "prox": 1, "intermediate": 2, "med": 2,
                 "medial": 2, "distal": 3, "dist": 3}

# Words for each part, the clearest first: where two joints could be one part, the earlier word has it.
_PARTS: Final = {
    "pelvis": "pelvis hips hip cog center",
    "spine": "spine back lowerback chest torso abdomen waist stomach belly ribcage thorax upperchest upperbody "
             "upperback",
    "neck": "neck lowerneck upperneck",
    "head": "head skull",
    "clavicle": "clavicle clav collar collarbone scapula shoulder",
    "shoulder": "upperarm armupper uparm humerus shldr bicep arm shoulder",
    "elbow": "forearm lowerarm armlower lowarm ulna radius elbow arm",
    "wrist": "wrist hand palm",
    "hip": "thigh upleg upperleg legupper femur leg hip",
    "knee": "calf shin shank tibia lowerleg leglower lowleg knee leg",
    "ankle": "ankle foot",
    "toe": "toe toebase toes ball metatarsal metatarsals foot",
}
_RANK: Final = {(word, part): rank for part, words in _PARTS.items() for rank, word in enumerate(words.split())}
_KNOWN: Final = frozenset(word for word, _ in _RANK)
_AMBIGUOUS: Final = frozenset({"shoulder", "arm", "leg", "hip", "foot"})
_LIMBS: Final = frozenset({"arm", "leg"})
"""Words for a whole limb: beside another part's word they only say where that is, as in LLeg_Foot."""


@dataclass(frozen=True)
class Reading:
    """What the name of a joint says.

    side: "l", "r" or "". word: the body part as written in the name, joined and in lower case, or "".
    finger: one of FINGERS or "". count: the number of a numbered finger, from 0 or from 1, or −1.
    link: the index of the finger's joint, 0 for the metacarpal, −1 if the name does not say it.
    is_helper: it controls, ends or holds something.
    """

    side: str = ""
    word: str = ""
    finger: str = ""
    count: int = -1
    link: int = -1
    is_helper: bool = False

    @property
    def is_spine(self) -> bool:
        """Return whether the name is of a part of the trunk above the hips."""
        return (self.word, "spine") in _RANK and not self.is_helper


def read(name: str) -> Reading:
    """Read one name.

    >>> read("mixamorig:LeftForeArm").word, read("Bip01 L UpperArm").side, read("f_index.02.L").finger
    ('forearm', 'l', 'index')
    """
    words = _words(name)
    side, number = "", ""
    rest: list[str] = []
    for word in words:
        if word.isdigit():
            number = number or (word if rest else "")
        elif word in _SIDES and not side:
            side = _SIDES[word]
        elif word not in _NOISE and word not in _HELPER:
            rest.append(word)
    finger, link = _finger(rest)
    count = int(number[0]) if "finger" in rest and not finger and number[:1] in tuple("012345") else -1
    if not _ANIMAL.isdisjoint(rest) and not _LEG.isdisjoint(rest):  # one of four legs is no human's
        rest = []
    is_part = not finger and count < 0
    return Reading(side, _part_word(rest) if is_part else "", finger, count, link, not _HELPER.isdisjoint(words))


def is_helper(name: str) -> bool:
    """Return whether a name is of a helper: a control, an end bone or a holder.

    >>> is_helper("handslot.l"), is_helper("finger_01_l")
    (True, False)
    """
    return read(name).is_helper


def _words(name: str) -> list[str]:
    """Return the words of a name, Japanese ones in English, sides that run into others alone."""
    name = unicodedata.normalize("NFKC", name.rpartition(":")[2].rpartition("|")[2])
    english = _JAPANESE_WORD.sub(lambda found: f" {_JAPANESE[found[0]]} ", name)
    found = words_of(re.sub(r"(?i)\bbip\d*|mixamorig\d*|valvebiped", " ", english))
    if english != name and not _JAPANESE_HELPERS.isdisjoint(found):
        found.append("helper")
    return [word for i, word in enumerate(found) for word in _apart(word, found[i + 1:i + 2])]


def _apart(word: str, after: list[str]) -> list[str]:
    """Return a side and the rest of a word that begins with it, as in lthigh or LUArm."""
    if word in _RUN_TOGETHER and after in (["arm"], ["leg"]):
        return _RUN_TOGETHER[word].split()
    if word[:1] in ("l", "r") and (word[1:] in _KNOWN or word[1:] in _FINGER_WORDS) and word not in _KNOWN:
        return [word[0], word[1:]]
    return [word]


def _finger(words: Sequence[str]) -> tuple[str, int]:
    """Return which finger the words name, and which of its joints."""
    finger = next((_FINGER_WORDS[w] for w in words if w in _FINGER_WORDS), "")
    if len(words) == 1:
        finger = finger or _ONLY_FINGER.get(words[0], "")
    link = next((_LINKS[w] for w in words if w in _LINKS), -1)
    if not finger:
        joined = "".join(words)
        finger = next((f for w, f in _FINGER_WORDS.items() if joined in (w, "hand" + w)), "")
    if words[:2] in (["in", "hand"], ["middle", "hand"]):
        link = 0
    return finger, link


def _part_word(words: Sequence[str]) -> str:
    """Return the longest run of words that together name a part of the body, in English."""
    for length in range(len(words), 0, -1):
        runs = ["".join(words[start:start + length]) for start in range(len(words) - length + 1)]
        known = [run for run in runs if run in _KNOWN]
        if known:
            return next((run for run in known if run not in _LIMBS), known[0])
        translated = [foreign.PARTS[run] for run in runs if run in foreign.PARTS]
        if translated:
            return next((word for word in translated if word not in _LIMBS), translated[0])
    return ""


def parts_of(readings: Sequence[Reading]) -> list[dict[str, int]]:
    """Return the parts that each joint may be, with a rank: 0 for the clearest word.

    Some words mean different joints in different rigs: a shoulder is a collarbone next to an arm, but the upper arm
    next to a collar or above an elbow. The other words of the rig decide.
    """
    words = {reading.word for reading in readings if not reading.is_helper and reading.side}
    has = {part: any((word, part) in _RANK and word not in _AMBIGUOUS for word in words) for part in _PARTS}
    found = []
    for reading in readings:
        parts: dict[str, int] = {}
        if reading.word and not reading.is_helper:
            parts = {part: _RANK[reading.word, part] for part in _PARTS if (reading.word, part) in _RANK
                     and _fits(part, reading, words, has)}
        found.append(parts)
    return found


def _fits(part: str, reading: Reading, words: set[str], has: dict[str, bool]) -> bool:
    word, sided = reading.word, bool(reading.side)
    if part in ("pelvis", "spine", "neck", "head"):
        return not sided
    if not sided:
        return False
    if word == "shoulder":
        is_collar = has["shoulder"] or ("arm" in words and not has["clavicle"])
        return part == ("clavicle" if is_collar else "shoulder")
    if word == "arm":
        return has["shoulder"] == has["elbow"] or part == ("elbow" if has["shoulder"] else "shoulder")
    if word == "leg":
        has_hip = has["hip"] or "hip" in words
        return has_hip == has["knee"] or part == ("knee" if has_hip else "hip")
    if word == "hip":
        return part == "hip"
    if word == "foot":
        return part == ("toe" if "ankle" in words and not has["toe"] else "ankle")
    return True
