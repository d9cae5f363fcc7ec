"""Skeletons as people have them: real ones by their names and places, and the sample's body under other names."""

from collections.abc import Mapping
from functools import cache
from itertools import product

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import real_file

FINGERS = ("thumb", "index", "middle", "ring", "pinky")


def with_model_axes(clip: Clip) -> Clip:
    """Return a clip as BVH can hold it."""
    return retarget(clip, clip.skeleton.with_model_axes()).clip


@cache
def real(name: str) -> Skeleton:
    """Return the skeleton of one of the bound characters in the data."""
    arrays = np.load(real_file("bind", f"{name}.npz"))
    names, parents = [str(n) for n in arrays["bone_names"]], arrays["bone_parents"].astype(np.int64)
    return standing_at(names, parents, arrays["bone_heads"].astype(np.float64), name)


def standing_at(names: list[str], parents: IntArray, places: FloatArray, name: str = "") -> Skeleton:
    offsets = np.where(parents[:, None] >= 0, places - places[parents], places)
    return Skeleton.from_arrays(names, parents, rot.identities(len(names)), offsets, name=name)


def worn(names: Mapping[str, str], name: str = "") -> Skeleton:
    """Return the sample's skeleton with only some joints, by the names that they have in another rig."""
    body = build_skeleton()
    kept = [joint for joint in body.names if joint in names]
    parents = []
    for joint in kept:
        above = int(body.parents[body.index_of[joint]])
        while above >= 0 and body.names[above] not in names:
            above = int(body.parents[above])
        parents.append(kept.index(body.names[above]) if above >= 0 else -1)
    places = body.rest_world[[body.index_of[joint] for joint in kept], :, 3]
    return standing_at([names[joint] for joint in kept], np.array(parents), places, name)


def both(left: str, right: str, trunk: Mapping[str, str], limbs: str, finger: str = "",
         fingers: tuple[str, ...] = FINGERS, links: tuple[str, ...] = ("1", "2", "3")) -> dict[str, str]:
    """Return H-Anim joint → name. limbs: names in the order of LIMBS with {} for the side, - for none."""
    names = dict(trunk)
    for (side, word), (joint, pattern) in product((("l", left), ("r", right)), zip(LIMBS, limbs.split(), strict=True)):
        if pattern != "-":
            names[f"{side}_{joint}"] = pattern.replace("{}", word).replace("~", " ")
    if finger:
        for (side, word), (joint, said), (i, link) in product((("l", left), ("r", right)),
                                                              zip(FINGERS, fingers, strict=True),
                                                              enumerate(links, start=1)):
            names[f"{side}_{joint}{i}"] = finger.replace("{}", word).replace("FINGER", said).replace("LINK", link)
    return names


LIMBS = ("hip", "knee", "ankle", "metatarsal", "sternoclavicular", "shoulder", "elbow", "wrist")


def trunk(*names: str) -> dict[str, str]:
    """Return H-Anim joint → name: pelvis, spine, neck (as many as there are between), head."""
    spine = {3: ("vl5", "vt10", "vt3"), 2: ("vl5", "vt6"), 1: ("vl5",), 4: ("vl5", "vl1", "vt10", "vt3")}
    middle = names[1:-2]
    return {"HumanoidRoot": names[0], **dict(zip(spine[len(middle)], middle, strict=True)), "vc7": names[-2],
            "skullbase": names[-1]}


