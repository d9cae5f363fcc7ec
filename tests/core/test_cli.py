"""The command: what it says of good and bad scores, and that it never ends in a traceback."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from takt.cli import main
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import bvh, ogre_binary, ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.playing.performer import Performer
from takt.core.playing.score import LONGEST_S
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.retargeting.comparing.upright import scaled, turned
from takt.core.skeletons.maps import find_map, write_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.tests.core.ogre_cases import assert_same, small
from takt.tests.core.rigs import RIGS, with_model_axes, worn
from takt.tests.core.scores import FIGURE, X, Y, procedure, score, turning, walking

from .corrected_maps import corrected

ROOT = Path(__file__).resolve().parents[2]
BAKED = 2e-6
"""Joint positions of a clip baked into float32 against the motion, per unit of size."""
WALK = procedure("walk", 'left duration="1"', 'right duration="1"')
MAIN = procedure("main", 'walk duration="4" repeat="2"', 'forward duration="2" transition="0.5"', 'left duration="2"')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a library with three clips and a score that plays them; return the score."""
    clips = (turning("left", X, (0.0, 0.4, 0.1)), turning("right", Y, (0.2, 0.5, 0.9)), walking("forward", (0.0, 1.0)))
    (tmp_path / "feet").mkdir()
    (tmp_path / "feet" / "Steps.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(FIGURE, clips)))
    (tmp_path / "dance.pha").write_text(score(WALK, MAIN, tick=0.5))
    return tmp_path / "dance.pha"


def bad(path: Path) -> Path:
    """Write a score with three mistakes beside the good one."""
    file = path.with_name("bad.pha")
    file.write_text('<pha tickLength="1">\n<load src="feet.Steps"/>\n<procedure name="main">\n'
                    ' <call name="lefd" duration="1"/>\n <call name="left" duration="-1"/>\n</procedure>\n'
                    '<load src="feet.Shoes"/>\n</pha>\n')
    return file


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def test_check_of_a_good_score(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", path)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"{path}: 6 segments, 6.00 s"


def test_check_finds_every_mistake_with_its_place(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = bad(path)
    code, out, _ = run(capsys, "check", file, path)
    lines = out.splitlines()
    assert code == 1
    assert any(line.startswith(f"{file}:4:2: ") and "did you mean left?" in line for line in lines)
    assert any(line.startswith(f"{file}:5:2: ") and "'-1'" in line for line in lines)
    assert any(line.startswith(f"{file}:7:1: ") and "feet.Shoes" in line for line in lines)
    assert lines[-1] == f"{path}: 6 segments, 6.00 s"  # the second score is checked all the same


def test_check_of_a_library(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = path.with_name("walks.pha")
    library.write_text(score(WALK))
    assert run(capsys, "check", library) == (0, f"{library}: a library of 1 procedure\n", "")


def test_check_finds_what_blender_refuses_for_its_length(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = path.with_name("long.pha")
    file.write_text(score(procedure("main", f'left duration="{LONGEST_S}"')))
    assert run(capsys, "check", file)[0] == 0
    file.write_text(score(procedure("main", 'left duration="1e8"')))
    code, out, _ = run(capsys, "check", file)
    assert code == 1 and "this lasts 100,000,000 s, expected at most 14,400 s: make it shorter" in out


def test_check_warns(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = path.with_name("long.pha")
    file.write_text(score(procedure("main", 'left duration="1" transition="9"', 'right duration="1"')))
    code, out, _ = run(capsys, "check", file)
    assert code == 0
    assert out.startswith(f"{file}:1:70: note: a transition of 9 s from 'feet.Steps.left' to 'feet.Steps.right'")


def test_show(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", path)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "main: 6 segments, 6.00 s, transitions LEAD"
    assert lines[2:8] == ["main  12 ticks", "  2 × walk  4 ticks", "    feet.Steps.left  1 tick",
                          "    feet.Steps.right  1 tick", "  feet.Steps.forward  2 ticks, transition 0.5",
                          "  feet.Steps.left  2 ticks"]
    assert lines[9].split() == ["start", "length", "then", "clip", "procedures"]
    assert lines[14].split() == ["4.000", "1.000", "0.250", "feet.Steps.forward", "main"]
    assert len(lines) == 16


def test_show_unfolds_a_procedure_once(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(score(WALK, procedure("main", 'walk duration="2"', 'walk duration="1"')))
    lines = run(capsys, "show", path)[1].splitlines()
    assert lines[2:7] == ["main  3 ticks", "  walk  2 ticks", "    feet.Steps.left  1 tick",
                          "    feet.Steps.right  1 tick", "  walk  1 tick (as above)"]


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_show_json(path: Path, capsys: pytest.CaptureFixture[str], method: str) -> None:
    code, out, _ = run(capsys, "show", "--json", "--method", method.lower(), path)
    segments = json.loads(out)
    assert code == 0
    assert [s["clip"] for s in segments] == [f"feet.Steps.{n}" for n in ("left", "right", "left", "right", "forward",
                                                                        "left")]
    assert [s["start_s"] for s in segments] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert {s["length_s"] for s in segments} == {1.0}
    assert {s["method"] for s in segments} == {method}
    assert [s["path"] for s in segments] == [["main", "walk"]] * 4 + [["main"]] * 2
    squeezed = 0.2 if method == "INSERT" else 0.25  # 1 · 0.25 / (1 + 0.25)
    assert segments[4]["transition_s"] == pytest.approx(squeezed)
    assert segments[5]["transition_s"] == 0.0
    assert all(s["plays_from_s"] < s["plays_to_s"] for s in segments)


def test_json_says_the_transition_that_plays(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(score(procedure("main", 'left duration="1" transition="9"', 'right duration="1"')))
    code, out, _ = run(capsys, "show", "--json", path)
    assert (code, json.loads(out)[0]["transition_s"]) == (0, 1.0)


def test_json_says_what_goes_and_aims_in_the_scene(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text('<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="seat" is="place"/>'
                    '<role name="her" is="person"/><procedure name="main"><call name="left" to="seat" duration="2"/>'
                    '<together><lane><call name="left" duration="2"/></lane><lane>'
                    '<meet person="her" with="right hand" hand="left hand" duration="1" hold="1"/></lane></together>'
                    '</procedure></pha>')
    code, out, _ = run(capsys, "show", "--json", path)
    first, block = json.loads(out)
    assert code == 0 and first["ways"] == [{"segments": 1, "to": "seat", "faces": True}] and "aim" not in first
    aims = [segment.get("aim") for lane in block["lanes"] for segment in lane["segments"]]
    assert aims == [None, {"word": "meet", "role": "her", "hand": "r", "held": 0.5, "meets": "l"}]


def test_show_another_procedure_from_a_named_library(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = path.parent / "a" / "b" / "c" / "d" / "e" / "f"
    elsewhere.mkdir(parents=True)
    moved = path.rename(elsewhere / "dance.pha")
    assert run(capsys, "show", moved)[0] == 1
    code, out, _ = run(capsys, "show", "--library", path.parent, "--procedure", "walk", "--loop", moved)
    assert code == 0
    assert out.startswith("walk: 2 segments, 1.00 s")


@pytest.mark.parametrize(("arguments", "message"), [
    (("show", "nothing.pha"), "nothing.pha: cannot be opened: No such file"),
    (("show", "{score}", "--procedure", "mian"), "did you mean main?"),
    (("show", "{score}", "--library", "nowhere"), "the library 'nowhere' is no folder"),
    pytest.param(("show", "{score}", "--library", "/proc/self"), "/proc/self: is no folder for clips: what lies there",
                 marks=pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="Linux alone has it")),
    (("show", "{score}", "--load-format", ".doc"), "load_format is '.doc'; expected one of .skeleton"),
    (("show", "{score}", "--curve", "cubic", "--method", "both"), "CUBIC only rises"),
    (("show", "{score}", "--skeleton", "{score}"), "endings that can: .skeleton"),
    (("show", "{folder}"), "feet: is a folder, where a file is wanted"),
    (("convert", "{clips}", "x.fbx"), "does not name a format that can be written"),
    (("convert", "{clips}", "{clips}"), "is one of the files to read"),
    (("bake", "{score}", "{clips}"), "is one of the files to read"),
    (("convert", "{clips}", "x.bvh"), "choose one by --clip NAME; there are 'left', 'right', 'forward'"),
    (("convert", "{clips}", "x.bvh", "--clip", "up"), "there is no clip 'up'; there are 'left'"),
    (("convert", "{score}", "x.bvh"), "endings that can: .skeleton"),
    (("convert", "{clips}", "no/such/folder/x.skeleton"), "x.skeleton: cannot be written: No such file or directory"),
    (("bake", "{score}", "x.doc"), "does not name a format that can be written"),
    (("bake", "{score}", "x.skeleton", "--fps", "9999"), ""),
    (("plot", "{score}", "x.doc"), "is no picture that can be drawn"),
])
def test_errors_are_friendly(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
                             arguments: tuple[str, ...], message: str) -> None:
    monkeypatch.chdir(path.parent)
    names = {"score": path.name, "clips": "feet/Steps.skeleton", "folder": "feet"}
    code, out, err = run(capsys, *(argument.format(**names) for argument in arguments))
    assert (code, out) == ((1, "") if message else (0, ""))
    assert message in err


@pytest.mark.parametrize("arguments", [(), ("dance",), ("show",), ("show", "a", "--method", "x"),
                                       ("convert", "a", "b", "--fps", "-1"), ("plot", "a", "b", "--from", "x")])
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("takt")
    assert said[1].startswith("Try 'takt")


@pytest.mark.parametrize(("arguments", "message"), [
    (("show", "a.pha", "--methd", "LEAD"), "takt show: --methd is not known here; did you mean --method?"),
    (("show", "a.pha", "--methd=LEAD"), "takt show: --methd is not known here; did you mean --method?"),
    (("convert", "a", "b", "--loop"), "takt convert: --loop is not known here"),
    (("chekc", "a.pha"), "invalid choice: 'chekc' (choose from"),
    (("bake", "a.pha", "b.bvh", "--fps", "abc"), "--fps: 'abc' is no number"),
])
def test_what_is_not_known_is_named_with_what_is_near(arguments: tuple[str, ...], message: str,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_without_transitions_clips_cut_to_the_next(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [json.loads(run(capsys, "show", "--json", *more, path)[1]) for more in ((), ("--no-transitions",))]
    assert [any(s["transition_s"] > 0.0 for s in segments) for segments in found] == [True, False]


@pytest.mark.skipif(os.name == "nt", reason="streams are closed otherwise there")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(path: Path, closed: str) -> None:
    answer = subprocess.run(["sh", "-c", f'"{sys.executable}" -m takt show "{path}" {closed}'], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    assert answer.returncode == 0
    assert "Traceback" not in answer.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device to write to")
def test_a_full_disk_is_an_error_without_traceback(path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run([sys.executable, "-m", "takt", "show", str(path)], cwd=ROOT, stdout=full,
                                stderr=subprocess.PIPE, text=True, check=False)
    assert answer.returncode == 1
    assert answer.stderr.startswith("takt: writing failed: No space left on device")
    assert "Traceback" not in answer.stderr


def test_a_score_may_be_a_symbolic_link(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = path.with_name("link.pha")
    link.symlink_to(path)
    assert run(capsys, "check", link)[0] == 0


def test_convert_there_and_back(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ogre = small()
    source, xml, back = tmp_path / "small.skeleton", tmp_path / "small.skeleton.xml", tmp_path / "back.skeleton"
    source.write_bytes(ogre_binary.write(ogre))
    assert run(capsys, "convert", source, xml) == (0, "", "")
    assert run(capsys, "convert", xml, back) == (0, "", "")
    assert_same(ogre_xml.read(xml.read_bytes()), ogre)
    assert_same(ogre_binary.read(back.read_bytes()), ogre)


def test_convert_to_bvh_and_back(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, back = path.parent / "feet" / "Steps.skeleton", path.parent / "o.bvh", path.parent / "o.skeleton"
    assert run(capsys, "convert", source, out, "--clip", "forward") == (0, "", "")
    assert bvh.read(out.read_bytes()).frame_time_s == pytest.approx(1 / 8)  # the clip's own keys
    assert run(capsys, "convert", out, back) == (0, "", "")
    mine, theirs = (read_clip_file(file) for file in (source, back))
    clip = next(c for c in mine.clips if c.name == "forward")
    times = np.linspace(0.0, 1.0, 9)
    a = world_from_pose(mine.skeleton, clip.sample(times))[..., 3]
    b = world_from_pose(theirs.skeleton, theirs.clips[0].sample(times))[..., 3]
    np.testing.assert_allclose(a, b, atol=1e-5)


def test_convert_says_what_is_lost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "small.skeleton"
    source.write_bytes(ogre_binary.write(small()))
    code, _, err = run(capsys, "convert", source, tmp_path / "walk.bvh", "--clip", "walk", "--fps", "10")
    assert (code, err) == (0, "takt: warning: scales are left out, which .bvh does not know\n")


@pytest.mark.parametrize("ending", [".skeleton", ".skeleton.xml", ".bvh", ".x3d"])
def test_bake(path: Path, capsys: pytest.CaptureFixture[str], ending: str) -> None:
    from takt.cli.scores import read_programme
    from takt.core.playing.score import play

    out = path.parent / f"baked{ending}"
    assert run(capsys, "bake", path, out, "--fps", "25")[0] == 0
    baked = read_clip_file(out)
    clip, = baked.clips
    assert clip.name == ("baked" if ending == ".bvh" else "dance")
    assert clip.duration_s == pytest.approx(6.0)

    class Plain:
        library: tuple[Path, ...] = ()
        load_format = ""
        bvh_up = bvh_forward = bvh_unit = "AUTO"

    motion = play(read_programme(path, Plain)[0], Performer(None, Y))  # type: ignore[arg-type]  # all that is read
    times = np.arange(151) / 25
    a = world_from_pose(motion.skeleton, motion.sample(times))[..., 3]
    b = world_from_pose(baked.skeleton, clip.sample(times))[..., 3]
    b = b[:, [baked.skeleton.index_of[name] for name in motion.skeleton.names]]
    np.testing.assert_allclose(a, b, atol=BAKED * 5 * np.abs(a).max())


def test_bake_to_a_format_writes_a_new_file_beside_the_score(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = path.with_suffix(".bvh")
    assert run(capsys, "bake", path, "--to", "bvh", "--fps", "25")[0] == 0
    assert read_clip_file(out).clips[0].duration_s == pytest.approx(6.0)
    before = out.read_bytes()
    code, _, err = run(capsys, "bake", path, "--to", "bvh")
    assert code == 1 and "is there already; to overwrite it, name it as OUT" in err and out.read_bytes() == before
    for wrong in ((), (out, "--to", "bvh")):
        code, _, err = run(capsys, "bake", path, *wrong)
        assert code == 1 and "or a format, as in --to x3d; not both" in err


def test_axes_of_bvh_files_are_told_and_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == "left_step")
    up = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
    (tmp_path / "step.bvh").write_bytes(bvh.write(with_model_axes(scaled(turned(step, up), 100.0)), 1 / 30))
    path = tmp_path / "walk.pha"
    path.write_text(score(procedure("main", 'step duration="1"'), head='<load src="step"/>'))
    note = "note: step.bvh: +Z is up, facing −Y, in centimetres: "
    code, out, _ = run(capsys, "check", path)
    assert code == 0 and f"{path}:1:23: {note}found from the body" in out
    code, out, _ = run(capsys, "check", path, "--bvh-up", "z", "--bvh-forward=-Y", "--bvh-unit", "centimetres")
    assert code == 0 and note + "as chosen" in out
    assert note in run(capsys, "show", path)[2]
    assert run(capsys, "check", path, "--bvh-up=Z", "--bvh-forward=-Z")[0] == 1


def test_skeleton_maps_of_the_library_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Someone has said that the left hand of this rig is none."""
    step = next(clip for clip in build_clips("gestures/Greetings.skeleton.xml"))
    rig = worn(RIGS["VRM"])
    (tmp_path / "step.bvh").write_bytes(bvh.write(step, 1 / 30))
    (tmp_path / "rig.bvh").write_bytes(bvh.write(Clip("rig", rig, 0.0, Tracks.empty(4), Tracks.empty(3),
                                                      Tracks.empty(3)), 1 / 30))
    score_path = tmp_path / "walk.pha"
    score_path.write_text(score(procedure("main", 'step duration="1"'), head='<load src="step"/>'))
    moved = []
    for text in ("", write_map(corrected(find_map(rig), {"leftLowerArm": None}))):
        if text:
            (tmp_path / "rig.map").write_text(text, encoding="utf-8")
        out = tmp_path / "out.skeleton"
        assert run(capsys, "bake", score_path, out, "--skeleton", tmp_path / "rig.bvh")[0] == 0
        baked = read_clip_file(out)
        moved.append(baked.skeleton.index_of["leftLowerArm"] in baked.clips[0].rotations.joints)
    assert moved == [True, False]


def test_importing_the_command_needs_no_extra() -> None:
    code = "import sys, checkout, takt.cli; print('matplotlib' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_from_a_checkout_it_is_python_m_takt(path: Path) -> None:
    answer = subprocess.run([sys.executable, "-m", "takt", "check", str(bad(path))], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    assert answer.returncode == 1
    assert ":4:2: " in answer.stdout
    assert answer.stderr == ""


def test_in_a_checkout_takt_is_the_package() -> None:
    code = "import takt, takt.core.playing.score; print(takt.__doc__.split(':')[0], hasattr(takt, 'register'))"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "Takt True"


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_may_leave_early(path: Path) -> None:
    path.write_text(score(WALK, procedure("main", 'walk duration="2" repeat="20000"')))
    show = subprocess.Popen([sys.executable, "-m", "takt", "show", str(path)], cwd=ROOT, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    assert show.stdout is not None and show.stderr is not None
    show.stdout.readline()
    show.stdout.close()
    assert show.stderr.read() == b""
    assert show.wait() == 0
    show.stderr.close()


def test_hostile_lengths_are_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = path.with_name("long.skeleton")
    data = ogre_binary.write(OgreSkeleton.of(FIGURE, (turning("x", X, (0.0, 1.0), duration_s=3e38),)))
    source.write_bytes(data)
    code, _, err = run(capsys, "convert", source, path.with_name("long.bvh"), "--fps", "24")
    assert (code, "take a longer frame time" in err) == (1, True)
    path.write_text(score(procedure("main", 'left duration="1e300"', 'right duration="1e300"')))
    code, _, err = run(capsys, "bake", path, path.with_name("long.skeleton.xml"))
    assert (code, "take fewer frames per second" in err) == (1, True)
    assert run(capsys, "show", path)[0] == 0


def test_expand_prints_a_score_that_plays_the_same(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    varied = path.with_name("varied.pha")
    varied.write_text('<pha version="2" tickLength="0.5"><include src="dance"/><load src="feet.Steps"/><procedure '
                      'name="main"><param name="n" default="2"/><loop times="n"><call name="walk" duration="2"/></loop>'
                      '</procedure></pha>')
    code, out, err = run(capsys, "expand", varied, "--set", "n=3")
    assert (code, err) == (0, "")
    plain = path.with_name("plain.pha")
    plain.write_text(out)
    shown = [json.loads(run(capsys, "show", *arguments, "--json")[1])
             for arguments in ((varied, "--set", "n=3"), (plain,))]
    assert len(shown[0]) == 6
    for key in ("clip", "start_s", "length_s", "transition_s"):
        assert [segment[key] for segment in shown[0]] == pytest.approx([segment[key] for segment in shown[1]])
    varied.write_text(varied.read_text().replace('<call name="walk"', '<wait duration="1"/><call name="walk"'))
    code, out, err = run(capsys, "expand", varied)
    assert code == 1 and not out and "varied.pha:1:" in err and "<wait>: found a rest" in err


def test_check_finds_music_that_is_not_there(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = path.parent / "sung.pha"
    file.write_text(path.read_text(encoding="utf-8").replace("<pha ", '<pha version="2" ', 1).replace(
        "<load", '<music src="songs.hum"/>\n<load', 1), encoding="utf-8")
    code, out, _ = run(capsys, "check", file)
    assert code == 1 and "songs/hum" in out and f"{file}:" in out and "segments" in out
    (path.parent / "songs").mkdir()
    (path.parent / "songs" / "hum.wav").write_bytes(b"RIFF")
    code, out, _ = run(capsys, "check", file)
    assert code == 0 and "hum" not in out.replace(str(file), "")


def test_the_version_is_the_manifests(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0 and capsys.readouterr().out == f"takt {version}\n"
    monkeypatch.setattr("takt.cli.Path.is_file", lambda _: False)  # as installed by pip, without the manifest
    monkeypatch.setattr("takt.cli.metadata.version", {"takt": "9.8.7"}.__getitem__)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == "takt 9.8.7\n"


@pytest.mark.parametrize(("option", "method", "is_said"), [
    ("--joint-time=EARLY", "LEAD", True), ("--joint-time=EARLY", "END", False),
    ("--joint-time=SHARED", "LEAD", False)])
def test_an_option_that_changes_nothing_is_told(path: Path, capsys: pytest.CaptureFixture[str], option: str,
                                               method: str, is_said: bool) -> None:
    code, _, err = run(capsys, "show", path, option, f"--method={method}")
    assert code == 0 and ("--joint-time changes nothing with the method LEAD" in err) == is_said
