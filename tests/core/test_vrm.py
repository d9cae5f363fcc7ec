"""VRM's tables of human bones, and VRMA: read, written, and there and back on bodies of other rests and axes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.cli import main
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError, TaktError
from takt.core.formats import bvh, format_of, gltf
from takt.core.formats.format import Source
from takt.core.formats.vrma_write import bones_of, t_pose
from takt.core.formats.vrma_write import write as write_vrma
from takt.core.library.clip_files import read_clip_file
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.upright import scaled
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.gltf_files import Made, packed
from takt.tests.core.rigs import RIGS, with_model_axes, worn

PLAYED_DEG = 0.1
HEIGHT_M = 1e-4
BONES = {"hips": (0.0, 1.0, 0.0), "spine": (0.0, 0.1, 0.0), "head": (0.0, 0.5, 0.0)} | {
    f"{side}{bone}": way for side, x in (("left", 1.0), ("right", -1.0)) for bone, way in {
        "UpperLeg": (0.1 * x, -0.1, 0.0), "LowerLeg": (0.0, -0.4, 0.02), "Foot": (0.0, -0.4, -0.02),
        "UpperArm": (0.2 * x, 0.4, 0.0), "LowerArm": (0.3 * x, 0.0, 0.0), "Hand": (0.25 * x, 0.0, 0.0)}.items()}
ABOVE = {"spine": "hips", "head": "spine"} | {f"{side}{bone}": above if above in ("hips", "spine") else side + above
                                              for side in ("left", "right") for bone, above in (
    ("UpperLeg", "hips"), ("LowerLeg", "UpperLeg"), ("Foot", "LowerLeg"), ("UpperArm", "spine"),
    ("LowerArm", "UpperArm"), ("Hand", "LowerArm"))}


def file_of(extension: str, name: str = "J_{}", between: bool = False) -> tuple[dict[str, Any], bytes]:
    """Return JSON and data of a body of nodes with meaningless names, whose left arm turns; VRM says what they are."""
    made, number = Made(), dict[str, int]()
    top = made.node("Armature")
    for index, (bone, way) in enumerate(BONES.items()):
        above = number[ABOVE[bone]] if bone in ABOVE else top
        if between and bone == "leftHand":
            above = made.node("twist", above, translation=(0.0, 0.0, 0.0))
        number[bone] = made.node(name.format(index), above, translation=way)
    times = made.accessor([0.0, 1.0])
    turns = made.accessor([(0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.6, 0.8)])
    made.animation("Wave", {(number["leftUpperArm"], "rotation"): (times, turns, "LINEAR")})
    document = made.document()
    table: Any = {bone: {"node": node} for bone, node in number.items()}
    if extension == "VRM":
        table = [{"bone": bone, **entry} for bone, entry in table.items()]
    document["extensions"] = {extension: {"humanoid": {"humanBones": table}}}
    return document, bytes(made.binary)


def read(document: dict[str, Any], binary: bytes, name: str = "a.vrma") -> ClipFile:
    return gltf.read(Source(packed(json.dumps(document).encode(), binary), Path(name)))


# Tables

@pytest.mark.parametrize("extension", ["VRM", "VRMC_vrm", "VRMC_vrm_animation"])
def test_a_table_of_bones_is_the_map(extension: str) -> None:
    (clip,) = read(*file_of(extension)).clips
    found = find_map(clip.skeleton)
    assert found.certainty == 1.0 and found.is_checked and not found.missing
    meant = {"leftUpperArm": "l_shoulder", "rightFoot": "r_ankle", "hips": "HumanoidRoot", "spine": "vl5",
             "head": "skullbase"}
    joint_of = {bone: f"J_{index}" for index, bone in enumerate(BONES)}
    for bone, name in meant.items():
        assert found.joint_of[name] == clip.skeleton.index_of[joint_of[bone]]
    assert found.turn is not None and rot.angle_between(found.turn, rot.IDENTITY) < 1e-6


def test_without_the_table_a_few_nodes_that_turn_are_no_body() -> None:
    document, binary = file_of("VRMC_vrm")
    del document["extensions"]
    with pytest.raises(FileError, match="has no animation that moves the joints of a skin, or a tree of nodes"):
        read(document, binary)


def test_thumbs_are_named_from_the_palm_on_in_version_1_alone() -> None:
    for extension, bones in (("VRM", ("Proximal", "Intermediate", "Distal")),
                             ("VRMC_vrm", ("Metacarpal", "Proximal", "Distal"))):
        document, binary = file_of(extension)
        hand = next(node for node in document["nodes"] if node["name"] == f"J_{list(BONES).index('leftHand')}")
        table = document["extensions"][extension]["humanoid"]["humanBones"]
        for link in bones:
            document["nodes"].append({"name": f"t{link}", "translation": [0.02, 0.0, 0.02]})
            node = len(document["nodes"]) - 1
            hand["children"] = [node]
            hand = document["nodes"][node]
            if extension == "VRM":
                table.append({"bone": f"leftThumb{link}", "node": node})
            else:
                table[f"leftThumb{link}"] = {"node": node}
        found = find_map(read(document, binary).clips[0].skeleton)
        assert [found.skeleton.names[found.joint_of[f"l_thumb{i}"]] for i in (1, 2, 3)] == [f"t{b}" for b in bones]


def test_nodes_between_bones_are_joints_that_mean_nothing() -> None:
    skeleton = read(*file_of("VRMC_vrm_animation", between=True)).clips[0].skeleton
    assert "twist" in skeleton.names and "twist" not in skeleton.meant


def test_what_joints_mean_stays_with_the_skeleton() -> None:
    skeleton = read(*file_of("VRMC_vrm")).clips[0].skeleton
    turn = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), 1.0)
    for other in (skeleton.turned(turn), skeleton.shifted(np.ones(3)), skeleton.with_model_axes(),
                  skeleton.part(np.arange(len(skeleton))), skeleton.in_pose(rot.identities(len(skeleton)))):
        assert other.meant == skeleton.meant and find_map(other).is_checked


def test_an_avatar_without_motion_is_a_skeleton() -> None:
    document, binary = file_of("VRMC_vrm")
    del document["animations"]
    file = read(document, binary, "a.vrm")
    assert (len(file.skeleton), file.clips, file.warnings) == (15, (), ("has no animation; its skeleton can play",))


@pytest.mark.parametrize(("change", "message"), [
    ({"hips": {"node": 99}}, "humanBones.hips: node is '99'"), ({"hips": {}}, "node is 'null'"),
    ({"hips": {"node": 3}}, "node 3 is another bone already"), ({"hips": 1}, "hips is '1', an object is wanted")])
def test_tables_that_name_no_nodes_are_refused(change: dict[str, Any], message: str) -> None:
    document, binary = file_of("VRMC_vrm")
    document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"] |= change
    with pytest.raises(FileError, match=message):
        read(document, binary)


# There and back

def dance(skeleton: Skeleton, seed: int = 0, frames: int = 31) -> Clip:
    """Turn every joint and move the hips, smoothly."""
    rng, times = np.random.default_rng(seed), np.arange(frames) / 30.0
    axes, pace = rng.normal(size=(len(skeleton), 3)), rng.uniform(1.0, 3.0, len(skeleton))
    turns = rot.from_axis_angle(np.broadcast_to(axes, (frames, len(skeleton), 3)), 0.7 * np.sin(times[:, None] * pace))
    ways = 0.2 * rng.normal(size=3) * np.sin(times[:, None, None] * 2.0)
    hips = find_map(skeleton).joint_of["HumanoidRoot"]
    return Clip("dance", skeleton, float(times[-1]), Tracks.uniform(np.arange(len(skeleton)), times, turns),
                Tracks.uniform(np.array((hips,)), times, ways), Tracks.empty(3))


def turns_from(skeleton: Skeleton, clip: Clip, times: FloatArray, rest: FloatArray) -> FloatArray:
    """Return by how much joints are turned from a pose, in model axes, (F, J, 4)."""
    pose = clip.sample(times)
    world = world_from_pose(skeleton, pose)[..., :3]
    own = rot.multiply(rot.from_matrix(world), rot.conjugate(skeleton.rest_world_rotations))
    return rot.multiply(own, rot.conjugate(rest))


def own_axes(skeleton: Skeleton, seed: int) -> Skeleton:
    """Return a skeleton in the same places whose joints have axes of their own."""
    axes = rot.normalized(np.random.default_rng(seed).normal(size=(len(skeleton), 4)))
    above = skeleton.parents
    local = np.where((above >= 0)[:, None], rot.multiply(rot.conjugate(axes[above]), axes), axes)
    ways = np.where((above >= 0)[:, None], rot.rotate(rot.conjugate(axes[above]), skeleton.rest_translations),
                    skeleton.rest_translations)
    return Skeleton.from_arrays(skeleton.names, above, local, ways, name=skeleton.name)


@pytest.mark.parametrize("rig", ["VRoid", "VRM", "Mixamo", "Unreal's mannequin"])
@pytest.mark.parametrize("up", [(0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.0, np.pi, 0.0)])
def test_bones_turn_from_the_t_pose_as_they_did(rig: str, up: tuple[float, float, float]) -> None:
    """As VRMA's players play it: what a bone turns from its rest in the file, it turns from the avatar's T-pose."""
    turn = rot.from_axis_angle(np.array(up), float(np.linalg.norm(up)))
    body = own_axes(worn(RIGS[rig]), 3).turned(turn)
    clip, found = dance(body), find_map(body)
    assert found.turn is not None
    bones = bones_of(found)
    (back,) = gltf.read(Source(write_vrma(ClipFile(body, (clip,))), Path("a.vrma"))).clips
    times = np.linspace(0.0, clip.duration_s, 20)
    was = turns_from(body, clip, times, t_pose(body, found.turn, bones))
    back_turn = rot.conjugate(found.turn)
    was = rot.multiply(rot.multiply(back_turn, was), found.turn)
    now = turns_from(back.skeleton, back, times, rot.identities(len(back.skeleton)))
    for bone, joint in bones.items():
        apart = rot.angle_between(was[:, joint], now[:, back.skeleton.index_of[bone]])
        assert np.degrees(apart.max()) < PLAYED_DEG, bone
    hips = world_from_pose(body, clip.sample(times))[:, bones["hips"], :, 3]
    there = world_from_pose(back.skeleton, back.sample(times))[:, back.skeleton.index_of["hips"], :, 3]
    np.testing.assert_allclose(rot.rotate(back_turn, hips), there, atol=HEIGHT_M)


def test_a_body_whose_root_rests_at_zero_stands_on_the_ground_in_the_file() -> None:
    """Players scale the way of the hips by how high these are at rest."""
    body = worn(RIGS["Mixamo"])
    offsets = body.rest_translations.copy()
    offsets[body.parents < 0] = 0.0
    sunk = Skeleton.from_arrays(body.names, body.parents, body.rest_rotations, offsets, name=body.name)
    heights = []
    for each in (body, sunk):
        (back,) = gltf.read(Source(write_vrma(ClipFile(each, (dance(each),))), Path("a.vrma"))).clips
        heights.append(float(back.skeleton.rest_world[back.skeleton.index_of["hips"], 1, 3]))
    assert heights[0] > 0.5 and heights[1] == pytest.approx(heights[0], rel=0.15)


def test_a_bvh_in_centimetres_is_converted_into_metres(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip, heights = with_model_axes(dance(worn(RIGS["Mixamo"]))), list[float]()
    for size, unit in ((1.0, "AUTO"), (100.0, "AUTO"), (100.0, "METRES")):
        source = tmp_path / "dance.bvh"
        source.write_bytes(bvh.write(scaled(clip, size), 1.0 / 30.0))
        for target in ("dance.vrma", "dance.x3d"):
            assert main(["convert", str(source), str(tmp_path / target), "--bvh-unit", unit]) == 0
            assert ("centimetres" in capsys.readouterr().err) == (size > 1.0 and unit == "AUTO")
            rest = read_clip_file(tmp_path / target).skeleton.rest_world[:, 1, 3]
            heights.append(float(np.ptp(rest)))
    np.testing.assert_allclose(heights[2:4], heights[:2], rtol=1e-3)
    np.testing.assert_allclose(heights[4:], 100.0 * np.array(heights[:2]), rtol=1e-3)


@pytest.mark.parametrize("extension", ["VRM", "VRMC_vrm"])
def test_there_and_back_on_an_avatar(extension: str) -> None:
    body = own_axes(read(*file_of(extension)).clips[0].skeleton, 5)
    body = Skeleton.from_arrays(body.names, body.parents, body.rest_rotations, body.rest_translations, name="avatar",
                                meant=read(*file_of(extension)).clips[0].skeleton.meant)
    clip = dance(body, 1)
    (file,) = gltf.read(Source(write_vrma(ClipFile(body, (clip,))), Path("a.vrma"))).clips
    again = retarget(file, body).clip
    times = np.linspace(0.0, clip.duration_s, 20)
    rest = rot.identities(len(body))
    apart = rot.angle_between(turns_from(body, clip, times, rest), turns_from(body, again, times, rest))
    assert np.degrees(apart.max()) < PLAYED_DEG
    one, other = (world_from_pose(body, each.sample(times))[..., 3] for each in (clip, again))
    np.testing.assert_allclose(one, other, atol=2e-3)


def test_arms_that_hang_are_written_as_turned_from_level_ones() -> None:
    body = build_skeleton()
    found = find_map(body)
    assert found.turn is not None
    turns = t_pose(body, found.turn, bones_of(found))
    posed = body.in_pose(turns)
    for side, x in (("l", 1.0), ("r", -1.0)):
        arm = posed.rest_world[[found.joint_of[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist")], :, 3]
        ways = np.diff(arm, axis=0)
        np.testing.assert_allclose(ways / np.linalg.norm(ways, axis=1, keepdims=True), [(x, 0, 0)] * 2, atol=0.1)


def test_a_body_that_is_no_human_is_refused() -> None:
    arm = Skeleton.from_arrays(["a", "b"], [-1, 0], rot.identities(2), np.eye(3)[:2])
    with pytest.raises(TaktError, match="VRMA holds the motion of humans; skeleton '' has no hips, "):
        write_vrma(ClipFile(arm, (Clip("x", arm, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)),)))


def test_too_long_a_clip_is_refused() -> None:
    body = worn(RIGS["VRM"])
    long = Clip("x", body, 1e5, Tracks.uniform(np.array((0,)), np.array((0.0, 1e5)), rot.identities(2, 1)),
                Tracks.empty(3), Tracks.empty(3))
    with pytest.raises(TaktError, match="keys of 21 joints; at most 20000000 together"):
        write_vrma(ClipFile(body, (long,)))


def test_a_score_plays_a_vrma_file(tmp_path: Path) -> None:
    document, binary = file_of("VRMC_vrm_animation")
    path = tmp_path / "wave.vrma"
    path.write_bytes(packed(json.dumps(document).encode(), binary))
    entry = format_of(path)
    assert entry is not None and entry.identifier == "VRMA"
    clips, said = Library([tmp_path]).clips("wave")
    assert [clip.name for clip in clips] == ["Wave"] and said == ()
    assert Library([tmp_path]).skeleton_map(clips[0].skeleton).certainty == 1.0