RIGS: dict[str, dict[str, str]] = {
    "Mixamo": both("Left", "Right", trunk("mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2",
                                          "mixamorig:Neck", "mixamorig:Head"),
                   "mixamorig:{}UpLeg mixamorig:{}Leg mixamorig:{}Foot mixamorig:{}ToeBase mixamorig:{}Shoulder "
                   "mixamorig:{}Arm mixamorig:{}ForeArm mixamorig:{}Hand", "mixamorig:{}HandFINGERLINK",
                   ("Thumb", "Index", "Middle", "Ring", "Pinky")),
    "Mixamo, as glTF renames it": both("Left", "Right", trunk("mixamorig_Hips", "mixamorig_Spine", "mixamorig_Neck",
                                                              "mixamorig_Head"),
                                       "mixamorig_{}UpLeg mixamorig_{}Leg mixamorig_{}Foot mixamorig_{}ToeBase "
                                       "mixamorig_{}Shoulder mixamorig_{}Arm mixamorig_{}ForeArm mixamorig_{}Hand"),
    "MotionBuilder": both("Left", "Right", trunk("Hips", "Spine", "Spine1", "Neck", "Head"),
                          "{}UpLeg {}Leg {}Foot {}ToeBase {}Shoulder {}Arm {}ForeArm {}Hand", "{}HandFINGERLINK",
                          ("Thumb", "Index", "Middle", "Ring", "Pinky")),
    "Rigify's metarig": both("L", "R", trunk("spine", "spine.001", "spine.002", "spine.003", "spine.004", "spine.006"),
                             "thigh.{} shin.{} foot.{} toe.{} shoulder.{} upper_arm.{} forearm.{} hand.{}",
                             "FINGER.0LINK.{}", ("thumb", "f_index", "f_middle", "f_ring", "f_pinky")),
    "Rigify, generated": both("L", "R", trunk("DEF-spine", "DEF-spine.001", "DEF-spine.002", "DEF-spine.003",
                                              "DEF-spine.004", "DEF-spine.006"),
                              "DEF-thigh.{} DEF-shin.{} DEF-foot.{} DEF-toe.{} DEF-shoulder.{} DEF-upper_arm.{} "
                              "DEF-forearm.{} DEF-hand.{}", "DEF-FINGER.0LINK.{}",
                              ("thumb", "f_index", "f_middle", "f_ring", "f_pinky")),
    "VRoid": both("L", "R", trunk("J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest",
                                  "J_Bip_C_Neck", "J_Bip_C_Head"),
                  "J_Bip_{}_UpperLeg J_Bip_{}_LowerLeg J_Bip_{}_Foot J_Bip_{}_ToeBase J_Bip_{}_Shoulder "
                  "J_Bip_{}_UpperArm J_Bip_{}_LowerArm J_Bip_{}_Hand", "J_Bip_{}_FINGERLINK",
                  ("Thumb", "Index", "Middle", "Ring", "Little")),
    "Unity's humanoid": both("Left", "Right", trunk("Hips", "Spine", "Chest", "UpperChest", "Neck", "Head"),
                             "{}UpperLeg {}LowerLeg {}Foot {}Toes {}Shoulder {}UpperArm {}LowerArm {}Hand",
                             "{}FINGERLINK", ("Thumb", "Index", "Middle", "Ring", "Little"),
                             ("Proximal", "Intermediate", "Distal")),
    "VRM": both("left", "right", trunk("hips", "spine", "chest", "neck", "head"),
                "{}UpperLeg {}LowerLeg {}Foot {}Toes {}Shoulder {}UpperArm {}LowerArm {}Hand"),
    "Unreal's mannequin": both("l", "r", trunk("pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head"),
                               "thigh_{} calf_{} foot_{} ball_{} clavicle_{} upperarm_{} lowerarm_{} hand_{}",
                               "FINGER_0LINK_{}"),
    "3ds Max Biped": both("L", "R", trunk("Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Spine2", "Bip01 Neck",
                                          "Bip01 Head"),
                          "Bip01~{}~Thigh Bip01~{}~Calf Bip01~{}~Foot Bip01~{}~Toe0 Bip01~{}~Clavicle "
                          "Bip01~{}~UpperArm Bip01~{}~Forearm Bip01~{}~Hand", "Bip01 {} FingerFINGERLINK",
                          ("0", "1", "2", "3", "4"), ("", "1", "2")),
    "Biovision's joints": both("Left", "Right", trunk("Hips", "Chest", "Neck", "Head"),
                               "{}Hip {}Knee {}Ankle {}Toe {}Collar {}Shoulder {}Elbow {}Wrist"),
    "Poser's joints": both("l", "r", trunk("hip", "abdomen", "chest", "neck", "head"),
                           "{}Thigh {}Shin {}Foot - {}Collar {}Shldr {}ForeArm {}Hand"),
    "Daz": both("l", "r", trunk("hip", "abdomenLower", "abdomenUpper", "chestLower", "chestUpper", "neckLower", "head"),
                "{}ThighBend {}Shin {}Foot {}Toe {}Collar {}ShldrBend {}ForearmBend {}Hand"),
    "SMPL": both("L", "R", trunk("Pelvis", "Spine1", "Spine2", "Spine3", "Neck", "Head"),
                 "{}_Hip {}_Knee {}_Ankle {}_Foot {}_Collar {}_Shoulder {}_Elbow {}_Wrist"),
    "Character Creator": both("L", "R", trunk("CC_Base_Hip", "CC_Base_Waist", "CC_Base_Spine01", "CC_Base_Spine02",
                                              "CC_Base_NeckTwist01", "CC_Base_Head"),
                              "CC_Base_{}_Thigh CC_Base_{}_Calf CC_Base_{}_Foot CC_Base_{}_ToeBase CC_Base_{}_Clavicle "
                              "CC_Base_{}_Upperarm CC_Base_{}_Forearm CC_Base_{}_Hand"),
    "Xsens": both("Left", "Right", trunk("Pelvis", "L5", "L3", "T12", "T8", "Neck", "Head"),
                  "{}UpperLeg {}LowerLeg {}Foot {}Toe {}Shoulder {}UpperArm {}ForeArm {}Hand"),
    "by hand, no collarbones": both("_L", "_R", trunk("Root", "Body", "neck", "head"),
                                    "Leg.upper{} Leg.lower{} Foot{} - - Arm.upper{} Arm.lower{} Hand{}"),
}
"""For each rig what its joints are called: H-Anim joint → name. Of the trunk's joints only the order counts."""

