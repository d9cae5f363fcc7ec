"""Skeletons as systems of motion capture, engines and modellers write them, with all that stands beside the limbs.

Twist bones, joints of faces, bones for IK and skirts, collarbones on necks, and joints that share a place.
"""

from __future__ import annotations

import re

import numpy as np

from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.rewriting import Bone

SYSTEMS: dict[str, tuple[str, str, str]] = {
    "Character Creator": ("L", "R", """
        CC_Base_BoneRoot@floor > CC_Base_Hip=HumanoidRoot > CC_Base_Pelvis@HumanoidRoot
        CC_Base_Hip > CC_Base_Waist=vl5 > CC_Base_Spine01=vl1 > CC_Base_Spine02=vt6 > CC_Base_NeckTwist01=vc7
        CC_Base_NeckTwist01 > CC_Base_NeckTwist02=vc4 > CC_Base_Head=skullbase > CC_Base_FacialBone@skullbase
        CC_Base_FacialBone > CC_Base_JawRoot@skullbase > CC_Base_Tongue01@skullbase > CC_Base_Tongue02@skullbase
        CC_Base_Tongue02 > CC_Base_Tongue03@skullbase
        CC_Base_Spine02 > CC_Base_{}_Clavicle=?sternoclavicular > CC_Base_{}_Upperarm=?shoulder
        CC_Base_{}_Upperarm > CC_Base_{}_Forearm=?elbow > CC_Base_{}_Hand=?wrist > CC_Base_{}_Thumb1=?thumb1
        CC_Base_{}_Thumb1 > CC_Base_{}_Thumb2=?thumb2 > CC_Base_{}_Thumb3=?thumb3
        CC_Base_{}_Upperarm > CC_Base_{}_UpperarmTwist01@?shoulder~?elbow~.2
        CC_Base_{}_UpperarmTwist01 > CC_Base_{}_UpperarmTwist02@?shoulder~?elbow~.6
        CC_Base_{}_Forearm > CC_Base_{}_ForearmTwist01@?elbow~?wrist~.3 > CC_Base_{}_ForearmTwist02@?elbow~?wrist~.6
        CC_Base_{}_Forearm > CC_Base_{}_ElbowShareBone@?elbow
        CC_Base_{}_Hand > CC_Base_{}_Index1=?index1 > CC_Base_{}_Index2=?index2 > CC_Base_{}_Index3=?index3
        CC_Base_Spine02 > CC_Base_{}_RibsTwist@vt6 > CC_Base_{}_Breast@vt6
        CC_Base_FacialBone > CC_Base_{}_Eye@skullbase
        CC_Base_Pelvis > CC_Base_{}_Thigh=?hip > CC_Base_{}_Calf=?knee > CC_Base_{}_Foot=?ankle
        CC_Base_{}_Foot > CC_Base_{}_ToeBase=?metatarsal > CC_Base_{}_BigToe1@tip
        CC_Base_{}_Thigh > CC_Base_{}_ThighTwist01@?hip~?knee~.2 > CC_Base_{}_ThighTwist02@?hip~?knee~.6
        CC_Base_{}_Calf > CC_Base_{}_KneeShareBone@?knee
        CC_Base_{}_Calf > CC_Base_{}_CalfTwist01@?knee~?ankle~.3 > CC_Base_{}_CalfTwist02@?knee~?ankle~.6
        CC_Base_{}_Foot > CC_Base_{}_ToeBaseShareBone@?metatarsal
        CC_Base_{}_ToeBase > CC_Base_{}_IndexToe1@tip
    """),
    "Unreal's Manny": ("l", "r", """
        root@floor > pelvis=HumanoidRoot > spine_01=vl5 > spine_02=vl1 > spine_03=vt6 > neck_01=vc7 > neck_02=vc4
        neck_02 > head=skullbase
        root > ik_foot_root@floor
        ik_foot_root > ik_foot_{}@?ankle
        root > ik_hand_root@floor > ik_hand_gun@r_wrist
        ik_hand_gun > ik_hand_{}@?wrist
        pelvis > thigh_{}=?hip > calf_{}=?knee > calf_twist_01_{}@?knee~?ankle~.6
        thigh_{} > thigh_twist_01_{}@?hip~?knee~.1
        calf_{} > calf_correctiveRoot_{}@?knee > calf_knee_{}@?knee
        calf_{} > foot_{}=?ankle > ball_{}=?metatarsal
        spine_03 > clavicle_{}=?sternoclavicular > upperarm_{}=?shoulder > lowerarm_{}=?elbow > hand_{}=?wrist
        hand_{} > thumb_01_{}=?thumb1 > thumb_02_{}=?thumb2 > thumb_03_{}=?thumb3
        clavicle_{} > clavicle_pec_{}@vt6
        upperarm_{} > upperarm_twist_01_{}@?shoulder~?elbow~.1
        upperarm_{} > upperarm_correctiveRoot_{}@?shoulder > upperarm_bicep_{}@?shoulder~?elbow~.4
        lowerarm_{} > lowerarm_twist_01_{}@?elbow~?wrist~.6
        hand_{} > index_metacarpal_{}=?index0 > index_01_{}=?index1 > index_02_{}=?index2 > index_03_{}=?index3
    """),
    "Daz Genesis 8": ("l", "r", """
        hip=HumanoidRoot > pelvis@HumanoidRoot
        hip > abdomenLower=vl5 > abdomenUpper=vl1 > chestLower=vt10 > chestUpper=vt6 > neckLower=vc7 > neckUpper=vc4
        neckUpper > head=skullbase > upperTeeth@skullbase
        chestLower > {}Pectoral@vt6
        chestUpper > {}Collar=?sternoclavicular > {}ShldrBend=?shoulder > {}ShldrTwist@?shoulder~?elbow~.45
        {}ShldrTwist > {}ForearmBend=?elbow > {}ForearmTwist@?elbow~?wrist~.5 > {}Hand=?wrist > {}Thumb1=?thumb1
        {}Thumb1 > {}Thumb2=?thumb2 > {}Thumb3=?thumb3
        {}Hand > {}Carpal1=?index0 > {}Index1=?index1 > {}Index2=?index2 > {}Index3=?index3
        head > lowerJaw@skullbase > lowerTeeth@skullbase
        lowerJaw > tongue01@skullbase > tongue02@skullbase > tongue03@skullbase > tongue04@skullbase
        head > {}Eye@skullbase
        head > {}Ear@skullbase
        pelvis > {}ThighBend=?hip > {}ThighTwist@?hip~?knee~.45 > {}Shin=?knee > {}Foot=?ankle
        {}Foot > {}Metatarsals@?ankle~?metatarsal~.3 > {}Toe=?metatarsal > {}BigToe@tip
        {}Foot > {}Heel@?ankle
        {}Toe > {}SmallToe1@tip
        {}Toe > {}SmallToe2@tip
    """),
    "3ds Max Biped": ("L", "R", """
        Bip001@HumanoidRoot > Bip001 Footsteps@floor
        Bip001 > Bip001 Pelvis=HumanoidRoot > Bip001 Spine=vl5 > Bip001 Spine1=vl1 > Bip001 Neck=vc7
        Bip001 Neck > Bip001 Head=skullbase > Bip001 HeadNub@tip
        Bip001 Spine > Bip001 {} Thigh=?hip > Bip001 {} Calf=?knee > Bip001 {} Foot=?ankle > Bip001 {} Toe0=?metatarsal
        Bip001 {} Toe0 > Bip001 {} Toe0Nub@tip
        Bip001 Neck > Bip001 {} Clavicle=?sternoclavicular > Bip001 {} UpperArm=?shoulder > Bip001 {} Forearm=?elbow
        Bip001 {} Forearm > Bip001 {} Hand=?wrist > Bip001 {} Finger0=?thumb1 > Bip001 {} Finger01=?thumb2
        Bip001 {} Finger01 > Bip001 {} Finger02=?thumb3 > Bip001 {} Finger0Nub@tip
        Bip001 {} UpperArm > Bip001 {} UpArmTwist@?shoulder > Bip001 {} UpArmTwist1@?shoulder~?elbow~.4
        Bip001 {} Hand > Bip001 {} Finger1=?index1 > Bip001 {} Finger11=?index2 > Bip001 {} Finger12=?index3
        Bip001 {} Finger12 > Bip001 {} Finger1Nub@tip
        Bip001 {} Finger12 > Bip001 {} Finger2Nub@tip
        Bip001 {} Finger12 > Bip001 {} Finger3Nub@tip
        Bip001 {} Finger12 > Bip001 {} Finger4Nub@tip
        Bip001 Head > Bip001 Ponytail1@skullbase > Bip001 Ponytail11@skullbase > Bip001 Ponytail12@skullbase
        Bip001 > Bip001 Prop1@r_wrist
    """),
    "MikuMikuDance": ("左", "右", """
        全ての親@floor > センター@HumanoidRoot > グルーブ@HumanoidRoot > 腰=HumanoidRoot > 上半身=vl5 > 上半身2=vt6
        上半身2 > 首=vc7 > 頭=skullbase > 両目@skullbase
        全ての親 > {}足IK親@?ankle > {}足ＩＫ@?ankle > {}つま先ＩＫ@?metatarsal
        腰 > 下半身@HumanoidRoot
        下半身 > 腰キャンセル{}@?hip > {}足=?hip > {}ひざ=?knee > {}足首=?ankle > {}つま先=?metatarsal
        腰キャンセル{} > {}足D@?hip > {}ひざD@?knee > {}足首D@?ankle > {}足先EX@?metatarsal
        上半身2 > {}肩P@?sternoclavicular > {}肩=?sternoclavicular > {}肩C@?shoulder > {}腕=?shoulder
        {}腕 > {}腕捩@?shoulder~?elbow~.6 > {}ひじ=?elbow > {}手捩@?elbow~?wrist~.6 > {}手首=?wrist
        {}手首 > {}親指０=?thumb1 > {}親指１=?thumb2 > {}親指２=?thumb3
        {}手首 > {}人指１=?index1 > {}人指２=?index2 > {}人指３=?index3
        頭 > {}目@skullbase
    """),
    "Skyrim": ("L", "R", """
        NPC Root [Root]@floor > NPC COM [COM ]=HumanoidRoot > NPC Pelvis [Pelv]@HumanoidRoot
        NPC COM [COM ] > NPC Spine [Spn0]=vl5 > NPC Spine1 [Spn1]=vl1 > NPC Spine2 [Spn2]=vt6 > NPC Neck [Neck]=vc7
        NPC Neck [Neck] > NPC Head [Head]=skullbase
        NPC Spine2 [Spn2] > NPC {} Clavicle [{}Clv]=?sternoclavicular > NPC {} UpperArm [{}UAr]=?shoulder
        NPC {} UpperArm [{}UAr] > NPC {} Forearm [{}Lar]=?elbow > NPC {} Hand [{}Hnd]=?wrist
        NPC {} UpperArm [{}UAr] > NPC {} UpperarmTwist1 [{}Ut1]@?shoulder~?elbow~.2
        NPC {} Forearm [{}Lar] > NPC {} ForearmTwist1 [{}Lt1]@?elbow~?wrist~.3
        NPC Pelvis [Pelv] > NPC {} Thigh [{}Thg]=?hip > NPC {} Calf [{}Clf]=?knee > NPC {} Foot [{}ft ]=?ankle
        NPC {} Foot [{}ft ] > NPC {} Toe0 [{}Toe]=?metatarsal
    """),
    "Fallout": ("L", "R", """
        Root@floor > COM=HumanoidRoot > Pelvis@HumanoidRoot
        COM > SPINE1=vl5 > SPINE2=vl1 > Chest=vt6 > Neck=vc7 > HEAD=skullbase
        Chest > {}Arm_Collarbone=?sternoclavicular > {}Arm_UpperArm=?shoulder > {}Arm_UpperTwist1@?shoulder~?elbow~.3
        {}Arm_UpperArm > {}Arm_ForeArm1=?elbow > {}Arm_ForeArm2@?elbow~?wrist~.3
        {}Arm_ForeArm2 > {}Arm_ForeArm3@?elbow~?wrist~.6 > {}Arm_Hand=?wrist > {}Arm_Finger11=?thumb1
        {}Arm_Finger11 > {}Arm_Finger12=?thumb2 > {}Arm_Finger13=?thumb3
        {}Arm_Hand > {}Arm_Finger21=?index1 > {}Arm_Finger22=?index2 > {}Arm_Finger23=?index3
        Pelvis > {}Leg_Thigh=?hip > {}Leg_Calf=?knee > {}Leg_Foot=?ankle > {}Leg_Toe1=?metatarsal
    """),
    "counted by hand": ("L", "R", """
        grp_skeleton@floor > pelvis_jnt=HumanoidRoot > spine_01_jnt=vl5 > spine_02_jnt=vl1 > spine_03_jnt=vt6
        spine_03_jnt > neck_01_jnt=vc7 > head_jnt=skullbase
        pelvis_jnt > {}_leg_01_jnt=?hip > {}_leg_02_jnt=?knee > {}_leg_03_jnt=?ankle > {}_leg_04_jnt=?metatarsal
        {}_leg_04_jnt > {}_leg_05_jnt@tip
        spine_03_jnt > {}_clav_jnt=?sternoclavicular > {}_arm_01_jnt=?shoulder > {}_arm_02_jnt=?elbow
        {}_arm_02_jnt > {}_arm_03_jnt=?wrist
    """),
    "Rigify's metarig": ("L", "R", """
        spine=HumanoidRoot > spine.001=vl5 > spine.002=vl1 > spine.003=vt6 > spine.004=vc7 > spine.005=vc4
        spine.005 > spine.006=skullbase > face@skullbase > nose@skullbase > nose.001@skullbase
        spine > pelvis.{}@HumanoidRoot
        spine > thigh.{}=?hip > shin.{}=?knee > foot.{}=?ankle > toe.{}=?metatarsal
        foot.{} > heel.02.{}@?ankle
        spine.003 > shoulder.{}=?sternoclavicular > upper_arm.{}=?shoulder > forearm.{}=?elbow > hand.{}=?wrist
        hand.{} > palm.01.{}=?index0 > f_index.01.{}=?index1 > f_index.02.{}=?index2 > f_index.03.{}=?index3
        hand.{} > palm.02.{}=?middle0 > f_middle.01.{}=?middle1 > f_middle.02.{}=?middle2 > f_middle.03.{}=?middle3
        hand.{} > palm.03.{}=?ring0 > f_ring.01.{}=?ring1 > f_ring.02.{}=?ring2 > f_ring.03.{}=?ring3
        hand.{} > palm.04.{}=?pinky0 > f_pinky.01.{}=?pinky1 > f_pinky.02.{}=?pinky2 > f_pinky.03.{}=?pinky3
        palm.01.{} > thumb.01.{}=?thumb1 > thumb.02.{}=?thumb2 > thumb.03.{}=?thumb3
        spine.003 > breast.{}@vt6
        face > lip.T.{}@skullbase > lip.T.{}.001@skullbase
        face > jaw@skullbase > chin@skullbase > chin.001@skullbase
        face > ear.{}@skullbase > ear.{}.001@skullbase
        face > jaw.{}@skullbase > jaw.{}.001@skullbase > chin.{}@skullbase > cheek.B.{}@skullbase
        cheek.B.{} > cheek.B.{}.001@skullbase
    """),
    "romaji": ("l", "r", """
        n_root@floor > n_hara=HumanoidRoot > j_kosi@HumanoidRoot
        n_hara > j_sebo_a=vl5 > j_sebo_b=vl1 > j_sebo_c=vt6 > j_kubi=vc7 > j_kao=skullbase
        j_sebo_c > j_sako_{}=?sternoclavicular > j_ude_a_{}=?shoulder > j_ude_b_{}=?elbow > j_te_{}=?wrist
        j_kosi > j_asi_a_{}=?hip > j_asi_b_{}=?knee > j_asi_c_{}@?knee~?ankle~.5 > j_asi_d_{}=?ankle
        j_asi_d_{} > j_asi_e_{}=?metatarsal
    """),
    "GTA": ("L", "R", """
        SKEL_ROOT=HumanoidRoot > SKEL_Pelvis@HumanoidRoot
        SKEL_ROOT > SKEL_Spine_Root=vl5 > SKEL_Spine0=vl3 > SKEL_Spine1=vl1 > SKEL_Spine2=vt10
        SKEL_Spine2 > SKEL_Spine3=vt6 > SKEL_Neck_1=vc7 > SKEL_Head=skullbase > FB_Jaw_000@skullbase
        SKEL_Spine3 > SKEL_{}_Clavicle=?sternoclavicular > SKEL_{}_UpperArm=?shoulder > SKEL_{}_Forearm=?elbow
        SKEL_{}_Forearm > SKEL_{}_Hand=?wrist
        SKEL_{}_UpperArm > RB_{}_ArmRoll@?shoulder
        SKEL_{}_Forearm > MH_{}_Elbow@?elbow
        SKEL_Pelvis > SKEL_{}_Thigh=?hip > SKEL_{}_Calf=?knee > SKEL_{}_Foot=?ankle > SKEL_{}_Toe0=?metatarsal
        SKEL_{}_Thigh > RB_{}_ThighRoll@?hip
        SKEL_{}_Thigh > MH_{}_Knee@?knee
        SKEL_{}_Calf > MH_{}_CalfBack@?knee~?ankle~.4
    """),
    "HDM05": ("l", "r", """
        root=HumanoidRoot > lowerback=vl5 > upperback=vl1 > thorax=vt6 > lowerneck=vc7 > upperneck=vc4
        upperneck > head=skullbase
        root > {}hipjoint@HumanoidRoot > {}femur=?hip > {}tibia=?knee > {}foot=?ankle > {}toes=?metatarsal
        thorax > {}clavicle=?sternoclavicular > {}humerus=?shoulder > {}radius=?elbow > {}wrist=?wrist
        {}wrist > {}hand=?middle0 > {}fingers=?middle1
        {}wrist > {}thumb=?thumb1
    """),
    "Rokoko": ("Left", "Right", """
        Hips=HumanoidRoot > Spine1=vl5 > Spine2=vl1 > Spine3=vt10 > Spine4=vt6 > Neck=vc7 > Head=skullbase
        Head > HeadVertex@tip
        Hips > {}Thigh=?hip > {}Shin=?knee > {}Foot=?ankle > {}Toe=?metatarsal > {}ToeTip@tip
        Spine4 > {}Shoulder=?sternoclavicular > {}Arm=?shoulder > {}ForeArm=?elbow > {}Hand=?wrist
        {}Hand > {}Finger1Proximal=?thumb1 > {}Finger1Medial=?thumb2 > {}Finger1Distal=?thumb3 > {}Finger1Tip@tip
        {}Hand > {}Finger2Metacarpal=?index0 > {}Finger2Proximal=?index1 > {}Finger2Medial=?index2
        {}Finger2Medial > {}Finger2Distal=?index3 > {}Finger2Tip@tip
        {}Hand > {}Finger3Metacarpal=?middle0 > {}Finger3Proximal=?middle1 > {}Finger3Medial=?middle2
        {}Finger3Medial > {}Finger3Distal=?middle3 > {}Finger3Tip@tip
        {}Hand > {}Finger4Metacarpal=?ring0 > {}Finger4Proximal=?ring1 > {}Finger4Medial=?ring2 > {}Finger4Distal=?ring3
        {}Finger4Distal > {}Finger4Tip@tip
        {}Hand > {}Finger5Metacarpal=?pinky0 > {}Finger5Proximal=?pinky1 > {}Finger5Medial=?pinky2
        {}Finger5Medial > {}Finger5Distal=?pinky3 > {}Finger5Tip@tip
    """),
    "Azure Kinect": ("LEFT", "RIGHT", """
        PELVIS=HumanoidRoot > SPINE_NAVEL=vl1 > SPINE_CHEST=vt6 > NECK=vc7 > HEAD=skullbase > NOSE@skullbase
        PELVIS > HIP_{}=?hip > KNEE_{}=?knee > ANKLE_{}=?ankle > FOOT_{}=?metatarsal
        SPINE_CHEST > CLAVICLE_{}=?sternoclavicular > SHOULDER_{}=?shoulder > ELBOW_{}=?elbow > WRIST_{}=?wrist
        WRIST_{} > HAND_{}@?middle1 > HANDTIP_{}@?middle3
        WRIST_{} > THUMB_{}=?thumb1
        HEAD > EYE_{}@skullbase
        HEAD > EAR_{}@skullbase
    """),
    "MakeHuman": ("L", "R", """
        root=HumanoidRoot > spine05=vl5 > spine04=vl3 > spine03=vl1 > spine02=vt10 > spine01=vt6 > neck01=vc7
        neck01 > neck03=vc4 > head=skullbase > jaw@skullbase > tongue00@skullbase
        tongue00 > tongue01@skullbase
        root > pelvis.{}@HumanoidRoot~?hip~.4 > upperleg01.{}=?hip > upperleg02.{}@?hip~?knee~.5
        upperleg02.{} > lowerleg01.{}=?knee > lowerleg02.{}@?knee~?ankle~.5 > foot.{}=?ankle
        foot.{} > toe1-1.{}=?metatarsal > toe1-2.{}@tip
        foot.{} > toe2-1.{}@?metatarsal > toe2-2.{}@tip
        spine02 > breast.{}@vt6
        spine01 > clavicle.{}=?sternoclavicular > shoulder01.{}@?acromioclavicular
        shoulder01.{} > upperarm01.{}=?shoulder > upperarm02.{}@?shoulder~?elbow~.5 > lowerarm01.{}=?elbow
        lowerarm01.{} > lowerarm02.{}@?elbow~?wrist~.5 > wrist.{}=?wrist > finger1-1.{}=?thumb1
        finger1-1.{} > finger1-2.{}=?thumb2 > finger1-3.{}=?thumb3
        wrist.{} > metacarpal1.{}=?index0 > finger2-1.{}=?index1 > finger2-2.{}=?index2 > finger2-3.{}=?index3
        wrist.{} > metacarpal2.{}=?middle0 > finger3-1.{}=?middle1 > finger3-2.{}=?middle2 > finger3-3.{}=?middle3
        wrist.{} > metacarpal3.{}=?ring0 > finger4-1.{}=?ring1 > finger4-2.{}=?ring2 > finger4-3.{}=?ring3
        wrist.{} > metacarpal4.{}=?pinky0 > finger5-1.{}=?pinky1 > finger5-2.{}=?pinky2 > finger5-3.{}=?pinky3
        head > levator02.{}@skullbase > levator03.{}@skullbase > levator04.{}@skullbase > levator05.{}@skullbase
    """),
}
"""By system the words for left and right, and chains of joints; {} is for either side.

name=meaning: what it is in H-Anim, where it stands as well. name@place: it means nothing, and turns with its parent; it
stands in that joint's place, on the way between two (~share), on the floor, or beyond its parent (tip).
"""
_NEAR_M = 0.02
"""Joints of a face stand apart by about this."""


