"""Skeleton maps: names of many rigs, real characters against tables checked by hand, shapes, files, damaged files."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import FileError, SkeletonMismatchError
from takt.core.formats import bvh, ogre_binary
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.performer import Performer
from takt.core.playing.score import perform
from takt.core.retargeting.comparing.matching import pair
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import SURE, SkeletonMap, find_map, fingerprint, read_map, shape, write_map
from takt.core.skeletons.maps.names import read
from takt.core.skeletons.maps.skeleton_map import ESSENTIAL
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.clip_files import LIBRARY
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import real_file
from takt.tests.core import rigs
from takt.tests.core.ogre_cases import sinbad
from takt.tests.core.rigs import FINGERS, RIGS, real, standing_at, worn

from .corrected_maps import corrected

SPINE = frozenset(hanim.SPINE)
Z_UP = rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)


def turns(found: SkeletonMap, turn: FloatArray) -> bool:
    """Tell whether the body was seen to stand so."""
    return found.turn is not None and bool(rot.angle_between(found.turn, turn) < 1e-6)


def found_limbs(found: SkeletonMap) -> dict[str, str]:
    """Return bone → joint of H-Anim, without the trunk."""
    return {bone: name for bone, name in zip(found.skeleton.names, found.meant, strict=True)
            if name and name not in SPINE}


def found_trunk(found: SkeletonMap) -> tuple[list[str], list[str]]:
    """Return the bones of spine and neck, upwards."""
    bone = {name: b for b, name in zip(found.skeleton.names, found.meant, strict=True) if name}
    return ([bone[v] for v in hanim.SPINE[:17] if v in bone], [bone[v] for v in hanim.SPINE[17:] if v in bone])


@pytest.mark.parametrize("rig", RIGS)
def test_every_name_of_a_rig_is_read_right(rig: str) -> None:
    names = RIGS[rig]
    skeleton = worn(names, rig)
    found = find_map(skeleton)
    assert found_limbs(found) == {name: joint for joint, name in names.items() if joint not in SPINE}
    assert found_trunk(found) == ([n for j, n in names.items() if j in SPINE and j != "vc7"], [names["vc7"]])
    assert found.certainty > 0.9 and not found.warnings and not found.missing
    assert turns(found, rot.IDENTITY)


def test_a_pelvis_that_carries_the_legs_alone_is_not_the_root() -> None:
    """Daz and Character Creator hang the trunk beside it, on the hip."""
    found = find_map(worn(RIGS["Daz"] | {"sacroiliac": "pelvis"}))
    assert found.meant[found.skeleton.index_of["hip"]] == hanim.ROOT
    assert found.meant[found.skeleton.index_of["pelvis"]] is None
    assert found_trunk(found)[0] == ["abdomenLower", "abdomenUpper", "chestLower", "chestUpper"]


def sided(left: str, right: str, table: str) -> dict[str, str]:
    """Return bone → joint for both sides, from "bone=joint" with {} for the side in the bone's name."""
    pairs = [entry.split("=") for entry in table.split()]
    return {bone.format(word): f"{side}_{joint}" for side, word in (("l", left), ("r", right)) for bone, joint in pairs}


def numbered(pattern: str, fingers: tuple[str, ...] = FINGERS, links: tuple[int, ...] = (1, 2, 3)) -> str:
    return " ".join(f"{pattern.replace('FINGER', said).replace('LINK', str(i))}={finger}{i}"
                    for finger, said in zip(FINGERS, fingers, strict=True) for i in links)


UNREAL = sided("l", "r", "thigh_{}=hip calf_{}=knee foot_{}=ankle ball_{}=metatarsal clavicle_{}=sternoclavicular "
               "upperarm_{}=shoulder lowerarm_{}=elbow hand_{}=wrist " + numbered("FINGER_0LINK_{}"))
