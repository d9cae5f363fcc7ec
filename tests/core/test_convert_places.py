"""takt convert: where a body stands in its file's scene, and what formats cannot hold of its motion."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips import keyed
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.clips.placing import rigid
from takt.core.formats import FORMATS
from takt.core.formats.format import Source
from takt.core.formats.x3d_write import X3dFile, write
from takt.core.library.fitted import fitted
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core import collada_files, usd_files
from takt.tests.core.gltf_files import packed
from takt.tests.core.test_cli import run
from takt.tests.core.test_vrm import file_of
from takt.tests.core.test_x3d_write import BODY, dance
from takt.tests.core.x3d_files import clock, driven, humanoid, in_xml, joint, turning

TIMES = np.linspace(0.0, 0.6, 7)
AROUND = '<Transform translation="3 0.5 2" rotation="0 1 0 1" scale="0.5 0.5 0.5">'


def standing(path: Path) -> FloatArray:
    """Return where the joints of a file's first clip are in its scene, (F, J, 3)."""
    entry = next(each for each in FORMATS.values() if path.suffix in each.endings)
    assert entry.read is not None
    file = entry.read(Source(path.read_bytes(), path))
    clip = file.clips[0]
    places = world_from_pose(clip.skeleton, clip.sample(TIMES))[..., 3]
    place = file.places.get(clip.skeleton, np.eye(4))
    return np.asarray(places @ place[:3, :3].T + place[:3, 3])


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Write a dancer that stands elsewhere, turned, and half as large."""
    text = write(X3dFile(BODY, (dance(3),)), 30.0).decode()
    begin, end = text.index("<HAnimHumanoid"), text.index("</HAnimHumanoid>") + len("</HAnimHumanoid>")
    body = text[begin:end].replace("<HAnimHumanoid", '<HAnimHumanoid translation="0 0 1" rotation="0 1 0 0.5" '
                                                     'scale="2 2 2"', 1)
    path = tmp_path / "scene.x3d"
    path.write_text(text[:begin] + AROUND + body + "</Transform>" + text[end:], encoding="utf-8")
    return path


@pytest.mark.parametrize(("ending", "most"), [("x3d", 1e-6), ("x3dv", 1e-6), ("skeleton.xml", 1e-5), ("bvh", 1e-4)])
def test_a_humanoid_stands_where_it_stood(ending: str, most: float, scene: Path,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    out = scene.with_name(f"out.{ending}")
    code, _, err = run(capsys, "convert", scene, out, "--fps", "30")
    assert code == 0 and "scaled" not in err
    if ending == "skeleton.xml":
        code, _, _ = run(capsys, "convert", out, out := scene.with_name("again.x3d"))
    wanted, found = standing(scene), standing(out)
    assert np.abs(wanted[..., 0]).max() > 2.0  # it does stand elsewhere
    np.testing.assert_allclose(found[:, :len(BODY)], wanted, atol=most)


def test_frames_of_hanim_motion_stand_there_too(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = scene.with_name("out.x3d")
    assert run(capsys, "convert", scene, out, "--hanim-motion", "--fps", "60")[0] == 0
    assert "HAnimMotion" in out.read_text(encoding="utf-8")
    np.testing.assert_allclose(standing(out)[0], standing(scene)[0], atol=1e-5)


def test_the_hips_of_vrma_are_where_they_were(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = scene.with_name("out.vrma")
    assert run(capsys, "convert", scene, out)[0] == 0
    np.testing.assert_allclose(standing(out)[:, 0, [0, 2]], standing(scene)[:, 0, [0, 2]], atol=1e-4)


def gltf_scene(scale: Sequence[float] = (2.0, 2.0, 2.0)) -> bytes:
    document, binary = file_of("VRMC_vrm_animation")
    document["nodes"][0] |= {"translation": [3.0, 0.5, 2.0], "rotation": [0.0, 0.6, 0.0, 0.8], "scale": [*scale]}
    return packed(json.dumps(document).encode(), binary)


def collada_scene(scale: Sequence[float] = (1.0, 1.0, 1.0)) -> bytes:
    sizes = " ".join(map(str, scale)).encode()
    around = (b'<node id="Rig"><translate>3 0.5 2</translate><rotate>0 1 0 50</rotate><scale>' + sizes
              + b'</scale><node id="Hips_id"')
    return collada_files.walking().replace(b'<node id="Hips_id"', around).replace(
        b"</visual_scene>", b"</node></visual_scene>")


def usd_scene(scale: Sequence[float] = (1.0, 1.0, 1.0)) -> bytes:
    return usd_files.text(body=f'double3 xformOp:translate = (3, 0.5, 2)\nfloat3 xformOp:scale = {tuple(scale)}\n'
                               'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]')


@pytest.mark.parametrize(("name", "data"), [("a.vrm", gltf_scene), ("a.dae", collada_scene), ("a.usda", usd_scene)])
def test_bodies_of_scenes_of_nodes_stand_where_they_stood(name: str, data: object, tmp_path: Path,
                                                          capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / name, tmp_path / "out.x3d"
    assert callable(data)
    source.write_bytes(data())
    assert run(capsys, "convert", source, out)[0] == 0
    wanted = standing(source)  # between few keys, X3D goes along arcs
    np.testing.assert_allclose(standing(out)[0], wanted[0], atol=1e-5)
    entry = FORMATS["X3D"]
    assert entry.read is not None
    place = next(iter(entry.read(Source(out.read_bytes(), out)).places.values()))
    np.testing.assert_allclose(place, rigid(place), atol=1e-6)
    assert np.abs(place[:3, 3]).max() > 2.0


def test_a_mirrored_humanoid_is_said_to_be(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene.write_text(scene.read_text(encoding="utf-8").replace('scale="0.5 0.5', 'scale="-0.5 0.5'), encoding="utf-8")
    code, _, err = run(capsys, "convert", scene, scene.with_name("out.x3d"))
    assert code == 0 and "is mirrored, by itself or by what is around it" in err


@pytest.mark.parametrize(("name", "data"), [("a.vrma", gltf_scene), ("a.dae", collada_scene), ("a.usda", usd_scene)])
@pytest.mark.parametrize(("scale", "said"), [((-2.0, 2.0, 2.0), ["is mirrored, by itself"]),
                                             ((2.0, 3.0, 2.0), ["is scaled unevenly, by itself"]),
                                             ((2.0, 2.0, 2.0), []), ((-2.0, 2.0, -2.0), [])])
def test_a_body_that_stands_distorted_in_a_scene_of_nodes_is_said_to(
        name: str, data: Callable[[Sequence[float]], bytes], scale: Sequence[float], said: list[str], tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / name
    source.write_bytes(data(scale))
    code, _, err = run(capsys, "convert", source, tmp_path / "out.x3d")
    assert code == 0 and [each for each in ("is mirrored, by itself", "is scaled unevenly, by itself")
                          if each in err] == said


def test_scales_that_a_format_keeps_a_part_of_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), scale="1 3 1", scaleOrientation="0 0 1 0.5"))
    spin = turning("Spin", (0, 1), [(0, 1, 0, 0.0), (0, 1, 0, 1.0)])
    source = tmp_path / "a.x3d"
    source.write_bytes(in_xml([humanoid(leg), clock("T", 1.0), spin], driven("T", "Spin", "h_humanoid_root",
                                                                             "rotation")))
    code, _, err = run(capsys, "convert", source, tmp_path / "b.x3d")
    assert code == 0 and "scaled along axes of their own, of which .x3d keeps a part: 'l_hip'" in err
    code, _, err = run(capsys, "convert", source, tmp_path / "b.skeleton")
    assert (code, err) == (0, "")


def test_vrma_names_the_bones_whose_translations_it_lacks() -> None:
    clip = dance(0)
    knee, root = BODY.index_of["l_knee"], clip.translations.joints.tolist()
    moved = clip.translations
    assert knee not in root
    rows = [(joint, *keyed.keys_of(moved, index)) for index, joint in enumerate(root)]
    rows.append((knee, np.array((0.0, 0.5)), np.array(((0.0, 0, 0), (0.1, 0, 0)))))
    more = Clip(clip.name, BODY, clip.duration_s, clip.rotations, keyed.packed(sorted(rows, key=lambda row: row[0]), 3),
                clip.scales)
    entry = FORMATS["VRMA"]
    said = [each for each in fitted(ClipFile(BODY, (more,)), entry)[1] if "translations" in each]
    assert said == ["translations are left out, since .vrma holds those of the hips alone; bones that lose theirs "
                    "(1): 'l_knee'"]
    assert not any("translations" in each for each in fitted(ClipFile(BODY, (clip,)), entry)[1])


def test_of_two_bodies_with_the_same_bones_each_is_converted_as_it_is(tmp_path: Path,
                                                                      capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "two.x3d", tmp_path / "out.x3d"
    bodies, routes = [], [("T", "fraction_changed", "Spin", "set_fraction")]
    for name, knee, at in (("a", 0.5, "2 0 0"), ("b", 0.3, "-3 0 0")):
        leg = joint("l_hip", (0.1, 0.9, 0), joint("l_knee", (0.1, knee, 0), of=name), of=name)
        bodies.append(humanoid(joint("humanoid_root", (0, 1, 0), leg, of=name), name=name, translation=at))
        routes.append(("Spin", "value_changed", f"{name}_l_hip", "set_rotation"))
    source.write_bytes(in_xml([*bodies, clock("T", 1.0), turning("Spin", (0, 1), [(1, 0, 0, 0.0), (1, 0, 0, 1.0)])],
                              routes))
    code, _, err = run(capsys, "convert", source, out)
    assert code == 1 and "clip 'T.001' is of another than 'T'; choose one by --clip NAME" in err and not out.exists()
    assert run(capsys, "convert", source, out, "--clip", "T.001")[0] == 0
    assert '<HAnimHumanoid DEF="b" name="b"' in out.read_text(encoding="utf-8")
    np.testing.assert_allclose(standing(out)[0], ((-3, 1, 0), (-2.9, 0.9, 0), (-2.9, 0.3, 0)), atol=1e-6)


def test_motion_above_the_hips_is_not_said_to_be_left_out_of_vrma() -> None:
    """It goes into the way and the turns of the hips."""
    body = Skeleton.from_arrays(("World", *BODY.names), np.append(-1, BODY.parents + 1),
                                np.concatenate((BODY.rest_rotations[:1], BODY.rest_rotations)),
                                np.concatenate((np.zeros((1, 3)), BODY.rest_translations)))
    way = Tracks.uniform(np.zeros(1, np.int64), np.array((0.0, 1.0)), np.array(((0.0, 0, 0), (0.0, 0, 1)))[:, None])
    clip = Clip("go", body, 1.0, Tracks.empty(4), way, Tracks.empty(3))
    file = ClipFile(body, (clip,))
    assert fitted(file, FORMATS["VRMA"])[1] == ()
    write_vrma, read = FORMATS["VRMA"].write, FORMATS["VRMA"].read
    assert write_vrma is not None and read is not None
    (back,) = read(Source(write_vrma(file, 30.0), Path("a.vrma"))).clips
    hips = world_from_pose(back.skeleton, back.sample(np.array((0.0, 1.0))))[:, 0, :, 3]
    np.testing.assert_allclose(hips[1] - hips[0], (0.0, 0.0, 1.0), atol=1e-6)
