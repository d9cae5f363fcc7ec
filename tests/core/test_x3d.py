"""X3D and H-Anim: scenes made by hand in each encoding, damaged ones, and ones that lead elsewhere."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError
from takt.core.formats import x3d
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.x3d_files import (
    DOCTYPE,
    Made,
    Route,
    clock,
    driven,
    humanoid,
    in_classic,
    in_vrml,
    in_xml,
    joint,
    moving,
    numbers,
    turning,
)

ARC_RAD = 2e-4
Y = (0.0, 1.0, 0.0)
LEG = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), joint("l_knee", (0.1, 0.5, 0.02))))
BEND = [(1, 0, 0, 0.0), (1, 0, 0, 1.5), (1, 0, 0, 0.5)]
NODES = [humanoid(LEG), clock("Walk", 2.0), turning("Bend", (0, 0.25, 1), BEND),
         moving("Rise", (0, 1), [(0, 0, 0), (0.5, 0, 1)])]
ROUTES = [*driven("Walk", "Bend", "h_l_knee", "rotation"), *driven("Walk", "Rise", "h_humanoid_root", "translation")]
Write = Callable[[Sequence[Made], Sequence[Route]], bytes]
ENCODINGS: dict[str, tuple[Write, Callable[[bytes], ClipFile]]] = {
    "XML": (in_xml, x3d.read), "classic": (in_classic, x3d.read_classic), "VRML": (in_vrml, x3d.read_classic)}


@pytest.fixture(params=ENCODINGS)
def through(request: pytest.FixtureRequest) -> Callable[..., ClipFile]:
    """Write nodes in an encoding and read them."""
    write, read = ENCODINGS[request.param]
    return lambda nodes=NODES, routes=ROUTES: read(write(nodes, routes))


def about(axis: Sequence[float] | FloatArray, angle: float | FloatArray) -> np.ndarray:
    return rot.from_axis_angle(np.asarray(axis, dtype=np.float64), angle)


def refused(data: bytes, message: str, line: int | None = None) -> None:
    read = x3d.read_classic if data[:1] == b"#" else x3d.read
    with pytest.raises(FileError, match=message) as error:
        read(data)
    assert line is None or error.value.problems[0].place.line == line, error.value


# Skeletons and clips

def test_interpolators_drive_joints(through: Callable[..., ClipFile]) -> None:
    file = through()
    (clip,) = file.clips
    assert file.warnings == ()
    assert (clip.name, clip.duration_s) == ("Walk", 2.0)
    assert (clip.skeleton.names, clip.skeleton.parents.tolist()) == (("humanoid_root", "l_hip", "l_knee"), [-1, 0, 1])
    np.testing.assert_allclose(clip.skeleton.rest_world[:, :, 3], ((0, 1, 0), (0.1, 0.9, 0), (0.1, 0.5, 0.02)))
    pose = clip.sample(np.array((0.0, 0.5, 1.0, 2.0)))
    np.testing.assert_allclose(pose.translations[:, 0], ((0, 0, 0), (0.125, 0, 0.25), (0.25, 0, 0.5), (0.5, 0, 1)))
    assert rot.angle_between(pose.rotations[1, 2], about((1, 0, 0), 1.5)) < 1e-7
    assert clip.moved.tolist() == [True, False, True]


def test_rotations_go_along_the_arc_between_keys_far_apart(through: Callable[..., ClipFile]) -> None:
    times = np.linspace(0.0, 2.0, 201)
    wanted = np.interp(times, (0.0, 0.5, 2.0), (0.0, 1.5, 0.5))
    turns = through().clips[0].sample(times).rotations[:, 2]
    assert rot.angle_between(turns, about((1, 0, 0), wanted)).max() < ARC_RAD


def test_frames_are_read_as_they_are(through: Callable[..., ClipFile]) -> None:
    """Keys as close as a film's frames get none in between, however fast a joint turns."""
    shares: FloatArray = np.arange(31) / 30.0
    spins = [(0, 1, 0, float(turn)) for turn in 2.0 * np.arange(31)]
    clip = through([humanoid(LEG), clock("Spin", 1.0), turning("Turn", shares, spins)],
                   driven("Spin", "Turn", "h_l_hip", "rotation")).clips[0]
    np.testing.assert_allclose(clip.rotations.times_s, shares, atol=1e-12)
    assert rot.angle_between(clip.rotations.values, about(Y, 60.0 * shares)).max() < 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_joints_are_where_the_standard_says(seed: int, through: Callable[..., ClipFile]) -> None:
    """By the product of matrices that H-Anim gives for a joint, over its ancestors."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 7))
    centers, ways, turns = rng.normal(size=(count, 3)), rng.normal(size=(count, 3)), rng.normal(size=(count, 4))
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, count))]
    made = [joint(f"j{i}", centers[i]) for i in range(count)]
    for i in range(1, count):
        made[parents[i]].inside.append(("children", made[i]))
    nodes, routes = [humanoid(made[0]), clock("T", 1.0)], list[Route]()
    for i in range(count):
        nodes += [turning(f"R{i}", (0.0,), turns[i:i + 1]), moving(f"M{i}", (0.0,), ways[i:i + 1])]
        routes += [*driven("T", f"R{i}", f"h_j{i}", "rotation"), *driven("T", f"M{i}", f"h_j{i}", "translation")]
    clip = through(nodes, routes).clips[0]
    world = world_from_pose(clip.skeleton, clip.sample(np.zeros(1)))[0]
    wanted = [np.eye(4)] * count
    for i in range(count):
        matrix = (translated(centers[i] + ways[i]) @ turned(turns[i]) @ translated(-centers[i]))
        wanted[i] = matrix if parents[i] < 0 else wanted[parents[i]] @ matrix
        own = clip.skeleton.index_of[f"j{i}"]
        np.testing.assert_allclose(world[own, :, 3], (wanted[i] @ np.append(centers[i], 1.0))[:3], atol=1e-9)
        np.testing.assert_allclose(world[own, :, :3], wanted[i][:3, :3], atol=1e-9)


def translated(way: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = way
    return matrix


def turned(axis_angle: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = rot.to_matrix(about(axis_angle[:3], axis_angle[3]))
    return matrix


def test_a_clock_that_drives_nothing_is_no_clip_and_each_other_one_is(through: Callable[..., ClipFile]) -> None:
    nodes = [*NODES, clock("Idle", 3.0), clock("Nod", 4.0), turning("Dip", (0, 1), BEND[:2])]
    file = through(nodes, [*ROUTES, *driven("Nod", "Dip", "h_l_hip", "rotation")])
    assert [(clip.name, clip.duration_s) for clip in file.clips] == [("Walk", 2.0), ("Nod", 4.0)]


def test_what_a_joint_has_at_first_it_keeps(through: Callable[..., ClipFile]) -> None:
    """A pose that the file opens in is no rest pose: joints rest unturned."""
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), rotation="1 0 0 0.5", scale="2 2 2"))
    clip = through([humanoid(leg), clock("T", 1.0), turning("I", (0, 1), BEND[:2])],
                   driven("T", "I", "h_humanoid_root", "rotation")).clips[0]
    assert (clip.skeleton.rest_rotations == rot.IDENTITY).all() and (clip.skeleton.rest_scales == 1.0).all()
    pose = clip.sample(np.array((0.0, 1.0)))
    assert rot.angle_between(pose.rotations[:, 1], about((1, 0, 0), 0.5)).max() < 1e-7
    assert (pose.scales[:, 1] == 2.0).all()


def test_a_humanoid_in_inches_that_is_z_up_comes_upright_and_in_metres(through: Callable[..., ClipFile]) -> None:
    leg = joint("humanoid_root", (0, 0, 40), joint("l_hip", (4, 0, 36), joint("l_knee", (4, -1, 20))))
    upright = Made("Transform", "g", {"rotation": numbers((1, 0, 0, -np.pi / 2))},
                   [("children", humanoid(leg, scale="0.0254 0.0254 0.0254"))])
    clip = through([upright, *NODES[1:]]).clips[0]
    np.testing.assert_allclose(clip.skeleton.rest_world[:, :, 3],
                               0.0254 * np.array(((0, 40, 0), (4, 36, 0), (4, 20, 1))), atol=1e-9)
    moved = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, 2.0))))[:, 0, :, 3]
    np.testing.assert_allclose(moved[1] - moved[0], 0.0254 * np.array((0.5, 1.0, 0.0)), atol=1e-9)


def test_a_humanoid_that_moves_as_a_whole_is_a_joint_above(through: Callable[..., ClipFile]) -> None:
    routes = [*ROUTES[:2], *driven("Walk", "Rise", "h", "translation")]
    clip = through(NODES, routes).clips[0]
    assert clip.skeleton.names == ("h", "humanoid_root", "l_hip", "l_knee")
    np.testing.assert_allclose(clip.sample(np.array((2.0,))).translations[0, 0], (0.5, 0, 1))
    np.testing.assert_allclose(clip.skeleton.rest_world[1:, :, 3], ((0, 1, 0), (0.1, 0.9, 0), (0.1, 0.5, 0.02)))


def test_transforms_that_move_around_a_humanoid_carry_it(through: Callable[..., ClipFile]) -> None:
    inner = Made("Transform", "Turn", {"center": "1 0 0", "scale": "0.5 0.5 0.5"}, [("children", humanoid(LEG))])
    stage = Made("Transform", "Stage", {"rotation": "0 1 0 0.7"}, [("children", inner)])
    nodes = [stage, *NODES[1:], moving("Go", (0, 1), [(0, 0, 0), (0, 0, 3)]),
             turning("Spin", (0, 1), [(0, 1, 0, 0), (0, 1, 0, 2)])]
    routes = [*ROUTES, *driven("Walk", "Go", "Stage", "translation"), *driven("Walk", "Spin", "Turn", "rotation")]
    (plain,), (clip,) = through().clips, through(nodes, routes).clips
    times = np.linspace(0.0, 2.0, 9)
    own, world = (world_from_pose(each.skeleton, each.sample(times))[..., 3] for each in (plain, clip))

    def placed(time_s: float, points: np.ndarray) -> np.ndarray:
        turn = 0.5 * rot.rotate(about(Y, time_s), points - (1, 0, 0)) + (1, 0, 0)
        return np.asarray(rot.rotate(about(Y, 0.7), turn) + np.array((0, 0, 1.5 * time_s)))

    for number, time_s in enumerate(times):
        wanted = placed(time_s, own[number])
        start = rot.rotate(about(Y, -0.7), wanted) - 0.5 * np.array((1, 0, 0))  # seen from where the humanoid begins
        np.testing.assert_allclose(world[number, 1:], start, atol=1e-3)
    assert clip.skeleton.names == ("Stage", *plain.skeleton.names)


def test_one_transform_carries_two_humanoids(through: Callable[..., ClipFile]) -> None:
    both = [("children", humanoid(joint("humanoid_root", (0, 1, 0), of=of), name=of)) for of in ("a", "b")]
    nodes = [Made("Transform", "Stage", {}, list(both)), clock("Walk", 2.0),
             moving("Go", (0, 1, 1), [(0, 0, 0), (0, 0, 0), (1, 0, 0)])]
    clips = through(nodes, driven("Walk", "Go", "Stage", "translation")).clips
    assert len({id(clip.skeleton) for clip in clips}) == 2
    for clip in clips:
        ways = clip.sample(np.array((0.0, 1.9, 2.0))).translations[:, 0, 0]
        np.testing.assert_allclose(ways, (0.0, 0.0, 1.0), atol=1e-9)


def test_a_scalar_interpolator_between_clock_and_motion_eases_it(through: Callable[..., ClipFile]) -> None:
    ease = Made("ScalarInterpolator", "Ease", {"key": "0 0.5 0.75 1", "keyValue": "0 0.125 1 0.5"})
    routes = [("Walk", "fraction_changed", "Ease", "set_fraction"),
              *(("Ease", "value_changed", each, "set_fraction") for each in ("Bend", "Rise")),
              *(route for route in ROUTES if route[0] != "Walk")]
    (plain,), file = through().clips, through([*NODES, ease], routes)
    (clip,) = file.clips
    assert file.warnings == () and (clip.name, clip.duration_s) == ("Walk", 2.0)
    times = np.linspace(0.0, 2.0, 41)
    eased, wanted = clip.sample(times), plain.sample(np.interp(times, (0, 1, 1.5, 2), (0, 0.25, 2, 1)))
    np.testing.assert_allclose(eased.translations, wanted.translations, atol=1e-9)
    assert rot.angle_between(eased.rotations, wanted.rotations).max() < ARC_RAD


def test_joints_are_used_where_they_were_defined(through: Callable[..., ClipFile]) -> None:
    made = humanoid(LEG, inside=[("joints", "h_humanoid_root"), ("joints", "h_l_hip"), ("joints", "h_l_knee")])
    assert through([made, *NODES[1:]]).skeleton.names == ("humanoid_root", "l_hip", "l_knee")


def test_two_humanoids_have_their_own_clips(through: Callable[..., ClipFile]) -> None:
    other = humanoid(joint("humanoid_root", (0, 2, 0), of="b"), name="b")
    file = through([*NODES, other], [*ROUTES, *driven("Walk", "Bend", "b_humanoid_root", "rotation")])
    assert [(clip.name, clip.skeleton.name) for clip in file.clips] == [("Walk", "h"), ("Walk.001", "b")]


def test_what_moves_beside_a_humanoid_is_named(through: Callable[..., ClipFile]) -> None:
    nodes, routes = [*NODES, Made("Transform", "Ball")], [*ROUTES, *driven("Walk", "Rise", "Ball", "translation")]
    (clip,) = (file := through(nodes, routes)).clips
    (said,) = file.warnings
    assert clip.name == "Walk" and "left out: motion of Transform 'Ball', which is no joint of a humanoid" in said
    around = Made("Transform", "Stage", {}, [("children", NODES[0])])
    carried = through([around, *NODES[1:]], [*ROUTES, *driven("Walk", "Rise", "Stage", "translation")])
    assert carried.warnings == ()


def test_without_motion_there_is_a_skeleton(through: Callable[..., ClipFile]) -> None:
    file = through([humanoid(LEG)], [])
    assert (len(file.skeleton), file.clips) == (3, ())
    assert file.warnings == ("has no motion: no TimeSensor drives a joint, and there is no HAnimMotion",)


@pytest.mark.parametrize("version", [1, 2])
def test_the_names_of_both_versions_are_understood(version: int, through: Callable[..., ClipFile]) -> None:
    body = build_skeleton()
    new = {old: name for name, old in hanim.ALIASES.items() if name not in ("skull",) and not name.startswith("v1")}
    names = [name if version == 1 else new.get(name, name) for name in body.names]
    made = [joint(name, place) for name, place in zip(names, body.rest_world[:, :, 3], strict=True)]
    for parent, each in zip(body.parents[1:].tolist(), made[1:], strict=True):
        made[parent].inside.append(("children", each))
    found = find_map(through([humanoid(made[0])], []).skeleton)
    assert found.is_checked and set(found.meant) == set(find_map(body).meant)


# HAnimMotion

def with_motion(**more: str) -> list[Made]:
    fields = {"name": "Stride", "joints": "HumanoidRoot, l_hip", "frameDuration": "0.5",
              "values": numbers((0, 0, 0, 0, 0, 1, 2, 90, 30, 60)),
              "channels": "2 Xposition Zposition, 3 Zrotation Xrotation Yrotation", **more}
    return [humanoid(LEG, inside=[("motions", Made("HAnimMotion", "m", fields))])]


def test_a_motion_moves_joints_by_channels(through: Callable[..., ClipFile]) -> None:
    (clip,) = through(with_motion(), []).clips
    assert (clip.name, clip.duration_s) == ("Stride", 0.5)
    pose = clip.sample(np.array((0.0, 0.5)))
    np.testing.assert_allclose(pose.translations[:, 0], ((0, 0, 0), (1, 0, 2)))
    wanted = rot.multiply(rot.multiply(about((0, 0, 1), np.pi / 2), about((1, 0, 0), np.pi / 6)), about(Y, np.pi / 3))
    assert rot.angle_between(pose.rotations[1, 1], wanted) < 1e-7
    assert clip.moved.tolist() == [True, True, False]


def test_a_motion_leaves_joints_alone_that_are_ignored_or_not_enabled(through: Callable[..., ClipFile]) -> None:
    (clip,) = through(with_motion(joints="IGNORED l_hip"), []).clips
    assert clip.moved.tolist() == [False, True, False]
    (clip,) = through(with_motion(channelsEnabled="TRUE FALSE"), []).clips
    assert clip.moved.tolist() == [True, False, False]


def test_a_motion_of_joints_that_are_not_there_is_told(through: Callable[..., ClipFile]) -> None:
    file = through(with_motion(joints="humanoid_root l_ankle"), [])
    assert "moves joints that h does not have: 'l_ankle'" in file.warnings[0]
    assert file.clips[0].moved.tolist() == [True, False, False]


@pytest.mark.parametrize(("more", "message"), [
    ({"values": "0 0 0 0 0 1"}, "values holds 6 numbers, expected a multiple of its 5 channels"),
    ({"values": ""}, "values holds 0 numbers"),
    ({"joints": "humanoid_root"}, "joints names 1 joints, but channels are for 2"),
    ({"channels": "2 Xposition, 4 Zrotation Xrotation Yrotation Xscale"}, "channels announces 2 for joint 1, but "),
    ({"frameDuration": "0"}, "frameDuration is 0; seconds greater than 0"),
    ({"frameDuration": "nan"}, "'nan', which is no finite number")])
def test_a_motion_that_does_not_fit_is_refused(more: dict[str, str], message: str, through: Callable[..., ClipFile]
                                               ) -> None:
    with pytest.raises(FileError, match=message):
        through(with_motion(**more), [])


# Skins

def test_the_strongest_joint_has_a_vertex_of_the_skin(through: Callable[..., ClipFile]) -> None:
    coordinate = Made("Coordinate", "points", {"point": "0 1 0.1 0.1 0.7 0.1 0.1 0.4 0.1"})
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), skinCoordIndex="0 1 2",
                                                  skinCoordWeight="0.2 0.9 0.3"),
                skinCoordIndex="0 1", skinCoordWeight="1 0.1")
    skin = through([humanoid(leg, inside=[("skinCoord", coordinate)]), *NODES[1:]], ROUTES[2:]).clips[0].skin
    assert skin is not None and skin.joints.tolist() == [0, 1, 1]
    np.testing.assert_allclose(skin.offsets, ((0, 0, 0.1), (0, -0.2, 0.1), (0, -0.5, 0.1)), atol=1e-12)


def test_segments_show_where_the_body_is(through: Callable[..., ClipFile]) -> None:
    segment = Made("HAnimSegment", "s", {"name": "l_thigh"}, [("coord", Made("Coordinate", "", {"point": "0.1 0 0"}))])
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0)))
    leg.inside[0][1].inside.append(("children", segment))  # type: ignore[union-attr]
    skin = through([humanoid(leg), *NODES[1:]], ROUTES[2:]).clips[0].skin
    assert skin is not None and skin.joints.tolist() == [1]
    np.testing.assert_allclose(skin.offsets, ((0, -0.9, 0),))


@pytest.mark.parametrize(("fields", "message"), [
    ({"skinCoordIndex": "0 3", "skinCoordWeight": "1 1"}, "names point 3, but skinCoord of the humanoid has 2 points"),
    ({"skinCoordIndex": "-1"}, "names point -1"), ({"skinCoordIndex": "1e30"}, "names point 1e"),
    ({"skinCoordIndex": "0 1", "skinCoordWeight": "1"}, "names 2 points, but skinCoordWeight has 1 weights")])
def test_weights_that_fit_no_points_are_refused(fields: dict[str, str], message: str,
                                                through: Callable[..., ClipFile]) -> None:
    coordinate = Made("Coordinate", "", {"point": "0 0 0 1 1 1"})
    with pytest.raises(FileError, match=message):
        through([humanoid(joint("humanoid_root", Y, **fields), inside=[("skinCoord", coordinate)])], [])


# What is left out

def test_what_is_not_followed_is_named() -> None:
    for data in (in_xml(NODES, ROUTES, '<Inline url=\'"other.x3d" "http://x/y.x3d"\'/><Script DEF="S"><field name="a"/>'
                        "</Script><ProtoDeclare name='P'><ProtoBody><HAnimHumanoid name='no'/></ProtoBody>"
                        "</ProtoDeclare><ProtoInstance name='P'/>"),
                 in_classic(NODES, ROUTES, 'Inline { url [ "other.x3d" "http://x/y.x3d" ] }\nDEF S Script { field '
                            'SFTime t 0 url "javascript: function a() { }" }\nPROTO P [ field SFInt32 n 0 ] { DEF Q '
                            'HAnimHumanoid { name "no" } ROUTE a.b TO c.d }')):
        file = (x3d.read_classic if data[:1] == b"#" else x3d.read)(data)
        said = " ".join(file.warnings)
        assert len(file.clips) == 1 and file.skeleton.name == "h"
        assert "left out: Inline 'other.x3d'; other files are not read" in said
        assert "left out: Script 'S'; scripts are not run" in said
        assert "'P'; prototypes are not played" in said


def test_instances_of_the_standards_own_prototypes_are_nodes_in_xml() -> None:
    text = b"""<X3D><Scene><ProtoInstance name="Humanoid" DEF="h"><fieldValue name="humanoidBody">
    <ProtoInstance name="Joint" DEF="r"><fieldValue name="name" value="HumanoidRoot"/><fieldValue name="center"
    value="0 1 0"/></ProtoInstance></fieldValue></ProtoInstance></Scene></X3D>"""
    skeleton = x3d.read(text).skeleton
    assert skeleton.names == ("HumanoidRoot",) and skeleton.rest_translations.tolist() == [[0.0, 1.0, 0.0]]


def test_a_document_type_is_never_fetched_and_declares_nothing() -> None:
    inner = b'<!DOCTYPE X3D [<!ENTITY x SYSTEM "file:///etc/passwd">]><X3D><Scene>&x;</Scene></X3D>'
    refused(inner, "document type declaration", 1)
    assert DOCTYPE.encode() in in_xml(NODES, ROUTES)  # the one that only names the standard is passed over


def test_units_of_length_and_angle_count() -> None:
    xml = "<unit category='length' name='cm' conversionFactor='0.01'/><unit category='angle' name='deg' " \
          f"conversionFactor='{np.pi / 180}'/>"
    classic = f"UNIT length cm 0.01\nUNIT angle deg {np.pi / 180}"
    nodes = [humanoid(LEG), clock("T", 1.0), turning("I", (0,), [(0, 1, 0, 90)])]
    routes = driven("T", "I", "h_l_hip", "rotation")
    for file in (x3d.read(in_xml(nodes, routes, head=xml)), x3d.read_classic(in_classic(nodes, routes, head=classic))):
        np.testing.assert_allclose(file.skeleton.rest_translations[0], (0, 0.01, 0))
        assert rot.angle_between(file.clips[0].rotations.values[0], about(Y, np.pi / 2)) < 1e-6


# Bad files

@pytest.mark.parametrize(("nodes", "routes", "message"), [
    ([humanoid(joint("a", Y, Made("HAnimJoint", "h_b", {}, [("children", "h_a")])))], [], "is its own ancestor"),
    ([humanoid(joint("a", Y, joint("b", Y), Made("HAnimJoint", "h_c", {}, [("children", "h_b")])))], [],
     "is a child of two joints"),
    ([humanoid(joint("a", Y, Made("HAnimJoint", "h_b", {}, [("children", "nobody")])))], [], "USE 'nobody': no node"),
    ([humanoid(joint("a", (0, float("nan"), 0)))], [], "center holds 'nan', which is no finite number"),
    ([humanoid(joint("a", (0, 1e300, 0)))], [], "center holds '1e[+]300', which is no finite number"),
    ([humanoid(joint("a", (0, 1)))], [], "center holds 2 numbers; a multiple of 3 is wanted"),
    ([humanoid(joint("a", (0, 1, 0, 0, 1, 0)))], [], "center holds 6 numbers; 3 are wanted"),
    ([humanoid()], [], "has no joints in its field skeleton"),
    ([LEG.inside[0][1], *NODES[1:]], ROUTES[:2], ""),
    ([clock("T", 1.0)], [], "has no HAnimHumanoid"),
    ([humanoid(LEG), clock("Walk", 0.0), *NODES[2:]], ROUTES, "cycleInterval is 0; seconds greater than 0"),
    ([humanoid(LEG), clock("Walk", 1.0), turning("Bend", (0, 1), BEND)], ROUTES[:2], "key holds 2 numbers and keyValue "
     "3 values; as many of both"),
    ([humanoid(LEG), clock("Walk", 1.0), turning("Bend", (0, 1, 0.5), BEND)], ROUTES[:2], "0.5 comes after 1; keys "
     "that never fall"),
    ([humanoid(LEG), clock("Walk", 1.0), turning("Bend", (), ())], ROUTES[:2], "at least 1"),
    ([Made("Transform", "", {"scale": "1e9 1e9 1e9"}, [("children", humanoid(LEG, scale="1e9 1e9 1e9"))])], [],
     "scales it by more than"),
])
def test_what_does_not_fit_is_refused(nodes: list[Made], routes: list[Route], message: str,
                                      through: Callable[..., ClipFile]) -> None:
    if not message:  # joints without a humanoid are a body of their own
        assert through(nodes, routes).skeleton.names == ("l_hip", "l_knee")
        return
    with pytest.raises(FileError, match=message) as error:
        through(nodes, routes)
    assert (error.value.problems[0].place.line or 0) > 0


def test_errors_tell_the_line() -> None:
    data = in_classic(NODES, ROUTES)
    line = 1 + next(number for number, text in enumerate(data.split(b"\n")) if b"keyValue" in text)
    refused(data.replace(b"keyValue [ 1.0 0.0", b"keyValue [ 1.0\n0.0 x"), "keyValue holds 'x'", line + 1)
    xml = in_xml(NODES, ROUTES)
    line = 1 + next(number for number, text in enumerate(xml.split(b"\n")) if b"h_l_knee" in text)
    refused(xml.replace(b"0.1 0.5 0.02", b"0.1 0.5 0.02x"), "center holds '0.02x'", line)


@pytest.mark.parametrize(("data", "message"), [
    (b"#VRML V1.0 ascii\n", "begins with '#X3D V3.3 utf8' or '#VRML V2.0 utf8'"),
    (b"#X3D V3.3 utf8\nHAnimHumanoid { skeleton [ HAnimJoint {", "the file ends where .* is wanted: it is cut off"),
    (b"#X3D V3.3 utf8\nHAnimHumanoid { name \"x", "a text begins here that has no end"),
    (b"#X3D V3.3 utf8\nHAnimHumanoid { skeleton [ 1 2", "the file ends where '?]'? is wanted"),
    (b"#X3D V3.3 utf8\n]", "found ']' where a node is wanted"),
    (b"#X3D V3.3 utf8\nDEF a b c", "found 'c' where { after 'b' is wanted"),
    (b"#X3D V3.3 utf8\nROUTE a.b c.d", "found 'c.d' where TO is wanted"),
    (b"#X3D V3.3 utf8\nPROTO P [ {", "the file ends where '?]'? is wanted"),
    (b"#X3D V3.3 utf8\nGroup { 7 }", "found '7' where a field of 'Group' or } is wanted"),
    (b"#X3D V3.3 utf8\nGroup { children ] }", "found ']' where what 'children' holds is wanted"),
    (b"<a/>", "its root is <a>, where <X3D> is wanted"),
    (b"<X3D><Scene>", "the file ends here, within <Scene> of line 1"),
])
def test_what_is_no_x3d_is_refused(data: bytes, message: str) -> None:
    refused(data, message)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_file_cut_off_anywhere_is_read_or_refused(encoding: str) -> None:
    write, read = ENCODINGS[encoding]
    data = write(NODES, ROUTES)
    whole = 0
    for end in range(len(data)):
        try:
            read(data[:end])
            whole += 1
        except FileError as error:
            assert error.problems[0].place.line is not None
    assert whole < len(data) / 2


def test_a_file_cut_off_is_told_of_at_its_end() -> None:
    """Though it names the standard's document type in its second line."""
    data = in_xml(NODES, ROUTES).replace(b"><", b">\n<")
    for cut in range(data.index(b"<Scene>") + 7, len(data) - 10, 211):
        last = data[:cut].count(b"\n") + 1
        with pytest.raises(FileError) as caught:
            x3d.read(data[:cut], Path("cut.x3d"))
        line = caught.value.problems[0].place.line
        assert line is not None and last - 2 <= line <= last, str(caught.value)


def test_joints_too_deep_are_refused(through: Callable[..., ClipFile]) -> None:
    last = top = joint("j0", Y)
    for number in range(1, 130):
        below = joint(f"j{number}", Y)
        last.inside.append(("children", below))
        last = below
    with pytest.raises(FileError, match="nested more than 100 deep"):
        through([humanoid(top)], [])


def test_joints_shared_by_thousands_of_humanoids_are_refused_soon(through: Callable[..., ClipFile]) -> None:
    flat = joint("root", Y, *(joint(f"j{i}", Y) for i in range(400)))
    others = [humanoid(name=f"h{i}", inside=[("skeleton", "h_root")]) for i in range(100)]
    with pytest.raises(FileError, match="more than 20000000 numbers"):
        through([humanoid(flat), *others], [])