PARTS = ("Left", "Right")
NAMED = ("Thumb", "Index", "Middle", "Ring", "Pinky")
MORE_RIGS: dict[str, dict[str, str]] = {
    "MMD": both("左", "右", trunk("センター", "上半身", "上半身2", "首", "頭"),
                "{}足 {}ひざ {}足首 {}つま先 {}肩 {}腕 {}ひじ {}手首", "{}FINGER指LINK",
                ("親", "人", "中", "薬", "小"), ("1", "2", "3")),
    "MMD, wide digits": both("左", "右", trunk("センター", "上半身", "上半身２", "首", "頭"),
                             "{}足 {}ひざ {}足首 {}つま先 {}肩 {}腕 {}ひじ {}手首", "{}FINGER指LINK",
                             ("親", "人", "中", "薬", "小"), ("１", "２", "３")),
    "MMD, as Blender's add-on renames it": both("L", "R", trunk("センター", "上半身", "上半身2", "首", "頭"),
                                                "足.{} ひざ.{} 足首.{} つま先.{} 肩.{} 腕.{} ひじ.{} 手首.{}",
                                                "FINGER指LINK.{}", ("親", "人", "中", "薬", "小")),
    "MMD in English": both("_L", "_R", trunk("center", "upper body", "upper body2", "neck", "head"),
                           "leg{} knee{} ankle{} toe{} shoulder{} arm{} elbow{} wrist{}", "FINGERLINK{}",
                           ("thumb", "fore", "middle", "third", "little")),
    "Valve": both("L", "R", trunk("ValveBiped.Bip01_Pelvis", "ValveBiped.Bip01_Spine", "ValveBiped.Bip01_Spine1",
                                  "ValveBiped.Bip01_Spine2", "ValveBiped.Bip01_Neck1", "ValveBiped.Bip01_Head1"),
                  "ValveBiped.Bip01_{}_Thigh ValveBiped.Bip01_{}_Calf ValveBiped.Bip01_{}_Foot "
                  "ValveBiped.Bip01_{}_Toe0 ValveBiped.Bip01_{}_Clavicle ValveBiped.Bip01_{}_UpperArm "
                  "ValveBiped.Bip01_{}_Forearm ValveBiped.Bip01_{}_Hand", "ValveBiped.Bip01_{}_FingerFINGERLINK",
                  ("0", "1", "2", "3", "4"), ("", "1", "2")),
    "fingers counted from one": both("Left", "Right", trunk("Hips", "Spine", "Spine1", "Neck", "Head"),
                                     "{}UpLeg {}Leg {}Foot {}ToeBase {}Shoulder {}Arm {}ForeArm {}Hand",
                                     "{}FINGER_LINK", ("Finger1", "Finger2", "Finger3", "Finger4", "Finger5")),
    "ASF": both("l", "r", trunk("root", "lowerback", "upperback", "thorax", "lowerneck", "head"),
                "{}femur {}tibia {}foot {}toes {}clavicle {}humerus {}radius {}hand"),
    "sides run into words": both("L", "R", trunk("Hip", "Spine", "Chest", "Neck", "Head"),
                                 "{}thigh {}shin {}foot {}toe {}collar {}upperarm {}forearm {}hand"),
    "OptiTrack": both("L", "R", trunk("Hip", "Ab", "Chest", "Neck", "Head"),
                      "{}Thigh {}Shin {}Foot {}Toe {}Shoulder {}UArm {}FArm {}Hand", "{}FINGERLINK", NAMED),
    "Perception Neuron": both(*PARTS, trunk("Robot_Hips", "Robot_Spine", "Robot_Spine1", "Robot_Spine2",
                                            "Robot_Neck", "Robot_Head"),
                              "Robot_{}UpLeg Robot_{}Leg Robot_{}Foot - Robot_{}Shoulder Robot_{}Arm Robot_{}ForeArm "
                              "Robot_{}Hand", "Robot_{}HandFINGERLINK", NAMED),
    "Kinect": both(*PARTS, trunk("SpineBase", "SpineMid", "SpineShoulder", "Neck", "Head"),
                   "Hip{} Knee{} Ankle{} Foot{} - Shoulder{} Elbow{} Wrist{}"),
    "Advanced Skeleton": both("L", "R", trunk("Root_M", "Spine1_M", "Spine2_M", "Chest_M", "Neck_M", "Head_M"),
                              "Hip_{} Knee_{} Ankle_{} Toes_{} Scapula_{} Shoulder_{} Elbow_{} Wrist_{}",
                              "FINGERFingerLINK_{}", NAMED),
    "ARKit": both("left", "right", trunk("hips_joint", "spine_1_joint", "spine_2_joint", "spine_3_joint",
                                         "neck_1_joint", "head_joint"),
                  "{}_upLeg_joint {}_leg_joint {}_foot_joint {}_toes_joint {}_shoulder_1_joint {}_arm_joint "
                  "{}_forearm_joint {}_hand_joint"),
    "Second Life": both(*PARTS, trunk("mPelvis", "mTorso", "mChest", "mNeck", "mHead"),
                        "mHip{} mKnee{} mAnkle{} mToe{} mCollar{} mShoulder{} mElbow{} mWrist{}",
                        "mHandFINGERLINK{}", NAMED),
    "Auto-Rig Pro": both("l", "r", trunk("root.x", "spine_01.x", "spine_02.x", "neck.x", "head.x"),
                         "thigh_stretch.{} leg_stretch.{} foot.{} toes_01.{} shoulder.{} arm_stretch.{} "
                         "forearm_stretch.{} hand.{}", "FINGERLINK.{}"),
    "Roblox's R15": both(*PARTS, trunk("LowerTorso", "UpperTorso", "Neck", "Head"),
                         "{}UpperLeg {}LowerLeg {}Foot - - {}UpperArm {}LowerArm {}Hand"),
}
"""Further ones, of which some write neither words nor fingers as others do."""

