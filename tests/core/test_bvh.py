"""BVH: files written by hand, trips there and back, real files, damaged files."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import FileError, TaktError
from takt.core.formats import bvh
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.beside import real_file
from takt.tests.core.rigs import with_model_axes

TEXT_DIGITS = 1e-7
"""Nine digits are written."""

_LINE = bvh._Line

HIERARCHY = """HIERARCHY
ROOT Hips
{
\tOFFSET 0 1 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Left Leg
\t{
\t\tOFFSET 0.5 0 0
\t\tCHANNELS 2 Yrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -1 0
\t\t}
\t}
\tJOINT Still {
\t\tOFFSET 0 1 0
\t}
}
"""
MOTION = """MOTION
Frames: 2
Frame Time: 0.5
1 2 3 90 0 0 0 0
0 1 0 10 20 30 40 50
"""
TEXT = HIERARCHY + MOTION


def about(axis: int, degrees: float) -> np.ndarray:
    return rot.from_axis_angle(np.eye(3)[axis], np.radians(degrees))


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT,
                                  TEXT.replace("\t", "    ").rstrip(),
                                  TEXT.replace("ROOT ", "root\t").replace("CHANNELS ", "Channels\t")])
def test_reads_what_stands_there(text: str) -> None:
    file = bvh.read(text.encode(), Path("x/walk.bvh"))
    clip, skeleton = file.clip, file.clip.skeleton
    assert (clip.name, clip.duration_s, file.frame_time_s) == ("walk", 0.5, 0.5)
    assert (skeleton.names, skeleton.parents.tolist()) == (("Hips", "Left Leg", "Still"), [-1, 0, 0])
    np.testing.assert_array_equal(skeleton.rest_translations, ((0, 1, 0), (0.5, 0, 0), (0, 1, 0)))
    np.testing.assert_array_equal(file.ends["Left Leg"], (0, -1, 0))
    pose = clip.sample(np.array((0.0, 0.5)))
    np.testing.assert_allclose(pose.translations[:, 0], ((1, 1, 3), (0, 0, 0)))
    z_x_y = rot.multiply(rot.multiply(about(2, 10), about(0, 20)), about(1, 30))
    assert rot.angle_between(pose.rotations[1, 0], z_x_y) < 1e-7
    assert rot.angle_between(pose.rotations[1, 1], rot.multiply(about(1, 40), about(0, 50))) < 1e-7
    assert clip.moved.tolist() == [True, True, False]
    np.testing.assert_allclose(world_from_pose(skeleton, pose)[0, 1, :, 3], (1, 2.5, 3), atol=1e-12)


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_there_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joints, frames = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    skeleton = Skeleton.from_arrays([f"j {i}" for i in range(joints)],
                                    [int(rng.integers(-1, j)) if j else -1 for j in range(joints)],
                                    rot.normalized(rng.normal(size=(joints, 4))), rng.normal(size=(joints, 3)))
    times = np.arange(frames) / 8.0
    q = rot.normalized(rng.normal(size=(frames, joints, 4)))
    clip = Clip("c", skeleton, float(times[-1]), Tracks.uniform(np.arange(joints), times, q),
                Tracks.uniform(np.arange(joints), times, rng.normal(size=(frames, joints, 3))), Tracks.empty(3))
    back = bvh.read(bvh.write(with_model_axes(clip), 0.125)).clip
    to = [back.skeleton.index_of[name] for name in skeleton.names]
    there, here = (world_from_pose(c.skeleton, c.sample(times))[..., 3] for c in (clip, back))
    np.testing.assert_allclose(here[:, to], there, atol=1e-5)


@pytest.mark.parametrize("y", [90, -90, 89.9999, -89.9999])
def test_there_and_back_where_two_angles_turn_about_the_same_axis(y: float) -> None:
    skeleton = Skeleton.from_arrays(["a"], [-1], rot.identities(1), np.zeros((1, 3)))
    q = rot.multiply(rot.multiply(about(2, 30), about(1, y)), about(0, 20))
    clip = Clip("c", skeleton, 0.0, Tracks.uniform(np.zeros(1, np.int64), np.zeros(1), q[None, None]), Tracks.empty(3),
                Tracks.empty(3))
    back = bvh.read(bvh.write(clip, 1.0)).clip
    assert rot.angle_between(back.rotations.values[0], q) < 1e-6


def test_ends_are_written_and_joints_without_motion_of_their_own_have_three_channels() -> None:
    file = bvh.read(TEXT.encode())
    text = bvh.write(file.clip, 0.5, file.ends)
    assert text.count(b"CHANNELS 6") == 1
    np.testing.assert_array_equal(bvh.read(text).ends["Left Leg"], (0, -1, 0))


@pytest.mark.parametrize("name", ["dance_charleston", "bow", "cmu_01_01"])
def test_real_files_come_back(name: str) -> None:
    path = real_file("clips", f"{name}.bvh")
    file = bvh.read(path.read_bytes(), path)
    again = bvh.read(bvh.write(file.clip, file.frame_time_s, file.ends))
    times = np.linspace(0.0, file.clip.duration_s, 50)
    there, here = (world_from_pose(f.clip.skeleton, f.clip.sample(times))[..., 3] for f in (file, again))
    np.testing.assert_allclose(here, there, atol=TEXT_DIGITS * np.abs(there).max())


@pytest.mark.parametrize(("old", "new", "message"), [
    ("HIERARCHY", "HIERARCHIE", ":1: a BVH file begins with HIERARCHY, not with 'HIERARCHIE'"),
    ("MOTION", "MOTIONS", "no line MOTION"),
    ("ROOT Hips", "JOINT Hips", ":2: 'JOINT Hips' does not belong here"),
    ("\tOFFSET 0 1 0\n\tCHANNELS", "\tOFFSET 0 nan 0\n\tCHANNELS", ":4: OFFSET '0 nan 0'; three finite numbers"),
    ("OFFSET 0.5 0 0", "OFFSET 0.5 0", ":8: OFFSET '0.5 0'"),
    ("CHANNELS 2", "CHANNELS 3", ":9: CHANNELS '3 Yrotation Xrotation': the number of channels"),
    ("2 Yrotation", "2 Wrotation", ":9: CHANNELS '2 Wrotation Xrotation': the number of channels"),
    ("6 Xposition Yposition", "6 Xposition Xposition", ":5: CHANNELS "),
    ("End Site\n\t\t{", "End Site\n\t\t", ":12: found 'OFFSET 0 -1 0' where { is wanted"),
    ("\t}\n}\nMOTION", "\t}\nMOTION", ":17: the hierarchy is not complete: a brace is not closed"),
    ("Frames: 2", "Frames: x", ":20: Frames is 'x'; a whole number of at least 1"),
    ("Frames: 2", "Frames: 0", ":20: Frames is '0'"),
    ("Frame Time: 0.5", "Frame Time: 0", ":21: Frame Time is '0'; seconds greater than 1e-09 are wanted"),
    ("Frame Time: 0.5", "Frame Time: nan", ":21: Frame Time is 'nan'"),
    ("Frame Time: 0.5", "Frame Time: 1e-310", ":21: Frame Time is '1e-310'; seconds greater than 1e-09"),
    ("Frame Time: 0.5", "Frame Time: 1e-10", ":21: Frame Time is '1e-10'; seconds greater than 1e-09"),
    ("Frame Time: 0.5", "", "after MOTION the lines 'Frames: COUNT' and 'Frame Time: SECONDS'"),
    ("1 2 3 90", "1 2 3", ":22: a frame of 7 numbers; the 8 channels"),
    ("40 50", "40 50 60", ":23: a frame of 9 numbers"),
    ("40 50", "40 x", ":23: 'x' is no finite number"),
    ("40 50", "40 inf", ":23: 'inf' is no finite number"),
    ("40 50", "40 5_0", ":23: '5_0' is no finite number"),
])
def test_says_what_is_wrong_and_where(old: str, new: str, message: str) -> None:
    assert TEXT.count(old) >= 1
    with pytest.raises(FileError) as caught:
        bvh.read(TEXT.replace(old, new, 1).encode(), Path("a.bvh"))
    assert str(caught.value).startswith("a.bvh:")
    assert message in str(caught.value)


def test_more_frames_than_announced_are_read_and_said(tmp_path: Path) -> None:
    exact, lax = TEXT.encode(), TEXT.replace("Frames: 2", "Frames: 1").encode()
    assert bvh.read(exact).warnings == ()
    one, other = (bvh.read(data).clip for data in (exact, lax))
    assert bvh.read(lax).warnings == ("Frames announces 1 frames, but there are 2; all of them are read",)
    assert one.duration_s == other.duration_s
    np.testing.assert_allclose(one.rotations.values, other.rotations.values, rtol=0, atol=1e-14)
    (tmp_path / "lax.bvh").write_bytes(lax)
    said = Library([tmp_path]).clips("lax")[1]
    assert said[0].message == "lax.bvh: Frames announces 1 frames, but there are 2; all of them are read"
    assert said[0].is_warning and not said[0].is_note


@pytest.mark.parametrize("old, new, warning", [
    ("HIERARCHY", "# made by hand\nHIERARCHY", None), ("Frames:", "Frames :", None),
    ("Frame Time:", "FrameTime :", None), ("End Site", "EndSite", None),
    (".", ",", "its numbers have decimal commas instead of points"),
    ("Left Leg", "Hips", "line 6: a second joint named 'Hips'; it is called 'Hips.001'"),
    ("Left Leg", "", "line 6: a joint without a name; it is called 'joint.001'")])
def test_what_other_programs_read_is_read(old: str, new: str, warning: str | None) -> None:
    assert old in TEXT
    wanted, found = bvh.read(TEXT.encode()), bvh.read(TEXT.replace(old, new).encode())
    np.testing.assert_allclose(found.clip.rotations.values, wanted.clip.rotations.values, rtol=0, atol=1e-14)
    assert found.frame_time_s == wanted.frame_time_s and found.warnings == (() if warning is None else (warning,))


def test_values_may_have_commas_where_the_frame_time_has_none() -> None:
    text = TEXT.replace("1 2 3 90", "1.5 2.25 -3.5 90")
    start = text.index("1.5 2.25")
    wanted, found = bvh.read(text.encode()), bvh.read((text[:start] + text[start:].replace(".", ",")).encode())
    np.testing.assert_allclose(found.clip.translations.values, wanted.clip.translations.values, rtol=0, atol=1e-14)
    assert found.warnings == ("its numbers have decimal commas instead of points",)
    with pytest.raises(FileError, match="is no finite number"):  # between numbers, commas are no points
        bvh.read((text[:start] + text[start:].replace(" ", ",")).encode())


def test_lines_may_end_as_on_old_macs() -> None:
    wanted, found = (bvh.read(text.encode()).clip for text in (TEXT, TEXT.replace("\n", "\r")))
    assert found.skeleton.names == wanted.skeleton.names and found.duration_s == wanted.duration_s


def test_numbers_that_only_add_up_are_no_further_frames() -> None:
    """Lines of four numbers, where the hierarchy has three channels."""
    head = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\nMOTION\n"
    for lines in ("1 2 3 4\n" * 3, "1 2\n1 2 3 4\n"):
        with pytest.raises(FileError, match=r"a frame of [24] numbers; the 3 channels"):
            bvh.read(f"{head}Frames: 1\nFrame Time: 0.1\n{lines}".encode())


def test_without_channels_no_number_of_frames_is_believed() -> None:
    with pytest.raises(FileError, match="no joint has CHANNELS"):
        bvh.read(b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\nFrames: 999999999999\nFrame Time: 1\n")


@pytest.mark.slow
def test_a_million_joints_are_refused_without_reading_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "HIERARCHY\n" + "".join(f"ROOT j{i}\n{{\n}}\n" for i in range(1_000_000)) + MOTION
    lines: list[int] = []

    def line(number: int, part: str) -> object:
        lines.append(number)
        return _LINE(number, part)

    monkeypatch.setattr(bvh, "_Line", line)
    with pytest.raises(FileError, match="more than 10000 joints"):
        bvh.read(text.encode())
    assert max(lines) < 31_000


@pytest.mark.slow
@pytest.mark.parametrize(("last", "message"), [
    ("1 2 nan\n", ":300010: 'nan' is no finite number"),
    ("1 2 3 4\n", ":300010: a frame of 4 numbers; the 3 channels")])
def test_what_is_wrong_in_the_last_of_many_frames_is_found(last: str, message: str) -> None:
    text = ("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\nMOTION\nFrames: 300001\n"
            "Frame Time: 0.1\n" + "1 2 3\n" * 300_000 + last)
    with pytest.raises(FileError) as caught:
        bvh.read(text.encode())
    assert message in str(caught.value)


@pytest.mark.parametrize(("written", "message"), [
    ("1 1e30 3 90", ":22: '1e30' is beyond any sense as a position"),
    ("1 -2.6e6 3 90", ":22: '-2.6e6' is beyond any sense as a position"),
    ("1 2 3 1e30", ":22: '1e30' is beyond any sense as an angle")])
def test_numbers_beyond_any_sense_are_refused_with_their_line(written: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        bvh.read(TEXT.replace("1 2 3 90", written).encode())
    assert message in str(caught.value)


def test_what_is_far_off_is_read() -> None:
    clip = bvh.read(TEXT.replace("1 2 3 90", "1 2.4e6 3 3e8").encode()).clip  # its bones are 2.5 long
    assert clip.translations.values.max() == 2.4e6 - 1.0


def test_cut_off_before_the_first_frame_is_whole_it_is_refused() -> None:
    data = TEXT.encode()
    for cut in range(data.index(b"1 2 3 90") + len("1 2 3 90 0 0 0 ")):
        with pytest.raises(FileError, match=r"^a\.bvh:\d+: "):
            bvh.read(data[:cut], Path("a.bvh"))


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_noise_is_read_or_refused(noise: str) -> None:
    for text in (HIERARCHY + noise, noise + TEXT, TEXT + noise, TEXT.replace("Leg", noise)):
        try:
            bvh.read(text.encode("utf-8", "surrogatepass"))
        except FileError as error:
            assert str(error)


@pytest.mark.parametrize("frame_time", [0.0, -1.0, float("nan"), float("inf")])
def test_a_frame_time_must_be_positive(frame_time: float) -> None:
    with pytest.raises(TaktError, match=r"a frame time of .* seconds greater than 0 are wanted"):
        bvh.write(bvh.read(TEXT.encode()).clip, frame_time)


def test_long_files_turn_in_each_frame_as_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    angles = np.random.default_rng(0).uniform(-180.0, 180.0, (600, 8))
    text = HIERARCHY + "MOTION\nFrames: 600\nFrame Time: 0.01\n" + "\n".join(" ".join(map(str, row)) for row in angles)
    runs = bvh.read(text.encode()).clip.rotations.values
    monkeypatch.setattr(bvh, "_TURNS_AT_ONCE", 7)
    np.testing.assert_allclose(runs, bvh.read(text.encode()).clip.rotations.values, rtol=0, atol=1e-14)
    legs = rot.multiply(about(1, angles[-1, 6]), about(0, angles[-1, 7]))
    assert rot.angle_between(runs[-1], legs) < TEXT_DIGITS


def test_more_numbers_than_are_read_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bvh, "MAX_VALUES", 15)
    with pytest.raises(FileError, match=r":24: more than 15 numbers in all frames; no more are read"):
        bvh.read(TEXT.encode(), Path("a.bvh"))
    monkeypatch.setattr(bvh, "MAX_VALUES", 16)
    monkeypatch.setattr(bvh, "MAX_FRAMES", 1)
    for text in (TEXT, TEXT.replace("Frames: 2", "Frames: 1")):
        with pytest.raises(FileError, match=":22: 2 frames; at most 1 are read: cut the motion into several files"):
            bvh.read(text.encode(), Path("a.bvh"))


@pytest.mark.parametrize("text", [
    TEXT.replace("Frame Time: 0.5", "Frame Time: 0.5" + " " * 1_000_000 + "x"),
    TEXT.replace("Frames:", " " * 1_000_000 + "x"), "HIERARCHY\n" + "{" * 8_000_000 + TEXT,
    "HIERARCHY\n" + " " * 20_000_000 + TEXT, TEXT.replace("OFFSET", "OFFSET 0 0 0\n" * 1_000_000 + "OFFSET", 1)],
    ids=["blanks behind the frame time", "blanks before the frames", "braces", "blanks", "offsets"])
def test_what_is_long_and_wrong_is_refused_soon(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(FileError):
        bvh.read(text.encode())
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_joints_with_axes_or_scales_of_their_own_at_rest_are_refused(scale: float) -> None:
    turn = rot.identities(2) if scale != 1.0 else np.stack((rot.IDENTITY, about(0, 1e-3)))
    skeleton = Skeleton.from_arrays(["a", "b"], [-1, 0], turn, np.zeros((2, 3)), np.array(((1, 1, 1), (1, scale, 1.0))))
    clip = Clip("c", skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    with pytest.raises(TaktError, match="joint 'b' has axes or a scale of its own at rest, which BVH cannot hold"):
        bvh.write(clip, 1.0)
    bvh.write(with_model_axes(clip), 1.0)


def test_a_name_that_does_not_fit_is_refused() -> None:
    skeleton = Skeleton.from_arrays(["a{b"], [-1], rot.identities(1), np.zeros((1, 3)))
    clip = Clip("c", skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    with pytest.raises(TaktError, match=r"the name 'a\{b' does not fit into a BVH file"):
        bvh.write(clip, 1.0)


def test_too_many_frames_are_refused_before_they_are_made() -> None:
    clip = bvh.read(TEXT.encode()).clip
    with pytest.raises(TaktError, match="take a longer frame time"):
        bvh.write(clip, 1e-300)


def poses(file: bvh.Bvh) -> FloatArray:
    return file.clip.sample(np.arange(3.0) * file.frame_time_s).rotations


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_a_warning(encoding: str) -> None:
    file = bvh.read(TEXT.replace("Left Leg", "Ünterarm").encode(encoding))
    assert file.clip.skeleton.names[1] == "Ünterarm" and "UTF-16" in file.warnings[0]
    np.testing.assert_array_equal(poses(file), poses(bvh.read(TEXT.encode())))


@pytest.mark.parametrize(("written", "seconds", "said"), [
    ("33.333333", 1 / 30, True), ("8.3333", 1 / 120, True), ("4.1667", 1 / 240, True), ("1000", 1.0, True),
    ("500 ms", 0.5, True), ("0.5ms", 0.0005, True), ("5 s", 5.0, False), ("0.0333", 1 / 30, False), ("4", 4.0, False)])
def test_milliseconds_are_read_as_such_with_a_warning(written: str, seconds: float, said: bool) -> None:
    file = bvh.read(TEXT.replace("Frame Time: 0.5", f"Frame Time: {written}").encode())
    assert file.frame_time_s == pytest.approx(seconds, rel=1e-6) and file.clip.duration_s == file.frame_time_s
    assert any("milliseconds" in warning for warning in file.warnings) == said


def test_no_frame_time_is_written_that_would_be_read_otherwise() -> None:
    clip = bvh.read(TEXT.encode()).clip
    assert bvh.read(bvh.write(clip, bvh.LONGEST_FRAME_S)).frame_time_s == bvh.LONGEST_FRAME_S
    with pytest.raises(TaktError, match="taken for milliseconds"):
        bvh.write(clip, 4.01)


def test_a_file_cut_off_anywhere_in_its_frames_has_those_that_are_whole() -> None:
    text = TEXT.replace("Frames: 2", "Frames: 99999999999999999999") + MOTION.splitlines()[3] + "\n"
    whole = bvh.read(text.encode())
    assert whole.warnings == (whole.cut_off,)
    assert whole.cut_off == "line 24: the file is cut off: Frames announces 999999999999 frames, and 3 are whole"
    first = text.index("1 2 3 90")
    ends = [at for at in range(first, len(text)) if text[at] == "\n"]
    for end in range(first + 1, len(text)):
        there = sum(at <= end for at in ends)
        if there == 0 and len(text[first:end].split()) < 8:
            with pytest.raises(FileError, match="but there are 0"):
                bvh.read(text[:end].encode())
            continue
        file = bvh.read(text[:end].encode())
        frames = round(file.clip.duration_s / file.frame_time_s) + 1
        assert frames in (there, there + 1) and file.warnings
        same = min(there, frames)
        np.testing.assert_array_equal(poses(file)[:same], poses(whole)[:same])
        assert frames == there + (end not in ends and len(text[:end].rpartition("\n")[2].split()) == 8)
        assert f"and {frames} are whole" in file.cut_off and file.warnings == (file.cut_off,)
