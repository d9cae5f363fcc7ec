"""COLLADA: matrices, channels and curves, axes and units, skins, clips, and what cannot be read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.core.errors import FileError
from takt.core.formats import collada, format_of
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.collada_files import (
    JOINTS,
    animation,
    as_channels,
    as_matrix,
    bound,
    document,
    leg,
    node,
    skin,
    translated,
    walking,
    worn,
)

X = np.array((1.0, 0.0, 0.0))
CURVE = 1e-3
"""Radians, between the keys that stand for a curve."""
NAMES = tuple(JOINTS)
PLACES = np.cumsum(list(JOINTS.values()), axis=0)
MATRICES = {name: as_matrix(way) for name, way in JOINTS.items()}
CHANNELS = {name: as_channels(way) for name, way in JOINTS.items()}


def turns_of_leg(data: bytes, times: FloatArray) -> FloatArray:
    """Return the angles about X of the leg, in degrees."""
    clip = collada.read(data).clips[0]
    q = clip.sample(times).rotations[:, clip.skeleton.index_of["Leg"]]
    return np.asarray(np.degrees(2.0 * np.arctan2(q[:, 1], q[:, 0])))


def moved_by(kind: str, values: Any, times: Any = (0.0, 1.0, 2.0), **more: Any) -> bytes:
    return document(leg(CHANNELS), animation("a", "Leg_id/rotateX.ANGLE", times, values, kind, **more))


# Skeletons and motion

def test_joints_hang_in_each_other() -> None:
    file = collada.read(walking(), Path("walk.dae"))
    (clip,) = file.clips
    assert (clip.name, clip.duration_s, file.warnings) == ("walk", 1.0, ())
    assert (clip.skeleton.names, clip.skeleton.parents.tolist()) == (NAMES, [-1, 0, 1, 2, 3])
    np.testing.assert_allclose(clip.skeleton.rest_world[:, :, 3], PLACES, atol=1e-9)
    hips = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, 0.25, 1.0))))[:, 0, :, 3]
    np.testing.assert_allclose(hips, ((0, 1, 0), (0, 1, 0.25), (0, 1, 1)), atol=1e-9)


def test_frames_of_matrices_are_read_as_they_are() -> None:
    times = np.arange(31) / 30.0
    matrices = np.array([translated(JOINTS["Leg"])] * 31)
    matrices[:, :3, :3] = rot.to_matrix(rot.from_axis_angle(X, 2.0 * times))
    data = document(leg(MATRICES), animation("a", "Leg_id/transform", times, matrices))
    (clip,) = collada.read(data).clips
    np.testing.assert_allclose(clip.rotations.times_s, times)
    np.testing.assert_allclose(turns_of_leg(data, times), np.degrees(2.0 * times), atol=1e-6)
    assert clip.moved.tolist() == [False, True, False, False, False]


def test_channels_turn_about_their_axes_in_the_order_of_the_file() -> None:
    parts = "".join(animation(f"a{axis}", f"Leg_id/rotate{axis}.ANGLE", (0.0, 1.0), (angle, angle))
                    for axis, angle in (("X", 20.0), ("Y", 30.0), ("Z", 40.0)))
    (clip,) = collada.read(document(leg(CHANNELS), parts)).clips
    z, y, x = (rot.from_axis_angle(np.eye(3)[axis], np.radians(angle)) for axis, angle in ((2, 40), (1, 30), (0, 20)))
    assert rot.angle_between(clip.sample(np.zeros(1)).rotations[0, 1], rot.multiply(rot.multiply(z, y), x)) < 1e-7


@pytest.mark.parametrize(("target", "values", "wanted"), [
    ("Leg_id/translate.Y", (5.0,), (0.1, 5.0, 0.0)), ("Leg_id/translate(2)", (5.0,), (0.1, -0.1, 5.0)),
    ("Leg_id/translate", (1.0, 2.0, 3.0), (1.0, 2.0, 3.0))])
def test_members_of_transforms_are_named_in_each_way(target: str, values: tuple[float, ...],
                                                     wanted: tuple[float, ...]) -> None:
    (clip,) = collada.read(document(leg(CHANNELS), animation("a", target, (0.0,), values))).clips
    moved = clip.skeleton.rest_translations[1] + clip.sample(np.zeros(1)).translations[0, 1]
    np.testing.assert_allclose(moved, wanted, atol=1e-9)


def test_a_member_of_a_matrix_is_moved() -> None:
    data = document(leg(MATRICES), animation("a", "Leg_id/transform(1)(3)", (0.0,), (7.0,)))
    clip = collada.read(data).clips[0]
    np.testing.assert_allclose(clip.sample(np.zeros(1)).translations[0, 1], (0, 7.1, 0), atol=1e-9)


TIMES = np.linspace(0.0, 2.0, 41)


def test_straight_channels_turn_evenly() -> None:
    np.testing.assert_allclose(turns_of_leg(moved_by("LINEAR", (0, 90, 30)), TIMES),
                               np.interp(TIMES, (0, 1, 2), (0, 90, 30)), atol=np.degrees(CURVE))


def test_steps_hold_until_the_next_key() -> None:
    found = turns_of_leg(moved_by("STEP", (0, 90, 30)), np.array((0.0, 0.99, 1.0, 1.5, 1.99, 2.0)))
    np.testing.assert_allclose(found, (0, 0, 90, 90, 90, 30), atol=1e-3)


def bezier(points: list[float], share: FloatArray) -> FloatArray:
    a, b, c, d = points
    return a * (1 - share)**3 + 3 * b * share * (1 - share)**2 + 3 * c * share**2 * (1 - share) + d * share**3


def test_bezier_curves_go_by_their_control_points() -> None:
    data = moved_by("BEZIER", (0, 90), (0.0, 2.0), IN_TANGENT=(-0.5, 0, 1.2, 90), OUT_TANGENT=(0.9, -20, 2.5, 90))
    share = np.linspace(0.0, 1.0, 50)
    at = bezier([0, 0.9, 1.2, 2], share)
    np.testing.assert_allclose(turns_of_leg(data, at), bezier([0, -20, 90, 90], share), atol=0.1)


def test_bezier_tangents_of_values_alone_are_a_third_of_the_way_off() -> None:
    data = moved_by("BEZIER", (0, 90), (0.0, 2.0), IN_TANGENT=(0, 60), OUT_TANGENT=(-20, 90))
    np.testing.assert_allclose(turns_of_leg(data, TIMES), bezier([0, -20, 60, 90], TIMES / 2.0), atol=0.1)


def test_hermite_tangents_are_slopes() -> None:
    data = moved_by("HERMITE", (0, 90), (0.0, 2.0), IN_TANGENT=(0, 30), OUT_TANGENT=(120, 0))
    np.testing.assert_allclose(turns_of_leg(data, TIMES), bezier([0, 40, 80, 90], TIMES / 2.0), atol=0.1)


def test_hermite_tangents_of_time_and_value_are_slopes_too() -> None:
    data = moved_by("HERMITE", (0, 90), (0.0, 2.0), IN_TANGENT=(0, 0, 2.4, 30), OUT_TANGENT=(0.6, 120, 0, 0))
    share = np.linspace(0.0, 1.0, 30)
    np.testing.assert_allclose(turns_of_leg(data, bezier([0, 0.2, 1.2, 2], share)), bezier([0, 40, 80, 90], share),
                               atol=0.1)


@pytest.mark.parametrize("kind", ["TCB", "CARDINAL"])
def test_splines_pass_their_keys_with_the_slope_of_their_neighbours(kind: str) -> None:
    data = moved_by(kind, (0, 30, 0, 0), (0.0, 1.0, 2.0, 3.0))
    np.testing.assert_allclose(turns_of_leg(data, np.array((0.0, 1.0, 2.0, 3.0))), (0, 30, 0, 0), atol=1e-6)
    # Catmull-Rom: at the key before the end the slope is (0 − 30) / 2.
    share = np.linspace(0.0, 1.0, 20)
    np.testing.assert_allclose(turns_of_leg(data, 1.0 + share), bezier([30, 30, 5, 0], share), atol=0.1)


def test_tension_flattens_a_spline() -> None:
    data = moved_by("TCB", (0, 30, 0, 0), (0.0, 1.0, 2.0, 3.0), TENSION=(1, 1, 1, 1), CONTINUITY=(0, 0, 0, 0),
                    BIAS=(0, 0, 0, 0))
    share = np.linspace(0.0, 1.0, 20)
    np.testing.assert_allclose(turns_of_leg(data, 1.0 + share), bezier([30, 30, 0, 0], share), atol=0.1)


# Axes, units, scenes

@pytest.mark.parametrize(("up", "turn"), [
    ("Y_UP", rot.IDENTITY), ("Z_UP", rot.from_axis_angle(X, -np.pi / 2)),
    ("X_UP", rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2))])
@pytest.mark.parametrize("meter", [1.0, 0.01, 0.0254])
def test_axes_and_unit_are_those_of_the_file(up: str, turn: FloatArray, meter: float) -> None:
    back = rot.conjugate(turn)
    tops = {name: as_channels(rot.rotate(back, np.array(way)).tolist()) for name, way in JOINTS.items()}
    moves = rot.rotate(back, np.array([(0.0, 1.0, z) for z in (0.0, 2.0)]))
    data = document(leg(tops), animation("a", "Hips_id/translate", (0.0, 1.0), moves), up=up, meter=meter)
    clip = collada.read(data).clips[0]
    np.testing.assert_allclose(clip.skeleton.rest_world[:, :, 3], meter * PLACES, atol=1e-9)
    world = world_from_pose(clip.skeleton, clip.sample(np.array((1.0,))))[0, :, :, 3]
    np.testing.assert_allclose(world, meter * (PLACES + np.array((0, 0, 2))), atol=1e-9)


def test_joints_rest_as_their_skin_was_bound() -> None:
    posed = CHANNELS | {"Leg": CHANNELS["Leg"].replace("1 0 0 0</rotate>", "1 0 0 50</rotate>")}
    moves = animation("a", "Foot_id/rotateX.ANGLE", (0.0, 1.0), (0, 10))
    data = document(leg(posed) + worn("body"), moves, controllers=skin("body", NAMES, bound()))
    clip = collada.read(data).clips[0]
    np.testing.assert_allclose(clip.skeleton.rest_world[:, :, 3], PLACES, atol=1e-9)
    assert turns_of_leg(data, np.zeros(1))[0] == pytest.approx(50.0)


def test_matrices_and_skins_are_in_the_unit_of_the_file() -> None:
    moves = animation("a", "Foot_id/transform", (0.0,), translated((0.0, -50.0, 0.0)))
    tall = {name: as_matrix((100.0 * np.array(way)).tolist()) for name, way in JOINTS.items()}
    inverse = np.array([translated(-100.0 * place) for place in PLACES])
    inverse[2, :3, 3] -= (0.0, 7.0, 0.0)
    data = document(leg(tall) + worn("body"), moves, controllers=skin("body", NAMES, inverse), meter=0.01)
    skeleton = collada.read(data).clips[0].skeleton
    np.testing.assert_allclose(skeleton.rest_world[:, :, 3], PLACES + np.eye(5)[2][:, None] * (0, 0.07, 0), atol=1e-9)
    bare = collada.read(document(leg(tall), moves, meter=0.01)).clips[0].skeleton
    np.testing.assert_allclose(bare.rest_world[:, :, 3], PLACES, atol=1e-9)


def test_a_node_around_the_joints_scales_them_and_their_way() -> None:
    moves = animation("a", "Hips_id/translate", (0.0, 1.0), (0.0, 1.0, 0.0, 0.0, 1.0, 2.0))
    around = node("Rig", f"<scale>0.01 0.01 0.01</scale>{leg(CHANNELS)}", "NODE")
    clip = collada.read(document(around + worn("body"), moves, controllers=skin("body", NAMES, bound()))).clips[0]
    world = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, 1.0))))[..., 3]
    np.testing.assert_allclose(world, 0.01 * (PLACES + np.array(((0, 0, 0), (0, 0, 2)))[:, None]), atol=1e-9)


def test_several_skins_of_one_body_make_one_skeleton() -> None:
    moves = animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 10))
    controllers = skin("top", NAMES[:2], bound()[:2]) + skin("bottom", NAMES[2:], bound()[2:])
    file = collada.read(document(leg(CHANNELS) + worn("top") + worn("bottom"), moves, controllers=controllers))
    assert [clip.skeleton.names for clip in file.clips] == [NAMES]


def test_nodes_of_libraries_stand_where_they_are_used() -> None:
    moves = animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 10))
    data = document('<node id="n"><instance_node url="#Hips_id"/></node>', moves, library=leg(CHANNELS))
    assert collada.read(data).clips[0].skeleton.names == NAMES


def test_animation_clips_divide_what_moves() -> None:
    moves = animation("a", "Leg_id/rotateX.ANGLE", (0.0, 4.0), (0, 40))
    clips = "".join(f'<animation_clip name="{name}" start="{start}" end="{end}"><instance_animation url="#a"/>'
                    '</animation_clip>' for name, start, end in (("one", 0, 1), ("two", 1, 3)))
    found = collada.read(document(leg(CHANNELS), moves, clips=clips)).clips
    assert [(clip.name, clip.duration_s) for clip in found] == [("one", 1.0), ("two", 2.0)]
    q = found[1].sample(np.array((0.0, 2.0))).rotations[:, 1]
    np.testing.assert_allclose(np.degrees(2 * np.arctan2(q[:, 1], q[:, 0])), (10, 30), atol=1e-3)


def test_without_motion_there_is_a_skeleton() -> None:
    file = collada.read(document(leg(MATRICES)))
    assert (file.skeleton.names, file.clips) == (NAMES, ())
    assert file.warnings == ("has no animation that moves a body; its skeleton can play",)


def test_what_is_moved_besides_nodes_is_told() -> None:
    moves = animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 10)) + animation("b", "lamp/color.R", (0.0,), (1.0,))
    file = collada.read(document(leg(CHANNELS), moves))
    assert file.warnings == ("left out: what moves 'lamp/color.R', which is no transform of a node",)


def test_a_score_plays_a_collada_file(tmp_path: Path) -> None:
    path = tmp_path / "walk.dae"
    path.write_bytes(walking())
    entry = format_of(path)
    assert entry is not None and entry.identifier == "COLLADA"
    clips, said = Library([tmp_path]).clips("walk")
    assert [clip.name for clip in clips] == ["walk"] and said == ()


# Bad files

@pytest.mark.parametrize(("data", "message"), [
    (b"<a/>", "its root is <a>, where <COLLADA> is wanted"),
    (document(leg(MATRICES)).replace(b"0.1", b"nan", 1), "<matrix> holds 'nan', which is no finite number"),
    (document(leg(MATRICES)).replace(b"0.1", b"", 1), "<matrix> holds 15 numbers; 16 are wanted"),
    (document(node("a", "", "NODE")), "has no joints, and no animation that moves a tree of nodes"),
    (document('<node id="n"><instance_node url="#n"/></node>'), "more than 200 deep, or one is in itself"),
    (document('<node id="n"><instance_node url="other.dae#n"/></node>'), "other files are not read"),
    (document(leg(MATRICES) + worn("body")), "refers to '#body'; no element of the file has that id"),
    (document(leg(MATRICES) + worn("body"), controllers=skin("body", ["Tail"], bound()[:1])),
     "a skin names the joint 'Tail'; no node has that sid, id or name"),
    (document(leg(MATRICES) + worn("body"), controllers=skin("body", NAMES, bound()[:2])),
     "5 joints, but 2 inverse bind matrices of 16 numbers; one of 16 each is wanted"),
    (document(leg(MATRICES), animation("a", "Leg_id/transform", (0.0,), (1.0,))), "takes 16 numbers, but its curve "
     "has 1"),
    (document(leg(CHANNELS), animation("a", "Leg_id/scale(9)", (0.0,), (1.0,))), "names no number of <scale>"),
    (document(leg(CHANNELS), animation("a", "Leg_id/scale", (), ())), "0 times and 0 values"),
    (document(leg(CHANNELS), animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 1)).replace(
        'count="2" stride="1"', 'count="9" stride="1"', 1)), "wants 9 times 1 numbers from 0 on; there are 2"),
    (document(leg(CHANNELS), animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1.0), (0, 1)).replace("INPUT", "PUT")),
     "<sampler> has no input INPUT"),
    (moved_by("BEZIER", (0, 1, 2), IN_TANGENT=range(9), OUT_TANGENT=range(9)), "has 3 numbers for each key of 1"),
    (document(leg(MATRICES), meter=-1.0), "<unit> meter is -1; metres greater than 0"),
    (b'<!DOCTYPE COLLADA [<!ENTITY x SYSTEM "file:///etc/passwd">]><COLLADA>&x;</COLLADA>', "document type decl")])
def test_what_does_not_fit_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as error:
        collada.read(data)
    assert (error.value.problems[0].place.line or 0) > 0


def test_a_file_cut_off_anywhere_is_refused() -> None:
    data = walking()
    for end in range(0, len(data) - 1, 7):
        with pytest.raises(FileError):
            collada.read(data[:end])


def test_nodes_used_over_and_over_are_refused_soon() -> None:
    """Each node holds the next one twice: 2 to the power of 30 of them."""
    library = "".join(f'<node id="n{i}"><instance_node url="#n{i + 1}"/><instance_node url="#n{i + 1}"/></node>'
                      for i in range(30)) + '<node id="n30"/>'
    with pytest.raises(FileError, match="more than 5000 nodes"):
        collada.read(document('<node id="r"><instance_node url="#n0"/></node>', library=library))