UNREAL_TRUNK = (["spine_01", "spine_02", "spine_03"], ["neck_01"])
KAYKIT = {"hips": hanim.ROOT, "head": "skullbase"} | sided(
    "l", "r", "upperleg.{}=hip lowerleg.{}=knee foot.{}=ankle toes.{}=metatarsal upperarm.{}=shoulder "
    "lowerarm.{}=elbow wrist.{}=wrist")
QUATERNIUS = {"Body": hanim.ROOT, "Head": "skullbase"} | sided(
    "L", "R", "UpperLeg.{}=hip LowerLeg.{}=knee Foot.{}=ankle Shoulder.{}=sternoclavicular UpperArm.{}=shoulder "
    "LowerArm.{}=elbow Palm.{}=wrist Thumb1.{}=thumb1 Thumb2.{}=thumb2")
MITTEN = sided("L", "R", "MiddleHand.{}=middle0 Fingers.{}=middle1")
CMU = {"Hips": hanim.ROOT, "Head": "skullbase"} | sided(
    "Left", "Right", "{}UpLeg=hip {}Leg=knee {}Foot=ankle {}ToeBase=metatarsal {}Shoulder=sternoclavicular "
    "{}Arm=shoulder {}ForeArm=elbow {}Hand=wrist {}FingerBase=middle0") | sided("L", "R", "{}Thumb=thumb1")
CMU_TRUNK = (["LowerBack", "Spine", "Spine1"], ["Neck", "Neck1"])
TRUTH = {
    "mpfb_game_engine": (UNREAL | {"pelvis": hanim.ROOT, "head": "skullbase"}, UNREAL_TRUNK),
    "m2m_sintel": (UNREAL | {"pelvis": hanim.ROOT, "head": "skullbase"}, UNREAL_TRUNK),
    "mpfb_cmu_mb": (CMU | sided("Left", "Right", "{}HandFinger1=middle1"), CMU_TRUNK),
    "Rogue_Hooded": (KAYKIT, (["spine", "chest"], [])), "Mage": (KAYKIT, (["spine", "chest"], [])),
    "Barbarian": (KAYKIT, (["spine", "chest"], [])),
    "Male_Suit": (QUATERNIUS | MITTEN, (["Hips", "Abdomen", "Torso"], ["Neck"])),
    "Female_Dress": (QUATERNIUS | MITTEN, (["Hips", "Abdomen", "Torso"], ["Neck"])),
    "Alien": (QUATERNIUS | sided("L", "R", "Thumb3.{}=thumb3 " + " ".join(
        f"{said}Finger{i}.{{}}={finger}{i - 1}" for said, finger in (("Middle", "middle"), ("Pinky", "pinky"))
        for i in range(1, 5))), (["Hips", "Abdomen", "Torso"], ["Neck"])),
    "cesium_man": ({"Node_2": hanim.ROOT, "Node_20": "skullbase", "Node_7": "l_hip", "Node_8": "l_knee",
                    "Node_9": "l_ankle", "Node_10": "l_metatarsal", "Node_3": "r_hip", "Node_4": "r_knee",
                    "Node_5": "r_ankle", "Node_6": "r_metatarsal", "Node_16": "l_shoulder", "Node_17": "l_elbow",
                    "Node_18": "l_wrist", "Node_13": "r_shoulder", "Node_14": "r_elbow", "Node_15": "r_wrist"},
                   (["Node_11", "Node_12"], ["Node_19"])),
}


@pytest.mark.parametrize("name", TRUTH)
def test_real_characters_have_no_wrong_pair(name: str) -> None:
    found = find_map(real(name))
    limbs, trunk = TRUTH[name]
    assert found_limbs(found) == limbs
    assert found_trunk(found) == trunk
    assert found.is_sure and not found.warnings


