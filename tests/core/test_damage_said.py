"""Damage that does not keep a file from being read costs only itself, and a warning says what it is, and where."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.formats import collada, collada_character, collada_mesh, format_of, gltf, x3d
from takt.core.formats.collada_data import ColladaData
from takt.core.formats.format import Source
from takt.core.formats.x3d_character import characters_of
from takt.core.formats.x3d_xml import read as read_xml
from takt.core.library.fitted import fitted
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton
from takt.tests.core import collada_files
from takt.tests.core.gltf_files import figure
from takt.tests.core.hostile_formats import DRESSED
from takt.tests.core.test_collada import CHANNELS
from takt.tests.core.test_x3d import NODES, ROUTES
from takt.tests.core.x3d_files import clock, in_classic, in_xml

ENCODINGS = ((in_xml, x3d.read), (in_classic, x3d.read_classic))


@pytest.mark.parametrize(("route", "said"), [
    (("Walk", "fraction_changed", "Nothing", "set_fraction"),
     "ROUTE from 'Walk' to 'Nothing' is left out: no node has the DEF 'Nothing'"),
    (("Gone", "value_changed", "h_l_knee", "set_rotation"),
     "ROUTE from 'Gone' to 'h_l_knee' is left out: no node has the DEF 'Gone'"),
    (("Bend", "value_changed", "h_l_hip", "set_rotatoin"),
     "ROUTE from 'Bend' to 'h_l_hip' is left out: HAnimJoint 'h_l_hip' takes no 'rotatoin' from "
     "OrientationInterpolator 'Bend'"),
    (("Bend", "value_changed", "h_l_hip", "set_translation"),
     "takes no 'translation' from OrientationInterpolator 'Bend'")])
@pytest.mark.parametrize(("write", "read"), ENCODINGS)
def test_a_bad_route_costs_itself_alone(route: tuple[str, str, str, str], said: str, write: Callable[..., bytes],
                                        read: Callable[[bytes], ClipFile]) -> None:
    whole, file = read(write(NODES, ROUTES)), read(write(NODES, [route, *ROUTES]))
    assert whole.warnings == () and len(file.warnings) == 1
    assert said in file.warnings[0] and file.warnings[0].startswith("line ")
    for one, other in zip(file.clips, whole.clips, strict=True):
        np.testing.assert_array_equal(one.rotations.values, other.rotations.values)
        assert one.translations.joints.tolist() == other.translations.joints.tolist()


@pytest.mark.parametrize(("write", "read"), ENCODINGS)
def test_a_def_that_is_given_twice_is_said(write: Callable[..., bytes], read: Callable[[bytes], ClipFile]) -> None:
    file = read(write([*NODES, clock("Walk", 9.0)], ROUTES))
    (said,) = file.warnings
    assert "DEF 'Walk' stands on line " in said and "for TimeSensor; USE and ROUTE mean that one" in said
    assert file.clips[0].duration_s == 2.0


def test_weights_without_points_are_said() -> None:
    text = DRESSED.replace('skinCoordWeight="1 .5 .25 1"', 'skinCoordWeight="1 .5 .25 1 1 1"')
    said = characters_of(read_xml(text.encode(), None)).warnings
    assert any("skinCoordWeight has 6 weights for the 4 points of skinCoordIndex" in each for each in said)
    assert not any("weights for" in each for each in characters_of(read_xml(DRESSED.encode(), None)).warnings)


def leg(*moves: str) -> str:
    return collada_files.document(collada_files.leg(CHANNELS), "".join(moves)).decode()


def test_times_that_fall_are_said_and_sorted() -> None:
    def read(times: tuple[float, ...], values: tuple[float, ...]) -> ClipFile:
        return collada.read(leg(collada_files.animation("a", "Leg_id/rotateX.ANGLE", times, values)).encode())

    fallen, whole = read((0.0, 2.0, 1.0), (0, 20, 40)), read((0.0, 1.0, 2.0), (0, 40, 20))
    assert whole.warnings == ()
    assert [each.partition(": ")[2] for each in fallen.warnings] == [
        "in the times of <sampler> 1 comes after 2; its keys are sorted"]
    np.testing.assert_array_equal(fallen.clips[0].rotations.values, whole.clips[0].rotations.values)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('<float_array id="a_INPUT_a" count="2">', '<float_array id="a_INPUT_a" count="7">',
     "<float_array> says count is '7'; it holds 2 values, and these count"),
    ("LINEAR LINEAR", "LINEAR LINEAR LINEAR", "<sampler> has 2 keys, but its INTERPOLATION 3 names"),
    ('<up_axis>', '<extra id="a"/><up_axis>', "the id 'a' stands on line 3 already; references mean that one")])
def test_counts_that_disagree_are_said(old: str, new: str, said: str) -> None:
    text = leg(collada_files.animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 10)))
    assert text.count(old) == 1 and collada.read(text.encode()).warnings == ()
    file = collada.read(text.replace(old, new).encode())
    assert any(said in each for each in file.warnings) and file.clips[0].duration_s == 1.0


def test_tangents_that_are_too_few_are_said() -> None:
    text = leg(collada_files.animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 10), "BEZIER", IN_TANGENT=(0, 1),
                                       OUT_TANGENT=(0, 1)))
    at = text.index('<source id="a_IN_TANGENT"')
    short = text[:at] + text[at:].replace('<accessor source="#a_IN_TANGENT_a" count="2"',
                                          '<accessor source="#a_IN_TANGENT_a" count="1"', 1)
    assert short != text and collada.read(text.encode()).warnings == ()
    assert "IN_TANGENT has 1 tangents for 2 keys, and is left out" in collada.read(short.encode()).warnings[0]


@pytest.mark.parametrize(("old", "new", "said"), [
    ('<vertex_weights count="24">', '<vertex_weights count="25">', "<vertex_weights> is for 24 vertices, of 24 of the"),
    ('<triangles count="8" ', '<triangles count="9" ', "<triangles> says count is '9'; it holds 8 faces")])
def test_counts_of_meshes_that_disagree_are_said(old: str, new: str, said: str) -> None:
    text = collada_files.dressed().decode()
    assert old in text and not collada_character.read(text.encode()).warnings
    file = collada_character.read(text.replace(old, new, 1).encode())
    assert any(said in each for each in file.warnings) and len(file.characters[0].meshes) == 3


@pytest.mark.parametrize("found", [8, 1_234_567])
def test_a_mesh_that_says_no_count_is_not_said(found: int) -> None:
    data = ColladaData(b"<COLLADA><triangles/></COLLADA>", None)
    collada_mesh._compare(data, data.root.children[0], float(found))
    assert not data.warnings()


def test_times_of_gltf_that_fall_are_said() -> None:
    made = figure()
    assert gltf.read(Source(made.glb(), Path("a.glb"))).warnings == ()
    view = made.views[made.accessors[made.animations[0]["samplers"][0]["input"]]["bufferView"]]
    times = slice(view["byteOffset"], view["byteOffset"] + 12)
    made.binary[times] = np.array((0.0, 1.0, 0.5), "<f4").tobytes()
    (said,) = gltf.read(Source(made.glb(), Path("a.glb"))).warnings
    assert said.startswith("accessors[") and "]: in the times of keys 0.5 comes after 1; the keys are sorted" in said


def test_joints_that_vrma_has_no_bones_for_are_named() -> None:
    own, entry = build_skeleton(), format_of(Path("a.vrma"))
    body = Skeleton.from_arrays([*own.names, "tail"], np.append(own.parents, 0),
                                np.concatenate((own.rest_rotations, [rot.IDENTITY])),
                                np.concatenate((own.rest_translations, [(0.0, 0.0, -0.2)])))
    assert entry is not None
    turns = np.tile(rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), 0.4), (2, 3, 1))

    def said(*names: str) -> tuple[str, ...]:
        joints = np.sort([body.index_of[name] for name in names])
        clip = Clip("turn", body, 1.0, Tracks.uniform(joints, np.array((0.0, 1.0)), turns[:, :len(joints)]),
                    Tracks.empty(3), Tracks.empty(3))
        return fitted(ClipFile(body, (clip,)), entry)[1]

    assert said("l_knee", "l_ankle", "l_index0") == ()
    assert said("l_knee", "tail") == ("left out, since .vrma has no such joints: 'tail'",)