def joints_of(system: str, body: Skeleton) -> dict[str, Bone]:
    """Return a system's joints on a body, parents before children."""
    left, right, text = SYSTEMS[system]
    rng, bones = np.random.default_rng(0), dict[str, Bone]()
    for line in filter(None, map(str.strip, text.split("\n"))):
        for side, word in (("l", left), ("r", right)) if "{}" in line else (("", ""),):
            names = [re.split("[=@]", joint)[0].replace("{}", word) for joint in line.split(" > ")]
            for above, name, joint in zip(["", *names], names, line.split(" > "), strict=False):
                if name not in bones:
                    meaning = re.split("[=@]", joint)[1].replace("?", f"{side}_")
                    bones[name] = _bone("=" in joint, meaning, above, bones, body, rng)
    return bones


def _bone(is_meant: bool, meaning: str, above: str, bones: dict[str, Bone], body: Skeleton,
          rng: np.random.Generator) -> Bone:
    at = dict(zip(body.names, body.rest_world[:, :, 3], strict=True)) | {"floor": np.zeros(3)}
    if is_meant:
        return Bone(meaning, at[meaning], above, meaning)
    part = bones[above].part if above else "HumanoidRoot"
    if meaning == "tip":
        here = bones[above]
        return Bone(part, here.place + 0.5 * (here.place - bones[here.above].place), above)
    first, _, second = meaning.partition("~")
    second, _, share = second.partition("~")
    place = at[first] + (float(share) * (at[second] - at[first]) if second else np.zeros(3))
    return Bone(part, place + (_NEAR_M * rng.normal(size=3) if first == "skullbase" else 0.0), above)