def test_the_first_of_four_joints_is_in_the_palm_where_it_is_near_the_wrist() -> None:
    """Without a thumb to compare with; some rigs count from 1 there, others have a fourth joint at the tip."""
    names = RIGS["MotionBuilder"]
    names = {joint: name for joint, name in names.items() if joint[2:-1] not in FINGERS} | {
        f"{side}_index{i}": f"{word}HandIndex{i + 1}" for side, word in (("l", "Left"), ("r", "Right"))
        for i in range(4)}
    found = find_map(worn(names))
    assert [found.meant[found.skeleton.index_of[f"LeftHandIndex{i}"]] for i in range(1, 5)] == [
        "l_index0", "l_index1", "l_index2", "l_index3"]


def test_limbs_of_rigs_without_names_are_compared_with_a_few_others_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of limbs on one joint must not be compared each with each."""
    limbs, count = 400, [0]
    parents = [-1, *(0 if i % 4 == 0 else i for i in range(4 * limbs))]
    places = np.random.default_rng(0).normal(size=(len(parents), 3))
    alike = shape._is_alike

    def counted(one: FloatArray, other: FloatArray) -> bool:
        count[0] += 1
        return alike(one, other)

    monkeypatch.setattr(shape, "_is_alike", counted)
    assert not find_map(standing_at([f"b{i}" for i in range(len(parents))], np.array(parents), places)).is_humanoid
    assert limbs <= count[0] <= 10 * limbs


@pytest.mark.parametrize("name", ["Fox", "Rat", "m2m_panda", "hand_left", "Q_Spider", "Q_Horse", "Q_Snake"])
def test_what_is_no_humanoid_is_not_made_one(name: str) -> None:
    found = find_map(real(name))
    assert not found.is_humanoid and not found.is_sure and found.warnings


def test_sinbad_and_the_real_clips() -> None:
    ogre = find_map(ogre_binary.read(sinbad().read_bytes()).skeleton)
    fingers = numbered("FINGERLINK.{}", ("Thumb", "IndexFinger", "MiddleFinger", "RingFinger", "Pinky"))
    for number, word in (("1", "Prox"), ("2", "Med"), ("3", "Dist")):
        fingers = fingers.replace(f"{number}.{{}}=", f"{word}.{{}}=")
    limbs = sided("L", "R", "Thigh.{}=hip Calf.{}=knee Foot.{}=ankle Toe.{}=metatarsal Clavicle.{}=sternoclavicular "
                  "Humerus.{}=shoulder Ulna.{}=elbow Hand.{}=wrist " + fingers)
    assert found_limbs(ogre) == limbs | {"Root": hanim.ROOT, "Head": "skullbase"}
    assert found_trunk(ogre) == (["Waist", "Stomach", "Chest"], ["Neck"])
    for name, truth, trunk, turn in (
            ("bow", UNREAL | {"pelvis": hanim.ROOT, "head": "skullbase"}, UNREAL_TRUNK, Z_UP),
            ("cmu_01_01", CMU | sided("L", "R", "{}Fingers=middle1"), CMU_TRUNK, rot.IDENTITY)):
        found = find_map(bvh.read(real_file("clips", f"{name}.bvh").read_bytes()).clip.skeleton)
        assert (found_limbs(found), found_trunk(found)) == (truth, trunk)
        assert turns(found, turn)


def nameless(skeleton: Skeleton) -> Skeleton:
    return Skeleton(tuple(f"Node_{i}" for i in range(len(skeleton))), skeleton.parents, skeleton.rest_rotations,
                    skeleton.rest_translations, skeleton.rest_scales)


@pytest.mark.parametrize("name", ["mpfb_game_engine", "m2m_sintel", "mpfb_cmu_mb", "Mage"])
def test_the_shape_alone_finds_the_limbs_or_asks(name: str) -> None:
    """Fingers, and collarbones beside other short bones, cannot be told by shape; what is said must be right."""
    skeleton = real(name)
    known, found = find_map(skeleton), find_map(nameless(skeleton))
    wrong = [(skeleton.names[j], name) for j, name in enumerate(found.meant)
             if name in ESSENTIAL and known.meant[j] != name and found.certainties[j] >= SURE]
    assert wrong == [] and found.certainty < 0.9


def test_the_samples_own_names_are_taken_at_their_word() -> None:
    found = find_map(build_skeleton())
    assert found.meant == build_skeleton().names and found.certainty == 1.0


def test_left_on_the_right_side_is_said_and_asked_about() -> None:
    names = {joint: name.replace("Left", "?").replace("Right", "Left").replace("?", "Right")
             for joint, name in RIGS["Unity's humanoid"].items()}
    found = find_map(worn(names))
    assert found.warnings == ("bones that are named left are on the right side (seen from where toes and knees "
                              "point)",)
    assert not found.is_sure


def test_two_humanoids_in_one_rig_are_asked_about() -> None:
    one = worn(RIGS["VRM"])
    two = standing_at([f"{who}:{n}" for who in "AB" for n in one.names],
                      np.concatenate((one.parents, np.where(one.parents < 0, -1, one.parents + len(one)))),
                      np.concatenate((one.rest_world[:, :, 3], one.rest_world[:, :, 3] + (2.0, 0, 0))))
    found = find_map(two)
    (said,) = found.warnings
    assert not found.is_sure and "several bodies, as below 'A:hips' and below 'B:hips': put each into a file" in said
    with pytest.raises(SkeletonMismatchError) as caught:
        pair(found, find_map(build_skeleton()), np.ones(len(two), dtype=np.bool_))
    assert said in str(caught.value) and len(str(caught.value)) < 500


def test_what_is_there_twice_in_one_body_is_told_in_brief() -> None:
    one = worn(RIGS["VRM"])
    hips = one.index_of["hips"]
    parents = np.where(one.parents < 0, hips, one.parents + len(one))
    twice = standing_at([*one.names, *(f"B:{name}" for name in one.names)], np.concatenate((one.parents, parents)),
                        np.concatenate((one.rest_world[:, :, 3], one.rest_world[:, :, 3] + (2.0, 0, 0))))
    found = find_map(twice)
    assert not any("several bodies" in warning for warning in found.warnings)
    assert found.warnings[0] == "two bones could be l_hip: 'leftUpperLeg' and 'B:leftUpperLeg'"
    assert "so it is with 8 other parts" in found.warnings


def test_a_rig_without_hips_says_so() -> None:
    names = {joint: name for joint, name in RIGS["VRM"].items() if "vl5" != joint}
    skeleton = worn(names)
    parents = skeleton.parents.copy()
    hips = skeleton.index_of["hips"]
    parents[parents == hips] = -1
    loose = standing_at(list(skeleton.names), parents, skeleton.rest_world[:, :, 3])
    armless = find_map(loose)
    assert "hips" in armless.skeleton.names and armless.joint_of.get(hanim.ROOT) in (hips, None)
    without = [j for j in range(len(skeleton)) if j != hips]
    cut = standing_at([skeleton.names[j] for j in without],
                      np.array([without.index(int(parents[j])) if parents[j] >= 0 else -1 for j in without]),
                      skeleton.rest_world[without, :, 3])
    assert "no bone was found for the hips: the path over the ground cannot be played" in find_map(cut).warnings


def test_axes_are_seen_whichever_way_the_body_lies() -> None:
    skeleton = worn(RIGS["Unreal's mannequin"])
    for turn in (Z_UP, rot.from_axis_angle(np.array((0.0, 1, 0)), np.pi / 2),
                 rot.from_axis_angle(np.array((0.0, 0, 1)), np.pi)):
        assert turns(find_map(skeleton.turned(turn)), turn)


def test_a_file_there_and_back() -> None:
    found = find_map(worn(RIGS["3ds Max Biped"]).turned(Z_UP))
    saved = read_map(write_map(found).encode())
    assert saved.fits(found.skeleton) and not saved.fits(build_skeleton())
    again = saved.of(found.skeleton)
    assert again.meant == found.meant and again.certainty == 1.0
    assert turns(again, Z_UP)
    assert "up = +Z\nfront = -Y\n" in write_map(found)


def test_one_map_serves_a_rig_in_other_axes_too() -> None:
    rig = worn(RIGS["3ds Max Biped"])
    saved = read_map(write_map(find_map(rig.turned(Z_UP))).encode())
    assert turns(saved.of(rig.turned(Z_UP)), Z_UP) and turns(saved.of(rig), rot.IDENTITY)


def test_a_map_in_the_library_is_used_for_the_same_rig(tmp_path: Path) -> None:
    skeleton = worn(RIGS["VRM"])
    found = corrected(find_map(skeleton), {"leftHand": None, "chest": "vt1"})
    (tmp_path / "my rig.map").write_text(write_map(found), encoding="utf-8")
    used = Library((tmp_path,)).skeleton_map(skeleton)
    assert used.meant[skeleton.index_of["leftHand"]] is None and used.meant[skeleton.index_of["chest"]] == "vt1"
    assert Library((tmp_path,)).skeleton_map(build_skeleton()).meant == build_skeleton().names


@pytest.mark.parametrize("line", ["bone = knie", "Reference pose\nhips = 1e308 1e308 0 0"])
def test_a_damaged_map_is_left_out_and_told_of(line: str, tmp_path: Path) -> None:
    skeleton = worn(RIGS["VRM"])
    (tmp_path / "a damaged one.map").write_text(f"Takt skeleton map\nrig = {fingerprint(skeleton)}\n{line}\n")
    (tmp_path / "right.map").write_text(write_map(corrected(find_map(skeleton), {"leftHand": None})), encoding="utf-8")
    library = Library((tmp_path,))
    assert library.skeleton_map(skeleton).meant[skeleton.index_of["leftHand"]] is None
    (problem,) = library.damaged_maps
    assert "a damaged one.map:" in str(problem) and "the map is left out" in str(problem) and problem.is_warning


def test_files_of_other_programs_that_end_in_map_are_none(tmp_path: Path) -> None:
    for number, data in enumerate((b'{"version": 3}', b"", b"\xff\xfe", bytes(1_000), b"Takt skeleton")):
        (tmp_path / f"{number}.map").write_bytes(data)
    library = Library((tmp_path,))
    assert library.skeleton_map(build_skeleton()).meant == build_skeleton().names and not library.damaged_maps


def test_a_score_plays_beside_a_damaged_map_and_warns(tmp_path: Path) -> None:
    (tmp_path / "damaged.map").write_text("Takt skeleton map\nwhat is this\n")
    (tmp_path / "foreign.map").write_text("{}")
    text = ('<pha tickLength="1"><load src="feet.Steps"/><procedure name="main">'
            '<call name="feet.Steps.left_step" duration="1"/></procedure></pha>')
    motion = perform(text, None, Library((tmp_path, LIBRARY)), Performer(build_skeleton(), np.eye(3)[1]))
    assert ["damaged.map" in str(problem) for problem in motion.problems if problem.is_warning] == [True]


HEAD = "Takt skeleton map\nrig = 0123456789ab\n"


@pytest.mark.parametrize(("text", "message"), [
    ("", "expected 'Takt skeleton map'"),
    ("Takt skeleton map\nbone = l_hip\n", "the line 'rig = FINGERPRINT' is missing"),
    (HEAD + "bone = knie\n", ":3: 'knie' is no joint of H-Anim"),
    (HEAD + "a = l_hip\nb = l_hip\n", ":4: l_hip is here twice, for 'a' too; one bone can be it"),
    (HEAD + "a = l_hip\na = r_hip\n", ":4: 'a' is here twice; remove one of its lines"),
    (HEAD + "what is this\n", ":3: found 'what is this', expected BONE = JOINT"),
    (HEAD + "up = Z\n", ":3: up is 'Z', expected one of"),
    (HEAD + "up = +Z\nfront = -Z\n", "lie on one line"),
])
def test_damaged_map_files(text: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        read_map(text.encode(), Path("a.map"))
    assert message in str(caught.value)
    with pytest.raises(FileError, match="is not UTF-8"):
        read_map(b"\xff\xfe", Path("a.map"))


def test_a_map_with_an_unknown_or_a_double_meaning_is_refused() -> None:
    found = find_map(worn(RIGS["VRM"]))
    with pytest.raises(SkeletonMismatchError, match="'hips' is said to be 'bottom', which is no joint of H-Anim"):
        corrected(found, {"hips": "bottom"})
    with pytest.raises(SkeletonMismatchError, match="both 'hips' and 'spine' are said to be l_hip"):
        corrected(found, {"hips": "l_hip", "spine": "l_hip"})


def test_the_fingerprint_knows_names_and_hierarchy_but_not_order_or_places() -> None:
    places = np.arange(9.0).reshape(3, 3)
    one = standing_at(["a", "b", "c"], np.array((-1, 0, 0)), places)
    assert fingerprint(one) == fingerprint(standing_at(["a", "c", "b"], np.array((-1, 0, 0)), places * 2))
    assert fingerprint(one) != fingerprint(standing_at(["a", "b", "c"], np.array((-1, 0, 1)), places))
    assert 0.0 < SURE < 1.0


def test_a_body_whose_joints_all_rest_in_one_place_is_read_by_its_names_without_a_warning() -> None:
    """So are files that say by their frames alone where joints are."""
    body = body_in_one_place()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = find_map(body)
    assert found.turn is None


def body_in_one_place() -> Skeleton:
    own = build_skeleton()
    return Skeleton.from_arrays(own.names, own.parents, own.rest_rotations, np.zeros((len(own), 3)))


@pytest.mark.parametrize(("names", "finger"), [
    ("Daumen1_l Pouce1_G pulgar1_izq pollice.L 拇指", "thumb"), ("Zeigefinger.02.R Índice2_der 左食指", "index"),
    ("Mittelfinger2.L Majeur2_D dedo_medio_1.L medio1.L", "middle"), ("Annulaire_01_L anular2 无名指", "ring"),
    ("KleinerFinger1_l Meñique.L mignolo2 petit_doigt.L", "pinky")])
def test_fingers_are_known_in_other_languages(names: str, finger: str) -> None:
    assert [read(name).finger for name in names.split()] == [finger] * len(names.split())


def test_fingers_of_one_bone_are_told_by_their_names() -> None:
    """As counted in German: the number goes along each finger."""
    names = RIGS["Mixamo"] | {f"{side}_{joint}1": f"{word}1_{side}" for side in "lr" for joint, word in (
        ("thumb", "Daumen"), ("index", "Zeigefinger"), ("pinky", "KleinerFinger"))}
    kept = {joint: name for joint, name in names.items() if not joint[2:].startswith(("middle", "ring"))
            and not joint.endswith(("2", "3"))}
    found = find_map(worn(kept))
    assert {name: found.joint_of.get(name) for name in ("l_thumb1", "l_index1", "l_pinky1")} == {
        f"l_{joint}1": found.skeleton.index_of[f"{word}1_l"] for joint, word in (
            ("thumb", "Daumen"), ("index", "Zeigefinger"), ("pinky", "KleinerFinger"))}


def test_hanim_names_for_the_trunk_alone_leave_the_limbs_to_their_own() -> None:
    """As the Web3D Consortium's tool turns BVH into X3D: it renames what it knows."""
    rig = rigs.both("Left", "Right", rigs.trunk("humanoid_root", "vl5", "Neck", "skullbase"),
                    "{}UpLeg {}LowLeg {}Foot - {}Collar {}UpArm {}LowArm {}Hand")
    found = find_map(worn(rig))
    assert {name: found.skeleton.names[joint] for name, joint in found.joint_of.items()} == {
        name: rig[name] for name in found.joint_of}
    assert found.is_sure and not found.missing