LANGUAGES: dict[str, dict[str, str]] = {
    "German": both("L", "R", trunk("Becken", "Wirbelsäule1", "Wirbelsäule2", "Brust", "Hals", "Kopf"),
                   "Oberschenkel.{} Unterschenkel.{} Fuß.{} Zehen.{} Schlüsselbein.{} Oberarm.{} Unterarm.{} Hand.{}",
                   "FINGERLINK.{}", ("Daumen", "Zeigefinger", "Mittelfinger", "Ringfinger", "KleinerFinger")),
    "French": both("_G", "_D", trunk("Bassin", "Colonne1", "Colonne2", "Poitrine", "Cou", "Tete"),
                   "Cuisse{} Mollet{} Pied{} Orteil{} Clavicule{} Bras{} AvantBras{} Main{}", "FINGERLINK{}",
                   ("Pouce", "Index", "Majeur", "Annulaire", "Auriculaire")),
    "Russian": both("Л", "П", trunk("Таз", "Позвоночник1", "Позвоночник2", "Грудь", "Шея", "Голова"),
                    "Бедро_{} Голень_{} Стопа_{} Носок_{} Ключица_{} Плечо_{} Предплечье_{} Кисть_{}"),
    "Chinese": both("左", "右", trunk("骨盆", "脊椎1", "脊椎2", "胸", "脖子", "头"),
                    "{}大腿 {}小腿 {}脚 {}脚趾 {}锁骨 {}上臂 {}前臂 {}手"),
    "Spanish": both("izq", "der", trunk("cadera", "columna1", "columna2", "pecho", "cuello", "cabeza"),
                    "muslo_{} pantorrilla_{} pie_{} dedos_{} clavicula_{} brazo_{} antebrazo_{} mano_{}",
                    "FINGERLINK_{}", ("pulgar", "índice", "dedo_medio", "anular", "meñique")),
    "Italian": both("SX", "DX", trunk("bacino", "colonna1", "colonna2", "petto", "collo", "testa"),
                    "coscia_{} polpaccio_{} piede_{} dita_{} clavicola_{} braccio_{} avambraccio_{} mano_{}",
                    "FINGERLINK_{}", ("pollice", "indice", "medio", "anulare", "mignolo"), ("1", "2")),
    "Swedish": both("V", "H", trunk("Hoft", "Rygg1", "Rygg2", "Brost", "Nacke", "Huvud"),
                    "Lar_{} Vad_{} Fot_{} Ta_{} Axel_{} Overarm_{} Underarm_{} Hand_{}"),
    "Turkish": both("Sol", "Sag", trunk("Kalca", "Omurga1", "Omurga2", "Gogus", "Boyun", "Bas"),
                    "UstBacak{} AltBacak{} Ayak{} Parmak{} Omuz{} UstKol{} AltKol{} El{}"),
    "Korean": both("왼", "오른", trunk("골반", "척추1", "척추2", "가슴", "목", "머리"),
                   "{}허벅지 {}종아리 {}발 {}발가락 {}쇄골 {}위팔 {}아래팔 {}손"),
}
"""Whose words nobody reads, or only some that look like English: the shape tells what they are."""



def named_body(rig: str) -> dict[str, str]:
    """Return what a rig calls its joints."""
    return next(rigs[rig] for rigs in (RIGS, MORE_RIGS, LANGUAGES) if rig in rigs)
