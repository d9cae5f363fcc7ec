"""RiTE's text files: written by hand, since no others are to be had."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip
from takt.core.errors import FileError
from takt.core.formats import rite
from takt.core.library.clip_files import choices_beside, read_clip_file
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import world_from_pose

HALF = np.sqrt(0.5)
MODEL = f"""RiTE model
joints 3

0 "pelvis"
parent -1
orientation 0 0 0 1
translation 0 1 0
rotation 0 0 {HALF} {HALF}
2 "left knee"
parent 1
orientation 0 0 0 1
translation 0 -0.5 0
rotation 0 0 0 1
1 "l_hip"
parent 0
orientation {HALF} 0 0 {HALF}
translation 0.1 0 0
rotation 0 0 0 1

vertices
0 0 0 0
1 1 0 0
normals
0 0 1 0
texture coordinates
0 0.5 0.5
triangles
0 skin.ras 0 1 1 0 0 0 0 0 0
weights
0 1 2 "left knee" 1.0
"""
CLIP = f"""animation
track 0 0 "pelvis"
0 1 0 0 0 1
1 5 0 0 {HALF} {HALF}
track 1 2 "left knee"
0 3 0 0 0 -2
1 4 {HALF} 0 0 {HALF}
"""
A, M = Path("lib/walk.raa"), Path("lib/walk.ram")


def about(axis: int, degrees: float) -> np.ndarray:
    return rot.from_axis_angle(np.eye(3)[axis], np.radians(degrees))


def read(clip: str = CLIP, model: str = MODEL) -> Clip:
    return rite.read(clip.encode(), A, model.encode(), M)


def test_the_rest_pose_is_orientation_and_rotation_one_after_the_other() -> None:
    skeleton = read().skeleton
    assert (skeleton.names, skeleton.parents.tolist()) == (("pelvis", "l_hip", "left knee"), [-1, 0, 1])
    world = skeleton.rest_world
    # Turned by 90° about Z, what lay on +X lies on +Y; the hip's own 90° about X comes on top.
    np.testing.assert_allclose(world[:, :, 3], ((0, 1, 0), (0, 1.1, 0), (0, 1.1, -0.5)), atol=1e-7)


def test_a_key_takes_the_place_of_rotation_but_not_of_orientation() -> None:
    clip = read()
    world = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, 4 / rite.FPS))))
    np.testing.assert_allclose(world[0, 0, :, :3], np.eye(3), atol=1e-7)
    np.testing.assert_allclose(world[1, 0, :, :3], rot.to_matrix(about(2, 90)), atol=1e-7)
    np.testing.assert_allclose(world[0, 1, :, :3], rot.to_matrix(about(0, 90)), atol=1e-7)
    assert (clip.name, len(clip.translations), len(clip.scales)) == ("walk", 0, 0)


def test_a_clip_is_a_loop_between_its_last_and_its_first_key() -> None:
    """Five frames: the pelvis comes back from its last key within the fifth, the knee over frames 4, 5, 1, 2 to 3."""
    clip = read()
    assert clip.is_looping and clip.duration_s == pytest.approx(5 / rite.FPS)
    frames = np.array((4.5, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0))
    pose = clip.sample(frames / rite.FPS, "SLERP")
    turned = [np.degrees(2 * np.arccos(np.clip(abs(q[:, 0]), 0, 1))) for q in
              (rot.multiply(about(2, 90), pose.rotations[:, 0]), pose.rotations[:, 2])]
    np.testing.assert_allclose(turned[0][:3], (45, 0, 0), atol=1e-5)
    np.testing.assert_allclose(turned[1], (45, 45 - 22.5 + 11.25 + 11.25, 45, 22.5, 0, 90, 67.5), atol=12)
    np.testing.assert_allclose(turned[1][2:], (45, 22.5, 0, 90, 67.5), atol=1e-5)
    np.testing.assert_allclose(turned[1][1], 45, atol=1e-5)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"l_hip"', '"pelvis"', "walk.ram:14: found '1 \"pelvis\"', expected another ID and another name"),
    ("parent 1\n", "parent 7\n", "walk.ram:9: joint 'left knee' has no joint 7 for its parent"),
    ("parent 0\n", "parent 2\n", "walk.ram:9: joint 'left knee' is its own ancestor"),
    ("parent 0\n", "parent 0.5\n", "walk.ram:15: found 'parent 0.5', expected a whole number for '0.5'"),
    ("parent 0\n", "", "walk.ram:14: joint 'l_hip' has no line parent"),
    ("translation 0.1 0 0", "translation 0.1 0", "walk.ram:17: found 'translation 0.1 0', expected 3 finite numbers"),
    ("translation 0.1 0 0", "translation 0.1 nan 0", "walk.ram:17: found"),
    ("parent 0\n", "parent 0\nparent 0\n", "walk.ram:16: found 'parent 0', expected a joint such as"),
    ("rotation 0 0 0 1\n1", "rotation 0 0 0 0\n1", "walk.ram:13: found 'rotation 0 0 0 0', expected a rotation that"),
    ("0 0.5 0.5", "0 0.5 0.5 1 2 3 4", "walk.ram:26: found '0 0.5 0.5 1 2 3 4', expected a joint, texture coord"),
])
def test_says_what_is_wrong_with_the_model(old: str, new: str, message: str) -> None:
    assert MODEL.count(old) >= 1
    with pytest.raises(FileError) as caught:
        read(model=MODEL.replace(old, new, 1))
    assert message in str(caught.value)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"pelvis"', '"tail"', "walk.raa:2: the model has no joint 'tail'; it has pelvis, l_hip, left knee"),
    ("track 0 0", "track 0", "walk.raa:2: found 'track 0 \"pelvis\"', expected track ID JOINT \"NAME\", once for each"),
    ('2 "left knee"', '0 "pelvis"', "walk.raa:5: found"),
    ("1 5 ", "1 1 ", "walk.raa:4: found '1 1 0 0"),
    ("1 5 ", "1 0 ", "expected another frame for each key of a track, from 1 to"),
    ("1 5 ", "1 5.5 ", "expected a whole number for '5.5'"),
    ("1 5 ", "1 99999999 ", "from 1 to 10000000"),
    ("0 3 0 0 0 -2", "0 3 0 0 0 0", "walk.raa:6: found '0 3 0 0 0 0', expected a rotation that is not all zeros"),
    ("0 3 0 0 0 -2", "0 3 0 0 0", "expected a key ID FRAME X Y Z W below a line track"),
    ('track 0 0 "pelvis"\n', "", "walk.raa:2: found '0 1 0 0 0 1', expected a key"),
])
def test_says_what_is_wrong_with_the_animation(old: str, new: str, message: str) -> None:
    assert CLIP.count(old) >= 1
    with pytest.raises(FileError) as caught:
        read(CLIP.replace(old, new, 1))
    assert message in str(caught.value)


def test_empty_files_are_refused() -> None:
    with pytest.raises(FileError, match=r"walk\.ram:1: the model has no joint"):
        read(model="")
    with pytest.raises(FileError, match=r"walk\.raa:2: the animation has no key"):
        read("heading\n")


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_noise_is_read_or_refused(noise: str) -> None:
    for clip, model in ((CLIP + noise, MODEL), (noise + CLIP, MODEL), (CLIP, MODEL + noise), (CLIP, noise + MODEL)):
        try:
            rite.read(clip.encode("utf-8", "surrogatepass"), A, model.encode("utf-8", "surrogatepass"), M)
        except FileError as error:
            assert str(error)


def test_the_model_lies_beside_the_animation(tmp_path: Path) -> None:
    (tmp_path / "walk.raa").write_text(CLIP)
    with pytest.raises(FileError, match=r"wants a \.ram file beside it: walk\.ram, or the only one in "
                                        r"the folder; there is none"):
        Library([tmp_path]).clips("walk")
    (tmp_path / "man.ram").write_text(MODEL)
    ((clip,), _) = Library([tmp_path]).clips("walk")
    assert clip.skeleton.name == "man"
    (tmp_path / "woman.ram").write_text(MODEL)
    with pytest.raises(FileError, match=r"several \.ram files beside it fit: man\.ram, woman\.ram\. File > Import "
                                        r"lets you choose one; everywhere else the one that is called walk\.ram is"):
        Library([tmp_path]).clips("walk")
    path = (tmp_path / "walk.raa").resolve()
    assert [each.name for each in choices_beside(path)] == ["man.ram", "woman.ram"]
    chosen = Library([tmp_path], reading=Reading(second_files={path: path.with_name("woman.ram")}))
    assert chosen.clips("walk")[0][0].skeleton.name == "woman"
    (tmp_path / "walk.ram").write_text(MODEL)
    assert Library([tmp_path]).clips("walk")[0][0].skeleton.name == "walk" and not choices_beside(path)


def test_models_without_the_joints_of_an_animation_are_not_taken(tmp_path: Path) -> None:
    """As soon as a file is written again, it is looked at again; where no model fits, all are named."""
    path, man, horse = (tmp_path / name for name in ("walk.raa", "man.ram", "horse.ram"))
    path.write_text(CLIP)
    man.write_text(MODEL)
    horse.write_text(MODEL.replace("left knee", "left hock"))
    assert read_clip_file(path).skeleton.name == "man" and choices_beside(path) == ()
    horse.write_text(MODEL)
    os.utime(horse, ns=(5, 5))
    assert [each.name for each in choices_beside(path)] == ["horse.ram", "man.ram"]
    for model in (man, horse):
        model.write_text(MODEL.replace("left knee", "left hock"))
        os.utime(model, ns=(7, 7))
    with pytest.raises(FileError, match=r"fit: horse\.ram, man\.ram\."):
        read_clip_file(path)
    with pytest.raises(FileError, match="the model has no joint 'left knee'"):
        read_clip_file(path, beside=man)
